"""What elements state of their drawing, for every kind that is found: a new one fails here until it has numbers."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth.model
from nonsmooth import Rigid
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.contacts import Contact, PointBox
from nonsmooth.model.drawing import Bearing, Line, Mark, Primitive, Slide, Spot, Wall
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.elements import Element
from nonsmooth.model.joints import Fixed, Joint, Prismatic, Revolute
from nonsmooth.model.kinds import element_kinds
from nonsmooth.model.shapes import Mesh

PLANE: dict[str, Any] = {"at_a": (0.3, -0.1), "at_b": (0.2, 0.4)}
SPACE: dict[str, Any] = {"at_a": (0.3, -0.1, 0.2), "at_b": (0.2, 0.4, 0.1)}
AXES: dict[str, Any] = {"axis_a": (1.0, 2.0, 2.0), "axis_b": (0.0, 0.6, -0.8)}
NORMAL = {"normal": (0.0, 0.0, 1.0)}
LOOSE = {"clearance": 1e-3, "radius": 0.02}
GEARS = {"radius_a": 0.1, "radius_b": 0.2}
#: by kind the numbers of one or several examples, bodies and laws left out
TETRAHEDRON = Mesh(np.vstack([np.zeros(3), np.eye(3)]), np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "gravity": [{"acceleration": (0.0, -9.81)}],
    "point-force": [{"force": (1.0, 2.0), "at": (0.1, 0.2)}, {"force": lambda t: (t, 0.0), "frame": "body"}],
    "torque": [{"torque": 2.0}, {"torque": (0.0, 1.0, 0.0)}],
    "spring": [PLANE | {"stiffness": 2.0}, SPACE | {"stiffness": 2.0}],
    "damper": [PLANE | {"damping": 2.0}],
    "torsion-spring": [{"stiffness": 2.0}, {"stiffness": 2.0, "axis_a": (0.0, 0.0, 1.0)}],
    "torsion-damper": [{"damping": 2.0}, {"damping": 2.0, "axis_a": (0.0, 0.0, 1.0)}],
    "bushing": [
        PLANE | {"stiffness": (2.0, 3.0), "rotational_stiffness": 1.0},
        SPACE | {"stiffness": (2.0, 3.0, 1.0), "rotational_stiffness": (1.0, 1.0, 1.0)},
    ],
    "load": [
        {"force": lambda t, a, b, p: (t, 0.0), "at_b": (0.2, 0.4)}, {"torque": lambda t, a, b, p: p.k * t},
        {"energy": lambda a, b, p: b.angle**2},
    ],
    "revolute": [PLANE, SPACE | AXES],
    "prismatic": [PLANE | {"direction": 0.4}, SPACE | {"axis_a": (1.0, 2.0, 2.0)}],
    "fixed": [PLANE, SPACE | {"quaternion": (1.0, 0.0, 0.0, 0.0)}],
    "prescribed-motion": [
        {"coordinate": "angle", "motion": 1.0}, PLANE | {"coordinate": "x", "motion": 1.0},
        {"coordinate": "angle", "motion": 1.0, "axis_a": (0.0, 0.0, 1.0)},
        SPACE | {"coordinate": "distance", "motion": 1.0},
    ],
    "prescribed-pose": [SPACE | {"position": (0.0, 0.0, 1.0)}],
    "spherical": [SPACE], "universal": [SPACE | AXES], "cylindrical": [SPACE | AXES],
    "screw": [SPACE | {"axis_a": (1.0, 0.0, 0.0), "pitch": 0.01}],
    "thread": [SPACE | {"axis_a": (1.0, 0.0, 0.0), "pitch": 0.01}],
    "thread-backlash": [SPACE | {"axis_a": (1.0, 0.0, 0.0), "pitch": 0.01, "backlash": 1e-3}],
    "planar": [SPACE | {"normal_a": (1.0, 0.0, 0.0), "normal_b": (0.0, 1.0, 0.0)}],
    "universal-prismatic": [SPACE | AXES | {"slide_b": (0.0, 0.0, 2.0)}],
    "point-on-line": [PLANE | {"direction": 0.4}, SPACE | {"axis_a": (1.0, 0.0, 0.0)}],
    "point-in-plane": [SPACE | {"normal_a": (1.0, 0.0, 0.0)}],
    "distance": [SPACE | {"length": 0.5}], "perpendicular-axes": [AXES], "parallel-axes": [AXES],
    "no-twist": [{"axis_a": (1.0, 0.0, 0.0)}], "same-orientation": [{}],
    "revolute-clearance": [PLANE | LOOSE, SPACE | AXES | LOOSE | {"length": 0.03, "axial_clearance": 1e-3}],
    "spherical-clearance": [SPACE | LOOSE], "cylindrical-clearance": [SPACE | AXES | LOOSE | {"length": 0.03}],
    "prismatic-clearance": [{"length": 0.2, "clearance": 1e-3, "at_guide": (0.1, 0.0), "direction": 0.3}],
    "spatial-prismatic-clearance": [{"length": 0.2, "height": 0.1, "width": 0.1, "clearance": 1e-3}],
    "point-plane": [PLANE, SPACE | NORMAL], "circle-plane": [PLANE | {"radius": 0.1}],
    "circle-circle": [PLANE | {"radius_a": 0.1, "radius_b": 0.2}], "sphere-plane": [SPACE | NORMAL | {"radius": 0.1}],
    "sphere-sphere": [SPACE | {"radius_a": 0.1, "radius_b": 0.2}],
    "box-plane": [SPACE | NORMAL | {"edges": (0.2, 0.3, 0.5)}],
    "cylinder-plane": [SPACE | NORMAL | {"axis": (1.0, 0.5, 0.0), "radius": 0.2, "length": 0.5}],
    "point-box": [
        {"width": 0.3, "height": 0.2, "at_a": (0.1, 0.2), "at_b": (0.2, 0.4)},
        SPACE | {"width": 0.3, "height": 0.2, "depth": 0.1, "radius": 0.05},
    ],
    "point-polygon": [{"corners": (0.0, 0.0, 0.5, 0.0, 0.2, 0.4), "at_b": (0.2, 0.4)}],
    "circle-polygon": [{"corners": (0.0, 0.0, 0.5, 0.0, 0.2, 0.4), "at_b": (0.2, 0.4), "radius": 0.1}],
    "box-shape": [{"edges": (0.2, 0.1)}, {"edges": (0.2, 0.1, 0.3), "quaternion": (0.8, 0.0, 0.6, 0.0)}],
    "sphere-shape": [{"radius": 0.1}], "cylinder-shape": [{"radius": 0.1, "start": (0.0, 0.1), "end": (0.2, 0.3)}],
    "rod-shape": [{"radius": 0.1, "start": (0.0, 0.1, 0.0), "end": (0.2, 0.3, 0.4)}],
    "polygon-shape": [{"points": [(0.0, 0.0), (0.1, 0.0), (0.0, 0.2)]}], "mesh-shape": [{"mesh": TETRAHEDRON}],
    "limits": [PLANE | {"low": -1.0, "high": 1.0, "radius": 0.1},
               SPACE | {"coordinate": "displacement", "low": -1.0, "high": 1.0, "axis_a": (1.0, 0.0, 0.0)}],
    "play": [{"play": 0.1, "radius": 0.1}], "sampled-controller": [{"torque": "-angle", "period": 1e-3}],
    "gear-pair": [PLANE | GEARS], "gear-backlash": [PLANE | GEARS | {"backlash": 1e-4}], "belt": [PLANE | GEARS],
    "rack-pinion": [PLANE | {"radius": 0.1}], "rack-backlash": [PLANE | {"radius": 0.1, "backlash": 1e-4}],
    "joint-friction": [PLANE | {"torque": 0.6}, SPACE | {"force": 2.0, "axis_a": (1.0, 2.0, 2.0)}],
    "rope": [PLANE | {"via_a": (0.0, 1.0), "via_b": (0.0, 1.0), "length": 2.0},
             SPACE | {"via_a": (0.0, 1.0, 0.0), "via_b": (0.0, 1.0, 0.0), "length": 2.0}],
    "ellipsoid-plane": [SPACE | NORMAL | {"semi_axes": (0.2, 0.3, 0.5), "quaternion": (0.8, 0.0, 0.6, 0.0)}],
}  # fmt: skip
KINDS = {
    kind: cls
    for kind, cls in element_kinds().items()
    if cls.__module__.startswith("nonsmooth.") and not issubclass(cls, Body | Ground)
}


def examples() -> list[Any]:
    return [
        pytest.param(kind, i, id=f"{kind}-{i}") for kind in KINDS for i in range(max(len(EXAMPLES.get(kind, [])), 1))
    ]


def built(kind: str, i: int) -> Element:
    assert kind in EXAMPLES, f"{kind} needs numbers in EXAMPLES"
    cls, given = KINDS[kind], dict(EXAMPLES[kind][i])
    given |= dict(zip(cls.body_fields, ("first", "second"), strict=False))
    if issubclass(cls, Contact) and kind != "joint-friction":
        given["contact"] = Rigid(restitution=0.0, friction=0.0)
    return cls(name="it", **given)


def primitives(element: Element) -> tuple[Primitive, ...]:
    numbers = {f"{element.name}.{label}": value for label, value in element.numbers().items()}
    return element.drawing(element.values(numbers))


def numbers_in(value: Any) -> list[float]:
    """All numbers of a primitive."""
    if isinstance(value, (float, int)):
        return [float(value)]
    if isinstance(value, tuple):
        return [x for item in value for x in numbers_in(item)]
    if dataclasses.is_dataclass(value):
        return [x for field in dataclasses.fields(value) for x in numbers_in(getattr(value, field.name))]
    return []


@pytest.mark.parametrize("kind, i", examples())
def test_every_element_is_drawn_where_it_acts(kind: str, i: int) -> None:
    element = built(kind, i)
    found = primitives(element)
    assert found
    assert all(np.isfinite(numbers_in(one)).all() for one in found)
    points: dict[str, set[tuple[float, ...]]] = {}
    for field, body in zip(element.body_fields, element.body_names(), strict=True):
        at = getattr(element, f"at_{field}", getattr(element, "at", ()))
        points.setdefault(body, set()).add(tuple(at))
    spots = [spot for one in found for spot in one.spots()]
    assert bool(spots) == bool(element.body_fields)
    for spot in spots:
        # given points are handed on to the bit; without one it is the origin; of a rectangle its corners
        assert (
            spot.at in points[spot.body]
            or not any(spot.at)
            or kind in ("point-box", "point-polygon", "circle-polygon")
            and len(spot.at) == 2
        ), spot
    if isinstance(element, Joint | Contact):
        assert {spot.body for spot in spots} == {"first", "second"}


def test_a_rectangle_is_drawn_by_its_sides() -> None:
    wall = PointBox(
        "wall", "ground", "b", width=2.0, height=1.0, at_a=(1.0, 0.5), contact=Rigid(restitution=0.0, friction=0.0)
    )
    lines = [one for one in primitives(wall) if isinstance(one, Line)]
    assert [line.a.at for line in lines] == [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)]
    assert [line.b for line in lines] == [line.a for line in lines[1:] + lines[:1]]


def test_numbers_of_a_run_move_the_drawing() -> None:
    """The primitives follow the parameter values that are given, not the ones that the element was made with."""
    pin = Revolute("pin", "crank", "rod", at_a=(0.05, 0.0), at_b=(-0.06, 0.0))
    assert primitives(pin) == (Mark(Spot("crank", (0.05, 0.0)), Spot("rod", (-0.06, 0.0)), "pin"),)
    longer = {"pin.at_a_x": 0.08, "pin.at_a_y": 0.0, "pin.at_b_x": -0.06, "pin.at_b_y": 0.0}
    assert pin.drawing(pin.values(longer))[0].spots()[0] == Spot("crank", (0.08, 0.0))


def test_a_joint_without_a_drawing_is_a_mark_at_its_application_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def origins(self: Element, p: Any) -> tuple[Spot, ...]:
        return tuple(Spot(name) for name in self.body_names())

    monkeypatch.setattr(Revolute, "symbol", "joint")
    monkeypatch.setattr(Revolute, "spots", origins)  # as of a class without at_a and at_b
    half = Revolute("half", "a", "b", at_a=(1.0, 2.0), at_b=(3.0, 4.0))
    assert primitives(half) == (Mark(Spot("a"), Spot("b", (3.0, 4.0)), "joint"),)


def test_the_plane_has_no_symbols_of_space() -> None:
    assert primitives(Prismatic("rail", "a", "b", direction=np.pi / 2))[0] == Slide(
        Spot("a", (0.0, 0.0)), Spot("b", (0.0, 0.0)), (np.cos(np.pi / 2), 1.0)
    )
    (weld,) = primitives(Fixed("weld", "a", "b", quaternion=(1.0, 0.0, 0.0, 0.0)))
    assert isinstance(weld, Mark) and weld.shape == "weld"
    (turn,) = primitives(PrescribedMotion("motor", "a", "b", coordinate="angle", motion=0.0))
    assert turn.load and not turn.outlines


def test_clearances_and_walls_carry_their_sizes() -> None:
    (bearing,) = primitives(built("revolute-clearance", 1))
    assert isinstance(bearing, Bearing)
    assert (bearing.clearance, bearing.radius, bearing.length) == (1e-3, 0.02, 0.03)
    assert bearing.axis_a == (1.0, 2.0, 2.0)
    (wall,) = [one for one in primitives(built("sphere-plane", 0)) if isinstance(one, Wall)]
    assert (wall.normal, wall.radius, wall.near) == ((0.0, 0.0, 1.0), 0.1, Spot("second", (0.2, 0.4, 0.1)))


def test_models_know_nothing_of_pictures() -> None:
    """Neither when they are loaded nor within functions."""
    files = sorted(Path(nonsmooth.model.__path__[0]).glob("*.py"))
    assert len(files) > 10
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith(("matplotlib", "mpl_toolkits", "nonsmooth.plots"))]
