"""Machine code of entry points that comes with the package, so that a first run need not compile its text.

There is one archive for each text and each target, a family of processors, made by `nonsmooth.compile.ship`: the digest
of the text, since code of another text is never run, and the lengths of its objects by name, on one line; then the
objects, compressed with a checksum.
"""

import functools
import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from nonsmooth.exceptions import NonsmoothError

#: folder of the archives
FOLDER = Path(__file__).resolve().parent / "shipped"
SUFFIX = ".xz"


class NotShipped(NonsmoothError):
    """The package has no machine code of an entry point; the message says why."""


@dataclass(frozen=True)
class Target:
    """A family of processors under one operating system; `features` are those that a processor must have."""

    name: str
    triple: str
    cpu: str
    system: str
    machines: tuple[str, ...]
    features: frozenset[str] = frozenset()

    def serves(self, triple: str, features: Collection[str]) -> bool:
        """Whether a process with this triple, on a processor with these features, can run its code."""
        return self.system == sys.platform and triple.split("-")[0] in self.machines and self.features <= set(features)


#: of levels 2 and 3 of x86-64
V2 = frozenset({"cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"})
V3 = V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
#: the fastest first
TARGETS = (
    Target("x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "linux", ("x86_64",), V3),
    Target("x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", "linux", ("x86_64",), V2),
    Target("aarch64-linux", "aarch64-unknown-linux-gnu", "generic", "linux", ("aarch64", "arm64")),
    Target("arm64-macos", "arm64-apple-macosx11.0.0", "apple-m1", "darwin", ("aarch64", "arm64")),
)


def archive(folder: Path, module: str, target: str) -> Path:
    """The file of the machine code of a text."""
    return folder / f"{module.partition('.')[2].removeprefix('schemes.')}-{target}{SUFFIX}"


def pack(digest: str, objects: Mapping[str, bytes]) -> bytes:
    """An archive of object code by name, of a text with this digest."""
    import lzma

    head = json.dumps({"text": digest, "lengths": {name: len(data) for name, data in objects.items()}})
    data = b"\n".join([head.encode(), b"".join(objects.values())])
    # instructions of x86-64 begin anywhere, those of arm64 are words of four bytes
    ways = ({"lp": 0, "lc": 4, "pb": 0}, {"lp": 2, "lc": 2, "pb": 2})
    best = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}
    return min((lzma.compress(data, check=lzma.CHECK_SHA256, filters=[best | way]) for way in ways), key=len)


def unpack(data: bytes) -> tuple[str, dict[str, bytes]]:
    """The digest of the text, and object code by name; NotShipped if it is damaged, or Python cannot decompress it."""
    try:
        import lzma
    except ImportError as error:  # an interpreter that was built without the library
        raise NotShipped("this Python cannot read the machine code in the package: no module lzma") from error
    try:
        first, _, body = lzma.decompress(data).partition(b"\n")
    except lzma.LZMAError as error:
        raise NotShipped("the machine code in the package is damaged") from error
    head, objects, at = json.loads(first), {}, 0
    for name, length in head["lengths"].items():
        objects[name] = body[at : at + length]
        at += length
    return head["text"], objects


def served() -> list[Target]:
    """Targets whose code this process can run, the fastest first."""
    import llvmlite.binding as llvm

    try:
        features = {name for name, present in llvm.get_host_cpu_features().items() if present}
    except RuntimeError:  # unknown to LLVM
        features = set()
    return [target for target in TARGETS if target.serves(llvm.get_process_triple(), features)]


def code(module: str, digest: str, name: str) -> bytes:
    """Object code of an entry point of a text with this digest, for this processor; NotShipped if there is none."""
    found, objects = _objects(FOLDER, module)
    if found != digest:
        raise NotShipped("the machine code in the package is of other sources")
    if name not in objects:
        raise NotShipped(f"the package has no machine code of {name}")
    return objects[name]


@functools.cache
def _objects(folder: Path, module: str) -> tuple[str, dict[str, bytes]]:
    """Digest and object code of a text for the fastest target that this processor serves."""
    targets = served()
    for target in targets:
        try:
            data = archive(folder, module, target.name).read_bytes()
        except OSError:
            continue
        return unpack(data)
    if not targets:
        raise NotShipped("the package has no machine code for this kind of processor")
    raise NotShipped(f"the package has no machine code of {module}")
