"""Starting up and memory, in processes of their own: import, first step with empty and filled caches, bytes a step."""

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
run = simulate({model}.build(), {stepper}, t_end=1e-5, dt=1e-5)
print(run.manifest["engine"], flush=True)
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
    rows = [{"what": "import nonsmooth", "engine": "", "cold_s": None, "warm_s": _imported(repeats)}]
    for what, arguments in STARTS.items():
        script = FIRST_STEP.format(**arguments)
        with tempfile.TemporaryDirectory() as folder:
            cold, engine = _seconds(script, folder)
            warm = median(_seconds(script, folder)[0] for _ in range(repeats))
        rows.append({"what": what, "engine": engine, "cold_s": cold, "warm_s": warm})
    return rows


def memory() -> list[dict[str, Any]]:
    """Bytes per recorded step: what a trajectory keeps, and by how much the process grew at its peak."""
    if sys.platform != "linux":  # the peak is read in /proc
        return []
    rows = []
    for what, arguments in STARTS.items():
        kept, peak = json.loads(_run(KEPT.format(**arguments)))
        rows.append({"what": what, "kept_bytes": kept, "peak_bytes": peak})
    return rows


def _imported(repeats: int) -> float:
    bare = median(_seconds("print()")[0] for _ in range(repeats))
    return median(_seconds("import nonsmooth; print()")[0] for _ in range(repeats)) - bare


def _seconds(script: str, caches: str | None = None) -> tuple[float, str]:
    begin = time.perf_counter()
    said = _run(script, caches)
    return time.perf_counter() - begin, said.strip()


def _run(script: str, caches: str | None = None) -> str:
    """What a new interpreter prints; from another folder, so that the installed package is what runs."""
    environment = dict(os.environ)
    if caches is not None:
        environment |= {"NUMBA_CACHE_DIR": str(Path(caches) / "numba"), "XDG_CACHE_HOME": str(Path(caches) / "user")}
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, env=environment, cwd=tempfile.gettempdir(), capture_output=True, text=True, check=True
    ).stdout
