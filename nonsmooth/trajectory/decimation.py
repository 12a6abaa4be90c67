"""Rows that a run keeps, and sums and extremes over all of its steps: computed block by block during the run.

Velocities may jump without collision where no consistent contact force exists, as in Painleve's paradox and jamming.
Without a force that keeps gaps closed while contacts slide, an impulse ends their slip at an instant. With normal
impulses P of a step, the change of gap velocities by them while all slip goes on is

    G P,    G = W_N' M^-1 (W_N - W_T mu s),

with M^-1 within the joints and the contacts that stick, s the directions of slip. Forces that keep gaps closed against
loads have P' G P > 0; where it is not, impulses are those of a jump, which are impacts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.rows import AT_JUMPS, at_rows
from nonsmooth.model.system import Observe, Seen, System
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.trajectory.certificate import SUMS, Balance, energy_series
from nonsmooth.trajectory.columns import KEPT_ENERGIES, any_of_each, are_rows, bounds, by_tangent, means
from nonsmooth.trajectory.store import Store

#: rows of steps, by name: times ``t`` (k,), ``q``, ``v`` and `ARRAYS` (k, width), `SCALARS` (k,); and of those rows at
#: which velocities jump `AT_JUMPS`
Part = Mapping[str, NDArray[Any]]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: numbers of a step: its length, its certificate, and what `energy_series` takes
SCALARS = (
    "dt", "residual", "complementarity", "work_drivers", "loss_friction", "work_loads", "loss_damping", "loss_contact",
    "stored",
)  # fmt: skip
#: arrays of a step besides q and v
ARRAYS = ("P_N", "P_T", "mode", "reaction")
#: tables that follow from others where nothing jumps
JUMPS = ("v_left", "rate_left", "lam_N", "lam_T", "reaction_impact")
#: how many times the impulse of the two steps before a lasting contact has at most in one step, after a step without
LASTS = 4.0
#: steps whose load gives at most the approach of a contact that lasts: two that it was left open, and round-off
OPEN_FOR = 2.5
#: relative difference of steps that are equal
EQUAL = 1e-6
#: numbers of an impact: its time, the index of its contact, impulses, gap velocities before and after, 1 if it is a
#: jump without collision
IMPACT = 7
#: factor from the mean force of the two steps before to that of a step with a jump, at least
LEAP = 5.0
#: share of the slip by which loads change it in a step with a jump at most
CHANGED = 0.5


def shapes_of(names: Iterable[str], rows: int, system: System) -> dict[str, tuple[int, ...]]:
    """Shapes of tables of so many rows: by contact, coordinate and so on, or one number in each row."""
    s = system
    tables = (
        (s.nq, ("q",)), (s.nv, ("v", "v_left")), (s.nr, ("reaction", "reaction_impact")),
        (s.nc, ("P_N", "lam_N", "mode", "gap", "rate", "rate_left", "P_N_impact", "gamma_minus", "gamma_plus")),
        (s.nt, ("P_T", "lam_T", "P_T_impact")),
    )  # fmt: skip
    widths = {name: width for width, some in tables for name in some}
    return {name: (rows, widths[name]) if name in widths else (rows,) for name in names}


@dataclass(frozen=True, eq=False)
class DecimatedRows:
    """Every `record`-th row of the first `count` steps (row 0 included), and sums and extremes over all of these.
    Impulses of the steps between are added up, forces averaged over their time."""

    record: int = 1
    constant: bool = False
    count: int = 0
    kept: int = 0
    store: Store = field(default_factory=Store)
    #: tables that follow from others in most rows: the number of rows in which they do not, and these rows
    jumped: int = 0
    jumps: Store = field(default_factory=Store)
    impacts: tuple[Array, ...] = (np.zeros((0, IMPACT)),)
    #: largest gap violation [m], joint violation, complementarity and motion residual of all rows (4,)
    worst: Array | None = None
    least_gap: Array | None = None
    #: smallest, largest and last value of each energy (3, energies) [J]; of losses the last one alone counts
    extremes: Array | None = None
    balance: Balance | None = None
    #: length, normal impulses, gap velocities and velocities of the last two steps (2, 1 + 2 nc + nv)
    last: Array | None = None

    def end(self, rows: int) -> int:
        """The largest number of rows, not above `rows`, with which a group of `record` steps ends."""
        return 1 + (rows - 1) // self.record * self.record

    def extended(self, a: Part, system: System, parameters: Array, observe: Observe) -> DecimatedRows:
        """These rows and those that follow, the last of which is kept."""
        t = a["t"]
        a, jumped = with_jumps(a, self.last, system, parameters)
        seen = observe(t, a["q"], a["v"], a["row"], a["v_left"])
        lengths = np.empty(t.size)
        lengths[0], lengths[1:] = t[0] - (t[0] if self.balance is None else self.balance.t), t[1:] - t[:-1]
        energy, balance = energy_series(lengths, seen, a, self.balance)
        views = {"gap": seen.gap, "rate": seen.rate} | {name: energy[name] for name in KEPT_ENERGIES}
        views |= {name: a[name] for name in ("t", "q", "v", "mode")}
        kept: slice | Index = slice(None)
        if self.record > 1:
            kept = np.arange(-self.count % self.record, t.size, self.record)
            if not (kept.size and kept[-1] == t.size - 1):
                kept = np.append(kept, t.size - 1)
            views = {name: values[kept] for name, values in views.items()}
        # impulses of the steps of each kept row, and mean forces of joints
        length, reaction = _summed(a["dt"], kept), a["reaction"]
        if self.record > 1:
            reaction = means(_summed(reaction * a["dt"][:, None], kept), length)
        forces = {"dt": length, "P_N": _summed(a["P_N"], kept), "P_T": _summed(a["P_T"], kept), "reaction": reaction}
        table = forces | views
        jumps = self._jumps(table, a, seen, kept, lengths)
        if self.record == 1:
            del table["dt"]
        self.store.put(self.kept, table)
        self.jumps.put(self.jumped, jumps)
        least = bounds(seen.gap)[0]
        violations = -least, seen.closure, a["complementarity"], a["residual"]
        worst = np.array([np.max(one, initial=0.0) for one in violations]) + 0.0  # no negative zero
        extremes = np.array([
            (one[-1],) * 3 if name.startswith("loss_") else (np.min(one), np.max(one), one[-1])
            for name, one in energy.items()
        ]).T  # fmt: skip
        if self.worst is not None and self.least_gap is not None and self.extremes is not None:
            worst, least = np.maximum(self.worst, worst), np.minimum(self.least_gap, least)
            extremes[0] = np.minimum(self.extremes[0], extremes[0])
            extremes[1] = np.maximum(self.extremes[1], extremes[1])
        impacts = _impacts(a, system, jumped, seen, self.last, self.constant)
        last = np.column_stack([a["dt"][-2:], a["P_N"][-2:], seen.rate[-2:], a["v"][-2:]])
        before = np.zeros((2, last.shape[1])) if self.last is None else self.last
        return replace(
            self, count=self.count + t.size, kept=self.kept + len(table["t"]), jumped=self.jumped + len(jumps["row"]),
            impacts=(*self.impacts, impacts), worst=worst, least_gap=least, extremes=extremes, balance=balance,
            last=np.concatenate([before, last])[-2:],
        )  # fmt: skip

    def _jumps(self, table: Part, a: Part, seen: Seen, kept: slice | Index, lengths: Array) -> dict[str, NDArray[Any]]:
        """The rows in which tables do not follow from others: where velocities jump, or have since the row kept before,
        or the step is not the difference of two times."""
        ends: slice | Mask
        if isinstance(kept, slice):
            odd = np.flatnonzero(table["dt"].view(np.int64) != lengths.view(np.int64))
            into, ends = a["row"], slice(None)
            rows = np.union1d(into, odd) if odd.size else into
        else:
            into = np.searchsorted(kept, a["row"])
            rows, ends = np.unique(into), kept[into] == a["row"]
        v, rate = np.array(table["v"][rows]), np.array(table["rate"][rows])
        impulse = np.zeros((rows.size, a["reaction"].shape[1]))
        at = np.searchsorted(rows, into)
        v[at[ends]], rate[at[ends]] = a["v_left"][ends], seen.rate_left[ends]
        np.add.at(impulse, at, a["reaction_impact"])
        found = {"row": rows + self.kept, "v_left": v, "rate_left": rate, "reaction_impact": impulse}
        for name, force in (("P_N", "lam_N"), ("P_T", "lam_T")):
            if isinstance(kept, slice):
                without = a[name][rows]
                without[at] -= a[f"{name}_impact"]
            else:
                without = a[name].copy()
                without[a["row"]] -= a[f"{name}_impact"]
                without = _summed(without, kept)[rows]
            found[force] = means(without, table["dt"][rows])
        return found

    def tables(self) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Tables of all kept rows, and of `JUMPS` the rows in which they do not follow from these."""
        return self.store.columns(self.kept), self.jumps.columns(self.jumped)

    def saved_state(self) -> dict[str, Any] | None:
        """Plain data for a checkpoint; None where there are no rows."""
        if self.balance is None:
            return None
        table, jumps = self.tables()
        return {
            "count": self.count, "table": table, "jumps": jumps, "impacts": np.concatenate(self.impacts),
            "worst": self.worst, "least_gap": self.least_gap, "extremes": self.extremes,
            "balance": asdict(self.balance), "last": self.last,
        }  # fmt: skip

    def restored(self, saved: Mapping[str, Any] | None, system: System) -> DecimatedRows:
        """The rows of a checkpoint; ValueError if they are not those of the mechanism."""
        if saved is None:
            return self
        count, table, jumps, impacts = int(saved["count"]), dict(saved["table"]), dict(saved["jumps"]), saved["impacts"]
        rows = (count - 1) // self.record + 1
        if count < 1 or self.end(count) != count:
            raise ValueError("its recorded rows end within a group of steps")
        names = ("t", "q", "v", *ARRAYS, "gap", "rate", *KEPT_ENERGIES, *(("dt",) if self.record > 1 else ()))
        at = jumps["row"]
        if (
            {name: np.shape(values) for name, values in table.items()} != shapes_of(names, rows, system)
            or {name: np.shape(values) for name, values in jumps.items()} != shapes_of(("row", *JUMPS), at.size, system)
            or not are_rows(at, rows) or impacts.shape[1:] != (IMPACT,)
        ):  # fmt: skip
            raise ValueError("its recorded rows are those of another mechanism")
        least = saved["least_gap"]
        if not (saved["worst"].shape == (4,) and least.shape == (system.nc,) and len(saved["extremes"]) == 3):
            raise ValueError("its sums are not complete")
        numbers = {name: float(number) for name, number in saved["balance"].items() if name != "sums"}
        balance = Balance(**numbers, sums={name: float(saved["balance"]["sums"][name]) for name in SUMS})
        self.store.put(0, table)
        self.jumps.put(0, jumps)
        return replace(
            self, count=count, kept=rows, jumped=at.size, impacts=(impacts,), worst=saved["worst"],
            least_gap=least, extremes=saved["extremes"], balance=balance,
            last=saved.get("last"),
        )  # fmt: skip


def _summed(array: Array, kept: slice | Index) -> Array:
    """Sums over the steps of each kept row."""
    if isinstance(kept, slice):
        return array
    return np.asarray(np.add.reduceat(array, np.concatenate([[0], kept[:-1] + 1]), axis=0))


def _impacts(a: Part, system: System, jumps: Mask, seen: Seen, last: Array | None, constant: bool) -> Array:
    """Impacts of rows (k, 7), with the impulses of contacts that are closed; `jumps`: those without collision.
    Velocity-level schemes with constant steps close the rate of a lasting contact by an impulse in each step, and since
    its normal turns they may omit some and make up for them."""
    impact = a["P_N_impact"] > 0.0
    some = np.flatnonzero(any_of_each(impact))
    if not some.size:
        return np.zeros((0, IMPACT))
    impact = impact[some]
    if constant:
        row, nc = a["row"][some], system.nc
        before = np.zeros((2, 1 + 2 * nc)) if last is None else last[:, : 1 + 2 * nc]

        def back(values: Array, known: Array, k: int) -> Array:
            """Values of k steps earlier, of which those of the two steps before all rows are known."""
            found: Array = values[np.maximum(row - k, 0)]
            found[row < k] = known[2 + row[row < k] - k]
            return found

        dt = np.concatenate([before[:, 0], a["dt"]])
        first, second, third = (dt[row + k] for k in range(3))
        P_first, P_second, P_third = (back(a["P_N"], before[:, 1 : 1 + nc], k) for k in (2, 1, 0))
        rate = back(seen.rate, before[:, 1 + nc :], 1)
        equal = (np.abs(second - third) <= EQUAL * third) & (np.abs(first - third) <= EQUAL * third)
        makes_up = equal[:, None] & (P_third <= LASTS * np.maximum(P_second, P_first))
        lasting = impact & ~jumps[some] & (makes_up | loaded(seen.rate_left[some], rate, dt, row))
        # contacts that last have no impact, unless another contact is hit as well
        impact &= ~lasting | np.any(impact & ~lasting, axis=1, keepdims=True)
    hit, contact = np.nonzero(impact)
    hit = some[hit]
    P_T = a["P_T_impact"]  # with its sign in the plane, its length in space
    tangential = P_T if system.dimension == 2 else np.linalg.norm(by_tangent(P_T, system), axis=2)
    parts = (a["P_N_impact"], tangential, a["gamma_minus"], a["gamma_plus"], jumps)
    return np.column_stack([a["t"][a["row"][hit]], contact, *(part[hit, contact] for part in parts)])


def loaded(approach: Array, before: Array, lengths: Array, some: slice | Index = slice(None)) -> Mask:
    """Whether an approach is no faster than the load of a few constant steps makes it: the contact lasts.

    Velocity-level schemes close its rate and not its gap. `approach` and `before` (k, nc) [m/s] are gap velocities at
    the end and beginning of `some` steps, `lengths` (2 + n,) [s] those of all n and of the two before, 0 without these.
    """
    two, one, dt = (lengths[first:][: lengths.size - 2][some] for first in range(3))
    # where a run begins, the step after tells whether steps are constant
    one = np.where(one > 0.0, one, np.append(lengths[3:], 0.0)[some])
    two = np.where(two > 0.0, two, one)
    equal = (np.abs(one - dt) <= EQUAL * dt) & (np.abs(two - dt) <= EQUAL * dt) & (dt > 0.0)
    return np.asarray(equal[:, None] & (-approach <= OPEN_FOR * (before - approach)))


def with_jumps(a: Part, last: Array | None, system: System, parameters: Array) -> tuple[Part, Mask]:
    """Rows of steps, in which the impulses of jumps are those of impacts, and the contacts of these (m, nc)."""
    none = np.zeros(a["P_N_impact"].shape, dtype=bool)
    frictional = system.elementwise.contact_law(parameters)[1] > 0.0
    if system.compliant or not np.any(frictional):
        return a, none
    rows, leaps = _leaps(a, last, system)
    leaps[:, list(system.given_normal)] = False
    some = np.any(leaps & frictional, axis=1)
    if not np.any(some):
        return a, none
    m, found = Mechanism(system, parameters, 1.0), dict[int, tuple[Mask, Array]]()
    for row, leap in zip(rows[some].tolist(), leaps[some], strict=True):
        v_start = a["v"][row - 1] if row else (None if last is None else last[-1, 1 + 2 * system.nc :])
        if v_start is not None and _is_jump(m, a, row, np.flatnonzero(leap), v_start):
            found[row] = leap, v_start
    if not found:
        return a, none
    every = np.union1d(a["row"], np.array(list(found), dtype=np.intp))
    jumps = {name: at_rows(a, name, every) for name in AT_JUMPS if name != "row"}
    a = {**a, **jumps, "row": every} | {name: a[name].copy() for name in ("loss_friction", "reaction")}
    which = np.zeros(a["P_N_impact"].shape, dtype=bool)
    for row, (leap, v_start) in found.items():
        k, index, t, q = np.searchsorted(every, row), np.flatnonzero(leap), float(a["t"][row]), a["q"][row]
        which[k], at, along = leap, m.at(t, q), m.along(index)
        W_N, W_T, P_N, P_T = at.W_N[:, index], at.W_T[:, along], a["P_N"][row, index], a["P_T"][row, along]
        jump, P_g = _change(m, W_N @ P_N + W_T @ P_T, at.W_g)
        a["v_left"][k] = a["v"][row] - jump
        a["P_N_impact"][k, index], a["P_T_impact"][k, along] = P_N, P_T
        a["gamma_minus"][k, index], a["gamma_plus"][k, index] = 0.0, W_N.T @ a["v"][row]
        # of the schemes, with the mean of the slip at both ends of the step
        a["loss_friction"][row] += P_T @ (W_T.T @ (0.5 * (v_start + a["v"][row])))
        if system.ng:
            reaction = m.reaction(t, q, P_g)
            a["reaction_impact"][k] += reaction
            a["reaction"][row] -= reaction / float(a["dt"][row])
            a["work_drivers_impact"][k] -= P_g @ at.g_t
    return a, which


@dataclass(frozen=True)
class Jump:
    """A contact whose velocity jumps without collision, at a time [s] with an impulse [N s]."""

    contact: str
    t: float
    impulse: float
    #: mean forces in a step of a coarser and of a finer run, which grow as 1/dt; none if the jump is in the table
    forces: tuple[float, float] | None = None

    @classmethod
    def first(cls, jumps: NDArray[Any]) -> Jump:
        """The largest of those at the first time of a table of jumps."""
        first = jumps[jumps["t"] == np.min(jumps["t"])]
        one = first[np.argmax(first["P_N"])]
        return cls(str(one["contact"]), float(one["t"]), float(one["P_N"]))

    @property
    def text(self) -> str:
        """A sentence for a verdict."""
        grows = ""
        if self.forces is not None:
            grows = f"the mean of a step grows as 1/dt, from {self.forces[0]:.3g} to {self.forces[1]:.3g} N, since "
        return (
            f'contact "{self.contact}" has no force near t = {self.t:.6g} s: {grows}velocities jump without collision; '
            f"its impulse is {self.impulse:.3g} N s"
        )


def _leaps(a: Part, last: Array | None, system: System) -> tuple[Index, Mask]:
    """Rows without impact in which contacts (n, nc) have a mean force much larger than in both steps before."""
    P_N, dt = a["P_N"], a["dt"]
    known = np.zeros((2, 1 + system.nc)) if last is None else last[:, : 1 + system.nc]
    # of the few steps with an impulse that is much larger than the one before, forces tell
    shortest, longest = np.min(dt[1:], initial=np.inf), np.max(dt[1:], initial=0.0)
    larger = P_N[2:] > 0.5 * LEAP * (shortest / longest if longest > 0.0 else 0.0) * P_N[1:-1]
    rows = np.concatenate([np.arange(min(2, len(P_N))), 2 + np.flatnonzero(any_of_each(larger))])
    rows = np.setdiff1d(rows, a["row"][np.any(a["P_N_impact"] > 0.0, axis=1)], assume_unique=True)

    def force(steps: int) -> Array:
        """The mean forces of so many steps before."""
        impulse, length = P_N[np.maximum(rows - steps, 0)], dt[np.maximum(rows - steps, 0)]
        early = rows < steps
        impulse[early], length[early] = known[rows[early] - steps, 1:], known[rows[early] - steps, 0]
        return means(impulse, length)

    leaps = force(0) > LEAP * np.maximum(force(1), force(2))
    some = np.any(leaps, axis=1)
    return rows[some], leaps[some]


def _change(m: Mechanism, W: Array, bonds: Array) -> tuple[Array, Array]:
    """The change of velocity M^-1 W by impulses W (nv,) within bonds (nv, n), and the impulses of these (n,)."""
    W = W[:, None]
    free = m.metric.change(W)
    if not bonds.shape[1]:
        return free[:, 0], np.zeros(0)
    by_bonds = m.metric.change(bonds)
    P = -np.linalg.lstsq(bonds.T @ by_bonds, bonds.T @ free, rcond=None)[0]
    return np.asarray(free + by_bonds @ P)[:, 0], np.asarray(P, dtype=float)[:, 0]


def _is_jump(m: Mechanism, a: Part, row: int, index: Index, v_start: Array) -> bool:
    """Whether no forces of these contacts keep their gaps closed while they slide as at the start of the step."""
    at, along, n = m.at(float(a["t"][row]), a["q"][row]), m.along(index), index.size
    W_N, W_T, P_N, P_T = at.W_N[:, index], at.W_T[:, along], a["P_N"][row, index], a["P_T"][row, along]
    v_left = a["v"][row] - _change(m, W_N @ P_N + W_T @ P_T, at.W_g)[0]
    slip, change = W_T.T @ v_start, W_T.T @ (v_left - v_start)
    size, by_loads = (np.linalg.norm(one.reshape(n, m.tangents), axis=1) for one in (slip, change))
    slides = (m.friction[index] > 0.0) & (by_loads < CHANGED * size)
    if not np.any(slides):
        return False
    sticks = np.repeat(~slides & (m.friction[index] > 0.0), m.tangents)
    tangential = (W_T * slip).reshape(len(W_N), n, m.tangents).sum(axis=2)
    share = np.where(slides, m.friction[index] / np.where(size > 0.0, size, 1.0), 0.0)
    delta_v = _change(m, (W_N - share * tangential) @ P_N, np.hstack([at.W_g, W_T[:, sticks]]))[0]
    return float(P_N @ (W_N.T @ delta_v)) <= 0.0
