"""Machine code of element kinds and of loops: compiled by LLVM, which numba brings, and kept on disk.

Object code is filed under a hash of its LLVM text, of the versions of the emitter and of LLVM, and of the processor. A
folder that cannot be written costs the compilation of each process, nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

from nonsmooth.compile.emit import EMITTER, Code, emit

__all__ = ["Kernel", "alone", "cache_folder", "compilations", "functions", "keeps", "kept", "kernel"]

#: [s] for which a process waits for another one that compiles the same
PATIENCE = 300.0

_lock = threading.RLock()
_kernels: dict[str, Kernel] = {}
_counts = {"compiled": 0, "loaded": 0}


@dataclass(frozen=True)
class Kernel:
    """Addresses of the two functions of a kind, see `emit`, and how many slots an element has."""

    prepare: int
    evaluate: int
    slots: int


def compilations() -> dict[str, int]:
    """How many kinds this process has compiled, and how many it has loaded from disk."""
    return dict(_counts)


def kernel(function: ca.Function, outputs: Sequence[tuple[int, int]]) -> Kernel:
    """The compiled form of ``(t, z_a, z_b, v_a, v_b, p) -> out``, see `emit`; the same code is compiled once.

    Raises
    ------
    Unsupported
        If the function holds an operation that has no compiled form.
    """
    code = emit(function, outputs)
    with _lock:
        key = hashlib.sha256(f"{_processor()}\n{code.text}".encode()).hexdigest()
        if key not in _kernels:
            _kernels[key] = _loaded(key, code)
        return _kernels[key]


def cache_folder() -> Path:
    """Where object code is kept: below NUMBA_CACHE_DIR if that is set, else in the user's cache folder."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) / "nonsmooth-kinds"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "nonsmooth" / "kinds"


def _target() -> Any:
    """A target machine of LLVM for this processor."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=3, codemodel="jitdefault", jit=True
    )


@functools.cache
def _features() -> str:
    import llvmlite.binding as llvm

    try:
        return llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # unknown to LLVM
        return ""


@functools.cache
def _processor() -> str:
    """All that machine code depends on besides the LLVM text."""
    import llvmlite.binding as llvm

    parts = (EMITTER, llvm.llvm_version_info, llvm.get_process_triple(), llvm.get_host_cpu_name(), _features())
    return "\n".join(map(str, (*parts, platform.machine())))


@functools.cache
def _engine() -> Any:
    """One just-in-time engine, kept for the life of the process, since the machine code lives in it."""
    import llvmlite.binding as llvm

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())


def _loaded(key: str, code: Code) -> Kernel:
    import llvmlite.binding as llvm

    def text() -> str:
        _counts["compiled"] += 1
        return _dialect(code.text.replace("@NAME@", f"@{name}"), llvm.llvm_version_info[0])

    name, before = f"kind_{key[:32]}", _counts["compiled"]
    prepare, evaluate = _linked(key, text, [f"{name}_prepare", f"{name}_evaluate"])
    _counts["loaded"] += _counts["compiled"] == before
    return Kernel(prepare, evaluate, code.slots)


def functions(key: str, text: Callable[[], str], names: list[str]) -> list[int]:
    """Addresses of functions whose LLVM code `text` writes where their object code is not on disk under `key`."""
    with _lock:
        return _linked(_filed(key), text, names, optimised=True)


def kept(key: str) -> bool:
    """Whether `functions` finds their object code on disk."""
    return _own(cache_folder()) and (cache_folder() / f"{_filed(key)}.o").exists()


def keeps() -> bool:
    """Whether object code can be kept on disk."""
    with contextlib.suppress(OSError):
        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    return _own(cache_folder()) and os.access(cache_folder(), os.W_OK)


def _own(folder: Path) -> bool:
    """Whether the folder is this user's and nobody else may write into it: what lies there is run."""
    try:
        found = folder.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):  # Windows gives each user a folder of their own
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _filed(key: str) -> str:
    return hashlib.sha256(f"{_processor()}\n{key}".encode()).hexdigest()


def _linked(key: str, text: Callable[[], str], names: list[str], *, optimised: bool = False) -> list[int]:
    import llvmlite.binding as llvm

    engine, path = _engine(), cache_folder() / f"{key}.o"
    data = _read(path)
    if data is None:
        with alone(key):
            data = _read(path)  # another process may have compiled it meanwhile
            if data is None:
                data = _compiled(text(), optimised)
                _write(path, data)
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return [int(engine.get_function_address(name)) for name in names]


def _compiled(text: str, optimised: bool) -> bytes:
    """Object code."""
    import llvmlite.binding as llvm

    target = _target()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    module.verify()
    if optimised:
        _optimise(module, target)
    return bytes(target.emit_object(module))


@contextlib.contextmanager
def alone(what: str) -> Iterator[None]:
    """Within, no other process that asks for the same does so: one compiles, the others wait and find it on disk.

    The lock is the system's, on a file in the cache folder, and ends with the process that has it, however that ends.
    Where there are no such locks, the folder cannot be written, or waiting takes longer than `PATIENCE`, all compile.
    """
    handle = _lock_of(what) if keeps() else None
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(cache_folder() / _lock_name(what))  # by now what others wait for is there
            os.close(handle)


def _lock_name(what: str) -> str:
    return f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.lock"


def _lock_of(what: str) -> int | None:
    """A handle that has the lock; None where there is none to be had."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        handle = os.open(cache_folder() / _lock_name(what), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    end = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() > end:
                    break
                time.sleep(0.02)
    except OSError:  # a file system without locks
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _optimise(module: Any, target: Any) -> None:
    """LLVM's passes, without copies of loops: those of a mechanism are short, and code that fits a cache is faster."""
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)


def _dialect(text: str, version: int) -> str:
    """The text as this version of LLVM reads it: before 16, pointers say what they point to.

    >>> _dialect("load double, ptr %x", 15)
    'load double, double* %x'
    """
    if version >= 16:
        return text
    text = text.replace("ptr noalias %places", "i64* noalias %places").replace("ptr noalias", "double* noalias")
    text = re.sub(r"(getelementptr|load) (i64|double), ptr ", r"\1 \2, \2* ", text)
    text = re.sub(r"store double (.+), ptr ", r"store double \1, double* ", text)
    bytewise = (
        r"%\1.0 = bitcast double* %\2 to i8*\n  %\1.1 = getelementptr i8, i8* %\1.0, i64 \3\n"
        r"  %\1 = bitcast i8* %\1.1 to double*"
    )
    text = re.sub(r"%(\w+) = getelementptr i8, ptr %(\w+), i64 (.+)", bytewise, text)
    vector = r"%\2.0 = bitcast double* %\2 to <4 x double>*\n  store <4 x double> \1, <4 x double>* %\2.0"
    return re.sub(r"store <4 x double> (.+), ptr %(\w+)", vector, text)


def _read(path: Path) -> bytes | None:
    """Object code, if the file is whole: it begins with the hash of the rest; None if others could have written it."""
    if not _own(path.parent):
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def _write(path: Path, data: bytes) -> None:
    """Written beside and renamed, so that a file of that name is whole; a folder that cannot be written is no error."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _own(path.parent):
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except OSError:
        return
