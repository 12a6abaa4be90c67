"""Numerical evaluation of a mechanism: element by element, by functions of the whole, and of many rows at once.

Elements of one kind share one function, which `Elementwise` evaluates for all of them at once. Time and memory grow in
proportion to the number of elements, while matrices of the whole mechanism, those of `Numeric`, grow with its square.
Evaluations made once per run, such as the checks of the initial state, are made element by element.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array, Evaluator
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.assembly import ElementFunctions, used_nodes
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.equations import Equations
from nonsmooth.model.forces import Force, Gravity, LineForce
from nonsmooth.model.frames import ground_placement
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import Joint

Integers = NDArray[np.intp]

#: rows that CasADi evaluates at once, where there are many
AT_ONCE = 1024
#: distance of two points, as a share of the lengths that it is the difference of, that is round-off
COINCIDENT = 1e-13
#: numbers of rigid contact laws
LAW = ("restitution", "friction", "tangential")


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """Values (ng,) of the rows of joints, of rates ``J_a . v_a + J_b . v_b + explicit`` with J (ng, width), and their
    bodies, of which 0 is the ground, whose J is zero."""

    value: Array
    J_a: Array
    J_b: Array
    explicit: Array
    a: Integers
    b: Integers


@dataclass(frozen=True, eq=False)
class Placements:
    """Bodies and their frames, the ground, then the bodies, then nodes, at coordinates and velocities. Entries that a
    body lacks are zero, and one on the diagonal of its mass matrix."""

    z: Array
    angles: Array  #: (frames, 1), in space (frames, 0)
    velocities: Array  #: (bodies + 1, width)
    inner: Array  #: forces of bodies on themselves (bodies, width)
    masses: Array  #: (bodies, width, width)
    twists: Array  #: (frames, 3 or 6)
    maps: Array | None  #: (frames, 3 or 6, width) from velocities to twists; None if all bodies are rigid

    def given(self, element: Element, frames: Integers) -> Array:
        """Placements (n, ..) of n frames as elements of this kind are given them."""
        return np.hstack([self.z[frames], self.angles[frames]]) if element.turns else self.z[frames]


class _Group:
    """Elements of one kind: their indices, the function of one of them, their frames and indices of parameters."""

    def __init__(self, function: ca.Function, members: list[int], bodies: list[Any], parameters: list[Any]) -> None:
        self.members, self.count = np.array(members, dtype=np.intp), len(members)
        self.bodies = np.array(bodies, dtype=np.intp).reshape(self.count, -1)
        self.parameters = np.array(parameters, dtype=np.intp).reshape(self.count, -1)
        self.function, self.sizes = function, [function.size_out(i) for i in range(function.n_out())]
        mapped = function.map(self.count)
        matrices = [mapped.name_out(i) for i, (_, columns) in enumerate(self.sizes) if columns > 1]
        self.evaluator = Evaluator(mapped, matrices=matrices)

    def __call__(self, *arguments: Array) -> list[Array]:
        """Outputs (elements, rows), or (elements, rows, columns) where one element has more than one column."""
        outputs = zip(self.evaluator(*map(np.ravel, arguments)), self.sizes, strict=True)
        return [
            x.reshape(rows, self.count, columns).transpose(1, 0, 2) if columns > 1 else x.reshape(self.count, rows)
            for x, (rows, columns) in outputs
        ]


class Elementwise:
    """Evaluation by kinds of elements; `width` is the largest number of velocities of a body, `rigid` a rigid one's, of
    which the first `linear` are those of its centre."""

    def __init__(self, elements: Sequence[Element], functions: ElementFunctions, parameters: Iterable[str]) -> None:
        self.functions, self._index = functions, {name: i for i, name in enumerate(parameters)}
        self.bodies = [e for e in elements if isinstance(e, Body)]
        self.joints = [e for e in elements if isinstance(e, Joint)]
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.width = max(len(e.v_columns) for e in self.bodies)
        self.linear, self.rigid = functions.dimension, 3 if functions.dimension == 2 else 6
        self._ground = np.array(ca.DM(ground_placement(functions.dimension).z)).ravel()
        self._numbers = {e.name: i + 1 for i, e in enumerate(self.bodies)}
        self._carriers = np.arange(len(self.bodies) + 1)  # body index of each frame
        #: frame, body and its number, of the nodes and of the bodies whose twists are not their velocities
        self._nodes: list[tuple[int, int, Body, Evaluator]] = []
        used = used_nodes(elements)
        for number, e in enumerate(self.bodies, start=1):
            for node in used.get(e.name, ()):
                self._numbers[f"{e.name}.{node}"] = len(self._carriers)
                self._nodes.append((len(self._carriers), number, e, Evaluator(functions.node(e, node), matrices=["A"])))
                self._carriers = np.append(self._carriers, number)
            if len(e.v_columns) > self.rigid:
                self._nodes.append((number, number, e, Evaluator(functions.node(e, ""), matrices=["A"])))
        widths = [len(e.v_columns) for e in self.bodies]
        #: indices of the velocities among (bodies, width)
        self._slots = np.concatenate([self.width * i + np.arange(width) for i, width in enumerate(widths)])
        self._body_groups = self._grouped(self.bodies, functions.body)
        self._force_groups = self._grouped([e for e in elements if isinstance(e, Force)], functions.forces)
        self._joint_groups = self._grouped(self.joints, functions.constraint)
        self._contact_groups = self._grouped(self.contacts, functions.gaps)
        self._advance_groups: list[_Group] | None = None
        self._violation_groups: list[_Group] | None = None
        for group in self._contact_groups:  # so that all functions of a contact are evaluated at once
            functions.surface(self.contacts[group.members[0]])
        weights = [(functions.weight(e).map(len(self.bodies)), e) for e in elements if isinstance(e, Gravity)]
        self._weights = [(Evaluator(function), self._places(e)) for function, e in weights]
        self._masses = np.array([self._index.get(f"{e.name}.mass", 0) for e in self.bodies], dtype=np.intp)
        self._q = _spans([len(e.q_columns) for e in self.bodies])
        self.ng, self.first_rows = sum(len(e.rows) for e in self.joints), _spans([len(e.rows) for e in self.joints])
        self._gaps = _spans([len(e.gap_labels) for e in self.contacts])
        #: of each gap the indices of the parameters of `contact_law` (4, nc), behind them 0 for what a law lacks, and 1
        places, lacks = list[list[int]](), len(self._index)
        for contact in self.contacts:
            rigid, law = isinstance(contact.contact, Rigid), [lacks] * len(LAW)
            if isinstance(contact, JointFriction):
                law[LAW.index("friction")] += rigid
            elif rigid:
                law = [self._index[f"{contact.name}.{label}"] for label in LAW]
            size = self._index[f"{contact.name}.{contact.size_label}"]
            places += [[*law, size]] * len(contact.gap_labels)
        self._law_places = np.array(places, dtype=np.intp).reshape(-1, 1 + len(LAW)).T
        #: of the last parameters
        self._law: tuple[Any, Array] = None, np.zeros((4, 0))

    def contact_law(self, values: Array) -> Array:
        """Restitution, friction, tangential restitution and size of contacts (4, nc), of many runs (4, runs, nc)."""
        known, key = self._law, (values.shape, values.tobytes())
        if known[0] != key:
            padded = np.concatenate([values, np.broadcast_to([0.0, 1.0], (*values.shape[:-1], 2))], axis=-1)
            self._law = known = key, np.moveaxis(padded[..., self._law_places], -2, 0)
            known[1].flags.writeable = False
        return known[1]

    def _grouped(self, elements: Sequence[Any], function: Callable[[Any], ca.Function]) -> list[_Group]:
        found: dict[int, tuple[ca.Function, list[int], list[Any], list[Any]]] = {}
        for i, e in enumerate(elements):
            of = function(e)
            _, members, bodies, parameters = found.setdefault(id(of), (of, [], [], []))
            members.append(i)
            bodies.append([self._numbers.get(name, 0) for name in e.body_names()] or [self._numbers[e.name]])
            parameters.append(self._places(e))
        return [_Group(*parts) for parts in found.values()]

    def _places(self, element: Element) -> list[int]:
        return [self._index[f"{element.name}.{label}"] for label in self.functions.labels(element)]

    def placed(self, q: Array, v: Array, p: Array) -> Placements:
        """The bodies at these coordinates and velocities."""
        count, width, frames, velocities = len(self.bodies), self.width, len(self._carriers), self.by_body(v)
        twists, maps = velocities, None
        if self.width > self.rigid or self._nodes:
            twists, maps = np.zeros((frames, self.rigid)), np.zeros((frames, self.rigid, width))
            twists[: count + 1], maps[1 : count + 1] = velocities[:, : self.rigid], np.eye(self.rigid, width)
        at = Placements(
            np.empty((frames, self._ground.size)), np.zeros((frames, 3 - self.functions.dimension)), velocities,
            np.zeros((count, width)), np.tile(np.eye(width), (count, 1, 1)), twists, maps,
        )  # fmt: skip
        at.z[0] = self._ground
        if self.functions.dimension == 2:
            at.angles[1 : count + 1, 0] = q[self._q + 2]
        for group in self._body_groups:
            bodies, members = group.bodies[:, 0], group.members
            own = len(self.bodies[members[0]].v_columns)
            z, inner, masses = group(q[self._coordinates(group)], velocities[bodies, :own], p[group.parameters])
            at.z[bodies], at.inner[members, :own], at.masses[members, :own, :own] = z, inner, masses
        for frame, number, body, evaluate in self._nodes:
            first, own = self._q[number - 1], len(body.v_columns)
            found = evaluate(q[first : first + len(body.q_columns)], velocities[number, :own])
            at.z[frame], at.angles[frame], twists[frame] = found[:3]
            assert maps is not None
            maps[frame, :, :own] = found[3]
        return at

    def by_body(self, v: Array) -> Array:
        """Velocities (bodies + 1, width) of the ground and the bodies, zero where a body has fewer."""
        padded = np.zeros((len(self.bodies) + 1, self.width))
        padded[1:].ravel()[self._slots] = v
        return padded

    def in_order(self, by_body: Array) -> Array:
        """Velocities (nv,) from those of the bodies (bodies, width)."""
        return by_body.ravel()[self._slots]

    def _coordinates(self, group: _Group) -> Integers:
        return self._q[group.members][:, None] + np.arange(len(self.bodies[group.members[0]].q_columns))

    def advance(self, q: Array, u: Array, dt: float) -> Array:
        """Coordinates after `dt` at the constant velocity `u`."""
        moved, by_body = np.empty_like(q), self.by_body(u)[1:]
        if self._advance_groups is None:
            self._advance_groups = self._grouped(self.bodies, self.functions.advance)
        for group in self._advance_groups:
            places, own = self._coordinates(group), len(self.bodies[group.members[0]].v_columns)
            moved[places] = group(q[places], by_body[group.members, :own], np.full(group.count, dt))[0]
        return moved

    def force(self, t: float, at: Placements, p: Array) -> Array:
        """h (nv,), forces of bodies on themselves included."""
        count = len(self.bodies)
        total = np.zeros(at.velocities.shape)
        total[1:] = at.inner
        for weight, places in self._weights:
            shared = np.tile(p[places], count)
            weights = weight(at.z[1 : count + 1].ravel(), p[self._masses], shared)[0].reshape(count, -1)
            total[1:, : self.rigid] += weights
        for group, found in self.forces(t, at, p):
            for body, force in zip(group.bodies.T, found[1:], strict=True):
                along = force if at.maps is None else np.einsum("fij,fi->fj", at.maps[body], force)
                np.add.at(total, self._carriers[body], along)
        return self.in_order(total[1:])

    def coincide(self, force: LineForce, at: Placements, p: Array) -> bool:
        """Whether the two ends of a force lie at the same point, but for round-off."""
        a, b = (at.z[self._numbers.get(name, 0)] for name in force.body_names())
        line, lengths = self.functions.ends(force)(a, b, p[self._places(force)])
        return float(ca.norm_2(line)) <= COINCIDENT * float(lengths)

    def forces(self, t: float, at: Placements, p: Array) -> Iterator[tuple[_Group, list[Array]]]:
        """Forces of one kind, whose numbers in the model are its `members`, and their outputs: the second and the
        following act on their bodies."""
        for group in self._force_groups:
            turning = [np.hstack([at.z[body], at.angles[body]]) for body in group.bodies.T]
            arguments = [*turning, *(at.twists[body] for body in group.bodies.T)]
            yield group, group(np.full(group.count, t), *arguments, p[group.parameters])

    def constraints(self, t: float, at: Placements, p: Array) -> tuple[ConstraintRows, Array]:
        """The joints' g with its rates, and their constraint residuals."""
        return self._constraint_rows(self._joint_groups, t, at, p)

    def violations(self, t: float, at: Placements, p: Array) -> ConstraintRows:
        """The joints' constraint residuals, with their derivatives by the velocities of rigid motion, for assembly."""
        if self._violation_groups is None:
            self._violation_groups = self._grouped(self.joints, self.functions.closure)
        rows, _ = self._constraint_rows(self._violation_groups, t, at, p)
        rows.J_a[:, self.rigid :] = rows.J_b[:, self.rigid :] = 0.0
        return rows

    def _constraint_rows(
        self, groups: Iterable[_Group], t: float, at: Placements, p: Array
    ) -> tuple[ConstraintRows, Array]:
        """g, or where the functions have none the residual, with its rates; and the residual."""
        value, explicit, residual = np.zeros((3, self.ng))
        (J_a, J_b), (a, b) = np.zeros((2, self.ng, self.width)), np.zeros((2, self.ng), dtype=np.intp)
        for group in groups:
            first, second = group.bodies.T
            e = self.joints[group.members[0]]
            placed = at.given(e, first), at.given(e, second)
            outputs = group(np.full(group.count, t), *placed, p[group.parameters])
            found = dict(zip(group.function.name_out(), outputs, strict=True))
            places = self.first_rows[group.members][:, None] + np.arange(found["residual"].shape[1])
            residual[places] = found["residual"]
            value[places], explicit[places] = found.get("g", found["residual"]), found.get("rate", 0.0)
            for J, frames, block, by_row in ((found["J_a"], first, J_a, a), (found["J_b"], second, J_b, b)):
                by_row[places] = self._carriers[frames][:, None]
                by_twist = J.reshape(*places.shape, self.rigid) * (frames > 0)[:, None, None]
                block[places] = by_twist if at.maps is None else np.einsum("frk,fkj->frj", by_twist, at.maps[frames])
        return ConstraintRows(value, J_a, J_b, explicit, a, b), residual

    def gaps(self, at: Placements, parameters: Array) -> Array:
        """True gaps (nc,), for many sets of parameters (runs, nc), evaluated at once."""
        values = np.atleast_2d(parameters)
        gaps = np.empty((len(values), self._law_places.shape[1]))
        for group in self._contact_groups:
            e = self.contacts[group.members[0]]
            first, second = (np.tile(at.given(e, bodies).T, len(values)) for bodies in group.bodies.T)
            p = values[:, group.parameters].reshape(len(values) * group.count, -1)
            found = np.array(group.function.map(len(p))(first, second, p.T)[1])
            own = found.reshape(-1, len(values), group.count).transpose(1, 2, 0)
            gaps[:, self._gaps[group.members][:, None] + np.arange(own.shape[2])] = own
        return gaps.reshape(*parameters.shape[:-1], -1)

    def size_words(self, i: int, p: Array) -> str:
        """Words for the typical size of a gap: its clearance, or the size that a free contact is given."""
        labels = [e.size_label for e in self.contacts for _ in e.gap_labels]
        return labels[i] if labels[i] != "size" else f"size ({self.gap_sizes(p)[i]:g} m)"

    def gap_sizes(self, p: Array) -> Array:
        """Typical size of each gap (nc,), for many sets of parameters (runs, nc)."""
        return p[..., self._law_places[-1]]


class Numeric:
    """Buffered evaluators of the functions of `Equations`, each created on first use; matrices keep two dimensions."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    def __getattr__(self, name: str) -> Evaluator:
        evaluator = Evaluator(getattr(self.equations, name), matrices=["M", "B", "W_g", "W_N", "W_T"])
        setattr(self, name, evaluator)
        return evaluator


def evaluate_rows(function: ca.Function, *arguments: Array) -> Array:
    """Evaluate for each row of the arguments; the last argument, the parameters, is the same for all rows."""
    count, columns = len(arguments[0]), function.numel_out(0)
    if columns == 0 or count == 0:
        return np.zeros((count, columns))
    *varying, shared = (np.asarray(one, dtype=float) for one in arguments)
    varying = [one.reshape(count, -1) for one in varying]
    if count <= AT_ONCE or not function.sparsity_out(0).is_dense():
        return np.array(function.map(count)(*(one.T for one in varying), ca.repmat(ca.DM(shared), 1, count))).T
    # some rows at a time, in memory that CasADi reads and writes itself
    result, end = np.empty((count, columns)), 0
    for n, times in ((AT_ONCE, count // AT_ONCE), (count % AT_ONCE, 1)):
        if n == 0:
            continue
        some = [np.empty((n, one.shape[1])) for one in varying]
        found, own = np.empty((n, columns)), np.tile(shared.ravel(), (n, 1))
        buffer, evaluate = function.map(n).buffer()
        for i, one in enumerate((*some, own)):
            buffer.set_arg(i, one.reshape(-1).data)
        buffer.set_res(0, found.reshape(-1).data)
        for _ in range(times):
            for one, values in zip(some, varying, strict=True):
                one[:] = values[end : end + n]
            evaluate()
            result[end : end + n] = found
            end += n
    return result


def _spans(sizes: Sequence[int]) -> Integers:
    """Offsets of consecutive parts."""
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp) if sizes else np.zeros(0, dtype=np.intp)
