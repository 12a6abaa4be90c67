"""One program, many solvers: step QPs of random mechanisms, and implicit-Euler steps of the slider on a rod."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import casadi as ca
import numpy as np
import pytest

from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs import LCP, MPCC, QP, MPCCStructure, Solution, lcp_from_qp
from nonsmooth.solvers import ActiveSet, CasadiQP, Chain, Conic, IpoptMPCC, Osqp
from nonsmooth.solvers.chain import CERTIFIED

MASS, INERTIA, HALF, CLEARANCE, FORCE, GRAVITY, DT = 5.0, 8e-4, 0.01, 1e-5, 50.0, 9.81, 1e-3
KINDS = ("dense", "repeated rows", "equalities", "rank-deficient", "rigid bodies", "M-normalised")


def step_qps(count: int, seed: int = 20) -> Iterator[tuple[str, QP]]:
    """Velocities v minimising 1/2 |v - v_free|^2_M with A v >= b, feasible; shapes from a list fixed by the seed."""
    rng = np.random.default_rng(seed)
    shapes = [(int(rng.integers(3, 31)), int(rng.integers(1, 21))) for _ in range(12)]
    for i in range(count):
        kind, (n, m) = KINDS[i % len(KINDS)], shapes[(i // len(KINDS)) % len(shapes)]
        masses = np.diag(10 ** rng.uniform(-4, 1.5, n))
        coupling = rng.normal(size=(n, n))
        H = {"M-normalised": np.eye(n), "rigid bodies": masses}.get(kind, masses + 0.1 * coupling @ coupling.T)
        A, equalities = rng.normal(size=(m, n)), 0
        if kind == "repeated rows":
            A = A[rng.integers(0, m, m)] * rng.choice([-1.0, 1.0], m)[:, None]
        elif kind == "rank-deficient":
            A = A[:, : n // 3] @ rng.normal(size=(n // 3, n))
        elif kind == "equalities":
            equalities = 1 + min(m, n) // 4
        slack = 0.1 * np.abs(rng.normal(size=m)) * (rng.random(m) < 0.5)
        slack[:equalities] = 0.0
        free = 10 ** rng.uniform(-2, 1) * rng.normal(size=n)
        yield kind, QP(H, -H @ free, A, A @ (rng.normal(size=n) * (rng.random() < 0.7)) - slack, min(equalities, m))


def distance(qp: QP, one: Solution, other: Solution) -> float:
    """Difference of two motions in the norm of H, relative to the larger of what is asked and what is answered."""
    energy = [np.sqrt(x @ qp.H @ x) for x in (one.x - other.x, one.x, other.x, np.linalg.solve(qp.H, qp.f))]
    return float(energy[0] / max(energy[1:]))


@pytest.mark.slow
def test_two_hundred_step_qps_by_five_solvers() -> None:
    """Each residual meets the solver's own promise, and motions agree to the sum of the promises."""
    solvers = (ActiveSet(), Osqp(), CasadiQP("daqp"), CasadiQP("qrqp"), Conic())
    sessions = [solver.setup() for solver in solvers]
    for kind, qp in step_qps(200):
        answers = [session.solve(qp) for session in sessions]
        for solver, answer in zip(solvers, answers, strict=True):
            complaint = f"{solver} on {kind}: {qp.worst(answer)}, said {answer.status}"
            assert qp.residual(answer) <= solver.tolerance, complaint
            assert distance(qp, answer, answers[0]) <= solver.tolerance + solvers[0].tolerance, complaint


def test_qrqp_answers_the_dual_where_it_goes_round_in_circles() -> None:
    """Of 500 other programs it gives up on a few after its 1000 iterations; the dual takes some tens more."""
    session = CasadiQP("qrqp").setup()
    retried = 0
    for kind, qp in step_qps(500, seed=4):
        answer = session.solve(qp)
        assert qp.residual(answer) <= CasadiQP.tolerance, (kind, qp.worst(answer), answer.status)
        retried += answer.iterations > 1000
    assert 1 <= retried <= 25


@pytest.mark.parametrize("solver", [ActiveSet(), Osqp(), CasadiQP("daqp"), CasadiQP("qrqp"), Conic()], ids=str)
@pytest.mark.parametrize("field", ["H", "f", "A", "b"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_give_no_exception_and_no_certificate(
    solver: ActiveSet | Osqp | CasadiQP | Conic, field: str, bad: float
) -> None:
    data = {"H": np.eye(2), "f": np.ones(2), "A": np.eye(2), "b": np.zeros(2)}
    data[field].flat[0] = bad
    qp = QP(**data)
    assert not qp.residual(solver.setup().solve(qp)) <= CERTIFIED
    lcp = LCP(data["A"], -data["b"])
    if field in ("A", "b") and solver.fits(lcp):
        assert not lcp.residual(solver.setup().solve(lcp)) <= CERTIFIED


def test_warm_starts_change_nothing_but_the_work() -> None:
    for solver in (ActiveSet(), Osqp(), CasadiQP("daqp")):
        session = solver.setup()
        for _, qp in step_qps(30):
            cold = session.solve(qp)
            warm = session.solve(qp, cold)
            assert qp.residual(warm) <= solver.tolerance
            assert distance(qp, warm, cold) <= 2 * solver.tolerance


def test_the_dual_problem_by_two_solvers() -> None:
    """w of a symmetric LCP is unique even where z is not. Clarabel fails on one or two of the most degenerate."""
    active_set, conic, certified = ActiveSet().setup(), Conic().setup(), 0
    for _, qp in step_qps(36):
        lcp, _ = lcp_from_qp(qp)
        one, other = active_set.solve(lcp), conic.solve(lcp)
        assert lcp.residual(one) <= ActiveSet.tolerance
        if lcp.residual(other) <= Conic.tolerance:
            certified += 1
            np.testing.assert_allclose(one.x, other.x, atol=1e-8 * np.abs(lcp.b).max())
    assert certified >= 30
    assert not Conic().fits(LCP(np.array([[1.0, 1.0], [-1.0, 1.0]]), np.zeros(2)))


def slider_rod() -> MPCCStructure:
    """One implicit-Euler step: unknown v+, P; q+ = q + dt v+, gaps c -+ (y -+ a sin(angle)) and loads at its end."""
    v, P = ca.SX.sym("v", 3), ca.SX.sym("P", 4)
    q0, v0, s, dt = ca.SX.sym("q0", 3), ca.SX.sym("v0", 3), ca.SX.sym("s"), ca.SX.sym("dt")
    q = ca.SX.sym("q", 3)
    ends = q[1] + HALF * ca.sin(q[2]) * ca.SX([-1, -1, 1, 1])
    gaps = CLEARANCE + ca.SX([1, -1, 1, -1]) * ends
    at_end = ca.Function("gaps", [q], [gaps, ca.jacobian(gaps, q)])
    G, W = at_end(q0 + dt * v)
    M = ca.diag(ca.SX([MASS, MASS, INERTIA]))
    load = ca.vertcat(FORCE, -MASS * GRAVITY, -s * FORCE * ca.cos(q0[2] + dt * v[2]))
    motion = M @ (v - v0) - dt * load - W.T @ P
    terms = M @ (ca.fabs(v) + ca.fabs(v0)) + dt * ca.fabs(load) + ca.fabs(W).T @ ca.fabs(P)
    names = ("x", "y", "angle"), ("left_lower", "left_upper", "right_lower", "right_upper"), ("x", "y", "angle")
    return MPCCStructure(v, P, ca.vertcat(q0, v0, s, dt), ca.SX(0), motion, G, terms, *names)


def slider_steps(count: int) -> Iterator[tuple[MPCC, Solution]]:
    """Random states within the clearance: anywhere, one end on the rod, both ends on it, at rest."""
    rng, structure = np.random.default_rng(60), slider_rod()
    for i in range(count):
        y = rng.uniform(-CLEARANCE, CLEARANCE)
        angle = rng.uniform(-1, 1) * (CLEARANCE - abs(y)) / HALF
        if i % 4 == 1:
            angle = rng.choice([-1, 1]) * (CLEARANCE - abs(y)) / HALF
        elif i % 4 == 2:
            y, angle = rng.choice([-1, 1]) * CLEARANCE, 0.0
        v = rng.normal(size=3) * [1.0, 0.02, 2.0] * 10 ** rng.uniform(-3, 1) * (i % 4 != 3)
        s = rng.choice([0.0, 5e-4, 0.01, -5e-4])
        free = np.full(3, np.inf)
        scales = np.array([0.01, CLEARANCE / DT, CLEARANCE / DT / HALF]), np.full(4, MASS * GRAVITY * DT)
        p = np.concatenate(([0.0, y, angle], v, [s, DT]))
        mpcc = MPCC(structure, p, -free, free, *scales, np.full(4, CLEARANCE), np.ones(4, bool))
        yield mpcc, Solution(v, np.zeros(4), "guess", 0, "nobody")


@pytest.mark.parametrize("relaxation", ["fischer-burmeister", "scholtes", "l1"])
def test_sixty_slider_steps_by_each_relaxation(relaxation: str) -> None:
    """Positions agree with the active set to 1e-6 of the clearance: 1e-11 m, what a trajectory is judged by."""
    solver = IpoptMPCC(relaxation)
    active_set, session = ActiveSet().setup(), solver.setup()
    for mpcc, guess in slider_steps(60):
        reference, answer = active_set.solve(mpcc, guess), session.solve(mpcc, guess)
        assert mpcc.residual(reference) <= ActiveSet.tolerance
        assert mpcc.residual(answer) <= solver.tolerance
        lengths = np.array([1.0, 1.0, HALF])
        assert (DT * lengths * np.abs(answer.x - reference.x)).max() <= 1e-6 * CLEARANCE
        np.testing.assert_array_less(-1e-18, answer.y)


def test_the_literal_product_fails_with_its_message_once_contact_binds() -> None:
    chain, reference = Chain(IpoptMPCC("literal")), ActiveSet().setup()
    refused = bound = 0
    for mpcc, guess in slider_steps(60):
        if reference.solve(mpcc, guess).y.max() == 0.0:
            continue
        bound += 1
        try:
            chain.answer(mpcc, guess)
        except SolverFailed as failure:
            refused += 1
            assert "mu = 0 is absorbing" in str(failure)
            assert 'relaxation="fischer-burmeister"' in str(failure)
            assert len(failure.attempts) == 1
    assert bound >= 30
    assert refused >= 0.95 * bound
    assert chain.counts["fallbacks"] == 0


def test_the_chain_rescues_an_interior_point_cut_short() -> None:
    """IPOPT stopped at its start: the polish or the next solver still finds the certified step."""
    chain = Chain(IpoptMPCC(max_iterations=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mpcc, guess in slider_steps(20):
            assert mpcc.residual(chain.answer(mpcc, guess)) <= CERTIFIED
    assert chain.counts["solves"] == 20
