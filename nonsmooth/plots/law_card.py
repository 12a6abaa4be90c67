"""The card of a normal law: its force loop, delivered restitution, penetration, and range of validity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.plots.style import COLOURS, INK, SIZE, dress, legend, new_figure
from nonsmooth.plots.units import display, quantity, shown_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.law_card import LawCard


def law_card(card: LawCard) -> Figure:
    """Draw a law's card: figure and table.

    Left, force over penetration of one free impact, whose area is the energy loss. For a law with a restitution,
    delivered over requested restitution and the penetration number; for another, depth and force in time.

    Parameters
    ----------
    card
        From `nonsmooth.studies.law_card`.
    """
    law, impact = card.law, card.impact
    columns = _columns(card)
    height = 0.19 * (1 + max(map(len, columns.values())))
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
        _restitution(axes[1], axes[2], card)
    else:
        _course(axes[1], card, "depth", "Penetration", "m")
        _course(axes[2], card, "force", "Force", "N")
    _table(figure.add_subplot(grid[1, :]), columns)
    inner = getattr(law, "stiffness", None)
    over = f" over {type(inner).__name__}" if inner is not None and not isinstance(inner, (int, float)) else ""
    heading = f"{type(law).__name__}{over}{', calibrated' if getattr(law, 'calibrated', False) else ''}"
    figure.suptitle(heading, x=0.01, ha="left", fontsize=SIZE + 2, fontweight="bold", color=INK)
    return figure


def _restitution(left: Axes, right: Axes, card: LawCard) -> None:
    """Delivered restitution and penetration number over the requested one."""
    curve: dict[str, Any] = {"color": COLOURS[0], "lw": 1.4, "marker": "o", "ms": 3, "clip_on": False}
    left.plot((0, 1), (0, 1), color="black", lw=0.6, ls=(0, (4, 3)), label="as requested")
    left.plot(card.requested, card.delivered, label="delivered", **curve)
    left.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    dress(left, "Restitution", "requested [-]", "delivered [-]")
    legend(left, loc="lower right")
    right.axhline(0.5, color="black", lw=0.6, ls=(0, (4, 3)))
    right.text(0.02, 0.495, "without loss", fontsize=SIZE - 0.5, color=INK, va="top")
    right.plot(card.requested, card.penetration_number, **curve)
    right.set(xlim=(0, 1), ylim=(0, 0.55))
    dress(right, "Peak penetration", "requested restitution [-]", r"elastic energy / $m v^2$ [-]")


def _course(axis: Axes, card: LawCard, name: str, title: str, unit: str) -> None:
    impact = card.impact
    time_unit, second = display("s", impact.duration)
    values = getattr(impact, name)
    shown, factor = display(unit, float(np.max(values)))
    axis.plot(impact.t / second, values / factor, color=COLOURS[0], lw=1.6)
    dress(axis, title, quantity("time", time_unit), quantity(name, shown))


def _columns(card: LawCard) -> dict[str, list[str]]:
    """The table: the impact, the law's numbers, and its limits with the values that the impact has."""
    law, impact = card.law, card.impact
    units = {"approach": "m/s", "force": "N", "depth": "m", "clearance": "m"}
    limits = []
    for each in card.validity:
        name = each.limit.quantity
        unit = units[name] if name in units else law.quantity(name).unit
        limits.append(f"{'within' if each.kept else 'OUTSIDE'}: {each.limit}{_unit(unit)}, here {each.value:.4g}")
    return {
        f"Impact of {card.mass:g} kg at {card.speed:g} m/s": [
            f"returned restitution {impact.restitution:.4f}",
            f"peak penetration {_number(impact.peak_depth, 'm')}",
            f"peak force {_number(impact.peak_force, 'N')}",
            f"duration {_number(impact.duration, 's')}",
        ],
        "Law": [f"{name} = {value:.6g}{_unit(law.quantity(name).unit)}" for name, value in law.numbers().items()],
        "Range": limits or ["no limit declared"],
    }


def _table(axis: Axes, columns: dict[str, list[str]]) -> None:
    axis.axis("off")
    count = 1 + max(map(len, columns.values()))
    for x, (heading, lines) in zip((0.0, 0.34, 0.64), columns.items(), strict=True):
        for i, text in enumerate([heading, *lines]):
            axis.text(
                x, 1 - (i + 0.5) / count, text, fontsize=SIZE, va="center", transform=axis.transAxes,
                color=COLOURS[1] if text.startswith("OUTSIDE") else INK, fontweight="normal" if i else "bold",
            )  # fmt: skip


def _unit(unit: str) -> str:
    return "" if unit == "-" else f" {unit}"


def _number(value: float, unit: str) -> str:
    shown, factor = display(unit, abs(value))
    return f"{value / factor:.4g} {shown_unit(shown)}"
