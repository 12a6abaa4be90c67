"""The slider-crank with translational clearance, against integration in quadruple precision.

Truth: Taylor series of order 32 in quadruple precision with events by the same rules (corners that land together are
one impact), confirmed by an independent DOP853 run to 1e-14. Parameters of Flores, Leine and Glocker (2010).
"""

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, InputError, Rigid, simulate
from nonsmooth_problems import slider_crank_translational

END = 18.083678652340582
#: t, crank and rod angle, crank and rod speed
STATES = (
    (0.01, 0.947961321788589, -0.414624200260029, 67.471928518899589, -21.501405097507818),
    (0.02, 1.613316541450070, -0.519904710227419, 71.681765812563575, 1.382526717781952),
    (0.05, 4.793554299730095, 0.525470668530012, 68.473290603172859, -3.204474152707799),
    (0.10, 9.000639842525953, -0.210588755100359, 135.872773127011322, 63.315565851135286),
    (0.20, END, 0.352482196174327, 70.895506995122865, -28.699864715978985),
)
IMPACTS = (
    0.002692502752021,
    0.005612363190210,
    0.007475056212397,
    0.008421767934249,
    0.008845705250130,
    0.009023880097110,
)
SPEEDS = (-0.8416123220329, -0.2478256463003, -8.420428243042e-2)
ACCUMULATIONS = (
    0.00914563217737,
    0.03026397979422,
    0.06625104633259,
    0.09794568156320,
    0.13541234890197,
    0.16748449239644,
)
RELEASE, NEXT = 0.015028651748460, (0.025889562875789, -0.6381355377856)
NAMES = ("crank.angle", "rod.angle")
TIGHT = ErrorControl(rtol=1e-13, atol=1e-14, dt_min=1e-6, dt_max=5e-3)


@pytest.fixture(scope="module")
def system():
    return slider_crank_translational().build()


@pytest.fixture(scope="module")
def truth(system):
    return simulate(system, EventDriven(order="dop853"), t_end=0.2, dt=TIGHT)


def test_states(system):
    state = None
    for t, *expected in STATES:
        run = simulate(system, EventDriven(order="dop853"), t_end=t, dt=TIGHT, state=state)
        state = run.end
        found = [columns[name][-1] for columns in (run.q, run.v) for name in NAMES]
        assert np.allclose(found, expected, rtol=0, atol=1e-9), t
        assert run.certificate.gap_violation <= 1e-12 and run.certificate.joint_violation <= 1e-12


def test_impacts(truth):
    impacts = truth.impacts
    times = np.unique(impacts["t"])
    assert np.allclose(times[: len(IMPACTS)], IMPACTS, rtol=0, atol=1e-10)
    assert np.allclose(impacts["gamma_minus"][:6:2], SPEEDS, rtol=0, atol=1e-10)
    assert set(impacts["contact"][:2]) == {"guide.left_upper", "guide.right_upper"}
    later = impacts[impacts["t"] > RELEASE]
    assert later["t"][0] == pytest.approx(NEXT[0], abs=1e-10)
    assert later["gamma_minus"][0] == pytest.approx(NEXT[1], abs=1e-9)
    assert set(later["contact"][:2]) == {"guide.left_lower", "guide.right_lower"}
    hardest = [np.min(impacts["gamma_minus"][impacts["t"] == t]) for t in times]
    assert [int(np.sum(np.abs(hardest) > level)) for level in (0.1, 1e-2, 1e-3)] == [27, 46, 69]


def test_the_first_impact(truth):
    row = int(np.searchsorted(truth.t, IMPACTS[0] - 1e-9))
    left = [truth.left.v[name][row] for name in NAMES]
    assert np.allclose(left, [109.557681543, -49.330789962], rtol=0, atol=1e-9)
    right = [truth.v[name][row] for name in NAMES]
    assert np.allclose(right, [108.724580001767, -52.842290420288], rtol=0, atol=1e-10)
    assert np.allclose(truth.impacts["P_N"][:2], [0.05574032, 0.05518569], rtol=0, atol=5e-9)
    assert np.allclose(truth.impacts["P_T"][:2], [5.574e-4, 5.519e-4], rtol=0, atol=5e-8)
    assert np.allclose(truth.impacts["gamma_plus"][:2], 0.33664493, rtol=0, atol=5e-9)
    assert truth.energy["kinetic"][row] == pytest.approx(7.437365341, abs=1e-9)


def test_the_first_impact_without_friction():
    smooth = slider_crank_translational(contact=Rigid(restitution=0.4, friction=0.0)).build()
    run = simulate(smooth, EventDriven(order="dop853"), t_end=0.2, dt=TIGHT)
    row = int(np.searchsorted(run.t, IMPACTS[0] - 1e-9))
    found = [run.v[name][row] for name in NAMES]
    assert np.allclose(found, [108.793728561, -52.875187875], rtol=0, atol=1e-9)
    assert np.allclose(run.impacts["P_N"][:2], 0.05539501, rtol=0, atol=5e-9)
    assert run.energy["kinetic"][row] == pytest.approx(7.446802908, abs=1e-9)
    assert run.q["crank.angle"][-1] == pytest.approx(18.176877, abs=1e-6)


def test_releases_and_accumulations(truth):
    """Six of each; the accumulations by geometric extrapolation of the last impacts before them."""
    modes = truth.mode.array
    pushes = np.any(truth.lam_N.array > 0, axis=1)  # in the step that ends in a row
    closed = np.append(pushes[1:], pushes[-1])  # from this row on
    released = truth.t[1:][closed[:-1] & ~closed[1:]]
    assert len(released) == 6 and released[0] == pytest.approx(RELEASE, abs=1e-10)
    rests = truth.t[1:][~closed[:-1] & closed[1:]]
    assert len(rests) == 6
    times = np.unique(truth.impacts["t"])
    for rest, expected in zip(rests, ACCUMULATIONS, strict=True):
        last = times[times <= rest][-2:]
        assert last[1] + (last[1] - last[0]) * 0.4 / 0.6 == pytest.approx(expected, abs=1e-9)
    share = np.sum(np.diff(truth.t)[closed[:-1]]) / 0.2
    assert share == pytest.approx(0.12317, abs=1e-4)
    assert set(np.unique(modes)) == {0, 3}  # it slips, it never sticks


def test_energy_and_impulses(truth):
    energy = truth.energy["kinetic"][-1] + truth.energy["potential"][-1]
    assert energy == pytest.approx(6.995383287, abs=1e-9)
    sums = [truth.P_N[f"guide.{corner}"].sum() for corner in ("left_upper", "right_upper", "left_lower", "right_lower")]
    assert np.allclose(sums, [0.535401841, 0.535470517, 0.531298637, 0.530055975], rtol=0, atol=1e-9)
    c = truth.certificate
    assert abs(c.energy.remainder) <= 1e-11 and c.energy.loss_friction > 0
    assert max(c.gap_violation, c.joint_violation, c.complementarity, c.motion_residual) <= 1e-12
    assert truth.counts["fallbacks"] == truth.counts["shortened"] == 0


@pytest.mark.parametrize(
    ("rtol", "atol", "steps", "error"), [(1e-7, 1e-9, 400, 1e-5), (1e-9, 1e-11, 700, 1e-8)], ids=["default", "tight"]
)
def test_few_steps_are_enough(system, rtol, atol, steps, error):
    run = simulate(system, EventDriven(), t_end=0.2, dt=ErrorControl(rtol, atol, dt_min=1e-5, dt_max=5e-3))
    assert run.counts["steps"] <= steps
    assert run.q["crank.angle"][-1] == pytest.approx(END, abs=error)
    assert run.certificate.gap_violation <= 1e-12 and run.certificate.joint_violation <= 1e-12


@pytest.mark.parametrize(("window", "end"), [(None, END), (0.0, 18.069825)], ids=["window", "no window"])
def test_the_simultaneity_window_is_part_of_the_model(window, end):
    """Tilted by 1e-9 the corners land one after the other: one impact, or a rattle that takes all normal velocity."""
    tilted = slider_crank_translational(tilt=1e-9).build()
    control = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-5, dt_max=5e-3)
    run = simulate(tilted, EventDriven(order="dop853", simultaneity=window), t_end=0.2, dt=control)
    assert run.q["crank.angle"][-1] == pytest.approx(end, abs=1e-6)
    assert run.manifest["rules"]["simultaneity window [s]"] == (1e-5 if window is None else 0.0)


def test_without_a_window_the_rattle_equals_plastic_impacts():
    plastic = slider_crank_translational(contact=Rigid(restitution=0.0, friction=0.01)).build()
    run = simulate(plastic, EventDriven(order="dop853"), t_end=0.2, dt=ErrorControl(1e-10, 1e-12, 1e-6, 5e-3))
    assert run.q["crank.angle"][-1] == pytest.approx(18.069825, abs=1e-6)


def test_the_ideal_twin():
    ideal = slider_crank_translational(clearance=False).build()
    assert (ideal.nc, ideal.ng) == (0, 8)
    run = simulate(ideal, EventDriven(), t_end=0.02, dt=ErrorControl(1e-9, 1e-11, 1e-6, 5e-3))
    assert np.max(np.abs(run.q["slider.y"])) <= 1e-15
    assert abs(run.certificate.energy.remainder) <= 1e-8
    with pytest.raises(InputError, match="an ideal guide admits no tilt"):
        slider_crank_translational(clearance=False, tilt=1e-3)


def test_the_start():
    built = slider_crank_translational().build()
    start = built.start
    energies = built.energies([0.0], [start.q], [start.v], built.parameter_values)
    assert energies["kinetic"][0] == pytest.approx(7.49554875, abs=5e-9)
    stated = slider_crank_translational.provenance["guide.clearance"].value
    assert stated == pytest.approx(built.parameters["guide.clearance"], rel=1e-14)
