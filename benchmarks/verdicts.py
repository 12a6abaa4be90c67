"""Error rate of verdicts: ``python -m benchmarks.verdicts [--cases N]``, about a quarter of an hour.

Every planar problem with rigid contact, with its own numbers and with other clearances, is run by every stepper with
steps from far too long to short, each with ``check=True``. The true error of each run is measured against an
event-driven run of order eight at 1e-12. A run is *wrong* if the error of its peak force exceeds 5 % or that of a
position a tenth of the clearance, *right* if both are within a hundredth, and otherwise in neither class. A *miss* is a
wrong run that is called accurate, a *false alarm* a right one that is not.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

import nonsmooth_problems as ready
from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Landing,
    Model,
    MoreauJean,
    SimulationFailed,
    simulate,
)  # fmt: skip
from nonsmooth.trust import difference, scale_of

WRONG, RIGHT = (0.1, 0.05), (0.01, 0.01)
#: relative error within which the time of deviation counts as estimated correctly
NEAR = 0.15
#: steps per run, of time stepping, and relative tolerances of event-driven runs
STEPS, TOLERANCES = (50, 150, 500, 1500, 5000, 15000, 50000), (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
TRUTH = ErrorControl(1e-12, 1e-14, 1e-6)


@dataclass(frozen=True)
class Case:
    """A problem, to a time until which its motion can be predicted."""

    name: str
    build: Callable[[], Model]
    t_end: float
    parameters: dict[str, float]


CASES = (
    Case("block-on-incline", ready.block_on_incline, 1.0, {}),
    Case("bouncing-ball", ready.bouncing_ball, 2.0, {}),
    Case("cam-follower", ready.cam_follower, 0.1, {}),
    Case("chain", ready.chain, 0.5, {}),
    Case("crank-rocker", ready.crank_rocker, 0.15, {}),
    Case("double-pendulum-clearance", ready.double_pendulum_clearance, 0.7, {}),
    Case("dual-manipulator", ready.dual_manipulator, 1.0, {}),
    Case("four-bar", ready.four_bar, 0.3, {}),
    Case("newtons-cradle", ready.newtons_cradle, 2.0, {}),
    Case("painleve-rod", ready.painleve_rod, 0.3, {}),
    Case("pendulum-with-stop", ready.pendulum_with_stop, 2.0, {}),
    Case("slider-crank-revolute", ready.slider_crank_revolute, 0.024, {}),
    Case("slider-crank-revolute, c / 3", ready.slider_crank_revolute, 0.012, {"pin.clearance": 1.7e-4}),
    Case("slider-crank-translational", ready.slider_crank_translational, 0.2, {}),
    Case("slider-rod 1", lambda: ready.slider_rod(case=1), 0.02, {}),
    Case("slider-rod 2", lambda: ready.slider_rod(case=2), 0.02, {}),
    Case("slider-rod 3", lambda: ready.slider_rod(case=3), 0.02, {}),
    Case("slider-rod 2, c 4e-5", lambda: ready.slider_rod(case=2), 0.02, {"guide.clearance": 4e-5}),
    Case("stick-slip-oscillator", ready.stick_slip_oscillator, 5.0, {}),
)


@dataclass(frozen=True)
class Outcome:
    """The true error of one run, and its verdict."""

    case: str
    stepper: str
    control: str
    position: float
    force: float
    verdict: str
    estimate: tuple[float, float]
    #: times at which the run deviates from the finer one and from the reference [s]
    parted: tuple[float, float]
    seconds: float

    @property
    def truth(self) -> str:
        if self.position > WRONG[0] or self.force > WRONG[1]:
            return "wrong"
        return "right" if self.position <= RIGHT[0] and self.force <= RIGHT[1] else "between"

    @property
    def fault(self) -> str:
        trusted = self.verdict.startswith("accurate")
        return {"wrong": "miss" if trusted else "", "right": "" if trusted else "false alarm"}.get(self.truth, "")


def schemes(length: float) -> Iterator[tuple[Any, Any]]:
    for steps in STEPS:
        dt = length / steps
        yield GaussQP(), Landing(min(1e-6, dt / 100), dt)
        yield MoreauJean(), dt
        yield GeneralizedAlpha(), dt
        yield GaussQP(), dt
    for rtol in TOLERANCES:
        yield EventDriven(), ErrorControl(rtol, dt_max=length / 100)


def outcomes(case: Case) -> Iterator[Outcome]:
    system = case.build().build()
    values = system.parameter_vector(case.parameters)
    truth = simulate(system, EventDriven("dop853"), t_end=case.t_end, dt=TRUTH, parameters=case.parameters)
    radii, scale = system.gyration(values), scale_of(system, values, truth)
    for stepper, control in schemes(case.t_end):
        clock = time.perf_counter()
        try:
            run = simulate(system, stepper, t_end=case.t_end, dt=control, parameters=case.parameters, check=True)
        except (SimulationFailed, ValueError):
            continue  # no run that could be trusted by mistake; or a scheme without restitution
        off = difference(run, truth, radii, scale, accuracy=RIGHT[0])
        verdict, kind = run.verdict, type(stepper).__name__
        name = f"{kind}, landing" if isinstance(control, Landing) else kind
        yield Outcome(
            case.name, name, str(control), off.position, off.force, str(verdict), (verdict.position, verdict.force),
            (verdict.parted, off.parted),
            time.perf_counter() - clock,
        )  # fmt: skip


def show(found: list[Outcome], console: Console) -> None:
    table = Table("stepper", "runs", "wrong", "right", "between", "misses", "false alarms", box=None, pad_edge=False)
    for name in [*sorted({one.stepper for one in found}), "all"]:
        those = [one for one in found if name in (one.stepper, "all")]
        kinds, faults = Counter(one.truth for one in those), Counter(one.fault for one in those)
        counts = (len(those), kinds["wrong"], kinds["right"], kinds["between"], faults["miss"], faults["false alarm"])
        table.add_row(name, *map(str, counts))
    console.print(table)
    for fault in ("miss", "false alarm"):
        those = [one for one in found if one.fault == fault]
        base = sum(one.truth == ("wrong" if fault == "miss" else "right") for one in found)
        console.print(f"\n{fault}: {len(those)} of {base}, {100 * len(those) / max(base, 1):.1f} %")
        for one in those:
            console.print(
                f"  {one.case}, {one.stepper}, {one.control}: off by {one.position:.2g}, {one.force:.2g}; {one.verdict}"
            )
    shares = [one.position / one.estimate[0] for one in found if one.position > 1e-4 and one.estimate[0] > 0.0 and
              one.verdict.startswith("accurate")]  # fmt: skip
    worst = max((x for x in shares if math.isfinite(x)), default=0.0)
    foreseen = [abs(one.parted[0] / one.parted[1] - 1) for one in found if max(one.parted) < math.inf]
    close = sum(x <= NEAR for x in foreseen)
    console.print(f"\nparting foreseen within {100 * NEAR:g} %: {close} of {len(foreseen)}")
    console.print(f"\nerror over estimate, of runs that are called accurate: {worst:.2f} at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first so many only")
    asked = parser.parse_args()
    console, found = Console(width=160, highlight=False), list[Outcome]()
    for case in CASES[: asked.cases]:
        clock = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found += outcomes(case)
        console.print(f"{case.name}: {len(found)} runs so far, {time.perf_counter() - clock:.0f} s")
    show(found, console)


if __name__ == "__main__":
    main()
