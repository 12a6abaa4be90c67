"""Derivatives of numbers of a whole motion: means, extrema, forces, impulses, and functions of all rows.

Where an event is later by dt, what is integrated lasts longer before it and shorter after it; an extremum at an event
moves with it, one between events is where the rate vanishes, so that its own change of time does not matter ::

    d int y = sum int (y_x S + y_p) + sum (y- - y+) dt,    d y(event) = y_x S + y_p + y' dt,    d max y = y_x S + y_p
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.derivatives.sweep import Sweep, Swept
from nonsmooth.derivatives.transitions import transitions
from nonsmooth.exceptions import InputError
from nonsmooth.model.system import System
from nonsmooth.settings import hint, shown

#: function of times (n,), coordinates (n, nq) and velocities (n, nv) at both ends of each step that returns a number
OfRows = Callable[[Array, Array, Array], float]
OF_STATES = ("final", "mean", "largest", "smallest")
#: and their units
OF_CONTACTS = {
    "impulse": "N s", "mean-force": "N", "peak-force": "N", "peak-impulse": "N s", "fastest-approach": "m/s"
}  # fmt: skip
#: step of differences of functions of rows, as a share of the motion: errors of their square remain
SHARE = 1e-5


@dataclass(frozen=True)
class Measure:
    """One of these words, the index of what it measures: among (q, v), or of a contact; and of what is integrated for
    it, if anything is, among (q, v, forces)."""

    word: str
    index: int
    integrand: int | None

    @classmethod
    def named(cls, name: str, system: System) -> "Measure":
        """That of ``"slider.x"``, ``"v:slider.x"``, ``"mean:v:slider.x"``, ``"peak-force:pin"``."""
        states = [*system.q_names, *(f"v:{one}" for one in system.v_names)]
        word, _, about = name.partition(":")
        if word not in (*OF_STATES, *OF_CONTACTS):
            word, about = "final", name
        known = [*system.contact_names] if word in OF_CONTACTS else states
        if about not in known:
            what = "contact" if word in OF_CONTACTS else "coordinate or velocity"
            raise InputError(
                f"There is no {what} {shown(about)}.{hint(about, known)} There are: {', '.join(known) or 'none'}; "
                f"words before them are {', '.join((*OF_STATES, *OF_CONTACTS))}, as in mean:{states[0]}."
            )
        index = known.index(about)
        of_force = _normal(system, index) if word in ("impulse", "mean-force") else None
        return cls(word, index, index if word == "mean" else of_force)

    def unit(self, system: System) -> str:
        return OF_CONTACTS.get(self.word) or [*system.names.q_units, *system.names.v_units][self.index]


def _normal(system: System, contact: int) -> int:
    """Index of a contact's normal force among (q, v, forces)."""
    return system.nq + system.nv + system.ng + contact


class Measures:
    """Values and derivatives (m,), in the order of the sweep; NaN where the motion has none up to its end."""

    def __init__(self, sweep: Sweep, swept: Swept, integrands: Sequence[int]) -> None:
        self.sweep, self.swept, self.integrands = sweep, swept, list(integrands)
        self.n, self.duration = sweep.equations.n, float(sweep.t[-1] - sweep.t[0])
        self.jumps = {one.row: one for one in swept.jumps}
        self.dt = {one.row: one.dt for one in reversed(swept.events)}

    def __call__(self, what: Measure | OfRows) -> tuple[float, Array]:
        if not isinstance(what, Measure):
            return self._of_rows(what)
        sweep, k = self.sweep, what.index
        if what.word == "final":
            return float(np.r_[sweep.q[-1], sweep.v[-1]][k]), self.swept.S[-1, k]
        if what.integrand is not None:
            total, change = self._integral(what.integrand)
            if what.word != "mean":
                total += sum(float(one.impulses[k]) for one in self.jumps.values())
                change = change + sum(one.dimpulses[k] for one in self.jumps.values())
            share = 1.0 if what.word == "impulse" else self.duration
            return total / share, change / share
        if what.word in ("largest", "smallest"):
            return self._extremum(k, 1.0 if what.word == "largest" else -1.0)
        if what.word == "peak-force":
            return self._extremum(_normal(sweep.system, k), 1.0)
        of_impacts = [(float(one.impulses[k]), one.dimpulses[k]) for one in self.jumps.values()]
        if what.word == "fastest-approach":
            name = sweep.system.contact_names[k]
            own = (one for one in self.swept.events if one.kind == "impact" and one.contact == name)
            of_impacts = [(-one.rate, -one.drate) for one in own]
        largest, change = max(of_impacts, key=lambda one: one[0], default=(0.0, np.zeros(self.swept.S.shape[2])))
        return largest, self._known(change)

    def _known(self, change: Array) -> Array:
        return change if self.swept.ends is None else np.full_like(change, np.nan)

    def _integral(self, index: int) -> tuple[float, Array]:
        """Integral of one of (q, v, forces) over the run, impulses excluded."""
        if index not in self.integrands:
            sweep = self.sweep
            found = transitions(sweep.equations, sweep.t, sweep.q, sweep.v, sweep.phases.modes, [index])[2][:, 0]
        else:
            found = self.swept.integrals[:, self.integrands.index(index)]
        change = np.einsum("kx,kxm->m", found[:, 1 : 1 + self.n], self.swept.S[:-1])
        change[: self.sweep.equations.own] += found[:, 1 + self.n :].sum(axis=0)
        for row, jump in self.jumps.items():
            if row > 0 and index >= self.sweep.system.nq:
                change += (self._at(row, row - 1, index)[0] - self._at(row, row, index)[0]) * jump.dt
        return float(found[:, 0].sum()), change

    def _at(self, row: int, step: int, index: int) -> tuple[float, Array, float]:
        """One of (q, v, forces) at a row, seen from a step; its derivative at this time, and its rate."""
        left, last = step < row, len(self.sweep.t) - 2
        v = (self.sweep.left if left else self.sweep.v)[row]
        S = self.jumps[row].before if left and row in self.jumps else self.swept.S[row]
        return self._of(float(self.sweep.t[row]), self.sweep.q[row], v, min(step, last), index, S)

    def _of(self, t: float, q: Array, v: Array, step: int, index: int, S: Array) -> tuple[float, Array, float]:
        modes, n = self.sweep.phases.modes[[step]], self.n
        (f,), _, _, (F,) = self.sweep.equations.rates(np.array([t]), q[None], v[None], modes)
        if index < n:
            return float(np.r_[q, v][index]), S[index], float(f[index])
        value, by_t, by_x, by_p = F[index - n, 0], F[index - n, 1], F[index - n, 2 : 2 + n], F[index - n, 2 + n :]
        change = by_x @ S
        change[: len(by_p)] += by_p
        return float(value), change, float(by_t + by_x @ f)

    def _extremum(self, index: int, sign: float) -> tuple[float, Array]:
        """The largest (sign 1) or smallest (-1) one of (q, v, forces)."""
        sweep, n = self.sweep, self.n
        ends = ((slice(0, -1), sweep.v), (slice(1, None), sweep.left))  # of each step
        if index < n:
            both = [np.hstack([sweep.q, v])[rows, index] for rows, v in ends]
        else:
            both = [
                sweep.equations.rates(sweep.t[rows], sweep.q[rows], v[rows], sweep.phases.modes)[3][:, index - n, 0]
                for rows, v in ends
            ]
        steps = sign * np.column_stack(both)
        step, side = (int(one) for one in np.unravel_index(np.argmax(steps), steps.shape))
        row = step + side
        if self.swept.ends is not None:
            return float(sign * steps[step, side]), self._known(self.swept.S[-1, 0])
        value, change, rate = self._at(row, step, index)
        if row in self.dt or row in (0, len(sweep.t) - 1):
            return value, change + rate * self.dt.get(row, 0.0)
        return self._between(row if sign * rate > 0.0 else row - 1, index)

    def _between(self, step: int, index: int) -> tuple[float, Array]:
        """Where the rate of one of (q, v, forces) vanishes within a step."""
        from scipy.optimize import brentq

        sweep, n, S = self.sweep, self.n, self.swept.S[step]

        def after(share: float) -> tuple[float, Array, float]:
            t = sweep.t[step] + np.array([0.0, share * (sweep.t[step + 1] - sweep.t[step])])
            rows = slice(step, step + 1)
            (Phi,), (x,), _ = transitions(sweep.equations, t, sweep.q[rows], sweep.v[rows], sweep.phases.modes[rows])
            moved = Phi[:, :n] @ S
            moved[:, : sweep.equations.own] += Phi[:, n:]
            return self._of(float(t[1]), x[: sweep.system.nq], x[sweep.system.nq :], step, index, moved)

        rates = [after(share)[2] for share in (0.0, 1.0)]
        share = brentq(lambda x: after(x)[2], 0.0, 1.0, xtol=1e-12) if rates[0] * rates[1] < 0.0 else 0.0
        value, change, _ = after(share)
        return value, change

    def _of_rows(self, function: OfRows) -> tuple[float, Array]:
        """A smooth function of the ends of all steps; those at events move with these, others proportionally."""
        sweep, S, nq = self.sweep, self.swept.S, self.sweep.system.nq
        ends = np.repeat(np.arange(len(sweep.t)), 2)[1:-1]
        t, q, v = sweep.t[ends], sweep.q[ends], np.stack([sweep.v[:-1], sweep.left[1:]], axis=1).reshape(len(ends), -1)
        value = float(function(t, q, v))
        if self.swept.ends is not None:
            return value, self._known(S[-1, 0])
        rows, still = sorted({0, *self.dt, len(sweep.t) - 1}), np.zeros(S.shape[2])
        moves = np.array([self.dt.get(row, still) for row in rows])
        shift = np.column_stack([np.interp(t, sweep.t[rows], one) for one in moves.T])
        changes = S[ends]
        for row, jump in self.jumps.items():
            changes[2 * row - 1] = jump.before if row > 0 else changes[0]
        f = sweep.equations.rates(t, q, v, np.repeat(sweep.phases.modes, 2, axis=0))[0]
        changes += f[:, :, None] * shift[:, None]
        slopes = np.empty_like(still)
        for j, (by, later) in enumerate(zip(changes.transpose(2, 0, 1), shift.T, strict=True)):
            h = SHARE / max(np.max(np.abs(by) / sweep.scale), np.max(np.abs(later)) / self.duration, 1e-300)
            forth, back = (function(t + x * later, q + x * by[:, :nq], v + x * by[:, nq:]) for x in (h, -h))
            slopes[j] = (forth - back) / (2.0 * h)
        return value, slopes
