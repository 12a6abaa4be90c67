"""Mechanisms in files: Python files that define a model, TOML files that state one."""

from __future__ import annotations

import importlib.util
import inspect
import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nonsmooth.exceptions import InputError, NonsmoothError

if TYPE_CHECKING:
    from nonsmooth.declarative import Declaration
    from nonsmooth.model.system import System
    from nonsmooth.registry import Problem

__all__ = ["check_file", "is_file", "problem_of", "stated_problem", "system_of"]


def is_file(problem: str) -> bool:
    """Whether a word names a file rather than a ready problem.

    >>> is_file("my_mechanism.toml"), is_file("slider-rod")
    (True, False)
    """
    return problem.endswith((".py", ".toml")) or os.sep in problem


def check_file(path: Path) -> None:
    """Raise InputError unless it is a file whose name ends as that of a Python file does."""
    wanted = "give a Python file that defines `model` or a function `build()`"
    if not path.is_file():
        raise InputError(f"{path} is not a file: {wanted}, or a TOML file.")
    if path.suffix != ".py":
        raise InputError(f"{path} is neither a Python file (.py) nor a TOML file (.toml): {wanted}.")


def problem_of(word: str) -> Problem:
    """A ready problem by name, or the mechanism of a TOML file, whose one argument is the contact law."""
    from nonsmooth.registry import get_problem

    if not word.endswith(".toml"):
        return get_problem(word)
    from nonsmooth.declarative import read

    return stated_problem(read(word), Path(word))


def stated_problem(declaration: Declaration, path: Path) -> Problem:
    """The mechanism of a TOML file as a problem."""
    from nonsmooth.registry import Problem

    laws = declaration.contacts
    own = laws[0] if laws and all(law == laws[0] for law in laws) else None

    def with_contact(contact: Any = own) -> Any:
        declaration.build(contact=contact)  # what is wrong is said with its line
        return declaration.replaced(contact)

    def as_it_is() -> Any:
        return with_contact()

    function = with_contact if laws else as_it_is
    function.__name__, function.__doc__ = path.stem, f"The mechanism of {path}."
    return Problem(function, (), f"the file {path}", {})


def system_of(path: Path, arguments: Mapping[str, Any]) -> System:
    """Run a user's Python file and build what it defines.

    Raises
    ------
    InputError
        If there is no such file, it fails, or it defines no mechanism.
    """
    check_file(path)
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise InputError(f"{path} is not a Python file: give one that defines `model` or a function `build()`.")
    module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
        model = _model_of(module, path, arguments)
        system = model.build() if hasattr(model, "build") else model
    except NonsmoothError:
        raise
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
        line = getattr(error, "lineno", None) or (frames[-1].lineno if frames else "?")
        raise InputError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
    if not hasattr(system, "q_names"):
        raise InputError(
            f"{path}: expected a Model, got {type(model).__name__}; `model` or `build()` must give a Model."
        )
    return system


def _model_of(module: ModuleType, path: Path, arguments: Mapping[str, Any]) -> Any:
    if not hasattr(module, "model") and not hasattr(module, "build"):
        raise InputError(f"{path} defines neither `model` nor `build()`: add one of them.")
    if hasattr(module, "build"):
        accepted = inspect.signature(module.build).parameters
        unknown = [name for name in arguments if name not in accepted]
        if not unknown or any(one.kind is one.VAR_KEYWORD for one in accepted.values()):
            return module.build(**arguments)
        offer = ", ".join(accepted) or "no arguments"
        raise InputError(f"{path}: build() does not take {unknown[0]!r}; it takes {offer}.")
    if arguments:
        name = next(iter(arguments))
        raise InputError(f"{path} defines `model`, which takes no argument {name!r}: define a function build({name}).")
    return module.model
