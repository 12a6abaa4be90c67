"""Redundancy of constraints: independence of their directions in the mass metric, and least changes along them.

Rows that are not connected by moving bodies are treated separately. A joint at a body without other joints cannot
depend on others; such joints are removed one after the other, and loops remain. Trees therefore require linear time,
and so do mechanisms of small loops.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.evaluate import ConstraintRows

#: share of a direction outside the span of the others below which it is redundant; in mechanisms of a centimetre,
#: joints that are closed within 1e-9 m cause differences of this size between dependent rows
RANK = 1e-7
#: smallest singular value of a joint's unit rows at a body from which they are regarded as independent
HOLDS = 1e-3
#: number of rows from which a sparse factorisation is tried first
MANY = 300
#: smallest distance of a row from the span of all others that the sparse factorisation determines reliably
SAFE = 1e-5
#: steps of the iteration that determines it
ITERATIONS = 12
#: admissible relative residual before a velocity that is to be kept is changed
KEPT = 1e-10

Integers = NDArray[np.intp]


@dataclass(frozen=True)
class Redundant:
    """A row of a joint whose direction lies in the span of other rows."""

    name: str  #: of the row
    follows_from: tuple[str, ...]  #: names of the rows that span it, all earlier ones; none if the row moves no body

    def __str__(self) -> str:
        joints = dict.fromkeys(f'"{name.partition(".")[0]}"' for name in self.follows_from)
        return f'"{self.name}" ' + (f"follows from {' and '.join(joints)}" if joints else "moves no body")


@dataclass(frozen=True, eq=False)
class Directions:
    """L^-1 W with M = L L', its columns, one per row of a joint, scaled to norm 1."""

    D_a: Array  #: (rows, width) their parts at the first body
    D_b: Array  #: and at the second one
    a: Integers  #: (rows,) numbers of the bodies, 0 the ground
    b: Integers
    norms: Array  #: (rows,) norms before the scaling, 1 for a zero column
    factors: Array  #: (bodies + 1, width, width) L^-1 of each body, of the ground zero
    first: Integers  #: (joints,) first row of each joint

    def redundant(self) -> dict[int, list[int]]:
        """Rows in the span of earlier ones, each with those on which it depends."""
        found: dict[int, list[int]] = {}
        for rows in self._blocks(self._loops()):
            if rows.size > MANY and self._safe_solution(self._sparse(rows)) is not None:
                continue  # surely independent
            directions, kept = self._dense(rows), list[int]()
            basis = np.zeros(directions.shape)
            for i, direction in enumerate(directions.T):
                span = basis[:, : len(kept)]
                rest = direction - span @ (span.T @ direction)
                rest -= span @ (span.T @ rest)  # again, since the first pass leaves round-off of the direction's size
                size = np.linalg.norm(rest)
                if size > RANK:
                    basis[:, len(kept)] = rest / size
                    kept.append(i)
                else:
                    shares = np.linalg.lstsq(directions[:, kept], direction)[0]
                    found[int(rows[i])] = [int(rows[kept[k]]) for k in np.flatnonzero(np.abs(shares) > 1e-6)]
        return dict(sorted(found.items()))

    def contradiction(self, rates: Array) -> tuple[int, list[int], float] | None:
        """The row whose velocity contradicts those of the rows on which it depends the most, these rows, and the
        difference ``rates_i - sum_k c_k rates_k``, ``w_i = sum_k c_k w_k``. None if no row is redundant."""
        worst: tuple[int, list[int], float] | None = None
        for row, others in self.redundant().items():
            D = self._dense(np.array([*others, row]))
            shares = np.linalg.lstsq(D[:, :-1], D[:, -1], rcond=RANK)[0] if others else np.zeros(0)
            unmet = float(rates[row] - self.norms[row] * (shares @ (rates[others] / self.norms[others])))
            if worst is None or abs(unmet) > abs(worst[2]):
                worst = row, others, unmet
        return worst

    def least_change(self, wanted: Array, *, damping: float = 0.0, kept: NDArray[np.bool_] | None = None) -> Array:
        """Velocities u (nv,) of least kinetic energy with which the rows have the rates `wanted` (rows,).

        If rows contradict each other, the scaled residual is least; with a damping mu > 0 that of Levenberg and
        Marquardt, ``|D' x - wanted/norms|^2 + mu^2 |x|^2``, x = L' u. Components `kept` (bodies + 1, width), whole
        blocks of the mass matrices, change only if the others are not sufficient.
        """
        changed = np.zeros((len(self.factors), self.factors.shape[1]))
        for rows in self._blocks(range(self.first.size)):
            bodies, required = self._bodies(rows), wanted[rows] / self.norms[rows]
            if not bodies.size:
                continue
            fixed = np.zeros(0, dtype=bool) if kept is None else kept[bodies].ravel()
            if damping > 0.0 and rows.size <= MANY:  # D (D' D + damping^2)^-1 required
                D = self._dense(rows)
                x = D @ np.linalg.solve(D.T @ D + damping**2 * np.eye(rows.size), required)
            elif damping > 0.0:
                from scipy.sparse import identity
                from scipy.sparse.linalg import splu

                sparse = self._sparse(rows)
                x = sparse @ splu((sparse.T @ sparse + damping**2 * identity(rows.size)).tocsc()).solve(required)
            elif fixed.any() and not fixed.all():
                x = self._keeping(rows, required, fixed)
            else:
                x = self._least(rows, required)
            changed[bodies] = x.reshape(bodies.size, -1)
        return np.einsum("bji,bj->bi", self.factors, changed)[1:].ravel()

    def _least(self, rows: Integers, required: Array) -> Array:
        """x of least norm with D' x = required, or of least residual."""
        x = self._sparse_least(rows, required) if rows.size > MANY else None
        if x is None and not np.isfinite(self._dense(rows)).all():
            raise ModelError(
                "Joints cannot be closed: a direction of their constraints is not finite, as that of a Distance "
                "between points that coincide or are too far apart; move a body."
            )
        return np.asarray(np.linalg.lstsq(self._dense(rows).T, required, rcond=RANK)[0] if x is None else x)

    def _keeping(self, rows: Integers, required: Array, fixed: NDArray[np.bool_]) -> Array:
        """x with D' x = required whose `fixed` entries are least, zero where possible, and then its others."""
        x, free = np.zeros(fixed.size), ~fixed
        found = self._sparse_least(rows, required, free) if rows.size > MANY else None
        if found is not None:
            return found
        A = self._dense(rows).T
        x[free], span = _least_squares(A[:, free], required)
        rest = required - A @ x
        if np.linalg.norm(rest) > KEPT * np.linalg.norm(required):
            complement = A[:, fixed] - span @ (span.T @ A[:, fixed])
            x[fixed] = _least_squares(complement, required - span @ (span.T @ required))[0]
            x[free] = _least_squares(A[:, free], required - A[:, fixed] @ x[fixed])[0]
        return x

    def _loops(self) -> list[int]:
        """Joints that remain if those at bodies without other joints are removed one after the other."""
        sizes = np.append(self.first[1:], self.a.size) - self.first
        # for each joint and side, whether its rows are independent at that body alone
        sides = np.zeros((self.first.size, 2), dtype=bool)
        for size in np.unique(sizes):
            joints = np.flatnonzero(sizes == size)
            rows = self.first[joints][:, None] + np.arange(size)
            if 0 < size <= self.D_a.shape[1]:
                for side, D in enumerate((self.D_a, self.D_b)):
                    sides[joints, side] = np.linalg.svd(D[rows], compute_uv=False)[:, -1] > HOLDS
        held: dict[int, set[int]] = {}
        for joint, row in enumerate(self.first):
            for body in (self.a[row], self.b[row]):
                held.setdefault(int(body), set()).add(joint)
        held.pop(0, None)
        pending, left = deque(body for body, joints in held.items() if len(joints) == 1), set(range(self.first.size))
        while pending:
            body = pending.popleft()
            if len(held[body]) != 1:
                continue
            (joint,) = held[body]
            row = self.first[joint]
            if not sides[joint, 0 if self.a[row] == body else 1]:
                continue
            left.discard(joint)
            for other in (int(self.a[row]), int(self.b[row])):
                if other:
                    held[other].discard(joint)
                    if len(held[other]) == 1:
                        pending.append(other)
        return sorted(left)

    def _blocks(self, joints: Sequence[int]) -> Iterator[Integers]:
        """Rows of the joints in parts that are not connected by moving bodies."""
        ends = np.append(self.first[1:], self.a.size)
        of_body: dict[int, list[int]] = {}
        for joint in joints:
            for body in (self.a[self.first[joint]], self.b[self.first[joint]]):
                if body:
                    of_body.setdefault(int(body), []).append(joint)
        seen: set[int] = set()
        for joint in joints:
            part, pending = [], [joint]
            while pending:
                k = pending.pop()
                if k in seen:
                    continue
                seen.add(k)
                part.append(k)
                for body in (self.a[self.first[k]], self.b[self.first[k]]):
                    pending += of_body.pop(int(body), [])
            if part:
                yield np.concatenate([np.arange(self.first[j], ends[j]) for j in sorted(part)])

    def _bodies(self, rows: Integers) -> Integers:
        """Bodies that these rows move, in order."""
        bodies = np.union1d(self.a[rows], self.b[rows])
        return bodies[bodies > 0]

    def _entries(self, rows: Integers) -> tuple[Array, Integers, Integers, tuple[int, int]]:
        """The directions of these rows as columns: entries, their rows and columns, and the shape of it all."""
        bodies, width = self._bodies(rows), self.D_a.shape[1]
        values, i, j = [], [], []
        for D, body in ((self.D_a[rows], self.a[rows]), (self.D_b[rows], self.b[rows])):
            moving = np.flatnonzero(body)
            values.append(D[moving].ravel())
            start = width * np.searchsorted(bodies, body[moving])
            i.append((start[:, None] + np.arange(width)).ravel())
            j.append(np.repeat(moving, width))
        return np.concatenate(values), np.concatenate(i), np.concatenate(j), (width * bodies.size, rows.size)

    def _dense(self, rows: Integers) -> Array:
        values, i, j, shape = self._entries(rows)
        matrix = np.zeros(shape)
        matrix[i, j] = values
        return matrix

    def _sparse(self, rows: Integers, free: NDArray[np.bool_] | None = None) -> Any:
        """The sparse matrix D of these directions, zero in all but the `free` entries."""
        from scipy.sparse import csc_matrix

        values, i, j, shape = self._entries(rows)
        return csc_matrix((values if free is None else values * free[i], (i, j)), shape=shape)

    def _sparse_least(self, rows: Integers, wanted: Array, free: NDArray[np.bool_] | None = None) -> Array | None:
        """x of least norm with D' x = wanted, of its `free` entries; None if the directions are or may be dependent."""
        D = self._sparse(rows, free)
        solve = self._safe_solution(D)
        if solve is None:
            return None
        x: Array = D @ solve(wanted)
        return x + D @ solve(wanted - D.T @ x)

    @staticmethod
    def _safe_solution(D: Any) -> Callable[[Array], Array] | None:
        """The solution of D' D y = r; None if a column of D is or may be near the span of the others."""
        from scipy.sparse.linalg import splu

        try:
            solve: Callable[[Array], Array]
            solve = splu((D.T @ D).tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve
        except RuntimeError:  # exactly singular
            return None
        # a column's squared distance is 1 / (S^-1)_ii, which no eigenvalue of S^-1 exceeds: inverse iteration
        x, size = np.random.default_rng(0).normal(size=D.shape[1]), 0.0
        for _ in range(ITERATIONS):
            x = solve(x / np.linalg.norm(x))
            size = max(size, float(np.linalg.norm(x)))
            if not size < 0.1 / SAFE**2:  # or not finite
                return None
        return solve


def _least_squares(A: Array, b: Array) -> tuple[Array, Array]:
    """x of least norm with A x nearest to b, where A has rows of norm 1 at most, and a basis of what A reaches."""
    U, sizes, V = np.linalg.svd(A, full_matrices=False)
    rank = int(np.count_nonzero(sizes > RANK))
    return V[:rank].T @ (U[:, :rank].T @ b / sizes[:rank]), U[:, :rank]


def weighted(rows: ConstraintRows, masses: Array, first: Integers) -> Directions:
    """The directions of the rows of joints, whose bodies have these mass matrices (bodies, width, width)."""
    factors = np.zeros((len(masses) + 1, *masses.shape[1:]))
    factors[1:] = np.linalg.inv(np.linalg.cholesky(masses))
    D_a, D_b = (np.einsum("rij,rj->ri", factors[x], J) for x, J in ((rows.a, rows.J_a), (rows.b, rows.J_b)))
    norms = np.sqrt(np.sum(D_a**2, axis=1) + np.sum(D_b**2, axis=1))
    norms[norms == 0.0] = 1.0
    return Directions(D_a / norms[:, None], D_b / norms[:, None], rows.a, rows.b, norms, factors, first)
