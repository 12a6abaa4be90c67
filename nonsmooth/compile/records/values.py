"""Functions of small arrays: vectors of bodies, rows of contacts, blocks of programs.

Each function is defined in NumPy, which is its specification, and directly below as LLVM code on the parts of its
arguments, see `packed`.
"""

import numpy as np
from llvmlite import ir
from numba import types

from nonsmooth.compile.records.packed import (
    F64,
    I32,
    PackedType,
    Value,
    added,
    function,
    lane,
    larger,
    spread,
    sum_of,
    sums_of,
    weighted_rows,
)

# ---- products and blocks


def dot(x, y):
    return float(x @ y)


@function(dot)
def _(x, y):
    def code(context, builder, a, b):
        return sum_of(builder, x, added(builder, (builder.fmul(p, q) for p, q in zip(a, b, strict=True))))

    return types.float64, code


def products(J, K):
    """J K' of directions: the scalar products of the rows of J and K."""
    return J @ K.T


def _entries(builder, J, K, a, b):
    """Entries of J K', whose lanes are to be summed."""
    per = J.shape[-1] // 4
    rows = [a[i * per : (i + 1) * per] for i in range(J.shape[0])]
    columns = [b[j * per : (j + 1) * per] for j in range(K.shape[0])]
    return [added(builder, (builder.fmul(p, q) for p, q in zip(x, y, strict=True))) for x in rows for y in columns]


@function(products)
def _(J, K):
    def code(context, builder, a, b):
        return sums_of(builder, J, _entries(builder, J, K, a, b))

    return PackedType((J.shape[0], K.shape[0])), code


def rates_of_two(J, x, K, y):
    """J x + K y of directions J, K on two bodies, with velocities x, y."""
    return J @ x + K @ y


@function(rates_of_two)
def _(J, x, K, y):
    def code(context, builder, a, b, c, d):
        return sums_of(builder, J, weighted_rows(builder, J, a, b), weighted_rows(builder, K, c, d))

    return PackedType((J.shape[0],)), code


def products_of_two(J, M, K, N):
    """J M' + K N' of directions on two bodies."""
    return J @ M.T + K @ N.T


@function(products_of_two)
def _(J, M, K, N):
    def code(context, builder, a, b, c, d):
        return sums_of(builder, J, _entries(builder, J, M, a, b), _entries(builder, K, N, c, d))

    return PackedType((J.shape[0], M.shape[0])), code


def weighed(J, masses):
    """J M of the rows of J, with M as (m, m, I, 0), or (m, m, m, 0) and a matrix in space; then the modes' diagonal."""
    if masses.ndim == 1:
        return J * masses
    rows = np.atleast_2d(J)
    turning = rows[:, 4:7] @ masses[1:4, :3]
    parts = [rows[:, :4] * masses[0], turning, np.zeros(len(rows)), rows[:, 8:] * masses[4:].ravel()]
    return np.column_stack(parts).reshape(J.shape).view(Value)


@function(weighed)
def _(J, masses):
    def code(context, builder, a, m):
        per = J.shape[-1] // 4
        if len(masses.shape) == 1:
            return [builder.fmul(part, m[i % per]) for i, part in enumerate(a)]
        out = []
        for i in range(0, len(a), per):
            moving, turning, *modes = a[i : i + per]
            wide = [spread(builder, lane(builder, turning, k)) for k in range(3)]
            out += [builder.fmul(moving, m[0]), added(builder, (builder.fmul(wide[k], m[1 + k]) for k in range(3)))]
            out += [builder.fmul(part, m[4 + k]) for k, part in enumerate(modes)]
        return out

    return J, code


def total(x):
    """The sum of the numbers of a motion."""
    return float(np.sum(x))


@function(total)
def _(x):
    return types.float64, lambda context, builder, a: sum_of(builder, x, added(builder, a))


def transposed(A):
    return A.T


@function(transposed)
def _(A):
    n = A.shape[0]
    return A, lambda context, builder, a: [a[j * n + i] for i in range(n) for j in range(n)]


def trace(A):
    return float(np.trace(A))


@function(trace)
def _(A):
    return types.float64, lambda context, builder, a: added(builder, a[:: A.shape[0] + 1])


def outer(x, y):
    return np.outer(x, y).view(Value)


@function(outer)
def _(x, y):
    result = PackedType((x.shape[0], y.shape[0]))
    return result, lambda context, builder, a, b: [builder.fmul(spread(builder, p, y.lanes), q) for p in a for q in b]


def inverse(A):
    """The inverse of a block, by cofactors; not finite if the block is singular."""
    try:
        return np.linalg.inv(A).view(Value)
    except np.linalg.LinAlgError:
        return np.full_like(A, np.nan)


@function(inverse)
def _(A):
    n = A.shape[0]

    def code(context, builder, a):
        mul = builder.fmul

        def minor(i, j, k, m):
            return builder.fsub(mul(a[i], a[j]), mul(a[k], a[m]))

        if n == 1:
            adjoint, det = [ir.Constant(F64, 1.0)], a[0]
        elif n == 2:
            adjoint, det = [a[3], builder.fneg(a[1]), builder.fneg(a[2]), a[0]], minor(0, 3, 1, 2)
        else:
            adjoint = [
                minor(4, 8, 5, 7), minor(2, 7, 1, 8), minor(1, 5, 2, 4),
                minor(5, 6, 3, 8), minor(0, 8, 2, 6), minor(2, 3, 0, 5),
                minor(3, 7, 4, 6), minor(1, 6, 0, 7), minor(0, 4, 1, 3),
            ]  # fmt: skip
            det = added(builder, (mul(a[k], adjoint[3 * k]) for k in range(3)))
        per = builder.fdiv(ir.Constant(F64, 1.0), det)
        return [mul(x, per) for x in adjoint]

    return A, code


def identity(x):
    """The identity block of the size of the rows x."""
    return np.eye(len(x)).view(Value)


@function(identity)
def _(x):
    n = x.shape[0]
    numbers = [ir.Constant(F64, float(i == j)) for i in range(n) for j in range(n)]
    return PackedType((n, n)), lambda context, builder, a: numbers


def diagonal(x):
    """A block with the rows x on its diagonal."""
    return np.diag(x).view(Value)


@function(diagonal)
def _(x):
    n, zero = x.shape[0], ir.Constant(F64, 0.0)
    result = PackedType((n, n))
    return result, lambda context, builder, a: [a[i] if i == j else zero for i in range(n) for j in range(n)]


# ---- rows and vectors


def normal_axis(x):
    """(1, 0, ..) of the length of the rows x."""
    return np.eye(len(x))[0].view(Value)


@function(normal_axis)
def _(x):
    return x, lambda context, builder, a: [ir.Constant(F64, float(i == 0)) for i in range(x.shape[0])]


def last_axis(x):
    """(.., 0, 1) of the length of the rows x."""
    return np.eye(len(x))[-1].view(Value)


@function(last_axis)
def _(x):
    return x, lambda context, builder, a: [ir.Constant(F64, float(i == x.shape[0] - 1)) for i in range(x.shape[0])]


def zeros_like(x):
    return np.zeros_like(x)


@function(zeros_like)
def _(x):
    return x, lambda context, builder, a: [ir.Constant(x.part, None)] * x.parts


def largest(x):
    return float(np.max(x))


@function(largest)
def _(x):
    def code(context, builder, found):
        if x.lanes == 4:
            found = [lane(builder, part, i) for part in found for i in range(4)]
        while len(found) > 1:  # pairwise, for shorter chains of dependent instructions
            pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
            found = [larger(builder, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return found[0]

    return types.float64, code


def larger_of(x, y):
    """The larger one of each pair of numbers."""
    return np.maximum(x, y)


@function(larger_of)
def _(x, y):
    return x, lambda context, builder, a, b: [larger(builder, p, q) for p, q in zip(a, b, strict=True)]


def vector(x, y, z, w):
    """The vector of four numbers."""
    return np.array([x, y, z, w]).view(Value)


@function(vector)
def _(x, y, z, w):
    def code(context, builder, *numbers):
        value = ir.Constant(ir.VectorType(F64, 4), ir.Undefined)
        for i, number in enumerate(numbers):
            value = builder.insert_element(value, number, ir.Constant(I32, i))
        return [value]

    return PackedType((4,)), code


def stacked(x, y, z, w):
    """The array whose rows are four vectors."""
    return np.stack([x, y, z, w]).view(Value)


@function(stacked)
def _(x, y, z, w):
    return PackedType((4, 4)), lambda context, builder, *rows: [row[0] for row in rows]


def twist(linear, angular):
    """The twist of a body in space from its linear and angular parts."""
    return np.concatenate([linear, angular]).view(Value)


@function(twist)
def _(linear, angular):
    return PackedType((8,)), lambda context, builder, a, b: [a[0], b[0]]


def rigid_motion(x, linear, angular):
    """x with other linear and angular parts, in space."""
    return np.concatenate([linear, angular, x[8:]]).view(Value)


@function(rigid_motion)
def _(x, linear, angular):
    return x, lambda context, builder, a, b, c: [b[0], c[0], *a[2:]]


def planar_motion(x, rigid):
    """x with the motion (x, y, angle, 0) of its rigid part, in the plane."""
    return np.concatenate([rigid, x[4:]]).view(Value)


@function(planar_motion)
def _(x, rigid):
    return x, lambda context, builder, a, b: [b[0], *a[1:]]


def first_four(like, x):
    """Zeros of the shape of `like`, with x as their first four numbers."""
    return np.concatenate([x, np.zeros(like.shape[0] - 4)]).view(Value)


@function(first_four)
def _(like, x):
    zero = ir.Constant(like.part, None)
    return like, lambda context, builder, a, b: [b[0]] + [zero] * (like.parts - 1)


def linear(x):
    """The first four numbers: the linear part of a twist."""
    return x[:4]


@function(linear)
def _(x):
    return PackedType((4,)), lambda context, builder, a: [a[0]]


def angular(x):
    """The angular part of a twist."""
    return x[4:8]


@function(angular)
def _(x):
    return PackedType((4,)), lambda context, builder, a: [a[1]]


def cross(x, y):
    return np.append(np.cross(x[:3], y[:3]), 0.0).view(Value)


@function(cross)
def _(x, y):
    def code(context, builder, a, b):
        def turned(part, order):
            return builder.shuffle_vector(part, part, ir.Constant(ir.VectorType(I32, 4), order))

        one, two = [1, 2, 0, 3], [2, 0, 1, 3]
        first = builder.fmul(turned(a[0], one), turned(b[0], two))
        return [builder.fsub(first, builder.fmul(turned(a[0], two), turned(b[0], one)))]

    return x, code
