"""Contact modes of a joint over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.contacts import _touching
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

__all__ = ["CONTACT_MODES", "SLIDER_MODES", "Timeline", "mode_timeline"]

CONTACT_MODES = ("open", "closed", "stick", "slip")
SLIDER_MODES = ("free", "one-sided", "crosswise", "face", "other")
#: corners of a slider in a guide, in the order of the digits below
CORNERS = ("left_lower", "left_upper", "right_lower", "right_upper")
CROSSWISE = ((0, 3), (1, 2))
FACE = ((0, 2), (1, 3))
#: values of a trajectory's modes with friction
STICKING, SLIPPING = 2, 3


@dataclass(frozen=True, eq=False, repr=False)
class Timeline:
    """Time intervals of one mode each, in order, without gaps.

    Parameters
    ----------
    name
        Of the contact, or of the joint.
    modes
        All possible modes.
    start, end
        Of the intervals (n,) [s].
    mode
        Of each interval (n,), an index of `modes`.
    """

    name: str
    modes: tuple[str, ...]
    start: Array
    end: Array
    mode: NDArray[np.intp]

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


def mode_timeline(trajectory: Trajectory, name: str) -> Timeline:
    """When a contact is open, closed (without friction), sticking or slipping; or how a slider touches its guide.

    A slider in a guide with clearance is free, or touches at one corner (one-sided), at two opposite corners of
    different sides (crosswise), or with both corners of a side (face); further contacts of overlapping or jammed
    sliders are other.

    Surfaces are in contact in a step with a contact force other than an impact; impacts have no duration and are not
    modes.

    Parameters
    ----------
    name
        A contact of the run, ``"guide.left_lower"``, or a `PrismaticClearance`, ``"guide"``.

    Raises
    ------
    InputError
        For another name.

    >>> from nonsmooth import GaussQP, Landing, simulate
    >>> from nonsmooth_problems import slider_rod
    >>> run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    >>> mode_timeline(run, "guide")
    <Timeline of guide: 2 intervals; free 7.14 %, face 92.9 %>
    """
    modes: tuple[str, ...]
    if name in trajectory.gap:
        steps, modes = _contact_steps(trajectory, name), CONTACT_MODES
    elif all(f"{name}.{corner}" in trajectory.gap for corner in CORNERS):
        steps, modes = _slider_steps(trajectory, name), SLIDER_MODES
    else:
        joints = sorted({known.rpartition(".")[0] for known in trajectory.gap if known.endswith(CORNERS)})
        slides = {known.rpartition(".")[0] for known in trajectory.gap if known.endswith("height_low_back_low")}
        if name in slides:
            raise InputError(
                f"{name!r} is a rectangular slide in space; signature_timeline says which of its points, lines and "
                "planes touch, mode_timeline how one of its corners does."
            )
        raise InputError(
            f"There is no contact and no slider in a guide {name!r}. "
            f"There are: {', '.join((*joints, *trajectory.gap.names)) or 'none'}."
        )
    if not len(steps):
        none = np.zeros(0)
        return Timeline(name, modes, none, none, steps)
    first = np.concatenate([[0], np.flatnonzero(np.diff(steps)) + 1])
    t = trajectory.t
    return Timeline(name, modes, t[first], np.append(t[first[1:]], t[-1]), steps[first])


def _contact_steps(trajectory: Trajectory, contact: str) -> NDArray[np.intp]:
    """Mode of a contact in each step (n - 1,)."""
    rows = trajectory.mode[contact].astype(int)
    # with events a row has the mode of the step to come, else that of the step which ends in it
    stepper = str(trajectory.manifest.get("settings", {}).get("stepper", ""))
    known, other = (rows[:-1], rows[1:]) if stepper.startswith("EventDriven") else (rows[1:], rows[:-1])
    known = np.where(np.isin(known, (STICKING, SLIPPING)), known, other)  # row 0 does not know its mode
    friction = np.isin(known, (STICKING, SLIPPING))
    return np.where(_touching(trajectory, contact), np.where(friction, known, 1), 0)


def _slider_steps(trajectory: Trajectory, joint: str) -> NDArray[np.intp]:
    """Mode of a slider in each step (n - 1,)."""
    touching = np.array([_touching(trajectory, f"{joint}.{corner}") for corner in CORNERS])
    count = touching.sum(axis=0)

    def both(pairs: tuple[tuple[int, int], ...]) -> NDArray[np.bool_]:
        return np.asarray((count == 2) & np.any([touching[i] & touching[j] for i, j in pairs], axis=0))

    free, one_sided, crosswise, face, other = range(len(SLIDER_MODES))
    return np.select(
        [count == 0, count == 1, both(CROSSWISE), both(FACE)], [free, one_sided, crosswise, face], default=other
    ).astype(np.intp)
