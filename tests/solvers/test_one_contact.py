"""Coulomb's law of one contact in space, for blocks A (3, 3) of every condition: the local problem of Gauss-Seidel."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.compile.casadi_call import Array
from nonsmooth.solvers.kernels import one_contact
from nonsmooth.solvers.kernels.one_contact import solve_contact

ACCEPTED = 1e-12  # relative to the terms of u = A P + q
CLASSES = ("random", "condition 1e4", "condition 1e8 to 1e12", "singular")


def blocks(kind: str, count: int) -> tuple[Array, Array, Array]:
    """A (count, 3, 3), q (count, 3) and mu (count,), over six orders of magnitude of inertia and velocity."""
    rng = np.random.default_rng([CLASSES.index(kind), count])
    if kind in ("random", "singular"):
        Y = rng.normal(size=(count, 3, 6 if kind == "random" else 2))
        A = Y @ Y.transpose(0, 2, 1)
    else:
        Q = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
        exponents = np.zeros((count, 3))
        exponents[:, 2] = rng.uniform(0, 4, count) if kind == "condition 1e4" else rng.uniform(8, 12, count)
        exponents[:, 1] = exponents[:, 2] * rng.random(count)
        A = Q * 10.0 ** -exponents[:, None, :] @ Q.transpose(0, 2, 1)
    A = 10 ** rng.uniform(-3, 3, (count, 1, 1)) * (A + A.transpose(0, 2, 1)) / 2
    q = 10 ** rng.uniform(-3, 3, (count, 1)) * rng.normal(size=(count, 3))
    q[:, 0] *= 10 ** rng.uniform(-3, 1, count)
    if kind == "singular":  # the velocity of a motion, or there may be no answer
        q = np.einsum("nij,nj->ni", A, rng.normal(size=(count, 3)))
    return A, q, rng.choice([0.0, 0.05, 0.3, 1.0, 3.0], count)


def impulses(A: Array, q: Array, mu: Array, last: Array) -> Array:
    P = last.copy()
    for k in range(mu.size):
        solve_contact(A[k], 0, 3, mu[k], q[k], P[k])
    return P


def errors(A: Array, q: Array, mu: Array, P: Array) -> Array:
    """Natural map of each contact, relative to the sum of the absolute values of the terms of u."""
    u = np.einsum("nij,nj->ni", A, P) + q
    terms = np.einsum("nij,nj->ni", np.abs(A), np.abs(P)) + np.abs(q)
    d_T = np.maximum(A[:, 1, 1], A[:, 2, 2])
    normal = np.abs(np.minimum(u[:, 0], A[:, 0, 0] * P[:, 0]))
    y = d_T[:, None] * P[:, 1:] - u[:, 1:]
    share = np.minimum(1.0, mu * d_T * np.maximum(P[:, 0], 0.0) / np.maximum(np.linalg.norm(y, axis=1), 1e-300))
    tangential = np.linalg.norm(d_T[:, None] * P[:, 1:] - share[:, None] * y, axis=1)
    return np.maximum(normal / terms[:, 0], tangential / np.linalg.norm(terms[:, 1:], axis=1))


def all_solved(kind: str, count: int) -> None:
    A, q, mu = blocks(kind, count)
    P = impulses(A, q, mu, np.zeros_like(q))
    assert errors(A, q, mu, P).max() <= ACCEPTED
    reach = mu * P[:, 0]
    slips = (reach > 0.0) & (np.linalg.norm(P[:, 1:], axis=1) >= (1.0 - 1e-9) * reach)
    assert 0.2 < slips.mean() < 0.5  # open: half of them; without friction: a tenth
    rng = np.random.default_rng(0)
    for scatter in (1e-6, 1e-1, 10.0):  # warm, and misled
        again = impulses(A, q, mu, P * (1.0 + scatter * rng.normal(size=P.shape)))
        assert errors(A, q, mu, again).max() <= ACCEPTED


@pytest.mark.parametrize("kind", CLASSES)
def test_a_thousand_random_contacts_are_all_solved(kind: str) -> None:
    all_solved(kind, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLASSES)
def test_one_hundred_thousand_random_contacts_are_all_solved(kind: str) -> None:
    all_solved(kind, 100000)


def diagonal(A: Array, q: Array, mu: float) -> tuple[float, ...]:
    """Arguments of the secular equation for a block whose tangential part is diagonal without coupling of the two."""
    a = A[0, 0]
    S, c = np.diag(A)[1:] - A[0, 1:] ** 2 / a, q[1:] - A[0, 1:] * q[0] / a
    return a, q[0], S[0], S[1], c[0], c[1], A[0, 1], A[0, 2], mu


def test_the_secular_equation_alone_gives_the_same_slip() -> None:
    """Coupled with the normal in one direction; without `_alart_curnier` the last resort has to find all of them."""
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(300):
        A = np.diag(10 ** rng.uniform(-6, 0, 3))
        A[0, 1] = A[1, 0] = rng.uniform(-0.9, 0.9) * np.sqrt(A[0, 0] * A[1, 1])
        q, mu = np.r_[-rng.random(), rng.normal(size=2)], 0.2
        numbers = diagonal(A, q, mu)
        p = np.array(one_contact._secular(*numbers))
        a, q_N, S_1, S_2, c_1, c_2, w_1, w_2, _ = numbers
        if np.hypot(c_1 / S_1, c_2 / S_2) <= -mu * (q_N - w_1 * c_1 / S_1 - w_2 * c_2 / S_2) / a:
            continue  # sticks: no equation is solved
        found += 1
        reach = -mu * (q_N + w_1 * p[0] + w_2 * p[1]) / a
        assert np.hypot(*p) == pytest.approx(reach, rel=1e-10)  # P_N may be a difference of terms 1e3 times as large
        slip = np.array([S_1 * p[0] + c_1, S_2 * p[1] + c_2])
        size = np.hypot(S_1 * p[0], S_2 * p[1]) + np.hypot(c_1, c_2)
        assert abs(slip[0] * p[1] - slip[1] * p[0]) <= 1e-12 * size * np.hypot(*p)  # parallel to the slip
        assert slip @ p < 0.0
    assert found > 100


def test_the_direction_of_slip_turns_with_mu() -> None:
    """A contact whose two tangential compliances differ; the table of reference has mu = 0 and 0.3."""
    A = np.array([[1.85, 0.15, 0.2], [0.15, 71 / 60, -0.2], [0.2, -0.2, 1.4]])
    q, P = np.array([-1.0, 0.8, -0.5]), np.zeros(3)
    solve_contact(A, 0, 3, 0.0, q, P)
    np.testing.assert_allclose(P, [1 / 1.85, 0.0, 0.0], rtol=1e-15)
    solve_contact(A, 0, 3, 0.3, q, P)
    # the reference has twelve digits
    np.testing.assert_allclose(P, [0.546315124027, -0.152219787499, 0.060749943377], atol=6e-13)
    np.testing.assert_allclose((A @ P + q)[1:], [0.689670531388, -0.275243096967], atol=6e-13)


def test_painleves_coupling_stops_the_slip_wherever_the_iteration_starts() -> None:
    """A_NT = 0.9 > A_NN / mu: friction against this slip would press the contact more than it separates it.

    P_T = -(0.6 + 0.9e-3) / 0.19 stops the slip, and P_N = 1e-3 - 0.9 P_T keeps the contact closed.
    """
    A = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    P_T = -(0.6 + 0.9e-3) / 0.19
    for last in (np.zeros(3), np.array([1.0, 2.0, 0.0]), np.array([0.1, -0.2, 0.01])):
        P = last.copy()
        solve_contact(A, 0, 3, 2.0, np.array([-1e-3, 0.6, 0.0]), P)
        np.testing.assert_allclose(P, [1e-3 - 0.9 * P_T, P_T, 0.0], rtol=1e-14)


def test_where_sticking_and_slipping_both_obey_the_law_it_sticks() -> None:
    """mu = 3 on full blocks: in about one of a hundred contacts that can stick, a slip obeys the law as well."""
    A, q, _ = blocks("random", 5000)
    mu = np.full(5000, 3.0)
    stuck = -np.linalg.solve(A, q[:, :, None])[:, :, 0]
    can_stick = (q[:, 0] < 0.0) & (np.linalg.norm(stuck[:, 1:], axis=1) < 3.0 * stuck[:, 0])
    assert can_stick.sum() > 1000
    last = stuck + np.linalg.norm(stuck, axis=1)[:, None] * np.random.default_rng(0).normal(size=stuck.shape)
    P = impulses(A, q, mu, last)[can_stick]
    # blocks are conditioned to at most 1e4
    assert np.max(np.linalg.norm(P - stuck[can_stick], axis=1) / np.linalg.norm(P, axis=1)) < 1e-11


def test_contacts_that_need_no_equation() -> None:
    """Open, frictionless, not to be moved normally, not to be moved tangentially."""
    A, P = np.diag([2.0, 1.0, 1.0]), np.ones(3)
    solve_contact(A, 0, 3, 0.3, np.array([0.0, 1.0, 1.0]), P)
    np.testing.assert_array_equal(P, 0.0)
    solve_contact(A, 0, 3, 0.0, np.array([-1.0, 1.0, 1.0]), P)
    np.testing.assert_array_equal(P, [0.5, 0.0, 0.0])
    solve_contact(np.diag([0.0, 1.0, 1.0]), 0, 3, 0.3, np.array([-1.0, 1.0, 1.0]), P)
    np.testing.assert_array_equal(P, 0.0)
    solve_contact(np.diag([2.0, 0.0, 0.0]), 0, 3, 0.5, np.array([-1.0, 3.0, 4.0]), P)
    np.testing.assert_allclose(P, [0.5, -0.15, -0.2], rtol=1e-15)
