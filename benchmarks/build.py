"""Time until the first step, in separate processes: new mechanisms, other parameters, long chains."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

__all__ = ["build"]

#: links of the chains
SIZES = (256, 1024, 4096)
#: all kinds of these have been met when the mechanisms are built anew
MECHANISMS = """
import json, time
from nonsmooth import MoreauJean, simulate
from nonsmooth.compile.machine import compilations
from nonsmooth.compile.objects import _compiled
from nonsmooth_problems import four_bar, slider_crank_revolute, slider_crank_translational

def counted():
    return sum(compilations().values()) + _compiled.cache_info().misses

def spent(call):
    begin, seconds, before = time.perf_counter(), time.process_time(), counted()
    call()
    return [1e3 * (time.perf_counter() - begin), 1e3 * (time.process_time() - seconds), counted() - before]

def step(system, **changes):
    return simulate(system, MoreauJean(), t_end=1e-5, dt=1e-5, parameters=changes or None)

problems, rows = (slider_crank_translational, slider_crank_revolute, four_bar), []
for problem in problems:
    step(problem().build())
for problem in problems:
    times = sorted(spent(lambda: step(model.build())) for model in [problem() for _ in range(5)])
    rows.append([f"{problem().name}, built anew", *times[2]])
system = slider_crank_translational().build()
step(system)
changes = {"guide.clearance": 5e-4, "slider.mass": 0.1, "guide.friction": 0.2, "guide.restitution": 0.9}
times = sorted(spent(lambda: step(system, **changes)) for _ in range(5))
rows.append(["clearance, mass, friction and restitution changed", *times[2]])
print(json.dumps(rows))
"""
CHAIN = """
import json, sys, time
begin, seconds = time.perf_counter(), time.process_time()
from nonsmooth import MoreauJean, simulate
from nonsmooth_problems import chain
model = chain({n})
system = model.build()
dt = 1e-4 * min(1.0, 256 / {n})
simulate(system, MoreauJean(), t_end=10 * dt, dt=dt)
spent = [1e3 * (time.perf_counter() - begin), 1e3 * (time.process_time() - seconds)]
peak = None
if sys.platform == "linux":
    peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([*spent, peak]))
"""


def build() -> list[dict[str, Any]]:
    """Milliseconds to the end of the first step, functions compiled or loaded for it, and peak memory [MiB]."""
    rows = [
        {"what": what, "wall_ms": wall, "cpu_ms": cpu, "compiled": compiled, "peak_mib": None}
        for what, wall, cpu, compiled in _run(MECHANISMS)
    ]
    for n in SIZES:
        _run(CHAIN.format(n=n))
        wall, cpu, peak = _run(CHAIN.format(n=n))
        what = f"chain, N = {n}: import, model, build and 10 steps"
        rows.append({"what": what, "wall_ms": wall, "cpu_ms": cpu, "compiled": None, "peak_mib": peak})
    return rows


def _run(script: str) -> Any:
    """The output of a new interpreter, in another folder, so that the installed package is used."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tempfile.gettempdir(), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
