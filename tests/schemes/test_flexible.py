"""Compiled runs of mechanisms with flexible bodies are those of the Python formulations."""

from pathlib import Path

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, GeneralizedAlpha, Landing, MoreauJean, Rigid, simulate
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.records.views import Record
from nonsmooth.schemes import generalized_alpha
from nonsmooth.solvers import SemismoothNewton
from nonsmooth.solvers.chain import Chain
from nonsmooth.step_control import ConstantStep
from nonsmooth_problems import beam_on_stop, flexible_slider_crank, six_rss

ROUGH = Rigid(restitution=0.5, friction=0.1)
PLASTIC = Rigid(restitution=0.0, friction=0.1)


def crank(contact=ROUGH):
    """Its journal and bearing first meet after 0.45 ms, which excites all modes of the rod."""
    return flexible_slider_crank(contact=contact)


def plastic_crank():
    return crank(PLASTIC)


def beam():
    """Released 0.05 mm above its stop, which it meets within the run."""
    return beam_on_stop(contact=ROUGH, deflection=2e-3, gap=-1.95e-3)


def robot():
    """Twelve flexible rods in space."""
    return six_rss(flexible=True)


#: problem, stepper, control, end [s]: with impacts, but in space
CASES = {
    "rattle": (crank, MoreauJean(), 1e-5, 8e-4),
    "midpoint": (crank, MoreauJean(joints="midpoint"), 1e-5, 8e-4),
    "projection": (crank, MoreauJean(projection="combined"), 1e-5, 8e-4),
    "beam": (beam, MoreauJean(), 1e-5, 1e-3),
    "constant steps": (plastic_crank, GaussQP(), 1e-5, 8e-4),
    "landing": (crank, GaussQP(), Landing(1e-6, 1e-5), 6e-4),
    "generalised alpha": (crank, GeneralizedAlpha(), 1e-5, 1.5e-3),
    "rattle in space": (robot, MoreauJean(), 1e-4, 1e-3),
    "generalised alpha in space": (robot, GeneralizedAlpha(), 1e-4, 1e-3),
}
PARAMETERS = [
    pytest.param(*case, id=name, marks=[pytest.mark.slow] * ("space" in name)) for name, case in CASES.items()
]


def _difference(found, expected):
    return float(np.max(np.abs(found - expected), initial=0.0) / max(np.max(np.abs(expected), initial=0.0), 1e-6))


@pytest.mark.parametrize(("problem", "stepper", "control", "t_end"), PARAMETERS)
def test_compiled_runs_are_those_of_the_formulation(problem, stepper, control, t_end):
    system = problem().build()
    compiled, python = (simulate(system, stepper, t_end=t_end, dt=control, engine=e) for e in ("native", "python"))
    assert compiled.counts.get("python_steps", 0) == 0
    assert len(compiled.t) == len(python.t)
    assert problem is robot or len(compiled.impacts["t"]) > 0
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])
    # where steps end at contacts, their times are known to 1e-13 of the clearance by rates of mm/s
    located = isinstance(control, Landing)
    assert _difference(compiled.t, python.t) <= (1e-9 if located else 0.0)
    # positions repeat to their round-off; velocities of stiff modes to some 1e-14 of those of the crank in a step,
    # which impacts amplify; forces are their differences
    for name in ("q", "v", "P_N", "P_T", "energy", "reaction", "reaction_impact"):
        tolerance = {"q": 1e-11, "reaction": 1e-7, "reaction_impact": 1e-7}.get(name, 1e-8)
        found, expected = getattr(compiled, name).array, getattr(python, name).array
        assert _difference(found, expected) <= (1e-6 if located else tolerance), name
    assert compiled.certificate.motion_residual <= 1e-9


def test_event_driven_rows_are_those_of_another_formulation():
    """By dense matrices, see `test_event_driven_kept.py`. Impacts amplify differences of stiff modes."""
    with np.load(Path(__file__).parent / "assets" / "event_driven.npz") as file:
        kept = {name: file[f"flexible crank/{name}"] for name in ("rows", "t", "q", "v", "mode")}
    run = simulate(crank().build(), EventDriven(), t_end=6e-4, dt=ErrorControl(1e-8, 1e-8))
    rows = kept["rows"]
    assert len(run.t) == rows[-1] + 1 and len(run.impacts["t"]) == 22
    assert _difference(run.t[rows], kept["t"]) <= 1e-9
    for name in ("q", "v"):
        assert _difference(getattr(run, name).array[rows], kept[name]) <= 1e-6, name
    assert np.array_equal(run.mode.array[rows], kept["mode"])


def test_generalised_alpha_keeps_the_grid_where_the_formulation_divides_steps():
    """Joints are closed to the round-off of positions, 1e-16 m, which is 1e-11 m/s over a step: more than the residual
    that velocities of single modes may have, of which the text takes it out again."""
    run = simulate(beam_on_stop().build(), GeneralizedAlpha(), t_end=1e-3, dt=1e-5, engine="native")
    assert len(run.t) == 101 and run.counts["shortened"] == 0
    assert run.certificate.motion_residual <= 1e-12


def test_the_text_of_generalised_alpha_runs_uncompiled():
    system, stepper, control, steps = crank().build(), GeneralizedAlpha(), ConstantStep(1e-5), 50
    values, solver, t_end = system.parameter_values, SemismoothNewton(), 5e-4
    start, _ = Chain(solver).run(stepper.formulate(system, values, control, solver).start(system.start))
    compiled, plain = (CompiledSteps(system, stepper, control, values, t_end) for _ in range(2))
    end = start
    while end.t < t_end:
        end = compiled.advance(end, start.t).end
    plain._put(start, start.t)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert generalized_alpha.run(view, steps) == generalized_alpha.DONE
    # sums of four are taken in another order; an impact amplifies the difference in velocities
    for name, expected, tolerance in (("q", end.q, 1e-13), ("v", end.v, 1e-10)):
        assert _difference(plain.layout.packed(plain.memory, name).ravel(), expected) <= tolerance
