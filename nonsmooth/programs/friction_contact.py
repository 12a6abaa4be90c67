"""Contact with Coulomb friction, in the plane and in space, and the uniqueness of its impulses."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs.base import FLOOR, TINY, ProgramWithRows, Solution, free_motion_scales
from nonsmooth.programs.projections import Disk, HalfLine, SecondOrderCone

#: share of the cone, and of the largest normal impulse, within which an impulse is regarded as on the edge
EDGE = 1e-6
#: singular value below which directions of effect 1 depend on each other: round-off of A, since values are squares here
NOTHING = 1e-10


@dataclass(frozen=True, eq=False)
class ContactProgram(ProgramWithRows):
    """Common base of contact programs with friction, see `FrictionContact`: data, names, and scaling of rows."""

    A: Array
    b: Array
    friction: Array
    dimension: int
    bilateral: int = 0
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        name, e, d, contacts = type(self).__name__, self.bilateral, self.dimension, self.friction.size
        if d not in (2, 3):
            raise InputError(f"dimension = {d} of a {name} must be 2 (plane) or 3 (space).")
        if e < 0:
            raise InputError(f"bilateral = {e} of a {name} must not be negative.")
        m, rows = e + d * contacts, f"{e} bilateral rows and {contacts} contacts"
        if self.A.shape != (m, m) or self.b.shape != (m,) or self.friction.shape != (contacts,):
            raise InputError(
                f"A {name} of {rows} in dimension {d} needs A of shape {(m, m)} and b of shape {(m,)}, got "
                f"{self.A.shape} and {self.b.shape}."
            )
        if (self.friction < 0.0).any():
            raise InputError(f"friction of a {name} must not be negative, got {self.friction.min():g}.")
        if self.names and len(self.names) != e + contacts:
            raise InputError(f"A {name} with {rows} got {len(self.names)} names.")

    @property
    def contacts(self) -> int:
        """Number of contacts."""
        return self.friction.size

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of bilateral rows, then of the normal and tangential ones of each contact."""
        e = self.bilateral
        names = self.names or (*[f"row {i}" for i in range(e)], *[f"contact {k}" for k in range(self.contacts)])
        return names[:e] + tuple(f"{name}, {part}" for name in names[e:] for part in ("normal", "tangential"))

    def split(self, rows: Array) -> tuple[Array, Array]:
        """Normal (contacts,) and tangential (contacts, dimension - 1) parts of z, u, b, ..."""
        blocks = rows[self.bilateral :].reshape(self.contacts, self.dimension)
        return blocks[:, 0], blocks[:, 1:]

    def errors(self, solution: Solution) -> Array:
        """Scaled violation [-] of each bilateral row, then normal and tangential of each contact; u is recomputed."""
        z = solution.y
        if z.shape != self.b.shape:
            return np.full(self.bilateral + 2 * self.contacts, np.inf)
        with np.errstate(all="ignore"):  # values that are not finite give an infinite residual
            u = self.A @ z + self.b
            requested = self.b.copy()
            normal = self.split(requested)[0]
            normal[:] = np.minimum(normal, 0.0)
            scales, size = free_motion_scales(self.A, self.b, z, requested)
            scales = np.maximum(scales, FLOOR * size)
            scale_N, scale_T = self.split(scales)
            contacts = np.column_stack(self._defects(z, u)), np.column_stack((scale_N, _length(scale_T)))
            values, scales = (
                np.concatenate((rows[: self.bilateral], each.ravel()))
                for rows, each in zip((np.abs(u), scales), contacts, strict=True)
            )
            return values / np.maximum(scales, TINY)

    @property
    def units(self) -> Array:
        """Diagonal of A, with the larger entry for both tangential rows of a contact; times z it is a velocity."""
        units = np.abs(self.A.diagonal())
        tangential = self.split(units)[1]
        tangential[:] = tangential.max(axis=1, keepdims=True, initial=0.0)
        return units

    @abstractmethod
    def _defects(self, z: Array, u: Array) -> tuple[Array, Array]:
        """Violation of the law of each contact [m/s], >= 0: normal (contacts,) and tangential (contacts,)."""


@dataclass(frozen=True, eq=False)
class FrictionContact(ContactProgram):
    r"""Unilateral contact with exact Coulomb friction; in a `Solution`, `y` is z and `x` is u.

    .. math::
        u = A z + b, \qquad u_i = 0, \ z_i \ \text{free} \ (i < \text{bilateral}), \qquad
        0 \le u_N \perp P_N \ge 0, \quad \|P_T\| \le \mu P_N, \quad
        \|u_T\| P_T = -\mu P_N u_T \ \text{wherever} \ P_N > 0,

    where z contains the bilateral impulses and then P_N, P_T of each contact. The last two conditions state that P_T
    has maximal dissipation among those admitted by the normal impulse, not that (P_N, P_T) has among those of the cone:
    friction is not associated, and the program is not convex. In `Solution.active` a row is true if its u is zero:
    bilateral, closed, sticking.

    Parameters
    ----------
    A : (m, m) Delassus matrix W^T M^-1 W [1/kg], symmetric up to round-off, positive semidefinite; singular if contacts
        are redundant; m = bilateral + dimension * contacts
    b : (m,) u without impulses [m/s]; with restitution u_N is gamma_N+ + e gamma_N-, so b_N holds e gamma_N- as well
    friction : (contacts,) mu [-], not negative
    dimension : 2 in the plane, where P_T has one entry; 3 in space, where it has two along orthonormal directions
    bilateral : number of leading rows that are equations
    names : of bilateral rows, then of contacts; empty for "row 0", ..., "contact 0", ...

    Notes
    -----
    `errors` is one natural map, z - proj(z - u), in the unit of u: with d the `units` it is \|u_i\| on bilateral rows,
    \|d_N P_N - proj(d_N P_N - u_N)\| = \|min(u_N, d_N P_N)\| with x >= 0, and \|d_T P_T - proj(d_T P_T - u_T)\| with
    the disk of radius mu d_T P_N. It vanishes where the map of the cone with de Saxcé's correction does, z -
    proj_K(z - (u_N + mu \|u_T\|, u_T)), but keeps the unit of each direction. The scale of a row is the sum of the
    absolute values of the terms of u, with impulses limited as in `LCP.errors`, and at least FLOOR times the size of
    the free motion, since an unloaded joint would divide round-off by round-off.

    A solution exists where b is the velocity of a motion (e = 0), or if some change of the motion leads to u_N > mu
    \|u_T\| at all contacts and u = 0 in all joints. If contacts wedge and e > 0 there may be none. For small mu and
    independent rows u is unique, for large mu it may not be.

    References
    ----------
    Acary, Brémond, Huber, On solving contact problems with Coulomb friction: formulations and numerical comparisons
    (2018), in: Advanced Topics in Nonsmooth Dynamics, Springer.

    Examples
    --------
    A body of 1 kg slides at 3 m/s and meets the floor at 1 m/s; friction reduces the slip by mu times the normal
    impulse.

    >>> floor = FrictionContact(np.eye(2), np.array([-1.0, 3.0]), np.array([0.5]), dimension=2)
    >>> floor.residual(Solution(np.zeros(2), np.array([1.0, -0.5]), "by hand", 0, "nobody"))
    0.0
    """

    def _defects(self, z: Array, u: Array) -> tuple[Array, Array]:
        d_N, d_T = self.split(self.units)
        (u_N, u_T), (P_N, P_T) = self.split(u), self.split(z)
        normal, tangential = d_N * P_N, d_T * P_T
        reach = Disk(self.friction * d_T[:, 0] * np.maximum(P_N, 0.0))
        return (
            np.abs(normal - HalfLine().project(normal - u_N)),
            _length(tangential - reach.project(tangential - u_T)),
        )


@dataclass(frozen=True, eq=False)
class ConeQP(ContactProgram):
    r"""The convex relaxation of friction by Anitescu and Tasora: **not** Coulomb's law, used only on explicit request.

    .. math::
        \min_z \tfrac12 z^T A z + b^T z \quad \text{s.t.} \quad \|P_T\| \le \mu P_N, \qquad \text{that is} \quad
        K \ni z \perp u = A z + b \in K^*.

    It has the data of a `FrictionContact`, is convex, and its u is unique. However, a sliding contact separates: its
    law is u_N = mu \|u_T\|, so that each step opens the gap by dt mu \|u_T\|: at dt = 1e-4 s by 0.9 of a clearance of
    10 um. Solved repeatedly with mu \|u_T\| added to b_N (de Saxcé) it becomes exact, as in `Conic` and `Admm`.

    Notes
    -----
    `errors` is the natural map z - proj_K(z - u) of the cone, with P and u in the same unit by the square roots of
    `units`; scales as in `FrictionContact`.

    References
    ----------
    Anitescu, Tasora, Comput. Optim. Appl. 47 (2010), 207-235.

    Examples
    --------
    The body of `FrictionContact`'s example leaves the floor at mu times the speed of its slip.

    >>> floor = ConeQP(np.eye(2), np.array([-1.0, 3.0]), np.array([0.5]), dimension=2)
    >>> solution = Solution(np.zeros(2), np.array([2.0, -1.0]), "by hand", 0, "nobody")
    >>> floor.residual(solution), floor.A @ solution.y + floor.b
    (0.0, array([1., 2.]))
    """

    def _defects(self, z: Array, u: Array) -> tuple[Array, Array]:
        roots = np.sqrt(self.units)
        root_N, root_T = self.split(roots)
        ones = np.where(roots == 0.0, 1.0, roots)
        impulses, velocities = ((z * roots)[self.bilateral :], (u / ones)[self.bilateral :])
        shape = self.contacts, self.dimension
        cone = SecondOrderCone(self.friction * root_T[:, 0] / self.split(ones)[0])
        moved = impulses.reshape(shape) - cone.project((impulses - velocities).reshape(shape))
        return np.abs(moved[:, 0]) * root_N, _length(moved[:, 1:] * root_T)


def _length(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


def undetermined_impulses(program: FrictionContact, z: Array) -> int:
    """Number of independent changes of the impulses z of a solution that leave velocities and modes unchanged.

    Bilateral impulses, normal impulses of loaded contacts, and tangential ones inside the cone may change; on the edge
    of the cone both change together. With S their directions the number is the dimension of the null space of S^T A S.
    If it is not 0, forces are not unique, and a solution with another velocity may exist as well.

    A block on two sticking feet: the internal stress between the feet is arbitrary.

    >>> both = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    >>> feet = FrictionContact(both, np.array([-1.0, 0.0, -1.0, 0.0]), np.full(2, 0.5), dimension=2)
    >>> undetermined_impulses(feet, np.array([1.0, 0.0, 1.0, 0.0]))
    1
    """
    e, (P_N, P_T) = program.bilateral, program.split(z)
    columns = list(np.eye(z.size)[:e])
    size = float(np.max(P_N, initial=0.0))
    for k, (N, T, mu) in enumerate(zip(P_N, P_T, program.friction, strict=True)):
        if not N > EDGE * size:
            continue
        first, length = e + program.dimension * k, float(np.linalg.norm(T))
        own = np.eye(z.size)[first : first + program.dimension]
        if mu == 0.0:
            columns.append(own[0])
        elif length < (1.0 - EDGE) * mu * N:
            columns.extend(own)
        else:
            columns.append(own[0] + mu * (T / length) @ own[1:])
    if not columns:
        return 0
    S = np.array(columns).T / np.sqrt(np.where(program.units > 0.0, program.units, 1.0))[:, None]
    A = S.T @ program.A @ S
    effect: Array = np.sqrt(np.maximum(np.diagonal(A), np.zeros(len(A))))
    effect[effect <= NOTHING * np.max(effect)] = np.inf  # no effect at all
    return int(np.sum(np.linalg.svd(A / np.outer(effect, effect), compute_uv=False) <= NOTHING))
