"""Ctrl-C during calls of CasADi, which may lose it: an evaluation that it ends is taken for one that failed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["ctrl_c_kept"]


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
    """What the handler of SIGINT raises within, mostly KeyboardInterrupt, is raised again at the end if it was lost."""
    usual: Any = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return
    raised: list[BaseException] = []

    def handler(number: int, frame: Any) -> None:
        try:
            usual(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if raised:
        raise raised[0]
