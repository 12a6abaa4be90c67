"""Tables: piecewise linear functions of time, of symbols and of numbers alike."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nonsmooth import Gravity, Ground, Model, ModelError, MoreauJean, PlanarBody, PointForce, Table, simulate

TIMES, VALUES = (0.0, 1.0, 2.0, 4.0), (0.0, 50.0, 20.0, 0.0)


@pytest.mark.parametrize(
    ("t", "value"), [(0.0, 0.0), (0.5, 25.0), (1.0, 50.0), (1.5, 35.0), (2.0, 20.0), (3.0, 10.0), (4.0, 0.0)]
)
def test_a_table_is_linear_between_its_points(t: float, value: float) -> None:
    symbol = ca.SX.sym("t")
    table = Table(TIMES, VALUES)
    assert table(t) == pytest.approx(value, abs=1e-14)
    assert float(ca.Function("f", [symbol], [table(symbol)])(t)) == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize(("t", "value"), [(-1.0, 0.0), (5.0, 0.0)])
def test_a_table_holds_its_first_and_last_value(t: float, value: float) -> None:
    symbol = ca.SX.sym("t")
    table = Table(TIMES, VALUES)
    assert table(t) == pytest.approx(value, abs=1e-14)
    assert float(ca.Function("f", [symbol], [table(symbol)])(t)) == pytest.approx(value, abs=1e-14)


def test_the_rate_of_a_table_is_the_slope_of_its_line() -> None:
    symbol = ca.SX.sym("t")
    rate = ca.Function("rate", [symbol], [ca.jacobian(Table(TIMES, VALUES)(symbol), symbol)])
    assert [float(rate(t)) for t in (-1.0, 0.5, 1.5, 3.0, 9.0)] == [0.0, 50.0, -30.0, -10.0, 0.0]


def test_a_long_table_is_few_operations_of_a_load_and_gives_the_same_force() -> None:
    times = np.cumsum(0.5 + np.random.default_rng(1).random(3000))
    table = Table(times, np.sin(times))
    body = PlanarBody("b", mass=2.0, inertia=1.0)
    load = PointForce("F", "b", force=lambda t: (table(t), table(2.0 * t)))
    system = Model([Ground(), Gravity(acceleration=(0.0, 0.0)), body, load]).build()
    assert system.functions.forces(load).n_instructions() < 100
    run = simulate(system, MoreauJean(), t_end=3.0, dt=1e-2)
    for t in (0.0, *times[[0, 1, 700, -1]], 33.3, 2e4):
        force = np.array(system.h(t, run.q.array[0], run.v.array[0], system.parameter_vector())).ravel()
        # the slope of an interval is computed otherwise by NumPy
        np.testing.assert_allclose(force[:2], [table(t), table(2.0 * t)], rtol=0.0, atol=1e-12)
    # compiled, by the trapezoidal rule, which is exact between corners, and at these the steps end
    areas = [
        np.trapezoid(np.interp(at, times, np.sin(times)), at)
        for at in (np.union1d(times[times < limit], [0.0, limit]) for limit in (3.0, 6.0))
    ]
    np.testing.assert_allclose(run.v.array[-1, :2], [areas[0] / 2.0, areas[1] / 4.0], rtol=1e-12)


def test_tables_take_any_sequence_and_compare_by_value() -> None:
    assert Table(np.array([0, 1]), [2, 3]) == Table((0.0, 1.0), (2.0, 3.0))


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ((0.0,), (1.0,), r"two sequences of one length >= 2, got shapes \(1,\) and \(1,\)"),
        ((0.0, 1.0), (1.0, 2.0, 3.0), r"got shapes \(2,\) and \(3,\)"),
        (
            (0.0, 1.0, 1.0),
            (1.0, 2.0, 3.0),
            "times must increase strictly, got 1 followed by 1; for a jump leave a short ramp",
        ),
        ((1.0, 0.0), (1.0, 2.0), "times must increase strictly, got 1 followed by 0"),
        ((0.0, np.nan), (1.0, 2.0), r"times must be finite, got times\[1\] = nan"),
        ((0.0, 1.0), (np.inf, 2.0), r"values must be finite, got values\[0\] = inf"),
        (("a", "b"), (1.0, 2.0), "times and values must be numbers"),
    ],
)
def test_tables_that_make_no_sense_are_refused(times: object, values: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Table(times, values)
