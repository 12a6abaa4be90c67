"""The line at the end of the terminal while a command runs, and its reports of runs and studies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nonsmooth.progress import Advance, Line, Share

__all__ = ["line", "progress_bar", "study_bar"]

_lines: list[Line] = []


@contextmanager
def line() -> Iterator[None]:
    """Say from half a second on what the command does, on standard error where that is a terminal."""
    shown = Line()
    _lines.append(shown)
    try:
        with shown.above():
            yield
    finally:
        _lines.remove(shown)
        shown.end()


@contextmanager
def progress_bar() -> Iterator[Any]:
    """Takes the time, the end and the steps of a run; None where standard error is no terminal."""
    with _reported(Advance()) as report:
        yield report


@contextmanager
def study_bar() -> Iterator[Any]:
    """Takes what a study does, and the share that is done; None where standard error is no terminal."""
    with _reported(Share()) as report:
        yield report


@contextmanager
def _reported(report: Advance | Share) -> Iterator[Any]:
    if not sys.stderr.isatty():
        yield None
        return
    for shown in _lines:
        shown.reports.append(report)
    try:
        yield report
    finally:
        for shown in _lines:
            shown.reports.remove(report)
