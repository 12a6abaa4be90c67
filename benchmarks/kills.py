"""Runs that are killed at random times and resumed from their checkpoints: ``python -m benchmarks.kills``.

Each run of a list is started in a separate process, which is killed (SIGKILL) at a random time of its computation,
restarted, killed again, and finally left to end. The result is compared byte by byte with that of an uninterrupted run:
tables, impacts, memories, counts, certificate, verdict. For each kill the lost computing time is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["RUNS", "Kill", "kill", "main"]

COMPLIANT = (
    "Compliant(Flores(stiffness=1e8, exponent=1.5, restitution=0.6), "
    "Ambrosio(friction=0.1, dead_speed=1e-4, slip_speed=1e-3))"
)
#: name: problem, stepper, dt, t_end [s], rows kept; each takes some seconds
RUNS: dict[str, tuple[str, str, str, float, int]] = {
    "moreau-jean": ("slider_rod(case=2)", "MoreauJean()", "2e-7", 0.5, 100),
    "gauss-qp": ("slider_rod(case=2)", "GaussQP()", "2e-7", 0.5, 100),
    "gauss-qp by active set": ("slider_rod(case=2)", "GaussQP(solver=ActiveSet())", "2e-5", 0.1, 1),
    "gauss-qp landing": ("dual_manipulator()", "GaussQP()", "Landing(1e-7, 2e-6)", 0.5, 100),
    "gauss-mpcc": ("slider_rod(case=2)", "GaussMPCC()", "1e-5", 0.008, 1),
    "generalized-alpha": ("slider_rod(case=2)", "GeneralizedAlpha()", "1e-6", 0.5, 100),
    "event-driven": ("slider_crank_revolute()", "EventDriven()", "ErrorControl(1e-8, 1e-10, 1e-6, 1e-4)", 0.2, 1),
    "compliant": (
        f"slider_crank_revolute(contact={COMPLIANT})", "CompliantDae()",
        "ErrorControl(1e-8, 1e-10, 1e-9, 1e-5)", 0.5, 10,
    ),
    "compliant, radau": (
        f"slider_rod(contact={COMPLIANT})", "CompliantDae()", "ErrorControl(1e-6, 1e-8, 1e-9, 1e-4)", 0.05, 1,
    ),
    "moreau-jean in space": ("spatial_slider_crank()", "MoreauJean()", "1e-6", 0.5, 100),
    "gauss-qp in space": ("spatial_slider_crank()", "GaussQP()", "2e-6", 0.5, 100),
    "gauss-qp landing in space": ("spatial_slider_crank()", "GaussQP()", "Landing(1e-7, 2e-6)", 0.5, 100),
    "generalized-alpha in space": ("spatial_slider_crank()", "GeneralizedAlpha()", "5e-6", 0.5, 100),
    "event-driven in space": (
        "spatial_slider_crank()", "EventDriven()", "ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)", 0.3, 1,
    ),
    "steps chosen": ("slider_rod(case=2)", "None", "None", 0.05, 1),
}  # fmt: skip

#: what a process does: a run with a checkpoint, which tells when it begins to compute
SCRIPT = """
import sys, time, warnings
warnings.simplefilter("ignore")
from nonsmooth import *
from nonsmooth.laws import Ambrosio, Flores
from nonsmooth_problems import *
problem, stepper, dt, t_end, record, checkpoint, every, output = sys.argv[1:]
begun = False
def progress(t, t_end, steps):
    global begun
    if not begun:
        begun = True
        print("begun", flush=True)
kept = dict(checkpoint=checkpoint, every=float(every)) if checkpoint else {}
run = simulate(eval(problem).build(), eval(stepper), t_end=float(t_end), dt=eval(dt), record=int(record),
               progress=progress, **kept)
print("computed", flush=True)
run.save(output)
"""


@dataclass(frozen=True)
class Kill:
    """The time at which a process was killed, in seconds of its computation, and the time lost."""

    after: float
    lost: float


def _process(run: tuple[Any, ...], checkpoint: str, every: float, output: Path) -> subprocess.Popen[str]:
    words = [*map(str, run), checkpoint, str(every), str(output)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip


def _saved(path: Path) -> float:
    """Seconds of computing in a checkpoint, 0 where there is none yet."""
    from nonsmooth.run.checkpoints import stored

    if not path.exists():
        return 0.0
    return sum(float(one["held"]["seconds"]) for one in stored(path)[1] if "held" in one)


def kill(
    run: tuple[Any, ...], folder: Path, kills: int, every: float, chance: random.Random
) -> tuple[bool, list[Kill]]:
    """Whether a run that is killed this often and then left to end has the same bytes as an uninterrupted one."""
    whole, resumed, checkpoint = folder / "whole.nc", folder / "resumed.nc", folder / "checkpoint.nc"
    process = _process(run, "", every, whole)
    _said(process)
    begin = time.perf_counter()
    _said(process)
    length, done = time.perf_counter() - begin, list[Kill]()
    _left_alone(process)
    for _ in range(5 * kills):  # some come too late
        if len(done) == kills:
            break
        before = _saved(checkpoint)
        process = _process(run, str(checkpoint), every, resumed)
        if _said(process):
            begin = time.perf_counter()
            time.sleep(chance.uniform(0.0, max(length - before, 0.0)))
            process.kill()
            after = time.perf_counter() - begin
            process.communicate()
            if not resumed.exists():
                done.append(Kill(after, max(after - (_saved(checkpoint) - before), 0.0)))
        else:
            process.communicate()
        if resumed.exists():  # it has come to its end before
            checkpoint.unlink()
            resumed.unlink()
    _left_alone(_process(run, str(checkpoint), every, resumed))
    return same_bytes(whole, resumed), done


def _said(process: subprocess.Popen[str]) -> bool:
    """Wait until it begins to compute, then until it has computed; False if it has ended."""
    assert process.stdout is not None
    return bool(process.stdout.readline())


def _left_alone(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(said)


def same_bytes(first: Path, second: Path) -> bool:
    """Whether two trajectories are identical except for their computing times."""
    from nonsmooth.files import read_dataset

    datasets = [read_dataset(path) for path in (first, second)]
    for one in datasets:
        del one.attrs["wall_seconds"]
    a, b = datasets
    if a.attrs != b.attrs or set(a.variables) != set(b.variables):
        return False
    return all(
        a[name].dtype == b[name].dtype and a[name].shape == b[name].shape and (
            list(a[name].values.ravel()) == list(b[name].values.ravel()) if a[name].dtype.kind in "OU"
            else a[name].values.tobytes() == b[name].values.tobytes())
        for name in a.variables
    )  # fmt: skip


def main(words: Sequence[str] | None = None) -> int:
    """Print a table of the kills and the time lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all")
    parser.add_argument("--every", type=float, default=0.25, help="seconds between checkpoints")
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--folder", help="where to write, for example in memory (/dev/shm)")
    parser.add_argument("--only", help="part of the names of runs")
    given = parser.parse_args(words)
    chance, failed = random.Random(given.seed), 0
    names = [name for name in RUNS if not given.only or given.only in name]
    each = -(-given.kills // len(names))
    print("| run | kills | same bytes | most computing lost [s] |\n|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            same, kills = kill(RUNS[name], Path(folder), each, given.every, chance)
        failed += not same
        lost = max((one.lost for one in kills), default=0.0)
        print(f"| {name} | {len(kills)} | {'yes' if same else 'NO'} | {lost:.2f} |", flush=True)
    print(json.dumps({"every": given.every, "seed": given.seed, "differing": failed}))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
