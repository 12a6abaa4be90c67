"""A run as a table of one row per step, for pandas for CSV and for MAT files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of, write_bytes
from nonsmooth.settings import shown
from nonsmooth.trajectory.columns import Columns

if TYPE_CHECKING:
    import pandas

__all__ = ["CONTACTS", "KINDS", "columns_of", "table_of", "write_mat", "write_table"]

#: tables of a run that have one number per row and name
KINDS = ("q", "v", "gap", "gap_rate", "lam_N", "P_N", "P_T", "mode", "reaction", "reaction_impact", "energy")
#: columns of the table of contacts with their units
CONTACTS = {
    "contact": "", "kind": "", "start": "s", "end": "s", "approach": "m/s", "separation": "m/s", "impulse": "N s",
    "peak_force": "N", "depth": "m", "energy": "J",
}  # fmt: skip
#: those of `Trajectory.to_pandas` without a choice
USUAL = ("q", "v", "gap", "lam_N", "reaction", "energy")


def columns_of(trajectory: Any, kind: str) -> Columns:
    """The columns of a kind.

    Raises
    ------
    InputError
        For a kind that does not exist.
    """
    if kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} of columns; a run has {', '.join(KINDS)}.")
    found: Columns = getattr(trajectory, kind)
    return found


def table_of(trajectory: Any, kinds: Iterable[str] | None) -> pandas.DataFrame:
    """See `Trajectory.to_pandas`."""
    import pandas

    if kinds is not None and not isinstance(kinds, Iterable):
        raise InputError(f"kinds must be names of tables, as ['q', 'lam_N'], got {shown(kinds)}.")
    chosen = [kinds] if isinstance(kinds, str) else list(USUAL if kinds is None else kinds)
    data: dict[str, Any] = {}
    units = {"t": "s"}
    for kind in chosen:
        columns = columns_of(trajectory, kind)
        for i, name in enumerate(columns.names):
            values = columns.array[:, i]
            parts = {"": values} if values.ndim == 1 else {f".{j + 1}": values[:, j] for j in range(values.shape[1])}
            for suffix, one in parts.items():
                data[f"{kind}:{name}{suffix}"] = one
                units[f"{kind}:{name}{suffix}"] = columns.unit_list[i]
    table = pandas.DataFrame(data, index=pandas.Index(trajectory.t, name="t"))
    table.attrs["units"] = units
    return table


def write_table(trajectory: Any, path: str | os.PathLike[str], kinds: Iterable[str] | None) -> None:
    """See `Trajectory.to_csv`."""
    if kinds == "contacts" or (kinds is not None and list(kinds) == ["contacts"]):
        _write_contacts(trajectory, path)
        return
    table = table_of(trajectory, kinds)
    units = table.attrs["units"]
    text = io.StringIO()
    heads = [f"{name} [{units[name]}]" for name in table.columns]
    table.to_csv(text, header=heads, index_label="t [s]", lineterminator="\n")
    write_bytes(text.getvalue().encode(), path_of(path, "The table to write"), "The table")


def _write_contacts(trajectory: Any, path: str | os.PathLike[str]) -> None:
    text, table = io.StringIO(), trajectory.contacts
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"{name} [{CONTACTS[name]}]" if CONTACTS[name] else name for name in table.dtype.names)
    writer.writerows([one.item() if hasattr(one, "item") else one for one in row] for row in table)
    write_bytes(text.getvalue().encode(), path_of(path, "The table to write"), "The table")


def write_mat(trajectory: Any, path: str | os.PathLike[str], kinds: Iterable[str] | None) -> None:
    """See `Trajectory.to_mat`."""
    from scipy.io import savemat

    data: dict[str, Any] = {"t": trajectory.t[:, None], "status": trajectory.status}
    for kind in [kinds] if isinstance(kinds, str) else list(USUAL if kinds is None else kinds):
        columns = columns_of(trajectory, kind)
        names = np.array(columns.names, dtype=object), np.array(columns.unit_list, dtype=object)
        data |= {kind: columns.array, f"{kind}_names": names[0], f"{kind}_units": names[1]}
    found = trajectory.contacts
    data["contacts"] = {name: np.array(found[name].tolist(), dtype=object if found[name].dtype.kind == "U" else float)
                        for name in found.dtype.names or ()}  # fmt: skip
    file = io.BytesIO()
    savemat(file, data, oned_as="column")
    write_bytes(file.getvalue(), path_of(path, "The table to write"), "The table")
