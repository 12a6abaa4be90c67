"""A mechanism in an event-driven run as records: those of all schemes, and its motion at instants of a step."""

from __future__ import annotations

import casadi as ca

from nonsmooth.compile.records.memory import Values
from nonsmooth.engine.kinds import Kind, Kinds, Outputs
from nonsmooth.engine.layout import Layout
from nonsmooth.model.contacts import Contact
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.layout import integrated_bodies, state_block
from nonsmooth.schemes.event_driven.fields import DEGREE
from nonsmooth.step.integration_fields import ALL, INNER

__all__ = ["EventLayout"]

#: schemas of which there may be none
OPTIONAL = (
    "Touch", "BodyInstant", "ContactInstant", "ReactionInstant", "StateBlock", "Stage", "IntegratedBody",
)  # fmt: skip


class EventKinds(Kinds):
    """Kinds of contacts with their accelerations."""

    def curvature(self, element: Contact) -> Kind:
        """Per contact the second derivative of its gap and the rate of its slip along the motion alone."""
        self._take(element.body_names())

        def outputs(of: ca.Function, p: ca.SX) -> Outputs:
            _, _, J_a, J_b, T_a, T_b = of(*self._placed(element), p)
            tangents = self.shape.dimension - 1
            rows = []
            for k in range(J_a.shape[0]):
                rows += [(k, 0, J_a[k, :], J_b[k, :])]
                for i in range(tangents if self.shape.rows > 1 else 0):
                    rows += [(k, 1 + i, T_a[tangents * k + i, :], T_b[tangents * k + i, :])]
            bias = self._along(element, ca.vertcat(*(a @ self.a.twist + b @ self.b.twist for _, _, a, b in rows)))
            return [(bias, [(self._at("Touch", k, "bias") + row, 1) for k, row, _, _ in rows])]

        return self._cached("curvature", self.functions.gaps(element), 2, outputs)


class EventLayout(Layout):
    """The records of a mechanism in event-driven runs, by the pair of this `order`."""

    def __init__(self, system: System, *, rough: bool, order: int = 0, options: int = 0) -> None:
        self.order = order
        super().__init__(system, rough=rough, accelerations=True, options=options)
        #: whether nothing depends on time
        self.timeless = not any(group.kind.function.jac_sparsity(0, 0).nnz() for group in self.groups)

    def _elements(self, kinds: Kinds, accelerations: bool) -> None:
        kinds = EventKinds(self.shape, self.functions, self.bodies)
        super()._elements(kinds, accelerations)
        for name in OPTIONAL:
            self.content.of[name] = []
        add = self.content.add
        touches = [add("Touch", contact=contact) for contact in self.whole["contacts"]]
        reactions = len(self.whole["reactions"])
        (left,), (after,) = self._instants(1), self._instants(1)
        self.run = add("EventRun", system=self.whole, touches=touches, left=left, after=after)
        self.run["integrated"] = integrated_bodies(self.content, self.whole["bodies"], self.order)
        self.run["steering"] = list(self.content.of["StateBlock"])
        self.run["powers"] = state_block(self.content, self.order)
        stages = self._instants(ALL[self.order])
        self.run |= self._working(kinds) | {
            "stages": stages, "end": stages[INNER[self.order]], "nodes": self._instants(DEGREE[self.order] + 2),
            "means": self.content.many("ReactionInstant", reactions),
            "kicks": self.content.many("ReactionInstant", reactions),
        }  # fmt: skip
        first = {id(contact): touch for contact, touch in zip(self.whole["contacts"], touches, strict=True)}
        of = lambda e: first[id(self._first[e.name])]  # noqa: E731
        self.run["curvatures"] = self._grouped(self._contacts, kinds.curvature, of)

    def _instants(self, count: int) -> list[Values]:
        """Contiguous instants, each with its bodies, contacts and reactions."""
        parts = {
            "bodies": ("BodyInstant", len(self.whole["bodies"])),
            "contacts": ("ContactInstant", len(self.whole["contacts"])),
            "reactions": ("ReactionInstant", len(self.whole["reactions"])),
        }
        made = self.content.many("Instant", count)
        for one in made:
            one |= {name: self.content.many(*which) for name, which in parts.items()}
        return made
