"""How the inertia of a body changes with its deformation: integrals over its mass, and shortening by bending."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.flexible.finite_elements import FiniteElements

#: share of the mass up to which the mass at points is all of it
WHOLE = 1e-9


@dataclass(frozen=True, eq=False)
class Inertia:
    """Kinetic energy of a deformed body that turns, beyond that of the undeformed one.

    With the angular velocity omega of the axes in which the modes u = Phi eta are given, and the inertia J0 of the
    undeformed body about its mass centre ::

        T = 1/2 omega' J omega + omega . H eta' + 1/2 eta' . eta',    J = J0 + sum_k first_k eta_k
            + sum_jk second_jk eta_j eta_k,    H_k = turning_k + sum_j coupling_jk eta_j

    besides that of the mass centre: the displacement of the mass centre by modes is to be taken out of them.

    Parameters
    ----------
    first : (3, 3, m) [kg^1/2 m]
        ``integral of 2 X . Phi_k - X Phi_k' - Phi_k X'`` over the mass.
    second : (3, 3, m, m) [-]
        ``integral of Phi_j . Phi_k - Phi_j Phi_k'``, symmetric in both pairs, and what bending adds by shortening.
    coupling : (3, m, m) [-]
        ``integral of Phi_j x Phi_k``, antisymmetric in j, k.
    turning : (3, m) [kg^1/2 m]
        ``integral of X x Phi_k``; zero in axes of the mean motion.
    """

    first: Array
    second: Array
    coupling: Array
    turning: Array

    def kept(self, chosen: Array) -> "Inertia":
        """Of the chosen modes only, given by their indices."""
        return Inertia(
            self.first[..., chosen], self.second[..., chosen][:, :, chosen],
            self.coupling[..., chosen][:, chosen], self.turning[:, chosen],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Shortening:
    """Displacement of second order: a beam that bends by w shortens by the integral of w'^2 / 2.

    Node n is displaced by ``Phi eta + 1/2 sum_e translations_ne eta' bending_e eta``, and turned likewise. With it the
    axial strain is linear in the modes, and axial forces, of joints, loads and inertia, act on bending through the
    places at which they act: this is geometric stiffness.

    Parameters
    ----------
    bending : (e, m, m) [1 / (kg m)]
        ``integral of w'^2`` along each beam element.
    translations : (n, 3, e) [-]
        Displacement of each node, in axes of the mean motion, per unit of this.
    rotations : (n, 3, e) [1/m]
    """

    bending: Array
    translations: Array
    rotations: Array

    def kept(self, chosen: Array) -> "Shortening":
        """Of the chosen modes only, given by their indices."""
        return replace(self, bending=self.bending[:, chosen][:, :, chosen])


def inertia_of(elements: FiniteElements, centre: Array, shapes: Array) -> Inertia:
    """Integrals of modes (d, m) that are orthogonal to rigid motions in the mass matrix.

    Over the mass at the points of the elements, exact for beams; where these are not the whole mass, as with matrices
    of another program, what is left of the mass matrix is taken as mass at the nodes and between them:
    ``sum of m_nn' Phi_n Phi_n'`` with the mean m_nn' of the three directions, exact for solid elements and lumped mass,
    and to the square of their length for beams.
    Rotary inertia of sections and of masses at nodes counts as constant.
    """
    m = shapes.shape[1]
    by_place, by_pair = np.zeros((3, 3, m)), np.zeros((3, 3, m, m))  # of Phi_a X_b, and of Phi_ja Phi_kb
    for points in elements.points:
        moved = points.shapes @ shapes[points.dofs]  # (g, 3, m)
        by_place += np.einsum("g,gak,gb->abk", points.masses, moved, points.places - centre)
        weighted = (points.masses[:, None, None] * moved).transpose(1, 2, 0).reshape(3 * m, -1)
        by_pair += (weighted @ moved.reshape(len(moved), 3 * m)).reshape(3, m, 3, m).swapaxes(1, 2)
    rest = _at_nodes(elements)
    if rest is not None:
        moved, places = shapes[elements.translations], elements.places - centre
        heavy = (rest @ moved.reshape(len(places), -1)).reshape(moved.shape)
        by_place += np.einsum("nak,nb->abk", heavy, places)
        by_pair += np.einsum("naj,nbk->abjk", moved, heavy)
    unit = np.eye(3)
    first = 2.0 * np.multiply.outer(unit, np.einsum("aak->k", by_place))
    first -= by_place + by_place.swapaxes(0, 1)
    second = np.multiply.outer(unit, np.einsum("aajk->jk", by_pair))
    second -= (by_pair + by_pair.swapaxes(0, 1)) / 2.0
    second = (second + second.swapaxes(2, 3)) / 2.0
    # (Phi_j x Phi_k)_c of the antisymmetric part
    coupling = np.stack([by_pair[1, 2] - by_pair[2, 1], by_pair[2, 0] - by_pair[0, 2], by_pair[0, 1] - by_pair[1, 0]])
    return Inertia(first, second, (coupling - coupling.swapaxes(1, 2)) / 2.0, np.zeros((3, m)))


def _at_nodes(elements: FiniteElements) -> Array | None:
    """Masses (n, n) between nodes that those at points leave; None where these are all."""
    from scipy.sparse import csr_array

    x = elements.rigid()[:, 0]
    total, known = float(x @ (elements.mass @ x)), sum(float(np.sum(one.masses)) for one in elements.points)
    if abs(total - known) <= WHOLE * total:
        return None
    rest = elements.mass.copy()
    for one in elements.points:
        own = np.einsum("g,gai,gaj->ij", one.masses, one.shapes, one.shapes)
        rows, columns = np.repeat(one.dofs, len(one.dofs)), np.tile(one.dofs, len(one.dofs))
        rest = rest - csr_array((own.ravel(), (rows, columns)), shape=rest.shape)
    found: Array = sum(rest[dofs][:, dofs] for dofs in elements.translations.T) / 3.0
    return found


def shortening_of(
    elements: FiniteElements, centre: Array, shapes: Array, deflection: Callable[[Array], Array]
) -> tuple[Shortening, Array]:
    """Displacements of second order of the nodes, and what they add to the ``second`` of `Inertia`.

    The displacement u2 takes the axial strain w'^2 / 2 out of each beam: it is the deflection, in axes of the mean
    motion, under axial loads ``- E A w'^2 / 2`` in the beams. By reciprocity ``integral of F . u2`` of the centrifugal
    loads F of the undeformed body is the work of the axial forces of F on the beams' shortening.

    Parameters
    ----------
    deflection
        Under loads (d, n), balanced by the inertia of the rigid body, in axes of the mean motion.
    """
    pairs = [(a, b) for a in range(3) for b in range(a, 3)]
    turned = deflection(np.column_stack([_centrifugal(elements, centre, a, b) for a, b in pairs]))
    axial = np.zeros((elements.count, len(elements.parts)))
    bending, forces = (
        np.zeros((axial.shape[1], shapes.shape[1], shapes.shape[1])),
        np.zeros((axial.shape[1], len(pairs))),
    )
    for e, part in enumerate(elements.parts):
        own = shapes[part.dofs]
        bending[e], axial[part.dofs, e] = own.T @ part.geometric @ own, part.axial
        forces[e] = part.axial @ turned[part.dofs]
    added = np.zeros((3, 3, *bending.shape[1:]))
    for (a, b), force in zip(pairs, forces.T, strict=True):
        added[a, b] = added[b, a] = -np.tensordot(force, bending, 1)
    moved = -deflection(axial)
    rotations = np.zeros((len(elements.names), 3, axial.shape[1]))
    turning = np.all(elements.rotations >= 0, axis=1)
    rotations[turning] = moved[elements.rotations[turning]]
    return Shortening(bending, moved[elements.translations], rotations), added


def _centrifugal(elements: FiniteElements, centre: Array, a: int, b: int) -> Array:
    """Loads (d,) of the spin per omega_a omega_b: ``- M (A X)``, A the symmetric part of ``omega omega' - omega^2 1``.

    Over the mass at points; of matrices of another program there are no axial forces to be found.
    """
    A = -np.eye(3) * (a == b)
    A[a, b] += 0.5
    A[b, a] += 0.5
    loads = np.zeros(elements.count)
    for one in elements.points:
        loads[one.dofs] -= np.einsum("g,gai,ga->i", one.masses, one.shapes, (one.places - centre) @ A)
    return loads
