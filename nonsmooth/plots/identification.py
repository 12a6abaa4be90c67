"""Figures of identification: motions with their bounds, shares of the forces, estimates, bee colony, profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.plots.style import COLOURS, FAINT, INK, SIZE, dress, legend, new_figure
from nonsmooth.plots.units import display, quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.identification.bee_colony import Colony
    from nonsmooth.identification.estimate import Estimate
    from nonsmooth.identification.excite import Bounds, Excitation
    from nonsmooth.identification.fit_motion import MotionFit
    from nonsmooth.identification.fourier import Fourier

#: largest rise of the sum of squares that is shown, and points of its curve
TALLEST, DENSE = 12.0, 200


def _figure(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    figure = new_figure(width, height, w_pad=0.06, h_pad=0.06)
    return figure, figure.subplots(rows, columns, squeeze=False)


def excitation(found: Excitation) -> Figure:
    """The motion of an `Excitation` with its bounds, see `excited`."""
    return excited(found.motion, found.bounds, found.drives)


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
                word = f"bound {limit:g} outside"
                axis.set_title(word, loc="right", fontsize=SIZE - 1, color=INK)
            dress(axis, f"{kinds[k]}, {drive}", "t [s]" if k == 2 else "", f"[{unit}]")
    return figure


def identified(found: Estimate) -> Figure:
    """An estimate: relative intervals, shares of the forces, residuals, correlation of the parameters."""
    figure, axes = _figure(2, 2, 7.6, 6.2)
    places, names = np.arange(len(found.names)), list(found.names)
    low, high = found.intervals().T
    size = np.maximum(np.abs(found.values), 1e-300)
    axis = axes[0, 0]
    width = (high - low) / 2 / size
    told = width <= 1.0
    axis.barh(places, np.clip(width, 1e-6, 1e3), color=[COLOURS[0] if one else FAINT for one in told], height=0.6)
    axis.set_xscale("log")
    axis.axvline(1.0, color=INK, lw=0.7, ls="--")
    dress(axis, "Half width of the 95 % interval", "share of the value; grey: not distinguishable from zero", "")
    _named(axis, names)
    axis = axes[0, 1]
    axis.barh(places, np.maximum(found.share, 1e-9), color=COLOURS[2], height=0.6)
    axis.set_xscale("log")
    dress(axis, "Share of the forces", "sum of squares [1]", "")
    _named(axis, names)
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
    bar = figure.colorbar(image, ax=axis, shrink=0.8)
    bar.ax.tick_params(labelsize=SIZE - 1, colors=INK)
    return figure


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
