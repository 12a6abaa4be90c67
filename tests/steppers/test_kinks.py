"""Drivers whose velocities jump, as by a table: an impact of joints, and of what approaches then."""

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SpatialBody,
    Table,
    simulate,
)

#: acceleration of gravity [m/s^2], and when the velocity jumps [s]
G, KINK = 10.0, 0.05
#: of smooth motion, which polynomials of order five in time integrate without an error
EXACT = {"rel": 1e-9, "abs": 1e-9}


def driven(before, after):
    return Table(times=(-1.0, KINK, 1.0), values=(-before, KINK * before, KINK * before + (1.0 - KINK) * after))


def cart(motion, velocity, restitution=0.0, friction=0.5, dimension=2, up=False):
    """A block on a driven cart, which moves along the ground, or up."""
    x, z = np.eye(dimension)[0], np.eye(dimension)[-1]
    way, law = z if up else x, Rigid(restitution=restitution, friction=friction)
    v = tuple(velocity * way)
    if dimension == 3:
        bodies = [SpatialBody(name, 2.0, (0.5, 0.5, 0.5), velocity=v) for name in ("cart", "block")]
        axis = {"axis_a": tuple(way)}
        rail, drive, contact = axis, axis | {"coordinate": "displacement"}, {"normal": (0.0, 0.0, 1.0)}
    else:
        bodies = [PlanarBody(name, 2.0, 0.5, velocity=v) for name in ("cart", "block")]
        rail, drive, contact = {"direction": np.pi / 2 if up else 0.0}, {"coordinate": "y" if up else "x"}, {}
    return Model([
        Ground(), *bodies, Gravity(acceleration=tuple(-G * z)), Prismatic("rail", "ground", "cart", **rail),
        PrescribedMotion("drive", "ground", "cart", motion=motion, **drive),
        PointPlane("c", "cart", "block", contact=law, **contact),
    ]).build()  # fmt: skip


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_block_on_a_cart_that_turns_back(dimension):
    """It goes on at 0.5 m/s, and is braked by 5 m/s^2; the default call knows it."""
    run = simulate(cart(driven(0.5, -0.5), 0.5, dimension=dimension), t_end=0.1)
    assert run.verdict.kind == "accurate" and len(run.impacts) == 0
    assert run.q["block.x"][-1] == pytest.approx(0.025 + 0.5 * 0.05 - 2.5 * 0.05**2, **EXACT)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_floor_that_turns_back_lets_go(restitution):
    run = simulate(cart(driven(1.0, -1.0), 1.0, restitution, up=True), t_end=0.1)
    assert run.verdict.kind == "accurate" and len(run.impacts) == 0
    assert run.q["block.y"][-1] == pytest.approx(0.1 - 0.5 * G * 0.05**2, **EXACT)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_floor_that_turns_up_hits(restitution):
    """With the relative velocity of 2 m/s."""
    run = simulate(cart(driven(-1.0, 1.0), -1.0, restitution, up=True), t_end=0.1)
    falls = 0.5 * G * 0.05**2 if restitution else 0.0
    assert run.verdict.kind == "accurate" and run.impacts["t"] == pytest.approx([KINK])
    assert run.impacts["gamma_minus"] == pytest.approx([-2.0])
    assert run.q["block.y"][-1] == pytest.approx(-0.05 + (1.0 + 2.0 * restitution) * 0.05 - falls, **EXACT)


def pendulum(motion, velocity):
    """A pendulum of 2 kg with its pin 0.3 m above on a driven cart of 1 kg."""
    return Model([
        Ground(), PlanarBody("cart", 1.0, 1.0, velocity=(velocity, 0.0)),
        PlanarBody("bob", 2.0, 0.01, position=(0.0, -0.3), velocity=(velocity, 0.0)),
        Prismatic("rail", "ground", "cart"), Gravity(acceleration=(0.0, -G)),
        PrescribedMotion("drive", "ground", "cart", coordinate="x", motion=motion),
        Revolute("pin", "cart", "bob", at_b=(0.0, 0.3)),
    ]).build()  # fmt: skip


def test_impulse_and_work_of_a_driver():
    """The pendulum turns by w about its pin as the cart's velocity jumps by u: I w = -m l (u + l w)."""
    run = simulate(pendulum(driven(0.5, -0.25), 0.5), EventDriven(), t_end=0.06, dt=ErrorControl(1e-9))
    u = -0.75
    w = -2.0 * 0.3 * u / (0.01 + 2.0 * 0.3**2)
    P = 1.0 * u + 2.0 * (u + 0.3 * w)
    k = int(np.flatnonzero(run.t == KINK)[0])
    assert run.reaction_impact["drive.x"][k] == pytest.approx(P, rel=1e-10)
    assert run.v["bob.angle"][k] - run.left.v["bob.angle"][k] == pytest.approx(w, rel=1e-10)
    assert run.energy["work_drivers"][k] - run.energy["work_drivers"][k - 1] == pytest.approx(
        P * (0.5 - 0.25) / 2,
        rel=1e-3,  # and that of the step
    )
    assert abs(run.certificate.energy.remainder) < 1e-10  # of the tolerance
    assert run.verdict.kind == "not checked"


def test_a_driver_that_stops_at_the_end_of_the_run_moves_until_then():
    table = Table(times=(-1.0, 0.1), values=(-0.5, 0.05))
    run = simulate(pendulum(table, 0.5), EventDriven(), t_end=0.1, dt=ErrorControl(1e-9))
    assert run.v["cart.x"][-1] == pytest.approx(0.5) and not np.any(run.reaction_impact.array)


def test_a_run_goes_on_where_a_driver_has_turned_back():
    system, dt = cart(driven(0.5, -0.5), 0.5), ErrorControl(1e-9)
    first = simulate(system, EventDriven(), t_end=KINK, dt=dt)
    assert first.v["cart.x"][-1] == pytest.approx(-0.5) and first.left.v["cart.x"][-1] == pytest.approx(0.5)
    run = simulate(system, EventDriven(), t_end=0.1, dt=dt, state=first.end)
    assert run.q["block.x"][-1] == pytest.approx(0.04375, **EXACT)
