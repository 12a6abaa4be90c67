"""Moreau and Jean's scheme: impacts at first order, free motion at second, joints closed, friction exact."""

import numpy as np
import pytest
from shared_mechanisms import slider_crank

from nonsmooth import (
    Gravity,
    Ground,
    InputError,
    IpoptMPCC,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    simulate,
)
from nonsmooth_problems import slider_rod

C, A = 1e-5, 0.01


def bouncing(case, restitution, dt, projection=None, t_end=0.004):
    contact = Rigid(restitution=restitution, friction=0.0)
    system = slider_rod(case=case, contact=contact).build()
    trajectory = simulate(system, MoreauJean(projection=projection), t_end=t_end, dt=dt)
    return trajectory, slider_rod.exact(case=case, contact=contact)


@pytest.mark.slow
@pytest.mark.parametrize("projection", [None, "combined"])
@pytest.mark.parametrize("case", [1, 3])
def test_first_order_through_bounces(case, projection):
    """Envelope over jittered steps of the mean position error until the second flight of e = 0.5."""
    levels = 8e-5 / 2.0 ** np.arange(4)
    envelope = []
    for level in levels:
        errors = []
        for dt in level * 2.0 ** np.linspace(0.0, 0.9, 8):
            trajectory, exact = bouncing(case, 0.5, float(dt), projection, t_end=0.0025)
            sample = exact.sample(trajectory.t)
            height = np.abs(trajectory.q["slider.y"] - sample.q["slider.y"])
            tilt = A * np.abs(trajectory.q["slider.angle"] - sample.q["slider.angle"])
            errors.append(np.trapezoid(height + tilt, trajectory.t))
        envelope.append(max(errors))
    order = np.polyfit(np.log(levels), np.log(envelope), 1)[0]
    assert 0.8 <= order <= 1.2, envelope


def test_projection_closes_what_velocities_leave_open():
    """Plain velocity-level contact keeps whatever it penetrated; the combined scheme closes it to round-off."""
    plain, _ = bouncing(2, 0.0, 1e-4)
    combined, _ = bouncing(2, 0.0, 1e-4, "combined")
    assert plain.certificate.gap_violation > 0.05 * C
    assert combined.certificate.gap_violation <= 1e-10 * C
    assert max(plain.certificate.motion_residual, combined.certificate.motion_residual) <= 1e-13


def test_rest_forces_and_total_impulse():
    trajectory, exact = bouncing(2, 0.5, 1e-5, t_end=0.02)
    for name, force in exact.rest_force.items():
        assert trajectory.lam_N[name][-1] == pytest.approx(force, abs=1e-8)
        # until rest velocities sum up to what the loads give; then they are zero
        assert trajectory.P_N[name].sum() == pytest.approx(force * 0.02, rel=1e-6, abs=1e-12)


def test_free_slider_crank_keeps_energy_at_second_order():
    system = slider_crank().build(assemble=True)
    drift = []
    for dt in (2e-4, 1e-4):
        trajectory = simulate(system, MoreauJean(), t_end=0.2, dt=dt)
        total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
        drift.append(np.max(np.abs(total / total[0] - 1)))
        assert trajectory.certificate.joint_violation <= 1e-12
        assert trajectory.certificate.motion_residual <= 1e-14
        # forces are constant and there are no contacts: once joints are closed, one program is the step
        assert trajectory.counts["solves"] == trajectory.counts["steps"]
    assert drift[1] <= 2e-4
    assert 1.8 <= np.log2(drift[0] / drift[1]) <= 2.2


def test_an_elastic_frictionless_bounce_conserves_energy():
    """A ball with e = 1: theta = 1/2 keeps the energy at every step, whatever its length."""
    elements = [
        Ground(),
        PlanarBody("ball", mass=2.0, inertia=1.0, position=(0.0, 0.5)),
        Gravity(acceleration=(0.0, -9.81)),
        PointPlane("floor", "ground", "ball", contact=Rigid(restitution=1.0, friction=0.0)),
    ]
    trajectory = simulate(Model(elements).build(), MoreauJean(), t_end=3.0, dt=1e-3)
    assert len(trajectory.impacts) >= 4
    # the impulse acts at mid-step, where a free ball would have fallen on: the height is off by dt times the speed
    total = trajectory.energy["kinetic"] + trajectory.energy["potential"]
    assert np.max(np.abs(total / total[0] - 1)) <= 2 * 1e-3 * np.sqrt(9.81 / (2 * 0.5))


def test_restart_gives_the_same_bits():
    system = slider_rod(case=3, contact=Rigid(restitution=0.3, friction=0.1)).build()
    whole = simulate(system, MoreauJean(), t_end=0.004, dt=1e-4)
    first = simulate(system, MoreauJean(), t_end=0.002, dt=1e-4)
    second = simulate(system, MoreauJean(), t_end=0.004, dt=1e-4, state=first.end)
    assert np.array_equal(second.q.array[-1], whole.q.array[-1])


@pytest.mark.slow  # compiles the text of balanced moment arms
def test_balanced_moment_arms_are_recorded():
    system = slider_rod(case=3, contact=Rigid(restitution=0.0, friction=0.1)).build()
    run = simulate(system, MoreauJean(moment_arms="balanced"), t_end=1e-3, dt=1e-4)
    assert "(1 - theta) dt" in run.manifest["rules"]["moment arms"]
    assert "moment arms" not in simulate(system, MoreauJean(), t_end=1e-3, dt=1e-4).manifest["rules"]


def test_what_it_refuses():
    system = slider_rod(case=1).build()
    with pytest.raises(InputError, match="MoreauJean requires a constant step"):
        simulate(system, MoreauJean(), t_end=0.01, dt=Landing(1e-6, 1e-3))
    with pytest.raises(InputError, match=r"theta must lie in \[1/2, 1\], got 0.3"):
        MoreauJean(theta=0.3)
    with pytest.raises(InputError, match="projection must be None or"):
        MoreauJean(projection="direct")
    with pytest.raises(InputError, match='moment_arms must be "predicted" or "balanced", got '):
        MoreauJean(moment_arms="here")
    with pytest.raises(InputError, match="MoreauJean formulates programs that IpoptMPCC.*it solves no LCP, no QP"):
        simulate(system, MoreauJean(solver=IpoptMPCC()), t_end=0.01, dt=1e-3)
