"""`nonsmooth plot` and `export`: what is made of a run that was saved."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import Trajectory
from nonsmooth.cli import main
from nonsmooth.cli.plot import exact_of

RUN = ["run", "slider-rod", "--case", "2", "--dt-min", "1us", "--dt-max", "1ms", "--t-end", "4ms", "--output", "run.nc"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a run."""
    path = tmp_path_factory.mktemp("saved") / "run.nc"
    assert main([*RUN[:-1], str(path), "-q"]) == 0
    return path.read_bytes()


@pytest.fixture(autouse=True)
def folder(saved: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in a folder with the file alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.nc").write_bytes(saved)
    return tmp_path


def test_plot_draws_the_panels_of_the_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "run.nc"]) == 0
    assert capsys.readouterr().out == "run.png shows run.nc.\n"
    assert (folder / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("suffix", "begin"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_any_panels_in_a_journals_width(suffix: str, begin: bytes, folder: Path) -> None:
    words = ["--panel", "slider.y [um]", "--panel", "lam_N:guide", "--width", "single", "--from", "1ms", "--to", "3ms"]
    assert main(["plot", "run.nc", *words, "--output", f"figure.{suffix}"]) == 0
    assert (folder / f"figure.{suffix}").read_bytes().startswith(begin)


def test_measured_data_are_laid_over_and_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """10 m/s^2 along the rod: 20 um after 2 ms, where 21 um were measured."""
    (folder / "data.csv").write_text("t [ms],slider.x [um]\n0,0\n2,21\n", encoding="utf-8")
    assert main(["plot", "run.nc", "--panel", "slider.x", "--measured", "data.csv", "--output", "data.svg"]) == 0
    # 1 um / sqrt(2)
    assert "q:slider.x: root mean square of run minus data 7.071e-07 m" in capsys.readouterr().out
    assert (
        "measured" in (folder / "data.svg").read_text(encoding="utf-8") or (folder / "data.svg").stat().st_size > 5000
    )


def test_list_names_everything_that_can_be_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "run.nc", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(
        word in out for word in ("q:slider.x", "lam_N:guide.left_lower", "energy:kinetic", "orbit:JOINT", "rad/s")
    )
    assert [path.name for path in folder.iterdir()] == ["run.nc"]


def test_export_writes_names_units_and_every_digit(folder: Path) -> None:
    assert main(["export", "run.nc", "--kind", "q", "--kind", "lam_N"]) == 0
    run = Trajectory.load("run.nc")
    with open("run.csv", encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads[:3] == ["t [s]", "q:slider.x [m]", "q:slider.y [m]"] and heads[4] == "lam_N:guide.left_lower [N]"
    values = np.array(rows, float)
    assert (values[:, 1:4] == run.q.array).all() and (values[:, 0] == run.t).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plot", "none.nc"], "none.nc"),
        (["run", "run.nc", "--t-end", "1"], "run.nc is a result, not a mechanism"),
        (["plot", "run.nc", "--panel", "slidr.x"], "Did you mean slider.x"),
        (["plot", "run.nc", "--output", "figure.txt"], "must end in .png, .pdf or .svg"),
        (["plot", "run.nc", "--width", "huge"], "single (90 mm)"),
        (["plot", "run.nc", "--from", "1parsec"], "not a number of seconds, nor a number with a unit of time"),
        (["plot", "run.nc", "--to", "1s"], "within the run"),
        (["plot", "run.nc", "--measured", "none.csv"], "none.csv cannot be read"),
        (["export", "run.nc", "--kind", "w"], "There is no kind 'w'"),
        (["export", "run.nc", "--output", "run.xls"], "must end in .csv"),
    ],
)
def test_what_is_refused(words: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and message in captured.err and captured.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["run.nc"]


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ([], True),  # case 2 of the file's problem has an exact solution
        (["--set", "guide.clearance=2e-5"], False),  # it was derived for the clearance of the problem
    ],
)
def test_the_exact_solution_is_found_again_from_the_file(words: list[str], known: bool) -> None:
    assert main([*RUN, *words, "-q"]) == 0
    run = Trajectory.load("run.nc")
    exact = exact_of(run)
    assert (exact is not None) == known
    if (
        exact is not None
    ):  # the run lands on impacts to round-off, hence follows the exact height to far below a clearance
        found = exact.sample(run.t, "right").q["slider.y"]
        assert np.abs(found - run.q["slider.y"]).max() < 1e-3 * 1e-5


def test_foreign_arguments_in_a_file_find_no_exact_solution() -> None:
    run = Trajectory.load("run.nc")
    for arguments in ({"case": "x"}, {"case": [2]}, {"cases": 2}, {"case": 7}, {"contact": "rigid"}, 3):
        model = {**run.manifest["model"], "arguments": arguments}
        other = replace(run, manifest={**run.manifest, "model": model})
        assert exact_of(other) is None
