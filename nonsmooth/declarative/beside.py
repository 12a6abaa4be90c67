"""Files that a TOML file names: they are in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nonsmooth.exceptions import InputError
from nonsmooth.model.shapes import Mesh, read_stl


@dataclass(frozen=True, kw_only=True)
class StlFile:
    """The surface in an STL file in the folder of the TOML file, see `read_stl`."""

    file: str
    unit: str

    def mesh(self, folder: Path | None) -> Mesh:
        """What the file contains; `folder` is that of the TOML file, None for a text."""
        return read_stl(beside(self.file, folder, "stl", "copy it there"), unit=self.unit)


def beside(file: str, folder: Path | None, ending: str, remedy: str) -> Path:
    """The path of a file in the folder of the TOML file, with this ending."""
    if Path(file).name != file or "\\" in file or not file.lower().endswith(f".{ending}"):
        raise InputError(
            f'file must name an .{ending} file in the folder of the TOML file, as "rod.{ending}", got "{file}".'
        )
    if folder is None:
        raise InputError(f'file "{file}" is relative to the TOML file; read the latter by its path, not as text.')
    path = folder / file
    if not path.is_file():
        raise InputError(f'file "{file}" is not in the folder of the TOML file; {remedy}.')
    return path
