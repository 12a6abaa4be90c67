"""Finite elements of a straight beam in any direction."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.elements import BeamElement, cubic, quintic
from nonsmooth.flexible.finite_elements import FiniteElements, MassPoints, SlenderPart
from nonsmooth.flexible.sections import CrossSection, Material, Rectangle, Tube
from nonsmooth.settings import floats, shown

AnySection = CrossSection | Rectangle | Tube


def axes_of(along: Any, across: Any = None) -> Array:
    """Axes (3, 3) of a beam in the columns: x along it, y from `across`, made perpendicular.

    Without `across`, y is horizontal (perpendicular to z of the body), and y of the body for a beam along z.

    Raises
    ------
    InputError
        If `across` is parallel to the beam.
    """
    x = np.asarray(along, dtype=float)
    x = x / np.linalg.norm(x)
    if across is None:
        across = (0.0, 1.0, 0.0) if np.hypot(x[0], x[1]) < 1e-9 else np.cross([0.0, 0.0, 1.0], x)
    y = np.asarray(across, dtype=float)
    y = y - x * (x @ y)
    if np.linalg.norm(y) <= 1e-9 * np.linalg.norm(across):
        raise InputError(f"across = {np.asarray(across).tolist()} must not be parallel to the beam.")
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def beam(
    start: Sequence[float],
    end: Sequence[float],
    *,
    section: AnySection | Sequence[AnySection],
    material: Material,
    elements: int | Sequence[float] = 8,
    names: Mapping[str, float] | None = None,
    prefix: str = "node",
    across: Sequence[float] | None = None,
    element: Literal["cubic", "quintic"] = "cubic",
    timoshenko: bool = False,
) -> FiniteElements:
    """Finite elements of a straight beam.

    Parameters
    ----------
    start, end : (3,) [m]
        Ends, in the axes of the body.
    section
        One for the whole beam, or one of each element.
    elements
        How many of equal length, or the places of all nodes from 0 to 1, ascending.
    names
        Names of nodes by their places, between 0 at the start and 1 at the end; ``{"start": 0, "end": 1}`` where
        omitted. A place that is no node becomes one, except with one section of each element.
    prefix
        The other nodes are named with it and their number; parts that are assembled need different ones.
    across : (3,), optional
        Direction of the section's y axis, made perpendicular to the beam; where omitted it is horizontal.
    element
        ``"cubic"`` with 12 degrees of freedom, or ``"quintic"`` with 18; see `nonsmooth.flexible.elements`. Curvatures
        and twist rates are common to neighbours of equal section only, since moments are continuous and not curvatures.
    timoshenko
        Shear deformation and rotary inertia, for cubic elements.

    Raises
    ------
    InputError
        For ends at one place, no elements, places out of order, or another word for the element.

    Examples
    --------
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
        raise InputError(f'element must be "cubic", or "quintic" without timoshenko, got {element!r}.')
    named = {"start": 0.0, "end": 1.0} if names is None else {name: float(at) for name, at in names.items()}
    grid = _grid(elements, named, several=isinstance(section, Sequence))
    sections = list(section) if isinstance(section, Sequence) else [section] * (len(grid) - 1)
    if len(sections) != len(grid) - 1:
        raise InputError(f"{len(grid) - 1} elements need one section, or one of each; got {len(sections)}.")
    lengths = np.diff(grid) * np.linalg.norm(last - first)
    numbers = [one.section(material) for one in sections]
    if element == "cubic":
        made = [cubic(s, material, length, timoshenko=timoshenko) for s, length in zip(numbers, lengths, strict=True)]
    else:
        made = [quintic(s, material, length) for s, length in zip(numbers, lengths, strict=True)]
    places = first + grid[:, None] * (last - first)
    labels = [f"{prefix}{i}" for i in range(len(grid))]
    for name, at in named.items():
        labels[int(np.argmin(np.abs(grid - at)))] = name
    split = [numbers[i] != numbers[i + 1] for i in range(len(numbers) - 1)]
    return _assembled(made, split, places, labels, axes_of(last - first, across))


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
