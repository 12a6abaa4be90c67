"""Compliant contact: a force that grows with penetration, and friction as a function of slip; bases of both.

Every expression must be valid for numbers and for CasADi symbols, and be finite for any finite argument.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar

import casadi as ca

from nonsmooth.exceptions import InputError
from nonsmooth.laws.base import LIMITED, Expression, Law, Limit, Vector
from nonsmooth.laws.own import own_kind, usual_values, wrong_friction, wrong_normal
from nonsmooth.quantities import Unit
from nonsmooth.settings import is_number, shown

#: added to lengths of vectors, so that they have finite derivatives at 0: below any slip, with a square that is not 0
SHORTEST = 1e-30


@dataclass(frozen=True)
class NormalLaw(Law):
    """Base of normal laws: force over penetration, its rate, and the approach velocity when contact begins.

    A law defines `elastic`, `force`, or both. ``depth`` >= 0 [m]; ``rate`` [m/s], closing > 0; ``approach`` > 0 [m/s];
    forces [N], compressive > 0.
    """

    #: whether the force may be tensile just before separation; otherwise it is cut off at 0
    tensile: ClassVar[bool] = False

    def elastic(self, depth: Expression, k: SimpleNamespace) -> Expression:
        """The conservative part of the force [N], whose work is potential energy: that at rest, approached at 1 m/s."""
        if type(self).force is NormalLaw.force:
            raise TypeError("it defines neither force(depth, rate, approach, k) nor elastic(depth, k)")
        return self.force(depth, 0, 1, k)

    def force(self, depth: Expression, rate: Expression, approach: Expression, k: SimpleNamespace) -> Expression:
        """The force [N] before tension is cut off; the elastic one where a law defines no other."""
        return self.elastic(depth, k)


@dataclass(frozen=True)
class FrictionLaw(Law):
    """Base of friction laws: a force against slip, with internal states in bristle laws.

    ``slip`` [m/s] of body b relative to body a along the contact's tangent, ``normal`` >= 0 [N]; the force acts on b
    along the tangent and is therefore negative for positive slip. In space, where a contact has two tangents, friction
    is isotropic; laws with internal states or a stiction force define `spatial_force` and `spatial_bristle_rate`.
    """

    #: name and unit of each internal state; states are 0 at the beginning of contact
    bristles: ClassVar[tuple[tuple[str, str], ...]] = ()
    #: whether the law requires `stiction`, the stiction force, for which the slip velocity remains constant
    holds: ClassVar[bool] = False

    def force(self, slip: Expression, normal: Expression, bristle: Vector, stiction: Expression, k: Any) -> Expression:
        """Force on b along the tangent [N]; `bristle` is the column of states."""
        raise TypeError("it defines no force(slip, normal, bristle, stiction, k)")

    def bristle_rate(self, slip: Expression, normal: Expression, bristle: Vector, k: SimpleNamespace) -> Vector:
        """Rates of the states during contact, a column."""
        return ca.SX(0, 1)

    def spatial_force(self, slip: Vector, normal: Expression, bristle: Vector, stiction: Vector, k: Any) -> Vector:
        """Force on b along the two tangents (2,) [N]: ``F(|slip|, N) slip / |slip|`` with the planar force F.

        `slip` and `stiction` are (2,); `bristle` has the two components of each state, one state after the other.
        """
        if self.bristles or self.holds:
            raise TypeError(f"{type(self).__name__} has no force in space.")
        speed = length(slip)
        share = self.force(speed, normal, bristle, 0, k) / speed
        return ca.vertcat(share * slip[0], share * slip[1])

    def spatial_bristle_rate(self, slip: Vector, normal: Expression, bristle: Vector, k: SimpleNamespace) -> Vector:
        """Rates of the components of the states, a column, relative to axes that rotate with the surfaces."""
        if self.bristles:
            raise TypeError(f"{type(self).__name__} has no bristle rate in space.")
        return ca.SX(0, 1)


def length(vector: Expression) -> Expression:
    """Length of a vector of two components, with finite derivatives where it vanishes; never less than 1e-30."""
    return ca.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + SHORTEST**2)


@dataclass(frozen=True)
class Compliant(Law):
    """Compliant contact: a normal law and, optionally, a friction law.

    InputError if an argument is not a law, or a class instead of an object, if both laws have a number of the same
    name, or if the expressions of a law of your own cannot be made.

    Parameters
    ----------
    normal : NormalLaw, such as ``LankaraniNikravesh(stiffness=..., restitution=...)``
    friction : FrictionLaw, optional, None for frictionless contact
    slowest : [m/s], > 0
        Lower bound of the approach velocity, by which hysteresis laws divide: it vanishes if a contact begins at rest.
        Not a parameter of the system.

    >>> from nonsmooth.laws import Flores
    >>> Compliant(Flores(stiffness=1e10, restitution=0.5)).numbers()
    {'stiffness': 10000000000.0, 'restitution': 0.5}
    """

    normal: NormalLaw
    friction: FrictionLaw | None = None
    slowest: Annotated[float, Unit("m/s")] = 1e-6

    def __post_init__(self) -> None:
        for name, base, law in (("normal", NormalLaw, self.normal), ("friction", FrictionLaw, self.friction)):
            if not (isinstance(law, base) or name == "friction" and law is None):
                hint = "; write it with its brackets" if isinstance(law, type) else ""
                raise InputError(f"Compliant: {name} must be a {base.__name__}, got {shown(law)}{hint}.")
        if not (is_number(self.slowest) and self.slowest > 0.0):
            raise InputError(f"Compliant: slowest must be a positive speed in m/s, got {shown(self.slowest)}.")
        super().__post_init__()
        normal, friction = own_kind(self.normal), own_kind(self.friction)
        own_in_space = getattr(type(self.friction), "spatial_force", None) not in (None, FrictionLaw.spatial_force)
        for tangents in (1, 2) if friction and own_in_space else (1,):
            if own := normal or friction:
                self._check_expressions(own, tangents)
            if normal and (wrong := wrong_normal(self.normal)):
                raise InputError(f"Compliant: {normal.__name__} {wrong}.")
            if friction and (wrong := wrong_friction(self.friction, tangents)):
                raise InputError(f"Compliant: {friction.__name__} {wrong}.")

    def _check_expressions(self, own: type[Law], tangents: int) -> None:
        """Raise InputError unless both laws have expressions of the right number; `own` is the one that may not."""
        name, states = own.__name__, tangents * len(self.bristles)
        p = SimpleNamespace(**{one: ca.SX.sym(one) for one in (*self.numbers(), *self.needs())})
        depth, rate, approach = map(ca.SX.sym, ("depth", "rate", "approach"))
        slip, stiction, bristle = ca.SX.sym("v", tangents), ca.SX.sym("f", tangents), ca.SX.sym("z", states)
        try:
            k = SimpleNamespace(**self.coefficients(p))
            *forces, rates = self.forces(depth, rate, approach, slip, bristle, stiction, k, tangents)
            count = ca.vertcat(*forces).numel(), ca.SX(rates).numel()
            usual = SimpleNamespace(**usual_values(self))
            numbers = {one: float(value) for one, value in self.coefficients(usual).items()}
            limits, kinds = self.limits(usual, SimpleNamespace(**numbers)), (*LIMITED, *self.numbers())
            unknown = [one.quantity for one in limits if one.quantity not in kinds]
        except Exception as error:  # whatever a law of somebody else raises
            said, lacks = str(error).partition("\n")[0], getattr(error, "name", None)
            remedy = (
                "its functions take and return expressions of CasADi, without if (write casadi.if_else), and k has "
                "what coefficients(p) returns, by default its numbers"
            )
            if lacks in inspect.get_annotations(own) and lacks not in self.numbers():
                remedy = f'annotate {lacks} with its unit, as Annotated[float, Quantity("N/m")]'
            raise InputError(f"Compliant: {name} cannot be used ({type(error).__name__}: {said}); {remedy}.") from error
        if count != (2 + tangents, states):
            raise InputError(
                f"Compliant: {name} must return one expression for each force, and a column of {states} rates of its "
                f"states, got {count[0]} for {2 + tangents} and {count[1]}."
            )
        if unknown:
            raise InputError(
                f"Compliant: {name} has a limit of {shown(unknown[0])}; limits are of one of {', '.join(kinds)}."
            )

    @property
    def bristles(self) -> tuple[tuple[str, str], ...]:
        """Name and unit of each state of the friction law."""
        return () if self.friction is None else self.friction.bristles

    def states(self, tangents: int) -> tuple[str, ...]:
        """Names of the states of a gap: in space two components of each, ``deflection_1`` and ``deflection_2``."""
        if tangents == 1:
            return tuple(name for name, _ in self.bristles)
        return tuple(f"{name}_{i + 1}" for name, _ in self.bristles for i in range(tangents))

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Expression]:
        """Constants of both laws; those of the friction law have the prefix ``friction_``."""
        found = dict(self.normal.coefficients(p))
        if self.friction is not None:
            found |= {f"friction_{name}": value for name, value in self.friction.coefficients(p).items()}
        return found

    def limits(self, p: SimpleNamespace, k: SimpleNamespace) -> tuple[Limit, ...]:
        normal = self.normal.limits(p, k)
        return normal if self.friction is None else normal + self.friction.limits(p, _friction_constants(k))

    def forces(
        self, depth: Expression, rate: Expression, approach: Expression, slip: Expression, bristle: Expression,
        stiction: Expression, k: SimpleNamespace, tangents: int = 1,
    ) -> tuple[Expression, Expression, Expression, Expression]:  # fmt: skip
        """Normal force, force along the tangents on b, elastic part of the normal force [N], rates of the bristles.

        With one tangent, in the plane, slip, force and stiction are scalars; with two they are (2,).
        """
        approach = ca.fmax(approach, self.slowest)
        elastic = self.normal.elastic(depth, k)
        normal = self.normal.force(depth, rate, approach, k)
        if not self.normal.tensile:
            normal = ca.fmax(normal, 0)
        if self.friction is None:
            return normal, ca.SX(0) if tangents == 1 else ca.SX.zeros(tangents), elastic, ca.SX(0, 1)
        law, load, constants = self.friction, ca.fmax(normal, 0), _friction_constants(k)
        force, rate = (law.force, law.bristle_rate) if tangents == 1 else (law.spatial_force, law.spatial_bristle_rate)
        return normal, force(slip, load, bristle, stiction, constants), elastic, rate(slip, load, bristle, constants)


def wrong_law(contact: Any) -> str:
    """The end of a sentence on what is no law of a contact, with what to write."""
    if isinstance(contact, NormalLaw):
        return f"got a normal law; write Compliant({type(contact).__name__}(...))"
    return f"got {shown(contact)}" + ("; write it with its brackets" if isinstance(contact, type) else "")


def _friction_constants(k: SimpleNamespace) -> SimpleNamespace:
    prefix = "friction_"
    return SimpleNamespace(**{name[len(prefix) :]: value for name, value in vars(k).items() if name.startswith(prefix)})
