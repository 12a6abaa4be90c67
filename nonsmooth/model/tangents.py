"""Slip of contacts in space: an orthonormal pair of tangents for each normal, and the velocity along it.

Coulomb's disc is isotropic, so that any orthonormal pair (t1, t2) perpendicular to the normal n can be used; it must be
smooth in n, since programs differentiate it. No pair is smooth on the whole sphere. With e3 a pole and e1, e2
perpendicular to it, ::

    t_i = e_i - (n . e_i) / (1 + n . e3) (n + e3),    i = 1, 2

is smooth except for n = -e3, requires no division by lengths, and remains finite for |n| < 1, also where the smooth
normal of a concentric journal vanishes. The pole is fixed in the first body, away from the directions in which
mechanisms are usually built. Forces, velocities and energies do not depend on the pair.

References
----------
Frisvad, J. R. (2012), Building an orthonormal basis from a 3D unit vector without normalization, J. Graphics Tools 16,
151-159.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from nonsmooth.model.frames import SpatialPlacement

__all__ = ["slip_at", "tangents"]

#: columns e1, e2, e3: the first body's axes turned by irrational angles, so that no axis or diagonal lies at -e3
BASIS = np.linalg.qr(np.array([[0.6180, -0.7321, 0.2361], [0.4142, 0.6458, 0.7071], [-0.3028, -0.1623, 0.8284]]))[0]


def tangents(normal: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two unit vectors perpendicular to a unit `normal` and to each other, in the frame in which it is given.

    >>> n = np.array([0.6, 0.0, 0.8])
    >>> t1, t2 = (np.array(ca.DM(t)).ravel() for t in tangents(ca.DM(n)))
    >>> bool(max(abs(t1 @ n), abs(t2 @ n), abs(t1 @ t2), abs(t1 @ t1 - 1)) < 1e-15)
    True
    """
    e1, e2, pole = (ca.DM(BASIS[:, i]) for i in range(3))
    mean = (normal + pole) / (1 + ca.dot(normal, pole))
    return e1 - ca.dot(normal, e1) * mean, e2 - ca.dot(normal, e2) * mean


def slip_at(point: ca.SX, normal: ca.SX, a: SpatialPlacement, b: SpatialPlacement) -> ca.SX:
    """Velocity (2,) of b relative to a at a `point` of the ground frame, along the tangents of `normal`."""

    def velocity(body: SpatialPlacement) -> ca.SX:
        return body.twist[:3] + ca.cross(body.rotate(body.twist[3:]), point - body.position)

    relative = a.unrotate(velocity(b) - velocity(a))
    return ca.vertcat(*(ca.dot(t, relative) for t in tangents(a.unrotate(normal))))
