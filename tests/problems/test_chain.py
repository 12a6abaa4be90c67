"""The tight chain: a rigid rotation that needs exactly the centripetal force and the weight of what hangs below."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    InputError,
    Landing,
    simulate,
)
from nonsmooth.laws import Hertz
from nonsmooth_problems import chain

LENGTH, MASS, CLEARANCE, SPEED, GRAVITY = 0.1, 0.1, 0.5e-3, 1.0, 9.81
COUNTS = (1, 4, 16)
WEIGHTLESS = {"gravity.acceleration_y": 0.0}
CONTROL = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=1e-2)


def loads(n, gravity):
    """Of each bearing: weight and centripetal force of all links below it."""
    radii = CLEARANCE * np.arange(1, n + 1) + LENGTH * (np.arange(n) + 0.5)
    return np.cumsum(MASS * (gravity + SPEED**2 * radii)[::-1])[::-1]


def columns(run, kind, n, stem="joint", suffix=""):
    return np.array([getattr(run, kind)[f"{stem}{i}{suffix}"] for i in range(1, n + 1)])


@pytest.mark.parametrize("n", COUNTS)
def test_without_weight_it_turns_as_one_body(n):
    run = simulate(chain(n=n).build(), EventDriven(order="dop853"), t_end=0.1, dt=CONTROL, parameters=WEIGHTLESS)
    forces = columns(run, "lam_N", n)[:, 1:]
    np.testing.assert_allclose(forces, np.tile(loads(n, 0.0)[:, None], forces.shape[1]), rtol=0, atol=1e-11)
    angles = columns(run, "q", n, "link", ".angle")
    np.testing.assert_allclose(angles, np.tile(SPEED * run.t, (n, 1)), rtol=0, atol=1e-12)
    assert np.max(np.abs(columns(run, "gap", n))) <= 1e-14
    assert len(run.impacts) == 0 and run.certificate.energy.remainder == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("stepper", [GaussQP(), GeneralizedAlpha()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("n", COUNTS[:2])
def test_steps_of_second_order_turn_it_as_well(n, stepper):
    errors = []
    for dt in (4e-3, 2e-3):
        control = Landing(1e-6, dt) if isinstance(stepper, GaussQP) else dt
        run = simulate(chain(n=n).build(), stepper, t_end=0.1, dt=control, parameters=WEIGHTLESS)
        assert np.max(np.abs(columns(run, "gap", n))) <= 1e-14
        assert columns(run, "lam_N", n)[:, 1:] == pytest.approx(
            np.tile(loads(n, 0.0)[:, None], len(run.t) - 1), rel=1e-5
        )
        errors.append(abs(run.q["link1.angle"][-1] - SPEED * run.t[-1]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("n", COUNTS)
def test_hanging_straight_it_also_carries_the_weight(n):
    """At the start only: a pendulum turns on at constant speed for no longer than that."""
    control = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-9, dt_max=1e-6)
    run = simulate(chain(n=n).build(), EventDriven(order="dop853"), t_end=1e-6, dt=control)
    np.testing.assert_allclose(columns(run, "lam_N", n)[:, 1], loads(n, GRAVITY), rtol=0, atol=1e-10)


@pytest.mark.parametrize("n", COUNTS)
def test_the_gaps_stay_closed_as_it_swings(n):
    run = simulate(chain(n=n).build(), EventDriven(), t_end=0.2, dt=ErrorControl(1e-7, 1e-9, 1e-6, 1e-2))
    assert np.max(np.abs(columns(run, "gap", n))) <= 1e-14
    assert np.all(columns(run, "mode", n)[:, 1:] > 0) and len(run.impacts) == 0
    assert np.min(columns(run, "lam_N", n)[:, 1:]) > 0.5
    assert run.certificate.energy.remainder == pytest.approx(0.0, abs=1e-8)


def test_compliant_bearings_carry_the_weight_on_average():
    """The links start on springs without load and bounce on them, in 20 ms some six times: the mean is near."""
    n, end = 2, 0.02
    system = chain(n=n, contact=Compliant(Hertz(stiffness=1e8)), speed=0.0).build()
    run = simulate(system, CompliantDae(), t_end=end, dt=ErrorControl(1e-8, 1e-9, 1e-7, 1e-3))
    mean = columns(run, "P_N", n).sum(axis=1) / end
    np.testing.assert_allclose(mean, GRAVITY * MASS * np.array([2, 1]), rtol=0.05)
    assert abs(run.q["link1.angle"][-1]) <= 1e-9


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "four"])
def test_bad_numbers_are_named(n):
    number = r"n (must be an integer >= 1|is a number, as 4(, or one with its unit)?), got"
    with pytest.raises(InputError, match=number):
        chain(n=n)


def test_provenance_of_each_link():
    system = chain(n=3).build()
    assert {"link3.mass", "joint3.clearance", "joint3.restitution", "gravity.acceleration_y"} <= set(system.provenance)
    assert "joint4.clearance" not in system.provenance
