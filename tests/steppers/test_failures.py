"""Runs that cannot go on, or that should not start: what they say and what they hand over."""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    ActiveSet,
    CirclePlane,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    IpoptMPCC,
    Landing,
    Model,
    ModelError,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    simulate,
)
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.programs import Solution
from nonsmooth.step.control import ConstantStep
from nonsmooth_problems import slider_crank_revolute, slider_rod


@dataclass(frozen=True)
class Failing:
    """Answers like the active set, but nonsense from the given program on."""

    after: int
    inner: ActiveSet = field(default_factory=ActiveSet)
    tolerance = 1e-12

    def fits(self, program):
        return self.inner.fits(program)

    def setup(self):
        return FailingSession(self.inner.setup(), self.after)


class FailingSession:
    def __init__(self, session, left):
        self.session, self.left = session, left

    def solve(self, program, guess=None):
        self.left -= 1
        solution = self.session.solve(program, guess)
        if self.left >= 0:
            return solution
        return Solution(solution.x + 1.0, solution.y + 1.0, "solved", 1, "Failing")


def test_a_failed_run_hands_over_its_steps():
    system = slider_rod(case=1).build()
    stepper = GaussQP(solver=Failing(after=50), fallback=False)
    with pytest.raises(SimulationFailed, match=r"Step [0-9]+, from t = .*Failing.*residual.*at") as failed:
        simulate(system, stepper, t_end=0.02, dt=1e-4)
    trajectory = failed.value.trajectory
    steps = trajectory.counts["steps"]
    assert 10 < steps == len(trajectory.t) - 1 and trajectory.counts["Failing"] == 50
    assert trajectory.status.startswith(f"failed: Step {steps + 1}")
    healthy = simulate(system, GaussQP(), t_end=float(trajectory.t[-1]), dt=1e-4)
    assert np.allclose(trajectory.q.array, healthy.q.array, rtol=0.0, atol=1e-14)  # 1e-9 of the clearance


def test_the_chain_takes_over_and_says_so():
    system = slider_rod(case=1).build()
    trajectory = simulate(system, GaussQP(solver=Failing(after=50)), t_end=0.02, dt=1e-4)
    counts = trajectory.counts
    assert counts["Failing"] == 50 and counts["fallbacks"] == counts["solves"] - 50 > 100
    assert counts["chained"] == 0  # other solvers of the chain answered at once
    assert trajectory.certificate.motion_residual <= 1e-12


@pytest.mark.parametrize("dt", [1e-4, Landing(1e-4, 1e-3)], ids=["constant", "free step"])
def test_eq_14_taken_literally_fails_with_its_reason(dt):
    """Products of gaps and multipliers as equalities, started at mu = 0: contact never forms, nothing is accepted."""
    with pytest.raises(SimulationFailed, match="absorbing.*fischer-burmeister") as failed:
        simulate(slider_rod(case=1).build(), GaussMPCC(solver=IpoptMPCC("literal")), t_end=0.02, dt=dt)
    trajectory = failed.value.trajectory
    assert np.all(trajectory.gap.array >= -1e-12)
    assert trajectory.t[-1] <= 1.53e-3  # the slider touches down at 1.428 ms


def test_a_load_that_turns_nan_is_named():
    elements = [
        Ground(),
        PlanarBody("body", mass=1.0, inertia=1.0),
        PointForce("pull", "body", force=lambda t: (ca.sqrt(0.5 - t), 0.0)),
    ]
    with pytest.raises(SimulationFailed, match=r'force along "body.x" is nan at t = 0\.6') as failed:
        simulate(Model(elements).build(), GaussQP(), t_end=1.0, dt=0.1)
    assert failed.value.trajectory.t[-1] == 0.5


@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf, "fast", True])
def test_steps_that_are_none(dt):
    with pytest.raises(InputError, match="dt"):
        simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.01, dt=dt)


def test_arguments_are_checked_before_the_first_step():
    system = slider_rod(case=1).build()
    with pytest.raises(InputError, match=r"t_end must lie after the start at t = 0 s, got -1"):
        simulate(system, GaussQP(), t_end=-1.0, dt=1e-3)
    with pytest.raises(InputError, match="dt_min must not exceed dt_max"):
        Landing(1e-3, 1e-6)
    with pytest.raises(InputError, match='Unknown parameter "guide.clearence".*guide.clearance'):
        simulate(system, GaussQP(), t_end=0.1, dt=1e-3, parameters={"guide.clearence": 1e-5})
    with pytest.raises(ModelError, match="clearance must be a positive number.*-1"):
        simulate(system, GaussQP(), t_end=0.1, dt=1e-3, parameters={"guide.clearance": -1.0})
    with pytest.raises(ModelError, match='"guide.left_lower" overlaps by 1e-05 m'):
        simulate(system, GaussQP(), t_end=0.1, dt=1e-3, state=system.state({"slider.y": -2e-5}))
    with pytest.raises(InputError, match="record must be an integer"):
        simulate(system, GaussQP(), t_end=0.1, dt=1e-3, record=0)
    other = Model([Ground(), PlanarBody("a", mass=1.0, inertia=1.0), PlanarBody("b", mass=1.0, inertia=1.0)]).build()
    with pytest.raises(InputError, match="6 coordinates"):
        simulate(system, GaussQP(), t_end=0.1, dt=1e-3, state=other.start)


def test_objects_of_the_wrong_kind_are_named():
    model = slider_rod(case=1)
    system = model.build()
    run = {"t_end": 0.01, "dt": 1e-3}
    with pytest.raises(InputError, match=r"takes a System, got Model; call its build\(\) first"):
        simulate(model, GaussQP(), **run)
    with pytest.raises(InputError, match="got GaussQP; write it with its brackets"):
        simulate(system, GaussQP, **run)
    with pytest.raises(InputError, match=r"solver of GaussQP must be one such as ActiveSet\(\), got 'osqp'"):
        simulate(system, GaussQP(solver="osqp"), **run)
    with pytest.raises(InputError, match="state must be a State.*got ndarray"):
        simulate(system, GaussQP(), **run, state=np.zeros(3))
    with pytest.raises(InputError, match='t_end "1e-3" has no unit; write a number without quotes'):
        simulate(system, GaussQP(), t_end="1e-3", dt=1e-3)
    with pytest.raises(InputError, match='dt_min "1e-6" has no unit; write a number without quotes'):
        Landing("1e-6", 1e-3)
    with pytest.raises(InputError, match="slider-rod.exact has no argument 'clearance'"):
        slider_rod.exact(case=2, clearance=2e-5)


def test_contact_laws_that_the_scheme_does_not_have():
    bouncy = slider_rod(case=1, contact=Rigid(restitution=0.5, friction=0.0)).build()
    with pytest.raises(InputError, match="plastic.*restitution 0.5.*Landing"):
        simulate(bouncy, GaussMPCC(), t_end=0.01, dt=1e-3)


def test_a_solver_that_does_not_fit_the_stepper():
    with pytest.raises(InputError, match="GaussQP.*IpoptMPCC"):
        simulate(slider_rod(case=1).build(), GaussQP(solver=IpoptMPCC()), t_end=0.01, dt=1e-3)


def test_steps_are_shortened_where_the_equations_have_no_solution_at_full_length(loose_chain):
    """A loose chain swings so fast that a landing step of 5 ms cannot be solved everywhere; it is cut, and counted."""
    trajectory = simulate(loose_chain(3), GaussQP(), t_end=0.3, dt=Landing(1e-5, 5e-3))
    assert trajectory.status == "finished"
    assert trajectory.certificate.gap_violation <= 1e-10


def test_gravity_alone_needs_no_contact():
    system = Model([Ground(), PlanarBody("ball", mass=1.0, inertia=1.0), Gravity(acceleration=(0.0, -10.0))]).build()
    trajectory = simulate(system, GaussMPCC(), t_end=0.1, dt=Landing(1e-6, 1e-2))
    assert trajectory.q["ball.y"][-1] == pytest.approx(-0.05, rel=1e-14)


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (GaussQP(), 1e-3),
        (GeneralizedAlpha(), 1e-3),
        (GaussQP(), Landing(1e-6, 1e-3)),
        (GaussQP(), Landing(1e-9, 1e-4)),
    ],
    ids=["GaussQP", "GeneralizedAlpha", "GaussQP landing", "GaussQP short landing"],
)
def test_a_clearance_far_below_the_displacement_of_a_step_is_named(stepper, dt):
    with pytest.raises(SimulationFailed, match=r"'pin' would move by .* \(1e-09 m\) .*use its ideal joint"):
        simulate(hung_bar(), stepper, t_end=0.5, dt=dt)


def hung_bar(length=0.5):
    """It falls by 10 um in 1 ms, 10^4 clearances; from a concentric start, where gaps have no direction yet."""
    bar = PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0))
    pin = RevoluteClearance(
        "pin", "ground", bar, at_b=(-length, 0.0), clearance=1e-9, contact=Rigid(restitution=0.0, friction=0.0)
    )
    return Model([Ground(), bar, pin, Gravity(acceleration=(0.0, -9.81))]).build()


def test_a_run_whose_steps_no_longer_advance_ends():
    """With some last digits of the length a step of 1e-9 s is certified after nine halvings, and so are shorter and
    shorter ones after it, down to those of the time: it never ended."""
    for k in range(6):
        with pytest.raises(SimulationFailed, match="use its ideal joint"):
            simulate(hung_bar(0.5 * (1.0 + 1e-15 * k)), GaussQP(), t_end=0.5, dt=Landing(1e-6, 1e-3))


@pytest.mark.parametrize("stepper, dt", [(GeneralizedAlpha(), 1e-5), (GaussQP(), Landing(1e-7, 1e-5))])
def test_a_slider_that_starts_at_the_origin_of_an_oblique_rail(stepper, dt):
    """The joint is open by round-off of its position, which is no share of coordinates that are all zero."""
    slope, speed = np.tan(0.7), 0.5
    slider = PlanarBody("slider", mass=1.0, inertia=1.0, velocity=(speed, speed * slope))
    rail = Prismatic("rail", "ground", "slider", direction=0.7)
    drive = PrescribedMotion("drive", "ground", "slider", coordinate="x", motion=lambda t: speed * t)
    run = simulate(Model([Ground(), slider, rail, drive]).build(), stepper, t_end=1e-3, dt=dt)
    assert run.counts.get("shortened", 0) == 0
    assert run.q["slider.y"][-1] == pytest.approx(1e-3 * speed * slope, abs=1e-17)  # its round-off


@pytest.mark.exact("circles of 1e9 m touch where their centres are a radius away, to the bit")
@pytest.mark.parametrize("radii, least", [((), 5e-4), ((2e-5, 3e-6), 2e-8), ((1e9,), 1e-3)])
def test_the_least_scale_of_joints_is_a_share_of_the_mechanism(radii, least):
    """Of its largest length or radius of gyration; of 1 m at most, so that no large radius that stands for a plane lets
    joints open. Coordinates above it are the scale."""
    contact = Rigid(restitution=0.0, friction=0.0)
    floors = [
        CirclePlane(f"floor {i}", "ground", "ball", radius=radius, at_b=(0.0, radius), size=1e-9, contact=contact)
        for i, radius in enumerate(radii)
    ]
    for x in (0.0, 0.5 * least, 2.0 * least):
        ball = PlanarBody("ball", mass=4.0, inertia=1e-12 if radii else 1.0, position=(x, 0.0))
        system = Model([Ground(), ball, *floors]).build()
        steps = CompiledSteps(system, GeneralizedAlpha(), ConstantStep(1e-3), system.parameter_values, 1.0)
        assert steps.memory.of["System"]["reach"][0] == max(x, least)


@pytest.mark.parametrize("stepper, dt", [(None, None), (GaussQP(), Landing(1e-7, 1e-5))])
def test_masses_too_different_for_the_digits_of_a_number_are_named(stepper, dt):
    """A residual alone was said, or a rank that falls from 7 to 5."""
    masses = {"crank.mass": 1e-9, "slider.mass": 1e4}
    message = r"The mass of slider, 1e\+04 kg, is 1e\+13 times that of crank, 1e-09 kg: .* at least 0.001 kg"
    with pytest.raises(SimulationFailed, match=message):
        simulate(slider_crank_revolute().build(), stepper, t_end=0.01, dt=dt, parameters=masses)
