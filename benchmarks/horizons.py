"""Accuracy of the estimated time up to which a motion can be predicted: ``python -m benchmarks.horizons``.

Each case is run from event to event at a tolerance with ``check=True``: a finer run gives the time at which it deviates
from the motion by a tenth of the clearance (`Verdict.parted`, before the factor 0.8 of the horizon). The true time is
measured against a run of order eight at 1e-13; it is reported as not known if a run at 1e-12 deviates from that one by
a hundredth earlier. Ten minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import nonsmooth_problems as ready
from nonsmooth import ErrorControl, EventDriven, Model, simulate
from nonsmooth.trust import difference, scale_of

#: difference of the two references, in clearances, up to which they count as the motion
KNOWN = 0.01


@dataclass(frozen=True)
class Case:
    """A motion that soon is sensitive to the smallest perturbation, and the tolerance of the run to be assessed."""

    name: str
    build: Callable[[], Model]
    t_end: float
    rtol: float
    parameters: dict[str, float]


CASES = (
    Case("slider-crank-revolute", ready.slider_crank_revolute, 0.09, 1e-8, {}),
    Case("slider-crank-revolute, c / 3", ready.slider_crank_revolute, 0.03, 1e-6, {"pin.clearance": 1.7e-4}),
    Case("slider-crank-revolute, 2 c", ready.slider_crank_revolute, 0.12, 1e-8, {"pin.clearance": 1e-3}),
    Case("crank-rocker", ready.crank_rocker, 0.8, 1e-8, {}),
    Case("crank-rocker", ready.crank_rocker, 0.8, 1e-6, {}),
)


def row(case: Case) -> tuple[str, ...]:
    """Name, tolerance, estimated time, time at which it deviates from the motion, their difference in percent."""
    system, p = case.build().build(), case.parameters
    values = system.parameter_vector(p)

    def run(stepper: EventDriven, control: ErrorControl, check: bool = False):  # type: ignore[no-untyped-def]
        return simulate(system, stepper, t_end=case.t_end, dt=control, parameters=p, check=check)

    control = ErrorControl(case.rtol, case.rtol / 100, 1e-6, case.t_end / 1000)
    found = run(EventDriven(), control, check=True)
    truth, again = (run(EventDriven("dop853"), ErrorControl(rtol, rtol / 100, 1e-6)) for rtol in (1e-13, 1e-12))
    radii, scale = system.gyration(values), scale_of(system, values, truth)
    parted = difference(found, truth, radii, scale, accuracy=KNOWN).parted
    known = difference(again, truth, radii, scale, accuracy=KNOWN, until=parted).position <= KNOWN
    foreseen = found.verdict.parted
    return (
        case.name, f"{case.rtol:g}", f"{foreseen:.4g} s", f"{parted:.4g} s" + ("" if known else " (not known)"),
        f"{100 * (foreseen / parted - 1):+.1f} %",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first so many only")
    asked, console = parser.parse_args(), Console(width=120, highlight=False)
    table = Table("case", "rtol", "foreseen", "parts at", "difference", box=None, pad_edge=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in CASES[: asked.cases]:
            table.add_row(*row(case))
    console.print(table)


if __name__ == "__main__":
    main()
