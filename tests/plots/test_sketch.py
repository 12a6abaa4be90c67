"""The drawing of a mechanism in the plane and in space: names of everything, apart from each other, at one scale."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from loops import some
from matplotlib.backends.backend_agg import FigureCanvasAgg
from mpl_toolkits.mplot3d.proj3d import proj_transform
from scipy.spatial.transform import Rotation

from nonsmooth import (
    Damper,
    EllipsoidPlane,
    Gravity,
    Ground,
    InputError,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SpatialBody,
    Spring,
    Torque,
    simulate,
)
from nonsmooth.cli import main
from nonsmooth.model.clearances import SphericalClearance
from nonsmooth.model.joints import Spherical
from nonsmooth.model.registry import find_problems
from nonsmooth.plots import animation, sketch
from nonsmooth.plots.style import FAINT

PROBLEMS = find_problems()
UNNAMED = {"ground"}


def boxes(figure):
    """Of every name, in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes = figure.axes[-1]  # in space the names stand on axes of their own
    return {text.get_text(): text.get_window_extent(canvas.get_renderer()) for text in axes.texts if text.get_text()}


@pytest.mark.parametrize(
    "name", some([pytest.param(one, marks=[pytest.mark.slow] * (one == "six-rss")) for one in PROBLEMS], 4)
)
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
    if len(figure.axes) > 1:
        return
    (axes,) = figure.axes
    scales = np.diff(axes.transData.transform([(0.0, 0.0), (1.0, 1.0)]), axis=0)[0]
    assert scales[0] == pytest.approx(scales[1], rel=1e-6)


def test_every_body_is_inside():
    system = PROBLEMS["four-bar"]().build()
    (axes,) = sketch(system).axes
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    assert x0 < 0.0 and x1 > 3.7534 and y0 < 0.0 and y1 > 2.3839  # ground bearing and coupler's pin


def test_a_spring_ends_at_the_outline_of_its_body():
    """Of a plate that hangs by one pin, the corner at which the spring acts is drawn too."""
    plate = PlanarBody("plate", mass=1.0, inertia=1.0, position=(0.0, -0.5))
    model = Model([Ground("wall"), plate])
    model.add(Revolute("pin", "wall", plate, at_b=(0.0, 0.5)))
    model.add(Spring("spring", "wall", plate, at_a=(2.0, -1.0), at_b=(0.4, -0.3), stiffness=1.0, free_length=1.0))
    (axes,) = sketch(model.build()).axes
    outline = np.vstack([line.get_xydata() for line in axes.lines if line.get_color() == colour_of(axes, "plate")])
    assert np.min(np.linalg.norm(outline - (0.4, -0.8), axis=1)) < 1e-12


def colour_of(axes, body):
    """The colour in which a body's name is written, and its outline drawn."""
    return next(text.get_color() for text in axes.texts if text.get_text() == body)


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


def linkage():
    """A crank on a hinge, a rod between balls, a slider on a rail: a slider-crank with its axes askew."""
    bodies = [
        SpatialBody(name, mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=at)
        for name, at in (("crank", (0.0, 0.05, 0.0)), ("rod", (0.15, 0.05, 0.0)), ("slider", (0.3, 0.0, 0.0)))
    ]
    return Model(
        [
            Ground(),
            *bodies,
            Revolute("hinge", "ground", "crank", at_b=(0.0, -0.05, 0.0), axis_a=(1, 0, 0), axis_b=(1, 0, 0)),
            Spherical("ball", "crank", "rod", at_a=(0.0, 0.05, 0.0), at_b=(-0.15, 0.05, 0.0)),
            Spherical("knuckle", "rod", "slider", at_a=(0.15, -0.05, 0.0)),
            Prismatic("rail", "ground", "slider", at_a=(0.3, 0.0, 0.0), axis_a=(1, 0, 0)),
            Spring("spring", "ground", "slider", at_a=(0.45, 0.0, 0.0), stiffness=10.0),
            PointForce("push", "slider", force=(0.0, -1.0, 0.0)),
            Gravity(acceleration=(0.0, -9.81, 0.0)),
        ]
    ).build()


def pixels(axes, points):
    x, y, _ = proj_transform(*np.transpose(points), axes.get_proj())
    return axes.transData.transform(np.column_stack([x, y]))


def drawn_at(axes, point):
    """Whether a line of the drawing has an end, or a mark, at a point in space; to round-off of the numbers drawn."""
    ends = np.concatenate([np.transpose(line.get_data_3d()) for line in axes.lines])
    return float(np.nanmin(np.linalg.norm(ends - point, axis=1))) < 1e-9


def test_a_linkage_in_space_is_drawn_where_its_joints_are():
    figure = sketch(linkage())
    names = {"crank", "rod", "slider", "hinge", "ball", "knuckle", "rail", "spring", "push", "gravity"}
    assert set(boxes(figure)) == names | {"100 mm"}  # the scale
    space = figure.axes[0]
    for point in ([0, 0, 0], [0, 0.1, 0], [0.3, 0, 0], [0.45, 0, 0], [0.15, 0.05, 0]):
        assert drawn_at(space, point), point
    # an orthographic picture at one scale: the images of three unit vectors are the rows of two equally long ones
    images = np.diff(pixels(space, [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]), axis=0)[::2].T
    gram = images @ images.T
    assert gram == pytest.approx(gram[0, 0] * np.eye(2), rel=1e-9, abs=1e-9 * gram[0, 0])
    # gravity acts along y, which therefore points up in the picture
    assert abs(images[0, 1]) < 1e-9 * images[1, 1]


def test_a_name_stands_nearest_to_what_it_is_of():
    """That of a ball, whose circles keep it off, not at the middle of the crank beside it."""
    ends = np.array([[0.05, 0.0, 0.0], [0.18, 0.15, 0.12]])
    line = ends[1] - ends[0]
    turn = np.array([np.linalg.norm(line) + line[0], 0.0, -line[2], line[1]])
    rod = SpatialBody("rod", mass=1.0, inertia=(1.0,) * 3, position=tuple(ends.mean(axis=0)),
                      quaternion=tuple(turn / np.linalg.norm(turn)))  # fmt: skip
    law, half = Rigid(restitution=0.0, friction=0.0), float(np.linalg.norm(line)) / 2
    system = Model(
        [
            Ground(), SpatialBody("crank", mass=1.0, inertia=(1.0,) * 3, position=(0.025, 0.0, 0.0)), rod,
            Revolute("main", "ground", "crank", at_b=(-0.025, 0.0, 0.0), axis_a=(0, 0, 1), axis_b=(0, 0, 1)),
            SphericalClearance("ball", "crank", "rod", at_a=(0.025, 0.0, 0.0), at_b=(-half, 0.0, 0.0), clearance=2e-4,
                               radius=0.008, contact=law),
            Spherical("knee", "ground", "rod", at_a=tuple(ends[1]), at_b=(half, 0.0, 0.0)),
        ]
    ).build()  # fmt: skip
    figure = sketch(system)
    found = boxes(figure)
    ball, crank = pixels(figure.axes[0], [ends[0], [0.025, 0.0, 0.0]])
    box = found["ball"]
    apart = [np.linalg.norm(np.clip(point, box.min, box.max) - point) for point in (ball, crank)]
    assert apart[0] < apart[1]


def test_gravity_points_at_no_name():
    """Nothing is written within a length of the arrow below it."""
    slider = PlanarBody("slider", mass=1.0, inertia=1.0, position=(0.18, 0.0))
    rod = PlanarBody("rod", mass=1.0, inertia=1.0, position=(0.11, 0.0))
    pin, wrist = (
        Revolute("pin", "ground", rod, at_a=(0.04, 0.0), at_b=(-0.07, 0.0)),
        Revolute("wrist", rod, slider, at_a=(0.07, 0.0)),
    )
    gravity = Gravity(acceleration=(0.0, -9.81))
    figure = sketch(Model([Ground(), rod, slider, pin, wrist, Prismatic("guide", "ground", slider), gravity]).build())
    found = boxes(figure)
    (axes,) = figure.axes
    (arrow,) = [line for line in axes.lines if line.get_linewidth() == 1.1 and line.get_color() == FAINT]
    start, tip = axes.transData.transform(np.column_stack(arrow.get_data())[:2])
    for name, box in found.items():
        ahead = tip + np.linspace(0.0, 1.0, 50)[:, None] * (tip - start)
        assert not np.any(np.all((box.min <= ahead) & (ahead <= box.max), axis=1)), name


def test_space_is_seen_from_where_one_likes():
    space = sketch(linkage(), view=(0.0, 90.0)).axes[0]
    # seen along an axis across the vertical one: points that differ along it coincide
    seen = pixels(space, [[0.1, 0.2, 0.3], [0.4, 0.2, 0.3], [0.1, 0.2, 0.7]])
    assert min(np.linalg.norm(seen[1] - seen[0]), np.linalg.norm(seen[2] - seen[0])) < 1e-6
    with pytest.raises(InputError, match="view must be an elevation"):
        sketch(linkage(), view=(120.0, 0.0))


def test_clearances_in_space_are_magnified_by_the_stated_factor():
    clearance = 1e-3
    socket = SphericalClearance(
        "socket", "ground", "rod", at_b=(0.0, 0.0, 0.2), clearance=clearance, contact=Rigid(restitution=0, friction=0)
    )
    offset = np.array([3e-4, -2e-4, -5e-4])
    rod = SpatialBody("rod", mass=1.0, inertia=(1.0, 1.0, 1.0), position=tuple(offset - [0.0, 0.0, 0.2]))
    figure = sketch(Model([Ground(), rod, socket]).build())
    assert "clearance drawn 5 times its size" in [text.get_text() for text in figure.axes[-1].texts]
    rings = [np.transpose(line.get_data_3d()) for line in figure.axes[0].lines if len(line.get_data_3d()[0]) == 37]
    (centre, radius), (ball, ball_radius) = [
        (ring[:-1].mean(axis=0), np.linalg.norm(ring[0] - ring[:-1].mean(axis=0))) for ring in rings
    ]
    assert ball - centre == pytest.approx(5 * offset, abs=1e-12)
    assert radius - ball_radius == pytest.approx(5 * clearance)


def test_the_outline_of_an_ellipsoid_touches_its_ellipses():
    """No point of the surface is seen beyond the outline, whose extent across any direction d is |A' d|."""
    semi_axes, turn, at = np.array([0.3, 0.05, 0.1]), np.array([0.48, -0.6, 0.0, 0.64]), np.array([0.1, 0.2, 0.4])
    stone = SpatialBody("stone", mass=1.0, inertia=(1.0, 1.0, 1.0), position=tuple(at), quaternion=(0.6, 0, 0, 0.8))
    floor = EllipsoidPlane(
        "floor", "ground", "stone", semi_axes=tuple(semi_axes), quaternion=tuple(turn), normal=(0, 0, 1),
        contact=Rigid(restitution=0, friction=0),
    )  # fmt: skip
    space = sketch(Model([Ground(), stone, floor]).build()).axes[0]
    rings = [np.transpose(line.get_data_3d()) for line in space.lines if len(line.get_data_3d()[0]) == 37]
    (outline,) = rings  # ellipses of the planes of symmetry are one line with gaps
    A = Rotation.from_quat([0.0, 0.0, 0.8, 0.6]) * Rotation.from_quat(turn, scalar_first=True)
    local = A.inv().apply(outline - at) / semi_axes
    assert np.linalg.norm(local, axis=1) == pytest.approx(np.ones(37), abs=1e-12)
    # pixels of three unit vectors: the picture's two axes, at one scale
    images = np.diff(pixels(space, [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]), axis=0)[::2].T
    for angle in np.linspace(0, np.pi, 7):
        d = np.array([np.cos(angle), np.sin(angle)]) @ images
        extent = np.max((outline - at) @ d) / np.linalg.norm(semi_axes * A.inv().apply(d))
        assert np.cos(np.pi / 36) <= extent < 1 + 1e-12


def test_a_lone_body_in_space():
    alone = Model([SpatialBody("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))]).build()
    assert set(boxes(sketch(alone))) == {"stone"}


def test_describe_draws_space(tmp_path, capsys):
    assert main(["describe", "heavy-top", "--figure", str(tmp_path / "top.png")]) == 0
    assert (tmp_path / "top.png").stat().st_size > 5000
    assert "drawn in" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["four-bar", "slider-crank-translational", "socket-pendulum", "beam-on-stop"])
def test_a_sketch_is_the_first_picture_of_an_animation(name):
    """Line by line, but for the paths of mass centres; both see the same span of time here, so that walls agree."""
    system = PROBLEMS[name]().build()
    run = simulate(system, MoreauJean(), t_end=1e-9, dt=1e-9)
    film = animation(run, frames=2, forces=False)

    def lines(axes):
        return [np.array(getattr(line, "get_data_3d", line.get_data)(), float) for line in axes.lines]

    moving = lines(film.axes)[: -len([one for one in run.q.names if one.endswith(".x")])]
    assert len(moving) >= 8
    for one, other in zip(lines(sketch(system).axes[0]), moving, strict=False):  # the scale and the names come later
        assert one == pytest.approx(other, abs=1e-6, nan_ok=True)
