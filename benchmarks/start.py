"""Start-up time and memory, in separate processes: import, first step with empty and filled caches, bytes per step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["memory", "start"]

FIRST_STEP = """
from nonsmooth import GaussQP, MoreauJean, simulate
from nonsmooth_problems import slider_crank_translational, slider_rod
simulate({model}.build(), {stepper}, t_end=1e-5, dt=1e-5)
"""
STARTS = {
    "slider-rod, GaussQP": {"model": "slider_rod()", "stepper": "GaussQP()"},
    "slider-crank, guide, MoreauJean": {"model": "slider_crank_translational()", "stepper": "MoreauJean()"},
}
KEPT = """
import json
from nonsmooth import GaussQP, MoreauJean, simulate
from nonsmooth_problems import slider_crank_translational, slider_rod
system, peaks = {model}.build(), []
simulate(system, {stepper}, t_end=1e-4, dt=1e-5)
for steps in (5_000, 25_000):
    run = simulate(system, {stepper}, t_end=steps * 1e-5, dt=1e-5)
    peaks.append(next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")))
kept = sum(array.nbytes for array in run.to_dataset().variables.values())
print(json.dumps([kept / steps, (peaks[1] - peaks[0]) / 20_000]))
"""


def start(repeats: int = 3) -> list[dict[str, Any]]:
    """Seconds from the start of a process to the end of its first step; `cold` with no compiled code in any cache."""
    bare, imported = (_median(script, repeats) for script in ("print()", "import nonsmooth; print()"))
    rows: list[dict[str, Any]] = [
        {"what": "import nonsmooth", "cold_s": None, "cold_cpu_s": None, "warm_s": imported[0] - bare[0],
         "warm_cpu_s": imported[1] - bare[1]}
    ]  # fmt: skip
    for what, arguments in STARTS.items():
        script = FIRST_STEP.format(**arguments)
        with tempfile.TemporaryDirectory() as folder:
            cold, cold_cpu = _seconds(script, folder)
            warm, warm_cpu = _median(script, repeats, folder)
        rows.append(
            {"what": what, "cold_s": cold, "cold_cpu_s": cold_cpu, "warm_s": warm, "warm_cpu_s": warm_cpu}
        )  # fmt: skip
    return rows


def memory() -> list[dict[str, Any]]:
    """Bytes per recorded step: of the trajectory, and of the growth of the process at its peak."""
    if sys.platform != "linux":  # the peak is read in /proc
        return []
    rows = []
    for what, arguments in STARTS.items():
        kept, peak = json.loads(_run(KEPT.format(**arguments)))
        rows.append({"what": what, "kept_bytes": kept, "peak_bytes": peak})
    return rows


def _median(script: str, repeats: int, caches: str | None = None) -> tuple[float, float]:
    """Wall and CPU time."""
    found = [_seconds(script, caches) for _ in range(repeats)]
    return median(wall for wall, _ in found), median(cpu for _, cpu in found)


def _seconds(script: str, caches: str | None = None) -> tuple[float, float]:
    """Wall and CPU time of a new process."""
    begin, before = time.perf_counter(), os.times()
    _run(script, caches)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, cpu


def _run(script: str, caches: str | None = None) -> str:
    """The output of a new interpreter, in another folder, so that the installed package is used."""
    environment = dict(os.environ)
    if caches is not None:
        environment |= {"NUMBA_CACHE_DIR": str(Path(caches) / "numba"), "XDG_CACHE_HOME": str(Path(caches) / "user")}
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, env=environment, cwd=tempfile.gettempdir(), capture_output=True, text=True, check=True
    ).stdout
