"""The spatial slider-crank against its reduction to one coordinate, its closed-form kinematics, and with clearance."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import spatial_slider_crank
from nonsmooth_problems.spatial_slider_crank import CASES, REFERENCE

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.05)
PLASTIC = Rigid(restitution=0.0, friction=0.0)
ALONG = {"iftomm": "x", "rssp": "y"}


def energy(system, run):
    found = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)
    return found["kinetic"] + found["potential"]


def angle(run):
    turned = np.unwrap(2 * np.arctan2(run.q["crank.qx"], run.q["crank.qw"]), period=4 * np.pi)
    return turned - turned[0]


@pytest.mark.parametrize("t_end", REFERENCE)
def test_it_moves_as_its_reduction_to_one_coordinate(t_end):
    """All digits of the reference."""
    run = simulate(spatial_slider_crank().build(), ACCURATE, t_end=t_end, dt=FINE)
    found = (angle(run)[-1], run.v["crank.wx"][-1], run.q["slider.x"][-1], run.v["slider.x"][-1])
    assert found == pytest.approx(REFERENCE[t_end], abs=2e-10)


@pytest.mark.parametrize("case", CASES)
def test_its_energy_is_kept(case):
    system = spatial_slider_crank(case=case).build()
    run = simulate(system, ACCURATE, t_end=0.5, dt=FINE)
    assert np.ptp(energy(system, run)) < 1e-10
    places = [CASES[case].slider(theta)[0] for theta in angle(run)]
    np.testing.assert_allclose(run.q[f"slider.{ALONG[case]}"], places, atol=1e-11)


@pytest.mark.parametrize("case", CASES)
def test_driven_it_follows_its_kinematics(case):
    """One turn at 1 rad/s: place and velocity in closed form, to round-off."""
    run = simulate(spatial_slider_crank(case=case, crank_speed=1.0, driven=True).build(), ACCURATE, t_end=6.3, dt=FINE)
    expected = np.array([CASES[case].slider(theta) for theta in run.t])
    np.testing.assert_allclose(run.q[f"slider.{ALONG[case]}"], expected[:, 0], atol=1e-13)
    np.testing.assert_allclose(run.v[f"slider.{ALONG[case]}"], expected[:, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("degrees", "x", "slope"),
    [
        (45, 0.238615293517, 0.052155413701),
        (90, 0.274226184016, 0.035007597959),
        (180, 0.28, -1 / 35),
        (270, 0.207846096908, -0.046188021535),
    ],
)
def test_the_kinematics_are_those_of_the_benchmark(degrees, x, slope):
    assert CASES["iftomm"].slider(np.radians(degrees)) == pytest.approx((x, slope), abs=1e-12)


def test_it_can_start_anywhere():
    system = spatial_slider_crank(theta=2.0).build()
    place, slope = CASES["iftomm"].slider(2.0)
    assert system.start.q[system.q_names.index("slider.x")] == pytest.approx(place, abs=1e-14)
    assert system.start.v[system.v_names.index("slider.x")] == pytest.approx(6.0 * slope, abs=1e-12)


def test_the_first_contact_does_not_depend_on_the_law():
    """Nothing holds the slider until the ball has crossed the clearance; the instant is found to 1e-9 s."""
    times = []
    for restitution in (0.0, 0.8):
        system = spatial_slider_crank(contact=Rigid(restitution=restitution, friction=0.0)).build()
        run = simulate(system, ACCURATE, t_end=0.02, dt=FINE)
        times.append(run.t[np.flatnonzero(run.P_N["pin"] > 0)[0]])
    assert times[0] == pytest.approx(times[1], abs=1e-9)
    # the slider falls behind the rod by (a/2) t^2 = c, with an acceleration of the order of 10 m/s^2
    assert 1e-3 < times[0] < 0.02


@pytest.mark.parametrize("case", CASES)
def test_with_clearance_it_stays_near_the_ideal_one(case):
    """Rod and slider are at most c apart, energy is lost in impacts only, and both steppers agree."""
    system = spatial_slider_crank(contact=PLASTIC, case=case).build()
    ideal = simulate(spatial_slider_crank(case=case).build(), ACCURATE, t_end=0.02, dt=FINE)
    run = simulate(system, EventDriven(), t_end=0.02, dt=ErrorControl(1e-9, 1e-9, 1e-9, 1e-3))
    assert np.min(run.gap["pin"]) > -1e-12 and np.max(run.gap["pin"]) <= 1e-4
    assert np.max(np.diff(energy(system, run))) < 1e-8
    label = f"slider.{ALONG[case]}"
    assert abs(run.q[label][-1] - ideal.q[label][-1]) < 3e-4
    other = simulate(system, GaussQP(), t_end=0.02, dt=Landing(1e-6, 5e-4))
    assert other.q[label][-1] == pytest.approx(run.q[label][-1], abs=1e-4)


def test_bad_values_are_named():
    with pytest.raises(InputError, match="case must be one of iftomm, rssp, got 'haug'"):
        spatial_slider_crank(case="haug")
    with pytest.raises(InputError, match="clearance must lie between 0 and the ball's radius"):
        spatial_slider_crank(contact=PLASTIC, clearance=0.02)
