"""The memory of the compiled loops: what a mechanism is as a table of integers, and where its numbers stand.

One `Layout` serves all runs of a mechanism, whatever its parameters; a run is one block of doubles, see `table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.emit import Unsupported, varies
from nonsmooth.compile.machine import kernel
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
from nonsmooth.native.elimination import eliminate
from nonsmooth.native.kinds import Kind, Kinds
from nonsmooth.native.portions import divide

__all__ = ["Layout", "NotNative"]

Integers = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)
COEFFICIENTS = ((n.RESTITUTION, "restitution"), (n.FRICTION, "friction"), (n.TANGENTIAL, "tangential"))


class NotNative(NonsmoothError):
    """A mechanism or a scheme that the compiled loops do not have; the message says why, in one clause."""


@dataclass
class _Group:
    """Elements of one kind: bodies and outputs of each as offsets, and the indices of their parameters.

    Outputs stand in records, or `width` doubles per element in a buffer of the group. Energy of what is `stored` is
    that of weights (2) or has kinds of its own (3). Contacts are grouped by portion of the mechanism too.
    """

    kind: Kind
    width: int = 0
    stored: int = 0
    damping: bool = False
    portion: int = 0
    places: list[tuple[int, int, int]] = field(default_factory=list)
    parameters: list[int] = field(default_factory=list)


class Layout:
    """Integers and offsets of one mechanism.

    Parameters
    ----------
    elements : of the model, in order
    parameters : names of the parameters in order, for the index of each
    rough : whether tangential rows exist
    scheme : `table.GAUSS`, `MOREAU_JEAN`, `LANDING` or `MIDPOINT`
    functions : of the kinds of elements, where they have been made already

    Attributes
    ----------
    table : of the mechanism, see `table`
    template : (size,) what the memory of a run is a copy of at first: its integers, and what no parameter changes
    gather_target, gather_source : doubles of a run's memory, and the indices of the parameters that stand there
    parts : by name, (first double, doubles) within a recorded row, or within what rows with impacts hold besides

    Raises
    ------
    NotNative
        If an element has no compiled form.
    """

    #: what a scheme has besides: entries of its table, its kinds of elements, coefficients of laws at gaps
    entries: ClassVar[int] = n.N_TABLE
    kinds: ClassVar[type[Kinds]] = Kinds
    coefficients: ClassVar[tuple[tuple[int, str], ...]] = COEFFICIENTS

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
        self.table: Integers = np.zeros(self.entries, dtype=np.int64)
        self.parts: dict[str, tuple[int, int]] = {}
        self.size = n.HEADER
        self._kept: list[Integers] = []
        self._numbers: dict[str, list[int]] = {}
        self._gather: list[tuple[Integers, Integers]] = []
        self._records(elements)
        self._row()
        pairs = (self._pairs_of_gaps() - n.GROUND) // n.BODY_STEP
        self._portions = divide(len(self.bodies), pairs, n.TOGETHER)
        self._blocks()
        try:
            self._groups(elements, self.kinds(2, functions))
        except Unsupported as error:
            raise NotNative(str(error)) from error
        self.table[n.N_FLOATS] = self.size
        self.template = self._template()
        self._gather_laws()
        self.gather_target, self.gather_source = (np.concatenate(part) for part in zip(*self._gather, strict=True))

    def _check(self, elements: Sequence[Element]) -> None:
        self.threshold: list[float] = []
        for e in elements:
            if isinstance(e, Body) and not isinstance(e, PlanarBody):
                raise NotNative(f'"{e.name}" is a {type(e).__name__}; the native engine has planar bodies only')
            if isinstance(e, Contact):
                self.threshold += [self._threshold(e)] * len(e.gap_labels)
            if isinstance(e, Force) and len(e.body_fields) > 2:
                raise NotNative(f'the force "{e.name}" joins more than two bodies')

    def _threshold(self, contact: Contact) -> float:
        """Speed [m/s] below which a contact does not rebound."""
        return self._law(contact).threshold

    @staticmethod
    def _law(contact: Contact) -> Rigid:
        law = contact.contact
        if not isinstance(law, Rigid):
            raise NotNative(f'the contact "{contact.name}" is compliant; the native engine has it in CompliantDae only')
        if law.impact != "newton":
            raise NotNative(
                f'the contact "{contact.name}" has the impact law "{law.impact}"; the native engine has "newton"'
            )
        return law

    # --------------------------------------------------------------------------------------------------------- memory

    def _take(self, count: int) -> int:
        """Byte offset of so many new doubles, in lines of the cache of their own."""
        start, self.size = self.size, self.size + -(-count // 8) * 8
        return 8 * start

    def _address(self, numbers: Integers) -> int:
        """Of integers that live as long as the layout."""
        self._kept.append(aligned(numbers))
        return self._kept[-1].ctypes.data

    def _records(self, elements: Sequence[Element]) -> None:
        """Offsets of bodies, gaps, joint rows and joints, in the order of the model."""
        table, nb, nj = self.table, len(self.bodies), len(self.joints)
        self._counts = np.array([len(e.rows) for e in self.joints] + [len(e.gap_labels) for e in self.contacts], int)
        self.ng, self.nc = int(self._counts[:nj].sum()), int(self._counts[nj:].sum())
        self._row_pairs = (self._counts[:nj] + 1) // 2
        pairs, of_joints = int(self._row_pairs.sum()), 2 * (np.cumsum(self._row_pairs) - self._row_pairs)
        self._empty = (of_joints + self._counts[:nj])[self._counts[:nj] % 2 == 1]
        self._take(n.BODY * (nb + 1))
        table[n.MORE], table[n.MORE_STEP] = self._take(n.BODY * (nb + 1) * 2) - n.GROUND, 8 * n.BODY * (nb + 1)
        for where, value in (
            (n.N_BODIES, nb), (n.N_ROWS, 2 * pairs), (n.N_GAPS, self.nc), (n.N_JOINTS, nj),
            (n.N_JOINT_BLOCKS, pairs), (n.ROUGH, self.rough), (n.SCHEME, self.scheme), (n.RECORD, 1),
            (n.GAPS, self._take(n.GAP * self.nc)), (n.ROWS, self._take(2 * n.ROW * pairs)),
            (n.JOINTS, self._take(n.JOINT * nj)),
        ):  # fmt: skip
            table[where] = value
        self._body = {e.name: n.GROUND for e in elements if isinstance(e, Ground)}
        self._body |= {body.name: n.GROUND + n.BODY_STEP * (i + 1) for i, body in enumerate(self.bodies)}
        of_contacts = np.cumsum(self._counts[nj:]) - self._counts[nj:]
        self._first = np.concatenate([table[n.ROWS] + n.ROW_STEP * of_joints, table[n.GAPS] + n.GAP_STEP * of_contacts])
        self._pairs = np.array([self._bodies(e) for e in (*self.joints, *self.contacts)], int).reshape(-1, 2)

    def _bodies(self, element: Element) -> tuple[int, int]:
        """Offsets of its bodies, of which the second is the ground where there is one."""
        a, b = (*(self._body[name] for name in element.body_names()), n.GROUND)[:2]
        return a, b

    def _row(self) -> None:
        """Where things stand in a recorded row, and in what rows with impacts hold besides: (first, doubles)."""
        size, joints = 3 * len(self.bodies), 3 * len(self.joints)
        row = {"t": 1, "q": size, "v": size, "P_N": self.nc, "P_T": self.nc * self.rough, "mode": -(-self.nc // 8)}
        row |= {"reaction": joints, "scalars": 2}
        struck = {"struck": 2, "v_left": size, "P_N_impact": self.nc, "reaction_impact": joints}
        for where, found in ((n.ROW_WIDTH, row), (n.STRUCK_WIDTH, struck)):
            ends = np.cumsum([0, *found.values()])
            self.parts |= {name: (int(first), found[name]) for name, first in zip(found, ends, strict=False)}
            self.table[where] = ends[-1]

    def _blocks(self) -> None:
        """Blocks in order of elimination, and the memory of their matrix: pairs of rows of joints, then gaps.

        Blocks are of two rows, but of one where there are neither joints nor friction.
        """
        table, nj = self.table, int(self.table[n.N_JOINT_BLOCKS])
        self.paired = bool(nj) or self.rough
        rows, of_joints = 1 + self.paired, np.repeat(self._pairs[: len(self.joints)], self._row_pairs, axis=0)
        pairs = np.concatenate([of_joints, self._pairs_of_gaps()])
        plan = eliminate((pairs - n.GROUND).tolist(), nj)
        order = np.array(plan.order, int)
        count = order.size
        for where, value in (
            (n.N_BLOCKS, count), (n.N_JOINT_COUPLINGS, plan.joint_couplings),
            (n.SLOTS, self._take(n.SLOT * self.nc * self.paired)), (n.ON, self._take(count)),
            (n.DIAGONAL, self._take(rows * count)), (n.X, self._take(rows * count)), (n.RHS, self._take(rows * count)),
            (n.RHS_A, self._take(rows * count)), (n.PAIRS, self._take(4 * nj)),
            (n.LIMITS, self._take(0 if self.paired else count)), (n.LU, self._take(rows**2 * plan.size)),
        ):  # fmt: skip
            table[where] = value
        places = table[n.LU] + 8 * rows**2 * np.arange(plan.size)
        rows_of_joints, gaps = n.PAIR_STEP * np.arange(nj), n.GAP_STEP * np.arange(self.nc)
        blocks = np.zeros((count, n.BLOCK), dtype=np.int64)
        blocks[:, n.B_FIRST] = np.concatenate([table[n.ROWS] + rows_of_joints, table[n.GAPS] + gaps])[order]
        blocks[:, [n.B_A, n.B_B]] = pairs[order]
        met = plan.couplings if self.paired else self._of_later_gaps(plan.couplings, order)
        couplings = self._couplings(met, blocks[:, n.B_FIRST], places)
        blocks[:, n.B_COUPLINGS] = np.bincount(met[:, 0], minlength=count)
        index = np.argsort(order)
        numbers = np.column_stack([index, blocks[index, n.B_COUPLINGS]])
        self._first_coupling = 8 * n.SHORT_COUPLING * np.cumsum([0, *numbers[:, 1]])
        entries = plan.entries.copy()
        entries[:, n.E_LOWER] = places[entries[:, n.E_LOWER]]
        found = blocks, numbers, couplings, entries, places[plan.targets]
        names = [n.BLOCKS, n.GAP_BLOCKS, n.COUPLINGS, n.ENTRIES, n.TARGETS]
        table[names] = [self._address(integers) for integers in found]
        shares = plan.shares * np.array([8 * n.ENTRY, 1, 1, 8])
        shares[:, [n.F_ENTRY, n.F_TARGET]] += table[[n.ENTRIES, n.TARGETS]]
        table[n.FACTORS] = self._address(shares)

    def _pairs_of_gaps(self) -> Integers:
        """(gaps, 2) offsets of their bodies."""
        nj = len(self.joints)
        return np.repeat(self._pairs[nj:], self._counts[nj:], axis=0)

    def _of_later_gaps(self, met: Integers, order: Integers) -> Integers:
        """Couplings of a symmetric matrix as rows of the later gap, in the order of gaps."""
        turned = (order[met[:, 0]] < order[met[:, 1]])[:, None]
        met = np.where(turned, met[:, [1, 0, 3, 2, 4, 5]], met)
        return met[np.lexsort(order[met[:, [1, 0]]].T)]

    def _couplings(self, met: Integers, first: Integers, places: Integers) -> Integers:
        couplings = np.zeros((len(met), n.COUPLING), dtype=np.int64)
        which, sides = met[:, :2], 32 * met[:, 2:4]
        couplings[:, n.C_COLUMN], couplings[:, [n.C_ROW_SIDE, n.C_COLUMN_SIDE]] = which[:, 1], sides
        couplings[:, n.C_BODY] = n.GROUND + met[:, 4]
        couplings[:, n.C_LOWER] = places[met[:, 5]]
        direction = np.where(which < self.table[n.N_JOINT_BLOCKS], n.DIRECTION, n.NORMAL)
        couplings[:, [n.C_ROW_FIRST, n.C_COLUMN_FIRST]] = first[which] + direction + sides
        couplings[1:, n.C_ADDS] = (which[1:] == which[:-1]).all(axis=1)
        return couplings if self.paired else couplings[:, : n.SHORT_COUPLING]

    # --------------------------------------------------------------------------------------------------------- groups

    def _groups(self, elements: Sequence[Element], kinds: Kinds) -> None:
        """Groups of elements of one kind, in the order in which the loops go through them."""
        forces = [e for e in elements if isinstance(e, Force)]
        vary = {kind: varies(kind.function) for kind in {kinds.force(e) for e in forces}}
        moving = {id(e): e.mixed or vary[kinds.force(e)] for e in forces}
        constant, varying = ([e for e in forces if moving[id(e)] == found] for found in (False, True))
        weights = [self._weights(kinds, e) for e in elements if isinstance(e, Gravity)]
        firsts = dict(zip((e.name for e in (*self.joints, *self.contacts)), self._first.tolist(), strict=True))
        groups: list[_Group] = []
        counts = self._counts[len(self.joints) :]
        of_contacts = self._portions.of(np.cumsum(counts) - counts).tolist()
        portions = dict(zip((e.name for e in self.contacts), of_contacts, strict=True))

        def section(where: int, members: Iterable[Any], kind: Callable[[Any], Kind], width: int, *more: _Group) -> None:
            found: dict[Any, _Group] = {}
            for e in members:
                force = isinstance(e, Force)
                portion = portions[e.name] if where == n.CONTACT_0 else 0
                parts = [(kind(e), force and e.conservative)]
                if where == n.FORCE_0 and e.mixed:
                    parts = list(zip(kinds.parts(e), (True, False), strict=True))
                for made, stored in parts:
                    facts = made, width, 3 if stored else 0, bool(force and e.dissipative and not stored), portion
                    group = found.setdefault(facts, _Group(*facts))
                    group.places.append((*self._bodies(e), firsts.get(e.name, 0)))
                    group.parameters += self._parameters(e)
            self.table[where] = len(groups)
            groups.extend([*more, *found.values()])
            self.table[where + 1] = len(groups)

        section(n.CONTACT_0, self.contacts, lambda e: kinds.contact(e, self.rough), 0)
        section(n.JOINT_0, self.joints, kinds.joint, 0)
        section(n.STATIC_0, constant, kinds.force, 8, *weights)
        section(n.FORCE_0, varying, kinds.force, 8)
        section(n.SURFACE_0, self.contacts, kinds.surface, 0)
        section(n.CLOSURE_0, self.joints, kinds.closure, 0)
        section(n.POTENTIAL_0, [e for e in forces if e.conservative], kinds.potential, 1)
        groups += self._laws(kinds)
        self.table[n.VARYING], self.table[n.N_GROUPS] = bool(varying), len(groups)
        standing = (*self.contacts, *varying, *(self.joints if self.scheme == n.MIDPOINT else ()))
        touched = sorted({body for e in standing for body in self._bodies(e)} - {n.GROUND})
        self.table[n.N_TOUCHED], self.table[n.TOUCHED] = len(touched), self._address(np.array(touched, int))
        self.table[n.EVERY] = self._address(n.GROUND + n.BODY_STEP * (1 + np.arange(len(self.bodies))))
        self._portion_records(touched, groups[self.table[n.CONTACT_0] : self.table[n.CONTACT_1]])
        simple = self.scheme == n.MOREAU_JEAN and not (self.paired or varying)
        self.table[n.AHEAD] = simple and self.nc > 0 and len(self._portions) > 1
        self._facts_of = np.array([self._facts(group) for group in groups], dtype=np.int64).reshape(-1, n.GROUP)
        self.table[n.GROUPS] = self._address(self._facts_of)

    def _portion_records(self, touched: list[int], of_contacts: list[_Group]) -> None:
        """Records of the portions, from offsets of touched bodies and the groups of contacts."""
        portions, count, of_each = self._portions, len(self._portions), [group.portion for group in of_contacts]
        table, left = np.zeros((count + 1, n.PORTION), dtype=np.int64), _offset(portions.left_body)
        for where, value in (
            (n.P_BODIES, left), (n.P_TOUCHED, np.searchsorted(touched, left, "right")), (n.P_GAPS, portions.left_gap),
            (n.P_GROUPS, np.searchsorted(of_each, np.arange(count), "right")),
            (n.P_COUPLINGS, self._first_coupling[portions.left_gap]),
        ):  # fmt: skip
            table[1:, where] = value
        table[0, n.P_BODIES] = n.GROUND
        table[:, n.P_GROUPS] += self.table[n.CONTACT_0]
        table[:, n.P_COUPLINGS] += self.table[n.COUPLINGS]
        table[:-1, n.P_NEXT_GAPS], table[:-1, n.P_DONE_GAPS] = portions.next_gap, portions.done_gap
        table[:-1, n.P_DONE_BODIES] = _offset(portions.done_body)
        self.table[n.PORTIONS], self.table[n.N_PORTIONS] = self._address(table), count

    def _laws(self, kinds: Kinds) -> list[_Group]:
        """Groups of laws that are evaluated gap by gap; rigid contact has none."""
        return []

    def _parameters(self, element: Element) -> list[int]:
        """Indices of its parameters."""
        if element.name not in self._numbers:
            self._numbers[element.name] = [self.index[f"{element.name}.{label}"] for label in element.numbers()]
        return self._numbers[element.name]

    def _weights(self, kinds: Kinds, gravity: Gravity) -> _Group:
        group = _Group(kinds.gravity(gravity), width=8, stored=2)
        for body in self.bodies:
            group.places.append((self._body[body.name], n.GROUND, 0))
            group.parameters += [self.index[f"{body.name}.mass"], *self._parameters(gravity)]
        return group

    def _facts(self, group: _Group) -> tuple[int, ...]:
        """The record of a group, whose memory is taken here."""
        made, places = kernel(group.kind.function, group.kind.outputs), np.array(group.places, int).reshape(-1, 3)
        count, indices = len(places), np.array(group.parameters, int)
        if group.width:
            places[:, 2] = self._take(group.width * count) + 8 * group.width * np.arange(count)
        prepared, parameters = self._take(made.slots * count), self._take(indices.size)
        self._gather.append((parameters // 8 + np.arange(indices.size), indices))
        return (
            made.evaluate, made.prepare, count, self._address(places), prepared, parameters, group.damping,
            group.stored,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------------- contents

    def _template(self) -> Array:
        """A run's memory with what no parameter changes."""
        template, nj = np.zeros(self.size), len(self.joints)
        integers = template.view(np.int64)
        of_rows = np.repeat(self._pairs[:nj], 2 * self._row_pairs, axis=0)
        of_gaps = self._pairs_of_gaps()
        for k, row_body, gap_body in ((0, n.ROW_A, n.GAP_A), (1, n.ROW_B, n.GAP_B)):
            self.row_field(integers, row_body)[:] = of_rows[:, k]
            self.gap_field(integers, gap_body)[:] = of_gaps[:, k]
        facts = np.column_stack([self._pairs[:nj, 1], self._first[:nj], self._row_pairs])
        self.joint_field(integers, n.JOINT_B)[:] = facts
        self.header(integers, self.table[n.ON] // 8, int(self.table[n.N_JOINT_BLOCKS]))[:] = 1
        self.gap_field(template, n.THRESHOLD)[:] = self.threshold
        for z in (n.Z0, n.Z1, n.ZM):
            template[self._body_place(z) + 2] = 1.0
        return template

    def _gather_laws(self) -> None:
        """Masses and coefficients of laws, by index of parameter."""
        masses = [self.index[f"{b.name}.{label}"] for b in self.bodies for label in ("mass", "mass", "inertia")]
        places = np.arange(self.size)
        self._gather.append((self.body_field(places, n.MASS).ravel(), np.array(masses, int)))
        counts = self._counts[len(self.joints) :]
        for where, label in (*self.coefficients, (n.SCALE, None)):
            indices = np.array([self.index[f"{e.name}.{label or e.size_label}"] for e in self.contacts], int)
            self._gather.append((self.gap_field(places, where), np.repeat(indices, counts)))

    def fill(self, memory: Array, values: Array, options: Mapping[int, float]) -> None:
        """Parameters, masses, laws and options into a run's memory."""
        memory[self.gather_target] = values[self.gather_source]
        mass = self.body_field(memory, n.MASS)
        self.body_field(memory, n.INVERSE)[:] = 1.0 / mass
        self.body_field(memory, n.ROOT_MASS)[:] = np.sqrt(mass)
        for where, value in options.items():
            memory[n.OPTIONS + where] = value

    # ---------------------------------------------------------------------------------------------------------- views
    # of a run's memory, as it is or as integers

    def header(self, memory: NDArray[Number], where: int, count: int) -> NDArray[Number]:
        """So many numbers."""
        return memory[where : where + count]

    def body_field(self, memory: NDArray[Number], which: int) -> NDArray[Number]:
        """(bodies, 3) without the ground."""
        return _field(memory, self._body_place(which) + n.BODY, n.BODY, len(self.bodies), 0, 3)

    def _body_place(self, which: int) -> int:
        """Where the ground has a field of bodies."""
        record, place = divmod(which, n.BODY)
        further = int(self.table[n.MORE] + self.table[n.MORE_STEP] * (record - 1)) // 8 if record else 0
        return n.HEADER + further + place

    def gap_field(self, memory: NDArray[Number], which: int) -> NDArray[Number]:
        """(gaps,)"""
        return _field(memory, int(self.table[n.GAPS]) // 8, n.GAP, self.nc, which, 1)[:, 0]

    def row_field(self, memory: NDArray[Number], which: int) -> NDArray[Number]:
        """(2 x pairs of rows,), empty ones among them."""
        return _field(memory, int(self.table[n.ROWS]) // 8, n.ROW, int(self.table[n.N_ROWS]), which, 1)[:, 0]

    def row_parts(self, memory: NDArray[Number], which: int) -> list[NDArray[Number]]:
        """Parts of `row_field` without its empty rows: (joint rows,) in all."""
        field, ends = self.row_field(memory, which), [*self._empty.tolist(), int(self.table[n.N_ROWS])]
        return [field[a:b] for a, b in zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True)]

    def joint_field(self, memory: NDArray[Number], which: int) -> NDArray[Number]:
        """(joints, 3)"""
        return _field(memory, int(self.table[n.JOINTS]) // 8, n.JOINT, len(self.joints), which, 3)


def aligned(numbers: NDArray[Number]) -> NDArray[Number]:
    """A copy that begins with a line of the processor's cache."""
    room = np.empty(numbers.size + 7, dtype=numbers.dtype)
    first = -room.ctypes.data % 64 // 8
    memory = room[first : first + numbers.size]
    memory[:] = numbers.ravel()
    return memory


def _field(memory: NDArray[Number], first: int, step: int, count: int, which: int, width: int) -> NDArray[Number]:
    return memory[first : first + step * count].reshape(count, step)[:, which : which + width]


def _offset(bodies: Integers) -> Integers:
    """Of bodies in a run's memory."""
    return n.GROUND + n.BODY_STEP * bodies
