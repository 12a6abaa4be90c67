"""Runs without given steps: scheme and steps are chosen, the error is estimated, and a verdict is given.

Rigid contact is computed by the event-driven method of order five, or, where events are too frequent for it, by time
stepping; compliant contact is integrated with error control. The run is repeated with ever finer steps, each level a
rung, until two runs agree to the requested accuracy. The finer one is returned, with their difference as the error
estimate, whose reliability is measured in docs/trust.md.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import BudgetSpent, Interrupted, SimulationFailed, SolverFailed, TimeSpent
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.schemes.moreau_jean.settings import MoreauJean
from nonsmooth.step.control import (
    COARSE,
    QUARTER,
    ROWS,
    SHORTER,
    TENTH,
    ConstantStep,
    ErrorControl,
    Landing,
    StepControl,
    finer,
)
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.verdict import ADVICE, signs_between_rows
from nonsmooth.trust.agreement import GRID, Agreement, Difference, percent
from nonsmooth.trust.uniqueness import shocks_passed_on, undetermined_forces

#: tolerance and longest step (share of the run) of the first rung of a method with error control, and the factors of
#: each further rung. The longest step decreases as well: if it alone determined the steps, two runs with the same error
#: would agree
RTOL, LONGEST = COARSE, 1 / ROWS
#: absolute over relative tolerance; time within which impacts are simultaneous, [s] or share of the run
ABSOLUTE, TOGETHER, TOGETHER_SHARE = 1e-2, 1e-6, 1e-5
#: the same [s] of time stepping, in its first run; it decreases with the steps
TOGETHER_IN_STEPS = 2.5e-7
#: first step of time stepping (share of the run), and the factor of each further rung
FIRST = 1 / 500
#: the same of a solver that is called for each step, whose steps take milliseconds
FIRST_CALLED = 1 / 10
#: number of rungs; accuracy below which methods with error control have one more, to a tolerance of 1e-11
RUNGS, FINE = 6, 1e-5
#: least number of runs of time stepping: two runs with the longest steps may agree by chance
ASKED = 3
#: a run that takes more than this multiple of the least number of steps makes no progress and is abandoned
CRAWLING = 30
#: factor of the time for which a finer run is valid beyond which its error is not that of a sensitive motion
LONGER = 2.0
#: steps that a run with error control may take if it advances as fast as it began: as many as the finest time stepping
AFFORDED = 512_000
#: failures of rungs after which a method is abandoned, and the event-driven one in space, where forces of redundant
#: contacts are not unique: modes that are not found are not found with finer steps either
FAILURES, FAILURES_IN_SPACE = 2, 1
#: CPU seconds of all runs, with the next one as predicted, beyond which a motion whose runs separate exponentially is
#: not refined further: the next run would add no more time than the last one
SECONDS = 15.0
#: the same where each step calls a solver, of quadratic programs and of MPCC: dear as they are, steps of first order
#: would take minutes to the default accuracy
SECONDS_CALLED, SECONDS_MPCC = 14.0, 50.0
#: share of the run that other methods must have reached before time stepping of whole steps is tried, at last
HALFWAY = 0.5
#: number of contacts from which events are too frequent, and time stepping is tried first; of contacts without friction
#: that rebound, whose phases are solved fast, and whose impacts follow each other too fast for steps of first order
MANY, MANY_REBOUND = 24, 100
#: and in space of contacts with friction that rebound, whose forces are not unique
MANY_IN_SPACE = 8
#: longest steps (share of the run) of the second method, which shows whether contact forces are unique
WITNESSES = (1 / 4096, 1 / 16384)
#: share of the clearance, and of the peak force, beyond which two methods disagree
APART, FORCES_APART = 0.1, 0.05


@dataclass(frozen=True)
class Rung:
    """A scheme with its steps, and the number of steps at which it is abandoned, unless these advance so fast that it
    needs no more than `afforded`: as with a natural frequency that is high beside the length of the run, where others
    would take as many.

    Runs that are compared must not share their errors. Intervals between corners of loads, where steps end whatever
    their length, are divided into ever more parts; and at odd levels parameters and initial state are changed in their
    last digits, so that a motion that depends on round-off is another one.
    """

    stepper: Any
    control: StepControl
    most: int | None = None
    afforded: int = 0
    level: int = 0


#: runs a rung; raises SimulationFailed
Run = Callable[[Rung], Trajectory]
#: the difference of a run and a finer one, whose steps are given
Compare = Callable[[Trajectory, Trajectory, StepControl], Difference]


@dataclass(eq=False)
class Climb:
    """The result of a sequence of rungs."""

    ladder: Sequence[Rung] = ()
    #: the finest run that ended and the one before it; the difference of these two, and of the two before them
    best: Trajectory | None = None
    coarser: Trajectory | None = None
    difference: Difference | None = None
    before: Difference | None = None
    #: the last run that failed
    failure: SimulationFailed | None = None
    #: settings, steps and outcome of each run, for the manifest
    tried: list[str] = field(default_factory=list)
    #: CPU seconds of each run with its comparison
    costs: list[float] = field(default_factory=list)
    agreed: bool = False
    #: whether a finer run was left out for its cost, and whether it is that of a solver that is called for each step
    spent: bool = False
    called: bool = False

    def extends(self, start: float) -> bool:
        """Whether the last finer run was valid for a multiple of the time of the one before it, as where errors grow
        with a power of time. Those of sensitive motions grow exponentially: each refinement adds the same time."""
        if self.before is None or self.difference is None:
            return False
        return self.difference.lost - start > LONGER * (self.before.lost - start)

    def dear(self, run: Trajectory, stepper: Any, since: float) -> bool:
        """Note in `spent` and `called` whether a finer run would take too long if costs grow by the same factor, where
        runs without signs of error separate exponentially, or each step calls a solver."""
        if self.difference is None:
            return False
        separate = not run.verdict.signs and self.difference.rate and not self.extends(float(run.t[0]))
        if not separate and not calls_a_solver(stepper):
            return False
        before, last = self.costs[-2:]
        seconds = time.process_time() - since + last * max(1.0, last / before)
        self.spent = bool(separate and seconds > SECONDS)
        if calls_a_solver(stepper) and not self.spent:
            limit = SECONDS_MPCC if isinstance(stepper, GaussMPCC) else SECONDS_CALLED
            self.spent = self.called = seconds > limit
        return self.spent

    def stuck(self, accuracy: float) -> bool:
        """Whether positions agree, and peak forces differ by more than half as much as before."""
        now, before = self.difference, self.before
        return before is not None and now is not None and now.position <= accuracy < before.force < 2.0 * now.force

    @property
    def settled(self) -> bool:
        """Whether two runs agree, or show from when on the motion cannot be predicted."""
        return self.agreed or self.spent or (self.difference is not None and self.difference.parted < math.inf)

    @property
    def late(self) -> bool:
        """Whether the last run that failed did so since the time of the whole call is spent."""
        return self.failure is not None and isinstance(self.failure.cause, TimeSpent)


def calls_a_solver(stepper: Any) -> bool:
    """Whether each step calls a solver, which takes milliseconds."""
    return isinstance(stepper, GaussMPCC) or isinstance(stepper, GaussQP) and stepper.solver is not None


def rungs(stepper: Any, length: float, *, coarse: bool = False, accuracy: float = FINE) -> list[Rung]:
    """The rungs of a stepper for a run of this length [s]; `coarse`: few steps first where each calls a solver."""
    found = []
    called, by_error = coarse and calls_a_solver(stepper), isinstance(stepper, EventDriven | CompliantDae)
    first, most = (FIRST_CALLED if called else FIRST), CRAWLING / FIRST
    for level in range(RUNGS + 3 * called + (by_error and accuracy < FINE)):  # the last with steps as short
        control: StepControl
        if by_error:
            rtol, longest = RTOL * TENTH**level, length * LONGEST * SHORTER**level
            together = min(TOGETHER, TOGETHER_SHARE * length)
            control = ErrorControl(float(f"{rtol:.1g}"), float(f"{ABSOLUTE * rtol:.1g}"), together, longest)
            found.append(Rung(stepper, control, int(CRAWLING / LONGEST / SHORTER**level), AFFORDED, level))
        else:
            dt = length * first * QUARTER**level
            least = min(TOGETHER_IN_STEPS, length * FIRST / 100) * QUARTER**level  # an error that is not shared either
            control = Landing(least, dt) if isinstance(stepper, GaussQP | GaussMPCC) else ConstantStep(dt)
            found.append(Rung(stepper, control, int(max(most, CRAWLING / first / QUARTER**level)), level=level))
    return found


def climb(
    run: Run, ladder: Sequence[Rung], compared: Compare, accuracy: float, *,
    since: float = math.inf, patience: int = FAILURES,
) -> Climb:  # fmt: skip
    """Refine the steps until two runs agree to `accuracy` and the finer one shows no sign of error, or a finer one is
    of no use; `since` this CPU time [s] of the process, for so many failures. Interrupted on Ctrl-C, with the last
    complete run, or with the rows of the first so far."""
    found, failures, ended = Climb(ladder), 0, 0
    for rung in ladder:
        began = time.process_time()
        said = f"{type(rung.stepper).__name__}, {rung.control}"
        try:
            one = run(rung)
        except SimulationFailed as failure:
            if not isinstance(failure.cause, SolverFailed):  # finer steps are no remedy
                raise
            error: BaseException | None = failure
            while error is not None:  # frames of its tracebacks refer to it, to the mechanism and to the run
                error = error.with_traceback(None).__context__
            found.failure, failures = failure, failures + 1
            found.tried.append(f"{said}: failed at t = {failure.trajectory.t[-1]:.6g} s")
        except Interrupted as interruption:
            if found.best is None:
                raise
            message = f"{interruption} The previous run, of lower accuracy, is complete and returned."
            raise Interrupted(message, trajectory=found.best) from None
        else:
            found.tried.append(f"{said}: {len(one.t) - 1} steps")
            found.coarser, found.best = found.best, one
            found.before = found.difference
            found.difference = None if found.coarser is None else compared(found.coarser, one, rung.control)
            found.costs.append(time.process_time() - began)
            ended += 1
            by_error = isinstance(rung.control, ErrorControl)
            enough, difference = by_error or ended >= ASKED, found.difference
            if enough and difference is not None and difference.within(accuracy) and not one.verdict.signs:
                found.agreed = True
                break
            if found.dear(one, rung.stepper, since):
                break
            if found.stuck(accuracy) and undetermined_forces(one).normal.any():  # each run has forces of its own
                break
        if failures >= patience or found.late:
            break
    return found


def automatic(
    run: Run, system: System, values: Array, start: State, t_end: float, *, stepper: Any = None, accuracy: float
) -> Trajectory:  # fmt: skip
    """The motion to the requested accuracy, if it can be reached; SimulationFailed, of the scheme that came furthest,
    if each fails. `run` runs a rung of the ladder, of `stepper`, or of the schemes that suit the mechanism."""
    compare, length, since = Agreement(system, values, accuracy), t_end - start.t, time.process_time()
    methods = [stepper]
    if stepper is None and system.compliant:
        methods = [CompliantDae()]
    elif stepper is None:
        restitution, friction = system.elementwise.contact_law(values)[:2]
        rebounds, rubs, most = np.any(restitution > 0.0), np.any(friction > 0.0), MANY
        if rebounds and (not rubs or system.dimension == 3):
            most = MANY_IN_SPACE if rubs else MANY_REBOUND
        methods = [GaussQP(), EventDriven()] if system.nc > most else [EventDriven(), GaussQP()]
    climbs: list[Climb] = []
    for one in methods:
        once = system.dimension == 3 and stepper is None and isinstance(one, EventDriven)
        patience = FAILURES_IN_SPACE if once else FAILURES
        ladder = rungs(one, length, coarse=True, accuracy=accuracy)
        climbs.append(climb(run, ladder, compare.of_unique, accuracy, since=since, patience=patience))
        if climbs[-1].settled or climbs[-1].late:
            break
    reached = max((float(one.failure.trajectory.t[-1]) for one in climbs if one.failure), default=start.t)
    all_failed = not any(one.best or one.late for one in climbs)
    if stepper is None and not system.compliant and all_failed and reached - start.t > HALFWAY * length:
        # impulses of redundant contacts with friction are found by the program of a whole step where at all
        ladder = rungs(MoreauJean(), length, accuracy=accuracy)
        climbs.append(climb(run, ladder, compare.of_unique, accuracy, since=since))
    tried = [line for one in climbs for line in one.tried]
    # the one that reached the accuracy, else the one with the least difference
    complete = [one for one in climbs if one.agreed] or [one for one in climbs if one.best is not None] or climbs
    best = min(complete, key=lambda one: math.inf if one.difference is None else one.difference.position)
    if best.best is None:
        failure = max((one.failure for one in climbs if one.failure), key=lambda one: float(one.trajectory.t[-1]))
        try:
            raise failure
        finally:
            del failure, climbs, complete, best  # the traceback refers to this frame
    fine = best.best
    if best.coarser is None or best.difference is None:
        text = "no second run for comparison reached the end"
        verdict = replace(fine.verdict, kind="not accurate", text=text)
    else:
        # a motion that is lost between two instants at which runs are compared is not resolved
        coarse = best.called or best.extends(start.t) or best.difference.lost - start.t < 2.5 * length / GRID
        remedy = "give shorter steps, or a shorter run" if coarse else "finer steps did not help"
        if best.called:
            remedy = "a finer run by this solver would take minutes; give its steps, or leave the solver out"
        signs = fine.verdict.signs
        verdict = compare.verdict(best.coarser, fine, best.difference, remedy, signs, sensitive=not coarse)
        if fine.jumps.size:  # methods fail where there is no force, as the event-driven one
            failed = [
                f"{type(one.ladder[0].stepper).__name__} fails at t = {one.failure.trajectory.t[-1]:.6g} s"
                for one in climbs
                if one.best is None and one.failure is not None and not isinstance(one.failure.cause, BudgetSpent)
            ]
            verdict = replace(verdict, text="; ".join([verdict.text, *failed]))
        if verdict.kind == "accurate" and stepper is None and system.dimension == 2:
            fine, verdict = _with_second_method(run, best.ladder[0].stepper, compare, fine, fine, verdict)
    spent = next((one.failure for one in climbs if one.failure and isinstance(one.failure.cause, BudgetSpent)), None)
    if spent is not None and not best.agreed:
        fine, verdict = _limited(fine, verdict, spent, "a finer run")
    return _with_verdict(fine, verdict, accuracy, tried)


def _limited(run: Trajectory, verdict: Verdict, failure: SimulationFailed, what: str) -> tuple[Trajectory, Verdict]:
    """A run and its verdict with the budget that ended another run."""
    said = str(failure.cause).rstrip(".").replace("is spent", f"ended {what}")
    status, text = f"{run.status}; {said}", f"{verdict.text}; {said}"
    return replace(run, status=status), replace(verdict, text=text)


def checked(run: Run, system: System, values: Array, first: Trajectory, rung: Rung, *, accuracy: float) -> Trajectory:
    """A run with user-defined steps (`rung`) with its verdict, from a finer run and a second method."""
    compare = Agreement(system, values, accuracy)
    fine_rung = Rung(rung.stepper, finer(rung.control), rung.most, level=1)
    tried = [f"{type(rung.stepper).__name__}, {fine_rung.control}"]
    try:
        fine = run(fine_rung)
    except SimulationFailed as failure:
        if not isinstance(failure.cause, SolverFailed):
            raise
        spent, reached = isinstance(failure.cause, BudgetSpent), float(failure.trajectory.t[-1])
        text = f"a finer run {'ends' if spent else 'fails'} at t = {reached:.6g} s"
        verdict = replace(first.verdict, kind="not accurate", text=text)
        if spent:
            first, verdict = _limited(first, verdict, failure, "the finer run")
        return _with_verdict(first, verdict, accuracy, tried)
    found = compare.of_unique(first, fine, rung.control)
    # a contact that the run itself misses is missed in its motion; other signs matter in the finer run only
    signs, others = signs_between_rows(first, system, values), fine.verdict.signs
    if signs:  # what both miss is told once
        again = signs_between_rows(fine, system, values)
        others = tuple(sign for sign in others if sign not in again)
    signs = tuple(dict.fromkeys((*signs, *others)))
    verdict = compare.verdict(first, fine, found, ADVICE, signs, sensitive=False)
    if verdict.kind == "accurate":
        first, verdict = _with_second_method(run, rung.stepper, compare, first, fine, verdict)
    return _with_verdict(first, verdict, accuracy, tried)


def _with_second_method(
    run: Run, stepper: Any, compare: Agreement, result: Trajectory, fine: Trajectory, verdict: Verdict
) -> tuple[Trajectory, Verdict]:
    """The result and its verdict after a second method, which may find another motion where friction is redundant."""
    system, length = compare.system, float(fine.t[-1] - fine.t[0])
    if system.compliant or system.nc < 2 or not np.any(system.numeric.contact_law(compare.values)[1] > 0.0):
        return result, verdict  # forces are not ambiguous without several contacts with friction
    moved = float(np.max(np.ptp(fine.q.array, axis=0))) * max(1.0, float(np.max(compare.radii)))
    if moved <= compare.accuracy * compare.scale.length:  # at rest, as steppers choose where Coulomb's law allows it
        return result, verdict
    if isinstance(stepper, GaussQP):
        second = rungs(EventDriven(), length)[:2]
    else:
        second = [
            Rung(GaussQP(), Landing(min(1e-6, share * length / 100), share * length), int(50 / share), level=level)
            for level, share in enumerate(WITNESSES)
        ]
    runs = []
    for rung in second:
        try:
            runs.append(run(rung))
        except SimulationFailed as failure:
            if not isinstance(failure.cause, SolverFailed):
                raise
            if isinstance(failure.cause, BudgetSpent):
                return _limited(result, verdict, failure, "the run of a second method")
            return result, verdict  # the second method gives no information
        other = compare.difference(runs[-1], fine)
        if other.position <= APART and other.force <= FORCES_APART:
            return result, verdict
    own = compare.difference(runs[0], runs[1])
    if own.position > APART or own.force > FORCES_APART:
        return result, verdict
    apart = f"the motions differ by {percent(other.position)} of {compare.scale.name}"
    parts = [apart] if other.position > APART else []
    parts += [f"the peak forces by {percent(other.force)}"] if other.force > FORCES_APART else []
    name = type(second[0].stepper).__name__
    text = f"{name} converges to another solution, {' and '.join(parts)}: contact forces are not unique"
    return result, replace(verdict, kind="methods disagree", text=text, horizon=-math.inf)


def _with_verdict(run: Trajectory, verdict: Verdict, accuracy: float, tried: Sequence[str]) -> Trajectory:
    """The run with its verdict, to which belongs whether its contact forces are unique, and how it was found."""
    if passed_on := shocks_passed_on(run):
        verdict = replace(verdict, text=f"{verdict.text}; {passed_on}")
    undetermined = undetermined_forces(run)
    if undetermined.text:
        kind, text, rows = verdict.kind, verdict.text, int(np.count_nonzero(undetermined.forces))
        apart = kind == "not accurate" and not verdict.signs and verdict.position <= accuracy
        explains = apart and bool(undetermined.normal.any())
        if explains:
            kind = "methods disagree"
            text = f"two runs have the same motion, but their peak forces differ by {percent(verdict.force)}"
        if explains or not undetermined.rare:
            text = f"{text}; {undetermined.text}"
        verdict = replace(verdict, kind=kind, text=text, not_unique=rows)
    how = {"accuracy": accuracy, "tried": list(tried)}
    return replace(run, verdict=verdict, manifest={**run.manifest, "accuracy": how})
