"""Rows that a run keeps, and sums and extremes over all of its steps: computed block by block during the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import Observe, Seen, System
from nonsmooth.trajectory.certificate import Balance, energy_series, worst_violation
from nonsmooth.trajectory.columns import KEPT_ENERGIES, any_of_each, bounds, means, tangential_size
from nonsmooth.trajectory.jumps import with_jumps
from nonsmooth.trajectory.store import Store

#: rows of steps, by name: times ``t`` (k,), ``q``, ``v`` and `ARRAYS` (k, width), `SCALARS` (k,); and of those rows at
#: which velocities jump `AT_JUMPS`
Part = Mapping[str, NDArray[Any]]

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


@dataclass(frozen=True, eq=False)
class DecimatedRows:
    """The recorded rows of the first `count` steps (row 0 included), and sums and extremes over all of these.

    Parameters
    ----------
    record
        Every `record`-th row is kept. Impulses of the steps between are added up, forces averaged over their time.
    constant
        Whether steps are constant: those that locate impacts have none in lasting contacts.
    count
        Number of rows before any are omitted.
    kept
        Number of rows kept.
    store
        Tables of the rows kept; rows beyond these do not count.
    jumped, jumps
        Tables that follow from others in most rows: the number of rows in which they do not, and these rows.
    impacts
        Parts of the table of impacts (k, 7): time, index of the contact, P_N, P_T, gap velocity before and after, and
        whether it is a jump without collision.
    worst
        Largest gap violation [m], joint violation, complementarity and motion residual of all rows (4,).
    least_gap
        Smallest gap of each contact (nc,) [m].
    extremes
        Smallest, largest and last value of each energy (3, energies) [J]; of losses the last one alone counts.
    balance
        Balance of energy after the last row, from which it is continued.
    last
        Length [s], normal impulses [N s], gap velocities [m/s] and velocities of the last two steps (2, 1 + 2 nc + nv),
        which tell whether a contact lasts.
    """

    record: int = 1
    constant: bool = False
    count: int = 0
    kept: int = 0
    store: Store = field(default_factory=Store)
    jumped: int = 0
    jumps: Store = field(default_factory=Store)
    impacts: tuple[Array, ...] = ()
    worst: Array | None = None
    least_gap: Array | None = None
    extremes: Array | None = None
    balance: Balance | None = None
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
        kept: slice | NDArray[np.intp] = slice(None)
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
        worst = np.array([
            worst_violation(-least), worst_violation(seen.closure), worst_violation(a["complementarity"]),
            worst_violation(a["residual"]),
        ])  # fmt: skip
        extremes = np.array([_extremes(name, one) for name, one in energy.items()]).T
        if self.worst is not None and self.least_gap is not None and self.extremes is not None:
            worst, least = np.maximum(self.worst, worst), np.minimum(self.least_gap, least)
            extremes[0] = np.minimum(self.extremes[0], extremes[0])
            extremes[1] = np.maximum(self.extremes[1], extremes[1])
        lasting = partial(_lasting, a, seen, self.last, jumped) if self.constant else None
        last = np.column_stack([a["dt"][-2:], a["P_N"][-2:], seen.rate[-2:], a["v"][-2:]])
        before = np.zeros((2, last.shape[1])) if self.last is None else self.last
        return replace(
            self, count=self.count + t.size, kept=self.kept + len(table["t"]), jumped=self.jumped + len(jumps["row"]),
            impacts=(*self.impacts, _impacts(a, system, jumped, lasting)), worst=worst, least_gap=least,
            extremes=extremes, balance=balance, last=np.concatenate([before, last])[-2:],
        )  # fmt: skip

    def _jumps(
        self, table: Mapping[str, NDArray[Any]], a: Part, seen: Seen, kept: slice | NDArray[np.intp], lengths: Array
    ) -> dict[str, NDArray[Any]]:
        """The rows of tables that follow from the table in all other rows, see `nonsmooth.trajectory.columns`.

        These are rows at which velocities jump, or have jumped since the row that is kept before; and those whose step
        is not the difference of two times.
        """
        ends: slice | NDArray[np.bool_]
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
        impulses = (_without_impacts(a, name, kept, rows, into) for name in ("P_N", "P_T"))
        lam_N, lam_T = (means(one, table["dt"][rows]) for one in impulses)
        named = {"v_left": v, "rate_left": rate, "lam_N": lam_N, "lam_T": lam_T, "reaction_impact": impulse}
        return {"row": rows + self.kept, **named}

    def table(self) -> dict[str, NDArray[Any]]:
        """Tables of all kept rows, by name, except those of `jump_rows`."""
        return self.store.columns(self.kept)

    def jump_rows(self) -> dict[str, NDArray[Any]]:
        """Rows of `JUMPS` in which they do not follow from the other tables, by name, and their numbers ``row``."""
        return self.jumps.columns(self.jumped)

    def all_impacts(self) -> Array:
        """The table of impacts (k, 7)."""
        return np.concatenate([np.zeros((0, IMPACT)), *self.impacts])

    def saved_state(self) -> dict[str, Any] | None:
        """Plain data for a checkpoint; None where there are no rows."""
        if self.balance is None:
            return None
        return {
            "count": self.count, "table": self.table(), "jumps": self.jump_rows(), "impacts": self.all_impacts(),
            "worst": self.worst, "least_gap": self.least_gap, "extremes": self.extremes,
            "balance": self.balance.saved_state(), "last": self.last,
        }  # fmt: skip

    def restored(self, saved: Mapping[str, Any] | None, system: System) -> DecimatedRows:
        """The rows of a checkpoint; ValueError if they are not those of the mechanism."""
        if saved is None:
            return self
        count, table, jumps, impacts = int(saved["count"]), dict(saved["table"]), dict(saved["jumps"]), saved["impacts"]
        rows = (count - 1) // self.record + 1
        if count < 1 or self.end(count) != count:
            raise ValueError("its recorded rows end within a group of steps")
        nq, nv, nc, nt, nr = system.nq, system.nv, system.nc, system.nt, system.nr
        widths = {"P_N": nc, "P_T": nt, "reaction": nr, "q": nq, "v": nv, "mode": nc, "gap": nc, "rate": nc}
        jumped = dict(zip(JUMPS, (nv, nc, nc, nt, nr), strict=True))
        single = ("t", *KEPT_ENERGIES, *(("dt",) if self.record > 1 else ()))
        shapes: dict[str, tuple[int, ...]] = {name: (rows,) for name in single}
        shapes |= {name: (rows, width) for name, width in widths.items()}
        at = jumps["row"]
        others: dict[str, tuple[int, ...]] = {"row": at.shape} | {name: (at.size, n) for name, n in jumped.items()}
        if (
            {name: np.shape(values) for name, values in table.items()} != shapes
            or {name: np.shape(values) for name, values in jumps.items()} != others
            or at.ndim != 1 or np.any(np.diff(at, prepend=-1) < 1) or np.any(at >= rows)
            or impacts.shape[1:] != (IMPACT,)
        ):  # fmt: skip
            raise ValueError("its recorded rows are those of another mechanism")
        if not (saved["worst"].shape == (4,) and saved["least_gap"].shape == (nc,) and len(saved["extremes"]) == 3):
            raise ValueError("its sums are not complete")
        self.store.put(0, table)
        self.jumps.put(0, jumps)
        return replace(
            self, count=count, kept=rows, jumped=at.size, impacts=(impacts,), worst=saved["worst"],
            least_gap=saved["least_gap"], extremes=saved["extremes"], balance=Balance.restored(saved["balance"]),
            last=saved.get("last"),
        )  # fmt: skip


def _summed(array: Array, kept: slice | NDArray[np.intp]) -> Array:
    """Sums over the steps of each kept row."""
    if isinstance(kept, slice):
        return array
    return np.asarray(np.add.reduceat(array, np.concatenate([[0], kept[:-1] + 1]), axis=0))


def _without_impacts(
    a: Part, name: str, kept: slice | NDArray[np.intp], rows: NDArray[np.intp], into: NDArray[np.intp]
) -> Array:  # fmt: skip
    """Impulses of the steps of some kept rows, without those of impacts, which belong to the kept rows `into`."""
    if isinstance(kept, slice):
        found: Array = a[name][rows]
        found[np.searchsorted(rows, into)] -= a[f"{name}_impact"]
        return found
    if not rows.size:
        return np.zeros((0, a[name].shape[1]))
    every = a[name].copy()
    every[a["row"]] -= a[f"{name}_impact"]
    return _summed(every, kept)[rows]


def loaded(
    approach: Array, before: Array, lengths: Array, some: slice | NDArray[np.intp] = slice(None)
) -> NDArray[np.bool_]:
    """Whether an approach is no faster than the load of a few constant steps makes it, as of a lasting contact that is
    open for some, since velocity-level schemes close its rate and not its gap. A bounce as short is not resolved.

    Parameters
    ----------
    approach : gap velocities (k, nc) [m/s] at the end of steps, before impacts; closing < 0
    before : those at their beginning
    lengths : (2 + n,) [s] of the two steps before the first, 0 where there are none, and of all
    some : which of the n steps these are, all by default
    """
    two, one, dt = (lengths[first:][: lengths.size - 2][some] for first in range(3))
    # where a run begins, the step after tells whether steps are constant
    one = np.where(one > 0.0, one, np.append(lengths[3:], 0.0)[some])
    two = np.where(two > 0.0, two, one)
    equal = (np.abs(one - dt) <= EQUAL * dt) & (np.abs(two - dt) <= EQUAL * dt) & (dt > 0.0)
    return np.asarray(equal[:, None] & (-approach <= OPEN_FOR * (before - approach)))


def _extremes(name: str, values: Array) -> tuple[float, float, float]:
    """The least, the largest and the last value of an energy; of losses, which verdicts take at the end, the last."""
    end = values[-1]
    return (end, end, end) if name.startswith("loss_") else (np.min(values), np.max(values), end)


def _impacts(
    a: Mapping[str, NDArray[Any]], system: System, jumps: NDArray[np.bool_],
    lasting: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None,
) -> Array:  # fmt: skip
    """Impacts of rows (k, 7), with the impulses of contacts that are closed; `jumps`: those without collision.

    `lasting`: which contacts last at some of the rows at which velocities jump. They have no impact, unless another
    contact is hit as well.
    """
    impact = a["P_N_impact"] > 0.0
    some = np.flatnonzero(any_of_each(impact))
    if not some.size:
        return np.zeros((0, IMPACT))
    impact = impact[some]
    if lasting is not None:
        last = impact & lasting(some)
        impact &= ~last | np.any(impact & ~last, axis=1, keepdims=True)
    row, contact = np.nonzero(impact)
    row = some[row]
    parts = (a["P_N_impact"], tangential_size(a["P_T_impact"], system), a["gamma_minus"], a["gamma_plus"], jumps)
    return np.column_stack([a["t"][a["row"][row]], contact, *(part[row, contact] for part in parts)])


def _lasting(
    a: Mapping[str, NDArray[Any]], seen: Seen, last: Array | None, jumps: NDArray[np.bool_], some: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether contacts last (k, nc) at some of the rows of constant steps at which velocities jump.

    Velocity-level schemes with constant steps close the rate of a lasting contact by an impulse in each step, and since
    its normal turns they may omit some and make up for them. Of steps that end where an impact is, equal ones are equal
    flights.
    """
    row, nc = a["row"][some], a["P_N"].shape[1]
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
    return np.asarray(~jumps[some] & (makes_up | loaded(seen.rate_left[some], rate, dt, row)))
