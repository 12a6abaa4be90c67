"""Generalized-alpha: second order away from impacts, contacts and joints closed in positions and velocities."""

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    ErrorControl,
    EventDriven,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Interrupted,
    IpoptMPCC,
    Landing,
    Model,
    Osqp,
    PlanarBody,
    PointForce,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SpatialBody,
    Trajectory,
    simulate,
)
from nonsmooth_problems import (
    bouncing_ball,
    dual_manipulator,
    pendulum_with_stop,
    slider_crank_translational,
    slider_rod,
)

C = 1e-5  # clearance of the slider-rod [m]
PLASTIC = Rigid(restitution=0.0, friction=0.0)
RADII = (0.0, 0.8, 1.0)


def slider_crank(omega, *guide):
    """Crank and rod stretched along x, with the velocities of an ideal guide."""
    speed, turn = 0.0765 * omega, -0.5 * omega
    elements = [
        Ground(),
        PlanarBody(
            "crank", mass=0.038, inertia=7.4e-5, position=(0.0765, 0.0), velocity=(0.0, speed), angular_velocity=omega
        ),
        PlanarBody(
            "rod", mass=0.038, inertia=5.9e-4, position=(0.306, 0.0), velocity=(0.0, speed), angular_velocity=turn
        ),
        PlanarBody("slider", mass=0.076, inertia=2.7e-6, position=(0.459, 0.0)),
        Revolute("main", "ground", "crank", at_b=(-0.0765, 0.0)),
        Revolute("big_end", "crank", "rod", at_a=(0.0765, 0.0), at_b=(-0.153, 0.0)),
        Revolute("small_end", "rod", "slider", at_a=(0.153, 0.0)),
        Gravity(acceleration=(0.0, -9.81)),
    ]
    return Model([*elements, *guide]).build(assemble=True)


def held_slider_crank():
    """The slider rides on a floor, on which a force holds both of its corners."""
    common = {"at_a": (0.0, -0.025), "contact": PLASTIC, "size": 1e-3}
    feet = [
        PointPlane(name, "ground", "slider", at_b=(x, -0.025), **common)
        for name, x in (("left", -0.05), ("right", 0.05))
    ]
    return slider_crank(20.0, *feet, PointForce("press", "slider", force=(0.0, -50.0)))


def orders(values):
    """Slopes of the errors at halved steps."""
    errors = np.abs(np.asarray(values))
    return np.log2(errors[:-1] / errors[1:])


def approach(system, trajectory):
    """Largest velocity [m/s] at which a contact that is closed at a row approaches there."""
    p = system.parameter_values
    worst = 0.0
    for t, q, v, mode in zip(
        trajectory.t, trajectory.q.array, trajectory.v.array, trajectory.mode.array, strict=True
    ):  # fmt: skip
        W_N = system.numeric.configuration(t, q, p)[1]
        worst = max(worst, float(np.max(np.where(mode > 0, -(W_N.T @ v), 0.0), initial=0.0)))
    return worst


def assert_closed(system, trajectory):
    certificate = trajectory.certificate
    assert certificate.gap_violation <= 1e-12
    assert certificate.joint_violation <= 1e-12
    assert certificate.complementarity <= 1e-10
    assert certificate.motion_residual <= 1e-10
    assert trajectory.counts["fallbacks"] == trajectory.counts["shortened"] == 0
    assert approach(system, trajectory) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("rho", RADII)
def test_free_mechanism_is_of_second_order(rho):
    system = slider_crank(150.0, Prismatic("slide", "ground", "slider"))
    runs = [simulate(system, GeneralizedAlpha(rho), t_end=0.02, dt=2e-4 / 2**k) for k in range(4)]
    for values in ("q", "v"):
        slopes = orders(np.diff([getattr(run, values)["crank.angle"][-1] for run in runs]))
        assert np.all((slopes >= 1.8) & (slopes <= 2.2)), slopes
    for run in runs:
        assert_closed(system, run)


@pytest.mark.slow
def test_energy_of_a_free_mechanism():
    """No contact, three turns: an error of second order that does not grow without bound."""
    system = slider_crank(150.0, Prismatic("slide", "ground", "slider"))
    errors = []
    for dt in (4e-4, 2e-4):
        trajectory = simulate(system, GeneralizedAlpha(), t_end=0.2, dt=dt)
        assert_closed(system, trajectory)
        total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
        errors.append(np.max(np.abs(total / total[0] - 1)))
    assert errors[1] <= 2.5e-3
    assert errors[0] / errors[1] >= 3.5


@pytest.mark.slow
def test_torque_free_body_in_space():
    system = Model(
        [Ground(), SpatialBody("body", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.6, 0.7, 0.4))]
    ).build()
    ends = [simulate(system, GeneralizedAlpha(), t_end=2.0, dt=1e-2 / 2**k).q.array[-1] for k in range(4)]
    assert np.all(np.abs(orders([np.linalg.norm(b - a) for a, b in zip(ends, ends[1:], strict=False)]) - 2) <= 0.05)
    assert np.linalg.norm(ends[-1][3:]) == pytest.approx(1.0, abs=1e-13)


@pytest.fixture(scope="module")
def held():
    """The held slider-crank and its motion by event-driven integration."""
    system = held_slider_crank()
    control = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-6, dt_max=5e-3)
    return system, simulate(system, EventDriven(), t_end=0.1, dt=control)


def test_force_of_a_persistent_contact(held):
    """The mean over a step is the value at its middle, to second order."""
    system, truth = held
    errors = []
    for dt in (1e-3, 5e-4):
        run = simulate(system, GeneralizedAlpha(), t_end=0.05, dt=dt)
        left = np.interp(run.t, truth.t, np.cumsum(truth.P_N["left"]))
        errors.append(abs(run.P_N["left"].sum() - left[-1]))
    assert errors[0] <= 1e-3 * left[-1]
    assert errors[1] <= errors[0] / 2


@pytest.mark.slow
@pytest.mark.parametrize("rho", RADII)
def test_mechanism_held_by_contact_is_of_second_order(rho, held):
    """Against event-driven integration to 1e-11; both feet press all the time."""
    system, truth = held
    runs = [simulate(system, GeneralizedAlpha(rho), t_end=0.1, dt=2e-3 / 2**k) for k in range(4)]
    for values in ("q", "v"):
        end = getattr(truth, values)["crank.angle"][-1]
        slopes = orders([getattr(run, values)["crank.angle"][-1] - end for run in runs])
        assert np.all((slopes >= 1.8) & (slopes <= 2.2)), slopes
    for run in runs:
        assert_closed(system, run)
        assert np.all(run.P_N.array[1:] > 0.0)
        assert np.max(np.abs(run.gap.array)) <= 1e-15


@pytest.mark.parametrize("case", [1, 2, 3])
def test_slider_rod_comes_to_rest_exactly(case):
    system, exact = slider_rod(case=case).build(), slider_rod.exact(case=case)
    trajectory = simulate(system, GeneralizedAlpha(), t_end=0.02, dt=1e-4)
    assert_closed(system, trajectory)
    at_rest = trajectory.t > exact.rest_time + 5e-4
    sample = exact.sample(trajectory.t[at_rest])
    for name, scale in (("slider.x", C), ("slider.y", C), ("slider.angle", C / 0.01)):
        assert np.max(np.abs(trajectory.q[name][at_rest] - sample.q[name])) <= 1e-9 * scale
    for name, force in exact.rest_force.items():
        assert trajectory.lam_N[name][at_rest] == pytest.approx(force, abs=1e-10)


@pytest.mark.parametrize("case", some([1, 2, 3], 3))
@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_slider_rod_bounces_to_rest(case, restitution):
    """Bouncing ends, as constant steps end it: not later than the exact accumulation; then the forces are exact."""
    contact = Rigid(restitution=restitution, friction=0.0)
    system, exact = slider_rod(case=case, contact=contact).build(), slider_rod.exact(case=case, contact=contact)
    trajectory = simulate(system, GeneralizedAlpha(), t_end=0.03, dt=1e-4)
    assert_closed(system, trajectory)
    assert trajectory.impacts["t"][-1] <= exact.rest_time + 1e-3
    for name, force in exact.rest_force.items():
        assert trajectory.lam_N[name][-1] == pytest.approx(force, abs=1e-9)


@pytest.mark.slow
def test_bouncing_ball_is_of_first_order():
    """Envelope over jittered steps of the mean height error; four impacts of e = 0.5."""
    contact = Rigid(restitution=0.5, friction=0.0)
    system, exact = bouncing_ball(contact=contact).build(), bouncing_ball.exact(contact=contact)
    envelope = []
    levels = 1.6e-2 / 2.0 ** np.arange(3)
    for level in levels:
        errors = []
        for jitter in np.linspace(0.75, 1.25, 8):
            trajectory = simulate(system, GeneralizedAlpha(), t_end=1.1, dt=level * jitter)
            height = exact.sample(trajectory.t).q["ball.y"]
            errors.append(np.mean(np.abs(trajectory.q["ball.y"] - height)))
        envelope.append(max(errors))
    slope = np.polyfit(np.log(levels), np.log(envelope), 1)[0]
    assert 0.8 <= slope <= 1.3, (slope, envelope)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
def test_impacts_give_no_energy(restitution):
    system = bouncing_ball(contact=Rigid(restitution=restitution, friction=0.0)).build()
    trajectory = simulate(system, GeneralizedAlpha(), t_end=2.0, dt=2e-3)
    assert_closed(system, trajectory)
    total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
    assert np.max(np.diff(total)) <= 1e-12 * total[0]


def test_bouncing_ends_at_rest():
    system = bouncing_ball(contact=Rigid(restitution=0.5, friction=0.0)).build()
    trajectory = simulate(system, GeneralizedAlpha(), t_end=2.0, dt=1e-3)
    assert trajectory.v["ball.y"][-1] == 0.0
    weight = system.parameters["ball.mass"] * 9.81
    assert trajectory.P_N["floor"][-1] == pytest.approx(weight * 1e-3, rel=1e-12)


@pytest.mark.slow
def test_pendulum_strikes_a_stop():
    """Impacts beside ideal joints: the joints stay closed and do no work; first order in the impulse."""
    system, exact = pendulum_with_stop().build(), pendulum_with_stop.exact()
    errors = []
    for dt in (4e-3, 1e-3):
        trajectory = simulate(system, GeneralizedAlpha(), t_end=1.0, dt=dt)
        assert_closed(system, trajectory)
        total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
        assert np.max(total) - total[0] <= 1e-3 * np.ptp(total)
        sample = exact.sample(trajectory.t)
        name = next(iter(sample.q))
        errors.append(np.mean(np.abs(trajectory.q[name] - sample.q[name])))
    assert errors[1] <= errors[0] / 2


class Stop:
    """Presses Ctrl-C after so many steps."""

    def __init__(self, steps):
        self.steps = steps

    def __call__(self, t, t_end, steps):
        if steps == self.steps:
            raise KeyboardInterrupt


@pytest.mark.parametrize("friction", [0.0, 0.1])
def test_an_interrupted_run_goes_on_to_the_same_bits(friction, step_by_step, tmp_path):
    system = slider_crank_translational(contact=Rigid(restitution=0.4, friction=friction)).build()
    run = {"t_end": 0.02, "dt": 2e-4}
    whole = simulate(system, GeneralizedAlpha(), **run)
    with pytest.raises(Interrupted, match="after 41 steps") as stopped:
        simulate(system, GeneralizedAlpha(), **run, progress=Stop(41))
    stopped.value.trajectory.save(tmp_path / "run.nc")
    end = Trajectory.load(tmp_path / "run.nc").end
    second = simulate(system, GeneralizedAlpha(), **run, state=end)
    assert np.array_equal(second.q.array, whole.q.array[41:])
    assert np.array_equal(second.v.array, whole.v.array[41:])
    assert np.array_equal(second.P_N.array[1:], whole.P_N.array[42:])


def test_slider_crank_with_clearance_against_the_truth():
    """Twelve impacts, an accumulation, sliding contact and its release until 0.05 s; slider_crank.md."""
    system = slider_crank_translational(contact=Rigid(restitution=0.4, friction=0.01)).build()
    trajectory = simulate(system, GeneralizedAlpha(), t_end=0.05, dt=1e-4)
    assert_closed(system, trajectory)
    assert trajectory.q["crank.angle"][-1] == pytest.approx(4.793554299730095, abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_sliding_with_exact_coulomb_friction(dt):
    """Two opposite corners press with 25 N each and brake with 0.1 of it: a constant acceleration of 9 m/s^2."""
    system = slider_rod(case=3, contact=Rigid(restitution=0.0, friction=0.1)).build()
    trajectory = simulate(system, GeneralizedAlpha(), t_end=0.1, dt=dt)
    assert_closed(system, trajectory)
    # braking begins when the slider jams, 1.79 ms after the start, so the whole braking impulse lacks nothing
    assert trajectory.v["slider.x"][-1] == pytest.approx(0.9, abs=1e-8)
    assert trajectory.lam_N["guide.left_upper"][-1] == pytest.approx(25.0, abs=1e-8)


@pytest.mark.parametrize("friction, sticks", [(0.5, False), (0.7, True)])
def test_block_on_an_incline(friction, sticks):
    slope, contact = np.arctan(0.6), Rigid(restitution=0.0, friction=friction)
    load = 9.81 * np.array([np.sin(slope), -np.cos(slope)])
    feet = [
        PointPlane(name, "ground", "block", at_b=(x, -0.05), contact=contact) for name, x in (("l", -0.1), ("r", 0.1))
    ]
    block = PlanarBody("block", mass=1.0, inertia=1e-2, position=(0.0, 0.05))
    system = Model([Ground(), block, *feet, Gravity(acceleration=tuple(load))]).build()
    trajectory = simulate(system, GeneralizedAlpha(), t_end=0.2, dt=1e-3)
    assert_closed(system, trajectory)
    slid = 0.0 if sticks else 0.5 * 0.2**2 * 9.81 * (np.sin(slope) - friction * np.cos(slope))
    assert trajectory.q["block.x"][-1] == pytest.approx(slid, abs=1e-14)
    assert trajectory.P_N.array[1:].sum(axis=1) == pytest.approx(9.81 * np.cos(slope) * 1e-3, rel=1e-12)


def test_driven_mechanism():
    """The crank turns as prescribed; the driver's work balances the energy, and its reaction does that work."""
    motor = PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 150.0 * t)
    system = slider_crank(150.0, Prismatic("slide", "ground", "slider"), motor)
    remainders = []
    for dt in (4e-4, 2e-4):
        trajectory = simulate(system, GeneralizedAlpha(), t_end=0.05, dt=dt)
        assert_closed(system, trajectory)
        assert trajectory.q["crank.angle"][-1] == pytest.approx(7.5, abs=1e-12)
        ledger = trajectory.certificate.energy
        remainders.append(abs(ledger.remainder))
        turned = np.sum(trajectory.reaction["motor.torque"][1:] * np.diff(trajectory.q["crank.angle"]))
        assert turned == pytest.approx(ledger.work_drivers, rel=1e-9)
    assert remainders[1] <= 5e-4 * np.max(trajectory.energy["kinetic"])
    assert remainders[0] / remainders[1] >= 3.5


def test_a_driven_cart_strikes_a_ball():
    """A cart driven at 1 m/s meets a ball of 1 kg at rest: it gains 1/2 J, as much is lost, the motor does 1 J."""
    elements = [
        Ground(),
        PlanarBody("cart", mass=3.0, inertia=1.0, velocity=(1.0, 0.0)),
        PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.1, 0.0)),
        PrescribedMotion("motor", "ground", "cart", coordinate="x", motion=lambda t: 1.0 * t),
        PointPlane("bumper", "cart", "ball", direction=-np.pi / 2, contact=PLASTIC),
    ]
    system = Model(elements).build()
    trajectory = simulate(system, GeneralizedAlpha(), t_end=0.2, dt=1e-2)
    assert_closed(system, trajectory)
    assert trajectory.v["ball.x"][-1] == pytest.approx(1.0, rel=1e-12)
    ledger = trajectory.certificate.energy
    assert ledger.loss_impacts == pytest.approx(0.5, rel=1e-12)
    assert ledger.work_drivers == pytest.approx(1.0, rel=1e-12)
    assert trajectory.reaction_impact["motor.x"].sum() == pytest.approx(1.0, rel=1e-12)


def test_reactions_of_joints_at_rest():
    """A bar that hangs from a pin and is pushed against a wall: the pin bears the weight and half of the push."""
    elements = [
        Ground(),
        PlanarBody("bar", mass=2.0, inertia=0.1, position=(0.0, -0.5)),
        Revolute("pin", "ground", "bar", at_b=(0.0, 0.5)),
        PointPlane("wall", "ground", "bar", at_b=(0.0, -0.5), direction=-np.pi / 2, contact=PLASTIC),
        PointForce("push", "bar", force=(-6.0, 0.0)),
        Gravity(acceleration=(0.0, -9.81)),
    ]
    trajectory = simulate(Model(elements).build(), GeneralizedAlpha(), t_end=0.01, dt=1e-3)
    assert trajectory.lam_N["wall"][1:] == pytest.approx(3.0, rel=1e-12)
    assert trajectory.reaction["pin.x"][1:] == pytest.approx(3.0, rel=1e-12)
    assert trajectory.reaction["pin.y"][1:] == pytest.approx(2.0 * 9.81, rel=1e-12)


def test_another_solver_gives_the_same_motion():
    system = slider_rod(case=2).build()
    ours, theirs = (
        simulate(system, GeneralizedAlpha(solver=solver), t_end=0.005, dt=1e-4) for solver in (None, Osqp())
    )
    assert theirs.counts["Osqp"] > 0
    assert np.max(np.abs(ours.q.array - theirs.q.array)) <= 1e-9 * C


def test_what_it_refuses():
    system = slider_rod(case=1).build()
    with pytest.raises(InputError, match=r"requires a constant step, got Landing.*give dt in seconds"):
        simulate(system, GeneralizedAlpha(), t_end=0.01, dt=Landing(1e-6, 1e-3))
    with pytest.raises(InputError, match=r"IpoptMPCC.*solves no LCP, no QP.*give it SemismoothNewton\(\)"):
        simulate(system, GeneralizedAlpha(solver=IpoptMPCC()), t_end=0.01, dt=1e-3)
    with pytest.raises(InputError, match=r"spectral_radius must lie in \[0, 1\], got 1.2"):
        GeneralizedAlpha(spectral_radius=1.2)


def test_a_start_at_rest_is_solved_like_any_other():
    """Velocities of the first step are below what round-off of the places is over a step."""
    trajectory = simulate(dual_manipulator().build(), GeneralizedAlpha(), t_end=1e-4, dt=1e-5)
    assert trajectory.certificate.motion_residual <= 1e-10


@pytest.mark.parametrize("ratio", [1.0, 1e6])
def test_a_closed_contact_passes_an_impact_on(ratio):
    """A disc falls on another one that lies on the floor: the lower one does not move before the impact either.

    Energy is lost that was there: the fall's, and what the scheme, of first order through impacts, adds. The run ends
    before round-off lets a column buckle that carries a million times its weight.
    """
    rubber = Rigid(restitution=0.5, friction=0.0)
    elements = [
        Ground(),
        PlanarBody("lower", mass=1.0, inertia=0.4, position=(0.0, 1.0)),
        PlanarBody("upper", mass=ratio, inertia=0.4 * ratio, position=(0.0, 3.01)),
        CirclePlane("floor", "ground", "lower", radius=1.0, contact=rubber),
        CircleCircle("touch", "lower", "upper", radius_a=1.0, radius_b=1.0, contact=rubber),
        Gravity(acceleration=(0.0, -9.81)),
    ]
    run = simulate(Model(elements).build(), GeneralizedAlpha(), t_end=0.06, dt=1e-3)
    fall, available = np.sqrt(2 * 9.81 * 0.01), 9.81 * 0.01 * ratio
    # round-off of the upper one's momentum
    assert np.max(np.abs(run.left.v["lower.y"])) <= 1e-12 * ratio * fall
    assert np.max(np.abs(run.left.v["upper.y"])) <= 1.1 * fall
    assert 0.0 < run.certificate.energy.loss_impacts <= 1.1 * available
    # the impact on the lower disc is one on the floor as well, at the same time
    impacts = run.impacts
    assert list(impacts["contact"][:2]) == ["floor", "touch"] and impacts["t"][0] == impacts["t"][1]
