"""Figures of a run composed by words: sketch, orbits of journals, contact modes, and quantities over time."""

from __future__ import annotations

import functools
import io
import itertools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nonsmooth.diagnostics.modes import mode_timeline
from nonsmooth.diagnostics.motion import window_of
from nonsmooth.exceptions import InputError
from nonsmooth.plots.analyses import draw_table, fit_columns, mode_bars, phase_portrait
from nonsmooth.plots.drawing import Drawing, drawing_of_run
from nonsmooth.plots.motion import NARROW, column_count, draw_panels, energy_panels, panels_height
from nonsmooth.plots.orbits import loose_bearings, orbit, orbit_names
from nonsmooth.plots.pages import drawn, fill, write_on
from nonsmooth.plots.panel import AnyPanel, Exact, Measured, Panel, as_panel, chosen_panels, panel_of, read_measured
from nonsmooth.plots.scene import Scene
from nonsmooth.plots.style import legend, new_figure
from nonsmooth.settings import checked, shown
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = {"single": 90.0, "double": 190.0}  # widths of a journal's columns [mm]
INCH = 25.4
TALL, FINE = 2.7, 400  # height of a row with drawings [inch], dots per inch of those that are pictures
#: words in addition to quantities, with their drawings
WORDS = {
    "overview": "sketch, orbits, motion, forces and gaps; the same as no word",
    "sketch": "the mechanism at the start of the run",
    "orbit:JOINT": "path of a journal or a ball in its clearance",
    "phase:NAME": "a coordinate or gap and its velocity",
    "modes": "contact modes over time; modes:NAME for one contact or slider",
    "impacts": "table of the largest impacts",
    "energy": "energies, work, losses and the remainder of the energy balance",
}


class Cell(NamedTuple):
    """A drawing that is not over the common time: its kind and the name behind the colon."""

    kind: str
    name: str


@checked
def figure(
    trajectory: Trajectory, *what: str | AnyPanel, width: str | float | None = None,
    measured: Measured | str | os.PathLike[str] | None = None, exact: Exact | None = None,
    window: tuple[float, float] | None = None,
) -> Figure:  # fmt: skip
    """Draw the requested panels in the order in which they are given.

    InputError for an unknown word, with similar names.

    Parameters
    ----------
    trajectory : the run, or one that was loaded
    what : str or Panel
        Names of quantities, ``"slider.x"``; with their kind if several have the name, ``"v:slider.x"``,
        ``"lam_N:pin"``; several in one panel with commas between; all of a body or an element by its name alone,
        ``"gap:guide"``; a unit in brackets behind, ``"slider.x [mm]"``. Or ``"sketch"``, ``"orbit:pin"``,
        ``"phase:slider.x"``, ``"modes"``, ``"impacts"``, ``"energy"``, ``"overview"``. Without any, the overview.
    width : "single", "double" or a number [mm]
        Width of the figure; type has the same size in all widths, so that it fits a journal as it is.
    measured
        Measured data drawn over the run, or the name of a CSV file for `read_measured`; quantities without a panel get
        one.
    exact : the exact solution, see `panels`
    window : (from, to) [s], optional, part of the run that panels over time and orbits show

    >>> from nonsmooth import GaussQP, Landing, simulate
    >>> from nonsmooth_problems import slider_rod
    >>> run = simulate(slider_rod(case=2).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-4))
    >>> drawn = figure(run, "slider.y [um]", "lam_N:guide", width="single")
    >>> [axis.get_ylabel() for axis in drawn.axes]
    ['position [µm]', 'contact force [N]']
    """
    span = None if window is None else window_of(trajectory, window)
    data = read_measured(measured, trajectory) if isinstance(measured, (str, os.PathLike)) else measured
    cells: list[Panel | Cell] = []
    for one in what or ("overview",):
        cells += _cells(trajectory, one) if isinstance(one, str) else [as_panel(one)]
    if data is not None:
        panels = [cell for cell in cells if isinstance(cell, Panel)]
        # a line is (column, name, label), one of a function (function, label)
        there = {tuple(one[:2]) for panel in panels for one in panel.series if len(one) == 3}
        cells += [panel_of(trajectory, ":".join(one)) for one in data.columns if one not in there]
    inches = None
    if width is not None:
        try:
            value = WIDTHS[width] if isinstance(width, str) and width in WIDTHS else float(width)
        except (TypeError, ValueError):
            value = np.nan
        if not 50.0 <= value <= 1000.0:
            known = "single (90 mm), double (190 mm) or a number of millimetres from 50 to 1000"
            raise InputError(f"The width of a figure is {known}, got {shown(width)}.")
        inches = value / INCH
    return _composed(trajectory, cells, inches, data, exact, span)


def _cells(trajectory: Trajectory, word: str) -> list[Panel | Cell]:
    kind, _, name = word.strip().partition(":")
    if kind == "overview":
        spatial = trajectory.P_T.array.ndim == 3
        sketch = [Cell("sketch", "")] if trajectory.manifest.get("model", {}).get("elements") else []
        orbits = [] if spatial else [Cell("orbit", joint) for joint in loose_bearings(trajectory)[:2]]
        return [*sketch, *orbits, *chosen_panels(trajectory)]
    if kind == "energy" and not name:
        return list(energy_panels(trajectory))
    if kind == "orbit":
        paths = orbit_names(trajectory)
        names = [one for joint in paths for one in paths[joint]] if not name else paths.get(name, [name])
        return [Cell("orbit", one) for one in names or [""]]
    if kind in ("sketch", "phase", "modes", "impacts"):
        return [Cell(kind, name)]
    return [panel_of(trajectory, word)]


def _composed(
    trajectory: Trajectory, cells: Sequence[Panel | Cell], width: float | None, data: Measured | None,
    exact: Exact | None, span: tuple[float, float] | None,
) -> Figure:  # fmt: skip
    """Rows of drawings, and blocks of panels over time, in order."""
    options: dict[str, Any] = {"measured": data, "window": span}
    panels = [cell for cell in cells if isinstance(cell, Panel)]
    if len(panels) == len(cells):
        return draw_panels(trajectory, panels, exact, width=width, **options)
    narrow = width is not None and width < NARROW
    columns = 1 if narrow or (len(cells) - len(panels) == 1 and len(panels) <= 2) else 2
    wide = width or (5.0 if columns == 1 else 7.2)
    spatial = trajectory.P_T.array.ndim == 3  # whose sketch is a picture with small type
    rows: list[tuple[list[Panel], list[Cell]]] = []
    heights = []
    for over_time, group in itertools.groupby(cells, lambda cell: isinstance(cell, Panel)):
        block: list[Any] = list(group)
        if over_time:
            rows.append((block, []))
            heights.append(panels_height(block, column_count(len(block), wide), wide))
            continue
        for i in range(0, len(block), columns):
            kinds = [cell.kind for cell in block[i : i + columns]]
            narrowed = 1.0 if "impacts" in kinds else min(1.0, wide / columns / 3.3)
            rows.append(([], block[i : i + columns]))
            heights.append(TALL * narrowed * (1.4 if spatial and "sketch" in kinds else 1.0))
    whole = new_figure(wide, sum(heights))
    parts = whole.subfigures(len(rows), 1, squeeze=False, height_ratios=heights)[:, 0]
    later: list[Callable[[], None]] = []
    for part, (below, drawings) in zip(parts, rows, strict=True):
        if below:
            draw_panels(trajectory, below, exact, columns=column_count(len(below), wide), page=part, **options)
            continue
        for axes, cell in zip(part.subplots(1, len(drawings), squeeze=False)[0], drawings, strict=True):
            later += _draw(axes, trajectory, cell, span)
    if later:
        whole.draw_without_rendering()  # so that the axes are placed
        for step in later:
            step()
    return whole


def _draw(axes: Axes, trajectory: Trajectory, cell: Cell, span: tuple[float, float] | None) -> list[Callable[[], None]]:
    """Draw a cell; returns what is left to be done when the axes are placed."""
    if cell.kind == "sketch":
        drawing = drawing_of_run(trajectory, trajectory.t[:1])
        if drawing.dimension == 2:
            scene = Scene(drawing, axes)
            return [functools.partial(fill, scene, 0.25), functools.partial(write_on, scene)]
        axes.axis("off")
        return [functools.partial(_picture, axes, drawing)]
    elif cell.kind == "orbit":
        orbit(trajectory, cell.name, window=span, ax=axes)
        legend(axes, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    elif cell.kind == "phase":
        phase_portrait(trajectory, cell.name, kind="gap" if cell.name in trajectory.gap else "q", span=span, ax=axes)
    elif cell.kind == "modes":
        names = [cell.name] if cell.name else trajectory.gap.names
        if not names:
            raise InputError("The run has no contacts, so that there are no contact modes to draw.")
        mode_bars([mode_timeline(trajectory, name) for name in names], ax=axes)
        if span is not None:
            axes.set_xlim(*(np.array(span) / (trajectory.t[-1] - trajectory.t[0]) * np.diff(axes.get_xlim())[0]))
    else:
        return [functools.partial(fit_columns, *draw_table(trajectory, ax=axes))]
    return []


def _picture(axes: Axes, drawing: Drawing) -> None:
    """A mechanism in space, whose drawing has axes and a page of its own, as a picture that fills placed axes."""
    from matplotlib.image import imread

    image, box = io.BytesIO(), axes.get_window_extent()
    drawn(drawing, page=np.array([box.width, box.height]) / axes.figure.dpi).savefig(image, format="png", dpi=FINE)
    image.seek(0)
    axes.imshow(imread(image), interpolation="antialiased", aspect="auto")
