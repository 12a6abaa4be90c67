"""The function `simulate`: checks of the arguments, and the run."""

import contextlib
import functools
import importlib.metadata
import math
import os
import platform
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nonsmooth import solvers
from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import interpreted as text_interpreted
from nonsmooth.engine import steps_of
from nonsmooth.exceptions import TOO_LITTLE, InputError, Interrupted, NonsmoothError, SimulationFailed, ValidityWarning
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.checks import check_start
from nonsmooth.model.joints import Joint
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import asking, collect_timings, progress_line, stage, timed
from nonsmooth.quantities import in_si
from nonsmooth.run import arguments
from nonsmooth.run.checkpoints import EVERY, Checkpoint, call_of
from nonsmooth.run.loop import Budget, TimeLoop
from nonsmooth.settings import shown
from nonsmooth.solvers.chain import CERTIFIED, Chain
from nonsmooth.step.control import ConstantStep, StepControl, step_control
from nonsmooth.step.scheme import Stepper
from nonsmooth.trajectory import Recorder, Trajectory
from nonsmooth.trajectory.recorder import Manifest, bytes_of_row
from nonsmooth.trajectory.store import SPILL
from nonsmooth.trajectory.verdict import with_signs_between_rows, with_soft_contact

#: default accuracy, as a share of the smallest clearance and of the peak force
ACCURACY = 1e-2
#: length of a table beside that of a run from which its times are probably in another unit
LONG = 100.0
#: number of velocities up to which BLAS takes one thread for all matrices of a run by itself
SMALL = 32
#: relative change of parameters that shows whether a motion depends on round-off: a few units in the last place
LAST_DIGITS = 1e-15
#: messages if Ctrl-C comes after the last step, and between the runs that give a verdict
COMPLETE = "The run was complete when it was interrupted."
UNCHECKED = "Interrupted during the comparison of runs; one run is complete and kept, without a verdict."


@arguments.known_arguments
def simulate(
    system: System, stepper: Stepper | None = None, *, t_end: float | str,
    dt: float | str | StepControl | None = None, accuracy: float = ACCURACY, check: bool = False,
    t_start: float | str | None = None, state: State | None = None,
    parameters: Mapping[str, float | str] | None = None, interpreted: bool = False, record: int = 1,
    max_steps: int | None = None, max_seconds: float | str | None = None,
    progress: bool | Callable[[float, float, int], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None, every: float = EVERY,
) -> Trajectory:  # fmt: skip
    """Simulate a mechanism from its initial state to `t_end`.

    If the stepper or `dt` is omitted, it is chosen: the mechanism is run with ever finer steps until two runs agree to
    `accuracy`, and the finer one is returned with its `Trajectory.verdict`. If both are given, a single run is made.

    Parameters
    ----------
    system : System, from ``Model.build()``
    stepper : GaussMPCC, GaussQP, ..., optional
        The time-stepping scheme with its solver; chosen automatically if omitted.
    t_end : [s], times and parameters are numbers in SI units, or strings with a unit: ``t_end="10 ms"``
    dt : [s], or ``Landing(dt_min, dt_max)``, or ``ErrorControl(rtol, atol, dt_min, dt_max)``, optional
        A number is a constant step; each stepper documents which of them it supports. Chosen automatically if omitted.
    accuracy : [-]
        Tolerance for chosen steps and for the verdict: error of positions relative to the smallest clearance, and error
        of each contact's peak force relative to the largest.
    check : bool, repeat a run with given `stepper` and `dt` with finer steps, and with a second method, for its verdict
    t_start : [s], optional, 0 by default, or the time of `state`
    state : State, optional
        Initial state other than the system's: ``system.state({...})``, or ``trajectory.end`` to continue a run.
    parameters : mapping, optional
        Parameters to change, by name: ``{"guide.clearance": 2e-5}``. Nothing is rebuilt or compiled.
    interpreted : bool, run the text of the scheme by Python, uncompiled: some thousand times slower, for debuggers
    record : int
        Record every `record`-th step; impulses of the steps between are added up. The certificate covers all steps.
    max_steps, max_seconds : optional
        Limits: a run that exceeds them fails, with its steps so far, never more than `max_steps`. The time is that of
        the whole call, by the clock: compiling, steps, the search for contacts between rows, runs that are compared.
        It is checked every tenth of a second, and what has begun is finished: one function that is compiled, the last
        optimisation of a scheme's code (some seconds), an evaluation of accelerations, tables of rows. Where runs
        are compared, `max_steps` applies to each of them: if limits end finer runs, the best complete run is returned,
        and its `verdict` and `status` name the limit.
    progress : True or callable (t, t_end, steps), optional
        True shows on one line what is done, twice a second: compiling, computing, tables, checking. A callable is
        called several times per second. The same stages are entries of the log
        ``nonsmooth``, and their seconds are in `Trajectory.seconds`.
    checkpoint : path, optional
        A file ``.nc`` that is written at intervals and at the end of the run. If it exists and belongs to a run with
        the same arguments that was killed or ended by Ctrl-C or a limit, this run is resumed; the result is bitwise
        identical to that of an uninterrupted run.
    every : [s], interval between two checkpoints; longer if writing takes more than a tenth of it

    Returns
    -------
    Trajectory

    Raises
    ------
    InputError
        Before the first step, for invalid arguments or an inconsistent initial state.
    SimulationFailed
        If a step does not pass the residual tests even when shortened, or anything else ends the run (memory, an error
        in `progress` or in a load, which is then its ``__cause__``); its `trajectory` contains the steps so far.
    Interrupted
        On Ctrl-C; likewise.

    >>> from nonsmooth import GaussQP, Landing
    >>> from nonsmooth_problems import slider_rod
    >>> system = slider_rod(case=1).build()
    >>> trajectory = simulate(system, GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    >>> print(f"{trajectory.q['slider.y'][-1]:.6g} m")
    -1e-05 m

    With chosen steps and an estimate of their error:

    >>> simulate(system, t_end=0.02).verdict.kind
    'accurate'
    """
    trajectory = None
    try:
        with contextlib.ExitStack() as open_, collect_timings() as seconds:
            tell: Any = open_.enter_context(progress_line()) if progress is True else progress
            if isinstance(system, System) and system.nv > SMALL:
                open_.enter_context(_blas("scipy.linalg" in sys.modules).limit(limits=1))
            with stage("preparing"):  # libraries are loaded as well
                trajectory = _simulated(
                    system, stepper, t_end, dt, accuracy, check, t_start, state, parameters, interpreted, record,
                    max_steps, max_seconds, tell or None, checkpoint, every,
                )  # fmt: skip
        return replace(with_soft_contact(trajectory), seconds=dict(seconds))
    except KeyboardInterrupt as error:  # after the last step
        if trajectory is None or isinstance(error, Interrupted):
            raise
        raise Interrupted(COMPLETE, trajectory=trajectory) from None


@functools.cache
def _blas(with_scipy: bool) -> Any:
    """The libraries of BLAS in this process, whose threads take longer for matrices of a mechanism than one does;
    SciPy, which is loaded where it is used, has one of its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _simulated(
    system: System, stepper: Stepper | None, t_end: float | str, dt: float | str | StepControl | None, accuracy: float,
    check: bool, t_start: float | str | None, state: State | None, parameters: Mapping[str, float | str] | None,
    interpreted: bool, record: int, max_steps: int | None, max_seconds: float | str | None,
    progress: Callable[[float, float, int], None] | None, checkpoint: str | os.PathLike[str] | None, every: float,
) -> Trajectory:  # fmt: skip
    """`simulate`, without progress output."""
    if not isinstance(system, System):
        hint = "call its build() first" if hasattr(system, "build") else "make one with Model.build()"
        raise InputError(f"simulate takes a System, got {type(system).__name__}; {hint}.")
    arguments.check_stepper(stepper)
    if state is not None and not isinstance(state, State):
        raise InputError(
            f"state must be a State, from system.state(...) or trajectory.end, got {type(state).__name__}."
        )
    times = {"t_end": t_end, "t_start": t_start, "dt": dt, "max_seconds": max_seconds}
    end, begin, step, most_seconds = (in_si(name, value, "s") for name, value in times.items())
    arguments.check_kinds(parameters, begin, end, progress)
    values = system.parameter_vector(parameters)
    first = _start(system, values, state, begin)
    arguments.check_arguments(first.t, end, interpreted, record, accuracy, max_steps, most_seconds)
    _warn_of_tables(system, first.t, end)
    chosen = stepper is None or step is None
    arguments.check_choice(stepper, step, record, chosen, check, None if accuracy == ACCURACY else accuracy)
    file = None
    if checkpoint is None and every != EVERY:
        raise InputError(f"every = {shown(every)} is the interval between checkpoints; give a checkpoint as well.")
    if checkpoint is not None:
        stated = {"stepper": stepper, "dt": step, "t_end": float(end), "record": record}
        stated |= {"check": check, "accuracy": accuracy if chosen or check else None, "interpreted": interpreted}
        file = Checkpoint(checkpoint, every, call_of(system, values, first, stated))

    budget = Budget(progress, max_steps, most_seconds, t_start=first.t)

    def run(
        stepper: Stepper, control: StepControl, most: int | None = None, afforded: int = 0, level: int = 0
    ) -> Trajectory:
        own, made = replace(budget, most=most, afforded=afforded), None
        try:
            with stage("preparing"), text_interpreted() if interpreted else contextlib.nullcontext():
                made = _run(system, stepper, control, values, first, end, interpreted, record, own, file, level)
            with asking(own.in_time):
                return timed("checking", "", partial(with_signs_between_rows, made, system, values))
        except KeyboardInterrupt as error:  # after the last step
            if made is None or isinstance(error, Interrupted):
                raise
            raise Interrupted(COMPLETE, trajectory=made) from None
        except MemoryError as error:  # not even the rows of a first block fit
            raise NonsmoothError(f"{TOO_LITTLE.capitalize()}.") from error

    control = None if step is None else step_control(step, (first.t, end))
    if control is not None:
        arguments.check_step(control, first.t, end, first=not first.memory)
    if control is not None and stepper is not None and not check:
        _warn_of_spilling(system, control, end - first.t, record, max_steps)
        return run(stepper, control)
    from nonsmooth.trust import Rung, automatic, checked

    complete: dict[type, Trajectory] = {}

    def rung(one: Rung) -> Trajectory:
        trajectory = run(one.stepper, one.control, one.most, one.afforded, one.level)
        if chosen:
            complete[type(one.stepper)] = trajectory
        return trajectory

    try:
        with stage("checking"):  # but for the runs
            if chosen:
                return automatic(rung, system, values, first, end, stepper=stepper, accuracy=accuracy)
            assert stepper is not None and control is not None
            own = complete[type(stepper)] = run(stepper, control)
            return checked(rung, system, values, own, Rung(stepper, control), accuracy=accuracy)
    except (Exception, KeyboardInterrupt) as error:
        _hand_over_complete_run(error, complete)
        raise


def _warn_of_spilling(system: System, control: StepControl, length: float, record: int, max_steps: int | None) -> None:
    """Warn before a run whose rows are not kept in memory, with the `record` with which they would be."""
    if not isinstance(control, ConstantStep):
        return
    steps = _fewest(control, length, max_steps)
    size = steps / record * bytes_of_row(system)
    if size > SPILL:
        fewer = math.ceil(steps * bytes_of_row(system) / SPILL)
        warnings.warn(
            f"The run has {steps / record:.3g} rows of up to {bytes_of_row(system)} bytes, {size / 1e9:.2g} GB; beyond "
            f"{SPILL / 1e9:.2g} GB they are kept in files in {tempfile.gettempdir()}. record={fewer} "
            f"(--record {fewer}) keeps one row in {fewer}, in memory.",
            ValidityWarning,
            stacklevel=5,
        )


def _fewest(control: StepControl, length: float, max_steps: int | None) -> float:
    """Number of steps, if all are as long as they may be."""
    longest = control.dt if isinstance(control, ConstantStep) else getattr(control, "dt_max", None) or math.inf
    return min(length / longest, math.inf if max_steps is None else max_steps)


def _warn_of_tables(system: System, begin: float, end: float) -> None:
    """Warn of tables that end before the run with a driver in motion, and of those that seem to be in another unit."""
    for element, table in system.tables:
        times, whose = np.array(table.times), f'{type(element).__name__} "{element.name}": its table'
        last = float(np.diff(table.values[-2:])[0] / np.diff(times[-2:])[0])
        said = ""
        if times.size > 2 and LONG * (end - begin) < np.ptp(times) and not np.any((times > begin) & (times < end)):
            said = (
                f"has times from {times[0]:g} to {times[-1]:g} s, of which none is within the run from "
                f"t = {begin:g} s to t_end = {end:g} s; times are in s."
            )
        elif isinstance(element, Joint) and last != 0.0 and begin <= times[-1] < end:
            said = (
                f"ends at t = {times[-1]:g} s, before t_end = {end:g} s, and the driver stops there within no "
                f"time, from {last:.3g} per second; continue the table, or let it come to rest."
            )
        if said:
            warnings.warn(f"{whose} {said}", ValidityWarning, stacklevel=5)


def _hand_over_complete_run(error: BaseException, complete: Mapping[type, Trajectory]) -> None:
    """Raise an error with a complete run if those that give its verdict ended early."""
    first = next(iter(complete.values()), None)
    trajectory = getattr(error, "trajectory", None)
    cause = error.cause if isinstance(error, SimulationFailed) else error
    if first is None or any(trajectory is one for one in complete.values()):
        return
    if isinstance(cause, NonsmoothError) and not isinstance(cause.__cause__, MemoryError):
        return
    if isinstance(error, KeyboardInterrupt):
        raise Interrupted(UNCHECKED, trajectory=first) from None
    assert isinstance(cause, Exception)
    message = f"{str(error) or type(error).__name__} The first run of the comparison is complete and kept."
    raise SimulationFailed(message, trajectory=first, cause=cause) from cause


def _run(
    system: System, stepper: Stepper, control: StepControl, values: Array, first: State, t_end: float,
    interpreted: bool, record: int, budget: Budget, checkpoint: Checkpoint | None = None, level: int = 0,
) -> Trajectory:  # fmt: skip
    check_support(system, stepper, values, control)

    def settings() -> dict[str, Any]:
        scheme = stepper
        if stepper.solver is None and stepper.default_solver is not None:
            scheme = replace(stepper, solver=getattr(solvers, stepper.default_solver)())  # type: ignore[type-var]
        return {"stepper": repr(scheme), "dt": repr(control), "t_start": first.t, "t_end": t_end}

    if checkpoint is not None:
        checkpoint.next_run(settings())
    steps = steps_of(stepper)
    rules, engine = steps.rules(system, stepper, control, values), "interpreted" if interpreted else "compiled"
    chain = Chain(stepper.solver or getattr(solvers, stepper.rescuing_solver)(), stepper.fallback)
    called = chain.called  # not the chain, whose sessions own functions of CasADi
    packages = ("nonsmooth", "casadi", "numpy", "scipy", "numba", "osqp", "cvxpy", "clarabel")
    manifest = Manifest(lambda: {  # the data required to repeat the run
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in packages},
        "model": system.description,
        "parameters": {
            name: dict(system.provenance.get(name, {})) | {"value": float(value)}
            for name, value in zip(system.parameters, values, strict=True)
        },
        "settings": settings(), "engine": engine, "called": dict(called),
        "rules": {"certified residual": CERTIFIED} | rules,
    })  # fmt: skip
    recorder = Recorder(
        system, manifest, values, record=record, expected=int(_fewest(control, t_end - first.t, budget.steps)),
        constant=isinstance(control, ConstantStep) and not stepper.scheme(control).tells_lasting,
    )  # fmt: skip

    def compile() -> Any:
        made = steps(system, stepper, control, _in_last_digits(values) if level % 2 else values.copy(), t_end)
        made.parts = 3**level  # an odd number, since steps that fail are repeated with half of their length
        return made

    if level % 2 and not first.memory:
        first = replace(first, q=_in_last_digits(first.q), v=_in_last_digits(first.v))
    loop = TimeLoop(compile, chain, control, recorder, system, values, t_end, budget, checkpoint)
    return timed("computing", f"with {type(stepper).__name__}, {control}", partial(loop.trajectory, first))


def _in_last_digits(values: Array) -> Array:
    """Values with other last digits, always the same; 0 and 1, which are limits of laws, remain."""
    random = np.random.default_rng(1)
    share = random.choice((-1.0, 1.0), values.shape) * random.uniform(0.5, 1.5, values.shape)  # no value remains
    return np.where(np.abs(values) == 1.0, values, values * (1.0 + LAST_DIGITS * share))


def _start(system: System, values: Array, state: State | None, t_start: float | None) -> State:
    first = system.start if state is None else state
    if first.q.shape != system.start.q.shape or first.v.shape != system.start.v.shape:
        raise InputError(
            f"The state has {first.q.size} coordinates and {first.v.size} velocities, the system {system.nq} and "
            f"{system.nv}; make it with system.state(...)."
        )
    if t_start is not None:
        first = replace(first, t=float(t_start))
    check_start(system, first, values)
    return first


def check_support(system: System, stepper: Stepper, values: Array, control: StepControl) -> None:
    """Raise InputError unless the stepper supports the law of each contact, with these steps."""
    for element in system.laws:
        if not isinstance(element.contact, stepper.contact):
            name, law = type(stepper).__name__, element.contact
            if isinstance(law, Compliant):
                parts = [type(part).__name__ for part in (law.normal, law.friction) if part is not None]
                needed, remedy = "rigid", "Step it with CompliantDae(), or give it a Rigid(...) law"
                given = f"Compliant({', '.join(parts)})"
            else:
                needed, remedy = "compliant", "Step it with EventDriven() or another, or give it a Compliant(...) law"
                given = "Rigid(...)"
            raise InputError(f'{name} needs {needed} contact, but contact "{element.name}" has {given}. {remedy}.')
    stepper.check(system, values, control)


@functools.cache
def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
