"""Programs that event-driven steps solve outside of their text, see `Callbacks`: forces that are not unique, positions
without overlaps, steps across singular positions, and the causes of short steps. These are rare, and need
decompositions of dense matrices or programs of their own."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.records.memory import Memory
from nonsmooth.engine.external_solver import Callbacks, ExternalSolver
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.system import System
from nonsmooth.programs import QP
from nonsmooth.schemes.event_driven.fields import FORCES, GAPS, REFERRED
from nonsmooth.schemes.event_driven.layout import EventLayout
from nonsmooth.schemes.event_driven.tolerances import CRAWL, CRAWLED
from nonsmooth.solvers.chain import Chain
from nonsmooth.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.control import ErrorControl
from nonsmooth.step.tolerances import OPEN, SLIPPING, STICKING, TINY

__all__ = ["EventPrograms"]

#: steps within whose change of velocity a load is searched for a jump, and the share of the force that is one
NEAR, JUMP = 10.0, 0.1
#: share of the largest singular value below which forces are equivalent, and impulses of a projection
ALIKE, NEARLY = 1e-12, 1e-13
#: smallest singular value of the joints' directions below which a step crosses a singular position
CROSSING = 2e-4
#: singular value above which no singular position is near
FAR = 0.1
#: displacement of the mechanism, as a share of that value, for a difference quotient
NUDGE = 1e-2
#: largest number of iterations of a step across, and the change of velocity at which they end
CROSSINGS, SETTLED = 40, 1e-8
#: share of the largest singular value of the joints' Delassus operator below which rows are redundant everywhere
DEPENDENT = 1e-12
#: share of the largest coordinate [m] below which the clearance of oscillating contacts is too small to be resolved
MINUTE = 1e-6
#: share of its error below which half a step must be, if errors are not round-off, and the least error examined
FALLS, LIMITING = 0.25, 0.05
#: in how many examinations in a row it is not. Of smooth steps it is not in one of fifty, whose estimate is near a zero
REPEATED = 3


class _Rows(NamedTuple):
    """Rows of the phase among those of joints, gaps and slips: directions D of velocities and of pads, directions of
    forces F likewise, and the matrix (nd, rows) of these forces in all rows."""

    rows: NDArray[np.intp]
    D: Array
    F: Array
    mixed: Array


class EventPrograms:
    """The calls of one run."""

    def __init__(
        self, system: System, values: Array, control: ErrorControl, memory: Memory, layout: EventLayout,
        outside: Callbacks,
    ) -> None:  # fmt: skip
        self.system, self.values, self.control, self.memory, self.layout = system, values, control, memory, layout
        #: solvers, those of a run before its first step, and whether the first was requested, for all programs
        self.outside, self.chain, self.requested = outside, Chain(SemismoothNewton()), False
        self.ng, self.nc, self.nd = system.ng, system.nc, system.ng + system.nc + system.nt
        self.tangents = system.dimension - 1
        self._whole, self._run = memory.of["System"], memory.of["EventRun"]
        self._limited = 0  # examinations in a row in which half a step had an error as large
        for name, call in {
            "answers": self.answer, "balances": self.balance, "shares": self.share, "clears": self.clear,
            "reaches": self.reach, "crosses": self.cross, "examines": self.examine,
        }.items():  # fmt: skip
            self._run[name] = outside.address(call)

    @functools.cached_property
    def mechanism(self) -> Mechanism:
        return Mechanism(self.system, self.values, self.control.dt_max)

    @functools.cached_property
    def _inverse_mass(self) -> Array:
        """The inverse mass matrix of velocities and pads."""
        inverse, (k, places, _) = self.mechanism.metric.inverse, self._pads
        found = np.diag(np.append(np.zeros(len(inverse)), self.memory.of["Body"]["sqrt_mass"][k, places] ** -2.0))
        found[: len(inverse), : len(inverse)] = inverse.T @ inverse
        return found

    @functools.cached_property
    def _pads(self) -> tuple[list[int], list[int], list[int]]:
        """Bodies and places of the motion of pads that are pressed on, and their contacts."""
        pads = [pad for pad in self.layout.pads if pad.row == 0]
        return [pad.body for pad in pads], [pad.place for pad in pads], [pad.gap for pad in pads]

    @functools.cached_property
    def _external_solver(self) -> ExternalSolver:
        return ExternalSolver(self.memory, self.layout, self.chain, self.outside, requested=self.requested)

    # -------------------------------------------------------------------------------------------------------- programs

    def answer(self) -> None:
        """A program of impulses or forces, by the chain of solvers."""
        if not (self.chain.fallback or self.requested):
            raise SolverFailed("the step does not pass its residual tests.")
        self._external_solver.solve()

    def clear(self) -> None:
        """Remove overlaps of other contacts, which result from closing one: the nearest positions by masses."""
        m, mode, q = self.mechanism, self._modes(), self._motion("at")
        g_N, W_N, _, W_g, _ = m.at(self._seen(), q)
        g = m.numeric.g(self._seen(), q, m.p)[0]
        order = np.concatenate([np.flatnonzero(mode != OPEN), np.flatnonzero(mode == OPEN)])
        names = m.names[: self.ng] + tuple(m.names[self.ng + i] for i in order)
        rows, norms = m.metric.rows(np.concatenate([W_g, W_N[:, order]], axis=1))
        size, bilateral = len(W_N), self.ng + int(np.sum(mode != OPEN))
        b = -np.concatenate([g, g_N[order]]) / norms
        found = self.chain.answer(QP(np.eye(size), np.zeros(size), rows, b, bilateral, names))
        self.layout.put(self.memory, "at", m.moved(q, m.metric.velocity(found.x), 1.0))

    # --------------------------------------------------------------------------------------- forces that are not unique

    def balance(self) -> None:
        """Forces of the phase nearest to the reference, or least impulses of a projection; their effect on `jump`."""
        (k, places, _), bodies = self._pads, self.memory.of["Body"]
        level, jump = int(self._run["level"][0]), np.append(self._motion("jump"), bodies["jump"][k, places])
        phase = self._rows(level)
        K = phase.D.T @ self._inverse_mass @ phase.F
        b = -(phase.D.T @ jump + self._all("velocity_offset", "velocity_offset")[phase.rows])
        if level == FORCES:
            scale, unit = self._units(K)
            known = self._all("lam", "reference")[phase.rows]
            changed = np.linalg.lstsq(scale[:, None] * K * unit, scale * (b - K @ known), rcond=ALIKE)[0]
            x = np.asarray(known + unit * changed, dtype=float)
        else:
            # the least impulses that meet the first rows, of joints and gaps, and of those the ones that meet the
            # others best: slips of sticking contacts may contradict joints where these move less than such a slip
            first = int(np.count_nonzero(phase.rows < self.ng + self.nc))
            _, sizes, right = np.linalg.svd(K[:first])
            rank = int(np.sum(sizes > NEARLY * sizes[0])) if sizes.size else 0
            x = np.linalg.lstsq(K[:first], b[:first], rcond=NEARLY)[0]
            if first < len(b) and rank < K.shape[1]:
                free = right[rank:].T
                x = x + free @ np.linalg.lstsq(K[first:] @ free, b[first:] - K[first:] @ x, rcond=NEARLY)[0]
        jump = jump + self._inverse_mass @ (phase.F @ x)
        self.layout.put(self.memory, "jump", jump[: self.system.nv])
        bodies["jump"][k, places] = jump[self.system.nv :]
        self._put("P", "P", phase.mixed @ x)

    def share(self) -> None:
        """A reference for the forces of the phase: the least change of the least forces, which stand in P, to
        admissible ones; in space, where cones are round, forces that the program has found."""
        ng, nc, mode = self.ng, self.nc, self._modes()
        if self.tangents > 1:
            found = self._all("kept", "found")
            found[ng:] *= np.concatenate([mode != OPEN, np.repeat(mode != OPEN, self.tangents)])
        else:
            phase = self._rows(FORCES)
            K = phase.D.T @ self._inverse_mass @ phase.F
            scale, unit = self._units(K)
            _, sizes, right = np.linalg.svd(scale[:, None] * K * unit)
            rank = int(np.sum(sizes > ALIKE * sizes[0]))
            changes, lam = phase.mixed @ (unit[:, None] * right[rank:].T), self._all("P", "P")
            closed, sticking = np.flatnonzero(mode != OPEN), np.flatnonzero(mode == STICKING)
            friction = self.mechanism.friction[sticking, None]
            sides = [(changes[ng + closed], lam[ng + closed])]
            for sign in (1.0, -1.0):
                sides.append((friction * changes[ng + sticking] - sign * changes[ng + nc + sticking],
                              friction[:, 0] * lam[ng + sticking] - sign * lam[ng + nc + sticking]))  # fmt: skip
            A, b = np.concatenate([A for A, _ in sides]), -np.concatenate([room for _, room in sides])
            norms = np.linalg.norm(A, axis=1)
            turned = norms > ALIKE * np.max(norms, initial=0.0)
            if not turned.any():  # the forces are unique
                return
            names = tuple(f"shared force {i + 1}" for i in range(int(turned.sum())))
            size, norms = changes.shape[1], norms[turned]
            program = QP(np.eye(size), np.zeros(size), A[turned] / norms[:, None], b[turned] / norms, 0, names)
            try:
                found = lam + changes @ self.chain.answer(program).x
            except SolverFailed:  # none are admissible in these modes: the next event follows immediately
                return
        self._put("lam", "reference", found)
        self._run["shared"] = REFERRED

    def _rows(self, level: int) -> _Rows:
        """The rows of the phase at the present positions."""
        m, mode = self.mechanism, self._modes()
        _, W_N, W_T, W_g, _ = m.at(self._seen(), self._motion("at"))
        W = np.concatenate([W_g, W_N, W_T], axis=1)
        W = np.vstack([W, np.eye(self.nd)[[self.ng + gap for gap in self._pads[2]]]])
        closed, sticks = np.flatnonzero(mode != OPEN), np.flatnonzero(mode == STICKING)
        rows = np.concatenate([np.arange(self.ng), self.ng + closed])
        if level != GAPS:
            rows = np.concatenate([rows, self.ng + self.nc + m.along(sticks)])
        mixed = np.zeros((self.nd, rows.size))
        mixed[rows, np.arange(rows.size)] = 1.0
        if level == FORCES:
            slips = np.flatnonzero(mode == SLIPPING)
            drag = -m.friction[slips, None] * self.memory.of["Touch"]["directions"][self.layout.contacts][slips, 1:]
            columns = np.repeat(self.ng + np.searchsorted(closed, slips), self.tangents)
            mixed[self.ng + self.nc + m.along(slips), columns] = drag.ravel()
        return _Rows(rows, W[:, rows], W @ mixed, mixed)

    def _units(self, K: Array) -> tuple[Array, Array]:
        """Scales of the rows of K, and units of forces: directions of norm 1, for sticking contacts by their cones."""
        squares = np.abs(np.diag(K))
        scale = 1.0 / np.sqrt(np.where(squares > TINY, squares, 1.0))  # of rows without a direction: no force
        unit, sticks = scale.copy(), self._modes() == STICKING
        if sticks.any():
            share = self.memory.of["Touch"]["share"][self.layout.contacts][sticks]
            unit[-self.tangents * share.size :] *= self.mechanism.by_tangent(share)
        return scale, unit

    # ---------------------------------------------------------------------------------------------- singular positions

    def reach(self) -> None:
        """Time until the joints' smallest singular value vanishes, extrapolated linearly, and half that of a step
        there."""
        m, q, v = self.mechanism, self._motion("at"), self._motion("u")
        size = m.smallest(m.at(self._seen(), q).W_g)
        fastest = float(np.max(np.abs(v), initial=0.0))
        if size > FAR or fastest == 0.0:
            raise SolverFailed("no singular position is near.")
        dt = size * NUDGE / fastest
        falls = (size - m.smallest(m.at(self._seen() + dt, m.moved(q, v, dt)).W_g)) / dt
        if not falls > 0.0:
            raise SolverFailed("no singular position comes nearer.")
        self._run["reach"], self._run["half"] = size / falls, CROSSING / falls

    def cross(self) -> None:
        """The motion `dt` after an instant, across a singular position of the joints, by a step of RATTLE: impulses
        along the directions at the start satisfy the joints at the end, on the nearest branch; at both ends the
        directions are independent. With a length of 2 sigma / |sigma'|, sigma the singular value that vanishes, its
        error is O(sigma^3)."""
        m, change, best = self.mechanism, self.mechanism.metric.change, np.inf
        first, start, dt = self._motion("at"), self._motion("u"), float(self._run["dt"][0])
        t = self._seen() + dt
        pushes = change(m.at(self._seen(), first).W_g)
        q, u = m.moved(first, start, dt), start
        for _ in range(CROSSINGS):
            force = m.force(t - dt / 2, m.moved(first, u, dt / 2), u)
            W, g = m.at(t, q).W_g, m.numeric.g(t, q, m.p)[0]
            free = start + change(dt / 2 * force)
            P = np.linalg.lstsq(W.T @ pushes, W.T @ (u - free) - g / dt, rcond=DEPENDENT)[0]
            before, u = u, free + pushes @ P
            q = m.moved(first, u, dt)
            moved = m.metric.length(u - before) / max(m.metric.length(u), TINY)
            if moved >= best and moved < SETTLED:
                break
            best = min(best, moved)
        else:
            raise SolverFailed("the step across a singular position does not converge.")
        self.layout.put(self.memory, "at", q)
        self.layout.put(self.memory, "u", u + change(dt / 2 * force))

    # -------------------------------------------------------------------------------------------------------- progress

    def examine(self) -> None:
        """Raise SolverFailed if steps remain far too short for a known reason: joints that lose their rank, the
        oscillation of a contact in a very small clearance, or tolerances below round-off."""
        run, m, control = self._run, self.mechanism, self.control
        t, q, tried = float(self._whole["t"][0]), self._motion("q"), float(run["tried"][0])
        if tried < CRAWL * control.dt_min and (int(run["crawled"][0]) + 1) % CRAWLED == 0:
            lost = m.ill_conditioned(t, q)
            if lost:
                raise SolverFailed(
                    f"no progress: {CRAWLED} steps in a row were shorter than {CRAWL:g} dt_min, the last "
                    f"{tried:.3g} s.{lost}"
                )
        if not run["crowded"][0]:
            return
        mean = (t - float(run["counted_since"][0])) / CRAWLED
        many = f"the last {CRAWLED} steps had a mean size of {mean:.2g} s, with dt_max = {control.dt_max:g} s"
        lengths = np.array([unit == "m" for unit in self.system.names.q_units], dtype=bool)
        largest = float(np.max(np.abs(q[lengths]), initial=0.0))
        closed = np.flatnonzero(self._modes() != OPEN)
        minute = [int(i) for i in closed if m.scale[i] < MINUTE * largest and m.restitution[i] < 1.0]
        if minute:
            i = min(minute, key=lambda k: float(m.scale[k]))
            raise SolverFailed(
                f'{many}: they resolve contact "{self.system.contact_names[i]}", which oscillates in its clearance '
                f"of {m.scale[i]:.3g} m, with coordinates of {largest:.3g} m; use a larger clearance or "
                "friction, or take the ideal joint."
            )
        error = float(run["error"][0])
        limited = error >= LIMITING and float(run["half_error"][0]) > FALLS * error
        self._limited = self._limited + 1 if limited else 0
        if self._limited != REPEATED:
            return
        # a load that jumps within the velocities of some steps, as dry friction by sign() does, or round-off
        v = self._motion("v")
        m.at(t, q)  # where the mass matrix is needed
        change = NEAR * mean * m.metric.change(m.force(t, q, v))
        ahead, behind = m.force(t, q, v + change), m.force(t, q, v - change)
        jump = np.abs(ahead - behind)
        if np.max(jump, initial=0.0) > JUMP * np.max(np.abs([ahead, behind]), initial=0.0):
            i = int(np.argmax(jump))
            raise SolverFailed(
                f'{many}: the force of a load along "{m.system.v_names[i]}" jumps by {jump[i]:.3g} where this velocity '
                f"is {v[i]:.1g}, as that of dry friction by sign() does. Let it change over a range of velocities, or "
                "take a contact with friction, which sticks."
            )
        raise SolverFailed(
            f"{many}, and steps of half the size have errors as large: rtol = {control.rtol:g} and atol = "
            f"{control.atol:g} are below the round-off of this mechanism; increase them."
        )

    # ---------------------------------------------------------------------------------------------------------- states

    def forces(self) -> Array:
        """Forces (nd,) of joints and contacts."""
        return self._all("P", "P")

    # --------------------------------------------------------------------------------------------------------- records

    def _seen(self) -> float:
        return float(self._whole["seen"][0])

    def _motion(self, name: str) -> Array:
        """Motion of all bodies, in the order of the model."""
        return self.layout.packed(self.memory, name)

    def _modes(self) -> NDArray[np.int64]:
        return np.asarray(self.memory.of["Touch"]["mode"][self.layout.contacts])

    def _all(self, of_joints: str, of_contacts: str) -> Array:
        """Numbers (nd,) of joints and of contacts, from these fields."""
        rows = self.memory.of[_schema(of_contacts)][of_contacts][self.layout.contacts]
        slips = rows[:, 1:].ravel() if self.layout.shape.rows > 1 else np.zeros(self.nd - self.ng - self.nc)
        return np.concatenate([self.layout.of_joints(self.memory, of_joints), rows[:, 0], slips])

    def _put(self, of_joints: str, of_contacts: str, values: Array) -> None:
        """Write numbers (nd,) of joints and of contacts into these fields."""
        self.layout.put_joints(self.memory, of_joints, values[: self.ng])
        found = np.zeros((self.nc, self.layout.shape.rows))
        found[:, 0] = values[self.ng : self.ng + self.nc]
        if self.layout.shape.rows > 1:
            found[:, 1:] = values[self.ng + self.nc :].reshape(-1, self.tangents)
        self.memory.of[_schema(of_contacts)][of_contacts][self.layout.contacts] = found


def _schema(field: str) -> str:
    """Schema of a field of contacts."""
    return "Contact" if field in ("P", "velocity_offset") else "Touch"
