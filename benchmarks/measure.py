"""Timing of a problem: this library, the limit and MuJoCo in turn, several times; medians, and medians of ratios.

All three are timed by the same clock: the CPU time of the thread, including system calls, so that other processes on a
shared core have no influence; by the wall clock if the system's CPU time is too coarse.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from statistics import median
from typing import Any
from unittest import mock

from benchmarks import mujoco_models
from benchmarks.mechanisms import Problem
from nonsmooth import simulate

__all__ = ["CLOCKS", "Row", "measured", "measured_apart"]

#: shortest timed interval [s]
LEAST = 2e-3
#: steps of MuJoCo, one by one, while its penetration is read; enough for every kind of contact to occur
READ_STEPS = 20_000
CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.thread_time, "wall": time.perf_counter}
if time.get_clock_info("thread_time").resolution > 1e-6:
    CLOCKS["cpu"] = time.perf_counter
#: fraction of the free memory that a process with a long chain may use, and its longest duration [s]
SHARE, PATIENCE = 0.5, 900


@dataclass(frozen=True)
class Row:
    """Cost and accuracy of one problem; None for values that do not exist.

    `ns_per_step` is the stepping with every step recorded and certified; `ns_per_step_call` the whole call of
    `simulate`, including checks and tables. Ratios are medians of those of each round. `differs` is the difference
    between the final values of the library and of the limit, `may_differ` its bound.
    """

    key: str
    part: str
    title: str
    steps: int
    size: int
    dt: str
    compared: str
    ns_per_step: float
    ns_per_step_call: float
    limit_ns: float | None
    mujoco_ns: float | None
    limit_ratio: float | None
    mujoco_ratio: float | None
    violation: float
    joint_violation: float
    mujoco_violation: float | None
    error: float | None
    limit_error: float | None
    mujoco_error: float | None
    differs: float | None
    may_differ: float
    fallbacks: int

    @property
    def ns_per_link(self) -> float:
        """Per step and link."""
        return self.ns_per_step / self.size


def measured(problem: Problem, rounds: int, clock: str = "cpu") -> Row:
    """Time a problem in `rounds` rounds."""
    system, dt, now = problem.system(), problem.dt, CLOCKS[clock]

    def run(seconds: float) -> Any:
        with mock.patch.object(time, "perf_counter", now):  # the clock of Trajectory.wall_seconds
            return simulate(system, problem.stepper, t_end=seconds, dt=dt)

    seconds = problem.seconds
    mujoco = None
    if problem.mujoco is not None and mujoco_models.installed():
        mujoco = mujoco_models.mujoco_run(problem.part, dt, **problem.mujoco)
    run(seconds)
    ours, calls, floors, theirs = [], [], [], []
    for _ in range(rounds):
        gc.collect()
        begin = now()
        trajectory = run(seconds)
        calls.append((now() - begin) / trajectory.counts["steps"])
        ours.append(trajectory.wall_seconds / trajectory.counts["steps"])
        if problem.limit is not None:
            floors.append(_timed(lambda: problem.limit(dt, problem.steps), now) / problem.steps)  # type: ignore[misc]
        if mujoco is not None:
            data = mujoco.data()
            begin = now()
            mujoco.steps(data, problem.steps)
            theirs.append((now() - begin) / problem.steps)

    compared_at = problem.compared_at or problem.steps
    end = run(compared_at * dt) if problem.compared_at else trajectory
    whole = problem.compared_at is not None or trajectory.t[-1] >= problem.seconds * (1 - 1e-9)
    value = problem.result(end) if whole else None
    floor = problem.limit(dt, compared_at)[0] if problem.limit is not None else None
    truth = problem.reference() if problem.reference is not None and whole else None

    def error(number: float | None) -> float | None:
        return None if truth is None or number is None else abs(number - truth)

    return Row(
        key=problem.key,
        part=problem.part,
        title=problem.title,
        steps=trajectory.counts["steps"],
        size=problem.size,
        dt=f"{dt:.3g}" if isinstance(dt, float) else str(dt),
        compared=problem.compared,
        ns_per_step=1e9 * median(ours),
        ns_per_step_call=1e9 * median(calls),
        limit_ns=1e9 * median(floors) if floors else None,
        mujoco_ns=1e9 * median(theirs) if theirs else None,
        limit_ratio=median(a / b for a, b in zip(ours, floors, strict=True)) if floors else None,
        mujoco_ratio=median(b / a for a, b in zip(ours, theirs, strict=True)) if theirs else None,
        violation=float(trajectory.certificate.gap_violation),
        joint_violation=float(trajectory.certificate.joint_violation),
        mujoco_violation=mujoco.violation(min(problem.steps, READ_STEPS)) if mujoco else None,
        error=error(value),
        limit_error=error(floor),
        mujoco_error=error(mujoco.end(compared_at) if mujoco and problem.same_model else None),
        differs=None if value is None or floor is None else abs(value - floor),
        may_differ=problem.agrees,
        fallbacks=trajectory.counts["fallbacks"],
    )


def _timed(call: Callable[[], Any], now: Callable[[], float]) -> float:
    """Seconds of one call, averaged over at least `LEAST`."""
    begin = now()
    call()
    count = max(1, int(LEAST / max(now() - begin, 1e-7)))
    begin = now()
    for _ in range(count):
        call()
    return (now() - begin) / count


def measured_apart(size: int, rounds: int, clock: str) -> tuple[list[Row], str | None]:
    """Chains of `size` links in a separate process of limited memory; the rows, or why there are none."""
    command = [sys.executable, "-m", "benchmarks", "--json", "--only", "P4", "--inside", "--chains", str(size)]
    command += ["--rounds", str(rounds), "--clock", clock]
    limits = {"preexec_fn": _limited} if sys.platform == "linux" else {}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **limits)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:
        return [], f"chain, N = {size}: no row, it did not end within {PATIENCE} s"
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["killed"])[-1]
        return [], f"chain, N = {size}: no row, its process failed: {reason}"
    names = {field.name for field in fields(Row)}
    found = [entry for entry in json.loads(done.stdout).values() if isinstance(entry, dict) and "key" in entry]
    return [Row(**{name: value for name, value in entry.items() if name in names}) for entry in found], None


def _limited() -> None:
    import resource

    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (int(SHARE * free), int(SHARE * free)))
