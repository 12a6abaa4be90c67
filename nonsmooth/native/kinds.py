"""The element kinds that the compiled loops call, made of the same element definitions as the Python formulations.

Each is a CasADi function ``(t, z_a, z_b, v_a, v_b, p) -> out`` whose output is one column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.contacts import Contact
from nonsmooth.model.forces import Force, Gravity, gravity_force
from nonsmooth.model.frames import placement_like
from nonsmooth.model.joints import Joint

__all__ = ["Kinds"]


class Kinds:
    """Kinds of one build of a mechanism; elements of one kind get one and the same function."""

    def __init__(self, dimension: int, functions: ElementFunctions | None = None) -> None:
        self.functions = ElementFunctions(dimension) if functions is None else functions
        self.a, self.b = placement_like(dimension, "a"), placement_like(dimension, "b")
        self.t = ca.SX.sym("t")
        self._made: dict[tuple[str, int], tuple[ca.Function, ca.Function]] = {}

    def contact(self, element: Contact, rough: bool) -> ca.Function:
        """g_N, then per gap the six components of its normal direction, then of its tangential one where `rough`."""

        def outputs(of: ca.Function, p: ca.SX) -> list[ca.SX]:
            g, _, J_a, J_b, T_a, T_b = of(self.a.z, self.b.z, p)
            normal, tangential = (_rows(x, y) for x, y in ((J_a, J_b), (T_a, T_b)))
            return [g, normal, tangential] if rough else [g, normal]

        return self._made_once(f"contact{rough}", self.functions.gaps(element), 2, outputs)

    def surface(self, element: Contact) -> ca.Function:
        """True gaps, then per gap the six components of its rate."""

        def outputs(of: ca.Function, p: ca.SX) -> list[ca.SX]:
            g, J_a, J_b, _, _ = of(self.a.z, self.b.z, p)
            return [g, _rows(J_a, J_b)]

        return self._made_once("surface", self.functions.surface(element), 2, outputs)

    def joint(self, element: Joint) -> ca.Function:
        """g, then per row the six components of its direction, then the explicit rates of g."""

        def outputs(of: ca.Function, p: ca.SX) -> list[ca.SX]:
            g, _, J_a, J_b, rate, _ = of(self.t, self.a.z, self.b.z, p)
            return [g, _rows(J_a, J_b), rate]

        return self._made_once("joint", self.functions.constraint(element), 3, outputs)

    def closure(self, element: Joint) -> ca.Function:
        """The reported misfit, then the point of the second body where the reaction is reported."""

        def outputs(of: ca.Function, p: ca.SX) -> list[ca.SX]:
            _, closure, _, _, _, point = of(self.t, self.a.z, self.b.z, p)
            return [closure, point]

        return self._made_once("closure", self.functions.constraint(element), 3, outputs)

    def force(self, element: Force) -> ca.Function:
        """Force vectors on the first and the second body, the latter zero where there is one body."""

        def outputs(of: ca.Function, p: ca.SX) -> list[ca.SX]:
            _, *forces = self._forces(of, element, p)
            return forces if len(forces) == 2 else [forces[0], ca.SX.zeros(self.b.twist.numel())]

        of = self.functions.forces(element)
        return self._made_once("force", of, of.n_in() - 1, outputs)

    def potential(self, element: Force) -> ca.Function:
        """Potential energy."""
        of = self.functions.forces(element)
        return self._made_once("potential", of, of.n_in() - 1, lambda of, p: [self._forces(of, element, p)[0]])

    def gravity(self, element: Gravity) -> ca.Function:
        """Weight of the first body; the parameters are its mass and the components of the acceleration."""
        size = len(element.numbers())
        p = ca.SX.sym("p", 1 + size)
        symbols = element.symbols({f"{element.name}.{label}": p[1 + i] for i, label in enumerate(element.numbers())})
        weight = gravity_force(self.a, p[0], symbols)
        return self._function(p, [weight, ca.SX.zeros(self.b.twist.numel())])

    def _forces(self, of: ca.Function, element: Force, p: ca.SX) -> tuple[ca.SX, ...]:
        bodies = (self.a, self.b)[: len(element.body_fields)]
        return of(self.t, *(body.z for body in bodies), *(body.twist for body in bodies), p)

    def _made_once(
        self, what: str, of: ca.Function, p_index: int, outputs: Callable[[ca.Function, ca.SX], list[ca.SX]]
    ) -> ca.Function:
        key = what, id(of)
        if key not in self._made:
            p = ca.SX.sym("p", of.numel_in(p_index))
            self._made[key] = of, self._function(p, outputs(of, p))  # `of` is kept, so that its id stays its own
        return self._made[key][1]

    def _function(self, p: ca.SX, outputs: list[Any]) -> ca.Function:
        arguments = [self.t, self.a.z, self.b.z, self.a.twist, self.b.twist, p]
        return ca.Function("kind", arguments, [ca.densify(ca.vertcat(*outputs))])


def varies(function: ca.Function) -> bool:
    """Whether a kind depends on anything but parameters."""
    arguments = function.sx_in()
    return bool(ca.depends_on(function(*arguments), ca.vertcat(*arguments[:5])))


def _rows(J_a: ca.SX, J_b: ca.SX) -> ca.SX:
    """Per row its components for both bodies, one after the other."""
    return ca.vec(ca.horzcat(J_a, J_b).T)
