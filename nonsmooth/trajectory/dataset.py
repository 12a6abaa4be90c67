"""A run as files and tables: NetCDF that keeps every bit, `xarray.Dataset`, `pandas.DataFrame`, CSV and MAT.

A NetCDF file of more than `LONG` rows is without the tables that follow from others, which are computed when they are
read: of the left limits, mean forces and impulses of joints at impacts it has only the rows in which they do not follow
from the other tables (``jump.row`` and ``jump.v_left``, ...), a constant energy as one number (``energy.work_loads``,
...), not the remainder, and not the vectors of contact forces in space, which require the mechanism.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError, ValidityWarning
from nonsmooth.files import Pieces, Variable, netcdf_name, path_of, read_contents, write_bytes, write_contents
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import System
from nonsmooth.progress import stage
from nonsmooth.settings import hint, shown
from nonsmooth.trajectory.certificate import Certificate, EnergyLedger
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
    by_row,
    impact_table,
)
from nonsmooth.trajectory.instants import Origin
from nonsmooth.trajectory.verdict import UNKNOWN, Verdict

if TYPE_CHECKING:
    import pandas
    import xarray

#: a `Trajectory`, whose module imports this one
Run = TypeVar("Run", bound=Any)

FORMAT = "nonsmooth-trajectory-2"
#: rows of a file from which on it has no tables that follow from others
LONG = 10**6
#: by table of a long file the one that it follows from, and the dimensions of its rows
JUMPING = {
    "v_left": ("v", ("velocity",)), "gap_rate_left": ("gap_rate", ("contact",)), "lam_N": ("P_N", ("contact",)),
    "lam_T": ("P_T", ("contact", "tangent")), "reaction_impact": ("reaction", ("joint_force",)),
}  # fmt: skip
#: data sets of long files besides those of others, as a regular expression
LONG_NAMES = rf"step|jump|jump\.(row|{'|'.join(JUMPING)})|energy\.(start|{'|'.join(KEPT_ENERGIES)})"
#: tables of a run that have one number per row and name
KINDS = ("q", "v", "gap", "gap_rate", "lam_N", "P_N", "P_T", "mode", "reaction", "reaction_impact", "energy")
#: columns of the table of contacts with their units
CONTACTS = {
    "contact": "", "kind": "", "start": "s", "end": "s", "approach": "m/s", "separation": "m/s", "impulse": "N s",
    "peak_force": "N", "depth": "m", "energy": "J",
}  # fmt: skip
#: tables of `Trajectory.to_pandas` without a choice
USUAL = ("q", "v", "gap", "lam_N", "reaction", "energy")


@dataclass(frozen=True)
class Table:
    """Name of a table of the trajectory in a dataset."""

    variable: str
    dimension: str
    long_name: str
    sign: str

    @property
    def units(self) -> str:
        """Coordinate with the unit of each column, where they differ."""
        return f"{self.variable.removesuffix('_left')}_units"

    def of(self, trajectory: Any) -> Columns:
        """These columns of a trajectory."""
        name = self.variable.removesuffix("_left")
        return getattr(trajectory if name == self.variable else trajectory.left, name)


TABLES = (
    Table("q", "coordinate", "coordinates", "global frame; planar angles counter-clockwise, unwrapped"),
    Table("v", "velocity", "velocities, right limits", "global frame; spatial wx, wy, wz in the body frame"),
    Table("v_left", "velocity", "velocities, left limits", "as v"),
    Table("gap", "contact", "true gaps", "open > 0"),
    Table("gap_rate", "contact", "rates of the true gaps, right limits", "opening > 0"),
    Table("gap_rate_left", "contact", "rates of the true gaps, left limits", "opening > 0"),
    Table("P_N", "contact", "normal impulse of the step, impacts included", "compressive > 0"),
    Table("P_T", "contact", "tangential impulse of the step", "along the contact's tangent"),
    Table("lam_N", "contact", "mean normal force of the step, impacts excluded", "compressive > 0"),
    Table("mode", "contact", "contact mode", "0 open, 1 closed, 2 sticking, 3 slipping"),
    Table("reaction", "joint_force", "mean force of joints, impacts excluded", "on the second body, global frame"),
    Table("reaction_impact", "joint_force", "impulse of joints at impacts", "on the second body, global frame"),
    Table("energy", "energy_term", "energies, and cumulative works and losses", "work on the system and losses > 0"),
)


#: names of internal states in files of former versions, and of all data sets of a file
FORMER = r"(law|stepper|start)_memory\.\w{1,60}(\.\d)?"
KNOWN = "|".join(
    (
        *{"time", "axis", "tangent", "impact", "contact_force", *(re.escape(table.units) for table in TABLES)},
        *{name for table in TABLES for name in (table.variable, table.dimension)},
        *(f"impact_{name}" for name in (*IMPACT_COLUMNS, "contact")),
        LONG_NAMES,
        r"(start_)?memory(_number)?",
        FORMER,
    )
)


def to_dataset(run: Any, *, complete: bool = False) -> xarray.Dataset:
    """The trajectory as an `xarray.Dataset`.

    Tables have the dimension ``time`` and one that labels their columns; units, meaning and sign are attributes. Where
    the columns of a table differ in unit, a coordinate such as ``q_units`` has the units instead.

    Parameters
    ----------
    complete
        With internal states of stepper and contacts at both ends, which `save` writes so that `load` reads everything
        back and a run can be restarted.
    """
    import xarray

    data, coordinates, facts = contents(run, complete=complete)
    tables = {table.variable: table for table in TABLES}
    for name, (dimensions, values, attributes) in data.items():
        if isinstance(values, Pieces):
            columns = run.contact_force if name == "contact_force" else tables[name].of(run)
            data[name] = dimensions, columns.array, attributes
    return xarray.Dataset(data, coordinates, facts)


def save(run: Any, path: str | os.PathLike[str]) -> None:
    """Write a NetCDF file with a checksum, under a temporary name, then renamed, so that it is complete.

    Of more than a million rows those of tables that follow from others are left out, which `load` computes:
    `nonsmooth.trajectory.dataset`. NotWritten if the path cannot be written; an existing file remains unchanged.
    InputError if the name has the ending of another kind of file; ``.csv`` and ``.mat`` `to_csv` and `to_mat` write.
    """
    path = netcdf_name(path)
    data, coordinates, facts = contents(run, complete=True)
    for table in TABLES:
        if table.units in coordinates:  # as other programs are told of coordinates
            data[table.variable][2]["coordinates"] = table.units
    if len(run.t) > LONG:
        axes = run.force_axes if run.P_T.array.ndim == 3 else None
        data = _without_derived_tables(data, axes.lam_T if isinstance(axes, ForceAxes) else axes)
        coordinates.pop("axis", None)
    write_contents(data | coordinates, facts, path, "The trajectory")


def load(cls: type[Run], path: str | os.PathLike[str], system: System | None) -> Run:
    """See `Trajectory.load`."""
    with stage("reading", str(path)):
        variables, attributes = read_contents(path, known=KNOWN, conventions=FORMAT, what="trajectory")
    if any(re.fullmatch(FORMER, name) for name in variables):
        warnings.warn(
            f"{path} is of a former version, whose internal states are not read: a run from its end begins anew.",
            ValidityWarning,
            stacklevel=3,
        )
    try:
        return _from_contents(cls, _with_derived_tables(variables), attributes, system)
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path} is not a complete trajectory ({reason}).") from error


def contents(run: Any, *, complete: bool) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Data, coordinates and attributes of a dataset."""
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"time": (("time",), run.t, {"units": "s", "long_name": "end of the step"})}
    for table in TABLES:
        columns = table.of(run)
        attributes = {"long_name": table.long_name, "sign": table.sign, "what": columns.what}
        if len(set(columns.unit_list)) < 2:
            attributes["units"] = next(iter(columns.unit_list), "1")
        dimensions = ("time", table.dimension, "tangent")[: len(columns.table.shape)]
        data[table.variable] = (dimensions, columns.table, attributes)
        coordinates[table.dimension] = ((table.dimension,), texts(columns.names), {})
        if len(set(columns.unit_list)) > 1:
            coordinates[table.units] = ((table.dimension,), texts(columns.unit_list), {})
    if run.P_T.array.ndim == 3 and isinstance(run.force_axes, ForceAxes | Columns):
        attributes = {"units": "N", "long_name": "mean force of the step on the second body, impacts excluded"}
        data["contact_force"] = (("time", "contact", "axis"), run.contact_force.table, attributes)
        coordinates["axis"] = (("axis",), texts("xyz"), {})
    for name, unit in IMPACT_COLUMNS.items():
        attributes = {"units": unit, "long_name": f"{name} of an impact"}
        data[f"impact_{name}"] = (("impact",), run.impacts[name], attributes)
    data["impact_contact"] = (("impact",), texts(run.impacts["contact"]), {"long_name": "contact of an impact"})
    start = InternalStates() if run.origin is None else run.origin.memory
    if not any(one.startswith("Overlap.") for one, _ in start.fields):  # forces of the others have no past
        start = InternalStates()
    for name, memory, when in (("memory", run.end.memory, "end"), ("start_memory", start, "start")):
        if complete and memory:
            named = json.dumps([[one, *shape] for one, shape in memory.fields])
            attributes = {"long_name": f"internal states at the {when} of the run", "fields": named}
            data[name] = ((f"{name}_number",), memory.numbers, attributes)
    certificate = asdict(run.certificate)
    energy = certificate.pop("energy")
    facts = {
        "Conventions": FORMAT, "status": run.status, "wall_seconds": run.wall_seconds,
        "manifest": json.dumps(dict(run.manifest)), "counts": json.dumps(run.counts),
        **{f"certificate_{name}": value for name, value in certificate.items()},
        **{f"energy_{name}": value for name, value in energy.items()},
        "verdict": json.dumps(asdict(run.verdict)),
    }  # fmt: skip
    return data, coordinates, facts


def _from_contents(
    cls: type[Run], variables: Mapping[str, Variable], attributes: Mapping[str, Any], system: System | None
) -> Run:  # fmt: skip
    """The trajectory of a complete file; ValueError and others if its data do not fit."""
    t = _read(variables, "time", ("time",))
    if not (t.size and np.all(np.isfinite(t)) and np.all(np.diff(t) >= 0.0)):
        raise ValueError("its times are not finite, ascending numbers")
    manifest, counts, verdict = (json.loads(attributes.get(name, "null")) for name in ("manifest", "counts", "verdict"))
    json.dumps([manifest, counts, verdict], ensure_ascii=False).encode()  # ValueError if a text is none
    if not (isinstance(manifest, dict) and isinstance(counts, dict)):
        raise ValueError("its manifest or its counts are no table")
    tables: dict[str, Any] = {}
    for table in TABLES:
        dimensions, _, facts = variables[table.variable]
        values = _read(variables, table.variable, ("time", table.dimension, "tangent")[: len(dimensions)])
        names = [str(name) for name in _read(variables, table.dimension, (table.dimension,))]
        mixed = table.units in variables
        units = _read(variables, table.units, (table.dimension,)) if mixed else [facts["units"]] * len(names)
        tables[table.variable] = Columns(str(facts["what"]), names, values, [str(unit) for unit in units])
    contacts = [str(name) for name in _read(variables, "impact_contact", ("impact",))]
    numbers = {name: _read(variables, f"impact_{name}", ("impact",)) for name in IMPACT_COLUMNS}
    impacts = impact_table(contacts, numbers)
    start = State(float(t[0]), tables["q"].array[0], tables["v"].array[0], _internal_states(variables, "start_memory"))
    energy = EnergyLedger(**{one.name: float(attributes[f"energy_{one.name}"]) for one in fields(EnergyLedger)})
    residuals = [one.name for one in fields(Certificate) if one.name != "energy"]
    worst = {name: float(attributes[f"certificate_{name}"]) for name in residuals}
    left = Left(tables.pop("v_left"), tables.pop("gap_rate_left"))
    vectors: Any = None
    gaps = tables["P_N"].names
    if "contact_force" in variables:
        forces = _read(variables, "contact_force", ("time", "contact", "axis"))
        vectors = Columns("contact", gaps, forces, ["N"] * len(gaps))
    origin = None if system is None else _origin(system, manifest, start)
    if "lam_T" in variables:
        vectors = variables["lam_T"][1]
        if origin is not None:
            vectors = ForceAxes(origin.system, origin.parameters, tables["q"].array, tables["lam_N"].table, vectors)
    end = State(
        float(t[-1]), tables["q"].array[-1].copy(), tables["v"].array[-1].copy(), _internal_states(variables, "memory"),
        np.array(tables["gap"].table[len(t) - 1 :])[0],
    )  # fmt: skip
    return cls(
        t=t, left=left, impacts=impacts, certificate=Certificate(**worst, energy=energy), manifest=manifest, end=end,
        counts=counts, status=str(attributes["status"]), force_axes=vectors, origin=origin,
        wall_seconds=float(attributes["wall_seconds"]),
        verdict=UNKNOWN if verdict is None else Verdict.read(verdict), **tables,
    )  # fmt: skip


def _read(variables: Mapping[str, Variable], name: str, dimensions: tuple[str, ...]) -> Any:
    """Values of a data set of these dimensions."""
    known, values, _ = variables[name]
    if known != dimensions:
        raise ValueError(f"{name} has the dimensions {known} instead of {dimensions}")
    return values if isinstance(values, Pieces) else np.asarray(values)


def _internal_states(variables: Mapping[str, Variable], name: str) -> InternalStates:
    """Internal states of a state of the run, none if the file has none."""
    if name not in variables:
        return InternalStates()
    _, numbers, facts = variables[name]
    fields = tuple((str(one), tuple(map(int, shape))) for one, *shape in json.loads(facts["fields"]))
    return InternalStates(fields, np.array(numbers, dtype=float))


def _origin(system: System, manifest: Mapping[str, Any], start: State) -> Origin:
    """The mechanism of a run, with the run's parameters; InputError if these are not those of `system`."""
    known = {name: float(entry["value"]) for name, entry in manifest["parameters"].items()}
    other = sorted(known.keys() ^ system.parameters.keys())
    if other:
        raise InputError(
            f"The file holds a run of {manifest['model']['name']!r}, not of {system.name!r}: only one of them has the "
            f"parameter {other[0]!r}; give the mechanism of the run."
        )
    return Origin(system, system.parameter_vector(known), start)


def _without_derived_tables(data: Mapping[str, Variable], lam_T: Any) -> dict[str, Variable]:
    """The data sets of a long file from those of a complete one; `lam_T` are those in space (n, nt) [N], if any."""
    tables = {name: data[name][1] for name in JUMPING if name in data}
    facts = {name: data[name][2] for name in tables}
    energy = data["energy"][1]
    if not all(isinstance(one, SparseOverride) for one in tables.values()) or not isinstance(energy, Energies):
        return dict(data)
    found = {name: one for name, one in data.items() if name not in (*JUMPING, "energy", "contact_force")}
    if isinstance(lam_T, SparseOverride):
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
    for name, values in energy.terms.items():
        constant = values.strides == (0,)
        found[f"energy.{name}"] = (() if constant else ("time",)), values[0] if constant else values, {"units": "J"}
    found["energy.start"] = (), np.array(energy.start), data["energy"][2]
    return found


def _with_derived_tables(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """The data sets of a complete file from those of a long one; ValueError if they do not fit."""
    if "jump.row" not in variables:
        return dict(variables)
    found = {
        name: one for name, one in variables.items() if not name.startswith(("jump", "energy.")) and name != "step"
    }
    rows, t = len(variables["time"][1]), variables["time"][1]
    _, at, _ = variables["jump.row"]
    if at.dtype != np.int64 or not are_rows(at, rows):
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
            usual = MeanForces(by_row(base), t, length)
        if name == "reaction_impact":
            usual = np.broadcast_to(0.0, base.shape)
        found[name] = ("time", *dimensions), SparseOverride(usual, at, by_row(values)), facts
    terms = {}
    for name in KEPT_ENERGIES:
        dimensions, values, _ = variables[f"energy.{name}"]
        if dimensions not in ((), ("time",)):
            raise ValueError(f"energy.{name} is no energy at the rows")
        terms[name] = np.broadcast_to(np.asarray(values, float), (rows,))
    _, start, facts = variables["energy.start"]
    found["energy"] = ("time", "energy_term"), Energies(terms, float(start)), facts
    return found


def _columns_of(run: Any, kinds: Iterable[str] | None) -> dict[str, Columns]:
    """The columns of these tables, the `USUAL` ones by default."""
    if kinds is not None and not isinstance(kinds, Iterable):
        raise InputError(f"kinds must be names of tables, as ['q', 'lam_N'], got {shown(kinds)}.")
    found = {}
    for kind in [kinds] if isinstance(kinds, str) else list(USUAL if kinds is None else kinds):
        if kind not in KINDS:
            raise InputError(
                f"There is no kind {shown(kind)} of columns.{hint(kind, KINDS)} A run has {', '.join(KINDS)}."
            )
        found[kind] = getattr(run, kind)
    return found


def to_pandas(run: Any, kinds: Iterable[str] | None = None) -> pandas.DataFrame:
    """The rows as a `pandas.DataFrame`, whose index is the time [s].

    Parameters
    ----------
    kinds : names of tables, optional
        Any of ``q``, ``v``, ``gap``, ``gap_rate``, ``lam_N``, ``P_N``, ``P_T``, ``mode``, ``reaction``,
        ``reaction_impact``, ``energy``; by default ``q``, ``v``, ``gap``, ``lam_N``, ``reaction``, ``energy``.

    Returns
    -------
    pandas.DataFrame
        A column has the name of its table and its own, ``"q:slider.x"``; ``attrs["units"]`` has the units.

    >>> from nonsmooth import GaussQP, simulate
    >>> from nonsmooth_problems import slider_rod
    >>> run = simulate(slider_rod().build(), GaussQP(), t_end=1e-3, dt=1e-4)
    >>> table = run.to_pandas(["q", "lam_N"])
    >>> table.shape, table.columns[0], table.attrs["units"]["q:slider.x"]
    ((11, 7), 'q:slider.x', 'm')
    """
    import pandas

    data: dict[str, Any] = {}
    units = {"t": "s"}
    for kind, columns in _columns_of(run, kinds).items():
        for i, name in enumerate(columns.names):
            values = columns.array[:, i]
            parts = {"": values} if values.ndim == 1 else {f".{j + 1}": values[:, j] for j in range(values.shape[1])}
            for suffix, one in parts.items():
                data[f"{kind}:{name}{suffix}"] = one
                units[f"{kind}:{name}{suffix}"] = columns.unit_list[i]
    table = pandas.DataFrame(data, index=pandas.Index(run.t, name="t"))
    table.attrs["units"] = units
    return table


def to_csv(run: Any, path: str | os.PathLike[str], kinds: Iterable[str] | None = None) -> None:
    """Write the rows as a CSV file, whose first line has names with units: ``t [s],q:slider.x [m],...``.

    Parameters
    ----------
    path : the file; NotWritten if it cannot be written
    kinds : as in `to_pandas`; or ``"contacts"`` for the table of that name, one line per contact
    """
    path, wanted = path_of(path, "The table to write"), (kinds,) if isinstance(kinds, str) else kinds
    with stage("writing", str(path)):
        text = io.StringIO()
        if isinstance(wanted, list | tuple) and list(wanted) == ["contacts"]:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(f"{name} [{unit}]" if unit else name for name, unit in CONTACTS.items())
            writer.writerows([one.item() if hasattr(one, "item") else one for one in row] for row in run.contacts)
        else:
            table = to_pandas(run, kinds)
            heads = [f"{name} [{table.attrs['units'][name]}]" for name in table.columns]
            table.to_csv(text, header=heads, index_label="t [s]", lineterminator="\n")
        write_bytes(text.getvalue().encode(), path, "The table")


def to_mat(run: Any, path: str | os.PathLike[str], kinds: Iterable[str] | None = None) -> None:
    """Write the rows as a MAT file: ``t``; ``q``, ``q_names``, ``q_units`` and so on; and the table ``contacts``.

    Parameters
    ----------
    path : the file (.mat), of version 5, which MATLAB and Octave read; NotWritten if it cannot be written
    kinds : as in `to_pandas`
    """
    from scipy.io import savemat

    data: dict[str, Any] = {"t": run.t[:, None], "status": run.status}
    for kind, columns in _columns_of(run, kinds).items():
        data |= {
            kind: columns.array,
            f"{kind}_names": texts(columns.names),
            f"{kind}_units": texts(columns.unit_list),
        }
    found = run.contacts
    data["contacts"] = {name: np.array(found[name].tolist(), dtype=object if found[name].dtype.kind == "U" else float)
                        for name in found.dtype.names or ()}  # fmt: skip
    with stage("writing", str(path)):
        file = io.BytesIO()
        savemat(file, data, oned_as="column")
        write_bytes(file.getvalue(), path_of(path, "The table to write"), "The table")


def texts(values: Iterable[Any]) -> NDArray[Any]:
    """Texts (n,) as xarray stores them."""
    return np.array([str(value) for value in values], dtype=object)
