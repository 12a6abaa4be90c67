"""Every kind of element as a TOML file and back, found by itself: a new kind fails here until it has an example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nonsmooth
from nonsmooth import (
    AxisAngle,
    Compliant,
    DeclarationError,
    FourierSignal,
    Gravity,
    Ground,
    Harmonic,
    InputError,
    Model,
    ModelError,
    MotionProfile,
    PlanarBody,
    PointForce,
    PrescribedPose,
    Ramp,
    Rigid,
    SpatialBody,
    Spline,
    Table,
    TimeVector,
    Torque,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.declarative import StatedModel, model_text, read_text
from nonsmooth.flexible import Material, Rectangle, beam, modes
from nonsmooth.laws import Flores
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.kinds import element_kinds, time_functions
from nonsmooth.model.shapes import Mesh, Shape

QUATERNION = (0.48, -0.6, 0.0, 0.64)
AT = {"at_a": (0.1, -0.0, 1 / 3), "at_b": (0.2, 0.4, 0.1)}
PLANAR_AT = {"at_a": (0.1, -0.0), "at_b": (1 / 3, 0.4)}
AXES = {"axis_a": (1.0, 2.0, 2.0), "axis_b": (0.0, 0.6, -0.8)}
BEARING = {"clearance": 1e-4, "radius": 0.3, "length": 0.5}
PLANE = {"normal": (1.0, 2.0, 3.0), **AT}
GEARS = {**PLANAR_AT, "radius_a": 1 / 3, "radius_b": 0.1, "angle_a": 0.1, "angle_b": -0.2, "direction": 0.3}
#: of a square rod, in space those of both planes, of torsion and of elongation
MODES = modes(
    beam(
        (0, 0, 0), (0.3, 0, 0), section=Rectangle(8e-3, 8e-3), material=Material(2.1e11, 8e10, 7850.0), elements=2,
        names={"knee": 0, "pin": 1},
    ),
    interface=["knee", "pin"], keep=1, damping=0.01,
)  # fmt: skip
#: by kind the fields of one or several examples besides bodies and contact; points of three components make it spatial
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "gravity": [{"acceleration": (0.0, -9.81)}, {"acceleration": (0.0, 0.0, -9.81)}],
    "ground": [{}],
    "planar-body": [{"mass": 0.1, "inertia": 1e-4, "position": (1 / 3, -0.0), "angle": 0.1, "velocity": (0.0, 1e-5)}],
    "spatial-body": [
        {"mass": 0.1, "inertia": (1e-3, 2e-3, 2.5e-3), "quaternion": QUATERNION, "angular_velocity": (0.0, -0.0, 7.1)},
        {"mass": 0.1, "inertia": (1e-3, 2e-3, 2.5e-3, 1e-5, -0.0, 2e-5), "position": (0.1, 0.2, 1 / 3)},
    ],
    "planar-flexible-body": [
        {"modes": MODES, "position": (1 / 3, -0.0), "angle": 0.1, "deformation": np.array([1e-3, -0.0, 1 / 3, 0.1])},
        {"modes": MODES, "deformation_rate": np.array([0.0, 1.0, 1 / 3, 0.1])},
    ],
    "spatial-flexible-body": [{"modes": MODES, "quaternion": QUATERNION, "angular_velocity": (0.0, -0.0, 7.1)}],
    "prismatic": [{**PLANAR_AT, "direction": 0.3, "angle": 0.1}, {**AT, "axis_a": (0, 1, 2), "quaternion": QUATERNION}],
    "revolute": [PLANAR_AT, {**AT, **AXES}],
    "fixed": [{**PLANAR_AT, "angle": 0.1}, {**AT, "quaternion": QUATERNION}],
    "parallel-axes": [AXES],
    "spherical": [AT],
    "cylindrical": [{**AT, **AXES}],
    "point-on-line": [{**PLANAR_AT, "direction": 0.3}, {**AT, "axis_a": (0.0, 0.0, 2.0)}],
    "point-in-plane": [{**AT, "normal_a": (0.0, 0.0, 2.0)}],
    "distance": [{**AT, "length": 0.7}],
    "perpendicular-axes": [AXES],
    "no-twist": [{"axis_a": (1.0, 2.0, 2.0), "quaternion": QUATERNION}],
    "same-orientation": [{"quaternion": QUATERNION}],
    "universal": [{**AT, **AXES}],
    "screw": [{**AT, "axis_a": (1.0, 2.0, 2.0), "pitch": -2e-3, "quaternion": QUATERNION}],
    "thread": [{**AT, "axis_a": (1.0, 2.0, 2.0), "pitch": -2e-3, "quaternion": QUATERNION}],
    "thread-backlash": [{**AT, "axis_a": (1.0, 2.0, 2.0), "pitch": 1e-2, "backlash": 1e-4}],
    "planar": [{**AT, "normal_a": (1.0, 2.0, 2.0), "normal_b": (0.0, 0.6, -0.8)}],
    "universal-prismatic": [{**AT, **AXES, "slide_b": (0.0, 0.0, 1.0)}],
    "revolute-clearance": [
        {**BEARING, **PLANAR_AT},
        {**BEARING, **AT, **AXES, "axial_clearance": 1e-4, "collar_radius": 0.4, "points": 3, "ends": "sleeve"},
        {**BEARING, **AT, **AXES, "axial_clearance": 1e-4, "parallel": True},
    ],
    "prismatic-clearance": [{"length": 0.2, "height": 0.06, "clearance": 1e-4, "direction": 0.4}],
    "spherical-clearance": [{**AT, "clearance": 1e-4, "radius": 0.3}],
    "cylindrical-clearance": [{**BEARING, **AT, **AXES}, {**BEARING, **AT, **AXES, "ends": "sleeve", "parallel": True}],
    "spatial-prismatic-clearance": [
        {
            "length": 0.5, "height": 0.2, "width": 0.15, "clearance": 1e-4, "side_clearance": 2e-4,
            "at_guide": (0.3, 0.1, 0.2), "axis_guide": (1.0, 2.0, 2.0), "every_wall": True,
        },
        {
            "length": 0.5, "height": 0.2, "width": 0.15, "clearance": 1e-4, "at_slider": (3.0, 1.0, 2.0),
            "ends": "guide",
        },
    ],
    "point-plane": [{**PLANAR_AT, "direction": 0.7}, PLANE],
    "circle-plane": [{**PLANAR_AT, "radius": 0.25, "direction": 0.7}],
    "circle-circle": [{**PLANAR_AT, "radius_a": 0.15, "radius_b": 0.25}],
    "sphere-plane": [{**PLANE, "radius": 0.25, "size": 0.1}],
    "sphere-sphere": [{**AT, "radius_a": 0.15, "radius_b": 0.25}],
    "box-plane": [{**PLANE, "edges": (0.2, 0.3, 0.5)}],
    "cylinder-plane": [{**PLANE, "radius": 0.2, "length": 0.5, "axis": (1.0, 0.5, 0.0), "points": 3}],
    "point-box": [{**AT, "width": 0.2, "height": 0.3, "depth": 0.5, "radius": 0.01}],
    "point-polygon": [{"corners": (0.0, -0.0, 1 / 3, 0.0, 0.2, 0.4), "at_b": (0.2, 0.4), "size": 0.1}],
    "circle-polygon": [
        {
            "corners": (1.0, 0.0, 2.0, 0.0, 2.0, 2.0, 3.0, 2.0, 3.0, 3.0, 0.0, 3.0, 0.0, 2.0, 1.0, 2.0),
            "layer": 0.2, "radius": 0.1, "at_b": (0.2, 0.4),
        },
    ],
    "limits": [
        {"low": -1 / 3, "high": 40.0, "radius": 0.1},
        {**AT, "coordinate": "displacement", "low": -0.0, "high": 0.3, "axis_a": (1.0, 2.0, 2.0), "size": 1e-4},
    ],
    "play": [
        {**PLANAR_AT, "coordinate": "displacement", "play": 1 / 3, "middle": -0.1, "direction": 0.3},
        {"play": 0.1, "middle": 0.2, "radius": 0.1, "axis_a": (1.0, 2.0, 2.0), "quaternion": QUATERNION},
    ],
    "gear-pair": [GEARS, {**GEARS, "internal": True, "direction": -0.0}],
    "gear-backlash": [{**GEARS, "backlash": 1e-4}],
    "belt": [{**GEARS, "crossed": True}],
    "rack-pinion": [{**PLANAR_AT, "radius": 1 / 3, "direction": 0.3, "angle": 0.1}],
    "rack-backlash": [{**PLANAR_AT, "radius": 1 / 3, "backlash": 1e-4}],
    "joint-friction": [
        {"torque": 1 / 3, "static": 0.4, "stribeck_rate": 0.1, "size": 1e-3},
        {**AT, "force": 2.5, "axis_a": (1.0, 2.0, 2.0), "stick_rate": 1e-5},
    ],
    "rope": [
        {**PLANAR_AT, "via_a": (0.1, 1 / 3), "via_b": (0.3, -0.0), "length": 1.5},
        {**AT, "via_a": (0.1, 1 / 3, 0.0), "via_b": (0.3, -0.0, 1.0), "length": 1.5},
    ],
    "ellipsoid-plane": [{**PLANE, "semi_axes": (0.2, 0.3, 0.5), "quaternion": QUATERNION}],
    "prescribed-motion": [
        {"coordinate": "angle", "motion": Ramp(7.1, start=1 / 3)},
        {"coordinate": "z", "motion": Harmonic(0.1, 0.7, phase=1e-3, offset=-0.0), **AT},
        {"coordinate": "angle", "motion": Ramp(7.1), "axis_a": (1.0, 2.0, 2.0), "quaternion": QUATERNION},
        {"coordinate": "y", "motion": MotionProfile(0.3, speed=1 / 3, acceleration=2.0, jerk=7.0, dwell=0.1), **AT},
        {"coordinate": "x", "motion": MotionProfile(0.3, duration=0.7, begin=-0.1, shape="cosine"), **AT},
        {"coordinate": "y", "motion": Spline((0.0, 1 / 3, 1.0), (0.0, 0.1, 0.3), speeds=(0.0, 0.1)), **AT},
        {"coordinate": "distance", "motion": 0.3, **AT},
        {"coordinate": "displacement", "motion": Table((0.0, 1.0), (0.0, 0.1)), "axis_a": (1.0, 2.0, 2.0), **AT},
    ],
    "prescribed-pose": [
        {"position": (0.1, -0.0, 1 / 3), "quaternion": QUATERNION, **AT},
        {
            "position": TimeVector((Harmonic(0.2, 2.0), 0.1, Table((0.0, 1.0), (0.0, 0.1)))),
            "quaternion": AxisAngle((0.0, 1.0, 1.0), Ramp(0.3, start=0.1)),
        },
    ],
    "point-force": [
        {"force": (1.0, -0.0), "at": (0.1, 0.2), "frame": "body"},
        {"force": TimeVector((Harmonic(0.2, 2.0), FourierSignal(0.4, (0.1, 1 / 3), (0.0, 0.2)))), "at": (0.1, 0.2)},
        {"force": TimeVector((0.1, Ramp(3.0), 0.0)), "at": (0.1, 0.2, 1 / 3)},
    ],
    "torque": [{"torque": Ramp(0.1)}, {"torque": (0.1, 0.2, 1 / 3)}, {"torque": TimeVector((0.1, Ramp(3.0), 0.0))}],
    "spring": [{**PLANAR_AT, "stiffness": 1e3, "free_length": 0.2}, {**AT, "stiffness": 1e3}],
    "damper": [{**AT, "damping": 1 / 3}],
    "torsion-spring": [
        {"stiffness": 1 / 3, "free_angle": -25.0},
        {"stiffness": 1 / 3, "axis_a": (1.0, 2.0, 2.0), "quaternion": QUATERNION},
    ],
    "torsion-damper": [{"damping": 1 / 3}, {"damping": 1 / 3, "axis_a": (1.0, 2.0, 2.0)}],
    "bushing": [
        {**PLANAR_AT, "stiffness": (1e3, 2e3), "rotational_stiffness": 10.0, "coupling": (1.0, -0.0, 3.0)},
        {
            **AT, "stiffness": (1e3, 2e3, 1e3), "rotational_stiffness": (10.0, 10.0, 20.0), "quaternion": QUATERNION,
            "damping": (1.0, 2.0, 1 / 3), "rotational_damping": (0.1, 0.0, 0.1),
        },
    ],
    "load": [
        {"torque": "stall * (1 - omega / free)", "parameters": {"stall": 2.0, "free": 1 / 3}},
        {"force": ("-k * x", "where(vx > 0, -1, 1)"), "at_b": (0.1, 1 / 3), "parameters": {"k": 0.1}},
        {"force": ("-x", "-y", "-z"), "torque": ("t", "-omega_y", "0"), "energy": "z**2", "at_b": (0.1, 0.2, 1 / 3)},
    ],
    "sampled-controller": [
        {"torque": "-k * angle + sum", "period": 1e-3, "delay": 1e-4, "states": {"sum": "sum - angle"},
         "start": {"sum": 0.2}, "parameters": {"k": 0.1}, "resolution": {"angle": 1 / 3}, "step": 0.1, "held": 0.2},
        {"torque": "-angle", "period": 1e-3, "axis_a": (0.0, 1.0, 1 / 3), "quaternion": QUATERNION, "saturation": 0.1},
        {"force": ("-x", "0"), "period": 1e-3, "held": (0.1, 0.2), "at_b": (0.1, 1 / 3)},
    ],
    "box-shape": [{"edges": (0.2, 1 / 3)}, {"edges": (0.2, 0.1, 1 / 3), "at": (0.1, -0.0, 0.2),
                                           "quaternion": QUATERNION}],
    "sphere-shape": [{"radius": 1 / 3, "at": (0.1, -0.0)}],
    "cylinder-shape": [{"radius": 0.1, "start": (0.0, 0.1, 0.2), "end": (0.2, 0.3, 1 / 3)}],
    "rod-shape": [{"radius": 0.1, "start": (0.0, 0.1), "end": (0.2, 1 / 3)}],
    "polygon-shape": [{"points": np.array([(0.0, 0.0), (0.1, -0.0), (0.0, 1 / 3)])}],
    "mesh-shape": [{"angle": 1 / 3, "mesh": Mesh(np.vstack([np.zeros(3), np.eye(3) / 3]), np.array([[1, 2, 0]]))}],
}  # fmt: skip
PAIRS = [(kind, i) for kind, examples in EXAMPLES.items() for i in range(len(examples))]
COMPLIANT = Compliant(Flores(stiffness=1e8, restitution=0.5))


def model_with(kind: str, fields: dict[str, Any], contact: Any = None) -> tuple[Model, Element]:
    """A model of two bodies and the element, in space where its vectors have three components."""
    cls: Any = element_kinds()[kind]
    contact = contact or Rigid(restitution=0.3, friction=0.2 if getattr(cls, "slides", True) else 0.0)
    bodies = dict(zip(cls.body_fields, ("first", "second"), strict=False))
    takes = issubclass(cls, Contact) and kind != "joint-friction"
    given = {**fields, **bodies, **({"contact": contact} if takes else {})}
    element = cls(**({"name": kind} | given))
    vectors = [value for value in fields.values() if isinstance(value, (tuple, TimeVector))]
    sizes = [len(value.components if isinstance(value, TimeVector) else value) for value in vectors]
    spatial = 3 in sizes if len(element.dimensions) > 1 else element.dimensions == (3,)
    model = Model([element] if kind.endswith("-body") else [])
    for name in ("first", "second"):
        if spatial:
            model.add(SpatialBody(name, mass=1.0, inertia=(1e-3, 2e-3, 2.5e-3)))
        else:
            model.add(PlanarBody(name, mass=1.0, inertia=1e-3))
    if not kind.endswith("-body"):
        model.add(element)
    return model, element


def values(element: Element, model: Model, t: float) -> list[Array]:
    """Residual and Jacobians, gaps and moment arms, or forces of an element, at a placement that is nowhere special."""
    system = model._system()
    functions, order = system.functions, list(element.numbers())
    p = np.array([element.numbers()[name] for name in order])
    rng = np.random.default_rng(1)
    count = len(element.body_fields)
    places = max(count, 2)
    z = rng.standard_normal((places, 12 if system.dimension == 3 else 4))
    twist = rng.standard_normal((places, 6 if system.dimension == 3 else 3))
    if system.dimension == 2 and element.turns:
        z = np.hstack([z, rng.standard_normal((places, 1))])
    if hasattr(element, "constraint"):
        found = functions.constraint(element)(t, *z, p)
    elif hasattr(element, "gaps"):
        found = functions.gaps(element)(*z, p)
    elif isinstance(element, Shape):
        found = (*element.solid().seen, element.solid().points)
    elif count:
        found = functions.forces(element)(t, *z[:count], *twist[:count], p)
    else:
        found = ()
    return [np.array(one) for one in found]


def test_every_kind_has_an_example() -> None:
    package = {kind for kind, cls in element_kinds().items() if cls.__module__.startswith("nonsmooth.")}
    assert not package - set(EXAMPLES), f"give {', '.join(package - set(EXAMPLES))} fields in EXAMPLES above"
    assert not set(EXAMPLES) - package, f"there is no kind {', '.join(set(EXAMPLES) - package)}: remove its example"


@pytest.mark.parametrize(("kind", "i"), PAIRS)
def test_every_kind_of_element(kind: str, i: int) -> None:
    """The element that is read back has the same fields and the same equations, to the bit."""
    model, element = model_with(kind, EXAMPLES[kind][i])
    text = model_text(model)
    again = read_text(text).model
    read = next(one for one in again.elements if one.name == element.name)
    assert type(read) is type(element) and read.describe() == element.describe()
    assert list(read.numbers().items()) == list(element.numbers().items())
    assert repr(read.numbers()) == repr(element.numbers())  # the signs of zeros too
    assert model_text(again) == text.replace("[0, 1, 2]", "[0.0, 1.0, 2.0]")
    for one, other in zip(values(element, model, 0.3), values(read, again, 0.3), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("kind", [kind for kind, cls in element_kinds().items() if issubclass(cls, Contact)])
def test_compliant_contacts(kind: str) -> None:
    if kind in EXAMPLES:
        model, element = model_with(kind, EXAMPLES[kind][-1], COMPLIANT)
        assert read_text(model_text(model)).model.elements[-1].describe() == element.describe()


def test_functions_of_time_are_all_used() -> None:
    used = "".join(model_text(model_with(kind, EXAMPLES[kind][i])[0]) for kind, i in PAIRS)
    known = {kind for kind, cls in time_functions().items() if cls.gives != "vector"}  # which are lists
    assert {kind for kind in known if f'kind = "{kind}"' in used} == known


POSE = """
[elements.ground]
kind = "ground"
[elements.plate]
kind = "spatial-body"
mass = 1
inertia = [1, 1, 1]
[elements.path]
kind = "prescribed-pose"
a = "ground"
b = "plate"
position = {position}
quaternion = {quaternion}
"""
WRONG = {
    "function of a number for a vector": (
        '{ kind = "ramp", rate = 1 }', None, "position", "list in which functions of time stand for numbers",
    ),
    "too few components": ("[0, 0]", None, "position", "takes 3 components, got 2"),
    "too few with a function": ('[{ kind = "ramp", rate = 1 }, 0]', None, "position", "takes 3 components, got 2"),
    "unit in a function": ('[0, { kind = "ramp", rate = "1 kg" }, 0]', None, "position[1].rate", "than m/s"),
    "unit beside a function": ('[0, { kind = "ramp", rate = 1 }, "1 kg"]', None, "position[2]", "than m;"),
    "word beside a function": ('[true, { kind = "ramp", rate = 1 }, 0]', None, "position[0]",
                               "a number or a function of time; got true"),
    "unknown function": ('[0, { kind = "ram", rate = 1 }, 0]', None, "position[1]", "Did you mean ramp?"),
    "quaternion as a function": ('[0, { kind = "axis-angle", axis = [0, 0, 1], angle = 1 }, 0]', None, "position[1]",
                                 "There are ramp, harmonic, fourier-signal, table"),
    "unknown key": ('[0, { kind = "ramp", rte = 1 }, 0]', None, "position[1].rte", "Did you mean rate?"),
    "times": ('[0, { kind = "table", times = [0, 0], values = [0, 1] }, 0]', None, "position[1].times", "strictly"),
    "norm": (None, "[1, 1, 0, 0]", "quaternion", "must have norm 1"),
    "number of components": (None, "[1, 0, 0]", "quaternion", "takes 4 components, got 3"),
    "turning about nothing": (None, '{ kind = "axis-angle", axis = [0, 0, 0], angle = 1 }', "quaternion.axis",
                              "not all zero"),
    "unit of an angle": (None, '{ kind = "axis-angle", axis = [0, 0, 1], angle = { kind = "ramp", rate = "1 m" } }',
                         "quaternion.angle.rate", "than rad/s"),
    "number for an orientation": (None, '{ kind = "ramp", rate = 1 }', "quaternion", "There are axis-angle"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_of_vectors_that_depend_on_time(case: str) -> None:
    position, quaternion, key, words = WRONG[case]
    text = POSE.format(position=position or "[0, 0, 0]", quaternion=quaternion or "[1, 0, 0, 0]")
    with pytest.raises(DeclarationError) as caught:
        read_text(text, "f")
    ((line, found, sentence),) = caught.value.faults
    assert found == f"elements.path.{key}" and words in sentence, str(caught.value)
    assert line == (12 if position else 13)


def test_a_pose_moves_as_it_is_stated() -> None:
    """A plate on a path of its own: where it is after 0.1 s, from the formulas of its file."""
    text = POSE.format(
        position='[{ kind = "harmonic", amplitude = "20 mm", period = "0.4 s", phase = "90 deg" }, "5 mm", 0]',
        quaternion='{ kind = "axis-angle", axis = [0, 0, 2], angle = { kind = "ramp", rate = "150 deg/s" } }',
    )
    system = read_text("assemble = true\n" + text).build()
    run = nonsmooth.simulate(
        system, nonsmooth.EventDriven(), t_end=0.1, dt=nonsmooth.ErrorControl(1e-8, 1e-10, 1e-5, 1e-2)
    )
    # all of it is prescribed, so that it is as exact as joints are closed
    wanted = [0.0, 0.005, 0.0, np.cos(np.radians(7.5)), 0.0, 0.0, np.sin(np.radians(7.5))]
    assert run.q.array[-1] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: TimeVector(()), "components must be a list of numbers and functions"),
        (lambda: TimeVector((1.0, "x")), "component 2 must be a finite number or a function"),
        (lambda: TimeVector((float("nan"),)), "component 1 must be a finite number"),
        (lambda: AxisAngle((0.0, 0.0), 1.0), "axis must be three finite numbers"),
        (lambda: AxisAngle((0.0, 0.0, 1.0), "x"), "angle must be a finite number"),
    ],
)
def test_functions_that_are_wrong(make: Any, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        make()


ROD = """
{assemble}
[contact]
kind = "rigid"
restitution = 0.5
friction = 0
[elements.ground]
kind = "ground"
[elements.crank]
kind = "spatial-body"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0, 0, "-98 mm"]
angular_velocity = [2, 0, 0]
[elements.rod]
kind = "spatial-body"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0, 0, "-310 mm"]
[elements.hinge]
kind = "revolute"
a = "ground"
b = "crank"
at_b = [0, 0, "100 mm"]
axis_a = [1, 0, 0]
axis_b = [1, 0, 0]
[elements.ball]
kind = "spherical-clearance"
a = "crank"
b = "rod"
at_a = [0, 0, "-100 mm"]
at_b = [0, 0, "100 mm"]
clearance = "0.1 mm"
"""


def test_starts_are_assembled_as_the_file_says() -> None:
    """Open by 2 mm, the ball beside its socket by 8 mm."""
    with pytest.raises(DeclarationError, match='hinge: .*is open by 0.002 m.*let assemble = "centred"'):
        read_text(ROD.format(assemble=""), "f").build()
    with pytest.raises(DeclarationError, match="overlaps by"):
        read_text(ROD.format(assemble="assemble = true"), "f").build()  # the hinge is closed, the ball left where it is
    declared = read_text(ROD.format(assemble='assemble = "centred"'), "f")
    for model in (declared.model, declared.replaced(COMPLIANT), read_text(model_text(declared.model)).model):
        assert isinstance(model, StatedModel)
        system = model.build()
        assert system.true_gaps(system.start.q, system.parameter_values)[0] == pytest.approx([1e-4], abs=1e-12)
        assert system.joint_violation([0.0], system.start.q, system.parameter_values) == pytest.approx(0.0, abs=1e-13)
        # the end of the crank moves at 2 rad/s times 0.2 m, and the ball with it
        v = dict(zip(system.v_names, system.start.v, strict=True))
        assert v["rod.y"] + 0.1 * -v["rod.wx"] == pytest.approx(0.4, abs=1e-12)
    with pytest.raises(DeclarationError, match='assemble: must be true or false, or "centred"'):
        read_text(ROD.format(assemble="assemble = 3"), "f")
    with pytest.raises(DeclarationError, match='assemble: must be "centred", got "centered"; did you mean centred'):
        read_text(ROD.format(assemble='assemble = "centered"'), "f")


def test_what_python_says_of_assembly_goes_before_the_file() -> None:
    model = read_text(ROD.format(assemble='assemble = "centred"'), "f").model
    with pytest.raises(ModelError, match="is open by 0.002 m"):
        model.build(assemble=False)


def test_vectors_of_the_wrong_size() -> None:
    """A plane vector in space is told when the model is built, with the line of its element."""
    text = POSE.format(position="[0, 0, 0]", quaternion="[1, 0, 0, 0]")
    with pytest.raises(DeclarationError, match="f:14: elements.gravity: acceleration takes 3 components in a spatial"):
        read_text(text + '[elements.gravity]\nkind = "gravity"\nacceleration = [0, -9.81]\n', "f").build()
    with pytest.raises(DeclarationError, match="elements.pin: it is planar.*in space give axis_a and axis_b"):
        read_text(text + '[elements.pin]\nkind = "revolute"\na = "ground"\nb = "plate"\n', "f").build()


def test_elements_of_the_test_are_what_they_claim() -> None:
    """Loads whose components depend on time act with the values of their functions."""
    model = Model([Ground(), SpatialBody("ball", 1.0, (1.0, 1.0, 1.0)), Gravity(acceleration=(0.0, 0.0, 0.0))])
    model.add(PointForce("push", "ball", force=TimeVector((Ramp(3.0), 0.5, Harmonic(2.0, 0.4)))))
    model.add(Torque("turn", "ball", torque=TimeVector((0.0, 0.0, Ramp(7.0)))))
    system = read_text(model_text(model)).build()
    h = np.array(system.h(0.1, system.start.q, system.start.v, system.parameter_values)).ravel()
    assert h == pytest.approx([0.3, 0.5, 2.0, 0.0, 0.0, 0.7], abs=1e-15)
    assert issubclass(ModelError, InputError) and PrescribedPose.dimensions == (3,)
