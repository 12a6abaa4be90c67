"""The heavy top against its published motion, and what a clearance at its tip changes."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GeneralizedAlpha, Rigid, simulate
from nonsmooth.exceptions import InputError
from nonsmooth_problems import heavy_top
from nonsmooth_problems.heavy_top import MASS, REFERENCE, start_force

ACCURATE = EventDriven(order="dop853")
FINE = ErrorControl(1e-12, 1e-12, 1e-9, 0.05)
SMOOTH = Rigid(restitution=0.0, friction=0.0)


def energy(system, run):
    found = system.energies(run.t, run.q.array, run.v.array, system.parameter_values)
    return found["kinetic"] + found["potential"]


@pytest.mark.parametrize("t_end", REFERENCE)
def test_the_ideal_top_moves_as_published(t_end):
    """The reference has eleven decimals of places, nine of angular velocities, of which the spin costs one."""
    end = simulate(heavy_top().build(), ACCURATE, t_end=t_end, dt=FINE).end
    place, omega = REFERENCE[t_end]
    assert end.q[:3] == pytest.approx(place, abs=2e-11)
    assert end.v[3:] == pytest.approx(omega, abs=2e-8)


def test_generalized_alpha_converges_with_order_two():
    """Halving the step divides the error at 0.1 s by four; the spin turns by 0.15 and by 0.075 rad a step."""
    errors = [
        np.linalg.norm(
            simulate(heavy_top().build(), GeneralizedAlpha(), t_end=0.1, dt=dt).end.q[:3] - REFERENCE[0.1][0]
        )
        for dt in (1e-3, 5e-4)
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
    assert errors[1] < 1e-3


def test_the_force_at_the_start_is_the_reaction_of_the_joint():
    """The mean over a step of 1 microsecond differs from the force at its start by what this changes in half of it."""
    run = simulate(heavy_top().build(), ACCURATE, t_end=1e-6, dt=FINE)
    first = [run.reaction[f"tip.{axis}"][1] for axis in "xyz"]
    assert first == pytest.approx(start_force(), abs=0.2)
    assert np.linalg.norm(start_force()) > 2 * MASS * 9.81


def test_in_a_socket_it_stays_in_contact_and_keeps_its_energy():
    """Without friction, at rest on the socket at first: no impact dissipates. 1e-12 of 5.4 kJ is the tolerance's."""
    system = heavy_top(contact=SMOOTH).build()
    run = simulate(system, ACCURATE, t_end=0.05, dt=FINE)
    assert np.max(np.abs(run.gap["tip"])) < 1e-12
    assert np.min(run.lam_N["tip"][1:]) > 100.0
    assert np.ptp(energy(system, run)) < 1e-11 * energy(system, run)[0]


def test_the_clearance_moves_the_top_by_as_much():
    """In 0.02 s the centre of mass of the loose top deviates from that of the ideal one in proportion to c."""
    ideal = simulate(heavy_top().build(), ACCURATE, t_end=0.02, dt=FINE).end.q[:3]
    away = []
    for clearance in (1e-4, 1e-5):
        loose = simulate(heavy_top(contact=SMOOTH, clearance=clearance).build(), ACCURATE, t_end=0.02, dt=FINE).end
        away.append(np.linalg.norm(loose.q[:3] - ideal) / clearance)
    assert 0.1 < away[0] < 5.0 and 0.1 < away[1] < 5.0


def test_bad_values_are_named():
    with pytest.raises(InputError, match="clearance must lie between 0 and the ball's radius, 0.05 m, got 0.06"):
        heavy_top(contact=SMOOTH, clearance=0.06)
