"""A journal at rest in its bearing: the forces of its ends by statics, with each rigid stepper."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Landing,
    MoreauJean,
    Rigid,
    simulate,
)
from nonsmooth.exceptions import InputError
from nonsmooth_problems import loose_journal
from nonsmooth_problems.loose_journal import GRAVITY, LENGTH, MASS

STEPPERS = (
    (MoreauJean(), 1e-3),
    (GeneralizedAlpha(), 1e-3),
    (GaussQP(), Landing(1e-6, 1e-3)),
    (GaussMPCC(), Landing(1e-6, 1e-3)),
    (EventDriven(), ErrorControl(1e-9, 1e-9, 1e-9, 5e-3)),
)


@pytest.mark.parametrize("friction", [0.0, 0.1])
@pytest.mark.parametrize(("stepper", "dt"), some(STEPPERS, 3), ids=lambda one: type(one).__name__)
def test_the_ends_bear_what_statics_says(stepper, dt, friction):
    """Forces of 21 and 34 N within 1e-9 N; nothing moves by more than round-off, and no collar is touched."""
    system = loose_journal(contact=Rigid(restitution=0.0, friction=friction)).build()
    run = simulate(system, stepper, t_end=0.02, dt=dt)
    exact = loose_journal.exact().sample(run.t)
    for name in exact.lam_N:
        np.testing.assert_allclose(run.lam_N[name][1:], exact.lam_N[name][1:], atol=1e-9)
        np.testing.assert_allclose(run.gap[name], exact.gap[name], atol=1e-12)
    for name in exact.q:
        np.testing.assert_allclose(run.q[name], exact.q[name], atol=1e-12)


@pytest.mark.parametrize("eccentricity", [-0.0215, -0.01, 0.0, 0.02])
def test_forces_balance_the_load_and_its_moment(eccentricity):
    """Also of a load beyond the end of the journal, as long as the weight keeps the other end down."""
    back, front = loose_journal.exact(eccentricity=eccentricity).forces
    assert back + front == pytest.approx(50.0 + MASS * GRAVITY, rel=1e-15)
    assert (front - back) * LENGTH / 2 == pytest.approx(50.0 * eccentricity, rel=1e-12, abs=1e-15)
    run = simulate(loose_journal(eccentricity=eccentricity).build(), MoreauJean(), t_end=5e-3, dt=1e-3)
    assert run.lam_N["bearing.radial_back"][1:] == pytest.approx(back, abs=1e-9)
    assert run.lam_N["bearing.radial_front"][1:] == pytest.approx(front, abs=1e-9)


def test_a_journal_that_is_let_fall_comes_to_rest_under_the_same_forces():
    """Concentric at first, with plastic impacts; the eccentric load lets its front end arrive first."""
    system = loose_journal(contact=Rigid(restitution=0.0, friction=0.0)).build()
    control = Landing(1e-6, 5e-4)
    run = simulate(system, GaussQP(), t_end=0.02, dt=control, state=system.state({"journal.z": 0.0}))
    back, front = loose_journal.exact().forces
    assert run.lam_N["bearing.radial_back"][-1] == pytest.approx(back, abs=1e-8)
    assert run.lam_N["bearing.radial_front"][-1] == pytest.approx(front, abs=1e-8)
    touched = [run.t[np.flatnonzero(run.P_N[f"bearing.radial_{end}"] > 0)[0]] for end in ("front", "back")]
    assert touched[0] < touched[1]


def test_bad_values_are_named():
    with pytest.raises(InputError, match="eccentricity must be less than 0.021962 m at this load"):
        loose_journal(eccentricity=0.022)
    with pytest.raises(InputError, match="axial_clearance must lie between 0 and the radius"):
        loose_journal(axial_clearance=0.0)
    with pytest.raises(InputError, match="load must be a number >= 0"):
        loose_journal(load=-1.0)
