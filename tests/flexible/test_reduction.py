"""Reduction to modes: frequencies, exact deflections at the interface, stresses, damping, matrices from elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

from nonsmooth import InputError
from nonsmooth.flexible import (
    FiniteElements,
    Material,
    Modes,
    Rayleigh,
    Rectangle,
    Tube,
    assemble,
    beam,
    from_matrices,
    modes,
)

STEEL = Material(youngs=2.1e11, shear=8.1e10, density=7850.0)
LENGTH, SECTION = 0.6, Rectangle(0.02, 0.012)
NUMBERS = SECTION.section(STEEL)
METHODS = ("craig-bampton", "free")


def rod(elements=12, **options):
    return beam((0, 0, 0), (LENGTH, 0, 0), section=SECTION, material=STEEL, elements=elements,
                names={"start": 0, "middle": 0.5, "end": 1}, **options)  # fmt: skip


def frame():
    """Two beams at a right angle and a mass, off the axes of the body."""
    leg = beam((0, 0, 0), (0, 0.4, 0), section=SECTION, material=STEEL, elements=6, names={"start": 0, "knee": 1})
    arm = beam((0, 0.4, 0), (0.2, 0.4, 0.1), section=Tube(0.02, 0.015), material=STEEL, elements=4,
               names={"knee": 0, "end": 1}, prefix="arm")  # fmt: skip
    return assemble(leg, arm).with_mass("end", 0.2, inertia=(1e-4, 2e-4, 3e-4), offset=(0.01, 0.0, 0.02))


def motions(found: Modes, node):
    """Displacement and rotation (6, 6 + m) of a node by the rigid motions of the mean axes and by the modes."""
    i = found.node(node)
    x, y, z = found.places[i]
    arm = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
    rigid = np.block([[np.eye(3), arm], [np.zeros((3, 3)), np.eye(3)]])
    return np.hstack([rigid, np.vstack([found.translations[i], found.rotations[i]])])


def clamped_deflection(found: Modes, clamped, node, wrench):
    """Of a node under a wrench, another node clamped, in the six rigid motions and the modes."""
    C, B = motions(found, clamped), motions(found, node)
    n = B.shape[1]
    K = np.diag(np.concatenate([np.zeros(6), found.frequencies**2]))
    solved = np.linalg.solve(np.block([[K, C.T], [C, np.zeros((6, 6))]]), np.concatenate([B.T @ wrench, np.zeros(6)]))
    return B @ solved[:n], solved[:n]


def exact_deflection(elements: FiniteElements, clamped, node, wrench):
    free = np.setdiff1d(np.arange(elements.count), elements.dofs(clamped))
    load = np.zeros(elements.count)
    load[elements.dofs(node)] = wrench
    moved = np.zeros(elements.count)
    moved[free] = np.linalg.solve(elements.stiffness.toarray()[np.ix_(free, free)], load[free])
    return moved[elements.dofs(node)]


@pytest.mark.parametrize("method", METHODS)
def test_frequencies_of_a_free_rod(method):
    """Bending in both planes by its closed form: 1e-4 by free modes, 1e-3 by 10 modes of the fixed interface."""
    found = modes(rod(24), interface=["start", "end"], keep=10, damping=0.0, method=method)
    speed = np.sqrt(STEEL.youngs / STEEL.density)
    for second in (NUMBERS.Iy, NUMBERS.Iz):
        exact = (4.73004074 / LENGTH) ** 2 * speed * np.sqrt(second / NUMBERS.area)
        rtol = 1e-4 if method == "free" else 1e-3
        assert np.min(np.abs(found.frequencies - exact)) < rtol * exact
    assert found.mass == pytest.approx(STEEL.density * NUMBERS.area * LENGTH, rel=1e-12)
    np.testing.assert_allclose(found.centre, (LENGTH / 2, 0, 0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.inertia[1, 1], found.mass * LENGTH**2 / 12, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_mean_axes(method):
    """Momentum and angular momentum of the modes vanish: M is the unit matrix beside the rigid body's.

    By the mass matrix of the finite elements, all of whose degrees of freedom belong to nodes; the axes of the body are
    parallel to those of the elements.
    """
    elements = frame()
    found = modes(elements, interface=["start", "end"], keep=3, damping=0.0, method=method)
    whole = np.vstack([motions(found, name) for name in elements.names])
    order = np.concatenate([elements.dofs(name) for name in elements.names])
    reduced = whole.T @ elements.mass.toarray()[np.ix_(order, order)] @ whole
    expected = np.eye(len(reduced))
    expected[:3, :3] *= found.mass
    expected[3:6, 3:6] = found.inertia
    np.testing.assert_allclose(reduced, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("body", [rod, frame], ids=["rod", "frame"])
def test_deflection_at_the_interface_is_exact(body, method):
    """Any wrench at any interface node, another one clamped, with no mode kept at all: round-off of the solution."""
    elements, interface = body(), ["start", "knee" if body is frame else "middle", "end"]
    found = modes(elements, interface=interface, keep=0, damping=0.0, method=method)
    wrench = np.array([120.0, -70.0, 50.0, 3.0, -2.0, 4.0])
    for clamped, node in (("start", "end"), ("end", interface[1]), (interface[1], "start")):
        reduced, _ = clamped_deflection(found, clamped, node, wrench)
        np.testing.assert_allclose(reduced, exact_deflection(elements, clamped, node, wrench), rtol=1e-6)


def test_a_load_that_accelerates_the_body():
    """A force pushes a free rod from one end: ``u(end) - u(start) = F L / 2 E A`` with linear axial force.

    Exact with inertia-relief modes; Craig and Bampton's modes approach it, to 1 % with the first few.
    """
    F = 1000.0
    shortened = {}
    for method, keep in (("free", 0), ("craig-bampton", 0), ("craig-bampton", 40)):
        found = modes(rod(), interface=["start", "end"], keep=keep, damping=0.0, method=method)
        start, end = found.node("start"), found.node("end")
        eta = found.translations[start, 0] * F / found.frequencies**2
        shortened[method, keep] = (found.translations[start, 0] - found.translations[end, 0]) @ eta
    exact = F * LENGTH / (2 * STEEL.youngs * NUMBERS.area)
    assert shortened["free", 0] == pytest.approx(exact, rel=1e-8)
    assert shortened["craig-bampton", 40] == pytest.approx(exact, rel=1e-2)


def test_stresses_at_the_clamp():
    """A force P at the end of a cantilever: bending stress P L y / I at its root, and half of it in the middle."""
    P = 200.0
    elements = rod()
    found = modes(elements, interface=["start", "end"], keep=0, damping=0.0)
    _, solved = clamped_deflection(found, "start", "end", np.array([0.0, P, 0.0, 0.0, 0.0, 0.0]))
    stresses = found.stresses @ solved[6:]
    root = int(np.argmin(found.stations[:, 0]))
    y, z = found.components.index("bending y"), found.components.index("bending z")
    # a force along +y compresses the fibre at +y
    assert stresses[root, y] == pytest.approx(-P * LENGTH * 0.01 / NUMBERS.Iz, rel=1e-6)
    middle = np.argmin(np.abs(found.stations[:, 0]))
    assert stresses[middle, y] == pytest.approx(stresses[root, y] / 2, rel=1e-6)
    assert np.max(np.abs(stresses[:, z])) < 1e-6 * abs(stresses[root, y])


def test_axial_force_stiffens():
    """Pins apart by a force P: ``w^2 = w0^2 (1 + P L^2 / pi^2 E I)``, by the work of P on the shortening.

    The first mode is symmetric, so that the mean axes do not turn, and stay between the pins up to their mean
    displacement, which is one more unknown. To 1e-3: half sine by a few Craig-Bampton modes.
    """
    P = 5000.0
    found = modes(rod(), interface=["start", "end"], keep=8, damping=0.0, stiffening=True)
    start, end = found.node("start"), found.node("end")
    pins = np.vstack([[1.0, *found.translations[node, 1]] for node in (start, end)])
    allowed = np.linalg.svd(pins)[2][2:].T  # null space of the pins
    mass = allowed.T @ np.diag([found.mass, *np.ones(found.count)]) @ allowed

    def first(stiffness):
        K = np.zeros((found.count + 1, found.count + 1))
        K[1:, 1:] = stiffness
        squares, shapes = eigh(allowed.T @ K @ allowed, mass)
        symmetric = [i for i in range(len(squares)) if abs((allowed @ shapes)[0, i]) > 1e-3]
        return squares[symmetric[0]]

    x = found.shortening
    apart = x.translations[end, 0] - x.translations[start, 0]
    plain, stretched = np.diag(found.frequencies**2), -P * np.tensordot(apart, x.bending, 1)
    gain = first(plain + stretched) / first(plain)
    assert gain == pytest.approx(1 + P * LENGTH**2 / (np.pi**2 * STEEL.youngs * NUMBERS.Iz), rel=1e-3)


def test_spin_stiffens():
    """Of a rod that turns about its middle: ``integral of rho A (L^2 / 4 - x^2) / 2 phi'^2``, phi' at its nodes.

    By Simpson's rule over 200 elements, in each of which the axial force is constant: to 1e-3 of the largest entry.
    """
    elements = rod(200)
    whole, plain = (
        modes(elements, interface=["start", "end"], keep=4, damping=0.0, stiffening=on) for on in (True, False)
    )
    found = whole.in_plane()
    order = np.argsort(found.places[:, 0])
    x = found.places[order, 0]
    slopes = found.rotations[order, 2]
    force = STEEL.density * NUMBERS.area * (LENGTH**2 / 4 - x**2) / 2
    weights = np.ones(201)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    expected = np.einsum("n,ni,nj->ij", weights * force, slopes, slopes) * LENGTH / 200 / 3
    in_plane = plain.in_plane().changes.second - found.changes.second
    np.testing.assert_allclose(in_plane[2, 2], expected, rtol=0, atol=1e-3 * np.max(expected))
    spin = plain.changes.second - whole.changes.second
    np.testing.assert_allclose(spin[1, 1], spin[2, 2], rtol=0, atol=1e-9 * np.max(expected))  # about y as about z
    np.testing.assert_allclose(spin[0, 0], 0.0, rtol=0, atol=1e-9 * np.max(expected))


def test_damping():
    elements = rod(4)
    ratio = modes(elements, interface=["start", "end"], keep=1, damping=0.02)
    np.testing.assert_allclose(ratio.damping, 0.04 * ratio.frequencies, rtol=1e-14)
    rayleigh = modes(elements, interface=["start", "end"], keep=1, damping=Rayleigh(mass=2e-3, stiffness=3e-4))
    np.testing.assert_allclose(rayleigh.damping, 2e-3 + 3e-4 * rayleigh.frequencies**2, rtol=1e-14)


def test_matrices_from_elsewhere():
    """The same modes from the matrices and the places of the nodes alone."""
    elements = rod(4)
    nodes = dict(zip(elements.names, elements.places.tolist(), strict=True))
    again = from_matrices(elements.mass.toarray(), elements.stiffness.toarray(), nodes)
    options = {"interface": ["start", "end"], "keep": 3, "damping": 0.01}
    ours, theirs = modes(elements, **options), modes(again, **options)
    np.testing.assert_allclose(theirs.frequencies, ours.frequencies, rtol=1e-12)
    np.testing.assert_allclose(theirs.translations, ours.translations, rtol=0, atol=1e-9)
    assert theirs.stations.shape == (0, 3)


def test_nodes_without_rotations():
    """Four masses at the corners of a tetrahedron of springs: its six modes, and no rotations of its nodes."""
    k = 1e4
    places = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    K = np.zeros((12, 12))
    for i in range(4):
        for j in range(i):
            e = (places[i] - places[j]) / np.linalg.norm(places[i] - places[j])
            at = np.r_[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
            K[np.ix_(at, at)] += k * np.kron([[1, -1], [-1, 1]], np.outer(e, e))
    nodes = {f"n{i}": place for i, place in enumerate(places.tolist())}
    found = modes(from_matrices(0.5 * np.eye(12), K, nodes), interface=["n1"], keep=6, damping=0.0, method="free")
    assert found.count == 6 and found.mass == pytest.approx(2.0, rel=1e-12)
    exact = np.sqrt(eigh(K, 0.5 * np.eye(12), eigvals_only=True)[6:])
    np.testing.assert_allclose(found.frequencies, exact, rtol=1e-9)
    assert not np.any(found.rotations)


def test_planar_modes():
    """Of a rod along x the bending in x-y and the axial modes: bending in x-z and torsion are left out."""
    tube = beam((0, 0, 0), (LENGTH, 0, 0), section=Tube(0.02, 0.01), material=STEEL)
    found = modes(tube, interface=["start", "end"], keep=0, damping=0.0)
    # equal frequencies in both planes: 2 bending modes in each, 1 axial, 1 torsion
    assert found.count == 6 and found.in_plane().count == 3
    assert not np.any(found.in_plane().translations[:, 2])


@pytest.mark.parametrize("keep", range(6))
def test_equal_frequencies_stay_together(keep):
    """Of a square section, however many modes are kept: the clamped rod has its frequency in the plane to 1 %."""
    square = beam((0, 0, 0), (LENGTH, 0, 0), section=Rectangle(0.02, 0.02), material=STEEL)
    found = modes(square, interface=["start", "end"], keep=keep, damping=0.0).in_plane()
    i = found.node("start")
    fixed = np.vstack([[1, 0, 0, *found.translations[i, 0]],
                       [0, 1, found.places[i, 0], *found.translations[i, 1]],
                       [0, 0, 1, *found.rotations[i, 2]]])  # fmt: skip
    allowed = np.linalg.svd(fixed)[2][3:].T
    M = np.diag([found.mass, found.mass, found.inertia[2, 2], *np.ones(found.count)])
    K = np.diag([0, 0, 0, *found.frequencies**2])
    squares = eigh(allowed.T @ K @ allowed, allowed.T @ M @ allowed, eigvals_only=True)
    exact = (1.87510407 / LENGTH) ** 2 * np.sqrt(STEEL.youngs / STEEL.density) * 0.02 / np.sqrt(12)
    assert np.sqrt(squares[0]) == pytest.approx(exact, rel=0.01)


def test_a_skew_section_is_no_planar_body():
    skew = beam((0, 0, 0), (LENGTH, 0, 0), section=SECTION, material=STEEL, across=(0, 1, 1), elements=4)
    with pytest.raises(InputError, match="in the plane and across it"):
        modes(skew, interface=["start", "end"], keep=2, damping=0.0).in_plane()


def test_dense_and_sparse_eigensolvers_agree():
    """A long model is solved by Lanczos' method, with the same result to its tolerance."""
    options = {"interface": ["start", "end"], "damping": 0.0, "keep": 4}
    for method in METHODS:
        coarse, fine = (modes(rod(n), method=method, **options) for n in (8, 80))
        np.testing.assert_allclose(fine.frequencies[:4], coarse.frequencies[:4], rtol=2e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interface": ["nowhere"]}, "no node 'nowhere'"),
        ({"interface": ["start", "start"]}, "must differ"),
        ({"keep": -1}, "keep must be from 0"),
        ({"damping": -0.1}, "ratio >= 0"),
        ({"method": "guyan"}, '"craig-bampton" or "free"'),
        ({"interface": []}, "holds the body"),
    ],
)
def test_mistakes_are_told(options, message):
    with pytest.raises(InputError, match=message):
        modes(rod(2), **{"interface": ["start", "end"], "keep": 1, "damping": 0.0, **options})


def test_matrices_that_do_not_fit_are_told():
    elements = rod(1)
    nodes = dict(zip(elements.names, elements.places.tolist(), strict=True))
    M, K = elements.mass.toarray(), elements.stiffness.toarray()
    with pytest.raises(InputError, match="resists rigid motions"):
        from_matrices(M, K + 1e6 * np.eye(len(K)), nodes)
    with pytest.raises(InputError, match="not symmetric"):
        from_matrices(M, K + np.triu(np.full_like(K, 1e6)), nodes)
    with pytest.raises(InputError, match="neither 3 nor 6"):
        from_matrices(M[:-1, :-1], K[:-1, :-1], nodes)
    with pytest.raises(InputError, match="different names"):
        assemble(rod(1), replace(rod(1), places=rod(1).places + 1.0))
