"""Poisson's impact law with friction: closed forms of two phases, Routh's method where it must agree, and energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from shared_mechanisms import KANE, kane_loss, kane_pendulum

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    PlanarBody,
    PointPlane,
    Rigid,
    simulate,
)
from nonsmooth_problems import newtons_cradle, slider_rod

pytestmark = pytest.mark.slow  # compiles the texts of impact laws other than Newton's

LANDING = GaussQP(), Landing(1e-6, 1e-3)
EVENTS = EventDriven(), ErrorControl(1e-10, 1e-12, 1e-6, 1e-2)
SCHEMES = [pytest.param(*LANDING, id="landing"), pytest.param(*EVENTS, id="event-driven")]

MASS, HALF = 2.0, 0.2
INERTIA = MASS * HALF**2 / 3


# ------------------------------------------------------------------------------- one contact, worked out independently


@dataclass(frozen=True)
class Contact:
    """Normal and tangential rates change by G times the impulse; friction mu, restitution e."""

    G: np.ndarray
    mu: float
    e: float

    def per_normal(self, s: float) -> np.ndarray:
        """Rates that a normal impulse of one gives while the contact slides in the sense s."""
        return self.G @ [1.0, -s * self.mu]

    def holds(self) -> bool:
        """Whether friction within the cone keeps a contact that sticks from sliding under any normal impulse."""
        return abs(self.G[0, 1]) <= self.mu * self.G[1, 1]


def glocker(c: Contact, gamma: np.ndarray) -> tuple[str, str, np.ndarray, np.ndarray]:
    """Modes of compression and expansion and the impulses of each: all modes in turn, exactly one of which fits."""

    def compression(gamma: np.ndarray, least: float) -> list[tuple[str, np.ndarray]]:
        found = []
        stick = -np.linalg.solve(c.G, gamma)
        if stick[0] > least and abs(stick[1]) <= c.mu * stick[0]:
            found.append(("stick", stick))
        for mode, s in (("forward", 1.0), ("backward", -1.0)):
            P = -gamma[0] / c.per_normal(s)[0] * np.array([1.0, -s * c.mu])
            if P[0] > least and s * (gamma + c.G @ P)[1] > 0:
                found.append((mode, P))
        return found

    def expansion(gamma: np.ndarray, given: float) -> list[tuple[str, np.ndarray]]:
        P_T = -(gamma[1] + c.G[0, 1] * given) / c.G[1, 1]
        mode = "stick" if abs(P_T) <= c.mu * given else "backward" if P_T > 0 else "forward"
        P = np.array([given, np.clip(P_T, -c.mu * given, c.mu * given)])
        opens = (gamma + c.G @ P)[0] >= 0
        return [(mode, P)] * int(opens) + compression(gamma, given)

    ((first, P_c),) = compression(gamma, 0.0)
    ((second, P_e),) = expansion(gamma + c.G @ P_c, c.e * P_c[0])
    return first, second, P_c, P_e


def routh(c: Contact, gamma: np.ndarray) -> np.ndarray:
    """Total impulse by Routh's incremental method: slip is followed along the normal impulse, piece by piece.

    Friction acts against the slip of the moment; a slip that comes to zero stays there if friction can hold it, and
    else turns. Compression ends where the normal rate is zero, the impact at 1 + e times its impulse.
    """
    P, rates, end = np.zeros(2), gamma.copy(), np.inf
    s = float(np.sign(gamma[1]))
    while P[0] < end * (1 - 1e-12):
        if s == 0.0 and c.holds():
            direction = np.array([1.0, -c.G[0, 1] / c.G[1, 1]])
        else:
            if s == 0.0:
                s = float(np.sign(c.G[0, 1]))  # where a normal impulse drives the slip that friction does not hold
            direction = np.array([1.0, -s * c.mu])
        change = c.G @ direction
        lengths = [end - P[0]]
        if np.isinf(end):
            lengths = [-rates[0] / change[0]] if change[0] > 0 else [np.inf]
        slips = s * change[1] < 0 and s * rates[1] > 0
        if slips:
            lengths.append(-rates[1] / change[1])
        length = min(lengths)
        P, rates = P + length * direction, rates + length * change
        if slips and length == lengths[-1]:
            s, rates[1] = 0.0, 0.0
        elif np.isinf(end):
            end, rates[0] = (1 + c.e) * P[0], 0.0
    return P


def struck(model, stepper, dt):
    """The impact that a start with a closed, approaching contact begins with."""
    trajectory = simulate(Model(model).build(), stepper, t_end=1e-4, dt=dt)
    (row,) = trajectory.impacts[trajectory.impacts["t"] == 0.0]
    assert trajectory.certificate.complementarity <= 1e-12
    return trajectory, row


# ----------------------------------------------------------------------------------------- a disc: both laws are one


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


@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
@pytest.mark.parametrize(
    ("slip", "mu"),
    [
        pytest.param(9.0, 0.2, id="slides to the end"),
        pytest.param(-9.0, 0.2, id="comes back with backspin"),
        pytest.param(1.5, 0.2, id="sticks in expansion"),
        pytest.param(0.7, 0.2, id="sticks in compression"),
        pytest.param(0.0, 0.2, id="does not slip"),
    ],
)
def test_an_oblique_fall_of_a_disc(stepper, dt, slip, mu):
    """G_NT = 0: P_N = (1 + e) m |gamma_N|, and P_T stops the slip, G_TT = 3/m, or is mu P_N, in one phase or in two."""
    e = 0.5
    P_N = (1 + e) * MASS * 2.0
    P_T = float(np.clip(-slip * MASS / 3.0, -mu * P_N, mu * P_N))
    for impact in ("poisson", "newton"):
        trajectory, row = struck(disc(impact, slip, mu, e), stepper, dt)
        # round-off of a program of four rows
        assert (row["P_N"], row["P_T"]) == pytest.approx((P_N, P_T), rel=1e-12, abs=1e-13)
        assert row["gamma_plus"] == pytest.approx(e * 2.0, rel=1e-12)
        assert trajectory.v["disc.x"][0] == pytest.approx(0.2 + P_T / MASS, rel=1e-12, abs=1e-13)


# ------------------------------------------------------------------------------------- a rod that strikes at an angle


def rod(impact, angle, gamma, mu, e):
    """A slender rod whose lower left end is on the floor, without spin; and the numbers of that contact."""
    arm = -HALF * np.array([np.cos(angle), np.sin(angle)])
    body = PlanarBody(
        "rod", mass=MASS, inertia=INERTIA, position=tuple(-arm), angle=angle, velocity=(gamma[1], gamma[0])
    )
    tip = PointPlane(
        "tip", "ground", "rod", at_b=(-HALF, 0.0), contact=Rigid(restitution=e, friction=mu, impact=impact)
    )
    x, y = arm
    G = np.array([[1 / MASS + x * x / INERTIA, -x * y / INERTIA], [-x * y / INERTIA, 1 / MASS + y * y / INERTIA]])
    return [Ground(), body, tip], Contact(G, mu, e)


# (angle [rad], gamma_N, gamma_T [m/s], mu): modes of compression and expansion, and whether Routh's method agrees. It
# does while slip keeps its sense, and where friction holds a slip that has stopped: impulses that end at gamma_N = 0 or
# P_N = (1 + e) P_c, and at gamma_T = 0, are the same by any course. It cannot where slip turns within a phase.
CASES = {
    "slides forward": ((1.0, -2.0, 9.0, 0.2), ("forward", "forward"), True),
    "slides backward": ((1.0, -2.0, -5.0, 0.2), ("backward", "backward"), True),
    "starts to slide": ((0.9, -2.0, 0.0, 0.1), ("backward", "backward"), True),
    "sticks all along": ((0.9, -2.0, 0.0, 1.5), ("stick", "stick"), True),
    "stops in compression": ((0.9, -2.0, 1.5, 1.2), ("stick", "stick"), True),
    "stops in expansion": ((0.6, -1.0, 0.8, 0.8), ("forward", "stick"), True),
    "stops in expansion, backward": ((1.3, -2.0, -2.0, 0.4), ("backward", "stick"), True),
    "turns in expansion": ((0.6, -2.0, 1.2, 0.1), ("forward", "backward"), False),
    "turns in compression": ((0.6, -1.0, 0.3, 0.1), ("backward", "backward"), False),
    "stops in compression, slides in expansion": ((0.6, -1.0, 0.3, 0.4), ("stick", "backward"), False),
    "stops at the end, not held": ((0.6, -1.0, 0.8, 0.1), ("forward", "stick"), False),
}


@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
@pytest.mark.parametrize("name", CASES)
def test_a_rod_strikes_at_an_angle(name, stepper, dt):
    (angle, gamma_N, gamma_T, mu), modes, one_course = CASES[name]
    gamma, e = np.array([gamma_N, gamma_T]), 0.6
    model, contact = rod("poisson", angle, gamma, mu, e)
    *found, P_c, P_e = glocker(contact, gamma)
    assert tuple(found) == modes
    _, row = struck(model, stepper, dt)
    # round-off of the lever arms and of a program of four rows
    assert (row["P_N"], row["P_T"]) == pytest.approx(tuple(P_c + P_e), rel=1e-11, abs=1e-12)
    assert row["P_N"] == pytest.approx((1 + e) * P_c[0], rel=1e-11)
    assert row["gamma_plus"] == pytest.approx((gamma + contact.G @ (P_c + P_e))[0], rel=1e-11)
    agrees = routh(contact, gamma) == pytest.approx(P_c + P_e, rel=1e-11)
    assert agrees == one_course


def test_where_the_laws_agree_for_the_rod_and_where_not():
    """In constant sliding P_N has one mobility in both phases; where the slip stops, expansion has another."""
    for (angle, *gamma, mu), same in (((1.0, -2.0, 9.0, 0.2), True), ((0.6, -1.0, 0.8, 0.8), False)):
        departing = {}
        for impact in ("newton", "poisson"):
            departing[impact] = struck(rod(impact, angle, gamma, mu, 0.6)[0], *EVENTS)[1]["gamma_plus"]
        assert departing["newton"] == pytest.approx(-0.6 * gamma[0], rel=1e-12)
        assert (departing["poisson"] == pytest.approx(departing["newton"], rel=1e-6)) == same


# ----------------------------------------------------------------------------------------------------- energy: Kane


def test_newtons_law_gains_energy_in_kanes_example_and_poissons_does_not():
    """The arms at 20 and 30 degrees turn at -0.1 and -0.2 rad/s and strike with e = 0.7, mu = 0.5."""
    gained, start = kane_loss(kane_pendulum("newton").build(), *EVENTS, *KANE)
    assert gained < -start  # it more than doubles
    for scheme in (EVENTS, LANDING):
        assert kane_loss(kane_pendulum("poisson").build(), *scheme, *KANE)[0] > 0.4 * start


@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_no_impact_of_the_pendulum_gains_energy(stepper, dt):
    """Random arms, speeds and coefficients."""
    rng, system = np.random.default_rng(4), kane_pendulum("poisson").build()
    for _ in range(150):
        angles, rates = rng.uniform(-1.5, 1.5, 2), rng.uniform(-2.0, 2.0, 2)
        rates *= -np.sign(np.sin(angles) @ rates)  # the tip falls
        loss, start = kane_loss(system, stepper, dt, angles, rates, rng.uniform(0.0, 1.5), rng.uniform(0.0, 1.0))
        assert loss >= -1e-12 * start  # round-off of the energies


@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_no_double_impact_of_a_block_gains_energy(stepper, dt):
    """A block lands flat on two corners, whose slips are one; with e = 1 only friction takes energy."""
    rng = np.random.default_rng(5)
    contact = Rigid(restitution=1.0, friction=0.4, impact="poisson")
    corners = [
        PointPlane(name, "ground", "block", at_b=(x, -0.1), contact=contact) for name, x in (("a", -0.2), ("b", 0.2))
    ]
    block = PlanarBody("block", mass=MASS, inertia=INERTIA, position=(0.0, 0.1))
    system = Model([Ground(), block, *corners]).build()
    for _ in range(40):
        turn = rng.uniform(-2.0, 2.0)
        fall = -0.2 * abs(turn) - rng.uniform(0.0, 1.0)
        state = system.state(velocities={"block.x": rng.uniform(-3, 3), "block.y": fall, "block.angle": turn})
        trajectory = simulate(system, stepper, t_end=1e-9, dt=dt, state=state)
        energy = trajectory.certificate.energy
        assert -1e-12 * energy.kinetic_start <= energy.loss_impacts <= energy.kinetic_start
        assert np.all(trajectory.impacts["gamma_plus"] >= -1e-12)


# ------------------------------------------------------------------------------------------------- several contacts


@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_three_balls_of_which_two_touch(stepper, dt):
    """Compression leaves all at v/3 by impulses m v (2/3, 1/3), of which e = (1/2, 1) comes back: 0, 1/3 and 2/3 of v.

    By Newton's law the balls that touch would stay together, having approached nobody, whatever their e.
    """
    model = Model()
    for i in range(3):
        speed = (3.0, 0.0) if i == 0 else (0.0, 0.0)
        model.add(PlanarBody(f"ball{i}", mass=MASS, inertia=1.0, position=(0.2 * i, 0.0), velocity=speed))
    for i, e in enumerate((0.5, 1.0)):
        law = Rigid(restitution=e, friction=0.1, impact="poisson")  # nothing slips
        model.add(CircleCircle(f"contact{i}", f"ball{i}", f"ball{i + 1}", radius_a=0.1, radius_b=0.1, contact=law))
    trajectory = simulate(model.build(), stepper, t_end=1e-4, dt=dt)
    assert [trajectory.v[f"ball{i}.x"][0] for i in range(3)] == pytest.approx([0.0, 1.0, 2.0], abs=1e-12)


@pytest.mark.parametrize(("stepper", "dt"), SCHEMES)
def test_newtons_cradle(stepper, dt):
    """Balls that touch, struck on an end: all impulses stop compression, and with one e the laws agree."""
    runs = []
    for impact in ("newton", "poisson"):
        cradle = newtons_cradle(balls=3, contact=Rigid(restitution=0.9, friction=1e-13, impact=impact))
        runs.append(simulate(cradle.build(), stepper, t_end=0.3, dt=dt))
    assert len(runs[0].impacts) == len(runs[1].impacts) > 0
    assert np.max(np.abs(runs[0].v.array[-1] - runs[1].v.array[-1])) <= 1e-9  # round-off through the later impacts


# ------------------------------------------------------------------------------------------------------- whole runs


def bouncing_rod(mu, e):
    """A rod thrown spinning onto the floor, on which both ends bounce in turn."""
    contact = Rigid(restitution=e, friction=mu, impact="poisson")
    body = PlanarBody(
        "rod", mass=MASS, inertia=INERTIA, position=(0.0, 0.5), angle=0.6, velocity=(1.0, 0.0), angular_velocity=3.0
    )
    ends = [
        PointPlane(name, "ground", "rod", at_b=(x, 0.0), contact=contact) for name, x in (("a", -HALF), ("b", HALF))
    ]
    return Model([Ground(), body, Gravity(acceleration=(0.0, -9.81)), *ends]).build()


@pytest.mark.parametrize("stepper", [GaussQP(), pytest.param(GaussMPCC(), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("mu", [0.1, 0.4])
def test_a_bouncing_rod_by_landing_and_by_events(mu, stepper):
    """Flight is exact in both schemes, so that round-off alone, grown from bounce to bounce, tells them apart."""
    landing = simulate(bouncing_rod(mu, 0.8), stepper, t_end=1.0, dt=Landing(1e-6, 1e-2))
    events = simulate(bouncing_rod(mu, 0.8), EVENTS[0], t_end=1.0, dt=EVENTS[1])
    assert len(landing.impacts) == len(events.impacts) == 3
    assert landing.q.array[-1] == pytest.approx(events.q.array[-1], abs=1e-10)
    for column in ("t", "P_N", "P_T", "gamma_plus"):
        assert landing.impacts[column] == pytest.approx(events.impacts[column], rel=1e-9)
    for trajectory in (landing, events):
        assert np.all(np.diff(trajectory.energy["loss_impacts"]) >= -1e-12)
        assert trajectory.certificate.complementarity <= 1e-12
        assert abs(trajectory.certificate.energy.remainder) <= 1e-12


def test_a_slider_in_its_clearance_by_landing_and_by_events():
    """Case 3 of the slider-rod with friction bounces between opposite corners, rattles to rest and slides on."""
    system = slider_rod(case=3, contact=Rigid(restitution=0.5, friction=0.1, impact="poisson")).build()
    landing = simulate(system, GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-4))
    events = simulate(system, EVENTS[0], t_end=0.02, dt=ErrorControl(1e-10, 1e-14, 1e-6, 1e-3))
    assert len(np.unique(events.impacts["t"])) >= 10
    # 1e-7 of the clearance: bounces below dt_min end differently in the two schemes
    assert landing.q.array[-1] == pytest.approx(events.q.array[-1], abs=1e-12)


def test_a_vanishing_friction_is_none():
    """With mu = 0 the impacts are convex programs; with the least mu they are those with friction and their twins.

    Texts without friction and with Poisson's law run uncompiled: nothing else here needs their machine code.
    """
    schemes = [(mu, *scheme) for scheme in ((GaussQP(), Landing(1e-6, 1e-2)), EVENTS) for mu in (0.0, 1e-13)]
    runs = [
        simulate(bouncing_rod(mu, 0.8), stepper, t_end=1.0, dt=dt, interpreted=mu == 0.0) for mu, stepper, dt in schemes
    ]
    for run in runs[1:]:
        assert len(run.impacts) == len(runs[0].impacts) >= 2
        assert run.impacts["P_N"] == pytest.approx(runs[0].impacts["P_N"], rel=1e-9)


def test_a_disc_lands_while_another_one_comes_to_rest():
    """Landing ends flights below dt_min by a step of dt_min; a disc that lands within it rebounds by its own law.

    The low disc returns after 0.8 dt_min, the high one comes after 0.9. A single disc obeys both laws alike, but for
    what gravity adds within the step.
    """
    g, e, dt_min, speeds = 9.81, 0.5, 1e-3, []
    for impact in ("newton", "poisson"):
        law = Rigid(restitution=e, friction=0.1, impact=impact)
        model = Model([Ground(), Gravity(acceleration=(0.0, -g))])
        for name, gap, velocity in (("low", 0.0, (0.0, 0.4 * g * dt_min)), ("high", 0.9 * dt_min * 2.0, (2.0, -2.0))):
            model.add(PlanarBody(name, mass=1.0, inertia=0.005, position=(0.0, 0.1 + gap), velocity=velocity))
            model.add(CirclePlane(f"under_{name}", "ground", name, radius=0.1, contact=law))
        trajectory = simulate(model.build(), GaussQP(), t_end=2 * dt_min, dt=Landing(dt_min, 1e-2))
        row = trajectory.impacts[trajectory.impacts["contact"] == "under_high"][0]
        assert row["t"] == dt_min  # the end of the step that crosses, not the moment of landing
        assert row["P_T"] == pytest.approx(-0.1 * row["P_N"], rel=1e-9)
        assert row["gamma_plus"] == pytest.approx(e * 2.0, abs=g * dt_min)
        speeds.append(row["gamma_plus"])
    assert speeds[1] == pytest.approx(speeds[0], abs=g * dt_min)
