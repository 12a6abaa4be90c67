"""Buffered evaluation gives what a plain call of the CasADi function gives."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nonsmooth.compile.casadi_call import OPERATIONS, Columnwise, Evaluator


def function() -> ca.Function:
    t, x, A = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX.sym("A", 2, 3)
    sparse = ca.SX(4, 2)  # entries that are structurally zero come out as zeros
    sparse[1, 0], sparse[3, 1] = t, x[2]
    return ca.Function("f", [t, x, A], [t * x, A @ ca.diag(x), sparse, x[0]], ["t", "x", "A"], ["y", "B", "S", "s"])


ARGUMENTS = (2.0, np.array([1.0, -2.0, 3.0]), np.arange(6.0).reshape(2, 3))


def test_outputs_are_those_of_a_plain_call() -> None:
    f = function()
    got = Evaluator(f, matrices=["B", "S"])(*ARGUMENTS)
    for value, expected, shape in zip(got, f(*ARGUMENTS), ((3,), (2, 3), (4, 2), (1,)), strict=True):
        assert value.shape == shape and np.array_equal(value, np.array(expected).reshape(shape))


def test_outputs_that_are_not_listed_as_matrices_are_flat_by_columns() -> None:
    flat = Evaluator(function())(*ARGUMENTS)[1]
    assert np.array_equal(flat, np.array(function()(*ARGUMENTS)[1]).ravel(order="F"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_are_read_by_element_whatever_their_order_in_memory(order: str) -> None:
    A = np.array(ARGUMENTS[2], order=order)
    got = Evaluator(function(), matrices=["B"])(ARGUMENTS[0], ARGUMENTS[1], A)[1]
    assert np.array_equal(got, A @ np.diag(ARGUMENTS[1]))


def test_outputs_are_fresh_arrays() -> None:
    evaluate = Evaluator(function())
    first = evaluate(*ARGUMENTS)[0]
    kept = first.copy()
    evaluate(5.0, *ARGUMENTS[1:])
    assert np.array_equal(first, kept)
    first[:] = np.nan
    assert np.array_equal(evaluate(*ARGUMENTS)[0], kept)


def test_arguments_are_copied_and_may_be_lists_or_views() -> None:
    x = np.array([1.0, 9.0, -2.0, 9.0, 3.0, 9.0])[::2]
    evaluate = Evaluator(function())
    assert np.array_equal(evaluate(2, x, ARGUMENTS[2])[0], evaluate(2.0, [1.0, -2.0, 3.0], ARGUMENTS[2])[0])
    assert x.tolist() == [1.0, -2.0, 3.0]


def test_empty_arguments_and_outputs_are_welcome() -> None:
    x, nothing = ca.SX.sym("x", 2), ca.SX.sym("nothing", 0)
    evaluate = Evaluator(
        ca.Function("f", [x, nothing], [ca.SX(2, 0), nothing, x], ["x", "n"], ["W", "g", "y"]), matrices=["W"]
    )
    W, g, y = evaluate([1.0, 2.0], np.zeros(0))
    assert W.shape == (2, 0) and g.shape == (0,) and y.tolist() == [1.0, 2.0]


def test_the_number_of_arguments_is_checked() -> None:
    with pytest.raises(TypeError, match=r"f takes 3 arguments \(t, x, A\), got 2"):
        Evaluator(function())(1.0, ARGUMENTS[1])


def test_the_length_of_an_argument_is_checked() -> None:
    with pytest.raises(ValueError, match="could not broadcast"):
        Evaluator(function())(1.0, [1.0, 2.0], ARGUMENTS[2])


def test_operations_on_columns_are_those_of_casadi() -> None:
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p", 2)
    a, b = x[0], x[1]
    terms = [
        a + b, a - b, a * b, a / b, ca.atan2(a, b), ca.fmin(a, b), ca.fmax(a, p[1]), -a, 2 * a, a**2, 1 / b,
        ca.sqrt(ca.fabs(a)), ca.sin(b), ca.cos(b), a < b, a <= p[0], ca.if_else(a < b, a, 3.0),
        ca.logic_not(a < b) + (a <= b), ca.SX(0.5),
    ]  # fmt: skip
    f = ca.Function("f", [x, p], [ca.vertcat(*terms)])
    assert Columnwise.covers(f) and not Columnwise.covers(ca.Function("f", [x, p], [ca.exp(a)]))
    used = {f.instruction_id(k) for k in range(f.n_instructions())}
    assert used >= {*OPERATIONS} - {ca.OP_ASSIGN}
    rows = np.random.default_rng(1).normal(size=(50, 2))
    rows[:3] = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    found, expected = Columnwise(f)(rows, [0.3, -0.2]), np.array([f(row, [0.3, -0.2]) for row in rows]).squeeze()
    # sine, cosine and arc tangent of NumPy differ from those of C by their last bit at most
    assert np.allclose(found, expected, rtol=4e-16, atol=0.0, equal_nan=True)
