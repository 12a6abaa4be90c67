"""Checks of the type and range of the arguments of a run, before anything is computed."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.settings import hint, is_count, is_number, require, shown
from nonsmooth.step.control import ConstantStep, StepControl
from nonsmooth.step.tolerances import ON_GRID

#: least accuracy, as a share of the smallest clearance and of the peak force
LEAST_ACCURACY = 1e-8
_BOUNDS = (
    "It belongs to the steps, which are given with a stepper: GaussQP(), dt=Landing(dt_min, dt_max), or EventDriven(), "
    "dt=ErrorControl(rtol, dt_max=...)."
)
_TOLERANCES = "It belongs to the steps, which are given with a stepper: EventDriven(), dt=ErrorControl(rtol, atol)."
#: where settings belong that are no arguments of a run
ELSEWHERE = {
    "dt_min": _BOUNDS, "dt_max": _BOUNDS, "rtol": _TOLERANCES, "atol": _TOLERANCES,
    "solver": "It belongs to the stepper: GaussQP(solver=...).",
}  # fmt: skip

P = ParamSpec("P")
Result = TypeVar("Result")


def known_arguments(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function, which raises InputError for a named argument that it does not take, and says where it belongs."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*values: P.args, **named: P.kwargs) -> Result:
        for name in named:
            if name not in known:
                remedy = hint(name, known, 2).strip() or f"It takes {', '.join(known)}."
                raise InputError(f"{function.__name__} has no argument {name!r}. {ELSEWHERE.get(name, remedy)}")
        return function(*values, **named)

    return checked


def check_kinds(parameters: Any, t_start: Any, t_end: Any, progress: Any) -> None:
    """Raise InputError for arguments of a wrong type."""
    if not (parameters is None or isinstance(parameters, Mapping)):
        raise InputError(f'parameters must be numbers by name, as {{"pin.clearance": 1e-4}}, got {shown(parameters)}.')
    require(t_start is None or is_number(t_start), "t_start must be a finite number of seconds", t_start)
    require(is_number(t_end), "t_end must be a finite number of seconds after the start", t_end)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InputError(f"progress must be True or a function of (t, t_end, steps), got {shown(progress)}.")


#: what settings of schemes have, see `nonsmooth.step.scheme.Stepper`
OF_STEPPERS = ("scheme", "check", "contact", "compiled", "solver", "default_solver", "rescuing_solver", "fallback")


def check_stepper(stepper: Any) -> None:
    """Raise InputError for what is no stepper, or has no solver; None stands for one that is chosen."""
    lacks = [name for name in OF_STEPPERS if not hasattr(stepper, name)]
    if lacks and hasattr(stepper, "scheme") and not isinstance(stepper, type):
        lack = f"it has no {', '.join(lacks)}; see nonsmooth.step.scheme.Stepper"
        raise InputError(f"{shown(stepper)} is no stepper: {lack}.")
    if stepper is not None and (isinstance(stepper, type) or lacks):
        name = stepper.__name__ if isinstance(stepper, type) else shown(stepper)
        raise InputError(f"The stepper must be one such as GaussMPCC(), got {name}; write it with its brackets.")
    solver = None if stepper is None else stepper.solver
    if solver is not None and (isinstance(solver, type) or not hasattr(solver, "fits")):
        name = solver.__name__ if isinstance(solver, type) else shown(solver)
        raise InputError(f"The solver of {type(stepper).__name__} must be one such as ActiveSet(), got {name}.")


def check_arguments(
    t_start: float, t_end: float, interpreted: bool, record: int, accuracy: float, max_steps: int | None,
    max_seconds: float | None,
) -> None:  # fmt: skip
    """Raise InputError for values out of range."""
    require(t_end > t_start, f"t_end must lie after the start at t = {t_start:g} s", t_end)
    require(isinstance(interpreted, bool), "interpreted must be True or False", interpreted)
    if not is_count(record) or record < 1:
        raise InputError(f"record must be an integer >= 1, got {shown(record)}.")
    if not is_number(accuracy) or not LEAST_ACCURACY <= accuracy <= 1.0:
        raise InputError(
            f"accuracy must be a share of clearance and peak force from {LEAST_ACCURACY:g} to 1, got {shown(accuracy)}."
        )
    if max_steps is not None and not (is_count(max_steps) and max_steps >= 1):
        raise InputError(f"max_steps must be a whole number, at least 1, got {shown(max_steps)}.")
    if max_seconds is not None and not (is_number(max_seconds) and max_seconds > 0.0):
        raise InputError(f"max_seconds must be a positive number of seconds, got {shown(max_seconds)}.")


def check_choice(stepper: Any, dt: Any, record: int, chosen: bool, check: Any, accuracy: float | None) -> None:
    """Raise InputError for arguments that have no effect, or exclude each other."""
    require(isinstance(check, bool), "check must be True or False", check)
    if stepper is None and dt is not None:
        raise InputError(f"dt = {shown(dt)} needs a stepper; give one, such as GaussQP(), or leave dt out as well.")
    if accuracy is not None and not (chosen or check):
        raise InputError(
            f"accuracy = {accuracy:g} has no effect on given steps without check=True; add it, or leave dt out."
        )
    if record != 1 and (chosen or check):
        raise InputError(
            f"record = {record} needs a stepper and dt of your own, without check: runs are compared by row."
        )


def check_step(control: StepControl, t_start: float, t_end: float, *, first: bool = True) -> None:
    """Raise InputError for steps that times cannot tell apart, or longer than a run that is not continued."""
    constant = isinstance(control, ConstantStep)
    longest = control.dt if isinstance(control, ConstantStep) else control.dt_max
    name = "dt" if constant else f"{type(control).__name__}: dt_max"
    least = float(np.spacing(max(abs(t_start), abs(t_end))))
    if longest < (least / (2 * ON_GRID) if constant else least):  # steps are counted by times
        raise InputError(
            f"{name} = {longest:g} s is too short for a run to t = {t_end:g} s, whose times are {least:.2g} s apart as "
            "floating point numbers; give a longer one, or let the run begin at t_start = 0."
        )
    if constant and first and longest > (t_end - t_start) * (1 + 1e-9):
        raise InputError(
            f"dt = {longest:g} s is longer than the run from t = {t_start:g} s to t_end = {t_end:g} s; give a shorter "
            "one, or a later t_end."
        )
