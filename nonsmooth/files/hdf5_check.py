"""Inspection of NetCDF files before a number of them is read: names, types, shapes, sizes, storage, links.

A checksum shows that no byte has changed since the file was written; it is no sign of who wrote it. Files of this
package are simple, and whatever is not that simple is refused: one group of data sets, each of numbers or texts, stored
as one uncompressed block inside the file, no two of them together larger than the file. HDF5 could otherwise read other
files (external storage, external links, virtual data sets), or expand a small file to any size (compression, fill
values, many texts of one place).

Run as a script, it is the separate process in which files of other processes are read first; therefore it imports
nothing of the package.
"""

import math
import os
import re
import sys
from collections.abc import Callable
from typing import Any

#: most data sets of a file, most attributes of each, most characters of a name, most dimensions of a data set
DATA_SETS, ATTRIBUTES, NAME, RANK = 4096, 64, 400, 8
#: how the separate process begins its reason
REFUSED = "refused: "
#: bytes of a reference to a text, and of its place at least
REFERENCE, PLACE = 16, 16
#: how the attribute NAME of a data set begins that stands for a dimension alone, and has no numbers
ALONE = b"This is a netCDF dimension but not a netCDF variable"
#: HDF5's kind of a data set without any value
NO_VALUE = 2
#: attributes by which NetCDF files name dimensions: numbers of those of a data set, number of one
DIMENSIONS, DIMENSION = "_Netcdf4Coordinates", "_Netcdf4Dimid"
#: attributes that describe the file to HDF5
LINKS = ("DIMENSION_LIST", "REFERENCE_LIST")
HIDDEN = (*LINKS, DIMENSIONS, DIMENSION, "CLASS", "NAME", "_NCProperties", "_nc3_strict")

#: (dimensions, values, attributes)
Variable = tuple[tuple[str, ...], Any, dict[str, Any]]


class Refused(Exception):
    """The reason why a file is not read, as a clause."""


def contents(
    file: Any,
    bytes_at: Callable[[int, int], bytes],
    size: int,
    known: str = "",
    conventions: str = "",
    texts_alone: bool = False,
) -> tuple[dict[str, Variable], dict[str, Any]]:
    """Data sets and attributes of an open `h5py.File`, all inspected before a number of any is read; else `Refused`.
    `bytes_at` takes an offset and a count; `known` is a regular expression of names, `conventions` required if
    given; with `texts_alone` numbers, which lie in one block each, are not read."""
    from h5py import h5l, h5o

    root, plan = file["/"].id, file.id.get_create_plist()
    if plan.get_userblock() or plan.get_sizes() != (8, 8):
        raise Refused("its addresses are not those of a file of this package")
    own, left = _attributes(file["/"], "the file", size)
    if conventions and str(own.get("Conventions")) != conventions:
        given = str(own.get("Conventions"))[:60]
        raise Refused(f"its Conventions should be {conventions!r}, they are {given!r}")
    count = root.get_num_objs()
    if count > DATA_SETS:
        raise Refused(f"it has {count} names; at most {DATA_SETS} are read")
    for number in range(count):
        raw = root.get_objname_by_idx(number)
        name = raw.decode(errors="replace")
        if root.links.get_info(raw).type != h5l.TYPE_HARD:
            raise Refused(f"{name[:60]!r} is a link")
        if len(name) > NAME or (known and not re.fullmatch(known, name)):
            raise Refused(f"it has no table {name[:60]!r}")
        if h5o.get_info(root, raw).type != h5o.TYPE_DATASET:
            raise Refused(f"{name[:60]!r} is no table")
    sets, attributes, number_of = {}, {}, {}
    for name in file:
        one, label = file[name], repr(name[:60])
        attributes[name], left = _attributes(one, label, left)
        if DIMENSION in attributes[name] and attributes[name].get("CLASS") == b"DIMENSION_SCALE":
            number_of[int(attributes[name][DIMENSION])] = name, one.shape[0] if one.shape else -1
        if bytes(attributes[name].get("NAME", b"")).startswith(ALONE):
            continue
        sets[name] = one
        left -= _stored(one.id, label, bytes_at, size)
        if left < 0:
            raise Refused("it declares more numbers than it can hold")
    found = {}
    for name, one in sets.items():
        numbers = attributes[name].get(DIMENSIONS, ())
        numbers = numbers if hasattr(numbers, "__len__") else (numbers,)
        dimensions = [number_of.get(int(n), ("", -1)) for n in numbers]
        if [extent for _, extent in dimensions] != list(one.shape):
            raise Refused(f"the shape {one.shape} of {name[:60]!r} is not that of its dimensions")
        shown = {key: value for key, value in attributes[name].items() if key not in HIDDEN}
        values = one.asstr()[()] if one.dtype.kind == "O" else None if texts_alone else one[()]
        found[name] = tuple(dimension for dimension, _ in dimensions), values, shown
    return found, {key: value for key, value in own.items() if key not in HIDDEN}


def _stored(one: Any, label: str, bytes_at: Callable[[int, int], bytes], size: int) -> int:
    """Bytes of the contents of a data set."""
    from h5py import h5d

    plan, kind = one.get_create_plist(), one.get_type()
    layout, texts = plan.get_layout(), _kind(kind, label)
    if layout == h5d.VIRTUAL or plan.get_external_count():
        raise Refused(f"the numbers of {label} lie in another file")
    if plan.get_nfilters() or one.rank > RANK:
        raise Refused(f"{label} is compressed, or has more than {RANK} dimensions")
    if one.get_space().get_simple_extent_type() == NO_VALUE:
        raise Refused(f"{label} has no value")
    count = math.prod(one.shape)
    if count == 0:
        return 0
    held = count * (REFERENCE if texts else kind.get_size())
    if held > size:
        raise Refused("it declares more numbers than it can hold")
    if layout not in (h5d.CONTIGUOUS, h5d.COMPACT):
        raise Refused(f"{label} is stored in pieces")
    if layout == h5d.COMPACT and not texts:
        return held
    offset = one.get_offset()
    if one.get_storage_size() != held or offset is None or offset + held > size:
        raise Refused(f"{label} is not stored inside the file")
    if not texts:
        return held
    raw = bytes_at(offset, held)
    return sum(int.from_bytes(raw[k : k + 4], "little") + PLACE for k in range(0, held, REFERENCE))


def _kind(kind: Any, label: str) -> bool:
    """Whether a type is that of texts of any length; Refused if it is none of numbers or texts."""
    from h5py import h5t

    of = kind.get_class()
    if of == h5t.STRING:
        return bool(kind.is_variable_str())
    if of not in (h5t.INTEGER, h5t.FLOAT) or kind.get_size() not in (1, 2, 4, 8):
        raise Refused(f"{label} holds neither numbers nor texts")
    return False


def _attributes(owner: Any, label: str, room: int) -> tuple[dict[str, Any], int]:
    """The attributes of a data set or of the file, and how many bytes of `room` they leave."""
    from h5py import h5a

    count, found = h5a.get_num_attrs(owner.id), {}
    if count > ATTRIBUTES:
        raise Refused(f"{label} has {count} attributes; at most {ATTRIBUTES} are read")
    for number in range(count):
        one = h5a.open(owner.id, index=number)
        name, values, kind = one.name.decode(errors="replace"), math.prod(one.shape), one.get_type()
        if name in LINKS:
            continue
        if one.get_space().get_simple_extent_type() == NO_VALUE:
            raise Refused(f"the attribute {name[:60]!r} of {label} has no value")
        texts = _kind(kind, f"the attribute {name[:60]!r} of {label}")
        room -= values * (REFERENCE if texts else kind.get_size())
        if values > (1 if texts else DATA_SETS) or room < 0:
            raise Refused(f"the attribute {name[:60]!r} of {label} has too many values")
        value = owner.attrs[name]
        if texts:
            room -= len(value)
        found[name] = value[0] if getattr(value, "shape", ()) == (1,) else value
        if texts and re.search("[\ud800-\udfff]", str(found[name])):  # by which h5py stands for other bytes
            raise Refused(f"the attribute {name[:60]!r} of {label} is no Unicode text")
    return found, room


def main(seconds: str, known: str, conventions: str, *paths: str) -> None:
    """Inspect files in the separate process, which the system ends after so many seconds of processor time."""
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        allowed = int(seconds) if most == resource.RLIM_INFINITY else min(int(seconds), most)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))
    try:
        import h5py

        for path in paths:
            with open(path, "rb") as file, h5py.File(file, "r") as opened:

                def bytes_at(offset: int, count: int, handle: int = file.fileno()) -> bytes:
                    return os.pread(handle, count, offset)

                contents(opened, bytes_at, os.path.getsize(path), known, conventions, True)
    except Refused as refused:
        sys.exit(f"{REFUSED}{refused}")


if __name__ == "__main__":
    main(*sys.argv[1:])
