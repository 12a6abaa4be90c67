"""The 6-RSS robot with elastic links as in its paper, and the paper's random clearance vectors."""

import numpy as np
import pytest

from nonsmooth import InputError
from nonsmooth_problems.six_rss_elastic import elastic, frequencies
from nonsmooth_problems.six_rss_elastic_facts import ELASTIC_FACTS, link_frequencies
from nonsmooth_problems.six_rss_random import displacement, paper_random, virtual_lengths
from nonsmooth_problems.six_rss_structure import Structure, links

CLEARANCE = 0.25e-3
STRUCTURE, LINKS, _ = ELASTIC_FACTS


@pytest.mark.parametrize(
    "group", [STRUCTURE, pytest.param(LINKS, marks=pytest.mark.slow)], ids=lambda group: group.name
)
def test_known_facts(group):
    """Frequencies of links to 0.1 %, of the robot to 1 %, largest displacements of the platform in 2 s to 5 %."""
    measured = group.measure()
    assert set(measured) == {fact.name for fact in group.entries}
    for fact in group.entries:
        assert measured[fact.name] == pytest.approx(fact.expected, rel=0, abs=fact.tolerance), fact.name


def test_one_element_per_link_is_enough_for_its_first_frequency():
    """Closed forms: (1.8751041 / L)^2 sqrt(E I / rho A) of the crank, (pi / L)^2 sqrt(E I / rho A) of the rod."""
    speed = np.sqrt(70e9 / 2700.0) / (2 * np.pi)
    crank = (1.87510407 / 0.216) ** 2 * speed * 0.02 / np.sqrt(12)
    rod = (np.pi / 0.5) ** 2 * speed * np.sqrt(0.025**2 + 0.01**2) / 4
    assert link_frequencies() == pytest.approx((crank, rod), rel=1e-3)


def test_rods_spin_freely_anywhere_on_the_path():
    for time in (0.1, 0.25, 0.75):
        assert np.sum(frequencies(time) < 1e-2) == 6


def test_half_the_step_gives_the_same_motion():
    """The step of the paper resolves the motion: 0.3 s from rest, to 1 % of the largest displacement."""
    coarse, fine = (elastic(gravity=0.0, duration=0.3, dt=dt) for dt in (1e-3, 5e-4))
    np.testing.assert_allclose(
        fine.u[::2, 0, :3], coarse.u[:, 0, :3], rtol=0, atol=0.01 * np.max(coarse.largest[0, :3])
    )


def test_it_starts_at_rest_from_the_static_deflection():
    """The part by the weights is that of six cantilevers that carry a platform by rods of constant length.

    At the end of each crank act the rod, half its own weight, and 3/8 of the crank's, which deflect it as the
    distributed weight does. Elongation of the links is left out, which is 1 % of the deflection.
    """
    weighed, weightless = (elastic(gravity=gravity, duration=1e-3) for gravity in (9.81, 0.0))
    assert not np.any(weighed.v[0]) and not np.any(weighed.a[0])
    structure = Structure.at(np.zeros(1), 9.81)
    along, e, arms = structure.along[0, :, 0], structure.along[0, :, 1], structure.arms[0]
    rods, cranks = 2700 * np.pi / 4 * (0.025**2 - 0.01**2) * 0.5, 2700 * 0.04 * 0.02 * 0.216
    down = np.array([0.0, 0.0, -9.81])
    rows = np.hstack([e, np.cross(arms, e)])
    pushes = np.linalg.solve(rows.T, -np.concatenate([(1.366 + 3 * rods) * down, np.zeros(3)]))
    at_knee = -pushes[:, None] * e + (rods / 2 + 3 / 8 * cranks) * down
    shaft = np.cross([0.0, 0.0, 1.0], along)
    shaft /= np.linalg.norm(shaft, axis=1)[:, None]
    knees = np.zeros((6, 3))
    for across, second in ((np.cross(along, shaft), 0.04 * 0.02**3 / 12), (shaft, 0.02 * 0.04**3 / 12)):
        knees += np.sum(across * at_knee, axis=1)[:, None] * across * 0.216**3 / (3 * 70e9 * second)
    sag = np.linalg.solve(rows, np.sum(e * knees, axis=1))
    found = weighed.u[0, 0] - weightless.u[0, 0]
    assert found[2] == pytest.approx(sag[2], rel=0.01)
    # three pairs of equal legs: the platform sinks without moving aside
    assert np.max(np.abs(found[:2])) < 1e-6 * abs(found[2])


def test_the_first_order_displacement_closes_the_loops():
    """Rods have their virtual lengths up to terms of second order, c^2 / 0.05 m."""
    structure = Structure.at(np.array([0.1]), 0.0)
    virtual = virtual_lengths(5, CLEARANCE, structure, 0, np.random.default_rng(1))
    moved = displacement(structure, 0, virtual)
    for s in range(5):
        balls = moved[:3, s] + np.cross(moved[3:, s], structure.arms[0])
        knees = virtual[:, 0, s, None] * structure.along[0, :, 0]
        lengths = np.linalg.norm(0.5 * structure.along[0, :, 1] + balls - knees, axis=1)
        np.testing.assert_allclose(lengths - 0.5, virtual[:, 1, s], rtol=0, atol=CLEARANCE**2 / 0.05)


def test_virtual_lengths_change_masses_and_stiffnesses_little():
    """Those of the changed element itself, to second order: (3 c / L)^2."""
    own = links()
    for kind, length in enumerate((0.216, 0.5)):
        axial = own.stiffness[kind][0, 0]
        longer = axial + CLEARANCE * own.stiffness_change[kind][0, 0]
        assert longer == pytest.approx(axial * length / (length + CLEARANCE), rel=(3 * CLEARANCE / length) ** 2)
        assert abs(own.mass_change[kind][0, 0]) * length < 1e-6 * own.mass[kind][0, 0]  # the same mass


def test_random_vectors_are_seeded():
    first, again, other = (paper_random(clearance=CLEARANCE, seeds=2, seed=s, duration=0.01) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.acceleration, again.acceleration)
    assert np.all(first.displaced != other.displaced)


def test_random_vectors_are_no_motion():
    """Difference quotients double with half the step: successive places are independent. 40 seeds, 10 %."""
    coarse, fine = (
        paper_random(clearance=CLEARANCE, seeds=40, duration=0.02, dt=dt).moved.mean(axis=0) for dt in (1e-3, 5e-4)
    )
    np.testing.assert_allclose(fine / coarse, 2.0, rtol=0.1)


def test_printed_figures_lie_between_what_the_equations_can_mean():
    """Mean velocities with virtual lengths in the matrices are 30 times less, as rigid links 10 times more."""
    printed = np.array([1.4934e-3, 1.0358e-3, 6.1585e-3])
    run = paper_random(clearance=CLEARANCE, seeds=5, duration=0.2)
    assert np.all(30 * run.velocity[:, :3].mean(axis=0) < printed)
    assert np.all(run.moved[:, :3].mean(axis=0) > 10 * printed)


def test_mistakes_are_told():
    with pytest.raises(InputError, match="whole number of steps"):
        elastic(duration=0.0105)
    with pytest.raises(InputError, match="clearance > 0"):
        paper_random(clearance=0.0)
    with pytest.raises(InputError, match="too large for small changes"):
        paper_random(clearance=0.3, seeds=1, duration=0.01)
