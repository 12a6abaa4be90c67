"""Files of results, written completely or not at all, and rejected if they were changed.

A file is written under a temporary name in the same folder and renamed when it is complete; HDF5, which does not
survive a failed write, is told of none. Its last line, after the data that HDF5 reads, is the SHA-256 of all
bytes before it, which is checked before HDF5 reads the file. It shows that a file is complete and unchanged, not who
has written it: what is read is inspected besides, `nonsmooth.files.hdf5_check`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import mmap
import os
import re
import signal
import stat
import subprocess
import sys
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import TOO_LITTLE, InputError, NonsmoothError, NotWritten, ValidityWarning, lacks_memory
from nonsmooth.files import hdf5_check
from nonsmooth.files.hdf5_check import REFUSED, Refused, Variable
from nonsmooth.progress import stage
from nonsmooth.settings import shown

if TYPE_CHECKING:
    import xarray

__all__ = [
    "Pieces", "Variable", "check_room", "forget_pages", "inspect", "load_libraries", "netcdf_name", "path_of", "plain",
    "read_contents", "read_dataset", "remove_unfinished", "write_bytes", "write_contents", "write_dataset",
    "write_figure",
]  # fmt: skip

#: attribute of files with a checksum, and its value
ATTRIBUTE, STATED = "checksum", "the last line of this file is the SHA-256 of all bytes before it"
LAST_LINE = re.compile(rb"\nsha256 ([0-9a-f]{64}) of ([0-9]{20}) bytes\n")
LENGTH = len("\nsha256  of  bytes\n") + 64 + 20
#: attribute of integers that are truth values
TRUTH = {"dtype": "bool"}
#: end of the name of a file that is not complete
UNFINISHED = re.compile("-[0-9a-f]{12}$")
SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: bytes written at once
PIECE = 1 << 20
#: bytes of a table from which on it is written past HDF5, and that are written at once
BLOCK = 1 << 22
#: seconds of processor time in which HDF5 reads a file of another process, and bytes per second; with some damaged ones
#: it loops forever. Time that passes while other programs compute or a disk is awaited does not count
PROCESSOR_TIME, SLOWEST = 4.0, 20e6
#: how many times longer its reading may take by the clock: a process that does not compute is ended as well
WAITING = 60.0

#: bytes of addresses that the libraries take with which a run, a study or a figure is computed
ROOM = 640 << 20

#: checksums of files that this process has written, or a separate one has read
_READABLE: set[str] = set()

Contents = tuple[dict[str, Variable], dict[str, Any]]
#: where a table begins in a file, and its values
Placed = tuple[int, Any]


def path_of(path: Any, what: str = "The path") -> Path:
    """A path of a file; InputError if it is not text, or not a valid file name."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise InputError(f"{what} must be a string or a Path, got {shown(path)}; give the name of a file.")
    text = os.fspath(path)
    if not text or "\0" in text:
        raise InputError(f"{what} must name a file, got {shown(text)}.")
    return Path(text)


def netcdf_name(path: Any) -> Path:
    """A path at which NetCDF is written; InputError if its ending is that of another kind of file."""
    path = path_of(path, "The file to write")
    if path.suffix[1:].isalpha() and path.suffix.lower() not in (".nc", ".cdf"):  # not of run-0.5, nor .h5
        other = f"; to_{path.suffix[1:].lower()} writes a table" if path.suffix.lower() in (".csv", ".mat") else ""
        raise InputError(f"{path}: save writes a NetCDF file, give a name that ends in .nc{other}.")
    return path


def plain(value: Any) -> Any:
    """Numbers, lists and mappings that JSON knows; a number that is not finite is None."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_bytes(data: bytes | memoryview, path: str | os.PathLike[str], what: str) -> None:
    """Write a file under a temporary name in the same folder, then rename it, so that it is always complete. An
    existing one keeps its permissions, and if writing fails, its contents; `NotWritten` begins with `what`."""
    with _replacing(path, what) as handle:
        _write(handle, memoryview(data))


@contextlib.contextmanager
def _replacing(path: str | os.PathLike[str], what: str) -> Iterator[int]:
    """The handle of a file that takes the place of `path` when it is complete; see `write_bytes`."""
    path = path_of(path, "The file to write")
    target = Path(os.path.realpath(path))  # a link remains a link
    start = f".{target.name[:100]}-"
    unfinished = target.with_name(start + uuid.uuid4().hex[:12])
    with stage("writing", path.name):
        try:
            mode = target.stat().st_mode if target.exists() else None
            if mode is not None and not stat.S_ISREG(mode):
                raise OSError(0, "a folder or a device of that name exists")
            remove_unfinished(target.parent, start)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            handle = os.open(unfinished, flags, 0o666 if mode is None else 0o600)
            try:
                _locked(handle)
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(handle, stat.S_IMODE(mode))
                yield handle
                os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(unfinished, target)
        except OSError as error:
            reason, remedy = error.strerror or type(error).__name__, "give a file in a writable folder"
            if lacks_memory(error):
                reason, remedy = "lack of memory", TOO_LITTLE
            raise NotWritten(f"{what} cannot be written to {path} ({reason}); {remedy}.") from error
        finally:
            with contextlib.suppress(OSError):  # absent after renaming; one that cannot be removed has a hidden name
                unfinished.unlink()
        with contextlib.suppress(OSError):  # where folders can be opened, so that the name survives a power failure
            handle = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _write(handle: int, left: memoryview) -> None:
    while left:
        left = left[os.write(handle, left[:PIECE]) :]


def _locked(handle: int) -> bool:
    """Whether this process holds the lock of an open file, which ends with the process, however it ends."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # no such locks here, or it is written at this moment
        return False
    return True


def remove_unfinished(folder: Path, start: str) -> None:
    """Remove files of names that begin so which killed processes left half-written, and which no process has locked."""
    with os.scandir(folder) as entries:
        left = [Path(one.path) for one in entries if one.name.startswith(start) and UNFINISHED.search(one.name)]
    for path in left:
        with contextlib.suppress(OSError):  # removed by another process meanwhile
            handle = os.open(path, os.O_RDWR)
            try:
                if _locked(handle):
                    path.unlink()
            finally:
                os.close(handle)


def write_figure(figure: Any, path: Path, what: str = "The figure") -> None:
    image = io.BytesIO()
    with stage("drawing", path.name):
        figure.savefig(image, format=path.suffix.removeprefix(".").lower())
    write_bytes(image.getvalue(), path, what)


def write_dataset(
    dataset: xarray.Dataset, path: str | os.PathLike[str], what: str, encoding: Mapping[Any, Any] | None = None
) -> None:
    """Write a NetCDF file with a checksum; see `write_bytes`."""

    def fill(opened: Any) -> list[Placed]:
        from xarray.backends import H5NetCDFStore

        dataset.assign_attrs({ATTRIBUTE: STATED}).dump_to_store(H5NetCDFStore(opened), encoding=encoding)
        return []

    _write_netcdf(fill, path, what)


def write_contents(
    variables: Mapping[str, Variable], attributes: Mapping[str, Any], path: str | os.PathLike[str], what: str
) -> None:
    """Write data sets (dimensions, values, attributes) as a NetCDF file with a checksum, without copies of values."""

    def fill(opened: Any) -> list[Placed]:
        import h5py

        large: list[Placed] = []
        opened.attrs.update({**attributes, ATTRIBUTE: STATED})
        opened.dimensions = {
            name: size
            for dimensions, values, _ in variables.values()
            for name, size in zip(dimensions, values.shape, strict=True)
        }
        for name, (dimensions, values, own) in variables.items():
            if values.dtype.kind == "b":  # which NetCDF does not have
                values, own = values.astype(np.int8), {**own, **TRUTH}
            kind = h5py.string_dtype() if values.dtype.kind in "OU" else values.dtype
            later = kind.kind != "O" and math.prod(values.shape) * kind.itemsize >= BLOCK
            room = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            if later:
                room.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                room.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            one = opened.create_variable(name, dimensions, kind, dcpl=room)
            one.attrs.update(own)
            if later:
                large.append((opened._h5file[name].id.get_offset(), values))
            elif isinstance(values, Pieces):
                one[...] = values[0 : values.shape[0]]
            elif values.size:
                one[...] = values
        return large

    _write_netcdf(fill, path, what)


class Pieces(ABC):
    """Values of 8 bytes each that are computed by rows, when they are read, from the arrays of a dataclass."""

    dtype = np.dtype(float)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @abstractmethod
    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Rows from `first` to before `last`."""

    def __getitem__(self, part: slice) -> NDArray[Any]:
        first, last, _ = part.indices(self.shape[0])
        return self.rows(first, max(last, first))

    def whole(self) -> NDArray[Any]:
        """All of them, without another copy."""
        found = np.empty(self.shape)
        step = max(BLOCK // max(8 * math.prod(self.shape[1:]), 1), 1)
        for k in range(0, self.shape[0], step):
            found[k : k + step] = self[k : k + step]
            forget_pages(self)
        return found


def forget_pages(*arrays: Any) -> None:
    """Let go of the memory in which arrays that lie in files, or those of `Pieces`, have been read."""
    for base in arrays:
        if isinstance(base, Pieces | Mapping):
            forget_pages(*(base if isinstance(base, Mapping) else vars(base)).values())
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, memoryview):
            base = base.obj
        if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)


def check_room() -> None:
    """Raise NonsmoothError where the limit of this process leaves less room than libraries take, some of which hang
    where it ends."""
    try:
        import resource
    except ImportError:  # where there is no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < ROOM:
        raise NonsmoothError(
            f"The address space of this process is limited to {limit >> 20} MB, and {ROOM >> 20} are needed at least; "
            "raise the limit, such as by `ulimit -v unlimited`."
        )


def load_libraries() -> None:
    """Import what `write_contents` and `read_contents` import, so that there is room for it later."""
    try:
        import h5netcdf  # noqa: F401
        import h5py  # noqa: F401
    except Exception as error:  # various errors of libraries that are half loaded
        if lacks_memory(error):
            raise NotWritten(f"HDF5, which reads and writes results, cannot be loaded: {TOO_LITTLE}.") from error
        raise


def _write_netcdf(fill: Callable[[Any], list[Placed]], path: str | os.PathLike[str], what: str) -> None:
    """Write a NetCDF file with its checksum; `fill` returns tables for which it only makes room."""
    load_libraries()
    import h5netcdf

    with _replacing(path, what) as handle:
        file, large = _Target(handle), list[Placed]()
        try:
            with h5netcdf.File(file, "w") as opened:
                large = fill(opened)
        except Exception:
            if file.error is None:
                raise
        if file.error is not None:
            raise file.error
        size, at = os.lseek(handle, 0, os.SEEK_END), 0
        with _Digest() as digest:
            for offset, values in sorted(large, key=lambda one: one[0]):
                file.seek(at)
                _digest(file, offset - at, digest)
                at = os.lseek(handle, offset, os.SEEK_SET)
                rows = max(BLOCK // (math.prod(values.shape[1:]) * values.dtype.itemsize), 1)
                for k in range(0, values.shape[0], rows):
                    part = values[k : k + rows]
                    # a copy, since the system writes from the pages of another file at a sixth of the speed
                    copy = np.ascontiguousarray(part) if isinstance(values, Pieces) else np.array(part, order="C")
                    block = copy.reshape(-1).view(np.uint8).data
                    forget_pages(values)
                    digest.update(block)
                    _write(handle, block)
                    if hasattr(os, "posix_fadvise"):  # what is written goes to the disk meanwhile, and out of memory
                        os.posix_fadvise(handle, 0, at, os.POSIX_FADV_DONTNEED)
                    at += len(block)
            file.seek(at)
            _digest(file, size - at, digest)
        _write(handle, memoryview(f"\nsha256 {digest.hexdigest()} of {size:020d} bytes\n".encode()))
    _READABLE.add(digest.hexdigest())


class _Digest(ThreadPoolExecutor):
    """SHA-256 computed beside the writing by a thread, or without one where none can be started for lack of memory."""

    def __init__(self) -> None:
        super().__init__(1)
        self.digest, self.due = hashlib.sha256(), cast("Future[None] | None", None)

    def update(self, block: Any) -> None:
        """Continue with bytes that do not change any more."""
        if self.due is not None:
            self.due.result()
        try:
            self.due = self.submit(self.digest.update, block)
        except (MemoryError, RuntimeError):
            self.due = None
            self.digest.update(block)

    def hexdigest(self) -> str:
        if self.due is not None:
            self.due.result()
        return self.digest.hexdigest()


class _Target(io.FileIO):
    """An open file for HDF5, which does not survive a failed write: the first error is kept, what follows dropped."""

    def __init__(self, handle: int) -> None:
        super().__init__(handle, "r+", closefd=False)
        self.error: BaseException | None = None

    def readinto(self, buffer: Any) -> int:
        """Read bytes, zeros behind the end of the file."""
        view = memoryview(buffer).cast("B")
        count = super().readinto(view)
        view[count:] = bytes(len(view) - count)
        return len(view)

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        if self.error is None:
            try:
                _write(self.fileno(), left)
            except BaseException as error:  # Ctrl-C as well
                self.error = error
        return len(left)

    def truncate(self, size: int | None = None) -> int:
        if self.error is None:
            try:
                return super().truncate(size)
            except OSError as error:
                self.error = error
        return self.tell() if size is None else size


def read_dataset(path: str | os.PathLike[str]) -> xarray.Dataset:
    """Read a NetCDF file of this package; see `read_contents`."""
    import xarray

    path = path_of(path, "The file to read")
    variables, attributes = read_contents(path)
    try:
        return xarray.decode_cf(xarray.Dataset(variables, attrs=attributes), decode_times=False)
    except Exception as error:  # various errors of xarray for attributes that it does not expect
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path} is not a NetCDF file that can be read ({reason}).") from error


def read_contents(
    path: str | os.PathLike[str], *, known: str = "", conventions: str = "", what: str = "file"
) -> Contents:
    """Data sets (dimensions, values, attributes) and attributes of a NetCDF file of this package, inspected beforehand.
    A file without a checksum, of an earlier version, causes a warning; InputError if it is of another kind, or damaged.
    `known` and `conventions` are as in `hdf5_check.contents`, `what` is the kind of file in messages."""
    load_libraries()
    import h5py

    path = path_of(path, "The file to read")
    try:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
        with path.open("rb") as file:
            size, digest = _verified(path, file)
            if digest not in _READABLE:
                _probe([path], size, what, known, conventions)
                _READABLE.update(filter(None, [digest]))

            def bytes_at(offset: int, count: int) -> bytes:
                file.seek(offset)
                return file.read(count)

            with h5py.File(file, "r") as opened:
                variables, attributes = hdf5_check.contents(opened, bytes_at, size, known, conventions)
    except MemoryError as error:
        raise InputError(f"{path} is too large for the memory of this machine.") from error
    except Refused as error:
        raise InputError(f"{path} is not a {what} of this package: {error}.") from error
    except InputError:
        raise
    except Exception as error:  # various errors of HDF5 for a file that is not NetCDF
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path} is not a NetCDF file that can be read ({reason}).") from error
    if not digest:
        warnings.warn(
            f"{path} has no checksum, like files of earlier versions; changes of its contents cannot be detected.",
            ValidityWarning,
            stacklevel=4,
        )
    attributes.pop(ATTRIBUTE, None)
    for name, (dimensions, values, own) in variables.items():
        if own.items() >= TRUTH.items():
            others = {key: value for key, value in own.items() if key not in TRUTH}
            variables[name] = dimensions, values.astype(bool), others
    return variables, attributes


def inspect(paths: Sequence[Path]) -> None:
    """Let one separate process read many files, so that `read_contents` needs none for each; those that it does not
    read are told of there."""
    digests, size = list[str](), 0
    with contextlib.suppress(InputError, OSError):
        for path in paths:
            with path.open("rb") as file:
                count, digest = _verified(path, file)
            size += count
            digests.append(digest)
        if not _READABLE.issuperset(digests):
            _probe(list(paths), size, "file", "", "")
        _READABLE.update(filter(None, digests))


def _verified(path: Path, file: BinaryIO) -> tuple[int, str]:
    """Number of bytes that HDF5 reads, and their correct checksum; "" for a file that has none."""
    size = os.fstat(file.fileno()).st_size
    head = file.read(64)
    if not head.startswith(SIGNATURE):
        raise InputError(f"{path} is not a NetCDF file.")
    file.seek(max(size - LENGTH, 0))
    last = LAST_LINE.fullmatch(file.read(LENGTH))
    if last is not None:
        stated = int(last[2])
        if stated != size - LENGTH:
            raise InputError(f"{path} is damaged: it contains {size - LENGTH} bytes, and {stated} were written.")
        file.seek(0)
        if _digest(file, stated, hashlib.sha256()).hexdigest() != last[1].decode():
            raise InputError(
                f"{path} is damaged: the checksum of its {stated} bytes is not the one that was written with them."
            )
        return stated, last[1].decode()
    written = int.from_bytes(head[40:48], "little") if head[8] in (0, 1) else int.from_bytes(head[28:36], "little")
    if size < written < 1 << 62:
        raise InputError(f"{path} is incomplete: it contains {size} bytes, and {written} were written.")
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        if whole.find(STATED.encode()) >= 0:
            raise InputError(
                f"{path} is damaged or was rewritten by another program: the checksum at its end is missing."
            )
    return size, ""


def _digest(file: Any, count: int, digest: Any) -> Any:
    """The SHA-256 with so many bytes that follow."""
    while count > 0 and (piece := file.read(min(PIECE, count))):
        digest.update(piece)
        count -= len(piece)
    return digest


def _probe(paths: Sequence[Path], size: int, what: str, *expected: str) -> None:
    """Raise InputError unless files can be read in a separate process: HDF5 may hang or crash, also on a file whose
    checksum is right, which anybody can compute."""
    path = paths[0]
    seconds = math.ceil(PROCESSOR_TIME + size / SLOWEST)
    try:
        words = [str(hdf5_check.__file__), str(seconds), *expected, *(str(one.absolute()) for one in paths)]
        done = subprocess.run(
            [sys.executable, "-P", *words],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=WAITING * seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{path} could not be checked: HDF5 did not finish reading it in {WAITING * seconds:.0f} s. "
            "Read it on a machine that is less busy; if that takes as long, the file is damaged."
        ) from None
    if sys.platform != "win32" and done.returncode == -signal.SIGXCPU:
        raise InputError(f"{path} is damaged: HDF5 does not finish reading it.")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said and done.returncode > 0 else "HDF5 fails on it"
        if why.startswith(REFUSED):
            raise InputError(f"{path} is not a {what} of this package: {why.removeprefix(REFUSED)}.")
        raise InputError(f"{path} is not a NetCDF file that can be read ({why[:200]}).")
