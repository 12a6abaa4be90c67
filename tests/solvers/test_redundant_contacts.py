"""Redundant contacts in space: more rows than freedoms, cold impacts and contacts that rest; none may stay unsolved.

A rectangular slide in its guide (16 gaps on five or six freedoms), a cube on the plane, a rod on both ends, stacks of
cubes, and mechanisms with redundant joints, which all have a singular A.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from loops import some
from scipy.optimize import linprog

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs import FrictionContact, Solution
from nonsmooth.solvers import Chain, SemismoothNewton, SmoothingNewton
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.solvers.polish import refined_friction

CUBE, SLIDE = 1.0 / np.array([1, 1, 1, 1 / 150, 1 / 150, 1 / 150]), 1.0 / np.array([10, 10, 10, 0.1, 0.1, 0.05])
SPIN = np.array([1.0, 1.0, 1.0, 5.0, 5.0, 5.0])  # rotations of a body of 0.2 m are as fast as its translation
UP = np.eye(3)[[2, 0, 1]]
FRICTION = (0.0, 0.05, 0.1, 0.3)
SAMPLE = 60  # programs of a kind

#: Directions W of all rows (the first e of joints), inverse masses, velocity, mu by contact, e.
Bodies = tuple[Array, Array, Array, Array, int]


def point(r: Array) -> Array:
    """Takes (v, omega) of a body to the velocity at r."""
    x, y, z = r
    return np.hstack((np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]))


def slide(rng: np.random.Generator, mu: float, pose: str) -> Bodies:
    """A slide of 0.08 x 0.06 x 0.2 m with 0.1 mm of clearance all round, in half of the cases driven along its guide.

    "free" closes any of the 16 gaps; "seated" those that a random load closes within the poses that can be reached,
    some of them held upright; "tight" all 16, as without clearance.
    """
    half, clearance = np.array([0.08, 0.06, 0.2]) / 2, 1e-4
    normals, corners = [], []
    for signs in np.ndindex(2, 2, 2):
        corner = half * (2 * np.array(signs) - 1)
        for axis in (0, 1):
            normals.append(-np.sign(corner[axis]) * np.eye(3)[axis])
            corners.append(corner)
    change = np.array([np.r_[n, np.cross(r, n)] for n, r in zip(normals, corners, strict=True)])[:, [0, 1, 3, 4, 5]]
    tilt, closed = np.zeros(3), np.ones(16, bool)
    if pose == "free":
        closed = rng.random(16) < rng.uniform(0.2, 0.9)
    elif pose == "seated":
        load = rng.normal(size=5) * [1, 1, 0.05, 0.05, 0.05] * (rng.random(5) < 0.6)
        load[0] += not load.any()
        upright = (rng.random(5) < 0.3) & (load == 0.0)
        bounds = [(0, 0) if fixed else (None, None) for fixed in upright]
        where = linprog(load, A_ub=-change, b_ub=np.full(16, clearance), bounds=bounds).x
        tilt, closed = where[2:], clearance + change @ where < 1e-9 * clearance
    turned = np.eye(3) + np.cross(np.eye(3), tilt).T
    W = [
        np.array([n, [0.0, 0.0, 1.0], np.cross(n, [0.0, 0.0, 1.0])]) @ point(turned @ r)
        for n, r, touches in zip(normals, corners, closed, strict=True)
        if touches
    ]
    joints = np.eye(6)[2:3] if rng.random() < 0.5 else np.zeros((0, 6))
    if rng.random() < 0.5:  # pushed along under load
        velocity = (
            np.r_[0.0, 0.0, 0.05, 0.0, 0.0, 0.0]
            + 10 ** rng.uniform(-5, -2) * SLIDE * np.r_[171 * rng.normal(size=3), 5 * rng.normal(size=3)]
        )
    else:
        velocity = 10 ** rng.uniform(-3, 0) * SPIN * rng.normal(size=6)
    return np.vstack((joints, *W)), SLIDE, velocity, np.full(len(W), mu), len(joints)


def at_rest(rng: np.random.Generator, bodies: int) -> Array:
    """A step of gravity, for most with a slip and a spin about the vertical that are small or large."""
    velocity = np.tile([0.0, 0.0, -9.81e-3, 0.0, 0.0, 0.0], (bodies, 1))
    if rng.random() < 0.7:
        velocity += 10 ** rng.uniform(-5, 0) * rng.normal(size=(bodies, 6)) * [1, 1, 0, 0, 0, 3]
    return velocity.ravel()


def stack(rng: np.random.Generator, mu: float, cubes: int, rests: bool) -> Bodies:
    """Cubes of 0.1 to 10 kg on four corners each, the lowest on the ground, straight or askew."""
    W = np.zeros((cubes, 4, 3, cubes, 6))
    centres = rng.uniform(-0.02, 0.02, (cubes, 2)) * (rng.random() < 0.5)
    for k in range(cubes):
        for corner, (x, y) in enumerate(((0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1))):
            W[k, corner, :, k] = UP @ point(np.array([x, y, -0.1]))
            if k:
                dx, dy = centres[k] - centres[k - 1]
                W[k, corner, :, k - 1] = -UP @ point(np.array([x + dx, y + dy, 0.1]))
    masses = 10 ** rng.uniform(-1, 1, (cubes, 1))
    velocity = at_rest(rng, cubes) if rests else (rng.normal(size=(cubes, 6)) * SPIN).ravel()
    friction = np.full(4 * cubes, mu) if rng.random() < 0.5 else np.repeat(rng.uniform(0, mu, cubes), 4)
    return W.reshape(12 * cubes, 6 * cubes), (CUBE / masses).ravel(), velocity, friction, 0


def rod(rng: np.random.Generator, mu: float) -> Bodies:
    """Both ends of a thin rod touch the plane: six rows of rank five."""
    W = np.vstack([UP @ point(np.array([x, 0.0, -0.02])) for x in (-0.5, 0.5)])
    velocity = rng.normal(size=6)
    velocity[2] = -abs(velocity[2])
    return W, 1.0 / np.array([1, 1, 1, 1e-3, 1 / 12, 1 / 12]), velocity, np.full(2, mu), 0


def jointed(rng: np.random.Generator, mu: float) -> Bodies:
    """A slide or a cube with contacts, joined to a cube at one to three points, one row stated twice."""
    first = slide(rng, mu, "seated") if rng.random() < 0.5 else stack(rng, mu, 1, rng.random() < 0.5)
    W, inverse, velocity, friction, e = first
    points = rng.uniform(-0.1, 0.1, (int(rng.integers(1, 4)), 3))
    J = np.vstack([np.hstack((point(r), -point(r - [0.1, 0.0, 0.0]))) for r in points])
    J = np.vstack((J, J[:1]))
    rows = np.hstack((W[e:], np.zeros((len(W) - e, 6))))
    if rng.random() < 0.5:  # the other cube stands on the plane as well
        other = stack(rng, mu, 1, True)
        rows = np.vstack((rows, np.hstack((np.zeros((12, 6)), other[0]))))
        friction = np.r_[friction, other[3]]
    inverse = np.r_[inverse, CUBE * 10 ** rng.uniform(-1, 1)]
    velocity = np.r_[velocity, rng.normal(size=6) * np.linalg.norm(velocity)]
    if rng.random() < 0.5:
        velocity -= inverse * (J.T @ np.linalg.lstsq(J * inverse @ J.T, J @ velocity, rcond=1e-10)[0])
    return np.vstack((J, rows)), inverse, velocity, friction, len(J)


KINDS: dict[str, Callable[[np.random.Generator, float], Bodies]] = {
    "slide, all gaps": lambda rng, mu: slide(rng, mu, "tight"),
    "slide, some gaps": lambda rng, mu: slide(rng, mu, "free"),
    "slide, seated": lambda rng, mu: slide(rng, mu, "seated"),
    "cube at rest": lambda rng, mu: stack(rng, mu, 1, True),
    "cube, impact": lambda rng, mu: stack(rng, mu, 1, False),
    "stack at rest": lambda rng, mu: stack(rng, mu, int(rng.integers(2, 6)), True),
    "stack, impact": lambda rng, mu: stack(rng, mu, int(rng.integers(2, 6)), False),
    "rod": rod,
    "joints": jointed,
}


def programs(kind: str, count: int) -> Iterator[FrictionContact]:
    """With b = W v, or in a third of the cases with gaps still open by some b_N > 0: resting then is always allowed."""
    rng = np.random.default_rng([list(KINDS).index(kind), count])
    for number in range(count):
        W, inverse, velocity, friction, e = KINDS[kind](rng, FRICTION[number % len(FRICTION)])
        A, b = W * inverse @ W.T, W @ velocity
        if number % 3 == 0:
            open_by = rng.random(friction.size) * (rng.random(friction.size) < 0.5)
            b[e::3] += open_by * 10 ** rng.uniform(-4, 0)
        yield FrictionContact((A + A.T) / 2, b, friction, 3, e)


@functools.cache
def never_fails(kind: str, count: int) -> Counter[str]:
    """Who of the chain answered how often; no program may stay unsolved, nor an answer short of 1e-10."""
    chain, failures, worst = Chain(SemismoothNewton()), [], 0.0
    for number, program in enumerate(programs(kind, count)):
        try:
            worst = max(worst, program.residual(chain.answer(program)))
        except SolverFailed as failure:
            failures.append((number, str(failure)))
    assert not failures
    assert worst <= 0.1 * CERTIFIED
    used = Counter({name: n for name, n in chain.counts.items() if name[0].isupper()})
    assert used.total() == count
    return used


@pytest.mark.parametrize("kind", some(KINDS, 3))
def test_no_program_stays_unsolved(kind: str) -> None:
    used = never_fails(kind, SAMPLE)
    assert set(used) <= {"SemismoothNewton", "SmoothingNewton"}


@pytest.mark.slow
def test_newtons_method_solves_nearly_all(record_property: Callable[[str, object], None]) -> None:
    """The smoothed path solves the rest; no other solver of the chain is needed."""
    used = {kind: never_fails(kind, 100) for kind in KINDS}
    record_property("answers by solver", {kind: dict(counter) for kind, counter in used.items()})
    total = sum(used.values(), Counter())
    assert set(total) == {"SemismoothNewton", "SmoothingNewton"}
    assert total["SmoothingNewton"] <= 0.05 * total.total()


@pytest.mark.parametrize("kind", some(sorted(KINDS), 3))
def test_the_smoothed_path_alone_answers_to_round_off(kind: str) -> None:
    """The rescue has to hold by itself, also where Newton's method would have done."""
    session = SmoothingNewton().setup()
    for program in programs(kind, 12):
        solution = session.solve(program)
        assert solution.status == "solved", solution.status
        assert program.residual(solution) <= SmoothingNewton.tolerance


@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_stays_warm(kind: str) -> None:
    """From its own answer Newton's method ends at once, though the impulses are not unique."""
    chain, session = Chain(SemismoothNewton()), SemismoothNewton().setup()
    for program in programs(kind, 20):
        answer = chain.answer(program)
        again = session.solve(program, answer)
        assert again.status == "solved"
        assert again.iterations <= 3


def test_answers_are_refined_in_their_modes() -> None:
    """From impulses wrong by 1e-7 back to round-off, for cubes that slide; the sum of normal impulses is the weight."""
    rng, refined = np.random.default_rng(0), 0
    for program in programs("cube at rest", 24):
        exact = Chain(SemismoothNewton()).answer(program).y
        rough = exact * (1.0 + 1e-7 * rng.normal(size=exact.size))
        z = refined_friction(program, rough)
        before, after = (program.residual(Solution(each, each, "", 0, "")) for each in (rough, z))
        assert after <= before
        refined += after <= 1e-14
    assert refined >= 22  # where the cube is about to stick the modes of the rough answer may be wrong


def test_only_programs_in_space_take_the_smoothed_path() -> None:
    planar = FrictionContact(np.eye(2), -np.ones(2), np.ones(1), 2)
    assert not SmoothingNewton().fits(planar)
    with pytest.raises(ValueError, match="FrictionContact in space, got FrictionContact in the plane"):
        SmoothingNewton().setup().solve(planar)
