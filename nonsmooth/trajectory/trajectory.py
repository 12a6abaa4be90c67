"""The result of a run: labelled columns with units, both limits of the velocity, impacts, and a certificate."""

from __future__ import annotations

import json
import os
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, ValidityWarning
from nonsmooth.files import Pieces, Variable, path_of, read_contents, write_contents
from nonsmooth.model.state import InternalStates, State
from nonsmooth.progress import stage
from nonsmooth.trajectory import long_files
from nonsmooth.trajectory.any_time import AnyTime
from nonsmooth.trajectory.certificate import Certificate, EnergyLedger
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trajectory.contact_forces import ForceAxes
from nonsmooth.trajectory.origin import Origin
from nonsmooth.trajectory.verdict import UNKNOWN, Verdict
from nonsmooth.trajectory.views import Views

if TYPE_CHECKING:
    import xarray

    from nonsmooth.model.system import System


__all__ = ["IMPACT_COLUMNS", "Left", "Trajectory", "impact_table"]

FORMAT = "nonsmooth-trajectory-2"
IMPACT_COLUMNS = {"t": "s", "P_N": "N s", "P_T": "N s", "gamma_minus": "m/s", "gamma_plus": "m/s"}


@dataclass(frozen=True, eq=False)
class Left:
    """Left limits of velocities and gap velocities, the only quantities that jump."""

    v: Columns
    gap_rate: Columns


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(AnyTime, Views):
    """One row per accepted step; row 0 is the start. Values at a row are right limits, `left` has the left limits.

    Parameters
    ----------
    t
        Times (n,) [s].
    q, v
        Coordinates and velocities by name.
    left
        ``left.v``, ``left.gap_rate``: velocities and gap velocities before the impacts at the rows.
    gap, gap_rate
        True gaps [m], open > 0, and gap velocities [m/s], opening > 0.
    P_N, P_T
        Normal and tangential impulse [N s] of the step that ends in the row, impacts included; P_N >= 0.
        Row 0 is zero, unless there is an impact at the start. In space P_T has two components in each row, along
        arbitrary tangents; see `contact_force`.
    lam_N
        Mean normal force [N] of that step, impacts excluded.
    mode
        0 open, 1 closed, 2 sticking, 3 slipping; in row 0 only if there is an impact at the start.
    reaction, reaction_impact
        Mean force [N] and torque [N m] of each ideal joint on its second body, global frame, impacts excluded; and the
        impulse of the impacts [N s], [N m s].
    energy
        ``kinetic``, ``potential`` and, cumulative, ``work_loads``, ``work_drivers``, ``loss_impacts``,
        ``loss_contact``, ``loss_friction``, ``loss_damping``, ``remainder`` [J]; see `EnergyLedger`.
    impacts
        Structured array (t, contact, P_N, P_T, gamma_minus, gamma_plus): one row per contact and impact; gap
        velocities [m/s] before and after, closing < 0. P_T is the friction impulse of the impact, in space its length.
        Each impulse is listed; `nonsmooth.diagnostics.impacts` counts those that begin with an approach of at least 1 %
        of the fastest. Empty for compliant contact, which lasts: `contacts` lists its intervals with forces, depths and
        velocities.
    jumps
        Rows of `impacts` of velocity jumps without collision, where no consistent contact force exists; their impulses
        are those of the step. Files do not keep which these are.
    certificate
        The largest residuals of the run and its energy balance.
    counts
        Solves, iterations, fallbacks.
    manifest
        Versions, model, parameters with provenance, settings and rules, with which the run can be repeated.
    status
        ``"finished"``, ``"untrusted: ..."`` if equations are not solved or bodies overlap, ``"failed: ..."`` or
        ``"interrupted"``.
    verdict
        Whether the motion can be trusted, in one sentence; see `Verdict`.
    end
        The last state with all internal states. A run restarted from it is bitwise identical to an uninterrupted one if
        the end did not shorten the last step; that of `CompliantDae` agrees within the tolerances.
    wall_seconds
        Time the run took [s], without those that were compared with it.
    seconds
        Where the time of the call of `simulate` went [s], by stage: compiling, computing, tables, and checking or
        preparing; files do not keep it.
    """

    t: Array
    q: Columns
    v: Columns
    left: Left
    gap: Columns
    gap_rate: Columns
    P_N: Columns
    P_T: Columns
    lam_N: Columns
    mode: Columns
    reaction: Columns
    reaction_impact: Columns
    energy: Columns
    impacts: NDArray[np.void]
    certificate: Certificate
    counts: Mapping[str, Any]
    manifest: Mapping[str, Any]
    status: str
    end: State
    wall_seconds: float
    force_axes: ForceAxes | Columns | Pieces | None = None
    origin: Origin | None = None
    verdict: Verdict = UNKNOWN
    seconds: Mapping[str, float] = field(default_factory=dict)
    jumps: NDArray[np.void] = field(default_factory=lambda: impact_table([], {}))

    def __getstate__(self) -> dict[str, Any]:
        """Only the rows are pickled; objects that compute motion and forces between them are created anew."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def contact_force(self) -> Columns:
        """Mean force of each contact on its second body in the step that ends in the row, impacts excluded.

        For each contact (n, dimension) [N], in the ground frame: ``trajectory.contact_force["ball"]``.

        Raises
        ------
        InputError
            For a planar run that was read from a file: files keep these vectors in space only; for a long run in space
            that was read without its mechanism.
        """
        if self.force_axes is None:
            raise InputError(
                "The file of a planar run does not keep contact forces as vectors; read lam_N and P_T, or run it again."
            )
        if isinstance(self.force_axes, ForceAxes):
            return self.force_axes.forces()
        if isinstance(self.force_axes, Columns):
            return self.force_axes
        raise InputError(
            "The file of a long run does not keep contact forces as vectors, which follow from the mechanism; give it, "
            "Trajectory.load(path, system)."
        )

    def __repr__(self) -> str:
        found = "compliant, listed in .contacts" if self.compliant else f"{len(self.impacts)} rows of impacts"
        c, status = self.certificate, textwrap.shorten(self.status, 90, placeholder=" ...")
        rows = len(self.t) - 1
        steps = self.counts.get("steps", rows)
        recorded = "" if steps == rows else f", {rows} recorded"
        compared = "accuracy" in self.manifest and "computing" in self.seconds
        others = f", {self.seconds['computing']:.3g} s with the runs compared" if compared else ""
        return "\n".join(
            [
                f"<Trajectory {status}: {steps} steps{recorded}, t = {self.t[0]:.6g} to {self.t[-1]:.6g} s, "
                f"{self.wall_seconds:.3g} s of computing{others}>",
                f"  coordinates  {', '.join(self.q.names)}",
                f"  contacts     {', '.join(self.gap.names) or 'none'}; {found}",
                f"  certificate  gap {c.gap_violation:.2g} m, joints {c.joint_violation:.2g}, "
                f"complementarity {c.complementarity:.2g}, motion {c.motion_residual:.2g}, "
                f"energy remainder {c.energy.remainder:.2g} J",
                f"  verdict      {self.verdict}",
            ]
        )

    def to_dataset(self, *, complete: bool = False) -> xarray.Dataset:
        """The trajectory as an `xarray.Dataset`.

        Tables have the dimension ``time`` and one that labels their columns; units, meaning and sign are attributes.
        Where the columns of a table differ in unit, a coordinate such as ``q_units`` has the units instead.

        Parameters
        ----------
        complete
            With internal states of stepper and contacts at both ends, which `save` writes so that `load` reads
            everything back and a run can be restarted.
        """
        import xarray

        data, coordinates, facts = self._contents(complete=complete)
        for name, (dimensions, values, attributes) in data.items():
            if isinstance(values, Pieces):
                data[name] = dimensions, self._table(name).array, attributes
        return xarray.Dataset(data, coordinates, facts)

    def _table(self, name: str) -> Columns:
        """The columns of a table of the dataset."""
        return self.contact_force if name == "contact_force" else next(t for t in TABLES if t.variable == name).of(self)

    def _contents(self, *, complete: bool) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Data, coordinates and attributes of `to_dataset`."""
        data: dict[str, Any] = {}
        coordinates: dict[str, Any] = {"time": (("time",), self.t, {"units": "s", "long_name": "end of the step"})}
        for table in TABLES:
            columns = table.of(self)
            attributes = {"long_name": table.long_name, "sign": table.sign, "what": columns.what}
            if len(set(columns.unit_list)) < 2:
                attributes["units"] = next(iter(columns.unit_list), "1")
            dimensions = ("time", table.dimension, "tangent")[: len(columns.table.shape)]
            data[table.variable] = (dimensions, columns.table, attributes)
            coordinates[table.dimension] = ((table.dimension,), _strings(columns.names), {})
            if len(set(columns.unit_list)) > 1:
                coordinates[table.units] = ((table.dimension,), _strings(columns.unit_list), {})
        if self.P_T.array.ndim == 3 and isinstance(self.force_axes, ForceAxes | Columns):
            attributes = {"units": "N", "long_name": "mean force of the step on the second body, impacts excluded"}
            data["contact_force"] = (("time", "contact", "axis"), self.contact_force.table, attributes)
            coordinates["axis"] = (("axis",), _strings("xyz"), {})
        for name, unit in IMPACT_COLUMNS.items():
            attributes = {"units": unit, "long_name": f"{name} of an impact"}
            data[f"impact_{name}"] = (("impact",), self.impacts[name], attributes)
        facts: dict[str, Any] = {"long_name": "contact of an impact"}
        data["impact_contact"] = (("impact",), _strings(self.impacts["contact"]), facts)
        start = InternalStates() if self.origin is None else self.origin.memory
        if not any(one.startswith("Overlap.") for one, _ in start.fields):  # forces of the others have no past
            start = InternalStates()
        for name, memory, when in (("memory", self.end.memory, "end"), ("start_memory", start, "start")):
            if complete and memory:
                named = json.dumps([[one, *shape] for one, shape in memory.fields])
                attributes = {"long_name": f"internal states at the {when} of the run", "fields": named}
                data[name] = ((f"{name}_number",), memory.numbers, attributes)
        certificate = asdict(self.certificate)
        energy = certificate.pop("energy")
        facts = {
            "Conventions": FORMAT,
            "status": self.status,
            "wall_seconds": self.wall_seconds,
            "manifest": json.dumps(dict(self.manifest)),
            "counts": json.dumps(self.counts),
            **{f"certificate_{name}": value for name, value in certificate.items()},
            **{f"energy_{name}": value for name, value in energy.items()},
            "verdict": json.dumps(asdict(self.verdict)),
        }
        return data, coordinates, facts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a NetCDF file with a checksum, under a temporary name, then renamed, so that it is complete.

        Of more than a million rows those of tables that follow from others are left out, which `load` computes:
        `nonsmooth.trajectory.long_files`.

        Raises
        ------
        InputError
            If the name ends as that of a table, ``.csv`` or ``.mat``, which `to_csv` and `to_mat` write.
        NotWritten
            If the path cannot be written; an existing file remains unchanged.
        """
        ending = path_of(path, "The file to write").suffix.lower()
        if ending in (".csv", ".mat"):
            raise InputError(f"{path}: save writes a NetCDF file, .nc; to_{ending[1:]} writes a table.")
        data, coordinates, facts = self._contents(complete=True)
        for table in TABLES:
            if table.units in coordinates:  # as other programs are told of coordinates
                data[table.variable][2]["coordinates"] = table.units
        if len(self.t) > long_files.LONG:
            axes = self.force_axes if self.P_T.array.ndim == 3 else None
            data = long_files.shortened(data, axes.lam_T if isinstance(axes, ForceAxes) else axes)
            coordinates.pop("axis", None)
        write_contents(data | coordinates, facts, path, "The trajectory")

    @classmethod
    def load(cls, path: str | os.PathLike[str], system: System | None = None) -> Trajectory:
        """Read a file written by `save`; every array is bitwise identical.

        Parameters
        ----------
        system : System, optional
            The mechanism of the run, which files do not contain; required for `instant`, and for `at` with order 6.

        Raises
        ------
        InputError
            If there is no such file, or it is not a trajectory, damaged, or of another mechanism.

        Warns
        -----
        ValidityWarning
            For a file of an earlier version, which has no checksum, or internal states that are not read.
        """
        with stage("reading", str(path)):
            variables, attributes = read_contents(path, known=KNOWN, conventions=FORMAT, what="trajectory")
        if any(re.fullmatch(FORMER, name) for name in variables):
            warnings.warn(
                f"{path} is of a former version, whose internal states are not read: a run from its end begins anew.",
                ValidityWarning,
                stacklevel=2,
            )
        try:
            return cls._from_contents(long_files.complete(variables), attributes, system)
        except InputError:
            raise
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise InputError(f"{path} is not a complete trajectory ({reason}).") from error

    @classmethod
    def _from_contents(
        cls, variables: Mapping[str, Variable], attributes: Mapping[str, Any], system: System | None = None
    ) -> Trajectory:
        t = _read(variables, "time", ("time",))
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
        start = State(
            float(t[0]), tables["q"].array[0], tables["v"].array[0], _internal(variables, "start_memory")
        )  # fmt: skip
        manifest = json.loads(attributes["manifest"])
        energy = EnergyLedger(**{one.name: float(attributes[f"energy_{one.name}"]) for one in fields(EnergyLedger)})
        names = [one.name for one in fields(Certificate) if one.name != "energy"]
        worst = {name: float(attributes[f"certificate_{name}"]) for name in names}
        left = Left(tables.pop("v_left"), tables.pop("gap_rate_left"))
        vectors: Any = None
        gaps = tables["P_N"].names
        if "contact_force" in variables:
            forces = _read(variables, "contact_force", ("time", "contact", "axis"))
            vectors = Columns("contact", gaps, forces, ["N"] * len(gaps))
        origin = None if system is None else origin_of(system, manifest, start)
        if "lam_T" in variables:
            vectors = variables["lam_T"][1]
            if origin is not None:
                lam_N = tables["lam_N"].table
                vectors = ForceAxes(origin.system, origin.parameters, tables["q"].array, lam_N, vectors)
        return cls(
            t=t,
            left=left,
            impacts=impacts,
            certificate=Certificate(**worst, energy=energy),
            counts=json.loads(attributes["counts"]),
            manifest=manifest,
            status=str(attributes["status"]),
            end=State(
                float(t[-1]),
                tables["q"].array[-1].copy(),
                tables["v"].array[-1].copy(),
                _internal(variables, "memory"),
                np.array(tables["gap"].table[len(t) - 1 :])[0],
            ),
            wall_seconds=float(attributes["wall_seconds"]),
            verdict=Verdict.read(json.loads(attributes["verdict"])) if "verdict" in attributes else UNKNOWN,
            force_axes=vectors,
            origin=origin,
            **tables,
        )


def _read(variables: Mapping[str, Variable], name: str, dimensions: tuple[str, ...]) -> Any:
    """Values of a data set of these dimensions."""
    known, values, _ = variables[name]
    if known != dimensions:
        raise ValueError(f"{name} has the dimensions {known} instead of {dimensions}")
    return values if isinstance(values, Pieces) else np.asarray(values)


def _internal(variables: Mapping[str, Variable], name: str) -> InternalStates:
    """Internal states of this name."""
    if name not in variables:
        return InternalStates()
    _, numbers, facts = variables[name]
    fields = tuple((str(one), tuple(map(int, shape))) for one, *shape in json.loads(facts["fields"]))
    return InternalStates(fields, np.array(numbers, dtype=float))


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

    def of(self, trajectory: Trajectory) -> Columns:
        name = self.variable.removesuffix("_left")
        columns: Columns = getattr(trajectory if name == self.variable else trajectory.left, name)
        return columns


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
        long_files.NAMES,
        r"(start_)?memory(_number)?",
        FORMER,
    )
)


def origin_of(system: System, manifest: Mapping[str, Any], start: State) -> Origin:
    """The mechanism of a run, with the run's parameters.

    Raises
    ------
    InputError
        If the run's parameters are not those of `system`.
    """
    known = {name: float(entry["value"]) for name, entry in manifest["parameters"].items()}
    other = sorted(known.keys() ^ system.parameters.keys())
    if other:
        raise InputError(
            f"The file holds a run of {manifest['model']['name']!r}, not of {system.name!r}: only one of them has the "
            f"parameter {other[0]!r}; give the mechanism of the run."
        )
    return Origin(system, system.parameter_vector(known), start)


def impact_table(contacts: Sequence[str], columns: Mapping[str, Array]) -> NDArray[np.void]:
    width = max(map(len, contacts), default=1)
    numbers = [(name, "f8") for name in IMPACT_COLUMNS if name != "t"]
    table = np.zeros(len(contacts), dtype=[("t", "f8"), ("contact", f"U{width}"), *numbers])
    table["contact"] = contacts
    for name, values in columns.items():
        table[name] = values
    return table


def _strings(values: Any) -> NDArray[Any]:
    return np.array([str(value) for value in values], dtype=object)
