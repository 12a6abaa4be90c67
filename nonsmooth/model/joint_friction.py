"""Dry friction of the coordinate that a joint leaves free: a torque about its axis, or a force along it.

It is a contact with a given normal force: of a pad that is pressed on with it along a coordinate of its own, which no
body shares, and which never leaves. Coulomb's law with a constant bound is therefore imposed in each scheme as in other
contacts; it has no part in impacts, since a bounded force has no impulse there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Annotated, Any, Self

import casadi as ca

from nonsmooth.laws.compliant import Compliant, NormalLaw
from nonsmooth.laws.friction.sticking import Karnopp
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model import frames as primitive
from nonsmooth.model.contacts import Contact
from nonsmooth.model.drawing import Dot, Primitive
from nonsmooth.model.elements import ORIGIN, Element, _PlanarOrSpatial
from nonsmooth.model.joints import Angle, Direction, _OfTwo
from nonsmooth.quantities import Point, Quantity


@dataclass(frozen=True)
class _Given(NormalLaw):
    """A normal force that is given."""

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Any]:
        return {"given": p.given}

    def elastic(self, depth: Any, k: SimpleNamespace) -> Any:
        return 0 * depth

    def force(self, depth: Any, rate: Any, approach: Any, k: SimpleNamespace) -> Any:
        return k.given


Rate = Annotated[float, Quantity("rad/s or m/s", positive=True)]
#: laws of rigid and of compliant models, per unit of the normal force
RIGID = Rigid(restitution=0.0, friction=1.0)
COMPLIANT = Compliant(_Given(), Karnopp(friction=1.0, static_friction=1.0, stick_speed=1.0))


@dataclass(frozen=True, eq=False)
class JointFriction(_PlanarOrSpatial, _OfTwo, Contact):
    """Dry friction of a joint: a constant torque, or force, against the rate of a coordinate of b relative to a.

    ``M = -torque sgn(omega)``, and ``|M| <= torque`` where ``omega = 0``, with the rate omega of the angle of b against
    a, in space about `axis_a`; or ``F = -force sgn(s')``, ``|F| <= force`` where ``s' = 0``, with the displacement s of
    the point `at_b` from the point `at_a` along the axis. What is at rest within the bound remains at rest, without
    creep. Add the joint that leaves this coordinate free, such as a `Revolute` or a `Prismatic`. ``run.P_T[name]`` is
    the impulse on b [N m s] or [N s], ``run.P_N[name]`` the bound over the step. With static friction the bound is, by
    Stribeck's curve over the rate w, ``torque + (static - torque) exp(-(w / stribeck_rate)^2)``.

    Parameters
    ----------
    a, b : the two bodies of the joint
    torque : [N m], > 0, of an angle; give either this or `force`
    force : [N], > 0, of a displacement
    static : [N m] or [N], optional, the bound at rest, at least the one above
    stribeck_rate : [rad/s] or [m/s], > 0, over which friction falls to the one above; with `static` in rigid models
    at_a, at_b : [m], points between which a displacement is measured
    direction : [rad], angle of the axis of a displacement in the frame of a; in the plane only
    axis_a : [-], optional, the axis in the frame of a, of any length; given, the friction is spatial
    stick_rate : [rad/s] or [m/s], > 0, optional
        For compliant models, and for these alone: the rate below which `Karnopp`'s law sticks.
    size : [rad] or [m], > 0, typical change of the coordinate, for tolerances only

    Raises
    ------
    ModelError
        Unless one of torque and force is given, or for static friction below it or without `stribeck_rate`.

    >>> JointFriction("rub", "ground", "arm", torque=0.6).gap_names()
    ('rub',)
    """

    contact: Rigid | Compliant = field(default=RIGID, init=False)
    torque: Annotated[float, Quantity("N m", positive=True)] | None = field(default=None, kw_only=True)
    force: Annotated[float, Quantity("N", positive=True)] | None = field(default=None, kw_only=True)
    static: Annotated[float, Quantity("N m or N", positive=True)] | None = field(default=None, kw_only=True)
    stribeck_rate: Rate | None = field(default=None, kw_only=True)
    at_a: Point = field(default=ORIGIN, kw_only=True)
    at_b: Point = field(default=ORIGIN, kw_only=True)
    direction: Angle = field(default=0.0, kw_only=True)
    axis_a: Direction | None = field(default=None, kw_only=True)
    stick_rate: Rate | None = field(default=None, kw_only=True)
    size: Annotated[float, Quantity("rad or m", positive=True)] = field(default=1e-2, kw_only=True)
    in_space, only_in_plane = "axis_a", ("direction",)

    def __post_init__(self) -> None:
        if (self.torque is None) == (self.force is None):
            raise self.error("give either torque [N m], of an angle, or force [N], of a displacement.")
        if self.stick_rate is None and (self.static is None) != (self.stribeck_rate is None):
            raise self.error("static friction falls with the rate; give static and stribeck_rate, or neither.")
        object.__setattr__(self, "contact", RIGID if self.stick_rate is None else COMPLIANT)
        super().__post_init__()

    @property
    def bound(self) -> str:
        """The parameter that is the normal force."""
        return "force" if self.torque is None else "torque"

    def quantity(self, label: str) -> Quantity:
        found = Element.quantity(self, label)
        units = found.unit.split(" or ")
        return found if len(units) == 1 else Quantity(units[self.bound == "force"], positive=found.positive)

    # the laws have no parameters
    numbers, symbols, with_numbers = Element.numbers, Element.symbols, Element.with_numbers

    def check_together(self, numbers: Mapping[str, float]) -> None:
        Element.check_together(self, numbers)
        if "static" in numbers and numbers["static"] < numbers[self.bound]:
            given = f"got {numbers['static']:g} and {numbers[self.bound]:g}"
            raise self.error(f"static friction must be at least the {self.bound}, {given}.")

    def with_law(self, contact: Rigid | Compliant) -> Self:
        """The element in a model with this law."""
        if isinstance(contact, Rigid):
            return replace(self, stick_rate=None)
        if self.stick_rate is None:
            raise self.error("with compliant contacts it needs the rate below which it sticks; give stick_rate.")
        return self

    def coefficients(self, p: SimpleNamespace) -> Mapping[str, Any]:
        given = getattr(p, self.bound)
        numbers = self.contact.numbers() | {"stick_speed": p.stick_rate}
        if self.static is not None:
            numbers["static_friction"] = p.static / given
        return self.contact.coefficients(SimpleNamespace(**numbers, given=given))

    def normal(self, rate: Any, p: SimpleNamespace) -> Any:
        """The normal force at a rate of the coordinate."""
        given = getattr(p, self.bound)
        if self.static is None:
            return given
        return given + (p.static - given) * ca.exp(-((rate / p.stribeck_rate) ** 2))

    # the pad

    def gaps(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        return ca.SX.zeros(1)

    def slip(self, a: Any, b: Any, p: SimpleNamespace) -> ca.SX:
        if self.bound == "force":
            along = primitive.unit(p.axis_a) if self.spatial else ca.vertcat(ca.cos(p.direction), ca.sin(p.direction))
            at = b.point(p.at_b)
            rate = ca.dot(a.rotate(along), b.point_velocity(p.at_b) - a.velocity_at(at))
        elif self.spatial:
            along = a.rotate(primitive.unit(p.axis_a))
            rate = ca.dot(along, b.rotate(b.twist[3:]) - a.rotate(a.twist[3:]))
        else:
            return b.angular_velocity - a.angular_velocity
        return ca.vertcat(rate, 0) if self.spatial else rate

    true_slip = slip

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return tuple(Dot(spot) for spot in self.spots(p))


def normal_forces(
    frictions: Mapping[int, JointFriction], names: Iterable[str], p: ca.SX, slip: ca.SX
) -> dict[int, ca.SX]:
    """Normal forces of joint frictions by contact, from parameters of these names, and slips (nt,) of all contacts."""
    symbols = dict(zip(names, ca.vertsplit(p), strict=True))
    return {k: e.normal(slip[k * (1 + e.spatial)], e.symbols(symbols)) for k, e in frictions.items()}
