"""Figures of sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import display
from nonsmooth.plots.style import COLOURS, INK, SIZE, decades, dress, mark_failed, new_figure, quantity
from nonsmooth.studies.files import FACTS

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: ratio of the largest to the least value from which an axis is logarithmic
WIDE = 20.0
#: and of a geometric grid
GEOMETRIC = 5.0
#: most panels of one figure
MOST = 12


def sweep(found: xarray.Dataset) -> Figure:
    """Each metric of a sweep over its parameters; failed runs are ticks at the foot.

    A grid of one parameter gives lines, one of two gives maps of colour; anything else a cloud of points per parameter,
    with the mean of tenths of the runs.

    Raises
    ------
    InputError
        If every run failed.
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
        if two:
            _map(figure, axis, found, metric, names)
        elif "run" not in found.dims and len(names) == 1:
            _line(axis, found, metric, name)
        else:
            _cloud(axis, found, metric, name)
    for axis in axes[len(cells) :]:
        axis.remove()
    return figure


def _line(axis: Axes, found: xarray.Dataset, metric: str, name: str) -> None:
    """A line through single values, but not through counts."""
    x, y = _shown(found, name)[0], _shown(found, metric)[0]
    if y.ndim > 1:
        axis.plot(np.repeat(x, y.shape[1]), y.ravel(), ls="", marker="o", ms=1.5, mew=0, color=COLOURS[0])
    else:
        few = len(x) < 60
        alone = few and found[metric].attrs.get("units") == "-" and np.array_equal(y, np.round(y), equal_nan=True)
        axis.plot(x, y, color=COLOURS[0], lw=1.2, ls="" if alone else "-", marker="o" if few else "", ms=3)
    _finish(axis, found, metric, name, x)


def _cloud(axis: Axes, found: xarray.Dataset, metric: str, name: str) -> None:
    """Points, and the mean of each tenth of the runs in order of the parameter."""
    flat = found if "run" in found.dims else found.stack(run=list(found["status"].dims))
    x, y = _shown(flat, name)[0], _shown(flat, metric)[0]
    each = x
    if y.ndim > 1:
        x, y = np.repeat(x, y.shape[-1]), y.ravel()
    known = np.isfinite(y)
    size = 3.0 if known.sum() < 300 else 1.6
    axis.plot(x[known], y[known], ls="", marker="o", ms=size, mew=0, color=COLOURS[0], alpha=0.45, rasterized=True)
    if len(np.unique(x[known])) >= 20:
        tenths = [part for part in np.array_split(np.argsort(x[known]), 10) if part.size]
        means = np.array([(x[known][part].mean(), y[known][part].mean()) for part in tenths])
        axis.plot(*means.T, color=COLOURS[1], lw=1.4)
    _finish(axis, flat, metric, name, each)


def _finish(axis: Axes, found: xarray.Dataset, metric: str, name: str, x: Array) -> None:
    failed = found["status"].values == "failed"
    if failed.any():
        mark_failed(axis, x[failed], loc="lower right", bbox_to_anchor=(1.0, 1.0))
    _wide(axis, x)
    axis.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    dress(axis, metric, _label(found, name), quantity(metric, _shown(found, metric)[1] or "-"))


def _map(figure: Figure, axis: Axes, found: xarray.Dataset, metric: str, names: list[str]) -> None:
    x, y = (_shown(found, name)[0] for name in names)
    values, unit = _shown(found[[metric]].transpose(*names[::-1]), metric)
    mesh = axis.pcolormesh(x, y, values, cmap="cividis", shading="nearest")
    _wide(axis, x)
    _wide(axis, y, vertical=True)
    bar = figure.colorbar(mesh, ax=axis, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SIZE - 1, width=0.6, length=3, colors=INK)
    dress(axis, quantity(metric, unit or "-"), _label(found, names[0]), _label(found, names[1]))
    axis.grid(False)


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


def _shown(found: xarray.Dataset, name: str) -> tuple[Array, str]:
    """Values in the unit in which they are shown, and this unit."""
    values, unit = np.asarray(found[name].values), str(found[name].attrs.get("units", ""))
    shown, factor = display(unit, float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0)))
    return values / factor, shown


def _label(found: xarray.Dataset, name: str) -> str:
    unit = _shown(found, name)[1]
    return quantity(name, unit) if unit else name
