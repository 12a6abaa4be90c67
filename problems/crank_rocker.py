"""A crank-rocker driven at constant speed: the rocker oscillates; with clearance there are impacts at each reversal."""

from __future__ import annotations

from collections.abc import Iterable
from math import acos, pi

from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.four_bar import JOINTS, distance, force, linkage

__all__ = ["crank_rocker", "rocker_range"]

BOUNCY = Rigid(restitution=0.5, friction=0.0)
RATIO = "40 : 90 : 80 : 100 mm, a usual crank-rocker"
BAR = "bars of 1 kg/m, homogeneous and slender"
VALUE = {"crank": 0.04, "coupler": 0.09, "rocker": 0.08}

ORIGINS = (
    {"ground.length": Provenance(0.1, "m", "assumed", RATIO, "between the two fixed bearings")}
    | {f"{bar}.length": Provenance(length, "m", "assumed", RATIO) for bar, length in VALUE.items()}
    | {f"{bar}.mass": Provenance(length, "kg", "assumed", BAR) for bar, length in VALUE.items()}
    | {f"{bar}.inertia": Provenance(length**3 / 12, "kg m^2", "assumed", BAR) for bar, length in VALUE.items()}
    | {
        "bearing.radius": Provenance(
            5e-3, "m", "assumed", "size of the bars", "the journal's is less by the clearance"
        ),
        "clearance": Provenance(0.2e-3, "m", "assumed", "a worn bearing"),
        "restitution": Provenance(0.5, "-", "assumed", "a lubricated bearing"),
        "friction": Provenance(0.0, "-", "assumed", "left out"),
        "crank_angle": Provenance(0.0, "rad", "assumed", "crank along the ground"),
        "crank_speed": Provenance(20 * pi, "rad/s", "assumed", "600 rpm"),
        "gravity.acceleration_y": Provenance(-9.81, "m/s^2", "assumed", "standard value"),
    }
)
LENGTHS = {name: float(origin.value) for name, origin in ORIGINS.items() if name.endswith(".length")}

PANELS = (
    ("Angles of coupler and rocker", "deg", (("q", "coupler.angle", "coupler"), ("q", "rocker.angle", "rocker"))),
    ("Angular velocities", "rad/s", (("v", "coupler.angle", "coupler"), ("v", "rocker.angle", "rocker"))),
    ("Distance of the centres in each joint", "um", tuple((distance(joint, LENGTHS), joint) for joint in JOINTS)),
    ("Force in each joint without impacts", "N", tuple((force(joint), joint) for joint in JOINTS)),
    ("Driving moment without impacts", "N m", (("reaction", "motor.torque", "motor"),)),
)


def rocker_range(ground: float, crank: float, coupler: float, rocker: float) -> tuple[float, float]:
    """Least and largest angle [rad] of the rocker, where crank and coupler lie on one line.

    By the cosine theorem its angle is pi - arccos((l0^2 + l3^2 - d^2) / (2 l0 l3)) with d = l2 + l1 where crank
    and coupler are stretched out, and d = l2 - l1 where they overlap. The crank turns fully if shortest and longest bar
    together are not longer than the other two (Grashof) and it is the shortest.

    >>> [round(angle, 6) for angle in rocker_range(0.1, 0.04, 0.09, 0.08)]
    [1.539541, 2.623469]
    """
    angles = [
        pi - acos((ground**2 + rocker**2 - reach**2) / (2 * ground * rocker))
        for reach in (coupler + crank, coupler - crank)
    ]
    return min(angles), max(angles)


@problem(
    tags=("planar", "revolute", "clearance", "driven", "impact"),
    t_end=0.1,
    source="Textbook linkage; every value is assumed",
    parameters=ORIGINS,
    panels=PANELS,
)
def crank_rocker(
    contact: Rigid | Compliant = BOUNCY,
    loose: str | Iterable[str] = "joint3",
    clearance: float = 0.2e-3,
    crank_speed: float = 20 * pi,
) -> Model:
    """Crank-rocker whose crank turns at constant speed, with clearance between coupler and rocker.

    It starts with the crank along the ground, journals in the middle of their bearings, with the velocities of the
    ideal linkage. `rocker_range` is the rocker's swing in closed form.

    Parameters
    ----------
    contact : Rigid or Compliant
        In each joint with clearance; restitution 0.5 without friction by default.
    loose : "joint1" ... "joint4", several separated by commas, a tuple of these, or "none"
        Joints with clearance: ground and crank, crank and coupler, coupler and rocker, rocker and ground.
        "none" is the ideal linkage.
    clearance : [m]
        Difference of the radii; the bearings have 5 mm.
    crank_speed : [rad/s]
        Kept constant by a motor of unlimited moment.

    Raises
    ------
    InputError
        For an unknown joint, or a clearance that leaves no journal.

    >>> crank_rocker(loose="none").build()
    System('crank-rocker, ideal': 9 velocities, 9 constraints, 0 contacts, 28 parameters)
    """
    return linkage(
        "crank-rocker",
        ORIGINS,
        loose=loose,
        contact=contact,
        clearance=clearance,
        crank_angle=0.0,
        crank_speed=crank_speed,
        driven=True,
    )
