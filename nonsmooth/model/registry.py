"""Ready problems: functions that return a `Model`, with the origin of each of their numbers, found by entry points.

A distribution offers problems by one entry point of the group ``nonsmooth.problems`` that names a package or a module;
all its modules are walked, so that a new problem is one new file.
"""

import functools
import importlib
import inspect
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, get_args

from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import looks_stated
from nonsmooth.quantities import Wrong, has_unit, in_unit
from nonsmooth.settings import hint, shown

if TYPE_CHECKING:
    from nonsmooth.model.model import Model


@dataclass(frozen=True)
class Fact:
    """One known number of a mechanism."""

    name: str
    unit: str  #: display unit, ``"mm"``, ``"N"``, ``"-"`` for none
    expected: float  #: the known value, in this unit
    tolerance: float  #: largest difference that counts as agreement, in this unit
    note: str = ""  #: origin and meaning of the number


@dataclass(frozen=True, eq=False)
class Facts:
    """Numbers that are measured together."""

    name: str  #: their subject
    measure: Callable[[], Mapping[str, float]]  #: returns the numbers by name, in their units
    entries: tuple[Fact, ...]


GROUP = "nonsmooth.problems"

Kind = Literal["given", "inferred", "assumed", "corrected"]


@dataclass(frozen=True)
class Provenance:
    """The origin of a number."""

    value: float | str  #: the number, in SI units
    unit: str  #: its unit, ``"-"`` for none
    #: ``"given"`` by the source, ``"inferred"`` from its other statements, ``"assumed"`` by us, or ``"corrected"`` if
    #: the source contradicts itself
    kind: Kind
    source: str  #: table, equation or figure; for an assumed value the reason
    note: str = ""  #: further information

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InputError(f"Provenance: kind must be one of {', '.join(get_args(Kind))}, got {shown(self.kind)}.")
        if not self.source:
            raise InputError("Provenance: source is empty; name the table, equation or reason the value comes from.")


@dataclass(frozen=True)
class ComparisonDefaults:
    """Defaults of `nonsmooth compare` for a problem."""

    t_end: float  #: [s]
    restitution: float  #: [-] of rigid and compliant contact, 0 < e < 1: compliant laws are calibrated to deliver it
    stiffness: tuple[float, ...]  #: K [N/m^1.5] of the compliant cases
    target: float = 1e-4  #: own error [-] of each case at which costs are compared
    arguments: Mapping[str, Any] = field(default_factory=dict)  #: of the problem, in addition to the contact
    dt_max: float = 1e-3  #: longest step [s]


@dataclass(frozen=True)
class StepSizeDefaults:
    """Defaults of `nonsmooth study step-size` for a problem."""

    t_end: float  #: [s]
    dt: float  #: coarsest constant step [s]
    dt_max: float  #: longest step of `Landing` and of event-driven runs [s]
    bounds: tuple[tuple[float, ...], tuple[float, ...]]  #: values of dt_min and of dt_max [s] for runs with `Landing`
    arguments: Mapping[str, Any] = field(default_factory=dict)  #: of the problem


@dataclass(frozen=True)
class Measure:
    """One published number of a run: the largest or the mean magnitude of a series."""

    name: str
    unit: str  #: display unit of the printed number, SI or with ``deg``
    #: ``(kind, name)`` with kind `q`, `v` or `a` (instantaneous accelerations); or a function of an object with these
    #: as mappings, and with `parameters` and the names `contacts`; with an attribute ``smooth`` if it is finite at
    #: impacts. In panels also ``("F", contact)``, forces without impacts.
    series: tuple[str, str] | Callable[[Any], Any]
    of: Literal["run", "ideal", "error"] = "run"  #: the run, its ideal twin, or the run minus the twin
    rate: float | None = None  #: sampling rate [1/s] for the maximum; every row if omitted
    #: length [s] of the windows of means, impacts included, so that rigid and compliant runs are comparable:
    #: accelerations ``("a", name)`` from changes of velocity, normal forces of a clearance, ``("F", name)``, from
    #: impulses
    window: float | None = None
    statistic: Literal["peak", "mean"] = "peak"  #: the latter with a window

    def __post_init__(self) -> None:
        if self.statistic == "mean" and self.window is None:
            raise InputError(f'Measure: "mean" of {self.name!r} takes windows of equal length; state window=... [s].')


@dataclass(frozen=True, eq=False)
class Published:
    """Results published by a problem's source, and the runs to reproduce them; see `nonsmooth.studies.published`."""

    arguments: Mapping[str, Any]  #: of the problem, common to all cases
    cases: Mapping[str, Mapping[str, Any]]  #: arguments of each case, by its name
    ideal: Mapping[str, Any]  #: arguments of the ideal twin, with which errors are measured
    #: arguments for ``"rigid"`` and for ``"compliant"`` contact, and for further kinds of runs, such as the setting of
    #: the source, ``"as printed"``
    kinds: Mapping[str, Mapping[str, Any]]
    duration: Callable[..., float]  #: length of the runs [s] by the arguments
    measures: tuple[Measure, ...]
    figures: Mapping[str, Mapping[str, float]]  #: the printed numbers: case, name of the measure, number in its unit
    #: panels of each case: ``(title, unit, of, series)`` with `of` as in `Measure`, and series of
    #: ``(kind, name, label)`` or ``(function, label)``
    panels: tuple[Any, ...] = ()
    facts: tuple[Facts, ...] = ()  #: known numbers, measured first; if there are any, cases are run on request only
    #: stepper and step of each kind, ``{"rigid": (MoreauJean(), 1e-4)}``, if those of the study are not suitable
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: kinds whose verdict is their difference from an accurate run of another kind of the same mechanism,
    #: ``{"MPCC": "rigid"}``, since a run with finer steps takes too long
    beside: Mapping[str, str] = field(default_factory=dict)
    #: what the source says of its cost; and of measures, by name, why a printed number is not reached, or with what
    claim: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


#: types of arguments stored in the file of a run
PLAIN = (bool, int, float, str)


@dataclass(frozen=True, eq=False)
class Problem:
    """A function that returns a `Model`, with data about it; made by the decorator `problem`. It is called like the
    function, with numbers in SI units or strings such as ``"0.5 mm"``."""

    function: "Callable[..., Model]"
    tags: tuple[str, ...]  #: words to search for, such as ``"planar"``, ``"prismatic"``
    source: str  #: the publication
    provenance: Mapping[str, Provenance]  #: of every number in the function, by argument or ``element.parameter``
    panels: tuple[Any, ...] = ()  #: panels of its figures, see `nonsmooth.plots.Panel`
    #: the exact solution as a function of the same arguments, an object with ``sample(t, side)``
    exact: Callable[..., Any] | None = None
    comparison: ComparisonDefaults | None = None  #: what `nonsmooth compare` runs
    published: Published | None = None  #: figures of the source, for `nonsmooth study published`
    step_size: StepSizeDefaults | None = None  #: what `nonsmooth study step-size` runs
    t_end: float | None = None  #: end of a run where none is given [s]: what there is to see has happened
    name: str = field(init=False)
    summary: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.function.__name__.lower().replace("_", "-"))
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))
        object.__setattr__(self, "__doc__", self.function.__doc__)
        if self.exact is not None:
            object.__setattr__(self, "exact", _checked(f"{self.name}.exact", self.exact))
        summary = (inspect.getdoc(self.function) or "").partition("\n")[0]
        if not summary and sys.flags.optimize < 2:  # python -OO drops docstrings
            raise InputError(f"Problem {self.name} has no docstring; its first line says what the mechanism is.")
        object.__setattr__(self, "summary", summary)
        for key, origin in self.provenance.items():
            default = getattr(self.__signature__.parameters.get(key), "default", inspect.Parameter.empty)
            if isinstance(default, (int, float)) and default != origin.value:
                raise InputError(
                    f"Problem {self.name}: {key} = {default!r} by default, but its provenance says {origin.value!r}."
                )

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> "Model":
        _check_call(self.name, self.__signature__, args, kwargs)
        # numbers in SI units for strings such as "0.5 mm", where the origin of the argument states its unit
        bound, accepted = self.__signature__.bind(*args, **kwargs).arguments, self.__signature__.parameters
        for key, value in bound.items():
            number = isinstance(accepted[key].default if key in accepted else None, int | float)
            if isinstance(value, str) and number and (looks_stated(value) or not has_unit(value)):
                like = accepted[key].default
                raise InputError(
                    f"{self.name}: {key} is a number, as {like!r}, or one with its unit, got {shown(value)}; "
                    'a fit is given to the built system: parameters={"pin.clearance": "20 H7/g6"}.'
                )
            if key in self.provenance and has_unit(value) and not looks_stated(value):
                try:
                    bound[key] = in_unit(value, self.provenance[key].unit)
                except Wrong as error:
                    raise InputError(f"{self.name}: {key} {error}.") from None
        model = self.function(**bound)
        if hasattr(model, "build"):  # not a system that a file has built itself
            model.origin = {"problem": self.name, "source": self.source}
            if bound and all(value is None or isinstance(value, PLAIN) for value in bound.values()):
                model.origin["arguments"] = dict(bound)  # arguments from which a saved run recovers its exact solution
        return model

    def __repr__(self) -> str:
        return f"<Problem {self.name}: {self.summary}>"


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _check_call(name, inspect.signature(function), args, kwargs)
        return function(*args, **kwargs)

    return checked


def needed(signature: inspect.Signature) -> list[str]:
    """Names of the arguments that it cannot be called without."""
    return [
        one.name
        for one in signature.parameters.values()
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    ]


def _check_call(name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise InputError for arguments that the signature does not take."""
    accepted = signature.parameters
    if not any(one.kind is one.VAR_KEYWORD for one in accepted.values()):
        for key in kwargs:
            if key not in accepted:
                known = ", ".join(accepted) or "none"
                raise InputError(f"{name} has no argument {key!r}.{hint(key, accepted)} It takes {known}.")
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        missing = [] if args else [one for one in needed(signature) if one not in kwargs]
        if missing:
            words = ", ".join(f"{one}=... (--set {one}=...)" for one in missing)
            raise InputError(f"{name} needs {', '.join(missing)}, without default: give {words}.") from None
        raise InputError(f"{name}: {error}. It takes {signature}.") from None
    for key, value in signature.bind(*args, **kwargs).arguments.items():
        default = accepted[key].default
        if isinstance(value, bool) and isinstance(default, int | float) and not isinstance(default, bool):
            raise InputError(f"{name}: {key} is a number, as {default!r}, got {shown(value)}.")


def problem(
    *, tags: Iterable[str] = (), source: str, parameters: Mapping[str, Provenance], panels: Iterable[Any] = (),
    exact: Callable[..., Any] | None = None, comparison: ComparisonDefaults | None = None,
    published: Published | None = None, step_size: StepSizeDefaults | None = None, t_end: float | None = None,
) -> "Callable[[Callable[..., Model]], Problem]":  # fmt: skip
    """Decorator that makes a `Problem` with these data of a function that returns a `Model`. `parameters` is the origin
    of every number in the function, by argument or ``element.parameter``."""
    return lambda function: Problem(
        function, tuple(tags), source, parameters, tuple(panels), exact, comparison, published, step_size, t_end
    )


def find_problems() -> dict[str, Problem]:
    """Every problem of the installed distributions, by name, in alphabetical order; InputError if two have one name."""
    found: dict[str, Problem] = {}
    for entry in entry_points(group=GROUP):
        for module in _modules(entry.module):
            for item in vars(module).values():
                if not isinstance(item, Problem) or found.get(item.name) is item:
                    continue
                if item.name in found:
                    modules = f"{found[item.name].function.__module__} and {item.function.__module__}"
                    raise InputError(f"Two problems are called {item.name}, in {modules}; rename one.")
                found[item.name] = item
    return dict(sorted(found.items()))


def get_problem(name: str) -> Problem:
    """The problem of that name; underscores may replace hyphens. InputError for an unknown one, with near matches."""
    problems = find_problems()
    key = name.lower().replace("_", "-")
    if key not in problems:
        known = ", ".join(problems) or f"none; no installed distribution has an entry point {GROUP!r}"
        raise InputError(f"There is no problem {shown(name)}.{hint(key, problems)} Known: {known}.")
    return problems[key]


def _modules(name: str) -> Iterator[ModuleType]:
    """The module of that name and, for a package, all its modules; RuntimeWarning for one that cannot be imported."""
    try:
        module = importlib.import_module(name)
    except Exception as error:
        warnings.warn(f"Problems of {name} are left out: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=3)
        return
    yield module
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield from _modules(f"{name}.{found.name}")
