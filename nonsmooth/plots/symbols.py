"""Symbols of the primitives in the drawing of a planar mechanism: joints, surfaces, loads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.drawing import (
    Arrow,
    Bearing,
    Coil,
    Dot,
    Drive,
    Field,
    Guide,
    Line,
    Mark,
    Primitive,
    Slide,
    Solid,
    Spot,
    Touch,
    Turn,
    Wall,
)  # fmt: skip
from nonsmooth.plots.drawing import Drawn
from nonsmooth.plots.motion import FAINT, INK
from nonsmooth.plots.plan import Plan
from nonsmooth.plots.shapes import coil, outlines, region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LOOSE", "PAD", "draw_element"]

#: of contacts and clearances
LOOSE = "#B00020"
PIN, BEARING = 5.0, 10.0  # diameters of an ideal pin and of a bearing with clearance [pt]
HATCHES = 9  # strokes under a wall
PAD = 0.16  # room around the mechanism, as a share of its extent
#: markers of joints
SHAPES = {"pin": "o", "ball": "o", "weld": "s", "joint": "D"}

#: where the name of an element stands, and its colour
Anchor = tuple[Array, str]


def draw_element(axes: Axes, plan: Plan, part: Drawn) -> None:
    """Draw an element's primitives, and note its name at the first that has a place for it."""
    anchors = []
    for primitive in part.primitives:
        anchor = DRAWINGS[type(primitive)](axes, plan, primitive) if type(primitive) in DRAWINGS else None
        anchors += [anchor] if anchor is not None else []
    if anchors:
        at, colour = anchors[0]
        nothing = isinstance(part.primitives[0], Field) and not any(part.primitives[0].acceleration)
        plan.label(f"{part.name} 0" if nothing else part.name, at, colour)


def _support(axes: Axes, plan: Plan, spot: Spot) -> None:
    """Strokes under a point that the ground holds."""
    if plan.moves(spot.body):
        return
    at, size = plan.at(spot), 0.035 * plan.extent
    corners = np.array([at, at + (-size, -1.6 * size), at + (size, -1.6 * size), at])
    axes.plot(*corners.T, color=FAINT, lw=0.9, zorder=1)
    _hatched(axes, plan, at + (0.0, -1.6 * size), np.array([1.0, 0.0]), 1.7 * size, FAINT, strokes=5)


def _hatched(
    axes: Axes, plan: Plan, middle: Array, along: Array, half: float, colour: str, strokes: int = HATCHES
) -> None:
    """A line with strokes on its solid side, 90 degrees back from `along`."""
    inward = 0.7 * np.array([-along[0] + along[1], -along[1] - along[0]])
    ends = np.array([middle - half * along, middle + half * along])
    axes.plot(*ends.T, color=colour, lw=1.2, zorder=3, solid_capstyle="butt")
    length = min(0.03 * plan.extent, 0.5 * half)
    for share in np.linspace(-0.9, 1.0, strokes):
        foot = middle + share * half * along
        axes.plot(*np.array([foot, foot + length * inward]).T, color=colour, lw=0.6, zorder=2)


def _solid(axes: Axes, plan: Plan, one: Solid) -> None:
    """A shape of a body, as one area."""
    from matplotlib.patches import PathPatch

    colour = plan.colours.get(one.spot.body, FAINT)
    area = region([plan.placed.moved(one.spot.body, outline, 0) for outline in outlines(one)])
    edge = {"ec": "none"} if len(one.seen) > 1 else {"ec": colour, "lw": 1.2}
    axes.add_patch(PathPatch(area, fc=colour, alpha=0.3, zorder=1.5, **edge))


def _mark(axes: Axes, plan: Plan, one: Mark) -> Anchor:
    _support(axes, plan, one.a)
    at = plan.at(one.b)
    axes.plot(*at, marker=SHAPES[one.shape], ms=PIN, mfc="white", mec=INK, mew=1.0, zorder=6)
    return at, INK


def _bearing(axes: Axes, plan: Plan, one: Bearing) -> Anchor:
    bearing, journal = plan.at(one.a), plan.at(one.b)
    _support(axes, plan, one.a)
    offset = (journal - bearing) / one.clearance
    offset = offset / max(float(np.linalg.norm(offset)), 1.0)
    axes.plot(*bearing, marker="o", ms=BEARING, mfc="white", mec=LOOSE, mew=1.2, zorder=5)
    shift = _points(offset * (BEARING - PIN) / 2)
    axes.plot(
        *bearing, marker="o", ms=PIN, mfc=LOOSE, mec="none", zorder=6,
        transform=axes.transData + shift(axes),
    )  # fmt: skip
    return bearing, LOOSE


def _points(offset: Array) -> Callable[[Axes], Any]:
    """A shift in points, which stays whatever the scale."""
    from matplotlib.transforms import ScaledTranslation

    def made(axes: Axes) -> Any:
        return ScaledTranslation(offset[0] / 72, offset[1] / 72, axes.figure.dpi_scale_trans)

    return made


def _slide(axes: Axes, plan: Plan, one: Slide) -> Anchor:
    rail, block, along = plan.at(one.a), plan.at(one.b), plan.vector(one.a.body, one.along)
    reach = 0.14 * plan.extent
    far = abs(float((block - rail) @ along))
    middle, half = (block, reach) if far > 3 * reach else ((rail + block) / 2, reach + far / 2)
    ends = np.array([middle - half * along, middle + half * along])
    axes.plot(*ends.T, color=FAINT, lw=1.0, ls=(0, (8, 2, 1, 2)), zorder=1)
    _block(axes, plan, one.b.body, block, along, 0.045 * plan.extent, 0.028 * plan.extent)
    return ends[1], INK


def _block(axes: Axes, plan: Plan, body: str, middle: Array, along: Array, half: float, top: float) -> None:
    corners = np.array([[-half, -top], [half, -top], [half, top], [-half, top], [-half, -top]])
    placed = middle + corners @ np.array([along, [-along[1], along[0]]])
    colour = plan.colours.get(body, FAINT)
    axes.fill(*placed.T, color=colour, alpha=0.25, lw=0, zorder=2)
    axes.plot(*placed.T, color=colour, lw=1.2, zorder=3)


def _guide(axes: Axes, plan: Plan, one: Guide) -> Anchor:
    rail, block = plan.at(one.a), plan.at(one.b)
    along, across = plan.vector(one.a.body, one.along), plan.vector(one.a.body, one.across)
    top = max(one.height / 2, 0.02 * plan.extent)
    gap = max(one.clearance, 0.018 * plan.extent)
    _block(axes, plan, one.b.body, block, plan.vector(one.b.body, one.along_b), one.length / 2, top)
    middle = rail + along * float((block - rail) @ along)
    half = 0.75 * one.length + 0.05 * plan.extent
    _hatched(axes, plan, middle - (top + gap) * across, along, half, LOOSE)
    _hatched(axes, plan, middle + (top + gap) * across, -along, half, LOOSE)
    return middle + half * along + (top + gap) * across, LOOSE


def _wall(axes: Axes, plan: Plan, one: Wall) -> Anchor:
    wall, point, normal = plan.at(one.spot), plan.at(one.near), plan.vector(one.spot.body, one.normal)
    along = np.array([normal[1], -normal[0]])
    foot, moving = wall + along * float((point - wall) @ along), plan.moves(one.spot.body)
    half = max(0.08 * plan.extent if moving else 0.18 * plan.extent, 1.1 * one.radius)
    _hatched(axes, plan, foot, along, half, LOOSE)
    return foot + (half if moving else -half) * along, LOOSE


def _dot(axes: Axes, plan: Plan, one: Dot) -> Anchor:
    at = plan.at(one.spot)
    axes.plot(*at, marker="o", ms=4, color=LOOSE, mew=0, zorder=6)
    return at, LOOSE


def _touch(axes: Axes, plan: Plan, one: Touch) -> Anchor:
    first, second = plan.at(one.a), plan.at(one.b)
    at = first + one.share * (second - first)
    axes.plot(*at, marker="o", ms=3.5, color=LOOSE, mew=0, zorder=6)
    return at, LOOSE


def _drive(axes: Axes, plan: Plan, one: Drive) -> Anchor:
    start, end = plan.at(one.a), plan.at(one.b)
    direction = (end - start) / max(float(np.linalg.norm(end - start)), 1e-12)
    _arrow(axes, plan, end, end + 0.1 * plan.extent * direction, INK)
    return end, INK


def _turn(axes: Axes, plan: Plan, one: Turn) -> Anchor:
    pivot = plan.at(one.b if one.a is None else plan.drawing.pivot(one))
    _arc(axes, plan, pivot)
    return pivot + 0.06 * plan.extent * np.array([-0.7, 0.7]), INK


def _arc(axes: Axes, plan: Plan, centre: Array) -> None:
    from matplotlib.patches import FancyArrowPatch

    radius = 0.06 * plan.extent
    turns = centre + radius * np.array([[math.cos(a), math.sin(a)] for a in np.linspace(-0.6, 2.2, 12)])
    plan.strokes.append(turns)
    start, end = turns[0], turns[-1]
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 8, "lw": 1.1, "color": INK, "zorder": 6}
    axes.add_patch(FancyArrowPatch(start, end, connectionstyle="arc3,rad=0.75", shrinkA=0, shrinkB=0, **style))


def _arrow(axes: Axes, plan: Plan, start: Array, end: Array, colour: str) -> None:
    plan.strokes.append(np.array([start, end]))
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style, zorder=6)


def _coil(axes: Axes, plan: Plan, one: Coil) -> Anchor:
    start, end = plan.at(one.a), plan.at(one.b)
    length = float(np.linalg.norm(end - start))
    if length >= 1e-6 * plan.extent:
        across = np.array([start[1] - end[1], end[0] - start[0]]) / length
        (path,) = coil(start[None], end[None], across[None], 0.022 * plan.extent)
        axes.plot(*path.T, color=INK, lw=0.9, zorder=4, solid_joinstyle="round")
        if not plan.moves(one.a.body):
            _hatched(axes, plan, start, -across, 0.045 * plan.extent, FAINT, strokes=6)
    return (start + end) / 2, INK


def _line(axes: Axes, plan: Plan, one: Line) -> Anchor:
    ends = np.array([plan.at(one.a), plan.at(one.b)])
    axes.plot(*ends.T, color=INK, lw=1.4, ls=(0, (1, 1)) if one.dotted else "-", zorder=4)
    return np.asarray(ends.mean(axis=0)), INK


def _force(axes: Axes, plan: Plan, one: Arrow) -> Anchor:
    at, along = plan.at(one.spot), np.array(one.along)
    size = float(np.linalg.norm(along))
    direction = along / size if size else np.array([1.0, 0.0])
    if one.fixed:
        direction = plan.vector(one.spot.body, tuple(direction))
    start = at - 0.14 * plan.extent * direction
    _arrow(axes, plan, start, at, INK)
    return start, INK


def _field(axes: Axes, plan: Plan, one: Field) -> Anchor:
    acceleration = np.array(one.acceleration)
    size = float(np.linalg.norm(acceleration))
    _, (x1, y1) = plan.bounds()
    corner = np.array([x1 + 0.5 * PAD * plan.extent, y1 + 0.5 * PAD * plan.extent])
    if size:
        reach = 0.1 * plan.extent * acceleration / size
        _arrow(axes, plan, corner - reach / 2, corner + reach / 2, FAINT)
    return corner, FAINT


#: what draws a primitive of the plane; circles are drawn with their bodies
DRAWINGS: dict[type[Primitive], Callable[[Any, Plan, Any], Anchor | None]] = {
    Arrow: _force, Bearing: _bearing, Coil: _coil, Dot: _dot, Drive: _drive, Field: _field, Guide: _guide,
    Line: _line, Mark: _mark, Slide: _slide, Solid: _solid, Touch: _touch, Turn: _turn, Wall: _wall,
}  # fmt: skip
