"""The drawing of a mechanism: names of everything, one beside the other, at one scale."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from nonsmooth import (
    Damper,
    Gravity,
    Ground,
    InputError,
    Model,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    SpatialBody,
    Torque,
)
from nonsmooth.plots import sketch
from nonsmooth.registry import find_problems

PROBLEMS = find_problems()
UNNAMED = {"ground"}


def boxes(figure):
    """Of every name, in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    return {text.get_text(): text.get_window_extent(canvas.get_renderer()) for text in axes.texts if text.get_text()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_names_stand_apart(name):
    system = PROBLEMS[name]().build()
    figure = sketch(system)
    found = boxes(figure)
    wanted = {element.name for element in system.elements if type(element).__name__ != "Ground"}
    assert wanted <= {text.removesuffix(" 0") for text in found}
    for (one, a), (other, b) in itertools.combinations(found.items(), 2):
        assert not a.overlaps(b), (one, other)
    width, height = figure.bbox.width, figure.bbox.height
    for box in found.values():
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    (axes,) = figure.axes
    scales = np.diff(axes.transData.transform([(0.0, 0.0), (1.0, 1.0)]), axis=0)[0]
    assert scales[0] == pytest.approx(scales[1], rel=1e-6)


def test_every_body_is_inside():
    system = PROBLEMS["four-bar"]().build()
    (axes,) = sketch(system).axes
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    assert x0 < 0.0 and x1 > 3.7534 and y0 < 0.0 and y1 > 2.3839  # ground bearing and coupler's pin


def test_another_state():
    system = PROBLEMS["double-pendulum-clearance"]().build()
    turned = system.state({"upper.x": 0.0, "upper.y": -0.15, "upper.angle": 0.0})
    assert sketch(system, turned).get_figheight() > sketch(system).get_figheight() + 1.0


def test_loads_motors_and_a_lone_body():
    model = Model(
        [
            Ground(),
            PlanarBody("table", mass=1.0, inertia=1.0, position=(1.0, 0.0)),
            Prismatic("rail", "ground", "table"),
            PrescribedMotion("pusher", "ground", "table", coordinate="x", motion=lambda t: 1.0 + 0.0 * t),
            Damper("oil", "ground", "table", damping=1.0, at_a=(0.0, 0.5)),
            PointForce("push", "table", force=(0.0, -2.0), at=(0.1, 0.0)),
            Torque("twist", "table", torque=1.0),
            Gravity(acceleration=(0.0, 0.0)),
        ]
    )
    assert {"table", "rail", "pusher", "oil", "push", "twist", "gravity 0"} <= set(boxes(sketch(model.build())))
    alone = Model([PlanarBody("stone", mass=1.0, inertia=1.0)]).build()
    assert set(boxes(sketch(alone))) == {"stone"}


def test_space_is_refused():
    system = Model([SpatialBody("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))]).build()
    with pytest.raises(InputError, match="Only planar mechanisms are drawn"):
        sketch(system)
