"""A drawing of a mechanism at a state: bodies, joints, surfaces, loads, with their names.

It is the first picture of an animation, with names. What is drawn of a body are its shapes, or what else the model
knows: the points at which joints hold it, the circles and walls that it offers to contacts, its mass centre.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonsmooth.plots.canvas import fit, new_axes, write_on
from nonsmooth.plots.drawing import Drawing, drawing_of_state
from nonsmooth.plots.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.model.state import State
    from nonsmooth.model.system import System


def sketch(
    system: System,
    state: State | None = None,
    *,
    view: tuple[float, float] | None = None,
    deformation: float | None = None,
) -> Figure:
    """Draw a mechanism, each element as its `drawing` says.

    A body is a bar or a plate between its joints, in space lines from its mass centre to them with the faces between
    these and a triad of its axes (x red, y green, z blue); shapes replace this. In the plane a body with a single pin
    is taken for a bar as long on the other side. Crosses, in space dots, mark mass centres. Open circles are hinges,
    filled ones balls, squares welds, diamonds other joints; thick lines are axes of hinges in space; blocks and
    sleeves slide on dash-dotted axes. Bearings and guides with clearance are drawn with the clearance, and what moves
    in it, magnified by the factor that is written below. Walls have strokes on their solid side, in space a grid.
    Arrows are forces, arcs motors and torques. A bar tells the scale. In space the axis of gravity stands upright.

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
    return drawn(drawing_of_state(system, state), view, deformation)


def drawn(drawing: Drawing, view: tuple[float, float] | None = None, deformation: float | None = None) -> Figure:
    """The first picture of a drawing with names, on a page of its own."""
    scene = Scene(drawing, new_axes(drawing.dimension, dpi=200), None, deformation, view)
    fit(scene, notes=bool(scene.note()))
    write_on(scene)
    figure: Figure = scene.axes.figure
    return figure
