"""Applied forces: gravity, loads at a point, springs and dampers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

import casadi as ca

from nonsmooth.model.drawing import Arrow, Coil, Dot, Field, Line, Primitive, Turn, vector
from nonsmooth.model.elements import Element
from nonsmooth.model.frames import Placement, PlanarPlacement
from nonsmooth.model.joints import BodyRef
from nonsmooth.model.signals import evaluate_signal
from nonsmooth.quantities import Point, PositiveLength, Quantity

__all__ = ["Damper", "Force", "Gravity", "PointForce", "Spring", "Torque", "gradient"]

Components = tuple[float, ...] | Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Gravity(Element):
    """Uniform gravity on every body.

    Parameters
    ----------
    acceleration : [m/s^2]
        (gx, gy) in the plane, (gx, gy, gz) in space.

    >>> Gravity(acceleration=(0.0, -9.81)).name
    'gravity'
    """

    name: str = "gravity"
    acceleration: Annotated[tuple[float, ...], Quantity("m/s^2")] = field(kw_only=True)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        return (Field(vector(p.acceleration)),)


@dataclass(frozen=True, eq=False)
class Force(Element):
    """Base of forces between the bodies named in `body_fields`.

    In the plane its placements also contain the angle, including full turns.
    """

    #: whether the power of the force is counted as damping rather than as work of loads
    dissipative = False
    #: field that makes a force that exists in both dimensions a spatial one
    in_space: ClassVar[str] = ""

    @property
    def conservative(self) -> bool:
        """Whether its potential energy is counted instead of its power."""
        return type(self).potential is not Force.potential and not self.dissipative

    @property
    def mixed(self) -> bool:
        """Whether it has a potential and further forces (`nonconservative`), whose power is counted separately."""
        return False

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        """Force vector on each body, in the body's velocity coordinates."""
        raise TypeError(f"{type(self).__name__} exerts no force.")

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX | None:
        """Potential energy [J] of a conservative force, else None."""
        return None

    def nonconservative(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        """The part of the `forces` of a mixed force that is not the negative gradient of the potential."""
        raise TypeError(f"{type(self).__name__} is not a mixed force.")

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """A dotted line between two bodies, else points."""
        spots = self.spots(p)
        return (Line(spots[0], spots[1], dotted=True),) if len(spots) == 2 else tuple(Dot(spot) for spot in spots)


def gradient(potential: ca.SX, bodies: tuple[Placement, ...]) -> tuple[ca.SX, ...]:
    """Minus the gradient of a potential: the force vector on each body, ``-T(z)' dV/dz``."""
    return tuple(-(ca.jacobian(potential, body.z) @ body.tangent()).T for body in bodies)


def _load(force: Force, what: str, t: ca.SX, p: SimpleNamespace, size: int) -> ca.SX:
    value = getattr(force, what)
    if callable(value):
        return evaluate_signal(force.name, what, value, t, size)
    load = getattr(p, what)
    if load.numel() != size:
        raise force.error(f"{what} takes {size} component(s) here, got {load.numel()}.")
    return load


@dataclass(frozen=True, eq=False)
class PointForce(Force):
    """A force at a point of one body.

    Parameters
    ----------
    force : [N], components, or a callable of t [s] that returns them
        A callable is called once, with symbolic time; it may call a `Table`.
    at : [m]
        Point of application in the body frame.
    frame : "global" or "body"
        Frame in which the components are given.

    >>> PointForce("push", "slider", force=lambda t: (50.0 * t, 0.0)).body_names()
    ('slider',)
    """

    body: BodyRef
    force: Annotated[Components, Quantity("N")] = field(kw_only=True)
    at: Point = field(default=(), kw_only=True)
    frame: Literal["global", "body"] = field(default="global", kw_only=True)

    body_fields = ("body",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.frame, str) or self.frame not in ("global", "body"):
            raise self.error(f'frame must be "global" or "body", got {self.frame!r}.')

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        (body,) = bodies
        size = 2 if isinstance(body, PlanarPlacement) else 3
        at = getattr(p, "at", ca.SX.zeros(size))
        force = _load(self, "force", t, p, size)
        return (body.generalized_force(body.rotate(force) if self.frame == "body" else force, at),)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """An arrow; one whose components depend on time points along x."""
        (spot,) = self.spots(p)
        return (Arrow(spot, vector(getattr(p, "force", (1.0, 0.0))), fixed=self.frame == "body"),)


@dataclass(frozen=True, eq=False)
class Torque(Force):
    """A free torque on one body, in the global frame.

    Parameters
    ----------
    torque : [N m], a number in the plane, three components in space, or a callable of t [s]
    """

    body: BodyRef
    torque: Annotated[float | Components, Quantity("N m")] = field(kw_only=True)

    body_fields = ("body",)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        (body,) = bodies
        size = 1 if isinstance(body, PlanarPlacement) else 3
        return (body.generalized_torque(_load(self, "torque", t, p, size)),)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """An arc with an arrow; one in space whose components depend on time turns about z."""
        (spot,), torque = self.spots(p), vector(getattr(p, "torque", ()))
        return (Turn(spot, axis=torque if len(torque) == 3 else ()),)


@dataclass(frozen=True, eq=False)
class LineForce(Force):
    """Base of forces along the line between a point of a and a point of b."""

    a: BodyRef
    b: BodyRef
    at_a: Point = field(default=(), kw_only=True)
    at_b: Point = field(default=(), kw_only=True)

    body_fields = ("a", "b")

    def _points(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Both points in their bodies, the vector between them, and its time derivative."""
        a, b = bodies
        origin = ca.SX.zeros(a.position.numel())
        at_a, at_b = getattr(p, "at_a", origin), getattr(p, "at_b", origin)
        return at_a, at_b, b.point(at_b) - a.point(at_a), b.point_velocity(at_b) - a.point_velocity(at_a)


@dataclass(frozen=True, eq=False)
class Spring(LineForce):
    """Linear spring between two points, potential ``k (l - l0)^2 / 2``.

    Parameters
    ----------
    stiffness : k [N/m], >= 0
    free_length : l0 [m], > 0, optional
        If omitted, the free length is zero and the force is k times the distance, smooth at zero distance.
    at_a, at_b : [m]
        Attachment points in the body frames.
    """

    stiffness: Annotated[float, Quantity("N/m", nonnegative=True)] = field(kw_only=True)
    free_length: PositiveLength | None = field(default=None, kw_only=True)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        at_a, at_b, line, _ = self._points(bodies, p)
        pull = p.stiffness * line
        if self.free_length is not None:
            pull = pull * (1 - p.free_length / ca.norm_2(line))
        return a.generalized_force(pull, at_a), b.generalized_force(-pull, at_b)

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX:
        line = self._points(bodies, p)[2]
        if self.free_length is None:
            return p.stiffness * ca.dot(line, line) / 2
        return p.stiffness * (ca.norm_2(line) - p.free_length) ** 2 / 2

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Coil(a, b),)


@dataclass(frozen=True, eq=False)
class Damper(LineForce):
    """Linear damper along the line between two points, which must not coincide; force ``-c dl/dt``.

    Parameters
    ----------
    damping : c [N s/m], >= 0
    at_a, at_b : [m]
        Attachment points in the body frames.
    """

    damping: Annotated[float, Quantity("N s/m", nonnegative=True)] = field(kw_only=True)

    dissipative = True

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        at_a, at_b, line, rate = self._points(bodies, p)
        pull = p.damping * (ca.dot(line, rate) / ca.dot(line, line)) * line
        return a.generalized_force(pull, at_a), b.generalized_force(-pull, at_b)


def gravity_force(placement: Placement, mass: ca.SX, p: SimpleNamespace) -> ca.SX:
    """Weight of one body as a force vector."""
    return placement.generalized_force(mass * p.acceleration, ca.SX.zeros(placement.position.numel()))
