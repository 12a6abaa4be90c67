"""Programs of friction in space with known answers: one contact, a rod, a cube, four balls, Painleve's rod."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import FrictionContact, Solution, Solver
from nonsmooth.solvers import Admm, Conic, ProjectedGaussSeidel, SemismoothNewton, SmoothingNewton

EVERYBODY = (
    SemismoothNewton(),
    SemismoothNewton("fischer-burmeister"),
    SmoothingNewton(),
    ProjectedGaussSeidel(),
    Admm(),
    Conic(),
)
EXACT = EVERYBODY[:3]
UP = np.eye(3)[[2, 0, 1]]  # rows: normal z, tangents x and y


def point(x: float, y: float, z: float) -> Array:
    """Takes (v, omega) of a body to the velocity at that place."""
    return np.hstack((np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]))


def solved(solver: Solver, program: FrictionContact) -> Solution:
    solution = solver.setup().solve(program)
    assert solution.status == "solved", solution.status
    assert program.residual(solution) <= solver.tolerance
    return solution


def program(W: Array, inverse: Array, velocity: Array, mu: Array, joints: int = 0) -> FrictionContact:
    A = W * inverse @ W.T
    return FrictionContact((A + A.T) / 2, W @ velocity, mu, 3, joints)


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
@pytest.mark.parametrize(
    ("mu", "impulse", "slip"),
    [
        (0.0, [0.540540540541, 0.0, 0.0], [0.881081081081, -0.391891891892]),
        (0.3, [0.546315124027, -0.152219787499, 0.060749943377], [0.689670531388, -0.275243096967]),
    ],
)
def test_one_contact_whose_slip_turns(solver: Solver, mu: float, impulse: list[float], slip: list[float]) -> None:
    """Reference values of twelve digits; the direction of the slip depends on mu, so that a pyramid would miss it."""
    A = np.array([[1.85, 0.15, 0.2], [0.15, 71 / 60, -0.2], [0.2, -0.2, 1.4]])
    solution = solved(solver, FrictionContact(A, np.array([-1.0, 0.8, -0.5]), np.array([mu]), 3))
    tolerance = 1e-12 + 10 * solver.tolerance
    np.testing.assert_allclose(solution.y, impulse, atol=tolerance)
    np.testing.assert_allclose(solution.x, [0.0, *slip], atol=tolerance)


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
def test_a_rod_on_two_contacts(solver: Solver) -> None:
    """Its six rows have rank five, and yet friction determines all impulses, since both ends slip."""
    W = np.vstack([UP @ point(x, 0.0, -0.02) for x in (0.5, -0.5)])
    rod = program(
        W, 1.0 / np.array([1, 1, 1, 1e-3, 1 / 12, 1 / 12]), np.array([0.4, 0.3, -1, 0, 0.7, 0.9]), np.full(2, 0.1)
    )
    assert np.linalg.matrix_rank(rod.A) == 5
    impulses = solved(solver, rod).y
    expected = [0.559792566098, -0.029379162737, -0.047650204275, 0.440207433902, -0.043582475495, 0.006196263258]
    np.testing.assert_allclose(impulses, expected, atol=1e-12 + 100 * solver.tolerance)


def cube(velocity: Array) -> tuple[FrictionContact, Array]:
    """Side and mass one, mu = 0.3, on four corners; and W."""
    W = np.vstack([UP @ point(x, y, -0.5) for x in (0.5, -0.5) for y in (0.5, -0.5)])
    return program(W, np.array([1, 1, 1, 6, 6, 6.0]), velocity, np.full(4, 0.3)), W


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
def test_a_cube_slides(solver: Solver) -> None:
    """Its speed falls by 0.3 * 0.0981. How the corners share the weight is not unique; that they carry it all is."""
    velocity = np.array([0.5, 0, -0.0981, 0, 0, 0])
    sliding, W = cube(velocity)
    z = solved(solver, sliding).y
    tolerance = 1e-12 + 100 * solver.tolerance
    assert z[::3].sum() == pytest.approx(0.0981, abs=tolerance)
    after = velocity + np.array([1, 1, 1, 6, 6, 6]) * (z @ W)
    np.testing.assert_allclose(after, [0.47057, 0, 0, 0, 0, 0], atol=10 * tolerance)


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
def test_a_cube_sticks(solver: Solver) -> None:
    """0.01 m/s and a spin of 0.02 rad/s are less than friction can take away: it rests."""
    velocity = np.array([0.01, 0, -0.0981, 0, 0, 0.02])
    resting, W = cube(velocity)
    solution = solved(solver, resting)
    tolerance = 1e-12 + 100 * solver.tolerance
    assert solution.y[::3].sum() == pytest.approx(0.0981, abs=tolerance)
    np.testing.assert_allclose(velocity + np.array([1, 1, 1, 6, 6, 6]) * (solution.y @ W), 0.0, atol=10 * tolerance)


def four_balls(floor: float, between: float) -> tuple[FrictionContact, Array]:
    """One solid ball of radius and mass one on three that touch each other and the floor, after a step of gravity.

    Contacts: three with the floor, three with the ball on top, three between those below; and W.
    """
    angles = np.radians([90.0, 210.0, 330.0])
    low = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(3))) * 2 / np.sqrt(3)
    centres = np.vstack((low, [0.0, 0.0, 2 * np.sqrt(2 / 3)]))
    pairs = [(k, None) for k in range(3)] + [(3, k) for k in range(3)] + [(0, 1), (1, 2), (2, 0)]
    W = np.zeros((9, 3, 4, 6))
    for row, (one, other) in enumerate(pairs):
        n = np.array([0.0, 0.0, 1.0]) if other is None else (centres[one] - centres[other]) / 2
        t = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        axes = np.array([n, t / np.linalg.norm(t), np.cross(n, t / np.linalg.norm(t))])
        W[row, :, one] = axes @ point(*-n)
        if other is not None:
            W[row, :, other] = -axes @ point(*n)
    inverse = np.tile([1, 1, 1, 2.5, 2.5, 2.5], 4)
    velocity = np.tile([0, 0, -9.81e-3, 0, 0, 0], 4)
    flat = W.reshape(27, 24)
    return program(flat, inverse, velocity, np.repeat([floor, between, between], 3)), flat


@pytest.mark.parametrize("solver", EXACT, ids=str)
def test_four_balls_need_a_rough_floor(solver: Solver) -> None:
    """Each ball below is turned by the one on top as much as by the floor, so that both frictions are equal.

    With N = T (1 + sqrt(2/3)) sqrt(3) between the balls and 4/3 of a weight on the floor, mu >= 0.079459311299 there.
    """
    threshold = 0.079459311299
    exact = np.sqrt(1 / 3) / (1 + np.sqrt(2 / 3)) / 4
    assert exact == pytest.approx(threshold, abs=1e-12)
    speeds = []
    for share in (1 + 1e-6, 1 - 1e-6, 0.9):
        balls, W = four_balls(share * exact, 1.0)
        z = solved(solver, balls).y
        motion = np.tile([0, 0, -9.81e-3, 0, 0, 0], 4) + np.tile([1, 1, 1, 2.5, 2.5, 2.5], 4) * (z @ W)
        speeds.append(np.abs(motion).max())
    assert speeds[0] <= 1e-12  # it rests
    assert speeds[1] > 1e-10  # 1e-6 of the weight is not held: 1e-8 m/s, shared by all inertia
    assert speeds[2] > 1e5 * 0.9 * speeds[1] and speeds[2] > 1e-5


def painleves_rod(degrees: float) -> tuple[Array, Array, float]:
    """A of the tip of a slender rod (mass and half its length are one, tan of its inclination is 2), s and mu_c.

    It slides along s, at this angle out of its vertical plane, so that friction presses the tip.
    """
    phi, t = np.radians(degrees), np.arctan(2.0)
    arm = np.array([-np.cos(t), 0.0, -np.sin(t)])  # from the mass centre to the tip
    inverse = np.eye(6)
    inverse[3:, 3:] = 3.0 * (np.eye(3) - np.outer(arm, arm))  # its inertia is 1/3 across, and does not matter along
    J = UP @ point(*arm)
    A = J @ inverse @ J.T
    s = np.sign(A[0, 1]) * np.array([np.cos(phi), np.sin(phi)])
    return (A + A.T) / 2, s, A[0, 0] / (A[0, 1:] @ s)


@pytest.mark.parametrize("degrees", [0.0, 30.0, 60.0])
def test_painleves_rod_in_space(degrees: float) -> None:
    """Friction presses the tip as much as the push lifts it at mu_c = 4 / (3 cos phi).

    Below, P_N = -b_N / (A_NN - mu A_NT . s) whatever the speed; above, the impulse is in proportion to the speed, which
    it ends. Below and out of the plane, impulses of that kind obey the law as well: the start of Newton's method, open
    and without impulse, is what selects the bounded one.
    """
    A, s, critical = painleves_rod(degrees)
    assert critical == pytest.approx(4.0 / (3.0 * np.cos(np.radians(degrees))), rel=1e-14)
    below, above = (
        [
            solved(SemismoothNewton(), FrictionContact(A, np.r_[-1.0, speed * s], np.array([share * critical]), 3)).y[0]
            for speed in (1e5, 1e6)
        ]
        for share in (0.9, 1.1)
    )
    # the impulse of about 20 turns the slip by 20 / speed, which counts ten times near mu_c
    assert below[0] == pytest.approx(1.0 / (0.1 * A[0, 0]), rel=1e-2)
    assert below[1] == pytest.approx(1.0 / (0.1 * A[0, 0]), rel=1e-3)
    assert above[0] > 1e4
    assert above[1] == pytest.approx(10 * above[0], rel=1e-3)


def test_below_the_critical_friction_three_impulses_obey_the_law() -> None:
    """At 60 degrees the rod slides on, is slowed down, or stops; solvers may differ, and each answer is certified."""
    A, s, critical = painleves_rod(60.0)
    rod = FrictionContact(A, np.r_[-1.0, 1e4 * s], np.array([0.9 * critical]), 3)
    answers = [solved(solver, rod) for solver in (SemismoothNewton(), SmoothingNewton(), ProjectedGaussSeidel())]
    slips = sorted(float(np.linalg.norm(solution.x[1:])) for solution in answers)
    assert slips[0] <= 1e-8 and 1e3 < slips[1] < 0.9e4 < slips[2] < 1e4


def test_a_path_whose_matrices_are_singular_ends_without_an_answer():
    """Two sticking contacts between the same two bodies, whose four tangents span two directions: Newton's matrix is
    singular, which once ended the run by an error of NumPy."""
    slopes, tangents = [[0.018, 0.0], [0.021, 0.0]], [[1.0, 0.999], [0.999, 0.999]]
    A = np.zeros((6, 6))
    A[np.ix_([0, 3], [0, 3])] = [[1.0, 0.971], [0.971, 1.0]]
    for i in (1, 4):
        for j in (1, 4):
            A[i : i + 2, j : j + 2] = tangents
    for row, normal in zip(slopes, (0, 3), strict=True):
        A[normal, [1, 2]] = A[normal, [4, 5]] = A[[1, 2], normal] = A[[4, 5], normal] = row
    b = np.array([-0.831, 0.351, -0.019, -1.0, 0.351, -0.019])
    stuck = FrictionContact(A, b, np.array([9.95e25, 7.19e25]), 3)
    assert SmoothingNewton().setup().solve(stuck).status.startswith("no path led to a solution")
