"""Figure of a step-size study: errors, overlap, energy over the step, cost over the error, landing over its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.plots.style import COLOURS, FAINT, INK, MARKERS, SIZE, decades, dress, new_figure, power

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.step_size import Bounds, Series, StepSizes

#: of the colours, so that neighbours in the legend differ most
ORDER = (0, 1, 2, 3, 5, 4)
#: values below which a measure is round-off and stands at the edge
LOWEST = {"error": 1e-15, "impulse_error": 1e-12, "violation": 1e-18, "energy": 1e-16}
#: overlap [m] that counts as none
NONE = 1e-12


def step_size(found: StepSizes) -> Figure:
    """Errors of gaps and impulses, overlap and energy over the step; time over the error; `Landing` over its bounds.

    The legend gives the fitted order of the gaps' error. Steps chosen by an error control have no length of their own,
    so that these cases stand in the diagram of time over error only.
    """
    figure = new_figure(7.2, 7.9, w_pad=0.06, h_pad=0.06)
    axes = figure.subplots(3, 2).ravel()
    panels = (
        ("error", "Mean error of the gaps", "error [clearances]"),
        ("impulse_error", "Mean error of the impulse", "error [N s]"),
        ("violation", "Worst overlap", rf"overlap [m], none at $10^{{{round(np.log10(LOWEST['violation']))}}}$"),
        ("energy", "Energy left by the balance", "energy [J]"),
    )
    for axis, (name, title, unit) in zip(axes, panels, strict=False):
        _over_step(axis, found, name)
        dress(axis, title, "step, longest step of landing [s]", unit)
    _line(axes[2], NONE)
    _work(axes[4], found)
    if found.bounds is None:
        axes[5].remove()
    else:
        _map(axes[5], found.bounds)
    handles = [axes[4].plot([], [], label=_label(one), **_style(k))[0] for k, one in enumerate(found.series)]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=min(len(handles), 2), frameon=False, fontsize=SIZE - 0.5,
        labelcolor=INK, handlelength=2.0, columnspacing=1.2,
    )  # fmt: skip
    figure.align_ylabels(list(axes[:5:2]))
    return figure


def _style(k: int) -> dict[str, Any]:
    return {"color": COLOURS[ORDER[k % len(ORDER)]], "marker": MARKERS[k % len(MARKERS)], "ms": 3.8, "lw": 1.2}


def _label(one: Series) -> str:
    order = one.orders["error"]
    if np.isnan(order):
        said = "error at round-off" if np.nanmax(one.measures["error"]) < 1e-8 else "no order"
    else:
        said = f"order {order:.2f}" + (" in the tolerance" if one.kind == "tolerance" else "")
    return f"{one.label}: {said}"


def _over_step(axis: Axes, found: StepSizes, name: str) -> None:
    for k, one in enumerate(found.series):
        if one.kind != "tolerance":
            axis.loglog(one.dt, np.maximum(one.measures[name], LOWEST[name]), **_style(k), zorder=3 + k)
    decades(axis, "x")
    decades(axis, "y")


def _work(axis: Axes, found: StepSizes) -> None:
    for k, one in enumerate(found.series):
        axis.loglog(np.maximum(one.measures["error"], LOWEST["error"]), one.seconds, **_style(k), zorder=3 + k)
    decades(axis, "x")
    decades(axis, "y")
    dress(axis, "Work and precision", "mean error of the gaps [clearances]", "time of the run [s]")


def _line(axis: Axes, height: float) -> None:
    axis.axhline(height, color=FAINT, lw=0.8, ls=(0, (4, 2.5)))
    low, high = axis.get_ylim()
    axis.set_ylim(low, max(high, 30 * height))
    axis.text(
        0.99, height * 1.5, rf"$10^{{{round(np.log10(height))}}}$ m", transform=axis.get_yaxis_transform(), ha="right",
        va="bottom", fontsize=SIZE - 1, color=FAINT,
    )  # fmt: skip


def _map(axis: Axes, bounds: Bounds) -> None:
    """Numbers on colours: the error of landing, a row per dt_min and a column per dt_max."""
    from matplotlib.colors import LogNorm

    shown = np.maximum(bounds.error, LOWEST["error"])
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    mesh = axis.pcolormesh(shown, norm=LogNorm(low, max(high, 1.01 * low)), cmap="cividis", edgecolors="w", lw=0.8)
    axis.grid(False)
    for (i, j), value in np.ndenumerate(shown):
        light = float(np.asarray(mesh.norm(value), float)) > 0.55
        axis.text(
            j + 0.5, i + 0.5, "failed" if np.isnan(value) else power(float(value)), ha="center", va="center",
            fontsize=SIZE - 1, color=INK if light else "white",
        )  # fmt: skip
    dress(axis, f"Error of {bounds.label} [clearances]", "longest step dt_max [s]", "shortest flight dt_min [s]")
    axis.grid(False)
    axis.set_xticks(np.arange(len(bounds.dt_max)) + 0.5, [power(value) for value in bounds.dt_max])
    axis.set_yticks(np.arange(len(bounds.dt_min)) + 0.5, [power(value) for value in bounds.dt_min])
    axis.tick_params(length=0)
