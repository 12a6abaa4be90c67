"""Motion between rows, and accelerations and forces at any instant of a run.

With h the distance of two rows, the polynomial of a coordinate interpolates q and q' at both, and q'' for order 6;
velocities are its derivative. It never extends across an impact. Its error, in addition to that of the rows, is ::

    order 6:  |q| <= h^6 / 46080 max |d^6 q / dt^6|,    velocities of order 5
    order 4:  |q| <= h^4 / 384 max |d^4 q / dt^4|,      velocities of order 3

as long as the motion is smooth between the rows. Quaternions are divided by their norm.

Rows contain mean forces of steps; instantaneous ones follow from the equations of motion at the state. With rigid
contact the modes of closed contacts follow from the complementarity problem in accelerations and forces, which the
event-driven stepper solves between its phases; with compliant contact the laws are evaluated, whose approach velocities
are those at the beginning of contacts. At an impact forces have a limit on either side.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.6.
"""

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.model.flexible_bodies import restored_flexible
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import System
from nonsmooth.quantities import in_si
from nonsmooth.schemes.compliant.tolerances import TOUCHED
from nonsmooth.settings import floats, is_one, require, shown
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.tolerances import CLOSED, OPEN, SLIPPING, STICKING
from nonsmooth.trajectory.columns import Columns, ForceAxes, by_tangent

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: share of the sum of its terms up to which a gap velocity or slip of a persistent contact may be the error of a step
HELD = 1e-3
#: share of the contact's size up to which a gap may be the constraint drift of a persistent contact
DRIFT = 1e-2
#: share of the sum of its terms up to which a slip begins or ends
VANISHING = 1e-8
#: share of the typical gap up to which the first row in contact is at the surface
ENTERED = 1e-6
#: relative and absolute [m] tolerance of states of bristles
RTOL, ATOL = 1e-8, 1e-14


def _times(t: Array) -> str:
    span = f", {t.min():.6g} to {t.max():.6g} s" if len(t) > 1 else f", {t[0]:.6g} s" if len(t) else ""
    return f"{len(t)} time{'s' * (len(t) != 1)}{span}"


@dataclass(frozen=True, eq=False)
class States:
    """Coordinates and velocities at chosen times: the result of `Trajectory.at`.

    Parameters
    ----------
    t : times (n,) [s]; a number is one row
    q, v : coordinates and velocities by name, one row per time
    """

    t: Array
    q: Columns
    v: Columns

    def __repr__(self) -> str:
        return f"States({_times(self.t)}: {self.q} and {self.v})"


@dataclass(frozen=True, eq=False)
class Instants:
    """Motion and forces at chosen times: the result of `Trajectory.instant`, one row per time.

    Parameters
    ----------
    t : times (n,) [s]
    q, v, a : coordinates, velocities and accelerations; these bear the names of the velocities
    lam_g : forces [N] and moments [N m] of the rows of joints and drivers, along the directions of their constraints
    reaction : force [N] and torque [N m] of each joint on its second body, ground frame
    lam_N, lam_T
        Normal force [N], compressive > 0, and tangential forces [N] on the second body of each contact; in space
        lam_T has two components in each row.
    contact_force : force of each contact on its second body (n, dimension) [N], ground frame
    mode : 0 open, 1 closed, 2 sticking, 3 slipping
    """

    t: Array
    q: Columns
    v: Columns
    a: Columns
    lam_g: Columns
    reaction: Columns
    lam_N: Columns
    lam_T: Columns
    contact_force: Columns
    mode: Columns

    def __repr__(self) -> str:
        joints = dict.fromkeys(name.rpartition(".")[0] for name in self.reaction)
        parts = [f"motion of {', '.join(self.q.names)}", *(["forces of joints " + ", ".join(joints)] if joints else [])]
        parts += [f"forces and modes of contacts {', '.join(self.mode.names)}"] if self.mode.names else []
        return f"Instants({_times(self.t)}: {'; '.join(parts)})"


@dataclass(frozen=True, eq=False)
class Origin:
    """The origin of the rows of a run: the mechanism, its parameters (n,), and the initial state."""

    system: System
    parameters: Array
    start: State | None = None

    @property
    def memory(self) -> InternalStates:
        """Internal states of the initial state."""
        return InternalStates() if self.start is None else self.start.memory


class Coordinates:
    """The kinematic equation ``q' = B(q) v`` and its inverse, for rows at once. Names of columns tell quaternions, the
    described elements flexible bodies whose inertia changes: their velocities are not the angular velocity of the frame
    and rates of modes, see `nonsmooth.model.flexible_bodies`."""

    def __init__(
        self, q_names: Sequence[str], v_names: Sequence[str], elements: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        names = list(q_names), list(v_names)
        bodies = [body for one in elements if (body := restored_flexible(one)) is not None]
        self.deforming = [_FloatingFrame(body, *names) for body in bodies if body.frame.changing]
        first = [i for i, name in enumerate(q_names) if name.endswith(".qw")]
        spin = [i for i, name in enumerate(v_names) if name.endswith(".wx")]
        self.turns = [(slice(i, i + 4), slice(j, j + 3)) for i, j in zip(first, spin, strict=True)]
        self.plain_q = np.delete(np.arange(len(q_names)), [i + k for i in first for k in range(4)])
        self.plain_v = np.delete(np.arange(len(v_names)), [j + k for j in spin for k in range(3)])

    def rates(self, q: Array, v: Array) -> Array:
        """q' (n, nq) of q (n, nq) and v (n, nv)."""
        return self._linear_rates(q, self._with_frame_rates(q, v))

    def second_rates(self, q: Array, v: Array, a: Array) -> Array:
        """q'' (n, nq) with v' = a (n, nv)."""
        rates = self._with_frame_rates(q, v)
        if self.deforming:
            a = a.copy()
            for one in self.deforming:
                eta, columns = q[:, one.eta].T, one.columns
                a[:, columns] = np.asarray(one.change(eta, v[:, columns].T, a[:, columns].T)).T
        second = self._linear_rates(q, a)
        for place, spin in self.turns:
            second[:, place] += _product(_product(q[:, place], rates[:, spin]), rates[:, spin]) / 4
        return second

    def closed(self, q: Array, rates: Array) -> tuple[Array, Array]:
        """q with quaternions of norm 1, and the velocities of q' = `rates`."""
        q, v = q.copy(), np.empty((len(q), self.plain_v.size + 3 * len(self.turns)))
        v[:, self.plain_v] = rates[:, self.plain_q]
        for place, spin in self.turns:
            size = np.linalg.norm(q[:, place], axis=1, keepdims=True)
            q[:, place] /= size
            rate, w, x = rates[:, place] / size, q[:, place][:, :1], q[:, place][:, 1:]
            # the vector part of 2 conj(q) q'; a change of the norm is in the scalar part, which is omitted
            v[:, spin] = 2 * (w * rate[:, 1:] - rate[:, :1] * x - np.cross(x, rate[:, 1:]))
        for one in self.deforming:
            rows = zip(q[:, one.eta], v[:, one.turning], v[:, one.modes], strict=True)
            v[:, one.columns] = [np.concatenate(one.frame.started(*row)) for row in rows]
        return q, v

    def _with_frame_rates(self, q: Array, v: Array) -> Array:
        """v with the angular velocities of frames and the rates of modes of flexible bodies."""
        if self.deforming:
            v = v.copy()
            for one in self.deforming:
                v[:, one.columns] = np.asarray(one.forward(q[:, one.eta].T, v[:, one.columns].T)).T
        return v

    def _linear_rates(self, q: Array, v: Array) -> Array:
        """B(q) v, without flexible bodies."""
        rates = np.empty_like(q)
        rates[:, self.plain_q] = v[:, self.plain_v]
        for place, spin in self.turns:
            rates[:, place] = _product(q[:, place], v[:, spin]) / 2
        return rates


class _FloatingFrame:
    """Columns of a flexible body whose inertia changes; omega and eta' of its velocities, and their derivatives."""

    def __init__(self, body: Any, q_names: Sequence[str], v_names: Sequence[str]) -> None:
        first_q, first_v, n = q_names.index(f"{body.name}.eta1"), v_names.index(f"{body.name}.eta1"), len(body.axes)
        self.eta, self.frame = slice(first_q, first_q + body.count), body.frame
        self.turning, self.modes = slice(first_v - n, first_v), slice(first_v, first_v + body.count)
        self.columns = slice(self.turning.start, self.modes.stop)
        eta, v, a = ca.SX.sym("eta", body.count), ca.SX.sym("v", n + body.count), ca.SX.sym("a", n + body.count)
        u = ca.vertcat(*self.frame.velocities(eta, v[:n], v[n:]))
        self.forward = ca.Function("forward", [eta, v], [u])
        self.change = ca.Function("change", [eta, v, a], [ca.jtimes(u, eta, u[n:]) + ca.jtimes(u, v, a)])


def _product(quaternion: Array, vector: Array) -> Array:
    """quaternion ∘ (0, vector), by rows."""
    w, x = quaternion[:, :1], quaternion[:, 1:]
    return np.hstack([-np.sum(x * vector, axis=1, keepdims=True), w * vector + np.cross(x, vector)])


def hermite(s: Array, h: Array, ends: tuple[tuple[Array, ...], tuple[Array, ...]]) -> tuple[Array, Array]:
    """Values and derivatives (n, k) at shares s (n,) of steps of length h (n,), by two or three derivatives at ends."""
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
    """Places of times t (n,) [s] among the rows."""

    t: Array
    #: the rows (n,) at which the steps begin whose motion holds there, -1 before the first row
    step: Index
    #: the rows (n,) at these times, -1 between rows
    row: Index
    side: str


def places(rows: Array, impacts: Array, t: Any, side: str) -> Places:
    """Places of `t` among the times of `rows` (n,); InputError outside the run, or beside an impact not recorded."""
    try:
        times = np.atleast_1d(floats(in_si("t", t, "s")))
    except TypeError:
        times = np.full(1, np.nan)
    outside = ~((times >= rows[0]) & (times <= rows[-1]))
    if times.ndim != 1 or outside.any():
        given = repr(float(times[outside][0])) if times.ndim == 1 and np.isfinite(times).all() else shown(t)
        first, last = float(rows[0]), float(rows[-1])
        raise InputError(f"t must be times from {first!r} to {last!r} s, the span of the run, got {given}.")
    require(is_one(side, ("right", "left")), 'side must be "right" or "left", the limit at an impact', side)
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

    #: order of the coordinates between rows
    order = 4

    def __init__(self, run: Any) -> None:
        self.t, self.q, self.v = run.t, run.q.array, {"right": run.v.array, "left": run.left.v.array}
        # with the flexible bodies of the run's description
        elements = run.manifest.get("model", {}).get("elements", ())
        self.coordinates = Coordinates(run.q.names, run.v.names, elements)

    def states(self, at: Places) -> tuple[Array, Array]:
        """q (n, nq) and v (n, nv) at times."""
        q, v = np.empty((len(at.t), self.q.shape[1])), np.empty((len(at.t), self.v["right"].shape[1]))
        on = at.row >= 0
        q[on], v[on] = self.q[at.row[on]], self.v[at.side][at.row[on]]
        inside = np.flatnonzero(~on)
        if inside.size:
            first = at.step[inside]
            h = self.t[first + 1] - self.t[first]
            ends = self._end(first, "right"), self._end(first + 1, "left")
            value, rate = hermite((at.t[inside] - self.t[first]) / h, h, ends)
            q[inside], v[inside] = self.coordinates.closed(value, rate)
        return q, v

    def _end(self, row: Index, side: str) -> tuple[Array, ...]:
        """Values and derivatives at rows that the polynomial interpolates, each (n, nq)."""
        return self.q[row], self.coordinates.rates(self.q[row], self.v[side][row])


class Motions(RowMotion):
    """Motion between rows of a trajectory whose mechanism is known, and forces there."""

    order = 6

    def __init__(self, run: Any, origin: Origin) -> None:
        super().__init__(run)
        compliant = origin.system.compliance is not None
        if not (compliant or np.all(np.isfinite(run.v.array))):
            raise InputError("The run contains velocities that are not finite; forces cannot be computed at its rows.")
        self.origin, self.law = origin, CompliantLaw(run, origin) if compliant else RigidLaw(run, origin)
        self._accelerations = {side: np.full_like(v, np.nan) for side, v in self.v.items()}

    def accelerations(self, rows: Index, side: str) -> Array:
        """v' (k, nv) at rows, each of which is evaluated once."""
        known = self._accelerations[side]
        for row in np.unique(rows[np.isnan(known[rows, :1]).any(axis=1)]):
            step = row if side == "right" else row - 1
            known[row] = self.law.forces(float(self.t[row]), self.q[row], self.v[side][row], int(step)).a
        return np.asarray(known[rows])

    def instants(self, at: Places) -> Instants:
        """Accelerations and forces at times."""
        system, names = self.origin.system, self.origin.system.names
        q, v = self.states(at)
        found = [self.law.forces(float(at.t[i]), q[i], v[i], int(at.step[i])) for i in range(len(at.t))]

        def table(what: str, labels: Sequence[str], field: str, units: Sequence[str]) -> Columns:
            values = np.array([getattr(one, field) for one in found]).reshape(len(found), len(labels))
            return Columns(what, labels, values, units)

        units = ["N"] * system.nc
        lam_N = table("contact", system.contact_names, "lam_N", units)
        lam_T = np.array([one.lam_T for one in found]).reshape(len(found), system.nt)
        forces = ["N" if unit == "m" else "N m" for unit in names.constraint_units]
        return Instants(
            t=at.t,
            q=Columns("coordinate", names.q, q, names.q_units),
            v=Columns("velocity", names.v, v, names.v_units),
            a=table("acceleration", names.v, "a", [f"{unit.removesuffix('/s')}/s^2" for unit in names.v_units]),
            lam_g=table("constraint", names.constraints, "lam_g", forces),
            reaction=table("reaction", names.reactions, "reaction", names.reaction_units),
            lam_N=lam_N,
            lam_T=Columns("contact", system.contact_names, by_tangent(lam_T, system), units),
            contact_force=ForceAxes(system, self.origin.parameters, q, lam_N.array, lam_T).forces(),
            mode=table("contact", system.contact_names, "mode", ["1"] * system.nc),
        )

    def _end(self, row: Index, side: str) -> tuple[Array, ...]:
        a = self.accelerations(row, side)
        return *super()._end(row, side), self.coordinates.second_rates(self.q[row], self.v[side][row], a)


class Forces(NamedTuple):
    """Accelerations (nv,), forces of joints (ng,), (nr,) and contacts (nc,), (nt,), modes (nc,) at one instant."""

    a: Array
    lam_g: Array
    reaction: Array
    lam_N: Array
    lam_T: Array
    mode: NDArray[np.int8]


class RigidLaw:
    """Forces along a run with rigid contacts, or with none.

    A contact is persistent between two rows if it was closed in the run, and its gap and gap velocity are small at both
    rows; it sticks if the slip is as well. The state is projected onto joints and persistent contacts, in the mass
    metric; the complementarity problem in accelerations determines the modes of these and of others that touch.
    """

    def __init__(self, run: Any, origin: Origin) -> None:
        from nonsmooth.schemes.event_driven.steps import EventInstants

        self.rows, self.q, self.v, self.left = run.t, run.q.array, run.v.array, run.left.v.array
        longest = float(np.max(np.diff(run.t), initial=0.0)) or 1.0
        self.m = Mechanism(origin.system, origin.parameters, longest)
        self.phases = EventInstants(origin.system, origin.parameters, longest)
        # where a row has the mode of the motion after it, one with an impact has that of the impact
        self.mode, self.lag, self.lam_N = run.mode.array, 0 if run.modes_follow else 1, run.lam_N.array
        self.impact = np.isin(run.t, run.impacts["t"])

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """Forces at a state of the motion that follows on row `step`; -1 for that before the first row."""
        m = self.m
        held, stuck, chord = self._persistent(step)
        if held.any() or m.system.ng:
            mode = np.where(held, np.where(m.friction > 0, np.where(stuck, STICKING, SLIPPING), CLOSED), OPEN)
            q, v = self.phases.projected(t, q, v, mode.astype(np.int8))
        x, terms = m.at(t, q), np.abs(v)
        touching = x.g_N <= self.phases.closed_gap
        moving = m.leaving(x.W_N, v, terms) | m.approaching(x.W_N, v, terms)
        signs: dict[int, Array] = {}  # directions of vanishing slips, where slipping begins or ends: those of the chord
        if chord is not None:
            small = VANISHING * (m.largest(np.abs(x.W_T).T @ np.abs(v)) + m.scale / m.longest)
            still = held & ~stuck & (m.friction > 0) & (m.length(x.W_T.T @ v) <= small) & (m.length(chord) > small)
            signs = {int(i): m.unit(chord)[m.along(np.array([i]))] for i in np.flatnonzero(still)}
        found = self.phases.found(t, q, v, held | (touching & ~moving), signs)
        lam_g = m.least(t, found.q, found.lam_g)
        return Forces(found.a, lam_g, m.reaction(t, found.q, lam_g), found.lam_N, found.lam_T, found.mode)

    def _persistent(self, step: int) -> tuple[Mask, Mask, Array | None]:
        """Persistent and sticking contacts in the motion after a row, and the sum of the slips at both its ends."""
        m, last = self.m, len(self.rows) - 1
        none = np.zeros(m.system.nc, dtype=bool)
        if m.system.nc == 0 or step < 0:
            return none, none, None
        mode = self.mode[min(step + self.lag, last)]
        held, stuck = mode != OPEN, mode == STICKING
        # the motion after the impact shows which contacts remain closed
        if self.lag == 0 and self.impact[step] and step < last:
            held = self.lam_N[step + 1] > 0.0
            stuck = held.copy()
        slips = []
        ends = [(step, self.v)] + ([(step + 1, self.left)] if step < last else [])
        for row, velocities in ends if held.any() else []:
            at, v = m.at(float(self.rows[row]), self.q[row]), velocities[row]
            floor = m.scale / m.longest
            held &= np.abs(at.g_N) <= DRIFT * m.scale
            held &= np.abs(at.W_N.T @ v) <= HELD * (np.abs(at.W_N).T @ np.abs(v)) + 1e-10 * floor
            slips.append(at.W_T.T @ v)
            stuck &= m.length(slips[-1]) <= HELD * m.largest(np.abs(at.W_T).T @ np.abs(v)) + 1e-10 * floor
        return held, held & stuck, slips[0] + slips[1] if len(slips) == 2 else None


class CompliantLaw:
    """Forces along a run with compliant contacts. The approach velocity is that of the row at the beginning of contact,
    as in `CompliantDae`; InputError if a run does not keep it. States of bristles are not recorded; they are integrated
    along the motion from there."""

    def __init__(self, run: Any, origin: Origin) -> None:
        from nonsmooth.schemes.compliant.steps import CompliantForces

        system, compliance = origin.system, origin.system.compliance
        assert compliance is not None
        self.rows, self.owner = RowMotion(run), compliance.owner  # not the run, which keeps its laws
        self.first = origin.memory.get("Overlap.bristle_row", np.zeros(len(compliance.bristles)))
        self.equations = CompliantForces(system, origin.parameters)
        # closed contacts (n, nc), 1 or 0, and their approach velocities, in the motion after each row
        gaps, rates, size = run.gap.array, run.gap_rate.array, origin.system.numeric.contact_law(origin.parameters)[3]
        touching = (run.mode.array != OPEN).astype(float)
        approach = np.zeros_like(touching)
        touching[0] = origin.memory.get("Overlap.touches", (gaps[0] <= TOUCHED * size).astype(float))
        approach[0] = origin.memory.get(
            "Overlap.approach", np.where(touching[0] > 0.5, np.maximum(-rates[0], 0.0), 0.0)
        )
        for row in range(1, len(touching)):
            met = (touching[row] > 0.5) & (touching[row - 1] < 0.5)
            deep = np.flatnonzero(met & (np.abs(gaps[row]) > ENTERED * size))
            if deep.size:
                raise InputError(
                    f"The run keeps some rows only, and not that at which {run.gap.names[deep[0]]} touched before t = "
                    f"{run.t[row]:.9g} s, whose speed of approach its law needs; run it with record=1."
                )
            lasting = np.where(touching[row] > 0.5, approach[row - 1], 0.0)
            approach[row] = np.where(met, np.maximum(-rates[row], 0.0), lasting)
        self.touching, self.approach = touching, approach
        self.closed = [CLOSED if law.friction is None else SLIPPING for law in compliance.laws]

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """Forces at a state of the motion after row `step`; -1 as 0."""
        step = max(step, 0)
        found = self.equations.at(t, q, v, self.touching[step], self.approach[step], self.bristles(t, step))
        mode = np.where(self.touching[step] > 0.5, self.closed, OPEN).astype(np.int8)
        return Forces(found.a, found.lam_g, found.reaction, found.F_N, found.F_T, mode)

    def bristles(self, t: float, step: int) -> Array:
        """Internal states (nz,) of friction laws at a time after row `step`."""
        if not self.first.size:
            return self.first
        return next(state for begin, state in reversed(self._bristles) if begin <= step)(t)

    @cached_property
    def _bristles(self) -> list[tuple[int, Callable[[float], Array]]]:
        """For each interval of rows with the same closed contacts its first row, and the internal states over time."""
        from scipy.integrate import solve_ivp

        # the integrator refers to itself, and must not own functions of CasADi
        t, touching, z, this = self.rows.t, self.touching, self.first, weakref.proxy(self)

        def rates(begin: int, time: float, z: Array) -> Array:
            q, v = this.rows.states(places(t, np.zeros(0), min(time, float(t[-1])), "right"))
            return this.equations.at(time, q[0], v[0], touching[begin], this.approach[begin], z).bristle_rates

        def constant(z: Array, time: float) -> Array:
            return z

        changes = np.flatnonzero((touching[1:] != touching[:-1]).any(axis=1)) + 1
        spans: list[tuple[int, Callable[[float], Array]]] = []
        for begin, end in pairwise([0, *changes.tolist(), len(t) - 1]):
            if begin > 0:
                z = np.where((touching[begin] != touching[begin - 1])[self.owner], 0.0, z)
            if end == begin or not touching[begin][self.owner].any():
                spans.append((begin, partial(constant, z)))
                continue
            found = solve_ivp(
                partial(rates, begin), (t[begin], t[end]), z, "LSODA", dense_output=True, rtol=RTOL, atol=ATOL,
                max_step=float(np.max(np.diff(t[begin : end + 1]))),
            )  # fmt: skip
            if not found.success:
                raise SolverFailed(f"bristles after t = {t[begin]:.9g} s cannot be integrated: {found.message}")
            spans.append((begin, found.sol))
            z = found.y[:, -1]
        return spans
