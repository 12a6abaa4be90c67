"""Figures of comparisons: rigid with compliant contact, a problem with its source, schemes over the step size, laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates, impulses
from nonsmooth.plots.labels import display, power, quantity, shown_unit
from nonsmooth.plots.panel import Line, meaning
from nonsmooth.plots.style import COLOURS, FAINT, INK, MARKERS, SIZE, decades, dress, legend, legend_lines, new_figure
from nonsmooth.settings import checked
from nonsmooth.studies.beyond import RATE, difference_of
from nonsmooth.studies.cases import motion_times
from nonsmooth.studies.published import SIZES, smooth
from nonsmooth.studies.shown import Chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.compare import Comparison
    from nonsmooth.studies.published import PublishedRuns
    from nonsmooth.studies.rigid_limit import LawCard, RigidLimit
    from nonsmooth.studies.step_size import Bounds, StepSizes

REFERENCE: dict[str, Any] = {"color": "black", "lw": 0.9, "ls": (0, (4, 2.5))}
#: depth [m], distance and own error [-] below which a dot stands at the edge: round-off
LOWEST = {"penetration": 1e-15, "distance": 1e-9, "own_error": 1e-9}
POINTS = 3000
SMALL = 0.05  # share of its range below which differences of a coordinate are drawn instead of itself
#: lines of the kinds of contact, told apart in grey and where they coincide; of the ideal twin and of printed numbers
STYLES: tuple[dict[str, Any], ...] = (
    {"lw": 2.6, "alpha": 0.4}, {"lw": 0.8}, {"lw": 0.8, "ls": (0, (5, 3)), "marker": "x", "ms": 3.5},
)  # fmt: skip
IDEAL: dict[str, Any] = {"color": INK, "lw": 0.6, "ls": (0, (1, 1.5)), "zorder": 5}
PRINTED: dict[str, Any] = {"lw": 0.8, "ls": (0, (7, 1.5, 1.5, 1.5)), "zorder": 6}
MARKS = 6  # marks of a curve
FAR = 5.0  # printed numbers so many times the largest of ours are not drawn as lines
BETWEEN = 600.0  # times of a run at which it is drawn, at least
DOTS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "ms": 6.5, "alpha": 0.4}, {"marker": "s", "ms": 3.2}, {"marker": "x", "ms": 4.5},
)  # fmt: skip
ORDER = (0, 1, 2, 3, 5, 4)  # of the colours, so that neighbours in the legend differ most
#: values below which a measure is round-off and stands at the edge
ROUND_OFF = {"error": 1e-15, "impulse_error": 1e-12, "violation": 1e-18, "energy": 1e-16}
STIFFNESS = "stiffness K [N/m$^{1.5}$]"
JOINTS = 4  # of a comparison that are drawn at most
NONE = 1e-12  # overlap [m] that counts as none


@checked
def comparison(found: Comparison) -> Figure:
    """Motion, impulse, mean force and depth over time, and depth, distance, own error, cost and verdict of each case.

    Drawn is what was chosen to `show`, of measures a dot per case; else the coordinate with the largest difference
    relative to its range, and of up to four joints the contact with the largest impulse.
    Of a sensitive motion, which is compared until its horizon, differences of its statistics with their intervals too.
    """
    impulse = found.table[found.reference]["impulse"]
    shown = sorted(found.shown_contacts, key=lambda name: -impulse[name])
    if found.show == Chosen():
        shown = shown[:JOINTS]
    # of the lower panels, over the height of the upper ones
    coordinates_shown, reactions = found.show.coordinates, found.show.reactions
    extents = found.settings["scale of coordinates [m or rad]"]
    apart = [found.table[label]["deviation"] for label in found.labels]
    usual = max(extents, key=lambda name: max(float(one[name]) / extents[name] for one in apart))
    moving = coordinates_shown or (usual,)
    single = len(moving) + 1 + len(reactions)
    upper = (single + 1) // 2 + len(shown)
    measures = found.show.measures_of(found.shown)
    dots = 1 + -(-len(measures) // 4)  # rows of four panels
    heights = [1.0] * upper + [0.30 + 0.15 * len(found.cases)] * dots
    known = found.statistics.get(found.reference)
    if known is not None:
        heights.append(0.35 + 0.022 * len(found.cases) * len(known.measures))
    figure = new_figure(7.2, 2.6 * sum(heights))
    grid = figure.add_gridspec(len(heights), 4, height_ratios=heights)
    places = [*range(single), *range(2 * (upper - len(shown)), 2 * upper)]
    panels = [figure.add_subplot(grid[i // 2, 2 * (i % 2) : 2 * (i % 2) + 2]) for i in places]
    for axis, name in zip(panels, moving, strict=False):
        _motion(axis, found, name)
    curves = [(run.t, np.maximum(-run.gap.array.min(axis=1), 0.0), style) for _, run, style in _styled(found)]
    deepest = max(float(found.table[label]["penetration"]) for label in found.labels)
    _over_time(panels[len(moving)], found, "Overlap of surfaces", "penetration", "m", deepest, curves)
    for axis, name in zip(panels[len(moving) + 1 :], reactions, strict=False):
        curves = [(run.t, run.reaction[name], style) for _, run, style in _styled(found)]
        unit, peak = found.runs[found.labels[0]].reaction.units(name), max(np.max(np.abs(y)) for _, y, _ in curves)
        _over_time(axis, found, f"{name}, without impacts", "reaction", unit, float(peak), curves)
    for i, contact in enumerate(shown):
        _contact(panels[single + 2 * i :], found, contact)
    _worth([figure.add_subplot(grid[upper, i]) for i in range(4)], found)
    for i, (title, values) in enumerate(measures.items()):
        axis = figure.add_subplot(grid[upper + 1 + i // 4, i % 4])
        _dots(axis, found, title, values, first=i % 4 == 0)
    if known is not None:
        _beyond(figure.add_subplot(grid[-1, :]), found)
    handles, labels = panels[0].get_legend_handles_labels()
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": min(len(labels), 3), "columnspacing": 1.6}
    figure.legend(handles, labels, frameon=False, fontsize=SIZE, labelcolor=INK, handlelength=2.2, **place)
    figure.align_ylabels(panels)
    return figure


@checked
def rigid_limit(found: RigidLimit) -> Figure:
    """Error of the motion and of the first impulse, depth, and cost over the stiffness, with fitted powers; of a
    sensitive motion also differences of its statistics from those of rigid contact."""
    beyond = (
        {"Energy lost, beyond the horizon": RATE, "Impacts, beyond the horizon": "impacts"} if found.statistics else {}
    )
    rows, K = (3 if beyond else 2) + -(-len(found.shown) // 2), found.stiffness
    figure = new_figure(7.2, 2.3 * rows)
    axes = figure.subplots(rows, 2, sharex=True).ravel()
    panels = (
        ("Distance to rigid contact", "[-]", found.distance, "distance"),
        ("Error of the first impulse", "[-]", np.abs(found.impulse_error), "impulse"),
        ("Deepest penetration", "[m]", found.penetration, "penetration"),
        ("Evaluations of the equations of motion", "[-]", found.evaluations, ""),
    )
    for i, (axis, (title, unit, values, name)) in enumerate(zip(axes[:4], panels, strict=True)):
        axis.loglog(K, values, color=COLOURS[0], marker="o", ms=4, lw=1.2, zorder=3)
        dress(axis, title, STIFFNESS if i >= 2 and rows == 2 else "", unit)
        axis.tick_params(which="minor", length=0)
        if not name:
            decades(axis, "y", 3, plain=True)
        elif np.isfinite(p := found.orders[name]):  # the fitted power, through the last point, with its exponent
            known = np.isfinite(values)
            line = values[known][-1] * (K[known] / K[known][-1]) ** -p
            axis.loglog(K[known], line, color=COLOURS[1], lw=0.9, ls=(0, (4, 2.5)))
            style: dict[str, Any] = {"transform": axis.transAxes, "fontsize": SIZE + 1, "color": COLOURS[1]}
            axis.text(0.97, 0.93, rf"$\sim K^{{-{p:.2f}}}$", ha="right", va="top", **style)
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
    for axis, (title, measure) in zip(axes[-2:], beyond.items(), strict=False):
        apart, half = 100 * found.beyond(measure).T
        axis.errorbar(K, apart, yerr=half, color=COLOURS[0], marker="o", ms=4, lw=1.2, capsize=2)
        axis.axhline(0.0, color=INK, lw=0.6)
        dress(axis, title, STIFFNESS, "against rigid contact, 95 % [%]")
    for i, (title, (rigid, *numbers)) in enumerate(found.shown.items()):
        axis, (what, _, unit) = axes[4 + i], title.rpartition(" [")
        axis.semilogx(K, numbers, color=COLOURS[0], marker="o", ms=4, lw=1.2)
        axis.axhline(rigid, label="rigid", **REFERENCE)
        last = not beyond and i >= len(found.shown) - 2  # in its column
        dress(axis, what, STIFFNESS if last else "", f"[{unit}")
        axis.tick_params(which="minor", length=0)
        axis.tick_params(labelbottom=last)
        legend(axis, loc="best")
    for axis in axes[4 + len(found.shown) : len(axes) - len(beyond)]:
        axis.axis("off")
    figure.align_ylabels(list(axes))
    return figure


def _beyond(axis: Axes, found: Comparison) -> None:
    """Differences of the statistics from those of the reference, with their intervals."""
    first, others = found.statistics[found.reference], [label for label in found.labels if label != found.reference]
    names, styles = list(first.measures), {label: style for label, _, style in _styled(found)}
    for k, label in enumerate(others):
        for i, name in enumerate(names) if label in found.statistics else ():
            apart, half = difference_of(found.statistics[label][name], first[name])
            place = i + 0.7 * ((k + 0.5) / len(others) - 0.5)
            bar: dict[str, Any] = {"color": styles[label]["color"], "marker": "o", "ms": 3, "lw": 1.1, "capsize": 2}
            axis.errorbar(100 * apart, place, xerr=100 * half, **bar)
    axis.axvline(0.0, color=INK, lw=0.6)
    axis.set_ylim(len(names) - 0.5, -0.5)
    dress(axis, f"Statistics beyond the horizon, against {found.reference}", "difference, 95 % [%]", "")
    axis.set_yticks(range(len(names)), names, fontsize=SIZE - 0.5)
    axis.grid(visible=False, axis="y")


def _over_time(
    axis: Axes, found: Comparison, title: str, word: str, base: str, peak: float,
    curves: Sequence[tuple[Array, Array, dict[str, Any]]],
) -> float:  # fmt: skip
    """Curves (times, values, style) in a display unit of their peak, whose factor is returned."""
    (time_unit, second), (unit, factor) = display("s", float(found.edges[-1] - found.edges[0])), display(base, peak)
    for t, y, style in curves:
        axis.plot(t / second, y / factor, **style)
    dress(axis, title, quantity("time", time_unit), quantity(word, unit))
    axis.set_xlim(found.edges[0] / second, found.edges[-1] / second)
    axis.margins(y=0.08)
    return factor


def _motion(axis: Axes, found: Comparison, coordinate: str) -> None:
    t = motion_times(np.linspace(found.edges[0], found.edges[-1], POINTS), found.truth)
    i = found.truth.names.index(coordinate)
    unit, truth = found.truth.units[i], found.truth.positions(t)[:, i]
    curves = []
    for label, run, style in _styled(found):
        times = np.union1d(t, run.t[run.t <= t[-1]])
        y = coordinates(run, times)[:, i]
        curves.append((times, y, y - found.truth.positions(times)[:, i], style | {"label": label}))
    exact = found.settings["truth"][found.reference] == "exact"
    label = "rigid, exact" if exact else f"{found.reference}, converged"
    curves.append((t, truth, 0.0 * truth, REFERENCE | {"label": label, "zorder": 20}))
    apart = max(float(np.max(np.abs(difference))) for _, _, difference, _ in curves)
    if apart < SMALL * float(np.ptp(truth)):
        title, peak = f"{coordinate}, difference from the reference", apart
        shown = [(times, difference, style) for times, _, difference, style in curves]
    else:
        title, peak = coordinate, float(np.max(np.abs(truth)))
        shown = [(times, y, style) for times, y, _, style in curves]
    _over_time(axis, found, title, meaning([Line("q", coordinate, coordinate)], unit), unit, peak, shown)


def _contact(axes: Sequence[Axes], found: Comparison, contact: str) -> None:
    """Impulse and mean force of a contact."""
    edges, i = found.edges, found.truth.contacts.index(contact)
    t = motion_times(np.linspace(edges[0], edges[-1], POINTS), found.truth)
    time_unit, second = display("s", float(edges[-1] - edges[0]))
    truth, forces = found.truth.impulses(t)[:, i], np.diff(found.truth.impulses(edges)[:, i]) / np.diff(edges)
    curves = []
    for _, run, style in _styled(found):
        grid = np.union1d(t, run.t)
        grid = grid[grid <= t[-1]]
        curves.append((grid, impulses(run, grid)[:, i], style))
    curves.append((t, truth, REFERENCE | {"zorder": 20}))
    _over_time(axes[0], found, f"{contact}, impulse so far", "impulse", "N s", float(np.max(truth)), curves)
    title = f"{contact}, mean of {(edges[1] - edges[0]) / second:.3g} {time_unit}"
    newton = _over_time(axes[1], found, title, "mean force", "N", float(np.max(forces)), [])
    for k, (_, _, style) in enumerate(_styled(found)):
        axes[1].stairs(found.forces[k, :, i] / newton, edges / second, baseline=None, **style)
    axes[1].stairs(forces / newton, edges / second, baseline=None, **REFERENCE, zorder=20)


def _worth(axes: Sequence[Axes], found: Comparison) -> None:
    """One dot per case: deepest overlap, distance to the reference, own error, time at equal error (without a target,
    as run); beside them its verdict."""
    target = found.settings["target of the own error [-]"]
    table = [found.table[label] for label in found.labels]
    walls = [1e3 * (row["equal_error"]["wall"] if target > 0 else row["wall"]) for row in table]
    at = f" at own error {power(target, 2)}" if target > 0 else ""
    columns = (
        ("Deepest overlap\n[m]", "penetration"), ("Distance\nto the reference [-]", "distance"),
        ("Own error\n[-]", "own_error"), (f"Time of the run\n[ms]{at}", "wall"),
    )  # fmt: skip
    for axis, (title, name) in zip(axes, columns, strict=True):
        lowest = LOWEST.get(name, 0.0)
        values = [max(float(x), lowest) for x in (walls if name == "wall" else [row[name] for row in table])]
        known = [x for x in values if np.isfinite(x)] or [1.0]
        axis.set_xscale("log")
        room = max(2.5, (max(known) / min(known)) ** 0.08)  # so that dots stand clear of the edges
        axis.set_xlim(min(known) / room, max(known) * room)
        _dots(axis, found, title, values, first=axis is axes[0], lowest=lowest)
        decades(axis, "x", 3, plain=not lowest)


def _dots(
    axis: Axes, found: Comparison, title: str, values: Sequence[float], *, first: bool, lowest: float = -np.inf
) -> None:
    """One dot per case, in the first of a row of panels with its verdict; the title has the unit below it."""
    places = np.arange(len(values))[::-1]
    for k, (_, _, style) in enumerate(_styled(found)):
        known = np.isfinite(values[k])
        if known:
            axis.plot(values[k], places[k], marker=MARKERS[k % len(MARKERS)], ms=5, color=style["color"], ls="")
        small: dict[str, Any] = {"fontsize": SIZE - 1.5, "va": "center", "color": FAINT}
        box = {"fc": "white", "ec": "none", "pad": 1.0}
        note = f"below {power(lowest)}" if known and values[k] <= lowest else "" if known else "not reached"
        place = (values[k], places[k]) if known else (axis.get_xlim()[0], places[k])
        axis.annotate(note, place, (6, 0), textcoords="offset points", bbox=box, **small)
    what, _, unit = title.partition("\n")
    dress(axis, what, unit, "")
    verdicts = [f"{label}\n{found.table[label]['verdict']}" for label in found.labels]
    axis.set_yticks(places, verdicts if first else [""] * len(values))
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(-0.6, len(values) - 0.4)


def _styled(found: Comparison) -> list[tuple[str, Any, dict[str, Any]]]:
    """Label, run and line style of each case: later ones thinner, so that coincident ones all show."""
    entries = []
    for k, case in enumerate(found.cases):
        width = (2.8 if k == 0 else 1.8) if len(found.runs[case.label].impacts) > 0 else 1.1
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "lw": width, "zorder": 3 + k}
        if k >= len(COLOURS):
            style["ls"] = (0, (3, 1.2))
        entries.append((case.label, found.runs[case.label], style))
    return entries


@checked
def published(found: PublishedRuns) -> Figure:
    """The panels that the source draws, one column per case, with the verdicts of its runs, and all printed numbers:
    lines in the panel of their series, and below ours over the printed ones.

    Between rows curves are those of the scheme. The ideal twin is dotted where runs are drawn, not errors.
    Accelerations and forces of runs with rigid impacts, which are not finite there, are left out.
    """
    from matplotlib.lines import Line2D

    cases, named = list(found.table), list(found.units)
    printed = [name for name in named if any(name in found.printed[case] for case in cases)]
    kinds = sorted(found.kinds, key=lambda kind: (kind != "compliant", kind != "rigid", kind))
    names = [[entry[-1] for entry in panel[3]] for panel in found.panels]
    lines = [legend_lines(one, 2.5) if i == 0 or one != names[i - 1] else 0 for i, one in enumerate(names)]
    heights = [1.6 + 0.15 * above for above in lines] + ([0.5 + 0.19 * len(printed)] if printed else [])
    figure = new_figure(width := max(2.5 * len(cases) + 1.2 * bool(printed), 4.0), sum(heights) + 0.9)
    share: dict[str, Any] = {"sharex": "row", "sharey": "row", "squeeze": False, "height_ratios": heights}
    axes = figure.subplots(len(heights), len(cases), **share)
    for j, case in enumerate(cases):
        for i, (title, unit, of, series) in enumerate(found.panels):
            axis = axes[i][j]
            _draw(axis, found, case, kinds, unit, of, series)
            axis.tick_params(labelbottom=i == len(found.panels) - 1)
            heading = f"Case {case}: {title}" if i == 0 else title
            said = "".join(f"\n{kind}: {found.verdict(case, kind).kind}" for kind in kinds)
            below = f"time [s]{said}" if i == len(found.panels) - 1 else ""
            what = "" if unit in ("-", "%") else "acceleration" if unit.endswith("/s^2") else meaning([], unit)
            beside = f"{what} [{shown_unit(unit)}]".replace("^2", "²").strip() if j == 0 else ""
            dress(axis, heading, below, beside, above=lines[i])
            if lines[i] and j == len(cases) - 1 and axis.lines:
                columns = -(-len(names[i]) // lines[i])
                legend(axis, ncols=columns, handlelength=0.9, loc="lower left", bbox_to_anchor=(0.0, 1.0))
        if printed:
            _ratios(axes[-1][j], found, case, kinds, printed)
    if printed:
        axes[-1][0].set_xscale("log")
        low, high = axes[-1][0].get_xlim()
        axes[-1][0].set_xlim(min(low, 0.5), max(high, 2.0))
        decades(axes[-1][0], "x", 3)
    marks = [Line2D([], [], color=INK, label=kind, **STYLES[k % len(STYLES)]) for k, kind in enumerate(kinds)]
    marks += [Line2D([], [], label="ideal", **IDEAL), Line2D([], [], label="printed", color=INK, **PRINTED)]
    legend(figure, handles=marks, loc="outside upper right", ncols=5 if width > 5.0 else 3, handlelength=2.0)
    return figure


def _ratios(axis: Axes, found: PublishedRuns, case: str, kinds: list[str], printed: list[str]) -> None:
    """Numbers of a case over the printed ones, which stand at the right."""
    known = found.printed[case]
    for k, kind in enumerate(kinds):
        row = found.table[case][kind]
        ratios = [row.get(name, np.nan) / known[name] if name in known else np.nan for name in printed]
        shown = [ratio if ratio > 0 else np.nan for ratio in ratios]
        axis.plot(shown, range(len(printed)), ls="", color=INK, **DOTS[k % len(DOTS)])
    axis.axvline(1.0, color=INK, lw=0.8, ls=PRINTED["ls"])
    axis.set_ylim(len(printed) - 0.5, -0.5)
    dress(axis, "Ours / printed, at the right", "ratio [-]", "")
    axis.set_yticks(
        range(len(printed)), [f"{name} [{shown_unit(found.units[name])}]".replace("^2", "²") for name in printed]
    )
    axis.tick_params(axis="y", length=0)
    style: dict[str, Any] = {"transform": axis.get_yaxis_transform(), "color": FAINT, "va": "center"}
    for i, name in enumerate(printed):
        axis.text(1.02, i, f"{known[name]:g}" if name in known else "", fontsize=SIZE - 1.5, **style)


def _draw(
    axis: Axes, found: PublishedRuns, case: str, kinds: list[str], unit: str, of: str, series: tuple[Any, ...]
) -> None:
    size = SIZES.get(unit, 1.0)
    lines = [(entry[0], entry[1]) if callable(entry[0]) else (entry[:2], entry[2]) for entry in series]
    printed: list[tuple[float, str, str]] = []
    for k, kind in enumerate(kinds):
        impacts = len(found.runs[case, kind].impacts)
        view = found.view(case, kind, of, BETWEEN)
        ideal = found.view(case, kind, "ideal", BETWEEN) if of == "run" and k == 0 else None
        for i, (colour, (which, label)) in enumerate(zip(COLOURS, lines, strict=False)):
            absent = not callable(which) and which[1] not in getattr(view, which[0] if which[0] != "a" else "v")
            if impacts and not smooth(which) or absent:
                continue
            style = {"color": colour, "zorder": 2 + k, **STYLES[k % len(STYLES)]}
            if k == 0 and len(lines) > 1:  # series are told apart in grey by marks of the first kind
                style |= {"marker": MARKERS[i], "ms": 3.0, "mfc": "white", "mew": 0.6}
            places = view.t[0] + (np.arange(MARKS) + 0.1 + 0.2 * (i + k)) / MARKS * (view.t[-1] - view.t[0])
            style["markevery"] = np.unique(np.searchsorted(view.t, places[places < view.t[-1]])).tolist()
            values = view.series(which) / size
            new = label not in axis.get_legend_handles_labels()[1]
            axis.plot(view.t, values, label=label if new else None, **style)
            if k == 0 and (number := found.printed_of(case, which, of)) is not None:
                printed.append((np.copysign(number, values[np.argmax(np.abs(values))]), colour, label))
            if ideal is not None and (callable(which) or which[0] != "F"):
                keep = np.unique(np.searchsorted(ideal.t, np.linspace(ideal.t[0], ideal.t[-1], 300)))  # it is smooth
                axis.plot(ideal.t[keep], (ideal.series(which) / size)[keep], **IDEAL)
    far = FAR * max((float(np.max(np.abs(line.get_ydata()))) for line in axis.lines), default=0.0)
    for level, colour, _ in printed:
        if abs(level) <= far:
            axis.axhline(level, color=colour, **PRINTED)
    beyond = ", ".join(f"{label} {abs(level):g}" for level, _, label in printed if abs(level) > far)
    if beyond:
        box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.8}
        said = f"printed, far out: {beyond}"
        axis.text(0.02, 0.05, said, transform=axis.transAxes, fontsize=SIZE - 1, color=INK, bbox=box)
    # forces of compliant impacts, which rigid contact does not have, are cut off above a few times its largest force
    names = [which[1] for which, _ in lines if not callable(which) and which[0] == "F"]
    largest = {kind: max((np.max(found.runs[case, kind].lam_N[name]) for name in names), default=0.0)
               for kind in found.kinds}  # fmt: skip
    known = [largest[kind] for kind in largest if len(found.runs[case, kind].impacts)]
    if known and max(largest.values()) > 3 * max(known) > 0.0:
        axis.set_ylim(-0.3 * max(known), 3 * max(known))
        said = f"up to {max(largest.values()) / size:.3g} {unit}"
        axis.text(0.98, 0.7, said, transform=axis.transAxes, ha="right", fontsize=SIZE - 1, color=FAINT)


@checked
def step_size(found: StepSizes) -> Figure:
    """Errors of gaps and impulses, and energy over the step; overlap over step and time; time over the error; `Landing`
    over its bounds.

    The legend gives the fitted order of the gaps' error. Steps chosen by an error control have no length of their own:
    of these cases the overlap alone is drawn over the step, the mean one.
    """
    rows = 3 if found.bounds is None else 4
    figure = new_figure(7.2, 1.3 + 2.2 * rows, w_pad=0.06, h_pad=0.06)
    axes = figure.subplots(rows, 2).ravel()
    none = rf"none at $10^{{{round(np.log10(ROUND_OFF['violation']))}}}$"
    panels = (
        ("error", "Mean error of the gaps", "error [clearances]"),
        ("impulse_error", "Mean error of the impulse", "error [N s]"),
        ("violation", "Worst overlap over the step", f"overlap [m], {none}"),
        ("violation", "Worst overlap over the cost", f"overlap [m], {none}"),
        ("energy", "Energy left by the balance", "energy [J]"),
    )
    step, time = "step, longest step of landing [s]", "time of the run [s]"
    mean = "step, longest of landing, mean of event-driven [s]"
    for k, (axis, (name, title, unit)) in enumerate(zip(axes, panels, strict=False)):
        overlap, cost = name == "violation", k == 3
        curves = [
            (one.seconds if cost else one.dt, one.measures[name]) if overlap or one.kind != "tolerance" else None
            for one in found.series
        ]
        _curves(axis, curves, ROUND_OFF[name])
        dress(axis, title, time if cost else mean if overlap else step, unit)
        if overlap:
            axis.axhline(NONE, color=FAINT, lw=0.8, ls=(0, (4, 2.5)))
            low, high = axis.get_ylim()
            axis.set_ylim(low, max(high, 30 * NONE))
            axis.text(
                0.99, NONE * 1.5, rf"$10^{{{round(np.log10(NONE))}}}$ m", transform=axis.get_yaxis_transform(),
                ha="right", va="bottom", fontsize=SIZE - 1, color=FAINT,
            )  # fmt: skip
    errors = [np.maximum(one.measures["error"], ROUND_OFF["error"]) for one in found.series]
    _curves(axes[5], [(error, one.seconds) for error, one in zip(errors, found.series, strict=True)], 0.0)
    dress(axes[5], "Work and precision", "mean error of the gaps [clearances]", time)
    if found.bounds is not None:
        _map(axes[6], found.bounds)
        axes[7].remove()
    handles = []
    for k, one in enumerate(found.series):
        said = f"order {one.orders['error']:.2f}" + (" in the tolerance" if one.kind == "tolerance" else "")
        if np.isnan(one.orders["error"]):
            said = "error at round-off" if np.nanmax(one.measures["error"]) < 1e-8 else "no order"
        handles += axes[5].plot([], [], label=f"{one.label}: {said}", **_style(k))
    look: dict[str, Any] = {"frameon": False, "fontsize": SIZE - 0.5, "labelcolor": INK, "handlelength": 2.0}
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 2), columnspacing=1.2, **look)
    figure.align_ylabels(list(axes[:5:2]))
    figure.align_ylabels(list(axes[1:6:2]))
    return figure


def _style(k: int) -> dict[str, Any]:
    return {"color": COLOURS[ORDER[k % len(ORDER)]], "marker": MARKERS[k % len(MARKERS)], "ms": 3.8, "lw": 1.2}


def _curves(axis: Axes, curves: Sequence[tuple[Array, Array] | None], lowest: float) -> None:
    """A curve of each series that has one, on logarithmic axes."""
    for k, curve in enumerate(curves):
        if curve is not None:
            axis.loglog(curve[0], np.maximum(curve[1], lowest), **_style(k), zorder=3 + k)
    decades(axis, "x")
    decades(axis, "y")


def _map(axis: Axes, bounds: Bounds) -> None:
    """Numbers on colours: the error of landing, a row per dt_min and a column per dt_max."""
    from matplotlib.colors import LogNorm

    shown = np.maximum(bounds.error, ROUND_OFF["error"])
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    mesh = axis.pcolormesh(shown, norm=LogNorm(low, max(high, 1.01 * low)), cmap="cividis", edgecolors="w", lw=0.8)
    axis.grid(False)
    for (i, j), value in np.ndenumerate(shown):
        light = float(np.asarray(mesh.norm(value), float)) > 0.55
        axis.text(
            j + 0.5, i + 0.5, "failed" if np.isnan(value) else power(float(value)), ha="center", va="center",
            fontsize=SIZE - 1, color=INK if light else "white",
        )  # fmt: skip
    dress(axis, f"Error of {bounds.label} [clearances]", "longest step dt_max [s]", "shortest flight dt_min [s]")
    axis.grid(False)
    axis.set_xticks(np.arange(len(bounds.dt_max)) + 0.5, [power(value) for value in bounds.dt_max])
    axis.set_yticks(np.arange(len(bounds.dt_min)) + 0.5, [power(value) for value in bounds.dt_min])
    axis.tick_params(length=0)


@checked
def law_card(card: LawCard) -> Figure:
    """Draw a law's card: figure and table.

    Left, force over penetration of one free impact, whose area is the energy loss. For a law with a restitution,
    delivered over requested restitution and the penetration number; for another, depth and force in time.

    Parameters
    ----------
    card : from `nonsmooth.studies.law_card`
    """
    law, impact, columns = card.law, card.impact, _columns(card)
    count = 1 + max(map(len, columns.values()))
    height = 0.19 * count
    figure = new_figure(8.2, 2.7 + height)
    grid = figure.add_gridspec(2, 3, height_ratios=(2.6, height))
    axes = [figure.add_subplot(grid[0, i]) for i in range(3)]
    (depth_unit, metre), (force_unit, newton) = display("m", impact.peak_depth), display("N", impact.peak_force)
    x, y = impact.depth / metre, impact.force / newton
    turn = int(np.argmax(impact.depth)) + 1
    axes[0].fill(x, y, color=COLOURS[5], alpha=0.25, lw=0)
    axes[0].plot(x[:turn], y[:turn], color=COLOURS[0], lw=1.6, label="approaching")
    axes[0].plot(x[turn - 1 :], y[turn - 1 :], color=COLOURS[1], lw=1.6, label="departing")
    dress(axes[0], "Force over penetration", quantity("penetration", depth_unit), quantity("force", force_unit))
    legend(axes[0], loc="best")
    if card.requested.size:
        curve: dict[str, Any] = {"color": COLOURS[0], "lw": 1.4, "marker": "o", "ms": 3, "clip_on": False}
        axes[1].plot((0, 1), (0, 1), color="black", lw=0.6, ls=(0, (4, 3)), label="as requested")
        axes[1].plot(card.requested, card.delivered, label="delivered", **curve)
        axes[1].set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
        dress(axes[1], "Restitution", "requested [-]", "delivered [-]")
        legend(axes[1], loc="lower right")
        axes[2].axhline(0.5, color="black", lw=0.6, ls=(0, (4, 3)))
        axes[2].text(0.02, 0.495, "without loss", fontsize=SIZE - 0.5, color=INK, va="top")
        axes[2].plot(card.requested, card.penetration_number, **curve)
        axes[2].set(xlim=(0, 1), ylim=(0, 0.55))
        dress(axes[2], "Peak penetration", "requested restitution [-]", r"elastic energy / $m v^2$ [-]")
    else:
        time_unit, second = display("s", impact.duration)
        for axis, name, title, unit in ((axes[1], "depth", "Penetration", "m"), (axes[2], "force", "Force", "N")):
            shown, factor = display(unit, float(np.max(getattr(impact, name))))
            axis.plot(impact.t / second, getattr(impact, name) / factor, color=COLOURS[0], lw=1.6)
            dress(axis, title, quantity("time", time_unit), quantity(name, shown))
    axis = figure.add_subplot(grid[1, :])
    axis.axis("off")
    for left, (heading, lines) in zip((0.0, 0.34, 0.64), columns.items(), strict=True):
        for i, text in enumerate([heading, *lines]):
            axis.text(
                left, 1 - (i + 0.5) / count, text, fontsize=SIZE, va="center", transform=axis.transAxes,
                color=COLOURS[1] if text.startswith("OUTSIDE") else INK, fontweight="normal" if i else "bold",
            )  # fmt: skip
    inner = getattr(law, "stiffness", None)
    over = f" over {type(inner).__name__}" if inner is not None and not isinstance(inner, (int, float)) else ""
    heading = f"{type(law).__name__}{over}{', calibrated' if getattr(law, 'calibrated', False) else ''}"
    figure.suptitle(heading, x=0.01, ha="left", fontsize=SIZE + 2, fontweight="bold", color=INK)
    return figure


def _columns(card: LawCard) -> dict[str, list[str]]:
    """The table: the impact, the law's numbers, and its limits with the values that the impact has."""
    law, impact = card.law, card.impact
    units, limits = {"approach": "m/s", "force": "N", "depth": "m", "clearance": "m"}, []

    def suffix(unit: str) -> str:
        return "" if unit == "-" else f" {unit}"

    for each in card.validity:
        name = each.limit.quantity
        unit = suffix(units[name] if name in units else law.quantity(name).unit)
        limits.append(f"{'within' if each.kept else 'OUTSIDE'}: {each.limit}{unit}, here {each.value:.4g}")
    lines = [f"returned restitution {impact.restitution:.4f}"]
    peaks = ("peak penetration", impact.peak_depth, "m"), ("peak force", impact.peak_force, "N")
    for what, value, unit in (*peaks, ("duration", impact.duration, "s")):
        shown, factor = display(unit, abs(value))
        lines.append(f"{what} {value / factor:.4g} {shown_unit(shown)}")
    return {
        f"Impact of {card.mass:g} kg at {card.speed:g} m/s": lines,
        "Law": [f"{name} = {value:.6g}{suffix(law.quantity(name).unit)}" for name, value in law.numbers().items()],
        "Range": limits or ["no limit declared"],
    }
