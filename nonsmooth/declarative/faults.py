"""Errors of a TOML file: collected while it is read, each with its line and key, raised together."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from nonsmooth.declarative.positions import Path, Positions, positions
from nonsmooth.declarative.schema import BY_NAME, IN_LIST, Table, entries
from nonsmooth.declarative.values import hint, shown
from nonsmooth.exceptions import DeclarationError

__all__ = ["Source", "kebab", "parse"]

#: what pydantic adds to a path where it has chosen a form or a kind
CHOSEN = re.compile(r"[<{].*[>}]")
#: a number with something behind it that should stand in quotes, or with a decimal comma
UNQUOTED = re.compile(r"=\s*\[?\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*([^\W\d_]|°|%)")
COMMA = re.compile(r"=\s*[-+]?\d+,\s*\d")

#: limits of a file, far above what mechanisms take: characters, values, parts of a key and levels of nesting. Beyond
#: them reading takes minutes or all memory
LONGEST, MOST, DEEPEST = 4_000_000, 100_000, 32
LONG_KEY = re.compile(
    rf"""(?:^|[{{,])[ \t]*\[{{0,2}}[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}}""", re.M
)


@dataclass
class Source:
    """A text, its name, where its keys stand, and what is wrong with them."""

    name: str
    data: Mapping[str, Any]
    places: Positions
    faults: list[tuple[int, int, str, str]] = field(default_factory=list)

    def fault(self, path: Path, sentence: str) -> None:
        """Note an error at a key; one that is missing has the line of its table."""
        place = self.places.nearest(path)
        sentence = " ".join(sentence.split())
        entry = (place.line, place.column, _dotted(path), sentence if sentence[-1:] in ".?" else f"{sentence}.")
        if entry not in self.faults:
            self.faults.append(entry)

    def check(self) -> None:
        """Raise DeclarationError if errors have been noted."""
        if not self.faults:
            return
        known = sorted(self.faults)
        lines = [f"{self.name}:{line}: {key + ': ' if key else ''}{sentence}" for line, _, key, sentence in known]
        if len(lines) > 1:
            lines.insert(0, f"{len(lines)} errors in {self.name}:")
        raise DeclarationError("\n".join(lines), faults=tuple((line, key, text) for line, _, key, text in known))

    def validated(self, table: type[Table], data: Any, path: Path) -> Table | None:
        """The data as a table, or None with the errors noted."""
        try:
            return table.model_validate(data)
        except ValidationError as error:
            found = [_Place.of(table, data, path, one) for one in error.errors(include_url=False)]
        meant = {(*one.path[:-1], *one.meant()[:1]) for one in found}
        for one in found:
            if not (one.error["type"] == "missing" and one.path in meant):  # a key that is misspelt is there
                self.fault(one.path, one.sentence())
        return None

    @staticmethod
    def bare(error: Exception) -> str:
        """The message of an element, a law or a setting without their names, which the key says."""
        return re.sub(r'^[\w-]+(?: "[^"]*")?: ', "", str(error))

    @classmethod
    def named(cls, error: Exception, table: type[Table]) -> tuple[str, ...]:
        """The key that a message names first, if it names one."""
        keys = [entry.key for entry in entries(table) if len(entry.key) > 1]
        found = re.search(rf"\b(?:{'|'.join(keys)})\b(?!=)", cls.bare(error)) if keys else None
        return (found[0],) if found else ()


def parse(text: str, name: str) -> Source:
    """Read TOML.

    Raises
    ------
    DeclarationError
        If the text is no TOML, with the line and what is probably meant.
    """
    check_length(len(text), name)
    found = LONG_KEY.search(text)
    if found:
        raise _beyond(name, text.count("\n", 0, found.start() + 1) + 1, f"a key has more than {DEEPEST} parts")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise _beyond(name, 1, f"its tables and lists are nested more than {DEEPEST} deep") from None
    except tomllib.TOMLDecodeError as error:
        lines = text.splitlines() or [""]
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = min(int(found[1]), len(lines)) if found else len(lines)
        reason = re.sub(r"\s*\(at [^)]*\)$", "", str(error))
        sentence = f"this is no TOML: {reason[:1].lower()}{reason[1:]}.{_remedy(lines[line - 1], reason)}"
        raise DeclarationError(f"{name}:{line}: {sentence}", faults=((line, "", sentence),)) from None
    except ValueError as error:  # Python reads no whole number of thousands of digits
        raise _beyond(name, 1, " ".join(str(error).split(";")[0].split())) from None
    _check_counts(data, name)
    return Source(name, data, positions(text))


def check_length(length: int, name: str) -> None:
    """Raise DeclarationError for a text that is longer than files of mechanisms are."""
    if length > LONGEST:
        raise _beyond(name, 1, f"it has {length} characters, more than {LONGEST}")


def _check_counts(data: Mapping[str, Any], name: str) -> None:
    """Raise DeclarationError for data that is nested too deep, or too many."""
    level: list[Any] = [data]
    count = 0
    for _ in range(DEEPEST + 1):
        below: list[Any] = []
        for one in level:
            below.extend(one.values() if isinstance(one, dict) else one)
        count += len(below)
        if count > MOST:
            raise _beyond(name, 1, f"it states more than {MOST} values")
        level = [one for one in below if isinstance(one, dict | list)]
    if level:
        raise _beyond(name, 1, f"its tables and lists are nested more than {DEEPEST} deep")


def _beyond(name: str, line: int, what: str) -> DeclarationError:
    sentence = f"{what}; this is no file of a mechanism as this package reads it, build such a model in Python."
    return DeclarationError(f"{name}:{line}: {sentence}", faults=((line, "", sentence),))


def _remedy(line: str, reason: str) -> str:
    """What is probably meant by a line that is no TOML."""
    if COMMA.search(line):
        return " A number has a decimal point, not a comma."
    if UNQUOTED.search(line):
        return ' A number with a unit stands in quotes, as "0.5 mm".'
    if "verwrite" in reason or "twice" in reason:
        return " Each key and each table stands once: give one of the two another name, or remove it."
    if re.search(r"=\s*[A-Za-z]", line):
        return ' A word stands in quotes, as kind = "revolute".'
    if "nterminated" in reason or "Illegal character" in reason:
        return " A string ends with the quote that it begins with, on the same line."
    if "=" not in line and not line.lstrip().startswith("["):
        return " A line is KEY = VALUE, or a [TABLE]; a comment begins with #."
    return ""


class _Place(NamedTuple):
    """Where one of pydantic's errors is: its path in the file, the table and the key there, the value."""

    path: Path
    table: type[Table]
    key: str
    value: Any
    error: Any

    @classmethod
    def of(cls, table: type[Table], data: Any, path: Path, error: Any) -> _Place:
        """Follow the error from the table down; forms and kinds that pydantic chose are no part of the path."""
        key = ""
        for step in error["loc"]:
            if CHOSEN.fullmatch(str(step)):
                table = table.tables[key][step[1:-1]] if step.startswith("{") else table
                continue
            if isinstance(step, int):  # an entry of a list
                path, data = (*path, step), data[step] if isinstance(data, list) and step < len(data) else None
                key += IN_LIST
                continue
            if key + BY_NAME in table.tables:  # a table of tables, whose keys are names
                path, data = (*path, step), data.get(step) if isinstance(data, Mapping) else None
                key += BY_NAME
                continue
            if key and "" in table.tables.get(key, {}):
                table = table.tables[key][""]
            key, path = str(step), (*path, step)
            data = data.get(step) if isinstance(data, Mapping) else None
        return cls(path, table, key, data, error)

    def meant(self) -> list[str]:
        """The keys that an unknown one is probably meant to be."""
        if self.error["type"] != "extra_forbidden":
            return []
        return difflib.get_close_matches(self.key.lower(), [entry.key for entry in entries(self.table)], n=2)

    def sentence(self) -> str:
        """What is wrong and what is accepted."""
        known = {entry.key: entry.accepted for entry in entries(self.table)}
        accepted = "a number or a function of time" if self.key.endswith(IN_LIST) else known.get(self.key, "a word")
        accepted = "a table" if self.key.endswith(BY_NAME) else accepted
        match self.error["type"]:
            case "nonsmooth":
                return str(self.error["ctx"]["sentence"])
            case "extra_forbidden":
                every = [*(["kind"] if "kind" in self.table.model_fields else []), *known]
                question = f" Did you mean {' or '.join(self.meant())}?" if self.meant() else ""
                return f"{_name(self.table)} has no key {self.key}.{question} It takes {', '.join(every)}."
            case "missing":
                return f"{_name(self.table)} needs {self.key}; add {self.key} = ..., {accepted}."
            case "union_tag_invalid" | "union_tag_not_found" if isinstance(self.value, Mapping):
                return self._kind(accepted)
        return f"must be {accepted}; got {shown(self.value)}."

    def _kind(self, accepted: str) -> str:
        """Of a table whose kind is not there, or not known."""
        kinds = self.table.tables.get(self.key, {})
        given = self.value.get("kind")
        if not kinds:
            return f"must be {accepted}; got {shown(self.value)}."
        if given is None:
            return f'needs kind; add kind = "...", one of {", ".join(kinds)}.'
        return f"there is no kind {shown(given)}.{hint(kebab(given), kinds)} There are {', '.join(kinds)}."


def _name(table: type[Table]) -> str:
    """What a message calls a table."""
    if "kind" in table.model_fields:
        return f"a {get_args(table.model_fields['kind'].annotation)[0]}"
    return str(getattr(table.made, "called", f"the table of a {table.__name__}"))


def kebab(name: Any) -> str:
    """A kind that may be written as the name of a class."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", str(name)).replace("_", "-")


def _dotted(path: Path) -> str:
    """A path as TOML writes it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        part = part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else json.dumps(part, ensure_ascii=False)
        text += f".{part}" if text else part
    return text
