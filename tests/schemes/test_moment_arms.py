"""Balanced moment arms of `MoreauJean`.

`assets/balanced_flexible.npz` has rows (q, v, P_N, P_T) of mechanisms with flexible bodies that a formulation with
dense matrices and separate programs computed.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kept import beyond

from nonsmooth import (
    Gravity,
    Ground,
    InputError,
    Model,
    MoreauJean,
    PlanarBody,
    PlanarFlexibleBody,
    PointPlane,
    PrescribedMotion,
    Revolute,
    RevoluteClearance,
    Rigid,
    simulate,
)
from nonsmooth.diagnostics import momentum
from nonsmooth.flexible import Material, Rectangle, beam, modes
from nonsmooth_problems import beam_on_stop, flexible_slider_crank, socket_pendulum

BALANCED = {
    "rattle": MoreauJean(moment_arms="balanced"),
    "theta": MoreauJean(moment_arms="balanced", theta=0.7),
    "midpoint": MoreauJean(moment_arms="balanced", joints="midpoint"),
    "projected": MoreauJean(moment_arms="balanced", projection="combined"),
}
DT, STEPS = 5e-4, 60
KEPT = Path(__file__).parent / "assets" / "balanced_flexible.npz"
#: every so many steps of these, of 10 us, a row is kept
EVERY = 10


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


def driven_hook() -> Model:
    """A crank that a motor turns, and a plate that hangs in it and drags a corner over the floor."""
    law = Rigid(restitution=0.3, friction=0.3)
    elements = [
        Ground(),
        PlanarBody("crank", mass=0.5, inertia=1e-3, position=(0.05, 0.0), velocity=(0.0, 1.0), angular_velocity=20.0),
        PlanarBody("plate", mass=0.3, inertia=5e-4, position=(0.1, -0.0495), velocity=(0.0, 2.0)),
        Revolute("bearing", "ground", "crank", at_b=(-0.05, 0.0)),
        PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=lambda t: 20.0 * t),
        RevoluteClearance("hook", "crank", "plate", at_a=(0.05, 0.0), at_b=(0.0, 0.05), clearance=5e-4, radius=0.01,
                          contact=law),
        PointPlane("floor", "ground", "plate", at_a=(0.0, -0.06), at_b=(0.03, -0.01), contact=law, size=1e-3),
        Gravity(acceleration=(0.0, -9.81)),
    ]  # fmt: skip
    return Model(elements)


MODELS = {"thrown chain": thrown_chain, "driven hook": driven_hook}
CENTRED = pytest.mark.exact("kept rows begin with journals centred to the bit, where the rate of a gap is zero")


@pytest.mark.parametrize("stepper", BALANCED)
@pytest.mark.parametrize("name", [pytest.param("thrown chain", marks=CENTRED), "driven hook"])
def test_all_columns_are_those_of_another_implementation(name, stepper):
    """Until round-off of 1e-16 has grown by impacts to more than the tolerances; a few of them come before that."""
    run = simulate(MODELS[name]().build(), BALANCED[stepper], t_end=STEPS * DT, dt=DT)
    assert np.count_nonzero(run.P_N.array) >= 2 and run.counts["fallbacks"] == 0
    # joints know velocities to round-off over dt
    looser = {name: 1e2 for name in ("reaction", "reaction_impact", "account", "lam_N")}
    # passes end where residuals are below 1e-11
    assert beyond(run, f"balanced {name}, {stepper}", 1e-10, looser) == {}
    assert run.certificate.motion_residual <= 1e-11 and run.certificate.complementarity <= 1e-10


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


def difference(one, other) -> float:
    """The largest difference, as a share of the largest number."""
    return float(np.max(np.abs(one - other)) / np.max(np.abs(other)))


@pytest.mark.parametrize("case", FLEXIBLE)
def test_flexible_bodies_move_as_by_dense_matrices(case):
    """Velocities of stiff modes repeat to some 1e-14 of those of the crank in a step, which impacts amplify."""
    make, stepper, t_end = FLEXIBLE[case]
    run = simulate(make().build(), stepper, t_end=t_end, dt=1e-5)
    assert run.counts["shortened"] == 0
    assert len(run.impacts["t"]) > 0 and run.certificate.motion_residual <= 1e-11
    for name, tolerance in (("q", 1e-13), ("v", 1e-10), ("P_N", 1e-10), ("P_T", 1e-10)):
        assert difference(getattr(run, name).array[::EVERY], np.load(KEPT)[f"{case}/{name}"]) <= tolerance, name


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


@pytest.mark.parametrize("theta", [0.7, 1.0])
def test_impacts_of_flexible_bodies_keep_the_angular_momentum(theta):
    system, off = thrown_rods().build(), {}
    for arms in ("predicted", "balanced"):
        run = simulate(system, MoreauJean(moment_arms=arms, theta=theta), t_end=0.02, dt=1e-4)
        assert len(run.impacts["t"]) >= 3
        total = momentum(run).total_angular
        off[arms] = np.max(np.abs(total - total[0])) / np.max(np.abs(momentum(run).angular))
    assert off["balanced"] <= 1e-13 and off["predicted"] >= 1e-6


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
