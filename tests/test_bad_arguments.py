"""Arguments that cannot be used: one sentence each that names what is wrong; the command line writes no file."""

from __future__ import annotations

import copy
import inspect
import math
import os
import pickle
import re

import numpy as np
import pytest

from nonsmooth import (
    ActiveSet,
    Admm,
    CasadiQP,
    CompliantDae,
    ErrorControl,
    EventDriven,
    FourierSignal,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Harmonic,
    InputError,
    IpoptMPCC,
    Landing,
    Lemke,
    ModeEnumeration,
    Model,
    ModelError,
    MoreauJean,
    Osqp,
    PlanarBody,
    ProjectedGaussSeidel,
    Ramp,
    RevoluteClearance,
    Rigid,
    SemismoothNewton,
    SmoothingNewton,
    read_model,
    simulate,
    simulate_batch,
    steppers,
    studies,
)
from nonsmooth.cli import main
from nonsmooth.laws import Flores
from nonsmooth.step.control import ConstantStep, step_control
from nonsmooth.trajectory import Trajectory
from nonsmooth_problems import slider_rod

HUGE = 10**400


class Mute:
    """An object whose own text fails."""

    def __repr__(self):
        raise RuntimeError("no text")


@pytest.fixture(scope="module")
def system():
    return slider_rod(case=1).build()


SETTINGS = {
    GeneralizedAlpha: [
        ("spectral_radius", "x"), ("spectral_radius", True), ("spectral_radius", None), ("spectral_radius", math.nan),
        ("spectral_radius", 1.1), ("spectral_radius", HUGE), ("fallback", "no"), ("fallback", 1), ("fallback", None),
        ("spectral_radius", Mute()),
    ],
    ActiveSet: [
        ("max_iterations", "x"), ("max_iterations", -1), ("max_iterations", 2.0), ("max_iterations", True),
        ("max_iterations", HUGE), ("max_iterations", None), ("max_iterations", [1]),
    ],
    Admm: [("max_iterations", -1), ("polish", "yes")],
    CasadiQP: [("plugin", 3), ("plugin", "daq"), ("plugin", None)],
    IpoptMPCC: [
        ("epsilon", "small"), ("epsilon", 0.0), ("epsilon", math.inf), ("relaxation", 1), ("relaxation", "none"),
        ("max_iterations", 1.5), ("plugin", []),
    ],
    Lemke: [("max_pivots", -3), ("max_pivots", "many")],
    ModeEnumeration: [("max_modes", "all"), ("max_modes", False)],
    Osqp: [("eps", "x"), ("eps", None), ("eps", math.nan), ("eps", -1e-9), ("polish", 0), ("max_iterations", -2)],
    ProjectedGaussSeidel: [("max_sweeps", 1e6)],
    SemismoothNewton: [("formulation", None), ("formulation", "newton"), ("max_iterations", -1)],
    SmoothingNewton: [("max_iterations", "1")],
    MoreauJean: [
        ("theta", "abc"), ("theta", 0.4), ("theta", None), ("projection", True), ("moment_arms", 1), ("joints", None),
        ("fallback", "False"),
    ],
    GaussQP: [("cone", None), ("cone", "ice"), ("fallback", "no")],
    GaussMPCC: [("fallback", 0.0)],
    EventDriven: [
        ("order", 5), ("order", "rk4"), ("simultaneity", "x"), ("simultaneity", -1.0), ("simultaneity", True),
    ],
    CompliantDae: [
        ("samples", 0), ("samples", 2.5), ("samples", "4"), ("baumgarte", 3.0), ("baumgarte", (1.0,)),
        ("baumgarte", ("a", "b")), ("baumgarte", (1.0, -1.0)), ("fallback", None),
    ],
    Rigid: [
        ("restitution", True), ("restitution", "0.5"), ("restitution", HUGE), ("friction", -0.1), ("friction", None),
        ("threshold", math.inf), ("impact", 3),
    ],
    Landing: [("dt_min", True), ("dt_min", "1e-6"), ("dt_max", 0.0), ("dt_max", None)],
    ErrorControl: [("rtol", "1e-6"), ("rtol", 0.0), ("rtol", True), ("atol", -1.0)],
    ConstantStep: [("dt", True), ("dt", "1e-3"), ("dt", -1.0), ("dt", math.nan), ("dt", HUGE)],
}  # fmt: skip
WHOLE = {
    Rigid: {"restitution": 0.5, "friction": 0.0},
    Landing: {"dt_min": 1e-6, "dt_max": 1e-3},
    ErrorControl: {"rtol": 1e-6},
}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [(kind, *case) for kind, cases in SETTINGS.items() for case in cases],
    ids=lambda one: one.__name__ if isinstance(one, type) else str(one)[:12] if not isinstance(one, Mute) else "mute",
)
def test_a_setting_is_checked_when_it_is_made(kind, field, value):
    with pytest.raises(InputError, match=field) as told:
        kind(**{**WHOLE.get(kind, {}), field: value})
    assert "\n" not in str(told.value) and len(str(told.value)) < 400


ARGUMENTS = {
    "t_start text": ({"t_start": "0"}, "t_start"),
    "t_start nan": ({"t_start": math.nan}, "t_start"),
    "t_start true": ({"t_start": True}, "t_start"),
    "t_end true": ({"t_end": True}, "t_end"),
    "t_end none": ({"t_end": None}, "t_end"),
    "t_end text": ({"t_end": "1"}, "t_end"),
    "t_end inf": ({"t_end": math.inf}, "t_end"),
    "t_end array": ({"t_end": np.array([1.0])}, "t_end"),
    "t_end huge": ({"t_end": HUGE}, "t_end"),
    "t_end before": ({"t_end": -1.0}, "t_end"),
    "parameters list": ({"parameters": [1]}, "parameters"),
    "parameters text": ({"parameters": "guide.clearance"}, "parameters"),
    "parameter text": ({"parameters": {"guide.clearance": "2e-5"}}, "guide.clearance"),
    "parameter true": ({"parameters": {"guide.clearance": True}}, "guide.clearance"),
    "parameter none": ({"parameters": {"guide.clearance": None}}, "guide.clearance"),
    "parameter nan": ({"parameters": {"guide.clearance": math.nan}}, "clearance"),
    "parameter huge": ({"parameters": {"guide.clearance": HUGE}}, "guide.clearance"),
    "parameter tiny": ({"parameters": {"slider.mass": 1e-320}}, "too small to divide by"),
    "parameter key": ({"parameters": {3: 1.0}}, "Unknown parameter"),
    "parameter unknown": ({"parameters": {"guide.clearence": 1e-5}}, "Did you mean guide.clearance"),
    "progress": ({"progress": 3}, "progress"),
    "check": ({"check": "yes"}, "check"),
    "interpreted": ({"interpreted": "yes"}, "interpreted"),
    "interpreted none": ({"interpreted": None}, "interpreted"),
    "record": ({"record": 0}, "record"),
    "record true": ({"record": True}, "record"),
    "record huge": ({"record": HUGE}, "record"),
    "max_steps": ({"max_steps": 0}, "max_steps"),
    "max_steps float": ({"max_steps": 10.0}, "max_steps"),
    "max_seconds": ({"max_seconds": "1"}, "max_seconds"),
    "max_seconds nan": ({"max_seconds": math.nan}, "max_seconds"),
    "max_seconds true": ({"max_seconds": True}, "max_seconds"),
    "accuracy": ({"accuracy": 2.0}, "accuracy"),
    "accuracy text": ({"accuracy": "1e-2"}, "accuracy"),
    "dt": ({"dt": "1e-3"}, "dt"),
    "dt list": ({"dt": [1e-3]}, "dt"),
    "state": ({"state": {"slider.x": 0.0}}, "state"),
    "dt beyond the run": ({"dt": 1.0}, "dt = 1 s is longer than the run from t = 0 s to t_end = 0.01 s"),
    "dt below round-off": ({"dt": 1e-30}, "dt = 1e-30 s is too short"),
    "dt_max below round-off": ({"dt": Landing(1e-300, 1e-299)}, "dt_max = 1e-299 s is too short"),
    "accuracy of given steps": ({"accuracy": 1e-3}, "no effect on given steps without check=True"),
    "every": ({"every": 5.0}, "give a checkpoint as well"),
    "stepper class": ({"stepper": GaussQP}, "brackets"),
    "stepper text": ({"stepper": "gauss-qp"}, "stepper"),
    "solver class": ({"stepper": GaussQP(solver=ActiveSet)}, "solver"),
    "solver text": ({"stepper": GaussQP(solver="osqp")}, "solver"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_an_argument_of_a_run_is_checked_before_it(system, case):
    changes, named = ARGUMENTS[case]
    given = {"stepper": GaussQP(), "t_end": 0.01, "dt": 1e-3} | changes
    with pytest.raises(InputError, match=named) as told:
        simulate(system, **given)
    assert "\n" not in str(told.value) and len(str(told.value)) < 500


BATCH = [
    {"threads": -1}, {"threads": 0}, {"threads": "2"}, {"threads": True}, {"threads": 10**9}, {"t_end": True},
    {"t_end": "1"}, {"t_end": None}, {"dt": None}, {"record": 1}, {"dt": 1.0}, {"metrics": 3}, {"metrics": [[]]},
]  # fmt: skip


@pytest.mark.parametrize("silence", [None, math.nan, 1j, np.array([[1.0]]), [[]], [3]])
def test_names_of_remarks_are_checked(silence):
    with pytest.raises(ModelError, match="silence"):
        Model([Ground()], silence=silence)


@pytest.mark.parametrize("field", BATCH)
def test_an_argument_of_a_batch_is_checked(system, field):
    given = {"t_end": 0.01, "dt": 1e-3} | field
    with pytest.raises(InputError, match=next(iter(field))):
        simulate_batch(system, GaussQP(), {"guide.clearance": [1e-5]}, **given)


@pytest.mark.parametrize("parameters", [None, [1], "guide.clearance", 3])
def test_parameters_of_a_batch_are_numbers_by_name(system, parameters):
    with pytest.raises(InputError, match="parameter"):
        simulate_batch(system, GaussQP(), parameters, t_end=0.01, dt=1e-3)


@pytest.mark.parametrize(
    ("name", "values", "named"),
    [
        ("gide.clearance", [1e-5], "Did you mean guide.clearance"),
        ("clearance", [1e-5], "Unknown parameter"),
        (3, [1e-5], "Unknown parameter"),
        ("guide.clearance", ["1e-5"], "takes a sequence of numbers"),
        ("guide.clearance", [True], "takes a sequence of numbers"),
        ("guide.clearance", [[1e-5], [1e-5, 2e-5]], "takes a sequence of numbers"),
    ],
)
def test_values_of_a_batch_are_numbers_of_known_parameters(system, name, values, named):
    with pytest.raises(InputError, match=named):
        simulate_batch(system, GaussQP(), {name: values}, t_end=0.01, dt=1e-3)


STUDIES = {
    "design": ({"design": {"guide.clearance": [1e-5]}}, "design must be"),
    "t_end": ({"t_end": -1.0}, "t_end must be a positive"),
    "t_end text": ({"t_end": "1"}, 't_end "1" has no unit'),
    "dt": ({"dt": -1.0}, "dt must be"),
    "stepper class": ({"stepper": GaussQP}, "brackets"),
    "metrics": ({"metrics": 3}, "metrics must be"),
    "executor": ({"executor": 0}, "executor must be"),
    "executor true": ({"executor": True}, "executor must be"),
    "piece": ({"piece": -1}, "piece must be"),
    "output": ({"output": 3}, "output must be"),
    "executor of runs": ({"executor": [1, 2]}, "executor must be"),
    "parameters": ({"parameters": [1]}, "parameters must be"),
    "arguments": ({"arguments": [1]}, "arguments must be"),
    "progress": ({"progress": 3}, "progress must be"),
}


@pytest.mark.parametrize("case", STUDIES)
def test_an_argument_of_a_sweep_is_checked_before_its_runs(system, case):
    """Otherwise every run would fail, and the sweep be a table of failures."""
    changes, named = STUDIES[case]
    given = {"stepper": GaussQP(), "design": studies.grid({"guide.clearance": [1e-5]}), "t_end": 0.01, "dt": 1e-3}
    given |= {"metrics": ["impacts"], "executor": 1} | changes
    with pytest.raises(InputError, match=named):
        studies.sweep(system, **given)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: studies.grid({}), "needs one name"),
        (lambda: studies.grid([1.0]), "values must be values by name"),
        (lambda: studies.grid({"a": ["1"]}), "must be numbers"),
        (lambda: studies.step_size(slider_rod, [3], t_end=0.1), "list of Case"),
        (lambda: studies.compare(slider_rod, 3, t_end=0.1), "list of Case"),
        (lambda: studies.Case("a", Rigid(restitution=0.0, friction=0.0), GaussQP, 1e-3), "brackets"),
    ],
)
def test_designs_and_cases_of_a_study_are_checked(call, named):
    with pytest.raises(InputError, match=named):
        call()


@pytest.mark.parametrize("mass", [1e-320, 0.0, -1.0, math.inf, math.nan, True, "1", None, HUGE], ids=[*"abcdefghi"])
def test_a_mass_is_a_positive_number(mass):
    with pytest.raises(InputError, match="mass (must be a positive number|.1. has no unit)"):
        PlanarBody("ball", mass=mass, inertia=1.0)


@pytest.mark.parametrize("path", [None, 3, b"run.nc", "", "a\0b", ["run.nc"], True])
@pytest.mark.parametrize("read", [Trajectory.load, read_model], ids=["load", "read_model"])
def test_a_path_is_text_that_names_a_file(read, path):
    with pytest.raises(InputError, match="file"):
        read(path)


@pytest.mark.parametrize("path", [None, 3, "", "a\0b"])
def test_a_path_to_write_is_text_that_names_a_file(system, path):
    run = simulate(system, GaussQP(), t_end=0.002, dt=1e-3)
    with pytest.raises(InputError, match="The file to write"):
        run.save(path)


@pytest.mark.parametrize(
    ("near", "meant"), [("gaus-qp", "gauss-qp"), ("event_driven", "event-driven"), ("moreau", "moreau-jean")]
)
def test_a_near_miss_of_a_stepper_is_answered_with_its_name(near, meant):
    with pytest.raises(InputError, match=f'Did you mean "{meant}"'):
        steppers.by_name(near)


@pytest.mark.parametrize("dt", [True, None, "1", object()])
def test_a_step_is_a_number(dt):
    with pytest.raises(InputError, match="dt must be a number"):
        step_control(dt)


RUN = ["run", "slider-rod", "--case", "1", "--t-end", "0.002", "--dt", "1e-3", "--stepper", "gauss-qp"]
WORDS = {
    "theta": ([*RUN[:-1], "moreau-jean", "--set", "stepper.theta=abc"], "theta must be a finite number, got 'abc'"),
    "iterations": ([*RUN, "--set", "solver.max_iterations=x"], "max_iterations must be a whole number"),
    "iterations < 0": ([*RUN, "--set", "solver.max_iterations=-1"], "max_iterations must be a whole number"),
    "fallback": ([*RUN, "--set", "stepper.fallback=no"], "fallback must be True or False"),
    "no setting": ([*RUN, "--set", "stepper.thetta=1"], "no setting 'thetta'"),
    "no such file": (["run", "nothere.py"], "nothere.py is not a file"),
    "another file": (["run", "/etc/passwd"], "/etc/passwd is neither a Python file"),
    "a folder": (["run", "./"], "is not a file"),
    "no such toml": (["run", "nothere.toml"], "nothere.toml cannot be read"),
    "near stepper": ([*RUN[:-1], "gaus-qp"], 'Did you mean "gauss-qp"'),
    "near solver": ([*RUN, "--solver", "activeset"], "Did you mean 'active-set'"),
    "near problem": (["run", "slider-rd", "--t-end", "1"], "slider-rod"),
    "mass": ([*RUN, "--set", "slider.mass=1e-320"], "too small to divide by"),
    "parameter": ([*RUN, "--set", "slider.mass=heavy"], "write an element's parameter as a number"),
    "parameter with another unit": ([*RUN, "--set", "guide.clearance=10ms"], "is of another dimension than m"),
    "parameter without its element": ([*RUN, "--set", "clearance=1e-4"], "as --set guide.clearance=0.0001"),
    "no such result": (["run", "nothere.nc"], "nothere.nc is not a file"),
    "a number in words": ([*RUN, "--rtol", "small"], "got 'small'"),
    "huge": ([*RUN, "--set", "slider.mass=1" + "0" * 400], "slider.mass"),
    "t_end": ([*RUN[:5], "nan", *RUN[6:]], "t_end"),
    "t_end text": ([*RUN[:5], "soon", *RUN[6:]], "--t-end"),
    "dt": ([*RUN[:7], "-1", *RUN[8:]], "dt must be"),
    "max steps": ([*RUN, "--max-steps", "-1"], "max_steps must be"),
    "accuracy": (["run", "slider-rod", "--t-end", "1", "--accuracy", "7"], "accuracy must be"),
}


@pytest.mark.parametrize("case", WORDS)
def test_words_that_cannot_be_used_are_one_sentence(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words, named = WORDS[case]
    of_files = ("no such file", "another file", "a folder", "no such toml", "no such result")
    output = [] if case in of_files else ["--output", "run.nc"]
    assert main([*words, *output]) == 2
    said = capsys.readouterr()
    assert named in said.err and said.err.startswith("nonsmooth: ") and said.err.count("\n") == 1 and not said.out
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("make", "wrong", "meant"),
    [
        (lambda: PlanarBody("ball", mass=1.0, inertia=0.1, positon=(0.0, 1.0)), "PlanarBody.*positon", "position"),
        (lambda: Rigid(restituton=0.5, friction=0.1), "Rigid.*restituton", "restitution"),
        (lambda: MoreauJean(thetta=0.6), "MoreauJean.*thetta", "theta"),
    ],
)
def test_a_misspelt_field_is_refused_with_the_nearest_and_all_others(make, wrong, meant):
    with pytest.raises(InputError, match=f"{wrong}.*Did you mean {meant}.*It takes .*{meant}"):
        make()


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        (
            {"dt_max": 1e-4},
            "has no argument 'dt_max'. It belongs to the steps, which are given with a stepper: GaussQP()",
        ),
        ({"rtol": 1e-4}, "EventDriven(), dt=ErrorControl(rtol, atol)."),
        ({"solver": ActiveSet()}, "It belongs to the stepper: GaussQP(solver=...)."),
        ({"tend": 1.0}, "simulate has no argument 'tend'. Did you mean t_end?"),
        ({"colour": 1}, "simulate has no argument 'colour'. It takes system, stepper, t_end, dt, "),
    ],
)
def test_an_argument_that_a_run_does_not_take_is_told_where_it_belongs(system, named, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        simulate(system, t_end=0.01, **named)
    with pytest.raises(InputError, match="simulate_batch has no argument"):
        simulate_batch(system, GaussQP(), {}, t_end=0.01, dt=1e-3, **named)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Landing(1e-6, dtmax=1e-3),
            "Landing has no field 'dtmax'. Did you mean dt_max? It takes dt_min, dt_max",
        ),
        (lambda: Model(elemnts=[]), "Model has no field 'elemnts'. Did you mean elements? It takes elements, name, "),
        (lambda: Model([], "rod"), "Model takes at most 1 value by place (elements), got 2; give others by name"),
        (lambda: Landing(1e-6), "Landing needs dt_max [s], which is missing; it takes dt_min, dt_max, error."),
        (lambda: Gravity(), "Gravity needs acceleration [m/s^2], which is missing"),
        (
            lambda: RevoluteClearance("pin", "a", "b"),
            "needs contact (Rigid(...) or Compliant(...)) and clearance [m], which are missing",
        ),
        (lambda: Flores(stiffness=1e8), "Flores needs restitution [-], which is missing"),
        (lambda: Rigid(0.5, 0.1), "Rigid takes no values by place, got 2; give others by name, as restitution=..."),
        (lambda: Landing(1e-6, 1e-3, dt_min=1e-6), "Landing got dt_min twice, by place and by name; give one of them."),
        (lambda: Harmonic(1.0), "Harmonic needs period [s], which is missing"),
        (lambda: Ramp(), "Ramp needs rate, which is missing"),
        (lambda: ErrorControl(), "ErrorControl needs rtol [-], which is missing"),
    ],
)
def test_a_call_that_does_not_fit_the_fields_is_told_with_all_fields(make, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        make()


def test_the_signature_of_an_element_is_that_of_its_fields_and_copies_are_not_calls():
    assert list(inspect.signature(Landing).parameters) == ["dt_min", "dt_max", "error"]
    body = PlanarBody("ball", mass=1.0, inertia=0.1)
    assert copy.copy(body).mass == pickle.loads(pickle.dumps(body)).mass == 1.0


VALUES = {
    "truth in a vector": (lambda: PlanarBody("ball", mass=1.0, inertia=1.0, position=(True, 0.0)), "2 finite numbers"),
    "truth as angle": (lambda: PlanarBody("ball", mass=1.0, inertia=1.0, angle=True), "a finite number, got True"),
    "text in a vector": (
        lambda: Gravity(acceleration=("0", "-9.81")),
        'acceleration "0" has no unit; write a number without quotes [m/s^2]',
    ),
    "matrix": (lambda: Gravity(acceleration=np.zeros((2, 2))), "got array([[0., 0.], [0., 0.]])"),
    "complex": (lambda: Gravity(acceleration=np.array([1j, 0.0])), "acceleration must be"),
    "list of laws": (lambda: Rigid(restitution=0.5, friction=0.0, impact=["newton"]), "impact must be one of"),
    "flag of a law": (lambda: Flores(stiffness=1e8, restitution=0.5, calibrated="yes"), "calibrated must be True or"),
    "number for a list": (lambda: FourierSignal(omega=1.0, sine=1.0, cosine=1.0), "equally many finite numbers"),
    "body for a list": (lambda: Model(PlanarBody("ball", mass=1.0, inertia=1.0)), "Model takes a list of elements"),
    "number for a name": (lambda: Model(name=3), "name must be a string, got 3"),
    "assemble": (lambda: Model([Ground(), PlanarBody("b", mass=1.0, inertia=1.0)]).build(assemble=3), "got 3"),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_value_that_numpy_would_convert_or_python_refuse_is_told_in_one_line(case):
    make, named = VALUES[case]
    with pytest.raises(InputError, match=re.escape(named)) as told:
        make()
    assert "\n" not in str(told.value)


def test_a_state_takes_finite_numbers_by_name(system):
    for given in ([0.0], {"slider.x": True}, {"slider.x": "0"}, {"slider.z": 0.0}):
        with pytest.raises(InputError, match="coordinate"):
            system.state(given)


def test_a_subclass_with_an_initialiser_of_its_own_takes_its_own_keywords():
    class Disc(PlanarBody):
        def __init__(self, name, *, mass, radius):
            super().__init__(name, mass=mass, inertia=mass * radius**2 / 2)

    assert Disc("disc", mass=2.0, radius=0.1).inertia == pytest.approx(0.01, rel=1e-15)
    with pytest.raises(InputError, match="Disc has no field 'radus'. Did you mean radius"):
        Disc("disc", mass=2.0, radus=0.1)
