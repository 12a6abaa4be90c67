"""Contacts that known normal impulses press as well: the law, and the program with twins that stands for it."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth.compile.casadi_call import Array
from nonsmooth.programs import FrictionContact, Solution, Solver, pushed_friction_contact
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
)

EVERYBODY = (SemismoothNewton(), SemismoothNewton("fischer-burmeister"), Lemke(), ModeEnumeration(), ActiveSet())


def violation(program: FrictionContact, push: Array, z: Array) -> float:
    """Natural map of the law itself [m/s], written down without twins; A has a unit diagonal, b is of size one."""
    e, u = program.bilateral, program.A @ z + program.b
    P_N, P_T = program.split(z)
    u_N, u_T = program.split(u)
    reach, point = program.friction * (P_N + push), P_T - u_T
    length = np.linalg.norm(point, axis=1)
    nearest = point * np.minimum(1.0, reach / np.maximum(length, 1e-300))[:, None]
    errors = np.concatenate((u[:e], np.minimum(u_N, P_N), (P_T - nearest).ravel()))
    return float(np.max(np.abs(errors)))


def contacts(rng: np.random.Generator, dimension: int = 2, number: int = 2, joints: int = 0) -> FrictionContact:
    """Random directions in a motion of as many freedoms as rows, or of one less; b is the velocity of a motion."""
    rows = joints + dimension * number
    W = rng.normal(size=(rows, rows - int(rng.integers(2))))
    W /= np.linalg.norm(W, axis=1)[:, None]
    motion = rng.normal(size=W.shape[1])
    return FrictionContact(W @ W.T, W @ motion, rng.uniform(0.1, 1.0, number), dimension, joints)


@pytest.mark.parametrize(
    ("slip", "friction", "answer"),
    [
        pytest.param(3.0, 0.5, -1.0, id="slides on"),  # 0.5 times the push of 2
        pytest.param(-3.0, 0.5, 1.0, id="slides back"),
        pytest.param(0.6, 0.5, -0.6, id="sticks"),
        pytest.param(0.6, 0.0, 0.0, id="smooth"),
    ],
)
def test_friction_of_a_contact_that_is_only_pushed(slip: float, friction: float, answer: float) -> None:
    program = FrictionContact(np.eye(2), np.array([1.0, slip]), np.array([friction]), 2, names=("floor",))
    pushed, recover = pushed_friction_contact(program, np.array([2.0]))
    assert recover(Chain(SemismoothNewton()).answer(pushed).y) == pytest.approx([0.0, answer], abs=1e-15)
    assert pushed.contacts == (2 if friction else 1)
    assert pushed.names == (("floor", "floor, push") if friction else ("floor",))


def test_without_a_push_the_program_is_the_same() -> None:
    program = contacts(np.random.default_rng(0))
    pushed, recover = pushed_friction_contact(program, np.zeros(2))
    assert pushed is program and recover(program.b) is program.b


def test_a_wrong_share_of_friction_is_not_certified() -> None:
    """Twin and contact oppose one slip: more than its reach in one of them does not make up for less in the other."""
    floor = FrictionContact(np.eye(2), np.array([-1.0, 9.0]), np.array([0.5]), 2)
    pushed, recover = pushed_friction_contact(floor, np.array([2.0]))
    right, wrong = np.array([1.0, -0.5, 2.0, -1.0]), np.array([1.0, -0.7, 2.0, -0.8])
    assert recover(right) == pytest.approx([1.0, -1.5]) and recover(wrong) == pytest.approx([1.0, -1.5])
    assert pushed.residual(Solution(right, right, "", 0, "")) == 0.0
    assert pushed.residual(Solution(wrong, wrong, "", 0, "")) == pytest.approx(0.2 / 10.5, rel=0.1)


@pytest.mark.parametrize("solver", EVERYBODY, ids=str)
@pytest.mark.parametrize("joints", [0, 2])
def test_the_twin_program_answers_the_law(solver: Solver, joints: int) -> None:
    """Random contacts, dependent in half of the cases, with pushes on one or both."""
    rng, chain = np.random.default_rng(1), Chain(solver)
    for _ in range(40):
        program = contacts(rng, joints=joints)
        push = rng.uniform(0.0, 2.0, 2) * (rng.random(2) < 0.7)
        u = program.b + program.A[:, joints::2] @ push
        program = FrictionContact(program.A, u, program.friction, 2, joints)
        pushed, recover = pushed_friction_contact(program, push)
        z = recover(chain.answer(pushed).y)
        # the certificate of 1e-9 is relative to terms that are capped at ten times velocities of size one
        assert violation(program, push, z) <= 1e-8
    assert chain.counts[type(solver).__name__] >= 0.8 * chain.counts["solves"]


IN_SPACE = (*EVERYBODY[:2], SmoothingNewton(), ProjectedGaussSeidel(), Admm(), Conic())


@pytest.mark.parametrize("solver", some(IN_SPACE, 5), ids=str)
@pytest.mark.parametrize("joints", [0, 2])
def test_in_space(solver: Solver, joints: int) -> None:
    rng, chain = np.random.default_rng(2), Chain(solver)
    for _ in range(20):
        program = contacts(rng, dimension=3, joints=joints)
        push = rng.uniform(0.0, 2.0, 2) * (rng.random(2) < 0.7)
        u = program.b + program.A[:, joints::3] @ push
        program = FrictionContact(program.A, u, program.friction, 3, joints)
        pushed, recover = pushed_friction_contact(program, push)
        assert violation(program, push, recover(chain.answer(pushed).y)) <= 1e-8
    assert chain.counts.get(type(solver).__name__, 0) >= 0.8 * chain.counts["solves"]
