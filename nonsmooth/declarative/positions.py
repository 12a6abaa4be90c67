"""Positions of the keys of a TOML text, which Python's own reader does not provide.

The text is valid TOML, since `tomllib` has read it; only keys, tables, arrays of tables, inline tables and the ends of
values have to be followed.
"""

import bisect
import re
import tomllib
from typing import NamedTuple

Path = tuple[str | int, ...]

BARE = re.compile(r"[A-Za-z0-9_-]+")
#: whitespace, line ends and comments between the parts of a text
BETWEEN = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
BLANKS = re.compile(r"[ \t]*")
#: strings, the longer quotes first
STRINGS = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.S)
#: a value other than a string, array or inline table
PLAIN = re.compile(r"[^,\]}#\r\n]+")


class Place(NamedTuple):
    """Line and column of a key, both from 1."""

    line: int
    column: int


class Positions(dict[Path, Place]):
    """Positions of keys and of entries of arrays, by their path from the top."""

    def nearest(self, path: Path) -> Place:
        """The position of the path, or of the innermost table above it that is in the text."""
        for size in range(len(path), 0, -1):
            if path[:size] in self:
                return self[path[:size]]
        return Place(1, 1)


def positions(text: str) -> Positions:
    """The positions of all keys of a valid TOML text.

    >>> positions("[a]\\nb = [1,\\n  2]\\n")[("a", "b", 1)]
    Place(line=3, column=3)
    """
    return _Reader(text.replace("\r\n", "\n")).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found = Positions()
        self.tables: dict[Path, int] = {}  # arrays of tables: how many so far
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def read(self) -> Positions:
        table: Path = ()
        self._skip(BETWEEN)
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)
            self._skip(BETWEEN)
        return self.found

    def _header(self) -> Path:
        start, array = self.at, self.text.startswith("[[", self.at)
        self.at += 2 if array else 1
        names = self._key()
        self.at += 2 if array else 1
        path: Path = ()
        for i, name in enumerate(names):
            path = (*path, name)
            last = i == len(names) - 1
            if last and array:
                self.tables[path] = self.tables.get(path, 0) + 1
                self._note(path, start)
            if path in self.tables:
                path = (*path, self.tables[path] - 1)
            self._note(path, start, again=last)  # a table may have been opened by one below it
        return path

    def _pair(self, table: Path) -> None:
        path = table
        start = self.at
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
            quoted = STRINGS.match(self.text, self.at) if self.text[self.at] in "\"'" else None
            found = quoted or BARE.match(self.text, self.at)
            assert found is not None, "tomllib accepts only such keys"
            parts.append(tomllib.loads(f"x = {found[0]}")["x"] if quoted else found[0])
            self.at = found.end()
            self._skip(BLANKS)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        character = self.text[self.at]
        if character not in "[{":
            found = (STRINGS if character in "\"'" else PLAIN).match(self.text, self.at)
            assert found is not None, "tomllib accepts only such values"
            self.at = found.end()
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

    def _skip(self, what: re.Pattern[str]) -> None:
        found = what.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def _note(self, path: Path, at: int, *, again: bool = False) -> None:
        """Note where a path is first met, or met `again`."""
        if again or path not in self.found:
            line = bisect.bisect_right(self.starts, at)
            self.found[path] = Place(line, at - self.starts[line - 1] + 1)
