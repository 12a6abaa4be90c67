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

__all__ = ["StudyRequest", "carry_out_comparison", "carry_out_rigid_limit"]

#: tolerances of the runs as given; dt_min is the window in which rigid impacts count as one
RTOL, ATOL, DT_MIN = 1e-7, 1e-9, 1e-6
#: rows that a run has at least where a problem states no longest step
ROWS = 50
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
    law: str
    solver: str
    settings: tuple[str, ...]

    def prepared(self) -> Prepared:
        """Checked, and completed by the defaults of the problem."""
        from nonsmooth import laws, solvers
        from nonsmooth.laws.normal.hysteresis import HysteresisLaw
        from nonsmooth.laws.rigid import Rigid
        from nonsmooth.solvers.initial_value import Integrator
        from nonsmooth.steppers.compliant import CompliantDae

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
        law = laws.by_name(self.law, "normal")
        if not issubclass(law, HysteresisLaw):
            known = [name for name in laws.names("normal") if issubclass(laws.by_name(name, "normal"), HysteresisLaw)]
            raise InputError(
                f"--law {self.law}: a study at equal delivered restitution takes {', '.join(known)}; "
                "for other laws use nonsmooth.studies.compare."
            )
        if "calibrated" not in {field.name for field in fields(law)}:
            raise InputError(f"--law {self.law} cannot be calibrated to a restitution.")
        given = {
            "--t-end": self.t_end if self.t_end is not None else stated and stated.t_end,
            "--restitution": self.restitution if self.restitution is not None else _own_restitution(problem),
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
        return Prepared(
            problem=problem,
            arguments=arguments,
            parameters=words.parameters,
            t_end=float(given["--t-end"]),  # type: ignore[arg-type]
            restitution=restitution,
            stiffness=stiffness,
            law=law,
            stepper=CompliantDae(solver=integrator),
            target=stated.target if stated else 1e-4,
            dt_max=stated.dt_max if stated else float(given["--t-end"]) / ROWS,  # type: ignore[arg-type]
        )


def _own_restitution(problem: Problem) -> float | None:
    """What the problem states for comparisons, or that of the rigid contact which it has by default."""
    from nonsmooth.laws.rigid import Rigid

    if problem.comparison is not None:
        return problem.comparison.restitution
    own = inspect.signature(problem).parameters["contact"].default
    return own.restitution if isinstance(own, Rigid) and 0.0 < own.restitution < 1.0 else None


@dataclass(frozen=True)
class Prepared:
    """A study ready to run."""

    problem: Problem
    arguments: dict[str, Any]
    parameters: dict[str, float]
    t_end: float
    restitution: float
    stiffness: tuple[float, ...]
    law: Any
    stepper: CompliantDae
    target: float
    dt_max: float

    @property
    def name(self) -> str:
        """Of the problem, with its arguments."""
        words = [f"{name}={value}" for name, value in (self.arguments | self.parameters).items()]
        return " ".join([self.problem.name, *words])

    def build(self, contact: Any) -> Model:
        return self.problem(**self.arguments, contact=contact)

    def compliant(self, stiffness: float) -> Compliant:
        """The law that delivers the restitution."""
        from nonsmooth.laws.compliant import Compliant

        return Compliant(self.law(stiffness=stiffness, restitution=self.restitution, calibrated=True))

    def rigid_case(self) -> Case:
        from nonsmooth.laws.rigid import Rigid
        from nonsmooth.step_control import ErrorControl
        from nonsmooth.steppers.event_driven import EventDriven
        from nonsmooth.studies.comparison import Case

        contact = Rigid(restitution=self.restitution, friction=0.0)
        control = ErrorControl(RTOL, ATOL, min(DT_MIN, self.dt_max), self.dt_max)
        return Case(
            "rigid, event-driven", contact, EventDriven(), control, self.parameters or None, self._exact(contact)
        )

    def cases(self) -> list[Case]:
        """Rigid contact by two steppers, and compliant contact of each stiffness."""
        from nonsmooth.step_control import ErrorControl, Landing
        from nonsmooth.steppers.gauss_qp import GaussQP
        from nonsmooth.studies.comparison import Case

        rigid = self.rigid_case()
        control = rigid.dt
        assert isinstance(control, ErrorControl)
        landing = Landing(control.dt_min, control.dt_max)
        cases = [rigid, replace(rigid, label="rigid, landing", stepper=GaussQP(), dt=landing)]
        for K in self.stiffness:
            label = f"compliant, K = {K:g}".replace("e+", "e")
            cases.append(Case(label, self.compliant(K), self.stepper, control, rigid.parameters))
        return cases

    def _exact(self, contact: Any) -> Any:
        if self.problem.exact is None or self.parameters:
            return None
        try:
            return self.problem.exact(**self.arguments, contact=contact)
        except InputError:
            return None


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
