"""Friction of journals that depends on their load: a column N sgn(u') for each joint, whose coefficient is mu R.

A journal of radius R that slides in its bearing under the radial force N resists its drive with mu R N. N follows from
the motion and from known parameters, such as weighed masses; the product mu R is estimated. With F the magnitude of the
joint's radial force, friction included, ``N = F / sqrt(1 + mu^2)``, so that the product is underestimated by mu^2/2,
0.5 % for mu = 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.identification.drive_motion import Mapped
from nonsmooth.identification.regressor import Regressor
from nonsmooth.model.joints import Revolute


def radial_forces(Y: Regressor, states: tuple[Array, Array, Array], joint: str, values: Array | None = None) -> Array:
    """Radial force (n,) [N] of an ideal revolute joint in the motion.

    Parameters
    ----------
    values : standard parameters; those built where omitted

    Raises
    ------
    InputError
        If there is no such revolute joint, or its force is not determined since joints are redundant.
    """
    found = next((one for one in Y.system.elements if one.name == joint and isinstance(one, Revolute)), None)
    if found is None:
        known = ", ".join(one.name for one in Y.system.elements if isinstance(one, Revolute))
        raise InputError(f'"{joint}" is no revolute joint of the mechanism; there are {known or "none"}.')
    axes = "xyz"[: Y.system.dimension]
    rows = [f"{joint}.{axis}" for axis in axes]
    if any(row not in Y.motion.row_names for row in rows):
        raise InputError(f'The force of "{joint}" is not determined: some of its rows follow from other joints.')
    theta = Y.values if values is None else np.asarray(values, dtype=float)
    places = [Y.motion.row_names.index(row) for row in rows]
    force = (Y.reactions(*states) @ theta)[:, places]
    if Y.system.dimension == 3:
        axis = _axis(Y, found, np.atleast_2d(np.asarray(states[0], dtype=float)))
        force = force - np.sum(force * axis, axis=1)[:, None] * axis
    return np.asarray(np.linalg.norm(force, axis=1), dtype=np.float64)


def load_columns(
    Y: Regressor, states: tuple[Array, Array, Array], joints: Mapping[str, str], values: Array | None = None
) -> Array:
    """Columns (n, drives, joints) of the driving forces per mu R [m].

    Parameters
    ----------
    joints : joint -> the drive about its axis
    values : standard parameters of the loads, known beforehand; those built where omitted
    """
    v = np.atleast_2d(np.asarray(states[1], dtype=float))
    columns = np.zeros((len(v), len(Y.drives), len(joints)))
    for k, (joint, drive) in enumerate(joints.items()):
        if drive not in Y.drives:
            raise InputError(f'"{drive}" is no drive of the mechanism; its drives are {", ".join(Y.drives)}.')
        d = Y.drives.index(drive)
        columns[:, d, k] = radial_forces(Y, states, joint, values) * np.sign(v[:, d])
    return columns


def _axis(Y: Regressor, joint: Revolute, u: Array) -> Array:
    """Unit vectors (n, 3) along the axis of the joint, in the ground frame."""
    assert joint.axis_a is not None
    equations, own = Y.system.equations, np.array(joint.axis_a) / np.linalg.norm(joint.axis_a)
    axis = equations.placements[joint.body_names()[0]].rotate(ca.SX(own))
    return Mapped(ca.Function("axis", [equations.q], [axis]))(Y.motion.positions(u))[0][..., 0]
