"""A pin in a slot: exact paths, and reactions without friction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PointOnLine,
    Revolute,
    SpatialBody,
    simulate,
)

CLOSE = ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-6, dt_max=0.02)


def trammel() -> Model:
    """A bar of 0.5 m with a pin at each end in one of two slots that cross at right angles, turned by 0.4 rad."""
    half, turned, angle = 0.25, 0.4, 0.9
    # in the frame of the slots the ends are at (L cos(phi), 0) and (0, L sin(phi)), the bar lies at pi - phi
    middle = half * np.array([np.cos(angle), np.sin(angle)])
    turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    spin = 6.0
    velocity = turn @ (half * spin * np.array([-np.sin(angle), np.cos(angle)]))
    bar = PlanarBody(
        "bar", 1.0, 0.02, position=tuple(turn @ middle), angle=turned - angle, velocity=tuple(velocity),
        angular_velocity=-spin,
    )  # fmt: skip
    first = PointOnLine("first", "ground", bar, direction=turned, at_b=(half, 0.0))
    second = PointOnLine("second", "ground", bar, direction=turned + np.pi / 2, at_b=(-half, 0.0))
    return Model([Ground(), bar, first, second, Gravity(acceleration=(0.0, -9.81))])


@pytest.mark.parametrize("stepper", [EventDriven(), GaussQP()], ids=["events", "implicit Euler"])
def test_trammel_of_archimedes(stepper: object) -> None:
    """A point beyond the end draws an ellipse whose half axes are its distances from the two pins."""
    run = simulate(trammel().build(), stepper, t_end=2.0, dt=CLOSE if isinstance(stepper, EventDriven) else 1e-3)
    along, x, y = run.q["bar.angle"], run.q["bar.x"], run.q["bar.y"]
    assert np.ptp(along) > 2 * np.pi  # all around
    pen = np.array([x + 0.4 * np.cos(along), y + 0.4 * np.sin(along)])
    cosine, sine = np.cos(0.4), np.sin(0.4)
    u, w = cosine * pen[0] + sine * pen[1], -sine * pen[0] + cosine * pen[1]
    # joints stay closed to round-off of the order of 1e-13 m with both steppers
    assert (u / 0.65) ** 2 + (w / 0.15) ** 2 == pytest.approx(1.0, abs=1e-10)
    assert run.certificate.joint_violation < 1e-12
    if isinstance(stepper, EventDriven):
        energy = run.energy["kinetic"] + run.energy["potential"]
        assert np.ptp(energy) < 1e-8 * np.ptp(run.energy["kinetic"])  # reactions do no work


def test_the_reaction_of_a_slot_is_normal_to_it() -> None:
    run = simulate(trammel().build(), EventDriven(), t_end=0.5, dt=CLOSE)
    along = run.reaction["first.x"] * np.cos(0.4) + run.reaction["first.y"] * np.sin(0.4)
    assert abs(run.reaction["first.x"]).max() > 1.0
    assert along == pytest.approx(0.0, abs=1e-12)
    assert run.reaction["first.torque"] == pytest.approx(0.0, abs=1e-12)


def test_a_scotch_yoke_in_the_moving_slot() -> None:
    """A slot in a crank at constant speed throws its pin out: r = r_0 cosh(omega t), tangential force 2 m omega r'."""
    omega, r = 3.0, 0.1
    crank = PlanarBody("crank", 1e9, 1e9, angular_velocity=omega)  # so heavy that its speed stays
    bead = PlanarBody("bead", 1.0, 0.1, position=(r, 0.0), velocity=(0.0, omega * r))
    slot = PointOnLine("slot", crank, bead)
    run = simulate(
        Model([Ground(), crank, bead, Revolute("pin", "ground", crank), slot]).build(), EventDriven(), t_end=0.5,
        dt=CLOSE,
    )  # fmt: skip
    exact = r * np.cosh(omega * run.t)
    assert np.hypot(run.q["bead.x"], run.q["bead.y"]) == pytest.approx(exact, rel=1e-7)
    force = np.hypot(run.reaction["slot.x"], run.reaction["slot.y"])[-1]
    # reactions are means over steps of at most 0.02 s; the last one's is that of its middle to second order
    middle = (run.t[-1] + run.t[-2]) / 2
    assert force == pytest.approx(2 * omega * r * omega * np.sinh(omega * middle), rel=2e-3)


def test_trammel_in_space() -> None:
    """Two slots that cross in an oblique plane: without gravity the bar turns evenly, phi = phi_0 + omega t."""
    n1, n2, n3 = np.array([1.0, 2.0, 2.0]) / 3, np.array([2.0, 1.0, -2.0]) / 3, np.array([-2.0, 2.0, -1.0]) / 3
    length, phi, omega = 0.5, 0.3, 4.0
    # ends at L cos(phi) n1 and L sin(phi) n2, the bar's x axis from the second to the first, its z axis along n3
    x = np.cos(phi) * n1 - np.sin(phi) * n2
    rotation = Rotation.from_matrix(np.column_stack([x, np.cross(n3, x), n3]))
    bar = SpatialBody(
        "bar", 1.0, (0.01, 0.02, 0.02), position=tuple(length / 2 * (np.cos(phi) * n1 + np.sin(phi) * n2)),
        quaternion=tuple(rotation.as_quat(scalar_first=True)), angular_velocity=(0.0, 0.0, -omega),
        velocity=tuple(length / 2 * omega * (-np.sin(phi) * n1 + np.cos(phi) * n2)),
    )  # fmt: skip
    first = PointOnLine("first", "ground", bar, at_b=(length / 2, 0.0, 0.0), axis_a=tuple(n1))
    second = PointOnLine("second", "ground", bar, at_b=(-length / 2, 0.0, 0.0), axis_a=tuple(n2))
    system = Model([Ground(), bar, first, second]).build()
    assert system.constraint_names == ("first.offset_1", "first.offset_2", "second.offset_1", "second.offset_2")
    run = simulate(system, EventDriven(), t_end=2.0, dt=CLOSE)
    turned = phi + omega * run.t
    exact = length / 2 * (np.outer(np.cos(turned), n1) + np.outer(np.sin(turned), n2))
    assert run.q.array[:, :3] == pytest.approx(exact, abs=1e-7)
    assert run.certificate.joint_violation < 1e-12
