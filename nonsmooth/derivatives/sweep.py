"""Derivatives of a motion with impacts, from the rows of its run.

Between events the derivative S of the state x = (q, v) by the parameters is multiplied by transition matrices. At an
event, whose time t solves c(t, x, p) = 0 with its rate c' along the motion before it, the state that follows changes as
well because the event is later or earlier by dt, which is the saltation matrix of the event ::

    dt = -(c_x S + c_p) / c',    S+ = R_x (S + f- dt) + R_t dt + R_p - f+ dt

with R the map of the event: an impact, differentiated with the contacts that it closed, or the identity where friction
jumps as a slip ends. Where a contact opens or begins to slip forces are continuous, f- = f+, and nothing jumps.

References
----------
Leine, Nijmeijer (2004), Dynamics and Bifurcations of Non-Smooth Mechanical Systems, section 7.
Di Bernardo, Budd, Champneys, Kowalczyk (2008), Piecewise-smooth Dynamical Systems, section 2.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.derivatives.equations import DEPENDENT, PhaseEquations
from nonsmooth.derivatives.phases import friction_of, impact_at, impact_rows, phases_of
from nonsmooth.derivatives.transitions import transitions
from nonsmooth.model.system import System
from nonsmooth.trajectory import Trajectory

#: share of the fastest approach of an impact up to which another one is that of a contact that was closed
TOUCHES = 1e-9
#: share of the size of derivatives up to which what is held has none
HELD = 1e-6
#: rows after which what the integration has left of joints and closed contacts is removed
OFTEN = 32
#: share of the motion that is round-off, and share of earlier, larger derivatives that the steps since have left; how
#: much larger that is than the errors of rows, where clearances are small beside the motion
ROUND_OFF, LEFT, LARGER = 1e-10, 1e-9, 1e4


@dataclass(frozen=True, eq=False)
class Event:
    """An event and its derivatives by the parameters (m,).

    Parameters
    ----------
    t : [s]
    row : of the run
    kind : "impact", "slip ends", "opens" or "slips"
    contact : whose gap, slip or force vanishes
    rate : of what vanishes, before the event: of an impact the approach velocity [m/s], < 0
    dt : derivatives of the time of the event, [s] per unit of each parameter
    drate : derivatives of the approach velocity of an impact, zero for other events
    impulse : normal impulse [N s] of the contact of an impact
    dimpulse : its derivatives
    lasts : whether the contact stays closed after its impact
    """

    t: float
    row: int
    kind: str
    contact: str
    rate: float
    dt: Array
    drate: Array
    impulse: float
    dimpulse: Array
    lasts: bool = False


@dataclass(frozen=True, eq=False)
class Jump:
    """Jump at an event: derivatives of the state before it (nq + nv, m) and of its time (m,), and normal impulses (nc,)
    of an impact with their derivatives (nc, m)."""

    row: int
    before: Array
    dt: Array
    impulses: Array
    dimpulses: Array


@dataclass(frozen=True, eq=False)
class Swept:
    """Derivatives (rows, nq + nv, m) at each row, right limits; events, and what jumps at them; integrals over each
    step, before their derivatives by its first row and by the parameters; the largest error of a row that was found
    again, as a share of the motion; and why there are no derivatives from some row on."""

    S: Array
    events: list[Event]
    jumps: list[Jump]
    integrals: Array
    defect: float
    ends: tuple[int, str] | None


class NoDerivative(Exception):
    """The motion from here on is not differentiable by the parameters; the message tells the cause."""


class Sweep:
    """One pass over the rows of a run; the first derivatives are by the parameters `wrt`, the others by the start."""

    def __init__(self, trajectory: Trajectory, system: System, parameters: Array, wrt: Sequence[int]) -> None:
        self.trajectory, self.system, self.parameters = trajectory, system, parameters
        self.equations = PhaseEquations(system, wrt, parameters)
        self.t, self.q = np.asarray(trajectory.t), np.asarray(trajectory.q.array)
        self.v, self.left = np.asarray(trajectory.v.array), np.asarray(trajectory.left.v.array)
        self.phases = phases_of(trajectory, system, parameters)
        moved = np.abs(self.q - self.q[0]).max(axis=0)
        self.scale = np.r_[np.full(system.nq, moved.max()), np.full(system.nv, np.abs(self.left).max())] + 1e-300
        self.events: list[Event] = []
        self.jumps: list[Jump] = []

    def run(self, start: Array, sizes: Array, integrands: Sequence[int] = ()) -> Swept:
        """Derivatives at all rows of those at the start (nq + nv, m), of which the first are by parameters; integrals
        of some of (q, v, forces), by rising indices. A change of `sizes` (m,) is one of the order of the motion."""
        own, n, self.sizes = self.equations.own, self.equations.n, sizes
        modes = self.phases.modes
        steps, successors, integrals = transitions(self.equations, self.t, self.q, self.v, modes, integrands)
        missed = np.abs(successors - np.hstack([self.q, self.left])[1:]) / self.scale
        defect = float(np.nanmax(missed, initial=0.0))
        found = np.full((len(self.t), n, start.shape[1]), np.nan)
        changes = np.r_[False, np.any(np.diff(modes, axis=0) != 0.0, axis=1), False]  # of the phase, at each row
        struck = {row: impact_at(table, self.system, self.parameters) for row, table in impact_rows(self.trajectory)}
        S, ends = start, None
        self.no_impulses = np.zeros(self.system.nc), np.zeros((self.system.nc, start.shape[1]))  # and derivatives
        self.largest, self.left_over = np.abs(start), max(LEFT, LARGER * defect)
        for row in range(len(self.t)):
            try:
                if row > 0:
                    S = steps[row - 1][:, :n] @ S
                    S[:, :own] += steps[row - 1][:, n:]
                    if not np.isfinite(S).all():
                        raise NoDerivative("a slip in space begins or ends, which is not differentiated")
                if row in struck:
                    S, error = self._after_impact(row, struck[row], S)
                    defect = max(defect, error)
                elif np.abs(self.left[row] - self.v[row]).max() > TOUCHES * self.scale[-1]:
                    S, error = self._after_jump(row, S)
                    defect = max(defect, error)
                elif changes[row]:
                    S = self._after_change(row, S)
                elif row % OFTEN == 0 and row < len(self.t) - 1:
                    S = self._held(row, row, S)
            except NoDerivative as error:
                ends = row, str(error)
                break
            found[row] = S
            self.largest = np.maximum(self.largest, np.abs(S))
        return Swept(found, self.events, self.jumps, integrals, defect, ends)

    def _change(self, D: Array, S: Array) -> Array:
        """Derivatives at one time of what has the derivatives D by t, (q, v) and the parameters; S those of (q, v)."""
        by_x, by_p = np.split(D[..., 1:], [self.equations.n], axis=-1)
        by_start = np.zeros((*D.shape[:-1], S.shape[1] - self.equations.own))
        return np.asarray(by_x @ S + np.concatenate([by_p, by_start], axis=-1))

    def _rates(self, row: int, step: int, v: Array) -> tuple[Array, Array]:
        """f (nx,) at a row in the phase of a step, and forces with their derivatives by t, x and the parameters."""
        modes = self.phases.modes[[step]]
        f, _, _, forces = self.equations.rates(self.t[[row]], self.q[[row]], v[None], modes)
        return f[0], forces[0]

    def _time_of(self, row: int, v: Array, index: int, before: Array, S: Array) -> tuple[float, Array]:
        """Rate of a held row along the motion before an event, and the derivative of the time at which it vanishes."""
        _, D = self.equations.held(self.t[row], self.q[row], v)
        rate = float(D[index, 0] + D[index, 1 : 1 + self.equations.n] @ before)
        if abs(rate) <= HELD * HELD * self.scale[-1]:
            raise NoDerivative("what vanishes at the event does so without a rate: a grazing contact")
        return rate, -self._change(D[index], S) / rate

    def _after_impact(self, row: int, impact: Array, S: Array) -> tuple[Array, float]:
        closed, _, direction, rebounds, approaches = impact
        system, n, own = self.system, self.equations.n, self.equations.own
        at_start, last = row == 0, len(self.t) - 2
        fast = approaches > TOUCHES * approaches.max(initial=0.0)
        was_open = np.zeros(system.nc, dtype=bool) if at_start else self.phases.closed[row - 1] == 0.0
        striking = np.flatnonzero((closed == 1.0) & was_open & fast)
        if not at_start and not len(striking):
            raise NoDerivative("an impact follows another at once")
        if np.count_nonzero(self.trajectory.impacts["t"] == self.t[row]) > closed.sum():
            raise NoDerivative("impacts follow one another at once")
        if system.dimension == 3 and np.any(direction):
            raise NoDerivative("a contact slips in an impact in space, which is not differentiated")
        z, D = self.equations.impact(self.t[row], self.q[row], self.left[row], impact[:4].ravel())
        error = float(np.abs(z[: system.nv] - self.v[row]).max() / self.scale[-1])
        dt, before = np.zeros(S.shape[1]), np.zeros(n)
        rate = 0.0
        if not at_start:
            before = self._rates(row, row - 1, self.left[row])[0]
            which, *others = striking[np.argsort(-approaches[striking])].tolist()
            rate, dt = self._time_of(row, self.left[row], system.ng + which, before, S)
            for other in others:  # together by geometry, such as both ends of a slide that cannot tilt, or by chance
                its_rate, its_dt = self._time_of(row, self.left[row], system.ng + other, before, S)
                size = np.abs(dt) + np.abs(S).max(axis=0) * abs(rate - its_rate) / self.scale[-1]
                if np.any(np.abs(dt - its_dt) > HELD * (size + np.abs(dt))):
                    names = system.contact_names[which], system.contact_names[other]
                    raise NoDerivative(f"{names[0]} and {names[1]} strike together")
        dx = S + np.outer(before, dt)
        dz = np.outer(D[:, 0], dt) + D[:, 1 : 1 + n] @ dx
        dz[:, :own] += D[:, 1 + n :]
        after = np.vstack([dx[: system.nq], dz[: system.nv]])
        normal = slice(system.nv + system.ng, system.nv + system.ng + system.nc)
        self.jumps.append(Jump(row, S, dt, z[normal], dz[normal]))
        if not at_start:
            after -= np.outer(self._rates(row, min(row, last), self.v[row])[0], dt)
            _, H = self.equations.held(self.t[row], self.q[row], self.left[row])
            approach = system.ng + system.nc + system.ng + which
            drate = H[approach, 0] * dt + H[approach, 1 : 1 + n] @ dx
            drate[:own] += H[approach, 1 + n :]
            place = system.nv + system.ng + which
            self.events.append(Event(float(self.t[row]), row, "impact", system.contact_names[which], rate, dt, drate,
                                     float(z[place]), dz[place], rebounds[which] == 0.0))  # fmt: skip
        return self._held(row, min(row, last), after), error

    def _after_jump(self, row: int, S: Array) -> tuple[Array, float]:
        """Derivatives after a jump of a driver's velocity at a given time, with the contacts that last."""
        nq, n, own = self.system.nq, self.equations.n, self.equations.own
        modes = np.r_[self.phases.modes[min(row, len(self.t) - 2)], np.zeros(self.system.nc)]
        z, D = self.equations.impact(np.nextafter(self.t[row], np.inf), self.q[row], self.left[row], modes)
        error = float(np.abs(z[: n - nq] - self.v[row]).max() / self.scale[-1])
        if error > TOUCHES:
            raise NoDerivative("the velocity of a driver jumps, and with it the contacts change")
        change = D[: n - nq, 1 : 1 + n] @ S
        change[:, :own] += D[: n - nq, 1 + n :]
        self.jumps.append(Jump(row, S, np.zeros(S.shape[1]), *self.no_impulses))
        return np.vstack([S[:nq], change]), error

    def _after_change(self, row: int, S: Array) -> Array:
        """Derivatives after a change of phase without an impact; only the end of a slip changes them."""
        phases, v, system = self.phases, self.v[row], self.system
        f, forces = self._rates(row, row - 1, v)
        closed, stays, slip = phases.closed[row - 1] == 1.0, phases.closed[row] == 1.0, phases.direction[row - 1]
        kinds = {
            "slip ends": closed & stays & (slip != 0.0) & (phases.direction[row] != slip), "opens": closed & ~stays,
            "slips": closed & stays & (phases.sticks[row - 1] == 1.0) & (phases.sticks[row] == 0.0),
        }  # fmt: skip
        changes = [(kind, int(k)) for kind, which in kinds.items() for k in np.flatnonzero(which)]
        for kind, k in changes:
            if kind == "slip ends":
                if system.dimension == 3:
                    raise NoDerivative("a slip in space ends, which is not differentiated")
                rate, dt = self._time_of(row, v, 2 * (system.ng + system.nc) + k, f, S)
                self.jumps.append(Jump(row, S, dt, *self.no_impulses))
                S = S + np.outer(f - self._rates(row, row, v)[0], dt)
            elif kind == "slips" and system.dimension == 3:
                raise NoDerivative("a slip in space begins, which is not differentiated")
            else:
                # a contact's force vanishes, or its distance from the cone
                ng, nc, n = system.ng, system.nc, self.equations.n
                vanishing = forces[ng + k]
                if kind == "slips":
                    mu = friction_of(system, self.parameters)[k]
                    vanishing = mu * vanishing - np.sign(forces[ng + nc + k, 0]) * forces[ng + nc + k]
                rate = float(vanishing[1] + vanishing[2 : 2 + n] @ f)
                change = self._change(vanishing[1:], S)
                dt = np.divide(-change, rate, out=np.full_like(change, np.inf), where=rate != 0.0)
            none = np.zeros_like(dt)
            self.events.append(Event(float(self.t[row]), row, kind, system.contact_names[k], rate, dt, none, 0.0, none))
            if kind == "slip ends":  # what else ends with it, has the same slip
                break
        return self._held(row, row, S)

    def _held(self, row: int, step: int, S: Array) -> Array:
        """Joints, closed gaps and slips that stick stay at zero for any parameter; else two events were one. What the
        integration has left is removed."""
        system, n = self.system, self.equations.n
        _, H = self.equations.held(self.t[row], self.q[row], self.v[row])
        change = self._change(H, S)
        closed, sticks = self.phases.closed[step], self.phases.sticks[step]
        held = np.concatenate([np.ones(system.ng), closed, np.ones(system.ng), closed,
                               np.repeat(sticks, system.dimension - 1)]).astype(bool)  # fmt: skip
        size = self._change(np.abs(H), np.abs(S))
        by_x = np.abs(H[:, 1 : 1 + n])
        noise = ROUND_OFF * (by_x @ self.scale)[:, None] / self.sizes + self.left_over * by_x @ self.largest
        if np.any((np.abs(change) > HELD * size + noise)[held]):
            raise NoDerivative("several contacts close or stick at one instant")
        left = np.linalg.lstsq(H[held, 1 : 1 + n] * self.scale, change[held], rcond=DEPENDENT)[0]
        return S - self.scale[:, None] * left
