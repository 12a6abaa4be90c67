"""The pointing mechanism: its facts, its loose joints, and that ideal runs have the torques of the regressor."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, InputError, simulate
from nonsmooth.identification import Fourier, regressor
from nonsmooth_problems.xy_pointing import COMPLIANT, DRIVES, PANELS, published_motion, xy_pointing
from nonsmooth_problems.xy_pointing_facts import loose_estimates, loose_run

TORQUES = [panel[2][0] for panel in PANELS[1:]]


def torques(run):
    return np.column_stack([run.reaction["motor1.torque_z"], TORQUES[1][0](run)])


def test_a_run_has_the_torques_of_the_regressor():
    """Reactions of a run are means over its steps; those of Newton-Euler in drive coordinates by Simpson's rule.

    Steps are 0.02 s at most: the rule errs by h^4/2880 times a fourth derivative of about 1 N m/s^4, 1e-10 N m.
    """
    control = ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-6, dt_max=2e-2)
    system = xy_pointing().build()
    run = simulate(system, EventDriven(order="dop853"), t_end=1.0, dt=control)
    Y = regressor(system, DRIVES)
    low, high = run.t[:-1], run.t[1:]
    ends = Y.force(*published_motion().states(run.t))
    middle = Y.force(*published_motion().states((low + high) / 2))
    assert torques(run)[1:] == pytest.approx((ends[:-1] + 4 * middle + ends[1:]) / 6, abs=1e-8)


@pytest.mark.parametrize("word", ["compliant", "fractal"])
def test_loose_joints_carry_the_weight_and_resist(word):
    """29.4 N and 8.43 N at rest; sliding friction adds mu N R with R = 10 mm, less the mu^2/2 of the resultant."""
    stepper, control = COMPLIANT
    run = simulate(xy_pointing(word, clearance=20e-6).build(), stepper, t_end=0.3, dt=control)
    weights = (9.81 * (2.1391 + 0.8596), 9.81 * 0.8596)
    late = run.t > 0.15
    for joint, weight in zip(("joint1", "joint2"), weights, strict=True):
        assert np.max(run.gap[joint]) < 1e-9  # they never separate
        assert np.mean(run.lam_N[joint][late]) == pytest.approx(weight, rel=0.02)
    friction = torques(run) - regressor(xy_pointing().build(), DRIVES).force(*published_motion().states(run.t))
    assert np.mean(friction[late], axis=0) == pytest.approx(np.array(weights) * 1e-3, rel=0.1)


@pytest.mark.slow
def test_every_fact_but_those_of_long_searches():
    """What can be known, the published motion, Table 3, bees; excitation and loose joints have tests of their own."""
    short = [one for one in xy_pointing.published.facts if one.name not in ("better motions", "loose joints")]
    for group in short:
        measured = group.measure()
        for fact in group.entries:
            assert abs(measured[fact.name] - fact.expected) <= fact.tolerance, fact.name


@pytest.mark.slow
def test_friction_of_loose_joints_from_torque():
    """mu R within 3 % of 1 mm, first moments nearer to the truth than without friction in the model.

    Half a period, integrated less accurately than in the document, determines first moments a tenth as well. With a
    tolerance of 1e-4 journals bounce as round-off has it, and mu R is found within 1 or within 7 %.
    """
    control = dataclasses.replace(COMPLIANT[1], rtol=3e-5, atol=1e-6)
    found = loose_estimates(loose_run(t_end=0.5 * published_motion().period, control=control))
    loose, truth = found["loose"], found["truth"]
    assert loose.values[-2:] == pytest.approx([1e-3, 1e-3], rel=0.03)
    errors = {word: np.abs(found[word].values[: len(truth)] - truth) for word in ("ideal", "loose")}
    assert np.all(errors["loose"][[1, 8]] < (4e-4, 1e-4))
    assert np.all(errors["ideal"][[1, 8]] > 50 * errors["loose"][[1, 8]])


def test_another_motion_and_messages():
    fast = Fourier(1.0, 2 * published_motion().coefficients)
    system = xy_pointing(motion=fast).build()
    run = simulate(system, EventDriven(), t_end=0.2, dt=ErrorControl(1e-8, 1e-10, 1e-6, 1e-2))
    angle = 2 * np.arctan2(run.q["link1.qz"], run.q["link1.qw"])
    assert angle == pytest.approx(fast(run.t)[:, 0], abs=1e-9)
    with pytest.raises(InputError, match='contact must be "rigid", "compliant", "fractal" or a law'):
        xy_pointing("hard")
