"""Assembly from rough guesses, in the plane and in space: closed loops, modes, velocities that follow, what moved."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    Fixed,
    Gravity,
    Ground,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    PrescribedMotion,
    Prismatic,
    Revolute,
    SpatialBody,
    Spherical,
    Table,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model import redundancy
from nonsmooth.model.checks import CLOSED, check_start
from nonsmooth.model.closing import closed_start
from nonsmooth.model.system import System

RPM = 2 * np.pi / 60


def rates(system: System) -> Array:
    n, p, start = system.numeric, system.parameter_values, system.start
    return n.W_g(start.t, start.q, p)[0].T @ start.v + n.g_t(start.t, start.q, p)[0]


# --------------------------------------------------------------------------------------------------------- in the plane

BASE, CRANK, COUPLER, ROCKER = 0.35, 0.1, 0.3, 0.2


def head_and_tip(side: int) -> tuple[Array, Array]:
    """Pins of the coupler with the crank upright: open, side = 1, or crossed, side = -1."""
    head = np.array([0.0, CRANK])
    across = np.array([BASE, 0.0]) - head
    d = float(np.hypot(*across))
    along = (COUPLER**2 - ROCKER**2 + d**2) / (2 * d)
    left = np.array([-across[1], across[0]]) / d
    return head, head + along * across / d + side * np.sqrt(COUPLER**2 - along**2) * left


def four_bar(turned: tuple[float, ...] = (0.0, 0.0, 0.0), side: int = 1, speed: float = 0.0) -> Model:
    """Crank, coupler and rocker at their exact places but turned by these angles; the crank declares its speed."""
    head, tip = head_and_tip(side)
    ends = {"crank": (np.zeros(2), head), "coupler": (head, tip), "rocker": (np.array([BASE, 0.0]), tip)}
    bodies = []
    for (name, (foot, top)), angle in zip(ends.items(), turned, strict=True):
        length = float(np.hypot(*(top - foot)))
        slope = float(np.arctan2(*(top - foot)[::-1])) + angle
        omega = speed if name == "crank" else 0.0
        middle = tuple((foot + top) / 2)
        bodies.append(PlanarBody(name, length, length**3 / 12, middle, slope, angular_velocity=omega))
    joints = [
        Revolute("A", "ground", "crank", at_b=(-CRANK / 2, 0.0)),
        Revolute("B", "crank", "coupler", at_a=(CRANK / 2, 0.0), at_b=(-COUPLER / 2, 0.0)),
        Revolute("C", "coupler", "rocker", at_a=(COUPLER / 2, 0.0), at_b=(ROCKER / 2, 0.0)),
        Revolute("D", "ground", "rocker", at_a=(BASE, 0.0), at_b=(-ROCKER / 2, 0.0)),
    ]
    return Model([Ground(), *bodies, *joints])


def pin(system: System, body: int, arm: float) -> Array:
    """The end of a bar, from coordinates alone."""
    x, y, angle = system.start.q[3 * body : 3 * body + 3]
    return np.array([x + arm * np.cos(angle), y + arm * np.sin(angle)])


def side_of(system: System) -> float:
    """Sign of the side on which the coupler's end lies of the line from the crank's head to the rocker's foot."""
    head, tip = pin(system, 0, CRANK / 2), pin(system, 1, COUPLER / 2)
    across, rise = np.array([BASE, 0.0]) - head, tip - head
    return float(np.sign(across[0] * rise[1] - across[1] * rise[0]))


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("signs", [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
def test_a_four_bar_with_all_bars_turned_by_half_a_radian_closes_in_the_mode_of_the_guess(
    side: int, signs: tuple[int, ...]
) -> None:
    system = four_bar(tuple(0.5 * sign for sign in signs), side).build(assemble=True)
    head, tip = pin(system, 0, CRANK / 2), pin(system, 1, COUPLER / 2)
    # round-off of lengths of 0.3 m
    assert np.hypot(*head) == pytest.approx(CRANK, abs=1e-13)
    assert np.hypot(*(tip - head)) == pytest.approx(COUPLER, abs=1e-13)
    assert np.hypot(*(tip - (BASE, 0.0))) == pytest.approx(ROCKER, abs=1e-13)
    assert pin(system, 2, ROCKER / 2) == pytest.approx(tip, abs=1e-13)
    assert side_of(system) == side


def test_a_guess_with_all_bars_in_one_place_closes_and_says_that_it_was_perturbed() -> None:
    heap = [dataclasses.replace(e, position=(0.0, 0.0), angle=0.0) if isinstance(e, PlanarBody) else e
            for e in four_bar().elements]  # fmt: skip
    report = Model(heap).assemble()
    assert report.residual < 1e-13 and report.attempts > 1
    assert f"this is attempt {report.attempts}, from a perturbed guess" in str(report)


def test_both_ways_of_assembling_agree_to_the_last_bit() -> None:
    model = four_bar((0.2, -0.3, 0.1), speed=5.0)
    report = model.assemble()
    one, other = model.build(assemble=report), model.build(assemble=True)
    assert np.array_equal(one.start.q, other.start.q) and np.array_equal(one.start.v, other.start.v)
    assert one.assembly is report and other.assembly is not None and str(other.assembly) == str(report)
    assert four_bar().build().assembly is None
    sent = pickle.loads(pickle.dumps(one))
    assert str(sent.assembly) == str(report)


@pytest.mark.parametrize("size", [50.0, 77.0])
def test_velocities_of_kilometres_per_second_are_as_consistent_as_small_ones(size: float) -> None:
    """As of lengths in mm: a crank of 50 m at 100 rad/s, where one solution of the rows leaves more than 1e-9 m/s."""
    crank, rod = PlanarBody("crank", 0.3, 1e-4, (size / 2, 0.0)), PlanarBody("rod", 0.2, 2e-4, (5.5 * size, 0.0))
    motor = PrescribedMotion("motor", "ground", crank, coordinate="angle", motion=lambda t: 100.0 * t)
    joints = [
        Revolute("main", "ground", crank, at_b=(-size / 2, 0.0)),
        Revolute("pin", crank, rod, at_a=(size / 2, 0.0), at_b=(-4.5 * size, 0.0)),
        Revolute("wrist", rod, "piston", at_a=(4.5 * size, 0.0)), Prismatic("bore", "ground", "piston"),
    ]  # fmt: skip
    model = Model([Ground(), crank, rod, PlanarBody("piston", 0.1, 5e-5, (10 * size, 0.0)), *joints, motor])
    report = model.assemble()
    assert report.rate <= CLOSED
    assert report.start.v[1] == pytest.approx(50.0 * size, rel=0, abs=10 * CLOSED)  # by rates of several joints


def test_an_assembly_of_other_bodies_is_refused() -> None:
    report = Model([Ground(), PlanarBody("disk", 1.0, 0.1)]).assemble()
    with pytest.raises(
        ModelError, match="that of the bodies disk, but the model has crank, coupler, rocker; pass what"
    ):
        four_bar().build(assemble=report)


def test_the_report_tells_what_moved_and_by_how_much() -> None:
    """A pendulum 3 mm to the right of its pin, lying along x: it goes back, does not turn, and its centre follows."""
    bob = PlanarBody("bob", 2.0, 0.1, position=(0.503, 0.0), angular_velocity=4.0)
    model = Model([Ground(), bob, Revolute("pin", "ground", bob, at_b=(-0.5, 0.0))])
    report, arm = model.assemble(), model.build(assemble=True).parameters["pin.at_b_x"]
    (moved,) = report.moved
    # round-off of 0.5 m, and of 2 m/s
    assert (moved.displacement, moved.rotation) == pytest.approx((0.503 + arm, 0.0), abs=1e-14)
    assert (moved.velocity, moved.angular_velocity) == pytest.approx((2.0, 0.0), abs=1e-13)
    assert str(report).splitlines()[1:] == [
        "body displacement [m] rotation [rad] velocity [m/s] angular velocity [rad/s]",
        f"bob             0.003              0              2 {moved.angular_velocity:>24.4g}",
    ]


def test_the_table_lists_those_of_many_bodies_that_turned_most() -> None:
    bodies = [PlanarBody(f"link{i}", 1.0, 0.1, angle=0.01 * i) for i in range(25)]
    welds = [Fixed(f"weld{i}", "ground", body) for i, body in enumerate(bodies)]
    lines = str(Model([Ground(), *bodies, *welds]).assemble()).splitlines()
    assert lines[2].startswith("link24 ") and lines[-1] == "and 5 more bodies, which turned less."
    assert len(lines) == 2 + 20 + 1


def test_a_crank_that_declares_120_rpm_keeps_them_and_the_bars_follow() -> None:
    """Speeds by Freudenstein: with the crank upright, both ends of the coupler move along x at first order."""
    speed = 120 * RPM
    system = four_bar(speed=speed).build(assemble=True)
    crank, coupler, rocker = (system.start.v[3 * i + 2] for i in range(3))
    assert crank == speed
    head, tip = head_and_tip(1)
    arm, other = tip - head, tip - (BASE, 0.0)
    # omega_c x arm - omega_r x other = -omega x head
    A = np.array([[-arm[1], other[1]], [arm[0], -other[0]]])
    assert (coupler, rocker) == pytest.approx(tuple(np.linalg.solve(A, [speed * head[1], -speed * head[0]])), rel=1e-13)
    assert rates(system) == pytest.approx(0.0, abs=1e-13)


def test_a_driver_is_enough_and_prevails_over_a_declared_speed() -> None:
    for speed in (0.0, 3.0):
        motor = PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: np.pi / 2 + 7 * t)
        system = Model([*four_bar(speed=speed).elements, motor]).build(assemble=True)
        assert system.start.v[2] == pytest.approx(7.0, rel=1e-13)


MOTIONS = {
    "table": Table(times=(0.3, 1.3), values=(0.0, 0.5)),
    "table from before": Table(times=(-0.7, 0.3, 1.3), values=(0.2, 0.0, 0.5)),
    "table that ends": Table(times=(-0.7, 0.3), values=(0.2, 0.0)),
    "maximum": lambda t: 0.5 * ca.fmax(t - 0.3, 0.0),
    "absolute value": lambda t: 0.5 * ca.fabs(t - 0.3),
    "condition": lambda t: ca.if_else(t > 0.3, 0.5 * (t - 0.3), 0.0),
}


@pytest.mark.parametrize("late", [-1e-16, 0.0])
@pytest.mark.parametrize("kind", MOTIONS)
def test_the_speed_at_a_kink_of_a_driver_is_that_after_it(kind: str, late: float) -> None:
    """A time that is computed may be the number before."""
    t, speed = 0.3 + late, 0.0 if kind == "table that ends" else 0.5
    slider = PlanarBody("slider", mass=1.0, inertia=1.0)
    drive = PrescribedMotion("drive", "ground", "slider", coordinate="x", motion=MOTIONS[kind])
    model = Model([Ground(), slider, Prismatic("rail", "ground", "slider"), drive])
    system = model.build(assemble=True)
    start = closed_start(system, dataclasses.replace(system.start, t=t), system.parameter_values)
    assert start.v[0] == pytest.approx(speed, abs=1e-14)  # round-off of slopes
    fits = system.state({"slider.x": 0.0}, velocities={"slider.x": speed}, t=t)
    check_start(system, fits, system.parameter_values)
    wrong = system.state({"slider.x": 0.0}, velocities={"slider.x": 0.25}, t=t)
    with pytest.raises(ModelError, match=f'"drive.x" moves at {0.25 - speed:g} m/s at the start'):
        check_start(system, wrong, system.parameter_values)


def test_declared_velocities_that_the_joints_do_not_allow_change_by_the_least_kinetic_energy() -> None:
    """Two equal sliders on one line, welded by a rod that declares nothing: 1 m/s and 2 m/s meet in 1.5 m/s."""
    left, right = (PlanarBody(n, 1.0, 0.1, (x, 0.0), velocity=(v, 0.0)) for n, x, v in (("l", 0, 1), ("r", 1, 2)))
    rod = PlanarBody("rod", 10.0, 0.1, (0.5, 0.0))
    welds = [Fixed("a", left, rod, at_a=(0.5, 0.0)), Fixed("b", rod, right, at_a=(0.5, 0.0))]
    slide = Prismatic("slide", "ground", left)
    start = Model([Ground(), left, right, rod, welds[0], welds[1], slide]).build(assemble=True).start
    assert start.v == pytest.approx([1.5, 0.0, 0.0] * 3, abs=1e-13)  # round-off; the heavy rod has no say


def test_a_long_chain_whose_crank_declares_its_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of pinned links from a pin at the ground; only the first turns, the second one's pin follows."""
    monkeypatch.setattr(redundancy, "MANY", 10)  # by sparse factors
    monkeypatch.setattr(redundancy.Directions, "_dense", None)
    n = 40
    links = [PlanarBody(f"link{i}", 1.0, 1 / 12, (i + 0.5, 0.0), angular_velocity=2.0 * (i == 0)) for i in range(n)]
    joints = [
        Revolute(f"pin{i}", links[i - 1] if i else "ground", links[i], at_a=(0.5 * (i > 0), 0.0), at_b=(-0.5, 0.0))
        for i in range(n)
    ]
    system = Model([Ground(), *links, *joints]).build(assemble=True)
    assert system.start.v[2] == 2.0
    assert system.start.v[1] == pytest.approx(1.0, abs=1e-13) and rates(system) == pytest.approx(0.0, abs=1e-13)


def test_redundant_rows_do_not_disturb_assembly() -> None:
    """A table on three parallel cranks: away from closed positions its 12 rows are independent."""
    bodies = [PlanarBody("table", 1.0, 0.1, (1.05, 0.92), 0.1)]
    joints = []
    for i, x in enumerate((0.0, 1.0, 2.0)):
        crank = PlanarBody(f"crank{i}", 1.0, 0.1, (x + 0.03, 0.55), np.pi / 2 + 0.2 * (i - 1))
        bodies.append(crank)
        joints.append(Revolute(f"foot{i}", "ground", crank, at_a=(x, 0.0), at_b=(-0.5, 0.0)))
        joints.append(Revolute(f"head{i}", crank, "table", at_a=(0.5, 0.0), at_b=(x - 1.0, 0.0)))
    system = Model([Ground(), *bodies, *joints]).build(assemble=True)
    assert system.assembly is not None and system.assembly.residual < 1e-13
    assert len(system.redundant) == 1
    assert system.start.q[2] == pytest.approx(0.0, abs=1e-13)  # the table is level
    assert system.start.q[5::3] == pytest.approx(system.start.q[5], abs=1e-13)  # the cranks are parallel


# ------------------------------------------------------------------------------------------------------------- in space


def turned_by(quaternion: Array, vector: Array) -> Array:
    """The quaternion turned by a rotation vector in the body frame."""
    half = float(np.linalg.norm(vector)) / 2
    w, x = np.cos(half), np.sinc(half / np.pi) / 2 * vector
    product = np.concatenate(
        [[quaternion[0] * w - quaternion[1:] @ x], quaternion[0] * x + w * quaternion[1:] + np.cross(quaternion[1:], x)]
    )
    return np.asarray(product / np.linalg.norm(product))


def quaternion_of(R: Array) -> Array:
    """Of a rotation matrix that is no half turn."""
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])


def matrix_of(quaternion: Array) -> Array:
    w, (x, y, z) = quaternion[0], quaternion[1:]
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def misplaced(
    name: str, frame: tuple[Array, Array], off: float, random: np.random.Generator, **start: Any
) -> SpatialBody:
    """A body of about 1 m at a frame (origin, axes), but for errors of this size in metres and radians."""
    place, R = frame
    q = turned_by(quaternion_of(R), off * random.uniform(-1, 1, 3))
    at = tuple(place + off * random.uniform(-1, 1, 3))
    return SpatialBody(name, 1.0, (0.01, 0.08, 0.08), at, tuple(q), **start)


def rssr(off: float = 0.0, seed: int = 0, speed: float = 0.0) -> Model:
    """Crank about z at the origin, rocker about x at (1, 1, 0), a coupler of 1.3 m between two balls."""
    random = np.random.default_rng(seed)
    crank_end, foot = np.array([0.4, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])
    # the rocker's end at angle phi: foot + 0.8 (0, cos(phi), sin(phi)), at 1.3 m from the crank's
    flat = foot - crank_end
    a, c = 2 * 0.8 * flat[1], 1.3**2 - flat @ flat - 0.8**2
    phi = np.arccos(c / a)
    rocker_axis = np.array([0.0, np.cos(phi), np.sin(phi)])
    rocker_end = foot + 0.8 * rocker_axis
    along = (rocker_end - crank_end) / 1.3
    side = np.cross([0.0, 0.0, 1.0], along) / np.linalg.norm(np.cross([0.0, 0.0, 1.0], along))
    frames = {
        "crank": (crank_end / 2, np.eye(3)),
        "coupler": ((crank_end + rocker_end) / 2, np.column_stack([along, side, np.cross(along, side)])),
        "rocker": (
            (foot + rocker_end) / 2,
            np.column_stack([rocker_axis, np.cross([1.0, 0.0, 0.0], rocker_axis), [1.0, 0.0, 0.0]]),
        ),
    }
    bodies = []
    for name, frame in frames.items():
        start = {"angular_velocity": (0.0, 0.0, speed)} if name == "crank" else {}
        bodies.append(misplaced(name, frame, off, random, **start))
    z, x = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    joints = [
        Revolute("main", "ground", "crank", at_a=(0.0, 0.0, 0.0), at_b=(-0.2, 0.0, 0.0), axis_a=z, axis_b=z),
        Spherical("ball", "crank", "coupler", at_a=(0.2, 0.0, 0.0), at_b=(-0.65, 0.0, 0.0)),
        Spherical("socket", "coupler", "rocker", at_a=(0.65, 0.0, 0.0), at_b=(0.4, 0.0, 0.0)),
        Revolute("hinge", "ground", "rocker", at_a=tuple(foot), at_b=(-0.4, 0.0, 0.0), axis_a=x, axis_b=z),
    ]
    return Model([Ground(), *bodies, *joints])


def point(system: System, body: int, local: tuple[float, float, float]) -> Array:
    q = system.start.q[7 * body : 7 * body + 7]
    return np.asarray(q[:3] + matrix_of(q[3:]) @ local)


@pytest.mark.parametrize("seed", range(6))
def test_a_spatial_four_bar_off_by_a_fifth_of_its_size_closes(seed: int) -> None:
    system = rssr(0.2, seed).build(assemble=True)
    assert system.ng == 16 and system.redundant == ()  # 18 - 16: the mechanism, and the coupler about its own axis
    crank_end, rocker_end = point(system, 0, (0.2, 0.0, 0.0)), point(system, 2, (0.4, 0.0, 0.0))
    # round-off of lengths of 1 m
    assert np.linalg.norm(crank_end) == pytest.approx(0.4, abs=1e-13) and crank_end[2] == pytest.approx(0.0, abs=1e-13)
    assert rocker_end[0] == pytest.approx(1.0, abs=1e-13)
    assert np.linalg.norm(rocker_end - (1.0, 1.0, 0.0)) == pytest.approx(0.8, abs=1e-13)
    assert np.linalg.norm(rocker_end - crank_end) == pytest.approx(1.3, abs=1e-13)
    assert np.linalg.norm(system.start.q.reshape(3, 7)[:, 3:], axis=1) == pytest.approx(1.0, abs=1e-13)


def test_the_speed_of_a_spatial_crank_is_enough() -> None:
    """The ends of the coupler have one velocity along it: (v_2 - v_1) . (r_2 - r_1) = 0."""
    speed = 120 * RPM
    system = rssr(speed=speed).build(assemble=True)
    v = system.start.v.reshape(3, 6)
    assert v[0, 3:].tolist() == [0.0, 0.0, speed]
    crank_end, rocker_end = point(system, 0, (0.2, 0.0, 0.0)), point(system, 2, (0.4, 0.0, 0.0))
    line = rocker_end - crank_end
    crank_velocity = speed * np.array([-crank_end[1], crank_end[0], 0.0])
    per_turn = np.cross([1.0, 0.0, 0.0], rocker_end - (1.0, 1.0, 0.0))
    # the rocker turns about its own z, the hinge's axis x; relative round-off
    assert v[2, 5] == pytest.approx((crank_velocity @ line) / (per_turn @ line), rel=1e-12)
    assert rates(system) == pytest.approx(0.0, abs=1e-13)


def denavit_hartenberg(theta: float, a: float, alpha: float) -> Array:
    """Frame of the next joint in that of this one: turn by theta about z, move by a along x, turn by alpha about x."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, 0], [0, 0, 0, 1]])


def bennett(off: float = 0.0, seed: int = 0, stretch: float = 1.0, gravity: bool = False) -> Model:
    """Bennett's four-bar: opposite links alike, a / sin(alpha) = b / sin(beta), no offsets along the axes.

    tan(theta_1 / 2) tan(theta_2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2), theta_3 = -theta_1,
    theta_4 = -theta_2 (Bennett 1903). With `stretch` the condition is violated: the last joint is off by this factor.
    """
    random = np.random.default_rng(seed)
    a, b, alpha = 1.0, 0.6, np.pi / 3
    beta = np.arcsin(b / a * np.sin(alpha))
    first = 0.8
    second = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2))
    frames = [np.eye(4)]
    for theta, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)):
        frames.append(frames[-1] @ denavit_hartenberg(theta, length, twist))
    assert frames[4] == pytest.approx(np.eye(4), abs=1e-13)  # it closes
    bodies = [
        misplaced(f"link{k}", ((frames[k][:3, 3] + frames[k + 1][:3, 3]) / 2, frames[k + 1][:3, :3]), off, random)
        for k in range(3)
    ]
    z = (0.0, 0.0, 1.0)
    joints = []
    for k, (length, twist) in enumerate(((a, alpha), (b, beta), (a, alpha))):  # at the start of link k, in its frame
        back = (-length / 2, 0.0, 0.0)
        axis = (0.0, np.sin(twist), np.cos(twist))
        before = dict(at_a=((a, b, a)[k - 1] / 2, 0.0, 0.0), axis_a=z) if k else dict(at_a=(0.0, 0.0, 0.0), axis_a=z)
        joints.append(
            Revolute(f"R{k}", f"link{k - 1}" if k else "ground", f"link{k}", at_b=back, axis_b=axis, **before)
        )
    end = frames[3]
    joints.append(
        Revolute("R3", "link2", "ground", at_a=(a / 2, 0.0, 0.0), axis_a=z, at_b=tuple(stretch * end[:3, 3]),
                 axis_b=tuple(end[:3, 2]))
    )  # fmt: skip
    loads = [Gravity(acceleration=(0.0, 0.0, -9.81))] if gravity else []
    return Model([Ground(), *bodies, *joints, *loads])


@pytest.mark.parametrize("off", [0.0, 0.05, 0.2])
def test_bennetts_four_bar_has_rank_17_of_20_rows_and_moves(off: float) -> None:
    """Gruebler counts 18 - 20 = -2 freedoms; three rows are redundant, so that one is left."""
    system = bennett(off, seed=3).build(assemble=True)
    assert system.assembly is not None and system.assembly.residual < 1e-13
    assert (system.nv, system.ng, len(system.redundant)) == (18, 20, 3)
    assert {row.name.partition(".")[0] for row in system.redundant} == {"R3"}
    W = system.numeric.W_g(0.0, system.start.q, system.parameter_values)[0]
    sizes = np.linalg.svd(W, compute_uv=False)
    # 17 singular values of order one, three of round-off
    assert sizes[16] > 1e-2 and sizes[17] < 1e-12


def test_bennetts_four_bar_closes_all_along_its_motion() -> None:
    """From each position on, a motion of the first link by 0.2 rad is a guess for the next; the freedom stays one."""
    model = bennett()
    system = model.build(assemble=True)
    p, state, total = system.parameter_values, system.start, 0.0
    for _ in range(5):
        W = system.numeric.W_g(0.0, state.q, p)[0]
        free = np.linalg.svd(W.T)[2][-1]
        free *= 0.2 / np.linalg.norm(free[3:6])
        guess = dataclasses.replace(state, q=system.numeric.advance(state.q, free, 1.0)[0])
        state = closed_start(system, guess, p)
        total += float(np.linalg.norm(state.q - guess.q))
        assert np.max(np.abs(system.joint_violation(np.zeros(1), state.q[None], p))) < 1e-13
        assert len(system.redundant_at(state, p)) == 3
    assert total > 1e-3  # what assembly did was not nothing


def test_a_four_bar_that_violates_bennetts_condition_cannot_be_assembled() -> None:
    with pytest.raises(
        ModelError, match=r'cannot be assembled.*"R\d\.\w+" stays open by .* Check the lengths and axes'
    ):
        bennett(stretch=1.1).build(assemble=True)


def test_bennetts_four_bar_swings_and_keeps_its_energy() -> None:
    system = bennett(gravity=True).build(assemble=True)
    run = simulate(system, MoreauJean(theta=0.5, joints="midpoint"), t_end=0.4, dt=4e-3)
    energy, kinetic = run.energy["kinetic"] + run.energy["potential"], run.energy["kinetic"][-1]
    assert kinetic > 0.3  # it fell by 10 mm, of its 3 kg
    # the midpoint rule is of second order: 1e-6 of what was turned over at this step, 4e-6 at twice its length
    assert abs(energy[-1] - energy[0]) < 3e-6 * kinetic
    assert run.certificate.joint_violation < 1e-7  # 9e-9 m or rad, 7e-8 at twice the step


def test_a_spatial_report_measures_the_rotation() -> None:
    """A body turned by 0.3 rad about its weld, 2 m off: rotation and displacement of the centre."""
    half = 0.15
    body = SpatialBody("body", 1.0, (1.0, 1.0, 1.0), (0.0, 2.0, 0.0), (np.cos(half), 0.0, 0.0, -np.sin(half)))
    weld = Fixed("weld", "ground", body, at_a=(0.0, 0.0, 0.0), at_b=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0))
    (moved,) = Model([Ground(), body, weld]).assemble().moved
    assert (moved.displacement, moved.rotation) == pytest.approx((2.0, 0.3), abs=1e-13)  # round-off
