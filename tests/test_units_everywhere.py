"""Units in Python strings, in `--set` and in elements, as TOML files have them."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from typing import Annotated

import numpy as np
import pytest
from typer import BadParameter

from nonsmooth import (
    AxisAngle,
    ErrorControl,
    GaussQP,
    Harmonic,
    InputError,
    Landing,
    ModelError,
    MotionProfile,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Ramp,
    RevoluteClearance,
    Rigid,
    Spline,
    Table,
    TimeVector,
    simulate,
)  # fmt: skip
from nonsmooth.cli import main
from nonsmooth.cli.options import elastic
from nonsmooth.laws import Ambrosio, KelvinVoigt, LankaraniNikravesh, Material, NormalLaw
from nonsmooth.model.signals import FourierSignal
from nonsmooth.quantities import Quantity, Unit
from nonsmooth.step.control import ConstantStep, step_control
from nonsmooth.studies import Case, grid, points, sweep
from nonsmooth_problems import slider_crank_revolute, slider_rod

LAW, VISCOUS = Rigid(restitution=0.5, friction=0.0), KelvinVoigt(stiffness=1e6, damping=1.0)


class Bare(NormalLaw):
    k: Annotated[float, Quantity("N/m")]


class BareForce(PointForce):
    k: Annotated[float, Quantity("N/m")]


def test_strings_are_the_same_run_as_numbers():
    system = slider_rod(case=1).build()
    said = simulate(system, GaussQP(), t_end="2 ms", dt="10 us", parameters={"guide.clearance": "20 um"})
    plain = simulate(system, GaussQP(), t_end=2e-3, dt=1e-5, parameters={"guide.clearance": 2e-5})
    assert np.array_equal(said.q.array, plain.q.array) and np.array_equal(said.t, plain.t)


def test_fields_of_elements():
    body = PlanarBody("b", mass="200 g", inertia="50 kg mm^2", position=("3 mm", 0.0), angle="90 deg")
    assert (body.mass, body.inertia, body.position) == (0.2, 5e-5, (0.003, 0.0)) and body.angle == np.pi / 2
    assert RevoluteClearance("p", "g", "b", clearance="30 um", contact=LAW).clearance == 3e-5


def test_arguments_of_ready_problems():
    """As `--set` takes them, in the unit that the origin of the number states."""
    said, plain = (slider_crank_revolute(clearance=one).build() for one in ("0.3 mm", 3e-4))
    assert np.array_equal(said.parameter_values, plain.parameter_values)
    with pytest.raises(InputError, match='slider-crank-revolute: clearance "0.3 ms" is of another dimension than m'):
        slider_crank_revolute(clearance="0.3 ms")
    for text in ("20 H7/g6", "loose"):
        with pytest.raises(InputError, match=f"clearance is a number, as 0.0005, or one with its unit, got '{text}'"):
            slider_crank_revolute(clearance=text)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"t_end": "2 mm"}, 't_end "2 mm" is of another dimension than s'),
        ({"t_end": 1e-3, "dt": "ten"}, "dt"),
        ({"t_end": 1e-3, "parameters": {"guide.clearance": "20 N"}}, "is of another dimension than m"),
    ],
)
def test_other_dimensions_are_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(slider_rod(case=1).build(), **arguments)
    with pytest.raises(ModelError, match='PlanarBody "b": mass "200 mm" is of another dimension than kg'):
        PlanarBody("b", mass="200 mm", inertia=1.0)


def test_set_takes_units(capsys):
    words = ["run", "slider-rod", "--t-end", "1ms", "--dt", "1e-5", "--stepper", "gauss-qp", "--json"]
    found = []
    for value in ("30um", "0.03 mm", "3e-5"):
        assert main([*words, "--set", f"guide.clearance={value}"]) == 0
        found.append(json.loads(capsys.readouterr().out)["certificate"])
    assert found[0] == found[1] == found[2]
    assert main([*words, "--set", "guide.clearance=30ms"]) == 2
    assert "is of another dimension than m" in capsys.readouterr().err


def test_list_for_programs_and_by_tag(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.count("\t") == 2 for line in lines) and any(line.startswith("slider-rod\t") for line in lines)
    assert main(["list", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert len(every) == len(lines)
    tag = every["slider-rod"]["tags"][0]
    assert main(["list", "--tag", tag]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(tag in one["tags"] for one in every.values())
    assert main(["list", "--tag", "nothing"]) == 2
    assert "no problem has this tag" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("law", "said", "plain"),
    [
        (Rigid, {"restitution": "50 %", "friction": 0.1, "threshold": "2 mm/s"},
         {"restitution": 0.5, "friction": 0.1, "threshold": 0.002}),
        (LankaraniNikravesh, {"stiffness": "10 kN/m^1.5", "restitution": 0.5},
         {"stiffness": 1e4, "restitution": 0.5}),
        (KelvinVoigt, {"stiffness": "2 kN/mm", "damping": "30 N s/m"}, {"stiffness": 2e6, "damping": 30.0}),
        (Material, {"young": "207 GPa", "poisson": 0.3, "density": "7800 kg/m^3"},
         {"young": 2.07e11, "poisson": 0.3, "density": 7800.0}),
        (Ambrosio, {"friction": 0.1, "dead_speed": "1 mm/s", "slip_speed": "1 cm/s"},
         {"friction": 0.1, "dead_speed": 1e-3, "slip_speed": 1e-2}),
    ],
)  # fmt: skip
def test_numbers_of_laws(law, said, plain):
    assert law(**said) == law(**plain)


def test_numbers_of_laws_by_their_place():
    assert Material("207 GPa", 0.3, "7800 kg/m^3") == Material(2.07e11, 0.3, 7800.0)


def test_a_root_of_a_length_is_a_unit():
    """1000^1.5 is no whole number, and rounded."""
    law = LankaraniNikravesh(stiffness="1 kN/mm^1.5", restitution=0.5)
    assert law.stiffness == pytest.approx(1e3 * 1e3**1.5, rel=1e-15)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Rigid(restitution=0.5, friction="3 mm"), 'Rigid: friction "3 mm" is of another dimension than'),
        (lambda: Rigid(restitution=0.5, friction=0.1, threshold="2 mm"), '"2 mm" is of another dimension than m/s'),
        (lambda: LankaraniNikravesh(stiffness="1e9 N/m", restitution=0.5), "another dimension than N/m^1.5"),
        (lambda: LankaraniNikravesh(stiffness="1 N/m^1.5", exponent=2.0, restitution=0.5), "dimension than N/m^2"),
        (lambda: Material("207 mm", 0.3), 'Material: young "207 mm" is of another dimension than Pa'),
        (lambda: Ambrosio(friction=0.1, dead_speed="1 mm", slip_speed=1.0), '"1 mm" is of another dimension than m/s'),
    ],
)  # fmt: skip
def test_numbers_of_laws_of_another_dimension(make, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        make()


@pytest.mark.parametrize(
    "words",
    [
        ["run", "slider-crank-revolute", "--t-end", "1ms", "--set", "clearance=30ms"],
        ["run", "slider-rod", "--t-end", "1ms", "--law", "flores", "--set", "restitution=0.5", "--set",
         "stiffness=30um"],
        ["compare", "slider-rod", "--t-end", "1ms", "--set", "guide.clearance=30ms"],
        ["compare", "slider-crank-revolute", "--t-end", "1ms", "--set", "crank_speed=30mm"],
        ["study", "rigid-limit", "slider-rod", "--t-end", "1ms", "--set", "guide.clearance=30ms"],
        ["study", "step-size", "slider-rod", "--t-end", "1ms", "--set", "guide.clearance=30ms"],
        ["study", "step-size", "slider-crank-revolute", "--t-end", "1ms", "--dt", "1e-5", "--dt-max", "1e-4", "--set",
         "clearance=30 N"],
        ["study", "sweep", "slider-rod", "--t-end", "1ms", "--dt", "1e-5", "--metric", "peak-impulse", "--grid",
         "guide.friction=0,0.1", "--set", "guide.clearance=30ms"],
        ["study", "tolerance", "slider-rod", "--t-end", "1ms", "--dt", "1e-5", "--metric", "peak-impulse", "--limit",
         "1", "--sample", "guide.friction=0:0.1", "--set", "guide.clearance=30ms"],
        ["study", "bifurcation", "slider-crank-revolute", "--over", "crank_speed=2:6:3", "--of", "slider.x", "--drive",
         "crank_speed", "--steps", "100", "--set", "gravity=9.81m"],
    ],
    ids=lambda words: " ".join([*words[:3], words[-1]]),
)  # fmt: skip
def test_set_of_another_dimension_is_refused_by_one_sentence(words, capsys):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "is of another dimension than" in captured.err and captured.err.count("\n") == 1


def test_ranges_take_units(tmp_path, monkeypatch, capsys):
    """Of parameters, of arguments whose origin states the unit, and of another dimension than theirs."""
    monkeypatch.chdir(tmp_path)
    sweep = ["study", "sweep", "slider-rod", "--case", "2", "--t-end", "2ms", "--dt", "1e-4", "--executor", "1"]
    sweep += ["--metric", "final:slider.y", "--json"]
    found = []
    for text in ("10um,20 um", "1e-5,2e-5", "10um:20um:2"):
        assert main([*sweep, "--grid", f"guide.clearance={text}"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1] == found[2]
    assert main([*sweep, "--grid", "guide.clearance=10ms,20ms"]) == 2
    assert '--grid guide.clearance "10ms" is of another dimension than m' in capsys.readouterr().err
    fit = ["identify", "fit", "slider-rod", "--data", "none.csv", "--noise", "slider.y=1um", "--dt", "1e-4"]
    assert main([*fit, "--parameter", "guide.clearance=5us:20um"]) == 2
    assert '--parameter guide.clearance "5us" is of another dimension than m' in capsys.readouterr().err
    assert main([*fit, "--parameter", "guide.clearance=5um:20um"]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_studies_take_units(capsys):
    found = []
    for value in ("20 um", "2e-5"):
        words = ["compare", "slider-rod", "--t-end", "2ms", "--stiffness", "1e11", "--target", "0", "--json"]
        assert main([*words, "--set", f"guide.clearance={value}"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    for table in found:  # the time of computing is another one
        for column in table.values():
            column.pop("seconds", None), column.pop("cost", None)
    assert found[0].keys() == found[1].keys()


def driver(motion, coordinate="angle"):
    return PrescribedMotion("m", "ground", "crank", coordinate=coordinate, motion=motion)


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        (Ramp(rate="30 rpm", start="180 deg"), Ramp(np.pi, np.pi)),
        (Harmonic("2 mm", period="40 ms", phase="90 deg", offset="1 um"), Harmonic(2e-3, 0.04, np.pi / 2, 1e-6)),
        (Table(times=("0 s", "10 ms"), values=(0.0, "3 mm")), Table((0.0, 0.01), (0.0, 3e-3))),
        (MotionProfile("30 cm", speed="1 m/s", acceleration="2 m/s^2", jerk="9 m/s^3", begin="1 ms"),
         MotionProfile(0.3, 1.0, 2.0, 9.0, begin=1e-3)),
        (Spline(("0 s", "1 s"), (0.0, "3 mm"), speeds=("1 mm/s", 0.0)), Spline((0.0, 1.0), (0.0, 3e-3), (1e-3, 0.0))),
        (FourierSignal("30 rpm", sine=("1 mm",), cosine=(0.0,)), FourierSignal(np.pi, (1e-3,), (0.0,))),
        (TimeVector(("2 kN", Ramp("1 N/s"), 0.0)), TimeVector((2e3, Ramp(1.0), 0.0))),
        (AxisAngle((0.0, 0.0, 1.0), "180 deg"), AxisAngle((0.0, 0.0, 1.0), np.pi)),
        (Landing("1 us", "1 ms", error="1 %"), Landing(1e-6, 1e-3, 0.01)),
        (ErrorControl(1e-6, dt_min="1 us", dt_max="1 ms"), ErrorControl(1e-6, dt_min=1e-6, dt_max=1e-3)),
        (ConstantStep("10 us"), ConstantStep(1e-5)),
        (step_control("10 us"), ConstantStep(1e-5)),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_signals_and_steps(said, plain):
    assert said == plain
    assert repr(said) == repr(plain) and pickle.loads(pickle.dumps(said)) == said


@pytest.mark.parametrize(
    ("signal", "changed"),
    [
        (Ramp("900 rpm"), {"start": 1.0}), (Harmonic("2 deg", period=1.0), {"period": 2.0}),
        (Table((0.0, 1.0), (0.0, "3 deg")), {"times": (0.0, 2.0)}),
        (FourierSignal(1.0, ("3 deg",), (0.0,)), {"omega": 2.0}),
        (MotionProfile("3 deg", duration=1.0), {"duration": 2.0}),
        (Spline((0.0, 1.0), (0.0, 1.0), speeds=(0.0, "3 deg/s")), {"times": (0.0, 2.0)}),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_a_signal_that_is_changed_keeps_its_units(signal, changed):
    """`dataclasses.replace` and copies take over what was given with a unit."""
    for one in (signal, replace(signal, **changed), pickle.loads(pickle.dumps(replace(signal, **changed)))):
        assert driver(one).motion == one
        with pytest.raises(ModelError, match="is of another dimension than m"):
            driver(one, "x")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: driver(Ramp("9 mm/s")), '"m": motion: Ramp: rate "9 mm/s" is of another dimension than rad/s'),
        (lambda: driver(Ramp("900 rpm"), "x"), 'rate "900 rpm" is of another dimension than m/s'),
        (lambda: driver("90 deg", "x"), 'motion "90 deg" is of another dimension than m;'),
        (lambda: driver("10*t"), "; a function of time is lambda t: ..., a Ramp, a Harmonic or a Table."),
        (lambda: PointForce("f", "crank", force=TimeVector((Ramp("2 kN"), 0.0))), 'Ramp: rate "2 kN" is of another'),
        (lambda: AxisAngle((0.0, 0.0, 1.0), Ramp("2 mm/s")), 'angle: Ramp: rate "2 mm/s" is of another dimension'),
        (lambda: Harmonic("2 mm", period="2 mm"), 'Harmonic: period "2 mm" is of another dimension than s'),
        (lambda: Ramp("900 rmp"), 'Ramp: rate "900 rmp" has the unknown unit "rmp". Did you mean rpm'),
        (lambda: Landing("1 um", "1 ms"), 'Landing: dt_min "1 um" is of another dimension than s'),
        (lambda: ErrorControl(1e-6, "1 um"), "atol must be a positive number in SI units"),
    ],
)  # fmt: skip
def test_signals_and_steps_of_another_dimension(make, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        make()
    assert driver(Ramp("30 rpm")).motion == Ramp(np.pi) and driver("3 mm", "x").motion == 3e-3


def test_studies_take_units_of_times_of_varied_values_and_of_parameters():
    metrics = {"metrics": ["final:slider.x"], "executor": 1}
    said = sweep(
        slider_rod, GaussQP(), grid({"guide.clearance": ["10 um", 2e-5]}), t_end="2 ms", dt="10 us",
        parameters={"guide.length": "20 mm"}, **metrics,
    )  # fmt: skip
    plain = sweep(
        slider_rod, GaussQP(), grid({"guide.clearance": [1e-5, 2e-5]}), t_end=2e-3, dt=1e-5,
        parameters={"guide.length": 0.02}, **metrics,
    )  # fmt: skip
    assert said["final:slider.x"].identical(plain["final:slider.x"])
    assert points({"a.b": ("1 ms", "2 ms")}).values.tolist() == [[1e-3], [2e-3]]
    for design, t_end, wrong in (
        (grid({"guide.clearance": ["10 N"]}), 2e-3, '"guide.clearance" "10 N" is of another dimension than m'),
        (grid({"guide.clearance": [1e-5]}), "2 mm", 't_end "2 mm" is of another dimension than s'),
    ):
        with pytest.raises(InputError, match=wrong):
            sweep(slider_rod, GaussQP(), design, t_end=t_end, dt=1e-5, **metrics)
    case = Case("rigid", LAW, GaussQP(), "10 us")
    assert case.dt == 1e-5


def test_times_of_a_run_and_states_take_units():
    system = slider_rod(case=1).build()
    run = simulate(system, GaussQP(), t_end=2e-3, dt=1e-4)
    for ask in (run.at, run.instant):
        said, plain = ask(["0.5 ms", 1e-3]), ask([5e-4, 1e-3])
        assert np.array_equal(said.q if ask == run.at else said.a, plain.q if ask == run.at else plain.a)
        with pytest.raises(InputError, match='t "1 mm" is of another dimension than s'):
            ask("1 mm")
    state = system.state({"slider.y": "5 um"}, velocities={"slider.x": "100 mm/s"}, t="1 ms")
    same = system.state({"slider.y": 5e-6}, velocities={"slider.x": 0.1}, t=1e-3)
    assert np.array_equal(state.q, same.q) and np.array_equal(state.v, same.v) and state.t == same.t
    with pytest.raises(InputError, match='slider.y "5 N" is of another dimension than m'):
        system.state({"slider.y": "5 N"})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: RevoluteClearance("p", "a", "b", clearance="0.2", contact=LAW),
            'clearance "0.2" has no unit; write a',
        ),
        (lambda: KelvinVoigt(stiffness="1e6", damping=1.0), 'stiffness "1e6" has no unit'),
        (lambda: Quantity("N/furlong"), r'Quantity\("N/furlong"\) has the unknown unit "furlong"'),
        (lambda: Unit("m/sec"), r'Unit\("m/sec"\) has the unknown unit "sec"'),
        (lambda: Bare(k=1e7), r"Bare: k is annotated, .* add @dataclass\(frozen=True, kw_only=True\) above class Bare"),
        (lambda: BareForce("push", "b", k=1e7), r"add @dataclass\(frozen=True, eq=False, kw_only=True\) above"),
        (lambda: RevoluteClearance("p", "a", "b", clearance=1e-4, contact=VISCOUS), r"write Compliant\(KelvinVoigt"),
        (lambda: RevoluteClearance("p", "a", "b", clearance=1e-4, contact=Rigid), "write it with its brackets"),
        (lambda: Case("soft", VISCOUS, GaussQP(), 1e-5), r"got a normal law; write Compliant\(KelvinVoigt\(...\)\)"),
    ],
)
def test_what_is_no_number_unit_field_or_law_is_told_with_what_to_write(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_the_stiffness_of_a_comparison_takes_its_unit():
    assert [elastic(text) for text in ("1e10", "10 kN/mm^1.5", "5 N/m")] == [1e10, 1e4 / 1e-3**1.5, 5.0]
    for text in ("10 N", "stiff", "3 m"):
        with pytest.raises(BadParameter, match="is not a stiffness"):
            elastic(text)
