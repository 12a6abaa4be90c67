"""Independence of constraints, and least motions: part by part as for the whole mechanism, dense."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from loops import each

from nonsmooth import Ground, Model, PlanarBody, Revolute
from nonsmooth.model import redundancy
from nonsmooth.model.evaluate import ConstraintRows
from nonsmooth.model.redundancy import Directions, weighted


def random_directions(seed: int) -> Directions:
    """Joints of one to three rows between random bodies; some rows repeat others, some move nothing."""
    rng = np.random.default_rng(seed)
    bodies, joints = int(rng.integers(2, 9)), int(rng.integers(1, 11))
    sizes = rng.integers(1, 4, joints)
    ends = np.array([rng.choice(bodies + 1, 2, replace=False) for _ in range(joints)])
    a, b = (np.repeat(ends[:, side], sizes) for side in (0, 1))
    J_a, J_b = (rng.normal(size=(a.size, 3)) * (side > 0)[:, None] for side in (a, b))
    for row in range(1, a.size):
        other = int(rng.integers(row))
        if rng.random() < 0.2 and (a[row], b[row]) == (a[other], b[other]):
            J_a[row], J_b[row] = 2.0 * J_a[other], 2.0 * J_b[other]
    if rng.random() < 0.2:
        J_a[-1] = J_b[-1] = 0.0
    masses = np.array([np.diag(rng.uniform(0.1, 10.0, 3)) for _ in range(bodies)])
    rows = ConstraintRows(np.zeros(a.size), J_a, J_b, np.zeros(a.size), a, b)
    return weighted(rows, masses, np.cumsum([0, *sizes])[:-1])


MANY = redundancy.MANY


def dense(found: Directions) -> np.ndarray:
    """All directions as columns, by all bodies."""
    matrix = np.zeros((3 * len(found.factors), found.a.size))
    for row in range(found.a.size):
        for D, body in ((found.D_a[row], found.a[row]), (found.D_b[row], found.b[row])):
            matrix[3 * body : 3 * body + 3, row] = D
    return matrix


@each("seed", range(200))
def test_redundant_rows_are_those_that_the_whole_matrix_shows(seed, monkeypatch):
    monkeypatch.setattr(redundancy, "MANY", 1 if seed % 2 else MANY)  # of odd ones the sparse factor is asked first
    found = random_directions(seed)
    D, redundant = dense(found), found.redundant()
    ranks = [np.linalg.matrix_rank(D[:, :k], tol=redundancy.RANK) for k in range(found.a.size + 1)]
    assert sorted(redundant) == np.flatnonzero(np.diff(ranks) == 0).tolist()
    for row, others in redundant.items():  # a combination of these, and not of fewer
        assert not set(others) & redundant.keys() and max(others, default=-1) < row
        shares = np.linalg.lstsq(D[:, others], D[:, row])[0]
        assert np.allclose(D[:, others] @ shares, D[:, row], rtol=0.0, atol=1e-9) and np.all(np.abs(shares) > 1e-6)


@each("seed", range(100))
def test_the_least_change_is_that_of_the_whole_matrix(seed, monkeypatch):
    monkeypatch.setattr(redundancy, "MANY", 1 if seed % 2 else MANY)
    found = random_directions(seed)
    wanted = np.random.default_rng(seed).normal(size=found.a.size)
    x = np.linalg.lstsq(dense(found).T, wanted / found.norms, rcond=1e-12)[0].reshape(len(found.factors), 3)
    expected = np.einsum("bji,bj->bi", found.factors, x)[1:].ravel()
    assert found.least_change(wanted) == pytest.approx(expected, rel=1e-8, abs=1e-8 * max(1.0, np.abs(expected).max()))


def arch(n: int, *, closed: bool = False, off: float = 0.0) -> Model:
    """Links in a row along a half circle, joined by pins; `closed` pins the last one to the ground as well."""
    angles = np.linspace(np.pi, 0.0, n + 1)
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    half = float(np.linalg.norm(points[1] - points[0])) / 2
    rng, model = np.random.default_rng(1), Model([Ground()])
    for i, (start, end) in enumerate(zip(points, points[1:], strict=False)):
        place = (start + end) / 2 + off * rng.normal(size=2)
        turn = float(np.arctan2(*(end - start)[::-1]))
        model.add(PlanarBody(f"link{i}", 0.1, 0.1 * half**2 / 3, tuple(place), turn))
        before, at_a = (f"link{i - 1}", (half, 0.0)) if i else ("ground", (-1.0, 0.0))
        model.add(Revolute(f"pin{i}", before, f"link{i}", at_a=at_a, at_b=(-half, 0.0)))
    if closed:
        model.add(Revolute("last", f"link{n - 1}", "ground", at_a=(half, 0.0), at_b=(1.0, 0.0)))
    return model


def test_a_long_tree_needs_no_matrix(monkeypatch):
    monkeypatch.setattr(Directions, "_dense", None)
    monkeypatch.setattr(Directions, "_sparse", None)
    assert arch(400).build().ng == 800


def test_a_long_loop_is_assembled_and_found_independent_by_sparse_factors(monkeypatch):
    monkeypatch.setattr(Directions, "_dense", None)
    system = arch(300, closed=True, off=1e-5).build(assemble=True)
    at = system.elementwise.placed(system.start.q, system.start.v, system.parameter_values)
    assert np.abs(system.elementwise.constraints(0.0, at, system.parameter_values)[1]).max() < 1e-9


def test_one_constraint_too_many_is_found_in_a_long_chain():
    model = arch(200)
    (pin,) = (element for element in model.elements if element.name == "pin151")
    model.add(dataclasses.replace(pin, name="twin"))
    assert [str(row) for row in model.build().redundant] == [
        '"twin.x" follows from "pin151"',
        '"twin.y" follows from "pin151"',
    ]
