"""The path of the journal of a joint with clearance in its bearing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.diagnostics.motion import coordinates
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import readable, scale
from nonsmooth.plots.motion import COLOURS, FAINT, INK, SIZE
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["orbit"]

#: points of the path in all, as far as rows are fewer, and at most in one step
POINTS, PER_STEP = 6000, 40
#: share of the largest force below which a contact is regarded as unloaded
PRESSING = 1e-9
#: points of the clearance circle
ROUND = 361


def orbit(
    trajectory: Trajectory, joint: str, *, window: tuple[float, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the path of the journal's centre in its bearing, in the bearing's own frame.

    The centre is free within the circle of the clearance. A loaded rigid journal moves along the
    circle, a compliant one beyond it, by the penetration; contact intervals are drawn in a separate colour. Impacts
    are ticks outside the circle. Between rows the path follows `nonsmooth.diagnostics.motion.coordinates`.

    Parameters
    ----------
    trajectory
        The run, or one read from a file: positions of bearing and journal, and the clearance, are those of its
        manifest.
    joint
        Name of a `RevoluteClearance`.
    window : (from, to) [s], optional
        Only this part of the run, for instance its last revolutions.
    ax
        Axes to draw into, without a legend (use ``ax.legend()``). By default axes of a new figure, ``axes.figure``,
        with a legend.

    Raises
    ------
    InputError
        For a joint that is no revolute clearance of the run, or a window outside it.
    """
    element, p = _bearing(trajectory, joint)
    t, pressing = _sampled(trajectory, joint, *_window(trajectory, window))
    e = _eccentricity(trajectory, element, p, t)
    clearance = p["clearance"]
    unit = readable("m", clearance)
    factor = scale(unit)[1]
    axis = _axes() if ax is None else ax
    axis.set_aspect("equal")
    _draw_bearing(axis, clearance / factor)
    _draw_path(axis, e / factor, pressing)
    struck = trajectory.impacts["t"][trajectory.impacts["contact"] == joint]
    struck = struck[(struck >= t[0]) & (struck <= t[-1])]
    reach = float(np.max(np.hypot(*e.T), initial=clearance)) / factor
    if struck.size:
        _draw_impacts(axis, _eccentricity(trajectory, element, p, struck) / factor, reach)
    _dress(axis, joint, unit, 1.12 * reach)
    if ax is None:
        axis.figure.legend(
            loc="outside lower center", ncols=5, frameon=False, fontsize=SIZE - 0.5, labelcolor=INK, handlelength=1.4,
            columnspacing=1.2, handletextpad=0.5, borderaxespad=0.2,
        )  # fmt: skip
    return axis


def _bearing(trajectory: Trajectory, joint: str) -> tuple[Mapping[str, Any], dict[str, float]]:
    """The joint's description, and its numbers in this run."""
    elements = trajectory.manifest.get("model", {}).get("elements", ())
    known = {element["name"]: element for element in elements if element["kind"] == "RevoluteClearance"}
    if joint not in known:
        raise InputError(
            f"An orbit is drawn of a RevoluteClearance, but {joint!r} is none. "
            f"The run has {', '.join(known) or 'no such joint'}."
        )
    if known[joint].get("axis_a") is not None:
        raise InputError(
            f"{joint!r} is a joint in space, whose journal has an eccentricity at each end of the bearing; an orbit is "
            "drawn of joints in the plane."
        )
    parameters = trajectory.manifest["parameters"]
    own = {name.partition(".")[2]: entry["value"] for name, entry in parameters.items() if name.startswith(f"{joint}.")}
    return known[joint], own


def _window(trajectory: Trajectory, window: tuple[float, float] | None) -> tuple[float, float]:
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if window is None:
        return first, last
    if not (len(window) == 2 and first <= window[0] < window[1] <= last):
        raise InputError(f"window must be two times [s] within the run, {first:g} to {last:g} s, got {window!r}.")
    return float(window[0]), float(window[1])


def _sampled(trajectory: Trajectory, joint: str, first: float, last: float) -> tuple[Array, NDArray[np.bool_]]:
    """Times of points of the path, and for each interval between two of them whether the contact is loaded.

    Rows and the window's ends are among the times.
    """
    rows = trajectory.t
    inside = np.unique(np.concatenate([[first], rows[(rows > first) & (rows < last)], [last]]))
    count = int(np.clip(POINTS // max(len(inside) - 1, 1), 1, PER_STEP))
    shares = np.arange(count) / count
    t = np.append((inside[:-1, None] + np.diff(inside)[:, None] * shares).ravel(), last)
    force = trajectory.lam_N[joint]
    step = np.clip(np.searchsorted(rows, (t[:-1] + t[1:]) / 2), 1, max(len(rows) - 1, 1))
    return t, force[step] > PRESSING * np.max(force)


def _eccentricity(trajectory: Trajectory, element: Mapping[str, Any], p: Mapping[str, float], t: Array) -> Array:
    """From the bearing's to the journal's centre (len(t), 2) [m], in the bearing's frame."""
    names = list(trajectory.q.names)
    q = coordinates(trajectory, t)

    def place(side: str) -> tuple[Array, Array]:
        """Global place (2, len(t)) of the centre in a body, and the body's angle."""
        body, x, y = element[side], p[f"at_{side}_x"], p[f"at_{side}_y"]
        if f"{body}.angle" not in names:  # the ground
            return np.tile([[x], [y]], len(t)), np.zeros(len(t))
        own = {axis: q[:, names.index(f"{body}.{axis}")] for axis in ("x", "y", "angle")}
        cosine, sine = np.cos(own["angle"]), np.sin(own["angle"])
        return np.array([own["x"] + x * cosine - y * sine, own["y"] + x * sine + y * cosine]), own["angle"]

    (bearing, angle), (journal, _) = place("a"), place("b")
    x, y = journal - bearing
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.column_stack([cosine * x + sine * y, cosine * y - sine * x])


def _axes() -> Axes:
    from matplotlib.figure import Figure

    return Figure(figsize=(3.8, 4.1), dpi=200, layout="constrained").subplots()


def _draw_bearing(axis: Axes, clearance: float) -> None:
    turn = np.linspace(0.0, 2 * np.pi, ROUND)
    x, y = clearance * np.cos(turn), clearance * np.sin(turn)
    axis.fill(x, y, color="#F4F4F4", lw=0.0, zorder=0)
    axis.plot(x, y, color="black", lw=0.6, ls=(0, (4, 3)), zorder=4, label="clearance")


def _draw_path(axis: Axes, e: Array, pressing: NDArray[np.bool_]) -> None:
    """Intervals of contact and of flight, a line each."""
    from matplotlib.collections import LineCollection

    ends = np.concatenate([[0], np.flatnonzero(np.diff(pressing)) + 1, [len(pressing)]])
    stretches = [e[i : j + 1] for i, j in zip(ends[:-1], ends[1:], strict=True)]
    for touching, colour, width, label in ((False, COLOURS[0], 0.8, "flight"), (True, COLOURS[1], 1.6, "contact")):
        chosen = [one for one, i in zip(stretches, ends[:-1], strict=True) if pressing[i] == touching]
        if chosen:
            style = {"colors": colour, "linewidths": width, "capstyle": "round", "joinstyle": "round"}
            axis.add_collection(LineCollection(chosen, label=label, zorder=2 + touching, **style))
    axis.plot(*e[0], ls="", marker="P", ms=5, mfc="white", mec=INK, mew=0.7, label="start", zorder=6)


def _draw_impacts(axis: Axes, e: Array, reach: float) -> None:
    """Ticks that stand on the rim."""
    direction = e / np.hypot(*e.T)[:, None]
    foot, top = 1.03 * reach * direction, 1.09 * reach * direction
    gap = np.full_like(foot, np.nan)
    x, y = np.stack([foot, top, gap], axis=1).reshape(-1, 2).T
    axis.plot(x, y, color=INK, lw=0.6, label="impact", zorder=3)


def _dress(axis: Axes, joint: str, unit: str, reach: float) -> None:
    shown = unit.replace("u", "\N{MICRO SIGN}")
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axis.set_title(f"Journal in its bearing, {joint}", loc="left", fontsize=SIZE + 0.5, fontweight="bold", color=INK)
    axis.set_xlabel(f"x in the bearing [{shown}]", fontsize=SIZE, color=INK)
    axis.set_ylabel(f"y in the bearing [{shown}]", fontsize=SIZE, color=INK)
    axis.tick_params(labelsize=SIZE - 0.5, colors=INK, width=0.6, length=3)
    axis.grid(color="#E6E6E6", lw=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set(linewidth=0.6, color=FAINT)
