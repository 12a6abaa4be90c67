"""Many runs of one mechanism over threads: one memory per thread, the same compiled steps as a single run."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.native import entries
from nonsmooth.native import table as n
from nonsmooth.native.layout import Layout
from nonsmooth.native.session import Scheme, Session

__all__ = ["run_batch"]

#: runs that a thread takes at a time
SHARE = 64


def run_batch(
    layout: Layout, values: Array, scheme: Scheme, state: State, keep: NDArray[np.int64], *,
    dt: float, t_end: float, observe: bool, threads: int | None = None,
) -> tuple[Array, NDArray[np.int64]]:  # fmt: skip
    """The ends of runs with the parameters `values` (runs, parameters), and the status of each run.

    Parameters
    ----------
    keep : which doubles are kept of a run's memory at its end
    dt : of each step, or of the longest
    observe : whether gaps, joints and energies are looked at after each step
    threads : one per processor by default

    Returns
    -------
    ends : (runs, doubles kept)
    status : (runs,) ``table.DONE``, ``UNCERTAIN`` or ``OPEN_START``
    """
    count = len(values)
    values = np.ascontiguousarray(values)
    ends = np.zeros((count, keep.size))
    status = np.zeros(count, dtype=np.int64)
    heads = [values.shape[1], layout.gather_target.size]
    places = np.concatenate([heads, layout.gather_target, layout.gather_source]).astype(np.int64)
    kept = np.concatenate([[keep.size], keep]).astype(np.int64)
    session = _session(layout, values[0], scheme, state, observe)
    template = session.memory.copy()

    def share(first: int) -> None:
        mine = _session(layout, values[0], scheme, state, observe)
        entries.run_many(
            mine.A, mine.f, mine.rec, template.ctypes.data, places.ctypes.data, values.ctypes.data, ends.ctypes.data,
            status.ctypes.data, first, min(first + SHARE, count), float(dt), float(t_end), kept.ctypes.data,
        )  # fmt: skip

    entries.run_many(session.A, session.f, session.rec, template.ctypes.data, places.ctypes.data, values.ctypes.data,
               ends.ctypes.data, status.ctypes.data, 0, 0, float(dt), float(t_end), kept.ctypes.data)  # fmt: skip
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        jobs = [pool.submit(share, first) for first in range(0, count, SHARE)]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return ends, status


def _session(layout: Layout, values: Array, scheme: Scheme, state: State, observe: bool) -> Session:
    session = Session(layout, values, scheme, record=np.iinfo(np.int64).max, capacity=1)
    session.table[n.OBSERVE], session.table[n.BRIEF] = observe, True
    session.place(state)
    return session
