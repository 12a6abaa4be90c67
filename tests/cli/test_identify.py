"""`nonsmooth identify`: what is printed, written and refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nonsmooth.cli import main
from nonsmooth.identification import regressor, simulated
from nonsmooth_problems.xy_pointing import DRIVES, published_motion, xy_pointing

BOUNDS = ["--omega", "0.4", "--position", "1.2,1.0", "--velocity", "0.25,0.2", "--acceleration", "1,1"]
QUICK = ["--starts", "1", "--executor", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("option", ["--output", "--example", "--figure"])
def test_files_that_cannot_be_written_are_refused_before_the_search(option, folder, monkeypatch, capsys):
    monkeypatch.setattr("nonsmooth.identification.excite", lambda *_, **__: pytest.fail("it was searched"))
    assert main(["identify", "excite", "xy-pointing", *BOUNDS, *QUICK, option, "found.txt"]) == 2
    assert f"{option} " in capsys.readouterr().err and not list(folder.iterdir())


def test_bounds_have_the_units_of_the_drives(monkeypatch, capsys):
    given = []
    monkeypatch.setattr("nonsmooth.identification.excite", lambda Y, bounds, *_, **__: given.append(bounds) or 1 / 0)
    words = ["identify", "excite", "xy-pointing", "--omega", "0.4", "--acceleration", "1,1"]
    with pytest.raises(ZeroDivisionError):
        main([*words, "--position", "45deg,1.0", "--velocity", "0.25,30 deg/s"])
    assert given[0].position == pytest.approx((np.pi / 4, 1.0), rel=1e-15)
    assert given[0].velocity == pytest.approx((0.25, np.pi / 6), rel=1e-15)
    for position, sentence in (("45deg", "give one number per drive, for motor1, motor2"), ("1,2m", "than rad")):
        assert main([*words, "--position", position, "--velocity", "1,1"]) == 2
        assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_cutoff_filters_the_measurement(capsys):
    simulated(regressor(xy_pointing().build(), DRIVES), published_motion(), noise=0.01).to_csv("data.csv")
    assert main(["identify", "estimate", "xy-pointing", "--data", "data.csv", "--cutoff", "1e6"]) == 2
    assert "cutoff must be between 0 and" in capsys.readouterr().err


@pytest.mark.slow
def test_excite(folder, capsys):
    files = ["--output", "motion.csv", "--figure", "motion.png", "--example", "measured.csv"]
    assert main(["identify", "excite", "xy-pointing", *BOUNDS, *QUICK, *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["condition"] < 400 and found["base"]["rank"] == 10 and "link2.Ixx*" in found["hopeless"]
    table = np.genfromtxt(folder / "motion.csv", delimiter=",", names=True)
    assert len(table) == 400 and np.max(np.abs(table["motor1v"])) <= 0.25
    assert (folder / "motion.png").stat().st_size > 10_000
    assert main(["identify", "estimate", "xy-pointing", "--data", "measured.csv", "--report", "page.html"]) == 0
    shown, page = capsys.readouterr().out, (folder / "page.html").read_text(encoding="utf-8")
    assert "link1.mx + 0.1 link2.m" in shown and "written  page.html" in shown
    assert 'alt="figure of xy-pointing: identification"' in page


@pytest.mark.slow
def test_estimate(folder, capsys):
    Y = regressor(xy_pointing().build(), DRIVES)
    simulated(Y, published_motion(), noise=0.01).to_csv("data.csv")
    words = ["identify", "estimate", "xy-pointing", "--data", "data.csv"]
    assert main([*words, "--joint", "joint1=motor1", "--slowest", "0.1", "--figure", "one.png", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]
    assert found["link2.mx"]["value"] == pytest.approx(0.02939, rel=5e-3)
    low, high = found["joint1.mu_R"]["interval"]
    assert low < 0.0 < high  # the joints of these data have no friction
    for change, sentence in (
        (["--joint", "joint1"], "--joint joint1: write JOINT=DRIVE"),
        (["--method", "guess"], "method must be one of"),
        (["--drive", "elbow"], '"elbow" is no drive'),
        (["--set", "link1.mass=1"], "takes arguments of the problem, not parameters"),
    ):
        assert main([*words, *change]) == 2
        assert sentence in " ".join(capsys.readouterr().err.split())
    assert main([*words[:-1], "none.csv"]) == 2


@pytest.mark.slow
def test_fit(folder, capsys):
    run = ["run", "bouncing-ball", "--dt-min", "1e-6", "--dt-max", "2e-3", "--t-end", "0.8", "--output", "ball.nc"]
    assert main(run) == 0 and main(["export", "ball.nc", "--output", "ball.csv"]) == 0
    words = ["identify", "fit", "bouncing-ball", "--data", "ball.csv", "--dt-min", "1e-6", "--dt-max", "2e-3"]
    known = ["--noise", "ball.y=1e-4", "--parameter", "floor.restitution=0.2:0.99"]
    capsys.readouterr()
    assert main([*words, *known, "--starts", "8", "--resume", "fit.json", "--figure", "fit.png", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]["floor.restitution"]
    assert found["value"] == pytest.approx(0.9, rel=1e-4) and found["known"]
    assert (folder / "fit.json").exists() and (folder / "fit.png").exists()
    table = np.loadtxt("ball.csv", delimiter=",", skiprows=1)
    height = (folder / "ball.csv").read_text().partition("\n")[0].split(",").index("q:ball.y [m]")
    units = np.column_stack([1e3 * table[:, 0], 1e3 * table[:, height]])
    np.savetxt("units.csv", units, delimiter=",", header="t [ms],ball.y [mm]", comments="")
    again = ["--noise", "ball.y=0.1 mm", *known[2:], "--starts", "8", "--json"]
    assert main([*words[:4], "units.csv", *words[5:], *again]) == 0
    scaled = json.loads(capsys.readouterr().out)["parameters"]["floor.restitution"]
    assert scaled["value"] == pytest.approx(found["value"], rel=1e-6)


def test_words_of_a_fit_that_cannot_be_used(folder, capsys):
    (folder / "ball.csv").write_text(
        "t [s],ball.y [m]\n" + "".join(f"{k / 50},{0.5 - 1e-4 * k * k}\n" for k in range(30))
    )
    words = ["identify", "fit", "bouncing-ball", "--data", "ball.csv", "--dt-min", "1e-6", "--dt-max", "2e-3"]
    noise, parameter = ["--noise", "ball.y=1e-4"], ["--parameter", "floor.restitution=0.2:0.99"]
    for change, sentence in (
        ([*noise, "--parameter", "floor.restitution=0.2"], "floor.restitution=0.2: write NAME=LOW:HIGH"),
        ([*noise, "--parameter", "floor.restitutoin=0.2:0.99"], 'Unknown parameter "floor.restitutoin"'),
        (["--noise", "ball.z=1", *parameter], '"ball.z" is no column of the mechanism'),
        (["--noise", "ball.y=1 s", *parameter], "is of another dimension than m"),
        (["--noise", "ball.y", *parameter], "--noise ball.y: write COLUMN=SIGMA"),
    ):
        assert main([*words, *change]) == 2
        assert sentence in " ".join(capsys.readouterr().err.split())
