"""`nonsmooth compare` and `study rigid-limit`: rigid and compliant contact, with the defaults of problems."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.files import problem_of
from nonsmooth.cli.inputs import check_dimensions, in_units, kebab, settings_from
from nonsmooth.cli.options import Comparing, Law, Written
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report import table_of
from nonsmooth.cli.report_page import conclude
from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    from nonsmooth.laws.compliant import Compliant
    from nonsmooth.model.model import Model
    from nonsmooth.registry import Problem
    from nonsmooth.steppers.compliant import CompliantDae
    from nonsmooth.studies.comparison import Case

__all__ = ["compare", "end_of", "rigid_limit"]

#: tolerances of the runs as given; dt_min is the window in which rigid impacts count as one
RTOL, ATOL, DT_MIN = 1e-7, 1e-9, 1e-6
#: rows that a run has at least where a problem states no longest step
ROWS = 500
#: numbers below are round-off for results of the order of one
ROUND_OFF = 1e-15
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


def _prepared(asked: Comparing, laws: Sequence[str], rigid: Sequence[str]) -> Prepared:
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


def compare(
    *, laws: tuple[str, ...] = (), rigid: tuple[str, ...] = (), target: float | None = None, runs: Comparing,
    written: Written,
) -> None:  # fmt: skip
    """Compare rigid and compliant contact on one problem: motion, forces, impacts, energy, cost at equal error.

    Parameters
    ----------
    laws : --law, default: flores
        Compliant normal law of the hysteresis family; repeatable.
    rigid : STEPPER[:SOLVER], default: event-driven, gauss-qp
        Scheme of rigid contact and its solver, as gauss-mpcc:ipopt-mpcc or gauss-qp:osqp; repeatable.
    target
        Own error at which costs are compared; 0 omits this.
    """
    prepared = _prepared(runs, laws or ("flores",), rigid)

    from nonsmooth import studies

    target = prepared.target if target is None else target
    with study_bar() as progress:
        found = studies.compare(
            prepared.build, prepared.cases(), t_end=prepared.t_end, target=target, progress=progress
        )
    rows = [(title, *map(_short, values)) for title, values in found.lines()]
    labels = (label.replace(", ", ",\n") for label in found.labels)
    shown: list[Any] = [table_of(f"{prepared.name}\nto t = {found.edges[-1]:g} s", *labels, rows=rows, whole=True)]
    shown += ["", *found.remarks()] if found.remarks() else []
    conclude(
        written, prepared.name, shown, lambda: found.table, figure=lambda plots: plots.comparison(found),
        save=found.save, runs=found.runs,
    )  # fmt: skip


def rigid_limit(
    *, law: Law = "flores", rigid: str | None = None, runs: Comparing, written: Written, **study: Any
) -> None:
    """Compare compliant contact of increasing stiffness with rigid contact: errors, penetration and cost.

    Parameters
    ----------
    law
        Compliant normal law of the hysteresis family.
    rigid : STEPPER[:SOLVER], default: event-driven
        Scheme of the rigid run and its solver, as gauss-mpcc:ipopt-mpcc.
    depth : M
        Penetration whose stiffness is computed, in metres.
    """
    prepared = _prepared(runs, [law], [] if rigid is None else [rigid])

    from nonsmooth import studies

    stiffness = runs.stiffness or tuple(10.0**decade for decade in DECADES)
    with study_bar() as progress:
        found = studies.rigid_limit(
            prepared.build, prepared.rigid_case(), prepared.compliant, stiffness, t_end=prepared.t_end,
            stepper=prepared.stepper, progress=progress, **study,
        )  # fmt: skip
    names = ("distance", "impulse_error", "penetration", "steps", "evaluations", "own_error", "verdict")
    heads = ("stiffness\n[N/m^n]", "distance\n[-]", "error of the\nfirst impulse [-]", "deepest\noverlap [m]",
             "steps\n[-]", "evaluations\n[-]", "own\nerror [-]", "verdict")  # fmt: skip
    rows = [(f"{row['stiffness']:g}", *(_short(row[name]) for name in names)) for row in found.rows()]
    powers = ", ".join(f"{what} ~ K^-{order:.3f}" for what, order in found.orders.items())
    shown = [table_of(*heads, rows=rows), "", powers, *found.remarks()]
    if found.needed:
        depth, K, reached = (found.needed[name] for name in ("depth", "stiffness", "found"))
        shown.append(f"{depth:g} m deep: K = {K:.4g}, with which a run is {reached:.4g} m deep")
    title = f"{prepared.name}: towards rigid contact"
    conclude(
        written, title, shown,
        lambda: {
            "stiffness": {row["stiffness"]: row for row in found.rows()}, "orders": found.orders,
            "needed": found.needed,
        },
        head=title, figure=lambda plots: plots.rigid_limit(found), save=found.save,
    )  # fmt: skip


def _short(value: float | str) -> str:
    if isinstance(value, int | str):
        return str(value)
    if not math.isfinite(value):
        return "-"
    return f"< {ROUND_OFF:g}" if 0.0 < abs(value) < ROUND_OFF else f"{value:.4g}"
