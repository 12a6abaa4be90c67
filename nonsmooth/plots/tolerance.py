"""Figures of tolerance studies: of a spread at several scales, or of products at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import display
from nonsmooth.plots.style import (
    COLOURS,
    FAINT,
    INK,
    SIZE,
    dress,
    legend,
    legend_lines,
    new_figure,
    quantity,
    shown_unit,
)

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.tolerance import Tolerance

#: of a panel [inch]
WIDTH = 3.6
BINS = 50
LIMIT: dict[str, Any] = {"color": INK, "lw": 0.9, "ls": (0, (4, 2.5))}
#: most points on probability paper
POINTS = 400
#: shares at the ticks of probability paper [%]
TICKS = (0.01, 0.1, 1, 10, 50, 90, 99, 99.9, 99.99)


class Words(NamedTuple):
    """Title and labels of a panel, and a note over its legend."""

    title: str
    x: str
    y: str
    note: str = ""


def tolerance(found: Tolerance, indices: xarray.Dataset | None = None) -> Figure:
    """Distribution of the output at three scales, its quantiles over the clearance, and what the spread comes from.

    Of a study at one scale, as of fits: histogram, normal probability paper, and what the spread comes from.

    Raises
    ------
    InputError
        If no product has an output.
    """
    indices = found.shares if indices is None else indices
    known = found.outputs[np.isfinite(found.outputs)]
    if not known.size:
        raise InputError("Every product failed, so that there is nothing to draw.")
    panels = 2 if indices is None else 3
    figure = new_figure(WIDTH * panels, 3.3, w_pad=0.08)
    axes = figure.subplots(1, panels)
    unit, factor = display(found.unit, float(max(np.max(known), found.limit)))
    first, second = (_histogram, _paper) if found.as_drawn else (_distribution, _quantiles)
    words = [first(axes[0], found, unit, factor), second(axes[1], found, unit, factor)]
    if indices is not None:
        words.append(_shares(axes[2], indices))
    names = [axis.get_legend_handles_labels()[1] for axis in axes]
    lines = [legend_lines(labels, WIDTH) for labels in names]
    above = max(count + len(one.note.splitlines()) for count, one in zip(lines, words, strict=True))
    for axis, labels, count, one in zip(axes, names, lines, words, strict=True):
        dress(axis, one.title, one.x, one.y, above=above)
        legend(
            axis, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=-(-len(labels) // count), title=one.note or None,
            title_fontsize=SIZE - 0.5, alignment="left", borderpad=0.15,
        )  # fmt: skip
    if indices is not None:
        axes[2].tick_params(axis="y", length=0)
    return figure


def _histogram(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
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
    axis.axvline(limit, **LIMIT, label=f"limit {limit:.4g} {shown_unit(unit or '-')}")
    share, low, high = found.yield_at()
    note = f"{100 * low:.4g} to {100 * high:.4g} %, {100 * found.confidence:g} % confidence" + _failed(found, -1, "\n")
    return Words(
        f"Yield {100 * share:.4g} %", quantity(found.metric, unit or "-"), f"products of {found.products}", note
    )


def _failed(found: Tolerance, scale: int, before: str = ", ") -> str:
    """How many runs failed at a scale; empty if none did."""
    count = int(found.failures_at[scale])
    return f"{before}{count} of {found.products} failed" if count else ""


def _paper(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
    """Normal probability paper: a normal distribution is a straight line."""
    from scipy.stats import beta, norm

    values = np.sort(found.outputs[-1][~found.lost[-1]])
    n, whose = len(values), "those that did not fail" if found.lost[-1].any() else "products"
    ranks = np.unique(np.concatenate([
        np.arange(1, min(n, 40) + 1), np.linspace(1, n, POINTS).astype(int), np.arange(max(1, n - 40), n + 1)
    ]))  # fmt: skip
    ranks = ranks[np.isfinite(values[ranks - 1])]
    x, error = values[ranks - 1] / factor, (1.0 - found.confidence) / 2
    low, high = (norm.ppf(beta.ppf(q, ranks, n - ranks + 1)) for q in (error, 1.0 - error))
    axis.fill_between(x, low, high, color=COLOURS[0], alpha=0.2, lw=0, label=f"{100 * found.confidence:g} % bounds")
    axis.plot(x, norm.ppf((ranks - 0.5) / n), ls="", marker="o", ms=2.0, mew=0, color=COLOURS[0], label="products")
    axis.axvline(found.limit / factor, **LIMIT, label="limit")
    reach = norm.ppf(1.0 - 0.5 / n) + 0.3
    ticks = [tick for tick in TICKS if abs(norm.ppf(tick / 100)) <= reach]
    axis.set_yticks([float(norm.ppf(tick / 100)) for tick in ticks], [f"{tick:g}" for tick in ticks])
    top = max(reach, float(high.max()) + 0.1)
    axis.set_ylim(-top, top)
    return Words("On normal probability paper", quantity(found.metric, unit or "-"), f"share of {whose} [%]")


def _shares(axis: Axes, indices: xarray.Dataset) -> Words:
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
    axis.set_ylim(-0.5, len(names) - 0.5)
    return Words("Where the spread comes from", "share of the variance [-], with 95 % intervals", "")


def _distribution(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
    """Share of the mechanisms whose output is at most x."""
    chosen = sorted({0, max(found.passed - 1, 0), len(found.factors) - 1})
    length, metre = _clearance(found)
    for k, i in enumerate(chosen):
        values = np.sort(found.outputs[i]) / factor
        x, y = np.concatenate([[values[0]], values]), np.arange(len(values) + 1) / len(values)
        name = f"{found.scaled[0].rpartition('.')[2]} up to {found.widest[i, 0] / metre:.3g} {length}"
        name += _failed(found, i)
        axis.step(x, y, where="post", color=COLOURS[k], lw=1.3, label=name)
    axis.axvline(found.limit / factor, **LIMIT, label="limit")
    axis.axhline(found.coverage, color=FAINT, lw=0.7, ls=(0, (1, 1.5)), label=f"{100 * found.coverage:g} % of them")
    axis.set_ylim(0.0, 1.02)
    axis.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    left = axis.get_xlim()[0]
    axis.set_xlim(left, max(axis.get_xlim()[1], 1.1 * found.limit / factor))
    return Words(f"Distribution of {found.metric}", quantity(found.metric, unit or "-"), "share of mechanisms [-]")


def _quantiles(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
    length, metre = _clearance(found)
    x = found.widest[:, 0] / metre
    known = [
        values[~lost] if not lost.all() else np.array([np.nan])
        for values, lost in zip(found.outputs, found.lost, strict=True)
    ]
    low, middle, high = np.array([np.quantile(one, (0.05, 0.5, 0.95), method="higher") for one in known]).T / factor
    ended = " that did not fail" if found.lost.any() else ""
    axis.fill_between(x, low, high, color=COLOURS[0], alpha=0.2, lw=0, label=f"90 % of the runs{ended}")
    axis.plot(x, middle, color=COLOURS[0], lw=1.4, label="median")
    said = f"{100 * found.coverage:g} % quantile, {100 * found.confidence:g} % bound"
    axis.plot(x, found.bound / factor, color=COLOURS[1], marker="o", ms=3.5, lw=1.0, label=said)
    if found.lost.any():
        said = "the same, had failed runs kept the limit"
        axis.plot(
            x, found.bound_best / factor, color=COLOURS[1], marker="o", mfc="none", ms=3.5, lw=0.7, ls=":", label=said
        )
    for place, count in zip(x[found.failures_at > 0], found.failures_at[found.failures_at > 0], strict=True):
        axis.text(place, 0.01, f"{count} failed", transform=axis.get_xaxis_transform(), ha="center", va="bottom",
                  rotation=90, fontsize=SIZE - 1, color=INK)  # fmt: skip
    axis.axhline(found.limit / factor, **LIMIT, label="limit")
    ends = np.concatenate([found.bound, found.bound_best, [found.limit]])
    top = float(np.max(ends[np.isfinite(ends)])) / factor
    axis.set_ylim(0.0, 1.06 * top)
    if found.passed:
        largest = x[found.passed - 1]
        axis.plot([largest] * 2, [0.0, found.limit / factor], color=COLOURS[2], lw=1.6)
        axis.text(
            largest, 0.02 * top, f"  largest: {largest:.3g} {length}  ", va="bottom", fontsize=SIZE - 0.5,
            color=COLOURS[2], ha="left" if largest < 0.6 * x[-1] else "right",
        )  # fmt: skip
    clearance, output = f"{found.scaled[0]} up to [{length}]", quantity(found.metric, unit or "-")
    return Words("Output over the clearance", clearance, output)


def _clearance(found: Tolerance) -> tuple[str, float]:
    unit, factor = display("m", float(found.widest[:, 0].max()))
    return shown_unit(unit), factor
