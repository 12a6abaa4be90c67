"""Mechanisms with flexible bodies: compiled steps beside the Python formulations, and the same text uncompiled."""

import numpy as np
import pytest

from nonsmooth import EventDriven, GaussQP, Landing, MoreauJean, Rigid, simulate
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.records.views import Record
from nonsmooth.schemes import moreau_jean
from nonsmooth.solvers import SemismoothNewton
from nonsmooth.solvers.chain import Chain
from nonsmooth.step_control import ConstantStep
from nonsmooth_problems import beam_on_stop, flexible_slider_crank, six_rss

PLASTIC = Rigid(restitution=0.0, friction=0.0)
#: problem, options, stepper, step, end of the run
CASES = {
    "crank": (flexible_slider_crank, {}, MoreauJean(), 1e-4, 6e-3),
    "crank, joints at the midpoint": (flexible_slider_crank, {}, MoreauJean(joints="midpoint"), 1e-4, 4e-3),
    "crank, implicit Euler": (flexible_slider_crank, {"contact": PLASTIC}, GaussQP(), 1e-4, 4e-3),
    "beam": (beam_on_stop, {}, MoreauJean(), 2e-5, 4e-3),
    "beam, landing": (beam_on_stop, {}, GaussQP(), Landing(1e-6, 2e-5), 1e-3),
    "beam, event-driven": (beam_on_stop, {}, EventDriven(), None, 5e-4),
    "rods of a robot": (six_rss, {"flexible": True}, MoreauJean(), 2e-4, 1.6e-2),
}
SLOW = {"rods of a robot"}
#: sizes below which a motion or an impulse is round-off of one at rest
AT_REST = 1e-6


def difference(one, other):
    return float(np.max(np.abs(one - other), initial=0.0) / max(float(np.max(np.abs(other), initial=0.0)), AT_REST))


@pytest.mark.parametrize(
    ("problem", "options", "stepper", "control", "t_end"),
    [pytest.param(*case, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, case in CASES.items()],
)
def test_compiled_steps_are_those_of_the_formulation(problem, options, stepper, control, t_end):
    system = problem(**options).build()
    how = {} if control is None else {"dt": control}
    compiled, python = (simulate(system, stepper, t_end=t_end, engine=e, **how) for e in ("native", "python"))
    assert compiled.counts["python_steps"] == 0
    worst = {}
    assert compiled.t.shape == python.t.shape
    for name in ("t", "q", "v", "P_N", "P_T", "energy", "reaction", "reaction_impact"):
        found, expected = (getattr(run, name) for run in (compiled, python))
        worst[name] = difference(getattr(found, "array", found), getattr(expected, "array", expected))
    assert len(compiled.impacts["t"]) == len(python.impacts["t"])
    # forces of the clamp are round-off of positions over the square of a step of 2e-5 s
    forces = 1e-8 if problem is beam_on_stop else 1e-10
    assert worst.pop("reaction") <= forces
    assert all(value <= 1e-10 for value in worst.values()), worst
    assert compiled.mode.array.tolist() == python.mode.array.tolist()


@pytest.mark.parametrize("problem", [flexible_slider_crank, beam_on_stop])
def test_the_text_runs_uncompiled(problem):
    system, steps, dt = problem().build(), 8, 1e-5
    values, control, stepper, solver = system.parameter_values, ConstantStep(dt), MoreauJean(), SemismoothNewton()
    start, _ = Chain(solver).run(stepper.formulate(system, values, control, solver).start(system.start))
    compiled, plain = (CompiledSteps(system, stepper, control, values, steps * dt) for _ in range(2))
    end = start
    while end.t < steps * dt:
        end = compiled.advance(end, start.t).end
    plain._put(start, start.t)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert moreau_jean.run(view, steps) == moreau_jean.DONE
    for name, expected in (("q", end.q), ("v", end.v)):
        # sums over packets of modes are taken in another order
        assert difference(plain.layout.packed(plain.memory, name).ravel(), expected) <= 1e-12
