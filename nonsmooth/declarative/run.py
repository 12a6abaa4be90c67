"""The table ``[run]``: defaults for options of `nonsmooth run` that are not given."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

from nonsmooth import solvers, steppers
from nonsmooth.declarative.faults import Source
from nonsmooth.declarative.schema import Accepted, table_of
from nonsmooth.declarative.values import hint, shown
from nonsmooth.exceptions import InputError
from nonsmooth.quantities import Quantity
from nonsmooth.step.control import ErrorControl, Landing, StepControl, step_control

Seconds = Annotated[float | None, Quantity("s", positive=True)]
#: keys that make a step, together
STEPS = (("dt",), ("dt_min", "dt_max"), ("rtol", "atol", "dt_min", "dt_max"))

#: how names of files end
FILES = {
    "output": (".nc",), "figure": (".png", ".pdf", ".svg"), "animation": (".gif", ".mp4"), "report": (".html",),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """A stepper or a solver by name, with the settings that differ from their defaults."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """The settings of a run in a file; None for those that are not in the file.

    Parameters
    ----------
    t_end : [s], > 0
    stepper, solver : by name, with their settings
    dt : [s], constant step
    dt_min, dt_max : [s], landing, or with tolerances error control
    rtol, atol : tolerances
    accuracy : of a step that is chosen, as none is stated; and of the verdict
    check : whether to repeat a run of stated steps with finer ones
    max_steps, max_seconds : [-], [s], budget of each run, and of all that are compared, beyond which it ends as one
        that failed
    record : keep every so many rows of a run of stated steps
    output, figure, animation, report : files to write
    """

    called: ClassVar[str] = "[run]"

    t_end: Seconds = None
    stepper: Annotated[Choice | None, Accepted("a stepper by name, or a table with kind and its settings")] = None
    solver: Annotated[Choice | None, Accepted("a solver by name, or a table with kind and its settings")] = None
    dt: Seconds = None
    dt_min: Seconds = None
    dt_max: Seconds = None
    rtol: Annotated[float | None, Quantity("-", positive=True, at_most=1.0)] = None
    atol: Annotated[float | None, Quantity("-", positive=True)] = None
    accuracy: Annotated[float | None, Quantity("-", positive=True, at_most=1.0)] = None
    check: bool | None = None
    max_steps: int | None = None
    max_seconds: Seconds = None
    record: int | None = None
    output: str | None = None
    figure: str | None = None
    animation: str | None = None
    report: str | None = None

    def step(self) -> StepControl | None:
        """The constant step, `Landing` or `ErrorControl`, None if no step is given.

        >>> Run(dt_min=1e-6, dt_max=1e-3).step()
        Landing(dt_min=1e-06, dt_max=0.001)
        """
        if self.rtol is not None and self.atol is not None and self.dt_min is not None and self.dt_max is not None:
            return ErrorControl(self.rtol, self.atol, self.dt_min, self.dt_max)
        if self.dt_min is not None and self.dt_max is not None:
            return Landing(self.dt_min, self.dt_max)
        return None if self.dt is None else step_control(self.dt)

    def scheme(self) -> Any:
        """The stepper with its solver, None if no stepper is given.

        >>> Run(stepper=Choice("moreau-jean", {"theta": 0.6})).scheme().theta
        0.6
        """
        if self.stepper is None:
            return None
        settings = dict(self.stepper.settings)
        if self.solver is not None:
            settings["solver"] = solvers.by_name(self.solver.name)(**self.solver.settings)
        return steppers.by_name(self.stepper.name)(**settings)


def read_run(source: Source, data: Any, path: tuple[str, ...]) -> Run:
    """The table; errors are added to `source`."""
    if not isinstance(data, Mapping):
        source.fault(path, f"must be a table, as [run], got {shown(data)}")
        return Run()
    found = source.validated(table_of(Run), data, path)
    given = [key for key in ("dt", "rtol", "atol", "dt_min", "dt_max") if key in data]
    misspelt = set(data) - {field.name for field in fields(Run)}  # of which one may be the missing part of the step
    if given and not misspelt and not any(set(given) == set(step) for step in STEPS):
        accepted = "dt alone (constant step), dt_min and dt_max (landing), or these two with rtol and atol"
        source.fault((*path, given[0]), f"{' and '.join(given)} alone define no step; give {accepted}.")
    known = {} if found is None else {key: getattr(found, key) for key in found.model_fields_set}
    choices = (("stepper", steppers.names(), steppers.by_name), ("solver", solvers.names(), solvers.by_name))
    for key, names, by_name in choices:
        if key in data:
            known[key] = _choice(source, data[key], (*path, key), names, by_name)
    for key, suffixes in FILES.items():
        if isinstance(data.get(key), str) and Path(data[key]).suffix.lower() not in suffixes:
            source.fault((*path, key), f"{shown(data[key])} must be a name that ends in {' or '.join(suffixes)}.")
    run = Run(**known)
    try:
        run.step()
    except InputError as error:
        source.fault((*path, "dt_min" if "dt_min" in known else "dt"), str(error))
    if "solver" in data and "stepper" not in data:
        source.fault((*path, "solver"), "stands without a stepper, whose solver it is; add stepper = ...")
    return run


def _choice(source: Source, value: Any, path: tuple[str, ...], names: tuple[str, ...], by_name: Any) -> Choice | None:
    what = path[-1]
    name = value.get("kind") if isinstance(value, Mapping) else value
    if not isinstance(name, str):
        example = f'{what} = "{names[0]}", or {what} = {{ kind = "{names[0]}", ... }}'
        source.fault(path, f"must be a name or a table with kind, got {shown(value)}; write {example}.")
        return None
    if name not in names:
        source.fault(path, f'There is no {what} "{name}".{hint(name, names)} There are {", ".join(names)}.')
        return None
    if not isinstance(value, Mapping):
        return Choice(name)
    make = by_name(name)
    fixed = make.keywords if isinstance(make, functools.partial) else {}
    table = table_of(make.func if fixed else make, name)
    settings = source.validated(table, value, path)
    if settings is None:
        return None
    chosen = {key: getattr(settings, key) for key in settings.model_fields_set - {"kind"}}
    try:
        make(**chosen)
    except InputError as error:
        source.fault((*path, *source.named(error, table)), source.bare(error))
    return Choice(name, chosen)
