"""A straight hanging chain of links in bearings with clearance: as many loaded contacts as links."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem

__all__ = ["chain"]

PLASTIC = Rigid(restitution=0.0, friction=0.0)
LENGTH, MASS, CLEARANCE, GRAVITY = 0.1, 0.1, 0.5e-3, 9.81

ORIGINS = {
    "n": Provenance(4, "-", "assumed", "a few; the benchmark takes 1, 4, 16, 64 and 256"),
    "speed": Provenance(1.0, "rad/s", "assumed", "slow: the weight is most of the load"),
    "link*.length": Provenance(LENGTH, "m", "assumed", "size of a toy", "between the centres of its two bearings"),
    "link*.mass": Provenance(MASS, "kg", "assumed", "a round number"),
    "link*.inertia": Provenance(MASS * LENGTH**2 / 12, "kg m^2", "inferred", "homogeneous slender rod"),
    "joint*.clearance": Provenance(CLEARANCE, "m", "assumed", "ample: a twentieth of the journal"),
    "joint*.radius": Provenance(10e-3, "m", "assumed", "journal", "no influence in rigid contact without friction"),
    "joint*.restitution": Provenance(0.0, "-", "assumed", "no rebound where all joints stay loaded"),
    "joint*.friction": Provenance(0.0, "-", "assumed", "without it the straight chain turns as one body"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "no rebound where all joints stay loaded"),
    "friction": Provenance(0.0, "-", "assumed", "without it the straight chain turns as one body"),
}


def _last(columns: Any, stem: str, suffix: str = "") -> Array:
    """The column of the last link or joint, for any number of links."""
    count = sum(name.startswith(stem) and name.endswith(suffix) for name in columns)
    return np.asarray(columns[f"{stem}{count}{suffix}"])


PANELS = (
    (
        "Angles of the links",
        "deg",
        (("q", "link1.angle", "first"), (lambda run: _last(run.q, "link", ".angle"), "last")),
    ),
    (
        "Angle between last and first link",
        "deg",
        ((lambda run: _last(run.q, "link", ".angle") - run.q["link1.angle"], "bend"),),
    ),
    ("Forces in the bearings", "N", (("lam_N", "joint1", "first"), (lambda run: _last(run.lam_N, "joint"), "last"))),
    ("Largest gap", "um", ((lambda run: np.max([run.gap[name] for name in run.gap], axis=0), "of all bearings"),)),
)


@problem(
    tags=("planar", "revolute", "clearance", "chain", "benchmark"),
    t_end=1,
    source="A benchmark of this package: a textbook chain of equal slender rods, with clearance in every bearing",
    parameters=ORIGINS,
    panels=PANELS,
)
def chain(n: int = 4, contact: Rigid | Compliant = PLASTIC, speed: float = 1.0) -> Model:
    """Straight hanging chain of equal links in bearings with clearance, rotating about the first bearing.

    Each journal lies on the lowest point of its bearing, so that all contacts are closed and loaded from the start, and
    the velocities are those of one rigid body. In this position nothing accelerates but towards the first bearing, and
    joint i carries the weight and the centripetal force of all links below it, the sum of m (g + speed^2 r) over them
    with r the distance of a centre of mass. Without gravity the chain continues to rotate as one body.

    Parameters
    ----------
    n : >= 1
        Number of links and of bearings.
    contact : Rigid or Compliant
        In every bearing; plastic and frictionless by default.
    speed : [rad/s]
        Of all links about the first bearing at the start.

    Raises
    ------
    InputError
        For a number of links that is no integer >= 1.

    >>> chain(n=2).build()
    System('chain of 2': 6 velocities, 0 constraints, 2 contacts, 24 parameters)
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"n must be an integer >= 1, got {n!r}.")
    model = Model(name=f"chain of {n}", provenance=_provenance(n))
    model.add(Ground())
    radius = float(ORIGINS["joint*.radius"].value)
    for i in range(1, n + 1):
        below = i * CLEARANCE + (i - 0.5) * LENGTH
        link = PlanarBody(
            f"link{i}",
            MASS,
            MASS * LENGTH**2 / 12,
            (0.0, -below),
            velocity=(speed * below, 0.0),
            angular_velocity=speed,
        )
        before, at_a = (f"link{i - 1}", -LENGTH / 2) if i > 1 else ("ground", 0.0)
        joint = RevoluteClearance(
            f"joint{i}",
            before,
            model.add(link),
            at_a=(0.0, at_a),
            at_b=(0.0, LENGTH / 2),
            clearance=CLEARANCE,
            radius=radius,
            contact=contact,
        )
        model.add(joint)
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model


def _provenance(n: int) -> dict[str, object]:
    """The origins, one for each link and joint."""
    made: dict[str, object] = {}
    for name, origin in ORIGINS.items():
        if "." in name:
            made |= {name.replace("*", str(i)): asdict(origin) for i in range(1, n + 1)}
    return made
