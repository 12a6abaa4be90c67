"""Finite elements of a body: its matrices, and which of their rows are the motion of its nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.settings import require


@dataclass(frozen=True, eq=False)
class SlenderPart:
    """A beam element within the degrees of freedom of a body, see `nonsmooth.flexible.beam.BeamElement`."""

    dofs: Any  #: (n,) its degrees of freedom
    nodes: tuple[int, int]  #: indices of its nodes
    geometric: Array  #: (n, n)
    axial: Array  #: (n,)
    stresses: Array | None  #: (2, c, n)


@dataclass(frozen=True, eq=False)
class MassPoints:
    """Mass at points within a body: of a beam element those of Gauss's rule, at which its integrals are exact."""

    dofs: Any  #: (n,) degrees of freedom that move them
    places: Array  #: (g, 3) [m]
    masses: Array  #: (g,) [kg]
    shapes: Array  #: (g, 3, n) displacements per degree of freedom


class WithNodes:
    """Base of bodies with nodes."""

    names: tuple[str, ...]

    def node(self, name: str) -> int:
        """Index of the node of that name; InputError for an unknown one."""
        if name not in self.names:
            raise InputError(f"There is no node {name!r}; the nodes are {', '.join(self.names)}.")
        return self.names.index(name)


@dataclass(frozen=True, eq=False)
class FiniteElements(WithNodes):
    """Mass and stiffness matrix of a free body, and where its nodes stand in them.

    Parameters
    ----------
    mass, stiffness : (d, d), symmetric, as `scipy.sparse.csr_array`
    names, places : (n,), (n, 3) [m], of the nodes
    translations, rotations : (n, 3)
        Degrees of freedom that are displacement and rotation of each node in the axes of the places; -1 where a node
        has no rotations. All others, such as curvatures, belong to the inside of the body.
    parts : beam elements, from which axial forces and stresses are recovered; may be empty
    points : where the mass is, of beam elements and of masses at nodes; empty for matrices of another program
    """

    mass: Any
    stiffness: Any
    names: tuple[str, ...]
    places: Array
    translations: Any
    rotations: Any
    parts: tuple[SlenderPart, ...] = ()
    points: tuple[MassPoints, ...] = ()

    @property
    def count(self) -> int:
        """Number d of degrees of freedom."""
        return int(self.mass.shape[0])

    def dofs(self, name: str) -> Any:
        """Degrees of freedom of a node: three displacements, and three rotations if it has these."""
        i = self.node(name)
        found = np.concatenate([self.translations[i], self.rotations[i]])
        return found[found >= 0]

    def rigid(self) -> Array:
        """Rigid motions (d, 6): translations along, and small rotations about, the axes through the origin."""
        R = np.zeros((self.count, 6))
        for i, (x, y, z) in enumerate(self.places):
            R[self.translations[i], :3] = np.eye(3)
            R[self.translations[i], 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
            if np.all(self.rotations[i] >= 0):
                R[self.rotations[i], 3:] = np.eye(3)
        return R

    def motions(self, shapes: Array) -> tuple[Array, Array]:
        """Translations and rotations (n, 3, m) of the nodes by shapes (d, m); zero where a node has no rotations."""
        rotations = np.zeros((len(self.names), 3, shapes.shape[1]))
        turning = np.all(self.rotations >= 0, axis=1)
        rotations[turning] = shapes[self.rotations[turning]]
        return shapes[self.translations], rotations

    def with_mass(
        self, node: str, mass: float, *, inertia: Any = (0.0, 0.0, 0.0), offset: Any = (0.0, 0.0, 0.0)
    ) -> "FiniteElements":
        """With a rigid mass at a node.

        InputError for an unknown node, a mass that is not positive, or an inertia or offset at a node without
        rotations.

        Parameters
        ----------
        mass, inertia : [kg], (3,) or (3, 3) [kg m^2], the inertia is about its own mass centre
        offset : (3,) [m], of its mass centre from the node
        """
        from scipy.sparse import coo_array

        J, d = np.asarray(inertia, dtype=float), np.asarray(offset, dtype=float)
        J = np.diag(J) if J.ndim == 1 else J
        require(mass > 0.0, f"The mass at node {node!r} must be a positive number [kg]", mass)
        dofs, S = self.dofs(node), np.array([[0.0, -d[2], d[1]], [d[2], 0.0, -d[0]], [-d[1], d[0], 0.0]])
        block = np.block([[mass * np.eye(3), -mass * S], [mass * S, J - mass * S @ S]])
        if len(dofs) == 3 and (np.any(d) or np.any(J)):
            raise InputError(f"Node {node!r} has no rotations, so that its mass can have neither inertia nor offset.")
        block = block[: len(dofs), : len(dofs)]
        shape = np.hstack([np.eye(3), -S])[None, :, : len(dofs)]
        point = MassPoints(dofs, (self.places[self.node(node)] + d)[None], np.array([mass]), shape)
        rows, columns = np.repeat(dofs, len(dofs)), np.tile(dofs, len(dofs))
        added = coo_array((block.ravel(), (rows, columns)), shape=self.mass.shape)
        return replace(self, mass=(self.mass + added).tocsr(), points=(*self.points, point))


def from_matrices(
    mass: Any, stiffness: Any, nodes: dict[str, Sequence[float]], *, translations: Any = None, rotations: Any = None
) -> FiniteElements:
    """Finite elements whose matrices come from another program.

    InputError for matrices of wrong or different shapes, not symmetric, or with stiffness against rigid motions.

    Parameters
    ----------
    mass, stiffness : (d, d), dense or sparse, symmetric, of the free body: rigid motions cost no energy
    nodes : place [m] of each node by its name
    translations, rotations : (n, 3), optional
        Degrees of freedom of each node, -1 for those that it has not. Where omitted, the degrees of freedom are those
        of the nodes in turn: six of each, displacements first, or three, as of solid elements.
    """
    from scipy.sparse import csr_array

    M, K, n = csr_array(mass), csr_array(stiffness), len(nodes)
    d = M.shape[0]
    if M.shape != (d, d) or K.shape != (d, d):
        raise InputError(f"Mass and stiffness must be square matrices of one size, got {M.shape} and {K.shape}.")
    if translations is None:
        if d not in (3 * n, 6 * n):
            raise InputError(
                f"{d} degrees of freedom are neither 3 nor 6 for each of {n} nodes; say by translations and rotations "
                "which belong to which node."
            )
        translations = d // n * np.arange(n)[:, None] + np.arange(3)
        rotations = translations + 3 if d == 6 * n else None
    if rotations is None:
        rotations = np.full((n, 3), -1)
    for name, matrix in (("Mass", M), ("Stiffness", K)):
        if abs(matrix - matrix.T).max() > 1e-9 * abs(matrix).max():
            raise InputError(f"{name} matrix is not symmetric; the difference is {abs(matrix - matrix.T).max():.2g}.")
    places = np.array([*nodes.values()], dtype=float).reshape(n, 3)
    found = FiniteElements(M, K, tuple(nodes), places, np.asarray(translations), np.asarray(rotations))
    R = found.rigid()
    moved, scale = abs(K @ R).max(axis=0), (abs(K) @ abs(R)).max(axis=0)
    if np.any(moved > 1e-6 * scale):
        worst = ("x", "y", "z", "rotation about x", "about y", "about z")[int(np.argmax(moved / scale))]
        raise InputError(
            f"The stiffness matrix resists rigid motions, most along {worst}; give the matrices of the free body, and "
            "places in the axes of its degrees of freedom."
        )
    return found


def assemble(*parts: FiniteElements) -> FiniteElements:
    """One body of several: nodes of equal name are joined rigidly; InputError if they are at different places."""
    from scipy.sparse import coo_array

    at: dict[str, tuple[Any, Any, Array]] = {}
    mass: list[tuple[Any, Any, Any]] = []
    stiffness: list[tuple[Any, Any, Any]] = []
    slender, points, total = [], [], 0
    for part in parts:
        to = np.full(part.count, -1)
        for i, name in enumerate(part.names):
            own = np.concatenate([part.translations[i], part.rotations[i]])
            if name in at:
                if np.linalg.norm(at[name][2] - part.places[i]) > 1e-9 * (1.0 + np.linalg.norm(part.places[i])):
                    raise InputError(
                        f"Node {name!r} is at {at[name][2].tolist()} m in one part and at {part.places[i].tolist()} m "
                        "in another; give nodes that are not joined different names."
                    )
                to[own] = np.concatenate(at[name][:2])
        free = to < 0
        to[free] = total + np.arange(np.count_nonzero(free))
        total += int(np.count_nonzero(free))
        for i, name in enumerate(part.names):
            at.setdefault(name, (to[part.translations[i]], to[part.rotations[i]], part.places[i]))
        order = list(at)
        for matrix, sums in ((part.mass, mass), (part.stiffness, stiffness)):
            entries = matrix.tocoo()
            sums.append((entries.data, to[entries.row], to[entries.col]))
        for one in part.parts:
            a, b = (order.index(part.names[node]) for node in one.nodes)
            slender.append(replace(one, dofs=to[one.dofs], nodes=(a, b)))
        points += [replace(one, dofs=to[one.dofs]) for one in part.points]
    M, K = (
        coo_array((np.concatenate([s[0] for s in sums]), tuple(np.concatenate([s[k] for s in sums]) for k in (1, 2))),
                  shape=(total, total)).tocsr()
        for sums in (mass, stiffness)
    )  # fmt: skip
    translations, rotations, places = (np.array([entry[k] for entry in at.values()]) for k in range(3))
    return FiniteElements(M, K, tuple(at), places, translations, rotations, tuple(slender), tuple(points))
