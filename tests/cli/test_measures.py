"""A study that a newcomer adds is one file: its command, its options and its example come from it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import typer
import xarray

from nonsmooth import InputError
from nonsmooth.cli.commands import MEASURES, add_measures, examples
from nonsmooth.studies import measures

OWN = '''
from nonsmooth.studies.metrics import measured


@measured(highest="m", above="-")
def heights(run, *, level: float, body: str = "ball", strict: bool = False):
    """How high a body comes, and how long it is above a level.

    Parameters
    ----------
    level : [m]
        Height above which time counts.
    body
        Whose height.
    strict
        Whether the level itself is below.

    Examples
    --------
    $ nonsmooth study heights bouncing-ball --level 0.2
    """
    y = run.q[f"{body}.y"]
    return {"highest": y.max(), "above": (y > level if strict else y >= level).mean()}
'''
RUN = [
    "heights", "bouncing-ball", "--t-end", "0.3", "--dt", "1e-2", "--grid", "floor.restitution=0.5,0.7", "--executor",
    "1", "--stepper", "moreau-jean", "--level", "0.9",
]  # fmt: skip


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file of a study, in which the package looks as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(tmp_path)])
    (tmp_path / "heights.py").write_text(OWN, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("nonsmooth.studies.measures.heights", None)


def run(folder: Path, words: list[str]) -> int:
    app = typer.Typer()
    add_measures(app)
    add_measures(app, folder)
    return int(app(args=words, standalone_mode=False))


def test_a_file_is_a_command(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ball falls from 1 m: 0.1 m takes sqrt(0.2 / 9.81) = 0.143 s, fourteen steps of 0.01 s and the start."""
    assert run(own, [*RUN, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["heights.highest"] == pytest.approx([1.0, 1.0], abs=1e-2)
    assert found["metrics"]["heights.above"] == pytest.approx([15 / 31] * 2, abs=1e-12)
    assert run(own, [*RUN, "--output", "found.nc"]) == 0
    assert "heights.highest" in capsys.readouterr().out
    data = xarray.load_dataset("found.nc")
    assert data["heights.highest"].attrs["units"] == "m" and data["heights.above"].attrs["units"] == "-"
    assert data["heights.above"].attrs["long_name"] == "How high a body comes, and how long it is above a level."


def test_a_sweep_with_another_option_is_another_sweep(own: Path) -> None:
    assert run(own, [*RUN, "--output", "found.nc"]) == 0
    with pytest.raises(InputError, match="holds another sweep: its metrics"):
        run(own, [*RUN[:-1], "0.5", "--output", "found.nc"])


def test_its_help_and_example_are_those_of_its_docstring(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(own, ["heights", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "How high a body comes" in shown and "Height above which time counts" in shown and "--strict" in shown
    assert examples(own) == {"study heights": ["nonsmooth study heights bouncing-ball --level 0.2"]}


def test_every_file_has_an_example() -> None:
    assert all(lines for lines in examples().values()) and len(examples()) == len(list(MEASURES.glob("[a-z]*.py")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OWN.replace("def heights(", "def other("), "define the function heights"),
        (OWN.replace("*, level", "level"), "option level must stand behind"),
        (OWN.replace("level: float", "level: list"), "option level has the type list"),
        (OWN.replace("        Whose height.\n", ""), "option body has the type str and no line"),
        (OWN.replace("strict: bool = False", "strict: bool = FALSE"), "default of the option strict is FALSE"),
        (OWN.replace("False):", "False)"), r"heights\.py: the function heights is not valid Python; `python .*heights"),
        (OWN.replace('"""\n    y =', '"""\n    """\n    y ='), "the function heights is not valid Python"),
        (OWN.replace("0.2", "\0"), "the function heights is not valid Python"),
        (OWN.split('    """')[0] + "    return {}\n", "define the function heights.*, with a docstring"),
        (f"{OWN}\nLIMIT = 1 / 0\n", r"heights\.py, line 25: ZeroDivisionError: division by zero"),
        (f"{OWN}\nLIMIT = (\n", r"heights\.py, line 25: SyntaxError: '\(' was never closed"),
    ],
)
def test_what_a_file_lacks_is_said_by_its_own_command(
    own: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (own / "heights.py").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(own, RUN)
    assert run(own, ["impacts", "--help"]) == 0, "others work"
    assert "Number, speed, impulse and mean restitution" in capsys.readouterr().out


def test_quotes_of_a_docstring_may_be_of_either_kind(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own / "heights.py").write_text(OWN.replace('"""', "'''"), encoding="utf-8")
    assert run(own, ["heights", "--help"]) == 0
    assert "How high a body comes" in capsys.readouterr().out


def test_a_file_has_the_name_of_a_function(own: Path) -> None:
    for name in ("my-heights", "heights("):
        (own / f"{name}.py").write_text(OWN, encoding="utf-8")
        with pytest.raises(InputError, match=f"{re.escape(name)}.py: name the file as its function"):
            run(own, [name])


def test_impacts_of_a_ball(capsys: pytest.CaptureFixture[str]) -> None:
    """Newton's law gives the restitution of every impact; the shortest step bounds the error of its time."""
    words = "--t-end 1 --dt-min 1e-6 --dt-max 1e-3 --grid floor.restitution=0.5,0.7 --executor 1 --json"
    app = typer.Typer()
    add_measures(app)
    app.command("other")(lambda: None)  # an app of one command takes no name
    app(args=["impacts", "bouncing-ball", *words.split()], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)["metrics"]
    assert found["impacts.restitution"] == pytest.approx([0.5, 0.7], rel=1e-5)
    assert found["impacts.count"] == [2, 1] and found["impacts.fastest"][0] == found["impacts.fastest"][1]
