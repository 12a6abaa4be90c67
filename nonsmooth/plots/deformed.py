"""Flexible bodies as they are drawn: lines through their nodes, bent more than they are by a factor that is said.

Joints stay closed at any factor: what it magnifies is the deflection from the places at which joints hold a body.
Held at one node, that is the motion of this node, with its rotation where it is welded; at several the rigid motion
that fits theirs best, and what is left of them. A body that nothing holds is magnified about its mean frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.flexible.modes import Modes
from nonsmooth.model.flexible_bodies import FlexibleBody

#: points of a curve between two nodes
BETWEEN = 6


class Deformed:
    """Displacements of a body's nodes and of the curves between them, linear in the amplitudes of its modes.

    They are ``moved eta + factor bent eta``, in the frame of the body.

    Parameters
    ----------
    body
        The body.
    held
        Nodes at which joints hold it, and whether these hold its rotation too.

    Attributes
    ----------
    places : (k, 3) [m]
        Points of its curves, undeformed; none of a body without beams, which is drawn by its nodes alone.
    ends : (e,)
        Index behind the last point of each curve.
    moved, bent : (k, 3, m) [kg^(-1/2)]
        Of these points.
    nodes_bent, nodes_moved : (n, 3, m) [kg^(-1/2)]
        Of the nodes.
    """

    def __init__(self, body: FlexibleBody, held: Mapping[str, bool]) -> None:
        self.name, self.modes = body.name, body.modes
        modes = self.modes
        self.nodes_moved, turned = _rest(modes, [modes.node(name) for name in held], [*held.values()])
        self.nodes_bent = modes.translations - self.nodes_moved
        pairs = _beams(modes)
        share = np.linspace(0.0, 1.0, BETWEEN)
        self.ends = BETWEEN * np.arange(1, len(pairs) + 1)
        size = len(pairs) * BETWEEN
        self.places, self.moved, self.bent = np.zeros((size, 3)), *np.zeros((2, size, 3, modes.count))
        for k, (i, j) in enumerate(pairs):
            own, along = slice(k * BETWEEN, (k + 1) * BETWEEN), modes.places[j] - modes.places[i]
            self.places[own] = modes.places[i] + share[:, None] * along
            self.moved[own] = _between(share, self.nodes_moved[i], self.nodes_moved[j])
            slopes = [modes.rotations[one] - turned for one in (i, j)]
            self.bent[own] = _cubic(share, self.nodes_bent[i], self.nodes_bent[j], along, slopes)

    def largest(self, eta: Array) -> float:
        """The largest deflection [m] at amplitudes (n, m)."""
        return float(np.max(np.linalg.norm(np.einsum("idm,nm->nid", self.nodes_bent, eta), axis=2), initial=0.0))

    @property
    def extent(self) -> float:
        """Of its nodes [m]."""
        return float(np.linalg.norm(np.ptp(self.modes.places, axis=0)))

    def points(self, eta: Array, factor: float) -> Array:
        """Points of its curves (n, k, 3) [m] in its frame, with a gap after each curve."""
        if not len(self.places):
            return np.zeros((len(eta), 0, 3))
        found = self.places + np.einsum("kdm,nm->nkd", self.moved + factor * self.bent, eta)
        return np.insert(found, self.ends, np.nan, axis=1)

    def shift(self, node: int, eta: Array, factor: float) -> Array:
        """By how much (n, 3) [m] a node is drawn off its place, in the frame of the body."""
        return np.asarray((factor - 1.0) * np.einsum("dm,nm->nd", self.nodes_bent[node], eta))


def _beams(modes: Modes) -> list[tuple[int, int]]:
    """Pairs of nodes between which curves run: each to the nearest, the shortest lines that join all of them.

    The nodes of a beam are closer to each other than to those of others. None where nodes have no rotations, as those
    of solids.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import cdist

    if len(modes.names) < 2 or not np.any(modes.rotations):
        return []
    tree = minimum_spanning_tree(cdist(modes.places, modes.places)).tocoo()
    return sorted((int(min(pair)), int(max(pair))) for pair in zip(tree.row, tree.col, strict=True))


def _rest(modes: Modes, held: Sequence[int], welded: Sequence[bool]) -> tuple[Array, Array]:
    """Motion (n, 3, m) of all nodes that is not magnified, and the rotation (3, m) in it."""
    n, m = len(modes.names), modes.count
    if not held:
        return np.zeros((n, 3, m)), np.zeros((3, m))
    X, u = modes.places, modes.translations[held]
    if len(held) == 1:
        turned = modes.rotations[held[0]] if welded[0] else np.zeros((3, m))
        return u[0] + np.cross(turned.T[:, None], X - X[held[0]]).transpose(1, 2, 0), turned
    middle = X[held].mean(axis=0)
    rows = np.array([_arms(x - middle) for x in X])
    fitted = np.linalg.pinv(rows[held].reshape(-1, 6), rcond=1e-9) @ u.reshape(-1, m)
    moved = rows @ fitted
    left = u - moved[held]
    distance = np.linalg.norm(X[:, None] - X[held], axis=2)
    near = 1.0 / np.maximum(distance, 1e-12 * np.max(distance)) ** 2
    return moved + np.einsum("nh,hdm->ndm", near / near.sum(axis=1, keepdims=True), left), fitted[3:]


def _arms(arm: Array) -> Array:
    """Motion (3, 6) of a point with this arm per translation and rotation."""
    x, y, z = arm
    return np.hstack([np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]])


def _between(share: Array, a: Array, b: Array) -> Array:
    """From a to b along a straight line."""
    return np.asarray(a + share[:, None, None] * (b - a))


def _cubic(share: Array, a: Array, b: Array, along: Array, turned: Sequence[Array]) -> Array:
    """From a to b, across the line with the slopes of the rotations at both ends, and linear along it."""
    s, rise, unit = share[:, None, None], b - a, along / np.linalg.norm(along)
    first, last = (np.cross(one.T, along).T + np.outer(unit, unit) @ rise - rise for one in turned)
    return np.asarray(a + s * rise + s * (1 - s) ** 2 * first - s**2 * (1 - s) * last)
