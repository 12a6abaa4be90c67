"""From a TOML text to a model and its run: each element is created by its own class, and errors are reported with their
lines; the table ``[run]`` has defaults for options of `nonsmooth run` that are not given."""

import contextlib
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

from nonsmooth import solvers, steppers
from nonsmooth.declarative.faults import Source, check_length, parse, without_name
from nonsmooth.declarative.flexible import MOST_ELEMENTS, MatrixFile, Reduction, StlFile
from nonsmooth.declarative.schema import Accepted, Table, entries, hint, listed, schema, shown, table_of
from nonsmooth.exceptions import DeclarationError, InputError, ModelError
from nonsmooth.files import path_of
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.fits import looks_stated
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.model import Assembled, Model
from nonsmooth.model.review import REMARKS
from nonsmooth.model.signals import TimeVector
from nonsmooth.model.system import System
from nonsmooth.quantities import Quantity, Wrong, in_unit, open_unit
from nonsmooth.settings import kebab
from nonsmooth.step.control import ErrorControl, Landing, StepControl, step_control

#: remedies for an open joint, in Python and in a file
ASSEMBLE = {
    "build(assemble=True)": "assemble = true, at the top of the file,",
    'build(assemble="centred")': 'assemble = "centred", at the top of the file,',
}
STEPS = (("dt",), ("dt_min", "dt_max"), ("rtol", "atol", "dt_min", "dt_max"))  # keys that make a step, together

#: how names of files end
FILES = {
    "output": (".nc",), "figure": (".png", ".pdf", ".svg"), "animation": (".gif", ".mp4"), "report": (".html",),
}  # fmt: skip
Seconds = Annotated[float | None, Quantity("s", positive=True)]


@dataclass(frozen=True)
class Choice:
    """A stepper or a solver by name, with the settings that differ from their defaults."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """The settings of a run in a file; None for those that are not in the file.

    Parameters
    ----------
    t_end : [s], > 0
    stepper, solver : by name, with their settings
    dt : [s], constant step
    dt_min, dt_max : [s], landing, or with tolerances error control
    rtol, atol : tolerances
    accuracy : of a step that is chosen, as none is stated; and of the verdict
    check : whether to repeat a run of stated steps with finer ones
    max_steps, max_seconds : [-], [s], budget of each run, and of all that are compared, beyond which it ends as one
        that failed
    record : keep every so many rows of a run of stated steps
    output, figure, animation, report : files to write
    """

    called: ClassVar[str] = "[run]"

    t_end: Seconds = None
    stepper: Annotated[Choice | None, Accepted("a stepper by name, or a table with kind and its settings")] = None
    solver: Annotated[Choice | None, Accepted("a solver by name, or a table with kind and its settings")] = None
    dt: Seconds = None
    dt_min: Seconds = None
    dt_max: Seconds = None
    rtol: Annotated[float | None, Quantity("-", positive=True, at_most=1.0)] = None
    atol: Annotated[float | None, Quantity("-", positive=True)] = None
    accuracy: Annotated[float | None, Quantity("-", positive=True, at_most=1.0)] = None
    check: bool | None = None
    max_steps: int | None = None
    max_seconds: Seconds = None
    record: int | None = None
    output: str | None = None
    figure: str | None = None
    animation: str | None = None
    report: str | None = None

    def step(self) -> StepControl | None:
        """The constant step, `Landing` or `ErrorControl`, None if no step is given.

        >>> Run(dt_min=1e-6, dt_max=1e-3).step()
        Landing(dt_min=1e-06, dt_max=0.001)
        """
        if self.rtol is not None and self.atol is not None and self.dt_min is not None and self.dt_max is not None:
            return ErrorControl(self.rtol, self.atol, self.dt_min, self.dt_max)
        if self.dt_min is not None and self.dt_max is not None:
            return Landing(self.dt_min, self.dt_max)
        return None if self.dt is None else step_control(self.dt)

    def scheme(self) -> Any:
        """The stepper with its solver, None if no stepper is given.

        >>> Run(stepper=Choice("moreau-jean", {"theta": 0.6})).scheme().theta
        0.6
        """
        if self.stepper is None:
            return None
        settings = dict(self.stepper.settings)
        if self.solver is not None:
            settings["solver"] = solvers.by_name(self.solver.name)(**self.solver.settings)
        return steppers.by_name(self.stepper.name)(**settings)


@dataclass(frozen=True)
class Document:
    """The keys at the top of a file."""

    called: ClassVar[str] = "the top of the file"

    name: str = "model"
    assemble: Assembled = False
    silence: tuple[str, ...] = ()
    contact: Rigid | Compliant | None = None
    elements: Annotated[Any, Accepted("tables of elements, [elements.NAME]")] = field(default_factory=dict)
    run: Annotated[Any, Accepted("a table, see below")] = field(default_factory=dict)
    provenance: Annotated[Any, Accepted("tables of words, one per parameter")] = field(default_factory=dict)
    origin: Annotated[Any, Accepted("a table of the words problem and source")] = field(default_factory=dict)


class StatedModel(Model):
    """A model of a TOML file. `stated` contains the descriptions from which the file is written again, such as a beam
    instead of its modes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: name of an element and of a field -> its description in the file, from which the value was created
        self.stated: dict[tuple[str, str], Any] = {}


@dataclass(frozen=True, eq=False)
class Declaration:
    """The contents of a file: a model and its run.

    >>> from nonsmooth.declarative import read_text
    >>> stated = read_text('''
    ... [elements.ball]
    ... kind = "planar-body"
    ... mass = "200 g"
    ... inertia = "50 kg mm^2"
    ... [run]
    ... t_end = "20 ms"
    ... ''')
    >>> stated.build().parameters, stated.run.t_end
    ({'ball.mass': 0.2, 'ball.inertia': 5e-05}, 0.02)
    """

    model: StatedModel
    run: Run
    source: Source

    def build(self, *, contact: Rigid | Compliant | None = None) -> System:
        """Check the mechanism and freeze it; `contact`, if given, replaces the law of every contact.

        DeclarationError for what `Model.build` finds, with the line of the element concerned.
        """
        try:
            return self.replaced(contact).build()
        except ModelError as error:
            sentence = without_name(error)
            for in_python, in_file in ASSEMBLE.items():
                sentence = sentence.replace(in_python, in_file)
            # the first element named in the error, directly or by one of its rows, gaps or columns
            quoted = (found.partition(".")[0] for found in re.findall(r'"([^"]+)"', str(error)))
            concerned = [name for name in quoted if any(name == element.name for element in self.model.elements)][:1]
            self.source.fault(("elements", *concerned), sentence)
            self.source.check()
            raise

    def replaced(self, contact: Rigid | Compliant | None) -> StatedModel:
        """The model; `contact`, if given, replaces the law of every contact."""
        if contact is None:
            return self.model
        found = self.model.with_contact(contact)
        model = StatedModel(
            found.elements, name=found.name, provenance=found.provenance, silence=found.silence,
            assemble=found.assembled,
        )  # fmt: skip
        model.origin, model.stated = found.origin, dict(self.model.stated)
        return model

    @property
    def contacts(self) -> list[Rigid | Compliant]:
        return [element.contact for element in self.model.elements if isinstance(element, Contact)]


def read_model(path: str | Path) -> StatedModel:
    """The model described by a TOML file; its `build` assembles the initial state if the file says so.

    DeclarationError if the file does not describe a mechanism, each error on its own line, with file, line, key and
    remedy; InputError if the file cannot be read.

    Parameters
    ----------
    path : path of the file, whose keys are described in the document on the TOML form
    """
    return read(path).model


def read(path: str | Path) -> Declaration:
    """Model and run described by a TOML file."""
    try:
        file = path_of(path, "The TOML file")
        if file.exists() and not file.is_file():  # reading a pipe or a device may never end
            raise OSError(0, "it is not a regular file")
        check_length(file.stat().st_size // 4, str(path))  # up to four bytes per character in UTF-8
        data = file.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be read ({reason}): give a TOML file that describes a mechanism.") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        sentence = "this is not UTF-8 text; save the file as UTF-8."
        raise DeclarationError(f"{path}:{line}: {sentence}", faults=((line, "", sentence),)) from None
    return read_text(text, str(path), folder=file.parent)


def read_text(text: str, name: str = "text", *, folder: Path | None = None) -> Declaration:
    """Model and run described by a TOML text; `name` is used in messages, `folder` contains the files that it names."""
    source = parse(text, name)
    declaration = _Reader(source, folder).read()
    source.check()
    return declaration


class _Failed(Exception):
    """A part could not be created; its error has been added."""


class _Reader:
    """Reader of one text; it collects errors, so that all are reported at once."""

    def __init__(self, source: Source, folder: Path | None) -> None:
        self.source, self.folder = source, folder
        self.schema = schema()
        self.model, self.finite_elements = StatedModel(), 0

    def read(self) -> Declaration:
        raw = self.source.data
        top = self.source.validated(table_of(Document), raw, ())
        silence = tuple(getattr(top, "silence", None) or ())
        for name in silence:
            if name not in REMARKS:
                known = f"none of {listed(list(REMARKS))}.{hint(name, REMARKS)}"
                self.source.fault(("silence",), f"names {shown(name)}, which is {known}")
        self.model = model = StatedModel(
            name=getattr(top, "name", None) or "model", silence=tuple(name for name in silence if name in REMARKS),
            assemble=getattr(top, "assemble", None) or False,
        )  # fmt: skip
        contact = None
        if top is not None and "contact" in top.model_fields_set:
            with contextlib.suppress(_Failed):
                contact = self._make(top.contact, raw["contact"], ("contact",))  # type: ignore[attr-defined]
        elements = raw.get("elements", {})
        if not isinstance(elements, Mapping):
            self.source.fault(("elements",), f"must be tables, as [elements.crank], got {shown(elements)}.")
            elements = {}
        self._check_bodies(elements)
        for name, data in elements.items():
            element = self._element(name, data, contact)
            if element is not None:
                model.add(element)
        # the nodes named by elements, of bodies without errors
        bodies = {element.name: element for element in model.elements if isinstance(element, Body | Ground)}
        for element in model.elements:
            for key, name in zip(element.body_fields, element.body_names(), strict=True):
                owner, _, node = name.partition(".")
                nodes = getattr(bodies.get(owner), "nodes", ())
                if node and owner in bodies and node not in nodes:
                    there = f"Nodes: {listed(list(nodes))}." if nodes else "A rigid body has none; name the body."
                    sentence = f'"{owner}" has no node "{node}".{hint(node, nodes)} {there}'
                    self.source.fault(("elements", element.name, key), sentence)
        model.provenance |= self._words(raw, "provenance", nested=True)
        model.origin |= self._words(raw, "origin", nested=False)
        return Declaration(model, _read_run(self.source, raw["run"]) if "run" in raw else Run(), self.source)

    def _element(self, name: str, data: Any, contact: Any) -> Element | None:
        path = ("elements", name)
        kinds = self.schema.elements
        if not isinstance(data, Mapping):
            self.source.fault(path, f"must be a table, as [elements.{name}], got {shown(data)}.")
            return None
        kind = str(data.get("kind"))
        if kind not in kinds:
            every = ", ".join(kinds)
            if "kind" not in data:
                self.source.fault(path, f'needs kind; add kind = "...", one of {every}.')
            else:
                sentence = f"there is no kind {shown(data['kind'])}.{hint(kebab(kind), kinds)} There are {every}."
                self.source.fault((*path, "kind"), sentence)
            return None
        table = self.source.validated(kinds[kind], data, path)
        if table is None:
            return None
        given: dict[str, Any] = {"name": name}
        made = kinds[kind].made
        if issubclass(made, Contact) and made is not JointFriction and "contact" not in data:
            if contact is None and "contact" not in self.source.data:
                self.source.fault(path, 'needs a law of contact: add contact = { kind = "rigid", restitution = ..., '
                                  "friction = ... } here, or [contact] at the top for all contacts.")  # fmt: skip
            if contact is None:
                return None
            given["contact"] = contact
        try:
            element: Element = self._make(table, data, path, given)
        except _Failed:
            return None
        size = getattr(element, element.bearing, None) if isinstance(element, Clearance) and element.bearing else None
        if isinstance(element, Clearance) and size is not None and element.clearance >= size:  # probably a wrong unit
            self.source.fault(
                (*path, "clearance"),
                f"{shown(data['clearance'])} is not less than the {element.bearing} {shown(data[element.bearing])} of "
                'the joint; plain numbers are in m, so write, for example, "0.5 mm", or correct one of the two.',
            )
        return element

    def _make(self, table: Table, data: Mapping[str, Any], path: tuple[str | int, ...], given: Any = None) -> Any:
        """The object described by a table, its parts first."""
        values = dict(given or {})
        for key in sorted(table.model_fields_set - {"kind"}):
            values[key] = self._value(getattr(table, key), data[key], (*path, key))
        try:
            made = type(table).made(**values)
            if isinstance(made, StlFile | Reduction) and not isinstance(made, MatrixFile):  # written to a file again
                self.model.stated[str(path[1]), str(path[2])] = made
            if isinstance(made, StlFile):
                return made.mesh(self.folder)
            if isinstance(made, Reduction):
                self.finite_elements += made.count
                if self.finite_elements > MOST_ELEMENTS:
                    raise InputError(
                        f"elements of this file are {self.finite_elements} so far, more than the {MOST_ELEMENTS} that "
                        "it may have in total; use fewer, or build such a mechanism in Python."
                    )
                return made.modes(self.folder)
        except InputError as error:
            self.source.fault_of(error, type(table), path)
            raise _Failed from None
        # check units that only the created object knows: of a motion, of a stiffness with an exponent
        for entry in entries(type(table)):
            if not open_unit(entry.unit) or entry.key not in data or not hasattr(made, "quantity"):
                continue
            unit = made.quantity(entry.key).unit
            place = entry.unit.split(" or ").index(unit) if unit in entry.unit.split(" or ") else 0
            self._check_unit(data[entry.key], unit, (*path, entry.key))
            part = getattr(table, entry.key)
            if isinstance(part, Table):
                for inner in entries(type(part)):
                    if open_unit(inner.unit) and inner.key in data[entry.key]:
                        own = inner.unit.split(" or ")[place]
                        self._check_unit(data[entry.key][inner.key], own, (*path, entry.key, inner.key))
        return made

    def _value(self, value: Any, data: Any, path: tuple[str | int, ...]) -> Any:
        """The value of a key; a list that contains functions of time is a vector function."""
        if isinstance(value, Table):
            return self._make(value, data, path)
        if isinstance(value, dict):
            return {name: self._value(one, data[name], (*path, name)) for name, one in value.items()}
        if not isinstance(value, list):
            return value
        return TimeVector(tuple(self._value(one, data[i], (*path, i)) for i, one in enumerate(value)))

    def _check_unit(self, value: Any, unit: str, path: tuple[str | int, ...]) -> None:
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not looks_stated(text):
                try:
                    in_unit(text, unit)
                except Wrong as error:
                    self.source.fault(path, str(error))

    def _check_bodies(self, elements: Mapping[str, Any]) -> None:
        """Check the bodies named by elements, also of elements that have other errors."""
        known = self.schema.elements
        kinds = {name: str(data.get("kind")) for name, data in elements.items() if isinstance(data, Mapping)}
        classes: dict[str, Any] = {name: known[kind].made for name, kind in kinds.items() if kind in known}
        bodies = [name for name, cls in classes.items() if issubclass(cls, Body | Ground)]
        owners, there = set(bodies), f"Bodies: {listed(bodies)}."
        for name, cls in classes.items():
            for key in cls.body_fields:
                body = elements[name].get(key)
                body = body.partition(".")[0] if isinstance(body, str) else body  # the node is checked with the body
                if not isinstance(body, str) or body in owners or body in kinds and body not in classes:
                    continue
                if body in kinds:
                    sentence = f'"{body}" is a {kinds[body]}, not a body. {there}'
                elif body == "ground" and not any(classes[one] is Ground for one in bodies):
                    sentence = 'there is no ground in the file; add [elements.ground] with kind = "ground".'
                else:
                    sentence = f'the body "{body}" is not in the file.{hint(body, bodies)} {there}'
                self.source.fault(("elements", name, key), sentence)

    def _words(self, raw: Mapping[str, Any], key: str, *, nested: bool) -> dict[str, Any]:
        """A table of words and numbers that are not used in equations."""
        data = raw.get(key, {})
        if not (isinstance(data, Mapping) and all(isinstance(one, Mapping) == nested for one in data.values())):
            example = '[provenance."crank.mass"] with source = "..."' if nested else 'source = "..."'
            self.source.fault((key,), f"must be a table, as {example}, got {shown(data)}.")
            return {}
        return {name: dict(one) if nested else one for name, one in data.items()}


def _read_run(source: Source, data: Any) -> Run:
    path = ("run",)
    if not isinstance(data, Mapping):
        source.fault(path, f"must be a table, as [run], got {shown(data)}")
        return Run()
    found = source.validated(table_of(Run), data, path)
    given = [key for key in ("dt", "rtol", "atol", "dt_min", "dt_max") if key in data]
    misspelt = set(data) - {field.name for field in fields(Run)}  # of which one may be the missing part of the step
    if given and not misspelt and not any(set(given) == set(step) for step in STEPS):
        accepted = "dt alone (constant step), dt_min and dt_max (landing), or these two with rtol and atol"
        source.fault((*path, given[0]), f"{' and '.join(given)} alone define no step; give {accepted}.")
    known = {} if found is None else {key: getattr(found, key) for key in found.model_fields_set}
    choices = (("stepper", steppers.names(), steppers.by_name), ("solver", solvers.names(), solvers.by_name))
    for key, names, by_name in choices:
        if key in data:
            known[key] = _choice(source, data[key], (*path, key), names, by_name)
    for key, suffixes in FILES.items():
        if isinstance(data.get(key), str) and Path(data[key]).suffix.lower() not in suffixes:
            source.fault((*path, key), f"{shown(data[key])} must be a name that ends in {' or '.join(suffixes)}.")
    run = Run(**known)
    try:
        run.step()
    except InputError as error:
        source.fault((*path, "dt_min" if "dt_min" in known else "dt"), str(error))
    if "solver" in data and "stepper" not in data:
        source.fault((*path, "solver"), "stands without a stepper, whose solver it is; add stepper = ...")
    return run


def _choice(source: Source, value: Any, path: tuple[str, ...], names: tuple[str, ...], by_name: Any) -> Choice | None:
    what = path[-1]
    name = value.get("kind") if isinstance(value, Mapping) else value
    if not isinstance(name, str):
        example = f'{what} = "{names[0]}", or {what} = {{ kind = "{names[0]}", ... }}'
        source.fault(path, f"must be a name or a table with kind, got {shown(value)}; write {example}.")
        return None
    if name not in names:
        source.fault(path, f'There is no {what} "{name}".{hint(name, names)} There are {", ".join(names)}.')
        return None
    if not isinstance(value, Mapping):
        return Choice(name)
    make = by_name(name)
    fixed = make.keywords if isinstance(make, functools.partial) else {}
    table = table_of(make.func if fixed else make, name)
    settings = source.validated(table, value, path)
    if settings is None:
        return None
    chosen = {key: getattr(settings, key) for key in settings.model_fields_set - {"kind"}}
    try:
        make(**chosen)
    except InputError as error:
        source.fault_of(error, table, path)
    return Choice(name, chosen)
