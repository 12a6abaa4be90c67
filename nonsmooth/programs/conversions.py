"""From one program to another, each with its way back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.programs.lcp import LCP
from nonsmooth.programs.qp import QP

__all__ = ["lcp_from_qp"]


def lcp_from_qp(qp: QP) -> tuple[LCP, Callable[[Array], Array]]:
    """Dual of a QP: the Delassus matrix A H^-1 A^T and the rows' values in free motion.

    With H = L L^T and Y = L^-1 A^T, the LCP is w = Y^T Y y - (A H^-1 f + b), whose w is A x - b.

    Returns
    -------
    lcp : LCP
        Its z is the QP's y; the QP's equalities are its bilateral rows.
    recover : callable
        y -> x = H^-1 (A^T y - f).

    Raises
    ------
    InputError
        If H is not positive definite.

    Examples
    --------
    >>> lcp, recover = lcp_from_qp(QP(H=2 * np.eye(1), f=np.array([2.0]), A=np.eye(1), b=np.zeros(1)))
    >>> lcp.A, lcp.b, recover(np.array([2.0]))
    (array([[0.5]]), array([-1.]), array([0.]))
    """
    try:
        factor = np.linalg.cholesky(qp.H)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"H of this QP ({qp.f.size} unknowns) is not positive definite, so the dual A H^-1 A^T does not exist. "
            "Check masses and inertias: each must be positive."
        ) from error
    inverse = np.linalg.inv(factor)
    Y, free = inverse @ qp.A.T, inverse @ qp.f
    lcp = LCP(Y.T @ Y, -(free @ Y) - qp.b, qp.equalities, qp.names)

    def recover(y: Array) -> Array:
        return (Y @ y - free) @ inverse

    return lcp, recover
