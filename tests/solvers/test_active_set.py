"""The active set on what breaks active sets: nonsymmetric, redundant, degenerate and contradictory problems."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, MPCC, QP, MPCCStructure, Solution, lcp_from_qp
from nonsmooth.solvers import ActiveSet

# The kernel accepts a sign error of 1e-13 and stops refining at 1e-15; ten times the former is what it promises.
PROMISE = ActiveSet.tolerance


@pytest.fixture(scope="module")
def session():
    return ActiveSet().setup()


@pytest.mark.parametrize(
    ("lcp", "z"),
    [
        (LCP(np.array([[2.0, 1.0], [-1.0, 2.0]]), np.array([-4.0, -3.0])), [1.0, 2.0]),
        (LCP(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 0.0]), bilateral=1), [-2.0, 1.0]),
        (LCP(np.ones((2, 2)), -np.ones(2)), [0.5, 0.5]),  # least norm of the equivalent answers
        (LCP(np.zeros((1, 1)), np.ones(1)), [0.0]),
        (LCP(np.zeros((0, 0)), np.zeros(0)), []),
    ],
)
def test_known_answers(session, lcp: LCP, z: list[float]) -> None:
    solution = session.solve(lcp)
    # how redundant rows share their load is known to round-off / regularisation, 2e-16 / 1e-10
    independent = lcp.b.size == 0 or np.linalg.matrix_rank(lcp.A) == lcp.b.size
    np.testing.assert_allclose(solution.y, z, rtol=1e-14 if independent else 1e-5)
    np.testing.assert_allclose(solution.x, lcp.A @ solution.y + lcp.b, atol=1e-15)
    assert solution.status == "solved"


def test_random_nonsymmetric_p_matrices(session) -> None:
    """A positive definite symmetric part makes a P-matrix, however large the skew part; so do positive row factors."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        m = int(rng.integers(1, 21))
        B, S = rng.normal(size=(2, m, m))
        A = (
            rng.choice([1.0, 1e-2]) * B @ B.T
            + rng.choice([1.0, 10.0]) * (S - S.T)
            + np.diag(10 ** rng.uniform(-6, 0, m))
        )
        lcp = LCP(10 ** rng.uniform(-3, 3, m)[:, None] * A, rng.normal(size=m))
        start = Solution(np.zeros(m), np.zeros(m), "", 0, "", active=rng.random(m) < 0.5)
        assert lcp.residual(session.solve(lcp, start)) <= PROMISE


def test_redundant_and_opposed_rows(session) -> None:
    """Rows drawn with repetition and either sign, meeting in one feasible point: as degenerate as contact gets."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        n, m = int(rng.integers(1, 9)), int(rng.integers(2, 17))
        rows = rng.normal(size=(m, n))[rng.integers(0, m, m)] * rng.choice([-1.0, 1.0], m)[:, None]
        qp = QP(np.diag(10 ** rng.uniform(-4, 1, n)), rng.normal(size=n), rows, rows @ rng.normal(size=n))
        solution = session.solve(qp)
        assert qp.residual(solution) <= PROMISE
        assert solution.y.min() >= 0.0


@pytest.mark.parametrize("active", [[True] * 4, [False] * 4, [True, False, False, True], [False, True, True, False]])
def test_four_gaps_where_two_suffice_whatever_the_start(session, active: list[bool]) -> None:
    """The slider at rest on the rod: ends carry (m g -+ s f / a) dt / 2 = 23.275 and 25.775 mN s (slider_rod.md)."""
    dt, a, c = 1e-3, 0.01, 1e-5
    gaps = np.array([[0.0, -1.0, a], [0.0, 1.0, -a], [0.0, -1.0, -a], [0.0, 1.0, a]])
    impulse = dt * np.array([50.0, -5 * 9.81, -50 * 5e-4])
    qp = QP(np.diag([5.0, 5.0, 8e-4]), -impulse, gaps, -np.array([2 * c, 0.0, 2 * c, 0.0]) / dt)
    solution = session.solve(qp, Solution(np.zeros(3), np.zeros(4), "", 0, "", np.array(active)))
    np.testing.assert_allclose(solution.y, [0.0, 23.275e-3, 0.0, 25.775e-3], rtol=1e-13)
    np.testing.assert_allclose(solution.x, [0.01, 0.0, 0.0], atol=1e-17)


def test_a_chain_of_many_contacts(session) -> None:
    """60 bodies in a row between walls, pushed together: every contact carries the push."""
    n = 60
    rows = np.eye(n)[:-1] - np.eye(n)[1:]
    rows = np.vstack((np.eye(n)[:1], -rows, -np.eye(n)[-1:]))
    qp = QP(np.eye(n), np.r_[np.zeros(n - 1), 7.0], rows, np.zeros(n + 1))
    solution = session.solve(qp)
    np.testing.assert_allclose(solution.y[:n], 7.0, rtol=1e-12)
    assert qp.residual(solution) <= PROMISE


@pytest.mark.parametrize("overlap", [1.0, 1e-3, 1e-6])
def test_a_contradiction_is_not_called_solved(session, overlap: float) -> None:
    qp = QP(np.eye(1), np.zeros(1), np.array([[1.0], [-1.0]]), np.array([1.0, -1.0 + overlap]))
    solution = session.solve(qp)
    assert solution.status == "stopped"
    assert qp.residual(solution) > 1e-9


def test_badly_conditioned_masses_are_refined(session) -> None:
    """Ten digits between modes: the reduction alone loses them, the refinement gets them back."""
    rng = np.random.default_rng(3)
    rotation = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    H = rotation @ np.diag(10.0 ** np.arange(-5, 7, 2)) @ rotation.T
    A = rng.normal(size=(3, 6))
    qp = QP((H + H.T) / 2, rng.normal(size=6), A, A @ rng.normal(size=6))
    assert qp.residual(session.solve(qp)) <= PROMISE


def test_the_kernel_reports_the_residual_of_the_program() -> None:
    from nonsmooth.solvers.kernels.active_set import mixed_lcp

    rng = np.random.default_rng(4)
    for scale in (1.0, 1e8):
        A = np.array([[1.0, -1.0], [-1.0, 1.0 + 1e-3]])
        b = -rng.uniform(size=2) * scale
        z, w, active, iterations, error = mixed_lcp(A, b, 0, np.zeros(2, bool), 1)
        assert error == pytest.approx(LCP(A, b).residual(Solution(w, z, "", 0, "")), rel=1e-6, abs=1e-16)


def test_an_indefinite_qp_and_a_foreign_program_are_said_so(session) -> None:
    qp = QP(-np.eye(1), np.zeros(1), np.eye(1), np.zeros(1))
    solution = session.solve(qp)
    assert "not positive definite" in solution.status
    assert qp.residual(solution) == np.inf
    with pytest.raises(InputError, match="takes a QP, LCP, MPCC or FrictionContact in the plane, got str"):
        session.solve("a string")


def test_a_qp_is_reduced_as_by_the_conversion(session) -> None:
    """Random programs of full rank: the kernel's own factorisation gives what the dual gives, to round-off."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        n, e = int(rng.integers(3, 12)), int(rng.integers(0, 2))
        m = int(rng.integers(e, n))
        B = rng.normal(size=(n, n))
        qp = QP(B @ B.T + np.eye(n), rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m), e)
        lcp, recover = lcp_from_qp(qp)
        solution, dual = session.solve(qp), session.solve(lcp)
        np.testing.assert_array_equal(solution.active, dual.active)
        np.testing.assert_allclose(solution.y, dual.y, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(solution.x, recover(dual.y), rtol=1e-10, atol=1e-12)


def test_layout_and_kind_of_numbers_do_not_matter(session) -> None:
    H, A = np.diag([2.0, 4.0]), np.array([[1.0, 1.0], [0.0, 1.0]])
    frozen = np.array([1.0, -1.0])
    frozen.flags.writeable = False
    plain = session.solve(QP(H, np.array([1.0, -1.0]), A, np.array([1.0, 0.0])))
    other = session.solve(QP(np.asfortranarray(H), frozen, A.T.copy().T, np.array([1, 0])))
    np.testing.assert_array_equal(plain.x, other.x)


@pytest.mark.parametrize(("c", "lower"), [([[1.0, 1.0], [1.0, 1.0]], -np.inf), ([[1.0, 0.0], [0.0, 1.0]], 0.0)])
def test_an_mpcc_that_its_equations_do_not_determine_is_said_so(session, c: list[list[float]], lower: float) -> None:
    """Dependent equations, and one unknown fewer than equations: an answer with a poor residual, no exception."""
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y")
    equations, names = ca.DM(c) @ x - ca.DM([1.0, 2.0]), ("a", "b")
    structure = MPCCStructure(
        x, y, ca.SX(0, 1), ca.SX(0), equations, x[0] + y, ca.SX.ones(2), names, ("pair",), ("first", "second")
    )
    one, two = np.ones(1), np.ones(2)
    upper = np.array([np.inf, abs(lower)])
    mpcc = MPCC(structure, np.zeros(0), np.array([-np.inf, lower]), upper, two, one, one, np.array([True]))
    solution = session.solve(mpcc)
    assert "no inverse" in solution.status
    assert mpcc.residual(solution) > 1e-9
