"""Coulomb's law of one contact, solved exactly: the local problem of Gauss-Seidel sweeps, compiled by numba.

Given the block A (d, d) of one contact, normal row first, and the relative velocity q caused by all other impulses,
find P with u = A P + q, 0 <= u_N _|_ P_N >= 0, |P_T| <= mu P_N and P_T opposite to u_T if u_T is not zero.

In space u_N = 0 is eliminated: P_N = -(q_N + w . P_T) / a and u_T = S P_T + c with the Schur complement S (2, 2) in its
principal axes. The contact sticks if the P_T with u_T = 0 lies in the disk. Otherwise u_T = -x P_T with x > 0 and |P_T|
= mu P_N, found by at most `STEPS` Newton steps of Alart and Curnier from the last impulse, or, if these do not
converge, by the secular equation |P_T(x)| = mu P_N(x), P_T(x) = -c / (S + x), which has a root. If several impulses
satisfy the law (large friction, strong coupling of tangential and normal rows), it is the first of these that is found.
"""

import numpy as np
from numba import njit

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs.base import TINY

STEPS = 6  # Newton steps before the secular equation
ITERATIONS = 200  # iterations of the secular equation; usually 3 to 6, bisection alone takes 60
SINGULAR = 1e-14  # relative to the trace: a smaller eigenvalue of the Schur complement is round-off
CLOSE = 1e-15  # relative size of a step that ends the secular equation
QUADRATIC = 1e-12  # relative size of a Newton step in two unknowns, after which the error is of the order of its square


@njit(cache=True)
def _length(x: float, y: float) -> float:
    """hypot without protection against overflow, which would take most of the time."""
    return np.sqrt(x * x + y * y)


@njit(cache=True)
def solve_contact(A: Array, i: int, d: int, mu: float, q: Array, P: Array) -> None:
    """P of the contact whose first row is i; on entry the last impulse, from which Newton's method starts in space."""
    a = A[i, i]
    if q[0] >= 0.0 or a <= 0.0:
        P[:] = 0.0
        return
    if d == 1 or mu == 0.0:
        P[:] = 0.0
        P[0] = -q[0] / a
        return
    if d == 2:
        _planar(A, i, mu, q, P)
    else:
        _spatial(A, i, mu, q, P)


@njit(cache=True)
def _planar(A: Array, i: int, mu: float, q: Array, P: Array) -> None:
    """In the plane: the contact sticks, or slips in the direction in which it would move without friction."""
    P[:] = 0.0
    a = A[i, i]
    S_1 = A[i + 1, i + 1] - A[i + 1, i] * A[i, i + 1] / a
    c_1, w_1 = q[1] - A[i + 1, i] * q[0] / a, A[i, i + 1]
    P_T = -c_1 / S_1 if S_1 > 1e-14 * A[i + 1, i + 1] else -np.sign(c_1) * np.inf
    if c_1 == 0.0:
        P_T = 0.0
    P[0] = -(q[0] + w_1 * P_T) / a if np.isfinite(P_T) else 0.0
    if not abs(P_T) <= mu * P[0]:
        P[0] = -q[0] / (a - np.sign(c_1) * mu * w_1)
        P_T = -np.sign(c_1) * mu * P[0]
    P[1] = P_T


@njit(cache=True)
def _spatial(A: Array, i: int, mu: float, q: Array, P: Array) -> None:
    """In space, with u_N = 0 eliminated and a diagonal Schur complement."""
    a = A[i, i]
    S_1 = A[i + 1, i + 1] - A[i + 1, i] * A[i, i + 1] / a
    S_2 = A[i + 2, i + 2] - A[i + 2, i] * A[i, i + 2] / a
    S_12 = A[i + 1, i + 2] - A[i + 1, i] * A[i, i + 2] / a
    c_1, c_2 = q[1] - A[i + 1, i] * q[0] / a, q[2] - A[i + 2, i] * q[0] / a
    w_1, w_2 = A[i, i + 1], A[i, i + 2]
    p_1, p_2 = P[1], P[2]
    C, s = 1.0, 0.0
    if S_12 != 0.0:  # one Jacobi rotation, without trigonometric functions
        half = 0.5 * (S_1 - S_2) / S_12
        t = 1.0 / (half + np.sqrt(1.0 + half * half)) if half >= 0.0 else 1.0 / (half - np.sqrt(1.0 + half * half))
        C = 1.0 / np.sqrt(1.0 + t * t)
        s = t * C
        S_1, S_2 = S_1 + t * S_12, S_2 - t * S_12
        c_1, c_2 = C * c_1 + s * c_2, C * c_2 - s * c_1
        w_1, w_2 = C * w_1 + s * w_2, C * w_2 - s * w_1
        p_1, p_2 = C * p_1 + s * p_2, C * p_2 - s * p_1
    tiny = SINGULAR * (A[i + 1, i + 1] + A[i + 2, i + 2])
    if tiny <= 0.0:  # tangential impulses do not change the slip velocity, which friction opposes
        length = _length(q[1], q[2])
        P[0] = -q[0] / a
        P[1] = -mu * P[0] * q[1] / length if length > 0.0 else 0.0
        P[2] = -mu * P[0] * q[2] / length if length > 0.0 else 0.0
        return
    noise = SINGULAR * (abs(q[1]) + abs(q[2]) + _length(w_1, w_2) * abs(q[0]) / a)
    if S_1 <= tiny and abs(c_1) <= noise:
        c_1 = 0.0
    if S_2 <= tiny and abs(c_2) <= noise:
        c_2 = 0.0
    S_1, S_2 = max(S_1, tiny), max(S_2, tiny)
    last_1, last_2 = p_1, p_2
    p_1, p_2 = -c_1 / S_1, -c_2 / S_2
    P_N = -(q[0] + w_1 * p_1 + w_2 * p_2) / a
    if _length(p_1, p_2) > mu * P_N:
        p_1, p_2, found = _alart_curnier(a, q[0], S_1, S_2, c_1, c_2, w_1, w_2, mu, last_1, last_2)
        if not found:
            p_1, p_2 = _secular(a, q[0], S_1, S_2, c_1, c_2, w_1, w_2, mu)
        P_N = max(-(q[0] + w_1 * p_1 + w_2 * p_2) / a, 0.0)
        shrink = mu * P_N / max(_length(p_1, p_2), TINY)
        p_1, p_2 = shrink * p_1, shrink * p_2
    P[0], P[1], P[2] = P_N, C * p_1 - s * p_2, s * p_1 + C * p_2


@njit(cache=True)
def _alart_curnier(
    a: float, q_N: float, S_1: float, S_2: float, c_1: float, c_2: float, w_1: float, w_2: float, mu: float,
    p_1: float, p_2: float,
) -> tuple[float, float, bool]:  # fmt: skip
    """Newton's method on p = mu P_N y / |y|, y = p - (S p + c) / max(S); at last whether a root was found. One with |y|
    < |p| is rejected, since its friction would act in the direction of slip."""
    r = 1.0 / max(S_1, S_2)
    if p_1 == 0.0 and p_2 == 0.0:
        length = _length(c_1, c_2)
        p_1, p_2 = mu * q_N * c_1 / (a * length), mu * q_N * c_2 / (a * length)
    for _ in range(STEPS):
        y_1, y_2 = p_1 - r * (S_1 * p_1 + c_1), p_2 - r * (S_2 * p_2 + c_2)
        length = _length(y_1, y_2)
        reach = -mu * (q_N + w_1 * p_1 + w_2 * p_2) / a
        if length == 0.0 or reach <= 0.0:
            return p_1, p_2, False
        n_1, n_2, k = y_1 / length, y_2 / length, reach / length
        G_1, G_2 = p_1 - reach * n_1, p_2 - reach * n_2
        m = mu / a
        b_1, b_2 = k * (1.0 - r * S_1), k * (1.0 - r * S_2)
        J_11 = 1.0 + m * n_1 * w_1 - b_1 * n_2 * n_2
        J_12 = m * n_1 * w_2 + b_2 * n_1 * n_2
        J_21 = m * n_2 * w_1 + b_1 * n_1 * n_2
        J_22 = 1.0 + m * n_2 * w_2 - b_2 * n_1 * n_1
        determinant = J_11 * J_22 - J_12 * J_21
        if determinant == 0.0:
            return p_1, p_2, False
        step_1, step_2 = (J_22 * G_1 - J_12 * G_2) / determinant, (J_11 * G_2 - J_21 * G_1) / determinant
        p_1, p_2 = p_1 - step_1, p_2 - step_2
        if _length(step_1, step_2) <= QUADRATIC * _length(p_1, p_2):
            y_1, y_2 = p_1 - r * (S_1 * p_1 + c_1), p_2 - r * (S_2 * p_2 + c_2)
            return p_1, p_2, p_1 * y_1 + p_2 * y_2 > 0.0 and _length(y_1, y_2) >= _length(p_1, p_2)
    return p_1, p_2, False


@njit(cache=True)
def _secular(
    a: float, q_N: float, S_1: float, S_2: float, c_1: float, c_2: float, w_1: float, w_2: float, mu: float
) -> tuple[float, float]:
    """P_T(x) at a root of |P_T(x)| = mu P_N(x), by Newton's method on 1 / |P_T| - 1 / (mu P_N), nearly linear in x,
    between two bounds. Convergence is tested first, since a converged iterate may lie on a bound by round-off."""
    low = 0.0
    high = _length(c_1, c_2) * (a + mu * _length(w_1, w_2)) / (mu * -q_N)
    x = 0.0
    p_1, p_2 = -c_1 / S_1, -c_2 / S_2
    for _ in range(ITERATIONS):
        length = _length(p_1, p_2)
        reach = -mu * (q_N + w_1 * p_1 + w_2 * p_2) / a
        if length == reach:
            break
        if length > reach:
            low = x
        else:
            high = x
        following = 0.5 * (low + high)
        if reach > 0.0:
            slope_1, slope_2 = -p_1 / (S_1 + x), -p_2 / (S_2 + x)
            lengthens = (p_1 * slope_1 + p_2 * slope_2) / length
            reaches = -mu * (w_1 * slope_1 + w_2 * slope_2) / a
            slope = reaches / reach**2 - lengthens / length**2
            newton = x - (1.0 / length - 1.0 / reach) / slope if slope != 0.0 else following
            if abs(newton - x) <= CLOSE * (x + min(S_1, S_2)):
                break
            if low < newton < high:
                following = newton
        if high - low <= CLOSE * high:
            break
        x = following
        p_1, p_2 = -c_1 / (S_1 + x), -c_2 / (S_2 + x)
    return p_1, p_2
