"""Primitive rows of ideal joints in space, as functions of two placements.

Each row is a polynomial of the placements' entries with coefficients from the joint's parameters: bounded in the
rotations, smooth everywhere, without angles. Directions n are unit vectors in a body frame, t_1(n) and t_2(n) two unit
vectors perpendicular to n and to each other, its transversals, constant within a run. If rows of directions have a
second root, such as antiparallel axes, a function ``.._residual`` gives the constraint residual as an angle, whose only
root is the closed joint, with the same slope there.

Relative orientation is E = (R_a Q)' R_b with a reference orientation Q of b against a. With the unit quaternion (w, x)
of E, ``axial(E) = 2 w x``; the *twist* psi of E about a unit vector u is that of its decomposition into a rotation
about u and one about an axis perpendicular to u, ``tan(psi/2) = (x . u) / w``.

References
----------
Haug, E. J. (1989), Computer-Aided Kinematics and Dynamics of Mechanical Systems, ch. 9.
Shepperd, S. W. (1978), Quaternion from rotation matrix, J. Guidance and Control 1, 223-224.
"""

from typing import Any

import casadi as ca

from nonsmooth.model.frames import BASIS, Placement, PlanarPlacement, SpatialPlacement, cross, rotation_matrix, tangents

#: sine of the angle to the antiparallel direction below which the tilt is taken about a fixed transversal
ANTIPARALLEL = 1e-8
#: square of tan(phi/2) below which phi/tan(phi/2) is summed as a series of five terms, exact to round-off
SMALL = 1e-4


def unit(direction: Any) -> ca.SX:
    """The unit vector along a nonzero vector."""
    return direction / ca.norm_2(direction)


def transversals(axis: Any) -> tuple[ca.SX, ca.SX]:
    """t_1, t_2 of the unit vector along `axis`: those of `nonsmooth.model.frames`, of -n in the pole's half space.

    They are orthonormal to round-off for every axis; the change of the pair at the equator only mixes the two rows.
    """
    n = unit(axis)
    return tangents(n * ca.if_else(ca.dot(n, BASIS[:, 2]) < 0, -1, 1))


def offset_along(a: SpatialPlacement, b: SpatialPlacement, at_a: Any, at_b: Any, axis_a: Any) -> ca.SX:
    """Component along n of a [m] of the vector from a point of a to one of b: 1 row, zero in the plane normal to n."""
    return ca.dot(unit(axis_a), a.unrotate(b.point(at_b) - a.point(at_a)))


def point_on_line(a: SpatialPlacement, b: SpatialPlacement, at_a: Any, at_b: Any, axis_a: Any) -> ca.SX:
    """A point of b on the line of a through `at_a`: its offsets along t_1(n) and t_2(n) [m], 2 rows."""
    offset = a.unrotate(b.point(at_b) - a.point(at_a))
    return ca.vertcat(*(ca.dot(t, offset) for t in transversals(axis_a)))


def distance(a: Placement, b: Placement, at_a: Any, at_b: Any, length: Any) -> ca.SX:
    """``(d . d - L^2) / (2 L)`` with d from a point of a to one of b: 1 row [m], to first order the elongation."""
    line = b.point(at_b) - a.point(at_a)
    return (ca.dot(line, line) - length * length) / (2 * length)


def distance_residual(a: Placement, b: Placement, at_a: Any, at_b: Any, length: Any) -> ca.SX:
    """Elongation ``abs(d) - L`` [m]."""
    return ca.norm_2(b.point(at_b) - a.point(at_a)) - length


def parallel_axes(a: SpatialPlacement, b: SpatialPlacement, axis_a: Any, axis_b: Any) -> ca.SX:
    """``t_i(n_a) . R_a' R_b n_b``, the sine of the tilt by components: 2 rows [rad]; also zero if antiparallel."""
    direction = a.unrotate(b.rotate(unit(axis_b)))
    return ca.vertcat(*(ca.dot(t, direction) for t in transversals(axis_a)))


def parallel_residual(a: SpatialPlacement, b: SpatialPlacement, axis_a: Any, axis_b: Any) -> ca.SX:
    """The tilt phi in [0, pi] of n_b from n_a by components, ``phi t_i . n / abs(..)`` [rad]; pi if antiparallel."""
    tilt = parallel_axes(a, b, axis_a, axis_b)
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
    return ca.if_else(opposite, ca.vertcat(ca.pi - tilt[0], -tilt[1]), regular)


def relative_orientation(a: SpatialPlacement, b: SpatialPlacement, quaternion: Any) -> ca.SX:
    """E = (R_a Q)' R_b (3, 3), the unit matrix where b has the orientation `quaternion` against a."""
    return rotation_matrix(quaternion).T @ a.rotation.T @ b.rotation


def turn(E: ca.SX) -> ca.SX:
    """axial(E) = sin(phi) n for a rotation by phi about n: 3 rows [rad]; also zero at every half turn."""
    return 0.5 * ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])


def rotation_vector(E: ca.SX) -> ca.SX:
    """phi n [rad] with phi in [0, pi]: zero only at E = 1, with slope 1.

    The quaternion is a column of the matrix of its products, which are linear in E, over the root of the largest
    diagonal entry, so that nothing is lost near half turns.
    """
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
    axis_b = rotation_matrix(quaternion).T @ unit(axis_a)
    return twist(relative_orientation(a, b, quaternion), axis_b)


def less(sine: Any, cosine: Any, angle: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of an angle less another one."""
    return sine * ca.cos(angle) - cosine * ca.sin(angle), cosine * ca.cos(angle) + sine * ca.sin(angle)


def planar_angle(a: PlanarPlacement, b: PlanarPlacement, angle: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of ``theta_b - theta_a - angle`` in the plane."""
    return less(cross(a.z[2:], b.z[2:]), a.cosine * b.cosine + a.sine * b.sine, angle)


def twist(E: ca.SX, axis: Any) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of the twist psi of E about a unit vector, both times 1 - sin^2(tilt/2).

    ``S = axial(E) . u``, ``C = (trace(E) - u . E u) / 2``. For a rotation about u they are sin(phi) and cos(phi); they
    vanish together only where u is tilted by a half turn.
    """
    return ca.dot(turn(E), axis), 0.5 * (ca.trace(E) - ca.dot(axis, E @ axis))
