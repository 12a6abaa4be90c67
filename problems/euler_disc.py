"""Euler's disc: a thick coin that rolls on its edge, nearly flat, while its contact point circles fast."""

from __future__ import annotations

from dataclasses import asdict
from math import cos, hypot, pi, sin, sqrt

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.contacts import CylinderPlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.rotations import about

__all__ = ["euler_disc"]

SOURCE = "Moffatt: Euler's disk and its finite-time singularity, Nature 404 (2000), 833-834"
QUOTED = "the paper, as commonly quoted"
ROUGH = Rigid(restitution=0.0, friction=0.3)
MASS, GRAVITY, RADIUS, THICKNESS = 0.4, 9.81, 0.0375, 0.0128
ACROSS, ALONG = MASS * (RADIUS**2 / 4 + THICKNESS**2 / 12), MASS * RADIUS**2 / 2
TILT = 0.3

ORIGINS = {
    "tilt": Provenance(TILT, "rad", "assumed", "angle between the disc and the plane at the start"),
    "disc.mass": Provenance(MASS, "kg", "given", QUOTED),
    "disc.inertia_xx": Provenance(ACROSS, "kg m^2", "inferred", "homogeneous disc, about a diameter"),
    "disc.inertia_yy": Provenance(ACROSS, "kg m^2", "inferred", "homogeneous disc, about a diameter"),
    "disc.inertia_zz": Provenance(ALONG, "kg m^2", "inferred", "homogeneous disc, about its axis"),
    "edge.radius": Provenance(RADIUS, "m", "given", QUOTED),
    "edge.length": Provenance(THICKNESS, "m", "assumed", "thickness of the toy; steel then has about this mass"),
    "edge.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "edge.friction": Provenance(0.3, "-", "assumed", "enough to roll"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
}

PANELS = (
    ("Height of the centre", "m", (("q", "disc.z", "z"),)),
    ("Angular velocity across the axis", "rad/s", (("v", "disc.wx", "x"), ("v", "disc.wy", "y"))),
    ("Normal force", "N", (("lam_N", "edge.back", "edge"),)),
)


@problem(
    tags=("spatial", "friction", "rolling"),
    t_end=0.5,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def euler_disc(contact: Rigid | Compliant = ROUGH, tilt: float = TILT) -> Model:
    """Disc of Moffatt that rolls on its edge: the flatter it is, the faster its contact point circles.

    The centre is nearly at rest, and the contact point circles with about ``Omega^2 = 4 g / (r sin(tilt))``, which is
    1000 rad/s at a tilt of 1 mrad. The thickness makes it nutate a little. Nothing takes its energy: the dissipation
    that flattens the disc of the paper in finite time is left out, and so is its end, since the edge has no lowest
    point when it lies flat.

    Parameters
    ----------
    contact : Rigid or Compliant
        Friction 0.3 by default.
    tilt : [rad], in (0, pi/2)
        Between the disc and the plane at the start, in nearly steady motion.

    Raises
    ------
    InputError
        For a tilt out of range.

    >>> euler_disc().build()
    System('Euler disc': 6 velocities, 0 constraints, 2 contacts, 25 parameters)
    """
    if not 0.0 < tilt < pi / 2:
        raise InputError(f"tilt must lie between 0 and pi/2 rad, got {tilt!r}.")
    known = {name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    model = Model(name="Euler disc", provenance=known)
    ground = model.add(Ground("ground"))
    # it turns about the line from the centre, which is at rest, to the contact point (0, -r, -h/2)
    turning = sqrt(4.0 * GRAVITY / (RADIUS * sin(tilt))) * sin(tilt) / hypot(RADIUS, THICKNESS / 2)
    disc = model.add(
        SpatialBody(
            "disc", mass=MASS, inertia=(ACROSS, ACROSS, ALONG),
            position=(0.0, 0.0, RADIUS * sin(tilt) + THICKNESS / 2 * cos(tilt)), quaternion=about("x", tilt),
            angular_velocity=(0.0, turning * RADIUS, turning * THICKNESS / 2),
        )
    )  # fmt: skip
    model.add(
        CylinderPlane(
            "edge", ground, disc, radius=RADIUS, length=THICKNESS, axis=(0.0, 0.0, 1.0), normal=(0.0, 0.0, 1.0),
            points=0, contact=contact,
        )
    )  # fmt: skip
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
