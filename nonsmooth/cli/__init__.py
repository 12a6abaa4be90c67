"""The command line: `nonsmooth list`, `describe`, `new`, `run`, `compare`, `study`, `cite`, `doctor`.

Exit codes: 0 success; 1 a failed run, whose trajectory so far is saved; 2 invalid input, with nothing written; 130
Ctrl-C, with the trajectory so far saved. Results go to standard output, progress and messages to standard error.
"""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["main"]

#: when the process began, of whose start the processor's time is known
BEGIN = time.perf_counter() - time.process_time()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` and return the exit code; without them, on those of the process, end it."""
    try:
        with stoppable():
            from nonsmooth.cli.app import main as run

            code = run(sys.argv[1:], BEGIN) if arguments is None else run(arguments)
    except KeyboardInterrupt:  # during the import of commands
        print("nonsmooth: Interrupted before the first step; nothing was written.", file=sys.stderr)
        code = 130
    finally:
        if arguments is None:  # the results are complete; Ctrl-C would only disturb the end of the interpreter
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    if arguments is None and threading.active_count() == 1:
        # to free what the process has made takes seconds; it ends without that, unless something would be lost
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):  # of output that is full or closed
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            os._exit(code)
    return code


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM (a batch system, kill) and SIGHUP (a terminal that closes) act like Ctrl-C, unless they are ignored.

    Where the interpreter drops the exception, since it came while an object was destroyed, it is raised again soon.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    def dropped(what: Any) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            usual(what)

    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, stop)
    usual, sys.unraisablehook = sys.unraisablehook, dropped
    try:
        yield
    finally:
        sys.unraisablehook = usual
        for number, handler in before.items():
            signal.signal(number, handler)
