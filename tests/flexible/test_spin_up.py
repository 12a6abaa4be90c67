"""A beam that is spun up about one end: lag while it accelerates, and the stretch of the steady spin."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    Fixed,
    Ground,
    Model,
    MoreauJean,
    PlanarBody,
    PlanarFlexibleBody,
    PrescribedMotion,
    Revolute,
    simulate,
)
from nonsmooth.diagnostics import node_positions
from nonsmooth.flexible import CrossSection, Material, beam, modes

LENGTH, EA, EI, LINE, AREA = 10.0, 2.8e7, 1.4e4, 1.2, 0.01
#: [rad/s] reached after [s]
SPIN, RISE = 6.0, 15.0


def angle(t):
    """Of the hub [rad]: its acceleration is a sine squared in time."""
    rising = SPIN / RISE * (t**2 / 2 + (RISE / (2 * np.pi)) ** 2 * (ca.cos(2 * np.pi * t / RISE) - 1))
    return ca.if_else(t < RISE, rising, SPIN * (t - RISE / 2))


@pytest.mark.slow
def test_the_spin_up_beam() -> None:
    """Steady stretch of the tip, exactly ``tan(kL) / k - L`` with k = omega sqrt(rho A / EA), to 1 %; 0.1 % measured.

    The tip first lags by 0.57 m, which shortens its radius by 19 mm, forty times the stretch. What is left of the
    bending once the spin is constant is 0.6 % of that. Without shortening it lags by 0.68 m.
    """
    E, rho = EA / AREA, LINE / AREA
    section = CrossSection(area=AREA, Iy=100 * EI / E, Iz=EI / E, J=EI / E)
    strip = beam(
        (0, 0, 0), (LENGTH, 0, 0), section=section, material=Material(E, E / 2.6, rho), names={"hub": 0, "tip": 1}
    )
    rod = PlanarFlexibleBody(
        "rod", modes(strip, interface=("hub", "tip"), keep=2, damping=0.0), position=(LENGTH / 2, 0.0)
    )
    system = Model([
        Ground(), PlanarBody("hub", 1.0, 1.0), rod, Revolute("axle", "ground", "hub"),
        Fixed("clamp", "hub", rod.node("hub")),
        PrescribedMotion("motor", "ground", "hub", coordinate="angle", motion=angle),
    ]).build()  # fmt: skip
    run = simulate(system, MoreauJean(), t_end=19.0, dt=1e-2)
    (x, y), turned = node_positions(run, "rod.tip").T, run.q["hub.angle"]
    along, across = np.cos(turned) * x + np.sin(turned) * y - LENGTH, np.cos(turned) * y - np.sin(turned) * x
    steady = run.t > RISE
    k = SPIN * np.sqrt(LINE / EA)
    assert np.mean(along[steady]) == pytest.approx(np.tan(k * LENGTH) / k - LENGTH, rel=1e-2)
    assert np.min(across) == pytest.approx(-0.5736, rel=1e-2)  # of runs with up to 16 elements, 7 modes, steps of 2 ms
    assert np.min(along) < -0.018
    assert np.max(np.abs(across[steady])) < 1e-2 * 0.5736
