"""Identifiable parameters and their combinations, and physically consistent parameters.

The columns of the stacked regressor W depend on each other, ``W = W_b K``: its driving forces are those of the base
parameters ``beta = K theta``, each of which is one standard parameter plus multiples of others with the same effect.

The least-squares estimate of base parameters may not be physically consistent. The consistent estimate minimises the
same sum of squares, ``|R (K theta - beta)|^2`` with the triangular factor R of the weighted regressor, over theta with
positive semidefinite pseudo-inertia matrices and nonnegative friction; among equivalent solutions it takes the theta
nearest to a prior.

Source: Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial parameter identification,
IEEE Robot. Autom. Lett. 3 (2018), 60-67.
"""

import itertools
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, NonsmoothError
from nonsmooth.files import plain, write_bytes
from nonsmooth.identification.regressor import Regressor, inertia_matrix, pseudo_inertia

#: singular value of the scaled columns, as a share of the largest, below which it is zero by rounding; coefficient of a
#: combination below which it is zero by rounding
RANK, ZERO = 1e-8, 1e-8
ROUNDING = 1e-9  # negative eigenvalue of a scaled pseudo-inertia that counts as rounding


class Saved:
    """Base of results that can be written as JSON."""

    def as_dictionary(self) -> dict[str, Any]:
        """Plain data of the result, for JSON."""
        raise TypeError(f"{type(self).__name__} has no plain data.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON; a number that is not finite is null. NotWritten leaves a file as it was."""
        text = json.dumps(plain(self.as_dictionary()), indent=2, allow_nan=False)
        write_bytes(text.encode() + b"\n", path, "The result")


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Result of `base_parameters`; printed, the combinations as formulas.

    Parameters
    ----------
    names, units : of all parameters
    columns : indices of the parameters that lead the combinations, in order
    combination : K (rank, parameters), ``beta = K theta``
    unseen : indices of the parameters that have no influence
    singular_values : of the columns scaled to norm 1, largest first
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    columns: tuple[int, ...]
    combination: Array
    unseen: tuple[int, ...]
    singular_values: Array

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    @property
    def gap(self) -> float:
        """Ratio of the smallest singular value within the rank to the largest one beyond it; inf for full rank."""
        s = self.singular_values
        return float(s[self.rank - 1] / s[self.rank]) if len(s) > self.rank and s[self.rank] > 0 else float("inf")

    @property
    def base_names(self) -> tuple[str, ...]:
        """Names of the leading parameters, with a trailing ``*`` if others are combined with them."""
        return tuple(
            self.names[c] + ("*" if np.count_nonzero(row) > 1 else "")
            for c, row in zip(self.columns, self.combination, strict=True)
        )

    @property
    def base_units(self) -> tuple[str, ...]:
        return tuple(self.units[c] for c in self.columns)

    def values(self, theta: Array) -> Array:
        """Base parameters (..., rank) of standard parameters (..., parameters)."""
        return np.asarray(theta, dtype=float) @ self.combination.T

    def reduced(self, Y: Array) -> Array:
        """Columns of a regressor that belong to the base parameters."""
        return Y[..., list(self.columns)]

    def formulas(self, symbols: Mapping[str, float] | None = None) -> tuple[str, ...]:
        """Each base parameter as text, such as ``link1.mx + L1 link2.m``.

        Parameters
        ----------
        symbols : name -> value
            Lengths and other numbers that coefficients are recognised as: one, or the product of two of them, times
            1 or 2. Other coefficients are printed as numbers.
        """
        symbols = symbols or {}
        known = [(name, abs(number)) for name, number in symbols.items()]
        for (one, x), (other, y) in itertools.combinations_with_replacement(known[: len(symbols)], 2):
            known.append((f"{one}^2" if one == other else f"{one} {other}", x * y))

        def coefficient(size: float) -> str:
            if abs(size - 1.0) < 1e-9:
                return ""
            for factor, (name, number) in itertools.product((1.0, 2.0), known):
                if number > 0 and abs(size / (factor * number) - 1.0) < 1e-8:
                    return f"{name} " if factor == 1.0 else f"2 {name} "
            return f"{size:.6g} "

        found = []
        for leader, row in zip(self.columns, self.combination, strict=True):
            others = [(float(row[i]), self.names[i]) for i in np.flatnonzero(row) if i != leader]
            terms = (f" {'-' if value < 0 else '+'} {coefficient(abs(value))}{name}" for value, name in others)
            found.append(self.names[leader] + "".join(terms))
        return tuple(found)

    def __str__(self) -> str:
        seen = len(self.names) - len(self.unseen)
        lines = [
            f"{self.rank} base parameters of {seen} that have an influence, of {len(self.names)}; gap of the singular "
            f"values {self.gap:.1e}"
        ]
        lines += [f"  {one} [{unit}]" for one, unit in zip(self.formulas(), self.base_units, strict=True)]
        if self.unseen:
            lines.append("without influence: " + ", ".join(self.names[i] for i in self.unseen))
        return "\n".join(lines)


def base_parameters(
    Y: Regressor | Array, states: tuple[Array, Array, Array] | None = None, *, names: tuple[str, ...] = (),
    units: tuple[str, ...] = (), bounds: float = 1.0, samples: int = 200, seed: int = 0,
) -> BaseParameters:  # fmt: skip
    """Find the identifiable combinations of the parameters.

    The rank is that of the columns scaled to norm 1, by their singular values. In the order of the parameters, a
    parameter leads a combination if it does not depend on the previous leaders; parameters that shall lead are
    therefore placed first. InputError if there are fewer rows than parameters, or values are not finite.

    Parameters
    ----------
    Y : a regressor, or its values stacked (rows, parameters) with `names` and `units`
    states : coordinates, velocities and accelerations of the drives, each (n, drives)
        Those of a measurement; random ones by default, see `random_states`.
    bounds, samples, seed : of random states

    >>> W = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [3.0, 6.0, 0.0]])
    >>> print(base_parameters(W, names=("a", "b", "c"), units=("kg", "kg", "m")))  # doctest: +ELLIPSIS
    1 base parameters of 2 that have an influence, of 3; gap of the singular values ...
      a + 2 b [kg]
    without influence: c
    """
    if isinstance(Y, Regressor):
        at = random_states(Y, bounds=bounds, samples=samples, seed=seed) if states is None else states
        W, names, units = Y(*at).reshape(-1, len(Y.parameters)), Y.names, Y.units
    else:
        W = np.asarray(Y, dtype=float).reshape(-1, np.shape(Y)[-1])
        names = names or tuple(f"theta{i + 1}" for i in range(W.shape[1]))
        units = units or ("",) * W.shape[1]
    if not np.all(np.isfinite(W)):
        raise InputError("The regressor has values that are not finite; check the states.")
    if len(W) < W.shape[1]:
        raise InputError(f"{W.shape[1]} parameters need at least as many rows of the regressor, got {len(W)}.")
    norms = np.linalg.norm(W, axis=0)
    seen = np.flatnonzero(norms > RANK * np.max(norms, initial=0.0))
    scaled = W[:, seen] / norms[seen]
    values = np.linalg.svd(scaled, compute_uv=False) if seen.size else np.zeros(0)
    rank = int(np.sum(values > RANK * values[0])) if seen.size else 0
    # the earliest independent columns lead: Gram and Schmidt's process, repeated against rounding
    leaders: list[int] = []
    orthonormal = np.zeros((len(scaled), 0))
    for i in range(scaled.shape[1]):
        rest = scaled[:, i]
        for _ in range(2):
            rest = rest - orthonormal @ (orthonormal.T @ rest)
        if np.linalg.norm(rest) > np.sqrt(RANK) * 1e-2 and len(leaders) < rank:
            leaders.append(i)
            orthonormal = np.column_stack([orthonormal, rest / np.linalg.norm(rest)])
    if len(leaders) < rank:  # nearly dependent early columns: pivoting finds as many as there are
        from scipy.linalg import qr

        leaders = sorted(int(i) for i in qr(scaled, mode="r", pivoting=True)[1][:rank])
    K = np.zeros((rank, W.shape[1]))
    if rank:
        K[:, seen] = np.linalg.lstsq(scaled[:, leaders], scaled, rcond=None)[0]
        K[np.abs(K) < ZERO] = 0.0  # of columns of norm 1
        K = K * np.where(norms > 0, norms, 1.0) / norms[seen[leaders]][:, None]
        K[:, seen[leaders]] = np.eye(rank)
    unseen = tuple(int(i) for i in range(W.shape[1]) if i not in set(seen.tolist()))
    return BaseParameters(names, units, tuple(int(i) for i in seen[leaders]), K, unseen, values)


def random_states(
    Y: Regressor, *, bounds: float = 1.0, samples: int = 200, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Random states of the drives around the start, uniform within +-bounds (rad or m, per s, per s^2), seeded."""
    q, v, a = np.random.default_rng(seed).uniform(-bounds, bounds, (3, samples, len(Y.drives)))
    return Y.motion.start + q, v, a


def as_dictionary(base: BaseParameters) -> dict[str, Any]:
    """Plain data of the result, for JSON."""
    return {
        "rank": base.rank, "gap": base.gap, "names": list(base.base_names), "units": list(base.base_units),
        "formulas": list(base.formulas()), "without influence": [base.names[i] for i in base.unseen],
    }  # fmt: skip


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
    return all(x >= -ROUNDING for x in [*least_eigenvalues(Y, theta).values(), *np.asarray(theta)[_nonnegative(Y)]])


def consistent_parameters(Y: Regressor, base: BaseParameters, beta: Array, R: Array, prior: Array) -> Array:
    """Standard parameters (np,) of the consistent estimate, from that of least squares and its factor R (rank, rank).

    By the prior, standard parameters of bodies, the unknowns are scaled, too.
    """
    scale = np.where(np.abs(prior) > 0, np.abs(prior), 1.0)
    for places in _bodies(Y).values():  # by mass and radius of gyration
        values, space = prior[places], len(places) == 10
        mass = max(values[-1], 1e-12)
        moment = max(float(np.max(np.abs(values[:-4]))) if space else float(values[0]), 1e-12 * mass)
        arm = float(np.sqrt(moment / mass))
        scale[places] = [*[mass * arm**2] * (6 if space else 1), *[mass * arm] * (3 if space else 2), mass]
    first, slack = _program(Y, base, beta, R, prior, scale, None)
    # where least squares belong to bodies, the minimum is theirs exactly
    wanted = beta if slack <= 1e-7 * max(1.0, float(np.linalg.norm(R @ beta))) else base.values(first)
    nearest, _ = _program(Y, base, beta, R, prior, scale, wanted)
    # the solver's error in the base parameters is removed along them, unless this violates consistency
    K = base.combination * scale
    exact = nearest + scale * (np.linalg.pinv(K) @ (wanted - base.values(nearest)))
    if is_consistent(Y, exact):
        return exact
    repaired = nearest.copy()  # eigenvalues that are negative by the solver's rounding are shifted to zero
    for places in _bodies(Y).values():
        P, space = pseudo_inertia(repaired[places]), len(places) == 10
        low = float(np.linalg.eigvalsh(P)[0])
        if -1e-6 * float(np.trace(P)) < low < 0:
            repaired[[places[i] for i in ((0, 3, 5) if space else (0,))]] += -2 * low if space else -low
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
    constraints = []
    for places in _bodies(Y).values():  # the pseudo-inertia, its rows and columns scaled to numbers of the order of one
        parts = [pseudo_inertia(one) for one in np.eye(len(places))]
        whole = sum(theta[place] * part for place, part in zip(places, parts, strict=True))
        D = np.diag([1 / np.sqrt(scale[places[0]])] * (len(parts[0]) - 1) + [1 / np.sqrt(scale[places[-1]])])
        scaled = D @ whole @ D
        constraints.append((scaled + scaled.T) / 2 >> 0)
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
    """Indices of the parameters of each body."""
    found: dict[str, list[int]] = {}
    for i, one in enumerate(Y.parameters):
        if one.kind == "inertia":
            found.setdefault(one.name.partition(".")[0], []).append(i)
    return found


def _nonnegative(Y: Regressor) -> list[int]:
    """Indices of the parameters of friction and loads that are not negative."""
    return [i for i, one in enumerate(Y.parameters) if one.kind != "inertia" and not one.name.endswith(".offset")]
