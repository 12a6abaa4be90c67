"""Impacts followed along their impulse: closed forms, energy, other laws where they must agree, compliant contact."""

import numpy as np
import pytest
from shared_mechanisms import KANE, kane_loss, kane_pendulum

from nonsmooth import (
    BoxPlane,
    CirclePlane,
    Compliant,
    CompliantDae,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    SpatialBody,
    simulate,
)
from nonsmooth.laws import LankaraniNikravesh, RegularisedCoulomb
from nonsmooth_problems import bouncing_ball, newtons_cradle, slider_rod

COMPILES = pytest.mark.slow  # the texts of impact laws other than Newton's, or of balanced moment arms

LANDING = GaussQP(), Landing(1e-6, 1e-3)
EVENTS = EventDriven(), ErrorControl(1e-10, 1e-12, 1e-6, 1e-2)
SCHEMES = [pytest.param(*LANDING, id="landing"), pytest.param(*EVENTS, id="event-driven")]

#: as good as none; texts with these laws and no friction are not compiled for tests
LEAST = 1e-13
MASS, HALF = 2.0, 0.2
INERTIA = MASS * HALF**2 / 3


def body_of(G, gamma, mu, e, impact="stronge"):
    """A body on a point that has this Delassus matrix and these rates, normal first: its mass is the reciprocal of the
    least eigenvalue, its inertia 1."""
    G = np.asarray(G, float)
    x, y = np.sqrt(np.diag(G) - np.linalg.eigvalsh(G)[0])
    arm = np.array([x, y if G[0, 1] <= 0.0 else -y])
    body = PlanarBody(
        "body", mass=1 / np.linalg.eigvalsh(G)[0], inertia=1.0, position=tuple(-arm), velocity=gamma[::-1]
    )
    law = Rigid(restitution=e, friction=mu, impact=impact)
    return [Ground(), body, PointPlane("tip", "ground", "body", at_b=tuple(arm), contact=law)]


def impulse(G, gamma, mu, e, impact="stronge"):
    _, row = struck(body_of(G, gamma, mu, e, impact), *EVENTS, interpreted=True)
    return np.array([row["P_N"], row["P_T"]])


# --------------------------------------------------------------------------------- one contact, worked out on paper


def piecewise(G, gamma, mu, e, after):
    """Total impulse by Stronge's law if the slip stops in compression: (1, -s mu) before, (1, ratio) after."""
    s = np.sign(gamma[1])
    before = G @ [1.0, -s * mu]
    ratio = {"sticks": -G[0, 1] / G[1, 1], "turns": s * mu}[after]
    mobility = G[0] @ [1.0, ratio]
    P_1 = -gamma[1] / before[1]
    slowed = gamma[0] + before[0] * P_1
    P_2 = -slowed / mobility
    work = (gamma[0] + slowed) / 2 * P_1 + slowed / 2 * P_2
    P_3 = e * np.sqrt(-2 * work / mobility)
    return np.array([P_1 + P_2 + P_3, -s * mu * P_1 + ratio * (P_2 + P_3)])


# Delassus matrix, rates before, mu, what the slip does. In the last, mu |G_NT| > G_NN: sliding drives the contact in.
STOPPED = {
    "sticks": ([[2.0, -0.5], [-0.5, 1.0]], [-2.0, 0.4], 0.6, "sticks"),
    "turns": ([[2.0, -0.8], [-0.8, 1.0]], [-2.0, 0.4], 0.3, "turns"),
    "turns from backward": ([[2.0, 0.8], [0.8, 1.0]], [-2.0, -0.4], 0.3, "turns"),
    "jams": ([[1.0, 0.9], [0.9, 1.0]], [-1.0, 1.0], 1.5, "sticks"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_slip_that_stops_in_compression(name):
    G, gamma, mu, after = STOPPED[name]
    for e in (0.0, 0.5, 1.0):
        expected = piecewise(np.array(G), gamma, mu, e, after)
        assert impulse(G, gamma, mu, e) == pytest.approx(expected, rel=1e-12)


def test_slip_that_lasts_has_one_mobility():
    """Newton's, Poisson's and Stronge's impulse are one."""
    G, gamma, mu, e = np.array([[2.0, 0.5], [0.5, 1.0]]), [-2.0, 9.0], 0.2, 0.7
    P_N = (1 + e) * 2.0 / (G[0] @ [1.0, -mu])
    for impact in ("newton", "poisson", "routh", "stronge"):
        assert impulse(G, gamma, mu, e, impact) == pytest.approx((P_N, -mu * P_N), rel=1e-13)


def test_every_impact_loses_energy():
    """Random contacts: round-off only, and no more than Stronge's share of what compression took."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        root = rng.normal(size=(2, 2))
        G, gamma = root @ root.T + 1e-2 * np.eye(2), np.array([-rng.uniform(0.1, 3.0), rng.normal()])
        mu, e = rng.uniform(0.0, 2.0), rng.uniform(0.0, 1.0)
        P = impulse(G, gamma, mu, e)
        assert P @ (gamma + G @ P / 2) <= 1e-10 * gamma @ np.linalg.solve(G, gamma)
        assert abs(P[1]) <= mu * P[0] * (1 + 1e-12)


# ------------------------------------------------------------------------------------------------- through the steppers


def struck(model, stepper, dt, **how):
    """The impact that a start with a closed, approaching contact begins with."""
    trajectory = simulate(Model(model).build(), stepper, t_end=1e-4, dt=dt, **how)
    (row,) = trajectory.impacts[trajectory.impacts["t"] == 0.0]
    assert trajectory.certificate.complementarity <= 1e-12
    return trajectory, row


def disc(impact, slip, mu, e):
    """A disc on the floor, falling at 2 m/s, whose lowest point slips."""
    radius = 0.1
    floor = CirclePlane(
        "floor", "ground", "disc", radius=radius, contact=Rigid(restitution=e, friction=mu, impact=impact)
    )
    body = PlanarBody(
        "disc", mass=MASS, inertia=0.5 * MASS * radius**2, position=(0.0, radius), velocity=(0.2, -2.0),
        angular_velocity=(slip - 0.2) / radius,
    )  # fmt: skip
    return [Ground(), body, floor]


def rod(impact, angle, gamma, mu, e):
    """A slender rod whose lower left end is on the floor, without spin; and its Delassus matrix."""
    arm = -HALF * np.array([np.cos(angle), np.sin(angle)])
    body = PlanarBody(
        "rod", mass=MASS, inertia=INERTIA, position=tuple(-arm), angle=angle, velocity=(gamma[1], gamma[0])
    )
    tip = PointPlane(
        "tip", "ground", "rod", at_b=(-HALF, 0.0), contact=Rigid(restitution=e, friction=mu, impact=impact)
    )
    x, y = arm
    G = np.array([[1 / MASS + x * x / INERTIA, -x * y / INERTIA], [-x * y / INERTIA, 1 / MASS + y * y / INERTIA]])
    return [Ground(), body, tip], G


@COMPILES
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
@pytest.mark.parametrize("impact", ["stronge", "routh"])
@pytest.mark.parametrize(("slip", "mu"), [(9.0, 0.2), (-9.0, 0.2), (1.5, 0.2), (0.7, 0.2), (0.0, 0.2)])
def test_an_oblique_fall_of_a_disc(stepper, dt, slip, mu, impact):
    """All laws are one: P_N = (1 + e) m |gamma_N|, and P_T stops the slip, G_TT = 3/m, or is mu P_N."""
    e = 0.5
    P_N = (1 + e) * MASS * 2.0
    P_T = float(np.clip(-slip * MASS / 3.0, -mu * P_N, mu * P_N))
    _, row = struck(disc(impact, slip, mu, e), stepper, dt)
    assert (row["P_N"], row["P_T"]) == pytest.approx((P_N, P_T), rel=1e-12, abs=1e-13)


@COMPILES
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
@pytest.mark.parametrize(
    ("angle", "gamma_N", "gamma_T", "mu", "after"), [(0.6, -1.0, 0.3, 0.1, "turns"), (0.9, -2.0, 1.5, 1.2, "sticks")]
)
def test_a_rod_strikes_at_an_angle(stepper, dt, angle, gamma_N, gamma_T, mu, after):
    model, G = rod("stronge", angle, np.array([gamma_N, gamma_T]), mu, 0.6)
    _, row = struck(model, stepper, dt)
    expected = piecewise(G, (gamma_N, gamma_T), mu, 0.6, after)
    assert (row["P_N"], row["P_T"]) == pytest.approx(tuple(expected), rel=1e-11)
    assert row["gamma_plus"] == pytest.approx((np.array([gamma_N, gamma_T]) + G @ expected)[0], rel=1e-11)


@COMPILES
def test_the_rod_against_a_stiff_floor():
    """Its slip turns. Elastic contact, e = 1, and slip speeds of friction far below those of the impact.

    The floor's impulse tends to Stronge's with the stiffness and the slip speed; Newton's and Poisson's are 6 % away.
    """
    angle, gamma, mu = 0.6, np.array([-1.0, 0.3]), 0.1
    model, _ = rod("stronge", angle, gamma, mu, 1.0)
    *rest, tip = model
    soft = Compliant(
        LankaraniNikravesh(stiffness=1e12, restitution=1.0), RegularisedCoulomb(friction=mu, slip_speed=1e-4)
    )
    floor = PointPlane("tip", "ground", "rod", at_b=tip.at_b, contact=soft)
    control = ErrorControl(1e-9, 1e-13, 1e-9, 1e-4)
    run = simulate(Model([*rest, floor]).build(), CompliantDae(solver=Dop853()), t_end=5e-4, dt=control)
    P = np.array([run.P_N["tip"].sum(), run.P_T["tip"].sum()])
    error = {}
    for impact in ("newton", "poisson", "routh", "stronge"):
        _, row = struck(rod(impact, angle, gamma, mu, 1.0)[0], *EVENTS)
        error[impact] = np.max(np.abs(P - [row["P_N"], row["P_T"]])) / P[0]
    assert error["stronge"] <= 1e-4  # of the stiffness
    assert error["routh"] > 5e-3 and min(error["newton"], error["poisson"]) > 0.05


@COMPILES
def test_no_impact_of_kanes_pendulum_gains_energy():
    for scheme in (EVENTS, LANDING):
        loss, start = kane_loss(kane_pendulum("stronge").build(), *scheme, *KANE)
        assert 0.0 < loss < start
    rng, system = np.random.default_rng(4), kane_pendulum("stronge").build()
    for _ in range(100):
        angles, rates = rng.uniform(-1.5, 1.5, 2), rng.uniform(-2.0, 2.0, 2)
        rates *= -np.sign(np.sin(angles) @ rates)  # the tip falls
        loss, start = kane_loss(system, *EVENTS, angles, rates, rng.uniform(0.0, 1.5), rng.uniform(0.0, 1.0))
        assert loss >= -1e-12 * start  # round-off of the energies


@COMPILES
@pytest.mark.parametrize(("stepper", "dt"), [*SCHEMES, pytest.param(GaussMPCC(), Landing(1e-6, 1e-2), id="mpcc")])
def test_without_friction_a_single_contact_obeys_newton(stepper, dt):
    runs = []
    for impact in ("newton", "stronge"):
        law = Rigid(restitution=0.6, friction=LEAST, impact=impact)
        runs.append(simulate(bouncing_ball(contact=law).build(), stepper, t_end=0.8, dt=dt))
    assert len(runs[0].impacts) == len(runs[1].impacts) >= 1
    assert runs[1].v.array[-1] == pytest.approx(runs[0].v.array[-1], rel=1e-9)


@COMPILES
@pytest.mark.parametrize("impact", ["routh", "stronge"])
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_a_slow_impact_of_a_fast_body(stepper, dt, impact):
    """Down an incline at 1000 m/s it approaches with 1e-6 m/s: the round-off of its velocity is 1e-7 of that."""
    law = Rigid(restitution=0.5, friction=LEAST, impact=impact)
    along, normal = np.array([1.0, 1.0]) / np.sqrt(2), np.array([-1.0, 1.0]) / np.sqrt(2)
    ball = PlanarBody("ball", MASS, 0.01, position=tuple(0.1 * normal), velocity=tuple(1e3 * along - 1e-6 * normal))
    floor = CirclePlane("floor", "ground", ball, radius=0.1, direction=np.pi / 4, contact=law)
    run = simulate(Model([Ground(), ball, floor]).build(), stepper, t_end=1e-6, dt=dt)
    assert run.v.array[0, :2] @ normal == pytest.approx(5e-7, abs=5e-12)  # some ten units of round-off of 1000 m/s


# --------------------------------------------------------------------------------------------------- several contacts


@COMPILES
@pytest.mark.parametrize("impact", ["newton", "poisson", "routh", "stronge"])
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_a_block_lands_flat(stepper, dt, impact):
    """By all laws the block rises upright: friction of its corners is not unique, and has nothing to do. With slip that
    outlasts the impact Newton's law does not turn it, and it loses mu times what it gains upwards."""
    law = Rigid(restitution=0.5, friction=0.2, impact=impact)
    corners = [
        PointPlane(name, "ground", "block", at_b=(x, -0.1), contact=law) for name, x in (("a", -0.2), ("b", 0.2))
    ]
    block = PlanarBody("block", mass=MASS, inertia=INERTIA, position=(0.0, 0.1), velocity=(0.0, -2.0))
    system = Model([Ground(), block, *corners]).build()
    run = simulate(system, stepper, t_end=1e-4, dt=dt)
    assert run.v.array[0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)
    if impact == "newton":
        run = simulate(system, stepper, t_end=1e-4, dt=dt, state=system.state(velocities={"block.x": 1.0}))
        assert run.v.array[0] == pytest.approx([0.4, 1.0, 0.0], abs=1e-12)


@COMPILES
@pytest.mark.parametrize("impact", ["newton", "poisson"])
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_a_box_lands_flat(stepper, dt, impact):
    """On four corners, of which three would do."""
    law = Rigid(restitution=0.5, friction=0.2, impact=impact)
    floor = BoxPlane("floor", "ground", "box", edges=(0.4, 0.3, 0.2), normal=(0.0, 0.0, 1.0), contact=law)
    inertia = tuple(MASS / 12 * x for x in (0.3**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.3**2))
    box = SpatialBody("box", mass=MASS, inertia=inertia, position=(0.0, 0.0, 0.1), velocity=(0.0, 0.0, -2.0))
    run = simulate(Model([Ground(), box, floor]).build(), stepper, t_end=1e-4, dt=dt)
    assert run.v.array[0] == pytest.approx([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], abs=1e-12)


@COMPILES
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_no_double_impact_of_a_block_gains_energy(stepper, dt):
    """It falls on two corners with any spin and slip; their restitutions differ."""
    rng = np.random.default_rng(5)
    corners = [
        PointPlane(
            name, "ground", "block", at_b=(x, -0.1), contact=Rigid(restitution=e, friction=0.4, impact="stronge")
        )
        for name, x, e in (("a", -0.2, 1.0), ("b", 0.2, 0.3))
    ]
    system = Model([Ground(), PlanarBody("block", mass=MASS, inertia=INERTIA, position=(0.0, 0.1)), *corners]).build()
    for _ in range(40):
        velocity = {"block.x": rng.normal(), "block.y": -rng.uniform(0.2, 2.0), "block.angle": 5 * rng.normal()}
        state = system.state(velocities=velocity)
        run = simulate(system, stepper, t_end=1e-9, dt=dt, state=state)
        energy = run.certificate.energy
        assert run.energy["loss_impacts"][0] >= -1e-12 * energy.kinetic_start
        assert np.all(run.gap_rate.array[0] >= -1e-10)


@COMPILES
@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_balls_that_touch_hand_the_impact_on(stepper, dt):
    """Newton's cradle at e = 1: of three balls that touch the last one takes all velocity, which no other law gives."""
    cradle = newtons_cradle(balls=3, contact=Rigid(restitution=1.0, friction=LEAST, impact="stronge"))
    run = simulate(cradle.build(), stepper, t_end=0.3, dt=dt)
    first = run.impacts["t"] == run.impacts["t"][0]
    row = np.searchsorted(run.t, run.impacts["t"][0])
    speeds = np.abs([run.v[name][row] for name in run.v.names if name.endswith(".x")])
    assert first.sum() == 2
    assert speeds[:-1] == pytest.approx(0.0, abs=1e-3 * speeds[-1]) or speeds[1:] == pytest.approx(
        0.0, abs=1e-3 * speeds[0]
    )


# --------------------------------------------------------------------------------------------------------- whole runs


def bouncing_rod(impact, mu=0.1, e=0.8):
    """A rod thrown spinning onto the floor, on which both ends bounce in turn."""
    contact = Rigid(restitution=e, friction=mu, impact=impact)
    body = PlanarBody(
        "rod", mass=MASS, inertia=INERTIA, position=(0.0, 0.5), angle=0.6, velocity=(1.0, 0.0), angular_velocity=3.0
    )
    ends = [
        PointPlane(name, "ground", "rod", at_b=(x, 0.0), contact=contact) for name, x in (("a", -HALF), ("b", HALF))
    ]
    return Model([Ground(), body, Gravity(acceleration=(0.0, -9.81)), *ends]).build()


@COMPILES
@pytest.mark.parametrize("mu", [0.1, 0.4])
def test_a_bouncing_rod_by_three_schemes(mu):
    """Flight is exact with landing and by events; Moreau and Jean's steps strike within dt/2 of the landing."""
    landing, events = (simulate(bouncing_rod("stronge", mu), s, t_end=1.0, dt=dt) for s, dt in (LANDING, EVENTS))
    assert len(landing.impacts) == len(events.impacts) >= 3
    for column in ("t", "P_N", "P_T", "gamma_plus"):
        assert landing.impacts[column] == pytest.approx(events.impacts[column], rel=1e-9)
    for run in (landing, events):
        assert np.all(np.diff(run.energy["loss_impacts"]) >= -1e-12)
        assert abs(run.certificate.energy.remainder) <= 1e-12
    stepped = simulate(bouncing_rod("stronge", mu), MoreauJean(), t_end=1.0, dt=2e-4)
    assert len(stepped.impacts) == len(events.impacts)
    # angles err by the spin, 10 rad/s, times the error of each landing, grown from bounce to bounce
    assert stepped.q.array[-1] == pytest.approx(events.q.array[-1], abs=1e-2)


@COMPILES
@pytest.mark.parametrize("impact", ["poisson", "routh", "stronge"])
def test_moreau_jean_bounces_and_rests(impact):
    """Steps are plastic, impacts stand between them: a ball rebounds by e, and rests without leaving the floor."""
    law = Rigid(restitution=0.5, friction=0.1, impact=impact)
    run = simulate(bouncing_ball(contact=law).build(), MoreauJean(), t_end=3.0, dt=1e-3)
    assert run.impacts["gamma_plus"] == pytest.approx(-0.5 * run.impacts["gamma_minus"], rel=1e-12)
    assert len(run.impacts) >= 8
    assert run.v["ball.y"][-1] == 0.0
    assert abs(run.certificate.energy.remainder) <= 1e-4  # dt times the speed at the landings, cancelling in part


@COMPILES
def test_a_slider_in_its_clearance():
    """Case 3 of the slider-rod with friction bounces between opposite corners, rattles to rest and slides on."""
    system = slider_rod(case=3, contact=Rigid(restitution=0.5, friction=0.1, impact="stronge")).build()
    landing = simulate(system, GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-4))
    events = simulate(system, EVENTS[0], t_end=0.02, dt=ErrorControl(1e-10, 1e-14, 1e-6, 1e-3))
    # 1e-6 of the clearance: bounces below dt_min end differently in the two schemes
    assert landing.q.array[-1] == pytest.approx(events.q.array[-1], abs=1e-11)


def test_what_is_refused():
    law = Rigid(restitution=0.0, friction=0.1, impact="stronge")
    with pytest.raises(InputError, match="GaussQP with a constant step distributes impacts"):
        simulate(bouncing_ball(contact=law).build(), GaussQP(), t_end=0.1, dt=1e-3)
    with pytest.raises(InputError, match='impact="stronge" has no tangential restitution'):
        Rigid(restitution=0.5, friction=0.1, tangential=0.5, impact="stronge")
