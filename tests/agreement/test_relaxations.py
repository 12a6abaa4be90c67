"""One step of the slider-rod from random states: every relaxation finds what the active set finds."""

import numpy as np
import pytest

from nonsmooth import ActiveSet, IpoptMPCC
from nonsmooth.model.state import State
from nonsmooth.schemes.gauss.gauss_mpcc import StepPrograms
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.step.control import ConstantStep
from nonsmooth_problems import slider_rod

C, A, DT = 1e-5, 0.01, 1e-3
STATES = 60


def random_states(rng):
    """Anywhere within the clearance, at speeds that cross it in about one step."""
    for _ in range(STATES):
        left, right = rng.uniform(-C, C, 2)
        velocity = rng.normal(size=3) * [0.1, C / DT, C / DT / A]
        yield State(0.0, np.array([0.0, (left + right) / 2, np.arcsin((right - left) / (2 * A))]), velocity)


@pytest.fixture(scope="module")
def programs():
    """The steps' programs, in all cases, with the active set's answers."""
    rng = np.random.default_rng(2)
    session, posed = ActiveSet().setup(), []
    for case in (1, 2, 3):
        system = slider_rod(case=case).build()
        programs, every = StepPrograms(system, system.parameter_values, ConstantStep(DT)), np.ones(4, dtype=bool)
        for state in random_states(rng):
            start = programs.start(state.t, state.q, state.v, ~every, np.zeros(4), np.zeros(4))
            program = programs.program(start, DT, DT, every)
            guess = programs.guess(start, programs.free_motion(start, DT, every), every)
            posed.append((program, guess, session.solve(program, guess)))
    return posed


@pytest.mark.parametrize("relaxation", ["fischer-burmeister", "scholtes", "l1"])
def test_relaxations_agree_with_the_active_set(programs, relaxation):
    session = IpoptMPCC(relaxation).setup()
    for program, guess, reference in programs:
        assert program.residual(reference) <= 1e-12
        solution = session.solve(program, guess)
        assert program.residual(solution) <= CERTIFIED
        moved = DT * (solution.x - reference.x)[1:4]
        assert np.max(np.abs(moved * [1.0, 1.0, A])) <= 1e-6 * C
