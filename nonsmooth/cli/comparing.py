"""`nonsmooth compare`, `study rigid-limit` and `study published`: the options of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from nonsmooth.cli.options import CaseName, Command, ProblemWords, RunsEnd, Words, Written, command, names, seconds

__all__ = ["Compare", "Comparing", "Published", "RigidLimit", "comparing", "comparisons"]

comparing = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")
comparisons = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")


@dataclass(frozen=True, kw_only=True)
class Comparing(Command):
    """Mechanism and runs of the studies that compare rigid and compliant contact."""

    problem: Annotated[
        str, names("problem", "PROBLEM|FILE", "A ready problem, a TOML file, or a Python file with `build(contact)`.")
    ]
    case: CaseName = None
    t_end: RunsEnd = None
    restitution: Annotated[
        float | None, typer.Option("--restitution", metavar="E", help="Restitution that all contacts deliver.")
    ] = None
    stiffness: Annotated[
        tuple[float, ...],
        typer.Option("--stiffness", metavar="K", help="Stiffness of a compliant case, in N/m^n; repeatable."),
    ] = ()
    solver: Annotated[
        str | None,
        typer.Option("--solver", help="Integrator of compliant cases; else dop853, and radau where they are stiff."),
    ] = None
    dt_max: Annotated[
        float | None,
        seconds(
            "--dt-max",
            "Longest step of all runs; constant steps are a tenth of it.",
            show_default="of the problem, or 1/500 of the run",
        ),
    ] = None
    settings: Words = ()


@command(comparing, "compare", "studies.carry_out_comparison")
@dataclass(frozen=True, kw_only=True)
class Compare(Comparing, Written):
    """Compare rigid and compliant contact on one problem: motion, forces, impacts, energy, cost at equal error."""

    laws: Annotated[
        tuple[str, ...],
        typer.Option("--law", help="Compliant normal law of the hysteresis family; repeatable.", show_default="flores"),
    ] = ()
    rigid: Annotated[
        tuple[str, ...],
        typer.Option(
            "--rigid",
            metavar="STEPPER[:SOLVER]",
            help="Scheme of rigid contact and its solver, as gauss-mpcc:ipopt-mpcc or gauss-qp:osqp; repeatable.",
            show_default="event-driven, gauss-qp",
        ),
    ] = ()
    target: Annotated[
        float | None, typer.Option("--target", help="Own error at which costs are compared; 0 omits this.")
    ] = None


@command(comparisons, "rigid-limit", "studies.carry_out_rigid_limit")
@dataclass(frozen=True, kw_only=True)
class RigidLimit(Comparing, Written):
    """Compare compliant contact of increasing stiffness with rigid contact: errors, penetration and cost."""

    law: Annotated[str, typer.Option("--law", help="Compliant normal law of the hysteresis family.")] = "flores"
    rigid: Annotated[
        str | None,
        typer.Option(
            "--rigid",
            metavar="STEPPER[:SOLVER]",
            help="Scheme of the rigid run and its solver, as gauss-mpcc:ipopt-mpcc.",
            show_default="event-driven",
        ),
    ] = None
    depth: Annotated[
        float | None, typer.Option("--depth", metavar="M", help="Penetration whose stiffness is computed, in metres.")
    ] = None


@command(comparisons, "published", "published.carry_out_published")
@dataclass(frozen=True, kw_only=True)
class Published(Written):
    """Run the published cases of a problem, rigid and compliant, and compare with the printed numbers."""

    problem: Annotated[str, names("problem", "PROBLEM", "Name of a ready problem, as in `nonsmooth list`.")]
    cases: Annotated[
        tuple[str, ...], typer.Option("--case", help="Published case; repeatable. All where omitted.")
    ] = ()
    settings: ProblemWords = ()
