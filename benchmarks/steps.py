"""Cost of one step of the slider-rod, case 2: the solvers on one program each, and whole steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from nonsmooth import ActiveSet, CasadiQP, Conic, GaussMPCC, GaussQP, IpoptMPCC, Landing, Osqp, simulate
from nonsmooth.step_control import ConstantStep
from nonsmooth_problems import slider_rod

REPEATS = 7
DT = 1e-3


@dataclass(frozen=True)
class Timing:
    """Median time of an operation; `target` [us] if there is one."""

    key: str
    what: str
    microseconds: float
    target: float | None = None


def solver_timings() -> list[Timing]:
    """Warm-started solutions of the program of the first step, in which a contact closes."""
    qp, mpcc = _programs()
    timings = []
    for name, solver, (program, guess), target in (
        ("ActiveSet, QP", ActiveSet(), qp, None),
        ("Osqp, QP", Osqp(), qp, None),
        ("CasadiQP daqp, QP", CasadiQP("daqp"), qp, None),
        ("CasadiQP qrqp, QP", CasadiQP("qrqp"), qp, None),
        ("Conic, QP", Conic(), qp, None),
        ("ActiveSet, MPCC", ActiveSet(), mpcc, None),
        ("IpoptMPCC Fischer-Burmeister, MPCC", IpoptMPCC(), mpcc, 2000.0),
        ("IpoptMPCC Scholtes, MPCC", IpoptMPCC("scholtes"), mpcc, None),
        ("IpoptMPCC l1, MPCC", IpoptMPCC("l1"), mpcc, None),
    ):
        session = solver.setup()
        seconds = _timed(partial(session.solve, program, guess))
        timings.append(Timing(name.lower().replace(", ", "_").replace(" ", "_"), name, 1e6 * seconds, target))
    return timings


def step_timings() -> list[Timing]:
    """Wall time per step of runs that are long enough for their set-up to be negligible."""
    system = slider_rod(case=2).build()
    timings = []
    for key, what, stepper, dt, target in (
        ("gauss_qp_constant", "GaussQP, ActiveSet, constant step", GaussQP(), 2e-5, 200.0),
        ("gauss_mpcc_active_set", "GaussMPCC, ActiveSet, constant step", GaussMPCC(solver=ActiveSet()), 2e-5, 200.0),
        ("gauss_qp_landing", "GaussQP, ActiveSet, landing", GaussQP(), Landing(1e-6, 2e-5), None),
        ("gauss_mpcc_ipopt", "GaussMPCC, IPOPT, constant step", GaussMPCC(), 1e-4, None),
        ("gauss_mpcc_landing", "GaussMPCC, IPOPT, landing", GaussMPCC(), Landing(1e-6, 1e-4), None),
    ):
        runs = [simulate(system, stepper, t_end=0.02, dt=dt, engine="python") for _ in range(REPEATS)]
        seconds = median(run.wall_seconds / run.counts["steps"] for run in runs[1:])
        timings.append(Timing(key, what, 1e6 * seconds, target))
    return timings


def _programs() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The QP and the MPCC, with guesses, of one step of DT from just above the rod."""
    system = slider_rod(case=2).build()
    start = system.state({"slider.y": -9e-6}, velocities={"slider.y": -0.01})
    asked = []
    for stepper in (GaussQP(), GaussMPCC()):
        solver = ActiveSet()
        formulation = stepper.formulate(system, system.parameter_values, ConstantStep(DT), solver)
        try:
            next(formulation.start(start))
        except StopIteration as stop:
            state = stop.value[0]
        asked.append(next(formulation.advance(state, DT, np.ones(system.nc, dtype=bool))))
    return asked[0], asked[1]


def _timed(call: Callable[[], Any]) -> float:
    """Median seconds of one call, over batches of about 20 ms."""
    call()
    begin = time.perf_counter()
    call()
    count = max(1, int(0.02 / (time.perf_counter() - begin)))
    batches = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        batches.append((time.perf_counter() - begin) / count)
    return median(batches)
