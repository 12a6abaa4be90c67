"""From a model to its TOML text, from which the same numbers are read."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth.declarative.faults import BARE, MOST
from nonsmooth.declarative.flexible import FORMS
from nonsmooth.declarative.reading import StatedModel
from nonsmooth.declarative.schema import schema
from nonsmooth.exceptions import InputError, ModelError
from nonsmooth.files import write_bytes
from nonsmooth.laws import by_name, names
from nonsmooth.laws.base import Law
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.fits import Scatter
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.kinds import time_functions
from nonsmooth.model.loads import Load
from nonsmooth.model.model import Model
from nonsmooth.model.signals import TimeFunction, TimeVector

WIDE = 100  # longest inline table [characters]


def write_model(model: Model, path: str | Path) -> None:
    """Write a model as a TOML file, from which `read_model` recreates it with the same numbers.

    ModelError if a load or motion is a Python function, the class of an element or law has no name in TOML files, or
    there are more values than a file may contain, as in tables of many modes; NotWritten if the file cannot be
    written; one that exists remains as it is.
    """
    write_bytes(model_text(model).encode(), path, "The model")


def model_text(model: Model) -> str:
    """The TOML text of a model.

    ModelError as of `write_model`.

    >>> from nonsmooth import Ground, Model, PlanarBody, Spring
    >>> model = Model([Ground(), PlanarBody("ball", mass=0.2, inertia=5e-5)], name="ball on a spring")
    >>> spring = model.add(Spring("spring", "ground", "ball", stiffness=100.0))
    >>> print(model_text(model))
    name = "ball on a spring"
    <BLANKLINE>
    [elements.ground]
    kind = "ground"
    <BLANKLINE>
    [elements.ball]
    kind = "planar-body"
    mass = 0.2
    inertia = 5e-05
    <BLANKLINE>
    [elements.spring]
    kind = "spring"
    a = "ground"
    b = "ball"
    stiffness = 100.0
    <BLANKLINE>
    """
    if not isinstance(model, Model):
        raise InputError(f"write_model takes a Model, got {type(model).__name__}; make one with Model([...]).")
    writer, count = _Writer(model), 0
    top: dict[str, Any] = {"name": model.name}
    if model.assembled:
        top["assemble"] = model.assembled
    if model.silence:
        top["silence"] = list(model.silence)
    parts = ["".join(f"{key} = {_plain(value)}\n" for key, value in top.items())]
    origin = {key: value for key, value in model.origin.items() if key in ("problem", "source")}
    if origin:  # without the arguments of the problem, since the file describes the mechanism itself
        parts.append(_table(("origin",), origin))
    contacts = [one for one in model.elements if isinstance(one, Contact) and not isinstance(one, JointFriction)]
    laws = [element.contact for element in contacts]
    in_common = len(laws) > 1 and all(law == laws[0] for law in laws)
    if in_common:
        parts.append(_table(("contact",), writer.object(laws[0], laws[0])))
    for element in model.elements:
        found = writer.object(element, element)
        found.pop("name", None)
        if in_common and element in contacts:
            found.pop("contact")
        count += _count(found)
        if count > MOST:
            instead = "describe its beam in a file, keep fewer modes, or " if "modes" in found else ""
            raise _error(element, f"with it the file has more than {MOST} values, the limit for reading; "
                         f"{instead}keep the model in Python.")  # fmt: skip
        parts.append(_table(("elements", element.name), found))
    if model.provenance:
        lines = (f"{_key(name)} = {_plain(dict(one))}\n" for name, one in model.provenance.items())
        parts.append("[provenance]\n" + "".join(lines))
    return "\n".join(parts)


class _Writer:
    def __init__(self, model: Model) -> None:
        known = schema()
        #: name of each class
        self.kinds: dict[Any, str] = {table.made: kind for kind, table in {**known.elements, **known.contacts}.items()}
        self.kinds |= {cls: kind for kind, cls in time_functions().items()}
        self.kinds |= {by_name(kind, "normal"): kind for kind in names("normal")}
        self.kinds |= {by_name(kind, "friction"): kind for kind in names("friction")}
        #: classes of tables with a kind, other than elements, laws and functions
        self.forms: dict[Any, str] = {cls: kind for kinds in FORMS.values() for kind, cls in kinds.items()}
        self.kinds |= self.forms
        #: descriptions that are written instead of the values of fields
        self.stated: Mapping[tuple[str, str], Any] = model.stated if isinstance(model, StatedModel) else {}

    def object(self, thing: Any, owner: Any) -> dict[str, Any]:
        """Kind and keys of an element, a law or a function of time; defaults are left out."""
        data: dict[str, Any] = {}
        if isinstance(thing, (Element, Law, TimeFunction)) or type(thing) in self.forms:
            if type(thing) not in self.kinds:
                raise _error(owner, f"{type(thing).__name__} has no name in TOML files: another class has its name, "
                             "it is not in a module of laws, or one of its fields has no TOML form; keep the model "
                             "in Python.")  # fmt: skip
            data["kind"] = self.kinds[type(thing)]
        for one in (one for one in dataclasses.fields(thing) if one.init):
            value = getattr(thing, one.name)
            if isinstance(thing, Element):
                value = self.stated.get((thing.name, one.name), value)
            is_array = isinstance(value, np.ndarray)
            if not one.init or value is None or isinstance(value, Mapping) and not value or is_array and not value.size:
                continue
            if not is_array and value == one.default and repr(value) == repr(one.default):  # with the sign of zeros
                continue
            data[one.name] = self._value(value, one.name, owner)
        return data

    def _value(self, value: Any, field: str, owner: Any) -> Any:
        if isinstance(value, Element):
            return value.name
        if isinstance(value, TimeVector):
            value = value.components
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.object(value, owner)
        if isinstance(value, (bool, str)):
            return value
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if isinstance(value, Scatter):
            return value.text
        if isinstance(value, (int, float)):
            return float(value) if isinstance(value, float) else value
        if isinstance(value, (tuple, list)):
            return [self._value(one, field, owner) for one in value]
        if isinstance(value, Mapping):
            return {name: self._value(one, name, owner) for name, one in value.items()}
        name = getattr(value, "__name__", type(value).__name__)
        instead = "a formula" if isinstance(owner, Load) else "a Ramp, a Harmonic or a Table"
        raise _error(owner, f"{field} is the Python function {name}, which has no TOML form; give {instead}, or "
                     "keep the model in Python.")  # fmt: skip


def _error(owner: Any, sentence: str) -> ModelError:
    return owner.error(sentence) if isinstance(owner, Element) else ModelError(sentence)


def _count(value: Any) -> int:
    """The number of values in it, counted as in reading."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(below) + sum(_count(one) for one in below if isinstance(one, (dict, list)))


def _table(path: tuple[str, ...], data: Mapping[str, Any]) -> str:
    """A table with a header; long tables in it follow below, with headers of their own."""
    lines, below = [f"[{'.'.join(map(_key, path))}]"], []
    for key, value in data.items():
        if isinstance(value, dict):
            line = f"{_key(key)} = {_plain(value)}"
            if len(line) > WIDE or any(isinstance(one, dict) for one in value.values()):
                below.append(_table((*path, key), value))
                continue
        lines.append(f"{_key(key)} = {_plain(value)}")
    return "\n".join(["\n".join(lines) + "\n", *below])


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _plain(key)


def _plain(value: Any) -> str:
    """A value in TOML notation; numbers with all their digits."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_plain(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
