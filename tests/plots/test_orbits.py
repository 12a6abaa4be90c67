"""The orbit of a journal is checked by its points: where they lie, and what is drawn as contact."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from nonsmooth import (
    CompliantDae,
    Dop853,
    ErrorControl,
    EventDriven,
    MoreauJean,
    Rigid,
    Trajectory,
    plots,
    simulate,
)
from nonsmooth.exceptions import InputError
from nonsmooth.plots.orbits import journal_paths, orbit_names
from nonsmooth_problems import loose_journal, slider_crank_revolute, slider_rod, socket_pendulum
from nonsmooth_problems.slider_crank_revolute import COMPLIANT

C = 0.5e-3
CONTROL = ErrorControl(rtol=1e-8, atol=1e-9, dt_min=1e-6, dt_max=1e-4)
PLASTIC = Rigid(restitution=0.0, friction=0.0)


@pytest.fixture(scope="module")
def bouncing():
    return simulate(slider_crank_revolute().build(), EventDriven(), t_end=1.5e-3, dt=CONTROL)


@pytest.fixture(scope="module")
def plastic():
    """It meets the bearing once and keeps to it."""
    return simulate(slider_crank_revolute(contact=PLASTIC).build(), EventDriven(), t_end=1.5e-3, dt=CONTROL)


def stretches(axis, label):
    """Points of the lines of a colour, each (n, 2) [mm]."""
    found = [one for one in axis.collections if isinstance(one, LineCollection) and one.get_label() == label]
    return [np.asarray(segment) for one in found for segment in one.get_segments()]


def line(axis, label):
    (one,) = [one for one in axis.lines if one.get_label() == label]
    return np.column_stack(one.get_data())


def in_the_rod(run):
    """From the rod's end to the slider in the frame of the rod [m], at the rows."""
    angle = run.q["rod.angle"]
    x = run.q["slider.x"] - run.q["rod.x"]
    y = run.q["slider.y"] - run.q["rod.y"]
    return np.column_stack([np.cos(angle) * x + np.sin(angle) * y - 0.06, np.cos(angle) * y - np.sin(angle) * x])


def test_the_path_goes_through_the_rows(bouncing):
    axis = plots.orbit(bouncing, "pin")
    path = np.concatenate(stretches(axis, "flight") + stretches(axis, "contact"))
    for row in in_the_rod(bouncing) * 1e3:
        assert np.min(np.hypot(*(path - row).T)) < 1e-10
    distance = np.hypot(*path.T)
    np.testing.assert_allclose(line(axis, "start"), [[0.0, 0.0]], atol=1e-12)
    # between rows the path is interpolated
    assert distance.max() < 0.5 * (1 + 1e-4) and axis.get_aspect() == 1.0
    np.testing.assert_allclose(np.hypot(*line(axis, "clearance").T), 0.5, rtol=1e-12)


def test_impacts_are_ticks_where_the_journal_strikes(bouncing):
    ticks = line(plots.orbit(bouncing, "pin"), "impact").reshape(-1, 3, 2)
    assert len(ticks) == len(bouncing.impacts) > 5
    rows = np.searchsorted(bouncing.t, bouncing.impacts["t"])
    direction = in_the_rod(bouncing)[rows] / C
    for end in (0, 1):
        np.testing.assert_allclose(ticks[:, end] / np.hypot(*ticks[:, end].T)[:, None], direction, atol=1e-9)


def test_a_journal_that_rests_moves_along_the_circle(plastic):
    axis = plots.orbit(plastic, "pin")
    (flight,), (contact,) = stretches(axis, "flight"), stretches(axis, "contact")
    np.testing.assert_allclose(flight[-1], contact[0], atol=1e-12)
    np.testing.assert_allclose(np.hypot(*contact.T), 0.5, rtol=1e-4)
    assert np.hypot(*flight[0]) < 1e-12 and len(line(axis, "impact")) == 3


def test_a_compliant_journal_goes_beyond_the_circle():
    system = slider_crank_revolute(contact=COMPLIANT).build()
    control = ErrorControl(rtol=1e-8, atol=1e-8, dt_min=1e-7, dt_max=1e-5)
    run = simulate(system, CompliantDae(solver=Dop853()), t_end=4e-4, dt=control)
    axis = plots.orbit(run, "pin")
    (contact,) = stretches(axis, "contact")
    first, last = (np.hypot(*contact[i]) for i in (0, -1))
    assert (first, last) == pytest.approx((0.5, 0.5), abs=1e-6)
    assert np.hypot(*contact.T).max() == pytest.approx(0.5 + 0.07795, abs=1e-4)
    assert all(np.hypot(*one.T).max() <= 0.5 + 1e-6 for one in stretches(axis, "flight"))
    assert axis.get_xlim()[1] > 0.578
    assert "impact" not in [one.get_label() for one in axis.lines]


def test_each_joint_has_its_own_frame_and_changed_parameters_count():
    system = slider_crank_revolute(joints="shaft,knee", contact=PLASTIC).build()
    run = simulate(system, EventDriven(), t_end=1.5e-3, dt=CONTROL, parameters={"knee.clearance": 5e-5})
    figure = Figure()
    for axis, joint, size, unit in zip(
        figure.subplots(1, 2), ("shaft", "knee"), (0.5, 50.0), ("mm", "\N{MICRO SIGN}m"), strict=True
    ):
        assert plots.orbit(run, joint, ax=axis) is axis
        assert axis.get_legend() is None and f"[{unit}]" in axis.get_xlabel()
        contact = np.concatenate(stretches(axis, "contact"))
        np.testing.assert_allclose(np.hypot(*contact.T), size, rtol=2e-3)
    assert not figure.legends


def test_a_window_shows_a_part(plastic):
    axis = plots.orbit(plastic, "pin", window=(5e-4, 1e-3))
    (contact,) = stretches(axis, "contact")
    assert not stretches(axis, "flight") and "impact" not in [one.get_label() for one in axis.lines]
    inside = (plastic.t >= 5e-4) & (plastic.t <= 1e-3)
    for row in in_the_rod(plastic)[inside] * 1e3:
        assert np.min(np.hypot(*(contact - row).T)) < 1e-10
    for bad in ((1e-3, 5e-4), (0.0, 1.0)):
        with pytest.raises(InputError, match="window must be two times .s. within the run, 0 to 0.0015 s, got"):
            plots.orbit(plastic, "pin", window=bad)
    with pytest.raises(InputError, match="window must be 2 finite numbers or None, got"):
        plots.orbit(plastic, "pin", window=(1e-4,))


def test_a_loaded_run_is_drawn_and_pyplot_is_untouched(plastic, tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    plastic.save(tmp_path / "run.nc")
    axis, again = plots.orbit(plastic, "pin"), plots.orbit(Trajectory.load(tmp_path / "run.nc"), "pin")
    np.testing.assert_array_equal(stretches(axis, "contact")[0], stretches(again, "contact")[0])
    axis.figure.savefig(tmp_path / "orbit.png")
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == [
        "clearance", "flight", "contact", "start", "impact"
    ]  # fmt: skip
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_what_has_no_orbit_is_named(plastic):
    with pytest.raises(
        InputError, match="of a journal or a ball in its clearance, but 'knee' is none. The run has pin."
    ):
        plots.orbit(plastic, "knee")
    run = simulate(slider_rod().build(), EventDriven(), t_end=1e-4, dt=CONTROL)
    with pytest.raises(InputError, match="'guide' is none. The run has no such joint."):
        plots.orbit(run, "guide")


def test_orbits_in_space_are_those_of_the_gaps():
    """At each end of a journal and of a ball the distance from the centre is the clearance less the gap of the run."""
    for problem, joint, axes in ((loose_journal, "bearing", {("y", "z")}), (socket_pendulum, "pivot", {*PLANES})):
        run = simulate(problem().build(), MoreauJean(), t_end=0.02, dt=1e-4)
        paths = journal_paths(run)
        assert orbit_names(run) == {joint: [path.name for path in paths]} and {path.axes for path in paths} == axes
        rows = np.searchsorted(paths[0].t, run.t)
        assert np.array_equal(paths[0].t[rows], run.t)
        for path in paths:
            assert path.name.startswith(f"{joint}.") and path.pressing[-1]
            if joint == "bearing":
                distance = np.hypot(*path.e[rows].T)
                np.testing.assert_allclose(path.clearance - distance, run.gap[path.gap], atol=1e-12)
        if joint == "pivot":
            (x, y), (again, z) = paths[0].e[rows].T, paths[1].e[rows].T
            assert np.array_equal(y, again) and np.array_equal(paths[2].e[rows], np.column_stack([x, z]))
            distance = np.sqrt(x**2 + y**2 + z**2)
            np.testing.assert_allclose(1e-4 - distance, run.gap["pivot"], atol=1e-12)
        with pytest.raises(InputError, match=f"'{joint}' has . orbits; choose one of {joint}"):
            plots.orbit(run, joint)
        figure = run.plot(f"orbit:{joint}")
        assert [axis.get_title("left").split(", ")[1] for axis in figure.axes] == [path.name for path in paths]


PLANES = (("x", "y"), ("y", "z"), ("x", "z"))
