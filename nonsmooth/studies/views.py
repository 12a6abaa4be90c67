"""Series of a run, of its ideal twin, and of their difference, by name, from which published numbers are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import mean_forces
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class View:
    """Series over time by name, at both ends of each step; the argument of the function of a `Measure`.

    `t` (n,) [s]; `q`, `v` coordinates and velocities; `a` accelerations at these times without impacts, computed on
    first use; `parameters` of the system, `contacts` the names of its contacts.
    """

    t: Array
    q: Mapping[str, Array]
    v: Mapping[str, Array]
    accelerations: Callable[[], Mapping[str, Array]]
    parameters: Mapping[str, float]
    contacts: tuple[str, ...]

    @cached_property
    def a(self) -> Mapping[str, Array]:
        return self.accelerations()

    def series(self, entry: Any) -> Array:
        """Of ``(kind, name)`` or a function, in SI units."""
        if callable(entry):
            return np.asarray(entry(self), float)
        kind, name = entry
        return np.asarray(getattr(self, kind)[name], float)

    def less(self, other: View) -> View:
        """The difference to another view at the same times, for columns of both: a part may have clearance in one
        only."""
        q, v = (
            {name: values - theirs[name] for name, values in ours.items() if name in theirs}
            for ours, theirs in ((self.q, other.q), (self.v, other.v))
        )
        return View(
            self.t, q, v, lambda: {name: self.a[name] - other.a[name] for name in v}, self.parameters, self.contacts
        )


class Twin:
    """The motion without clearance, which is smooth, as a view at any times."""

    def __init__(self, run: Trajectory, parameters: Mapping[str, float]) -> None:
        self.run, self.parameters = run, parameters
        self._q, self._v = _spline(run.t, run.q.array), _spline(run.t, run.v.array)

    @cached_property
    def _a(self) -> Callable[[Array], Array]:
        return _spline(self.run.t, self.run.acceleration.array)

    def at(self, t: Array) -> View:
        """At the times."""

        def named(names: tuple[str, ...], values: Array) -> dict[str, Array]:
            return dict(zip(names, values.T, strict=True))

        q, v = self.run.q.names, self.run.v.names
        return View(t, named(q, self._q(t)), named(v, self._v(t)), lambda: named(v, self._a(t)), self.parameters, ())

    def between(self, rows: Array) -> View:
        """At both ends of each step."""
        return self.at(ends(rows))

    def mean_acceleration(self, name: str, edges: Array) -> Array:
        """Of a velocity, between edges of equal windows [s]."""
        values = self._v(edges)[:, self.run.v.names.index(name)]
        return np.asarray(np.diff(values) / np.diff(edges))


def ends(rows: Array) -> Array:
    """Start and end of each step (2 (n - 1),)."""
    return _alternating(rows[:-1], rows[1:])


def _alternating(first: Array, last: Array) -> Array:
    return np.column_stack([first, last]).ravel()


def view_of(run: Trajectory, parameters: Mapping[str, float]) -> View:
    """A run at both ends of each step: right limits at its start, left limits at its end."""
    q = {name: ends(values) for name, values in run.q.items()}
    v = {name: _alternating(values[:-1], run.left.v[name][1:]) for name, values in run.v.items()}

    def accelerations() -> dict[str, Array]:
        left = run.instant(run.t[1:], side="left").a
        return {name: _alternating(values[:-1], left[name]) for name, values in run.acceleration.items()}

    return View(ends(run.t), q, v, accelerations, parameters, run.gap.names)


def window_means(
    run: Trajectory, twin: Twin, series: Any, of: Literal["run", "ideal", "error"], window: float
) -> Array:
    """Mean of a series in each whole window [s] of a run: finite numbers, whether contact is rigid or compliant.

    Parameters
    ----------
    series
        ``("a", velocity)``: changes of the velocity over the window, impacts included, divided by it;
        ``("F", name)``: normal impulses of the contact or clearance of this name, impacts included, divided by it; not
        numbers where the run has none.
    of : the run, its twin or their difference; forces are of the run

    Raises
    ------
    InputError
        For another series, or if the run is shorter than the window.

    Notes
    -----
    An impact at a row that is the edge of two windows belongs to the first one.
    """
    kind, name = series if not callable(series) else ("", "")
    if kind not in ("a", "F") or (kind == "F" and of != "run"):
        raise InputError(f'A window takes ("a", velocity) or, of the run, ("F", contact), got {series!r} of {of!r}.')
    edges = run.t[0] + window * np.arange(np.floor((run.t[-1] - run.t[0]) / window * (1 + 1e-12)) + 1)
    if len(edges) < 2:
        raise InputError(f"The window, {window:g} s, is longer than the run, {run.t[-1] - run.t[0]:g} s.")
    if kind == "F":
        chosen = [contact.split(".")[0] == name for contact in run.gap.names]
        return mean_forces(run, edges)[:, chosen].sum(axis=1) if any(chosen) else np.full(len(edges) - 1, np.nan)
    ours = np.zeros(len(edges) - 1)
    if of != "ideal":
        k = np.clip(np.searchsorted(run.t, edges * (1 + 1e-12), side="right") - 1, 0, len(run.t) - 2)
        right, left = run.v[name][k], run.left.v[name][k + 1]
        ours = np.diff(right + (left - right) * (edges - run.t[k]) / (run.t[k + 1] - run.t[k])) / window
    return ours if of == "run" else twin.mean_acceleration(name, edges) * (-1.0 if of == "error" else 1.0) + ours


def _spline(t: Array, values: Array) -> Callable[[Array], Array]:
    """Values (n, k) at times (n,) as a smooth function of times."""
    from scipy.interpolate import CubicSpline

    spline: Callable[[Array], Array] = CubicSpline(t, values)
    return spline
