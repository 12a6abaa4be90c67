"""Processes that start with an empty cache of compiled code: ``python -m benchmarks.cold``.

First some commands, each with a new cache and once more with that cache: computing time of the whole command. Then one
process alone and several at once are run in turn, each time with a new cache, with Poisson's impact law, of which the
package has no machine code: one of them compiles and the others wait. Measured are the time until the last process
ends, and the computing time of all of them, which depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["COMMANDS", "RUNS", "Times", "main", "together", "twice"]

#: name: a command; the first is that of the README
COMMANDS = {
    "first command of README": "run slider-rod --case 2 --t-end 0.02 --figure run.png --output run.nc",
    "in space": "run spatial-slider-crank --stepper moreau-jean --dt 1e-5 --t-end 0.01 --output run.nc",
    "flexible": "run flexible-slider-crank --stepper moreau-jean --dt 1e-5 --t-end 0.01 --output run.nc",
}

#: name: problem, stepper, dt; the first step of each
RUNS = {
    "plane, `MoreauJean`": ("slider_rod", "MoreauJean()", "1e-5"),
    "space, `GaussQP` with `Landing`": ("socket_pendulum", "GaussQP()", "Landing(1e-7, 1e-5)"),
}
SCRIPT = """
from nonsmooth import *
from nonsmooth_problems import *
contact = Rigid(restitution=0.5, friction=0.1, impact="poisson")
run = simulate({problem}(contact=contact).build(), {stepper}, t_end=1e-4, dt={dt})
assert run.status == "finished"
"""


@dataclass(frozen=True)
class Times:
    """Seconds until the last of some processes has ended, and computing time of all of them [s]."""

    wall: float
    cpu: float


def together(name: str, processes: int) -> Times:
    """So many processes at once, with one empty cache.

    Raises
    ------
    RuntimeError
        If one of them fails.
    """
    problem, stepper, dt = RUNS[name]
    script = SCRIPT.format(problem=problem, stepper=stepper, dt=dt)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(Path(folder) / "numba")}
        begin, before = time.perf_counter(), os.times()
        running = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", script], env=environment, cwd=folder, text=True,
                stderr=subprocess.PIPE,
            )
            for _ in range(processes)
        ]  # fmt: skip
        said = [process.communicate()[1] for process in running]
        wall, after = time.perf_counter() - begin, os.times()
    if any(process.returncode for process in running):
        raise RuntimeError(next(text for text, process in zip(said, running, strict=True) if process.returncode))
    return Times(wall, after.children_user + after.children_system - before.children_user - before.children_system)


def twice(name: str) -> list[Times]:
    """A command with an empty cache and with the cache that it has filled.

    Raises
    ------
    CalledProcessError
        If it fails.
    """
    command = [sys.executable, "-W", "ignore", "-m", "nonsmooth", *COMMANDS[name].split()]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(Path(folder) / "numba")}
        for _ in range(2):
            begin, before = time.perf_counter(), os.times()
            subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
            wall, after = time.perf_counter() - begin, os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            found.append(Times(wall, cpu))
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=4, help="at once")
    parser.add_argument("--rounds", type=int, default=3, help="each of them one process, several, and one")
    parser.add_argument(
        "--only", nargs="+", choices=RUNS, default=list(RUNS), help="runs to measure; commands are measured always"
    )
    given = parser.parse_args(words)
    print("| command | computing time, empty cache [s] | again [s] |\n|---|---|---|")
    for name in COMMANDS:
        rounds = zip(*(twice(name) for _ in range(given.rounds)), strict=True)
        print(f"| {name} | {' | '.join(f'{median(t.cpu for t in times):.1f}' for times in rounds)} |", flush=True)
    print(f"\n| first run on a machine | alone [s] | {given.processes} at once [s] | ratio | computing time, ratio |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for name in given.only:
        alone, several = [], []
        for _ in range(given.rounds):
            alone.append(together(name, 1))
            several.append(together(name, given.processes))
            alone.append(together(name, 1))
        wall = [median(t.wall for t in times) for times in (alone, several)]
        computing = [median(t.cpu for t in times) for times in (alone, several)]
        worst = max(worst, wall[1] / wall[0])
        ratios = f"{wall[1] / wall[0]:.2f} | {computing[1] / computing[0]:.2f}"
        print(f"| {name} | {wall[0]:.1f} | {wall[1]:.1f} | {ratios} |", flush=True)
    return int(worst > 1.5)


if __name__ == "__main__":
    sys.exit(main())
