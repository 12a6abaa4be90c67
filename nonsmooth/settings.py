"""Settings: frozen dataclasses whose fields are checked by their annotations when they are made."""

import dataclasses
import difflib
import functools
import inspect
import math
import os
import re
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar, Union, cast, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
UNIONS, LISTS = (Union, types.UnionType), (Iterable, Sequence)
#: compiled code counts in 32 bits
MOST = 2**31 - 1


def is_number(value: Any) -> bool:
    """Whether it is a finite real number; True and False are not."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _is_float(value: Any) -> bool:
    """Whether it is a number, even if it is not finite, whose range is checked later."""
    return is_number(value) or (isinstance(value, float) and not math.isfinite(value))


def floats(value: Any) -> NDArray[np.float64]:
    """An array of numbers; TypeError for text, truth values and complex numbers, which NumPy would convert silently."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return np.asarray(value, dtype=float)
    try:
        parts, found = np.asarray(value, dtype=object).ravel(), np.asarray(value, dtype=float)
    except Exception as error:  # of a user's object, or an integer of hundreds of digits
        raise TypeError("not numbers") from error
    if any(isinstance(one, (str, bytes, bool, np.bool_, complex, np.complexfloating, np.datetime64)) for one in parts):
        raise TypeError("not numbers")
    return found


def is_count(value: Any) -> bool:
    """Whether it is a whole number >= 0 in the range of compiled code; True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) <= MOST


def shown(value: Any) -> str:
    """A value for a message, on one line and shortened."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:  # a user's object whose repr fails
        text = f"{type(value).__name__} ({type(error).__name__} in its repr)"
    return text if len(text) <= 80 else f"{text[:77]}..."


def require(ok: Any, words: str, value: Any, error: Callable[[str], Exception] = InputError) -> None:
    """Raise an error, ``words, got value.``, unless it is so."""
    if not ok:
        raise error(f"{words}, got {shown(value)}.")


def is_one(value: Any, known: Iterable[Any]) -> bool:
    """Whether it is one of known words or whole numbers; an array, or an object that cannot be compared, is not."""
    return isinstance(value, (str, Integral)) and value in known


def hint(name: Any, known: Iterable[str], most: int = 3) -> str:
    """The known names that are most like another one, as a question behind a sentence; empty if none is."""
    close = difflib.get_close_matches(name if isinstance(name, str) else "", list(known), n=most)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def kebab(name: str) -> str:
    """The command line's name of a class: ``gauss-mpcc`` of `GaussMPCC`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def wrong_flag(made: Any) -> str | None:
    """Error of the first field of a dataclass that is neither True nor False, but annotated as `bool`."""
    for one in dataclasses.fields(made):
        value = getattr(made, one.name)
        if one.type in ("bool", bool) and not isinstance(value, bool):
            return f"{one.name} must be True or False, got {shown(value)}."
    return None


@functools.cache
def _signature(cls: Any) -> inspect.Signature:
    """Signature of the fields of a class, or of an initialiser of its own."""
    whole = inspect.signature(cls.__init__)
    return whole.replace(parameters=list(whole.parameters.values())[1:], return_annotation=inspect.Signature.empty)


def check_call(
    cls: type, values: tuple[Any, ...], fields: Mapping[str, Any], error: type[InputError] = InputError
) -> None:
    """Raise `error` where Python would raise a TypeError that does not list the fields of a class."""
    try:
        _signature(cls).bind(*values, **fields)
    except TypeError:
        parameters = _signature(cls).parameters
    else:
        return
    takes = f"t takes {', '.join(parameters) or 'none'}."
    for name in fields:
        if name not in parameters and name in inspect.get_annotations(cls) and "__dataclass_fields__" not in vars(cls):
            equal = "" if cls.__dataclass_params__.eq else "eq=False, "  # type: ignore[attr-defined]
            above = f"@dataclass(frozen=True, {equal}kw_only=True) above class {cls.__name__}"
            raise error(f"{cls.__name__}: {name} is annotated, but is no field; add {above}.")
        if name not in parameters:
            raise error(f"{cls.__name__} has no field {name!r}.{hint(name, parameters, 2)} I{takes}")
    placed = [one.name for one in parameters.values() if one.kind is not one.KEYWORD_ONLY]
    if len(values) > len(placed):
        count = "1 value" if len(placed) == 1 else f"{len(placed)} values"
        most = f"at most {count} by place ({', '.join(placed)})" if placed else "no values by place"
        example = next((f"; give others by name, as {one}=..." for one in parameters if one not in placed), "")
        raise error(f"{cls.__name__} takes {most}, got {len(values)}{example}; i{takes}")
    given = {*placed[: len(values)], *fields}
    absent = [one.name for one in parameters.values() if one.default is one.empty and one.name not in given]
    if absent:
        *others, last = (_described(cls, name) for name in absent)
        missing = f"{', '.join(others)} and {last}, which are" if others else f"{last}, which is"
        raise error(f"{cls.__name__} needs {missing} missing; i{takes}")
    twice = [name for name in placed[: len(values)] if name in fields]
    raise error(f"{cls.__name__} got {' and '.join(twice)} twice, by place and by name; give one of them.")


def _described(cls: Any, name: str) -> str:
    """A field with its unit, or with the classes of which it is one, as far as its annotation says so."""
    try:
        hint = get_type_hints(cls, include_extras=True).get(name)
    except Exception:  # of a user's annotation, whose names are not known here
        return name
    units = [part.unit for part in getattr(hint, "__metadata__", ()) if hasattr(part, "unit")]
    if units and "value" not in units[0]:
        return f"{name} [{units[0]}]"
    kinds = [part for part in get_args(hint) if isinstance(part, type) and dataclasses.is_dataclass(part)]
    return f"{name} ({' or '.join(f'{one.__name__}(...)' for one in kinds)})" if kinds else name


class Called(type):
    """The type of dataclasses whose calls are checked by `check_call`, which copying and unpickling are not."""

    #: what is raised for a call that cannot be meant
    misuse: type[InputError] = InputError

    def __call__(cls, *values: Any, **fields: Any) -> Any:
        check_call(cls, values, fields, cls.misuse)
        return super().__call__(*values, **fields)

    @property
    def __signature__(cls) -> inspect.Signature:
        """Signature of the fields, for `help` and `inspect.signature`, which would show that of `__call__`."""
        return _signature(cls)


@dataclass_transform(frozen_default=True)
def settings(cls: type[T]) -> type[T]:
    """A frozen dataclass that rejects values that do not match the annotations of its fields. An `int` is a whole
    number >= 0, a `float` a finite number. Ranges are checked by its `__post_init__`, after types."""
    own = cls.__dict__.get("__post_init__")
    if own is not None or not hasattr(cls, "__post_init__"):

        def __post_init__(self: Any) -> None:
            _check(self, _is_float)
            if own is not None:  # checks the range of a number, also if it is not finite
                own(self)
            _check(self, is_number)

        cls.__post_init__ = __post_init__  # type: ignore[attr-defined]

    made = dataclasses.dataclass(frozen=True)(cls)
    init = made.__init__

    @functools.wraps(init)
    def __init__(self: Any, *values: Any, **fields: Any) -> None:
        check_call(type(self), values, fields)
        init(self, *values, **fields)

    made.__init__ = __init__  # type: ignore[method-assign]
    return made


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function that rejects arguments that do not match their annotations, as `settings` does: ranges
    are checked by it, after types. Arrays are left to it; a `SimpleNamespace` stands for an object of any class."""

    @functools.wraps(function)
    def with_checks(*values: P.args, **given: P.kwargs) -> R:
        hints, placed = _arguments(function)
        named = {**dict(zip(placed, values, strict=False)), **given}

        def check(number: Callable[[Any], bool]) -> None:
            for name, value in named.items():
                hint = hints.get(name, Any)
                if not isinstance(value, types.SimpleNamespace) and not _fits(hint, value, number):
                    raise InputError(f"{function.__name__}: {name} must be {_accepted(hint)}, got {shown(value)}.")

        check(_is_float)
        made = function(*values, **given)
        check(is_number)
        return made

    return with_checks


@functools.cache
def _arguments(function: Callable[..., Any]) -> tuple[dict[str, Any], list[str]]:
    """Annotations of arguments in their order, Any for those that cannot be checked; and which are by position."""
    given, known = function.__annotations__, inspect.signature(function).parameters
    hints = {name: _hint(given.get(name, Any), function.__globals__) for name in known}
    placed = [name for name, one in known.items() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return {name: hint if _checkable(hint) else Any for name, hint in hints.items()}, placed


class _ByName(type):
    """Type of a class, not of an alias, that is imported for annotations alone: a class of this name stands for it."""

    def __instancecheck__(cls, value: Any) -> bool:
        return any(one.__name__ == cls.__name__ for one in type(value).__mro__)

    def __getattr__(cls, name: str) -> Any:
        """A class of a module that is imported for annotations alone."""
        if name.startswith("_"):
            raise AttributeError(name)
        return _ByName(name, (), {})


def _hint(annotation: Any, known: dict[str, Any]) -> Any:
    """The hint of an annotation with the names of its module."""
    try:
        return get_type_hints(types.SimpleNamespace(__annotations__={"it": annotation}), known)["it"]
    except NameError as error:
        return _hint(annotation, {**known, str(error.name): _ByName(str(error.name), (), {})})


def _checkable(hint: Any) -> bool:
    if get_origin(hint) in (*UNIONS, tuple):
        return all(map(_checkable, get_args(hint)))
    if get_origin(hint) in LISTS or get_origin(hint) in (Mapping, Callable):
        return True
    return hint == os.PathLike[str] or isinstance(hint, type) and not getattr(hint, "_is_protocol", False)


def _check(made: Any, number: Callable[[Any], bool]) -> None:
    """Raise InputError for the first invalid field; `number` checks floats."""
    for name, hint in _hints(cast(Hashable, type(made))).items():
        value = getattr(made, name)
        if not _fits(hint, value, number):
            raise InputError(f"{type(made).__name__}: {name} must be {_accepted(hint)}, got {shown(value)}.")


@functools.cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _fits(hint: Any, value: Any, number: Callable[[Any], bool]) -> bool:
    if get_origin(hint) in UNIONS:
        return any(_fits(one, value, number) for one in get_args(hint))
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        if not (isinstance(value, (tuple, list)) and len(value) == len(parts)):
            return False
        return all(_fits(part, one, number) for part, one in zip(parts, value, strict=True))
    if get_origin(hint) in LISTS:  # a generator would be used up
        if not isinstance(value, Iterable) or isinstance(value, str | bytes):
            return False
        (kind,) = get_args(hint)
        if isinstance(value, Iterator):
            return get_origin(hint) is Iterable
        return not _checkable(kind) or all(_fits(kind, one, number) for one in value)
    if hint is int:
        return is_count(value)
    if hint is float:
        return number(value)
    return hint is Any or isinstance(value, get_origin(hint) or hint)


def _accepted(hint: Any) -> str:
    if get_origin(hint) in UNIONS:
        return " or ".join(map(_accepted, get_args(hint)))
    if get_origin(hint) is tuple:
        return f"{len(get_args(hint))} finite numbers"
    if get_origin(hint) in LISTS:
        kind = get_args(hint)[0]
        return "names" if kind is str else f"a list, each {_accepted(kind)}" if _checkable(kind) else "a list"
    if hint == os.PathLike[str]:
        return "a path"
    words = {int: f"a whole number from 0 to {MOST}", float: "a finite number", bool: "True or False", str: "a string",
             Mapping: "values by name, as a dict", Callable: "a function", type(None): "None"}  # fmt: skip
    article = "an" if getattr(hint, "__name__", "")[:1] in ("A", "E", "I", "O") else "a"
    return words.get(get_origin(hint) or hint) or f"{article} {hint.__name__}"
