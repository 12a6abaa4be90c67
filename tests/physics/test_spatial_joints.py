"""Mechanisms with ideal joints in space against published and exact motions.

Runs are by an eighth-order method at tolerances of 1e-12, so that what differs from the reference is the reference's
own last digit, unless a comment says otherwise.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Cylindrical,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    Model,
    NoTwist,
    ParallelAxes,
    PrescribedMotion,
    PrescribedPose,
    Prismatic,
    Revolute,
    Screw,
    SpatialBody,
    Spherical,
    Trajectory,
    Universal,
    UniversalPrismatic,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.bodies import Body
from nonsmooth.model.elements import Element
from nonsmooth.model.state import State
from nonsmooth.model.system import System


def run(system: System, t_end: float, state: State | None = None, dt_max: float = 0.05) -> Trajectory:
    control = ErrorControl(1e-12, 1e-12, 1e-9, dt_max)
    return simulate(system, EventDriven(order="dop853"), t_end=t_end, dt=control, state=state)


def turned(axis: tuple[float, float, float], angle: float) -> tuple[float, ...]:
    """The quaternion (w, x, y, z) of a rotation about an axis."""
    vector = angle * np.asarray(axis) / np.linalg.norm(axis)
    return tuple(Rotation.from_rotvec(vector).as_quat(scalar_first=True).tolist())


def reactions(system: System, t: float, q: Array, v: Array) -> dict[str, float]:
    """Reactions of the joints at a state: M a = h + W_g lambda with W_g' a + bias = 0."""
    n, p = system.numeric, system.parameter_values
    M, W, h = n.M(q, p)[0], n.W_g(t, q, p)[0], n.h(t, q, v, p)[0]
    matrix = np.block([[M, -W], [W.T, np.zeros((system.ng, system.ng))]])
    lam = np.linalg.solve(matrix, np.concatenate([h, -n.bias(t, q, v, p)[0]]))[system.nv :]
    return dict(zip(system.reaction_names, n.reaction(t, q, p, lam)[0].tolist(), strict=True))


def moving(system: System, column: str, rate: float) -> State:
    """The start of a mechanism of one degree of freedom, moving so that one velocity has the given value."""
    freedom = null_space(system.numeric.W_g(0.0, system.start.q, system.parameter_values)[0].T)
    assert freedom.shape[1] == 1
    v = freedom[:, 0]
    return State(0.0, system.start.q, rate / v[system.v_names.index(column)] * v)


# Tops and pendulums


@pytest.mark.parametrize(
    ("t_end", "place", "omega"),
    [
        (0.1, (0.42129665893, 0.89457197435, -0.14916470056), (4.808941332, 150.0, 1.028300757)),
        (0.2, (0.60555056138, 0.59895768179, -0.52398302743), (-2.691590912, 150.0, 4.917261)),
        (0.5, (-0.70246829706, -0.0211651847, -0.71140025765), (-0.471053102, 150.0, 5.901083048)),
    ],
)
def test_heavy_top_on_a_ball_joint(t_end: float, place: tuple[float, ...], omega: tuple[float, ...]) -> None:
    """Geradin and Cardona's top. Its fast spin about the symmetry axis turns errors of 1e-11 in time into 1e-9."""
    spin = (0.0, 150.0, -4.61538)
    top = SpatialBody(
        "top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), position=(0.0, 1.0, 0.0),
        velocity=tuple(np.cross(spin, (0.0, 1.0, 0.0))), angular_velocity=spin,
    )  # fmt: skip
    tip = Spherical("tip", "ground", top, at_b=(0.0, -1.0, 0.0))
    system = Model([Ground(), top, tip, Gravity(acceleration=(0.0, 0.0, -9.81))]).build()
    end = run(system, t_end).end
    assert end.q[:3] == pytest.approx(place, abs=2e-9)
    assert end.v[3:] == pytest.approx(omega, abs=2e-8)


def pendulum(joint: str) -> System:
    """A rod of 4 m at (1, 2, 3), horizontal and at rest."""
    rod = SpatialBody("rod", mass=1.0, inertia=(0.04, 0.1, 0.1), position=(3.0, 2.0, 3.0))
    ends = {"at_a": (1.0, 2.0, 3.0), "at_b": (-2.0, 0.0, 0.0)}
    axis = (0.0, 1.0, 1.0)
    pivot = Revolute("pivot", "ground", rod, axis_a=axis, axis_b=axis, **ends) if joint == "revolute" else (
        Spherical("pivot", "ground", rod, **ends))  # fmt: skip
    return Model([Ground(), rod, pivot, Gravity(acceleration=(0.0, 0.0, -9.80665))]).build()


@pytest.mark.parametrize(
    ("t_end", "place", "force"),
    [
        (1.0, (1.04210381, 3.41390015, 1.58609985), (-0.42716748, -9.56110321, 19.36775321)),
        (2.5, (-0.84688757, 2.54268145, 2.45731855), (7.19189781, 2.67049558, 7.13615442)),
        (5.0, (1.20996051, 3.40639905, 1.59360095), (-2.11886971, -9.40930099, 19.21595099)),
    ],
)
def test_pendulum_on_an_inclined_hinge(t_end: float, place: tuple[float, ...], force: tuple[float, ...]) -> None:
    """Place and reaction as in the test of Chrono against ADAMS, to the eight decimals given there."""
    system = pendulum("revolute")
    end = run(system, t_end).end
    assert end.q[:3] == pytest.approx(place, abs=2e-8)
    found = reactions(system, end.t, end.q, end.v)
    assert [found[f"pivot.{axis}"] for axis in "xyz"] == pytest.approx(force, abs=2e-8)
    torque = np.array([found[f"pivot.torque_{axis}"] for axis in "xyz"])
    assert torque @ (0.0, 1.0, 1.0) == pytest.approx(0.0, abs=1e-12)  # free about its axis


@pytest.mark.parametrize(
    ("t_end", "place"),
    [(1.0, (0.107619, 2.0, 1.21012)), (2.5, (0.734494, 2.0, 1.0177)), (5.0, (-0.999684, 2.0, 2.96444))],
)
def test_pendulum_on_a_ball_joint(t_end: float, place: tuple[float, ...]) -> None:
    """As in the test of Chrono against ADAMS, to the six digits given there; the joint carries no torque."""
    system = pendulum("spherical")
    end = run(system, t_end).end
    assert end.q[:3] == pytest.approx(place, abs=6e-6)
    found = reactions(system, end.t, end.q, end.v)
    assert [found[f"pivot.torque_{axis}"] for axis in "xyz"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_recorded_reactions_are_means_of_those_at_the_ends() -> None:
    """Over short steps the recorded mean force is the force in the middle, but for squares of the step."""
    system = pendulum("revolute")
    trajectory = run(system, 0.2, dt_max=0.002)
    ends = [reactions(system, *row) for row in zip(trajectory.t, trajectory.q.array, trajectory.v.array, strict=True)]
    for label in ("pivot.y", "pivot.torque_y"):
        found = np.array([row[label] for row in ends])
        means = (found[1:] + found[:-1]) / 2
        assert trajectory.reaction[label][1:] == pytest.approx(means, abs=1e-4)


# The spatial slider-crank


def slider_crank() -> System:
    """Crank about x at (0, .1, .12), rod of 0.3 m by a ball and a universal joint, slider along x."""
    at_B, at_C = np.array([0.0, 0.1, 0.2]), np.array([0.2, 0.0, 0.0])
    along = (at_B - at_C) / 0.3
    arm = np.cross((1.0, 0.0, 0.0), along)
    arm /= np.linalg.norm(arm)
    frame = Rotation.from_matrix(np.column_stack([along, arm, np.cross(along, arm)])).as_quat(scalar_first=True)
    middle = tuple(((at_B + at_C) / 2).tolist())
    bodies = [
        SpatialBody("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-4), position=(0.0, 0.1, 0.12)),
        SpatialBody("rod", mass=0.5, inertia=(4e-4, 4e-3, 4e-3), position=middle, quaternion=tuple(frame.tolist())),
        SpatialBody("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), position=(0.2, 0.0, 0.0)),
    ]
    crank, rod, slider = bodies
    x = (1.0, 0.0, 0.0)
    joints = [
        Revolute("main", "ground", crank, at_a=(0.0, 0.1, 0.12), axis_a=x, axis_b=x),
        Spherical("ball", crank, rod, at_a=(0.0, 0.0, 0.08), at_b=(0.15, 0.0, 0.0)),
        Universal("cross", slider, rod, at_b=(-0.15, 0.0, 0.0), axis_a=x, axis_b=(0.0, 1.0, 0.0)),
        Prismatic("guide", "ground", slider, axis_a=x),
    ]
    return Model([Ground(), *bodies, *joints, Gravity(acceleration=(0.0, 0.0, -9.81))]).build()


def test_spatial_slider_crank_moves_as_its_reduction_to_one_coordinate() -> None:
    system = slider_crank()
    start = moving(system, "crank.wx", 6.0)
    kinetic = system.energies(0.0, start.q, start.v, system.parameter_values)["kinetic"][0]
    expected = {
        0.1: (0.5520438379, 5.6320934250, 0.22636901600, 0.29473389743),
        0.2: (1.2309269185, 8.7806979055, 0.26054593269, 0.39490249453),
        0.5: (5.2498988426, 12.6416662013, 0.18874810326, -0.27797074292),
        1.0: (10.4840738386, 10.2298883918, 0.23376475033, -0.53770570535),
    }
    turns = 0.0
    state = start
    for t_end, (theta, omega, x, velocity) in expected.items():
        trajectory = run(system, t_end, state)
        q, v, state = trajectory.q, trajectory.v, trajectory.end
        angles = np.unwrap(2 * np.arctan2(q["crank.qx"], q["crank.qw"]))
        turns += angles[-1] - angles[0]
        found = (turns, v["crank.wx"][-1], q["slider.x"][-1], v["slider.x"][-1])
        assert found == pytest.approx((theta, omega, x, velocity), abs=2e-9)
        energy = system.energies(t_end, state.q, state.v, system.parameter_values)
        raised = (
            energy["potential"][0] - system.energies(0.0, start.q, start.v, system.parameter_values)["potential"][0]
        )
        assert energy["kinetic"][0] + raised == pytest.approx(kinetic, abs=1e-10)


@pytest.mark.parametrize(
    ("degrees", "x", "slope"),
    [
        (45, 0.238615293517, 0.052155413701),
        (90, 0.274226184016, 0.035007597959),
        (180, 0.28, -1 / 35),
        (270, 0.207846096908, -0.046188021535),
    ],
)
def test_a_driven_slider_crank_is_solved_by_its_constraints(degrees: int, x: float, slope: float) -> None:
    """Crank turned evenly by 1 rad/s from theta = 0; slope is dx/dtheta. No degree of freedom is left."""
    system = slider_crank()
    motor = PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: t, axis_a=(1.0, 0.0, 0.0))
    driven = Model([*system.elements, motor]).build(assemble=True)
    end = run(driven, np.radians(degrees)).end
    assert end.q[driven.q_names.index("slider.x")] == pytest.approx(x, abs=2e-12)
    assert end.v[driven.v_names.index("slider.x")] == pytest.approx(slope, abs=2e-11)


# Bennett's four-bar


ALPHA, BETA, SHORT = 0.6, 1.1, 0.3
LONG = SHORT * float(np.sin(BETA) / np.sin(ALPHA))
Z = (0.0, 0.0, 1.0)


def bennett_pose(theta: float) -> list[tuple[Array, Array]]:
    """Places and quaternions of three links when the first has turned by theta, in closed form.

    tan(theta/2) tan(theta_2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2), theta_3 = -theta.
    """
    ratio = np.sin((BETA + ALPHA) / 2) / np.sin((BETA - ALPHA) / 2)
    second = 2 * np.arctan2(ratio * np.cos(theta / 2), np.sin(theta / 2))
    place, frame, links = np.zeros(3), Rotation.identity(), []
    for angle, length, twist in ((theta, SHORT, ALPHA), (second, LONG, BETA), (-theta, SHORT, ALPHA)):
        frame = frame * Rotation.from_rotvec((0.0, 0.0, angle))
        links.append((place, frame.as_quat(scalar_first=True)))
        place = place + frame.apply((length, 0.0, 0.0))
        frame = frame * Rotation.from_rotvec((twist, 0.0, 0.0))
    return links


def bennett(fourth: type) -> tuple[Element, ...]:
    """Bennett's four-bar: links a, b, a, b with twists alpha, beta and a/sin(alpha) = b/sin(beta).

    Links have their origins on the axes of the joints before them, z along these and x along the links.
    """
    links = [
        SpatialBody(
            f"link{i}", mass=1.0, inertia=(0.02, 0.03, 0.04), position=tuple(place), quaternion=tuple(quaternion)
        )
        for i, (place, quaternion) in enumerate(bennett_pose(0.8), 1)
    ]
    after = {twist: (0.0, float(-np.sin(twist)), float(np.cos(twist))) for twist in (ALPHA, BETA, -BETA)}
    x, y = (SHORT, 0.0, 0.0), (LONG, 0.0, 0.0)
    joints = [
        Revolute("joint1", "ground", links[0], axis_a=Z, axis_b=Z),
        Revolute("joint2", links[0], links[1], at_a=x, axis_a=after[ALPHA], axis_b=Z),
        Revolute("joint3", links[1], links[2], at_a=y, axis_a=after[BETA], axis_b=Z),
    ]
    axes = {"axis_a": after[ALPHA], "axis_b": after[-BETA]}
    points = {"at_a": x, "at_b": (-LONG, 0.0, 0.0)} if fourth is Revolute else {}
    return (Ground(), *links, *joints, fourth("joint4", links[2], "ground", **points, **axes))


def test_bennett_four_bar_has_three_redundant_rows_all_the_way_round() -> None:
    """20 rows of four revolute joints are closed and have rank 17 in 18 velocities at every angle: it moves."""
    elements = bennett(Revolute)
    q, v = (np.concatenate(parts) for parts in zip(*(e.start() for e in elements if isinstance(e, Body)), strict=True))
    system = System("bennett", 3, elements, State(0.0, q, v))  # without the checks of build, which are not the matter
    n, p = system.numeric, system.parameter_values
    # the last bits of the eight lengths and axes on the way round the loop, 1e-15 each, open it and its rank by as much
    for theta in np.linspace(-np.pi, np.pi, 41):
        q = np.concatenate([np.concatenate(link) for link in bennett_pose(theta)])
        assert n.violation(0.0, q, p)[0] == pytest.approx(0.0, abs=1e-13)
        W = n.W_g(0.0, q, p)[0]
        sizes = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
        assert sizes[16] > 0.15 and sizes[17] < 1e-14


def test_bennett_four_bar_stays_closed_where_no_row_holds_it() -> None:
    """Three joints and the direction of the fourth leave one freedom; along it the fourth joint stays closed."""
    system = Model(bennett(ParallelAxes)).build()
    trajectory = run(system, 0.5, moving(system, "link1.wz", 4.0))
    q = trajectory.q
    place = np.column_stack([q[f"link3.{axis}"] for axis in "xyz"])
    quaternion = np.column_stack([q[f"link3.q{axis}"] for axis in "wxyz"])
    points = place + Rotation.from_quat(quaternion, scalar_first=True).apply((SHORT, 0.0, 0.0))
    assert points == pytest.approx(np.tile([-LONG, 0.0, 0.0], (len(points), 1)), abs=1e-10)
    assert 2 * np.arctan2(q["link1.qz"][-1], q["link1.qw"][-1]) > 2.0  # far from the start at 0.8, and short of pi
    kinetic = system.energies(trajectory.t, q.array, trajectory.v.array, system.parameter_values)["kinetic"]
    assert kinetic == pytest.approx(np.full(kinetic.size, kinetic[0]), rel=1e-10)


# Universal joints


def shafts(bend: float, *others: object, joint: str = "universal") -> System:
    """Two shafts that meet at the origin at an angle; the second is held in its direction, its place by the joint."""
    out = (float(np.cos(bend)), float(np.sin(bend)), 0.0)
    first = SpatialBody("first", mass=1.0, inertia=(0.1, 0.2, 0.2))
    second = SpatialBody("second", mass=1.0, inertia=(0.1, 0.2, 0.2), quaternion=turned((0.0, 0.0, 1.0), bend))
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    bearing = Revolute("bearing", "ground", first, axis_a=x, axis_b=x)
    if joint == "universal":
        joints = [Universal("cross", first, second, axis_a=z, axis_b=y)]
    else:  # a joint of constant velocity: no twist about the first shaft, however the second is tilted
        joints = [Spherical("ball", first, second), NoTwist("cage", first, second, axis_a=x)]
    held = ParallelAxes("held", "ground", second, axis_a=out, axis_b=x)
    return Model([Ground(), first, second, bearing, *joints, held, *others]).build(assemble=True)


@pytest.mark.parametrize("bend", [0.2, 0.7, 1.2])
def test_universal_joint_transmits_the_speed_of_its_formula(bend: float) -> None:
    """w cos(beta)/(1 - sin^2(beta) cos^2(theta)), over seven turns of a driver at 5 rad/s.

    theta is zero where the arm of the driving shaft lies in the plane of both shafts; it starts along the normal.
    """
    motor = PrescribedMotion("motor", "ground", "first", coordinate="angle", motion=lambda t: 5 * t, axis_a=(1, 0, 0))
    trajectory = run(shafts(bend, motor), 9.0, dt_max=0.02)
    theta = 5 * trajectory.t + np.pi / 2
    expected = 5 * np.cos(bend) / (1 - np.sin(bend) ** 2 * np.cos(theta) ** 2)
    assert trajectory.v["second.wx"] == pytest.approx(expected, abs=1e-9)


def test_no_twist_with_a_ball_joint_is_a_joint_of_constant_velocity() -> None:
    system = shafts(0.7, joint="constant velocity")
    trajectory = run(system, 3.0, moving(system, "first.wx", 5.0))
    assert trajectory.v["first.wx"] == pytest.approx(5.0, abs=1e-10)
    assert trajectory.v["second.wx"] == pytest.approx(5.0, abs=1e-10)


# Screws


def test_a_nut_falls_down_its_screw_for_many_turns() -> None:
    """a = g/(1 + J (2 pi/h)^2/m) along a vertical screw, over 40 turns."""
    mass, inertia, pitch = 0.5, 2e-4, 0.05
    nut = SpatialBody("nut", mass=mass, inertia=(inertia, inertia, inertia))
    screw = Screw("thread", "ground", nut, axis_a=(0.0, 0.0, 1.0), pitch=pitch)
    system = Model([Ground(), nut, screw, Gravity(acceleration=(0.0, 0.0, -9.81))]).build()
    acceleration = 9.81 / (1 + inertia * (2 * np.pi / pitch) ** 2 / mass)
    t_end = np.sqrt(2 * 40 * pitch / acceleration)
    trajectory = run(system, t_end, dt_max=0.01)
    assert trajectory.q["nut.z"] == pytest.approx(-acceleration * trajectory.t**2 / 2, abs=1e-10)
    assert trajectory.v["nut.wz"] == pytest.approx(
        -2 * np.pi / pitch * acceleration * trajectory.t, rel=1e-10, abs=1e-9
    )


def test_a_sleeve_keeps_spin_and_speed_on_its_rod() -> None:
    axis = (1.0, 2.0, 2.0)
    n = np.array(axis) / 3
    sleeve = SpatialBody(
        "sleeve", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=tuple(0.5 * n), angular_velocity=tuple(7.0 * n)
    )
    guide = Cylindrical("guide", "ground", sleeve, axis_a=axis, axis_b=axis)
    trajectory = run(Model([Ground(), sleeve, guide]).build(), 1.0)
    assert trajectory.end.q[:3] == pytest.approx(0.5 * n, abs=1e-12)
    assert trajectory.end.v[3:] == pytest.approx(7.0 * n, abs=1e-12)


# Poses along paths


def test_a_robot_is_solved_by_the_path_of_its_platform() -> None:
    """A leg that is hung on a universal joint and slides through it follows a platform on a circle.

    The leg's line passes through the centre of the cross and through the platform's point, so that it points from one
    to the other. What the driver and the cross carry together is the weight and the centripetal force.
    """
    z0, radius = -1.45, 0.2
    path = PrescribedPose("path", "ground", "platform", position=lambda t: (radius * ca.cos(t), radius * ca.sin(t), z0))
    start = np.array([radius, 0.0, z0])
    along = -start / np.linalg.norm(start)  # from the platform up to the centre of the cross at the origin
    across = np.cross(along, (0.0, 1.0, 0.0))
    # columns: the arm of the leg, which is perpendicular to the ground's arm y, then the line's direction last
    frame = np.column_stack([across / np.linalg.norm(across), np.cross(along, across / np.linalg.norm(across)), along])
    quaternion = Rotation.from_matrix(frame).as_quat(scalar_first=True)
    platform = SpatialBody("platform", mass=3.0, inertia=(0.1, 0.1, 0.1), position=tuple(start))
    leg = SpatialBody("leg", mass=2.0, inertia=(0.2, 0.2, 0.01), position=tuple(start), quaternion=tuple(quaternion))
    passes = UniversalPrismatic(
        "UP", "ground", leg, axis_a=(0.0, 1.0, 0.0), axis_b=(1.0, 0.0, 0.0), slide_b=(0.0, 0.0, 1.0)
    )
    foot = Spherical("foot", platform, leg)
    system = Model([Ground(), platform, leg, passes, foot, path, Gravity(acceleration=(0.0, 0.0, -9.81))]).build(
        assemble=True
    )
    assert system.nv == system.ng
    trajectory = run(system, 2 * np.pi, dt_max=0.1)
    t = trajectory.t
    q = np.column_stack([trajectory.q[f"leg.{axis}"] for axis in "xyz"])
    assert q == pytest.approx(np.column_stack([radius * np.cos(t), radius * np.sin(t), np.full(t.size, z0)]), abs=1e-11)
    quaternions = np.column_stack([trajectory.q[f"leg.q{axis}"] for axis in "wxyz"])
    directions = Rotation.from_quat(quaternions, scalar_first=True).apply((0.0, 0.0, 1.0))
    assert directions == pytest.approx(-q / np.linalg.norm(q, axis=1)[:, None], abs=1e-11)
    end = trajectory.end
    found = reactions(system, end.t, end.q, end.v)
    total = np.array([found[f"path.{axis}"] + found[f"UP.{axis}"] for axis in "xyz"])
    # 5 kg on a circle with 1 rad/s: the centripetal force -m r and the weight
    assert total == pytest.approx([-5 * radius, 0.0, 5 * 9.81], abs=1e-8)
