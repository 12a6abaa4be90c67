"""The type of small arrays in compiled code, their operators, and how functions of them are compiled.

The shape is part of the type. If the length of the last axis is a multiple of four, an array is kept in registers of
four doubles, otherwise of single doubles: its parts.
"""

import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import intrinsic, models, overload, register_model

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
    """The sum of the lanes of a part: that of the first two and that of the others."""
    if kind.lanes == 1:
        return part
    first, last = _lanes(builder, part, part, 0, 1), _lanes(builder, part, part, 2, 3)
    return _sum_of_two(builder, builder.fadd(_lanes(builder, first, last, 0, 2), _lanes(builder, first, last, 1, 3)))


def _sum_of_two(builder, part):
    return builder.fadd(lane(builder, part, 0), lane(builder, part, 1))


def _lanes(builder, x, y, *order):
    """Lanes of two parts in this order, those of the first one numbered before those of the second one."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(order)), list(order)))


def _both_sums(builder, one, other):
    """The sums of the lanes of two parts, in a part of two."""
    pairs = builder.fadd(_lanes(builder, one, other, 0, 4, 2, 6), _lanes(builder, one, other, 1, 5, 3, 7))
    return builder.fadd(_lanes(builder, pairs, pairs, 0, 1), _lanes(builder, pairs, pairs, 2, 3))


def sums_of(builder, kind, parts, others=()):
    """Sums of the lanes of each part, plus that of an other if there is one: as by `sum_of`, for two parts at once."""
    if kind.lanes == 1:
        return [builder.fadd(*pair) for pair in zip(parts, others, strict=True)] if others else list(parts)
    found, paired = [], len(parts) - len(parts) % 2
    for i in range(0, paired, 2):
        both = _both_sums(builder, *parts[i : i + 2])
        if others:
            both = builder.fadd(both, _both_sums(builder, *others[i : i + 2]))
        found += [lane(builder, both, 0), lane(builder, both, 1)]
    for i in range(paired, len(parts)):
        found.append(
            _sum_of_two(builder, _both_sums(builder, parts[i], others[i]))
            if others
            else sum_of(builder, kind, parts[i])
        )
    return found


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
    """A decorator that gives a Python function a compiled implementation: the decorated function takes the types of the
    arguments, and returns that of the result and ``(context, builder, parts of the arguments..) -> parts of the
    result``."""

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


def weighted_rows(builder, kind, a, b):
    """The rows of directions times a vector, whose lanes are to be summed."""
    per = kind.shape[-1] // 4
    return [added(builder, (builder.fmul(a[i * per + k], b[k]) for k in range(per))) for i in range(kind.shape[0])]


@lower_builtin(operator.matmul, PackedType, PackedType)
def _matmul(context, builder, sig, args):
    x, y = sig.args
    a, b = (split(builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
    if x.lanes == 4:  # directions @ a vector
        return join(builder, sig.return_type, sums_of(builder, x, weighted_rows(builder, x, a, b)))
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
