"""The compiled functions of `loops`, kept on disk.

numba compiles a function when it is called for the first time on a machine; its object code is filed as that of element
kinds is, under a hash of the files of `loops`, of the versions of numba and LLVM, and of the processor. From then on it
is loaded by LLVM alone: importing numba, and letting it look up its own cache, would take longer than a short run.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.metadata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nonsmooth.native import compiler

__all__ = ["Entry", "Unit", "functions_met", "unit"]

#: raised with every change of how functions are compiled
VERSION = 2
#: what a function that would raise returns; those of `loops` do not raise
RAISED = -(2**62)


class Entry:
    """A function of `loops` as Python calls it, with integers, addresses among them, and floating-point numbers.

    Compiled or loaded when first called, for arguments of these kinds.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._call: Callable[..., int] | None = None

    def __call__(self, *arguments: float) -> int:
        if self._call is None:
            kinds = "".join("d" if isinstance(x, float) else "i" for x in arguments)
            self._call = _callable(_address(self.name, kinds), kinds)
        return _checked(self.name, self._call(*arguments))


class Unit:
    """One of `loops.UNITS`: others call it by its address."""

    def __init__(self, name: str) -> None:
        self.name, self.address = name, _address(name, "")

    def __call__(self, *arguments: float) -> int:
        kinds = "".join("d" if isinstance(x, float) else "i" for x in arguments)
        return _checked(self.name, _callable(self.address, kinds)(*arguments))


unit = functools.cache(Unit)

prepare, at_state, contact_sizes = Entry("prepare"), Entry("at_state"), Entry("contact_sizes")
first_row, last_row, observe_rows = Entry("first_row"), Entry("last_row"), Entry("observe_rows")
run, run_many, landing_start = Entry("run"), Entry("run_many"), Entry("landing_start")


def functions_met() -> int:
    """How many functions of `loops` this process has compiled or loaded."""
    return _address.cache_info().currsize


@functools.cache
def _callable(address: int, kinds: str) -> Callable[..., int]:
    types: dict[str, Any] = {"i": ctypes.c_int64, "d": ctypes.c_double}
    function: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *(types[kind] for kind in kinds))(address)
    return function


def _checked(name: str, result: int) -> int:
    if result == RAISED:
        raise RuntimeError(f"the compiled function {name} raised.")
    return result


def _hash() -> str:
    """Of the files that the functions stand in."""
    here = Path(__file__).parent
    files = (here / "table.py", *sorted((here / "loops").glob("*.py")))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@functools.cache
def _source() -> str:
    """All that the machine code of `loops` depends on besides the processor."""
    versions = (importlib.metadata.version(package) for package in ("numba", "llvmlite"))
    return "\n".join((str(VERSION), *versions, _hash()))


@functools.cache
def _address(name: str, kinds: str) -> int:
    """Of a function of `loops`; of a unit, whose kinds of arguments stand there, where `kinds` is empty."""
    symbol = "loop_" + hashlib.sha256(f"{_source()}\n{name}\n{kinds}".encode()).hexdigest()[:32]
    return compiler.functions(symbol, lambda: _compiled(symbol, name, kinds), [symbol])[0]


def _compiled(symbol: str, name: str, kinds: str) -> str:
    """LLVM code of the function and of `symbol`, which takes its arguments as C does and returns an integer."""
    import llvmlite.binding as llvm
    import numba

    from nonsmooth.native import loops

    if kinds:
        function, types = getattr(loops, name), {"i": numba.types.int64, "d": numba.types.float64}
        signature = tuple(types[kind] for kind in kinds)
    else:
        function, signature = loops.UNITS[name][0], loops.UNITS[name][1].args
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(error_model="numpy", nogil=True, **bare)(getattr(function, "py_func", function))
    with _unoptimised():
        dispatcher.compile(signature)
    (found,) = dispatcher.overloads.values()
    module = llvm.parse_assembly(dispatcher.inspect_llvm(signature))
    inner = module.get_function(found.fndesc.llvm_func_name)
    types_of = [str(argument.type) for argument in inner.arguments]
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration:
            part.linkage = "internal"
    return f"{module}\n{_wrapper(symbol, inner.name, types_of, found.signature.return_type == numba.types.none)}"


@contextlib.contextmanager
def _unoptimised() -> Iterator[None]:
    """numba leaves its code as it is: `compiler` optimises it."""
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
