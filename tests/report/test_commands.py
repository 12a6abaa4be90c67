"""`nonsmooth report`, and `--report` of commands that run."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nonsmooth import Model, SimulationFailed, simulate, write_model
from nonsmooth.cli import main
from nonsmooth.exceptions import NotWritten

ROD = ["run", "slider-rod", "--case", "2", "--stepper", "gauss-qp", "--dt-min", "1e-6", "--dt-max", "1e-3"]
SHORT = [*ROD, "--t-end", "0.003"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def labels(path: Path) -> list[str]:
    """Of the runs of a page."""
    found = re.search(r'id="facts">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)
    assert found is not None
    return [run["label"] for run in json.loads(found[1])["runs"]]


def test_a_run_and_its_file_give_the_same_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--output", "run.nc", "--report", "at-once.html"]) == 0
    assert "at-once.html" in capsys.readouterr().out
    assert main(["report", "run.nc"]) == 0
    assert capsys.readouterr().out.startswith("run.html (0.1")
    assert (folder / "run.html").read_bytes() == (folder / "at-once.html").read_bytes()


def test_several_files(folder: Path) -> None:
    (folder / "other").mkdir()
    for name in ("a.nc", "b.nc", "other/b.nc"):
        assert main([*SHORT, "--output", name]) == 0
    assert (
        main(["report", "a.nc", "b.nc", "other/b.nc", "--output", "all.html", "--title", "three", "--rows", "50"]) == 0
    )
    assert labels(folder / "all.html") == ["a", "b.nc", "other/b.nc"]
    assert "<title>three</title>" in (folder / "all.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["report", "run.nc", "run.nc"], "run.nc is given twice"),
        (["report", "run.nc", "--output", "run.txt"], "the name must end in .html"),
        (["report", "none.nc"], "There is no file none.nc"),
        (["report", "run.nc", "--rows", "0"], "rows must be an integer >= 1"),
        ([*SHORT, "--report", "nowhere/run.html"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main([*SHORT, "--output", "run.nc"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
    assert not list(folder.glob("*.html"))


def test_a_run_that_fails_leaves_its_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = simulate

    def failing(*given: Any, **options: Any) -> Any:
        run = dataclasses.replace(real(*given, **options), status="failed: no answer")
        raise SimulationFailed("Step 3 failed.", trajectory=run, cause=ValueError("no answer"))

    monkeypatch.setattr("nonsmooth.cli.run.simulate", failing)
    assert main([*SHORT, "--report", "run.html"]) == 1
    assert '<span class="badge bad"><bdi>failed</bdi></span>' in (folder / "run.html").read_text(encoding="utf-8")


def test_names_of_a_toml_file_stay_text(folder: Path, hostile_model: Model) -> None:
    write_model(hostile_model, folder / "mechanism.toml")
    words = [
        "run",
        "mechanism.toml",
        "--stepper",
        "gauss-qp",
        "--dt-min",
        "1e-6",
        "--dt-max",
        "1e-3",
        "--t-end",
        "0.01",
    ]
    assert main([*words, "--output", "run.nc", "--report", "run.html"]) == 0
    text = (folder / "run.html").read_text(encoding="utf-8")
    assert "<script>window" not in text and "<img src=x" not in text and "&lt;script&gt;window" in text


def test_a_toml_file_states_its_page(folder: Path) -> None:
    assert main(["new", "mechanism.toml"]) == 0
    text = Path("mechanism.toml").read_text(encoding="utf-8")
    assert text.count("[run]") == 1
    Path("mechanism.toml").write_text(text.replace("[run]", '[run]\nreport = "own.html"'), encoding="utf-8")
    assert main(["run", "mechanism.toml", "--t-end", "0.01"]) == 0
    assert labels(folder / "own.html") == [""]


def test_a_comparison_has_its_runs_its_table_and_its_figure(folder: Path) -> None:
    words = ["compare", "slider-rod", "--t-end", "0.003", "--stiffness", "1e12", "--target", "0"]
    assert main([*words, "--report", "compare.html"]) == 0
    text = (folder / "compare.html").read_text(encoding="utf-8")
    assert labels(folder / "compare.html") == ["rigid, event-driven", "rigid, landing", "compliant, K = 1e12"]
    assert "distance to the reference [-]" in text and "data:image/svg+xml;base64," in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "rigid-limit slider-rod --t-end 0.003 --stiffness 1e10 --stiffness 1e11",
        "step-size slider-rod --case 2 --t-end 0.003 --stepper gauss-qp --levels 3 --jitter 1 --executor 1",
        "sweep slider-rod --case 2 --t-end 0.004 --dt 1e-4 --metric peak-impulse --grid guide.clearance=5e-6:2e-5:3 "
        "--executor 1",
        "tolerance slider-rod --case 2 --t-end 0.004 --dt 1e-4 --metric amplitude:slider.angle --limit 3e-5 "
        "--clearance guide.clearance=5e-6:1.5e-5 --runs 60 --factors 0.5:1:2 --executor 1",
        "bifurcation slider-crank-revolute --over crank_speed=2:6:2 --of slider.x --drive crank_speed --steps 400 "
        "--transient 2 --points 2 --set gravity=9.81 --executor 1",
    ],
    ids=lambda words: words.split()[0],
)
def test_a_study_has_its_table_and_its_figure(folder: Path, words: str) -> None:
    assert main(["study", *words.split(), "--report", "study.html"]) == 0
    text = (folder / "study.html").read_text(encoding="utf-8")
    assert "<table>" in text and "data:image/svg+xml;base64," in text and "<script" not in text


def test_a_page_that_cannot_be_written_costs_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*given: Any) -> None:
        raise NotWritten("The report cannot be written to run.html (No space left on device).")

    monkeypatch.setattr(importlib.import_module("nonsmooth.report.page"), "write_bytes", full)
    assert main([*SHORT, "--output", "run.nc", "--report", "run.html"]) == 1
    captured = capsys.readouterr()
    assert "No space left on device" in captured.err and "run.nc" in captured.out
    assert [path.name for path in folder.iterdir()] == ["run.nc"]
