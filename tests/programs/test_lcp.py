"""Linear complementarity problems: known answers, and the way from a QP and back."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, QP, Program, Solution, lcp_from_qp

KNOWN = [
    pytest.param(LCP(np.eye(2), np.array([-1.0, 1.0])), [1.0, 0.0], id="diagonal"),
    # Slider of reference/slider_rod.md landing with its right end first: G_d = 0.325, G_o = 0.075.
    pytest.param(LCP(np.array([[0.325, 0.075], [0.075, 0.325]]), np.array([0.1, -0.13])), [0.0, 0.4], id="one end"),
    pytest.param(LCP(np.array([[2.0, 1.0], [-1.0, 2.0]]), np.array([-4.0, -3.0])), [1.0, 2.0], id="nonsymmetric"),
    pytest.param(LCP(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 0.0]), bilateral=1), [-2.0, 1.0], id="mixed"),
    pytest.param(LCP(np.ones((2, 2)), -np.ones(2)), [0.3, 0.7], id="redundant"),
    pytest.param(LCP(np.zeros((1, 1)), np.ones(1)), [0.0], id="zero row"),
    pytest.param(LCP(np.zeros((0, 0)), np.zeros(0)), [], id="no rows"),
]


def answer(z: object) -> Solution:
    return Solution(np.zeros(0), np.array(z, float), "by hand", 0, "nobody")


@pytest.mark.parametrize(("lcp", "z"), KNOWN)
def test_an_exact_answer_is_certified(lcp: LCP, z: list[float]) -> None:
    assert isinstance(lcp, Program)
    assert lcp.residual(answer(z)) <= 2.3e-16


@pytest.mark.parametrize(
    ("z", "row", "size"),
    [
        ([0.0, 0.0], "row 0", 1.0),
        ([2.0, 0.0], "row 0", 1.0 / 3.0),
        ([1.0, 0.5], "row 1", 0.5 / 1.5),
        ([1.0, -0.5], "row 1", 0.5 / 1.5),
        ([np.nan, 0.0], "row 0", np.inf),
    ],
)
def test_the_worst_row_is_named_with_its_share_of_the_terms(z: list[float], row: str, size: float) -> None:
    name, value = LCP(np.eye(2), np.array([-1.0, 1.0])).worst(answer(z))
    assert name == row
    assert value == pytest.approx(size, rel=1e-12)


def test_huge_impulses_do_not_certify_a_contradiction() -> None:
    squeezed = LCP(np.array([[1.0, -1.0], [-1.0, 1.0]]), -np.ones(2))
    assert squeezed.residual(answer([1e12, 1e12])) > 1e-2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), np.zeros(2)), r"A of shape \(2, 2\)"),
        ((np.eye(2), np.zeros(2), 3), "bilateral = 3"),
        ((np.eye(2), np.zeros(2), 0, ("a",)), "1 names"),
    ],
)
def test_shapes_that_disagree_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LCP(*arguments)  # type: ignore[arg-type]


def test_the_dual_of_a_qp_has_its_multipliers_and_gives_back_its_unknowns() -> None:
    """min 1/2 x'Hx + f'x, x_1 + x_2 = 1, x_1 >= 3/4: y = (-7/4, 1/2), x = (3/4, 1/4), Delassus A A'."""
    qp = QP(np.eye(2), -np.array([2.0, 2.0]), np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.75]), 1, ("e", "i"))
    lcp, recover = lcp_from_qp(qp)
    assert (lcp.bilateral, lcp.names) == (1, ("e", "i"))
    np.testing.assert_array_equal(lcp.A, [[2.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(lcp.b, [3.0, 1.25])
    np.testing.assert_array_equal(recover(np.array([-1.75, 0.5])), [0.75, 0.25])


def test_a_qp_without_positive_definite_matrix_has_no_dual() -> None:
    with pytest.raises(InputError, match="not positive definite.*masses and inertias"):
        lcp_from_qp(QP(np.diag([1.0, 0.0]), np.zeros(2), np.eye(2), np.zeros(2)))
