"""Beam elements: frequencies and deflections against closed forms, in any direction, and what axial forces add."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

from nonsmooth import InputError
from nonsmooth.flexible import CrossSection, Material, Rectangle, Tube, assemble, beam

ALUMINIUM = Material(youngs=70e9, shear=26.5e9, density=2700.0)
LENGTH, SECTION = 0.8, Rectangle(0.03, 0.02)
NUMBERS = SECTION.section(ALUMINIUM)
#: entries of a node's displacements and rotations; bending in the x-y plane moves y and turns about z
ALONG, TWIST, ACROSS, SLOPE = 0, 3, 1, 5


def bar(elements=20, **options):
    return beam((0, 0, 0), (LENGTH, 0, 0), section=SECTION, material=ALUMINIUM, elements=elements, **options)


def held(found, **ends):
    """Frequencies [rad/s], ascending, with degrees of freedom of the ends fixed."""
    fixed = {found.dofs(name)[i] for name, indices in ends.items() for i in indices}
    free = [i for i in range(found.count) if i not in fixed]
    M, K = found.mass[free][:, free], found.stiffness[free][:, free]
    return np.sqrt(np.maximum(eigh(K.toarray(), M.toarray(), eigvals_only=True), 0.0))


def bending(found, **ends):
    """Of bending in the x-y plane alone: all else is fixed at both ends and, along the beam, without effect on it."""
    shapes = found.translations[:, 1].tolist() + found.rotations[:, 2].tolist()
    inner = sorted(set(range(found.count)) - set(found.translations.ravel()) - set(found.rotations.ravel()))
    free = sorted({*shapes, *inner[2::3]} - {found.dofs(name)[i] for name, at in ends.items() for i in at})
    M, K = found.mass[free][:, free].toarray(), found.stiffness[free][:, free].toarray()
    return np.sqrt(np.maximum(eigh(K, M, eigvals_only=True), 0.0))


@pytest.mark.parametrize(
    ("ends", "rigid", "roots"),
    [
        ({"start": (ACROSS, SLOPE)}, 0, (1.87510407, 4.69409113, 7.85475744)),
        ({"start": (ACROSS,), "end": (ACROSS,)}, 0, (np.pi, 2 * np.pi, 3 * np.pi)),
        ({}, 2, (4.73004074, 7.85320462, 10.99560784)),
    ],
    ids=["cantilever", "pinned", "free"],
)
@pytest.mark.parametrize(("element", "elements"), [("cubic", 20), ("quintic", 5)])
def test_bending_frequencies(ends, rigid, roots, element, elements):
    """First three of Euler and Bernoulli's theory to 1e-4, with 20 cubic or 5 quintic elements."""
    exact = np.square(np.array(roots) / LENGTH) * np.sqrt(
        ALUMINIUM.youngs * NUMBERS.Iz / (ALUMINIUM.density * NUMBERS.area)
    )
    found = bending(bar(elements, element=element), **ends)
    assert np.max(found[:rigid], initial=0.0) < 1e-3 * exact[0]
    np.testing.assert_allclose(found[rigid : rigid + 3], exact, rtol=1e-4)


@pytest.mark.parametrize("element", ["cubic", "quintic"])
@pytest.mark.parametrize("what", ["axial", "torsion"])
def test_axial_and_torsional_frequencies(element, what):
    """Of a clamped bar: (2 k - 1) pi c / 2 L. Linear shape functions err by (k h)^2 / 24: 170 elements for 1e-4.

    Cubic ones, of the twist of the quintic element, need 6.
    """
    inertia = ALUMINIUM.density * (NUMBERS.Iy + NUMBERS.Iz)
    speed = {
        "axial": np.sqrt(ALUMINIUM.youngs / ALUMINIUM.density),
        "torsion": np.sqrt(ALUMINIUM.shear * NUMBERS.J / inertia),
    }[what]
    elements = 6 if (element, what) == ("quintic", "torsion") else 170
    found = bar(elements, element=element)
    offset = {"axial": ALONG, "torsion": TWIST}[what]
    nodes = {"axial": found.translations[:, 0], "torsion": found.rotations[:, 0]}[what].tolist()
    inner = sorted(set(range(found.count)) - set(found.translations.ravel()) - set(found.rotations.ravel()))
    free = sorted({*nodes, *(inner[::3] if what == "torsion" else ())} - {found.dofs("start")[offset]})
    M, K = found.mass[free][:, free].toarray(), found.stiffness[free][:, free].toarray()
    frequencies = np.sqrt(eigh(K, M, eigvals_only=True, subset_by_index=(0, 2)))
    np.testing.assert_allclose(frequencies, np.array([0.5, 1.5, 2.5]) * np.pi * speed / LENGTH, rtol=1e-4)


def test_timoshenko_between_pins():
    """``E I k^4 - w^2 rho (A + I k^2 (1 + E / kappa G)) + w^4 rho^2 I / kappa G = 0`` for a sine with k = n pi / L.

    A beam five times as long as high, whose frequencies are 4 to 20 % below Euler and Bernoulli's. To 1e-4 with 140
    elements: those much shorter than the beam is high err by the square of their length, as linear ones do.
    """
    length, section = 0.2, Rectangle(0.04, 0.02)
    numbers = section.section(ALUMINIUM)
    E, G, rho, A, second = ALUMINIUM.youngs, 5 / 6 * ALUMINIUM.shear, ALUMINIUM.density, numbers.area, numbers.Iz
    k = np.arange(1, 4) * np.pi / length
    quadratic = [(rho**2 * second / G, -rho * (A + second * w**2 * (1 + E / G)), E * second * w**4) for w in k]
    exact = np.sqrt([min(np.roots(coefficients)) for coefficients in quadratic])
    found = beam((0, 0, 0), (length, 0, 0), section=section, material=ALUMINIUM, elements=140, timoshenko=True)
    np.testing.assert_allclose(bending(found, start=(ACROSS,), end=(ACROSS,))[:3], exact, rtol=1e-4)


def test_timoshenko_tip_load():
    """A load P bends a cantilever by ``P L^3 / 3 E I + P L / kappa G A`` and turns its end by ``P L^2 / 2 E I``.

    Exact for any number of elements: their shape functions are the static solution.
    """
    found = bar(2, timoshenko=True)
    free = np.arange(6, found.count)
    load = np.zeros(found.count)
    load[found.dofs("end")[ACROSS]] = 100.0
    moved = np.linalg.solve(found.stiffness.toarray()[np.ix_(free, free)], load[free])
    EI, GA = ALUMINIUM.youngs * NUMBERS.Iz, 5 / 6 * ALUMINIUM.shear * NUMBERS.area
    expected = 100.0 * (LENGTH**3 / (3 * EI) + LENGTH / GA), 100.0 * LENGTH**2 / (2 * EI)
    assert moved[found.dofs("end")[[ACROSS, SLOPE]] - 6] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("element", ["cubic", "quintic"])
def test_a_beam_in_any_direction(element):
    """Same frequencies, no stiffness against rigid motions, its mass and its inertia, to round-off."""
    end = np.array([0.48, -0.36, 0.53])
    skew = beam((0.1, 0.2, 0.3), end + (0.1, 0.2, 0.3), section=SECTION, material=ALUMINIUM, elements=4,
                across=(0.3, 1.0, 0.2), element=element)  # fmt: skip
    level = beam((0, 0, 0), (np.linalg.norm(end), 0, 0), section=SECTION, material=ALUMINIUM, elements=4,
                 element=element)  # fmt: skip
    clamped = range(6)
    np.testing.assert_allclose(held(skew, start=clamped)[:8], held(level, start=clamped)[:8], rtol=1e-8)
    R = skew.rigid()
    assert np.max(np.abs(skew.stiffness @ R)) < 1e-12 * np.max(np.abs(skew.stiffness))
    mass = ALUMINIUM.density * NUMBERS.area * np.linalg.norm(end)
    np.testing.assert_allclose((R.T @ (skew.mass @ R))[:3, :3], mass * np.eye(3), rtol=1e-12, atol=1e-12 * mass)


def test_a_mass_at_the_tip():
    """As heavy as the beam: 1 + cos x cosh x + x (cos x sinh x - sin x cosh x) = 0."""
    x = brentq(lambda x: 1 + np.cos(x) * np.cosh(x) + x * (np.cos(x) * np.sinh(x) - np.sin(x) * np.cosh(x)), 1.0, 1.5)
    linear = ALUMINIUM.density * NUMBERS.area
    exact = (x / LENGTH) ** 2 * np.sqrt(ALUMINIUM.youngs * NUMBERS.Iz / linear)
    found = bending(bar().with_mass("end", linear * LENGTH), start=(ACROSS, SLOPE))
    assert found[0] == pytest.approx(exact, rel=1e-5)


def test_a_mass_beside_a_node():
    """Its moment arm and inertia are in the rigid motions: mass, first moments, inertia about the origin."""
    loaded = bar(1).with_mass("end", 2.0, inertia=(0.1, 0.2, 0.3), offset=(0.1, 0.2, 0.3))
    R = bar(1).rigid()
    added = R.T @ ((loaded.mass - bar(1).mass) @ R)
    place = np.array([LENGTH + 0.1, 0.2, 0.3])
    inertia = np.diag([0.1, 0.2, 0.3]) + 2.0 * (place @ place * np.eye(3) - np.outer(place, place))
    np.testing.assert_allclose(added[3:, 3:], inertia, rtol=0, atol=1e-12)
    np.testing.assert_allclose(added[:3, :3], 2.0 * np.eye(3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("element", ["cubic", "quintic"])
def test_two_beams_joined_end_to_end_are_one(element):
    first, second = (
        beam((a, 0, 0), (b, 0, 0), section=SECTION, material=ALUMINIUM, elements=2, names=names, prefix=f"{a}.",
             element=element)
        for a, b, names in ((0.0, 0.3, {"start": 0, "joint": 1}), (0.3, LENGTH, {"joint": 0, "end": 1}))
    )  # fmt: skip
    whole = assemble(first, second)
    assert whole.names[0] == "start" and whole.names.count("joint") == 1
    grid = [0.0, 0.15 / LENGTH, 0.3 / LENGTH, 0.55 / LENGTH, 1.0]
    expected = held(bar(grid, element=element), start=range(6))[:6]
    # curvatures at the joint are those of each beam, so that the joined quintic ones are a little less stiff
    np.testing.assert_allclose(held(whole, start=range(6))[:6], expected, rtol=1e-9 if element == "cubic" else 1e-3)


def test_a_stepped_beam_keeps_its_moment():
    """Tip load on a clamped beam of two sections, quintic: ``integral of P s^2 / E I`` by Mohr, exact."""
    thick, thin, half, P = Rectangle(0.03, 0.02), Rectangle(0.02, 0.02), LENGTH / 2, 100.0
    found = beam((0, 0, 0), (LENGTH, 0, 0), section=[thick, thin], material=ALUMINIUM, elements=2, element="quintic")
    free = np.setdiff1d(np.arange(found.count), found.dofs("start"))
    load = np.zeros(found.count)
    load[found.dofs("end")[ACROSS]] = P
    moved = np.zeros(found.count)
    moved[free] = np.linalg.solve(found.stiffness.toarray()[np.ix_(free, free)], load[free])
    E = ALUMINIUM.youngs
    mohr = P * (
        (LENGTH**3 - half**3) / (3 * E * thick.section(ALUMINIUM).Iz) + half**3 / (3 * E * thin.section(ALUMINIUM).Iz)
    )
    assert moved[found.dofs("end")[ACROSS]] == pytest.approx(mohr, rel=1e-9)


@pytest.mark.parametrize(
    ("spin", "exact"),
    [
        (0, (3.51601527, 22.03449156, 61.697214)),
        (1, (3.68164681, 22.18101115)),
        (2, (4.13731957, 22.61492196)),
        (3, (4.79727853, 23.32026367)),
        (5, (6.44954475, 25.44608036)),
    ],
)
def test_a_turning_cantilever(spin, exact):
    """Flapwise frequencies, as the spin in units of sqrt(E I / rho A L^4): axial force rho A w^2 (L^2 - s^2) / 2.

    To 1e-4 with 40 elements, in each of which the force is constant.
    """
    found = bar(40)
    unit = np.sqrt(ALUMINIUM.youngs * NUMBERS.Iz / (ALUMINIUM.density * NUMBERS.area)) / LENGTH**2
    K = found.stiffness.toarray()
    for i, part in enumerate(found.parts):
        a, b = i * LENGTH / 40, (i + 1) * LENGTH / 40
        mean = LENGTH**2 - (a * a + a * b + b * b) / 3
        force = ALUMINIUM.density * NUMBERS.area * (spin * unit) ** 2 * mean / 2
        K[np.ix_(part.dofs, part.dofs)] += force * part.geometric
    free = [i for i in (*found.translations[:, 1], *found.rotations[:, 2]) if i >= 6]
    squares = eigh(K[np.ix_(free, free)], found.mass.toarray()[np.ix_(free, free)], eigvals_only=True)
    np.testing.assert_allclose(np.sqrt(squares[: len(exact)]) / unit, exact, rtol=1e-4)


def test_torsion_of_rectangles():
    """Saint-Venant: J = 0.140577 a^4 of a square, largest stress T / 0.208175 a^3; a b^3 / 3 of a thin strip."""
    square = Rectangle(0.01, 0.01).section(ALUMINIUM)
    assert square.J == pytest.approx(0.140577e-8, rel=1e-5)
    assert square.J / square.fibres[2] == pytest.approx(0.208175e-6, rel=1e-4)
    strip = Rectangle(1.0, 1e-3).section(ALUMINIUM)
    assert strip.J == pytest.approx(1e-9 / 3 * (1 - 0.63025e-3), rel=1e-6)


def test_a_tube_is_the_difference_of_two_circles():
    tube, outer, inner = (Tube(*sizes).section(ALUMINIUM) for sizes in ((0.025, 0.01), (0.025,), (0.01,)))
    for name in ("area", "Iy", "Iz", "J"):
        assert getattr(tube, name) == pytest.approx(getattr(outer, name) - getattr(inner, name), rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elements": 0}, "at least one element"),
        ({"elements": [0.0, 0.6, 0.4, 1.0]}, "must ascend"),
        ({"element": "linear"}, '"cubic", or "quintic"'),
        ({"across": (1.0, 0.0, 0.0)}, "parallel"),
        ({"names": {"far": 1.5}}, "between 0 and 1"),
    ],
)
def test_mistakes_are_told(options, message):
    with pytest.raises(InputError, match=message):
        bar(**options)


def test_timoshenko_needs_shear_coefficients():
    with pytest.raises(InputError, match="shear coefficients"):
        beam((0, 0, 0), (1, 0, 0), section=CrossSection(1e-4, 1e-9, 1e-9, 2e-9), material=ALUMINIUM, timoshenko=True)
    with pytest.raises(InputError, match="positive"):
        Rectangle(0.0, 0.02)
    with pytest.raises(InputError, match="inner < outer"):
        Tube(0.01, 0.02)


def test_a_material_has_numbers():
    with pytest.raises(InputError, match="youngs of a Material must be a positive number, got 'x'"):
        Material(youngs="x", shear=1.0, density=1.0)
