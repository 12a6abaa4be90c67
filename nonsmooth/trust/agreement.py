"""The verdict on a run by another run of the same mechanism: a finer one, or an accurate one of another method."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.verdict import ADVICE
from nonsmooth.trust.difference import GRID, Difference, Scale, difference, scale_of
from nonsmooth.trust.impulsive import impulsive_force

__all__ = ["Agreement", "percent", "verdict_against"]

#: horizon as a share of the time at which runs separate
PREDICTABLE = 0.8
#: times at most that a horizon is tried, each compared at instants of its own
PASSES = 4


class Agreement:
    """Compares runs of one mechanism and states the verdict."""

    def __init__(self, system: System, values: Array, accuracy: float) -> None:
        self.system, self.values, self.accuracy = system, values, accuracy
        self.radii = system.gyration(values)
        self.scale: Scale | None = None

    def difference(self, coarse: Trajectory, fine: Trajectory, until: float = math.inf) -> Difference:
        self.scale = scale_of(self.system, self.values, fine)
        return difference(coarse, fine, self.radii, self.scale, accuracy=self.accuracy, until=until)

    def rests(self, run: Trajectory) -> bool:
        """Whether the mechanism stays at rest, as the steppers choose wherever Coulomb's law allows it."""
        assert self.scale is not None
        moved = float(np.max(np.ptp(run.q.array, axis=0))) * max(1.0, float(np.max(self.radii)))
        return moved <= self.accuracy * self.scale.length

    def verdict(
        self, coarse: Trajectory, fine: Trajectory, found: Difference, remedy: str, signs: tuple[str, ...], *,
        sensitive: bool,
    ) -> Verdict:  # fmt: skip
        """The verdict on the run that has these signs of error; `sensitive`: the steps are so fine that only sensitive
        motions still separate."""
        impulsive = None if self.system.compliant else impulsive_force(coarse, fine)
        if found.within(self.accuracy) and not signs and impulsive is not None:
            text = f"{impulsive.text}; {self._words(found)}"
            return self._verdict("not accurate", text, found, -math.inf, (impulsive.text,))
        if found.within(self.accuracy) and not signs:
            return self._verdict("accurate", f"{self._words(found)}, to the end", found, math.inf, signs)
        start = float(fine.t[0])
        horizon = min(start + PREDICTABLE * (found.parted - start), found.lost)
        if start < horizon < math.inf and not signs:
            horizon, until = self._until(coarse, fine, horizon)
            words = self._words(until)
            if until.force <= self.accuracy and sensitive:
                text = f"trust until t = {horizon:.3g} s ({words}); later motion depends on round-off"
                return self._verdict("sensitive", text, until, horizon, signs, found.parted)
            if until.force <= self.accuracy:
                text = f"only until t = {horizon:.3g} s, {words}; {remedy}"
                return self._verdict("not accurate", text, found, horizon, signs, found.parted)
        text = "; ".join((*signs, f"{self._uncertain(found)}, {remedy}"))
        return self._verdict("not accurate", text, found, -math.inf, signs, found.parted)

    def _until(self, coarse: Trajectory, fine: Trajectory, horizon: float) -> tuple[float, Difference]:
        """A time up to which positions agree to the accuracy, the horizon or a little before, and the difference."""
        for _ in range(PASSES):
            until = self.difference(coarse, fine, horizon)
            if until.position <= self.accuracy:
                break
            horizon = until.lost - (horizon - float(fine.t[0])) / GRID  # the instant before
        return horizon, until

    def _verdict(
        self, kind: str, text: str, found: Difference, horizon: float, signs: tuple[str, ...], parted: float = math.inf
    ) -> Verdict:
        return Verdict(kind, text, found.position, found.force, horizon, parted, signs)

    def _words(self, found: Difference) -> str:
        assert self.scale is not None
        words = f"positions within {percent(found.position)} of {self.scale.name}"
        return words + (f", peak force within {percent(found.force)}" if self.system.nc else "")

    def _uncertain(self, found: Difference) -> str:
        assert self.scale is not None
        parts = []
        if found.position > self.accuracy:
            parts.append(f"positions uncertain by {percent(found.position)} of {self.scale.name}")
        if found.force > self.accuracy:
            parts.append(f"peak force uncertain by {percent(found.force)}")
        return " and ".join(parts) or "differences are small"


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def verdict_against(
    run: Trajectory, accurate: Trajectory, system: System, values: Array, *, accuracy: float, parted: float = math.inf
) -> Verdict:
    """The verdict on a run by an accurate run of the same mechanism, which may be one of another method.

    Parameters
    ----------
    accuracy : [-]
        As of `simulate`: of positions relative to the smallest clearance, and of peak forces to the largest.
    parted : [s]
        Time at which two accurate runs differ by a tenth of the clearance. A run that follows them as far is sensitive,
        not inaccurate. Infinite if they never do: then each difference is an error of the run.
    """
    if run.verdict.kind == "incomplete":
        return run.verdict
    compare = Agreement(system, values, accuracy)
    found = compare.difference(run, accurate)
    if run.verdict.signs:
        return replace(run.verdict, position=found.position, force=found.force, parted=found.parted)
    begin, signs = float(run.t[0]), accurate.verdict.signs
    follows = parted < math.inf and found.parted - begin >= PREDICTABLE * (parted - begin)
    return compare.verdict(run, accurate, found, ADVICE, signs, sensitive=follows)
