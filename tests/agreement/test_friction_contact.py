"""Coulomb friction by every solver: contacts of random mechanisms, in the plane and in space, some redundant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs import LCP, ConeQP, FrictionContact, Solution, Solver, cone_qp_from_friction_contact
from nonsmooth.solvers import (
    ActiveSet,
    Admm,
    Chain,
    Conic,
    Lemke,
    ModeEnumeration,
    ProjectedGaussSeidel,
    SemismoothNewton,
    SmoothingNewton,
    by_name,
)
from nonsmooth.solvers import names as solver_names

ACCEPTED = 1e-10
NEWTON, FISCHER_BURMEISTER = SemismoothNewton(), SemismoothNewton("fischer-burmeister")
EVERYBODY = (
    NEWTON,
    FISCHER_BURMEISTER,
    SmoothingNewton(),
    Lemke(),
    ModeEnumeration(),
    ActiveSet(),
    Admm(),
    Conic(),
    ProjectedGaussSeidel(),
)
PLANAR_ONLY = (Lemke(), ModeEnumeration(), ActiveSet())


def test_every_solver_of_friction_takes_part() -> None:
    """With its default settings; the chain is made of the others."""
    programs = [FrictionContact(np.eye(d), -np.ones(d), np.ones(1), d) for d in (2, 3)]
    fitting = {name for name in solver_names() if any(by_name(name)().fits(one) for one in programs)}
    missing = [name for name in sorted(fitting) if type(by_name(name)()) not in {type(one) for one in EVERYBODY}]
    assert not missing, f"add {', '.join(missing)} to EVERYBODY above"


def frame(rng: np.random.Generator, dimension: int) -> Array:
    """Rows: a random normal and orthonormal tangents."""
    return np.linalg.qr(rng.normal(size=(dimension, dimension)))[0].T


def velocity_of_point(lever: Array) -> Array:
    """Matrix that takes (v, omega) of a body to the velocity of its point at this lever."""
    if lever.size == 2:
        return np.array([[1.0, 0.0, -lever[1]], [0.0, 1.0, lever[0]]])
    x, y, z = lever
    return np.hstack((np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]))


def mechanism(
    rng: np.random.Generator, dimension: int, contacts: int, redundant: bool, largest_mu: float = 1.0
) -> FrictionContact:
    """Bodies of 10 g to 10 kg and 3 cm to 1 m that meet each other and the ground at random points and angles.

    Each body has one contact with the ground or an earlier body, and the last one may hang on a joint: independent
    rows. Or a few bodies share all contacts, in most cases more than their freedoms; then without restitution, which
    could contradict itself where contacts wedge.
    """
    freedoms = 3 if dimension == 2 else 6
    fewest = dimension * contacts // (2 * freedoms) + 1
    bodies = int(rng.integers(1, fewest + 1)) if redundant else contacts + int(rng.integers(1, 4))
    masses, sizes = 10 ** rng.uniform(-2, 1, bodies), 10 ** rng.uniform(-1.5, 0, bodies)
    W: list[Array] = []

    def touch(one: int, other: int, axes: Array) -> None:
        rows = np.zeros((dimension, bodies, freedoms))
        for body, sign in ((one, 1.0), (other, -1.0)):
            if body >= 0:
                lever = sizes[body] * rng.uniform(-1, 1, dimension)
                rows[:, body] += sign * axes @ velocity_of_point(lever)
        W.append(rows.reshape(dimension, -1))

    joints = int(rng.integers(2)) if not redundant or bodies > 3 else 0
    for _ in range(joints):
        touch(bodies - 1, -1, np.eye(dimension))
    for k in range(contacts):
        one = int(rng.integers(bodies)) if redundant else k
        other = int(rng.integers(-1, bodies if redundant else k)) if k else -1
        touch(one, -1 if other == one else other, frame(rng, dimension))
    directions, e = np.vstack(W), dimension * joints
    spin = sizes[:, None] ** 2 * rng.uniform(0.2, 0.6, (bodies, freedoms - dimension))
    inverse = 1.0 / (masses[:, None] * np.hstack((np.ones((bodies, dimension)), spin))).ravel()
    A = (directions * inverse) @ directions.T
    velocity = 10 ** rng.uniform(-2, 1) * rng.normal(size=inverse.size)
    velocity -= inverse * (directions[:e].T @ np.linalg.solve(A[:e, :e], directions[:e] @ velocity))
    b = directions @ velocity
    b[e::dimension] *= 1.0 + (0.0 if redundant else rng.choice([0.0, 0.5]))
    mu = rng.uniform(0.0, largest_mu, contacts) * (rng.random(contacts) < 0.9)
    return FrictionContact((A + A.T) / 2, b, mu, dimension, e)


def mechanisms(count: int, dimension: int, redundant: bool, most: int, seed: int) -> Iterator[FrictionContact]:
    rng = np.random.default_rng([seed, dimension, redundant])
    for _ in range(count):
        yield mechanism(rng, dimension, int(rng.integers(1, most + 1)), redundant)


def certified_by_the_chain(programs: Iterator[FrictionContact]) -> tuple[int, int]:
    """(answered to 1e-10, asked); whatever is not answered must say why."""
    chain, answered, asked = Chain(NEWTON), 0, 0
    for program in programs:
        asked += 1
        try:
            solution = chain.answer(program)
        except SolverFailed as failure:
            for attempt in failure.attempts:
                assert attempt.residual > attempt.solver.tolerance
                assert "residual" in attempt.status, attempt
                assert "solved" not in attempt.status.split(":")[0].split()
        else:
            answered += program.residual(solution) <= ACCEPTED
    return answered, asked


SHARES = [
    (100, 2, False, 1.0), (100, 3, False, 0.99), (100, 2, True, 0.95),
    pytest.param(50, 3, True, 0.98, marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.parametrize(("count", "dimension", "redundant", "share"), SHARES)
def test_mechanisms_of_up_to_fifty_contacts(count: int, dimension: int, redundant: bool, share: float) -> None:
    answered, asked = certified_by_the_chain(mechanisms(count, dimension, redundant, 50, seed=2))
    assert answered >= share * asked


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("redundant", [False, True])
def test_solved_means_solved(solver: Solver, dimension: int, redundant: bool) -> None:
    """The word agrees with the residual, either way; with independent contacts every solver but the pivoting one ends.

    `ActiveSet` says in its docstring that it may go round in circles.
    """
    session, answered, asked = solver.setup(), 0, 0
    for program in mechanisms(20, dimension, redundant, 6, seed=3):
        if solver.fits(program):
            solution, asked = session.solve(program), asked + 1
            residual = program.residual(solution)
            assert (solution.status == "solved") == (residual <= solver.tolerance), (solution.status, residual)
            answered += solution.status == "solved"
    assert answered >= (0.9 if redundant or isinstance(solver, ActiveSet) else 1.0) * asked - 1e-9
    other = (SmoothingNewton(),) if dimension == 2 else PLANAR_ONLY
    assert asked == (0 if solver in other else 20)


@pytest.mark.parametrize("dimension", [2, 3])
def test_all_solvers_give_one_motion_where_it_is_unique(dimension: int) -> None:
    """With independent rows and little friction, mu <= 0.2, u is unique, and answers differ by their residuals.

    Each A is conditioned to about 1e4, by which a residual of 1e-10 can move the velocities.
    """
    rng = np.random.default_rng(4)
    sessions = [(solver, solver.setup()) for solver in EVERYBODY]
    for _ in range(20):
        program = mechanism(rng, dimension, int(rng.integers(1, 6)), redundant=False, largest_mu=0.2)
        answers = [session.solve(program) for solver, session in sessions if solver.fits(program)]
        assert len(answers) == (8 if dimension == 2 else 6)
        for solution in answers:
            assert solution.status == "solved" or solution.solver == "ActiveSet"
            if solution.status == "solved":
                np.testing.assert_allclose(solution.x, answers[0].x, atol=1e-6 * np.abs(program.b).max())


@pytest.mark.parametrize(
    ("solver", "dimension"),
    [(NEWTON, 2), (FISCHER_BURMEISTER, 2), (ActiveSet(), 2), (ModeEnumeration(), 2), (NEWTON, 3)],
    ids=str,
)
def test_a_warm_start_from_the_answer_costs_next_to_nothing(solver: Solver, dimension: int) -> None:
    session = solver.setup()
    for program in mechanisms(20, dimension, False, 5, seed=5):
        cold = session.solve(program)
        warm = session.solve(program, cold)
        if cold.status == "solved":
            assert warm.status == "solved"
            assert warm.iterations <= 2


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
@pytest.mark.parametrize("field", ["A", "b", "friction"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_give_no_exception_and_no_certificate(
    solver: Solver, field: str, bad: float
) -> None:
    data: dict[str, Array] = {"A": np.eye(2), "b": -np.ones(2), "friction": np.ones(1)}
    data[field].flat[0] = bad
    program = FrictionContact(**data, dimension=2)
    if not solver.fits(program):
        data["A"], data["b"] = np.eye(3), -np.ones(3)
        data[field].flat[0] = bad
        program = FrictionContact(**data, dimension=3)
    solution = solver.setup().solve(program)
    assert "not finite" in solution.status
    assert not program.residual(solution) <= ACCEPTED


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
def test_walls_that_approach_each_other_are_not_called_solved(solver: Solver) -> None:
    """Two walls and a body between them: no motion lets neither approach."""
    for dimension in (2, 3):
        W = np.hstack([np.diag([side, *np.ones(dimension - 1)]) for side in (1.0, -1.0)])
        b = np.tile([-1.0, 0.5, 0.2][:dimension], 2)
        program = FrictionContact(W.T @ W, b, np.array([0.3, 0.3]), dimension)
        if solver.fits(program):
            solution = solver.setup().solve(program)
            assert solution.status != "solved"
            assert "residual" in solution.status
            assert program.residual(solution) > 1e-3


@pytest.mark.parametrize("solver", [NEWTON, FISCHER_BURMEISTER, Lemke(), ModeEnumeration(), ProjectedGaussSeidel()])
def test_lcps_are_answered_too(solver: Solver) -> None:
    """Normal rows alone, with joints; w is unique, and the active set is exact."""
    session, reference = solver.setup(), ActiveSet().setup()
    rng = np.random.default_rng(6)
    for _ in range(20):
        program = mechanism(rng, 2, int(rng.integers(1, 9)), redundant=False)
        rows = np.r_[np.arange(program.bilateral), np.arange(program.bilateral, program.b.size, 2)]
        lcp = LCP(program.A[np.ix_(rows, rows)], program.b[rows], program.bilateral)
        assert solver.fits(lcp)
        one, other = session.solve(lcp), reference.solve(lcp)
        assert one.status == "solved"
        assert lcp.residual(one) <= solver.tolerance
        np.testing.assert_allclose(one.x, other.x, atol=1e-7 * np.abs(lcp.b).max())


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("redundant", [False, True])
def test_the_convex_relaxation_by_two_solvers(dimension: int, redundant: bool) -> None:
    """Its u is unique, whatever the rank; the chain answers it by name only."""
    admm, conic, chain = Admm().setup(), Conic().setup(), Chain(NEWTON)
    for program in mechanisms(10, dimension, redundant, 6, seed=7):
        relaxed = cone_qp_from_friction_contact(program)
        assert isinstance(relaxed, ConeQP)
        assert not NEWTON.fits(relaxed)
        answers = [solution for solution in (admm.solve(relaxed), conic.solve(relaxed)) if solution.status == "solved"]
        for solution in answers:
            assert relaxed.residual(solution) <= 1e-9
            np.testing.assert_allclose(solution.x, answers[0].x, atol=1e-5 * np.abs(relaxed.b).max())
        assert answers
        assert chain.answer(relaxed).solver in ("Conic", "Admm")


def test_the_kernel_reports_the_residual_of_the_program() -> None:
    from nonsmooth.solvers.kernels.friction import residual

    rng = np.random.default_rng(8)
    for dimension in (2, 3):
        program = mechanism(rng, dimension, 4, redundant=True)
        for _ in range(20):
            z = rng.normal(size=program.b.size) * 10 ** rng.uniform(-3, 3)
            numbers = program.A, program.b, program.friction, dimension, program.bilateral, z, np.zeros_like(z)
            assert residual(*numbers) == pytest.approx(program.residual(Solution(z, z, "", 0, "")), rel=1e-9)
