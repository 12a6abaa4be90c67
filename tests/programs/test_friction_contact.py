"""Contact with friction: known answers, what the certificate refuses, and the ways to other programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.programs import (
    ConeQP,
    FrictionContact,
    Program,
    Solution,
    cone_qp_from_friction_contact,
    lcp_from_friction_contact,
)
from nonsmooth.programs.projections import SecondOrderCone

# A point of 1 kg on a floor: impulses are velocities.
POINT = FrictionContact(np.eye(2), np.array([-1.0, 3.0]), np.array([0.5]), 2, names=("floor",))
SPACE = FrictionContact(np.eye(3), np.array([-1.0, 3.0, 4.0]), np.array([0.5]), 3, names=("floor",))


def answer(z: object) -> Solution:
    return Solution(np.zeros(0), np.array(z, float), "by hand", 0, "nobody")


@pytest.mark.parametrize(
    ("b", "friction", "z"),
    [
        pytest.param([-1.0, 3.0], 0.5, [1.0, -0.5], id="slips"),
        pytest.param([-1.0, 3.0], 5.0, [1.0, -3.0], id="sticks"),
        pytest.param([-1.0, 3.0], 0.0, [1.0, 0.0], id="frictionless"),
        pytest.param([1.0, 3.0], 0.5, [0.0, 0.0], id="lifts off"),
        pytest.param([0.0, 3.0], 0.5, [0.0, 0.0], id="grazes"),
        pytest.param([-1.0, 3.0, 4.0], 0.5, [1.0, -0.3, -0.4], id="slips in space"),
        pytest.param([-1.0, 3.0, 4.0], 5.0, [1.0, -3.0, -4.0], id="sticks in space"),
        pytest.param([1.0, 3.0, 4.0], 5.0, [0.0, 0.0, 0.0], id="lifts off in space"),
    ],
)
def test_an_exact_answer_is_certified(b: list[float], friction: float, z: list[float]) -> None:
    program = FrictionContact(np.eye(len(b)), np.array(b), np.array([friction]), len(b))
    assert isinstance(program, Program)
    assert program.residual(answer(z)) <= 2.3e-16  # one rounding of a sum of at most three terms


@pytest.mark.parametrize(
    ("z", "row", "size"),
    [
        ([0.9, -0.45], "floor, normal", 0.1 / 1.9),  # sinks at 0.1; terms 0.9 + 1
        ([1.1, -0.55], "floor, normal", 0.1 / 2.1),  # departs and is pushed still
        ([1.0, -0.4], "floor, tangential", 0.1 / 3.4),  # pushed too little for a slip; terms 0.4 + 3
        ([1.0, -0.6], "floor, tangential", 0.1 / 3.6),  # out of the cone
        ([1.0, 0.5], "floor, tangential", 1.0 / 3.5),  # friction that drives
        ([np.nan, 0.0], "floor, normal", np.inf),
        ([1.0, np.inf], "floor, normal", np.inf),
    ],
)
def test_the_worst_row_is_named_with_its_share_of_the_terms(z: list[float], row: str, size: float) -> None:
    name, value = POINT.worst(answer(z))
    assert name == row
    assert value == pytest.approx(size, rel=1e-12)
    assert POINT.residual(answer(z)) == value


def test_friction_at_right_angles_to_the_slip_is_refused() -> None:
    """As large as allowed, but not of maximal dissipation: (-0.3, 0.4) against a slip along (0.6, 0.8)."""
    name, value = SPACE.worst(answer([1.0, -0.3, 0.4]))
    assert name == "floor, tangential"
    assert value > 0.05


def test_bilateral_rows_come_first_with_their_names() -> None:
    program = FrictionContact(np.eye(3), np.array([2.0, -1.0, 3.0]), np.array([0.5]), 2, 1, ("joint", "floor"))
    assert program.row_names == ("joint", "floor, normal", "floor, tangential")
    assert program.residual(answer([-2.0, 1.0, -0.5])) == 0.0
    assert program.worst(answer([-1.0, 1.0, -0.5])) == ("joint", pytest.approx(1.0 / 3.0))
    assert replace(program, names=()).row_names[:2] == ("row 0", "contact 0, normal")


def test_units_do_not_matter() -> None:
    """Normal rows in another unit than tangential ones, as where a contact hangs on a long lever; mu changes along."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(9, 6))
    A, b, mu, z = Y.T @ Y, rng.normal(size=6), rng.random(2), rng.normal(size=6)
    unit = np.array([1e3, 1e-2, 1e-2, 1e-4, 7.0, 7.0])
    for kind in (FrictionContact, ConeQP):
        program = kind(A, b, mu, 3)
        scaled = kind(A * unit * unit[:, None], b * unit, mu * unit[::3] / unit[1::3], 3)
        np.testing.assert_allclose(scaled.errors(answer(z / unit)), program.errors(answer(z)), rtol=1e-9)


def test_the_map_of_the_cone_with_de_saxces_correction_vanishes_with_the_residual() -> None:
    """|z - proj_K(z - (u_N + mu |u_T|, u_T))| and the natural map of line and disk are zero together."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        mu, d = rng.random(1) + 0.1, int(rng.integers(2, 4))
        u_T, P_N = rng.normal(size=d - 1), rng.random()
        kind = rng.integers(4)
        if kind == 0:  # open
            z, u = np.zeros(d), np.r_[rng.random(), u_T]
        elif kind == 1:  # sticks
            z, u = np.r_[P_N, mu * P_N * 0.9 * u_T / np.linalg.norm(u_T)], np.zeros(d)
        else:  # slips, rightly and wrongly
            z, u = np.r_[P_N, -mu * P_N * u_T / np.linalg.norm(u_T)], np.r_[0.0, u_T * (1 if kind == 2 else -1)]
        program = FrictionContact(np.eye(d), u - z, mu, d)
        corrected = np.r_[u[0] + mu * np.linalg.norm(u[1:]), u[1:]]
        cone = np.linalg.norm(z - SecondOrderCone(mu[0]).project(z - corrected))
        assert (cone <= 1e-15) == (program.residual(answer(z)) <= 1e-15)
        assert (cone <= 1e-15) == (kind != 3)


def test_huge_impulses_do_not_certify_a_contradiction() -> None:
    """Pressed from both sides by walls that approach each other."""
    W = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    squeezed = FrictionContact(W.T @ W, np.array([-1.0, 0.0, -1.0, 0.0]), np.array([0.3, 0.3]), 2)
    assert squeezed.residual(answer([1e12, 0.0, 1e12, 0.0])) > 1e-2


def test_a_joint_with_nothing_to_carry_does_not_divide_round_off_by_round_off() -> None:
    """Two joints in one place, with round-off for velocities, beside a contact that opens at 1 m/s."""
    A = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    program = FrictionContact(A, np.array([1e-17, -1e-17, 1.0, 2.0]), np.array([0.3]), 2, 2)
    assert program.residual(answer(np.zeros(4))) < 1e-13  # FLOOR = 1e-3 times a round-off of 1e-16


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_contact_with_nothing_to_carry_does_not_divide_round_off_by_round_off(dimension: int) -> None:
    """One contact carries 1 m/s, another, coupled with nothing, has velocities and impulses of round-off only."""
    d = dimension
    b = np.r_[-1.0, np.zeros(d - 1), np.full(d, -1e-17)]
    program = FrictionContact(np.eye(2 * d), b, np.full(2, 0.3), d)
    z = np.r_[1.0, np.zeros(d - 1), np.full(d, 3e-17)]
    assert program.residual(answer(z)) < 1e-12  # FLOOR = 1e-3 of 1 m/s under 4e-17
    z[d] = 1e-3  # but a push of 1 mm/s that the contact does not need is still found
    assert program.residual(answer(z)) > 0.1


def test_an_answer_of_the_wrong_shape_is_infinitely_wrong() -> None:
    assert POINT.residual(answer([1.0])) == np.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), np.zeros(2), np.ones(1), 4), "dimension = 4"),
        ((np.eye(2), np.zeros(2), np.ones(1), 2, -1), "bilateral = -1"),
        ((np.eye(2), np.zeros(2), np.ones(1), 3), r"1 contacts in dimension 3 needs A of shape \(3, 3\)"),
        ((np.eye(2), np.zeros(2), -np.ones(1), 2), "friction of a FrictionContact must not be negative, got -1"),
        ((np.eye(2), np.zeros(2), np.ones(1), 2, 0, ("a", "b")), "2 names"),
    ],
)
def test_shapes_that_disagree_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FrictionContact(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("mu", "z"), [(0.5, [1.0, 2.5, 0.0]), (5.0, [1.0, 0.0, 0.0])])
def test_the_lcp_of_a_planar_program_has_its_answers(mu: float, z: list[float]) -> None:
    program = replace(POINT, friction=np.array([mu]))
    lcp, recover = lcp_from_friction_contact(program)
    assert lcp.names == ("floor, normal", "floor, forward", "floor, backward")
    assert lcp.residual(answer(z)) == 0.0
    assert program.residual(answer(recover(np.array(z)))) == 0.0


def test_contacts_without_friction_take_one_row_of_the_lcp() -> None:
    program = FrictionContact(np.eye(5), -np.ones(5), np.array([0.0, 0.2]), 2, 1)
    lcp, recover = lcp_from_friction_contact(program)
    assert lcp.b.size == 4
    impulses = recover(np.array([1.0, 1.0, 0.0, 0.8]))  # slips backward at 1 - 0.2
    np.testing.assert_allclose(impulses, [1.0, 1.0, 0.0, 1.0, 0.2], rtol=1e-15)
    assert program.residual(answer(impulses)) <= 1e-15


def test_no_lcp_in_space_nor_with_dependent_joints() -> None:
    with pytest.raises(InputError, match="in space has no exact LCP"):
        lcp_from_friction_contact(SPACE)
    with pytest.raises(InputError, match="dependent.*Raise the diagonal"):
        lcp_from_friction_contact(FrictionContact(np.ones((4, 4)), np.ones(4), np.ones(2), 2))


@pytest.mark.parametrize("program", [POINT, SPACE], ids=["plane", "space"])
def test_the_convex_relaxation_lifts_what_slides(program: FrictionContact) -> None:
    """u_N = mu |u_T| while it slides: here mu (v - mu P_N) with P_N = (1 + mu v) / (1 + mu^2), v the speed."""
    relaxed = cone_qp_from_friction_contact(program)
    mu, speed = 0.5, float(np.linalg.norm(program.b[1:]))
    P_N = (1.0 + mu * speed) / (1.0 + mu**2)
    z = np.r_[P_N, -mu * P_N * program.b[1:] / speed]
    assert relaxed.residual(answer(z)) <= 2.3e-16
    assert (program.A @ z + program.b)[0] == pytest.approx(mu * (speed - mu * P_N), rel=1e-14)
    assert program.worst(answer(z))[0] == "floor, normal"
    assert relaxed.residual(answer(np.r_[1.0, -0.5 * program.b[1:] / speed])) > 1e-2
