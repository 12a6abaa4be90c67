"""Thousands of runs of one mechanism with different parameters."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine import steps_of
from nonsmooth.engine.batch import End, run_to_ends
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.exceptions import InputError, NonsmoothError
from nonsmooth.laws.base import Law
from nonsmooth.model.checks import check_start
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import handing_over
from nonsmooth.quantities import in_si
from nonsmooth.run.arguments import check_step, check_stepper, known_arguments
from nonsmooth.run.simulate import check_support, simulate
from nonsmooth.settings import floats, is_count, is_number, is_one, require, shown
from nonsmooth.step.control import ConstantStep, Landing, StepControl, step_control
from nonsmooth.step.scheme import Stepper

if TYPE_CHECKING:
    import xarray

#: results of a run that may be recorded in addition to its final state: dimension, unit, meaning
METRICS: dict[str, tuple[str | None, str, str]] = {
    "impulse": ("contact", "N s", "sum of normal impulses"),
    "friction_impulse": ("contact", "N s", "sum of tangential impulses, in space its length"),
    "gap_violation": (None, "m", "largest overlap of true gaps"),
    "joint_violation": (None, "m or rad", "largest constraint violation of joints"),
    "complementarity": (None, "1", "worst natural map"),
    "motion_residual": (None, "1", "worst scaled residual"),
}
#: those of a `Certificate`
WORST = ("gap_violation", "joint_violation", "complementarity", "motion_residual")
#: largest number of threads
MOST_THREADS = 4096
#: results that are evaluated at the end of each step
OBSERVED = {"gap_violation", "joint_violation"}


@known_arguments
def simulate_batch(
    system: System, stepper: Stepper, parameters: Mapping[str, Sequence[float] | Array], *, t_end: float | str,
    dt: float | str | StepControl, states: Sequence[State] | None = None, record: str = "end",
    metrics: Sequence[str] = (), threads: int | None = None,
) -> xarray.Dataset:  # fmt: skip
    """Run a mechanism once for each set of parameters, and return the final states.

    Runs are distributed over threads; those with a requested solver, or of `GaussMPCC`, run one after the other.

    Each run is bitwise identical to ``simulate(system, stepper, parameters=..., t_end=..., dt=..., state=...)``. A run
    with a step that is not certified at once is repeated by `simulate`, and counted in ``repeated_runs``. ModelError if
    a set of parameters is out of range, or an initial state violates joints or contacts; Interrupted after Ctrl-C,
    whose `result` has the runs that were finished, with their numbers as coordinate ``run``.

    Parameters
    ----------
    parameters : name -> one value per run
        All of the same length; the other parameters remain as built. Nothing is rebuilt or compiled.
    t_end : [s], from the time of the initial state, 0
    dt : [s] of constant steps, or for event-locating steps of `GaussQP` ``Landing(dt_min, dt_max)``
    states : optional
        Initial state of each run, such as ``system.state({...})``; that of the system by default. Where lengths of a
        mechanism vary, so do states in which its joints are closed.
    record : "end", part of the motion that is recorded
    metrics : of "impulse", "friction_impulse", "gap_violation", "joint_violation", "complementarity",
        "motion_residual"
        Further results of each run.
    threads : int, optional, one per processor by default

    Returns
    -------
    xarray.Dataset
        Dimension ``run``; ``q`` (run, coordinate), ``v`` (run, velocity), the metrics, and the parameters that vary.

    >>> from nonsmooth import GaussQP
    >>> from nonsmooth_problems import slider_rod
    >>> runs = simulate_batch(
    ...     slider_rod(case=1).build(), GaussQP(), {"guide.clearance": [1e-5, 2e-5]}, t_end=0.01, dt=1e-4
    ... )
    >>> runs["q"].sel(coordinate="slider.y").round(12).values
    array([-1.e-05, -2.e-05])
    """
    if not is_one(record, ("end",)):
        raise InputError(f'record must be "end", got {shown(record)}; for whole motions call simulate().')
    return simulate_batches(
        system, stepper, parameters, t_end=t_end, steps=[dt], states=states, metrics=metrics, threads=threads
    )[0]


def simulate_batches(
    system: System, stepper: Stepper, parameters: Mapping[str, Sequence[float] | Array], *, t_end: float | str,
    steps: Sequence[float | str | StepControl], states: Sequence[State] | None, metrics: Sequence[str],
    threads: int | None, failed: dict[tuple[int, int], NonsmoothError] | None = None,
) -> list[xarray.Dataset]:  # fmt: skip
    """Batches of `simulate_batch` for each of the steps; errors of runs go to `failed`, if given, by step and run."""
    if stepper is None:
        raise InputError("A batch needs a stepper, such as MoreauJean(); none is chosen for it.")
    check_stepper(stepper)
    require(isinstance(system, System), "simulate_batch takes a System, as Model.build() returns", system)
    begin, end = time.perf_counter(), in_si("t_end", t_end, "s")
    if system.controllers:
        raise InputError("Sampled controllers do not run in batches; call simulate, or studies.sweep, for each run.")
    controls = [_checked(system, metrics, step_control(dt), end, threads) for dt in steps]
    values = _values(system, parameters)
    if states is not None:
        if isinstance(states, State) or not isinstance(states, Sequence) or len(states) != len(values):
            raise InputError(f"states must be a list of {len(values)} states, one per run, got {shown(states)}.")
        for k, one in enumerate(states):
            if not isinstance(one, State) or one.q.shape != (system.nq,) or one.v.shape != (system.nv,):
                raise InputError(f"State {k} of the batch is no state of this system; make it with system.state(...).")
            if one.t != system.start.t:
                raise InputError(
                    f"Runs of a batch begin at t = {system.start.t:g} s, got state {k} at t = {one.t:g} s; give t_end "
                    "and drivers from there on."
                )
    friction = [i for i, name in enumerate(system.parameters) if name.endswith(".friction")]
    frictional = np.any(values[:, friction] > 0, axis=1)
    widths = {"q": system.nq, "v": system.nv, "impulse": system.nc, "friction_impulse": system.nc}
    ends = [
        {name: np.zeros((len(values), width)) for name, width in widths.items()}
        | {name: np.zeros(len(values)) for name in METRICS if name not in widths}
        for _ in controls
    ]
    repeated = np.zeros(len(controls), dtype=int)
    done: dict[int, int] = {}  # runs that are finished with each of the steps

    def datasets(runs: Sequence[int]) -> list[xarray.Dataset]:
        own = [{name: column[runs] for name, column in found.items()} for found in ends]
        return [
            _dataset(system, stepper, parameters, values[runs], found, metrics, control, end, int(count), begin)
            for found, control, count in zip(own, controls, repeated, strict=True)
        ]

    def finished() -> xarray.Dataset:
        return datasets(sorted(done))[0].assign_coords(run=sorted(done))

    remedy = "`result` of this error has them, by their numbers `run`; give the other sets of parameters to go on"
    with handing_over(done, len(values), "runs", finished, remedy):
        for kind in (False, True):  # all runs of one kind have friction rows, or none
            runs = np.flatnonzero(frictional == kind)
            if runs.size:
                for law in ("restitution", "tangential"):  # the run with the largest, which not all steppers, laws take
                    labels = [i for i, name in enumerate(system.parameters) if name.endswith(f".{law}")]
                    most = values[runs[int(np.argmax(np.max(values[runs][:, labels], axis=1, initial=0.0)))]]
                    for control in controls:
                        check_support(system, stepper, most, control)
                repeated += _run(
                    system, stepper, values, states, runs, ends, end, controls, metrics, threads, failed, done
                )  # fmt: skip
    return datasets(range(len(values)))


def _run(
    system: System, stepper: Stepper, values: Array, states: Sequence[State] | None, runs: Any,
    ends: Sequence[dict[str, Array]], t_end: float, controls: Sequence[ConstantStep | Landing], metrics: Sequence[str],
    threads: int | None, failed: dict[tuple[int, int], NonsmoothError] | None, done: dict[int, int],
) -> list[int]:  # fmt: skip
    """Fill in the final states of these runs with each control, and those with all of them in `done`; returns how many
    were repeated one by one."""
    again: list[list[int]] = [[] for _ in controls]
    count = Counter[int]()

    def finish(i: int, k: int, q: Array, v: Array, P_N: Array, P_T: Array, worst: Sequence[float]) -> None:
        """`P_T` are (nc,) with a sign, or (nc, tangents), without columns if no contact has friction."""
        found = ends[i]
        found["q"][k], found["v"][k], found["impulse"][k] = q, v, P_N
        found["friction_impulse"][k] = P_T if P_T.ndim == 1 else np.linalg.norm(P_T, axis=1)
        for name, number in zip(WORST, worst, strict=True):
            found[name][k] = number
        count[k] += 1
        if count[k] == len(controls):
            done[k] = k

    def take(i: int, k: int, end: End | None) -> None:
        if end is None:
            again[i].append(k)
            return
        P_T = end.P[:, 1] if end.P.shape[1] == 2 else end.P[:, 1:]
        finish(i, k, end.q, end.v, end.P[:, 0], P_T, (end.gap, end.joint, end.complementarity, end.residual))

    # runs whose steps call solvers outside the compiled text gain nothing by threads
    by_text = stepper.solver is None and getattr(stepper, "cone", "") != "convex"
    together = by_text and steps_of(stepper) is CompiledSteps
    if together:
        run_to_ends(
            system, stepper, controls, values, [int(k) for k in runs], t_end, states=states,
            sums=bool({*metrics} - OBSERVED), observe=bool(OBSERVED & {*metrics}), threads=threads, take=take,
        )  # fmt: skip
    for i, (control, left) in enumerate(zip(controls, again, strict=True)):
        for k in sorted(left) if together else map(int, runs):
            first = system.start if states is None else states[k]
            try:
                changes = {name: float(value) for name, value in zip(system.parameters, values[k], strict=True)}
                check_start(system, first, values[k])
                run = simulate(system, stepper, t_end=t_end, dt=control, parameters=changes, state=first, record=10**9)
                P_N, P_T = run.P_N.array.sum(axis=0), run.P_T.array.sum(axis=0)
                worst = [getattr(run.certificate, name) for name in WORST]
                finish(i, k, run.q.array[-1], run.v.array[-1], P_N, P_T, worst)
            except NonsmoothError as error:
                if failed is None:
                    error.args = (f"Run {k} of the batch: {error.args[0]}", *error.args[1:])
                    raise
                failed[i, k] = error
    return [len(left) for left in again]


def _checked(
    system: Any, metrics: Sequence[str], control: Any, t_end: float, threads: int | None
) -> ConstantStep | Landing:
    if not isinstance(system, System):
        raise InputError(f"simulate_batch takes a System, got {type(system).__name__}; make one with Model.build().")
    if not isinstance(control, ConstantStep | Landing):
        raise InputError(
            f"simulate_batch takes a constant step or Landing(dt_min, dt_max), got {control}; "
            "give dt as a number of seconds."
        )
    if isinstance(metrics, str) or not (isinstance(metrics, Collection) and {*map(str, metrics)} <= {*METRICS}):
        raise InputError(f"metrics must be a list of {', '.join(METRICS)}, got {shown(metrics)}.")
    require(is_number(t_end), "t_end must be a finite number of seconds after the start", t_end)
    require(t_end > system.start.t, f"t_end must lie after the start at t = {system.start.t:g} s", t_end)
    check_step(control, system.start.t, t_end)
    if threads is not None and not (is_count(threads) and 1 <= threads <= MOST_THREADS):
        raise InputError(f"threads must be a whole number from 1 to {MOST_THREADS}, or None, got {shown(threads)}.")
    return control


def _values(system: System, parameters: Mapping[str, Sequence[float] | Array]) -> Array:
    """Checked parameters (runs, parameters)."""
    require(isinstance(parameters, Mapping), "parameters must be sequences of values by name", parameters)
    if not parameters:
        raise InputError("simulate_batch takes at least one parameter with one value per run, got none.")
    columns = {}
    for name, given in parameters.items():
        try:
            columns[name] = floats(given)
        except (TypeError, ValueError, OverflowError):
            sentence = f'Parameter "{name}" takes a sequence of numbers, one per run, got {shown(given)}.'
            raise InputError(sentence) from None
    for name in columns:
        if name not in system.parameters:
            system.parameter_vector({name: 1.0})  # raises an error that names the nearest
    sizes = {name: column.size for name, column in columns.items() if column.ndim == 1}
    if len(sizes) < len(columns) or len(set(sizes.values())) != 1 or 0 in sizes.values():
        shapes = ", ".join(f"{name}: {column.shape}" for name, column in columns.items())
        raise InputError(f"Each parameter takes a sequence of values, all of one length > 0; got {shapes}.")
    names, count = list(system.parameters), next(iter(sizes.values()))
    values = np.tile(system.parameter_values, (count, 1))
    elements = {element.name: element for element in system.elements}
    for name, column in columns.items():
        # ranges are intervals, so that the extreme values and those that are not finite are sufficient
        bad, element = column[~np.isfinite(column)][:1], elements[name.partition(".")[0]]
        if _checked_one_by_one(element):
            for value in (*bad, column.min(), column.max()):
                system.parameter_vector({name: float(value)})
        element.check(name.partition(".")[2], float(bad[0] if bad.size else column[0]))
        values[:, names.index(name)] = column
    for owner in {name.partition(".")[0] for name in columns}:
        if not _checked_one_by_one(elements[owner]):
            changed = {name: columns[name] for name in columns if name.startswith(f"{owner}.")}
            _check_together(system, elements[owner], changed, values[0])
    return values


def _checked_one_by_one(element: Element) -> bool:
    """Whether the element's parameters are checked one by one."""
    if isinstance(element, Contact) and type(element).check_together is Contact.check_together:
        return type(element.contact).check_together is Law.check_together and not any(
            part.ordered for part in element.contact.parts()
        )
    return type(element).check_together is Element.check_together


def _check_together(system: System, element: Element, columns: Mapping[str, Array], first: Array) -> None:
    """Raise ModelError for the first run whose values of this element are inconsistent or out of range."""
    count = len(next(iter(columns.values())))
    labels = {name: name.partition(".")[2] for name in columns}
    ranges = [(element.quantity(labels[name]), column) for name, column in columns.items()]
    inside = all(accepted.accepts(x) for accepted, column in ranges for x in (float(column.min()), float(column.max())))
    names = {f"{element.name}.{label}": label for label in element.numbers()}
    order = {name: i for i, name in enumerate(system.parameters) if name in names}
    numbers = {label: float(first[order[name]]) for name, label in names.items()}
    for k in range(count):
        if not inside:
            system.parameter_vector({name: float(column[k]) for name, column in columns.items()})
        else:
            for name, column in columns.items():
                numbers[labels[name]] = float(column[k])
            element.check_together(numbers)


def _dataset(
    system: System, stepper: Stepper, parameters: Mapping[str, Any], values: Array, ends: dict[str, Array],
    metrics: Sequence[str], control: ConstantStep | Landing, t_end: float, repeated: int, begin: float,
) -> xarray.Dataset:  # fmt: skip
    import xarray

    data: dict[str, Any] = {
        "q": (("run", "coordinate"), ends["q"], {"long_name": "coordinates at the end"}),
        "v": (("run", "velocity"), ends["v"], {"long_name": "velocities at the end"}),
    }
    for name in metrics:
        dimension, unit, meaning = METRICS[name]
        dimensions = ("run",) if dimension is None else ("run", dimension)
        data[name] = (dimensions, ends[name], {"units": unit, "long_name": meaning})
    names = list(system.parameters)
    coordinates: dict[str, Any] = {
        "coordinate": list(system.q_names), "velocity": list(system.v_names),
        "q_units": ("coordinate", list(system.names.q_units)), "v_units": ("velocity", list(system.names.v_units)),
    }  # fmt: skip
    if any(METRICS[name][0] for name in metrics):
        coordinates["contact"] = list(system.contact_names)
    for name in parameters:
        coordinates[name] = ("run", values[:, names.index(name)])
    dt = control.dt if isinstance(control, ConstantStep) else repr(control)
    facts = {
        "stepper": repr(stepper), "dt": dt, "t_end": t_end, "repeated_runs": repeated,
        "model": json.dumps(system.description), "wall_seconds": time.perf_counter() - begin,
        "rules": json.dumps(steps_of(stepper).rules(system, stepper, control, values[0])),
    }  # fmt: skip
    return xarray.Dataset(data, coordinates, facts)
