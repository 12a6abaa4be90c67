"""Ends of runs that come early: whatever ends a run, the steps that it has made are handed over."""

from __future__ import annotations

from collections.abc import Callable

from nonsmooth.exceptions import Interrupted
from nonsmooth.trajectory.trajectory import Trajectory

__all__ = ["UNJUDGED", "breakdown", "interruption", "last", "made"]

#: what is said where Ctrl-C comes between the runs that give a verdict
UNJUDGED = "Interrupted while runs were compared; a run of the motion is complete and kept, without a verdict."


def interruption(t: float, t_end: float, steps: int) -> str:
    """What is said of a run that Ctrl-C has ended."""
    where = f"at t = {t:.9g} s of {t_end:g} s"
    return f"Interrupted {where}, after {steps} steps." if steps else f"Interrupted {where}, before the first step."


def breakdown(error: Exception, t: float, steps: int) -> str:
    """What is said of a run that anything but a step without a certified answer has ended.

    >>> breakdown(MemoryError(), 0.25, 7)
    'After 7 steps, at t = 0.25 s, the run was ended by MemoryError.'
    """
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
    return f"After {steps} step{'s' * (steps != 1)}, at t = {t:.9g} s, the run was ended by {text[:500]}."


def made(make: Callable[[], Trajectory]) -> Trajectory:
    """The tables of a run; made again where Ctrl-C comes in between, since without them every step would be lost."""
    try:
        return make()
    except KeyboardInterrupt:
        return make()


def last(make: Callable[[], Trajectory], steps: int) -> Trajectory:
    """The tables of a run that has come to its end.

    Raises
    ------
    Interrupted
        If Ctrl-C comes in between, with the whole run.
    """
    try:
        return make()
    except KeyboardInterrupt:
        trajectory = made(make)
    message = f"Interrupted after the last of {steps} steps, while its tables were made; the run is complete."
    raise Interrupted(message, trajectory=trajectory)
