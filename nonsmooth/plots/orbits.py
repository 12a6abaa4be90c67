"""The path of a journal, or a ball, in its clearance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import window_of
from nonsmooth.exceptions import InputError
from nonsmooth.model.drawing import Bearing, Vector
from nonsmooth.plots.drawing import Drawn, Placed, drawing_of_run
from nonsmooth.plots.labels import display, quantity
from nonsmooth.plots.style import COLOURS, INK, dress, legend, own_axes
from nonsmooth.settings import checked
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS, PER_STEP = 6000, 40  # points of the path in all, as far as rows are fewer, and at most in one step
PRESSING = 1e-9  # share of the largest force below which a contact is regarded as unloaded
ROUND = 361  # points of the clearance circle
PLANES = ("xy", "yz", "xz")  # planes in which the path of a ball is shown


@dataclass(frozen=True, eq=False)
class JournalPath:
    """The path (n, 2) [m] of a journal's or a ball's centre at times (n,) [s], in the frame of bearing or socket."""

    name: str  # of a joint in the plane its own, of a journal in space that of a gap, of a ball "ball.xy" and so on
    joint: str
    gap: str
    axes: tuple[str, str]  # names of the two components
    clearance: float  # radius of the circle [m]
    t: Array
    e: Array
    pressing: NDArray[np.bool_]  # whether the contact is loaded between two points (n - 1,)


def journal_paths(trajectory: Trajectory, window: tuple[float, float] | None = None) -> list[JournalPath]:
    """Paths of all joints with clearance about a journal or a ball; rows and the window's ends are among the points."""
    first, last = window_of(trajectory, window)
    rows = np.unique([first, *trajectory.t[(trajectory.t > first) & (trajectory.t < last)], last])
    count = int(np.clip(POINTS // max(len(rows) - 1, 1), 1, PER_STEP))
    t = np.append((rows[:-1, None] + np.diff(rows)[:, None] * (np.arange(count) / count)).ravel(), last)
    drawing, found = drawing_of_run(trajectory, t), []
    for part, one, names in _bearings(drawing.parts):
        for (name, gap, axes), e in zip(names, _eccentricities(drawing.placed, one), strict=True):
            force = trajectory.lam_N[gap]
            step = np.clip(np.searchsorted(trajectory.t, (t[:-1] + t[1:]) / 2), 1, max(len(trajectory.t) - 1, 1))
            pressing = force[step] > PRESSING * np.max(force)
            found.append(JournalPath(name, part.element.name, gap, axes, one.clearance, t, e, pressing))
    return found


def orbit_names(trajectory: Trajectory) -> dict[str, list[str]]:
    """Names of the paths of each joint that has any; none of a run that does not describe its mechanism."""
    if not trajectory.manifest.get("model", {}).get("elements"):
        return {}
    parts = drawing_of_run(trajectory, trajectory.t[:1]).parts
    return {part.element.name: [name for name, _, _ in names] for part, _, names in _bearings(parts)}


def loose_bearings(trajectory: Trajectory) -> list[str]:
    """Planar bearings with clearance, those with the largest impulses first."""
    elements = trajectory.manifest.get("model", {}).get("elements", ())
    names = [one["name"] for one in elements if one["kind"] == "RevoluteClearance" and one.get("axis_a") is None]
    known = [name for name in names if name in trajectory.P_N]
    return sorted(known, key=lambda name: -float(np.sum(trajectory.P_N[name])))


def _bearings(parts: tuple[Drawn, ...]) -> Iterator[tuple[Drawn, Bearing, list[tuple[str, str, tuple[str, str]]]]]:
    """Bearings with clearance, and the names of each one's paths, of their gaps and of their two components."""
    for part, one in ((each, one) for each in parts for one in each.primitives if isinstance(one, Bearing)):
        name, gaps = part.element.name, part.gap_names()
        if gaps and one.axis_a:
            yield part, one, [(gap, gap, _across(one.axis_a)[2]) for gap in gaps[: len(one.sections)]]
        elif gaps and part.element.dimensions == (3,):
            yield part, one, [(f"{name}.{plane}", gaps[0], (plane[0], plane[1])) for plane in PLANES]
        elif gaps:
            yield part, one, [(name, gaps[0], ("x", "y"))]


def _across(axis: Vector) -> tuple[Array, Array, tuple[str, str]]:
    """Two unit vectors across an axis, with their names: axes of the body where the axis is one of them."""
    n = np.array(axis) / np.linalg.norm(axis)
    k = int(np.argmax(np.abs(n)))
    i, j = sorted({0, 1, 2} - {k})
    first, second = np.eye(3)[[i, j]]
    if abs(n[k]) > 1.0 - 1e-12:
        return first, second, ("xyz"[i], "xyz"[j])
    first = first - (first @ n) * n
    first /= np.linalg.norm(first)
    return first, np.cross(n, first), ("u", "v")


def _eccentricities(placed: Placed, one: Bearing) -> list[Array]:
    """Vectors from the bearing's to the journal's centre (n, 2) [m] of each path, in the bearing's frame.

    At the ends of a journal in space as the gaps: from the axis of the longer part across it to the end of the shorter.
    """
    offset, turned = placed.spot(one.b) - placed.spot(one.a), placed.rotation(one.a.body)
    if not one.axis_a:
        e = np.asarray(np.einsum("nji,nj->ni", turned, offset))
        return [e] if e.shape[1] == 2 else [e[:, ["xyz".index(axis) for axis in plane]] for plane in PLANES]
    axes = [placed.vectors(spot.body, axis) for spot, axis in ((one.a, one.axis_a), (one.b, one.axis_b))]
    sleeve, journal = (axis / np.linalg.norm(axis, axis=1, keepdims=True) for axis in axes)
    along = journal if one.of_sleeve else sleeve
    first, second, _ = _across(one.axis_a)
    found = []
    for x in one.sections:
        e = offset - x * sleeve if one.of_sleeve else offset + x * journal
        e = e - np.sum(e * along, axis=1, keepdims=True) * along
        found.append(np.einsum("nji,nj->ni", turned, e) @ np.column_stack([first, second]))
    return found


@checked
def orbit(
    trajectory: Trajectory, joint: str, *, window: tuple[float, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the path of the journal's centre in its bearing, in the bearing's own frame.

    The centre is free within the circle of the clearance. A loaded rigid journal moves along the circle, a compliant
    one beyond it, by the penetration; contact intervals are drawn in a separate colour. Impacts are ticks outside the
    circle. Between rows the path follows `nonsmooth.diagnostics.motion.coordinates`. InputError for a joint that has no
    such path, or several, or a window outside the run.

    Parameters
    ----------
    trajectory
        The run, or one read from a file: positions of bearing and journal, and the clearance, are those of its
        manifest.
    joint
        Name of a joint with clearance about a journal or a ball. In space a journal has a path at each end, called as
        its gap, ``"pin.radial_back"``, and a ball its projections, ``"ball.xy"``, ``"ball.yz"``, ``"ball.xz"``.
    window : (from, to) [s], optional, only this part of the run, for instance its last revolutions
    ax
        Axes to draw into, without a legend (use ``ax.legend()``). By default axes of a new figure, ``axes.figure``,
        with a legend.
    """
    from matplotlib.collections import LineCollection

    names = orbit_names(trajectory)
    every = [name for own in names.values() for name in own]
    if joint in names and joint not in every:
        raise InputError(f"{joint!r} has {len(names[joint])} orbits; choose one of {', '.join(names[joint])}.")
    if joint not in every:
        raise InputError(
            f"An orbit is drawn of a journal or a ball in its clearance, but {joint!r} is none. "
            f"The run has {', '.join(every) or 'no such joint'}."
        )
    path = next(path for path in journal_paths(trajectory, window) if path.name == joint)
    unit, factor = display("m", path.clearance)
    t, e, clearance = path.t, path.e / factor, path.clearance / factor
    axis = own_axes(ax, 3.8, 4.1)
    axis.set_aspect("equal")
    turn = np.linspace(0.0, 2 * np.pi, ROUND)
    circle = clearance * np.cos(turn), clearance * np.sin(turn)
    axis.fill(*circle, color="#F4F4F4", lw=0.0, zorder=0)
    axis.plot(*circle, color="black", lw=0.6, ls=(0, (4, 3)), zorder=4, label="clearance")
    ends = np.concatenate([[0], np.flatnonzero(np.diff(path.pressing)) + 1, [len(path.pressing)]])
    parts = [(bool(path.pressing[i]), e[i : j + 1]) for i, j in zip(ends[:-1], ends[1:], strict=True)]
    for touching, colour, width, label in ((False, COLOURS[0], 0.8, "flight"), (True, COLOURS[1], 1.6, "contact")):
        chosen = [points for loaded, points in parts if loaded == touching]
        if chosen:
            style = {"colors": colour, "linewidths": width, "capstyle": "round", "joinstyle": "round"}
            axis.add_collection(LineCollection(chosen, label=label, zorder=2 + touching, **style))
    axis.plot(*e[0], ls="", marker="P", ms=5, mfc="white", mec=INK, mew=0.7, label="start", zorder=6)
    reach = float(np.max(np.hypot(*e.T), initial=clearance))
    struck = trajectory.impacts["t"][trajectory.impacts["contact"] == path.gap]
    struck = struck[(struck >= t[0]) & (struck <= t[-1])]
    if struck.size:  # ticks that stand on the rim
        places = np.column_stack([np.interp(struck, t, x) for x in e.T])
        direction = places / np.hypot(*places.T)[:, None]
        foot, top = 1.03 * reach * direction, 1.09 * reach * direction
        x, y = np.stack([foot, top, np.full_like(foot, np.nan)], axis=1).reshape(-1, 2).T
        axis.plot(x, y, color=INK, lw=0.6, label="impact", zorder=3)
    axis.set(xlim=(-1.12 * reach, 1.12 * reach), ylim=(-1.12 * reach, 1.12 * reach))
    what, where = "Journal in its bearing", "bearing"
    if path.joint != path.name and path.gap != path.name:
        what, where = "Ball in its socket", "socket"
    across, up = (quantity(f"{name} in the {where}", unit) for name in path.axes)
    dress(axis, f"{what}, {path.name}", across, up)
    if ax is None:
        legend(axis.figure, loc="outside lower center", ncols=5, borderaxespad=0.2)
    return axis
