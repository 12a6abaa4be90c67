"""From the options of the command line to a system, a stepper and a step; all input is checked before the first
step."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.files import PythonFile, check_file, is_file, laws_in, python_problem, stated_problem
from nonsmooth.cli.options import Runs
from nonsmooth.cli.values import settings_from, unit_behind, word_value
from nonsmooth.exceptions import InputError, ModelWarning
from nonsmooth.model.kinds import unit_of_argument
from nonsmooth.quantities import Wrong, has_unit, in_own_unit, in_unit
from nonsmooth.settings import kebab, shown

if TYPE_CHECKING:
    from nonsmooth.declarative import Declaration
    from nonsmooth.laws import Kind
    from nonsmooth.model.registry import Problem, Provenance
    from nonsmooth.model.system import System
    from nonsmooth.step.control import StepControl
    from nonsmooth.step.scheme import Stepper


@dataclass(frozen=True)
class Mechanism:
    """The system to be simulated, and its origin."""

    name: str
    system: System
    parameters: Mapping[str, float]
    problem: Problem | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: function that builds it from its arguments, None where it takes none
    make: Callable[..., Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class Request(Runs):
    """The options of one `nonsmooth run`, as given."""

    contact: str | None = None
    law: str | None = None
    friction_law: str | None = None
    accuracy: float | None = None
    check: bool = False
    max_steps: int | None = None
    max_seconds: float | None = None
    record: int | None = None
    usual: str = "gauss-qp"  # default stepper if a step is given
    #: values of what a study varies, for arguments that the mechanism cannot be built without
    examples: Mapping[str, str] = field(default_factory=dict, compare=False)
    declaration: Declaration | None = field(default=None, compare=False)  # settings of a TOML file

    def completed(self, *, endless: bool = False) -> Request:
        """Completed by the [run] table of a TOML file, whose step is replaced as a whole; `endless`: without an end."""
        request = self
        if self.problem.endswith(".toml"):
            from nonsmooth.declarative import read

            request = dataclasses.replace(self, declaration=read(self.problem)).completed_by_file()
        elif is_file(self.problem):
            check_file(Path(self.problem))
        else:
            from nonsmooth.model.registry import get_problem

            ready = get_problem(self.problem)  # a wrong name is reported before missing options
            request = self if self.t_end is not None or endless else dataclasses.replace(self, t_end=ready.t_end)
        if request.t_end is None and not endless:
            raise InputError(
                "No end of the run was given: give --t-end, or t_end in the [run] of a TOML file; "
                "`nonsmooth run --help` shows what is accepted."
            )
        return request

    def completed_by_file(self) -> Request:
        """The options, and for those not given what [run] of the TOML file says."""
        assert self.declaration is not None
        run = self.declaration.run
        changes: dict[str, Any] = {}
        for name in ("t_end", "accuracy", "max_steps", "max_seconds", "record"):
            if getattr(self, name) is None:
                changes[name] = getattr(run, name)
        changes["check"] = self.check or bool(run.check)
        if self.stepper is None and self.contact != "compliant" and not self.law:
            if run.stepper is not None:
                changes["stepper"] = run.stepper.name
                changes["solver"] = self.solver or (None if run.solver is None else run.solver.name)
            elif self.contact is None and any(type(law).__name__ == "Compliant" for law in self.declaration.contacts):
                changes["usual"] = "compliant-dae"
        names = ("dt", "dt_min", "dt_max", "rtol", "atol")
        given = {name for name in names if getattr(self, name) is not None}
        if (self.accuracy is None or self.check) and given not in ({"dt"}, {"dt_min", "dt_max"}, set(names[1:])):
            changes |= {name: getattr(run, name) for name in names[bool(given) :] if name not in given}
        return dataclasses.replace(self, **changes)

    @property
    def end(self) -> float:
        """End of the run [s], which `completed` guarantees."""
        assert self.t_end is not None
        return self.t_end

    def written(self, what: str) -> Path | None:
        """The output, figure or animation that a TOML file names, in the working folder or below."""
        name = getattr(self.declaration.run, what) if self.declaration is not None else None
        if name is not None and not Path(name).resolve().is_relative_to(Path.cwd().resolve()):
            raise InputError(
                f"{self.problem}: [run] {what} = {shown(name)} lies outside of the working folder; name a file within, "
                f"or give --{what}, which may lie anywhere."
            )
        return None if name is None else Path(name)

    def _settings(self, what: str, name: str | None) -> dict[str, Any]:
        """Settings of the stepper or solver in a TOML file, if it is the one that runs."""
        choice = getattr(self.declaration.run, what) if self.declaration is not None else None
        return dict(choice.settings) if choice is not None and choice.name == name else {}

    def step(self) -> StepControl | None:
        """The constant step, `Landing` between bounds, or with tolerances `ErrorControl`; None to have it chosen."""
        from nonsmooth.step.control import ErrorControl, Landing, step_control

        bounds = {"--dt-min": self.dt_min, "--dt-max": self.dt_max}
        tolerances = {"--rtol": self.rtol, "--atol": self.atol}
        if self.rtol is not None or self.atol is not None:
            absent = [name for name, value in (tolerances | bounds).items() if value is None]
            if absent or self.dt is not None:
                what = f"{', '.join(absent)} missing" if absent else "--dt excludes them"
                raise InputError(f"Error control takes --rtol, --atol, --dt-min and --dt-max together: {what}.")
            values = [value for value in (*tolerances.values(), *bounds.values()) if value is not None]
            return ErrorControl(*values)
        given = [name for name, value in bounds.items() if value is not None]
        if self.accuracy is not None and not self.check and (given or self.dt is not None):
            raise InputError(
                f"--accuracy {self.accuracy:g} has the step chosen: leave {given[0] if given else '--dt'} out, or add "
                "--check, which measures the accuracy of steps that are given."
            )
        if self.dt is not None and given:
            raise InputError(
                f"--dt {self.dt:g} and {given[0]} exclude each other: "
                "give --dt for a constant step, or --dt-min and --dt-max for steps that end at impacts."
            )
        if self.dt is not None:
            return step_control(self.dt)
        if not given:
            return None
        if self.dt_min is None or self.dt_max is None:
            missing = next(name for name in bounds if name not in given)
            raise InputError(
                f"{given[0]} came without {missing}: give --dt for a constant step, --dt-min and --dt-max for steps "
                "that end at impacts, or none of them to have the step chosen."
            )
        return Landing(self.dt_min, self.dt_max)

    def scheme(self, *, stepped: bool = False) -> Stepper | None:
        """The stepper with its solver and what ``--set`` changes of both; None if it is to be chosen."""
        from nonsmooth import solvers, steppers

        words = settings_from(self.settings)
        named = self.stepper or self.solver or words.stepper or words.solver
        if not (named or stepped) and self.step() is None:
            return None
        scheme = self.stepper or ("compliant-dae" if self.contact == "compliant" or self.law else self.usual)
        stepper = steppers.by_name(scheme)
        settings = self._settings("stepper", scheme) | words.stepper
        if self.solver is None and not words.solver:
            return configured(stepper, scheme, settings)
        name = self.solver or kebab(stepper.default_solver or stepper.rescuing_solver)
        solver = configured(solvers.by_name(name), name, self._settings("solver", name) | words.solver)
        return configured(stepper, scheme, {"solver": solver, **settings})

    def mechanism(self) -> Mechanism:
        """Build the problem or the file's model, with arguments and parameters from `--case` and `--set`."""
        words = settings_from(self.settings)
        made = self._made(words.arguments, words.parameters)
        elements = {element.name: element for element in made.system.elements}
        for name, value in made.parameters.items():
            owner, _, label = name.partition(".")
            if owner in elements:
                elements[owner].check_stated(label, value)
        made.system.parameter_vector(words.texts)  # whose dimensions are known now
        from nonsmooth.model.review import review_parameters

        for remark in review_parameters(made.system.elements, made.parameters):
            if remark.name not in made.system.silence:
                warnings.warn(f"{made.system.name}: {remark.text}", ModelWarning, stacklevel=2)
        return made

    def _made(self, arguments: dict[str, Any], parameters: dict[str, float]) -> Mechanism:
        if self.case is not None:
            if "case" in arguments:
                raise InputError(f"--case {self.case} and --set case={arguments['case']} exclude each other: give one.")
            arguments["case"] = word_value(self.case)
        path = Path(self.problem)
        if self.problem.endswith(".toml"):
            from nonsmooth.declarative import read

            declaration = self.declaration or read(path)
            problem = stated_problem(declaration, path)
            arguments = self._with_contact(problem, arguments)
            unknown = [name for name in arguments if name != "contact"]
            if unknown:
                raise InputError(
                    f"{path} takes no argument {unknown[0]!r}: set a number of an element by both names, as "
                    "--set pin.clearance=1e-4."
                )
            system = declaration.build(contact=arguments.get("contact"))
            return Mechanism(path.stem, system, parameters, None, arguments)
        if is_file(self.problem):
            if self.contact or self.law or self.friction_law:
                return self._with_law(python_problem(path), path.stem, arguments, parameters)
            make = PythonFile(path)
            arguments = self._with_examples(make, arguments)
            arguments = in_units(make.model, arguments)
            return Mechanism(path.stem, make(**arguments), parameters, None, arguments, make)
        from nonsmooth.model.registry import get_problem

        problem = get_problem(self.problem)
        return self._with_law(problem, problem.name, self._with_examples(problem, arguments), parameters)

    def _with_examples(self, make: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments, and of those that a study varies and that have no default, a value that some run takes."""
        from nonsmooth.model.registry import needed

        absent = [name for name in needed(inspect.signature(make)) if name in self.examples and name not in arguments]
        return settings_from([f"{name}={self.examples[name]}" for name in absent]).arguments | arguments

    def _with_law(
        self, problem: Problem, name: str, arguments: dict[str, Any], parameters: dict[str, float]
    ) -> Mechanism:
        """The mechanism of a problem or a Python file, with the requested contact law."""
        numbers = {field.name for _, law in self._laws().values() for field in dataclasses.fields(law)}
        arguments = in_units(
            lambda **given: problem(**self._with_contact(problem, given)), arguments, problem.provenance,
            but=numbers - inspect.signature(problem).parameters.keys(),
        )  # fmt: skip
        arguments = self._with_contact(problem, arguments)
        for key, value in arguments.items():
            meant = [parameter for parameter in problem.provenance if parameter.endswith(f".{key}")]
            if meant and key not in problem.__signature__.parameters:
                raise InputError(
                    f"{problem.name} has no argument {key!r}: set an element's parameter by both names, as "
                    f"--set {meant[0]}={value}."
                )
        made: Any = problem(**arguments)  # a file may have built it itself
        ready = None if is_file(self.problem) else problem
        system = made.build() if hasattr(made, "build") else made
        return Mechanism(name, system, parameters, ready, arguments, problem)

    def _with_contact(self, problem: Problem, arguments: dict[str, Any]) -> dict[str, Any]:
        """Turn the numbers of a contact law into the `contact` of a problem that takes only that."""
        accepted, kind, law = inspect.signature(problem).parameters, self.contact, self.law or self.friction_law
        if kind not in (None, "rigid", "compliant"):
            raise InputError(f"--contact {kind!r}: the kinds are rigid and compliant.")
        if (kind or law) and "contact" not in accepted:
            raise InputError(f"{problem.name} has no argument contact; its contact law cannot be changed.")
        if kind == "rigid" and law:
            raise InputError("--law and --friction-law are for compliant contact; rigid has restitution and friction.")
        if kind == "compliant" or law:
            return self._compliant(problem, arguments)
        fields = ("restitution", "friction", "impact")
        coefficients = [name for name in fields if name in arguments and name not in accepted]
        if not coefficients or "contact" not in accepted:
            return arguments
        from nonsmooth.laws.rigid import Rigid

        own = accepted["contact"].default
        carried = {name: getattr(own, name) for name in fields} if isinstance(own, Rigid) else {}
        given = carried | {name: arguments[name] for name in coefficients}
        if not {"restitution", "friction"} <= given.keys():
            raise InputError(
                f"{problem.name} has no contact law of its own: give --set restitution=E and --set friction=MU."
            )
        for name, value in given.items():
            if name != "impact" and isinstance(value, (bool, str)) and not has_unit(value):
                raise InputError(f"--set {name}={value}: {name} is a number, got {value!r}.")
        others = {name: value for name, value in arguments.items() if name not in coefficients}
        return others | {"contact": Rigid(**given)}

    def _laws(self) -> dict[Kind, tuple[str, Any]]:
        """Names and classes of the requested compliant laws."""
        from nonsmooth.laws import by_name

        named: dict[Kind, str | None] = {"normal": self.law, "friction": self.friction_law}
        return {kind: (name, by_name(name, kind)) for kind, name in named.items() if name is not None}

    def _compliant(self, problem: Problem, arguments: dict[str, Any]) -> dict[str, Any]:
        """Compliant contact of laws by name, with their numbers taken from the arguments."""
        from nonsmooth import laws
        from nonsmooth.laws.compliant import Compliant
        from nonsmooth.model.registry import needed

        if self.law is None:
            raise InputError(f"Compliant contact needs --law, one of {', '.join(laws.names('normal'))}.")
        accepted, parts, used = inspect.signature(problem).parameters, dict[str, Any](), set[str]()
        for kind, (name, law) in self._laws().items():
            fields = inspect.signature(law)
            required = needed(fields)
            # an argument of the same name goes to the law as well where this cannot do without
            wanted = [key for key in fields.parameters if key in required or key not in accepted]
            given = {key: arguments[key] for key in wanted if key in arguments}
            missing = [key for key in required if key not in given]
            if missing:
                words = " and ".join(f"--set {key}=..." for key in missing)
                raise InputError(f"The law {name} needs {', '.join(missing)}: give {words}.")
            parts[kind] = law(**given)
            used |= given.keys() - accepted.keys()
        others = {key: value for key, value in arguments.items() if key not in used}
        own = accepted["contact"].default
        known = getattr(problem.function, "laws", () if own in (None, inspect.Parameter.empty) else (own,))
        known = laws_in(problem(**others)) if known is None else known
        if self.friction_law is None and any(one.friction for one in known):
            left = "its friction is left out; --friction-law gives compliant contact one, such as ambrosio."
            warnings.warn(f"{problem.name}: {left}", ModelWarning, stacklevel=2)
        return others | {"contact": Compliant(**parts)}


def configured(make: Callable[..., Any], name: str, fields: dict[str, Any]) -> Any:
    """An instance with some fields changed; a field that does not exist is an `InputError`."""
    accepted = [field for field in inspect.signature(make).parameters if field != "solver"]
    unknown = [field for field in fields if field not in (*accepted, "solver")]
    if unknown:
        raise InputError(f"{name} has no setting {unknown[0]!r}; it has {', '.join(accepted) or 'none'}.")
    return make(**fields)


def in_units(
    make: Callable[..., Any], arguments: Mapping[str, Any], origins: Mapping[str, Provenance] | None = None,
    but: Collection[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Arguments with their units as numbers in SI units; a unit must be of the argument's dimension.

    It is stated by the origin of the argument, or is that of what the argument becomes in the mechanism; numbers of
    laws, in `but`, remain as they are.
    """
    from nonsmooth.model.kinds import trace_argument

    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and name not in but}
    units = {name: behind for name, text in texts.items() if (behind := unit_behind(text)) is not None}
    found = {**arguments, **{name: in_unit(texts[name], behind) for name, behind in units.items()}}
    for name in units:
        known = {} if origins is None or name not in origins else {name: origins[name].unit}
        become = known or trace_argument(make, found, name)
        try:
            found[name] = in_unit(texts[name], " or ".join(dict.fromkeys(become.values())) or units[name])
        except Wrong as error:
            whither = "" if known else f": {name} becomes {', '.join(become)}"
            raise InputError(f"--set {name} {error}{whither}.") from None
    return found


def units_of(mechanism: Callable[[], Mechanism]) -> Callable[[str], str | None]:
    """The unit of a parameter or an argument by its name, None where nothing states it."""
    made = functools.cache(mechanism)  # for numbers with a unit alone

    @functools.cache
    def unit(name: str) -> str | None:
        known = made()
        if name in known.system.parameters or known.make is None:
            return known.system.unit_of(name) or None
        default = getattr(inspect.signature(known.make).parameters.get(name), "default", None)
        default = in_own_unit(default) if isinstance(default, str) and has_unit(default) else default
        function = known.make.model if isinstance(known.make, PythonFile) else known.make
        return unit_of_argument(function, {name: default, **known.arguments}, name) or None

    return unit


def varied(request: Request, names: Sequence[str]) -> tuple[Any, dict[str, Any], dict[str, float], str]:
    """A mechanism whose numbers of these names vary, its arguments, its parameters and its name."""
    known = request.mechanism()
    parameters = {key: value for key, value in known.parameters.items() if key not in names}
    made: Any = known.make if known.problem is not None or any("." not in name for name in names) else None
    arguments = {} if made is None else dict(known.arguments)
    return known.system if made is None else made, arguments, parameters, known.name
