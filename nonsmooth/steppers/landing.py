"""Event-locating steps: the first gap that closes within a trial step, and the step size with which it closes at the
end.

Gap and gap velocity at both ends of the step define a cubic. Its interior minimum is included, since the sign at the
end misses short excursions through the wall. The gap of a contact that has just opened starts at zero by definition, so
that its cubic is divided by s.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.state import State
from nonsmooth.programs import Solution
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.equations import Advance
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.tolerances import AT_THE_END
from nonsmooth.tolerances.gauss import DIPPED, LANDED, TRIALS

__all__ = ["closing_within", "first_closing", "locate_landing"]

Mask = NDArray[np.bool_]


def locate_landing(
    m: Mechanism,
    advance: Callable[..., Generator[Ask, Solution, Advance]],
    state: State,
    longest: float,
    closed: Mask,
) -> Generator[Ask, Solution, Advance]:
    """The longest step, up to `longest` [s], in which no open gap closes before its end.

    Guarded Newton on the length: each trial solves the step's equations anew by `advance`, and after each landing all
    other gaps are evaluated.

    Raises
    ------
    SolverFailed
        If gaps still close earlier after `TRIALS` landings.
    """
    trial = yield from advance(state, longest, closed)
    found = closing_within(m, state, trial, closed)
    for _ in range(TRIALS):
        if found is None:
            return trial
        trial = yield from _locate(m, advance, state, trial, found, closed)
        found = closing_within(m, state, trial, closed)
        if found is not None and found[0] >= trial.dt * AT_THE_END:
            return trial
    raise SolverFailed(
        f"the first closing of a gap was not located in {TRIALS} trials within dt = {longest:.6g} s; a shorter "
        "step may be needed."
    )


def _locate(
    m: Mechanism,
    advance: Callable[..., Generator[Ask, Solution, Advance]],
    state: State,
    beyond: Advance,
    found: tuple[float, int],
    closed: Mask,
) -> Generator[Ask, Solution, Advance]:
    """Newton's method on the step size for one gap, bracketed by sizes before and after its closing."""
    estimate, i = found
    low, high = 0.0, beyond.dt
    trial, others = beyond, np.arange(closed.size) != i
    for _ in range(TRIALS):
        trial = yield from advance(state, estimate, closed, trial)
        gaps, rates = _end_gaps(m, state, trial)
        gap, rate = float(gaps[i]), float(rates[i])
        # open at the end, and opening: the gap may have closed before, and opened again
        closes = gap <= 0 or (rate > 0 and closing_within(m, state, trial, others) is not None)
        low, high = (low, estimate) if closes else (estimate, high)
        newton = estimate - gap / rate if rate < 0 else np.inf
        step = newton if low < newton < high else (low + high) / 2
        if abs(gap) <= LANDED * m.scale[i] or step in (low, high):
            break
        estimate = step
    return trial


def closing_within(m: Mechanism, state: State, trial: Advance, closed: Mask) -> tuple[float, int] | None:
    """`first_closing` of the gaps that are open at the start of the trial."""
    here = m.at(state.t, state.q)
    ends = _end_gaps(m, state, trial)
    # gaps that close at the very end are of the size of round-off
    tolerance = DIPPED * m.scale
    return first_closing(here.g_N, here.W_N.T @ state.v, *ends, trial.dt, watched=~closed, tolerance=tolerance)


def _end_gaps(m: Mechanism, state: State, trial: Advance) -> tuple[Array, Array]:
    """Gaps at the end of a step, and their derivatives with respect to its size."""
    there = m.at(state.t + trial.dt, trial.q)
    return there.g_N, there.W_N.T @ (2 * trial.u - state.v)


def first_closing(
    g0: Array, rate0: Array, g1: Array, rate1: Array, dt: float, *, watched: Mask, tolerance: Array
) -> tuple[float, int] | None:
    """Time after the start [s] and index of the gap that closes first, or None.

    Parameters
    ----------
    g0, rate0, g1, rate1 : (nc,) gaps [m] and rates [m/s] at the start and the end of the trial step
    dt : [s] its length
    watched : (nc,) bool, the contacts that are open, those that leave the wall at the start (g0 within `tolerance`)
        included
    tolerance : (nc,) [m] below which a gap is regarded as closed

    >>> one = np.ones(1)
    >>> time, contact = first_closing(0.5 * one, -one, -0.5 * one, -one, 1.0, watched=one > 0, tolerance=1e-9 * one)
    >>> round(time, 12), contact
    (0.5, 0)
    """
    found: tuple[float, int] | None = None
    for i in np.flatnonzero(watched):
        leaving = g0[i] <= tolerance[i]
        start = 0.0 if leaving else float(g0[i])
        # p(s) = start + a s + b s^2 + c s^3, s in [0, 1]
        a, end_slope = float(rate0[i]) * dt, float(rate1[i]) * dt
        rise = float(g1[i]) - start
        b, c = 3 * rise - 2 * a - end_slope, a + end_slope - 2 * rise
        if not _dips_below(start, a, b, c, -float(tolerance[i])):
            continue
        root = _first_root([c, b, a] if leaving else [c, b, a, start])
        if root is not None and (found is None or root * dt < found[0]):
            found = (root * dt, int(i))
    return found


def _dips_below(start: float, a: float, b: float, c: float, level: float) -> bool:
    """Whether the cubic is below `level` somewhere on [0, 1]."""
    if start + a + b + c < level:
        return True
    discriminant = b * b - 3 * c * a
    if discriminant < 0:
        return False
    # the stable form of the roots of the derivative 3 c s^2 + 2 b s + a
    w = -(b + np.copysign(np.sqrt(discriminant), b))
    stationary = [w / (3 * c)] if c != 0 else []
    stationary += [a / w] if w != 0 else []
    return any(0 < s < 1 and start + s * (a + s * (b + s * c)) < level for s in stationary)


def _first_root(coefficients: list[float]) -> float | None:
    roots = np.roots(coefficients)
    real = roots.real[np.abs(roots.imag) <= 1e-9 * np.maximum(np.abs(roots), 1e-30)]
    inside = real[(real > 0) & (real <= 1 + 1e-12)]
    return float(inside.min()) if inside.size else None
