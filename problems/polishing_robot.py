"""A 3-UPRU+UP parallel robot that polishes mirrors, with clearance between slide and guide of its middle joint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.friction.regularised import SineCosine
from nonsmooth.laws.normal.elastic import ElasticLaw
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import SpatialPrismaticClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Force, Gravity, PointForce
from nonsmooth.model.joints import Prismatic, Revolute, Universal, UniversalPrismatic
from nonsmooth.model.model import Model
from nonsmooth.model.registry import ComparisonDefaults, Measure, Provenance, Published, problem
from nonsmooth.schemes.moreau_jean.settings import MoreauJean
from nonsmooth_problems.polishing_robot_facts import DURATION, FACTS
from nonsmooth_problems.polishing_robot_motion import LEGS, MIDDLE, Circle, Dimensions, Motion
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

__all__ = ["motion", "polishing_robot", "printed_laws"]

PAPER = (
    "Zhu, Cheng, Guo, Pang: Dynamic modeling and response analysis of an optical machining robot with prismatic joint "
    "clearance, Appl. Sci. 15 (2025), 3197, 10.3390/app15063197"
)
UNSTATED = "not in the paper"
TABLE = "Table 2"
IMPOSSIBLE = "moments that no rigid body has: the largest exceeds the sum of the others; of the order of 2 % only"

ORIGINS = {
    "base.radius": Provenance(0.4, "m", "given", TABLE, "r_s, of the universal joints on the base"),
    "platform.radius": Provenance(0.15, "m", "given", TABLE, "r_m, of those on the platform"),
    "legs": Provenance("240, 120, 0 deg", "-", "inferred", "section 2, axes of the base", "on base and platform"),
    "platform.mass": Provenance(138.239, "kg", "given", TABLE, "with the guide; centre of mass assumed at M0"),
    "platform.inertia": Provenance("35.509, 35.478, 1.452", "kg m^2", "given", TABLE, "J_m"),
    "cylinder.length": Provenance(0.6, "m", "given", TABLE, "centres of mass assumed at mid-length, as of all legs"),
    "cylinder.mass": Provenance(70.8, "kg", "given", TABLE),
    "cylinder.inertia": Provenance("14.264, 14.598, 0.203", "kg m^2", "given", TABLE, IMPOSSIBLE),
    "rod.length": Provenance(1.2, "m", "given", TABLE),
    "rod.mass": Provenance(29.85, "kg", "given", TABLE),
    "rod.inertia": Provenance("5.94, 5.94, 0.02", "kg m^2", "corrected", TABLE, "printed as J_c, which appears twice"),
    "tip.length": Provenance(0.09, "m", "given", TABLE, "the rotating rod"),
    "tip.mass": Provenance(1.3, "kg", "given", TABLE),
    "tip.inertia": Provenance("0.004, 0.004, 0.004", "kg m^2", "given", TABLE),
    "slide.mass": Provenance(10.0, "kg", "assumed", UNSTATED, "the paper has no body between base and platform"),
    "slide.inertia": Provenance("0.1, 0.1, 0.05", "kg m^2", "assumed", UNSTATED),
    "load": Provenance(118.5 * 9.81, "N", "inferred", TABLE, "external load 118.5 kg, a force on the platform"),
    "gravity": Provenance(9.81, "m/s^2", "assumed", UNSTATED, "along -z"),
    "circle.radius": Provenance(0.2, "m", "given", "section 4"),
    "circle.speed": Provenance(0.05, "m/s", "given", "section 4"),
    "circle.angle": Provenance(0.0, "rad", "assumed", UNSTATED, "theta_0, at t = 0"),
    "circle.height": Provenance(-1.45, "m", "assumed", UNSTATED, "Z_0; legs of 1.430 to 1.538 m"),
    "offset": Provenance(0.0, "m", "assumed", UNSTATED, "X_c; a centred circle does not slide in the middle joint"),
    "axes": Provenance(
        "tangential", "-", "assumed", UNSTATED, "first axes of the legs' joints; base y of the middle one"
    ),
    "guide.height": Provenance(0.08, "m", "assumed", UNSTATED, "section of the guide along x of the platform"),
    "guide.width": Provenance(0.06, "m", "assumed", UNSTATED, "along y"),
    "guide.length": Provenance(0.2, "m", "assumed", UNSTATED, "of the slide, whose two end planes the edges meet"),
    "clearance": Provenance(1e-4, "m", "given", "section 4, figures 10 and 11", "on each of the four sides"),
    "restitution": Provenance(0.9, "-", "given", "Table 3"),
    "friction": Provenance(0.05, "-", "given", "figure 10", "0.02, 0.05, 0.08 there; 0.80 and 0.16 in Table 3"),
    "stiffness": Provenance(1e10, "N/m^1.5", "assumed", "depth of 4 um at 85 N, of the order of eq. (7) for steel"),
    "normal force": Provenance(
        "LankaraniNikravesh", "-", "corrected", "eq. (7)", "one law per corner; those of planes and lines jump at 171 N"
    ),
    "friction force": Provenance("SineCosine", "-", "given", "eq. (3)", "without its rise at rest, as in figure 10"),
    "printed laws": Provenance(
        "by contact mode", "-", "given", "eq. (4), (6), (7)", 'of contact="printed laws"; not physical: forces jump'
    ),
    "printed.thickness": Provenance(0.015, "m", "assumed", UNSTATED, "l of eq. (4), behind each wall"),
    "printed.rounding": Provenance(5e-4, "m", "assumed", UNSTATED, "R of eq. (6), and of the corners of eq. (7)"),
    "static_speed": Provenance(1e-4, "m/s", "assumed", UNSTATED, "v_s"),
    "dynamic_speed": Provenance(1e-3, "m/s", "assumed", UNSTATED, "v_d"),
}
VALUE = numbers(ORIGINS)
INERTIA = inertias(ORIGINS, ("platform", "cylinder", "rod", "tip", "slide"))
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
#: name of the laws of the paper, which are not a physical contact model
PRINTED = "printed laws"


def motion(offset: float = 0.0, *, speed: float = VALUE["circle.speed"], angle: float = 0.0) -> Motion:
    """Kinematics of the ideal robot whose platform follows the circle, its centre at x = `offset` [m]."""
    sizes = Dimensions(
        base=VALUE["base.radius"], platform=VALUE["platform.radius"], cylinder=VALUE["cylinder.length"],
        rod=VALUE["rod.length"], tip=VALUE["tip.length"],
    )  # fmt: skip
    path = Circle(
        x=offset, y=0.0, z=VALUE["circle.height"], radius=VALUE["circle.radius"], speed=speed, angle=angle
    )  # fmt: skip
    return Motion(sizes, path)


def _sliding(friction: float) -> SineCosine:
    speeds = {"static_speed": VALUE["static_speed"], "dynamic_speed": VALUE["dynamic_speed"]}
    return SineCosine(friction=friction, static_friction=friction, **speeds)


def _law(contact: Rigid | Compliant | str, restitution: float, friction: float) -> Rigid | Compliant:
    values = {"restitution": restitution, "friction": friction, "stiffness": VALUE["stiffness"]}
    return contact_law(contact, sliding=_sliding(friction), others=(PRINTED,), **values)


def _column(kind: str, axis: str) -> tuple[str, str, str]:
    return (kind, f"platform.{axis}", axis)


def _contact_force(run: Any) -> Array:
    """Sum of the normal forces between slide and guide [N]; the lateral reaction where the joint is ideal.

    With the paper's laws forces are not contacts of the run, and this is not a number.
    """
    corners = [name for name in run.lam_N if name.startswith("guide.")]
    if corners:
        return np.asarray(sum(np.asarray(run.lam_N[name]) for name in corners))
    if "slide.x" in run.q:
        return np.full(len(run.q["slide.x"]), np.nan)
    return np.sqrt(sum(np.asarray(run.reaction[f"middle.{axis}"]) ** 2 for axis in "xyz"))


PANELS = (
    ("Platform", "m", (_column("q", "x"), _column("q", "y"))),
    ("Velocity of the platform", "mm/s", tuple(_column("v", axis) for axis in "xyz")),
    ("Angular velocity of the platform", "rad/s", tuple(_column("v", axis) for axis in ("wx", "wy", "wz"))),
    ("Force in the guide without impacts", "N", ((_contact_force, "sum"),)),
)

#: clearances [m] and coefficients of friction of the runs; the paper does not say which clearances its figure 9 has
CLEARANCES = (1e-5, 5e-5, 1e-4, 2e-4, 5e-4)
FRICTION = (0.0, 0.02, 0.05, 0.08)


def _duration(**_: Any) -> float:
    """Of the published runs [s]."""
    return DURATION


#: length of the windows over which accelerations and forces are means [s]: ten of the paper's steps
WINDOW = 1e-3


def _printed(displacement: float, velocity: float, acceleration: float) -> dict[str, float]:
    """Deviations along z of figure 10 [mm, m/s, m/s^2], which the text calls those of growing clearance, too."""
    found = {"position": displacement, "velocity": velocity, "acceleration": acceleration}
    return {f"{what} error, z": value for what, value in found.items()}


#: what the paper prints: the deviations are beyond what the clearance allows, see the facts
PUBLISHED = Published(
    arguments={},
    cases={f"c {1e3 * size:g} mm": {"clearance": size} for size in CLEARANCES}
    | {f"mu {value:g}": {"friction": value} for value in FRICTION},
    ideal={"ideal": True},
    kinds={word: {"contact": word} for word in ("rigid", "compliant")},
    duration=_duration,
    measures=(
        *platform_errors(window=WINDOW),
        Measure("contact force, peak", "N", ("F", "guide"), window=WINDOW),
        Measure("contact force, mean", "N", ("F", "guide"), window=WINDOW, statistic="mean"),
    ),
    figures={f"c {1e3 * size:g} mm": {} for size in CLEARANCES}
    | {
        "mu 0": {},
        "mu 0.02": _printed(2.2, 0.08, 0.19),
        "mu 0.05": _printed(3.3, 0.13, 0.32),
        "mu 0.08": _printed(5.4, 0.20, 0.42) | {"contact force, peak": 408.0},
    },
    panels=ERROR_PANELS,
    facts=FACTS,
    notes={"position error, z": "no parameters reach it: 0.1 mm of clearance lets the platform move by 0.005 mm."},
    settings={"rigid": (MoreauJean(projection="combined"), 1e-4), "compliant": COMPLIANT},
)


@problem(
    tags=("spatial", "parallel robot", "prismatic", "clearance", "driven", "friction", "impact", "compliant"),
    t_end=0.05,
    source=PAPER,
    parameters=ORIGINS,
    panels=PANELS,
    published=PUBLISHED,
    comparison=ComparisonDefaults(t_end=0.05, restitution=0.9, stiffness=(1e10,), dt_max=1e-4),
)
def polishing_robot(
    contact: Rigid | Compliant | str = "rigid",
    clearance: float = VALUE["clearance"],
    ideal: bool = False,
    offset: float = VALUE["offset"],
    restitution: float = VALUE["restitution"],
    friction: float = VALUE["friction"],
    speed: float = VALUE["circle.speed"],
    angle: float = VALUE["circle.angle"],
) -> Model:
    """Polishing robot 3-UPRU+UP: a platform on three driven legs and a middle joint with clearance in its guide.

    The platform hangs below the base. Each leg is a cylinder, a telescopic rod and a rotating rod between universal
    joints; its drive imposes the distance of these. The joint in the middle leaves the platform three freedoms, so that
    the three drives move its centre along a circle. It starts on the circle with the velocities of this motion, the
    slide in the middle of its clearance.

    The ideal robot has 10 bodies, 60 velocities and 60 constraints. With clearance the slide is a body of its own,
    between a universal joint on the base and the guide on the platform: of 66 velocities 61 are constrained, and the
    other 5 are bounded by 16 contacts alone.

    Parameters
    ----------
    contact : "rigid", "compliant", "printed laws", or a law
        The words select rigid contact; Lankarani and Nikravesh's law at each corner with the paper's friction; or the
        paper's laws of planes, lines and points, without damping, which are not physical: the law depends on the number
        of corners of a wall in contact, so that forces are discontinuous and energy is generated. They have no contacts
        and no restitution; see `nonsmooth_problems.polishing_robot_printed`.
    clearance : [m], > 0
        Between slide and guide, on each of the four sides.
    ideal : bool
        True for the robot without clearance.
    offset : [m]
        x of the circle's centre. A centred circle keeps the distance of the platform from the base's centre; 0.1 m off,
        the middle joint slides by up to 3.4 mm/s.
    restitution, friction : [-]
        Of the words for the contact.
    speed : [m/s]
        Of the platform along the circle; 0 holds it still.
    angle : [rad]
        Place on the circle at the start, from x towards y.

    Raises
    ------
    InputError
        For another word for the contact.

    >>> polishing_robot().build()
    System('polishing robot, clearance in the guide': 66 velocities, 61 constraints, 16 contacts, 246 parameters)
    """
    printed = contact == PRINTED and not ideal
    law = _law("compliant" if contact == PRINTED else contact, restitution, friction)
    path = motion(offset, speed=speed, angle=angle)
    words = "ideal" if ideal else f"clearance in the guide{', printed laws' if printed else ''}"
    # of the source are stiffnesses named by a word, and drives that hold the platform
    silence = ["soft-contact"] * isinstance(contact, str) + ["still-driver"] * (speed == 0.0)
    provenance = _provenance(ideal, None if printed else law)
    model = Model(name=f"polishing robot, {words}", provenance=provenance, silence=silence)
    model.add(Ground())
    t = ca.SX.sym("t")
    for body, start in starts(t, path.poses(t)).items():
        if body == "slide" and ideal:
            continue
        kind = body.rstrip("123")
        model.add(SpatialBody(body, mass=VALUE[f"{kind}.mass"], inertia=INERTIA[kind], **start))
    for leg in LEGS:
        _add_leg(model, path, leg)
    if ideal:
        model.add(UniversalPrismatic("middle", "ground", "platform", axis_a=MIDDLE, axis_b=X, slide_b=Z))
    else:
        model.add(Universal("middle", "ground", "slide", axis_a=MIDDLE, axis_b=X))
        section: dict[str, Any] = {name: VALUE[f"guide.{name}"] for name in ("height", "width", "length")}
        directions: dict[str, Any] = {"axis_guide": Z, "across_guide": X, "axis_slider": Z, "across_slider": X}
        guide = SpatialPrismaticClearance(
            "guide", "slide", "platform", clearance=clearance, ends="guide", contact=law, **section, **directions
        )
        model.add(_by_mode(guide, friction) if printed else guide)
    model.add(Gravity(acceleration=(0.0, 0.0, -VALUE["gravity"])))
    model.add(PointForce("load", "platform", force=(0.0, 0.0, -VALUE["load"])))
    return model


def printed_laws() -> dict[str, ElasticLaw]:
    """Laws of whole planes, lines and points of the guide, by the paper."""
    from nonsmooth_problems.polishing_robot_printed import laws

    sizes = {"length": VALUE["guide.length"], "width": VALUE["guide.width"]}
    return laws(thickness=VALUE["printed.thickness"], rounding=VALUE["printed.rounding"], **sizes)


def _by_mode(guide: SpatialPrismaticClearance, friction: float) -> Force:
    """The guide with these laws."""
    from nonsmooth_problems.polishing_robot_printed import GuideByMode

    sliding = _sliding(friction) if friction > 0.0 else None
    return GuideByMode(guide.name, guide.guide, guide.slider, shape=guide, by_mode=printed_laws(), friction=sliding)


def _add_leg(model: Model, path: Motion, leg: str) -> None:
    """Joints and drive of a leg; bodies have their z axes along it, upwards."""
    sizes, tangent = path.dimensions, path.tangent(leg)
    upper, lower = path.radial(leg, sizes.base), path.radial(leg, sizes.platform)
    cylinder, rod, tip = f"cylinder{leg}", f"rod{leg}", f"tip{leg}"
    ends: dict[str, Any] = {"at_a": (0.0, 0.0, -sizes.rod / 2), "at_b": (0.0, 0.0, sizes.tip / 2)}
    on_base: dict[str, Any] = {"at_a": upper, "at_b": (0.0, 0.0, sizes.cylinder / 2)}
    on_platform: dict[str, Any] = {"at_a": lower, "at_b": (0.0, 0.0, -sizes.tip / 2)}
    model.add(Universal(f"upper{leg}", "ground", cylinder, axis_a=tangent, axis_b=X, **on_base))
    model.add(Prismatic(f"telescope{leg}", cylinder, rod, axis_a=Z))
    model.add(Revolute(f"swivel{leg}", rod, tip, axis_a=Z, axis_b=Z, **ends))
    model.add(Universal(f"lower{leg}", "platform", tip, axis_a=tangent, axis_b=X, **on_platform))
    drive: Callable[[Any], Any] = path.length(leg)
    model.add(
        PrescribedMotion(
            f"drive{leg}", "ground", "platform", coordinate="distance", motion=drive, at_a=upper, at_b=lower
        )
    )


def _provenance(ideal: bool, law: Rigid | Compliant | None) -> dict[str, dict[str, Any]]:
    """Of the parameters of the system; without a law the guide has none."""
    legs = (f"{kind}{leg}" for kind in ("cylinder", "rod", "tip") for leg in LEGS)
    bodies = ["platform", *(() if ideal else ("slide",)), *legs]
    labels = {label: f"guide.{label}" for label in ("height", "width", "length")}
    labels |= {label: label for label in ("clearance", "restitution", "friction")}
    if isinstance(law, Compliant):
        labels |= {label: label for label in ("stiffness", "static_speed", "dynamic_speed")}
    return origins_of(ORIGINS, bodies, [] if ideal or law is None else ["guide"], labels)
