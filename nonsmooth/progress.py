"""Stages of a computation and their seconds; the progress line: what is done, and how much is left, twice a second."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from typing import IO, Any, ParamSpec, TypeVar, cast

from nonsmooth.exceptions import InputError, Interrupted
from nonsmooth.quantities import in_si

#: what a study takes as `progress`: a function of what is done and its share, or True for a progress line
Progress = Callable[..., None] | bool | None
P = ParamSpec("P")
Result = TypeVar("Result")

#: arguments of studies that are times [s]
TIMES = ("t_end", "dt", "until")
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

LOG = logging.getLogger("nonsmooth")
LOG.addHandler(logging.NullHandler())


@dataclass(eq=False)
class _OpenStage:
    """A stage that has not ended: when it began, and the seconds of stages within it that have ended."""

    name: str
    about: str
    begin: float
    within: float = 0.0

    @property
    def text(self) -> str:
        return f"{self.name} {self.about}".strip()


#: stages that have begun and not ended, of all threads
_active: list[_OpenStage] = []
_seconds: contextvars.ContextVar[dict[str, float] | None] = contextvars.ContextVar("seconds", default=None)
_open: contextvars.ContextVar[tuple[_OpenStage, ...]] = contextvars.ContextVar("open", default=())


def current() -> str:
    """The stage that began last, with what it works on; empty if there is none."""
    return _active[-1].text if _active else ""


@contextlib.contextmanager
def stage(name: str, about: str = "", *, begin: float | None = None) -> Iterator[Callable[[str], None]]:
    """A stage of a computation, also since `begin` by ``time.perf_counter()``; its seconds count for `name`. Yields a
    function that changes `about`, which is shown as well, without an entry of the log."""
    one = _OpenStage(name, about, time.perf_counter() if begin is None else begin)
    LOG.info(one.text)
    _active.append(one)
    token = _open.set((*_open.get(), one))
    try:
        yield functools.partial(setattr, one, "about")
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


_asked: contextvars.ContextVar[Callable[[], None]] = contextvars.ContextVar("asked", default=lambda: None)


@contextlib.contextmanager
def asking(limit: Callable[[], None]) -> Iterator[None]:
    """Within it, long computations ask `limit` by `in_time`, which raises an error where their time is spent."""
    token = _asked.set(limit)
    try:
        yield
    finally:
        _asked.reset(token)


def in_time() -> None:
    """Raise the error of a limit of time that is spent, if there is one."""
    _asked.get()()


def timed(name: str, about: str, compute: Callable[[], Result]) -> Result:
    """The result of a computation that is a stage."""
    with stage(name, about):
        return compute()


@contextlib.contextmanager
def collect_timings() -> Iterator[dict[str, float]]:
    """Seconds of the stages within, by name."""
    seconds: dict[str, float] = {}
    outer = _seconds.get()
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)
        if outer is not None:
            for name, value in seconds.items():
                outer[name] = outer.get(name, 0.0) + value


def timings() -> dict[str, float]:
    """Seconds collected so far, by name of the stage, with those of stages that have not ended."""
    seconds, stages, now = dict(_seconds.get() or {}), _open.get(), time.perf_counter()
    for one, end in zip(stages, (*(inner.begin for inner in stages[1:]), now), strict=True):
        seconds[one.name] = seconds.get(one.name, 0.0) + end - one.begin - one.within
    return seconds


class Advance:
    """Progress of a run: stores the times at which steps of a run were reported, by a clock [s], and evaluates them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._marks = clock, list[tuple[float, float, int]]()
        self._begin = self._last = clock()
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
        return self.t / self.t_end if self._marks and self.t_end else None

    def said(self) -> str:
        now = self._clock()
        if not self._marks:
            return current() if now - self._begin > WORDS else ""
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
        return f"{text}, {_rounded(left)} left{short}"


class Share:
    """Progress of a study: stores which share of it is done."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begin = clock, clock()
        self.what, self.share = "", cast(float | None, None)

    def __call__(self, *progress: Any) -> None:
        """Take what is done, if the study says so, and the share that is done."""
        *what, self.share = progress
        self.what = " ".join(map(str, what))

    def said(self) -> str:
        words = ", ".join(filter(None, (self.what, current())))
        if not self.share or self.share >= 1.0:
            return words
        left = (self._clock() - self._begin) * (1.0 - self.share) / self.share
        return f"{words}, some {_rounded(left)} left"


def _rounded(seconds: float) -> str:
    """Remaining time in words, to two digits at most."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400.0 else f"{seconds / 3600:.1f} h"


class Line:
    """The last line of a terminal, or that below a notebook's cell, drawn by a thread: seconds, stage, what is left.
    Without a stream it is drawn on standard error, and only while that is a terminal."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream, self.begin, self.width = stream, time.perf_counter(), 0
        #: the last one is shown
        self.reports: list[Advance | Share] = []
        self._lock, self._done = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True, name="nonsmooth progress")
        self._thread.start()

    def text(self) -> str:
        """Bar, seconds and words at this time."""
        report = self.reports[-1] if self.reports else None
        share = None if report is None else report.share
        words = current() if report is None else report.said()
        parts = [f"{time.perf_counter() - self.begin:.0f} s", words or current() or "working"]
        if share is not None:
            full = min(int(BAR * share), BAR)
            parts.insert(0, f"[{'#' * full}{'.' * (BAR - full)}] {100 * share:.0f} %")
        return "  ".join(parts)

    def erase(self) -> None:
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
        """Show output that is written meanwhile above the line."""
        usual = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (cast(Any, _Above(one, self)) for one in usual)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = usual

    def _out(self) -> IO[str]:
        """The stream itself, also where `above` has replaced it."""
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
def progress_line(stream: IO[str] | None = None, report: Callable[[], Any] = Advance) -> Iterator[Any]:
    """Progress on one line of a terminal or a notebook; yields the report, which takes what is reached."""
    line = Line(sys.stderr if stream is None else stream)
    line.reports.append(report())
    try:
        yield line.reports[-1]
    finally:
        line.end(f"done, {time.perf_counter() - line.begin:.0f} s")


told = progress_line  # its name in 0.2.0


def telling(study: Callable[P, Result]) -> Callable[P, Result]:
    """Decorator of a study that takes ``progress=True``: a line of what is done, and how much time is left. Its times
    may be texts with a unit. InputError for arguments that it does not take, or lacks."""
    signature = inspect.signature(study)
    takes = {name: one for name, one in signature.parameters.items() if one.kind is not one.KEYWORD_ONLY}

    @functools.wraps(study)
    def with_line(*values: P.args, **given: P.kwargs) -> Result:
        try:
            signature.bind(*values, **given)
        except TypeError as error:
            usual = "; stepper may be None, to be chosen" if "None" in str(takes.get("stepper", "")) else ""
            others = ", ".join(name for name in signature.parameters if name not in takes)
            text = f"{study.__name__}: {error}; by place it takes {', '.join(takes)}{usual}; by name {others}."
            raise InputError(text) from None
        named: Any = {name: in_si(name, one, "s") if name in TIMES else one for name, one in given.items()}
        if named.get("progress") is not True:
            return study(*values, **named)
        with progress_line(report=Share) as share:
            return study(*values, **{**named, "progress": share})

    return with_line


@contextlib.contextmanager
def handing_over(finished: Sized, total: int, what: str, result: Callable[[], Any], remedy: str) -> Iterator[None]:
    """After Ctrl-C within it, Interrupted with the `result` of what is finished, and what to do to go on."""
    try:
        yield
    except KeyboardInterrupt as error:
        message = f"Interrupted after {len(finished)} of {total} {what}; {remedy}."
        made = result() if len(finished) else None
        raise Interrupted(message, trajectory=getattr(error, "trajectory", None), result=made) from None


def whom(progress: Progress) -> Callable[..., None]:
    """The function that takes what is done; one that does nothing if there is none."""
    return progress if callable(progress) else lambda *_: None
