"""Straight beams: materials, cross sections, matrices of elements from their shape functions, and their assembly."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.finite_elements import FiniteElements, MassPoints, SlenderPart
from nonsmooth.settings import floats, is_number, shown


@dataclass(frozen=True)
class _Positive:
    """Base of data whose numbers are positive."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type is float and not (is_number(value) and value > 0.0):
                kind = type(self).__name__
                raise InputError(f"{one.name} of a {kind} must be a positive number, got {shown(value)}.")


@dataclass(frozen=True)
class Material(_Positive):
    """Linear elastic, isotropic.

    Parameters
    ----------
    youngs, shear : [Pa], Young's modulus E, shear modulus G
    density : [kg/m^3]
    """

    youngs: float
    shear: float
    density: float

    @property
    def poisson(self) -> float:
        """Poisson's ratio, E / (2 G) - 1."""
        return self.youngs / (2.0 * self.shear) - 1.0


@dataclass(frozen=True)
class CrossSection(_Positive):
    """Any section, about the principal axes y and z through its centroid.

    Parameters
    ----------
    area : [m^2]
    Iy, Iz : [m^4], second moments: Iy of bending in the x-z plane, ``integral of z^2``; Iz in the x-y plane
    J : [m^4], torsion constant: torque ``G J`` per twist rate
    fibres : (3,) [m], optional
        Distances at which stresses are evaluated: y and z of the outermost fibres in bending, and the r of the largest
        shear stress ``T r / J``. Where omitted no stresses are recovered.
    shear : (2,) [-], optional, shear coefficients along y and z, which Timoshenko's theory needs
    """

    area: float
    Iy: float
    Iz: float
    J: float
    fibres: tuple[float, float, float] | None = None
    shear: tuple[float, float] | None = None

    def section(self, material: Material) -> "CrossSection":
        """Itself: what `Rectangle` and `Tube` become for a material."""
        return self


@dataclass(frozen=True)
class Rectangle(_Positive):
    """A rectangle with sides [m] along the y and z axes of the section.

    J by Saint-Venant's series; shear coefficients 5/6. The largest shear stress in torsion is taken as that of the
    middle of the longer side, by the same series.
    """

    y: float
    z: float

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


#: components of the recovered stresses [Pa]
COMPONENTS = ("axial", "bending y", "bending z", "torsion")


@dataclass(frozen=True, eq=False)
class BeamElement:
    """A beam element in its own axes: x from its first to its second node, y and z principal axes of its section.
    Degrees of freedom of each node: displacements (3) [m], small rotations (3) [rad], and of the quintic element the
    twist rate [rad/m] and the derivatives of the rotations about y and z [rad/m], which are the curvatures."""

    mass: Array  #: (n, n), n = 12 or 18
    stiffness: Array  #: (n, n)
    axial: Array  #: (n,) [N/m] axial force per degree of freedom, constant in the element, tension > 0
    geometric: Array  #: (n, n) [1/m] stiffness per axial force: ``integral of (u_y'^2 + u_z'^2)``
    fractions: Array  #: (g,) points along it, from 0 to 1, of Gauss's rule that integrates products of displacements
    masses: Array  #: (g,) [kg] at these points
    shapes: Array  #: (g, 3, n) displacements of these points
    #: (2, 4, n) [Pa/m, Pa/rad] at the two ends: axial, of bending in the x-y and in the x-z plane at the fibres +y and
    #: +z, of torsion
    stresses: Array | None


def _gram(a: Array, b: Array) -> Array:
    """Integrals over (0, 1) of products of polynomials, given by rows of coefficients in ascending powers."""
    i, j = np.arange(a.shape[1])[:, None], np.arange(b.shape[1])[None, :]
    return np.asarray(a @ (1.0 / (i + j + 1.0)) @ b.T)


def _derivative(a: Array, times: int = 1) -> Array:
    """Derivative of polynomials, with as many coefficients as before."""
    for _ in range(times):
        a = np.hstack([a[:, 1:] * np.arange(1, a.shape[1]), np.zeros((len(a), 1))])
    return a


def _values(a: Array, places: Array) -> Array:
    """Values (g, n) of polynomials (n, powers) at places in (0, 1)."""
    return np.asarray(places[:, None] ** np.arange(a.shape[1]) @ a.T)


def _hermite(conditions: int) -> Array:
    """Polynomials on (0, 1) of which one of value, slope, ... at 0 and at 1 is one and the others are zero."""
    values = [_derivative(np.eye(2 * conditions), k) for k in range(conditions)]
    rows = [value[:, 0] for value in values] + [value.sum(axis=1) for value in values]
    return np.asarray(np.linalg.inv(np.array(rows)).T)


def _bending(conditions: int, length: float, ratio: float) -> tuple[Array, Array]:
    """Deflection w and rotation ``w' + ratio w'''``, ratio = E I / (k G A), as polynomials of x / length."""
    if ratio == 0.0:
        scale = np.tile(length ** np.arange(conditions), 2)
        w = scale[:, None] * _hermite(conditions)
        return w, _derivative(w) / length
    monomials = np.eye(4)
    turn = _derivative(monomials) / length + ratio * _derivative(monomials, 3) / length**3
    rows = np.array([monomials[:, 0], turn[:, 0], monomials.sum(axis=1), turn.sum(axis=1)])
    w = np.linalg.inv(rows).T
    return w, w @ turn


def beam_element(
    section: CrossSection, material: Material, length: float, conditions: int, timoshenko: bool = False
) -> BeamElement:
    """With `conditions` per end on a deflection: 2 for cubic bending and linear torsion, 3 for quintic and cubic ones.
    Euler-Bernoulli without rotary inertia of the section, or Timoshenko with it and with shear deformation (consistent
    mass of the interdependent shape functions; Przemieniecki 1968, section 11.6)."""
    per_node = 6 if conditions == 2 else 9
    n, E, G, rho = 2 * per_node, material.youngs, material.shear, material.density
    M, K, geometric, stresses = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((2, 4, n))
    fibres = section.fibres or (0.0, 0.0, 0.0)
    ends = np.array([0, per_node])
    nodes, weights = np.polynomial.legendre.leggauss(2 * conditions)
    fractions, shapes = (1.0 + nodes) / 2.0, np.zeros((2 * conditions, 3, n))

    def put(matrix: Array, at: Any, values: Array) -> None:
        matrix[np.ix_(at, at)] += values

    linear = _hermite(1)
    u, slope = ends, _derivative(linear) / length
    put(M, u, rho * section.area * length * _gram(linear, linear))
    put(K, u, E * section.area * length * _gram(slope, slope))
    axial = np.zeros(n)
    axial[u] = E * section.area * slope[:, 0]
    shapes[:, 0, u] = _values(linear, fractions)
    stresses[:, 0, u] = E * slope[:, 0]

    twist = linear if conditions == 2 else np.tile([1.0, length], 2)[:, None] * _hermite(2)
    rate = _derivative(twist) / length
    at = ends + 3 if conditions == 2 else np.array([3, 6, per_node + 3, per_node + 6])
    put(M, at, rho * (section.Iy + section.Iz) * length * _gram(twist, twist))
    put(K, at, G * section.J * length * _gram(rate, rate))
    stresses[0, 3, at], stresses[1, 3, at] = G * fibres[2] * rate[:, 0], G * fibres[2] * rate.sum(axis=1)

    # in the x-y plane u_y' = r_z, in the x-z plane u_z' = -r_y
    for component, offsets, sign, second, fibre in (
        (1, (1, 5, 8), 1.0, section.Iz, fibres[0]),
        (2, (2, 4, 7), -1.0, section.Iy, fibres[1]),
    ):
        shear = section.shear[component - 1] * G * section.area if timoshenko and section.shear else np.inf
        w, turn = _bending(conditions, length, E * second / shear)
        signs = np.tile([1.0, *[sign] * (conditions - 1)], 2)[:, None]
        w, turn = signs * w, signs * turn
        at = (ends[:, None] + np.array(offsets[:conditions])).ravel()
        slope, curvature = _derivative(w) / length, _derivative(turn) / length
        put(M, at, rho * section.area * length * _gram(w, w))
        shapes[:, component, at] = _values(w, fractions)
        put(K, at, E * second * length * _gram(curvature, curvature))
        put(geometric, at, length * _gram(slope, slope))
        if timoshenko:
            put(M, at, rho * second * length * _gram(turn, turn))
            put(K, at, shear * length * _gram(slope - turn, slope - turn))
        stresses[0, component, at] = -E * fibre * curvature[:, 0]
        stresses[1, component, at] = -E * fibre * curvature.sum(axis=1)
    masses = rho * section.area * length * weights / 2.0
    return BeamElement(M, K, axial, geometric, fractions, masses, shapes, None if section.fibres is None else stresses)


AnySection = CrossSection | Rectangle | Tube


def beam(
    start: Sequence[float], end: Sequence[float], *, section: AnySection | Sequence[AnySection], material: Material,
    elements: int | Sequence[float] = 8, names: Mapping[str, float] | None = None, prefix: str = "node",
    across: Sequence[float] | None = None, element: Literal["cubic", "quintic"] = "cubic", timoshenko: bool = False,
) -> FiniteElements:  # fmt: skip
    """Finite elements of a straight beam.

    InputError for ends at one place, no elements, places out of order, or another word for the element.

    Parameters
    ----------
    start, end : (3,) [m], ends, in the axes of the body
    section : one for the whole beam, or one of each element
    elements : how many of equal length, or the places of all nodes from 0 to 1, ascending
    names
        Names of nodes by their places, between 0 at the start and 1 at the end; ``{"start": 0, "end": 1}`` where
        omitted. A place that is no node becomes one, except with one section of each element.
    prefix : the other nodes are named with it and their number; parts that are assembled need different ones
    across : (3,), optional
        Direction of the section's y axis, made perpendicular to the beam; where omitted it is horizontal.
    element
        ``"cubic"`` with 12 degrees of freedom, or ``"quintic"`` with 18, per node three displacements, three rotations,
        the twist rate, and two curvatures. Curvatures and twist rates are common to neighbours of equal section only,
        since moments are continuous and not curvatures.
    timoshenko : shear deformation and rotary inertia, for cubic elements

    >>> aluminium = Material(youngs=70e9, shear=26.5e9, density=2700.0)
    >>> rod = beam((0, 0, 0), (0.5, 0, 0), section=Tube(0.025, 0.010), material=aluminium, names={"a": 0, "b": 1})
    >>> rod.count, rod.names[0], rod.names[-1]
    (54, 'a', 'b')
    """
    try:
        first, last = floats(start), floats(end)
    except TypeError:
        first = last = np.zeros(0)
    if first.shape != (3,) or last.shape != (3,):
        raise InputError(f"start and end of a beam must be points (x, y, z) [m], got {shown(start)} and {shown(end)}.")
    if not np.linalg.norm(last - first) > 0.0:
        raise InputError(f"A beam needs two ends, got {first.tolist()} and {last.tolist()} m.")
    if element not in ("cubic", "quintic") or (timoshenko and element == "quintic"):
        raise InputError(f'element must be "cubic", or "quintic" without timoshenko, got {shown(element)}.')
    named = {"start": 0.0, "end": 1.0} if names is None else {name: float(at) for name, at in names.items()}
    grid = _grid(elements, named, several=isinstance(section, Sequence))
    sections = list(section) if isinstance(section, Sequence) else [section] * (len(grid) - 1)
    if len(sections) != len(grid) - 1:
        raise InputError(f"{len(grid) - 1} elements need one section, or one of each; got {len(sections)}.")
    lengths = np.diff(grid) * np.linalg.norm(last - first)
    numbers = [one.section(material) for one in sections]
    if timoshenko and any(one.shear is None for one in numbers):
        missing = "the shear coefficients of the section; give shear=(along y, along z)."
        raise InputError(f"Timoshenko's theory needs {missing}")
    conditions, parts = 2 if element == "cubic" else 3, zip(numbers, lengths, strict=True)
    made = [beam_element(one, material, length, conditions, timoshenko) for one, length in parts]
    places = first + grid[:, None] * (last - first)
    labels = [f"{prefix}{i}" for i in range(len(grid))]
    for name, at in named.items():
        labels[int(np.argmin(np.abs(grid - at)))] = name
    split = [numbers[i] != numbers[i + 1] for i in range(len(numbers) - 1)]
    # axes in the columns: x along the beam, y from `across`, made perpendicular, or else horizontal
    x = (last - first) / np.linalg.norm(last - first)
    level = (0.0, 1.0, 0.0) if np.hypot(x[0], x[1]) < 1e-9 else np.cross([0.0, 0.0, 1.0], x)
    given = np.asarray(level if across is None else across, dtype=float)
    y = given - x * (x @ given)
    if np.linalg.norm(y) <= 1e-9 * np.linalg.norm(given):
        raise InputError(f"across = {given.tolist()} must not be parallel to the beam.")
    y = y / np.linalg.norm(y)
    return _assembled(made, split, places, labels, np.column_stack([x, y, np.cross(x, y)]))


def _grid(elements: int | Sequence[float], named: Mapping[str, float], *, several: bool) -> Array:
    """Places of the nodes from 0 to 1."""
    if isinstance(elements, int):
        if elements < 1:
            raise InputError(f"A beam needs at least one element, got {elements}.")
        grid = np.linspace(0.0, 1.0, elements + 1)
    else:
        grid = np.asarray(elements, dtype=float)
    if len(grid) < 2 or grid[0] != 0.0 or grid[-1] != 1.0 or np.any(np.diff(grid) <= 0.0):
        raise InputError(f"The places of nodes must ascend from 0 to 1, got {grid.tolist()}.")
    for name, at in named.items():
        if not 0.0 <= at <= 1.0:
            raise InputError(f"Node {name!r} must be between 0 and 1 of the beam's length, got {at}.")
        if np.min(np.abs(grid - at)) > 1e-9:
            if several:
                raise InputError(f"Node {name!r} at {at} is within an element that has a section of its own.")
            grid = np.sort(np.append(grid, at))
    return grid


def _assembled(
    made: Sequence[BeamElement], split: Sequence[bool], places: Array, names: Sequence[str], axes: Array
) -> FiniteElements:
    """Elements one after the other; displacements and rotations in body axes, curvatures in those of the section."""
    from scipy.sparse import coo_array

    n, inner = len(places), len(made[0].axial) // 2 - 6
    turn = np.kron(np.eye(2), axes.T)  # of displacements and rotations of a node into the axes of the beam
    T = np.eye(2 * (6 + inner))
    for first in (0, 6 + inner):
        T[first : first + 6, first : first + 6] = turn
    # curvatures at a node, on its left and right side
    left, right, total = np.zeros((n, inner), dtype=int), np.zeros((n, inner), dtype=int), 6 * n
    for i in range(n):
        left[i] = right[i] = total + np.arange(inner)
        total += inner
        if inner and 0 < i < n - 1 and split[i - 1]:
            right[i] = total + np.arange(inner)
            total += inner
    parts, points, entries = [], [], []
    for i, one in enumerate(made):
        dofs = np.concatenate([6 * i + np.arange(6), right[i], 6 * (i + 1) + np.arange(6), left[i + 1]])
        stresses = None if one.stresses is None else one.stresses @ T
        parts.append(SlenderPart(dofs, (i, i + 1), T.T @ one.geometric @ T, one.axial @ T, stresses))
        along = places[i] + one.fractions[:, None] * (places[i + 1] - places[i])
        points.append(MassPoints(dofs, along, one.masses, axes @ one.shapes @ T))
        rows, columns = np.repeat(dofs, len(dofs)), np.tile(dofs, len(dofs))
        entries.append((rows, columns, *((T.T @ matrix @ T).ravel() for matrix in (one.mass, one.stiffness))))
    rows, columns, mass, stiffness = (np.concatenate(values) for values in zip(*entries, strict=True))
    M, K = (coo_array((values, (rows, columns)), shape=(total, total)).tocsr() for values in (mass, stiffness))
    translations = 6 * np.arange(n)[:, None] + np.arange(3)
    return FiniteElements(M, K, tuple(names), places, translations, translations + 3, tuple(parts), tuple(points))
