"""Conversions of programs, each with the recovery of the solution."""

from collections.abc import Callable

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs.friction_contact import ConeQP, FrictionContact
from nonsmooth.programs.qp import LCP, QP


def lcp_from_qp(qp: QP) -> tuple[LCP, Callable[[Array], Array]]:
    """Dual of a QP: the Delassus matrix A H^-1 A^T and the rows' values in free motion.

    With H = L L^T and Y = L^-1 A^T, the LCP is w = Y^T Y y - (A H^-1 f + b), whose w is A x - b.

    Returned are the LCP, whose z is y and whose bilateral rows are the equalities, and the function
    y -> x = H^-1 (A^T y - f); InputError if H is not positive definite.

    >>> lcp, recover = lcp_from_qp(QP(H=2 * np.eye(1), f=np.array([2.0]), A=np.eye(1), b=np.zeros(1)))
    >>> lcp.A, lcp.b, recover(np.array([2.0]))
    (array([[0.5]]), array([-1.]), array([0.]))
    """
    try:
        factor = np.linalg.cholesky(qp.H)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"H of this QP ({qp.f.size} unknowns) is not positive definite, so the dual A H^-1 A^T does not exist. "
            "Check masses and inertias: each must be positive."
        ) from error
    inverse = np.linalg.inv(factor)
    Y, free = inverse @ qp.A.T, inverse @ qp.f
    lcp = LCP(Y.T @ Y, -(free @ Y) - qp.b, qp.equalities, qp.names)

    return lcp, lambda y: (Y @ y - free) @ inverse


def lcp_from_friction_contact(program: FrictionContact) -> tuple[LCP, Callable[[Array], Array]]:
    r"""Exact LCP of a planar program: one row per contact for u_N, then two per contact with friction.

    Slip is split into forward and backward parts, u_T = u_R - u_L, each complementary to an edge of the cone:

    .. math::
        0 \le u_N \perp P_N \ge 0, \qquad 0 \le \mu P_N + P_T \perp u_R \ge 0, \qquad
        0 \le \mu P_N - P_T \perp u_L \ge 0.

    P_T and the bilateral impulses are eliminated. The remaining matrix is copositive, so that Lemke's method ends with
    a solution if there is one, and has a positive diagonal. In space the disk has no edges, and no LCP is exact.

    Returned are the LCP, whose z is (P_N of all contacts, u_R and then u_L of those with mu > 0), and the function from
    its z to that of the program. InputError in space; or if the eliminated rows (bilateral, and tangential with mu > 0)
    are dependent: then add a small multiple of the diagonal to A, and iterate as in the proximal-point method.

    >>> floor = FrictionContact(np.eye(2), np.array([-1.0, 3.0]), np.array([0.5]), dimension=2)
    >>> lcp, recover = lcp_from_friction_contact(floor)
    >>> recover(np.array([1.0, 2.5, 0.0]))  # pushed by 1, slips forward at 2.5
    array([ 1. , -0.5])
    """
    if program.dimension != 2:
        raise InputError("A FrictionContact in space has no exact LCP: its friction disk has no edges.")
    e, mu = program.bilateral, program.friction
    rough = np.flatnonzero(mu > 0.0)
    N = e + 2 * np.arange(program.contacts)
    free = np.concatenate((np.arange(e), N[rough] + 1))
    A, b = program.A, program.b
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(A[np.ix_(free, free)]))
    except np.linalg.LinAlgError as error:
        raise InputError(
            "Bilateral and tangential rows of this FrictionContact are dependent, so that their impulses cannot be "
            "eliminated. Raise the diagonal of A a little."
        ) from error
    # impulses of the free rows are affine in z: offset + slope z
    r, n = rough.size, program.contacts
    right = np.zeros((free.size, 1 + n + 2 * r))
    right[:, 0], right[:, 1 : 1 + n] = b[free], A[np.ix_(free, N)]
    right[e:, 1 + n : 1 + n + r], right[e:, 1 + n + r :] = -np.eye(r), np.eye(r)
    solved = -inverse.T @ (inverse @ right)
    offset, slope = solved[:, 0], solved[:, 1:]
    edge = np.zeros((r, n + 2 * r))
    edge[np.arange(r), rough] = mu[rough]
    normal = A[np.ix_(N, free)] @ slope
    normal[:, :n] += A[np.ix_(N, N)]
    matrix = np.vstack((normal, edge + slope[e:], edge - slope[e:]))
    vector = np.concatenate((A[np.ix_(N, free)] @ offset + b[N], offset[e:], -offset[e:]))
    names = tuple(name.removesuffix(", normal") for name in program.row_names[e::2])
    sides = tuple(f"{names[k]}, {side}" for side in ("forward", "backward") for k in rough)
    lcp = LCP(matrix, vector, 0, program.row_names[e::2] + sides)

    def recover(z: Array) -> Array:
        impulses = np.zeros(b.size)
        impulses[N] = z[:n]
        impulses[free] = offset + slope @ z
        P_T = impulses[N[rough] + 1]
        impulses[N[rough] + 1] = np.clip(P_T, -mu[rough] * z[rough], mu[rough] * z[rough])
        return impulses

    return lcp, recover


def cone_qp_from_friction_contact(program: FrictionContact) -> ConeQP:
    """The convex relaxation of Anitescu and Tasora with the same numbers: another law, see the warning of `ConeQP`."""
    return ConeQP(program.A, program.b, program.friction, program.dimension, program.bilateral, program.names)


def associated_lcp_from_friction_contact(program: FrictionContact) -> tuple[LCP, Callable[[Array], Array]]:
    r"""The convex relaxation (`ConeQP`) in the plane as an LCP of the edges of the cones.

    With z = E y, P_N = y_1 + y_2 and P_T = mu (y_1 - y_2), it is w = E^T A E y + E^T b, symmetric and positive
    semidefinite: a solution exists if b is the velocity of a motion, and its u is unique, that of least kinetic energy.
    Without sliding contacts it satisfies Coulomb's law as well: it is the state of rest among all admissible ones.
    Returned are the LCP and the function y -> z of the program; InputError in space, where a cone has no edges.

    A body of 1 kg with friction 0.5 under a normal impulse of 1 N s and a tangential one of 0.25 N s remains at rest.

    >>> floor = FrictionContact(np.eye(2), np.array([-1.0, 0.25]), np.array([0.5]), dimension=2)
    >>> lcp, recover = associated_lcp_from_friction_contact(floor)
    >>> lcp.A, recover(np.array([0.25, 0.75]))
    (array([[1.25, 0.75],
           [0.75, 1.25]]), array([ 1.  , -0.25]))
    """
    if program.dimension != 2:
        raise InputError("The cones of a FrictionContact in space have no edges, of which an LCP could be made.")
    e, mu, n = program.bilateral, program.friction, program.contacts
    rough, N = np.flatnonzero(mu > 0.0), e + 2 * np.arange(n)
    E = np.zeros((program.b.size, e + n + rough.size))
    E[np.arange(e), np.arange(e)] = 1.0
    E[N, e + np.arange(n)], E[N + 1, e + np.arange(n)] = 1.0, mu
    other = e + n + np.arange(rough.size)
    E[N[rough], other], E[N[rough] + 1, other] = 1.0, -mu[rough]
    return LCP(E.T @ program.A @ E, E.T @ program.b, e), lambda y: np.asarray(E @ y)


def pushed_friction_contact(program: FrictionContact, push: Array) -> tuple[FrictionContact, Callable[[Array], Array]]:
    r"""Contacts with known normal impulses in addition to P_N, as one FrictionContact.

    .. math::
        0 \le u_N \perp P_N \ge 0, \quad \|P_T\| \le \mu (P_N + \text{push}), \quad
        \|u_T\| P_T = -\mu (P_N + \text{push}) u_T.

    A contact with friction and a known impulse is duplicated. The tangential rows of the twin are those of the contact;
    its normal row d (P' - push), with d the contact's diagonal of A, is decoupled, so that P' = push. Both friction
    impulses oppose the same slip, and so does their sum, with the required bound: a solution is exact if and only if
    the program with twins certifies it. If contact and twin stick, only the sum of their P_T is unique.

    The program's b already includes the effect of the push (contacts,) [N s], >= 0, on u. Returned are the program, in
    which twins follow the contacts, and the function from its z to that of the contacts, without the push.

    A body of 1 kg slides at 3 m/s and leaves the floor at 1 m/s due to a known impulse of 1 N s, whose friction
    follows.

    >>> floor = FrictionContact(np.eye(2), np.array([1.0, 3.0]), np.array([0.5]), dimension=2)
    >>> pushed, recover = pushed_friction_contact(floor, np.array([1.0]))
    >>> recover(np.array([0.0, 0.0, 1.0, -0.5]))
    array([ 0. , -0.5])
    """
    e, d, m = program.bilateral, program.dimension, program.b.size
    twinned = np.flatnonzero((program.friction > 0.0) & (push > 0.0))
    if twinned.size == 0:
        return program, lambda z: z
    places = (e + d * twinned[:, None] + np.arange(d)).ravel()
    rows = np.concatenate((np.arange(m), places))
    normal, own = m + d * np.arange(twinned.size), program.units[places[::d]]
    own = np.where(own > 0.0, own, 1.0)
    A, b = program.A[np.ix_(rows, rows)], program.b[rows]
    A[normal], A[:, normal] = 0.0, 0.0
    A[normal, normal], b[normal] = own, -own * push[twinned]
    names = program.names + tuple(f"{program.names[e + k]}, push" for k in twinned if program.names)
    friction = np.concatenate((program.friction, program.friction[twinned]))

    def recover(z: Array) -> Array:
        impulses = z[:m].copy()
        twins = z[m:].copy()
        twins[::d] = 0.0
        impulses[places] += twins
        return impulses

    return FrictionContact(A, b, friction, d, e, names), recover
