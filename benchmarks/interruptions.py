"""Full disks and signals at many moments, on the command line: ``python -m benchmarks.interruptions``.

*Disks*: each command runs with a limit on the size of files (RLIMIT_FSIZE), from nothing to what it would write, beside
an old file of the name. It must end with exit code 1 and one sentence, the old file as it was and nothing left behind,
or with what was asked for.

*Signals*: each command gets SIGINT or SIGTERM at moments from its first to its last. It must end within two seconds and
the time of writing, with one sentence and exit code 130, and the file that it names holds as many steps as it says.
"""

from __future__ import annotations

import argparse
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
#: commands that write, and what they write
WRITING = {
    "run": ([*RUN, "--output", "out.nc"], "out.nc"),
    "checkpoint": ([*RUN, "--checkpoint", "out.nc", "--every", "0.001"], "out.nc"),
    "figure": ([*RUN, "--figure", "out.png"], "out.png"),
    "sweep": (
        ["study", "sweep", "slider-rod", "--case", "2", "--vary", "guide.clearance=1e-5,2e-5,3e-5", "--metric",
         "peak-force", "--stepper", "gauss-qp", "--dt", "1e-3", "--t-end", "0.02", "--output", "out.nc"],
        "out.nc",
    ),
}  # fmt: skip
#: commands that are interrupted, by the phase that they are long in
LONG = {
    "build": ["run", "chain", "--set", "n=200", "--stepper", "moreau-jean", "--dt", "1e-4", "--t-end", "0.01"],
    "python steps": [*RUN[:6], "--engine", "python", "--dt", "2e-5", "--t-end", "0.05"],
    "native steps": [*RUN[:6], "--dt", "2e-8", "--t-end", "0.05"],
    "tables": [*RUN[:6], "--dt", "1e-7", "--t-end", "0.05", "--output", "out.nc"],
    "steps chosen": ["run", "slider-rod", "--case", "2", "--t-end", "0.05"],
}  # fmt: skip
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


def signals(each: int, seed: int = 27) -> tuple[list[str], float]:
    """Faults, and the longest time from a signal to the end [s]."""
    from nonsmooth import Trajectory

    chance, faults, longest = random.Random(seed), [], 0.0
    for name, words in LONG.items():
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            subprocess.run([*COMMAND, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
            length = time.perf_counter() - begin
        for k in range(each):
            number = (signal.SIGINT, signal.SIGTERM)[k % 2]
            with tempfile.TemporaryDirectory() as folder:
                process = subprocess.Popen(
                    [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )  # fmt: skip
                moment = chance.uniform(0.0, length)
                time.sleep(moment)
                process.send_signal(number)
                begin = time.perf_counter()
                _, err = process.communicate()
                seconds = time.perf_counter() - begin
                said = [line for line in err.splitlines() if line.startswith("nonsmooth: ")]
                where = f"{name}, {number.name} at {moment:.2f} of {length:.2f} s"
                if process.returncode == 0:
                    continue  # it had come to its end
                if process.returncode < 0 or "Traceback" in err:
                    early = process.returncode == -number or "KeyboardInterrupt" in err
                    faults.append(f"{where}: {'the interpreter was starting' if early else err[-200:]}")
                    continue
                longest = max(longest, seconds)
                if process.returncode != 130 or len(said) > 1:
                    faults.append(f"{where}: exit code {process.returncode}, {err[-300:]}")
                elif said and (kept := re.search(r"\((\d+) steps\) is in (\S+\.nc)\.", said[0])):
                    steps = len(Trajectory.load(Path(folder) / kept[2]).t) - 1
                    if steps != int(kept[1]):
                        faults.append(f"{where}: says {kept[1]} steps, has {steps}")
    return faults, longest


def main(words: Sequence[str] | None = None) -> int:
    """Print what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interruptions", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, default=30, help="of the disk, for each command")
    parser.add_argument("--signals", type=int, default=12, help="for each command")
    given = parser.parse_args(words)
    faults = disks(given.sizes) if given.sizes else []
    print(f"disks: {len(WRITING) * given.sizes} runs, {len(faults)} faults", *faults, sep="\n", flush=True)
    more, longest = signals(given.signals) if given.signals else ([], 0.0)
    print(f"signals: {len(LONG) * given.signals} runs, {len(more)} faults, {longest:.1f} s at most", *more, sep="\n")
    return int(bool(faults or more))


if __name__ == "__main__":
    sys.exit(main())
