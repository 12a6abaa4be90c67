"""The phase of each step of an event-driven run, and what happened between two phases."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.evaluate import evaluate_rows
from nonsmooth.model.system import System
from nonsmooth.step.tolerances import OPEN, SLIPPING, STICKING
from nonsmooth.trajectory import Trajectory

#: share of the reach of a friction cone below which a force is inside of it
INSIDE = 1e-7
#: share of the approach velocity up to which a contact lasts after its impact
LASTS = 1e-9


@dataclass(frozen=True, eq=False)
class Phases:
    """Modes of each step: closed, sticks, direction of slip (n - 1, nc); those of `trajectory` between its rows."""

    closed: Array
    sticks: Array
    direction: Array

    @property
    def modes(self) -> Array:
        """(n - 1, 3 nc), as `PhaseEquations` takes them."""
        return np.hstack([self.closed, self.sticks, self.direction])


def phases_of(trajectory: Trajectory, system: System, parameters: Array) -> Phases:
    """Modes by the recorded ones where no impact hides them, else by the forces of the step."""
    n, nc = len(trajectory.t), system.nc
    dt = np.diff(trajectory.t)[:, None]
    mu = friction_of(system, parameters)
    known = np.array(trajectory.mode.array, dtype=int)[:-1]
    begins = np.isin(np.arange(n - 1), [0, *(row for row, _ in impact_rows(trajectory))])[:, None]
    P_N = np.asarray(trajectory.lam_N.array)[1:] * dt
    P_T = np.array(trajectory.P_T.array, dtype=float).reshape(n, nc, system.dimension - 1)
    for row, table in impact_rows(trajectory):
        for one in table:
            k = system.contact_names.index(str(one["contact"]))
            # in space a table has the length of an impact's friction alone: its step is taken as one that slips
            P_T[row, k] -= one["P_T"] if system.dimension == 2 else P_T[row, k]
    P_T = P_T[1:]  # of friction, without those of impacts
    loaded = P_N > 0.0
    inside = np.linalg.norm(P_T, axis=2) < mu * P_N * (1.0 - INSIDE)
    closed = np.where(begins, loaded, known != OPEN)
    sticks = closed & (mu > 0.0) & np.where(begins, inside, known == STICKING)
    slides = closed & (mu > 0.0) & np.where(begins, ~inside, known == SLIPPING)
    if system.dimension == 3:
        return Phases(closed * 1.0, sticks * 1.0, slides * 1.0)
    q, left = trajectory.q.array, trajectory.left.v.array
    D = evaluate_rows(system.W_T, q, parameters).reshape(n, nc, system.nv)
    slip = np.einsum("nck,nk->nc", D[:-1], trajectory.v.array[:-1]) + np.einsum("nck,nk->nc", D[1:], left[1:])
    opposed = np.where(P_T[:, :, 0] != 0.0, -np.sign(P_T[:, :, 0]), np.sign(slip))
    return Phases(closed * 1.0, sticks * 1.0, np.where(slides, opposed, 0.0))


def friction_of(system: System, parameters: Array) -> Array:
    """Coefficients of friction (nc,)."""
    return np.asarray(system.contact_law(parameters)[1], dtype=float).reshape(-1) if system.nc else np.zeros(0)


def impact_rows(trajectory: Trajectory) -> Iterator[tuple[int, NDArray[np.void]]]:
    """Rows with impacts, in order, and these."""
    rows = np.searchsorted(trajectory.t, trajectory.impacts["t"])
    for row in np.unique(rows):
        yield int(row), trajectory.impacts[rows == row]


def impact_at(table: NDArray[np.void], system: System, parameters: Array) -> Array:
    """Closed, sticks, direction of slip, rebounds and approach velocity (5, nc) of an impact, by its entries in the
    table of impacts; 0 of contacts that are not in it."""
    mu = friction_of(system, parameters)
    rows = table[table["P_N"] > 0.0]
    k = [system.contact_names.index(name) for name in rows["contact"].tolist()]
    inside = np.abs(rows["P_T"]) < mu[k] * rows["P_N"] * (1.0 - INSIDE)
    found = np.zeros((5, system.nc))
    found[0, k], found[1, k] = 1.0, inside & (mu[k] > 0.0)
    found[2, k] = np.where(inside, 0.0, -np.sign(rows["P_T"]))
    found[3, k] = rows["gamma_plus"] > -LASTS * rows["gamma_minus"]
    found[4, k] = -rows["gamma_minus"]
    return found
