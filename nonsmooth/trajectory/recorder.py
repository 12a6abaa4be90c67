"""From accepted steps to a trajectory with its certificate."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.rows import AT_JUMPS, cut, following, joined
from nonsmooth.exceptions import InputError
from nonsmooth.files import Pieces
from nonsmooth.model.seen import Observe, observed_by
from nonsmooth.model.state import State
from nonsmooth.trajectory.certificate import ENERGIES, Certificate, energy_ledger
from nonsmooth.trajectory.columns import Columns, bounds
from nonsmooth.trajectory.contact_forces import ForceAxes, by_tangent
from nonsmooth.trajectory.derived import KEPT_ENERGIES, Energies, Mean, Mostly
from nonsmooth.trajectory.jumps import first_jump, jump_words
from nonsmooth.trajectory.manifest import Manifest, plain
from nonsmooth.trajectory.origin import Origin
from nonsmooth.trajectory.store import Store
from nonsmooth.trajectory.thinning import ARRAYS, SCALARS, Part, Thinned
from nonsmooth.trajectory.trajectory import IMPACT_COLUMNS, Left, Trajectory, impact_table
from nonsmooth.trajectory.verdict import first_verdict

if TYPE_CHECKING:
    from nonsmooth.model.system import System

__all__ = ["Recorder", "bytes_of_row"]

#: share of the largest impulse of a step below which that of an impact is round-off
ROUND_OFF = 1e-9

#: rows that wait, at least, until they are evaluated and those between the recorded ones are omitted; rows evaluated at
#: once
WAITING, AT_ONCE = 1000, 2**15
#: parts that do not follow each other in memory, of which more are joined before they are evaluated
SCATTERED = 64
#: bytes that are set aside for the end of a run, which lack of memory may cause; half of it where there is no more
SET_ASIDE, SMALLEST = 80 * 2**20, 3 * 2**20


def bytes_of_row(system: System) -> int:
    """Most bytes of a recorded row in which nothing jumps."""
    numbers = 1 + system.nq + system.nv + 3 * system.nc + system.nt + system.nr + len(KEPT_ENERGIES)
    return 8 * numbers + system.nc


def set_aside() -> NDArray[np.uint8] | None:
    """Memory that is not used, for the end of a run; None where there is none."""
    size = SET_ASIDE
    while size >= SMALLEST:
        try:
            return np.empty(size, np.uint8)
        except MemoryError:
            size //= 2
    return None


class Recorder:
    """Collects the steps of a run and creates its trajectory.

    Parameters
    ----------
    system
        The mechanism.
    manifest
        Plain data (numbers, strings, lists, mappings) with which the run can be repeated.
    parameters
        Parameter values of the run, in the system's order; those of the system by default.
    record
        Keep every `record`-th row, and the last one. Impulses of the rows between are added up, forces averaged;
        impacts, energies and the certificate cover all steps. Rows are evaluated, and those between omitted, during the
        run, so that its memory is that of the kept rows (see `Store`), of one group of `record` rows, and of `WAITING`.
    observe
        Evaluates rows; by default with the functions of the system. If a compiled loop provides it, it must not use the
        memory of the steps.
    expected
        Number of steps that the run has at least.
    constant
        Whether steps are constant: velocity-level schemes then have impulses of impacts in lasting contacts, which are
        not recorded as impacts. Steps that locate impacts have none, and each impulse is one.
    """

    #: makes `observe` when rows are first evaluated during the run
    viewer: Callable[[], Observe] | None = None

    def __init__(
        self, system: System, manifest: Mapping[str, Any], parameters: Array | None = None, *, record: int = 1,
        observe: Observe | None = None, expected: int = 0, constant: bool = False,
    ) -> None:  # fmt: skip
        self.system, self.record, self._expected, self._constant = system, record, 1 + expected // record, constant
        self.manifest = manifest if isinstance(manifest, Manifest) else Manifest(lambda: manifest)
        self.parameters = system.parameter_values if parameters is None else np.asarray(parameters, float)
        self.observe = observe
        # what Ctrl-C may interrupt is replaced at once: the rows of the first steps, thinned, and those that follow
        self._rows: tuple[Thinned, list[Part]] = (self._none(), [])
        self._known: tuple[int, State] | None = None  # so many rows lead to this state, which may be handed over
        self._before: State | None = None  # the state before the rows of the last part
        self._aside = set_aside()
        self._made: Thinned | None = None  # of all rows, as far as `finish` has come
        self._count = 0
        self._start: State | None = None
        self._end: State | None = None

    def __len__(self) -> int:
        """Number of rows so far, before any are omitted."""
        return self._count

    def start(self, state: State, impact: Part | None = None) -> None:
        """Row 0: the state, which is the right limit of the row `impact` where the start is one."""
        if self._end is not None:
            raise InputError("The trajectory has been started already.")
        row = self._at_rest(state) if impact is None else impact
        self._rows, self._count, self._start, self._end = (self._none(), [row]), 1, state, state

    def _none(self) -> Thinned:
        """No rows."""
        return Thinned(self.record, self._constant, store=Store(self._expected))

    def _at_rest(self, state: State) -> Part:
        """The row of a state without impulses."""
        none, still, idle = (np.zeros((1, size)) for size in (self.system.nc, self.system.nt, self.system.nr))
        arrays = (none, still, none.astype(np.int8), idle)
        row: dict[str, NDArray[Any]] = {"t": np.array([state.t]), "q": state.q[None].copy(), "v": state.v[None].copy()}
        row.update(zip(ARRAYS, arrays, strict=True))
        row.update((name, np.zeros(1)) for name in SCALARS)
        row.update((name, np.zeros((0, *shape), np.intp if name == "row" else float)) for name, shape in self._jumps())
        row["stored"] = np.array([float(np.sum(state.memory.get("Integration.stored", 0.0)))])
        return row

    def _jumps(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Shapes of one row of the tables of rows at which velocities jump."""
        s = self.system
        widths = (s.nv, s.nc, s.nt, s.nc, s.nc, s.nr)
        return zip(AT_JUMPS, ((), *((width,) for width in widths), ()), strict=True)

    def extend(self, rows: Part, end: State) -> None:
        """Accepted steps, and the state after them."""
        self._thin_out()
        self._rows[1].append(rows)
        self._before, self._end = self._end, end
        self._count += rows["t"].size

    def whole(self) -> State | None:
        """The last state, without rows that Ctrl-C left incomplete; None if there is none."""
        if self._end is None:
            return None
        thinned, parts = self._rows
        while len(parts) > 1 and parts[-1]["t"][-1] != self._end.t:
            parts.pop()
        self._count = thinned.count + sum(part["t"].size for part in parts)
        return self._end

    def _tables(self) -> Part:
        """All rows that are not thinned yet."""
        return joined(self._rows[1])

    def _thin_out(self) -> None:
        """Evaluate rows, and omit those between the recorded ones, once many wait; the last part waits, since a
        checkpoint may be of the state before it."""
        thinned, parts = self._rows
        if self.observe is None and self.viewer is None:
            return
        waiting = self._count - thinned.count
        if waiting < (AT_ONCE if self.record == 1 else WAITING + self.record):
            return
        known, observe = self._count - parts[-1]["t"].size, self._observed()
        if self.record == 1:
            ready, rest = following(parts[:-1]), parts[-1]
            if len(ready) > SCATTERED:
                ready = [joined(ready)]
        else:
            tables, n = self._tables(), thinned.end(known) - thinned.count
            ready = [cut(tables, 0, n)] if n > 0 else []
            rest = {name: values.copy() for name, values in cut(tables, n, len(tables["t"])).items()}
        for part in ready:
            thinned = thinned.extended(part, self.system, self.parameters, observe)
        if ready:
            self._rows = (thinned, [rest])
            if self._before is not None and thinned.count == known:
                self._known = known, self._before

    def _observed(self) -> Observe:
        if self.observe is None and self.viewer is not None:
            self.observe = self.viewer()
        return self.observe or observed_by(self.system, self.parameters)

    def held(self, n: int) -> dict[str, Any]:
        """The first n rows, for a checkpoint."""
        thinned, waiting = self._rows[0], n - self._rows[0].count
        rows = cut(self._tables(), 0, waiting)
        return {"rows": rows, "start": self._start, "thinned": thinned.held()}

    def hold(self, held: Mapping[str, Any], end: State) -> None:
        """Continue after the rows of a checkpoint, the last of which is `end`; ValueError if they do not match."""
        rows, system, start = dict(held["rows"]), self.system, held["start"]
        n, jumps = rows["t"].size, rows["row"]
        widths = (system.nq, system.nv, system.nc, system.nt, system.nc, system.nr)
        shapes: dict[str, tuple[int, ...]] = {
            name: (n, width) for name, width in zip(("q", "v", *ARRAYS), widths, strict=True)
        }
        shapes |= {name: (n,) for name in ("t", *SCALARS)} | {name: (jumps.size, *one) for name, one in self._jumps()}
        if {name: np.shape(values) for name, values in rows.items()} != shapes or not isinstance(start, State):
            raise ValueError("its rows are those of another mechanism")
        if np.any(np.diff(jumps, prepend=-1) < 1) or np.any(jumps >= n):
            raise ValueError("its jumps are not at its rows")
        if n < 1 or rows["t"][-1] != end.t:
            raise ValueError("its rows are not complete")
        thinned = self._none().holding(held["thinned"], system)
        self._start, self._before, self._end = start, None, end
        self._rows, self._count = (thinned, [rows]), thinned.count + n

    def _reduced(self, observe: Observe, at_once: int = AT_ONCE) -> Thinned:
        """All rows, thinned; repeated after Ctrl-C, it continues where it was."""
        base, tables, n = self._rows[0], self._tables(), len(self)
        made = self._made or base
        portion = max(at_once // self.record, 1) * self.record
        while made.count < n:
            first, last = made.count - base.count, min(made.count + portion + (made.count == 0), n) - base.count
            part = tables if last - first == len(tables["t"]) else cut(tables, first, last)
            made = made.extended(part, self.system, self.parameters, observe)
            if made.end(made.count) == made.count:
                self._made = made
        return made

    def finish(
        self, counts: Mapping[str, Any], wall_seconds: float, status: str, observe: Observe | None = None
    ) -> Trajectory:
        """The trajectory of the recorded steps, with its certificate; `observe` computes gaps, violations and
        energies."""
        if self._end is None:
            raise InputError("The trajectory has not been started.")
        self.whole()
        self._aside = None
        system, parameters, end = self.system, self.parameters, self._end
        seen = self.observe or observe or self._observed()
        try:
            try:
                thinned = self._reduced(seen)
            except MemoryError as error:
                traceback.clear_frames(error.__traceback__)
                thinned = self._reduced(seen, WAITING)
        except MemoryError:
            thinned = self._rows[0]
            if self._known is None or self._known[0] != thinned.count:
                raise
            end = self._known[1]
            lost = f"for lack of memory the rows after t = {end.t:.9g} s are missing."
            status = f"{status} {lost.capitalize()}" if status != "finished" else f"failed: {lost}"
        a = thinned.table()
        assert thinned.worst is not None and thinned.least_gap is not None and thinned.extremes is not None
        assert thinned.balance is not None
        rows, few = len(a["t"]), thinned.jumping()
        energies = Energies({name: a[name] for name in KEPT_ENERGIES}, thinned.balance.start)
        ends = dict(zip(ENERGIES, np.concatenate([energies[:1], energies[rows - 1 :]]).T, strict=True))
        gap, joint, complementarity, motion = thinned.worst.tolist()
        certificate = Certificate(gap, joint, complementarity, motion, energy_ledger(ends))
        status, verdict = first_verdict(
            system, parameters, certificate, q=a["q"], gap=thinned.least_gap[None],
            energy=dict(zip(ENERGIES, thinned.extremes.T, strict=True)), counts=counts, status=status,
            t=a["t"], v=a["v"],
        )  # fmt: skip
        impacts = thinned.all_impacts()
        impacts = impacts[impacts[:, 2] > ROUND_OFF * np.max(bounds(a["P_N"])[1], initial=0.0)]
        numbers = dict(zip(IMPACT_COLUMNS, np.delete(impacts, (1, 6), axis=1).T, strict=True))
        table = impact_table([system.contact_names[int(i)] for i in impacts[:, 1]], numbers)
        jumps = table[impacts[:, 6] > 0.0]
        if jumps.size and verdict.kind != "incomplete":
            verdict = replace(verdict, text=f"{jump_words(*first_jump(jumps))}; {verdict.text}")

        def mostly(usual: NDArray[Any] | Pieces, name: str) -> Mostly:
            return Mostly(usual, few["row"], few[name])

        length = a.get("dt")
        lam_N = mostly(Mean(a["P_N"], a["t"], length), "lam_N")
        lam_T = mostly(Mean(a["P_T"], a["t"], length), "lam_T")
        rate_left = mostly(a["rate"], "rate_left")
        idle = np.broadcast_to(0.0, a["reaction"].shape)

        def by_contact(array: NDArray[Any] | Pieces, unit: str) -> Columns:
            return Columns("contact", system.contact_names, array, [unit] * len(system.contact_names))

        names, v_units, r_units = system.names, system.names.v_units, system.names.reaction_units
        impulse_units = [f"{unit} s" for unit in r_units]
        return Trajectory(
            t=a["t"],
            q=Columns("coordinate", names.q, a["q"], names.q_units),
            v=Columns("velocity", names.v, a["v"], v_units),
            left=Left(Columns("velocity", names.v, mostly(a["v"], "v_left"), v_units), by_contact(rate_left, "m/s")),
            gap=by_contact(a["gap"], "m"),
            gap_rate=by_contact(a["rate"], "m/s"),
            P_N=by_contact(a["P_N"], "N s"),
            P_T=by_contact(by_tangent(a["P_T"], system), "N s"),
            lam_N=by_contact(lam_N, "N"),
            mode=by_contact(a["mode"], "1"),
            reaction=Columns("reaction", names.reactions, a["reaction"], r_units),
            reaction_impact=Columns("reaction", names.reactions, mostly(idle, "reaction_impact"), impulse_units),
            energy=Columns("energy term", ENERGIES, energies, ["J"] * len(ENERGIES)),
            impacts=table,
            certificate=certificate,
            counts=plain(counts),
            manifest=self.manifest,
            status=status,
            end=replace(end, gap=np.array(a["gap"][rows - 1 :])[0]),
            wall_seconds=float(wall_seconds),
            force_axes=ForceAxes(system, parameters, a["q"], lam_N, lam_T),
            origin=Origin(system, parameters, self._start),
            verdict=verdict,
            jumps=jumps,
        )
