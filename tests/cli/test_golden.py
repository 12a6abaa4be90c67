"""What users and scripts see of every command: its options, and its JSON, as kept in golden.json.

``python tests/cli/test_golden.py`` writes the file anew, after a change that is meant; its difference is then read.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from loops import some
from typer.main import get_command

from nonsmooth.cli import main
from nonsmooth.cli.app import app
from nonsmooth.cli.commands import examples

KEPT = Path(__file__).with_name("golden.json")
#: one command line or several, of which the last writes JSON; short runs without chaotic motion
RUNS = {
    "list": ["list --tag planar --json"],
    "fits": ['fits "20 H8/f7" "40 H11/c11" --json'],
    "run": ["run slider-rod --case 2 --dt 1e-4 --t-end 0.002 --json"],
    "compare": ["compare slider-rod --t-end 0.003 --stiffness 1e12 --target 0 --json"],
    "rigid-limit": [
        "study rigid-limit slider-rod --t-end 0.003 --stiffness 1e11 --stiffness 1e12 --rigid gauss-qp --depth 1e-6 "
        "--json"
    ],
    "published": ["study published slider-rod --case 1 --json"],
    "step-size": [
        "study step-size slider-rod --case 2 --t-end 0.002 --stepper gauss-qp --stepper event-driven --levels 2 "
        "--jitter 1 --executor 1 --json"
    ],
    "sweep": [
        "study sweep slider-rod --case 2 --t-end 0.002 --dt 1e-4 --metric peak-impulse --metric final:slider.y "
        "--grid guide.clearance=5um:2e-5:2 --executor 1 --check --json"
    ],
    "tolerance, dynamic": [
        "study tolerance slider-rod --case 2 --t-end 0.002 --dt 1e-4 --metric amplitude:slider.angle --limit 3e-5 "
        "--clearance guide.clearance=5e-6:1.5e-5 --sample slider.mass=normal:4:0.1 --runs 60 --factors 0.5:1:2 "
        "--executor 1 --json"
    ],
    "tolerance, kinematic": [
        "new mechanism.toml",
        'study tolerance mechanism.toml --level kinematic --clearance "pin.clearance=20 H7/g6" --pose rod.angle=0.1 '
        "--direction pin=any --metric deviation:rod.y --limit 2e-5 --runs 60 --failure form --json",
    ],
    "bifurcation": [
        "study bifurcation slider-crank-revolute --over crank_speed=2,6 --of slider.x --drive crank_speed "
        "--steps 400 --transient 1 --points 2 --set gravity=9.81 --set pin.restitution=0 --executor 1 --json"
    ],
    "identify": [
        "identify excite xy-pointing --omega 1 --position 1.2,1.0 --velocity 2,2 --acceleration 10,10 --starts 1 "
        "--executor 1 --example measured.csv --json",
        "identify estimate xy-pointing --data measured.csv --friction viscous --method huber --json",
    ],
    "fit": [
        "run bouncing-ball --dt-min 1e-6 --dt-max 2e-3 --t-end 0.8 --output ball.nc",
        "export ball.nc --output ball.csv",
        "identify fit bouncing-ball --data ball.csv --noise ball.y=1e-4 --parameter floor.restitution=0.2:0.99 "
        "--dt-min 1e-6 --dt-max 2e-3 --starts 8 --json",
    ],
}
#: of ten seconds and more
LONG = {"identify", "fit"}
#: what two computers or runs do not share
MEASURED = re.compile("second|wall|^time$")


def options() -> dict[str, Any]:
    """Every command: its help, and name, value, default and help of its parameters; without studies of one file."""
    found: dict[str, Any] = {}
    own = {f"nonsmooth {name}" for name in examples()}

    def collect(command: Any, name: str) -> None:
        shown = [_parameter(one) for one in command.params if one.name != "help"]
        found[name] = {"help": " ".join((command.help or "").split()), "parameters": shown}
        for word, one in getattr(command, "commands", {}).items():
            if f"{name} {word}" not in own:
                collect(one, f"{name} {word}")

    collect(get_command(app), "nonsmooth")
    return found


def _parameter(one: Any) -> dict[str, Any]:
    stated = getattr(one, "show_default", None)
    return {
        "names": [*one.opts, *one.secondary_opts] if one.param_type_name == "option" else one.metavar,
        "flag": bool(getattr(one, "is_flag", False)),
        "metavar": one.metavar,
        "default": repr(one.default) if not callable(one.default) else "computed",
        "shown": stated if isinstance(stated, str) else None,
        "required": one.required,
        "many": bool(getattr(one, "multiple", False) or one.nargs == -1),
        "help": one.help,
    }


def answer(lines: list[str]) -> Any:
    """The JSON that the last of some command lines prints, run in the working folder."""
    for line in lines:
        told = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(told):
            warnings.simplefilter("ignore", RuntimeWarning)
            assert main(shlex.split(line)) == 0, line
    return json.loads(told.getvalue())


def differences(found: Any, kept: Any, where: str = "") -> list[str]:
    """Where two objects differ; numbers count as equal within the round-off that other processors leave."""
    if MEASURED.search(where.rpartition("/")[2]) and type(found) is type(kept):
        return []
    if where == "/runs" and isinstance(found, int) and found == pytest.approx(kept, rel=0.05):
        return []  # of a fit: when its last steps are small enough is a matter of round-off
    if isinstance(found, dict) and isinstance(kept, dict):
        if list(found) != list(kept):
            return [f"{where}: {list(found)} in place of {list(kept)}"]
        return [one for key in kept for one in differences(found[key], kept[key], f"{where}/{key}")]
    if isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        return [one for i in range(len(kept)) for one in differences(found[i], kept[i], f"{where}/{i}")]
    if isinstance(found, float) and isinstance(kept, int | float):
        same = found == pytest.approx(kept, rel=1e-5, abs=1e-10)
    else:
        same = found == kept
    return [] if same else [f"{where}: {found!r} in place of {kept!r}"]


def test_commands_and_options_are_those_that_are_kept() -> None:
    assert differences(options(), json.loads(KEPT.read_text(encoding="utf-8"))["options"]) == []


@pytest.mark.exact("answers have numbers of iterations")
@pytest.mark.parametrize(
    "name", some([pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in RUNS], 2)
)
def test_json_is_what_is_kept(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 1e-5 of each number: shares and orders are quotients of small differences."""
    monkeypatch.chdir(tmp_path)
    assert differences(answer(RUNS[name]), json.loads(KEPT.read_text(encoding="utf-8"))["json"][name]) == []


def write() -> None:
    """All answers of today."""
    found = {}
    for name, lines in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found[name] = answer(lines)
    KEPT.write_text(json.dumps({"options": options(), "json": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
