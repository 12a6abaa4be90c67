"""Compliant contact towards rigid contact: orders, the first impulse, forces at rest, stiffness for a depth."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from loops import some
from scipy.optimize import brentq

from nonsmooth import (
    CirclePlane,
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    Ground,
    InputError,
    Model,
    PlanarBody,
    Radau,
    Rigid,
    SimulationFailed,
    plots,
    simulate,
)
from nonsmooth.diagnostics.contacts import first_impulse
from nonsmooth.laws import Flores, HuntCrossley
from nonsmooth.studies import Case, rigid_limit
from nonsmooth.studies.cases import order
from nonsmooth.studies.long_run import Statistic, Statistics
from nonsmooth_problems import polishing_robot, slider_crank_revolute, slider_rod

CONTROL = ErrorControl(1e-9, 1e-11, 1e-6, 1e-3)
RIGID = Rigid(restitution=0.5, friction=0.0)


def build(contact):
    return slider_rod(case=1, contact=contact)


def limit(e, stiffness, t_end, **options):
    contact = Rigid(restitution=e, friction=0.0)
    rigid = Case("rigid", contact, EventDriven(), CONTROL, exact=slider_rod.exact(case=1, contact=contact))
    return rigid_limit(
        build, rigid, lambda K: Compliant(Flores(stiffness=K, restitution=e, calibrated=True)), stiffness, t_end=t_end,
        **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return limit(0.5, [10.0**k for k in range(10, 17)], 6e-3, depth=1e-7)


def test_orders_towards_the_exact_rigid_motion(found) -> None:
    # Hertz: depth, duration and with them every error scale with K^(-2/5)
    assert np.all(np.diff(found.distance) < 0)
    assert found.distance[-1] < 1e-3
    for what, value in found.orders.items():  # that of the impulse rises towards it: 0.374, 0.386, 0.392
        assert value == pytest.approx(0.4, abs=0.015 if what == "impulse" else 0.01), what


def test_stiffness_that_a_depth_needs(found) -> None:
    assert found.needed["found"] == pytest.approx(1e-7, rel=0.01)
    assert 1e14 < found.needed["stiffness"] < 2e14


def test_soft_contacts_do_not_part(found) -> None:
    """With K = 1e10 the slider remains in contact, whose force ends nowhere; the impact does, and is 9 % too weak."""
    assert found.impulse_error[0] == pytest.approx(-0.0936, abs=1e-3)


@pytest.mark.parametrize("e", some([0.3, 0.5, 0.8], 2))
def test_first_impulse_at_equal_delivered_restitution(e) -> None:
    found = limit(e, [1e14, 1e15, 1e16], 3e-3 if e < 0.8 else 4e-3)
    error = np.abs(found.impulse_error)
    assert error[0] < 0.015 and error[2] < 0.0025
    assert found.orders["impulse"] == pytest.approx(0.4, abs=0.04)  # the weight reduces the rebound, more for small e


def test_first_impulse_is_without_that_of_the_weight() -> None:
    """With e = 0.05 the slider does not part from the rod: force and weight act for 4.6 ms, the impact for 0.1 ms. The
    impulse up to the end was 147 mN s; m v (1 + e) is 36.8 mN s, and the weight takes part of the rebound."""
    found = limit(0.05, [1e12, 1e14, 1e15, 1e16], 6e-3)
    assert 1e3 * found.rigid_impulse == pytest.approx(36.77, abs=0.01)
    assert 1e3 * found.first_impulse[0] == pytest.approx(36.48, abs=0.02)
    assert found.orders["impulse"] == pytest.approx(0.4, abs=0.03)
    assert abs(found.impulse_error[-1]) < 3e-4


def first_of(build, contact, t_end):
    stepper = EventDriven() if isinstance(contact, Rigid) else CompliantDae()
    return first_impulse(simulate(build(contact).build(), stepper, t_end=t_end, dt=CONTROL, check=False))


def softly(K):
    return Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True))


def tilted_bar(contact):
    """A bar of 1 kg and 0.2 m that falls with 0.1 m/s, its left end 80 um below the right one."""
    ends = (CirclePlane(name, "ground", "bar", radius=0.02, at_b=(x, 0.0), contact=contact)
            for name, x in (("left", -0.1), ("right", 0.1)))  # fmt: skip
    start = {"position": (0.0, 0.020143), "angle": 4e-4, "velocity": (0.0, -0.1)}
    return Model([Ground(), PlanarBody("bar", mass=1.0, inertia=0.2**2 / 12, **start), *ends])


def test_an_impact_that_begins_during_the_first_is_not_part_of_it() -> None:
    """The right end impacts before the left one has separated, and presses it down: both impulses used to be one."""
    rigid = first_of(tilted_bar, RIGID, 2e-3)
    assert rigid == pytest.approx(0.25 * 1.5 * 0.1, rel=1e-6)  # a quarter of the mass, (1 + e) v, but for the tilt
    # at K = 1e7 both ends separate after 7 ms, the left one with nearly the velocity of its rigid impact
    assert first_of(tilted_bar, softly(1e7), 0.02) == pytest.approx(rigid, rel=0.02)
    assert first_of(tilted_bar, softly(1e11), 2e-3) == pytest.approx(rigid, rel=1e-6)


def test_first_impulse_of_several_contacts_that_begin_together() -> None:
    """Edges of the robot's guide meet its slide by two corners at a time: 106 % off with K = 1e10, 2 % for ever."""
    rigid = first_of(polishing_robot, RIGID, 7e-3)
    # as of a free impact, whose duration is of the order of K^-0.4; with K = 1e10 it is 1.7 ms, within 0.26 ms of which
    # the other edge impacts
    stiff = [first_of(polishing_robot, softly(K), 7e-3) / rigid - 1 for K in (1e13, 1e14)]
    assert stiff[0] / stiff[1] == pytest.approx(10**0.4, rel=0.02) and abs(stiff[1]) < 1e-3
    assert abs(first_of(polishing_robot, softly(1e10), 0.0085) / rigid - 1) < 0.07


def test_requested_is_not_delivered() -> None:
    """Without calibration the limit of the first impulse is that of the restitution that the law delivers."""
    contact = Rigid(restitution=0.5, friction=0.0)
    rigid = Case("rigid", contact, EventDriven(), CONTROL, exact=slider_rod.exact(case=1, contact=contact))
    with pytest.warns(match="restitution"):
        found = rigid_limit(
            build, rigid, lambda K: Compliant(HuntCrossley(stiffness=K, restitution=0.5)), [1e15, 1e16], t_end=3e-3
        )
    chi = 0.75
    delivered = brentq(lambda r: chi * (1 + r) - np.log((1 + chi) / (1 - chi * r)), 0.1, 0.9)
    assert delivered == pytest.approx(0.663, abs=1e-3)
    # the impulse of a free impact is m v (1 + e); at K = 1e16 the compliant one is within 0.2 % of that
    assert found.impulse_error[-1] == pytest.approx((1 + delivered) / 1.5 - 1, abs=0.0025)


@pytest.mark.parametrize("K", some([1e12, 1e13, 1e14], 3))
def test_forces_at_rest(K) -> None:
    law = Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True))
    stepper = CompliantDae(solver=Radau())  # damps the vibration that is left
    run = simulate(build(law).build(), stepper, t_end=0.02, dt=ErrorControl(1e-7, 1e-9, 1e-6, 1e-3))
    for contact in ("guide.left_lower", "guide.right_lower"):
        assert run.lam_N[contact][-1] == pytest.approx(5.0 * 9.81 / 2, abs=1e-6)


def test_fitted_order_needs_two_points() -> None:
    assert np.isnan(order(np.array([1.0, 10.0]), np.array([np.nan, 1.0])))


def test_a_stiffness_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study used to end with the first run that failed, and with all that had been computed."""

    def limited(system, stepper, **options):
        stiff = any(x > 5e12 for x in system.parameters.values())
        return simulate(system, stepper, max_steps=3 if stiff else None, **options)

    monkeypatch.setattr(sys.modules["nonsmooth.studies.cases"], "simulate", limited)
    found = limit(0.5, [1e12, 1e13], 3e-3)
    assert found.stiffness.tolist() == [1e12] and len(found.rows()) == len(found.verdicts) == 1
    assert found.remarks()[-1].startswith("K = 1e+13: left out, it ends at t = ")
    with pytest.raises(SimulationFailed, match="After 3 steps"):
        limit(0.5, [1e13, 2e13], 3e-3)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="that rise"):
        limit(0.5, [1e12, 1e11], 3e-3)
    with pytest.raises(InputError, match="add others"):
        limit(0.5, [1e12, 1e13], 3e-3, depth=1.0)
    with pytest.raises(InputError, match="stiffness must be a list of finite numbers"):
        limit(0.5, [1e12, "stiff"], 3e-3)
    rigid = Case("rigid", RIGID, EventDriven(), CONTROL)
    with pytest.raises(InputError, match=r"law must be a function of the stiffness that returns Compliant\(...\)"):
        rigid_limit(build, rigid, None, [1e12, 1e13], t_end=3e-3)


SENSITIVE = ErrorControl(1e-7, 1e-9, 1e-6, 1e-4)


def crank_limit(t_end, **options):
    contact = Rigid(restitution=0.9, friction=0.0)
    return rigid_limit(
        lambda contact: slider_crank_revolute(contact=contact), Case("rigid", contact, EventDriven(), SENSITIVE),
        lambda K: Compliant(Flores(stiffness=K, restitution=0.9, calibrated=True)), [6.61e10, 1e12], t_end=t_end,
        dt=SENSITIVE, **options,
    )  # fmt: skip


def estimated(value, half):
    rate = Statistic("energy-rate", "W", "", value, value - half, value + half, half, 0.0, 0.0, (0.0, 0.0), 9.0, "")
    every = {name: dataclasses.replace(rate, name=name) for name in ("energy-rate", "impacts")}
    return Statistics(
        "crank", "chaotic", every, "only statistics are known", 0.012, 0.012, 8, 32, 3, (), 1.0, np.ones(1)
    )


def test_beyond_its_horizon_a_sensitive_motion_has_statistics(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """Distances at 0.1 s, of runs that round-off decides from 0.03 s on, used to be printed as those of stiffness."""
    trials = {}

    def made(given, seconds):
        trials.update(given)
        return {"rigid": estimated(40.0, 1.0), "K = 6.61e+10": estimated(46.0, 2.0)}, {
            "K = 1e+12": "has no statistics: x"
        }

    monkeypatch.setattr(sys.modules["nonsmooth.studies.rigid_limit"], "statistics_of", made)
    found = crank_limit(0.1)
    assert 0.02 < found.horizon < 0.05 and {trial.t_end for trial in trials.values()} == {0.1}
    assert list(trials) == ["rigid", "K = 6.61e+10", "K = 1e+12"]
    # mean deviations from rigid contact of motions that have not separated: some thousandths of the range
    assert np.all(found.distance < 0.01)
    said = "\n".join(found.remarks())
    assert f"runs are compared until its horizon, {found.horizon:.3g} s" in said
    assert "K = 6.61e+10 loses 15 ± 5.8 % more energy than rigid contact." in said
    assert "K = 1e+12 has no statistics: x" in said
    assert found.beyond()[0] == pytest.approx([0.15, 0.058], abs=5e-4) and np.all(np.isnan(found.beyond()[1]))
    assert found.to_dataset()["energy"].shape == (2, 2)
    assert len(plots.rigid_limit(found).axes) == 6


@pytest.mark.slow
def test_the_statistics_of_each_stiffness() -> None:
    found = crank_limit(0.1, seconds=1.0)
    assert list(found.statistics) == ["rigid", "K = 6.61e+10", "K = 1e+12"] and not found.without
    # 38.5 ± 0.9 W with 216 periods of as many members; intervals of the 32 periods that are made at least are ± 10 %
    rate = found.statistics["rigid"]["energy-rate"]
    assert rate.value == pytest.approx(38.5, rel=0.2) and rate.high - rate.low < 0.5 * rate.value
