"""Full disks and signals at many moments, on the command line: ``python -m benchmarks.interruptions``.

*Disks*: each command runs with a limit on the size of files (RLIMIT_FSIZE), from zero to the size of its output, with
an old file of the same name. It must end with exit code 1 and one sentence, with the old file intact and no other file
left, or with the requested result.

*Signals*: each command receives SIGINT or SIGTERM at times from its start to its end. It must end within two seconds
plus the time of writing, with one sentence and exit code 130; the file named must contain the stated number of steps.
The time of writing is that of tables and files made after the signal, measured by the process itself. Signals sent
while the interpreter starts, before the command handles them, are not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["disks", "main", "signals"]

RUN = ["run", "slider-rod", "--case", "2", "--stepper", "gauss-qp", "--dt", "1e-5", "--t-end", "0.02"]
#: commands that write, and their output
WRITING = {
    "run": ([*RUN, "--output", "out.nc"], "out.nc"),
    "checkpoint": ([*RUN, "--checkpoint", "out.nc", "--every", "0.001"], "out.nc"),
    "figure": ([*RUN, "--figure", "out.png"], "out.png"),
    "sweep": (
        ["study", "sweep", "slider-rod", "--case", "2", "--grid", "guide.clearance=1e-5,2e-5,3e-5", "--metric",
         "peak-force", "--stepper", "gauss-qp", "--dt", "1e-3", "--t-end", "0.02", "--output", "out.nc"],
        "out.nc",
    ),
}  # fmt: skip
#: commands that are interrupted, by their longest phase; whether the cache of compiled code is empty
LONG = {
    "build": (["run", "chain", "--set", "n=200", "--stepper", "moreau-jean", "--dt", "1e-4", "--t-end", "0.01"], False),
    "compile": ([*RUN[:6], "--dt", "1e-3", "--t-end", "0.02"], True),
    "compile in space": (
        ["run", "socket-pendulum", "--stepper", "moreau-jean", "--dt", "1e-3", "--t-end", "0.1"], True,
    ),
    "start": (["run", "chain", "--set", "n=60", "--stepper", "generalized-alpha", "--dt", "1e-4", "--t-end", "0.01"],
        False),
    "steps": ([*RUN[:6], "--dt", "2e-8", "--t-end", "0.05"], False),
    "tables": ([*RUN[:6], "--dt", "1e-7", "--t-end", "0.05", "--output", "out.nc"], False),
    "steps chosen": (["run", "slider-rod", "--case", "2", "--t-end", "0.05"], False),
}  # fmt: skip
#: runs the command line, and notes how long tables and files took, from the first request for them on
TIMED = """
import importlib.abc, importlib.util, sys, time
noted = open(sys.argv.pop(1), "a")
def timed(function):
    def run(*given, **more):
        begin = time.time()
        try:
            return function(*given, **more)
        finally:
            print(begin, time.time(), file=noted, flush=True)
    return run
PARTS = {
    "nonsmooth.trajectory.trajectory": ("Trajectory", "save"),
    "nonsmooth.trajectory.recorder": ("Recorder", "finish"),
    "nonsmooth.engine.tables": ("Tables", "read"),
}
class Noting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in PARTS:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        owner, method = PARTS[name]
        usual = found.loader.exec_module
        def load(module):
            usual(module)
            setattr(getattr(module, owner), method, timed(getattr(getattr(module, owner), method)))
        found.loader.exec_module = load
        return found
sys.meta_path.insert(0, Noting())
from nonsmooth.cli import main
sys.exit(main())
"""
#: seconds from a signal to the end, besides writing
LATE = 2.0
COMMAND = [str(Path(sys.executable).with_name("nonsmooth"))]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}


def disks(sizes: int) -> list[str]:
    """Faults, by command and size."""
    faults = []
    for name, (words, target) in WRITING.items():
        bound = 400_000
        for k in range(sizes):
            limit = round(bound * (k / (sizes - 1)) ** 2)
            with tempfile.TemporaryDirectory() as folder:
                old = Path(folder) / target
                if name not in ("sweep", "checkpoint"):  # these go on from what they find
                    old.write_bytes(b"old")

                def less(limit: int = limit) -> None:
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a disk that is full sends no signal
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

                done = subprocess.run(
                    [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, preexec_fn=less,
                    check=False,
                )  # fmt: skip
                said = [line for line in done.stderr.splitlines() if line.startswith("nonsmooth: ")]
                left = sorted(one.name for one in Path(folder).iterdir() if one.name.startswith("."))
                fault = ""
                if done.returncode not in (0, 1, 2):
                    fault = f"exit code {done.returncode}"
                elif done.returncode and len(said) != 1:
                    fault = f"{len(said)} sentences: {done.stderr[-200:]}"
                elif "Traceback" in done.stderr or left:
                    fault = f"left {left}: {done.stderr[-200:]}"
                elif done.returncode and name in ("run", "figure") and old.read_bytes() != b"old":
                    fault = "the old file is gone"
                if fault:
                    faults.append(f"{name} at {limit} bytes: {fault}")
    return faults


def signals(name: str, each: int, chance: random.Random) -> tuple[list[str], list[float]]:
    """Faults of a command, and the seconds from each signal to the end, without the time of writing."""
    words, cold = LONG[name]
    with tempfile.TemporaryDirectory() as folder:
        process, begin = _listening(words, Path(folder), cold)
        process.communicate()
        length = time.time() - begin
    faults, times = list[str](), list[float]()
    for k in range(each):
        number, moment = (signal.SIGINT, signal.SIGTERM)[k % 2], chance.uniform(0.0, length)
        with tempfile.TemporaryDirectory() as folder:
            fault, seconds = _stopped(words, Path(folder), cold, number, moment)
        where = f"{name}, {number.name} at {moment:.2f} of {length:.2f} s"
        if fault:
            faults.append(f"{where}: {fault}")
        if seconds is not None:
            times.append(seconds)
            if seconds > LATE:
                faults.append(f"{where}: {seconds:.1f} s to the end, besides writing")
    return faults, times


def _listening(words: Sequence[str], folder: Path, cold: bool) -> tuple[subprocess.Popen[str], float]:
    """A process that has begun to listen to signals, and when it did."""
    environment = {**ENVIRONMENT, **({"NUMBA_CACHE_DIR": str(folder / "cache")} if cold else {})}
    (folder / "here").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", TIMED, str(folder / "times"), *words], cwd=folder / "here", env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while process.poll() is None and not _listens(process.pid):
        time.sleep(0.001)
    return process, time.time()


def _listens(pid: int) -> bool:
    """Whether a process catches SIGTERM, as Linux states it."""
    with contextlib.suppress(OSError):
        caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
        return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def _stopped(
    words: Sequence[str], folder: Path, cold: bool, number: signal.Signals, moment: float
) -> tuple[str, float | None]:
    """What is wrong with the end of a process after a signal, and how long it took besides writing [s]; nothing where
    the signal came after the end.
    """
    from nonsmooth import Trajectory

    process, _ = _listening(words, folder, cold)
    time.sleep(moment)
    begin = time.time()
    process.send_signal(number)
    out, err = process.communicate()
    seconds = time.time() - begin
    if process.returncode == 0 or (process.returncode == -number and out):  # it had come to its end
        return "", None
    noted = [tuple(map(float, line.split())) for line in (folder / "times").read_text().splitlines()]
    seconds -= _length([(max(first, begin), last) for first, last in noted if last > begin])
    said = [line for line in err.splitlines() if line.startswith("nonsmooth: ")]
    if process.returncode < 0 or "Traceback" in err:
        return f"exit code {process.returncode}, {err[-300:]}", seconds
    if process.returncode != 130 or len(said) != 1:
        return f"exit code {process.returncode}, {err[-300:]}", seconds
    if kept := re.search(r"\((\d+) steps\) is in (\S+\.nc)\.", said[0]):
        steps = len(Trajectory.load(folder / "here" / kept[2]).t) - 1
        return f"says {kept[1]} steps, has {steps}" if steps != int(kept[1]) else "", seconds
    left = sorted(one.name for one in (folder / "here").iterdir())
    return f"left {left}, and said {said[0]}" if left else "", seconds


def _length(spans: list[tuple[float, ...]]) -> float:
    """Of the union of spans of time, which may lie within each other."""
    total, reached = 0.0, 0.0
    for first, last in sorted(spans):
        total += max(last - max(first, reached), 0.0)
        reached = max(reached, last)
    return total


def main(words: Sequence[str] | None = None) -> int:
    """Print the faults."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interruptions", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, default=30, help="of the disk, for each command")
    parser.add_argument("--signals", type=int, default=12, help="for each command")
    parser.add_argument("--only", nargs="+", choices=LONG, default=list(LONG), help="commands that get signals")
    given = parser.parse_args(words)
    faults = disks(given.sizes) if given.sizes else []
    print(f"disks: {len(WRITING) * given.sizes} runs, {len(faults)} faults", *faults, sep="\n", flush=True)
    chance, more = random.Random(27), list[str]()
    for name in given.only if given.signals else ():
        found, seconds = signals(name, given.signals, chance)
        more += found
        most = f"{max(seconds, default=0.0):.1f} s at most besides writing"
        print(f"{name}: {len(seconds)} of {given.signals} runs stopped, {most}", *found, sep="\n", flush=True)
    print(f"signals: {len(more)} faults")
    return int(bool(faults or more))


if __name__ == "__main__":
    sys.exit(main())
