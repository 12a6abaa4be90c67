"""`nonsmooth compare`, `study rigid-limit` and `study published`: commands and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nonsmooth.cli.words import Quiet, completed, duration, hushed

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
CompliantLaw = Annotated[str, typer.Option("--law", help="Compliant normal law of the hysteresis family.")]
End = Annotated[float | None, typer.Option("--t-end", parser=duration, metavar="TIME", help="End of the runs.")]
IntegratorName = Annotated[str, typer.Option("--solver", help="Integrator of the compliant cases.")]
Words = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Argument of the problem, or element.parameter; repeatable."),
]
Output = Annotated[Path | None, typer.Option("--output", help="Dataset to write (NetCDF, .nc).")]
Drawing = Annotated[Path | None, typer.Option("--figure", help="Figure to write (.png, .pdf, .svg).")]
Page = Annotated[Path | None, typer.Option("--report", help="Page to write (.html).")]
AsJson = Annotated[bool, typer.Option("--json", help="Write a single JSON object to standard output.")]
CaseName = Annotated[str | None, typer.Option("--case", help="Case of the problem.")]
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


@comparing.command()
def compare(
    problem: ProblemName,
    case: CaseName = None,
    t_end: End = None,
    restitution: Restitution = None,
    stiffness: Stiffness = None,
    law: CompliantLaw = "flores",
    solver: IntegratorName = "dop853",
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
    from nonsmooth.cli.studies import StudyRequest, carry_out_comparison

    request = StudyRequest(
        problem, case, t_end, restitution, tuple(stiffness or ()), law, solver, tuple(settings or ())
    )
    with hushed(quiet, as_json):
        return carry_out_comparison(request, target=target, output=output, figure=figure, page=page, as_json=as_json)


@comparisons.command("rigid-limit")
def rigid_limit(
    problem: ProblemName,
    case: CaseName = None,
    t_end: End = None,
    restitution: Restitution = None,
    stiffness: Stiffness = None,
    law: CompliantLaw = "flores",
    solver: IntegratorName = "dop853",
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
    from nonsmooth.cli.studies import StudyRequest, carry_out_rigid_limit

    request = StudyRequest(
        problem, case, t_end, restitution, tuple(stiffness or ()), law, solver, tuple(settings or ())
    )
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
