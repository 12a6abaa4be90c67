"""Evaluation of a function for many tasks: in this process, in others on this machine, or by any executor."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nonsmooth.exceptions import InputError, NonsmoothError

WATCH = 1.0  # seconds between two checks of a worker whether its parent process exists
PATIENCE = 3  # number of times that terminated workers are replaced without a finished task in between
RETRIES = 10  # number of times that a Dask scheduler passes a task to another worker after a failure


class WorkersLost(NonsmoothError, RuntimeError):
    """Worker processes terminate repeatedly, for instance for lack of memory."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_local(executor: Any) -> bool:
    """Whether an executor is a number of processes of this machine, or None for one per core."""
    return executor is None or isinstance(executor, int)


def width(executor: Any) -> int:
    """Number of tasks that are computed at a time, as far as the executor says."""
    if isinstance(executor, int):
        return executor
    if hasattr(executor, "nthreads"):  # a Dask client
        return sum(executor.nthreads().values()) or 1
    return getattr(executor, "_max_workers", None) or cores()


def outcomes(
    work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, executor: Any = None
) -> Iterator[tuple[int, Any]]:
    """Number and outcome of each task, which are arguments of `work`, as they finish; `executor` is that of `sweep`.

    Each worker reads `work`, a function or a method, once: what its object builds for one task is there for the next.
    """
    known = dict(enumerate(tasks))
    count = min(width(executor), max(len(known), 1)) if is_local(executor) else 0
    if count == 1:
        return ((number, work(*task)) for number, task in known.items())
    import cloudpickle  # functions and classes of a script or notebook, too

    try:
        parcel = bytes(cloudpickle.dumps(work))
    except Exception as error:  # CasADi raises a bare Exception
        advice = "Give a function that builds the model, or executor=1."
        raise InputError(f"The study cannot be sent to other processes ({error}). {advice}") from error
    sent = {number: (parcel, *task) for number, task in known.items()}
    return _in_processes(sent, count) if count else _by_executor(sent, executor)


_unpacked = threading.local()  # of each thread its last parcel and what it contains


def _done(parcel: bytes, *task: Any) -> Any:
    if getattr(_unpacked, "parcel", None) != parcel:
        import cloudpickle

        _unpacked.parcel, _unpacked.work = parcel, cloudpickle.loads(parcel)
    return _unpacked.work(*task)


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
                    "Take fewer workers if memory is short; executor=1 shows where a crash comes from."
                ) from error
        finally:
            pool.shutdown(wait=True, kill_workers=unfinished)


def _live_with(parent: int) -> None:
    """End this process when its parent does not exist any more, as after SIGKILL."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    if os.name == "posix" or os.getppid() == parent:  # elsewhere a launcher may stand between
        threading.Thread(target=watch, daemon=True).start()


def _by_executor(tasks: dict[int, tuple[Any, ...]], executor: Any) -> Iterator[tuple[int, Any]]:
    from concurrent.futures import BrokenExecutor, as_completed

    if isinstance(executor, str):  # the address of a Dask scheduler
        try:
            from distributed import Client
        except ImportError as error:
            needs = 'A Dask scheduler needs the extra "dask", pip install "nonsmooth[dask]"'
            raise InputError(f"{needs} ({error}).") from error
        try:
            client = Client(executor, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"There is no Dask scheduler at {executor} ({error}).") from error
        with contextlib.closing(client):
            yield from _by_executor(tasks, client)
        return
    if hasattr(executor, "get_executor"):  # a Dask client
        executor = executor.get_executor(pure=False, retries=RETRIES)
    numbers = {executor.submit(_done, *task): number for number, task in tasks.items()}
    try:
        for future in as_completed(list(numbers)):
            outcome = future.result()
            yield numbers.pop(future), outcome
    except BrokenExecutor as error:
        raise WorkersLost(f"The executor has lost its workers, {len(numbers)} tasks were left ({error}).") from error
    finally:
        for future in numbers:
            future.cancel()
