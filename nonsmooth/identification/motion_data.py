"""Measured motion, the same columns of simulated runs, and how far a motion can be predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.model.system import System
from nonsmooth.run.simulate import simulate
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper

#: samples of measured data
LEAST = 20
#: residual in standard deviations of a run that failed
FAILED = 1e6


def check_samples(what: str, t: Array) -> None:
    """Raise InputError for measured data with fewer times (n,) than tell anything."""
    if len(t) < LEAST:
        raise InputError(f"The {what} has {len(t)} sample(s); at least {LEAST} are needed, measure longer.")


def check_signal(what: str, t: Array, values: Array, varies: bool = True) -> None:
    """Raise InputError for a measured signal (n,) that is not known everywhere, or that should vary and does not."""
    if not np.all(np.isfinite(values)):
        k = int(np.argmin(np.isfinite(values)))
        raise InputError(f"{what} is not a number at t = {t[k]:.6g} s; cut or repair it there.")
    if varies and np.ptp(values) == 0:
        raise InputError(
            f"{what} is constant, {values[0]:.6g}; is its sensor connected? What is held still tells nothing of the "
            "parameters."
        )


@dataclass(frozen=True, eq=False)
class MotionData:
    """Measured motion.

    Parameters
    ----------
    t : (n,) [s], increasing, from the start of the motion
    columns : name of a coordinate or velocity, as ``"crank.angle"`` or ``"v:crank.angle"`` -> values (n,)
    noise : standard deviation of each column, by the same names

    Raises
    ------
    InputError
        If lengths differ, values are missing, times do not increase, a signal is constant, or noise is not positive.
    """

    t: Array
    columns: Mapping[str, Array]
    noise: Mapping[str, float]

    def __post_init__(self) -> None:
        t = np.asarray(self.t, dtype=float).ravel()
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "columns", {k: np.asarray(x, dtype=float).ravel() for k, x in self.columns.items()})
        check_samples("motion", t)
        if not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0) or t[0] < 0:
            raise InputError("The times of the motion must increase from t >= 0; a gap in their order was found.")
        steps = np.diff(t)
        if np.max(steps) > 20 * np.median(steps):
            k = int(np.argmax(steps))
            raise InputError(f"The motion has a gap from {t[k]:.6g} s to {t[k + 1]:.6g} s; cut it there.")
        if not self.columns:
            raise InputError("The motion has no columns; give at least one coordinate.")
        for name, values in self.columns.items():
            if values.shape != t.shape:
                raise InputError(f'"{name}" has {values.size} values at {t.size} times.')
            check_signal(f'"{name}"', t, values)
            if not self.noise.get(name, 0.0) > 0:
                raise InputError(f'The noise of "{name}" must be a positive standard deviation in its unit.')


def predictable_time(
    system: System,
    stepper: Stepper,
    data: MotionData,
    parameters: Mapping[str, float],
    *,
    dt: float | StepControl,
    change: float = 1e-6,
) -> float:
    """Time [s] up to which a relative `change` of each parameter moves every column by less than its noise.

    Beyond it a motion with impacts cannot be fitted: parameters would have to be known to more digits than they have.
    """
    runs = [simulated_columns(system, stepper, data, dict(parameters), dt, float(data.t[-1]))]
    for name, value in parameters.items():
        runs.append(
            simulated_columns(system, stepper, data, {**parameters, name: value * (1 + change)}, dt, float(data.t[-1]))
        )
    moved = np.max([np.max(np.abs(one - runs[0]), axis=0) for one in runs[1:]], axis=0)
    beyond = np.flatnonzero(~(moved < 1.0))
    return float(data.t[max(int(beyond[0]) - 1, 0)] if beyond.size else data.t[-1])


def simulated_columns(
    system: System,
    stepper: Stepper,
    data: MotionData,
    parameters: Mapping[str, float],
    dt: float | StepControl,
    t_end: float,
) -> Array:
    """The columns (columns, n) of a run at the measured times, in standard deviations; `FAILED` after its early end."""
    known = {*system.q_names, *(f"v:{name}" for name in system.v_names)}
    for name in data.columns:
        if name not in known:
            raise InputError(f'"{name}" is no column of the mechanism; it has {", ".join(sorted(known)[:12])}, ...')
    try:
        run = simulate(system, stepper, t_end=t_end, dt=dt, parameters=dict(parameters))
    except SimulationFailed as failed:
        run = failed.trajectory
    reached = data.t <= run.t[-1] if len(run.t) > 1 else np.zeros(data.t.shape, dtype=bool)
    found = np.full((len(data.columns), data.t.size), FAILED)
    if np.any(reached):
        at = run.at(data.t[reached], order=4)
        for row, name in zip(found, data.columns, strict=True):
            row[reached] = (at.v[name[2:]] if name.startswith("v:") else at.q[name]) / data.noise[name]
    return found
