"""Figure of the products of a tolerance study at one scale: histogram with the limit, probability paper, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import readable, scale
from nonsmooth.plots.style import COLOURS, FAINT, INK, SIZE, dress, legend, quantity, shown_unit

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.tolerance import Tolerance

__all__ = ["draw_shares", "products"]

BINS = 50
#: most points on probability paper
POINTS = 400
#: shares at the ticks of probability paper [%]
TICKS = (0.01, 0.1, 1, 10, 50, 90, 99, 99.9, 99.99)


def products(found: Tolerance) -> Figure:
    """Histogram of the output with its limit and yield, its distribution on normal probability paper, and shares.

    Raises
    ------
    InputError
        If no product has an output.
    """
    from matplotlib.figure import Figure

    values = found.outputs[-1]
    if not np.any(np.isfinite(values)):
        raise InputError("Every product failed, so that there is nothing to draw.")
    panels = 2 if found.shares is None else 3
    figure = Figure(figsize=(3.6 * panels, 3.3), dpi=200, layout="constrained")
    layout: Any = figure.get_layout_engine()
    layout.set(w_pad=0.08)
    axes = figure.subplots(1, panels)
    unit = readable(found.unit, float(max(np.max(values[np.isfinite(values)]), found.limit)))
    factor = scale(unit)[1] if unit else 1.0
    _histogram(axes[0], found, unit, factor)
    _paper(axes[1], found, unit, factor)
    if found.shares is not None:
        draw_shares(axes[2], found.shares)
    return figure


def _histogram(axis: Axes, found: Tolerance, unit: str, factor: float) -> None:
    values, unsure = found.outputs[-1], found.unsure[-1]
    known = np.isfinite(values)
    edges = np.linspace(values[known].min() / factor, values[known].max() / factor, BINS + 1)
    limit = found.limit / factor
    within, beyond = known & ~unsure & (values <= found.limit), known & ~unsure & (values > found.limit)
    parts = [
        (within, COLOURS[0], "within the limit"),
        (beyond, COLOURS[1], "beyond"),
        (known & unsure, FAINT, "not accurate"),
    ]
    shown = [one for one in parts if one[0].any()]
    axis.hist(
        [values[mask] / factor for mask, _, _ in shown], bins=edges.tolist(), stacked=True,
        color=[colour for _, colour, _ in shown], label=[label for *_, label in shown],
    )  # fmt: skip
    axis.axvline(limit, color=INK, lw=0.9, ls=(0, (4, 2.5)), label=f"limit {limit:.4g} {shown_unit(unit or '-')}")
    share, low, high = found.yield_at()
    axis.set_ylim(0.0, 1.5 * axis.get_ylim()[1])
    sure = f"{100 * found.confidence:g} % confidence"
    dress(axis, f"Yield {100 * share:.4g} %", quantity(found.metric, unit or "-"), f"products of {found.products}")
    legend(axis, loc="upper left", title=f"{100 * low:.4g} to {100 * high:.4g} %, {sure}", title_fontsize=SIZE - 0.5,
           alignment="left")  # fmt: skip


def _paper(axis: Axes, found: Tolerance, unit: str, factor: float) -> None:
    """Normal probability paper: a normal distribution is a straight line."""
    from scipy.stats import beta, norm

    values, n = np.sort(found.outputs[-1]), found.products
    ranks = np.unique(np.concatenate([
        np.arange(1, min(n, 40) + 1), np.linspace(1, n, POINTS).astype(int), np.arange(max(1, n - 40), n + 1)
    ]))  # fmt: skip
    ranks = ranks[np.isfinite(values[ranks - 1])]
    x, error = values[ranks - 1] / factor, (1.0 - found.confidence) / 2
    low, high = (norm.ppf(beta.ppf(q, ranks, n - ranks + 1)) for q in (error, 1.0 - error))
    axis.fill_between(x, low, high, color=COLOURS[0], alpha=0.2, lw=0, label=f"{100 * found.confidence:g} % bounds")
    axis.plot(x, norm.ppf((ranks - 0.5) / n), ls="", marker="o", ms=2.0, mew=0, color=COLOURS[0], label="products")
    axis.axvline(found.limit / factor, color=INK, lw=0.9, ls=(0, (4, 2.5)), label="limit")
    reach = norm.ppf(1.0 - 0.5 / n) + 0.3
    ticks = [tick for tick in TICKS if abs(norm.ppf(tick / 100)) <= reach]
    axis.set_yticks([float(norm.ppf(tick / 100)) for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_ylim(-reach, 1.45 * reach)
    dress(axis, "On normal probability paper", quantity(found.metric, unit or "-"), "share of products [%]")
    legend(axis, loc="upper left")


def draw_shares(axis: Axes, indices: xarray.Dataset) -> None:
    """Indices of Sobol' as bars."""
    names = [str(name) for name in indices["input"].values]
    y = np.arange(len(names))[::-1]
    for k, (kind, label) in enumerate((("first", "alone"), ("total", "with others"))):
        values, half = indices[kind].values, indices[f"{kind}_confidence"].values
        axis.barh(
            y + 0.18 - 0.36 * k, values, 0.32, color=COLOURS[k], label=label, xerr=half,
            error_kw={"lw": 0.8, "ecolor": INK},
        )  # fmt: skip
    axis.set_yticks(y, names)
    axis.set_ylim(-0.9, len(names) - 0.4)
    dress(axis, "Where the spread comes from", "share of the variance [-], with 95 % intervals", "")
    axis.tick_params(axis="y", length=0)
    legend(axis, loc="lower right", ncols=2)
