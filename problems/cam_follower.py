"""An eccentric cam under a spring-loaded follower, which above a certain speed leaves the cam and impacts on return."""

from __future__ import annotations

from dataclasses import asdict
from math import asin, inf, nan, pi, sqrt
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.normal.elastic import HertzStiffness, Material
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import CircleCircle, CirclePlane
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity, Spring
from nonsmooth.model.joints import Prismatic, Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp

__all__ = ["COMPLIANT", "RIGID", "cam_follower", "lift_off_angle", "lift_off_speed"]

#: rigid contact, half of the speed returned
RIGID = Rigid(restitution=0.5, friction=0.0)
STEEL = Material(young=2.07e11, poisson=0.3)
#: steel on steel, as a point contact of the cam's radius
COMPLIANT = Compliant(LankaraniNikravesh(stiffness=HertzStiffness(STEEL, STEEL), restitution=0.9))
SIZE = "a small engine's valve drive, simplified"

ORIGINS = {
    "cam.radius": Provenance(30e-3, "m", "assumed", SIZE),
    "cam.eccentricity": Provenance(10e-3, "m", "assumed", SIZE, "of the disk's centre from the shaft: half the stroke"),
    "cam.mass": Provenance(0.5, "kg", "assumed", SIZE, "no influence on the follower at constant speed"),
    "cam.inertia": Provenance(2.25e-4, "kg m^2", "inferred", "homogeneous disk", "no influence at constant speed"),
    "follower.mass": Provenance(0.2, "kg", "assumed", SIZE),
    "follower.inertia": Provenance(1e-4, "kg m^2", "assumed", "no influence: it does not turn"),
    "roller.radius": Provenance(10e-3, "m", "assumed", SIZE),
    "roller.mass": Provenance(0.05, "kg", "assumed", SIZE),
    "roller.inertia": Provenance(2.5e-6, "kg m^2", "inferred", "homogeneous disk", "nothing turns it without friction"),
    "valve.stiffness": Provenance(1000.0, "N/m", "assumed", SIZE),
    "preload": Provenance(20.0, "N", "assumed", SIZE, "of the spring, the follower at its lowest"),
    "valve.free_length": Provenance(0.08, "m", "assumed", SIZE, "60 mm long under its preload"),
    "gravity.acceleration_y": Provenance(-9.81, "m/s^2", "assumed", "standard value"),
    "speed": Provenance(180.0, "rad/s", "assumed", "about a quarter above lift-off of the flat follower"),
    "restitution": Provenance(0.5, "-", "assumed", "an oiled surface; 0.9 in COMPLIANT"),
    "friction": Provenance(0.0, "-", "assumed", "an oiled surface"),
}
VALUE = {name: float(origin.value) for name, origin in ORIGINS.items()}
RADIUS, STROKE = VALUE["cam.radius"], 2.0 * VALUE["cam.eccentricity"]


def _moved(follower: str) -> tuple[float, float]:
    """Mass [kg] that moves up and down, and the sharpening of the top by a roller, 1 + e/(R + r) [-]."""
    if follower == "flat":
        return VALUE["follower.mass"], 1.0
    return VALUE["follower.mass"] + VALUE["roller.mass"], 1.0 + STROKE / 2 / (RADIUS + VALUE["roller.radius"])


def lift_off_speed(follower: str = "flat") -> float:
    """Least speed [rad/s] at which the follower leaves the cam.

    A flat follower rises by e sin(angle) and loses its load N = m g + F0 + k e (1 + s) - m e w^2 s with s = sin(angle)
    first at the top: ``w^2 = (m g + F0 + 2 k e) / (m e)``. A roller of radius r rolls over the top on the sharper curve
    e s + sqrt((R + r)^2 - e^2 (1 - s^2)), so that e becomes e (1 + e/(R + r)) in the denominator.

    >>> round(lift_off_speed("flat"), 3), round(lift_off_speed("roller"), 3)
    (144.848, 116.554)
    """
    mass, sharper = _moved(follower)
    load = VALUE["preload"] - mass * VALUE["gravity.acceleration_y"] + VALUE["valve.stiffness"] * STROKE
    return sqrt(load / (mass * sharper * STROKE / 2))


def lift_off_angle(speed: float) -> float:
    """Angle [rad] at which a flat follower leaves the cam, from its middle position upwards; nan for a slow cam.

    There ``sin(angle) = (m g + F0 + k e) / (e (m w^2 - k))``.

    >>> round(lift_off_angle(180.0), 6)
    0.622722
    """
    mass, k, e = VALUE["follower.mass"], VALUE["valve.stiffness"], STROKE / 2
    load = VALUE["preload"] - mass * VALUE["gravity.acceleration_y"] + k * e
    surplus = e * (mass * speed**2 - k)
    share = load / surplus if surplus > 0.0 else inf
    return asin(share) if share <= 1.0 else nan


def _lift(run: Any) -> Array:
    """Height [m] of the cam's highest point above its lowest position, for a flat follower."""
    return np.asarray(run.q["cam.y"]) + STROKE / 2


PANELS = (
    (
        "Lift",
        "mm",
        ((lambda run: run.q["follower.y"] - run.q["follower.y"][0], "follower"), (_lift, "centre of the cam")),
    ),
    ("Speed of the follower", "m/s", (("v", "follower.y", "follower"),)),
    ("Gap", "um", (("gap", "face", "gap"),)),
    ("Contact force without impacts", "N", (("lam_N", "face", "face"),)),
    ("Driving moment without impacts", "N m", (("reaction", "motor.torque", "motor"),)),
)


@problem(
    tags=("planar", "cam", "impact", "driven", "lift-off", "compliant"),
    t_end=0.1,
    source="Textbook problem; every value is assumed",
    parameters=ORIGINS,
    panels=PANELS,
)
def cam_follower(contact: Rigid | Compliant = RIGID, follower: str = "flat", speed: float = 180.0) -> Model:
    """Eccentric circular cam that turns at constant speed under a follower on a spring.

    It starts at the lowest position. Above `lift_off_speed` the spring and the weight cannot keep the follower on the
    cam over the top: it flies and impacts on the cam on its way down, or on its next way up.

    Parameters
    ----------
    contact : Rigid or Compliant
        Between cam and follower: `RIGID` (e = 0.5, no friction) by default; `COMPLIANT` is Hertz' law for steel.
    follower : "flat" or "roller"
        A plane face, or a disk of its own on an ideal pin above the shaft.
    speed : [rad/s]
        Of the cam, kept constant by a motor of unlimited moment.

    Raises
    ------
    InputError
        For another follower.

    >>> cam_follower().build()
    System('cam and flat follower': 6 velocities, 5 constraints, 1 contacts, 34 parameters)
    """
    if follower not in ("flat", "roller"):
        raise InputError(f'follower must be "flat" or "roller", got {follower!r}.')
    origins = {name: asdict(origin) for name, origin in ORIGINS.items()}
    known = {name: origin for name, origin in origins.items() if "." in name}
    known |= {f"face.{name}": origins[name] for name in ("restitution", "friction")}
    model = Model(name=f"cam and {follower} follower", provenance=known)
    e, lowest = STROKE / 2, RADIUS - STROKE / 2
    if follower == "roller":
        lowest += VALUE["roller.radius"]
    model.add(Ground())
    cam = PlanarBody("cam", VALUE["cam.mass"], VALUE["cam.inertia"], (0.0, -e), -pi / 2, (speed * e, 0.0), speed)
    model.add(cam)
    model.add(PlanarBody("follower", VALUE["follower.mass"], VALUE["follower.inertia"], (0.0, lowest)))
    model.add(Revolute("shaft", "ground", "cam", at_b=(-e, 0.0)))
    model.add(PrescribedMotion("motor", "ground", "cam", coordinate="angle", motion=Ramp(speed, -pi / 2)))
    model.add(Prismatic("guide", "ground", "follower", direction=pi / 2))
    if follower == "flat":
        face = CirclePlane("face", "follower", "cam", radius=RADIUS, direction=pi, contact=contact)
        model.add(face)
    else:
        model.add(PlanarBody("roller", VALUE["roller.mass"], VALUE["roller.inertia"], (0.0, lowest)))
        model.add(Revolute("axle", "follower", "roller"))
        model.add(
            CircleCircle("face", "cam", "roller", radius_a=RADIUS, radius_b=VALUE["roller.radius"], contact=contact)
        )
    k, free = VALUE["valve.stiffness"], VALUE["valve.free_length"]
    top = lowest + free - VALUE["preload"] / k
    model.add(Spring("valve", "ground", "follower", at_a=(0.0, top), stiffness=k, free_length=free))
    model.add(Gravity(acceleration=(0.0, VALUE["gravity.acceleration_y"])))
    return model
