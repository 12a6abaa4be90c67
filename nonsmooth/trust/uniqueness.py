"""Which contact forces of a motion are determined by it: a block on two feet that stick may squeeze itself or not.

Rigid contacts that share a load may do so in any way that moves nothing. The forces y that give the motion of a step
form a convex set, ::

    { y : D y = D y_found,  y_N >= 0,  |y_T| <= mu y_N where a contact does not slip,  y_T = -mu y_N s where it slips }

with D the directions of closed contacts that do not part, without what joints take up. Its dimension is the number of
independent ways in which the forces may change. The certificate holds for each of them; and where friction is among
them, other motions may obey Coulomb's law from the same state as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.steppers.base import OPEN, SLIPPING, STICKING
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.trajectory import Trajectory

__all__ = ["Undetermined", "undetermined_forces"]

#: velocity, beside those that it is a sum of and those of the step's loads, that counts as none
STILL = 1e-6
#: singular value, of directions of norm 1, below which they depend on each other
DEPENDENT = 1e-9
#: share of the largest impulse below which a contact of which it is not known that it stays closed does not press
PRESSING = 1e-6
#: share of a change of forces below which it does not change a part of them
SAME = 1e-6
#: round-off of impulses, as a share of the largest
ROUND_OFF = 1e-9
#: of rows with the same contacts in the same modes so many are evaluated, and so many in all
ALIKE, MOST = 3, 300
#: edges of a friction cone in space, about which the cone is circumscribed
EDGES = 8
#: numbers of contacts up to which modes of all of them fit into one integer
FIT = 26


class Undetermined(NamedTuple):
    """Numbers (n,) of independent ways to change the contact forces of each row and leave the motion as it is.

    Parameters
    ----------
    forces
        Of normal and tangential forces together.
    normal
        Of these, how many change normal forces.
    """

    forces: NDArray[np.int_]
    normal: NDArray[np.int_]

    @property
    def text(self) -> str:
        """For a verdict; empty where all forces are unique."""
        n, some, loads = self.forces.size - 1, int(np.count_nonzero(self.forces)), int(np.count_nonzero(self.normal))
        if loads:
            return f"how contacts share their load is not unique in {loads} of {n} steps, these forces are one answer"
        return f"friction of contacts that stick is not unique in {some} of {n} steps" if some else ""


def undetermined_forces(run: Trajectory) -> Undetermined:
    """Of rigid contacts at each row of a run.

    Rows with the same contacts in the same modes are taken for alike: the set is found at up to three of them, and the
    middle number counts, since directions may be dependent at single positions. After 300 evaluations the remaining
    rows take the numbers of the row before them.

    Raises
    ------
    InputError
        If the run was read from a file without its mechanism.

    Examples
    --------
    A block that sticks on two corners: what they hold against each other along the plane is not unique.

    >>> from nonsmooth import GaussQP, simulate
    >>> from nonsmooth_problems import block_on_incline
    >>> run = simulate(block_on_incline().build(), GaussQP(), t_end=0.3, dt=1e-3)
    >>> found = undetermined_forces(run)
    >>> int(found.forces[-1]), int(found.normal[-1])
    (1, 0)
    """
    if run.origin is None:
        raise InputError("A file does not keep the mechanism, whose forces these are; give it, load(path, system).")
    system, p = run.origin.system, run.origin.parameters
    numbers = np.zeros((len(run.t), 2), dtype=int)
    if system.compliant or not np.any(run.P_N.array):
        return Undetermined(*numbers.T)
    m, evaluated = Mechanism(system, p, 1.0), 0
    which = _alike(run)
    order = np.argsort(which, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    known = np.zeros(len(which), dtype=bool)
    for rows in sorted(groups, key=len, reverse=True):
        chosen = np.unique(rows[np.linspace(0, rows.size - 1, ALIKE).astype(int)])
        evaluated += chosen.size
        if evaluated > MOST:
            break
        found = sorted(_at_row(m, run, int(i)) for i in chosen)
        numbers[rows], known[rows] = found[(len(found) - 1) // 2], True
    before = np.maximum.accumulate(np.where(known, np.arange(len(known)), 0))
    return Undetermined(*numbers[before].T)


def _alike(run: Trajectory) -> NDArray[np.int64]:
    """A number for each row, the same for rows with the same contacts in the same modes."""
    mode = run.mode.array.astype(np.int64)
    back = run.P_T.array.reshape(*mode.shape, -1)[:, :, 0] < 0.0
    kinds = np.where((mode == SLIPPING) & back, SLIPPING + 1, mode)
    if kinds.shape[1] <= FIT:
        return np.asarray(kinds @ (SLIPPING + 2) ** np.arange(kinds.shape[1]))
    return np.unique(kinds, axis=0, return_inverse=True)[1].ravel()


def _at_row(m: Mechanism, run: Trajectory, i: int) -> tuple[int, int]:
    """Numbers of undetermined forces, and of normal ones, at a row."""
    t, q, v = float(run.t[i]), run.q.array[i], run.v.array[i]
    mode, P_N = run.mode.array[i], run.P_N.array[i]
    size = float(np.max(P_N))
    if not size > 0.0:
        return 0, 0
    at, dt = m.at(t, q), t - float(run.t[i - 1]) if i else 0.0
    moving = m.metric.length(v) + dt * m.metric.length(m.metric.change(m.force(t, q, v)))
    still_N, still_T = (STILL * moving * m.metric.rows(W)[1] for W in (at.W_N, at.W_T))
    slip = at.W_T.T @ v
    closed = ((mode != OPEN) | m.touching(at.g_N)) & ((P_N > PRESSING * size) | (np.abs(at.W_N.T @ v) <= still_N))
    closed = np.flatnonzero(closed)
    sticks = (m.friction > 0.0) & ((mode == STICKING) | (m.length(slip) <= m.largest(still_T)))
    # each column is a direction along which a contact may push, its entries are forces of the closed contacts
    wide, columns = 1 + m.tangents, []
    for k, contact in enumerate(closed):
        mu, along = m.friction[contact], m.along(np.array([contact]))
        drags = _edges(m.tangents) if sticks[contact] else [-m.unit(slip)[along]]
        for drag in drags:
            column = np.zeros(wide * closed.size)
            column[wide * k], column[wide * k + 1 : wide * (k + 1)] = 1.0, mu * drag
            columns.append(column)
    pushes = np.array(columns).T
    joints = m.independent(at.W_g, np.zeros(m.system.ng)).W
    D = m.metric.inverse @ np.concatenate([joints, m.blocks(at.W_N, at.W_T, closed) @ pushes], axis=1)
    D /= np.maximum(np.linalg.norm(D, axis=0), np.finfo(float).tiny)
    if np.linalg.matrix_rank(D, tol=DEPENDENT) == D.shape[1]:
        return 0, 0
    y = m.rows(P_N, run.P_T.array[i].ravel(), closed)
    free = _reachable(m, joints, m.blocks(at.W_N, at.W_T, closed), pushes, y / size)
    changes, sizes, _ = np.linalg.svd(pushes @ free, full_matrices=False)
    changes = changes[:, sizes > SAME * np.max(sizes, initial=0.0)]
    return changes.shape[1], int(np.linalg.matrix_rank(changes[::wide], tol=SAME))


def _reachable(m: Mechanism, joints: Array, directions: Array, pushes: Array, y: Array) -> Array:
    """Changes (columns, any) of the pushes along columns that change no motion, of those columns that can push at all.

    Which can, a linear program tells: of the pushes w that move as y does, or as any multiple of it, so that each that
    can be positive can be 1, it looks for those that are.
    """
    from scipy.optimize import linprog

    taken = np.linalg.svd(m.metric.inverse @ joints)[0][:, joints.shape[1] :].T @ m.metric.inverse  # beside the joints
    D, n = taken @ directions @ pushes, pushes.shape[1]
    lengths = np.maximum(np.linalg.norm(D, axis=0), np.finfo(float).tiny)
    # unknowns are w, s with w >= s <= 1, and the multiple
    moves = np.column_stack([D, np.zeros_like(D), -(taken @ directions @ y)])
    slack = np.full(len(D), ROUND_OFF * float(np.max(lengths)))  # for what y misses by its own round-off
    upper = np.concatenate([moves, -moves, np.column_stack([-np.eye(n), np.eye(n), np.zeros(n)])])
    gain = np.repeat([0.0, -1.0, 0.0], [n, n, 1])
    bounds = [(0.0, None)] * n + [(0.0, 1.0)] * n + [(1.0, None)]
    solved = linprog(gain, A_ub=upper, b_ub=np.concatenate([slack, slack, np.zeros(n)]), bounds=bounds)
    able = solved.x[n:-1] > 0.5 if solved.status == 0 else np.ones(n, dtype=bool)
    _, sizes, right = np.linalg.svd(D[:, able] / lengths[able])
    free = np.zeros((n, right.shape[0] - int(np.sum(sizes > DEPENDENT))))
    free[able] = (right[np.sum(sizes > DEPENDENT) :] / lengths[able]).T
    return free


def _edges(tangents: int) -> list[Array]:
    """Directions of the edges of a friction cone, in space of one that is circumscribed about it."""
    if tangents == 1:
        return [np.ones(1), -np.ones(1)]
    angles = 2 * math.pi * np.arange(EDGES) / EDGES
    return list(np.column_stack([np.cos(angles), np.sin(angles)]) / math.cos(math.pi / EDGES))
