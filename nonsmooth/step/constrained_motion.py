"""A system with given parameters, evaluated in Python."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.closing import closed_start
from nonsmooth.model.system import System
from nonsmooth.step.tolerances import CLOSED_GAP, CLOSED_RATE, TINY

#: singular value of directions of joints and contacts, of norm 1 in the mass metric, below which they are dependent
DEPENDENT = 1e-9
#: singular value of the joints' directions below which round-off limits the convergence of a step
NEAR_SINGULAR = 1e-2
#: singular value of such directions below which messages mention a loss of rank
LOSING = 1e-3
#: ratio of masses from which on residuals may remain above those that are certified, 1e-9 of the terms
UNEVEN = 1e7
#: share of the largest coefficient of a linear dependence from which a row is named
PART = 1e-2
#: displacement [m, rad] of bodies to check whether a redundant row is redundant elsewhere
NEARBY = 1e-3
#: share of the fastest velocity, in the metric of masses, below which a velocity is round-off
AT_ROUND_OFF = 1e-10


class Configuration(NamedTuple):
    """Gaps, their directions, and the joints' directions and explicit rates at one (t, q)."""

    g_N: Array
    W_N: Array
    W_T: Array
    W_g: Array
    g_t: Array


class JointRows(NamedTuple):
    """Independent directions (nv, r) of joints, their required rates (r,), their names, and the matrix (ng, r) that
    gives the rows' impulses of those along them; None if they are the rows."""

    W: Array
    wanted: Array
    names: tuple[str, ...]
    shares: Array | None

    def impulses(self, P: Array) -> Array:
        """Impulses of the joints' rows (ng,) of least norm with the same effect as P along the independent ones."""
        return P if self.shares is None else np.asarray(self.shares @ P)


class MassMetric:
    """x = L' v with M = L L', in which the kinetic energy is |x|^2 / 2."""

    def __init__(self, M: Array) -> None:
        self.M = M
        self.factor = np.linalg.cholesky(M)
        self.inverse = np.linalg.inv(self.factor)

    def velocity(self, x: Array) -> Array:
        """v of x."""
        return self.inverse.T.dot(x)

    def change(self, impulse: Array) -> Array:
        """M^-1 times an impulse."""
        return self.inverse.T.dot(self.inverse.dot(impulse))

    def length(self, v: Array) -> float:
        """|v|_M."""
        return float(np.linalg.norm(self.factor.T @ v))

    def rows(self, W: Array) -> tuple[Array, Array]:
        """Unit rows of W' in the metric and their norms (1 for a zero row)."""
        rows = (self.inverse @ W).T
        norms = np.sqrt(np.sum(rows**2, axis=1))
        norms[norms == 0.0] = 1.0
        return rows / norms[:, None], norms


class Mechanism:
    """Numerical view of a system at parameters p, with the `longest` step [s] for the tolerance of gap velocities."""

    def __init__(self, system: System, p: Array, longest: float) -> None:
        self.system, self.p, self.longest = system, p, longest
        self.tangents = system.dimension - 1
        self.numeric = system.numeric
        self.restitution, self.friction, self.tangential, self.scale = self.numeric.contact_law(p)
        self.rough = bool(np.any(self.friction > 0))
        self.redundant = bool(system.redundant)
        self.rank = system.ng - len(_lasting_redundant(system, p)) if self.redundant else system.ng
        self.metric = MassMetric(self.numeric.M(system.start.q, p)[0])
        self.stiffness, self.damping = self.numeric.linear_forces(p)
        self.deformable = bool(np.any(self.stiffness) or np.any(self.damping))
        self._implicit: dict[float, MassMetric] = {}
        self.names = system.constraint_names + system.contact_names
        self._met: list[tuple[float, Array, Configuration]] = []

    def implicit(self, h: float) -> MassMetric:
        """The metric of M + h D + h^2 K, with stiffness K and damping D of deformation, for implicit steps ``M (v⁺ - v)
        = dt f(q + h u, u)`` with u = v + h/dt (v⁺ - v), h = theta dt; M if all bodies are rigid."""
        if not self.deformable:
            return self.metric
        if h not in self._implicit:
            self._implicit = {h: MassMetric(self.metric.M + np.diag(h * self.damping + h**2 * self.stiffness))}
        return self._implicit[h]

    def blocks(self, W_N: Array, W_T: Array, index: NDArray[np.intp]) -> Array:
        """Directions of these contacts, each normal followed by its tangents."""
        tangential = W_T.reshape(len(W_T), W_N.shape[1], self.tangents)
        return np.concatenate([W_N[:, :, None], tangential], axis=2)[:, index].reshape(len(W_N), -1)

    def rows(self, normal: Array, tangential: Array, index: NDArray[np.intp]) -> Array:
        """Values of these contacts, each normal one followed by the tangential ones."""
        return np.column_stack([normal, tangential.reshape(normal.size, self.tangents)])[index].ravel()

    def parted(self, rows: Array, index: NDArray[np.intp]) -> tuple[Array, Array]:
        """Normal (nc,) and tangential (nt,) values of all contacts from the `rows` of some, zero elsewhere."""
        nc, blocks = self.system.nc, rows.reshape(-1, 1 + self.tangents)
        normal, tangential = np.zeros(nc), np.zeros((nc, self.tangents))
        normal[index], tangential[index] = blocks[:, 0], blocks[:, 1:]
        return normal, tangential.ravel()

    def length(self, tangential: Array) -> Array:
        """Lengths (nc,) of vectors along the tangents (nt,)."""
        if self.tangents == 1:
            return np.abs(tangential)
        return np.asarray(np.linalg.norm(tangential.reshape(-1, self.tangents), axis=1))

    def unit(self, tangential: Array) -> Array:
        """Vectors along the tangents (nt,) scaled to length 1; zero vectors remain zero."""
        if self.tangents == 1:
            return np.sign(tangential)
        length = self.by_tangent(self.length(tangential))
        return np.divide(tangential, length, out=np.zeros_like(tangential), where=length > 0)

    def along(self, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """Indices of the tangents of these contacts among all tangents."""
        return index if self.tangents == 1 else (self.tangents * index[:, None] + np.arange(self.tangents)).ravel()

    def largest(self, tangential: Array) -> Array:
        """The largest value (nc,) of each contact along its tangents."""
        return tangential if self.tangents == 1 else np.max(tangential.reshape(-1, self.tangents), axis=1)

    def by_tangent(self, values: Any) -> Any:
        """Numbers (nc,) of contacts, repeated for each of their tangents (nt,)."""
        return values if self.tangents == 1 else np.repeat(values, self.tangents)

    def at(self, t: float, q: Array) -> Configuration:
        """The configuration; those of the last two arrays q are cached."""
        for met_t, met_q, configuration in self._met:
            if met_q is q and met_t == t:
                return configuration
        configuration = Configuration(*self.numeric.configuration(t, q, self.p))
        self._met = [(t, q, configuration), *self._met[:1]]
        return configuration

    def independent(self, W_g: Array, wanted: Array) -> JointRows:
        """Independent rows equivalent to ``W_g' x = wanted``: all, or, in place of redundant ones, orthonormal
        combinations in the mass metric, as many as the joints' rank; of rows that contradict each other, by least
        squares."""
        if not self.redundant:
            return JointRows(W_g, wanted, self.names[: self.system.ng], None)
        rows, norms = self.metric.rows(W_g)
        left, sizes, right = np.linalg.svd(rows, full_matrices=False)
        left, sizes, right = left[:, : self.rank], sizes[: self.rank], right[: self.rank]
        names = tuple(f"joints, combination {i + 1} of {self.rank}" for i in range(self.rank))
        return JointRows(
            self.metric.factor @ right.T, left.T @ (wanted / norms) / sizes, names, (left / sizes) / norms[:, None]
        )

    def combinations(self, t: float, q: Array) -> Array | None:
        """Orthonormal combinations (rank, ng) of the joints' rows, equivalent to all of them; None if all count."""
        if self.rank == self.system.ng:
            return None
        shares = self.independent(self.at(t, q).W_g, np.zeros(self.system.ng)).shares
        assert shares is not None
        return np.asarray(np.linalg.qr(shares)[0].T)

    def reaction(self, t: float, q: Array, P_g: Array) -> Array:
        """Forces and torques of joints on their second bodies from the forces (or impulses) of their rows; of redundant
        rows, which rigid-body mechanics does not determine, those of the least sum of squares [N], [N m]."""
        return self.numeric.reaction(t, q, self.p, self.least(t, q, P_g))[0]

    def least(self, t: float, q: Array, P_g: Array) -> Array:
        """Equivalent forces (or impulses) of joints' rows of the least sum of squares; of rates, the nearest."""
        if not self.redundant:
            return P_g
        rows = np.linalg.svd(self.at(t, q).W_g, full_matrices=False)[2][: self.rank]
        return np.asarray(rows.T @ (rows @ P_g))  # without the part that the directions cancel

    def solved(self, K: Array, b: Array) -> Array:
        """x with K x = b for the impulses x of joints, K = W' M^-1 W; for redundant rows of least norm, with each
        impulse in units in which its direction has norm 1 in the mass metric."""
        if not self.redundant:
            try:
                return np.asarray(np.linalg.solve(K, b), dtype=float)
            except np.linalg.LinAlgError:  # exactly at a singular position: no impulse along the lost direction
                pass
        scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(K)), TINY))
        x = np.linalg.lstsq(scale[:, None] * K * scale, (scale * b.T).T, rcond=DEPENDENT)[0]
        return np.asarray((scale * x.T).T, dtype=float)

    def smallest(self, W_g: Array) -> float:
        """The smallest singular value of the joints' directions, each of norm 1 in the mass metric, within `rank`."""
        if self.rank == 0:
            return 1.0
        return float(np.linalg.svd(self.metric.rows(W_g)[0], compute_uv=False)[self.rank - 1])

    def amplified(self, *directions: Array) -> float:
        """Amplification of the joints' round-off near a singular position, by their directions at instants of a step;
        at its end these are NaN if flexible bodies would be bent by more than their length."""
        least = min(self.smallest(W_g) for W_g in directions if np.isfinite(W_g).all())
        return max(1.0, NEAR_SINGULAR / max(least, TINY))

    def ill_conditioned(self, t: float, q: Array) -> str:
        """A sentence, after a blank, on masses too different for the digits of a number, or on joints that lose their
        rank near this position; empty if there are none."""
        values = zip(self.system.parameters, self.p.tolist(), strict=True)
        masses = sorted((mass, name.removesuffix(".mass")) for name, mass in values if name.endswith(".mass"))
        if masses and masses[-1][0] > UNEVEN * masses[0][0]:
            (least, light), (most, heavy) = masses[0], masses[-1]
            return (
                f" The mass of {heavy}, {most:.3g} kg, is {most / least:.1g} times that of {light}, {least:.3g} kg: "
                "velocities of the light body then have too few digits; give it a mass of at least "
                f"{most / UNEVEN:.1g} kg, or leave it out."
            )
        W_g = self.at(t, q).W_g
        if self.rank == 0:
            return ""
        left, sizes, _ = np.linalg.svd(self.metric.rows(W_g)[0], full_matrices=False)
        lost = int(np.sum(sizes[: self.rank] < LOSING))
        if lost == 0:
            return ""
        shares = np.max(np.abs(left[:, self.rank - lost : self.rank]), axis=1)
        rows = [self.names[i] for i in np.flatnonzero(shares > PART * np.max(shares))]
        joints = list(dict.fromkeys(name.rpartition(".")[0] or name for name in rows))
        return (
            f" The mechanism is near a singular position at t = {t:.9g} s: the rank of its joints falls from "
            f"{self.rank} to {self.rank - lost} (smallest singular value {sizes[self.rank - 1]:.3g}), where the rows "
            f"of {', '.join(joints)} become dependent and the motion could branch; start elsewhere, or add a spring or "
            "a driver."
        )

    def force(self, t: float, q: Array, v: Array) -> Array:
        """h(t, q, v)."""
        return self.numeric.h(t, q, v, self.p)[0]

    def moved(self, q: Array, u: Array, dt: float) -> Array:
        """q moved by the velocity u for dt."""
        return self.numeric.advance(q, u, dt)[0]

    def touching(self, gaps: Array) -> NDArray[np.bool_]:
        """Gaps that are regarded as closed."""
        return gaps <= CLOSED_GAP * self.scale

    def approaching(self, W_N: Array, v: Array, terms: Array) -> NDArray[np.bool_]:
        """Gap velocities that are negative beyond round-off, with v a sum of velocities of the sizes `terms`."""
        return W_N.T @ v < -self.zero_rate(W_N, terms)

    def leaving(self, W_N: Array, v: Array, terms: Array) -> NDArray[np.bool_]:
        """Gap velocities that are positive beyond round-off."""
        return W_N.T @ v > self.zero_rate(W_N, terms)

    def zero_rate(self, W_N: Array, terms: Array) -> Array:
        """Bound of gap velocities that are round-off, with v a sum of velocities of the sizes `terms`."""
        return CLOSED_RATE * (terms.dot(np.abs(W_N)) + self.scale / self.longest)

    def typical_sizes(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Scales of x = (dt, u, P_g) and of y = P_N: impulses that change a gap by its clearance within the longest
        step, and the velocities that they and the loads cause."""
        dt, weight = self.longest, np.diag(self.metric.M)
        _, W_N, _, W_g, _ = self.at(t, q)
        mobility = np.sum((self.metric.inverse @ W_N) ** 2, axis=0)
        # a concentric journal has no normal yet; the effective mass of a contact is bounded by the heaviest body
        y = self.scale / (dt * np.maximum(mobility, 1.0 / np.max(weight)))
        struck = np.abs(self.metric.change(W_N)) * y
        driven = np.abs(self.metric.change(dt * self.force(t, q, v)))
        u = np.maximum(np.max(struck, axis=1, initial=0.0), np.maximum(driven, np.abs(v)))
        # those of round-off are no scales; in the metric of masses, where rad/s and m/s can be compared
        share = np.sqrt(weight) * u
        u[share <= AT_ROUND_OFF * np.max(share, initial=0.0)] = np.max(u, initial=0.0) or 1.0
        directions = np.abs(W_g)
        P_g = directions.T @ (weight * u) / np.maximum(np.sum(directions**2, axis=0), TINY)
        return np.concatenate(([dt], u, P_g)), y


def _lasting_redundant(system: System, p: Array) -> tuple[Any, ...]:
    """Redundant rows of the joints, without those that are redundant in a singular initial state only."""
    start = system.start
    here, turn = system.redundant_at(start, p), np.random.default_rng(0).normal(size=system.nv)
    turn *= NEARBY / max(float(np.max(np.abs(turn))), NEARBY)
    q = system.numeric.advance(start.q, turn, 1.0)[0]
    try:
        there = system.redundant_at(closed_start(system, replace(start, q=q), p), p)
    except ModelError:  # no admissible position nearby: the mechanism cannot move
        return here
    return min(here, there, key=len)
