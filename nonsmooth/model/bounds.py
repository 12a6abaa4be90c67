"""Bounds of expressions over intervals of their first argument, by interval arithmetic of their operations."""

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array

#: of numbers (n,) or of one ()
Numbers = NDArray[np.floating[Any]]
#: lower and upper bounds
Interval = tuple[Numbers, Numbers]
ONE: Interval = (np.ones(()), np.ones(()))

RISING: dict[int, Callable[[Numbers], Numbers]] = {
    ca.OP_ASSIGN: np.positive, ca.OP_LIFT: np.positive, ca.OP_TWICE: lambda x: 2.0 * x, ca.OP_EXP: np.exp,
    ca.OP_LOG: np.log, ca.OP_SQRT: np.sqrt, ca.OP_ASIN: np.arcsin, ca.OP_ATAN: np.arctan, ca.OP_SINH: np.sinh,
    ca.OP_TANH: np.tanh, ca.OP_ASINH: np.arcsinh, ca.OP_ACOSH: np.arccosh, ca.OP_ATANH: np.arctanh,
    ca.OP_ERF: np.vectorize(math.erf, [float]), ca.OP_LOG1P: np.log1p,
    ca.OP_EXPM1: np.expm1, ca.OP_FLOOR: np.floor, ca.OP_CEIL: np.ceil, ca.OP_SIGN: np.sign,
}  # fmt: skip
FALLING: dict[int, Callable[[Numbers], Numbers]] = {ca.OP_NEG: np.negative, ca.OP_ACOS: np.arccos}
#: even functions that rise with the absolute value
EVEN: dict[int, Callable[[Numbers], Numbers]] = {ca.OP_FABS: np.abs, ca.OP_SQ: np.square, ca.OP_COSH: np.cosh}
RISING_IN_BOTH: dict[int, Callable[[Numbers, Numbers], Numbers]] = {
    ca.OP_ADD: np.add, ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax, ca.OP_AND: np.logical_and, ca.OP_OR: np.logical_or,
}  # fmt: skip


class Bounds:
    """Bounds of a function (x, p) -> (y,) of numbers, over intervals of its first argument.

    They hold but for round-off and are exact where each operand occurs once; the more often it does and the longer the
    interval, the wider they are. Operations without known bounds have infinite ones.
    """

    def __init__(self, function: ca.Function) -> None:
        inputs, outputs = function.instruction_input, function.instruction_output
        self._operations = [
            (
                what,
                inputs(k),
                outputs(k),
                np.asarray(function.instruction_constant(k) if what == ca.OP_CONST else np.nan),
            )
            for k, what in enumerate(map(function.instruction_id, range(function.n_instructions())))
        ]
        self._outputs, self._slots = function.numel_out(0), function.sz_w()

    def __call__(self, start: Array, end: Array, values: Array) -> Interval:
        """Lower and upper bounds (outputs, n) over intervals (n,), with parameters."""
        slots: list[Interval] = [(start, end)] * self._slots
        lower, upper = np.empty((2, self._outputs, start.size))
        with np.errstate(all="ignore"):
            for what, at, to, constant in self._operations:
                if what == ca.OP_OUTPUT:
                    lower[to[1]], upper[to[1]] = slots[at[0]]
                elif what == ca.OP_INPUT:
                    number = np.asarray(values[at[1]] if at[0] else 0.0)
                    slots[to[0]] = (number, number) if at[0] else (start, end)
                elif what == ca.OP_CONST:
                    slots[to[0]] = (constant, constant)
                else:
                    slots[to[0]] = _known(what, [slots[i] for i in at])
        return lower, upper


def _known(what: int, given: list[Interval]) -> Interval:
    """The result of an operation; infinite where it is not a number."""
    if all(one[0] is one[1] for one in given):
        x = [one[0] for one in given]
        made = ca.SX.unary(what, x[0]) if len(x) == 1 else ca.SX.binary(what, *x)
        number = np.asarray(float(made))
        return number, number
    lower, upper = _result(what, given)
    unknown = np.isnan(lower) | np.isnan(upper)
    return np.where(unknown, -np.inf, lower), np.where(unknown, np.inf, upper)


def _result(what: int, given: list[Interval]) -> Interval:
    a, b = given[0]
    if what in RISING:
        return RISING[what](a), RISING[what](b)
    if what in FALLING:
        return FALLING[what](b), FALLING[what](a)
    if what in EVEN:
        return _even(EVEN[what], a, b)
    if what in (ca.OP_SIN, ca.OP_COS):
        return _cosine(a, b) if what == ca.OP_COS else _cosine(a - 0.5 * np.pi, b - 0.5 * np.pi)
    if what == ca.OP_TAN:
        whole = np.floor((a + 0.5 * np.pi) / np.pi) == np.floor((b + 0.5 * np.pi) / np.pi)
        return np.where(whole, np.tan(a), -np.inf), np.where(whole, np.tan(b), np.inf)
    if what == ca.OP_INV:
        return _quotient(ONE, given[0])
    if what == ca.OP_NOT:
        lower, upper = _truth(a, b)
        return 1.0 - upper, 1.0 - lower
    return _of_two(what, *given) if len(given) == 2 else (np.full_like(a, -np.inf), np.full_like(b, np.inf))


def _of_two(what: int, first: Interval, second: Interval) -> Interval:
    (a, b), (c, d) = first, second
    if what in (ca.OP_AND, ca.OP_OR):
        (a, b), (c, d) = _truth(a, b), _truth(c, d)
    if what in RISING_IN_BOTH:
        operation = RISING_IN_BOTH[what]
        return 1.0 * operation(a, c), 1.0 * operation(b, d)
    if what == ca.OP_SUB:
        return a - d, b - c
    if what == ca.OP_MUL:
        return _product(first, second)
    if what == ca.OP_DIV:
        return _quotient(first, second)
    if what == ca.OP_IF_ELSE_ZERO:
        true, false = _truth(a, b)[0] == 1.0, _truth(a, b)[1] == 0.0
        lower, upper = np.where(true, c, np.minimum(c, 0.0)), np.where(true, d, np.maximum(d, 0.0))
        return np.where(false, 0.0, lower), np.where(false, 0.0, upper)
    if what in (ca.OP_LT, ca.OP_LE):
        less = np.less if what == ca.OP_LT else np.less_equal
        return 1.0 * less(b, c), 1.0 * less(a, d)
    if what in (ca.OP_EQ, ca.OP_NE):
        surely, perhaps = 1.0 * ((a == b) & (c == d) & (a == c)), 1.0 * ((a <= d) & (c <= b))
        return (surely, perhaps) if what == ca.OP_EQ else (1.0 - perhaps, 1.0 - surely)
    if what == ca.OP_HYPOT:
        (a, b), (c, d) = _even(np.abs, a, b), _even(np.abs, c, d)
        return np.hypot(a, c), np.hypot(b, d)
    if what in (ca.OP_POW, ca.OP_CONSTPOW):
        return _power(first, second)
    if what in (ca.OP_FMOD, ca.OP_REMAINDER) and c is d:
        rounded, remainder = (
            (np.trunc, np.fmod) if what == ca.OP_FMOD else (np.rint, lambda x, y: x - y * np.rint(x / y))
        )
        same, most = rounded(a / d) == rounded(b / d), np.abs(d)
        least = np.where(a < 0.0, -most, 0.0) if what == ca.OP_FMOD else -most
        return np.where(same, remainder(a, d), least), np.where(same, remainder(b, d), most)
    if what == ca.OP_ATAN2:
        corners = [np.arctan2(x, y) for x in first for y in second]
        cut = (c < 0.0) & (a <= 0.0) & (b >= 0.0)
        return (
            np.where(cut, -np.pi, np.minimum.reduce(np.broadcast_arrays(*corners))),
            np.where(cut, np.pi, np.maximum.reduce(np.broadcast_arrays(*corners))),
        )
    if what == ca.OP_COPYSIGN:
        most = _even(np.abs, a, b)[1]
        return np.broadcast_arrays(-most, d)[0], np.broadcast_arrays(most, d)[0]
    shape = np.broadcast_shapes(a.shape, c.shape)
    return np.full(shape, -np.inf), np.full(shape, np.inf)


def _truth(a: Numbers, b: Numbers) -> Interval:
    """Truth of numbers between two, 0 or 1: whether all are not zero, and whether one is not."""
    return 1.0 * ((a > 0.0) | (b < 0.0)), 1.0 * ((a != 0.0) | (b != 0.0))


def _even(function: Callable[[Numbers], Numbers], a: Numbers, b: Numbers) -> Interval:
    left, right = function(a), function(b)
    through = (a < 0.0) & (b > 0.0)
    return np.where(through, function(np.zeros(())), np.minimum(left, right)), np.maximum(left, right)


def _cosine(a: Numbers, b: Numbers) -> Interval:
    left, right, half = np.cos(a), np.cos(b), a / np.pi
    top = 2.0 * np.ceil(0.5 * half) * np.pi <= b
    bottom = (2.0 * np.ceil(0.5 * (half - 1.0)) + 1.0) * np.pi <= b
    return np.where(bottom, -1.0, np.minimum(left, right)), np.where(top, 1.0, np.maximum(left, right))


def _product(first: Interval, second: Interval) -> Interval:
    ends = np.broadcast_arrays(*(np.nan_to_num(x * y, posinf=np.inf, neginf=-np.inf) for x in first for y in second))
    return np.minimum.reduce(ends), np.maximum.reduce(ends)


def _quotient(first: Interval, second: Interval) -> Interval:
    c, d = second
    through = (c <= 0.0) & (d >= 0.0)
    return _product(first, (np.where(through, -np.inf, 1.0 / d), np.where(through, np.inf, 1.0 / c)))


def _power(first: Interval, second: Interval) -> Interval:
    """Power of any base to a constant whole number, and of a base that is not negative."""
    (a, b), (c, d) = first, second
    if c is d and c.ndim == 0 and c == np.rint(c):
        power = np.abs(c)
        raised = _even(lambda x: x**power, a, b) if c % 2.0 == 0.0 else (a**power, b**power)
        return raised if c >= 0.0 else _quotient(ONE, raised)
    ends = np.broadcast_arrays(*(np.where(a < 0.0, np.nan, x**y) for x in first for y in second))
    return np.minimum.reduce(ends), np.maximum.reduce(ends)
