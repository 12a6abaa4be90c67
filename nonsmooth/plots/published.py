"""Figure of a problem compared with its source: the published panels of each case, with rigid and compliant contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.plots.panel import meaning
from nonsmooth.plots.style import COLOURS, INK, SIZE, dress, legend, new_figure, shown_unit
from nonsmooth.studies.published import SIZES, smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.published import PublishedRuns

#: of the kinds of contact in alphabetical order
STYLES: tuple[dict[str, Any], ...] = ({"lw": 0.9}, {"lw": 0.7, "ls": (0, (4, 2))}, {"lw": 0.7, "ls": ":"})
IDEAL: dict[str, Any] = {"color": INK, "lw": 0.6, "ls": (0, (1, 1.5)), "zorder": 5}


def published(found: PublishedRuns) -> Figure:
    """The panels that the source draws, one column per case, with the verdicts of its runs: lines are full for
    compliant, dashed for rigid contact, dotted for a further kind of runs.

    The ideal twin is dotted where runs are drawn, not errors. Accelerations and forces of runs with rigid impacts,
    which are not finite there, are left out.
    """
    from matplotlib.lines import Line2D

    cases = list(found.table)
    figure = new_figure(max(2.5 * len(cases), 4.0), 1.6 * len(found.panels) + 0.5)
    axes = figure.subplots(len(found.panels), len(cases), squeeze=False, sharex=True, sharey="row")
    kinds = sorted(found.kinds, key=lambda kind: (kind != "compliant", kind != "rigid", kind))
    for j, case in enumerate(cases):
        for i, (title, unit, of, series) in enumerate(found.panels):
            axis = axes[i][j]
            _draw(axis, found, case, kinds, unit, of, series)
            heading = f"Case {case}: {title}" if i == 0 else title
            said = "".join(f"\n{kind}: {found.verdict(case, kind).kind}" for kind in kinds)
            below = f"time [s]{said}" if i == len(found.panels) - 1 else ""
            beside = f"{_meaning(unit)} [{shown_unit(unit)}]".replace("^2", "²").strip() if j == 0 else ""
            dress(axis, heading, below, beside)
            new = i == 0 or _labels(series) != _labels(found.panels[i - 1][3])
            if new and j == len(cases) - 1 and axis.lines:
                legend(axis, loc="upper right", ncols=2, handlelength=0.9)
    marks = [Line2D([], [], color=INK, label=kind, **STYLES[k % len(STYLES)]) for k, kind in enumerate(kinds)]
    marks.append(Line2D([], [], label="ideal", **IDEAL))
    figure.legend(handles=marks, loc="outside lower right", ncols=len(marks), frameon=False, fontsize=SIZE - 0.5)
    return figure


def _meaning(unit: str) -> str:
    """What a panel of this unit shows; accelerations are in no panel of a run."""
    if unit.endswith("/s^2"):
        return "acceleration"
    return "" if unit in ("-", "%") else meaning([], unit)


def _draw(
    axis: Axes, found: PublishedRuns, case: str, kinds: list[str], unit: str, of: str, series: tuple[Any, ...]
) -> None:
    size = SIZES.get(unit, 1.0)
    for k, kind in enumerate(kinds):
        impacts = len(found.runs[case, kind].impacts)
        view = found.view(case, kind, of)
        ideal = found.view(case, kind, "ideal") if of == "run" and k == 0 else None
        for colour, entry in zip(COLOURS, series, strict=False):
            which, label = (entry[0], entry[1]) if callable(entry[0]) else (entry[:2], entry[2])
            if impacts and not smooth(which):
                continue
            style = {"color": colour, "zorder": 2 + k, **STYLES[k % len(STYLES)]}
            new = label not in axis.get_legend_handles_labels()[1]
            axis.plot(view.t, view.series(which) / size, label=label if new else None, **style)
            if ideal is not None:
                axis.plot(*_thinned(ideal.t, ideal.series(which) / size), **IDEAL)


def _thinned(t: Array, y: Array) -> tuple[Array, Array]:
    """A smooth line, of a few hundred points."""
    keep = np.unique(np.searchsorted(t, np.linspace(t[0], t[-1], 300)))
    return t[keep], y[keep]


def _labels(series: tuple[Any, ...]) -> list[str]:
    return [entry[-1] for entry in series]
