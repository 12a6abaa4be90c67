"""The strictly convex quadratic program."""

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs.base import CAP, FLOOR, TINY, ProgramWithRows, Solution


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
    H : array (n, n)
        Symmetric, positive definite.
    f : array (n,)
    A : array (m, n)
        Rows may be redundant or zero.
    b : array (m,)
    equalities : int
        Number of leading rows that are equalities.
    names : tuple of str
        Names of the rows in messages; empty for "row 0", "row 1", ...

    Raises
    ------
    InputError
        If the shapes do not agree.

    Examples
    --------
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
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of A."""
        return self.names or tuple(f"row {i}" for i in range(self.b.size))

    @property
    def error_names(self) -> tuple[str, ...]:
        """Names of the entries of `errors`."""
        return tuple(f"stationarity of unknown {j}" for j in range(self.f.size)) + self.row_names

    def errors(self, solution: Solution) -> Array:
        r"""Scaled violation of every condition [-], shape (n + m,): stationarity, then the rows of A.

        Notes
        -----
        Each scale is the sum of the absolute values of the terms of its row, element by element, so that contacts
        that cancel do not divide by zero:

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
