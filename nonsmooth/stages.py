"""What a computation does at the moment, and where its seconds go: compiling, computing, tables, checking, writing.

Each stage is an entry of the log ``nonsmooth``, at the level INFO when it begins, and at DEBUG, with its seconds, when
it ends. Seconds of a stage within another count for the inner one only, so that they add up to the whole.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["LOG", "collected", "current", "spent", "stage", "staged"]

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
