"""Motions of drives, as finite Fourier series, and of a mechanism that follow from those of its drives.

``q_i(t) = q_i0 + sum_k a_ik sin(k w t) + b_ik cos(k w t)``. A motion that starts and ends at q = q' = q'' = 0 satisfies
three linear conditions per drive, ``q_0 + sum b_k = 0``, ``sum k a_k = 0``, ``sum k^2 b_k = 0``.

With the rows of joints and drives ``G(q, u) = 0``, K = G_q B and the drives' coordinates u, ::

    v = S u',   S = -K^-1 G_u,   a = S u'' - K^-1 k,   k = the rest of the second derivative of G

so that S spans the motions that the joints admit. Dependent rows are omitted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array, Evaluator
from nonsmooth.exceptions import InputError
from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
from nonsmooth.model.signals import FourierSignal, signal_values
from nonsmooth.model.system import System
from nonsmooth.settings import shown

#: largest change of a drive [rad or m] in one stage of the way to a position, and Newton steps of a stage
STAGE, ITERATIONS = 0.25, 12
#: constraint residual [m or rad] at which a position is closed, and up to which it counts as found
CLOSED, FOUND = 1e-14, 1e-10
DEPENDENT = 1e-9  # share of the largest singular value below which a row depends on others


@dataclass(frozen=True, eq=False)
class Fourier:
    """Motion of all drives; InputError if omega is not positive, or the coefficients are no such table.

    Parameters
    ----------
    omega : w [rad/s], > 0; the period is 2 pi/w
    coefficients : (drives, 1 + 2 N), of each drive q_0, a_1 ... a_N, b_1 ... b_N
    """

    omega: float
    coefficients: Array

    def __post_init__(self) -> None:
        table = np.atleast_2d(np.asarray(self.coefficients, dtype=float))
        if not (np.isfinite(self.omega) and self.omega > 0):
            raise InputError(f"Fourier: omega must be a positive number of rad/s, got {shown(self.omega)}.")
        if table.ndim != 2 or table.shape[1] % 2 == 0 or table.shape[1] < 3 or not np.all(np.isfinite(table)):
            raise InputError(f"Fourier: coefficients must be rows of 1 + 2 N finite numbers, got shape {table.shape}.")
        object.__setattr__(self, "coefficients", table)

    @property
    def harmonics(self) -> int:
        """N."""
        return (self.coefficients.shape[1] - 1) // 2

    @property
    def period(self) -> float:
        """2 pi/w [s]."""
        return 2 * np.pi / self.omega

    def times(self, samples: int) -> Array:
        """Equidistant times over one period, the end left out since it is the start again."""
        return np.linspace(0.0, self.period, samples, endpoint=False)

    def __call__(self, t: Array, derivative: int = 0) -> Array:
        """Coordinates (n, drives) at times (n,), or their first or second derivatives."""
        values = basis(self.omega, self.harmonics, np.asarray(t, dtype=np.float64), derivative)
        return np.einsum("nk,dk->nd", values, self.coefficients)

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and accelerations, each (n, drives)."""
        return self(t), self(t, 1), self(t, 2)

    @cached_property
    def signals(self) -> tuple[FourierSignal, ...]:
        """One function of time for each drive."""
        N = self.harmonics
        return tuple(
            FourierSignal(self.omega, tuple(row[1 : N + 1].tolist()), tuple(row[N + 1 :].tolist()), float(row[0]))
            for row in self.coefficients
        )

    def ends(self) -> Array:
        """q, q', q'' of each drive at the start, which is the end (3, drives)."""
        scale = np.array([[1.0], [self.omega], [-(self.omega**2)]])
        return np.array(scale * (conditions(self.harmonics) @ self.coefficients.T), dtype=np.float64)

    def projected(self) -> Fourier:
        """The nearest series, by the sum of squares of the coefficients, that starts and ends at q = q' = q'' = 0."""
        C = conditions(self.harmonics)
        change = np.linalg.solve(C @ C.T, C @ self.coefficients.T)
        return Fourier(self.omega, self.coefficients - (C.T @ change).T)


def basis(omega: float, harmonics: int, t: Array, derivative: int) -> Array:
    """Values (n, 1 + 2 N) that multiply q_0, a_k, b_k in the series or its derivative."""
    k = np.arange(1, harmonics + 1) * omega
    sine, cosine = np.sin(np.outer(t, k)), np.cos(np.outer(t, k))
    sine, cosine = ((sine, cosine), (cosine, -sine), (-sine, -cosine))[derivative]
    scale = k**derivative
    constant = np.full((len(t), 1), 1.0 if derivative == 0 else 0.0)
    return np.hstack([constant, sine * scale, cosine * scale])


def conditions(harmonics: int) -> Array:
    """Rows (3, 1 + 2 N) whose products with the coefficients vanish for q = q' = q'' = 0 at the ends."""
    k = np.arange(1.0, harmonics + 1)
    zero, one = np.zeros(harmonics), np.ones(harmonics)
    return np.array([[1.0, *zero, *one], [0.0, *k, *zero], [0.0, *zero, *k**2]])


class DriveMotion:
    """The kinematics of a mechanism with ideal joints as a function of its drives' coordinates u, [rad] or [m].

    `start` are those at the built start. InputError if there are contacts, a drive is unknown, another one moves, or
    the drives do not determine the motion.
    """

    def __init__(self, system: System, drives: Sequence[str]) -> None:
        self.drives = tuple(drives)
        known = {element.name: element for element in system.elements if isinstance(element, PrescribedMotion)}
        if system.nc:
            raise InputError(
                f"The mechanism has {system.nc} gaps; identification takes ideal joints, as of model.ideal()."
            )
        for name in self.drives:
            if name not in known:
                raise InputError(f'"{name}" is no drive of the mechanism; its drives are {", ".join(known) or "none"}.')
        if not self.drives or len({*self.drives}) != len(self.drives):
            raise InputError(f"drives must be different names, got {shown(drives)}; there are {', '.join(known)}.")
        for element in system.elements:
            moving = isinstance(element, PrescribedMotion) and callable(element.motion)
            moving |= isinstance(element, PrescribedPose) and callable(element.position)
            if moving and element.name not in self.drives:
                raise InputError(f'"{element.name}" prescribes a motion, too; name it among the drives.')
        still: dict[str, PrescribedMotion] = {}
        for name in self.drives:
            u = known[name].motion
            u = float(signal_values(name, "motion", u, 0.0)[0]) if callable(u) else float(u)
            still[name] = dataclasses.replace(known[name], motion=u)
        self.start = np.array([one.motion for one in still.values()])
        frozen = tuple(still.get(element.name, element) for element in system.elements)
        self.system = dataclasses.replace(system, elements=frozen, assembly=None)
        self._symbols()
        self._positions: tuple[Array, Array] = self.start[None], system.start.q[None]
        self.positions(self.start[None])

    def _symbols(self) -> None:
        """The rows G, selected so that K is square and regular at the start."""
        from scipy.linalg import qr

        system, nd = self.system, len(self.drives)
        names = list(system.parameters)
        places = [names.index(f"{name}.motion") for name in self.drives]
        u, q, p = ca.SX.sym("u", nd), system.equations.q, ca.SX(system.parameter_values)
        for k, place in enumerate(places):
            p[place] = u[k]
        rows = system.g(0.0, q, p)
        driven = [i for i, name in enumerate(system.constraint_names) if name.partition(".")[0] in self.drives]
        B = system.B(q)
        K = np.array(ca.Function("K", [q, u], [ca.jacobian(rows, q) @ B])(system.start.q, self.start))
        # as many independent rows as there are velocities, drives among them
        nv, others = system.nv, [i for i in range(len(K)) if i not in driven]
        scaled = K / np.maximum(np.linalg.norm(K, axis=1), 1e-300)[:, None]
        R, order = qr(scaled[others].T, mode="r", pivoting=True) if others else (np.zeros((nv, 0)), np.zeros(0, int))
        diagonal = np.abs(np.diagonal(R))
        rank = int(np.sum(diagonal > DEPENDENT * diagonal[0])) if diagonal.size else 0
        chosen = sorted(others[i] for i in order[:rank]) + driven
        free = nv - rank
        if free != len(driven) or np.linalg.matrix_rank(scaled[chosen], DEPENDENT) < nv:
            raise InputError(
                f"The joints leave {free} motion(s) free at the start, but {len(driven)} drive(s) are named that "
                f"{'do not determine them' if free == len(driven) else 'must be as many'}; name a drive for each "
                "motion, and start away from singular positions."
            )
        self.q, self.u = q, u
        self.rows = rows[chosen]
        self.row_names = tuple(system.constraint_names[i] for i in chosen)
        self.B = B
        self.K, self.G_u = ca.jacobian(self.rows, q) @ B, ca.jacobian(self.rows, u)
        self._newton = Mapped(ca.Function("rows", [q, u], [self.rows, self.K, self.G_u]))
        self._violation = Mapped(ca.Function("violation", [q, u], [system.violation(0.0, q, p)]))
        step = ca.SX.sym("step", system.nv)
        self._advance = Mapped(ca.Function("advance", [q, step], [system.advance(q, step, 1.0)]))

    def positions(self, u: Array) -> Array:
        """Coordinates (n, nq) at rows u (n, nd), reached from known ones in stages, so that the branch stays."""
        u = np.atleast_2d(np.asarray(u, dtype=float))
        known_u, known_q = self._positions
        if known_u.shape == u.shape:
            at, q = known_u.copy(), known_q.copy()
            farther = np.max(np.abs(u - at), axis=1) > np.max(np.abs(u - self.start), axis=1)
        else:
            at, q, farther = np.tile(self.start, (len(u), 1)), np.tile(self.system.start.q, (len(u), 1)), np.array([])
        if farther.size:
            at[farther], q[farther] = self.start, self.system.start.q
        stages = max(1, int(np.ceil(np.max(np.abs(u - at), initial=0.0) / STAGE)))
        for k in range(stages):
            q = self._closed(q, at + (u - at) * ((k + 1) / stages), predict=(u - at) / stages)
        open_by = np.max(np.abs(self._violation(q, u)[0][..., 0]), axis=1)
        if not np.all(open_by <= FOUND):
            worst = int(np.argmax(np.where(np.isfinite(open_by), open_by, np.inf)))
            raise InputError(
                f"The mechanism does not reach the position {u[worst].tolist()} of its drives "
                f"({', '.join(self.drives)}) from its start; narrow their bounds."
            )
        self._positions = u.copy(), q
        return q

    def _closed(self, q: Array, u: Array, predict: Array) -> Array:
        """Newton's steps at fixed u, all rows at once, the first along the tangent."""
        for k in range(ITERATIONS):
            g, K, G_u = self._newton(q, u - predict if k == 0 else u)
            right = -g[..., 0]
            if k == 0:
                right = right - np.einsum("nij,nj->ni", G_u, predict)
            elif np.max(np.abs(g)) <= CLOSED:
                break
            try:
                step = solved(K, right[..., None])[..., 0]
            except np.linalg.LinAlgError:
                return np.full_like(q, np.nan)
            q = self._advance(q, step)[0][..., 0]
            if k and np.max(np.abs(step)) <= 1e-15:
                break
        return q


class Mapped:
    """A CasADi function of symbols evaluated at rows of its arguments: outputs (n, rows, columns)."""

    def __init__(self, function: ca.Function) -> None:
        self.shapes = [function.size_out(i) for i in range(function.n_out())]
        arguments = [ca.SX.sym("x", *function.size_in(i)) for i in range(function.n_in())]
        outputs = [ca.vec(ca.densify(one)) for one in function.call(arguments)]
        self.function = ca.Function(function.name(), arguments, outputs, {"cse": True})
        self._evaluators: dict[int, Evaluator] = {}

    def __call__(self, *arguments: Array) -> list[Array]:
        n = len(arguments[0])
        if n not in self._evaluators:
            self._evaluators = {n: Evaluator(self.function.map(n))}  # of one length at a time
        found = self._evaluators[n](*(one.ravel() for one in arguments))
        return [
            one.reshape(n, columns, rows).transpose(0, 2, 1)
            for one, (rows, columns) in zip(found, self.shapes, strict=True)
        ]


def solved(matrices: Array, right: Array) -> Array:
    """Solutions of systems of equations, one per matrix."""
    return np.asarray(np.linalg.solve(matrices, right), dtype=np.float64)
