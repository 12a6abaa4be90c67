"""Compiles the compiled functions of `loops`, here or in processes of its own: ``python -m nonsmooth.native.build``.

The arguments of the program are functions as `entries` names them, ``name:kinds``; their object code goes to the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from nonsmooth.compile import machine
from nonsmooth.compile.lower import lowered
from nonsmooth.native import entries

__all__ = ["beside", "code"]


def beside(shares: Sequence[Sequence[tuple[str, str]]]) -> None:
    """Compile the functions of each share, one after the other, in a process of its own.

    What could not be compiled there is compiled where it is called. Nothing is tried where nothing can be kept.
    """
    if not machine.keeps():
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for share in shares:
            names = [f"{name}:{kinds}" for name, kinds in share]
            command = [sys.executable, "-m", "nonsmooth.native.build", *names]
            running.append(subprocess.Popen(command, env=environment, **quiet))
        for process in running:
            process.wait()
    except OSError:  # no interpreter to be started
        return
    finally:
        for process in running:
            process.kill()


def code(symbol: str, name: str, kinds: str) -> str:
    """LLVM code of the function and of `symbol`, which takes its arguments as C does and returns an integer."""
    import numba

    from nonsmooth.native import loops

    if kinds:
        function, types = getattr(loops, name), {"i": numba.types.int64, "d": numba.types.float64}
        signature = tuple(types[kind] for kind in kinds)
    else:
        function, signature = loops.UNITS[name][0], loops.UNITS[name][1].args
    return lowered(symbol, getattr(function, "py_func", function), signature)


def main(functions: Sequence[str]) -> None:
    """Compile functions ``name:kinds`` into the cache.

    numba would compile each of them, and each that they call, once more for calls from Python: it is kept from that,
    which only a process that does nothing else can do.
    """
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen

    changed: Any = JITCodeLibrary
    changed._finalize_specific = lambda library: None
    changed.get_pointer_to_function = lambda library, name: library._ensure_finalized() or 0
    changed = JITCPUCodegen
    changed._add_module = lambda codegen, module: None
    changed.set_env = lambda codegen, name, environment: None
    for function in functions:
        entries.address(*function.split(":"))


if __name__ == "__main__":
    main(sys.argv[1:])
