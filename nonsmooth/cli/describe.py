"""`nonsmooth describe`: the elements of a mechanism, the origin of its numbers, and a drawing."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from nonsmooth.cli.files import is_file
from nonsmooth.cli.fits import RADIAL, UM
from nonsmooth.cli.inputs import FIGURE_FORMATS, Mechanism, Request, check_writable, settings_from
from nonsmooth.cli.report import _grid, _table, problem_description, show
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_figure
from nonsmooth.fits import Fit, Toleranced
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.joints import Joint
from nonsmooth.model.shapes import Shape
from nonsmooth.model.system import System
from nonsmooth.registry import get_problem
from nonsmooth.stages import stage

if TYPE_CHECKING:
    from nonsmooth.cli.app import Describe

__all__ = ["carry_out", "mechanism_description"]

#: columns of a body's start in space, with the labels of their components
STARTS = (
    ("start: position [m]", ("x", "y", "z")),
    ("quaternion [-]", ("qw", "qx", "qy", "qz")),
    ("velocity [m/s]", ("x", "y", "z")),
    ("angular velocity [rad/s]", ("wx", "wy", "wz")),
)
#: components below, and below this share of the largest of their vector, are shown as 0
ZERO, ROUND_OFF = 1e-14, 1e-13
#: frequencies of a flexible body and names of its nodes that are shown, the first and the last of more
SHOWN = 6


def carry_out(asked: Describe) -> int:
    """Describe a ready problem or a file's model, and draw it on request."""
    problem, case, settings, figure = asked.problem, asked.case, asked.settings, asked.figure
    words = settings_from(settings)
    for owner, entries in (("solver", words.solver), ("stepper", words.stepper)):
        if entries:
            raise InputError(f"--set {owner}.{next(iter(entries))}: a description has no {owner}; leave that out.")
    check_writable("--figure", figure, FIGURE_FORMATS)
    ready = None if is_file(problem) else get_problem(problem)
    if ready is not None:
        given = {**words.arguments, **({} if case is None else {"case": case})}
        missing = _missing(inspect.signature(ready), given)
        if missing:
            hint = f"Its bodies and joints are shown once {missing[0]!r} is given: --set {missing[0]}=VALUE."
            show(*problem_description(ready), "", hint)
            return 0
    mechanism = Request(problem=problem, case=case, settings=settings).mechanism()
    parts = [] if ready is None else [*problem_description(ready), ""]
    parts += mechanism_description(mechanism)
    if figure is not None:
        _draw(mechanism.system, figure)
        parts += ["", f"drawn in {figure}"]
    show(*parts)
    return 0


def mechanism_description(mechanism: Mechanism) -> list[RenderableType]:
    """Tables of a mechanism: freedom, bodies, modes, joints, contacts, shapes, loads; of a file all parameters."""
    system = mechanism.system
    values = dict(zip(system.parameters, system.parameter_vector(mechanism.parameters).tolist(), strict=True))
    head = _grid(f"mechanism: {system.name}")
    redundant = system.redundant_at(system.start, system.parameter_vector(mechanism.parameters))
    rank = system.ng - len(redundant)
    constraints = f"{rank} independent of {system.ng} constraints" if redundant else f"{system.ng} constraints"
    freedom = f"{system.nv - rank} = {system.nv} velocities - {constraints} of joints and motors"
    head.add_row("degrees of freedom", freedom)
    for one in redundant:
        head.add_row("redundant", str(one))
    head.add_row("contacts", f"{system.nc}, each open or closed" if system.nc else "none")
    head.add_row("parameters", f"{len(values)} numbers, as element.parameter")
    starts = [title for title, _ in STARTS] if system.dimension == 3 else ["start: position", "velocity"]
    kinds: tuple[tuple[type, Table], ...] = (
        (Body, _table("body", "mass [kg]", "inertia [kg m^2]", *starts)),
        (Joint, _table("joint or motor", "kind", "between", "holds")),
        (Contact, _table("clearance or contact", "kind", "between", "sizes", "law")),
        (Shape, _table("shape", "kind", "of")),
        (Element, _table("load", "kind", "acts on", "values")),
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
        if rows.row_count:
            parts += ["", rows]
    stated = system.toleranced(mechanism.parameters)
    if any(isinstance(one, Fit) for one in stated.values()):
        parts += ["", RADIAL, _fits(stated)]
    if any(isinstance(one, Toleranced) for one in stated.values()):
        parts += ["", _tolerances(system, stated)]
    if mechanism.problem is None:
        parts += ["", _parameters(system, values)]
    return parts


def _fits(stated: Mapping[str, Fit | Toleranced]) -> Table:
    """Limit deviations of hole and shaft, and the clearances that follow."""
    rows = _table("clearance", "fit", "hole [um]", "shaft [um]", "diametral [um]", "radial [um]", "taken [um]")
    for name, one in stated.items():
        if isinstance(one, Fit):
            deviations = (f"{limits.lower:+g}, {limits.upper:+g}" for limits in (one.hole_limits, one.shaft_limits))
            ranges = (f"{low / UM:.6g} to {high / UM:.6g}" for low, high in (one.diametral, (one.lower, one.upper)))
            rows.add_row(name, one.text, *deviations, *ranges, f"{float(one) / UM:.6g}")
    return rows


def _tolerances(system: System, stated: Mapping[str, Fit | Toleranced]) -> Table:
    rows = _table("toleranced", "nominal", "tolerance", "limits", "unit", "scatter")
    owners = {element.name: element for element in system.elements}
    for name, one in stated.items():
        if isinstance(one, Toleranced):
            owner, _, label = name.partition(".")
            rows.add_row(name, f"{float(one):.9g}", f"±{one.tolerance:g}", f"{one.lower:.9g} to {one.upper:.9g}",
                         owners[owner].quantity(label).unit, one.words)  # fmt: skip
    return rows


def _row(element: Element, system: System, values: Mapping[str, float]) -> tuple[str, ...]:
    name, kind, between = element.name, type(element).__name__, ", ".join(element.body_names())
    numbers = {label: values[f"{name}.{label}"] for label in element.numbers()}
    if isinstance(element, Body):
        mass = f"{numbers.pop('mass'):g}"
        inertia = ", ".join(f"{value:g}" for label, value in numbers.items() if label.startswith("inertia"))
        return (name, mass, inertia, *_start(name, system))
    if isinstance(element, Joint):
        return name, kind, between, ", ".join(f"{label} [{unit}]" for label, unit in element.rows)
    if isinstance(element, Contact):
        law = {label: numbers.pop(label) for label in element.contact.numbers()}
        numbers.pop("size", None)
        return name, kind, between, _numbers(element, numbers), _law(element, law)
    if isinstance(element, Shape):
        return name, kind, between
    signals = [field for field in vars(element) if callable(getattr(element, field))]
    shown = [_numbers(element, numbers), *(f"{field}: function of time" for field in signals)]
    return name, kind, between or "every body", ", ".join(filter(None, shown))


def _flexible(system: System, values: Mapping[str, float]) -> Table:
    """Modes and nodes of the flexible bodies."""
    rows = _table("flexible body", "modes", "frequencies [Hz]", "damping ratios [-]", "nodes", "start")
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


def _start(body: str, system: System) -> list[str]:
    """The columns of a body's start: position and velocity, in space with orientation and angular velocity apart."""
    q = dict(zip(system.q_names, system.start.q.tolist(), strict=True))
    v = dict(zip(system.v_names, system.start.v.tolist(), strict=True))
    if system.dimension == 2:
        return [_telling(body, columns) for columns in (q, v)]
    found = [(q if title.startswith("start") or "quaternion" in title else v, labels) for title, labels in STARTS]
    return [_vector(columns[f"{body}.{label}"] for label in labels) for columns, labels in found]


def _telling(body: str, columns: Mapping[str, float]) -> str:
    """The columns of one body that are not 0, with their labels."""
    found = [
        f"{name.rpartition('.')[2]} {value:.6g}"
        for name, value in columns.items()
        if name.rpartition(".")[0] == body and abs(value) > ZERO and not name.startswith(f"{body}.eta")
    ]
    return ", ".join(found) or "0"


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


def _law(element: Contact, numbers: Mapping[str, float]) -> str:
    """Names of the laws, and those of their numbers that say something."""
    law = element.contact
    parts = [law] if isinstance(law, Rigid) else [part for part in (law.normal, law.friction) if part is not None]
    names = " and ".join(type(part).__name__ for part in parts)
    telling = {label: value for label, value in numbers.items() if value or label in ("restitution", "friction")}
    return ", ".join(filter(None, (names, _numbers(element, telling))))


def _parameters(system: System, values: Mapping[str, float]) -> Table:
    rows = _table("parameter", "value", "unit", "origin")
    owners = {element.name: element for element in system.elements}
    for name, value in values.items():
        owner, _, label = name.partition(".")
        origin = system.provenance.get(name, {})
        stated = ", ".join(str(origin[key]) for key in ("kind", "source") if key in origin) if origin else ""
        rows.add_row(name, f"{value:.9g}", owners[owner].quantity(label).unit, stated)
    return rows


def _missing(signature: inspect.Signature, given: Mapping[str, Any]) -> list[str]:
    """Arguments without default that are not given."""
    return [
        name
        for name, one in signature.parameters.items()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and name not in given
    ]


def _draw(system: System, path: Path) -> None:
    """Draw the mechanism at its start and write it."""
    os.environ.setdefault("MPLBACKEND", "agg")
    from nonsmooth import plots

    with stage("drawing", path.name):
        write_figure(plots.sketch(system), path)
