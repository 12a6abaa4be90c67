"""Torsion springs and dampers: torques between two bodies about one axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any

import casadi as ca

from nonsmooth.model import rows as primitive
from nonsmooth.model.drawing import Primitive, Turn, vector
from nonsmooth.model.forces import Force, gradient
from nonsmooth.model.frames import Placement, PlanarPlacement, rotation_matrix
from nonsmooth.model.joints import IDENTITY, BodyRef, Direction, Orientation, check_directions
from nonsmooth.quantities import Quantity

__all__ = ["TorsionDamper", "TorsionSpring"]


@dataclass(frozen=True, eq=False)
class _Torsion(Force):
    """Base of torques about an axis: the normal of the plane, or where `axis_a` is given an axis of a in space."""

    a: BodyRef
    b: BodyRef
    axis_a: Direction | None = field(default=None, kw_only=True)

    body_fields = ("a", "b")
    in_space = "axis_a"

    @property
    def dimensions(self) -> tuple[int, ...]:  # type: ignore[override]
        return (2,) if self.axis_a is None else (3,)

    def check_together(self, numbers: Any) -> None:
        """Raise ModelError if a direction is zero, or a quaternion is not of norm 1."""
        check_directions(self, numbers)

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        a, b = self.spots(p)
        return (Turn(b, a, vector(getattr(p, "axis_a", ()))),)


@dataclass(frozen=True, eq=False)
class TorsionSpring(_Torsion):
    """Linear torsion spring, potential ``k (theta - theta_0)^2 / 2`` with the angle theta of b relative to a.

    In the plane the angle includes full turns, so that a spring can be wound up. In space (with `axis_a`) it is the
    twist about the axis in (-pi, pi], from the orientation `quaternion` or that with parallel frames. Spatial bodies do
    not count turns: beyond a half turn the torque changes its sign, while the energy is continuous. Forces are minus
    the gradient of the potential, also if the bodies tilt relative to the axis; if a joint keeps both bodies on the
    axis, the torque about it is ``k (theta_0 - theta)``.

    Parameters
    ----------
    stiffness : k [N m/rad], >= 0
    free_angle : theta_0 [rad]
        Angle of b relative to a at which the spring is free of load.
    axis_a : [-], optional
        The axis in the frame of a, of any length; with it the spring is spatial.
    quaternion : [-], optional
        (w, x, y, z), orientation of b relative to a at angle zero; in space only.

    Raises
    ------
    ModelError
        If a number is not finite or out of range, the axis zero, the quaternion not of norm 1 or given without an axis.

    >>> TorsionSpring("mainspring", "ground", "barrel", stiffness=0.2, free_angle=-25.0).dimensions
    (2,)
    """

    stiffness: Annotated[float, Quantity("N m/rad", nonnegative=True)] = field(kw_only=True)
    free_angle: Annotated[float, Quantity("rad")] = field(default=0.0, kw_only=True)
    quaternion: Orientation | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.quaternion is not None and self.axis_a is None:
            raise self.error("quaternion is given without axis_a; give axis_a in space, free_angle in the plane.")
        super().__post_init__()

    def _elongation(self, bodies: tuple[Any, ...], p: SimpleNamespace) -> ca.SX:
        """theta - theta_0."""
        a, b = bodies
        if isinstance(a, PlanarPlacement):
            return b.angle - a.angle - p.free_angle
        # sine and cosine are turned by the free angle, so that the half turn is counted from where the spring is free
        quaternion = getattr(p, "quaternion", IDENTITY)
        axis_b = rotation_matrix(quaternion).T @ primitive.unit(p.axis_a)
        S, C = primitive.twist(primitive.relative_orientation(a, b, quaternion), axis_b)
        sine, cosine = ca.sin(p.free_angle), ca.cos(p.free_angle)
        return ca.atan2(S * cosine - C * sine, C * cosine + S * sine)

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        if isinstance(a, PlanarPlacement):
            torque = -p.stiffness * self._elongation(bodies, p)
            return a.generalized_torque(-torque), b.generalized_torque(torque)
        return gradient(self.potential(bodies, p), bodies)

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX:
        return p.stiffness * self._elongation(bodies, p) ** 2 / 2


@dataclass(frozen=True, eq=False)
class TorsionDamper(_Torsion):
    """Linear torsion damper, torque ``-c omega`` with the angular velocity omega of b relative to a.

    About the normal of the plane, or in space about an axis of a, ``omega = n . (omega_b - omega_a)``.

    Parameters
    ----------
    damping : c [N m s/rad], >= 0
    axis_a : [-], optional
        The axis in the frame of a, of any length; with it the damper is spatial.
    """

    damping: Annotated[float, Quantity("N m s/rad", nonnegative=True)] = field(kw_only=True)

    dissipative = True

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        rate = b.angular_velocity - a.angular_velocity
        if isinstance(a, PlanarPlacement):
            torque = -p.damping * rate
        else:
            axis = a.rotate(primitive.unit(p.axis_a))
            torque = -p.damping * ca.dot(axis, rate) * axis
        return a.generalized_torque(-torque), b.generalized_torque(torque)
