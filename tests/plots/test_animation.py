"""Pictures of a film are checked by the places of what they show."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial

import matplotlib
import numpy as np
import pytest
from matplotlib.patches import Circle
from PIL import Image
from scipy.spatial.transform import Rotation

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    Rigid,
    SpatialBody,
    Trajectory,
    plots,
    simulate,
)
from nonsmooth.cli import main
from nonsmooth.diagnostics import coordinates, mean_forces
from nonsmooth.exceptions import InputError
from nonsmooth.model.clearances import SphericalClearance
from nonsmooth.model.contacts import SpherePlane
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.plots.pages import ffmpeg
from nonsmooth_problems import bouncing_ball, newtons_cradle, slider_crank_revolute, slider_rod, stick_slip_oscillator

C = 0.5e-3
CONTROL = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=1e-3)


@pytest.fixture(scope="module")
def crank():
    return simulate(slider_crank_revolute().build(), EventDriven(), t_end=3e-3, dt=CONTROL)


def circles(film):
    return [patch for patch in film.axes.patches if isinstance(patch, Circle)]


def pieces_of_text(film):
    return " ".join(text.get_text() for text in film.figure.texts)


@pytest.mark.parametrize("magnify", [None, 1.0, 1000.0])
def test_the_hatching_of_guides_is_as_long_with_each_magnification(magnify):
    """Strokes at 45 degrees, 0.6 x 2.2 sizes of symbols wide and high, on the outer side of both walls."""
    run = simulate(slider_rod(case=2).build(), GaussQP(), t_end=2e-3, dt=Landing(1e-6, 1e-3))
    film = plots.animation(run, frames=2, magnify=magnify, forces=False)
    walls = [np.column_stack(line.get_data()) for line in film.axes.lines if line.get_label() == "guide"]
    strokes = [
        one for line in walls if np.isnan(line).any() for one in np.split(line, np.flatnonzero(np.isnan(line[:, 0])))
    ]
    steps = np.array([np.diff(one[np.isfinite(one[:, 0])], axis=0)[0] for one in strokes])
    size = np.max(np.abs(steps))
    assert len(steps) > 20 and np.abs(steps) == pytest.approx(np.full(steps.shape, size), rel=1e-9)
    assert {int(side) for side in np.sign(steps[:, 1])} == {-1, 1}
    assert size == pytest.approx(0.6 * 2.2 * drawing_of_run(run, run.t).grain / 100, rel=1e-2)


def in_the_rod(run, t):
    """From the rod's end to the slider (n, 2), global frame, and the rod's end."""
    q = dict(zip(run.q.names, coordinates(run, t).T, strict=True))
    end = np.column_stack([q["rod.x"] + 0.06 * np.cos(q["rod.angle"]), q["rod.y"] + 0.06 * np.sin(q["rod.angle"])])
    return np.column_stack([q["slider.x"], q["slider.y"]]) - end, end


def test_the_journal_is_magnified_in_its_bearing(crank):
    film = plots.animation(crank, frames=13)
    e, end = in_the_rod(crank, film.t)
    factor = film.magnification
    assert factor == 5 and "clearance drawn 5 times its size" in pieces_of_text(film)
    for k in (0, 5, 12):
        film.draw(k)
        bearing, _, journal, _ = circles(film)[-4:]  # each inside and edge
        np.testing.assert_allclose(bearing.get_center(), end[k], atol=1e-12)
        np.testing.assert_allclose(np.subtract(journal.get_center(), bearing.get_center()), factor * e[k], atol=1e-12)
        assert bearing.get_radius() - journal.get_radius() == pytest.approx(factor * C)
    text = pieces_of_text(film)
    assert "t = 3.0 ms" in text and "times slower than real time" in text and "arrows: mean contact forces" in text


def test_bars_end_in_their_joints(crank):
    film = plots.animation(crank, frames=5)
    film.draw(3)
    lines = {one.get_label(): np.column_stack(one.get_data()) for one in film.axes.lines}
    angle = float(np.interp(film.t[3], crank.t, crank.q["crank.angle"]))
    knee = 0.05 * np.array([np.cos(angle), np.sin(angle)])
    ends = lines["crank"][np.argsort(np.hypot(*lines["crank"].T))]
    np.testing.assert_allclose(ends, [[0.0, 0.0], knee], atol=1e-6)
    assert np.min(np.hypot(*(lines["rod"] - knee).T)) < 1e-6
    np.testing.assert_allclose(np.hypot(*np.diff(lines["rod"], axis=0)[0]), 0.12, atol=1e-9)


def contact_arrows(film):
    """The line of the shafts of contact forces, if there is any."""
    return [line for line in film.axes.lines if line.get_zorder() == 20]


def test_arrows_are_the_mean_forces_of_the_time_before(crank):
    film = plots.animation(crank, frames=13)
    (shaft,) = contact_arrows(film)
    force = mean_forces(crank, film.t)[:, 0]
    e, _ = in_the_rod(crank, film.t)
    lengths = np.zeros(13)
    for k in range(13):
        film.draw(k)
        start, base = np.column_stack(shaft.get_data())[:2]
        lengths[k] = np.hypot(*(base - start))
        if k and force[k - 1] > 1e-3 * force.max():
            np.testing.assert_allclose(base - start, -lengths[k] * e[k] / np.hypot(*e[k]), atol=1e-12)
    # a force that nine tenths do not exceed has 22 units of symbols, but none more than 40; the head takes 3.6 of them
    usual = np.quantile(force[force > 1e-3 * force.max()], 0.9)
    longest = min(22.0 * force.max() / usual, 40.0) - 3.6
    assert np.argmax(lengths) == 1 + np.argmax(force)
    assert lengths.max() == pytest.approx(longest * drawing_of_run(crank, film.t).grain / 100, rel=1e-6)
    assert np.all(lengths[1:][force < 1e-4 * force.max()] < 1e-12)
    assert f"{force.max() / 1e3:.3g} kN" in pieces_of_text(film)
    assert not contact_arrows(plots.animation(crank, frames=3, forces=False))


def test_gaps_of_a_slider_read_as_multiples():
    run = simulate(slider_rod(case=2).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-4))
    film = plots.animation(run, frames=9, magnify=15.0)
    of_guide = [one for one in film.axes.lines if one.get_label() == "guide"]
    walls = sorted(float(np.mean(one.get_ydata())) for one in of_guide if len(one.get_xdata()) == 2)
    colour = plots.style.COLOURS[0]  # of the first body
    assert film.magnification == 15.0
    gaps = {name: np.interp(film.t, run.t, run.gap[f"guide.{name}"]) for name in ("left_lower", "right_upper")}
    for k in (0, 4, 8):
        film.draw(k)
        (block,) = [line for line in film.axes.lines if line.get_color() == colour and len(line.get_xdata()) == 5]
        left_lower, _, right_upper = np.column_stack(block.get_data())[:3]
        assert left_lower[1] - walls[0] == pytest.approx(15 * gaps["left_lower"][k], abs=2e-7)
        assert walls[-1] - right_upper[1] == pytest.approx(15 * gaps["right_upper"][k], abs=2e-7)


@pytest.mark.parametrize(
    "problem, bodies", [(bouncing_ball, 1), (newtons_cradle, 5), (stick_slip_oscillator, 2)],
    ids=lambda x: getattr(x, "name", ""),
)  # fmt: skip
def test_other_mechanisms_are_drawn(problem, bodies):
    control = ErrorControl(rtol=1e-6, atol=1e-8, dt_min=1e-5, dt_max=2e-2)
    run = simulate(problem().build(), EventDriven(), t_end=0.3, dt=control)
    film = plots.animation(run, frames=4)
    film.draw(3)
    low, high = (np.array(film.axes.get_xlim()), np.array(film.axes.get_ylim()))
    assert "clearance" not in pieces_of_text(film)
    names = [name.removesuffix(".x") for name in run.q.names if name.endswith(".x")]
    assert len(names) == bodies
    for name in names:
        assert low[0] <= run.q[f"{name}.x"][-1] <= low[1] and high[0] <= run.q[f"{name}.y"][-1] <= high[1]


def test_a_gif_is_written_and_pyplot_is_untouched(crank, tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    crank.save(tmp_path / "run.nc")
    film = plots.animation(Trajectory.load(tmp_path / "run.nc"), frames=3, fps=5)
    film.save(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as image:
        assert image.n_frames == 3 and image.info["duration"] == 200
    assert ("matplotlib.pyplot" in sys.modules) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.gif", "run.nc"]


def test_an_mp4_holds_every_picture(crank, tmp_path):
    program = ffmpeg()
    assert program is not None, 'no ffmpeg: pip install "nonsmooth[video]"'
    plots.animation(crank, frames=6, fps=5).save(tmp_path / "film.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]
    words = [program, "-hide_banner", "-i", "film.mp4", "-fps_mode", "passthrough", "picture%d.png"]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    assert "Video: h264" in told and "yuv420p" in told and "5 fps" in told and "00:00:01.20" in told
    pictures = [Image.open(tmp_path / f"picture{k}.png").convert("L") for k in range(1, 7)]
    assert not (tmp_path / "picture7.png").exists()
    assert len({picture.tobytes() for picture in pictures}) == 6
    # what was filmed is what is drawn, but for the losses of the coding
    film = plots.animation(crank, frames=6, fps=5)
    film.draw(5)
    film.figure.savefig(tmp_path / "last.png", dpi=film.figure.dpi)
    drawn = Image.open(tmp_path / "last.png").convert("L").resize(pictures[5].size)
    assert np.mean(np.abs(np.asarray(drawn, float) - np.asarray(pictures[5], float))) < 5.0


def test_an_mp4_without_ffmpeg_says_what_to_install(crank, tmp_path, monkeypatch, capsys):
    film = plots.animation(crank, frames=2)
    with matplotlib.rc_context({"animation.ffmpeg_path": "no-such-ffmpeg"}):
        monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)  # an import of it fails
        wanted = r"needs the program ffmpeg.*pip install \"nonsmooth\[video\]\", or write a .gif"
        with pytest.raises(InputError, match=wanted):
            film.save(tmp_path / "film.mp4")
        # asked before the run, not after it
        words = ["run", "slider-rod", "--t-end", "1", "--stepper", "gauss-qp", "--dt", "1e-9"]
        assert main([*words, "--animation", str(tmp_path / "film.mp4")]) == 2
        assert 'pip install "nonsmooth[video]"' in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a program by a shell script")
def test_an_ffmpeg_that_fails_is_named(crank, tmp_path):
    broken = tmp_path / "broken-ffmpeg"
    broken.write_text("#!/bin/sh\ncat >/dev/null\nexit 3\n")
    broken.chmod(0o755)
    with matplotlib.rc_context({"animation.ffmpeg_path": str(broken)}):
        with pytest.raises(InputError, match="broken-ffmpeg ended with 3"):
            plots.animation(crank, frames=2).save(tmp_path / "film.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["broken-ffmpeg"]


def test_what_cannot_be_written_or_drawn_is_named(crank, tmp_path):
    film = plots.animation(crank, frames=2)
    with pytest.raises(InputError, match="An animation is a file .gif or .mp4, got 'film.png'"):
        film.save(tmp_path / "film.png")
    with pytest.raises(InputError, match="cannot be written"):
        film.save(tmp_path / "nowhere" / "film.gif")
    with pytest.raises(InputError, match="frames must be a whole number, at least 2, got 1"):
        plots.animation(crank, frames=1)
    with pytest.raises(InputError, match=r"within the run, 0 to 0.003 s, got \(0.0, 1.0\)"):
        plots.animation(crank, span=(0.0, 1.0))
    with pytest.raises(InputError, match="magnify positive, got 20 and -1"):
        plots.animation(crank, magnify=-1)
    with pytest.raises(InputError, match='an element "pin" of the kind Novel, which is not known here; import'):
        described = [dict(one) for one in crank.manifest["model"]["elements"]]
        next(one for one in described if one["name"] == "pin")["kind"] = "Novel"
        plots.animation(replace(crank, manifest={**crank.manifest, "model": {"elements": described}}))


@pytest.fixture(scope="module")
def ball():
    """A pendulum that hangs in a socket with clearance, loaded from the start, and a ball that slides on a floor."""
    c, law = 1e-3, Rigid(restitution=0.0, friction=0.3)
    rod = SpatialBody("rod", mass=1.0, inertia=(1e-2, 1e-2, 1e-2), position=(0.1, 0.0, -0.2 - c))
    disc = SpatialBody("disc", mass=2.0, inertia=(1e-3,) * 3, position=(0.3, 0.0, -0.15), velocity=(0.0, 1.0, 0.0))
    model = Model(
        [
            Ground(), rod, disc,
            SphericalClearance("socket", "ground", "rod", at_b=(-0.1, 0.0, 0.2), clearance=c, radius=0.01, contact=law),
            SpherePlane("floor", "ground", "disc", normal=(0, 0, 1), at_a=(0.0, 0.0, -0.2), radius=0.05, contact=law),
            Gravity(acceleration=(0.0, 0.0, -9.81)),
        ]
    )  # fmt: skip
    return simulate(model.build(), MoreauJean(), t_end=0.1, dt=1e-3)


def in_space(film):
    """Lines of the picture as arrays of points."""
    return [np.transpose(line.get_data_3d()) for line in film.axes.lines]


def test_in_space_the_ball_is_magnified_in_its_socket(ball):
    film = plots.animation(ball, frames=6, magnify=4.0)
    assert "clearance drawn 4 times its size" in pieces_of_text(film)
    q = dict(zip(ball.q.names, coordinates(ball, film.t).T, strict=True))
    names = [name for name in ball.q.names if name.startswith("rod.")]
    for k in (0, 5):
        film.draw(k)
        x, y, z, *quaternion = (q[name][k] for name in names)
        e = np.array([x, y, z]) + Rotation.from_quat(quaternion, scalar_first=True).apply([-0.1, 0.0, 0.2])
        circles = [line for line in in_space(film) if len(line) == 37]
        socket, inner = circles[0][:-1].mean(axis=0), circles[1][:-1].mean(axis=0)
        assert inner - socket == pytest.approx(4.0 * e, abs=1e-12)
        radii = [np.linalg.norm(ring[0] - ring[:-1].mean(axis=0)) for ring in circles[:2]]
        assert radii[0] - radii[1] == pytest.approx(4.0 * 1e-3)
        assert np.nanmin(np.linalg.norm(np.concatenate(in_space(film)) - [x, y, z], axis=1)) < 1e-12
        (bar,) = [np.transpose(line.get_data_3d()) for line in film.axes.lines if line.get_linewidth() == 3.0]
        assert bar == pytest.approx(np.array([[x, y, z], inner]), abs=1e-12)  # it ends in the middle of the ball


def test_in_space_arrows_are_the_contact_forces(ball):
    film = plots.animation(ball, frames=6)
    film.draw(2)
    (arrows,) = contact_arrows(film)
    start, base = np.transpose(arrows.get_data_3d()).reshape(-1, 3, 3)[1, :2]  # of the floor
    inside = (ball.t > film.t[1] + 1e-9) & (ball.t < film.t[2] + 1e-9)
    mean = ball.contact_force["floor"][inside].mean(axis=0)  # of equal steps
    # sliding along y, before it rolls at 57 ms: the force leans back by the friction coefficient and carries the weight
    assert mean == pytest.approx([0.0, -0.3 * 2 * 9.81, 2 * 9.81], abs=1e-6)
    along = (base - start) / np.linalg.norm(base - start)
    assert along == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    place = [np.interp(film.t[2], ball.t, ball.q[f"disc.{axis}"]) for axis in "xy"]
    assert start == pytest.approx([*place, -0.2], abs=1e-6)
    assert not contact_arrows(plots.animation(ball, frames=3, forces=False))


def test_a_film_of_space_is_written_from_a_file(ball, tmp_path):
    ball.save(tmp_path / "run.nc")
    film = plots.animation(Trajectory.load(tmp_path / "run.nc"), frames=3, view=(30.0, 20.0))
    film.save(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as image:
        assert image.n_frames == 3


def test_the_command_line_writes_a_film(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(plots, "animation", partial(plots.animation, frames=3))
    words = ["run", "slider-rod", "--case", "2", "--t-end", "1e-3", "--stepper", "gauss-qp", "--dt", "1e-4"]
    assert main([*words, "--animation", str(tmp_path / "film.png")]) == 2
    assert "An animation is a file .gif or .mp4" in capsys.readouterr().err
    assert main([*words, "--animation", str(tmp_path / "no" / "film.gif")]) == 2
    assert "--animation" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--animation", "film.gif"]) == 0
    assert (tmp_path / "film.gif").stat().st_size > 1000
    assert "film.gif" in capsys.readouterr().out
