"""All benchmarks in one run: ``python -m benchmarks [--json]``."""

from __future__ import annotations

import argparse
import json
import platform
import sys

from rich.console import Console
from rich.table import Table

from benchmarks.steps import Timing, solver_timings, step_timings


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output instead of tables")
    as_json = parser.parse_args().json
    groups = {"one program of the slider-rod, warm": solver_timings(), "one whole step of simulate()": step_timings()}
    if as_json:
        json.dump({timing.key: timing.microseconds for timings in groups.values() for timing in timings}, sys.stdout)
        print()
        return
    console = Console()
    console.print(f"Python {platform.python_version()}, {platform.machine()}; medians of repeated runs")
    for title, timings in groups.items():
        console.print(_table(title, timings))


def _table(title: str, timings: list[Timing]) -> Table:
    table = Table(title=title)
    for heading in ("what", "us", "of the first", "target us"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for timing in timings:
        target = f"{timing.target:g}" if timing.target else ""
        ratio = timing.microseconds / timings[0].microseconds
        table.add_row(timing.what, f"{timing.microseconds:.0f}", f"{ratio:.2f}", target)
    return table


if __name__ == "__main__":
    main()
