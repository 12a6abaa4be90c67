"""Bennett's linkage: four bars in space, overconstrained and yet movable."""

from __future__ import annotations

from dataclasses import asdict
from math import asin, atan2, cos, inf, pi, sin

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.rotations import consistent, quaternion, vector
from nonsmooth_problems.samples import Array

__all__ = ["bennett", "opposite", "twist"]

SOURCE = "Bennett: A new mechanism, Engineering 76 (1903), 777-778; numbers are ours"
DENSITY, WIDTH, GRAVITY = 1.0, 0.02, 9.81

ORIGINS = {
    "length": Provenance(0.3, "m", "assumed", "of two bars that are opposite each other"),
    "other_length": Provenance(0.5, "m", "assumed", "of the other two, one of them the ground"),
    "angle": Provenance(0.6, "rad", "assumed", "between the axes of the first two bars", "the other angle follows"),
    "start": Provenance(1.0, "rad", "assumed", "angle of the crank"),
    "speed": Provenance(5.0, "rad/s", "assumed", "fast enough to go round under gravity"),
    "crank.mass": Provenance(0.3, "kg", "assumed", "slender bar of 1 kg/m"),
    "coupler.mass": Provenance(0.5, "kg", "assumed", "slender bar of 1 kg/m"),
    "rocker.mass": Provenance(0.3, "kg", "assumed", "slender bar of 1 kg/m"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "assumed", "along the fixed axis of the rocker"),
}

PANELS = (
    ("Angular velocity of the crank", "rad/s", tuple(("v", f"crank.w{axis}", axis) for axis in "xyz")),
    ("Angular velocity of the rocker", "rad/s", tuple(("v", f"rocker.w{axis}", axis) for axis in "xyz")),
    ("Centre of the coupler", "m", tuple(("q", f"coupler.{axis}", axis) for axis in "xyz")),
)


def twist(length: float, other_length: float, angle: float) -> float:
    """Bennett's condition, a/sin(alpha) = b/sin(beta): beta [rad] for b = `other_length`.

    >>> round(twist(0.3, 0.5, 0.6), 6)
    1.225783
    """
    return asin(sin(angle) * other_length / length)


def opposite(crank: float, angle: float, other_angle: float) -> float:
    """Angle [rad] at the next joint: tan(theta_1/2) tan(theta_2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2).

    The sum of the angles at opposite joints is zero.
    """
    ratio = sin((other_angle + angle) / 2.0) / sin((other_angle - angle) / 2.0)
    return 2.0 * atan2(ratio * cos(crank / 2.0), sin(crank / 2.0))


def _turn(axis: str, angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    rows = ([1, 0, 0], [0, c, -s], [0, s, c]) if axis == "x" else ([c, -s, 0], [s, c, 0], [0, 0, 1])
    return np.array(rows, dtype=float)


def _check(length: float, other_length: float, angle: float, start: float, speed: float) -> None:
    for name, value in (("length", length), ("other_length", other_length)):
        if not 0.0 < value < inf:
            raise InputError(f"{name} must be a positive number of metres, got {value!r}.")
    if not length < other_length:
        raise InputError(f"length must be less than other_length = {other_length:g} m, got {length!r}.")
    if not (0.0 < angle < pi / 2.0 and sin(angle) * other_length / length < 1.0):
        raise InputError(
            f"angle must lie between 0 and asin(length/other_length) = {asin(length / other_length):.6g} rad, "
            f"got {angle!r}."
        )
    if abs(sin(start / 2.0)) < 1e-6 or not abs(start) < inf:
        raise InputError(f"start must not be a whole turn, where the next angle is a half turn, got {start!r}.")
    if not abs(speed) < inf:
        raise InputError(f"speed must be a finite number of rad/s, got {speed!r}.")


@problem(
    tags=("spatial", "revolute", "overconstrained", "redundant"),
    t_end=2,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def bennett(
    length: float = 0.3, other_length: float = 0.5, angle: float = 0.6, start: float = 1.0, speed: float = 5.0
) -> Model:
    """Bennett's overconstrained linkage: four bars on hinges in space, opposite ones equal, a/sin(alpha) = b/sin(beta).

    Four revolute joints impose 20 constraints on the 18 velocities of three bars. Under Bennett's condition three rows
    depend on the others, and the linkage moves with one degree of freedom. Its motion is unique and keeps its energy;
    reactions are not unique, since such joints can be prestressed: a run reports one set of many. There are no
    contacts.

    Parameters
    ----------
    length, other_length : a < b [m]
        Of crank and rocker, and of coupler and ground, between the axes of their hinges.
    angle : alpha [rad], in (0, asin(a/b))
        Between the axes of crank and rocker; beta follows.
    start, speed : [rad], [rad/s]
        Of the crank against the ground.

    Raises
    ------
    InputError
        For lengths and angles that make no such linkage.

    >>> system = bennett().build()
    >>> system.nv, system.ng, len(system.redundant)
    (18, 20, 3)
    """
    _check(length, other_length, angle, start, speed)
    beta = twist(length, other_length, angle)
    second = opposite(start, angle, beta)
    bars = (("crank", length, angle, start), ("coupler", other_length, beta, second), ("rocker", length, angle, -start))
    known = {key: asdict(one) for key, one in ORIGINS.items() if "." in key}
    model = Model(name="Bennett's linkage", provenance=known if (length, other_length) == (0.3, 0.5) else {})
    model.add(Ground())
    # from joint to joint: turn about its axis z, along the bar, and by the bar's angle about the bar
    place, frame = np.array([other_length, 0.0, 0.0]), _turn("x", beta)
    fixed = vector(frame[:, 2])
    for bar, size, bent, turn in bars:
        frame = frame @ _turn("z", turn)
        along = frame[:, 0]
        mass = DENSITY * size
        slender = mass * (size**2 + WIDTH**2) / 12.0
        model.add(
            SpatialBody(
                bar, mass=mass, inertia=(mass * WIDTH**2 / 6.0, slender, slender),
                position=vector(place + size / 2.0 * along), quaternion=quaternion(frame),
                angular_velocity=(0.0, 0.0, speed) if bar == "crank" else (0.0, 0.0, 0.0),
            )
        )  # fmt: skip
        place, frame = place + size * along, frame @ _turn("x", bent)
    ends = {bar: (-size / 2.0, size / 2.0, vector(_turn("x", bent)[:, 2])) for bar, size, bent, _ in bars}
    z = (0.0, 0.0, 1.0)
    model.add(Revolute("joint1", "ground", "crank", at_a=(other_length, 0.0, 0.0), at_b=(ends["crank"][0], 0.0, 0.0),
                       axis_a=fixed, axis_b=z))  # fmt: skip
    for name, a, b in (("joint2", "crank", "coupler"), ("joint3", "coupler", "rocker")):
        model.add(Revolute(name, a, b, at_a=(ends[a][1], 0.0, 0.0), at_b=(ends[b][0], 0.0, 0.0), axis_a=ends[a][2],
                           axis_b=z))  # fmt: skip
    model.add(Revolute("joint4", "rocker", "ground", at_a=(ends["rocker"][1], 0.0, 0.0), axis_a=ends["rocker"][2],
                       axis_b=z))  # fmt: skip
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return consistent(model)
