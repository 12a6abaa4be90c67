"""Requests to end from outside the program, for the command line alone: a library leaves signals to its user."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: when the process began, of whose start the processor's time is known
BEGIN = time.perf_counter() - time.process_time()


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM (a batch system, kill) and SIGHUP (a terminal that closes) act like Ctrl-C.

    A signal that is ignored, as SIGHUP is under nohup, goes on being so. Where the interpreter drops the exception,
    since it came while an object was destroyed, it is raised again a moment later.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may
        yield
        return
    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, _stop)
    usual = sys.unraisablehook

    def dropped(what: Any) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            usual(what)

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = usual
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt
