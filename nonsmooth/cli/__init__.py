"""The command line: `nonsmooth list`, `describe`, `new`, `run`, `compare`, `study`, `cite`, `doctor`.

Exit codes: 0 success; 1 a failed run, whose trajectory so far is saved; 2 invalid input, with nothing written; 130
Ctrl-C, with the trajectory so far saved. Results go to standard output, progress and messages to standard error.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence

from nonsmooth.cli.signals import stoppable

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` (default: those of the process) and return the exit code."""
    try:
        with stoppable():
            from nonsmooth.cli.app import main as run

            return run(arguments)
    except KeyboardInterrupt:  # during the import of commands
        print("nonsmooth: Interrupted before the first step; nothing was written.", file=sys.stderr)
        return 130
    finally:
        if arguments is None:  # the results are complete; Ctrl-C would only disturb the end of the interpreter
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            gc.freeze()  # the end does not search for garbage, which takes up to a second
