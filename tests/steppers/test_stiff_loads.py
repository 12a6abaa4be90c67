"""Loads whose change with the motion outweighs the inertia within a step of time stepping."""

from __future__ import annotations

import pytest

from nonsmooth import ErrorControl, EventDriven, Ground, Load, Model, MoreauJean, PlanarBody, Spring, simulate

GAP, PUSH, DAMPING = 1e-4, 2e5, 4e6


@pytest.fixture(scope="module")
def squeezed():
    """A mass of 1 kg that is pushed against a film of 0.1 mm, whose resistance grows as the third power of what is left
    of it; a spring ties another one to it, so that two bodies have stiff loads."""

    def film(t, one, two, p):
        left = 1.0 - two.point((0.0, 0.0))[0] / p.gap
        return [p.push - p.damping * two.point_velocity((0.0, 0.0))[0] / left**3, 0.0]

    bodies = [PlanarBody(name, mass=1.0, inertia=1.0, position=at) for name, at in (("a", (0, 0)), ("b", (0.01, 0)))]
    numbers = {"gap": GAP, "push": PUSH, "damping": DAMPING}
    tie = Spring("tie", "a", "b", stiffness=1e11, free_length=0.01)
    return Model([Ground(), *bodies, Load("film", "ground", "a", force=film, parameters=numbers), tie])


def test_steps_of_stiff_loads_are_solved_as_a_whole_and_of_first_order(squeezed):
    """Within the shorter step the film changes the velocity 20 times, and the spring 5 times, as much as it is."""
    system = squeezed.build()
    exact = simulate(system, EventDriven(), t_end=4e-3, dt=ErrorControl(1e-9, 1e-12, 1e-9, 1e-4)).q["a.x"][-1]
    errors = []
    for dt in (8e-5, 1e-5):
        run = simulate(system, MoreauJean(), t_end=4e-3, dt=dt)
        assert run.status == "finished" and run.counts["shortened"] == run.counts["divided"] == 0
        assert run.certificate.motion_residual <= 1e-9
        errors.append(abs(run.q["a.x"][-1] - exact))
    assert errors[1] < errors[0] / 8 < 1e-3 * GAP
