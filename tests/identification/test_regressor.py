"""The regressor against Newton's and Euler's equations written for poses in closed form, and what can be known."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    Ground,
    Model,
    PlanarBody,
    PrescribedMotion,
    Revolute,
    Spring,
    TorsionDamper,
    TorsionSpring,
)
from nonsmooth.exceptions import InputError
from nonsmooth.identification import base_parameters, regressor
from nonsmooth_problems import xy_pointing
from nonsmooth_problems.xy_pointing import DRIVES

#: of the largest driving force: 100 states, each a sum of some hundred products
ACCURACY = 1e-12


def test_planar_two_link_arm_in_space(closed_form):
    Y = closed_form.serial(closed_form.TWO_R, gravity=np.array([0.0, -9.81, 0.0]))
    reference = closed_form.serial_reference(closed_form.TWO_R, g=np.array([0.0, -9.81, 0.0]))
    assert closed_form.worst_difference(Y, reference, (-3.0, 3.0), 1) < ACCURACY


def test_puma(closed_form):
    Y, reference = closed_form.serial(closed_form.PUMA), closed_form.serial_reference(closed_form.PUMA)
    assert closed_form.worst_difference(Y, reference, (-1.0, 1.0), 2) < ACCURACY


def test_pointing_mechanism(closed_form):
    Y = regressor(xy_pointing().build(), DRIVES)
    assert closed_form.worst_difference(Y, closed_form.pointing_reference(), (-1.2, 1.2), 3) < ACCURACY


def test_four_bar_a_planar_closed_loop(closed_form):
    Y = closed_form.four_bar()
    random = np.random.default_rng(4)
    inertias = [closed_form.Planar.of(closed_form.Inertia(random)) for _ in range(3)]
    states = [random.uniform(-3.0, 3.0, (100, 1)) for _ in range(3)]
    found = Y(*states) @ np.concatenate([body.parameters for body in inertias])
    reference = closed_form.four_bar_reference()
    expected = np.array([reference(inertias, *state) for state in zip(*states, strict=True)])
    assert np.max(np.abs(found - expected)) < ACCURACY * np.max(np.abs(expected))


def test_slider_crank_a_closed_loop_in_space(closed_form):
    Y, reference = closed_form.spatial_slider_crank(), closed_form.spatial_slider_reference()
    assert closed_form.worst_difference(Y, reference, (-2.0, 2.0), 5) < ACCURACY


def test_gravity_torques_of_the_puma_by_another_program(closed_form):
    """Printed by SymPyBotics for Corke's parameters; inertia has no influence at rest."""
    q = [0.7504516826728697, 0.8395156106908136, 0.16851233582594916, 0.3849629637427072, 0.5252993946810777,
         0.6701207256444748]  # fmt: skip
    masses = [0.0, 17.4, 4.8, 0.82, 0.34, 0.09]
    centres = [(0, 0, 0), (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.070), (0, 0.019, 0), (0, 0, 0), (0, 0, 0.032)]
    theta = np.concatenate([[0.0] * 6 + [m * x for x in c] + [m] for m, c in zip(masses, centres, strict=True)])
    found = closed_form.serial(closed_form.PUMA)([q], [[0.0] * 6], [[0.0] * 6])[0] @ theta
    expected = [0.0, 16.8135891283022, -7.29033633567802, 0.00449992182015992, -0.026719893613902, 0.0]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("loop", [False, True])
def test_derivatives_are_exact(closed_form, loop):
    """Against central differences, whose error is about eps/h + h^2 = 1e-10 of values of the order of 10."""
    Y, h = closed_form.four_bar() if loop else regressor(xy_pointing().build(), DRIVES), 1e-5
    random = np.random.default_rng(7)
    states = list(random.uniform(-1.0, 1.0, (3, 10, len(Y.drives))))
    slopes, nd = Y.with_derivatives(*states)[1], len(Y.drives)
    for k in range(3 * nd):
        change = [np.zeros((10, nd)) for _ in range(3)]
        change[k // nd][:, k % nd] = h
        ahead, behind = (Y(*(s + sign * c for s, c in zip(states, change, strict=True))) for sign in (1, -1))
        assert np.max(np.abs((ahead - behind) / (2 * h) - slopes[:, k])) < 3e-8


@pytest.mark.parametrize("gravity, expected", [(np.array([0.0, 0.0, -9.81]), 36), (None, 34)])
def test_base_parameters_of_the_puma(closed_form, gravity, expected):
    base = base_parameters(closed_form.serial(closed_form.PUMA, gravity))
    assert (base.rank, len(base.names)) == (expected, 60) and base.gap > 1e6


@pytest.mark.parametrize("gravity, expected", [(np.array([0.0, -9.81, 0.0]), 6), (None, 4)])
def test_base_parameters_of_a_two_link_arm(closed_form, gravity, expected):
    assert base_parameters(closed_form.serial(closed_form.TWO_R, gravity)).rank == expected


def test_pointing_mechanism_base_parameters():
    system = xy_pointing().build()
    base = base_parameters(regressor(system, DRIVES))
    assert (len(base.names) - len(base.unseen), base.rank) == (13, 10)
    assert base.formulas({"L1": 0.1}) == (
        "link1.Izz + link2.Iyy + L1^2 link2.m", "link1.mx + L1 link2.m", "link1.my - link2.mz",
        "link2.Ixx - link2.Iyy", "link2.Ixy", "link2.Ixz", "link2.Iyz", "link2.Izz", "link2.mx", "link2.my",
    )  # fmt: skip
    rough = base_parameters(regressor(system, DRIVES, friction=("viscous", "coulomb")))
    assert (len(rough.names) - len(rough.unseen), rough.rank) == (17, 14)


def test_base_parameters_give_the_same_forces():
    """beta = K theta, to round-off of torques of 3 N m."""
    Y = regressor(xy_pointing().build(), DRIVES)
    base = base_parameters(Y)
    states = list(np.random.default_rng(0).uniform(-1, 1, (3, 50, 2)))
    assert base.reduced(Y(*states)) @ base.values(Y.values) == pytest.approx(Y.force(*states), abs=1e-13)


def test_loads_and_friction():
    """A pendulum with a torsion spring, a damper and a load that is known: tau = J a + d w + k q + known."""
    model = Model([Ground(), PlanarBody("arm", 2.0, 0.1, position=(0.0, 0.0))])
    model.add(Revolute("pin", "ground", "arm"))
    model.add(PrescribedMotion("motor", "ground", "arm", coordinate="angle", motion=0.0))
    model.add(TorsionSpring("spring", "ground", "arm", stiffness=3.0))
    model.add(TorsionDamper("damper", "ground", "arm", damping=0.2))
    Y = regressor(model.build(), ["motor"], friction=("coulomb", "rotor", "offset"), loads=["spring.stiffness"])
    q, v, a = (np.array([[x]]) for x in (0.3, -0.5, 2.0))
    assert Y.known(q, v, a)[0, 0] == pytest.approx(0.2 * -0.5)
    row = dict(zip(Y.names, Y(q, v, a)[0, 0], strict=True))
    assert row["spring.stiffness"] == pytest.approx(0.3) and row["arm.Izz"] == pytest.approx(2.0)
    assert (row["motor.coulomb"], row["motor.rotor"], row["motor.offset"]) == (-1.0, 2.0, 1.0)
    assert Y.force(q, v, a)[0, 0] == pytest.approx(0.1 * 2.0 + 3.0 * 0.3 - 0.2 * 0.5)


def test_messages(closed_form):
    system = xy_pointing().build()
    with pytest.raises(InputError, match='"elbow" is no drive of the mechanism; its drives are motor1, motor2'):
        regressor(system, ["elbow"])
    with pytest.raises(InputError, match='"motor2" prescribes a motion, too'):
        regressor(system, ["motor1"])
    with pytest.raises(InputError, match="2 gaps; identification takes ideal joints"):
        regressor(xy_pointing(clearance=1e-5).build(), DRIVES)
    with pytest.raises(InputError, match="must be rows of 2 number"):
        regressor(system, DRIVES)([[0.0]], [[0.0]], [[0.0]])
    model = Model([Ground(), PlanarBody("arm", 1.0, 0.1), Revolute("pin", "ground", "arm")])
    model.add(Spring("spring", "ground", "arm", at_a=(1.0, 0.0), at_b=(0.5, 0.0), stiffness=1.0, free_length=0.1))
    model.add(PrescribedMotion("motor", "ground", "arm", coordinate="angle", motion=0.0))
    with pytest.raises(InputError, match='not linear in "spring.stiffness"'):
        Y = regressor(model.build(), ["motor"], loads=["spring.stiffness", "spring.free_length"])
        Y([[0.0]], [[0.0]], [[0.0]])
    with pytest.raises(InputError, match="does not reach the position"):
        rocker_driven(closed_form).motion.positions(np.array([[0.0]]))


def rocker_driven(closed_form):
    """A rocker that is driven instead of the crank: it cannot turn fully."""
    Y = closed_form.four_bar()
    elements = [e for e in Y.system.elements if e.name != "motor"]
    rocker = next(e for e in elements if e.name == "rocker")
    model = Model(elements)
    model.add(PrescribedMotion("motor", "ground", "rocker", coordinate="angle", motion=rocker.angle))
    return regressor(model.build(assemble=True), ["motor"])
