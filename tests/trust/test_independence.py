"""Runs that are compared do not share their error: steps between corners of loads, and round-off."""

from math import erf, exp, pi, sqrt

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    ErrorControl,
    EventDriven,
    GaussQP,
    Ground,
    Landing,
    Load,
    Model,
    PlanarBody,
    PointForce,
    PointPlane,
    PrismaticClearance,
    Rigid,
    SpatialBody,
    SpatialPrismaticClearance,
    Table,
    TimeVector,
    simulate,
)
from nonsmooth.model.corners import divided

CLEARANCE = 1e-5
pytestmark = pytest.mark.filterwarnings("ignore:model. the model has no gravity")


def driven(factor, **body):
    """A slide of mass 1 kg and velocity 1 m/s under a force that is a function of time times its velocity."""
    contact = Rigid(restitution=0.0, friction=0.0)
    slide = PlanarBody("b", mass=1.0, inertia=1.0, velocity=(1.0, 0.0), **body)
    guide = PrismaticClearance("g", "ground", "b", length=0.02, clearance=CLEARANCE, contact=contact)
    load = Load("L", "ground", "b", force=lambda t, a, b, p: (factor(t) * b.velocity[0], 0.0))
    return Model([Ground(), slide, guide, load]).build()


def test_parts_of_short_intervals():
    found = divided(np.array([0.3, 0.3001, 1.0]), 0.0, 4, 0.01)
    np.testing.assert_allclose(found, [0.3, 0.300025, 0.30005, 0.300075, 0.3001, 1.0], rtol=1e-15)
    assert divided(np.array([0.3, 0.3001]), 0.0, 1, 0.01).tolist() == [0.3, 0.3001]


@pytest.mark.parametrize("at", [0.61234, 0.55])
def test_a_pulse_of_a_damper(at):
    """Velocities grow by e, the exponential of the area of the pulse: all of its parts are shorter than dt_max."""
    w = 1e-5
    run = simulate(driven(lambda t: np.exp(-(((t - at) / w) ** 2)) / (w * sqrt(pi))), t_end=1.0)
    exact = quad(lambda s: exp((1.0 + erf((s - at) / w)) / 2.0), at - 8 * w, at + 8 * w, epsabs=1e-14, epsrel=1e-13)[0]
    exact += at - 8 * w + exp(1.0) * (1.0 - at - 8 * w)
    assert run.verdict.kind == "accurate"
    assert abs(run.q["b.x"][-1] - exact) < 0.01 * CLEARANCE  # the requested accuracy


@pytest.mark.parametrize("width", [1e-6, 1e-7])
def test_the_tails_of_a_pulse_of_a_damper(width):
    """By time stepping, whose steps beside a pulse are as long as elsewhere: 2e-4 of the pulse is in its tails."""
    at, clearance = 0.61234, 1e-4
    pulse = driven(lambda t: np.exp(-(((t - at) / width) ** 2)) / (width * sqrt(pi)))
    run = simulate(pulse, GaussQP(), t_end=1.0, parameters={"g.clearance": clearance})
    assert run.verdict.kind == "accurate"
    # requested: a hundredth of the clearance, after 0.39 s
    assert abs(run.v["b.x"][-1] - exp(1.0)) * (1.0 - at) < 0.01 * clearance


def test_a_step_that_is_halved_is_not_the_half_of_a_finer_run():
    """A window of 0.2 ms in steps of 1 ms in space: the load is so stiff that the step is repeated as two, of which the
    window of a finer run consisted as well. Both had three quarters of the velocity after it, "within 2e-9 %"."""
    area, begin, end = -2.2, 0.6986, 0.6988
    pulse = lambda t: ca.if_else(ca.logic_and(t > begin, t < end), area / (end - begin), 0.0)  # noqa: E731
    load = Load("L", "ground", "b", force=lambda t, a, b, p: tuple(pulse(t) * b.velocity[i] for i in range(3)))
    slide = SpatialBody("b", mass=1.0, inertia=(0.01, 0.01, 0.01), velocity=(0.5, 0.0, 0.0))
    axes = dict(axis_guide=(1, 0, 0), axis_slider=(1, 0, 0), across_guide=(0, 1, 0), across_slider=(0, 1, 0))
    contact = Rigid(restitution=0.0, friction=0.0)
    guide = SpatialPrismaticClearance(
        "g", "ground", "b", length=0.2, height=0.1, width=0.1, clearance=1e-4, contact=contact, **axes
    )
    system = Model([Ground(), slide, guide, load], silence=["no-gravity"]).build()
    run = simulate(system, GaussQP(), t_end=1.0, dt=Landing(1e-6, 1e-3), check=True)
    assert abs(run.v["b.x"][-1] / (0.5 * exp(area)) - 1.0) > 0.1 and run.verdict.kind == "not accurate"


@pytest.mark.parametrize(("area", "half"), [(3.0, 1e-6), (-3.0, 1e-7)])
def test_a_table_of_a_damper(area, half):
    """Steep parts of a table leave no round-off behind them, which would look like a sensitive motion."""
    table = Table(times=(0.0, 0.37 - half, 0.37, 0.37 + half, 2.0), values=(0.0, 0.0, area / half, 0.0, 0.0))
    run = simulate(driven(table), t_end=1.0)
    assert run.verdict.kind == "accurate"
    # error of positions, after 0.63 s, a hundredth of the clearance
    assert abs(run.v["b.x"][-1] - exp(area)) < 0.01 * CLEARANCE / 0.63


def test_a_table_is_exact_beside_its_steepest_parts():
    table, t = Table(times=(0.0, 0.5, 0.5 + 1e-9, 0.5 + 2e-9, 2.0), values=(1.0, 1.0, 1e9, 1.0, 3.0)), ca.SX.sym("t")
    function = ca.Function("f", [t], [table(t)])
    for at in (-1.0, 0.25, 1.1, 1.9, 2.0, 5.0):
        assert float(function(at)) == pytest.approx(table(at), rel=1e-15)


@pytest.mark.slow
def test_a_hammer_blow_on_many_gaps():
    """A blow of 1 N s within 10 us on 1 kg: v = 1 m/s, by time stepping, since the slides have 32 gaps."""
    axes = dict(axis_guide=(1, 0, 0), axis_slider=(1, 0, 0), across_guide=(0, 1, 0), across_slider=(0, 1, 0))
    contact, w, at = Rigid(restitution=0.0, friction=0.0), 1e-5, 0.37123
    slides = [
        SpatialPrismaticClearance(
            f"g{i}", "ground", "b", length=0.1, height=0.05, width=0.05, clearance=1e-4, contact=contact, **axes
        )
        for i in range(2)
    ]
    blow = PointForce("F", "b", force=lambda t: (np.exp(-(((t - at) / w) ** 2)) / (w * sqrt(pi)), 0.0, 0.0))
    body = SpatialBody("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
    run = simulate(Model([Ground(), body, *slides, blow]).build(), t_end=1.0)
    assert run.verdict.kind == "accurate"
    assert abs(run.q["b.x"][-1] - (1.0 - at)) < 0.01 * 1e-4


def discs(tilt=0.0):
    """Two equal discs on a line between walls, e = 1: -pi/2 in floating point tilts a normal by 6e-17."""
    k = Rigid(restitution=1.0, friction=0.0)
    return Model([
        Ground(),
        PlanarBody("a", mass=1.0, inertia=1.0, position=(0.3, 0.0), velocity=(1.0, 0.0)),
        PlanarBody("b", mass=1.0, inertia=1.0, position=(0.6, 0.0)),
        CirclePlane("l", "ground", "a", direction=-pi / 2 + tilt, radius=0.05, contact=k),
        CirclePlane("r", "ground", "b", at_a=(1.0, 0.0), direction=pi / 2, radius=0.05, contact=k),
        CircleCircle("c", "a", "b", radius_a=0.05, radius_b=0.05, contact=k),
    ]).build()  # fmt: skip


@pytest.mark.parametrize("tilt", [0.0, 2.3e-16, -4.5e-16])
def test_a_motion_that_depends_on_round_off_is_called_sensitive(tilt):
    """Of the 50 impacts within 20 s that a line allows, 26 or 28 take place, by the last bits of a normal."""
    verdict = simulate(discs(tilt), t_end=20.0).verdict
    assert verdict.kind == "sensitive"
    assert 1.0 < verdict.horizon < 20.0  # before, 1 ulp has not grown to a hundredth of the size of a contact


@pytest.mark.parametrize(("stepper", "dt"), [(EventDriven(), ErrorControl(1e-8)), (GaussQP(), Landing(1e-6, 1e-3))])
def test_a_checked_run_is_compared_with_one_of_other_round_off(stepper, dt):
    verdict = simulate(discs(), stepper, t_end=20.0, dt=dt, check=True).verdict
    assert verdict.kind != "accurate"


def test_the_run_itself_has_the_parameters_given():
    """Only the run that it is compared with is changed in its last digits."""
    system = driven(lambda t: 0.0)
    dt = ErrorControl(1e-8)
    plain, checked = (simulate(system, EventDriven(), t_end=0.1, dt=dt, check=check) for check in (False, True))
    np.testing.assert_array_equal(plain.q.array, checked.q.array)


@pytest.mark.parametrize("condition", ["fmod", "floor", "fmod from a half", "fmod squared", "nested fmod"])
@pytest.mark.parametrize(("period", "share"), [(0.02, 1e-5), (0.02, 1e-2), (0.3, 1e-5)])
def test_windows_of_every_period_act(condition, period, share):
    """A force that is on for a short time in each period: as many impulses of 1 N s as windows begin within 0.99 s."""
    length = share if share < period else period
    on = {
        "fmod": lambda t: ca.fmod(t, period) < length,
        "floor": lambda t: t - period * ca.floor(t / period) < length,
        "fmod from a half": lambda t: ca.fmod(t + period / 2, period) < length,
        "fmod squared": lambda t: ca.fmod(t, period) ** 2 < length**2,
        "nested fmod": lambda t: ca.fmod(ca.fmod(t, 10 * period), period) < length,
    }[condition]
    force = TimeVector((lambda t: ca.if_else(on(t), 1 / length, 0), 0.0))
    body = PlanarBody("b", mass=1.0, inertia=1.0)
    run = simulate(Model([Ground(), body, PointForce("F", "b", force=force)]).build(), t_end=0.99)
    first = 0.5 * period if "half" in condition else 0.0
    windows = len(np.arange(first, 0.99, period))
    assert run.v["b.x"][-1] == pytest.approx(windows, rel=1e-6)  # rtol of the coarser run 1e-6


@pytest.mark.parametrize(("spin", "speed", "t_end"), [(300.0, 0.1, 8.0), (1e4, 0.2, 0.55)])
@pytest.mark.parametrize("angle", [0.3, 1.1, 2.6])
def test_the_first_contact_of_a_bar_that_turns_fast(spin, speed, t_end, angle):
    """A bar of 0.2 m drifts to a wall; its lower tip touches it first when its exact free flight says so."""
    half, contact = 0.1, Rigid(restitution=0.5, friction=0.0)
    height = half + 0.6 * speed * t_end
    motion = dict(position=(0.0, height), velocity=(0.0, -speed), angle=angle, angular_velocity=spin)
    bar = PlanarBody("b", mass=1.0, inertia=(2 * half) ** 2 / 12, **motion)
    tips = [PointPlane(f"tip{i}", "ground", "b", at_b=(x, 0.0), contact=contact) for i, x in enumerate((-half, half))]
    run = simulate(Model([Ground(), bar, *tips]).build(), t_end=t_end)

    def gap(t):
        return height - speed * t - half * np.abs(np.sin(angle + spin * t))

    # the wall is within reach from (height - half) / speed on; samples of a five-hundredth of a radian
    t = np.arange((height - half) / speed, t_end, 0.002 / spin)
    i = int(np.argmax(gap(t) < 0.0))
    assert run.impacts["t"][0] == pytest.approx(brentq(gap, t[i - 1], t[i], xtol=1e-16), abs=1e-6)
