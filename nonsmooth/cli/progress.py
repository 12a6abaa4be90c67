"""The line at the end of the terminal while a command runs, and its reports of runs and studies."""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from typing import Any

from nonsmooth.progress import Advance, Line, Share

_lines: list[Line] = []


@contextmanager
def line() -> Iterator[None]:
    """Show what the command does, after half a second, on standard error where that is a terminal."""
    shown = Line()
    _lines.append(shown)
    try:
        with shown.above():
            yield
    finally:
        if shown in _lines:
            _lines.remove(shown)
        shown.end()


@contextmanager
def quiet_output(quiet: bool, as_json: bool = False) -> Iterator[None]:
    """Suppress the line and, unless JSON is requested, standard output where `quiet` is set."""
    while quiet and _lines:
        _lines.pop().end()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        with redirect_stdout(nowhere) if quiet and not as_json else nullcontext():
            yield


def progress_bar() -> AbstractContextManager[Any]:
    """A function of the time, the end and the steps of a run that updates the line; None without a line."""
    return _reported(Advance())


def study_bar() -> AbstractContextManager[Any]:
    """A function of what a study does and the share done that updates the line; None without a line."""
    return _reported(Share())


@contextmanager
def _reported(report: Advance | Share) -> Iterator[Any]:
    if not (_lines and sys.stderr.isatty()):
        yield None
        return
    for shown in _lines:
        shown.reports.append(report)
    try:
        yield report
    finally:
        for shown in _lines:
            shown.reports.remove(report)
