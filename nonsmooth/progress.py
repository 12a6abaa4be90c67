"""What a computation says while it goes on: one line, drawn twice a second, with what is done and how much is left."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, ParamSpec, TypeVar, cast

__all__ = [
    "Advance",
    "LOG",
    "Line",
    "Progress",
    "Share",
    "collected",
    "current",
    "spent",
    "stage",
    "staged",
    "telling",
    "told",
    "whom",
]

LOG = logging.getLogger("nonsmooth")
LOG.addHandler(logging.NullHandler())

Result = TypeVar("Result")

#: stages that have begun and not ended, of all threads, for whoever shows them
_active: list[_Open] = []
_seconds: contextvars.ContextVar[dict[str, float] | None] = contextvars.ContextVar("seconds", default=None)
_open: contextvars.ContextVar[tuple[_Open, ...]] = contextvars.ContextVar("open", default=())


@dataclass(eq=False)
class _Open:
    """A stage that has not ended: when it began, and the seconds of stages within it that have ended."""

    name: str
    about: str
    begin: float
    within: float = 0.0

    @property
    def text(self) -> str:
        return f"{self.name} {self.about}".strip()

    def says(self, about: str) -> None:
        self.about = about


def current() -> str:
    """The stage that began last, with what it works on; empty if there is none."""
    return _active[-1].text if _active else ""


@contextlib.contextmanager
def stage(name: str, about: str = "", *, begin: float | None = None) -> Iterator[Callable[[str], None]]:
    """A stage of a computation; its seconds count for `name`, `about` is said as well.

    Yields a function that says something else about the stage, without an entry of the log.

    Parameters
    ----------
    begin
        When it began, by ``time.perf_counter()``, if not now.
    """
    one = _Open(name, about, time.perf_counter() if begin is None else begin)
    LOG.info(one.text)
    _active.append(one)
    token = _open.set((*_open.get(), one))
    try:
        yield one.says
    finally:
        _open.reset(token)
        _active.remove(one)
        whole = time.perf_counter() - one.begin
        if _open.get():
            _open.get()[-1].within += whole
        seconds = _seconds.get()
        if seconds is not None:
            seconds[name] = seconds.get(name, 0.0) + whole - one.within
        LOG.debug("%s: %.3g s", one.text, whole)


def staged(name: str, about: str, compute: Callable[[], Result]) -> Result:
    """The result of a stage."""
    with stage(name, about):
        return compute()


@contextlib.contextmanager
def collected() -> Iterator[dict[str, float]]:
    """Seconds of the stages within, by name."""
    seconds: dict[str, float] = {}
    outer = _seconds.get()
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)
        if outer is not None:
            for name, spent in seconds.items():
                outer[name] = outer.get(name, 0.0) + spent


def spent() -> dict[str, float]:
    """Seconds collected so far, by name of the stage, with those of stages that have not ended."""
    seconds, stages, now = dict(_seconds.get() or {}), _open.get(), time.perf_counter()
    for one, end in zip(stages, (*(inner.begin for inner in stages[1:]), now), strict=True):
        seconds[one.name] = seconds.get(one.name, 0.0) + end - one.begin - one.within
    return seconds


#: seconds between two drawings, and before the first
UPDATE = 0.5
#: seconds without a step from which a reason is given; over which the pace is measured; before a stage is named
SILENCE, PACE, WORDS = 5.0, 3.0, 0.5
#: seconds between two steps that are stored
STORED = 0.1
#: share of the steps' mean length below which steps count as short
SHORT = 0.05
#: characters of the bar
BAR = 20

#: what a study takes as `progress`: a function of what is done and its share, or True for words on one line
Progress = Callable[..., None] | bool | None
P = ParamSpec("P")


class Report:
    """What is said of a computation; `share` is what is done of it.

    Parameters
    ----------
    clock
        Returns the time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = self._last = clock()


class Advance(Report):
    """Stores the times at which steps of a run were reported, and evaluates them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._marks: list[tuple[float, float, int]] = []
        self.t, self.t_end, self.steps, self.run = 0.0, 0.0, 0, 1

    def __call__(self, t: float, t_end: float, steps: int) -> None:
        """As `reached`, ten times a second at most."""
        if self._clock() > self._last + STORED or not self._marks or steps < self.steps:
            self.reached(t, t_end, steps)

    def reached(self, t: float, t_end: float, steps: int) -> None:
        """A step has ended at t; if the number of steps decreases, another run with finer steps has begun."""
        now = self._clock()
        if steps < self.steps:
            self.run, self._marks, self._begin = self.run + 1, [], now
        self.t, self.t_end, self.steps, self._last = t, t_end, steps, now
        self._marks.append((now, t, steps))
        while len(self._marks) > 2 and self._marks[1][0] < now - PACE:
            self._marks.pop(0)

    @property
    def share(self) -> float | None:
        """Of the run; None before its first step."""
        return self.t / self.t_end if self._marks and self.t_end else None

    def said(self) -> str:
        """Time, steps, remaining time, and the reason for slow progress."""
        now = self._clock()
        if not self._marks:
            waited = now - self._begin
            return current() if waited > WORDS else ""
        run = f"run {self.run}, with finer steps; " if self.run > 1 else ""
        text = f"{run}t = {self.t:.6g} s, {self.steps} steps"
        silent = now - self._last
        if silent > WORDS and not current().startswith("computing"):
            return f"{text}; {current()}"
        if silent > SILENCE:
            return f"{text}; no step for {silent:.0f} s: its problem is being solved, or a shorter step tried"
        (then, t, steps), (_, t_now, steps_now) = self._marks[0], self._marks[-1]
        if steps_now == steps or t_now <= t or now == then:
            return text
        step, mean = (t_now - t) / (steps_now - steps), self.t / max(self.steps, 1)
        left = (self.t_end - t_now) / (t_now - t) * (now - then)
        short = f"; steps of {step:.1g} s: impacts in quick succession" if step < SHORT * mean else ""
        return f"{text}, {_spoken(left)} left{short}"


class Share(Report):
    """Stores which share of a study is done, and evaluates it."""

    what, share = "", cast(float | None, None)

    def __call__(self, *told: Any) -> None:
        """What is done, where a study says it, and the share that is done."""
        *what, self.share = told
        self.what = " ".join(map(str, what))

    def said(self) -> str:
        """What is done, the stage, and the remaining time."""
        words = ", ".join(filter(None, (self.what, current())))
        if not self.share or self.share >= 1.0:
            return words
        left = (self._clock() - self._begin) * (1.0 - self.share) / self.share
        return f"{words}, some {_spoken(left)} left"


def _spoken(seconds: float) -> str:
    """A time that is left, to two digits at most.

    >>> _spoken(8.4), _spoken(200.0), _spoken(9000.0)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400.0 else f"{seconds / 3600:.1f} h"


class Line:
    """The last line of a terminal, or the line below a notebook's cell: the seconds, the stage, and what is left.

    A thread draws it, for the first time after half a second. Within `above`, what is written to standard output and
    standard error stands above it.

    Parameters
    ----------
    stream
        Where it is drawn; None for standard error, and only while that is a terminal.
    """

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream, self.begin, self.width = stream, time.perf_counter(), 0
        #: of whoever reports steps or a share, the last one first
        self.reports: list[Advance | Share] = []
        self._lock, self._done = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True, name="nonsmooth progress")
        self._thread.start()

    def text(self) -> str:
        """The words of now."""
        report = self.reports[-1] if self.reports else None
        share = None if report is None else report.share
        words = current() if report is None else report.said()
        parts = [f"{time.perf_counter() - self.begin:.0f} s", words or current() or "working"]
        if share is not None:
            full = min(int(BAR * share), BAR)
            parts.insert(0, f"[{'#' * full}{'.' * (BAR - full)}] {100 * share:.0f} %")
        return "  ".join(parts)

    def erase(self) -> None:
        """Leave an empty line."""
        with self._lock:
            if self.width:
                self._out().write("\r" + " " * self.width + "\r")
                self._out().flush()
            self.width = 0

    def end(self, last: str = "") -> None:
        """Draw no more, and leave some words."""
        self._done.set()
        self._thread.join()
        self.erase()
        if last:
            self._out().write(f"{last}\n")
            self._out().flush()

    @contextlib.contextmanager
    def above(self) -> Iterator[None]:
        """What is written meanwhile stands above the line."""
        usual = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (cast(Any, _Above(one, self)) for one in usual)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = usual

    def _out(self) -> IO[str]:
        found = sys.stderr if self.stream is None else self.stream
        return cast("IO[str]", getattr(found, "below", found))

    def _repeat(self) -> None:
        while not self._done.wait(UPDATE):
            with self._lock:
                if self.stream is None and not sys.stderr.isatty():
                    continue
                text = self.text()
                if self.stream is None:
                    text = text[: shutil.get_terminal_size().columns - 1]
                self._out().write("\r" + text.ljust(self.width))
                self._out().flush()
                self.width = len(text)


class _Above:
    """A stream that writes above the line."""

    def __init__(self, below: Any, line: Line) -> None:
        self.below, self._line = below, line

    def write(self, text: str) -> int:
        with self._line._lock:
            self._line.erase()
            return int(self.below.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


@contextlib.contextmanager
def told(stream: IO[str] | None = None, report: Callable[[], Any] = Advance) -> Iterator[Any]:
    """Words twice a second on one line, in a terminal or a notebook; yields the report, which takes what is reached."""
    line = Line(sys.stderr if stream is None else stream)
    line.reports.append(report())
    try:
        yield line.reports[-1]
    finally:
        line.end(f"done, {time.perf_counter() - line.begin:.0f} s")


def telling(study: Callable[P, Result]) -> Callable[P, Result]:
    """A study that takes ``progress=True``: words twice a second of what is done, and how much time is left."""

    @functools.wraps(study)
    def said(*given: P.args, **named: P.kwargs) -> Result:
        if named.get("progress") is not True:
            return study(*given, **named)
        with told(report=Share) as share:
            return study(*given, **{**named, "progress": share})

    return said


def whom(progress: Progress) -> Callable[..., None]:
    """The function that is told what is done; without one it is told to nobody."""
    return progress if callable(progress) else lambda *_: None
