"""Runs that end early: whatever ends a run, its steps so far are returned."""

from __future__ import annotations

from collections.abc import Callable

from nonsmooth.exceptions import Interrupted
from nonsmooth.trajectory.trajectory import Trajectory

__all__ = ["UNCHECKED", "breakdown", "interruption", "last", "made"]

#: message if Ctrl-C arrives between the runs that give a verdict
UNCHECKED = "Interrupted during the comparison of runs; one run is complete and kept, without a verdict."


def interruption(t: float, t_end: float, steps: int) -> str:
    """The message of a run ended by Ctrl-C."""
    where = f"at t = {t:.9g} s of {t_end:g} s"
    return f"Interrupted {where}, after {steps} steps." if steps else f"Interrupted {where}, before the first step."


def breakdown(error: Exception, t: float, steps: int) -> str:
    """The message of a run ended by anything but a step that fails.

    >>> breakdown(MemoryError(), 0.25, 7)
    'After 7 steps, at t = 0.25 s, the run was ended by MemoryError.'
    """
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":. ")
    return f"After {steps} step{'s' * (steps != 1)}, at t = {t:.9g} s, the run was ended by {text[:500]}."


def made(make: Callable[[], Trajectory]) -> Trajectory:
    """The tables of a run; repeated if Ctrl-C interrupts them, since otherwise every step would be lost."""
    try:
        return make()
    except KeyboardInterrupt:
        return make()


def last(make: Callable[[], Trajectory], steps: int) -> Trajectory:
    """The tables of a run that has reached its end.

    Raises
    ------
    Interrupted
        If Ctrl-C arrives meanwhile, with the complete run.
    """
    try:
        return make()
    except KeyboardInterrupt:
        trajectory = made(make)
    message = f"Interrupted after the last of {steps} steps, while its tables were made; the run is complete."
    raise Interrupted(message, trajectory=trajectory)
