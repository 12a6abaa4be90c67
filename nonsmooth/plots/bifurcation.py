"""Bifurcation diagrams: long-term motion over a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.plots.style import INK, dress, mark_failed, own_axes, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nonsmooth.studies.bifurcation import Bifurcation

#: points from which they are drawn as small and as faint as they get
MANY = 20_000


def bifurcation_diagram(found: Bifurcation, *, ax: Axes | None = None) -> Axes:
    """Points of the section over the parameter; values whose run failed are ticks at the foot.

    Parameters
    ----------
    found
        From `nonsmooth.studies.bifurcation`.
    ax
        Axes to draw into; a new figure by default.

    Raises
    ------
    InputError
        If no value has points.
    """
    counts = [len(points) for points in found.points]
    if not any(counts):
        raise InputError("No value has points; see the failures.")
    axis = own_axes(ax, 6.4, 3.8)
    x, y = np.repeat(found.values, counts), np.concatenate(found.points)
    share = min(len(x) / MANY, 1.0)
    axis.plot(
        x, y, ls="", marker="o", ms=2.2 - 1.5 * share, mew=0.0, color=INK, alpha=0.9 - 0.45 * share, rasterized=True
    )  # fmt: skip
    if found.failures:
        mark_failed(axis, np.array(sorted(found.failures)), loc="upper right", bbox_to_anchor=(1.0, 1.09))
    axis.margins(x=0.01, y=0.05)
    title = f"Bifurcation diagram, {max(counts)} points at {len(found.values)} values"
    dress(axis, title, quantity(found.parameter, found.unit), quantity(found.quantity, found.quantity_unit))
    return axis
