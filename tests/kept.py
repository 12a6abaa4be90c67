"""Columns of runs that another implementation of the same equations, in NumPy, computed before it was given up.

Of each column the mean, with weights that grow from 1 to 2 over the rows, and the largest absolute value are kept, with
14 digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

TABLES = ("q", "v", "gap", "gap_rate", "mode", "P_N", "P_T", "lam_N", "reaction", "reaction_impact", "energy")
IMPACTS = ("t", "P_N", "P_T", "gamma_minus", "gamma_plus")
ENERGIES = ("kinetic_start", "kinetic", "loss_impacts", "loss_friction", "loss_damping", "work_drivers", "remainder")
KEPT = Path(__file__).with_name("kept_columns.json")


def columns(run: Any) -> dict[str, list[list[float]]]:
    """Mean and largest value of each column, by table."""
    tables = {"t": run.t[:, None], "left": run.left.v.array}
    tables |= {name: getattr(run, name).array for name in TABLES}
    for name in IMPACTS:
        tables[f"impacts {name}"] = np.array([np.atleast_1d(row) for row in run.impacts[name]], dtype=float)
    tables["account"] = np.array([[getattr(run.certificate.energy, name) for name in ENERGIES]])
    found = {}
    for name, values in tables.items():
        if values.size:
            table = values.reshape(len(values), -1)  # in space, friction has two columns per contact
            weights = np.linspace(1.0, 2.0, len(table))
            rows = np.array([weights @ table / len(table), np.max(np.abs(table), axis=0)])
            found[name] = [[float(f"{value:.14g}") for value in row] for row in rows]
    return found


def differences(run: Any, case: str) -> dict[str, float]:
    """By table, the largest difference from the kept run: as a share of the size of its column, which counts as at
    least a hundredth of its table, or for what may be round-off, of the quantity that it is the round-off of. Which
    approaches within steps of one length count as impacts is not compared: there it was another rule."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[case]
    counted = not str(run.manifest["settings"]["dt"]).startswith("ConstantStep")
    assert len(run.t) - 1 == kept["steps"] and (not counted or [*run.impacts["contact"]] == kept["struck"])
    ours, theirs = columns(run), {name: np.array(rows) for name, rows in kept["columns"].items()}
    if not counted:
        ours, theirs = ({name: rows for name, rows in of.items() if "impact" not in name} for of in (ours, theirs))
    assert ours.keys() == theirs.keys()
    largest = {name: float(np.max(np.abs(rows), initial=0.0)) for name, rows in theirs.items()}
    pushed, fastest = largest.get("P_N", 0.0), largest["v"]
    floors = {
        "gap": 1e-5 * largest["q"],
        "gap_rate": fastest,
        "P_T": pushed,
        "impacts P_T": pushed,
        "reaction_impact": pushed,
    }
    floors |= {"impacts gamma_minus": fastest, "impacts gamma_plus": fastest}
    found = {}
    for name, rows in theirs.items():
        scale = np.maximum(rows[1], max(1e-2 * largest[name], floors.get(name, 0.0), 1e-300))
        found[name] = float(np.max(np.abs(np.array(ours[name]) - rows) / scale))
    return found


def beyond(run: Any, case: str, tolerance: float, looser: dict[str, float] | None = None) -> dict[str, float]:
    """Tables that differ from the kept ones by more than the tolerance, or than so many times it."""
    found = differences(run, case)
    return {name: one for name, one in found.items() if one > tolerance * (looser or {}).get(name, 1.0)}
