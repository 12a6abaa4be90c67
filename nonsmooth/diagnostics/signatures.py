"""Contact of a rectangular slide with its guide: at points, lines or planes, and on which of the four walls.

At each wall there are four corners of the slide, two at each end. One closed corner is a *point*, two adjacent ones are
a *line*, three or four a *plane*; the *signature* counts them over the four walls, such as ``"1 line + 2 points"``.
Signatures are results: the law of a corner does not depend on the other corners.

To first order in the tilt the slide is free to move in the polytope of `SpatialPrismaticClearance` ::

    |y| + |r_z| l/2 + |r_x| w/2 <= c_h,    |z| + |r_y| l/2 + |r_x| h/2 <= c_w

Each of its faces is a set of corners that can be closed simultaneously. The sets do not depend on the length, and on
the other numbers only through the inequality that limits the twist r_x: 258 sets with 16 signatures if one of the two
does (a rectangle with equal clearances), 242 and 14 if both do simultaneously, ``c_h h = c_w w`` (a square with equal
ones).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nonsmooth.diagnostics.contacts import _touching
from nonsmooth.diagnostics.modes import Timeline
from nonsmooth.exceptions import InputError
from nonsmooth.model.spatial_clearances import WALLS
from nonsmooth.trajectory import Trajectory

__all__ = ["FREE", "active_sets", "signature", "signature_timeline", "signatures"]

Corners = NDArray[np.bool_]
FREE = "free"
#: labels of the gaps of a slide, by wall, end and side
LABELS = tuple(
    f"{wall}_{end}_{side}" for wall, end, side in itertools.product(WALLS, ("back", "front"), ("low", "high"))
)
KINDS = ("plane", "line", "point")
SIGNS = (-1, 0, 1)
#: share of its clearance within which a gap is regarded as closed
CLOSED = 1e-8


def signature(touching: Corners) -> str:
    """The signature of a set of corners.

    Parameters
    ----------
    touching : (16,) bool
        By gap, in the order of a `SpatialPrismaticClearance`.

    >>> corners = np.zeros(16, dtype=bool)
    >>> corners[[0, 2, 7]] = True  # both ends of the lower height wall, one end of the upper one
    >>> signature(corners)
    '1 line + 1 point'
    """
    found: Counter[str] = Counter()
    for wall in np.asarray(touching, dtype=bool).reshape(4, 2, 2):
        count = int(wall.sum())
        if count >= 3:
            found["plane"] += 1
        elif count == 2 and not (wall[0, 0] == wall[1, 1]):
            found["line"] += 1
        else:  # two corners on a diagonal are two points
            found["point"] += count
    parts = [f"{found[kind]} {kind}{'s' if found[kind] > 1 else ''}" for kind in KINDS if found[kind]]
    return " + ".join(parts) or FREE


def active_sets(*, height: float, width: float, clearance: float, side_clearance: float | None = None) -> Corners:
    """All sets of corners (n, 16) that can be closed simultaneously, to first order in the tilt, without the empty set.

    Parameters
    ----------
    height, width : h, w [m], > 0
        Of the slide.
    clearance, side_clearance : c_h, c_w [m], > 0
        Across the height and across the width; `clearance` for both where omitted.

    Raises
    ------
    InputError
        If a number is not positive.

    >>> len(active_sets(height=0.08, width=0.06, clearance=1e-4))
    258
    """
    side = clearance if side_clearance is None else side_clearance
    for name, value in (("height", height), ("width", width), ("clearance", clearance), ("side_clearance", side)):
        if not 0.0 < value < math.inf:
            raise InputError(f"active_sets: {name} must be a positive length in m, got {value!r}.")
    limits = 2 * clearance / width, 2 * side / height  # of |r_x|, by either inequality
    if math.isclose(*limits, rel_tol=1e-12):
        limits = limits[0], limits[0]
    found = []
    for twist in SIGNS:
        for height_walls, width_walls in itertools.product(_tight(), _tight()):
            if (height_walls or width_walls) and _feasible(twist, (height_walls, width_walls), limits):
                # a twist about x moves a corner against y where it is high in z, and along z where it is high in y
                found.append([*_touched(height_walls, -twist), *_touched(width_walls, twist)])
    return np.unique(np.array(found, dtype=bool), axis=0)


def signatures(*, height: float, width: float, clearance: float, side_clearance: float | None = None) -> dict[str, int]:
    """Possible signatures, to first order in the tilt, with the number of active sets of each.

    The most frequent first; the parameters are those of `active_sets`.

    >>> found = signatures(height=0.08, width=0.08, clearance=1e-4)
    >>> len(found), sum(found.values())
    (14, 242)
    """
    numbers = {"height": height, "width": width, "clearance": clearance, "side_clearance": side_clearance}
    count = Counter(signature(one) for one in active_sets(**numbers))  # type: ignore[arg-type]
    return dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))


def signature_timeline(trajectory: Trajectory, name: str) -> Timeline:
    """When a slide is free, and its kind of contact with the guide otherwise, by signature.

    A corner is closed in a step with a contact force other than an impact, and in a step with a gap within 1e-8 of its
    clearance at both ends, since a solver may load only two or three corners of a plane that rests on four.

    Parameters
    ----------
    name
        A `SpatialPrismaticClearance` of the run.

    Returns
    -------
    Timeline
        Its modes are "free" and the signatures that occur, in order of occurrence.

    Raises
    ------
    InputError
        For another name.
    """
    if not all(f"{name}.{label}" in trajectory.gap for label in LABELS):
        first = f".{LABELS[0]}"
        known = sorted(gap.removesuffix(first) for gap in trajectory.gap if gap.endswith(first))
        raise InputError(f"There is no slide in a rectangular guide {name!r}. There are: {', '.join(known) or 'none'}.")
    steps = np.column_stack([_closed(trajectory, name, label) for label in LABELS])
    words = [signature(step) for step in steps]
    modes = tuple(dict.fromkeys((FREE, *words)))
    numbers = np.array([modes.index(word) for word in words], dtype=np.intp)
    if not len(numbers):
        return Timeline(name, modes, np.zeros(0), np.zeros(0), numbers)
    first_steps = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])
    t = trajectory.t
    return Timeline(name, modes, t[first_steps], np.append(t[first_steps[1:]], t[-1]), numbers[first_steps])


def _closed(trajectory: Trajectory, name: str, label: str) -> Corners:
    """Whether a corner touches in each step (n - 1,)."""
    parameters = trajectory.manifest["parameters"]
    own = f"{name}.side_clearance" if label.startswith("width") else f"{name}.clearance"
    clearance = parameters.get(own, parameters[f"{name}.clearance"])["value"]
    near: Corners = np.less_equal(np.abs(trajectory.gap[f"{name}.{label}"]), CLOSED * clearance)
    return np.asarray(_touching(trajectory, f"{name}.{label}") | (near[:-1] & near[1:]))


def _tight() -> Iterator[tuple[int, int] | None]:
    """Signs of displacement and rotation where the walls of one direction are touched, None where they are not."""
    yield None
    yield from itertools.product(SIGNS, SIGNS)


def _feasible(twist: int, walls: tuple[tuple[int, int] | None, ...], limits: tuple[float, float]) -> bool:
    """Whether a twist of this sign exists: at its limit where only it touches the walls, below it otherwise."""
    at = [limit for signs, limit in zip(walls, limits, strict=True) if signs == (0, 0)]
    below = [limit for signs, limit in zip(walls, limits, strict=True) if signs != (0, 0)]
    if not at:
        return True  # any small twist, and none, leaves room for the rest
    return twist != 0 and min(at) == max(at) and all(at[0] < limit for limit in below)


def _touched(signs: tuple[int, int] | None, twist: int) -> Iterator[bool]:
    """Of the eight corners at two opposite walls, by wall, end and side.

    A corner touches where displacement, rotation and twist all move it towards the wall, or do not move it.
    """
    for wall, end, side in itertools.product((-1, 1), repeat=3):
        yield signs is not None and all(
            sign in (0, wall * towards) for sign, towards in zip((*signs, twist), (1, end, side), strict=True)
        )
