"""`nonsmooth report`, and the pages that `--report` of other commands writes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.inputs import check_writable
from nonsmooth.exceptions import InputError
from nonsmooth.stages import stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.trajectory import Trajectory

__all__ = ["carry_out_report", "check_page", "write_study"]

FORMATS = (".html",)


def check_page(option: str, path: Path | None) -> None:
    """Raise InputError unless a page can be written there."""
    if path is not None:
        check_writable(option, path, FORMATS)


def carry_out_report(files: Sequence[Path], *, output: Path | None, title: str, rows: int) -> int:
    """Write the page of runs that were saved; of several, two are shown side by side."""
    output = output or Path(f"{files[0].stem}.html")
    check_page("--output", output)
    from nonsmooth.report import write
    from nonsmooth.trajectory import Trajectory

    runs = {label: Trajectory.load(path) for label, path in _labels(files).items()}
    with stage("drawing", output.name):
        write(runs if len(runs) > 1 else next(iter(runs.values())), output, title=title, rows=rows)
    print(f"{output} ({output.stat().st_size / 1e6:.2g} MB) opens in any browser, without a network.")
    return 0


def _labels(files: Sequence[Path]) -> dict[str, Path]:
    """Names of the files, with their folders where two have one name."""
    stems = [path.stem for path in files]
    labels = [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, files, strict=True)]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice; give each file once.")
    return dict(zip(labels, files, strict=True))


def write_study(
    path: Path,
    title: str,
    shown: Sequence[Any],
    draw: Callable[[Any], Figure] | None = None,
    runs: Mapping[str, Trajectory] | None = None,
) -> None:
    """Write what a study prints, its figure and, where it has kept them, its runs as a page.

    Parameters
    ----------
    shown
        Lines and tables as they are printed.
    draw
        Draws the figure, given `nonsmooth.plots`.
    runs
        By label.
    """
    from nonsmooth.report import Picture, study_page, write
    from nonsmooth.report.page import write_text

    parts: list[Any] = [_part(one) for one in shown]
    with stage("drawing", path.name):
        if draw is not None:
            parts.append(Picture(_svg(draw), f"figure of {title}"[:200]))
        if runs:
            write(runs, path, title=title, more=parts)
        else:
            write_text(study_page(title, parts), path)


def _part(one: Any) -> Any:
    from rich.table import Table as Printed

    from nonsmooth.report import Table

    if not isinstance(one, Printed):
        return str(one)
    columns = [[str(cell) for cell in column.cells] for column in one.columns]
    return Table(tuple(str(column.header) for column in one.columns), tuple(zip(*columns, strict=True)))


def _svg(draw: Callable[[Any], Figure]) -> str:
    os.environ.setdefault("MPLBACKEND", "agg")
    import matplotlib

    from nonsmooth import plots

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "nonsmooth"}):  # the same figure gives the same text
        draw(plots).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
