"""Comparison of rigid and compliant contact for one mechanism, by the same metrics.

- A compliant force is integrated over time, a rigid impulse is used directly: both are in `P_N`.
- Forces are compared as means over stated windows of time; the impulse of a rigid impact is averaged over its window.
- A persistent contact and an impact without duration are both contact intervals, see `nonsmooth.diagnostics`.
- Costs are compared at equal error, each case relative to an accurate solution with its own contact law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import agreement, contact_intervals, contact_share, dissipated, impacts, mean_forces
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.step.control import step_control
from nonsmooth.studies.arguments import check_build
from nonsmooth.studies.comparison import METRICS, Case, Comparison, checked_cases
from nonsmooth.studies.equal_error import Cost, coarsest, cost_of, evaluations
from nonsmooth.studies.motions import Motion, mean_deviation, motion_times, scaled_distance
from nonsmooth.studies.schemes import rigid_cases
from nonsmooth.studies.trial import Accurate, Trial, ended
from nonsmooth.trajectory import Trajectory


@telling
def compare(
    build: Callable[[Any], Model | System],
    cases: Sequence[Case],
    *,
    t_end: float,
    rigid: Sequence[Any] = (),
    reference: str | None = None,
    windows: int = 20,
    target: float = 1e-4,
    slowest: float = 0.01,
    repeats: int = 3,
    patience: float = 10.0,
    progress: Progress = None,
) -> Comparison:
    """Run one mechanism with several contact laws and steppers, and evaluate the same metrics.

    The distance of two motions is the time mean of the absolute difference of a coordinate, divided by its range in the
    reference, maximised over the coordinates ::

        max_i  1/(T s_i) int_0^T |q_i - r_i| dt,      s_i = max r_i - min r_i

    Parameters
    ----------
    build
        A function of the contact law that returns a model or a system: ``model.with_contact``, or
        ``lambda contact: slider_rod(case=2, contact=contact)``.
    cases : the cases, at least one, with different labels
    t_end : [s]
    rigid
        Further schemes of the first rigid case, by name with solver, as ``["gauss-mpcc:ipopt-mpcc", "gauss-qp:osqp"]``,
        or as steppers. Their steps are `Landing` between the bounds of that case, constant ones a tenth as long.
    reference : label, optional
        The case whose reference solution is used for all; the first one by default. It is the exact solution if the
        case has one, otherwise that of the same contact law with tolerances near round-off.
    windows : number of equal windows of time over which forces are averaged
    target : [-], own error of a case, by the same distance, at which costs are compared; 0 omits this comparison
    slowest : [-]
        Contacts are impacts if their approach velocity exceeds this share of the largest one in the reference case.
    repeats : number of repetitions of fast runs, the fastest of which is the cost
    patience : [s], a setting is not refined further if a run takes longer
    progress : callable (what, share), or True for words on one line, optional
        Called before each part of the work.

    Notes
    -----
    The verdict of a run is that of its difference to the accurate solution with its own contact law: *accurate* within
    1 % of the smallest clearance and of the largest peak force, *sensitive* where it follows that as long as runs with
    tolerances near round-off follow each other. A case whose run or accurate solution ends early is left out, with the
    reason in `failed`.

    Raises
    ------
    InputError
        For labels that repeat, an unknown reference, mechanisms with different contacts, or a number out of range.
    SimulationFailed
        If the reference fails.

    Examples
    --------
    >>> from nonsmooth import Compliant, CompliantDae, ErrorControl, EventDriven, Rigid
    >>> from nonsmooth.laws import Flores
    >>> from nonsmooth_problems import slider_rod
    >>> dt = ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)
    >>> law = Compliant(Flores(stiffness=1e12, restitution=0.5, calibrated=True))
    >>> found = compare(
    ...     lambda contact: slider_rod(case=1, contact=contact),
    ...     [
    ...         Case("rigid", Rigid(restitution=0.5, friction=0.0), EventDriven(), dt),
    ...         Case("compliant", law, CompliantDae(), dt),
    ...     ],
    ...     t_end=0.005,
    ...     target=0,
    ... )
    >>> for case in found.labels:
    ...     numbers = found.table[case]
    ...     print(f"{case}: {numbers['first_impulse']:.4f} N s, {1e9 * numbers['penetration']:.0f} nm deep")
    rigid: 0.0525 N s, 0 nm deep
    compliant: 0.0559 N s, 653 nm deep
    """
    cases = checked_cases(_with_schemes(cases, rigid), "compare")
    _check(cases, reference, windows, target, slowest, repeats)
    tell = whom(progress)
    reference = reference or cases[0].label
    check_build(build)
    trials = {case.label: Trial.of(build, case, t_end) for case in cases}
    _check_systems(trials)
    parts = 3 * len(cases)
    runs: dict[str, Trajectory] = {}
    failed: dict[str, str] = {}
    for i, (label, trial) in enumerate(trials.items()):
        tell(f"{label}: run", i / parts)
        try:
            runs[label] = trial.run()
        except SimulationFailed as failure:
            if label == reference:
                raise
            failed[label] = ended(failure)
    known: dict[str, Accurate] = {}
    for i, (label, run) in enumerate(runs.items()):
        tell(f"{label}: accurate solution", (len(cases) + i) / parts)
        same = (one for one in known.values() if one.trial.alike(trials[label].case))
        try:
            known[label] = next(same, None) or trials[label].accurate()
        except SimulationFailed as failure:
            if label == reference:
                raise
            failed[label] = f"has no accurate solution, which {ended(failure)}"
        else:
            runs[label] = replace(run, verdict=known[label].verdict(run))
    cases = tuple(case for case in cases if case.label in known)
    runs = {label: runs[label] for label in known}
    grid, truth, scale = trials[reference].grid(), known[reference].motion, known[reference].scale
    edges = np.linspace(grid[0], t_end, windows + 1)
    fastest = contact_intervals(runs[reference])["approach"]
    threshold = slowest * float(np.nanmax(fastest, initial=0.0))
    table = {}
    for i, case in enumerate(cases):
        run, trial, own = runs[case.label], trials[case.label], known[case.label]
        tell(f"{case.label}: cost at equal error", (2 * len(cases) + i) / parts)
        found = coarsest(trial, own, target, patience) if target > 0 else None
        cost = Cost.none() if found is None else cost_of(trial, *found, own.error(found[1]), repeats)
        numbers = measured(run, known[reference], edges, threshold) | {
            "verdict": run.verdict.kind,
            "position_error": run.verdict.position,
            "force_error": run.verdict.force,
            "own_error": own.error(run),
            "wall": cost_of(trial, step_control(case.dt), run, 0.0, repeats).wall,
            "agreement": agreement(run, runs[reference]),
            "equal_error": asdict(cost),
        }
        table[case.label] = {name: numbers[name] for name in METRICS}
    tell("done", 1.0)
    motions = [Motion.of_run(runs[case.label]) for case in cases]
    return Comparison(
        cases=cases,
        table=table,
        runs=runs,
        reference=reference,
        truth=truth,
        between=np.array([[scaled_distance(a, b, motion_times(grid, a, b), scale) for b in motions] for a in motions]),
        modes=np.array([[agreement(a, b) for b in runs.values()] for a in runs.values()]),
        edges=edges,
        forces=np.stack([mean_forces(run, edges) for run in runs.values()]),
        settings={
            "t_end [s]": float(t_end),
            "target of the own error [-]": float(target),
            "windows": int(windows),
            "slowest impact [m/s]": threshold,
            "scale of coordinates [m or rad]": dict(zip(truth.names, scale.tolist(), strict=True)),
            "truth": {case.label: "exact" if case.exact is not None else "converged" for case in cases},
        },
        failed=failed,
    )


def _with_schemes(cases: Sequence[Case], rigid: Sequence[Any]) -> tuple[Case, ...]:
    """The cases, with further schemes after the last rigid one."""
    cases = checked_cases(cases, "compare")
    if not rigid:
        return cases
    place = [i for i, case in enumerate(cases) if isinstance(case.contact, Rigid)]
    if not place:
        raise InputError("rigid gives further schemes of a rigid case, but no case has Rigid contact.")
    return (*cases[: place[-1] + 1], *rigid_cases(cases[place[0]], rigid), *cases[place[-1] + 1 :])


def _check(
    cases: Sequence[Case], reference: str | None, windows: int, target: float, slowest: float, repeats: int
) -> None:
    labels = [case.label for case in cases]
    if reference is not None and reference not in labels:
        raise InputError(f"reference must be one of the cases, {', '.join(labels)}, got {reference!r}.")
    for name, value, low in (("windows", windows, 1), ("target", target, 0.0), ("slowest", slowest, 0.0),
                             ("repeats", repeats, 1)):  # fmt: skip
        if not low <= value < float("inf"):
            raise InputError(f"{name} must be a number >= {low:g}, got {value!r}.")


def _check_systems(trials: Mapping[str, Trial]) -> None:
    first, *others = trials.items()
    for label, trial in others:
        one, other = first[1].system, trial.system
        if other.contact_names != one.contact_names or other.q_names != one.q_names:
            raise InputError(
                f'Cases "{first[0]}" and "{label}" are different mechanisms: their coordinates or contacts differ.'
            )


def measured(run: Trajectory, accurate: Accurate, edges: Array, threshold: float) -> dict[str, Any]:
    """The metrics of a run by itself and by an accurate solution; windows and impacts as of `compare`."""
    motion, truth = Motion.of_run(run), accurate.motion
    deviation = mean_deviation(motion, truth, motion_times(accurate.trial.grid(), motion, truth))
    contacts = run.gap.names
    touches = contact_intervals(run)
    first = touches[0] if len(touches) else None
    ended = first is not None and first["end"] < run.t[-1]
    forces = mean_forces(run, edges)
    peaks = np.max(run.lam_N.array, axis=0, initial=0.0)
    depth = max((float(row["depth"]) for row in touches), default=0.0)

    def of_first(name: str, known: bool = True) -> float:
        return float(first[name]) if first is not None and known else float("nan")

    return {
        "distance": float(np.max(deviation / accurate.scale, initial=0.0)),
        "deviation": dict(zip(run.q.names, deviation.tolist(), strict=True)),
        "penetration": max(depth, run.certificate.gap_violation),
        "impulse": dict(zip(contacts, run.P_N.array.sum(axis=0).tolist(), strict=True)),
        "peak_force": dict(zip(contacts, peaks.tolist(), strict=True)),
        "window_force": dict(zip(contacts, forces.max(axis=0).tolist(), strict=True)),
        "impacts": len(impacts(run, threshold)),
        "first_impact": of_first("start"),
        "first_impulse": of_first("impulse", bool(ended)),
        "first_approach": of_first("approach"),
        "first_separation": of_first("separation"),
        "contact_share": contact_share(run),
        "loss": dissipated(run),
        "steps": len(run.t) - 1,
        "evaluations": evaluations(run),
    }
