"""From accepted steps to a trajectory with its certificate, wherever a run ends."""

import functools
import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.rows import AT_JUMPS, cut, following, joined
from nonsmooth.exceptions import InputError
from nonsmooth.files import Pieces
from nonsmooth.model.state import State
from nonsmooth.model.system import Observe, System, observe
from nonsmooth.trajectory.certificate import ENERGIES, Certificate, EnergyLedger
from nonsmooth.trajectory.columns import (
    IMPACT_COLUMNS,
    KEPT_ENERGIES,
    Columns,
    Energies,
    ForceAxes,
    Left,
    MeanForces,
    SparseOverride,
    are_rows,
    bounds,
    by_tangent,
    impact_table,
)
from nonsmooth.trajectory.decimation import ARRAYS, SCALARS, DecimatedRows, Jump, Part, shapes_of
from nonsmooth.trajectory.instants import Origin
from nonsmooth.trajectory.store import Store
from nonsmooth.trajectory.trajectory import Trajectory
from nonsmooth.trajectory.verdict import first_verdict

#: share of the largest impulse of a step below which that of an impact is round-off
ROUND_OFF = 1e-9

#: rows that wait, at least, until they are evaluated and those between the recorded ones are omitted; rows evaluated at
#: once
WAITING, AT_ONCE = 1000, 2**15
#: parts that do not follow each other in memory, of which more are joined before they are evaluated
SCATTERED = 64
#: bytes that are set aside for the end of a run, which lack of memory may cause: for its rows, and then for its result;
#: half of each where there is no more, but not below the last number
SET_ASIDE, SMALLEST = (80 * 2**20, 10 * 2**20), 3 * 2**20


class Manifest(Mapping[str, Any]):
    """Plain data, made when it is first read: that of a large mechanism takes longer than a few steps."""

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._make = make

    @cached_property
    def data(self) -> dict[str, Any]:
        return _plain(self._make())

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return repr(self.data)

    def __reduce__(self) -> Any:
        return dict, (self.data,)


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values as read from a file, so that a run and its file are identical."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        return value.tolist() if hasattr(value, "tolist") else str(value)

    return dict(json.loads(json.dumps(data, default=plain)))


def bytes_of_row(system: System) -> int:
    """Most bytes of a recorded row in which nothing jumps."""
    numbers = 1 + system.nq + system.nv + 3 * system.nc + system.nt + system.nr + len(KEPT_ENERGIES)
    return 8 * numbers + system.nc


@functools.cache
def _keep_freed_memory() -> None:
    """Make the allocator of glibc keep freed memory, once. It gives back what exceeds twice the largest piece ever
    freed, up to 32 MB, and to get it again costs a third of a run of 10^4 steps. This piece is never written."""
    np.empty(31 * 2**17)


def _set_aside(size: int) -> NDArray[np.uint8] | None:
    """Memory that is not used, for the end of a run; None where there is none."""
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
    manifest : plain data (numbers, strings, lists, mappings) with which the run can be repeated
    parameters : parameter values of the run, in the system's order; those of the system by default
    record
        Keep every `record`-th row, and the last one; rows are evaluated, and those between omitted, during the run.
        Impulses of the rows between are added up, forces averaged; impacts, energies and the certificate cover all.
    observe : evaluates rows, without the memory of the steps; by default with the functions of the system
    expected : number of steps that the run has at least
    constant
        Whether steps are constant, with which velocity-level schemes have impulses of impacts in lasting contacts,
        which are not recorded as impacts.
    """

    #: makes `observe` when rows are first evaluated during the run
    viewer: Callable[[], Observe] | None = None

    def __init__(
        self, system: System, manifest: Mapping[str, Any], parameters: Array | None = None, *, record: int = 1,
        observe: Observe | None = None, expected: int = 0, constant: bool = False,
    ) -> None:  # fmt: skip
        _keep_freed_memory()
        self.system, self.record, self._expected, self._constant = system, record, 1 + expected // record, constant
        self.manifest = manifest if isinstance(manifest, Manifest) else Manifest(lambda: manifest)
        self.parameters = system.parameter_values if parameters is None else np.asarray(parameters, float)
        self.observe = observe
        # what Ctrl-C may interrupt is replaced at once: the rows of the first steps, decimated, and those that follow
        self._rows: tuple[DecimatedRows, list[Part]] = (self._no_rows(), [])
        self._known: tuple[int, State] | None = None  # so many rows lead to this state, which may be handed over
        self._before: State | None = None  # the state before the rows of the last part
        self._aside = [_set_aside(size) for size in SET_ASIDE]
        self._made: DecimatedRows | None = None  # of all rows, as far as `finish` has come
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
        if impact is None:  # the row of a state without impulses
            shapes = shapes_of((*ARRAYS, *SCALARS), 1, self.system) | shapes_of(AT_JUMPS, 0, self.system)
            kinds = {"mode": np.int8, "row": np.intp}
            impact = {name: np.zeros(shape, kinds.get(name, float)) for name, shape in shapes.items()}
            impact |= {"t": np.array([state.t]), "q": state.q[None].copy(), "v": state.v[None].copy()}
            impact["stored"] = np.array([float(np.sum(state.memory.get("Integration.stored", 0.0)))])
        self._rows, self._count, self._start, self._end = (self._no_rows(), [impact]), 1, state, state

    def _no_rows(self) -> DecimatedRows:
        return DecimatedRows(self.record, self._constant, store=Store(self._expected))

    def extend(self, rows: Part, end: State) -> None:
        """Accepted steps, and the state after them."""
        self._evaluate_waiting()
        self._rows[1].append(rows)
        self._before, self._end = self._end, end
        self._count += rows["t"].size

    def whole(self) -> State | None:
        """The last state, without rows that Ctrl-C left incomplete; None if there is none."""
        if self._end is None:
            return None
        evaluated, parts = self._rows
        while len(parts) > 1 and parts[-1]["t"][-1] != self._end.t:
            parts.pop()
        self._count = evaluated.count + sum(part["t"].size for part in parts)
        return self._end

    def _evaluate_waiting(self) -> None:
        """Evaluate rows, and omit those between the recorded ones, once many wait, and of these not the last part."""
        evaluated, parts = self._rows  # a checkpoint may be of the state before the last part
        waiting = self._count - evaluated.count
        few = waiting < (AT_ONCE if self.record == 1 else WAITING + self.record)
        if few or self.observe is None and self.viewer is None:
            return
        known, observe = self._count - parts[-1]["t"].size, self._observed()
        if self.record == 1:
            ready, rest = following(parts[:-1]), parts[-1]
            if len(ready) > SCATTERED:
                ready = [joined(ready)]
        else:
            tables, n = joined(parts), evaluated.end(known) - evaluated.count
            ready = [cut(tables, 0, n)] if n > 0 else []
            rest = {name: values.copy() for name, values in cut(tables, n, len(tables["t"])).items()}
        for part in ready:
            evaluated = evaluated.extended(part, self.system, self.parameters, observe)
        if ready:
            self._rows = (evaluated, [rest])
            if self._before is not None and evaluated.count == known:
                self._known = known, self._before

    def _observed(self) -> Observe:
        if self.observe is None and self.viewer is not None:
            self.observe = self.viewer()
        return self.observe or functools.partial(observe, self.system, self.parameters)

    def saved_state(self, n: int) -> dict[str, Any]:
        """The first n rows, for a checkpoint."""
        evaluated, parts = self._rows
        rows = cut(joined(parts), 0, n - evaluated.count)
        return {"rows": rows, "start": self._start, "thinned": evaluated.saved_state()}

    def restore(self, saved: Mapping[str, Any], end: State) -> None:
        """Continue after the rows of a checkpoint, the last of which is `end`; ValueError if they do not match."""
        rows, start = dict(saved["rows"]), saved["start"]
        n, jumps = rows["t"].size, rows["row"]
        shapes = shapes_of(("t", "q", "v", *ARRAYS, *SCALARS), n, self.system)
        shapes |= shapes_of(AT_JUMPS, jumps.size, self.system)
        if {name: np.shape(values) for name, values in rows.items()} != shapes or not isinstance(start, State):
            raise ValueError("its rows are those of another mechanism")
        if not are_rows(jumps, n):
            raise ValueError("its jumps are not at its rows")
        if n < 1 or rows["t"][-1] != end.t:
            raise ValueError("its rows are not complete")
        evaluated = self._no_rows().restored(saved["thinned"], self.system)
        self._start, self._before, self._end = start, None, end
        self._rows, self._count = (evaluated, [rows]), evaluated.count + n

    def _evaluate_all(self, observe: Observe, at_once: int = AT_ONCE) -> DecimatedRows:
        """All rows, decimated; repeated after Ctrl-C, it continues where it was."""
        (base, parts), n = self._rows, len(self)
        tables, made = joined(parts), self._made or base
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
        """The trajectory of the recorded steps, with its certificate."""
        if self._end is None:
            raise InputError("The trajectory has not been started.")
        self.whole()
        del self._aside[:1]
        system, parameters, end = self.system, self.parameters, self._end
        observe = self.observe or observe or self._observed()
        try:
            try:
                rows = self._evaluate_all(observe)
            except MemoryError as error:
                traceback.clear_frames(error.__traceback__)
                rows = self._evaluate_all(observe, WAITING)
        except MemoryError:
            rows = self._rows[0]
            if self._known is None or self._known[0] != rows.count:
                raise
            end = self._known[1]
            lost = f"for lack of memory the rows after t = {end.t:.9g} s are missing."
            status = f"{status} {lost.capitalize()}" if status != "finished" else f"failed: {lost}"
        self._aside.clear()
        a, at_jumps = rows.tables()
        assert rows.worst is not None and rows.least_gap is not None and rows.extremes is not None
        assert rows.balance is not None
        energies = Energies({name: a[name] for name in KEPT_ENERGIES}, rows.balance.start)
        first, last = (dict(zip(ENERGIES, energies[k : k + 1][0].tolist(), strict=True)) for k in (0, len(a["t"]) - 1))
        kinetic_start = first["kinetic"] + first["loss_impacts"] - first["work_drivers"]
        ledger = EnergyLedger(kinetic_start=kinetic_start, potential_start=first["potential"], **last)
        gap, joint, complementarity, motion = rows.worst.tolist()
        certificate = Certificate(gap, joint, complementarity, motion, ledger)
        impulse = float(np.max(bounds(a["P_N"])[1], initial=0.0))
        status, verdict = first_verdict(
            system, parameters, certificate, q=a["q"], gap=rows.least_gap[None],
            energy=dict(zip(ENERGIES, rows.extremes.T, strict=True)), counts=counts, status=status,
            t=a["t"], v=a["v"], impulse=impulse,
        )  # fmt: skip
        impacts = np.concatenate(rows.impacts)
        impacts = impacts[impacts[:, 2] > ROUND_OFF * impulse]
        numbers = dict(zip(IMPACT_COLUMNS, np.delete(impacts, (1, 6), axis=1).T, strict=True))
        table = impact_table([system.contact_names[int(i)] for i in impacts[:, 1]], numbers)
        jumps = table[impacts[:, 6] > 0.0]
        if jumps.size and verdict.kind != "incomplete":
            verdict = replace(verdict, text=f"{Jump.first(jumps).text}; {verdict.text}")
        return self._trajectory(
            a, at_jumps, end, energy=Columns("energy term", ENERGIES, energies, ["J"] * len(ENERGIES)), impacts=table,
            jumps=jumps, certificate=certificate, counts=_plain(counts), status=status, verdict=verdict,
            wall_seconds=float(wall_seconds),
        )  # fmt: skip

    def _trajectory(self, a: Part, at_jumps: Part, end: State, **results: Any) -> Trajectory:
        """The trajectory of these rows, whose other tables are computed when they are read."""
        system, names = self.system, self.system.names

        def override(usual: NDArray[Any] | Pieces, name: str) -> SparseOverride:
            return SparseOverride(usual, at_jumps["row"], at_jumps[name])

        length = a.get("dt")
        lam_N = override(MeanForces(a["P_N"], a["t"], length), "lam_N")
        lam_T = override(MeanForces(a["P_T"], a["t"], length), "lam_T")
        reaction_impact = override(np.broadcast_to(0.0, a["reaction"].shape), "reaction_impact")
        v_left, rate_left = override(a["v"], "v_left"), override(a["rate"], "rate_left")

        def by_contact(array: NDArray[Any] | Pieces, unit: str) -> Columns:
            return Columns("contact", system.contact_names, array, [unit] * len(system.contact_names))

        impulse_units = [f"{unit} s" for unit in names.reaction_units]
        return Trajectory(
            t=a["t"],
            q=Columns("coordinate", names.q, a["q"], names.q_units),
            v=Columns("velocity", names.v, a["v"], names.v_units),
            left=Left(Columns("velocity", names.v, v_left, names.v_units), by_contact(rate_left, "m/s")),
            gap=by_contact(a["gap"], "m"), gap_rate=by_contact(a["rate"], "m/s"), P_N=by_contact(a["P_N"], "N s"),
            P_T=by_contact(by_tangent(a["P_T"], system), "N s"), lam_N=by_contact(lam_N, "N"),
            mode=by_contact(a["mode"], "1"),
            reaction=Columns("reaction", names.reactions, a["reaction"], names.reaction_units),
            reaction_impact=Columns("reaction", names.reactions, reaction_impact, impulse_units),
            manifest=self.manifest, end=replace(end, gap=np.array(a["gap"][len(a["t"]) - 1 :])[0]),
            force_axes=ForceAxes(system, self.parameters, a["q"], lam_N, lam_T),
            origin=Origin(system, self.parameters, self._start), **results,
        )  # fmt: skip
