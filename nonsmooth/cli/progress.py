"""Progress of a run, the remaining time, and reasons for slow progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nonsmooth.stages import current

__all__ = ["Advance", "progress_bar"]

Progress = Callable[[float, float, int], None]
#: seconds between two updates; without a step from which a reason is given; over which the pace is measured
UPDATE, SILENCE, PACE = 0.1, 5.0, 3.0
#: seconds before a stage is named
WORDS = 0.5
#: share of the steps' mean length below which steps count as short
SHORT = 0.05


class Advance:
    """Stores the times at which steps were reported, and evaluates them.

    Parameters
    ----------
    clock
        Returns the time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = self._last = clock()
        self._marks: list[tuple[float, float, int]] = []
        self.t, self.t_end, self.steps, self.run = 0.0, 0.0, 0, 1

    def reached(self, t: float, t_end: float, steps: int) -> None:
        """A step has ended at t; if the number of steps decreases, another run with finer steps has begun."""
        now = self._clock()
        if steps < self.steps:
            self.run, self._marks, self._begin = self.run + 1, [], now
        self.t, self.t_end, self.steps, self._last = t, t_end, steps, now
        self._marks.append((now, t, steps))
        while len(self._marks) > 2 and self._marks[1][0] < now - PACE:
            self._marks.pop(0)

    def said(self) -> str:
        """Time, steps, remaining time, and the reason for slow progress."""
        now = self._clock()
        if not self._marks:
            waited = now - self._begin
            return current() if waited > WORDS else ""
        run = f"run {self.run}, with finer steps; " if self.run > 1 else ""
        text = f"{run}t = {self.t:.6g} s, {self.steps} steps"
        silent = now - self._last
        if silent > SILENCE:
            if not current().startswith("computing"):
                return f"{text}; {current()}"
            return f"{text}; no step for {silent:.0f} s: its problem is being solved, or a shorter step tried"
        (then, t, steps), (_, t_now, steps_now) = self._marks[0], self._marks[-1]
        if steps_now == steps or t_now <= t or now == then:
            return text
        step, mean = (t_now - t) / (steps_now - steps), self.t / max(self.steps, 1)
        left = (self.t_end - t_now) / (t_now - t) * (now - then)
        short = f"; steps of {step:.1g} s: impacts in quick succession" if step < SHORT * mean else ""
        return f"{text}, {_spoken(left)} left{short}"


def _spoken(seconds: float) -> str:
    """A time that is left, to two digits at most.

    >>> _spoken(8.4), _spoken(200.0), _spoken(9000.0)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400.0 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A progress bar of one run on standard error where that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TaskProgressColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    advance = Advance()

    class Said(ProgressColumn):
        """What is said is made again whenever the bar is drawn, also between steps."""

        def render(self, task: Any) -> Text:
            return Text(advance.said())

    with Bar(
        BarColumn(bar_width=20), TaskProgressColumn(), TimeElapsedColumn(), Said(), console=Console(stderr=True),
        transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("", total=1.0)
        shown = 0.0

        def progress(t: float, t_end: float, steps: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown > UPDATE:
                shown = now
                advance.reached(t, t_end, steps)
                bar.update(task, completed=t / t_end)

        yield progress
