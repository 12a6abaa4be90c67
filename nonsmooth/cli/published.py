"""`nonsmooth study published`: known facts of a problem, and its published cases compared with the printed numbers."""

from typing import Any

from nonsmooth import studies
from nonsmooth.cli.inputs import in_units
from nonsmooth.cli.options import Problem, Written
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.cli.values import settings_from
from nonsmooth.exceptions import InputError
from nonsmooth.model.registry import get_problem


def published(
    problem: Problem, *, cases: tuple[str, ...] = (), settings: tuple[str, ...] = (), written: Written
) -> None:
    """Run the published cases of a problem, rigid and compliant, and compare with the printed numbers.

    Parameters
    ----------
    problem : PROBLEM
        Name of a ready problem, as in `nonsmooth list`.
    cases : --case
        Published case; repeatable. All where omitted.
    settings : --set NAME=VALUE
        Argument of the problem, such as parameters=S1; repeatable.
    """
    words = settings_from(settings)
    if words.solver or words.stepper or words.parameters:
        raise InputError("study published takes arguments of the problem by --set, such as parameters=S1, only.")

    chosen = get_problem(problem)
    if written.figure is not None and not cases and chosen.published is not None and chosen.published.facts:
        raise InputError("Facts alone are not drawn; name a case by --case, or leave out --figure.")
    with study_bar() as progress:
        found = studies.published(
            chosen, cases or None, progress=progress, **in_units(chosen, words.arguments, chosen.provenance)
        )
    shown: list[Any] = [f"source: {chosen.source}", ""]
    if found.facts:
        rows = [
            (name, fact["unit"], f"{fact['expected']:g}", f"{fact['tolerance']:.3g}", f"{fact['measured']:.4g}",
             "" if fact["agrees"] else "differs")
            for name, fact in found.facts.items()
        ]  # fmt: skip
        shown += [table_of("fact", "unit", "expected", "tolerance", "measured", "", rows=rows), ""]
    if found.table:
        table = table_of("case", "measure", "unit", "published", *found.kinds)
        for cells in found.cells():
            if table.row_count and cells[1] == "verdict":
                table.add_row()
            table.add_row(*cells)
        shown.append(table)
    else:
        known = chosen.published.cases if chosen.published is not None else ()
        shown.append(f"cases that --case runs: {', '.join(known)}")
    shown += ["", *found.remarks()] if found.remarks() else []
    conclude(
        written, f"{found.problem}: published cases", [found.problem, *shown], lambda: _plain(found),
        figure=(lambda plots: plots.published(found)) if found.table else None, save=found.save,
        runs={f"{case}, {kind}": run for (case, kind), run in found.runs.items()},
    )  # fmt: skip


def _plain(found: Any) -> dict[str, Any]:
    cases = {
        case: {kind: {"verdict": found.verdict(case, kind).kind} | dict(numbers) for kind, numbers in kinds.items()}
        | {"published": dict(found.printed[case])}
        for case, kinds in found.table.items()
    }
    return ({"facts": found.facts} if found.facts else {}) | cases
