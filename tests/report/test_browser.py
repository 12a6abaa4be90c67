"""Pages in a real browser: nothing is asked of a network, nothing goes wrong, and controls do what they say."""

from __future__ import annotations

import base64
import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import BoxShape, GaussQP, Landing, MoreauJean, SpatialBody, SphereShape, Trajectory, simulate
from nonsmooth.model.registry import find_problems
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.plots.frames import View, touches
from nonsmooth.plots.orbits import journal_paths
from nonsmooth.plots.pieces import pieces
from nonsmooth.report import Picture, Table, frame, study_page, write
from nonsmooth.report.page import write_text
from nonsmooth.trajectory.columns import Columns
from nonsmooth_problems import slider_crank_revolute, slider_crank_translational, socket_pendulum

pytestmark = pytest.mark.slow

Shown = Callable[..., Any]


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Shown:
    """Opens the page of runs and returns the browser, which must have nothing to complain of."""

    def show(runs: Any, width: int = 1280, dark: bool = False, **options: Any) -> Any:
        write(runs, tmp_path / "run.html", **options)
        browser.open(tmp_path / "run.html", width=width, dark=dark)
        clean(browser)
        return browser

    return show


def clean(browser: Any) -> None:
    browser.run("1")  # what the page has said until now has arrived
    assert browser.console == []
    assert browser.foreign_requests() == []


def time_of(browser: Any) -> float:
    return float(browser.run("nonsmooth.clock.t"))


def window_of(browser: Any) -> list[float]:
    return list(browser.run("nonsmooth.clock.window"))


def inked(browser: Any, selector: str) -> int:
    """Pixels of a canvas that are not empty."""
    return int(
        browser.run(
            f"(() => {{ const c = document.querySelector({json.dumps(selector)});"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"
        )
    )


def checksum(browser: Any, selector: str = ".stage canvas") -> str:
    """A text that tells one picture from another."""
    return str(browser.run(f"document.querySelector({json.dumps(selector)}).toDataURL()"))


#: what the page hands to the browser is kept instead, as its name and its text or the size of its picture
KEEP = """
window.kept = [];
URL.createObjectURL = (blob) => { window.blob = blob; return ''; };
HTMLAnchorElement.prototype.click = async function () {
  const picture = blob.type.startsWith('image') && (await createImageBitmap(blob));
  window.kept = [this.download, picture ? `${picture.width} ${picture.height}` : await blob.text()];
};
"""


def press(browser: Any, words: str, chart: str = "#charts") -> None:
    """Press a button of the first chart."""
    buttons = f"[...document.querySelector('{chart} .chart-buttons').children]"
    browser.run(f"{buttons}.find(one => one.textContent === {json.dumps(words)}).click()")


# ----------------------------------------------------------------------------------------------------------- the pages


@pytest.mark.parametrize("width", [400, 768, 1280, 1920])
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_fits_its_window(shown: Shown, crank: Trajectory, width: int, dark: bool) -> None:
    page = shown(crank, width=width, dark=dark)
    assert page.run("document.documentElement.scrollWidth") <= width  # nothing is cut off at the side
    assert page.run("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    assert inked(page, ".stage canvas") > 1000
    assert all(
        page.run("[...document.querySelectorAll('.plot')].filter(p => p.clientWidth).map(p => p.clientWidth > 200)")
    )


def test_a_journal_is_where_its_orbit_says(shown: Shown) -> None:
    """The dot follows the time; a shorter time shows less of the path; the orbit has a large form and its numbers."""
    run = simulate(slider_crank_revolute().build(), MoreauJean(), t_end=4e-3, dt=1e-5)
    page = shown(run)
    (path,) = journal_paths(run)
    for t in (path.t[0], 2.345e-3, path.t[-1]):
        page.run(f"nonsmooth.clock.seek({float(t)!r})")
        x, y, scale, *middle = page.run(
            "(() => { const one = nonsmooth.orbits.charts[0], dot = document.querySelector('.spot'),"
            "a = dot.getBoundingClientRect(), b = one.plot.getBoundingClientRect();"
            "return [a.x + a.width / 2 - b.x, a.y + a.height / 2 - b.y, one.scale, ...one.middle]; })()"
        )
        e = [np.interp(t, path.t, column) for column in path.e.T]
        assert np.allclose([(x - middle[0]) / scale, (middle[1] - y) / scale], e, atol=1e-2 * path.clearance)
    whole = checksum(page, ".square canvas")
    page.run("nonsmooth.clock.zoom(0, 2e-4)")
    assert checksum(page, ".square canvas") != whole
    page.run(KEEP)
    press(page, "CSV", ".orbit")
    page.until("kept.length === 2")
    name, text = page.run("kept")
    head, *lines = text.splitlines()
    assert (name, head) == ("Orbit_pin_um.csv", '"t [s]","x [µm]","y [µm]","contact"')
    assert len(lines) == np.sum(path.t <= 2e-4) and lines[-1].split(",")[3] in "01"
    press(page, "larger", ".orbit")
    assert page.run("document.querySelector('.square').clientHeight") > 600
    page.key("Escape")
    assert page.run("document.querySelector('.square').clientHeight") < 500
    clean(page)


def test_shapes_are_drawn_and_can_be_hidden(shown: Shown) -> None:
    """A wide plate in the plane and a ball in space cover what their sizes say; without them bodies are lines again."""
    flat, spatial = slider_crank_revolute(), socket_pendulum()
    flat.add(BoxShape("plate", "slider", edges=(0.1, 0.1)))
    (body,) = [one.name for one in spatial.elements if isinstance(one, SpatialBody)]
    spatial.add(SphereShape("ball", body, radius=0.05))
    for model, size in ((flat, 0.1**2), (spatial, np.pi * 0.05**2)):
        run = simulate(model.build(), MoreauJean(), t_end=1e-3, dt=1e-5)
        page = shown(run)
        page.run("document.getElementById('forces').click(); document.getElementById('traces').click()")
        assert page.run("document.getElementById('shapes').getAttribute('aria-pressed')") == "true"
        covered = inked(page, ".stage canvas") / page.run("nonsmooth.camera.scale(...'width height'.split(' ')"
                                                          ".map(k => nonsmooth.stages[0][k]))") ** 2  # fmt: skip
        assert 0.9 * size < covered < 2.5 * size
        clean(page)
        before = checksum(page)
        page.key("s")
        assert page.run("document.getElementById('shapes').getAttribute('aria-pressed')") == "false"
        assert checksum(page) != before
        clean(page)
    assert shown(simulate(socket_pendulum().build(), MoreauJean(), t_end=1e-3, dt=1e-4)).run(
        "document.getElementById('shapes').hidden"
    )


#: the bytes of what the page hands to the browser, as text
BYTES = """
window.kept = [];
URL.createObjectURL = (blob) => { window.blob = blob; return ''; };
HTMLAnchorElement.prototype.click = async function () {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  window.kept = [this.download, btoa(Array.from(bytes, (x) => String.fromCharCode(x)).join(''))];
};
"""


def decoded(video: bytes, folder: Path) -> np.ndarray:
    """Pictures (n, height, width, 3) of a video."""
    from nonsmooth.plots.pages import ffmpeg

    (folder / "motion.webm").write_bytes(video)
    program = ffmpeg()
    if program is None:
        pytest.skip("no ffmpeg to look into the video")
    subprocess.run(
        [program, "-v", "error", "-i", "motion.webm", "-vf", "scale=64:36", "-f", "rawvideo", "-pix_fmt", "rgb24",
         "raw"],
        cwd=folder, check=True,
    )  # fmt: skip
    return np.frombuffer((folder / "raw").read_bytes(), "u1").reshape(-1, 36, 64, 3)


@pytest.mark.parametrize("length", ["once", "stopped"])
def test_a_video_of_the_motion(shown: Shown, crank: Trajectory, tmp_path: Path, length: str) -> None:
    """Once through a part of the run, or until it is stopped: a webm whose pictures move, and the page as before."""
    page = shown({"one": crank, "other": crank})
    page.run(BYTES)
    if length == "once":
        page.run("nonsmooth.clock.zoom(0.02, 0.06); nonsmooth.clock.speed = 0.04")
    page.click("#record")
    assert page.run("nonsmooth.clock.playing") and page.run("document.getElementById('record').textContent") == "stop"
    assert "recording" in page.run("document.getElementById('record-note').textContent")
    if length == "stopped":
        page.until("nonsmooth.recorder.frames > 20")
        page.run("document.activeElement.blur()")
        page.key(" ")
    page.until("kept.length === 2")
    assert not page.run("nonsmooth.clock.playing")
    assert page.run("document.getElementById('record').textContent") == "record"
    assert page.run("document.getElementById('record-note').textContent") == ""
    name, text = page.run("kept")
    pictures = decoded(base64.b64decode(text), tmp_path).astype(int)
    assert name == "motion.webm" and len(pictures) > 5
    for half in (pictures[:, :, :32], pictures[:, :, 32:]):  # both runs
        assert np.max(np.abs(half[-1] - half[len(half) // 2])) > 40
    clean(page)


def test_a_browser_that_records_nothing_says_so(browser: Any, crank: Trajectory, tmp_path: Path) -> None:
    write(crank, tmp_path / "run.html")
    script = browser.tell("Page.addScriptToEvaluateOnNewDocument", source="delete window.MediaRecorder")
    try:
        browser.open(tmp_path / "run.html")
    finally:
        browser.tell("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    assert browser.run("document.getElementById('record').disabled")
    said = browser.run("document.getElementById('record-note').textContent")
    assert said == "This browser cannot record a video; Chromium and Firefox can."
    browser.key("v")
    assert not browser.run("nonsmooth.clock.playing")
    clean(browser)


def test_a_robot_in_space(shown: Shown, robot: Trajectory) -> None:
    page = shown(robot)
    before = checksum(page)
    view = page.run("[nonsmooth.camera.azimuth, nonsmooth.camera.elevation]")
    page.drag(".stage canvas", 80, 30)
    after = page.run("[nonsmooth.camera.azimuth, nonsmooth.camera.elevation]")
    # 0.008 rad a pixel: to the right the picture turns to the right, down it is seen from above
    assert np.allclose(np.subtract(after, view), [-0.64, 0.24], atol=1e-9)
    assert checksum(page) != before
    page.wheel(".stage canvas", -300)  # it has been clicked, so that the wheel is its own
    page.until("nonsmooth.camera.zoom > 1.5")
    page.key("Home")
    assert page.run("nonsmooth.camera.zoom") == 1
    assert page.run("[nonsmooth.camera.azimuth, nonsmooth.camera.elevation]") == view
    page.key("ArrowRight")
    assert page.run("nonsmooth.camera.azimuth") == pytest.approx(view[0] - 0.1)
    clean(page)


def test_forces_of_contacts_in_space_are_drawn(shown: Shown, robot: Trajectory) -> None:
    page = shown(robot)
    force = np.linalg.norm(robot.contact_force.array, axis=2)
    row = int(force.sum(axis=1).argmax())
    assert force[row].max() > 0
    page.run(f"nonsmooth.clock.seek({float(robot.t[row - 1] + robot.t[row]) / 2!r})")
    assert page.run("nonsmooth.stages[0].drawn") == np.sum(force[row] > 0.005 * page.run("nonsmooth.options.full"))


@pytest.mark.parametrize("name", find_problems())
def test_every_problem_is_drawn(shown: Shown, name: str) -> None:
    run = simulate(find_problems()[name]().build(), MoreauJean(), t_end=1e-3, dt=1e-4)
    page = shown(run, width=900)
    page.run("nonsmooth.clock.seek(nonsmooth.clock.end)")
    assert page.run("nonsmooth.runs[0].info.fault") == ""
    # symbols and outlines; without any there is only gravity's arrow, of some 200 pixels
    page.key("f")
    assert inked(page, ".stage canvas") > 400
    clean(page)


def test_two_runs_side_by_side_and_over_each_other(shown: Shown, worlds: dict[str, Trajectory]) -> None:
    page = shown(worlds | {"again": worlds["compliant"]}, title="worlds")
    assert page.run("nonsmooth.runs.map(run => run.label)") == ["rigid", "again"]
    assert page.run("document.querySelectorAll('.stage').length") == 2
    assert page.run("[...document.querySelectorAll('.verdict')].map(e => e.hidden)") == [False, True, False]
    page.run("(() => { const s = document.getElementById('second'); s.value = '1';"
             "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    page.until("nonsmooth.runs[1].label === 'compliant'")
    assert page.run("[...document.querySelectorAll('.verdict')].map(e => e.hidden)") == [False, False, True]
    page.run("nonsmooth.clock.seek(0.002)")
    value = "document.querySelector('.chip[aria-pressed=\"true\"] .value').textContent"
    page.until(value)  # charts are filled once they are in sight
    assert page.run(value).count("|") == 1  # a value of each run
    page.click("#overlay")
    assert page.run("document.querySelectorAll('.stage').length") == 1
    assert page.run("nonsmooth.stages[0].runs.length") == 2
    page.key("o")
    assert page.run("document.querySelectorAll('.stage').length") == 2
    clean(page)


def test_a_run_that_failed_is_shown_as_far_as_it_went(shown: Shown, crank: Trajectory) -> None:
    page = shown(dataclasses.replace(crank, status="failed: no answer at t = 0.1 s"))
    assert page.run("document.querySelector('.badge').textContent") == "failed"
    assert "no answer at t = 0.1 s" in page.run("document.querySelector('.verdict').textContent")
    assert inked(page, ".stage canvas") > 1000


def test_a_mechanism_that_is_not_known_leaves_the_charts(shown: Shown, crank: Trajectory) -> None:
    manifest = {**crank.manifest, "model": {}, "parameters": {}}
    page = shown(dataclasses.replace(crank, manifest=manifest))
    assert "not drawn" in page.run("document.querySelector('.fault').textContent")
    assert page.run("document.querySelectorAll('.chart').length") >= 6
    page.click("#play")
    page.until("nonsmooth.clock.t > nonsmooth.clock.start")
    clean(page)


def test_hostile_names_are_text(shown: Shown, hostile: Trajectory) -> None:
    page = shown(hostile)
    page.click("#names")
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.run("window.acted") is None
    assert page.run("document.querySelectorAll('img').length") == 0
    text = page.run("document.body.textContent")
    assert hostile.manifest["model"]["name"] in text and hostile.q.names[1] in text  # it falls
    assert page.run("document.title") == hostile.manifest["model"]["name"]
    assert page.run("document.documentElement.scrollWidth") <= 1280  # ten thousand letters without a space
    clean(page)


def test_hostile_names_of_a_file(shown: Shown, hostile: Trajectory, tmp_path: Path) -> None:
    hostile.save(tmp_path / "run.nc")
    page = shown({"<img src=x onerror=window.acted=1>": Trajectory.load(tmp_path / "run.nc"), "b": hostile})
    assert page.run("window.acted") is None and page.run("document.querySelectorAll('img').length") == 0
    assert page.run("document.getElementById('first').value") == "0"


def test_a_notebooks_frame(browser: Any, crank: Trajectory, tmp_path: Path) -> None:
    text = f"<!DOCTYPE html><title>notebook</title><body data-ready='1'>{frame(crank)}</body>"
    (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
    browser.open(tmp_path / "notebook.html")
    # its own origin is out of reach, as it shall be; errors within it reach the console all the same
    assert (
        browser.run("(() => { try { return frames[0].document.title; } catch (e) { return e.name; } })()")
        == "SecurityError"
    )
    browser.until("document.querySelector('iframe').clientHeight > 500")
    clean(browser)


def test_a_page_of_a_study(browser: Any, tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>'
    write_text(study_page("study", ["a line", Table(("x",), ((1.0,),)), Picture(svg)]), tmp_path / "study.html")
    browser.tell("Page.navigate", url=(tmp_path / "study.html").as_uri())
    browser.until("document.querySelector('img') && document.querySelector('img').naturalWidth === 60")
    clean(browser)


# --------------------------------------------------------------------------------------------------------- the controls


def test_play_pause_and_speed(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    page.click("#play")
    page.until("nonsmooth.clock.t > 0")
    assert page.run("document.getElementById('play').getAttribute('aria-label')") == "pause"
    page.run("document.activeElement.blur()")
    page.key(" ")
    assert page.run("nonsmooth.clock.playing") is False
    stopped, picture = time_of(page), checksum(page)
    page.run("new Promise(done => setTimeout(done, 150))")
    assert time_of(page) == stopped and checksum(page) == picture
    page.run("(() => { const s = document.getElementById('speed'); s.value = s.options[0].value;"
             "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    assert page.run("nonsmooth.clock.speed") == page.run("Number(document.getElementById('speed').options[0].value)")
    clean(page)


def test_impacts_one_after_the_other(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    instants = np.unique(crank.impacts["t"])
    for k in range(3):
        page.click("[data-do=next]")
        assert time_of(page) == instants[k]
    assert "impact now" in page.run("document.getElementById('next-impact').textContent")
    page.key("p")
    assert time_of(page) == instants[1]
    assert page.run("nonsmooth.stages[0].last.t") == instants[1]  # the picture is of this time
    page.run("nonsmooth.clock.seek(nonsmooth.clock.end)")
    assert page.run("document.getElementById('next-impact').textContent") == "no further impact"


def test_rows_by_arrow_keys_and_time_by_the_slider(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    page.key("ArrowRight")
    page.key("ArrowRight", shift=True)
    assert time_of(page) == crank.t[21]
    page.key("ArrowLeft")
    assert time_of(page) == crank.t[20]
    page.click("#time")
    # a pointer hits the middle of a slider of some 200 pixels within one of them
    assert time_of(page) == pytest.approx(0.05, abs=0.1 / 200)
    page.key("ArrowRight")  # of the slider itself, a step of 1e-5
    assert time_of(page) > 0.05 - 0.1 / 200


def test_charts_narrow_and_seek(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    page.drag(".plot", 120, 0, start=(-60, 0))
    first, last = window_of(page)
    inner = page.run("nonsmooth.charts.charts[0].inner")
    assert last - first == pytest.approx(0.1 * 120 / inner, rel=0.02)  # a pixel of 120 at each end
    page.click(".plot")
    assert time_of(page) == pytest.approx((first + last) / 2, abs=(last - first) * 0.08)
    page.click(".plot", clicks=2)
    assert window_of(page) == [crank.t[0], crank.t[-1]]
    page.key("+")
    narrow = window_of(page)
    assert narrow[1] - narrow[0] == pytest.approx(0.05)
    page.key("-")
    page.click("[data-do=whole]")
    assert window_of(page) == [crank.t[0], crank.t[-1]]


def test_contact_modes_lead_to_their_time(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    page.click(".bar")
    assert time_of(page) == pytest.approx(0.05, abs=1e-3)
    labels = page.run("[...document.querySelectorAll('#modes .label b')].map(e => e.textContent)")
    assert labels == ["guide", *crank.gap.names]
    said = page.run("document.querySelector('#modes .bar canvas').getAttribute('aria-label')")
    assert said.startswith("guide: free ")


def test_the_table_of_impacts(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    rows = "[...document.querySelectorAll('#impacts tbody tr')]"
    assert page.run(f"{rows}.length") == min(100, len(crank.impacts))
    page.click("#impacts th:nth-child(3) button")  # largest impulse first
    strongest = crank.impacts[np.argmax(crank.impacts["P_N"])]
    assert page.run(f"Number({rows}[0].dataset.t)") == strongest["t"]
    page.click("#impacts tbody tr")
    assert time_of(page) == strongest["t"]
    if len(crank.impacts) > 100:
        page.click("#impacts .more")
        assert page.run(f"{rows}.length") == min(1000, len(crank.impacts))


def test_curves_are_chosen_by_name(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    before = checksum(page, ".plot canvas")
    page.click(".chip")
    assert page.run("document.querySelector('.chip').getAttribute('aria-pressed')") == "false"
    assert checksum(page, ".plot canvas") != before
    offered = page.run("[...document.getElementById('known').options].map(o => o.value)")
    assert {"crank", "rod", "slider", "guide"} <= set(offered)
    page.click("#filter")
    for letter in "slider":
        page.key(letter)
    on = page.run("nonsmooth.charts.charts.flatMap(c => c.series.filter(s => s.on).map(s => s.name))")
    assert on and all("slider" in name for name in on)
    assert page.run("nonsmooth.clock.t") == 0  # letters in a field are no commands


def test_gaps_and_forces_come_before_positions(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    titles = page.run("[...document.querySelectorAll('.group summary')].map(e => e.textContent)")
    assert titles[:4] == ["Gaps", "Contact forces", "Positions", "Velocities"]


def test_a_chart_becomes_large(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank, width=1000)
    box = "document.querySelector('.plot canvas').getBoundingClientRect()"
    small = page.run(f"{box}.height")
    press(page, "larger")
    assert small == 150 and page.run(f"{box}.height") > 500 and page.run(f"{box}.width") > 800
    assert inked(page, ".plot canvas") > 1000
    page.key("Escape")
    assert page.run(f"{box}.height") == small
    press(page, "larger")
    press(page, "smaller")
    assert page.run(f"{box}.height") == small
    clean(page)


def test_numbers_and_picture_of_a_chart(shown: Shown, crank: Trajectory) -> None:
    """The numbers are those of the run within the time that is shown, with both limits at jumps."""
    page = shown(crank)
    page.run(KEEP)
    first, last = float(crank.t[3]), float(crank.t[60])
    page.run(f"nonsmooth.clock.zoom({first!r}, {last!r})")
    press(page, "CSV")
    page.until("window.kept.length")
    name, text = page.run("window.kept")
    head, *lines = text.strip().split("\r\n")
    names = [one.strip('"').split(" [")[0] for one in head.split(",")[1:]]
    assert name.startswith("Gaps_") and name.endswith(".csv") and set(names) <= set(crank.gap.names)
    numbers = np.array([[float(one) for one in line.split(",")] for line in lines])
    rows = np.searchsorted(crank.t, numbers[:, 0])
    assert numbers[0, 0] == first and numbers[-1, 0] == last and (crank.t[rows] == numbers[:, 0]).all()
    factor = {"m": 1.0, "mm": 1e3, "µm": 1e6, "nm": 1e9}[head.rpartition("[")[2].removesuffix(']"')]
    true = np.column_stack([crank.gap[one][rows] for one in names])
    assert np.abs(numbers[:, 1:] / factor - true).max() < 1.6e-5 * np.abs(true).max()  # 16 bits of significand

    page.run("window.kept = []")
    press(page, "PNG")
    page.until("window.kept.length")
    name, size = page.run("window.kept")
    width, height = map(int, size.split())
    assert name.endswith(".png") and width == page.run("document.querySelector('.plot canvas').width")
    assert height > page.run("document.querySelector('.plot canvas').height")  # with title and legend
    clean(page)


def test_round_off_is_neither_drawn_nor_written(shown: Shown) -> None:
    """What varies by less than 1e-12 of its chart has no curve, and values below 1e-9 of the chart are zero."""
    start = slider_crank_translational().build()
    run = simulate(start, GaussQP(), t_end=0.01, dt=Landing(1e-6, 1e-4))
    q = run.q.array.copy()
    names = list(run.q.names)
    q[:, names.index("slider.y")] = 1e-34 * np.arange(len(q))
    q[:, names.index("crank.y")] = 1e-12 * (1 + np.arange(len(q)))
    page = shown(dataclasses.replace(run, q=Columns("coordinate", names, q, [run.q.units(one) for one in names])))
    chart = "nonsmooth.charts.charts.find(c => c.table === 'q')"
    assert "slider.y" not in page.run(f"{chart}.names") and "crank.y" in page.run(f"{chart}.names")
    page.until(f"{chart}.series.find(s => s.name === 'crank.y').value.textContent === '0'")


def test_views_along_the_axes(shown: Shown, robot: Trajectory) -> None:
    page = shown(robot)
    pictures = [checksum(page)]
    for axis in range(3):
        page.run(f"(() => {{ const s = document.getElementById('view'); s.value = '{axis}';"
                 "s.dispatchEvent(new Event('change')); })()")  # fmt: skip
        assert page.run("nonsmooth.camera.toward") == pytest.approx(np.eye(3)[axis], abs=1e-5)
        pictures.append(checksum(page))
    assert len(set(pictures)) == 4
    page.drag(".stage canvas", 40, 0)
    assert page.run("document.getElementById('view').selectedIndex") == -1
    page.click("[data-do=home]")
    assert page.run("document.getElementById('view').value") == "home" and checksum(page) == pictures[0]


def test_the_plane_has_no_views(shown: Shown, crank: Trajectory) -> None:
    assert shown(crank).run("document.getElementById('viewer').hidden")


def test_what_is_drawn_is_chosen(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    pressing = crank.lam_N.array.max(axis=1)
    row = int(pressing.argmax())
    page.run(f"nonsmooth.clock.seek({float(crank.t[row - 1] + crank.t[row]) / 2!r})")
    assert page.run("nonsmooth.stages[0].drawn") >= 1
    pictures = [checksum(page)]
    for button in ("#forces", "#traces", "#names"):
        page.click(button)
        pictures.append(checksum(page))
    assert len(set(pictures)) == 4
    factor = page.run("nonsmooth.options.magnify")
    page.run("(() => { const s = document.getElementById('magnify'); s.value = '0';"
             "s.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert factor > 1 and page.run("nonsmooth.options.magnify") == 1
    assert "drawn to scale" in page.run("document.getElementById('legend').textContent")
    page.click("[data-do=bigger]")
    assert page.run("nonsmooth.camera.zoom") == 1.25
    page.drag(".stage canvas", 40, 0)
    shift = page.run("nonsmooth.camera.middle[0]")
    page.click("[data-do=home]")
    assert page.run("nonsmooth.camera.middle[0]") > shift  # the picture was drawn to the right


def test_dark_light_and_print(shown: Shown, crank: Trajectory) -> None:
    page = shown(crank)
    light = page.run("getComputedStyle(document.body).backgroundColor")
    page.key("d")
    assert page.run("getComputedStyle(document.body).backgroundColor") != light
    pages = page.tell("Page.printToPDF", printBackground=True)
    assert len(pages["data"]) > 10_000
    page.until("document.documentElement.dataset.theme === 'dark'")  # as before
    page.tell("Emulation.setEmulatedMedia", media="print")
    shapes = page.run(
        "[...document.querySelectorAll('.stage canvas, .plot canvas')].map(c => getComputedStyle(c).objectFit)"
    )
    page.tell("Emulation.setEmulatedMedia", media="")
    assert set(shapes) == {"contain"}  # circles remain circles on paper of another width
    clean(page)


def test_a_page_of_many_rows_plays(shown: Shown) -> None:
    """It is painted, and goes from picture to picture; docs/report.md has how fast."""
    run = simulate(slider_crank_translational().build(), GaussQP(), t_end=1.0, dt=Landing(1e-6, 1e-4))
    assert len(run.t) > 10_000
    page = shown(run)
    page.until("performance.getEntriesByName('first-contentful-paint').length")
    page.click("#play")
    page.until("nonsmooth.clock.frames > 5")


def test_between_rows_charts_and_picture_agree(shown: Shown, worlds: dict[str, Trajectory]) -> None:
    """Numbers beside the curves are those of the time, from the coordinates' own velocities."""
    run = worlds["rigid"]
    page = shown(run)
    t = float(run.t[3] + 0.3 * (run.t[4] - run.t[3]))
    page.run(f"nonsmooth.clock.seek({t!r})")
    x = page.run("nonsmooth.stages[0].last.body('slider').p[0]")
    assert x == pytest.approx(run.at(t).q["slider.x"], rel=1e-9)  # a parabola: the cubic is exact
    series = (
        "nonsmooth.charts.charts.filter(c => c.table === 'q').flatMap(c => c.series.map(s => [c, s]))"
        ".filter(([c, s]) => s.name === 'slider.x')"
    )
    page.until(f"{series}.every(([c, s]) => s.value.textContent)")  # charts are filled once they are in sight
    (shown_x,) = page.run(f"{series}.map(([c, s]) => Number(s.value.textContent) * c.factor)")
    assert shown_x == pytest.approx(x, rel=1e-4)  # five digits


def short_run(name: str) -> Trajectory:
    return simulate(find_problems()[name]().build(), MoreauJean(), t_end=0.02, dt=1e-3)


@pytest.mark.parametrize("name", ["crank", "robot", "socket-pendulum", "loose-journal", "double-pendulum-clearance"])
def test_frames_stand_where_figures_have_them(shown: Shown, name: str, request: pytest.FixtureRequest) -> None:
    """Pages place frames by their own script: the same as Python does, whatever the magnification."""
    run = request.getfixturevalue(name) if name in ("crank", "robot") else short_run(name)
    page, row, factor = shown(run), len(run.t) // 2, 7.0
    drawing = drawing_of_run(run, run.t)
    frames = dict.fromkeys([one.frame for one in pieces(drawing)[0]] + [one.frame for one in touches(drawing)])
    assert len({type(one).__name__ for one in frames}) >= 3
    page.run(f"nonsmooth.options.magnify = {factor}; nonsmooth.clock.seek({float(run.t[row])!r})")
    placed = page.run("nonsmooth.stages[0].last.frames.map(({ p, x, y, z }) => [p, x, y, z])")
    d = drawing.dimension
    view = View(factor, drawing.grain / 100, np.array(page.run("nonsmooth.camera.toward"))[:d])
    assert len(placed) == len(frames)
    for one, (origin, *axes) in zip(frames, placed, strict=True):
        place = one.place(drawing.placed, view)
        # coordinates have 2^-31 of their range
        assert np.array(origin)[:d] == pytest.approx(place.origin[row], abs=1e-7 * factor), one
        assert np.array(axes)[:d, :d].T == pytest.approx(place.axes[row], abs=1e-7 * factor), one
