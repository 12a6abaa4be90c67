"""Compliant contact: impacts against their closed forms, joints, momentum, energy, memory, and what is refused.

A free impact of a law F = K delta^n (1 + chi delta'/delta'-) returns the speed e v- with
chi (1 + e) = ln((1 + chi)/(1 - chi e)), whatever K, n and the mass.
"""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    ActiveSet,
    Bdf,
    CircleCircle,
    CirclePlane,
    Compliant,
    CompliantDae,
    Cvodes,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Lsoda,
    Model,
    ModelWarning,
    PlanarBody,
    PointForce,
    PointPlane,
    Radau,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    Table,
    Trajectory,
    ValidityWarning,
    simulate,
)
from nonsmooth.laws import Flores, Karnopp, KelvinVoigt, LankaraniNikravesh, LuGre, RegularisedCoulomb
from nonsmooth.report.citations import cited
from nonsmooth_problems import block_on_incline, slider_rod
from nonsmooth_problems.xy_pointing_facts import loose_run

INTEGRATORS = (Radau(), Dop853(), Lsoda(), Bdf(), Cvodes())
TIGHT = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=1e-2)
FLORES = Compliant(Flores(stiffness=1e8, restitution=0.7))


def flying_ball(contact, velocity=(0.0, -1.0), spin=0.0, mass=0.5):
    """A disc 1 mm above a floor, without gravity."""
    ball = PlanarBody("ball", mass=mass, inertia=mass * 0.1**2 / 2, position=(0.0, 0.101), velocity=velocity,
                      angular_velocity=spin)  # fmt: skip
    return Model([Ground(), ball, CirclePlane("floor", "ground", "ball", radius=0.1, contact=contact)]).build()


def delivered(chi):
    return brentq(lambda e: chi * (1 + e) - np.log((1 + chi) / (1 - chi * e)), 1e-6, min(1.0, 1 / chi) - 1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda one: type(one).__name__)
def test_every_integrator_returns_the_same_impact(integrator):
    """Within ten times what a local tolerance of 1e-9 may add up to over the few hundred steps of an impact."""
    trajectory = simulate(flying_ball(FLORES), CompliantDae(solver=integrator), t_end=4e-3, dt=TIGHT)
    chi = 8 * (1 - 0.7) / (5 * 0.7)
    assert trajectory.v["ball.y"][-1] == pytest.approx(delivered(chi), abs=1e-6)
    assert trajectory.P_N["floor"].sum() == pytest.approx(0.5 * (1 + delivered(chi)), abs=1e-6)
    peak = (2.5 * 0.5 / 1e8 / chi * (1 - np.log(1 + chi) / chi)) ** 0.4
    assert trajectory.certificate.gap_violation == pytest.approx(
        peak, rel=2e-2
    )  # the deepest row, not the deepest point
    assert trajectory.certificate.motion_residual <= 1e-14
    ledger = trajectory.certificate.energy
    assert ledger.loss_contact == pytest.approx(0.25 * (1 - delivered(chi) ** 2), abs=1e-7)
    assert abs(ledger.remainder) <= 1e-6


@pytest.mark.parametrize("contact", [
    Compliant(KelvinVoigt(stiffness=1e8, damping=1e7)),  # creeps
    Compliant(Flores(stiffness=1e11, restitution=0.1, calibrated=True),
              RegularisedCoulomb(friction=0.3, slip_speed=1e-5)),  # divided by a small speed of approach
])  # fmt: skip
def test_stiff_phases_are_integrated_implicitly(contact):
    """From 1e7 steps a second on that stability would require; the motion is that of the implicit integrator alone."""
    system = block_on_incline(contact=contact).build()
    control = ErrorControl(rtol=1e-6, atol=1e-8, dt_min=1e-6, dt_max=1e-2)
    run, other = (simulate(system, CompliantDae(solver=one), t_end=0.3, dt=control) for one in (None, Radau()))
    assert 0 < run.counts["implicit"] < run.counts["steps"] < 30_000
    assert abs(run.q.array[-1] - other.q.array[-1]).max() <= 1e-8
    assert {"solver Dop853", "solver Radau"} <= set(cited(run))


def test_a_phase_at_the_limit_of_stability_is_stiff():
    """There steps that let errors grow alternate with others, and if these count as much: 471 000 rows in 0.6 s."""
    control = ErrorControl(rtol=9.5e-5, atol=1e-6, dt_min=1e-9, dt_max=1e-2)
    run = loose_run(t_end=0.6, control=control)
    assert run.counts["implicit"] > 0 and run.counts["steps"] < 5000


def test_other_phases_are_not():
    """The same bits as with the explicit integrator alone."""
    runs = [simulate(flying_ball(FLORES), CompliantDae(solver=one), t_end=4e-3, dt=TIGHT) for one in (None, Dop853())]
    assert runs[0].counts == runs[1].counts | {"implicit": 0}
    assert runs[0].q.array.tobytes() == runs[1].q.array.tobytes()
    for run in runs:
        assert "solver Dop853" in cited(run) and "solver Radau" not in cited(run)


def test_an_implicit_integrator_that_begins_anew_at_each_corner_hands_back():
    """A load has a corner every ten steps that stability would require: twelve implicit steps each time it is tried,
    which is after 500 of these and then after 2000 of 4000 more, not one or more to each of the 400 corners."""
    times = 3e-6 * np.arange(400)
    saw = Table(times=tuple(times), values=tuple(1e-3 * (np.arange(400) % 2)))
    model = block_on_incline(contact=Compliant(KelvinVoigt(stiffness=1e8, damping=1e7)))
    model.add(PointForce("saw", "block", force=lambda t: (saw(t), 0.0)))
    control = ErrorControl(rtol=1e-6, atol=1e-8, dt_min=1e-6, dt_max=1e-2)
    run = simulate(model.build(), CompliantDae(samples=1), t_end=float(times[-2]), dt=control)
    assert 0 < run.counts["implicit"] <= 48


def test_the_manifest_repeats_the_default():
    """It names no single integrator: given to a run, it would not be called with the other one."""
    run = simulate(flying_ball(FLORES), CompliantDae(), t_end=1e-3, dt=TIGHT)
    assert run.manifest["settings"]["stepper"] == repr(CompliantDae())


def test_a_stiff_phase_goes_on_explicitly_where_the_implicit_integrator_fails(monkeypatch):
    """Radau fails in its fifth step, as by a Jacobian that is not finite; not when it was requested."""
    from nonsmooth.solvers.initial_value import _ScipySession

    advance = _ScipySession.advance

    def fails(self):
        if self.pieces == 4:
            self.solver.J = np.nan * self.solver.J
            self.solver.LU_real = self.solver.LU_complex = None
        return advance(self)

    monkeypatch.setattr(_ScipySession, "advance", fails)
    system = block_on_incline(contact=Compliant(KelvinVoigt(stiffness=1e8, damping=1e7))).build()
    control = ErrorControl(rtol=1e-6, atol=1e-8, dt_min=1e-6, dt_max=1e-2)
    run = simulate(system, CompliantDae(), t_end=3e-4, dt=control)
    assert run.status == "finished" and run.counts["implicit"] == 4
    alone = simulate(system, CompliantDae(solver=Dop853()), t_end=3e-4, dt=control)
    assert abs(run.q.array[-1] - alone.q.array[-1]).max() <= 1e-8
    with pytest.raises(SimulationFailed, match=r"Radau stopped at t = \S+ s: array must not contain infs or NaNs"):
        simulate(system, CompliantDae(solver=Radau()), t_end=0.3, dt=control)


def test_touching_and_parting_are_located():
    """The first touch of a body in free flight is exact, and its speed of approach is what the law divides by."""
    trajectory = simulate(flying_ball(FLORES), CompliantDae(), t_end=4e-3, dt=TIGHT)
    touching = trajectory.mode["floor"] > 0
    first, last = np.flatnonzero(touching)[[0, -1]]
    assert trajectory.t[first] == pytest.approx(1e-3, rel=1e-12)
    assert abs(trajectory.gap["floor"][first]) <= 1e-15
    assert abs(trajectory.gap["floor"][last + 1]) <= 1e-15
    assert np.all(trajectory.gap["floor"][first + 1 : last + 1] < 0)
    assert np.all(trajectory.P_N["floor"] >= 0.0) and trajectory.certificate.complementarity <= 1e-12


def test_convergence_with_the_tolerance():
    """The error of the returned speed falls with rtol, at least as rtol^(2/3)."""
    exact = delivered(8 * (1 - 0.7) / (5 * 0.7))
    errors = []
    for rtol in (1e-4, 1e-10):
        control = ErrorControl(rtol, rtol, 1e-6, 1e-2)
        trajectory = simulate(flying_ball(FLORES), CompliantDae(solver=Dop853()), t_end=4e-3, dt=control)
        errors.append(abs(trajectory.v["ball.y"][-1] - exact))
    assert errors[1] <= 1e-9 and errors[1] <= 1e-4 * errors[0]


# Joints


def swing(**settings):
    """A double pendulum in revolute joints whose lower rod swings against a compliant wall."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -9.81))])
    model.add(PlanarBody("upper", mass=1.0, inertia=0.02, position=(0.25, 0.0)))
    model.add(PlanarBody("lower", mass=0.5, inertia=0.01, position=(0.75, 0.0)))
    model.add(Revolute("top", "ground", "upper", at_b=(-0.25, 0.0)))
    model.add(Revolute("knee", "upper", "lower", at_a=(0.25, 0.0), at_b=(-0.25, 0.0)))
    contact = Compliant(Flores(stiffness=1e7, restitution=0.8), RegularisedCoulomb(friction=0.2, slip_speed=0.01))
    model.add(PointPlane("wall", "ground", "lower", at_b=(0.25, 0.0), direction=-np.pi / 2, at_a=(-0.2, 0.0),
                         contact=contact))  # fmt: skip
    control = ErrorControl(1e-9, 1e-11, 1e-6, 1e-2)
    return simulate(model.build(), CompliantDae(**settings), t_end=0.6, dt=control)


@pytest.fixture(scope="module")
def swung():
    return swing()


def test_joints_stay_closed_and_energy_is_accounted_for(swung):
    """Rows are projected; the ledger closes to what tolerances of 1e-9 leave of 5 J, impulses being integrated."""
    assert swung.P_N["wall"].sum() > 0.1
    assert swung.certificate.joint_violation <= 1e-14
    assert swung.certificate.motion_residual <= 1e-13
    ledger = swung.certificate.energy
    assert abs(ledger.remainder) <= 1e-8
    assert ledger.loss_contact > 1e-2 and ledger.loss_friction > 1e-3


@pytest.mark.parametrize("integrator", [Dop853(), Lsoda(), Cvodes()], ids=lambda one: type(one).__name__)
def test_integrators_agree_with_joints(swung, integrator):
    other = swing(solver=integrator)
    for name in ("upper.angle", "lower.angle"):
        assert other.q[name][-1] == pytest.approx(swung.q[name][-1], abs=1e-6)


def test_baumgarte_by_name_drifts_and_agrees_to_its_drift(swung):
    """Feedback holds joints to the integrator's error, not to round-off."""
    other = swing(baumgarte=(5.0, 5.0))
    assert 1e-14 < other.certificate.joint_violation <= 1e-7
    assert other.q["lower.angle"][-1] == pytest.approx(swung.q["lower.angle"][-1], abs=1e-6)


def test_joint_forces_are_means_over_steps(swung):
    """Impulse of all forces on the lower rod = its change of momentum."""
    dt = np.diff(swung.t)
    pull = np.sum(swung.reaction["knee.x"][1:] * dt)
    momentum = 0.5 * (swung.v["lower.x"][-1] - swung.v["lower.x"][0])
    assert pull + swung.P_N["wall"].sum() == pytest.approx(momentum, abs=1e-8)


# Momentum and friction


def test_a_collision_with_friction_keeps_linear_and_angular_momentum():
    """Forces act on both bodies at one point, however deep the surfaces overlap: here a fifth of the clearance."""
    model = Model()
    model.add(PlanarBody("housing", mass=2.0, inertia=0.03, velocity=(0.1, 0.0), angular_velocity=5.0))
    model.add(PlanarBody("shaft", mass=1.0, inertia=0.01, velocity=(1.0, 0.3), angular_velocity=-40.0))
    contact = Compliant(Flores(stiffness=1e9, restitution=0.8), RegularisedCoulomb(friction=0.3, slip_speed=0.01))
    model.add(RevoluteClearance("pin", "housing", "shaft", clearance=5e-4, radius=0.02, contact=contact))
    trajectory = simulate(model.build(), CompliantDae(), t_end=5e-3, dt=TIGHT)
    assert trajectory.certificate.gap_violation > 1e-4
    q, v = trajectory.q, trajectory.v
    masses = {"housing": (2.0, 0.03), "shaft": (1.0, 0.01)}
    for axis in ("x", "y"):
        total = sum(m * v[f"{body}.{axis}"] for body, (m, _) in masses.items())
        np.testing.assert_allclose(total, total[0], atol=1e-13)
    spin = sum(
        J * v[f"{body}.angle"] + m * (q[f"{body}.x"] * v[f"{body}.y"] - q[f"{body}.y"] * v[f"{body}.x"])
        for body, (m, J) in masses.items()
    )
    np.testing.assert_allclose(spin, spin[0], atol=1e-11)
    assert abs(trajectory.v["shaft.angle"][-1] + 40.0) > 0.1  # friction turned it


def block(friction, slope, t_end=0.2):
    """A point-like block on an incline, pressed in by its weight at the start."""
    weight, K = 9.81 * np.cos(slope), 1e7
    contact = Compliant(Flores(stiffness=K, restitution=0.5), friction)
    model = Model([Ground(), Gravity(acceleration=(9.81 * np.sin(slope), -9.81 * np.cos(slope)))])
    model.add(PlanarBody("block", mass=1.0, inertia=1.0, position=(0.0, -((weight / K) ** (2 / 3)))))
    model.add(PointPlane("floor", "ground", "block", contact=contact))
    return simulate(model.build(), CompliantDae(), t_end=t_end, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))


def test_sliding_under_friction():
    """a = g (sin - mu cos), less the time that tanh takes to saturate."""
    trajectory = block(RegularisedCoulomb(friction=0.1, slip_speed=1e-4), slope=0.3)
    expected = 9.81 * (np.sin(0.3) - 0.1 * np.cos(0.3)) * 0.2
    assert trajectory.v["block.x"][-1] == pytest.approx(expected, rel=1e-3)
    assert trajectory.certificate.energy.loss_friction == pytest.approx(
        0.1 * 9.81 * np.cos(0.3) * trajectory.q["block.x"][-1], rel=1e-3
    )


def test_karnopp_holds_and_a_regularised_law_creeps():
    slope = 0.1
    held = block(Karnopp(friction=0.2, static_friction=0.25, stick_speed=1e-3), slope)
    creeping = block(RegularisedCoulomb(friction=0.2, slip_speed=1e-3), slope)
    assert abs(held.v["block.x"][-1]) <= 1e-8
    expected = 1e-3 * np.arctanh(np.tan(slope) / 0.2)
    assert creeping.v["block.x"][-1] == pytest.approx(expected, rel=1e-3)


def test_holding_forces_are_shared_by_dependent_contacts():
    """Two feet on one floor: each bears half of what keeps the block."""
    foot = Compliant(
        Flores(stiffness=1e7, restitution=0.5), Karnopp(friction=0.2, static_friction=0.3, stick_speed=1e-3)
    )
    sink = (9.81 * np.cos(0.1) / 2 / 1e7) ** (2 / 3)
    model = Model([Ground(), Gravity(acceleration=(9.81 * np.sin(0.1), -9.81 * np.cos(0.1)))])
    model.add(PlanarBody("block", mass=1.0, inertia=1.0, position=(0.0, -sink)))
    for name, x in (("left", -0.1), ("right", 0.1)):
        model.add(PointPlane(name, "ground", "block", at_b=(x, 0.0), contact=foot))
    trajectory = simulate(model.build(), CompliantDae(), t_end=0.2, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))
    assert abs(trajectory.v["block.x"][-1]) <= 1e-8
    held = -9.81 * np.sin(0.1) * np.diff(trajectory.t)[-1] / 2
    assert trajectory.P_T["left"][-1] == pytest.approx(held, rel=1e-6)
    assert trajectory.P_T["right"][-1] == pytest.approx(held, rel=1e-6)


@pytest.mark.parametrize("feet", [3, 6])
def test_many_feet_hold_together(feet):
    """Feet in a row, of which all but one are redundant: together they bear what keeps the block, to round-off."""
    foot = Compliant(
        Flores(stiffness=1e7, restitution=0.5), Karnopp(friction=0.2, static_friction=0.3, stick_speed=1e-3)
    )
    sink = (9.81 * np.cos(0.1) / feet / 1e7) ** (2 / 3)
    model = Model([Ground(), Gravity(acceleration=(9.81 * np.sin(0.1), -9.81 * np.cos(0.1)))])
    model.add(PlanarBody("block", mass=1.0, inertia=1.0, position=(0.0, -sink)))
    for i, x in enumerate(np.linspace(-0.1, 0.1, feet)):
        model.add(PointPlane(f"foot{i}", "ground", "block", at_b=(x, 0.0), contact=foot))
    trajectory = simulate(model.build(), CompliantDae(), t_end=0.1, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))
    assert abs(trajectory.v["block.x"][-1]) <= 1e-10
    held = sum(float(trajectory.P_T[f"foot{i}"][-1]) for i in range(feet)) / np.diff(trajectory.t)[-1]
    assert held == pytest.approx(-9.81 * np.sin(0.1), rel=1e-10)


def test_bristles_are_remembered_and_forgotten():
    """A bristle is 0 at touch, lives in the law's memory, and is 0 again after parting."""
    law = LuGre(friction=0.2, static_friction=0.3, stribeck_speed=0.1, bristle_stiffness=1e5, bristle_damping=1.0,
                viscous_friction=0.0)  # fmt: skip
    contact = Compliant(Flores(stiffness=1e8, restitution=0.7), law)
    system = flying_ball(contact, velocity=(0.5, -1.0))
    pressed = simulate(system, CompliantDae(), t_end=1.1e-3, dt=TIGHT)
    assert pressed.end.memory["Overlap.bristle_row"][0] > 0.0
    parted = simulate(system, CompliantDae(), t_end=4e-3, dt=TIGHT)
    assert parted.end.memory["Overlap.bristle_row"][0] == 0.0
    assert parted.v["ball.x"][-1] < 0.5 and parted.v["ball.angle"][-1] < 0.0


# Memory


def test_a_run_goes_on_where_it_stopped_in_the_middle_of_a_contact(tmp_path):
    """Speed of approach and stored energy come back from the file."""
    system = flying_ball(FLORES)
    whole = simulate(system, CompliantDae(), t_end=4e-3, dt=TIGHT)
    half = simulate(system, CompliantDae(), t_end=1.1e-3, dt=TIGHT)
    assert half.gap["floor"][-1] < 0.0
    half.save(tmp_path / "half.nc")
    rest = simulate(system, CompliantDae(), t_end=4e-3, dt=TIGHT, state=Trajectory.load(tmp_path / "half.nc").end)
    assert rest.v["ball.y"][-1] == pytest.approx(whole.v["ball.y"][-1], abs=1e-8)
    assert rest.certificate.energy.loss_contact + half.certificate.energy.loss_contact == pytest.approx(
        whole.certificate.energy.loss_contact, abs=1e-8
    )
    assert abs(rest.certificate.energy.remainder) <= 1e-8


def test_parameters_are_inputs():
    """A changed stiffness and restitution need no new system."""
    built = flying_ball(Compliant(Flores(stiffness=1e9, restitution=0.5)))
    changed = {name: built.parameters[name] for name in ("floor.stiffness", "floor.restitution")}
    run = simulate(flying_ball(FLORES), CompliantDae(), t_end=4e-3, dt=TIGHT, parameters=changed)
    assert run.v["ball.y"][-1] == simulate(built, CompliantDae(), t_end=4e-3, dt=TIGHT).v["ball.y"][-1]


# Laws at their limits


def test_a_kelvin_voigt_law_may_pull():
    """e = exp(-pi zeta / sqrt(1 - zeta^2)) while it may, more where the force is cut off at 0."""
    mass, K, zeta = 0.5, 1e6, 0.2
    C = 2 * zeta * np.sqrt(K * mass)
    returned = {}
    for cut in (False, True):
        law = KelvinVoigt(stiffness=K, exponent=1.0, damping=C, tensile=not cut)
        trajectory = simulate(flying_ball(Compliant(law)), CompliantDae(), t_end=8e-3, dt=TIGHT)
        returned[cut] = trajectory.v["ball.y"][-1]
    assert returned[False] == pytest.approx(np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), abs=1e-7)
    assert returned[True] > returned[False] + 1e-3


def test_a_law_out_of_its_range_warns_once_by_contact_and_value():
    contact = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.3))
    with pytest.warns(ValidityWarning) as caught:
        simulate(flying_ball(contact), CompliantDae(), t_end=4e-3, dt=TIGHT)
    (warning,) = [str(one.message) for one in caught if "restitution" in str(one.message)]
    assert 'Contact "floor": LankaraniNikravesh is meant for restitution >= 0.8, and has restitution = 0.3' in warning


def test_a_law_in_its_range_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        contact = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))
        simulate(flying_ball(contact), CompliantDae(), t_end=2e-3, dt=TIGHT)


# What is refused, and what is handed over


def test_rigid_and_compliant_steppers_name_the_contact_they_cannot_take():
    with pytest.raises(
        InputError, match=r'GaussQP needs rigid contact, but contact "guide" has Compliant\(Flores\). Step'
    ):
        simulate(slider_rod(contact=FLORES).build(), GaussQP(), t_end=1e-3, dt=1e-4)
    with pytest.raises(
        InputError, match=r'CompliantDae needs compliant contact, but contact "guide" has Rigid\(...\).'
    ):
        simulate(slider_rod().build(), CompliantDae(), t_end=1e-3, dt=TIGHT)


def test_mixed_contacts_are_refused_by_both():
    model = Model([Ground(), PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, 0.2))])
    model.add(PointPlane("soft", "ground", "ball", contact=FLORES))
    model.add(PointPlane("hard", "ground", "ball", contact=Rigid(restitution=0.0, friction=0.0)))
    for stepper, name in ((CompliantDae(), "hard"), (EventDriven(), "soft")):
        with pytest.raises(InputError, match=f'"{name}"'):
            simulate(model.build(), stepper, t_end=1e-3, dt=TIGHT)


@pytest.mark.parametrize(
    ("stepper", "dt", "message"),
    [
        (
            CompliantDae(),
            1e-3,
            r"CompliantDae requires dt=ErrorControl\(rtol, .*, got ConstantStep",
        ),
        (CompliantDae(solver=ActiveSet()), TIGHT, r"requires an integrator, as Radau\(\), .*, got ActiveSet"),
    ],
)
def test_steps_and_solvers_that_do_not_fit_are_named(stepper, dt, message):
    with pytest.raises(InputError, match=message):
        simulate(flying_ball(FLORES), stepper, t_end=1e-3, dt=dt)


@pytest.mark.parametrize("settings", [{"samples": 0}, {"samples": True}, {"baumgarte": (1.0, -1.0)}])
def test_settings_are_checked(settings):
    with pytest.raises(InputError, match="CompliantDae: "):
        CompliantDae(**settings)


def test_a_load_that_breaks_hands_over_the_run_so_far():
    import casadi as ca

    model = Model([Ground(), PlanarBody("ball", mass=1.0, inertia=1.0)])
    model.add(PointForce("push", "ball", force=lambda t: (ca.sqrt(0.01 - t), 0.0)))
    with pytest.raises(SimulationFailed) as failed:
        simulate(model.build(), CompliantDae(), t_end=0.1, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-3))
    assert failed.value.trajectory.t[-1] == pytest.approx(0.01, abs=2e-3)


def test_an_overlap_deeper_than_the_clearance_is_no_start():
    system = slider_rod(contact=FLORES).build()
    with pytest.raises(InputError, match=r'"guide.left_lower" overlaps by 2e-05 m at the start'):
        simulate(system, CompliantDae(), t_end=1e-3, dt=TIGHT, state=system.state({"slider.y": -3e-5}))


def test_circles_and_overlap_at_the_start():
    """Two overlapping balls at rest fly apart with the energy that the law stores in their overlap."""
    depth, K = 1e-4, 1e8
    model = Model()
    for name, x in (("a", 0.0), ("b", 0.1 - depth)):
        model.add(PlanarBody(name, mass=1.0, inertia=1.0, position=(x, 0.0)))
    model.add(CircleCircle("touch", "a", "b", radius_a=0.05, radius_b=0.05,
                           contact=Compliant(Flores(stiffness=K, restitution=1.0))))  # fmt: skip
    trajectory = simulate(model.build(), CompliantDae(), t_end=5e-3, dt=TIGHT)
    energy = K * depth**2.5 / 2.5
    assert trajectory.v["b.x"][-1] == pytest.approx(np.sqrt(energy), rel=1e-7)
    assert trajectory.v["a.x"][-1] == pytest.approx(-np.sqrt(energy), rel=1e-7)
