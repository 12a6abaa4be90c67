"""Bounds of expressions over intervals of time."""

import casadi as ca
import numpy as np
import pytest

from nonsmooth.model.corners import Bounds

UNARY = (
    "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "erf", "log1p", "expm1", "floor", "ceil", "sign", "fabs", "sumsqr",
)  # fmt: skip
BINARY = ("fmin", "fmax", "fmod", "remainder", "atan2", "copysign", "hypot", "power", "lt", "le", "eq", "ne")


def _holds(make):
    """The values of a function within random intervals lie between its bounds, which are attained somewhere."""
    t, p = ca.SX.sym("t"), ca.SX.sym("p", 2)
    function = ca.Function("f", [t, p], [ca.densify(ca.vertcat(make(t, p)))])
    bounds, random = Bounds(function), np.random.default_rng(0)
    for p_value in ([0.7, -1.3], [2.0, 0.4]):
        start = random.uniform(-4.0, 4.0, 400)
        end = start + 10.0 ** random.uniform(-6.0, 1.0, 400)
        lower, upper = bounds(start, end, np.array(p_value))
        within = start + (end - start) * np.linspace(0.0, 1.0, 101)[:, None]
        y = np.array(function(within.reshape(1, -1), p_value)).reshape(within.shape)
        slack = 1e-12 * (1.0 + np.abs(y))  # round-off
        assert not np.any(y < lower[0] - slack) and not np.any(y > upper[0] + slack)
        assert np.all(lower <= upper)


@pytest.mark.parametrize("name", UNARY)
def test_of_a_function_of_one_operand(name):
    _holds(lambda t, p: getattr(ca, name)(p[0] * t + p[1]))


@pytest.mark.parametrize("name", BINARY)
def test_of_a_function_of_two_operands(name):
    function = getattr(ca, name)
    _holds(lambda t, p: function(t, ca.sin(3.0 * t)))
    _holds(lambda t, p: function(t, p[0]))
    _holds(lambda t, p: function(p[1], t))
    _holds(lambda t, p: function(t, t))


@pytest.mark.parametrize("power", [-3, -2, -1, 0, 1, 2, 3, 8, 0.5, -1.5])
def test_of_a_power(power):
    _holds(lambda t, p: t**power)


@pytest.mark.parametrize(
    "make",
    [
        lambda t, p: ca.if_else(t < p[0], ca.sin(t), ca.exp(-t)),
        lambda t, p: ca.if_else(ca.logic_and(t > 0, ca.logic_not(t > 1)), 1.0, t),
        lambda t, p: ca.if_else(ca.logic_or(t > 2, ca.sin(t) > 0), -1.0, 0.0),
        lambda t, p: t * ca.cos(5 * t) - (t - p[0]) * (t + p[1]) + 1 / (t - p[0]),
        lambda t, p: ca.exp(-(((t - p[0]) / 1e-3) ** 2)) / (1.0 + t**2),
    ],
)
def test_of_an_expression(make):
    _holds(make)


def test_are_exact_where_each_operand_occurs_once():
    t, p = ca.SX.sym("t"), ca.SX.sym("p", 0)
    bounds = Bounds(ca.Function("f", [t, p], [ca.exp(-((t - 0.5) ** 2))]))
    lower, upper = bounds(np.array([0.0]), np.array([2.0]), np.zeros(0))
    np.testing.assert_allclose([lower[0, 0], upper[0, 0]], [np.exp(-2.25), 1.0], rtol=1e-15)
