"""Compliant contact: runs beside the equations of motion, laws, closed forms, and what a run may meet."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from compliant_reference import beside, switches
from loops import some
from scipy.optimize import brentq

import nonsmooth.laws as laws
from nonsmooth import (
    Bdf,
    CirclePlane,
    Compliant,
    CompliantDae,
    Cvodes,
    Damper,
    Dop853,
    ErrorControl,
    Gravity,
    Ground,
    InputError,
    Interrupted,
    Lsoda,
    Model,
    ModelWarning,
    PlanarBody,
    PointForce,
    PointOnLine,
    PointPlane,
    Radau,
    Revolute,
    RevoluteClearance,
    SimulationFailed,
    Spring,
    Torque,
    Trajectory,
    ValidityWarning,
    simulate,
)
from nonsmooth.compile.machine import compilations
from nonsmooth.laws import (
    Dahl,
    Flores,
    HuntCrossley,
    Karnopp,
    KelvinVoigt,
    LankaraniNikravesh,
    LuGre,
    Material,
    RegularisedCoulomb,
    Stribeck,
)
from nonsmooth.studies import grid, sweep
from nonsmooth_problems import (
    chain,
    double_pendulum_clearance,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
)
from nonsmooth_problems.slider_crank_revolute import COMPLIANT

TIGHT = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=1e-2)
FLORES = Flores(stiffness=1e8, restitution=0.7)
SLIDING = RegularisedCoulomb(friction=0.1, slip_speed=0.01)
LUGRE = LuGre(friction=0.1, static_friction=0.15, stribeck_speed=0.01, bristle_stiffness=1e4, bristle_damping=1.0,
              viscous_friction=0.1)  # fmt: skip
STEEL, BRONZE = Material(2.07e11, 0.3), Material(1.1e11, 0.34, density=8800.0)


def lengths(dt_max: float) -> ErrorControl:
    """Steps of one length, whatever their error."""
    return ErrorControl(rtol=1e-2, atol=1e-2, dt_min=1e-9, dt_max=dt_max)


def stepper(**settings: object) -> CompliantDae:
    return CompliantDae(solver=Dop853(), **settings)  # type: ignore[arg-type]


def flying_ball(contact, velocity=(0.0, -1.0), mass=0.5):
    """A disc 1 mm above a floor, without gravity."""
    ball = PlanarBody("ball", mass=mass, inertia=mass * 0.1**2 / 2, position=(0.0, 0.101), velocity=velocity)
    return Model([Ground(), ball, CirclePlane("floor", "ground", "ball", radius=0.1, contact=contact)]).build()


def swing(contact=None) -> Model:
    """A double pendulum in revolute joints, with all kinds of forces, whose lower rod swings against a wall."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -9.81))])
    model.add(PlanarBody("upper", mass=1.0, inertia=0.02, position=(0.25, 0.0), velocity=(0.0, -0.75),
                         angular_velocity=-3.0))  # fmt: skip
    model.add(PlanarBody("lower", mass=0.5, inertia=0.01, position=(0.75, 0.0), velocity=(0.0, -2.25),
                         angular_velocity=-3.0))  # fmt: skip
    model.add(Revolute("top", "ground", "upper", at_b=(-0.25, 0.0)))
    model.add(Revolute("knee", "upper", "lower", at_a=(0.25, 0.0), at_b=(-0.25, 0.0)))
    model.add(Spring("spring", "ground", "lower", at_a=(0.3, 0.5), stiffness=20.0, free_length=0.3))
    model.add(Damper("damper", "ground", "upper", at_a=(0.3, 0.3), damping=1.0))
    model.add(PointForce("push", "lower", force=lambda t: (3.0 + 10.0 * t, 0.0), at=(0.0, 0.1), frame="body"))
    model.add(Torque("turn", "upper", torque=0.1))
    law = contact or Compliant(Flores(stiffness=1e7, restitution=0.8), SLIDING)
    model.add(PointPlane("wall", "ground", "lower", at_b=(0.25, 0.0), direction=-np.pi / 2, at_a=(0.995, 0.0),
                         contact=law))  # fmt: skip
    return model


CASES = {
    "slider-rod 1": (slider_rod(case=1, contact=Compliant(FLORES)), 2e-3),
    "slider-crank, guide": (slider_crank_translational(contact=Compliant(FLORES, SLIDING)), 4e-3),
    "slider-crank, guide, bristles": (slider_crank_translational(contact=Compliant(FLORES, LUGRE)), 4e-3),
    "slider-crank, guide, Stribeck": (
        slider_crank_translational(contact=Compliant(
            HuntCrossley(stiffness=1e8, restitution=0.8),
            Stribeck(friction=0.1, static_friction=0.15, stribeck_speed=0.05, slip_speed=1e-2))), 4e-3,
    ),
    "slider-rod 3": (slider_rod(case=3, contact=Compliant(KelvinVoigt(stiffness=1e7, damping=100.0), LUGRE)), 2e-3),
    "slider-crank, pin": (slider_crank_revolute(contact=COMPLIANT), 8e-4),
    "slider-crank, pin, Dahl": (
        slider_crank_revolute(contact=Compliant(
            LankaraniNikravesh(stiffness=1e9, restitution=0.9), Dahl(friction=0.05, bristle_stiffness=1e4))), 8e-4,
    ),
    "slider-crank, three joints": (slider_crank_revolute(contact=COMPLIANT, joints="shaft,knee,pin"), 8e-4),
    "swing": (swing(), 4e-2),
    "double pendulum": (double_pendulum_clearance(contact=Compliant(FLORES, SLIDING)), 3e-2),
    "chain": (chain(4, contact=Compliant(FLORES, SLIDING)), 2e-4),
    "slider-rod 2": (slider_rod(case=2, contact=Compliant(FLORES, SLIDING)), 2e-3),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::nonsmooth.ValidityWarning")
@pytest.mark.parametrize("name", some(CASES, 4))
def test_a_motion_is_that_of_the_equations(name):
    """Errors of both, some 1e-11, grow by a factor of up to a thousand in an impact between light and heavy bodies."""
    model, t_end = CASES[name]
    run, motion, apart = beside(model.build(assemble=True), t_end)
    assert run.manifest["engine"] == "compiled" and np.sum(motion.P_N) > 0.0
    ours = switches(run)
    assert np.array_equal(ours[:, 1], motion.switches[:, 1])
    assert np.allclose(ours[:, 0], motion.switches[:, 0], rtol=0.0, atol=1e-8 * t_end)
    assert max(apart.values()) <= 1e-7, apart
    found = run.certificate
    assert found.joint_violation <= 1e-13 and found.motion_residual <= 1e-12
    assert abs(found.energy.remainder) <= 1e-9 * (found.energy.kinetic + abs(found.energy.potential))


def test_a_mechanism_without_contacts_and_a_start_before_zero():
    model = Model([Ground(), Gravity(acceleration=(0.0, -9.81))])
    model.add(PlanarBody("rod", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    model.add(Revolute("pivot", "ground", "rod", at_b=(-0.5, 0.0)))
    system = model.build()
    run, _, apart = beside(system, 0.03, state=replace(system.start, t=-0.02))
    assert run.t[0] == -0.02 and max(apart.values()) <= 1e-10, apart


@pytest.mark.parametrize("scheme", [stepper(samples=1), stepper(samples=7), stepper(baumgarte=(50.0, 50.0))], ids=repr)
def test_settings_do_not_change_the_motion(scheme):
    """Joints that feedback closes stay open by what a step adds."""
    run, _, apart = beside(swing().build(), 4e-2, scheme=scheme)
    assert max(apart.values()) <= 1e-7, apart
    assert run.certificate.joint_violation <= 1e-10


@pytest.mark.filterwarnings("ignore::nonsmooth.ValidityWarning")
@pytest.mark.parametrize("name", some(("swing", "slider-crank, pin", "slider-crank, guide"), 3))
def test_errors_are_those_that_error_control_allows(name):
    """As many touches and partings with an error of a step of 1e-6, and velocities within ten times as much."""
    model, t_end = CASES[name]
    run, motion, _ = beside(model.build(), t_end, ErrorControl(1e-6, 1e-8, 1e-6, 1e-3))
    ours = switches(run)
    assert np.array_equal(ours[:, 1], motion.switches[:, 1]) and len(ours) > 0
    assert np.allclose(ours[:, 0], motion.switches[:, 0], rtol=0.0, atol=1e-5 * t_end)
    assert np.allclose(run.v.array[-1], motion.v, rtol=0.0, atol=1e-5 * np.max(np.abs(run.v.array)))


# Closed forms


def delivered(chi):
    return brentq(lambda e: chi * (1 + e) - np.log((1 + chi) / (1 - chi * e)), 1e-6, min(1.0, 1 / chi) - 1e-12)


def test_an_impact_follows_its_law():
    """A free impact of F = K delta^n (1 + chi delta'/delta'-) returns e v-, chi (1 + e) = ln((1 + chi)/(1 - chi e)).

    It converges with the tolerance; touching is located to round-off.
    """
    exact, errors = delivered(8 * (1 - 0.7) / (5 * 0.7)), []
    for rtol in (1e-4, 1e-10):
        run = simulate(flying_ball(Compliant(FLORES)), stepper(), t_end=4e-3, dt=ErrorControl(rtol, rtol, 1e-6, 1e-2))
        errors.append(abs(run.v["ball.y"][-1] - exact))
    assert errors[1] <= 1e-9 and errors[1] <= 1e-4 * errors[0]
    first, last = np.flatnonzero(run.mode["floor"] > 0)[[0, -1]]
    assert run.t[first] == pytest.approx(1e-3, rel=1e-12)
    assert abs(run.gap["floor"][first]) <= 1e-15 and abs(run.gap["floor"][last + 1]) <= 1e-15
    assert np.all(run.gap["floor"][first + 1 : last + 1] < 0) and np.all(run.P_N["floor"] >= 0.0)


@pytest.mark.parametrize("height", [1e-4, 0.97e-4])
def test_a_contact_that_begins_where_a_step_ends_begins_there(height):
    """At 0.1 m/s over 0.1 mm, with steps of 0.1 ms: the tenth ends where the gap is zero. The contact began a row later
    with an overlap of 10 um, and rebounded with 0.7 of its approach instead of 0.5."""
    law = laws.Flores(stiffness=1e12, restitution=0.5, calibrated=True)
    ball = PlanarBody("ball", mass=1.0, inertia=1e-3, position=(0.0, 0.02 + height), velocity=(0.0, -0.1))
    floor = CirclePlane("floor", "ground", "ball", radius=0.02, contact=Compliant(law))
    system = Model([Ground(), ball, floor], silence=["no-gravity"]).build()
    run = simulate(system, CompliantDae(), t_end=3e-3, dt=ErrorControl(1e-9, 1e-11, 1e-6, 1e-4))
    assert run.v["ball.y"][-1] == pytest.approx(0.05, rel=1e-7)


def test_a_kelvin_voigt_impact_follows_its_law():
    """e = exp(-pi zeta / sqrt(1 - zeta^2)) where the force may pull."""
    mass, K, zeta = 0.5, 1e6, 0.2
    law = KelvinVoigt(stiffness=K, exponent=1.0, damping=2 * zeta * np.sqrt(K * mass), tensile=True)
    run = simulate(flying_ball(Compliant(law)), stepper(), t_end=8e-3, dt=TIGHT)
    assert run.v["ball.y"][-1] == pytest.approx(np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), abs=1e-7)


def test_two_contacts_at_the_start_overlap():
    """Touching from the start on, with the speed of approach there."""
    contact = Compliant(Flores(stiffness=1e6, restitution=0.6), SLIDING)
    system = slider_rod(case=1, contact=contact).build()
    state = system.state({"slider.y": -1.2e-5}, velocities={"slider.y": -0.01})
    run, _, apart = beside(system, 2e-3, state=state)
    assert run.mode.array[0].sum() == 0  # row 0 has no step
    assert np.any(run.mode.array[1] > 0)
    assert max(apart.values()) <= 1e-7, apart


# Every law

NORMAL = {name: laws.by_name(name, "normal") for name in laws.names("normal")}
FRICTION = {name: laws.by_name(name, "friction") for name in laws.names("friction")}
#: numbers of laws; a law takes those that it has
NUMBERS = {
    "a": STEEL, "b": BRONZE, "stiffness": 1e9, "restitution": 0.8, "damping": 1e3, "full_depth": 1e-4,
    "effective_mass": 0.3, "yield_strength": 3e8, "fractal_dimension": 2.56, "fractal_scale": 5e-9, "area_share": 0.1,
    "asperity_friction": 0.4, "line_length": 0.06, "edge_radius": 1e-3, "young": 2e9, "area": 1e-4, "thickness": 0.02,
    "rounding": 1e-3, "poisson": 0.3, "friction": 0.1, "static_friction": 0.15, "slip_speed": 1e-2,
    "stribeck_speed": 0.05, "static_speed": 0.1, "dynamic_speed": 1.0, "dead_speed": 1e-3, "decay": 30.0,
    "viscous_damping": 0.2, "viscous_load": 5.0, "bristle_stiffness": 1e4, "bristle_damping": 0.5,
    "stick_speed": 1e-3, "function": "tanh",
}  # fmt: skip


def example(law):
    """A law with the numbers that it takes without defaults."""
    import dataclasses

    needed = [field.name for field in dataclasses.fields(law) if field.init and field.default is dataclasses.MISSING]
    return law(**{name: NUMBERS[name] for name in needed})


def journal(contact, speed=0.5) -> Model:
    """A spinning journal thrown at its bearing, where geometry has all that laws ask for."""
    model = Model([Ground()])
    model.add(PlanarBody("shaft", mass=0.5, inertia=1e-4, position=(4.9e-4, 0.0), velocity=(speed, 0.2),
                         angular_velocity=20.0))  # fmt: skip
    model.add(RevoluteClearance("pin", "ground", "shaft", clearance=5e-4, radius=9.5e-3, length=15e-3, contact=contact))
    return model


@pytest.mark.filterwarnings("ignore::nonsmooth.ValidityWarning")
@pytest.mark.parametrize("name", some(NORMAL, 5))
def test_every_normal_law(name):
    system = journal(Compliant(example(NORMAL[name]), SLIDING)).build()
    run, _, apart = beside(system, 2e-4)
    assert np.sum(run.P_N["pin"]) > 0.01
    assert max(apart.values()) <= 1e-7, apart


@pytest.mark.parametrize("name", some(FRICTION, 4))
def test_every_friction_law(name):
    system = journal(Compliant(Flores(stiffness=1e8, restitution=0.8), example(FRICTION[name]))).build()
    run, _, apart = beside(system, 3e-4)
    assert abs(np.sum(run.P_T["pin"])) > 1e-4
    assert max(apart.values()) <= 1e-7, apart


def feet(places, joint: bool) -> Model:
    """A block with feet on an incline, so slow that they stop it, and shaken; with a weight hinged to it."""
    foot = Compliant(laws.Hertz(stiffness=1e7), Karnopp(friction=0.2, static_friction=0.3, stick_speed=1e-3))
    sink = (9.81 * np.cos(0.1) / len(places) / 1e7) ** (2 / 3)
    model = Model([Ground(), Gravity(acceleration=(9.81 * np.sin(0.1), -9.81 * np.cos(0.1)))])
    model.add(PlanarBody("block", mass=1.0, inertia=1.0, position=(0.0, -sink), velocity=(5e-4, 0.0)))
    for i, x in enumerate(places):
        model.add(PointPlane(f"foot{i}", "ground", "block", at_b=(x, 0.0), contact=foot))
    model.add(PointForce("shake", "block", force=lambda t: (1.5 * ca.sin(400.0 * t), 0.0)))
    if joint:
        model.add(PlanarBody("weight", mass=0.2, inertia=1e-3, position=(0.1, -sink), velocity=(5e-4, 0.0)))
        model.add(Revolute("hinge", "block", "weight", at_b=(-0.1, 0.0)))
    return model


@pytest.mark.parametrize("places", [(0.0,), (-0.1, 0.1)], ids=["one foot", "two feet"])
@pytest.mark.parametrize("joint", some((False, True), 2), ids=["block", "block and weight"])
def test_what_holds_is_found_from_accelerations(places, joint):
    """Two feet that hold one body share its load in any way; a billionth of their response keeps it unique.

    So their forces are known to some 1e-7 at best.
    """
    run, _, apart = beside(feet(places, joint).build(), 2e-2)
    assert run.v["block.x"][-1] < 2e-4 and np.sum(run.P_T["foot0"]) < -1e-3
    assert max(apart.values()) <= 1e-4, apart


def test_the_registry_has_as_many_laws_as_are_tried():
    assert len(NORMAL) >= 27 and len(FRICTION) >= 11


# What a run may meet


def test_a_run_goes_on_from_a_file(tmp_path):
    """In the middle of a contact: bristles, speed of approach, stored energy and the step's length come along.

    The whole run takes other steps, each to 1e-9 of 3 m/s; of 134 that add up, errors differ by some 3e-9 of that.
    """
    system = flying_ball(Compliant(FLORES, LUGRE), velocity=(0.5, -1.0))
    whole = simulate(system, stepper(), t_end=4e-3, dt=TIGHT)
    half = simulate(system, stepper(), t_end=1.1e-3, dt=TIGHT)
    assert half.gap["floor"][-1] < 0.0 and half.end.memory["Overlap.bristle_row"][0] > 0.0
    half.save(tmp_path / "half.nc")
    rest = simulate(system, stepper(), t_end=4e-3, dt=TIGHT, state=Trajectory.load(tmp_path / "half.nc").end)
    assert np.allclose(rest.v.array[-1], whole.v.array[-1], rtol=0.0, atol=2e-8)
    losses = half.certificate.energy.loss_contact + rest.certificate.energy.loss_contact
    assert losses == pytest.approx(whole.certificate.energy.loss_contact, abs=1e-8)
    assert abs(rest.certificate.energy.remainder) <= 1e-8
    assert rest.end.memory["Overlap.bristle_row"][0] == 0.0


@pytest.mark.parametrize("record", [3, 1000])
def test_every_third_row(record):
    """The rows of the whole run, with the impulses between them added up."""
    system, run = swing().build(), {"t_end": 4e-2, "dt": lengths(1e-4)}
    whole, some = simulate(system, stepper(), **run), simulate(system, stepper(), **run, record=record)
    rows = np.unique(np.append(np.arange(0, len(whole.t), record), len(whole.t) - 1))
    assert np.array_equal(some.t, whole.t[rows]) and len(some.t) < len(whole.t) / 2
    assert some.counts["steps"] == whole.counts["steps"]
    for table in ("q", "v", "gap", "gap_rate"):
        assert np.array_equal(getattr(some, table).array, getattr(whole, table).array[rows]), table
    for table in ("P_N", "P_T"):
        sums = np.add.reduceat(getattr(whole, table).array[1:], rows[:-1])
        assert np.allclose(getattr(some, table).array[1:], sums, rtol=1e-12, atol=1e-16), table
    assert some.certificate == whole.certificate


def test_nothing_is_compiled_for_other_numbers_or_mechanisms():
    system = slider_crank_translational(contact=Compliant(FLORES, SLIDING)).build()
    run = {"t_end": 1e-3, "dt": lengths(1e-5)}
    simulate(system, stepper(), **run)
    before = compilations()
    changes = {"guide.clearance": 5e-4, "slider.mass": 0.1, "guide.friction": 0.2, "guide.restitution": 0.9,
               "guide.stiffness": 3e8}  # fmt: skip
    simulate(system, stepper(), **run, parameters=changes)
    again = slider_crank_translational(contact=Compliant(FLORES, SLIDING)).build()
    simulate(again, stepper(), **run)
    assert compilations() == before


def test_parameters_are_inputs():
    """A changed stiffness and restitution are those of a system built with them, to the bit."""
    built = flying_ball(Compliant(Flores(stiffness=1e9, restitution=0.5)))
    changed = {name: built.parameters[name] for name in ("floor.stiffness", "floor.restitution")}
    run = simulate(flying_ball(Compliant(FLORES)), stepper(), t_end=4e-3, dt=TIGHT, parameters=changed)
    assert run.v["ball.y"][-1] == simulate(built, stepper(), t_end=4e-3, dt=TIGHT).v["ball.y"][-1]


def test_no_row_is_kept_whose_residual_is_too_large(monkeypatch):
    """A run ends before the first of them, and says why."""
    system, run = swing().build(), {"t_end": 2e-2, "dt": ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)}
    monkeypatch.setattr("nonsmooth.schemes.compliant.steps.CERTIFIED", 1e-30)
    with pytest.raises(SimulationFailed, match="Step 1, .*residual of [0-9.e-]+, more than 1e-30") as failed:
        simulate(system, stepper(), **run)
    assert len(failed.value.trajectory.t) == 1


def test_rows_that_are_redundant_at_the_start_only_end_the_run():
    """The tip of a rod on the tangent of its circle, which it leaves with the first step."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -9.81))])
    model.add(PlanarBody("rod", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    model.add(Revolute("pivot", "ground", "rod", at_b=(-0.5, 0.0)))
    model.add(PointOnLine("rail", "ground", "rod", at_a=(1.0, 0.0), at_b=(0.5, 0.0), direction=np.pi / 2))
    system = model.build()
    assert len(system.redundant) == 1
    with pytest.raises(SimulationFailed, match="Step 1, .* residual .* a start where no joints are singular"):
        simulate(system, stepper(), t_end=0.1, dt=ErrorControl(1e-6, 1e-8, 1e-6, 1e-3))


def test_a_load_that_breaks_hands_over_the_run_so_far():
    model = Model([Ground(), PlanarBody("ball", mass=1.0, inertia=1.0)])
    model.add(PointForce("push", "ball", force=lambda t: (ca.sqrt(0.01 - t), 0.0)))
    with pytest.raises(SimulationFailed, match='along "ball.x" is nan at t = 0.011 s; check the loads') as failed:
        simulate(model.build(), stepper(), t_end=0.1, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-3))
    run = failed.value.trajectory
    assert "DOP853" in str(failed.value.cause)
    assert run.status.startswith("failed") and run.t[-1] == pytest.approx(0.01, abs=2e-3)
    assert len(run.t) - 1 == run.counts["steps"] > 0 and np.all(np.isfinite(run.q.array))


def test_ctrl_c_loses_nothing():
    system = swing().build()

    def stop(t, t_end, steps):
        if steps > 1000:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="after [0-9]+ steps") as stopped:
        simulate(system, stepper(), t_end=10.0, dt=lengths(2e-6), progress=stop)
    run = stopped.value.trajectory
    assert run.status == "interrupted"
    assert len(run.t) - 1 == run.counts["steps"] > 1000
    whole = simulate(system, stepper(), t_end=float(run.t[-1]), dt=lengths(2e-6))
    assert np.array_equal(run.q.array[:-1], whole.q.array[: len(run.q.array) - 1])


def test_progress_is_told_every_few_thousand_steps():
    steps = [0]
    simulate(swing().build(), stepper(), t_end=0.1, dt=lengths(1e-6), record=1000,
             progress=lambda t, t_end, taken: steps.append(taken))  # fmt: skip
    assert steps[-1] >= 100_000 and max(np.diff(steps)) <= 16384


def test_a_law_out_of_its_range_warns_once_by_contact_and_value():
    contact = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.3))
    with pytest.warns(ValidityWarning) as caught:
        simulate(flying_ball(contact), stepper(), t_end=4e-3, dt=TIGHT)
    (warning,) = [str(one.message) for one in caught if "restitution" in str(one.message)]
    assert 'Contact "floor": LankaraniNikravesh is meant for restitution >= 0.8, and has restitution = 0.3' in warning
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        contact = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))
        warnings.simplefilter("ignore", ModelWarning)
        simulate(flying_ball(contact), stepper(), t_end=2e-3, dt=TIGHT)


DENSE = Material(2.07e11, 0.3, density=7800.0)


@pytest.mark.parametrize(
    ("law", "quantity"),
    [
        (laws.WinklerFoundation(young=1e7, poisson=0.3, thickness=1e-3), "depth"),
        (LankaraniNikravesh(stiffness=laws.HertzStiffness(DENSE, DENSE), restitution=0.9), "approach"),
        (laws.Johnson(DENSE, DENSE), "force"),
    ],
    ids=["depth", "approach", "force"],
)
def test_limits_of_motion_warn(law, quantity):
    """Once each, with the extreme of the rows that have been looked at."""
    with pytest.warns(ValidityWarning) as caught:
        simulate(journal(Compliant(law), speed=20.0).build(), stepper(), t_end=4e-4, dt=TIGHT)
    (warning,) = [str(one.message) for one in caught if one.category is ValidityWarning]
    assert f" and has {quantity} = " in warning


def test_a_contact_pressed_in_by_more_than_its_clearance_is_told():
    """At 20 m/s; the weight alone, which is evaluated when the model is built, would press it in by less."""

    def told(stiffness, silence=()):
        model = journal(Compliant(Flores(stiffness=stiffness, restitution=0.8)), speed=20.0)
        made = Model(model.elements, silence=["no-gravity", *silence]).build()
        return simulate(made, stepper(), t_end=1e-3, dt=TIGHT).verdict.text

    assert re.search(r'contact "pin" is pressed in by 0\.013 m, 26 times its clearance: its stiffness', told(1e7))
    assert "pressed in" not in told(1e7, ["soft-contact"]) + told(1e11)
    soft = Model(
        journal(Compliant(Flores(stiffness=1e7, restitution=0.8)), speed=20.0).elements, silence=["no-gravity"]
    )
    options = {"t_end": 1e-3, "dt": TIGHT, "metrics": ["impulse"], "executor": 1}
    found = sweep(soft, stepper(), grid({"pin.stiffness": [1e7, 1e11]}), **options)
    assert [one.startswith('contact "pin" is pressed in by') for one in found["message"].values] == [True, False]
    assert list(found["status"].values) == ["finished"] * 2


@pytest.mark.parametrize("integrator", some([Radau(), Bdf(), Lsoda(), Cvodes()], 3), ids=repr)
def test_integrators_outside_step_the_compiled_equations(integrator):
    """Errors are 1e-9 of 3 m/s in each of some hundred steps, as those of `Dop853`."""
    control = ErrorControl(1e-9, 1e-11, 1e-6, 1e-3)
    run, other = (
        simulate(swing().build(), CompliantDae(solver=solver), t_end=0.04, dt=control)
        for solver in (integrator, Dop853())
    )
    assert "outside" in run.manifest["rules"]["integrator"]
    assert np.sum(run.P_N["wall"]) > 0.01
    for table in ("q", "v"):
        first, second = (getattr(one, table).array[-1] for one in (run, other))
        assert np.allclose(first, second, rtol=0.0, atol=1e-6)
    assert run.certificate.joint_violation <= 1e-14
    assert run.certificate.motion_residual <= 1e-10
    losses = [one.certificate.energy.loss_contact for one in (run, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5, abs=1e-9)


def test_constant_steps_are_refused():
    with pytest.raises(InputError, match="CompliantDae requires dt=ErrorControl.*got ConstantStep"):
        simulate(flying_ball(Compliant(FLORES)), stepper(), t_end=1e-3, dt=1e-4)
