"""`nonsmooth report`, and the pages that `--report` of other commands writes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.cli.inputs import PAGE_FORMATS, check_writable
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_figure
from nonsmooth.stages import stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.cli.options import Written
    from nonsmooth.trajectory import Trajectory

__all__ = ["carry_out_report", "conclude"]


def carry_out_report(files: Sequence[Path], *, output: Path | None, title: str, rows: int) -> int:
    """Write the page of runs that were saved; of several, two are shown side by side."""
    output = output or Path(f"{files[0].stem}.html")
    check_writable("--output", output, PAGE_FORMATS)
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


def conclude(
    asked: Written,
    title: str,
    shown: Sequence[Any],
    plain: Callable[[], Mapping[str, Any]],
    *,
    head: str = "",
    draw: Callable[[Any], Figure] | None = None,
    save: Callable[[Path], None] | None = None,
    runs: Mapping[str, Trajectory] | None = None,
) -> None:
    """Write the requested files of a study, and print its tables, or the object that ``--json`` asks for.

    Parameters
    ----------
    title
        Of the page.
    shown
        Lines and tables.
    plain
        The object.
    head
        Line above what is shown.
    draw
        Draws the figure, given `nonsmooth.plots`; None where there is nothing to draw.
    save
        Writes the dataset; None where the study has written it.
    runs
        For the page, by label, where the study has kept them.
    """
    from nonsmooth.cli.report import print_object, show

    written = [asked.output, asked.figure if draw is not None else None, asked.page]
    if asked.output is not None and save is not None:
        save(asked.output)
    if asked.figure is not None and draw is not None:
        os.environ.setdefault("MPLBACKEND", "agg")
        with stage("drawing", asked.figure.name):
            from nonsmooth import plots

            write_figure(draw(plots), asked.figure)
    if asked.page is not None:
        told = [one for one in (head, *shown) if not (isinstance(one, str) and one in ("", title))]
        _write_page(asked.page, title, told, draw, runs)
    if asked.as_json:
        print_object(plain())
    else:
        show(*([head, ""] if head else []), *shown, *[f"written  {path}" for path in written if path is not None])


def _write_page(
    path: Path,
    title: str,
    shown: Sequence[Any],
    draw: Callable[[Any], Figure] | None,
    runs: Mapping[str, Trajectory] | None,
) -> None:
    """What a study prints, its figure and, where it has kept them, its runs as a page."""
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
