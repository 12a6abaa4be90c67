"""Coulomb friction in the slider-rod, case 3: jammed at two corners, it slides with known forces."""

import numpy as np
import pytest

from nonsmooth import ActiveSet, GaussMPCC, GaussQP, InputError, Landing, Lemke, MoreauJean, Rigid, simulate
from nonsmooth_problems import slider_rod

SCHEMES = {
    "MoreauJean": (MoreauJean(), 1e-3),
    "GaussQP": (GaussQP(), 1e-3),
    "GaussQP, landing": (GaussQP(), Landing(1e-6, 1e-3)),
    "GaussMPCC": (GaussMPCC(), 1e-3),
    "GaussMPCC, active set": (GaussMPCC(solver=ActiveSet()), 1e-3),
    "GaussMPCC, landing": (GaussMPCC(), Landing(1e-6, 1e-3)),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_exact_coulomb_friction(scheme):
    """N = s f/(2a) = 25 N at both corners, v_x = (f - 2 mu N) T/m = 0.9 m/s; no bias from dt times slip.

    The tilt c/a moves both by 1e-9. Programs with friction are certified to 1e-9 of the longest step's impulses: the
    last, shorter step knows its friction to 1e-6 only.
    """
    stepper, dt = SCHEMES[scheme]
    system = slider_rod(case=3, contact=Rigid(restitution=0.0, friction=0.1)).build()
    trajectory = simulate(system, stepper, t_end=0.1, dt=dt)
    assert trajectory.v["slider.x"][-1] == pytest.approx(0.9, abs=1e-8)
    for corner in ("guide.left_upper", "guide.right_lower"):
        assert trajectory.lam_N[corner][-1] == pytest.approx(25.0, abs=1e-8)
        assert trajectory.P_T[corner][-1] == pytest.approx(-0.1 * trajectory.P_N[corner][-1], rel=1e-6)
        assert trajectory.mode[corner][-1] == 3
    assert trajectory.certificate.motion_residual <= 1e-10
    if isinstance(dt, Landing):
        ledger = trajectory.certificate.energy
        assert ledger.loss_friction == pytest.approx(0.2249, abs=2e-4)  # 2 mu N times the way slid in jam, 45 mm
        assert abs(ledger.remainder) <= 1e-9


def test_the_convex_cone_by_its_name():
    """Associated friction opens gaps by dt mu |slip|; once they fill the clearance, both walls press: c/(dt mu)."""
    system = slider_rod(case=3, contact=Rigid(restitution=0.0, friction=0.1)).build()
    trajectory = simulate(system, GaussQP(cone="convex"), t_end=0.1, dt=1e-3)
    assert trajectory.v["slider.x"][-1] == pytest.approx(1e-5 / (1e-3 * 0.1), rel=1e-9)
    # friction takes the whole push: mu times the sum of all four forces is f
    assert sum(trajectory.P_N[name][-1] for name in trajectory.P_N) / 1e-3 == pytest.approx(50.0 / 0.1, rel=1e-9)
    assert trajectory.certificate.complementarity > 1e-2
    lemke = simulate(system, GaussQP(Lemke(), cone="convex"), t_end=0.1, dt=1e-3)
    assert np.max(np.abs(trajectory.q.array - lemke.q.array)) <= 1e-14
    # redundant contacts share their impulses in one way or another
    assert np.max(np.abs(trajectory.P_T.array.sum(axis=1) - lemke.P_T.array.sum(axis=1))) <= 1e-10 * 0.05
    assert lemke.certificate.complementarity == pytest.approx(trajectory.certificate.complementarity, rel=1e-8)
    with pytest.raises(InputError, match='cone="convex".*constant step'):
        simulate(system, GaussQP(cone="convex"), t_end=0.1, dt=Landing(1e-6, 1e-3))
