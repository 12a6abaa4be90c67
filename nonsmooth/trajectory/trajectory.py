"""The result of a run: labelled columns with units, both limits of the velocity, impacts, and a certificate."""

from __future__ import annotations

import importlib
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import Pieces
from nonsmooth.model.state import State
from nonsmooth.progress import stage
from nonsmooth.settings import is_one, require
from nonsmooth.trajectory import dataset as files
from nonsmooth.trajectory.certificate import Certificate
from nonsmooth.trajectory.columns import Columns, ForceAxes, Left, impact_table
from nonsmooth.trajectory.instants import Instants, Motions, Origin, RowMotion, States, places
from nonsmooth.trajectory.verdict import UNKNOWN, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.model.system import System


#: packages above this one, which draw and convert runs and are imported when they are called: name -> module
ABOVE = {
    "contact_table": "nonsmooth.diagnostics", "figure": "nonsmooth.plots", "frame": "nonsmooth.report",
    "sensitivities": "nonsmooth.derivatives", "write": "nonsmooth.report",
}  # fmt: skip


def _above(name: str) -> Any:
    return getattr(importlib.import_module(ABOVE[name]), name)


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """One row per accepted step; row 0 is the start. Values at a row are right limits, `left` has the left limits.

    Parameters
    ----------
    t : times (n,) [s]
    q, v : coordinates and velocities by name
    left : ``left.v``, ``left.gap_rate``: velocities and gap velocities before the impacts at the rows
    gap, gap_rate : true gaps [m], open > 0, and gap velocities [m/s], opening > 0
    P_N, P_T
        Normal and tangential impulse [N s] of the step that ends in the row, impacts included; P_N >= 0.
        Row 0 is zero, unless there is an impact at the start. In space P_T has two components in each row, along
        arbitrary tangents; see `contact_force`.
    lam_N : mean normal force [N] of that step, impacts excluded
    mode : 0 open, 1 closed, 2 sticking, 3 slipping; in row 0 only if there is an impact at the start
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
    certificate : the largest residuals of the run and its energy balance
    counts : solves, iterations, fallbacks
    manifest : versions, model, parameters with provenance, settings and rules, with which the run can be repeated
    status
        ``"finished"``, ``"untrusted: ..."`` if equations are not solved or bodies overlap, ``"failed: ..."`` or
        ``"interrupted"``.
    verdict : whether the motion can be trusted, in one sentence; see `Verdict`
    end
        The last state with all internal states. A run restarted from it is bitwise identical to an uninterrupted one if
        the end did not shorten the last step; that of `CompliantDae` agrees within the tolerances.
    wall_seconds : time the run took [s], without those that were compared with it
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

    @property
    def compliant(self) -> bool:
        """Whether contacts are compliant: they last, so that `contacts` lists them and `impacts` is empty."""
        return self._stepper.startswith("CompliantDae")

    @property
    def modes_follow(self) -> bool:
        """Whether a row without an impact has the contact modes of the motion after it, as with `EventDriven`; else
        those of the step that ends in it."""
        return self._stepper.startswith("EventDriven")

    @property
    def _stepper(self) -> str:
        """The stepper's settings as text; empty of a trajectory that was not made by a run."""
        return str(self.manifest.get("settings", {}).get("stepper", ""))

    @cached_property
    def contact_force(self) -> Columns:
        """Mean force of each contact on its second body in the step that ends in the row, impacts excluded.

        For each contact (n, dimension) [N], in the ground frame: ``trajectory.contact_force["ball"]``. InputError for a
        planar run, or a long one in space, that was read from a file, the latter without its mechanism.
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

    def at(self, t: Any, *, side: str = "right", order: int = 6) -> States:
        """Coordinates and velocities at any times of the run, also between rows, never across an impact.

        InputError outside the run, and for order 6 of a run that was read from a file without its mechanism.

        Parameters
        ----------
        t : [s], a number or (n,), or ``"2 ms"``
        side : "right" or "left", the limit at impacts
        order : 6 or 4
            Order of the coordinates between rows h apart, by polynomials through both rows' q and v and, for 6, the
            accelerations there, with errors of ``h^6/46080 |d^6q/dt^6|`` or ``h^4/384 |d^4q/dt^4|`` besides those of
            the rows; velocities are their derivatives, of order 5 and 3. At rows their values are returned unchanged.

        >>> from nonsmooth import EventDriven, ErrorControl, simulate
        >>> from nonsmooth_problems import bouncing_ball
        >>> run = simulate(bouncing_ball().build(), EventDriven(), t_end=0.5, dt=ErrorControl(1e-6, 1e-8, 1e-6, 0.1))
        >>> t = run.impacts["t"][0]
        >>> [round(float(run.at(t, side=side).v["ball.y"][0]), 3) for side in ("left", "right")]
        [-4.202, 3.782]
        """
        require(is_one(order, (4, 6)), "order must be 6 or 4", order)
        at = places(self.t, self.impacts["t"], t, side)  # wrong ones are refused before anything is compiled
        q, v = (RowMotion(self) if order == 4 else self._motions).states(at)
        return States(
            at.t,
            Columns("coordinate", self.q.names, q, self.q.unit_list),
            Columns("velocity", self.v.names, v, self.v.unit_list),
        )

    def instant(self, t: Any, *, side: str = "right") -> Instants:
        """Accelerations, forces of joints and forces of contacts at any times of the run, by the equations of motion.

        The state is that of `at`, projected onto joints and closed contacts; whether rigid contacts are loaded, stick,
        slip or open follows from the complementarity problem in accelerations, compliant forces from their laws. At an
        impact the forces on either side are computed, not its impulse. Forces of redundant joints are those of least
        norm; if the distribution of a load among contacts is not determined, one solution is returned. SolverFailed if
        no forces satisfy the laws, as in Painleve's paradox; InputError as in `at`, and for a compliant run without the
        rows at the beginning of contacts.

        Parameters
        ----------
        t : [s], a number or (n,), or ``"2 ms"``
        side : "right" or "left", the limit at impacts, and at changes of contact modes

        >>> from nonsmooth import EventDriven, ErrorControl, simulate
        >>> from nonsmooth_problems import block_on_incline
        >>> run = simulate(block_on_incline().build(), EventDriven(), t_end=0.1, dt=ErrorControl(1e-6, 1e-8, 1e-6, 0.1))
        >>> found = run.instant([0.02, 0.04])
        >>> found.a.names == run.v.names, found.contact_force.array.shape == (2, len(run.gap), 2)
        (True, True)
        """
        return self._motions.instants(places(self.t, self.impacts["t"], t, side))

    @cached_property
    def acceleration(self) -> Columns:
        """Accelerations at the rows, right limits; those of the left are ``instant(run.t, side="left").a``."""
        rows = np.arange(len(self.t))
        units = [f"{unit.removesuffix('/s')}/s^2" for unit in self.v.unit_list]
        return Columns("acceleration", self.v.names, self._motions.accelerations(rows, "right"), units)

    @cached_property
    def _motions(self) -> Motions:
        if self.origin is None:
            raise InputError(
                "A file does not keep the mechanism, which accelerations and forces are found from; give it, "
                "Trajectory.load(path, system), or ask at(t, order=4) for coordinates and velocities alone."
            )
        return Motions(self, self.origin)

    to_dataset = files.to_dataset
    save = files.save
    to_pandas = files.to_pandas
    to_mat = files.to_mat
    to_csv = files.to_csv

    @classmethod
    def load(cls, path: str | os.PathLike[str], system: System | None = None) -> Trajectory:
        """Read a file written by `save`; every array is bitwise identical.

        InputError if there is no such file, or it is no trajectory, damaged, or of another mechanism; ValidityWarning
        for a file of an earlier version, which has no checksum, or internal states that are not read.

        Parameters
        ----------
        system : System, optional
            The mechanism of the run, which files do not contain; required for `instant`, and for `at` with order 6.
        """
        return files.load(cls, path, system)

    def _repr_html_(self) -> str:
        """Display in a notebook: the mechanism in motion and its contact modes, in a frame; see `report`."""
        return _above("frame")(self)

    def report(self, path: str | os.PathLike[str], *, rows: int = 20_000) -> None:
        """Write the run as one HTML page without references to the network, see `nonsmooth.report`.

        Parameters
        ----------
        path : a file ``.html``; InputError if it cannot be written
        rows : number of rows above which some are omitted, but never those of impacts and of changes of contact modes
        """
        with stage("drawing", str(path)):
            _above("write")(self, path, rows=rows)

    def plot(self, *what: Any, width: str | float | None = None, measured: Any = None, exact: Any = None) -> Figure:
        """Draw the run; without arguments its sketch, joint orbits, motion and forces: `nonsmooth.plots.figure`.

        Parameters
        ----------
        what : str or Panel
            Words such as ``"slider.x"``, ``"v:slider.x"``, ``"lam_N:pin"``, ``"orbit:pin"``, ``"sketch"``, or panels.
        width : "single", "double" or a number [mm], width of the figure in a journal: 90 or 190 mm; larger by default
        measured : path or `nonsmooth.plots.Measured`, optional, measured data of a CSV file, drawn over the run
        exact : an exact solution, as in `nonsmooth.plots.panels`

        Returns
        -------
        matplotlib.figure.Figure
            Save it by ``figure.savefig("run.pdf")``.
        """
        return _above("figure")(self, *what, width=width, measured=measured, exact=exact)

    def sensitivities(self, wrt: str | Sequence[str]) -> Any:
        """Derivatives of all rows and events of an event-driven run, see `nonsmooth.derivatives.sensitivities`."""
        return _above("sensitivities")(self, wrt)

    @property
    def contacts(self) -> NDArray[np.void]:
        """All contacts, rigid and compliant alike: beginning, end, kind, impulse, peak force, energy.

        A structured array, see `nonsmooth.diagnostics.contact_table`; `to_csv` and `to_mat` write it.

        >>> from nonsmooth import simulate
        >>> from nonsmooth_problems import bouncing_ball
        >>> run = simulate(bouncing_ball().build(), t_end=0.5)
        >>> str(run.contacts["kind"][0]), run.contacts.dtype.names[:4]
        ('impact', ('contact', 'kind', 'start', 'end'))
        """
        return _above("contact_table")(self)
