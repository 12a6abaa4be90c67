"""TOML files on the command line: run, described, compared, studied; options go before what the file says."""

from __future__ import annotations

import json
import re
import sys
from math import pi

import pytest
from loops import some

from nonsmooth import SimulationFailed, SolverFailed, Trajectory, read_model
from nonsmooth.cli import main
from nonsmooth.cli.files import TEMPLATES
from nonsmooth.studies.cases import Trial

FILE, TEMPLATE = "my_mechanism.toml", (TEMPLATES / "planar.toml").read_text(encoding="utf-8")
#: the starting file, with steps stated in its [run], which is the last table
TEXT = f'{TEMPLATE}stepper = "gauss-qp"\ndt_min = "1 us"\ndt_max = "1 ms"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test works in a folder of its own, with the starting file in it."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", FILE]) == 0
    assert (tmp_path / FILE).read_text(encoding="utf-8") == TEMPLATE
    (tmp_path / FILE).write_text(TEXT, encoding="utf-8")
    return tmp_path


def report(capsys, *words):
    capsys.readouterr()
    code = main(["run", FILE, *words, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)


def test_it_runs_as_the_python_file_does(folder, capsys):
    assert main(["new", "my_mechanism.py"]) == 0
    words = ["--stepper", "gauss-qp", "--dt-min", "1e-6", "--dt-max", "1e-3", "--t-end", "0.1"]
    assert main(["run", "my_mechanism.py", *words, "--output", "py.nc"]) == 0
    assert main(["run", FILE, "--output", "toml.nc"]) == 0
    first, second = Trajectory.load("py.nc"), Trajectory.load("toml.nc")
    # the same but for round-off of the start, which grows with each of the 16 impacts
    assert len(first.t) == len(second.t) and len(first.impacts) == len(second.impacts) == 16
    assert second.q["rod.angle"][-1] == pytest.approx(first.q["rod.angle"][-1], abs=1e-9)


def test_what_the_file_states_of_its_run(folder, capsys):
    found = report(capsys)
    assert (found["stepper"], found["problem"], found["failures"]) == ("gauss-qp", "my_mechanism", 0)
    more = 'stepper = { kind = "moreau-jean", theta = 0.6 }\nsolver = { kind = "lemke", max_pivots = 99 }\n'
    more += 'output = "run.nc"\nfigure = "run.svg"\ndt = "0.5 ms"\n'
    text = re.sub(r"stepper = .*\n|dt_m.. = .*\n", "", TEXT) + more
    (folder / FILE).write_text(text, encoding="utf-8")
    found = report(capsys)
    assert (found["stepper"], found["solver"], found["steps"]) == ("moreau-jean", "lemke", 200)
    settings = json.dumps(Trajectory.load("run.nc").manifest)
    assert "0.6" in settings and "99" in settings
    assert (folder / "run.svg").is_file()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--t-end", "0.02"], {"stepper": "gauss-qp"}),
        (["--dt", "1e-3", "--stepper", "moreau-jean"], {"stepper": "moreau-jean", "steps": 100}),
        (["--dt-max", "5e-4", "--t-end", "0.005"], {"steps": 10}),
        (["--dt-min", "1e-5", "--dt-max", "2.5e-3", "--t-end", "0.005"], {"steps": 2}),
        (["--solver", "osqp", "--t-end", "0.005"], {"solver": "osqp"}),
    ],
)
def test_options_go_before_the_file(words, wanted, capsys):
    found = report(capsys, *words)
    assert {key: found[key] for key in wanted} == wanted


def test_parameters_and_contact_laws_from_the_command_line(capsys):
    control = ["--rtol", "1e-7", "--atol", "1e-9", "--dt-min", "1e-6", "--dt-max", "1e-3", "--t-end", "0.02"]
    law = ["--contact", "compliant", "--law", "flores", "--set", "stiffness=1e8", "--set", "restitution=0.5"]
    assert report(capsys, *law, *control)["stepper"] == "compliant-dae"
    assert main(["describe", FILE, "--set", "rod.mass=0.5"]) == 0
    assert re.search(r"rod +0\.5 ", capsys.readouterr().out)
    ends = ["--t-end", "0.0105"]  # after the first impact, in which the plastic one loses more
    plastic, bouncing = report(capsys, "--contact", "rigid", "--set", "restitution=0", *ends), report(capsys, *ends)
    assert plastic["stepper"] == "gauss-qp"
    assert plastic["energy"]["loss_impacts"] == pytest.approx(bouncing["energy"]["loss_impacts"] / 0.75, rel=1e-6)


STUDIES = {
    "compare": ["compare", FILE, "--t-end", "0.012", "--restitution", "0.5", "--stiffness", "1e8", "--target", "0"],
    "rigid-limit": [
        "study", "rigid-limit", FILE, "--t-end", "0.012", "--restitution", "0.5", "--stiffness", "1e8",
        "--stiffness", "1e9",
    ],
    "step-size": [
        "study", "step-size", FILE, "--t-end", "0.01", "--dt", "1e-3", "--dt-max", "1e-3", "--stepper", "moreau-jean",
        "--levels", "4", "--jitter", "2", "--executor", "1",
    ],
    "sweep": [
        "study", "sweep", FILE, "--t-end", "0.012", "--metric", "peak-impulse", "--grid", "pin.clearance=1e-4:5e-4:2",
        "--executor", "1",
    ],
    "tolerance": [
        "study", "tolerance", FILE, "--t-end", "0.012", "--metric", "peak-impulse", "--limit", "1", "--clearance",
        "pin.clearance=1e-4:5e-4", "--runs", "60", "--factors", "0.5:1:2", "--executor", "1", "--stepper",
        "moreau-jean", "--dt", "1e-3",
    ],
}  # fmt: skip


@pytest.mark.parametrize("study", some(STUDIES, 2))
def test_studies_of_a_file(study, capsys):
    capsys.readouterr()
    assert main([*STUDIES[study], "--json"]) == 0, capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)


def test_every_comment_that_is_toml_is_right(folder, capsys):
    """The elements that the comments offer, in place of or beside the others."""
    rigid = TEXT.partition("# A flexible rod")[0]  # which test_new replaces the rod by
    offered = dict(re.findall(r"#     \[elements\.(\w+)\]\n((?:#     .*\n)+)", rigid))
    assert list(offered) == ["pin", "floor", "spring", "motor"]
    tables = {name: f"[elements.{name}]\n{lines.replace('#     ', '')}" for name, lines in offered.items()}
    for name in ("floor", "spring"):
        (folder / FILE).write_text(f"{TEXT}\n{tables[name]}", encoding="utf-8")
        assert report(capsys, "--t-end", "0.005")["failures"] == 0
    ideal = re.sub(r"\[elements\.pin\]\n(.+\n)+", tables["pin"], TEXT, count=1)
    (folder / FILE).write_text(f"{ideal}\n{tables['motor']}", encoding="utf-8")
    capsys.readouterr()
    assert main(["run", FILE]) == 2
    assert "moves at" in capsys.readouterr().err  # the motor turns, the rod starts at rest
    (folder / FILE).write_text(f"assemble = true\n{ideal}\n{tables['motor']}", encoding="utf-8")
    angle = report(capsys, "--dt", "1e-3", "--t-end", "0.01")["final"]["rod.angle"]
    assert angle == pytest.approx(0.5 + 0.04 * pi, abs=1e-11)  # 120 rpm for 10 ms
    compliant = (
        '#     kind = "compliant"\n#     normal = { kind = "flores", stiffness = "1e9 N/m^1.5", restitution = 0.5 }\n'
    )
    assert compliant in TEXT
    law = re.sub(r"\[contact\]\n(.+\n)+", "[contact]\n" + compliant.replace("#     ", ""), TEXT)
    (folder / FILE).write_text(law, encoding="utf-8")
    assert read_model(FILE).build().compliance is not None
    stated = law.replace('stepper = "gauss-qp"', "rtol = 1e-6\natol = 1e-8")
    (folder / FILE).write_text(stated, encoding="utf-8")
    found = report(capsys, "--t-end", "0.005")
    assert (found["stepper"], found["solver"]) == ("compliant-dae", "dop853")
    chosen = re.sub("(stepper|dt_min|dt_max) = .*\n", "", law)
    (folder / FILE).write_text(chosen, encoding="utf-8")
    found = report(capsys, "--t-end", "0.005")  # chosen as for a ready problem
    assert (found["stepper"], found["solver"]) == ("compliant-dae", "dop853")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", FILE, "--set", "clearance=1e-4"], f"{FILE} takes no argument 'clearance'"),
        (["run", FILE, "--set", "pin.clearence=1e-4"], "Did you mean pin.clearance"),
        (["run", FILE, "--case", "2"], "takes no argument 'case'"),
        (["run", FILE, "--contact", "soft"], "the kinds are rigid and compliant"),
        (["run", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["compare", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["study", "published", FILE], "There is no problem"),
        (["new", FILE], f"{FILE} exists and is left as it is"),
    ],
)
def test_what_is_refused(words, sentence, folder, capsys):
    capsys.readouterr()
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert sentence in err and out == ""
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_errors_of_the_file_are_told_before_anything_runs(folder, capsys):
    text = TEXT.replace('clearance = "0.5 mm"', 'clearence = "0.5 mm"').replace('b = "rod"', 'b = "rodd"', 1)
    (folder / FILE).write_text(text, encoding="utf-8")
    line = text.splitlines().index('clearence = "0.5 mm"') + 1
    for words in (["run", FILE], ["describe", FILE], ["compare", FILE], ["study", "step-size", FILE]):
        capsys.readouterr()
        assert main(words) == 2
        err = capsys.readouterr().err
        assert f"nonsmooth: 2 errors in {FILE}:\n{FILE}:" in err
        assert f"\n{FILE}:{line}: elements.pin.clearence: " in err
        assert "Did you mean clearance or axial_clearance?" in err


def test_a_file_without_a_run_needs_options(folder, capsys):
    (folder / FILE).write_text(TEXT.partition("[run]")[0], encoding="utf-8")
    capsys.readouterr()
    assert main(["run", FILE]) == 2
    assert "give --t-end, or t_end in the [run]" in capsys.readouterr().err
    assert report(capsys, "--t-end", "0.01")["verdict"]["kind"] == "accurate"
    assert main(["run", FILE, "--t-end", "0.01", "--dt-min", "1e-6"]) == 2
    assert "--dt-min came without --dt-max" in capsys.readouterr().err
    assert report(capsys, "--t-end", "0.01", "--dt", "1e-3", "--stepper", "moreau-jean")["steps"] == 10


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("compare", "no comparison of its own: give --t-end (or t_end in the [run] of the file), --stiffness."),
        ("study rigid-limit", "no comparison of its own: give --t-end (or t_end in the [run] of the file)."),
        ("study step-size", "no end of the runs: give --t-end (or t_end in the [run] of the file)."),
    ],
)
def test_a_study_of_a_file_without_an_end_says_so_in_one_sentence(command, needed, folder, capsys):
    """The rigid limit, which chooses its stiffnesses, used to ask for them; none told that the file may have an end."""
    (folder / FILE).write_text(TEXT.partition("[run]")[0], encoding="utf-8")
    capsys.readouterr()
    assert main([*command.split(), FILE]) == 2
    seen = capsys.readouterr()
    assert seen.err == f"nonsmooth: my-mechanism states {needed}\n" and seen.out == ""


def test_the_rigid_limit_of_a_file_chooses_its_stiffnesses(folder, capsys):
    text = re.sub(r"t_end = .*", 't_end = "20 ms"', TEXT)
    (folder / FILE).write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(["study", "rigid-limit", FILE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(map(float, found["stiffness"])) == [10.0**k for k in range(10, 17)]
    assert found["orders"]["penetration"] == pytest.approx(0.4, abs=0.01)  # Hertz


@pytest.mark.slow  # hundreds of programs by IPOPT
def test_step_sizes_against_landing_without_options(folder, monkeypatch, capsys):
    """Where no events are resolved, as if there were no modes of the contacts here: errors are those against landing,
    which used to be called event-driven. The run by events, which is another method, agrees with that reference."""

    class Ending(Trial):
        def run(self, dt=None):
            run = Trial(self.case, self.system, self.t_end / 2).run(dt)
            raise SimulationFailed("No modes are consistent.", trajectory=run, cause=SolverFailed("no modes"))

    monkeypatch.setattr(sys.modules["nonsmooth.cli.compare"], "Trial", Ending)
    (folder / FILE).write_text(re.sub(r"t_end = .*", 't_end = "50 ms"', TEXT), encoding="utf-8")
    capsys.readouterr()
    assert main(["study", "step-size", FILE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    labels = ["gauss-qp, plastic", "gauss-mpcc, plastic", "moreau-jean", "generalized-alpha", "gauss-qp, landing"]
    assert list(found) == [*labels, "event-driven"]
    assert {one["reference"] for one in found.values()} == {"gauss-qp, landing, 12800 steps"}
    # in clearances; and of second order
    assert found["event-driven"]["error"][-1] < 1e-5 and found["gauss-qp, landing"]["error"][-1] < 1e-5
    assert found["gauss-qp, landing"]["motion_order"] == pytest.approx(2.0, abs=0.1)
