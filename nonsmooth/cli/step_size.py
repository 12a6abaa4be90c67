"""`nonsmooth study step-size`: from words to cases, and what is printed."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from rich.table import Table

from nonsmooth.cli.files import problem_of
from nonsmooth.cli.inputs import check_dimensions, in_units, settings_from
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report_page import conclude
from nonsmooth.cli.studies import end_of
from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    from nonsmooth.cli.study import StepSize
    from nonsmooth.registry import Problem
    from nonsmooth.studies.comparison import Case
    from nonsmooth.studies.orders import StepSizes

__all__ = ["carry_out_step_size"]

#: schemes where none are given
STEPPERS = ("gauss-qp", "moreau-jean", "generalized-alpha", "gauss-qp:landing", "event-driven")
#: those that are plastic at a constant step
PLASTIC = ("gauss-qp", "gauss-mpcc")
#: coarsest tolerances of the event-driven scheme
RTOL, ATOL = 1e-4, 1e-6
#: steps of the event-driven scheme, at least
LEAST = 4


def carry_out_step_size(request: StepSize) -> int:
    """Run the steps, write the requested files, and print the table."""
    problem = problem_of(request.problem)
    stated = problem.step_size
    given = {
        "--t-end": request.t_end if request.t_end is not None else stated.t_end if stated else end_of(request.problem),
        "--dt": request.dt if request.dt is not None else stated and stated.dt,
        "--dt-max": request.dt_max if request.dt_max is not None else stated and stated.dt_max,
    }
    missing = [option for option, value in given.items() if value is None]
    if missing:
        raise InputError(f"{problem.name} states no steps to study: give {', '.join(missing)}.")
    words = settings_from(request.settings if request.case is None else (*request.settings, f"case={request.case}"))
    if words.solver or words.stepper:
        raise InputError("A study of steps takes arguments and parameters by --set only.")
    arguments = dict(stated.arguments if stated else {}) | in_units(problem, words.arguments)
    t_end, dt, dt_max = (float(value) for value in given.values())  # type: ignore[arg-type]
    cases = [
        _case(problem, name, arguments, words.parameters, dt, min(request.dt_min, dt_max), dt_max, t_end)
        for name in request.steppers or STEPPERS
    ]
    landed = any(name.endswith(":landing") for name in request.steppers or STEPPERS)

    from nonsmooth.studies.step_size import step_size

    contact = _contact(problem, arguments)
    fixed = {name: value for name, value in arguments.items() if name != "contact"}

    def build(law: Any) -> Any:
        return problem(**fixed) if contact is None else problem(**fixed, contact=law)

    check_dimensions(lambda: build(contact), words.texts)
    with study_bar() as progress:
        found = step_size(
            build,
            cases, t_end=t_end, levels=request.levels, jitter=request.jitter, reference=request.reference,
            bounds=stated.bounds if stated and landed else None, workers=request.workers, progress=progress,
        )  # fmt: skip
    name = " ".join([problem.name, *(f"{key}={value}" for key, value in (fixed | words.parameters).items())])
    title = f"{name} to t = {t_end:g} s"
    conclude(
        request, title, [_table(found), "", *_notes(found)], found.plain, head=title,
        draw=lambda plots: plots.step_size(found), save=found.save,
    )  # fmt: skip
    return 0


def _contact(problem: Problem, arguments: dict[str, Any]) -> Any:
    """The contact law of the problem; None where it takes none."""
    parameter = inspect.signature(problem).parameters.get("contact")
    return arguments.get("contact", None if parameter is None else parameter.default)


def _case(
    problem: Problem, name: str, arguments: dict[str, Any], parameters: dict[str, float], dt: float, dt_min: float,
    dt_max: float, t_end: float,
) -> Case:  # fmt: skip
    from nonsmooth.laws.rigid import Rigid
    from nonsmooth.step_control import ErrorControl, Landing, StepControl
    from nonsmooth.studies.comparison import Case
    from nonsmooth.studies.schemes import scheme

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
        try:
            taken = {key: value for key, value in arguments.items() if key != "contact"}
            law = {"contact": contact} if "contact" in inspect.signature(problem.exact).parameters else {}
            exact = problem.exact(**taken, **law)
        except InputError:
            exact = None
        if not (hasattr(exact, "sample") and hasattr(exact, "events")):
            exact = None
    return Case(label, contact, stepper, step, parameters or None, exact)


def _table(found: StepSizes) -> Table:
    columns = ("step\n[s]", "error of\ngaps [c]", "overlap\n[m]", "comple-\nmentarity", "energy\n[J]", "impulse\n[N s]")
    table = Table("stepper", *columns, "time\n[s]", "verdict", box=None, pad_edge=False)
    for column in table.columns:
        column.no_wrap = True
    for one in found.series:
        for i, dt in enumerate(one.dt):
            numbers = [one.measures[name][i] for name in
                       ("error", "violation", "complementarity", "energy", "impulse_error")]  # fmt: skip
            heads = one.label.split(", ")  # the name, and below it how it is used
            head = heads[i] if i < len(heads) else ""
            table.add_row(head, f"{dt:.3g}", *(f"{x:.1e}" for x in numbers), f"{one.seconds[i]:.2g}", one.verdicts[i])
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
