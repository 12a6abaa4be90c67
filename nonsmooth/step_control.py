"""How long a step is: the values of `dt`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from nonsmooth.exceptions import InputError

__all__ = ["ConstantStep", "Landing", "StepControl", "step_control"]


def _positive(value: object) -> bool:
    return isinstance(value, Real) and 0.0 < float(value) < math.inf


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
        for name in ("dt_min", "dt_max"):
            value = getattr(self, name)
            if not _positive(value):
                raise InputError(f"Landing: {name} must be a positive number of seconds, got {value!r}.")
        if self.dt_min > self.dt_max:
            raise InputError(
                f"Landing: dt_min must not exceed dt_max, got dt_min = {self.dt_min!r} and "
                f"dt_max = {self.dt_max!r}; swap them."
            )

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """Latest end of the step that starts at t."""
        end = t + self.dt_max
        return t_end if end >= t_end - 1e-9 * self.dt_max else end


StepControl = ConstantStep | Landing


def step_control(dt: float | StepControl) -> StepControl:
    """A number is a constant step.

    >>> step_control(1e-3)
    ConstantStep(dt=0.001)
    """
    if isinstance(dt, ConstantStep | Landing):
        return dt
    if isinstance(dt, bool) or not isinstance(dt, (int, float)):
        raise InputError(f"dt must be a number of seconds or Landing(dt_min, dt_max), got {dt!r}.")
    return ConstantStep(float(dt))
