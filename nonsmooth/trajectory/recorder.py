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
from nonsmooth.trajectory.certificate import Certificate, energy_ledger, energy_series, worst_violation
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trajectory.contact_forces import ForceAxes, by_tangent, tangential_size
from nonsmooth.trajectory.instants import Origin
from nonsmooth.trajectory.trajectory import Left, Trajectory, impact_table
from nonsmooth.trajectory.verdict import first_verdict

if TYPE_CHECKING:
    from nonsmooth.model.system import System
    from nonsmooth.steppers.base import Step

__all__ = ["Recorder"]

#: rows of steps: their times (k,), concatenated arrays (k, width), scalars (k, scalars)
_Part = tuple[Array, Array, Array]


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
        impacts, energies and the certificate cover all steps.
    """

    def __init__(
        self, system: System, manifest: Mapping[str, Any], parameters: Array | None = None, *, record: int = 1
    ) -> None:
        self.system, self.manifest, self.record = system, manifest, record
        self.parameters = system.parameter_values if parameters is None else np.asarray(parameters, float)
        self._parts: list[_Part] = []
        self._count = 0
        self._widths: list[int] = []  # of the arrays of a step, which are concatenated in a row
        self._start: State | None = None
        self._end: State | None = None

    def __len__(self) -> int:
        """Number of rows so far, before any are omitted."""
        return self._count

    def start(self, state: State, impact: Step | None = None) -> None:
        """Row 0: the state, which is the right limit of `impact` where the start is one."""
        if self._end is not None:
            raise InputError("The trajectory has been started already.")
        self._parts, self._count, self._start = [], 0, state
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
        self._parts.append((times, rows, scalars))
        self._end = end
        self._count += times.size

    def whole(self) -> State | None:
        """The last state, without rows that Ctrl-C left incomplete; None if there is none."""
        if self._end is None:
            return None
        while len(self._parts) > 1 and self._parts[-1][0][-1] != self._end.t:
            self._parts.pop()
        self._count = sum(times.size for times, _, _ in self._parts)
        return self._end

    def _tables(self) -> _Part:
        """All rows."""
        times, rows, scalars = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return times, rows, scalars

    def held(self, n: int) -> dict[str, Any]:
        """The first n rows, for a checkpoint."""
        times, rows, scalars = (table[:n] for table in self._tables())
        return {
            "times": times, "rows": rows, "widths": list(self._widths), "scalars": scalars, "start": self._start,
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
        self._widths, self._start, self._end = widths, held["start"], end
        self._parts, self._count = [(times, rows, scalars)], n

    def finish(
        self, counts: Mapping[str, Any], wall_seconds: float, status: str, observe: Observe | None = None
    ) -> Trajectory:
        """The trajectory of the recorded steps, with its certificate; `observe` computes gaps, violations and
        energies."""
        if self._end is None:
            raise InputError("The trajectory has not been started.")
        self.whole()
        system, parameters = self.system, self.parameters
        n, columns = len(self), np.cumsum(self._widths[:-1])
        t, rows, numbers = self._tables()
        arrays = (np.ascontiguousarray(part) for part in np.split(rows, columns, axis=1))
        (q, v, v_left, P_N, P_N_impact, P_T, P_T_impact, mode, gamma_minus, gamma_plus, reaction,
         reaction_impact) = arrays  # fmt: skip
        mode = mode.astype(np.int8)
        scalars = dict(zip(SCALARS, numbers.T, strict=True))
        dt = scalars["dt"]
        seen = (observe or observed_by(system, parameters))(t, q, v_left, v)
        gap, rate_left, rate = seen.gap, seen.rate_left, seen.rate
        energy = energy_series(t, seen.left, seen.right, {name: scalars[name] for name in SCALARS[3:]})
        certificate = Certificate(
            gap_violation=worst_violation(-gap),
            joint_violation=worst_violation(seen.closure),
            complementarity=worst_violation(scalars["complementarity"]),
            motion_residual=worst_violation(scalars["residual"]),
            energy=energy_ledger(energy),
        )
        status, verdict = first_verdict(
            system, parameters, certificate, gap=gap, energy=energy, counts=counts, status=status
        )
        row, contact = np.nonzero(P_N_impact > 0.0)
        impacts = impact_table(
            [system.contact_names[i] for i in contact],
            {
                "t": t[row],
                "P_N": P_N_impact[row, contact],
                "P_T": tangential_size(P_T, system)[row, contact],
                "gamma_minus": gamma_minus[row, contact],
                "gamma_plus": gamma_plus[row, contact],
            },
        )
        kept = np.union1d(np.arange(0, n, self.record), [n - 1])
        spans = np.concatenate([[0], kept[:-1] + 1])  # first step of each recorded row

        def total(array: NDArray[Any]) -> NDArray[Any]:
            return np.add.reduceat(array, spans, axis=0) if self.record > 1 else array

        def mean(array: NDArray[Any]) -> NDArray[Any]:
            """Of impulses, over the time of their steps; 0 at a start."""
            time = total(dt)[:, None]
            return np.divide(total(array), time, out=np.zeros((len(kept), array.shape[1])), where=time > 0.0)

        lam_N = mean(P_N - P_N_impact)

        def by_contact(array: NDArray[Any], unit: str) -> Columns:
            return Columns("contact", system.contact_names, array, [unit] * len(system.contact_names))

        names, v_units, r_units = system.names, system.names.v_units, system.names.reaction_units
        impulse_units = [f"{unit} s" for unit in r_units]
        forces = reaction if self.record == 1 else mean(reaction * dt[:, None])
        series = np.column_stack([values[kept] for values in energy.values()])
        return Trajectory(
            t=t[kept],
            q=Columns("coordinate", names.q, q[kept], names.q_units),
            v=Columns("velocity", names.v, v[kept], v_units),
            left=Left(Columns("velocity", names.v, v_left[kept], v_units), by_contact(rate_left[kept], "m/s")),
            gap=by_contact(gap[kept], "m"),
            gap_rate=by_contact(rate[kept], "m/s"),
            P_N=by_contact(total(P_N), "N s"),
            P_T=by_contact(by_tangent(total(P_T), system), "N s"),
            lam_N=by_contact(lam_N, "N"),
            mode=by_contact(mode[kept], "1"),
            reaction=Columns("reaction", names.reactions, forces, r_units),
            reaction_impact=Columns("reaction", names.reactions, total(reaction_impact), impulse_units),
            energy=Columns("energy term", tuple(energy), series, ["J"] * len(energy)),
            impacts=impacts,
            certificate=certificate,
            counts=_plain(counts),
            manifest=_plain(self.manifest),
            status=status,
            end=self._end,
            wall_seconds=float(wall_seconds),
            force_axes=ForceAxes(system, parameters, q[kept], lam_N, mean(P_T - P_T_impact)),
            origin=Origin(system, parameters, self._start),
            verdict=verdict,
        )

    def _add(self, state: State, arrays: tuple[NDArray[Any], ...], scalars: tuple[float | None, ...]) -> None:
        parts = (state.q, state.v, *arrays)
        if not self._parts:
            self._widths = [part.size for part in parts]
        # works that the stepper does not know, None, are not numbers
        numbers = np.array([scalars], dtype=float)
        self._parts.append((np.array([state.t]), np.concatenate(parts)[None], numbers))
        self._end = state  # only the internal states of the last state are needed
        self._count += 1


#: numbers of a step: its length, its certificate, and what `energy_series` takes
SCALARS = (
    "dt", "residual", "complementarity", "work_drivers", "work_drivers_impact", "loss_friction", "work_loads",
    "loss_damping", "loss_contact", "stored",
)  # fmt: skip
#: arrays of a step, in this order after q and v in a row
ARRAYS = (
    "v_left", "P_N", "P_N_impact", "P_T", "P_T_impact", "mode", "gamma_minus", "gamma_plus", "reaction",
    "reaction_impact",
)  # fmt: skip
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
