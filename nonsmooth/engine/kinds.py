"""Code of the kinds of elements, made of the definitions in `model`.

Each is a CasADi function ``(t, z_a, z_b, v_a, v_b, p) -> out`` whose output is one column, and the places of its
components in the records of contacts, joints and loads, in doubles from the first one. A force on further bodies has
their placements and twists among its arguments, and a load for each two bodies. Where an element acts on a flexible
body, its coordinates and velocities take the place of placement and twist; directions and forces are on its velocities.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from nonsmooth.compile.records.schema import Shape, dtype, offset
from nonsmooth.engine.pads import Pad
from nonsmooth.model.assembly import ElementFunctions, wrench_about
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.model.frames import Placement, ground_placement, placement_like
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import Joint

#: outputs of components: (offset in doubles, 1 or 3 components)
Places = list[tuple[int, int]]
Outputs = list[tuple[ca.SX, Places]]
#: fields from which rows are evaluated
TRUE, ACCOUNT = ("true_gap", "true_rate"), ("potential", "power", "damping")


@dataclass(frozen=True, eq=False)
class Kind:
    """A function, the offsets of its outputs, and where components of its arguments but the parameters stand: in
    doubles from the placement, or from the velocity, of the body; None for those of rigid bodies."""

    function: ca.Function
    outputs: Places
    stands: Sequence[Sequence[int]]


@dataclass(frozen=True, eq=False)
class Frame:
    """Frame that an element acts on: placement and angle in terms of `at` and `moving`, placement and twist of a rigid
    body, or coordinates and velocities of a flexible one, then with the map from these to the twist, and their
    rates."""

    key: Any
    placement: Placement
    angle: ca.SX
    at: ca.SX
    moving: ca.SX
    map: ca.SX | None = None
    rates: ca.SX | None = None

    @property
    def rates_of_at(self) -> ca.SX:
        """Rates of `at`."""
        return self.placement.tangent() @ self.placement.twist if self.rates is None else self.rates

    def on_body(self, values: ca.SX) -> ca.SX:
        """Forces, or directions, on the velocities of the body."""
        return values if self.map is None else self.map.T @ values


class Kinds:
    """Kinds of one mechanism; elements of one kind get one and the same object."""

    def __init__(
        self, shape: Shape, functions: ElementFunctions, bodies: Iterable[Body] = (), grounds: Iterable[str] = ()
    ) -> None:
        self.shape, self.functions, self._grounds = shape, functions, frozenset(grounds)
        self.t = ca.SX.sym("t")
        #: flexible bodies by name, and their nodes
        self._flexible = {body.name: (body, "") for body in bodies if isinstance(body, FlexibleBody)}
        for body, _ in list(self._flexible.values()):
            self._flexible |= {f"{body.name}.{node}": (body, node) for node in body.nodes}
        self._rigid: list[Frame] = []
        self._frames: list[Frame] = []
        self._known: dict[tuple[str, int], Frame] = {}
        self._made: dict[tuple[Any, ...], tuple[ca.Function, Kind]] = {}
        self._take(())

    def _take(self, names: Sequence[str], *, at_rest: bool = False) -> None:
        """The next kind is between these bodies; `at_rest`: the ground by its numbers, without products."""
        self._frames = [self._frame(name, i, at_rest and name in self._grounds) for i, name in enumerate(names)]
        self._frames += [self._rigid_frame(i) for i in range(len(names), 2)]

    @property
    def a(self) -> Placement:
        return self._frames[0].placement

    @property
    def b(self) -> Placement:
        return self._frames[1].placement

    def _rigid_frame(self, i: int) -> Frame:
        while len(self._rigid) <= i:
            name = f"{len(self._rigid)}"
            placement, angle = placement_like(self.shape.dimension, name), ca.SX.sym(f"angle_{name}")
            self._rigid.append(Frame(None, placement, angle, placement.z, placement.twist))
        return self._rigid[i]

    def _frame(self, name: str, i: int, still: bool) -> Frame:
        """Frame of the i-th body of an element, `still` the ground by its numbers."""
        if name not in self._flexible and not still:
            return self._rigid_frame(i)
        if (name, i) not in self._known and still:
            of, ground = self._rigid_frame(i), ground_placement(self.shape.dimension)
            self._known[name, i] = Frame((name, i), ground, of.angle, of.at, of.moving)
        elif (name, i) not in self._known:
            body, node = self._flexible[name]
            q, v = ca.SX.sym("q", len(body.q_columns)), ca.SX.sym("v", len(body.v_columns))
            placement, angle, by_v = self.functions.frame(body, node, q, v)
            self._known[name, i] = Frame((name, i), placement, angle, q, v, by_v, body.kinematics(q) @ v)
        return self._known[name, i]

    def _placed(self, element: Element, count: int = 2) -> list[ca.SX]:
        """Placements of so many bodies as the element is given them."""
        turns = element.turns and self.shape.dimension == 2
        return [ca.vertcat(x.placement.z, x.angle) if turns else x.placement.z for x in self._frames[:count]]

    def _along(self, element: Element, values: ca.SX, explicit: ca.SX | float = 0.0) -> ca.SX:
        """Rates of change of values along the motion of both bodies at constant velocities, and with time."""
        at, moved = [self.t, *(x.at for x in self._frames)], [explicit, *(x.rates_of_at for x in self._frames)]
        if element.turns and self.shape.dimension == 2:  # angles of flexible bodies are among their coordinates
            rigid = [x for x in self._frames if x.map is None]
            at, moved = at + [x.angle for x in rigid], moved + [x.placement.twist[2] for x in rigid]
        return ca.jtimes(values, ca.vertcat(*at), ca.vertcat(*moved))

    def contact(self, element: Contact) -> Kind:
        """Per contact its gap, and directions of its normal and, where there are rows for them, tangents."""
        self._take(element.body_names(), at_rest=True)

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            g, _, *directions = of(*self._placed(element), p)
            if isinstance(element, JointFriction):  # the other directions are those of its pad, see `pads`
                T_a, T_b = (J[0, :] for J in directions[2:])
                return [(g, [(self._at("Contact", 0, "g"), 1)]), *self._directions("Contact", 0, 1, T_a, T_b)]
            return self._gaps(self.shape.dimension - 1 if self.shape.rows > 1 else 0, g, *directions)

        return self._cached("contact", self.functions.gaps(element), 2, outputs)

    def _gaps(self, tangents: int, g: ca.SX, *directions: ca.SX) -> Outputs:
        """Per contact its gap, and directions of its normal and of so many tangents."""
        J_a, J_b, T_a, T_b = directions
        found: Outputs = []
        for k in range(g.numel()):
            found.append((g[k], [(self._at("Contact", k, "g"), 1)]))
            found += self._directions("Contact", k, 0, J_a[k, :], J_b[k, :])
            for i in range(tangents):
                row = tangents * k + i
                found += self._directions("Contact", k, 1 + i, T_a[row, :], T_b[row, :])
        return found

    def joint(self, element: Joint) -> Kind:
        """Per row g, its directions and explicit rate; with flexible bodies also the wrench of its impulse."""
        self._take(element.body_names(), at_rest=True)

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            g, _, J_a, J_b, rate, point = of(self.t, *self._placed(element), p)
            found: Outputs = []
            wide = 4 * (self.shape.dimension - 1)
            for k in range(g.numel()):
                bond, row = divmod(k, self.shape.rows)
                found.append((g[k], [self._row(k, "g")]))
                found.append((rate[k], [self._row(k, "rate")]))
                found += self._directions("Joint", bond, row, J_a[k, :], J_b[k, :])
                if self.shape.modes:
                    wrench = wrench_about(self.b, J_b[k, :].T, point)
                    found.append(self._motion(self._at("Joint", bond, "wrench") + wide * row, wrench))
            return found

        return self._cached("joint", self.functions.constraint(element), 3, outputs)

    def bias(self, element: Joint) -> Kind:
        """Per row the second derivative of g along the motion alone."""
        self._take(element.body_names())

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            _, _, J_a, J_b, explicit, _ = of(self.t, *self._placed(element), p)
            bias = self._along(element, J_a @ self.a.twist + J_b @ self.b.twist + explicit, 1.0)
            return [(bias, [self._row(k, "bias_acceleration") for k in range(bias.numel())])]

        return self._cached("bias", self.functions.constraint(element), 3, outputs)

    def force(self, element: Force) -> Kind:
        """Forces on the bodies, zero on the last one of a load where the element has no body."""
        self._take(element.body_names(), at_rest=True)
        of = self.functions.forces(element)
        return self._cached("force", of, of.n_in() - 1, lambda of, p: self._load(*self._called(of, element, p)[1:]))

    def press(self, element: JointFriction, pad: Pad) -> Kind:
        """Force on the pad, a function of the rate."""
        self._take(element.body_names(), at_rest=True)

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            _, _, _, _, T_a, T_b = of(*self._placed(element), p)
            rate = (T_a @ self.a.twist + T_b @ self.b.twist)[0]
            names = element.symbols({f"{element.name}.{label}": p[i] for i, label in enumerate(element.numbers())})
            return [(-element.normal(rate, names), [(self._at("Load", 0, f"on_{pad.side}") + pad.place, 1)])]

        return self._cached(f"press {pad.side} {pad.place}", self.functions.gaps(element), 2, outputs)

    def gravity(self, element: Gravity) -> Kind:
        """Weight of the first body; the parameters are its mass and the components of the acceleration."""
        self._take(())
        p = ca.SX.sym("p", 1 + len(element.numbers()))
        return self._kind(p, self._load(self.functions.weight(element)(self.a.z, p[0], p[1:])[0]))

    # ---- flexible bodies

    def deformation(self, element: FlexibleBody) -> Kind:
        """Forces of a flexible body on itself, but those of a rigid body."""
        self._take((element.name,))

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            q, v = self._frames[0].at, self._frames[0].moving
            _, forces, M = of(q, v, p)
            if self.shape.dimension == 3:
                forces[3:6] += ca.cross(v[3:6], M[3:6, 3:6] @ v[3:6])
            return [self._motion(self._at("Load", 0, "on_a"), forces)]

        return self._cached("deformation", self.functions.body(element), 2, outputs)

    def deformation_energy(self, element: FlexibleBody) -> Kind:
        """Energy of deformation, and the power of its damping."""
        self._take((element.name,))
        q, v = self._frames[0].at, self._frames[0].moving
        p, names = self.functions.parameters(element)
        done, damped = element.powers(q, v, names)
        return self._kind(p, self._account(element.stored_energy(q, v, names), done, damped))

    def displacement(self, element: FlexibleBody) -> Kind:
        """Coordinates after a time at a constant velocity, see `code_of_body`."""
        return self._of_body(element, lambda q, u: self.functions.advance(element)(q, u, self.t))

    def kinematics(self, element: FlexibleBody) -> Kind:
        """Rates of coordinates."""
        return self._of_body(element, lambda q, v: element.kinematics(q) @ v)

    def _of_body(self, element: FlexibleBody, made: Callable[[ca.SX, ca.SX], ca.SX]) -> Kind:
        """Expressions of time, coordinates and velocities of a flexible body, in the order of its coordinates."""
        q, u = ca.SX.sym("q", len(element.q_columns)), ca.SX.sym("u", len(element.v_columns))
        others, p = self._rigid_frame(1), ca.SX.sym("p", 0)
        function = ca.Function("body", [self.t, q, others.at, u, others.moving, p], [ca.densify(made(q, u))])
        sizes = len(element.q_columns), len(element.v_columns)
        of_q, of_v = (coordinates(self.shape.dimension, *sizes, positions) for positions in (True, False))
        return Kind(function, [(k, 1) for k in of_q], [[0], of_q, [0] * 16, of_v, [0] * 8])

    # ---- derived quantities of recorded rows

    def surface(self, element: Contact) -> Kind:
        """Per gap the true one, and its rate."""
        self._take(element.body_names())

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            g, J_a, J_b, *_ = of(*self._placed(element), p)
            rates = J_a @ self.a.twist + J_b @ self.b.twist
            values, count = ca.vertcat(g, rates), g.numel()
            return [(values, [(self._at("Contact", k, name), 1) for name in TRUE for k in range(count)])]

        return self._cached("surface", self.functions.surface(element), 2, outputs)

    def closure(self, element: Joint) -> Kind:
        """Per row the constraint violation of the joint."""
        self._take(element.body_names())

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            closure, *_ = of(self.t, *self._placed(element), p)
            return [(closure, [self._row(k, "closure") for k in range(closure.numel())])]

        return self._cached("closure", self.functions.closure(element), 3, outputs)

    def powers(self, element: Force) -> Kind:
        """Potential energy where the force has one, power of the rest, as that of a load or of damping."""
        self._take(element.body_names())
        of = self.functions.powers(element)
        return self._cached("powers", of, of.n_in() - 1, lambda of, p: self._account(*self._called(of, element, p)))

    def height(self, element: Gravity) -> Kind:
        """Potential energy of the first body; the parameters are as of `gravity`."""
        self._take(())
        p = ca.SX.sym("p", 1 + len(element.numbers()))
        return self._kind(p, self._account(self.functions.weight(element)(self.a.z, p[0], p[1:])[1]))

    def _account(self, potential: ca.SX, power: ca.SX | float = 0.0, damping: ca.SX | float = 0.0) -> Outputs:
        return [(ca.vertcat(potential, power, damping), [(self._at("Account", 0, name), 1) for name in ACCOUNT])]

    def _at(self, schema: str, k: int, *path: str) -> int:
        """Doubles from the first record of an element to a field of the k-th one."""
        return (k * dtype(schema, self.shape).itemsize + offset(schema, self.shape, *path)) // 8

    def _row(self, k: int, name: str) -> tuple[int, int]:
        """Place of a field of the k-th row of a joint."""
        bond, row = divmod(k, self.shape.rows)
        return self._at("Joint", bond, name) + row, 1

    def _motion(self, at: int, values: ca.SX) -> tuple[ca.SX, Places]:
        """A motion of a body, in threes, and of its modes."""
        parts = self.shape.dimension - 1
        modes = values.numel() - 3 * parts
        return values, [(at + 4 * i, 3) for i in range(parts)] + [(at + 4 * parts + i, 1) for i in range(modes)]

    def _directions(self, schema: str, k: int, row: int, J_a: ca.SX, J_b: ca.SX) -> Outputs:
        step, sides = self.shape.width * row, zip(self._frames, (("a", J_a), ("b", J_b)), strict=False)
        return [
            self._motion(self._at(schema, k, side, "directions") + step, frame.on_body(J.T))
            for frame, (side, J) in sides
        ]

    def _load(self, *forces: ca.SX) -> Outputs:
        """Forces on bodies, those on two in each load."""
        none = [ca.SX.zeros(self.b.twist.numel())] * (len(forces) % 2)
        frames = [*self._frames, *(self._rigid_frame(i) for i in range(len(self._frames), len(forces) + len(none)))]
        on_bodies = [frame.on_body(on) for frame, on in zip(frames, [*forces, *none], strict=False)]
        each = [(i // 2, ("on_a", "on_b")[i % 2], on) for i, on in enumerate(on_bodies)]
        return [self._motion(self._at("Load", load, name), on) for load, name, on in each]

    def _called(self, of: ca.Function, element: Force, p: ca.SX) -> tuple[ca.SX, ...]:
        """Outputs of a function of time, placements of the element's bodies, twists and parameters."""
        count = len(element.body_fields)
        twists = (x.placement.twist for x in self._frames[:count])
        found: tuple[ca.SX, ...] = of.call([self.t, *self._placed(element, count), *twists, p])
        return found

    def _cached(
        self, what: str, of: ca.Function, p_index: int, outputs: Callable[[ca.Function, ca.SX], Outputs]
    ) -> Kind:
        key = what, id(of), tuple(frame.key for frame in self._frames)
        if key not in self._made:
            p = ca.SX.sym("p", of.numel_in(p_index))
            self._made[key] = of, self._kind(p, outputs(of, p))  # `of` is kept alive, so that its id is not reused
        return self._made[key][1]

    def _kind(self, p: ca.SX, outputs: Outputs) -> Kind:
        """The kind of an element between the present bodies."""
        out = ca.densify(ca.vertcat(*(components for components, _ in outputs)))
        before = (offset("Body", self.shape, "at") - offset("Body", self.shape, "z")) // 8  # of coordinates, doubles
        turns = bool(ca.depends_on(out, ca.vertcat(*(x.angle for x in self._frames if x.map is None))))
        at, stands, moving = [], [], []
        for x in self._frames:
            flexible, rigid = x.map is not None, self.shape.dimension == 2
            of_q, of_v = (
                coordinates(self.shape.dimension, x.at.numel(), x.moving.numel(), one) for one in (True, False)
            )
            if flexible:
                stands.append([before + k for k in of_q])
            elif rigid:
                stands.append([0, 1, 2, 3, before + 2])
            else:
                stands.append([k + k // 3 for k in range(12)])
            at.append(ca.vertcat(x.at, x.angle) if rigid and turns and not flexible else x.at)
            moving.append(of_v)
        arguments = [self.t, *at, *(x.moving for x in self._frames), p]
        function = ca.Function("kind", arguments, [out])
        return Kind(function, [place for _, places in outputs for place in places], [[0], *stands, *moving])


def coordinates(dimension: int, q: int, v: int, positions: bool) -> list[int]:
    """Places of the coordinates or velocities of a body in a `Motion`."""
    rigid = [0, 1, 2] if dimension == 2 else [0, 1, 2, 4, 5, 6, 7] if positions else [0, 1, 2, 4, 5, 6]
    count = (q if positions else v) - len(rigid)
    return rigid + [4 * (dimension - 1) + k for k in range(count)]
