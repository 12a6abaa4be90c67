"""Motion between rows: polynomials by the values at both ends of a step, never across an impact.

With h the distance of the rows, the polynomial of a coordinate interpolates q and q' at both rows, and q'' for order 6;
velocities are its derivative. Its error, in addition to that of the rows, is ::

    order 6:  |q| <= h^6 / 46080 max |d^6 q / dt^6|,    velocities of order 5
    order 4:  |q| <= h^4 / 384 max |d^4 q / dt^4|,      velocities of order 3

as long as the motion is smooth between the rows. Quaternions are divided by their norm.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.6.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.flexible_bodies import FlexibleBody, restored_flexible
from nonsmooth.settings import floats
from nonsmooth.trajectory.columns import Columns

Index = NDArray[np.intp]

SIDES = ("right", "left")
#: orders of the coordinates between rows, by what they are made of
ORDERS = (4, 6)


@dataclass(frozen=True, eq=False)
class States:
    """Coordinates and velocities at chosen times: the result of `Trajectory.at`.

    Parameters
    ----------
    t
        Times (n,) [s]; a number is one row.
    q, v
        Coordinates and velocities by name, one row per time.
    """

    t: Array
    q: Columns
    v: Columns

    def __repr__(self) -> str:
        span = f", {self.t.min():.6g} to {self.t.max():.6g} s" if self.t.size else ""
        return f"States({len(self.t)} time{'s' * (len(self.t) != 1)}{span}: {self.q} and {self.v})"


class _FloatingFrame:
    """A flexible body of a run whose inertia changes with its deformation.

    Its velocities are not the angular velocity of its frame and the rates of its modes, see
    `nonsmooth.model.flexible_bodies`.
    """

    def __init__(self, body: FlexibleBody, q_names: Sequence[str], v_names: Sequence[str]) -> None:
        first_q, first_v, n = q_names.index(f"{body.name}.eta1"), v_names.index(f"{body.name}.eta1"), len(body.axes)
        self.eta, self.frame = slice(first_q, first_q + body.count), body.frame
        self.turning, self.modes = slice(first_v - n, first_v), slice(first_v, first_v + body.count)
        self.columns = slice(self.turning.start, self.modes.stop)
        eta, v, a = ca.SX.sym("eta", body.count), ca.SX.sym("v", n + body.count), ca.SX.sym("a", n + body.count)
        u = ca.vertcat(*self.frame.velocities(eta, v[:n], v[n:]))
        self._forward = ca.Function("forward", [eta, v], [u])
        change = ca.jtimes(u, eta, u[n:]) + ca.jtimes(u, v, a)
        self._change = ca.Function("change", [eta, v, a], [change])

    def forward(self, q: Array, v: Array) -> Array:
        """omega and eta' (n, k), by rows."""
        return np.asarray(self._forward(q[:, self.eta].T, v[:, self.columns].T)).T

    def change(self, q: Array, v: Array, a: Array) -> Array:
        """Their derivatives (n, k), with v' = a."""
        return np.asarray(self._change(q[:, self.eta].T, v[:, self.columns].T, a[:, self.columns].T)).T

    def back(self, q: Array, u: Array) -> Array:
        """The velocities (n, k) of omega and eta'."""
        rows = zip(q[:, self.eta], u[:, self.turning], u[:, self.modes], strict=True)
        found = [np.concatenate(self.frame.started(eta, omega, rate)) for eta, omega, rate in rows]
        return np.array(found).reshape(len(q), -1)


class Coordinates:
    """The kinematic equation ``q' = B(q) v`` and its inverse, for rows at once; names tell the quaternions.

    Parameters
    ----------
    q_names, v_names
        Names of the columns; a quaternion is ``body.qw`` and the three that follow, its velocity ``body.wx`` and two
        more.
    elements
        Elements of the model, as its description has them.
    """

    def __init__(
        self, q_names: Sequence[str], v_names: Sequence[str], elements: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        bodies = [body for one in elements if (body := restored_flexible(one)) is not None]
        names = list(q_names), list(v_names)
        self.deforming = [_FloatingFrame(body, *names) for body in bodies if body.frame.changing]
        first = [i for i, name in enumerate(q_names) if name.endswith(".qw")]
        spin = [i for i, name in enumerate(v_names) if name.endswith(".wx")]
        self.turns = [(slice(i, i + 4), slice(j, j + 3)) for i, j in zip(first, spin, strict=True)]
        turned_q = {k for part, _ in self.turns for k in range(part.start, part.stop)}
        turned_v = {k for _, part in self.turns for k in range(part.start, part.stop)}
        self.plain_q = np.array([i for i in range(len(q_names)) if i not in turned_q], dtype=np.intp)
        self.plain_v = np.array([i for i in range(len(v_names)) if i not in turned_v], dtype=np.intp)

    def rates(self, q: Array, v: Array) -> Array:
        """q' (n, nq) of q (n, nq) and v (n, nv)."""
        return self._linear_rates(q, self._with_frame_rates(q, v))

    def _with_frame_rates(self, q: Array, v: Array) -> Array:
        """v with the angular velocities of frames and the rates of modes of flexible bodies."""
        if self.deforming:
            v = v.copy()
            for one in self.deforming:
                v[:, one.columns] = one.forward(q, v)
        return v

    def _linear_rates(self, q: Array, v: Array) -> Array:
        """B(q) v, without flexible bodies."""
        rates = np.empty_like(q)
        rates[:, self.plain_q] = v[:, self.plain_v]
        for place, spin in self.turns:
            rates[:, place] = _product(q[:, place], v[:, spin]) / 2
        return rates

    def second_rates(self, q: Array, v: Array, a: Array) -> Array:
        """q'' (n, nq) with v' = a (n, nv)."""
        rates = self._with_frame_rates(q, v)
        if self.deforming:
            a = a.copy()
            for one in self.deforming:
                a[:, one.columns] = one.change(q, v, a)
        v, second = rates, self._linear_rates(q, a)
        for place, spin in self.turns:
            second[:, place] += _product(_product(q[:, place], v[:, spin]), v[:, spin]) / 4
        return second

    def closed(self, q: Array, rates: Array) -> tuple[Array, Array]:
        """q with quaternions of norm 1, and the velocities of q' = `rates`."""
        q, v = q.copy(), np.empty((len(q), self.plain_v.size + 3 * len(self.turns)))
        v[:, self.plain_v] = rates[:, self.plain_q]
        for place, spin in self.turns:
            size = np.linalg.norm(q[:, place], axis=1, keepdims=True)
            q[:, place] /= size
            # a change of the norm is in the scalar part of conj(q) q', which is omitted
            v[:, spin] = 2 * _vector_of_product(q[:, place], rates[:, place] / size)
        for one in self.deforming:
            v[:, one.columns] = one.back(q, v)
        return q, v


def coordinates_of(run: Any) -> Coordinates:
    """The coordinates of a run, with the flexible bodies of its description."""
    return Coordinates(run.q.names, run.v.names, run.manifest.get("model", {}).get("elements", ()))


def _product(quaternion: Array, vector: Array) -> Array:
    """quaternion ∘ (0, vector), by rows."""
    w, x = quaternion[:, :1], quaternion[:, 1:]
    scalar = -np.sum(x * vector, axis=1, keepdims=True)
    return np.hstack([scalar, w * vector + np.cross(x, vector)])


def _vector_of_product(quaternion: Array, rate: Array) -> Array:
    """The vector part of conj(quaternion) ∘ rate, by rows."""
    w, x = quaternion[:, :1], quaternion[:, 1:]
    return np.asarray(w * rate[:, 1:] - rate[:, :1] * x - np.cross(x, rate[:, 1:]))


def hermite(s: Array, h: Array, ends: tuple[tuple[Array, ...], tuple[Array, ...]]) -> tuple[Array, Array]:
    """Values and derivatives (n, k) at shares s (n,) of steps of length h (n,), by what is known at their ends.

    Each end is (value, derivative) or (value, derivative, second derivative), each (n, k).
    """
    s, h = s[:, None], h[:, None]
    (y0, d0, *first), (y1, d1, *last) = ends
    if not first:
        delta, slope = y1 - y0 - h * d0, h * (d1 - d0)
        parts = np.array([h * d0, 3 * delta - slope, slope - 2 * delta])
    else:
        c0 = h**2 * first[0]
        delta, slope, bend = y1 - y0 - h * d0 - c0 / 2, h * (d1 - d0) - c0, h**2 * last[0] - c0
        parts = np.array([
            h * d0, c0 / 2, 10 * delta - 4 * slope + bend / 2, -15 * delta + 7 * slope - bend,
            6 * delta - 3 * slope + bend / 2,
        ])  # fmt: skip
    value, rate = np.zeros_like(y0), np.zeros_like(y0)
    for power in range(len(parts), 0, -1):
        rate = rate * s + power * parts[power - 1]
        value = (value + parts[power - 1]) * s
    return y0 + value, rate / h


@dataclass(frozen=True, eq=False)
class Places:
    """Where times lie among the rows.

    Parameters
    ----------
    t
        Times (n,) [s].
    step
        The step (n,) whose motion holds there, by the row at which it begins: -1 before the first row, the last row
        behind it.
    row
        The row (n,) at this time, -1 between rows.
    side
        ``"right"`` or ``"left"``: the limit at rows.
    """

    t: Array
    step: Index
    row: Index
    side: str


def places(rows: Array, impacts: Array, t: Any, side: str) -> Places:
    """Where `t` lies among the times of `rows` (n,).

    Parameters
    ----------
    impacts
        Times of impacts, also of those whose rows were not recorded.

    Raises
    ------
    InputError
        For a time outside the run, or between rows with an impact that was not recorded.
    """
    try:
        times = np.atleast_1d(floats(t))
    except TypeError:
        times = np.full(1, np.nan)
    outside = ~((times >= rows[0]) & (times <= rows[-1]))
    if times.ndim != 1 or outside.any():
        given = repr(float(times[outside][0])) if times.ndim == 1 and np.isfinite(times).all() else repr(t)
        first, last = float(rows[0]), float(rows[-1])
        raise InputError(f"t must be times from {first!r} to {last!r} s, the span of the run, got {given}.")
    if side not in SIDES:
        raise InputError(f'side must be "right" or "left", the limit at an impact, got {side!r}.')
    step = np.searchsorted(rows, times, "left" if side == "left" else "right") - 1
    nearest = np.minimum(np.searchsorted(rows, times), len(rows) - 1)
    row = np.where(rows[nearest] == times, nearest, -1)
    between = np.flatnonzero(row < 0)
    lost = np.unique(impacts[~np.isin(impacts, rows)])
    if lost.size and between.size:
        crossing = between[np.isin(step[between], np.searchsorted(rows, lost) - 1)]
        if crossing.size:
            raise InputError(
                f"At t = {times[crossing[0]]:.9g} s the motion is not known: the run keeps some rows only, and an "
                "impact lies between the adjacent ones; run it with record=1."
            )
    return Places(times, step.astype(np.intp), row.astype(np.intp), side)


class RowMotion:
    """Motion between the rows of a run, of which it keeps the arrays and not the run itself."""

    def __init__(self, run: Any) -> None:
        self.t, self.q, self.v = run.t, run.q.array, {"right": run.v.array, "left": run.left.v.array}
        self.coordinates = coordinates_of(run)

    def states(
        self, at: Places, order: int, accelerations: Callable[[Index, str], Array] | None = None
    ) -> tuple[Array, Array]:
        """q (n, nq) and v (n, nv) at times; `accelerations` (rows, side) are required for order 6."""
        q, v = np.empty((len(at.t), self.q.shape[1])), np.empty((len(at.t), self.v["right"].shape[1]))
        on = at.row >= 0
        q[on], v[on] = self.q[at.row[on]], self.v[at.side][at.row[on]]
        inside = np.flatnonzero(~on)
        if inside.size:
            first = at.step[inside]
            ends = []
            for row, side in ((first, "right"), (first + 1, "left")):
                known = [self.q[row], self.coordinates.rates(self.q[row], self.v[side][row])]
                if order == 6:
                    assert accelerations is not None
                    a = accelerations(row, side)
                    known.append(self.coordinates.second_rates(self.q[row], self.v[side][row], a))
                ends.append(tuple(known))
            h = self.t[first + 1] - self.t[first]
            value, rate = hermite((at.t[inside] - self.t[first]) / h, h, (ends[0], ends[1]))
            q[inside], v[inside] = self.coordinates.closed(value, rate)
        return q, v


class Forces(NamedTuple):
    """Accelerations (nv,), forces of joints (ng,), (nr,) and contacts (nc,), (nt,), modes (nc,) at one instant."""

    a: Array
    lam_g: Array
    reaction: Array
    lam_N: Array
    lam_T: Array
    mode: NDArray[np.int8]
