"""Modes of flexible bodies and meshes in TOML files: beams and their reduction, numbers, or files beside it."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.flexible import (
    CrossSection,
    FiniteElements,
    Material,
    Modes,
    Rayleigh,
    Rectangle,
    Tube,
    assemble,
    beam,
    from_matrices,
    modes,
)
from nonsmooth.model.shapes import Mesh, read_stl
from nonsmooth.quantities import Quantity

#: limits, far above the needs of beams: finite elements of all bodies of a file; modes of a body; degrees of freedom
#: and uncompressed bytes of a matrix file. Beyond them, reading would take minutes or exhaust the memory
MOST_ELEMENTS, MOST_MODES, MOST_DOFS, MOST_BYTES = 500, 200, 3000, 200_000_000

Place = Annotated[tuple[float, float, float], Quantity("m")]


@dataclass(frozen=True)
class NodeMass:
    """A rigid mass at a node, see `FiniteElements.with_mass`."""

    called: ClassVar[str] = "the mass of a node"

    mass: Annotated[float, Quantity("kg", positive=True)]
    inertia: Annotated[tuple[float, float, float], Quantity("kg m^2", nonnegative=True)] = (0.0, 0.0, 0.0)
    offset: Place = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class BeamPart:
    """A straight beam with one section, see `nonsmooth.flexible.beam`."""

    called: ClassVar[str] = "the table of a beam"

    end: Place
    section: Rectangle | Tube | CrossSection
    material: Material
    start: Place = (0.0, 0.0, 0.0)
    elements: int | tuple[float, ...] = 8
    names: Mapping[str, float] | None = None
    across: Annotated[tuple[float, float, float], Quantity("-")] | None = None
    element: Literal["cubic", "quintic"] = "cubic"
    timoshenko: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.elements, int) and self.elements < 1:
            raise InputError(f"elements must be 1 or more, got {self.elements}.")
        for name, at in (self.names or {}).items():
            if not 0.0 <= at <= 1.0:
                raise InputError(
                    f'names has "{name}" at {at:g}; positions are from 0 at the start of the beam to 1 at its end.'
                )

    @property
    def count(self) -> int:
        """The largest possible number of its finite elements, which named positions may divide."""
        return (self.elements if isinstance(self.elements, int) else len(self.elements)) + len(self.names or ())

    def part(self, prefix: str) -> FiniteElements:
        """The finite elements of the beam; the names of nodes without a given name begin with the prefix."""
        return beam(
            self.start, self.end, section=self.section, material=self.material, elements=self.elements,
            names=self.names, prefix=prefix, across=self.across, element=self.element, timoshenko=self.timoshenko,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """Data of a modal reduction, common to all finite elements, see `nonsmooth.flexible.modes`."""

    interface: tuple[str, ...]
    keep: int
    damping: Annotated[float, Quantity("-", nonnegative=True)] | Rayleigh
    method: Literal["craig-bampton", "free"] = "craig-bampton"
    stiffening: bool = True
    masses: Mapping[str, NodeMass] = field(default_factory=dict)

    def modes(self, folder: Path | None) -> Modes:
        """The modes; `folder` is that of the TOML file, None for a text."""
        most = self.keep + 6 * len(self.interface)
        if most > MOST_MODES:
            raise InputError(
                f"keep = {self.keep} and {len(self.interface)} nodes in interface make up to {most} modes, more than "
                f"the {MOST_MODES} that a file may request; keep fewer, or build such a body in Python."
            )
        elements = self.finite_elements(folder)
        for key, names in (("interface", self.interface), ("masses", tuple(self.masses))):
            unknown = [name for name in names if name not in elements.names]
            if unknown:
                raise InputError(
                    f'{key} has "{unknown[0]}", which is not a node; the nodes are {", ".join(elements.names)}.'
                )
        for node, one in self.masses.items():
            elements = elements.with_mass(node, one.mass, inertia=one.inertia, offset=one.offset)
        return modes(
            elements, interface=self.interface, keep=self.keep, damping=self.damping, method=self.method,
            stiffening=self.stiffening,
        )  # fmt: skip

    @property
    def count(self) -> int:
        """Number of finite elements to be assembled; 0 for given matrices."""
        return 0

    def finite_elements(self, folder: Path | None) -> FiniteElements:
        raise TypeError(f"{type(self).__name__} has no finite elements.")


@dataclass(frozen=True, kw_only=True)
class Beam(BeamPart, Reduction):
    """Modes of one straight beam."""

    def finite_elements(self, folder: Path | None) -> FiniteElements:
        return self.part("node")


@dataclass(frozen=True, kw_only=True)
class BeamStructure(Reduction):
    """Modes of several beams, rigidly joined at nodes of the same name, see `nonsmooth.flexible.assemble`."""

    beams: Mapping[str, BeamPart]

    @property
    def count(self) -> int:
        """Number of finite elements of all its beams."""
        return sum(one.count for one in self.beams.values())

    def finite_elements(self, folder: Path | None) -> FiniteElements:
        if not self.beams:
            raise InputError("beams must have one table or more, as [elements.NAME.modes.beams.left].")
        return assemble(*(one.part(f"{name}.") for name, one in self.beams.items()))


@dataclass(frozen=True, kw_only=True)
class MatrixFile(Reduction):
    """Modes of finite elements from another program: an .npz file in the folder of the TOML file holds the matrices.

    Arrays of the file: ``mass`` and ``stiffness`` (d, d), ``names`` (n,) and ``places`` (n, 3) of the nodes, optionally
    ``translations`` and ``rotations`` (n, 3), see `nonsmooth.flexible.from_matrices`.
    """

    file: str

    def finite_elements(self, folder: Path | None) -> FiniteElements:
        path = path_beside(self.file, folder, "npz", "write it there with numpy.savez")
        file, found, size = f'file "{self.file}"', {}, 0
        try:
            with zipfile.ZipFile(path) as parts:
                size = sum(one.file_size for one in parts.infolist())
            if size <= MOST_BYTES:
                with np.load(path, allow_pickle=False) as data:  # nothing in it is executed
                    found = {name: data[name] for name in data.files}
        except (ValueError, OSError, EOFError, MemoryError, zipfile.BadZipFile) as error:
            raise InputError(f"{file} is not an .npz file of arrays ({error}); write it with numpy.savez.") from None
        if size > MOST_BYTES:
            raise InputError(f"{file} has {size} bytes of arrays, more than {MOST_BYTES}; reduce it in Python.")
        for name, one in found.items():
            if one.dtype.kind not in "fiuU" or one.dtype.kind != "U" and not np.all(np.isfinite(one)):
                raise InputError(f"array {name} of the {file} must be finite numbers, or words as names.")
        missing = [name for name in ("mass", "stiffness", "names", "places") if name not in found]
        if missing:
            raise InputError(f"{file} has no array {', '.join(missing)}; save it with numpy.savez.")
        names, places, given = found["names"], found["places"], {}
        if names.dtype.kind != "U" or names.ndim != 1 or places.shape != (len(names), 3) or len({*names}) < len(names):
            raise InputError(f"{file} needs names (n,), all different, and places (n, 3) of the nodes.")
        if len(found["mass"].shape) != 2 or found["mass"].shape[0] > MOST_DOFS:
            raise InputError(
                f"{file} has a mass matrix of shape {found['mass'].shape}, which must be square with at most "
                f"{MOST_DOFS} rows; reduce larger ones in Python."
            )
        for key in ("translations", "rotations"):
            if key in found:
                one, last = found[key], found["mass"].shape[0] - 1
                if one.dtype.kind not in "iu" or one.shape != (len(names), 3) or np.any((one < -1) | (one > last)):
                    raise InputError(f"{file} needs whole numbers (n, 3) from -1 to {last} as {key} of its n nodes.")
                given[key] = one
        nodes: dict[str, Any] = {str(name): tuple(place) for name, place in zip(names, places, strict=True)}
        return from_matrices(found["mass"], found["stiffness"], nodes, **given)


@dataclass(frozen=True, kw_only=True)
class StlFile:
    """The surface in an STL file in the folder of the TOML file, see `read_stl`."""

    file: str
    unit: str

    def mesh(self, folder: Path | None) -> Mesh:
        """The surface in the file; `folder` is that of the TOML file, None for a text."""
        return read_stl(path_beside(self.file, folder, "stl", "copy it there"), unit=self.unit)


def path_beside(file: str, folder: Path | None, ending: str, remedy: str) -> Path:
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


#: for a field of each class, the kinds of tables and the classes that they create
FORMS: dict[Any, dict[str, Any]] = {
    Modes: {"beam": Beam, "beam-structure": BeamStructure, "matrix-file": MatrixFile, "mode-table": Modes},
    Mesh: {"stl-file": StlFile, "triangles": Mesh},
    Rectangle: {"rectangle": Rectangle},
    Tube: {"tube": Tube},
    CrossSection: {"cross-section": CrossSection},
}


def _positive(unit: str) -> Any:
    return Annotated[float, Quantity(unit, positive=True)]


#: units of classes other than elements, for strings in files
UNITS: dict[Any, dict[str, Any]] = {
    Material: {"youngs": _positive("Pa"), "shear": _positive("Pa"), "density": _positive("kg/m^3")},
    Rectangle: {"y": _positive("m"), "z": _positive("m")},
    Tube: {"outer": _positive("m"), "inner": Annotated[float, Quantity("m", nonnegative=True)]},
    CrossSection: {
        "area": _positive("m^2"), "Iy": _positive("m^4"), "Iz": _positive("m^4"), "J": _positive("m^4"),
        "fibres": Annotated[tuple[float, float, float], Quantity("m", positive=True)] | None,
        "shear": Annotated[tuple[float, float], Quantity("-", positive=True)] | None,
    },
    Rayleigh: {
        "mass": Annotated[float, Quantity("1/s", nonnegative=True)],
        "stiffness": Annotated[float, Quantity("s", nonnegative=True)],
    },
}  # fmt: skip
