"""The equations of motion of a mechanism as CasADi functions, each created on first use."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.assembly import ElementFunctions, used_nodes, wrench_about
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.model.frames import Placement, ground_placement
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import Joint

#: functions: their arguments, the group of expressions, and their outputs in it
FUNCTIONS = {
    "M": ("q p", "_mass_matrix", "M"),
    "B": ("q", "_kinematics", "B"),
    "advance": ("q u dt", "_displacement", "q_next"),
    "h": ("t q v p", "_force_vector", "h"),
    "linear_forces": ("p", "_linear_forces", "stiffness damping"),
    "energy": ("t q v p", "_energy", "energy"),
    "g": ("t q p", "_constraints", "g"),
    "violation": ("t q p", "_constraints", "violation"),
    "W_g": ("t q p", "_constraints", "W_g"),
    "g_t": ("t q p", "_constraints", "g_t"),
    "reaction": ("t q p lam_g", "_constraints", "reaction"),
    "g_N": ("q p", "_contacts", "g_N"),
    "distance": ("q p", "_contacts", "distance"),
    "W_N": ("q p", "_contacts", "W_N"),
    "W_T": ("q p", "_contacts", "W_T"),
    "configuration": ("t q p", "_configuration", "g_N W_N W_T W_g g_t"),
    "bias": ("t q v p", "_bias", "bias"),
    "surface": ("q p", "_surface", "distance D_N D_T"),
    "gap_rates": ("q v p", "_surface", "rates"),
    "contact_axes": ("q p", "_contact_axes", "axes"),
    "tangent_spins": ("q v p", "_tangent_spins", "spins"),
    "contact_law": ("p", "_contact_law", "restitution friction tangential size"),
}

Block = tuple[int, int, ca.SX]
Expressions = dict[str, ca.SX]


class Frame(NamedTuple):
    """The ground, a body, or a node on which elements act."""

    placement: Placement
    turning: ca.SX  #: z for elements with turns, in the plane with the angle
    body: str  #: empty for the ground
    map: ca.SX | None  #: from the velocities of the body to the twist, None if it is the identity

    def z(self, element: Element) -> ca.SX:
        """The placement that an element is given."""
        return self.turning if element.turns else self.placement.z


@dataclass(frozen=True, eq=False)
class Compliance:
    """The laws of all contacts together; in space each bristle state has two components, on the tangents."""

    coefficients: ca.Function  #: of p, their constants k, once per run
    laws: tuple[Compliant, ...]  #: of each gap (nc,)
    #: name of each bristle state (nz,), ``"contact.state"``; in space ``"contact.state_1"`` and ``_2``
    bristles: tuple[str, ...]
    owner: NDArray[np.intp]  #: index of the gap that each bristle state belongs to (nz,)
    constants: tuple[Mapping[str, int], ...]  #: for each gap, where its constants stand in k, by name


class Equations:
    """Symbols of one mechanism, and the functions of `System` made of them; `FUNCTIONS` lists these."""

    def __init__(
        self, elements: Sequence[Element], dimension: int, functions: ElementFunctions, parameters: Iterable[str]
    ) -> None:
        self.elements, self.dimension, self.functions = elements, dimension, functions
        self.bodies = [e for e in elements if isinstance(e, Body)]
        self.joints = [e for e in elements if isinstance(e, Joint)]
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        q_ends, v_ends = (np.cumsum([0, *map(len, many)]).tolist() for many in zip(
            *((body.q_columns, body.v_columns) for body in self.bodies), strict=True))  # fmt: skip
        self.nq, self.nv = q_ends[-1], v_ends[-1]
        self.t, self.q, self.v = ca.SX.sym("t"), ca.SX.sym("q", self.nq), ca.SX.sym("v", self.nv)
        self.u, self.dt = ca.SX.sym("u", self.nv), ca.SX.sym("dt")
        self.lam_g = ca.SX.sym("lam_g", sum(len(joint.rows) for joint in self.joints))
        names = list(parameters)
        self.p = ca.SX.sym("p", len(names))
        self.symbols = dict(zip(names, ca.vertsplit(self.p), strict=True)) if names else {}
        self._first_v = {body.name: first for body, first in zip(self.bodies, v_ends[:-1], strict=True)}
        #: bodies with their coordinates, velocities, velocities for `advance`, and parameters by name
        self._motions = [
            (body, *columns, body.symbols(self.symbols))
            for body, *columns in zip(
                self.bodies, ca.vertsplit(self.q, q_ends), ca.vertsplit(self.v, v_ends), ca.vertsplit(self.u, v_ends),
                strict=True,
            )
        ]  # fmt: skip

    def __getattr__(self, name: str) -> ca.Function:
        if name not in FUNCTIONS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        arguments, group, outputs = (one.split() for one in FUNCTIONS[name])
        found = getattr(self, *group)
        function = ca.Function(
            name, [getattr(self, one) for one in arguments], [found[one] for one in outputs], arguments, outputs
        )
        setattr(self, name, function)
        return function

    @cached_property
    def frames(self) -> dict[str, Frame]:
        """The ground, the bodies and the nodes on which elements act, by name."""
        still, angle = ground_placement(self.dimension), ca.SX(0) if self.dimension == 2 else ca.SX(0, 1)
        grounds = (element.name for element in self.elements if isinstance(element, Ground))
        frames = {name: Frame(still, ca.vertcat(still.z, angle), "", None) for name in grounds}
        nodes = used_nodes(self.elements)
        for body, q, v, *_ in self._motions:
            placement = body.placement(q, v)
            rigid = placement.twist.numel() == v.numel()
            A = None if rigid else self.functions.frame(body, "", q, v)[2]
            frames[body.name] = Frame(placement, ca.vertcat(placement.z, body.angle_of(q)), body.name, A)
            for node in nodes.get(body.name, ()):
                placement, angle, A = self.functions.frame(body, node, q, v)
                frames[f"{body.name}.{node}"] = Frame(placement, ca.vertcat(placement.z, angle), body.name, A)
        return frames

    @cached_property
    def placements(self) -> dict[str, Placement]:
        return {name: frame.placement for name, frame in self.frames.items()}

    def _local(self, element: Element) -> ca.SX:
        """The element's parameters as one column, in the order its function takes them."""
        return ca.vertcat(*(self.symbols[f"{element.name}.{label}"] for label in element.numbers()))

    @cached_property
    def _mass_matrix(self) -> Expressions:
        return {"M": ca.diagcat(*(body.mass_matrix(p) for body, *_, p in self._motions))}

    @cached_property
    def _kinematics(self) -> Expressions:
        return {"B": ca.diagcat(*(body.kinematics(q) for body, q, *_ in self._motions))}

    @cached_property
    def _displacement(self) -> Expressions:
        return {"q_next": ca.vertcat(*(body.advance(q, u, self.dt) for body, q, _, u, _ in self._motions))}

    @cached_property
    def _linear_forces(self) -> Expressions:
        """Stiffness and damping (nv,) of the coordinates of deformation, see `Body.linear_forces`."""
        columns = zip(*(body.linear_forces(p) for body, *_, p in self._motions), strict=True)
        return dict(zip(("stiffness", "damping"), (ca.densify(ca.vertcat(*one)) for one in columns), strict=True))

    @cached_property
    def _force_vector(self) -> Expressions:
        """Forces of bodies on themselves, and A' f of those along the twists of frames."""
        on_frames: list[tuple[Frame, ca.SX]] = []
        for element in self.elements:
            if isinstance(element, Gravity):
                for body, *_, p in self._motions:
                    frame = self.frames[body.name]
                    weight, _ = self.functions.weight(element)(frame.placement.z, p.mass, self._local(element))
                    on_frames.append((frame, weight))
            elif isinstance(element, Force):
                frames = [self.frames[name] for name in element.body_names()]
                on_frames += zip(frames, self._called("differentiable_forces", element)[1:], strict=True)
        applied = {body.name: ca.SX.zeros(v.numel()) for body, _, v, *_ in self._motions}
        for frame, force in on_frames:
            if frame.body:
                applied[frame.body] += force if frame.map is None else frame.map.T @ force
        inner = (body.inner_forces(q, v, p) for body, q, v, _, p in self._motions)
        return {"h": ca.vertcat(*inner) + ca.vertcat(*applied.values())}

    @cached_property
    def _energy(self) -> Expressions:
        """Kinetic and potential energy, power of loads and of damping."""
        account = ca.SX.zeros(3)
        for body, q, v, _, p in self._motions:
            account += ca.vertcat(body.stored_energy(q, v, p), *body.powers(q, v, p))
        for element in self.elements:
            if isinstance(element, Gravity):
                for body, *_, p in self._motions:
                    z = self.frames[body.name].placement.z
                    account[0] += self.functions.weight(element)(z, p.mass, self._local(element))[1]
            elif isinstance(element, Force):
                account += ca.vertcat(*self._called("powers", element))
        return {"energy": ca.vertcat(ca.dot(self.v, self._mass_matrix["M"] @ self.v) / 2, account)}

    def _called(self, name: str, element: Force) -> Sequence[ca.SX]:
        """Outputs of the forces or the `powers` of an element."""
        frames = [self.frames[body] for body in element.body_names()]
        motion = [*(x.z(element) for x in frames), *(x.placement.twist for x in frames)]
        return getattr(self.functions, name)(element).call([self.t, *motion, self._local(element)])

    @cached_property
    def _constraints(self) -> Expressions:
        """g, its residual, W_g, the explicit rate of g, and the reactions to forces lam_g."""
        columns: dict[str, list[ca.SX]] = {name: [] for name in ("g", "violation", "g_t", "reaction")}
        blocks: list[Block] = []
        column = 0
        for joint in self.joints:
            a, b = (self.frames[name] for name in joint.body_names())
            function = self.functions.constraint(joint)
            g, residual, J_a, J_b, rate, point = function(self.t, a.z(joint), b.z(joint), self._local(joint))
            blocks += self._blocks(column, ((a, J_a), (b, J_b)))
            end = column + len(joint.rows)
            reaction = wrench_about(b.placement, J_b.T @ self.lam_g[column:end], point)
            for name, one in zip(columns, (g, residual, rate, reaction), strict=True):
                columns[name].append(one)
            column = end
        found = {name: ca.vertcat(*values) for name, values in columns.items()}
        return found | {"W_g": _scattered(blocks, self.nv, column)}

    def _gap_rows(self, of: Callable[[Contact], ca.Function], *names: str) -> Expressions:
        """Values of all gaps, and the directions of their rates and of the slips, of a function of each contact."""
        values: dict[str, list[ca.SX]] = {name: [] for name in names[:-2]}
        normal: list[Block] = []
        tangential: list[Block] = []
        column, tangents = 0, self.dimension - 1
        for contact in self.contacts:
            a, b = (self.frames[name] for name in contact.body_names())
            *found, J_a, J_b, T_a, T_b = of(contact)(a.z(contact), b.z(contact), self._local(contact))
            for one, value in zip(values.values(), found, strict=True):
                one.append(value)
            normal += self._blocks(column, ((a, J_a), (b, J_b)))
            tangential += self._blocks(tangents * column, ((a, T_a), (b, T_b)))
            column += len(contact.gap_labels)
        directions = _scattered(normal, self.nv, column), _scattered(tangential, self.nv, tangents * column)
        stacked = {name: ca.vertcat(*one) for name, one in values.items()}
        return stacked | dict(zip(names[-2:], directions, strict=True))

    @cached_property
    def _contacts(self) -> Expressions:
        return self._gap_rows(self.functions.gaps, "g_N", "distance", "W_N", "W_T")

    @cached_property
    def _surface(self) -> Expressions:
        """True gaps, the directions of their rates and of the slips, and the rates of the gaps."""
        found = self._gap_rows(self.functions.surface, "distance", "D_N", "D_T")
        return found | {"rates": found["D_N"].T @ self.v}

    @cached_property
    def _configuration(self) -> Expressions:
        found = self._constraints | self._contacts
        names = ["g_N", "W_N", "W_T", "W_g", "g_t"]
        values = [found[name] for name in names]
        if any(isinstance(body, FlexibleBody) for body in self.bodies):
            values = ca.cse(values)  # W_N and W_T have the same twists of nodes, which are most of the work
        return dict(zip(names, values, strict=True))

    @cached_property
    def _bias(self) -> Expressions:
        x = self._constraints | self._contacts
        rates = ca.vertcat(x["W_g"].T @ self.v + x["g_t"], x["W_N"].T @ self.v, x["W_T"].T @ self.v)
        along = ca.vertcat(1, self._kinematics["B"] @ self.v)
        return {"bias": ca.jtimes(rates, ca.vertcat(self.t, self.q), along) if rates.numel() else rates}

    @cached_property
    def _contact_axes(self) -> Expressions:
        """For each gap its unit normal, then its tangents, in the ground frame."""
        axes = self.functions.contact_axes
        columns = [axes(one)(a.z(one), b.z(one), local) for one, a, b, local in self._placed_contacts()]
        return {"axes": ca.vec(ca.horzcat(*columns)) if columns else ca.SX(0, 1)}

    @cached_property
    def _tangent_spins(self) -> Expressions:
        """Spins (nc,) [rad/s] of tangents about normals, relative to the mean of both bodies, as bristles rotate."""
        found = []
        for one, a, b, local in self._placed_contacts():
            motion = a.z(one), a.placement.twist, b.z(one), b.placement.twist
            found.append(self.functions.tangent_spin(one)(*motion, local))
        return {"spins": ca.vertcat(*found)}

    def _placed_contacts(self) -> Iterator[tuple[Contact, Frame, Frame, ca.SX]]:
        for contact in self.contacts:
            a, b = (self.frames[name] for name in contact.body_names())
            yield contact, a, b, self._local(contact)

    @cached_property
    def _contact_law(self) -> Expressions:
        """Laws of all gaps, zero where a compliant contact has no such number."""
        law: dict[str, list[ca.SX]] = {name: [] for name in ("restitution", "friction", "tangential", "size")}
        for contact in self.contacts:
            rigid = isinstance(contact.contact, Rigid)
            for name, values in law.items():
                label = contact.size_label if name == "size" else name
                if name == "size" or rigid and not isinstance(contact, JointFriction):
                    value = self.symbols[f"{contact.name}.{label}"]
                else:
                    value = ca.SX(int(rigid and name == "friction"))
                values.extend([value] * len(contact.gap_labels))
        return {name: ca.vertcat(*values) for name, values in law.items()}

    @cached_property
    def compliance(self) -> Compliance | None:
        """The compliance of the contacts, or None if one of them is rigid."""
        tangents, functions = self.dimension - 1, self.functions
        gaps = [(contact, name) for contact in self.contacts for name in contact.gap_names()]
        laws = [contact.contact for contact, _ in gaps if isinstance(contact.contact, Compliant)]
        if not gaps or len(laws) < len(gaps):
            return None
        states = [(i, f"{name}.{state}") for i, ((_, name), law) in enumerate(zip(gaps, laws, strict=True))
                  for state in law.states(tangents)]  # fmt: skip
        columns, places, size = [], {}, 0
        for contact in self.contacts:
            columns.append(functions.coefficients(contact)(self._local(contact)))
            places[contact.name] = {name: size + j for j, name in enumerate(functions.constants(contact))}
            size += columns[-1].numel()
        return Compliance(
            coefficients=ca.Function("coefficients", [self.p], [ca.vertcat(*columns)], ["p"], ["k"]),
            laws=tuple(laws),
            bristles=tuple(name for _, name in states),
            owner=np.array([i for i, _ in states], dtype=np.intp),
            constants=tuple(places[contact.name] for contact, _ in gaps),
        )

    def _blocks(self, column: int, blocks: Iterable[tuple[Frame, ca.SX]]) -> list[Block]:
        """(J A)' of each frame that can move, at the rows of its body."""
        return [
            (self._first_v[frame.body], column, (J if frame.map is None else J @ frame.map).T)
            for frame, J in blocks
            if frame.body
        ]


def _scattered(blocks: Sequence[Block], rows: int, columns: int) -> ca.SX:
    """The matrix of blocks at (row, column); later blocks replace earlier ones at the same position."""
    entries: dict[tuple[int, int], ca.SX] = {}
    for first, column, block in blocks:
        i, j = block.sparsity().get_triplet()
        nonzeros = ca.vertsplit(block.nz[:]) if i else []
        entries |= {(column + b, first + a): value for a, b, value in zip(i, j, nonzeros, strict=True)}
    places = sorted(entries)
    by_column = np.bincount([column for column, _ in places], minlength=columns) if places else np.zeros(columns, int)
    starts = [0, *np.cumsum(by_column).tolist()]
    sparsity = ca.Sparsity(rows, columns, starts, [row for _, row in places])
    return ca.SX(sparsity, ca.vertcat(*(entries[place] for place in places)))
