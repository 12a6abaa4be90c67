"""A slide on two walls of its guide: resting forces by statics, bounds of its offset, and how it touches."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Landing,
    MoreauJean,
    Rigid,
    simulate,
)
from nonsmooth.diagnostics.modes import signature_timeline
from nonsmooth.exceptions import InputError
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth_problems import slide_in_guide
from nonsmooth_problems.slide_in_guide import HEIGHT, LENGTH, WEIGHT, WIDTH, end_force, end_forces, wall_twist

STEPPERS = (
    (MoreauJean(), 1e-3),
    (GeneralizedAlpha(), 1e-3),
    (GaussQP(), Landing(1e-6, 1e-3)),
    (GaussMPCC(), Landing(1e-6, 1e-3)),
    (EventDriven(), ErrorControl(1e-9, 1e-9, 1e-9, 5e-3)),
)
#: gaps may not fall below this: round-off of 0.1 m
ROUND_OFF = -1e-15
NAMES = [type(stepper).__name__ for stepper, _ in STEPPERS]


def slide(friction):
    return slide_in_guide(contact=Rigid(restitution=0.0, friction=friction)).build()


@pytest.mark.parametrize("friction", some([0.0, 0.1, 0.3], 3))
@pytest.mark.parametrize(("stepper", "dt"), STEPPERS, ids=NAMES)
def test_walls_and_ends_bear_what_statics_says(stepper, dt, friction):
    """Within 1e-9 N of 98 and 171 N, whatever the stepper makes of the corners; pushed at a constant speed."""
    run = simulate(slide(friction), stepper, t_end=0.01, dt=dt)
    twist = wall_twist(run)
    for row in range(1, len(run.t)):
        for key, force in end_forces(friction, twist=twist[row]).items():
            assert end_force(*key)(run)[row] == pytest.approx(force, abs=1e-9), key
    push = friction * (WEIGHT + 171.0)
    np.testing.assert_allclose(run.reaction["push.x"][1:], push, atol=1e-9)
    np.testing.assert_allclose(run.q["slide.x"], 0.05 * run.t, atol=1e-14)
    # seated: the platform stays where the clearance lets it
    np.testing.assert_allclose(run.q["slide.y"], 1e-4, atol=1e-14)
    np.testing.assert_allclose(run.q["slide.z"], -1e-4, atol=1e-14)
    assert signature_timeline(run, "guide").modes == ("free", "2 planes")


def test_statics_balance_the_moments():
    """About the slide's centre, from the forces of the ends: friction acts on the walls, the push at the centre."""
    found = end_forces(0.3)
    for wall, force, half, moment in (("height_low", WEIGHT, HEIGHT / 2, 2.0), ("width_low", 171.0, WIDTH / 2, 3.0)):
        back, front = found[wall, "back"], found[wall, "front"]
        assert back + front == pytest.approx(force, rel=1e-15)
        assert (front - back) * LENGTH / 2 == pytest.approx(moment + 0.3 * force * half, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("stepper", "dt"), STEPPERS[1:], ids=NAMES[1:])
def test_from_the_middle_it_comes_to_rest_on_its_walls(stepper, dt, friction):
    """Dropped in the middle of the guide, with plastic impacts: it seats itself within 40 ms.

    On the way its centre stays within the clearance, and points and lines touch before planes. `GeneralizedAlpha` and
    schemes of positions keep the gaps; `MoreauJean` is left out, which penetrates by its impact velocity times the
    step.
    """
    system = slide(friction)
    start = system.state({"slide.y": 0.0, "slide.z": 0.0})
    control = 5e-4 if isinstance(stepper, GeneralizedAlpha) else dt
    run = simulate(system, stepper, t_end=0.04, dt=control, state=start)
    # what a step may leave of a gap, as a share of the clearance; closings are located to round-off, which adds up
    assert min(np.min(run.gap[name]) for name in system.contact_names) > -CERTIFIED * 1e-4
    assert max(np.max(np.abs(run.q[f"slide.{axis}"])) for axis in "yz") < (1.0 + CERTIFIED) * 1e-4
    for key, force in end_forces(friction, twist=wall_twist(run)[-1]).items():
        assert end_force(*key)(run)[-1] == pytest.approx(force, abs=1e-7), key
    timeline = signature_timeline(run, "guide")
    modes = [timeline.modes[number] for number in timeline.mode]
    assert modes[0] == "free" and modes[-1] == "2 planes"
    assert any("line" in mode or "point" in mode for mode in modes[1:-1])


def test_bad_values_are_named():
    with pytest.raises(InputError, match="lift the back end off the wall width_low"):
        slide_in_guide(yaw=20.0)
    with pytest.raises(InputError, match="load must be a positive number of N, got 0.0"):
        slide_in_guide(load=0.0)
    with pytest.raises(InputError, match="clearance must lie between 0 and 0.006 m"):
        slide_in_guide(clearance=0.01)
