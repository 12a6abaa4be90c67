"""Errors in a TOML file: collected with line and key while the file is read, and raised together."""

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
from nonsmooth.settings import kebab

#: parts that pydantic adds to a path for the form or kind it has selected
CHOSEN = re.compile(r"[<{].*[>}]")
#: a number with a unit that should be in quotes, or with a decimal comma
UNQUOTED = re.compile(r"=\s*\[?\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*([^\W\d_]|°|%)")
COMMA = re.compile(r"=\s*[-+]?\d+,\s*\d")

#: limits of a file, far above the needs of mechanisms: characters, values, parts of a key and levels of nesting. Beyond
#: them, reading would take minutes or exhaust the memory
LONGEST, MOST, DEEPEST = 4_000_000, 100_000, 32
#: errors after which reading ends, since each takes time, and how many of them a message states
MOST_FAULTS, STATED_FAULTS = 100, 20
LONG_KEY = re.compile(
    rf"""(?:^|[{{,])[ \t]*\[{{0,2}}[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}}""", re.M
)


@dataclass
class Source:
    """A text, its name, the positions of its keys, and the errors found."""

    name: str
    data: Mapping[str, Any]
    places: Positions
    faults: list[tuple[int, int, str, str]] = field(default_factory=list)

    def fault(self, path: Path, sentence: str) -> None:
        """Note an error at a key; one that is missing has the line of its table.

        Raises
        ------
        DeclarationError
            If there are too many to be read on.
        """
        place, key = self.places.nearest(path), ""
        for part in path:
            if isinstance(part, int):
                key += f"[{part}]"
            else:
                bare = re.fullmatch(r"[A-Za-z0-9_-]+", part)
                key += ("." if key else "") + (part if bare else json.dumps(part, ensure_ascii=False))
        sentence = " ".join(sentence.split())
        entry = (place.line, place.column, key, sentence if sentence[-1:] in ".?" else f"{sentence}.")
        if entry not in self.faults:
            self.faults.append(entry)
        if len(self.faults) > MOST_FAULTS:
            self.check()

    def check(self) -> None:
        """Raise DeclarationError if errors have been noted."""
        if not self.faults:
            return
        known = sorted(self.faults)[:MOST_FAULTS]
        lines = [f"{self.name}:{line}: {key + ': ' if key else ''}{sentence}" for line, _, key, sentence in known]
        if len(lines) > 1:
            more = "more than " if len(self.faults) > MOST_FAULTS else ""
            first = f", the first {STATED_FAULTS}" if len(lines) > STATED_FAULTS else ""
            lines = [f"{more}{len(lines)} errors in {self.name}{first}:", *lines[:STATED_FAULTS]]
        raise DeclarationError("\n".join(lines), faults=tuple((line, key, text) for line, _, key, text in known))

    def validated(self, table: type[Table], data: Any, path: Path) -> Table | None:
        """The data as a table, or None if there are errors, which are added."""
        try:
            return table.model_validate(data)
        except ValidationError as error:
            every = error.errors(include_url=False)[: MOST_FAULTS + 1]
            found = [_Fault.of(table, data, path, one) for one in every]
        meant = {(*one.path[:-1], *one.meant()[:1]) for one in found}
        for one in found:
            if not (one.error["type"] == "missing" and one.path in meant):  # a misspelt key is not missing
                self.fault(one.path, one.sentence())
        return None

    @staticmethod
    def bare(error: Exception) -> str:
        """The message of an element, a law or a setting without its name, which the key contains."""
        return re.sub(r'^[\w-]+(?: "[^"]*")?: ', "", str(error))

    @classmethod
    def named(cls, error: Exception, table: type[Table]) -> tuple[str, ...]:
        """The first key named in a message, if there is one."""
        keys = [entry.key for entry in entries(table) if len(entry.key) > 1]
        found = re.search(rf"\b(?:{'|'.join(keys)})\b(?!=)", cls.bare(error)) if keys else None
        return (found[0],) if found else ()


def parse(text: str, name: str) -> Source:
    """Read TOML.

    Raises
    ------
    DeclarationError
        If the text is not valid TOML, with the line and a suggestion; or its data are nested too deeply, or too many.
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
        sentence = f"this is not valid TOML: {reason[:1].lower()}{reason[1:]}.{_remedy(lines[line - 1], reason)}"
        raise DeclarationError(f"{name}:{line}: {sentence}", faults=((line, "", sentence),)) from None
    except ValueError as error:  # Python rejects whole numbers of thousands of digits
        raise _beyond(name, 1, " ".join(str(error).split(";")[0].split())) from None
    level: list[Any] = [data]
    count = 0
    for _ in range(DEEPEST + 1):
        below: list[Any] = []
        for one in level:
            below.extend(one.values() if isinstance(one, dict) else one)
        count += len(below)
        if count > MOST:
            raise _beyond(name, 1, f"it contains more than {MOST} values")
        level = [one for one in below if isinstance(one, dict | list)]
    if level:
        raise _beyond(name, 1, f"its tables and lists are nested more than {DEEPEST} deep")
    return Source(name, data, positions(text))


def check_length(length: int, name: str) -> None:
    """Raise DeclarationError for a text that is longer than the limit."""
    if length > LONGEST:
        raise _beyond(name, 1, f"it has {length} characters, more than {LONGEST}")


def _beyond(name: str, line: int, what: str) -> DeclarationError:
    sentence = f"{what}, which is beyond the limits of files of mechanisms; build such a model in Python."
    return DeclarationError(f"{name}:{line}: {sentence}", faults=((line, "", sentence),))


def _remedy(line: str, reason: str) -> str:
    """A suggestion for a line that is not valid TOML."""
    if COMMA.search(line):
        return " A number has a decimal point, not a comma."
    if UNQUOTED.search(line):
        return ' A number with a unit is written in quotes, as "0.5 mm".'
    if "verwrite" in reason or "twice" in reason:
        return " Each key and each table may occur only once: give one of the two another name, or remove it."
    if re.search(r"=\s*[A-Za-z]", line):
        return ' A word is written in quotes, as kind = "revolute".'
    if "nterminated" in reason or "Illegal character" in reason:
        return " A string ends with the quote with which it begins, on the same line."
    if "=" not in line and not line.lstrip().startswith("["):
        return " A line is KEY = VALUE, or a [TABLE]; a comment begins with #."
    return ""


class _Fault(NamedTuple):
    """The location of one of pydantic's errors: path in the file, table, key and value."""

    path: Path
    table: type[Table]
    key: str
    value: Any
    error: Any

    @classmethod
    def of(cls, table: type[Table], data: Any, path: Path, error: Any) -> _Fault:
        """Follow the error from the table downwards; forms and kinds selected by pydantic are not part of the path."""
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
        """The known keys that are most similar to an unknown one."""
        if self.error["type"] != "extra_forbidden":
            return []
        return difflib.get_close_matches(self.key.lower(), [entry.key for entry in entries(self.table)], n=2)

    def sentence(self) -> str:
        """The error message: what is wrong and what is accepted."""
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
        """The error message for a table whose kind is missing or unknown."""
        kinds = self.table.tables.get(self.key, {})
        given = self.value.get("kind")
        if not kinds:
            return f"must be {accepted}; got {shown(self.value)}."
        if given is None:
            return f'needs kind; add kind = "...", one of {", ".join(kinds)}.'
        return f"there is no kind {shown(given)}.{hint(kebab(str(given)), kinds)} There are {', '.join(kinds)}."


def _name(table: type[Table]) -> str:
    """The name of a table in messages."""
    if "kind" in table.model_fields:
        return f"a {get_args(table.model_fields['kind'].annotation)[0]}"
    return str(getattr(table.made, "called", f"the table of a {table.__name__}"))
