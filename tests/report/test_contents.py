"""What stands in a page: the run's numbers, unpacked again; all impacts; no address; no name as markup."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth.report
from nonsmooth import ErrorControl, EventDriven, GaussQP, InputError, Rigid, Trajectory, simulate
from nonsmooth.plots.orbits import journal_paths
from nonsmooth.report import Picture, Table, frame, page, study_page, write
from nonsmooth.report.page import SCRIPTS
from nonsmooth.report.run_data import kept_rows, reading_error
from nonsmooth.trajectory import Columns, Verdict
from nonsmooth_problems import slider_crank_revolute, slider_rod

ASSETS = Path(nonsmooth.report.__file__).parent / "assets"
KINDS = {"f4": "<f4", "f8": "<f8", "u4": "<u4", "u1": "u1", "i4": "<u4", "i2": "<u2"}


def element(text: str, name: str) -> str:
    """Content of the script element with this id."""
    found = re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', text, re.S)
    assert found is not None
    return found[1]


def facts_of(text: str, run: int = 0) -> dict[str, Any]:
    return dict(json.loads(element(text, "facts"))["runs"][run])


def unpacked(text: str, run: int = 0) -> dict[str, np.ndarray]:
    """Tables (columns, rows) of a page, as its script unpacks them."""
    raw = zlib.decompress(base64.b64decode(element(text, f"numbers-{run}")))
    tables = {}
    for name, entry in facts_of(text, run)["index"].items():
        count, n = entry["shape"]
        dtype = np.dtype(KINDS[entry["kind"]])
        planes = np.frombuffer(raw, "u1", count * n * dtype.itemsize, entry["at"]).reshape(count, dtype.itemsize, n)
        numbers = np.ascontiguousarray(planes.transpose(0, 2, 1)).view(dtype)[..., 0]
        if entry["kind"] == "i4":
            numbers = np.cumsum(np.cumsum(numbers, axis=1, dtype=np.uint32), axis=1, dtype=np.uint32)
        if entry["kind"] in ("i4", "i2"):
            numbers = np.array(entry["low"])[:, None] + numbers * np.array(entry["step"])[:, None]
        tables[name] = numbers
    return tables


def test_numbers_come_back(crank: Trajectory) -> None:
    tables = unpacked(page(crank))
    assert np.array_equal(tables["t"][0], crank.t)
    span = np.ptp(crank.q.array, axis=0)
    assert np.all(np.abs(tables["q"].T - crank.q.array) <= span * 2.4e-10)  # half a step of 2^-31, and round-off
    for name in ("v", "gap", "lam_N", "energy"):  # 16 bits of significand, cut
        given = getattr(crank, name).array
        assert np.all(np.abs(tables[name].T - given) <= 2.0**-15 * np.abs(given))
    assert np.array_equal(tables["impact_t"][0], crank.impacts["t"])
    names = np.array(crank.gap.names)
    assert list(names[tables["impact_gap"][0]]) == list(crank.impacts["contact"])


@pytest.mark.exact("has round-off to leave out")
def test_round_off_of_impacts_is_not_shown() -> None:
    """After plastic impacts contacts separate at no speed, but for 1e-15 m/s."""
    plastic = slider_crank_revolute(contact=Rigid(restitution=0.0, friction=0.0)).build()
    run = simulate(plastic, EventDriven(), t_end=0.02, dt=ErrorControl(1e-6))
    after = unpacked(page(run))["impacts"][3]
    assert 0.0 < np.max(np.abs(run.impacts["gamma_plus"])) < 1e-12
    assert len(after) == len(run.impacts) and np.all(after == 0.0)


def test_orbits_are_those_of_figures() -> None:
    """The page has the path that `plots.orbit` draws, to a 65534th of its extent, with its contacts."""
    plastic = Rigid(restitution=0.0, friction=0.0)
    control = ErrorControl(rtol=1e-8, atol=1e-9, dt_min=1e-6, dt_max=1e-4)
    run = simulate(slider_crank_revolute(contact=plastic).build(), EventDriven(), t_end=1.5e-3, dt=control)
    text = page(run)
    tables, (shown,), (path,) = unpacked(text), facts_of(text)["orbits"], journal_paths(run)
    assert shown == {"name": "pin", "gap": "pin", "axes": ["x", "y"], "clearance": path.clearance}
    assert np.allclose(tables["orbit_t_0"][0], path.t, rtol=0, atol=1e-12)
    assert np.allclose(tables["orbit_0"].T, path.e, rtol=0, atol=np.ptp(path.e) / 65534)
    assert np.array_equal(tables["orbit_pressing_0"][0], path.pressing) and 0 < path.pressing.mean() < 1
    few = unpacked(page(run, rows=50))  # fewer points, with the same contacts
    kept = np.searchsorted(path.t, few["orbit_t_0"][0] - 1e-12)
    assert len(kept) < 400 < len(path.t)
    assert np.array_equal(path.pressing[kept[:-1]], few["orbit_pressing_0"][0])
    assert np.isclose(np.sum(np.diff(path.t) * path.pressing), np.sum(np.diff(path.t[kept]) * path.pressing[kept[:-1]]))


def test_left_limits_stand_at_the_jumps(crank: Trajectory) -> None:
    tables = unpacked(page(crank))
    rows = tables["jump_row"][0].astype(int)
    assert np.array_equal(rows, np.flatnonzero(np.any(crank.left.v.array != crank.v.array, axis=1)))
    assert np.allclose(tables["jump_v"].T, crank.left.v.array[rows], rtol=2.0**-15, atol=0)
    # no driver works here, so that kinetic energy jumps by what is lost at impacts
    kinetic, loss = (crank.energy.names.index(name) for name in ("kinetic", "loss_impacts"))
    lost = np.diff(crank.energy["loss_impacts"], prepend=0.0)[rows]
    assert np.allclose(tables["jump_energy"][kinetic], crank.energy["kinetic"][rows] + lost, rtol=2.0**-14)
    assert np.allclose(tables["jump_energy"][loss], crank.energy["loss_impacts"][rows] - lost, rtol=2.0**-14, atol=1e-9)


def test_fewer_rows_keep_impacts_and_extremes(crank: Trajectory) -> None:
    text = page(crank, rows=400)
    tables, facts = unpacked(text), facts_of(text)
    assert facts["rows"] == len(crank.t) > facts["shown"]
    assert set(np.unique(crank.impacts["t"])) <= set(tables["t"][0])
    assert len(tables["impact_t"][0]) == len(crank.impacts)
    jumps = np.flatnonzero(np.any(crank.left.v.array != crank.v.array, axis=1))
    assert set(crank.t[jumps]) <= set(tables["t"][0])
    between = [np.interp(crank.t, tables["t"][0], column) for column in tables["q"]]
    span = np.ptp(crank.q.array, axis=0)
    worst = np.max(np.abs(np.array(between).T - crank.q.array)[:, span > 0] / span[span > 0])
    assert worst <= facts["error"] + 1e-9  # as the page says it, up to packing


def test_rows_that_are_kept() -> None:
    t = np.linspace(0.0, 1.0, 5001)
    column = np.sin(60 * t)[:, None] + 5.0 * (np.arange(5001) == 1234)[:, None]
    marked = np.array([2000, 2001, 3500])
    kept = kept_rows(t, column, marked, 500)
    assert len(kept) <= 500 and {0, 5000, 1234, *(marked + 1), *(marked - 1)} <= set(kept.tolist())
    # 500 rows for 9.5 periods of a sine: chords of 52 rows a period are off by (2 pi / 52)^2 / 8 of the amplitude,
    # where extremes take rows from the even fill by some more; the spike is 1 of the 7 that are its range
    smooth = np.delete(column, 1234, axis=0)
    assert reading_error(np.delete(t, 1234), smooth, kept_rows(np.delete(t, 1234), smooth, marked, 500)) < 5e-3
    assert np.array_equal(kept_rows(t, column, marked, 5001), np.arange(5001))


@pytest.mark.slow
def test_a_page_of_many_rows_stays_small() -> None:
    from nonsmooth import MoreauJean
    from nonsmooth_problems import chain

    run = simulate(chain(n=20, speed=3.0).build(), MoreauJean(), t_end=1.0, dt=1e-4)
    text = page(run)
    assert len(run.t) > 10_000 and len(text) < 5_000_000
    assert len(unpacked(text)["impact_t"][0]) == len(run.impacts)


def test_the_mechanism_is_there(crank: Trajectory, robot: Trajectory) -> None:
    plane, space = (facts_of(page(run))["scene"] for run in (crank, robot))
    assert [body["name"] for body in plane["bodies"]] == ["crank", "rod", "slider"]
    assert {"line", "faces", "mark"} <= {one["shape"] for one in plane["pieces"]}
    assert {"At", "Face", "Block"} <= {one["kind"] for one in plane["frames"]}
    assert len(plane["fields"]) == 1 and plane["fields"][0] == pytest.approx([0.0, -9.81, 0.0], rel=1e-14, abs=0.0)
    assert plane["dimension"] == 2 and space["dimension"] == 3
    assert {"qw", "qx", "qy", "qz"} <= set(space["bodies"][0]["columns"])


def test_contacts_in_space_bring_forces_and_places(robot: Trajectory) -> None:
    text = page(robot)
    tables, scene = unpacked(text), facts_of(text)["scene"]
    forces = robot.contact_force.array.reshape(len(robot.t), -1)
    # 16 bits of the range
    assert np.all(np.abs(tables["force"].T - forces) <= 1e-5 * np.ptp(forces, axis=0) + 1e-5 * np.abs(forces).max())
    (contact,) = scene["contacts"]
    assert contact["gaps"] == list(range(len(robot.gap.names)))
    # corners of the slider, a cube from -1 to 1 in its frame however large its clearance is drawn, or near them
    assert scene["frames"][contact["frame"]]["kind"] == "Block"
    assert tables["touch_0"].shape == (3 * len(robot.gap.names), len(robot.t))
    assert np.allclose(np.abs(tables["touch_0"]), 1.0, atol=5e-3)


def test_same_run_same_text(crank: Trajectory) -> None:
    assert page(crank) == page(crank)


def test_nothing_of_another_place(crank: Trajectory) -> None:
    text = page(crank)
    assert set(re.findall(r"https?://[^/\"'\s<)]+", text)) <= {"https://doi.org"}
    assert not re.search(r"\b(src|href|action)=(?!\"https://doi\.org/)", text.split("<script", 1)[0])
    assert "@import" not in text and "url(" not in text


def test_policy_knows_the_script_and_no_other(crank: Trajectory) -> None:
    text = page(crank)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None and "default-src 'none'" in policy[1] and "unsafe" not in policy[1]
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"script-src ((?:'sha256-[^']+' ?)+)", policy[1])[0].split() == [f"'sha256-{x}'" for x in digests]


def test_names_are_never_markup(hostile: Trajectory) -> None:
    text = page(hostile)
    without = re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.S)
    assert "<img src=x" not in text and "<script>window" not in text
    assert html.escape(hostile.q.names[0].partition(".")[0]) in without
    assert facts_of(text)["names"]["q"] == list(hostile.q.names)  # escaped in the JSON, the same when read
    assert "<" not in element(text, "facts")


def test_foreign_addresses_of_a_source_stay_text(crank: Trajectory) -> None:
    manifest = dict(crank.manifest)
    manifest["model"] = {
        **manifest["model"],
        "source": 'see <a href="https://example.org">this</a> javascript:alert(1)',
    }
    text = page(dataclasses.replace(crank, manifest=manifest))
    assert 'href="https://example.org' not in text and 'href="javascript' not in text


@pytest.mark.parametrize(
    ("kind", "look"), [("accurate", "good"), ("sensitive", "open"), ("not checked", "open"), ("not accurate", "bad")]
)
def test_the_verdict_stands_on_top(crank: Trajectory, kind: str, look: str) -> None:
    said = Verdict(kind, "a <sentence> of it", position=3e-4, horizon=0.36, signs=("energy is missing",))
    text = page(dataclasses.replace(crank, verdict=said))
    assert f'<span class="badge {look}"><bdi>{kind}</bdi></span>' in text
    top = text.index('<div id="verdicts">')
    assert top < text.index("a &lt;sentence&gt; of it") < text.index("<main>")
    for shown in ('<td class="number">0.0003</td>', '<td class="number">0.36</td>', "energy is missing"):
        assert shown in text


def test_a_run_that_failed_says_why(crank: Trajectory) -> None:
    failed = dataclasses.replace(crank, status="failed: step 7 at t = 0.1 s <found> no answer")
    text = page(failed)
    assert '<span class="badge bad"><bdi>failed</bdi></span>' in text
    assert 'step 7 at t = <span class="number">0.1 s</span> &lt;found&gt; no answer' in text


def test_rows_that_are_not_numbers_are_left_out_and_counted(crank: Trajectory) -> None:
    q = crank.q.array.copy()
    q[-3:] = np.nan
    broken = dataclasses.replace(crank, q=Columns("coordinate", crank.q.names, q, crank.q.unit_list))
    text = page(broken)
    assert facts_of(text)["unusable"] == 3
    assert np.array_equal(unpacked(text)["t"][0], crank.t[:-3])


def test_a_run_without_a_step_has_a_page() -> None:
    run = simulate(slider_rod(1).build(), GaussQP(), t_end=2e-3, dt=1e-3)
    short = {}
    for field in dataclasses.fields(run):
        value = getattr(run, field.name)
        if hasattr(value, "unit_list"):
            short[field.name] = type(value)(value.what, value.names, value.array[:1], value.unit_list)
    left = type(run.left)(
        *(type(c)(c.what, c.names, c.array[:1], c.unit_list) for c in (run.left.v, run.left.gap_rate))
    )
    none = dataclasses.replace(run, t=run.t[:1], left=left, impacts=run.impacts[:0], **short)
    assert facts_of(page(none))["shown"] == 1


def test_what_cannot_be_drawn_is_said(crank: Trajectory) -> None:
    manifest = dict(crank.manifest)
    elements = [{**one, "kind": "Gizmo"} if one["name"] == "guide" else one for one in manifest["model"]["elements"]]
    manifest["model"] = {**manifest["model"], "elements": elements}
    facts = facts_of(page(dataclasses.replace(crank, manifest=manifest)))
    assert facts["scene"] is None and "Gizmo" in facts["fault"]
    nothing = facts_of(page(dataclasses.replace(crank, manifest={**manifest, "model": {}, "parameters": {}})))
    assert nothing["scene"] is None and "cannot be drawn" in nothing["fault"]


def test_several_runs(worlds: dict[str, Trajectory]) -> None:
    text = page(worlds, title="two worlds", more=["A line.", Table(("a", "b"), (("x", 1.5),)), Picture("<svg/>")])
    assert [facts_of(text, k)["label"] for k in (0, 1)] == ["rigid", "compliant"]
    assert '<td class="number">1.5</td>' in text and "data:image/svg+xml;base64," in text
    assert "<h1><bdi>two worlds</bdi></h1>" in text
    study = study_page("no runs", [Table(("<b>",), (("<i>",),))])
    assert "&lt;b&gt;" in study and "&lt;i&gt;" in study and "<script" not in study


def test_a_notebook_has_a_light_page_in_a_frame(crank: Trajectory) -> None:
    shown = crank._repr_html_()
    assert shown == frame(crank) and shown.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert "<script" not in shown and len(shown) < 400_000
    inside = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])  # type: ignore[index]
    assert json.loads(element(inside, "facts"))["light"] is True
    assert facts_of(inside)["shown"] < len(crank.t) or len(crank.t) <= 1500


def test_files(crank: Trajectory, tmp_path: Path) -> None:
    write(crank, tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page(crank)
    assert [path.name for path in tmp_path.iterdir()] == ["run.html"]
    crank.report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "run.html").read_bytes()
    with pytest.raises(InputError, match="a file .html, got 'run.txt'"):
        crank.report(tmp_path / "run.txt")
    with pytest.raises(InputError, match="writable folder"):
        crank.report(tmp_path / "nowhere" / "run.html")
    with pytest.raises(InputError, match="rows must be an integer >= 1"):
        page(crank, rows=0)
    with pytest.raises(InputError, match="at least one run"):
        page({})


def test_a_file_gives_the_same_page(crank: Trajectory, tmp_path: Path) -> None:
    crank.save(tmp_path / "run.nc")
    assert page(Trajectory.load(tmp_path / "run.nc")) == page(crank)


def test_the_files_of_pages_are_installed() -> None:
    here = Path(__file__).resolve().parents[2] / "nonsmooth" / "report" / "assets"
    texts = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in (here, ASSETS)]
    assert texts[0] == texts[1] and {"page.html", "page.css"} <= set(texts[0])


def test_scripts_share_no_name() -> None:
    """They stand in one function: the second declaration of a name would replace the first."""
    assert sorted(path.name for path in ASSETS.glob("*.js")) == sorted(SCRIPTS)  # each of them is in the page
    pattern = re.compile(r"^(?:async )?(?:function|class|const|let) ([A-Za-z_$][\w$]*)", re.M)
    names = [name for path in ASSETS.glob("*.js") for name in pattern.findall(path.read_text(encoding="utf-8"))]
    assert len(names) > 80 and sorted(names) == sorted(set(names))


def test_scripts_never_write_markup() -> None:
    for path in ASSETS.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path
        )
        assert len(text.splitlines()) < 400 and max(map(len, text.splitlines())) <= 120, path
