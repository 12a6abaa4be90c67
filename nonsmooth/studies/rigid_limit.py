"""Compliant contact: the card of a normal law in a free impact, and the convergence to rigid contact with stiffness."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array, Evaluator
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.laws.base import Limit
from nonsmooth.laws.compliant import Compliant, NormalLaw
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, handing_over, telling, whom
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.settings import is_number, require
from nonsmooth.step.control import ErrorControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import built, check_build, mapping, numbers
from nonsmooth.studies.beyond import RATE, complete, difference_of, horizon_of, remarks_of, statistics_of
from nonsmooth.studies.cases import Case, Trial, early_end, order
from nonsmooth.studies.compare import measured
from nonsmooth.studies.files import Result, doubts, variable
from nonsmooth.studies.long_run import Statistics
from nonsmooth.studies.shown import chosen, numbers_of
from nonsmooth.trajectory import Verdict
from nonsmooth.trajectory.dataset import texts

REQUESTED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
LONGEST = 200.0  # duration of a contact, in units of depth scale / speed, above which there is no separation
SAMPLES = 400
RELATIVE, ABSOLUTE = 1e-11, 1e-13
#: tolerances of the compliant runs: errors far below the difference between rigid and compliant contact
CONTROL = ErrorControl(1e-9, 1e-11, 1e-6, 1e-3)
#: number of a run -> unit and meaning
COLUMNS = {
    "distance": ("-", "worst coordinate's mean deviation from rigid contact, over its range"),
    "first_impulse": ("N s", "impulse of the first impact, without that of finite forces"),
    "impulse_error": ("-", "relative, against the rigid impulse"),
    "penetration": ("m", "deepest overlap"),
    "wall": ("s", "time of the run"),
    "steps": ("-", "steps of the run"),
    "evaluations": ("-", "evaluations of the equations of motion"),
    "own_error": ("-", "distance to an accurate solution with the same stiffness"),
}
COUNTS = ("steps", "evaluations")  # those of the numbers that are counts
FITTED = 3  # points, from the stiffest down, through which orders are fitted


@dataclass(frozen=True, eq=False)
class FreeImpact:
    """A mass against a wall, without other forces: ``m delta'' = -F(delta, delta')`` from the speed of approach."""

    t: Array = field(repr=False)
    depth: Array = field(repr=False)
    rate: Array = field(repr=False)
    force: Array = field(repr=False)
    restitution: float  # 0 if the surfaces do not separate
    #: elastic energy at the largest depth over m v^2, 1/2 without damping: ``K depth^(n+1) / ((n+1) m v^2)``
    penetration_number: float

    @property
    def peak_depth(self) -> float:
        return float(self.depth.max())

    @property
    def peak_force(self) -> float:
        return float(self.force.max())

    @property
    def duration(self) -> float:
        return float(self.t[-1])


@dataclass(frozen=True)
class Validity:
    """A limit of the law and the value that the impact has of its quantity."""

    limit: Limit
    value: float

    @property
    def kept(self) -> bool:
        return not self.limit.exceeded(self.value)


@dataclass(frozen=True, eq=False)
class LawCard:
    """Behaviour of a law in a free impact; `str` of it is a table, `nonsmooth.plots.law_card` a figure.

    Parameters
    ----------
    law
    speed : of approach [m/s]
    mass : effective mass [kg]
    impact : with the law's own restitution
    requested, delivered, penetration_number : [-], for each requested restitution; empty for a law without restitution
    validity : the law's limits, compared with this impact
    """

    law: NormalLaw
    speed: float
    mass: float
    impact: FreeImpact
    requested: Array
    delivered: Array
    penetration_number: Array
    validity: tuple[Validity, ...]

    def __str__(self) -> str:
        impact = self.impact
        lines = [
            f"{type(self.law).__name__}: {self.mass:g} kg at {self.speed:g} m/s",
            f"  peak depth {impact.peak_depth:.4g} m, peak force {impact.peak_force:.4g} N, "
            f"duration {impact.duration:.4g} s, restitution {impact.restitution:.4f}",
        ]
        for each in self.validity:
            word = "kept" if each.kept else f"NOT kept ({each.limit.reason})"
            lines.append(f"  {each.limit}: {each.value:.4g}, {word}")
        if self.requested.size:
            lines.append("  requested  delivered  penetration number")
            rows = zip(self.requested, self.delivered, self.penetration_number, strict=True)
            lines.extend(f"  {e:9.2f}  {delivered:9.4f}  {number:18.5f}" for e, delivered, number in rows)
        return "\n".join(lines)


def free_impact(
    law: NormalLaw, *, speed: float, mass: float, geometry: Mapping[str, float] | None = None
) -> FreeImpact:
    """Simulate one free impact.

    Integrated with DOP853 in units of the law's own depth, relative tolerance 1e-11. InputError for missing geometry,
    or numbers that are not positive.

    Parameters
    ----------
    law : NormalLaw
    speed : [m/s], > 0
    mass : [kg], > 0, effective mass of the contact
    geometry : geometric quantities that the law requires, by name [m]: ``{"clearance": 0.5e-3, ...}``

    >>> from nonsmooth.laws import HuntCrossley
    >>> round(free_impact(HuntCrossley(stiffness=1e8, restitution=0.5), speed=1.0, mass=1.0).restitution, 4)
    0.663
    """
    known = _checked(law, speed, mass, geometry)
    return _Wall(law, tuple(known)).hit(known, speed, mass)


def law_card(
    law: NormalLaw, *, speed: float, mass: float, geometry: Mapping[str, float] | None = None,
    requested: tuple[float, ...] = REQUESTED,
) -> LawCard:  # fmt: skip
    """Simulate free impacts: with the law as given, and with the requested restitutions.

    See `free_impact` for the other parameters.

    Parameters
    ----------
    requested : restitutions, 0 < e <= 1; unused for a law that has none

    Examples
    --------
    >>> from nonsmooth.laws import Flores
    >>> card = law_card(Flores(stiffness=1e8, restitution=0.8), speed=1.0, mass=1.0, requested=(0.3, 0.8))
    >>> print(card)
    Flores: 1 kg at 1 m/s
      peak depth 0.0006291 m, peak force 1658 N, duration 0.00209 s, restitution 0.7885
      requested  delivered  penetration number
           0.30     0.2562             0.15632
           0.80     0.7885             0.39705
    """
    given = _checked(law, speed, mass, geometry)
    asked = numbers("requested", requested) if "restitution" in law.numbers() else np.zeros(0)
    require(np.all((asked > 0.0) & (asked <= 1.0)), "requested must be restitutions, 0 < e <= 1", requested)
    wall = _Wall(law, tuple(given))
    impact = wall.hit(given, speed, mass)
    impacts = [wall.hit(given | {"restitution": float(e)}, speed, mass) for e in asked]
    p = SimpleNamespace(**given)
    k = SimpleNamespace(**{name: float(value) for name, value in law.coefficients(p).items()})
    known = given | {"approach": speed, "force": impact.peak_force, "depth": impact.peak_depth}
    return LawCard(
        law, speed, mass, impact, asked, np.array([each.restitution for each in impacts]),
        np.array([each.penetration_number for each in impacts]),
        tuple(Validity(limit, known[limit.quantity]) for limit in law.limits(p, k)),
    )  # fmt: skip


def _checked(law: NormalLaw, speed: float, mass: float, geometry: Mapping[str, float] | None) -> dict[str, float]:
    given = mapping("geometry", geometry)
    require(isinstance(law, NormalLaw), "law must be a normal law, as Flores(stiffness=1e10, restitution=0.8)", law)
    for name, value in (("speed", speed), ("mass", mass), *given.items()):
        require(is_number(value) and value > 0.0, f"{name} must be a positive number", value)
    missing = [name for name in law.needs() if name not in given]
    if missing:
        raise InputError(f"{type(law).__name__} needs geometry: give {', '.join(missing)} [m].")
    return law.numbers() | {name: float(given[name]) for name in law.needs()}


class _Wall:
    """A law's functions of its numbers, compiled once."""

    def __init__(self, law: NormalLaw, names: tuple[str, ...]) -> None:
        contact, self.names = Compliant(law), names  # which checks a law of your own
        p = {name: ca.SX.sym(name) for name in names}
        constants = contact.coefficients(SimpleNamespace(**p))
        k = {name: ca.SX.sym(name) for name in constants}
        depth, rate, approach = (ca.SX.sym(name) for name in ("depth", "rate", "approach"))
        still = ca.SX(0), ca.SX(0, 1), ca.SX(0)
        force, _, elastic, _ = contact.forces(depth, rate, approach, *still, SimpleNamespace(**k))
        self._coefficients = ca.Function("coefficients", [ca.vertcat(*p.values())], [ca.vertcat(*constants.values())])
        arguments = [depth, rate, approach, ca.vertcat(*k.values())]
        self._evaluate = Evaluator(ca.Function("forces", arguments, [ca.vertcat(force, elastic)]))

    def hit(self, numbers: Mapping[str, float], speed: float, mass: float) -> FreeImpact:
        """One impact; lengths in the depth at which force times depth is m v^2, speeds in that of approach."""
        from scipy.integrate import solve_ivp
        from scipy.optimize import brentq

        k = np.array(self._coefficients([numbers[name] for name in self.names]), float).ravel()
        energy = mass * speed**2
        # the integrator refers to itself, and must not own functions of CasADi
        evaluate = weakref.proxy(self._evaluate)

        def forces(depth: float, rate: float) -> Array:
            return evaluate(depth, rate, speed, k)[0]

        def excess(logarithm: float) -> float:
            depth = 10.0**logarithm
            return math.log(max(forces(depth, 0.0)[1] * depth, 1e-300) / energy)

        unit = 10.0 ** brentq(excess, -25.0, 10.0)

        def motion(_: float, y: Array) -> tuple[float, float, float]:
            force, elastic = forces(max(y[0], 0.0) * unit, y[1] * speed)
            return y[1], -force * unit / energy, elastic * y[1] * unit / energy

        def parts(_: float, y: Array) -> float:
            return float(y[0])

        parts.terminal, parts.direction = True, -1.0  # type: ignore[attr-defined]
        found = solve_ivp(
            motion, (0.0, LONGEST), (0.0, 1.0, 0.0), "DOP853", dense_output=True, events=(parts, lambda _, y: y[1]),
            rtol=RELATIVE, atol=ABSOLUTE,
        )  # fmt: skip
        parted = bool(found.t_events[0].size)
        time = np.union1d(np.linspace(0.0, found.t[-1], SAMPLES), found.t_events[1][:1])
        x, w, _ = found.sol(time)
        force = np.array([forces(max(a, 0.0) * unit, b * speed)[0] for a, b in zip(x, w, strict=True)])
        return FreeImpact(
            time * unit / speed, np.maximum(x, 0.0) * unit, w * speed, force,
            restitution=max(-float(found.y[1, -1]), 0.0) if parted else 0.0,
            penetration_number=float(found.y_events[1][0][2]) if found.y_events[1].size else float(found.y[2, -1]),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RigidLimit(Result):
    """Result of `rigid_limit`, over the stiffness.

    Parameters
    ----------
    stiffness : K [N/m^n] (k,)
    distance : of the compliant run to the rigid truth [-], the norm of `compare`
    first_impulse : impulse of the first impact [N s] without that of finite forces, see `diagnostics.impact_impulse`
    rigid_impulse : that of the rigid run [N s]
    penetration : deepest overlap [m]
    wall, steps, evaluations : cost of each run [s], [-], [-]
    own_error : distance of each run to an accurate solution with its own stiffness [-], the same norm
    verdicts : of each run, by that solution; and `rigid_verdict` of the rigid one
    failed : stiffnesses left out because their run, or their accurate solution, ended early, with the reason
    needed
        requested ``depth`` [m], ``stiffness`` interpolated for it, ``found`` [m] in a run with this stiffness; empty
        where no depth was requested.
    horizon : end of these runs [s], where rigid contact is sensitive before the end that was requested; else infinite
    statistics
        Beyond the horizon, by label, "rigid" and "K = 1e+12"; `without` says why others have none.
    shown : numbers of what was chosen to be shown, by title with unit: of rigid contact, then of each stiffness
    """

    stiffness: Array
    distance: Array
    first_impulse: Array
    rigid_impulse: float
    penetration: Array
    wall: Array
    steps: Array
    evaluations: Array
    own_error: Array
    verdicts: tuple[Verdict, ...]
    rigid_verdict: Verdict
    needed: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    horizon: float = math.inf
    statistics: Mapping[str, Statistics] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, list[float]] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the statistics of each stiffness."""
        return tuple(f"K = {K:g}" for K in self.stiffness)

    def beyond(self, measure: str = RATE) -> Array:
        """Relative difference of a measure from rigid contact beyond the horizon, and half the width of its 95 %
        interval, of each stiffness (k, 2) [-]; not numbers where it is not known."""
        known, first = self.statistics, self.statistics.get("rigid")
        return np.array([
            (math.nan, math.nan) if first is None or label not in known
            else difference_of(known[label][measure], first[measure]) for label in self.labels
        ])  # fmt: skip

    @property
    def impulse_error(self) -> Array:
        """Error of the first impulse relative to the rigid one [-]."""
        return np.asarray(self.first_impulse / self.rigid_impulse - 1.0)

    @property
    def orders(self) -> dict[str, float]:
        """p of ``~ K^-p`` at the stiffest three points, of distance, impulse error and penetration."""
        series = {"distance": self.distance, "impulse": np.abs(self.impulse_error), "penetration": self.penetration}
        return {name: -order(self.stiffness, values, last=FITTED) for name, values in series.items()}

    def remarks(self) -> list[str]:
        """Remarks below the table: runs that are not accurate, and those that ended early."""
        known = dict(zip(self.labels, self.verdicts, strict=True))
        found = doubts({"rigid": self.rigid_verdict} | known, self.failed)
        if self.horizon < math.inf:
            found += remarks_of(self.statistics, self.without, "rigid", self.horizon, "rigid contact")
        return found

    def rows(self) -> list[dict[str, Any]]:
        """One mapping per stiffness."""
        kinds = {name: int if name in COUNTS else float for name in ("stiffness", *COLUMNS) if name != "first_impulse"}
        return [
            {name: kind(getattr(self, name)[i]) for name, kind in kinds.items()} | {"verdict": verdict.kind}
            for i, verdict in enumerate(self.verdicts)
        ]

    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        data = {name: variable("stiffness", getattr(self, name), *about) for name, about in COLUMNS.items()}
        data["verdict"] = variable("stiffness", [verdict.kind for verdict in self.verdicts], "-", "of the run")
        if self.statistics:
            meaning = "relative difference of the energy lost beyond the horizon from rigid contact, and its 95 % half"
            data["energy"] = variable(("stiffness", "estimate"), self.beyond(), "-", meaning)
        if self.shown:
            values = list(self.shown.values())
            data["shown"] = variable(("name", "run"), values, meaning="what was chosen to be shown")
            data["name"] = variable("name", texts(self.shown))
        facts: dict[str, Any] = {
            "title": "compliant contact towards the rigid limit", "rigid_verdict": str(self.rigid_verdict),
            **{f"order_{name}": value for name, value in self.orders.items()},
            **{f"needed_{name}": value for name, value in self.needed.items()}, "rigid_impulse": self.rigid_impulse,
            **({"horizon": self.horizon} if self.horizon < math.inf else {}),
        }  # fmt: skip
        return data, {"stiffness": variable("stiffness", self.stiffness, "N/m^n")}, facts


@telling
def rigid_limit(
    build: Callable[[Any], Model | System], rigid: Case, law: Callable[[float], Compliant], stiffness: Sequence[float],
    *, t_end: float, stepper: Stepper | None = None, dt: ErrorControl = CONTROL, depth: float | None = None,
    seconds: float = 40.0, show: Sequence[Any] = (), progress: Progress = None,
) -> RigidLimit:  # fmt: skip
    """Compare runs of a mechanism with contacts of increasing stiffness with a run with rigid contact.

    InputError for stiffnesses that do not increase, or a depth outside their range.

    Parameters
    ----------
    build : a function of the contact law that returns a model or a system, such as ``model.with_contact``
    rigid
        The rigid case, with any stepper and solver. Its exact or accurate solution is the reference of the compliant
        runs.
    law : a function of the stiffness: ``lambda K: Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True))``
    stiffness : [N/m^n]
        At least two increasing values, for instance powers of ten.
    t_end : [s]
    stepper : optional, ``CompliantDae()`` by default
    dt : tolerances of the compliant runs
    depth : [m], optional
        Penetration for which the stiffness is computed: interpolated between the runs, and verified by a further run.
    seconds : [s]
        Time for the statistics of all runs, where rigid contact is sensitive before the end: runs are compared until
        its horizon only.
    show
        Coordinates, contacts, joints, components of reactions, or measures whose numbers are given in addition, as for
        `compare`.
    progress : callable (what, share), or True for words on one line, optional

    Examples
    --------
    >>> from nonsmooth import EventDriven, Rigid
    >>> from nonsmooth.laws import Flores
    >>> from nonsmooth_problems import slider_rod
    >>> contact = Rigid(restitution=0.5, friction=0.0)
    >>> exact = slider_rod.exact(case=1, contact=contact)
    >>> rigid = Case("rigid", contact, EventDriven(), CONTROL, exact=exact)
    >>> law = lambda K: Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True))
    >>> build = lambda contact: slider_rod(case=1, contact=contact)
    >>> found = rigid_limit(build, rigid, law, [1e12, 1e13, 1e14], t_end=0.004)
    >>> print(", ".join(f"{100 * error:.2f} %" for error in found.impulse_error))
    -2.25 %, -0.99 %, -0.42 %
    """
    require(callable(law), "law must be a function of the stiffness that returns Compliant(...)", law)
    values = numbers("stiffness", stiffness)
    rise = len(values) > 1 and np.all(np.diff(values) > 0) and values[0] > 0
    require(rise, "stiffness must be two or more positive numbers that rise", list(stiffness))
    stepper = stepper or CompliantDae()
    check_build(build)
    tell = whom(progress)
    tell("rigid: accurate solution", 0.0)
    trial = whole = Trial(rigid, built(build, rigid.contact), t_end)
    what = chosen(show, trial.system)
    hard, accurate = trial.run(), trial.accurate()
    horizon, parted = horizon_of(accurate, hard), accurate.parted
    if horizon < t_end:
        trial = replace(trial, t_end=horizon)
        hard, accurate = trial.run(), replace(trial.accurate(), parted=parted)
    edges = np.array([hard.t[0], horizon])
    of_rigid = measured(hard, accurate, edges, 0.0)
    shown = {"rigid": what.numbers(hard, of_rigid, horizon - float(hard.t[0]))}

    def soft(K: float, end: float = horizon) -> Trial:
        case = Case(f"K = {K:g}", law(K), stepper, dt, rigid.parameters)
        return Trial(case, built(build, case.contact), end)

    rows: dict[float, dict[str, Any]] = {}
    verdicts: list[Verdict] = []
    failed: dict[str, str] = {}
    remedy = "`result` of this error has their numbers by stiffness; give the other ones to go on"
    with handing_over(rows, len(values), "stiffnesses", lambda: dict(rows), remedy):
        for i, K in enumerate(values.tolist()):
            tell(f"K = {K:g}", (i + 1) / (len(values) + 2))
            compliant = soft(K)
            try:
                run, own = compliant.run(), compliant.accurate()
            except SimulationFailed as failure:
                failed[compliant.case.label] = early_end(failure)
                if len(failed) == len(values):
                    raise
                continue  # what the other runs show remains
            verdicts.append(replace(own, parted=min(own.parted, parted)).verdict(run))
            rows[K] = measured(run, accurate, edges, 0.0) | {"wall": run.wall_seconds, "own_error": own.error(run)}
            shown[compliant.case.label] = what.numbers(run, rows[K], horizon - float(hard.t[0]))
    values, names = np.array(list(rows)), [name for name in COLUMNS if name != "impulse_error"]
    columns = {name: np.array([row[name] for row in rows.values()], float) for name in names}
    needed: dict[str, float] = {}
    if depth is not None:
        tell(f"stiffness for {depth:g} m", 1 - 1 / (len(values) + 2))
        reached = columns["penetration"]
        if not reached.min() <= depth <= reached.max():
            raise InputError(
                f"A penetration of {depth:g} m is outside the range of these stiffnesses, {reached.min():.3g} to "
                f"{reached.max():.3g} m; add others."
            )
        K = float(np.exp(np.interp(np.log(depth), np.log(reached[::-1]), np.log(values[::-1]))))
        found = measured(soft(K).run(), accurate, edges, 0.0)["penetration"]
        needed = {"depth": float(depth), "stiffness": K, "found": found}
    statistics, without = dict[str, Statistics](), dict[str, str]()
    if horizon < t_end:
        tell("statistics", 1 - 1 / (len(values) + 2))
        statistics, without = statistics_of({"rigid": whole} | {f"K = {K:g}": soft(K, t_end) for K in rows}, seconds)
    tell("done", 1.0)
    found = RigidLimit(
        stiffness=values, **columns, rigid_impulse=of_rigid["first_impulse"],
        verdicts=tuple(verdicts), rigid_verdict=accurate.verdict(hard), needed=needed, failed=failed,
        horizon=horizon if horizon < t_end else math.inf, statistics=statistics, without=without,
        shown=numbers_of(shown),
    )  # fmt: skip
    return complete(found, without)
