"""Steps of planar mechanisms against the equations of their schemes, stated a second time in `reference.py`: closed
loops with loads and drivers, chains, redundant contacts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from loops import some
from reference import violations

from nonsmooth import (
    Damper,
    Fixed,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Revolute,
    RevoluteClearance,
    Rigid,
    Spring,
    Torque,
    simulate,
)
from nonsmooth.model.registry import find_problems

DT = 2e-4
STEPPERS = {
    "gauss": GaussQP(),
    "landing": GaussQP(),
    "alpha": GeneralizedAlpha(),
    "moreau": MoreauJean(),
    "moreau-theta": MoreauJean(theta=0.7),
    "moreau-midpoint": MoreauJean(joints="midpoint"),
    "moreau-projected": MoreauJean(projection="combined"),
    "balanced": MoreauJean(moment_arms="balanced"),
}


def four_bar() -> Model:
    """A closed loop of ideal joints with a driver, spring, damper, torque and a load in time, and one clearance."""
    model = Model(name="loop")
    ground = model.add(Ground())
    crank = model.add(PlanarBody("crank", mass=0.3, inertia=1e-4, position=(0.025, 0.0), velocity=(0.0, 2.5),
                                 angular_velocity=100.0))  # fmt: skip
    rod = model.add(PlanarBody("rod", mass=0.21, inertia=2.5e-4, position=(0.11, 0.0), velocity=(0.0, 2.5),
                               angular_velocity=-5.0 / 0.12))  # fmt: skip
    slider = model.add(PlanarBody("slider", mass=0.14, inertia=1e-5, position=(0.17, 0.0)))
    model.add(Revolute("bearing", ground, crank, at_b=(-0.025, 0.0)))
    model.add(PrescribedMotion("motor", ground, crank, coordinate="angle", motion=lambda t: 100.0 * t))
    model.add(Revolute("big-end", crank, rod, at_a=(0.025, 0.0), at_b=(-0.06, 0.0)))
    model.add(Prismatic("guide", ground, slider))
    contact = Rigid(restitution=0.0, friction=0.05)
    model.add(RevoluteClearance("pin", rod, slider, at_a=(0.06, 0.0), clearance=5e-4, radius=1e-2, contact=contact))
    model.add(Spring("spring", ground, slider, at_a=(0.3, 0.01), stiffness=200.0, free_length=0.1))
    model.add(Damper("damper", ground, slider, at_a=(0.3, 0.0), damping=1.0))
    model.add(PointForce("push", slider, force=lambda t: (3.0 + 100.0 * t, 0.0), at=(0.0, 0.001), frame="body"))
    model.add(Torque("turn", rod, torque=1e-3))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


def chain(links: int = 6, friction: float = 0.1, restitution: float = 0.0, *, shuffled: bool = False) -> Model:
    """Links that hang in clearance joints and turn; `shuffled` in any order in the model."""
    model, length, play, order = Model(name="chain"), 0.1, 5e-4, np.random.default_rng(links)
    contact, found = Rigid(restitution=restitution, friction=friction), {0: model.add(Ground())}
    for i in 1 + (order.permutation(links) if shuffled else np.arange(links)):
        y = -(i - 0.5) * length - i * play
        found[i] = model.add(PlanarBody(f"link{i}", mass=0.1, inertia=0.1 * length**2 / 12, position=(0.0, y),
                                        velocity=(-y, 0.0), angular_velocity=1.0))  # fmt: skip
    for i in 1 + (order.permutation(links) if shuffled else np.arange(links)):
        model.add(RevoluteClearance(f"joint{i}", found[i - 1], found[i], at_a=(0.0, 0.0 if i == 1 else -length / 2),
                                    at_b=(0.0, length / 2), clearance=play, radius=5e-3, contact=contact))  # fmt: skip
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


def welded_loop() -> Model:
    """A closed loop whose crank carries a weld, three rows between two bodies, and a weight in a loose hook."""
    model = Model(name="welded loop")
    ground = model.add(Ground())
    crank = model.add(PlanarBody("crank", mass=0.2, inertia=5e-5, position=(0.0, 0.025)))
    plate = model.add(PlanarBody("plate", mass=0.1, inertia=2e-5, position=(-0.02, 0.03)))
    coupler = model.add(PlanarBody("coupler", mass=0.3, inertia=3e-4, position=(0.05, 0.06)))
    rocker = model.add(PlanarBody("rocker", mass=0.2, inertia=1e-4, position=(0.1, 0.035)))
    weight = model.add(PlanarBody("weight", mass=0.5, inertia=1e-4, position=(0.05, 0.0295)))
    model.add(Revolute("left", ground, crank, at_b=(0.0, -0.025)))
    model.add(Fixed("weld", crank, plate, at_a=(-0.01, 0.0), at_b=(0.01, -0.005)))
    model.add(Revolute("knee", crank, coupler, at_a=(0.0, 0.025), at_b=(-0.05, -0.01)))
    model.add(Revolute("elbow", coupler, rocker, at_a=(0.05, 0.01), at_b=(0.0, 0.035)))
    model.add(Revolute("right", ground, rocker, at_a=(0.1, 0.0), at_b=(0.0, -0.035)))
    contact = Rigid(restitution=0.3, friction=0.1)
    model.add(RevoluteClearance("hook", coupler, weight, at_b=(0.0, 0.03), clearance=5e-4, radius=5e-3,
                                contact=contact))  # fmt: skip
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


def drawers(restitution: float) -> Model:
    """No joint, no friction: a tray rests on four corners of two guides, of which two would do; a box falls in it."""
    model, play = Model(name="drawers"), 1e-4
    ground = model.add(Ground())
    tray = model.add(PlanarBody("tray", mass=0.5, inertia=4e-4, position=(0.0, -play), velocity=(0.1, 0.0)))
    box = model.add(PlanarBody("box", mass=0.2, inertia=1e-5, position=(0.01, -play), velocity=(-0.2, 0.0)))
    contact = Rigid(restitution=restitution, friction=0.0)
    for name, length in (("rail", 0.1), ("short-rail", 0.05)):
        model.add(PrismaticClearance(name, ground, tray, length=length, clearance=play, contact=contact))
    model.add(PrismaticClearance("drawer", tray, box, length=0.02, clearance=play, contact=contact))
    model.add(PointForce("push", tray, force=lambda t: (2.0, 5.0 - 1e4 * t), at=(0.01, 0.003), frame="body"))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


MECHANISMS = {
    "four-bar": four_bar,
    "chain": chain,
    "chain-elastic": lambda: chain(3, 0.3, 0.5),
    "welded-loop": welded_loop,
    "drawers": lambda: drawers(0.0),
    "drawers-elastic": lambda: drawers(0.2),
}
#: of 20 or 40 links, whose equations take longer to evaluate than to solve: fewer steps
LONG = {
    "long-chain": lambda: chain(40, 0.0),
    "long-chain-elastic": lambda: chain(40, 0.0, 0.4),
    "long-chain-shuffled": lambda: chain(40, 0.0, 0.2, shuffled=True),
    "long-chain-rough": lambda: chain(20, 0.2, 0.3),
}
#: planar problems of rigid bodies, over more steps than `test_reference.py` takes; the squeezer is as stiff as to need
#: its shorter ones, and flexible bodies stand in `test_flexible.py`
PROBLEMS = {
    name: one
    for name, one in find_problems().items()
    if not {"spatial", "flexible"} & {*one.tags} and name != "andrews-squeezer"
}
CASES = [*product(MECHANISMS | PROBLEMS, STEPPERS), *product(LONG, ["gauss", "moreau", "landing"])]


@pytest.mark.parametrize(
    ("name", "scheme"),
    some((pytest.param(*case, marks=[pytest.mark.slow] * (case[1] == "balanced")) for case in CASES), 6),
)
def test_a_hundred_steps_satisfy_the_equations_of_their_scheme(name, scheme):
    system, stepper = (MECHANISMS | LONG | PROBLEMS)[name]().build(), STEPPERS[scheme]
    control, steps = Landing(1e-6, DT) if scheme == "landing" else DT, 15 if name in LONG else 100
    try:
        run = simulate(system, stepper, t_end=steps * DT, dt=control)
    except InputError as refused:
        pytest.skip(f"this stepper does not take it: {refused}")
    assert run.counts["steps"] >= steps
    assert violations(run, system, stepper, control) == {}
