"""Dormand and Prince's explicit Runge-Kutta pairs, of orders five and eight, as tables of a text that runs either.

Stages 0 to s - 1 are those of a step, stage s is its end, and the further ones of order eight are those of its
continuous extension. With h the length of a step, k_j its slopes and x a share of it ::

    y_j  = y_0 + h sum_i A_ji k_i,      y_s = y_0 + h sum_i B_i k_i,      e = h sum_j E_j k_j
    y(x) = y_0 + h sum_j w_j(x) k_j + x^2 (3 - 2 x) (y_end - y_0)

where y_end is the end after its projection. SciPy's classes have the coefficients as public attributes, which avoids
200 numbers of 17 digits; tests check their order conditions.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 to II.6 and II.10.
"""

import math

import numpy as np
from scipy.integrate import DOP853, RK45

from nonsmooth.compile.kernels import kernel

#: terms of the interpolant of order eight
TERMS = 7

# ---- the pair of order eight

A8 = np.zeros((16, 16))
A8[:12, :12], A8[12, :12], A8[13:] = DOP853.A[:12, :12], DOP853.B, DOP853.A_EXTRA
C8 = np.concatenate([DOP853.C[:12], [1.0], DOP853.C_EXTRA])
#: of the estimates of order five and three, and of the terms of the interpolant from the fourth on
E5, E3, D8 = np.array(DOP853.E5), np.array(DOP853.E3), np.array(DOP853.D)

# ---- both, by the number of the method

A, B, C, E, F = np.zeros((2, 16, 16)), np.zeros((2, 13)), np.zeros((2, 16)), np.zeros((2, 13)), np.zeros((2, 13))
A[0, :6, :5], A[0, 6, :6], A[1] = RK45.A, RK45.B, A8
B[0, :6], B[1, :12] = RK45.B, DOP853.B
C[0, :6], C[0, 6], C[1] = RK45.C, 1.0, C8
#: of error estimates: that of order eight is blended from two, the first one with the weights F
E[0, :7], E[1], F[1] = RK45.E, E5, E3


def _interpolant_of_order_eight():
    """Weights of the slopes of all stages in the terms ``x^a (1 - x)^b`` of the interpolant, as polynomials of x."""
    x, rest = np.polynomial.Polynomial([0.0, 1.0]), np.polynomial.Polynomial([1.0, -1.0])
    terms = np.zeros((TERMS, 8))
    for k in range(TERMS):
        coefficients = (x ** ((k + 2) // 2) * rest ** ((k + 1) // 2)).coef
        terms[k, : len(coefficients)] = coefficients
    weights = D8.T @ terms[3:]
    weights[0] += terms[1] - terms[2]
    weights[12] -= terms[2]
    return weights


#: coefficients of the weights of slopes, as polynomials of x without a constant term
W = np.zeros((2, 16, 7))
W[0, :7, :4] = RK45.P
W[0, :6, 1] -= 3.0 * RK45.B
W[0, :6, 2] += 2.0 * RK45.B
W[1] = _interpolant_of_order_eight()[:, 1:]


@kernel
def weight_within(order, j, x):
    """w_j(x)."""
    total = W[order, j, 6]
    for k in range(5, -1, -1):
        total = W[order, j, k] + x * total
    return x * total


@kernel
def blended(first, second, count):
    """Root mean square of the error of `count` numbers, by sums of the squares of both estimates."""
    if first == 0.0 and second == 0.0:
        return 0.0
    return first / math.sqrt((first + 0.01 * second) * count)
