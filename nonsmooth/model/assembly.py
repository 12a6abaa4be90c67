"""Assembly of the blocks of the equations of motion from the elements.

Each kind of element becomes one CasADi function of placements and parameters, shared by all elements of the kind; the
tangent map turns its derivatives into Jacobians by velocities. The functions are inlined block by block, so the cost of
building and evaluating grows with the number of elements.
"""

import dataclasses
from collections.abc import Callable, Iterable
from functools import wraps
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import casadi as ca
import numpy as np

from nonsmooth.flexible.modes import Modes
from nonsmooth.laws.base import Law
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity, LineForce
from nonsmooth.model.frames import Placement, PlanarPlacement, SpatialPlacement, cross, placement_like
from nonsmooth.model.joints import Joint
from nonsmooth.model.signals import tables_looked_up

__all__ = ["ElementFunctions", "used_nodes"]

#: operations whose results or derivatives jump
KINKED = (ca.OP_FABS, ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT, ca.OP_LE)
#: numbers by which a right limit is later: a time computed otherwise may be as much before the kink
LATER = 16


F = TypeVar("F", bound=Callable[..., ca.Function])


def _by_kind(make: F) -> F:
    """A method of an element, and perhaps of further arguments, that is called once for all elements of a kind."""

    @wraps(make)
    def found(self: "ElementFunctions", element: Element, *more: str) -> ca.Function:
        key = make.__name__, self._kind(element), more
        if key not in self._cache:
            self._cache[key] = make(self, element, *more)
        return self._cache[key]

    return cast(F, found)


class ElementFunctions:
    """CasADi functions of element kinds, created on first use and shared by the elements of a kind."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._cache: dict[Any, ca.Function] = {}
        self._kinds: dict[int, tuple[Element, tuple[Any, ...]]] = {}

    @_by_kind
    def body(self, element: Body) -> ca.Function:
        """(q, v, p) -> z, forces of the body on itself, M; the twist of a rigid body are its velocities."""
        local, p = self.parameters(element)
        q, v = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("v", len(element.v_columns))
        outputs = [element.placement(q, v).z, element.inner_forces(q, v, p), element.mass_matrix(p)]
        return ca.Function("body", [q, v, local], outputs)

    @_by_kind
    def node(self, element: Body, node: str) -> ca.Function:
        """(q, v) -> z of a node, or of the body's own frame by an empty name, its angle, its twist A v, and A."""
        q, v = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("v", len(element.v_columns))
        placement, angle = element.placement(q, v), element.angle_of(q)
        if node:
            placement, angle = element.node_placement(node, q, v)
        outputs = [placement.z, angle, placement.twist, element.twist_map(node, q, v)]
        return ca.Function("node", [q, v], outputs, ["q", "v"], ["z", "angle", "twist", "A"])

    def frame(self, element: Body, node: str, q: ca.SX, v: ca.SX) -> tuple[Placement, ca.SX, ca.SX]:
        """Placement and angle of a node, or of the own frame by an empty name, and the map from v to the twist."""
        z, angle, twist, A = self.node(element, node)(q, v)
        return (PlanarPlacement if self.dimension == 2 else SpatialPlacement)(z, twist), angle, A

    @_by_kind
    def advance(self, element: Body) -> ca.Function:
        """(q, u, dt) -> coordinates after dt at the constant velocity u."""
        q, u = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("u", len(element.v_columns))
        dt = ca.SX.sym("dt")
        return ca.Function("advance", [q, u, dt], [element.advance(q, u, dt)])

    @_by_kind
    def weight(self, element: Gravity) -> ca.Function:
        """(z, mass, p) -> force vector on a body, its potential energy."""
        body, mass = placement_like(self.dimension, "a"), ca.SX.sym("mass")
        local, p = self.parameters(element)
        weight = body.generalized_force(mass * p.acceleration, ca.SX.zeros(body.position.numel()))
        return ca.Function("weight", [body.z, mass, local], [weight, -mass * ca.dot(p.acceleration, body.position)])

    @_by_kind
    @tables_looked_up()
    def forces(self, element: Force) -> ca.Function:
        """(t, z.., v.., p) -> potential, force vector on each body; in the plane each z with the angle, as of all
        elements with `turns`."""
        return self._forces(element)

    @_by_kind
    def differentiable_forces(self, element: Force) -> ca.Function:
        """`forces` that have derivatives by time: tables are a sum over all their intervals."""
        found = self.forces(element)
        calls = any(found.instruction_id(k) == ca.OP_CALL for k in range(found.n_instructions()))
        return self._forces(element) if calls else found

    def _forces(self, element: Force) -> ca.Function:
        t, bodies, arguments, p = self._arguments_of_force(element)
        potential = element.potential(bodies, p)
        stored = ca.SX(0) if potential is None else potential
        return ca.Function("forces", arguments, [stored, *element.forces(t, bodies, p)])

    @_by_kind
    @tables_looked_up()
    def powers(self, element: Force) -> ca.Function:
        """(t, z.., v.., p) -> potential energy, power of the rest of the force as a load, and as damping."""
        t, bodies, arguments, p = self._arguments_of_force(element)
        stored, loads, damping = ca.SX(0), ca.SX(0), ca.SX(0)
        if element.conservative:
            stored = element.potential(bodies, p)
        if element.mixed or not element.conservative:
            forces = element.nonconservative(t, bodies, p) if element.mixed else element.forces(t, bodies, p)
            power = sum((ca.dot(force, body.twist) for force, body in zip(forces, bodies, strict=True)), ca.SX(0))
            loads, damping = (loads, power) if element.dissipative else (power, damping)
        return ca.Function("powers", arguments, [stored, loads, damping])

    @_by_kind
    def ends(self, element: LineForce) -> ca.Function:
        """(z.., p) -> vector between the two ends, and a sum of the lengths it is computed from."""
        a, b = (placement_like(self.dimension, str(i)) for i in range(2))
        local, p = self.parameters(element)
        at_a, at_b, line, _ = element._points((a, b), p)
        lengths = sum((ca.norm_1(one) for one in (a.position, b.position, at_a, at_b)), ca.SX(0))
        return ca.Function("ends", [a.z, b.z, local], [line, lengths])

    def _arguments_of_force(self, element: Force) -> tuple[ca.SX, tuple[Placement, ...], list[ca.SX], SimpleNamespace]:
        """Time, placements, the arguments of a function of these, and the parameters by name."""
        count = len(element.body_fields)
        bodies = tuple(placement_like(self.dimension, str(i), turns=element.turns) for i in range(count))
        local, p = self.parameters(element)
        t = ca.SX.sym("t")
        return t, bodies, [t, *(body.z for body in bodies), *(body.twist for body in bodies), local], p

    @_by_kind
    def constraint(self, element: Joint) -> ca.Function:
        """(t, z_a, z_b, p) -> g, its residual, J_a, J_b, explicit rate of g (right limit), point of the reaction."""
        a, b, local, p = self._arguments(element)
        t = ca.SX.sym("t")
        g = element.constraint(t, a, b, p)
        rate = ca.jacobian(g, t)
        if _has_kinks(ca.Function("g", [t, local, a.z, b.z], [g])):
            # derivatives at a kink are those before it, or the mean of both
            smallest = float(np.nextafter(0.0, 1.0))
            rate = ca.substitute(rate, t, t + LATER * float(np.finfo(float).eps) * ca.fabs(t) + LATER * smallest)
        outputs = [g, element.violation(t, a, b, p), _jacobian(g, a), _jacobian(g, b), rate,
                   element.application_point(p)]  # fmt: skip
        names = ["g", "residual", "J_a", "J_b", "rate", "point"]
        return ca.Function("constraint", [t, a.z, b.z, local], outputs, ["t", "a", "b", "p"], names)

    @_by_kind
    def closure(self, element: Joint) -> ca.Function:
        """(t, z_a, z_b, p) -> constraint residual, J_a, J_b, also valid for large angles, unlike those of g."""
        a, b, local, p = self._arguments(element)
        t = ca.SX.sym("t")
        residual = element.violation(t, a, b, p)
        outputs = [residual, _jacobian(residual, a), _jacobian(residual, b)]
        return ca.Function("closure", [t, a.z, b.z, local], outputs, ["t", "a", "b", "p"], ["residual", "J_a", "J_b"])

    @_by_kind
    def gaps(self, element: Contact) -> ca.Function:
        """(z_a, z_b, p) -> g_N, true gaps, J_a, J_b, T_a, T_b; gap rates J_a v_a + J_b v_b, slips T_a v_a + T_b v_b."""
        a, b, local, p = self._arguments(element)
        g, slip = element.gaps(a, b, p), element.slip(a, b, p)
        slips = [ca.jacobian(slip, x.twist) for x in (a, b)]
        outputs = [g, element.true_gaps(a, b, p), _jacobian(g, a), _jacobian(g, b), *slips]
        return ca.Function("gaps", [a.z, b.z, local], outputs)

    @_by_kind
    def surface(self, element: Contact) -> ca.Function:
        """(z_a, z_b, p) -> true gaps, J_a, J_b, T_a, T_b of rates and slips at the true surfaces, which may overlap."""
        a, b, local, p = self._arguments(element)
        g, slip = element.true_gaps(a, b, p), element.true_slip(a, b, p)
        slips = [ca.jacobian(slip, x.twist) for x in (a, b)]
        return ca.Function("surface", [a.z, b.z, local], [g, _jacobian(g, a), _jacobian(g, b), *slips])

    @_by_kind
    def contact_axes(self, element: Contact) -> ca.Function:
        """(z_a, z_b, p) -> unit normals from a towards b, each with its tangents, in the ground frame (d, gaps d)."""
        a, b, local, p = self._arguments(element)
        d = self.dimension
        pushes = _jacobian(element.true_gaps(a, b, p), b)[:, :d]
        slips = ca.jacobian(element.true_slip(a, b, p), b.twist)[:, :d]
        tangents, columns = d - 1, []
        for i in range(len(element.gap_labels)):
            columns += [pushes[i, :].T, slips[i * tangents : (i + 1) * tangents, :].T]
        return ca.Function("contact_axes", [a.z, b.z, local], [ca.densify(ca.horzcat(*columns))])

    @_by_kind
    def tangent_spin(self, element: Contact) -> ca.Function:
        """(z_a, v_a, z_b, v_b, p) -> for each gap the spin [rad/s] of its tangents about its normal, less the mean spin
        of both bodies; positive from the first tangent to the second."""
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

    @_by_kind
    def coefficients(self, element: Contact) -> ca.Function:
        """(p) -> constants of the contact's compliant law, one column in the law's order."""
        local, p = self.parameters(element)
        return ca.Function("coefficients", [local], [ca.vertcat(*element.coefficients(p).values())])

    def constants(self, element: Contact) -> tuple[str, ...]:
        """Names of the constants of the contact's compliant law."""
        return tuple(element.coefficients(self.parameters(element)[1]))

    @_by_kind
    def compliance(self, element: Contact) -> ca.Function:
        """(depth, rate, approach, slip, bristles, stiction, k) of a gap -> F_N, F_T, elastic F_N, rates of bristles."""
        law = element.contact
        assert isinstance(law, Compliant)
        names, tangents = self.constants(element), self.dimension - 1
        depth, rate, approach = (ca.SX.sym(name) for name in ("depth", "rate", "approach"))
        slip, stiction = ca.SX.sym("slip", tangents), ca.SX.sym("stiction", tangents)
        bristle, k = ca.SX.sym("bristle", len(law.states(tangents))), ca.SX.sym("k", len(names))
        constants = SimpleNamespace(**{name: k[i] for i, name in enumerate(names)})
        outputs = law.forces(depth, rate, approach, slip, bristle, stiction, constants, tangents)
        return ca.Function("compliance", [depth, rate, approach, slip, bristle, stiction, k], outputs)

    def _arguments(self, element: Element) -> tuple[Any, Any, ca.SX, SimpleNamespace]:
        """Placements of two bodies, and the parameters."""
        a, b = (placement_like(self.dimension, name, turns=element.turns) for name in "ab")
        return a, b, *self.parameters(element)

    def parameters(self, element: Element) -> tuple[ca.SX, SimpleNamespace]:
        """Symbols of the element's parameters as one column, and by name."""
        labels = list(element.numbers())
        local = ca.SX.sym("p", len(labels))
        return local, element.symbols({f"{element.name}.{label}": local[i] for i, label in enumerate(labels)})

    def labels(self, element: Element) -> tuple[str, ...]:
        """Local names of the element's parameters."""
        return self._kind(element)[1]

    def _kind(self, element: Element) -> tuple[Any, ...]:
        if id(element) not in self._kinds:  # the element is stored, so that its id is not reused
            gaps = getattr(element, "gap_labels", ())
            # properties that determine the equations, except numbers: words, flags, kinds of law, callables, None
            entries: list[tuple[str, Any]] = []
            for field in dataclasses.fields(element):
                value = getattr(element, field.name)
                if field.name == "name" or field.name in element.body_fields:
                    continue
                words = isinstance(value, tuple) and bool(value) and all(isinstance(one, str) for one in value)
                if isinstance(value, Modes) or callable(value):  # numbers of modes are not parameters
                    entries.append((field.name, id(value)))
                elif isinstance(value, Law):
                    entries.append((field.name, value.structure()))
                elif value is None or isinstance(value, (str, bool)) or words:
                    entries.append((field.name, value))
            self._kinds[id(element)] = element, (type(element), tuple(element.numbers()), tuple(entries), gaps)
        return self._kinds[id(element)][1]


def _jacobian(g: ca.SX, placement: Placement) -> ca.SX:
    return ca.jacobian(g, placement.z) @ placement.tangent()


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


def wrench_about(frame: Placement, force: ca.SX, point: ca.SX) -> ca.SX:
    """Force and torque about a point of the frame, both in the ground frame, of a force on the frame's twist."""
    arm = frame.rotate(point)
    if arm.numel() == 2:
        return ca.vertcat(force[:2], force[2] - cross(arm, force))
    # the torque about the centre of mass is in the frame of the body, as its angular velocity
    return ca.vertcat(force[:3], frame.rotate(force[3:]) - ca.cross(arm, force[:3]))


def used_nodes(elements: Iterable[Element]) -> dict[str, tuple[str, ...]]:
    """Nodes on which elements act, for each body that has nodes."""
    elements = list(elements)
    used = {name for element in elements for name in element.body_names()}
    bodies = (element for element in elements if isinstance(element, Body) and element.nodes)
    return {body.name: tuple(node for node in body.nodes if f"{body.name}.{node}" in used) for body in bodies}
