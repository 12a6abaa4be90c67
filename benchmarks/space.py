"""Cost and accuracy of compiled steps in space: ``python -m benchmarks --only space``.

The clock is the CPU time of the thread. Each problem is repeated for a second, at least twice, and the minimum is kept,
since other processes can only increase it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import mujoco_models
from benchmarks.measure import CLOCKS
from benchmarks.others import siconos_chain
from benchmarks.report import Table, _digits, _size
from benchmarks.space_mechanisms import LINKS, SpaceProblem, space_problems
from nonsmooth import simulate
from nonsmooth.engine import run as engine_run

__all__ = ["MARKS", "SpaceRow", "entries", "space", "space_tables"]

#: lines of a document that enclose the tables of space
MARKS = (
    "<!-- python -m benchmarks --only space: begin -->",
    "<!-- python -m benchmarks --only space: end -->",
)
#: seconds that a problem is repeated, and how often at most and at least
SPENT, MOST, LEAST = 1.0, 30, 2
#: MuJoCo steps one by one when its penetration is read
READ_STEPS = 5_000
#: steps of Siconos at most
SICONOS_STEPS = 100


@dataclass(frozen=True)
class SpaceRow:
    """Cost [us per step] and accuracy of one problem; None for values that do not exist.

    `step` is the compiled step alone, `recorded` includes its rows, `call` the whole call of `simulate`; `mujoco` the
    step of MuJoCo. `repeated` of `whole` steps were not certified at once: they were taken in parts or with other
    solvers. `repeats` is of how many runs the least was taken.
    """

    key: str
    title: str
    dt: float
    size: int
    steps: int
    repeats: int
    step: float | None
    recorded: float
    call: float
    mujoco: float | None
    siconos: float | None
    siconos_apart: float | None
    whole: int
    repeated: int
    residual: float
    violation: float
    clearances: bool
    joint_violation: float
    compared: str
    error: float | None
    expected: float
    mujoco_error: float | None
    mujoco_violation: float | None


def space(links: tuple[int, ...] = LINKS, only: Sequence[str] = (), shorter: int = 1, clock: str = "cpu") -> list[Any]:
    """Rows; `only` some keys, and runs of a `shorter` part of their steps."""
    rows = []
    for problem in space_problems(links):
        if only and problem.key not in only:
            continue
        if shorter > 1:
            few = {name: max(2, getattr(problem, name) // shorter) for name in ("steps", "whole")}
            problem = replace(problem, **few, compared_at=few["whole"], error=None)
        rows.append(measured(problem, clock, SPENT / shorter))
    return rows


def measured(problem: SpaceProblem, clock: str = "cpu", seconds: float = SPENT) -> SpaceRow:
    """Time a problem for this number of seconds."""
    system, dt, now = problem.system(), problem.dt, CLOCKS[clock]

    def run(steps: int) -> Any:
        with mock.patch.object(time, "perf_counter", now):  # the clock of Trajectory.wall_seconds
            return simulate(system, problem.stepper, t_end=steps * dt, dt=dt)

    whole = run(problem.whole)
    timed: list[tuple[float, float, float]] = []
    while len(timed) < LEAST or (len(timed) < MOST and sum(one[2] for one in timed) < seconds):
        gc.collect()
        with _compiled_seconds(now) as spent:
            begin = now()
            trajectory = run(problem.steps)
            timed.append((spent[0], trajectory.wall_seconds, now() - begin))
    step, recorded, call = (min(column) / problem.steps for column in zip(*timed, strict=True))
    theirs = _mujoco(problem, now, seconds / 2)
    siconos = _siconos(problem, whole)
    found = None if problem.result is None else problem.result(whole, problem.compared_at)
    certificate = whole.certificate
    return SpaceRow(
        key=problem.key,
        title=problem.title,
        dt=dt,
        size=problem.size,
        steps=problem.steps,
        repeats=len(timed),
        step=1e6 * step if step else None,
        recorded=1e6 * recorded,
        call=1e6 * call,
        mujoco=theirs["us"],
        siconos=siconos["us"],
        siconos_apart=siconos["apart"],
        whole=problem.whole,
        repeated=whole.counts["divided"] + whole.counts["chained"],
        residual=float(certificate.motion_residual),
        violation=float(certificate.gap_violation),
        clearances=system.nc > 0,
        joint_violation=float(certificate.joint_violation),
        compared=problem.compared if problem.error else "",
        error=problem.error(found) if problem.error else None,
        expected=problem.expected,
        mujoco_error=theirs["error"],
        mujoco_violation=theirs["violation"],
    )


def _mujoco(problem: SpaceProblem, now: Any, least: float) -> dict[str, float | None]:
    """Microseconds per step, error of the end and deepest penetration."""
    if problem.mujoco is None or not mujoco_models.installed():
        return {"us": None, "error": None, "violation": None}
    run, seconds = problem.mujoco(problem.dt), []
    while len(seconds) < LEAST or (len(seconds) < MOST and sum(seconds) < least):
        data = run.data()
        begin = now()
        run.steps(data, problem.steps)
        seconds.append(now() - begin)
    return {
        "us": 1e6 * min(seconds) / problem.steps,
        "error": problem.error(run.end(problem.compared_at)) if problem.error else None,
        "violation": run.violation(min(problem.whole, READ_STEPS)),
    }


def _siconos(problem: SpaceProblem, run: Any) -> dict[str, float | None]:
    """Microseconds per step, and how far from our end its last link ends."""
    numbers, steps = problem.siconos, min(problem.whole, SICONOS_STEPS)
    found = None if numbers is None else siconos_chain(**numbers, dt=problem.dt, steps=steps)
    if found is None:
        return {"us": None, "apart": None}
    end = run.q.array[steps, -7:-4]
    return {"us": found["us"], "apart": float(np.max(np.abs(found["end"] - end)))}


@contextmanager
def _compiled_seconds(now: Any) -> Iterator[list[float]]:
    """Measure the time [s] of compiled steps within the context, without the Python code around them."""
    spent, found = [0.0], engine_run.entry

    def entry(module: str, name: str, *shape: Any) -> Any:
        function = found(module, name, *shape)

        def timed(*arguments: Any) -> Any:
            begin = now()
            status = function(*arguments)
            spent[0] += now() - begin
            return status

        return timed if name == "run" else function

    with mock.patch.object(engine_run, "entry", entry):
        yield spent


# ---- tables


def space_tables(rows: Sequence[SpaceRow]) -> list[Table]:
    """Tables of costs, of accuracy, and of the cost per link of a chain."""
    chains = [row for row in rows if row.key.startswith("S2")]
    return [_costs(rows), _solved(rows), *([_per_link(chains)] if chains else [])] if rows else []


def _costs(rows: Sequence[SpaceRow]) -> Table:
    cells = [
        (
            row.title + (f", {row.repeated} of {row.whole} steps repeated" if row.repeated else ""),
            f"{row.dt:g}",
            *(_digits(value) for value in (row.step, row.recorded, row.call, row.mujoco, row.siconos)),
            *(_ratio(value, row.step if not row.repeated else row.recorded) for value in (row.mujoco, row.siconos)),
        )
        for row in rows
    ]
    headings = (
        "what", "dt [s]", "step", "recorded", "whole call", "MuJoCo", "Siconos", "MuJoCo/step", "Siconos/step",
    )  # fmt: skip
    return Table("Space: cost per step [us], one thread; least of repeated runs", headings, cells)


def _ratio(value: float | None, step: float | None) -> str:
    return "" if value is None or step is None else _digits(value / step)


def _solved(rows: Sequence[SpaceRow]) -> Table:
    cells = [
        (
            row.title,
            f"{row.dt:g}",
            str(row.whole),
            _size(row.residual),
            _size(row.violation) if row.clearances else "",
            _size(row.joint_violation),
            _size(row.mujoco_violation),
            row.compared,
            _size(row.error),
            _size(row.mujoco_error),
            _size(row.siconos_apart),
        )
        for row in rows
    ]
    headings = (
        "what", "dt [s]", "steps", "residual", "violation [m]", "of joints [m]", "MuJoCo's", "compared", "error",
        "MuJoCo's", "from Siconos [m]",
    )  # fmt: skip
    return Table("Space: residual, deepest penetration, and the end compared", headings, cells)


def _per_link(rows: Sequence[SpaceRow]) -> Table:
    cells = [
        (
            row.title,
            f"{row.dt:g}",
            *(_digits(None if us is None else 1e3 * us / row.size) for us in (row.step, row.recorded, row.mujoco)),
        )
        for row in rows
    ]
    return Table("Space: chains, ns per link and step", ("what", "dt [s]", "step", "recorded", "MuJoCo"), cells)


def entries(rows: Sequence[SpaceRow]) -> list[dict[str, Any]]:
    """For JSON."""
    return [asdict(row) for row in rows]
