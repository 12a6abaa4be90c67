"""Many runs of one mechanism by compiled steps, of which only the ends are kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.engine import steps_of
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.model.checks import check_start
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.step_control import StepControl

__all__ = ["End", "calls_outside", "run_to_ends"]

#: most runs that a thread takes at a time
SHARE = 64


@dataclass(frozen=True, eq=False)
class End:
    """Of a run: positions, velocities, sums of the impulses of contacts (nc, 1 or more), and the worst of its steps."""

    q: Array
    v: Array
    P: Array
    complementarity: float
    residual: float
    gap: float
    joint: float


def calls_outside(stepper: Any) -> bool:
    """Whether solvers outside the compiled text take part in each step, so that runs gain nothing by threads."""
    requested = stepper.solver is not None or getattr(stepper, "cone", "coulomb") == "convex"
    return requested or steps_of(stepper) is not CompiledSteps


def run_to_ends(
    system: System, stepper: Any, controls: Sequence[StepControl], values: Array, runs: Sequence[int], t_end: float, *,
    states: Sequence[State] | None, observe: bool, threads: int | None,
    take: Callable[[int, int, End | None], None],
) -> None:  # fmt: skip
    """Run with the parameters `values` (runs, parameters) and from the `states` of these runs, or all from that of the
    system, distributed over threads; once with each of the steps `controls`.

    `take` is called with the numbers of a control and a run, and its end; None where it does not start, or has a step
    that is not certified. Where `observe` is not set, violations of gaps and joints are zero.
    """
    count = threads or os.cpu_count() or 1
    size = max(1, min(SHARE, -(-(len(runs) - 1) // count)))
    shares = [runs[:1], *(runs[k : k + size] for k in range(1, len(runs), size))]
    # evaluations of the system share buffers and CasADi's expressions, which are not safe for threads
    preparing = threading.Lock()

    def share(which: Sequence[int]) -> None:
        with preparing:
            each = [CompiledSteps(system, stepper, control, values[which[0]], t_end) for control in controls]
        for k in which:
            first = system.start if states is None else states[k]
            with preparing:
                admissible = _is_admissible(system, first, values[k])
            for i, steps in enumerate(each):
                with preparing:
                    state = _start(steps, stepper, values[k], first, t_end) if admissible else None
                end = None if state is None else _end(steps, state, t_end, observe)
                with preparing:
                    take(i, k, end)

    share(shares[0])  # compiled by one thread
    with ThreadPoolExecutor(count) as pool:
        jobs = [pool.submit(share, which) for which in shares[1:]]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _is_admissible(system: System, first: State, values: Array) -> bool:
    """Whether a run can start there; why not is for the single run to say."""
    try:
        check_start(system, first, values)
    except NonsmoothError:
        return False
    return True


def _start(steps: CompiledSteps, stepper: Any, values: Array, first: State, t_end: float) -> State | None:
    """The start of a run with other parameters in the memory of `steps`; None if it is not certified."""
    steps.restart(stepper, values, t_end)
    begun = steps.start(first)
    return begun if steps.impact is None else None


def _end(steps: CompiledSteps, state: State, t_end: float, observe: bool) -> End | None:
    """One run from its start."""
    system = steps.system
    P, complementarity, residual = np.zeros((system.nc, steps.layout.shape.rows)), 0.0, 0.0
    motion = [(np.array([state.t]), state.q[None], state.v[None])]
    t, origin = state.t, state.t
    while t < t_end:
        count, whole = steps.run(state, origin)
        if not whole:
            return None
        of = steps.memory.of
        impulses = of["ContactRow"]["P"][: count * system.nc].reshape(count, system.nc, steps.layout.shape.rows)
        # one after the other, as in a single run, whatever the number of rows
        P = np.cumsum(np.concatenate([P[None], impulses[:, steps.layout.contacts]]), axis=0)[-1]
        rows = of["StepRow"][:count]
        complementarity = max(complementarity, float(rows["complementarity"].max()))
        residual = max(residual, float(rows["residual"].max()))
        if observe:
            motion.append((rows["t"].copy(), *steps.tables.motion(count)))
        t = float(steps.memory.of["System"]["t"][0])
    q, v = (steps.layout.packed(steps.memory, name).ravel() for name in ("q", "v"))
    if not observe:
        return End(q, v, P, complementarity, residual, 0.0, 0.0)
    times, places, velocities = (np.concatenate(parts) for parts in zip(*motion, strict=True))
    seen = steps.observe(times, places, velocities, velocities)
    gap, joint = max(0.0, -float(np.min(seen.gap, initial=0.0))), float(np.max(seen.closure, initial=0.0))
    return End(q, v, P, complementarity, residual, gap, joint)
