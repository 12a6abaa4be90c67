"""A heavy top that spins fast on a fixed point: on an ideal ball joint, or on a ball in a socket with clearance."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import SphericalClearance
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Spherical
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.rotations import vector

__all__ = ["REFERENCE", "heavy_top"]

SOURCE = (
    "Geradin, Cardona: Flexible Multibody Dynamics, Wiley (2001); Arnold, Bruls: Convergence of the generalized-alpha "
    "scheme for constrained mechanical systems, Multibody Syst. Dyn. 18 (2007), 185-202"
)
QUOTED = "the papers, as commonly quoted"
MASS, GRAVITY, BALL = 15.0, 9.81, 0.05
INERTIA = (0.234375, 0.46875, 0.234375)
#: centre of mass at the start, from the fixed point; the axes of the body are along those of the ground
CENTRE = (0.0, 1.0, 0.0)
SPIN = (0.0, 150.0, -4.61538)

#: of the ideal top: centre of mass [m] and angular velocity in the body frame [rad/s] by time [s]; Dormand and Prince's
#: method of order 8 at a tolerance of 1e-13 in the coordinates of the fixed point; all digits are correct
REFERENCE = {
    0.1: ((0.42129665893, 0.89457197435, -0.14916470056), (4.808941332, 150.0, 1.028300757)),
    0.2: ((0.60555056138, 0.59895768179, -0.52398302743), (-2.691590912, 150.0, 4.917261)),
    0.5: ((-0.70246829706, -0.0211651847, -0.71140025765), (-0.471053102, 150.0, 5.901083048)),
}

ORIGINS = {
    "top.mass": Provenance(MASS, "kg", "given", QUOTED),
    "top.inertia_xx": Provenance(INERTIA[0], "kg m^2", "given", QUOTED, "about the centre of mass"),
    "top.inertia_yy": Provenance(INERTIA[1], "kg m^2", "given", QUOTED, "about the axis of symmetry"),
    "top.inertia_zz": Provenance(INERTIA[2], "kg m^2", "given", QUOTED, "about the centre of mass"),
    "tip.at_b_y": Provenance(-CENTRE[1], "m", "given", QUOTED, "the fixed point, 1 m from the centre of mass"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "given", QUOTED),
    "clearance": Provenance(1e-4, "m", "assumed", "the papers have an ideal joint"),
}

PANELS = (
    ("Centre of mass", "m", tuple(("q", f"top.{axis}", axis) for axis in "xyz")),
    ("Angular velocity across the axis", "rad/s", (("v", "top.wx", "x"), ("v", "top.wz", "z"))),
    ("Angular velocity about the axis", "rad/s", (("v", "top.wy", "y"),)),
)


def start_force() -> tuple[float, float, float]:
    """Reaction of the ideal joint on the top at the start [N].

    Euler's equations about the fixed point give omega'; then F = m (omega' x r + omega x (omega x r) - g).
    """
    r, omega = np.array(CENTRE), np.array(SPIN)
    about_tip = np.diag(INERTIA) + MASS * (r @ r * np.eye(3) - np.outer(r, r))
    weight = np.array([0.0, 0.0, -MASS * GRAVITY])
    turned = np.linalg.solve(about_tip, np.cross(r, weight) - np.cross(omega, about_tip @ omega))
    return vector(MASS * (np.cross(turned, r) + np.cross(omega, np.cross(omega, r))) - weight)


@problem(
    tags=("spatial", "spherical", "clearance", "gyroscopic"),
    t_end=0.5,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def heavy_top(contact: Rigid | Compliant | None = None, clearance: float = 1e-4) -> Model:
    """Heavy symmetric top of Geradin and Cardona: it spins fast about its axis, precesses and nutates.

    Without a contact law the tip is an ideal ball joint: the motion of the benchmark, see `REFERENCE`. With one it is a
    ball in a socket with clearance, which starts at rest in contact, on the side to which the reaction of the ideal
    joint points: it remains in contact and moves around the socket with the nutation.

    Parameters
    ----------
    contact : Rigid or Compliant, optional
        Of the ball in its socket; none for the ideal joint.
    clearance : [m], in (0, 0.05)
        Difference of the radii, if there is a contact law; the ball has a radius of 50 mm.

    Raises
    ------
    InputError
        For a clearance out of range.

    >>> heavy_top().build()
    System('heavy top, ideal': 6 velocities, 3 constraints, 0 contacts, 13 parameters)
    """
    if not 0.0 < clearance < BALL:
        raise InputError(f"clearance must lie between 0 and the ball's radius, {BALL:g} m, got {clearance!r}.")
    loose = contact is not None
    known = {key: asdict(origin) for key, origin in ORIGINS.items() if "." in key}
    if loose:
        known["tip.clearance"] = asdict(ORIGINS["clearance"])
    model = Model(name=f"heavy top, {'loose' if loose else 'ideal'}", provenance=known)
    model.add(Ground())
    force = np.array(start_force())
    offset = -clearance * force / np.linalg.norm(force) if loose else np.zeros(3)
    model.add(
        SpatialBody(
            "top", mass=MASS, inertia=INERTIA, position=vector(np.array(CENTRE) + offset),
            velocity=vector(np.cross(SPIN, CENTRE)), angular_velocity=SPIN,
        )
    )  # fmt: skip
    at_b = vector(-np.array(CENTRE))
    if contact is None:
        model.add(Spherical("tip", "ground", "top", at_b=at_b))
    else:
        model.add(
            SphericalClearance("tip", "ground", "top", at_b=at_b, clearance=clearance, radius=BALL, contact=contact)
        )
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
