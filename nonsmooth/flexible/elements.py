"""Matrices of one straight beam element, from its shape functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.sections import CrossSection, Material

#: components of the recovered stresses [Pa]
COMPONENTS = ("axial", "bending y", "bending z", "torsion")


@dataclass(frozen=True, eq=False)
class BeamElement:
    """A beam element in its own axes: x from its first to its second node, y and z principal axes of its section.

    Degrees of freedom of each node: displacements (3) [m], small rotations (3) [rad], and of the quintic element the
    twist rate [rad/m] and the derivatives of the rotations about y and z [rad/m], which are the curvatures.

    Parameters
    ----------
    mass, stiffness : (n, n), n = 12 or 18
    axial : (n,) [N/m]
        Axial force per degree of freedom, constant in the element, tension > 0.
    geometric : (n, n) [1/m]
        Stiffness per axial force: ``integral of (u_y'^2 + u_z'^2)``.
    fractions : (g,)
        Points along it, from 0 to 1, of Gauss's rule that integrates products of displacements exactly.
    masses : (g,) [kg]
        At these points.
    shapes : (g, 3, n)
        Displacements of these points.
    stresses : (2, 4, n) [Pa/m, Pa/rad]
        At the two ends: axial, of bending in the x-y and in the x-z plane at the fibres +y and +z, of torsion.
    """

    mass: Array
    stiffness: Array
    axial: Array
    geometric: Array
    fractions: Array
    masses: Array
    shapes: Array
    stresses: Array | None


def _gram(a: Array, b: Array) -> Array:
    """Integrals over (0, 1) of products of polynomials, given by rows of coefficients in ascending powers."""
    i, j = np.arange(a.shape[1])[:, None], np.arange(b.shape[1])[None, :]
    found: Array = a @ (1.0 / (i + j + 1.0)) @ b.T
    return found


def _derivative(a: Array, times: int = 1) -> Array:
    """Derivative of polynomials, with as many coefficients as before."""
    for _ in range(times):
        a = np.hstack([a[:, 1:] * np.arange(1, a.shape[1]), np.zeros((len(a), 1))])
    return a


def _values(a: Array, places: Array) -> Array:
    """Values (g, n) of polynomials (n, powers) at places in (0, 1)."""
    found: Array = places[:, None] ** np.arange(a.shape[1]) @ a.T
    return found


def _hermite(conditions: int) -> Array:
    """Polynomials on (0, 1) of which one of value, slope, ... at 0 and at 1 is one and the others are zero."""
    monomials = np.eye(2 * conditions)
    values = [_derivative(monomials, k) for k in range(conditions)]
    rows = [value[:, 0] for value in values] + [value.sum(axis=1) for value in values]
    found: Array = np.linalg.inv(np.array(rows)).T
    return found


def _bending(conditions: int, length: float, ratio: float) -> tuple[Array, Array]:
    """Deflection and rotation, as polynomials of x / length, per deflection, rotation (and its slope) at both ends.

    ``rotation = w' + ratio w'''`` with ``ratio = E I / (k G A)``, as without distributed load (Przemieniecki).
    """
    if ratio == 0.0:
        scale = np.tile(length ** np.arange(conditions), 2)
        w = scale[:, None] * _hermite(conditions)
        return w, _derivative(w) / length
    monomials = np.eye(4)
    turn = _derivative(monomials) / length + ratio * _derivative(monomials, 3) / length**3
    rows = np.array([monomials[:, 0], turn[:, 0], monomials.sum(axis=1), turn.sum(axis=1)])
    w = np.linalg.inv(rows).T
    return w, w @ turn


def _element(
    section: CrossSection, material: Material, length: float, conditions: int, timoshenko: bool
) -> BeamElement:
    """With `conditions` per end on a deflection: 2 for cubic, 3 for quintic bending."""
    per_node = 6 if conditions == 2 else 9
    n, E, G, rho = 2 * per_node, material.youngs, material.shear, material.density
    M, K, geometric, stresses = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((2, 4, n))
    fibres = section.fibres or (0.0, 0.0, 0.0)
    ends = np.array([0, per_node])
    nodes, weights = np.polynomial.legendre.leggauss(2 * conditions)
    fractions, shapes = (1.0 + nodes) / 2.0, np.zeros((2 * conditions, 3, n))

    def put(matrix: Array, at: Any, values: Array) -> None:
        matrix[np.ix_(at, at)] += values

    linear = _hermite(1)
    u, slope = ends, _derivative(linear) / length
    put(M, u, rho * section.area * length * _gram(linear, linear))
    put(K, u, E * section.area * length * _gram(slope, slope))
    axial = np.zeros(n)
    axial[u] = E * section.area * slope[:, 0]
    shapes[:, 0, u] = _values(linear, fractions)
    stresses[:, 0, u] = E * slope[:, 0]

    twist = linear if conditions == 2 else np.tile([1.0, length], 2)[:, None] * _hermite(2)
    rate = _derivative(twist) / length
    at = ends + 3 if conditions == 2 else np.array([3, 6, per_node + 3, per_node + 6])
    put(M, at, rho * (section.Iy + section.Iz) * length * _gram(twist, twist))
    put(K, at, G * section.J * length * _gram(rate, rate))
    stresses[0, 3, at], stresses[1, 3, at] = G * fibres[2] * rate[:, 0], G * fibres[2] * rate.sum(axis=1)

    # in the x-y plane u_y' = r_z, in the x-z plane u_z' = -r_y
    for component, offsets, sign, second, fibre in (
        (1, (1, 5, 8), 1.0, section.Iz, fibres[0]),
        (2, (2, 4, 7), -1.0, section.Iy, fibres[1]),
    ):
        shear = section.shear[component - 1] * G * section.area if timoshenko and section.shear else np.inf
        w, turn = _bending(conditions, length, E * second / shear)
        signs = np.tile([1.0, *[sign] * (conditions - 1)], 2)[:, None]
        w, turn = signs * w, signs * turn
        at = (ends[:, None] + np.array(offsets[:conditions])).ravel()
        slope, curvature = _derivative(w) / length, _derivative(turn) / length
        put(M, at, rho * section.area * length * _gram(w, w))
        shapes[:, component, at] = _values(w, fractions)
        put(K, at, E * second * length * _gram(curvature, curvature))
        put(geometric, at, length * _gram(slope, slope))
        if timoshenko:
            put(M, at, rho * second * length * _gram(turn, turn))
            put(K, at, shear * length * _gram(slope - turn, slope - turn))
        stresses[0, component, at] = -E * fibre * curvature[:, 0]
        stresses[1, component, at] = -E * fibre * curvature.sum(axis=1)
    masses = rho * section.area * length * weights / 2.0
    recovered = None if section.fibres is None else stresses
    return BeamElement(M, K, axial, geometric, fractions, masses, shapes, recovered)


def cubic(section: CrossSection, material: Material, length: float, *, timoshenko: bool = False) -> BeamElement:
    """Element with 12 degrees of freedom: cubic bending, linear torsion and elongation.

    Euler-Bernoulli without rotary inertia of the section in bending, or Timoshenko with it and with shear deformation
    (consistent mass of the interdependent shape functions; Przemieniecki 1968, section 11.6).

    Raises
    ------
    InputError
        For Timoshenko's theory and a section without shear coefficients.
    """
    if timoshenko and section.shear is None:
        raise InputError(
            "Timoshenko's theory needs the shear coefficients of the section; give shear=(along y, along z)."
        )
    return _element(section, material, length, 2, timoshenko)


def quintic(section: CrossSection, material: Material, length: float) -> BeamElement:
    """Element with 18 degrees of freedom: quintic bending, cubic torsion, linear elongation; Euler-Bernoulli.

    Per node three displacements, three rotations, the twist rate, and two curvatures.
    """
    return _element(section, material, length, 3, False)
