"""The memory of the compiled loops: what a mechanism is as a table of integers, and where its numbers stand.

One `Layout` serves all runs of a mechanism, whatever its parameters; a run is one block of doubles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.bodies import Body, Ground, PlanarBody
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.model.joints import Joint
from nonsmooth.native import table as n
from nonsmooth.native.compiler import Kernel, kernel
from nonsmooth.native.elimination import eliminate
from nonsmooth.native.emit import Unsupported
from nonsmooth.native.kinds import Kinds, varies

__all__ = ["Layout", "NotNative"]

Integers = NDArray[np.int64]
COEFFICIENTS = ((n.RESTITUTION, "restitution"), (n.FRICTION, "friction"), (n.TANGENTIAL, "tangential"))


class NotNative(NonsmoothError):
    """A mechanism or a scheme that the compiled loops do not have; the message says why, in one clause."""


@dataclass
class _Group:
    """Elements of one kind: their bodies, and the indices of their parameters."""

    kernel: Kernel
    members: list[Element]
    a: list[int]
    b: list[int]
    parameters: list[int]
    stored: int = 0
    damping: bool = False
    offset: int = 0


class Layout:
    """Integers and offsets of one mechanism.

    Parameters
    ----------
    elements : of the model, in order
    parameters : names of the parameters in order, for the index of each
    rough : whether tangential rows exist
    scheme : `loops.GAUSS` or `loops.MOREAU_JEAN`
    functions : of the kinds of elements, where they have been made already

    Raises
    ------
    NotNative
        If an element has no compiled form.
    """

    def __init__(
        self, elements: Sequence[Element], parameters: Iterable[str], *, rough: bool, scheme: int = n.GAUSS,
        functions: ElementFunctions | None = None,
    ) -> None:  # fmt: skip
        self.rough, self.scheme = rough, scheme
        self.index = {name: i for i, name in enumerate(parameters)}
        self.bodies = [e for e in elements if isinstance(e, Body)]
        self.joints = [e for e in elements if isinstance(e, Joint)]
        self.contacts = [e for e in elements if isinstance(e, Contact)]
        self._check(elements)
        self.number = {e.name: 0 for e in elements if isinstance(e, Ground)}
        self.number |= {body.name: i + 1 for i, body in enumerate(self.bodies)}
        self.table: Integers = np.zeros(n.N_TABLE, dtype=np.int64)
        self._kept: list[Integers] = []
        self._size = 0
        self._gather: list[tuple[int, Integers]] = []
        self._groups: list[_Group] = []
        self.parts: dict[int, tuple[int, int]] = {}
        self._kinds = Kinds(2, functions)
        try:
            self._collect(elements)
        except Unsupported as error:
            raise NotNative(str(error)) from error
        self._memory()
        self._rows()
        self._blocks()
        self.table[n.N_FLOATS] = self._size
        self.size = self._size
        self.gather_target = np.concatenate([start + np.arange(index.size) for start, index in self._gather])
        self.gather_source = np.concatenate([index for _, index in self._gather])

    # ------------------------------------------------------------------------------------------------------- elements

    def _check(self, elements: Sequence[Element]) -> None:
        self.threshold: list[float] = []
        for e in elements:
            if isinstance(e, Body) and not isinstance(e, PlanarBody):
                raise NotNative(f'"{e.name}" is a {type(e).__name__}; the native engine has planar bodies only')
            if isinstance(e, Contact):
                self.threshold += [self._law(e).threshold] * len(e.gap_labels)
            if isinstance(e, Force) and len(e.body_fields) > 2:
                raise NotNative(f'the force "{e.name}" joins more than two bodies')

    @staticmethod
    def _law(contact: Contact) -> Rigid:
        law = contact.contact
        if not isinstance(law, Rigid):
            raise NotNative(f'the contact "{contact.name}" is compliant; the native engine has rigid contact only')
        if law.impact != "newton":
            raise NotNative(
                f'the contact "{contact.name}" has the impact law "{law.impact}"; the native engine has "newton"'
            )
        return law

    def _collect(self, elements: Sequence[Element]) -> None:
        """Groups of elements of one kind, in the order in which the loops go through them."""
        forces = [e for e in elements if isinstance(e, Force)]
        kinds = self._kinds
        self._section(n.CONTACT_0, self.contacts, lambda e: kinds.contact(e, self.rough))
        self._section(n.JOINT_0, self.joints, kinds.joint)
        varying = {e.name for e in forces if varies(kinds.force(e))}
        first = len(self._groups)
        for e in elements:
            if isinstance(e, Gravity):
                self._weights(e)
        self._section(n.STATIC_0, [e for e in forces if e.name not in varying], kinds.force)
        self.table[n.STATIC_0] = first
        self._section(n.FORCE_0, [e for e in forces if e.name in varying], kinds.force)
        self.table[n.VARYING] = bool(varying)
        self._section(n.SURFACE_0, self.contacts, kinds.surface)
        self._section(n.CLOSURE_0, self.joints, kinds.closure)
        conservative = [e for e in forces if type(e).potential is not Force.potential and not e.dissipative]
        self._section(n.POTENTIAL_0, conservative, kinds.potential)

    def _section(self, where: int, elements: Sequence[Any], kind: Callable[[Any], ca.Function]) -> None:
        self.table[where] = len(self._groups)
        groups: dict[Any, _Group] = {}
        for e in elements:
            function = kind(e)
            stored, damping = 0, False
            if isinstance(e, Force):
                damping = bool(e.dissipative)
                stored = 3 if type(e).potential is not Force.potential and not damping else 0
            key = id(function), stored, damping
            if key not in groups:
                groups[key] = _Group(kernel(function), [], [], [], [], stored, damping)
                self._groups.append(groups[key])
            group, bodies = groups[key], [self.number[name] for name in e.body_names()]
            group.members.append(e)
            group.a.append(bodies[0])
            group.b.append(bodies[1] if len(bodies) == 2 else 0)
            group.parameters += [self.index[f"{e.name}.{label}"] for label in e.numbers()]
        self.table[where + 1] = len(self._groups)

    def _weights(self, gravity: Gravity) -> None:
        labels = [f"{gravity.name}.{label}" for label in gravity.numbers()]
        group = _Group(kernel(self._kinds.gravity(gravity)), [], [], [], [], stored=2)
        for body in self.bodies:
            group.members.append(body)
            group.a.append(self.number[body.name])
            group.b.append(0)
            group.parameters += [self.index[f"{body.name}.mass"], *(self.index[label] for label in labels)]
        self._groups.append(group)

    # --------------------------------------------------------------------------------------------------------- memory

    def _floats(self, count: int) -> int:
        """Byte offset of so many new doubles."""
        start = self._size
        self._size += max(count, 1)
        return 8 * start

    def _address(self, values: Iterable[int]) -> int:
        """Of an array that lives as long as the layout."""
        self._kept.append(np.array(list(values) or [0], dtype=np.int64))
        return self._kept[-1].ctypes.data

    def _integers(self, where: int, values: Iterable[int]) -> Integers:
        self.table[where] = self._address(values)
        return self._kept[-1]

    def _memory(self) -> None:
        """Offsets of all arrays of doubles; parameters and coefficients are gathered from the system's parameters."""
        table, bodies = self.table, len(self.bodies)
        self.ng, self.nc = sum(len(e.rows) for e in self.joints), sum(len(e.gap_labels) for e in self.contacts)
        nj, nv = len(self.joints), 3 * bodies + 3
        for where, value in (
            (n.N_BODIES, bodies), (n.N_ROWS, self.ng), (n.N_GAPS, self.nc), (n.N_JOINTS, nj), (n.ROUGH, self.rough),
            (n.SCHEME, self.scheme), (n.RECORD, 1), (n.N_GROUPS, len(self._groups)),
        ):  # fmt: skip
            table[where] = value
        sizes = {n.TIME: 2, n.OPTIONS: n.N_OPTIONS, n.COUNTERS: n.N_COUNTERS, n.WORST: n.N_WORST}
        sizes |= {n.TOTALS: n.N_TOTALS, n.LAST_POWER: 2, n.S_ENERGY: 7, n.S_SCALARS: n.N_SCALARS}
        sizes |= {n.SUM_SCALARS: n.N_SCALARS, n.BEFORE: 2 * (self.nc + self.ng)}
        sizes |= {n.HISTORY: 3 * (self.ng + 2 * self.nc)}
        for where in (
            n.Q, n.V, n.U, n.VP, n.Q1, n.QM, n.MASS, n.ROOT_MASS, n.INVERSE, n.CONSTANT_FORCE, n.FORCE, n.KICK, n.PUSH,
            n.BASE, n.WORK, n.S_LEFT,
        ):  # fmt: skip
            sizes[where] = nv
        sizes |= {where: 4 * bodies + 4 for where in (n.Z0, n.Z1, n.ZM)}
        for where in (
            n.RESTITUTION, n.FRICTION, n.TANGENTIAL, n.SCALE, n.THRESHOLD, n.Y_SCALE, n.P_N, n.P_T, n.CLOSED, n.LEFT_AT,
            n.SHIFT_N, n.SHIFT_T, n.ACTIVE, n.MODE, n.WANTED, n.OLD_N, n.OLD_T, n.OLD_FRICTION, n.STRUCK,
            n.S_PNI, n.S_MODE, n.S_MINUS, n.S_PLUS, n.SUM_PN, n.SUM_PNI, n.SUM_PT,
        ):  # fmt: skip
            sizes[where] = self.nc
        sizes |= {where: self.ng for where in (n.P_A, n.P_B, n.SHIFT_J)}
        sizes |= {where: 3 * nj for where in (n.S_REACTION, n.S_REACTION_I, n.SUM_REACTION, n.SUM_REACTION_I)}
        sizes[n.HIT] = 1
        for where, count in sizes.items():
            table[where] = self._floats(count)
        self._row()
        joint_out, contact_out = self._outputs(n.JOINT_0), self._outputs(n.CONTACT_0)
        # one after the other: the end of a step is copied to its start as a whole
        for where, count in (
            (n.OUT_J0, joint_out),
            (n.OUT_J1, joint_out),
            (n.OUT_C0, contact_out),
            (n.OUT_C1, contact_out),
        ):
            table[where] = self._floats(count)
        self._own_outputs()
        self._gathered()

    def _row(self) -> None:
        """Where things stand in a recorded row, and in what rows with impacts hold besides: (first, doubles)."""
        size, modes = 3 * len(self.bodies), -(-self.nc // 8)
        parts = {n.TIME: 1, n.Q: size, n.V: size, n.P_N: self.nc, n.P_T: self.nc * self.rough, n.S_MODE: modes}
        parts |= {n.S_REACTION: 3 * len(self.joints), n.S_SCALARS: 2}
        struck = {n.STRUCK_WIDTH: 2, n.S_LEFT: size, n.S_PNI: self.nc, n.S_REACTION_I: 3 * len(self.joints)}
        for where, found in ((n.ROW_WIDTH, parts), (n.STRUCK_WIDTH, struck)):
            ends = np.cumsum([0, *found.values()])
            self.parts |= {name: (int(first), found[name]) for name, first in zip(found, ends, strict=False)}
            self.table[where] = ends[-1]

    def _outputs(self, section: int) -> int:
        """Offsets of the groups of a section within the buffers that the loops give them; how long those are."""
        size = 0
        for group in self._groups[self.table[section] : self.table[section + 1]]:
            group.offset = 8 * size
            size += group.kernel.outputs * len(group.members)
        return size

    def _own_outputs(self) -> None:
        """Buffers of groups that have one of their own; tables by group."""
        table, groups = self.table, self._groups
        shared = range(table[n.CONTACT_0], table[n.CONTACT_1]), range(table[n.JOINT_0], table[n.JOINT_1])
        for k, group in enumerate(groups):
            if not any(k in section for section in shared):
                group.offset = self._floats(group.kernel.outputs * len(group.members))
        self._integers(n.G_EVALUATE, (g.kernel.evaluate for g in groups))
        self._integers(n.G_PREPARE, (g.kernel.prepare for g in groups))
        self._integers(n.G_SIZE, (len(g.members) for g in groups))
        self._integers(n.G_A, [self._address(g.a) for g in groups])
        self._integers(n.G_B, [self._address(g.b) for g in groups])
        self._integers(n.G_W, (self._floats(g.kernel.slots * len(g.members)) for g in groups))
        offsets = self._integers(n.G_P, (self._floats(len(g.parameters)) for g in groups))
        self._integers(n.G_OUT, (g.offset for g in groups))
        self._integers(n.G_STRIDE, (g.kernel.outputs for g in groups))
        self._integers(n.G_DAMPING, (g.damping for g in groups))
        self._integers(n.G_STORED, (g.stored for g in groups))
        for group, offset in zip(groups, offsets, strict=False):
            self._gather.append((int(offset) // 8, np.array(group.parameters, dtype=np.int64)))

    def _gathered(self) -> None:
        """Masses and coefficients of laws, by index of parameter."""
        masses = [self.index[f"{b.name}.{label}"] for b in self.bodies for label in ("mass", "mass", "inertia")]
        self._gather.append((int(self.table[n.MASS]) // 8 + 3, np.array(masses, dtype=np.int64)))
        for where, label in (*COEFFICIENTS, (n.SCALE, None)):
            index = [
                self.index[f"{e.name}.{label or e.size_label}"] for e in self.contacts for _ in e.gap_labels
            ]  # fmt: skip
            self._gather.append((int(self.table[where]) // 8, np.array(index, dtype=np.int64)))

    # ----------------------------------------------------------------------------------------------------------- rows

    def _places(self, section: int) -> dict[str, tuple[int, int, int]]:
        """Element -> offset of its outputs, its two bodies."""
        places = {}
        for group in self._groups[self.table[section] : self.table[section + 1]]:
            for i, member in enumerate(group.members):
                places[member.name] = (group.offset + 8 * group.kernel.outputs * i, group.a[i], group.b[i])
        return places

    def _rows(self) -> None:
        columns: dict[int, list[int]] = defaultdict(list)
        places, surfaces = self._places(n.CONTACT_0), self._places(n.SURFACE_0)
        for e in self.contacts:
            (offset, a, b), k = places[e.name], len(e.gap_labels)
            for i in range(k):
                values = (a, b, offset + 8 * i, offset + 8 * (k + 6 * i), offset + 8 * (7 * k + 6 * i))
                for where, value in zip((n.GAP_A, n.GAP_B, n.GAP_G, n.GAP_N, n.GAP_T), values, strict=True):
                    columns[where].append(value)
                columns[n.GAP_D].append(surfaces[e.name][0] + 8 * i)
                columns[n.GAP_R].append(surfaces[e.name][0] + 8 * (k + 6 * i))
        places, closures = self._places(n.JOINT_0), self._places(n.CLOSURE_0)
        for joint in self.joints:
            (offset, a, b), k = places[joint.name], len(joint.rows)
            facts = (b, len(columns[n.ROW_A]), k, closures[joint.name][0] + 8 * k)
            for where, value in zip((n.JOINT_B, n.JOINT_FIRST, n.JOINT_ROWS, n.JOINT_POINT), facts, strict=True):
                columns[where].append(value)
            for i in range(k):
                values = (a, b, offset + 8 * i, offset + 8 * (k + 6 * i), offset + 8 * (7 * k + i))
                for where, value in zip((n.ROW_A, n.ROW_B, n.ROW_G, n.ROW_J, n.ROW_T), values, strict=True):
                    columns[where].append(value)
                columns[n.ROW_C].append(closures[joint.name][0] + 8 * i)
        for where in (
            n.GAP_A, n.GAP_B, n.GAP_G, n.GAP_N, n.GAP_T, n.GAP_D, n.GAP_R, n.ROW_A, n.ROW_B, n.ROW_G, n.ROW_J,
            n.ROW_T, n.ROW_C,
            n.JOINT_B, n.JOINT_FIRST, n.JOINT_ROWS, n.JOINT_POINT,
        ):  # fmt: skip
            self._integers(where, columns[where])

    def _blocks(self) -> None:
        """Blocks in order of elimination, and the memory of their matrix."""
        blocks: list[tuple[int, int, int, int, int, int]] = []
        for section, elements, rows in ((n.JOINT_0, self.joints, 1), (n.CONTACT_0, self.contacts, 1 + self.rough)):
            places, first = self._places(section), 0
            for e in elements:
                size, (offset, a, b) = len(e.rows if isinstance(e, Joint) else e.gap_labels), places[e.name]
                blocks.append((first, size, size * rows, offset, a, b))
                first += size
        plan = eliminate([(size, a, b) for _, _, size, _, a, b in blocks], len(self.joints))
        ordered = [blocks[i] for i in plan.order]
        table = self.table
        table[n.N_BLOCKS], table[n.N_JOINT_BLOCKS] = len(blocks), len(self.joints)
        table[n.N_LU], table[n.N_JOINT_LU] = plan.size, plan.joint_size
        columns = n.B_FIRST, n.B_COUNT, n.B_SIZE, n.B_OUT, n.B_A, n.B_B
        for i, where in enumerate(columns):
            self._integers(where, (block[i] for block in ordered))
        self._integers(n.B_SLOT, np.cumsum([0] + [block[2] for block in ordered])[:-1])
        for name, numbers in plan.arrays.items():
            self._integers(getattr(n, name), numbers)
        table[n.N_COUPLINGS], table[n.N_JOINT_COUPLINGS] = plan.couplings, plan.joint_couplings
        slots = sum(block[2] for block in ordered)
        for where, count in (
            (n.COUNT, len(blocks)), (n.IDENTITY, slots), (n.DIAGONAL, slots), (n.R, 6 * slots), (n.C, 6 * slots),
            (n.X, slots), (n.RHS, slots), (n.RHS_A, slots), (n.LU, plan.size), (n.RAISED, 1),
        ):  # fmt: skip
            table[where] = self._floats(count)

    # ------------------------------------------------------------------------------------------------------------ use

    def block(self, memory: Array, where: int, count: int) -> Array:
        """So many doubles of a run's memory, as a view."""
        start = int(self.table[where]) // 8
        return memory[start : start + count]

    def integers(self, memory: Array, where: int, count: int) -> Integers:
        """The same memory read as integers."""
        return self.block(memory, where, count).view(np.int64)

    def remembered(self, where: int) -> int:
        """Doubles of an array that the next step needs."""
        sizes = {n.P_A: self.ng, n.P_B: self.ng, n.HISTORY: 3 * (self.ng + 2 * self.nc)}
        return sizes.get(where, self.nc)

    def motion(self, memory: Array, where: int) -> Array:
        """Coordinates or velocities of the bodies, without the ground."""
        return self.block(memory, where, 3 * len(self.bodies) + 3)[3:]

    def fill(self, memory: Array, values: Array, options: Mapping[int, float]) -> None:
        """Parameters, masses, laws and options into a run's memory."""
        memory[self.gather_target] = values[self.gather_source]
        mass = self.motion(memory, n.MASS)
        self.motion(memory, n.INVERSE)[:] = 1.0 / mass
        self.motion(memory, n.ROOT_MASS)[:] = np.sqrt(mass)
        self.block(memory, n.THRESHOLD, self.nc)[:] = self.threshold
        for where, value in options.items():
            self.block(memory, n.OPTIONS, n.N_OPTIONS)[where] = value
