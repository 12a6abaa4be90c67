"""A study of a sensitive motion: until its horizon as any other, and beyond it by the statistics of each case."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from nonsmooth.exceptions import Interrupted, NonsmoothError
from nonsmooth.model.system import System
from nonsmooth.studies.cases import Accurate, Trial
from nonsmooth.studies.long_run import PRECISION, Statistic, Statistics, long_run
from nonsmooth.studies.statistics.estimates import stated
from nonsmooth.studies.statistics.measures import period_of
from nonsmooth.studies.workers import cores, outcomes
from nonsmooth.trajectory import Trajectory
from nonsmooth.trust.agreement import PREDICTABLE

#: members of the statistics of a case, so few that each is long: its transient, which is left out, is a smaller share
MEMBERS = 4
#: why a case has none after Ctrl-C
INTERRUPTED = "has no statistics: interrupted"
#: the measure by which cases are told apart
RATE = "energy-rate"

R = TypeVar("R")


def horizon_of(accurate: Accurate, run: Trajectory | None = None) -> float:
    """The time [s] until which runs are compared with an accurate solution: the end of its trial, or the horizon of a
    motion that is sensitive before, and that of a coarser run if it is earlier."""
    if accurate.parted == math.inf:
        return accurate.trial.t_end
    begin = accurate.trial.system.start.t
    horizon = begin + PREDICTABLE * (accurate.parted - begin)
    own = horizon if run is None else accurate.verdict(run).horizon
    return own if begin < own < horizon else horizon


def statistics_of(trials: Mapping[str, Trial], seconds: float) -> tuple[dict[str, Statistics], dict[str, str]]:
    """Statistics of trials by label, several at a time, within some `seconds`; why the others have none."""
    labels, found, failed = list(trials), dict[str, Statistics](), dict[str, str]()
    turns = math.ceil(len(labels) / cores())
    tasks = [(trial, seconds / turns, max(1, cores() // len(labels))) for trial in trials.values()]
    try:
        for i, made in outcomes(_statistics, tasks):
            if isinstance(made, Statistics):
                found[labels[i]] = made
            else:
                failed[labels[i]] = f"has no statistics: {made}"
    except KeyboardInterrupt:
        failed |= {label: INTERRUPTED for label in labels if label not in found and label not in failed}
    return {label: found[label] for label in labels if label in found}, failed


def complete(result: R, without: Mapping[str, str]) -> R:
    """The result, for which statistics were made; Interrupted, which has it, if Ctrl-C ended them."""
    if INTERRUPTED in without.values():
        raise Interrupted("Interrupted: statistics are missing, `result` of this error has the rest.", result=result)
    return result


def _statistics(trial: Trial, seconds: float, workers: int) -> Statistics | str:
    """Statistics of a trial, or the reason why there are none."""
    system, case = trial.system, trial.case
    end = None if period_of(system) is not None else trial.t_end
    try:
        return long_run(
            system, case.stepper, t_end=end, dt=case.dt, measures=compared(system), precision=PRECISION,
            max_seconds=seconds, members=MEMBERS, parameters=case.parameters, executor=workers,
        )  # fmt: skip
    except NonsmoothError as failure:
        return str(failure)


def compared(system: System) -> list[str]:
    """Measures that rigid and compliant contact have alike."""
    words = ("mean-force", "force-over", "contact-share")
    return [RATE, *(f"{word}:{name}" for word in words for name in system.contact_names), "impacts"]


def difference_of(a: Statistic, b: Statistic) -> tuple[float, float]:
    """Relative excess of the first over the second, and half the width of its 95 % interval."""
    if not b.value:
        return (0.0, 0.0) if not a.value else (math.inf, math.inf)
    half = math.hypot(a.high - a.low, (b.high - b.low) * a.value / b.value) / 2 / abs(b.value)
    return a.value / b.value - 1.0, half


def lines_of(statistics: Mapping[str, Statistics], labels: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Rows of a table with a column per label: each measure with half the width of its interval."""
    units = {name: one.unit for found in statistics.values() for name, one in found.measures.items()}
    lines = []
    for name, unit in units.items():
        every = [statistics[label][name] if label in statistics else None for label in labels]
        said = [stated(one.value, (one.high - one.low) / 2) if one is not None else "-" for one in every]
        lines.append((f"{name} [{unit or '-'}], 95 %", said))
    return lines


def remarks_of(
    statistics: Mapping[str, Statistics], without: Mapping[str, str], reference: str, horizon: float, than: str = ""
) -> list[str]:
    """Sentences on a sensitive motion: its horizon, by how much the energy that each case loses differs from that of
    the reference, which may be called `than`, the verdict of each, and why some are without statistics. Differences are
    those of all cases at once, by Bonferroni's inequality: of four that are
    alike, one would differ by chance in every fifth study otherwise."""
    from scipy.stats import t

    said = [f"The motion is sensitive: runs are compared until its horizon, {horizon:.3g} s"]
    if statistics:
        members = sorted({found.members for found in statistics.values()})
        said[0] += (
            f"; beyond it their statistics are, with 95 % intervals, of {' or '.join(map(str, members))} runs each, "
            "and differences at 95 % for all of them together"
        )
    said[0] += "."
    others = [label for label in statistics if label != reference and reference in statistics]
    for label in others:
        found = statistics[label]
        apart, half = difference_of(found[RATE], statistics[reference][RATE])
        if not math.isfinite(half):
            continue
        free = max(min(found.members, statistics[reference].members) - 2, 1)
        half *= float(t.ppf(1 - 0.025 / len(others), free) / t.ppf(0.975, free))
        if abs(apart) <= half:
            share = f"{100 * (abs(apart) + half):.2g} %"
            said.append(f"{label}: no difference from {than or reference} in the energy lost is seen, < {share}.")
        else:
            share = f"{100 * abs(apart):.2g} ± {100 * half:.2g} %"
            said.append(f"{label} loses {share} {'more' if apart > 0 else 'less'} energy than {than or reference}.")
    said += [f"{label}: {found.verdict}" for label, found in statistics.items()]
    return said + [f"{label} {reason}" for label, reason in without.items()]
