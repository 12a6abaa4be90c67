"""What axes of analyses share: size, type, grid, units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonsmooth.plots.motion import FAINT, INK, SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dress", "legend", "own_axes", "quantity", "shown_unit"]


def own_axes(ax: Axes | None, width: float = 5.0, height: float = 3.2) -> Axes:
    """The axes given, or those of a figure of their own, which leaves pyplot alone."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    axes: Axes = Figure(figsize=(width, height), dpi=200, layout="constrained").subplots()
    return axes


def dress(axis: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Title, labels, thin axes and a faint grid below the data."""
    axis.set_title(title, loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK)
    axis.set_xlabel(xlabel, fontsize=SIZE, color=INK)
    axis.set_ylabel(ylabel, fontsize=SIZE, color=INK)
    axis.tick_params(which="both", labelsize=SIZE - 0.5, colors=INK, width=0.6, length=3)
    axis.grid(color="#E6E6E6", lw=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set(linewidth=0.6, color=FAINT)
    for part in (axis.xaxis, axis.yaxis):
        part.get_offset_text().set_fontsize(SIZE - 1)


def legend(axis: Axes, **options: Any) -> None:
    """A legend without a frame, above the data."""
    style = {"frameon": False, "fontsize": SIZE - 0.5, "labelcolor": INK, "handlelength": 1.4, "handletextpad": 0.5}
    axis.legend(**(style | {"columnspacing": 1.2, "borderaxespad": 0.1} | options))


def shown_unit(unit: str) -> str:
    """A unit as it is written in a figure.

    >>> shown_unit("um"), shown_unit("deg")
    ('µm', '°')
    """
    return f"\N{MICRO SIGN}{unit[1:]}" if unit.startswith("u") else unit.replace("deg", "°")


def quantity(name: str, unit: str) -> str:
    """Label of an axis: name and unit.

    >>> quantity("slider.x", "mm")
    'slider.x [mm]'
    """
    return f"{name} [{shown_unit(unit)}]"
