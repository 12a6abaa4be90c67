"""`nonsmooth compare`, `study rigid-limit` and `study published`: commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth.cli.options import AsJson, CaseName, Drawing, Output, Page, RunsEnd, Words
from nonsmooth.cli.words import Quiet, completed, duration, hushed

if TYPE_CHECKING:
    from nonsmooth.cli.studies import StudyRequest

__all__ = ["comparing", "comparisons"]

comparing = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")
comparisons = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="markdown")

Stiffness = Annotated[
    list[float] | None,
    typer.Option("--stiffness", metavar="K", help="Stiffness of a compliant case, in N/m^n; repeatable."),
]
Restitution = Annotated[
    float | None, typer.Option("--restitution", metavar="E", help="Restitution that all contacts deliver.")
]
CompliantLaws = Annotated[
    list[str] | None,
    typer.Option("--law", help="Compliant normal law of the hysteresis family; repeatable.", show_default="flores"),
]
CompliantLaw = Annotated[str, typer.Option("--law", help="Compliant normal law of the hysteresis family.")]
RigidSchemes = Annotated[
    list[str] | None,
    typer.Option(
        "--rigid",
        metavar="STEPPER[:SOLVER]",
        help="Scheme of rigid contact and its solver, as gauss-mpcc:ipopt-mpcc or gauss-qp:osqp; repeatable.",
        show_default="event-driven, gauss-qp",
    ),
]
RigidScheme = Annotated[
    str | None,
    typer.Option(
        "--rigid",
        metavar="STEPPER[:SOLVER]",
        help="Scheme of the rigid run and its solver, as gauss-mpcc:ipopt-mpcc.",
        show_default="event-driven",
    ),
]
LongestStep = Annotated[
    float | None,
    typer.Option(
        "--dt-max",
        parser=duration,
        metavar="TIME",
        help="Longest step of all runs; constant steps are a tenth of it.",
        show_default="of the problem, or 1/500 of the run",
    ),
]
IntegratorName = Annotated[str, typer.Option("--solver", help="Integrator of the compliant cases.")]
ProblemName = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM|FILE",
        help="A ready problem, a TOML file, or a Python file with `build(contact)`.",
        autocompletion=completed("problem"),
    ),
]
Ready = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="Name of a ready problem, as in `nonsmooth list`.",
        autocompletion=completed("problem"),
    ),
]


def _request(
    problem: str,
    case: str | None,
    t_end: float | None,
    restitution: float | None,
    stiffness: list[float] | None,
    laws: list[str] | None,
    solver: str,
    settings: list[str] | None,
    rigid: list[str] | None,
    dt_max: float | None,
) -> StudyRequest:
    from nonsmooth.cli.studies import LAW, StudyRequest

    return StudyRequest(
        problem, case, t_end, restitution, tuple(stiffness or ()), tuple(laws or (LAW,)), solver, tuple(settings or ()),
        tuple(rigid or ()), dt_max,
    )  # fmt: skip


@comparing.command()
def compare(
    problem: ProblemName,
    case: CaseName = None,
    t_end: RunsEnd = None,
    restitution: Restitution = None,
    stiffness: Stiffness = None,
    law: CompliantLaws = None,
    solver: IntegratorName = "dop853",
    rigid: RigidSchemes = None,
    dt_max: LongestStep = None,
    target: Annotated[
        float | None, typer.Option("--target", help="Own error at which costs are compared; 0 omits this.")
    ] = None,
    settings: Words = None,
    output: Output = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Compare rigid and compliant contact on one problem: motion, forces, impacts, energy, cost at equal error."""
    from nonsmooth.cli.studies import carry_out_comparison

    request = _request(problem, case, t_end, restitution, stiffness, law, solver, settings, rigid, dt_max)
    with hushed(quiet, as_json):
        return carry_out_comparison(request, target=target, output=output, figure=figure, page=page, as_json=as_json)


@comparisons.command("rigid-limit")
def rigid_limit(
    problem: ProblemName,
    case: CaseName = None,
    t_end: RunsEnd = None,
    restitution: Restitution = None,
    stiffness: Stiffness = None,
    law: CompliantLaw = "flores",
    solver: IntegratorName = "dop853",
    rigid: RigidScheme = None,
    dt_max: LongestStep = None,
    depth: Annotated[
        float | None, typer.Option("--depth", metavar="M", help="Penetration whose stiffness is computed, in metres.")
    ] = None,
    settings: Words = None,
    output: Output = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Compare compliant contact of increasing stiffness with rigid contact: errors, penetration and cost."""
    from nonsmooth.cli.studies import carry_out_rigid_limit

    schemes = None if rigid is None else [rigid]
    request = _request(problem, case, t_end, restitution, stiffness, [law], solver, settings, schemes, dt_max)
    with hushed(quiet, as_json):
        return carry_out_rigid_limit(request, depth=depth, output=output, figure=figure, page=page, as_json=as_json)


@comparisons.command("published")
def published(
    problem: Ready,
    cases: Annotated[
        list[str] | None, typer.Option("--case", help="Published case; repeatable. All where omitted.")
    ] = None,
    settings: Words = None,
    output: Output = None,
    figure: Drawing = None,
    page: Page = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Run the published cases of a problem, rigid and compliant, and compare with the printed numbers."""
    from nonsmooth.cli.published import carry_out_published

    with hushed(quiet, as_json):
        return carry_out_published(
            problem, tuple(cases or ()), tuple(settings or ()), output=output, figure=figure, page=page, as_json=as_json
        )
