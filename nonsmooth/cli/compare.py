"""`nonsmooth compare`, `study rigid-limit`, `step-size`, `published`: schemes compared, with defaults of problems."""

import functools
import inspect
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from rich.table import Table

from nonsmooth import laws, solvers, studies
from nonsmooth.cli.files import common_law, exact_solution, laws_in, module_of, problem_of, run_user_code
from nonsmooth.cli.inputs import configured, in_units
from nonsmooth.cli.options import Comparing, Executor, Law, Number, Problem, Seconds, Written, progress_bar
from nonsmooth.cli.report import conclude, table_of, whole_or_part
from nonsmooth.cli.values import number_of, settings_from, settings_of_study
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.laws.compliant import Compliant, FrictionLaw
from nonsmooth.laws.normal.hysteresis import HysteresisLaw
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.registry import Problem as ReadyProblem
from nonsmooth.model.registry import get_problem, needed
from nonsmooth.model.system import System
from nonsmooth.progress import stage
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.settings import kebab
from nonsmooth.solvers.initial_value import Integrator
from nonsmooth.step.control import ErrorControl, Landing, StepControl
from nonsmooth.studies import Case, StepSizes
from nonsmooth.studies.arguments import built
from nonsmooth.studies.beyond import lines_of
from nonsmooth.studies.cases import QUARTER, SLIP, Trial, early_end, landing_case, regularised, rigid_cases, scheme
from nonsmooth.studies.shown import lines_of as rows_of
from nonsmooth.trajectory import Trajectory
from nonsmooth.trust.automatic import calls_a_solver

#: tolerances of the runs as given; dt_min is the window in which rigid impacts count as one
RTOL, ATOL, DT_MIN = 1e-7, 1e-9, 1e-6
ROWS = 500  # rows that a run has at least where a problem states no longest step
ROUND_OFF = 1e-15  # numbers below are round-off for results of the order of one
#: stiffnesses of the rigid limit where none are given: by powers of ten from the softest that the problem states, or
#: this one, in the plane and in space, where runs take longer
SOFTEST, DECADES, DECADES_IN_SPACE = 1e10, 7, 5
#: schemes of a study of the step size where none are given, and those that are plastic at a constant step
STEPPERS = ("gauss-qp", "gauss-mpcc", "moreau-jean", "generalized-alpha", "gauss-qp:landing", "event-driven")
PLASTIC = ("gauss-qp", "gauss-mpcc")
FRICTIONS = ("friction", "static_friction")  # coefficients of a law of friction
#: coarsest tolerances of the event-driven scheme there, and the least number of its steps
COARSEST_RTOL, COARSEST_ATOL, LEAST = 1e-4, 1e-6, 4
#: least and largest number of the coarsest steps that are chosen there; the least where each calls a solver
FEWEST, MOST = 40, 400


class Prepared:
    """A study ready to run: what the options describe, checked, and completed by the defaults of the problem."""

    def __init__(
        self, options: Comparing, names: Sequence[str], rigid: Sequence[str], usual: tuple[float, ...] | None = None
    ) -> None:
        self.problem, self.laws = problem_of(options.problem), list[Any]()
        problem = self.problem
        words = settings_of_study(options.settings, options.case)
        if "contact" not in inspect.signature(problem).parameters:
            raise InputError(f"{problem.name} has no argument contact, so its contact laws cannot be compared.")
        stated = problem.comparison
        integrator = None if options.solver is None else solvers.by_name(options.solver)()
        if not isinstance(integrator, Integrator | None):
            raise InputError(f"--solver {options.solver}: compliant cases take an integrator, such as dop853 or radau.")
        smooth = Rigid(restitution=0.0, friction=0.0)  # the units of arguments are the same with any contact law
        arguments = in_units(functools.partial(problem, contact=smooth), words.arguments, problem.provenance)
        own = self._own_laws(dict(stated.arguments if stated else {}) | arguments)
        rigid_law = next((law for law in own if isinstance(law, Rigid)), None)
        soft = next((law for law in own if isinstance(law, Compliant)), None)
        own_e = rigid_law.restitution if rigid_law is not None and 0.0 < rigid_law.restitution < 1.0 else None
        own_K = None if soft is None else soft.numbers().get("stiffness")
        given = {
            "--t-end": (options.t_end, stated.t_end if stated else problem.t_end or end_of(options.problem)),
            "--restitution": (options.restitution, stated.restitution if stated else own_e),
            "--stiffness": (options.stiffness or None, stated.stiffness if stated else (own_K,) if own_K else usual),
        }
        self.t_end, self.restitution, self.stiffness = completed(problem, "comparison of its own", given)
        self.arguments = dict(stated.arguments if stated else {}) | arguments
        self.parameters = words.parameters
        if not 0.0 < self.restitution < 1.0:
            raise InputError(f"--restitution {self.restitution:g}: give a value between 0 and 1, both excluded.")
        self.friction, self.sliding = frictions(options.friction, rigid_law, soft)
        #: of the problem, as its law of impacts, what a comparison at equal restitution leaves
        like = Rigid(restitution=0.0, friction=0.0) if rigid_law is None else rigid_law
        contact = replace(like, restitution=self.restitution, friction=self.friction)
        if words.texts:  # whose dimensions the mechanism knows
            built(self.build, contact).parameter_vector(words.texts)
        for name in names:
            law = laws.by_name(name, "normal")
            if not issubclass(law, HysteresisLaw):
                known = [one for one in laws.names("normal") if issubclass(laws.by_name(one, "normal"), HysteresisLaw)]
                raise InputError(
                    f"--law {name}: a study at equal delivered restitution takes {', '.join(known)}; "
                    "for other laws use nonsmooth.studies.compare."
                )
            if "calibrated" not in {field.name for field in fields(law)}:
                raise InputError(f"--law {name} cannot be calibrated to a restitution.")
            self.laws.append(law)
        self.schemes = [scheme(word) for word in rigid]
        self.stepper, self.target = CompliantDae(solver=integrator), stated.target if stated else 1e-4
        dt_max = options.dt_max if options.dt_max is not None else stated.dt_max if stated else self.t_end / ROWS
        self.chosen = options.dt_max is None  # whether the steps of `Landing` are chosen
        exact = None if self.parameters else exact_solution(problem, self.arguments | {"contact": contact})
        control = ErrorControl(RTOL, ATOL, min(DT_MIN, dt_max), dt_max)
        #: the reference
        self.first = Case("rigid, event-driven", contact, EventDriven(), control, self.parameters or None, exact)
        self.name = " ".join([problem.name, *(f"{k}={v}" for k, v in (self.arguments | self.parameters).items())])
        self._run_first()

    def _run_first(self) -> None:
        """Run the reference, for the steps of landing, which replaces it where the event-driven scheme fails, and for
        the slip of friction of a problem that states no law."""
        like, self.chosen_slip = self.first, ""
        self.system = system = built(self.build, like.contact)
        with stage("computing", "the speeds that steps and friction depend on"):
            run, self.without = first_run(like, system, self.t_end)
        made = landing_case(like, system, run, self.t_end) if self.chosen else rigid_cases(like, [GaussQP()])[0]
        self.landing = replace(made, label="rigid, landing", by_landing=bool(self.without))
        self.first = self.landing if self.without else like
        self.like = like
        if self.friction > 0.0 and not self.sliding:
            self.sliding = [regularised(like, system, run)]
            self.chosen_slip = f", over {100 * SLIP:g} % of the fastest slip"

    def _own_laws(self, arguments: dict[str, Any]) -> list[Any]:
        """Contact laws of the problem: that of all its contacts, and those of its published kinds of runs."""
        published = self.problem.published
        kinds = [] if published is None else [kind["contact"] for kind in published.kinds.values() if "contact" in kind]
        default = inspect.signature(self.problem).parameters["contact"].default
        words = ["rigid", *kinds] if isinstance(default, str) else kinds
        given: list[dict[str, Any]] = [] if default is inspect.Parameter.empty else [{}]
        given += [{"contact": kind} for kind in words]
        return [law for one in given if (law := common_law(laws_in(self.problem(**arguments | one)))) is not None]

    @property
    def laws_of_friction(self) -> str:
        """Which laws of friction are set side by side, in a sentence."""
        if not (self.friction or self.sliding):
            return "All contacts are without friction."
        found = " and ".join(map(repr, self.sliding)) + self.chosen_slip
        return f"Friction: rigid contact by Coulomb's law with mu = {self.friction:g}, compliant contact by {found}."

    def build(self, contact: Any) -> Any:
        return self.problem(**self.arguments, contact=contact)

    def compliant(self, stiffness: float, law: Any = None, sliding: FrictionLaw | None = None) -> Compliant:
        """A law that delivers the restitution with one of friction, by default the first of each."""
        made = self.laws[0] if law is None else law
        sliding = sliding or next(iter(self.sliding), None)
        return Compliant(made(stiffness=stiffness, restitution=self.restitution, calibrated=True), sliding)

    def cases(self) -> list[Case]:
        """Rigid contact, event-driven and by the schemes requested, and compliant contact of each law and stiffness."""
        first = self.first
        others = [one for one in self.schemes if not (isinstance(one, EventDriven) and one == EventDriven())]
        cases = [first, *rigid_cases(replace(self.like, by_landing=first.by_landing), others)]
        if not self.schemes and first is not self.landing:
            cases.append(self.landing)
        for law, (i, sliding) in product(self.laws, enumerate(self.sliding or [None])):
            name = "compliant" if len(self.laws) == 1 else kebab(law.__name__)
            if len(self.sliding) > 1:  # two may be of one name
                kinds = [type(one).__name__ for one in self.sliding]
                name += f", {kebab(kinds[i])}" + (f" {i + 1}" if kinds.count(kinds[i]) > 1 else "")
            for K in self.stiffness:
                label = f"{name}, K = {K:g}".replace("e+", "e")
                compliant = self.compliant(K, law, sliding)
                cases.append(Case(label, compliant, self.stepper, self.like.dt, first.parameters))
        return cases


def first_run(like: Case, system: System, t_end: float) -> tuple[Trajectory, list[str]]:
    """A run by events, and a sentence where it ends early, as often in space with friction."""
    try:
        return Trial(like, system, t_end).run(), []
    except SimulationFailed as failure:
        said = f"{like.label} {early_end(failure)} Steps that end at impacts are the reference."
        return failure.trajectory, [said]


def frictions(words: Sequence[str], own: Rigid | None, soft: Compliant | None) -> tuple[float, list[FrictionLaw]]:
    """Coulomb's coefficient of rigid contact and laws of compliant contact, of ``--friction`` or of the problem's own.

    A number is the coefficient of all; a law without a number `friction` of its own has it too.
    """
    known, named = None if soft is None else soft.friction, list[FrictionLaw]()
    mu = own.friction if own is not None else known.numbers()["friction"] if known is not None else 0.0
    numbers = [word for word in words if not word[:1].isalpha()]
    if numbers:
        mu = number_of("--friction", numbers[0])
        if mu < 0.0 or len(numbers) > 1:
            raise InputError(f"--friction {numbers[-1]}: give one coefficient of all contacts, 0 or larger.")
    for word in words:
        if word in numbers:
            continue
        name, _, text = word.partition(":")
        law = laws.by_name(name, "friction")
        given = {"friction": mu} | settings_from(text.split(",") if text else []).arguments
        missing = [one for one in needed(inspect.signature(law)) if one not in given]
        if missing:
            more = ",".join([text] * bool(text) + [f"{one}=VALUE" for one in missing])
            raise InputError(f"--friction {word}: {name} needs {', '.join(missing)}; write {name}:{more}.")
        named.append(configured(law, name, given))
    if named and not (mu or numbers):
        mu = named[0].numbers()["friction"]
    if not named and known is not None and mu > 0.0:
        former = known.numbers()
        share = mu / former["friction"]
        named.append(known.with_numbers({one: share * former[one] for one in FRICTIONS if one in former}))
    return mu, named


def completed(problem: Any, what: str, given: dict[str, tuple[Any, Any]]) -> list[Any]:
    """The values of options as given, otherwise as the problem states them; some must be."""
    found = {option: stated if value is None else value for option, (value, stated) in given.items()}
    ends = " (or t_end in the [run] of the file)" if problem.source.endswith(".toml") else ""
    missing = [option + (ends if option == "--t-end" else "") for option, value in found.items() if value is None]
    if missing:
        raise InputError(f"{problem.name} states no {what}: give {', '.join(missing)}.")
    return list(found.values())


def shown_of(word: str) -> Any:
    """A function that a word of ``--show`` names, as FILE.py:FUNCTION, or the word, which the study knows."""
    file, colon, name = word.rpartition(":")
    if not (colon and file.endswith(".py")):
        return word
    module = module_of(Path(file))
    function = getattr(module, name, None)
    if not callable(function):
        known = [one for one, value in vars(module).items() if inspect.isfunction(value) and not one.startswith("_")]
        raise InputError(f"--show {word}: {file} has no function {name}; it has {', '.join(known) or 'none'}.")
    return functools.wraps(function)(lambda run: run_user_code(Path(file), lambda: function(run)))


def end_of(problem: str) -> float | None:
    if not problem.endswith(".toml"):
        return None
    from nonsmooth.declarative import read

    return read(problem).run.t_end


def compare(
    *, names: tuple[str, ...] = (), rigid: tuple[str, ...] = (), target: float | None = None,
    show: tuple[str, ...] = (), runs: Comparing, written: Written, **study: Any,
) -> int:  # fmt: skip
    """Compare rigid and compliant contact on one problem: motion, forces, impacts, energy, cost at equal error.

    Parameters
    ----------
    names : --law, default: flores
        Compliant normal law of the hysteresis family; repeatable.
    rigid : STEPPER[:SOLVER], default: event-driven, gauss-qp
        Scheme of rigid contact and its solver, as gauss-mpcc:ipopt-mpcc or gauss-qp:osqp; repeatable.
    target
        Own error at which costs are compared; 0 omits this.
    show : NAME
        Coordinate, contact, joint, component of a reaction, or measure that table and figure show, as pin.x or
        peak-force:pin, or own.py:flight, a function of a run; repeatable. By default of each joint the contact with
        the largest impulse, and the coordinate that differs most.
    """
    wanted = [shown_of(one) for one in show]
    prepared = Prepared(runs, names or ("flores",), rigid)
    target = prepared.target if target is None else target
    with progress_bar() as progress:
        found, ended = whole_or_part(lambda: studies.compare(
            prepared.build, prepared.cases(), t_end=prepared.t_end, target=target, progress=progress,
            show=wanted, **study,
        ))  # fmt: skip
    rows = [(title, *map(_short, values)) for title, values in found.lines()]
    said = [prepared.laws_of_friction, *prepared.without, *found.remarks()]
    labels = (label.replace(", ", ",\n") for label in found.labels)
    head = f"{prepared.name}\nrestitution {prepared.restitution:g}, to t = {found.edges[-1]:g} s"
    shown: list[Any] = [table_of(head, *labels, rows=rows, whole=True), "", *said, *ended]
    conclude(
        written, prepared.name, shown, found.plain, figure=lambda plots: plots.comparison(found),
        save=found.save, runs=found.runs,
    )  # fmt: skip
    return 130 if ended else 0


def rigid_limit(
    *, law: Law = "flores", rigid: str | None = None, depth: Number | None = None, show: tuple[str, ...] = (),
    runs: Comparing, written: Written, **study: Any,
) -> int:  # fmt: skip
    """Compare compliant contact of increasing stiffness with rigid contact: errors, penetration and cost.

    Parameters
    ----------
    law
        Compliant normal law of the hysteresis family.
    rigid : STEPPER[:SOLVER], default: event-driven
        Scheme of the rigid run and its solver, as gauss-mpcc:ipopt-mpcc.
    depth
        Penetration whose stiffness is computed, such as 1e-6 or 1um.
    show : NAME
        Coordinate, contact, joint, component of a reaction, or measure that table and figure show too, as of compare;
        repeatable.
    """
    wanted = [shown_of(one) for one in show]
    deepest = None if depth is None else number_of("--depth", depth, lambda: "m")
    prepared = Prepared(runs, [law], [] if rigid is None else [rigid], (SOFTEST,))
    first = prepared.first
    if rigid is not None:
        first = rigid_cases(replace(prepared.like, by_landing=first.by_landing), prepared.schemes)[0]
    softest = min(prepared.stiffness)
    decades = DECADES if prepared.system.dimension == 2 else DECADES_IN_SPACE
    stiffness = runs.stiffness or tuple(softest * 10**i for i in range(decades))
    with progress_bar() as progress:
        found, ended = whole_or_part(lambda: studies.rigid_limit(
            prepared.build, first, prepared.compliant, stiffness, t_end=prepared.t_end,
            stepper=prepared.stepper, depth=deepest, progress=progress, show=wanted, **study,
        ))  # fmt: skip
    names = ("distance", "impulse_error", "penetration", "steps", "evaluations", "own_error", "verdict")
    heads = ("stiffness\n[N/m^n]", "distance\n[-]", "error of the\nfirst impulse [-]", "deepest\noverlap [m]",
             "steps\n[-]", "evaluations\n[-]", "own\nerror [-]", "verdict")  # fmt: skip
    rows = [(f"{row['stiffness']:g}", *(_short(row[name]) for name in names)) for row in found.rows()]
    powers = ", ".join(f"{what} ~ K^-{order:.3f}" for what, order in found.orders.items())
    shown, beyond = [table_of(*heads, rows=rows), "", powers], dict[str, Any]()
    columns = ["rigid", *found.labels]
    if found.shown:
        lines = [(title, *map(_short, values)) for title, values in rows_of(found.shown)]
        shown += ["", table_of("", *columns, rows=lines, whole=True)]
        beyond["shown"] = {title: dict(zip(columns, row, strict=True)) for title, row in found.shown.items()}
    if found.horizon < math.inf:
        known = found.statistics
        beyond |= {"horizon": found.horizon, "statistics": {label: one.plain() for label, one in known.items()}}
        lines = [(title, *values) for title, values in lines_of(known, list(known))]
        shown += ["", table_of("beyond the horizon", *known, rows=lines, whole=True)] if known else []
    shown += ["", prepared.laws_of_friction, *prepared.without, *found.remarks(), *ended]
    if found.needed:
        deep, K, reached = (found.needed[name] for name in ("depth", "stiffness", "found"))
        shown.append(f"{deep:g} m deep: K = {K:.4g}, with which a run is {reached:.4g} m deep")
    title = f"{prepared.name}: towards rigid contact of restitution {prepared.restitution:g}"
    conclude(
        written, title, shown,
        lambda: {
            "stiffness": {row["stiffness"]: row for row in found.rows()}, "orders": found.orders,
            "needed": found.needed, **beyond,
        },
        head=title, figure=lambda plots: plots.rigid_limit(found), save=found.save,
    )  # fmt: skip
    return 130 if ended else 0


def _short(value: float | str) -> str:
    if isinstance(value, int | str):
        return str(value)
    if not math.isfinite(value):
        return "-"
    return f"< {ROUND_OFF:g}" if 0.0 < abs(value) < ROUND_OFF else f"{value:.4g}"


def step_size(
    problem: Problem, *, case: str | None = None, t_end: Seconds | None = None, schemes: tuple[str, ...] = (),
    dt: Seconds | None = None, dt_max: Seconds | None = None, dt_min: Seconds = 1e-6, settings: tuple[str, ...] = (),
    executor: Executor | None = None, written: Written, **study: Any,
) -> None:  # fmt: skip
    """Errors, gap violation, energy and cost of steppers over the step size, with fitted orders.

    Parameters
    ----------
    t_end
        End of the runs; required for a Python file.
    schemes : --stepper NAME[:SOLVER][:landing], default: gauss-qp, gauss-mpcc, moreau-jean, generalized-alpha, \
gauss-qp:landing, event-driven
        Scheme, repeatable, as gauss-mpcc:ipopt-mpcc:landing; landing: steps end exactly at impacts.
    dt : default: of the problem, or one in which no joint moves by more than its clearance
        Coarsest constant step; by default 1/400 to 1/40 of the run, 1/40 where each step calls a solver.
    dt_max : default: as --dt
        Coarsest largest step of NAME:landing.
    dt_min
        Shortest flight that NAME:landing resolves.
    settings : --set NAME=VALUE
        Argument of the problem, or element.parameter; repeatable.
    executor : default: one process per core
        Number of processes, or tcp://HOST:PORT of a Dask scheduler.
    """
    made = problem_of(problem)
    stated = made.step_size
    known = stated.t_end if stated else made.t_end or end_of(problem)
    (end,) = completed(made, "end of the runs", {"--t-end": (t_end, known)})
    words = settings_of_study(settings, case)
    arguments = dict(stated.arguments if stated else {}) | in_units(made, words.arguments, made.provenance)
    parameter = inspect.signature(made).parameters.get("contact")  # None where it takes no law
    contact = arguments.get("contact", None if parameter is None else parameter.default)
    notes, by_landing = list[str](), False
    if isinstance(contact, Compliant):
        e, mu = (contact.numbers().get(name, 0.0) for name in ("restitution", "friction"))
        contact = Rigid(restitution=e, friction=mu)
        notes.append(f"Contacts are rigid here, of restitution {e:g} and friction {mu:g}, instead of compliant.")
    for name in schemes:
        scheme(name.partition(":landing")[0])  # a wrong one is told before anything runs
    landed = any(name.endswith(":landing") for name in schemes or STEPPERS)
    fixed = {name: value for name, value in arguments.items() if name != "contact"}

    def build(law: Any) -> Any:
        return made(**fixed) if contact is None else made(**fixed, contact=law)

    if words.texts:  # whose dimensions the mechanism knows
        built(build, contact).parameter_vector(words.texts)
    steps = [stated.dt, stated.dt, stated.dt_max] if stated else [math.nan] * 3
    if stated is None and (dt is None or dt_max is None):
        steps, without = _coarsest(build, contact, words.parameters, end, dt_min)
        by_landing, notes = bool(without), [*notes, *without]
    given = zip((dt, dt, dt_max), steps, strict=True)
    usual, called, longest = (chosen if one is None else one for one, chosen in given)
    bounds = min(dt_min, longest), longest
    cases = [
        _case(made, name, arguments, contact, words.parameters, (usual, called), *bounds, end)
        for name in schemes or STEPPERS
    ]
    cases = [replace(one, by_landing=by_landing) for one in cases]
    with progress_bar() as progress:
        found = studies.step_size(
            build, cases, t_end=end, bounds=stated.bounds if stated and landed else None, executor=executor,
            progress=progress, **study,
        )  # fmt: skip
    for series in found.series:
        kinds = (("gaps", series.orders["error"]), ("motion", series.orders["motion_error"]))
        orders = [f"{what} {order:.2f}" for what, order in kinds if not math.isnan(order)]
        fitted = ", ".join(orders) if orders else "none, the error is round-off"
        notes.append(f"{series.label}: order of {fitted}; against {series.reference}")
    name = " ".join([made.name, *(f"{key}={value}" for key, value in (fixed | words.parameters).items())])
    title = f"{name} to t = {found.settings['t_end [s]']:g} s"
    conclude(
        written, title, [_table_of_steps(found), "", *notes, *found.remarks()], found.plain, head=title,
        figure=lambda plots: plots.step_size(found), save=found.save,
    )  # fmt: skip


def _coarsest(
    build: Any, contact: Any, parameters: dict[str, float], t_end: float, dt_min: float
) -> tuple[list[float], list[str]]:
    """Coarsest steps [s]: constant, where each calls a solver, and of landing; and why no events are located, if so."""
    rigid = contact if isinstance(contact, Rigid) else Rigid(restitution=0.0, friction=0.0)
    system = built(build, rigid)
    length = t_end - system.start.t
    control = ErrorControl(RTOL, ATOL, min(dt_min, length / FEWEST), length / FEWEST)
    like = Case("event-driven", rigid, EventDriven(), control, parameters or None)
    with stage("computing", "the speeds that steps depend on"):
        run, without = first_run(like, system, t_end)
    quarter = landing_case(like, system, run, t_end).dt
    assert isinstance(quarter, Landing)
    dt = float(f"{min(max(quarter.dt_max / QUARTER, length / MOST), length / FEWEST):.2g}")
    return [dt, length / FEWEST, dt], without


def _case(
    problem: ReadyProblem, name: str, arguments: dict[str, Any], contact: Any, parameters: dict[str, float],
    constant: tuple[float, float], dt_min: float, dt_max: float, t_end: float,
) -> Case:  # fmt: skip
    named, landing, _ = name.partition(":landing")
    stepper, how = scheme(named), bool(landing)
    word, _, solver = named.partition(":")
    called = f"{word}, {solver}" if solver else word
    label = f"{called}, landing" if how else called
    step: float | StepControl = constant[calls_a_solver(stepper)]
    if word == "event-driven":
        step = ErrorControl(COARSEST_RTOL, COARSEST_ATOL, dt_min, max(dt_max, t_end / LEAST))
    elif how:
        step = Landing(dt_min, dt_max)
    elif word in PLASTIC and isinstance(contact, Rigid) and contact.restitution > 0:
        contact, label = Rigid(restitution=0.0, friction=contact.friction), f"{called}, plastic"
    if not isinstance(contact, Rigid):
        contact = Rigid(restitution=0.0, friction=0.0)  # of a problem that takes no contact law: nothing uses it
    exact = None
    if problem.exact is not None and not parameters:
        taken = {key: value for key, value in arguments.items() if key != "contact"}
        law = {"contact": contact} if "contact" in inspect.signature(problem.exact).parameters else {}
        exact = exact_solution(problem, taken | law)
    if not (hasattr(exact, "sample") and hasattr(exact, "events")):
        exact = None
    return Case(label, contact, stepper, step, parameters or None, exact)


def _table_of_steps(found: StepSizes) -> Table:
    heads = ("step\n[s]", "error of\ngaps [c]", "overlap\n[m]", "comple-\nmentarity", "energy\n[J]", "impulse\n[N s]")
    measures = ("error", "violation", "complementarity", "energy", "impulse_error")
    table = table_of("stepper", *heads, "time\n[s]", "verdict", whole=True)
    for one in found.series:
        names = dict(enumerate(one.label.split(", ")))  # the name, and below it how it is used
        for i, dt in enumerate(one.dt):
            numbers = (f"{one.measures[name][i]:.1e}" for name in measures)
            table.add_row(names.get(i, ""), f"{dt:.3g}", *numbers, f"{one.seconds[i]:.2g}", one.verdicts[i])
    return table


def published(
    problem: Problem, *, cases: tuple[str, ...] = (), settings: tuple[str, ...] = (), written: Written
) -> None:
    """Run the published cases of a problem, rigid and compliant, and compare with the printed numbers.

    Parameters
    ----------
    problem : PROBLEM
        Name of a ready problem, as in `nonsmooth list`.
    cases : --case
        Published case; repeatable. All where omitted.
    settings : --set NAME=VALUE
        Argument of the problem, such as parameters=S1; repeatable.
    """
    words = settings_from(settings)
    if words.solver or words.stepper or words.parameters:
        raise InputError("study published takes arguments of the problem by --set, such as parameters=S1, only.")
    chosen = get_problem(problem)
    if written.figure is not None and not cases and chosen.published is not None and chosen.published.facts:
        raise InputError("Facts alone are not drawn; name a case by --case, or leave out --figure.")
    with progress_bar() as progress:
        found = studies.published(
            chosen, cases or None, progress=progress, **in_units(chosen, words.arguments, chosen.provenance)
        )
    shown: list[Any] = [f"source: {chosen.source}", ""]
    if found.facts:
        rows = [
            (name, fact["unit"], f"{fact['expected']:g}", f"{fact['tolerance']:.3g}", f"{fact['measured']:.4g}",
             "" if fact["agrees"] else "differs")
            for name, fact in found.facts.items()
        ]  # fmt: skip
        shown += [table_of("fact", "unit", "expected", "tolerance", "measured", "", rows=rows), ""]
    if found.table:
        table = table_of("case", "measure", "unit", "published", *found.kinds)
        for cells in found.cells():
            if table.row_count and cells[1] == "verdict":
                table.add_row()
            table.add_row(*cells)
        shown.append(table)
    else:
        known = chosen.published.cases if chosen.published is not None else ()
        shown.append(f"cases that --case runs: {', '.join(known)}")
    shown += ["", *found.sentences(), *found.remarks()] if found.table else []

    def numbers() -> dict[str, Any]:
        def said(case: str, kind: str) -> dict[str, Any]:
            verdict = found.verdict(case, kind)
            return {"verdict": verdict.kind} | ({"horizon": verdict.horizon} if verdict.kind == "sensitive" else {})

        cases = {
            case: {kind: said(case, kind) | dict(numbers) for kind, numbers in kinds.items()}
            | {"published": dict(found.printed[case])}
            for case, kinds in found.table.items()
        }
        return ({"facts": found.facts} if found.facts else {}) | cases

    conclude(
        written, f"{found.problem}: published cases", [found.problem, *shown], numbers,
        figure=(lambda plots: plots.published(found)) if found.table else None, save=found.save,
        runs={f"{case}, {kind}": run for (case, kind), run in found.runs.items()},
    )  # fmt: skip
