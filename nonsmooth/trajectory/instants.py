"""Accelerations and forces at an instant: the equations of motion at a state of a trajectory, at either limit.

Rows contain mean forces of steps; this module computes instantaneous ones. With rigid contact the modes of closed
contacts follow from the complementarity problem in accelerations and forces, which the event-driven stepper solves
between its phases; with compliant contact the laws are evaluated. At an impact forces have a limit on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory.columns import Columns
from nonsmooth.trajectory.contact_forces import ForceAxes, by_tangent
from nonsmooth.trajectory.dense import ORDERS, Index, Places, States, between, coordinates_of, places
from nonsmooth.trajectory.origin import Law, Origin, Run

__all__ = ["Instants", "Motions", "acceleration_units", "bare_states"]


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

    def __init__(self, run: Run, origin: Origin) -> None:
        self.origin, self.rows = origin, run.t
        self.names, self.columns = origin.system.names, (run.q, run.v)
        self.q, self.v = run.q.array, {"right": run.v.array, "left": run.left.v.array}
        self.coordinates = coordinates_of(run)
        self.law = _law(run, origin)
        self._accelerations = {side: np.full_like(self.v[side], np.nan) for side in self.v}

    def states(self, at: Places, order: int) -> tuple[Array, Array]:
        """q (n, nq) and v (n, nv)."""
        return between(at, order, self.rows, self.q, self.v, self.coordinates, self.accelerations)

    def accelerations(self, rows: Index, side: str) -> Array:
        """v' (k, nv) at rows."""
        known = self._accelerations[side]
        for row in np.unique(rows[np.isnan(known[rows, :1]).any(axis=1)]):
            step = row if side == "right" else row - 1
            known[row] = self.law.forces(float(self.rows[row]), self.q[row], self.v[side][row], int(step)).a
        return np.asarray(known[rows])

    def instants(self, at: Places) -> Instants:
        """Accelerations and forces at times."""
        system, names = self.origin.system, self.names
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
            lam_g=table("constraint", names.constraints, "lam_g", [_dual(unit) for unit in names.constraint_units]),
            reaction=table("reaction", names.reactions, "reaction", names.reaction_units),
            lam_N=lam_N,
            lam_T=Columns("contact", system.contact_names, by_tangent(tangential, system), units),
            contact_force=axes.forces(),
            mode=table("contact", system.contact_names, "mode", ["1"] * system.nc),
        )


def bare_states(run: Run, t: object, side: str) -> States:
    """Coordinates and velocities of order 4, which require the rows only."""
    at, v = places(run.t, run.impacts["t"], t, side), {"right": run.v.array, "left": run.left.v.array}
    q, velocities = between(at, 4, run.t, run.q.array, v, coordinates_of(run), None)
    return States(
        at.t,
        Columns("coordinate", run.q.names, q, run.q.unit_list),
        Columns("velocity", run.v.names, velocities, run.v.unit_list),
    )


def acceleration_units(units: Sequence[str]) -> list[str]:
    """Of velocities' rates."""
    return [f"{unit.removesuffix('/s')}/s^2" for unit in units]


def _dual(unit: str) -> str:
    """Of what does work along a constraint of this unit."""
    return "N" if unit == "m" else "N m"


def _law(run: Run, origin: Origin) -> Law:
    if origin.system.compliance is not None:
        from nonsmooth.trajectory.compliant_instants import CompliantLaw

        return CompliantLaw(run, origin)
    from nonsmooth.trajectory.rigid_instants import RigidLaw

    if not np.all(np.isfinite(run.v.array)):
        raise InputError("The run contains velocities that are not finite; forces cannot be computed at its rows.")
    return RigidLaw(run, origin)
