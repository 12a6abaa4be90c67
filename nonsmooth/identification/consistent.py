"""Physically consistent parameters: positive semidefinite pseudo-inertias, by a semidefinite program.

The least-squares estimate of base parameters may not be physically consistent. The consistent estimate minimises the
same sum of squares, ``|R (K theta - beta)|^2`` with the triangular factor R of the weighted regressor, over theta with
positive semidefinite pseudo-inertia matrices and nonnegative friction; among equivalent solutions it takes the theta
nearest to a prior.

Source: Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial parameter identification,
IEEE Robot. Autom. Lett. 3 (2018), 60-67.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.identification.base import BaseParameters
from nonsmooth.identification.regressor import Regressor, inertia_matrix, pseudo_inertia

ROUNDING = 1e-9  # negative eigenvalue of a scaled pseudo-inertia that counts as rounding


@dataclass(frozen=True)
class Verdict:
    """Whether numbers are a physically consistent inertia.

    Parameters
    ----------
    eigenvalues : of the inertia matrix [kg m^2], ascending
    definite : whether all are positive
    triangle : whether each is at most the sum of the others, as of every mass distribution
    """

    eigenvalues: tuple[float, float, float]
    definite: bool
    triangle: bool

    def __str__(self) -> str:
        listed = ", ".join(f"{x:.3g}" for x in self.eigenvalues)
        if not self.definite:
            return f"no body: the inertia matrix is not positive definite, its eigenvalues are {listed} kg m^2"
        if not self.triangle:
            return f"no body: the largest principal moment exceeds the sum of the others, {listed} kg m^2"
        return f"a body can have it, principal moments {listed} kg m^2"


def body_verdict(inertia: Sequence[float]) -> Verdict:
    """Verdict on an inertia matrix about the centre of mass or a joint: Ixx, Ixy, Ixz, Iyy, Iyz, Izz [kg m^2].

    >>> body_verdict((1.0, 0.0, 0.0, 1.0, 0.0, 3.0)).triangle
    False
    """
    low, middle, high = (float(x) for x in np.linalg.eigvalsh(inertia_matrix(inertia)))
    return Verdict((low, middle, high), low > 0, high <= low + middle)


def least_eigenvalues(Y: Regressor, theta: Array) -> dict[str, float]:
    """Least eigenvalue of the pseudo-inertia of each body, as a share of its largest."""
    found = {}
    for body, places in _bodies(Y).items():
        values = np.linalg.eigvalsh(pseudo_inertia(np.asarray(theta)[places]))
        found[body] = float(values[0] / max(abs(values[-1]), 1e-300))
    return found


def is_consistent(Y: Regressor, theta: Array) -> bool:
    """Whether bodies can have these standard parameters, up to rounding, and friction and loads are not negative."""
    return all(x >= -ROUNDING for x in least_eigenvalues(Y, theta).values()) and bool(
        np.all(np.asarray(theta)[_nonnegative(Y)] >= -ROUNDING)
    )


def consistent_parameters(Y: Regressor, base: BaseParameters, beta: Array, R: Array, prior: Array) -> Array:
    """Standard parameters (np,) of the consistent estimate.

    `beta` is the estimate of least squares, R (rank, rank) the factor of the weighted regressor. By the prior, standard
    parameters of bodies, the unknowns are scaled, too.
    """
    scale = _scales(Y, prior)
    first, slack = _program(Y, base, beta, R, prior, scale, None)
    lead = base.values(first)
    # where least squares belong to bodies, the minimum is theirs exactly
    wanted = beta if slack <= 1e-7 * max(1.0, float(np.linalg.norm(R @ beta))) else lead
    nearest, _ = _program(Y, base, beta, R, prior, scale, wanted)
    # the solver's error in the base parameters is removed along them, unless this violates consistency
    K = base.combination * scale
    exact = nearest + scale * (np.linalg.pinv(K) @ (wanted - base.values(nearest)))
    if is_consistent(Y, exact):
        return exact
    repaired = nearest.copy()  # eigenvalues that are negative by the solver's rounding are shifted to zero
    for places in _bodies(Y).values():
        P = pseudo_inertia(repaired[places])
        low = float(np.linalg.eigvalsh(P)[0])
        if -1e-6 * float(np.trace(P)) < low < 0:
            moments = [places[0], places[3], places[5]] if len(places) == 10 else [places[0]]
            repaired[moments] += -2 * low if len(places) == 10 else -low
            repaired[places[-1]] += -low
    others = _nonnegative(Y)
    repaired[others] = np.maximum(repaired[others], 0.0)
    return repaired


def _program(
    Y: Regressor, base: BaseParameters, beta: Array, R: Array, prior: Array, scale: Array, fixed: Array | None
) -> tuple[Array, float]:
    """The minimum and its norm; with `fixed` the theta nearest to the prior that has these base parameters."""
    import cvxpy as imported

    cvxpy: Any = imported
    x = cvxpy.Variable(len(scale))  # theta / scale
    theta = cvxpy.multiply(scale, x)
    constraints = [_matrix(theta, places, scale) >> 0 for places in _bodies(Y).values()]
    constraints += [x[i] >= 0 for i in _nonnegative(Y)]
    K = base.combination * scale
    weights = np.linalg.norm(R, axis=0)
    if fixed is None:
        size = max(float(np.linalg.norm(R @ beta)), 1e-300)
        objective = cvxpy.sum_squares((R / size) @ (K @ x - beta))
        # a trace of the prior, far below the accuracy of the solver, keeps directions without influence finite
        objective += 1e-12 * cvxpy.sum_squares(x - prior / scale)
    else:
        relative = weights / max(float(np.linalg.norm(weights * beta)), 1e-300)
        objective = cvxpy.sum_squares(x - prior / scale) * 1e-4
        objective += 1e6 * cvxpy.sum_squares(cvxpy.multiply(relative, K @ x - fixed))
    problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
    with warnings.catch_warnings():  # eigenvalues and base parameters of the result are checked by the caller
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-11, max_iter=200)
    if x.value is None or problem.status not in ("optimal", "optimal_inaccurate"):
        raise NonsmoothError(f"The semidefinite program of the consistent estimate ended as {problem.status}.")
    found = scale * np.asarray(x.value, dtype=float)
    return found, float(np.linalg.norm(R @ (base.values(found) - beta)))


def _bodies(Y: Regressor) -> dict[str, list[int]]:
    """Places of the parameters of each body."""
    found: dict[str, list[int]] = {}
    for i, one in enumerate(Y.parameters):
        if one.kind == "inertia":
            found.setdefault(one.name.partition(".")[0], []).append(i)
    return found


def _nonnegative(Y: Regressor) -> list[int]:
    """Places of the parameters of friction and loads that are not negative."""
    return [i for i, one in enumerate(Y.parameters) if one.kind != "inertia" and not one.name.endswith(".offset")]


def _scales(Y: Regressor, prior: Array) -> Array:
    """Magnitude of each parameter: of a body by its mass and radius of gyration, else by the prior or one."""
    scale = np.where(np.abs(prior) > 0, np.abs(prior), 1.0)
    for places in _bodies(Y).values():
        values = prior[places]
        mass = max(values[-1], 1e-12)
        moment = max(float(np.max(np.abs(values[:-4]))) if len(values) == 10 else float(values[0]), 1e-12 * mass)
        arm = float(np.sqrt(moment / mass))
        sizes = [mass * arm**2] * (6 if len(values) == 10 else 1) + [mass * arm] * (3 if len(values) == 10 else 2)
        scale[places] = [*sizes, mass]
    return scale


def _matrix(theta: Any, places: list[int], scale: Array) -> Any:
    """Pseudo-inertia of a body as an expression, its rows and columns scaled to numbers of the order of one."""
    import cvxpy

    size = 3 if len(places) == 4 else 4
    parts = [pseudo_inertia(np.eye(len(places))[k]) for k in range(len(places))]
    whole = sum(theta[place] * part for place, part in zip(places, parts, strict=True))
    D = np.diag([1 / np.sqrt(scale[places[0]])] * (size - 1) + [1 / np.sqrt(scale[places[-1]])])
    scaled = D @ whole @ D
    return (scaled + scaled.T) / 2 if isinstance(scaled, cvxpy.Expression) else scaled
