"""Compliant contact once more: the equations of motion of the whole mechanism, taken by SciPy from contact to contact.

Nothing of the scheme is imported. Accelerations and joint forces solve one linear system of M, h and the directions of
all joints; forces are those of the law objects; each phase ends where a gap passes zero. Where friction depends on the
stiction force, that of several contacts is of least norm; then each of a pair in the plane, or all that stay, take the
friction of the others as given.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from nonsmooth import CompliantDae, Dop853, ErrorControl, State, Trajectory, simulate
from nonsmooth.model.system import System

#: tolerances of SciPy's DOP853; overlaps of 1e-7 m are differences of positions of 1 m
RTOL, ATOL = 1e-12, 1e-15
#: of runs that are compared with it
FINE = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-9, dt_max=1e-4)
#: share of the clearance up to which a gap at the start is closed
TOUCHED = 1e-9


class Motion(NamedTuple):
    """The end of a motion: q, v, impulses of contacts (nc,), (nt,) and of joints (nr,) [N s], [N m s], and `switches`:
    times and contacts (n, 2)."""

    q: Any
    v: Any
    P_N: Any
    P_T: Any
    joints: Any
    switches: Any


def beside(
    system: System,
    t_end: float,
    dt: ErrorControl = FINE,
    scheme: CompliantDae | None = None,
    state: State | None = None,
) -> tuple[Trajectory, Motion, dict[str, float]]:
    """A run, the motion of the equations, and by table the largest difference at the end: of q and v as a share of the
    largest value of each column, at least a thousandth of the table's; of impulses as a share of the largest."""
    run = simulate(system, scheme or CompliantDae(solver=Dop853()), t_end=t_end, dt=dt, state=state)
    motion, found = Reference(system).motion(state or system.start, t_end), {}
    tables = ("q", "v", "P_N", "P_T", *(() if system.redundant else ("reaction",)))  # redundant joints share in any way
    for name, expected in zip(tables, motion, strict=False):
        rows = getattr(run, name).array.reshape(len(run.t), -1)
        rows = rows * np.diff(run.t, prepend=run.t[0])[:, None] if name == "reaction" else rows
        ours, size = (rows[-1], np.max(np.abs(rows), axis=0)) if name in "qv" else (rows.sum(axis=0), np.abs(expected))
        most = np.max(size, initial=1e-300)
        size = np.maximum(size, 1e-3 * most) if name in "qv" else most
        found[name] = float(np.max(np.abs(ours - expected) / size, initial=0.0))
    return run, motion, found


def switches(run: Trajectory) -> Any:
    """Times of rows at which modes change after the first step, and contacts (n, 2)."""
    rows, contacts = np.nonzero(np.diff(run.mode.array[1:] > 0, axis=0))
    return np.column_stack([run.t[rows + 2], contacts])


class Reference:
    """The equations of motion of a mechanism all of whose contacts are compliant, if it has any."""

    def __init__(self, system: System) -> None:
        self.system, self.p, self.d = system, system.parameter_values, system.dimension - 1
        self.laws: list[tuple[Any, slice, ca.Function]] = []
        known = system.compliance
        if known is not None:
            numbers, first = known.coefficients(self.p).full().ravel(), 0
            for law, constants in zip(known.laws, known.constants, strict=True):
                last = first + len(law.states(self.d))
                symbols = [ca.SX.sym(name) for name in ("depth", "rate", "approach")]
                symbols += [
                    ca.SX.sym(name, size) for name, size in (("slip", self.d), ("z", last - first), ("hold", self.d))
                ]
                k = SimpleNamespace(**{name: float(numbers[i]) for name, i in constants.items()})
                force, friction, _, rates = law.forces(*symbols, k, self.d)
                self.laws.append((law, slice(first, last), ca.Function("law", symbols, [force, friction, rates])))
                first = last
        self.pair = sum(law.friction is not None and law.friction.holds for law, _, _ in self.laws) == 2
        self.states = sum(len(law.states(self.d)) for law, _, _ in self.laws)

    def surface(self, q: Any) -> tuple[Any, Any, Any]:
        """True gaps (nc,), and the directions (nv, nc), (nv, nt) of their rates and of the slips."""
        gap, W_N, W_T = (one.full() for one in self.system.equations.surface(q, self.p)[:3])
        return gap.ravel(), W_N, W_T

    def rates(self, t: float, q: Any, v: Any, z: Any, touching: Any, approach: Any) -> tuple[Any, ...]:
        """Acceleration, rates of internal states, forces (nc,), (nt,) of contacts and (nr,) of joints."""
        f, p, s = self.system.numeric, self.p, self.system
        M, h, bias = f.M(q, p)[0], f.h(t, q, v, p)[0], f.bias(t, q, v, p)[0]
        W_g = f.W_g(t, q, p)[0] if s.ng else np.zeros((s.nv, 0))
        matrix = np.block([[M, -W_g], [W_g.T, np.zeros((s.ng, s.ng))]])
        inverse = np.linalg.pinv(matrix, rcond=1e-13) if s.redundant else np.linalg.inv(matrix)

        def solved(force: Any) -> Any:
            return inverse @ np.concatenate([h + force, -bias[: s.ng]])

        z_rate, F_N, F_T = np.zeros(self.states), np.zeros(s.nc), np.zeros((s.nc, self.d))
        gap, W_N, W_T = self.surface(q)
        gap_rate, slip = W_N.T @ v, (W_T.T @ v).reshape(s.nc, self.d)
        spins = f.tangent_spins(q, v, p)[0] if self.d == 2 else np.zeros(s.nc)

        def evaluate(i: int, hold: Any) -> None:
            _, own, law = self.laws[i]
            found = law(max(-gap[i], 0.0), -gap_rate[i], approach[i], slip[i], z[own], hold)
            F_N[i], F_T[i], z_rate[own] = float(found[0]), found[1].full().ravel(), found[2].full().ravel()
            for one in range(own.start, own.stop - 1, 2) if self.d == 2 else ():
                z_rate[one : one + 2] += spins[i] * np.array([z[one + 1], -z[one]])

        closed = np.flatnonzero(touching)
        for i in closed:
            evaluate(i, np.zeros(self.d))
        holding = [i for i in closed if self.laws[i][0].friction is not None and self.laws[i][0].friction.holds]
        if holding:
            own = [slice(self.d * i, self.d * (i + 1)) for i in holding]
            columns = np.concatenate([np.arange(s.nt)[one] for one in own])
            resting, response = F_T[holding].copy(), W_T.T @ inverse[: s.nv, : s.nv] @ W_T
            F_T[holding] = 0.0
            free = W_T.T @ solved(W_N @ F_N + W_T @ F_T.ravel())[: s.nv] + bias[s.ng + s.nc :]
            G, c = response[np.ix_(columns, columns)], free[columns]
            first = -np.linalg.lstsq(G, c, rcond=1e-9)[0].reshape(-1, self.d)
            for i, force in zip(holding, first, strict=True):
                evaluate(i, force)
            by_law, hold = F_T[holding].copy(), first.copy()
            stays = np.linalg.norm(by_law - resting - first, axis=1) <= 1e-9 * np.linalg.norm(first, axis=1)
            if self.d == 1 and self.pair:  # each by the friction of the other
                hold[:, 0] = -(c + G @ by_law[:, 0]) / np.diag(G) + by_law[:, 0]
            elif not stays.all():  # those that stay by the friction of those that do not
                moves = np.repeat(~stays, self.d)
                rest = c + G[:, moves] @ by_law.ravel()[moves]
                G_rest = G[np.ix_(~moves, ~moves)]
                hold.ravel()[~moves] = -np.linalg.lstsq(G_rest, rest[~moves], rcond=1e-9)[0]
            for i, force in zip(holding, hold, strict=True):
                evaluate(i, force)
        found = solved(W_N @ F_N + W_T @ F_T.ravel())
        joints = f.reaction(t, q, p, found[s.nv :])[0] if s.ng else np.zeros(0)
        return found[: s.nv], z_rate, F_N, F_T.ravel(), joints

    def motion(self, start: State, t_end: float) -> Motion:
        """The motion of a state until a time [s]."""
        s, f, p = self.system, self.system.numeric, self.p
        ends = np.cumsum([s.nq, s.nv, self.states, s.nc, s.nt, s.nr])
        gap, W_N, _ = self.surface(start.q)
        touching, approach = gap <= TOUCHED * f.contact_law(p)[3], np.maximum(-W_N.T @ start.v, 0.0)
        longest = (t_end - start.t) / 100  # so that no short contact is passed
        t, y, switches = start.t, np.concatenate([start.q, start.v, np.zeros(ends[-1] - ends[1])]), []

        def slope(t: float, y: Any) -> Any:
            q, v, z, *_ = np.split(y, ends)
            a, *others = self.rates(t, q, v, z, touching, approach)
            return np.concatenate([f.B(q)[0] @ v, a, *others])

        while t < t_end:
            events = []
            for i in range(s.nc):

                def passes(_: float, y: Any, i: int = i) -> float:
                    return float(self.surface(y[: s.nq])[0][i])

                passes.terminal, passes.direction = True, 1.0 if touching[i] else -1.0  # type: ignore[attr-defined]
                events.append(passes)
            found = solve_ivp(slope, (t, t_end), y, "DOP853", rtol=RTOL, atol=ATOL, max_step=longest, events=events)
            assert found.success, found.message
            t, y = float(found.t[-1]), found.y[:, -1]
            gap, W_N, _ = self.surface(y[: s.nq])
            rate, near = W_N.T @ y[ends[0] : ends[1]], np.abs(gap) <= TOUCHED * f.contact_law(p)[3]
            for i in np.flatnonzero(near & (touching == (rate > 0.0))).tolist() if t < t_end else ():
                touching[i], approach[i] = not touching[i], max(-float(rate[i]), 0.0)
                y[ends[1] : ends[2]][self.laws[i][1]] = 0.0
                switches.append((t, i))
        q, v, _, P_N, P_T, joints, _ = np.split(y, ends)
        return Motion(q, v, P_N, P_T, joints, np.array(switches).reshape(-1, 2))
