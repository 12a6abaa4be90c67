"""`nonsmooth report`, and the pages that `--report` of other commands writes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table as Printed

from nonsmooth.cli.files import PAGE_FORMATS, check_writable
from nonsmooth.cli.options import Shown
from nonsmooth.cli.report import print_object, show
from nonsmooth.exceptions import InputError
from nonsmooth.files import write_figure
from nonsmooth.progress import stage
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(runs: tuple[Path, ...], *, output: Path | None = None, title: str = "", rows: int = 20_000) -> None:
    """Write a run as one HTML page: mechanism in motion, charts, contact modes, impacts, certificate.

    Parameters
    ----------
    runs : RUN.nc...
        Trajectories written by `nonsmooth run --output`.
    output : default: the first file's name in the working folder
        Page to write (.html).
    title : default: name of the mechanism
        Heading.
    rows
        Rows of each run above which rows are omitted; all impacts stay.
    """
    output = output or Path(f"{runs[0].stem}.html")
    check_writable("--output", output, PAGE_FORMATS)
    from nonsmooth.report import write

    loaded = {label: Trajectory.load(path) for label, path in _labels(runs).items()}
    with stage("drawing", output.name):
        write(loaded if len(loaded) > 1 else next(iter(loaded.values())), output, title=title, rows=rows)
    print(f"{output} ({output.stat().st_size / 1e6:.2g} MB) opens in any browser, without a network.")


def _labels(files: Sequence[Path]) -> dict[str, Path]:
    """Names of the files, with their folders where two have one name."""
    stems = [path.stem for path in files]
    labels = [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, files, strict=True)]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice; give each file once.")
    return dict(zip(labels, files, strict=True))


def draw(path: Path, function: Callable[[Any], Figure]) -> None:
    """Write a figure that the function draws, given `nonsmooth.plots`."""
    with stage("drawing", path.name):
        from nonsmooth import plots

        write_figure(function(plots), path)


def conclude(
    written: Shown,
    title: str,
    shown: Sequence[Any],
    plain: Callable[[], Mapping[str, Any]],
    *,
    head: str = "",
    figure: Callable[[Any], Figure] | None = None,
    save: Callable[[Path], None] | None = None,
    runs: Mapping[str, Trajectory] | None = None,
    files: Sequence[Path | None] = (),
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
    figure
        Draws the figure, given `nonsmooth.plots`; None where there is nothing to draw.
    save
        Writes the dataset; None where the study has written it.
    runs
        For the page, by label, where the study has kept them.
    files
        Others that were written.
    """
    files = [*files, written.output, written.figure if figure is not None else None, written.page]
    if written.output is not None and save is not None:
        save(written.output)
    if written.figure is not None and figure is not None:
        draw(written.figure, figure)
    if written.page is not None:
        from nonsmooth.report import Picture, study_page, write
        from nonsmooth.report.page import write_text

        told = [one for one in (head, *shown) if not (isinstance(one, str) and one in ("", title))]
        parts: list[Any] = [_part(one) for one in told]
        with stage("drawing", written.page.name):
            if figure is not None:
                parts.append(Picture(_svg(figure), f"figure of {title}"[:200]))
            if runs:
                write(runs, written.page, title=title, more=parts)
            else:
                write_text(study_page(title, parts), written.page)
    if written.as_json:
        print_object(plain())
    else:
        show(*([head, ""] if head else []), *shown, *[f"written  {path}" for path in files if path is not None])


def _part(one: Any) -> Any:
    from nonsmooth.report import Table

    if not isinstance(one, Printed):
        return str(one)
    columns = [[str(cell) for cell in column.cells] for column in one.columns]
    return Table(tuple(str(column.header) for column in one.columns), tuple(zip(*columns, strict=True)))


def _svg(figure: Callable[[Any], Figure]) -> str:
    import matplotlib

    from nonsmooth import plots

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "nonsmooth"}):  # the same figure gives the same text
        figure(plots).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
