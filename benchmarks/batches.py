"""Batches: many runs of one mechanism with different parameters, on all cores, of which only final states are kept."""

from __future__ import annotations

import os
import time
from statistics import median
from typing import Any

import numpy as np

from nonsmooth import GaussQP, MoreauJean, simulate
from nonsmooth_problems import slider_crank_translational, slider_rod

__all__ = ["batches"]

RUNS, CHECKED = 10_000, (0, 1, 4_999, 9_999)
#: largest number of repetitions of a batch, and time [s] after which there is no further one
REPEATS, SPENT = 3, 20.0
#: title, problem, stepper, dt, steps, varied parameter
BATCHES = (
    ("slider-rod 2, GaussQP", lambda: slider_rod(case=2), GaussQP(), 1e-4, 1000, "guide.clearance", (5e-6, 5e-5)),
    (
        "slider-crank, guide, MoreauJean",
        slider_crank_translational,
        MoreauJean(),
        1e-5,
        2000,
        "guide.clearance",
        (2e-4, 2e-3),
    ),
)


def batches() -> list[dict[str, Any]]:
    """One row per batch; `equal` says whether some of its runs equal single ones bit for bit."""
    try:
        from nonsmooth.run.batch import simulate_batch
    except ImportError:
        return []
    rows = []
    for title, model, stepper, dt, steps, name, (least, most) in BATCHES:
        system, values = model().build(), np.geomspace(least, most, RUNS)
        simulate_batch(system, stepper, {name: values[:8]}, t_end=dt * steps, dt=dt)
        seconds: list[float] = []
        while len(seconds) < REPEATS and sum(seconds) < SPENT:
            begin = time.perf_counter()
            ends = simulate_batch(system, stepper, {name: values}, t_end=dt * steps, dt=dt)
            seconds.append(time.perf_counter() - begin)
        equal = True
        for i in CHECKED:
            single = simulate(system, stepper, t_end=dt * steps, dt=dt, parameters={name: float(values[i])})
            equal &= bool(np.array_equal(single.end.q, ends["q"].values[i]))
        spent = median(seconds)
        rows.append(
            {
                "what": f"{RUNS} x {steps} steps of {title}",
                "seconds": spent,
                "ns_per_step": 1e9 * spent / (RUNS * steps),
                "threads": os.cpu_count(),
                "equal": equal,
            }
        )
    return rows
