"""The compiled functions of `loops`, kept on disk.

numba compiles a function for the first run on a machine, see `build`; its object code is filed as that of element kinds
is, under a hash of the files of `loops`, of the versions of numba and LLVM, and of the processor. From then on it is
loaded by LLVM alone: importing numba, and letting it look up its own cache, would take longer than a short run.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nonsmooth.compile import machine
from nonsmooth.compile.lower import RAISED

__all__ = ["Entry", "Unit", "address", "functions_met", "ready", "symbol", "unit"]

#: raised with every change of how functions are compiled
VERSION = 3


class Entry:
    """A function of `loops` as Python calls it, compiled or loaded when first called.

    `kinds` are those of its arguments: i of integers, addresses among them, d of floating-point numbers.
    """

    def __init__(self, name: str, kinds: str) -> None:
        self.name, self.kinds = name, kinds
        self._call: Callable[..., int] | None = None

    def __call__(self, *arguments: float) -> int:
        if self._call is None:
            self._call = _callable(address(self.name, self.kinds), self.kinds)
        return _checked(self.name, self._call(*arguments))


class Unit:
    """One of `loops.UNITS`: others call it by its address."""

    def __init__(self, name: str) -> None:
        self.name, self.address = name, address(name, "")

    def __call__(self, *arguments: float) -> int:
        kinds = "".join("d" if isinstance(x, float) else "i" for x in arguments)
        return _checked(self.name, _callable(self.address, kinds)(*arguments))


unit = functools.cache(Unit)

prepare, at_state, contact_sizes = Entry("prepare", "ii"), Entry("at_state", "ii"), Entry("contact_sizes", "ii")
first_row, last_row, observe_rows = Entry("first_row", "iii"), Entry("last_row", "iii"), Entry("observe_rows", "iiiiii")
run = Entry("run", "iiidddi")
landing_start, midpoint_start = Entry("landing_start", "ii"), Entry("midpoint_start", "ii")
run_many = Entry("run_many", "iiiiiiiiiiddi")
#: what every run calls, besides its scheme
ALWAYS = (prepare, at_state, contact_sizes, first_row, observe_rows, run)


@functools.cache
def ready(scheme: str, solve: str) -> None:
    """Compile what a run of a scheme calls and no file holds, in processes beside each other; once per process."""
    _beside([(scheme, "")], [(solve, ""), ("finish", ""), *((entry.name, entry.kinds) for entry in ALWAYS)])


def _beside(long: list[tuple[str, str]], others: list[tuple[str, str]]) -> None:
    """Compile one function, and others, in two processes, where there are some of both that no file holds."""
    if not (_missing(long) and _missing(others)):
        return
    with machine.alone(f"beside {long} {others} {_source()}"):
        long, others = _missing(long), _missing(others)  # another process may have compiled them meanwhile
        if long and others:
            from nonsmooth.native.build import beside

            beside([long, others])


def _missing(functions: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that no file holds."""
    return [function for function in functions if not machine.kept(symbol(*function))]


def functions_met() -> int:
    """How many functions of `loops` this process has compiled or loaded."""
    return address.cache_info().currsize


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
    tables = (here.parent / "tolerances.py", here / "table.py")
    files = (*tables, *sorted((here / "loops").glob("*.py")))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@functools.cache
def _source() -> str:
    """All that the machine code of `loops` depends on besides the processor."""
    versions = (importlib.metadata.version(package) for package in ("numba", "llvmlite"))
    return "\n".join((str(VERSION), *versions, _hash()))


def symbol(name: str, kinds: str) -> str:
    """What a function is called in its object code, which is filed under it."""
    return "loop_" + hashlib.sha256(f"{_source()}\n{name}\n{kinds}".encode()).hexdigest()[:32]


@functools.cache
def address(name: str, kinds: str) -> int:
    """Of a function of `loops`; of a unit, whose kinds of arguments stand there, where `kinds` is empty."""
    from nonsmooth.native.build import code

    own = symbol(name, kinds)
    return machine.functions(own, lambda: code(own, name, kinds), [own])[0]
