"""Evaluation of a function for many tasks: in this process, in others on this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nonsmooth.exceptions import InputError, NonsmoothError

__all__ = ["WorkersLost", "cores", "outcomes", "packed", "unpacked"]

#: seconds between two checks of a worker whether its parent process exists
WATCH = 1.0
#: number of times that terminated workers are replaced without a finished task in between
PATIENCE = 3
#: number of times that a Dask scheduler passes a task to another worker after a failure
RETRIES = 10


class WorkersLost(NonsmoothError, RuntimeError):
    """Worker processes terminate repeatedly, for instance for lack of memory."""


def packed(thing: Any) -> bytes:
    """Pickled for other processes, with functions and classes of a script or notebook.

    Raises
    ------
    InputError
        For objects that cannot be pickled.
    """
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(thing))
    except Exception as error:  # CasADi raises a bare Exception
        raise InputError(
            f"The study cannot be sent to other processes ({error}). "
            "Give a function that builds the model, or workers=1."
        ) from error


def unpacked(parcel: bytes) -> Any:
    """What was packed."""
    import cloudpickle

    return cloudpickle.loads(parcel)


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def outcomes(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, workers: int | None, scheduler: str | None
) -> Iterator[tuple[int, Any]]:
    """Number and outcome of each task, as they finish.

    Parameters
    ----------
    function
        A function that can be imported by name; objects of a script are passed in `packed`.
    tasks
        Its arguments.
    workers
        Number of processes; 1 for this process only, None for one per core.
    scheduler
        Address of a Dask scheduler, ``"tcp://host:8786"``, instead of local processes.
    """
    known = dict(enumerate(tasks))
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number, at least 1, got {workers!r}.")
    if scheduler is not None:
        return _on_dask(function, known, scheduler)
    count = min(cores() if workers is None else workers, max(len(known), 1))
    return _here(function, known) if count == 1 else _in_processes(function, known, count)


def _here(function: Callable[..., Any], tasks: dict[int, tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    for number, arguments in tasks.items():
        yield number, function(*arguments)


def _in_processes(
    function: Callable[..., Any], tasks: dict[int, tuple[Any, ...]], count: int
) -> Iterator[tuple[int, Any]]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    from loky.process_executor import ProcessPoolExecutor

    left, lives = dict(tasks), PATIENCE
    # one core per process: threads would compete for it
    alone = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    while left:
        pool = ProcessPoolExecutor(count, initializer=_live_with, initargs=(os.getpid(),), env=alone)
        unfinished = True
        try:
            numbers = {pool.submit(function, *arguments): number for number, arguments in left.items()}
            for future in as_completed(numbers):
                outcome = future.result()
                number, lives = numbers[future], PATIENCE
                del left[number]
                yield number, outcome
            unfinished = False
        except BrokenProcessPool as error:
            lives -= 1
            if not lives:
                raise WorkersLost(
                    f"Worker processes died {PATIENCE} times in a row, {len(left)} tasks were left ({error}). "
                    "Take fewer workers if memory is short; workers=1 shows where a crash comes from."
                ) from error
        finally:
            pool.shutdown(wait=True, kill_workers=unfinished)


def _live_with(parent: int) -> None:
    """End this process when its parent does not exist any more, as after SIGKILL."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    if os.getppid() == parent:
        threading.Thread(target=watch, daemon=True).start()


def _on_dask(
    function: Callable[..., Any], tasks: dict[int, tuple[Any, ...]], scheduler: str
) -> Iterator[tuple[int, Any]]:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise InputError(
            f'A Dask scheduler needs the extra "dask", pip install "nonsmooth[dask]" ({error}).'
        ) from error
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"There is no Dask scheduler at {scheduler} ({error}).") from error
    with contextlib.closing(client):
        numbers = {
            client.submit(function, *arguments, pure=False, retries=RETRIES): number
            for number, arguments in tasks.items()
        }
        for future in as_completed(list(numbers), loop=client.loop):
            outcome = future.result()
            yield numbers[future], outcome
            future.release()
