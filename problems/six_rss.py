"""A 6-RSS parallel robot: six cranks, six rods between balls, a platform; with clearance in its twelve ball joints."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.friction.regularised import Ambrosio
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import RevoluteClearance, SphericalClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute, Spherical
from nonsmooth.model.model import Model
from nonsmooth.model.registry import ComparisonDefaults, Provenance, Published, problem
from nonsmooth.schemes.moreau_jean.settings import MoreauJean
from nonsmooth_problems.robot_data import (
    COMPLIANT,
    ERROR_PANELS,
    contact_law,
    inertias,
    numbers,
    origins_of,
    platform_errors,
)
from nonsmooth_problems.robot_poses import starts
from nonsmooth_problems.six_rss_facts import DT, DURATION, FACTS
from nonsmooth_problems.six_rss_motion import LEGS, Dimensions, Motion

__all__ = ["motion", "six_rss"]

PAPER = (
    "Wang, Xu, Zheng, Zhu, Zhang: Elastic dynamics modeling and analysis for a 6-RSS parallel robot with joint "
    "clearance, Computer Integrated Manufacturing Systems (2021), in Chinese; with rigid rods and physical contact"
)
UNSTATED = "not in the paper"
TABLE = "Table 3"
DENSITY, CRANK_SECTION, ROD_SECTION = 2700.0, 0.04 * 0.02, pi / 4 * (0.025**2 - 0.01**2)

ORIGINS = {
    "base.radius": Provenance(0.14527, "m", "given", TABLE, "R_1"),
    "platform.radius": Provenance(0.064, "m", "given", TABLE, "R_2"),
    "crank.length": Provenance(0.216, "m", "given", TABLE, "L_ac"),
    "rod.length": Provenance(0.5, "m", "given", TABLE, "L_cb"),
    "base.half_angle": Provenance(10.0, "deg", "assumed", UNSTATED, "theta_i = 0, 120, 240 deg -+ this"),
    "platform.half_angle": Provenance(
        50.0, "deg", "assumed", UNSTATED, "beta_i = 0, 120, 240 deg -+ this; equal to theta_i it would be singular"
    ),
    "crank.direction": Provenance("0, 0, 120, 120, 240, 240 deg", "-", "assumed", UNSTATED, "u_i; knees outwards"),
    "crank.mass": Provenance(DENSITY * CRANK_SECTION * 0.216, "kg", "inferred", TABLE, "density and section"),
    "rod.mass": Provenance(DENSITY * ROD_SECTION * 0.5, "kg", "inferred", TABLE, "density and section"),
    "platform.mass": Provenance(1.366, "kg", "given", TABLE),
    "crank.inertia": Provenance("1.0e-4, 3.02e-3, 3.02e-3", "kg m^2", "given", "Table 1", "no influence on the motion"),
    "rod.inertia": Provenance(
        "5e-5, 11.00e-3, 11.00e-3", "kg m^2", "corrected", "Table 1", "J_xx printed as 4.58e-3, 100 times too large"
    ),
    "platform.inertia": Provenance("2.73e-3, 2.73e-3, 5.42e-3", "kg m^2", "given", "Table 1"),
    "path.y": Provenance(0.05, "m", "given", "eq. (35)"),
    "path.z": Provenance(0.08, "m", "given", "eq. (35)"),
    "path.turn": Provenance(20.0, "deg", "given", "eq. (35)", "n_1 and n_2, printed without unit"),
    "path.height": Provenance(-0.387, "m", "given", TABLE, "at t = 0"),
    "path.frequency": Provenance(1.0, "Hz", "given", "eq. (35)"),
    "rotation": Provenance("R_y(n2) R_x(n1)", "-", "corrected", "eq. (1)", "sign of an entry"),
    "gravity": Provenance(9.81, "m/s^2", "assumed", UNSTATED, "along -z"),
    "clearance": Provenance(0.25e-3, "m", "given", "Table 2", "and 0.5 mm"),
    "ball.radius": Provenance(8e-3, "m", "assumed", UNSTATED),
    "shaft.radius": Provenance(10e-3, "m", "assumed", UNSTATED, "of shafts with clearance only"),
    "shaft.length": Provenance(30e-3, "m", "assumed", UNSTATED, "of their bearings"),
    "restitution": Provenance(0.9, "-", "given", "section 4.1", "xi"),
    "friction": Provenance(0.05, "-", "assumed", UNSTATED, "mu_d"),
    "stiffness": Provenance(1e9, "N/m^1.5", "assumed", "penetration of 5 um at 10 N; aluminium is stiffer"),
    "normal force": Provenance("LankaraniNikravesh", "-", "given", "eq. (17)"),
    "friction force": Provenance("Ambrosio", "-", "given", "eq. (18)"),
    "dead_speed": Provenance(1e-4, "m/s", "assumed", UNSTATED, "v_0"),
    "slip_speed": Provenance(1e-3, "m/s", "assumed", UNSTATED, "v_1"),
}
VALUE = numbers(ORIGINS)
INERTIA = inertias(ORIGINS, ("crank", "rod", "platform"))


def motion() -> Motion:
    """Kinematics of the ideal robot on the paper's path."""
    sizes = Dimensions(
        base=VALUE["base.radius"], platform=VALUE["platform.radius"], crank=VALUE["crank.length"],
        rod=VALUE["rod.length"], base_angle=radians(VALUE["base.half_angle"]),
        platform_angle=radians(VALUE["platform.half_angle"]),
    )  # fmt: skip
    return Motion(
        sizes, y=VALUE["path.y"], z=VALUE["path.z"], turn=radians(VALUE["path.turn"]), height=VALUE["path.height"],
        frequency=VALUE["path.frequency"],
    )  # fmt: skip


def _law(contact: Rigid | Compliant | str, restitution: float, friction: float) -> Rigid | Compliant:
    sliding = Ambrosio(friction=friction, dead_speed=VALUE["dead_speed"], slip_speed=VALUE["slip_speed"])
    return contact_law(
        contact, restitution=restitution, friction=friction, stiffness=VALUE["stiffness"], sliding=sliding
    )


def _force(joint: str) -> Callable[[Any], Array]:
    """Normal force [N] in a joint with clearance, whole force in an ideal one."""

    def force(run: Any) -> Array:
        if joint in run.lam_N:
            return np.asarray(run.lam_N[joint])
        return np.sqrt(sum(np.asarray(run.reaction[f"{joint}.{axis}"]) ** 2 for axis in "xyz"))

    return force


PANELS = (
    ("Platform", "mm", (("q", "platform.y", "y"), ("q", "platform.z", "z"))),
    ("Across the path", "mm", (("q", "platform.x", "x"),)),
    ("Velocity of the platform", "mm/s", tuple(("v", f"platform.{axis}", axis) for axis in "xyz")),
    ("Force of each rod without impacts", "N", tuple((_force(f"ball{leg}"), f"rod {leg}") for leg in LEGS)),
)


def _duration(**_: Any) -> float:
    """Of the published runs [s]."""
    return DURATION


#: what the paper prints, of elastic rods whose ends are put at random places within the clearance in each step
PUBLISHED = Published(
    arguments={},
    cases={"c 0.25 mm": {"clearance": 0.25e-3}, "c 0.5 mm": {"clearance": 0.5e-3}},
    ideal={"ideal": True},
    kinds={"rigid": {"contact": "rigid"}, "compliant": {"contact": "compliant"}},
    duration=_duration,
    measures=platform_errors(),
    figures={
        "c 0.25 mm": {"position error, x": 0.0104, "position error, y": 0.0129, "position error, z": 0.0047},
        "c 0.5 mm": {"position error, x": 0.0204, "position error, y": 0.0172, "position error, z": 0.0077},
    },
    panels=ERROR_PANELS,
    facts=FACTS,
    notes={
        "position error, x": "the source draws clearance vectors at random, which is no motion: by gravity alone the "
        "platform sags by more than its errors along z, whatever the parameters of the contact."
    },
    settings={"rigid": (MoreauJean(), DT), "compliant": COMPLIANT},
)


@problem(
    tags=("spatial", "parallel robot", "spherical", "clearance", "driven", "friction", "impact", "compliant"),
    t_end=0.1,
    source=PAPER,
    parameters=ORIGINS,
    panels=PANELS,
    published=PUBLISHED,
    comparison=ComparisonDefaults(t_end=0.03, restitution=0.9, stiffness=(1e9,), dt_max=1e-4),
)
def six_rss(
    contact: Rigid | Compliant | str = "rigid",
    clearance: float = VALUE["clearance"],
    ideal: bool = False,
    restitution: float = VALUE["restitution"],
    friction: float = VALUE["friction"],
    gravity: float = VALUE["gravity"],
    flexible: bool = False,
    shaft_clearance: float = 0.0,
) -> Model:
    """Parallel robot 6-RSS: six cranks carry a hanging platform by rods, with clearance in 12 balls.

    The cranks turn as the inverse kinematics of the paper's path requires: 50 mm along y, 80 mm along z and 20 degrees
    about x and y, in phase, once per second. Joints `knee1` to `knee6` connect cranks and rods, `ball1` to `ball6` rods
    and platform. It starts with the velocities of the ideal motion, the balls concentric with their sockets.

    The paper's elastic links are in `nonsmooth_problems.six_rss_elastic`, and its random clearance vectors, which are
    not physical, in `nonsmooth_problems.six_rss_random`.

    A rod between two balls may spin about its axis: this freedom is kept, six in all. In the ideal robot nothing turns
    the rods, with clearance friction on the balls does.

    Parameters
    ----------
    contact : "rigid", "compliant", or a law
        The words select rigid contact or the paper's law, with the numbers below.
    clearance : [m], > 0
        Difference of the radii of socket and ball, in each of the 12 joints.
    ideal : bool
        True for the robot without clearance.
    restitution, friction : [-]
        Of ``contact="rigid"`` and ``"compliant"``.
    gravity : [m/s^2]
        Along -z.
    flexible : bool
        True for flexible rods, straight at the start, see `nonsmooth_problems.six_rss_flexible`.
    shaft_clearance : [m]
        Of the six shafts of the cranks, radial, and axial on each side; 0 for ideal joints. The motors prescribe only
        the angles of the cranks about the axes of the shafts. The shafts start concentric.

    Raises
    ------
    InputError
        For another word for the contact, or a shaft clearance that is negative or of the robot without clearance.

    >>> six_rss().build()
    System('6-RSS robot, clearance in 12 balls': 78 velocities, 36 constraints, 12 contacts, 337 parameters)
    >>> six_rss(ideal=True).build()
    System('6-RSS robot, ideal': 78 velocities, 72 constraints, 0 contacts, 277 parameters)
    """
    law, path = _law(contact, restitution, friction), motion()
    if not (shaft_clearance >= 0.0 and (shaft_clearance == 0.0 or not ideal)):
        raise InputError(
            f"shaft_clearance must be a number >= 0 [m], 0 with ideal=True, got {shaft_clearance!r} with ideal={ideal}."
        )
    words = "ideal" if ideal else "clearance in 12 balls and 6 shafts" if shaft_clearance else "clearance in 12 balls"
    model = Model(name=f"6-RSS robot, {words}", provenance=_provenance(ideal, law, loose=shaft_clearance > 0.0))
    model.add(Ground())
    t = ca.SX.sym("t")
    for body, start in starts(t, path.poses(t)).items():
        kind = body.rstrip("123456")
        if flexible and kind == "rod":
            from nonsmooth_problems.six_rss_flexible import flexible_rod  # which takes its numbers from here

            model.add(flexible_rod(body, start))
        else:
            model.add(SpatialBody(body, mass=VALUE[f"{kind}.mass"], inertia=INERTIA[kind], **start))
    crank, rod = VALUE["crank.length"] / 2, VALUE["rod.length"] / 2
    for leg in LEGS:
        _add_crank(model, path, leg, law, shaft_clearance)
        joints = (("knee", f"crank{leg}", (crank, 0.0, 0.0), -rod), ("ball", "platform", path.platform_joint(leg), rod))
        for end, carrier, at_a, along in joints:
            other = f"rod{leg}.{end}" if flexible else f"rod{leg}"
            places: dict[str, Any] = {"at_a": at_a, "at_b": (0.0 if flexible else along, 0.0, 0.0)}
            if ideal:
                model.add(Spherical(f"{end}{leg}", carrier, other, **places))
            else:
                sizes: dict[str, Any] = {"clearance": clearance, "radius": VALUE["ball.radius"]}
                model.add(SphericalClearance(f"{end}{leg}", carrier, other, contact=law, **places, **sizes))
    model.add(Gravity(acceleration=(0.0, 0.0, 0.0 - gravity)))
    return model


def _add_crank(model: Model, path: Motion, leg: str, law: Rigid | Compliant, clearance: float) -> None:
    """Shaft and motor of a crank; at angle zero it points outwards, its frame turned about z."""
    crank, axis, half = f"crank{leg}", path.axis(leg), path.direction(leg) / 2
    end: dict[str, Any] = {"at_a": path.base_joint(leg), "at_b": (-path.dimensions.crank / 2, 0.0, 0.0)}
    end |= {"axis_a": axis, "axis_b": (0.0, -1.0, 0.0)}
    if clearance:
        sizes: dict[str, Any] = {"clearance": clearance, "axial_clearance": clearance}
        sizes |= {"radius": VALUE["shaft.radius"], "length": VALUE["shaft.length"]}
        model.add(RevoluteClearance(f"shaft{leg}", "ground", crank, contact=law, **sizes, **end))
    else:
        model.add(Revolute(f"shaft{leg}", "ground", crank, **end))
    angle: Callable[[Any], Any] = path.motor(leg)
    level = (cos(half), 0.0, 0.0, sin(half))
    model.add(
        PrescribedMotion(
            f"motor{leg}", "ground", crank, coordinate="angle", motion=angle, axis_a=axis, quaternion=level
        )
    )


def _provenance(ideal: bool, law: Rigid | Compliant, loose: bool) -> dict[str, dict[str, Any]]:
    """Of the parameters of the system."""
    bodies = ["platform", *(f"{kind}{leg}" for kind in ("crank", "rod") for leg in LEGS)]
    labels = {"clearance": "clearance", "radius": "ball.radius", "restitution": "restitution", "friction": "friction"}
    if isinstance(law, Compliant):
        labels |= {name: name for name in ("stiffness", "dead_speed", "slip_speed")}
    joints = [] if ideal else [f"{end}{leg}" for end in ("knee", "ball") for leg in LEGS]
    found = origins_of(ORIGINS, bodies, joints, labels)
    if loose:
        labels |= {"radius": "shaft.radius", "length": "shaft.length", "axial_clearance": "clearance"}
        found |= origins_of(ORIGINS, [], [f"shaft{leg}" for leg in LEGS], labels)
    return found
