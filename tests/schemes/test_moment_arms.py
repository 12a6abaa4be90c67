"""Balanced moment arms of `MoreauJean`."""

from dataclasses import replace

import numpy as np
import pytest
from reference import violations
from shared_mechanisms import driven_hook

from nonsmooth import (
    Gravity,
    Ground,
    InputError,
    Model,
    MoreauJean,
    PlanarBody,
    PlanarFlexibleBody,
    RevoluteClearance,
    Rigid,
    simulate,
)
from nonsmooth.diagnostics import momentum
from nonsmooth.flexible import Material, Rectangle, beam, modes
from nonsmooth_problems import beam_on_stop, flexible_slider_crank, socket_pendulum

COMPILES = pytest.mark.slow  # the texts of impact laws other than Newton's, or of balanced moment arms

BALANCED = {
    "rattle": MoreauJean(moment_arms="balanced"),
    "theta": MoreauJean(moment_arms="balanced", theta=0.7),
    "midpoint": MoreauJean(moment_arms="balanced", joints="midpoint"),
    "projected": MoreauJean(moment_arms="balanced", projection="combined"),
}
DT, STEPS = 5e-4, 60
#: the projection goes along directions between those before and after it, which turn with the bodies
TURNING = {"projection": 1e-7}


#: mass and moment of inertia
THROWN = {"one": (0.4, 2e-3), "other": (0.3, 1e-3), "third": (0.2, 1e-3)}


def thrown_chain() -> Model:
    """Three links in loose pins, thrown so that they turn against each other; no force from outside."""
    law, motion = Rigid(restitution=0.4, friction=0.2), ((0.2, 0.5, 3.0), (-0.1, -0.4, -8.0), (0.0, 0.3, 5.0))
    elements = [Ground()]
    for k, ((name, (mass, inertia)), (x, y, turn)) in enumerate(zip(THROWN.items(), motion, strict=True)):
        elements += [PlanarBody(name, mass=mass, inertia=inertia, position=(0.2 * k, 0.0), velocity=(x, y),
                                angular_velocity=turn)]  # fmt: skip
    for a, b in (("one", "other"), ("other", "third")):
        elements += [RevoluteClearance(f"{a}-{b}", a, b, at_a=(0.1, 0.0), at_b=(-0.1, 0.0), clearance=1e-3, radius=0.01,
                                       contact=law)]  # fmt: skip
    return Model(elements)


MODELS = {"thrown chain": thrown_chain, "driven hook": lambda: driven_hook(Rigid(restitution=0.3, friction=0.3))}


@COMPILES
@pytest.mark.parametrize("stepper", BALANCED)
@pytest.mark.parametrize("name", MODELS)
def test_steps_satisfy_the_equations(name, stepper):
    system, stepper = MODELS[name]().build(), BALANCED[stepper]
    run = simulate(system, stepper, t_end=STEPS * DT, dt=DT)
    assert np.count_nonzero(run.P_N.array) >= 2 and run.counts["fallbacks"] == 0
    assert violations(run, system, stepper, DT, **TURNING) == {}
    assert run.certificate.motion_residual <= 1e-11 and run.certificate.complementarity <= 1e-10


@COMPILES
@pytest.mark.parametrize("theta", [0.7, 1.0])
def test_impacts_keep_the_angular_momentum(theta):
    """To round-off, where predicted moment arms change it by the order of dt (with theta = 1/2 only if forces act)."""
    system = thrown_chain().build()
    off = {}
    for arms in ("predicted", "balanced"):
        run = simulate(system, MoreauJean(moment_arms=arms, theta=theta), t_end=0.2, dt=DT)
        total = sum(
            m * (run.q[f"{b}.x"] * run.v[f"{b}.y"] - run.q[f"{b}.y"] * run.v[f"{b}.x"]) + J * run.v[f"{b}.angle"]
            for b, (m, J) in THROWN.items()
        )
        off[arms] = np.max(np.abs(total - total[0])) / np.max(np.abs(total))
    assert off["balanced"] <= 1e-13 and off["predicted"] >= 1e-6


def swinging_link() -> Model:
    """A link that hangs in a loose pin, pressed to it, and swings."""
    motion = {"position": (0.0, -0.051), "velocity": (1.02, 0.0), "angular_velocity": 20.0}
    link = PlanarBody("link", mass=0.2, inertia=2e-4, **motion)
    pin = RevoluteClearance("pin", "ground", "link", at_b=(0.0, 0.05), clearance=1e-3, radius=0.01,
                            contact=Rigid(restitution=0.0, friction=0.1))  # fmt: skip
    return Model([Ground(), link, pin, Gravity(acceleration=(0.0, -9.81))])


ROUGH = Rigid(restitution=0.5, friction=0.1)


def crank() -> Model:
    """Its journal and bearing first meet after 0.45 ms, which excites all modes of the rod."""
    return flexible_slider_crank(contact=ROUGH)


def stopped_beam() -> Model:
    """Released 0.05 mm above its stop, which it meets within the run."""
    return beam_on_stop(contact=ROUGH, deflection=2e-3, gap=-1.95e-3)


FLEXIBLE = {f"crank, {name}": (crank, stepper, 8e-4) for name, stepper in BALANCED.items()}
FLEXIBLE["beam, rattle"] = stopped_beam, BALANCED["rattle"], 1e-3


@COMPILES
@pytest.mark.parametrize("case", FLEXIBLE)
def test_steps_of_flexible_bodies_satisfy_the_equations(case):
    make, stepper, t_end = FLEXIBLE[case]
    system = make().build()
    run = simulate(system, stepper, t_end=t_end, dt=1e-5)
    assert run.counts["shortened"] == 0
    assert len(run.impacts["t"]) > 0 and run.certificate.motion_residual <= 1e-11
    assert violations(run, system, stepper, 1e-5, **TURNING) == {}


def thrown_rods() -> Model:
    """Two flexible rods in a loose pin, thrown so that they turn against each other; no force from outside."""
    steel = Material(youngs=2e11, shear=8e10, density=7850.0)
    rod = beam((0, 0, 0), (0.2, 0, 0), section=Rectangle(0.01, 0.01), material=steel, elements=2,
               names={"left": 0, "right": 1})  # fmt: skip
    # of constant inertia, whose spin has no other error than by moment arms
    found = replace(modes(rod, interface=("left", "right"), keep=0, damping=0.01).in_plane(), changes=None)
    one = PlanarFlexibleBody("one", found, velocity=(0.2, 0.5), angular_velocity=30.0)
    other = PlanarFlexibleBody("other", found, position=(0.2, 0.0), velocity=(-0.1, -0.4), angular_velocity=-20.0)
    pin = RevoluteClearance("pin", one.node("right"), other.node("left"), clearance=1e-3,
                            contact=Rigid(restitution=0.4, friction=0.0))  # fmt: skip
    return Model([Ground(), one, other, pin])


@COMPILES
@pytest.mark.parametrize("theta", [0.7, 1.0])
def test_impacts_of_flexible_bodies_keep_the_angular_momentum(theta):
    system, off = thrown_rods().build(), {}
    for arms in ("predicted", "balanced"):
        run = simulate(system, MoreauJean(moment_arms=arms, theta=theta), t_end=0.02, dt=1e-4)
        assert len(run.impacts["t"]) >= 3
        total = momentum(run).total_angular
        off[arms] = np.max(np.abs(total - total[0])) / np.max(np.abs(momentum(run).angular))
    assert off["balanced"] <= 1e-13 and off["predicted"] >= 1e-6


@COMPILES
def test_in_lasting_contact_both_moment_arms_lead_to_one_motion():
    system, apart = swinging_link().build(), []
    for dt in (4e-4, 2e-4, 1e-4):
        ends = [
            simulate(system, MoreauJean(moment_arms=arms), t_end=0.04, dt=dt).q["link.angle"][-1]
            for arms in ("predicted", "balanced")
        ]
        apart.append(abs(ends[0] - ends[1]))
    orders = np.log2(np.divide(apart[:-1], apart[1:]))
    assert np.all(orders >= 1.8) and apart[-1] >= 1e-9  # 2.5 here: the terms of second order cancel in a swing


def test_they_exist_in_the_plane_only():
    with pytest.raises(InputError, match='moment_arms="balanced" exists in the plane only'):
        simulate(socket_pendulum().build(), BALANCED["rattle"], t_end=0.01, dt=1e-3)
