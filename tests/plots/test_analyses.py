"""Figures of analyses are checked by what they hold: points, spans, units, words."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from nonsmooth import ErrorControl, EventDriven, plots, simulate
from nonsmooth.diagnostics import impacts, mode_timeline, poincare, spectrum, stroboscope
from nonsmooth.exceptions import InputError
from nonsmooth.studies import Bifurcation
from nonsmooth_problems import slider_crank_translational

CONTROL = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-5, dt_max=5e-3)


@pytest.fixture(scope="module")
def run():
    return simulate(slider_crank_translational().build(), EventDriven(), t_end=0.05, dt=CONTROL)


def line(axis, label):
    (one,) = [one for one in axis.lines if one.get_label() == label]
    return np.column_stack(one.get_data())


def test_a_phase_portrait_goes_through_both_limits(run):
    axis = plots.phase_portrait(run, "slider.y")
    path = line(axis, "motion")
    starts = np.column_stack([run.q["slider.y"][:-1] * 1e3, run.v["slider.y"][:-1]])
    ends = np.column_stack([run.q["slider.y"][1:] * 1e3, run.left.v["slider.y"][1:]])
    for point in np.concatenate([starts, ends]):
        assert np.min(np.hypot(*(path[np.isfinite(path).all(axis=1)] - point).T)) < 1e-9
    assert axis.get_xlabel() == "slider.y [mm]" and axis.get_ylabel() == "its velocity [m/s]"
    jumps = line(axis, "impact").reshape(-1, 3, 2)
    np.testing.assert_allclose(jumps[:, 0, 0], jumps[:, 1, 0])  # upright
    jumped = np.abs(run.v["slider.y"] - run.left.v["slider.y"])[1:-1] > 1e-9 * np.abs(run.v["slider.y"]).max()
    assert len(jumps) == jumped.sum() > 10
    assert np.isin(run.t[1:-1][jumped], run.impacts["t"]).all()
    # no line runs along a jump
    broken = np.flatnonzero(~np.isfinite(path).all(axis=1))
    assert len(broken) == len(jumps)
    gap = plots.phase_portrait(run, "guide.left_lower", kind="gap")
    assert gap.get_xlabel() == "gap, guide.left_lower [mm]"


def test_a_section_is_drawn_alone_and_on_the_path(run):
    section = stroboscope(run, 0.01)
    axis = plots.phase_portrait(run, "slider.y", section=section)
    np.testing.assert_allclose(line(axis, "section")[:, 0], section.q["slider.y"] * 1e3)
    alone = plots.poincare_section(section, "slider.x")
    np.testing.assert_allclose(alone.lines[0].get_ydata(), section.v["slider.x"])
    both = plots.poincare_section(section, "slider.x", "slider.y")
    assert both.get_ylabel() == "slider.y [mm]" and "6 points" in both.get_title("left")
    with pytest.raises(InputError, match="The section has no points"):
        plots.poincare_section(poincare(run, "slider.x", 99.0), "slider.x")


def test_a_bifurcation_diagram_has_all_points_and_failures():
    found = Bifurcation(
        "speed", "rad/s", "height", "mm", np.array([1.0, 2.0, 3.0]), 
        (np.array([0.1]), np.array([0.2, 0.3]), np.zeros(0)), np.ones(3), 3.0, {3.0: "it broke"},
    )  # fmt: skip
    axis = plots.bifurcation_diagram(found)
    np.testing.assert_allclose(axis.lines[0].get_xdata(), [1.0, 2.0, 2.0])
    np.testing.assert_allclose(axis.lines[0].get_ydata(), [0.1, 0.2, 0.3])
    np.testing.assert_allclose(line(axis, "failed")[:, 0], [3.0])
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("speed [rad/s]", "height [mm]")
    nothing = Bifurcation("a", "-", "b", "-", np.ones(1), (np.zeros(0),), np.ones(1), 1.0)
    with pytest.raises(InputError, match="No value has points"):
        plots.bifurcation_diagram(nothing)


def swept(values, **metrics):
    """A sweep of a clearance [m], as it is kept: of each metric a unit and values."""
    known = {name: ("c", y, {"units": unit}) for name, (unit, y) in metrics.items()}
    status = ("c", ["finished"] * len(values))
    return xarray.Dataset({"status": status, **known}, {"c": ("c", values, {"units": "m"})})


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (np.geomspace(5e-5, 4e-4, 6), "log"), (np.linspace(5e-5, 4e-4, 6), "linear"),
        (np.geomspace(5e-5, 4e-4, 3), "linear"), (np.geomspace(1e-4, 4e-4, 6), "linear"),
        (np.array([1e-5, 2e-5, 5e-5, 1e-4]), "linear"),
    ],
)  # fmt: skip
def test_a_sweep_has_readable_axes(values, scale):
    """Micrometres; logarithmic for geometric grids of four values over more than a factor of 5; counts have no line."""
    found = swept(values, impacts=("-", np.arange(len(values)) % 3.0), speed=("m/s", 1e-3 * values / values[0]))
    figure = plots.sweep(found)
    counts, speeds = figure.axes
    assert {axis.get_xscale() for axis in figure.axes} == {scale}
    assert (counts.get_xlabel(), counts.get_ylabel()) == ("c [µm]", "impacts [-]")
    assert speeds.get_ylabel() == "speed [mm/s]"
    np.testing.assert_allclose(counts.lines[0].get_xdata(), 1e6 * values)
    np.testing.assert_allclose(speeds.lines[0].get_ydata(), values / values[0])
    assert [axis.lines[0].get_linestyle() for axis in figure.axes] == ["None", "-"]
    figure.canvas.draw()
    written = [label.get_text() for label in counts.get_xticklabels()]
    assert len(written) > 2 and not any("10^" in one for one in (*written, counts.xaxis.get_offset_text().get_text()))


def test_bars_cover_the_run_without_gaps(run):
    timelines = [mode_timeline(run, name) for name in run.gap]
    axis = plots.mode_bars(timelines)
    assert [label.get_text() for label in axis.get_yticklabels()] == list(reversed(run.gap.names))
    drawn = 0.0
    for bars in axis.collections:
        for path in bars.get_paths():
            drawn += np.ptp(path.vertices[:, 0])
    assert drawn == pytest.approx(4 * 50.0) and axis.get_xlim() == (0.0, 50.0)
    slider = plots.mode_bars(mode_timeline(run, "guide"))
    words = [text.get_text() for text in slider.get_legend().get_texts()]
    assert words[0].startswith("free ") and words[0].endswith(" %")
    with pytest.raises(InputError, match="modes of different kinds"):
        plots.mode_bars([mode_timeline(run, "guide"), timelines[0]])
    with pytest.raises(InputError, match="no time to draw"):
        plots.mode_bars([])


def test_a_spectrum_has_its_unit_and_the_drives_multiples(run):
    found = spectrum(run, "slider.y", kind="v")
    axis = plots.amplitudes(found, base=100.0, highest=500.0)
    assert axis.get_xlim() == (0.0, 500.0) and axis.get_yscale() == "log"
    assert axis.get_ylabel() == "amplitude [m/s]" and axis.get_xlabel() == "frequency [Hz]"
    marks = [one.get_xdata()[0] for one in axis.lines if len(one.get_xdata()) == 2]
    np.testing.assert_allclose(marks, [100, 200, 300, 400, 500])
    assert "hann window, lines 20 Hz apart; dashed: multiples of 100 Hz" in [text.get_text() for text in axis.texts]


def test_the_impact_table_shows_the_largest(run):
    known = impacts(run)
    axis = plots.impact_table(run, rows=4)
    words = [text.get_text() for text in axis.texts]
    largest = known[np.sort(np.argsort(-known["impulse"], kind="stable")[:4])]
    for hit in largest:
        assert str(hit["contact"]) in words
        assert f"{1e3 * hit['impulse']:.2f}" in words and f"{1e3 * hit['start']:.2f}" in words
    assert "impulse\n[mN s]" in words and "time\n[ms]" in words
    assert f"the 4 largest of {len(known)}" in axis.get_title("left")
    with pytest.raises(InputError, match="no impacts to show"):
        plots.impact_table(run, slowest=100.0)


@pytest.mark.parametrize("width", [50.0, 60.0, 70.0, 90.0])
def test_columns_of_the_impact_table_do_not_overlap(run, width):
    """At any width of a figure [mm], no column begins before the one to its left ends, and none leaves the figure."""
    drawn = run.plot("impacts", width=width)
    (axis,) = [axes for part in drawn.subfigs for axes in part.axes]
    columns = np.array_split(list(axis.texts), 5)
    edges = [[text.get_window_extent().extents for text in column] for column in columns]
    begins, ends = ([pick(box[i] for box in column) for column in edges] for pick, i in ((min, 0), (max, 2)))
    assert all(end < begin for end, begin in zip(ends[:-1], begins[1:], strict=True))
    assert begins[0] >= 0.0 and ends[-1] <= drawn.bbox.width


def test_axes_of_others_are_drawn_into_and_pyplot_is_untouched(run, tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    figure = Figure(figsize=(8, 8))
    axes = figure.subplots(2, 3).ravel()
    assert plots.phase_portrait(run, "slider.y", ax=axes[0]) is axes[0]
    plots.poincare_section(stroboscope(run, 0.01), "slider.x", ax=axes[1])
    plots.mode_bars(mode_timeline(run, "guide"), ax=axes[2])
    plots.amplitudes(spectrum(run, "slider.y"), ax=axes[3])
    plots.impact_table(run, ax=axes[4])
    figure.savefig(tmp_path / "all.png")
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_what_cannot_be_drawn_is_named(run):
    with pytest.raises(InputError, match="phase portrait is drawn of a q or a gap, got kind='v'"):
        plots.phase_portrait(run, "slider.y", kind="v")
    with pytest.raises(InputError, match="no coordinate 'slider.z'"):
        plots.phase_portrait(run, "slider.z")
    with pytest.raises(InputError, match="span must be two times .s. within the run, 0 to 0.05 s"):
        plots.phase_portrait(run, "slider.y", span=(0.01, 1.0))
