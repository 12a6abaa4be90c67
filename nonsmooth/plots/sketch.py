"""A drawing of a mechanism at a state: bodies, joints, surfaces, loads, with their names.

What is drawn of a body are its shapes, or what else the model knows: the points at which joints hold it, the circles
and walls that it offers to contacts, its centre of mass. A body with a single pin is taken for a bar as long on the
other side. Clearances are too small to be seen and are drawn wider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.drawing import Bearing, Guide, Spot
from nonsmooth.plots.drawing import drawing_of_state
from nonsmooth.plots.labels import write_names
from nonsmooth.plots.plan import Plan
from nonsmooth.plots.scale_bar import draw_scale
from nonsmooth.plots.shapes import hull
from nonsmooth.plots.space import spatial_sketch
from nonsmooth.plots.symbols import PAD, draw_element

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.model.state import State
    from nonsmooth.model.system import System

__all__ = ["draw_plan", "name_parts", "sketch"]

WIDE, TALL, LEAST = 7.0, 5.5, 2.2  # largest and least size of the drawing [inch]
ROD = 7.0  # width of a bar [pt]


def sketch(
    system: System,
    state: State | None = None,
    *,
    view: tuple[float, float] | None = None,
    deformation: float | None = None,
) -> Figure:
    """Draw a mechanism, each element as its `drawing` says.

    In the plane ideal pins are small open circles, bearings with clearance red rings with a journal in them; walls are
    lines with strokes on their solid side, guides dash-dotted. Bars run between the pins of a body, a cross marks a
    centre of mass, an arc with an arrow a motor or a torque. A bar tells the scale.

    In space a body is lines from its mass centre to its joints, with the faces between these and a triad of its axes
    (x red, y green, z blue). Filled dots are balls, open ones hinges, with their axes as thick lines, squares welds,
    diamonds other joints; blocks and sleeves slide on dash-dotted axes. Clearances are magnified by the factor that is
    written below. The axis of gravity stands upright.

    Parameters
    ----------
    system
        What ``Model.build()`` returned.
    state
        What is drawn; the start by default.
    view : (elevation, azimuth) [deg], optional
        Where a mechanism in space is seen from; where it shows well, if omitted.

    deformation : [-], optional
        How many times too large deflections of flexible bodies are drawn; where omitted a readable one.

    Raises
    ------
    InputError
        For a view that is not two such angles, or a factor that is not positive.
    """
    if deformation is not None and not (np.isfinite(deformation) and deformation > 0):
        raise InputError(f"deformation must be a positive factor, got {deformation!r}.")
    drawing = drawing_of_state(system, state)
    if drawing.dimension == 3:
        return spatial_sketch(drawing, view, deformation)
    return _planar(Plan(drawing, deformation))


def _planar(plan: Plan) -> Figure:
    from matplotlib.figure import Figure

    (x0, y0), (x1, y1) = plan.bounds()
    room = PAD * plan.extent
    scale = min(WIDE / (x1 - x0 + 2 * room), TALL / (y1 - y0 + 2 * room))
    width, height = max((x1 - x0 + 2 * room) * scale, LEAST), max((y1 - y0 + 2 * room) * scale, LEAST)
    figure = Figure(figsize=(width, height), dpi=200)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_plan(axes, plan)
    name_parts(figure, axes, plan)
    return figure


def draw_plan(axes: Axes, plan: Plan) -> None:
    """Draw a planar mechanism into axes, without names."""
    axes.axis("off")
    for body in plan.bodies:
        _draw_body(axes, plan, body)
    for part in plan.drawing.parts:
        draw_element(axes, plan, part)
    for body in plan.bodies:
        axes.plot(*plan.centre(body), marker="+", ms=5, mew=0.8, color=plan.colours[body], zorder=7)


def name_parts(figure: Figure, axes: Axes, plan: Plan) -> None:
    """Fit a drawing into its axes, which are placed already, and write its scale and its names."""
    (x0, y0), (x1, y1) = plan.bounds()
    room = PAD * plan.extent
    metre = float(min(axes.bbox.width / (x1 - x0 + 2 * room), axes.bbox.height / (y1 - y0 + 2 * room)))
    width, height = axes.bbox.width / metre, axes.bbox.height / metre
    axes.set_xlim((x0 + x1 - width) / 2, (x0 + x1 + width) / 2)
    axes.set_ylim((y0 + y1 - height) / 2, (y0 + y1 + height) / 2)
    loose = any(isinstance(one, Bearing | Guide) for one in plan.drawing.primitives())
    if plan.sized:
        notes = ["clearances not to scale"] if loose else []
        notes += [f"deformation drawn {plan.bent:g} times its size"] if plan.bent > 1 else []
        draw_scale(axes, metre, note=", ".join(notes))
    write_names(figure, axes, plan)


def _draw_body(axes: Axes, plan: Plan, body: str) -> None:
    """A bar through its pins, or a plate if they do not lie on a line; circles that are part of it."""
    colour = plan.colours[body]
    centre = plan.centre(body)
    if body in plan.curves:
        axes.plot(*plan.curves[body].T, color=colour, lw=ROD, alpha=0.35, zorder=2, solid_capstyle="round")
        plan.label(body, centre, colour, bold=True)
        return
    if body in plan.drawing.shaped:
        plan.label(body, centre, colour, bold=True)
        return
    points = np.array([plan.at(Spot(body, tuple(pin))) for pin in plan.pins[body]] or [centre])
    spread = float(np.max(np.linalg.norm(points - centre, axis=1)))
    if spread > 1e-9 * plan.extent:
        outline = hull(np.vstack([points, centre]))
        if len(outline) > 2:
            axes.fill(*outline.T, color=colour, alpha=0.2, lw=0, zorder=1)
            axes.plot(*np.vstack([outline, outline[:1]]).T, color=colour, lw=1.2, zorder=2, solid_joinstyle="round")
        else:
            axes.plot(*outline.T, color=colour, lw=ROD, alpha=0.35, zorder=2, solid_capstyle="round")
    elif not any(spot.body == body for spot, _ in plan.circles) and body not in plan.drawing.sliders():
        axes.plot(*centre, marker="o", ms=2 * ROD, color=colour, alpha=0.35, mew=0, zorder=2)
    for spot, radius in plan.circles:
        if spot.body == body:
            _circle(axes, plan.at(spot), radius, colour)
    plan.label(body, centre if spread <= 1e-9 * plan.extent else _middle(points, centre), colour, bold=True)


def _middle(points: Array, centre: Array) -> Array:
    """The centre of mass, moved a little off a pin that would share its label's place."""
    if np.min(np.linalg.norm(points - centre, axis=1)) > 0.0:
        return centre
    return np.asarray(np.mean(points, axis=0))


def _circle(axes: Axes, centre: Array, radius: float, colour: str) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((centre[0], centre[1]), radius, fc=colour, ec="none", alpha=0.15, zorder=1))
    axes.add_patch(Circle((centre[0], centre[1]), radius, fc="none", ec=colour, lw=1.4, zorder=3))
