"""Commands are functions: their options come from signatures and docstrings, also from those of a study."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from nonsmooth import InputError, cli
from nonsmooth.cli import commands, main
from nonsmooth.cli.commands import add_command
from nonsmooth.cli.values import by_name, number_of, values_of

COMMAND = '''
from __future__ import annotations

import json


def wobble(problem: Problem, *, faces: tuple[str, ...] = (), speed: float = 1.0, written: Written, **study: Any):
    """Whether it wobbles.

    More of it.

    Parameters
    ----------
    faces : --face NAME, default: all
        Faces that count;
        repeatable.
    speed : [m/s]
        How fast it is.
    """
    print(json.dumps([problem, list(faces), speed, written.as_json, study]))
'''
STUDY = '''
LIMIT = object()


def helper():
    return 1


def wobble(build, *, until: float, speed: float = 2.0, order: int = 3, limit: object = LIMIT, unsaid: int = 1,
           output: str | None = None, which: Sequence[str] = ()):
    """A study.

    Parameters
    ----------
    until : [s], optional
        As long as ``it`` runs.
    speed
        Another one.
    order
        Of the study.
    output
        Another file.
    which
        Ones.
    """
'''


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """An app with the command of a file, whose study is in another."""
    (tmp_path / "shake.py").write_text(COMMAND, encoding="utf-8")
    (tmp_path / "wobble.py").write_text(STUDY, encoding="utf-8")
    monkeypatch.setattr(commands, "HERE", tmp_path)
    monkeypatch.setattr(commands, "STUDIES", tmp_path)
    monkeypatch.setattr("nonsmooth.cli.__path__", [str(tmp_path), *cli.__path__])
    made = typer.Typer()
    add_command(made, "wobble", "shake.wobble")
    return made


def test_options_are_arguments_of_the_function_of_its_groups_and_of_the_study(app: typer.Typer) -> None:
    command: Any = get_command(app)
    found = {one.opts[-1]: one for one in command.params if one.name not in ("install_completion", "show_completion")}
    names = "problem --face --speed --until --order --which --output --figure --report --json --quiet --help"
    assert list(found) == [name for name in names.split() if name != "--help"]
    assert command.help == "Whether it wobbles."
    assert found["--face"].help == "Faces that count; repeatable." and found["--face"].show_default == "all"
    assert found["--face"].metavar == "NAME" and found["problem"].metavar == "PROBLEM|FILE"
    assert "Python that defines `model` or `build()`" in found["problem"].help, "not that of another group"
    assert found["--speed"].help == "How fast it is [m/s]." and found["--speed"].default == 1.0, "its own line counts"
    assert found["--until"].help == "As long as `it` runs [s]." and found["--until"].required
    assert found["--order"].default == 3 and found["--order"].help == "Of the study."
    assert found["--output"].help == "Dataset to write (NetCDF, .nc).", "a name of a group is an option of the group"


def test_the_function_gets_values_groups_and_the_rest(app: typer.Typer, capsys: pytest.CaptureFixture[str]) -> None:
    words = "slider-rod --face a --face b --until 2 --json"
    app(args=words.split(), standalone_mode=False)
    rest = {"until": 2.0, "order": 3, "which": []}
    assert json.loads(capsys.readouterr().out) == ["slider-rod", ["a", "b"], 1.0, True, rest]


def test_a_message_names_the_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "sweep", "slider-rod", "--grids", "x"]) == 2
    assert "`nonsmooth study sweep --help` shows what is accepted" in capsys.readouterr().err
    assert main(["study", "none"]) == 2
    assert "`nonsmooth study --help` shows what is accepted" in capsys.readouterr().err
    assert main(["study", "swep"]) == 2
    assert "Did you mean 'sweep'? `nonsmooth study --help`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare slider-rod --restitution 0.3 --restitution=0.8", "--restitution was given twice, as 0.3 and 0.8;"),
        ("run slider-rod --dt 1us --t-end 1 --dt 2us --dt 3us", "--dt was given 3 times, as 1us, 2us and 3us;"),
        ("describe slider-rod --case 1 --case 1", "--case was given twice, as 1 and 1;"),
        ("study sweep slider-rod --seed 1 --seed 2", "--seed was given twice, as 1 and 2;"),
    ],
)
def test_an_option_of_one_value_is_given_once(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"nonsmooth: {said} it takes one value.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run slider-rod --rtol abc", "Invalid value for '--rtol': a plain number in SI units is expected, got 'abc'."),
        ("study sweep slider-rod --runs 1.5", "Invalid value for '--runs': a whole number is expected, got '1.5'."),
        (
            "study rigid-limit slider-rod --depth 1kg",
            '--depth "1kg" is of another dimension than m; write',
        ),
        (
            "{limit} --metric impulse --limit 3mm",
            '--limit "3mm" is of another dimension than N s; write',
        ),
        ("{limit} --metric final:slider.y --limit 3foo", '--limit "3foo" has the unknown unit "foo".'),
        ("{limit} --metric fnal:slider.y --limit 3mm", 'There is no metric "fnal".'),
    ],
)
def test_what_is_no_number_of_its_dimension(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    study = "study tolerance slider-rod --set case=2 --t-end 1ms --clearance guide.clearance=5um:9um"
    assert main(words.format(limit=study).split()) == 2
    assert capsys.readouterr().err.startswith(f"nonsmooth: {said}")


@pytest.mark.parametrize("command", ["report run.nc --output", "study sweep slider-rod --grid", "run slider-rod --dt"])
def test_an_option_without_its_value_names_the_help_of_its_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    words = " ".join(command.split()[: 2 if command.startswith("study") else 1])
    assert f"requires an argument. `nonsmooth {words} --help` shows" in capsys.readouterr().err


def test_flags_and_repeatable_options_are_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fits", "20 H7/g6", "--json", "--json"]) == 0
    assert main(["list", "--tag", "planar", "--tag", "spatial"]) == 0


def test_commands_are_there_without_docstrings() -> None:
    code = "from nonsmooth.cli import main; main(['fits', '20 H7/g6'])"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "Joints take the radial clearance" in done.stdout, done.stderr


def test_words_by_name() -> None:
    units = {"pin.clearance": "m", "speed": "rad/s"}
    found = by_name("--grid", ["pin.clearance=5um,2e-5", "speed=1:3:3"], values_of, units.get)
    assert found == {"pin.clearance": pytest.approx([5e-6, 2e-5]), "speed": [1.0, 2.0, 3.0]}
    for words, message in (
        (["speed"], "--grid speed: write NAME=VALUES"),
        (["speed=1", "speed=2"], "--grid speed is given twice, the second time as 2: give it once"),
        (["speed=3 kg"], "--grid speed .* rad/s"),
        (["speed=1,nan"], "--grid speed: 'nan' is not a finite number"),
    ):
        with pytest.raises(InputError, match=message):
            by_name("--grid", words, values_of, units.get)
    with pytest.raises(InputError, match="--noise ball: write COLUMN=SIGMA"):
        by_name("--noise", ["ball"], number_of, form="COLUMN=SIGMA")
