"""The command line: `nonsmooth list`, `describe`, `new`, `run`, `compare`, `study`, `cite`, `doctor`.

Exit codes: 0; 1 a run that failed, its trajectory so far saved; 2 bad input, one sentence, nothing written; 130 Ctrl-C,
the trajectory likewise saved. Results go to standard output, progress and messages to standard error.
"""

from nonsmooth.cli.app import main

__all__ = ["main"]
