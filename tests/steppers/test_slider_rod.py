"""The slider on a rod, cases 1-3 of the paper, against its exact solution."""

import numpy as np
import pytest
from loops import some

from nonsmooth import ActiveSet, GaussMPCC, GaussQP, Interrupted, Landing, Osqp, Rigid, Trajectory, simulate
from nonsmooth_problems import slider_crank_translational, slider_rod
from nonsmooth_problems.slider_rod_exact import solve

C = 1e-5  # clearance [m]
CASES = (1, 2, 3)
#: positions / c, impact times [s], impulses (relative): case 3 is nonlinear, so the second-order step shows
TOLERANCES = {1: (1e-9, 1e-11, 1e-8), 2: (1e-9, 1e-11, 1e-8), 3: (1e-6, 1e-10, 1e-7)}
#: the first impacts of slider_rod at e = 0, from independent event-driven integration (DOP853, 1e-13)
REFERENCE = {
    1: [(1.4278431229270646e-3, "left_lower", 0.0350178526), (1.4278431229270646e-3, "right_lower", 0.0350178526)],
    2: [
        (1.4056302831688e-3, "right_lower", 0.0437799770504),
        (1.4656833601216e-3, "left_lower", 0.0322970700183),
        (2.0765396795755e-3, "right_lower", 0.0074531700042),
        (2.2326479664523e-3, "left_lower", 0.0017199623087),
        (2.2651787763641e-3, "right_lower", 0.000396914378923),
    ],
    3: [(1.788854560885345e-3, "left_upper", 0.0447213819), (1.788854560885345e-3, "right_lower", 0.0447213819)],
}
SCHEMES = {
    "GaussMPCC": GaussMPCC(),
    "GaussMPCC, active set": GaussMPCC(solver=ActiveSet()),
    "GaussQP": GaussQP(),
    "GaussQP, OSQP": GaussQP(solver=Osqp()),
}


def landed(case, stepper, t_end=0.02, dt_max=1e-3):
    return simulate(slider_rod(case=case).build(), stepper, t_end=t_end, dt=Landing(1e-6, dt_max))


@pytest.mark.parametrize("scheme", some(SCHEMES, 3))
@pytest.mark.parametrize("case", CASES)
def test_landing_is_exact(case, scheme):
    trajectory = landed(case, SCHEMES[scheme])
    position, time, impulse = TOLERANCES[case]
    assert trajectory.counts["steps"] <= 30
    assert trajectory.counts["fallbacks"] == trajectory.counts["shortened"] == 0

    exact = slider_rod.exact(case=case).sample(trajectory.t)
    for name, scale in (("slider.x", C), ("slider.y", C), ("slider.angle", C / 0.01)):
        assert np.max(np.abs(trajectory.q[name] - exact.q[name])) <= position * scale, name

    impacts = trajectory.impacts
    for i, (t, contact, P) in enumerate(REFERENCE[case]):
        assert impacts["contact"][i] == f"guide.{contact}"
        assert impacts["t"][i] == pytest.approx(t, abs=time, rel=0)
        assert impacts["P_N"][i] == pytest.approx(P, rel=max(impulse, 1e-8))  # the page gives 10 to 12 digits

    for name, force in slider_rod.exact(case=case).rest_force.items():
        assert trajectory.lam_N[name][-1] == pytest.approx(force, abs=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_certificate_over_the_whole_stroke(case):
    trajectory = landed(case, GaussMPCC(), t_end=0.1)
    certificate = trajectory.certificate
    assert trajectory.counts["fallbacks"] == trajectory.counts["shortened"] == 0
    assert trajectory.counts["IpoptMPCC"] >= trajectory.counts["steps"]
    assert trajectory.q["slider.x"][-1] == pytest.approx(0.5 * 50 / 5 * 0.1**2, abs=1e-12)
    assert certificate.gap_violation <= 1e-12
    assert certificate.complementarity <= 1e-12
    assert certificate.motion_residual <= 1e-12


@pytest.mark.parametrize("stepper", [GaussQP(), GaussMPCC(solver=ActiveSet())], ids=["GaussQP", "GaussMPCC"])
@pytest.mark.parametrize("dt", [1e-3, 1e-4, pytest.param(1e-5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", some(CASES, 3))
def test_constant_step_keeps_the_total_impulse(case, dt, stepper):
    """The total impulse of each end, impacts included, is its rest force times T; cos(theta) moves it in case 3."""
    t_end = min(0.1, 2000 * dt)
    trajectory = simulate(slider_rod(case=case).build(), stepper, t_end=t_end, dt=dt)
    assert trajectory.certificate.gap_violation <= 1e-12
    for name, force in slider_rod.exact(case=case).rest_force.items():
        total = trajectory.P_N[name].sum()
        assert total == pytest.approx(force * t_end, rel=1e-7 if case == 3 else 1e-9, abs=1e-15)


@pytest.mark.parametrize("restitution", some([0.3, 0.5, 0.8], 3))
@pytest.mark.parametrize("case", CASES)
def test_bounces_end_where_they_must(case, restitution):
    """Impacts are the exact ones; bouncing ends within the last flights that dt_min leaves out; then it rests."""
    contact = Rigid(restitution=restitution, friction=0.0)
    system, exact = slider_rod(case=case, contact=contact).build(), slider_rod.exact(case=case, contact=contact)
    for dt_min in (1e-5, 1e-6):
        trajectory = simulate(system, GaussQP(), t_end=0.03, dt=Landing(dt_min, 1e-3))
        times = trajectory.impacts["t"]
        # case 3 is nonlinear: its first flight errs by 2e-11 s at this dt_max, the next ones add to it
        assert np.allclose(
            times[:6], [impact.t for impact in exact.impacts[:6]], rtol=0, atol=3e-10 if case == 3 else 1e-11
        )
        if (case, restitution) != (2, 0.8):  # chaotic, see below
            assert abs(times[-1] - exact.rest_time) <= 2 * dt_min / (1 - restitution)
        for name, force in exact.rest_force.items():
            assert trajectory.lam_N[name][-1] == pytest.approx(force, abs=1e-8)


@pytest.fixture(scope="module")
def bouncing_in_turn():
    """Case 2 at e = 0.8, where the ends bounce in turn: an error grows by a factor of 1.6 from impact to impact.

    The offset s changed by 1e-10 of itself moves the accumulation by 2e-5 s, so nothing can be said of its time as
    such. What can be: the impacts are the exact ones as long as errors stay small, and the run ends where the exact
    motion from its own last impacts does.
    """
    contact = Rigid(restitution=0.8, friction=0.0)
    return slider_rod(case=2, contact=contact).build(), slider_rod.exact(case=2, contact=contact)


@pytest.mark.slow
@pytest.mark.parametrize("dt_max", [1e-3, 1e-4])
def test_thirty_impacts_of_ends_that_bounce_in_turn(bouncing_in_turn, dt_max):
    """Of second order in dt_max, since the sine bends the flights by 1e-7 of themselves."""
    system, exact = bouncing_in_turn
    impacts = simulate(system, GaussQP(), t_end=0.015, dt=Landing(1e-6, dt_max)).impacts
    for k, one in enumerate(exact.impacts[:30]):
        assert impacts["contact"][k] == one.contact
        assert impacts["t"][k] == pytest.approx(one.t, abs=1e-6 * dt_max**2 * 1.6**k + 1e-15, rel=0)


@pytest.mark.parametrize("dt_min", some([1e-5, 1e-6, 1e-7], 3))
def test_ends_that_bounce_in_turn_come_to_rest(bouncing_in_turn, dt_min):
    """The exact motion from the tenth impact before the last one ends within the flights that dt_min leaves out.

    Of both ends, 2 dt_min / (1 - e); what an end leaves out stirs the other one, and of 28 starts that differ by
    round-off ten exceed that, by half of it at most.
    """
    system, exact = bouncing_in_turn
    trajectory = simulate(system, GaussQP(), t_end=0.03, dt=Landing(dt_min, 1e-3))
    times = np.unique(trajectory.impacts["t"])
    row = int(np.searchsorted(trajectory.t, times[-11]))
    y, angle = (trajectory.q[name][row] for name in ("slider.y", "slider.angle"))
    v, spin = (trajectory.v[name][row] for name in ("slider.y", "slider.angle"))
    arm = exact.half_length * np.array([-1.0, 1.0])
    heights, rates = y + arm * np.sin(angle), v + arm * np.cos(angle) * spin
    heights[np.abs(heights) > C * (1 - 1e-8)] = -C  # both ends bounce on the lower walls
    rates[np.abs(rates) < 1e-12] = 0.0
    given = ("mass", "inertia", "half_length", "clearance", "force", "offset", "gravity", "restitution")
    onward = solve(**{name: getattr(exact, name) for name in given}, start=(heights, rates))
    assert len(onward.impacts) > 10
    assert abs(times[-1] - (times[-11] + onward.rest_time)) <= 4 * dt_min / (1 - 0.8)


def test_a_start_that_strikes_begins_with_its_impact():
    system = slider_rod(case=1).build()
    start = system.state({"slider.y": -C}, velocities={"slider.y": -0.02})
    trajectory = simulate(system, GaussQP(), t_end=1e-3, dt=Landing(1e-6, 1e-3), state=start)
    assert trajectory.left.v["slider.y"][0] == -0.02
    assert trajectory.v["slider.y"][0] == pytest.approx(0.0, abs=1e-17)
    assert trajectory.P_N["guide.left_lower"][0] == pytest.approx(5 * 0.02 / 2, rel=1e-12)


class Stop:
    """Presses Ctrl-C after so many steps at least."""

    def __init__(self, steps):
        self.steps = steps

    def __call__(self, t, t_end, steps):
        if steps >= self.steps:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-4, Landing(1e-6, 1e-3)], ids=["constant", "landing"])
@pytest.mark.parametrize("stepper", [GaussQP(), GaussMPCC()], ids=["QP", "MPCC"])
def test_an_interrupted_run_goes_on_to_the_same_bits(stepper, dt, tmp_path):
    system, t_end = slider_rod(case=2).build(), 0.2 if isinstance(stepper, GaussQP) else 0.05
    whole = simulate(system, stepper, t_end=t_end, dt=dt)
    with pytest.raises(Interrupted, match=r"after \d+ steps") as stopped:
        simulate(system, stepper, t_end=t_end, dt=dt, progress=Stop(5))
    first = stopped.value.trajectory
    n = len(first.t) - 1
    assert 5 <= n < len(whole.t) - 1
    first.save(tmp_path / "run.nc")
    end = Trajectory.load(tmp_path / "run.nc").end
    second = simulate(system, stepper, t_end=t_end, dt=dt, state=end)
    assert np.array_equal(second.q.array, whole.q.array[n:])
    assert np.array_equal(second.P_N.array[1:], whole.P_N.array[n + 1 :])


def test_parameters_change_without_rebuilding():
    system = slider_rod(case=1).build()
    trajectory = simulate(system, GaussQP(), t_end=0.01, dt=1e-3, parameters={"guide.clearance": 2e-5})
    assert trajectory.q["slider.y"][-1] == pytest.approx(-2e-5, abs=1e-17)
    assert simulate(system, GaussQP(), t_end=0.01, dt=1e-3).q["slider.y"][-1] == pytest.approx(-C, abs=1e-17)


def test_record_keeps_every_kth_row_and_all_impulse():
    system = slider_rod(case=1).build()
    full = simulate(system, GaussQP(), t_end=0.01, dt=1e-4)
    thin = simulate(system, GaussQP(), t_end=0.01, dt=1e-4, record=7)
    assert len(thin.t) == 1 + -(-100 // 7)
    assert np.array_equal(thin.t[1:-1], full.t[7::7])
    assert thin.t[-1] == full.t[-1]
    assert thin.P_N["guide.left_lower"].sum() == pytest.approx(full.P_N["guide.left_lower"].sum(), rel=1e-14)
    assert thin.certificate.motion_residual == full.certificate.motion_residual


@pytest.mark.parametrize("stepper", [GaussQP(), GaussMPCC()])
def test_plastic_impacts_of_constant_steps_are_losses_of_impacts(stepper):
    """m g c at the first touch, in all impulses of the steps that close the gap, to first order in dt."""
    loss = 5.0 * 9.81 * C
    for dt in (1e-4, 2e-5):
        energy = simulate(slider_rod(case=1).build(), stepper, t_end=0.004, dt=dt).certificate.energy
        assert 0.0 < energy.loss_impacts / loss - 1.0 < 800.0 * dt  # 7.4 % at 1e-4 s
        assert abs(energy.remainder - (energy.loss_impacts - loss)) < 1e-10


def test_plastic_impacts_within_joints_lose_what_located_ones_do():
    """What joints answer to an impact belongs to it; the rest of the dissipation of the scheme is its remainder."""
    system = slider_crank_translational(contact=Rigid(restitution=0.0, friction=0.1)).build()
    located = simulate(system, GaussQP(), t_end=0.01, dt=Landing(1e-6, 5e-5)).certificate.energy
    for dt in (1e-4, 5e-5):
        energy = simulate(system, GaussQP(), t_end=0.01, dt=dt).certificate.energy
        assert energy.loss_impacts == pytest.approx(located.loss_impacts, rel=250.0 * dt)  # 1.8 % at 1e-4 s
