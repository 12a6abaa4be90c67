"""Assembly of the blocks of the equations of motion from the elements.

Each kind of element becomes one CasADi function of placements and parameters, shared by all elements of the kind; the
tangent map turns its derivatives into Jacobians by velocities. The functions are inlined block by block, so the cost of
building and evaluating grows with the number of elements.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.flexible.modes import Modes
from nonsmooth.laws.base import Law
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity, gravity_force
from nonsmooth.model.frames import Placement, placement_like
from nonsmooth.model.joints import Joint

__all__ = ["ElementFunctions", "used_nodes"]

#: operations whose results or derivatives jump
KINKED = (ca.OP_FABS, ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT, ca.OP_LE)
#: numbers by which a right limit is later: a time computed otherwise may be as much before the kink
LATER = 16


class ElementFunctions:
    """CasADi functions of element kinds, created on first use and shared by the elements of a kind."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._cache: dict[Any, ca.Function] = {}
        self._kinds: dict[int, tuple[Element, tuple[Any, ...]]] = {}

    def body(self, element: Body) -> ca.Function:
        """(q, v, p) -> z, forces of the body on itself, M; the twist of a rigid body are its velocities."""

        def make() -> ca.Function:
            local, p = self._parameters(element)
            q, v = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("v", len(element.v_columns))
            placement = element.placement(q, v)
            outputs = [placement.z, element.inner_forces(q, v, p), element.mass_matrix(p)]
            return ca.Function("body", [q, v, local], outputs)

        return self._cached("body", element, make)

    def node(self, element: Body, node: str) -> ca.Function:
        """(q, v) -> z of a node, or of the body's own frame by an empty name, its angle, its twist A v, and A."""

        def make() -> ca.Function:
            q, v = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("v", len(element.v_columns))
            placement, angle = element.placement(q, v), element.angle_of(q)
            if node:
                placement, angle = element.node_placement(node, q, v)
            outputs = [placement.z, angle, placement.twist, element.twist_map(node, q, v)]
            return ca.Function("node", [q, v], outputs)

        return self._cached(f"node {node}", element, make)

    def advance(self, element: Body) -> ca.Function:
        """(q, u, dt) -> coordinates after dt at the constant velocity u."""

        def make() -> ca.Function:
            q, u = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("u", len(element.v_columns))
            dt = ca.SX.sym("dt")
            return ca.Function("advance", [q, u, dt], [element.advance(q, u, dt)])

        return self._cached("advance", element, make)

    def weight(self, element: Gravity) -> ca.Function:
        """(z, mass, p) -> force vector on a body."""

        def make() -> ca.Function:
            body, mass = placement_like(self.dimension, "a"), ca.SX.sym("mass")
            local, p = self._parameters(element)
            return ca.Function("weight", [body.z, mass, local], [gravity_force(body, mass, p)])

        return self._cached("weight", element, make)

    def gaps(self, element: Contact) -> ca.Function:
        """(z_a, z_b, p) -> g_N, true gaps, J_a, J_b, T_a, T_b; gap rates J_a v_a + J_b v_b, slips T_a v_a + T_b v_b."""

        def make() -> ca.Function:
            a, b, local, p = self._arguments(element)
            g, slip = element.gaps(a, b, p), element.slip(a, b, p)
            return ca.Function(
                "gaps",
                [a.z, b.z, local],
                [
                    g,
                    element.true_gaps(a, b, p),
                    _jacobian(g, a),
                    _jacobian(g, b),
                    ca.jacobian(slip, a.twist),
                    ca.jacobian(slip, b.twist),
                ],
            )

        return self._cached("gaps", element, make)

    def surface(self, element: Contact) -> ca.Function:
        """(z_a, z_b, p) -> true gaps, J_a, J_b, T_a, T_b of rates and slips at the true surfaces, which may overlap."""

        def make() -> ca.Function:
            a, b, local, p = self._arguments(element)
            g, slip = element.true_gaps(a, b, p), element.true_slip(a, b, p)
            slips = [ca.jacobian(slip, x.twist) for x in (a, b)]
            return ca.Function("surface", [a.z, b.z, local], [g, _jacobian(g, a), _jacobian(g, b), *slips])

        return self._cached("surface", element, make)

    def contact_axes(self, element: Contact) -> ca.Function:
        """(z_a, z_b, p) -> normals and tangents at the true surfaces, in the ground frame (d, gaps d).

        For each gap the unit normal from a towards b, and the tangents for the slip of b relative to a.
        """

        def make() -> ca.Function:
            a, b, local, p = self._arguments(element)
            d = self.dimension
            pushes = _jacobian(element.true_gaps(a, b, p), b)[:, :d]
            slips = ca.jacobian(element.true_slip(a, b, p), b.twist)[:, :d]
            tangents, columns = d - 1, []
            for i in range(len(element.gap_labels)):
                columns += [pushes[i, :].T, slips[i * tangents : (i + 1) * tangents, :].T]
            return ca.Function("contact_axes", [a.z, b.z, local], [ca.densify(ca.horzcat(*columns))])

        return self._cached("contact_axes", element, make)

    def tangent_spin(self, element: Contact) -> ca.Function:
        """(z_a, v_a, z_b, v_b, p) -> for each gap the spin of a spatial contact's tangents about its normal [rad/s].

        Relative to the mean spin of both bodies about the normal; positive from the first tangent to the second.
        """

        def make() -> ca.Function:
            a, b, local, _ = self._arguments(element)
            axes = self.contact_axes(element)(a.z, b.z, local)
            moved = ca.vertcat(a.tangent() @ a.twist, b.tangent() @ b.twist)
            rates = ca.jtimes(axes, ca.vertcat(a.z, b.z), moved)
            mean = (a.rotate(a.twist[3:]) + b.rotate(b.twist[3:])) / 2
            spins = []
            for i in range(1, axes.size2(), 3):
                t1, t2 = axes[:, i], axes[:, i + 1]
                spins.append(ca.dot(rates[:, i], t2) - ca.dot(mean, ca.cross(t1, t2)))
            return ca.Function("tangent_spin", [a.z, a.twist, b.z, b.twist, local], [ca.vertcat(*spins)])

        return self._cached("tangent_spin", element, make)

    def coefficients(self, element: Contact) -> ca.Function:
        """(p) -> constants of the contact's compliant law, one column in the law's order."""

        def make() -> ca.Function:
            local, p = self._parameters(element)
            return ca.Function("coefficients", [local], [ca.vertcat(*element.coefficients(p).values())])

        return self._cached("coefficients", element, make)

    def constants(self, element: Contact) -> tuple[str, ...]:
        """Names of the constants of the contact's compliant law."""
        return tuple(element.coefficients(self._parameters(element)[1]))

    def compliance(self, element: Contact) -> ca.Function:
        """(depth, rate, approach, slip, bristles, stiction, k) of a gap -> F_N, F_T, elastic F_N, rates of bristles.

        Slip, stiction and F_T have one entry per tangent, and so has each bristle state.
        """

        def make() -> ca.Function:
            law = element.contact
            assert isinstance(law, Compliant)
            names, tangents = self.constants(element), self.dimension - 1
            depth, rate, approach = (ca.SX.sym(name) for name in ("depth", "rate", "approach"))
            slip, stiction = ca.SX.sym("slip", tangents), ca.SX.sym("stiction", tangents)
            bristle, k = ca.SX.sym("bristle", len(law.states(tangents))), ca.SX.sym("k", len(names))
            constants = SimpleNamespace(**{name: k[i] for i, name in enumerate(names)})
            outputs = law.forces(depth, rate, approach, slip, bristle, stiction, constants, tangents)
            return ca.Function("compliance", [depth, rate, approach, slip, bristle, stiction, k], outputs)

        return self._cached("compliance", element, make)

    def constraint(self, element: Joint) -> ca.Function:
        """(t, z_a, z_b, p) -> g, constraint residual, J_a, J_b, explicit rate of g, point of the reaction on b.

        Where a motion has a kink its rate is the right limit.
        """

        def make() -> ca.Function:
            a, b, local, p = self._arguments(element)
            t = ca.SX.sym("t")
            g = element.constraint(t, a, b, p)
            closure = element.violation(t, a, b, p)
            rate = ca.jacobian(g, t)
            if _has_kinks(ca.Function("g", [t, local, a.z, b.z], [g])):
                rate = _right_limit(rate, t)
            outputs = [g, closure, _jacobian(g, a), _jacobian(g, b), rate, element.application_point(p)]
            return ca.Function("constraint", [t, a.z, b.z, local], outputs)

        return self._cached("constraint", element, make)

    def closure(self, element: Joint) -> ca.Function:
        """(t, z_a, z_b, p) -> constraint residual, J_a, J_b, also valid for large angles, unlike those of g."""

        def make() -> ca.Function:
            a, b, local, p = self._arguments(element)
            t = ca.SX.sym("t")
            closure = element.violation(t, a, b, p)
            return ca.Function("closure", [t, a.z, b.z, local], [closure, _jacobian(closure, a), _jacobian(closure, b)])

        return self._cached("closure", element, make)

    def forces(self, element: Force) -> ca.Function:
        """(t, z.., v.., p) -> potential, force vector on each body; in the plane each z with the angle."""

        def make() -> ca.Function:
            t, bodies, arguments, p = self._arguments_of_force(element)
            potential = element.potential(bodies, p)
            return ca.Function(
                "forces", arguments, [ca.SX(0) if potential is None else potential, *element.forces(t, bodies, p)]
            )

        return self._cached("forces", element, make)

    def nonconservative(self, element: Force) -> ca.Function:
        """(t, z.., v.., p) -> non-conservative force vector on each body, of a mixed force."""

        def make() -> ca.Function:
            t, bodies, arguments, p = self._arguments_of_force(element)
            return ca.Function("nonconservative", arguments, [*element.nonconservative(t, bodies, p)])

        return self._cached("nonconservative", element, make)

    def _arguments_of_force(self, element: Force) -> tuple[ca.SX, tuple[Placement, ...], list[ca.SX], SimpleNamespace]:
        """Time, placements, the arguments of a function of these, and the parameters by name."""
        bodies = tuple(placement_like(self.dimension, str(i), turns=True) for i in range(len(element.body_fields)))
        local, p = self._parameters(element)
        t = ca.SX.sym("t")
        return t, bodies, [t, *(body.z for body in bodies), *(body.twist for body in bodies), local], p

    def _arguments(self, element: Element) -> tuple[Any, Any, ca.SX, SimpleNamespace]:
        local, p = self._parameters(element)
        return placement_like(self.dimension, "a"), placement_like(self.dimension, "b"), local, p

    def _parameters(self, element: Element) -> tuple[ca.SX, SimpleNamespace]:
        labels = list(element.numbers())
        local = ca.SX.sym("p", len(labels))
        return local, element.symbols({f"{element.name}.{label}": local[i] for i, label in enumerate(labels)})

    def _cached(self, what: str, element: Element, make: Any) -> ca.Function:
        key = what, self._kind(element)
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def labels(self, element: Element) -> tuple[str, ...]:
        """Local names of the element's parameters."""
        labels: tuple[str, ...] = self._kind(element)[1]
        return labels

    def _kind(self, element: Element) -> tuple[Any, ...]:
        if id(element) not in self._kinds:  # the element is stored, so that its id is not reused
            gaps = getattr(element, "gap_labels", ())
            self._kinds[id(element)] = element, (type(element), tuple(element.numbers()), _structure(element), gaps)
        return self._kinds[id(element)][1]


def _jacobian(g: ca.SX, placement: Placement) -> ca.SX:
    return ca.jacobian(g, placement.z) @ placement.tangent()


def _right_limit(rate: ca.SX, t: ca.SX) -> ca.SX:
    """A rate just after a time: at a kink, derivatives are those before it, or the mean of both."""
    smallest = float(np.nextafter(0.0, 1.0))
    return ca.substitute(rate, t, t + LATER * float(np.finfo(float).eps) * ca.fabs(t) + LATER * smallest)


def _has_kinks(function: ca.Function) -> bool:
    """Whether a function (t, p, ..) has parts of time and parameters alone that are not smooth."""
    # whether the results in use are functions of parameters, or of time too; None if of more
    timed: dict[int, bool | None] = {}
    for k in range(function.n_instructions()):
        what, at, to = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if what == ca.OP_INPUT:
            timed[to[0]] = (True, False, None, None)[at[0]]
        elif what == ca.OP_CONST:
            timed[to[0]] = False
        elif what != ca.OP_OUTPUT:
            given = [timed[i] for i in at]
            timed[to[0]] = None if None in given else any(given)
            if timed[to[0]] and what in KINKED:
                return True
    return False


def _structure(element: Element) -> tuple[Any, ...]:
    """Properties that determine an element's equations, except numbers: words, flags, kinds of law, callables, None."""
    entries: list[tuple[str, Any]] = []
    for field in dataclasses.fields(element):
        value = getattr(element, field.name)
        if field.name == "name" or field.name in element.body_fields:
            continue
        if isinstance(value, Modes):  # numbers that are not parameters
            entries.append((field.name, id(value)))
        elif callable(value):
            entries.append((field.name, id(value)))
        elif isinstance(value, Law):
            entries.append((field.name, value.structure()))
        elif value is None or isinstance(value, (str, bool)) or isinstance(value, tuple) and _words(value):
            entries.append((field.name, value))
    return tuple(entries)


def _words(value: tuple[Any, ...]) -> bool:
    return bool(value) and all(isinstance(one, str) for one in value)


def local_parameters(element: Element, symbols: Mapping[str, ca.SX]) -> ca.SX:
    """The element's parameters as one column, in the order its function takes them."""
    return ca.vertcat(*(symbols[f"{element.name}.{label}"] for label in element.numbers()))


def check_dimension(element: Element, dimension: int) -> None:
    """Raise ModelError if the element does not exist in a model of this dimension."""
    if dimension not in element.dimensions:
        word = {2: "planar", 3: "spatial"}
        fields = element.in_space if dimension == 3 and isinstance(element, Joint | Force) else ""
        raise element.error(
            f"it is {word[element.dimensions[0]]}, but the model is {word[dimension]} by its first body; "
            + (f"in space give {fields}." if fields else "a model is one or the other.")
        )
    element.check_components(dimension)


def used_nodes(elements: Iterable[Element]) -> dict[str, tuple[str, ...]]:
    """Nodes on which elements act, for each body that has nodes."""
    elements = list(elements)
    used = {name for element in elements for name in element.body_names()}
    bodies = (element for element in elements if isinstance(element, Body) and element.nodes)
    return {body.name: tuple(node for node in body.nodes if f"{body.name}.{node}" in used) for body in bodies}


def body_offsets(bodies: list[Body]) -> dict[str, tuple[slice, slice]]:
    """Slices of each body's coordinates and velocities."""
    offsets, iq, iv = {}, 0, 0
    for body in bodies:
        nq, nv = len(body.q_columns), len(body.v_columns)
        offsets[body.name] = (slice(iq, iq + nq), slice(iv, iv + nv))
        iq, iv = iq + nq, iv + nv
    return offsets
