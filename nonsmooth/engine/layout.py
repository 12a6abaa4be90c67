"""A system as records: the structure of the memory of a run, and how parameters are written into it."""

import ctypes
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.emit import Unsupported, varies
from nonsmooth.compile.machine import Kernel, kernel
from nonsmooth.compile.records.memory import Content, Memory, Values
from nonsmooth.compile.records.schema import Shape, dtype, offset
from nonsmooth.engine.elimination import couplings, order
from nonsmooth.engine.kinds import Kind, Kinds, coordinates
from nonsmooth.engine.pads import pads_of, press
from nonsmooth.exceptions import InputError
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.model.joints import Joint
from nonsmooth.model.system import System
from nonsmooth.step import (
    fields,  # noqa: F401  (the schemas)
    observation_fields,  # noqa: F401  (the schemas)
)
from nonsmooth.step.fields import DEPTH
from nonsmooth.step.impact_fields import LAWS

#: modes of flexible bodies are padded to a multiple of this: with 16 in place of 8 a step takes a fifth longer, and a
#: shape less is compiled
MODES = 16
#: of two bodies in space, relative to each other
MOTIONS = 6
#: corners of loads and drivers that memory has room for; the next ones are written once these are passed
STOPS = 64
#: what a contact has of its law, in the order of `Elementwise.contact_law`
LAW = ("restitution", "friction", "tangential", "scale")
#: schemas of which there may be none
OPTIONAL = ("Joint", "Contact", "Coupling", "Group", "Load", "Account", "Reaction", "Slot", "Place", "Share", "Meeting",
            "Impact", "Difference")  # fmt: skip


def shape_of(system: System, *, rough: bool, options: int = 0) -> Shape:
    """The shape of the records of a mechanism; `rough` if contacts have tangential rows."""
    modes = max((body.count for body in system.elements if isinstance(body, FlexibleBody)), default=0)
    if pads_of(system, Shape(system.dimension, 0, 0, -(-modes // MODES) * MODES)) is None:
        modes = max(modes, 1)
    jointed = any(isinstance(e, Joint) for e in system.elements)
    # what is rare, flexible bodies and other impact laws, is compiled for one shape, which serves smooth contacts too
    rows = system.dimension if rough or jointed or modes or options else 1
    return Shape(system.dimension, rows, options, -(-modes // MODES) * MODES)


@dataclass
class _Group:
    """Elements of one kind, with the indices of their parameters; `each` has so many places."""

    kind: Kind
    code: Kernel
    record: Values
    places: list[tuple[Values, Values, Values]] = field(default_factory=list)
    parameters: list[int] = field(default_factory=list)
    each: int = 1


class Layout:
    """The records of a mechanism for any parameters; `rough`: with tangential rows, `accelerations`: of joints as
    well."""

    def __init__(self, system: System, *, rough: bool, accelerations: bool = False, options: int = 0) -> None:
        # not the system, which keeps its layouts: see tests/test_reference_cycles.py
        self.elements, self.start, self.functions = system.elements, system.start, system.functions
        self.elementwise, self.content = system.elementwise, Content()
        self.law_of_impact = max(map(LAWS.index, system.impact_laws), default=0)
        self._memory: Memory | None = None
        #: of the last run, with its parameters
        self._filled: dict[bytes, Memory] = {}
        #: where the internal states of schemes stand in its memories
        self.state_places: dict[Any, Any] = {}
        #: of the tables of its rows: `nonsmooth.engine.tables`
        self.widths: Any = None
        self.bodies = [e for e in system.elements if isinstance(e, Body)]
        self.index = {name: i for i, name in enumerate(system.parameters)}
        self._joints = [e for e in system.elements if isinstance(e, Joint)]
        #: points of reactions of joints, with the numbers from which they were computed
        self._reported: dict[int, tuple[bytes, Array]] = {}
        self._contacts = [e for e in system.elements if isinstance(e, Contact)]
        self._mass_numbers = self._numbers(self.bodies)
        self._bond_numbers = self._numbers([*self._joints, *self._contacts])
        self.shape = shape_of(system, rough=rough, options=options)
        pads = pads_of(system, self.shape)
        if pads is None:
            raise InputError("Between these bodies are more joint frictions than 16 each; leave some out.")
        self.pads = pads
        #: parameters that are the forces on pads, by contact
        self._given = {k: self.index[f"{e.name}.{e.bound}"] for k, e in system.given_normal.items()}
        self.q_places, self.v_places = (self._places(positions) for positions in (True, False))
        #: whether, in space, an element has more rows of contacts than two bodies have relative freedoms: programs then
        #: begin with a proximal term, which the fewer rows of the plane rarely require
        many = any(len(e.gap_labels) * self.shape.rows > MOTIONS for e in self._contacts)
        self.redundant = many and system.dimension == 3
        self._joint_numbers = [
            np.array([self.index[f"{e.name}.{label}"] for label in e.numbers()], dtype=np.intp) for e in self._joints
        ]
        for name in ("System", *OPTIONAL):
            self.content.of[name] = []
        self.whole = self.content.add("System")
        ground, *bodies = (self.content.add("Body") for _ in range(1 + len(self.bodies)))
        columns = np.cumsum([(0, 0), *((len(e.q_columns), len(e.v_columns)) for e in self.bodies)], axis=0).tolist()
        for e, record, (q, v) in zip(self.bodies, bodies, columns[:-1], strict=True):
            modes = e.count if isinstance(e, FlexibleBody) else 0
            record |= {"q_column": q, "v_column": v, "modes": modes}
            record["differences"] = self.content.many("Difference", DEPTH)
        self._ground = ground
        self._grounds = [e.name for e in system.elements if isinstance(e, Ground)]
        self._body = dict.fromkeys(self._grounds, ground)
        self._body |= {e.name: record for e, record in zip(self.bodies, bodies, strict=True)}
        for e, record in zip(self.bodies, bodies, strict=True):
            self._body |= {f"{e.name}.{node}": record for node in e.nodes}
        self.whole |= {"ground": ground, "bodies": bodies, "stops": self.content.many("Stop", STOPS + 1)}
        self.groups: list[_Group] = []
        self._bonds()
        try:
            kinds = Kinds(self.shape, system.functions, self.bodies, self._grounds)
            self._elements(kinds, accelerations)
            for e in self.bodies:
                if isinstance(e, FlexibleBody) and e.frame.changing:  # the code that moves it
                    made = (kinds.displacement(e), kinds.kinematics(e))
                    mover, rater = (kernel(kind.function, kind.outputs, kind.stands) for kind in made)
                    assert not mover.slots and not rater.slots  # they have no parameters
                    self._body[e.name] |= {
                        "mover": mover.evaluate, "rater": rater.evaluate, "origin": self.content.add("Place"),
                        "slots": self.content.many("Slot", 1),
                    }  # fmt: skip
        except Unsupported as error:
            raise InputError(f"A load or a law of the model: {error}; write it with other functions.") from error

    def _numbers(self, elements: Iterable[Element]) -> list[int]:
        """Indices of the parameters of these elements."""
        return [self.index[f"{e.name}.{label}"] for e in elements for label in e.numbers()]

    def _pairs(self, element: Element) -> list[tuple[Values, Values]]:
        """All its bodies, two by two, the ground where there is no second one."""
        if isinstance(element, Body):
            return [(self._body[element.name], self._ground)]
        bodies = [*(self._body[name] for name in element.body_names()), self._ground]
        return list(zip(bodies[:-1:2], bodies[1::2], strict=False))

    # ---------------------------------------------------------------------------------------------------------- bonds

    def _bonds(self) -> None:
        """Joints and contacts in the order of elimination, with their couplings."""
        place = {id(record): i for i, record in enumerate([self._ground, *self.whole["bodies"]])}
        elements: list[Joint | Contact] = [*self._joints, *self._contacts]
        pairs = [(place[id(a)], place[id(b)]) for (a, b), *_ in map(self._pairs, elements)]
        self.whole["joints"], self.whole["contacts"] = [], []
        self._first: dict[str, Values] = {}
        reactions: dict[str, Values] = {}
        places: dict[str, list[int]] = {}
        bonds: list[tuple[Values, tuple[int, int]]] = []
        for i in order(pairs, len(self._joints)):
            e = elements[i]
            rows, step = (len(e.rows), self.shape.rows) if isinstance(e, Joint) else (len(e.gap_labels), 1)
            made = [self._bond(e, k) for k in range(-(-rows // step))]
            many = self.whole["joints" if isinstance(e, Joint) else "contacts"]
            places[e.name] = [step * len(many) + k for k in range(rows)]
            many += made
            self._first[e.name] = made[0]
            bonds += [(bond, pairs[i]) for bond in made]
            if isinstance(e, Joint):
                reactions[e.name] = {"joints": made}
        #: places among the records, in the order of the model
        self.joints = np.array([k for e in self._joints for k in places[e.name]], dtype=np.intp)
        self.contacts = np.array([k for e in self._contacts for k in places[e.name]], dtype=np.intp)
        for column, k in enumerate(self.contacts.tolist()):
            self.whole["contacts"][k]["column"] = column
        self.whole["reactions"] = [
            self.content.add("Reaction", **reactions[e.name], column=k) for k, e in enumerate(self._joints)
        ]
        # couplings of bonds in the order of elimination, their common bodies, and their fill-in
        add, near = self.content.add, couplings([pair for _, pair in bonds])
        joints = range(len(self.whole["joints"]))
        coupled = {(k, j): add("Coupling", other=bonds[j][0]) for k in range(len(bonds)) for j in near[k]}
        for (k, j), coupling in coupled.items():
            (mine, my_bodies), (its, its_bodies) = bonds[k], bonds[j]
            both = [(m, i) for m in (0, 1) for i in (0, 1) if my_bodies[m] == its_bodies[i] != 0]
            coupling["shares"] = [add("Share", mine=mine["ab"[m]], its=its["ab"[i]]) for m, i in both]
            met = set(near[k]).intersection(near[j])
            for name, some in (("joints", met.intersection(joints)), ("contacts", met.difference(joints))):
                coupling[name] = [add("Meeting", mine=coupled[k, h], its=coupled[j, h]) for h in sorted(some)]
        for k, (bond, _) in enumerate(bonds):
            bond["couplings"] = [coupled[k, j] for j in near[k]]
            first = sum(j in joints for j in near[k])
            bond["to_joints"], bond["to_contacts"] = bond["couplings"][:first], bond["couplings"][first:]
        others = self.whole["contacts"] if self.law_of_impact > 0 else []
        self.whole["impacts"] = [self.content.add("Impact", contact=one) for one in others]

    def _bond(self, element: Joint | Contact, k: int) -> Values:
        a, b = ({"body": body} for body in self._pairs(element)[0])
        if isinstance(element, Contact):
            return self.content.add("Contact", a=a, b=b)
        left = len(element.rows) - k * self.shape.rows
        return self.content.add("Joint", a=a, b=b, on=1, empty=np.arange(self.shape.rows) >= left)

    # ------------------------------------------------------------------------------------------------------- elements

    def _elements(self, kinds: Kinds, accelerations: bool) -> None:
        forces = [e for e in self.elements if isinstance(e, Force)]
        flexible = [e for e in self.bodies if isinstance(e, FlexibleBody)]
        moving = {id(e): varies(kinds.force(e).function) for e in forces}
        firsts = self._first.__getitem__
        self.whole["surfaces"] = self._grouped(self._contacts, kinds.contact, lambda e: firsts(e.name))
        self.whole["constraints"] = self._grouped(self._joints, kinds.joint, lambda e: firsts(e.name))
        biased = self._joints if accelerations else []
        self.whole["biases"] = self._grouped(biased, kinds.bias, lambda e: firsts(e.name))
        self.whole["forces"] = self._grouped([e for e in forces if moving[id(e)]], kinds.force, self._load)
        self.whole["forces"] += self._grouped(flexible, kinds.deformation, self._load)
        for pad in self.pads:
            if pad.row == 0 and pad.friction.static is not None:
                self.whole["forces"] += self._grouped([pad.friction], partial(kinds.press, pad=pad), self._load)
        self.whole["loads"] = list(self.content.of["Load"])
        self.steady = self._grouped([e for e in forces if not moving[id(e)]], kinds.force, self._load)
        weights = [e for e in self.elements if isinstance(e, Gravity)]
        self.steady += [self._weights(kinds.gravity(e), e, self._load) for e in weights]
        self.whole["true_surfaces"] = self._grouped(self._contacts, kinds.surface, lambda e: firsts(e.name))
        self.whole["closures"] = self._grouped(self._joints, kinds.closure, lambda e: firsts(e.name))
        self.whole["powers"] = self._grouped(forces, kinds.powers, self._account)
        self.whole["powers"] += [self._weights(kinds.height(e), e, self._account) for e in weights]
        for e in flexible:
            self.whole["powers"] += self._grouped([e], kinds.deformation_energy, self._account)
        self.whole["accounts"] = list(self.content.of["Account"])

    def _grouped(
        self, elements: Iterable[Any], kind: Callable[[Any], Kind], out: Callable[[Any], Values]
    ) -> list[Values]:
        """Groups of elements of one kind, whose outputs begin at a record."""
        found: dict[int, _Group] = {}
        for e in elements:
            made = kind(e)
            group = found.get(id(made)) or found.setdefault(id(made), self._group(made))
            pairs = self._pairs(e)
            first = out(e)
            group.places += [(a, b, first) for a, b in pairs]
            group.each = len(pairs)
            group.parameters += [self.index[f"{e.name}.{label}"] for label in e.numbers()]
        for group in found.values():
            self._closed(group)
        return [group.record for group in found.values()]

    def _group(self, kind: Kind) -> _Group:
        record = self.content.add("Group", system=self.whole, ground=self._ground)
        self.groups.append(_Group(kind, kernel(kind.function, kind.outputs, kind.stands), record))
        return self.groups[-1]

    def _closed(self, group: _Group) -> None:
        group.record["code"] = group.code.evaluate
        group.record["places"] = self.content.many("Place", len(group.places))
        group.record["slots"] = self.content.many("Slot", max(group.code.slots * len(group.places), 1))

    def _load(self, element: Element) -> Values:
        """Loads of a force, one for each two of its bodies, or of the weight of a body; the first of them."""
        pairs = [(self._body[element.name], self._ground)] if isinstance(element, Body) else self._pairs(element)
        return [self.content.add("Load", a=a, b=b) for a, b in pairs][0]

    def _account(self, element: Element) -> Values:
        return self.content.add("Account")

    def _working(self, kinds: Kinds) -> dict[str, list[Values]]:
        """Groups that evaluate the powers of forces without potential, and the accounts of these."""
        working = [e for e in self.elements if isinstance(e, Force) and (e.mixed or not e.conservative)]
        before = len(self.content.of["Account"])
        groups = self._grouped(working, kinds.powers, self._account)
        for e in self.bodies:
            if isinstance(e, FlexibleBody):
                groups += self._grouped([e], kinds.deformation_energy, self._account)
        return {"working": groups, "accounts": self.content.of["Account"][before:]}

    def _weights(self, kind: Kind, gravity: Gravity, out: Callable[[Body], Values]) -> Values:
        group = self._group(kind)
        for body in self.bodies:
            group.places.append((self._body[body.name], self._ground, out(body)))
            group.parameters.append(self.index[f"{body.name}.mass"])
            group.parameters += [self.index[f"{gravity.name}.{label}"] for label in gravity.numbers()]
        self._closed(group)
        return group.record

    # --------------------------------------------------------------------------------------------------------- memory

    def memory(self) -> Memory:
        """The memory of one run, without values."""
        if self._memory is None:
            self._memory = self._made()
        return self._memory.copied()

    def _made(self) -> Memory:
        memory = Memory(self.content, self.shape)
        ground = memory.start["Body"]
        for group in self.groups:
            first = memory.number("Place", group.record["places"][0])
            of: Any = memory.of["Place"][first : first + len(group.places)]
            for name, which in (("a", 0), ("b", 1), ("out", 2)):
                of[name] = [memory.place(place[which]) - ground for place in group.places]
        return memory

    def filled(self, values: Array) -> Memory:
        """Memory with numbers of parameters, which are copied if one of the last two runs had them as well."""
        key = values.tobytes()
        if key not in self._filled:
            memory = self.memory()
            self.fill(memory, values)
            latest = dict(list(self._filled.items())[-1:])  # runs that are compared differ in the last digits
            self._filled = latest | {key: memory}
        return self._filled[key].copied()

    def fill(self, memory: Memory, values: Array, varied: Set[int] | None = None) -> None:
        """Numbers of parameters: what depends on them alone, masses, laws, and forces that do not change; in a memory
        that was filled with values that differ in the indices `varied` alone, these."""
        stale = [one for one in self.groups if varied is None or not varied.isdisjoint(one.parameters)]
        for group in stale:
            parameters = np.ascontiguousarray(values[np.array(group.parameters, dtype=np.intp)], dtype=float)
            slots = memory.raw.ctypes.data + memory.place(group.record["slots"][0])
            code: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(group.code.prepare)
            code(len(group.places) // group.each, parameters.ctypes.data, slots)
        if varied is None:  # what no parameter changes: no corners, and bodies where the frame of the ground is
            memory.of["Stop"]["t"] = memory.of["Stop"]["before"] = memory.of["System"]["bound"] = np.inf
            body, planar = memory.of["Body"], self.shape.dimension == 2
            if not planar:
                body["q"][0, 4] = 1.0
            body["z"] = np.array([0.0, 0.0, 1.0, 0.0]) if planar else np.vstack([np.zeros(4), np.eye(3, 4)])
        if varied is None or not varied.isdisjoint(self._mass_numbers):
            self._masses(memory, values)
            if self.shape.modes:
                memory.of["Body"]["implicit"] = memory.of["Body"]["inverse_mass"]
        if varied is None or not varied.isdisjoint(self._bond_numbers):
            self._laws(memory, values)
        if varied is None or any(group.record is one for group in stale for one in self.steady):
            # sums of the forces on bodies that do not change
            for group in self.groups:
                if any(group.record is one for one in self.steady):
                    evaluate(memory, self.shape, group.record)
            body, loads = memory.of["Body"], memory.of["Load"][len(self.whole["loads"]) :]
            ground, size = memory.start["Body"], dtype("Body", self.shape).itemsize
            step = dtype("Load", self.shape).itemsize
            first = memory.start["Load"] + len(self.whole["loads"]) * step - ground
            body["steady"] = 0.0
            for side in ("a", "b"):
                bodies = (first + step * np.arange(len(loads)) + loads[side].astype(np.intp)) // size
                np.add.at(body["steady"], bodies, loads[f"on_{side}"])
            body["steady"][0] = 0.0
        if self.pads:  # of joint frictions
            M = np.asarray(self.elementwise.placed(self.start.q, self.start.v, values).masses)
            forces = {gap: float(values[place]) for gap, place in self._given.items()}
            press(memory, self.shape, self.pads, self.contacts, M.diagonal(axis1=1, axis2=2), forces)
            if self.shape.modes:
                memory.of["Body"]["implicit"] = memory.of["Body"]["inverse_mass"]

    def changes(self, memory: Memory, values: Array, varied: Set[int]) -> tuple[NDArray[np.intp], Array] | None:
        """Words of a memory, filled with values that differ in the indices `varied` alone, and their values (runs,
        words) for runs with the parameters (runs, parameters); without points of reactions. None if masses or steady
        forces vary."""
        stale = [one for one in self.groups if not varied.isdisjoint(one.parameters)]
        steady = any(group.record is one for group in stale for one in self.steady)
        if steady or not varied.isdisjoint(self._mass_numbers) or not varied.isdisjoint(self._given.values()):
            return None
        words, numbers = [np.zeros(0, dtype=np.intp)], [np.zeros((len(values), 0))]
        for group in stale:
            count = len(group.places) // group.each
            slots = np.empty((len(values), count * group.code.slots))
            parameters = np.ascontiguousarray(values[:, group.parameters], dtype=float)
            code: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(group.code.prepare)
            code(len(values) * count, parameters.ctypes.data, slots.ctypes.data)
            words.append(memory.place(group.record["slots"][0]) // 8 + np.arange(slots.shape[1]))
            numbers.append(slots)
        if not varied.isdisjoint(self._bond_numbers) and self.contacts.size:
            size = dtype("Contact", self.shape).itemsize
            for name, law in zip(LAW, self.elementwise.contact_law(values), strict=True):
                first = memory.start["Contact"] + offset("Contact", self.shape, name)
                words.append((first + size * self.contacts) // 8)
                numbers.append(law)
        return np.concatenate(words), np.concatenate(numbers, axis=1)

    def _masses(self, memory: Memory, values: Array) -> None:
        """Masses of bodies and their inverses, of a mass and a matrix of inertia."""
        start, body = self.start, memory.of["Body"]
        M = np.asarray(self.elementwise.placed(start.q, start.v, values).masses)
        diagonal, moved = M.diagonal(axis1=1, axis2=2), body[1:]
        if self.shape.modes:
            # masses of one, stiffnesses and dampings of the modes of flexible bodies
            first = 4 if self.shape.dimension == 2 else 16  # of modes among masses
            for k, e in enumerate(self.bodies):
                if not isinstance(e, FlexibleBody):
                    continue
                numbers = {label: values[self.index[f"{e.name}.{label}"]] for label in e.numbers()}
                frequency, damping = (
                    np.array([value for label, value in numbers.items() if label.startswith(name)])
                    for name in ("frequency", "damping")
                )
                for name, found in (
                    ("mass", 1.0), ("inverse_mass", 1.0), ("stiffness", frequency**2), ("damping", damping),
                ):  # fmt: skip
                    moved[name][k].reshape(-1)[first : first + e.count] = found
                moved["sqrt_mass"][k, self.shape.width - self.shape.modes :][: e.count] = 1.0
        rigid = 3 * (self.shape.dimension - 1)
        M, diagonal = M[:, :rigid, :rigid], diagonal[:, :rigid]
        if self.shape.dimension == 2:
            moved["mass"][:, :3], moved["inverse_mass"][:, :3] = diagonal, 1.0 / diagonal
            moved["sqrt_mass"][:, :3] = np.sqrt(diagonal)
            return
        moved["mass"][:, 0, :3], moved["inverse_mass"][:, 0, :3] = diagonal[:, :1], 1.0 / diagonal[:, :1]
        moved["mass"][:, 1:4, :3], moved["inverse_mass"][:, 1:4, :3] = M[:, 3:, 3:], np.linalg.inv(M[:, 3:, 3:])
        moved["sqrt_mass"][:, [0, 1, 2, 4, 5, 6]] = np.sqrt(diagonal)

    def _laws(self, memory: Memory, values: Array) -> None:
        found = memory.of["Contact"]
        for name, numbers in zip(LAW, self.elementwise.contact_law(values), strict=True):
            found[name][self.contacts] = numbers
        laws: list[Any] = [e.contact for e in self._contacts for _ in e.gap_labels]
        found["threshold"][self.contacts] = [law.threshold for law in laws]
        self._points(memory, values)

    def _points(self, memory: Memory, values: Array) -> None:
        """Points at which reactions of joints are reported."""
        points = memory.of["Reaction"]["point"]
        for k, (e, own) in enumerate(zip(self._joints, self._joint_numbers, strict=True)):
            numbers = values[own]
            known = self._reported.get(k)
            if known is None or known[0] != numbers.tobytes():
                function = self.functions.constraint(e)
                still = [np.zeros(function.numel_in(k)) for k in (1, 2)]
                point = function(0, *still, numbers)[5]
                self._reported[k] = known = numbers.tobytes(), np.array(point).ravel()
            points[k, : self.shape.dimension] = known[1]

    # ----------------------------------------------------------------------------------------------------- coordinates

    def _places(self, positions: bool) -> NDArray[np.intp]:
        """Places of the coordinates, or velocities, of the model among all motions of bodies."""
        found = []
        for k, e in enumerate(self.bodies):
            sizes = len(e.q_columns), len(e.v_columns)
            of = coordinates(self.shape.dimension, *sizes, positions)
            found.append(k * self.shape.width + np.array(of, dtype=np.intp))
        return np.concatenate(found)

    def packed(self, memory: Memory, field_name: str) -> Array:
        """Motions of bodies as a model counts them: coordinates (nq,) of q, otherwise velocities (nv,)."""
        places = self.q_places if field_name in ("q", "at") else self.v_places
        return np.asarray(np.ascontiguousarray(memory.of["Body"][field_name][1:]).reshape(-1)[places])

    def put(self, memory: Memory, field_name: str, values: Array) -> None:
        """Motions of bodies from coordinates or velocities in the order of the model."""
        motions = memory.of["Body"][field_name][1:]
        flat = np.ascontiguousarray(motions).reshape(-1)
        flat[self.q_places if field_name in ("q", "at") else self.v_places] = values
        motions[...] = flat.reshape(motions.shape)

    def of_joints(self, memory: Memory, field_name: str) -> Array:
        """A number per row of joints (ng,), in the order of the model."""
        return np.ascontiguousarray(memory.of["Joint"][field_name]).reshape(-1)[self.joints]

    def put_joints(self, memory: Memory, field_name: str, values: Array) -> None:
        """Such numbers into a field, of which rows that no joint has become zero."""
        rows = np.zeros(memory.of["Joint"][field_name].shape)
        rows.reshape(-1)[self.joints] = values
        memory.of["Joint"][field_name] = rows


def evaluate(memory: Memory, shape: Shape, group: Values) -> None:
    """Run the code of a group once, from Python."""
    ground, system = memory.address("Body"), memory.address("System")
    at = [ground + offset("Body", shape, name) for name in ("z", "u")]
    places, slots = (memory.raw.ctypes.data + memory.place(group[name][0]) for name in ("places", "slots"))
    code: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)(group["code"])
    code(len(group["places"]), places, system + offset("System", shape, "seen"), *at, slots, ground)
