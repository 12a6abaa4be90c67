"""Inertia that changes with deformation: against point masses on springs, whose equations are Lagrange's."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, Model, PlanarFlexibleBody, SpatialFlexibleBody, simulate
from nonsmooth.diagnostics import momentum
from nonsmooth.flexible import Material, Tube, beam, from_matrices, modes
from nonsmooth.model.frames import rotation_matrix
from nonsmooth.trajectory.instants import RowMotion, hermite

#: places and masses, as far from symmetry as they can be
PLACES = {
    2: np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.3, 0.8, 0.0], [1.2, 0.9, 0.0]]),
    3: np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.2], [0.3, 0.8, -0.1], [0.4, 0.2, 0.9]]),
}
MASSES = np.array([1.0, 2.0, 0.5, 1.5])


def masses_on_springs(dimension: int):
    """Four of them, each joined to each by a spring; in the plane with springs across it besides."""
    places, K = PLACES[dimension], np.zeros((12, 12))
    for i in range(4):
        for j in range(i):
            along = (places[i] - places[j]) / np.linalg.norm(places[i] - places[j])
            row = np.zeros(12)
            row[3 * i : 3 * i + 3], row[3 * j : 3 * j + 3] = along, -along
            K += (1.0 + i + 2 * j) * 1e3 * np.outer(row, row)
    if dimension == 2:  # resists the one deformation across the plane
        row = np.zeros(12)
        row[2::3] = np.linalg.svd(np.vstack([np.ones(4), places[:, :2].T]))[2][3]
        K += 1e3 * np.outer(row, row)
    elements = from_matrices(np.diag(np.repeat(MASSES, 3)), K, {f"n{i}": x for i, x in enumerate(places)})
    kept = modes(elements, interface=(), keep=6, damping=0.0, method="free")
    return (PlanarFlexibleBody if dimension == 2 else SpatialFlexibleBody), kept


def state(cls, kept):
    """A body that turns and vibrates, its deformation a tenth of its size; with its rates."""
    random, count = np.random.default_rng(1), cls("body", kept).count
    eta, rate = 0.05 * random.normal(size=count), random.normal(size=count)
    turn = 2.0 if cls is PlanarFlexibleBody else (2.0, -1.0, 3.0)
    velocity = (0.3, -0.2) if cls is PlanarFlexibleBody else (0.3, -0.2, 0.1)
    body = cls("body", kept, velocity=velocity, angular_velocity=turn, deformation=eta, deformation_rate=rate)
    return body, np.concatenate([velocity, np.atleast_1d(turn), rate])


@pytest.mark.parametrize("dimension", [2, 3])
def test_point_masses_are_accelerated_as_by_lagranges_equations(dimension: int) -> None:
    """With all their modes they are the masses themselves, to round-off of 1e-12: kinetic energy and accelerations.

    In Lagrange's equations a are three parameters of Cayley's map, by which R turns with 2 a' where a = 0.
    """
    cls, kept = masses_on_springs(dimension)
    body, rates = state(cls, kept)
    system, m, d = Model([body]).build(), body.count, dimension
    turns, found = len(body.axes), body.modes
    c, c_rate = ca.SX.sym("c", d + turns + m), ca.SX.sym("c_rate", d + turns + m)
    if d == 2:
        R = ca.vertcat(ca.horzcat(ca.cos(c[2]), -ca.sin(c[2])), ca.horzcat(ca.sin(c[2]), ca.cos(c[2])))
    else:
        R = rotation_matrix(ca.vertcat(1, c[3:6]))
    places = [c[:d] + R @ (found.places[i, :d] + found.translations[i, :d] @ c[-m:]) for i in range(4)]
    moving = [ca.jtimes(place, c, c_rate) for place in places]
    kinetic = sum(mass * ca.sumsqr(one) / 2 for mass, one in zip(MASSES, moving, strict=True))
    strain = ca.sumsqr(found.frequencies * c[-m:]) / 2
    momenta = ca.gradient(kinetic, c_rate)
    force = ca.gradient(kinetic - strain, c) - ca.jtimes(momenta, c, c_rate)
    change = ca.solve(ca.jacobian(momenta, c_rate), force)
    expected = ca.vertcat(*(ca.jtimes(one, c, c_rate) + ca.jacobian(one, c_rate) @ change for one in moving))
    reference = ca.Function("reference", [c, c_rate], [expected, kinetic])
    at = np.concatenate([np.zeros(d + turns), system.start.q[-m:]])
    rates[d : d + turns] /= 1.0 if d == 2 else 2.0
    accelerations, energy = (np.array(one).ravel() for one in reference(at, rates))

    q, v, f, p = system.start.q, system.start.v, system.numeric, system.parameter_values
    M, h = f.M(q, p)[0], f.h(0.0, q, v, p)[0]
    assert v @ M @ v / 2 == pytest.approx(energy[0], rel=1e-12)
    Q, V = ca.SX.sym("q", system.nq), ca.SX.sym("v", system.nv)
    velocities = ca.vertcat(*(body.node_placement(f"n{i}", Q, V)[0].twist[:d] for i in range(4)))
    along, by_v = ca.jtimes(velocities, Q, system.B(Q) @ V), ca.jacobian(velocities, V)
    found_here = ca.Function("found", [Q, V], [along + by_v @ np.linalg.solve(M, h)])
    assert np.array(found_here(q, v)).ravel() == pytest.approx(accelerations, abs=1e-12 * np.max(np.abs(accelerations)))


@pytest.mark.parametrize("cls", [PlanarFlexibleBody, pytest.param(SpatialFlexibleBody, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["craig-bampton", "free"])
def test_a_free_spinning_beam_keeps_energy_and_moment_of_momentum(cls, method: str) -> None:
    """A turn near its first frequency, deflected by 1 mm: to 1e-9 at rtol 1e-11; the moment in the ground frame."""
    rod = beam(
        (0, 0, 0), (1, 0, 0), section=Tube(0.02, 0.01), material=Material(1e9, 4e8, 2700.0), elements=4,
        names={"left": 0, "right": 1},
    )  # fmt: skip
    nodes = ("left", "right") if method == "craig-bampton" else ()
    kept = modes(rod, interface=nodes, keep=4, damping=0.0, method=method)
    kept = kept.kept(kept.frequencies < 250.0)
    eta = np.full(cls("rod", kept).count, 1.2e-3)
    spin = 60.0 if cls is PlanarFlexibleBody else (1.0, 2.0, 60.0)
    body = cls("rod", kept, angular_velocity=spin, deformation=eta)
    control = ErrorControl(1e-11, 1e-13, 1e-9, 1e-2)
    run = simulate(Model([body]).build(), EventDriven(), t_end=0.1, dt=control)
    energy, moment = run.energy["kinetic"] + run.energy["potential"], momentum(run).total_angular
    assert energy == pytest.approx(energy[0], rel=1e-9)
    size = np.linalg.norm(np.atleast_2d(moment.T)[:, 0])
    assert np.max(np.abs(moment - moment[0])) < 1e-9 * size


def test_what_is_left_of_a_mass_matrix_is_mass_at_the_nodes() -> None:
    """Consistent beams as matrices of another program, whose rotations move mass too: to the square of their length.

    Of the largest entries, 4 % with 20 elements and a quarter of that with 40, to a tenth.
    """
    material, errors = Material(2.1e11, 8e10, 7850.0), []
    for number in (20, 40):
        rod = beam((0, 0, 0), (1, 0.5, 0), section=Tube(0.02, 0.01), material=material, elements=number)
        other = from_matrices(rod.mass, rod.stiffness, dict(zip(rod.names, rod.places, strict=True)))
        one, two = (
            modes(elements, interface=("start", "end"), keep=2, damping=0.0, stiffening=False).changes
            for elements in (rod, other)
        )
        assert one is not None and two is not None
        pairs = [(getattr(one, name), getattr(two, name)) for name in ("first", "second", "coupling")]
        errors.append([np.max(np.abs(a - b)) / np.max(np.abs(a)) for a, b in pairs])
    assert np.max(errors[0]) < 0.05
    assert np.max(errors[1]) == pytest.approx(np.max(errors[0]) / 4, rel=0.1)


@pytest.mark.parametrize("dimension", [2, 3])
def test_motion_between_rows_is_that_of_its_coordinates(dimension: int) -> None:
    """Of order 4: half the distance of rows, 1/16 of the error, and 1/8 of that of velocities, to a quarter of these.

    Velocities come back at rows; second rates are the central difference, of step 1e-5, of the first to 1e-7.
    """
    cls, kept = masses_on_springs(dimension)
    body, _ = state(cls, kept)
    run = simulate(Model([body]).build(), EventDriven(), t_end=0.02, dt=ErrorControl(1e-12, 1e-14, 1e-9, 1e-4))
    coordinates = RowMotion(run).coordinates
    q, v = run.q.array, run.v.array
    back = coordinates.closed(q, coordinates.rates(q, v))
    assert np.max(np.abs(back[1] - v)) < 1e-12 * np.max(np.abs(v))
    system = Model([body]).build()
    p, f = system.parameter_values, system.numeric
    a = np.linalg.solve(f.M(q[0], p)[0], f.h(0.0, q[0], v[0], p)[0])[None]
    first, step = coordinates.rates(q[:1], v[:1]), 1e-5
    ahead, behind = (coordinates.rates(q[:1] + d * first, v[:1] + d * a) for d in (step, -step))
    second = coordinates.second_rates(q[:1], v[:1], a)
    assert (ahead - behind) / (2 * step) == pytest.approx(second, abs=1e-7 * np.max(np.abs(second)))
    errors = []
    for apart in (16, 8):
        ends = [(y[::apart][:-1], y[::apart][1:]) for y in (q, coordinates.rates(q, v))]
        h = np.diff(run.t[::apart])
        middle = np.arange(apart // 2, len(q) - apart // 2, apart)[: len(h)]
        share = (run.t[middle] - run.t[::apart][:-1]) / h
        found = coordinates.closed(*hermite(share, h, ((ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]))))
        errors.append([np.max(np.abs(a - b)) for a, b in ((found[0], q[middle]), (found[1], v[middle]))])
    assert errors[1][0] < errors[0][0] / 12
    assert errors[1][1] < errors[0][1] / 6
