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


def lag_frequencies(relative: float, stiffening: bool) -> tuple[float, float]:
    """The lowest two frequencies of small vibrations in the plane of a cantilever on a turning hub of no radius.

    Of Lagrange's equations in the amplitudes, from which the clamp at the left end determines the mean frame, with the
    forces of the body on itself; in units of sqrt(E I / (rho A L^4)), at a spin of `relative` of these.
    """
    unit = np.sqrt(STIFFNESS / (7850.0 * 0.025 * 0.02)) / LENGTH**2
    spin, body = relative * unit, PlanarFlexibleBody("rod", CANTILEVER, stiffening=stiffening)
    chosen, n = body.modes, body.count
    left, p = chosen.node("left"), body.symbols({f"rod.{label}": x for label, x in body.numbers().items()})
    eta, rate, change = (ca.SX.sym(name, n) for name in ("eta", "rate", "change"))
    tilt = -ca.dot(chosen.rotations[left, 2], eta)
    turned = ca.blockcat([[ca.cos(tilt), -ca.sin(tilt)], [ca.sin(tilt), ca.cos(tilt)]])
    centre = -turned @ (chosen.places[left, :2] + ca.mtimes(ca.DM(chosen.translations[left, :2]), eta))
    velocity = ca.jtimes(centre, eta, rate) + spin * ca.vertcat(-centre[1], centre[0])
    omega = spin + ca.jtimes(tilt, eta, rate)
    kinetic = (chosen.mass * ca.sumsqr(velocity) + chosen.inertia[2, 2] * omega**2 + ca.sumsqr(rate)) / 2
    inner = body.inner_forces(ca.vertcat(0, 0, 0, eta), ca.vertcat(0, 0, omega, rate), p)[3:]
    momenta = ca.gradient(kinetic, rate)
    rows = ca.jtimes(momenta, rate, change) + ca.jtimes(momenta, eta, rate) - ca.gradient(kinetic, eta) - inner
    outputs = [rows, *(ca.densify(ca.jacobian(rows, x)) for x in (eta, rate, change))]
    equations, at, still = ca.Function("equations", [eta, rate, change], outputs), np.zeros(n), np.zeros(n)
    for _ in range(10):  # the steady state
        row, K, *_ = (np.array(one) for one in equations(at, still, still))
        at = at - np.linalg.solve(K, row).ravel()
    _, K, C, M = (np.array(one) for one in equations(at, still, still))
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    found = np.sort(np.abs(np.linalg.eigvals(matrix).imag))
    return found[0] / unit, found[2] / unit


CANTILEVER = modes(
    beam(
        (0, 0, 0), (LENGTH, 0, 0), section=Rectangle(0.02, 0.025), elements=24,
        material=Material(youngs=YOUNGS, shear=8e10, density=7850.0), names={"left": 0, "right": 1},
    ),
    interface=("left",), keep=8, damping=0.0, stiffening=True, method="free",
)  # fmt: skip


@pytest.mark.parametrize(
    ("spin", "flap", "tolerance"), [(0, 3.51601527, 1e-6), (1, 3.68164681, 5e-4), (2, 4.13731957, 2e-3)]
)
def test_a_turning_cantilever_is_stiffened_by_its_centrifugal_force(spin, flap, tolerance) -> None:
    """Exact lag^2 = flap^2 - spin^2, with the frequencies of flapping computed to 8 digits elsewhere.

    Change of inertia by deformation is left out, and with it terms that are 3e-4 of the frequency times the spin
    squared (measured). Without stiffening the frequency falls, by 4 % at spin 2.
    """
    exact = np.sqrt(flap**2 - spin**2)
    assert lag_frequencies(spin, True)[0] == pytest.approx(exact, rel=tolerance)
    if spin == 2:
        assert lag_frequencies(spin, False)[0] < 0.97 * exact
        assert lag_frequencies(spin, True)[1] == pytest.approx(np.sqrt(22.61492196**2 - 4), rel=3e-3)
