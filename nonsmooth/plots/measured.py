"""Measured data drawn over a run."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of
from nonsmooth.plots.curves import columns_of, scale, units_of
from nonsmooth.plots.words import named, split_unit
from nonsmooth.trajectory import Trajectory

__all__ = ["Measured", "read_measured"]

TIMES = ("t", "time")


@dataclass(frozen=True, eq=False)
class Measured:
    """Data over time, in SI units.

    Parameters
    ----------
    t
        Times (n,) [s].
    columns
        By kind and name of the run's quantities, as ``("q", "slider.x")``, values (n,); NaN where nothing was measured.
    source
        Origin of the data.
    """

    t: Array
    columns: Mapping[tuple[str, str], Array]
    source: str = ""

    def differences(self, trajectory: Trajectory) -> dict[tuple[str, str], float]:
        """Root mean square of run minus data, by column and in SI units, over the data within the run's time.

        Coordinates and velocities are those of `Trajectory.at`; mean forces are those of the step around each time,
        everything else is interpolated between rows.

        Raises
        ------
        InputError
            If no time of the data lies within the run.
        """
        inside = (self.t >= trajectory.t[0]) & (self.t <= trajectory.t[-1])
        if not inside.any():
            first, last = trajectory.t[0], trajectory.t[-1]
            raise InputError(f"No time of {self.source or 'the data'} lies within the run, {first:g} to {last:g} s.")
        found = {}
        for (kind, name), values in self.columns.items():
            known = inside & np.isfinite(values)
            if known.any():
                difference = _at(trajectory, kind, name, self.t[known]) - values[known]
                found[kind, name] = float(np.sqrt(np.mean(difference**2)))
        return found


def _at(trajectory: Trajectory, kind: str, name: str, t: Array) -> Array:
    if kind in ("q", "v"):
        states = trajectory.at(t, order=4)
        return np.asarray((states.q if kind == "q" else states.v)[name])
    values = columns_of(trajectory, kind)[name]
    if kind in ("lam_N", "reaction"):
        return np.asarray(values[np.clip(np.searchsorted(trajectory.t, t), 1, len(values) - 1)])
    values = np.cumsum(values) if kind == "impulse" else values
    return np.asarray(np.interp(t, trajectory.t, values))


def read_measured(path: str | os.PathLike[str], trajectory: Trajectory) -> Measured:
    """Read a CSV file whose first line names its columns: ``t [ms],slider.x [mm],lam_N:pin [N]``.

    The first column is the time. Other names are those of the run, with a kind of `Panel` before a colon if several
    have the name; a unit in brackets may have a prefix, without one values are in SI units. Columns are separated by
    commas, semicolons or tabs; with semicolons numbers may have decimal commas. Lines that begin with ``#`` are
    comments; empty cells are missing values.

    Raises
    ------
    InputError
        If the file cannot be read, or a column or a number is invalid, with its line.
    """
    path = path_of(path, "The file of measured data")
    lines = _lines(path)
    head, rows = lines[0][1], lines[1:]
    delimiter = next((mark for mark in ("\t", ";", ",") if mark in head), "")
    if not delimiter or not rows:
        raise InputError(f"{path}: expected a line of names, such as t [s],slider.x [mm], and lines of numbers below.")
    names = _cells(head, delimiter)
    columns, factors = [], [_time_factor(path, names[0])]
    for word in names[1:]:
        name, unit = split_unit(word)
        found = named(trajectory, name, unit)
        if len(found) > 1:
            offer = ", ".join(known for _, known in found)
            raise InputError(f"{path}: the column {name!r} may be any of {offer}; name one of them.")
        columns.append(found[0])
        factors.append(scale(unit or units_of(trajectory, *found[0]))[1])
    if len(set(columns)) < len(columns):
        raise InputError(f"{path}: a quantity is measured twice in {', '.join(names[1:])}; give each column once.")
    table = np.array([_numbers(path, number, text, delimiter, len(names)) for number, text in rows]) * factors
    if not np.all(np.isfinite(table[:, 0])):
        raise InputError(f"{path}: every line needs a time in its first column.")
    order = np.argsort(table[:, 0], kind="stable")
    table = table[order]
    return Measured(table[:, 0], {one: table[:, i + 1] for i, one in enumerate(columns)}, str(path))


def _lines(path: Path) -> list[tuple[int, str]]:
    """Lines that are no comments, with their numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"{path} cannot be read ({reason}); give a CSV file of measured data.") from error
    found = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not found:
        raise InputError(f"{path} is empty; give a CSV file with a line of names and lines of numbers.")
    return found


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    except csv.Error as error:
        raise InputError(f"A line of measured data cannot be read ({error}); it begins with {line[:40]!r}.") from None


def _time_factor(path: Path, word: str) -> float:
    name, unit = split_unit(word)
    base, factor = scale(unit or "s")
    if name.lower() not in TIMES or base != "s":
        raise InputError(f"{path}: the first column must be the time, as t [s] or time [ms], got {word!r}.")
    return factor


def _numbers(path: Path, number: int, line: str, delimiter: str, count: int) -> Sequence[float]:
    cells = _cells(line, delimiter)
    if len(cells) != count:
        raise InputError(f"{path}, line {number}: {count} columns are named, got {len(cells)}.")
    values = []
    for cell in cells:
        text = cell.replace(",", ".") if delimiter == ";" else cell
        try:
            values.append(float(text) if text else np.nan)
        except ValueError:
            raise InputError(f"{path}, line {number}: {cell!r} is no number.") from None
    return values
