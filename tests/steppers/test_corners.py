"""Steps end where loads are not smooth: a blow shorter than a step acts in full, by every stepper."""

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    CirclePlane,
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SpatialBody,
    Table,
    simulate,
    simulate_batch,
)
from nonsmooth.laws import Flores
from nonsmooth.solvers import Dop853, Radau

pytestmark = pytest.mark.filterwarnings("ignore:model. the model has no gravity")

#: 20 us, 1 N s
BLOW = Table(times=(0.0, 0.37119, 0.3712, 0.37121, 1.0), values=(0.0, 0.0, 1e5, 0.0, 0.0))
STEPS = [
    (EventDriven(), ErrorControl(1e-6)),
    (GaussQP(), Landing(1e-6, 1e-3)),
    (GaussQP(), 1e-3),
    (MoreauJean(), 1e-3),
    (GeneralizedAlpha(), 1e-3),
]


def free(dimension=2):
    if dimension == 3:
        body = SpatialBody("b", mass=1.0, inertia=(1.0, 1.0, 1.0))
        return Model([Ground(), body, PointForce("F", "b", force=lambda t: (BLOW(t), 0.0, 0.0))]).build()
    body = PlanarBody("b", mass=1.0, inertia=1.0)
    return Model([Ground(), body, PointForce("F", "b", force=lambda t: (BLOW(t), 0.0))]).build()


@pytest.mark.parametrize(("stepper", "dt"), STEPS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_free_body(dimension, stepper, dt):
    run = simulate(free(dimension), stepper, t_end=1.0, dt=dt)
    assert {0.37119, 0.3712, 0.37121} <= set(run.t.tolist())
    # the force is linear between corners, which all of them integrate to the tolerance of their equations; generalised
    # alpha is of second order there
    exact = 1e-4 if isinstance(stepper, GeneralizedAlpha) else 1e-7
    assert run.v["b.x"][-1] == pytest.approx(1.0, rel=exact)
    assert run.q["b.x"][-1] == pytest.approx(1.0 - 0.3712, rel=1e-4 if dt == 1e-3 else 1e-5)
    if not isinstance(stepper, GeneralizedAlpha) and not (isinstance(stepper, GaussQP) and dt == 1e-3):
        assert run.verdict.signs == ()  # of a balance whose work is that of the midpoint, as of these


def test_default_call():
    run = simulate(free(), t_end=1.0)
    assert run.verdict.kind == "accurate"
    assert run.q["b.x"][-1] == pytest.approx(0.6288, rel=1e-5)


def test_constant_steps_return_to_their_grid():
    run = simulate(free(), MoreauJean(), t_end=1.0, dt=1e-3)
    grid = 1e-3 * np.arange(1001)
    others = run.t[np.min(np.abs(run.t[:, None] - grid), axis=1) > 1e-12]
    np.testing.assert_allclose(others, [0.37119, 0.3712, 0.37121], rtol=0.0, atol=1e-15)


def test_more_corners_than_records_have_room_for():
    # a force that rises and falls 200 times in 1 ms each, with 400 corners
    times, values = 1e-3 * np.arange(1, 401), np.tile([0.0, 1.0], 200)
    saw = Table(times=tuple(times), values=tuple(values))
    body = PlanarBody("b", mass=1.0, inertia=1.0)
    system = Model([Ground(), body, PointForce("F", "b", force=lambda t: (saw(t), 0.0))]).build()
    run = simulate(system, MoreauJean(), t_end=0.5, dt=0.01)
    assert set(times.tolist()) <= set(run.t.tolist())
    # 399 edges of 1 ms with a mean of 1/2, and the last value to the end
    assert run.v["b.x"][-1] == pytest.approx(399 * 0.5e-3 + 0.1, rel=1e-12)


@pytest.mark.parametrize(("stepper", "dt"), STEPS)
def test_pendulum(stepper, dt):
    hammer = PointForce("hammer", "p", force=lambda t: (0.0, BLOW(t)), at=(0.5, 0.0))
    body = PlanarBody("p", mass=1.0, inertia=1 / 12, position=(0.5, 0.0))
    pin = Revolute("j", "ground", "p", at_b=(-0.5, 0.0))
    system = Model([Ground(), body, pin, Gravity(acceleration=(0.0, -9.81)), hammer]).build()
    run = simulate(system, stepper, t_end=1.0, dt=dt)
    # event-driven, order five, rtol 1e-10, steps of 2 us in the blow; without the blow -3.1334
    first_order = isinstance(stepper, GaussQP) and dt == 1e-3
    assert run.q["p.angle"][-1] == pytest.approx(-2.6511590903, rel=1e-2 if first_order else 1e-4)


def test_batch_and_continued_run_are_the_same_run():
    system, whole = free(), simulate(free(), MoreauJean(), t_end=1.0, dt=1e-3)
    masses = [system.parameters["b.mass"], 2.0]
    ends = simulate_batch(system, MoreauJean(), {"b.mass": masses}, t_end=1.0, dt=1e-3)
    assert ends["v"].values[0].tolist() == whole.v.array[-1].tolist()
    assert ends["v"].values[1, 0] == pytest.approx(0.5, rel=1e-9)
    first = simulate(system, MoreauJean(), t_end=0.3712, dt=1e-3)
    second = simulate(system, MoreauJean(), t_end=1.0, dt=1e-3, state=first.end)
    np.testing.assert_allclose(second.q.array[-1], whole.q.array[-1], rtol=1e-12)


@pytest.mark.parametrize("solver", [Dop853(), Radau()])
def test_compliant(solver):
    law = Compliant(Flores(stiffness=1e7, restitution=0.8))
    body = PlanarBody("b", mass=1.0, inertia=1.0, position=(0.0, 0.2))
    floor = CirclePlane("floor", "ground", "b", radius=0.1, contact=law)
    system = Model([Ground(), body, floor, PointForce("F", "b", force=lambda t: (BLOW(t), 0.0))]).build()
    run = simulate(system, CompliantDae(solver=solver), t_end=1.0, dt=ErrorControl(1e-8))
    assert {0.37119, 0.3712, 0.37121} <= set(run.t.tolist())
    assert run.v["b.x"][-1] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("motion", [Table(times=(0.0, 1.0), values=(0.0, 0.5)), lambda t: 0.25 * (t + ca.fabs(t))])
@pytest.mark.parametrize(("stepper", "dt"), [*STEPS, (CompliantDae(), ErrorControl(1e-8))])
def test_a_driver_with_a_kink_at_the_start(stepper, dt, motion):
    """What hangs at a cart that moves at constant speed from the start on does not swing."""
    cart = PlanarBody("cart", mass=1.0, inertia=1.0, velocity=(0.5, 0.0))
    bob = PlanarBody("bob", mass=2.0, inertia=0.01, position=(0.0, -0.3), velocity=(0.5, 0.0))
    law = (
        Compliant(Flores(stiffness=1e7, restitution=0.8))
        if isinstance(stepper, CompliantDae)
        else Rigid(restitution=0.0, friction=0.0)
    )
    floor = CirclePlane("floor", "ground", "bob", radius=0.1, at_a=(0.0, -1.0), contact=law)
    drive = PrescribedMotion("drive", "ground", "cart", coordinate="x", motion=motion)
    joints = [Prismatic("rail", "ground", "cart"), drive, Revolute("pin", "cart", "bob", at_b=(0.0, 0.3))]
    system = Model([Ground(), cart, bob, *joints, floor, Gravity(acceleration=(0.0, -9.81))]).build()
    run = simulate(system, stepper, t_end=0.1, dt=dt)
    assert np.max(np.abs(run.v.array - system.start.v)) < 1e-12  # round-off
    assert run.verdict.signs == ()


@pytest.mark.parametrize(("stepper", "dt"), [*STEPS[:1], *STEPS[3:]])
def test_a_force_that_jumps_within_a_step(stepper, dt):
    body = PlanarBody("b", mass=1.0, inertia=0.004, position=(0.0, 0.1))
    floor = CirclePlane("floor", "ground", "b", radius=0.1, contact=Rigid(restitution=0.0, friction=0.0))
    push = PointForce("F", "b", force=lambda t: (ca.if_else(t >= 0.30004, 10.0, 0.0), 0.0))
    system = Model([Ground(), body, floor, Gravity(acceleration=(0.0, -9.81)), push]).build()
    run = simulate(system, stepper, t_end=0.5, dt=dt)
    # 10 N from 0.30004 s on; generalised alpha is exact for constant forces too
    assert run.v["b.x"][-1] == pytest.approx(1.9996, rel=1e-9)
    assert run.q["b.x"][-1] == pytest.approx(0.5 * 10 * 0.19996**2, rel=1e-9)
