"""The builder: elements are added by name, `build()` checks the mechanism and freezes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import casadi as ca

from nonsmooth.exceptions import ModelError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.assembly import ElementFunctions, body_offsets, check_dimension, local_parameters
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.checks import check_start, closed_start
from nonsmooth.model.compliance import compliance
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity, gravity_force
from nonsmooth.model.frames import Placement, ground_placement
from nonsmooth.model.joints import Joint
from nonsmooth.model.state import State
from nonsmooth.model.system import Names, System

__all__ = ["Model"]

E = TypeVar("E", bound=Element)


class Model:
    """A mechanism under construction: the one mutable object of the package.

    Parameters
    ----------
    elements : elements to add, in order
    name : for the manifest
    provenance : parameter name -> where its value comes from

    >>> from nonsmooth import Gravity, Ground, PlanarBody, PrismaticClearance, Rigid
    >>> model = Model(name="slider on a rod")
    >>> rod = model.add(Ground("rod"))
    >>> slider = model.add(PlanarBody("slider", mass=5.0, inertia=8e-4))
    >>> contact = Rigid(restitution=0.0, friction=0.0)
    >>> guide = model.add(PrismaticClearance("guide", rod, slider, length=0.02, clearance=1e-5, contact=contact))
    >>> gravity = model.add(Gravity(acceleration=(0.0, -9.81)))
    >>> model.build()
    System('slider on a rod': 3 velocities, 0 constraints, 4 contacts, 15 parameters)
    """

    def __init__(
        self, elements: Iterable[Element] = (), *, name: str = "model", provenance: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.provenance: dict[str, Any] = dict(provenance or {})
        self.origin: dict[str, str] = {}  # "problem" and "source", where a ready problem made the model
        self._elements: dict[str, Element] = {}
        for element in elements:
            self.add(element)

    def add(self, element: E) -> E:
        """Add an element and return it.

        Raises
        ------
        ModelError
            If it is no element, or its name is taken.
        """
        if not isinstance(element, Element):
            raise ModelError(f"Model.add takes a body, joint, driver, clearance or force, got {element!r}.")
        if element.name in self._elements:
            other = type(self._elements[element.name]).__name__
            raise ModelError(
                f'The name "{element.name}" is taken by a {other}; give the {type(element).__name__} another name.'
            )
        self._elements[element.name] = element
        return element

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements so far, in order."""
        return tuple(self._elements.values())

    def build(self, *, assemble: bool = False) -> System:
        """Check the mechanism and freeze it.

        Parameters
        ----------
        assemble : bool
            Move the bodies, by Newton steps of least change in the mass metric, until all joints and drivers are
            closed, and make the velocities consistent. Without it, open joints are an error.

        Raises
        ------
        ModelError
            If bodies are missing, planar and spatial elements are mixed, joints are open, contacts overlap, constraints
            are redundant, or a load is not finite at the start.
        """
        bodies = [element for element in self.elements if isinstance(element, Body)]
        if not bodies:
            raise ModelError("The model has no body; add a PlanarBody or a SpatialBody.")
        dimension = bodies[0].dimensions[0]
        for element in self.elements:
            check_dimension(element, dimension)
        self._check_references()
        system = _Assembler(self.elements, dimension).system(self.name, self.provenance, self.origin)
        start = closed_start(system, system.start, system.parameter_values) if assemble else system.start
        object.__setattr__(system, "start", start)
        check_start(system, start, system.parameter_values)
        return system

    def _check_references(self) -> None:
        grounds = [element.name for element in self.elements if isinstance(element, Ground)]
        if len(grounds) > 1:
            raise ModelError(f"A model has one ground, got {len(grounds)}: {', '.join(grounds)}; keep one of them.")
        for element in self.elements:
            names = element.body_names()
            for name, field in zip(names, element.body_fields, strict=True):
                self._check_reference(element, name, getattr(element, field))
            if len(names) == 2 and names[0] == names[1]:
                raise element.error(f'it joins "{names[0]}" to itself; name two bodies.')
            if len(names) == 1 and isinstance(self._elements[names[0]], Ground):
                raise element.error(f'it acts on the ground "{names[0]}", which cannot move; name a body.')

    def _check_reference(self, element: Element, name: str, reference: Element | str) -> None:
        target = self._elements.get(name)
        if target is None:
            known = ", ".join(body.name for body in self.elements if isinstance(body, Body | Ground))
            raise element.error(
                f'the body "{name}" is not in the model; add it with model.add(...). Bodies so far: {known}.'
            )
        if not (isinstance(reference, str) or reference is target):
            raise element.error(
                f'its "{name}" is another object than the {type(target).__name__} "{name}" of the model; '
                "pass what model.add(...) returned, or the name."
            )
        if not isinstance(target, Body | Ground):
            raise element.error(f'"{name}" is a {type(target).__name__}, not a body; name a body or the ground.')


class _Assembler:
    """Symbols of one build."""

    def __init__(self, elements: tuple[Element, ...], dimension: int) -> None:
        self.elements = elements
        self.dimension = dimension
        self.bodies = [element for element in elements if isinstance(element, Body)]
        self.joints = [element for element in elements if isinstance(element, Joint)]
        self.contacts = [element for element in elements if isinstance(element, Contact)]
        self.functions = ElementFunctions(dimension)
        self.offsets = body_offsets(self.bodies)
        self.nq = sum(len(body.q_columns) for body in self.bodies)
        self.nv = sum(len(body.v_columns) for body in self.bodies)
        self.t, self.q, self.v = ca.SX.sym("t"), ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        self.u, self.dt = ca.SX.sym("u", self.nv), ca.SX.sym("dt")
        self.parameters = {f"{e.name}.{label}": value for e in elements for label, value in e.numbers().items()}
        self.p = ca.SX.sym("p", len(self.parameters))
        self.symbols = {name: self.p[i] for i, name in enumerate(self.parameters)}
        grounds = [element.name for element in elements if isinstance(element, Ground)]
        self.placements: dict[str, Placement] = {name: ground_placement(dimension) for name in grounds}
        for body in self.bodies:
            iq, iv = self.offsets[body.name]
            self.placements[body.name] = body.placement(self.q[iq], self.v[iv])

    def system(self, name: str, provenance: Mapping[str, Any], origin: Mapping[str, str]) -> System:
        t, q, v, p = self.t, self.q, self.v, self.p
        M, h, advance, kinematics = self._bodies()
        applied, energy = self._forces()
        g, closure, W_g, g_t, reaction, lam = self._constraints()
        g_N, distance, W_N, W_T, law = self._contacts()
        rates = ca.vertcat(W_g.T @ v + g_t, W_N.T @ v, W_T.T @ v)
        drift = ca.jtimes(rates, ca.vertcat(t, q), ca.vertcat(1, kinematics @ v)) if rates.numel() else rates
        kinetic = ca.dot(v, M @ v) / 2
        return System(
            name=name,
            dimension=self.dimension,
            elements=self.elements,
            names=self._names(),
            parameters=self.parameters,
            start=self._start(),
            provenance=provenance,
            origin=dict(origin),
            M=ca.Function("M", [q, p], [M], ["q", "p"], ["M"]),
            inverse_factor=ca.Function("inverse_factor", [p], [self._inverse_factor()], ["p"], ["inverse_factor"]),
            h=ca.Function("h", [t, q, v, p], [h + applied], ["t", "q", "v", "p"], ["h"]),
            B=ca.Function("B", [q], [kinematics], ["q"], ["B"]),
            advance=ca.Function("advance", [q, self.u, self.dt], [advance], ["q", "u", "dt"], ["q_next"]),
            g=ca.Function("g", [t, q, p], [g], ["t", "q", "p"], ["g"]),
            W_g=ca.Function("W_g", [t, q, p], [W_g], ["t", "q", "p"], ["W_g"]),
            g_t=ca.Function("g_t", [t, q, p], [g_t], ["t", "q", "p"], ["g_t"]),
            closure=ca.Function("closure", [t, q, p], [closure], ["t", "q", "p"], ["closure"]),
            g_N=ca.Function("g_N", [q, p], [g_N], ["q", "p"], ["g_N"]),
            W_N=ca.Function("W_N", [q, p], [W_N], ["q", "p"], ["W_N"]),
            W_T=ca.Function("W_T", [q, p], [W_T], ["q", "p"], ["W_T"]),
            drift=ca.Function("drift", [t, q, v, p], [drift], ["t", "q", "v", "p"], ["drift"]),
            distance=ca.Function("distance", [q, p], [distance], ["q", "p"], ["distance"]),
            surface=ca.Function("surface", [q, p], [*self._surface()], ["q", "p"], ["distance", "D_N", "D_T"]),
            compliance=compliance(self.contacts, self.functions, p, self.symbols),
            contact_law=ca.Function("contact_law", [p], law, ["p"], ["restitution", "friction", "tangential", "size"]),
            energy=ca.Function(
                "energy", [t, q, v, p], [ca.vertcat(kinetic, *energy)], ["t", "q", "v", "p"], ["energy"]
            ),
            reaction=ca.Function("reaction", [t, q, p, lam], [reaction], ["t", "q", "p", "lam_g"], ["reaction"]),
        )

    def _bodies(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        masses, forces, advanced, kinematics = [], [], [], []
        for body in self.bodies:
            iq, iv = self.offsets[body.name]
            p = body.symbols(self.symbols)
            masses.append(body.mass_matrix(p))
            forces.append(body.gyroscopic(self.v[iv], p))
            advanced.append(body.advance(self.q[iq], self.u[iv], self.dt))
            kinematics.append(body.kinematics(self.q[iq]))
        return ca.diagcat(*masses), ca.vertcat(*forces), ca.vertcat(*advanced), ca.diagcat(*kinematics)

    def _inverse_factor(self) -> ca.SX:
        """L^-1 with M = L L', body by body: as sparse as M."""
        factors = (ca.chol(body.mass_matrix(body.symbols(self.symbols))).T for body in self.bodies)
        return ca.diagcat(*(ca.solve(factor, ca.SX.eye(factor.size1())) for factor in factors))

    def _forces(self) -> tuple[ca.SX, tuple[ca.SX, ca.SX, ca.SX]]:
        applied, potential = ca.SX.zeros(self.nv), ca.SX(0)
        loads, damping = ca.SX(0), ca.SX(0)
        for element in self.elements:
            if isinstance(element, Gravity):
                for body in self.bodies:
                    placement, p = self.placements[body.name], element.symbols(self.symbols)
                    mass = body.symbols(self.symbols).mass
                    applied[self.offsets[body.name][1]] += gravity_force(placement, mass, p)
                    potential -= mass * ca.dot(p.acceleration, placement.position)
            elif isinstance(element, Force):
                names = element.body_names()
                placements = [self.placements[name] for name in names]
                arguments = [x.z for x in placements] + [x.twist for x in placements]
                local = local_parameters(element, self.symbols)
                stored, *forces = self.functions.forces(element)(self.t, *arguments, local)
                power = ca.SX(0)
                for body_name, force in zip(names, forces, strict=True):
                    if body_name in self.offsets:
                        iv = self.offsets[body_name][1]
                        applied[iv] += force
                        power += ca.dot(force, self.v[iv])
                if element.dissipative:
                    damping += power
                elif type(element).potential is not Force.potential:
                    potential += stored
                else:
                    loads += power
        return applied, (potential, loads, damping)

    def _constraints(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        rows = sum(len(joint.rows) for joint in self.joints)
        lam = ca.SX.sym("lam_g", rows)
        W = ca.SX(self.nv, rows)
        g, closure, rates, reactions = [], [], [], []
        row = 0
        for joint in self.joints:
            a, b = joint.body_names()
            local = local_parameters(joint, self.symbols)
            function = self.functions.constraint(joint)
            value, misfit, J_a, J_b, rate, point = function(self.t, self.placements[a].z, self.placements[b].z, local)
            columns = slice(row, row + len(joint.rows))
            self._scatter(W, columns, ((a, J_a), (b, J_b)))
            force = J_b.T @ lam[columns]
            arm = self.placements[b].rotate(point)
            reactions.append(ca.vertcat(force[:2], force[2] - (arm[0] * force[1] - arm[1] * force[0])))
            g.append(value)
            closure.append(misfit)
            rates.append(rate)
            row += len(joint.rows)
        return ca.vertcat(*g), ca.vertcat(*closure), W, ca.vertcat(*rates), ca.vertcat(*reactions), lam

    def _contacts(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, list[ca.SX]]:
        count = sum(len(contact.gap_labels) for contact in self.contacts)
        W_N, W_T = ca.SX(self.nv, count), ca.SX(self.nv, count)
        gaps, distances = [], []
        law: list[list[ca.SX]] = [[], [], [], []]
        column = 0
        for contact in self.contacts:
            a, b = contact.body_names()
            arguments = (self.placements[a].z, self.placements[b].z, local_parameters(contact, self.symbols))
            g, distance, J_a, J_b, T_a, T_b = self.functions.gaps(contact)(*arguments)
            size = len(contact.gap_labels)
            columns = slice(column, column + size)
            self._scatter(W_N, columns, ((a, J_a), (b, J_b)))
            self._scatter(W_T, columns, ((a, T_a), (b, T_b)))
            gaps.append(g)
            distances.append(distance)
            rigid = isinstance(contact.contact, Rigid)
            for values, label in zip(law, ("restitution", "friction", "tangential", contact.size_label), strict=True):
                known = rigid or label == contact.size_label
                values.extend([self.symbols[f"{contact.name}.{label}"] if known else ca.SX(0)] * size)
            column += size
        law_columns = [ca.vertcat(*values) for values in law]
        return ca.vertcat(*gaps), ca.vertcat(*distances), W_N, W_T, law_columns

    def _surface(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """True gaps, and the directions of their rates and of the slips."""
        count = sum(len(contact.gap_labels) for contact in self.contacts)
        D_N, D_T = ca.SX(self.nv, count), ca.SX(self.nv, count)
        distances = []
        column = 0
        for contact in self.contacts:
            a, b = contact.body_names()
            arguments = (self.placements[a].z, self.placements[b].z, local_parameters(contact, self.symbols))
            distance, J_a, J_b, T_a, T_b = self.functions.surface(contact)(*arguments)
            columns = slice(column, column + len(contact.gap_labels))
            self._scatter(D_N, columns, ((a, J_a), (b, J_b)))
            self._scatter(D_T, columns, ((a, T_a), (b, T_b)))
            distances.append(distance)
            column = columns.stop
        return ca.vertcat(*distances), D_N, D_T

    def _scatter(self, W: ca.SX, columns: slice, blocks: tuple[tuple[str, ca.SX], ...]) -> None:
        for name, block in blocks:
            if name in self.offsets:
                W[self.offsets[name][1], columns] = block.T

    def _names(self) -> Names:
        q = [(f"{body.name}.{label}", unit) for body in self.bodies for label, unit in body.q_columns]
        v = [(f"{body.name}.{label}", unit) for body in self.bodies for label, unit in body.v_columns]
        rows = [(f"{joint.name}.{label}", unit) for joint in self.joints for label, unit in joint.rows]
        parts = (("x", "N"), ("y", "N"), ("torque", "N m"))
        reactions = [(f"{joint.name}.{label}", unit) for joint in self.joints for label, unit in parts]
        contacts = [name for contact in self.contacts for name in contact.gap_names()]
        return Names(
            q=tuple(name for name, _ in q),
            v=tuple(name for name, _ in v),
            constraints=tuple(name for name, _ in rows),
            reactions=tuple(name for name, _ in reactions),
            contacts=tuple(contacts),
            q_units=tuple(unit for _, unit in q),
            v_units=tuple(unit for _, unit in v),
            constraint_units=tuple(unit for _, unit in rows),
            reaction_units=tuple(unit for _, unit in reactions),
        )

    def _start(self) -> State:
        starts = [body.start() for body in self.bodies]
        return State(
            0.0,
            ca.DM(ca.vertcat(*(q for q, _ in starts))).full().ravel(),
            ca.DM(ca.vertcat(*(v for _, v in starts))).full().ravel(),
        )
