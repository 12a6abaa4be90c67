"""Cases: contact law, stepper and steps on a mechanism, the accurate solution of a case, and its cost at equal error.

The accurate solution is the exact one of the case, or its own contact law computed by another method with tolerances
near round-off: event-driven of order 8 for rigid contact, an explicit method of order 8 for compliant contact.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from nonsmooth import solvers, steppers
from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates, impulses
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.laws.compliant import Compliant, wrong_law
from nonsmooth.laws.friction.regularised import RegularisedCoulomb
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.quantities import in_si
from nonsmooth.run.arguments import check_stepper
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.settings import Called, kebab, shown
from nonsmooth.solvers.external import CasadiQP
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.control import ConstantStep, ErrorControl, Landing, StepControl, step_control
from nonsmooth.step.scheme import Stepper
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.verdict import ADVICE
from nonsmooth.trust import difference, scale_of, verdict_against

FIXED = 1e-9  # range of a coordinate, relative to the largest of the same unit, below which it is regarded as fixed
GRID = 2000  # points of the time grid on which motions are compared, in addition to their rows
#: positions relative to the smallest clearance, peak forces to the largest, as `simulate` has by default
ACCURACY = 1e-2
#: tolerances of an accurate run, and its least number of rows; tolerances of a second one over those of the first
RTOL, ATOL, ROWS, COARSER = 1e-11, 1e-13, 400, 100.0
DT_MIN = 1e-6  # simultaneity window and shortest flight [s] of an accurate rigid run whose case states none
#: what to do where the steps of a case are too long, as the commands say it too
SHORTEN = "give shorter steps as dt of the case, or of all by --dt-max"
TENTH, HALF = 0.1, 0.5  # factors of tolerances and of steps from one refinement to the next
#: coarsest relative tolerance, shortest step as a share of the run, and how often a setting is changed
COARSEST, SHORTEST, CHANGES = 1e-2, 1e-8, 24
#: time [s] of runs beyond which none is repeated, and of the first beyond which it is not even repeated once
REPEATED, COMPILING = 1.0, 10.0
SHORTER = 10  # constant steps per longest event-locating step: their order is one, and impacts are not located
#: of the shortest passage of a clearance, in a step that ends at impacts: errors are some 0.1 % of the clearance; and
#: number of steps beyond which they are not shortened
QUARTER, MOST = 0.25, 100_000
#: steps of an accurate run by landing
FINEST = 12_800
#: slip over which friction is regularised, over the fastest, and at least [m/s]
SLIP, SLOWEST = 1e-2, 1e-6


@dataclass(frozen=True, eq=False)
class Motion:
    """Coordinates and impulses as functions of time, of a run or an exact solution."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    contacts: tuple[str, ...]
    rows: Array  # times [s] of rows and jumps
    positions: Callable[[Array], Array]  # t -> (len(t), nq) [m] or [rad]
    impulses: Callable[[Array], Array]  # t -> (len(t), nc) [N s] since the start, impacts at t included

    @classmethod
    def of_run(cls, run: Trajectory) -> Self:
        """Interpolated between rows by `coordinates` and `impulses` of the diagnostics."""
        return cls(
            run.q.names, run.q.unit_list, run.gap.names, run.t,
            lambda t: coordinates(run, t), lambda t: impulses(run, t),
        )  # fmt: skip

    @classmethod
    def of_exact(cls, exact: Any, like: Trajectory) -> Self:
        """An exact solution with ``sample(t, side)`` and ``events``, with all columns of a run, in its order."""
        start = np.array([like.t[0]])
        if not (hasattr(exact, "sample") and hasattr(exact, "events")):
            raise InputError(
                f"An exact solution has sample(t, side) and events, got {type(exact).__name__}; "
                "call the problem's `exact` with the problem's arguments."
            )
        sample = exact.sample(start)
        missing = [name for name in like.q.names if name not in sample.q]
        missing += [name for name in like.gap.names if name not in sample.impulse]
        if missing:
            raise InputError(f"The exact solution does not give {', '.join(missing)}; leave it out.")

        def table(kind: str, names: tuple[str, ...], t: Array) -> Array:
            values = getattr(exact.sample(np.asarray(t, float)), kind)
            return np.array([values[name] for name in names]).reshape(len(names), len(t)).T

        return cls(
            like.q.names, like.q.unit_list, like.gap.names, np.asarray(exact.events, float),
            lambda t: table("q", like.q.names, t), lambda t: table("impulse", like.gap.names, t),
        )  # fmt: skip


def motion_times(grid: Array, *motions: Motion) -> Array:
    """The grid and the rows of all motions within it."""
    t = np.unique(np.concatenate([grid, *(motion.rows for motion in motions)]))
    return np.asarray(t[(t >= grid[0]) & (t <= grid[-1])])


def time_mean(values: Array, t: Array) -> Array:
    """``1/T int values dt`` of each column, by the trapezoid over the times t."""
    return np.asarray(np.diff(t) @ (values[1:] + values[:-1]) / 2 / (t[-1] - t[0]))


def mean_impulse_error(a: Motion, b: Motion, t: Array) -> Array:
    """``1/T int |P_a - P_b| dt`` of the normal impulse since the start, of each contact (nc,) [N s].

    By values between two times t: at the time of a jump itself one impulse may have jumped and the other not.
    """
    middle = (t[1:] + t[:-1]) / 2
    return np.asarray(np.diff(t) @ np.abs(a.impulses(middle) - b.impulses(middle)) / (t[-1] - t[0]))


def mean_deviation(a: Motion, b: Motion, t: Array) -> Array:
    """``1/T int |q_a - q_b| dt`` of each coordinate (nq,) [m] or [rad], by the trapezoid over the times t."""
    return time_mean(np.abs(a.positions(t) - b.positions(t)), t)


def scales(motion: Motion, t: Array) -> Array:
    """Range of each coordinate (nq,) [m] or [rad]; infinite if it does not move, so that it is ignored."""
    positions = motion.positions(t)
    extent = np.asarray(positions.max(axis=0) - positions.min(axis=0))
    for unit in set(motion.units):
        same = np.array([one == unit for one in motion.units])
        largest = float(extent[same].max())
        extent[same & ((extent <= FIXED * largest) | (largest < FIXED**2))] = np.inf
    return extent


def order(x: Array, values: Array, *, least: int = 2, last: int = 0, above: float = 0.0) -> float:
    """p of ``values ~ x^p``, by least squares through the `last` values above a bound; NaN for fewer than `least`."""
    known = np.flatnonzero(np.isfinite(values) & (values > above))
    if len(known) < least:
        return math.nan
    known = known[-last:]
    return round(float(np.polyfit(np.log(x[known]), np.log(values[known]), 1)[0]), 12)


def scaled_distance(a: Motion, b: Motion, t: Array, scale: Array) -> float:
    """The largest mean deviation of a coordinate over its scale [-]."""
    return float(np.max(mean_deviation(a, b, t) / scale, initial=0.0))


@dataclass(frozen=True)
class Case(metaclass=Called):
    """Contact law, stepper and step of a run.

    Parameters
    ----------
    label : its name in tables and figures
    contact : Rigid or Compliant
    stepper : a stepper that takes this contact
    dt : [s], Landing or ErrorControl
    parameters : mapping, optional, parameters to change, by name
    exact : optional, the exact solution of this case, an object with ``sample(t, side)`` and ``events``
    by_landing
        Whether the accurate solution is that of `GaussQP` by 12 800 steps that end at impacts, of rigid contact whose
        events the event-driven scheme does not resolve, as often in space with friction.
    """

    label: str
    contact: Rigid | Compliant
    stepper: Stepper
    dt: float | StepControl
    parameters: Mapping[str, float] | None = None
    exact: Any = None
    by_landing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label:
            raise InputError("A case needs a label, its name in tables and figures.")
        if not isinstance(self.contact, Rigid | Compliant):
            wanted = "contact must be Rigid(...) or Compliant(...)"
            raise InputError(f'Case "{self.label}": {wanted}, {wrong_law(self.contact)}.')
        object.__setattr__(self, "dt", in_si("dt", self.dt, "s"))
        step_control(self.dt)
        check_stepper(self.stepper)


def checked_cases(cases: Any, study: str) -> tuple[Case, ...]:
    """The cases of a study, at least one, with different labels."""
    if isinstance(cases, str) or not isinstance(cases, Iterable) or not all(isinstance(one, Case) for one in cases):
        raise InputError(f"cases must be a list of Case(...), got {shown(cases)}.")
    labels = [case.label for case in cases]
    if not labels:
        raise InputError(f"{study} needs at least one Case.")
    if len(set(labels)) < len(labels):
        raise InputError(f"Two cases have one label: {', '.join(labels)}; give each its own.")
    return tuple(cases)


@dataclass(frozen=True, eq=False)
class Trial:
    """A case on its mechanism, up to an end [s]."""

    case: Case
    system: System
    t_end: float

    def alike(self, other: Case) -> bool:
        """Whether another case has the same accurate solution."""
        kinds = [(one.contact, one.parameters, one.exact, one.by_landing) for one in (self.case, other)]
        return kinds[0] == kinds[1]

    def grid(self, points: int = GRID) -> Array:
        """Equidistant times from start to end [s]."""
        return np.linspace(self.system.start.t, self.t_end, points + 1)

    def run(self, dt: float | StepControl | None = None) -> Trajectory:
        dt = self.case.dt if dt is None else dt
        return simulate(self.system, self.case.stepper, t_end=self.t_end, dt=dt, parameters=self.case.parameters)

    def accurate(self) -> Accurate:
        """The exact solution of the case, or its own contact law with tolerances near round-off."""
        start, parameters, parted = self.system.start.t, self.case.parameters, math.inf
        control = step_control(self.case.dt, (start, self.t_end))
        dt_min = DT_MIN if isinstance(control, ConstantStep) else control.dt_min
        longest = max((self.t_end - start) / ROWS, dt_min)
        stepper: Any = CompliantDae() if isinstance(self.case.contact, Compliant) else EventDriven(order="dop853")
        steps: list[StepControl] = []
        if self.case.by_landing:
            stepper, shortest = GaussQP(), (self.t_end - start) / FINEST
            steps += [Landing(min(dt_min, one), one) for one in (shortest, 4 * shortest)]
        else:
            steps += [ErrorControl(looser * RTOL, looser * ATOL, dt_min, longest) for looser in (1.0, COARSER)]
        fine = simulate(self.system, stepper, t_end=self.t_end, dt=steps[0], parameters=parameters)
        values = self.system.parameter_vector(parameters)
        try:
            coarse = simulate(self.system, stepper, t_end=self.t_end, dt=steps[1], parameters=parameters)
        except SimulationFailed as failure:
            parted = float(failure.trajectory.t[-1])
        else:
            scale = scale_of(self.system, values, fine)
            parted = difference(coarse, fine, self.system.gyration(values), scale, accuracy=ACCURACY).parted
        exact = self.case.exact
        return Accurate(self, Motion.of_run(fine) if exact is None else Motion.of_exact(exact, fine), fine, parted)


@dataclass(frozen=True, eq=False)
class Accurate:
    """The exact or accurate solution of a case, and of all cases alike.

    From `parted` [s] on a run with coarser tolerances differs by a tenth of the clearance: motion depends on round-off.
    """

    trial: Trial
    motion: Motion  # the exact solution if there is one, else that of the run
    run: Trajectory  # with tolerances near round-off, by another method
    parted: float = math.inf

    @cached_property
    def scale(self) -> Array:
        """Range of each coordinate (nq,)."""
        return scales(self.motion, self.trial.grid())

    def error(self, run: Trajectory) -> float:
        """Distance of a run to the solution at its own rows [-]."""
        return scaled_distance(Motion.of_run(run), self.motion, run.t, self.scale)

    def verdict(self, run: Trajectory) -> Verdict:
        system = self.trial.system
        values = system.parameter_vector(self.trial.case.parameters)
        found = verdict_against(run, self.run, system, values, accuracy=ACCURACY, parted=self.parted)
        return replace(found, text=found.text.replace(ADVICE, SHORTEN))


def early_end(failure: SimulationFailed) -> str:
    """The end of a run that fails, as the reason why its case is left out."""
    return f"ends at t = {failure.trajectory.t[-1]:.6g} s: {failure}"


@dataclass(frozen=True)
class Cost:
    """Cost of a run: own `error` [-], least `wall` time [s] of its repetitions, evaluations with the programs solved.

    The defaults are those of a target that was not reached.
    """

    setting: str = "not reached"
    error: float = math.nan
    wall: float = math.nan
    steps: int = 0
    evaluations: int = 0


def evaluations(run: Trajectory) -> int:
    return int(run.counts.get("evaluations", 0)) + int(run.counts.get("solves", 0))


def cost_of(trial: Trial, setting: StepControl, first: Trajectory, error: float, repeats: int) -> Cost:
    """Cost of a run: the least of some repetitions, the first of which is given."""
    wall = total = first.wall_seconds
    for i in range(1, repeats):
        # the first of all runs compiles; later ones are repeated as long as that is quick
        if total > (COMPILING if i == 1 else REPEATED):
            break
        again = trial.run(setting).wall_seconds
        wall, total = min(wall, again), total + again
    return Cost(repr(setting), error, wall, len(first.t) - 1, evaluations(first))


def refined(dt: StepControl, level: int, length: float) -> StepControl | None:
    """A step control with tolerances finer by `level` powers of ten, or steps by powers of two; None beyond useful limits.

    ``dt_min`` of `Landing` changes with ``dt_max``, its ``error`` with the third power. With coarser tolerances the
    longest step increases as well.
    """  # noqa: E501
    if isinstance(dt, ErrorControl):
        dt = dt.over(0.0, length)
        rtol = min(_rounded(dt.rtol * TENTH**level), COARSEST)
        longest = min(_rounded(dt.dt_max * HALF ** min(level, 0)), max(length / 2, dt.dt_max))
        finer = _rounded(dt.rtol * TENTH ** (level + 1)) < COARSEST or dt.dt_max * HALF ** (level + 1) < length / 2
        if rtol < RTOL or level < 0 and not finer:
            return None
        return replace(dt, rtol=rtol, atol=_rounded(dt.atol * rtol / dt.rtol), dt_max=longest)
    factor = HALF**level
    longest = (dt.dt if isinstance(dt, ConstantStep) else dt.dt_max) * factor
    if not SHORTEST * length <= longest <= length / 2:
        return None
    if isinstance(dt, ConstantStep):
        return ConstantStep(longest)
    error = None if dt.error is None else dt.error * factor**3
    return Landing(min(dt.dt_min * factor, longest), longest, error)


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def coarsest(trial: Trial, accurate: Accurate, target: float, patience: float) -> tuple[StepControl, Trajectory] | None:
    """The coarsest setting, on the way from that of the case, whose error meets the target, and its run, if there is one.

    A setting that meets it is made coarser until one does not, or needs more evaluations; one that does not, finer until
    one does, or until a run takes longer than `patience` [s].
    """  # noqa: E501
    dt, length = step_control(trial.case.dt), trial.t_end - trial.system.start.t
    found: tuple[StepControl, Trajectory] | None = None
    coarser = False
    for change in range(CHANGES):
        setting = refined(dt, -change if coarser else change, length)
        if setting is None:
            return found
        run: Trajectory | None = None
        with contextlib.suppress(SimulationFailed):
            run = trial.run(setting)
        met = (setting, run) if run is not None and accurate.error(run) <= target else None
        if change == 0:
            coarser = met is not None
        if coarser and found is not None and (met is None or evaluations(met[1]) > evaluations(found[1])):
            return found
        found = met or found
        slow = change > 0 and run is not None and run.wall_seconds > patience
        if not coarser and (found is not None or slow):
            return found
    return found


def scheme(word: str) -> Any:
    """The rigid stepper of ``STEPPER`` or ``STEPPER:SOLVER``, names as on the command line."""
    name, colon, solver = word.partition(":")
    made = steppers.by_name(name)
    if made.contact is not Rigid:
        known = [one for one in steppers.names() if steppers.by_name(one).contact is Rigid]
        raise InputError(f"{word}: {name} is for compliant contact; schemes of rigid contact are {', '.join(known)}.")
    return made(solver=solvers.by_name(solver)()) if colon else made()


def name_of(stepper: Any) -> str:
    """Stepper and solver as on the command line; of the default solver the stepper alone."""
    solver = stepper.solver.plugin if isinstance(stepper.solver, CasadiQP) else type(stepper.solver).__name__
    return kebab(type(stepper).__name__) + ("" if stepper.solver is None else f":{kebab(solver)}")


def rigid_cases(like: Case, rigid: Iterable[Any]) -> list[Case]:
    """A rigid case by other schemes: with its bounds for event-locating steps, its tolerances, or constant steps."""
    if isinstance(rigid, str) or not isinstance(rigid, Iterable):
        raise InputError(f'rigid must be a list of schemes, as ["gauss-mpcc:ipopt-mpcc"], got {shown(rigid)}.')
    found = []
    for one in rigid:
        stepper = scheme(one) if isinstance(one, str) else one
        if getattr(stepper, "contact", None) is not Rigid:
            raise InputError(f"rigid: a scheme of rigid contact is a name or a stepper, got {shown(one)}.")
        bounds = like.dt
        if not isinstance(like.contact, Rigid) or not isinstance(bounds, ErrorControl):
            raise InputError("rigid needs a first case with Rigid contact and ErrorControl, which states the bounds.")
        dt: StepControl = ConstantStep(bounds.dt_max / SHORTER)
        if isinstance(stepper, EventDriven):
            dt = bounds
        elif isinstance(stepper, GaussQP | GaussMPCC):
            dt = Landing(bounds.dt_min, bounds.dt_max)
        found.append(replace(like, label=f"rigid, {name_of(stepper).replace(':', ', ')}", stepper=stepper, dt=dt))
    return found


def regularised(like: Case, system: System, run: Trajectory) -> RegularisedCoulomb:
    """Coulomb's law of a rigid case, regularised over a hundredth of the fastest slip of its run."""
    m = Mechanism(system, system.parameter_vector(like.parameters), 1.0)
    rows = zip(run.t, run.q.array, run.v.array, strict=True)
    fastest = max(float(np.max(m.length(m.at(t, q).W_T.T @ v), initial=0.0)) for t, q, v in rows)
    assert isinstance(like.contact, Rigid)
    return RegularisedCoulomb(friction=like.contact.friction, slip_speed=float(f"{max(SLIP * fastest, SLOWEST):.1g}"))


def landing_case(like: Case, system: System, run: Trajectory, t_end: float) -> Case:
    """A rigid case by `GaussQP` with `Landing` steps, in which no joint moves by more than a quarter of its clearance.

    Speeds are those of a run of the case, whose longest step is not exceeded; at most `MOST` steps make the run.
    """
    (case,) = rigid_cases(like, [GaussQP()])
    m = Mechanism(system, system.parameter_vector(like.parameters), 1.0)
    rows = zip(run.t, run.q.array, run.v.array, strict=True)
    passages = max(np.max(np.abs(m.at(t, q).W_N).T @ np.abs(v) / m.scale, initial=0.0) for t, q, v in rows)
    assert isinstance(case.dt, Landing)
    quarter = QUARTER / passages if passages > 0.0 else math.inf
    longest = float(min(case.dt.dt_max, max(quarter, (t_end - system.start.t) / MOST)))
    return replace(case, dt=Landing(min(case.dt.dt_min, longest), longest))
