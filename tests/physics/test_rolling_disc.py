"""A thin disc that rolls on its edge in a circle, in steady motion: a closed form that needs all three moments.

With psi the angle between disc and ground, r its radius and R the radius of the circle of its centre, the disc turns
about the vertical with Omega^2 = 4 g cot(psi) / (r cos(psi) + 6 R), and rolls for a coefficient of friction above
Omega^2 R / g.
"""

from math import cos, radians, sin, sqrt, tan

import numpy as np
import pytest

from nonsmooth import (
    CylinderPlane,
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Model,
    MoreauJean,
    Rigid,
    SpatialBody,
    simulate,
)  # fmt: skip

GRAVITY, MASS, RADIUS, CIRCLE, TILT, THICKNESS = 9.81, 0.3, 0.05, 0.15, radians(70.0), 1e-3
OMEGA = sqrt(4 * GRAVITY / tan(TILT) / (RADIUS * cos(TILT) + 6 * CIRCLE))
SPIN = -OMEGA * (CIRCLE + RADIUS * cos(TILT)) / RADIUS  # about the axis of the disc, so that it does not slip
TURN = 2 * np.pi / OMEGA


def rolling_disc():
    """The rim at which it touches lies in the disc's middle plane; the other, a thickness away, stays clear."""
    # the axis is e_z turned by TILT about y; angular velocity in the axes of the disc
    turning = np.array([-OMEGA * sin(TILT), 0.0, OMEGA * cos(TILT) + SPIN])
    across = MASS * RADIUS**2 / 4
    return Model([
        Ground(),
        SpatialBody(
            "disc", mass=MASS, inertia=(across, across, 2 * across), position=(CIRCLE, 0.0, RADIUS * sin(TILT)),
            quaternion=(cos(TILT / 2), 0.0, sin(TILT / 2), 0.0), velocity=(0.0, OMEGA * CIRCLE, 0.0),
            angular_velocity=tuple(turning),
        ),
        CylinderPlane(
            "edge", "ground", "disc", radius=RADIUS, length=THICKNESS, axis=(0.0, 0.0, 1.0),
            at_b=(0.0, 0.0, THICKNESS / 2), normal=(0.0, 0.0, 1.0), points=0,
            contact=Rigid(restitution=0.0, friction=0.5),
        ),
        Gravity(acceleration=(0.0, 0.0, -GRAVITY)),
    ]).build()  # fmt: skip


def departure(run):
    """Largest distance [m] of the centre from its circle at the time of the row."""
    place = np.column_stack([run.q[f"disc.{axis}"] for axis in "xyz"])
    angle = OMEGA * run.t
    circle = np.column_stack([CIRCLE * np.cos(angle), CIRCLE * np.sin(angle), np.full_like(angle, RADIUS * sin(TILT))])
    return float(np.max(np.linalg.norm(place - circle, axis=1)))


def test_the_closed_form_has_the_published_digits():
    assert [OMEGA, SPIN] == pytest.approx([3.9462886487, -13.1885761552], abs=1e-10)
    assert OMEGA**2 * CIRCLE / GRAVITY == pytest.approx(0.23812223, abs=5e-9)


def test_event_driven_rolls_around_the_circle():
    """One turn in which the disc rolls 3.3 times; the tolerance is that of the digits given."""
    run = simulate(rolling_disc(), EventDriven("dop853"), t_end=TURN, dt=ErrorControl(1e-11, 1e-13, 1e-6, 1e-2))
    assert departure(run) < 1e-8 * CIRCLE
    force = run.contact_force["edge.back"][1:]
    assert force[:, 2] == pytest.approx(np.full(len(force), MASS * GRAVITY), rel=1e-8)
    # friction points to the axis of the circle; of a step it is the mean, in which the direction turns a little
    assert np.linalg.norm(force[:, :2], axis=1) / force[:, 2] == pytest.approx(OMEGA**2 * CIRCLE / GRAVITY, rel=1e-3)


@pytest.mark.parametrize(
    ("stepper", "order"), [(MoreauJean(), 1), (GeneralizedAlpha(), 2), (GaussQP(), 1)], ids=lambda value: str(value)[:9]
)
def test_time_stepping_rolls_with_its_order(stepper, order):
    """The impulse of a closed contact acts at one point of the step for all but the generalized-alpha scheme."""
    errors = [departure(simulate(rolling_disc(), stepper, t_end=TURN / 8, dt=TURN / steps)) for steps in (1600, 3200)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
