"""Small deformations of a free body as a sum of modes, in axes that follow its mean motion."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.finite_elements import FiniteElements, WithNodes

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
        """Data of the chosen modes only, given by their indices."""
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
    translations : (n, 3, e) [-], displacement of each node, in axes of the mean motion, per unit of this
    rotations : (n, 3, e) [1/m]
    """

    bending: Array
    translations: Array
    rotations: Array

    def kept(self, chosen: Array) -> "Shortening":
        """Data of the chosen modes only, given by their indices."""
        return replace(self, bending=self.bending[:, chosen][:, :, chosen])


def inertia_of(elements: FiniteElements, centre: Array, shapes: Array) -> Inertia:
    """Integrals of modes (d, m) that are orthogonal to rigid motions, over the mass at the points of the elements.

    Where these are not the whole mass, as with matrices of another program, the rest of the mass matrix is taken as
    ``sum of m_nn' Phi_n Phi_n'`` with the mean m_nn' of the three directions, exact for solid elements and lumped mass,
    and to the square of their length for beams. Rotary inertia of sections and of masses at nodes counts as constant.
    """
    from scipy.sparse import csr_array

    m = shapes.shape[1]
    by_place, by_pair = np.zeros((3, 3, m)), np.zeros((3, 3, m, m))  # of Phi_a X_b, and of Phi_ja Phi_kb
    for points in elements.points:
        moved = points.shapes @ shapes[points.dofs]  # (g, 3, m)
        by_place += np.einsum("g,gak,gb->abk", points.masses, moved, points.places - centre)
        weighted = (points.masses[:, None, None] * moved).transpose(1, 2, 0).reshape(3 * m, -1)
        by_pair += (weighted @ moved.reshape(len(moved), 3 * m)).reshape(3, m, 3, m).swapaxes(1, 2)
    x = elements.rigid()[:, 0]
    total, known = float(x @ (elements.mass @ x)), sum(float(np.sum(one.masses)) for one in elements.points)
    if abs(total - known) > WHOLE * total:
        left = elements.mass.copy()
        for one in elements.points:
            own = np.einsum("g,gai,gaj->ij", one.masses, one.shapes, one.shapes)
            rows, columns = np.repeat(one.dofs, len(one.dofs)), np.tile(one.dofs, len(one.dofs))
            left = left - csr_array((own.ravel(), (rows, columns)), shape=left.shape)
        rest: Array = sum(left[dofs][:, dofs] for dofs in elements.translations.T) / 3.0
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


def shortening_of(
    elements: FiniteElements, centre: Array, shapes: Array, deflection: Callable[[Array], Array]
) -> tuple[Shortening, Array]:
    """Displacements of second order of the nodes, and what they add to the ``second`` of `Inertia`.

    The displacement u2 takes the axial strain w'^2 / 2 out of each beam: it is the deflection, in axes of the mean
    motion, under axial loads ``- E A w'^2 / 2`` in the beams. By reciprocity ``integral of F . u2`` of the centrifugal
    loads F of the undeformed body is the work of the axial forces of F on the beams' shortening.
    """
    pairs = [(a, b) for a in range(3) for b in range(a, 3)]
    loads, (e, m) = np.zeros((elements.count, len(pairs))), (len(elements.parts), shapes.shape[1])
    for pair, (a, b) in enumerate(pairs):
        # of the spin per omega_a omega_b: - M (A X), A the symmetric part of omega omega' - omega^2 1
        A = -np.eye(3) * (a == b)
        A[a, b] += 0.5
        A[b, a] += 0.5
        for one in elements.points:
            loads[one.dofs, pair] -= np.einsum("g,gai,ga->i", one.masses, one.shapes, (one.places - centre) @ A)
    turned = deflection(loads)
    axial, bending, forces = np.zeros((elements.count, e)), np.zeros((e, m, m)), np.zeros((e, len(pairs)))
    for e, part in enumerate(elements.parts):
        own = shapes[part.dofs]
        bending[e], axial[part.dofs, e] = own.T @ part.geometric @ own, part.axial
        forces[e] = part.axial @ turned[part.dofs]
    added = np.zeros((3, 3, *bending.shape[1:]))
    for (a, b), force in zip(pairs, forces.T, strict=True):
        added[a, b] = added[b, a] = -np.tensordot(force, bending, 1)
    return Shortening(bending, *elements.motions(-deflection(axial))), added


#: motion across the plane that is round-off, as a share of that in it
PLANAR = 1e-6


@dataclass(frozen=True, eq=False)
class Modes(WithNodes):
    """Small deformations ``u(X) = Phi(X) eta`` of a free body in axes that follow its mean motion.

    Modes have unit modal mass and are orthogonal to the rigid motions in the mass matrix (Buckens' mean axes, through
    the mass centre). The body that they make has an inertia that changes with its deformation, by `changes`; without
    them it has the constant M = diag(mass, inertia, 1). The free equations of small vibrations are::

        eta_k'' + damping_k eta_k' + frequencies_k^2 eta_k = translations[n, :, k] . f + rotations[n, :, k] . t

    for a force f [N] and a torque t [N m] at node n, both in body axes. The axes are parallel to those in which the
    finite elements were given. The coordinates eta have the unit m kg^(1/2).

    A planar body uses the same: see `in_plane`, which keeps the modes in the x-y plane.

    Parameters
    ----------
    mass : [kg]
    centre : (3,) [m], place of the mass centre in the axes of the finite elements
    inertia : (3, 3) [kg m^2], about the mass centre, of the undeformed body
    frequencies : (m,) [rad/s], ascending, all > 0
    damping : (m,) [1/s], modal damping, ``2 zeta omega`` for a damping ratio zeta
    names, places : (n,), (n, 3) [m], of the nodes; places from the mass centre, undeformed
    translations, rotations : (n, 3, m) [kg^(-1/2)], (n, 3, m) [rad / (m kg^(1/2))]
        Displacement and small rotation of each node per unit of eta.
    stations : (k, 3) [m], places from the mass centre at which stresses are known; may be empty
    stresses, components : (k, c, m) [Pa], (c,)
        Per unit of eta, for each of the components; their names, such as ``"axial"``.
    changes : how inertia changes with deformation, or None where it is taken as constant
    shortening : of beams by bending, or None where it is left out
    """

    mass: float
    centre: Array
    inertia: Array
    frequencies: Array
    damping: Array
    names: tuple[str, ...]
    places: Array
    translations: Array
    rotations: Array
    stations: Array = field(default_factory=lambda: np.zeros((0, 3)))
    stresses: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    components: tuple[str, ...] = ()
    changes: Inertia | None = None
    shortening: Shortening | None = None

    def __post_init__(self) -> None:
        n, m, e = len(self.names), len(self.frequencies), 0 if self.shortening is None else len(self.shortening.bending)
        of_self = {"centre": (3,), "inertia": (3, 3), "frequencies": (m,), "damping": (m,), "places": (n, 3),
                   "translations": (n, 3, m), "rotations": (n, 3, m)}  # fmt: skip
        of_changes = {"first": (3, 3, m), "second": (3, 3, m, m), "coupling": (3, m, m), "turning": (3, m)}
        of_shortening = {"bending": (e, m, m), "translations": (n, 3, e), "rotations": (n, 3, e)}
        owners = ((self, of_self, ""), (self.changes, of_changes, "the second order of "),
                  (self.shortening, of_shortening, "the second order of "))  # fmt: skip
        for owner, shapes, order in owners:
            for name, shape in shapes.items() if owner is not None else ():
                value = np.asarray(getattr(owner, name), dtype=float)
                if value.shape != shape or not np.all(np.isfinite(value)):
                    raise InputError(
                        f"{name} of {order}modes must be finite numbers of shape {shape} for {n} nodes and {m} modes, "
                        f"got shape {value.shape}."
                    )
                object.__setattr__(owner, name, value)
        if self.stresses.shape[2] != m:
            if self.stresses.size:
                raise InputError(f"stresses of modes must have the last length {m}, got {self.stresses.shape}.")
            object.__setattr__(self, "stresses", np.zeros((0, 0, m)))
        if not self.mass > 0.0 or np.any(np.linalg.eigvalsh(self.inertia) < 0.0):
            raise InputError(
                f"Modes need a mass > 0 and an inertia that is not negative, got {self.mass} kg and "
                f"{self.inertia.tolist()} kg m^2."
            )
        if np.any(self.frequencies <= 0.0) or np.any(self.damping < 0.0):
            raise InputError(
                f"Modes need frequencies > 0 and damping >= 0, got {self.frequencies.tolist()} rad/s and "
                f"{self.damping.tolist()} 1/s; rigid motions are no modes."
            )

    @property
    def count(self) -> int:
        """Number m of modes."""
        return len(self.frequencies)

    def moved(self, name: str, eta: Any) -> tuple[Array, Array]:
        """Displacement (3,) [m] and rotation (3,) [rad] of a node at the amplitudes eta (m,), shortening included."""
        i, eta = self.node(name), np.asarray(eta, dtype=float)
        moved, turned = self.translations[i] @ eta, self.rotations[i] @ eta
        if self.shortening is not None:
            shorter = np.einsum("eij,i,j->e", self.shortening.bending, eta, eta) / 2.0
            moved = moved + self.shortening.translations[i] @ shorter
            turned = turned + self.shortening.rotations[i] @ shorter
        return moved, turned

    def kept(self, chosen: Any) -> "Modes":
        """With the chosen modes only: their indices, a slice, or m values true or false."""
        every = np.arange(self.count)[chosen]
        changes = None if self.changes is None else self.changes.kept(every)
        shortening = None if self.shortening is None else self.shortening.kept(every)
        return replace(
            self, frequencies=self.frequencies[every], damping=self.damping[every],
            translations=self.translations[:, :, every], rotations=self.rotations[:, :, every],
            stresses=self.stresses[:, :, every], changes=changes, shortening=shortening,
        )  # fmt: skip

    def in_plane(self) -> "Modes":
        """With the modes that move the nodes in the x-y plane, as a planar body needs them.

        A mode belongs to the plane if its nodes move along z, and turn about x and y, by less than 1e-6 of what they do
        in the plane, both in proportion to the size of the body. InputError if a mode moves nodes both in the plane and
        across it: the body is not symmetric about the plane.
        """
        size = max(float(np.max(np.linalg.norm(self.places, axis=1))), np.finfo(float).tiny)
        within = np.linalg.norm(self.translations[:, :2], axis=(0, 1))
        within += size * np.linalg.norm(self.rotations[:, 2], axis=0)
        across = np.linalg.norm(self.translations[:, 2], axis=0)
        across += size * np.linalg.norm(self.rotations[:, :2], axis=(0, 1))
        planar, other = across < PLANAR * within, within <= PLANAR * across
        if not np.all(planar | other):
            worst = int(np.argmin(planar | other))
            raise InputError(
                f"A planar body needs modes in the x-y plane, but the one at {self.frequencies[worst]:.6g} rad/s moves "
                "nodes in the plane and across it; place beams and the axes of their sections in or across the plane."
            )
        found = self.kept(planar)
        translations, rotations = found.translations.copy(), found.rotations.copy()
        translations[:, 2], rotations[:, :2] = 0.0, 0.0
        return replace(found, translations=translations, rotations=rotations)
