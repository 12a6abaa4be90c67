"""From accepted steps to a trajectory with its certificate."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.seen import Observe, observed_by
from nonsmooth.model.state import State
from nonsmooth.trajectory.certificate import ENERGIES, Certificate, energy_ledger
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trajectory.contact_forces import ForceAxes, by_tangent
from nonsmooth.trajectory.instants import Origin
from nonsmooth.trajectory.thinning import ARRAYS, SCALARS, Part, Thinned
from nonsmooth.trajectory.trajectory import IMPACT_COLUMNS, Left, Trajectory, impact_table
from nonsmooth.trajectory.verdict import first_verdict

if TYPE_CHECKING:
    from nonsmooth.model.system import System
    from nonsmooth.steppers.base import Step

__all__ = ["Recorder"]

#: rows that wait, at least, until those between the recorded ones are omitted; rows evaluated at once
WAITING, AT_ONCE = 1000, 4096


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
        impacts, energies and the certificate cover all steps. The rows between are omitted during the run, so that its
        memory is that of the kept rows, of one group of `record` rows, and of `WAITING`.
    observe
        Evaluates rows; by default with the functions of the system. If a compiled loop provides it, it must not use the
        memory of the steps.
    """

    def __init__(
        self, system: System, manifest: Mapping[str, Any], parameters: Array | None = None, *, record: int = 1,
        observe: Observe | None = None,
    ) -> None:  # fmt: skip
        self.system, self.manifest, self.record = system, manifest, record
        self.parameters = system.parameter_values if parameters is None else np.asarray(parameters, float)
        self.observe = observe
        # what Ctrl-C may interrupt is replaced at once: the rows of the first steps, thinned, and those that follow
        self._rows: tuple[Thinned, list[Part]] = (Thinned(record), [])
        self._made: Thinned | None = None  # of all rows, as far as `finish` has come
        self._count = 0
        self._widths: list[int] = []  # of the arrays of a step, which are concatenated in a row
        self._start: State | None = None
        self._end: State | None = None
        self._compiled = False

    def __len__(self) -> int:
        """Number of rows so far, before any are omitted."""
        return self._count

    def start(self, state: State, impact: Step | None = None) -> None:
        """Row 0: the state, which is the right limit of `impact` where the start is one."""
        if self._end is not None:
            raise InputError("The trajectory has been started already.")
        self._rows, self._count, self._start = (Thinned(self.record), []), 0, state
        if impact is not None:
            self._add(state, _arrays(impact), _scalars(impact))
            return
        none, still, idle = (np.zeros(size) for size in (self.system.nc, self.system.nt, self.system.nr))
        open_, stored = none.astype(np.int8), float(np.sum(state.law_memory.get("stored", 0.0)))
        scalars = (*(0.0,) * (len(SCALARS) - 1), stored)
        self._add(state, (state.v, none, none, still, still, open_, none, none, idle, idle), scalars)

    def append(self, step: Step) -> None:
        """One accepted step."""
        self._add(step.state, _arrays(step), _scalars(step))

    def extend(self, times: Array, rows: Array, scalars: Array, end: State) -> None:
        """Many accepted steps: their ends, q, v and `ARRAYS` side by side, `SCALARS`, the state after them."""
        self._compiled = True
        self._thin_out()
        self._rows[1].append((times, rows, scalars))
        self._end = end
        self._count += times.size

    def whole(self) -> State | None:
        """The last state, without rows that Ctrl-C left incomplete; None if there is none."""
        if self._end is None:
            return None
        thinned, parts = self._rows
        while len(parts) > 1 and parts[-1][0][-1] != self._end.t:
            parts.pop()
        self._count = thinned.count + sum(times.size for times, _, _ in parts)
        return self._end

    def _tables(self) -> Part:
        """All rows that are not thinned yet."""
        times, rows, scalars = (np.concatenate(part) for part in zip(*self._rows[1], strict=True))
        return times, rows, scalars

    def _thin_out(self) -> None:
        """Omit rows between the recorded ones, once many wait; the last part waits, since a checkpoint may be of the
        state before it."""
        thinned, parts = self._rows
        # rows of a compiled loop are evaluated by its own functions, where they are known only at the end of the run
        if self.record == 1 or (self._compiled and self.observe is None):
            return
        waiting = self._count - thinned.count
        if waiting < WAITING + self.record:
            return
        n = thinned.end(self._count - parts[-1][0].size) - thinned.count
        if n > 0:
            tables = self._tables()
            ready: Part = (tables[0][:n], tables[1][:n], tables[2][:n])
            rest: Part = (tables[0][n:].copy(), tables[1][n:].copy(), tables[2][n:].copy())
            thinned = thinned.extended(ready, self._widths, self.system, self.parameters, self._observed())
            self._rows = (thinned, [rest])

    def _observed(self) -> Observe:
        return self.observe or observed_by(self.system, self.parameters)

    def held(self, n: int) -> dict[str, Any]:
        """The first n rows, for a checkpoint."""
        thinned, waiting = self._rows[0], n - self._rows[0].count
        times, rows, scalars = (table[:waiting] for table in self._tables())
        return {
            "times": times, "rows": rows, "widths": list(self._widths), "scalars": scalars, "start": self._start,
            "thinned": thinned.held(),
        }  # fmt: skip

    def hold(self, held: Mapping[str, Any], end: State) -> None:
        """Continue after the rows of a checkpoint, the last of which is `end`; ValueError if they do not match."""
        times, rows, scalars = held["times"], held["rows"], held["scalars"]
        widths = [int(width) for width in held["widths"]]
        system = self.system
        n, nq, nv, nc, nt, nr = times.size, system.nq, system.nv, system.nc, system.nt, system.nr
        if widths != [nq, nv, nv, nc, nc, nt, nt, nc, nc, nc, nr, nr] or not isinstance(held["start"], State):
            raise ValueError("its rows are those of another mechanism")
        if n < 1 or rows.shape != (n, sum(widths)) or scalars.shape != (n, len(SCALARS)) or times[-1] != end.t:
            raise ValueError("its rows are not complete")
        thinned = Thinned(self.record).holding(held["thinned"], system)
        self._widths, self._start, self._end = widths, held["start"], end
        self._rows, self._count = (thinned, [(times, rows, scalars)]), thinned.count + n

    def _reduced(self, observe: Observe) -> Thinned:
        """All rows, thinned; repeated after Ctrl-C, it continues where it was."""
        base, tables, n = self._rows[0], self._tables(), len(self)
        made = self._made or base
        portion = max(AT_ONCE // self.record, 1) * self.record
        while made.count < n:
            first, last = made.count - base.count, min(made.count + portion + (made.count == 0), n) - base.count
            part: Part = (tables[0][first:last], tables[1][first:last], tables[2][first:last])
            made = made.extended(part, self._widths, self.system, self.parameters, observe)
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
        system, parameters = self.system, self.parameters
        thinned = self._reduced(self.observe or observe or self._observed())
        a = thinned.table()
        assert thinned.worst is not None and thinned.least_gap is not None and thinned.extremes is not None
        energy = dict(zip(ENERGIES, a["energy"].T, strict=True))
        gap, joint, complementarity, motion = thinned.worst.tolist()
        certificate = Certificate(gap, joint, complementarity, motion, energy_ledger(energy))
        status, verdict = first_verdict(
            system, parameters, certificate, gap=thinned.least_gap[None],
            energy=dict(zip(ENERGIES, thinned.extremes.T, strict=True)), counts=counts, status=status,
        )  # fmt: skip
        impacts = thinned.all_impacts()
        numbers = dict(zip(IMPACT_COLUMNS, np.delete(impacts, 1, axis=1).T, strict=True))

        def by_contact(array: NDArray[Any], unit: str) -> Columns:
            return Columns("contact", system.contact_names, array, [unit] * len(system.contact_names))

        names, v_units, r_units = system.names, system.names.v_units, system.names.reaction_units
        impulse_units = [f"{unit} s" for unit in r_units]
        return Trajectory(
            t=a["t"],
            q=Columns("coordinate", names.q, a["q"], names.q_units),
            v=Columns("velocity", names.v, a["v"], v_units),
            left=Left(Columns("velocity", names.v, a["v_left"], v_units), by_contact(a["rate_left"], "m/s")),
            gap=by_contact(a["gap"], "m"),
            gap_rate=by_contact(a["rate"], "m/s"),
            P_N=by_contact(a["P_N"], "N s"),
            P_T=by_contact(by_tangent(a["P_T"], system), "N s"),
            lam_N=by_contact(a["lam_N"], "N"),
            mode=by_contact(a["mode"], "1"),
            reaction=Columns("reaction", names.reactions, a["reaction"], r_units),
            reaction_impact=Columns("reaction", names.reactions, a["reaction_impact"], impulse_units),
            energy=Columns("energy term", ENERGIES, a["energy"], ["J"] * len(ENERGIES)),
            impacts=impact_table([system.contact_names[int(i)] for i in impacts[:, 1]], numbers),
            certificate=certificate,
            counts=_plain(counts),
            manifest=_plain(self.manifest),
            status=status,
            end=self._end,
            wall_seconds=float(wall_seconds),
            force_axes=ForceAxes(system, parameters, a["q"], a["lam_N"], a["lam_T"]),
            origin=Origin(system, parameters, self._start),
            verdict=verdict,
        )

    def _add(self, state: State, arrays: tuple[NDArray[Any], ...], scalars: tuple[float | None, ...]) -> None:
        parts = (state.q, state.v, *arrays)
        if not self._count:
            self._widths = [part.size for part in parts]
        self._thin_out()
        # works that the stepper does not know, None, are not numbers
        numbers = np.array([scalars], dtype=float)
        self._rows[1].append((np.array([state.t]), np.concatenate(parts)[None], numbers))
        self._end = state  # only the internal states of the last state are needed
        self._count += 1


_scalars: Callable[[Step], tuple[float | None, ...]] = attrgetter(*SCALARS)
_arrays: Callable[[Step], tuple[NDArray[Any], ...]] = attrgetter(*ARRAYS)


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values as read from a file, so that a run and its file are identical."""
    result: dict[str, Any] = json.loads(json.dumps(data, default=_plain_value))
    return result


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
