"""Geometric stiffness: bending under axial forces."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import root

from nonsmooth import Ground, Model, ModelError, MoreauJean, PointForce, PointOnLine, Revolute, simulate
from nonsmooth.flexible import Material, Rectangle, beam, modes
from nonsmooth.model.flexible_bodies import PlanarFlexibleBody

from .beams import free_rod

LENGTH, YOUNGS = 1.0, 2.1e11
STIFFNESS = YOUNGS * 0.025 * 0.02**3 / 12
MODES = modes(
    beam(
        (0, 0, 0), (LENGTH, 0, 0), section=Rectangle(0.02, 0.025), elements=16,
        material=Material(youngs=YOUNGS, shear=8e10, density=7850.0), names={"left": 0, "middle": 0.5, "right": 1},
    ),
    interface=("left", "middle", "right"), keep=2, damping=0.0, stiffening=True, method="free",
)  # fmt: skip


def deflection(tension: float, load: float, stiffening: bool) -> float:
    """Of the middle of a simply supported beam under a load there and a tension, by statics of the model."""
    rod = PlanarFlexibleBody("rod", MODES, position=(LENGTH / 2, 0.0), stiffening=stiffening)
    system = Model([
        Ground(), rod, Revolute("left", "ground", rod.node("left")), PointOnLine("right", "ground", rod.node("right")),
        PointForce("pull", rod.node("right"), force=(tension, 0.0)),
        PointForce("load", rod.node("middle"), force=(0.0, load)),
    ]).build(assemble=True)  # fmt: skip
    n, p, still, f = system.nv, system.parameter_values, np.zeros(system.nv), system.numeric
    scale = np.sqrt(np.maximum(f.linear_forces(p)[0], 1e4))

    def residual(x):
        q = x[:n] / scale
        forces = f.h(0.0, q, still, p)[0] + f.W_g(0.0, q, p)[0] @ x[n:]
        return np.concatenate([forces / scale, f.g(0.0, q, p)[0]])

    found = root(residual, np.concatenate([system.start.q * scale, np.zeros(system.ng)]), tol=1e-13)
    assert found.success
    placement, _ = rod.node_placement("middle", ca.DM(found.x[:n] / scale), ca.DM(still))
    return float(placement.position[1])


def test_tension_stiffens_a_simply_supported_beam() -> None:
    """Timoshenko: F L^3 / (48 EI) 3 (u - tanh u) / u^3, u = L/2 sqrt(N / EI); here to 1e-4, of the chosen modes."""
    tension, load = 3e4, 10.0
    u = LENGTH / 2 * np.sqrt(tension / STIFFNESS)
    straight = load * LENGTH**3 / (48 * STIFFNESS)
    assert deflection(0.0, load, True) == pytest.approx(straight, rel=1e-4)
    assert deflection(tension, load, False) == pytest.approx(straight, rel=1e-6)
    assert deflection(tension, load, True) == pytest.approx(straight * 3 * (u - np.tanh(u)) / u**3, rel=1e-4)


def test_stretching_forces_keep_the_energy() -> None:
    """They have a potential: a bent and stretched rod without spin loses nothing but the error of the step, dt^2."""
    remainders = []
    for dt in (2e-5, 1e-5):
        eta = np.zeros(PlanarFlexibleBody("rod", MODES).count)
        eta[:2] = 5e-4
        rod = PlanarFlexibleBody("rod", MODES, deformation=eta, stiffening=True)
        energy = simulate(Model([rod]).build(), MoreauJean(), t_end=4e-3, dt=dt).certificate.energy
        remainders.append(abs(energy.remainder) / energy.potential_start)
    assert remainders[0] < 1e-3
    assert remainders[1] < remainders[0] / 3


def test_the_centrifugal_part_is_booked_as_work_of_loads() -> None:
    eta = np.zeros(PlanarFlexibleBody("rod", MODES).count)
    eta[0] = 1e-3
    rod = PlanarFlexibleBody("rod", MODES, angular_velocity=300.0, deformation=eta, stiffening=True)
    energy = simulate(Model([rod]).build(), MoreauJean(), t_end=2e-3, dt=1e-5).certificate.energy
    assert abs(energy.work_loads) > 1e-4 * energy.potential_start
    assert abs(energy.remainder) < 1e-2 * abs(energy.work_loads)  # the error of the step


def test_stiffening_takes_modes_that_know_it() -> None:
    with pytest.raises(ModelError, match="stiffening takes modes with geometric stiffness"):
        PlanarFlexibleBody("rod", free_rod(1.0, 1.0, bending=1.0, bending_modes=1), stiffening=True)
