"""Remarks on models that can be built: one per mistake, none on ready problems, each silenced by name."""

from __future__ import annotations

import inspect
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from loops import some

from nonsmooth import (
    CircleCircle,
    Compliant,
    Damper,
    Fixed,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    ModelError,
    ModelWarning,
    MoreauJean,
    PlanarBody,
    PointBox,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    SpatialBody,
    Spring,
    Table,
    simulate,
)
from nonsmooth.cli import main
from nonsmooth.declarative import model_text, read_text
from nonsmooth.exceptions import DeclarationError
from nonsmooth.laws import Flores, NormalLaw
from nonsmooth.model.registry import find_problems
from nonsmooth.model.review import REMARKS
from nonsmooth.quantities import Quantity

L1, L2 = 0.05, 0.12
RIGID = Rigid(restitution=0.5, friction=0.0)


def crank(silence=(), without=(), scale=1.0, **given):
    """Slider-crank with a loose crank pin; `given` replaces elements, or fields of them, or adds elements."""
    bodies = {
        "crank": dict(mass=0.3, inertia=1e-4, position=(scale * L1 / 2, 0)),
        "rod": dict(mass=0.21, inertia=2.5e-4, position=(scale * (L1 + L2 / 2), 0)),
        "piston": dict(mass=0.14, inertia=5e-5, position=(scale * (L1 + L2), 0)),
    }
    joints = {
        "main": (Revolute, "ground", "crank", dict(at_b=(-scale * L1 / 2, 0))),
        "pin": (
            RevoluteClearance, "crank", "rod",
            dict(at_a=(scale * L1 / 2, 0), at_b=(-scale * L2 / 2, 0), clearance=2e-4, contact=RIGID),
        ),
        "wrist": (Revolute, "rod", "piston", dict(at_a=(scale * L2 / 2, 0))),
        "bore": (Prismatic, "ground", "piston", {}),
        "motor": (PrescribedMotion, "ground", "crank", dict(coordinate="angle", motion=lambda t: 100.0 * t)),
    }  # fmt: skip
    model = Model([Ground()], name="crank", silence=silence)
    for name, fields in bodies.items():
        model.add(PlanarBody(name, **fields | given.get(name, {})))
    for name, (kind, a, b, fields) in joints.items():
        if name not in without:
            model.add(kind(name, a, b, **fields | given.get(name, {})))
    if "gravity" not in without:
        model.add(Gravity(acceleration=given.get("acceleration", (0, -9.81))))
    for element in given.get("more", ()):
        model.add(element)
    return model


def sentences(model, **options):
    """The remarks of a build, with ideal joints closed first unless told otherwise."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ModelWarning)
        model.build(**(options or {"assemble": model.ideal().assemble()}))
    said = [str(one.message) for one in found if one.category is ModelWarning]
    assert all("\n" not in one and one.endswith("if it is meant.") for one in said)
    return [one.partition(": ")[2] for one in said]


def remarks(model, **options):
    """Names of the remarks of a build."""
    return [one.rsplit("'", 2)[1] for one in sentences(model, **options)]


def spatial(*more, **fields):
    body = SpatialBody("body", **dict(mass=1.0, inertia=(0.01, 0.01, 0.01)) | fields)
    return Model([Ground(), body, PointPlane("foot", "ground", body, normal=(0, 0, 1.0), contact=RIGID),
                  Gravity(acceleration=(0, 0, -9.81)), *more])  # fmt: skip


def corner(*bodies):
    return PointBox(f"corner of {bodies[1]}", *bodies, width=1, height=1, depth=1, at_b=(1, 1, 1), contact=RIGID)


def pendulum(*more, **fields):
    body = PlanarBody("bar", **dict(mass=1.0, inertia=0.01, position=(0.1, 0.0)) | fields)
    return Model(
        [Ground(), body, Revolute("pin", "ground", body, at_b=(-0.1, 0.0)), Gravity(acceleration=(0, -9.81)), *more]
    )


SECOND = PrescribedMotion("second", "ground", "crank", coordinate="angle", motion=lambda t: 100.0 * t)
SPRING = Spring("spring", "ground", "bar", at_a=(0.0, 0.2), stiffness=1e3, free_length=200.0)
ROUGH = Rigid(restitution=0.5, friction=10.0)
SOFT, HARD = (Compliant(Flores(stiffness=value, restitution=0.5)) for value in (1e3, 2.1e20))


def hinge(**axes):
    body = SpatialBody("body", mass=1.0, inertia=(0.01, 0.01, 0.01))
    return Model([Ground(), body, Revolute("hinge", "ground", body, **axes), Gravity(acceleration=(0, 0, -9.81))])


def tied(*at_a, **fields):
    """A bar with a spring or a damper to the point `at_a` of the ground."""
    kind = Spring if "stiffness" in fields else Damper
    return pendulum(kind("tie", "ground", "bar", at_a=at_a, at_b=(-0.1, 0.0), **fields))


def lift(motion):
    """The piston, which its bore holds, is lifted."""
    return crank(more=[PrescribedMotion("lift", "ground", "piston", coordinate="y", motion=motion)])


def falling():
    """Two bodies and their joint without a ground."""
    a, b = (PlanarBody(name, mass=1.0, inertia=0.01, position=(x, 0)) for name, x in (("a", 0.0), ("b", 0.2)))
    return Model([a, b, Revolute("pin", a, b, at_a=(0.1, 0), at_b=(-0.1, 0)), Gravity(acceleration=(0, -9.81))])


def built(made):
    return made.build(assemble=made.ideal().assemble()) if isinstance(made, Model) else made


#: mistake -> the remark it gets, or "refused", or "" where nothing is said
MISTAKES = {
    "clearance in mm": (lambda: crank(pin=dict(clearance=0.2)), "large-clearance"),
    "mass in g": (lambda: crank(crank=dict(mass=300.0)), "inertia"),
    "pin on a wrong point": (lambda: crank(pin=dict(at_a=(L1, 0))), "open-point"),
    "no gravity": (lambda: crank(without=["gravity"]), "no-gravity"),
    "driver that stands still": (lambda: crank(motor=dict(motion=lambda t: 100.0)), "still-driver"),
    "driver through sampled angles": (
        lambda: crank(motor=dict(motion=Table((0.0, 0.1, 0.2), (0.0, 10.0, 25.0)))), "table-driver"),
    "joint beside its clearance": (
        lambda: crank(more=[Revolute("dup", "crank", "rod", at_a=(L1 / 2, 0), at_b=(-L2 / 2, 0))]), "held-twice"),
    "body that nothing holds": (lambda: crank(more=[PlanarBody("ghost", mass=1, inertia=1)]), "unheld"),
    "inertia of no body": (lambda: spatial(inertia=(1.0, 1.0, 3.0)), "inertia"),
    "inertia in kg mm^2": (lambda: crank(rod=dict(inertia=250.0)), "inertia"),
    "inertia in g mm^2": (lambda: crank(rod=dict(inertia=2.5e5)), "inertia"),
    "all masses but one in g": (lambda: crank(more=[PlanarBody("plate", mass=3e4, inertia=1e2, position=(1, 1)),
                                                    Fixed("weld", "ground", "plate", at_a=(1, 1))]), "mass"),
    "gravity in mm/s^2": (lambda: crank(acceleration=(0, -9810.0)), "gravity"),
    "gravity upwards": (lambda: crank(acceleration=(0, 9.81)), "gravity"),
    "gravity of zero": (lambda: crank(acceleration=(0, 0)), "no-gravity"),
    "lengths in mm": (lambda: crank(scale=1e3, crank=dict(position=(25, 0))), "size"),
    "clearance in um^2": (lambda: crank(pin=dict(clearance=2e-10)), "small-clearance"),
    "clearance for a diameter": (lambda: crank(pin=dict(clearance=0.009, radius=0.01)), "large-clearance"),
    "second clearance of a pin": (
        lambda: crank(more=[RevoluteClearance("twin", "crank", "rod", at_a=(L1 / 2, 0), at_b=(-L2 / 2, 0),
                                              clearance=1e-4, contact=RIGID)]), "held-twice"),
    "rpm as rad/s": (lambda: crank(motor=dict(motion=lambda t: 5000.0 * t)), "speed"),
    "rpm of a body": (lambda: pendulum(angular_velocity=6000.0), "speed"),
    "velocity in mm/s": (lambda: spatial(velocity=(2500.0, 0, 0)), "speed"),
    "angle in degrees": (lambda: pendulum(angle=45.0), "angle"),
    "friction in per cent": (lambda: crank(pin=dict(radius=0.01, contact=ROUGH)), "friction"),
    "stiffness in N/mm": (lambda: crank(pin=dict(radius=0.01, contact=SOFT)), "soft-contact"),
    "spring length in mm": (lambda: pendulum(SPRING), "spring"),
    "edges of boxes in space": (lambda: spatial(corner("ground", "body"), corner("body", "ground")), "edges"),
    "two motors": (lambda: crank(more=[SECOND]), "driven-twice"),
    "nothing moves": (
        lambda: Model([Ground(), PlanarBody("b", mass=1.0, inertia=0.1), Prismatic("g", "ground", "b")]), "at-rest"),
    "no freedom": (lambda: Model([Ground(), PlanarBody("b", mass=1.0, inertia=0.1), Fixed("weld", "ground", "b"),
                                  Gravity(acceleration=(0, -9.81))]), "immobile"),
    "negative clearance": (lambda: crank(pin=dict(clearance=-1e-4)), "refused"),
    "body that is not there": (lambda: crank(more=[Revolute("x", "crnk", "rod")]), "refused"),
    "joint of a body with itself": (lambda: crank(more=[Revolute("x", "rod", "rod")]), "refused"),
    "two grounds": (lambda: crank(more=[Ground("other")]), "refused"),
    "rod too short": (lambda: crank(wrist=dict(at_a=(-0.5, 0)), bore=dict(at_a=(0, 3.0))), "refused"),
    "driver in degrees": (lambda: crank(motor=dict(motion=lambda t: 5730.0 * t)), "speed"),
    "one length in mm": (lambda: crank(wrist=dict(at_a=(60.0, 0))), 'open-point: the points of "wrist" are 59.9 m'),
    "one position in mm": (lambda: crank(rod=dict(position=(110.0, 0))), 'size: the mechanism is 110 m .* body "rod"'),
    "radius in mm": (lambda: crank(pin=dict(radius=10.0)), 'large-radius: clearance "pin" has a radius of 10 m'),
    "axis of zero": (lambda: hinge(axis_a=(0, 0, 0), axis_b=(0, 0, 1)), r'"hinge": axis_a .* got \(0.0, 0.0, 0.0\)'),
    "axes that differ": (lambda: hinge(axis_a=(0, 1, 0), axis_b=(0, 0, 1)).build(),
                       '"hinge.tilt_2" is open by 1.1.* rad'),
    "spring between the same point": (
        lambda: tied(0.0, 0.0, stiffness=1e3, free_length=0.1), '"tie": its two ends lie at the same point'),
    "spring of a body with itself": (
        lambda: pendulum(Spring("tie", "bar", "bar", at_a=(0.1, 0), stiffness=1e3)), '"tie": it joins "bar" to itself'),
    "spring in N/nm": (lambda: tied(0.0, 0.2, stiffness=1e15), 'spring: spring "tie" of 1e\\+15 N/m'),
    "negative damping": (lambda: tied(0.0, 0.2, damping=-1.0), '"tie": damping must be .* got -1.0'),
    "negative mass": (lambda: crank(rod=dict(mass=-0.21)), '"rod": mass must be a positive number .* got -0.21'),
    "mass that is no number": (lambda: crank(rod=dict(mass=float("nan"))), '"rod": mass must be .* got nan'),
    "mass of another unit": (lambda: crank(rod=dict(mass="210 mm")), '"rod": mass "210 mm" is of another dimension'),
    "restitution above 1": (lambda: Rigid(restitution=1.2, friction=0.0), r"restitution must be .* got 1.2"),
    "stiffness of a modulus in mPa": (
        lambda: crank(pin=dict(radius=0.01, contact=HARD)),
        'hard-contact: .* contact "pin" of the stiffness 2.1e\\+20'),
    "driver on a fixed coordinate": (
        lambda: lift(lambda t: 0.01 * t), '"lift.y" follows from "bore", but .* differ by 0.01 m/s'),
    "driver on a fixed coordinate, from rest": (
        lambda: lift(lambda t: 5.0 * t**2), 'driven-fixed: "lift" drives the y of "piston", which "bore" hold'),
    "velocity that the joint forbids": (
        lambda: pendulum(velocity=(0.0, 1.0)).build(), '"pin.y" moves at 1 m/s at the start'),
    "no ground": (falling, 'unheld: nothing connects the bodies "a", "b" to the ground'),
    "two gravities": (
        lambda: crank(more=[Gravity("second", acceleration=(0, -9.81))]),
        'gravity: .* "gravity", "second" add up to 19.62'),
    "a point held twice": (
        lambda: crank(more=[Revolute("extra", "ground", "rod", at_a=(L1 + L2 / 2, 0))]),
        'contradict each other at the start: "extra.y" follows from'),
    "contact of a body with itself": (
        lambda: pendulum(CircleCircle("touch", "bar", "bar", radius_a=0.1, radius_b=0.1, contact=RIGID)),
        '"touch": it joins "bar" to itself'),
    "overlap at the start": (lambda: spatial(position=(0, 0, -0.5)), 'contact "foot" overlaps by 0.5 m at the start'),
    "name given twice": (
        lambda: crank(more=[Fixed("pin", "ground", "piston")]), 'The name "pin" is taken by a RevoluteClearance'),
    "table that goes back": (
        lambda: crank(motor=dict(motion=Table((0, 0.2, 0.1), (0, 1, 2)))), "Table: times .* got 0.2 followed by 0.1"),
    "step longer than the run": (
        lambda: simulate(built(crank()), MoreauJean(), t_end=0.01, dt=0.1),
        "dt = 0.1 s is longer than the run .* t_end = 0.01 s"),
    "steps swapped": (lambda: Landing(1e-3, 1e-6), "dt_min must not exceed dt_max.*swap them"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "name"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(make, name):
    """By a remark and the beginning of its sentence, or by a sentence with which the model is refused."""
    remark, _, text = name.partition(": ")
    if remark in REMARKS:
        said = sentences(make())
        assert any(re.search(f"^{text}.*{remark!r} if it is meant", one) for one in said), said
    else:
        with pytest.raises((ModelError, InputError), match=None if name == "refused" else name):
            built(make())


def test_a_right_model_gets_no_remark():
    assert (
        remarks(crank()) == [] and remarks(pendulum(), assemble=True) == [] and remarks(spatial(), assemble=False) == []
    )


def test_all_remarks_are_met():
    assert {name.partition(": ")[0] for _, name in MISTAKES.values()} & set(REMARKS) == set(REMARKS)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((0.0, 10.0, 20.0), 'motor": its table has times from 0 to 20 s, of which none is within .* t_end = 0.02 s'),
        (
            (0.0, 0.001, 0.002),
            'motor": its table ends at t = 0.002 s, before t_end = 0.02 s, .* from 1e\\+03 per second',
        ),
        ((0.0, 0.01, 0.02), ""),
    ],
)
def test_tables_outside_a_run_are_told(times, said):
    system = built(crank(motor=dict(motion=Table(times, (0.0, 1.0, 2.0)))))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with suppress(SimulationFailed):
            simulate(system, GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-4), max_steps=1)
    told = [str(one.message) for one in found]
    assert len(told) == bool(said) and all(re.search(said, one) for one in told)


PROBLEMS = find_problems()


@pytest.mark.parametrize("name", some(PROBLEMS, 3))
def test_ready_problems_get_none(name):
    """Nor do their other kinds, nor the cases of their sources, with each kind of contact."""
    problem = PROBLEMS[name]
    cases: list[dict[str, Any]] = [{}]
    for key, option in inspect.signature(problem.function, eval_str=True).parameters.items():
        if isinstance(option.default, bool):
            # a crank that is driven at the default speed of a free one, zero, stands still, and is told so
            cases.append({key: not option.default, **({"crank_speed": 5.0} if key == "driven" else {})})
        elif get_origin(option.annotation) is Literal:
            cases += [{key: choice} for choice in get_args(option.annotation)]
    if (of := problem.published) is not None:
        cases += [{**of.arguments, **case, **kind} for case in of.cases.values() for kind in of.kinds.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        for case in cases:
            problem(**case).build()


def test_each_is_silenced_by_name():
    model = crank(silence=["no-gravity", "still-driver"], without=["gravity"], motor=dict(motion=lambda t: 0.0 * t))
    assert remarks(model) == [] and model.ideal().silence == ("no-gravity", "still-driver")
    assert remarks(crank(silence="no-gravity", without=["gravity"], motor=dict(motion=lambda t: 100.0))) == [
        "still-driver"
    ]
    with pytest.raises(ModelError, match="there is no remark 'no-gravty'. Did you mean no-gravity"):
        Model(silence=["no-gravty"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("pin.clearance=0.2", 'clearance "pin" of 0.2 m is large'),
        ("pin.friction=5", 'contact "pin" has the coefficient of friction 5'),
        ("rod.mass=210", 'body "rod" of 210 kg has a radius of gyration'),
        ("gravity.acceleration_y=9810", "gravity is 9810 m/s"),
        ("pin.clearance=2e-4", ""),
    ],
)
def test_parameters_of_the_command_line_are_reviewed(changed, said, capsys):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        main(["describe", "slider-crank-revolute", "--set", changed])
    told = [str(one.message) for one in found] + [capsys.readouterr().err]
    assert said in " ".join(told) and ("warning" in told[-1] or bool(found)) == bool(said)


TOML = """
silence = ["no-gravity"]
[elements.ground]
kind = "ground"
[elements.bar]
kind = "planar-body"
mass = 1.0
inertia = 0.01
angular_velocity = 5000.0
[elements.pin]
kind = "revolute"
a = "ground"
b = "bar"
"""


def test_files_silence_by_name():
    assert remarks(read_text(TOML).model, assemble=False) == ["speed"]
    assert read_text(model_text(read_text(TOML).model)).model.silence == ("no-gravity",)
    with pytest.raises(DeclarationError, match="Did you mean no-gravity"):
        read_text(TOML.replace("no-gravity", "no-gravty"))


def test_the_stiffness_of_an_own_law_may_have_any_unit():
    @dataclass(frozen=True, kw_only=True)
    class Stiff(NormalLaw):
        stiffness: Annotated[float, Quantity("N/m^1.3", positive=True)]

        def force(self, depth, rate, approach, k):
            return k.stiffness * depth**1.3

    assert sentences(crank(pin={"radius": 0.01, "contact": Compliant(Stiff(stiffness=1e5))})) == []
