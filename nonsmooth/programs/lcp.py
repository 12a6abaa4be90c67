"""The mixed linear complementarity problem."""

from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs.base import TINY, ProgramWithRows, Solution, free_motion_scales


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
    A : array (m, m)
        Need not be symmetric.
    b : array (m,)
    bilateral : int
        Number of leading rows that are equations.
    names : tuple of str
        Names of the rows in messages; empty for "row 0", "row 1", ...

    Raises
    ------
    InputError
        If the shapes do not agree.

    Examples
    --------
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

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return self.names or tuple(f"row {i}" for i in range(self.b.size))

    @property
    def error_names(self) -> tuple[str, ...]:
        """Names of the entries of `errors`."""
        return self.row_names

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
