"""Coulomb's law by quadratic programs: known sliding and sticking, in the plane and in space, and how many it takes."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth.programs import FrictionContact
from nonsmooth.solvers import CasadiQP, Osqp
from nonsmooth.solvers.chain import Chain
from nonsmooth.solvers.tangent_planes import contact_by_qps

#: round-off of impulses of the order of one
ROUND_OFF = 1e-13


def solved(program: FrictionContact, solver: object, last: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Impulses, and the number of QPs."""
    chain = Chain(solver, fallback=False)
    z = contact_by_qps(program, np.zeros(program.b.size) if last is None else last, chain.answer, 1e-9)
    assert z is not None
    return z, chain.called[type(solver).__name__]


@pytest.mark.parametrize("solver", [Osqp(), CasadiQP("daqp")], ids=str)
@pytest.mark.parametrize("angle", np.linspace(0.1, 6.2, 7))
def test_a_body_slides_in_its_direction(solver, angle):
    """At 3 m/s against a floor that is met at 1 m/s: friction mu opposes the slip, whatever its direction, and the body
    does not leave the floor at mu times its slip, as in the convex relaxation."""
    slip, mu = 3.0 * np.array([np.cos(angle), np.sin(angle)]), 0.5
    floor = FrictionContact(np.eye(3), np.array([-1.0, *slip]), np.array([mu]), dimension=3)
    z, programs = solved(floor, solver)
    np.testing.assert_allclose(z, [1.0, *(-mu * slip / 3.0)], atol=ROUND_OFF)
    assert programs == 1


@pytest.mark.parametrize("solver", [Osqp(), CasadiQP("daqp")], ids=str)
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
@pytest.mark.parametrize("angle", [0.0, 0.7, 2.5])
def test_a_body_sticks_up_to_the_rim_of_the_disc(solver, share, angle):
    """A tangential velocity that friction stops with a share of mu P_N: beyond the edges of any fixed polygon too."""
    mu = 0.4
    slip = share * mu * np.array([np.cos(angle), np.sin(angle)])
    floor = FrictionContact(np.eye(3), np.array([-1.0, *slip]), np.array([mu]), dimension=3)
    z, _ = solved(floor, solver)
    np.testing.assert_allclose(z, [1.0, *-slip], atol=ROUND_OFF)


def random_program(seed: int, contacts: int, bilateral: int, dimension: int) -> FrictionContact:
    """A Delassus matrix of a mechanism with as many freedoms as rows, masses of three orders of magnitude."""
    rng = np.random.default_rng(seed)
    m = bilateral + dimension * contacts
    G = rng.normal(size=(m, m)) / np.sqrt(10.0 ** rng.uniform(-1.5, 1.5, size=m))
    return FrictionContact(G @ G.T, G @ rng.normal(size=m), rng.uniform(0.0, 0.3, contacts), dimension, bilateral)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", some(range(40), 3))
def test_joints_and_contacts_together(seed, dimension):
    """Residual of the program itself, which knows neither the planes nor the elimination of joints."""
    program = random_program(seed, 1 + seed % 4, seed % 3, dimension)
    z = contact_by_qps(program, np.zeros(program.b.size), Chain(Osqp(), fallback=False).answer, 1e-9)
    assert z is not None
    u = program.A @ z + program.b
    (u_N, u_T), (P_N, P_T) = program.split(u), program.split(z)
    terms = np.abs(program.A) @ np.abs(z) + np.abs(program.b)  # of which velocities are differences
    (terms_N, terms_T), units = program.split(terms), np.diag(program.A)[program.bilateral :: dimension]
    assert np.all(np.abs(u[: program.bilateral]) <= 1e-9 * terms[: program.bilateral])
    assert np.all(np.abs(np.minimum(u_N, P_N * units)) <= 1e-9 * terms_N) and np.all(P_N >= 0.0)
    reach = program.friction * P_N
    assert np.all(np.linalg.norm(P_T, axis=1) <= reach * (1 + 1e-9))
    lost = np.sum(P_T * u_T, axis=1) + reach * np.linalg.norm(u_T, axis=1)  # of maximal dissipation
    least = 1e-9 * np.max(np.abs(z))  # an impulse below is round-off
    assert np.all(np.abs(lost) <= 1e-9 * (reach + least) * np.linalg.norm(terms_T, axis=1))


def test_the_next_program_begins_with_the_last_impulses():
    """One QP suffices if the directions of friction are known."""
    program = random_program(3, 3, 2, 3)
    z, _ = solved(program, Osqp())
    again, programs = solved(program, Osqp(), z)
    assert programs == 1
    np.testing.assert_allclose(again, z, atol=1e-9 * np.max(np.abs(z)))


def test_a_diverged_program_has_no_solution():
    program = FrictionContact(np.eye(3), np.array([np.inf, 0.0, 0.0]), np.array([0.1]), dimension=3)
    assert contact_by_qps(program, np.zeros(3), Chain(Osqp()).answer, 1e-9) is None
