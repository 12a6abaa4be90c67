"""Transition matrices between neighbouring rows: the variational equation of the phase, for all rows at once.

In a phase x' = f(t, x, p) with x = (q, v), and the derivative S of the state by the parameters obeys ::

    S' = f_x S + f_p

Rows do not depend on one another: each gives the state at which its step begins, one step of the method of order 8 by
Dormand and Prince integrates state and derivatives to the next row, and the state found there, beside the recorded one,
tells the error.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, I.14, II.5.
"""

from collections.abc import Sequence

import numpy as np
from scipy.integrate import DOP853

from nonsmooth.compile.casadi_call import Array
from nonsmooth.derivatives.equations import PhaseEquations

#: rows that are integrated at once
AT_ONCE = 512
#: weights of earlier slopes at each stage, then at the end, and times of stages, as shares of a step
WEIGHTS, TIMES = [*(DOP853.A[j, :j] for j in range(DOP853.n_stages)), DOP853.B], DOP853.C


def transitions(
    equations: PhaseEquations, t: Array, q: Array, v: Array, modes: Array, integrands: Sequence[int] = ()
) -> tuple[Array, Array, Array]:
    """Derivatives (n - 1, nx, nx + parameters) of each row's successor by it and by the parameters; the successors; and
    integrals over each step of some of (q, v, forces), by rising indices, before their derivatives (n - 1, k, 1 + nx +
    parameters)."""
    n, nq, found = equations.n, equations.nq, list[tuple[Array, Array, Array]]()
    states, forces = [i for i in integrands if i < n], [i - n for i in integrands if i >= n]
    for first in range(0, len(t) - 1, AT_ONCE):
        rows = slice(first, min(first + AT_ONCE, len(t) - 1))
        h, x = np.diff(t[rows.start : rows.stop + 1]), np.hstack([q[rows], v[rows]])
        X = np.concatenate([np.broadcast_to(np.eye(n), (len(x), n, n)), np.zeros((len(x), n, equations.own))], axis=2)
        integral = np.zeros((len(x), len(integrands), 1 + X.shape[2]))
        slopes: list[tuple[Array, Array]] = []
        for stage, (weights, share) in enumerate(zip(WEIGHTS, (*TIMES[: len(WEIGHTS) - 1], 1.0), strict=True)):
            used = [(w * h, *slope) for w, slope in zip(weights, slopes, strict=True) if w]
            at = x + sum((w[:, None] * one for w, one, _ in used), np.zeros_like(x))
            to = X + sum((w[:, None, None] * one for w, _, one in used), np.zeros_like(X))
            if stage == len(WEIGHTS) - 1:
                break
            f, f_x, f_p, F = equations.rates(t[rows] + share * h, at[:, :nq], at[:, nq:], modes[rows])
            change = f_x @ to
            change[:, :, n:] += f_p
            slopes.append((f, change))
            if integrands and WEIGHTS[-1][stage]:
                by = F[:, forces, 2 : 2 + n] @ to
                by[:, :, n:] += F[:, forces, 2 + n :]
                now = np.concatenate([
                    np.concatenate([at[:, states, None], to[:, states]], axis=2),
                    np.concatenate([F[:, forces, :1], by], axis=2),
                ], axis=1)  # fmt: skip
                integral += (WEIGHTS[-1][stage] * h)[:, None, None] * now
        found.append((to, at, integral))
    steps, successors, integrals = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return steps, successors, integrals
