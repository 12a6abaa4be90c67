"""Double pendulum of two rods with clearance in the second joint (knee) or in both joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from math import cos, pi, sin
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem

__all__ = ["double_pendulum_clearance"]

BOUNCY = Rigid(restitution=0.8, friction=0.0)
LENGTH, MASS, GRAVITY = 0.3, 0.5, 9.81
ROD = "a slender steel rod, about 15 mm thick"

ORIGINS = {
    "upper.length": Provenance(LENGTH, "m", "assumed", ROD, "between its ends, where the joints are"),
    "upper.mass": Provenance(MASS, "kg", "assumed", ROD),
    "upper.inertia": Provenance(MASS * LENGTH**2 / 12, "kg m^2", "inferred", "homogeneous slender rod"),
    "lower.length": Provenance(LENGTH, "m", "assumed", ROD),
    "lower.mass": Provenance(MASS, "kg", "assumed", ROD),
    "lower.inertia": Provenance(MASS * LENGTH**2 / 12, "kg m^2", "inferred", "homogeneous slender rod"),
    "bearing.radius": Provenance(10e-3, "m", "assumed", "size of the rods", "the journal's is less by the clearance"),
    "clearance": Provenance(1e-3, "m", "assumed", "a badly worn bearing"),
    "upper_angle": Provenance(pi / 2, "rad", "assumed", "horizontal: the highest energy from which it swings down"),
    "lower_angle": Provenance(pi / 2, "rad", "assumed", "stretched out"),
    "restitution": Provenance(0.8, "-", "assumed", "dry steel; 1 keeps the energy"),
    "friction": Provenance(0.0, "-", "assumed", "left out"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
}

#: the bodies that each joint connects, bearing and journal, and the bearing's place in its body
JOINTS = {"pin": ("ground", "upper", (0.0, 0.0)), "knee": ("upper", "lower", (0.0, -LENGTH / 2))}


def _distance(joint: str) -> Callable[[Any], Array]:
    """Distance [m] of the centres of journal and bearing."""

    def place(run: Any, body: str, arm: float) -> Array:
        if body == "ground":
            return np.zeros((2, len(run.t)))
        angle = run.q[f"{body}.angle"]
        return np.array([run.q[f"{body}.x"] - arm * np.sin(angle), run.q[f"{body}.y"] + arm * np.cos(angle)])

    a, b, (_, at) = JOINTS[joint]
    return lambda run: np.hypot(*(place(run, b, LENGTH / 2) - place(run, a, at)))


def _force(joint: str) -> Callable[[Any], Array]:
    """Normal force [N] in a joint with clearance, whole force in an ideal one."""

    def force(run: Any) -> Array:
        if joint in run.lam_N:
            return np.asarray(run.lam_N[joint])
        return np.hypot(run.reaction[f"{joint}.x"], run.reaction[f"{joint}.y"])

    return force


PANELS = (
    ("Angles", "deg", (("q", "upper.angle", "upper rod"), ("q", "lower.angle", "lower rod"))),
    ("Angular velocities", "rad/s", (("v", "upper.angle", "upper rod"), ("v", "lower.angle", "lower rod"))),
    ("Distance of the centres in each joint", "mm", tuple((_distance(joint), joint) for joint in JOINTS)),
    ("Force in each joint without impacts", "N", tuple((_force(joint), joint) for joint in JOINTS)),
)


@problem(
    tags=("planar", "revolute", "clearance", "impact", "pendulum"),
    t_end=1,
    source="Textbook problem with clearance in its joints; every value is assumed",
    parameters=ORIGINS,
    panels=PANELS,
)
def double_pendulum_clearance(
    contact: Rigid | Compliant = BOUNCY,
    loose: str | Iterable[str] = "knee",
    clearance: float = 1e-3,
    upper_angle: float = pi / 2,
    lower_angle: float = pi / 2,
) -> Model:
    """Double pendulum with clearance in the second joint (knee) or in both joints, released from rest.

    The journals start in the middle of their bearings. Elastic and without friction it keeps its energy, with rigid
    contact through every impact. Without gravity the angular momentum about the first bearing stays, too: the force of
    a frictionless bearing points through its centre.
    The motion is chaotic: after some impacts it is sensitive to the smallest perturbation.

    Parameters
    ----------
    contact : Rigid or Compliant
        In each joint with clearance; restitution 0.8 without friction by default.
    loose : "pin", "knee", both separated by a comma, a tuple of these, or "none"
        The joints with clearance: upper rod on the ground, lower rod on the upper one. "none" is the ideal pendulum.
    clearance : [m]
        Difference of the radii; the bearings have 10 mm.
    upper_angle, lower_angle : [rad]
        At the start, from the downward vertical, counter-clockwise.

    Raises
    ------
    InputError
        For an unknown joint, or a clearance that leaves no journal.

    >>> double_pendulum_clearance(loose="pin,knee").build()
    System('double pendulum, clearance in pin, knee': 6 velocities, 0 constraints, 2 contacts, 24 parameters)
    """
    chosen = {word.strip() for word in loose.split(",")} if isinstance(loose, str) else set(loose)
    for word in sorted(chosen - {"none", *JOINTS}):
        raise InputError(f"double-pendulum-clearance has the joints pin and knee, got {word!r}; none is the ideal one.")
    radius = float(ORIGINS["bearing.radius"].value)
    if not 0.0 < clearance < radius:
        raise InputError(f"clearance must lie between 0 and the bearing's radius, {radius:g} m, got {clearance!r}.")
    played = [joint for joint in JOINTS if joint in chosen]
    known = {name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    for joint in played:
        known |= {f"{joint}.{name}": asdict(ORIGINS[name]) for name in ("clearance", "restitution", "friction")}
    words = f"clearance in {', '.join(played)}" if played else "ideal"
    model = Model(name=f"double pendulum, {words}", provenance=known)
    model.add(Ground())
    x, y = 0.0, 0.0
    for name, angle in (("upper", upper_angle), ("lower", lower_angle)):
        half = (LENGTH / 2 * sin(angle), -LENGTH / 2 * cos(angle))
        model.add(PlanarBody(name, MASS, MASS * LENGTH**2 / 12, (x + half[0], y + half[1]), angle))
        x, y = x + 2 * half[0], y + 2 * half[1]
    for joint, (a, b, at_a) in JOINTS.items():
        places: dict[str, Any] = {"at_a": at_a, "at_b": (0.0, LENGTH / 2)}
        if joint in played:
            places |= {"clearance": clearance, "radius": radius - clearance, "contact": contact}
        model.add((RevoluteClearance if joint in played else Revolute)(joint, a, b, **places))
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
