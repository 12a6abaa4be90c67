"""Compiles the compiled functions of `loops`, here or in processes of its own: ``python -m nonsmooth.native.build``.

The arguments of the program are functions as `entries` names them, ``name:kinds``; their object code goes to the cache.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from nonsmooth.native import compiler, entries
from nonsmooth.native.entries import RAISED

__all__ = ["beside", "code", "unoptimised", "wrapper"]


def beside(shares: Sequence[Sequence[tuple[str, str]]]) -> None:
    """Compile the functions of each share, one after the other, in a process of its own.

    What could not be compiled there is compiled where it is called. Nothing is tried where nothing can be kept.
    """
    if not compiler.keeps():
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
    with unoptimised():
        dispatcher.compile(signature)
    (found,) = dispatcher.overloads.values()
    module = llvm.parse_assembly(dispatcher.inspect_llvm(signature))
    inner = module.get_function(found.fndesc.llvm_func_name)
    types_of = [str(argument.type) for argument in inner.arguments]
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration:
            part.linkage = "internal"
    return f"{module}\n{wrapper(symbol, inner.name, types_of, found.signature.return_type == numba.types.none)}"


@contextlib.contextmanager
def unoptimised() -> Iterator[None]:
    """numba leaves its code as it is: `compiler` optimises it."""
    import numba

    settings: Any = numba.config
    before, settings.OPT = settings.OPT, 0
    try:
        yield
    finally:
        settings.OPT = before


def wrapper(symbol: str, inner: str, types: list[str], nothing: bool) -> str:
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
