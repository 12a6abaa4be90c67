"""Numbers of a mechanism, element by element.

Elements of one kind share one function, which is evaluated over all of them at once. Time and memory grow with the
number of elements, where matrices of the whole mechanism grow with its square; what is asked once per run, such as the
checks of a start, is asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.model.frames import ground_placement
from nonsmooth.model.joints import Joint

__all__ = ["Elementwise", "Placed", "Rows"]

Integers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """Values of the rows of joints, and their rates by the velocities of two bodies.

    `value` (ng,), its rate ``J_a . v_a + J_b . v_b + explicit``; `a`, `b` (ng,) numbers of the bodies, 0 the ground,
    whose `J` is zero.
    """

    value: Array
    J_a: Array
    J_b: Array
    explicit: Array
    a: Integers
    b: Integers


@dataclass(frozen=True, eq=False)
class Placed:
    """Bodies at coordinates and velocities: placements z and velocities (bodies + 1, ..), the ground first; their
    angles (bodies + 1, 1), in space (bodies + 1, 0); and their gyroscopic forces (bodies, width) and mass matrices
    (bodies, width, width).
    """

    z: Array
    angles: Array
    velocities: Array
    gyroscopic: Array
    masses: Array


class _Group:
    """Elements of one kind.

    Parameters
    ----------
    function : of one element
    members : indices of the elements among all of their sort
    bodies : (elements, bodies of each)
    parameters : (elements, parameters of each), places in the vector of all
    """

    def __init__(self, function: ca.Function, members: list[int], bodies: list[Any], parameters: list[Any]) -> None:
        self.members, self.count = np.array(members, dtype=np.intp), len(members)
        self.bodies = np.array(bodies, dtype=np.intp).reshape(self.count, -1)
        self.parameters = np.array(parameters, dtype=np.intp).reshape(self.count, -1)
        self.sizes = [function.size_out(i) for i in range(function.n_out())]
        mapped = function.map(self.count)
        matrices = [mapped.name_out(i) for i, (_, columns) in enumerate(self.sizes) if columns > 1]
        self.evaluator = Evaluator(mapped, matrices=matrices)

    def __call__(self, *arguments: Array) -> list[Array]:
        """Outputs (elements, rows), or (elements, rows, columns) where one element has more than one column."""
        found: list[Array] = []
        for values, (rows, columns) in zip(self.evaluator(*map(np.ravel, arguments)), self.sizes, strict=True):
            if columns > 1:
                found.append(values.reshape(rows, self.count, columns).transpose(1, 0, 2))
            else:
                found.append(values.reshape(self.count, rows))
        return found


class Elementwise:
    """Evaluation of a mechanism by kinds of elements.

    Parameters
    ----------
    elements : of the model, in order
    functions : of its kinds
    parameters : names of the parameters in order

    Attributes
    ----------
    width : velocities of a body
    ng : rows of joints
    first_rows : of each joint
    """

    def __init__(self, elements: Sequence[Element], functions: ElementFunctions, parameters: Iterable[str]) -> None:
        self.functions, self._index = functions, {name: i for i, name in enumerate(parameters)}
        self.bodies = [e for e in elements if isinstance(e, Body)]
        self.joints = [e for e in elements if isinstance(e, Joint)]
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self.width = len(self.bodies[0].v_columns)
        self._ground = np.array(ca.DM(ground_placement(functions.dimension).z)).ravel()
        self._numbers = {e.name: i + 1 for i, e in enumerate(self.bodies)}
        self._body_groups = self._grouped(self.bodies, functions.body)
        self._force_groups = self._grouped([e for e in elements if isinstance(e, Force)], functions.forces)
        self._joint_groups = self._grouped(self.joints, functions.constraint)
        self._contact_groups = self._grouped(self.contacts, functions.gaps)
        for group in self._contact_groups:  # so that all of a contact is tried at once
            functions.surface(self.contacts[group.members[0]])
        self._weights = [(self._weight(e), self._places(e)) for e in elements if isinstance(e, Gravity)]
        self._masses = np.array([self._index.get(f"{e.name}.mass", 0) for e in self.bodies], dtype=np.intp)
        self._q = _spans([len(e.q_columns) for e in self.bodies])
        self.ng, self.first_rows = sum(len(e.rows) for e in self.joints), _spans([len(e.rows) for e in self.joints])
        self._gaps = _spans([len(e.gap_labels) for e in self.contacts])
        self._sizes = np.array(
            [self._index[f"{e.name}.{e.size_label}"] for e in self.contacts for _ in e.gap_labels], dtype=np.intp
        )

    @cached_property
    def _advance_groups(self) -> list[_Group]:
        return self._grouped(self.bodies, self.functions.advance)

    @cached_property
    def _closure_groups(self) -> list[_Group]:
        return self._grouped(self.joints, self.functions.closure)

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

    def _weight(self, gravity: Gravity) -> Evaluator:
        return Evaluator(self.functions.weight(gravity).map(len(self.bodies)))

    # ---------------------------------------------------------------------------------------------------------- bodies

    def placed(self, q: Array, v: Array, p: Array) -> Placed:
        """The bodies at these coordinates and velocities."""
        count, width = len(self.bodies), self.width
        velocities = np.concatenate([np.zeros(width), v]).reshape(-1, width)
        at = Placed(
            np.empty((count + 1, self._ground.size)), self._angles(q), velocities, np.empty((count, width)),
            np.empty((count, width, width)),
        )  # fmt: skip
        at.z[0] = self._ground
        for group in self._body_groups:
            bodies, members = group.bodies[:, 0], group.members
            z, _, gyroscopic, masses = group(q[self._coordinates(group)], velocities[bodies], p[group.parameters])
            at.z[bodies], at.gyroscopic[members], at.masses[members] = z, gyroscopic, masses
        return at

    def _angles(self, q: Array) -> Array:
        """Angles of bodies that count full turns, of the ground zero: a column in the plane, none in space."""
        if self.functions.dimension == 3:
            return np.zeros((len(self.bodies) + 1, 0))
        return np.concatenate([[0.0], q.reshape(-1, self.width)[:, 2]])[:, None]

    def _coordinates(self, group: _Group) -> Integers:
        return self._q[group.members][:, None] + np.arange(len(self.bodies[group.members[0]].q_columns))

    def advance(self, q: Array, u: Array, dt: float) -> Array:
        """Coordinates after `dt` at the constant velocity `u`."""
        moved, by_body = np.empty_like(q), u.reshape(-1, self.width)
        for group in self._advance_groups:
            places = self._coordinates(group)
            moved[places] = group(q[places], by_body[group.members], np.full(group.count, dt))[0]
        return moved

    # ----------------------------------------------------------------------------------------- forces, joints, contacts

    def force(self, t: float, at: Placed, p: Array) -> Array:
        """h (nv,), gyroscopic terms included."""
        total = np.zeros(at.velocities.shape)
        total[1:] = at.gyroscopic
        for weight, places in self._weights:
            shared = np.tile(p[places], len(self.bodies))
            total[1:] += weight(at.z[1:].ravel(), p[self._masses], shared)[0].reshape(-1, self.width)
        for group in self._force_groups:
            bodies = group.bodies.T
            turning = [np.hstack([at.z[body], at.angles[body]]) for body in bodies]
            arguments = [*turning, *(at.velocities[body] for body in bodies)]
            found = group(np.full(group.count, t), *arguments, p[group.parameters])
            for body, force in zip(bodies, found[1:], strict=True):
                np.add.at(total, body, force)
        return total[1:].ravel()

    def constraints(self, t: float, at: Placed, p: Array) -> tuple[Rows, Array]:
        """The joints' g with its rates, and their misfits as reported."""
        misfit = np.zeros(self.ng)
        rows = self._empty_rows()
        for group in self._joint_groups:
            places, found = self._joint_rows(group, t, at, p)
            rows.value[places], misfit[places], J_a, J_b, rows.explicit[places], _ = found
            self._turn(rows, group, places, J_a, J_b)
        return rows, misfit

    def closures(self, t: float, at: Placed, p: Array) -> Rows:
        """The joints' misfits as reported, with their rates by velocities."""
        rows = self._empty_rows()
        for group in self._closure_groups:
            places, (rows.value[places], J_a, J_b) = self._joint_rows(group, t, at, p)
            self._turn(rows, group, places, J_a, J_b)
        return rows

    def _empty_rows(self) -> Rows:
        column, block, places = np.zeros(self.ng), np.zeros((self.ng, self.width)), np.zeros(self.ng, dtype=np.intp)
        return Rows(column, block, block.copy(), column.copy(), places, places.copy())

    def _joint_rows(self, group: _Group, t: float, at: Placed, p: Array) -> tuple[Integers, list[Array]]:
        """Where the rows of a group stand, and what its function gives."""
        first, second = group.bodies.T
        found = group(np.full(group.count, t), at.z[first], at.z[second], p[group.parameters])
        places = self.first_rows[group.members][:, None] + np.arange(len(self.joints[group.members[0]].rows))
        return places, found

    def _turn(self, rows: Rows, group: _Group, places: Integers, J_a: Array, J_b: Array) -> None:
        for side, J, by_row, block in ((0, J_a, rows.a, rows.J_a), (1, J_b, rows.b, rows.J_b)):
            bodies = group.bodies[:, side]
            by_row[places] = bodies[:, None]
            block[places] = J.reshape(*places.shape, self.width) * (bodies > 0)[:, None, None]

    def gaps(self, at: Placed, p: Array) -> Array:
        """True gaps (nc,)."""
        gaps = np.empty(self._sizes.size)
        for group in self._contact_groups:
            first, second = group.bodies.T
            found = group(at.z[first], at.z[second], p[group.parameters])[1]
            gaps[self._gaps[group.members][:, None] + np.arange(found.shape[1])] = found
        return gaps

    def gap_sizes(self, p: Array) -> Array:
        """Typical size of each gap (nc,)."""
        return p[self._sizes]


def _spans(sizes: Sequence[int]) -> Integers:
    """Where each of some parts begins, one after the other."""
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp) if sizes else np.zeros(0, dtype=np.intp)
