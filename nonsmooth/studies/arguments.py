"""Checks of the arguments of studies, before the first run: a study records what fails in a run as its result."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.settings import floats, is_count, is_number, require, shown


def check_processes(executor: Any, progress: Any = None) -> None:
    """Raise InputError for arguments that say how the runs of a study are distributed and told."""
    number = is_count(executor) and executor >= 1
    if not (executor is None or number or isinstance(executor, str) or hasattr(executor, "submit")):
        raise InputError(
            "executor must be a number of processes, at least 1, an executor of concurrent.futures, a Dask client, or "
            f'the address of a Dask scheduler, as "tcp://host:8786", got {shown(executor)}.'
        )
    told = progress is None or progress is False or callable(progress)
    require(told, "progress must be True or a function", progress)


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise InputError unless a value is a whole number from `least`."""
    require(is_count(value) and value >= least, f"{name} must be a whole number, at least {least}", value)


def check_share(name: str, value: Any) -> None:
    """Raise InputError unless a value is a number between 0 and 1, both excluded."""
    require(is_number(value) and 0.0 < value < 1.0, f"{name} must lie between 0 and 1", value)


def check_known(system: System, names: Iterable[str]) -> None:
    """Raise InputError, with the nearest name, for a name that is no parameter of a mechanism."""
    for name in names:
        if name not in system.parameters:
            system.parameter_vector({name: 1.0})


def check_build(value: Any) -> None:
    """Raise InputError unless a value can make a mechanism of a contact law."""
    example = "as model.with_contact, or lambda contact: slider_rod(contact=contact)"
    require(callable(value), f"build must be a function of the contact law, {example}", value)


def built(build: Callable[[Any], Any], contact: Any) -> System:
    """The system that a user's function makes of a contact law; it may return a model or a system."""
    made = build(contact)
    system = made.build() if isinstance(made, Model) else made
    if not isinstance(system, System):
        raise InputError(f"build must return a Model or a System, got {type(made).__name__}.")
    return system


def mapping(name: str, value: Any) -> dict[str, Any]:
    require(value is None or isinstance(value, Mapping), f"{name} must be values by name, as a dict", value)
    return dict(value or {})


def numbers(name: str, value: Any) -> Array:
    """A list of finite numbers, at least one."""
    try:
        found = floats(value)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if found.ndim != 1 or not found.size or not np.all(np.isfinite(found)):
        raise InputError(f"{name} must be a list of finite numbers, got {shown(value)}.")
    return found
