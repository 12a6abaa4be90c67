"""Runs of the command line that continue from a checkpoint: `nonsmooth run --resume`."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nonsmooth.cli.files import check_writable
from nonsmooth.cli.inputs import Request
from nonsmooth.cli.options import KINDS, MANY
from nonsmooth.exceptions import InputError
from nonsmooth.run.checkpoints import EVERY, stored

#: files to be written, by their options
OUTPUTS = ("output", "figure", "animation", "report")
#: fields of a request that are options, and stored
OPTIONS = [one for one in dataclasses.fields(Request) if one.compare]


class Asked(os.PathLike[str]):
    """The path of a checkpoint, with the options of the run."""

    def __init__(self, path: Path, request: str) -> None:
        self.path, self.request = path, request

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


@dataclasses.dataclass(frozen=True)
class Kept:
    """Checkpoint file of a run of the command line, and interval [s]."""

    path: Asked
    every: float


def kept_by(
    request: Request, files: Mapping[str, Path | None], checkpoint: Path | None, every: float | None
) -> Kept | None:
    """The checkpoint file, checked before the run; None without one.

    Raises
    ------
    InputError
        If the file cannot be written, or there is an interval and no file.
    """
    if checkpoint is None:
        if every is not None:
            raise InputError(f"--every {every:g} needs --checkpoint FILE.nc, the file to write so often.")
        return None
    check_writable("--checkpoint", checkpoint, (".nc",))
    if files.get("output") is not None and os.path.realpath(checkpoint) == os.path.realpath(str(files["output"])):
        raise InputError(f"--checkpoint and --output are both {checkpoint}: give two files.")
    words = {one.name: getattr(request, one.name) for one in OPTIONS}
    wanted = {name: None if path is None else str(path) for name, path in files.items()}
    return Kept(Asked(checkpoint, json.dumps({"request": words, "files": wanted})), EVERY if every is None else every)


def request_of(path: Path, given: Request, files: Mapping[str, Path | None]) -> tuple[Request, dict[str, Path | None]]:
    """The options of the run of a checkpoint, replaced by those given now.

    A file from others names neither a program to run nor a file outside of the working folder to write.

    Raises
    ------
    InputError
        If the file is no checkpoint of a run of the command line, or names such.
    """
    _, _, words = stored(path)
    try:
        known = json.loads(words)
        request = _request(known["request"])
        wanted = {name: None if known["files"].get(name) is None else Path(known["files"][name]) for name in OUTPUTS}
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} was not written by `nonsmooth run`: continue it by the call of simulate(..., checkpoint=...) "
            "that wrote it."
        ) from error
    changes = {one.name: getattr(given, one.name) for one in dataclasses.fields(Request)}
    usual = {"problem": "", "settings": (), "check": False, "usual": "gauss-qp"}
    changes = {name: value for name, value in changes.items() if value != usual.get(name)}
    if "problem" not in changes and request.problem.endswith(".py"):
        raise InputError(
            f"{path} is a run of the Python file {request.problem}, which is run only where you name it: "
            f"nonsmooth run {request.problem} --resume {path}."
        )
    for name, one in wanted.items():
        outside = one is not None and not one.resolve().is_relative_to(Path.cwd().resolve())
        if outside and files.get(name) is None:
            raise InputError(
                f"{path} asks for --{name} {one}, outside of the working folder: give --{name} again to have it there, "
                "or elsewhere."
            )
    return dataclasses.replace(request, **changes), wanted | {name: one for name, one in files.items() if one}


def _request(words: Mapping[str, Any]) -> Request:
    """From plain data, each of the kind that options give."""
    for one in OPTIONS:
        kind, value = KINDS[str(one.type).removesuffix(" | None")][0], words.get(one.name, one.default)
        kinds = (int, float) if kind is float else list if kind in MANY else kind
        if not (isinstance(value, kinds) or value is None and one.default is None):
            raise TypeError(f"{one.name} = {value!r}")
    return Request(**{**words, "settings": tuple(str(word) for word in words["settings"])})
