"""Compliant contact of flexible bodies: runs beside the equations of motion, integrators, and the text uncompiled."""

from __future__ import annotations

import numpy as np
import pytest
from compliant_reference import beside, switches
from loops import some

from nonsmooth import (
    Compliant,
    CompliantDae,
    Cvodes,
    Dop853,
    ErrorControl,
    Ground,
    Lsoda,
    Model,
    PointPlane,
    Radau,
    SpatialFlexibleBody,
    Spherical,
    simulate,
)
from nonsmooth.compile.records.views import Record
from nonsmooth.flexible import Material, Rectangle
from nonsmooth.flexible import beam as beam_of
from nonsmooth.flexible import modes as modes_of
from nonsmooth.laws import Karnopp, LankaraniNikravesh, LuGre, RegularisedCoulomb
from nonsmooth.schemes.compliant import text as compliant
from nonsmooth.schemes.compliant.steps import CompliantSteps
from nonsmooth_problems import beam_on_stop, flexible_slider_crank
from nonsmooth_problems.flexible_slider_crank import COMPLIANT

STOP = LankaraniNikravesh(stiffness=1e8, restitution=0.9)
SLIDING = RegularisedCoulomb(friction=0.2, slip_speed=1e-2)
LUGRE = LuGre(friction=0.1, static_friction=0.15, stribeck_speed=0.01, bristle_stiffness=1e4, bristle_damping=1.0,
              viscous_friction=0.1)  # fmt: skip
STICKING = Karnopp(friction=0.2, static_friction=0.25, stick_speed=1e-3)
STEPPER = CompliantDae(solver=Dop853())


def lengths(dt_max: float) -> ErrorControl:
    """Steps of one length, whatever their error."""
    return ErrorControl(rtol=1e-2, atol=1e-2, dt_min=1e-9, dt_max=dt_max)


def beam(friction=None):
    """Released 0.05 mm above its stop, which it meets within the run."""
    return beam_on_stop(contact=Compliant(STOP, friction), deflection=2e-3, gap=-1.95e-3)


def crank(contact=COMPLIANT):
    """Its journal and bearing first meet after 0.45 ms, which excites all modes of the rod."""
    return flexible_slider_crank(contact=contact)


def rod(friction=LUGRE, stiffening=False):
    """In space, a rod in a ball joint at one end; the other, thrown sideways, meets a plane after 0.1 ms.

    With stiffening, inertia depends on the deformation, and rates of coordinates on velocities as well.
    """
    steel = Material(youngs=2.1e11, shear=8e10, density=7850.0)
    shape = beam_of((0, 0, 0), (0.3, 0, 0), section=Rectangle(0.01, 0.02), material=steel, elements=4,
                    names={"pivot": 0.0, "tip": 1.0})  # fmt: skip
    found = modes_of(shape, interface=("pivot", "tip"), keep=1, damping=0.01, stiffening=stiffening)
    spin = np.array([0.0, 2.0, 10.0])
    velocity = np.cross(spin, [0.15, 0.0, 0.0])
    body = SpatialFlexibleBody("rod", found, position=(0.15, 0.0, 0.0), velocity=tuple(velocity),
                               angular_velocity=tuple(spin))  # fmt: skip
    model = Model([Ground(), body], silence=["no-gravity"])
    model.add(Spherical("pivot", "ground", body.node("pivot")))
    model.add(PointPlane("wall", "ground", body.node("tip"), at_a=(0.3, 0.0, -6e-5), normal=(0.1, -0.1, 1.0),
                         contact=Compliant(STOP, friction), size=1e-4))  # fmt: skip
    return model


#: mechanism, end [s]
CASES = {
    "beam": (beam, 1e-3),
    "beam, sliding": (lambda: beam(SLIDING), 1e-3),
    "beam, bristles": (lambda: beam(LUGRE), 1e-3),
    "beam, stiction forces": (lambda: beam(STICKING), 1e-3),
    "flexible slider-crank": (crank, 7e-4),
    "rod in space": (rod, 4e-4),
    "rod in space, stiction forces": (lambda: rod(STICKING), 4e-4),
    "rod in space, stiffening": (lambda: rod(stiffening=True), 4e-4),
}


@pytest.mark.parametrize(
    "name", some((pytest.param(name, marks=[pytest.mark.slow] * ("space" in name)) for name in CASES), 5)
)
def test_a_motion_is_that_of_the_equations(name):
    """Round-off of positions is multiplied by the frequencies of stiff modes, and friction of bristles by their
    stiffness."""
    make, t_end = CASES[name]
    run, motion, apart = beside(make().build(), t_end)
    assert run.manifest["engine"] == "compiled" and np.max(np.abs(run.q.array)) > 0.0
    assert np.array_equal(switches(run)[:, 1], motion.switches[:, 1]) and np.sum(motion.P_N) > 0.0
    assert apart.pop("P_T") <= 1e-5 and max(apart.values()) <= 1e-7, apart
    assert run.certificate.motion_residual <= 1e-12
    ledger = run.certificate.energy
    assert abs(ledger.remainder) <= 1e-8 * (ledger.kinetic_start + ledger.potential_start)


@pytest.mark.parametrize("integrator", some([Radau(), Lsoda(), Cvodes()], 3), ids=repr)
@pytest.mark.parametrize(
    ("make", "t_end"), [(beam, 1e-3), pytest.param(rod, 4e-4, marks=pytest.mark.slow)], ids=["plane", "space"]
)
def test_integrators_outside_move_modes_as_well(make, t_end, integrator):
    """They agree with steps of `Dop853`, each to 1e-9; errors of some thousand steps add up, as modes have hardly any
    damping that would reduce them."""
    system, control = make().build(), ErrorControl(1e-9, 1e-9, 1e-9, 1e-4)
    ours, other = (
        simulate(system, CompliantDae(solver=solver), t_end=t_end, dt=control) for solver in (integrator, Dop853())
    )
    assert np.sum(ours.P_N.array) > 1e-3
    for table in ("q", "v"):
        one, another = (getattr(run, table).array[-1] for run in (ours, other))
        assert np.max(np.abs(one - another)) <= 1e-6 * max(np.max(np.abs(another)), 1.0)
    losses = [run.certificate.energy.loss_damping for run in (ours, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4) and losses[0] > 0.0


@pytest.mark.parametrize("make", [crank, pytest.param(rod, marks=pytest.mark.slow)], ids=["plane", "space"])
def test_the_text_runs_uncompiled(make):
    """Line by line, with views of the records; sums of four are taken in another order."""
    system, control, rows = make().build(), lengths(1e-6), 3
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
