"""Moreau and Jean's scheme with joints in the middle of the step: one program per step, closed to third order."""

import numpy as np
import pytest
from shared_mechanisms import slider_crank

from nonsmooth import (
    Damper,
    Gravity,
    Ground,
    InputError,
    Model,
    MoreauJean,
    PlanarBody,
    PrescribedMotion,
    Revolute,
    Rigid,
    Spring,
    simulate,
)
from nonsmooth_problems import slider_crank_revolute

MIDPOINT = MoreauJean(joints="midpoint")


def pendulum(speed=3.0) -> Model:
    """A rod of 1 m and 2 kg in an ideal bearing."""
    rod = PlanarBody("rod", mass=2.0, inertia=1 / 6, position=(0.5, 0.0), velocity=(0.0, speed / 2),
                     angular_velocity=speed)  # fmt: skip
    return Model([Ground(), rod, Revolute("bearing", "ground", "rod", at_b=(-0.5, 0.0))])


def orders(values) -> np.ndarray:
    return np.log2(np.array(values[:-1]) / np.array(values[1:]))


def test_free_motion_is_of_second_order_and_joints_close_to_third():
    system, steps = slider_crank().build(assemble=True), (2e-4, 1e-4, 5e-5)
    drift, misfit = [], []
    for dt in steps:
        run = simulate(system, MIDPOINT, t_end=0.2, dt=dt)
        total = run.energy["kinetic"] + run.energy["potential"]
        drift.append(np.max(np.abs(total / total[0] - 1)))
        misfit.append(run.certificate.joint_violation)
        assert run.certificate.motion_residual <= 1e-12
        assert run.counts["iterations"] <= run.counts["steps"]  # joints alone are a linear system
    assert np.all((orders(drift) >= 1.7) & (orders(drift) <= 2.3))
    assert np.all((orders(misfit) >= 2.7) & (orders(misfit) <= 3.3))


def test_misfits_do_not_add_up():
    """A thousand turns under a steady motion leave what ten do: each step closes what the last one left."""
    system = pendulum(speed=50.0).build()
    short, long = (simulate(system, MIDPOINT, t_end=t_end, dt=1e-3, record=7) for t_end in (1.0, 100.0))
    assert long.certificate.joint_violation <= 1.01 * short.certificate.joint_violation
    # the arm turns by w = 0.05 in a step; what third derivatives leave is of the size of w^3 times the arm
    assert long.certificate.joint_violation <= 0.05**3 * 0.5
    for run, radians in ((short, 50.0), (long, 5000.0)):
        assert 0.0 <= run.energy["kinetic"][-1] / run.energy["kinetic"][0] - 1.0 <= radians * 0.05**4 / 20


def test_a_start_with_open_joints_closes_in_two_steps():
    """Misfits of a step are taken away by the next two, whatever they come from."""
    system = pendulum(speed=0.0).build()
    start = system.state({"rod.x": 0.5 + 5e-10})
    run = simulate(system, MIDPOINT, t_end=0.02, dt=1e-3, state=start)
    off = np.abs(run.q["rod.x"] - 0.5)
    assert off[0] == pytest.approx(5e-10, rel=1e-6) and off[1] > 1e-10
    assert np.all(off[3:] <= 1e-14)


def test_a_shorter_last_step_is_as_good_as_the_others():
    system = slider_crank().build(assemble=True)
    even, cut = (simulate(system, MIDPOINT, t_end=t_end, dt=1e-4) for t_end in (0.01, 0.01003))
    assert cut.t[-1] - cut.t[-2] == pytest.approx(3e-5)
    assert cut.certificate.joint_violation <= 1.5 * even.certificate.joint_violation


def test_forces_that_depend_on_velocities_and_places_keep_second_order():
    """Against steps sixteen times finer; a driver, a spring and a damper."""
    ground, crank_body = Ground(), PlanarBody("crank", mass=1.0, inertia=0.1, position=(0.2, 0.0), velocity=(0.0, 1.0),
                                              angular_velocity=5.0)  # fmt: skip
    rod = PlanarBody("rod", mass=1.0, inertia=0.1, position=(0.7, 0.0), velocity=(0.0, 2.0))
    more = [
        Revolute("bearing", "ground", "crank", at_b=(-0.2, 0.0)),
        PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 5.0 * t + 3.0 * t**2),
        Revolute("elbow", "crank", "rod", at_a=(0.2, 0.0), at_b=(-0.3, 0.0)),
        Spring("spring", "ground", "rod", at_a=(1.0, 1.0), stiffness=40.0, free_length=0.5),
        Damper("damper", "ground", "rod", at_a=(1.0, -1.0), damping=2.0),
    ]
    system = Model([ground, crank_body, rod, *more]).build()
    ends = {dt: simulate(system, MIDPOINT, t_end=0.4, dt=dt).q["rod.angle"][-1] for dt in (4e-3, 2e-3, 1e-3, 1e-3 / 16)}
    truth = ends.pop(1e-3 / 16)
    found = orders([abs(end - truth) for end in ends.values()])
    assert np.all((found >= 1.8) & (found <= 2.2))


def test_impacts_leave_misfits_of_a_step_only_and_one_program_each():
    """The energy that steps do not account for is that of a scheme of second order, where `rattle` loses the first."""
    system = slider_crank_revolute().build()
    runs = {
        joints: simulate(system, MoreauJean(joints=joints), t_end=4e-3, dt=1e-5) for joints in ("midpoint", "rattle")
    }
    run, twin = runs["midpoint"], runs["rattle"]
    assert run.counts["solves"] <= run.counts["steps"] < twin.counts["solves"] + twin.counts["steps"]
    # dt^2 times the change of the second derivative: 500 rad/s strike, the crank's radius turns with 523 rad/s
    assert run.certificate.joint_violation <= (1e-5 * 523.6) ** 2 * 0.05
    assert abs(run.certificate.energy.remainder) <= 1e-2 * abs(twin.certificate.energy.remainder)
    # both are of first order through impacts: they agree as far as one step moves the slider, 26 m/s at most
    assert np.max(np.abs(run.q["slider.x"] - twin.q["slider.x"])) <= 26.0 * 1e-5


def test_a_run_goes_on_to_the_same_bits():
    system, run = slider_crank_revolute().build(), {"dt": 1e-5}
    whole = simulate(system, MIDPOINT, t_end=1e-3, **run)
    first = simulate(system, MIDPOINT, t_end=5e-4, **run)
    second = simulate(system, MIDPOINT, t_end=1e-3, **run, state=first.end)
    half = len(first.t) - 1
    for table in ("q", "v", "P_N", "reaction"):
        ours, theirs = getattr(second, table).array, getattr(whole, table).array
        assert np.array_equal(ours[1:], theirs[half + 1 :]), table


def test_a_run_of_the_other_scheme_goes_on():
    system = slider_crank_revolute().build()
    first = simulate(system, MoreauJean(), t_end=5e-4, dt=1e-5)
    second = simulate(system, MIDPOINT, t_end=1e-3, dt=1e-5, state=first.end)
    assert second.counts["fallbacks"] == 0
    assert second.certificate.joint_violation <= (1e-5 * 523.6) ** 2 * 0.05


@pytest.mark.slow  # compiles the text of another impact law
def test_impacts_between_steps_keep_joints_closed():
    """Poisson's law acts at the ends of steps; what it changes of the rates of joints is known to the next step."""
    contact = Rigid(restitution=0.5, friction=0.1, impact="poisson")
    system = slider_crank_revolute(contact=contact).build()
    run = simulate(system, MIDPOINT, t_end=1e-3, dt=1e-5)
    assert len(run.impacts) > 0
    assert run.certificate.joint_violation <= (1e-5 * 523.6) ** 2 * 0.05
    assert run.certificate.motion_residual <= 1e-9


def test_without_joints_it_is_the_same_scheme():
    model = Model([Ground(), PlanarBody("body", mass=1.0, inertia=0.1), Gravity(acceleration=(0.0, -9.81))])
    runs = [simulate(model.build(), MoreauJean(joints=joints), t_end=0.1, dt=1e-3) for joints in ("midpoint", "rattle")]
    assert np.array_equal(runs[0].q.array, runs[1].q.array)


def test_it_says_what_it_does_and_refuses_what_it_does_not():
    run = simulate(pendulum().build(), MIDPOINT, t_end=1e-2, dt=1e-3)
    assert "middle of the step" in run.manifest["rules"]["joints"]
    with pytest.raises(InputError, match='joints must be "rattle" or "midpoint", got '):
        MoreauJean(joints="shake")
    with pytest.raises(InputError, match=r'"midpoint" requires theta=0.5 and projection=None, got theta=0.7'):
        MoreauJean(joints="midpoint", theta=0.7)
    with pytest.raises(InputError, match=r'"midpoint" requires theta=0.5 .* projection=.combined'):
        MoreauJean(joints="midpoint", projection="combined")
