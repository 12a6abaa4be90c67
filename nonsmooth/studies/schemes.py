"""Schemes by name, with their solvers and the steps that studies give them: ``"gauss-mpcc:ipopt-mpcc"``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth import solvers, steppers
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.progress import stage
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
from nonsmooth.schemes.gauss.gauss_qp import GaussQP
from nonsmooth.settings import kebab, shown
from nonsmooth.solvers.casadi_qp import CasadiQP
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.control import ConstantStep, ErrorControl, Landing, StepControl
from nonsmooth.studies.comparison import Case
from nonsmooth.studies.trial import Trial

#: constant steps per longest event-locating step: their order is one, and impacts are not located
SHORTER = 10
#: of the shortest passage of a clearance, in a step that ends at impacts: errors are some 0.1 % of the clearance; and
#: number of steps beyond which they are not shortened
QUARTER, MOST = 0.25, 100_000


def scheme(word: str) -> Any:
    """The rigid stepper of ``STEPPER`` or ``STEPPER:SOLVER``, names as on the command line.

    Raises
    ------
    InputError
        For an unknown stepper or solver, or a stepper of compliant contact.

    >>> scheme("gauss-qp:osqp")
    GaussQP(solver=Osqp(eps=1e-10, max_iterations=20000, polish=True), fallback=True, cone='coulomb')
    """
    name, colon, solver = word.partition(":")
    made = steppers.by_name(name)
    if made.contact is not Rigid:
        known = [one for one in steppers.names() if steppers.by_name(one).contact is Rigid]
        raise InputError(f"{word}: {name} is for compliant contact; schemes of rigid contact are {', '.join(known)}.")
    return made(solver=solvers.by_name(solver)()) if colon else made()


def name_of(stepper: Any) -> str:
    """Stepper and solver as on the command line; of the default solver the stepper alone.

    >>> name_of(scheme("gauss-mpcc:active-set"))
    'gauss-mpcc:active-set'
    """
    solver = stepper.solver.plugin if isinstance(stepper.solver, CasadiQP) else type(stepper.solver).__name__
    return kebab(type(stepper).__name__) + ("" if stepper.solver is None else f":{kebab(solver)}")


def steps_of_scheme(stepper: Any, tolerances: ErrorControl) -> StepControl:
    """Steps of a rigid scheme beside an event-driven run: event-locating ones between its bounds where the scheme has
    them, tolerances where it controls its error, else constant steps, a tenth of its longest."""
    if isinstance(stepper, EventDriven):
        return tolerances
    if isinstance(stepper, GaussQP | GaussMPCC):
        return Landing(tolerances.dt_min, tolerances.dt_max)
    return ConstantStep(tolerances.dt_max / SHORTER)


def rigid_cases(like: Case, rigid: Iterable[Any]) -> list[Case]:
    """A rigid case computed by other schemes: names, as ``"gauss-qp:osqp"``, or steppers.

    Raises
    ------
    InputError
        For an unknown name, for a case that is not rigid, or has no tolerances from which steps could be derived.
    """
    if isinstance(rigid, str) or not isinstance(rigid, Iterable):
        raise InputError(f'rigid must be a list of schemes, as ["gauss-mpcc:ipopt-mpcc"], got {shown(rigid)}.')
    found = []
    for one in rigid:
        stepper = scheme(one) if isinstance(one, str) else one
        if getattr(stepper, "contact", None) is not Rigid:
            raise InputError(f"rigid: a scheme of rigid contact is a name or a stepper, got {shown(one)}.")
        if not isinstance(like.contact, Rigid) or not isinstance(like.dt, ErrorControl):
            raise InputError("rigid needs a first case with Rigid contact and ErrorControl, which states the bounds.")
        label = f"rigid, {name_of(stepper).replace(':', ', ')}"
        found.append(replace(like, label=label, stepper=stepper, dt=steps_of_scheme(stepper, like.dt)))
    return found


def landing_case(build: Callable[[Any], Any], like: Case, t_end: float) -> Case:
    """A rigid case by `GaussQP` with `Landing` steps, in which no joint moves by more than a quarter of its clearance.

    Speeds are those of a run of the case itself, whose longest step is not exceeded. Steps are not shorter than those
    of which `MOST` make the run.

    Raises
    ------
    SimulationFailed
        If that run fails.
    """
    (case,) = rigid_cases(like, [GaussQP()])
    trial = Trial.of(build, like, t_end)
    with stage("computing", "the speeds that bound the steps of landing"):
        run = trial.run()
    m = Mechanism(trial.system, trial.system.parameter_vector(like.parameters), 1.0)
    rows = zip(run.t, run.q.array, run.v.array, strict=True)
    passages = max(np.max(np.abs(m.at(t, q).W_N).T @ np.abs(v) / m.scale, initial=0.0) for t, q, v in rows)
    assert isinstance(case.dt, Landing)
    quarter = QUARTER / passages if passages > 0.0 else math.inf
    longest = float(min(case.dt.dt_max, max(quarter, (t_end - trial.system.start.t) / MOST)))
    return replace(case, dt=Landing(min(case.dt.dt_min, longest), longest))
