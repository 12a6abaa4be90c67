"""Contact forces that the motion determines; not those of a block on two feet that stick, under internal stress.

Forces of rigid contacts that share a load are determined only up to changes that do not affect the motion. The forces
y that give the motion of a step form a convex set, ::

    { y : D y = D y_found,  y_N >= 0,  |y_T| <= mu y_N where a contact does not slip,  y_T = -mu y_N s where it slips }

with D the force directions of closed contacts that do not separate, projected onto the complement of the joints'
directions. Its dimension is the number of independent ways in which the forces may change. The certificate holds for
each of them. If friction is involved, other motions from the same state may satisfy Coulomb's law as well.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.tolerances import OPEN, SLIPPING, STICKING
from nonsmooth.trajectory import Trajectory

#: velocity relative to its summands, and to the velocity change by the loads of the step, that is treated as zero
STILL = 1e-6
#: singular value below which directions of norm 1 are treated as dependent
DEPENDENT = 1e-9
#: share of the largest impulse below which a contact with a velocity along its gap is treated as unloaded
LOADED = 1e-6
#: share of a change of forces below which a component is treated as unchanged
SAME = 1e-6
#: round-off of impulses, as a share of the largest
ROUND_OFF = 1e-9
#: to which linear programs hold their constraints, far below `LOADED`: the least that HiGHS accepts
FEASIBLE = 1e-10
#: rows evaluated among those with the same contacts in the same modes, and in total
ALIKE, MOST = 3, 300
#: edges of a friction cone in space, about which the cone is circumscribed
EDGES = 8
#: number of contacts up to which the modes of all of them fit into one integer
FIT = 26
#: share of the steps with contact below which a verdict does not mention forces that are not unique
RARE = 1e-3


class Undetermined(NamedTuple):
    """Numbers (n,) of independent ways to change the forces of each row and leave the motion as it is: all `forces`,
    how many of them change `normal` ones, and the number of rows with a `contact` force."""

    forces: NDArray[np.int_]
    normal: NDArray[np.int_]
    contact: int

    @property
    def rare(self) -> bool:
        """Whether forces are not unique in less than 0.1 % of the steps with contact, or nowhere."""
        return int(np.count_nonzero(self.forces)) < max(RARE * self.contact, 1)

    @property
    def shares_load(self) -> bool:
        """Whether the load of several contacts can be shared in many ways."""
        return bool(self.normal.any()) and not self.rare

    @property
    def text(self) -> str:
        """A sentence for a verdict; empty if all forces are unique."""
        n, some, loads = self.forces.size - 1, int(np.count_nonzero(self.forces)), int(np.count_nonzero(self.normal))
        if loads:
            of_load = f"the distribution of the load among contacts is not unique in {loads} of {n} steps"
            return f"{of_load}, and the forces of this run are one solution"
        return f"friction of sticking contacts is not unique in {some} of {n} steps" if some else ""


def undetermined_forces(run: Trajectory) -> Undetermined:
    """Independent changes of the rigid contact forces of a run that leave its motion unchanged, at each row.

    Rows with the same contacts in the same modes are treated as equivalent: the set is evaluated at up to three of
    them, and the median is used, since directions may be dependent at single positions. After 300 evaluations the
    remaining rows get the numbers of the row before them. InputError if the run was read from a file without its
    mechanism.

    A block that sticks on two corners: the part of their friction forces that cancels is not determined.

    >>> from nonsmooth import GaussQP, simulate
    >>> from nonsmooth_problems import block_on_incline
    >>> run = simulate(block_on_incline().build(), GaussQP(), t_end=0.3, dt=1e-3)
    >>> found = undetermined_forces(run)
    >>> int(found.forces[-1]), int(found.normal[-1])
    (1, 0)
    """
    if run.origin is None:
        raise InputError("A run read from a file has no mechanism, which is needed here; use load(path, system).")
    system, p = run.origin.system, run.origin.parameters
    numbers = np.zeros((len(run.t), 2), dtype=int)
    if system.compliant or not np.any(run.P_N.array):
        return Undetermined(numbers[:, 0], numbers[:, 1], 0)
    m, evaluated = Mechanism(system, p, 1.0), 0
    # a number for each row, the same for rows with the same contacts in the same modes
    mode = run.mode.array.astype(np.int64)
    back = run.P_T.array.reshape(*mode.shape, -1)[:, :, 0] < 0.0
    kinds = np.where((mode == SLIPPING) & back, SLIPPING + 1, mode)
    if kinds.shape[1] <= FIT:
        which = kinds @ (SLIPPING + 2) ** np.arange(kinds.shape[1])
    else:
        words = (kinds + 1).astype(np.uint8).view(f"S{kinds.shape[1]}")  # of which no letter is zero
        which = np.unique(words, return_inverse=True)[1].ravel()
    order = np.argsort(which, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    known = np.zeros(len(which), dtype=bool)
    for rows in sorted(groups, key=len, reverse=True):
        chosen = np.unique(rows[np.linspace(0, rows.size - 1, ALIKE).astype(int)])
        evaluated += chosen.size
        if evaluated > MOST:
            break
        found = sorted(_undetermined_at_row(m, run, int(i)) for i in chosen)
        numbers[rows], known[rows] = found[(len(found) - 1) // 2], True
    before = np.maximum.accumulate(np.where(known, np.arange(len(known)), 0))
    forces, normal = numbers[before].T
    return Undetermined(forces, normal, int(np.count_nonzero(np.any(run.P_N.array > 0.0, axis=1))))


def shocks_passed_on(run: Trajectory) -> str:
    """A sentence for a verdict on impacts with restitution that act through contacts that were closed before, at rest
    relative to each other; empty if there are none. Were these open by any small gap, they would close by impacts of
    their own, after which velocities differ."""
    table = run.impacts
    if run.origin is None or not table.size:
        return ""
    system, p = run.origin.system, run.origin.parameters
    bouncing = dict(zip(system.contact_names, system.elementwise.contact_law(p)[0] > 0.0, strict=True))
    _, instant = np.unique(table["t"], return_inverse=True)
    approach, size, bounces = np.zeros((3, instant.max() + 1))
    np.maximum.at(approach, instant, -table["gamma_minus"])
    np.maximum.at(size, instant, table["P_N"])
    np.maximum.at(bounces, instant, [bouncing[name] for name in table["contact"].tolist()])
    still = np.abs(table["gamma_minus"]) <= STILL * approach[instant]
    rows = np.flatnonzero(still & (table["P_N"] > LOADED * size[instant]) & (bounces[instant] > 0.0))
    if not rows.size:
        return ""
    count, first = len(np.unique(instant[rows])), table[rows[0]]
    return (
        f'{count} impact{"s" if count > 1 else ""} passed on by closed contacts, first by "{first["contact"]}" at t = '
        f"{first['t']:.6g} s: any small gap there would change the motion"
    )


def _undetermined_at_row(m: Mechanism, run: Trajectory, i: int) -> tuple[int, int]:
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
    # closed contacts that do not separate, and those of them that stick
    near = (mode != OPEN) | m.touching(at.g_N)
    closed = np.flatnonzero(near & ((P_N > LOADED * size) | (np.abs(at.W_N.T @ v) <= still_N)))
    sticks = (m.friction > 0.0) & ((mode == STICKING) | (m.length(slip) <= m.largest(still_T)))
    wide = 1 + m.tangents
    joints = m.independent(at.W_g, np.zeros(m.system.ng)).W
    directions = m.metric.inverse @ m.blocks(at.W_N, at.W_T, closed)
    effects, lengths = _unit(directions), np.linalg.norm(directions, axis=0)
    # normal forces that are given, in space with the tangent in which nothing slides, have effects of their own
    pressed = np.flatnonzero(np.isin(closed, list(m.system.given_normal)))
    given = [wide * k + i for k in pressed for i in range(0, wide, 2)]
    lengths[given] = 1.0
    effects = np.vstack([effects, np.eye(lengths.size)[given]])
    bonds = np.pad(m.metric.inverse @ joints, ((0, len(given)), (0, 0)))
    rows = np.concatenate([_unit(bonds), effects], axis=1)
    rough = np.repeat(m.friction[closed] > 0.0, wide) | (np.arange(wide * closed.size) % wide == 0)
    rows = rows[:, np.concatenate([np.ones(joints.shape[1], dtype=bool), rough])]
    if np.linalg.matrix_rank(rows, tol=DEPENDENT) == rows.shape[1]:
        return 0, 0
    # each column is an edge of a friction cone; its entries are forces of the closed contacts
    angles = 2 * math.pi * np.arange(EDGES) / EDGES
    pyramid = np.column_stack([np.cos(angles), np.sin(angles)]) / math.cos(math.pi / EDGES)
    edges = [np.ones(1), -np.ones(1)] if m.tangents == 1 else list(pyramid)
    columns = []
    for k, contact in enumerate(closed):
        mu, along = m.friction[contact], m.along(np.array([contact]))
        for drag in edges if sticks[contact] else [-m.unit(slip)[along]]:
            column = np.zeros(wide * closed.size)
            column[wide * k], column[wide * k + 1 : wide * (k + 1)] = 1.0, mu * drag
            columns.append(lengths * column)
    # what the joints do not take up
    effects = np.linalg.svd(bonds)[0][:, joints.shape[1] :].T @ effects
    y = m.rows(P_N, run.P_T.array[i].ravel(), closed)
    changes = force_changes(effects, np.array(columns).T, lengths * y)
    return changes.shape[1], int(np.linalg.matrix_rank(changes[::wide], tol=SAME))


def force_changes(effects: Array, edges: Array, forces: Array) -> Array:
    """Orthonormal changes (m, any) of `forces` (m,) that leave `effects` (any, m) unchanged, and keep them sums of
    edges of cones, (m, n) `edges`, with coefficients w >= 0.

    Only edges whose coefficient can be positive take part. A linear program finds them: among the coefficients that
    have the effect of `forces` it maximises the sum of all, each counted up to `LOADED` of the largest force. What
    these edges span, as far as it has no effect, is the result. A change of coefficients without a change of forces is
    none.
    """
    edges = _unit(edges)
    D, E, n = effects @ edges, effects @ forces / np.max(np.abs(forces)), edges.shape[1]
    able = _positive_coefficients(D, E, ROUND_OFF)
    if able is None:  # forces are beyond the boundary of their cones by more than round-off: the nearest ones within
        from scipy.optimize import linprog

        ones = np.ones((len(D), 1))  # the smallest distance of D w from E, w >= 0, by the largest component
        upper = np.concatenate([np.column_stack([D, -ones]), np.column_stack([-D, -ones])])
        found = linprog(
            np.append(np.zeros(D.shape[1]), 1.0), A_ub=upper, b_ub=np.concatenate([E, -E]),
            options={"primal_feasibility_tolerance": FEASIBLE},
        )  # fmt: skip
        able = _positive_coefficients(D, E, ROUND_OFF + float(found.x[-1]))
    if able is None:
        able = np.ones(n, dtype=bool)
    left, sizes, _ = np.linalg.svd(edges[:, able], full_matrices=False)
    span = left[:, sizes > DEPENDENT]
    _, sizes, right = np.linalg.svd(effects @ span)
    return np.asarray(span @ right[np.sum(sizes > DEPENDENT) :].T)


def _positive_coefficients(D: Array, E: Array, slack: float) -> NDArray[np.bool_] | None:
    """Coefficients w >= 0 with D w = E that can be positive, together; None if there are none."""
    from scipy.optimize import linprog

    n = D.shape[1]
    # unknowns are w and s, w >= s <= LOADED, of which the sum is largest
    upper = np.vstack([np.column_stack([side, np.zeros_like(D)]) for side in (D, -D)])
    upper = np.vstack([upper, np.column_stack([-np.eye(n), np.eye(n)])])
    limits = np.concatenate([slack + E, slack - E, np.zeros(n)])
    solved = linprog(
        np.repeat([0.0, -1.0], n), A_ub=upper, b_ub=limits, bounds=[(0.0, None)] * n + [(0.0, LOADED)] * n,
        options={"primal_feasibility_tolerance": FEASIBLE},
    )  # fmt: skip
    return np.asarray(solved.x[n:] > 0.5 * LOADED) if solved.status == 0 else None


def _unit(columns: Array) -> Array:
    """Columns of length 1; zero columns remain zero."""
    return np.asarray(columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny))
