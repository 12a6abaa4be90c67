"""Programs with complementarity pairs: what their residual counts, row by row."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.programs import MPCC, MPCCStructure, Program, Solution


def structure(**changes: Any) -> MPCCStructure:
    """A ball of 2 kg above a floor: 2 (v - v0) + 20 dt - P = 0, 0 <= y0 + dt v _|_ P >= 0; p = (y0, v0)."""
    x, P, p = ca.SX.sym("x", 2), ca.SX.sym("P"), ca.SX.sym("p", 2)
    v, dt = x[0], x[1]
    fields = {
        "x": x,
        "y": P,
        "p": p,
        "objective": -dt,
        "equalities": 2 * (v - p[1]) + 20 * dt - P,
        "complements": p[0] + dt * v,
        "equality_terms": 2 * (ca.fabs(v) + ca.fabs(p[1])) + 20 * ca.fabs(dt) + ca.fabs(P),
        "x_names": ("v", "dt"),
        "y_names": ("floor",),
        "equality_names": ("motion",),
    }
    return MPCCStructure(**{**fields, **changes})


def program(binding: bool = True, **changes: Any) -> MPCC:
    fields = {
        "structure": structure(),
        "p": np.array([0.05, -1.0]),
        "lower": np.array([-np.inf, 0.1]),
        "upper": np.array([np.inf, 0.1]),
        "x_scale": np.array([0.5, 0.1]),
        "y_scale": np.array([2.0]),
        "G_scale": np.array([0.1]),
        "binding": np.array([binding]),
    }
    return MPCC(**{**fields, **changes})


def answer(v: float, P: float, dt: float = 0.1) -> Solution:
    return Solution(np.array([v, dt]), np.array([P]), "by hand", 0, "nobody")


def test_the_exact_step_onto_the_floor_is_certified() -> None:
    """v = -y0/dt = -0.5 and P = 2 (v - v0) + 20 dt = 3."""
    mpcc = program()
    assert isinstance(mpcc, Program)
    assert mpcc.residual(answer(-0.5, 3.0)) == 0.0
    assert mpcc.determined
    assert mpcc.free.tolist() == [True, False]


@pytest.mark.parametrize(
    ("binding", "v", "P", "dt", "row", "size"),
    [
        (True, -0.5, 2.9, 0.1, "motion", 0.1 / (7.9 + 3e-3)),  # terms 1 + 2 + 2 + 2.9, FLOOR (2 * 0.5 + 20 * 0.1)
        (True, -2.0, 0.0, 0.1, "floor", 1.5),  # gap -0.15 in units of 0.1
        (True, -0.3, 3.4, 0.1, "floor", 0.2),  # pushed with a gap of 0.02
        (False, -0.5, 3.0, 0.1, "floor", 1.5),  # a multiplier that may not act
        (False, -2.0, 0.0, 0.1, "floor", 1.5),
        (True, -0.5, 3.0, 0.08, "bound of dt", 0.2),
        (True, np.nan, 3.0, 0.1, "motion", np.inf),
    ],
)
def test_the_worst_row_is_named_with_its_size(
    binding: bool, v: float, P: float, dt: float, row: str, size: float
) -> None:
    name, value = program(binding).worst(answer(v, P, dt))
    assert name == row
    assert value == pytest.approx(size, rel=1e-12)
    assert program(binding).residual(answer(v, P, dt)) == value


def test_an_answer_is_judged_once_but_anew_when_its_numbers_change(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []
    errors = MPCC.errors
    monkeypatch.setattr(MPCC, "errors", lambda mpcc, solution: judged.append(solution) or errors(mpcc, solution))
    mpcc, solution = program(), answer(-0.5, 3.0)
    assert mpcc.residual(solution) == mpcc.residual(answer(-0.5, 3.0)) == 0.0
    assert len(judged) == 1
    solution.y[0] = 2.9
    assert mpcc.residual(solution) == pytest.approx(0.1 / (7.9 + 3e-3))
    assert mpcc.residual(Solution(solution.x, solution.y.reshape(1, 1), "by hand", 0, "nobody")) == np.inf


def test_functions_are_made_once() -> None:
    mpcc = program()
    assert mpcc.structure.values is mpcc.structure.values
    f, c, terms, G = mpcc.structure.values([-0.5, 0.1], 3.0, mpcc.p)
    np.testing.assert_allclose(np.concatenate((f, c, terms, G)), [-0.1, 0.0, 8.0, 0.0], atol=1e-15)
    jacobians = mpcc.structure.jacobians([-0.5, 0.1], 3.0, mpcc.p)
    for matrix, expected in zip(jacobians[2:], ([[2.0, 20.0]], [[-1.0]], [[0.1, -0.5]], [[0.0]]), strict=True):
        np.testing.assert_array_equal(matrix, expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_names": ("v",)}, "x_names of an MPCCStructure has 1 entries, expected 2"),
        ({"equality_terms": ca.SX(2, 1)}, "equality_terms of an MPCCStructure has 2 entries, expected 1"),
    ],
)
def test_symbols_that_disagree_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        structure(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"p": np.zeros(3)}, "takes 2 parameters, got 3"),
        ({"lower": np.zeros(3)}, r"lower of this MPCC needs shape \(2,\)"),
        ({"y_scale": np.zeros(1)}, "y_scale of an MPCC must be positive"),
    ],
)
def test_numbers_that_disagree_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        program(**changes)
