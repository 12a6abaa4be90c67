"""Runs of mechanisms with flexible bodies."""

import numpy as np
import pytest
from reference import violations

from nonsmooth import (
    GaussQP,
    GeneralizedAlpha,
    Landing,
    MoreauJean,
    Rigid,
    SimulationFailed,
    ValidityWarning,
    simulate,
)
from nonsmooth_problems import beam_on_stop, flexible_slider_crank, six_rss

ROUGH = Rigid(restitution=0.5, friction=0.1)
PLASTIC = Rigid(restitution=0.0, friction=0.1)


def crank(contact=ROUGH):
    """Its journal and bearing first meet after 0.45 ms, which excites all modes of the rod."""
    return flexible_slider_crank(contact=contact)


def plastic_crank():
    return crank(PLASTIC)


def beam():
    """Released 0.05 mm above its stop, which it meets within the run."""
    return beam_on_stop(contact=ROUGH, deflection=2e-3, gap=-1.95e-3)


def robot():
    """Twelve flexible rods in space."""
    return six_rss(flexible=True)


#: problem, stepper, control, end [s]: with impacts, but in space
CASES = {
    "rattle": (crank, MoreauJean(), 1e-5, 8e-4),
    "midpoint": (crank, MoreauJean(joints="midpoint"), 1e-5, 8e-4),
    "projection": (crank, MoreauJean(projection="combined"), 1e-5, 8e-4),
    "beam": (beam, MoreauJean(), 1e-5, 1e-3),
    "constant steps": (plastic_crank, GaussQP(), 1e-5, 8e-4),
    "landing": (crank, GaussQP(), Landing(1e-6, 1e-5), 6e-4),
    "generalised alpha": (crank, GeneralizedAlpha(), 1e-5, 1.5e-3),
    "rattle in space": (robot, MoreauJean(), 1e-4, 1e-3),
    "generalised alpha in space": (robot, GeneralizedAlpha(), 1e-4, 1e-3),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * ("space" in name or "alpha" in name)) for name in CASES]
)
def test_steps_satisfy_the_equations(name):
    """Their forces of deformation are implicit, which the equations are whatever the iterations take along."""
    problem, stepper, control, t_end = CASES[name]
    system = problem().build()
    run = simulate(system, stepper, t_end=t_end, dt=control)
    assert problem is robot or len(run.impacts) > 0
    # the projection goes along directions between those before and after it, which turn by 1e-4 of a radian
    assert violations(run, system, stepper, control, projection=1e-7) == {}
    assert run.certificate.motion_residual <= 1e-9


@pytest.mark.slow  # compiles its text for flexible bodies
def test_generalised_alpha_keeps_the_grid():
    """Joints are closed to the round-off of positions, 1e-16 m, which is 1e-11 m/s over a step: more than the residual
    that velocities of single modes may have, of which the text takes it out again."""
    run = simulate(beam_on_stop().build(), GeneralizedAlpha(), t_end=1e-3, dt=1e-5)
    assert len(run.t) == 101 and run.counts["shortened"] == 0
    assert run.certificate.motion_residual <= 1e-12


def test_a_step_that_would_bend_a_body_by_more_than_its_length_is_too_long():
    """There its positions are no numbers: the rod's first mode moves at hundreds of metres a second from the start on,
    and may for 1 ms. Started slowly, impacts excite it by chance, and such a step comes or does not."""
    system = flexible_slider_crank().build()
    joints = np.array(system.W_g(0.0, system.start.q, system.parameter_values))
    bends = np.array(["eta" in name for name in system.v_names])
    change = np.where(np.array(system.v_names) == "rod.eta1", 100.0, 0.0)
    change[~bends] = -np.linalg.lstsq(joints.T[:, ~bends], joints.T @ change, rcond=None)[0]
    start = system.state(velocities=dict(zip(system.v_names, (system.start.v + change).tolist(), strict=True)))
    shorten = r"failed: .* Shorten the step"  # its iterates diverge, or its program has no solution
    with pytest.warns(ValidityWarning, match="taken as small"), pytest.raises(SimulationFailed, match=shorten):
        simulate(system, GaussQP(), t_end=0.05, dt=Landing(1e-6, 1e-3), state=start)
