"""Studies from the command line: defaults of problems, options, and output."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.files import problem_of
from nonsmooth.cli.inputs import check_dimensions, in_units, settings_from
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report_page import conclude
from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    from nonsmooth.cli.comparing import Compare, Comparing, RigidLimit
    from nonsmooth.laws.compliant import Compliant
    from nonsmooth.model.model import Model
    from nonsmooth.registry import Problem
    from nonsmooth.steppers.compliant import CompliantDae
    from nonsmooth.studies.comparison import Case

__all__ = ["carry_out_comparison", "carry_out_rigid_limit", "end_of"]

#: tolerances of the runs as given; dt_min is the window in which rigid impacts count as one
RTOL, ATOL, DT_MIN = 1e-7, 1e-9, 1e-6
#: rows that a run has at least where a problem states no longest step
ROWS = 500
#: compliant law where none is given
LAW = "flores"
#: stiffnesses of the rigid limit where none are given, as powers of ten
DECADES = range(10, 17)


@dataclass(frozen=True)
class Prepared:
    """A study ready to run."""

    problem: Problem
    arguments: dict[str, Any]
    parameters: dict[str, float]
    t_end: float
    restitution: float
    stiffness: tuple[float, ...]
    laws: tuple[Any, ...]
    rigid: tuple[Any, ...]
    #: whether friction of the mechanism's own law is left out
    frictionless: bool
    stepper: CompliantDae
    target: float
    dt_max: float

    @property
    def name(self) -> str:
        """Of the problem, with its arguments."""
        words = [f"{name}={value}" for name, value in (self.arguments | self.parameters).items()]
        return " ".join([self.problem.name, *words]) + (", without its friction" if self.frictionless else "")

    def build(self, contact: Any) -> Model:
        return self.problem(**self.arguments, contact=contact)

    def compliant(self, stiffness: float, law: Any = None) -> Compliant:
        """A law that delivers the restitution, by default the first."""
        from nonsmooth.laws.compliant import Compliant

        made = self.laws[0] if law is None else law
        return Compliant(made(stiffness=stiffness, restitution=self.restitution, calibrated=True))

    def event_driven(self) -> Case:
        """The reference."""
        from nonsmooth.laws.rigid import Rigid
        from nonsmooth.step_control import ErrorControl
        from nonsmooth.steppers.event_driven import EventDriven
        from nonsmooth.studies.comparison import Case

        contact = Rigid(restitution=self.restitution, friction=0.0)
        control = ErrorControl(RTOL, ATOL, min(DT_MIN, self.dt_max), self.dt_max)
        return Case(
            "rigid, event-driven", contact, EventDriven(), control, self.parameters or None, self._exact(contact)
        )

    def rigid_case(self) -> Case:
        """The rigid run of `rigid_limit`."""
        from nonsmooth.studies.schemes import rigid_cases

        first = self.event_driven()
        return rigid_cases(first, self.rigid)[0] if self.rigid else first

    def cases(self) -> list[Case]:
        """Rigid contact, event-driven and by the schemes requested, and compliant contact of each law and stiffness."""
        from nonsmooth.cli.inputs import kebab
        from nonsmooth.steppers.event_driven import EventDriven
        from nonsmooth.steppers.gauss_qp import GaussQP
        from nonsmooth.studies.comparison import Case
        from nonsmooth.studies.schemes import rigid_cases

        first = self.event_driven()
        others = [one for one in self.rigid if not (isinstance(one, EventDriven) and one == EventDriven())]
        cases = [first, *rigid_cases(first, others)]
        if not self.rigid:
            cases += [replace(one, label="rigid, landing") for one in rigid_cases(first, [GaussQP()])]
        for law in self.laws:
            name = "compliant" if len(self.laws) == 1 else kebab(law.__name__)
            for K in self.stiffness:
                label = f"{name}, K = {K:g}".replace("e+", "e")
                cases.append(Case(label, self.compliant(K, law), self.stepper, first.dt, first.parameters))
        return cases

    def _exact(self, contact: Any) -> Any:
        if self.problem.exact is None or self.parameters:
            return None
        try:
            return self.problem.exact(**self.arguments, contact=contact)
        except InputError:
            return None


def prepared(asked: Comparing, laws: Sequence[str], rigid: Sequence[str]) -> Prepared:
    """What the options describe, checked, and completed by the defaults of the problem."""
    from nonsmooth import solvers
    from nonsmooth.laws.rigid import Rigid
    from nonsmooth.solvers.initial_value import Integrator
    from nonsmooth.steppers.compliant import CompliantDae
    from nonsmooth.studies.schemes import scheme

    problem = problem_of(asked.problem)
    words = settings_from(asked.settings)
    if words.solver or words.stepper:
        raise InputError("A study chooses its steppers and solvers itself; --set takes arguments and parameters.")
    if "contact" not in inspect.signature(problem).parameters:
        raise InputError(f"{problem.name} has no argument contact, so its contact laws cannot be compared.")
    stated = problem.comparison
    integrator = None if asked.solver is None else solvers.by_name(asked.solver)()
    if not isinstance(integrator, Integrator | None):
        raise InputError(f"--solver {asked.solver}: compliant cases take an integrator, such as dop853 or radau.")
    own = inspect.signature(problem).parameters["contact"].default
    own_e = own.restitution if isinstance(own, Rigid) and 0.0 < own.restitution < 1.0 else None
    if stated is not None:
        own_e = stated.restitution
    given = {
        "--t-end": asked.t_end if asked.t_end is not None else stated.t_end if stated else end_of(asked.problem),
        "--restitution": asked.restitution if asked.restitution is not None else own_e,
        "--stiffness": asked.stiffness or (stated and stated.stiffness),
    }
    missing = [option for option, value in given.items() if value is None]
    if missing:
        raise InputError(f"{problem.name} states no comparison of its own: give {', '.join(missing)}.")
    arguments: dict[str, Any] = dict(stated.arguments if stated else {})
    if asked.case is not None:
        words = settings_from((*asked.settings, f"case={asked.case}"))
    arguments |= in_units(problem, words.arguments)
    restitution = float(given["--restitution"])  # type: ignore[arg-type]
    if not 0.0 < restitution < 1.0:
        raise InputError(f"--restitution {restitution:g}: give a value between 0 and 1, both excluded.")
    contact = Rigid(restitution=restitution, friction=0.0)
    check_dimensions(lambda: problem(**arguments, contact=contact), words.texts)
    stiffness = tuple(given["--stiffness"])  # type: ignore[arg-type]
    longest = stated.dt_max if stated else float(given["--t-end"]) / ROWS  # type: ignore[arg-type]
    return Prepared(
        problem=problem,
        arguments=arguments,
        parameters=words.parameters,
        t_end=float(given["--t-end"]),  # type: ignore[arg-type]
        restitution=restitution,
        stiffness=stiffness,
        laws=tuple(map(_calibrated_law, laws)),
        rigid=tuple(map(scheme, rigid)),
        frictionless=isinstance(own, Rigid) and own.friction > 0.0,
        stepper=CompliantDae(solver=integrator),
        target=stated.target if stated else 1e-4,
        dt_max=longest if asked.dt_max is None else asked.dt_max,
    )


def end_of(problem: str) -> float | None:
    """End of the run of a TOML file [s], if it states one."""
    if not problem.endswith(".toml"):
        return None
    from nonsmooth.declarative import read

    return read(problem).run.t_end


def _calibrated_law(name: str) -> Any:
    """The class of a hysteresis law that delivers a given restitution."""
    from nonsmooth import laws
    from nonsmooth.laws.normal.hysteresis import HysteresisLaw

    law = laws.by_name(name, "normal")
    if not issubclass(law, HysteresisLaw):
        known = [one for one in laws.names("normal") if issubclass(laws.by_name(one, "normal"), HysteresisLaw)]
        raise InputError(
            f"--law {name}: a study at equal delivered restitution takes {', '.join(known)}; "
            "for other laws use nonsmooth.studies.compare."
        )
    if "calibrated" not in {field.name for field in fields(law)}:
        raise InputError(f"--law {name} cannot be calibrated to a restitution.")
    return law


def carry_out_comparison(asked: Compare) -> int:
    """Compare, write the requested files, and print the table."""
    study = prepared(asked, asked.laws or (LAW,), asked.rigid)

    from nonsmooth.cli import report
    from nonsmooth.studies.compare import compare

    target = study.target if asked.target is None else asked.target
    with study_bar() as progress:
        found = compare(study.build, study.cases(), t_end=study.t_end, target=target, progress=progress)
    conclude(
        asked, study.name, report.comparison(found, study.name), lambda: found.table,
        draw=lambda plots: plots.comparison(found), save=found.save, runs=found.runs,
    )  # fmt: skip
    return 0


def carry_out_rigid_limit(asked: RigidLimit) -> int:
    """Run the stiffnesses, write the requested files, and print the table."""
    study = prepared(asked, [asked.law], [] if asked.rigid is None else [asked.rigid])

    from nonsmooth.cli import report
    from nonsmooth.studies.rigid_limit import rigid_limit

    with study_bar() as progress:
        found = rigid_limit(
            study.build, study.rigid_case(), study.compliant,
            asked.stiffness or tuple(10.0**decade for decade in DECADES), t_end=study.t_end, depth=asked.depth,
            stepper=study.stepper, progress=progress,
        )  # fmt: skip

    def plain() -> dict[str, Any]:
        rows = {row["stiffness"]: row for row in found.rows()}
        return {"stiffness": rows, "orders": found.orders, "needed": found.needed}

    title = f"{study.name}: towards rigid contact"
    conclude(
        asked, title, report.limit(found), plain, head=title, draw=lambda plots: plots.rigid_limit(found),
        save=found.save,
    )  # fmt: skip
    return 0
