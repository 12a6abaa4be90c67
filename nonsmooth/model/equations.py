"""The equations of motion of a mechanism as CasADi functions, each created on first use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import casadi as ca

from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.assembly import ElementFunctions, body_offsets, local_parameters, used_nodes
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.compliance import Compliance, compliance
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity, gravity_force
from nonsmooth.model.frames import Placement, ground_placement
from nonsmooth.model.joints import Joint

__all__ = ["Equations"]

Block = tuple[int, int, ca.SX]


class Equations:
    """Symbols of one mechanism, and the functions of `System` made of them.

    Parameters
    ----------
    elements : of the model, in order
    dimension : 2 or 3
    functions : of the kinds of elements
    parameters : their names in order
    """

    def __init__(
        self, elements: Sequence[Element], dimension: int, functions: ElementFunctions, parameters: Iterable[str]
    ) -> None:
        self.elements, self.dimension, self.functions = elements, dimension, functions
        self.tangents = dimension - 1
        self.bodies = [element for element in elements if isinstance(element, Body)]
        self.joints = [element for element in elements if isinstance(element, Joint)]
        self.contacts = [element for element in elements if isinstance(element, Contact)]
        self.offsets, self.nodes = body_offsets(self.bodies), used_nodes(elements)
        self.nq = sum(len(body.q_columns) for body in self.bodies)
        self.nv = sum(len(body.v_columns) for body in self.bodies)
        self.t, self.q, self.v = ca.SX.sym("t"), ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        self.u, self.dt = ca.SX.sym("u", self.nv), ca.SX.sym("dt")
        names = list(parameters)
        self.p = ca.SX.sym("p", len(names))
        self.symbols = dict(zip(names, ca.vertsplit(self.p), strict=True)) if names else {}

    @cached_property
    def placements(self) -> dict[str, Placement]:
        """Of the ground, of the bodies and of the nodes on which elements act."""
        grounds = [element.name for element in self.elements if isinstance(element, Ground)]
        placements: dict[str, Placement] = {name: ground_placement(self.dimension) for name in grounds}
        for body, q, v in self._coordinates():
            placements[body.name] = body.placement(q, v)
            for node in self.nodes.get(body.name, ()):
                placements[f"{body.name}.{node}"] = body.node_placement(node, q, v)[0]
        return placements

    @cached_property
    def _carriers(self) -> dict[str, tuple[str, ca.SX | None]]:
        """For each moving frame its body and the map A from the body's velocities to its twist, None if identical."""
        carriers: dict[str, tuple[str, ca.SX | None]] = {}
        for body, q, v in self._coordinates():
            rigid = self.placements[body.name].twist.numel() == v.numel()
            carriers[body.name] = body.name, None if rigid else self.functions.node(body, "")(q, v)[3]
            for node in self.nodes.get(body.name, ()):
                carriers[f"{body.name}.{node}"] = body.name, self.functions.node(body, node)(q, v)[3]
        return carriers

    @cached_property
    def _turning(self) -> dict[str, ca.SX]:
        """z of the ground and of the bodies for loads: in the plane with the angle, which is zero for the ground."""
        angles: dict[str, ca.SX] = {}
        for body, q, v in self._coordinates():
            angles[body.name] = body.angle_of(q)
            for node in self.nodes.get(body.name, ()):
                angles[f"{body.name}.{node}"] = body.node_placement(node, q, v)[1]
        still = ca.SX(0) if self.dimension == 2 else ca.SX(0, 1)
        return {name: ca.vertcat(x.z, angles.get(name, still)) for name, x in self.placements.items()}

    def _coordinates(self) -> Iterable[tuple[Body, ca.SX, ca.SX]]:
        """Bodies with their coordinates and velocities."""
        return zip(self.bodies, self._by_body(self.q, 0), self._by_body(self.v, 1), strict=True)

    def _by_body(self, column: ca.SX, which: int) -> list[ca.SX]:
        ends = [self.offsets[body.name][which].stop for body in self.bodies]
        parts: list[ca.SX] = ca.vertsplit(column, [0, *ends])
        return parts

    # ---------------------------------------------------------------------------------------------------------- bodies

    @cached_property
    def _mass_matrix(self) -> ca.SX:
        return ca.diagcat(*(body.mass_matrix(body.symbols(self.symbols)) for body in self.bodies))

    @cached_property
    def _kinematics(self) -> ca.SX:
        return ca.diagcat(*(body.kinematics(q) for body, q, _ in self._coordinates()))

    @cached_property
    def M(self) -> ca.Function:
        return ca.Function("M", [self.q, self.p], [self._mass_matrix], ["q", "p"], ["M"])

    @cached_property
    def B(self) -> ca.Function:
        return ca.Function("B", [self.q], [self._kinematics], ["q"], ["B"])

    @cached_property
    def advance(self) -> ca.Function:
        velocities = self._by_body(self.u, 1)
        advanced = [b.advance(q, u, self.dt) for (b, q, _), u in zip(self._coordinates(), velocities, strict=True)]
        inputs = [self.q, self.u, self.dt]
        return ca.Function("advance", inputs, [ca.vertcat(*advanced)], ["q", "u", "dt"], ["q_next"])

    # ---------------------------------------------------------------------------------------------------------- forces

    @cached_property
    def _forces(self) -> tuple[ca.SX, tuple[ca.SX, ca.SX, ca.SX]]:
        """Applied forces; potential energy, power of loads and of damping."""
        applied: dict[str, ca.SX] = {body.name: ca.SX.zeros(len(body.v_columns)) for body in self.bodies}
        potential, loads, damping = ca.SX(0), ca.SX(0), ca.SX(0)
        for body, q, v in self._coordinates():
            p = body.symbols(self.symbols)
            given, damped = body.powers(q, v, p)
            potential, loads, damping = potential + body.stored_energy(q, v, p), loads + given, damping + damped
        for element in self.elements:
            if isinstance(element, Gravity):
                p = element.symbols(self.symbols)
                for body in self.bodies:
                    placement = self.placements[body.name]
                    mass = body.symbols(self.symbols).mass
                    self._apply(applied, body.name, gravity_force(placement, mass, p))
                    potential -= mass * ca.dot(p.acceleration, placement.position)
            elif isinstance(element, Force):
                names = element.body_names()
                placements = [self.placements[name] for name in names]
                arguments = [self.t, *(self._turning[name] for name in names), *(x.twist for x in placements)]
                arguments.append(local_parameters(element, self.symbols))
                stored, *forces = self.functions.forces(element)(*arguments)
                for name, force in zip(names, forces, strict=True):
                    self._apply(applied, name, force)
                if element.conservative:
                    potential += stored
                    if not element.mixed:
                        continue
                    forces = self.functions.nonconservative(element).call(arguments)
                power = ca.SX(0)
                for name, force in zip(names, forces, strict=True):
                    if name in self._carriers:
                        power += ca.dot(force, self.placements[name].twist)
                if element.dissipative:
                    damping += power
                else:
                    loads += power
        return ca.vertcat(*applied.values()), (potential, loads, damping)

    def _apply(self, applied: dict[str, ca.SX], name: str, force: ca.SX) -> None:
        """Add the force on a frame, along its twist, to those on its body; A' f."""
        if name in self._carriers:
            body, A = self._carriers[name]
            applied[body] += force if A is None else A.T @ force

    @cached_property
    def h(self) -> ca.Function:
        inner = (body.inner_forces(q, v, body.symbols(self.symbols)) for body, q, v in self._coordinates())
        inputs = [self.t, self.q, self.v, self.p]
        return ca.Function("h", inputs, [ca.vertcat(*inner) + self._forces[0]], ["t", "q", "v", "p"], ["h"])

    @cached_property
    def linear_forces(self) -> ca.Function:
        """(p) -> stiffness and damping (nv,) of the coordinates of deformation, see `Body.linear_forces`."""
        columns = zip(*(body.linear_forces(body.symbols(self.symbols)) for body in self.bodies), strict=True)
        outputs = [ca.densify(ca.vertcat(*column)) for column in columns]
        return ca.Function("linear_forces", [self.p], outputs, ["p"], ["stiffness", "damping"])

    @cached_property
    def energy(self) -> ca.Function:
        kinetic = ca.dot(self.v, self._mass_matrix @ self.v) / 2
        inputs = [self.t, self.q, self.v, self.p]
        outputs = [ca.vertcat(kinetic, *self._forces[1])]
        return ca.Function("energy", inputs, outputs, ["t", "q", "v", "p"], ["energy"])

    # ---------------------------------------------------------------------------------------------------------- joints

    @cached_property
    def _constraints(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        """g, violation, W_g, explicit rate of g, reactions, and the symbols of the forces."""
        sizes = [len(joint.rows) for joint in self.joints]
        lam = ca.SX.sym("lam_g", sum(sizes))
        parts = ca.vertsplit(lam, [0, *_ends(sizes)]) if sizes else []
        blocks: list[Block] = []
        g, violation, rates, reactions = [], [], [], []
        column = 0
        for joint, forces in zip(self.joints, parts, strict=True):
            a, b = joint.body_names()
            local = local_parameters(joint, self.symbols)
            function = self.functions.constraint(joint)
            value, found, J_a, J_b, rate, point = function(self.t, self.placements[a].z, self.placements[b].z, local)
            blocks += self._blocks(column, ((a, J_a), (b, J_b)))
            force = J_b.T @ forces
            arm = self.placements[b].rotate(point)
            if self.dimension == 2:
                reactions.append(ca.vertcat(force[:2], force[2] - (arm[0] * force[1] - arm[1] * force[0])))
            else:  # the torque about the centre of mass is in the frame of the body, as its angular velocity
                torque = self.placements[b].rotate(force[3:]) - ca.cross(arm, force[:3])
                reactions.append(ca.vertcat(force[:3], torque))
            g.append(value)
            violation.append(found)
            rates.append(rate)
            column += len(joint.rows)
        W = _scattered(blocks, self.nv, column)
        return ca.vertcat(*g), ca.vertcat(*violation), W, ca.vertcat(*rates), ca.vertcat(*reactions), lam

    def _of_joints(self, name: str, which: int) -> ca.Function:
        return ca.Function(name, [self.t, self.q, self.p], [self._constraints[which]], ["t", "q", "p"], [name])

    @cached_property
    def g(self) -> ca.Function:
        return self._of_joints("g", 0)

    @cached_property
    def violation(self) -> ca.Function:
        return self._of_joints("violation", 1)

    @cached_property
    def W_g(self) -> ca.Function:
        return self._of_joints("W_g", 2)

    @cached_property
    def g_t(self) -> ca.Function:
        return self._of_joints("g_t", 3)

    @cached_property
    def reaction(self) -> ca.Function:
        reaction, lam = self._constraints[4:]
        inputs = [self.t, self.q, self.p, lam]
        return ca.Function("reaction", inputs, [reaction], ["t", "q", "p", "lam_g"], ["reaction"])

    # -------------------------------------------------------------------------------------------------------- contacts

    @cached_property
    def _contacts(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """g_N, true gaps, W_N, W_T."""
        gaps, distances = [], []
        normal: list[Block] = []
        tangential: list[Block] = []
        column = 0
        for contact in self.contacts:
            a, b = contact.body_names()
            arguments = (self.placements[a].z, self.placements[b].z, local_parameters(contact, self.symbols))
            g, distance, J_a, J_b, T_a, T_b = self.functions.gaps(contact)(*arguments)
            normal += self._blocks(column, ((a, J_a), (b, J_b)))
            tangential += self._blocks(self.tangents * column, ((a, T_a), (b, T_b)))
            gaps.append(g)
            distances.append(distance)
            column += len(contact.gap_labels)
        W_N, W_T = _scattered(normal, self.nv, column), _scattered(tangential, self.nv, self.tangents * column)
        return ca.vertcat(*gaps), ca.vertcat(*distances), W_N, W_T

    def _of_contacts(self, name: str, which: int) -> ca.Function:
        return ca.Function(name, [self.q, self.p], [self._contacts[which]], ["q", "p"], [name])

    @cached_property
    def g_N(self) -> ca.Function:
        return self._of_contacts("g_N", 0)

    @cached_property
    def distance(self) -> ca.Function:
        return self._of_contacts("distance", 1)

    @cached_property
    def W_N(self) -> ca.Function:
        return self._of_contacts("W_N", 2)

    @cached_property
    def W_T(self) -> ca.Function:
        return self._of_contacts("W_T", 3)

    @cached_property
    def bias(self) -> ca.Function:
        (_, _, W_g, g_t, _, _), (_, _, W_N, W_T) = self._constraints, self._contacts
        rates = ca.vertcat(W_g.T @ self.v + g_t, W_N.T @ self.v, W_T.T @ self.v)
        along = ca.vertcat(1, self._kinematics @ self.v)
        bias = ca.jtimes(rates, ca.vertcat(self.t, self.q), along) if rates.numel() else rates
        return ca.Function("bias", [self.t, self.q, self.v, self.p], [bias], ["t", "q", "v", "p"], ["bias"])

    @cached_property
    def surface(self) -> ca.Function:
        """True gaps, and the directions of their rates and of the slips."""
        distances = []
        normal: list[Block] = []
        tangential: list[Block] = []
        column = 0
        for contact in self.contacts:
            a, b = contact.body_names()
            arguments = (self.placements[a].z, self.placements[b].z, local_parameters(contact, self.symbols))
            distance, J_a, J_b, T_a, T_b = self.functions.surface(contact)(*arguments)
            normal += self._blocks(column, ((a, J_a), (b, J_b)))
            tangential += self._blocks(self.tangents * column, ((a, T_a), (b, T_b)))
            distances.append(distance)
            column += len(contact.gap_labels)
        D_N, D_T = _scattered(normal, self.nv, column), _scattered(tangential, self.nv, self.tangents * column)
        outputs = [ca.vertcat(*distances), D_N, D_T]
        return ca.Function("surface", [self.q, self.p], outputs, ["q", "p"], ["distance", "D_N", "D_T"])

    @cached_property
    def contact_axes(self) -> ca.Function:
        """For each gap its unit normal, then its tangents, in the ground frame."""
        columns = []
        for contact in self.contacts:
            a, b = contact.body_names()
            arguments = (self.placements[a].z, self.placements[b].z, local_parameters(contact, self.symbols))
            columns.append(self.functions.contact_axes(contact)(*arguments))
        axes = ca.vec(ca.horzcat(*columns)) if columns else ca.SX(0, 1)
        return ca.Function("contact_axes", [self.q, self.p], [axes], ["q", "p"], ["axes"])

    @cached_property
    def contact_law(self) -> ca.Function:
        law: list[list[ca.SX]] = [[], [], [], []]
        for contact in self.contacts:
            rigid = isinstance(contact.contact, Rigid)
            for values, label in zip(law, ("restitution", "friction", "tangential", contact.size_label), strict=True):
                known = rigid or label == contact.size_label
                value = self.symbols[f"{contact.name}.{label}"] if known else ca.SX(0)
                values.extend([value] * len(contact.gap_labels))
        outputs = [ca.vertcat(*values) for values in law]
        return ca.Function("contact_law", [self.p], outputs, ["p"], ["restitution", "friction", "tangential", "size"])

    @cached_property
    def compliance(self) -> Compliance | None:
        return compliance(self.contacts, self.functions, self.p, self.symbols)

    @cached_property
    def tangent_spins(self) -> ca.Function:
        """(q, v, p) -> spin of the tangents of each spatial contact about its normal (nc,) [rad/s].

        Relative to the mean spin of both bodies, with which bristles rotate.
        """
        spins = []
        for contact in self.contacts:
            a, b = (self.placements[name] for name in contact.body_names())
            local = local_parameters(contact, self.symbols)
            spins.append(self.functions.tangent_spin(contact)(a.z, a.twist, b.z, b.twist, local))
        return ca.Function("tangent_spins", [self.q, self.v, self.p], [ca.vertcat(*spins)])

    def _blocks(self, column: int, blocks: tuple[tuple[str, ca.SX], ...]) -> list[Block]:
        """(J A)' of each frame that can move, at the rows of its body."""
        found = []
        for name, J in blocks:
            if name in self._carriers:
                body, A = self._carriers[name]
                found.append((self.offsets[body][1].start, column, (J if A is None else J @ A).T))
        return found


def _ends(sizes: Sequence[int]) -> list[int]:
    ends, end = [], 0
    for size in sizes:
        end += size
        ends.append(end)
    return ends


def _scattered(blocks: Sequence[Block], rows: int, columns: int) -> ca.SX:
    """The matrix of blocks at (row, column); later blocks replace earlier ones at the same position."""
    entries: dict[tuple[int, int], ca.SX] = {}
    for first, column, block in blocks:
        i, j = block.sparsity().get_triplet()
        nonzeros = ca.vertsplit(block.nz[:]) if i else []
        entries |= {(column + b, first + a): value for a, b, value in zip(i, j, nonzeros, strict=True)}
    places = sorted(entries)
    by_column: dict[int, int] = defaultdict(int)
    for column, _ in places:
        by_column[column] += 1
    starts = [0, *_ends([by_column[column] for column in range(columns)])]
    sparsity = ca.Sparsity(rows, columns, starts, [row for _, row in places])
    return ca.SX(sparsity, ca.vertcat(*(entries[place] for place in places)))
