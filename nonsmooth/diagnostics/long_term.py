"""Long-term behaviour: Poincaré sections, amplitude spectra, and the largest Lyapunov exponent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.contacts import mean_forces
from nonsmooth.diagnostics.motion import KINDS, RATES, Pieces, columns, pieces, sampled, window_of
from nonsmooth.exceptions import InputError
from nonsmooth.settings import checked, is_one, require
from nonsmooth.trajectory import Columns, Trajectory

DIRECTIONS = {"rising": (1,), "falling": (-1,), "both": (1, -1)}
AT_ROW = 1e-9  # share of a step within which a crossing is at the step's row
SAME = 1e-9  # share of a period within which a time is identified with a row


@dataclass(frozen=True, eq=False, repr=False)
class Section:
    """States of a motion at chosen times.

    Parameters
    ----------
    t : times (n,) [s]
    q, v, v_left
        Coordinates, and velocities after and before an impact that happens to be there; elsewhere both are the same.
    direction : +1 where the quantity rises through the value, -1 where it falls (n,); 0 of a stroboscope
    """

    t: Array
    q: Columns
    v: Columns
    v_left: Columns
    direction: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:.6g} to {self.t[-1]:.6g} s" if len(self.t) else ""
        return f"<Section: {len(self.t)} points{span}; coordinates {', '.join(self.q.names)}>"


@checked
def poincare(
    trajectory: Trajectory, name: str, value: float = 0.0, *, kind: str = "q", direction: str = "both",
    period: float | None = None, after: float | None = None,
) -> Section:  # fmt: skip
    """States where a quantity crosses a value.

    Between rows the quantity follows `pieces`: cubic Hermite interpolants of coordinates and gaps. A velocity or gap
    velocity that jumps past the value crosses it at the impact, once. A start at the value is not a crossing.
    InputError for an unknown kind, name or direction, or a period that is not positive.

    Parameters
    ----------
    name : of a coordinate, velocity, gap or rate of a gap
    value : in the quantity's unit
    kind : "q", "v", "gap" or "gap_rate"
    direction : "rising", "falling" or "both"
    period : in the quantity's unit, optional, the value is repeated with this period: ``2 * pi`` for a rotating crank
    after : [s], optional, omit earlier crossings, such as those of a transient

    >>> from nonsmooth import EventDriven, ErrorControl, simulate
    >>> from nonsmooth_problems import bouncing_ball
    >>> control = ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)
    >>> run = simulate(bouncing_ball().build(), EventDriven(), t_end=1.0, dt=control)
    >>> tops = poincare(run, "ball.y", kind="v", direction="falling")
    >>> len(tops), float(abs(tops.v["ball.y"]).max()) < 1e-9
    (1, True)
    """
    require(is_one(direction, DIRECTIONS), f"direction must be one of {', '.join(DIRECTIONS)}", direction)
    if period is not None and not (np.isfinite(period) and period > 0):
        raise InputError(f"period must be a positive number, got {period!r}.")
    require(np.isfinite(value), "value must be a finite number", value)
    course = pieces(trajectory, kind, name)
    crossings = _crossings_within_steps(course, value, period)
    if kind in RATES:  # which jump at rows, between the end of one piece and the start of the next
        starts, ends = course.coefficients[:, 0], course.coefficients.sum(axis=1)
        before, behind = np.append(course.first, ends), np.append(starts, course.last)
        for k in np.flatnonzero(before != behind).tolist():
            x, y = float(before[k]), float(behind[k])
            for wanted in _levels(min(x, y), max(x, y), value, period):
                if (x < wanted) != (y < wanted):
                    crossings.append((float(course.t[k]), 1 if y > x else -1))
    signs, start = DIRECTIONS[direction], -np.inf if after is None else after
    chosen = [(t, sign) for t, sign in sorted(crossings) if sign in signs and t >= start]
    t = np.array([t for t, _ in chosen])
    return _section(trajectory, t, np.array([sign for _, sign in chosen], dtype=np.int8))


@checked
def stroboscope(trajectory: Trajectory, period: float, *, phase: float = 0.0, after: float | None = None) -> Section:
    """States once per period: at ``t_0 + (phase + k) period`` with the run's first time t_0, k = 0, 1, ...

    InputError if the period is not positive.

    Parameters
    ----------
    period : [s]
    phase : [-], in periods
    after : [s], optional, omit earlier times, such as those of a transient
    """
    require(np.isfinite(period) and period > 0, "period must be a positive number of seconds", period)
    require(np.isfinite(phase), "phase must be a finite number of periods", phase)
    rows = trajectory.t
    last = int(np.floor((rows[-1] - rows[0]) / period - phase + SAME))
    t = rows[0] + (phase + np.arange(max(0, int(np.ceil(-phase - SAME))), last + 1)) * period
    if after is not None:
        t = t[t >= after - SAME * period]
    nearest = rows[np.clip(np.searchsorted(rows, t), 1, max(len(rows) - 1, 1)) - [[1], [0]]] if len(rows) > 1 else rows
    for candidate in np.atleast_2d(nearest):
        t = np.where(np.abs(candidate - t) <= SAME * period, candidate, t)
    return _section(trajectory, t, np.zeros(len(t), np.int8))


def _section(trajectory: Trajectory, t: Array, direction: NDArray[np.int8]) -> Section:
    right, left = sampled(trajectory, "v", t, "right"), sampled(trajectory, "v", t, "left")
    return Section(t, sampled(trajectory, "q", t), right, left, direction)


def _crossings_within_steps(course: Pieces, value: float, period: float | None) -> list[tuple[float, int]]:
    """Crossings inside steps, their ends included: time, and +1 or -1."""
    a, b, c, d = course.coefficients.T
    control = np.column_stack([a, a + b / 3, a + 2 * b / 3 + c / 3, a + b + c + d])  # the hull of the cubic
    low, high = control.min(axis=1), control.max(axis=1)
    span = np.inf if period is None else period
    first = np.zeros(len(low)) if period is None else np.ceil((low - value) / span)
    level = value + first * (0.0 if period is None else span)
    found: list[tuple[float, int]] = []
    for k in np.flatnonzero((low <= level) & (level <= high)).tolist():
        # the cubic is monotone between the ends of the step and the roots of its slope b + 2 c s + 3 d s^2
        _, b, c, d = course.coefficients[k]
        roots = np.roots([3 * d, 2 * c, b]) if d or c else np.zeros(0)
        real = roots[np.isreal(roots)].real
        ends = np.unique(np.concatenate([[0.0, 1.0], real[(real > 0.0) & (real < 1.0)]]))
        heights = course.at(np.full(len(ends), k), ends)
        for wanted in _levels(low[k], high[k], value, period):
            for s, e, x, y in zip(ends[:-1], ends[1:], heights[:-1], heights[1:], strict=True):
                if (x < wanted) == (y < wanted):
                    continue
                share = _root(course.coefficients[k], wanted, float(s), float(e))
                share = 0.0 if share < AT_ROW else 1.0 if share > 1 - AT_ROW else share
                if k == 0 and share == 0.0:  # the run starts there
                    continue
                t = course.t[k + 1] if share == 1.0 else course.t[k] + share * (course.t[k + 1] - course.t[k])
                found.append((float(t), 1 if y > x else -1))
    return found


def _levels(low: float, high: float, value: float, period: float | None) -> list[float]:
    if period is None:
        return [value] if low <= value <= high else []
    first, last = int(np.ceil((low - value) / period)), int(np.floor((high - value) / period))
    return [value + i * period for i in range(first, last + 1)]


def _root(coefficients: Array, wanted: float, start: float, end: float) -> float:
    """Share of a step, between two where the cubic is monotone, at which it has the wanted value."""
    a, b, c, d = map(float, coefficients)

    def excess(s: float) -> float:
        return a - wanted + s * (b + s * (c + s * d))

    if excess(start) * excess(end) >= 0.0:  # one of the ends is the root
        return start if abs(excess(start)) <= abs(excess(end)) else end
    from scipy.optimize import brentq

    return float(brentq(excess, start, end, xtol=1e-15))


FORCES = ("lam_N", "reaction")  # forces, which are taken as means over the spacing of the samples


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Amplitudes of a quantity: a sine of amplitude A on one of the frequencies has the amplitude A there.

    Parameters
    ----------
    name, kind, unit : of the quantity
    frequency : from 0 to half the rate of samples (n,) [Hz]
    amplitude
        In `unit` (n,), one-sided. The value at 0 is the absolute mean.
    window : name of the window, as of `scipy.signal.get_window`
    spacing : [s], of the samples
    duration : [s], length of the sampled interval: lines are 1/duration apart
    bandwidth : [Hz], noise bandwidth of the window: lines closer than about this are not resolved
    """

    name: str
    kind: str
    unit: str
    frequency: Array
    amplitude: Array
    window: str
    spacing: float
    duration: float
    bandwidth: float

    def peak(self) -> tuple[float, float]:
        """Frequency [Hz] and amplitude of the highest line except the mean."""
        if len(self.amplitude) < 2:
            raise InputError("A spectrum of one line has no peak; take more samples.")
        i = 1 + int(np.argmax(self.amplitude[1:]))
        return float(self.frequency[i]), float(self.amplitude[i])

    def __repr__(self) -> str:
        return (
            f"<Spectrum of {self.name} [{self.unit}]: {len(self.frequency)} lines, {1 / self.duration:.4g} Hz apart, "
            f"up to {self.frequency[-1]:.4g} Hz; {self.window} window>"
        )


@checked
def spectrum(
    trajectory: Trajectory, name: str, *, kind: str = "q", window: str = "hann",
    span: tuple[float, float] | None = None, samples: int | None = None,
) -> Spectrum:  # fmt: skip
    """Amplitude spectrum of a quantity, resampled on a uniform grid.

    Coordinates, velocities and gaps are sampled from `pieces`, forces as means over the sampling interval including the
    impulses of impacts. The mean is subtracted before the window is applied, and is given at frequency 0. A Hann window
    separates lines that are not on the grid of frequencies; ``"boxcar"`` (none) is exact for whole periods. InputError
    for an unknown kind, name or window, a span outside the run, or too few samples.

    Parameters
    ----------
    name : of a coordinate, velocity, gap, contact (``kind="lam_N"``) or reaction
    kind : "q", "v", "gap", "gap_rate", "lam_N" or "reaction"
    window : name known to `scipy.signal.get_window`
    span : (from, to) [s], optional, part of the run, for instance without its transient; all of it by default
    samples : int, optional, at least 4; by default the number of rows in the span
    """
    from scipy.signal import get_window

    first, last = window_of(trajectory, span, "span")
    if not last > first:
        raise InputError("A run without a step has no spectrum.")
    rows = int(np.count_nonzero((trajectory.t > first) & (trajectory.t <= last)))
    n = max(rows, 4) if samples is None else samples
    require(isinstance(n, int) and n >= 4, "samples must be an integer >= 4", samples)
    try:
        weights = np.asarray(get_window(window, n, fftbins=True), float)
    except ValueError as error:
        raise InputError(f"window must be one that scipy.signal.get_window knows, got {window!r}: {error}") from None
    edges = np.linspace(first, last, n + 1)
    if kind in KINDS:
        known = columns(trajectory, kind)
        values = pieces(trajectory, kind, name)(edges[:-1])
    elif kind in FORCES:
        known = getattr(trajectory, kind)
        known[name]  # raises the error for an unknown name
        if kind == "lam_N":
            means = mean_forces(trajectory, edges)
        else:  # reactions between rows are constant; impacts are included
            steps = known.array[1:] * np.diff(trajectory.t)[:, None] + trajectory.reaction_impact.array[1:]
            total = np.vstack([np.zeros((1, len(known))), np.cumsum(steps, axis=0)])
            k = np.clip(np.searchsorted(trajectory.t, edges, side="right") - 1, 0, len(trajectory.t) - 2)
            impulse = total[k] + known.array[k + 1] * (edges - trajectory.t[k])[:, None]
            impulse[edges >= trajectory.t[-1]] = total[-1]
            means = np.diff(impulse, axis=0) / np.diff(edges)[:, None]
        values = means[:, known.names.index(name)]
    else:
        raise InputError(f"There is no spectrum of the kind {kind!r}; take one of {', '.join((*KINDS, *FORCES))}.")
    mean = float(values.mean())
    lines = np.fft.rfft((values - mean) * weights)
    amplitude = 2.0 * np.abs(lines) / weights.sum()
    if n % 2 == 0:  # the highest line stands for itself alone
        amplitude[-1] /= 2.0
    amplitude[0] = abs(mean)
    duration = last - first
    return Spectrum(
        name=name, kind=kind, unit=known.units(name), frequency=np.arange(len(lines)) / duration, amplitude=amplitude,
        window=window, spacing=duration / n, duration=duration,
        bandwidth=float(n * np.sum(weights**2) / weights.sum() ** 2 / duration),
    )  # fmt: skip


S = TypeVar("S")
BLOCKS = 16  # blocks for the error estimate


@dataclass(frozen=True, eq=False, repr=False)
class Exponent:
    """The largest Lyapunov exponent with its error.

    Parameters
    ----------
    value : [1/s], or per unit of what `interval` counts, mean rate of growth of the distance of two neighbours
    error
        Standard error of that mean, from the scatter of the means of consecutive blocks, which admits correlated rates
        within a block. It does not include the effect of a transient.
    rates : of each interval (n,)
    interval : [s], time between two renormalisations
    size : distance to which neighbours are rescaled, in the norm used
    largest : the largest distance that occurred; far below the size of the attractor for a valid result
    """

    value: float
    error: float
    rates: Array
    interval: float
    size: float
    largest: float

    @property
    def converging(self) -> Array:
        """Means of the first 1, 2, ... rates."""
        return np.asarray(np.cumsum(self.rates) / np.arange(1, len(self.rates) + 1))

    def __repr__(self) -> str:
        return f"<Exponent {self.value:.4g} +- {self.error:.2g} per unit of time, {len(self.rates)} intervals>"


def largest_exponent(
    flow: Callable[[S], S], start: S, neighbour: Callable[[S, S | None, float], S], distance: Callable[[S, S], float],
    *, interval: float, intervals: int, size: float, transient: int = 0,
) -> Exponent:  # fmt: skip
    """Benettin's method with two trajectories: after each interval the distance of the neighbour is rescaled.

    ``lambda = 1/(n tau) sum ln(d_k / d_0)``. InputError for invalid numbers, or neighbours that coincide.

    Parameters
    ----------
    flow : state -> state after one interval
    start : state on the attractor, or reached after `transient`
    neighbour : (state, other, size) -> state
        A state at the distance `size` from the first in the direction of the other; in any direction for None.
    distance : (state, state) -> number
    interval : [s], > 0, time of one interval; 1 for a map
    intervals : int, at least 32, after the transient
    size : > 0
        Small against the attractor, large against round-off: the square root of round-off times the attractor's size.
    transient : int, initial intervals with renormalisation that are not counted

    References
    ----------
    Benettin, G., Galgani, L., Giorgilli, A., Strelcyn, J.-M. (1980), Lyapunov characteristic exponents for smooth
    dynamical systems and for Hamiltonian systems, Meccanica 15, 9-30.

    >>> def apart(x, y): return abs(y - x)
    >>> def near(x, y, size): return x + size * (1.0 if y is None or y > x else -1.0)
    >>> found = largest_exponent(lambda x: 4 * x * (1 - x), 0.3, near, apart, interval=1.0, intervals=20000, size=1e-9)
    >>> abs(found.value - np.log(2)) < 3 * found.error < 0.02
    True
    """
    if not (intervals >= 2 * BLOCKS and transient >= 0):
        raise InputError(f"intervals must be at least {2 * BLOCKS} and transient >= 0, got {intervals}, {transient}.")
    if not (interval > 0 and size > 0):
        raise InputError(f"interval and size must be positive, got {interval!r} and {size!r}.")
    state, other = start, neighbour(start, None, size)
    logarithms, largest = np.zeros(transient + intervals), 0.0
    for k in range(transient + intervals):
        before = distance(state, other)
        state, other = flow(state), flow(other)
        after = distance(state, other)
        if not (np.isfinite(after) and before > 0 and after > 0):
            raise InputError(
                f"Neighbours at the distance {before:.3g} are {after:.3g} apart after interval {k + 1}; "
                "take a larger size, or a shorter interval."
            )
        logarithms[k] = np.log(after / before)
        largest = max(largest, after)
        other = neighbour(state, other, size)
    rates = logarithms[transient:] / interval
    means = np.array([block.mean() for block in np.array_split(rates, BLOCKS)])
    error = float(np.std(means, ddof=1) / np.sqrt(BLOCKS))
    return Exponent(float(rates.mean()), error, rates, interval, size, largest)
