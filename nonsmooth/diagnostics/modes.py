"""Contact modes over time: of a contact, of a slider in the plane, and of a rectangular slide in space.

At each wall of a guide there are four corners of the slide, two at each end. One closed corner is a *point*, two
adjacent ones are a *line*, three or four a *plane*; the *signature* counts them over the four walls, such as
``"1 line + 2 points"``. Signatures are results: the law of a corner does not depend on the other corners.

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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.contacts import closed_steps
from nonsmooth.exceptions import InputError
from nonsmooth.model.clearances import WALLS
from nonsmooth.settings import checked, require
from nonsmooth.trajectory import Trajectory

CONTACT_MODES = ("open", "closed", "stick", "slip")
SLIDER_MODES = ("free", "one-sided", "crosswise", "face", "other")
#: corners of a slider in a guide, in the order of the digits below
CORNERS = ("left_lower", "left_upper", "right_lower", "right_upper")
CROSSWISE = ((0, 3), (1, 2))
FACE = ((0, 2), (1, 3))
STICKING, SLIPPING = 2, 3  # values of a trajectory's modes with friction

Corners = NDArray[np.bool_]
FREE = "free"
#: labels of the gaps of a slide, by wall, end and side
LABELS = tuple(
    f"{wall}_{end}_{side}" for wall, end, side in itertools.product(WALLS, ("back", "front"), ("low", "high"))
)
KINDS = ("plane", "line", "point")
SIGNS = (-1, 0, 1)
CLOSED = 1e-8  # share of its clearance within which a gap is regarded as closed


@dataclass(frozen=True, eq=False, repr=False)
class Timeline:
    """Time intervals of one mode each, in order, without gaps.

    Parameters
    ----------
    name : of the contact, or of the joint
    modes : all possible modes
    start, end : of the intervals (n,) [s]
    mode : of each interval (n,), an index of `modes`
    """

    name: str
    modes: tuple[str, ...]
    start: Array
    end: Array
    mode: NDArray[np.intp]

    @classmethod
    def of_steps(cls, trajectory: Trajectory, name: str, modes: tuple[str, ...], steps: NDArray[np.intp]) -> Timeline:
        """The intervals of a run whose steps (n - 1,) have these modes."""
        first = np.flatnonzero(np.diff(steps, prepend=-1))
        t = trajectory.t
        return cls(name, modes, t[first], np.append(t[first[1:]], t[-1:] if first.size else []), steps[first])

    def durations(self) -> dict[str, float]:
        """Time [s] spent in each mode."""
        spent = np.bincount(self.mode, weights=self.end - self.start, minlength=len(self.modes))
        return dict(zip(self.modes, spent.tolist(), strict=True))

    def shares(self) -> dict[str, float]:
        """Share of the time [-] spent in each mode."""
        durations = self.durations()
        whole = sum(durations.values())
        return {mode: time / whole if whole > 0 else 0.0 for mode, time in durations.items()}

    def __len__(self) -> int:
        return len(self.mode)

    def __repr__(self) -> str:
        shares = ", ".join(f"{mode} {100 * share:.3g} %" for mode, share in self.shares().items() if share > 0)
        return f"<Timeline of {self.name}: {len(self)} intervals; {shares or 'no time'}>"


@checked
def mode_timeline(trajectory: Trajectory, name: str) -> Timeline:
    """When a contact is open, closed (without friction), sticking or slipping; or how a slider touches its guide.

    A slider in a guide with clearance is free, or touches at one corner (one-sided), at two opposite corners of
    different sides (crosswise), or with both corners of a side (face); further contacts of overlapping or jammed
    sliders are other.

    Surfaces are in contact in a step with a contact force other than an impact; impacts have no duration and are not
    modes. InputError for another name.

    Parameters
    ----------
    name : a contact of the run, ``"guide.left_lower"``, or a `PrismaticClearance`, ``"guide"``

    >>> from nonsmooth import GaussQP, Landing, simulate
    >>> from nonsmooth_problems import slider_rod
    >>> run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    >>> mode_timeline(run, "guide")
    <Timeline of guide: 2 intervals; free 7.14 %, face 92.9 %>
    """
    if name in trajectory.gap:
        rows = trajectory.mode[name].astype(int)
        known, other = (rows[:-1], rows[1:]) if trajectory.modes_follow else (rows[1:], rows[:-1])
        known = np.where(np.isin(known, (STICKING, SLIPPING)), known, other)  # row 0 does not know its mode
        steps = np.where(closed_steps(trajectory, name), np.where(np.isin(known, (STICKING, SLIPPING)), known, 1), 0)
        return Timeline.of_steps(trajectory, name, CONTACT_MODES, steps)
    if all(f"{name}.{corner}" in trajectory.gap for corner in CORNERS):
        closed = np.array([closed_steps(trajectory, f"{name}.{corner}") for corner in CORNERS])
        count = closed.sum(axis=0)
        crosswise, face = (
            (count == 2) & np.any([closed[i] & closed[j] for i, j in pairs], axis=0) for pairs in (CROSSWISE, FACE)
        )
        # in the order of `SLIDER_MODES`, of which the last one is any other
        kinds = [count == 0, count == 1, crosswise, face]
        steps = np.select(kinds, range(len(kinds)), default=len(kinds)).astype(np.intp)
        return Timeline.of_steps(trajectory, name, SLIDER_MODES, steps)
    joints = sorted({known.rpartition(".")[0] for known in trajectory.gap if known.endswith(CORNERS)})
    if name in {known.rpartition(".")[0] for known in trajectory.gap if known.endswith("height_low_back_low")}:
        raise InputError(
            f"{name!r} is a rectangular slide in space; signature_timeline says which of its points, lines and "
            "planes touch, mode_timeline how one of its corners does."
        )
    there = ", ".join((*joints, *trajectory.gap.names)) or "none"
    raise InputError(f"There is no contact and no slider in a guide {name!r}. There are: {there}.")


def signature(touching: Corners) -> str:
    """The signature of a set of corners.

    Parameters
    ----------
    touching : (16,) bool, by gap, in the order of a `SpatialPrismaticClearance`

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

    InputError if a number is not positive.

    Parameters
    ----------
    height, width : h, w [m], > 0, of the slide
    clearance, side_clearance : c_h, c_w [m], > 0
        Across the height and across the width; `clearance` for both where omitted.

    >>> len(active_sets(height=0.08, width=0.06, clearance=1e-4))
    258
    """
    side = clearance if side_clearance is None else side_clearance
    for name, value in (("height", height), ("width", width), ("clearance", clearance), ("side_clearance", side)):
        require(0.0 < value < math.inf, f"active_sets: {name} must be a positive length in m", value)
    limits = 2 * clearance / width, 2 * side / height  # of |r_x|, by either inequality
    if math.isclose(*limits, rel_tol=1e-12):
        limits = limits[0], limits[0]
    # signs of displacement and rotation where the walls of one direction are touched, None where they are not
    tight = (None, *itertools.product(SIGNS, SIGNS))
    found = []
    for twist in SIGNS:
        for walls in itertools.product(tight, tight):
            # a twist of this sign exists at its limit where only it touches walls, below it otherwise; where none is
            # touched by the twist alone, any small one, and none, leaves room for the rest
            at = [limit for signs, limit in zip(walls, limits, strict=True) if signs == (0, 0)]
            below = [limit for signs, limit in zip(walls, limits, strict=True) if signs != (0, 0)]
            exists = not at or (twist != 0 and min(at) == max(at) and all(at[0] < limit for limit in below))
            if any(walls) and exists:
                # a twist about x moves a corner against y where it is high in z, and along z where it is high in y
                found.append([*_touched(walls[0], -twist), *_touched(walls[1], twist)])
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


@checked
def signature_timeline(trajectory: Trajectory, name: str) -> Timeline:
    """When a slide is free, and its kind of contact with the guide otherwise, by signature.

    A corner is closed in a step with a contact force other than an impact, and in a step with a gap within 1e-8 of its
    clearance at both ends, since a solver may load only two or three corners of a plane that rests on four. InputError
    for another name.

    Parameters
    ----------
    name : a `SpatialPrismaticClearance` of the run

    Returns
    -------
    Timeline
        Its modes are "free" and the signatures that occur, in order of occurrence.
    """
    if not all(f"{name}.{label}" in trajectory.gap for label in LABELS):
        first = f".{LABELS[0]}"
        known = sorted(gap.removesuffix(first) for gap in trajectory.gap if gap.endswith(first))
        raise InputError(f"There is no slide in a rectangular guide {name!r}. There are: {', '.join(known) or 'none'}.")
    parameters, columns = trajectory.manifest["parameters"], []
    for label in LABELS:
        own = f"{name}.side_clearance" if label.startswith("width") else f"{name}.clearance"
        clearance = parameters.get(own, parameters[f"{name}.clearance"])["value"]
        near = np.abs(trajectory.gap[f"{name}.{label}"]) <= CLOSED * clearance
        columns.append(closed_steps(trajectory, f"{name}.{label}") | (near[:-1] & near[1:]))
    words = [signature(step) for step in np.column_stack(columns)]
    modes = tuple(dict.fromkeys((FREE, *words)))
    return Timeline.of_steps(trajectory, name, modes, np.array([modes.index(word) for word in words], dtype=np.intp))


def _touched(signs: tuple[int, int] | None, twist: int) -> Iterator[bool]:
    """Whether each of the eight corners at two opposite walls touches: displacement, rotation and twist all move it
    towards the wall, or do not move it."""
    for wall, end, side in itertools.product((-1, 1), repeat=3):
        yield signs is not None and all(
            sign in (0, wall * towards) for sign, towards in zip((*signs, twist), (1, end, side), strict=True)
        )
