"""Studies from the command line: defaults of problems, options, and output."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.files import problem_of
from nonsmooth.cli.inputs import FIGURE_FORMATS, check_dimensions, check_writable, in_units, settings_from
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report_page import check_page, write_study
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_figure
from nonsmooth.stages import stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.laws.compliant import Compliant
    from nonsmooth.model.model import Model
    from nonsmooth.registry import Problem
    from nonsmooth.steppers.compliant import CompliantDae
    from nonsmooth.studies.comparison import Case

__all__ = ["StudyRequest", "carry_out_comparison", "carry_out_rigid_limit", "end_of"]

#: tolerances of the runs as given; dt_min is the window in which rigid impacts count as one
RTOL, ATOL, DT_MIN = 1e-7, 1e-9, 1e-6
#: rows that a run has at least where a problem states no longest step
ROWS = 500
#: compliant law where none is given
LAW = "flores"
#: stiffnesses of the rigid limit where none are given, as powers of ten
DECADES = range(10, 17)


@dataclass(frozen=True)
class StudyRequest:
    """Common options of the studies that compare rigid and compliant contact, as given."""

    problem: str
    case: str | None
    t_end: float | None
    restitution: float | None
    stiffness: tuple[float, ...]
    laws: tuple[str, ...]
    solver: str
    settings: tuple[str, ...]
    rigid: tuple[str, ...] = ()
    dt_max: float | None = None

    def prepared(self) -> Prepared:
        """Checked, and completed by the defaults of the problem."""
        from nonsmooth import solvers
        from nonsmooth.laws.rigid import Rigid
        from nonsmooth.solvers.initial_value import Integrator
        from nonsmooth.steppers.compliant import CompliantDae
        from nonsmooth.studies.schemes import scheme

        problem = problem_of(self.problem)
        words = settings_from(self.settings)
        if words.solver or words.stepper:
            raise InputError("A study chooses its steppers and solvers itself; --set takes arguments and parameters.")
        if "contact" not in inspect.signature(problem).parameters:
            raise InputError(f"{problem.name} has no argument contact, so its contact laws cannot be compared.")
        stated = problem.comparison
        integrator = solvers.by_name(self.solver)()
        if not isinstance(integrator, Integrator):
            raise InputError(f"--solver {self.solver}: compliant cases take an integrator, such as dop853 or radau.")
        own = inspect.signature(problem).parameters["contact"].default
        own_e = own.restitution if isinstance(own, Rigid) and 0.0 < own.restitution < 1.0 else None
        if stated is not None:
            own_e = stated.restitution
        given = {
            "--t-end": self.t_end if self.t_end is not None else stated.t_end if stated else end_of(self.problem),
            "--restitution": self.restitution if self.restitution is not None else own_e,
            "--stiffness": self.stiffness or (stated and stated.stiffness),
        }
        missing = [option for option, value in given.items() if value is None]
        if missing:
            raise InputError(f"{problem.name} states no comparison of its own: give {', '.join(missing)}.")
        arguments: dict[str, Any] = dict(stated.arguments if stated else {})
        if self.case is not None:
            words = settings_from((*self.settings, f"case={self.case}"))
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
            laws=tuple(map(_calibrated_law, self.laws)),
            rigid=tuple(map(scheme, self.rigid)),
            frictionless=isinstance(own, Rigid) and own.friction > 0.0,
            stepper=CompliantDae(solver=integrator),
            target=stated.target if stated else 1e-4,
            dt_max=longest if self.dt_max is None else self.dt_max,
        )


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


def carry_out_comparison(
    request: StudyRequest,
    *,
    target: float | None,
    output: Path | None,
    figure: Path | None,
    page: Path | None = None,
    as_json: bool,
) -> int:
    """Compare, write the requested files, and print the table."""
    _check_paths(output, figure, page)
    prepared = request.prepared()

    from nonsmooth.cli import report
    from nonsmooth.studies.compare import compare

    wanted = prepared.target if target is None else target
    with study_bar() as progress:
        found = compare(prepared.build, prepared.cases(), t_end=prepared.t_end, target=wanted, progress=progress)
    _write(found, output, figure, lambda plots: plots.comparison(found))
    if page is not None:
        shown = report.comparison(found, prepared.name, [])
        write_study(page, prepared.name, shown, lambda plots: plots.comparison(found), found.runs)
    if as_json:
        report.print_object(found.table)
    else:
        written = [path for path in (output, figure, page) if path is not None]
        report.show(*report.comparison(found, prepared.name, written))
    return 0


def carry_out_rigid_limit(
    request: StudyRequest,
    *,
    depth: float | None,
    output: Path | None,
    figure: Path | None,
    page: Path | None = None,
    as_json: bool,
) -> int:
    """Run the stiffnesses, write the requested files, and print the table."""
    _check_paths(output, figure, page)
    prepared = request.prepared()
    stiffness = request.stiffness or tuple(10.0**decade for decade in DECADES)

    from nonsmooth.cli import report
    from nonsmooth.studies.rigid_limit import rigid_limit

    with study_bar() as progress:
        found = rigid_limit(
            prepared.build,
            prepared.rigid_case(),
            prepared.compliant,
            stiffness,
            t_end=prepared.t_end,
            depth=depth,
            stepper=prepared.stepper,
            progress=progress,
        )
    _write(found, output, figure, lambda plots: plots.rigid_limit(found))
    if page is not None:
        shown = report.limit(found, prepared.name, [])
        write_study(page, f"{prepared.name}: towards rigid contact", shown[1:], lambda plots: plots.rigid_limit(found))
    if as_json:
        rows = {row["stiffness"]: row for row in found.rows()}
        report.print_object({"stiffness": rows, "orders": found.orders, "needed": found.needed})
    else:
        written = [path for path in (output, figure, page) if path is not None]
        report.show(*report.limit(found, prepared.name, written))
    return 0


def _check_paths(output: Path | None, figure: Path | None, page: Path | None = None) -> None:
    check_page("--report", page)
    for option, path, suffixes in (("--output", output, (".nc",)), ("--figure", figure, FIGURE_FORMATS)):
        if path is not None:
            check_writable(option, path, suffixes)


def _write(found: Any, output: Path | None, figure: Path | None, draw: Callable[[Any], Figure]) -> None:
    if output is not None:
        found.save(output)
    if figure is None:
        return
    os.environ.setdefault("MPLBACKEND", "agg")
    with stage("drawing", figure.name):
        from nonsmooth import plots

        write_figure(draw(plots), figure)
