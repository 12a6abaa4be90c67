"""Errors in a TOML file: collected with line and key while the file is read, and raised together.

Python's own reader does not provide the positions of keys: they are found in the text, which is valid TOML where
`tomllib` has read it, so that only keys, tables, arrays of tables, inline tables and ends of values are followed.
"""

from __future__ import annotations

import bisect
import difflib
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from nonsmooth.declarative.schema import BY_NAME, IN_LIST, Table, entries, hint, shown
from nonsmooth.exceptions import DeclarationError
from nonsmooth.settings import kebab

Path = tuple[str | int, ...]

BARE = re.compile(r"[A-Za-z0-9_-]+")
BETWEEN = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")  # whitespace, line ends and comments between the parts of a text
BLANKS = re.compile(r"[ \t]*")
#: strings, the longer quotes first
STRINGS = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.S)
PLAIN = re.compile(r"[^,\]}#\r\n]+")  # a value other than a string, array or inline table
CHOSEN = re.compile(r"[<{].*[>}]")  # parts that pydantic adds to a path for the form or kind it has selected
#: a number with a unit that should be in quotes, or with a decimal comma
UNQUOTED = re.compile(r"=\s*\[?\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*([^\W\d_]|°|%)")
COMMA = re.compile(r"=\s*[-+]?\d+,\s*\d")

#: limits of a file, far above the needs of mechanisms: characters, values, parts of a key and levels of nesting. Beyond
#: them, reading would take minutes or exhaust the memory
LONGEST, MOST, DEEPEST = 4_000_000, 100_000, 32
#: errors after which reading ends, since each takes time, and how many of them a message states
MOST_FAULTS, STATED_FAULTS = 100, 20
#: what to do about a line, and Python's reason against it: the first for which these words fit
REMEDIES: dict[str, Callable[[str, str], Any]] = {
    " A number has a decimal point, not a comma.": lambda line, _: COMMA.search(line),
    ' A number with a unit is written in quotes, as "0.5 mm".': lambda line, _: UNQUOTED.search(line),
    " Each key and each table may occur only once: give one of the two another name, or remove it.":
        lambda _, reason: "verwrite" in reason or "twice" in reason,
    ' A word is written in quotes, as kind = "revolute".': lambda line, _: re.search(r"=\s*[A-Za-z]", line),
    " A string ends with the quote with which it begins, on the same line.":
        lambda _, reason: "nterminated" in reason or "Illegal character" in reason,
    " A line is KEY = VALUE, or a [TABLE]; a comment begins with #.":
        lambda line, _: "=" not in line and not line.lstrip().startswith("["),
}  # fmt: skip
LONG_KEY = re.compile(
    rf"""(?:^|[{{,])[ \t]*\[{{0,2}}[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}}""", re.M
)


@dataclass
class Source:
    """A text, its name, the positions of its keys, and the errors found."""

    name: str
    data: Mapping[str, Any]
    places: dict[Path, Place]
    faults: list[tuple[int, int, str, str]] = field(default_factory=list)

    def fault(self, path: Path, sentence: str) -> None:
        """Note an error at a key, or for one that is missing at its table; all are raised when there are too many."""
        above = (path[:size] for size in range(len(path), 0, -1) if path[:size] in self.places)
        place, key = self.places.get(next(above, ()), Place(1, 1)), ""
        for part in path:
            if isinstance(part, int):
                key += f"[{part}]"
            else:
                key += ("." if key else "") + (part if BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False))
        sentence = " ".join(sentence.split())
        entry = (place.line, place.column, key, sentence if sentence[-1:] in ".?" else f"{sentence}.")
        if entry not in self.faults:
            self.faults.append(entry)
        if len(self.faults) > MOST_FAULTS:
            self.check()

    def check(self) -> None:
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
        meant = {(*one.path[:-1], *one.similar[:1]) for one in found}
        for one in found:
            if not (one.error["type"] == "missing" and one.path in meant):  # a misspelt key is not missing
                self.fault(one.path, one.sentence())
        return None

    def fault_of(self, error: Exception, table: type[Table], path: Path) -> None:
        """Note an error of an element, a law or a setting, at the first key that its message names."""
        keys, sentence = [entry.key for entry in entries(table) if len(entry.key) > 1], without_name(error)
        found = re.search(rf"\b(?:{'|'.join(keys)})\b(?!=)", sentence) if keys else None
        self.fault((*path, found[0]) if found else path, sentence)


def without_name(error: Exception) -> str:
    """The message of an element, a law or a setting without its name, which the key contains."""
    return re.sub(r'^[\w-]+(?: "[^"]*")?: ', "", str(error))


def parse(text: str, name: str) -> Source:
    """Read TOML, within the limits; of a text that is not valid, the line and a suggestion are raised."""
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
        remedy = next((remedy for remedy, fits in REMEDIES.items() if fits(lines[line - 1], reason)), "")
        sentence = f"this is not valid TOML: {reason[:1].lower()}{reason[1:]}.{remedy}"
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


class _Fault(NamedTuple):
    """The location of one of pydantic's errors: path in the file, table, key and value."""

    path: Path
    table: type[Table]
    key: str
    value: Any
    error: Any
    #: the known keys that are most similar to an unknown one
    similar: list[str]

    @classmethod
    def of(cls, table: type[Table], data: Any, path: Path, error: Any) -> _Fault:
        """Follow the error downwards; forms and kinds selected by pydantic are not part of the path."""
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
        unknown = error["type"] == "extra_forbidden"
        similar = difflib.get_close_matches(key.lower(), [one.key for one in entries(table)], n=2) if unknown else []
        return cls(path, table, key, data, error, similar)

    def sentence(self) -> str:
        known = {entry.key: entry.accepted for entry in entries(self.table)}
        accepted = "a number or a function of time" if self.key.endswith(IN_LIST) else known.get(self.key, "a word")
        accepted = "a table" if self.key.endswith(BY_NAME) else accepted
        fields, kinds = self.table.model_fields, self.table.tables.get(self.key, {})
        name = getattr(self.table.made, "called", f"the table of a {self.table.__name__}")
        if "kind" in fields:
            name = f"a {get_args(fields['kind'].annotation)[0]}"
        match self.error["type"]:
            case "nonsmooth":
                return str(self.error["ctx"]["sentence"])
            case "extra_forbidden":
                every = [*(["kind"] if "kind" in fields else []), *known]
                question = f" Did you mean {' or '.join(self.similar)}?" if self.similar else ""
                return f"{name} has no key {self.key}.{question} It takes {', '.join(every)}."
            case "missing":
                return f"{name} needs {self.key}; add {self.key} = ..., {accepted}."
            case "union_tag_invalid" | "union_tag_not_found" if isinstance(self.value, Mapping) and kinds:
                given = self.value.get("kind")
                if given is None:
                    return f'needs kind; add kind = "...", one of {", ".join(kinds)}.'
                return f"there is no kind {shown(given)}.{hint(kebab(str(given)), kinds)} There are {', '.join(kinds)}."
        return f"must be {accepted}; got {shown(self.value)}."


class Place(NamedTuple):
    """Line and column of a key, both from 1."""

    line: int
    column: int


def positions(text: str) -> dict[Path, Place]:
    """The positions of all keys of a valid TOML text."""
    return _KeyReader(text.replace("\r\n", "\n")).read()


class _KeyReader:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.found = text, 0, dict[Path, Place]()
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def read(self) -> dict[Path, Place]:
        table: Path = ()
        counts: dict[Path, int] = {}  # tables in each array of tables so far
        self._skip(BETWEEN)
        while self.at < len(self.text):
            if not self.text.startswith("[", self.at):
                self._pair(table)
                self._skip(BETWEEN)
                continue
            start, brackets = self.at, 2 if self.text.startswith("[[", self.at) else 1
            self.at += brackets
            names = self._key()
            self.at += brackets
            self._skip(BETWEEN)
            table = ()
            for i, name in enumerate(names):
                table = (*table, name)
                last = i == len(names) - 1
                if last and brackets == 2:
                    counts[table] = counts.get(table, 0) + 1
                    self._note(table, start)
                if table in counts:
                    table = (*table, counts[table] - 1)
                self._note(table, start, again=last)  # a table may have been opened by one below it
        return self.found

    def _pair(self, table: Path) -> None:
        path, start = table, self.at
        for name in self._key():
            path = (*path, name)
            self._note(path, start)
        self.at += 1  # "="
        self._skip(BLANKS)
        self._value(path)

    def _key(self) -> list[str]:
        """The parts of a dotted key; ends before ``=`` or ``]``."""
        parts = []
        while True:
            self._skip(BLANKS)
            quoted = self.text[self.at] in "\"'"
            part = self._skip(STRINGS if quoted else BARE)
            parts.append(tomllib.loads(f"x = {part}")["x"] if quoted else part)
            self._skip(BLANKS)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        character = self.text[self.at]
        if character not in "[{":
            self._skip(STRINGS if character in "\"'" else PLAIN)
            return
        self.at += 1
        self._skip(BETWEEN)
        index = 0
        while self.text[self.at] not in "]}":
            if character == "[":
                self._note((*path, index), self.at)
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)
            self._skip(BETWEEN)
            if self.text.startswith(",", self.at):
                self.at += 1
                self._skip(BETWEEN)
        self.at += 1

    def _skip(self, what: re.Pattern[str]) -> str:
        """Go on behind what is next, and return it."""
        found = what.match(self.text, self.at)
        assert found is not None, "tomllib accepts only such texts"
        self.at = found.end()
        return found[0]

    def _note(self, path: Path, at: int, *, again: bool = False) -> None:
        """Note where a path is first met, or met `again`."""
        if again or path not in self.found:
            line = bisect.bisect_right(self.starts, at)
            self.found[path] = Place(line, at - self.starts[line - 1] + 1)
