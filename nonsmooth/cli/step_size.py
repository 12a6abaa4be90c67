"""`nonsmooth study step-size`: from words to cases, and what is printed."""

from __future__ import annotations

import inspect
from typing import Any

from rich.table import Table

from nonsmooth import studies
from nonsmooth.cli.compare import completed, end_of
from nonsmooth.cli.files import exact_solution, problem_of
from nonsmooth.cli.inputs import check_dimensions, in_units, settings_of_study
from nonsmooth.cli.options import Problem, Seconds, Written
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report import table_of
from nonsmooth.cli.report_page import conclude
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.registry import Problem as ReadyProblem
from nonsmooth.step.control import ErrorControl, Landing, StepControl
from nonsmooth.studies import Case, StepSizes
from nonsmooth.studies.cases import scheme

#: schemes where none are given
STEPPERS = ("gauss-qp", "moreau-jean", "generalized-alpha", "gauss-qp:landing", "event-driven")
#: those that are plastic at a constant step
PLASTIC = ("gauss-qp", "gauss-mpcc")
#: coarsest tolerances of the event-driven scheme
RTOL, ATOL = 1e-4, 1e-6
#: steps of the event-driven scheme, at least
LEAST = 4


def step_size(
    problem: Problem, *, case: str | None = None, t_end: Seconds | None = None, schemes: tuple[str, ...] = (),
    dt: Seconds | None = None, dt_max: Seconds | None = None, dt_min: Seconds = 1e-6, settings: tuple[str, ...] = (),
    workers: int | None = None, written: Written, **study: Any,
) -> None:  # fmt: skip
    """Errors, gap violation, energy and cost of steppers over the step size, with fitted orders.

    Parameters
    ----------
    t_end
        End of the runs.
    schemes : --stepper NAME[:SOLVER][:landing], default: gauss-qp, moreau-jean, generalized-alpha, gauss-qp:landing, \
event-driven
        Scheme, repeatable, as gauss-mpcc:ipopt-mpcc:landing; landing: steps end exactly at impacts.
    dt
        Coarsest constant step.
    dt_max
        Coarsest largest step of NAME:landing.
    dt_min
        Shortest flight that NAME:landing resolves.
    settings : --set NAME=VALUE
        Argument of the problem, or element.parameter; repeatable.
    workers : default: one per core
        Processes, or threads of a batch.
    """
    made = problem_of(problem)
    stated = made.step_size
    given = {
        "--t-end": (t_end, stated.t_end if stated else end_of(problem)),
        "--dt": (dt, stated and stated.dt),
        "--dt-max": (dt_max, stated and stated.dt_max),
    }
    end, constant, longest = completed(made, "steps to study", given)
    words = settings_of_study(settings, case)
    arguments = dict(stated.arguments if stated else {}) | in_units(made, words.arguments, made.provenance)
    cases = [
        _case(made, name, arguments, words.parameters, constant, min(dt_min, longest), longest, end)
        for name in schemes or STEPPERS
    ]
    landed = any(name.endswith(":landing") for name in schemes or STEPPERS)
    contact = _contact(made, arguments)
    fixed = {name: value for name, value in arguments.items() if name != "contact"}

    def build(law: Any) -> Any:
        return made(**fixed) if contact is None else made(**fixed, contact=law)

    check_dimensions(lambda: build(contact), words.texts)
    with study_bar() as progress:
        found = studies.step_size(
            build, cases, t_end=end, bounds=stated.bounds if stated and landed else None, workers=workers,
            progress=progress, **study,
        )  # fmt: skip
    name = " ".join([made.name, *(f"{key}={value}" for key, value in (fixed | words.parameters).items())])
    title = f"{name} to t = {end:g} s"
    conclude(
        written, title, [_steps(found), "", *_notes(found)], found.plain, head=title,
        figure=lambda plots: plots.step_size(found), save=found.save,
    )  # fmt: skip


def _contact(problem: ReadyProblem, arguments: dict[str, Any]) -> Any:
    """The contact law of the problem; None where it takes none."""
    parameter = inspect.signature(problem).parameters.get("contact")
    return arguments.get("contact", None if parameter is None else parameter.default)


def _case(
    problem: ReadyProblem, name: str, arguments: dict[str, Any], parameters: dict[str, float], dt: float, dt_min: float,
    dt_max: float, t_end: float,
) -> Case:  # fmt: skip
    named, landing, _ = name.partition(":landing")
    stepper, how = scheme(named), bool(landing)
    word, _, solver = named.partition(":")
    contact = _contact(problem, arguments)
    called = f"{word}, {solver}" if solver else word
    label = f"{called}, landing" if how else called
    step: float | StepControl = dt
    if word == "event-driven":
        step = ErrorControl(RTOL, ATOL, dt_min, max(dt_max, t_end / LEAST))
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


def _steps(found: StepSizes) -> Table:
    heads = ("step\n[s]", "error of\ngaps [c]", "overlap\n[m]", "comple-\nmentarity", "energy\n[J]", "impulse\n[N s]")
    measures = ("error", "violation", "complementarity", "energy", "impulse_error")
    table = table_of("stepper", *heads, "time\n[s]", "verdict", whole=True)
    for one in found.series:
        names = dict(enumerate(one.label.split(", ")))  # the name, and below it how it is used
        for i, dt in enumerate(one.dt):
            numbers = (f"{one.measures[name][i]:.1e}" for name in measures)
            table.add_row(names.get(i, ""), f"{dt:.3g}", *numbers, f"{one.seconds[i]:.2g}", one.verdicts[i])
    return table


def _notes(found: StepSizes) -> list[str]:
    lines = []
    for one in found.series:
        orders = [
            f"{what} {order:.2f}"
            for what, name in (("gaps", "error"), ("motion", "motion_error"))
            if (order := one.orders[name]) == order
        ]
        said = ", ".join(orders) if orders else "none, the error is round-off"
        lines.append(f"{one.label}: order of {said}; against {one.reference}")
    return lines
