"""Small deformations of a free body as a sum of modes, in axes that follow its mean motion."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.inertia import Inertia, Shortening

#: motion across the plane that is round-off, as a share of that in it
PLANAR = 1e-6


@dataclass(frozen=True, eq=False)
class Modes:
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
    centre : (3,) [m]
        Place of the mass centre in the axes of the finite elements.
    inertia : (3, 3) [kg m^2]
        About the mass centre, of the undeformed body.
    frequencies : (m,) [rad/s]
        Ascending, all > 0.
    damping : (m,) [1/s]
        Modal damping, ``2 zeta omega`` for a damping ratio zeta.
    names : (n,)
        Of the nodes.
    places : (n, 3) [m]
        Of the nodes, from the mass centre, undeformed.
    translations : (n, 3, m) [kg^(-1/2)]
        Displacement of each node per unit of eta.
    rotations : (n, 3, m) [rad / (m kg^(1/2))]
        Small rotation of each node per unit of eta.
    stations : (k, 3) [m]
        Places from the mass centre at which stresses are known; may be empty.
    stresses : (k, c, m) [Pa]
        Per unit of eta, for each of the components.
    components : (c,)
        Names of the components, such as ``"axial"``.
    changes
        How inertia changes with deformation, or None where it is taken as constant.
    shortening
        Of beams by bending, or None where it is left out.
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
        n, m = len(self.names), len(self.frequencies)
        shapes = {
            "centre": (3,), "inertia": (3, 3), "frequencies": (m,), "damping": (m,), "places": (n, 3),
            "translations": (n, 3, m), "rotations": (n, 3, m),
        }  # fmt: skip
        for name, shape in shapes.items():
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != shape or not np.all(np.isfinite(value)):
                raise InputError(
                    f"{name} of modes must be finite numbers of shape {shape} for {n} nodes and {m} modes, got shape "
                    f"{value.shape}."
                )
            object.__setattr__(self, name, value)
        self._check_second_order(n, m)
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

    def _check_second_order(self, n: int, m: int) -> None:
        """Raise InputError unless the inertia and the shortening of a deformed body are of these nodes and modes."""
        found: dict[str, tuple[Any, tuple[int, ...]]] = {}
        if self.changes is not None:
            of = self.changes
            found |= {"first": (of.first, (3, 3, m)), "second": (of.second, (3, 3, m, m)),
                      "coupling": (of.coupling, (3, m, m)), "turning": (of.turning, (3, m))}  # fmt: skip
        if self.shortening is not None:
            by = self.shortening
            e = len(by.bending)
            found |= {"bending": (by.bending, (e, m, m)), "translations": (by.translations, (n, 3, e)),
                      "rotations": (by.rotations, (n, 3, e))}  # fmt: skip
        for name, (value, shape) in found.items():
            if np.shape(value) != shape or not np.all(np.isfinite(value)):
                raise InputError(
                    f"{name} of the second order of modes must be finite numbers of shape {shape} for {n} nodes and "
                    f"{m} modes, got shape {np.shape(value)}."
                )

    @property
    def count(self) -> int:
        """Number m of modes."""
        return len(self.frequencies)

    def node(self, name: str) -> int:
        """Index of the node of that name.

        Raises
        ------
        InputError
            For an unknown name.
        """
        if name not in self.names:
            raise InputError(f"There is no node {name!r}; the nodes are {', '.join(self.names)}.")
        return self.names.index(name)

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
        """With the chosen modes only.

        Parameters
        ----------
        chosen
            Their indices, a slice, or m values true or false.
        """
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

        A mode belongs to the plane if its nodes move along z, and turn about x and y, by less than 1e-6 of what they
        do in the plane, both in proportion to the size of the body.

        Raises
        ------
        InputError
            If a mode moves nodes both in the plane and across it: the body is not symmetric about the plane.
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
