"""The card of a normal law: its force loop, delivered restitution, penetration, and range of validity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.plots.style import COLOURS, INK, SIZE, display, dress, legend, new_figure, quantity, shown_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.studies.law_card import LawCard

DEPARTING, APPROACHING = COLOURS[1], COLOURS[0]


def law_card(card: LawCard) -> Figure:
    """Draw a law's card: figure and table.

    Left, force over penetration of one free impact, whose area is the energy loss. For a law with a restitution,
    delivered over requested restitution and the penetration number; for another, depth and force in time.

    Parameters
    ----------
    card
        From `nonsmooth.studies.law_card`.
    """
    columns = _columns(card)
    height = 0.19 * (1 + max(map(len, columns.values())))
    figure = new_figure(8.2, 2.7 + height)
    grid = figure.add_gridspec(2, 3, height_ratios=(2.6, height))
    axes = [figure.add_subplot(grid[0, i]) for i in range(3)]
    _loop(axes[0], card)
    if card.requested.size:
        _delivered(axes[1], card)
        _penetration(axes[2], card)
    else:
        _course(axes[1], card, "depth", "Penetration", "m")
        _course(axes[2], card, "force", "Force", "N")
    _table(figure.add_subplot(grid[1, :]), columns)
    figure.suptitle(_heading(card), x=0.01, ha="left", fontsize=SIZE + 2, fontweight="bold", color=INK)
    return figure


def _heading(card: LawCard) -> str:
    law = card.law
    inner = getattr(law, "stiffness", None)
    over = f" over {type(inner).__name__}" if inner is not None and not isinstance(inner, (int, float)) else ""
    return f"{type(law).__name__}{over}{', calibrated' if getattr(law, 'calibrated', False) else ''}"


def _loop(axis: Axes, card: LawCard) -> None:
    impact = card.impact
    depth_unit, metre = display("m", impact.peak_depth)
    force_unit, newton = display("N", impact.peak_force)
    x, y = impact.depth / metre, impact.force / newton
    turn = int(np.argmax(impact.depth)) + 1
    axis.fill(x, y, color=COLOURS[5], alpha=0.25, lw=0)
    axis.plot(x[:turn], y[:turn], color=APPROACHING, lw=1.6, label="approaching")
    axis.plot(x[turn - 1 :], y[turn - 1 :], color=DEPARTING, lw=1.6, label="departing")
    dress(axis, "Force over penetration", quantity("penetration", depth_unit), quantity("force", force_unit))
    legend(axis, loc="best")


def _delivered(axis: Axes, card: LawCard) -> None:
    axis.plot((0, 1), (0, 1), color="black", lw=0.6, ls=(0, (4, 3)), label="as requested")
    axis.plot(
        card.requested, card.delivered, color=COLOURS[0], lw=1.4, marker="o", ms=3, clip_on=False, label="delivered"
    )
    axis.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    dress(axis, "Restitution", "requested [-]", "delivered [-]")
    legend(axis, loc="lower right")


def _penetration(axis: Axes, card: LawCard) -> None:
    axis.axhline(0.5, color="black", lw=0.6, ls=(0, (4, 3)))
    axis.text(0.02, 0.495, "without loss", fontsize=SIZE - 0.5, color=INK, va="top")
    axis.plot(card.requested, card.penetration_number, color=COLOURS[0], lw=1.4, marker="o", ms=3, clip_on=False)
    axis.set(xlim=(0, 1), ylim=(0, 0.55))
    dress(axis, "Peak penetration", "requested restitution [-]", r"elastic energy / $m v^2$ [-]")


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
                color=DEPARTING if text.startswith("OUTSIDE") else INK, fontweight="normal" if i else "bold",
            )  # fmt: skip


def _unit(unit: str) -> str:
    return "" if unit == "-" else f" {unit}"


def _number(value: float, unit: str) -> str:
    shown, factor = display(unit, abs(value))
    return f"{value / factor:.4g} {shown_unit(shown)}"
