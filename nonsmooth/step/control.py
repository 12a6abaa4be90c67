"""Step size control: the values of `dt`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated

from nonsmooth.exceptions import InputError
from nonsmooth.quantities import InUnits, Unit, has_unit
from nonsmooth.settings import is_number, shown
from nonsmooth.step.tolerances import ON_GRID, REMAINDER

#: smallest relative tolerance; below it round-off dominates
FINEST = 1e-14
#: default least number of steps of a run, and default time [s] within which impacts are simultaneous
ROWS, WINDOW = 500, 1e-6
#: tolerance up to which it holds, share of the longest step that is left per tenth of that, and tenths at most
COARSE, SHORTER, TENTHS = 1e-5, 0.6, 5
#: from one run to the next finer one: of steps, and of tolerances, down to the least one
QUARTER, TENTH, LEAST = 0.25, 0.1, 1e-13
#: placeholders for bounds that are not known yet
BOUNDS = (1e-300, 1e300)


def _rounded(value: float) -> float:
    """To twelve digits, so that 1e-10 / 100 reads 1e-12."""
    return float(f"{value:.12g}")


def _positive(value: object) -> bool:
    return is_number(value) and value > 0.0  # type: ignore[operator]


def _check_bounds(name: str, dt_min: object, dt_max: object) -> None:
    for label, value in (("dt_min", dt_min), ("dt_max", dt_max)):
        if not _positive(value):
            raise InputError(f"{name}: {label} must be a positive number of seconds, got {shown(value)}.")
    if dt_min > dt_max:  # type: ignore[operator]
        raise InputError(
            f"{name}: dt_min must not exceed dt_max, got dt_min = {dt_min!r} and dt_max = {dt_max!r}; swap them."
        )


@dataclass(frozen=True)
class ConstantStep(metaclass=InUnits):
    """Steps of one length dt [s], > 0, on the grid t_start + k dt; the last one is cut at t_end."""

    dt: Annotated[float, Unit("s")]

    def __post_init__(self) -> None:
        if not _positive(self.dt):
            raise InputError(f"dt must be a positive number of seconds, got {shown(self.dt)}.")

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """End of the step that starts at t."""
        k = math.floor((t - t_start) / self.dt + ON_GRID) + 1
        end = t_start + k * self.dt
        return t_end if end >= t_end - REMAINDER * self.dt else end


@dataclass(frozen=True)
class Landing(metaclass=InUnits):
    """Steps up to `dt_max` that end exactly where a contact closes.

    A contact that closes again within `dt_min` of opening, as near an accumulation of impacts, is not located: one
    plastic step of `dt_min` is taken instead.

    Parameters
    ----------
    dt_min, dt_max : [s], 0 < dt_min <= dt_max
    error : [-], optional
        Local error of a step relative to the smallest clearance: the step size is adapted between the bounds such that
        the error of displacements and gaps stays below it. Without it all steps without impact have size `dt_max`.
    """

    dt_min: Annotated[float, Unit("s")]
    dt_max: Annotated[float, Unit("s")]
    error: Annotated[float | None, Unit("-")] = None

    def __post_init__(self) -> None:
        _check_bounds("Landing", self.dt_min, self.dt_max)
        if self.error is not None and not _positive(self.error):
            raise InputError(f"Landing: error must be a positive share of the clearance, got {self.error!r}.")

    def __repr__(self) -> str:
        error = "" if self.error is None else f", error={self.error!r}"
        return f"Landing(dt_min={self.dt_min!r}, dt_max={self.dt_max!r}{error})"

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """Latest end of the step that starts at t."""
        end = t + self.dt_max
        return t_end if end >= t_end - REMAINDER * self.dt_max else end


@dataclass(frozen=True)
class ErrorControl(metaclass=InUnits):
    """Steps as long as an error estimate allows, up to `dt_max`, that end exactly at events.

    The estimate for each coordinate and velocity y is kept below ``atol + rtol |y|``, root mean square. `dt_min` is not
    a lower bound on the step size, which is as small as events and tolerances require: it is the time within which
    impacts are treated as simultaneous, or an accumulation as ended (see `EventDriven`). Safe are 1e-6 to 1e-4 s.

    Parameters
    ----------
    rtol : [-], 1e-14 <= rtol < 1
    atol : > 0, in the unit of each coordinate and velocity, optional
        rtol / 100 by default.
    dt_min, dt_max : [s], 0 < dt_min <= dt_max, optional
        By default dt_max is 1/500 of the run, times 0.6 per tenth of rtol below 1e-5, at least 1/6430, so that a finer
        tolerance sees shorter events, also where bodies turn far within a step; and dt_min 1e-6, but at most 1/50000
        of the run, or dt_max / 100 if that is given. The values are recorded in the manifest of a run.

    >>> ErrorControl(1e-7).over(0.0, 2.0)
    ErrorControl(rtol=1e-07, atol=1e-09, dt_min=1e-06, dt_max=0.00144)
    """

    rtol: Annotated[float, Unit("-")]
    atol: float = None  # type: ignore[assignment]  # a number once made
    #: numbers once the length of the run is known
    dt_min: Annotated[float, Unit("s")] = None  # type: ignore[assignment]
    dt_max: Annotated[float, Unit("s")] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if not (_positive(self.rtol) and FINEST <= self.rtol < 1.0):
            raise InputError(f"ErrorControl: rtol must be a number from {FINEST:g} to below 1, got {self.rtol!r}.")
        if self.atol is None:
            object.__setattr__(self, "atol", _rounded(self.rtol / 100))
        if not _positive(self.atol):
            raise InputError(
                "ErrorControl: atol must be a positive number in SI units, which holds for coordinates of all units, "
                f"metres and radians alike, got {self.atol!r}."
            )
        _check_bounds(
            "ErrorControl",
            *(value if value is not None else default for value, default in zip(self._bounds, BOUNDS, strict=True)),
        )

    @property
    def _bounds(self) -> tuple[float | None, float | None]:
        return self.dt_min, self.dt_max

    def over(self, t_start: float, t_end: float) -> ErrorControl:
        """With the bounds that depend on the length of the run."""
        if None not in self._bounds:
            return self
        longest, dt_max = (t_end - t_start) / ROWS, self.dt_max
        if dt_max is None:
            tenths = min(max(math.log10(COARSE / self.rtol), 0.0), TENTHS)
            dt_max = max(_rounded(longest * SHORTER**tenths), self.dt_min or 0.0)
        else:
            longest = dt_max
        dt_min = min(WINDOW, _rounded(longest / 100)) if self.dt_min is None else self.dt_min
        return replace(self, dt_min=dt_min, dt_max=dt_max)

    def next_time(self, t: float, t_start: float, t_end: float) -> float:
        """Latest end of the step that starts at t."""
        longest = self.over(t_start, t_end).dt_max
        end = t + longest
        return t_end if end >= t_end - REMAINDER * longest else end


StepControl = ConstantStep | Landing | ErrorControl


def step_control(dt: float | str | StepControl, run: tuple[float, float] | None = None) -> StepControl:
    """Step control for a value of `dt`; bounds that depend on the length of the `run` (start, end) are set.

    >>> step_control(1e-3)
    ConstantStep(dt=0.001)
    """
    if isinstance(dt, ErrorControl) and run is not None:
        return dt.over(*run)
    if isinstance(dt, ConstantStep | Landing | ErrorControl):
        return dt
    if has_unit(dt):
        return ConstantStep(dt)  # type: ignore[arg-type]
    if not isinstance(dt, Real) or isinstance(dt, bool) or (isinstance(dt, int) and not is_number(dt)):
        raise InputError(
            f"dt must be a number of seconds or Landing(dt_min, dt_max), got {shown(dt)}; EventDriven takes "
            "ErrorControl(rtol, atol, dt_min, dt_max)."
        )
    return ConstantStep(float(dt))


def finer(control: StepControl) -> StepControl:
    """The next finer steps, whose bounds are known, with which a run is compared."""
    if isinstance(control, ConstantStep):
        return ConstantStep(control.dt * QUARTER)
    if isinstance(control, Landing):
        error = None if control.error is None else control.error * TENTH
        return Landing(control.dt_min * QUARTER, control.dt_max * QUARTER, error)
    rtol, atol = min(control.rtol, max(control.rtol * TENTH, LEAST)), control.atol * TENTH
    return ErrorControl(rtol, atol, control.dt_min, max(control.dt_max * SHORTER, control.dt_min))
