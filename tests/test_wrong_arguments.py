"""Arguments of a wrong kind: one sentence of the package for each, never the error of a library."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from nonsmooth import (
    CompliantDae,
    Distance,
    ErrorControl,
    GaussQP,
    Gravity,
    Ground,
    Harmonic,
    InputError,
    Model,
    MotionProfile,
    NonsmoothError,
    PlanarBody,
    PointMass,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Radau,
    SameOrientation,
    SpatialBody,
    SpatialPrismaticClearance,
    Spline,
    Torque,
    derivatives,
    diagnostics,
    flexible,
    laws,
    plots,
    read_model,
    report,
    simulate,
    simulate_batch,
    studies,
    with_point_masses,
    write_model,
)
from nonsmooth.laws import Compliant
from nonsmooth_problems import slider_rod


class Odd:
    def __float__(self):
        raise RuntimeError("odd")


class Mute:
    """It can neither be shown nor compared."""

    def __repr__(self):
        raise RuntimeError("mute")

    def __eq__(self, other):
        raise RuntimeError("mute")

    __hash__ = None


BAD = [None, "x", True, [], (1, 2, 3, 4, 5), np.array([[1.0]]), 1j, 10**400, lambda t: t, Odd(), "\0", Mute()]
METAL = flexible.Material(youngs=1e11, shear=4e10, density=1e3)
SQUARE = flexible.Rectangle(0.01, 0.01)
RIGID = slider_rod(case=2)


@pytest.fixture(scope="module")
def rod():
    return flexible.beam((0, 0, 0), (1, 0, 0), section=SQUARE, material=METAL, elements=2)


@pytest.fixture(scope="module")
def run():
    return simulate(RIGID.build(), GaussQP(), t_end=2e-3, dt=1e-3)


def spatial(element):
    return Model([Ground(), SpatialBody("a", mass=1.0, inertia=(1.0, 1.0, 1.0)), element]).build(assemble=True)


#: what is called with each bad value; values that it accepts, by their number in `BAD`
CALLS = {
    "mass": (lambda x: PlanarBody("a", mass=x, inertia=1.0), ()),
    "position": (lambda x: PlanarBody("a", mass=1.0, inertia=1.0, position=x), ()),
    "gravity": (lambda x: Gravity(acceleration=x), ()),
    "motion": (lambda x: PrescribedMotion("d", "ground", "a", coordinate="angle", motion=np.sin, at_a=x), (3,)),
    "harmonic": (lambda x: Harmonic(amplitude=x, period=1.0), ()),
    "profile": (lambda x: MotionProfile(1.0, duration=x), ()),
    "shape": (lambda x: MotionProfile(1.0, duration=1.0, shape=x), (0,)),
    "spline": (lambda x: Spline((0.0, 1.0), (0.0, 1.0), speeds=x), (0,)),
    "provenance": (lambda x: Model(provenance=x), (0, 3)),
    "dt": (lambda x: simulate(RIGID.build(), GaussQP(), t_end=1e-3, dt=x), (0,)),
    "torque": (lambda x: Model([Ground(), PlanarBody("a", mass=1.0, inertia=1.0), Torque("s", "a", x)]).build(), (8,)),
    "length": (lambda x: spatial(Distance("j", "ground", "a", length=x)), ()),
    "quaternion": (lambda x: spatial(SameOrientation("j", "ground", "a", quaternion=x)), ()),
    "axis": (lambda x: SpatialPrismaticClearance("c", "ground", "a", axis_guide=x, clearance=1e-4, length=0.1,
                                                 height=0.1, width=0.1, contact=None), ()),
    "masses": (lambda x: with_point_masses(x, PointMass(1.0, (0.0, 0.0))), ()),
    "case": (lambda x: slider_rod(case=x), (11,)),  # problems quote what they are given
    "law": (laws.by_name, ()),
    "stiffness": (lambda x: laws.Flores(stiffness=x, restitution=0.5), ()),
    "end": (lambda x: flexible.beam((0, 0, 0), x, section=SQUARE, material=METAL), ()),
    "youngs": (lambda x: flexible.Material(youngs=x, shear=1.0, density=1.0), (0,)),
    "batch": (lambda x: simulate_batch(RIGID.build(), x, {}, t_end=1e-3, dt=1e-3), ()),
    "batch of": (lambda x: simulate_batch(x, GaussQP(), {}, t_end=1e-3, dt=1e-3), ()),
    "product": (lambda x: derivatives.MotionOutput(x, "slider.y", ["slider.mass"], 1e-3), ()),
    "design": (lambda x: studies.Design(x, np.ones((2, 1))), ()),
    "rows": (lambda x: studies.Design(("a",), x), (5,)),
    "sample": (lambda x: studies.sample(x, 4), ()),
    "seed": (lambda x: studies.sample({"a": (0.0, 1.0)}, 4, seed=x), ()),
    "method": (lambda x: studies.sample({"a": (0.0, 1.0)}, 4, method=x), ()),
    "output": (lambda x: studies.failure_probability(x, {"a": (0.0, 1.0)}, 0.5), (8,)),
    "inputs": (lambda x: studies.failure_probability(np.sum, x, 0.5), ()),
    "section": (lambda x: studies.periodic_section(x, GaussQP(), period=1e-3, steps=1, transient=0, points=1), ()),
    "write": (lambda x: write_model(RIGID, x), (1,)),
    "read": (read_model, ()),
}  # fmt: skip
OF_RUNS = {
    "to_pandas": (lambda run, rod, x: run.to_pandas(x), (0, 3)),
    "at": (lambda run, rod, x: run.at(x), (3,)),
    "side": (lambda run, rod, x: run.at(1e-3, side=x), ()),
    "order": (lambda run, rod, x: run.at(1e-3, order=x), ()),
    "column": (lambda run, rod, x: run.q.units(x), ()),
    "panel": (lambda run, rod, x: run.plot(x), ()),
    "save": (lambda run, rod, x: run.save(x), (1,)),
    "keep": (lambda run, rod, x: flexible.modes(rod, interface=("start",), keep=x, damping=0.01), ()),
    "interface": (lambda run, rod, x: flexible.modes(rod, interface=x, keep=1, damping=0.01), ()),
}


#: functions of a run, and further arguments that they need
MEASURES = dict.fromkeys(
    ("contact_intervals", "contact_share", "contact_table", "dissipated", "impacts", "momentum"), ()
)
MEASURES |= dict.fromkeys(("closed_time", "largest_mean_force", "mode_timeline"), ("guide.left_lower",))
MEASURES |= {"poincare": ("slider.y",), "spectrum": ("slider.y",), "stroboscope": (1e-3,)}


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_wrong_argument_of_a_measure_is_one_sentence(run, number):
    """Each parameter of each signature in turn."""
    for name, needed in MEASURES.items():
        function, first = getattr(diagnostics, name), (run, *needed)
        for place, parameter in enumerate(inspect.signature(function).parameters):
            placed = (*first[:place], BAD[number], *first[place + 1 :]) if place < len(first) else first
            named = {} if place < len(first) else {parameter: BAD[number]}
            try:
                function(*placed, **named)
            except NonsmoothError as error:
                assert "\n" not in str(error) and len(str(error)) < 1000, (name, parameter)


@pytest.mark.parametrize("number", range(len(BAD)))
def test_what_is_no_result_is_not_drawn(number):
    """Figures, pages and derivatives name what they take: that of a wrong kind is refused where it is given."""
    for part in (plots, report, derivatives):
        for function in (getattr(part, name) for name in part.__all__):
            if not inspect.isfunction(function):
                continue
            given = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
            named = {one.name: BAD[number] for one in given if one.kind is not one.VAR_KEYWORD}
            with pytest.raises(NonsmoothError) as raised:
                function(**named)
            assert "\n" not in str(raised.value) and len(str(raised.value)) < 1000, function.__name__


def test_a_model_is_no_system_and_a_state_is_no_run(run):
    for call in (
        lambda: derivatives.gradient(RIGID, of="slider.y", wrt="slider.mass", t_end=1e-3),
        lambda: derivatives.sensitivities(run.end, "slider.mass"),
        lambda: plots.motion(run.end),
        lambda: plots.mode_bars([run]),
        lambda: plots.sketch(RIGID),
    ):
        with pytest.raises(InputError, match=r"must be a System|must be a Trajectory|each a Timeline|takes a System"):
            call()
    assert plots.sketch(RIGID.build(), run.at("1 ms")).axes  # at a time of a run


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_wrong_argument_is_one_sentence(run, rod, tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)
    calls = dict(CALLS) | {
        name: ((lambda x, call=call: call(run, rod, x)), taken) for name, (call, taken) in OF_RUNS.items()
    }
    for name, (call, taken) in calls.items():
        if number in taken:
            continue
        try:
            call(BAD[number])
            said = "nothing was said\n"
        except NonsmoothError as error:
            said = str(error)
        assert said and "\n" not in said and len(said) < 1000, name


def test_karnopp_friction_on_a_guide_that_slides_on_a_guide():
    """The slider of one guide is the guide of the other; both laws hold their slips through the joint between them."""
    law = Compliant(
        laws.Flores(stiffness=1e7, restitution=0.7), laws.Karnopp(friction=0.1, static_friction=0.2, stick_speed=1e-3)
    )
    a, b, c = (
        PlanarBody(name, mass=1.0, inertia=0.01, position=(x, 0.0))
        for name, x in zip("abc", (0.0, 0.5, 1.0), strict=True)
    )
    numbers = {"length": 0.1, "height": 0.02, "clearance": 1e-3, "contact": law}
    first = PrismaticClearance("g", "ground", "a", **numbers)
    second = PrismaticClearance("h", "b", "c", at_guide=(0.5, 0.0), **numbers)
    system = Model([Ground(), a, first, b, Prismatic("j", "ground", "b"), c, second]).build(assemble=True)
    control = ErrorControl(1e-6, 1e-9, 1e-10, 1e-7)
    run = simulate(system, CompliantDae(solver=Radau()), t_end=1e-6, dt=control)
    assert run.status == "finished" and run.certificate.joint_violation < 1e-12
