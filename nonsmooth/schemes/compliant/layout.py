"""A mechanism with compliant contact as records: those of all schemes, and what is integrated."""

from __future__ import annotations

import casadi as ca

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.records.memory import Content, Memory, Values
from nonsmooth.compile.records.schema import dtype, offset
from nonsmooth.engine.kinds import Kind, Kinds, Outputs, coordinates
from nonsmooth.engine.layout import Layout, _Group
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.contacts import Contact
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant import fields  # noqa: F401  (the schemas)
from nonsmooth.step.integration_fields import ALL, TERMS
from nonsmooth.step.tolerances import CLOSED, SLIPPING

__all__ = ["CompliantLayout"]

#: numbers of internal states of a friction law that a contact has room for
MOST_BRISTLES = 4
#: schemas of which there may be none
OPTIONAL = ("StateBlock", "Stage", "IntegratedBody", "Overlap", "Response", "Wrench")


def state_block(content: Content, order: int) -> Values:
    """Numbers that are integrated by the pair of this number."""
    stages, terms = (content.many("Stage", count[order]) for count in (ALL, TERMS))
    return content.add("StateBlock", stages=stages, terms=terms)


def integrated_bodies(content: Content, bodies: list[Values], order: int) -> list[Values]:
    """Bodies, whose positions and velocities are integrated."""
    made = [{"body": body, "q": state_block(content, order), "v": state_block(content, order)} for body in bodies]
    return [content.add("IntegratedBody", **one) for one in made]


class CompliantKinds(Kinds):
    """Kinds of contacts whose surfaces may overlap, and of their laws."""

    def contact(self, element: Contact) -> Kind:
        """Per contact the true gap, and directions of its rate and of its slip."""
        self._take(element.body_names())

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            return self._gaps(self.shape.dimension - 1, *of(*self._placed(element), p))

        return self._cached("overlap", self.functions.surface(element), 2, outputs)

    def turning(self, element: Contact) -> Kind:
        """Per contact the spin of its tangents in space, and what their turning adds to the rate of its slip."""
        self._take(element.body_names())

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            _, _, _, T_a, T_b = of(*self._placed(element), p)
            bias = self._along(element, T_a @ self.a.twist + T_b @ self.b.twist)
            found, tangents = [], self.shape.dimension - 1
            for k in range(len(element.gap_labels)):
                first = self._at("Overlap", k, "bias") + 1
                rows = bias[tangents * k : tangents * (k + 1)]
                found.append((rows, [(first + i, 1) for i in range(tangents)]))
            if self.shape.dimension == 3:
                spins = self.functions.tangent_spin(element)(self.a.z, self.a.twist, self.b.z, self.b.twist, p)
                places = [(self._at("Overlap", k, "spin"), 1) for k in range(spins.numel())]
                found.append((spins, places))
            return found

        return self._cached("turning", self.functions.surface(element), 2, outputs)

    def law(self, element: Contact) -> Kind:
        """Forces, elastic part of the normal one, rates of bristles of one gap; z_a is the record of the overlap."""
        self._take(())
        of, coefficients = self.functions.compliance(element), self.functions.coefficients(element)
        key = "law", id(of)
        if key not in self._made:
            tangents, size = self.shape.dimension - 1, dtype("Overlap", self.shape).itemsize // 8
            known, p = ca.SX.sym("overlap", size), ca.SX.sym("p", coefficients.numel_in(0))

            def read(name: str, count: int, skip: int = 0) -> ca.SX:
                first = self._at("Overlap", 0, name) + skip
                return known[first : first + count]

            motion = [read(name, 1) for name in ("depth", "closing", "approach")]
            slip, holding = read("rates", tangents, 1), read("holding", tangents, 1)
            F_N, F_T, elastic, rates = of(*motion, slip, read("bristle", of.numel_in(4)), holding, coefficients(p))
            places = [self._at("Overlap", 0, "force") + i for i in range(1 + tangents)]
            places += [self._at("Overlap", 0, "elastic")]
            places += [self._at("Overlap", 0, "bristle_rate") + i for i in range(rates.numel())]
            arguments = [self.t, known, self.b.z, self.a.twist, self.b.twist, p]
            out = ca.cse(ca.densify(ca.vertcat(F_N, F_T, elastic, rates)))
            stands = [range(one.numel()) for one in arguments[:-1]]
            self._made[key] = of, Kind(ca.Function("kind", arguments, [out]), [(place, 1) for place in places], stands)
        return self._made[key][1]

    def _kind(self, p: ca.SX, outputs: Outputs) -> Kind:
        """Terms that derivatives repeat are computed once."""
        kind = super()._kind(p, outputs)
        arguments = kind.function.sx_in()
        return Kind(ca.Function("kind", arguments, [ca.cse(kind.function(*arguments))]), kind.outputs, kind.stands)


class CompliantLayout(Layout):
    """The records of a mechanism with compliant contact; InputError if a law has too many bristles."""

    def __init__(self, system: System) -> None:
        super().__init__(system, rough=True, accelerations=True)

    def _elements(self, kinds: Kinds, accelerations: bool) -> None:
        for e in self._contacts:
            assert isinstance(e.contact, Compliant)
            if len(e.contact.states(self.shape.dimension - 1)) > MOST_BRISTLES:
                raise InputError(f'The contact "{e.name}" has more than {MOST_BRISTLES} bristle states.')
        kinds = CompliantKinds(self.shape, self.functions, self.bodies)
        super()._elements(kinds, accelerations)
        for name in OPTIONAL:
            self.content.of[name] = []
        self.run = self.content.add("Integration", system=self.whole)
        self.run |= self._working(kinds)
        # what is integrated: blocks of bodies, of bristles, and integrals, in this order
        add, block = self.content.add, lambda: state_block(self.content, 1)
        self.run["integrated"] = integrated_bodies(self.content, self.whole["bodies"], 1)
        self.run["moving"] = list(self.content.of["StateBlock"])
        gaps = [e for e in self._contacts for _ in e.gap_labels]
        owners = dict(zip(self.contacts.tolist(), gaps, strict=True))
        self.owners = [owners[k] for k in range(len(gaps))]
        laws = [e.contact for e in self.owners if isinstance(e.contact, Compliant)]
        counts = [len(law.states(self.shape.dimension - 1)) for law in laws]
        bristles = [block() if count else None for count in counts]
        self.run["steering"] = list(self.content.of["StateBlock"])
        overlaps = self.run["overlaps"] = []
        for contact, law, count, own in zip(self.whole["contacts"], laws, counts, bristles, strict=True):
            held = law.friction is not None and law.friction.holds
            overlap = add(
                "Overlap", contact=contact, impulse=block(), bristles_count=count, sticks=held,
                mode=CLOSED if law.friction is None else SLIPPING,
            )  # fmt: skip
            overlap |= {} if own is None else {"bristles": own}
            overlaps.append(overlap)
        for overlap in overlaps:
            overlap["responses"] = self.content.many("Response", len(overlaps) if overlap["sticks"] else 0)
        self.run["wrenches"] = [add("Wrench", reaction=one, impulse=block()) for one in self.whole["reactions"]]
        self.run |= {"contact_work": block(), "load_work": block()}
        self.run["blocks"] = self.content.of["StateBlock"]
        sticking = any(overlap["sticks"] for overlap in overlaps)
        pairwise = self.shape.dimension == 2 and len(overlaps) <= 2
        self.run |= {"sticking": sticking, "pairwise": pairwise}
        self._overlaps(kinds)

    def steering(self, memory: Memory) -> list[list[int]]:
        """Entries of the blocks on which the step size depends: per body positions and velocities, then bristles."""
        found = []
        for body in self.bodies:
            sizes = len(body.q_columns), len(body.v_columns)
            found += [coordinates(self.shape.dimension, *sizes, positions) for positions in (True, False)]
        counts = (int(count) for count in memory.of["Overlap"]["bristles_count"])
        return found + [list(range(count)) for count in counts if count]

    # ---- laws

    def _overlaps(self, kinds: CompliantKinds) -> None:
        """Contacts, each with its law, and the group that evaluates the turning of its tangents."""
        self.laws: list[_Group] = []
        for e, overlap in zip(self.owners, self.run["overlaps"], strict=True):
            group = self._group(kinds.law(e))
            group.places.append((overlap, self._ground, overlap))
            group.parameters += [self.index[f"{e.name}.{label}"] for label in e.numbers()]
            self._closed(group)
            overlap["law"] = group.record
            self.laws.append(group)
        first = {
            e.name: overlap for e, overlap in zip(reversed(self.owners), reversed(self.run["overlaps"]), strict=True)
        }
        turning = [e for e in self._contacts if self._turns(e)]
        self.run["turns"] = self._grouped(turning, kinds.turning, lambda e: first[e.name])

    def _turns(self, element: Contact) -> bool:
        """Whether turning tangents matter: in space to bristles, and to friction that depends on the stiction force."""
        law = element.contact
        assert isinstance(law, Compliant)
        spins = self.shape.dimension == 3 and bool(law.bristles)
        return spins or (law.friction is not None and law.friction.holds)

    def _laws(self, memory: Memory, values: Array) -> None:
        """Sizes of gaps, and points of reactions."""
        memory.of["Contact"]["scale"][self.contacts] = self.elementwise.contact_law(values)[3]
        self._points(memory, values)

    def _made(self) -> Memory:
        memory = super()._made()
        for group in self.laws:  # whose first argument does not begin where placements of bodies do
            first = memory.number("Place", group.record["places"][0])
            memory.of["Place"]["a"][first] -= offset("Body", self.shape, "z")
        return memory
