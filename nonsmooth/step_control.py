"""How long a step is: the values of `dt`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from nonsmooth.exceptions import InputError

__all__ = ["ConstantStep", "ErrorControl", "Landing", "StepControl", "step_control"]

#: below this a relative tolerance is lost in round-off
FINEST = 1e-14


def _positive(value: object) -> bool:
    return isinstance(value, Real) and 0.0 < float(value) < math.inf


def _check_bounds(name: str, dt_min: object, dt_max: object) -> None:
    for label, value in (("dt_min", dt_min), ("dt_max", dt_max)):
        if not _positive(value):
            raise InputError(f"{name}: {label} must be a positive number of seconds, got {value!r}.")
    if dt_min > dt_max:  # type: ignore[operator]
        raise InputError(
            f"{name}: dt_min must not exceed dt_max, got dt_min = {dt_min!r} and dt_max = {dt_max!r}; swap them."
        )


@dataclass(frozen=True)
class ConstantStep:
    """Steps of one length, on the grid t_start + k dt; the last one is cut at t_end.

    Parameters
    ----------
    dt : [s], > 0
    """

    dt: float

    def __post_init__(self) -> None:
        if not _positive(self.dt):
            raise InputError(f"dt must be a positive number of seconds, got {self.dt!r}.")

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """End of the step that starts at t."""
        k = math.floor((t - t_start) / self.dt + 1e-6) + 1
        end = t_start + k * self.dt
        return t_end if end >= t_end - 1e-9 * self.dt else end


@dataclass(frozen=True)
class Landing:
    """Steps up to `dt_max` that end exactly where a contact closes.

    A contact that returns within `dt_min` of leaving, as near the limit of ever faster bounces, is not landed on: one
    plastic step of `dt_min` is taken instead.

    Parameters
    ----------
    dt_min, dt_max : [s], 0 < dt_min <= dt_max
    """

    dt_min: float
    dt_max: float

    def __post_init__(self) -> None:
        _check_bounds("Landing", self.dt_min, self.dt_max)

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """Latest end of the step that starts at t."""
        end = t + self.dt_max
        return t_end if end >= t_end - 1e-9 * self.dt_max else end


@dataclass(frozen=True)
class ErrorControl:
    """Steps as long as an error estimate allows, up to `dt_max`, that end exactly at events.

    The estimate of each coordinate and velocity y is held below ``atol + rtol |y|``, root mean square. `dt_min` is no
    bound on the length, which falls as far as events and tolerances ask: it is the time within which impacts count as
    one, or as a rest (see `EventDriven`). Safe are 1e-6 to 1e-4 s.

    Parameters
    ----------
    rtol : [-], 1e-14 <= rtol < 1
    atol : > 0, in the unit of each coordinate and velocity
    dt_min, dt_max : [s], 0 < dt_min <= dt_max
    """

    rtol: float
    atol: float
    dt_min: float
    dt_max: float

    def __post_init__(self) -> None:
        if not (_positive(self.rtol) and FINEST <= self.rtol < 1.0):
            raise InputError(f"ErrorControl: rtol must be a number from {FINEST:g} to below 1, got {self.rtol!r}.")
        if not _positive(self.atol):
            raise InputError(f"ErrorControl: atol must be a positive number, got {self.atol!r}.")
        _check_bounds("ErrorControl", self.dt_min, self.dt_max)

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """Latest end of the step that starts at t."""
        end = t + self.dt_max
        return t_end if end >= t_end - 1e-9 * self.dt_max else end


StepControl = ConstantStep | Landing | ErrorControl


def step_control(dt: float | StepControl) -> StepControl:
    """A number is a constant step.

    >>> step_control(1e-3)
    ConstantStep(dt=0.001)
    """
    if isinstance(dt, ConstantStep | Landing | ErrorControl):
        return dt
    if isinstance(dt, bool) or not isinstance(dt, (int, float)):
        raise InputError(
            f"dt must be a number of seconds or Landing(dt_min, dt_max), got {dt!r}; EventDriven takes "
            "ErrorControl(rtol, atol, dt_min, dt_max)."
        )
    return ConstantStep(float(dt))
