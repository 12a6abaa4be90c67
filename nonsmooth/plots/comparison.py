"""Figures of comparisons between rigid and compliant contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates, impulses
from nonsmooth.plots.curves import display
from nonsmooth.plots.panel import Line, meaning
from nonsmooth.plots.style import COLOURS, FAINT, INK, MARKERS, SIZE, decades, dress, new_figure, power, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.compare import Comparison
    from nonsmooth.studies.rigid_limit import RigidLimit

REFERENCE: dict[str, Any] = {"color": "black", "lw": 0.9, "ls": (0, (4, 2.5))}
#: depth [m], distance and own error [-] below which a dot stands at the edge: round-off
LOWEST = {"penetration": 1e-15, "distance": 1e-9, "own_error": 1e-9}
POINTS = 3000
#: share of its range below which differences of a coordinate are drawn instead of itself
SMALL = 0.05


def comparison(found: Comparison) -> Figure:
    """Motion, impulse, mean force and depth over time, and depth, distance, own error, cost and verdict of each case.

    The coordinate with the largest difference relative to its range and the contact with the largest impulse are drawn.
    """
    rows = 0.30 + 0.15 * len(found.cases)  # of the lower panels, over the height of the upper ones
    figure = new_figure(7.2, 2.6 * (2.0 + rows))
    grid = figure.add_gridspec(3, 4, height_ratios=(1.0, 1.0, rows))
    panels = [figure.add_subplot(grid[i // 2, 2 * (i % 2) : 2 * (i % 2) + 2]) for i in range(4)]
    coordinate, contact = _most_telling(found)
    _motion(panels[0], found, coordinate)
    _impulse(panels[1], found, contact)
    _force(panels[2], found, contact)
    _depth(panels[3], found)
    dots = [figure.add_subplot(grid[2, i]) for i in range(4)]
    _worth(dots, found)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(
        *handles, loc="outside upper center", ncols=min(len(handles[1]), 3), frameon=False, fontsize=SIZE,
        labelcolor=INK, handlelength=2.2, columnspacing=1.6,
    )  # fmt: skip
    figure.align_ylabels(panels)
    return figure


def rigid_limit(found: RigidLimit) -> Figure:
    """Error of the motion and of the first impulse, depth, and cost over the stiffness, with fitted powers."""
    figure = new_figure(7.2, 4.6)
    axes = figure.subplots(2, 2, sharex=True).ravel()
    K = found.stiffness
    panels: Sequence[tuple[str, str, Array, str]] = (
        ("Distance to rigid contact", "[-]", found.distance, "distance"),
        ("Error of the first impulse", "[-]", np.abs(found.impulse_error), "impulse"),
        ("Deepest penetration", "[m]", found.penetration, "penetration"),
        ("Evaluations of the equations of motion", "[-]", found.evaluations, ""),
    )
    for i, (axis, (title, unit, values, name)) in enumerate(zip(axes, panels, strict=True)):
        axis.loglog(K, values, color=COLOURS[0], marker="o", ms=4, lw=1.2, zorder=3)
        dress(axis, title, "stiffness K [N/m$^{1.5}$]" if i >= 2 else "", unit)
        axis.tick_params(which="minor", length=0)
        if name:
            _power(axis, K, values, found.orders[name])
        else:
            decades(axis, "y", 3, plain=True)
    if found.needed:
        depth, stiffness = found.needed["depth"], found.needed["stiffness"]
        low = axes[2].get_ylim()[0]
        axes[2].plot([K[0], stiffness, stiffness], [depth, depth, low], color=COLOURS[2], lw=0.9)
        axes[2].set_ylim(bottom=low)
        soft = stiffness**2 < K[0] * K[-1]  # where the curve leaves room: right of the drop, or above the level
        axes[2].annotate(
            f"{power(depth, 2)} m needs K = {power(stiffness, 2)}", (stiffness, low) if soft else (K[0], depth),
            (4, 6) if soft else (2, 3), textcoords="offset points", fontsize=SIZE - 0.5, color=COLOURS[2],
        )  # fmt: skip
    figure.align_ylabels(list(axes))
    return figure


def _most_telling(found: Comparison) -> tuple[str, str]:
    """The coordinate in which the cases differ most from the reference, and the contact with the largest impulse."""
    extents = found.settings["scale of coordinates [m or rad]"]
    worst = {
        name: max(float(found.table[label]["deviation"][name]) / extent for label in found.labels)
        for name, extent in extents.items()
    }
    impulse = found.table[found.reference]["impulse"]
    return max(worst, key=lambda name: worst[name]), max(impulse, key=lambda name: impulse[name])


def _times(found: Comparison) -> tuple[Array, str, float]:
    t = np.unique(np.concatenate([np.linspace(found.edges[0], found.edges[-1], POINTS), found.truth.rows]))
    t = t[(t >= found.edges[0]) & (t <= found.edges[-1])]
    return t, *display("s", float(found.edges[-1] - found.edges[0]))


def _motion(axis: Axes, found: Comparison, coordinate: str) -> None:
    t, time_unit, second = _times(found)
    i = found.truth.names.index(coordinate)
    truth = found.truth.positions(t)[:, i]
    curves = []
    for label, run, style in _styled(found):
        times = np.union1d(t, run.t[run.t <= t[-1]])
        curves.append((label, times, coordinates(run, times)[:, i], style))
    apart = max(float(np.max(np.abs(y - found.truth.positions(times)[:, i]))) for _, times, y, _ in curves)
    small = apart < SMALL * float(np.ptp(truth))
    unit, factor = display(found.truth.units[i], apart if small else float(np.max(np.abs(truth))))
    for label, times, y, style in curves:
        shown = y - found.truth.positions(times)[:, i] if small else y
        axis.plot(times / second, shown / factor, label=label, **style)
    exact = found.settings["truth"][found.reference] == "exact"
    label = "rigid, exact" if exact else f"{found.reference}, converged"
    axis.plot(t / second, truth * (0 if small else 1) / factor, label=label, **REFERENCE, zorder=20)
    title = f"{coordinate}, difference from the reference" if small else coordinate
    shown_as = meaning([Line("q", coordinate, coordinate)], unit)
    _over_time(axis, title, shown_as, unit, found, time_unit, second)


def _impulse(axis: Axes, found: Comparison, contact: str) -> None:
    t, time_unit, second = _times(found)
    i = found.truth.contacts.index(contact)
    truth = found.truth.impulses(t)[:, i]
    unit, factor = display("N s", float(np.max(truth)))
    for _, run, style in _styled(found):
        grid = np.union1d(t, run.t)
        grid = grid[grid <= t[-1]]
        axis.plot(grid / second, impulses(run, grid)[:, i] / factor, **style)
    axis.plot(t / second, truth / factor, **REFERENCE, zorder=20)
    _over_time(axis, f"{contact}, impulse so far", "impulse", unit, found, time_unit, second)


def _force(axis: Axes, found: Comparison, contact: str) -> None:
    _, time_unit, second = _times(found)
    i = found.truth.contacts.index(contact)
    truth = np.diff(found.truth.impulses(found.edges)[:, i]) / np.diff(found.edges)
    unit, factor = display("N", float(np.max(truth)))
    for k, (_, _, style) in enumerate(_styled(found)):
        axis.stairs(found.forces[k, :, i] / factor, found.edges / second, baseline=None, **style)
    axis.stairs(truth / factor, found.edges / second, baseline=None, **REFERENCE, zorder=20)
    width = (found.edges[1] - found.edges[0]) / second
    title = f"{contact}, mean force over {width:.3g} {time_unit}"
    _over_time(axis, title, "mean force", unit, found, time_unit, second)


def _depth(axis: Axes, found: Comparison) -> None:
    _, time_unit, second = _times(found)
    peak = max(float(found.table[label]["penetration"]) for label in found.labels)
    unit, factor = display("m", peak)
    for _, run, style in _styled(found):
        deepest = np.maximum(-run.gap.array.min(axis=1), 0.0)
        axis.plot(run.t / second, deepest / factor, **style)
    _over_time(axis, "Overlap of surfaces", "penetration", unit, found, time_unit, second)


def _worth(axes: Sequence[Axes], found: Comparison) -> None:
    """One dot per case: deepest overlap, distance to the reference, own error, time at equal error (without a target,
    as run); beside them its verdict."""
    target = found.settings["target of the own error [-]"]
    table = [found.table[label] for label in found.labels]
    walls = [1e3 * (row["equal_error"]["wall"] if target > 0 else row["wall"]) for row in table]
    at = f" at own error {power(target, 2)}" if target > 0 else ""
    verdicts = [f"{label}\n{row['verdict']}" for label, row in zip(found.labels, table, strict=True)]
    columns = (
        ("Deepest overlap", "[m]", [row["penetration"] for row in table], LOWEST["penetration"]),
        ("Distance", "to the reference [-]", [row["distance"] for row in table], LOWEST["distance"]),
        ("Own error", "[-]", [row["own_error"] for row in table], LOWEST["own_error"]),
        ("Time of the run", f"[ms]{at}", walls, 0.0),
    )
    places = np.arange(len(table))[::-1]
    for axis, (title, unit, values, lowest) in zip(axes, columns, strict=True):
        shown = np.array([max(float(value), lowest) for value in values])
        known = shown[np.isfinite(shown)] if np.isfinite(shown).any() else np.ones(1)
        axis.set_xscale("log")
        room = max(2.5, float(known.max() / known.min()) ** 0.08)  # so that dots stand clear of the edges
        low, high = float(known.min()) / room, float(known.max()) * room
        axis.set_xlim(low, high)
        for k, (_, _, style) in enumerate(_styled(found)):
            if np.isfinite(shown[k]):
                axis.plot(shown[k], places[k], marker=MARKERS[k % len(MARKERS)], ms=5, color=style["color"], ls="")
            low_one = f"below {power(lowest)}" if shown[k] <= lowest else ""
            note = low_one if np.isfinite(shown[k]) else "not reached"
            axis.annotate(
                note, (shown[k] if np.isfinite(shown[k]) else low, places[k]), (6, 0), textcoords="offset points",
                fontsize=SIZE - 1.5, va="center", color=FAINT, bbox={"fc": "white", "ec": "none", "pad": 1.0},
            )  # fmt: skip
        decades(axis, "x", 3, plain=not lowest)
        dress(axis, title, unit, "")
        axis.set_yticks(places, verdicts if axis is axes[0] else [""] * len(table))
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(-0.6, len(table) - 0.4)


def _styled(found: Comparison) -> list[tuple[str, Any, dict[str, Any]]]:
    """Label, run and line style of each case: later ones thinner, so that coincident ones all show."""
    entries = []
    for k, case in enumerate(found.cases):
        rigid = len(found.runs[case.label].impacts) > 0
        width = (2.8 if k == 0 else 1.8) if rigid else 1.1
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "lw": width, "zorder": 3 + k}
        if k >= len(COLOURS):
            style["ls"] = (0, (3, 1.2))
        entries.append((case.label, found.runs[case.label], style))
    return entries


def _over_time(
    axis: Axes, title: str, meaning: str, unit: str, found: Comparison, time_unit: str, second: float
) -> None:
    """What panels over time share."""
    dress(axis, title, quantity("time", time_unit), quantity(meaning, unit))
    axis.set_xlim(found.edges[0] / second, found.edges[-1] / second)
    axis.margins(y=0.08)


def _power(axis: Axes, K: Array, values: Array, p: float) -> None:
    """The fitted power, through the last point, with its exponent."""
    if not np.isfinite(p):
        return
    known = np.isfinite(values)
    line = values[known][-1] * (K[known] / K[known][-1]) ** -p
    axis.loglog(K[known], line, color=COLOURS[1], lw=0.9, ls=(0, (4, 2.5)))
    axis.text(
        0.97, 0.93, rf"$\sim K^{{-{p:.2f}}}$", transform=axis.transAxes, ha="right", va="top", fontsize=SIZE + 1,
        color=COLOURS[1],
    )  # fmt: skip
