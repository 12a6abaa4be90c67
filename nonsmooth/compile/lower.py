"""LLVM code of Python functions, as numba makes it, with entries that are called as C functions are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["RAISED", "lowered"]

#: what a function that would raise returns; those that are compiled here do not raise
RAISED = -(2**62)


def lowered(symbol: str, function: Callable[..., Any], kinds: Sequence[Any]) -> str:
    """Code of a function of arguments of numba's types `kinds`, and of `symbol`, which returns an integer."""
    import llvmlite.binding as llvm
    import numba

    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(error_model="numpy", nogil=True, **bare)(function)
    with _unoptimised():
        dispatcher.compile(tuple(kinds))
    (found,) = dispatcher.overloads.values()
    module = llvm.parse_assembly(dispatcher.inspect_llvm(found.signature.args))
    inner = module.get_function(found.fndesc.llvm_func_name)
    types_of = [str(argument.type) for argument in inner.arguments]
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration:
            part.linkage = "internal"
    return f"{module}\n{_wrapper(symbol, inner.name, types_of, found.signature.return_type == numba.types.none)}"


@contextlib.contextmanager
def _unoptimised() -> Iterator[None]:
    """numba leaves its code as it is: `machine` optimises it."""
    import numba

    settings: Any = numba.config
    before, settings.OPT = settings.OPT, 0
    try:
        yield
    finally:
        settings.OPT = before


def _wrapper(symbol: str, inner: str, types: list[str], nothing: bool) -> str:
    """numba's functions return a status, and their result and their exception by two pointers."""
    result, raised = ("i64" if kind == "ptr" else kind[:-1] for kind in types[:2])
    outer = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(types[2:]))
    passed = ", ".join([f"{types[0]} %r", f"{types[1]} %e", *(f"{kind} %a{i}" for i, kind in enumerate(types[2:]))])
    value = "0" if nothing else "%v"
    return "\n".join(
        [
            f"define i64 @{symbol}({outer}) {{",
            f"  %r = alloca {result}",
            f"  %e = alloca {raised}",
            f'  %s = call i32 @"{inner}"({passed})',
            "" if nothing else f"  %v = load i64, {types[0]} %r",
            "  %c = icmp eq i32 %s, 0",
            f"  %x = select i1 %c, i64 {value}, i64 {RAISED}",
            "  ret i64 %x",
            "}",
            "",
        ]
    )
