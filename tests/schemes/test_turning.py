"""Steps in which the directions of loaded contacts turn with the motion, by Newton's method.

A journal of mass m that a load F holds to its bearing, with the radial clearance c, turns its normal within a step as
its own impulse moves it: a pass with the directions of the pass before amplifies errors by dt² F / (m c).
"""

from pathlib import Path

import numpy as np
import pytest

from nonsmooth import (
    GaussQP,
    GeneralizedAlpha,
    Ground,
    Model,
    PlanarBody,
    PointForce,
    RevoluteClearance,
    Rigid,
    read_model,
    simulate,
)
from nonsmooth.compile.records.views import Record
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.model.system import System
from nonsmooth.schemes.gauss import implicit_euler
from nonsmooth.step.control import ConstantStep
from nonsmooth.step.tolerances import DONE
from nonsmooth_problems import flexible_slider_crank

CLEARANCE, DT = 1e-4, 1e-3
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "slider_crank_fit.toml"


def loaded_journal(ratio: float) -> Model:
    """At rest on its bearing, 60 degrees from where the load, `ratio` m c / dt², will hold it."""
    start = CLEARANCE * np.array([np.sin(np.pi / 3), -np.cos(np.pi / 3)])
    journal = PlanarBody("journal", mass=0.3, inertia=1e-4, position=tuple(start))
    bearing = RevoluteClearance("bearing", "ground", "journal", clearance=CLEARANCE, radius=0.01,
                                contact=Rigid(restitution=0.0, friction=0.0))  # fmt: skip
    load = PointForce("load", "journal", force=(0.0, -0.3 * ratio * CLEARANCE / DT**2))
    return Model([Ground(), journal, bearing, load])


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0, 100.0, 1000.0])
def test_a_loaded_journal_moves_by_projections(ratio):
    """A step of implicit Euler ends at the point of the bearing nearest to where it would without it.

    Gaps are closed to 1e-12 of the clearance, along which the load determines the place.
    """
    run = simulate(loaded_journal(ratio).build(), GaussQP(), t_end=40 * DT, dt=DT)
    assert run.counts["shortened"] == 0
    q = np.column_stack([run.q["journal.x"], run.q["journal.y"]])
    free = 2 * q[1:-1] - q[:-2] - [0.0, ratio * CLEARANCE]
    length = np.linalg.norm(free, axis=1, keepdims=True)
    expected = free * np.minimum(1.0, CLEARANCE / length)
    assert np.max(np.abs(q[2:] - expected)) <= 1e-9 * CLEARANCE


def pressed_slider_crank() -> System:
    """The example of a fit: its load turns the normal of the pin by 3 times what a pass changes, in steps of 0.5 ms."""
    return read_model(EXAMPLE).build()


def test_a_pass_takes_the_secant_of_the_step_before():
    """Motions, and so the turning of directions, hardly differ from step to step: three or four passes each.

    By the secants of a step alone there were eleven, and most products had a step that was taken in parts.
    """
    run = simulate(pressed_slider_crank(), GaussQP(), t_end=1.0, dt=5e-4)
    assert run.counts["solves"] < 4 * run.counts["steps"]
    assert run.counts["shortened"] == run.counts["divided"] == 0


def test_steps_hand_on_their_secant_and_their_differences():
    """A run that goes on from a state is the whole run, bit by bit."""
    system, states = pressed_slider_crank(), []
    whole = simulate(system, GaussQP(), t_end=0.02, dt=5e-4)
    state = system.start
    for end in np.arange(1, 41) * 5e-4:
        state = simulate(system, GaussQP(), t_end=end, dt=5e-4, state=state).end
        states.append(state.q)
    assert np.array_equal(np.array(states), whole.q.array[1:])


def test_the_text_runs_uncompiled():
    """Numbers of the journal above, by the text as it stands."""
    system, steps = loaded_journal(100.0).build(), 6
    plain = CompiledSteps(system, GaussQP(), ConstantStep(DT), system.parameter_values, steps * DT)
    plain.start(system.start)
    plain.tables.reach(steps)
    view = Record("System", plain.layout.shape, plain.memory.address("System"))
    assert implicit_euler.run(view, steps) == DONE
    run = simulate(system, GaussQP(), t_end=steps * DT, dt=DT)
    assert plain.layout.packed(plain.memory, "q").ravel() == pytest.approx(run.q.array[-1], abs=1e-9 * CLEARANCE)


@pytest.mark.parametrize("dt", [1e-4, 5e-5])
def test_a_flexible_rod_that_is_held_to_its_pin_keeps_the_grid(dt):
    """Modes and directions change together: of 200 and 400 steps 111 and 23 were taken in parts by secants alone."""
    run = simulate(flexible_slider_crank().build(), GeneralizedAlpha(), t_end=0.02, dt=dt)
    assert run.counts["shortened"] == 0
    assert len(run.t) == round(0.02 / dt) + 1
    assert run.certificate.motion_residual <= 1e-9  # a tenth of what is certified; 1e-10 on some processors
