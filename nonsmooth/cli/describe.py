"""`nonsmooth list` and `describe`: ready problems; elements of a mechanism, the origin of its numbers, a drawing."""

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from nonsmooth.cli.files import FIGURE_FORMATS, check_writable, is_file
from nonsmooth.cli.fits import RADIAL, UM
from nonsmooth.cli.inputs import Mechanism, Request
from nonsmooth.cli.options import Problem
from nonsmooth.cli.report import draw, grid, print_object, show, table_of
from nonsmooth.cli.values import settings_from
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.fits import Fit
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.joints import Joint
from nonsmooth.model.registry import Problem as ReadyProblem
from nonsmooth.model.registry import find_problems, get_problem, needed
from nonsmooth.model.shapes import Shape
from nonsmooth.model.system import System
from nonsmooth.robots import ENDINGS

#: columns of a body's start in space, with the labels of their components
STARTS = (
    ("start: position [m]", ("x", "y", "z")),
    ("quaternion [-]", ("qw", "qx", "qy", "qz")),
    ("velocity [m/s]", ("x", "y", "z")),
    ("angular velocity [rad/s]", ("wx", "wy", "wz")),
)
ZERO, ROUND_OFF = 1e-14, 1e-13  # components below, and below this share of the largest of their vector, are shown as 0
SHOWN = 6  # frequencies of a flexible body and names of its nodes that are shown, the first and the last of more


def list_problems(*, tags: tuple[str, ...] = (), as_json: bool = False) -> None:
    """List the ready problems; where output is piped, one line each: name, summary and tags between tabs.

    Parameters
    ----------
    tags : --tag
        Only problems that have this tag; repeatable, all must fit.
    """
    problems = dict(sorted(find_problems().items()))
    known = sorted({one for problem in problems.values() for one in problem.tags})
    for word in tags:
        if word not in known:
            raise InputError(f"--tag {word}: no problem has this tag; there are {', '.join(known)}.")
    problems = {name: one for name, one in problems.items() if set(tags) <= set(one.tags)}
    if as_json:
        return print_object({name: {"summary": one.summary, "tags": one.tags} for name, one in problems.items()})
    rows = [(name, one.summary, ", ".join(one.tags)) for name, one in problems.items()]
    if sys.stdout.isatty():
        show(table_of("problem", "what it is", "tags", rows=rows))
    else:
        for row in rows:
            print("\t".join(row))


def describe(
    problem: Problem, *, case: str | None = None, settings: tuple[str, ...] = (), figure: Path | None = None
) -> None:
    """Show the source of a problem, its values with their origin, bodies, joints and contacts, and draw it.

    Parameters
    ----------
    settings : --set NAME=VALUE
        Argument of the problem, or element.parameter; repeatable.
    figure
        Drawing of the mechanism to write (.png, .pdf, .svg).
    """
    words = settings_from(settings)
    for owner, entries in (("solver", words.solver), ("stepper", words.stepper)):
        if entries:
            raise InputError(f"--set {owner}.{next(iter(entries))}: a description has no {owner}; leave that out.")
    check_writable("--figure", figure, FIGURE_FORMATS)
    ready = None if is_file(problem) else get_problem(problem)
    if ready is not None:
        given = {**words.arguments, **({} if case is None else {"case": case})}
        missing = [name for name in needed(inspect.signature(ready)) if name not in given]
        if missing:
            hint = f"Its bodies and joints are shown once {missing[0]!r} is given: --set {missing[0]}=VALUE."
            return show(*problem_description(ready), "", hint)
    mechanism = Request(problem=problem, case=case, settings=settings).mechanism()
    parts = [] if ready is None else [*problem_description(ready), ""]
    parts += mechanism_description(mechanism)
    if Path(problem).suffix.lower() in ENDINGS:
        from nonsmooth.robots.reading import read_robot

        rows = read_robot(problem).report.rows
        parts += ["", table_of("of the file", "part", "name", "what it is in the model", rows=rows)]
    if figure is not None:
        draw(figure, lambda plots: plots.sketch(mechanism.system))
        parts += ["", f"drawn in {figure}"]
    show(*parts)


def problem_description(problem: ReadyProblem) -> list[RenderableType]:
    head = grid(f"{problem.name}: {problem.summary}")
    head.add_row("source", problem.source)
    if problem.t_end is not None:
        head.add_row("end of a run", f"{problem.t_end:g} s, unless --t-end is given")
    head.add_row("tags", ", ".join(problem.tags))
    arguments = table_of("argument", "default")
    for name, parameter in inspect.signature(problem).parameters.items():
        arguments.add_row(name, "required" if parameter.default is parameter.empty else str(parameter.default))
    values = table_of("parameter", "value", "unit", "kind", "source")
    for name, origin in problem.provenance.items():
        source = f"{origin.source} ({origin.note})" if origin.note else origin.source
        value = origin.value if isinstance(origin.value, str) else f"{origin.value:.9g}"
        values.add_row(name, value, origin.unit, origin.kind, source)
    return [head, "", arguments, "", values, "", "Both are changed by --set NAME=VALUE."]


def mechanism_description(mechanism: Mechanism) -> list[RenderableType]:
    """Tables of a mechanism: freedom, bodies, modes, joints, contacts, shapes, loads; of a file all parameters."""
    system = mechanism.system
    values = dict(zip(system.parameters, system.parameter_vector(mechanism.parameters).tolist(), strict=True))
    head = grid(f"mechanism: {system.name}")
    redundant = system.redundant_at(system.start, system.parameter_vector(mechanism.parameters))
    rank = system.ng - len(redundant)
    constraints = f"{rank} independent of {system.ng} constraints" if redundant else f"{system.ng} constraints"
    freedom = f"{system.nv - rank} = {system.nv} velocities - {constraints} of joints and motors"
    head.add_row("degrees of freedom", freedom)
    for row in redundant:
        head.add_row("redundant", str(row))
    head.add_row("contacts", f"{system.nc}, each open or closed" if system.nc else "none")
    head.add_row("parameters", f"{len(values)} numbers, as element.parameter")
    starts = [title for title, _ in STARTS] if system.dimension == 3 else ["start: position", "velocity"]
    kinds: tuple[tuple[type, Table], ...] = (
        (Body, table_of("body", "mass [kg]", "inertia [kg m^2]", *starts)),
        (Joint, table_of("joint or motor", "kind", "between", "holds")),
        (Contact, table_of("clearance or contact", "kind", "between", "sizes", "law")),
        (Shape, table_of("shape", "kind", "of")),
        (Element, table_of("load", "kind", "acts on", "values")),
    )
    for element in system.elements:
        rows = next(one for kind, one in kinds if isinstance(element, kind))
        if type(element).__name__ != "Ground":
            rows.add_row(*_row(element, system, values))
    parts: list[RenderableType] = [head]
    tables = [rows for _, rows in kinds]
    for rows in tables:
        rows.columns[1].no_wrap = True
    for rows in (tables[0], _flexible(system, values), *tables[1:]):
        parts += ["", rows] if rows.row_count else []
    stated = system.toleranced(mechanism.parameters)
    heads = (f"{what}\n[um]" for what in ("hole", "shaft", "diametral", "radial", "taken"))
    fits = table_of("clearance", "fit", *heads, whole=True)
    toleranced = table_of("toleranced", "nominal", "tolerance", "limits", "unit", "scatter")
    for name, size in stated.items():
        if isinstance(size, Fit):
            deviations = (f"{limits.lower:+g}, {limits.upper:+g}" for limits in (size.hole_limits, size.shaft_limits))
            ranges = (f"{low / UM:.6g} to {high / UM:.6g}" for low, high in (size.diametral, (size.lower, size.upper)))
            fits.add_row(name, size.text, *deviations, *ranges, f"{float(size) / UM:.6g}")
        else:
            toleranced.add_row(name, f"{float(size):.9g}", f"±{size.tolerance:g}",
                               f"{size.lower:.9g} to {size.upper:.9g}", system.unit_of(name), size.words)  # fmt: skip
    parts += ["", RADIAL, fits] if fits.row_count else []
    parts += ["", toleranced] if toleranced.row_count else []
    if mechanism.problem is None:
        rows = table_of("parameter", "value", "unit", "origin")
        for name, value in values.items():
            origin = system.provenance.get(name, {})
            source = ", ".join(str(origin[key]) for key in ("kind", "source") if key in origin)
            rows.add_row(name, f"{value:.9g}", system.unit_of(name), source)
        parts += ["", rows]
    return parts


def _row(element: Element, system: System, values: Mapping[str, float]) -> tuple[str, ...]:
    name, kind, between = element.name, type(element).__name__, ", ".join(element.body_names())
    numbers = {label: values[f"{name}.{label}"] for label in element.numbers()}
    if isinstance(element, Body):
        mass = f"{numbers.pop('mass'):g}"
        inertia = ", ".join(f"{value:g}" for label, value in numbers.items() if label.startswith("inertia"))
        q = dict(zip(system.q_names, system.start.q.tolist(), strict=True))
        v = dict(zip(system.v_names, system.start.v.tolist(), strict=True))
        start = []
        if system.dimension == 3:
            for title, labels in STARTS:
                columns = q if title.startswith("start") or "quaternion" in title else v
                start.append(_vector(columns[f"{name}.{label}"] for label in labels))
        else:  # the columns that are not 0, with their labels
            for columns in (q, v):
                own = {one.removeprefix(f"{name}."): x for one, x in columns.items() if one.startswith(f"{name}.")}
                moving = {label: x for label, x in own.items() if abs(x) > ZERO and not label.startswith("eta")}
                start.append(", ".join(f"{label} {x:.6g}" for label, x in moving.items()) or "0")
        return (name, mass, inertia, *start)
    if isinstance(element, Joint):
        return name, kind, between, ", ".join(f"{label} [{unit}]" for label, unit in element.rows)
    if isinstance(element, Contact):
        law = {label: numbers.pop(label) for label in element.contact.numbers() if label in numbers}
        numbers.pop("size", None)
        made = element.contact
        parts = [made] if isinstance(made, Rigid) else [part for part in (made.normal, made.friction) if part]
        laws = " and ".join(type(part).__name__ for part in parts)
        telling = {label: value for label, value in law.items() if value or label in ("restitution", "friction")}
        stated = ", ".join(filter(None, (laws, _numbers(element, telling))))
        return name, kind, between, _numbers(element, numbers), stated
    if isinstance(element, Shape):
        return name, kind, between
    signals = [field for field in vars(element) if callable(getattr(element, field))]
    shown = [_numbers(element, numbers), *(f"{field}: function of time" for field in signals)]
    return name, kind, between or "every body", ", ".join(filter(None, shown))


def _flexible(system: System, values: Mapping[str, float]) -> Table:
    rows = table_of("flexible body", "modes", "frequencies [Hz]", "damping ratios [-]", "nodes", "start")
    start = dict(zip(system.q_names, system.start.q.tolist(), strict=True))
    for body in system.elements:
        if isinstance(body, FlexibleBody):
            numbers = {field: np.array([values[f"{body.name}.{field}_{i + 1}"] for i in range(body.count)])
                       for field in ("frequency", "damping")}  # fmt: skip
            ratios = numbers["damping"] / (2.0 * numbers["frequency"])
            deformed = any(q for name, q in start.items() if name.startswith(f"{body.name}.eta"))
            frequencies = [f"{one:.5g}" for one in numbers["frequency"] / (2.0 * np.pi)]
            spread = f"{ratios.min():.3g}" if np.ptp(ratios) < 1e-9 else f"{ratios.min():.3g} to {ratios.max():.3g}"
            rows.add_row(body.name, str(body.count), _some(frequencies), spread, _some(body.nodes),
                         "deformed" if deformed else "undeformed")  # fmt: skip
    return rows


def _some(words: Sequence[str]) -> str:
    """All of a few words, of many the first and the last."""
    return ", ".join(words if len(words) <= SHOWN else [*words[: SHOWN - 1], "...", words[-1]])


def _vector(components: Iterable[float]) -> str:
    """(x, y, z), where round-off of the largest component counts as 0."""
    known = list(components)
    least = max(ZERO, ROUND_OFF * max(map(abs, known)))
    return f"({', '.join(f'{x:.6g}' if abs(x) > least else '0' for x in known)})"


def _numbers(element: Element, numbers: Mapping[str, float]) -> str:
    """Numbers with their units, without places: those are in the drawing."""
    shown: dict[str, str] = {}
    for label, value in numbers.items():
        if label.startswith("at_") or label == "direction" and not value:
            continue
        field, unit = label.removesuffix("_x"), element.quantity(label).unit
        parts = [numbers.get(f"{field}_{axis}") for axis in "xyz"]
        if label.endswith("_x") and None not in parts:  # a vector in space
            shown[field] = f"{field} {_vector(part for part in parts if part is not None)} {unit}"
        elif label.rpartition("_")[0] not in shown:
            shown[label] = f"{label} {value:.6g} {unit}"
    return ", ".join(one.removesuffix(" -") for one in shown.values())
