"""The compiled step loops: Gauss' implicit Euler and Moreau-Jean, in absolute coordinates of planar bodies.

One set of functions serves every mechanism: what the mechanism is stands in a table of integers (A, see `layout`), its
numbers in one block of floating-point memory (f), and its elements are kernels called by address. All functions stand
in this one file because numba's cache follows no imports.

Addresses are integers: ``ld(p, i)`` and ``st(p, i, x)`` load and store the i-th double from address p, ``li`` and
``si`` the i-th integer. Body 0 is the ground, of zero inverse mass. A *row* is an equation of a joint, or a gap's
normal or tangential law; it has a test vector R (its rate is R . v) and a force direction C = M^-1 (its push), each
with three components for two bodies. Rows of one element make a *block*; blocks of joints come first in the order of
elimination.

Modes of a gap: 0 open, 1 closed (sticking, where it has friction), 2 and 3 slipping, pushed along and against the
tangent.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from numba import cfunc, njit, types
from numba import extending as _extending

intrinsic: Any = _extending.intrinsic  # its types are those of the generators, not of what it makes

# ------------------------------------------------------------------------------------------------ the table of integers

(
    N_BODIES, N_ROWS, N_GAPS, N_JOINTS, N_BLOCKS, N_JOINT_BLOCKS, N_LU, ROUGH, VARYING, PLACED, RECORD, OBSERVE,
    PROJECTED, N_COUPLINGS, N_JOINT_COUPLINGS, SCHEME, N_FLOATS,
    CONTACT_0, CONTACT_1, JOINT_0, JOINT_1, FORCE_0, FORCE_1, STATIC_0, STATIC_1, SURFACE_0, SURFACE_1,
    CLOSURE_0, CLOSURE_1, POTENTIAL_0, POTENTIAL_1, N_GROUPS,
    # addresses of integer arrays, by group of elements
    G_EVALUATE, G_PREPARE, G_SIZE, G_A, G_B, G_W, G_P, G_OUT, G_STRIDE, G_DAMPING, G_STORED,
    # by gap, by joint row, by joint
    GAP_A, GAP_B, GAP_G, GAP_N, GAP_T, GAP_D, GAP_R, ROW_A, ROW_B, ROW_G, ROW_J, ROW_T, ROW_C,
    JOINT_B, JOINT_FIRST, JOINT_ROWS, JOINT_POINT,
    # by block, by coupling, by step of the elimination
    B_FIRST, B_COUNT, B_SLOT, B_DIAGONAL, B_SIZE, C_ROW, C_COLUMN, C_ROW_SIDE, C_COLUMN_SIDE, C_LOWER, C_UPPER,
    E_FIRST, E_JOINT_LAST, E_BLOCK, E_LOWER, E_UPPER, E_UPDATE, E_TARGET,
    # offsets in bytes of floating-point arrays: state, placements, masses
    TIME, Q, V, U, VP, Q1, QM, Z0, Z1, ZM, MASS, ROOT_MASS, INVERSE, CONSTANT_FORCE, FORCE, KICK, PUSH, BASE, WORK,
    OUT_J0, OUT_J1, OUT_C0, OUT_C1,
    # laws of gaps, impulses and rates
    RESTITUTION, FRICTION, TANGENTIAL, SCALE, THRESHOLD, Y_SCALE, P_N, P_T, P_A, P_B, CLOSED, LEFT_AT,
    SHIFT_N, SHIFT_T, SHIFT_J, GAMMA_MINUS, ACTIVE, MODE, WANTED, COUNT, R, C, X, RHS, LU, LU_A, RHS_A, IDENTITY,
    DIAGONAL,
    OLD_N, OLD_T, OLD_FRICTION, STRUCK, BEFORE,
    # what a step leaves for its row: velocities, impulses, modes, rates, reactions, scalars
    S_LEFT, S_PN, S_PNI, S_PT, S_MODE, S_MINUS, S_PLUS, S_REACTION, S_REACTION_I, S_SCALARS, S_ENERGY,
    SUM_PN, SUM_PNI, SUM_PT, SUM_REACTION, SUM_REACTION_I, SUM_SCALARS, WORST, TOTALS, LAST_POWER, COUNTERS, OPTIONS,
    ROW_WIDTH, SOLVE, STEP, FINISH,
    N_TABLE,
) = range(162)  # fmt: skip

# scalars of a step
DT, RESIDUAL, COMPLEMENTARITY, WORK_DRIVERS, WORK_DRIVERS_IMPACT, LOSS_FRICTION, N_SCALARS = range(7)
# sums over a run, for the balance of energy
T_LOADS, T_DRIVERS, T_IMPACTS, T_FRICTION, T_DAMPING, N_TOTALS = range(6)
# the worst of a run
W_GAP, W_JOINT, W_COMPLEMENTARITY, W_RESIDUAL, N_WORST = range(5)
# counters: steps, rows, steps since the last row, programs, rounds, those over hashed subsets and single rows, passes
K_STEPS, K_ROWS, K_SINCE, K_SOLVES, K_ROUNDS, K_HASHED, K_SINGLE, K_PASSES, N_COUNTERS = range(9)
# numbers that a scheme is told
(
    O_THETA, O_LONGEST, O_CLOSED_GAP, O_CLOSED_RATE, O_EDGE, O_FLOOR, O_TURN, O_CERTIFIED, O_PROJECTED, N_OPTIONS,
) = range(10)  # fmt: skip
# addresses of what is recorded: rows of the memory from TIME to the scalars, and what was seen of each
(
    REC_ROWS, REC_GAP, REC_RATE, REC_RATE_LEFT, REC_ENERGY, REC_CAPACITY, REC_IMPACTS, REC_IMPACT_CAPACITY,
    REC_IMPACT_COUNT, N_REC,
) = range(10)  # fmt: skip

GAUSS, MOREAU_JEAN = 0, 1
OPEN, STICK, FORWARD, BACKWARD = 0, 1, 2, 3
DONE, FULL, UNCERTAIN, OPEN_START = 0, 1, 2, 3
#: as in `nonsmooth.steppers.moreau_jean`
LASTING = 2.0
TINY = 2.2250738585072014e-308
#: raises a diagonal that elimination has emptied, relative to what it was
RIDGE, EMPTIED = 1e-10, 1e-9
ALL_AT_ONCE, HASHED, SINGLE = 12, 40, 400
#: share of its terms below which a rate counts as zero, in the choice of modes
SIGN = 1e-13
PASSES = 50

#: of functions that are compiled into those called from Python, and of these, which are kept on disk
OPT: dict[str, Any] = {
    "error_model": "numpy",
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "forceinline": True,
}
ENTRY: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True}


# ----------------------------------------------------------------------------------------------------------- raw memory


def _tagged(builder: Any, access: Any, kind: str) -> Any:
    """Tell LLVM that doubles and integers never share memory."""
    from llvmlite import ir

    zero = ir.Constant(ir.IntType(64), 0)
    root = builder.module.add_metadata(["nonsmooth"])
    node = builder.module.add_metadata([kind, root, zero])
    access.set_metadata("tbaa", builder.module.add_metadata([node, node, zero]))
    return access


def _pointer(builder: Any, address: Any, index: Any, element: Any) -> Any:
    return builder.gep(builder.inttoptr(address, element.as_pointer()), [index])


@intrinsic
def ld(typingctx, p, i):  # type: ignore[no-untyped-def]
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value = builder.load(_pointer(builder, arguments[0], arguments[1], ir.DoubleType()))
        return _tagged(builder, value, "double")

    return types.float64(types.int64, types.int64), codegen


@intrinsic
def li(typingctx, p, i):  # type: ignore[no-untyped-def]
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value = builder.load(_pointer(builder, arguments[0], arguments[1], ir.IntType(64)))
        return _tagged(builder, value, "integer")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def lc(typingctx, p, i):  # type: ignore[no-untyped-def]
    """As `li`, of an integer that nothing writes during a run: LLVM may keep it."""
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value = builder.load(_pointer(builder, arguments[0], arguments[1], ir.IntType(64)))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def st(typingctx, p, i, x):  # type: ignore[no-untyped-def]
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        stored = builder.store(arguments[2], _pointer(builder, arguments[0], arguments[1], ir.DoubleType()))
        _tagged(builder, stored, "double")
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), codegen


@intrinsic
def si(typingctx, p, i, x):  # type: ignore[no-untyped-def]
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        stored = builder.store(arguments[2], _pointer(builder, arguments[0], arguments[1], ir.IntType(64)))
        _tagged(builder, stored, "integer")
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def call_evaluate(typingctx, address, n, ia, ib, t, z, v, w, out):  # type: ignore[no-untyped-def]
    """Call a kernel ``evaluate(n, ia, ib, t, z, v, w, out)`` by its address."""
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word] * 8)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 9), codegen


@intrinsic
def call_solve(typingctx, address, A, f, out_j, out_c, base, impulses, v):  # type: ignore[no-untyped-def]
    """Call `solve_active` by its address: compiled apart, it is compiled once."""
    return types.int64(*[types.int64] * 8), _by_address([types.int64] * 7)


@intrinsic
def call_step(typingctx, address, A, f, t):  # type: ignore[no-untyped-def]
    """Call a scheme's step by its address."""
    return types.int64(types.int64, types.int64, types.int64, types.float64), _by_address(
        [types.int64, types.int64, types.float64]
    )


@intrinsic
def call_finish(typingctx, address, A, f, rec):  # type: ignore[no-untyped-def]
    """Call `finish_step` by its address."""
    return types.int64(*[types.int64] * 4), _by_address([types.int64] * 3)


def _by_address(arguments_of: list[Any]) -> Any:
    """Generator of a call of a C function that returns an integer, whose address is the first argument."""
    from llvmlite import ir

    kinds = [ir.DoubleType() if kind == types.float64 else ir.IntType(64) for kind in arguments_of]

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        function = ir.FunctionType(ir.IntType(64), kinds)
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])

    return codegen


@intrinsic
def call_prepare(typingctx, address, n, p, w):  # type: ignore[no-untyped-def]
    """Call a kernel ``prepare(n, p, w)`` by its address."""
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word] * 3)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


# ------------------------------------------------------------------------------------------------- bodies and elements


@njit(**OPT)
def sine_cosine(x):  # type: ignore[no-untyped-def]
    """sin and cos to an error of 1e-16; the same bits on every machine, and inlined."""
    if not abs(x) < 1e6:
        return math.sin(x), math.cos(x)
    n = math.floor(x * 0.6366197723675814 + 0.5)
    y = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21
    z = y * y
    s = y + y * z * (
        -1.66666666666666324348e-01
        + z
        * (
            8.33333333332248946124e-03
            + z
            * (
                -1.98412698298579493134e-04
                + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
            )
        )
    )
    half = 0.5 * z
    w = 1.0 - half
    tail = z * (
        4.16666666666666019037e-02
        + z
        * (
            -1.38888888888741095749e-03
            + z
            * (
                2.48015872894767294178e-05
                + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
            )
        )
    )
    c = w + (((1.0 - w) - half) + z * tail)
    k = int(n) & 3
    if k == 0:
        return s, c
    if k == 1:
        return c, -s
    if k == 2:
        return -s, -c
    return -c, s


@njit(**OPT)
def place(A, q, z):  # type: ignore[no-untyped-def]
    """(x, y, cos, sin) of all bodies; the ground's stands there already."""
    for b in range(1, lc(A, N_BODIES) + 1):
        sine, cosine = sine_cosine(ld(q, 3 * b + 2))
        st(z, 4 * b, ld(q, 3 * b))
        st(z, 4 * b + 1, ld(q, 3 * b + 1))
        st(z, 4 * b + 2, cosine)
        st(z, 4 * b + 3, sine)


@njit(**OPT)
def move(A, q, u, dt, q1):  # type: ignore[no-untyped-def]
    """q moved by u for dt."""
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        st(q1, k, ld(q, k) + dt * ld(u, k))


@njit(**OPT)
def copy(source, target, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(target, k, ld(source, k))


@njit(**OPT)
def add_up(source, target, n, weight):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(target, k, ld(target, k) + weight * ld(source, k))


@njit(**OPT)
def evaluate(A, f, first, last, z, v, out):  # type: ignore[no-untyped-def]
    """Run the kernels of groups first..last; `out` is added to where they write."""
    for g in range(first, last):
        call_evaluate(
            lc(lc(A, G_EVALUATE), g), lc(lc(A, G_SIZE), g), lc(lc(A, G_A), g), lc(lc(A, G_B), g), f + lc(A, TIME),
            z, v, f + lc(lc(A, G_W), g), out + lc(lc(A, G_OUT), g),
        )  # fmt: skip


@njit(**OPT)
def joints_at(A, f, t, z, v, out):  # type: ignore[no-untyped-def]
    st(f + lc(A, TIME), 0, t)
    evaluate(A, f, lc(A, JOINT_0), lc(A, JOINT_1), z, v, out)


@njit(**OPT)
def contacts_at(A, f, z, v, out):  # type: ignore[no-untyped-def]
    evaluate(A, f, lc(A, CONTACT_0), lc(A, CONTACT_1), z, v, out)


@njit(**OPT)
def scatter_forces(A, f, first, last, force):  # type: ignore[no-untyped-def]
    for g in range(first, last):
        a, b, stride = lc(lc(A, G_A), g), lc(lc(A, G_B), g), lc(lc(A, G_STRIDE), g)
        out = f + lc(lc(A, G_OUT), g)
        for i in range(lc(lc(A, G_SIZE), g)):
            x, y = li(a, i), li(b, i)
            for d in range(3):
                st(force, 3 * x + d, ld(force, 3 * x + d) + ld(out, stride * i + d))
                st(force, 3 * y + d, ld(force, 3 * y + d) + ld(out, stride * i + 3 + d))


@njit(**OPT)
def forces_at(A, f, t, z, v):  # type: ignore[no-untyped-def]
    """All applied forces; those that never vary were added up at the start of the run."""
    force = f + lc(A, FORCE)
    copy(f + lc(A, CONSTANT_FORCE), force, 3 * lc(A, N_BODIES) + 3)
    if lc(A, VARYING):
        st(f + lc(A, TIME), 0, t)
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, f)
        scatter_forces(A, f, lc(A, FORCE_0), lc(A, FORCE_1), force)


@njit(**OPT)
def kick_of(A, f, dt):  # type: ignore[no-untyped-def]
    force, inverse, kick = f + lc(A, FORCE), f + lc(A, INVERSE), f + lc(A, KICK)
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        st(kick, k, dt * ld(inverse, k) * ld(force, k))


@njit(**OPT)
def along(J, a, b, v):  # type: ignore[no-untyped-def]
    """J . v of a row's six components."""
    x = ld(J, 0) * ld(v, 3 * a) + ld(J, 1) * ld(v, 3 * a + 1) + ld(J, 2) * ld(v, 3 * a + 2)
    return x + (ld(J, 3) * ld(v, 3 * b) + ld(J, 4) * ld(v, 3 * b + 1) + ld(J, 5) * ld(v, 3 * b + 2))


@njit(**OPT)
def along_sizes(J, a, b, v):  # type: ignore[no-untyped-def]
    """|J| . |v|."""
    x = 0.0
    for d in range(3):
        x += abs(ld(J, d) * ld(v, 3 * a + d)) + abs(ld(J, 3 + d) * ld(v, 3 * b + d))
    return x


@njit(**OPT)
def mobility(J, a, b, inverse):  # type: ignore[no-untyped-def]
    """J M^-1 J'."""
    x = 0.0
    for d in range(3):
        x += ld(J, d) ** 2 * ld(inverse, 3 * a + d) + ld(J, 3 + d) ** 2 * ld(inverse, 3 * b + d)
    return x


@njit(**OPT)
def push(J, a, b, P, inverse, v):  # type: ignore[no-untyped-def]
    """v += M^-1 J' P."""
    for d in range(3):
        st(v, 3 * a + d, ld(v, 3 * a + d) + ld(inverse, 3 * a + d) * ld(J, d) * P)
        st(v, 3 * b + d, ld(v, 3 * b + d) + ld(inverse, 3 * b + d) * ld(J, 3 + d) * P)


@njit(**OPT)
def push_joints(A, f, out, P, v):  # type: ignore[no-untyped-def]
    """v += M^-1 W_g P with the joints' directions in `out`."""
    inverse = f + lc(A, INVERSE)
    for r in range(lc(A, N_ROWS)):
        p = ld(P, r)
        if p != 0.0:
            push(out + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), p, inverse, v)


@njit(**OPT)
def push_contacts(A, f, out, N, T, v):  # type: ignore[no-untyped-def]
    """v += M^-1 (W_N N + W_T T)."""
    inverse, rough = f + lc(A, INVERSE), lc(A, ROUGH)
    for i in range(lc(A, N_GAPS)):
        a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
        p = ld(N, i)
        if p != 0.0:
            push(out + lc(lc(A, GAP_N), i), a, b, p, inverse, v)
        if rough:
            p = ld(T, i)
            if p != 0.0:
                push(out + lc(lc(A, GAP_T), i), a, b, p, inverse, v)


@njit(**OPT)
def length(A, f, v):  # type: ignore[no-untyped-def]
    """|v| in the mass metric."""
    mass, x = f + lc(A, MASS), 0.0
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        x += ld(mass, k) * ld(v, k) ** 2
    return math.sqrt(x)


# -------------------------------------------------------------------------------------------------- block elimination


@njit(**OPT)
def add_row(A, f, s, J, a, b, D, weight, inverse):  # type: ignore[no-untyped-def]
    """Fill slot s: R = J, C = M^-1 (J + weight D)."""
    rows, pushes = f + lc(A, R) + 48 * s, f + lc(A, C) + 48 * s
    for d in range(3):
        x, y = ld(J, d), ld(J, 3 + d)
        st(rows, d, x)
        st(rows, 3 + d, y)
        if weight != 0.0:
            x += weight * ld(D, d)
            y += weight * ld(D, 3 + d)
        st(pushes, d, ld(inverse, 3 * a + d) * x)
        st(pushes, 3 + d, ld(inverse, 3 * b + d) * y)


@njit(**OPT)
def fill_joint_rows(A, f, out):  # type: ignore[no-untyped-def]
    inverse, count, identity = f + lc(A, INVERSE), f + lc(A, COUNT), f + lc(A, IDENTITY)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first, n = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k), lc(lc(A, B_COUNT), k)
        si(count, k, n)
        for i in range(n):
            r = first + i
            J = out + lc(lc(A, ROW_J), r)
            add_row(A, f, s + i, J, lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), J, 0.0, inverse)
            si(identity, s + i, r)


@njit(**OPT)
def fill_contact_rows(A, f, out):  # type: ignore[no-untyped-def]
    """Rows of the gaps that are not open; identity is 2 gap + (0 normal, 1 tangential)."""
    inverse, count, identity = f + lc(A, INVERSE), f + lc(A, COUNT), f + lc(A, IDENTITY)
    mode, friction = f + lc(A, MODE), f + lc(A, FRICTION)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        n = 0
        for i in range(first, first + lc(lc(A, B_COUNT), k)):
            m = li(mode, i)
            if m == OPEN:
                continue
            a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
            J, D, weight = out + lc(lc(A, GAP_N), i), out + lc(lc(A, GAP_T), i), 0.0
            if m == FORWARD:
                weight = ld(friction, i)
            elif m == BACKWARD:
                weight = -ld(friction, i)
            add_row(A, f, s + n, J, a, b, D, weight, inverse)
            si(identity, s + n, 2 * i)
            n += 1
            if m == STICK and ld(friction, i) > 0.0:
                add_row(A, f, s + n, D, a, b, D, 0.0, inverse)
                si(identity, s + n, 2 * i + 1)
                n += 1
        si(count, k, n)


@njit(**OPT)
def dot(x, y):  # type: ignore[no-untyped-def]
    return ld(x, 0) * ld(y, 0) + ld(x, 1) * ld(y, 1) + ld(x, 2) * ld(y, 2)


@njit(**OPT)
def couple(A, f, blocks, couplings, lu):  # type: ignore[no-untyped-def]
    """Fill the blocks R_i . C_j of the matrix that share a body."""
    count, rows, pushes = f + lc(A, COUNT), f + lc(A, R), f + lc(A, C)
    if blocks == lc(A, N_BLOCKS):
        size = lc(A, N_LU)
    else:
        size = lc(lc(A, B_DIAGONAL), blocks)
    for k in range(size):
        st(lu, k, 0.0)
    for e in range(couplings):
        i, j = lc(lc(A, C_ROW), e), lc(lc(A, C_COLUMN), e)
        ni, nj = li(count, i), li(count, j)
        if ni == 0 or nj == 0:
            continue
        a, b = lc(lc(A, C_ROW_SIDE), e), lc(lc(A, C_COLUMN_SIDE), e)
        Ri, Ci = rows + 48 * lc(lc(A, B_SLOT), i) + 8 * a, pushes + 48 * lc(lc(A, B_SLOT), i) + 8 * a
        Rj, Cj = rows + 48 * lc(lc(A, B_SLOT), j) + 8 * b, pushes + 48 * lc(lc(A, B_SLOT), j) + 8 * b
        lower, width = lu + 8 * lc(lc(A, C_LOWER), e), lc(lc(A, B_SIZE), j)
        if ni == 1 and nj == 1:
            st(lower, 0, ld(lower, 0) + dot(Ri, Cj))
            if i != j:
                upper = lu + 8 * lc(lc(A, C_UPPER), e)
                st(upper, 0, ld(upper, 0) + dot(Rj, Ci))
            continue
        for x in range(ni):
            for y in range(nj):
                st(lower, x * width + y, ld(lower, x * width + y) + dot(Ri + 48 * x, Cj + 48 * y))
        if i != j:
            upper, width = lu + 8 * lc(lc(A, C_UPPER), e), lc(lc(A, B_SIZE), i)
            for y in range(nj):
                for x in range(ni):
                    st(upper, y * width + x, ld(upper, y * width + x) + dot(Rj + 48 * y, Ci + 48 * x))


@njit(**OPT)
def solve_block(D, w, n, x, stride):  # type: ignore[no-untyped-def]
    """Solve in place with one factored diagonal block, for entries of x that stand `stride` apart."""
    for c in range(n):
        value = ld(x, c * stride)
        for j in range(c):
            value -= ld(D, c * w + j) * ld(x, j * stride)
        st(x, c * stride, value)
    for c in range(n - 1, -1, -1):
        value = ld(x, c * stride)
        for j in range(c + 1, n):
            value -= ld(D, c * w + j) * ld(x, j * stride)
        st(x, c * stride, value * ld(D, c * w + c))


@njit(**OPT)
def ridged(pivot, size):  # type: ignore[no-untyped-def]
    """A pivot that elimination has emptied, raised."""
    pivot += RIDGE * size
    if not abs(pivot) > 1e-3 * RIDGE * size:
        pivot = RIDGE * size
    return pivot if pivot != 0.0 else 1.0


@njit(**OPT)
def eliminate(A, f, blocks, lu):  # type: ignore[no-untyped-def]
    """Block LU in place; returns whether a diagonal had to be raised.

    Diagonal blocks of one or two rows hold their inverse, larger ones LU factors with inverse pivots.
    """
    count, raised, diagonal = f + lc(A, COUNT), False, f + lc(A, DIAGONAL)
    for k in range(blocks):
        D, w, s = lu + 8 * lc(lc(A, B_DIAGONAL), k), lc(lc(A, B_SIZE), k), lc(lc(A, B_SLOT), k)
        for c in range(li(count, k)):
            st(diagonal, s + c, abs(ld(D, c * w + c)))
    for k in range(blocks):
        n = li(count, k)
        if n == 0:
            continue
        D, w = lu + 8 * lc(lc(A, B_DIAGONAL), k), lc(lc(A, B_SIZE), k)
        s = lc(lc(A, B_SLOT), k)
        if n == 1:
            size, pivot = ld(diagonal, s), ld(D, 0)
            if not pivot > EMPTIED * size:
                pivot, raised = ridged(pivot, size), True
            st(D, 0, 1.0 / pivot)
        elif n == 2:
            d0, beside, below, d1 = ld(D, 0), ld(D, 1), ld(D, w), ld(D, w + 1)
            size, other = ld(diagonal, s), ld(diagonal, s + 1)
            if not d0 > EMPTIED * size:
                d0, raised = ridged(d0, size), True
            determinant = d0 * d1 - beside * below
            if not determinant > EMPTIED * other * d0:
                determinant, raised = d0 * ridged(determinant / d0, other), True
                d1 = (determinant + beside * below) / d0
            inverse = 1.0 / determinant
            st(D, 0, d1 * inverse)
            st(D, 1, -beside * inverse)
            st(D, w, -below * inverse)
            st(D, w + 1, d0 * inverse)
        else:
            for c in range(n):
                pivot, size = ld(D, c * w + c), ld(diagonal, s + c)
                if not pivot > EMPTIED * size:
                    pivot, raised = ridged(pivot, size), True
                inverse = 1.0 / pivot
                st(D, c * w + c, inverse)
                for i in range(c + 1, n):
                    x = ld(D, i * w + c) * inverse
                    st(D, i * w + c, x)
                    for j in range(c + 1, n):
                        st(D, i * w + j, ld(D, i * w + j) - x * ld(D, c * w + j))
        first, every = lc(lc(A, E_FIRST), k), lc(lc(A, E_FIRST), k + 1)
        last = every if blocks == lc(A, N_BLOCKS) else lc(lc(A, E_JOINT_LAST), k)
        for e in range(first, last):
            block = lc(lc(A, E_BLOCK), e)
            m = li(count, block)
            if m == 0:
                continue
            upper, wm = lu + 8 * lc(lc(A, E_UPPER), e), lc(lc(A, B_SIZE), block)
            if n == 1:
                inverse = ld(D, 0)
                for y in range(m):
                    st(upper, y, ld(upper, y) * inverse)
            elif n == 2:
                d0, d1, below, beside = ld(D, 0), ld(D, w + 1), ld(D, w), ld(D, 1)
                for y in range(m):
                    x, z = ld(upper, y), ld(upper, wm + y)
                    st(upper, y, d0 * x + beside * z)
                    st(upper, wm + y, below * x + d1 * z)
            else:
                for y in range(m):
                    solve_block(D, w, n, upper + 8 * y, wm)
        for e in range(first, last):
            m = li(count, lc(lc(A, E_BLOCK), e))
            if m == 0:
                continue
            lower, u = lu + 8 * lc(lc(A, E_LOWER), e), lc(lc(A, E_UPDATE), k) + (e - first) * (every - first)
            for g in range(first, last):
                other = lc(lc(A, E_BLOCK), g)
                o = li(count, other)
                if o == 0:
                    continue
                target = lu + 8 * lc(lc(A, E_TARGET), u + g - first)
                upper, wo = lu + 8 * lc(lc(A, E_UPPER), g), lc(lc(A, B_SIZE), other)
                if n == 1:
                    for x in range(m):
                        factor = ld(lower, x * w)
                        for y in range(o):
                            st(target, x * wo + y, ld(target, x * wo + y) - factor * ld(upper, y))
                elif n == 2:
                    for x in range(m):
                        l0, l1 = ld(lower, x * w), ld(lower, x * w + 1)
                        for y in range(o):
                            value = ld(target, x * wo + y) - l0 * ld(upper, y) - l1 * ld(upper, wo + y)
                            st(target, x * wo + y, value)
                else:
                    for x in range(m):
                        for y in range(o):
                            value = ld(target, x * wo + y)
                            for j in range(n):
                                value -= ld(lower, x * w + j) * ld(upper, j * wo + y)
                            st(target, x * wo + y, value)
    return raised


@njit(**OPT)
def substitute(A, f, blocks, lu, x):  # type: ignore[no-untyped-def]
    """Solve in place for the slots of all blocks."""
    count, whole = f + lc(A, COUNT), blocks == lc(A, N_BLOCKS)
    for k in range(blocks):
        n = li(count, k)
        if n == 0:
            continue
        D, w, s = lu + 8 * lc(lc(A, B_DIAGONAL), k), lc(lc(A, B_SIZE), k), lc(lc(A, B_SLOT), k)
        if n == 1:
            st(x, s, ld(x, s) * ld(D, 0))
        elif n == 2:
            y, z = ld(x, s), ld(x, s + 1)
            st(x, s, ld(D, 0) * y + ld(D, 1) * z)
            st(x, s + 1, ld(D, w) * y + ld(D, w + 1) * z)
        else:
            solve_block(D, w, n, x + 8 * s, 1)
        last = lc(lc(A, E_FIRST), k + 1) if whole else lc(lc(A, E_JOINT_LAST), k)
        for e in range(lc(lc(A, E_FIRST), k), last):
            block = lc(lc(A, E_BLOCK), e)
            m = li(count, block)
            lower, o = lu + 8 * lc(lc(A, E_LOWER), e), lc(lc(A, B_SLOT), block)
            for i in range(m):
                value = ld(x, o + i)
                for j in range(n):
                    value -= ld(lower, i * w + j) * ld(x, s + j)
                st(x, o + i, value)
    for k in range(blocks - 1, -1, -1):
        n = li(count, k)
        if n == 0:
            continue
        s = lc(lc(A, B_SLOT), k)
        last = lc(lc(A, E_FIRST), k + 1) if whole else lc(lc(A, E_JOINT_LAST), k)
        for e in range(lc(lc(A, E_FIRST), k), last):
            block = lc(lc(A, E_BLOCK), e)
            m = li(count, block)
            upper, o, wm = lu + 8 * lc(lc(A, E_UPPER), e), lc(lc(A, B_SLOT), block), lc(lc(A, B_SIZE), block)
            for c in range(n):
                value = ld(x, s + c)
                for i in range(m):
                    value -= ld(upper, c * wm + i) * ld(x, o + i)
                st(x, s + c, value)


# ----------------------------------------------------------------------------------------------------- the active set


@njit(**OPT)
def recall_modes(A, f):  # type: ignore[no-untyped-def]
    """Modes of the last impulses, so that a run goes on to the same bits from its impulses alone."""
    mode, N, T = f + lc(A, MODE), f + lc(A, P_N), f + lc(A, P_T)
    active, friction = f + lc(A, ACTIVE), f + lc(A, FRICTION)
    for i in range(lc(A, N_GAPS)):
        m = OPEN
        if li(active, i) and ld(N, i) > 0.0:
            m = STICK
            mu = ld(friction, i)
            if mu > 0.0 and abs(ld(T, i)) >= mu * ld(N, i) * (1.0 - 1e-12):
                m = FORWARD if ld(T, i) > 0.0 else BACKWARD
        si(mode, i, m)


@njit(**OPT)
def rates_to_slots(A, f, out_j, out_c, v, x):  # type: ignore[no-untyped-def]
    """x = -(R . v + shift), what the impulses of the slots have to change."""
    count, identity = f + lc(A, COUNT), f + lc(A, IDENTITY)
    shift = f + lc(A, SHIFT_J)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        for i in range(li(count, k)):
            r = first + i
            J = out_j + lc(lc(A, ROW_J), r)
            st(x, s + i, -(along(J, lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), v) + ld(shift, r)))
    normal, tangential = f + lc(A, SHIFT_N), f + lc(A, SHIFT_T)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s = lc(lc(A, B_SLOT), k)
        for i in range(li(count, k)):
            g = li(identity, s + i) >> 1
            a, b = lc(lc(A, GAP_A), g), lc(lc(A, GAP_B), g)
            if li(identity, s + i) & 1:
                st(x, s + i, -(along(out_c + lc(lc(A, GAP_T), g), a, b, v) + ld(tangential, g)))
            else:
                st(x, s + i, -(along(out_c + lc(lc(A, GAP_N), g), a, b, v) + ld(normal, g)))


@njit(**OPT)
def slots_to_impulses(A, f, x, joint_impulses, add):  # type: ignore[no-untyped-def]
    """Slots to P_g, P_N and P_T; `add` for a change of them."""
    count, identity = f + lc(A, COUNT), f + lc(A, IDENTITY)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        for i in range(li(count, k)):
            before = ld(joint_impulses, first + i) if add else 0.0
            st(joint_impulses, first + i, before + ld(x, s + i))
    N, T, mode, friction = f + lc(A, P_N), f + lc(A, P_T), f + lc(A, MODE), f + lc(A, FRICTION)
    if not add:
        for i in range(lc(A, N_GAPS)):
            st(N, i, 0.0)
            st(T, i, 0.0)
    for k in range(lc(A, N_JOINT_BLOCKS), lc(A, N_BLOCKS)):
        s = lc(lc(A, B_SLOT), k)
        for i in range(li(count, k)):
            g = li(identity, s + i) >> 1
            if li(identity, s + i) & 1:
                st(T, g, ld(T, g) + ld(x, s + i))
            else:
                st(N, g, ld(N, g) + ld(x, s + i))
                if li(mode, g) == FORWARD:
                    st(T, g, ld(friction, g) * ld(N, g))
                elif li(mode, g) == BACKWARD:
                    st(T, g, -ld(friction, g) * ld(N, g))


@njit(**OPT)
def push_slots(A, f, x, v):  # type: ignore[no-untyped-def]
    """v += C x over all slots."""
    count, pushes, identity = f + lc(A, COUNT), f + lc(A, C), f + lc(A, IDENTITY)
    for k in range(lc(A, N_BLOCKS)):
        s = lc(lc(A, B_SLOT), k)
        for i in range(li(count, k)):
            if k < lc(A, N_JOINT_BLOCKS):
                r = li(identity, s + i)
                a, b = lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
            else:
                r = li(identity, s + i) >> 1
                a, b = lc(lc(A, GAP_A), r), lc(lc(A, GAP_B), r)
            p, Cs = ld(x, s + i), pushes + 48 * (s + i)
            for d in range(3):
                st(v, 3 * a + d, ld(v, 3 * a + d) + ld(Cs, d) * p)
                st(v, 3 * b + d, ld(v, 3 * b + d) + ld(Cs, 3 + d) * p)


@njit(**OPT)
def wanted_mode(A, f, out, v, i):  # type: ignore[no-untyped-def]
    """The mode of gap i by the projections of Alart and Curnier, exact since its mode's equations hold."""
    m, mu = li(f + lc(A, MODE), i), ld(f + lc(A, FRICTION), i)
    a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
    J, inverse = out + lc(lc(A, GAP_N), i), f + lc(A, INVERSE)
    reach = 0.0
    if m == OPEN:
        rate = along(J, a, b, v) + ld(f + lc(A, SHIFT_N), i)
        if rate >= 0.0:
            return OPEN
        terms = along_sizes(J, a, b, v) + abs(ld(f + lc(A, SHIFT_N), i))
        if rate >= -SIGN * terms:
            return OPEN
        if mu == 0.0:
            return STICK
        reach = -mu * rate / max(mobility(J, a, b, inverse), TINY)
    else:
        P = ld(f + lc(A, P_N), i)
        if P < 0.0:
            return OPEN
        if mu == 0.0:
            return STICK
        reach = mu * P
    D = out + lc(lc(A, GAP_T), i)
    force = ld(f + lc(A, P_T), i)
    if m != STICK:
        slip = along(D, a, b, v) + ld(f + lc(A, SHIFT_T), i)
        if m != OPEN:
            if (slip <= 0.0) == (m == FORWARD) or slip == 0.0:
                return m
            if abs(slip) <= SIGN * (along_sizes(D, a, b, v) + abs(ld(f + lc(A, SHIFT_T), i))):
                return m
        force -= slip / max(mobility(D, a, b, inverse), TINY)
    if abs(force) <= reach:
        return STICK
    return FORWARD if force > 0.0 else BACKWARD


@njit(**OPT)
def hashed(i, round_):  # type: ignore[no-untyped-def]
    """A reproducible coin for gap i in a round."""
    x = (i * 2654435761 + round_ * 40503 + 12345) & 0xFFFFFFFF
    x = ((x >> 16) ^ x) * 73244475 & 0xFFFFFFFF
    return ((x >> 16) ^ x) & 1


def solve_active(A, f, out_j, out_c, base, joint_impulses, v):  # type: ignore[no-untyped-def]
    """Velocities `v` = base + M^-1 (W_g P_g + W_N P_N + W_T P_T) that obey joints and laws; whether they were found.

    Joints: R . v + shift = 0; gaps that are active: 0 <= R . v + shift  ⟂  P_N >= 0 and Coulomb's law. Semismooth
    Newton from the modes of the last step: all rows switch at once, later a reproducible half of them, in frictionless
    mechanisms at last one at a time.
    """
    counters, lu, x, r = f + lc(A, COUNTERS), f + lc(A, LU), f + lc(A, X), f + lc(A, RHS)
    mode, wanted, active = f + lc(A, MODE), f + lc(A, WANTED), f + lc(A, ACTIVE)
    size, gaps, blocks = 3 * lc(A, N_BODIES) + 3, lc(A, N_GAPS), lc(A, N_BLOCKS)
    si(counters, K_SOLVES, li(counters, K_SOLVES) + 1)
    fill_joint_rows(A, f, out_j)
    limit = ALL_AT_ONCE + HASHED
    if not lc(A, ROUGH):
        limit += SINGLE + gaps
    for round_ in range(limit):
        si(counters, K_ROUNDS, li(counters, K_ROUNDS) + 1)
        fill_contact_rows(A, f, out_c)
        couple(A, f, blocks, lc(A, N_COUPLINGS), lu)
        raised = eliminate(A, f, blocks, lu)
        rates_to_slots(A, f, out_j, out_c, base, x)
        substitute(A, f, blocks, lu, x)
        slots_to_impulses(A, f, x, joint_impulses, False)
        copy(base, v, size)
        push_slots(A, f, x, v)
        for _ in range(4 if raised else 0):
            rates_to_slots(A, f, out_j, out_c, v, r)
            substitute(A, f, blocks, lu, r)
            slots_to_impulses(A, f, r, joint_impulses, True)
            push_slots(A, f, r, v)
        changes, last = 0, -1
        for i in range(gaps):
            if li(active, i):
                m = wanted_mode(A, f, out_c, v, i)
                si(wanted, i, m)
                if m != li(mode, i):
                    changes += 1
                    last = i
        if changes == 0:
            return 1
        if round_ >= ALL_AT_ONCE + HASHED:
            si(counters, K_SINGLE, li(counters, K_SINGLE) + 1)
            si(mode, last, li(wanted, last))
            continue
        half = round_ >= ALL_AT_ONCE
        if half:
            si(counters, K_HASHED, li(counters, K_HASHED) + 1)
        for i in range(gaps):
            if li(active, i) and (not half or changes == 1 or hashed(i, round_)):
                si(mode, i, li(wanted, i))
    return 0


@njit(**OPT)
def law_error(A, f, out, v):  # type: ignore[no-untyped-def]
    """Natural map of Signorini's and Coulomb's laws over the active gaps, each scaled by its terms."""
    worst, inverse, rough = 0.0, f + lc(A, INVERSE), lc(A, ROUGH)
    active, N, T = f + lc(A, ACTIVE), f + lc(A, P_N), f + lc(A, P_T)
    normal, tangential, friction = f + lc(A, SHIFT_N), f + lc(A, SHIFT_T), f + lc(A, FRICTION)
    for i in range(lc(A, N_GAPS)):
        if not li(active, i):
            continue
        a, b, J = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), out + lc(lc(A, GAP_N), i)
        own = mobility(J, a, b, inverse) * ld(N, i)
        rate = along(J, a, b, v) + ld(normal, i)
        error = abs(min(rate, own))
        if error != 0.0:
            terms = along_sizes(J, a, b, v) + abs(ld(normal, i)) + abs(own)
            worst = max(worst, error / max(terms, TINY))
        if rough and ld(friction, i) > 0.0:
            D = out + lc(lc(A, GAP_T), i)
            own = mobility(D, a, b, inverse)
            slip, reach = along(D, a, b, v) + ld(tangential, i), own * ld(friction, i) * max(ld(N, i), 0.0)
            force = own * ld(T, i)
            error = abs(force - min(max(force - slip, -reach), reach))
            if error != 0.0:
                terms = along_sizes(D, a, b, v) + abs(ld(tangential, i)) + abs(force) + reach
                worst = max(worst, error / max(terms, TINY))
        if not math.isfinite(rate):
            return math.inf
    return worst


@njit(**OPT)
def mode_of(A, f, i, closed, N, T):  # type: ignore[no-untyped-def]
    """Contact mode as recorded: open, closed, sticking, slipping."""
    if not closed:
        return 0.0
    mu = ld(f + lc(A, FRICTION), i)
    if not (mu > 0.0 and N > 0.0):
        return 1.0
    return 2.0 if abs(T) < mu * N * (1.0 - ld(f + lc(A, OPTIONS), O_EDGE)) else 3.0


@njit(**OPT)
def zero_rate(A, f, i, J, v):  # type: ignore[no-untyped-def]
    """Rate of gap i below which it counts as zero."""
    options = f + lc(A, OPTIONS)
    terms = along_sizes(J, lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), v)
    return ld(options, O_CLOSED_RATE) * (terms + ld(f + lc(A, SCALE), i) / ld(options, O_LONGEST))


@njit(**OPT)
def rebound(A, f, i, rate):  # type: ignore[no-untyped-def]
    """e gamma of a gap that approaches faster than its threshold."""
    if -rate > ld(f + lc(A, THRESHOLD), i):
        return ld(f + lc(A, RESTITUTION), i) * min(rate, 0.0)
    return 0.0


@njit(**OPT)
def reactions(A, f, out, z, P, weight, result):  # type: ignore[no-untyped-def]
    """result += weight times force and torque of each joint on its second body."""
    for k in range(lc(A, N_JOINTS)):
        b, first = lc(lc(A, JOINT_B), k), lc(lc(A, JOINT_FIRST), k)
        x = y = torque = 0.0
        for r in range(first, first + lc(lc(A, JOINT_ROWS), k)):
            J, p = out + lc(lc(A, ROW_J), r), ld(P, r)
            x += ld(J, 3) * p
            y += ld(J, 4) * p
            torque += ld(J, 5) * p
        at = f + lc(lc(A, JOINT_POINT), k)
        cosine, sine = ld(z, 4 * b + 2), ld(z, 4 * b + 3)
        arm_x, arm_y = cosine * ld(at, 0) - sine * ld(at, 1), sine * ld(at, 0) + cosine * ld(at, 1)
        st(result, 3 * k, ld(result, 3 * k) + weight * x)
        st(result, 3 * k + 1, ld(result, 3 * k + 1) + weight * y)
        st(result, 3 * k + 2, ld(result, 3 * k + 2) + weight * (torque - (arm_x * y - arm_y * x)))


@njit(**OPT)
def clear(p, n):  # type: ignore[no-untyped-def]
    for k in range(n):
        st(p, k, 0.0)


@njit(**OPT)
def momentum_error(A, f, v0, v1, dt, out_c, N, T, out_a, P_a, out_b, P_b):  # type: ignore[no-untyped-def]
    """Scaled residual of M (v1 - v0) = dt h + impulses; rows and terms gather in WORK and BASE, `size` is returned."""
    n = 3 * lc(A, N_BODIES) + 3
    mass, force = f + lc(A, MASS), f + lc(A, FORCE)
    rows, terms = f + lc(A, WORK), f + lc(A, BASE)
    inverse = f + lc(A, INVERSE)
    kinetic_0 = kinetic_1 = kicked = 0.0
    for k in range(n):
        m, a, b, h = ld(mass, k), ld(v0, k), ld(v1, k), dt * ld(force, k)
        st(rows, k, m * (b - a) - h)
        st(terms, k, m * (abs(a) + abs(b)) + abs(h))
        kinetic_0 += m * a * a
        kinetic_1 += m * b * b
        kicked += ld(inverse, k) * h * h
    for r in range(lc(A, N_ROWS)):
        a, b = 3 * lc(lc(A, ROW_A), r), 3 * lc(lc(A, ROW_B), r)
        J, K, p, s = out_a + lc(lc(A, ROW_J), r), out_b + lc(lc(A, ROW_J), r), ld(P_a, r), ld(P_b, r)
        for d in range(3):
            x, y = ld(J, d) * p, ld(K, d) * s
            st(rows, a + d, ld(rows, a + d) - x - y)
            st(terms, a + d, ld(terms, a + d) + abs(x) + abs(y))
            x, y = ld(J, 3 + d) * p, ld(K, 3 + d) * s
            st(rows, b + d, ld(rows, b + d) - x - y)
            st(terms, b + d, ld(terms, b + d) + abs(x) + abs(y))
    rough = lc(A, ROUGH)
    for i in range(lc(A, N_GAPS)):
        p = ld(N, i)
        s = ld(T, i) if rough else 0.0
        if p == 0.0 and s == 0.0:
            continue
        a, b = 3 * lc(lc(A, GAP_A), i), 3 * lc(lc(A, GAP_B), i)
        J, K = out_c + lc(lc(A, GAP_N), i), out_c + lc(lc(A, GAP_T), i)
        for d in range(3):
            x = ld(J, d) * p
            y = ld(K, d) * s if rough else 0.0
            st(rows, a + d, ld(rows, a + d) - x - y)
            st(terms, a + d, ld(terms, a + d) + abs(x) + abs(y))
            x = ld(J, 3 + d) * p
            y = ld(K, 3 + d) * s if rough else 0.0
            st(rows, b + d, ld(rows, b + d) - x - y)
            st(terms, b + d, ld(terms, b + d) + abs(x) + abs(y))
    size = math.sqrt(kinetic_0) + math.sqrt(kinetic_1) + math.sqrt(kicked)
    floor, worst, root = ld(f + lc(A, OPTIONS), O_FLOOR) * size, 0.0, f + lc(A, ROOT_MASS)
    for k in range(3, n):
        error, scale = abs(ld(rows, k)), max(ld(terms, k) + floor * ld(root, k), TINY)
        if not error <= worst * scale:
            worst = error / scale
    return worst, size


# ------------------------------------------------------------------------------------------------------------ schemes


@njit(**OPT)
def gauss_errors(A, f, u, t1):  # type: ignore[no-untyped-def]
    """Residual of implicit Euler's equations at the end of the step, as its Python twin defines it."""
    dt = t1 - ld(f + lc(A, TIME), 1)
    out_j, out_c = f + lc(A, OUT_J1), f + lc(A, OUT_C1)
    N, T = f + lc(A, P_N), f + lc(A, P_T)
    worst, size = momentum_error(A, f, f + lc(A, V), u, dt, out_c, N, T, out_j, f + lc(A, P_A), out_j, f + lc(A, P_B))
    if not math.isfinite(size):
        return math.inf
    for r in range(lc(A, N_ROWS)):
        worst = max(worst, abs(ld(out_j + lc(lc(A, ROW_G), r), 0)))
    rough, longest = lc(A, ROUGH), ld(f + lc(A, OPTIONS), O_LONGEST)
    for i in range(lc(A, N_GAPS)):
        scale, y = ld(f + lc(A, SCALE), i), ld(f + lc(A, Y_SCALE), i)
        worst = max(worst, abs(min(ld(out_c + lc(lc(A, GAP_G), i), 0) / scale, ld(N, i) / y)))
        if rough:
            slip = along(out_c + lc(lc(A, GAP_T), i), lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), u)
            force, reach = ld(T, i) / y, ld(f + lc(A, FRICTION), i) * ld(N, i) / y
            worst = max(worst, abs(force - min(max(force - slip * longest / scale, -reach), reach)))
    return worst


def gauss_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of implicit Euler to t1: linearised gaps and joints, until the true ones close."""
    gaps, rows, n = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3
    t0 = ld(f + lc(A, TIME), 1)
    dt = t1 - t0
    q, v, u, vp, q1, z1 = f + lc(A, Q), f + lc(A, V), f + lc(A, U), f + lc(A, VP), f + lc(A, Q1), f + lc(A, Z1)
    out_j, out_c, out_c0, kick, base = (
        f + lc(A, OUT_J1),
        f + lc(A, OUT_C1),
        f + lc(A, OUT_C0),
        f + lc(A, KICK),
        f + lc(A, BASE),
    )
    N, T, P = f + lc(A, P_N), f + lc(A, P_T), f + lc(A, P_B)
    active, struck, closed_gap = f + lc(A, ACTIVE), f + lc(A, STRUCK), ld(f + lc(A, OPTIONS), O_CLOSED_GAP)
    for i in range(gaps):
        si(active, i, 1)
    recall_modes(A, f)
    for i in range(gaps):
        J = out_c0 + lc(lc(A, GAP_N), i)
        rate = along(J, lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), v)
        st(f + lc(A, S_MINUS), i, rate)
        is_open = ld(out_c0 + lc(lc(A, GAP_G), i), 0) > closed_gap * ld(f + lc(A, SCALE), i)
        striking = is_open or rate < 0.0 and rate < -zero_rate(A, f, i, J, v)
        si(struck, i, 1 if striking else 0)
        if striking:
            st(N, i, 0.0)
            st(T, i, 0.0)
    # the start: the last step's impulses go on, and the forces at its end
    kick_of(A, f, dt)
    for k in range(n):
        st(u, k, ld(v, k) + ld(kick, k))
    push_contacts(A, f, out_c0, N, T, u)
    push_joints(A, f, f + lc(A, OUT_J0), P, u)
    before, error = math.inf, math.inf
    settled = False
    for k in range(PASSES):
        move(A, q, u, dt, q1)
        place(A, q1, z1)
        joints_at(A, f, t1, z1, u, out_j)
        contacts_at(A, f, z1, u, out_c)
        forces_at(A, f, t1, z1, u)
        before, error = error, gauss_errors(A, f, u, t1)
        if not math.isfinite(error):
            return UNCERTAIN
        if error <= 3e-15 or (k > 0 and error >= 0.5 * before and error <= 1e-11):
            settled = True
            break
        kick_of(A, f, dt)
        for j in range(n):
            st(base, j, ld(v, j) + ld(kick, j))
        for r in range(rows):
            J, a, b = out_j + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
            st(f + lc(A, SHIFT_J), r, ld(out_j + lc(lc(A, ROW_G), r), 0) / dt - along(J, a, b, u))
        for i in range(gaps):
            J, a, b = out_c + lc(lc(A, GAP_N), i), lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
            st(f + lc(A, SHIFT_N), i, ld(out_c + lc(lc(A, GAP_G), i), 0) / dt - along(J, a, b, u))
            st(f + lc(A, SHIFT_T), i, 0.0)
        if not call_solve(lc(A, SOLVE), A, f, out_j, out_c, base, P, vp):
            return UNCERTAIN
        copy(vp, u, n)
    if not settled:
        return UNCERTAIN
    turn = ld(f + lc(A, OPTIONS), O_TURN)
    for b in range(1, lc(A, N_BODIES) + 1):
        if abs(ld(u, 3 * b + 2) - ld(v, 3 * b + 2)) * dt > turn:
            return UNCERTAIN
    gauss_record(A, f, t1, error)
    return DONE


@njit(**OPT)
def gauss_record(A, f, t1, error):  # type: ignore[no-untyped-def]
    """What the step leaves for its row, and the state at its end."""
    gaps, rows, n = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3
    dt = t1 - ld(f + lc(A, TIME), 1)
    u, v, out_c, out_c0, out_j = f + lc(A, U), f + lc(A, V), f + lc(A, OUT_C1), f + lc(A, OUT_C0), f + lc(A, OUT_J1)
    N, T, rough = f + lc(A, P_N), f + lc(A, P_T), lc(A, ROUGH)
    natural = loss = work = 0.0
    for i in range(gaps):
        a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
        gap, p = ld(out_c + lc(lc(A, GAP_G), i), 0), ld(N, i)
        scale = ld(f + lc(A, SCALE), i)
        touching = gap <= ld(f + lc(A, OPTIONS), O_CLOSED_GAP) * scale
        natural = max(natural, abs(min(gap / scale, p / ld(f + lc(A, Y_SCALE), i))))
        striking = li(f + lc(A, STRUCK), i)
        if (
            striking
            and ld(f + lc(A, BEFORE), i) > 0.0
            and (ld(out_c0 + lc(lc(A, GAP_G), i), 0) <= ld(f + lc(A, OPTIONS), O_CLOSED_GAP) * scale)
        ):  # a contact that lasts, and whose direction turns
            rate, J = ld(f + lc(A, S_MINUS), i), lc(lc(A, GAP_N), i)
            if -rate <= abs(along(out_c + J, a, b, v) - rate):
                striking = 0
        st(f + lc(A, S_PN), i, p)
        st(f + lc(A, S_PT), i, ld(T, i))
        st(f + lc(A, S_PNI), i, p if striking else 0.0)
        st(f + lc(A, S_MODE), i, mode_of(A, f, i, touching, p, ld(T, i)))
        st(f + lc(A, S_PLUS), i, along(out_c + lc(lc(A, GAP_N), i), a, b, u))
        if rough and not striking:
            D, E = out_c0 + lc(lc(A, GAP_T), i), out_c + lc(lc(A, GAP_T), i)
            loss -= ld(T, i) * (along(D, a, b, v) + along(E, a, b, u)) / 2
        if ld(f + lc(A, CLOSED), i) > 0.0 and not touching:
            st(f + lc(A, LEFT_AT), i, t1)
        st(f + lc(A, CLOSED), i, 1.0 if touching else 0.0)
    clear(f + lc(A, S_REACTION), 3 * lc(A, N_JOINTS))
    reactions(A, f, out_j, f + lc(A, Z1), f + lc(A, P_B), 1.0 / dt, f + lc(A, S_REACTION))
    for r in range(rows):
        work -= ld(f + lc(A, P_B), r) * ld(out_j + lc(lc(A, ROW_T), r), 0)
    copy(u, f + lc(A, S_LEFT), n)
    scalars = f + lc(A, S_SCALARS)
    st(scalars, DT, dt)
    st(scalars, RESIDUAL, error)
    st(scalars, COMPLEMENTARITY, natural)
    st(scalars, WORK_DRIVERS, work)
    st(scalars, WORK_DRIVERS_IMPACT, 0.0)
    st(scalars, LOSS_FRICTION, loss)
    advance_state(A, f, t1, u)


@njit(**OPT)
def advance_state(A, f, t1, v1):  # type: ignore[no-untyped-def]
    n = 3 * lc(A, N_BODIES) + 3
    copy(f + lc(A, Q1), f + lc(A, Q), n)
    copy(v1, f + lc(A, V), n)
    copy(f + lc(A, Z1), f + lc(A, Z0), 4 * lc(A, N_BODIES) + 4)
    copy(f + lc(A, OUT_J1), f + lc(A, OUT_J0), (lc(A, OUT_C0) - lc(A, OUT_J1)) // 8)
    if lc(A, SCHEME) == GAUSS:
        copy(f + lc(A, OUT_C1), f + lc(A, OUT_C0), (lc(A, OUT_C1) - lc(A, OUT_C0)) // 8)
    st(f + lc(A, TIME), 1, t1)


@njit(**OPT)
def moreau_contacts(A, f, dt):  # type: ignore[no-untyped-def]
    """Gaps at q moved by v for dt/2: which are closed, what the laws add to their rates, the modes to begin with."""
    q, v, out, options = f + lc(A, Q), f + lc(A, V), f + lc(A, OUT_C1), f + lc(A, OPTIONS)
    some = False
    move(A, q, v, dt / 2, f + lc(A, QM))
    place(A, f + lc(A, QM), f + lc(A, ZM))
    contacts_at(A, f, f + lc(A, ZM), v, out)
    for i in range(lc(A, N_GAPS)):
        a, b = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i)
        if ld(out + lc(lc(A, GAP_G), i), 0) <= ld(options, O_CLOSED_GAP) * ld(f + lc(A, SCALE), i):
            rate = along(out + lc(lc(A, GAP_N), i), a, b, v)
            st(f + lc(A, S_MINUS), i, rate)
            si(f + lc(A, ACTIVE), i, 1)
            some = True
            st(f + lc(A, SHIFT_N), i, rebound(A, f, i, rate))
            slip = 0.0
            if rate < 0.0 and lc(A, ROUGH):
                slip = ld(f + lc(A, TANGENTIAL), i) * along(out + lc(lc(A, GAP_T), i), a, b, v)
            st(f + lc(A, SHIFT_T), i, slip)
        else:
            si(f + lc(A, ACTIVE), i, 0)
            st(f + lc(A, P_N), i, 0.0)
            st(f + lc(A, P_T), i, 0.0)
    recall_modes(A, f)
    return some


@njit(**OPT)
def moreau_forces(A, f, t0, dt, theta, u):  # type: ignore[no-untyped-def]
    if lc(A, VARYING):
        move(A, f + lc(A, Q), u, theta * dt, f + lc(A, QM))
        place(A, f + lc(A, QM), f + lc(A, ZM))
    forces_at(A, f, t0 + theta * dt, f + lc(A, ZM), u)
    kick_of(A, f, dt)


@njit(**OPT)
def moreau_free(A, f, t0, dt, theta, some):  # type: ignore[no-untyped-def]
    """The passes of a mechanism without joints: forces at the point theta, contacts as one program."""
    n = 3 * lc(A, N_BODIES) + 3
    v, u, vp, base, kick = f + lc(A, V), f + lc(A, U), f + lc(A, VP), f + lc(A, BASE), f + lc(A, KICK)
    mass, before = f + lc(A, MASS), math.inf
    copy(v, u, n)
    for k in range(PASSES):
        moreau_forces(A, f, t0, dt, theta, u)
        change = size = 0.0
        for j in range(n):
            new = ld(v, j) + ld(kick, j)
            change += ld(mass, j) * (new - ld(base, j)) ** 2
            size += ld(mass, j) * (ld(v, j) ** 2 + ld(kick, j) ** 2)
            st(base, j, new)
        change = math.sqrt(change) / max(math.sqrt(size), TINY)
        if k > 0 and (change <= 1e-16 or (change >= before and change <= 1e-11)):
            return True
        before = change if k > 0 else math.inf
        if some:
            if not call_solve(lc(A, SOLVE), A, f, f + lc(A, OUT_J1), f + lc(A, OUT_C1), base, f + lc(A, P_B), vp):
                return False
        else:
            copy(base, vp, n)
        for j in range(n):
            st(u, j, ld(v, j) + theta * (ld(vp, j) - ld(v, j)))
        if not lc(A, VARYING):
            return True
    return False


@njit(**OPT)
def moreau_velocities(A, f, theta):  # type: ignore[no-untyped-def]
    """u and v⁺ of the impulses and forces as they stand, with the joints' directions as they stand."""
    n = 3 * lc(A, N_BODIES) + 3
    v, u, vp, kick, pushed, start = (
        f + lc(A, V), f + lc(A, U), f + lc(A, VP), f + lc(A, KICK), f + lc(A, PUSH), f + lc(A, WORK),
    )  # fmt: skip
    clear(pushed, n)
    push_contacts(A, f, f + lc(A, OUT_C1), f + lc(A, P_N), f + lc(A, P_T), pushed)
    clear(start, n)
    push_joints(A, f, f + lc(A, OUT_J0), f + lc(A, P_A), start)
    for k in range(n):
        a, b = ld(kick, k) + ld(pushed, k), ld(v, k) + ld(start, k)
        st(u, k, b + theta * a)
        st(vp, k, b + a)


@njit(**OPT)
def eliminate_start(A, f):  # type: ignore[no-untyped-def]
    """LU of R M^-1 W_g(q), R the joints' directions at the end."""
    J1, J0, inverse = f + lc(A, OUT_J1), f + lc(A, OUT_J0), f + lc(A, INVERSE)
    count = f + lc(A, COUNT)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first, n = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k), lc(lc(A, B_COUNT), k)
        si(count, k, n)
        for i in range(n):
            r = first + i
            a, b, offset = lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), lc(lc(A, ROW_J), r)
            add_row(A, f, s + i, J0 + offset, a, b, J0 + offset, 0.0, inverse)
            copy(J1 + offset, f + lc(A, R) + 48 * (s + i), 6)
    couple(A, f, lc(A, N_JOINT_BLOCKS), lc(A, N_JOINT_COUPLINGS), f + lc(A, LU_A))
    eliminate(A, f, lc(A, N_JOINT_BLOCKS), f + lc(A, LU_A))


@njit(**OPT)
def joint_correction(A, f, dt):  # type: ignore[no-untyped-def]
    """Newton step of the joints' impulses at the start towards g = 0 at the end; how far it would move u."""
    x, J1, change = f + lc(A, RHS_A), f + lc(A, OUT_J1), f + lc(A, WORK)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        for i in range(lc(lc(A, B_COUNT), k)):
            st(x, s + i, -ld(J1 + lc(lc(A, ROW_G), first + i), 0) / dt)
    substitute(A, f, lc(A, N_JOINT_BLOCKS), f + lc(A, LU_A), x)
    n, inverse = 3 * lc(A, N_BODIES) + 3, f + lc(A, INVERSE)
    clear(change, n)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        for i in range(lc(lc(A, B_COUNT), k)):
            r = first + i
            J0 = f + lc(A, OUT_J0) + lc(lc(A, ROW_J), r)
            push(J0, lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), ld(x, s + i), inverse, change)
    return length(A, f, change)


@njit(**OPT)
def correct_joints(A, f):  # type: ignore[no-untyped-def]
    """Take the step that `joint_correction` found."""
    x, P, change = f + lc(A, RHS_A), f + lc(A, P_A), f + lc(A, WORK)
    for k in range(lc(A, N_JOINT_BLOCKS)):
        s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
        for i in range(lc(lc(A, B_COUNT), k)):
            st(P, first + i, ld(P, first + i) + ld(x, s + i))
    n = 3 * lc(A, N_BODIES) + 3
    add_up(change, f + lc(A, U), n, 1.0)
    add_up(change, f + lc(A, VP), n, 1.0)


@njit(**OPT)
def modes_hold(A, f, v):  # type: ignore[no-untyped-def]
    for i in range(lc(A, N_GAPS)):
        if li(f + lc(A, ACTIVE), i) and wanted_mode(A, f, f + lc(A, OUT_C1), v, i) != li(f + lc(A, MODE), i):
            return False
    return True


@njit(**OPT)
def moreau_joints(A, f, t0, t1, theta, some):  # type: ignore[no-untyped-def]
    """The passes of a mechanism with joints, as in RATTLE.

    A first pass eliminates and finds the modes; later ones evaluate anew and correct with the same elimination, until
    the next correction would be lost in round-off.
    """
    n, rows, dt = 3 * lc(A, N_BODIES) + 3, lc(A, N_ROWS), t1 - t0
    q, v, u, vp, base = f + lc(A, Q), f + lc(A, V), f + lc(A, U), f + lc(A, VP), f + lc(A, BASE)
    J1, out_c, x, z1 = f + lc(A, OUT_J1), f + lc(A, OUT_C1), f + lc(A, RHS), f + lc(A, Z1)
    blocks, lu = lc(A, N_BLOCKS), f + lc(A, LU)
    reach = heaviest = 0.0
    for k in range(3, n):
        reach, heaviest = max(reach, abs(ld(q, k))), max(heaviest, ld(f + lc(A, MASS), k))
    noise = 2.2e-16 * reach * math.sqrt(heaviest) / dt
    moreau_forces(A, f, t0, dt, theta, v)
    moreau_velocities(A, f, theta)
    last_size = length(A, f, v) + length(A, f, f + lc(A, KICK))
    fresh, before, contraction = True, math.inf, 0.0
    for k in range(PASSES):
        si(f + lc(A, COUNTERS), K_PASSES, li(f + lc(A, COUNTERS), K_PASSES) + 1)
        if k > 0 and lc(A, VARYING):
            moreau_forces(A, f, t0, dt, theta, u)
        if k == 1 and not some and not lc(A, VARYING):  # u stands, and what the joints at the end push from
            copy(base, vp, n)
        elif k > 0:
            moreau_velocities(A, f, theta)
        move(A, q, u, dt, f + lc(A, Q1))
        place(A, f + lc(A, Q1), z1)
        joints_at(A, f, t1, z1, u, J1)
        for r in range(rows):
            st(f + lc(A, SHIFT_J), r, ld(J1 + lc(lc(A, ROW_T), r), 0))
        if fresh:
            eliminate_start(A, f)
            joint_correction(A, f, dt)
            correct_joints(A, f)
            for j in range(n):
                st(base, j, ld(vp, j) - ld(f + lc(A, PUSH), j))
            if not call_solve(lc(A, SOLVE), A, f, J1, out_c, base, f + lc(A, P_B), vp):
                return 0
            fresh, contraction = False, 0.0
            continue
        push_joints(A, f, J1, f + lc(A, P_B), vp)
        moved = joint_correction(A, f, dt)
        # a step that is lost in round-off is not taken: what was evaluated stands then
        taken = moved > 1e-14 * last_size
        if taken:
            correct_joints(A, f)
        rates_to_slots(A, f, J1, out_c, vp, x)
        substitute(A, f, blocks, lu, x)
        slots_to_impulses(A, f, x, f + lc(A, P_B), True)
        copy(vp, base, n)
        push_slots(A, f, x, vp)
        turned = 0.0
        for j in range(3, n):
            turned += ld(f + lc(A, MASS), j) * (ld(vp, j) - ld(base, j)) ** 2
        turned = math.sqrt(turned)
        size = length(A, f, vp) + last_size
        if not math.isfinite(size):
            return 0
        change = moved + turned
        calm = not lc(A, VARYING) or change <= 1e-15 * size + 4 * noise
        # directions have turned by about the largest correction since the elimination: by that much each pass contracts
        contraction = max(contraction, turned / max(size, TINY))
        close = calm and moved <= 2e-14 * size + 4 * noise and turned * contraction <= 1e-16 * size
        if (close and not some) or change <= 1e-15 * size + 4 * noise or (change >= before and change <= 1e-11 * size):
            if some and not modes_hold(A, f, vp):
                fresh, before = True, math.inf
                continue
            return 2 if taken else 1
        if change > 1e-2 * size or change > 0.5 * before:
            fresh = True
        before = change
    return 0


def moreau_step(A, f, t1):  # type: ignore[no-untyped-def]
    """One step of Moreau and Jean's scheme to t1."""
    t0, theta = ld(f + lc(A, TIME), 1), ld(f + lc(A, OPTIONS), O_THETA)
    dt, rows = t1 - t0, lc(A, N_ROWS)
    some = moreau_contacts(A, f, dt) if lc(A, N_GAPS) else False
    u, vp = f + lc(A, U), f + lc(A, VP)
    if rows:
        found = moreau_joints(A, f, t0, t1, theta, some)
        if found == 0:
            return UNCERTAIN
        if found == 2:
            moreau_velocities(A, f, theta)
            move(A, f + lc(A, Q), u, dt, f + lc(A, Q1))
            place(A, f + lc(A, Q1), f + lc(A, Z1))
            joints_at(A, f, t1, f + lc(A, Z1), u, f + lc(A, OUT_J1))
            push_joints(A, f, f + lc(A, OUT_J1), f + lc(A, P_B), vp)
    elif not moreau_free(A, f, t0, dt, theta, some):
        return UNCERTAIN
    if not rows:
        move(A, f + lc(A, Q), u, dt, f + lc(A, Q1))
    return moreau_record(A, f, t0, t1, some)


@njit(**OPT)
def moreau_impact(A, f):  # type: ignore[no-untyped-def]
    """Velocities before the impact: without struck contacts and what joints answer to them, left in SHIFT_J."""
    n, jump, out = 3 * lc(A, N_BODIES) + 3, f + lc(A, WORK), f + lc(A, OUT_C1)
    clear(jump, n)
    push_contacts(A, f, out, f + lc(A, P_N), f + lc(A, P_T), jump)
    if lc(A, N_ROWS):
        J1, x, lu, blocks = f + lc(A, OUT_J1), f + lc(A, RHS_A), f + lc(A, LU_A), lc(A, N_JOINT_BLOCKS)
        fill_joint_rows(A, f, J1)
        couple(A, f, blocks, lc(A, N_JOINT_COUPLINGS), lu)
        eliminate(A, f, blocks, lu)
        clear(f + lc(A, SHIFT_J), lc(A, N_ROWS))
        for _ in range(2):
            for k in range(blocks):
                s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
                for i in range(lc(lc(A, B_COUNT), k)):
                    r = first + i
                    J = J1 + lc(lc(A, ROW_J), r)
                    st(x, s + i, -along(J, lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r), jump))
            substitute(A, f, blocks, lu, x)
            for k in range(blocks):
                s, first = lc(lc(A, B_SLOT), k), lc(lc(A, B_FIRST), k)
                for i in range(lc(lc(A, B_COUNT), k)):
                    r = first + i
                    J, a, b = J1 + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
                    push(J, a, b, ld(x, s + i), f + lc(A, INVERSE), jump)
                    st(f + lc(A, SHIFT_J), r, ld(f + lc(A, SHIFT_J), r) + ld(x, s + i))
    left, vp = f + lc(A, S_LEFT), f + lc(A, VP)
    for k in range(n):
        st(left, k, ld(vp, k) - ld(jump, k))


@njit(**OPT)
def moreau_record(A, f, t0, t1, some):  # type: ignore[no-untyped-def]
    """Certificate of the step, what it leaves for its row, and the state at its end."""
    gaps, rows, n, dt = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3, t1 - t0
    v, vp, out = f + lc(A, V), f + lc(A, VP), f + lc(A, OUT_C1)
    J0, J1, PA, PB = f + lc(A, OUT_J0), f + lc(A, OUT_J1), f + lc(A, P_A), f + lc(A, P_B)
    N, T, options = f + lc(A, P_N), f + lc(A, P_T), f + lc(A, OPTIONS)
    if some and law_error(A, f, out, vp) > ld(options, O_CERTIFIED):
        return UNCERTAIN
    error, size = momentum_error(A, f, v, vp, dt, out, N, T, J0, PA, J1, PB)
    inverse = f + lc(A, INVERSE)
    for r in range(rows):
        J, a, b = J1 + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
        explicit = ld(J1 + lc(lc(A, ROW_T), r), 0)
        norm = math.sqrt(mobility(J, a, b, inverse))
        terms = along_sizes(J, a, b, vp) + abs(explicit) + ld(options, O_FLOOR) * (norm if norm > 0.0 else 1.0) * size
        error = max(error, abs(along(J, a, b, vp) + explicit) / max(terms, TINY))
    if not error <= ld(options, O_CERTIFIED):
        return UNCERTAIN
    striking = False
    for i in range(gaps):
        if some and li(f + lc(A, ACTIVE), i):
            rate = ld(f + lc(A, S_MINUS), i)
            lasting = 0.0 < ld(N, i) <= LASTING * ld(f + lc(A, BEFORE), i)
            if rate < 0.0 and not lasting and rate < -zero_rate(A, f, i, out + lc(lc(A, GAP_N), i), v):
                striking = True
                break
    natural = loss = work = 0.0
    rough = lc(A, ROUGH)
    for i in range(gaps):
        a, b, p, s = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), ld(N, i), ld(T, i)
        active = li(f + lc(A, ACTIVE), i)
        if active:
            rate = along(out + lc(lc(A, GAP_N), i), a, b, vp)
            st(f + lc(A, S_PLUS), i, rate)
            law = (rate + ld(f + lc(A, SHIFT_N), i)) * dt / ld(f + lc(A, SCALE), i)
            natural = max(natural, abs(min(law, p / ld(f + lc(A, Y_SCALE), i))))
            if rough and not striking:
                loss -= s * (along(out + lc(lc(A, GAP_T), i), a, b, v) + along(out + lc(lc(A, GAP_T), i), a, b, vp)) / 2
        st(f + lc(A, S_PN), i, p)
        st(f + lc(A, S_PT), i, s)
        st(f + lc(A, S_PNI), i, p if striking else 0.0)
        st(f + lc(A, S_MODE), i, mode_of(A, f, i, active, p, s))
    if rows:
        for r in range(rows):
            work -= ld(PA, r) * ld(J0 + lc(lc(A, ROW_T), r), 0) + ld(PB, r) * ld(J1 + lc(lc(A, ROW_T), r), 0)
        clear(f + lc(A, S_REACTION), 3 * lc(A, N_JOINTS))
        reactions(A, f, J0, f + lc(A, Z0), PA, 1.0 / dt, f + lc(A, S_REACTION))
        reactions(A, f, J1, f + lc(A, Z1), PB, 1.0 / dt, f + lc(A, S_REACTION))
        clear(f + lc(A, S_REACTION_I), 3 * lc(A, N_JOINTS))
    struck_work = 0.0
    if striking:
        moreau_impact(A, f)
        answer = f + lc(A, SHIFT_J)
        reactions(A, f, J1, f + lc(A, Z1), answer, -1.0 / dt, f + lc(A, S_REACTION))
        reactions(A, f, J1, f + lc(A, Z1), answer, 1.0, f + lc(A, S_REACTION_I))
        for r in range(rows):
            struck_work -= ld(answer, r) * ld(J1 + lc(lc(A, ROW_T), r), 0)
    else:
        copy(vp, f + lc(A, S_LEFT), n)
    scalars = f + lc(A, S_SCALARS)
    st(scalars, DT, dt)
    st(scalars, RESIDUAL, error)
    st(scalars, COMPLEMENTARITY, natural)
    st(scalars, WORK_DRIVERS, work)
    st(scalars, WORK_DRIVERS_IMPACT, struck_work)
    st(scalars, LOSS_FRICTION, loss)
    if lc(A, PROJECTED) and not project(A, f, t1):
        return UNCERTAIN
    advance_state(A, f, t1, vp)
    return DONE


@njit(**OPT)
def project(A, f, t1):  # type: ignore[no-untyped-def]
    """The nearest q, in the mass metric, with closed joints and no negative gap: programs in linearised gaps."""
    gaps, rows, n = lc(A, N_GAPS), lc(A, N_ROWS), 3 * lc(A, N_BODIES) + 3
    q1, z1, base, moved = f + lc(A, Q1), f + lc(A, Z1), f + lc(A, BASE), f + lc(A, U)
    out_c, out_j = f + lc(A, OUT_C1), f + lc(A, OUT_J1)
    limit, friction, kept = ld(f + lc(A, OPTIONS), O_PROJECTED), f + lc(A, FRICTION), f + lc(A, OLD_FRICTION)
    copy(friction, kept, gaps)
    clear(friction, gaps)
    copy(f + lc(A, P_N), f + lc(A, OLD_N), gaps)
    copy(f + lc(A, P_T), f + lc(A, OLD_T), gaps)
    copy(f + lc(A, P_B), f + lc(A, RHS_A), rows)
    done = used = False
    for k in range(PASSES):
        if k > 0 or not rows:
            place(A, q1, z1)
        contacts_at(A, f, z1, f + lc(A, VP), out_c)
        if used:
            joints_at(A, f, t1, z1, f + lc(A, VP), out_j)
        done = True
        for i in range(gaps):
            if ld(out_c + lc(lc(A, GAP_G), i), 0) < -limit * ld(f + lc(A, SCALE), i):
                done = False
        if done:
            break
        used = True
        for i in range(gaps):
            gap = ld(out_c + lc(lc(A, GAP_G), i), 0)
            st(f + lc(A, SHIFT_N), i, gap)
            si(f + lc(A, ACTIVE), i, 1)
            si(f + lc(A, MODE), i, STICK if gap < 0.0 else OPEN)
        for r in range(rows):
            st(f + lc(A, SHIFT_J), r, ld(out_j + lc(lc(A, ROW_G), r), 0))
        clear(base, n)
        if not call_solve(lc(A, SOLVE), A, f, out_j, out_c, base, f + lc(A, P_B), moved):
            break
        for j in range(3, n):
            st(q1, j, ld(q1, j) + ld(moved, j))
    copy(kept, friction, gaps)
    copy(f + lc(A, OLD_N), f + lc(A, P_N), gaps)
    copy(f + lc(A, OLD_T), f + lc(A, P_T), gaps)
    copy(f + lc(A, RHS_A), f + lc(A, P_B), rows)
    return done


# ------------------------------------------------------------------------------------------- rows, energies and the run


@njit(**OPT)
def powers(A, f, z, v):  # type: ignore[no-untyped-def]
    """Power of loads and of dampers, at velocities v."""
    loads = damping = 0.0
    if lc(A, VARYING):
        evaluate(A, f, lc(A, FORCE_0), lc(A, FORCE_1), z, v, f)
    for g in range(lc(A, STATIC_0), lc(A, FORCE_1)):
        stored = lc(lc(A, G_STORED), g)
        if stored:
            continue
        a, b, stride, out = lc(lc(A, G_A), g), lc(lc(A, G_B), g), lc(lc(A, G_STRIDE), g), f + lc(lc(A, G_OUT), g)
        power = 0.0
        for i in range(lc(lc(A, G_SIZE), g)):
            x, y = li(a, i), li(b, i)
            for d in range(3):
                power += ld(out, stride * i + d) * ld(v, 3 * x + d) + ld(out, stride * i + 3 + d) * ld(v, 3 * y + d)
        if lc(lc(A, G_DAMPING), g):
            damping += power
        else:
            loads += power
    return loads, damping


@njit(**OPT)
def potential(A, f, z, v):  # type: ignore[no-untyped-def]
    value = 0.0
    for g in range(lc(A, STATIC_0), lc(A, STATIC_1)):
        if lc(lc(A, G_STORED), g) == 2:  # gravity
            a, stride, out = lc(lc(A, G_A), g), lc(lc(A, G_STRIDE), g), f + lc(lc(A, G_OUT), g)
            for i in range(lc(lc(A, G_SIZE), g)):
                b = li(a, i)
                value -= ld(out, stride * i) * ld(z, 4 * b) + ld(out, stride * i + 1) * ld(z, 4 * b + 1)
    evaluate(A, f, lc(A, POTENTIAL_0), lc(A, POTENTIAL_1), z, v, f)
    for g in range(lc(A, POTENTIAL_0), lc(A, POTENTIAL_1)):
        out = f + lc(lc(A, G_OUT), g)
        for i in range(lc(lc(A, G_SIZE), g)):
            value += ld(out, i)
    return value


@njit(**OPT)
def kinetic(A, f, v):  # type: ignore[no-untyped-def]
    x = 0.0
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        x += ld(f + lc(A, MASS), k) * ld(v, k) ** 2
    return x / 2


@njit(**OPT)
def worst_numbers(scalars, worst):  # type: ignore[no-untyped-def]
    for x, k in ((COMPLEMENTARITY, W_COMPLEMENTARITY), (RESIDUAL, W_RESIDUAL)):
        if not ld(scalars, x) <= ld(worst, k):
            st(worst, k, ld(scalars, x))


@njit(**OPT)
def observe(A, f, t, dt, q, left, v, scalars):  # type: ignore[no-untyped-def]
    """True gaps, misfits of joints and energies of a row; sums and worst values of the run go on."""
    z, worst, totals, energy, last = (
        f + lc(A, ZM), f + lc(A, WORST), f + lc(A, TOTALS), f + lc(A, S_ENERGY), f + lc(A, LAST_POWER),
    )  # fmt: skip
    st(f + lc(A, TIME), 0, t)
    place(A, q, z)
    evaluate(A, f, lc(A, SURFACE_0), lc(A, SURFACE_1), z, v, f)
    for i in range(lc(A, N_GAPS)):
        gap = ld(f + lc(lc(A, GAP_D), i), 0)
        if not -gap <= ld(worst, W_GAP):
            st(worst, W_GAP, -gap)
    if lc(A, N_ROWS):
        evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, f)
        for r in range(lc(A, N_ROWS)):
            misfit = abs(ld(f + lc(lc(A, ROW_C), r), 0))
            if not misfit <= ld(worst, W_JOINT):
                st(worst, W_JOINT, misfit)
    right = kinetic(A, f, v)
    before = kinetic(A, f, left)
    loads_left, damping_left = powers(A, f, z, left)
    loads, damping = powers(A, f, z, v)
    st(totals, T_LOADS, ld(totals, T_LOADS) + dt * (ld(last, 0) + loads_left) / 2)
    st(totals, T_DAMPING, ld(totals, T_DAMPING) - dt * (ld(last, 1) + damping_left) / 2)
    st(last, 0, loads)
    st(last, 1, damping)
    st(totals, T_DRIVERS, ld(totals, T_DRIVERS) + ld(scalars, WORK_DRIVERS))
    st(totals, T_IMPACTS, ld(totals, T_IMPACTS) + (before - right + ld(scalars, WORK_DRIVERS_IMPACT)))
    st(totals, T_FRICTION, ld(totals, T_FRICTION) + ld(scalars, LOSS_FRICTION))
    worst_numbers(scalars, worst)
    st(energy, 0, right)
    st(energy, 1, potential(A, f, z, v))
    copy(totals, energy + 16, N_TOTALS)


@njit(**OPT)
def write_view(A, f, rec, row, left, v):  # type: ignore[no-untyped-def]
    """What `observe` found, into a row of the record."""
    gaps = lc(A, N_GAPS)
    for i in range(gaps):
        a, b, J = lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), f + lc(lc(A, GAP_R), i)
        st(li(rec, REC_GAP), row * gaps + i, ld(f + lc(lc(A, GAP_D), i), 0))
        st(li(rec, REC_RATE), row * gaps + i, along(J, a, b, v))
        st(li(rec, REC_RATE_LEFT), row * gaps + i, along(J, a, b, left))
    copy(f + lc(A, S_ENERGY), li(rec, REC_ENERGY) + 56 * row, 7)


@njit(**ENTRY)
def observe_rows(A, f, rec, first, last):  # type: ignore[no-untyped-def]
    """`observe` over recorded rows, where each step has one."""
    width, start = lc(A, ROW_WIDTH), lc(A, TIME)
    for i in range(first, last):
        row = li(rec, REC_ROWS) + 8 * width * i - start
        scalars = row + lc(A, S_SCALARS)
        observe(
            A, f, ld(row + lc(A, TIME), 1), ld(scalars, DT), row + lc(A, Q), row + lc(A, S_LEFT), row + lc(A, V),
            scalars,
        )  # fmt: skip
        write_view(A, f, rec, i, row + lc(A, S_LEFT), row + lc(A, V))


@njit(**OPT)
def note_impacts(A, f, rec, t):  # type: ignore[no-untyped-def]
    """Rows of the table of impacts: t, contact, P_N, P_T, gamma-, gamma+."""
    table, count = li(rec, REC_IMPACTS), li(rec, REC_IMPACT_COUNT)
    for i in range(lc(A, N_GAPS)):
        p = ld(f + lc(A, S_PNI), i)
        if p > 0.0:
            row = table + 48 * count
            st(row, 0, t)
            st(row, 1, i)
            st(row, 2, p)
            st(row, 3, ld(f + lc(A, S_PT), i))
            st(row, 4, ld(f + lc(A, S_MINUS), i))
            st(row, 5, ld(f + lc(A, S_PLUS), i))
            count += 1
    si(rec, REC_IMPACT_COUNT, count)


@njit(**OPT)
def write_row(A, f, rec):  # type: ignore[no-untyped-def]
    """The state and what the step left, or the sums of the steps since the last row."""
    gaps, joints, counters = lc(A, N_GAPS), 3 * lc(A, N_JOINTS), f + lc(A, COUNTERS)
    if lc(A, RECORD) > 1:
        for source, target, n in (
            (SUM_PN, S_PN, gaps), (SUM_PNI, S_PNI, gaps), (SUM_PT, S_PT, gaps), (SUM_REACTION, S_REACTION, joints),
            (SUM_REACTION_I, S_REACTION_I, joints), (SUM_SCALARS, S_SCALARS, N_SCALARS),
        ):  # fmt: skip
            copy(f + lc(A, source), f + lc(A, target), n)
            clear(f + lc(A, source), n)
    row, width = li(counters, K_ROWS), lc(A, ROW_WIDTH)
    copy(f + lc(A, TIME), li(rec, REC_ROWS) + 8 * width * row, width)
    si(counters, K_ROWS, row + 1)
    si(counters, K_SINCE, 0)


def finish_step(A, f, rec):  # type: ignore[no-untyped-def]
    """Count an accepted step, add it up, and write every so-many-th."""
    counters, scalars = f + lc(A, COUNTERS), f + lc(A, S_SCALARS)
    si(counters, K_STEPS, li(counters, K_STEPS) + 1)
    si(counters, K_SINCE, li(counters, K_SINCE) + 1)
    if lc(A, RECORD) == 1:
        write_row(A, f, rec)
        return 0
    gaps, joints = lc(A, N_GAPS), 3 * lc(A, N_JOINTS)
    add_up(f + lc(A, S_PN), f + lc(A, SUM_PN), gaps, 1.0)
    add_up(f + lc(A, S_PNI), f + lc(A, SUM_PNI), gaps, 1.0)
    add_up(f + lc(A, S_PT), f + lc(A, SUM_PT), gaps, 1.0)
    add_up(f + lc(A, S_REACTION), f + lc(A, SUM_REACTION), joints, ld(scalars, DT))
    add_up(f + lc(A, S_REACTION_I), f + lc(A, SUM_REACTION_I), joints, 1.0)
    add_up(scalars, f + lc(A, SUM_SCALARS), N_SCALARS, 1.0)
    if lc(A, OBSERVE):
        t = ld(f + lc(A, TIME), 1)
        if lc(A, OBSERVE) == 1:
            note_impacts(A, f, rec, t)
        observe(A, f, t, ld(scalars, DT), f + lc(A, Q), f + lc(A, S_LEFT), f + lc(A, V), scalars)
    else:
        worst_numbers(scalars, f + lc(A, WORST))
    if li(counters, K_SINCE) == lc(A, RECORD):
        if lc(A, OBSERVE):
            write_view(A, f, rec, li(counters, K_ROWS), f + lc(A, S_LEFT), f + lc(A, V))
        write_row(A, f, rec)
    return 0


@njit(**ENTRY)
def first_row(A, f, rec):  # type: ignore[no-untyped-def]
    """The start as row 0."""
    if lc(A, RECORD) > 1:
        v = f + lc(A, V)
        observe(A, f, ld(f + lc(A, TIME), 1), 0.0, f + lc(A, Q), v, v, f + lc(A, S_SCALARS))
        write_view(A, f, rec, li(f + lc(A, COUNTERS), K_ROWS), v, v)
    write_row(A, f, rec)


@njit(**ENTRY)
def last_row(A, f, rec):  # type: ignore[no-untyped-def]
    """What is left since the last row."""
    if lc(A, OBSERVE):
        write_view(A, f, rec, li(f + lc(A, COUNTERS), K_ROWS), f + lc(A, S_LEFT), f + lc(A, V))
    write_row(A, f, rec)


@njit(**ENTRY)
def prepare(A, f):  # type: ignore[no-untyped-def]
    """What depends on parameters alone, the forces that never vary, and the points of reactions."""
    for g in range(lc(A, N_GROUPS)):
        call_prepare(lc(lc(A, G_PREPARE), g), lc(lc(A, G_SIZE), g), f + lc(lc(A, G_P), g), f + lc(lc(A, G_W), g))
    for z in (f + lc(A, Z0), f + lc(A, Z1), f + lc(A, ZM)):
        clear(z, 2)
        st(z, 2, 1.0)
        st(z, 3, 0.0)
    force = f + lc(A, CONSTANT_FORCE)
    clear(force, 3 * lc(A, N_BODIES) + 3)
    evaluate(A, f, lc(A, STATIC_0), lc(A, STATIC_1), f + lc(A, Z0), f + lc(A, V), f)
    scatter_forces(A, f, lc(A, STATIC_0), lc(A, STATIC_1), force)
    evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), f + lc(A, Z0), f + lc(A, V), f)


@njit(**ENTRY)
def at_state(A, f):  # type: ignore[no-untyped-def]
    """Placements, joints, contacts and forces at the state that stands in the memory."""
    t, z, v = ld(f + lc(A, TIME), 1), f + lc(A, Z0), f + lc(A, V)
    place(A, f + lc(A, Q), z)
    joints_at(A, f, t, z, v, f + lc(A, OUT_J0))
    contacts_at(A, f, z, v, f + lc(A, OUT_C0))
    forces_at(A, f, t, z, v)


@njit(**ENTRY)
def contact_sizes(A, f):  # type: ignore[no-untyped-def]
    """Impulses that move each gap by its clearance within the longest step, from the directions at the state."""
    inverse, least, longest = f + lc(A, INVERSE), math.inf, ld(f + lc(A, OPTIONS), O_LONGEST)
    for k in range(3, 3 * lc(A, N_BODIES) + 3):
        least = min(least, ld(inverse, k))
    for i in range(lc(A, N_GAPS)):
        J = f + lc(A, OUT_C0) + lc(lc(A, GAP_N), i)
        weight = max(mobility(J, lc(lc(A, GAP_A), i), lc(lc(A, GAP_B), i), inverse), least)
        st(f + lc(A, Y_SCALE), i, ld(f + lc(A, SCALE), i) / (longest * weight))


@njit(**ENTRY)
def run(A, f, rec, origin, dt, t_end, steps):  # type: ignore[no-untyped-def]
    """Up to `steps` steps on the grid origin + k dt; stops where a step is not certified, its start left as it was."""
    at_state(A, f)
    counters = f + lc(A, COUNTERS)
    gaps, rows = lc(A, N_GAPS), lc(A, N_ROWS)
    for _ in range(steps):
        t = ld(f + lc(A, TIME), 1)
        if not t < t_end:
            return DONE
        if li(counters, K_ROWS) >= li(rec, REC_CAPACITY):
            return FULL
        if li(rec, REC_IMPACT_COUNT) + gaps > li(rec, REC_IMPACT_CAPACITY):
            return FULL
        end = origin + (math.floor((t - origin) / dt + 1e-6) + 1.0) * dt
        if end >= t_end - 1e-9 * dt:
            end = t_end
        copy(f + lc(A, P_N), f + lc(A, BEFORE), gaps)
        copy(f + lc(A, P_T), f + lc(A, BEFORE) + 8 * gaps, gaps)
        copy(f + lc(A, P_A), f + lc(A, BEFORE) + 16 * gaps, rows)
        copy(f + lc(A, P_B), f + lc(A, BEFORE) + 16 * gaps + 8 * rows, rows)
        if call_step(lc(A, STEP), A, f, end) != DONE:
            copy(f + lc(A, BEFORE), f + lc(A, P_N), gaps)
            copy(f + lc(A, BEFORE) + 8 * gaps, f + lc(A, P_T), gaps)
            copy(f + lc(A, BEFORE) + 16 * gaps, f + lc(A, P_A), rows)
            copy(f + lc(A, BEFORE) + 16 * gaps + 8 * rows, f + lc(A, P_B), rows)
            return UNCERTAIN
        call_finish(lc(A, FINISH), A, f, rec)
    return DONE


@njit(**OPT)
def closed_start(A, f):  # type: ignore[no-untyped-def]
    """Whether joints are closed and gaps do not overlap at the state, by the tolerances of a single run's start."""
    z, v = f + lc(A, Z0), f + lc(A, V)
    evaluate(A, f, lc(A, SURFACE_0), lc(A, SURFACE_1), z, v, f)
    evaluate(A, f, lc(A, CLOSURE_0), lc(A, CLOSURE_1), z, v, f)
    for i in range(lc(A, N_GAPS)):
        if not ld(f + lc(lc(A, GAP_D), i), 0) >= -1e-9 * ld(f + lc(A, SCALE), i):
            return False
    for r in range(lc(A, N_ROWS)):
        J, a, b = f + lc(A, OUT_J0) + lc(lc(A, ROW_J), r), lc(lc(A, ROW_A), r), lc(lc(A, ROW_B), r)
        rate = along(J, a, b, v) + ld(f + lc(A, OUT_J0) + lc(lc(A, ROW_T), r), 0)
        if not (abs(ld(f + lc(lc(A, ROW_C), r), 0)) <= 1e-9 and abs(rate) <= 1e-9):
            return False
    return True


@njit(**ENTRY)
def run_many(  # type: ignore[no-untyped-def]
    A, f, rec, template, places, values, ends, status, first, last, dt, t_end, keep
):  # fmt: skip
    """Runs first..last, one after the other, in one run's memory.

    `template` is that memory before its parameters, `places` lists (count; targets; sources) of those, `values` and
    `ends` hold a row of parameters and of results per run; `keep` lists (count; first double, doubles) of the results.
    """
    size, count, n = lc(A, N_FLOATS), li(places, 0), 3 * lc(A, N_BODIES) + 3
    width, parameters = li(keep, 1), li(keep, 2)
    for k in range(first, last):
        copy(template, f, size)
        row = values + 8 * parameters * k
        for i in range(count):
            st(f, li(places, 1 + i), ld(row, li(places, 1 + count + i)))
        for i in range(3, n):
            st(f + lc(A, INVERSE), i, 1.0 / ld(f + lc(A, MASS), i))
            st(f + lc(A, ROOT_MASS), i, math.sqrt(ld(f + lc(A, MASS), i)))
        prepare(A, f)
        at_state(A, f)
        contact_sizes(A, f)
        if not closed_start(A, f):
            si(status, k, OPEN_START)
            continue
        origin = ld(f + lc(A, TIME), 1)
        if lc(A, OBSERVE):
            v = f + lc(A, V)
            observe(A, f, origin, 0.0, f + lc(A, Q), v, v, f + lc(A, S_SCALARS))
        si(status, k, run(A, f, rec, origin, dt, t_end, 4611686018427387904))
        target = ends + 8 * width * k
        for i in range(li(keep, 0)):
            copy(f + 8 * li(keep, 3 + 2 * i), target, li(keep, 4 + 2 * i))
            target += 8 * li(keep, 4 + 2 * i)


# ------------------------------------------------------------------------------------------ functions called by address

WORD = types.int64
UNITS: dict[str, tuple[Any, Any]] = {
    "solve": (solve_active, WORD(*[WORD] * 7)),
    "gauss": (gauss_step, WORD(WORD, WORD, types.float64)),
    "moreau-jean": (moreau_step, WORD(WORD, WORD, types.float64)),
    "finish": (finish_step, WORD(WORD, WORD, WORD)),
}


@functools.cache
def unit(name: str) -> Any:
    """One of `UNITS`, compiled on first use; its ``address`` goes into the table: callers need not contain it."""
    function, signature = UNITS[name]
    return cfunc(signature, **ENTRY)(function)
