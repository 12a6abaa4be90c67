"""Backlash, stops, gears, racks, belts and ropes: closed forms, in the schemes that each is meant for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Belt,
    CirclePlane,
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    GaussQP,
    GearBacklash,
    GearPair,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Limits,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    PlanarFlexibleBody,
    Play,
    Prismatic,
    RackBacklash,
    RackPinion,
    Revolute,
    Rigid,
    Rope,
    SpatialBody,
    Thread,
    ThreadBacklash,
    Torque,
    Trajectory,
    simulate,
)
from nonsmooth.flexible import Material, Rectangle, beam, modes
from nonsmooth.laws import KelvinVoigt, RegularisedCoulomb

PLASTIC = Rigid(restitution=0.0, friction=0.0)
FINE = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-9, dt_max=1e-2)
EVENTS = EventDriven(), FINE
GAUSS = GaussQP(), Landing(1e-9, 1e-4)
VELOCITIES = MoreauJean(), 1e-5
ALPHA = GeneralizedAlpha(), 1e-5
#: with what is left of a time step in schemes that do not locate impacts
SCHEMES = [
    pytest.param(EVENTS, 1e-10, id="events"), pytest.param(GAUSS, 1e-10, id="gauss"),
    pytest.param(VELOCITIES, 5e-4, id="velocities"), pytest.param(ALPHA, 5e-4, id="alpha"),
]  # fmt: skip
#: of two rotors, and the torque on the first one
J1, J2, TAU = 1e-3, 4e-3, 0.5


def run(model: Model, scheme: Any, t_end: float) -> Trajectory:
    stepper, dt = scheme
    found = simulate(model.build(), stepper, t_end=t_end, dt=dt)
    assert found.status == "finished"
    return found


def rotors(element: Any, *more: Any, space: bool = False) -> Model:
    """A motor and a load on one axis, in the plane or in space about an axis nowhere special."""
    model = Model([Ground()], silence=["no-gravity"])
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    for name, J in (("motor", J1), ("load", J2)):
        if space:
            model.add(SpatialBody(name, mass=1.0, inertia=(J, J, J)))
            model.add(Revolute(f"axis {name}", "ground", name, axis_a=tuple(axis), axis_b=tuple(axis)))
        else:
            model.add(PlanarBody(name, mass=1.0, inertia=J))
            model.add(Revolute(f"axis {name}", "ground", name))
    model.add(Torque("drive", "motor", torque=tuple(TAU * axis) if space else TAU))
    for one in (element, *more):
        model.add(one)
    return model


def speed(of: Trajectory, body: str, space: bool = False) -> Any:
    return 3.0 * of.v[f"{body}.wx"] if space else of.v[f"{body}.angle"]


@pytest.mark.parametrize(("scheme", "close"), SCHEMES)
@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
def test_backlash_of_a_shaft(space: bool, scheme: Any, close: float) -> None:
    """The motor crosses half of the play, at sqrt(2 beta J/tau); then both turn at the momentum's mean velocity."""
    beta = 0.04
    axis = {"axis_a": (1.0, 2.0, 2.0)} if space else {}
    play = Play("play", "motor", "load", play=beta, radius=0.05, contact=PLASTIC, **axis)
    found = run(rotors(play, space=space), scheme, 0.05)
    first = math.sqrt(2 * beta * J1 / TAU)
    assert first == pytest.approx(12.6491e-3, rel=1e-5)
    assert found.impacts["t"][0] == pytest.approx(first, abs=close / 20 if close > 1e-10 else close)
    # momentum tau t belongs to both: 5 rad/s at 50 ms, to the round-off of the steps
    assert speed(found, "motor", space)[-1] == pytest.approx(5.0, abs=1e-10)
    assert speed(found, "load", space)[-1] == pytest.approx(5.0, abs=1e-10)
    assert found.lam_N["play.low"][-1] * 0.05 == pytest.approx(TAU * J2 / (J1 + J2), rel=1e-9)


def test_restitution_in_the_play_of_a_shaft_and_the_default_call() -> None:
    beta, e = 0.02, 0.6
    play = Play("play", "motor", "load", play=beta, radius=0.05, contact=Rigid(restitution=e, friction=0.0))
    model = rotors(play)
    found = run(model, EVENTS, 0.02)
    w = TAU / J1 * math.sqrt(2 * beta * J1 / TAU)
    k = int(np.searchsorted(found.t, found.impacts["t"][0]))
    assert found.v["motor.angle"][k] == pytest.approx((J1 - e * J2) / (J1 + J2) * w, abs=1e-10)
    assert found.v["load.angle"][k] == pytest.approx((1 + e) * J1 / (J1 + J2) * w, abs=1e-10)
    assert simulate(model.build(), t_end=0.02).verdict.kind == "accurate"


SCREW = {"axis_a": (1.0, 2.0, 2.0), "pitch": 0.02 * math.pi}


def spindle(thread: Any) -> Model:
    """A screw of 1e-3 kg m^2 turned by a torque, and a nut of 10 kg that slides along it: 1e-3 kg m^2 at the screw."""
    axis = np.array(SCREW["axis_a"]) / 3.0
    screw, nut = (
        SpatialBody("screw", mass=1.0, inertia=(J1, J1, J1)),
        SpatialBody("nut", mass=10.0, inertia=(J2, J2, J2)),
    )
    model = Model([Ground(), screw, nut, thread], silence=["no-gravity"])
    model.add(Revolute("bearing", "ground", "screw", axis_a=tuple(axis), axis_b=tuple(axis)))
    model.add(Prismatic("guide", "ground", "nut", axis_a=tuple(axis)))
    model.add(Torque("motor", "screw", torque=tuple(TAU * axis)))
    return model


@pytest.mark.parametrize(("scheme", "close"), SCHEMES)
def test_a_thread_with_axial_play(scheme: Any, close: float) -> None:
    """The screw turns alone by half of the play, j / (2 h) = .02; then both have its momentum, over several turns."""
    found = run(spindle(ThreadBacklash("thread", "screw", "nut", backlash=4e-4, contact=PLASTIC, **SCREW)), scheme, 0.4)
    first = math.sqrt(2 * 0.02 * J1 / TAU)
    assert found.impacts["t"][0] == pytest.approx(first, abs=close / 20 if close > 1e-10 else close)
    w = TAU * 0.4 / (J1 + 10.0 * 0.01**2)
    assert speed(found, "screw", space=True)[-1] == pytest.approx(w, rel=1e-10)
    assert 3.0 * found.v["nut.x"][-1] == pytest.approx(-0.01 * w, rel=1e-10)
    turned = 0.02 + TAU * (0.4**2 - first**2) / 2 / (J1 + 1e-3)
    assert turned > 3 * 2 * math.pi
    assert 3.0 * found.q["nut.x"][-1] == pytest.approx(2e-4 - 0.01 * turned, rel=1e-10 if scheme is EVENTS else 5e-4)


def test_a_thread_and_a_cylindrical_joint_are_a_screw() -> None:
    thread = ThreadBacklash("thread", "screw", "nut", backlash=4e-4, contact=PLASTIC, **SCREW)
    ideal = thread.ideal()
    assert isinstance(ideal, Thread) and ideal.pitch == thread.pitch
    found = run(spindle(ideal), EVENTS, 0.1)
    assert speed(found, "screw", space=True)[-1] == pytest.approx(TAU * 0.1 / (J1 + 1e-3), rel=1e-10)
    with pytest.raises(ModelError, match="more than twice as long as the backlash"):
        spindle(ThreadBacklash("thread", "screw", "nut", backlash=0.04, contact=PLASTIC, **SCREW)).build()


def gears(mesh: Any, **first: Any) -> Model:
    """A pinion of 10 mm and a wheel of 100 mm, driven by a torque at the pinion unless it turns freely."""
    spin = first.get("angular_velocity", 0.0)
    pinion = PlanarBody("pinion", mass=1.0, inertia=1e-3, **first)
    wheel = PlanarBody("wheel", mass=1.0, inertia=0.1, position=(0.11, 0.0), angular_velocity=-spin / 10)
    model = Model([Ground(), pinion, wheel, mesh], silence=["no-gravity"])
    model.add(Revolute("first", "ground", pinion))
    model.add(Revolute("second", "ground", wheel, at_a=(0.11, 0.0)))
    if not spin:
        model.add(Torque("motor", pinion, torque=TAU))
    return model


RADII = {"radius_a": 0.01, "radius_b": 0.1}


@pytest.mark.parametrize(("scheme", "close"), SCHEMES)
def test_gears_with_backlash(scheme: Any, close: float) -> None:
    """12.5 and -1.25 rad/s at 50 ms by momentum in the coordinate of the teeth, and tau / (J_1 + n^2 J_2) after it."""
    mesh = GearBacklash("gears", "pinion", "wheel", backlash=2e-4, contact=PLASTIC, **RADII)
    found = run(gears(mesh), scheme, 0.05)
    assert found.v["pinion.angle"][-1] == pytest.approx(12.5, abs=1e-10)
    assert found.v["wheel.angle"][-1] == pytest.approx(-1.25, abs=1e-11)
    late = found.t > 0.03
    slope = np.polyfit(found.t[late], found.v["pinion.angle"][late], 1)[0]
    assert slope == pytest.approx(TAU / (1e-3 + 0.1 / 100), rel=1e-9)
    assert found.impacts["t"][0] == pytest.approx(math.sqrt(2 * 0.01 * 1e-3 / TAU), abs=close / 20)


def test_gears_and_racks_without_their_backlash() -> None:
    loose = gears(GearBacklash("gears", "pinion", "wheel", backlash=2e-4, contact=PLASTIC, **RADII))
    loose.add(PlanarBody("rack", mass=1.0, inertia=0.1, position=(0.0, -0.01)))
    loose.add(RackBacklash("rack teeth", "rack", "pinion", backlash=1e-4, radius=0.01, contact=PLASTIC))
    ideal = loose.ideal().build(assemble=True)
    assert [type(one) for one in ideal.elements if " " in one.name or one.name == "gears"] == [GearPair, RackPinion]
    assert ideal.nc == 0
    assert ideal.parameters["gears.radius_b"] == pytest.approx(0.1, rel=1e-12)


def test_elastic_teeth() -> None:
    """13.72899 rad/s, by an integration of both angles with DOP853 in steps of 5 us, relative tolerance 1e-11."""
    law = Compliant(KelvinVoigt(stiffness=1e7, damping=0.0))
    mesh = GearBacklash("gears", "pinion", "wheel", backlash=2e-4, contact=law, **RADII)
    found = run(gears(mesh), (CompliantDae(), ErrorControl(1e-10, 1e-14, 1e-9, 1e-3)), 0.05)
    assert found.v["pinion.angle"][-1] == pytest.approx(13.728990936, abs=1e-7)
    assert found.v["wheel.angle"][-1] == pytest.approx(-1.1271009064, abs=1e-8)


@pytest.mark.parametrize("scheme", [EVENTS, (GaussQP(), Landing(1e-6, 1e-3)), (MoreauJean(), 1e-3)])
def test_a_hundred_turns_of_gears_without_drift(scheme: Any) -> None:
    spin = 2 * math.pi * 100
    found = run(gears(GearPair("gears", "pinion", "wheel", **RADII), angular_velocity=spin), scheme, 1.0)
    assert found.q["pinion.angle"][-1] == pytest.approx(spin, abs=1e-10)
    assert found.q["pinion.angle"] / 10 + found.q["wheel.angle"] == pytest.approx(0.0, abs=1e-10)


def test_bearings_of_gears_receive_the_force_of_the_teeth() -> None:
    """Half of the torque accelerates the wheel: 25 N at the pitch circles, up on the wheel, down on the pinion."""
    found = run(gears(GearPair("gears", "pinion", "wheel", **RADII)), EVENTS, 0.01)
    assert found.reaction["gears.torque"][-1] == pytest.approx(-2.5, abs=1e-9)
    assert found.reaction["gears.y"][-1] == pytest.approx(25.0, abs=1e-7)
    assert found.reaction["first.y"][-1] == pytest.approx(25.0, abs=1e-7)
    assert found.reaction["second.y"][-1] == pytest.approx(-25.0, abs=1e-7)


@pytest.mark.parametrize(("scheme", "close"), [(EVENTS, 1e-8), (GAUSS, 1e-3), (VELOCITIES, 1e-4)])
def test_a_planetary_gear(scheme: Any, close: float) -> None:
    """Ring R = r_s + 2 r_p in the ground, planet on an arm, sun: the arm's speed w makes w (1 - R/r_p) and
    w (1 + R/r_s), whatever turn the line of centres is at; `close` is what integration of the circle leaves."""
    sun, planet, w, t_end = 0.03, 0.02, 20 * math.pi, 0.35
    ring, distance = sun + 2 * planet, sun + planet
    of_planet, of_sun = w * (1 - ring / planet), w * (1 + ring / sun)
    model = Model([Ground(), PlanarBody("arm", mass=1.0, inertia=1e-3, angular_velocity=w)], silence=["no-gravity"])
    model.add(PlanarBody("sun", mass=0.3, inertia=1e-4, angular_velocity=of_sun))
    model.add(
        PlanarBody(
            "planet", mass=0.3, inertia=1e-4, position=(distance, 0.0), velocity=(0.0, w * distance),
            angular_velocity=of_planet,
        )
    )  # fmt: skip
    model.add(Revolute("main", "ground", "arm"))
    model.add(Revolute("middle", "ground", "sun"))
    model.add(Revolute("axle", "arm", "planet", at_a=(distance, 0.0)))
    model.add(GearPair("outer", "ground", "planet", radius_a=ring, radius_b=planet, internal=True))
    model.add(GearPair("inner", "sun", "planet", radius_a=sun, radius_b=planet))
    found = run(model, scheme, t_end)
    for name, rate in (("arm", w), ("sun", of_sun), ("planet", of_planet)):
        assert found.q[f"{name}.angle"][-1] == pytest.approx(rate * t_end, abs=close)
    assert found.certificate.joint_violation < 1e-12


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt(crossed: bool) -> None:
    """The second pulley turns by r_a/r_b, in the direction of the first unless crossed; inertia J_a + n^2 J_b."""
    model = rotors(Belt("belt", "motor", "load", radius_a=0.05, radius_b=0.02, crossed=crossed))
    moved = [one for one in model.elements if one.name not in ("load", "axis load")]
    model = Model(moved, silence=["no-gravity"])
    model.add(PlanarBody("load", mass=1.0, inertia=J2, position=(0.3, 0.0)))
    model.add(Revolute("axis load", "ground", "load", at_a=(0.3, 0.0)))
    found = run(model, EVENTS, 1.0)
    n = -2.5 if crossed else 2.5
    assert found.v["motor.angle"][-1] == pytest.approx(TAU / (J1 + n**2 * J2), abs=1e-10)
    assert found.q["load.angle"] == pytest.approx(n * found.q["motor.angle"], abs=1e-10)


@pytest.mark.parametrize("backlash", [0.0, 1e-3])
def test_a_rack_falls_past_its_pinion(backlash: float) -> None:
    """A rack of mass m on a pinion J: acceleration m g / (m + J / r^2), after it has fallen through half the backlash,
    where momentum m v is shared with J / r^2."""
    m, J, r, g, t_end = 2.0, 1e-3, 0.02, 9.81, 0.5
    rack = {"radius": r, "direction": math.pi / 2, "at_a": (0.0, 0.2), "at_b": (0.0, 0.0)}
    model = Model([Ground(), Gravity(acceleration=(0.0, -g)), PlanarBody("rack", mass=m, inertia=0.1)])
    model.add(PlanarBody("pinion", mass=0.5, inertia=J, position=(-r, 0.2)))
    model.add(Prismatic("guide", "ground", "rack", direction=math.pi / 2))
    model.add(Revolute("axle", "ground", "pinion", at_a=(-r, 0.2)))
    if backlash:
        model.add(RackBacklash("mesh", "rack", "pinion", backlash=backlash, contact=PLASTIC, **rack))
    else:
        model.add(RackPinion("mesh", "rack", "pinion", **rack))
    found = run(model, EVENTS, t_end)
    share, free = m / (m + J / r**2), math.sqrt(backlash / g)
    speed = share * g * (free + t_end - free)
    assert found.v["rack.y"][-1] == pytest.approx(-speed, abs=1e-10)
    # the rack is to the right of the pinion, which it turns clockwise as it falls
    assert found.v["pinion.angle"][-1] == pytest.approx(-speed / r, abs=1e-8)


def hoist(space: bool) -> Model:
    """A block of 1 kg on a table, pulled by a hanging weight of 1 kg over a pulley, with a stop after 0.5 m."""

    def at(*place: float) -> tuple[float, ...]:
        return (*place, 0.0) if space else place

    model = Model([Ground(), Gravity(acceleration=at(0.0, -9.81))])
    sliding: list[dict[str, Any]] = [{"direction": 0.0}, {"direction": math.pi / 2}]
    axis: dict[str, Any] = {}
    if space:
        sliding, axis = [{"axis_a": (1.0, 0.0, 0.0)}, {"axis_a": (0.0, 1.0, 0.0)}], {"axis_a": (2.0, 0.0, 0.0)}
    for name, place in (("block", at(0.0, 0.0)), ("weight", at(1.0, -0.5))):
        inertia = (1e-3,) * 3 if space else 1e-3
        model.add((SpatialBody if space else PlanarBody)(name, mass=1.0, inertia=inertia, position=place))
    model.add(Prismatic("table", "ground", "block", **sliding[0]))
    model.add(Prismatic("shaft", "ground", "weight", at_a=at(1.0, 0.0), **sliding[1]))
    via = {"via_a": at(1.0, 0.0), "via_b": at(1.0, 0.0)}
    model.add(Rope("rope", "block", "weight", length=1.5, contact=PLASTIC, **via))
    model.add(Limits("stop", "ground", "block", coordinate="displacement", low=-0.1, high=0.5, contact=PLASTIC, **axis))
    return model


@pytest.mark.parametrize(("scheme", "close"), SCHEMES[:3])
@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
def test_a_rope_over_a_pulley(space: bool, scheme: Any, close: float) -> None:
    """Acceleration g/2: 0.3924 m at 0.4 s. At the stop the taut rope ends the motion of both in one impact."""
    model = hoist(space)
    found = run(model, scheme, 0.4)
    assert found.q["block.x"][-1] == pytest.approx(0.3924, abs=1e-10)
    assert found.lam_N["rope"][-1] == pytest.approx(9.81 / 2, abs=1e-8)
    found = run(model, scheme, 0.6)
    # velocity schemes stop within a step, at 2.2 m/s for 10 us
    assert found.q["block.x"][-1] == pytest.approx(0.5, abs=max(1e-10, close / 20))
    assert found.q["weight.y"][-1] == pytest.approx(-1.0, abs=max(1e-10, close / 20))
    assert [found.v[name][-1] for name in ("block.x", "weight.y")] == pytest.approx([0.0, 0.0], abs=1e-10)
    assert [found.lam_N[name][-1] for name in ("rope", "stop.high")] == pytest.approx([9.81, 9.81], abs=1e-8)
    assert simulate(model.build(), t_end=0.6).verdict.kind == "accurate"


@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("scheme", [EVENTS, (GaussQP(), Landing(1e-9, 1e-5))])
def test_limits_of_a_pendulum(space: bool, scheme: Any) -> None:
    """From the horizontal to a stop 120 degrees on: J w^2 / 2 = m g l sin(120 deg), and -e w after the impact."""
    m, J, half, e, g = 2.0, 0.03, 0.2, 0.4, 9.81
    limits = {"low": "-120 deg", "high": "10 deg", "radius": 0.1, "contact": Rigid(restitution=e, friction=0.0)}
    if space:
        model = Model([Ground(), Gravity(acceleration=(0.0, -g, 0.0))])
        model.add(SpatialBody("rod", mass=m, inertia=(J, J, J), position=(half, 0.0, 0.0)))
        axes = {"axis_a": (0.0, 0.0, 1.0), "axis_b": (0.0, 0.0, 1.0)}
        model.add(Revolute("pin", "ground", "rod", at_b=(-half, 0.0, 0.0), **axes))
        model.add(Limits("stops", "ground", "rod", axis_a=(0.0, 0.0, 3.0), **limits))
    else:
        model = Model([Ground(), Gravity(acceleration=(0.0, -g))])
        model.add(PlanarBody("rod", mass=m, inertia=J, position=(half, 0.0)))
        model.add(Revolute("pin", "ground", "rod", at_b=(-half, 0.0)))
        model.add(Limits("stops", "ground", "rod", **limits))
    found = run(model, scheme, 0.6)
    w = math.sqrt(2 * m * g * half * math.sin(2 * math.pi / 3) / (J + m * half**2))
    first = found.impacts[0]
    assert first["contact"] == "stops.low"
    # implicit Euler in steps of 10 us: half a step times the acceleration, relative to w
    close = 1e-9 if scheme is EVENTS else 2e-4
    assert first["gamma_minus"] / 0.1 == pytest.approx(-w, rel=close)
    assert first["gamma_plus"] / 0.1 == pytest.approx(e * w, rel=close)
    assert found.gap["stops.low"].min() > -1e-12


def test_stops_beyond_a_turn() -> None:
    """A rotor that is stopped after 2.5 turns, which the plane counts."""
    stop = Limits("stop", "ground", "motor", low=0.0, high="2.5 rev", radius=0.1, contact=PLASTIC)
    found = run(rotors(stop), EVENTS, 0.5)
    assert found.q["motor.angle"][-1] == pytest.approx(5 * math.pi, abs=1e-12)
    assert found.impacts["t"][0] == pytest.approx(math.sqrt(2 * 5 * math.pi * J1 / TAU), abs=1e-12)


@pytest.mark.parametrize(("scheme", "close"), SCHEMES)
def test_beside_a_contact_with_friction(scheme: Any, close: float) -> None:
    """A disc slides while a motor turns its load through a play: rows without slip beside rows with friction."""
    rough = Rigid(restitution=0.0, friction=0.3)
    disc = PlanarBody("disc", mass=1.0, inertia=0.005, position=(0.0, 0.1), velocity=(1.0, 0.0))
    floor = CirclePlane("floor", "ground", disc, radius=0.1, contact=rough)
    play = Play("play", "motor", "load", play=0.04, radius=0.05, contact=PLASTIC)
    found = run(rotors(play, disc, floor, Gravity(acceleration=(0.0, -9.81))), scheme, 0.05)
    assert found.v["disc.x"][-1] == pytest.approx(1.0 - 0.3 * 9.81 * 0.05, abs=1e-10)
    assert speed(found, "motor")[-1] == pytest.approx(5.0, abs=1e-10)


def test_angles_of_flexible_bodies() -> None:
    """A beam that turns in a bearing, geared to a wheel: the speeds of its own frame's node, and energy."""
    rod = beam(
        (0, 0, 0), (0.3, 0, 0), section=Rectangle(8e-3, 8e-3), material=Material(2.1e11, 8e10, 7850.0), elements=4,
        names={"pin": 0, "tip": 1},
    )  # fmt: skip
    body = PlanarFlexibleBody("rod", modes=modes(rod, interface=["pin"], keep=2, damping=0.0))
    wheel = PlanarBody("wheel", mass=1.0, inertia=1e-3, position=(0.0, 0.11))
    model = Model([Ground(), body, wheel, Gravity(acceleration=(0.0, -9.81))])
    model.add(Revolute("bearing", "ground", "rod.pin"))
    model.add(Revolute("axle", "ground", wheel, at_a=(0.0, 0.11)))
    mesh = {"radius_a": 0.1, "radius_b": 0.01, "direction": math.pi / 2}
    model.add(GearPair("gears", "rod.pin", wheel, **mesh))
    model.add(Limits("stop", "ground", "rod.pin", low=-2.0, high=1.0, radius=0.05, contact=PLASTIC))
    found = simulate(model.build(assemble=True), EventDriven(), t_end=0.3, dt=ErrorControl(1e-8, 1e-10, 1e-8, 1e-2))
    energy = found.energy["kinetic"] + found.energy["potential"]
    assert abs(found.v["wheel.angle"][-1]) > 5.0
    assert np.ptp(energy) < 1e-5 * np.ptp(found.energy["kinetic"])
    assert found.certificate.joint_violation < 1e-12


WIDE = {"at_a": (0.3, -0.2, 0.1), "at_b": (-0.1, 0.4, 0.2), "contact": PLASTIC}
SPATIAL = [
    Limits("it", "first", "second", low=-3.0, high=3.0, radius=0.4, axis_a=(1.0, 2.0, 2.0), contact=PLASTIC),
    Play("it", "first", "second", play=9.0, coordinate="displacement", axis_a=(1.0, 2.0, 2.0), **WIDE),
    Rope("it", "first", "second", via_a=(0.0, 3.0, 0.0), via_b=(1.0, 3.0, 0.0), length=20.0, **WIDE),
]


@pytest.mark.parametrize("element", SPATIAL, ids=lambda one: type(one).__name__)
def test_directions_in_space(element: Any) -> None:
    """Rates of gaps and their changes are derivatives along the motion; moving both bodies alike changes no coordinate.
    Half a width of 1e-5 leaves its square times third derivatives, and 1e-15 / 1e-5 of round-off."""
    bodies = [SpatialBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1)) for name in ("first", "second")]
    system = Model([Ground(), *bodies, element], silence=["no-gravity"]).build()
    n, p, random, h = system.numeric, system.parameter_values, np.random.default_rng(3), 1e-5
    for _ in range(5):
        q, v = random.normal(size=system.nq), random.normal(size=system.nv)
        for k in (3, 10):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        ahead, behind = n.advance(q, v, h)[0], n.advance(q, v, -h)[0]
        rate = (n.g_N(ahead, p)[0] - n.g_N(behind, p)[0]) / (2 * h)
        assert n.W_N(q, p)[0].T @ v == pytest.approx(rate, abs=1e-7)
        change = (n.W_N(ahead, p)[0] - n.W_N(behind, p)[0]).T @ v / (2 * h)
        assert n.bias(0.0, q, v, p)[0][: len(rate)] == pytest.approx(change, abs=1e-7)
        if not isinstance(element, Rope):  # whose pulleys stay
            omega, alike = random.normal(size=3), np.zeros(system.nv)
            for k in (0, 1):
                at = q[7 * k : 7 * k + 7]
                alike[6 * k : 6 * k + 3] = 0.7 + np.cross(omega, at[:3])
                alike[6 * k + 3 : 6 * k + 6] = Rotation.from_quat(at[3:], scalar_first=True).inv().apply(omega)
            assert n.W_N(q, p)[0].T @ alike == pytest.approx(0.0, abs=1e-12)


STOP = {"low": 0.0, "high": 1.0, "radius": 0.1, "contact": PLASTIC}
WRONG = [
    (lambda: Limits("x", "a", "b", **{**STOP, "high": 0.0}), "low must be below high, got 0 and 0"),
    (lambda: Limits("x", "a", "b", **{**STOP, "radius": None}), "give the radius"),
    (lambda: Limits("x", "a", "b", coordinate="displacement", **STOP), "radius is for an angle"),
    (lambda: Limits("x", "a", "b", coordinate="turn", **STOP), 'must be "angle" or "displacement", got \'turn\''),
    (lambda: Limits("x", "a", "b", axis_a=(0, 0, 1), **{**STOP, "high": 6.3}), "below a full turn"),
    (lambda: Limits("x", "a", "b", quaternion=(1, 0, 0, 0), **STOP), "quaternion is for an angle about axis_a"),
    (lambda: Limits("x", "a", "b", **{**STOP, "high": "1 m"}), "of another dimension than rad"),
    (lambda: Play("x", "a", "b", play=-0.1, radius=0.1, contact=PLASTIC), "play must be"),
    (lambda: Limits("x", "a", "b", **{**STOP, "contact": Rigid(restitution=0.0, friction=0.1)}), "nothing slides here"),
    (
        lambda: Limits(
            "x", "a", "b",
            **{
                **STOP,
                "contact": Compliant(
                    KelvinVoigt(stiffness=1e7, damping=0.0), RegularisedCoulomb(friction=0.1, slip_speed=1e-3)
                ),
            },
        ),
        "nothing slides here",
    ),
    (lambda: GearPair("x", "a", "b", radius_a=0.1, radius_b=0.1, internal=True), "must have different radii"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "sentence"), WRONG)
def test_what_is_wrong_is_said(make: Any, sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    assert sentence in str(caught.value)


def test_friction_cannot_be_given_later() -> None:
    system = rotors(Play("play", "motor", "load", play=0.04, radius=0.05, contact=PLASTIC)).build()
    with pytest.raises(ModelError, match="nothing slides here"):
        simulate(system, EventDriven(), t_end=0.01, dt=FINE, parameters={"play.friction": 0.1})
