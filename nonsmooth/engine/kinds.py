"""Code of the kinds of elements, made of the same definitions as the Python formulations.

Each is a CasADi function ``(t, z_a, z_b, v_a, v_b, p) -> out`` whose output is one column, and the places of its
components in the records of contacts, joints and loads, counted in doubles from the first one. A force on further
bodies has their placements and twists among its arguments, and a load for each two bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import casadi as ca

from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.contacts import Contact
from nonsmooth.model.forces import Force, Gravity, gravity_force
from nonsmooth.model.frames import Placement, placement_like
from nonsmooth.model.joints import Joint
from nonsmooth.records.schema import Shape, dtype, offset

__all__ = ["Kind", "Kinds"]

#: outputs of components: (offset in doubles, 1 or 3 components)
Places = list[tuple[int, int]]
Outputs = list[tuple[ca.SX, Places]]
#: fields from which rows are evaluated
TRUE, ACCOUNT = ("true_gap", "true_rate"), ("potential", "power", "damping")


@dataclass(frozen=True, eq=False)
class Kind:
    """A function, and the offsets of its outputs."""

    function: ca.Function
    outputs: Places


class Kinds:
    """Kinds of one mechanism; elements of one kind get one and the same object."""

    def __init__(self, shape: Shape, functions: ElementFunctions) -> None:
        self.shape, self.functions = shape, functions
        self.a, self.b = placement_like(shape.dimension, "a"), placement_like(shape.dimension, "b")
        self.t = ca.SX.sym("t")
        self._bodies: list[Placement] = [self.a, self.b]
        #: of bodies in the plane, full turns included
        self._angles: list[ca.SX] = [ca.SX.sym("angle_a"), ca.SX.sym("angle_b")]
        self._made: dict[tuple[str, int], tuple[ca.Function, Kind]] = {}

    def contact(self, element: Contact) -> Kind:
        """Per contact its gap, and directions of its normal and, where there are rows for them, tangents."""

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            g, _, J_a, J_b, T_a, T_b = of(self.a.z, self.b.z, p)
            found, tangents = [], self.shape.dimension - 1
            for k in range(g.numel()):
                found.append((g[k], [(self._at("Contact", k, "g"), 1)]))
                found += self._directions("Contact", k, 0, J_a[k, :], J_b[k, :])
                for i in range(tangents if self.shape.rows > 1 else 0):
                    row = tangents * k + i
                    found += self._directions("Contact", k, 1 + i, T_a[row, :], T_b[row, :])
            return found

        return self._made_once("contact", self.functions.gaps(element), 2, outputs)

    def joint(self, element: Joint) -> Kind:
        """Per row its value g, its directions, and the explicit rate of g."""

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            g, _, J_a, J_b, rate, _ = of(self.t, self.a.z, self.b.z, p)
            found: Outputs = []
            for k in range(g.numel()):
                bond, row = divmod(k, self.shape.rows)
                found.append((g[k], [(self._at("Joint", bond, "g") + row, 1)]))
                found.append((rate[k], [(self._at("Joint", bond, "rate") + row, 1)]))
                found += self._directions("Joint", bond, row, J_a[k, :], J_b[k, :])
            return found

        return self._made_once("joint", self.functions.constraint(element), 3, outputs)

    def bias(self, element: Joint) -> Kind:
        """Per row the second derivative of g along the motion alone."""

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            _, _, J_a, J_b, explicit, _ = of(self.t, self.a.z, self.b.z, p)
            rates = J_a @ self.a.twist + J_b @ self.b.twist + explicit
            moving = [ca.SX(1), self.a.tangent() @ self.a.twist, self.b.tangent() @ self.b.twist]
            bias = ca.jtimes(rates, ca.vertcat(self.t, self.a.z, self.b.z), ca.vertcat(*moving))
            rows = [divmod(k, self.shape.rows) for k in range(bias.numel())]
            return [(bias, [(self._at("Joint", bond, "bend") + row, 1) for bond, row in rows])]

        return self._made_once("bias", self.functions.constraint(element), 3, outputs)

    def force(self, element: Force) -> Kind:
        """Forces on the bodies, zero on the last one of a load where the element has no body."""
        of = self.functions.forces(element)
        count = max(2, len(element.body_fields))
        return self._made_once(
            "force", of, of.n_in() - 1, lambda of, p: self._load(*self._called(of, element, p)[1:]), count
        )

    def gravity(self, element: Gravity) -> Kind:
        """Weight of the first body; the parameters are its mass and the components of the acceleration."""
        p, symbols = self._gravity(element)
        return self._kind(p, self._load(gravity_force(self.a, p[0], symbols)))

    # ---- derived quantities of recorded rows

    def surface(self, element: Contact) -> Kind:
        """Per gap the true one, and its rate."""

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            g, J_a, J_b, *_ = of(self.a.z, self.b.z, p)
            rates = J_a @ self.a.twist + J_b @ self.b.twist
            values, count = ca.vertcat(g, rates), g.numel()
            return [(values, [(self._at("Contact", k, name), 1) for name in TRUE for k in range(count)])]

        return self._made_once("surface", self.functions.surface(element), 2, outputs)

    def closure(self, element: Joint) -> Kind:
        """Per row the constraint violation of the joint."""

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            closure, *_ = of(self.t, self.a.z, self.b.z, p)
            rows = (divmod(k, self.shape.rows) for k in range(closure.numel()))
            return [(closure, [(self._at("Joint", bond, "closure") + row, 1) for bond, row in rows])]

        return self._made_once("closure", self.functions.closure(element), 3, outputs)

    def powers(self, element: Force) -> Kind:
        """Potential energy where the force has one, power of the rest, as that of a load or of damping."""
        of = self.functions.forces(element)

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            stored, *forces = self._called(of, element, p)
            if element.mixed:
                forces = list(self._called(self.functions.nonconservative(element), element, p))
            power = sum((ca.dot(f, x.twist) for f, x in zip(forces, self._bodies, strict=False)), ca.SX(0))
            done = ca.SX(0) if element.conservative and not element.mixed else power
            by = (0, done) if element.dissipative else (done, 0)
            return self._account(stored if element.conservative else ca.SX(0), *by)

        return self._made_once("powers", of, of.n_in() - 1, outputs, max(2, len(element.body_fields)))

    def height(self, element: Gravity) -> Kind:
        """Potential energy of the first body; the parameters are as of `gravity`."""
        p, symbols = self._gravity(element)
        return self._kind(p, self._account(-p[0] * ca.dot(symbols.acceleration, self.a.position)))

    def _account(self, potential: ca.SX, power: ca.SX | float = 0.0, damping: ca.SX | float = 0.0) -> Outputs:
        return [(ca.vertcat(potential, power, damping), [(self._at("Account", 0, name), 1) for name in ACCOUNT])]

    def _gravity(self, element: Gravity) -> tuple[ca.SX, SimpleNamespace]:
        """Mass and components of the acceleration, and the latter by name."""
        p = ca.SX.sym("p", 1 + len(element.numbers()))
        return p, element.symbols({f"{element.name}.{label}": p[1 + i] for i, label in enumerate(element.numbers())})

    def _at(self, schema: str, k: int, *path: str) -> int:
        """Doubles from the first record of an element to a field of the k-th one."""
        return (k * dtype(schema, self.shape).itemsize + offset(schema, self.shape, *path)) // 8

    def _motion(self, at: int, values: ca.SX) -> tuple[ca.SX, Places]:
        """A motion of a body, in threes."""
        return values, [(at + 4 * i, 3) for i in range(self.shape.dimension - 1)]

    def _directions(self, schema: str, k: int, row: int, J_a: ca.SX, J_b: ca.SX) -> Outputs:
        step = self.shape.width * row
        return [self._motion(self._at(schema, k, side, "along") + step, J.T) for side, J in (("a", J_a), ("b", J_b))]

    def _load(self, *forces: ca.SX) -> Outputs:
        """Forces on bodies, those on two in each load."""
        none = [ca.SX.zeros(self.b.twist.numel())] * (len(forces) % 2)
        each = [(i // 2, ("on_a", "on_b")[i % 2], on) for i, on in enumerate([*forces, *none])]
        return [self._motion(self._at("Load", load, name), on) for load, name, on in each]

    def _called(self, of: ca.Function, element: Force, p: ca.SX) -> tuple[ca.SX, ...]:
        count = len(element.body_fields)
        for i in range(len(self._bodies), count):
            self._bodies.append(placement_like(self.shape.dimension, str(i)))
            self._angles.append(ca.SX.sym(f"angle_{i}"))
        twists = [body.twist for body in self._bodies[:count]]
        found: tuple[ca.SX, ...] = of.call([self.t, *self._placements(count, self.shape.dimension == 2), *twists, p])
        return found

    def _placements(self, count: int, turns: bool) -> list[ca.SX]:
        """Of so many bodies, with their angles if `turns`."""
        pairs = list(zip(self._bodies, self._angles, strict=True))[:count]
        return [ca.vertcat(body.z, angle) if turns else body.z for body, angle in pairs]

    def _made_once(
        self, what: str, of: ca.Function, p_index: int,
        outputs: Callable[[ca.Function, ca.SX], Outputs], count: int = 2,
    ) -> Kind:  # fmt: skip
        key = what, id(of)
        if key not in self._made:
            p = ca.SX.sym("p", of.numel_in(p_index))
            # `of` is kept alive, so that its id is not reused
            self._made[key] = of, self._kind(p, outputs(of, p), count)
        return self._made[key][1]

    def _kind(self, p: ca.SX, outputs: Outputs, count: int = 2) -> Kind:
        """Of so many bodies."""
        out = ca.densify(ca.vertcat(*(components for components, _ in outputs)))
        z = self._placements(count, bool(ca.depends_on(out, ca.vertcat(*self._angles))))
        arguments = [self.t, *z, *(body.twist for body in self._bodies[:count]), p]
        return Kind(ca.Function("kind", arguments, [out]), [place for _, places in outputs for place in places])
