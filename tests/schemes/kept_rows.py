"""Rows of runs with compliant contact that another formulation of the same scheme computed.

`assets/compliant.npz` has rows (t, q, v, impulses, gaps, energies, reactions, modes), sizes of whole columns, counts
and certificates of runs of `CompliantDae(solver=Dop853())` whose equations of motion were assembled as expressions of
the whole mechanism, and whose steps SciPy took: by a formulation in Python beside the compiled text, to which both
agreed when it was given up.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from nonsmooth import CompliantDae, Dop853, ErrorControl, Trajectory, simulate
from nonsmooth.model.system import System

KEPT = Path(__file__).parent / "assets" / "compliant.npz"
STEPPER = CompliantDae(solver=Dop853())
TABLES = ("q", "v", "P_N", "P_T", "gap", "gap_rate", "reaction", "energy", "lam_N")
#: terms of the balance of energy in certificates
TERMS = ("kinetic", "potential", "kinetic_start", "potential_start", "loss_contact", "loss_friction", "loss_damping",
         "work_loads", "work_drivers", "loss_impacts", "remainder")  # fmt: skip


@cache
def everything() -> dict[str, np.ndarray]:
    """All numbers by key; in the file they are one column, whose parts `keys` names with their shapes."""
    with np.load(KEPT) as known:
        keys, numbers = json.loads(str(known["keys"])), known["numbers"]
    ends = np.cumsum([int(np.prod(shape)) for _, shape in keys])
    parts = np.split(numbers, ends[:-1])
    return {key: part.reshape(shape) for (key, shape), part in zip(keys, parts, strict=True)}


def kept(name: str) -> SimpleNamespace:
    """What is kept of a run: `rows`, `t`, each table at these rows, `scale` of each table's columns, `mode`, `peak`
    forces, `counts` of steps and evaluations, `certificate` (gap, joint, motion, complementarity), `energy_terms`, and
    `switches` (time, contact) of modes."""
    found = {key.removeprefix(f"{name}/"): value for key, value in everything().items() if key.startswith(f"{name}/")}
    if not found:
        raise LookupError(f"no rows of {name!r} are kept")
    scale = {table: found[f"scale/{table}"] for table in TABLES}
    found["rows"] = found["rows"].astype(int)
    return SimpleNamespace(**{key: value for key, value in found.items() if "/" not in key}, scale=scale)


def difference(run: Trajectory, known: SimpleNamespace, table: str, floor: float = 1e-3) -> float:
    """Largest difference of a table at the kept rows over the size of its column, at least `floor` of the table's."""
    ours, theirs, scale = getattr(run, table).array[known.rows], getattr(known, table), known.scale[table]
    if not theirs.size:
        return 0.0
    if table == "energy":  # the remainder is a difference of the others
        ours, theirs, scale = ours[:, :-1], theirs[:, :-1], scale[:-1]
    scale = np.maximum(np.maximum(scale, floor * np.max(scale)), 1e-300)
    return float(np.max(np.abs(ours - theirs) / scale))


def switches(run: Trajectory) -> np.ndarray:
    """Times at which modes change, and contacts (n, 2)."""
    rows, contacts = np.nonzero(np.diff(run.mode.array, axis=0))
    return np.column_stack([run.t[rows + 1], contacts])


def beside(
    name: str, system: System, t_end: float, dt: ErrorControl, scheme: CompliantDae = STEPPER, **run: Any
) -> tuple[Trajectory, SimpleNamespace]:
    """A run, and what is kept of it."""
    return simulate(system, scheme, t_end=t_end, dt=dt, **run), kept(name)
