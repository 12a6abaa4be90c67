"""Loads of a law of one's own: what they know, balance, what they refuse; and loads of time that want the motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    AxisAngle,
    Bushing,
    Ground,
    Load,
    Model,
    ModelError,
    PlanarBody,
    PointForce,
    PointOnLine,
    PrescribedMotion,
    SpatialBody,
    Table,
    TimeVector,
    Torque,
    TorsionSpring,
)
from nonsmooth.declarative import model_text, read_text
from nonsmooth.model.loads import evaluate
from nonsmooth.model.system import System


def planar(*loads: Any) -> System:
    a = PlanarBody("a", 1.0, 0.1, position=(0.2, -0.1), angle=0.5, velocity=(0.3, 0.1), angular_velocity=2.0)
    b = PlanarBody("b", 2.0, 0.2, position=(1.0, 0.4), angle=7.0, velocity=(-0.4, 0.2), angular_velocity=-1.0)
    return Model([Ground(), a, b, *loads]).build()


def spatial(*loads: Any) -> System:
    a = SpatialBody(
        "a", 1.0, (0.1, 0.1, 0.1), position=(0.2, -0.1, 0.3), quaternion=(0.8, 0.0, 0.6, 0.0), velocity=(0.3, 0.1, 0.0),
        angular_velocity=(2.0, 0.5, 0.0),
    )  # fmt: skip
    b = SpatialBody("b", 2.0, (0.2, 0.2, 0.2), position=(1.0, 0.4, 0.0), angular_velocity=(0.0, -1.0, 0.4))
    return Model([Ground(), a, b, *loads]).build()


def force_of(system: System, t: float = 0.3) -> Any:
    return system.numeric.h(t, system.start.q, system.start.v, system.parameter_values)[0].reshape(2, -1)


def test_forces_balance_at_the_point_where_they_act() -> None:
    """Momentum and moment of momentum about the origin stay, whatever the law."""
    at = (0.1, 0.3)
    h = force_of(planar(Load("it", "a", "b", force=lambda t, a, b, p: (5 * t, -2.0), torque="3", at_b=at)))
    # formulas would be in the frame of a; a torque about the normal is the same in all
    assert h[1, :2].tolist() == [1.5, -2.0]
    assert h[0, :2] == pytest.approx(-h[1, :2], abs=1e-15)
    arm = np.array([np.cos(7.0) * 0.1 - np.sin(7.0) * 0.3, np.sin(7.0) * 0.1 + np.cos(7.0) * 0.3])
    assert h[1, 2] == pytest.approx(3.0 + arm[0] * -2.0 - arm[1] * 1.5, abs=1e-14)
    r = ((0.2, -0.1), (1.0, 0.4))
    moments = [row[2] + place[0] * row[1] - place[1] * row[0] for row, place in zip(h, r, strict=True)]
    assert sum(moments) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("make", [planar, spatial])
def test_formulas_are_of_the_motion_in_the_frame_of_a(make: Callable[..., System]) -> None:
    """A formula and a function that writes the same out, with the rates by differences of the placement."""
    size = 2 if make is planar else 3
    at = (0.1, 0.3, -0.2)[:size]

    def same(t: Any, a: Any, b: Any, p: Any) -> Any:
        place = a.unrotate(b.point(p.at_b) - a.position)
        # the rate of the place, by the chain rule
        moved = ca.vertcat(*(body.tangent() @ body.twist for body in (a, b)))
        rate = ca.jtimes(place, ca.vertcat(a.z, b.z), moved)
        return a.rotate(p.k * place - t * rate)

    formulas = tuple(f"k * {axis} - t * v{axis}" for axis in "xyz"[:size])
    found = [
        force_of(make(Load("it", "a", "b", force=law, at_b=at, parameters={"k": 3.0}))) for law in (formulas, same)
    ]
    assert np.abs(found[0]).max() > 1.0
    assert found[0] == pytest.approx(found[1], abs=1e-14)


def test_angles_count_turns_and_rates_are_relative() -> None:
    h = force_of(planar(Load("it", "a", "b", torque="angle + 10 * omega")))
    assert h[1, 2] == pytest.approx(6.5 + 10 * -3.0, abs=1e-14)
    names = ("omega_x", "omega_y", "omega_z")
    h = force_of(spatial(Load("it", "a", "b", torque=names)))
    # torques of h are in the frames of the bodies, b's is the ground's: R_a (components in a) is the relative velocity
    R = np.array([[0.28, 0.0, 0.96], [0.0, 1.0, 0.0], [-0.96, 0.0, 0.28]])
    assert h[1, 3:] == pytest.approx(np.array([0.0, -1.0, 0.4]) - R @ [2.0, 0.5, 0.0], abs=1e-14)
    assert h[0, 3:] == pytest.approx(-R.T @ h[1, 3:], abs=1e-14)


def test_numbers_of_a_load_are_parameters() -> None:
    system = planar(Load("it", "a", "b", torque="-k * omega", parameters={"k": 2}, at_b=(0.1, 0.0)))
    assert [name for name in system.parameters if name.startswith("it.")] == ["it.at_b_x", "it.at_b_y", "it.k"]
    other = system.parameter_vector({"it.k": 5.0})
    assert system.numeric.h(0.0, system.start.q, system.start.v, other)[0][5] == pytest.approx(15.0, abs=1e-14)
    with pytest.raises(ModelError, match=r'Load "it": k must be a finite number \[SI\], got nan'):
        system.parameter_vector({"it.k": np.nan})
    told = system.elements[-1].describe()
    assert (told["torque"], told["parameters"]) == ("-k * omega", {"k": 2})
    told = Load("it", "a", "b", energy=lambda a, b, p: 0.0).describe()
    assert told["energy"] == "function <lambda> of a, b, p"


def test_loads_with_other_formulas_are_other_loads() -> None:
    """Elements of one kind share their compiled form, which the text of a formula must tell apart."""
    system = planar(Load("one", "a", "b", force=("1", "0")), Load("other", "a", "b", force=("0", "4")))
    first = np.array([np.cos(0.5), np.sin(0.5)])  # the axes of a in the ground frame
    second = np.array([-np.sin(0.5), np.cos(0.5)])
    assert force_of(system)[1, :2] == pytest.approx(first + 4 * second, abs=1e-14)


LOAD = """
[elements.ground]
kind = "ground"
[elements.rotor]
kind = "planar-body"
mass = 1
inertia = 0.01
[elements.motor]
kind = "load"
a = "ground"
b = "rotor"
torque = "stall * (1 - omega / free)"
parameters = { stall = 2, free = 300 }
"""


def test_a_load_in_a_file() -> None:
    system = read_text(LOAD).build()
    v = [0.0, 0.0, 75.0]
    assert system.numeric.h(0.0, system.start.q, v, system.parameter_values)[0][2] == pytest.approx(1.5, rel=1e-15)
    with pytest.raises(ModelError, match='torque has the unknown name "speed"; there are angle, free'):
        read_text(LOAD.replace("omega", "speed"), "f")
    with pytest.raises(ModelError, match="parameters: must be a table of numbers in SI units, but free is"):
        read_text(LOAD.replace("300", '"300 rpm"'), "f")
    with pytest.raises(ModelError, match="force: must be a list of words in quotes, got"):
        read_text(LOAD.replace('torque = "stall * (1 - omega / free)"', "force = [1, 2]"), "f")
    model = Model([Ground(), PlanarBody("b", 1.0, 1.0), Load("it", "ground", "b", torque=lambda t, a, b, p: 0.0)])
    with pytest.raises(ModelError, match="which has no TOML form; give a formula, or keep the model in Python"):
        model_text(model)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({}, "it has no law; give force, torque or energy"),
        ({"torque": 2.0}, "torque must be a function, as lambda t, a, b, p: ..., or formulas, got 2.0"),
        ({"torque": lambda t, q: 1.0}, r"torque must be a function of \(t, a, b, p\), but it takes \(t, q\)"),
        ({"energy": lambda t, a, b, p: 1.0}, r"energy must be a function of \(a, b, p\), but it takes \(t, a, b, p\)"),
        ({"energy": "vx**2"}, 'energy has the unknown name "vx"'),
        ({"torque": "import os"}, '"import os" is no formula'),
        ({"torque": "omega.real"}, 'has "omega.real", which is no arithmetic'),
        ({"torque": "open(omega)"}, 'has the unknown function "open"; there are sin'),
        ({"torque": "atan2(omega)"}, r"gives atan2 1 argument\(s\); it takes 2"),
        ({"torque": "omega_x"}, 'torque has the unknown name "omega_x", in the plane; there are angle, omega, x'),
        ({"force": ("1",)}, r"force takes 2 formula\(s\) here, got 1"),
        ({"force": (1.0, 0.0)}, "force must be a function or formulas, each a text, got 1.0"),
        ({"force": lambda t, a, b, p: t}, r"force must return 2 component\(s\), got 1"),
        ({"torque": lambda t, a, b, p: 1.0 if b.angle > 0 else 0.0}, "could not be evaluated with symbols.*if_else"),
        ({"torque": lambda t, a, b, p: p.k}, "torque could not be evaluated with symbols.*k"),
        ({"torque": lambda t, a, b, p: ca.SX.sym("w")}, "torque depends on w; it may depend on its arguments only"),
        ({"torque": "t", "parameters": {"two words": 1.0}}, "the name of a parameter must be a word and not at_b"),
        ({"torque": "t", "parameters": {"k": "2 N"}}, "k must be a finite number in SI units, got '2 N'"),
        ({"torque": "t", "parameters": 3.0}, "parameters must be numbers by name"),
    ],
)
def test_laws_that_make_no_sense_are_refused(law: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=f'^Load "it": .*{message}'):
        planar(Load("it", "a", "b", **law))


def test_a_law_that_is_no_number_at_the_start_is_told() -> None:
    with pytest.raises(ModelError, match='Load "it": its force is not finite at the start'):
        planar(Load("it", "a", "b", force=lambda t, a, b, p: (ca.sqrt(-1 - t), 0.0)))


def of_two(t: Any, q: Any) -> Any:
    return q


@pytest.mark.parametrize(
    ("make", "start"),
    [
        (lambda: Torque("it", "b", torque=of_two), r'Torque "it": torque must be a function of time alone'),
        (lambda: PointForce("it", "b", force=of_two), r'PointForce "it": force must be a function of time alone'),
        (
            lambda: PrescribedMotion("it", "a", "b", coordinate="x", motion=of_two),
            r'PrescribedMotion "it": motion must be a function of time alone',
        ),
        (lambda: TimeVector((1.0, of_two)), "TimeVector: component 2 must be a function of time alone"),
        (lambda: AxisAngle((0.0, 0.0, 1.0), of_two), "AxisAngle: angle must be a function of time alone"),
    ],
)
def test_functions_of_time_take_the_time_only(make: Callable[[], Any], start: str) -> None:
    """Told when they are made, with what to use instead where there is something."""
    instead = (
        "" if "Time" in start or "Axis" in start else r"; what depends on the motion is a Load: Load\(.*lambda t, "
    )
    with pytest.raises(ModelError, match=rf"{start}, but it takes \(t, q\){instead}"):
        make()


@pytest.mark.parametrize(
    "torque", [lambda t, scale=2.0: scale * t, lambda *times: times[0], Table((0, 1), (0, 1)), ca.sin]
)
def test_functions_that_can_be_called_with_a_time_are_taken(torque: Callable[[Any], Any]) -> None:
    assert np.isfinite(force_of(planar(Torque("it", "b", torque=torque)))[1, 2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Bushing("it", "a", "b", stiffness=(1.0, 1.0), rotational_stiffness=(1.0, 1.0, 1.0)),
            r"rotational_stiffness takes 1 number\(s\) in the plane, like stiffness, got 3",
        ),
        (
            lambda: Bushing("it", "a", "b", stiffness=(1.0, 1.0), rotational_stiffness=1.0, coupling=(2.0, 0.0, 0.0)),
            "the matrix of stiffness must have no negative eigenvalue, got -1",
        ),
        (
            lambda: Bushing("it", "a", "b", stiffness=(1.0,), rotational_stiffness=1.0),
            "stiffness takes 2 numbers in the plane and 3 in space, got 1",
        ),
        (
            lambda: Bushing("it", "a", "b", stiffness=(1.0,) * 3, rotational_stiffness=(1.0,) * 3, angle=0.2),
            "angle is for planar models; in space give quaternion",
        ),
        (
            lambda: TorsionSpring("it", "a", "b", stiffness=1.0, quaternion=(1.0, 0.0, 0.0, 0.0)),
            "quaternion is given without axis_a",
        ),
        (
            lambda: TorsionSpring("it", "a", "b", stiffness=1.0, axis_a=(0.0, 0.0, 0.0)),
            "axis_a must be a direction, a vector that is not zero",
        ),
        (
            lambda: planar(TorsionSpring("it", "a", "b", stiffness=1.0, axis_a=(0.0, 0.0, 1.0))),
            "it is spatial, but the model is planar by its first body",
        ),
        (
            lambda: spatial(TorsionSpring("it", "a", "b", stiffness=1.0)),
            "it is planar, but the model is spatial by its first body; in space give axis_a",
        ),
        (lambda: spatial(PointOnLine("it", "a", "b")), "it is planar.*in space give axis_a"),
        (
            lambda: PointOnLine("it", "a", "b", direction=0.3, axis_a=(1.0, 0.0, 0.0)),
            "direction is for planar models; in space give axis_a",
        ),
    ],
)
def test_elements_that_make_no_sense_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_formulas_are_arithmetic() -> None:
    names = {"x": 2.0, "k": -0.5}
    assert evaluate("-k * x**2 / (1 + 1e0) - +x", names) == -1.0
    assert float(evaluate("where(x > 1, max(k, 0.25), pi) + abs(k) + atan2(0, x)", names)) == 0.75
    assert float(evaluate("sqrt(x * 8) + min(k, 0) + sign(k) + exp(0)", names)) == 3.5
