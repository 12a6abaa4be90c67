"""Files of results, written completely or not at all, and rejected if they were changed.

A NetCDF file is created in memory, since HDF5 does not survive a failed write, and written under a temporary name in
the same folder; it is renamed when it is complete. Its last line, after the data that HDF5 reads, is the SHA-256 of all
bytes before it, which `read_dataset` checks before HDF5 reads the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import mmap
import os
import re
import subprocess
import sys
import uuid
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.exceptions import InputError, NotWritten, ValidityWarning

if TYPE_CHECKING:
    import xarray

__all__ = ["dataset_bytes", "path_of", "read_dataset", "write_bytes", "write_dataset", "write_figure"]

#: attribute of files with a checksum, and its value
ATTRIBUTE, STATED = "checksum", "the last line of this file is the SHA-256 of all bytes before it"
LAST_LINE = re.compile(rb"\nsha256 ([0-9a-f]{64}) of ([0-9]{20}) bytes\n")
LENGTH = len("\nsha256  of  bytes\n") + 64 + 20
SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: bytes written at once
PIECE = 1 << 20
#: seconds that HDF5 may take to read a file without a checksum, and bytes per second; with some damaged ones it never
#: ends
PATIENCE, SLOWEST = 10.0, 20e6
#: largest size of the contents of such a file, in bytes and as a multiple of the size of the file
LEAST_ROOM, ROOM = 64_000_000, 20

#: reads the whole file in a separate process, since HDF5 may hang or crash on damaged files
PROBE = """
import sys, h5py
room = int(sys.argv[2])
with h5py.File(sys.argv[1], "r") as file:
    dict(file.attrs)
    found = [one for one in file.values() if isinstance(one, h5py.Dataset)]
    if sum(one.nbytes for one in found) > room:
        sys.exit("it declares more numbers than it can hold")
    for one in found:
        dict(one.attrs), one[()]
"""


def path_of(path: Any, what: str = "The path") -> Path:
    """A path of a file.

    Raises
    ------
    InputError
        If it is not text, or not a valid file name.
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise InputError(f"{what} must be a string or a Path, got {path!r}; give the name of a file.")
    text = os.fspath(path)
    if not text or "\0" in text:
        raise InputError(f"{what} must name a file, got {text!r}.")
    return Path(text)


def write_bytes(data: bytes | memoryview, path: str | os.PathLike[str], what: str) -> None:
    """Write a file under a temporary name in the same folder, then rename it, so that the named file is always
    complete.

    Parameters
    ----------
    what
        Subject of the message, such as "The trajectory".

    Raises
    ------
    NotWritten
        If that fails; an existing file remains unchanged.
    """
    path = path_of(path, "The file to write")
    target = Path(os.path.realpath(path))  # a link remains a link
    unfinished = target.with_name(f".{target.name[:100]}-{uuid.uuid4().hex[:12]}")
    try:
        if target.exists() and not target.is_file():
            raise OSError(0, "a folder or a device of that name exists")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(unfinished, flags, 0o666)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(handle, left[:PIECE]) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(unfinished, target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise NotWritten(f"{what} cannot be written to {path} ({reason}); give a file in a writable folder.") from error
    finally:
        with contextlib.suppress(OSError):  # absent after renaming; a file that cannot be removed has a hidden name
            unfinished.unlink()
    _settle(target.parent)


def _settle(folder: Path) -> None:
    """Write the folder entry to the disk, where folders can be opened, so that it survives a power failure."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_figure(figure: Any, path: Path, what: str = "The figure") -> None:
    """Write a matplotlib figure in the format given by the suffix of the name."""
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix.removeprefix(".").lower())
    write_bytes(image.getvalue(), path, what)


def dataset_bytes(dataset: xarray.Dataset, encoding: Mapping[Any, Any] | None = None) -> bytes:
    """A NetCDF file in memory, with its checksum."""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    image = io.BytesIO()
    with h5netcdf.File(image, "w") as file:
        dataset.assign_attrs({ATTRIBUTE: STATED}).dump_to_store(H5NetCDFStore(file), encoding=encoding)
    data = image.getvalue()
    return data + f"\nsha256 {hashlib.sha256(data).hexdigest()} of {len(data):020d} bytes\n".encode()


def write_dataset(
    dataset: xarray.Dataset, path: str | os.PathLike[str], what: str, encoding: Mapping[Any, Any] | None = None
) -> None:
    """Write a NetCDF file with a checksum; see `write_bytes`."""
    path = path_of(path, "The file to write")
    write_bytes(dataset_bytes(dataset, encoding), path, what)


def read_dataset(path: str | os.PathLike[str], *, conventions: str | None = None, **reading: Any) -> xarray.Dataset:
    """Read a NetCDF file of this package; a file of an earlier version, without a checksum, causes a warning.

    Parameters
    ----------
    conventions
        Required value of its attribute of that name.
    reading
        Arguments of `xarray.open_dataset`.

    Raises
    ------
    InputError
        If there is no such file, or it is not of this package, or damaged.
    """
    import xarray

    path = path_of(path, "The file to read")
    try:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
        source: Any = _verified(path)
        verified = source is not None
        with xarray.open_dataset(source if verified else path, engine="h5netcdf", **reading) as opened:
            dataset = opened.load()
    except MemoryError as error:
        raise InputError(f"{path} is too large for the memory of this machine.") from error
    except InputError:
        raise
    except Exception as error:  # various errors of HDF5 and xarray for a file that is not NetCDF
        raise InputError(f"{path} is not a NetCDF file that can be read ({_short(error)}).") from error
    if conventions is not None and str(dataset.attrs.get("Conventions")) != conventions:
        raise InputError(f"{path} is not a trajectory of this package; its Conventions should be {conventions!r}.")
    if not verified:
        warnings.warn(
            f"{path} has no checksum, like files of earlier versions; changes of its contents cannot be detected.",
            ValidityWarning,
            stacklevel=3,
        )
    dataset.attrs.pop(ATTRIBUTE, None)
    return dataset


def _verified(path: Path) -> io.BytesIO | None:
    """The part that HDF5 reads, if the checksum is correct; None for a file without one that HDF5 can read."""
    size = path.stat().st_size
    with path.open("rb") as file:
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
            data = file.read(stated)
            if hashlib.sha256(data).hexdigest().encode() != last[1]:
                raise InputError(
                    f"{path} is damaged: the checksum of its {stated} bytes is not the one that was written with them."
                )
            return io.BytesIO(data)
        written = int.from_bytes(head[40:48], "little") if head[8] in (0, 1) else int.from_bytes(head[28:36], "little")
        if size < written < 1 << 62:
            raise InputError(f"{path} is incomplete: it contains {size} bytes, and {written} were written.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            if whole.find(STATED.encode()) >= 0:
                raise InputError(
                    f"{path} is damaged or was rewritten by another program: the checksum at its end is missing."
                )
    _probe(path, size)
    return None


def _probe(path: Path, size: int) -> None:
    """Raise InputError unless HDF5 can read a file without a checksum, in a separate process."""
    room = max(LEAST_ROOM, ROOM * size)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", PROBE, str(path.absolute()), str(room)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE + size / SLOWEST, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{path} is damaged: HDF5 does not finish reading it.") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said and done.returncode > 0 else "HDF5 fails on it"
        raise InputError(f"{path} is not a NetCDF file that can be read ({why[:200]}).")


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
