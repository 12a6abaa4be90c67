"""Contacts that last much less than a step."""

import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Harmonic,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PointPlane,
    Revolute,
    Rigid,
    Table,
    simulate,
)
from nonsmooth.laws import Flores
from nonsmooth.solvers import Dop853, Radau
from nonsmooth.trajectory import verdict as module
from nonsmooth.trajectory.certificate import ENERGIES
from nonsmooth.trust import missed_contacts
from nonsmooth_problems import bouncing_ball, slider_rod

pytestmark = pytest.mark.filterwarnings("ignore:model. the model has no gravity")

RIGID = Rigid(restitution=1.0, friction=0.0)


def bar(radius, speed, law=RIGID):
    """A bar that turns about a pin; its round tip meets a round peg once per turn."""
    at = 1.0 + 0.5 * radius
    return Model([
        Ground(),
        PlanarBody(
            "p", mass=1.0, inertia=1 / 12, position=(0.5, 0.0), velocity=(0.0, 0.5 * speed), angular_velocity=speed
        ),
        Revolute("j", "ground", "p", at_b=(-0.5, 0.0)),
        CircleCircle(
            "c", "ground", "p", at_a=(np.cos(2.1) * at, np.sin(2.1) * at), at_b=(0.5, 0.0), radius_a=radius,
            radius_b=radius, contact=law,
        ),
    ]).build()  # fmt: skip


def impacts(radius, speed):
    """Exact times of the impacts in one second: the tip is at the peg's surface, and turns back."""
    at = 1.0 + 0.5 * radius
    half = np.arccos((1.0 + at**2 - 4.0 * radius**2) / (2.0 * at))
    times = (2.1 - half) / speed + np.arange(40) * (2.0 * np.pi - 2.0 * half) / speed
    return times[times < 1.0]


@pytest.mark.parametrize(("radius", "speed"), [(1e-4, 20.0), (1e-4, 50.0), (1e-3, 20.0), (2e-4, 5.0), (1e-4, 3.0)])
def test_default_call(radius, speed):
    run = simulate(bar(radius, speed), t_end=1.0)
    assert run.verdict.kind == "accurate"
    # the last rung has a tolerance of 1e-6 at most
    np.testing.assert_allclose(run.impacts["t"], impacts(radius, speed), rtol=1e-5)


@pytest.mark.parametrize("dt", [1e-3, 2e-4])
def test_event_locating_steps(dt):
    run = simulate(bar(1e-4, 20.0), GaussQP(), t_end=1.0, dt=Landing(1e-6, dt))
    # of second order: (20/s dt)^2 / 8 relative
    np.testing.assert_allclose(run.impacts["t"], impacts(1e-4, 20.0), rtol=(20.0 * dt) ** 2 / 4)


@pytest.mark.parametrize(("stepper", "t"), [(MoreauJean(), "0.105"), (GeneralizedAlpha(), "0.409")])
def test_constant_steps_say_which_contact_they_miss(stepper, t):
    system = bar(1e-4, 20.0)
    run = simulate(system, stepper, t_end=0.5, dt=1e-3)
    assert run.verdict.kind == "not accurate"
    assert f'contact "c" is missed near t = {t}' in run.verdict.text
    assert list(missed_contacts(run, system, system.parameter_values)) == ["c"]


def test_a_contact_is_missed_in_a_long_run_as_in_a_short_one(monkeypatch):
    """The tip passes the peg six times, more often than is looked at: where the bound of the gap is lowest."""
    monkeypatch.setattr(module, "MOST", 1)
    system = bar(4e-7, 5.0)
    run = simulate(system, MoreauJean(), t_end=8.0, dt=1e-3)
    assert list(missed_contacts(run, system, system.parameter_values)) == ["c"]


def test_a_run_of_some_rows_says_what_it_does_not_look_for():
    system = bar(4e-7, 5.0)
    every, some = (simulate(system, MoreauJean(), t_end=1.0, dt=1e-3, record=k) for k in (1, 2))
    assert "is missed near t = 0.4199" in every.verdict.text
    assert some.verdict.kind == "not checked" and "were not looked for" in some.verdict.text


@pytest.mark.parametrize("stepper", [MoreauJean(), GeneralizedAlpha()])
def test_an_obstacle_much_smaller_than_the_size_of_its_contact(stepper):
    """A peg of 0.4 um, in steps of 5 mm; the size of the contact is 10 mm by default."""
    run = simulate(bar(4e-7, 5.0), stepper, t_end=1.0, dt=1e-3, check=True)
    assert len(run.impacts) == 0 and run.verdict.kind == "not accurate"
    assert 'contact "c" is missed near t = 0.4' in run.verdict.text
    assert run.verdict.text.count("missed") == 1  # the finer run misses it too


def test_a_row_within_an_obstacle():
    # the row at 0.42 s is in the middle of the peg; the scheme of velocities moves on
    run = simulate(bar(2e-4, 5.0), MoreauJean(), t_end=0.5, dt=1e-3)
    assert len(run.impacts) == 0
    assert "near t = 0.42 s" in run.verdict.text


@pytest.mark.parametrize("solver", [Dop853(), Radau()])
def test_compliant_contact_much_shorter_than_a_step(solver):
    system = bar(1e-4, 20.0, Compliant(Flores(stiffness=1e11, restitution=0.99)))
    run = simulate(system, CompliantDae(solver=solver), t_end=0.2, dt=ErrorControl(1e-7))
    # of 0.02 ms, in steps of 0.4 ms, which the peg does not stop; speed after it by both integrators at 1e-10
    assert run.lam_N["c"].max() > 1e5
    assert run.v["p.angle"][-1] == pytest.approx(19.9601, rel=1e-5)


def test_contacts_that_another_one_opens_are_not_missed():
    # steps of velocities overlap a little before both corners of the slider turn back
    system = slider_rod(case=2).build()
    for dt in (4e-6, 1.3333333333333333e-05):
        run = simulate(system, MoreauJean(), t_end=2e-3, dt=dt)
        assert missed_contacts(run, system, system.parameter_values) == {}


def test_a_load_that_varies_faster_than_samples():
    body = PlanarBody("b", mass=1.0, inertia=1.0)
    push = Harmonic(1.0, period=3e-5)
    system = Model([Ground(), body, PointForce("F", "b", force=lambda t: (push(t), 0.0))]).build()
    coarse, fine = (simulate(system, MoreauJean(), t_end=1.0, dt=dt) for dt in (1e-3, 5e-6))
    later = simulate(system, MoreauJean(), t_end=2.0, dt=1e-3, state=coarse.end)
    for run in (coarse, later):
        assert "a load or driver may vary within 6.1e-05 s" in run.verdict.text
    assert "may vary" not in fine.verdict.text


def test_contacts_that_are_seen():
    system = bouncing_ball().build()
    for stepper, dt in ((EventDriven(), None), (MoreauJean(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3))):
        run = simulate(system, stepper, t_end=2.0, dt=dt)
        assert missed_contacts(run, system, system.parameter_values) == {}


def test_a_fine_tolerance_is_not_blind_before_the_default_call():
    """The end of a rod that turns by 3000 rad/s while its centre sinks; with `dt_max` of 1/500 of the run for any rtol
    the first impact was 6 ms late."""
    speed = 3000.0
    body = PlanarBody("b", mass=1.0, inertia=1 / 3, position=(0.0, 1.2), velocity=(0.0, -0.5), angular_velocity=speed)
    system = Model([Ground(), body, PointPlane("end", "ground", "b", at_b=(-1.0, 0.0), contact=RIGID)]).build()
    t = np.linspace(0.3, 0.5, 2_000_001)
    gap = 1.2 - 0.5 * t - np.sin(speed * t)
    first = t[np.argmax(gap < 0.0)]
    for stepper, dt in ((None, None), (EventDriven(), ErrorControl(1e-9))):
        run = simulate(system, stepper, t_end=1.0, dt=dt)
        assert run.impacts["t"][0] == pytest.approx(first, abs=2e-7)


def test_a_hammer_blow_on_a_free_body_with_programs_of_mpcc():
    """Triangle of 20 us and 1 N s through nodes of a table; steps of 10 ms cannot see it by themselves."""
    blow = Table(times=(0.0, 0.09999, 0.1, 0.10001, 0.2), values=(0.0, 0.0, 1e5, 0.0, 0.0))
    body = PlanarBody("b", mass=2.0, inertia=1.0)
    system = Model([Ground(), body, PointForce("F", "b", force=lambda t: (blow(t), 0.0))]).build()
    run = simulate(system, GaussMPCC(), t_end=0.2, dt=Landing(1e-5, 1e-2), check=True)
    assert run.verdict.kind == "accurate"
    assert run.v["b.x"][-1] == pytest.approx(0.5, rel=1e-6)
    assert run.q["b.x"][-1] == pytest.approx(0.05, rel=1e-6)
    constant = simulate(system, GaussMPCC(), t_end=0.2, dt=1e-2)
    # implicit Euler in parts of the step: within 2 %, and not called right
    assert constant.v["b.x"][-1] == pytest.approx(0.5, rel=2e-2)
    assert constant.verdict.kind == "not accurate"


def test_lack_of_memory_to_look_for_missed_contacts_loses_no_step(monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr("nonsmooth.trajectory.verdict.missed_contacts", exhausted)
    run = simulate(slider_rod(case=2).build(), GaussQP(), t_end=0.01, dt=1e-4)
    assert run.status == "finished" and len(run.t) == 101
    assert run.verdict.kind == "not accurate" and "lack of memory" in run.verdict.text


def test_energy_that_a_resting_body_gains_in_its_last_step_is_told():
    """A step of 1 ulp that closes a gap of 1 ulp leaves the body with 20 m/s, at which it has not moved so far."""
    floor = PointPlane("floor", "ground", "ball", contact=Rigid(restitution=0.0, friction=0.0))
    ball = PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, 0.0))
    system = Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -9.81))]).build()
    run = simulate(system, GaussQP(), t_end=0.02, dt=1e-3)
    v, energy = run.v.array.copy(), {name: run.energy[name].copy() for name in ENERGIES}
    v[-1, system.v_names.index("ball.y")] = 20.0
    energy["kinetic"][-1] = energy["remainder"][-1] = 0.5 * 20.0**2
    rows = {"t": run.t, "q": run.q.array, "gap": run.gap.array}
    told = [
        module.first_verdict(
            system, system.parameter_values, run.certificate, v=one, energy=of, counts={}, status="finished", **rows
        )[1]
        for one, of in ((run.v.array, {name: run.energy[name] for name in ENERGIES}), (v, energy))
    ]
    assert told[0].kind == "not checked" and told[1].kind == "not accurate"
    assert "a remainder of 2e+02 J" in told[1].text
