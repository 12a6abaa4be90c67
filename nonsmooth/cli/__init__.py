"""The command line: `nonsmooth list`, `describe`, `new`, `run`, `compare`, `study`, `cite`, `doctor`.

Exit codes: 0 success; 1 a failed run, whose trajectory so far is saved; 2 invalid input, with nothing written; 130
Ctrl-C, with the trajectory so far saved. Results go to standard output, progress and messages to standard error.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Sequence

from nonsmooth.cli.signals import stoppable

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` and return the exit code; without them, on those of the process, end it."""
    try:
        with stoppable():
            from nonsmooth.cli.app import main as run

            code = run(arguments)
    except KeyboardInterrupt:  # during the import of commands
        print("nonsmooth: Interrupted before the first step; nothing was written.", file=sys.stderr)
        code = 130
    finally:
        if arguments is None:  # the results are complete; Ctrl-C would only disturb the end of the interpreter
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    if arguments is None:
        _end(code)
    return code


def _end(code: int) -> None:
    """End the process without freeing object by object what it has made, which after compiling takes seconds.

    It returns, and leaves the end to the interpreter, where that has something to say or to wait for.
    """
    if threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # full or closed
        return
    os._exit(code)
