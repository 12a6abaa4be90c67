"""Figures of tolerance studies: of a spread at several scales, or of products at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import display
from nonsmooth.plots.style import COLOURS, FAINT, INK, SIZE, dress, legend, new_figure, quantity, shown_unit

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.tolerance import Tolerance

BINS = 50
#: share of a panel's height that data have, and lines of limits; legends stand above
BELOW = 0.68
LIMIT: dict[str, Any] = {"color": INK, "lw": 0.9, "ls": (0, (4, 2.5))}
#: most points on probability paper
POINTS = 400
#: shares at the ticks of probability paper [%]
TICKS = (0.01, 0.1, 1, 10, 50, 90, 99, 99.9, 99.99)


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
    axes = new_figure(3.6 * panels, 3.3, w_pad=0.08).subplots(1, panels)
    unit, factor = display(found.unit, float(max(np.max(known), found.limit)))
    first, second = (_histogram, _paper) if found.as_drawn else (_distribution, _quantiles)
    first(axes[0], found, unit, factor)
    second(axes[1], found, unit, factor)
    if indices is not None:
        _shares(axes[2], indices)
    figure: Figure = axes[0].figure
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
    axis.axvline(limit, **LIMIT, ymax=BELOW, label=f"limit {limit:.4g} {shown_unit(unit or '-')}")
    share, low, high = found.yield_at()
    axis.set_ylim(0.0, axis.get_ylim()[1] / BELOW)
    sure = f"{100 * found.confidence:g} % confidence"
    dress(axis, f"Yield {100 * share:.4g} %", quantity(found.metric, unit or "-"), f"products of {found.products}")
    title = f"{100 * low:.4g} to {100 * high:.4g} %, {sure}" + _failed(found, -1, "\n")
    legend(axis, loc="upper left", title=title, title_fontsize=SIZE - 0.5, alignment="left")


def _failed(found: Tolerance, scale: int, before: str = ", ") -> str:
    """How many runs failed at a scale; empty if none did."""
    count = int(found.failures_at[scale])
    return f"{before}{count} of {found.products} failed" if count else ""


def _paper(axis: Axes, found: Tolerance, unit: str, factor: float) -> None:
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
    axis.axvline(found.limit / factor, **LIMIT, ymax=BELOW, label="limit")
    reach = norm.ppf(1.0 - 0.5 / n) + 0.3
    ticks = [tick for tick in TICKS if abs(norm.ppf(tick / 100)) <= reach]
    axis.set_yticks([float(norm.ppf(tick / 100)) for tick in ticks], [f"{tick:g}" for tick in ticks])
    axis.set_ylim(-reach, (2.0 / BELOW - 1.0) * reach)
    dress(axis, "On normal probability paper", quantity(found.metric, unit or "-"), f"share of {whose} [%]")
    legend(axis, loc="upper left")


def _shares(axis: Axes, indices: xarray.Dataset) -> None:
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


def _distribution(axis: Axes, found: Tolerance, unit: str, factor: float) -> None:
    """Share of the mechanisms whose output is at most x."""
    chosen = sorted({0, max(found.passed - 1, 0), len(found.factors) - 1})
    length, metre = _clearance(found)
    for k, i in enumerate(chosen):
        values = np.sort(found.outputs[i]) / factor
        x, y = np.concatenate([[values[0]], values]), np.arange(len(values) + 1) / len(values)
        name = f"{found.scaled[0].rpartition('.')[2]} up to {found.widest[i, 0] / metre:.3g} {length}"
        name += _failed(found, i, "\n")
        axis.step(x, y, where="post", color=COLOURS[k], lw=1.3, label=name)
    axis.axvline(found.limit / factor, **LIMIT, ymax=BELOW, label="limit")
    axis.axhline(found.coverage, color=FAINT, lw=0.7, ls=(0, (1, 1.5)), label=f"{100 * found.coverage:g} % of them")
    axis.set_ylim(0.0, 1.0 / BELOW)
    axis.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    left = axis.get_xlim()[0]
    axis.set_xlim(left, max(axis.get_xlim()[1], 1.1 * found.limit / factor))
    dress(axis, f"Distribution of {found.metric}", quantity(found.metric, unit or "-"), "share of mechanisms [-]")
    legend(axis, loc="upper left", ncols=2)


def _quantiles(axis: Axes, found: Tolerance, unit: str, factor: float) -> None:
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
    axis.set_ylim(0.0, top / BELOW)
    if found.passed:
        largest = x[found.passed - 1]
        axis.plot([largest] * 2, [0.0, found.limit / factor], color=COLOURS[2], lw=1.6)
        axis.text(
            largest, 0.02 * top, f"  largest: {largest:.3g} {length}  ", va="bottom", fontsize=SIZE - 0.5,
            color=COLOURS[2], ha="left" if largest < 0.6 * x[-1] else "right",
        )  # fmt: skip
    dress(axis, "Output over the clearance", f"{found.scaled[0]} up to [{length}]", quantity(found.metric, unit or "-"))
    legend(axis, loc="upper left")


def _clearance(found: Tolerance) -> tuple[str, float]:
    unit, factor = display("m", float(found.widest[:, 0].max()))
    return shown_unit(unit), factor
