"""Compiled runs against Python formulations: every problem and every stepper that both run, found by discovery."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import (
    Damper,
    Fixed,
    GaussQP,
    Gravity,
    Ground,
    InputError,
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
from nonsmooth.registry import find_problems
from nonsmooth.tolerances import SLIPPING, STICKING

STEPS = 100
STEPPERS = {
    "gauss": GaussQP(),
    "moreau": MoreauJean(),
    "moreau-theta": MoreauJean(theta=0.7),
    "moreau-midpoint": MoreauJean(joints="midpoint"),
    "moreau-projected": MoreauJean(projection="combined"),
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


def models() -> dict[str, Model]:
    # flexible bodies stand in test_flexible.py: round-off of stiff modes is larger than that of bodies
    found = {name: one() for name, one in find_problems().items() if not {"spatial", "flexible"} & {*one.tags}}
    found |= {
        "four-bar": four_bar(),
        "chain": chain(),
        "chain-elastic": chain(3, 0.3, 0.5),
        "long-chain": chain(40, 0.0),
        "long-chain-elastic": chain(40, 0.0, 0.4),
        "long-chain-shuffled": chain(40, 0.0, 0.2, shuffled=True),
        "long-chain-rough": chain(20, 0.2, 0.3),
        "welded-loop": welded_loop(),
        "drawers": drawers(0.0),
        "drawers-elastic": drawers(0.2),
    }
    return found


MODELS = models()


def close(native: np.ndarray, python: np.ndarray, tolerance: float, floor: float) -> bool:
    """Columns agree to `tolerance` of their scale; columns of round-off are measured by the largest of their kind."""
    scale = np.maximum(np.max(np.abs(python), axis=0, initial=0.0), floor)
    return bool(np.all(np.abs(native - python) <= tolerance * np.maximum(scale, 1e-300)))


def difference(one, other) -> np.ndarray:
    """The largest difference of velocities so far, row by row."""
    return np.maximum.accumulate(np.max(np.abs(one.v.array - other.v.array), axis=1))[:, None]


def agree(native, python, noise: float, growth: np.ndarray | float = 0.0) -> bool:
    q, v = (np.max(np.abs(getattr(python, table).array)) for table in "qv")
    excess = np.maximum(np.abs(native.v.array - python.v.array) - noise - growth, 0.0)
    if np.any(growth):
        return bool(np.all(excess <= 1e-12 * v))
    return close(native.q.array, python.q.array, 1e-12, 1e-2 * q) and bool(
        np.all(excess <= 1e-12 * np.maximum(np.max(np.abs(python.v.array), axis=0), 1e-2 * v))
    )


def modes(mode: np.ndarray, name: str) -> np.ndarray:
    """Contact modes; of two corners that stick together, and share friction as they like, one may be at its limit."""
    if name != "stick-slip-oscillator":
        return mode
    closed = np.where(mode == SLIPPING, STICKING, mode)
    return np.column_stack([closed, np.any(mode == STICKING, axis=1)])


@pytest.mark.sampled(3)  # each mechanism with two or three of the eight, and the next with others
@pytest.mark.parametrize("dt", [1e-5, 2e-4])
@pytest.mark.parametrize("stepper", STEPPERS.values(), ids=STEPPERS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.quick(3)
def test_both_engines_give_the_same_motion(name, stepper, dt):
    system = MODELS[name].build()
    run = {"t_end": STEPS * dt, "dt": dt}
    try:
        native = simulate(system, stepper, **run, engine="native")
    except InputError as error:
        pytest.skip(str(error))
    python = simulate(system, stepper, **run, engine="python")
    assert native.manifest["engine"] == "native" and python.manifest["engine"] == "python"
    # gaps of which some would do are projected by turns, as their round-off has it, without end
    by_turns = name.startswith("drawers") and stepper == STEPPERS["moreau-projected"]
    assert native.counts["python_steps"] == 0 or by_turns
    assert np.array_equal(native.t, python.t)
    # gaps know positions to round-off, hence velocities to round-off over dt
    reach = np.max(np.abs(python.q.array))
    noise = 100 * np.finfo(float).eps * reach / dt if isinstance(stepper, GaussQP) else 0.0
    if not agree(native, python, noise):  # round-off grows: as much as that of a start that is moved by it
        names, start = system.q_names, system.start.q
        moved = system.state({name: value * (1 + 4e-16) for name, value in zip(names, start, strict=True)})
        assert agree(native, python, noise, 100 * difference(simulate(system, stepper, **run, state=moved), python))
    assert np.array_equal(*(modes(run.mode.array, name) for run in (native, python)))
    ours, theirs = native.certificate, python.certificate
    assert ours.gap_violation == pytest.approx(theirs.gap_violation, rel=1e-6, abs=1e-12)
    assert ours.joint_violation <= max(10 * theirs.joint_violation, 1e-14)
    assert ours.complementarity <= max(10 * theirs.complementarity, 1e-11)
    assert ours.motion_residual <= max(10 * theirs.motion_residual, 1e-11)


@pytest.mark.parametrize("name", ["slider-rod", "slider-crank-translational", "four-bar"])
def test_all_columns_agree(name):
    """Also with every third step recorded; impulses are unique here."""
    system = MODELS[name].build()
    for record in (1, 3):
        run = {"t_end": 2e-3, "dt": 1e-5, "record": record}
        native, python = (simulate(system, MoreauJean(), **run, engine=engine) for engine in ("native", "python"))
        assert len(native.impacts) == len(python.impacts)
        assert list(native.impacts["contact"]) == list(python.impacts["contact"])
        for table in ("gap", "gap_rate", "P_N", "P_T", "lam_N", "reaction", "reaction_impact", "energy"):
            ours, theirs = (getattr(run, table).array for run in (native, python))
            assert ours.shape == theirs.shape
            tolerance = 1e-8 if table == "reaction" else 1e-10  # joints know velocities to round-off over dt
            assert close(ours, theirs, tolerance, 1e-3 * np.max(np.abs(theirs), initial=0.0)), table
        assert close(native.left.v.array, python.left.v.array, 1e-12, 1e-2 * np.max(np.abs(python.v.array)))
        ours, theirs = native.certificate.energy, python.certificate.energy
        assert ours.kinetic == pytest.approx(theirs.kinetic, rel=1e-11)
        assert ours.loss_impacts == pytest.approx(theirs.loss_impacts, rel=1e-9, abs=1e-12)
        assert ours.remainder == pytest.approx(theirs.remainder, rel=1e-6, abs=1e-9)
