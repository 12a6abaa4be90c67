"""Surfaces of triangles, and STL files of them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of
from nonsmooth.quantities import Wrong, in_unit
from nonsmooth.settings import shown

__all__ = ["MOST_TRIANGLES", "Mesh", "read_stl"]

#: triangles of a mesh, which are painted one by one in every picture, and bytes of a file, at most
MOST_TRIANGLES, MOST_BYTES = 10_000, 100_000_000
#: digits of a vertex, as a share of the extent, and bytes of a binary file's head and of each triangle
DIGITS, HEAD, RECORD = 6, 84, 50
#: a triangle of a binary file: normal, vertices, two bytes without meaning
TRIANGLE = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("rest", "<u2")])
VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles.

    Parameters
    ----------
    vertices : (n, 3) [m]
    triangles : (m, 3)
        Numbers of their vertices, from 0; counterclockwise as seen from outside.

    Raises
    ------
    InputError
        If the arrays do not fit, or there are more than 10 000 triangles.
    """

    vertices: Array
    triangles: Array

    def __post_init__(self) -> None:
        try:
            vertices, given = np.asarray(self.vertices, float), np.asarray(self.triangles, float)
        except (TypeError, ValueError):
            raise InputError("A mesh takes vertices (n, 3) [m] and triangles (m, 3), arrays of numbers.") from None
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.all(np.isfinite(vertices)):
            raise InputError(f"vertices must be finite numbers (n, 3) [m], got an array of shape {vertices.shape}.")
        whole = given.ndim == 2 and given.shape[1] == 3 and bool(np.all(given == np.floor(given)))
        if not (whole and len(given) and np.all((given >= 0) & (given < len(vertices)))):
            raise InputError(f"triangles must be one or more rows of three numbers from 0 to {len(vertices) - 1}.")
        if len(given) > MOST_TRIANGLES:
            raise InputError(
                f"A mesh has at most {MOST_TRIANGLES} triangles, since each is painted in every picture, got "
                f"{len(given)}; export it more coarsely from the program that made it."
            )
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", given.astype(int))


def read_stl(path: str | os.PathLike[str], *, unit: str) -> Mesh:
    """The surface in an STL file, binary or text.

    Vertices are rounded to a millionth of the extent and those at the same place become one; triangles without area are
    left out. Normals in the file are not used.

    Parameters
    ----------
    path
        Of the file.
    unit
        Of its numbers, which the file does not say, as ``"mm"``.

    Raises
    ------
    InputError
        If the file is no STL file, is too large, or has more than 10 000 triangles.
    """
    try:
        factor = float(in_unit(f"1 {unit}", "m"))
    except Wrong:
        raise InputError(f'unit must be one of length, as "mm", got {unit!r}.') from None
    file = path_of(path, "The STL file")
    try:
        if file.exists() and not file.is_file():
            raise OSError(0, "it is not a regular file")
        if file.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} has more than {MOST_BYTES} bytes; export it more coarsely.")
        data = Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be read ({reason}); give an STL file.") from error
    corners = _corners(data, str(path))
    if not (len(corners) and np.all(np.isfinite(corners))):
        raise InputError(f"{path} has no triangles, or vertices that are not finite; export it anew as STL.")
    if len(corners) > MOST_TRIANGLES:
        raise InputError(
            f"{path} has {len(corners)} triangles, more than the {MOST_TRIANGLES} that a picture of moving bodies can "
            "show; export it more coarsely, or reduce it with a mesh program."
        )
    points = factor * corners.reshape(-1, 3)
    extent = float(np.max(np.ptp(points, axis=0)))
    decimals = DIGITS - int(np.floor(np.log10(extent))) if extent > 0 else DIGITS
    vertices, index = np.unique(np.round(points, decimals) + 0.0, axis=0, return_inverse=True)
    triangles = index.reshape(-1, 3)
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    if not len(triangles):
        raise InputError(f"{path} has only triangles without area; export it anew as STL.")
    return Mesh(vertices, triangles)


def _corners(data: bytes, name: str) -> Array:
    """Vertices (m, 3, 3) of the triangles of a file."""
    if len(data) >= HEAD:
        count = int.from_bytes(data[80:84], "little")
        if len(data) == HEAD + RECORD * count:
            return np.frombuffer(data, TRIANGLE, count, HEAD)["vertices"].astype(float)
    if data.lstrip()[:5].lower() == b"solid" and b"vertex" in data:
        try:
            found = np.array(VERTEX.findall(data), dtype=float)
        except ValueError:
            found = np.zeros((1, 3))
        if len(found) % 3 == 0 and len(found) == len(re.findall(rb"\bvertex\b", data)):
            return np.asarray(found.reshape(-1, 3, 3))
    raise InputError(
        f"{shown(name)} is no STL file: it is neither text with three vertices to a triangle nor as long as a binary "
        "file with its number of triangles; export it anew as STL."
    )
