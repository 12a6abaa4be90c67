"""Flexible bodies: placements and twists of nodes, energy and momentum, what a model takes and refuses."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    EventDriven,
    Gravity,
    Ground,
    JointFriction,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    PointForce,
    Revolute,
    SpatialBody,
    ValidityWarning,
    simulate,
)
from nonsmooth.diagnostics import momentum
from nonsmooth.flexible import Material, Rectangle, beam, modes
from nonsmooth.model.flexible_bodies import PlanarFlexibleBody, SpatialFlexibleBody
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.step.control import ErrorControl
from nonsmooth.trajectory import Trajectory

from .beams import free_rod

#: with the inertia of their deformation, but without shortening
BENDING = modes(
    beam((0, 0, 0), (1, 0, 0), section=Rectangle(0.01, 0.02), material=Material(2.1e11, 8e10, 7850.0)),
    interface=(), keep=2, damping=0.0, method="free", stiffening=False,
)  # fmt: skip
PLANE = free_rod(1.0, 2.0, axial=50.0, bending=3.0, axial_modes=1, bending_modes=2, ratio=0.01)
SPACE = free_rod(1.0, 2.0, axial=50.0, bending=3.0, axial_modes=1, bending_modes=2, both_planes=True)
#: round-off of placements of the order of 1 m, and of twists of the order of 10 m/s
ROUND_OFF = 1e-14


def at_random(body):
    """Coordinates and velocities of a body that is bent by far more than small deformations are."""
    random = np.random.default_rng(3)
    q, v = random.normal(size=len(body.q_columns)), random.normal(size=len(body.v_columns))
    if body.dimensions == (3,):
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, v


@pytest.mark.parametrize("body", [PlanarFlexibleBody("rod", PLANE), SpatialFlexibleBody("rod", SPACE)])
@pytest.mark.parametrize("node", ["left", "n1", "right"])
def test_the_twist_of_a_node_is_the_derivative_of_its_placement(body, node) -> None:
    q, v = ca.SX.sym("q", len(body.q_columns)), ca.SX.sym("v", len(body.v_columns))
    placement, _ = body.node_placement(node, q, v)
    moved = ca.jtimes(placement.z, q, body.kinematics(q) @ v)
    miss = ca.Function("miss", [q, v], [moved - placement.tangent() @ placement.twist])
    assert np.max(np.abs(np.array(miss(*at_random(body))))) < ROUND_OFF


def test_a_node_turns_by_a_rotation_however_bent_the_body_is() -> None:
    body = SpatialFlexibleBody("rod", SPACE)
    q, v = ca.SX.sym("q", len(body.q_columns)), ca.SX.sym("v", len(body.v_columns))
    R = body.node_placement("right", q, v)[0].rotation
    product = np.array(ca.Function("product", [q, v], [R.T @ R])(*at_random(body)))
    assert product == pytest.approx(np.eye(3), abs=ROUND_OFF)


def test_small_deformations_turn_a_node_by_the_rotations_of_the_modes() -> None:
    """Cayley's map of a small angle theta is the rotation by it up to theta^3 / 12."""
    body, eta = SpatialFlexibleBody("rod", SPACE), 1e-3 * np.arange(1.0, 6.0)
    q = np.concatenate([np.zeros(3), [1.0, 0.0, 0.0, 0.0], eta])
    R = np.array(ca.DM(body.node_placement("left", ca.DM(q), ca.DM.zeros(11))[0].rotation))
    theta = SPACE.rotations[0] @ eta
    size = np.linalg.norm(theta)
    axis, angle = theta / size, np.arccos((np.trace(R) - 1) / 2)
    assert angle == pytest.approx(size, abs=size**3 / 12 + 1e-9)  # the arc cosine near 1 has half the digits
    assert np.cross(axis, [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("space", [False, True])
def test_forces_at_nodes_change_both_momenta_by_what_they_are_at_the_deformed_place(space: bool) -> None:
    """m a = f, and the moment about the origin is that of the force at the place of the bent node."""
    body = SpatialFlexibleBody("rod", SPACE) if space else PlanarFlexibleBody("rod", PLANE)
    f = np.array([3.0, -2.0, 5.0])[: 3 if space else 2]
    push = PointForce("push", body.node("right"), force=tuple(f))
    system = Model([Ground(), body, push]).build()
    q, _ = at_random(body)
    still = np.zeros(system.nv)
    h = system.numeric.h(0.0, q, still, system.parameter_values)[0]
    placement, _ = body.node_placement("right", ca.DM(q), ca.DM(still))
    arm = np.array(ca.DM(placement.position)).ravel() - q[: len(f)]
    assert h[: len(f)] == pytest.approx(f)
    if space:
        R = np.array(ca.DM(body.placement(ca.DM(q), ca.DM(still)).rotation))
        assert R @ h[3:6] == pytest.approx(np.cross(arm, f))
    else:
        assert h[2] == pytest.approx(arm[0] * f[1] - arm[1] * f[0])


def test_a_rod_so_stiff_that_it_does_not_bend_is_a_rigid_one() -> None:
    """At 1e5 rad/s gravity bends the rod by g / omega^2 = 1e-9 m; twice that is allowed, and round-off of the step."""
    modes = free_rod(1.0, 2.0, bending=1e5 / 4.73**2, bending_modes=1)
    flexible = PlanarFlexibleBody("rod", modes)
    rigid = PlanarBody("rod", 2.0, 2.0 / 12)
    ends = []
    for body, end, at in ((flexible, flexible.node("left"), (0.0, 0.0)), (rigid, rigid, (-0.5, 0.0))):
        pin = Revolute("pin", "ground", end, at_a=(-0.5, 0.0), at_b=at)
        system = Model([Ground(), body, pin, Gravity(acceleration=(0.0, -9.81))]).build()
        run = simulate(system, MoreauJean(), t_end=0.3, dt=1e-3)
        ends.append([run.q[f"rod.{c}"][-1] for c in ("x", "y", "angle")])
    assert ends[0] == pytest.approx(ends[1], abs=2e-9)


def spinning():
    """A bent rod in free flight, turning about all its axes."""
    eta = 1e-3 * np.array([1.0, -2.0, 3.0, 1.0, 0.5])
    return SpatialFlexibleBody("rod", SPACE, angular_velocity=(0.5, 1.0, 2 * np.pi), deformation=eta)


def invariants(system, run):
    energies = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)
    return energies["kinetic"] + energies["potential"]


@pytest.mark.slow  # compiles the text of flexible bodies in space
def test_a_free_spinning_beam_keeps_its_energy_with_a_symmetric_scheme() -> None:
    """Quadratic invariants are kept to round-off of 100 steps, 1e-13 of them."""
    system = Model([spinning()]).build()
    energy = invariants(system, simulate(system, MoreauJean(), t_end=0.1, dt=1e-3))
    assert energy == pytest.approx(energy[0], rel=1e-13)


@pytest.mark.slow  # compiles the text of flexible bodies in space
def test_a_free_spinning_beam_keeps_its_energy_to_the_tolerance_of_error_control() -> None:
    """At rtol 1e-12 the energy is kept to 1e-9 of it."""
    system = Model([spinning()]).build()
    run = simulate(system, EventDriven(), t_end=0.05, dt=ErrorControl(1e-12, 1e-14, 1e-9, 1e-2))
    energy = invariants(system, run)
    assert energy == pytest.approx(energy[0], rel=1e-9)


@pytest.mark.parametrize("joints", ["rattle", "midpoint"])
def test_modes_much_faster_than_the_step_are_stable(joints: str) -> None:
    """Axial modes up to 20 kHz, dt 1e-3 and 1e-4: the first bending mode agrees within 1 % of its amplitude."""
    modes = free_rod(0.5, 0.4, axial=5000.0, bending=12.0, axial_modes=4, bending_modes=4)
    largest = []
    for dt in (1e-3, 1e-4):
        rod = PlanarFlexibleBody("rod", modes)
        pin = Revolute("pin", "ground", rod.node("left"), at_a=(-0.25, 0.0))
        system = Model([Ground(), rod, pin, Gravity(acceleration=(0.0, -9.81))]).build()
        run = simulate(system, MoreauJean(joints=joints), t_end=0.1, dt=dt)
        largest.append(np.max(np.abs(run.q["rod.eta1"])))
        assert abs(run.certificate.energy.remainder) < 1e-5 * run.certificate.energy.kinetic
    assert largest[0] == pytest.approx(largest[1], rel=1e-2)


def test_damping_of_modes_is_booked() -> None:
    """A mode of 1 % damping loses the share 1 - exp(-2 zeta omega t) of its energy in whole periods, to zeta^2."""
    omega, eta = PLANE.frequencies[0], 1e-3
    t_end = 2 * np.pi / omega
    rod = PlanarFlexibleBody("rod", PLANE, deformation=(eta, 0.0, 0.0))
    run = simulate(Model([rod]).build(), MoreauJean(), t_end=t_end, dt=t_end / 500)
    start, energy = (omega * eta) ** 2 / 2, run.certificate.energy
    assert energy.loss_damping == pytest.approx(start * (1 - np.exp(-0.02 * omega * t_end)), rel=1e-3)
    assert energy.remainder == pytest.approx(0.0, abs=1e-4 * start)


def test_columns_have_the_modes() -> None:
    system = Model([PlanarFlexibleBody("rod", PLANE)]).build()
    assert system.names.q[3:] == ("rod.eta1", "rod.eta2", "rod.eta3")
    assert {"rod.mass", "rod.inertia", "rod.frequency_1", "rod.damping_3"} <= set(system.parameters)
    assert system.parameters["rod.frequency_1"] == pytest.approx(PLANE.frequencies[0], rel=1e-14)


def test_a_node_may_be_named() -> None:
    rod = PlanarFlexibleBody("rod", PLANE, position=(0.5, 0.0))
    by_name = Model([Ground(), rod, Revolute("pin", "ground", "rod.left")]).build()
    by_node = Model([Ground(), rod, Revolute("pin", "ground", rod.node("left"))]).build()
    assert by_name.description == by_node.description


def test_assembly_moves_bodies_and_does_not_deform_them() -> None:
    rod = PlanarFlexibleBody("rod", PLANE, position=(0.6, 0.1), deformation=(1e-3, 0.0, 0.0))
    system = Model([Ground(), rod, Revolute("pin", "ground", rod.node("left"))]).build(assemble=True)
    assert system.start.q[3:].tolist() == [1e-3, 0.0, 0.0]
    assert system.joint_violation(np.zeros(1), system.start.q, system.parameter_values) == pytest.approx(0.0, abs=1e-12)


def test_rigid_bodies_have_no_nodes() -> None:
    ball = SpatialBody("ball", 1.0, (1.0, 1.0, 1.0))
    with pytest.raises(ModelError, match='has no node "tip"; a rigid body has none; name the body'):
        Model([Ground(), ball, PointForce("push", "ball.tip", force=(1.0, 0.0, 0.0))]).build()


def test_unknown_nodes_are_told() -> None:
    rod = PlanarFlexibleBody("rod", PLANE)
    with pytest.raises(ModelError, match='has no node "tip"; its nodes are left, n1, right'):
        rod.node("tip")
    with pytest.raises(ModelError, match='has no node "tip"; its nodes are left, n1, right'):
        Model([Ground(), rod, Revolute("pin", "ground", "rod.tip")]).build()


def test_nodes_of_one_body_are_not_joined() -> None:
    rod = PlanarFlexibleBody("rod", PLANE)
    with pytest.raises(ModelError, match='it joins "rod" to itself'):
        Model([Ground(), rod, Revolute("pin", rod.node("left"), rod.node("right"))]).build()


def test_a_wrong_number_of_amplitudes_is_told() -> None:
    with pytest.raises(ModelError, match="deformation must be 3 finite numbers, one for each mode"):
        PlanarFlexibleBody("rod", PLANE, deformation=(1e-3,))


@pytest.mark.slow  # compiles the text of balanced moment arms
def test_balanced_moment_arms_of_a_flexible_body_in_free_flight() -> None:
    """There is no contact whose moment arms could differ: the motion is that of predicted ones."""
    system = Model([PlanarFlexibleBody("rod", PLANE, angular_velocity=3.0)]).build()
    balanced, predicted = (
        simulate(system, MoreauJean(moment_arms=arms, projection="combined"), t_end=1e-2, dt=1e-3)
        for arms in ("balanced", "predicted")
    )
    assert balanced.q.array == pytest.approx(predicted.q.array, abs=1e-15)
    assert balanced.certificate.motion_residual <= 1e-12


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"deformation": (0.02, 0.0, 0.0)}, "a node is turned by 0.13"),
        (
            {"angular_velocity": 20.0},
            "it turns with 20 rad/s at t = 0 s, more than 0.1 of its first frequency",
        ),
        (
            {"angular_velocity": 100.0, "modes": BENDING},
            "geometric stiffness of the spin is left out, but it turns with 100 rad/s",
        ),
    ],
)
def test_motions_outside_the_range_of_the_model_are_warned_of(changed, sentence) -> None:
    """The slope at the ends of the first bending mode is 9.29 / (L sqrt(m)) of its amplitude."""
    system = Model([PlanarFlexibleBody("rod", **{"modes": PLANE} | changed)]).build()
    with pytest.warns(ValidityWarning, match=f'Flexible body "rod": .*{sentence}'):
        simulate(system, MoreauJean(), t_end=1e-5, dt=1e-5)


@pytest.mark.slow  # compiles the text of flexible bodies in space
def test_the_moment_of_momentum_of_a_free_flexible_body_stays_to_the_order_of_the_scheme() -> None:
    """Half the step, a quarter of the change (within a tenth of it, terms of higher order); momentum to round-off."""
    changes = []
    for dt in (2e-3, 1e-3):
        found = momentum(simulate(Model([spinning()]).build(), MoreauJean(), t_end=0.1, dt=dt))
        changes.append(np.max(np.abs(found.total_angular - found.total_angular[0])))
        assert np.max(np.abs(found.total_linear)) < 1e-14
    assert changes[0] == pytest.approx(4 * changes[1], rel=0.1)


def test_a_saved_run_is_drawn(tmp_path) -> None:
    """The modes stand in the manifest, so that nodes are placed without the model."""
    rod = PlanarFlexibleBody("rod", PLANE)
    pin = Revolute("pin", "ground", rod.node("left"), at_a=(-0.5, 0.0))
    run = simulate(Model([Ground(), rod, pin]).build(), MoreauJean(), t_end=2e-3, dt=1e-3)
    run.save(tmp_path / "run.nc")
    drawing = drawing_of_run(Trajectory.load(tmp_path / "run.nc"), np.array([0.0, 2e-3]))
    assert drawing.placed.position("rod.left") == pytest.approx(np.array([[-0.5, 0.0]] * 2), abs=1e-12)
    assert [point.tolist() for point in drawing.attachments()["rod"]] == [[-0.5, 0.0]]


def test_dry_friction_in_the_hinge_of_a_flexible_rod() -> None:
    """It swings down from level against 2 N m: event-driven, and with errors of second order in steps of 0.1 ms."""
    rod = PlanarFlexibleBody("rod", free_rod(1.0, 1.0, bending=20.0, bending_modes=2, ratio=0.02), position=(0.5, 0.0))
    hinge, rub = Revolute("hinge", "ground", "rod.left"), JointFriction("rub", "ground", "rod.left", torque=2.0)
    system = Model([Ground(), rod, Gravity(acceleration=(0.0, -9.81)), hinge, rub]).build()
    run = simulate(system, EventDriven(), t_end=1.5, dt=ErrorControl(1e-8, 1e-10))
    stepped = simulate(system, MoreauJean(), t_end=1.5, dt=1e-4)
    assert stepped.q["rod.angle"][-1] == pytest.approx(run.q["rod.angle"][-1], abs=1e-5)
    assert set(run.mode["rub"][1:].tolist()) == {2, 3} and abs(run.energy["remainder"][-1]) < 1e-8
    turned = np.abs(run.energy["loss_friction"][-1]) / 2.0
    assert turned > 2.0  # rad, over which 2 N m have acted
