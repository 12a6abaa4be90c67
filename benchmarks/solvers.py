"""OSQP and IPOPT on the mechanisms of the papers: ``python -m benchmarks.solvers [--only six-rss] [--steps 200]``.

Every call of a library is counted by a wrapper around it, independently of what a run says. Each mechanism is run
without friction and as published, with a constant step and with event-locating ones:

- calls of OSQP or IPOPT in the run, and programs that another solver solved;
- cost of a program, in ms of CPU time of the thread: all that a step does outside its text, per call of the library.
  The first three steps, which build what a run needs, do not count;
- the largest difference of coordinates from the same scheme with its default solver, at the same times, until the
  second impact and over the whole run, in clearances.

Three minutes on an idle core.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import casadi
import numpy as np
import osqp
from rich.console import Console
from rich.table import Table

import nonsmooth_problems as ready
from nonsmooth import (
    GaussMPCC,
    GaussQP,
    IpoptMPCC,
    Landing,
    Model,
    Osqp,
    Rigid,
    SimulationFailed,
    Trajectory,
    ValidityWarning,
    simulate,
)
from nonsmooth.engine.external_solver import ExternalSolver
from nonsmooth.schemes.gauss.mpcc_steps import MPCCSteps

#: calls at the beginning of a run that build what it needs
FIRST = 3
SHORT = 1e-4


@dataclass(frozen=True)
class Case:
    """A mechanism by its friction and restitution, which are those published; its clearance [m], and the steps."""

    name: str
    build: Callable[[Rigid], Model]
    friction: float
    restitution: float
    clearance: float
    landing: Landing


CASES = (
    Case("slider-rod", lambda law: ready.slider_rod(case=2, contact=law), 0.3, 0.0, 1e-5, Landing(1e-4, 1e-3)),
    Case("slider-crank-revolute", ready.slider_crank_revolute, 0.1, 0.9, 1e-4, Landing(1e-6, 1e-4)),
    Case("spatial-slider-crank", ready.spatial_slider_crank, 0.1, 0.4, 1e-4, Landing(1e-4, 1e-3)),
    Case(
        "dual-manipulator", lambda law: ready.dual_manipulator(case=3, contact=law), 0.01, 0.9, 1e-4,
        Landing(1e-4, 1e-3),
    ),
    Case(
        "xy-pointing", lambda law: ready.xy_pointing(contact=law, clearance=2e-5), 0.1, 0.5, 2e-5, Landing(1e-5, 1e-3)
    ),
    Case("polishing-robot", ready.polishing_robot, 0.02, 0.5, 1e-4, Landing(1e-5, 1e-3)),
    Case("six-rss", ready.six_rss, 0.05, 0.9, 2.5e-4, Landing(1e-5, 1e-3)),
)  # fmt: skip


@dataclass
class Calls:
    """Calls of the libraries, and seconds of each program."""

    osqp: int = 0
    ipopt: int = 0
    programs: list[tuple[float, int]] = field(default_factory=list)

    @property
    def all(self) -> int:
        return self.osqp + self.ipopt

    @property
    def milliseconds(self) -> float:
        """Of a program, per call of the library; nan without any."""
        seconds, calls = np.sum(self.programs[FIRST:] or [(0.0, 0)], axis=0)
        return float(1e3 * seconds / calls) if calls else np.nan


@contextmanager
def counted() -> Iterator[Calls]:
    """Count calls of OSQP and IPOPT, and time what calls them."""
    calls, solve, nlpsol = Calls(), osqp.OSQP.solve, casadi.nlpsol

    def solved(self: Any, *arguments: Any, **named: Any) -> Any:
        calls.osqp += 1
        return solve(self, *arguments, **named)

    def built(*arguments: Any) -> Callable[..., Any]:
        function = nlpsol(*arguments)

        class Counted:
            stats = function.stats

            def __call__(self, **inputs: Any) -> Any:
                calls.ipopt += 1
                return function(**inputs)

        return Counted()

    def timed(method: Callable[..., None]) -> Callable[..., None]:
        def run(self: Any, *arguments: Any) -> None:
            begin, before = time.thread_time(), calls.all
            try:
                method(self, *arguments)
            finally:
                calls.programs.append((time.thread_time() - begin, calls.all - before))

        return run

    with (
        mock.patch.object(osqp.OSQP, "solve", solved),
        mock.patch.object(casadi, "nlpsol", built),
        mock.patch.object(ExternalSolver, "solve", timed(ExternalSolver.solve)),
        mock.patch.object(MPCCSteps, "_solve", timed(MPCCSteps._solve)),
    ):
        yield calls


def run(system: Any, stepper: Any, dt: Any, steps: int, seconds: float) -> Trajectory:
    """So many steps, or as many as the seconds allow."""
    try:
        return simulate(system, stepper, t_end=10.0, dt=dt, max_steps=steps, max_seconds=seconds)
    except SimulationFailed as ended:
        return ended.trajectory


def difference(one: Trajectory, other: Trajectory, clearance: float) -> tuple[float, float]:
    """Largest difference of coordinates until the second impact, and over the whole runs, in clearances."""
    times = [t for t in sorted(set(other.impacts["t"])) if t > other.t[0]]
    second = times[1] if len(times) > 1 else np.inf
    at = np.searchsorted(other.t, one.t)
    at[at == other.t.size] = 0
    found = np.abs(one.q.array - other.q.array[at]).max(axis=1) / clearance
    same = np.abs(other.t[at] - one.t) <= 1e-9 * clearance  # of the times, since landing ends steps elsewhere
    early = same & (one.t < second)
    return float(found[early].max(initial=0.0)), float(found[same].max(initial=0.0))


def rows(case: Case, steps: int, seconds: float) -> Iterator[tuple[str, ...]]:
    """A row for each friction, kind of steps and solver."""
    for friction in (0.0, case.friction):
        for dt in (SHORT, case.landing):
            restitution = case.restitution if isinstance(dt, Landing) else 0.0
            system = case.build(Rigid(restitution=restitution, friction=friction)).build()
            default = run(system, GaussQP(), dt, steps, seconds)
            for stepper in (GaussQP(solver=Osqp()), GaussMPCC(solver=IpoptMPCC())):
                with counted() as calls:
                    found = run(system, stepper, dt, steps, seconds)
                early, whole = difference(found, default, case.clearance)
                of = type(stepper.solver).__name__
                yield (
                    case.name, f"{friction:g}", "landing" if isinstance(dt, Landing) else f"{dt:g}", of,
                    str(len(found.t) - 1), str(len(set(found.impacts["t"]))), str(calls.all),
                    str(found.counts["fallbacks"]), f"{calls.milliseconds:.2f}", f"{early:.1e}", f"{whole:.1e}",
                    f"{found.certificate.motion_residual:.0e}",
                )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solvers", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--only", choices=[case.name for case in CASES], help="one mechanism")
    parser.add_argument("--steps", type=int, default=200, help="of each run (200)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each run at most (60)")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ValidityWarning)
    heads = (
        "mechanism", "mu", "dt [s]", "solver", "steps", "impacts", "calls", "fallbacks", "ms", "early / c", "whole / c",
        "residual",
    )  # fmt: skip
    table = Table(*heads, title="Solvers outside the text of a scheme")
    for case in CASES:
        for row in rows(case, asked.steps, asked.seconds) if asked.only in (None, case.name) else ():
            table.add_row(*row)
    Console(width=None if Console().is_terminal else 160).print(table)


if __name__ == "__main__":
    main()
