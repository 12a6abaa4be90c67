"""What rows show, by compiled code and by the functions of the system."""

from functools import partial

import numpy as np
import pytest

import nonsmooth_problems as ready
from nonsmooth import Damper, Gravity, Ground, Load, Model, MoreauJean, SpatialBody, Spring, Torque
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.model.system import observe
from nonsmooth.step.control import ConstantStep

#: round-off of sums of a few terms, some of which cancel: gaps are 1e-4 of the positions that they are differences of
ROUND_OFF = 1e-12


def all_kinds_of_loads():
    """A body with loads that have a potential, a power, both, or dissipate."""
    return Model(
        [
            Ground(),
            SpatialBody("block", mass=2.0, inertia=(0.1, 0.2, 0.25)),
            Gravity(acceleration=(0.0, 0.0, -9.81)),
            Spring("spring", "ground", "block", stiffness=300.0, free_length=0.1, at_a=(0.3, 0, 0), at_b=(0, 0.1, 0)),
            Damper("damper", "ground", "block", damping=5.0, at_a=(0.3, 0, 0), at_b=(0, 0.1, 0)),
            Torque("motor", "block", torque=(0.1, 0.0, 0.3)),
            Load("drag", "ground", "block", force=("-2*vx", "0", "0"), energy="40*z**2"),
        ]
    )


CASES = {
    "loads": all_kinds_of_loads,
    "a clearance": ready.socket_pendulum,
    "sixteen gaps of one element": ready.slide_in_guide,
    "a loop of joints": ready.spatial_slider_crank,
    "a driven loop": ready.universal_shaft,
}


@pytest.mark.parametrize("problem", CASES.values(), ids=CASES)
def test_compiled_code_sees_what_the_functions_of_the_system_say(problem):
    system = problem().build()
    values, start = system.parameter_values, system.start
    steps = CompiledSteps(system, MoreauJean(), ConstantStep(1e-3), values, 1.0)
    rng, rows = np.random.default_rng(3), 20
    t = np.linspace(0.0, 0.1, rows)
    # anywhere near the start, with velocities that joints would not allow
    q = start.q + 0.01 * rng.normal(size=(rows, system.nq))
    v_left, v = (start.v + rng.normal(size=(rows, system.nv)) for _ in range(2))
    row = np.array([0, 1, 7, rows - 1])  # where velocities jump
    found, known = (see(t, q, v, row, v_left[row]) for see in (steps.observe, partial(observe, system, values)))
    for name in ("gap", "rate_left", "rate", "closure"):
        one, other = getattr(found, name), getattr(known, name)
        assert one.shape == other.shape
        assert np.max(np.abs(one - other), initial=0.0) <= ROUND_OFF * (1.0 + np.max(np.abs(v))), name
    for one, other in ((found.energies_left, known.energies_left), (found.energies, known.energies)):
        assert one.keys() == other.keys()
        for name, series in other.items():
            assert one[name] == pytest.approx(series, rel=ROUND_OFF, abs=ROUND_OFF), name
