"""Coulomb friction by quadratic programs over tangent planes of cones, in the plane and in space.

With impulses P = E' y of multipliers y >= 0, Gauss' principle over tangent planes of the dual cone is a QP in the
change x of velocity, in the mass metric ::

    min 1/2 |x|^2   s.t.   u_N + mu (t . u_T + |u_T'|) >= 0   for each plane t of each contact,   u = C x + b

where u' is u of the last program (de Saxce's correction, without which a sliding contact would open by dt mu |u_T|). In
the plane a cone has two planes, t = 1 and -1. In space it has infinitely many: one is tangent in the current direction
of friction, that of P_T - u_T, two beside it by twice the angle that this has changed, three behind the axis. Where a
contact slides along t, t alone is active: then, and where the angle vanishes, a solution satisfies Coulomb's law
exactly.

Joints are eliminated before, so that a program has as many unknowns as the joints leave freedoms to the contacts.
"""

from collections.abc import Callable

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import QP, FrictionContact, Solution
from nonsmooth.solvers.polish import refined_friction
from nonsmooth.solvers.session import normalised_contact

#: programs until the correction has converged
CORRECTIONS = 60
#: eigenvalue of a Delassus matrix with unit diagonal that is round-off
NOTHING = 1e-15
#: angle [rad] of the planes beside the current one at most and at least, as a multiple of the last change of direction
WIDEST, NARROWEST, MARGIN = np.pi / 3, 1e-6, 2.0
#: angles [rad] of the planes behind the axis
BEHIND = np.array([-2.0, 2.0, 3.0]) * np.pi / 3


def contact_by_qps(
    program: FrictionContact, last: Array, solve: Callable[[QP], Solution], tolerance: float
) -> Array | None:
    """Impulses by Coulomb's law whose residual is at most `tolerance`, by `solve` of QPs from impulses `last` (m,);
    None if they do not converge. Modes are those of each QP; impulses are refined with them, as those of a QP on its
    active rows."""
    try:
        scaled = normalised_contact(program)
    except ValueError:  # a trial that diverged
        return None
    if not program.contacts:  # multipliers of equalities
        root = _root(scaled.A)
        n = root.shape[1]
        y = solve(QP(np.eye(n), np.zeros(n), root, -scaled.b, scaled.b.size)).y
        return _certified(program, np.asarray(y) * scaled.scale, tolerance)
    S, s, whole = _without_joints(scaled.A, scaled.b, scaled.e)
    contacts, root, mu = FrictionContact(S, s, scaled.mu, scaled.d), _root(S), scaled.mu
    if not mu.any():
        P = _impulses(root, s, np.eye(s.size)[:: scaled.d], solve)
        return _certified(program, whole(P) * scaled.scale, tolerance)
    P = scaled.start(Solution(last, last, "", 0, ""))[scaled.e :]
    directions, angle = _directions(contacts, P, S @ P + s), np.full(mu.size, WIDEST)
    for _ in range(CORRECTIONS):
        slip = np.linalg.norm(contacts.split(S @ P + s)[1], axis=1)
        b = s.copy()
        b[:: scaled.d] += mu * slip
        P = _impulses(root, b, _planes(mu, directions, angle), solve)
        u = S @ P + s
        # with the modes of the solution: zero where a contact opens, on the rim of the disc where it slips
        moded = P.copy()
        (P_N, P_T), (u_N, u_T) = contacts.split(moded), contacts.split(u)
        P_N[:] = np.where(P_N > u_N, P_N, 0.0)
        tried, reach = P_T - u_T, mu * P_N
        length = np.linalg.norm(tried, axis=1)
        rim = tried * (reach / np.where(length > 0.0, length, 1.0))[:, None]
        P_T[:] = np.where((length < reach)[:, None], P_T, rim)
        for found in (refined_friction(contacts, moded), P):
            z = _certified(program, whole(found) * scaled.scale, tolerance)
            if z is not None:
                return z
        following = _directions(contacts, P, u)
        change = np.arccos(np.clip(np.sum(following * directions, axis=1), -1.0, 1.0))
        directions, angle = following, np.clip(MARGIN * change, NARROWEST, WIDEST)
    return None


def _certified(program: FrictionContact, z: Array, tolerance: float) -> Array | None:
    return z if program.residual(Solution(z, z, "", 0, "")) <= tolerance else None


def _without_joints(A: Array, b: Array, e: int) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Delassus matrix and free velocities of contacts with joints held, and all impulses from those of contacts."""
    if e == 0:
        return A, b, lambda P: P
    J, right = A[:e, :e], np.column_stack([b[:e], A[:e, e:]])
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(J))
    except np.linalg.LinAlgError:  # redundant rows
        values, vectors = np.linalg.eigh(J)
        kept = values > NOTHING * max(float(values[-1]), 0.0)
        inverse = (vectors[:, kept] / np.sqrt(values[kept])).T
    Y = inverse @ right
    S = A[e:, e:] - Y[:, 1:].T @ Y[:, 1:]

    def whole(P: Array) -> Array:
        z = np.concatenate([-inverse.T @ (Y[:, 0] + Y[:, 1:] @ P), P])
        z[:e] -= inverse.T @ (inverse @ (A[:e] @ z + b[:e]))
        return z

    return (S + S.T) / 2, b[e:] - Y[:, 1:].T @ Y[:, 0], whole


def _root(A: Array) -> Array:
    """C with A = C C', of as many columns as A has rank."""
    values, vectors = np.linalg.eigh(A)
    kept = values > NOTHING * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _impulses(root: Array, b: Array, E: Array, solve: Callable[[QP], Solution]) -> Array:
    """Impulses E' y of contacts by the QP over the planes E, each a normal row and mu times a direction."""
    G = E @ root
    norms = np.linalg.norm(G, axis=1)
    norms[norms == 0.0] = 1.0
    n = root.shape[1]
    y = solve(QP(np.eye(n), np.zeros(n), G / norms[:, None], -(E @ b) / norms)).y / norms
    return np.asarray(E.T @ np.maximum(y, 0.0))


def _directions(contacts: FrictionContact, P: Array, u: Array) -> Array:
    """Unit vectors along P_T - u_T of each contact, which is the direction of friction whether it sticks or slides."""
    along = contacts.split(P)[1] - contacts.split(u)[1]
    length = np.linalg.norm(along, axis=1)
    along[length == 0.0, 0] = length[length == 0.0] = 1.0
    return np.asarray(along / length[:, None])


def _planes(mu: Array, directions: Array, angle: Array) -> Array:
    """Rows (planes, m) of tangent planes: one of a contact without friction, two in the plane, six in space."""
    n, tangents = directions.shape
    d = tangents + 1
    rough = mu > 0.0
    turns = np.column_stack([np.zeros(n), angle, -angle, np.tile(BEHIND, (n, 1))])
    if tangents == 1:
        sides = np.tile([1.0, -1.0], (n, 1))[:, :, None]
    else:
        across = np.column_stack([-directions[:, 1], directions[:, 0]])
        sides = np.cos(turns)[:, :, None] * directions[:, None] + np.sin(turns)[:, :, None] * across[:, None]
    count = sides.shape[1]
    E = np.zeros((n, count, n, d))
    for k in range(n):
        E[k, :, k, 0], E[k, :, k, 1:] = 1.0, mu[k] * sides[k]
    kept = np.concatenate([np.ones((n, 1), dtype=bool), np.repeat(rough[:, None], count - 1, axis=1)], axis=1)
    return E.reshape(n * count, n * d)[kept.ravel()]
