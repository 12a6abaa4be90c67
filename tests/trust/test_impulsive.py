"""A force that does not exist is not certified."""

import numpy as np
import pytest

from nonsmooth import (
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    simulate,
)
from nonsmooth.trust.impulsive import impulsive_force


def rod(friction):
    """A rod that slides on its tip; above a friction of about 4/3 no force keeps the tip on the ground."""
    angle = np.radians(63.0)
    return Model([
        Ground(),
        PlanarBody(
            "b", mass=1.0, inertia=1 / 3, position=(0.0, np.sin(angle)), angle=angle, velocity=(-2.0, 0.0)
        ),
        PointPlane("tip", "ground", "b", at_b=(-1.0, 0.0), contact=Rigid(restitution=0.0, friction=friction)),
        Gravity(acceleration=(0.0, -10.0)),
    ]).build()  # fmt: skip


@pytest.mark.parametrize(("stepper", "dt"), [(None, None), (GaussQP(), Landing(1e-7, 1e-5)), (MoreauJean(), 1e-5)])
def test_without_a_consistent_force(stepper, dt):
    run = simulate(rod(1.6), stepper, t_end=0.01, dt=dt, check=stepper is not None)
    assert run.verdict.kind == "not accurate"
    assert 'contact "tip" has no force near t = ' in run.verdict.text
    assert "its impulse is 0.607 N s" in run.verdict.text  # of all three, see test_physics of the jump


def test_with_one():
    coarse, fine = (simulate(rod(0.3), MoreauJean(), t_end=0.01, dt=dt) for dt in (1e-4, 2.5e-5))
    assert impulsive_force(coarse, fine) is None
    assert simulate(rod(0.3), t_end=0.01).verdict.kind == "accurate"


def test_jump_of_the_velocity():
    """The impulse ends the slip of the tip: its normal velocity stays zero, its tangential one vanishes."""
    run = simulate(rod(1.6), GaussQP(), t_end=0.01, dt=Landing(1e-7, 1e-5), check=True)
    found = impulsive_force(run, simulate(rod(1.6), GaussQP(), t_end=0.01, dt=Landing(2.5e-8, 2.5e-6)))
    assert found is not None
    angle = np.radians(63.0)
    # tip at -(cos, sin) of the centre; W = [n, t] by x, y, angle
    n, t = np.array([0.0, 1.0, -np.cos(angle)]), np.array([1.0, 0.0, np.sin(angle)])
    W, M = np.column_stack([n, t]), np.diag([1.0, 1.0, 1 / 3])
    P = np.linalg.solve(W.T @ np.linalg.solve(M, W), -W.T @ np.array([-2.0, 0.0, 0.0]))
    assert found.impulse == pytest.approx(P[0], rel=1e-4)
