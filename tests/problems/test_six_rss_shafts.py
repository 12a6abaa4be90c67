"""The 6-RSS robot whose six shafts are loose too, radially and axially."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import InputError, MoreauJean, simulate
from nonsmooth_problems import six_rss
from nonsmooth_problems.six_rss import VALUE
from nonsmooth_problems.six_rss_motion import LEGS

SHAFT, BALL, GRAVITY = 0.1e-3, VALUE["clearance"], 9.81


def test_shafts_start_in_the_middle_of_their_clearances():
    """Ten gaps each: two radial ones and four points on either rim, all as wide as the clearance."""
    system = six_rss(shaft_clearance=SHAFT).build()
    gaps = dict(zip(system.contact_names, system.true_gaps(system.start.q, system.parameter_values)[0], strict=True))
    assert (system.nc, system.ng) == (12 + 6 * 10, 6)
    for leg in LEGS:
        own = [gap for name, gap in gaps.items() if name.startswith(f"shaft{leg}.")]
        # round-off of places of 0.4 m
        assert own == pytest.approx([SHAFT] * 10, abs=1e-14)


@pytest.mark.parametrize("flexible", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_it_runs_and_is_certified(flexible):
    """Past the first impacts of the shafts, which fall through 0.1 mm in 5 ms, and of the balls."""
    system = six_rss(shaft_clearance=SHAFT, flexible=flexible).build()
    run = simulate(system, MoreauJean(), t_end=0.012, dt=2e-4)
    assert run.status == "finished"
    assert run.certificate.motion_residual <= 1e-9 and run.certificate.complementarity <= 1e-9
    assert run.certificate.joint_violation <= 1e-12  # the motors hold the angles
    assert all(np.max(run.P_N[f"shaft{leg}.radial_back"]) > 0.0 for leg in LEGS)
    assert np.max(run.P_N["knee1"]) > 0.0
    if flexible:
        assert np.max(np.abs(run.q["rod1.eta1"])) > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("shafts", [0.0, SHAFT, 0.25e-3])
def test_the_weights_give_what_the_contacts_take(shafts):
    """Virtual work: the sum of contact force times clearance is that of weight times mean sag, over one turn.

    What is left, 3 to 6 %, are inertia forces, of 1 Hz and of impacts, which the mean sag does not take.
    """
    ideal, loose = (
        simulate(system.build(), MoreauJean(), t_end=1.3, dt=5e-4)
        for system in (six_rss(ideal=True), six_rss(shaft_clearance=shafts))
    )
    late = loose.t > 0.3
    done = sum(
        np.sum(loose.P_N[name][late]) * (shafts if name.startswith("shaft") else BALL) for name in loose.gap.names
    )
    lost = 0.0
    for body in ("platform", *(f"{kind}{leg}" for kind in ("crank", "rod") for leg in LEGS)):
        sag = np.interp(loose.t, ideal.t, ideal.q[f"{body}.z"]) - loose.q[f"{body}.z"]
        lost += VALUE[f"{body.rstrip('123456')}.mass"] * GRAVITY * float(np.mean(sag[late]))
    assert done / (loose.t[-1] - 0.3) == pytest.approx(lost, rel=0.08)
    if shafts:  # each shaft lets its crank sag by part of its clearance
        sag = np.interp(loose.t, ideal.t, ideal.q["crank1.z"]) - loose.q["crank1.z"]
        assert 0.5 * shafts < np.mean(sag[late]) < 1.5 * shafts


@pytest.mark.parametrize(("clearance", "ideal"), [(-1e-4, False), (1e-4, True), (np.nan, False)])
def test_bad_clearances_of_shafts_are_named(clearance, ideal):
    with pytest.raises(InputError, match="shaft_clearance must be a number >= 0"):
        six_rss(shaft_clearance=clearance, ideal=ideal)
