"""Compliant contact in space: runs beside the equations of motion, and the text uncompiled."""

import numpy as np
import pytest
from compliant_reference import beside, switches
from loops import some

from nonsmooth import (
    Compliant,
    CompliantDae,
    Dop853,
    ErrorControl,
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PointPlane,
    SpatialBody,
    SpherePlane,
    Spring,
)
from nonsmooth.compile.records.views import Record
from nonsmooth.laws import Dahl, Flores, HuntCrossley, Karnopp, KelvinVoigt, LuGre, RegularisedCoulomb
from nonsmooth.schemes.compliant import text as compliant
from nonsmooth.schemes.compliant.steps import CompliantSteps
from nonsmooth_problems import (
    bennett,
    heavy_top,
    slide_in_guide,
    slider_crank_revolute,
    socket_pendulum,
    turntable_ball,
    universal_shaft,
)

FLORES = Flores(stiffness=1e8, restitution=0.7)
SLIDING = RegularisedCoulomb(friction=0.1, slip_speed=0.01)
LUGRE = LuGre(friction=0.1, static_friction=0.15, stribeck_speed=0.01, bristle_stiffness=1e4, bristle_damping=1.0)
STICKING = Karnopp(friction=0.2, static_friction=0.3, stick_speed=1e-3)
STEPPER = CompliantDae(solver=Dop853())


def lengths(dt_max: float) -> ErrorControl:
    """Steps of one length, whatever their error."""
    return ErrorControl(rtol=1e-2, atol=1e-2, dt_min=1e-9, dt_max=dt_max)


def soft(problem, friction=None):
    return problem(contact=Compliant(FLORES, friction)).build()


CASES = {
    "joints alone": (lambda: heavy_top().build(), 1e-2),
    "ball in a socket": (lambda: soft(socket_pendulum), 2e-3),
    "with friction": (lambda: soft(socket_pendulum, SLIDING), 2e-3),
    "sixteen contacts of a slide": (lambda: soft(slide_in_guide, LUGRE), 2e-4),
    "with bristles, which turn with the surfaces": (lambda: soft(socket_pendulum, LUGRE), 2e-3),
    "with stiction forces": (lambda: soft(socket_pendulum, STICKING), 1e-3),
    "rolling on a driven table": (lambda: soft(turntable_ball, SLIDING), 1e-3),
    "driven joints": (lambda: universal_shaft().build(), 5e-2),
    "redundant joints": (lambda: bennett().build(), 1e-2),
}


@pytest.mark.parametrize("name", some(CASES, 3))
def test_a_motion_is_that_of_the_equations(name):
    """Overlaps of 1e-7 m are known to the round-off of positions of 1 m: to 1e-9, and so are forces."""
    make, t_end = CASES[name]
    system = make()
    run, motion, apart = beside(system, t_end)
    assert np.array_equal(switches(run)[:, 1], motion.switches[:, 1])
    assert np.sum(motion.P_N) > 0.0 or not system.nc
    assert max(apart.values()) <= 1e-7, apart
    assert run.certificate.joint_violation <= 1e-13
    assert run.certificate.motion_residual <= 1e-12


def random_mechanism(dimension: int, seed: int) -> Model:
    """Bodies on a floor, some in chains, with springs, and laws drawn by lot; each one is pushed some way."""
    rng = np.random.default_rng(seed)
    laws = [None, SLIDING, LUGRE, STICKING, Dahl(friction=0.2, bristle_stiffness=1e3)]
    normals = [FLORES, KelvinVoigt(stiffness=1e6, damping=1e3), HuntCrossley(stiffness=1e7, restitution=0.8)]
    space = dimension == 3
    up = np.eye(3)[2] if space else np.array([0.0, 1.0])
    model, last = Model([Ground(), Gravity(acceleration=tuple(-9.81 * up))]), ""
    for i in range(int(rng.integers(2, 5))):
        # those that touch the floor overlap it by up to 1e-6 m, some fly
        height = 0.1 - 1e-6 * rng.uniform() + (1e-4 if rng.uniform() < 0.4 else 0.0)
        place, speed = (
            rng.uniform(-0.05, 0.05, dimension) + 0.5 * i * np.eye(dimension)[0],
            rng.normal(0, 0.1, dimension),
        )
        place[-1], name = height, f"body{i}"
        if space:
            turn, spin = rng.normal(size=4), rng.normal(0.0, 1.0, 3)
            body = SpatialBody(name, mass=rng.uniform(0.5, 2.0), inertia=tuple(rng.uniform(0.02, 0.03, 3)),
                               position=tuple(place), velocity=tuple(speed), angular_velocity=tuple(spin),
                               quaternion=tuple(turn / np.linalg.norm(turn)))  # fmt: skip
        else:
            body = PlanarBody(name, mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.02, 0.03), position=tuple(place),
                              velocity=tuple(speed), angular_velocity=rng.normal())  # fmt: skip
        model.add(body)
        contact = Compliant(normals[rng.integers(3)], laws[rng.integers(len(laws))])
        if space:
            model.add(SpherePlane(f"floor{i}", "ground", name, radius=0.1, normal=tuple(up), contact=contact))
        else:
            model.add(PointPlane(f"floor{i}", "ground", name, at_b=(0.0, -0.1), contact=contact))
        if last and rng.uniform() < 0.5:
            model.add(Spring(f"spring{i}", last, name, stiffness=50.0, free_length=0.3))
        last = name
    return model


@pytest.mark.parametrize("seed", some(range(6), 4))
@pytest.mark.parametrize("dimension", [2, 3])
def test_random_mechanisms_move_by_the_equations(dimension, seed):
    """Several contacts that stick at once know their forces to some 1e-7: a billionth of the response is added."""
    system = random_mechanism(dimension, seed).build()
    run, motion, apart = beside(system, 2e-3)
    assert np.sum(motion.P_N) > 0.0 or len(motion.switches) > 0
    assert apart["q"] <= 1e-7 and apart["v"] <= 1e-6, apart


@pytest.mark.parametrize(
    "make",
    [
        lambda: soft(socket_pendulum, STICKING),
        lambda: slider_crank_revolute(contact=Compliant(FLORES, LUGRE)).build(),
    ],
    ids=["space", "plane"],
)
def test_the_text_runs_uncompiled(make):
    """Line by line, with views of the records; sums of four are taken in another order."""
    system, control, rows = make(), lengths(1e-5), 6
    steps, plain = (CompliantSteps(system, STEPPER, control, system.parameter_values, 1.0) for _ in range(2))
    start = steps.start(system.start)
    steps._chunk = rows
    end = steps.advance(start, 0.0).end
    plain._begin_at(start, 0.0)
    plain.tables.reach(rows)
    view = Record("Integration", plain.layout.shape, plain.memory.address("Integration"))
    assert compliant.run(view, rows) == compliant.DONE
    for name, expected in (("q", end.q), ("v", end.v)):
        found = plain.layout.packed(plain.memory, name).ravel()
        assert np.allclose(found, expected, rtol=0.0, atol=1e-12 * np.max(np.abs(expected)))
