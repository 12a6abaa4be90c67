"""Entry points of compiled code: compiled by numba and LLVM when first called on a machine, then loaded from disk.

Object code is stored under a hash of its sources, of the versions, of the processor and of the shapes. Code on disk is
loaded without importing numba, which would take longer than a short run.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib
import importlib.metadata
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile import machine
from nonsmooth.compile.lower import RAISED, lowered
from nonsmooth.exceptions import NonsmoothError

if TYPE_CHECKING:
    from nonsmooth.records.schema import Shape

__all__ = ["entry", "interpreted"]

#: to be increased with every change of how functions are compiled
VERSION = 1
#: source files of compiled code
SOURCES = ("tolerances/*.py", "records/*.py", "compile/*.py", "schemes/*.py")


def _digest() -> str:
    """Hash of the source files of compiled code."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for file in sorted(root.glob(pattern)):
            digest.update(f"{file.relative_to(root).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()


#: hash of the sources that this process imports
SOURCES_AT_START = _digest()


_interpreted = ContextVar("interpreted", default=False)


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Within it, entry points run their text by Python, uncompiled."""
    before = _interpreted.set(True)
    try:
        with np.errstate(all="ignore"):  # as compiled code does
            yield
    finally:
        _interpreted.reset(before)


def entry(module: str, name: str, schema: str, shape: Shape, integers: int = 0) -> Callable[..., int]:
    """A kernel callable from Python with the address of a record and further integers; it returns an integer.

    Parameters
    ----------
    module, name : of the kernel
    schema, shape : of the record
    integers : number of further arguments
    """
    if _interpreted.get():
        return _text(module, name, schema, shape)
    return _compiled(module, name, schema, shape, integers)


def _text(module: str, name: str, schema: str, shape: Shape) -> Callable[..., int]:
    """The kernel itself."""
    from nonsmooth.records.views import Record

    text = getattr(importlib.import_module(module), name)
    return lambda address, *numbers: int(text(Record(schema, shape, address), *numbers) or 0)


@functools.cache
def _compiled(module: str, name: str, schema: str, shape: Shape, integers: int) -> Callable[..., int]:
    found = f"{module}.{name}({schema}<{shape}>, {integers})"
    versions = [VERSION, *(importlib.metadata.version(package) for package in ("numba", "llvmlite"))]
    key = "\n".join(map(str, (*versions, SOURCES_AT_START, found)))
    symbol = f"scheme_{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    (address,) = machine.functions(key, lambda: _code(symbol, module, name, schema, shape, integers), [symbol])
    compiled: Any = ctypes.CFUNCTYPE(*[ctypes.c_int64] * (integers + 2))(address)

    def call(*given: int) -> int:
        return answer(found, int(compiled(*given)))

    return call


def answer(name: str, status: int) -> int:
    """What a compiled function returned; RuntimeError if it raised, which compiled code can tell by a number only."""
    if status == RAISED:
        raise RuntimeError(f"the compiled function {name} raised an exception")
    return status


def _code(symbol: str, module: str, name: str, schema: str, shape: Shape, integers: int) -> str:
    """LLVM code of the function and of its entry point `symbol`."""
    if _digest() != SOURCES_AT_START:  # code must not be stored under the hash of another version
        raise NonsmoothError("The source files of nonsmooth have changed since this process started; start it again.")
    import numba

    from nonsmooth.records.compiled import RecordType

    kinds = (RecordType(schema, shape), *[numba.types.int64] * integers)
    return lowered(symbol, getattr(importlib.import_module(module), name), kinds)
