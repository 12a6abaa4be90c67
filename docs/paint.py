"""Measures report pages in a browser: size, first paint, frames per second: ``python docs/paint.py``.

It prints rows of the table in docs/report.md. A Chromium is needed, on the path or named by the variable CHROMIUM.
"""

from __future__ import annotations

import runpy
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nonsmooth import GaussQP, Landing, MoreauJean, Trajectory, simulate
from nonsmooth.report import write
from nonsmooth_problems import chain, polishing_robot, slider_crank_translational, slider_rod

BROWSER = Path(__file__).resolve().parent.parent / "tests" / "report" / "conftest.py"
#: seconds over which frames are counted
COUNTED = 4.0


def crank(dt_max: float) -> Trajectory:
    """The slider-crank with clearance in its guide for one second."""
    return simulate(slider_crank_translational().build(), GaussQP(), t_end=1.0, dt=Landing(1e-6, dt_max))


def rod(case: int) -> Trajectory:
    """The slider on its rod for 4 ms."""
    return simulate(slider_rod(case).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 4e-5))


RUNS: dict[str, Callable[[], Trajectory | dict[str, Trajectory]]] = {
    "slider-rod": lambda: rod(2),
    "slider-crank with clearance in its guide": lambda: crank(1e-4),
    "chain of 20 links": lambda: simulate(chain(20).build(), MoreauJean(), t_end=1.0, dt=1e-4),
    "polishing robot, in space": lambda: simulate(polishing_robot().build(), MoreauJean(), t_end=0.04, dt=1e-4),
    "comparison of three cases": lambda: {f"case {case}": rod(case) for case in (1, 2, 3)},
    "slider-crank, short steps": lambda: crank(1e-5),
}


def measured(browser: Any, page: Path) -> tuple[float, float]:
    """First contentful paint [s] of a page, and the frames per second that it draws while it plays."""
    browser.open(page, width=1280)
    browser.until("performance.getEntriesByName('first-contentful-paint').length")
    paint = float(browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")) / 1e3
    browser.click("#play")
    browser.until("nonsmooth.clock.frames > 2")
    begin, first = time.perf_counter(), browser.run("nonsmooth.clock.frames")
    time.sleep(COUNTED)
    frames = browser.run("nonsmooth.clock.frames") - first
    return paint, frames / (time.perf_counter() - begin)


def main() -> None:
    """Print one row per run."""
    made = runpy.run_path(str(BROWSER))
    program = made["chromium"]()
    if program is None:
        raise SystemExit("docs/paint.py: no Chromium on the path, and none named by the variable CHROMIUM.")
    print("| | rows | size [MB] | first paint [s] | frames per second |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "run.html"
        for name, run in RUNS.items():
            runs = run()
            write(runs, page)
            with made["Browser"](program) as browser:
                paint, frames = measured(browser, page)
            rows = ", ".join(str(len(one.t)) for one in (runs.values() if isinstance(runs, dict) else [runs]))
            size = page.stat().st_size / 1e6
            print(f"| {name} | {rows} | {size:.2f} | {paint:.1f} | {frames:.0f} |", flush=True)


if __name__ == "__main__":
    main()
