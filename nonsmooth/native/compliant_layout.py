"""What the compiled loop of compliant contact has besides: kinds of its elements, and its memory.

A gap's law is a kind of its own. It is asked with depth, closing rate, speed of approach, slip and bristles, which
stand in the record of the gap, and answers there; the constants of the law are its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.contacts import Contact
from nonsmooth.model.elements import Element
from nonsmooth.model.joints import Joint
from nonsmooth.native import compliant_table as c
from nonsmooth.native import table as n
from nonsmooth.native.kinds import Kind, Kinds, Places, _directions, _numbers
from nonsmooth.native.layout import Layout, NotNative, _Group

__all__ = ["CompliantKinds", "CompliantLayout"]

#: where a law's arguments and answers stand in the record of its gap, in order; bristles and their rates follow
ASKED, ANSWERED = (c.DEPTH, c.CLOSING, c.APPROACH, c.SLIP, c.HOLDING), (c.FORCE_N, c.FORCE_T, c.ELASTIC)


class CompliantKinds(Kinds):
    """Kinds of one build of a mechanism: surfaces that may overlap, joints with what accelerates them, laws."""

    def contact(self, element: Contact, rough: bool) -> Kind:
        """Per gap the true one, the directions of its rate and of the slip, and where asked for the latter's drift."""
        held = _holds(element)

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            g, J_a, J_b, T_a, T_b = of(self.a.z, self.b.z, p)
            normal, tangential = _directions(J_a, J_b, n.TRUE_RATE, n.GAP), _directions(T_a, T_b, c.SLIDE // 8, n.GAP)
            drift = self._drift(T_a @ self.a.twist + T_b @ self.b.twist) if held else ca.SX(0, 1)
            return [_numbers(g, n.TRUE, n.GAP), normal, tangential, _numbers(drift, c.SLIDE_DRIFT, n.GAP)]

        return self._made_once(f"overlap{held}", self.functions.surface(element), 2, outputs)

    def surface(self, element: Contact) -> Kind:
        return self.contact(element, rough=True)

    def _drift(self, rates: ca.SX) -> ca.SX:
        """Their rates at constant velocities."""
        moving = ca.vertcat(self.t, self.a.z, self.b.z)
        return ca.jtimes(rates, moving, ca.vertcat(1, *(x.tangent() @ x.twist for x in (self.a, self.b))))

    def joint(self, element: Joint) -> Kind:
        """Per row g, its direction, its explicit rate, and what its second derivative holds besides."""

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            g, _, J_a, J_b, rate, _ = of(self.t, self.a.z, self.b.z, p)
            drift = self._drift(J_a @ self.a.twist + J_b @ self.b.twist + rate)
            found = [_numbers(g, n.ROW_G, n.ROW), _directions(J_a, J_b, n.DIRECTION // 8, n.ROW)]
            return [*found, _numbers(rate, n.ROW_RATE, n.ROW), _numbers(drift, c.DRIFT, n.ROW)]

        return self._made_once("acceleration", self.functions.constraint(element), 3, outputs)

    def law(self, element: Contact) -> Kind:
        """F_N, F_T, the elastic part of F_N, and rates of bristles of one gap."""
        of, law = self.functions.compliance(element), element.contact
        assert isinstance(law, Compliant)
        asked = ca.SX.sym("asked", len(ASKED) + len(law.bristles))

        def outputs(of: ca.Function, k: ca.SX) -> list[tuple[ca.SX, Places]]:
            *motion, holding = (asked[i] for i in range(len(ASKED)))
            *forces, rates = of(*motion, asked[len(ASKED) :], holding, k)
            answers = ca.vertcat(*forces), [(place, 1) for place in ANSWERED]
            return [answers, _numbers(rates, c.BRISTLE_RATE, 1)]

        return self._made_once("law", of, 6, outputs, asked)

    def _kind(self, p: ca.SX, outputs: list[tuple[ca.SX, Places]], first: ca.SX | None = None) -> Kind:
        """Terms that derivatives repeat are computed once, to the same bits."""
        kind = super()._kind(p, outputs, first)
        arguments = kind.function.sx_in()
        return Kind(ca.Function("kind", arguments, [ca.cse(kind.function(*arguments))]), kind.outputs)


class CompliantLayout(Layout):
    """Integers and offsets of one mechanism with compliant contact.

    Parameters
    ----------
    elements : of the model, in order
    parameters : names of the parameters in order
    constants : for each gap where its law's constants stand behind the parameters, in the law's order
    samples, looks : rows within a piece while surfaces touch, and points at which a piece is looked at
    functions : of the kinds of elements

    Raises
    ------
    NotNative
        If an element has no compiled form.
    """

    entries: ClassVar[int] = c.N_COMPLIANT_TABLE
    kinds: ClassVar[type[Kinds]] = CompliantKinds
    coefficients: ClassVar[tuple[tuple[int, str], ...]] = ()

    def __init__(
        self, elements: Sequence[Element], parameters: Iterable[str], constants: Sequence[Sequence[int]], *,
        samples: int, looks: int, functions: ElementFunctions | None = None,
    ) -> None:  # fmt: skip
        names = list(parameters)
        self._constants = [[len(names) + place for place in places] for places in constants]
        self._samples, self._looks = samples, looks
        super().__init__(elements, names, rough=False, functions=functions)

    def _threshold(self, contact: Contact) -> float:
        law = contact.contact
        if not isinstance(law, Compliant):
            raise NotNative(f'the contact "{contact.name}" is rigid, which CompliantDae does not take')
        if len(law.bristles) > c.MOST_BRISTLES:
            raise NotNative(f'the contact "{contact.name}" has more than {c.MOST_BRISTLES} bristle states')
        return 0.0

    def _row(self) -> None:
        nc, nj, size = self.nc, len(self.joints), 3 * len(self.bodies)
        row = {"t": 1, "q": size, "v": size, "P_N": nc, "P_T": nc, "gap": nc, "gap_rate": nc, "mode": -(-nc // 8)}
        row |= {"reaction": 3 * nj, "energy": c.ROW_ENERGIES}
        ends = np.cumsum([0, *row.values()])
        self.parts = {name: (int(first), row[name]) for name, first in zip(row, ends, strict=False)}
        self.table[n.ROW_WIDTH] = ends[-1]

    # ----------------------------------------------------------------------------------------------------------- laws

    def _gaps(self) -> list[Contact]:
        """The contact of each gap."""
        return [contact for contact in self.contacts for _ in contact.gap_labels]

    def _laws(self, kinds: Kinds) -> list[_Group]:
        """A group of its own for the law of each gap."""
        assert isinstance(kinds, CompliantKinds)
        groups = []
        for i, contact in enumerate(self._gaps()):
            gap = int(self.table[n.GAPS]) + n.GAP_STEP * i
            asked = gap + 8 * c.DEPTH
            groups.append(_Group(kinds.law(contact), places=[(asked, asked, gap)], parameters=self._constants[i]))
        return groups

    def _groups(self, elements: Sequence[Element], kinds: Kinds) -> None:
        super()._groups(elements, kinds)
        self._state()
        self._law_records()

    def _law_records(self) -> None:
        facts = self._facts_of[len(self._facts_of) - self.nc :]
        laws, first = np.zeros((self.nc, c.LAW), dtype=np.int64), int(self.table[c.I_BRISTLES])
        laws[:, [c.L_EVALUATE, c.L_PLACES, c.L_W]] = facts[:, [n.G_EVALUATE, n.G_PLACES, n.G_W]]
        for record, contact in zip(laws, self._gaps(), strict=True):
            law = contact.contact
            assert isinstance(law, Compliant)
            # where it touches it counts as closed, or slipping where there is friction
            record[[c.L_BRISTLES, c.L_FIRST, c.L_MODE]] = len(law.bristles), first, 1 if law.friction is None else 3
            record[c.L_HOLDS] = _holds(contact)
            first += 8 * len(law.bristles)
        self.table[c.I_LAWS] = self._address(laws)
        self.table[c.I_HOLDS] = np.any(laws[:, c.L_HOLDS])
        # indices, free rates, forces, their responses and the factors of these, of all gaps
        self.table[c.I_HELD] = self._take((3 + 2 * self.nc) * self.nc * int(self.table[c.I_HOLDS]))

    # --------------------------------------------------------------------------------------------------------- memory

    def _state(self) -> None:
        """Where the parts of y stand, and the memory that the integrator takes."""
        laws = [contact.contact for contact in self._gaps()]
        bristles = sum(len(law.bristles) for law in laws if isinstance(law, Compliant))
        motion, table = 6 * len(self.bodies), self.table
        sizes = motion, bristles, self.nc, self.nc, 3 * len(self.joints), c.N_WORKS
        ends = np.cumsum(sizes)
        places = c.I_BRISTLES, c.I_NORMAL, c.I_TANGENTIAL, c.I_REACTION, c.I_WORK
        table[list(places)] = 8 * ends[:-1]
        width = -(-int(ends[-1]) // 4) * 4
        table[[c.I_SIZE, c.I_CORE, c.I_WIDTH]] = ends[-1], ends[1], width
        table[[c.I_LOOKS, c.I_SAMPLES]] = self._looks, self._samples
        for where in (
            c.I_Y, c.I_OLD, c.I_ORIGIN, c.I_TRIAL, c.I_AT, c.I_STATE, c.I_INTEGRALS, c.I_GAINED, c.I_SUMS, c.I_ATOL,
        ):  # fmt: skip
            table[where] = self._take(width)
        for where, count in (
            (c.I_STAGES, c.ALL_STAGES * width), (c.I_DENSE, c.POWERS * width), (c.I_METHOD, c.METHOD),
            (c.I_SEEN, 4 * self.nc), (c.I_EXTREMES, c.EXTREMES * self.nc), (c.I_RUNNING, c.N_RUNNING),
        ):  # fmt: skip
            table[where] = self._take(count)

    def _template(self) -> Array:
        template = super()._template()
        method = self.header(template, int(self.table[c.I_METHOD]) // 8, c.METHOD)
        method[:] = coefficients()
        return template

    def array(self, memory: Array, where: int, first: int = 0, last: int | None = None) -> Array:
        """An array like y, or the part of it between two places in bytes."""
        start, size = int(self.table[where]) // 8, int(self.table[c.I_SIZE])
        return memory[start + first // 8 : start + (size if last is None else last // 8)]


def _holds(contact: Contact) -> bool:
    """Whether the friction law asks for the force that would keep the slip as it is."""
    law = contact.contact
    return isinstance(law, Compliant) and law.friction is not None and law.friction.holds


def coefficients() -> Array:
    """Those of Dormand and Prince's pair of order 8, as `compliant_table.M_...` places them."""
    from scipy.integrate._ivp import dop853_coefficients as known

    found, size = np.zeros(c.METHOD), c.ALL_STAGES
    for where, values in ((c.M_A, known.A), (c.M_C, known.C), (c.M_D, known.D)):
        found[where : where + values.size] = values.ravel()
    for where, values in ((c.M_E3, known.E3), (c.M_E5, known.E5)):
        found[where : where + len(values)] = values
    assert known.A.shape == (size, size) and known.D.shape == (c.POWERS - 3, size)
    return found
