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
from nonsmooth.programs import QP
from nonsmooth.schemes.gauss.gauss_mpcc import StepPrograms
from nonsmooth.step.control import ConstantStep
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
    """Repeated solutions of one step in which a contact closes, as a run asks for them."""
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
        ("gauss_qp_constant", "GaussQP, constant step", GaussQP(), 2e-5, None),
        ("gauss_qp_landing", "GaussQP, landing", GaussQP(), Landing(1e-6, 2e-5), None),
        ("gauss_qp_active_set", "GaussQP, ActiveSet, constant step", GaussQP(solver=ActiveSet()), 2e-5, None),
        ("gauss_mpcc_active_set", "GaussMPCC, ActiveSet, constant step", GaussMPCC(solver=ActiveSet()), 2e-5, None),
        ("gauss_mpcc_ipopt", "GaussMPCC, IPOPT, constant step", GaussMPCC(), 1e-4, None),
        ("gauss_mpcc_landing", "GaussMPCC, IPOPT, landing", GaussMPCC(), Landing(1e-6, 1e-4), None),
    ):
        runs = [simulate(system, stepper, t_end=0.02, dt=dt) for _ in range(REPEATS)]
        seconds = median(run.wall_seconds / run.counts["steps"] for run in runs[1:])
        timings.append(Timing(key, what, 1e6 * seconds, target))
    return timings


def _programs() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """A step of DT from just above the rod, with guesses: as a QP with linearised gaps, and as an MPCC."""
    system = slider_rod(case=2).build()
    start = system.state({"slider.y": -9e-6}, velocities={"slider.y": -0.01})
    programs, everywhere = StepPrograms(system, system.parameter_values, ConstantStep(DT)), np.ones(system.nc, bool)
    step = programs.start(start.t, start.q, start.v, ~everywhere, np.zeros(system.nc), np.zeros(system.nt))
    free, m = programs.free_motion(step, DT, everywhere), programs.mechanism
    here = m.at(start.t + DT, start.q + DT * free.u)
    G, norms = m.metric.rows(here.W_N)
    qp = QP(np.eye(system.nv), np.zeros(system.nv), G, -here.g_N / (DT * norms))
    mpcc = programs.program(step, DT, DT, everywhere)
    return (qp, None), (mpcc, programs.guess(step, free, everywhere))


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
