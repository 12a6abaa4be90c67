"""Figures of runs from words: what they contain, how wide they are, and measured data laid over."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Ramp,
    Revolute,
    RevoluteClearance,
    Rigid,
    Torque,
    Trajectory,
    plots,
    simulate,
)
from nonsmooth.exceptions import InputError
from nonsmooth.plots.labels import display, quantity, round_length, scale, shown_unit
from nonsmooth.plots.motion import crowds
from nonsmooth.plots.panel import Line, meaning
from nonsmooth_problems import slider_crank_revolute, slider_rod, socket_pendulum

SMOOTH = Rigid(restitution=0.5, friction=0.0)


@pytest.fixture(scope="module")
def run() -> Trajectory:
    """The slider on a rod, 4 ms: impacts of its ends, then rest."""
    return simulate(slider_rod(case=2).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-4))


@pytest.fixture(scope="module")
def own() -> Trajectory:
    """A mechanism that no problem describes: a driven crank, and a rod in a bearing with clearance."""
    crank = PlanarBody("crank", mass=0.2, inertia=1e-4, position=(0.05, 0.0))
    rod = PlanarBody("rod", mass=0.4, inertia=1e-3, position=(0.2, 0.0))
    shaft = Revolute("shaft", "ground", crank, at_b=(-0.05, 0.0))
    pin = RevoluteClearance("pin", crank, rod, at_a=(0.05, 0.0), at_b=(-0.1, 0.0), clearance=1e-4, contact=SMOOTH)
    stop = PointPlane("stop", "ground", rod, at_a=(0.0, -0.05), at_b=(0.1, 0.0), contact=SMOOTH)
    loads = [Torque("motor", crank, torque=0.05), Gravity(acceleration=(0.0, -9.81))]
    model = Model([Ground(), crank, rod, shaft, pin, stop, *loads], name="own")
    return simulate(model.build(), MoreauJean(), t_end=0.15, dt=2e-4)


def titles(figure):
    return [axis.get_title("left") for axis in figure.axes if axis.get_visible()]


def labels(figure):
    return [axis.get_ylabel() for axis in figure.axes if axis.get_visible()]


def test_the_overview_of_an_own_mechanism(own):
    """A sketch with a scale, the orbit of the journal, and few panels of what moves and pushes, each with its unit."""
    figure = own.plot()
    sketch, orbit, *panels = figure.axes
    texts = {text.get_text() for text in sketch.texts}
    assert {"crank", "rod", "pin", "shaft", "50 mm", "clearance drawn 50 times its size"} <= texts
    assert orbit.get_title("left") == "Journal in its bearing, pin"
    over_time = [axis.get_title("left") for axis in panels if axis.get_visible()]
    assert over_time == ["Positions", "Angles", "Velocities", "Contact forces", "Joint forces: shaft", "Gap of stop"]
    words = {"position", "angle", "velocity", "contact force", "joint force", "force", "gap"}
    assert all(axis.get_ylabel().partition(" [")[0] in words for axis in panels if axis.get_visible())


def test_an_orbit_says_what_its_colours_mean(own):
    orbit = own.plot("orbit:pin").axes[0]
    assert {"clearance", "flight", "contact", "start"} <= {text.get_text() for text in orbit.get_legend().get_texts()}


@pytest.mark.parametrize("word", ["modes", "modes:guide"])
def test_titles_and_legends_stand_apart_in_one_column_of_a_journal(run, word):
    """Both stand above the bars; in 90 mm they would meet side by side."""
    figure = run.plot(word, "slider.y", width="single")
    figure.draw_without_rendering()
    axis = next(axis for axis in figure.axes if axis.get_legend() is not None)
    title = next(text for text in axis.get_children() if getattr(text, "get_text", str)() == axis.get_title("left"))
    assert not title.get_window_extent().overlaps(axis.get_legend().get_window_extent())


def test_a_file_is_drawn_as_the_run_was(run, tmp_path):
    run.save(tmp_path / "run.nc")
    again = Trajectory.load(tmp_path / "run.nc")
    for one, other in zip(run.plot().axes, again.plot().axes, strict=True):
        for a, b in zip(one.lines, other.lines, strict=True):
            np.testing.assert_array_equal(a.get_data(), b.get_data())


def test_words_choose_kind_columns_and_unit(run):
    figure = run.plot(
        "slider.y [um]", "v:slider.y", "lam_N:guide", "gap:guide.left_lower,guide.left_upper", "energy:kinetic"
    )
    assert labels(figure) == [
        "position [\N{MICRO SIGN}m]", "velocity [mm/s]", "contact force [N]", "gap [\N{MICRO SIGN}m]", "energy [mJ]",
    ]  # fmt: skip
    assert [len(axis.get_legend_handles_labels()[1]) for axis in figure.axes[:5]] == [1, 1, 4, 2, 1]
    assert titles(figure)[1:4] == [
        "Velocity of slider.y", "Contact force of guide", "Gap of guide.left_lower, guide.left_upper",
    ]  # fmt: skip


def test_a_reaction_is_a_force_or_a_torque():
    crank = simulate(slider_crank_revolute().build(), MoreauJean(), t_end=1e-4, dt=1e-5)
    assert titles(crank.plot("reaction:shaft.x", "reaction:motor.torque"))[:2] == [
        "Force of shaft.x", "Torque of motor",
    ]  # fmt: skip


def test_panels_and_drawings_keep_their_order(own):
    figure = own.plot("rod.x", "orbit:pin", "phase:rod.angle", "rod.y", "crank.angle", "modes", "impacts")
    figure.canvas.draw()
    at = {axis.get_title("left").partition(", ")[0]: axis.bbox for axis in figure.axes}
    assert len(at) == 7
    rows = [
        ["rod.x"], ["Journal in its bearing", "Phase portrait"], ["rod.y"], ["crank.angle"],
        ["Contact modes", "Impacts"],
    ]  # fmt: skip
    for above, below in pairwise(rows):
        assert min(at[name].y0 for name in above) > max(at[name].y1 for name in below)
    for left, right in (row for row in rows if len(row) == 2):
        assert at[left].x1 < at[right].x0


def test_velocities_are_those_of_the_positions_that_are_shown():
    """Through 60 degrees cranks move farther across than along, and their velocities change more along than across."""
    model = Model([Ground()])
    for name, arm in (("short", 0.1), ("middle", 0.15), ("long", 0.2)):
        body = PlanarBody(name, mass=1.0, inertia=1.0, position=(arm, 0.0))
        model.add(body)
        model.add(Revolute(f"{name}-shaft", "ground", body, at_b=(-arm, 0.0)))
        model.add(PrescribedMotion(f"{name}-motor", "ground", body, coordinate="angle", motion=Ramp(np.pi / 3)))
    figure = simulate(model.build(assemble=True), MoreauJean(), t_end=1.0, dt=0.01).plot()
    shown = {axis.get_title("left"): axis.get_legend_handles_labels()[1] for axis in figure.axes if axis.get_visible()}
    assert len(shown["Positions"]) == 4 and {"short.y", "middle.y", "long.y"} <= set(shown["Positions"])
    assert shown["Velocities"] == shown["Positions"]


def test_a_mechanism_in_space_has_its_sketch_and_its_gaps():
    spatial = simulate(socket_pendulum().build(), MoreauJean(), t_end=0.01, dt=1e-3)
    figure = spatial.plot()
    picture = figure.axes[0].images[0].get_array()
    assert picture.shape[1] > 1000 and np.ptp(picture[..., :3]) > 0.5, "the sketch is empty"
    assert any(title.startswith("Gap of") for title in titles(figure))


@pytest.mark.parametrize(("width", "millimetres"), some([("single", 90.0), ("double", 190.0), (120, 120.0)], 3))
def test_figures_are_as_wide_as_a_column(run, width, millimetres):
    """With type of the same size, so that no journal has to scale them; 90 mm has room for one column of panels."""
    for figure in (run.plot(width=width), run.plot("slider.x", "slider.y", "slider.angle", width=width)):
        assert 25.4 * figure.get_figwidth() == pytest.approx(millimetres)
        sizes = {axis.yaxis.label.get_fontsize() for axis in figure.axes if axis.get_ylabel()}
        assert sizes == {8.0}
        columns = {axis.get_subplotspec().colspan.start for axis in figure.axes if axis.get_visible()}
        assert columns == ({0} if millimetres < 120 else {0, 1})


def test_a_window_shows_a_part_with_a_scale_of_its_own(run):
    whole, part = run.plot("slider.x"), plots.figure(run, "slider.x", window=(0.0, 1e-3))
    assert part.axes[0].get_xlim() == (0.0, 1.0)
    # 10 m/s^2: 5 um of the 80 um after 4 ms
    assert part.axes[0].get_ylim()[1] < 6.0 < whole.axes[0].get_ylim()[1]
    with pytest.raises(InputError, match="window must be two times"):
        plots.figure(run, "slider.x", window=(0.0, 1.0))


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("slidr.x", "no quantity 'slidr.x'. Did you mean slider.x"),
        ("w:slider.x", "no kind 'w' of quantity"),
        ("lam_n:guide", "Did you mean lam_N?"),
        ("q:slider", "different units .*q:slider.angle .rad."),
        ("slider.x [N]", "no quantity 'slider.x'"),
        ("q:slider.x [N]", "is in m, which cannot be shown in N"),
        ("orbit:guide", "An orbit is drawn of a journal or a ball in its clearance"),
        ("lam_N:", "names no quantity"),
    ],
)
def test_words_that_are_not_understood(run, word, message):
    with pytest.raises(InputError, match=message):
        run.plot(word)


@pytest.mark.parametrize("width", ["triple", 10, "nan"])
def test_widths_that_no_journal_has(run, width):
    with pytest.raises(InputError, match="single .90 mm., double .190 mm. or a number"):
        run.plot(width=width)


# Impacts


def test_impacts_that_would_merge_are_one_bar():
    t = np.array([0.1, 0.3, 0.301, 0.302, 0.303, 0.8])
    alone, merged = crowds(t, 1.0)
    assert alone.tolist() == [0.1, 0.8] and merged.tolist() == [[0.3, 0.303]]
    assert len(crowds(np.zeros(0), 1.0)[1]) == 0


def test_the_legend_names_the_bar(own):
    """The rod comes to rest on its stop by ever smaller impacts."""
    figure = own.plot("rod.y")
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert "many impacts" in names
    assert figure.axes[0].patches, "no bar was drawn"


@pytest.mark.parametrize(("most", "length"), [(0.37, 0.2), (1.0, 1.0), (0.0099, 0.005), (73.0, 50.0)])
def test_the_scale_is_a_round_length(most, length):
    assert round_length(most) == length


# Measured data


def measured(tmp_path, text):
    path = tmp_path / "measured.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_measured_data_are_laid_over_in_si_units(run, tmp_path):
    """10 m/s^2 along the rod, as 50 N push 5 kg: what was measured deviates by a tenth of a micrometre."""
    t = np.linspace(0.0, 4.0, 9)  # ms
    x = 5.0 * t**2 + 0.1 * (-1.0) ** np.arange(9)  # um
    rows = "\n".join(f"{a},{b}," for a, b in zip(t, x, strict=True))
    path = measured(tmp_path, f"# a sensor\ntime [ms],slider.x [um],v:slider.x [mm/s]\n{rows}\n2,,20\n")
    data = plots.read_measured(path, run)
    assert list(data.columns) == [("q", "slider.x"), ("v", "slider.x")]
    np.testing.assert_allclose(data.t[-1], 4e-3)
    found = data.differences(run)
    # the motion is exact to round-off, so that the difference is the deviation
    assert found["q", "slider.x"] == pytest.approx(1e-7, rel=1e-6)
    assert found["v", "slider.x"] < 1e-12
    figure = run.plot("slider.x [mm]", measured=path)
    dots = figure.axes[0].lines[-2 if figure.axes[0].lines[-1].get_marker() != "o" else -1]
    np.testing.assert_allclose(dots.get_ydata()[~np.isnan(dots.get_ydata())], 1e-3 * x)
    assert titles(figure) == ["slider.x", "Velocity of slider.x"], "a measured quantity without a panel gets one"
    assert "measured" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_what_was_exported_can_be_laid_over(run, tmp_path):
    run.to_csv(tmp_path / "run.csv", ["q", "v", "lam_N"])
    found = plots.read_measured(tmp_path / "run.csv", run).differences(run)
    assert len(found) == 10 and max(found.values()) == 0.0


def test_decimal_commas_and_semicolons(run, tmp_path):
    data = plots.read_measured(measured(tmp_path, "t;slider.angle [deg]\n0,001;0,5\n0,002;1\n"), run)
    np.testing.assert_allclose(data.t, [1e-3, 2e-3])
    np.testing.assert_allclose(data.columns["q", "slider.angle"], np.radians([0.5, 1.0]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("t [s]\n0\n", "expected a line of names"),
        ("x [m],slider.x\n0,1\n", "first column must be the time, as t .s. or time .ms., got 'x'"),
        ("t,slider.z\n0,1\n", "no quantity 'slider.z'"),
        ("t,guide\n0,1\n", "may be any of guide.left_lower"),
        ("t,slider.x [N]\n0,1\n", "no quantity 'slider.x'"),
        ("t,slider.x,q:slider.x\n0,1,2\n", "measured twice"),
        ("t,slider.x\n0,1,2\n", "line 2: 2 columns are named, got 3"),
        ("t,slider.x\n0,none\n", 'line 2: "none" in column "slider.x" is not a number'),
        ("t,slider.x\n,1\n", "every line needs a time"),
    ],
)
def test_data_that_are_not_understood(run, tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        plots.read_measured(measured(tmp_path, text), run)


def test_data_beside_the_run(run, tmp_path):
    data = plots.read_measured(measured(tmp_path, "t,slider.x\n5,1\n"), run)
    with pytest.raises(InputError, match="No time of .* lies within the run"):
        data.differences(run)
    with pytest.raises(InputError, match="cannot be read"):
        plots.read_measured(tmp_path / "none.csv", run)


def test_units_and_quantities_in_words():
    lines = {"kN": [Line("lam_N", "pin", "pin")], "deg": [Line("q", "crank.angle", "crank")]}
    assert [meaning(own, unit) for unit, own in lines.items()] == ["contact force", "angle"]
    assert [shown_unit(unit) for unit in ("um", "deg")] == ["\N{MICRO SIGN}m", "°"]
    assert display("m", 1e-5) == ("um", 1e-6)
    assert display("kg", 1e-5) == ("kg", 1.0)
    assert (scale("um"), quantity("slider.x", "mm")) == (("m", 1e-6), "slider.x [mm]")
