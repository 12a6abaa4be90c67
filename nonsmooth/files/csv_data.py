"""Measured data in CSV files: names with units in the first line, numbers below."""

import contextlib
import csv
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of
from nonsmooth.quantities import Wrong, parse_unit
from nonsmooth.settings import hint

#: names of the column of times
TIMES = ("t", "time")
#: a number; `float` would take digits of other scripts, those of 1_000, and infinity too
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """The columns of a file, as written: values (n, columns), NaN in empty cells; units, empty where not given."""

    path: Path
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array

    def column(self, name: str, unit: str) -> Array:
        """Values (n,) in the SI unit `unit`, as ``"rad or m"``; without a unit in the file, as written."""
        if name not in self.names:
            raise InputError(
                f'{self.path} has no column "{name}"; it has {", ".join(self.names)}.{hint(name, self.names, 2)}'
            )
        k = self.names.index(name)
        return np.asarray(self.values[:, k] * self.factor(k, unit))

    def times(self, *, increasing: bool = True) -> Array:
        """The column of times (n,) [s], called t or time; InputError unless all are known and, if so, increase."""
        found = [name for name in self.names if name.lower() in TIMES]
        if not found:
            raise InputError(
                f'{self.path} has no column "t" of times, as t [s] or time [ms]; it has {", ".join(self.names)}.'
            )
        t = self.column(found[0], "s")
        if not np.all(np.isfinite(t)):
            raise InputError(f"{self.path}: every line needs a time in its column {found[0]!r}.")
        k = int(np.argmin(np.diff(t))) if len(t) > 1 else 0
        if increasing and len(t) > 1 and not t[k + 1] > t[k]:
            raise InputError(
                f"{self.path}: times must increase, but {t[k]:.9g} s is followed by {t[k + 1]:.9g} s; sort the lines, "
                "and leave one of each time."
            )
        return t

    def factor(self, k: int, unit: str) -> float:
        """Factor of column k from the unit of the file to the SI unit `unit`."""
        try:
            return conversion(self.units[k], unit)
        except Wrong as error:
            raise InputError(f"{self.path}: the column {self.names[k]} {error}.") from None


def conversion(given: str, unit: str) -> float:
    """Factor from a unit, 1 if empty, to the SI unit that it must have the dimension of, ``"rad or m"`` of one."""
    if not given or given == unit:
        return 1.0
    parsed = parse_unit(given)
    for one in unit.split(" or "):
        with contextlib.suppress(Wrong):  # a unit of results that is none of measured data, as m kg^1/2
            if parse_unit(one).powers == parsed.powers:
                return float(parsed.value)
    raise Wrong(f"has the unit {given}, which is of another dimension than {unit}")


def split_unit(word: str) -> tuple[str, str]:
    """A word and the unit in brackets behind it, empty if there is none."""
    name, bracket, unit = word.strip().partition("[")
    return name.strip(), unit.rstrip("] ").strip() if bracket else ""


def read_table(path: str | os.PathLike[str]) -> MeasuredTable:
    """Read a CSV file whose first line names its columns: ``t [ms],slider.x [mm],lam_N:pin [N]``. Columns are separated
    by commas, semicolons or tabs, also behind the last one; with semicolons numbers may have decimal commas. Lines that
    begin with ``#`` are comments; empty cells, and nan, are missing values."""
    path = path_of(path, "The file of measured data")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"{path} cannot be read ({reason}); give a CSV file of measured data.") from error
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} is empty; give a CSV file with a line of names and lines of numbers.")
    head, rows = lines[0][1], lines[1:]
    delimiter = next((mark for mark in ("\t", ";", ",") if mark in head), "")
    if not delimiter or not rows:
        raise InputError(f"{path}: expected a line of names, such as t [s],slider.x [mm], and lines of numbers below.")
    words, table = _cells(head, delimiter), [_cells(line, delimiter) for _, line in rows]
    if not words[-1]:  # a delimiter behind the last name
        table = [cells[:-1] if len(cells) == len(words) and not cells[-1] else cells for cells in table]
        del words[-1]
    names, units = zip(*(split_unit(word) for word in words), strict=True)
    for k, name in enumerate(names):
        if not name or name in names[:k]:
            wrong = f'two columns are called "{name}"' if name else f"column {k + 1} has no name"
            raise InputError(f"{path}: {wrong}; give each one of its own.")
    values = np.full((len(rows), len(names)), np.nan)
    for i, ((number, _), cells) in enumerate(zip(rows, table, strict=True)):
        if len(cells) != len(names):
            raise InputError(f"{path}, line {number}: {len(names)} columns are named, got {len(cells)}.")
        for k, cell in enumerate(cells):
            decimal = cell.replace(",", ".") if delimiter == ";" else cell
            known = NUMBER.fullmatch(decimal)
            values[i, k] = float(decimal) if known else np.nan
            if np.isinf(values[i, k]) or not (known or decimal.lower() in ("", "nan")):
                raise InputError(f'{path}, line {number}: "{cell[:40]}" in column "{names[k]}" is not a number.')
    return MeasuredTable(path, names, units, values)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    except csv.Error as error:
        raise InputError(f"A line of measured data cannot be read ({error}); it begins with {line[:40]!r}.") from None
