"""Machine code of element kinds and of loops, compiled by the LLVM library of numba and cached on disk.

Object code is stored under a hash of its LLVM text, of the versions of the emitter and of LLVM, and of the processor;
where nothing can be written, each process compiles it again.
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

from nonsmooth.compile.emit import EMITTER, emit
from nonsmooth.compile.shipped import NotShipped
from nonsmooth.progress import in_time, stage

#: [s] longest wait for another process that compiles the same code
PATIENCE = 300.0

_lock = threading.RLock()
_kernels: dict[str, Kernel] = {}
_counts = {"compiled": 0, "loaded": 0}


@dataclass(frozen=True)
class Kernel:
    """Addresses of the two functions of a kind, see `emit`, and the number of slots per element."""

    prepare: int
    evaluate: int
    slots: int


def compilations() -> dict[str, int]:
    """The numbers of kinds that this process has compiled and loaded from disk."""
    return dict(_counts)


def kernel(function: ca.Function, outputs: Sequence[tuple[int, int]], stands: Sequence[Sequence[int]]) -> Kernel:
    """The compiled form of a kind, see `emit`; identical code is compiled once."""
    import llvmlite.binding as llvm

    in_time()
    code = emit(function, outputs, stands)
    key = hashlib.sha256(f"{_processor()}\n{code.text}".encode()).hexdigest()
    name = f"kind_{key[:32]}"

    def text() -> str:
        _counts["compiled"] += 1
        return _dialect(code.text.replace("@NAME@", f"@{name}"), llvm.llvm_version_info[0])

    with _lock:
        if key not in _kernels:
            before = _counts["compiled"]
            prepare, evaluate = _linked(key, text, [f"{name}_prepare", f"{name}_evaluate"])
            _counts["loaded"] += _counts["compiled"] == before
            _kernels[key] = Kernel(prepare, evaluate, code.slots)
        return _kernels[key]


def cache_folder() -> Path:
    """The folder of object code: below NUMBA_CACHE_DIR if that is set, otherwise in the user's cache folder."""
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
    """LLVM's target machine for this processor."""
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
    """Everything that machine code depends on besides the LLVM text."""
    import llvmlite.binding as llvm

    parts = (EMITTER, llvm.llvm_version_info, llvm.get_process_triple(), llvm.get_host_cpu_name(), _features())
    return "\n".join(map(str, (*parts, platform.machine())))


@functools.cache
def _engine() -> Any:
    """One just-in-time engine, kept for the life of the process, since the machine code lives in it."""
    import llvmlite.binding as llvm

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())


def functions(
    key: str, text: Callable[[], str], names: list[str], shipped: Callable[[], bytes] | None = None
) -> list[int]:
    """Addresses of functions whose object code is on disk under `key`, is `shipped` with the package, which may raise
    NotShipped, or is compiled from the LLVM code that `text` generates."""
    with _lock:
        return _linked(_filed(key), text, names, shipped, optimised=True)


def keeps() -> bool:
    """Whether object code can be stored on disk."""
    with contextlib.suppress(OSError):
        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    return _own(cache_folder()) and os.access(cache_folder(), os.W_OK)


def _own(folder: Path) -> bool:
    """Whether the folder belongs to this user and nobody else may write into it, since its contents are executed."""
    try:
        found = folder.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):  # Windows gives each user a folder of their own
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _filed(key: str) -> str:
    return hashlib.sha256(f"{_processor()}\n{key}".encode()).hexdigest()


def _linked(
    key: str, text: Callable[[], str], names: list[str], shipped: Callable[[], bytes] | None = None, *,
    optimised: bool = False,
) -> list[int]:  # fmt: skip
    import llvmlite.binding as llvm

    engine, path, why = _engine(), cache_folder() / f"{key}.o", ""
    data = read(path)
    if data is None and shipped is not None:
        try:
            data = shipped()
        except NotShipped as reason:
            why = f"; {reason}"
    if data is None:
        with alone(key):
            data = read(path)  # another process may have compiled it meanwhile
            if data is None:
                what = "a time loop, some 10 to 30 s" if optimised else "an element"
                with stage("compiling", f"{what}, once per machine{why}"):
                    in_time()
                    source = text()
                    in_time()
                    data = _compiled(source, optimised)
                write(path, data)
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return [int(engine.get_function_address(name)) for name in names]


def _compiled(text: str, optimised: bool) -> bytes:
    """Object code for this processor."""
    target = _target()
    return bytes(target.emit_object(module_of(text, target, optimised)))


def module_of(text: str, target: Any, optimised: bool = True) -> Any:
    """LLVM's module of this code for a target machine."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    module.verify()
    if optimised:  # without unrolling or vectorising loops, which are short; small code is faster
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
    return module


@contextlib.contextmanager
def alone(what: str) -> Iterator[None]:
    """A lock among processes, of the operating system on a file in the cache folder: the one that holds it compiles,
    the others wait and then find the code on disk. Without such locks, or after `PATIENCE`, every process compiles."""
    handle = _lock_of(what) if keeps() else None
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(cache_folder() / _lock_name(what))  # the code that others wait for is on disk
            os.close(handle)


def _lock_name(what: str) -> str:
    return f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.lock"


def _lock_of(what: str) -> int | None:
    """A handle that holds the lock; None if no lock can be obtained."""
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
                in_time()
                time.sleep(0.02)
    except OSError:  # a file system without locks
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _dialect(text: str, version: int) -> str:
    """The text in the syntax of this version of LLVM: before 16, pointers are typed.

    >>> _dialect("load double, ptr %x", 15)
    'load double, double* %x'
    """
    if version >= 16:
        return text
    text = text.replace("ptr noalias %places", "i64* noalias %places").replace("ptr noalias", "double* noalias")
    text = re.sub(r"(getelementptr|load) (i64|double|\[\d+ x double\]), ptr ", r"\1 \2, \2* ", text)
    text = re.sub(r"(private|call|ret) ptr ", r"\1 double* ", text)
    text = re.sub(r"store double (.+), ptr ", r"store double \1, double* ", text)
    bytewise = (
        r"%\1.0 = bitcast double* %\2 to i8*\n  %\1.1 = getelementptr i8, i8* %\1.0, i64 \3\n"
        r"  %\1 = bitcast i8* %\1.1 to double*"
    )
    text = re.sub(r"%(\w+) = getelementptr i8, ptr %(\w+), i64 (.+)", bytewise, text)
    vector = r"%\3.0 = bitcast double* %\3 to <4 x double>*\n  store \1<4 x double> \2, <4 x double>* %\3.0"
    return re.sub(r"store (volatile )?<4 x double> (.+), ptr %(\w+)", vector, text)


def read(path: Path) -> bytes | None:
    """Contents of a file of `write` if the hash at its beginning is right and nobody else may write into the folder."""
    if not _own(path.parent):
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if _digest(path, data[32:]) == data[:32] else None


def _digest(path: Path, data: bytes) -> bytes:
    """Digest of contents and name: the contents of another name are code of something else."""
    return hashlib.sha256(path.name.encode() + b"\0" + data).digest()


def write(path: Path, data: bytes) -> None:
    """Write a temporary file and rename it, so that the file is complete; a read-only folder is not an error."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _own(path.parent):
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_digest(path, data) + data)
        os.replace(temporary, path)
    except OSError:
        return
