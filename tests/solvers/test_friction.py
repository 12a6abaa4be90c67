"""Solvers of Coulomb friction on bodies with a known answer: a block on an incline, a line of contact, a sphere."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.programs import FrictionContact, Solution, Solver
from nonsmooth.solvers import (
    ActiveSet,
    Admm,
    Conic,
    Lemke,
    ModeEnumeration,
    ProjectedGaussSeidel,
    SemismoothNewton,
)

IN_SPACE = (SemismoothNewton(), SemismoothNewton("fischer-burmeister"), Admm(), Conic(), ProjectedGaussSeidel())
IN_THE_PLANE = (*IN_SPACE, ActiveSet(), Lemke(), ModeEnumeration())
PLANAR_ONLY = (ActiveSet(), Lemke(), ModeEnumeration())
GRAVITY, DT = 9.81, 1e-3


def solved(solver: Solver, program: FrictionContact, guess: Solution | None = None) -> Solution:
    solution = solver.setup().solve(program, guess)
    assert solution.status == "solved"
    assert program.residual(solution) <= solver.tolerance
    return solution


@pytest.mark.parametrize("solver", IN_THE_PLANE, ids=str)
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.57, 0.58, 2.0])
def test_a_block_on_an_incline_of_thirty_degrees_sticks_above_mu_0577(solver: Solver, mu: float) -> None:
    """A step of gravity from rest: it slides at g dt (sin - mu cos) or stays, tan 30 deg = 0.5774."""
    mass, angle = 2.0, np.radians(30.0)
    free = GRAVITY * DT * np.array([-np.cos(angle), np.sin(angle)])
    solution = solved(solver, FrictionContact(np.eye(2) / mass, free, np.array([mu]), 2))
    speed = GRAVITY * DT * max(np.sin(angle) - mu * np.cos(angle), 0.0)
    # ten times the tolerance, relative to the velocity of free fall
    np.testing.assert_allclose(solution.x, [0.0, speed], atol=10 * solver.tolerance * GRAVITY * DT)
    assert solution.active is not None
    assert list(solution.active) == [True, mu > 0.5774]


@pytest.mark.parametrize("solver", IN_THE_PLANE, ids=str)
@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_a_line_of_contact_with_redundant_friction(solver: Solver, mu: float) -> None:
    """A block on both edges of its base, sliding at 1 m/s: four rows for three freedoms; flat, since mu h < a.

    mu m g dt slows it down, and the leading edge carries (1 + mu h / a) / 2 of the weight. Tangential
    impulses at one height do the same however shared, but slipping fixes each.
    """
    mass, a, h = 3.0, 0.1, 0.2
    inertia = mass * (a**2 + h**2) / 3
    W = np.array([[0.0, 1.0, -a], [1.0, 0.0, h], [0.0, 1.0, a], [1.0, 0.0, h]])  # (x, y, angle) of the mass centre
    velocity = np.array([1.0, -GRAVITY * DT, 0.0])
    program = FrictionContact(W / [mass, mass, inertia] @ W.T, W @ velocity, np.array([mu, mu]), 2)
    solution = solved(solver, program)
    weight = mass * GRAVITY * DT
    tolerance = 1e3 * solver.tolerance  # of the slip of 1 m/s, ten times the velocity that matters here
    rear, front = (1 - mu * h / a) / 2, (1 + mu * h / a) / 2
    np.testing.assert_allclose(solution.y[::2], [rear * weight, front * weight], atol=tolerance)
    np.testing.assert_allclose(solution.x, [0.0, 1.0 - mu * GRAVITY * DT] * 2, atol=tolerance)


@pytest.mark.parametrize("solver", IN_THE_PLANE, ids=str)
def test_a_line_of_contact_at_rest_has_many_answers_and_one_motion(solver: Solver) -> None:
    mass, a, h = 3.0, 0.1, 0.2
    W = np.array([[0.0, 1.0, -a], [1.0, 0.0, h], [0.0, 1.0, a], [1.0, 0.0, h]])
    free = W @ np.array([0.1 * GRAVITY * DT, -GRAVITY * DT, 0.0])
    program = FrictionContact(W / [mass, mass, mass * (a**2 + h**2) / 3] @ W.T, free, np.array([0.5, 0.5]), 2)
    solution = solved(solver, program)
    np.testing.assert_allclose(solution.x, 0.0, atol=10 * solver.tolerance * np.abs(free).max())
    assert solution.y[1] + solution.y[3] == pytest.approx(-0.1 * mass * GRAVITY * DT, rel=1e-8)


def sphere(v: list[float], mu: float, mass: float = 2.0, radius: float = 0.1) -> FrictionContact:
    """A solid sphere on the plane z = 0, moving at v without spin: its lowest point meets 7/2 of the inverse mass."""
    factor = 3.5 / mass
    return FrictionContact(np.diag([1 / mass, factor, factor]), np.array([v[2], v[0], v[1]]), np.array([mu]), 3)


@pytest.mark.parametrize("solver", IN_SPACE, ids=str)
@pytest.mark.parametrize(
    ("v", "mu", "z"),
    [
        pytest.param([0.0, 0.0, -GRAVITY * DT], 0.3, [2 * GRAVITY * DT, 0.0, 0.0], id="rests"),
        pytest.param([3.0, -4.0, -1.0], 0.3, [2.0, -0.36, 0.48], id="slides"),
        pytest.param([0.3, -0.4, -1.0], 0.3, [2.0, -0.6 / 3.5, 0.8 / 3.5], id="rolls"),
        pytest.param([3.0, -4.0, 1.0], 0.3, [0.0, 0.0, 0.0], id="lifts off"),
        pytest.param([3.0, -4.0, -1.0], 0.0, [2.0, 0.0, 0.0], id="frictionless"),
    ],
)
def test_a_sphere_on_a_plane(solver: Solver, v: list[float], mu: float, z: list[float]) -> None:
    """Slides with mu P_N against its slip; rolls, that is sticks, where 2/7 m |v_T| is less than that."""
    solution = solved(solver, sphere(v, mu))
    np.testing.assert_allclose(solution.y, z, atol=10 * solver.tolerance * 2.0 * np.abs(v).max())


@pytest.mark.parametrize("solver", IN_SPACE, ids=str)
def test_a_table_on_four_legs(solver: Solver) -> None:
    """Twelve rows for six freedoms: pushed by half of what friction holds it stays, by twice as much it slides."""
    mass, a, mu = 4.0, 0.5, 0.4
    legs = a * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    W = np.zeros((12, 6))
    for k, (x, y) in enumerate(legs):  # mass centre at the height of the feet: no tilting
        W[3 * k : 3 * k + 3] = [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]]
    inverse = 1.0 / (mass * np.array([1.0, 1.0, 1.0, 0.2, 0.2, 0.3]))
    for share in (0.5, 2.0):
        free = W @ (GRAVITY * DT * np.array([0.6 * share * mu, 0.8 * share * mu, -1.0, 0, 0, 0]))
        solution = solved(solver, FrictionContact(W * inverse @ W.T, free, np.full(4, mu), 3))
        slip = GRAVITY * DT * mu * max(share - 1.0, 0.0)
        expected = np.tile([0.0, 0.6 * slip, 0.8 * slip], 4)
        np.testing.assert_allclose(solution.x, expected, atol=1e2 * solver.tolerance * GRAVITY * DT)


@pytest.mark.parametrize("solver", IN_THE_PLANE, ids=str)
def test_a_joint_carries_its_share(solver: Solver) -> None:
    """A sledge of two bodies of 1 kg, joined; only the first touches ground: P_N = g dt, and both slow down."""
    mu = 0.25
    W = np.array([[-1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])  # joint in x; normal; tangential
    program = FrictionContact(W @ W.T, W @ np.array([1.0, -GRAVITY * DT, 1.0, 0.0]), np.array([mu]), 2, 1)
    solution = solved(solver, program)
    brake = mu * GRAVITY * DT
    np.testing.assert_allclose(solution.x, [0.0, 0.0, 1.0 - brake / 2], atol=1e2 * solver.tolerance)
    np.testing.assert_allclose(solution.y, [-brake / 2, GRAVITY * DT, -brake], atol=1e2 * solver.tolerance)


@pytest.mark.parametrize("solver", IN_THE_PLANE, ids=str)
def test_nothing_to_solve(solver: Solver) -> None:
    assert solved(solver, FrictionContact(np.zeros((0, 0)), np.zeros(0), np.zeros(0), 2)).y.size == 0
    held = solved(solver, FrictionContact(np.eye(1), np.ones(1), np.zeros(0), 2, 1))
    np.testing.assert_allclose(held.y, -1.0, atol=1e-9)


@pytest.mark.parametrize("solver", IN_THE_PLANE, ids=str)
def test_a_contact_that_cannot_be_moved_is_left_alone(solver: Solver) -> None:
    """Rows of zeros, as of a body that is driven: no impulse changes anything, and u = b obeys the law as it is."""
    A = np.diag([0.0, 0.0, 1.0, 1.0])
    solution = solver.setup().solve(FrictionContact(A, np.array([0.5, 0.0, -1.0, 0.2]), np.array([0.3, 0.3]), 2))
    np.testing.assert_allclose(solution.x, [0.5, 0.0, 0.0, 0.0], atol=1e-9)


def test_what_a_solver_does_not_take_it_says() -> None:
    for solver in PLANAR_ONLY:
        assert not solver.fits(sphere([1.0, 0.0, -1.0], 0.3))
        with pytest.raises(InputError, match="FrictionContact in the plane"):
            solver.setup().solve(sphere([1.0, 0.0, -1.0], 0.3))
    for other in (SemismoothNewton(), Admm(), ProjectedGaussSeidel(), Conic()):
        with pytest.raises(InputError, match=f"{type(other).__name__} takes .*got str"):
            other.setup().solve("a string")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no formulation 'newton'; it takes alart-curnier or fischer-burmeister"):
        SemismoothNewton("newton")
    assert not ModeEnumeration().fits(FrictionContact(np.eye(14), np.zeros(14), np.ones(7), 2))


def test_limits_are_said_with_the_residual() -> None:
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(9, 30))
    program = FrictionContact(Y.T @ Y, Y.T @ rng.normal(size=9), np.full(10, 0.5), 3)
    for solver in (SemismoothNewton(max_iterations=1), ProjectedGaussSeidel(max_sweeps=1), Admm(max_iterations=25)):
        solution = solver.setup().solve(program)
        assert solution.status.startswith("max_iter: residual")
        assert program.residual(solution) > solver.tolerance


def test_lemke_proves_by_a_ray_that_there_is_no_answer() -> None:
    W = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.5]])
    squeezed = FrictionContact(
        W.T @ W + np.diag([0, 1, 0, 1]), np.array([-1.0, 0.0, -1.0, 0.0]), np.array([0.3, 0.3]), 2
    )
    assert "ray" in Lemke().setup().solve(squeezed).status
