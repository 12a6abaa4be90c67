"""Runs without given steps: scheme and steps are chosen, the error is estimated, and a verdict is given.

Rigid contact is computed by the event-driven method of order five, since the motion between impacts is smooth; where
events are too frequent for it, by time stepping. Compliant contact is integrated with error control. In either case
the run is repeated with ever finer steps until two runs agree to the requested accuracy. The finer one is returned,
with their difference as the error estimate, whose reliability is measured in docs/trust.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import BudgetSpent, SimulationFailed, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.step.control import Landing, finer
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.unseen import unseen
from nonsmooth.trajectory.verdict import ADVICE
from nonsmooth.trust.agreement import Agreement, percent
from nonsmooth.trust.difference import GRID
from nonsmooth.trust.ladder import Climb, Run, Rung, climb, rungs
from nonsmooth.trust.uniqueness import undetermined_forces

__all__ = ["automatic", "checked"]

#: number of contacts from which events are too frequent, and time stepping is tried first
MANY = 24
#: longest steps (share of the run) of the second method, which shows whether contact forces are unique
WITNESSES = (1 / 4096, 1 / 16384)
#: share of the clearance, and of the peak force, beyond which two methods disagree
APART, FORCES_APART = 0.1, 0.05


def automatic(
    run: Run, system: System, values: Array, start: State, t_end: float, *, stepper: Any = None, accuracy: float
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

    Raises
    ------
    SimulationFailed
        If every scheme failed; with the trajectory that came furthest.
    """
    compare, length = Agreement(system, values, accuracy), t_end - start.t
    climbs: list[Climb] = []
    for one in _methods(system, stepper):
        climbs.append(climb(run, rungs(one, length), compare.difference, accuracy))
        if climbs[-1].settled or climbs[-1].late:
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
        # a motion that is lost between two instants at which runs are compared is not resolved
        coarse = best.extends(start.t) or best.difference.lost - start.t < 2.5 * length / GRID
        remedy = "give shorter steps, or a shorter run" if coarse else "finer steps did not help"
        signs = fine.verdict.signs
        verdict = compare.verdict(best.coarser, fine, best.difference, remedy, signs, sensitive=not coarse)
        if fine.jumps.size:
            verdict = _refused(verdict, climbs)
        if verdict.kind == "accurate" and stepper is None and system.dimension == 2:
            fine, verdict = _witnessed(run, compare, fine, fine, verdict)
    spent = next((one.failure for one in climbs if one.failure and _spends(one.failure)), None)
    if spent is not None and not best.agreed:
        fine, verdict = _limited(fine, verdict, spent, "a finer run")
    return _with(fine, verdict, {"accuracy": accuracy, "tried": tried})


def _spends(failure: SimulationFailed) -> bool:
    return isinstance(failure.cause, BudgetSpent)


def _limited(run: Trajectory, verdict: Verdict, failure: SimulationFailed, what: str) -> tuple[Trajectory, Verdict]:
    """Both with the budget that ended another run."""
    said = str(failure.cause).rstrip(".").replace("is spent", f"ended {what}")
    status, text = f"{run.status}; {said}", f"{verdict.text}; {said}"
    return dataclasses.replace(run, status=status), dataclasses.replace(verdict, text=text)


def _refused(verdict: Verdict, climbs: Sequence[Climb]) -> Verdict:
    """With the methods of which no run ended, as the event-driven one where there is no force."""
    refused = [
        f"{type(one.ladder[0].stepper).__name__} fails at t = {one.failure.trajectory.t[-1]:.6g} s"
        for one in climbs
        if one.best is None and one.failure is not None and not _spends(one.failure)
    ]
    return dataclasses.replace(verdict, text="; ".join([verdict.text, *refused]))


def _best(climbs: Sequence[Climb]) -> Climb:
    """The one that reached the accuracy, else the one with the least difference."""
    agreed = [one for one in climbs if one.agreed]
    whole = [one for one in climbs if one.best is not None]
    return min(
        agreed or whole or climbs, key=lambda one: math.inf if one.difference is None else one.difference.position
    )


def checked(run: Run, system: System, values: Array, first: Trajectory, rung: Rung, *, accuracy: float) -> Trajectory:
    """A run with user-defined steps (`rung`) with its verdict, from a finer run and a second method."""
    compare = Agreement(system, values, accuracy)
    fine_rung = Rung(rung.stepper, finer(rung.control), rung.most)
    tried = [f"{type(rung.stepper).__name__}, {fine_rung.control}"]
    try:
        fine = run(fine_rung)
    except SimulationFailed as failure:
        if not isinstance(failure.cause, SolverFailed):
            raise
        text = f"a finer run {'ends' if _spends(failure) else 'fails'} at t = {failure.trajectory.t[-1]:.6g} s"
        verdict = dataclasses.replace(first.verdict, kind="not accurate", text=text)
        if _spends(failure):
            first, verdict = _limited(first, verdict, failure, "the finer run")
        return _with(first, verdict, {"accuracy": accuracy, "tried": tried})
    found = compare.difference(first, fine)
    # a contact that the run itself misses is missed in its motion; other signs matter in the finer run only
    signs, others = unseen(first, system, values), fine.verdict.signs
    if signs:  # what both miss is told once
        again = unseen(fine, system, values)
        others = tuple(sign for sign in others if sign not in again)
    signs = tuple(dict.fromkeys((*signs, *others)))
    verdict = compare.verdict(first, fine, found, ADVICE, signs, sensitive=False)
    if verdict.kind == "accurate":
        first, verdict = _witnessed(run, compare, first, fine, verdict)
    return _with(first, verdict, {"accuracy": accuracy, "tried": tried})


def _methods(system: System, stepper: Any) -> list[Any]:
    """Steppers in the order in which they are tried."""
    if stepper is not None:
        return [stepper]
    if system.compliant:
        return [CompliantDae()]
    return [GaussQP(), EventDriven()] if system.nc > MANY else [EventDriven(), GaussQP()]


def _witnessed(
    run: Run, compare: Agreement, result: Trajectory, fine: Trajectory, verdict: Verdict
) -> tuple[Trajectory, Verdict]:
    """The result and its verdict after a second method: where friction is redundant it may converge to another motion
    than that of the finest run."""
    witness = _witness(compare.system, compare.values, fine)
    if not witness or compare.rests(fine):
        return result, verdict
    runs = []
    for rung in witness:
        try:
            runs.append(run(rung))
        except SimulationFailed as failure:
            if not isinstance(failure.cause, SolverFailed):
                raise
            if _spends(failure):
                return _limited(result, verdict, failure, "the run of a second method")
            return result, verdict  # the second method gives no information
        other = compare.difference(runs[-1], fine)
        if other.position <= APART and other.force <= FORCES_APART:
            return result, verdict
    own = compare.difference(runs[0], runs[1])
    if own.position > APART or own.force > FORCES_APART:
        return result, verdict
    assert compare.scale is not None
    apart = f"the motions differ by {percent(other.position)} of {compare.scale.name}"
    parts = [apart] if other.position > APART else []
    parts += [f"the peak forces by {percent(other.force)}"] if other.force > FORCES_APART else []
    name = type(witness[0].stepper).__name__
    text = f"{name} converges to another solution, {' and '.join(parts)}: contact forces are not unique"
    return result, dataclasses.replace(verdict, kind="methods disagree", text=text, horizon=-math.inf)


def _witness(system: System, values: Array, fine: Trajectory) -> list[Rung]:
    """Two runs by a second method if forces may be ambiguous (several contacts with friction); else none."""
    if system.compliant or system.nc < 2:
        return []
    if not bool((system.numeric.contact_law(values)[1] > 0.0).any()):
        return []
    length = float(fine.t[-1] - fine.t[0])
    if fine.manifest["settings"]["stepper"].startswith("GaussQP"):
        return rungs(EventDriven(), length)[:2]
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
            text = f"two runs have the same motion, but their peak forces differ by {percent(verdict.force)}"
        if explains or not undetermined.rare:
            text = f"{text}; {undetermined.text}"
        verdict = dataclasses.replace(verdict, kind=kind, text=text, not_unique=rows)
    return dataclasses.replace(run, verdict=verdict, manifest={**run.manifest, "accuracy": dict(how)})
