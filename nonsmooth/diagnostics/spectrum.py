"""Amplitude spectrum of a quantity."""

from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.contacts import mean_forces
from nonsmooth.diagnostics.motion import KINDS, columns, pieces, window_of
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

#: forces, which are taken as means over the spacing of the samples
FORCES = ("lam_N", "reaction")


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Amplitudes of a quantity: a sine of amplitude A on one of the frequencies has the amplitude A there.

    Parameters
    ----------
    name, kind, unit
        Of the quantity.
    frequency
        From 0 to half the rate of samples (n,) [Hz].
    amplitude
        In `unit` (n,), one-sided. The value at 0 is the absolute mean.
    window
        Name of the window, as of `scipy.signal.get_window`.
    spacing : [s]
        Of the samples.
    duration : [s]
        Length of the sampled interval: lines are 1/duration apart.
    bandwidth : [Hz]
        Noise bandwidth of the window: lines closer than about this are not resolved.
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


def spectrum(
    trajectory: Trajectory,
    name: str,
    *,
    kind: str = "q",
    window: str = "hann",
    span: tuple[float, float] | None = None,
    samples: int | None = None,
) -> Spectrum:
    """Amplitude spectrum of a quantity, resampled on a uniform grid.

    Coordinates, velocities and gaps are sampled from `pieces`, forces as means over the sampling interval including the
    impulses of impacts. The mean is subtracted before the window is applied, and is given at frequency 0. A Hann window
    separates lines that are not on the grid of frequencies; ``"boxcar"`` (none) is exact for whole periods.

    Parameters
    ----------
    name
        Of a coordinate, velocity, gap, contact (``kind="lam_N"``) or reaction.
    kind : "q", "v", "gap", "gap_rate", "lam_N" or "reaction"
    window
        Name known to `scipy.signal.get_window`.
    span : (from, to) [s], optional
        Part of the run, for instance without its transient; all of it by default.
    samples : int, optional
        At least 4; by default the number of rows in the span.

    Raises
    ------
    InputError
        For an unknown kind, name or window, a span outside the run, or too few samples.
    """
    from scipy.signal import get_window

    first, last = window_of(trajectory, span, "span")
    if not last > first:
        raise InputError("A run without a step has no spectrum.")
    rows = int(np.count_nonzero((trajectory.t > first) & (trajectory.t <= last)))
    n = max(rows, 4) if samples is None else samples
    if not (isinstance(n, int) and n >= 4):
        raise InputError(f"samples must be an integer >= 4, got {samples!r}.")
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
        table = mean_forces(trajectory, edges) if kind == "lam_N" else _mean_reactions(trajectory, edges)
        values = table[:, known.names.index(name)]
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
        name=name,
        kind=kind,
        unit=known.units(name),
        frequency=np.arange(len(lines)) / duration,
        amplitude=amplitude,
        window=window,
        spacing=duration / n,
        duration=duration,
        bandwidth=float(n * np.sum(weights**2) / weights.sum() ** 2 / duration),
    )


def _mean_reactions(trajectory: Trajectory, edges: Array) -> Array:
    """Mean reactions (len(edges) - 1, nr) between edges, impacts included; between rows they are constant."""
    rows, known = trajectory.t, trajectory.reaction
    steps = known.array[1:] * np.diff(rows)[:, None] + trajectory.reaction_impact.array[1:]
    total = np.vstack([np.zeros((1, len(known))), np.cumsum(steps, axis=0)])
    k = np.clip(np.searchsorted(rows, edges, side="right") - 1, 0, len(rows) - 2)
    passed = (edges - rows[k])[:, None]
    impulse = total[k] + known.array[k + 1] * passed
    impulse[edges >= rows[-1]] = total[-1]
    return np.asarray(np.diff(impulse, axis=0) / np.diff(edges)[:, None])
