"""States and forces of a trajectory at arbitrary times, in addition to its rows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trajectory.dense import ORDERS, Places, States, places
from nonsmooth.trajectory.instants import Instants, Motions, acceleration_units, bare_states
from nonsmooth.trajectory.origin import Origin, Run

__all__ = ["AnyTime"]


class AnyTime:
    """States and forces at chosen times: a base of `Trajectory`."""

    if TYPE_CHECKING:
        t: Array
        v: Columns
        q: Columns
        origin: Origin | None

    @property
    def _rows(self) -> Run:
        return self

    @cached_property
    def _motions(self) -> Motions:
        if self.origin is None:
            raise InputError(
                "A file does not keep the mechanism, which accelerations and forces are found from; give it, "
                "Trajectory.load(path, system), or ask at(t, order=4) for coordinates and velocities alone."
            )
        return Motions(self._rows, self.origin)

    def _places(self, t: Any, side: str) -> Places:
        """Where times lie among the rows; wrong ones are refused before anything is compiled."""
        return places(self.t, self._rows.impacts["t"], t, side)

    def at(self, t: Any, *, side: str = "right", order: int = 6) -> States:
        """Coordinates and velocities at any times of the run, also between rows, never across an impact.

        Parameters
        ----------
        t : [s], a number or (n,)
        side : "right" or "left"
            The limit at impacts.
        order : 6 or 4
            Of the coordinates between rows h apart, by polynomials through both rows' q and v and, for 6, the
            accelerations there, with errors of ``h^6/46080 |d^6q/dt^6|`` or ``h^4/384 |d^4q/dt^4|`` besides those of
            the rows; velocities are their derivatives, of order 5 and 3. At rows their values are returned unchanged.

        Raises
        ------
        InputError
            For a time outside the run or an unknown option; for order 6 of a run read from a file without its
            mechanism.

        >>> from nonsmooth import EventDriven, ErrorControl, simulate
        >>> from nonsmooth_problems import bouncing_ball
        >>> run = simulate(bouncing_ball().build(), EventDriven(), t_end=0.5, dt=ErrorControl(1e-6, 1e-8, 1e-6, 0.1))
        >>> t = run.impacts["t"][0]
        >>> [round(float(run.at(t, side=side).v["ball.y"][0]), 3) for side in ("left", "right")]
        [-4.202, 3.782]
        """
        if order not in ORDERS:
            raise InputError(f"order must be 6 or 4, got {order!r}.")
        if order == 4:
            return bare_states(self._rows, t, side)
        at = self._places(t, side)
        q, v = self._motions.states(at, order)
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
        norm; if the distribution of a load among contacts is not determined, one solution is returned.

        Parameters
        ----------
        t : [s], a number or (n,)
        side : "right" or "left"
            The limit at impacts, and at changes of contact modes.

        Raises
        ------
        InputError
            As `at`; also for a compliant run without the rows at the beginning of contacts.
        SolverFailed
            If no forces satisfy the laws, as in Painleve's paradox.

        >>> from nonsmooth import EventDriven, ErrorControl, simulate
        >>> from nonsmooth_problems import block_on_incline
        >>> run = simulate(block_on_incline().build(), EventDriven(), t_end=0.1, dt=ErrorControl(1e-6, 1e-8, 1e-6, 0.1))
        >>> found = run.instant([0.02, 0.04])
        >>> found.a.names == run.v.names, found.contact_force.array.shape == (2, len(run.gap), 2)
        (True, True)
        """
        at = self._places(t, side)
        return self._motions.instants(at)

    @cached_property
    def acceleration(self) -> Columns:
        """Accelerations at the rows, right limits; those of the left are ``instant(run.t, side="left").a``."""
        rows = np.arange(len(self.t))
        units = acceleration_units(self.v.unit_list)
        return Columns("acceleration", self.v.names, self._motions.accelerations(rows, "right"), units)
