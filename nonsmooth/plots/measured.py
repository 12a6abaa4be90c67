"""Measured data drawn over a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files.csv_data import TIMES, read_table
from nonsmooth.plots.curves import columns_of, units_of
from nonsmooth.plots.words import named
from nonsmooth.trajectory import Trajectory


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
    have the name; units in brackets are those of TOML files, without one values are in SI units. Columns are separated
    by commas, semicolons or tabs; with semicolons numbers may have decimal commas. Lines that begin with ``#`` are
    comments; empty cells are missing values.

    Raises
    ------
    InputError
        If the file cannot be read, or a column or a number is invalid, with its line.
    """
    read = read_table(path)
    if read.names[0].lower() not in TIMES:
        raise InputError(
            f"{read.path}: the first column must be the time, as t [s] or time [ms], got {read.names[0]!r}."
        )
    columns, values = [], []
    for k, name in enumerate(read.names[1:], start=1):
        found = named(trajectory, name, read.units[k])
        if len(found) > 1:
            offer = ", ".join(known for _, known in found)
            raise InputError(f"{read.path}: the column {name!r} may be any of {offer}; name one of them.")
        columns.append(found[0])
        values.append(read.values[:, k] * read.factor(k, units_of(trajectory, *found[0])))
    if len(set(columns)) < len(columns):
        raise InputError(
            f"{read.path}: a quantity is measured twice in {', '.join(read.names[1:])}; give each column once."
        )
    t = read.times()
    if not np.all(np.isfinite(t)):
        raise InputError(f"{read.path}: every line needs a time in its first column.")
    order = np.argsort(t, kind="stable")
    return Measured(t[order], {one: column[order] for one, column in zip(columns, values, strict=True)}, str(read.path))
