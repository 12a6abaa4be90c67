"""`nonsmooth study published`: known facts of a problem, and its published cases compared with the printed numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.table import Table

from nonsmooth.cli.inputs import in_units, settings_from
from nonsmooth.cli.progress import study_bar
from nonsmooth.cli.report_page import conclude
from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    from nonsmooth.cli.comparing import Published

__all__ = ["carry_out_published"]


def carry_out_published(asked: Published) -> int:
    """Run, write the requested files, and print the table."""
    words = settings_from(asked.settings)
    if words.solver or words.stepper or words.parameters:
        raise InputError("study published takes arguments of the problem by --set, such as parameters=S1, only.")

    from nonsmooth.registry import get_problem
    from nonsmooth.studies.published import published

    chosen = get_problem(asked.problem)
    if asked.figure is not None and not asked.cases and chosen.published is not None and chosen.published.facts:
        raise InputError("Facts alone are not drawn; name a case by --case, or leave out --figure.")
    with study_bar() as progress:
        arguments = in_units(chosen, words.arguments)
        found = published(chosen, asked.cases or None, progress=progress, **arguments)
    shown: list[Any] = [f"source: {chosen.source}", "", *([_facts(found), ""] if found.facts else [])]
    known = chosen.published.cases if chosen.published is not None else ()
    shown.append(_table(found) if found.table else f"cases that --case runs: {', '.join(known)}")
    shown += ["", *found.remarks()] if found.remarks() else []
    conclude(
        asked, f"{found.problem}: published cases", [found.problem, *shown], lambda: _plain(found),
        draw=(lambda plots: plots.published(found)) if found.table else None, save=found.save,
        runs={f"{case}, {kind}": run for (case, kind), run in found.runs.items()},
    )  # fmt: skip
    return 0


def _plain(found: Any) -> dict[str, Any]:
    cases = {
        case: {kind: {"verdict": found.verdict(case, kind).kind} | dict(numbers) for kind, numbers in kinds.items()}
        | {"published": dict(found.printed[case])}
        for case, kinds in found.table.items()
    }
    return ({"facts": found.facts} if found.facts else {}) | cases


def _facts(found: Any) -> Table:
    table = Table("fact", "unit", "expected", "tolerance", "measured", "", box=None, pad_edge=False)
    for name, fact in found.facts.items():
        numbers = (f"{fact['expected']:g}", f"{fact['tolerance']:.3g}", f"{fact['measured']:.4g}")
        table.add_row(name, fact["unit"], *numbers, "" if fact["agrees"] else "differs")
    return table


def _table(found: Any) -> Table:
    table = Table("case", "measure", "unit", "published", *found.kinds, box=None, pad_edge=False)
    case = None
    for row in found.rows():
        if case not in (None, row["case"]):
            table.add_row()
        if case != row["case"]:
            case = row["case"]
            table.add_row(case, "verdict", "", "", *(found.verdict(case, kind).kind for kind in found.kinds))
        numbers = ["" if math.isnan(row[kind]) else f"{row[kind]:.4g}" for kind in found.kinds]
        printed = "" if row["published"] is None else f"{row['published']:g}"
        table.add_row(case, row["measure"], row["unit"], printed, *numbers)
    return table
