"""All benchmarks in one run: ``python -m benchmarks [--json] [--only P1,P2,...] [--write docs/benchmarks.md]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import mujoco_models, others
from benchmarks.batches import batches
from benchmarks.build import build
from benchmarks.measure import CLOCKS, Row, measured, measured_apart
from benchmarks.mechanisms import CHAINS, problems
from benchmarks.report import holds_tables, print_tables, summary, tables, write_tables
from benchmarks.space import MARKS, entries, space, space_tables
from benchmarks.start import memory, start
from benchmarks.steps import Timing, solver_timings, step_timings

PARTS = ("P1", "P2", "P3", "P4", "start", "build", "memory", "batch", "others", "steps", "space")
#: links from which a chain has a process of its own
LONG = 1000


def main() -> None:
    asked = _arguments()
    console = Console(stderr=asked.json, width=None if sys.stdout.isatty() else 160, highlight=False)
    rows, missing, notes = _problem_rows(asked, console)
    report: dict[str, Any] = {"machine": _machine() | {"clock": asked.clock}, "notes": notes} | summary(rows, missing)
    if report["machine"]["mujoco"] is None:
        notes.append("MuJoCo is not installed, so its columns are empty: pip install .[bench]")
    if "start" in asked.only:
        report["start"] = start()
    if "build" in asked.only:
        report["build"] = build()
    if "memory" in asked.only:
        report["memory"] = memory()
    if "batch" in asked.only:
        report["batch"] = batches()
    if "others" in asked.only:
        report["others"] = others.timings()
        notes += report["others"]["notes"]
    timings: dict[str, list[Timing]] = {}
    if "steps" in asked.only:
        timings = {
            "One program of the slider-rod": solver_timings(),
            "One whole step of simulate()": step_timings(),
        }
        report["steps_us"] = {timing.key: timing.microseconds for group in timings.values() for timing in group}
    in_space = space(clock=asked.clock) if "space" in asked.only else []
    report |= {"space": entries(in_space)} if in_space else {}
    found, machine = tables(rows, report, timings), ", ".join(f"{k} {v}" for k, v in report["machine"].items())
    if asked.write is not None and found:
        write_tables(asked.write, found, [machine, *notes])
    if asked.write is not None and in_space:
        write_tables(asked.write, space_tables(in_space), [machine], MARKS)
    if asked.json:
        json.dump(report, sys.stdout, indent=1)
        print()
        return
    for line in (machine, *notes):
        console.print(line)
    print_tables(console, found + space_tables(in_space))


def _problem_rows(asked: argparse.Namespace, console: Console) -> tuple[list[Row], list[str], list[str]]:
    """P1 to P4; long chains in separate processes, since a model may need more memory than is available."""
    rows: list[Row] = []
    missing: list[str] = []
    notes: list[str] = []
    here = tuple(n for n in asked.chains if asked.inside or n < LONG)
    for problem in problems(asked.only, here):
        console.print(f"[dim]timing {problem.title}[/dim]")
        rows.append(measured(problem, asked.rounds, asked.clock))
    for n in asked.chains if "P4" in asked.only else ():
        if n not in here:
            console.print(f"[dim]timing chain, N = {n}, in a process of its own[/dim]")
            found, note = measured_apart(n, asked.rounds, asked.clock)
            rows += found
            if note is not None:
                missing.append(f"P4_{n}")
                notes.append(note)
    for row in rows:
        if row.differs is not None and row.differs > row.may_differ:
            notes.append(
                f"{row.title}: ours and the limit end {row.differs:.1e} apart, {row.may_differ:.0e} is expected"
            )
    return rows, missing, notes


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output instead of tables")
    parser.add_argument("--only", type=_words, default=PARTS, metavar="P1,P2,...", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=7, help="timings of each problem; medians are shown (7)")
    parser.add_argument("--chains", type=_sizes, default=CHAINS, metavar="1,4,...", help="numbers of links in P4")
    parser.add_argument(
        "--clock", choices=tuple(CLOCKS), default="cpu", help="CPU time of the thread (default) or wall"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables between the marks of a document")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write is not None and not holds_tables(asked.write):
        parser.error(f"--write: {asked.write} has no place for tables; it takes a document as docs/benchmarks.md")
    if asked.write is not None and "space" in asked.only and not holds_tables(asked.write, MARKS):
        parser.error(f"--write: {asked.write} has no place for tables of part space, which docs/benchmarks.md has")
    if asked.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return asked


def _machine() -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": None if load is None else round(load, 1),
        "mujoco": mujoco_models.installed(),
    }


def _words(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if word not in PARTS:
            raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(PARTS)}")
    return words


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


if __name__ == "__main__":
    main()
