"""Quantities between rows: where they are exact, and both limits at impacts."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, simulate
from nonsmooth.diagnostics import pieces, sampled
from nonsmooth.exceptions import InputError
from nonsmooth_problems import bouncing_ball, slider_rod

CONTROL = ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=0.05)


@pytest.fixture(scope="module")
def bouncing():
    return simulate(bouncing_ball().build(), EventDriven(), t_end=1.0, dt=CONTROL)


def test_flight_is_a_parabola_between_rows(bouncing):
    exact = bouncing_ball.exact()
    t = np.linspace(0.0, 1.0, 777)
    known = exact.sample(t)
    np.testing.assert_allclose(pieces(bouncing, "q", "ball.y")(t), known.q["ball.y"], atol=1e-9)
    np.testing.assert_allclose(pieces(bouncing, "v", "ball.y")(t), known.v["ball.y"], atol=1e-8)
    height, rate = pieces(bouncing, "gap", "floor"), pieces(bouncing, "gap_rate", "floor")
    np.testing.assert_allclose(height(t) - height(t[:1]), known.q["ball.y"] - known.q["ball.y"][0], atol=1e-9)
    np.testing.assert_allclose(rate(t), known.v["ball.y"], atol=1e-8)


def test_both_limits_at_impacts_and_at_the_ends(bouncing):
    hit = bouncing.impacts["t"]
    assert len(hit) >= 1
    course = pieces(bouncing, "v", "ball.y")
    np.testing.assert_allclose(course(hit, "left"), bouncing.impacts["gamma_minus"], atol=1e-12)
    np.testing.assert_allclose(course(hit), bouncing.impacts["gamma_plus"], atol=1e-12)
    for side, columns in (("left", bouncing.left.v), ("right", bouncing.v)):
        np.testing.assert_array_equal(course(bouncing.t, side)[[0, -1]], columns["ball.y"][[0, -1]])
        np.testing.assert_allclose(course(bouncing.t, side), columns["ball.y"], atol=1e-12)
        table = sampled(bouncing, "v", bouncing.t, side)
        assert table.names == bouncing.v.names and table.units("ball.y") == "m/s"
        np.testing.assert_allclose(table.array, columns.array, atol=1e-12)


def test_rows_left_out_make_pieces_straight():
    run = simulate(slider_rod(case=2).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-4), record=50)
    course = pieces(run, "q", "slider.y")
    inside = [
        i for i in range(len(run.t) - 1) if np.any((run.impacts["t"] > run.t[i]) & (run.impacts["t"] < run.t[i + 1]))
    ]
    assert inside
    assert not np.any(course.coefficients[inside, 2:])
    np.testing.assert_allclose(course(run.t), run.q["slider.y"], atol=1e-18)


def test_what_has_no_pieces_is_named(bouncing):
    with pytest.raises(InputError, match="no kind 'energy' of quantity here. Take one of q, v, gap, gap_rate"):
        pieces(bouncing, "energy", "kinetic")
    with pytest.raises(InputError, match="There is no coordinate 'bal.y'. Did you mean ball.y"):
        pieces(bouncing, "q", "bal.y")
