"""Spectra of oscillations whose amplitude and frequency are known."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Ground,
    Landing,
    Model,
    PlanarBody,
    Prismatic,
    Spring,
    simulate,
)
from nonsmooth.diagnostics import spectrum
from nonsmooth.exceptions import InputError
from nonsmooth_problems import bouncing_ball, slider_rod

FREQUENCY, AMPLITUDE, MEAN = 5.0, 0.02, 0.3
CONTROL = ErrorControl(rtol=1e-10, atol=1e-13, dt_min=1e-6, dt_max=2e-3)


@pytest.fixture(scope="module")
def swinging():
    """A mass on a spring, ten periods of ``x = 0.3 + 0.02 cos(10 pi t)``."""
    stiffness = 2.0 * (2 * np.pi * FREQUENCY) ** 2
    model = Model([Ground(), PlanarBody("mass", mass=2.0, inertia=1.0, position=(MEAN + AMPLITUDE, 0.0))])
    model.add(Prismatic("rail", "ground", "mass"))
    model.add(Spring("spring", "ground", "mass", stiffness=stiffness, free_length=MEAN))
    return simulate(model.build(), EventDriven(), t_end=2.0, dt=CONTROL)


def test_the_line_has_the_oscillations_amplitude(swinging):
    found = spectrum(swinging, "mass.x", window="boxcar", samples=512)
    assert found.unit == "m" and found.duration == 2.0 and found.spacing == 2.0 / 512
    f, A = found.peak()
    assert f == FREQUENCY
    assert pytest.approx(AMPLITUDE, rel=1e-7) == A
    assert found.amplitude[0] == pytest.approx(MEAN, rel=1e-8)
    rest = np.delete(found.amplitude, [0, 10])
    assert rest.max() < 5e-7 * AMPLITUDE  # of interpolation between rows
    assert found.bandwidth == pytest.approx(0.5)


def test_a_window_keeps_a_line_off_the_grid_together(swinging):
    span = (0.0, 1.9137)
    bare, hann = (spectrum(swinging, "mass.x", window=w, samples=512, span=span) for w in ("boxcar", "hann"))
    far = bare.frequency > 20.0
    assert hann.amplitude[far].max() < 1e-3 * bare.amplitude[far].max() * 20
    assert hann.peak()[1] == pytest.approx(AMPLITUDE, rel=0.16)  # scalloping of the Hann window: 1.42 dB at most
    assert hann.bandwidth == pytest.approx(1.5 / 1.9137)


def test_velocities_and_reactions(swinging):
    speed = spectrum(swinging, "mass.x", kind="v", window="boxcar", samples=400)
    assert speed.unit == "m/s"
    assert speed.peak() == (FREQUENCY, pytest.approx(AMPLITUDE * 2 * np.pi * FREQUENCY, rel=1e-6))
    rail = spectrum(
        swinging, "rail.y" if "rail.y" in swinging.reaction else swinging.reaction.names[0], kind="reaction"
    )
    assert rail.amplitude.max() < 1e-9


def test_forces_are_means_with_impacts_inside():
    run = simulate(bouncing_ball().build(), EventDriven(), t_end=2.0, dt=CONTROL)
    found = spectrum(run, "floor", kind="lam_N", samples=64)
    assert found.unit == "N"
    # the mean over the run is the whole impulse over its length
    assert found.amplitude[0] == pytest.approx(run.P_N["floor"].sum() / 2.0, rel=1e-12)
    lying = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    mean = spectrum(lying, "guide.left_lower", kind="lam_N").amplitude[0]
    assert mean == pytest.approx(lying.P_N["guide.left_lower"].sum() / 0.02, rel=1e-12)


def test_bad_arguments_are_named(swinging):
    with pytest.raises(InputError, match="no spectrum of the kind 'energy'; take one of q, v, gap, gap_rate, lam_N"):
        spectrum(swinging, "kinetic", kind="energy")
    with pytest.raises(InputError, match="samples must be an integer >= 4, got 2"):
        spectrum(swinging, "mass.x", samples=2)
    with pytest.raises(InputError, match="window must be one that scipy.signal.get_window knows, got 'bogus'"):
        spectrum(swinging, "mass.x", window="bogus")
    with pytest.raises(InputError, match="span must be two times .s. within the run, 0 to 2 s"):
        spectrum(swinging, "mass.x", span=(1.0, 3.0))
    with pytest.raises(InputError, match="no coordinate 'mas.x'"):
        spectrum(swinging, "mas.x")
