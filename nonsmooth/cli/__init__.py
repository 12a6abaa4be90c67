"""The command line: `nonsmooth list`, `describe`, `new`, `run`, `compare`, `study`, `cite`, `doctor`.

Exit codes: 0; 1 a run that failed, its trajectory so far saved; 2 bad input, one sentence, nothing written; 130 Ctrl-C,
the trajectory likewise saved. Results go to standard output, progress and messages to standard error.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` (default: those of the process) and return the exit code."""
    try:
        from nonsmooth.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:  # while commands are imported, before `run` can say more
        print("nonsmooth: Interrupted before the first step; nothing was written.", file=sys.stderr)
        return 130
    finally:
        if arguments is None:  # the results are there, and Ctrl-C would but end the interpreter's own end untidily
            signal.signal(signal.SIGINT, signal.SIG_IGN)
