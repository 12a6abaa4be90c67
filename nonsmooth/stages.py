"""What a computation does at the moment, and where its seconds go: compiling, computing, tables, checking, writing.

Each stage is an entry of the log ``nonsmooth``, at the level INFO when it begins, and at DEBUG, with its seconds, when
it ends. Seconds of a stage within another count for the inner one only, so that they add up to the whole.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, TypeVar

__all__ = ["LOG", "collected", "current", "stage", "staged", "told"]

LOG = logging.getLogger("nonsmooth")
LOG.addHandler(logging.NullHandler())

#: seconds between two words
UPDATE = 0.5
Progress = Callable[[float, float, int], None]
Result = TypeVar("Result")

#: stages that have begun and not ended, of all threads, for whoever shows them
_active: list[str] = []
_seconds: contextvars.ContextVar[dict[str, float] | None] = contextvars.ContextVar("seconds", default=None)
_inner: contextvars.ContextVar[list[float] | None] = contextvars.ContextVar("inner", default=None)


def current() -> str:
    """The stage that began last, with what it works on; empty if there is none."""
    return _active[-1] if _active else ""


@contextlib.contextmanager
def stage(name: str, about: str = "") -> Iterator[None]:
    """A stage of a computation; its seconds count for `name`, `about` is said as well."""
    text, begin = f"{name} {about}".strip(), time.perf_counter()
    LOG.info(text)
    _active.append(text)
    outer, own = _inner.get(), [0.0]
    token = _inner.set(own)
    try:
        yield
    finally:
        _inner.reset(token)
        _active.remove(text)
        whole = time.perf_counter() - begin
        if outer is not None:
            outer[0] += whole
        seconds = _seconds.get()
        if seconds is not None:
            seconds[name] = seconds.get(name, 0.0) + whole - own[0]
        LOG.debug("%s: %.3g s", text, whole)


def staged(name: str, about: str, compute: Callable[[], Result]) -> Result:
    """The result of a stage."""
    with stage(name, about):
        return compute()


@contextlib.contextmanager
def collected() -> Iterator[dict[str, float]]:
    """Seconds of the stages within, by name."""
    seconds: dict[str, float] = {}
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)


@contextlib.contextmanager
def told(stream: IO[str] | None = None) -> Iterator[Progress]:
    """Words twice a second on one line, in a terminal or a notebook: the stage, and time and steps of the run."""
    out = sys.stderr if stream is None else stream
    reached: list[tuple[float, float, int]] = []
    done, begin, width = threading.Event(), time.perf_counter(), 0

    def say(last: str = "") -> None:
        nonlocal width
        words = [last or current() or "working", f"{time.perf_counter() - begin:.0f} s"]
        if reached and not last:
            t, t_end, steps = reached[-1]
            words.append(f"t = {t:.4g} of {t_end:.4g} s, {steps} steps")
        text = ", ".join(words)
        out.write("\r" + text.ljust(width))
        width = len(text)
        out.flush()

    def repeat() -> None:
        while not done.wait(UPDATE):
            say()

    def progress(t: float, t_end: float, steps: int) -> None:
        reached[:] = [(t, t_end, steps)]

    thread = threading.Thread(target=repeat, daemon=True, name="nonsmooth progress")
    thread.start()
    try:
        yield progress
    finally:
        done.set()
        thread.join()
        say("done")
        out.write("\n")
