"""Metrics that a study stores of each run: one or several numbers, by name or by a function of the trajectory."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.diagnostics import closed_time, contact_intervals, dissipated, impacts, largest_mean_force
from nonsmooth.exceptions import InputError
from nonsmooth.model.system import System
from nonsmooth.quantities import Wrong, in_unit
from nonsmooth.settings import hint, require
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.peaks import largest_forces

Function = Callable[[Trajectory], Any]
Metrics = str | Function | Sequence[str | Function] | Mapping[str, str | Function]
OVER = "force-over-"  # with a duration behind it


@dataclass(frozen=True)
class Batch:
    """A metric of `simulate_batch`: the results to be recorded, and the metric (runs,) by a function of them."""

    keep: tuple[str, ...]
    function: Callable[..., Any]
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A function of a trajectory that gives a number, numbers (n,), or a mapping from names to these; or of a batch."""

    name: str
    unit: str
    meaning: str
    function: Function
    batch: Batch | None = None
    units: Mapping[str, str] = field(default_factory=dict)  # of the numbers of a mapping, where they differ

    def of(self, run: Trajectory) -> dict[str, NDArray[np.float64]]:
        """Its numbers, by name; names of a mapping are prefixed with the metric's name."""
        value = self.function(run)
        parts = {f"{self.name}.{key}": part for key, part in value.items()} if isinstance(value, Mapping) else None
        numbers = {name: np.asarray(part, float) for name, part in (parts or {self.name: value}).items()}
        for name, number in numbers.items():
            if number.ndim > 1:
                raise InputError(f'The metric "{name}" gives an array of shape {number.shape}; give numbers (n,).')
        return numbers

    @property
    def fingerprint(self) -> str:
        """Distinguishes functions of the same name by their source, if it is available, and by their options."""
        function, options = _bare(self.function)
        try:
            source = inspect.getsource(function) + options
        except (OSError, TypeError):
            return self.name
        return f"{self.name} {hashlib.sha256(source.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Named:
    """A metric that is available by name."""

    about: str  # the word after the colon: "coordinate" or velocity, "contact" (all if omitted), or "" for none
    unit: str  # "" for that of the coordinate
    meaning: str
    function: Callable[..., float]  # of the trajectory and of each selected column or contact
    batch: Batch | None = None


def _column(run: Trajectory, name: str) -> NDArray[np.float64]:
    return run.q[name] if name in run.q else run.v[name]


#: metrics available by name, ``"impulse"`` or ``"final:slider.x"``
NAMED: dict[str, Named] = {
    "final": Named(
        "coordinate", "", "at the end", lambda run, name: float(_column(run, name)[-1]),
        Batch((), lambda ends, name: ends["q"].sel(coordinate=name) if name in ends["coordinate"]
              else ends["v"].sel(velocity=name)),
    ),
    "largest": Named("coordinate", "", "largest", lambda run, name: float(_column(run, name).max())),
    "smallest": Named("coordinate", "", "smallest", lambda run, name: float(_column(run, name).min())),
    "amplitude": Named("coordinate", "", "largest magnitude", lambda run, name: float(abs(_column(run, name)).max())),
    "range": Named("coordinate", "", "largest less smallest", lambda run, name: float(np.ptp(_column(run, name)))),
    "impulse": Named(
        "contact", "N s", "normal impulse, of all contacts together",
        lambda run, *names: float(sum(np.cumsum(run.P_N[name])[-1] for name in names)),
        # in the same order as for a trajectory, so that results are bitwise identical
        Batch(("impulse",), lambda ends, *names: sum(ends["impulse"].sel(contact=name).values for name in names)),
    ),
    "peak-force": Named(
        "contact", "N", "largest force, of rigid contact the largest mean of a step without impacts: see force-over",
        lambda run, *names: max(
            (float(one) for name, one in zip(run.lam_N.names, largest_forces(run), strict=True) if name in names),
            default=0.0,
        ),
    ),
    "force-over": Named(
        "contact", "N", "largest mean force over 1 ms, impacts included; force-over-0.2ms for another duration",
        lambda run, *names: max((largest_mean_force(run, name) for name in names), default=0.0),
    ),
    "peak-impulse": Named(
        "contact", "N s", "largest impulse of one contact at one impact",
        lambda run, *names: float(np.max(run.impacts[np.isin(run.impacts["contact"], names)]["P_N"], initial=0.0)),
    ),
    "impacts": Named(
        "contact", "-", "contacts that begin with an approach of at least 1 % of the fastest, rigid and compliant",
        lambda run, *names: float(len(impacts(run, contacts=names))),
    ),
    "fastest-approach": Named(
        "contact", "m/s", "largest speed at which a contact begins",
        lambda run, *names: float(np.nanmax(contact_intervals(run, names)["approach"], initial=0.0)),
    ),
    "contact-share": Named(
        "contact", "-", "share of time in contact, the largest of the contacts",
        lambda run, *names: max((closed_time(run, name) for name in names), default=0.0) / float(run.t[-1] - run.t[0]),
    ),
    "penetration": Named(
        "contact", "m", "deepest overlap",
        lambda run, *names: float(np.max([-run.gap[name].min() for name in names], initial=0.0)),
    ),
    "loss": Named(
        "", "J", "energy lost in contacts, friction and damping", lambda run: float(sum(dissipated(run).values())),
    ),
    "energy-remainder": Named(
        "", "J", "what the balance of energy leaves", lambda run: run.certificate.energy.remainder
    ),
    "gap-violation": Named(
        "", "m", "worst overlap of the certificate", lambda run: run.certificate.gap_violation,
        Batch(("gap_violation",), lambda ends: ends["gap_violation"]),
    ),
    "complementarity": Named(
        "", "-", "worst of the certificate", lambda run: run.certificate.complementarity,
        Batch(("complementarity",), lambda ends: ends["complementarity"]),
    ),
    "position-error": Named(
        "", "-", "estimated error of positions, as a share of the smallest clearance", lambda run: run.verdict.position
    ),
    "force-error": Named("", "-", "estimated error of the peak force, as a share of it", lambda run: run.verdict.force),
    "horizon": Named("", "s", "until when both hold; infinite to the end", lambda run: run.verdict.horizon),
    "steps": Named("", "-", "steps of the run", lambda run: float(len(run.t) - 1)),
}  # fmt: skip


def metrics_of(given: Metrics, system: System) -> tuple[Metric, ...]:
    """The requested metrics: names from `NAMED`, functions of a `Trajectory`, or a mapping from own names to these."""
    if isinstance(given, str) or callable(given):
        given = [given]
    require(isinstance(given, Iterable), "metrics must be a list of names or functions of a trajectory", given)
    if not isinstance(given, Mapping):
        given = {one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__): one for one in given}
    if not given:
        raise InputError(f"A study needs a metric: a function of a trajectory, or one of {', '.join(NAMED)}.")
    return tuple(_metric(name, one, system) for name, one in given.items())


def measured(**units: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State the units of the numbers that a function of a run returns by name, for datasets and tables."""

    def with_units(function: Callable[..., Any]) -> Callable[..., Any]:
        function.units = units  # type: ignore[attr-defined]
        return function

    return with_units


def _bare(function: Function) -> tuple[Function, str]:
    """A function without the options that `functools.partial` has given it, and these."""
    if isinstance(function, functools.partial):
        return function.func, repr(sorted(function.keywords.items()))
    return function, ""


def _metric(name: str, one: str | Function, system: System) -> Metric:
    if not isinstance(one, str):
        require(callable(one), f'The metric "{name}" must be a name or a function of a trajectory', one)
        function, _ = _bare(one)
        meaning = (inspect.getdoc(function) or "").partition("\n")[0] if inspect.isfunction(function) else ""
        unit, parts = str(getattr(function, "unit", "")), getattr(function, "units", {})
        return Metric(name, unit, meaning, one, units=parts)
    word, _, about = one.partition(":")
    known = NAMED.get(word)
    if word.startswith(OVER):
        try:
            duration = in_unit(word.removeprefix(OVER), "s")
        except Wrong as error:
            raise InputError(f'The metric "{word}": its duration {error}.') from None
        if not 0.0 < duration < np.inf:
            raise InputError(f'The metric "{word}": its duration must be > 0.')
        known = Named(
            "contact", "N", f"largest mean force over {duration:g} s, impacts included",
            lambda run, *names: max((largest_mean_force(run, name, duration) for name in names), default=0.0),
        )  # fmt: skip
    if known is None:
        raise InputError(f'There is no metric "{word}".{hint(word, NAMED)} There are: {", ".join(NAMED)}.')
    units: dict[str, str] = dict(zip(system.q_names, system.names.q_units, strict=True))
    units |= {name: unit for name, unit in zip(system.v_names, system.names.v_units, strict=True) if name not in units}
    contacts = system.contact_names
    if known.about == "coordinate" and about not in units:
        raise InputError(f'"{one}": write {word}:NAME with one of {", ".join(units)}.{hint(about, units)}')
    if known.about == "contact" and about and about not in contacts:
        known_names = f"{hint(about, contacts)} There are: {', '.join(contacts)}."
        raise InputError(f'"{one}": there is no contact "{about}".{known_names}')
    if not known.about and about:
        raise InputError(f'"{one}": {word} takes nothing after a colon.')
    meant = (about,) if about else contacts if known.about == "contact" else ()
    function = known.function
    meaning = f"{about}, {known.meaning}" if about else known.meaning
    batch = None if known.batch is None else replace(known.batch, about=meant)
    return Metric(name, known.unit or units[about], meaning, lambda run: function(run, *meant), batch)
