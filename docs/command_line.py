"""Writes docs/command_line.md from the commands themselves: ``python docs/command_line.py``.

The examples are run by tests/test_docs.py, each in a folder of its own in which the earlier ones of its command wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from nonsmooth.cli.app import app
from nonsmooth.cli.commands import examples

HEAD = """\
# Command line

This page contains the output of `nonsmooth COMMAND --help`. Numbers are in SI units; times, and values of parameters
and arguments, may have a unit, such as `10ms` or `30um` ([Units](units.md)). `nonsmooth --install-completion` lets the
shell complete commands, options and names. Steppers, solvers and laws have their class names in kebab case: `GaussMPCC`
is `gauss-mpcc`, `LankaraniNikravesh` is `lankarani-nikravesh`. A figure is a `.png`, `.pdf` or `.svg`, data are NetCDF
(`.nc`). Results go to standard output, progress and messages to standard error; with `--json` standard output is a
single JSON object, with `-q` nothing is printed.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | a run failed; its trajectory so far is saved, and the file is named; or a result could not be written |
| 2 | invalid input: a message says what is wrong and what is accepted; nothing is written |
| 130 | interrupted by Ctrl-C, SIGTERM or a closed terminal; the trajectory so far is saved as well |

The step size is given by `--dt` (constant), by `--dt-min` and `--dt-max` (steps that end exactly at impacts), or by
these two with `--rtol` and `--atol` (error control); [Choosing a stepper and a solver](choosing.md) says which stepper
supports which, and gives recommendations. Without them the step size is chosen automatically
([Can the motion be trusted?](trust.md)).

`--set` changes an argument of the problem or a parameter `element.parameter`. A file such as `my_mechanism.py` defines
`model`, or a function `build()` that returns a `Model`.

## All commands at a glance

```sh
nonsmooth list                     # ready problems
nonsmooth describe four-bar --figure sketch.png   # bodies, joints, where each value comes from, and a drawing
nonsmooth new my_mechanism.py      # a commented template that runs as it is
nonsmooth new my_mechanism.toml    # the same without Python: docs/declarative.md
nonsmooth run slider-rod --case 1 --stepper gauss-qp --solver osqp --dt 1e-4 --t-end 0.02 --set guide.clearance=2e-5
nonsmooth run my_mechanism.py --t-end 0.1 --json
nonsmooth report run.nc            # the run as one HTML page: mechanism in motion, charts, impacts: docs/report.md
nonsmooth plot run.nc --panel slider.y --panel lam_N:guide --width single --output figure.pdf  # any quantities again
nonsmooth plot run.nc --measured data.csv   # measured data over the run
nonsmooth export run.nc            # a CSV file with names and units
nonsmooth compare slider-rod --figure compare.png          # rigid and compliant contact at equal error
nonsmooth study rigid-limit slider-rod --depth 1e-7        # how fast compliant contact converges to rigid
nonsmooth study step-size slider-rod --figure steps.png    # error, overlap and cost over the step
nonsmooth study bifurcation slider-crank-revolute --over crank_speed=2:22:50 --of slider.x --drive crank_speed \\
    --steps 1000 --set gravity=9.81 --figure speed.png     # how the long-run motion changes with the speed
nonsmooth doctor                   # versions, solvers, what is missing
```

Each example below is run by [test_docs.py](../tests/test_docs.py).
"""

EXAMPLES = {
    "list": ["nonsmooth list"],
    "describe": ["nonsmooth describe slider-rod"],
    "fits": ['nonsmooth fits "20 H7/g6"', 'nonsmooth fits "20 H8/f7" "40 H11/c11" --json'],
    "new": ["nonsmooth new mechanism.py", "nonsmooth new mechanism.toml", "nonsmooth new spatial.toml --space"],
    "run": [
        "nonsmooth run slider-rod --case 2 --dt-min 1e-6 --dt-max 1e-3 --t-end 0.02 --figure run.png --output run.nc",
        "nonsmooth run slider-rod --stepper gauss-qp --solver osqp --dt 1e-4 --t-end 0.01 --set guide.clearance=2e-5 "
        "--json",
        "nonsmooth run slider-crank-translational --stepper event-driven --rtol 1e-7 --atol 1e-9 --dt-min 1e-5 "
        "--dt-max 5e-3 --t-end 0.05",
        "nonsmooth run slider-rod --contact compliant --law flores --set stiffness=1e10 --set restitution=0.5 "
        "--rtol 1e-7 --atol 1e-9 --dt-min 1e-6 --dt-max 1e-3 --t-end 0.004",
        "nonsmooth new mechanism.toml",
        "nonsmooth run mechanism.toml --t-end 0.05 --set pin.clearance=1e-4",
        "nonsmooth new spatial.toml --space",
        "nonsmooth run spatial.toml --t-end 0.02 --set ball.clearance=1e-4 --output spatial.nc",
        "nonsmooth run slider-rod --stepper moreau-jean --dt 1e-5 --t-end 0.01 --checkpoint kept.nc --every 30s",
        "nonsmooth run --resume kept.nc --output resumed.nc",
    ],
    "compare": ["nonsmooth compare slider-rod --t-end 0.003 --stiffness 1e12 --target 0 --figure compare.png"],
    "study rigid-limit": ["nonsmooth study rigid-limit slider-rod --t-end 0.003 --stiffness 1e10 --stiffness 1e11"],
    "study step-size": [
        "nonsmooth study step-size slider-rod --case 2 --t-end 0.003 --stepper gauss-qp --levels 4 --jitter 2 "
        "--executor 1",
    ],
    "study sweep": [
        "nonsmooth study sweep slider-rod --case 2 --t-end 0.004 --dt 1e-4 --metric peak-impulse "
        "--grid guide.clearance=5e-6:2e-5:4 --executor 1 --output sweep.nc",
    ],
    "study tolerance": [
        "nonsmooth study tolerance slider-rod --case 2 --t-end 0.004 --dt 1e-4 --metric amplitude:slider.angle "
        "--limit 3e-5 --clearance guide.clearance=5e-6:1.5e-5 --runs 100 --factors 0.2:1:3 --executor 1",
        "nonsmooth new mechanism.toml",
        'nonsmooth study tolerance mechanism.toml --level kinematic --clearance "pin.clearance=20 H7/g6" '
        "--pose rod.angle=0.1 --metric deviation:rod.y --limit 2e-5 --runs 1000 --figure yield.png",
    ],
    "identify excite": [
        "nonsmooth identify excite xy-pointing --omega 0.4 --position 1.2,1.0 --velocity 0.25,0.2 --acceleration 1,1 "
        "--starts 1 --executor 1 --output motion.csv --figure motion.png",
    ],
    "identify estimate": [
        "nonsmooth identify excite xy-pointing --omega 1 --position 1.2,1.0 --velocity 2,2 --acceleration 10,10 "
        "--starts 1 --executor 1 --example measured.csv",
        "nonsmooth identify estimate xy-pointing --data measured.csv --figure estimate.png",
        "nonsmooth identify estimate xy-pointing --data measured.csv --method consistent --json",
    ],
    "identify fit": [
        "nonsmooth run bouncing-ball --dt-min 1e-6 --dt-max 2e-3 --t-end 0.8 --output ball.nc",
        "nonsmooth export ball.nc --output ball.csv",
        "nonsmooth identify fit bouncing-ball --data ball.csv --noise ball.y=1e-4 --parameter "
        "floor.restitution=0.2:0.99 --dt-min 1e-6 --dt-max 2e-3 --starts 8 --resume fit.json --figure fit.png",
    ],
    "study bifurcation": [
        "nonsmooth study bifurcation slider-crank-revolute --over crank_speed=2:6:3 --of slider.x --drive crank_speed "
        "--steps 400 --transient 4 --points 4 --set gravity=9.81 --executor 1 --figure speed.png",
    ],
    "study gradient": [
        "nonsmooth study gradient slider-crank-revolute --of slider.x --t-end 1ms --by pin.clearance --by rod.mass",
    ],
    "study statistics": [
        "nonsmooth study statistics slider-crank-revolute --t-end 0.3 --members 4 --measure energy-rate "
        "--measure mean-force:pin --executor 1 --figure statistics.png",
    ],
    "plot": [
        "nonsmooth run slider-rod --case 2 --dt-min 1us --dt-max 1ms --t-end 20ms --output run.nc",
        "nonsmooth plot run.nc",
        "nonsmooth plot run.nc --panel sketch --panel slider.y --panel lam_N:guide --width single --output figure.png",
        "nonsmooth plot run.nc --list",
    ],
    "export": [
        "nonsmooth run slider-rod --case 2 --dt-min 1us --dt-max 1ms --t-end 20ms --output run.nc",
        "nonsmooth export run.nc --output table.csv",
    ],
    "report": [
        "nonsmooth run slider-rod --case 2 --dt-min 1e-6 --dt-max 1e-3 --t-end 0.02 --output run.nc",
        "nonsmooth report run.nc --output page.html",
    ],
    "cite": [
        "nonsmooth run slider-rod --case 1 --dt-min 1e-6 --dt-max 1e-3 --t-end 0.004 --output run.nc",
        "nonsmooth cite run.nc",
    ],
    "doctor": ["nonsmooth doctor"],
}
# a study of one file has its example in its docstring
EXAMPLES |= examples()
#: commands whose runs are too long for an example that is run each time, with where they are shown
ELSEWHERE = {"study published": "[The dual manipulator](dual_manipulator.md)"}
#: what the documents say of a command beyond its own help
MORE = {
    "new": "The files can be run as they are: `nonsmooth run mechanism.py --dt-min 1e-6 --dt-max 1e-3 --t-end 0.1`,\n"
    "`nonsmooth run mechanism.toml`.\n",
    "run": "In place of a problem, a TOML file ([Mechanisms without Python](declarative.md)), whose `[run]` gives\n"
    "the settings not given as options, or a file `mechanism.py` that defines `model`, or a function `build()` that\n"
    "returns a `Model`; the arguments of `build` are set like those of a problem; or\n"
    "the file of a robot, MJCF or URDF ([Your robot, loosened](robots.md)). The figure shows the exact solution\n"
    "if the problem has one.\n",
    "compare": "See [Rigid and compliant contact compared](compare.md). Of a Python file the function\n"
    "`build(contact)` is called with each contact law; in a model that is built without this argument, the laws\n"
    "of all contacts are replaced.\n",
    "plot": "The columns of measured data have the names that `--list` shows; a unit in brackets may have a prefix.\n"
    "How far the run is from them is printed.\n",
    "export": "The file can be laid over another run by `nonsmooth plot --measured`.\n",
    "report": "See [A run as a page](report.md). Two files are shown side by side; of more than two files, two\n"
    "are selected on the page. All commands that run simulations have `--report`.\n",
    "study rigid-limit": "See [Rigid and compliant contact compared](compare.md).\n",
    "study bifurcation": "See [Bifurcation diagrams](analyses.md#bifurcation-diagrams).\n",
    "study statistics": "See [What can be known about a chaotic mechanism](statistics.md).\n",
    "cite": "The solvers are those that were used. The entries are listed in [References](references.md).\n",
}


def commands(group: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name and command, the groups resolved."""
    for name, command in (group or get_command(app)).commands.items():
        if getattr(command, "commands", None):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def folded(command: str, width: int = 110) -> str:
    """A long command over several lines, broken before options."""
    lines = [""]
    for word in re.split(r" (?=--)", command):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, command in commands():
        lines = [f"## nonsmooth {name}\n", f"{' '.join((command.help or '').split())}\n"]
        if name in MORE:
            lines.append(MORE[name])
        if name in EXAMPLES:
            lines.append("\n".join(["```sh", *map(folded, EXAMPLES[name]), "```\n"]))
        elif name in ELSEWHERE:
            lines.append(f"An example is given in {ELSEWHERE[name]}.\n")
        else:
            raise SystemExit(f"docs/command_line.py: give `nonsmooth {name}` an example in EXAMPLES.")
        if rows := [row(parameter) for parameter in command.params if parameter.name != "help"]:
            lines.append("\n".join(["| | |", "|---|---|", *rows]) + "\n")
        parts.append("\n".join(lines))
    return "\n".join(parts)


def row(parameter: Any) -> str:
    """One argument or option: how it is written, and its help."""
    if parameter.param_type_name == "argument":
        written = parameter.metavar or parameter.name.upper()
    else:
        word = parameter.opts[-1]
        value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or word.lstrip('-').upper()}"
        written = f"{word}{value}"
    stated = getattr(parameter, "show_default", None)
    if isinstance(stated, str):
        default = f" Default: {stated}."
    elif isinstance(parameter.default, str | int | float) and not isinstance(parameter.default, bool):
        default = f" Default: {parameter.default}."
    else:
        default = " Required." if parameter.required and parameter.param_type_name == "option" else ""
    text = " ".join((parameter.help or "").split())
    return f"| `{written}` | {text}{default} |".replace("PROBLEM|FILE", r"PROBLEM\|FILE")


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
