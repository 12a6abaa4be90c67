"""Whether an event-driven run makes progress, and one sentence on why where it does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.step_control import ErrorControl
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.steppers.motion import Motion
from nonsmooth.steppers.phases import Phase, Point, Trial
from nonsmooth.tolerances.event_driven import CRAWL, CRAWLED, CROWDED, SMOOTH, STALLED

__all__ = ["Progress", "not_smooth"]

#: share of the largest coordinate [m] below which the clearance of oscillating contacts is too small to be resolved
MINUTE = 1e-6
#: share of its error below which half a step must be, if errors are not round-off, and the least error examined
FALLS, LIMITING = 0.25, 0.05
#: steps within whose change of velocity a load is searched for a jump, and the share of the force that is one
NEAR, JUMP = 10.0, 0.1


class Progress:
    """Monitors the sizes of steps."""

    def __init__(self, motion: Motion, control: ErrorControl) -> None:
        self.motion, self.m, self.control = motion, motion.m, control
        self._crawled, self._steps, self._since = 0, 0, np.inf
        units = motion.m.system.names.q_units
        self._lengths = np.array([unit == "m" for unit in units], dtype=bool)

    def held(self) -> tuple[float, float, float]:
        """Data on the step sizes so far, for a checkpoint."""
        return float(self._crawled), float(self._steps), float(self._since)

    def hold(self, held: Sequence[float]) -> None:
        """Go on from a checkpoint."""
        crawled, steps, self._since = (float(number) for number in held)
        self._crawled, self._steps = int(crawled), int(steps)

    def of_events(self, stall: Array, point: Point, event: bool) -> Array:
        """The time since which events are counted, and their count, after one more step; SolverFailed if too many."""
        since, count = stall
        if point.t - since > self.control.dt_min:
            since, count = point.t, 0.0
        if count >= STALLED:
            smooth = f"{STALLED / SMOOTH:g} steps"
            advice = "Larger rtol and atol, or smoother loads, permit longer steps."
            if self.m.system.nc:
                smooth = f"{STALLED} events, or {smooth},"
                advice = f"A larger dt_min ends accumulations, a larger simultaneity merges impacts. {advice}"
            lost = self.m.lost_rank(point.t, point.q)
            smooth += f" within dt_min = {self.control.dt_min:g} s"
            raise SolverFailed(f"no progress: {smooth}.{lost or ' ' + advice}")
        return np.array([since, count + (1.0 if event else SMOOTH)])

    def of_length(self, trial: Trial, phase: Phase) -> None:
        """Raise SolverFailed if steps remain far too short for a known reason."""
        self._refuse_to_crawl(trial)
        start = trial.start.t
        if start < self._since or self._steps == CRAWLED:
            if start > self._since and (start - self._since) / CRAWLED < self.control.dt_max / CROWDED:
                self._explain(trial, phase, (start - self._since) / CRAWLED)
            self._steps, self._since = 0, start
        self._steps += 1

    def _refuse_to_crawl(self, trial: Trial) -> None:
        self._crawled = self._crawled + 1 if trial.dt < CRAWL * self.control.dt_min else 0
        if self._crawled < CRAWLED or self._crawled % CRAWLED:
            return
        lost = self.m.lost_rank(trial.start.t, trial.start.q)
        if lost:
            raise SolverFailed(
                f"no progress: {CRAWLED} steps in a row were shorter than {CRAWL:g} dt_min, the last "
                f"{trial.dt:.3g} s.{lost}"
            )

    def _explain(self, trial: Trial, phase: Phase, mean: float) -> None:
        """Causes of many short steps: the oscillation of a contact in a very small clearance, or tolerances below
        round-off."""
        control, start = self.control, trial.start
        many = f"the last {CRAWLED} steps had a mean size of {mean:.2g} s, with dt_max = {control.dt_max:g} s"
        largest = float(np.max(np.abs(start.q[self._lengths]), initial=0.0))
        minute = [i for i in phase.closed if self.m.scale[i] < MINUTE * largest and self.m.restitution[i] < 1.0]
        if minute:
            i = min(minute, key=lambda k: float(self.m.scale[k]))
            raise SolverFailed(
                f'{many}: they resolve contact "{self.m.system.contact_names[i]}", which oscillates in its clearance '
                f"of {self.m.scale[i]:.3g} m, with coordinates of {largest:.3g} m; use a larger clearance or "
                "friction, or take the ideal joint."
            )
        if trial.slopes is None or trial.error < LIMITING or start.t + trial.dt / 2 == start.t:
            return
        half = self.motion.advance(start, start.t + trial.dt / 2, phase)
        if half.error > FALLS * trial.error:
            raise SolverFailed(f"{many}{not_smooth(self.m, control, start.t, start.q, start.v, mean)}")


def not_smooth(m: Mechanism, control: ErrorControl, t: float, q: Array, v: Array, dt: float) -> str:
    """Why steps of half the size have errors as large: a load that jumps within the velocities of some steps of length
    `dt` [s], as dry friction by sign() does, or tolerances below round-off. The end of a sentence."""
    m.at(t, q)
    change = NEAR * dt * m.metric.change(m.force(t, q, v))
    ahead, behind = m.force(t, q, v + change), m.force(t, q, v - change)
    jump = np.abs(ahead - behind)
    if np.max(jump, initial=0.0) > JUMP * np.max(np.abs([ahead, behind]), initial=0.0):
        i = int(np.argmax(jump))
        return (
            f': the force of a load along "{m.system.v_names[i]}" jumps by {jump[i]:.3g} where this velocity is '
            f"{v[i]:.1g}, as that of dry friction by sign() does. Let it change over a range of velocities, or take a "
            "contact with friction, which sticks."
        )
    return (
        f", and steps of half the size have errors as large: rtol = {control.rtol:g} and atol = {control.atol:g} are "
        "below the round-off of this mechanism; increase them."
    )
