"""Geometric stiffness: bending under axial forces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import root

from nonsmooth import (
    Ground,
    InputError,
    Model,
    MoreauJean,
    PointForce,
    PointOnLine,
    Revolute,
    simulate,
)
from nonsmooth.diagnostics import momentum
from nonsmooth.flexible import Material, Modes, Rectangle, beam, modes
from nonsmooth.model.flexible_bodies import FlexibleBody, PlanarFlexibleBody, SpatialFlexibleBody

LENGTH, YOUNGS = 1.0, 2.1e11
STIFFNESS = YOUNGS * 0.025 * 0.02**3 / 12
STEEL = Material(youngs=YOUNGS, shear=8e10, density=7850.0)
BEAM = beam(
    (0, 0, 0), (LENGTH, 0, 0), section=Rectangle(0.02, 0.025), elements=16, material=STEEL,
    names={"left": 0, "middle": 0.5, "right": 1},
)  # fmt: skip
NODES = ("left", "middle", "right")
MODES, PLAIN = (
    modes(BEAM, interface=NODES, keep=2, damping=0.0, method="free", stiffening=stiffening)
    for stiffening in (True, False)
)


FEWER = modes(BEAM, interface=("left", "right"), keep=2, damping=0.0, method="free", stiffening=True)


def deflection(tension: float, load: float, found: Modes) -> float:
    """Of the middle of a simply supported beam under a load there and a tension, by statics of the model."""
    rod = PlanarFlexibleBody("rod", found, position=(LENGTH / 2, 0.0))
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

    solved = root(residual, np.concatenate([system.start.q * scale, np.zeros(system.ng)]), tol=1e-13)
    assert solved.success
    placement, _ = rod.node_placement("middle", ca.DM(solved.x[:n] / scale), ca.DM(still))
    return float(placement.position[1])


@pytest.mark.parametrize(
    "which, name", [("changes", "coupling"), ("shortening", "bending"), ("shortening", "rotations")]
)
def test_modes_with_an_empty_array_of_second_order_are_refused(which: str, name: str) -> None:
    """As a TOML file may have: they are found when the modes are made, not by an error of NumPy or CasADi."""
    emptied = replace(getattr(MODES, which), **{name: np.array([])})
    with pytest.raises(InputError, match=f"{name} of the second order of modes must be .* got shape"):
        replace(MODES, **{which: emptied})


def test_tension_stiffens_a_simply_supported_beam() -> None:
    """Timoshenko: F L^3 / (48 EI) 3 (u - tanh u) / u^3, u = L/2 sqrt(N / EI); here to 1e-4, of the chosen modes."""
    tension, load = 3e4, 10.0
    u = LENGTH / 2 * np.sqrt(tension / STIFFNESS)
    straight = load * LENGTH**3 / (48 * STIFFNESS)
    assert deflection(0.0, load, MODES) == pytest.approx(straight, rel=1e-4)
    assert deflection(tension, load, PLAIN) == pytest.approx(straight, rel=1e-6)
    assert deflection(tension, load, MODES) == pytest.approx(straight * 3 * (u - np.tanh(u)) / u**3, rel=1e-4)


def bent(found: Modes, spin: float) -> PlanarFlexibleBody:
    eta = np.zeros(PlanarFlexibleBody("rod", found).count)
    eta[:2] = 2e-3
    return PlanarFlexibleBody("rod", found, angular_velocity=spin, deformation=eta)


def test_a_spinning_bent_rod_keeps_energy_and_moment_of_momentum() -> None:
    """Centrifugal stiffness is inertia: no load does work.

    The midpoint rule keeps what is quadratic in the velocities: the energy to round-off of 400 steps, 1e-10 of it; the
    moment of momentum changes by the square of the step, to a tenth of it.
    """
    changes = []
    for dt in (2e-5, 1e-5):
        run = simulate(Model([bent(FEWER, 300.0)]).build(), MoreauJean(), t_end=4e-3, dt=dt)
        energy, moments = run.certificate.energy, momentum(run).total_angular
        assert energy.work_loads == 0.0
        assert abs(energy.remainder) < 1e-10 * energy.potential_start
        changes.append(np.ptp(moments) / moments[0])
    assert changes[1] == pytest.approx(changes[0] / 4, rel=0.1)


def clamped(body: FlexibleBody, angle: Any, eta: Any) -> Any:
    """Coordinates of a body whose left end is clamped to a hub at the origin, turned by an angle about z."""
    d, unturned = body.dimensions[0], (0.0,) if body.dimensions == (2,) else (1.0, 0.0, 0.0, 0.0)
    Q = ca.SX.sym("q", len(body.q_columns))
    left, _, turned, _ = body._by_node("left", slice(d), slice(2, 3) if d == 2 else slice(3), Q[-body.count :])
    node = ca.Function("node", [Q], [body.modes.places[body.modes.node("left"), :d] + left, turned])
    place, turned = node(ca.vertcat(ca.MX.zeros(d), *unturned, eta))
    if d == 2:
        c, s = ca.cos(angle - turned), ca.sin(angle - turned)
        return ca.vertcat(s * place[1] - c * place[0], -s * place[0] - c * place[1], angle - turned, eta)
    a, c, s = turned / 2, ca.cos(angle / 2), ca.sin(angle / 2)  # the node is turned by Cayley's map of twice a
    quaternion = ca.vertcat(c + s * a[2], s * a[1] - c * a[0], -s * a[0] - c * a[1], s - c * a[2])
    quaternion /= ca.sqrt(1 + ca.sumsqr(a))
    w, u = quaternion[0], quaternion[1:]
    return ca.vertcat(-place - 2 * w * ca.cross(u, place) - 2 * ca.cross(u, ca.cross(u, place)), quaternion, eta)


def turning(body: FlexibleBody) -> Any:
    """Equations of a cantilever, clamped to a hub of no radius that turns about z.

    (spin, t, eta, eta', eta'') -> rows ``S' (M v' - h)`` and their derivatives by eta, eta', eta'', with the velocities
    v, q' = B v, and the directions S that the clamp leaves; place and angle of the mean frame follow from eta.
    """
    system, n = Model([body]).build(), body.count
    p, spin, t = system.parameter_values, ca.MX.sym("spin"), ca.MX.sym("t")
    eta, rate, change = (ca.MX.sym(name, n) for name in ("eta", "rate", "change"))
    q = clamped(body, spin * t, eta)
    moved, B = ca.jtimes(q, eta, rate) + ca.jacobian(q, t), system.B(q)
    v, directions = (ca.solve(B.T @ B, B.T @ one, "qr") for one in (moved, ca.jacobian(moved, rate)))
    a = ca.jtimes(v, eta, rate) + ca.jtimes(v, rate, change) + ca.jacobian(v, t)
    rows = directions.T @ (system.M(q, p) @ a - system.h(t, q, v, p))
    outputs = [rows, *(ca.densify(ca.jacobian(rows, x)) for x in (eta, rate, change))]
    return ca.Function("turning", [spin, t, eta, rate, change], outputs)


def frequencies(relative: float, equations: Any) -> np.ndarray:
    """Of small vibrations about the steady state, at this spin, ascending.

    In units of sqrt(E I / (rho A L^4)), as the spin is.
    """
    unit, n = np.sqrt(YOUNGS * THIN**2 / 12 / STEEL.density) / LENGTH**2, equations.numel_in(2)
    at, still = np.zeros(n), np.zeros(n)
    for _ in range(5):  # the steady state
        row, K, *_ = (np.array(one) for one in equations(relative * unit, 0.0, at, still, still))
        at = at - np.linalg.solve(K, row).ravel()
    _, K, C, M = (np.array(one) for one in equations(relative * unit, 0.0, at, still, still))
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    return np.sort(np.abs(np.linalg.eigvals(matrix).imag))[::2] / unit


#: so thin that stretching by the spin changes no frequency: its strain is of the order of (THIN / LENGTH)^2
THIN = 5e-4


@pytest.fixture(scope="module")
def cantilever() -> dict[bool, Any]:
    """A clamped strip; the highest of its modes in the plane decides on how well the spin is represented."""
    strip = beam(
        (0, 0, 0), (LENGTH, 0, 0), section=Rectangle(THIN, 10 * THIN), elements=200, material=STEEL,
        names={"left": 0, "right": 1},
    )  # fmt: skip
    found = {}
    for stiffening, keep in ((True, 14), (False, 4)):
        kept = modes(strip, interface=("left",), keep=keep, damping=0.0, stiffening=stiffening)
        found[stiffening] = turning(PlanarFlexibleBody("rod", kept))
    return found


@pytest.mark.parametrize(
    ("spin", "first", "second"),
    [
        (0, 3.51601527, 22.03449156),
        (1, 3.68164681, 22.18101115),
        (2, 4.13731957, 22.61492196),
        (3, 4.79727853, 23.32026367),
    ],
)
def test_a_turning_cantilever_is_stiffened_by_its_centrifugal_force(cantilever, spin, first, second) -> None:
    """Exact lag^2 = flap^2 - spin^2, with the frequencies of flapping computed to 8 digits elsewhere; to 1e-6.

    Axial forces are constant in each of the 200 elements, which is worth 4e-7 of the second frequency at spin 2.
    """
    exact = np.sqrt(np.array([first, second]) ** 2 - spin**2)
    assert frequencies(spin, cantilever[True])[:2] == pytest.approx(exact, rel=1e-6)


def test_without_shortening_the_turning_cantilever_is_softened(cantilever) -> None:
    """Inertia forces alone: the first frequency falls where it should rise by 3 %."""
    assert frequencies(2, cantilever[False])[0] < 0.99 * 3.51601527


@pytest.mark.slow
def test_a_turning_cantilever_flaps_and_lags_in_space() -> None:
    """Of a square section, at spin 3, to 1e-6 with eleven modes in each plane and 200 elements; 8e-7 measured.

    With eight modes the second frequencies are 1.3e-6 too high, with four 1.5e-5; with 100 elements, in each of which
    the axial force is constant, 2.7e-6. With 400 round-off of the stiffness matrix is worth 4e-6 of the first.
    """
    rod = beam(
        (0, 0, 0), (LENGTH, 0, 0), section=Rectangle(THIN, THIN), elements=200, material=STEEL,
        names={"left": 0, "right": 1},
    )  # fmt: skip
    body = SpatialFlexibleBody("rod", modes(rod, interface=("left",), keep=22, damping=0.0))
    flap = np.array([4.79727853, 23.32026367])
    expected = np.sort([*flap, *np.sqrt(flap**2 - 9)])
    assert frequencies(3, turning(body))[:4] == pytest.approx(expected, rel=1e-6)
