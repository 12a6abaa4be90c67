"""Files of long runs: without the tables that follow from others, which are computed when they are read.

A file of more than `LONG` rows has of the left limits, mean forces and impulses of joints at impacts only the rows in
which they do not follow from the other tables (``jump.row`` and ``jump.v_left``, ...), a constant energy as one number
(``energy.work_loads``, ...), not the remainder, and not the vectors of contact forces in space, which require the
mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nonsmooth.files import Variable
from nonsmooth.trajectory.contact_forces import by_row
from nonsmooth.trajectory.derived import KEPT_ENERGIES, Energies, Mean, Mostly

__all__ = ["LONG", "NAMES", "complete", "shortened"]

#: rows of a file from which on it has no tables that follow from others
LONG = 10**6
#: by table the one that it follows from, and the dimensions of its rows
JUMPING = {
    "v_left": ("v", ("velocity",)), "gap_rate_left": ("gap_rate", ("contact",)), "lam_N": ("P_N", ("contact",)),
    "lam_T": ("P_T", ("contact", "tangent")), "reaction_impact": ("reaction", ("joint_force",)),
}  # fmt: skip
#: data sets of such files besides those of others, as a regular expression
NAMES = rf"step|jump|jump\.(row|{'|'.join(JUMPING)})|energy\.(start|{'|'.join(KEPT_ENERGIES)})"


def shortened(data: Mapping[str, Variable], lam_T: Any) -> dict[str, Variable]:
    """The data sets of a long file from those of a complete one; the same where there is nothing to leave out.

    Parameters
    ----------
    lam_T : mean tangential forces in space (n, nt) [N], if there are any
    """
    known = {name: data[name] for name in JUMPING if name in data}
    tables = {name: values for name, (_, values, _) in known.items()}
    energy = data["energy"][1]
    if not all(isinstance(one, Mostly) for one in tables.values()) or not isinstance(energy, Energies):
        return dict(data)
    found = {name: one for name, one in data.items() if name not in (*JUMPING, "energy", "contact_force")}
    facts = {name: facts for name, (_, _, facts) in known.items()}
    if isinstance(lam_T, Mostly):
        tables["lam_T"], facts["lam_T"] = lam_T, {"units": "N", "long_name": "mean tangential force of the step"}
    at = tables["v_left"].at
    found["jump.row"] = ("jump",), at, {"long_name": "rows in which tables do not follow from others"}
    for name, one in tables.items():
        dimensions = JUMPING[name][1]
        shape = (at.size, *data[JUMPING[name][0]][1].shape[1:])
        found[f"jump.{name}"] = ("jump", *dimensions), one.values.reshape(shape), facts[name]
    length = tables["lam_N"].usual.length
    if length is not None:
        found["step"] = ("time",), length, {"units": "s", "long_name": "length of the steps of a row"}
    for name, values in energy.kept.items():
        constant = values.strides == (0,)
        found[f"energy.{name}"] = (() if constant else ("time",)), values[0] if constant else values, {"units": "J"}
    found["energy.start"] = (), np.array(energy.start), data["energy"][2]
    return found


def complete(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """The data sets of a complete file from those of a long one, which are computed when they are read; the others as
    they are.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    if "jump.row" not in variables:
        return dict(variables)
    found = {
        name: one for name, one in variables.items() if not name.startswith(("jump", "energy.")) and name != "step"
    }
    rows, t = len(variables["time"][1]), variables["time"][1]
    _, at, _ = variables["jump.row"]
    if at.dtype != np.int64 or at.ndim != 1 or np.any(np.diff(at, prepend=-1) < 1) or np.any(at >= rows):
        raise ValueError("jump.row is not a list of rows")
    length = variables["step"][1] if "step" in variables else None
    for name, (follows, dimensions) in JUMPING.items():
        if f"jump.{name}" not in variables:
            continue
        known, values, facts = variables[f"jump.{name}"]
        base = variables[follows][1]
        if known != ("jump", *dimensions) or values.dtype != float or values.shape != (at.size, *base.shape[1:]):
            raise ValueError(f"jump.{name} does not fit {follows}")
        usual: Any = base
        if name in ("lam_N", "lam_T"):
            usual = Mean(by_row(base), t, length)
        if name == "reaction_impact":
            usual = np.broadcast_to(0.0, base.shape)
        found[name] = ("time", *dimensions), Mostly(usual, at, by_row(values)), facts
    kept = {}
    for name in KEPT_ENERGIES:
        dimensions, values, _ = variables[f"energy.{name}"]
        if dimensions not in ((), ("time",)):
            raise ValueError(f"energy.{name} is no energy at the rows")
        kept[name] = np.broadcast_to(np.asarray(values, float), (rows,))
    _, start, facts = variables["energy.start"]
    found["energy"] = ("time", "energy_term"), Energies(kept, float(start)), facts
    return found
