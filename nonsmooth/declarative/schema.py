"""Tables of the TOML form: pydantic models derived from the declarations of elements, laws and functions of time.

A table has the fields of its class, with their units and ranges; if there is a choice of classes, ``kind`` names the
class in kebab case. `Table.made` is the class of the objects that a table describes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import difflib
import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model
from pydantic_core import PydanticCustomError

from nonsmooth import laws
from nonsmooth.compile.casadi_call import Array
from nonsmooth.declarative.flexible import FORMS, UNITS
from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import Law
from nonsmooth.laws.compliant import Compliant, FrictionLaw, NormalLaw
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.fits import looks_stated, stated
from nonsmooth.model.kinds import element_kinds, time_functions
from nonsmooth.model.signals import TimeFunction
from nonsmooth.quantities import AXES, Quantity, Text, Unit, Wrong, in_unit, open_unit, own_unit, such_as
from nonsmooth.settings import is_number

IN_LIST = "[]"  # suffix of a key for the tables among the entries of its list
BY_NAME = "{}"  # suffix of a key whose table contains tables by name
WORDED = {"number": "ramp", "quaternion": "axis-angle"}  # functions of time given as examples in messages
#: suggestion for a string that states no number
OF_TIME = '; a function of time is a table, as { kind = "ramp", rate = 10.0 }'
SHOWN = 60  # largest number of characters of a value in a message
#: names that a message lists; names, and characters of a name, that are compared with a misspelt one
LISTED, COMPARED = 20, 1000


class Table(BaseModel):
    """Base of the tables: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    made: ClassVar[Any]
    #: tables that a key accepts, by kind; those among the entries of its list have `IN_LIST` added to the key, those
    #: that it contains by name have `BY_NAME`; a table without a kind has the kind ""
    tables: ClassVar[Mapping[str, Mapping[str, type[Table]]]]


class Entry(NamedTuple):
    """One key of a table: accepted values in words, unit if it has one, whether it is required, default."""

    key: str
    accepted: str
    unit: str
    required: bool
    default: Any


@dataclasses.dataclass(frozen=True)
class Accepted:
    """A field whose value is checked elsewhere, with its accepted values in words."""

    accepted: str


class Schema(NamedTuple):
    """The tables of elements and of contact laws, by kind."""

    elements: Mapping[str, type[Table]]
    contacts: Mapping[str, type[Table]]


class NoForm(TypeError):
    """A class with a required field that has no TOML form; its elements exist in Python only."""


def schema() -> Schema:
    """The tables of all classes defined so far, but elements with a required field that has no TOML form."""
    return _schema(tuple(element_kinds().items()), tuple(time_functions().items()))


@functools.lru_cache(maxsize=4)
def _schema(kinds: tuple[tuple[str, type], ...], functions: tuple[tuple[str, type], ...]) -> Schema:
    maker, elements = _Maker(dict(functions)), {}
    for kind, cls in kinds:
        with contextlib.suppress(NoForm):
            elements[kind] = maker.table(cls, kind)
    return Schema(elements, maker.laws(Rigid) | maker.laws(Compliant))


@functools.lru_cache(maxsize=64)
def table_of(cls: Callable[..., Any], kind: str = "") -> type[Table]:
    """The table of a class of settings, such as a stepper; fields that contain other objects are left out."""
    return _Maker({}).table(cls, kind)


def entries(table: type[Table]) -> list[Entry]:
    found = []
    defaults = {one.name: one.default for one in dataclasses.fields(table.made)}
    for key, field in table.model_fields.items():
        if key != "kind":
            unit = next((str(data.unit) for data in field.metadata if isinstance(data, Unit)), "")
            default = None if defaults[key] is dataclasses.MISSING else defaults[key]
            found.append(Entry(key, field.description or "", unit, field.is_required(), default))
    return found


class _Form(NamedTuple):
    """One form in which a value may be given: its tag, the annotation that pydantic checks, and its description."""

    tag: str
    annotation: Any
    accepted: str
    parts: tuple[_Form, ...] = ()  # for a list, the forms of its entries


class _Maker:
    """Creates the tables of one schema, each once."""

    def __init__(self, functions: Mapping[str, type[TimeFunction]]) -> None:
        self.functions = functions
        self.made: dict[tuple[Any, str, str], type[Table]] = {}

    def table(self, cls: Any, kind: str = "", unit: str = "") -> type[Table]:
        """The table of a class; for a function of time, `unit` is the unit of its field."""
        if (cls, kind, unit) in self.made:
            return self.made[cls, kind, unit]
        hints = get_type_hints(cls, include_extras=True) | UNITS.get(cls, {})
        fields: dict[str, Any] = {"kind": (Literal[kind], ...)} if kind else {}
        tables: dict[str, Mapping[str, type[Table]]] = {}
        for one in dataclasses.fields(cls):
            if not one.init or one.name == "name" and issubclass(cls, Element):
                continue
            forms, own = self._forms(cls, one.name, hints[one.name], unit)
            optional = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
            optional = optional or one.name == "contact" and issubclass(cls, Contact)
            if not forms:
                if not optional:
                    raise NoForm(f"{cls.__name__}.{one.name}: {hints[one.name]} has no TOML form.")
                continue
            accepted = ", or ".join(dict.fromkeys(form.accepted for form in forms))
            annotation = _union(forms)
            fields[one.name] = (
                Annotated[annotation, Unit(own)] if own else annotation,
                Field(default=None if optional else ..., description=accepted),
            )
            mark = BY_NAME if any(form.tag == "<tables>" for form in forms) else IN_LIST
            inner = [part for form in forms for part in form.parts]
            for key, own_forms in ((one.name, forms), (one.name + mark, inner)):
                tables[key] = {form.tag[1:-1]: form.annotation for form in own_forms if form.tag[0] == "{"}
        made: type[Table] = create_model(cls.__name__, __base__=Table, **fields)
        made.made, made.tables = cls, tables
        self.made[cls, kind, unit] = made
        return made

    def laws(self, base: type) -> dict[str, type[Table]]:
        """The tables of the laws of a base such as `NormalLaw`, by kind; other classes have one kind, their own."""
        if not issubclass(base, NormalLaw | FrictionLaw):
            return {base.__name__.lower(): self.table(base, base.__name__.lower())}
        part: Literal["normal", "friction"] = "normal" if issubclass(base, NormalLaw) else "friction"
        every = {kind: laws.by_name(kind, part) for kind in laws.names(part)}
        return {kind: self.table(cls, kind) for kind, cls in every.items() if issubclass(cls, base)}

    def _forms(self, cls: type, field: str, hint: Any, unit: str) -> tuple[list[_Form], str]:
        data: list[Any] = []
        parts = list(_parts(hint, data))
        given = next((one.accepted for one in data if isinstance(one, Accepted)), None)
        if given is not None:
            return [_Form("<any>", Any, given)], ""
        declared = next((one for one in data if isinstance(one, Unit)), None)
        own = own_unit(declared.unit, unit) if declared is not None else ""
        quantity = declared if isinstance(declared, Quantity) else Quantity(own or "-")
        what = next((one.what for one in data if isinstance(one, Text)), "word")
        forms: list[_Form] = []
        origins = {get_origin(part) or part for part in parts}
        if field in getattr(cls, "body_fields", ()):
            return [_checked("word", str, word, "the name of a body")], ""
        if bool in parts:
            forms.append(_Form("<bool>", bool, "true or false"))
        if int in parts and float not in parts:
            forms.append(_Form("<int>", int, "a whole number"))
        also = OF_TIME if Callable in origins else ""
        if float in parts:
            one = functools.partial(number, quantity=quantity, unit=own, also=also)
            forms.append(_checked("number", Any, one, quantity.accepted if declared else "a number"))
        for part in parts:
            if get_origin(part) is tuple and str in get_args(part):
                forms.append(_checked("components", tuple[str, ...], words, f"a list of {what}s"))
            elif get_origin(part) is np.ndarray:
                forms.append(_checked("array", Any, array, "numbers in SI units, in lists of equal length"))
            elif get_origin(part) is Mapping and dataclasses.is_dataclass(get_args(part)[1]):
                entry = _Form("{}", self.table(get_args(part)[1]), "")
                by_name: Any = dict.__class_getitem__((str, Annotated[entry.annotation, BeforeValidator(_only_tables)]))
                forms.append(_Form("<tables>", by_name, "tables by name", (entry,)))
            elif get_origin(part) is Mapping and get_args(part)[1] is str:
                forms.append(_checked("formulas", dict[str, str], formulas, "a table of formulas, by name"))
            elif get_origin(part) is Mapping:
                forms.append(_checked("table", dict[str, float], numbers, "a table of numbers in SI units, by name"))
            elif get_origin(part) is tuple:
                size = None if Ellipsis in get_args(part) else len(get_args(part))
                every = functools.partial(components, quantity=quantity, unit=own, size=size, also=also)
                count = f"{size} numbers" if size else "numbers"
                text = f"a list of {count}, each {quantity.accepted}" if declared else f"a list of {count}"
                forms.append(_checked("components", Any, every, text))
                if Callable in origins:
                    one = functools.partial(number, quantity=quantity, unit=own, also=OF_TIME)
                    mixed = [_checked("number", Any, one, quantity.accepted), *self._functions(own, ["number"])]
                    several: Any = list.__class_getitem__(_union(mixed))
                    of_size = Annotated[several, BeforeValidator(functools.partial(sized, size=size))]
                    text = "a list in which functions of time stand for numbers"
                    forms.append(_Form("<list>", of_size, text, tuple(mixed)))
            elif get_origin(part) is Literal:
                among = functools.partial(word, choices=get_args(part))
                forms.append(_checked("word", str, among, " or ".join(f'"{one}"' for one in get_args(part))))
        if str in parts:
            forms.append(_checked("word", str, word, f"a {what}"))
        given_as = ["number"] if float in parts or tuple not in origins else []
        given_as += ["quaternion"] if tuple in origins and quantity.labels != AXES else []
        forms.extend(self._tables(parts, own, given_as))
        return forms, own

    def _functions(self, unit: str, given_as: list[str]) -> Iterator[_Form]:
        """Functions of time whose values have these forms."""
        for kind, cls in self.functions.items():
            if cls.gives in given_as:
                accepted = f'a function of time, as {{ kind = "{WORDED[cls.gives]}", ... }}'
                yield _Form(f"{{{kind}}}", self.table(cls, kind, unit), accepted)

    def _tables(self, parts: list[Any], unit: str, given_as: list[str]) -> Iterator[_Form]:
        kinds: dict[str, type[Table]] = {}
        for part in parts:
            if isinstance(part, type) and issubclass(part, Law):
                kinds |= self.laws(part)
            elif part in FORMS:
                for kind, cls in FORMS[part].items():
                    yield _Form(f"{{{kind}}}", self.table(cls, kind), "a table, as { kind = ..., ... }")
            elif isinstance(part, type) and dataclasses.is_dataclass(part) and not issubclass(part, Element):
                yield _Form("{}", self.table(part), f"a table of a {part.__name__}")
        if Callable in (get_origin(part) or part for part in parts):
            yield from self._functions(unit, given_as)
        for kind, table in kinds.items():
            yield _Form(f"{{{kind}}}", table, "a law, as { kind = ..., ... }")


def _checked(form: str, annotation: Any, check: Callable[[Any], Any], accepted: str) -> _Form:
    return _Form(f"<{form}>", Annotated[annotation, BeforeValidator(check)], accepted)


def _union(forms: list[_Form]) -> Any:
    """The annotation that pydantic checks: a single form, or a union whose form is determined by the value alone."""
    if len(forms) == 1:
        form = forms[0]
        return form.annotation if form.tag != "{}" else Annotated[form.annotation, BeforeValidator(_only_tables)]
    tags = tuple(form.tag for form in forms)
    tagged = tuple(Annotated[form.annotation, Tag(form.tag)] for form in forms)

    def tag(value: Any) -> str | None:
        if isinstance(value, dict):
            return "<table>" if "<table>" in tags else f"{{{value.get('kind', '')}}}"
        if isinstance(value, bool):
            return "<bool>"
        if isinstance(value, list):
            return "<list>" if "<list>" in tags and any(isinstance(one, dict) for one in value) else "<components>"
        if isinstance(value, (int, float)) and "<bool>" in tags or not isinstance(value, (int, float, str)):
            return None
        return next((one for one in ("<number>", "<int>", "<word>") if one in tags), None)

    return Annotated[Union[tagged], Discriminator(tag)]  # noqa: UP007


def _only_tables(value: Any) -> Any:
    if not isinstance(value, dict):
        raise wrong(f"must be a table, got {shown(value)}")
    return value


def _parts(hint: Any, data: list[Any]) -> Iterator[Any]:
    """The alternatives of a type hint, except None; its annotations are appended to `data`."""
    if get_origin(hint) is Annotated:
        inner, *more = get_args(hint)
        data.extend(more)
        yield from _parts(inner, data)
    elif get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _parts(part, data)
    elif hint is not NoneType and hint is not Any:
        yield hint


def number(value: Any, quantity: Quantity, unit: str, also: str = "") -> float:
    """A number in SI units, text with the dimension of `unit`, "" for none, or a fit; `also` ends messages."""
    found: float | None = None
    if isinstance(value, str):
        own, fit = unit or "-", looks_stated(value)
        try:
            found = stated(value, lambda text: in_unit(text, own)) if fit else in_unit(value, own)
        except (InputError, Wrong) as error:
            raise wrong(f"{error}{'' if fit else also}") from None
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value) if is_number(value) else math.inf
    if found is None or not quantity.accepts(found):
        words = quantity.accepted.removesuffix(" [-]")
        example = f", or {such_as(unit)}" if unit not in ("", "-") and not open_unit(unit) else ""
        raise wrong(f"must be {words}{example}; got {shown(value)}")
    return found


def components(value: Any, quantity: Quantity, unit: str, size: int | None, also: str = "") -> tuple[float, ...]:
    """A list of numbers, see `number`; messages name the index of a wrong one, starting from 1."""
    if not isinstance(value, list):
        count = f"{size} numbers" if size else "numbers"
        example = f"[{', '.join(['0'] * (size or 2))}]"
        raise wrong(f"must be a list of {count}{f' [{unit}]' if unit else ''}, as {example}; got {shown(value)}")
    found = []
    for i, one in enumerate(sized(value, size)):
        try:
            found.append(number(one, quantity, unit, also))
        except PydanticCustomError as error:
            raise wrong(f"component {i + 1} {error.message()}") from None
    return tuple(found)


def array(value: Any) -> Array:
    """Finite numbers in lists, or lists of lists, of equal length."""
    level = value if isinstance(value, list) else [value]
    while level and all(isinstance(one, list) for one in level):
        level = [entry for one in level for entry in one]
    odd = [one for one in level if not is_number(one)]
    if not isinstance(value, list) or odd:
        raise wrong(f"must be a list of finite numbers in SI units, or lists of them; got {shown((odd or [value])[0])}")
    try:
        return np.array(value, dtype=float)
    except ValueError:
        raise wrong("must be lists of numbers of equal length, with as many numbers in each") from None


def sized(value: list[Any], size: int | None) -> list[Any]:
    if size is not None and len(value) != size:
        raise wrong(f"takes {size} components, got {len(value)}: {shown(value)}")
    return value


def word(value: Any, choices: tuple[str, ...] = ()) -> str:
    """A string, which must be one of the choices if there are any."""
    if not isinstance(value, str):
        raise wrong(f"must be a word in quotes, got {shown(value)}")
    if choices and value not in choices:
        names = " or ".join(f'"{one}"' for one in choices)
        raise wrong(f'must be {names}, got "{value}"{hint(value, choices, "; did you mean")}')
    return value


def words(value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise wrong(f"must be a list of words in quotes, got {shown(value)}")
    return tuple(value)


def numbers(value: Any) -> dict[str, float]:
    """A table of numbers in SI units, by name."""
    if not isinstance(value, dict):
        raise wrong(f"must be a table of numbers, as {{ k = 2.0 }}, got {shown(value)}")
    for name, one in value.items():
        if not isinstance(one, (int, float)) or isinstance(one, bool):
            raise wrong(f"must be a table of numbers in SI units, but {name} is {shown(one)}")
    return {name: float(one) for name, one in value.items()}


def formulas(value: Any) -> dict[str, str]:
    """A table of formulas by name."""
    if not (isinstance(value, dict) and all(isinstance(one, str) for one in value.values())):
        raise wrong(f'must be a table of formulas, as {{ sum = "sum + angle" }}, got {shown(value)}')
    return dict(value)


def wrong(sentence: str) -> PydanticCustomError:
    """An error whose message continues a sentence that begins with the key."""
    return PydanticCustomError("nonsmooth", "{sentence}", {"sentence": sentence})


#: kinds of elements by their names in other programs
ELSEWHERE = {"slider": "prismatic", "hinge": "revolute", "pin": "revolute", "ball": "spherical", "weld": "fixed"}


def hint(name: str, known: Iterable[str], words: str = " Did you mean") -> str:
    """The most similar known names as a question, or nothing; among the first `COMPARED` names."""
    known = list(known)[:COMPARED]
    close = difflib.get_close_matches(str(name).lower()[:COMPARED], known, n=2, cutoff=0.55)
    if ELSEWHERE.get(name.lower()) in known:
        close = [ELSEWHERE[name.lower()]]
    return f"{words} {' or '.join(close)}?" if close else ""


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first of many."""
    return ", ".join([*names[:LISTED], *(["..."] if len(names) > LISTED else [])]) or "none"


def shown(value: Any) -> str:
    """A value in TOML notation, shortened if it is long."""
    if isinstance(value, datetime.date | datetime.time):
        text = str(value)
    elif isinstance(value, dict):
        text = f"{{ {', '.join(f'{key} = {shown(one)}' for key, one in value.items())} }}" if value else "{}"
    elif isinstance(value, list):
        text = f"[{', '.join(map(shown, value))}]"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]} ..."
