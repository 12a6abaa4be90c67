"""Many runs of one mechanism by compiled steps, of which only the ends are kept."""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.run import MOST
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.model.bodies import Body
from nonsmooth.model.checks import check_start, overlapping
from nonsmooth.model.contacts import Contact
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.step.control import StepControl

#: most runs that a thread takes at a time
SHARE = 64
#: rows of a run that are written before the first of them is written over: they stay in the cache
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class End:
    """End of a run: positions, velocities, sums of impulses (nc, 1 or more), and the worst of its steps."""

    q: Array
    v: Array
    P: Array
    complementarity: float
    residual: float
    gap: float
    joint: float


def run_to_ends(
    system: System, stepper: Any, controls: Sequence[StepControl], values: Array, runs: Sequence[int], t_end: float, *,
    states: Sequence[State] | None, sums: bool, observe: bool, threads: int | None,
    take: Callable[[int, int, End | None], None],
) -> None:  # fmt: skip
    """Run with the parameters `values` (runs, parameters) from `states`, or that of the system, distributed over
    threads; once with each of the steps `controls`. `take` gets the numbers of control and run, and the end; None where
    it does not start, or a step is not certified. Impulses and the worst of steps are zero without `sums`, violations
    without `observe`."""
    values = values[runs]
    varied = frozenset(np.flatnonzero(np.any(values != values[0], axis=0)).tolist())
    admit = _admission(system, values, varied, None if states is None else [states[k] for k in runs])
    count = threads or os.cpu_count() or 1
    size = min(SHARE, -(-len(runs) // count))
    shares = deque(range(k, min(k + size, len(runs))) for k in range(0, len(runs), size))
    # evaluations of the system share buffers and CasADi's expressions, which are not safe for threads
    preparing, stopped = threading.Lock(), threading.Event()

    def prepare() -> list[_Steps]:
        with preparing:
            return [_Steps(system, stepper, one, values, varied, t_end, laid=states is None) for one in controls]

    def work(each: list[_Steps] | None = None) -> None:
        while shares:
            each = prepare() if each is None else each
            try:
                share = shares.popleft()
            except IndexError:  # another thread has the last one
                return
            for steps in each:
                steps.change(share)
            for k in share:
                if stopped.is_set():
                    return
                first = system.start if states is None else states[runs[k]]
                with preparing:
                    admitted = admit(k)
                for i, steps in enumerate(each):
                    with preparing:
                        begun = steps.start(k, first) if admitted else None
                    take(i, runs[k], None if begun is None else steps.end(begun, sums, observe))

    some = prepare()  # compiled by one thread
    count = min(count, len(shares))
    with ThreadPoolExecutor(count) as pool:
        jobs = [pool.submit(work, *of) for of in [(some,), *[()] * (count - 1)]]
        try:
            for job in as_completed(jobs):
                job.result()
        except BaseException:
            shares.clear()
            stopped.set()
            raise


def _admission(
    system: System, values: Array, varied: Set[int], states: Sequence[State] | None
) -> Callable[[int], bool]:
    """Whether a run can start, by its number; why it cannot is for the single run to say."""

    def admit(k: int) -> bool:
        try:
            check_start(system, system.start if states is None else states[k], values[k])
        except NonsmoothError:
            return False
        return True

    # positive masses and numbers of modes change neither what is closed nor what is finite
    elements = [e for e in system.elements if isinstance(e, Body | Contact)]
    known, names = {f"{e.name}.{label}" for e in elements for label in e.numbers()}, list(system.parameters)
    if states is None and known.issuperset(names[i] for i in varied) and admit(0):
        at = system.elementwise.placed(system.start.q, system.start.v, values[0])
        gaps = system.elementwise.gaps(at, values)
        return (~np.any(overlapping(system, gaps, values), axis=1)).tolist().__getitem__
    return admit


class _Steps:
    """Compiled steps for one run after the other, in one memory; `laid`: all begin at the state of the system."""

    def __init__(
        self, system: System, stepper: Any, control: StepControl, values: Array, varied: Set[int], t_end: float, *,
        laid: bool,
    ) -> None:  # fmt: skip
        steps = self._steps = CompiledSteps(system, stepper, control, values[0], t_end)
        self._values, self._varied, self._t_end = values, varied, t_end
        self._laid = laid and not system.start.memory
        if self._laid:
            steps.write_state(system.start, system.start.t)
        self._image = steps.memory.raw.copy()

    def change(self, share: range) -> None:
        """The next runs are these."""
        steps, self._first = self._steps, share.start
        values = self._values[share.start : share.stop]
        self._changes = steps.layout.changes(steps.memory, values, self._varied)

    def start(self, k: int, first: State) -> State | None:
        """The start of run k; None if it is not certified, or an impact."""
        steps, values = self._steps, self._values[k]
        steps.restart(self._image, values)
        if self._changes is None:
            steps.layout.fill(steps.memory, values, self._varied)
        else:
            words, numbers = self._changes
            steps.memory.raw.view(np.float64)[words] = numbers[k - self._first]
        if self._changes is None or steps.scheme.accelerations or steps.system.redundant:
            steps.set_scales(values)
        if self._laid:
            return first if steps.begin(first) else None
        begun = steps.start(first)
        return begun if steps.impact is None else None

    def end(self, state: State, sums: bool, observe: bool) -> End | None:
        """A run from its start; None if a step is not certified."""
        steps, layout, t = self._steps, self._steps.layout, state.t
        nc, rows, clock = steps.system.nc, layout.shape.rows, steps.memory.of["System"]["t"]
        P, complementarity, residual = np.zeros((nc, rows)), 0.0, 0.0
        motion = [(np.array([t]), state.q[None], state.v[None])]
        while clock[0] < self._t_end:
            count, whole = steps.run(state, t, MOST if observe else AT_ONCE)
            if not whole:
                return None
            written = steps.tables.written(count)
            if sums:
                tangents = written["P_T"].reshape(count, nc, steps.tangents)
                impulses = np.concatenate([written["P_N"][:, :, None], tangents], axis=2)[:, :, :rows]
                # one after the other, as in a single run, whatever the number of rows
                P = np.cumsum(np.concatenate([P[None], impulses]), axis=0)[-1]
                complementarity = max(complementarity, float(written["complementarity"].max()))
                residual = max(residual, float(written["residual"].max()))
            if observe:
                motion.append((written["t"].copy(), written["q"].copy(), written["v"].copy()))
        q, v = (layout.packed(steps.memory, name) for name in ("q", "v"))
        if not observe:
            return End(q, v, P, complementarity, residual, 0.0, 0.0)
        times, places, velocities = (np.concatenate(parts) for parts in zip(*motion, strict=True))
        nowhere = np.zeros(0, dtype=np.intp)
        seen = steps.observe(times, places, velocities, nowhere, velocities[nowhere])
        gap, joint = max(0.0, -float(np.min(seen.gap, initial=0.0))), float(np.max(seen.closure, initial=0.0))
        return End(q, v, P, complementarity, residual, gap, joint)
