"""Motion without contact: what the second-order step keeps exactly, and its order."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from shared_mechanisms import slider_crank

from nonsmooth import (
    GaussQP,
    Ground,
    Landing,
    Model,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Rigid,
    SpatialBody,
    simulate,
)

INERTIA = np.array([1.0, 2.0, 3.0])


@pytest.mark.slow
def test_torque_free_asymmetric_body():
    """Energy is a quadratic invariant of the midpoint rule, momentum of second order, the norm by construction."""
    system = Model(
        [Ground(), SpatialBody("body", mass=1.0, inertia=tuple(INERTIA), angular_velocity=(0.6, 0.7, 0.4))]
    ).build()
    trajectory = simulate(system, GaussQP(), t_end=10.0, dt=Landing(1e-6, 1e-3))
    omega = trajectory.v.array[:, 3:]
    quaternion = trajectory.q.array[:, 3:]
    energy = 0.5 * omega**2 @ INERTIA
    momentum = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]]).apply(INERTIA * omega)
    assert np.max(np.abs(energy / energy[0] - 1)) <= 1e-6
    assert np.max(np.linalg.norm(momentum - momentum[0], axis=1)) <= 1e-6 * np.linalg.norm(momentum[0])
    assert np.max(np.abs(np.linalg.norm(quaternion, axis=1) - 1)) <= 1e-12


@pytest.mark.slow
def test_ideal_joints_keep_energy_and_stay_closed():
    """Joints as in RATTLE: no drift, energy error of second order."""
    drift = []
    system = slider_crank().build(assemble=True)
    for dt in (2e-4, 1e-4):
        trajectory = simulate(system, GaussQP(), t_end=0.2, dt=Landing(1e-6, dt))
        total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
        drift.append(np.max(np.abs(total / total[0] - 1)))
        assert trajectory.certificate.joint_violation <= 1e-12
        assert trajectory.certificate.motion_residual <= 1e-12
    assert drift[1] <= 2e-4
    assert 1.8 <= np.log2(drift[0] / drift[1]) <= 2.2


@pytest.mark.parametrize("dt", [1e-4, Landing(1e-6, 1e-4)], ids=["constant", "landing"])
def test_driven_mechanism_follows_its_driver(dt):
    """The crank turns as prescribed; the driver's work balances the energy of a conservative mechanism."""
    motor = PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 150.0 * t)
    system = slider_crank(motor).build(assemble=True)
    trajectory = simulate(system, GaussQP(), t_end=0.05, dt=dt)
    assert trajectory.q["crank.angle"][-1] == pytest.approx(150.0 * 0.05, abs=1e-12)
    assert trajectory.certificate.joint_violation <= 1e-12
    if isinstance(dt, Landing):
        ledger = trajectory.certificate.energy
        assert abs(ledger.remainder) <= 1e-4 * np.max(trajectory.energy["kinetic"])


def test_a_driven_cart_strikes_a_ball():
    """A cart driven at 1 m/s meets a ball of 1 kg at rest: it gains 1/2 J, as much is lost, the motor does 1 J."""
    elements = [
        Ground(),
        PlanarBody("cart", mass=3.0, inertia=1.0, velocity=(1.0, 0.0)),
        PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.1, 0.0)),
        PrescribedMotion("motor", "ground", "cart", coordinate="x", motion=lambda t: 1.0 * t),
        PointPlane("bumper", "cart", "ball", direction=-np.pi / 2, contact=Rigid(restitution=0.0, friction=0.0)),
    ]
    trajectory = simulate(Model(elements).build(), GaussQP(), t_end=0.2, dt=Landing(1e-6, 1e-2))
    assert trajectory.impacts["t"] == pytest.approx([0.1], rel=1e-12)
    assert trajectory.v["ball.x"][-1] == pytest.approx(1.0, rel=1e-12)
    ledger = trajectory.certificate.energy
    assert ledger.loss_impacts == pytest.approx(0.5, rel=1e-12)
    assert ledger.work_drivers == pytest.approx(1.0, rel=1e-12)
    assert ledger.remainder == pytest.approx(0.0, abs=1e-12)
    assert trajectory.reaction_impact["motor.x"].sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.slow
def test_landing_without_contacts_is_second_order():
    """Position error of the free slider-crank, measured against the finest step."""
    system = slider_crank().build(assemble=True)
    ends = [
        simulate(system, GaussQP(), t_end=0.02, dt=Landing(1e-7, 2e-4 / 2**k)).q["crank.angle"][-1] for k in range(5)
    ]
    differences = np.abs(np.diff(ends))
    orders = np.log2(differences[:-1] / differences[1:])
    assert np.all((orders >= 1.9) & (orders <= 2.1)), orders
