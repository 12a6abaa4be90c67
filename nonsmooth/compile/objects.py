"""Entry points of compiled code: from the cache, from the package, or compiled by numba and LLVM.

In the cache object code is stored under the digest of its text, the versions, the processor and the shape. Both are
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
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile import machine, shipped
from nonsmooth.compile.digests import COMPILED_BY, SOURCES_AT_START, digest_of, source_digest
from nonsmooth.compile.lower import RAISED, lowered
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.progress import in_time

if TYPE_CHECKING:
    from nonsmooth.compile.records.schema import Shape

#: to be increased with every change of how functions are compiled
VERSION = 1

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
    """A kernel callable from Python with the address of a record of this shape and so many integers."""
    if _interpreted.get():
        return _text(module, name, schema, shape)
    return _compiled(module, name, schema, shape, integers)


def _text(module: str, name: str, schema: str, shape: Shape) -> Callable[..., int]:
    """The kernel itself."""
    from nonsmooth.compile.records.views import Record

    text = getattr(importlib.import_module(module), name)
    return lambda address, *numbers: int(text(Record(schema, shape, address), *numbers) or 0)


@functools.cache
def _compiled(module: str, name: str, schema: str, shape: Shape, integers: int) -> Callable[..., int]:
    found = name_of(module, name, schema, shape, integers)
    versions = [VERSION, *(importlib.metadata.version(package) for package in ("numba", "llvmlite"))]
    digest = digest_of(module)
    key = "\n".join(map(str, (*versions, digest, found)))
    (address,) = machine.functions(
        key,
        lambda: compiled_text(module, name, schema, shape, integers),
        [symbol_of(found)],
        lambda: shipped.code(module, digest, found),
    )
    compiled: Any = ctypes.CFUNCTYPE(*[ctypes.c_int64] * (integers + 2))(address)

    def call(*given: int) -> int:
        return answer(found, int(compiled(*given)))

    return call


def answer(name: str, status: int) -> int:
    """The integer that a compiled function returned; RuntimeError for the number by which it tells of an exception."""
    if status == RAISED:
        raise RuntimeError(f"the compiled function {name} raised an exception")
    return status


def name_of(module: str, name: str, schema: str, shape: Shape, integers: int) -> str:
    """The name of an entry point, with the types of its arguments."""
    return f"{module}.{name}({schema}<{shape}>, {integers})"


def symbol_of(found: str) -> str:
    """The symbol of an entry point in object code."""
    return f"scheme_{hashlib.sha256(found.encode()).hexdigest()[:32]}"


def compiled_text(module: str, name: str, schema: str, shape: Shape, integers: int) -> str:
    """LLVM code of the function and of its entry point."""
    if source_digest() != SOURCES_AT_START:  # code must not be stored under the hash of another version
        raise NonsmoothError("The source files of nonsmooth have changed since this process started; start it again.")
    import numba
    from numba.core import event

    from nonsmooth.compile.records.compiled import RecordType

    text = getattr(importlib.import_module(module), name)
    for other in COMPILED_BY:
        importlib.import_module(other)
    kinds = (RecordType(schema, shape), *[numba.types.int64] * integers)

    class Asking(event.Listener):  # before each pass over each function
        def on_start(self, event: Any) -> None:
            in_time()

        def on_end(self, event: Any) -> None: ...

    with event.install_listener("numba:run_pass", Asking()):
        return lowered(symbol_of(name_of(module, name, schema, shape, integers)), text, kinds)
