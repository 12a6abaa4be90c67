"""The frozen system: parameters, states, energies, inverse dynamics, and its description."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nonsmooth import (
    Damper,
    Gravity,
    Ground,
    InputError,
    Model,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    PrismaticClearance,
    Revolute,
    Rigid,
    SpatialBody,
    Spring,
    Table,
)
from nonsmooth.model.system import System

G = 9.81


def slider_rod() -> System:
    rod, slider = Ground("rod"), PlanarBody("slider", mass=5.0, inertia=8e-4)
    contact = Rigid(restitution=0.2, friction=0.1)
    guide = PrismaticClearance("guide", rod, slider, length=0.02, clearance=1e-5, contact=contact)
    push = PointForce("push", slider, force=(50.0, 0.0), at=(0.0, 0.01))
    return Model([rod, slider, guide, push, Gravity(acceleration=(0.0, -G))], name="slider on a rod").build()


def pendulum(length: float = 0.5, angle: float = 0.0, speed: float = 0.0) -> System:
    """A rod of 2 kg that hangs from its end; the angle counts from the x axis."""
    c, s = np.cos(angle), np.sin(angle)
    rod = PlanarBody(
        "rod", mass=2.0, inertia=0.1, position=(length * c, length * s), angle=angle,
        velocity=(-speed * length * s, speed * length * c), angular_velocity=speed,
    )  # fmt: skip
    pin = Revolute("pin", "ground", rod, at_b=(-length, 0.0))
    return Model([Ground(), rod, pin, Gravity(acceleration=(0.0, -G))]).build()


# Parameters


@pytest.mark.exact("compares parameters as given")
def test_parameters_come_in_the_order_of_the_elements() -> None:
    system = slider_rod()
    assert list(system.parameters)[:2] == ["slider.mass", "slider.inertia"]
    assert system.parameters["guide.clearance"] == 1e-5 and system.parameters["gravity.acceleration_y"] == -G
    assert system.parameters["guide.restitution"] == 0.2 and system.parameters["guide.friction"] == 0.1
    assert np.array_equal(system.parameter_vector(), list(system.parameters.values()))


def test_changes_by_name_leave_the_built_values_alone() -> None:
    system = slider_rod()
    before = system.parameter_values.copy()
    changed = system.parameter_vector({"guide.clearance": 2e-5, "slider.mass": 4})
    assert dict(zip(system.parameters, changed, strict=True))["guide.clearance"] == 2e-5
    assert np.count_nonzero(changed != before) == 2 and np.array_equal(system.parameter_values, before)


def test_mass_friction_and_load_are_inputs_of_the_built_functions() -> None:
    system = slider_rod()
    p = system.parameter_vector({"slider.mass": 4.0, "guide.friction": 0.3, "push.force_x": 10.0})
    q, v = np.zeros(3), np.zeros(3)
    assert np.diag(system.numeric.M(q, p)[0]).tolist() == [4.0, 4.0, system.parameters["slider.inertia"]]
    assert system.numeric.contact_law(p)[1].tolist() == [0.3] * 4
    weight = 4.0 * system.parameters["gravity.acceleration_y"]
    torque = -10.0 * system.parameters["push.at_y"]
    assert (weight, torque) == pytest.approx((-4.0 * G, -0.1), rel=1e-14)
    assert system.numeric.h(0.0, q, v, p)[0] == pytest.approx([10.0, weight, torque], rel=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"guide.clearence": 1e-5}, r'Unknown parameter "guide.clearence". Did you mean guide.clearance'),
        ({"slider.m": 1.0}, 'Unknown parameter "slider.m". Did you mean slider.mass'),
        ({"xyzzy": 1.0}, 'Unknown parameter "xyzzy". Known: slider.mass, slider.inertia, guide.clearance'),
        ({"slider.mass": 0.0}, r'PlanarBody "slider": mass must be a positive number \[kg\], got 0.0'),
        ({"slider.mass": np.nan}, "mass must be a positive number"),
        ({"slider.mass": "heavy"}, 'Parameter "slider.mass" must be a number, got "heavy"'),
        (
            {"guide.clearance": -1e-5},
            r'PrismaticClearance "guide": clearance must be a positive number \[m\], got -1e-05',
        ),
        ({"guide.height": -1.0}, r"height must be a number >= 0 \[m\], got -1.0"),
        ({"guide.restitution": 1.1}, r'"guide": restitution must be a number in \[0, 1\] \[-\], got 1.1'),
        ({"guide.restitution": -0.1}, r"restitution must be a number in \[0, 1\] \[-\], got -0.1"),
        ({"guide.friction": np.inf}, r"friction must be a number >= 0 \[-\], got inf"),
        ({"push.force_x": np.nan}, r'PointForce "push": force_x must be a finite number \[N\], got nan'),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        slider_rod().parameter_vector(changes)


def test_a_long_list_of_known_names_is_cut() -> None:
    bodies = [PlanarBody(f"body{i}", mass=1.0, inertia=1.0) for i in range(20)]
    with pytest.raises(InputError, match=r"Known: body0.mass, .*, body9.inertia, \.\.\.\."):
        Model(bodies).build().parameter_vector({"?": 1.0})


# States


def test_a_state_changes_coordinates_and_velocities_by_name() -> None:
    system = slider_rod()
    state = system.state({"slider.angle": 1e-9}, velocities={"slider.x": 0.1}, t=2.0)
    assert (state.t, state.q.tolist(), state.v.tolist()) == (2.0, [0.0, 0.0, 1e-9], [0.1, 0.0, 0.0])
    assert system.start.q.tolist() == [0.0, 0.0, 0.0] and system.start.v.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("coordinates", "velocities", "message"),
    [
        ({"slider.z": 1.0}, {}, 'Unknown coordinate "slider.z". Did you mean slider.[xy]'),
        ({"rod.x": 1.0}, {}, 'Unknown coordinate "rod.x"'),
        ({}, {"slider.omega": 1.0}, 'Unknown velocity "slider.omega". Did you mean slider.'),
        ({"slider.x": np.nan}, {}, 'The coordinate "slider.x" must be a finite number, got nan'),
        ({}, {"slider.x": "fast"}, "The velocity \"slider.x\" must be a finite number, got 'fast'"),
    ],
)
def test_states_that_cannot_be_used_are_refused(coordinates: dict, velocities: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        slider_rod().state(coordinates, velocities=velocities)


# Energies


def test_energies_of_a_pendulum_by_hand() -> None:
    angle, speed, length = -0.7, 3.0, 0.5
    system = pendulum(length, angle, speed)
    start = system.start
    energies = system.energies(0.0, start.q, start.v, system.parameter_values)
    assert energies["kinetic"] == pytest.approx([(2.0 * length**2 + 0.1) * speed**2 / 2], rel=1e-15)
    assert energies["potential"] == pytest.approx([2.0 * G * length * np.sin(angle)], rel=1e-15)
    assert energies["power_loads"] == energies["power_damping"] == 0.0


def test_kinetic_energy_of_a_spatial_body_counts_its_turning_in_its_own_frame() -> None:
    inertia = (3e-3, 4e-3, 5e-3, 0.5e-3, -0.3e-3, 0.2e-3)
    v, omega = np.array([1.0, 2.0, -3.0]), np.array([10.0, -20.0, 5.0])
    body = SpatialBody(
        "top",
        mass=2.0,
        inertia=inertia,
        quaternion=(0.5, 0.5, -0.5, 0.5),
        velocity=tuple(v),
        angular_velocity=tuple(omega),
    )
    system = Model([body]).build()
    J = np.array([[3e-3, 0.5e-3, -0.3e-3], [0.5e-3, 4e-3, 0.2e-3], [-0.3e-3, 0.2e-3, 5e-3]])
    energies = system.energies(0.0, system.start.q, system.start.v, system.parameter_values)
    assert energies["kinetic"] == pytest.approx([2.0 * v @ v / 2 + omega @ J @ omega / 2], rel=1e-15)


def test_power_of_loads_and_of_damping_by_hand() -> None:
    body = PlanarBody("body", mass=1.0, inertia=0.1, position=(1.0, 0.0), velocity=(0.5, 2.0), angular_velocity=3.0)
    push = PointForce("push", body, force=lambda t: (2.0 * t, -1.0), at=(0.0, 0.4))
    damper = Damper("damper", "ground", body, damping=7.0)
    system = Model([Ground(), body, push, damper]).build()
    t = np.array([0.0, 1.5])
    q, v = np.tile(system.start.q, (2, 1)), np.tile(system.start.v, (2, 1))
    energies = system.energies(t, q, v, system.parameter_values)
    # the point at (0, 0.4) moves with (0.5 - 3 * 0.4, 2); the damper's line grows at 0.5 m/s
    assert energies["power_loads"] == pytest.approx(2.0 * t * (0.5 - 1.2) - 2.0, rel=1e-15)
    assert energies["power_damping"] == pytest.approx([-7.0 * 0.25] * 2, rel=1e-15)


def test_rows_are_evaluated_as_one_by_one() -> None:
    system = pendulum()
    random = np.random.default_rng(10)
    t, q, v, p = random.random(5), random.random((5, 3)), random.random((5, 3)), system.parameter_values
    rows = system.energies(t, q, v, p)
    for i in range(5):
        one = system.energies(t[i], q[i], v[i], p)
        assert {name: value[i] for name, value in rows.items()} == {name: value[0] for name, value in one.items()}
        assert np.array_equal(system.joint_violation(t, q, p)[i], system.joint_violation(t[i], q[i], p)[0])
    gaps = slider_rod()
    assert np.array_equal(gaps.true_gaps(q, gaps.parameter_values)[2], gaps.true_gaps(q[2], gaps.parameter_values)[0])
    assert system.true_gaps(q, p).shape == (5, 0) and system.energies(t[:0], q[:0], v[:0], p)["kinetic"].shape == (0,)


# Inverse dynamics


@pytest.mark.exact("gravity is given twice, to the bit")
def test_inverse_dynamics_of_free_fall_needs_no_force() -> None:
    system = slider_rod()
    p = system.parameter_vector({"push.force_x": 0.0})
    assert system.inverse_dynamics(0.0, np.zeros(3), np.zeros(3), [0.0, -G, 0.0], p) == pytest.approx(0.0, abs=1e-14)


def test_inverse_dynamics_of_a_driven_pendulum_is_the_force_of_pin_and_motor() -> None:
    """Turning at constant speed takes the centripetal force and the weight."""
    angle, speed, length = 0.4, 3.0, 0.5
    system = pendulum(length, angle, speed)
    inward = -np.array([np.cos(angle), np.sin(angle)])
    acceleration = [*(length * speed**2 * inward), 0.0]
    force = system.inverse_dynamics(0.0, system.start.q, system.start.v, acceleration)
    assert force == pytest.approx([*(2.0 * length * speed**2 * inward + (0.0, 2.0 * G)), 0.0], rel=1e-14, abs=1e-14)


def test_inverse_dynamics_of_a_spinning_body_holds_the_gyroscopic_torque() -> None:
    """Turning at constant omega about an axis that is no principal one takes omega x J omega."""
    J, omega = np.diag([1e-3, 2e-3, 2.5e-3]), np.array([10.0, -5.0, 20.0])
    system = Model([SpatialBody("top", mass=1.0, inertia=tuple(np.diag(J)))]).build()
    torque = system.inverse_dynamics(0.0, system.start.q, np.array([0, 0, 0, *omega]), np.zeros(6))
    assert torque == pytest.approx([0, 0, 0, *np.cross(omega, J @ omega)], rel=1e-14)


# Description


def test_the_description_is_plain_data() -> None:
    slider = PlanarBody("slider", mass=np.float64(1.0), inertia=0.1, position=np.array([1.0, 0.0]))
    system = Model(
        [
            Ground(),
            slider,
            PrescribedMotion("motor", "ground", slider, coordinate="x", motion=Table((0.0, 1.0), (1.0, 1.0))),
            PointForce("push", slider, force=lambda t: (t, 0.0)),
            Spring("spring", "ground", slider, stiffness=1.0),
        ],
        name="all kinds of values",
    ).build()
    data = json.loads(json.dumps(system.description))
    assert data["name"] == "all kinds of values"
    elements = {element["name"]: element for element in data["elements"]}
    assert elements["slider"]["position"] == [1.0, 0.0] and elements["slider"]["kind"] == "PlanarBody"
    assert elements["motor"]["motion"] == {"kind": "Table", "times": [0.0, 1.0], "values": [1.0, 1.0]}
    assert elements["motor"]["b"] == "slider" and elements["spring"]["free_length"] is None
    assert elements["push"]["force"] == "function <lambda> of time"


def test_a_system_says_how_large_it_is() -> None:
    system = slider_rod()
    assert repr(system) == "System('slider on a rod': 3 velocities, 0 constraints, 4 contacts, 19 parameters)"
    assert (system.nq, system.nv, system.ng, system.nc) == (3, 3, 0, 4)


def test_units_of_every_column() -> None:
    names = pendulum().names
    assert (names.q_units, names.v_units) == (("m", "m", "rad"), ("m/s", "m/s", "rad/s"))
    assert (names.constraints, names.constraint_units) == (("pin.x", "pin.y"), ("m", "m"))
    assert (names.reactions, names.reaction_units) == (("pin.x", "pin.y", "pin.torque"), ("N", "N", "N m"))
