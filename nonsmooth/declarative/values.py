"""Values of the TOML form: numbers in SI units or strings with a unit, lists of them, words."""

import datetime
import difflib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from pydantic_core import PydanticCustomError

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import looks_stated, stated
from nonsmooth.quantities import Quantity, Wrong, in_unit, open_unit, such_as
from nonsmooth.settings import is_number

#: largest number of characters of a value in a message
SHOWN = 60
#: names that a message lists; names, and characters of a name, that are compared with a misspelt one
LISTED, COMPARED = 20, 1000


def number(value: Any, quantity: Quantity, unit: str, also: str = "") -> float:
    """A number in SI units, a string with the dimension of `unit`, "" for none, or a fit or a number with tolerance;
    `also` says what else a string cannot state."""
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
    """The list, if it has the required number of entries."""
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
    """A list of strings."""
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


def wrong(sentence: str) -> PydanticCustomError:
    """An error whose message continues a sentence that begins with the key."""
    return PydanticCustomError("nonsmooth", "{sentence}", {"sentence": sentence})


def hint(name: str, known: Iterable[str], words: str = " Did you mean") -> str:
    """The most similar known names as a question, or nothing; among the first `COMPARED` names."""
    close = difflib.get_close_matches(str(name).lower()[:COMPARED], list(known)[:COMPARED], n=2, cutoff=0.55)
    return f"{words} {' or '.join(close)}?" if close else ""


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first of many.

    >>> listed(["a", "b"]), listed([str(k) for k in range(99)])[-9:]
    ('a, b', ', 19, ...')
    """
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
