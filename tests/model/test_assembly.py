"""`build(assemble=True)` closes joints and makes velocities consistent: checked against the geometry of mechanisms."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    Fixed,
    Ground,
    Model,
    ModelError,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Revolute,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    Spring,
    Table,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.system import System

SMOOTH = Rigid(restitution=0.0, friction=0.0)
R, L, SPEED = 0.05, 0.12, 150.0


def link(name: str, length: float, position: tuple[float, float], angle: float = 0.0, **start: Any) -> PlanarBody:
    return PlanarBody(name, mass=1.0, inertia=length**2 / 12, position=position, angle=angle, **start)


def slider_crank(crank_angle: float, error: float, seed: int = 0) -> Model:
    """Crank R, driven at SPEED from `crank_angle`, rod L, slider on the x axis; the bodies misplaced by `error`."""
    random = np.random.default_rng(seed)

    def about(*exact: float) -> tuple[float, ...]:
        return tuple(exact + error * random.uniform(-1, 1, len(exact)))

    pin = R * np.array([np.cos(crank_angle), np.sin(crank_angle)])
    rod_angle = -np.arcsin(pin[1] / L)
    end = pin[0] + L * np.cos(rod_angle)
    misplaced = error / 0.05  # a radian of a link is about 0.05 m
    crank = link("crank", R, about(*(pin / 2)), crank_angle + misplaced * random.uniform(-1, 1))
    rod = link("rod", L, about((pin[0] + end) / 2, pin[1] / 2), rod_angle + misplaced * random.uniform(-1, 1))
    slider = link("slider", 0.02, about(end, 0.0), misplaced * random.uniform(-1, 1))
    return Model(
        [
            Ground(),
            crank,
            rod,
            slider,
            Revolute("main", "ground", crank, at_b=(-R / 2, 0.0)),
            Revolute("big_end", crank, rod, at_a=(R / 2, 0.0), at_b=(-L / 2, 0.0)),
            Revolute("small_end", rod, slider, at_a=(L / 2, 0.0)),
            Prismatic("slide", "ground", slider),
            PrescribedMotion("motor", "ground", crank, coordinate="angle", motion=lambda t: crank_angle + SPEED * t),
        ]
    )


def values(system: System, which: str = "q") -> dict[str, float]:
    names, array = {"q": (system.q_names, system.start.q), "v": (system.v_names, system.start.v)}[which]
    return dict(zip(names, array.tolist(), strict=True))


def assert_consistent(system: System) -> None:
    n, p, start = system.numeric, system.parameter_values, system.start
    # round-off of lengths of 0.1 m and of velocities of 10 m/s
    assert system.joint_violation(start.t, start.q, p) == pytest.approx(0.0, abs=1e-13)
    assert n.W_g(start.t, start.q, p)[0].T @ start.v + n.g_t(start.t, start.q, p)[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("crank_angle", [0.3, 1.0, 2.5, -1.2])
def test_a_slider_crank_off_by_centimetres_closes_at_its_exact_position(crank_angle: float, seed: int) -> None:
    with pytest.raises(ModelError, match="is open by"):
        slider_crank(crank_angle, 0.02, seed).build()
    system = slider_crank(crank_angle, 0.02, seed).build(assemble=True)
    assert_consistent(system)
    q, v = values(system), values(system, "v")
    sine, cosine = np.sin(crank_angle), np.cos(crank_angle)
    root = np.sqrt(L**2 - (R * sine) ** 2)
    assert q["slider.x"] == pytest.approx(R * cosine + root, abs=1e-13)
    assert q["slider.y"] == pytest.approx(0.0, abs=1e-13) and q["slider.angle"] == pytest.approx(0.0, abs=1e-13)
    assert q["crank.angle"] == pytest.approx(crank_angle, abs=1e-13)
    assert v["crank.angle"] == pytest.approx(SPEED, abs=1e-10)
    assert v["slider.x"] == pytest.approx(-SPEED * (R * sine + R**2 * sine * cosine / root), abs=1e-11)


@pytest.mark.parametrize("misfit", [1.0, 1.6, 2.5, 3.1, -3.1, -2.0])
def test_a_driven_angle_is_assembled_from_far_and_never_into_the_false_root(misfit: float) -> None:
    """Newton's method on sin(theta - motion) would end half a turn off from misfits beyond 1.2 rad."""
    crank = link("crank", R, (R / 2, 0.0), misfit)
    motor = PrescribedMotion("motor", "ground", crank, coordinate="angle", motion=0.0)
    system = Model([Ground(), crank, Revolute("main", "ground", crank, at_b=(-R / 2, 0.0)), motor]).build(assemble=True)
    assert values(system) == pytest.approx({"crank.x": R / 2, "crank.y": 0.0, "crank.angle": 0.0}, abs=1e-13)


def four_bar(error: float, *, coupler: float = 0.3, driven: bool = True, seed: int = 0) -> Model:
    """Ground 0.35 m, crank 0.1 m, coupler 0.3 m, rocker 0.2 m; the crank upright."""
    random = np.random.default_rng(seed)
    base, crank_length, rocker_length = 0.35, 0.1, 0.2
    head = np.array([0.0, crank_length])
    across = np.array([base, 0.0]) - head
    d = np.linalg.norm(across)
    along = (0.3**2 - rocker_length**2 + d**2) / (2 * d)
    left = np.array([-across[1], across[0]]) / d
    tip = head + along * across / d + np.sqrt(0.3**2 - along**2) * left
    bars = {"crank": ((0.0, 0.0), head), "coupler": (head, tip), "rocker": ((base, 0.0), tip)}
    bodies = []
    for name, (foot, top) in bars.items():
        foot, top = np.asarray(foot), np.asarray(top)
        position = (foot + top) / 2 + error * random.uniform(-1, 1, 2)
        angle = np.arctan2(*(top - foot)[::-1]) + error / 0.1 * random.uniform(-1, 1)
        bodies.append(link(name, 0.2, tuple(position), float(angle)))
    a, b, c = bodies
    joints = [
        Revolute("A", "ground", a, at_b=(-crank_length / 2, 0.0)),
        Revolute("B", a, b, at_a=(crank_length / 2, 0.0), at_b=(-coupler / 2, 0.0)),
        Revolute("C", b, c, at_a=(coupler / 2, 0.0), at_b=(rocker_length / 2, 0.0)),
        Revolute("D", "ground", c, at_a=(base, 0.0), at_b=(-rocker_length / 2, 0.0)),
    ]
    motor = PrescribedMotion("motor", "ground", a, coordinate="angle", motion=lambda t: ca.pi / 2 + 10.0 * t)
    return Model([Ground(), *bodies, *joints, *([motor] if driven else [])])


def pins(system: System) -> dict[str, Array]:
    """Ends of the bars, from coordinates alone."""
    q, ends = values(system), {}
    for name, half in (("crank", 0.05), ("coupler", 0.15), ("rocker", 0.1)):
        centre = np.array([q[f"{name}.x"], q[f"{name}.y"]])
        arm = half * np.array([np.cos(q[f"{name}.angle"]), np.sin(q[f"{name}.angle"])])
        ends |= {f"{name}-": centre - arm, f"{name}+": centre + arm}
    return ends


@pytest.mark.parametrize("seed", range(4))
def test_a_four_bar_off_by_centimetres_closes(seed: int) -> None:
    system = four_bar(0.03, seed=seed).build(assemble=True)
    assert_consistent(system)
    ends = pins(system)
    assert ends["crank-"] == pytest.approx([0.0, 0.0], abs=1e-13) and ends["crank+"] == pytest.approx(
        [0.0, 0.1], abs=1e-13
    )
    assert ends["coupler-"] == pytest.approx(ends["crank+"], abs=2e-14)
    assert ends["coupler+"] == pytest.approx(ends["rocker+"], abs=2e-14)
    assert ends["rocker-"] == pytest.approx([0.35, 0.0], abs=1e-13)
    assert values(system, "v")["crank.angle"] == pytest.approx(10.0, abs=1e-12)


def test_a_closed_mechanism_stays_where_it_is() -> None:
    closed = four_bar(0.0, driven=False)
    assert closed.build(assemble=True).start.q == pytest.approx(closed.build().start.q, abs=1e-14)


def test_velocities_change_by_the_least_kinetic_energy() -> None:
    """A pendulum pushed at its centre keeps the part of the momentum that its pin allows: M (v+ - v) = W_g P."""
    bob = link("bob", 1.0, (0.5, 0.0), velocity=(3.0, 2.0), angular_velocity=-1.0)
    system = Model([Ground(), bob, Revolute("pin", "ground", bob, at_b=(-0.5, 0.0))]).build(assemble=True)
    n, p, start = system.numeric, system.parameter_values, system.start
    jump = n.M(start.q, p)[0] @ (start.v - (3.0, 2.0, -1.0))
    W = n.W_g(0.0, start.q, p)[0]
    assert W @ np.linalg.lstsq(W, jump)[0] == pytest.approx(jump, abs=1e-13)
    # about the pin: (J + m l^2) omega = J (-1) + m l 2
    assert start.v[2] == pytest.approx((-1 / 12 + 1.0) / (1 / 12 + 0.25), abs=1e-13)


def test_a_mechanism_that_cannot_close_says_so() -> None:
    message = (
        r'cannot be assembled from this start: .*"[A-D].[xy]" stays open by \S+ m, .*of 5 open joints. '
        r"8 perturbed guesses failed as well. Check the lengths and axes .* or start nearer to a closed"
    )
    with pytest.raises(ModelError, match=message):
        four_bar(0.0, coupler=0.05).build(assemble=True)


def test_contradicting_joints_cannot_be_assembled() -> None:
    bodies = [Ground(), link("bar", 1.0, (0.0, 0.0))]
    welds = [Fixed("left", "ground", "bar", at_a=(-1.0, 0.0)), Fixed("right", "ground", "bar", at_a=(1.0, 0.0))]
    with pytest.raises(ModelError, match=r'"(left|right).x" stays open by -?1 m'):  # the compromise is in the middle
        Model([*bodies, *welds]).build(assemble=True)


def test_assembly_into_an_overlap_is_refused() -> None:
    bar = link("bar", 1.0, (0.0, 0.0))
    stop = RevoluteClearance("stop", "ground", bar, clearance=0.1, contact=SMOOTH)
    with pytest.raises(ModelError, match='The contact "stop" overlaps by 0.2 m'):
        Model([Ground(), bar, stop, Revolute("pin", "ground", bar, at_a=(0.3, 0.0))]).build(assemble=True)


def test_models_without_joints_assemble_to_their_start() -> None:
    body = SpatialBody("top", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1.0, 0.0, 0.0))
    start = Model([body]).build(assemble=True).start
    assert start.q.tolist() == [0, 0, 0, 1, 0, 0, 0] and start.v.tolist() == [1, 0, 0, 0, 0, 0]


# One function per kind of element


def guide(name: str, **changes: Any) -> PrismaticClearance:
    numbers: dict[str, Any] = {"length": 0.1, "clearance": 1e-3, "contact": SMOOTH} | changes
    return PrismaticClearance(name, "a", "b", **numbers)


def test_clearances_of_one_kind_share_one_function() -> None:
    functions = ElementFunctions(2)
    shared = functions.gaps(guide("first"))
    other_law = Rigid(restitution=0.5, friction=0.1)
    assert functions.gaps(guide("second", length=0.3, height=0.2, clearance=1e-5, contact=other_law)) is shared
    assert functions.gaps(RevoluteClearance("pin", "a", "b", clearance=1e-3, contact=SMOOTH)) is not shared


def test_joints_share_a_function_unless_their_words_differ() -> None:
    functions = ElementFunctions(2)

    def driver(name: str, coordinate: str, motion: Any = 0.0) -> Any:
        return functions.constraint(PrescribedMotion(name, "a", "b", coordinate=coordinate, motion=motion))

    def turn(t: Any) -> Any:
        return 3.0 * t

    assert driver("first", "x") is driver("second", "x", 0.7)
    assert driver("first", "x") is not driver("second", "y")
    assert driver("first", "angle", turn) is driver("second", "angle", turn)
    assert driver("first", "angle", turn) is not driver("second", "angle", lambda t: 3.0 * t)
    assert functions.constraint(Revolute("r", "a", "b")) is functions.constraint(
        Revolute("s", "a", "b", at_a=(1.0, 2.0))
    )


def test_forces_share_a_function_unless_a_number_is_missing() -> None:
    functions = ElementFunctions(2)
    plain = functions.forces(Spring("first", "a", "b", stiffness=1.0))
    assert functions.forces(Spring("second", "c", "d", stiffness=2.0)) is plain
    assert functions.forces(Spring("third", "a", "b", stiffness=1.0, free_length=0.1)) is not plain


def test_unhashable_functions_of_time_are_welcome() -> None:
    class Pulse:
        __hash__ = None

        def __call__(self, t: Any) -> Any:
            return (Table((0.0, 1.0), (0.0, 2.0))(t), 0.0)

    system = Model([link("bar", 1.0, (0.0, 0.0)), PointForce("push", "bar", force=Pulse())]).build()
    assert system.numeric.h(0.5, system.start.q, np.zeros(3), system.parameter_values)[0].tolist() == [1.0, 0.0, 0.0]


def test_elements_of_one_kind_keep_their_own_numbers() -> None:
    """Two guides on two sliders share their function; each gap follows its own clearance, also when it is changed."""
    bodies = [link(name, 0.1, (0.0, 0.0)) for name in ("a", "b")]
    joints = [
        PrismaticClearance(f"guide_{body.name}", "ground", body, length=0.1, clearance=c, contact=SMOOTH)
        for body, c in zip(bodies, (1e-3, 2e-3), strict=True)
    ]
    system = Model([Ground(), *bodies, *joints]).build()
    changed = system.parameter_vector({"guide_b.clearance": 5e-3})
    first, second = (system.parameters[f"guide_{name}.clearance"] for name in "ab")
    assert (first, second) == pytest.approx((1e-3, 2e-3), rel=1e-13)
    gaps = system.numeric.g_N(np.zeros(6), system.parameter_values)[0]
    assert gaps == pytest.approx([first] * 4 + [second] * 4, abs=1e-18)
    assert system.numeric.g_N(np.zeros(6), changed)[0] == pytest.approx([first] * 4 + [5e-3] * 4, abs=1e-18)
