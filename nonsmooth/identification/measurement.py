"""Measured motion and driving forces: checking, reading, filtering; simulated motion at the same times."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.files.csv_data import read_table
from nonsmooth.identification.drive_motion import Fourier
from nonsmooth.identification.regressor import Regressor
from nonsmooth.model.system import System
from nonsmooth.run.simulate import simulate
from nonsmooth.settings import require
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper

LEAST = 20  # samples of measured data
FAILED = 1e6  # residual in standard deviations of a run that failed
UNEVEN = 1e-3  # largest relative deviation of a sampling interval from their median
TURNS = 44.0  # magnitude of an angle [rad] from which on it is taken for degrees: seven turns
#: units of the columns of a drive
UNITS = {"q": "rad or m", "force": "N m or N", "v": "rad/s or m/s", "a": "rad/s^2 or m/s^2"}


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

    InputError if lengths differ, values are missing, times do not increase, a signal is constant, or noise is not
    positive.

    Parameters
    ----------
    t : (n,) [s], increasing, from the start of the motion
    columns : name of a coordinate or velocity, as ``"crank.angle"`` or ``"v:crank.angle"`` -> values (n,)
    noise : standard deviation of each column, by the same names
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
    system: System, stepper: Stepper, data: MotionData, parameters: Mapping[str, float], *, dt: float | StepControl,
    change: float = 1e-6,
) -> float:  # fmt: skip
    """Time [s] up to which a relative `change` of each parameter moves every column by less than its noise.

    Beyond it a motion with impacts cannot be fitted: parameters would have to be known to more digits than they have.
    """
    changed = [{**parameters, name: value * (1 + change)} for name, value in parameters.items()]
    first, *others = (
        simulated_columns(system, stepper, data, values, dt, float(data.t[-1])) for values in (parameters, *changed)
    )
    moved = np.max([np.max(np.abs(one - first), axis=0) for one in others], axis=0)
    beyond = np.flatnonzero(~(moved < 1.0))
    return float(data.t[max(int(beyond[0]) - 1, 0)] if beyond.size else data.t[-1])


def simulated_columns(
    system: System, stepper: Stepper, data: MotionData, parameters: Mapping[str, float], dt: float | StepControl,
    t_end: float,
) -> Array:  # fmt: skip
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


@dataclass(frozen=True, eq=False)
class Measurement:
    """Motion and forces of the drives at equidistant times.

    InputError if times are not equidistant, values are missing, a signal is constant, too short, or probably in
    degrees.

    Parameters
    ----------
    drives : names
    t : (n,) [s]
    q : (n, drives) [rad] or [m]
    force : (n, drives) [N m] or [N]
    v, a : (n, drives), optional, velocities and accelerations; without them `filtered` differentiates
    """

    drives: tuple[str, ...]
    t: Array
    q: Array
    force: Array
    v: Array | None = None
    a: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", np.asarray(self.t, dtype=float).ravel())
        n, nd = len(self.t), len(self.drives)
        for name in ("q", "force", "v", "a"):
            value = getattr(self, name)
            if value is None:
                continue
            table = np.asarray(value, dtype=float).reshape(len(value), -1)
            if table.shape != (n, nd):
                raise InputError(f"Measurement: {name} must be {n} rows of {nd} drive(s), got shape {table.shape}.")
            object.__setattr__(self, name, table)
        check_samples("measurement", self.t)
        if not np.all(np.isfinite(self.t)):
            raise InputError(f"The time of sample {int(np.argmin(np.isfinite(self.t)))} is not a number; repair it.")
        steps = np.diff(self.t)
        median = float(np.median(steps))
        bad = np.flatnonzero(np.abs(steps - median) > UNEVEN * abs(median)) if median > 0 else np.array([0])
        if bad.size:
            k = int(bad[0])
            raise InputError(
                f"The times have a gap or are not equidistant: {self.t[k]:.9g} s is followed by {self.t[k + 1]:.9g} s, "
                f"the other intervals are {median:.6g} s; cut the measurement there or resample it."
            )
        signals = {"coordinate": self.q, "force": self.force, "velocity": self.v, "acceleration": self.a}
        for what, signal in signals.items():
            if signal is not None:
                for name, column in zip(self.drives, signal.T, strict=True):
                    check_signal(f'The {what} of "{name}"', self.t, column, what in ("coordinate", "force"))

    def check(self, Y: Regressor) -> None:
        """Raise InputError unless it goes with the mechanism: drives, number of samples, units."""
        if self.drives != Y.drives:
            raise InputError(f"The measurement has the drives {', '.join(self.drives)}, not {', '.join(Y.drives)}.")
        if self.force.size < 2 * len(Y.parameters):
            raise InputError(
                f"{self.force.size} measured forces are too few for {len(Y.parameters)} parameters; measure longer."
            )
        for d, unit in enumerate(Y.force_units):
            largest = float(np.max(np.abs(self.q[:, d])))
            if unit == "N m" and largest > TURNS:
                raise InputError(
                    f'The angle of "{self.drives[d]}" reaches {largest:.4g}, which looks like degrees; convert to rad.'
                )
        if self.v is None:
            return
        slopes = np.gradient(self.q, self.t, axis=0)  # whose units may be others
        for d, name in enumerate(self.drives):
            ratio = float(np.linalg.norm(self.v[:, d])) / max(float(np.linalg.norm(slopes[:, d])), 1e-300)
            if not 0.2 < ratio < 5.0:
                raise InputError(
                    f'The velocity of "{name}" is {ratio:.3g} times the derivative of its coordinate; check the units '
                    "of both, rad and rad/s, or m and m/s."
                )

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], drives: Sequence[str]) -> Measurement:
        """Read a CSV file with the columns ``t``, ``<drive>.q``, ``<drive>.force``, optional ``.v`` and ``.a``.

        Names may be followed by units, as ``t [ms],motor.q [deg],motor.force [N m]``; without them values are in SI.
        InputError if the file, a column or a number is missing.
        """
        read = read_table(path)

        def table(what: str) -> Array | None:
            names = [f"{drive}.{what}" for drive in drives]
            if what not in ("q", "force") and not set(names) <= set(read.names):
                return None
            return np.array([read.column(name, UNITS[what]) for name in names]).T

        q, force = table("q"), table("force")
        assert q is not None and force is not None
        return cls(tuple(drives), read.times(), q, force, table("v"), table("a"))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write such a file."""
        tables = {"q": self.q, "force": self.force, "v": self.v, "a": self.a}
        names = [f"{drive}.{what}" for what, one in tables.items() if one is not None for drive in self.drives]
        data = np.column_stack([self.t, *(one for one in tables.values() if one is not None)])
        np.savetxt(path, data, delimiter=",", header=",".join(["t", *names]), comments="", fmt="%.17g")

    def filtered(self, cutoff: float, order: int = 4) -> Measurement:
        """Coordinates and forces through a Butterworth filter forwards and backwards (no phase), then differences.

        Velocities and accelerations are central differences of the filtered coordinates. Three periods of the cutoff
        frequency are cut off at each end, where the filter has transients. InputError if the cutoff is out of range, or
        too little is left.

        Parameters
        ----------
        cutoff : [Hz], below half the sampling frequency
        order : of the filter, which acts twice
        """
        from scipy.signal import butter, sosfiltfilt

        dt = float(np.mean(np.diff(self.t)))
        require(0 < cutoff < 0.5 / dt, f"cutoff must be between 0 and {0.5 / dt:.6g} Hz, half the sampling", cutoff)
        edge = int(np.ceil(3.0 / (cutoff * dt)))
        if len(self.t) < 2 * edge + 20:
            raise InputError(
                f"The measurement of {self.t[-1] - self.t[0]:.4g} s is too short for a cutoff of {cutoff:g} Hz, which "
                f"needs {(2 * edge + 20) * dt:.4g} s; measure longer or raise it."
            )
        sections = butter(order, cutoff * 2 * dt, output="sos")
        q, force = (sosfiltfilt(sections, one, axis=0) for one in (self.q, self.force))
        v = np.gradient(q, dt, axis=0)
        a = np.zeros_like(q)
        a[1:-1] = (q[2:] - 2 * q[1:-1] + q[:-2]) / dt**2
        inner = slice(edge, -edge)
        return replace(self, t=self.t[inner], q=q[inner], force=force[inner], v=v[inner], a=a[inner])

    @property
    def states(self) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and accelerations; InputError if velocities or accelerations are missing."""
        if self.v is None or self.a is None:
            raise InputError("The measurement has no velocities and accelerations; call filtered(cutoff).")
        return self.q, self.v, self.a


def simulated(
    Y: Regressor, motion: Fourier, *, noise: float, samples: int = 400, seed: int = 0, values: Array | None = None
) -> Measurement:
    """A simulated measurement of a motion: exact motion, and forces with white noise.

    Parameters
    ----------
    noise : standard deviation, as a share of the largest force of each drive
    values : of the parameters; those built where omitted
    """
    t = motion.times(samples)
    force = Y.force(*motion.states(t), values)
    noisy = force + noise * np.max(np.abs(force), axis=0) * np.random.default_rng(seed).normal(size=force.shape)
    return Measurement(Y.drives, t, *(motion(t), noisy), *motion.states(t)[1:])
