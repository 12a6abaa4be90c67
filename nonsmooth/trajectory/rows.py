"""A trajectory from complete tables of rows, as written by compiled loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.trajectory.certificate import Certificate, energy_ledger
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trajectory.contact_forces import ForceAxes
from nonsmooth.trajectory.instants import Origin
from nonsmooth.trajectory.recorder import _plain
from nonsmooth.trajectory.trajectory import Left, Trajectory, impact_table
from nonsmooth.trajectory.verdict import first_verdict

if TYPE_CHECKING:
    from nonsmooth.model.system import System

__all__ = ["Rows", "trajectory_of_rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Tables with one row per recorded step; impulses are sums over the steps of a row.

    `dt` (n,) [s] is the length of these steps together. `energy` maps the names of a trajectory's energies, without the
    remainder, to columns (n,); those of works and losses are cumulative over all steps. `impacts` (k, 6) holds t, the
    index of the contact, P_N, P_T, gamma- and gamma+. `worst` are gap violation, joint violation, complementarity and
    motion residual over all steps.
    """

    t: Array
    dt: Array
    q: Array
    v: Array
    v_left: Array
    gap: Array
    gap_rate: Array
    gap_rate_left: Array
    P_N: Array
    P_N_impact: Array
    P_T: Array
    mode: NDArray[np.int8]
    reaction: Array
    reaction_impact: Array
    energy: Mapping[str, Array]
    impacts: Array
    worst: tuple[float, float, float, float]


def trajectory_of_rows(
    system: System,
    rows: Rows,
    parameters: Array,
    *,
    manifest: Mapping[str, Any],
    counts: Mapping[str, Any],
    status: str,
    end: State,
    wall_seconds: float,
    start: State | None = None,
) -> Trajectory:
    """The trajectory of these rows; `start` has the internal states at the start of the run."""
    energy = dict(rows.energy)
    losses = sum(energy[name] for name in energy if name.startswith("loss_"))
    stored = energy["kinetic"] + energy["potential"]
    gained = energy["work_loads"] + energy["work_drivers"] - losses  # not 0 in row 0 where the start is an impact
    energy["remainder"] = stored - stored[0] - (gained - gained[0])
    contacts = [system.contact_names[int(i)] for i in rows.impacts[:, 1]]
    columns = dict(
        zip(("t", "P_N", "P_T", "gamma_minus", "gamma_plus"), rows.impacts[:, [0, 2, 3, 4, 5]].T, strict=True)
    )

    def by_contact(array: NDArray[Any], unit: str) -> Columns:
        return Columns("contact", system.contact_names, array, [unit] * len(system.contact_names))

    names, v_units, r_units = system.names, system.names.v_units, system.names.reaction_units
    smooth = rows.P_N - rows.P_N_impact
    force = np.divide(smooth, rows.dt[:, None], out=np.zeros_like(smooth), where=rows.dt[:, None] > 0.0)
    certificate = Certificate(*rows.worst, energy_ledger(energy))
    status, verdict = first_verdict(
        system, parameters, certificate, gap=rows.gap, energy=energy, counts=counts, status=status
    )
    # the impulse of a contact belongs to an impact or is zero, unless its gap closes within the step
    smooth_T = np.where(rows.P_N_impact > 0.0, 0.0, rows.P_T)
    friction = np.divide(smooth_T, rows.dt[:, None], out=np.zeros_like(smooth_T), where=rows.dt[:, None] > 0.0)
    axes = ForceAxes(system, parameters, rows.q, force, friction)
    return Trajectory(
        t=rows.t,
        q=Columns("coordinate", names.q, rows.q, names.q_units),
        v=Columns("velocity", names.v, rows.v, v_units),
        left=Left(Columns("velocity", names.v, rows.v_left, v_units), by_contact(rows.gap_rate_left, "m/s")),
        gap=by_contact(rows.gap, "m"),
        gap_rate=by_contact(rows.gap_rate, "m/s"),
        P_N=by_contact(rows.P_N, "N s"),
        P_T=by_contact(rows.P_T, "N s"),
        lam_N=by_contact(force, "N"),
        mode=by_contact(rows.mode, "1"),
        reaction=Columns("reaction", names.reactions, rows.reaction, r_units),
        reaction_impact=Columns("reaction", names.reactions, rows.reaction_impact, [f"{unit} s" for unit in r_units]),
        energy=Columns("energy term", tuple(energy), np.column_stack(list(energy.values())), ["J"] * len(energy)),
        impacts=impact_table(contacts, columns),
        certificate=certificate,
        counts=_plain(counts),
        manifest=_plain(manifest),
        status=status,
        end=end,
        wall_seconds=float(wall_seconds),
        force_axes=axes,
        origin=Origin(system, parameters, start),
        verdict=verdict,
    )
