"""Small arrays as values: vectors of bodies, rows of contacts, blocks of programs.

Compiled code keeps them in registers, uncompiled code in NumPy arrays. The shape is part of the type. If the length of
the last axis is a multiple of four, the array is stored in vectors of four doubles, otherwise in single doubles. Each
function is defined in NumPy, which is its specification, and directly below as LLVM code.
"""

from __future__ import annotations

import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import intrinsic, models, overload, register_model

__all__ = [
    "OPT",
    "PackedType",
    "Value",
    "angular",
    "cross",
    "diagonal",
    "dot",
    "function",
    "identity",
    "inverse",
    "larger_of",
    "largest",
    "linear",
    "normal_axis",
    "outer",
    "products",
    "stacked",
    "trace",
    "transposed",
    "twist",
    "vector",
    "weighed",
    "zeros_like",
]

F64, I64, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
#: compiler options of functions that are inlined into entry points
OPT = {"error_model": "numpy", "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}


class Value(np.ndarray):
    """A small array in uncompiled code; it is immutable under +=, -= and *=, which return a new value."""

    def __iadd__(self, other):
        return self + other

    def __isub__(self, other):
        return self - other

    def __imul__(self, other):
        return self * other


class PackedType(types.Type):
    """The type of a small array in compiled code."""

    def __init__(self, shape):
        self.shape, self.lanes = tuple(shape), 4 if shape[-1] % 4 == 0 else 1
        self.parts = math.prod(shape) // self.lanes
        self.part = ir.VectorType(F64, 4) if self.lanes == 4 else F64
        super().__init__("packed" + "x".join(map(str, shape)))


@register_model(PackedType)
class _PackedModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.LiteralStructType([kind.part] * kind.parts))


def split(builder, kind, value):
    """The parts of a value: vectors of four, or single numbers; values of other types are returned unchanged."""
    if not isinstance(kind, PackedType):
        return value
    return [builder.extract_value(value, i) for i in range(kind.parts)]


def join(builder, kind, parts):
    """The value assembled from its parts."""
    if not isinstance(kind, PackedType):
        return parts
    value = ir.Constant(ir.LiteralStructType([kind.part] * kind.parts), ir.Undefined)
    for i, part in enumerate(parts):
        value = builder.insert_value(value, part, i)
    return value


def spread(builder, number, lanes=4):
    """A number broadcast to all lanes of a part."""
    if lanes == 1:
        return number
    value = ir.Constant(ir.VectorType(F64, 4), ir.Undefined)
    for i in range(4):
        value = builder.insert_element(value, number, ir.Constant(I32, i))
    return value


def lane(builder, part, i):
    """One number of a vector of four."""
    return builder.extract_element(part, ir.Constant(I32, i))


def added(builder, terms):
    """The sum of the terms, in their order."""
    terms = list(terms)
    total = terms[0]
    for term in terms[1:]:
        total = builder.fadd(total, term)
    return total


def sum_of(builder, kind, part):
    """The sum of the lanes of a part."""
    if kind.lanes == 1:
        return part
    a, b, c, d = (lane(builder, part, i) for i in range(4))
    return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))


def larger(builder, x, y):
    """The larger of two numbers, as max(x, y) in Python; a single instruction, unlike maxnum."""
    return builder.select(builder.fcmp_ordered(">", y, x), y, x)


def absolute(builder, part):
    """The absolute values of the lanes of a part."""
    of_four = isinstance(part.type, ir.VectorType)
    name = "llvm.fabs.v4f64" if of_four else "llvm.fabs.f64"
    of = ir.FunctionType(part.type, [part.type])
    return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, of, name), [part])


def function(python):
    """Decorator that gives a Python function a compiled implementation.

    The decorated function receives the types of the arguments and returns the type of the result and a function
    ``(context, builder, parts of the arguments..) -> parts of the result``.
    """

    def attach(written):
        def typed(_, *kinds):
            result, code = written(*kinds)

            def lowered(context, builder, sig, args):
                parts = (split(builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
                return join(builder, result, code(context, builder, *parts))

            return result(*kinds), lowered

        names = ", ".join(python.__code__.co_varnames[: python.__code__.co_argcount])
        # numba compares the names of arguments
        scope = {"typed": typed, "intrinsic": intrinsic}
        exec(
            f"@intrinsic\ndef made(typing, {names}):\n    return typed(typing, {names})\n"
            f"def form({names}):\n    return lambda {names}: made({names})",
            scope,
        )
        overload(python, jit_options=OPT, strict=False)(scope["form"])
        return python

    return attach


# ---- operators


def _elementwise(op, name):
    @infer_global(op)
    class Typed(AbstractTemplate):
        def generic(self, args, kws):
            packed = [a for a in args if isinstance(a, PackedType)]
            if packed and all(a == packed[0] or isinstance(a, (types.Float, types.Integer)) for a in args):
                return signature(packed[0], *(a if isinstance(a, PackedType) else types.float64 for a in args))

    def code(context, builder, sig, args):
        kind = sig.return_type
        x, y = (
            split(builder, of, value)
            if isinstance(of, PackedType)
            else [spread(builder, value, kind.lanes)] * kind.parts
            for of, value in zip(sig.args, args, strict=True)
        )
        return join(builder, kind, [getattr(builder, name)(a, b) for a, b in zip(x, y, strict=True)])

    for left, right in ((PackedType, PackedType), (PackedType, types.Float), (types.Float, PackedType)):
        lower_builtin(op, left, right)(code)


for _op, _name in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"), (operator.isub, "fsub"), (operator.imul, "fmul"),
):  # fmt: skip
    _elementwise(_op, _name)


@infer_global(operator.neg)
@infer_global(abs)
class _Same(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], PackedType):
            return signature(args[0], args[0])


@lower_builtin(operator.neg, PackedType)
def _neg(context, builder, sig, args):
    return join(builder, sig.args[0], [builder.fneg(x) for x in split(builder, sig.args[0], args[0])])


@lower_builtin(abs, PackedType)
def _abs(context, builder, sig, args):
    return join(builder, sig.args[0], [absolute(builder, x) for x in split(builder, sig.args[0], args[0])])


@infer_global(operator.matmul)
class _Matmul(AbstractTemplate):
    def generic(self, args, kws):
        x, y = args
        if isinstance(x, PackedType) and isinstance(y, PackedType) and x.shape[-1] == y.shape[0]:
            return signature(PackedType((x.shape[:-1] + y.shape[1:]) or (1,)), x, y)


@lower_builtin(operator.matmul, PackedType, PackedType)
def _matmul(context, builder, sig, args):
    x, y = sig.args
    a, b = (split(builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
    if x.lanes == 4:  # directions @ a vector
        per = x.shape[-1] // 4
        rows = [added(builder, (builder.fmul(a[i * per + k], b[k]) for k in range(per))) for i in range(x.shape[0])]
        return join(builder, sig.return_type, [sum_of(builder, x, row) for row in rows])
    n, per, out = x.shape[-1], y.parts // y.shape[0], []
    wide = [spread(builder, value, y.lanes) for value in a]
    for i in range(x.parts // n):
        for j in range(per):
            out.append(added(builder, (builder.fmul(wide[i * n + k], b[k * per + j]) for k in range(n))))
    return join(builder, sig.return_type, out)


@infer
class _StaticItem(AbstractTemplate):
    key = "static_getitem"

    def generic(self, args, kws):
        x, i = args
        if isinstance(x, PackedType) and isinstance(i, int):
            return signature(types.float64 if len(x.shape) == 1 else PackedType(x.shape[1:]), x, types.literal(i))


@lower_builtin("static_getitem", PackedType, types.IntegerLiteral)
def _item(context, builder, sig, args):
    kind, i = sig.args[0], args[1]
    parts = split(builder, kind, args[0])
    if len(kind.shape) == 2:
        per = kind.parts // kind.shape[0]
        return join(builder, sig.return_type, parts[i * per : (i + 1) * per])
    return parts[i] if kind.lanes == 1 else lane(builder, parts[i // 4], i % 4)


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


@function(products)
def _(J, K):
    per = J.shape[-1] // 4

    def code(context, builder, a, b):
        def entry(i, j):
            terms = (builder.fmul(a[i * per + k], b[j * per + k]) for k in range(per))
            return sum_of(builder, J, added(builder, terms))

        return [entry(i, j) for i in range(J.shape[0]) for j in range(K.shape[0])]

    return PackedType((J.shape[0], K.shape[0])), code


def weighed(J, masses):
    """J M of the rows of J, with M as (m, m, I, 0) in the plane, or (m, m, m, 0) and a symmetric matrix in space."""
    if masses.ndim == 1:
        return J * masses
    rows = np.atleast_2d(J)
    turning = rows[:, 4:7] @ masses[1:, :3]
    return np.column_stack([rows[:, :4] * masses[0], turning, np.zeros(len(rows))]).reshape(J.shape).view(Value)


@function(weighed)
def _(J, masses):
    def code(context, builder, a, m):
        if J.shape[-1] == 4:
            return [builder.fmul(part, m[0]) for part in a]
        out = []
        for moving, turning in zip(a[::2], a[1::2], strict=True):
            wide = [spread(builder, lane(builder, turning, k)) for k in range(3)]
            out += [builder.fmul(moving, m[0]), added(builder, (builder.fmul(wide[k], m[1 + k]) for k in range(3)))]
        return out

    return J, code


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


def linear(x):
    """The linear part of a twist."""
    return x[:4]


@function(linear)
def _(x):
    return PackedType((4,)), lambda context, builder, a: [a[0]]


def angular(x):
    """The angular part of a twist."""
    return x[4:]


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
