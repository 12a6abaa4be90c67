"""`nonsmooth new`: a file that runs as it is, and never in place of another."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from nonsmooth.cli import main

RUN = ["--dt-min", "1e-6", "--dt-max", "1e-3", "--t-end", "0.1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_runs_from_the_command_line(folder, capsys):
    assert main(["new", "my_mechanism.py"]) == 0
    assert "nonsmooth run my_mechanism.py --t-end 0.1" in capsys.readouterr().out
    assert main(["run", "my_mechanism.py", *RUN, "--figure", "run.png", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["problem"], report["failures"]) == ("my_mechanism", 0)
    assert report["certificate"]["gap_violation"] <= 1e-12
    assert main(["run", "my_mechanism.py", *RUN[:-1], "0.01", "--set", "clearance=1e-4", "--set", "rod.mass=0.5"]) == 0
    assert main(["describe", "my_mechanism.py", "--figure", "sketch.png"]) == 0
    assert {path.name for path in folder.iterdir() if path.is_file()} == {"my_mechanism.py", "run.png", "sketch.png"}


def test_it_runs_as_a_script_and_speaks_of_its_own_name(folder):
    assert main(["new", "swing.py"]) == 0
    text = (folder / "swing.py").read_text(encoding="utf-8")
    assert "nonsmooth run swing.py" in text and "my_mechanism.py" not in text
    done = subprocess.run([sys.executable, "swing.py"], capture_output=True, text=True, check=True)
    assert "impacts 15" in done.stdout and done.stderr == ""


def test_every_comment_that_is_code_is_right(folder, capsys):
    """The joints that the comments offer, put in place of what they stand beside."""
    main(["new", "offered.py"])
    lines = (folder / "offered.py").read_text(encoding="utf-8").splitlines()
    offers = {line.split('"')[1]: line.strip("# ") for line in lines if line.strip().startswith("#     model.add(")}
    assert list(offers) == ["pin", "guide", "floor", "motor"]
    before, _, after = "\n".join(lines).partition("    # The journal of b moves")
    rest = after[after.index("    # Loads;") :]
    text = before + "\n".join(f"    {offers[name]}" for name in ("pin", "motor")) + "\n" + rest
    text = text.replace("from nonsmooth import", "from nonsmooth import PrescribedMotion, Revolute,", 1)
    (folder / "offered.py").write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(["run", "offered.py", "--dt", "1e-3", "--t-end", "0.01", "--stepper", "gauss-qp"]) == 2
    assert "moves at" in capsys.readouterr().err  # the motor turns, the rod starts at rest


def test_it_leaves_other_files_alone(folder, capsys):
    (folder / "mine.py").write_text("# mine\n", encoding="utf-8")
    assert main(["new", "mine.py"]) == 2
    assert "mine.py exists and is left as it is: give another name." in capsys.readouterr().err
    assert (folder / "mine.py").read_text(encoding="utf-8") == "# mine\n"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mine.txt", "ends in .toml or .py"),
        ("mine", "ends in .toml or .py"),
        ("nowhere/mine.py", "cannot be written (No such file"),
    ],
)
def test_what_is_refused(name, sentence, folder, capsys):
    assert main(["new", name]) == 2
    assert sentence in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_the_flexible_rod_that_the_toml_file_offers(folder, capsys):
    """The commented tables in place of the rigid ones: it runs, and it has the modes that it says."""
    main(["new", "rod.toml"])
    text = (folder / "rod.toml").read_text(encoding="utf-8")
    before, _, rest = text.partition("# A body's frame sits")
    offered, _, after = rest.partition("# A flexible rod")[2].partition("[elements.gravity]")
    tables = "\n".join(line.lstrip("# ") for line in offered.splitlines()[1:])
    (folder / "bends.toml").write_text(f"{before}{tables}\n[elements.gravity]{after}", encoding="utf-8")
    capsys.readouterr()
    run = ["run", "bends.toml", "--dt", "1e-4", "--t-end", "0.01", "--stepper", "moreau-jean", "--output", "run.nc"]
    assert main(run) == 0
    assert main(["describe", "bends.toml"]) == 0
    assert " 0.01 top, node1," in " ".join(capsys.readouterr().out.split())
    assert main(["cite", "run.nc"]) == 0
    assert "@article{craig1968," in capsys.readouterr().out
