"""A rectangular slide that rests on two walls of its guide under loads, and is pushed along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import SpatialPrismaticClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity, PointForce, Torque
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp
from nonsmooth_problems.samples import Array

__all__ = ["end_force", "end_forces", "slide_in_guide", "wall_twist"]

ROUGH = Rigid(restitution=0.0, friction=0.1)
MASS, GRAVITY, LENGTH, HEIGHT, WIDTH = 10.0, 9.81, 0.2, 0.08, 0.06
WEIGHT = MASS * GRAVITY

ORIGINS = {
    "load": Provenance(171.0, "N", "assumed", "lateral, of a platform that a robot's leg carries"),
    "pitch": Provenance(2.0, "N m", "assumed", "shifts the weight to the front, without lifting the back"),
    "yaw": Provenance(3.0, "N m", "assumed", "shifts the load to the front, without lifting the back"),
    "speed": Provenance(0.05, "m/s", "assumed", "slow: accelerations do not matter"),
    "clearance": Provenance(1e-4, "m", "assumed", "all round"),
    "slide.mass": Provenance(MASS, "kg", "assumed", "round value"),
    "slide.inertia_xx": Provenance(0.05, "kg m^2", "assumed", "no influence: it does not turn"),
    "guide.length": Provenance(LENGTH, "m", "assumed", "of the slide"),
    "guide.height": Provenance(HEIGHT, "m", "assumed", "of the slide"),
    "guide.width": Provenance(WIDTH, "m", "assumed", "of the slide"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "friction": Provenance(0.1, "-", "assumed", "0, 0.1 and 0.3 are tested"),
}


def end_force(wall: str, end: str) -> Callable[[Any], Array]:
    """Sum of the forces [N] of the two corners at the "back" or "front" end of a wall, a function of a run."""

    def force(run: Any) -> Array:
        return np.asarray(run.lam_N[f"guide.{wall}_{end}_low"] + run.lam_N[f"guide.{wall}_{end}_high"])

    return force


def end_forces(
    friction: float = 0.1, load: float = 171.0, pitch: float = 2.0, yaw: float = 3.0, twist: float = 0.0
) -> dict[tuple[str, str], float]:
    """Force [N] of each end on the lower height wall and the lower width wall, by wall and end, from statics.

    Friction mu G and mu P acts backwards on the two walls, h/2 below and w/2 to the side of the middle, where the slide
    is pushed by mu (G + P). With the torques M_y (pitch) and M_z (yaw)

        l/2 (N_front - N_back) = M_y + mu (G h/2 + T)  on the height wall,  M_z + mu (P w/2 + T)  on the width wall.

    Five equations for eight corners leave more open than how an end's force is distributed: with friction also the
    twist T = sum of y N about the guide's axis, that the height wall exerts and the width wall takes back. It follows
    from the forces of a run, see `wall_twist`, and is 0 where they are those of least squares.

    >>> {key: round(force, 6) for key, force in end_forces(friction=0.0).items() if key[0] == "height_low"}
    {('height_low', 'back'): 39.05, ('height_low', 'front'): 59.05}
    """
    found: dict[tuple[str, str], float] = {}
    for wall, force, moment, half in (("height_low", WEIGHT, pitch, HEIGHT / 2), ("width_low", load, yaw, WIDTH / 2)):
        more = (moment + friction * (force * half + twist)) / LENGTH
        found |= {(wall, "back"): force / 2.0 - more, (wall, "front"): force / 2.0 + more}
    return found


def wall_twist(run: Any) -> Array:
    """T [N m], see `end_forces`, at each row of a run; the upper side of the width is that of negative y."""
    sides = [sum(run.lam_N[f"guide.height_low_{end}_{side}"] for end in ("back", "front")) for side in ("low", "high")]
    return np.asarray(WIDTH / 2.0 * (sides[0] - sides[1]))


PANELS = (
    ("Forces on the lower wall", "N",
     tuple((end_force("height_low", end), end) for end in ("back", "front"))),
    ("Forces on the side wall", "N",
     tuple((end_force("width_low", end), end) for end in ("back", "front"))),
    ("Push along the guide", "N", (("reaction", "push.x", "push"),)),
    ("Offset of the slide in its guide", "mm", (("q", "slide.y", "across"), ("q", "slide.z", "height"))),
)  # fmt: skip


def _check(contact: Rigid | Compliant, load: float, pitch: float, yaw: float, speed: float, clearance: float) -> None:
    if not 0.0 < load < inf:
        raise InputError(f"load must be a positive number of N, got {load!r}.")
    if not abs(speed) < inf:
        raise InputError(f"speed must be a finite number of m/s, got {speed!r}.")
    if not 0.0 < clearance < WIDTH / 10.0:
        raise InputError(f"clearance must lie between 0 and {WIDTH / 10.0:g} m, got {clearance!r}.")
    friction = contact.friction if isinstance(contact, Rigid) else 0.0
    for (wall, end), force in end_forces(friction, load, pitch, yaw).items():
        if not force > 0.0:
            raise InputError(
                f"pitch = {pitch!r} and yaw = {yaw!r} N m lift the {end} end off the wall {wall} by {-force:.6g} N; "
                "make them smaller."
            )


@problem(
    tags=("spatial", "prismatic", "clearance", "friction", "driven", "statics"),
    t_end=0.05,
    source="A benchmark of prismatic joints with clearance; numbers are ours",
    parameters=ORIGINS,
    panels=PANELS,
)
def slide_in_guide(
    contact: Rigid | Compliant = ROUGH,
    load: float = 171.0,
    pitch: float = 2.0,
    yaw: float = 3.0,
    speed: float = 0.05,
    clearance: float = 1e-4,
) -> Model:
    """Rectangular slide in a guide with clearance all round, seated on two walls and pushed along at constant speed.

    Its weight seats it on the lower wall, a lateral load on a side wall, so that eight of its sixteen gaps are closed:
    two planes. The forces of the walls and of their ends follow from statics, see `end_forces`; those of single corners
    are not unique. Torques, so small that no end lifts off, shift both forces to the front.

    Parameters
    ----------
    contact : Rigid or Compliant
        Of all corners; plastic with friction 0.1 by default. A compliant slide first moves to its static penetration.
    load : [N], > 0
        Lateral, along y.
    pitch, yaw : [N m]
        Torques about y and z.
    speed : [m/s]
        Along the guide, prescribed at the slide's centre. The torques were chosen for speed >= 0.
    clearance : [m], in (0, 0.006)
        On each side.

    Raises
    ------
    InputError
        For a number out of range, or torques that lift an end.

    >>> slide_in_guide().build()
    System('slide in a guide': 6 velocities, 1 constraints, 16 contacts, 44 parameters)
    """
    _check(contact, load, pitch, yaw, speed, clearance)
    known = {key: asdict(one) for key, one in ORIGINS.items() if "." in key}
    known |= {f"guide.{key}": asdict(ORIGINS[key]) for key in ("clearance", "restitution", "friction")}
    model = Model(name="slide in a guide", provenance=known)
    model.add(Ground())
    model.add(
        SpatialBody(
            "slide", mass=MASS, inertia=(0.05, 0.1, 0.1), position=(0.0, clearance, -clearance),
            velocity=(speed, 0.0, 0.0),
        )
    )  # fmt: skip
    # height along z; the width, along x cross z, is along -y, so that a load along y seats the slide on the lower wall
    up = (0.0, 0.0, 1.0)
    model.add(
        SpatialPrismaticClearance(
            "guide", "ground", "slide", length=LENGTH, height=HEIGHT, width=WIDTH, clearance=clearance,
            across_guide=up, across_slider=up, contact=contact,
        )
    )  # fmt: skip
    origin = (0.0, 0.0, 0.0)
    model.add(PrescribedMotion("push", "ground", "slide", at_a=origin, at_b=origin, coordinate="x", motion=Ramp(speed)))
    model.add(PointForce("load", "slide", force=(0.0, load, 0.0)))
    model.add(Torque("moments", "slide", torque=(0.0, pitch, yaw)))
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
