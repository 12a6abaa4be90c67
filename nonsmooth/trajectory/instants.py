"""Accelerations and forces at an instant: the equations of motion at a state of a trajectory, at either limit.

Rows contain mean forces of steps; this module computes instantaneous ones. With rigid contact the modes of closed
contacts follow from the complementarity problem in accelerations and forces, which the event-driven stepper solves
between its phases; with compliant contact the laws are evaluated. At an impact forces have a limit on either side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import System
from nonsmooth.trajectory.columns import Columns, ForceAxes, by_tangent
from nonsmooth.trajectory.dense import ORDERS, Forces, Index, Places, RowMotion


@dataclass(frozen=True, eq=False)
class Origin:
    """The origin of the rows of a run: the mechanism, its parameters (n,), and the initial state."""

    system: System
    parameters: Array
    start: State | None = None

    @property
    def memory(self) -> InternalStates:
        """Internal states of the initial state."""
        return InternalStates() if self.start is None else self.start.memory


class Law(Protocol):
    """Computation of accelerations and forces from a state."""

    def forces(self, t: float, q: Array, v: Array, step: int) -> Forces:
        """Forces at a state of the motion that follows on row `step`; -1 for that before the first row."""
        ...


@dataclass(frozen=True, eq=False)
class Instants:
    """Motion and forces at chosen times: the result of `Trajectory.instant`, one row per time.

    Parameters
    ----------
    t
        Times (n,) [s].
    q, v, a
        Coordinates, velocities and accelerations; these bear the names of the velocities.
    lam_g
        Forces [N] and moments [N m] of the rows of joints and drivers, along the directions of their constraints.
    reaction
        Force [N] and torque [N m] of each joint on its second body, ground frame.
    lam_N, lam_T
        Normal force [N], compressive > 0, and tangential forces [N] on the second body of each contact; in space
        lam_T has two components in each row.
    contact_force
        Force of each contact on its second body (n, dimension) [N], ground frame.
    mode
        0 open, 1 closed, 2 sticking, 3 slipping.
    """

    t: Array
    q: Columns
    v: Columns
    a: Columns
    lam_g: Columns
    reaction: Columns
    lam_N: Columns
    lam_T: Columns
    contact_force: Columns
    mode: Columns

    def __repr__(self) -> str:
        return (
            f"Instants({len(self.t)} times: accelerations and forces of {len(self.lam_g)} constraint rows, {self.mode})"
        )


class Motions:
    """Motion between rows of a trajectory whose mechanism is known, and forces there."""

    def __init__(self, run: Any, origin: Origin) -> None:
        self.origin, self.rows, self.law = origin, RowMotion(run), _law(run, origin)
        self._accelerations = {side: np.full_like(v, np.nan) for side, v in self.rows.v.items()}

    def states(self, at: Places, order: int) -> tuple[Array, Array]:
        """q (n, nq) and v (n, nv)."""
        return self.rows.states(at, order, self.accelerations)

    def accelerations(self, rows: Index, side: str) -> Array:
        """v' (k, nv) at rows, each of which is evaluated once."""
        known, motion = self._accelerations[side], self.rows
        for row in np.unique(rows[np.isnan(known[rows, :1]).any(axis=1)]):
            step = row if side == "right" else row - 1
            known[row] = self.law.forces(float(motion.t[row]), motion.q[row], motion.v[side][row], int(step)).a
        return np.asarray(known[rows])

    def instants(self, at: Places) -> Instants:
        """Accelerations and forces at times."""
        system, names = self.origin.system, self.origin.system.names
        q, v = self.states(at, max(ORDERS))
        found = [
            self.law.forces(float(time), q[i], v[i], int(step))
            for i, (time, step) in enumerate(zip(at.t, at.step, strict=True))
        ]

        def table(what: str, labels: Sequence[str], field: str, units: Sequence[str]) -> Columns:
            values = np.array([getattr(one, field) for one in found]).reshape(len(found), len(labels))
            return Columns(what, labels, values, units)

        units = ["N"] * system.nc
        lam_N = table("contact", system.contact_names, "lam_N", units)
        tangential = np.array([one.lam_T for one in found]).reshape(len(found), system.nt)
        axes = ForceAxes(system, self.origin.parameters, q, lam_N.array, tangential)
        return Instants(
            t=at.t,
            q=Columns("coordinate", names.q, q, names.q_units),
            v=Columns("velocity", names.v, v, names.v_units),
            a=table("acceleration", names.v, "a", acceleration_units(names.v_units)),
            lam_g=table(
                "constraint", names.constraints, "lam_g", ["N" if u == "m" else "N m" for u in names.constraint_units]
            ),
            reaction=table("reaction", names.reactions, "reaction", names.reaction_units),
            lam_N=lam_N,
            lam_T=Columns("contact", system.contact_names, by_tangent(tangential, system), units),
            contact_force=axes.forces(),
            mode=table("contact", system.contact_names, "mode", ["1"] * system.nc),
        )


def acceleration_units(units: Sequence[str]) -> list[str]:
    """Units of the rates of velocities."""
    return [f"{unit.removesuffix('/s')}/s^2" for unit in units]


def _law(run: Any, origin: Origin) -> Law:
    from nonsmooth.trajectory.instant_forces import CompliantLaw, RigidLaw

    if origin.system.compliance is not None:
        return CompliantLaw(run, origin)
    if not np.all(np.isfinite(run.v.array)):
        raise InputError("The run contains velocities that are not finite; forces cannot be computed at its rows.")
    return RigidLaw(run, origin)
