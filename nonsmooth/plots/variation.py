"""Figures of sweeps and tolerance studies, and of identification: motions with bounds, estimates, bees, profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.labels import display, quantity, shown_unit, spoken
from nonsmooth.plots.style import (
    COLOURS,
    FAINT,
    INK,
    SIZE,
    decades,
    dress,
    legend,
    legend_lines,
    mark_failed,
    new_figure,
)
from nonsmooth.settings import checked
from nonsmooth.studies.files import FACTS

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.identification.bee_colony import Colony
    from nonsmooth.identification.drive_motion import Fourier
    from nonsmooth.identification.estimate import Estimate
    from nonsmooth.identification.excite import Bounds, Excitation
    from nonsmooth.identification.fit_motion import MotionFit
    from nonsmooth.studies.tolerance import Tolerance

#: ratio of the largest to the least value from which an axis is logarithmic, and that of a geometric grid
WIDE, GEOMETRIC = 20.0, 5.0
MOST = 12  # most panels of one figure
WIDTH, BINS = 3.6, 50  # of a panel [inch], and of a histogram
LIMIT: dict[str, Any] = {"color": INK, "lw": 0.9, "ls": (0, (4, 2.5))}
POINTS = 400  # most points on probability paper
TICKS = (0.01, 0.1, 1, 10, 50, 90, 99, 99.9, 99.99)  # shares at the ticks of probability paper [%]
TALLEST, DENSE = 12.0, 200  # largest rise of the sum of squares that is shown, and points of its curve


@checked
def sweep(found: xarray.Dataset) -> Figure:
    """Each metric of a sweep over its parameters; failed runs are ticks at the foot.

    A grid of one parameter gives lines, one of two gives maps of colour; anything else a cloud of points per parameter,
    with the mean of tenths of the runs. InputError if every run failed.
    """
    names = [str(name) for name in found.coords if name != "run"]
    metrics = [str(name) for name in found.data_vars if name not in FACTS]
    if not metrics:
        raise InputError("Every run failed, so that there is nothing to draw; see the messages.")
    plain = [name for name in metrics if len(found[name].dims) == len(found["status"].dims)]
    metrics = plain or metrics
    two = "run" not in found.dims and len(names) == 2 and bool(plain)
    columns = 1 if two or len(names) == 1 else min(len(names), 3)
    cells = [(metric, name) for metric in metrics for name in (names if columns > 1 else names[:1])][:MOST]
    wide = min(2, len(cells)) if columns == 1 else columns
    rows = -(-len(cells) // wide)
    figure = new_figure(3.6 * wide if wide > 1 else 4.6, 2.7 * rows)
    axes = figure.subplots(rows, wide, squeeze=False).ravel()
    for axis, (metric, name) in zip(axes, cells, strict=False):
        if not two:
            _points(axis, found, metric, name, line=len(names) == 1)
            continue
        (x, _, across), (y, _, up) = (_shown(found, one) for one in names)
        values, unit, _ = _shown(found[[metric]].transpose(*names[::-1]), metric)
        mesh = axis.pcolormesh(x, y, values, cmap="cividis", shading="nearest")
        _wide(axis, x)
        _wide(axis, y, vertical=True)
        bar = figure.colorbar(mesh, ax=axis, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=SIZE - 1, width=0.6, length=3, colors=INK)
        dress(axis, quantity(_title(metric), unit or "-"), across, up)
        axis.grid(False)
    for axis in axes[len(cells) :]:
        axis.remove()
    return figure


def _points(axis: Axes, found: xarray.Dataset, metric: str, name: str, line: bool) -> None:
    """A line through single values of a grid, but not through counts; else points, and the mean of each tenth of the
    runs in order of the parameter."""
    line = line and "run" not in found.dims
    flat = found if line or "run" in found.dims else found.stack(run=list(found["status"].dims))
    each, _, across = _shown(flat, name)
    y, unit, _ = _shown(flat, metric)
    x = each if y.ndim == 1 else np.repeat(each, y.shape[-1])
    dots: dict[str, Any] = {"ls": "", "marker": "o", "mew": 0, "color": COLOURS[0]}
    if not line:
        y = y.ravel()
        known = np.isfinite(y)
        axis.plot(x[known], y[known], ms=3.0 if known.sum() < 300 else 1.6, alpha=0.45, rasterized=True, **dots)
        if len(np.unique(x[known])) >= 20:
            tenths = [part for part in np.array_split(np.argsort(x[known]), 10) if part.size]
            means = np.array([(x[known][part].mean(), y[known][part].mean()) for part in tenths])
            axis.plot(*means.T, color=COLOURS[1], lw=1.4)
    elif y.ndim > 1:
        axis.plot(x, y.ravel(), ms=1.5, **dots)
    else:
        few = len(x) < 60
        alone = few and found[metric].attrs.get("units") == "-" and np.array_equal(y, np.round(y), equal_nan=True)
        axis.plot(x, y, color=COLOURS[0], lw=1.2, ls="" if alone else "-", marker="o" if few else "", ms=3)
    failed = flat["status"].values == "failed"
    if failed.any():
        mark_failed(axis, each[failed], loc="lower right", bbox_to_anchor=(1.0, 1.0))
    _wide(axis, each)
    axis.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    dress(axis, _title(metric), across, quantity(spoken(metric.partition(":")[0]), unit or "-"))


def _title(metric: str) -> str:
    words = spoken(metric)
    return words[:1].upper() + words[1:]


def _wide(axis: Axes, x: Array, vertical: bool = False) -> None:
    """A logarithmic axis for a geometric grid, and for values that are spread so over orders of magnitude."""
    if np.all(x > 0) and x.max() > GEOMETRIC * x.min():
        ratios = np.diff(np.log(np.unique(x)))
        geometric = len(ratios) >= 3 and bool(np.ptp(ratios) < 1e-9)
        middle, even, log = np.median(x), (x.min() + x.max()) / 2, np.sqrt(x.min() * x.max())
        if geometric or (x.max() / x.min() >= WIDE and abs(np.log(middle / log)) < abs(np.log(middle / even))):
            (axis.set_yscale if vertical else axis.set_xscale)("log")
            decades(axis, "y" if vertical else "x", plain=bool(x.min() >= 1e-3 and x.max() < 1e5))
            return
    axis.ticklabel_format(axis="y" if vertical else "x", style="sci", scilimits=(-3, 4), useMathText=True)


def _shown(found: xarray.Dataset, name: str) -> tuple[Array, str, str]:
    """Values in the unit in which they are shown, this unit, and the label of an axis."""
    values, unit = np.asarray(found[name].values), str(found[name].attrs.get("units", ""))
    shown, factor = display(unit, float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0)))
    return values / factor, shown, quantity(spoken(name), shown) if shown else spoken(name)


class Words(NamedTuple):
    """Title and labels of a panel, and a note over its legend."""

    title: str
    x: str
    y: str
    note: str = ""


@checked
def tolerance(found: Tolerance, indices: xarray.Dataset | None = None) -> Figure:
    """Distribution of the output at three scales, its quantiles over the clearance, and what the spread comes from.

    Of a study at one scale, as of fits: histogram, normal probability paper, and what the spread comes from. InputError
    if no product has an output.
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
        names = [spoken(str(name)) for name in indices["input"].values]
        y = np.arange(len(names))[::-1]
        for k, (kind, label) in enumerate((("first", "alone"), ("total", "with others"))):
            values, half = indices[kind].values, indices[f"{kind}_confidence"].values
            bars: dict[str, Any] = {"color": COLOURS[k], "xerr": half, "error_kw": {"lw": 0.8, "ecolor": INK}}
            axes[2].barh(y + 0.18 - 0.36 * k, values, 0.32, label=label, **bars)
        axes[2].set_yticks(y, names)
        axes[2].set_ylim(-0.5, len(names) - 0.5)
        words.append(Words("Where the spread comes from", "share of the variance [-], with 95 % intervals", ""))
    every = [axis.get_legend_handles_labels()[1] for axis in axes]
    lines = [legend_lines(labels, WIDTH) for labels in every]
    above = max(count + len(one.note.splitlines()) for count, one in zip(lines, words, strict=True))
    for axis, labels, count, one in zip(axes, every, lines, words, strict=True):
        dress(axis, one.title, one.x, one.y, above=above)
        legend(
            axis, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=-(-len(labels) // count), title=one.note or None,
            title_fontsize=SIZE - 0.5, alignment="left", borderpad=0.15,
        )  # fmt: skip
    if indices is not None:
        axes[2].tick_params(axis="y", length=0)
    return figure


def _histogram(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
    from matplotlib.ticker import MaxNLocator

    values, unsure = found.outputs[-1], found.unsure[-1]
    known = np.isfinite(values)
    bins = min(BINS, max(5, int(np.ceil(2.0 * known.sum() ** (1 / 3)))))  # after Rice, of few products fewer
    edges = np.linspace(values[known].min() / factor, values[known].max() / factor, bins + 1)
    limit, sure = found.limit / factor, known & ~unsure
    parts = [
        (sure & (values <= found.limit), COLOURS[0], "within the limit"),
        (sure & (values > found.limit), COLOURS[1], "beyond"), (known & unsure, FAINT, "not accurate"),
    ]  # fmt: skip
    shown = [one for one in parts if one[0].any()]
    axis.hist(
        [values[mask] / factor for mask, _, _ in shown], bins=edges.tolist(), stacked=True,
        color=[colour for _, colour, _ in shown], label=[label for *_, label in shown],
    )  # fmt: skip
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.axvline(limit, **LIMIT, label=f"limit {limit:.4g} {shown_unit(unit or '-')}")
    share, low, high = found.yield_at()
    note = f"{100 * low:.4g} to {100 * high:.4g} %, {100 * found.confidence:g} % confidence"
    if found.failures_at[-1]:
        note += f"\n{found.failures_at[-1]} of {found.products} failed"
    across = quantity(spoken(found.metric), unit or "-")
    return Words(f"Yield {100 * share:.4g} %", across, f"products of {found.products}", note)


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
    return Words("On normal probability paper", quantity(spoken(found.metric), unit or "-"), f"share of {whose} [%]")


def _distribution(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
    """Share of the mechanisms whose output is at most x."""
    chosen = sorted({0, max(found.passed - 1, 0), len(found.factors) - 1})
    length, metre = display("m", float(found.widest[:, 0].max()))
    for k, i in enumerate(chosen):
        values = np.sort(found.outputs[i]) / factor
        x, y = np.concatenate([[values[0]], values]), np.arange(len(values) + 1) / len(values)
        name = f"{spoken(found.scaled[0])} up to {found.widest[i, 0] / metre:.3g} {shown_unit(length)}"
        name += f", {found.failures_at[i]} of {found.products} failed" if found.failures_at[i] else ""
        axis.step(x, y, where="post", color=COLOURS[k], lw=1.3, label=name)
    axis.axvline(found.limit / factor, **LIMIT, label="limit")
    axis.axhline(found.coverage, color=FAINT, lw=0.7, ls=(0, (1, 1.5)), label=f"{100 * found.coverage:g} % of them")
    axis.set_ylim(0.0, 1.02)
    axis.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    axis.set_xlim(axis.get_xlim()[0], max(axis.get_xlim()[1], 1.1 * found.limit / factor))
    return Words("Distribution", quantity(spoken(found.metric), unit or "-"), "share of mechanisms [-]")


def _quantiles(axis: Axes, found: Tolerance, unit: str, factor: float) -> Words:
    unit_of_length, metre = display("m", float(found.widest[:, 0].max()))
    length = shown_unit(unit_of_length)
    x = found.widest[:, 0] / metre
    pairs = zip(found.outputs, found.lost, strict=True)
    known = [np.array([np.nan]) if lost.all() else values[~lost] for values, lost in pairs]
    low, middle, high = np.array([np.quantile(one, (0.05, 0.5, 0.95), method="higher") for one in known]).T / factor
    ended = " that did not fail" if found.lost.any() else ""
    axis.fill_between(x, low, high, color=COLOURS[0], alpha=0.2, lw=0, label=f"90 % of the runs{ended}")
    axis.plot(x, middle, color=COLOURS[0], lw=1.4, label="median")
    said = f"{100 * found.coverage:g} % quantile, {100 * found.confidence:g} % bound"
    axis.plot(x, found.bound / factor, color=COLOURS[1], marker="o", ms=3.5, lw=1.0, label=said)
    if found.lost.any():
        dots: dict[str, Any] = {"marker": "o", "ms": 3.5, "mfc": "none", "lw": 0.7, "ls": ":"}
        said = "the same, had failed runs kept the limit"
        axis.plot(x, found.bound_best / factor, color=COLOURS[1], label=said, **dots)
    upright: dict[str, Any] = {"ha": "center", "va": "bottom", "rotation": 90, "fontsize": SIZE - 1, "color": INK}
    for place, count in zip(x, found.failures_at, strict=True):
        if count:
            axis.text(place, 0.01, f"{count} failed", transform=axis.get_xaxis_transform(), **upright)
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
    output = quantity(spoken(found.metric), unit or "-")
    return Words("Output over the clearance", f"{spoken(found.scaled[0])} up to [{length}]", output)


def _figure(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    figure = new_figure(width, height, w_pad=0.06, h_pad=0.06)
    return figure, figure.subplots(rows, columns, squeeze=False)


@checked
def ranking(labels: Sequence[str], effects: Mapping[str, Array], units: Sequence[str]) -> Figure:
    """Changes of quantities by the changes of parameters that `labels` (m,) name; one panel for each quantity.

    Parameters
    ----------
    effects : of each quantity, the change (m,) in its unit
    """
    figure, axes = _figure(1, len(effects), 1.6 + 3.0 * len(effects), 1.2 + 0.28 * len(labels))
    for axis, (name, values), unit in zip(axes[0], effects.items(), units, strict=True):
        axis.barh(np.arange(len(labels)), values, 0.6, color=[COLOURS[int(x < 0.0)] for x in values])
        axis.axvline(0.0, color=INK, lw=0.7)
        dress(axis, f"Change of {name}", f"[{unit}]", "")
        _named(axis, list(labels) if axis is axes[0, 0] else [""] * len(labels))
    return figure


@checked
def excitation(found: Excitation) -> Figure:
    """The motion of an `Excitation` with its bounds, see `excited`."""
    return excited(found.motion, found.bounds, found.drives)


@checked
def excited(motion: Fourier, bounds: Bounds, drives: Sequence[str], units: Sequence[str] = ()) -> Figure:
    """Coordinates, velocities and accelerations of each drive over one period; dashed the bounds in view.

    Parameters
    ----------
    units : of the coordinates, rad where omitted
    """
    kinds = ("Coordinate", "Velocity", "Acceleration")
    figure, axes = _figure(3, len(drives), 3.6 * len(drives), 6.0)
    t = np.linspace(0.0, motion.period, 2000)
    for k, values in enumerate(motion.states(t)):
        for d, drive in enumerate(drives):
            axis, limit = axes[k, d], bounds.table[k, d]
            unit = (units[d] if units else "rad") + ("", "/s", "/s$^2$")[k]
            axis.plot(t, values[:, d], color=COLOURS[d % len(COLOURS)], lw=1.2)
            largest = float(np.max(np.abs(values[:, d])))
            if limit <= 2.5 * largest:
                for sign in (1, -1):
                    axis.axhline(sign * limit, color=INK, lw=0.7, ls="--")
                axis.set_ylim(-1.15 * max(limit, largest), 1.15 * max(limit, largest))
            else:
                axis.set_title(f"bound {limit:g} outside", loc="right", fontsize=SIZE - 1, color=INK)
            dress(axis, f"{kinds[k]}, {drive}", "t [s]" if k == 2 else "", f"[{unit}]")
    return figure


@checked
def identified(found: Estimate) -> Figure:
    """An estimate: relative intervals, shares of the forces, residuals, correlation of the parameters."""
    figure, axes = _figure(2, 2, 7.6, 6.2)
    places, names = np.arange(len(found.names)), list(found.names)
    low, high = found.intervals().T
    width = (high - low) / 2 / np.maximum(np.abs(found.values), 1e-300)
    told, said = [COLOURS[0] if one else FAINT for one in width <= 1.0], "share of the value; grey: not distinguishable"
    for axis, values, colour, title, label in (
        (axes[0, 0], np.clip(width, 1e-6, 1e3), told, "Half width of the 95 % interval", f"{said} from zero"),
        (axes[0, 1], np.maximum(found.share, 1e-9), COLOURS[2], "Share of the forces", "sum of squares [1]"),
    ):
        axis.barh(places, values, color=colour, height=0.6)
        axis.set_xscale("log")
        dress(axis, title, label, "")
        _named(axis, names)
    axes[0, 0].axvline(1.0, color=INK, lw=0.7, ls="--")
    axis = axes[1, 0]
    for d, column in enumerate((found.residual / found.noise).T):
        axis.plot(column, ".", ms=2.0, color=COLOURS[d % len(COLOURS)], label=f"drive {d + 1}")
    legend(axis, loc="upper right", ncols=2)
    dress(axis, "Residuals", "sample", "standard deviations")
    axis = axes[1, 1]
    image = axis.imshow(found.correlation, cmap="RdBu_r", vmin=-1, vmax=1)
    dress(axis, "Correlation", "", "")
    axis.grid(False)
    axis.set_xticks(places, [str(i + 1) for i in places])
    axis.set_yticks(places, [f"{name} {i + 1}" for i, name in enumerate(names)], fontsize=SIZE - 1.5)
    figure.colorbar(image, ax=axis, shrink=0.8).ax.tick_params(labelsize=SIZE - 1, colors=INK)
    return figure


@checked
def bees(found: Colony, truth: float, names: Sequence[str] = (), low: Any = None, high: Any = None) -> Figure:
    """Convergence of a bee colony, with the cost of the true values, and where its parameters lie in their ranges."""
    figure, axes = _figure(1, 2 if names else 1, 7.4 if names else 4.2, 3.2)
    axis = axes[0, 0]
    axis.semilogy(np.arange(1, len(found.history) + 1), found.history, color=COLOURS[0], lw=1.4, label="bee colony")
    axis.axhline(truth, color=INK, lw=0.8, ls="--", label="true parameters")
    legend(axis, loc="upper right")
    dress(axis, "Convergence", "iteration", "mean |torque error| [N m]")
    if names:
        axis = axes[0, 1]
        place = 2 * (found.best - low) / (np.asarray(high) - low) - 1
        colours = [COLOURS[1] if i in found.on_bounds else COLOURS[0] for i in range(len(names))]
        axis.scatter(place, np.arange(len(names)), c=colours, s=18, zorder=3)
        for bound in (-1, 1):
            axis.axvline(bound, color=INK, lw=0.7, ls="--")
        axis.axvline(0, color=FAINT, lw=0.7)
        axis.set_xticks((-1.0, -0.5, 0.0, 0.5, 1.0))
        dress(axis, "Found in the search range", "0 truth, dashed the bounds", "")
        _named(axis, list(names))
    return figure


@checked
def fitted(found: MotionFit) -> Figure:
    """Profile likelihood of each parameter, whose root is interpolated between the points; shaded the 95 % interval and
    dashed the rise at its ends, if one is stated."""
    from nonsmooth.identification.fit_motion import RISE

    shown = list(found.profiles) or list(found.names)
    figure, axes = _figure(1, len(shown), 2.9 * len(shown), 3.1)
    for k, name in enumerate(shown):
        axis, profile, i = axes[0, k], found.profiles.get(name), found.names.index(name)
        colour, least = COLOURS[k % len(COLOURS)], float(found.values[i])
        unit, factor = display(found.units[i] if found.units else "-", least)
        if profile is not None:
            root = np.sign(profile.values - least) * np.sqrt(profile.rise)  # a straight line, of a parabola
            dense = np.geomspace(profile.values[0], profile.values[-1], DENSE)
            axis.plot(dense / factor, np.interp(np.log(dense), np.log(profile.values), root) ** 2, lw=1.4, color=colour)
            axis.plot(profile.values / factor, profile.rise, "o", ms=3.5, color=colour)
            axis.set_ylim(-0.02 * TALLEST, TALLEST)
        if profile is not None and not found.unstated:
            low, high = (end / factor for end in profile.interval)
            axis.axvspan(low, high, color=colour, alpha=0.12, lw=0)
            axis.axhline(RISE, color=INK, lw=0.7, ls="--")
            room = abs(high - low) / 2
            axis.set_xlim(low - room, high + room)
            word = f"{low:.4g} to {high:.4g}" if profile.known else "not bounded by the data"
            axis.text(0.5, 0.96, word, transform=axis.transAxes, ha="center", va="top", fontsize=SIZE - 1, color=INK)
        axis.axvline(least / factor, color=FAINT, lw=0.8)
        dress(axis, name, quantity("value", unit), "rise of the sum of squares" if k == 0 else "")
        axis.locator_params(axis="x", nbins=4)
        axis.tick_params(axis="x", rotation=25)
    if found.unstated:
        figure.suptitle(f"No 95 % interval is stated:\n{found.unstated}", fontsize=SIZE, color=INK)
    return figure


def _named(axis: Any, names: list[str]) -> None:
    axis.set_yticks(np.arange(len(names)), names, fontsize=SIZE - 1)
    axis.invert_yaxis()
