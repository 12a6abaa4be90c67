"""The strictly convex quadratic program, and the mixed linear complementarity problem."""

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs.base import CAP, FLOOR, TINY, ProgramWithRows, Solution, free_motion_scales


@dataclass(frozen=True, eq=False)
class QP(ProgramWithRows):
    r"""Quadratic program whose first rows may be equalities.

    .. math::
        \min_x \tfrac12 x^T H x + f^T x \quad \text{s.t.} \quad A_i x = b_i \ (i < \text{equalities}), \quad
        A_i x \ge b_i \ \text{(else)}.

    Its optimality conditions are H x + f - A^T y = 0 with y_i >= 0 and y_i (A x - b)_i = 0 on the inequalities: for a
    step of rigid contact x is the velocity and y the impulse. x is unique if H is positive definite, y only if the
    active rows are independent.

    Parameters
    ----------
    H, f : (n, n), symmetric and positive definite, and (n,)
    A, b : (m, n), (m,); rows may be redundant or zero
    equalities : number of leading rows that are equalities
    names : of the rows in messages; empty for "row 0", "row 1", ...

    >>> qp = QP(H=np.eye(1), f=np.array([2.0]), A=np.eye(1), b=np.zeros(1))
    >>> qp.residual(Solution(np.zeros(1), np.array([2.0]), "by hand", 0, "nobody"))
    0.0
    """

    H: Array
    f: Array
    A: Array
    b: Array
    equalities: int = 0
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n, m = self.f.size, self.b.size
        if self.H.shape != (n, n) or self.A.shape != (m, n):
            raise InputError(
                f"A QP with {n} unknowns and {m} rows needs H of shape {(n, n)} and A of shape {(m, n)}, "
                f"got {self.H.shape} and {self.A.shape}."
            )
        if not 0 <= self.equalities <= m:
            raise InputError(f"equalities = {self.equalities} of a QP must lie between 0 and its {m} rows.")
        if self.names and len(self.names) != m:
            raise InputError(f"A QP with {m} rows got {len(self.names)} names of rows.")

    @property
    def error_names(self) -> tuple[str, ...]:
        return tuple(f"stationarity of unknown {j}" for j in range(self.f.size)) + self.row_names

    def errors(self, solution: Solution) -> Array:
        r"""Scaled violation of every condition [-], shape (n + m,): stationarity, then the rows of A.

        Notes
        -----
        Each scale is the sum of the absolute values of the terms of its row, element by element:

        - stationarity j: S_j = (\|H\| \|x\| + \|f\| + \|A\|^T \|y\|)_j, kept between FLOOR and CAP times sqrt(H_jj) e.
          Here e^2 = sum_j f_j^2 / H_jj + sum_i b_i^2 / d_i, over equalities and positive b_i, is the size of the free
          motion, as an energy. Without FLOOR a body at rest would divide round-off by round-off; without CAP the
          unbounded multipliers of a contradiction would certify it.
        - row i: s_i = (\|A\| t + \|b\|)_i, where t_j = S_j / H_jj is what x_j is the difference of. With \|x\| itself
          a body held at rest would divide round-off by round-off.
        - an inequality counts \|min(r_i, d_i y_i)\| / s_i with r = A x - b and d_i = (A diag(1/H_jj) A^T)_ii, which
          turns a multiplier into the unit of its row.
        """
        x, y, e = solution.x, solution.y, self.equalities
        H, f, A, b = self.H, self.f, self.A, self.b
        if x.shape != f.shape or y.shape != b.shape:
            return np.full(f.size + b.size, np.inf)
        with np.errstate(all="ignore"):  # values that are not finite give an infinite residual
            absolute_A, diagonal = np.abs(A), np.maximum(H.diagonal(), TINY)
            weights = np.square(A).dot(1.0 / diagonal)  # dot has half the cost of @ for small arrays
            requested = np.maximum(b, 0.0)
            requested[:e] = b[:e]
            requested[weights == 0.0] = 0.0
            size = math.sqrt(f.dot(f / diagonal) + requested.dot(requested / np.maximum(weights, TINY)))
            unit = np.sqrt(diagonal) * size
            terms = np.abs(H).dot(np.abs(x)) + np.abs(f) + np.abs(y).dot(absolute_A)
            terms = np.minimum(np.maximum(terms, FLOOR * unit), CAP * unit)
            rows = A.dot(x) - b
            rows[e:] = np.minimum(rows[e:], (y * weights)[e:])
            scales = np.concatenate((terms, absolute_A.dot(terms / diagonal) + np.abs(b)))
            values = np.concatenate((H.dot(x) + f - y.dot(A), rows))
            return np.abs(values) / np.maximum(scales, TINY)


@dataclass(frozen=True, eq=False)
class LCP(ProgramWithRows):
    r"""Mixed linear complementarity problem; in a `Solution`, `y` is z and `x` is w.

    .. math::
        w = A z + b, \qquad w_i = 0, \ z_i \ \text{free} \ (i < \text{bilateral}), \qquad
        0 \le w_i \perp z_i \ge 0 \ \text{(else)}.

    In an impact A is the Delassus matrix, z the impulses and w the gap rates after it. One solution exists for every b
    if A is a P-matrix (positive definite, say); if A is only positive semidefinite, w is unique and z need not be.

    Parameters
    ----------
    A, b : (m, m), not necessarily symmetric, and (m,)
    bilateral : number of leading rows that are equations
    names : as of a `QP`

    >>> lcp = LCP(A=np.eye(2), b=np.array([-1.0, 1.0]))
    >>> lcp.residual(Solution(np.array([0.0, 1.0]), np.array([1.0, 0.0]), "by hand", 0, "nobody"))
    0.0
    """

    A: Array
    b: Array
    bilateral: int = 0
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        m = self.b.size
        if self.A.shape != (m, m):
            raise InputError(f"An LCP with {m} rows needs A of shape {(m, m)}, got {self.A.shape}.")
        if not 0 <= self.bilateral <= m:
            raise InputError(f"bilateral = {self.bilateral} of an LCP must lie between 0 and its {m} rows.")
        if self.names and len(self.names) != m:
            raise InputError(f"An LCP with {m} rows got {len(self.names)} names of rows.")

    def errors(self, solution: Solution) -> Array:
        r"""Scaled violation of every row [-], shape (m,); w is recomputed from z.

        Notes
        -----
        \|w_i\| / s_i on equations and \|min(w_i, A_ii z_i)\| / s_i else, with s_i = (\|A\| \|z\| + \|b\|)_i, the sum
        of the absolute values of the terms of w_i, but with (\|A\| \|z\|)_i at most CAP sqrt(A_ii) e: otherwise the
        unbounded z of a contradiction would certify it. e^2 = sum_i b_i^2 / A_ii over equations and negative b_i.
        """
        z, e = solution.y, self.bilateral
        if z.shape != self.b.shape:
            return np.full(self.b.size, np.inf)
        with np.errstate(all="ignore"):  # values that are not finite give an infinite residual
            values = self.A @ z + self.b
            values[e:] = np.minimum(values[e:], (self.A.diagonal() * z)[e:])
            requested = np.minimum(self.b, 0.0)
            requested[:e] = self.b[:e]
            scales, _ = free_motion_scales(self.A, self.b, z, requested)
            return np.abs(values) / np.maximum(scales, TINY)
