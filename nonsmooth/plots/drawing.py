"""Drawings of a mechanism: the primitives of its elements and the positions of its bodies, for a system or a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import coordinates
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.modes import Modes
from nonsmooth.model import drawing as primitive
from nonsmooth.model.bodies import Body
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.contacts import Contact
from nonsmooth.model.drawing import Primitive, Solid, Spot, Vector
from nonsmooth.model.elements import Element
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.joints import Fixed, Joint
from nonsmooth.model.kinds import element_kinds
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.plots.labels import round_length
from nonsmooth.trajectory import Trajectory

BODIES_ACROSS = 6.0  # a symbol's size is a share of the picture's, but not of more than so many bodies
BEARING, BLOCK = 6.0, 3.0  # radius of a bearing and half height of a block without one, in symbol units
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
PLAY = 0.45  # share of the bearing's radius, or of the block's half height, that the largest clearance is magnified to
#: share of a flexible body's extent that its largest deflection is magnified to; a smaller one is round-off
BENT, ROUND_OFF = 0.08, 1e-9
PATH = 400  # times at which the path of a mass centre is drawn, at least
BETWEEN = 6  # points of a curve between two nodes


@dataclass(frozen=True, eq=False)
class Drawn:
    """An element with its parameter values and its primitives."""

    element: Element
    p: SimpleNamespace
    primitives: tuple[Primitive, ...]

    def gap_names(self) -> tuple[str, ...]:
        """Names of the gaps of a contact; none of another element."""
        return self.element.gap_names() if isinstance(self.element, Contact) else ()


@dataclass(frozen=True, eq=False)
class Drawing:
    """Elements of a mechanism in order, and the positions of its bodies."""

    parts: tuple[Drawn, ...]
    placed: Placed
    between: Placed | None = None  # the bodies at many times, for the paths of their mass centres

    @property
    def dimension(self) -> int:
        return self.placed.dimension

    def primitives(self, *kinds: type[Primitive]) -> list[Any]:
        """Primitives of all elements, or those of some classes."""
        return [one for part in self.parts for one in part.primitives if isinstance(one, kinds or Primitive)]

    def attachments(self) -> dict[str, list[Array]]:
        """For each body, and what is not one, the points at which elements other than loads hold it, in its frame."""
        found: dict[str, list[Array]] = {body: [] for body in self.placed.bodies}
        for one in self.primitives():
            for spot in () if one.load or isinstance(one, Solid) else one.spots():
                at = np.array(spot.at or (0.0,) * self.dimension)
                body, place = self.placed.carried.get(spot.body, (spot.body, np.zeros(self.dimension)))
                found.setdefault(body, []).append(place + at)
                if isinstance(one, primitive.Dot) and one.corner and self.dimension == 2:
                    found[body].append(-(place + at))  # a block has as much above as below
        return found

    @cached_property
    def outlines(self) -> dict[str, Array]:
        """Points (k, d) of each body, in its frame, each once: what holds it, and its mass centre."""
        found, attached = {}, self.attachments()
        bars = {*self.placed.bodies} - {one.spot.body for one in self.primitives(primitive.Round)}
        for body in self.placed.bodies:  # a planar one with a single pin is taken for a bar as long on the other side
            points = np.unique(np.round(np.array([*attached[body], np.zeros(self.dimension)]), 12), axis=0)
            if len(points) == 2 and self.dimension == 2 and body in bars:
                points = np.unique(np.concatenate([points, -points]), axis=0)
            found[body] = points
        return found

    @cached_property
    def _places(self) -> Array:
        """Ground places (k, d) of all bodies and surfaces at all times."""
        placed, d = self.placed, self.dimension
        ground = {body: np.array(points) for body, points in self.attachments().items() if body not in placed.bodies}
        found = [placed.points(body, points).reshape(-1, d) for body, points in (self.outlines | ground).items()]
        for one in self.primitives():
            if isinstance(one, primitive.Guide) and d == 2:
                block = SQUARE * np.array([one.length, one.height]) / 2 @ np.array([one.along_b, one.across_b])
                found.append(placed.points(one.b.body, block + np.array(one.b.at or (0.0, 0.0))).reshape(-1, d))
                continue
            if isinstance(one, primitive.Round | primitive.Box | primitive.Cylinder | primitive.Ellipsoid):
                middle = placed.spot(one.spot)
            elif isinstance(one, primitive.Bearing | primitive.Guide) and d == 3:
                middle = placed.spot(one.b)
            else:
                continue
            if isinstance(one, primitive.Box):
                reach = max(one.edges) / 2
            elif isinstance(one, primitive.Ellipsoid):
                reach = float(np.linalg.norm(one.semi_axes, axis=1).max())
            elif isinstance(one, primitive.Guide):
                reach = max(one.length, one.height, one.width) / 2
            else:
                reach = max(one.radius, 0.0 if isinstance(one, primitive.Round) else one.length / 2)
            steps = reach * np.eye(d)
            found += [middle + step for step in (*steps, *-steps)]
        for solid in self.primitives(Solid):
            points = np.concatenate(solid.seen) if d == 2 else solid.points
            ends = np.array([points.min(axis=0), points.max(axis=0)])
            corners = np.stack(np.meshgrid(*ends.T, indexing="ij"), axis=-1).reshape(-1, d)
            found.append(placed.points(solid.spot.body, corners).reshape(-1, d))
        return np.concatenate([*found, np.zeros((0 if found else 1, d))])

    @property
    def sized(self) -> bool:
        """Whether it has a size; a lone body without joints has none."""
        return bool(np.any(np.ptp(self._places, axis=0) > 0))

    @cached_property
    def cloud(self) -> Array:
        """Ground places (k, d) of all bodies and surfaces at all times, and corners about a body without a size."""
        at = self._places
        return at if self.sized else np.concatenate([at, at[:1] - 0.1, at[:1] + 0.1])

    @property
    def size(self) -> float:
        """The largest extent of the whole [m]."""
        return float(np.max(np.ptp(self.cloud, axis=0)))

    @cached_property
    def grain(self) -> float:
        """Length of which symbols are hundredths [m]: the size of the whole, but of some bodies' at most."""
        extents = [float(np.linalg.norm(np.ptp(points, axis=0))) for points in self.outlines.values()]
        known = [extent for extent in extents if extent > 0]
        across = [BODIES_ACROSS * float(np.median(known))] if known else []
        return min([self.size if self.sized else 5.0 * self.size, *across])

    @property
    def vertical(self) -> int:
        """The axis that stands upright: in space the one along which gravity acts, else the last."""
        fields = [one.acceleration for one in self.primitives(primitive.Field) if any(one.acceleration)]
        return int(np.argmax(np.abs(fields[0]))) if fields and self.dimension == 3 else self.dimension - 1

    @property
    def loose(self) -> bool:
        """Whether there are joints with clearance, which are drawn magnified."""
        return bool(self.primitives(primitive.Bearing, primitive.Guide))

    @cached_property
    def shaped(self) -> set[str]:
        """Bodies that are drawn by their shapes."""
        return {one.spot.body for one in self.primitives(Solid)} - {*self.flexible}

    @cached_property
    def flexible(self) -> dict[str, Deformed]:
        elements, held = [part.element for part in self.parts], dict[str, dict[str, bool]]()
        for joint in (one for one in elements if isinstance(one, Joint | Clearance)):
            for body, _, node in (name.partition(".") for name in joint.body_names()):
                nodes = held.setdefault(body, {})
                if node:
                    nodes[node] = nodes.get(node, False) or isinstance(joint, Fixed)
        flexible = (one for one in elements if isinstance(one, FlexibleBody))
        return {body.name: Deformed(body, held.get(body.name, {})) for body in flexible}

    def deformation(self) -> float:
        """The largest round factor with which no deflection is too large a part of its body; 0 if none is deformed."""
        most = np.inf
        for one in self.flexible.values():
            largest = one.largest(self.placed.amplitudes[one.name])
            extent = float(np.linalg.norm(np.ptp(one.modes.places, axis=0)))
            if largest > ROUND_OFF * extent:
                most = min(most, BENT * extent / largest)
        return enlarged(most) if np.isfinite(most) else 0.0

    def deform(self, factor: float) -> None:
        """Draw the deflections of flexible bodies as so many times what they are."""
        placed, d = self.placed, self.dimension
        for name, one in self.flexible.items():
            for i, node in enumerate(one.modes.names):
                shift = (factor - 1.0) * np.einsum("dm,nm->nd", one.nodes_bent[i], placed.amplitudes[name])[:, :d]
                placed.frames[f"{name}.{node}"][:, :d] += np.einsum("nij,nj->ni", placed.rotation(name), shift)

    def curves(self, body: str, factor: float) -> Array:
        """Ground places (n, k, d) of the lines of a flexible body, with gaps between them; k = 0 without beams."""
        placed, one = self.placed, self.flexible[body]
        local = one.points(placed.amplitudes[body], factor)[..., : self.dimension]
        turned = np.einsum("nij,nkj->nki", placed.rotation(body), local)
        return np.asarray(turned + placed.position(body)[:, None])


class Placed:
    """Bodies at the coordinates (n, nq) of the pictures, whose names are given."""

    def __init__(self, bodies: Sequence[Body], names: Sequence[str], q: Array) -> None:
        self.count = len(q)
        self.dimension = bodies[0].dimensions[0] if bodies else 2
        self.bodies = [body.name for body in bodies]
        self.frames: dict[str, Array] = {}  # placements z (n, 4) or (n, 12), by body and node
        self.amplitudes: dict[str, Array] = {}  # of the modes of flexible bodies (n, m)
        self.carried: dict[str, tuple[str, Array]] = {}  # by node its body and its place there, undeformed
        index = {name: i for i, name in enumerate(names)}
        functions: dict[tuple[type[Body], int], ca.Function] = {}
        for body in bodies:
            kind = type(body), len(body.q_columns)
            if kind not in functions:
                own, v = ca.SX.sym("q", len(body.q_columns)), ca.SX.zeros(len(body.v_columns))
                functions[kind] = ca.Function("placement", [own], [body.placement(own, v).z])
            columns = [index[f"{body.name}.{label}"] for label, _ in body.q_columns]
            own = q[:, columns].T
            self.frames[body.name] = np.asarray(functions[kind](own)).T.reshape(self.count, -1)
            if isinstance(body, FlexibleBody):
                self.amplitudes[body.name] = own[-body.count :].T
            for node, place in body.places().items():
                name, symbol = f"{body.name}.{node}", ca.SX.sym("q", len(columns))
                z = body.node_placement(node, symbol, ca.SX.zeros(len(body.v_columns)))[0].z
                self.frames[name] = np.asarray(ca.Function("placement", [symbol], [z])(own)).T.reshape(self.count, -1)
                self.carried[name] = body.name, np.asarray(place, dtype=float)[: self.dimension]

    def frame(self, body: str) -> Array:
        """Placements z (n, 4) or (n, 12) of a body, or of the ground."""
        if body in self.frames:
            return self.frames[body]
        z = [0.0, 0.0, 1.0, 0.0] if self.dimension == 2 else [*np.zeros(3), *np.eye(3).ravel()]
        return np.broadcast_to(np.array(z), (self.count, len(z)))

    def position(self, body: str) -> Array:
        """Position of the origin of a body (n, dimension) [m]."""
        return self.frame(body)[:, : self.dimension]

    def rotation(self, body: str) -> Array:
        """Rotation matrices (n, dimension, dimension) of a body."""
        z = self.frame(body)
        if self.dimension == 2:
            cosine, sine = z[:, 2], z[:, 3]
            return np.array([[cosine, -sine], [sine, cosine]]).transpose(2, 0, 1)
        return z[:, 3:].reshape(-1, 3, 3).transpose(0, 2, 1)

    def vectors(self, body: str, local: Array | Vector) -> Array:
        """Ground components (n, d) of a vector, or (n, k, d) of vectors, of a body; of the empty one zeros."""
        given = np.asarray(local if len(local) else np.zeros(self.dimension), float)
        return np.asarray(np.einsum("nij,...j->n...i", self.rotation(body), given))

    def points(self, body: str, local: Array | Vector) -> Array:
        """Ground places (n, d) of a point, or (n, k, d) of points, of a body; of the empty one its origin."""
        turned, place = self.vectors(body, local), self.position(body)
        return np.asarray(turned + (place if turned.ndim == 2 else place[:, None, :]))

    def axes(self, body: str, local: Sequence[Vector]) -> Array:
        """Vectors of a body as columns (n, d, d) of ground components."""
        return np.asarray(self.rotation(body) @ np.array(local).T)

    def spot(self, spot: Spot) -> Array:
        """Ground places (n, d) of a point of a body."""
        return self.points(spot.body, spot.at)


def drawing_of_state(system: System, state: State | None) -> Drawing:
    """Drawing of a system at one state, its start by default."""
    q = (system.start if state is None else state).q
    bodies = [element for element in system.elements if isinstance(element, Body)]
    return Drawing(_parts(system.elements, system.parameters), Placed(bodies, system.q_names, np.atleast_2d(q)))


def drawing_of_run(trajectory: Trajectory, t: Array) -> Drawing:
    """Drawing of a run at times t (n,) [s]; InputError for one whose mechanism is not described, or not known here."""
    described = trajectory.manifest.get("model", {}).get("elements")
    if not described:
        raise InputError("The run has no description of its mechanism, so it cannot be drawn.")
    classes = {cls.__name__: cls for cls in element_kinds().values()}
    for one in described:
        if one["kind"] not in classes:
            what = f'"{one["name"]}" of the kind {one["kind"]}'
            raise InputError(
                f"The run has an element {what}, which is not known here; import the module that defines it first."
            )
    elements = [classes[one["kind"]].restored(one) for one in described]
    numbers = {name: float(entry["value"]) for name, entry in trajectory.manifest["parameters"].items()}
    bodies = [element for element in elements if isinstance(element, Body)]
    times = np.linspace(t[0], t[-1], max(len(t), PATH))
    placed, between = (Placed(bodies, trajectory.q.names, coordinates(trajectory, x)) for x in (t, times))
    return Drawing(_parts(elements, numbers), placed, between)


def _parts(elements: Iterable[Element], numbers: Mapping[str, float]) -> tuple[Drawn, ...]:
    valued = [(element, element.values(numbers)) for element in elements]
    return tuple(Drawn(element, p, element.drawing(p)) for element, p in valued)


def magnification(drawing: Drawing) -> float:
    """The largest of 1, 2, 5 times a power of ten with which all clearances fit into symbols, hundredths of a grain."""
    most = [PLAY * BEARING * drawing.grain / 100 / one.clearance for one in drawing.primitives(primitive.Bearing)]
    for one in drawing.primitives(primitive.Guide):
        half = max(one.height / 2, BLOCK * drawing.grain / 100)
        most.append(PLAY * half / max(one.clearance, one.side_clearance))
    return enlarged(min(most, default=np.inf))


def enlarged(most: float) -> float:
    """The largest of 1, 2, 5 times a power of ten up to `most`; 1 without a limit, or below 1."""
    return round_length(most) if np.isfinite(most) and most > 1.0 else 1.0


def magnified(clearance: float, deformation: float) -> str:
    """Note on the factors of clearances and deflections; 0 where a drawing has none."""
    drawn = {what: factor for what, factor in (("clearance", clearance), ("deformation", deformation)) if factor}
    larger = [f"{what} drawn {factor:g} times its size" for what, factor in drawn.items() if factor != 1]
    if len(larger) == 2:
        return f"clearance drawn {clearance:g} and deformation {deformation:g} times its size"
    return larger[0] if larger else "drawn to scale" if drawn else ""


class Deformed:
    """Displacements ``moved eta + factor bent eta`` of a body's nodes and of curves between them, in its own frame.

    Joints stay closed at any factor: what it magnifies is the deflection from the nodes at which joints hold the body,
    with their rotation or without. Held at one node, that is the motion of this node, with its rotation where it is
    welded; at several the rigid motion that fits theirs best, and what is left of them; at none the mean frame. Points
    of curves are `places` (k, 3) [m], with gaps at `ends`.
    """

    def __init__(self, body: FlexibleBody, held: Mapping[str, bool]) -> None:
        self.name, self.modes = body.name, body.modes
        modes = self.modes
        self.nodes_moved, turned = _rest(modes, [modes.node(name) for name in held], [*held.values()])
        self.nodes_bent = modes.translations - self.nodes_moved
        # curves run from each node to the nearest, the shortest lines that join all; nodes of solids have no rotations
        pairs: list[tuple[int, int]] = []
        if len(modes.names) > 1 and np.any(modes.rotations):
            from scipy.sparse.csgraph import minimum_spanning_tree
            from scipy.spatial.distance import cdist

            tree = minimum_spanning_tree(cdist(modes.places, modes.places)).tocoo()
            pairs = sorted((int(min(pair)), int(max(pair))) for pair in zip(tree.row, tree.col, strict=True))
        share = np.linspace(0.0, 1.0, BETWEEN)
        self.ends = BETWEEN * np.arange(1, len(pairs) + 1)
        size = len(pairs) * BETWEEN
        self.places, self.moved, self.bent = np.zeros((size, 3)), *np.zeros((2, size, 3, modes.count))
        for k, (i, j) in enumerate(pairs):
            own, along = slice(k * BETWEEN, (k + 1) * BETWEEN), modes.places[j] - modes.places[i]
            self.places[own] = modes.places[i] + share[:, None] * along
            s = share[:, None, None]
            self.moved[own] = self.nodes_moved[i] + s * (self.nodes_moved[j] - self.nodes_moved[i])
            # across the line a cubic with the slopes of the rotations at both ends, linear along it
            rise, unit = self.nodes_bent[j] - self.nodes_bent[i], along / np.linalg.norm(along)
            slopes = (np.cross((modes.rotations[one] - turned).T, along).T for one in (i, j))
            first, last = (slope + np.outer(unit, unit) @ rise - rise for slope in slopes)
            self.bent[own] = self.nodes_bent[i] + s * rise + s * (1 - s) ** 2 * first - s**2 * (1 - s) * last

    def largest(self, eta: Array) -> float:
        """The largest deflection [m] at amplitudes (n, m)."""
        return float(np.max(np.linalg.norm(np.einsum("idm,nm->nid", self.nodes_bent, eta), axis=2), initial=0.0))

    def points(self, eta: Array, factor: float) -> Array:
        """Points of its curves (n, k, 3) [m] in its frame, with a gap after each curve."""
        if not len(self.places):
            return np.zeros((len(eta), 0, 3))
        found = self.places + np.einsum("kdm,nm->nkd", self.moved + factor * self.bent, eta)
        return np.insert(found, self.ends, np.nan, axis=1)


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
    rows = np.array([
        [[1, 0, 0, 0.0, z, -y], [0, 1, 0, -z, 0.0, x], [0, 0, 1, y, -x, 0.0]] for x, y, z in X - middle
    ])  # fmt: skip
    fitted = np.linalg.pinv(rows[held].reshape(-1, 6), rcond=1e-9) @ u.reshape(-1, m)
    moved = rows @ fitted
    left = u - moved[held]
    distance = np.linalg.norm(X[:, None] - X[held], axis=2)
    near = 1.0 / np.maximum(distance, 1e-12 * np.max(distance)) ** 2
    return moved + np.einsum("nh,hdm->ndm", near / near.sum(axis=1, keepdims=True), left), fitted[3:]
