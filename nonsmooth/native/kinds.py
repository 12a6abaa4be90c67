"""The element kinds that the compiled loops call, made of the same element definitions as the Python formulations.

Each is a CasADi function ``(t, z_a, z_b, v_a, v_b, p) -> out`` whose output is one column, and the places of its
components: those of contacts and joints in the records of their gaps and rows, counted from the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from nonsmooth.compile.emit import Unsupported
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.contacts import Contact
from nonsmooth.model.forces import Force, Gravity, gradient, gravity_force
from nonsmooth.model.frames import placement_like
from nonsmooth.model.joints import Joint
from nonsmooth.native import table as n

__all__ = ["Kind", "Kinds"]

#: where components go: (place in doubles, 1 or 3 of them), see `emit`
Places = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Kind:
    """A function, and where its outputs go."""

    function: ca.Function
    outputs: Places


class Kinds:
    """Kinds of one build of a mechanism; elements of one kind get one and the same object."""

    def __init__(self, dimension: int, functions: ElementFunctions | None = None) -> None:
        self.functions = ElementFunctions(dimension) if functions is None else functions
        self.a, self.b = placement_like(dimension, "a"), placement_like(dimension, "b")
        self.t = ca.SX.sym("t")
        self._made: dict[tuple[str, int], tuple[ca.Function, Kind]] = {}

    def contact(self, element: Contact, rough: bool) -> Kind:
        """Per gap g_N, its normal direction, and its tangential one where `rough`."""

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            g, _, J_a, J_b, T_a, T_b = of(self.a.z, self.b.z, p)
            found = [_numbers(g, n.GAP_G, n.GAP), _directions(J_a, J_b, n.NORMAL // 8, n.GAP)]
            return [*found, _directions(T_a, T_b, n.TANGENT // 8, n.GAP)] if rough else found

        return self._made_once(f"contact{rough}", self.functions.gaps(element), 2, outputs)

    def surface(self, element: Contact) -> Kind:
        """Per gap the true one, and the direction of its rate."""

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            g, J_a, J_b, _, _ = of(self.a.z, self.b.z, p)
            return [_numbers(g, n.TRUE, n.GAP), _directions(J_a, J_b, n.TRUE_RATE, n.GAP)]

        return self._made_once("surface", self.functions.surface(element), 2, outputs)

    def joint(self, element: Joint) -> Kind:
        """Per row g, its direction, and the explicit rate of g."""

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            g, _, J_a, J_b, rate, _ = of(self.t, self.a.z, self.b.z, p)
            direction = _directions(J_a, J_b, n.DIRECTION // 8, n.ROW)
            return [_numbers(g, n.ROW_G, n.ROW), direction, _numbers(rate, n.ROW_RATE, n.ROW)]

        return self._made_once("joint", self.functions.constraint(element), 3, outputs)

    def closure(self, element: Joint) -> Kind:
        """Per row the reported misfit; in the first the point of the second body where the reaction is reported."""

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            _, closure, _, _, _, point = of(self.t, self.a.z, self.b.z, p)
            return [_numbers(closure, n.MISFIT, n.ROW), _numbers(point, n.POINT, 1)]

        return self._made_once("closure", self.functions.constraint(element), 3, outputs)

    def force(self, element: Force) -> Kind:
        """Force vectors on the first and the second body, the latter zero where there is one body."""
        of = self.functions.forces(element)
        return self._made_once("force", of, of.n_in() - 1, lambda of, p: self._pair(*self._forces(of, element, p)[1:]))

    def parts(self, element: Force) -> tuple[Kind, Kind]:
        """Of a mixed force the part with a potential, and the rest."""
        whole, rest = self.functions.forces(element), self.functions.nonconservative(element)

        def outputs(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            return self._pair(*self._forces(of, element, p))

        def elastic(of: ca.Function, p: ca.SX) -> list[tuple[ca.SX, Places]]:
            return self._pair(*gradient(self._forces(of, element, p)[0], (self.a, self.b)[: len(element.body_fields)]))

        last = whole.n_in() - 1
        return self._made_once("elastic", whole, last, elastic), self._made_once("rest", rest, last, outputs)

    def potential(self, element: Force) -> Kind:
        """Potential energy."""
        of = self.functions.forces(element)
        return self._made_once(
            "potential", of, of.n_in() - 1, lambda of, p: [_numbers(self._forces(of, element, p)[0], 0, 1)]
        )

    def gravity(self, element: Gravity) -> Kind:
        """Weight of the first body; the parameters are its mass and the components of the acceleration."""
        size = len(element.numbers())
        p = ca.SX.sym("p", 1 + size)
        symbols = element.symbols({f"{element.name}.{label}": p[1 + i] for i, label in enumerate(element.numbers())})
        return self._kind(p, self._pair(gravity_force(self.a, p[0], symbols)))

    def _pair(self, first: ca.SX, *second: ca.SX) -> list[tuple[ca.SX, Places]]:
        """Vectors of two bodies, the second zero where there is none."""
        return [(ca.vertcat(first, *(second or [ca.SX.zeros(self.b.twist.numel())])), [(0, 3), (4, 3)])]

    def _forces(self, of: ca.Function, element: Force, p: ca.SX) -> tuple[ca.SX, ...]:
        bodies = (self.a, self.b)[: len(element.body_fields)]
        angles = ca.SX.sym("angle", len(bodies))
        turning = (ca.vertcat(body.z, angles[i]) for i, body in enumerate(bodies))
        found: tuple[ca.SX, ...] = of.call([self.t, *turning, *(body.twist for body in bodies), p])
        if ca.depends_on(ca.veccat(*found), angles):
            raise Unsupported(
                f'the load "{element.name}" depends on angles with their full turns, which the native engine has not'
            )
        return found

    def _made_once(
        self, what: str, of: ca.Function, p_index: int,
        outputs: Callable[[ca.Function, ca.SX], list[tuple[ca.SX, Places]]], first: ca.SX | None = None,
    ) -> Kind:  # fmt: skip
        """`first` are symbols in place of the first body's placement."""
        key = what, id(of)
        if key not in self._made:
            p = ca.SX.sym("p", of.numel_in(p_index))
            self._made[key] = of, self._kind(p, outputs(of, p), first)  # `of` is kept, so that its id stays its own
        return self._made[key][1]

    def _kind(self, p: ca.SX, outputs: list[tuple[ca.SX, Places]], first: ca.SX | None = None) -> Kind:
        arguments = [self.t, self.a.z if first is None else first, self.b.z, self.a.twist, self.b.twist, p]
        out = ca.densify(ca.vertcat(*(components for components, _ in outputs)))
        return Kind(ca.Function("kind", arguments, [out]), [place for _, places in outputs for place in places])


def _numbers(values: ca.SX, first: int, step: int) -> tuple[ca.SX, Places]:
    """One number per gap or row."""
    return values, [(first + step * i, 1) for i in range(values.numel())]


def _directions(J_a: ca.SX, J_b: ca.SX, first: int, step: int) -> tuple[ca.SX, Places]:
    """Per gap or row a direction: its components for both bodies."""
    places = [(first + step * i + side, 3) for i in range(J_a.size1()) for side in (0, 4)]
    return ca.vec(ca.horzcat(J_a, J_b).T), places
