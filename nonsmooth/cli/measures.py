"""Commands of the studies in `nonsmooth.studies.measures`, from the signatures and docstrings of their functions.

They are read as text: the help of the program imports no study.
"""

from __future__ import annotations

import ast
import re
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from nonsmooth.cli.options import command
from nonsmooth.cli.study import Swept
from nonsmooth.exceptions import InputError

__all__ = ["FOLDER", "add_measures", "examples"]

FOLDER = Path(__file__).parents[1] / "studies" / "measures"
#: annotations that options have
TYPES: dict[str, Any] = {"float": float, "int": int, "bool": bool, "str": str}
TYPES |= {f"{name} | None": kind | None for name, kind in TYPES.items()}


def add_measures(app: typer.Typer, folder: Path = FOLDER) -> None:
    """Add a command for each file of the folder.

    Raises
    ------
    InputError
        For a file without a function of its name, or an option whose type or meaning is not stated.
    """
    for path in _files(folder):
        function, text = _read(path)
        helps = dict(re.findall(r"^(\w+)(?: : [^\n]*)?\n    ([^\n]+)$", text, re.M))
        options = []
        for one, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
            written = "" if one.annotation is None else ast.unparse(one.annotation)
            if written not in TYPES or one.arg not in helps:
                raise InputError(
                    f"{path}: the option {one.arg} has the type {written or 'nothing'} and "
                    f"{'a' if one.arg in helps else 'no'} line below Parameters; types are {', '.join(TYPES)}, and a "
                    "line of help is needed."
                )
            option = typer.Option(f"--{one.arg.replace('_', '-')}", help=helps[one.arg])
            given = {} if default is None else {"default": ast.literal_eval(default)}
            options.append((one.arg, Annotated[TYPES[written], option], field(**given)))
        kind = make_dataclass(
            function.name, options, bases=(Swept,), frozen=True, kw_only=True,
            namespace={"measure": path.stem, "options": tuple(name for name, *_ in options)},
        )  # fmt: skip
        kind.__doc__ = text.partition("\n\n")[0]
        command(app, path.stem.replace("_", "-"), "sweep.carry_out_sweep")(kind)


def examples(folder: Path = FOLDER) -> dict[str, list[str]]:
    """The example of each study, by the name of its command."""
    return {
        f"study {path.stem.replace('_', '-')}": re.findall(r"^\$ (nonsmooth .*)$", _read(path)[1], re.M)
        for path in _files(folder)
    }


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.py") if not path.stem.startswith("_"))


def _read(path: Path) -> tuple[ast.FunctionDef, str]:
    """The function of a file, and its docstring."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == path.stem:
            return node, ast.get_docstring(node) or ""
    raise InputError(f"{path}: define the function {path.stem}(run, *, ...), which measures a run.")
