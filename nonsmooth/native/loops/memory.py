"""Raw memory: addresses are integers, ``ld(p, i)`` and ``st(p, i, x)`` load and store the i-th double from address p,
``li`` and ``si`` the i-th integer, ``lw`` and ``sw`` what may be either; ``lc`` loads an integer that nothing writes
during a run.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from typing import Any

from numba import extending as _extending
from numba import types

intrinsic: Any = _extending.intrinsic  # its types are those of the generators, not of what it makes

#: how functions are compiled that are part of those called from Python
OPT: dict[str, Any] = {
    "error_model": "numpy",
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "forceinline": True,
}


def _tagged(builder: Any, access: Any, kind: str) -> Any:
    """Tell LLVM that doubles and integers never share memory."""
    from llvmlite import ir

    if kind == "word":
        return access
    zero = ir.Constant(ir.IntType(64), 0)
    root = builder.module.add_metadata(["nonsmooth"])
    node = builder.module.add_metadata([kind, root, zero])
    access.set_metadata("tbaa", builder.module.add_metadata([node, node, zero]))
    return access


def _pointer(builder: Any, address: Any, index: Any, element: Any) -> Any:
    return builder.gep(builder.inttoptr(address, element.as_pointer()), [index])


def _access(kind: str) -> tuple[Any, Any]:
    """Load and store of doubles, of integers, or of words, which may be either."""
    number = types.float64 if kind == "double" else types.int64

    @intrinsic
    def load(typingctx, p, i):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            value = builder.load(_pointer(builder, arguments[0], arguments[1], context.get_value_type(number)))
            return _tagged(builder, value, kind)

        return number(types.int64, types.int64), codegen

    @intrinsic
    def store(typingctx, p, i, x):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            place = _pointer(builder, arguments[0], arguments[1], context.get_value_type(number))
            _tagged(builder, builder.store(arguments[2], place), kind)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, number), codegen

    return load, store


ld, st = _access("double")
li, si = _access("integer")
lw, sw = _access("word")


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
def fetch(typingctx, p):  # type: ignore[no-untyped-def]
    """Ask for the line of the cache at address p, which is needed soon."""
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        of, name = ir.FunctionType(ir.VoidType(), [pointer, number, number, number]), "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, of, name=name)
        reading, closest, data = (ir.Constant(number, x) for x in (0, 3, 1))
        builder.call(function, [builder.inttoptr(arguments[0], pointer), reading, closest, data])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def sb(typingctx, p, i, x):  # type: ignore[no-untyped-def]
    """Store the last byte of an integer."""
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        byte = ir.IntType(8)
        builder.store(builder.trunc(arguments[2], byte), _pointer(builder, arguments[0], arguments[1], byte))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def call_evaluate(typingctx, address, n, places, t, z, v, w, out):  # type: ignore[no-untyped-def]
    """Call a kernel ``evaluate(n, places, t, z, v, w, out)`` by its address."""
    from llvmlite import ir

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word] * 7)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 8), codegen


@intrinsic
def call_solve(typingctx, address, A, f, row_side, gap_side):  # type: ignore[no-untyped-def]
    """Call `solve_active` by its address: compiled apart, it is compiled once."""
    return types.int64(*[types.int64] * 5), _by_address([types.int64] * 4)


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


@intrinsic
def call_start(typingctx, address, A, f):  # type: ignore[no-untyped-def]
    """Call what a scheme begins with by its address."""
    return types.int64(*[types.int64] * 3), _by_address([types.int64] * 2)


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
