"""Comparisons and studies from the command line, and compliant contact in `run`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import xarray

from nonsmooth.cli import main
from nonsmooth.exceptions import SimulationFailed, SolverFailed
from nonsmooth.studies.cases import Trial
from nonsmooth.studies.compare import METRICS

QUICK = ["--t-end", "0.003", "--stiffness", "1e12", "--stiffness", "1e14"]
ERROR_CONTROL = ["--rtol", "1e-7", "--atol", "1e-9", "--dt-min", "1e-6", "--dt-max", "1e-3"]
SOFT = ["run", "slider-rod", "--case", "1", "--contact", "compliant", "--t-end", "0.004", *ERROR_CONTROL]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_compare_writes_table_figure_and_dataset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "slider-rod", *QUICK, "--output", "found.nc", "--figure", "found.png"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert "slider-rod case=1" in lines[0] and "event-driven" in lines[1]
    rows = [line.split()[3:] for line in lines if line.startswith("  impulse")]
    # four cases are wider than a terminal of 80 columns: the last one in a second table
    assert [value for row in rows for value in row] == ["0.05253", "0.05253", "0.05134", "0.05231"]
    assert "found.nc" in shown and "found.png" in shown
    assert sorted(path.name for path in folder.iterdir()) == ["found.nc", "found.png"]
    data = xarray.load_dataset("found.nc")
    assert list(data["case"].values) == ["rigid, event-driven", "rigid, landing", "compliant, K = 1e12",
                                         "compliant, K = 1e14"]  # fmt: skip
    assert (folder / "found.png").read_bytes().startswith(b"\x89PNG")


def test_a_file_is_compared_with_the_restitution_that_it_states(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
from nonsmooth import *

def build(contact=Rigid(restitution=RESTITUTION, friction=0.0)):
    ball = PlanarBody("ball", mass=1.0, inertia=1e-3)
    pin = RevoluteClearance("pin", "ground", ball, clearance=1e-5, contact=contact)
    return Model([Ground(), ball, pin, Gravity(acceleration=(0.0, -9.81))])
"""
    words = ["compare", "own.py", "--t-end", "2ms", "--stiffness", "1e10", "--target", "0"]
    (folder / "own.py").write_text(text.replace("RESTITUTION", "0.7"), encoding="utf-8")
    assert main(words) == 0 and capsys.readouterr().out.splitlines()[1].startswith("restitution 0.7, to t = 0.002 s ")
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rigid, event-driven"]
    speeds = found["first_separation"] / found["first_approach"]
    assert speeds == pytest.approx(0.7, rel=1e-6)
    (folder / "own.py").write_text(text.replace("RESTITUTION", "0.0"), encoding="utf-8")
    assert main(words) == 2 and "give --restitution" in capsys.readouterr().err


def test_a_file_may_define_a_law(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
from dataclasses import dataclass
from typing import Annotated
from nonsmooth import *
from nonsmooth.laws import ElasticLaw
from nonsmooth.quantities import Quantity

@dataclass(frozen=True, kw_only=True)
class Soft(ElasticLaw):
    first: Annotated[float, Quantity("N/m", positive=True)]

    def coefficients(self, p):
        return {"K": p.first}

    def elastic(self, depth, k):
        return k.K * depth

def build():
    ball = PlanarBody("ball", mass=1.0, inertia=1e-3)
    pin = RevoluteClearance("pin", "ground", ball, clearance=1e-5, contact=Compliant(Soft(first=1e6)))
    return Model([Ground(), ball, pin, Gravity(acceleration=(0.0, -9.81))])
"""
    (folder / "own.py").write_text(text, encoding="utf-8")
    assert main(["describe", "own.py"]) == 0 and "Soft" in capsys.readouterr().out


def test_a_file_may_import_what_stands_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "own_parts.py").write_text("CLEARANCE = 1e-5\n", encoding="utf-8")
    text = """
from own_parts import CLEARANCE
from nonsmooth import *

def build():
    ball = PlanarBody("ball", mass=1.0, inertia=1e-3)
    law = Rigid(restitution=0.5, friction=0.0)
    pin = RevoluteClearance("pin", "ground", ball, clearance=CLEARANCE, contact=law)
    return Model([Ground(), ball, pin, Gravity(acceleration=(0.0, -9.81))])
"""
    (folder / "own.py").write_text(text, encoding="utf-8")
    assert main(["describe", "own.py"]) == 0 and "pin" in capsys.readouterr().out


def test_arguments_of_a_file_are_swept_whether_it_builds_or_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`build` may give a model or a system, whose parameters are none of its arguments."""
    text = """
from nonsmooth import *

def build(clearance=1e-5):
    ball = PlanarBody("ball", mass=1.0, inertia=1e-3)
    contact = Rigid(restitution=0.0, friction=0.0)
    pin = RevoluteClearance("pin", "ground", ball, clearance=clearance, contact=contact)
    return Model([Ground(), ball, pin, Gravity(acceleration=(0.0, -9.81))])BUILT
"""
    words = ["study", "sweep", "own.py", "--t-end", "5ms", "--dt", "1e-4", "--grid", "clearance=1e-5,2e-5"]
    for built in ("", ".build()"):
        (folder / "own.py").write_text(text.replace("BUILT", built), encoding="utf-8")
        name = f"found{len(built)}.nc"
        assert main([*words, "--metric", "final:ball.y", "--executor", "1", "--output", name]) == 0, capsys.readouterr()
        found = xarray.load_dataset(name)["final:ball.y"]
        assert found.values == pytest.approx([-1e-5, -2e-5], rel=1e-9)


def test_compare_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "slider-rod", "--case", "2", "--t-end", "0.002", "--stiffness", "1e13", "--restitution", "0.3"]
    assert main([*words, "--set", "guide.clearance=2e-5", "--target", "0", "--json"]) == 0
    seen = capsys.readouterr()
    table = json.loads(seen.out)
    assert seen.err == ""
    assert list(table) == ["rigid, event-driven", "rigid, landing", "compliant, K = 1e13"]
    assert all(list(numbers) == list(METRICS) for numbers in table.values())
    assert table["rigid, event-driven"]["equal_error"]["wall"] is None
    # the first impact of twice the clearance is later by more than a tenth
    assert table["compliant, K = 1e13"]["first_impact"] > 1.1 * 0.0014


#: a slider loose in a guide carries a rod on a loose pin; a spring pulls it
SERIES = """
from nonsmooth import *

def build(contact=Rigid(restitution=0.5, friction=0.1)):
    return Model([
        Ground("frame"),
        PlanarBody("slider", mass=1.0, inertia=1e-3, velocity=(0.3, 0.0)),
        PlanarBody("rod", mass=0.5, inertia=2e-3, position=(0.0, -0.1), angle=-1.5707963267948966, velocity=(0.3, 0.0)),
        PrismaticClearance("guide", "frame", "slider", length=0.06, height=0.03, clearance=1e-4, contact=contact),
        RevoluteClearance("pin", "slider", "rod", at_b=(-0.1, 0.0), clearance=2e-4, contact=contact, radius=0.01),
        Spring("spring", "frame", "slider", stiffness=400.0, free_length=0.2, at_a=(-0.25, 0.0)),
        Gravity(acceleration=(0.0, -9.81)),
    ], name="series")
"""
COMPARED = ["compare", "series.py", "--t-end", "0.1", "--stiffness", "1e10", "--target", "0"]
AMBROSIO = "ambrosio:dead_speed=1e-4,slip_speed=1e-3"


def test_friction_of_the_problem_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """82 mJ in rigid contact and 85 mJ with Ambrosio's law at K = 1e10, as `studies.compare` has with the same laws."""
    (folder / "series.py").write_text(SERIES, encoding="utf-8")
    assert main([*COMPARED, "--friction", AMBROSIO, "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    lost = {label: numbers["loss"]["friction"] for label, numbers in table.items()}
    assert lost["rigid, event-driven"] == pytest.approx(0.0820, rel=2e-3)
    assert lost["rigid, landing"] == pytest.approx(0.0820, rel=1e-2)  # of first order in time
    assert lost["compliant, K = 1e10"] == pytest.approx(0.0851, rel=5e-3)


def test_laws_of_friction_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "series.py").write_text(SERIES, encoding="utf-8")
    words = ["compare", "series.py", "--t-end", "0.005", "--stiffness", "1e10", "--target", "0"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Coulomb's law with mu = 0.1, compliant contact by RegularisedCoulomb(friction=0.1, slip_speed=" in said
    assert main([*words, "--friction", "0.2", "--friction", AMBROSIO, "--friction", "threlfall:slip_speed=1mm/s"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "mu = 0.2, compliant contact by Ambrosio(friction=0.2," in said and "and Threlfall(friction=0.2," in said
    assert main([*words, "--friction", "0"]) == 0 and "All contacts are without friction." in capsys.readouterr().out
    refused = {("ambrosio",): "dead_speed=VALUE", ("-1",): "0 or larger", ("0.1", "0.2"): "one coefficient"}
    for wrong, text in refused.items():
        assert main([*words, *(f"--friction={word}" for word in wrong)]) == 2 and text in capsys.readouterr().err


def test_friction_is_kept_beyond_the_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, float] = {}

    def statistics(trials: Any, seconds: float) -> Any:
        for label, trial in trials.items():
            kept[label] = trial.system.parameters["pin.friction"]
        return {}, {}

    for name in ("compare", "rigid_limit"):
        monkeypatch.setattr(sys.modules[f"nonsmooth.studies.{name}"], "statistics_of", statistics)
    words = ["slider-crank-revolute", "--t-end", "0.15", "--stiffness", "1e11", "--friction", "0.001"]
    assert main(["compare", *words]) == 0
    assert list(kept.values()) == pytest.approx([0.001] * 3)


def test_landing_is_the_reference_where_events_are_not_resolved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Corners in space with friction: sooner or later, by last bits, the event-driven scheme finds no modes."""

    class Ending(Trial):
        def run(self, dt: Any = None) -> Any:
            run = Trial(self.case, self.system, self.t_end / 2).run(dt)
            raise SimulationFailed("No modes are consistent.", trajectory=run, cause=SolverFailed("no modes"))

    monkeypatch.setattr(sys.modules["nonsmooth.cli.compare"], "Trial", Ending)
    words = ["compare", "polishing-robot", "--restitution", "0.5", "--t-end", "0.02", "--target", "0"]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Steps that end at impacts are the reference." in said and "mu = 0.05" in said and "SineCosine(" in said


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["slider-rod", "slider-crank-revolute"])
def test_defaults(problem: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", problem, "--output", "found.nc", "--figure", "found.png", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert len(table) == 5
    for label, numbers in table.items():
        assert numbers["equal_error"]["wall"] > 0, label
    stiffest = list(table)[-1]
    assert table[stiffest]["first_impulse"] == pytest.approx(table["rigid, event-driven"]["first_impulse"], rel=0.015)
    assert sorted(path.name for path in folder.iterdir()) == ["found.nc", "found.png"]


@pytest.mark.slow
def test_rigid_limit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "rigid-limit", "slider-rod", "--restitution", "0.8", "--t-end", "0.004"]
    words += ["--stiffness", "1e10", "--stiffness", "1e13", "--stiffness", "1e14", "--depth", "2e-7"]
    assert main([*words, "--figure", "limit.png", "--output", "limit.nc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stiffness"]["10000000000.0"]["impulse_error"] == pytest.approx(-0.035, abs=0.001)
    assert found["needed"]["found"] == pytest.approx(2e-7, rel=0.02)
    assert sorted(path.name for path in folder.iterdir()) == ["limit.nc", "limit.png"]
    assert main([*words]) == 0
    assert "penetration ~ K^-0.4" in capsys.readouterr().out


def test_run_with_a_compliant_law(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = ["--set", "stiffness=1e12", "--set", "restitution=0.5", "--set", "calibrated=true"]
    assert main([*SOFT, "--law", "flores", *numbers, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["stepper"], report["solver"]) == ("compliant-dae", "dop853")
    assert report["energy"]["loss_contact"] > 0 and report["counts"]["evaluations"] > 0
    assert report["certificate"]["gap_violation"] == pytest.approx(6.53e-7, rel=0.01)
    assert main([*SOFT, "--law", "flores", *numbers, "--stepper", "compliant-dae", "--solver", "dop853"]) == 0
    assert "guide.stiffness = 1e+12" in capsys.readouterr().out


def test_run_with_compliant_friction(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*SOFT, "--law", "hertz", "--friction-law", "ambrosio", "--set", "stiffness=1e11", "--set", "friction=0.1"]
    assert main([*words, "--set", "dead_speed=1e-4", "--set", "slip_speed=1e-3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["energy"]["loss_friction"] > 0


def test_run_with_rigid_contact_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    words = "run slider-rod --case 1 --contact rigid --set restitution=0.5 --dt-min 1e-6 --dt-max 1e-3 --t-end 0.002"
    assert main([*words.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["impulse"]["guide.left_lower"] == pytest.approx(0.0525267788846794)


BAD = {
    "no comparison stated": (["compare", "bouncing-ball"], ["comparison of its own", "--stiffness"]),
    "unknown problem": (["compare", "slider-rood"], ["slider-rood", "slider-rod"]),
    "unknown law": (["compare", "slider-rod", "--law", "floras"], ["floras", "flores"]),
    "law without restitution": (["compare", "slider-rod", "--law", "kelvin-voigt"], ["kelvin-voigt", "flores"]),
    "restitution out of range": (["compare", "slider-rod", "--restitution", "1"], ["--restitution", "1"]),
    "negative stiffness": (["compare", "slider-rod", "--stiffness", "-1"], ["stiffness", "-1"]),
    "unknown parameter": (["compare", "slider-rod", "--set", "guide.clerance=1"], ["guide.clearance"]),
    "unknown argument": (["compare", "slider-rod", "--set", "colour=3"], ["colour", "case"]),
    "solver of a study": (["compare", "slider-rod", "--set", "solver.eps=1"], ["solvers itself"]),
    "figure of another kind": (["compare", "slider-rod", "--figure", "a.gif"], ["a.gif", ".png"]),
    "output in no folder": (["compare", "slider-rod", "--output", "nowhere/a.nc"], ["nowhere/a.nc"]),
    "depth out of range": (
        ["study", "rigid-limit", "slider-rod", *QUICK, "--depth", "1"], ["penetration of 1 m", "add others"]
    ),
    "one stiffness": (["study", "rigid-limit", "slider-rod", "--stiffness", "1e12"], ["stiffness", "rise"]),
    "unknown study": (["study", "rigid-limits", "slider-rod"], ["rigid-limits", "nonsmooth study --help"]),
    "unknown kind of contact": (["run", "slider-rod", "--contact", "soft", "--dt", "1e-4", "--t-end", "1"], ["soft"]),
    "compliant without law": (SOFT, ["--law", "flores"]),
    "law without its numbers": ([*SOFT, "--law", "flores"], ["stiffness", "restitution", "--set"]),
    "law with rigid contact": (
        ["run", "slider-rod", "--contact", "rigid", "--law", "flores", "--dt", "1e-4", "--t-end", "1e-3"], ["--law"]
    ),
    "rigid stepper with compliant contact": (
        [*SOFT, "--law", "hertz", "--set", "stiffness=1e10", "--stepper", "event-driven"], ["EventDriven needs rigid"]
    ),
    "constant step with compliant contact": (
        ["run", "slider-rod", "--law", "hertz", "--set", "stiffness=1e10", "--dt", "1e-4", "--t-end", "1e-3"],
        ["ErrorControl"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, named = BAD[case]
    assert main(words) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith("nonsmooth: ") and seen.err.count("\n") == 1
    assert [word for word in named if word not in seen.err] == [], seen.err
    assert list(folder.iterdir()) == []


def test_what_is_shown_is_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a choice each loose joint has its rows; else coordinates, contacts and reactions by name."""
    (folder / "series.py").write_text(SERIES, encoding="utf-8")
    words = ["compare", "series.py", "--t-end", "0.01", "--stiffness", "1e10", "--target", "0", "--friction", AMBROSIO]
    assert main([*words, "--figure", "found.png"]) == 0
    said = capsys.readouterr().out
    assert "pin: impulse [N s]" in said and "_lower: impulse [N s]" in said
    assert main([*words, "--show", "pin", "--show", "rod.angle", "--figure", "found.png"]) == 0
    said = capsys.readouterr().out
    assert "pin: impulse" in said and "rod.angle: mean deviation [rad]" in said and "guide." not in said
    assert main([*words, "--show", "pim"]) == 2 and "'pim' is not in this mechanism" in capsys.readouterr().err


OWN = """
def second(run):
    return 2.0 * run.q["rod.angle"][0]

second.unit = "rad"
"""


def test_measures_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same choice for both commands: what is of the mechanism, measures by name, and functions of one's own."""
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    choice = [f"--show={one}" for one in ("pin", "knee.x", "own.py:second", "force-over-1ms:pin", "largest:rod.angle")]
    crank = ["slider-crank-revolute", "--t-end", "2e-3", "--stiffness", "1e11", *choice]
    assert main(["compare", *crank, "--target", "0", "--figure", "a.png"]) == 0
    said = capsys.readouterr().out
    titles = ["knee.x: largest reaction without impacts [N]", "pin: impulse [N s]", "second [rad]",
              "force-over-1ms:pin [N]", "largest:rod.angle [rad]"]  # fmt: skip
    assert [title for title in titles if title not in said] == []
    assert main(["study", "rigid-limit", *crank, "--stiffness", "1e12", "--figure", "b.png", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["shown"]
    assert [title for title in titles if title not in found] == []
    assert set(found["second [rad]"]) == {"rigid", "K = 1e+11", "K = 1e+12"}
    force = found["force-over-1ms:pin [N]"]
    assert abs(force["K = 1e+12"] / force["rigid"] - 1) < abs(force["K = 1e+11"] / force["rigid"] - 1) < 0.5
    for words, wrong in (("own.py:third", "has no function third; it has second"), ("pim", "nor is it a measure")):
        assert main(["compare", *crank, "--show", words]) == 2 and wrong in capsys.readouterr().err
