"""`nonsmooth study bifurcation`: equal to the study in Python, by each kind of section, and what it refuses."""

from __future__ import annotations

import json
from math import pi

import numpy as np
import pytest
import xarray

from nonsmooth import ErrorControl, EventDriven, MoreauJean, simulate
from nonsmooth.cli import main
from nonsmooth.diagnostics import poincare
from nonsmooth.exceptions import InputError
from nonsmooth.studies import Crossings, LongRun, PerPeriod, bifurcation, periodic_section
from nonsmooth_problems import pendulum_with_stop, slider_crank_revolute

CRANK = "study bifurcation slider-crank-revolute --of slider.x --set gravity=9.81 --executor 1".split()
PERIODS = ["--drive", "crank_speed", "--steps", "400", "--transient", "3", "--points", "4"]
SPEEDS = ["--over", "crank_speed=2:6:3"]
PENDULUM = ["study", "bifurcation", "pendulum-with-stop", "--of", "v:rod.angle", "--executor", "1"]
EVENTS = ["--stepper", "event-driven", "--rtol", "1e-8", "--atol", "1e-10", "--dt-min", "1e-6", "--dt-max", "1e-2"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_argument_by_turns_of_the_drive(folder, capsys):
    assert main([*CRANK, *SPEEDS, *PERIODS, "--figure", "found.png", "--output", "found.nc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["values"] == [2.0, 4.0, 6.0] and found["unit"] == "rad/s" and found["quantity_unit"] == "m"
    for speed, points in zip(found["values"], found["points"], strict=True):
        system = slider_crank_revolute(crank_speed=speed, gravity=9.81).build()
        stepper = MoreauJean(projection="combined")
        section = periodic_section(system, stepper, period=2 * pi / speed, steps=400, transient=3, points=4)
        assert points == section.q["slider.x"].tolist()
    assert sorted(path.name for path in folder.iterdir()) == ["found.nc", "found.png"]
    with xarray.load_dataset("found.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["points"].values, found["points"])
    assert main([*CRANK, *SPEEDS, *PERIODS]) == 0
    shown = capsys.readouterr().out
    assert "slider.x over crank_speed, 3 values, 12 points" in shown and "crank_speed [rad/s]" in shown


@pytest.mark.slow
@pytest.mark.exact("compares bits of systems that other processes build")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_parameter_that_is_out_of_range_for_some(workers, capsys):
    words = [*CRANK[:-1], workers, "--over", "pin.clearance=-1e-4,2e-4,4e-4", "--set", "crank_speed=5", *PERIODS]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(points) for points in found["points"]] == [0, 4, 4]
    assert "clearance must be a positive number" in found["failures"]["-0.0001"]
    system = slider_crank_revolute(crank_speed=5.0, gravity=9.81).build()
    section = periodic_section(
        system, MoreauJean(projection="combined"), period=2 * pi / 5, steps=400, transient=3, points=4,
        parameters={"pin.clearance": 4e-4},
    )  # fmt: skip
    assert found["points"][2] == section.q["slider.x"].tolist()


def test_nothing_is_left_when_every_value_fails(folder, capsys):
    words = [*CRANK, "--over", "pin.clearance=-1e-4,-2e-4", "--set", "crank_speed=5", *PERIODS]
    assert main([*words, "--figure", "found.png"]) == 1
    assert "2 of 2 runs failed, the first at -0.0001" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_crossings(capsys):
    words = [*PENDULUM, "--over", "stop.restitution=0.3,0.6", *EVENTS, "--t-end", "2", "--after", "0.1"]
    assert main([*words, "--crossing", "gap:stop=1e-3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    control = ErrorControl(1e-8, 1e-10, 1e-6, 1e-2)
    for value, points in zip(found["values"], found["points"], strict=True):
        run = simulate(
            pendulum_with_stop().build(), EventDriven(), t_end=2.0, dt=control, parameters={"stop.restitution": value}
        )
        section = poincare(run, "stop", 1e-3, kind="gap", direction="rising", after=0.1)
        assert len(points) >= 1 and points == section.v["rod.angle"].tolist()
    assert found["quantity"] == "velocity of rod.angle" and found["quantity_unit"] == "rad/s"


def test_steps_that_miss_the_period_are_interpolated():
    """Points between steps of an event-driven run lie where constant steps of another scheme have rows."""
    run = {"arguments": {"gravity": 9.81, "crank_speed": 5.0, "ideal": True}}
    control = ErrorControl(1e-9, 1e-11, 1e-6, 7e-3)
    found = LongRun(
        slider_crank_revolute, "slider.mass", "slider.x", EventDriven(), PerPeriod(2 * pi / 5, control, 1, 3), **run
    )
    np.testing.assert_allclose(found(0.14), 0.17, atol=1e-8)


def test_a_toml_file_states_its_scheme(folder, capsys):
    assert main(["new", "mechanism.toml"]) == 0
    path = folder / "mechanism.toml"
    steps = 'stepper = "gauss-qp"\ndt_min = "1 us"\ndt_max = "1 ms"\n'
    path.write_text(f"{path.read_text(encoding='utf-8')}{steps}", encoding="utf-8")
    words = ["study", "bifurcation", "mechanism.toml", "--over", "pin.clearance=1e-4,2e-4", "--of", "rod.angle"]
    assert main([*words, "--crossing", "v:rod.angle=0", "--direction", "both", "--after", "0", "--executor", "1"]) == 0
    assert "rod.angle over pin.clearance, 2 values" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*SPEEDS], "A section takes one of --period, --drive and --crossing, got none"),
        ([*SPEEDS, "--period", "1", "--drive", "crank_speed"], "got --period and --drive"),
        ([*SPEEDS, "--drive", "crank_speed", "--dt", "1e-3"], "give --steps"),
        ([*SPEEDS, "--drive", "crank_speed"], "no step was given"),
        ([*SPEEDS, *PERIODS, "--dt-max", "1e-3"], "--steps per period excludes other steps"),
        ([*SPEEDS, *PERIODS, "--t-end", "1"], "are for --crossing"),
        ([*SPEEDS, "--crossing", "slider.x=0.17", "--dt", "1e-3"], "--crossing needs --t-end, and --after"),
        ([*SPEEDS, "--crossing", "slider.x=0.17", "--steps", "9"], "--steps is per period"),
        ([*SPEEDS, "--crossing", "slider.x", "--dt", "1e-3", "--t-end", "1", "--after", "0"], "write NAME=VALUES"),
        ([*SPEEDS, *PERIODS[2:], "--drive", "crank"], 'The drive\'s speed "crank" is no parameter or argument'),
        (["--over", "crank_speed=0,1", *PERIODS], "0 rad/s, which has no period"),
        (["--over", "crank_sped=1,2", *PERIODS], "crank_sped"),
        (["--over", "pin.clearence=1,2", *PERIODS], "pin.clearence"),
        ([*SPEEDS, *PERIODS, "--set", "crank_speed=3"], "crank_speed is given by --over and by --set"),
        ([*SPEEDS, *PERIODS, "--of", "slider.z"], 'There is no quantity "slider.z": write a coordinate'),
        ([*SPEEDS, *PERIODS, "--figure", "found.gif"], "--figure found.gif: the name must end in"),
    ],
)
def test_what_cannot_be_used_is_said_before_the_first_run(words, message, folder, capsys):
    crank = [one for one in CRANK if one not in ("--of", "slider.x")] if "--of" in words else CRANK
    assert main([*crank, *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert list(folder.iterdir()) == []


def test_sections_are_checked():
    for make, message in (
        (lambda: PerPeriod(-1.0, 10, 0, 1), "period must be a positive number"),
        (lambda: PerPeriod("speed", 0, 0, 1), "steps must be at least 1"),
        (lambda: PerPeriod("speed", 10, -1, 1), "transient 0, got 1, -1"),
        (lambda: Crossings("x", 0.0, 1.0, 0.1, 2.0), "after must lie between 0 and the end"),
        (lambda: Crossings("x", 0.0, 1.0, 0.1, 0.0, direction="up"), "direction must be one of rising"),
    ):
        with pytest.raises(InputError, match=message):
            make()


@pytest.mark.slow
def test_slow_and_fast_slider_cranks():
    """The bifurcation diagram of the slider-crank with a loose pin: 1e5 steps per speed on the cores that there are.

    Slow cranks have periodic motions, fast ones wander over half the clearance.
    """
    section = PerPeriod("crank_speed", steps=1000, transient=84, points=16)
    run = LongRun(
        slider_crank_revolute, "crank_speed", "slider.x", MoreauJean(projection="combined"), section,
        arguments={"gravity": 9.81},
    )  # fmt: skip
    speeds = np.concatenate([[2.0, 2.8], np.linspace(17.1, 22.0, 6)])
    found = bifurcation(run, speeds, **run.labels(2.0))
    assert not found.failures and [len(points) for points in found.points] == [16] * len(speeds)
    slow, fast = (np.array(found.points)[where] - 0.17 for where in (speeds < 3.0, speeds > 17.0))
    assert np.ptp(slow) < 0.1 * 0.5e-3 < 0.5 * 0.5e-3 < np.ptp(fast)
