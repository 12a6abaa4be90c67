"""The rate at which neighbouring motions separate: the largest Lyapunov exponent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError

S = TypeVar("S")
#: blocks for the error estimate
BLOCKS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Exponent:
    """The largest Lyapunov exponent with its error.

    Parameters
    ----------
    value : [1/s], or per unit of what `interval` counts
        Mean rate of growth of the distance of two neighbours.
    error
        Standard error of that mean, from the scatter of the means of consecutive blocks, which admits correlated rates
        within a block. It does not include the effect of a transient.
    rates
        Of each interval (n,).
    interval : [s]
        Time between two renormalisations.
    size
        Distance to which neighbours are rescaled, in the norm used.
    largest
        The largest distance that occurred; far below the size of the attractor for a valid result.
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
    flow: Callable[[S], S],
    start: S,
    neighbour: Callable[[S, S | None, float], S],
    distance: Callable[[S, S], float],
    *,
    interval: float,
    intervals: int,
    size: float,
    transient: int = 0,
) -> Exponent:
    """Benettin's method with two trajectories: after each interval the distance of the neighbour is rescaled.

    ``lambda = 1/(n tau) sum ln(d_k / d_0)``.

    Parameters
    ----------
    flow
        State -> state after one interval.
    start
        State on the attractor, or reached after `transient`.
    neighbour : (state, other, size) -> state
        A state at the distance `size` from the first in the direction of the other; in any direction for None.
    distance : (state, state) -> number
    interval : [s], > 0
        Time of one interval; 1 for a map.
    intervals : int
        At least 32, after the transient.
    size : > 0
        Small against the attractor, large against round-off: the square root of round-off times the attractor's size.
    transient : int
        Initial intervals with renormalisation that are not counted.

    Raises
    ------
    InputError
        For invalid numbers, or neighbours that coincide.

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
