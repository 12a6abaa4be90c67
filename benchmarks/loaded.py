"""Runs on a machine that is busy: ``python -m benchmarks.loaded [--runs 10] [--busy 8] [--steps 40]``.

Each run is taken alone first, then repeatedly while other processes compute. It has to give the same bits, counts and
end, since nothing that decides a step may depend on time. The busy processes end with this one, however it ends.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import nonsmooth_problems as ready
from nonsmooth import (
    GaussMPCC,
    GaussQP,
    IpoptMPCC,
    Landing,
    Osqp,
    Rigid,
    SimulationFailed,
    Trajectory,
    ValidityWarning,
    simulate,
)

__all__ = ["RUNS", "busy", "digest"]

#: ends when its parent does, whose number it is told
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(10000))"


def six_rss(stepper: Any) -> Callable[[int], Trajectory]:
    return lambda steps: _run(ready.six_rss(Rigid(restitution=0.9, friction=0.05)), stepper, Landing(1e-5, 1e-3), steps)


def crank(stepper: Any) -> Callable[[int], Trajectory]:
    law = Rigid(restitution=0.4, friction=0.1)
    return lambda steps: _run(ready.spatial_slider_crank(law), stepper, Landing(1e-4, 1e-3), steps)


RUNS: dict[str, Callable[[int], Trajectory]] = {
    "six-rss, friction 0.05, GaussQP": six_rss(GaussQP()),
    "six-rss, friction 0.05, GaussQP by OSQP": six_rss(GaussQP(Osqp())),
    "spatial-slider-crank, friction 0.1, GaussQP by OSQP": crank(GaussQP(Osqp())),
    "spatial-slider-crank, friction 0.1, GaussMPCC by IPOPT": crank(GaussMPCC(IpoptMPCC())),
    "slider-crank-revolute, steps chosen, to 5 ms": lambda _: simulate(
        ready.slider_crank_revolute().build(), t_end=5e-3
    ),
}


def _run(model: Any, stepper: Any, dt: Landing, steps: int) -> Trajectory:
    """So many steps."""
    try:
        return simulate(model.build(), stepper, t_end=10.0, dt=dt, max_steps=steps)
    except SimulationFailed as ended:
        return ended.trajectory


def digest(run: Trajectory) -> str:
    """Of the rows, the counts and the end of a run."""
    tables = (run.q, run.v, run.left.v, run.gap, run.P_N, run.P_T, run.lam_N)
    parts = [run.t.tobytes(), *(one.array.tobytes() for one in tables), run.impacts.tobytes()]
    parts += [repr(sorted(run.counts.items())).encode(), run.status.encode(), str(run.verdict).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


@contextmanager
def busy(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes that compute; none is left by an exception or by SIGTERM."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            processes.append(subprocess.Popen([sys.executable, "-S", "-c", BUSY, str(os.getpid())]))
        yield processes
    finally:
        for one in processes:
            one.kill()
        for one in processes:
            one.wait()
        signal.signal(signal.SIGTERM, before)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loaded", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="of each kind under load (10)")
    parser.add_argument("--busy", type=int, default=8, help="processes that compute at the same time (8)")
    parser.add_argument("--steps", type=int, default=40, help="of each run (40)")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ValidityWarning)
    differ = 0
    print(
        f"| run | alone | {asked.runs} times beside {asked.busy} processes | s alone | s of the slowest |\n|---"
        + "|---" * 4
        + "|"
    )
    for name, run in RUNS.items():
        run(asked.steps)  # builds what it needs
        begin = time.perf_counter()
        alone = digest(run(asked.steps))
        seconds, found, slowest = time.perf_counter() - begin, [], 0.0
        with busy(asked.busy):
            for _ in range(asked.runs):
                begin = time.perf_counter()
                found.append(digest(run(asked.steps)))
                slowest = max(slowest, time.perf_counter() - begin)
        same = found.count(alone)
        differ += asked.runs - same
        print(f"| {name} | {alone} | {same} the same | {seconds:.2g} | {slowest:.2g} |", flush=True)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
