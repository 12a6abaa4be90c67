"""Dry friction of joint coordinates: stops, sticking and sliding against closed forms, in all schemes."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    JointFriction,
    Landing,
    Load,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    SpatialBody,
    Torque,
    Trajectory,
    simulate,
    simulate_batch,
)
from nonsmooth.derivatives import sensitivities
from nonsmooth.exceptions import ModelError
from nonsmooth.plots import animation

FINE = ErrorControl(1e-11, 1e-13)
#: a step of the schemes of time stepping, and of them those that are of second order in smooth motion
DT = 1e-3
SECOND = {
    "MoreauJean": (MoreauJean(), DT),
    "MoreauJean, midpoint": (MoreauJean(joints="midpoint"), DT),
    "GaussQP, landing": (GaussQP(), Landing(1e-6, DT)),
    "GeneralizedAlpha": (GeneralizedAlpha(), DT),
}
STEPPING = {**SECOND, "GaussQP": (GaussQP(), DT)}
LEVEL = ("no-gravity",)
Z = (0.0, 0.0, 1.0)


def scheme(name):
    return {"EventDriven": (EventDriven(), FINE), **STEPPING}[name]


# ---- a pendulum that stops and stays

#: mass, length, inertia about the centre, gravity, torque of friction, angle at the start
M, L, J, G, BOUND, START = 1.0, 0.5, 0.02, 9.81, 0.6, math.radians(60.0)


def pendulum(**friction):
    rod = PlanarBody(
        "rod", mass=M, inertia=J, position=(L * math.sin(START), -L * math.cos(START)), angle=START - math.pi / 2
    )
    rub = JointFriction("rub", "ground", rod, **{"torque": BOUND, **friction})
    return Model(
        [Ground(), rod, Gravity(acceleration=(0.0, -G)), Revolute("hinge", "ground", rod, at_b=(-L, 0.0)), rub]
    )


def arm(friction, **extra):
    """Two links of 0.3 m, level at the start, in the plane, or in space about z."""
    spatial = "axis_a" in extra
    parts = [Ground(), Gravity(acceleration=(0.0, -G, 0.0) if spatial else (0.0, -G))]
    before = "ground"
    for k, torque in enumerate(friction):
        x, ends = 0.3 * k + 0.15, ((0.15 if k else 0.0, 0.0), (-0.15, 0.0))
        if spatial:
            link = SpatialBody(f"link{k}", mass=1.0, inertia=(0.01, 0.02, 0.02), position=(x, 0.0, 0.0))
            at_a, at_b = ((*end, 0.0) for end in ends)
            hinge = Revolute(f"hinge{k}", before, link, at_a=at_a, at_b=at_b, **extra, axis_b=extra["axis_a"])
        else:
            link = PlanarBody(f"link{k}", mass=1.0, inertia=0.02, position=(x, 0.0))
            hinge = Revolute(f"hinge{k}", before, link, at_a=ends[0], at_b=ends[1])
        parts += [link, hinge, JointFriction(f"rub{k}", before, link, torque=torque, **extra)]
        before = link
    return Model(parts).build()


@pytest.fixture(scope="module")
def stop():
    """Time and angle at which it stops, from half swings integrated one by one."""
    t, angle = 0.0, START
    while abs(M * G * L * math.sin(angle)) > BOUND:
        s = -math.copysign(1.0, angle)
        turns = lambda t, y: y[1]  # noqa: E731
        turns.terminal, turns.direction = True, -s
        rates = lambda t, y, s=s: [y[1], -(M * G * L * math.sin(y[0]) + s * BOUND) / (J + M * L**2)]  # noqa: E731
        swing = solve_ivp(rates, (0.0, 9.0), [angle, 1e-14 * s], "DOP853", events=turns, rtol=1e-13, atol=1e-14)
        t, angle = t + swing.t[-1], swing.y[0, -1]
    return t, angle


def angle_of(run):
    return np.asarray(run.q["rod.angle"]) + math.pi / 2


def test_a_pendulum_stops_and_stays_to_the_last_bit(stop):
    run = simulate(pendulum().build(), EventDriven(), t_end=6.0, dt=FINE)
    rest = run.t > stop[0] + 1e-6
    assert angle_of(run)[-1] == pytest.approx(stop[1], abs=1e-9)
    assert run.t[np.flatnonzero(run.mode["rub"] == 2)[0]] == pytest.approx(stop[0], abs=1e-2)
    assert len(set(angle_of(run)[rest].tolist())) == 1
    assert np.max(np.abs(run.P_T["rub"])[rest] / np.diff(run.t, prepend=0.0)[rest]) < BOUND


def test_the_default_call_is_accurate(stop):
    run = simulate(pendulum().build(), t_end=6.0)
    assert run.verdict.kind == "accurate"
    assert angle_of(run)[-1] == pytest.approx(stop[1], abs=1e-7)


@pytest.mark.parametrize("name", SECOND)
def test_a_pendulum_stops_in_time_stepping(name, stop):
    """The stop is off by less than a step, in which it moves by 1e-5; at rest it keeps its place but for round-off."""
    stepper, dt = scheme(name)
    run = simulate(pendulum().build(), stepper, t_end=6.0, dt=dt)
    assert angle_of(run)[-1] == pytest.approx(stop[1], abs=1e-5)
    rest = angle_of(run)[run.t > stop[0] + 2 * DT]
    assert np.ptp(rest) < 1e-14
    assert run.certificate.motion_residual < 1e-9


def test_energy_goes_into_friction(stop):
    run = simulate(pendulum().build(), EventDriven(), t_end=6.0, dt=FINE)
    lost = M * G * L * (math.cos(stop[1]) - math.cos(START))
    assert run.energy["loss_friction"][-1] == pytest.approx(lost, rel=1e-8)
    assert abs(run.energy["remainder"][-1]) < 1e-9


def test_a_compliant_model_sticks_by_karnopps_law(stop):
    run = simulate(pendulum(stick_rate=1e-5).build(), t_end=6.0)
    assert run.verdict.kind == "accurate"
    assert angle_of(run)[-1] == pytest.approx(stop[1], abs=1e-6)
    assert abs(run.v["rod.angle"][-1]) < 1e-12


def test_derivatives_by_the_torque():
    system, step = pendulum().build(), 1e-5
    run = simulate(system, EventDriven(), t_end=2.0, dt=FINE)
    ends = [
        simulate(system, EventDriven(), t_end=2.0, dt=FINE, parameters={"rub.torque": BOUND + x}).end.q[2]
        for x in (-step, step)
    ]
    assert sensitivities(run, ["rub.torque"]).q[-1, 2, 0] == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-6)


def test_a_run_goes_on_and_is_read_back(tmp_path):
    system, settings = pendulum().build(), {"t_end": 0.5, "dt": DT}
    whole = simulate(system, GaussQP(), **settings)
    with pytest.raises(SimulationFailed) as ended:
        simulate(system, GaussQP(), max_steps=100, **settings)
    rest = simulate(system, GaussQP(), state=ended.value.trajectory.end, **settings)
    assert (rest.end.q == whole.end.q).all() and (rest.end.v == whole.end.v).all()
    whole.save(tmp_path / "run.nc")
    assert (Trajectory.load(tmp_path / "run.nc").P_T["rub"] == whole.P_T["rub"]).all()


def test_it_is_left_out_where_forces_are_drawn(tmp_path):
    """A torque has no point of contact, at which an arrow could begin."""
    run = simulate(arm((3.0, 4.0), axis_a=Z), MoreauJean(), t_end=0.01, dt=DT)
    animation(run, forces=True).save(tmp_path / "arm.gif")
    assert (tmp_path / "arm.gif").read_bytes().startswith(b"GIF")


@pytest.mark.parametrize("name", ["EventDriven", *STEPPING])
def test_a_checkpoint_continues_to_the_last_bit(name, tmp_path):
    """Of an arm in space, whose first hinge turns while the second one sticks."""
    system, (stepper, dt) = arm((3.0, 4.0), axis_a=Z), scheme(name)
    if name == "EventDriven":
        dt = ErrorControl(1e-6, 1e-8, dt_max=1e-2)
    settings = {"t_end": 0.1, "dt": dt}
    whole = simulate(system, stepper, **settings)
    with pytest.raises(SimulationFailed):
        simulate(system, stepper, max_steps=len(whole.t) // 2, checkpoint=tmp_path / "run.nc", **settings)
    resumed = simulate(system, stepper, checkpoint=tmp_path / "run.nc", **settings)
    for column in ("q", "v", "P_N", "P_T"):
        assert (getattr(resumed, column).array == getattr(whole, column).array).all()
    assert set(whole.mode["rub1"][1:].tolist()) == {2} and len(resumed.t) == len(whole.t)


@pytest.mark.parametrize("stepper", [MoreauJean(), GaussQP(), GeneralizedAlpha()], ids=repr)
def test_a_batch_with_scattered_bounds_has_the_bits_of_its_runs(stepper):
    torques = np.linspace(0.4, 4.0, 20)
    for system in (pendulum().build(), arm((1.0, 2.0), axis_a=Z)):
        name = next(one for one in system.parameters if one.endswith("torque"))
        runs = simulate_batch(system, stepper, {name: torques}, t_end=0.3, dt=DT)
        for k in (0, 19):
            single = simulate(system, stepper, t_end=0.3, dt=DT, parameters={name: float(torques[k])})
            assert (runs["q"].values[k] == single.end.q).all()


# ---- a slide and a wheel


@pytest.mark.parametrize("name", ["EventDriven", *STEPPING])
def test_a_slide_stops(name):
    """2 kg at 3 m/s against 5 N: 1.8 m in 1.2 s, exact for all but implicit Euler, which is of first order."""
    stepper, dt = scheme(name)
    v, at = 3.0, (0.3, 0.1)
    along = np.array([math.cos(0.4), math.sin(0.4)])
    block = PlanarBody("block", mass=2.0, inertia=0.1, position=at, velocity=tuple(v * along))
    guide = Prismatic("guide", "ground", block, direction=0.4, at_a=at)
    rub = JointFriction("rub", "ground", block, force=5.0, direction=0.4)
    run = simulate(Model([Ground(), block, guide, rub], silence=LEVEL).build(), stepper, t_end=1.5, dt=dt)
    s = (run.q.array[:, :2] - at) @ along
    assert s[-1] == pytest.approx(1.8, abs=v * DT if name == "GaussQP" else 1e-9)
    assert np.ptp(s[run.t > 1.21]) < 1e-14
    assert run.energy["loss_friction"][-1] == pytest.approx(9.0, rel=1e-9)


def test_a_slide_stops_with_complementarity():
    block = PlanarBody("block", mass=2.0, inertia=0.1, velocity=(3.0, 0.0))
    rub = JointFriction("rub", "ground", block, force=5.0)
    system = Model([Ground(), block, Prismatic("guide", "ground", block), rub], silence=LEVEL).build()
    run = simulate(system, GaussMPCC(), t_end=1.5, dt=Landing(1e-6, 2e-2))
    assert run.q["block.x"][-1] == pytest.approx(1.8, abs=1e-9)


@pytest.mark.parametrize("name", ["EventDriven", *STEPPING])
def test_a_wheel_stops_in_space(name):
    """0.2 kg m^2 at 6 rad/s against 0.6 N m: 6 rad in 2 s, about a tilted axis; time stepping turns by Cayley's map."""
    stepper, dt = scheme(name)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    wheel = SpatialBody("wheel", mass=1.0, inertia=(0.2, 0.2, 0.2), angular_velocity=tuple(6.0 * axis))
    hinge = Revolute("hinge", "ground", wheel, axis_a=tuple(axis), axis_b=tuple(axis))
    rub = JointFriction("rub", "ground", wheel, torque=0.6, axis_a=tuple(3.0 * axis))
    system = Model([Ground(), wheel, hinge, rub], silence=LEVEL).build()
    run = simulate(system, stepper, t_end=2.2, dt=dt)
    w, *vector = run.end.q[3:]
    off = 2.0 * math.atan2(float(np.dot(vector, axis)), w) - 6.0
    assert math.remainder(off, 2 * math.pi) == pytest.approx(0.0, abs=6.0 * DT if name == "GaussQP" else 1e-5)
    if name == "EventDriven":
        assert math.remainder(off, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
        assert np.abs(run.end.v).max() < 1e-30
    assert run.energy["loss_friction"][-1] == pytest.approx(3.6, rel=1e-9)


# ---- two bodies that move, several frictions


def test_two_rotors_take_each_other_along():
    """Inertias 0.1 and 0.2 at 0 and 6 rad/s, 0.3 N m between them: both at 4 rad/s after 4/3 s, and from then on."""
    a = PlanarBody("a", mass=1.0, inertia=0.1)
    b = PlanarBody("b", mass=1.0, inertia=0.2, angular_velocity=6.0)
    bearings = Revolute("first", "ground", a), Revolute("second", a, b)
    system = Model([Ground(), a, b, *bearings, JointFriction("rub", a, b, torque=0.3)], silence=LEVEL).build()
    run = simulate(system, EventDriven(), t_end=2.0, dt=FINE)
    t, left = 4.0 / 3.0, 2.0 - 4.0 / 3.0
    assert run.end.q[[2, 5]] == pytest.approx([1.5 * t**2 + 4.0 * left, 6.0 * t - 0.75 * t**2 + 4.0 * left], abs=1e-9)
    assert run.energy["loss_friction"][-1] == pytest.approx(1.2, rel=1e-9)


@pytest.mark.parametrize("name", ["EventDriven", "MoreauJean", "GaussQP, landing"])
def test_a_one_way_clutch_holds_in_one_direction(name):
    """Friction and a constant torque, together from -drag to what the clutch holds. A motor whose torque 4 N m (1 - t)
    changes sign takes a wheel along until that needs the drag, and both are free from then on."""
    own, wheel, held, drag, torque, t_end = 0.02, 0.05, 6.0, 0.03, 4.0, 2.0
    model = Model([Ground(), Torque("drive", "motor", torque=lambda t: torque * (1 - t))], silence=LEVEL)
    for body, inertia in (("motor", own), ("wheel", wheel)):
        model.add(PlanarBody(body, mass=1.0, inertia=inertia))
        model.add(Revolute(f"{body} hinge", "ground", body))
    model.add(JointFriction("clutch", "motor", "wheel", torque=(held + drag) / 2))
    model.add(Load("one way", "motor", "wheel", torque=lambda t, a, b, p: (held - drag) / 2))
    stepper, dt = scheme(name)
    run = simulate(model.build(), stepper, t_end=t_end, dt=dt)
    opens = 1 + drag * (own + wheel) / (wheel * torque)
    common = torque * (opens - opens**2 / 2) / (own + wheel)
    left = torque * ((t_end - opens) - (t_end**2 - opens**2) / 2) + drag * (t_end - opens)
    right = common + left / own, common - drag * (t_end - opens) / wheel
    error = 1e-9 if name == "EventDriven" else 1e-3  # of time stepping, that of the step in which it opens
    assert run.v.array[-1, [2, 5]] == pytest.approx(right, abs=error * common)


@pytest.mark.parametrize("name", [pytest.param("EventDriven", marks=pytest.mark.slow), *SECOND])
def test_an_arm_in_space_is_one_in_the_plane(name):
    """Three hinges with more frictions than records have places for: the first turns, the second sticks at first, the
    third always. Time steps are off by some 1e-6 m, the second order of 1 ms."""
    friction, (stepper, dt) = (6.0, 2.0, 9.0), scheme(name)
    flat = simulate(arm(friction), EventDriven(), t_end=0.8, dt=FINE)
    modes = [set(flat.mode[f"rub{k}"][1:].tolist()) for k in range(3)]
    assert modes == [{3}, {2, 3}, {2}]
    event_driven = name == "EventDriven"
    run = simulate(arm(friction, axis_a=Z), stepper, t_end=0.8, dt=ErrorControl(1e-8, 1e-10) if event_driven else dt)
    for k in range(3):
        for x in "xy":
            at = flat.q[f"link{k}.{x}"][-1]
            assert run.q[f"link{k}.{x}"][-1] == pytest.approx(at, abs=1e-7 if event_driven else 1e-5)
        assert np.max(np.abs(run.P_T[f"rub{k}"][:, 1])) < 1e-12  # nothing acts where nothing slides
    assert run.energy["loss_friction"][-1] == pytest.approx(flat.energy["loss_friction"][-1], rel=1e-4)
    assert run.certificate.motion_residual < 1e-9


def test_an_arm_in_space_is_held():
    """By bounds above the moments of the weights, 13.2, 5.9 and 1.5 N m."""
    run = simulate(arm((14.0, 6.0, 2.0), axis_a=Z), t_end=1.0)
    assert run.verdict.kind == "accurate" and np.abs(run.end.v).max() < 1e-12


def four_bar(friction):
    """A crank of 0.1 m, a coupler and a rocker, with friction in all four hinges."""
    A, B, C, D = (np.array(one) for one in ((0.0, 0.0), (0.088, 0.048), (0.35, 0.25), (0.3, 0.0)))
    bars, half = [], []
    for name, (one, other) in {"crank": (A, B), "coupler": (B, C), "rocker": (D, C)}.items():
        x, y = other - one
        half.append(math.hypot(x, y) / 2)
        middle = tuple((one + other) / 2)
        bars.append(PlanarBody(name, mass=1.0, inertia=0.01, position=middle, angle=math.atan2(y, x)))
    crank, coupler, rocker = bars
    hinges = [
        Revolute("at_A", "ground", crank, at_b=(-half[0], 0.0)),
        Revolute("at_B", crank, coupler, at_a=(half[0], 0.0), at_b=(-half[1], 0.0)),
        Revolute("at_C", rocker, coupler, at_a=(half[2], 0.0), at_b=(half[1], 0.0)),
        Revolute("at_D", "ground", rocker, at_a=tuple(D), at_b=(-half[2], 0.0)),
    ]
    rubs = [
        JointFriction(f"rub_{hinge.name}", *hinge.body_names(), torque=torque)
        for hinge, torque in zip(hinges, friction, strict=True)
    ]
    return Model([Ground(), *bars, Gravity(acceleration=(0.0, -9.81)), *hinges, *rubs], assemble=True).build()


def test_a_four_bar_linkage_rests_by_friction_in_all_its_hinges():
    """More frictions than bodies, and at rest more than the motion determines, which the verdict states."""
    run = simulate(four_bar((0.3, 0.1, 0.1, 0.1)), t_end=2.0)
    assert run.verdict.kind == "accurate"
    assert "friction of sticking contacts is not unique" in str(run.verdict)
    assert np.max(np.abs(run.end.v)) < 1e-12
    assert abs(run.energy["remainder"][-1]) < 1e-8


# ---- static friction, impacts


def test_static_friction_breaks_away_and_falls():
    """A torque that grows by 0.5 N m/s breaks 0.6 N m at 1.2 s, after which friction falls to 0.4 N m."""
    inertia, low, high, rate = 0.2, 0.4, 0.6, 0.1
    rod = PlanarBody("rod", mass=1.0, inertia=inertia)
    rub = JointFriction("rub", "ground", rod, torque=low, static=high, stribeck_rate=rate)
    push = Torque("push", rod, torque=lambda t: 0.5 * t)
    system = Model([Ground(), rod, Revolute("hinge", "ground", rod), push, rub], silence=LEVEL).build()
    bound = lambda w: low + (high - low) * math.exp(-((w / rate) ** 2))  # noqa: E731
    moves = lambda t, y: [y[1], (0.5 * t - bound(y[1])) / inertia]  # noqa: E731
    reference = solve_ivp(moves, (1.2, 2.0), [0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-15, max_step=1e-2).y[0, -1]
    run = simulate(system, EventDriven(), t_end=2.0, dt=FINE)
    assert run.end.q[2] == pytest.approx(reference, abs=1e-9)
    assert run.t[np.flatnonzero(run.v["rod.angle"] > 1e-9)[0]] == pytest.approx(1.2, abs=1e-3)
    assert np.abs(run.q["rod.angle"][run.t < 1.2]).max() < 1e-30
    stepped = simulate(system, MoreauJean(), t_end=2.0, dt=DT)
    assert stepped.end.q[2] == pytest.approx(reference, abs=1e-5)


@pytest.mark.parametrize("name", ["EventDriven", "MoreauJean", "GaussQP, landing"])
def test_it_has_no_part_in_impacts(name):
    """A lever of 0.5 kg m^2 in 0.4 m, brought down at 3 rad/s by a point on a wall with e = 1, against 1.5 N m: it
    rebounds with the rate that it has, sqrt(9 - 6 x) rad/s after x rad, and stops where it began."""
    stepper, dt = scheme(name)
    lever = PlanarBody("lever", mass=1.0, inertia=0.5, angle=0.5, angular_velocity=-3.0)
    wall = PointPlane("wall", "ground", lever, at_b=(0.4, 0.0), contact=Rigid(restitution=1.0, friction=0.0))
    parts = Ground(), lever, Revolute("hinge", "ground", lever), wall
    run = simulate(
        Model([*parts, JointFriction("rub", "ground", lever, torque=1.5)], silence=LEVEL).build(), stepper, t_end=1.5,
        dt=dt,
    )  # fmt: skip
    assert run.end.q[2] == pytest.approx(1.0, abs=1e-9 if name == "EventDriven" else 3.0 * DT)
    assert np.abs(run.end.v).max() < 1e-12
    if name != "MoreauJean":  # whose steps with an impact have one impulse for both
        assert set(run.impacts["contact"].tolist()) == {"wall"}


# ---- bad input


@pytest.mark.parametrize(("numbers", "said"), [
    ({}, "give either torque"),
    ({"torque": 1.0, "force": 1.0}, "give either torque"),
    ({"torque": -1.0}, "torque must be"),
    ({"torque": 1.0, "static": 2.0}, "give static and stribeck_rate, or neither"),
    ({"torque": 1.0, "static": 0.5, "stribeck_rate": 0.1}, "static friction must be at least the torque"),
    ({"torque": 1.0, "direction": 0.4, "axis_a": (0.0, 0.0, 1.0)}, "direction is for planar models"),
])  # fmt: skip
def test_bad_input_is_one_sentence(numbers, said):
    with pytest.raises(ModelError, match=said):
        JointFriction("rub", "ground", "rod", **numbers)


def test_compliant_models_need_the_rate_below_which_it_sticks():
    from nonsmooth import Compliant
    from nonsmooth.laws import Hertz

    law = Compliant(Hertz(stiffness=1e8))
    with pytest.raises(ModelError, match="give stick_rate"):
        pendulum().with_contact(law)
    assert pendulum(stick_rate=1e-5).with_contact(law).build().compliant
    mixed = pendulum()
    mixed.add(PointPlane("wall", "ground", "rod", at_a=(0.0, -2.0), contact=law))
    with pytest.raises(ModelError, match="give stick_rate"):
        mixed.build()


def test_friction_in_proportion_to_the_force_in_a_joint_is_that_of_a_journal():
    """A wheel of weight W that runs down on a journal of radius r, with a moment W r mu / sqrt(1 + mu^2).

    The journal has climbed its bearing up to where normal and friction force balance the weight; there it stays, and
    the rate falls in proportion to time, by 1e-9."""
    mass, inertia, radius, play, mu, rate = 2.0, 0.05, 0.01, 2e-5, 0.2, 30.0
    climbed = np.arctan(mu)
    centre = (-play * np.sin(climbed), -play * np.cos(climbed))
    wheel = PlanarBody("wheel", mass=mass, inertia=inertia, position=centre, angular_velocity=rate)
    rubs = Rigid(restitution=0.0, friction=mu)
    bearing = RevoluteClearance("bearing", "ground", wheel, clearance=play, radius=radius, contact=rubs)
    system = Model([Ground(), wheel, bearing, Gravity(acceleration=(0.0, -9.81))]).build()
    run = simulate(system, EventDriven(), t_end=1.0, dt=ErrorControl(1e-10, 1e-12))
    moment = mass * 9.81 * radius * mu / np.hypot(1.0, mu)
    assert run.v["wheel.angle"][-1] == pytest.approx(rate - moment / inertia, rel=1e-9)
    assert np.hypot(run.q["wheel.x"][-1], run.q["wheel.y"][-1]) == pytest.approx(play, rel=1e-9)
