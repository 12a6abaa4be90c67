"""Quadratic programs: known answers with exact multipliers, and a certificate that lets nothing else pass."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.programs import QP, Program, Solution

ONE = np.eye(1)
# A body of 2 kg that falls at 3 m/s and 4 m/s sideways onto a floor: it keeps its sideways motion, impulse 6 N s.
FLOOR = QP(2 * np.eye(2), np.array([-8.0, 6.0]), np.array([[0.0, 1.0]]), np.zeros(1), names=("floor",))
# The nearest point to (2, 2) with x + y = 1 and x >= 3/4 is (3/4, 1/4); stationarity gives y = (-7/4, 1/2).
CORNER = QP(np.eye(2), -np.array([2.0, 2.0]), np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.75]), equalities=1)
KNOWN = [
    pytest.param(FLOOR, [4.0, 0.0], [6.0], id="floor"),
    pytest.param(CORNER, [0.75, 0.25], [-1.75, 0.5], id="equality and inequality"),
    pytest.param(QP(ONE, np.array([-5.0]), ONE, np.array([1.0])), [5.0], [0.0], id="open"),
    pytest.param(QP(ONE, np.zeros(1), np.ones((2, 1)), np.ones(2)), [1.0], [0.25, 0.75], id="redundant rows"),
    pytest.param(QP(ONE, np.array([-5.0]), np.zeros((0, 1)), np.zeros(0)), [5.0], [], id="no rows"),
    pytest.param(QP(ONE, np.ones(1), np.zeros((1, 1)), np.zeros(1)), [-1.0], [3.0], id="zero row"),
    pytest.param(QP(np.eye(2), np.zeros(2), np.eye(2), np.zeros(2)), [0.0, 0.0], [0.0, 0.0], id="rest"),
]


def answer(x: object, y: object) -> Solution:
    return Solution(np.array(x, float), np.array(y, float), "by hand", 0, "nobody")


@pytest.mark.parametrize(("qp", "x", "y"), KNOWN)
def test_an_exact_answer_is_certified(qp: QP, x: list[float], y: list[float]) -> None:
    assert isinstance(qp, Program)
    assert qp.residual(answer(x, y)) <= 2.3e-16  # one rounding of a sum of at most three terms


@pytest.mark.parametrize(
    ("x", "y", "row", "size"),
    [
        ([4.1, 0.0], [6.0], "stationarity of unknown 0", 0.2 / 16.2),  # terms 8.2 + 8
        ([4.0, 0.0], [5.4], "stationarity of unknown 1", 0.6 / 11.4),  # terms 6 + 5.4
        ([4.0, -0.3], [5.4], "floor", 0.3 / 6.0),  # terms of the vertical velocity (0.6 + 6 + 5.4) / 2
        ([4.0, 0.3], [6.6], "floor", 0.3 / 6.6),  # pushed though open, (0.6 + 6 + 6.6) / 2
        ([4.0, -6.0], [-6.0], "floor", 6.0 / 12.0),  # pulled, (12 + 6 + 6) / 2
        ([np.nan, 0.0], [6.0], "stationarity of unknown 0", np.inf),
        ([4.0, np.inf], [6.0], "stationarity of unknown 0", np.inf),
    ],
)
def test_the_worst_row_is_named_with_its_share_of_the_terms(
    x: list[float], y: list[float], row: str, size: float
) -> None:
    name, value = FLOOR.worst(answer(x, y))
    assert name == row
    assert value == pytest.approx(size, rel=1e-12)
    assert FLOOR.residual(answer(x, y)) == value


def test_units_do_not_matter() -> None:
    """The residual is the same in grams and millimetres: x by a, f by b / a, and so on."""
    rng = np.random.default_rng(0)
    H = np.diag([1.0, 2.0, 3.0])
    f, A, b = rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=2)
    x, y = rng.normal(size=3), rng.uniform(size=2)
    unit, row = np.array([1e3, 1e-3, 7.0]), np.array([1e6, 1e-6])
    scaled = QP(H / unit / unit[:, None], f / unit, A / unit * row[:, None], b * row)
    expected = QP(H, f, A, b).errors(answer(x, y))
    np.testing.assert_allclose(scaled.errors(answer(x * unit, y / row)), expected, rtol=1e-12)


def test_a_body_at_rest_does_not_divide_round_off_by_round_off() -> None:
    held = QP(np.eye(2), np.array([0.0, 1.0]), np.array([[0.0, 1.0]]), np.zeros(1))
    assert held.residual(answer([1e-17, 1e-17], [1.0])) < 1e-13  # FLOOR = 1e-3 times a round-off of 1e-16


def test_huge_multipliers_do_not_certify_a_contradiction() -> None:
    squeezed = QP(ONE, np.zeros(1), np.array([[1.0], [-1.0]]), np.array([1.0, 1.0]))
    assert squeezed.residual(answer([0.0], [1e12, 1e12])) > 1e-2


def test_an_answer_of_the_wrong_shape_is_infinitely_wrong() -> None:
    assert FLOOR.residual(answer([4.0], [6.0])) == np.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), np.zeros(2), np.zeros((1, 2)), np.zeros(1)), r"H of shape \(2, 2\)"),
        ((np.eye(2), np.zeros(2), np.zeros((2, 2)), np.zeros(1)), r"A of shape \(1, 2\)"),
        ((np.eye(2), np.zeros(2), np.zeros((1, 2)), np.zeros(1), 2), "equalities = 2"),
        ((np.eye(2), np.zeros(2), np.zeros((1, 2)), np.zeros(1), 0, ("a", "b")), "2 names"),
    ],
)
def test_shapes_that_disagree_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        QP(*arguments)  # type: ignore[arg-type]
