"""Cross sections and materials of beams."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.settings import is_number, shown


def _positive(settings: Any) -> None:
    """Raise InputError for a field that is no positive number."""
    for one in fields(settings):
        value = getattr(settings, one.name)
        if one.type in ("float", float) and not (is_number(value) and value > 0.0):
            kind = type(settings).__name__
            raise InputError(f"{one.name} of a {kind} must be a positive number, got {shown(value)}.")


@dataclass(frozen=True)
class Material:
    """Linear elastic, isotropic.

    Parameters
    ----------
    youngs : [Pa]
        Young's modulus E.
    shear : [Pa]
        Shear modulus G.
    density : [kg/m^3]
    """

    youngs: float
    shear: float
    density: float

    def __post_init__(self) -> None:
        _positive(self)

    @property
    def poisson(self) -> float:
        """Poisson's ratio, E / (2 G) - 1."""
        return self.youngs / (2.0 * self.shear) - 1.0


@dataclass(frozen=True)
class CrossSection:
    """Any section, about the principal axes y and z through its centroid.

    Parameters
    ----------
    area : [m^2]
    Iy, Iz : [m^4]
        Second moments: Iy of bending in the x-z plane, ``integral of z^2``; Iz in the x-y plane.
    J : [m^4]
        Torsion constant: torque ``G J`` per twist rate.
    fibres : (3,) [m], optional
        Distances at which stresses are evaluated: y and z of the outermost fibres in bending, and the r of the largest
        shear stress ``T r / J``. Where omitted no stresses are recovered.
    shear : (2,) [-], optional
        Shear coefficients along y and z, which Timoshenko's theory needs.
    """

    area: float
    Iy: float
    Iz: float
    J: float
    fibres: tuple[float, float, float] | None = None
    shear: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _positive(self)

    def section(self, material: Material) -> "CrossSection":
        """Itself: what `Rectangle` and `Tube` become for a material."""
        return self


@dataclass(frozen=True)
class Rectangle:
    """A rectangle with sides [m] along the y and z axes of the section.

    J by Saint-Venant's series; shear coefficients 5/6. The largest shear stress in torsion is taken as that of the
    middle of the longer side, by the same series.
    """

    y: float
    z: float

    def __post_init__(self) -> None:
        _positive(self)

    def section(self, material: Material) -> CrossSection:
        """Its numbers."""
        a, b = max(self.y, self.z), min(self.y, self.z)
        n = np.arange(1.0, 40.0, 2.0)  # the terms fall as n^-5
        J = a * b**3 / 3.0 * (1.0 - 192.0 * b / (np.pi**5 * a) * float(np.sum(np.tanh(n * np.pi * a / (2 * b)) / n**5)))
        n = np.arange(1.0, 400.0, 2.0)  # these as exp(-n) / n^2
        with np.errstate(over="ignore"):
            largest = b * (1.0 - 8.0 / np.pi**2 * float(np.sum(1.0 / (n**2 * np.cosh(n * np.pi * a / (2 * b))))))
        return CrossSection(
            self.y * self.z, self.y * self.z**3 / 12.0, self.z * self.y**3 / 12.0, J,
            (self.y / 2, self.z / 2, largest), (5.0 / 6.0, 5.0 / 6.0),
        )  # fmt: skip


@dataclass(frozen=True)
class Tube:
    """A circular tube, or a full circle with `inner` 0; diameters [m]. Shear coefficient by Cowper (1966)."""

    outer: float
    inner: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.outer) and 0.0 <= self.inner < self.outer):
            raise InputError(f"A Tube needs diameters 0 <= inner < outer, got {self.inner} and {self.outer} m.")

    def section(self, material: Material) -> CrossSection:
        """Its numbers."""
        area = math.pi / 4.0 * (self.outer**2 - self.inner**2)
        second = math.pi / 64.0 * (self.outer**4 - self.inner**4)
        nu, m = material.poisson, (self.inner / self.outer) ** 2
        shear = 6 * (1 + nu) * (1 + m) ** 2 / ((7 + 6 * nu) * (1 + m) ** 2 + (20 + 12 * nu) * m)
        half = self.outer / 2.0
        return CrossSection(area, second, second, 2.0 * second, (half, half, half), (shear, shear))
