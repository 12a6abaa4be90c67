"""Evaluation of a function for many tasks: in this process, in others on this machine, or on a Dask cluster."""

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nonsmooth.exceptions import InputError, NonsmoothError
from nonsmooth.studies.arguments import check_count

WATCH = 1.0  # seconds between two checks of a worker whether its parent process exists
PATIENCE = 3  # number of times that terminated workers are replaced without a finished task in between
RETRIES = 10  # number of times that a Dask scheduler passes a task to another worker after a failure


class WorkersLost(NonsmoothError, RuntimeError):
    """Worker processes terminate repeatedly, for instance for lack of memory."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def outcomes(
    work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, workers: int | None, scheduler: str | None = None
) -> Iterator[tuple[int, Any]]:
    """Number and outcome of each task, which are arguments of `work`, as they finish, by processes or Dask's workers.

    Each process reads `work`, a function or a method, once: what its object builds for one task is there for the next.
    """
    known = dict(enumerate(tasks))
    if workers is not None:
        check_count("workers", workers)
    count = min(cores() if workers is None else workers, max(len(known), 1))
    if scheduler is None and count == 1:
        return ((number, work(*task)) for number, task in known.items())
    import cloudpickle  # functions and classes of a script or notebook, too

    try:
        parcel = bytes(cloudpickle.dumps(work))
    except Exception as error:  # CasADi raises a bare Exception
        advice = "Give a function that builds the model, or workers=1."
        raise InputError(f"The study cannot be sent to other processes ({error}). {advice}") from error
    sent = {number: (parcel, *task) for number, task in known.items()}
    return _in_processes(sent, count) if scheduler is None else _on_dask(sent, scheduler)


def _done(parcel: bytes, *task: Any) -> Any:
    return _unpacked(parcel)(*task)


@functools.lru_cache(maxsize=2)
def _unpacked(parcel: bytes) -> Callable[..., Any]:
    """Once per process, so that tasks share what the work builds."""
    import cloudpickle

    return cloudpickle.loads(parcel)


def _in_processes(tasks: dict[int, tuple[Any, ...]], count: int) -> Iterator[tuple[int, Any]]:
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
            numbers = {pool.submit(_done, *task): number for number, task in left.items()}
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


def _on_dask(tasks: dict[int, tuple[Any, ...]], scheduler: str) -> Iterator[tuple[int, Any]]:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        needs = 'A Dask scheduler needs the extra "dask", pip install "nonsmooth[dask]"'
        raise InputError(f"{needs} ({error}).") from error
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"There is no Dask scheduler at {scheduler} ({error}).") from error
    with contextlib.closing(client):
        numbers = {client.submit(_done, *task, pure=False, retries=RETRIES): number for number, task in tasks.items()}
        for future in as_completed(list(numbers), loop=client.loop):
            outcome = future.result()
            yield numbers[future], outcome
            future.release()
