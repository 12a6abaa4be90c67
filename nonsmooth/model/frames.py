"""Placement of a body: position, orientation and twist, as symbols; and the primitive rows of ideal joints in space.

Elements receive placements and never coordinates. A placement is a vector z, (x, y, cos, sin) in the plane and
(r, columns of R) in space, with a twist v, (vx, vy, omega) in the plane and (velocity, omega in the body frame) in
space. The tangent map T(z) with z' = T(z) v converts derivatives with respect to z into Jacobians with respect to v; no
trigonometric functions are evaluated.

Rows are polynomials of the placements' entries: bounded in the rotations, smooth everywhere, without angles. Directions
n are unit vectors in a body frame, t_1(n) and t_2(n) two unit vectors perpendicular to n and to each other, its
transversals, constant within a run. Where rows have a second root, such as antiparallel axes, functions return the
constraint residual as well, whose only root is the closed joint, with the same slope.

Relative orientation is E = (R_a Q)' R_b with a reference orientation Q of b against a. With the unit quaternion (w, x)
of E, ``axial(E) = 2 w x``; the *twist* psi of E about a unit vector u is that of its decomposition into a rotation
about u and one about an axis perpendicular to u, ``tan(psi/2) = (x . u) / w``.

References
----------
Haug, E. J. (1989), Computer-Aided Kinematics and Dynamics of Mechanical Systems, ch. 9.
Shepperd, S. W. (1978), Quaternion from rotation matrix, J. Guidance and Control 1, 223-224.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

#: sine of the angle to the antiparallel direction below which the tilt is taken about a fixed transversal
ANTIPARALLEL = 1e-8
#: square of tan(phi/2) below which phi/tan(phi/2) is summed as a series of five terms, exact to round-off
SMALL = 1e-4


def cross(a: Any, b: Any) -> ca.SX:
    """Planar cross product ``a_x b_y - a_y b_x``."""
    return a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True, eq=False)
class _Placement:
    """Base of placements: z and twist."""

    z: ca.SX
    twist: ca.SX

    #: components of vectors
    size: ClassVar[int]

    @property
    def position(self) -> ca.SX:
        return self.z[: self.size]

    @property
    def velocity(self) -> ca.SX:
        """Velocity [m/s] of the origin, ground frame."""
        return self.twist[: self.size]

    def point(self: Any, local: Any) -> ca.SX:
        """Global position of a body point."""
        return self.position + self.rotate(local)


@dataclass(frozen=True, eq=False)
class PlanarPlacement(_Placement):
    """z = (x, y, cos, sin), with `turns` also the angle, and twist (vx, vy, omega) of a planar frame."""

    size = 2

    @property
    def cosine(self) -> ca.SX:
        return self.z[2]

    @property
    def sine(self) -> ca.SX:
        return self.z[3]

    @property
    def angle(self) -> ca.SX:
        """Angle [rad], not wrapped; of the placements of elements with `turns`."""
        if self.z.numel() < 5:
            raise TypeError(
                "the angle of a body is available in loads, and in joints and contacts of a class with turns = True; "
                "elsewhere use its cosine and sine."
            )
        return self.z[4]

    @property
    def angular_velocity(self) -> ca.SX:
        """Angular velocity [rad/s] about the normal of the plane."""
        return self.twist[2]

    def rotate(self, local: Any) -> ca.SX:
        """Global components of a vector given in the body frame."""
        c, s = self.cosine, self.sine
        return ca.vertcat(c * local[0] - s * local[1], s * local[0] + c * local[1])

    def unrotate(self, vector: Any) -> ca.SX:
        """Components in the body frame of a global vector."""
        c, s = self.cosine, self.sine
        return ca.vertcat(c * vector[0] + s * vector[1], -s * vector[0] + c * vector[1])

    def point_velocity(self, local: Any) -> ca.SX:
        """Global velocity of a body point."""
        return self._velocity(self.rotate(local))

    def velocity_at(self, point: Any) -> ca.SX:
        """Global velocity of the body point that is at a global point."""
        return self._velocity(point - self.position)

    def _velocity(self, arm: ca.SX) -> ca.SX:
        return self.twist[:2] + self.twist[2] * ca.vertcat(-arm[1], arm[0])

    def generalized_force(self, force: Any, at: Any) -> ca.SX:
        """Force vector (3,) of a global `force` that acts at the body point `at`."""
        return ca.vertcat(force[0], force[1], cross(self.rotate(at), force))

    def generalized_torque(self, torque: Any) -> ca.SX:
        """Force vector (3,) of a `torque` about the normal of the plane."""
        return ca.vertcat(0, 0, torque)

    def tangent(self) -> ca.SX:
        """T(z) (4, 3) with z' = T(z) v; (5, 3) with the angle."""
        zero, one = ca.SX(0), ca.SX(1)
        rows = [[one, zero, zero], [zero, one, zero], [zero, zero, -self.sine], [zero, zero, self.cosine]]
        return ca.blockcat([*rows, [zero, zero, one]][: self.z.numel()])


@dataclass(frozen=True, eq=False)
class SpatialPlacement(_Placement):
    """z = (r, columns of R) and twist (velocity global, angular velocity in the body frame) of a spatial frame."""

    size = 3

    @property
    def rotation(self) -> ca.SX:
        return ca.reshape(self.z[3:], 3, 3)

    @property
    def angular_velocity(self) -> ca.SX:
        """Angular velocity (3,) [rad/s], ground frame."""
        return self.rotate(self.twist[3:])

    def rotate(self, local: Any) -> ca.SX:
        return self.rotation @ local

    def unrotate(self, vector: Any) -> ca.SX:
        return self.rotation.T @ vector

    def point_velocity(self, local: Any) -> ca.SX:
        return self.twist[:3] + self.rotate(ca.cross(self.twist[3:], local))

    def velocity_at(self, point: Any) -> ca.SX:
        return self.twist[:3] + ca.cross(self.angular_velocity, point - self.position)

    def generalized_force(self, force: Any, at: Any) -> ca.SX:
        """Force vector (6,) of a global `force` that acts at the body point `at`."""
        return ca.vertcat(force, ca.cross(at, self.unrotate(force)))

    def generalized_torque(self, torque: Any) -> ca.SX:
        """Force vector (6,) of a global `torque`."""
        return ca.vertcat(ca.SX.zeros(3), self.unrotate(torque))

    def tangent(self) -> ca.SX:
        """T(z) (12, 6) with z' = T(z) v, from R' = R skew(omega)."""
        columns = [ca.vec(self.rotation @ ca.skew(ca.SX.eye(3)[:, i])) for i in range(3)]
        return ca.diagcat(ca.SX.eye(3), ca.horzcat(*columns))


Placement = PlanarPlacement | SpatialPlacement


def rotation_matrix(quaternion: Any) -> ca.SX:
    """R (3, 3) of a nonzero quaternion (w, x, y, z), divided by its norm."""
    w, x, y, z = (quaternion[i] for i in range(4))
    entries = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return ca.blockcat(entries) / (w * w + x * x + y * y + z * z)


def ground_placement(dimension: int) -> Placement:
    """The inertial frame, at rest."""
    if dimension == 2:
        return PlanarPlacement(ca.SX([0, 0, 1, 0]), ca.SX.zeros(3))
    return SpatialPlacement(ca.vertcat(ca.SX.zeros(3), ca.vec(ca.SX.eye(3))), ca.SX.zeros(6))


def placement_like(dimension: int, name: str, *, turns: bool = False) -> Placement:
    """A placement of symbols, the argument of an element function; in the plane with the angle if `turns`."""
    if dimension == 2:
        return PlanarPlacement(ca.SX.sym(f"z_{name}", 5 if turns else 4), ca.SX.sym(f"v_{name}", 3))
    return SpatialPlacement(ca.SX.sym(f"z_{name}", 12), ca.SX.sym(f"v_{name}", 6))


#: columns e1, e2, e3: the first body's axes turned by irrational angles, so that no axis or diagonal lies at -e3
BASIS = np.linalg.qr(np.array([[0.6180, -0.7321, 0.2361], [0.4142, 0.6458, 0.7071], [-0.3028, -0.1623, 0.8284]]))[0]


def tangents(normal: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two unit vectors perpendicular to a unit `normal` and to each other, in the frame in which it is given."""
    e1, e2, pole = (ca.DM(BASIS[:, i]) for i in range(3))
    mean = (normal + pole) / (1 + ca.dot(normal, pole))
    return e1 - ca.dot(normal, e1) * mean, e2 - ca.dot(normal, e2) * mean


def slip_at(point: ca.SX, normal: ca.SX, a: Placement, b: Placement) -> ca.SX:
    """Velocity of b relative to a at a `point` of the ground frame, along the tangents of `normal`; in the plane along
    the normal turned by -90 degrees."""
    relative = b.velocity_at(point) - a.velocity_at(point)
    if isinstance(a, PlanarPlacement):
        return ca.dot(ca.vertcat(normal[1], -normal[0]), relative)
    relative = a.unrotate(relative)
    return ca.vertcat(*(ca.dot(t, relative) for t in tangents(a.unrotate(normal))))


def unit(direction: Any) -> ca.SX:
    """The unit vector along a nonzero vector."""
    return direction / ca.norm_2(direction)


def transversals(axis: Any) -> tuple[ca.SX, ca.SX]:
    """t_1, t_2 of the unit vector n along `axis`, of -n in the pole's half space, so that they are orthonormal."""
    n = unit(axis)
    return tangents(n * ca.if_else(ca.dot(n, BASIS[:, 2]) < 0, -1, 1))


def offset_along(a: SpatialPlacement, b: SpatialPlacement, at_a: Any, at_b: Any, axis_a: Any) -> ca.SX:
    """Component along n of a [m] of the vector from a point of a to one of b: 1 row, zero in the plane normal to n."""
    return ca.dot(unit(axis_a), a.unrotate(b.point(at_b) - a.point(at_a)))


def point_on_line(a: SpatialPlacement, b: SpatialPlacement, at_a: Any, at_b: Any, axis_a: Any) -> ca.SX:
    """A point of b on the line of a through `at_a`: its offsets along t_1(n) and t_2(n) [m], 2 rows."""
    offset = a.unrotate(b.point(at_b) - a.point(at_a))
    return ca.vertcat(*(ca.dot(t, offset) for t in transversals(axis_a)))


def distance(a: Placement, b: Placement, at_a: Any, at_b: Any, length: Any) -> tuple[ca.SX, ca.SX]:
    """``(d . d - L^2) / (2 L)`` with d from a point of a to one of b: 1 row [m]; and the elongation, its residual."""
    line = b.point(at_b) - a.point(at_a)
    return (ca.dot(line, line) - length * length) / (2 * length), ca.norm_2(line) - length


def parallel_axes(a: SpatialPlacement, b: SpatialPlacement, axis_a: Any, axis_b: Any) -> tuple[ca.SX, ca.SX]:
    """``t_i(n_a) . R_a' R_b n_b``, the sine of the tilt by components: 2 rows [rad], also zero if antiparallel. Its
    residual is the tilt phi in [0, pi] of n_b from n_a by components, ``phi t_i . n / abs(..)``, and otherwise pi."""
    direction = a.unrotate(b.rotate(unit(axis_b)))
    tilt = ca.vertcat(*(ca.dot(t, direction) for t in transversals(axis_a)))
    cosine = ca.dot(unit(axis_a), a.unrotate(b.rotate(unit(axis_b))))
    sine2 = ca.dot(tilt, tilt)
    # near the closed joint phi/sin(phi) as a series of x^2 = sin^2(phi) / (2 (1 + cos(phi))), x = sin(phi/2); near the
    # antiparallel one the direction of the tilt is lost, and a rotation about a fixed transversal stands for it
    near = ca.logic_and(cosine > 0, sine2 < SMALL)
    opposite = ca.logic_and(cosine < 0, sine2 < ANTIPARALLEL**2)
    x2 = sine2 / (2 * (1 + ca.fmax(cosine, 0)))
    series = 1 + x2 * (2 / 3 + x2 * (8 / 15 + x2 * (16 / 35 + x2 * 128 / 315)))
    sine = ca.sqrt(ca.if_else(ca.logic_or(near, opposite), 1, sine2))
    regular = tilt * ca.if_else(near, series, ca.atan2(sine, cosine) / sine)
    return tilt, ca.if_else(opposite, ca.vertcat(ca.pi - tilt[0], -tilt[1]), regular)


def relative_orientation(a: SpatialPlacement, b: SpatialPlacement, quaternion: Any) -> ca.SX:
    """E = (R_a Q)' R_b (3, 3), the unit matrix where b has the orientation `quaternion` against a."""
    return rotation_matrix(quaternion).T @ a.rotation.T @ b.rotation


def turn(E: ca.SX) -> ca.SX:
    """axial(E) = sin(phi) n for a rotation by phi about n: 3 rows [rad]; also zero at every half turn."""
    return 0.5 * ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])


def rotation_vector(E: ca.SX) -> ca.SX:
    """phi n [rad] with phi in [0, pi]: zero only at E = 1, with slope 1. The quaternion is that column of the matrix of
    its products of which nothing is lost near half turns."""
    axial, trace = turn(E), ca.trace(E)
    squares = [(1 + trace) / 4, *((1 + 2 * E[i, i] - trace) / 4 for i in range(3))]
    products: list[list[Any]] = [[None] * 4 for _ in range(4)]
    for i in range(4):
        products[i][i] = squares[i]
    for i in range(3):
        products[0][i + 1] = products[i + 1][0] = axial[i] / 2
        for j in range(i):
            products[i + 1][j + 1] = products[j + 1][i + 1] = (E[i, j] + E[j, i]) / 4
    columns = [ca.vertcat(*products[i]) / ca.sqrt(ca.fmax(squares[i], 0.2)) for i in range(4)]
    quaternion, largest = columns[0], squares[0]
    for square, column in zip(squares[1:], columns[1:], strict=True):
        quaternion = ca.if_else(square > largest, column, quaternion)
        largest = ca.fmax(largest, square)
    quaternion = quaternion * ca.if_else(quaternion[0] < 0, -1, 1)
    w, x = quaternion[0], quaternion[1:]
    sine2 = ca.dot(x, x)
    near = sine2 < SMALL
    y = sine2 / ca.if_else(near, w * w, 1)
    series = 2 * (1 - y * (1 / 3 - y * (1 / 5 - y * (1 / 7 - y / 9)))) / ca.if_else(near, w, 1)
    sine = ca.sqrt(ca.if_else(near, 1, sine2))
    return x * ca.if_else(near, series, 2 * ca.atan2(sine, w) / sine)


def twist_about(a: SpatialPlacement, b: SpatialPlacement, axis_a: Any, quaternion: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine, as of `twist`, of b from the orientation `quaternion` relative to a, about an axis of a."""
    return twist(relative_orientation(a, b, quaternion), rotation_matrix(quaternion).T @ unit(axis_a))


def less(sine: Any, cosine: Any, angle: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of an angle less another one."""
    return sine * ca.cos(angle) - cosine * ca.sin(angle), cosine * ca.cos(angle) + sine * ca.sin(angle)


def planar_angle(a: PlanarPlacement, b: PlanarPlacement, angle: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of ``theta_b - theta_a - angle`` in the plane."""
    return less(cross(a.z[2:], b.z[2:]), a.cosine * b.cosine + a.sine * b.sine, angle)


def twist(E: ca.SX, axis: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of the twist psi of E about a unit vector, both times 1 - sin^2(tilt/2). ``S = axial(E) . u``,
    ``C = (trace(E) - u . E u) / 2``. For a rotation about u they are sin(phi) and cos(phi); they vanish together only
    where u is tilted by a half turn."""
    return ca.dot(turn(E), axis), 0.5 * (ca.trace(E) - ca.dot(axis, E @ axis))
