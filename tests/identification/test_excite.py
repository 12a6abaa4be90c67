"""Excitation: end conditions, bounds, exact gradients, and better than what is published."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth.exceptions import InputError
from nonsmooth.identification import Bounds, Excite, Fourier, base_parameters, criteria, excite, regressor
from nonsmooth.identification.excite import CRITERIA, _Search
from nonsmooth_problems.xy_pointing import DRIVES, published_motion, xy_pointing
from nonsmooth_problems.xy_pointing_facts import BASIS, NARROW, WIDE


@pytest.fixture(scope="module")
def pointing():
    Y = regressor(xy_pointing().build(), DRIVES)
    return Y, base_parameters(Y)


def test_published_motion(pointing):
    """Table 1 at 0.4 rad/s: condition 1206 and log det 34.0, each to 0.5 %."""
    Y, _ = pointing
    motion = published_motion(printed=True)
    W = Y(*motion.states(motion.times(400)))[..., [Y.names.index(name) for name in BASIS]]
    found = criteria(W)
    assert found["condition"] == pytest.approx(1206, rel=5e-3) and found["log det"] == pytest.approx(34.0, rel=5e-3)


def test_projection_satisfies_the_end_conditions():
    printed, projected = published_motion(printed=True), published_motion()
    assert np.max(np.abs(printed.ends())) > 1e-4 and np.max(np.abs(projected.ends())) < 1e-12
    assert np.max(np.abs([one[0] for one in projected.states(np.zeros(1))])) < 1e-12
    assert np.max(np.abs(printed.coefficients - projected.coefficients)) < 2e-3  # rounding of the printed digits
    assert np.max(Bounds(*NARROW).share(projected)) < 1.0


def test_series_and_its_signals_agree():
    motion, t = published_motion(), np.linspace(0.0, 10.0, 7)
    for d, signal in enumerate(motion.signals):
        assert [float(signal(x)) for x in t] == pytest.approx(motion(t)[:, d], abs=1e-15)
    h = 1e-5
    for k in (0, 1):
        slope = (motion(t + h, k) - motion(t - h, k)) / (2 * h)
        assert slope == pytest.approx(motion(t, k + 1), abs=1e-10)


@pytest.mark.parametrize("word", some(CRITERIA, 4))
def test_gradients_of_the_criteria(pointing, word):
    """Also of forces and collisions, against central differences: relative errors of 1e-6 by their step."""
    Y, base = pointing
    bounds = Bounds(*WIDE, force=(3.0, 1.0), clear=lambda q: 1.0 - q[:, :1] ** 2 - q[:, 1:] ** 2)
    search = _Search(Y, base, bounds, 1.0, Excite(criterion=word, harmonics=4))
    x = 0.3 * np.random.default_rng(2).normal(size=12)
    values, J = search.values(x)
    h = 1e-6
    numeric = np.column_stack(
        [(search.values(x + h * e)[0] - search.values(x - h * e)[0]) / (2 * h) for e in np.eye(12)]
    )
    assert np.max(np.abs(J - numeric)) < 1e-5 * np.max(np.abs(numeric))
    assert len(values) == 1 + 2 * 2 * 96 + 96


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds, omega, log_det, condition, workers", [(NARROW, 0.4, 45.4, 298, 2), (WIDE, 1.0, 89.1, 6.5, 1)]
)
def test_better_than_published(pointing, bounds, omega, log_det, condition, workers):
    """D-optimal motions of two starts reach at least these; every bound is kept."""
    Y, base = pointing
    shares = []
    options = {"settings": Excite(starts=2), "progress": lambda what, share: shares.append(share)}
    found = excite(Y, Bounds(*bounds), omega, base=base, executor=workers, **options)
    assert found.measures["log det"] >= log_det and found.measures["condition"] <= condition
    assert np.max(Bounds(*bounds).share(found.motion, 10_000)) <= 1.0
    assert np.max(np.abs(found.motion.ends())) < 1e-12
    assert shares[-1] == 1.0 and len(found.reached) == 2 and "log det" in str(found)


@pytest.mark.slow
def test_bounds_of_forces_and_collisions_are_kept(pointing):
    """Both are active: without them the torque reaches 2 N m and the corner of the work space is used."""
    Y, base = pointing
    clear = lambda q: 1.1 - np.abs(q[:, :1]) - np.abs(q[:, 1:])  # noqa: E731
    bounds = Bounds(*WIDE, force=(1.2, 0.3), clear=clear)
    found = excite(Y, bounds, 1.0, base=base, settings=Excite(starts=1), executor=1)
    states = found.motion.states(found.motion.times(2000))
    assert np.all(np.max(np.abs(Y.force(*states)), axis=0) <= (1.2, 0.3)) and np.min(clear(states[0])) >= 0
    assert np.max(np.abs(Y.force(*states)) / (1.2, 0.3)) > 0.9


def test_messages(pointing):
    Y, base = pointing
    with pytest.raises(InputError, match="criterion must be one of D, A, E, condition"):
        Excite(criterion="B")
    with pytest.raises(InputError, match="one positive number per drive"):
        Bounds((1.0,), (1.0,), (0.0,))
    with pytest.raises(InputError, match=r"of 1 drive\(s\), the mechanism has 2"):
        excite(Y, Bounds((1.0,), (1.0,), (1.0,)), 1.0, base=base)
    with pytest.raises(InputError, match="rows of 1 . 2 N finite numbers"):
        Fourier(1.0, np.zeros((1, 4)))
