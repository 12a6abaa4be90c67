"""What two runs are compared by, on motions whose difference is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    SpatialBody,
    simulate,
)
from nonsmooth.trust import difference, peak_forces, scale_of
from nonsmooth.trust.agreement import Agreement, peak_resultants
from nonsmooth_problems import slide_in_guide

G = 9.81


def turning(omega, space):
    """A free body that turns steadily, with radius of gyration 0.2 m about the axis."""
    if space:
        body = SpatialBody("disc", mass=2.0, inertia=(0.06, 0.06, 0.08), angular_velocity=(0.0, 0.0, omega))
    else:
        body = PlanarBody("disc", mass=2.0, inertia=0.08, angular_velocity=omega)
    return Model([Ground(), body]).build()


@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
def test_angles_count_by_the_radius_of_gyration(space):
    """Speeds that differ by 1e-3 rad/s are 2e-4 m apart after 1 s."""
    systems = [turning(omega, space) for omega in (1.0, 1.001)]
    runs = [simulate(one, MoreauJean(), t_end=1.0, dt=1e-3) for one in systems]
    values = systems[0].parameter_values
    radii = systems[0].gyration(values)
    assert radii[systems[0].v_names.index("disc.wz" if space else "disc.angle")] == pytest.approx(0.2, rel=1e-14)
    scale = scale_of(systems[0], values, runs[0])
    found = difference(*runs, radii, scale, accuracy=1e-2)
    # in space twice the sine of half the angle: 1e-3 squared over 24
    assert found.position * scale.length == pytest.approx(2e-4, rel=1e-5)


def test_runs_part_where_a_tenth_of_the_scale_is_passed():
    systems = [turning(omega, False) for omega in (1.0, 1.0011)]
    runs = [simulate(one, MoreauJean(), t_end=1.0, dt=1e-3) for one in systems]
    radii = systems[0].gyration(systems[0].parameter_values)
    scale = scale_of(systems[0], systems[0].parameter_values, runs[0])
    found = difference(*runs, radii, scale, accuracy=1e-2)
    # apart by 2.2e-4 t; sampled at 4000 points
    assert found.parted == pytest.approx(0.1 * scale.length / 2.2e-4, abs=1 / 4000)
    assert found.lost == pytest.approx(0.01 * scale.length / 2.2e-4, abs=1 / 4000)
    assert difference(*runs, radii, scale, accuracy=1e-2, until=found.lost / 2).within(1e-2)


def test_runs_agree_to_the_accuracy_until_the_horizon():
    systems = [turning(omega, False) for omega in (1.0, 1.0011)]
    runs = [simulate(one, MoreauJean(), t_end=1.0, dt=1e-3) for one in systems]
    compare = Agreement(systems[0], systems[0].parameter_values, 1e-2)
    verdict = compare.verdict(*runs, compare.difference(*runs), "", (), sensitive=True)
    assert verdict.kind == "sensitive" and 0.0099 < verdict.position <= 0.01
    assert verdict.horizon == pytest.approx(0.01 * compare.scale.length / 2.2e-4, abs=1 / 4000)


def bouncing(restitution):
    """A point that falls on the floor from 1 cm."""
    body = PlanarBody("ball", mass=0.5, inertia=1e-4, position=(0.0, 0.01))
    floor = PointPlane("floor", "ground", "ball", contact=Rigid(restitution=restitution, friction=0.0))
    return Model([Ground(), body, floor, Gravity(acceleration=(0.0, -G))]).build()


def test_a_peak_force_is_the_largest_mean_of_any_window_impacts_included():
    """One impact m (1 + e) sqrt(2 g h) and no weight in a window shorter than the flight."""
    run = simulate(bouncing(0.5), EventDriven(), t_end=0.1, dt=ErrorControl(1e-8))
    impulse = 0.5 * 1.5 * math.sqrt(2 * G * 0.01)
    window = 1e-3
    assert peak_forces(run, window)[0] == pytest.approx(impulse / window, rel=1e-9)
    # before the impact there is none
    assert peak_forces(run, window, until=0.04)[0] == 0.0


def test_at_rest_the_peak_force_is_the_weight():
    run = simulate(bouncing(0.0), MoreauJean(), t_end=0.2, dt=1e-3)
    late = peak_forces(run, 0.05)[0] - 0.5 * math.sqrt(2 * G * 0.01) / 0.05
    assert late == pytest.approx(0.5 * G, rel=0.05)  # the window with the impact holds up to one step of rest less


def test_without_motion_the_scale_is_not_zero():
    system = turning(0.0, False)
    run = simulate(system, MoreauJean(), t_end=0.1, dt=1e-2)
    assert scale_of(system, system.parameter_values, run).length > 0.0
    assert np.isfinite(
        difference(run, run, np.ones(3), scale_of(system, system.parameter_values, run), accuracy=1e-2).position
    )


def test_the_force_between_two_bodies_is_compared_where_their_contacts_share_it_arbitrarily():
    """Sixteen gaps of a slide in its guide: two methods share the load in different ways, of one motion; the sum of the
    forces between both bodies is that which the motion requires."""
    system = slide_in_guide().build()
    compare = Agreement(system, system.parameter_values, 1e-4)
    methods = (GaussQP(), Landing(1e-8, 1e-5)), (EventDriven(), ErrorControl(1e-6, 1e-8, 1e-8, 6e-5))
    runs = [simulate(system, stepper, t_end=0.002, dt=dt) for stepper, dt in methods]
    assert compare.difference(*runs).force > 1e-4  # by how much is chance; a hundred times what sums may differ by
    found = compare.of_unique(*runs, methods[1][1])
    assert found.of_pairs and found.within(1e-6)
    assert "peak force between bodies within" in compare.verdict(*runs, found, "", (), sensitive=True).text
    coarse, fine = (peak_resultants(run, 1e-5) for run in runs)
    assert coarse == pytest.approx(fine, rel=1e-6) and fine.shape == (3,)


def test_the_force_between_two_bodies_is_that_of_their_contacts_with_its_impacts():
    """One contact along an axis: the same as its own peak."""
    run = simulate(bouncing(0.5), EventDriven(), t_end=0.1, dt=ErrorControl(1e-8, 1e-10, 1e-7, 1e-2))
    assert max(peak_resultants(run, 1e-3)) == pytest.approx(peak_forces(run, 1e-3)[0], rel=1e-12)
