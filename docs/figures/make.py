"""Write every figure of the README and the documents beside this file: ``python docs/figures/make.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from numpy.typing import ArrayLike

from nonsmooth import GaussMPCC, Landing, plots, simulate
from nonsmooth_problems import slider_rod

HERE = Path(__file__).resolve().parent
INK, WALL, BODY, OTHER, GAP = "#222222", "#D9D9D9", "#CFE3F2", "#F6DFCB", "#D55E00"


def slider_rod_case2() -> Figure:
    """Three of the paper's panels of case 2 until the slider rests, and its tilt, over the exact solution."""
    trajectory = simulate(slider_rod(case=2).build(), GaussMPCC(), t_end=3.5e-3, dt=Landing(1e-6, 1e-3))
    height, _, velocity, _, force, _ = slider_rod.panels
    tilt = ("Tilt", "urad", (("q", "slider.angle", "slider"),))
    return plots.panels(trajectory, [height, tilt, velocity, force], exact=slider_rod.exact(case=2))


def prismatic_clearance() -> Figure:
    """The four gaps of a slider of height H between two walls; play and tilt are drawn far too large."""
    figure, axis = _canvas(6.6, 2.85, (-3.3, 4.2), (-1.75, 1.45))
    a, half, c, tilt, offset = 2.0, 0.45, 0.55, np.radians(6.0), 0.07
    for side in (-1, 1):
        edge = side * (half + c)
        axis.add_patch(Rectangle((-3.0, edge if side > 0 else edge - 0.22), 6.0, 0.22, fc=WALL, ec="none"))
        axis.plot([-3.0, 3.0], [edge, edge], color=INK, lw=1.0)
    axis.plot([-3.1, 3.15], [0, 0], color=INK, lw=0.6, ls=(0, (8, 3, 2, 3)))
    axis.text(3.2, 0.0, "axis of\nthe guide", va="center", fontsize=8)
    turn = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    corners = {(i, j): turn @ (i * a, j * half) + (0, offset) for i in (-1, 1) for j in (-1, 1)}
    outline = [corners[k] for k in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))]
    axis.fill(*np.transpose(outline), fc=BODY, ec=INK, lw=1.0)
    centre_line = np.transpose([turn @ (i * a, 0) + (0, offset) for i in (-1, 1)])
    axis.plot(*centre_line, color=INK, lw=0.6)
    names = {(-1, -1): "left_lower", (-1, 1): "left_upper", (1, -1): "right_lower", (1, 1): "right_upper"}
    for (i, j), (x, y) in corners.items():
        wall = j * (half + c)
        _measure(axis, (x, y), (x, wall), GAP)
        axis.text(
            x + 0.08 * i,
            (y + wall) / 2,
            names[i, j],
            color=GAP,
            fontsize=8,
            va="center",
            ha="right" if i < 0 else "left",
        )
    axis.plot(0, offset, "o", ms=3, color=INK)
    _measure(axis, (0.0, 0.0), (0.0, offset), INK, style="-")
    axis.annotate("y", (0.0, offset / 2), (0.25, -0.3), fontsize=8, arrowprops={"arrowstyle": "-", "lw": 0.5})
    axis.text(1.25, 0.05, r"$\theta$", fontsize=9)
    along = turn @ (0.0, half) + (0, offset)
    axis.annotate(
        "", turn @ (-a, half - 0.1) + (0, offset), turn @ (a, half - 0.1) + (0, offset), arrowprops=_arrow(INK)
    )
    axis.text(*(along - (0.0, 0.27)), "length", fontsize=8, ha="center", rotation=6)
    _measure(axis, turn @ (-1.2, -half) + (0, offset), turn @ (-1.2, half) + (0, offset), INK)
    axis.text(*(turn @ (-1.12, -0.36) + (0, offset)), "height", fontsize=8, rotation=6)
    axis.text(0.0, -half - c - 0.13, "guide", fontsize=8, ha="center", va="center")
    axis.text(0.0, -1.55, "centred and aligned, every gap is the clearance c", fontsize=8, ha="center", va="center")
    return figure


def revolute_clearance() -> Figure:
    """Journal in bearing, with the eccentricity and the gap; the play is drawn far too large."""
    figure, axis = _canvas(5.0, 3.2, (-2.2, 3.74), (-1.9, 1.9))
    bearing, journal, e, angle = 1.3, 0.85, 0.27, np.radians(-35.0)
    axis.add_patch(Circle((0, 0), 1.6, fc=OTHER, ec="none"))
    axis.add_patch(Circle((0, 0), bearing, fc="white", ec=INK, lw=1.0))
    centre = e * np.array([np.cos(angle), np.sin(angle)])
    axis.add_patch(Circle(tuple(centre), journal, fc=BODY, ec=INK, lw=1.0))
    way = centre / e
    _measure(axis, centre + journal * way, bearing * way, GAP)
    axis.annotate(
        "gap = c \N{MINUS SIGN} |e|", tuple((centre + journal * way + bearing * way) / 2), (1.85, -0.75), color=GAP,
        fontsize=8, va="center", arrowprops={"arrowstyle": "-", "lw": 0.5, "color": GAP},
    )  # fmt: skip
    axis.annotate("", tuple(centre), (0, 0), arrowprops=_arrow(INK, "-|>"))
    axis.plot(0, 0, "o", ms=3, color=INK)
    axis.plot(*centre, "o", ms=3, color=INK)
    for text, point, place in (
        ("at_a: centre of the bearing (body a)", (0.0, 0.0), (-2.1, 1.78)),
        ("at_b: centre of the journal (body b)", tuple(centre), (-2.1, -1.78)),
        ("eccentricity e", tuple(centre / 2), (1.85, 0.75)),
    ):
        axis.annotate(text, point, place, fontsize=8, va="center", arrowprops={"arrowstyle": "-", "lw": 0.5})
    axis.text(1.85, 0.0, "c = radius of the bearing\n \N{MINUS SIGN} radius of the journal", fontsize=8, va="center")
    return figure


def _canvas(width: float, height: float, x: tuple[float, float], y: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), dpi=200)
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=x, ylim=y, aspect="equal")
    axis.set_axis_off()
    return figure, axis


def _arrow(colour: str, style: str = "<|-|>") -> dict[str, object]:
    return {
        "arrowstyle": f"{style},head_width=0.12,head_length=0.25",
        "color": colour,
        "lw": 0.8,
        "shrinkA": 0,
        "shrinkB": 0,
    }


def _measure(axis: Axes, start: ArrayLike, end: ArrayLike, colour: str, style: str = "<|-|>") -> None:
    arrow = (
        _arrow(colour) if style != "-" else {"arrowstyle": "-", "color": colour, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    )
    axis.annotate("", tuple(end), tuple(start), arrowprops=arrow)


if __name__ == "__main__":
    for draw in (slider_rod_case2, prismatic_clearance, revolute_clearance):
        path = HERE / f"{draw.__name__}.png"
        draw().savefig(path, metadata={"Software": None})
        print(path.name, path.stat().st_size, "bytes")
