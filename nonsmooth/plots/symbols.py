"""Symbols of joints, contacts and loads in the drawing of a planar mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.plots.motion import FAINT, INK
from nonsmooth.plots.plan import Plan, attached, turned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LOOSE", "PAD", "symbol"]

#: of contacts and clearances
LOOSE = "#B00020"
PIN, BEARING = 5.0, 10.0  # diameters of an ideal pin and of a loose bearing [pt]
HATCHES = 9  # strokes under a wall
PAD = 0.16  # room around the mechanism, as a share of its extent


def symbol(element: Any) -> Callable[[Axes, Plan, Any], None]:
    """What draws an element, by the name of its class or of the nearest base that is known."""
    for base in type(element).__mro__:
        if base.__name__ in DRAWINGS:
            return DRAWINGS[base.__name__]
    return _nothing


def _nothing(axes: Axes, plan: Plan, element: Any) -> None:
    """Bodies and the ground are drawn before; what cannot be drawn stands in the description."""


def _ends(plan: Plan, element: Any) -> list[Array]:
    return [plan.place(*end) for end in zip(element.body_names(), attached(element), strict=True)]


def _support(axes: Axes, plan: Plan, at: Array, element: Any) -> None:
    """Strokes under a point that the ground holds."""
    if element.body_names()[0] in plan.frames:
        return
    size = 0.035 * plan.extent
    corners = np.array([at, at + (-size, -1.6 * size), at + (size, -1.6 * size), at])
    axes.plot(*corners.T, color=FAINT, lw=0.9, zorder=1)
    _wall(axes, plan, at + (0.0, -1.6 * size), 0.0, 1.7 * size, FAINT, strokes=5)


def _wall(
    axes: Axes, plan: Plan, middle: Array, angle: float, half: float, colour: str, strokes: int = HATCHES
) -> None:
    """A line with strokes on its solid side, 90 degrees back from the normal."""
    along, inward = turned(np.array([1.0, 0.0]), angle), turned(np.array([-0.7, -0.7]), angle)
    ends = np.array([middle - half * along, middle + half * along])
    axes.plot(*ends.T, color=colour, lw=1.2, zorder=3, solid_capstyle="butt")
    length = min(0.03 * plan.extent, 0.5 * half)
    for share in np.linspace(-0.9, 1.0, strokes):
        foot = middle + share * half * along
        axes.plot(*np.array([foot, foot + length * inward]).T, color=colour, lw=0.6, zorder=2)


def _pin(axes: Axes, plan: Plan, element: Any) -> None:
    bearing, journal = _ends(plan, element)
    _support(axes, plan, bearing, element)
    axes.plot(*journal, marker="o", ms=PIN, mfc="white", mec=INK, mew=1.0, zorder=6)
    plan.label(element.name, journal)


def _loose_pin(axes: Axes, plan: Plan, element: Any) -> None:
    bearing, journal = _ends(plan, element)
    _support(axes, plan, bearing, element)
    offset = (journal - bearing) / element.clearance
    offset = offset / max(float(np.linalg.norm(offset)), 1.0)
    axes.plot(*bearing, marker="o", ms=BEARING, mfc="white", mec=LOOSE, mew=1.2, zorder=5)
    shift = _points(offset * (BEARING - PIN) / 2)
    axes.plot(
        *bearing, marker="o", ms=PIN, mfc=LOOSE, mec="none", zorder=6,
        transform=axes.transData + shift(axes),
    )  # fmt: skip
    plan.label(element.name, bearing, LOOSE)


def _points(offset: Array) -> Callable[[Axes], Any]:
    """A shift in points, which stays whatever the scale."""
    from matplotlib.transforms import ScaledTranslation

    def made(axes: Axes) -> Any:
        return ScaledTranslation(offset[0] / 72, offset[1] / 72, axes.figure.dpi_scale_trans)

    return made


def _slide(axes: Axes, plan: Plan, element: Any) -> None:
    rail, block = _ends(plan, element)
    a, b = element.body_names()
    angle = plan.angle(a) + element.direction
    along = turned(np.array([1.0, 0.0]), angle)
    reach = 0.14 * plan.extent
    far = abs(float((block - rail) @ along))
    middle, half = (block, reach) if far > 3 * reach else ((rail + block) / 2, reach + far / 2)
    ends = np.array([middle - half * along, middle + half * along])
    axes.plot(*ends.T, color=FAINT, lw=1.0, ls=(0, (8, 2, 1, 2)), zorder=1)
    _block(axes, plan, b, block, angle, 0.045 * plan.extent, 0.028 * plan.extent)
    plan.label(element.name, ends[1])


def _block(axes: Axes, plan: Plan, body: str, middle: Array, angle: float, half: float, top: float) -> None:
    corners = np.array([[-half, -top], [half, -top], [half, top], [-half, top], [-half, -top]])
    placed = np.array([middle + turned(corner, angle) for corner in corners])
    colour = plan.colours.get(body, FAINT)
    axes.fill(*placed.T, color=colour, alpha=0.25, lw=0, zorder=2)
    axes.plot(*placed.T, color=colour, lw=1.2, zorder=3)


def _loose_slide(axes: Axes, plan: Plan, element: Any) -> None:
    rail, block = _ends(plan, element)
    a, b = element.body_names()
    angle = plan.angle(a) + element.direction
    along, across = turned(np.array([1.0, 0.0]), angle), turned(np.array([0.0, 1.0]), angle)
    top = max(element.height / 2, 0.02 * plan.extent)
    gap = max(element.clearance, 0.018 * plan.extent)
    _block(axes, plan, b, block, plan.angle(b), element.length / 2, top)
    middle = rail + along * float((block - rail) @ along)
    half = 0.75 * element.length + 0.05 * plan.extent
    _wall(axes, plan, middle - (top + gap) * across, angle, half, LOOSE)
    _wall(axes, plan, middle + (top + gap) * across, angle + math.pi, half, LOOSE)
    plan.label(element.name, middle + half * along + (top + gap) * across, LOOSE)


def _point_on_wall(axes: Axes, plan: Plan, element: Any) -> None:
    wall, point = _ends(plan, element)
    a, _ = element.body_names()
    angle = plan.angle(a) + element.direction
    along = turned(np.array([1.0, 0.0]), angle)
    radius = getattr(element, "radius", 0.0)
    foot = wall + along * float((point - wall) @ along)
    half = max(0.18 * plan.extent if a not in plan.frames else 0.08 * plan.extent, 1.1 * radius)
    _wall(axes, plan, foot, angle, half, LOOSE)
    if not radius:
        axes.plot(*point, marker="o", ms=4, color=LOOSE, mew=0, zorder=6)
    plan.label(element.name, foot + (half if a in plan.frames else -half) * along, LOOSE)


def _two_circles(axes: Axes, plan: Plan, element: Any) -> None:
    first, second = _ends(plan, element)
    line = second - first
    share = element.radius_a / max(element.radius_a + element.radius_b, 1e-300)
    at = first + share * line
    axes.plot(*at, marker="o", ms=3.5, color=LOOSE, mew=0, zorder=6)
    plan.label(element.name, at, LOOSE)


def _motor(axes: Axes, plan: Plan, element: Any) -> None:
    if element.coordinate != "angle":
        start, end = _ends(plan, element)
        direction = (end - start) / max(float(np.linalg.norm(end - start)), 1e-12)
        _arrow(axes, plan, end, end + 0.1 * plan.extent * direction, INK)
        plan.label(element.name, end)
        return
    pivot = _pivot(plan, element)
    _arc(axes, plan, pivot)
    plan.label(element.name, pivot + 0.06 * plan.extent * np.array([-0.7, 0.7]))


def _pivot(plan: Plan, element: Any) -> Array:
    """Where a driven angle turns: the joint between the two bodies, else the second body's centre."""
    for other in plan.system.elements:
        if other is not element and other.body_names() == element.body_names() and hasattr(other, "at_b"):
            return plan.place(element.body_names()[1], other.at_b)
    return plan.place(element.body_names()[1])


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


def _spring(axes: Axes, plan: Plan, element: Any) -> None:
    start, end = _ends(plan, element)
    length = float(np.linalg.norm(end - start))
    plan.label(element.name, (start + end) / 2)
    if length < 1e-6 * plan.extent:
        return
    along, across = (end - start) / length, np.array([start[1] - end[1], end[0] - start[0]]) / length
    share = np.concatenate([[0.0, 0.15], np.linspace(0.2, 0.8, 13), [0.85, 1.0]])
    side = np.concatenate([[0.0, 0.0], np.tile([1.0, -1.0], 7)[:13], [0.0, 0.0]]) * 0.022 * plan.extent
    path = start + np.outer(share * length, along) + np.outer(side, across)
    axes.plot(*path.T, color=INK, lw=0.9, zorder=4, solid_joinstyle="round")
    if element.body_names()[0] not in plan.frames:
        _wall(axes, plan, start, math.atan2(along[1], along[0]) - math.pi / 2, 0.045 * plan.extent, FAINT, strokes=6)


def _damper(axes: Axes, plan: Plan, element: Any) -> None:
    start, end = _ends(plan, element)
    axes.plot(*np.array([start, end]).T, color=INK, lw=1.4, ls=(0, (1, 1)), zorder=4)
    plan.label(element.name, (start + end) / 2)


def _point_force(axes: Axes, plan: Plan, element: Any) -> None:
    (at,) = _ends(plan, element)
    given = element.force
    direction = np.array([1.0, 0.0]) if callable(given) else np.asarray(given, float)[:2]
    size = float(np.linalg.norm(direction))
    direction = direction / size if size else np.array([1.0, 0.0])
    if getattr(element, "frame", "global") == "body":
        direction = turned(direction, plan.angle(element.body_names()[0]))
    start = at - 0.14 * plan.extent * direction
    _arrow(axes, plan, start, at, INK)
    plan.label(element.name, start)


def _torque(axes: Axes, plan: Plan, element: Any) -> None:
    (at,) = _ends(plan, element)
    _arc(axes, plan, at)
    plan.label(element.name, at + 0.06 * plan.extent * np.array([-0.7, 0.7]))


def _gravity(axes: Axes, plan: Plan, element: Any) -> None:
    acceleration = np.asarray(element.acceleration, float)[:2]
    size = float(np.linalg.norm(acceleration))
    (x0, y0), (x1, y1) = plan.bounds()
    corner = np.array([x1 + 0.5 * PAD * plan.extent, y1 + 0.5 * PAD * plan.extent])
    if not size:
        plan.label(f"{element.name} 0", corner, FAINT)
        return
    reach = 0.1 * plan.extent * acceleration / size
    _arrow(axes, plan, corner - reach / 2, corner + reach / 2, FAINT)
    plan.label(element.name, corner, FAINT)


DRAWINGS: dict[str, Callable[[Any, Plan, Any], None]] = {
    "CircleCircle": _two_circles,
    "CirclePlane": _point_on_wall,
    "Damper": _damper,
    "Fixed": _pin,
    "Gravity": _gravity,
    "PointForce": _point_force,
    "PointPlane": _point_on_wall,
    "PrescribedMotion": _motor,
    "Prismatic": _slide,
    "PrismaticClearance": _loose_slide,
    "Revolute": _pin,
    "RevoluteClearance": _loose_pin,
    "Spring": _spring,
    "Torque": _torque,
}
