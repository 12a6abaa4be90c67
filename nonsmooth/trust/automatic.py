"""Runs without given steps: scheme and steps are chosen, the error is estimated, and a verdict is given.

Rigid contact is computed by the event-driven method of order five, since the motion between impacts is smooth; where
it has no compiled form, or events are too frequent for it, by time stepping. Compliant contact is integrated by an
explicit method, and by an implicit one if it is too stiff. In either case the run is repeated with ever finer steps
until two runs agree to the requested accuracy. The finer one is returned, with their difference as the error estimate,
whose reliability is measured in docs/trust.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import BudgetSpent, SimulationFailed, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.solvers.initial_value import Dop853
from nonsmooth.step_control import Landing, StepControl
from nonsmooth.steppers.compliant import CompliantDae
from nonsmooth.steppers.event_driven import EventDriven
from nonsmooth.steppers.gauss_qp import GaussQP
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trust.difference import Difference, Scale, difference, scale_of
from nonsmooth.trust.ladder import Climb, Run, Rung, climb, finer, rungs
from nonsmooth.trust.uniqueness import undetermined_forces

__all__ = ["automatic", "checked"]

#: number of contacts from which events are too frequent, and time stepping is tried first
MANY = 24
#: longest steps (share of the run) of the second method, which shows whether contact forces are unique
WITNESSES = (1 / 4096, 1 / 16384)
#: share of the clearance, and of the peak force, beyond which two methods disagree
APART, FORCES_APART = 0.1, 0.05
#: horizon as a share of the time at which runs separate
PREDICTABLE = 0.8


class _Comparison:
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
        self, coarse: Trajectory, fine: Trajectory, found: Difference, remedy: str, *, sensitive: bool
    ) -> Verdict:
        """The verdict on either run; `sensitive`: the steps are so fine that only sensitive motions still separate."""
        signs = fine.verdict.signs
        if found.within(self.accuracy) and not signs:
            return self._verdict("accurate", f"{self._words(found)}, to the end", found, math.inf, signs)
        start = float(fine.t[0])
        horizon = min(start + PREDICTABLE * (found.parted - start), found.lost)
        if start < horizon < math.inf and not signs:
            until = self.difference(coarse, fine, horizon)
            words = self._words(until)
            if until.force <= self.accuracy and sensitive:
                text = f"trust until t = {horizon:.3g} s ({words}); later motion depends on round-off"
                return self._verdict("sensitive", text, until, horizon, signs, found.parted)
            if until.force <= self.accuracy:
                text = f"only until t = {horizon:.3g} s, {words}; {remedy}"
                return self._verdict("not accurate", text, found, horizon, signs, found.parted)
        text = "; ".join((*signs, f"{self._uncertain(found)}, {remedy}"))
        return self._verdict("not accurate", text, found, -math.inf, signs, found.parted)

    def _verdict(
        self, kind: str, text: str, found: Difference, horizon: float, signs: tuple[str, ...], parted: float = math.inf
    ) -> Verdict:
        return Verdict(kind, text, found.position, found.force, horizon, parted, signs)

    def _words(self, found: Difference) -> str:
        assert self.scale is not None
        words = f"positions within {_percent(found.position)} of {self.scale.name}"
        return words + (f", peak force within {_percent(found.force)}" if self.system.nc else "")

    def _uncertain(self, found: Difference) -> str:
        assert self.scale is not None
        parts = []
        if found.position > self.accuracy:
            parts.append(f"positions uncertain by {_percent(found.position)} of {self.scale.name}")
        if found.force > self.accuracy:
            parts.append(f"peak force uncertain by {_percent(found.force)}")
        return " and ".join(parts) or "differences are small"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def automatic(
    run: Run, system: System, values: Array, start: State, t_end: float, *, stepper: Any = None, accuracy: float,
    compiled: Callable[[Any, StepControl], bool],
) -> Trajectory:  # fmt: skip
    """The motion to the requested accuracy, if it can be reached.

    Parameters
    ----------
    run
        Runs a rung of the ladder.
    stepper
        The scheme whose steps are to be chosen; None to choose the scheme as well.
    accuracy : [-]
        Relative to the smallest clearance for positions, and to the peak force for forces.
    compiled
        Tells whether a scheme with such steps has a compiled loop.

    Raises
    ------
    SimulationFailed
        If every scheme failed; with the trajectory that came furthest.
    """
    compare, length = _Comparison(system, values, accuracy), t_end - start.t
    climbs: list[Climb] = []
    for ladder in _ladders(system, stepper, length, compiled):
        climbs.append(climb(run, ladder, compare.difference, accuracy))
        if climbs[-1].settled:
            break
    tried = [line for one in climbs for line in one.tried]
    best = _best(climbs)
    if best.best is None:
        failure = max((one.failure for one in climbs if one.failure), key=lambda one: float(one.trajectory.t[-1]))
        try:
            raise failure
        finally:
            del failure, climbs, best  # the traceback refers to this frame
    fine = best.best
    if best.coarser is None or best.difference is None:
        text = "no second run for comparison reached the end"
        verdict = dataclasses.replace(fine.verdict, kind="not accurate", text=text)
    else:
        verdict = compare.verdict(best.coarser, fine, best.difference, "finer steps did not help", sensitive=True)
        if verdict.kind == "accurate" and stepper is None and system.dimension == 2:
            verdict = _witnessed(run, compare, fine, verdict)
    spent = next((one.failure.cause for one in climbs if one.failure and _spends(one.failure)), None)
    if spent is not None and not best.agreed:
        said = str(spent).rstrip(".").replace("is spent", "ended a finer run")
        verdict = dataclasses.replace(verdict, text=f"{verdict.text}; {said}")
        fine = dataclasses.replace(fine, status=f"{fine.status}; {said}")
    return _with(fine, verdict, {"accuracy": accuracy, "tried": tried})


def _spends(failure: SimulationFailed) -> bool:
    return isinstance(failure.cause, BudgetSpent)


def _best(climbs: Sequence[Climb]) -> Climb:
    """The one that reached the accuracy, else the one with the least difference."""
    agreed = [one for one in climbs if one.agreed]
    whole = [one for one in climbs if one.best is not None]
    return min(
        agreed or whole or climbs, key=lambda one: math.inf if one.difference is None else one.difference.position
    )


def checked(run: Run, system: System, values: Array, first: Trajectory, rung: Rung, *, accuracy: float) -> Trajectory:
    """A run with user-defined steps (`rung`) with its verdict, from a finer run and a second method."""
    compare = _Comparison(system, values, accuracy)
    fine_rung = Rung(rung.stepper, finer(rung.control), rung.most)
    tried = [f"{type(rung.stepper).__name__}, {fine_rung.control}"]
    try:
        fine = run(fine_rung)
    except SimulationFailed as failure:
        if not isinstance(failure.cause, SolverFailed):
            raise
        text = f"a finer run fails at t = {failure.trajectory.t[-1]:.6g} s"
        text += f": {failure.cause}".rstrip(".") if _spends(failure) else ""
        verdict = dataclasses.replace(first.verdict, kind="not accurate", text=text)
        return _with(first, verdict, {"accuracy": accuracy, "tried": tried})
    found = compare.difference(first, fine)
    verdict = compare.verdict(first, fine, found, "shorten the step, or leave it out", sensitive=False)
    if verdict.kind == "accurate":
        verdict = _witnessed(run, compare, fine, verdict)
    return _with(first, verdict, {"accuracy": accuracy, "tried": tried})


def _ladders(
    system: System, stepper: Any, length: float, compiled: Callable[[Any, StepControl], bool]
) -> list[list[Rung]]:
    """Methods in the order in which they are tried."""

    def whole(*steppers: Any) -> list[list[Rung]]:
        return [rungs(one, length, compiled=compiled) for one in steppers]

    if stepper is not None:
        return whole(stepper)
    if system.compliant:
        return whole(CompliantDae(solver=Dop853()), CompliantDae())
    events = rungs(EventDriven(), length, compiled=compiled)
    if not compiled(EventDriven(), events[0].control):  # which has no other form
        return whole(GaussQP())
    return whole(GaussQP(), EventDriven()) if system.nc > MANY else [events, *whole(GaussQP())]


def _witnessed(run: Run, compare: _Comparison, fine: Trajectory, verdict: Verdict) -> Verdict:
    """The verdict after a second method: where friction is redundant it may converge to another motion."""
    witness = _witness(compare.system, compare.values, fine)
    if not witness or compare.rests(fine):
        return verdict
    runs = []
    for rung in witness:
        try:
            runs.append(run(rung))
        except SimulationFailed as failure:
            if not isinstance(failure.cause, SolverFailed):
                raise
            return verdict  # the second method gives no information
        other = compare.difference(runs[-1], fine)
        if other.position <= APART and other.force <= FORCES_APART:
            return verdict
    own = compare.difference(runs[0], runs[1])
    if own.position > APART or own.force > FORCES_APART:
        return verdict
    parts = [f"the motions differ by {_percent(other.position)} of the clearance"] if other.position > APART else []
    parts += [f"the peak forces by {_percent(other.force)}"] if other.force > FORCES_APART else []
    name = type(witness[0].stepper).__name__
    text = f"{name} converges to another solution, {' and '.join(parts)}: contact forces are not unique"
    return dataclasses.replace(verdict, kind="methods disagree", text=text, horizon=-math.inf)


def _witness(system: System, values: Array, fine: Trajectory) -> list[Rung]:
    """Two runs by a second method if forces may be ambiguous (several contacts with friction); else none."""
    if system.compliant or system.nc < 2:
        return []
    if not bool((system.numeric.contact_law(values)[1] > 0.0).any()):
        return []
    length = float(fine.t[-1] - fine.t[0])
    if fine.manifest["settings"]["stepper"].startswith("GaussQP"):
        if fine.manifest["engine"] != "native":  # event-driven steps have no other form
            return []
        return rungs(EventDriven(), length, compiled=lambda *_: False)[:2]
    controls = [Landing(min(1e-6, share * length / 100), share * length) for share in WITNESSES]
    return [Rung(GaussQP(), control, int(50 / share)) for share, control in zip(WITNESSES, controls, strict=True)]


def _with(run: Trajectory, verdict: Verdict, how: Mapping[str, Any]) -> Trajectory:
    undetermined = undetermined_forces(run)
    if undetermined.text:
        kind, text, rows = verdict.kind, verdict.text, int(np.count_nonzero(undetermined.forces))
        apart = kind == "not accurate" and not verdict.signs and verdict.position <= how["accuracy"]
        explains = apart and bool(undetermined.normal.any())
        if explains:
            kind = "methods disagree"
            text = f"two runs have the same motion, but their peak forces differ by {_percent(verdict.force)}"
        if explains or not undetermined.rare:
            text = f"{text}; {undetermined.text}"
        verdict = dataclasses.replace(verdict, kind=kind, text=text, not_unique=rows)
    return dataclasses.replace(run, verdict=verdict, manifest={**run.manifest, "accuracy": dict(how)})
