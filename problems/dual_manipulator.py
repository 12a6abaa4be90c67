"""Two arms of two links on a free-floating spacecraft, driven by torques, with clearance in some of their joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from math import cos, pi, sin
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.friction.regularised import Bai
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import PlanarBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.forces import Torque
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import ComparisonDefaults, Measure, Provenance, Published, problem
from nonsmooth.model.signals import Harmonic
from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
from nonsmooth.step.control import Landing

__all__ = ["COMPLIANT", "RIGID", "dual_manipulator"]

PAPER = (
    "Motion accuracy and dynamic responses of dual-manipulator on spacecraft considering clearance joints, Aerospace, "
    "10 January 2026"
)
UNSTATED = "tables 1 and 2 of the paper are missing from its text"
PEAKS = "gives the published peaks of the ideal reactions, section 4.2"
FITTED = "fitted to 32 published errors and forces of cases 1 to 5"
SOFT = "force peaks of about 9 N require soft contact; steel gives about 90 N"
BAR = "m L^2/12; the centres of mass are at mid-length"

SHARED = {
    "gravity": Provenance(0.0, "m/s^2", "given", "section 3.2"),
    "arm1.angle": Provenance(
        3 * pi / 4, "rad", "inferred", "section 4.1", "printed -pi/4, of the line through the arm"
    ),
    "arm2.angle": Provenance(pi / 2, "rad", "given", "section 4.1"),
    "arm3.angle": Provenance(pi / 4, "rad", "given", "section 4.1"),
    "arm4.angle": Provenance(pi / 2, "rad", "given", "section 4.1"),
    "joints": Provenance("2; 1; 2 and 4", "-", "given", "section 4.2", "in case 1; 2; 3, 4 and 5"),
    "clearance": Provenance("0.5, 0.5, 0.5, 0.25, 1 mm", "m", "given", "section 4.2", "in cases 1 to 5"),
    "offset": Provenance(0.0, "-", "assumed", "not stated; concentric comes nearest to the published errors"),
    "radius": Provenance(0.01, "m", "assumed", UNSTATED, "of the journals"),
    "normal force": Provenance("LankaraniNikravesh", "-", "given", "eq. (6)"),
    "exponent": Provenance(1.5, "-", "given", "section 2.3"),
    "restitution": Provenance(0.9, "-", "assumed", UNSTATED),
    "stiffness": Provenance(2e8, "N/m^1.5", "assumed", SOFT),
    "friction force": Provenance("Bai", "-", "corrected", "eq. (9), (10)", "both carry the sign of slip; see docs"),
    "static_speed": Provenance(1e-4, "m/s", "assumed", UNSTATED, "v_s"),
    "dynamic_speed": Provenance(1e-3, "m/s", "assumed", UNSTATED, "v_d"),
    "torque": Provenance("A sin(2 pi t/T)", "N m", "assumed", UNSTATED, "in each joint, mirrored on the second side"),
}


UNITS = {"mass": "kg", "inertia": "kg m^2", "length": "m", "x": "m", "y": "m", "torque": "N m", "duration": "s"}


def _set(source: str, **values: float) -> dict[str, Provenance]:
    """The numbers of one set; `duration` is T and the end of the runs."""
    names = {key.replace("_", "."): value for key, value in values.items()}
    return {
        name: Provenance(value, UNITS.get(name.rpartition(".")[2], "-"), "assumed", source)
        for name, value in names.items()
    }


SETS = {
    "S1": _set(
        PEAKS, arm1_mass=1.0659, arm2_mass=1.4793, arm1_length=1.0, arm2_length=1.0, base_mass=100.0,
        base_inertia=16.67, joint3_x=0.5, joint3_y=0.5, joint1_torque=-1.1505, joint2_torque=-0.3954, duration=3.5,
        friction=0.2,
    ),
    "S2": _set(
        FITTED, arm1_mass=1.4, arm2_mass=1.65, arm1_length=0.50, arm2_length=0.42, base_mass=100.0,
        base_inertia=26.0, joint3_x=0.55, joint3_y=0.26, joint1_torque=-0.48, joint2_torque=-0.13, duration=3.0,
        friction=0.11,
    ),
}  # fmt: skip
ORIGINS = SHARED | {f"{name} {key}": origin for name, values in SETS.items() for key, origin in values.items()}


def _number(name: str, key: str) -> float:
    return float((SETS[name] | SHARED)[key].value)


#: rigid contact of each set: nominal restitution and friction of the compliant law
RIGID = {name: Rigid(restitution=_number(name, "restitution"), friction=_number(name, "friction")) for name in SETS}
#: the paper's law, eq. (6), (9) and (10), with the numbers of each set; static and dynamic friction are one number
COMPLIANT = {
    name: Compliant(
        LankaraniNikravesh(
            stiffness=_number(name, "stiffness"),
            exponent=_number(name, "exponent"),
            restitution=_number(name, "restitution"),
        ),
        Bai(
            friction=_number(name, "friction"),
            static_friction=_number(name, "friction"),
            static_speed=_number(name, "static_speed"),
            dynamic_speed=_number(name, "dynamic_speed"),
        ),
    )
    for name in SETS
}

#: the bodies that each joint connects: bearing, journal
JOINTS = {
    "joint1": ("base", "arm1"),
    "joint2": ("arm1", "arm2"),
    "joint3": ("base", "arm3"),
    "joint4": ("arm3", "arm4"),
}
#: joints with clearance, and the clearance [m], of each case
CASES: dict[int, tuple[tuple[str, ...], float]] = {
    0: ((), 0.5e-3),
    1: (("joint2",), 0.5e-3),
    2: (("joint1",), 0.5e-3),
    3: (("joint2", "joint4"), 0.5e-3),
    4: (("joint2", "joint4"), 0.25e-3),
    5: (("joint2", "joint4"), 1e-3),
}
ARMS = ("arm1", "arm2", "arm3", "arm4")
#: the mirror image of a body or joint on the other side, whose numbers it shares
MIRROR = {"arm3": "arm1", "arm4": "arm2", "joint3": "joint1", "joint4": "joint2"}


def _duration(parameters: str = "S1", **_: Any) -> float:
    """End of the published runs [s], one period of the torques."""
    return _number(parameters, "duration")


def _force(inner: str, outer: tuple[str, ...], axis: str) -> Callable[[Any], Array]:
    """Force [N] on the bodies outside a joint, from their accelerations: nothing else acts on them."""

    def force(view: Any) -> Array:
        return np.asarray(sum(view.parameters[f"{body}.mass"] * view.a[f"{body}.{axis}"] for body in outer), float)

    return force


FORCES = {
    (joint, axis): _force(joint, outer, axis)
    for joint, outer in (("joint1", ("arm1", "arm2")), ("joint2", ("arm2",)))
    for axis in "xy"
}


def _loose_force(axis: str) -> Callable[[Any], Array]:
    """In the joint with clearance on the first side; in joint 2 of the ideal twin."""
    return lambda view: FORCES["joint1" if "joint1" in view.contacts else "joint2", axis](view)


#: the published figures are maxima over a run; velocities are taken 1000 times a second, forces wherever they are known
RATE = 1e3
MEASURES = (
    *(Measure(f"angle error, {arm}", "deg", ("q", f"{arm}.angle"), of="error", rate=RATE) for arm in ARMS),
    *(Measure(f"velocity error, {arm}", "deg/s", ("v", f"{arm}.angle"), of="error", rate=RATE) for arm in ARMS),
    *(Measure(f"acceleration error, {arm}", "deg/s^2", ("a", f"{arm}.angle"), of="error") for arm in ARMS),
    *(Measure(f"force {axis}", "N", _loose_force(axis)) for axis in "xy"),
    *(Measure(f"ideal force {axis}, {joint}", "N", force, of="ideal") for (joint, axis), force in FORCES.items()),
)
IDEAL = {
    "ideal force x, joint1": 0.8417,
    "ideal force y, joint1": 0.3092,
    "ideal force x, joint2": 0.7012,
    "ideal force y, joint2": 0.2579,
}


def _figures(
    angle: tuple[float, ...], velocity: tuple[float, ...] = (), acceleration: tuple[float, ...] = (),
    force: tuple[float, ...] = (), ideal: str = "joint2",
) -> dict[str, float]:  # fmt: skip
    """What the paper prints of a case, by measure; two numbers for the arms of one side hold for both."""
    found: dict[str, float] = {}
    for name, values in (("angle", angle), ("velocity", velocity), ("acceleration", acceleration)):
        four = values + values if len(values) == 2 else values
        found |= {f"{name} error, {arm}": value for arm, value in zip(ARMS, four, strict=False)}
    found |= {f"force {axis}": value for axis, value in zip("xy", force, strict=False)}
    return found | {name: value for name, value in IDEAL.items() if force and name.endswith(ideal)}


FIGURES = {
    "1": _figures(
        (0.3037, 0.5459, 0.0022, 0.0028), (0.9299, 2.1781, 0.0059, 0.0052),
        (868.7952, 2395.9363, 6.9255, 4.5921), (8.7432, 4.8132),
    ),
    "2": _figures(
        (0.5325, 0.7947, 0.0111, 0.0105), (1.9013, 0.8826, 0.0144, 0.0121),
        (2016.3226, 343.2609, 12.7258, 7.4723), (10.7556, 5.4648), ideal="joint1",
    ),
    "3": _figures((0.3025, 0.5417), (0.9243, 2.1806), (1150.9377, 2411.6975), (8.7943, 4.8210)),
    "4": _figures((0.2922, 0.5292)),
    "5": _figures((0.3198, 0.6286)),
}  # fmt: skip


def _lines(kind: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((kind, f"{arm}.angle", arm) for arm in ARMS)


#: what the paper draws of each case
PUBLISHED = Published(
    arguments={"parameters": "S2"},
    cases={name: {"case": int(name)} for name in FIGURES},
    ideal={"case": 0},
    kinds={"rigid": {"contact": "rigid"}, "compliant": {"contact": "compliant"}, "MPCC": {"contact": "rigid"}},
    settings={"MPCC": (GaussMPCC(), Landing(1e-4, 1e-3))},
    beside={"MPCC": "rigid"},
    duration=_duration,
    measures=MEASURES,
    figures=FIGURES,
    notes={
        "angle error, arm1": "in case 1 both arms are reached within 1 % by S2 with joint2.friction 0.035, restitution "
        "0.957, radius 42.8 mm and Stronge's impacts; by S1 with no contact.",
        "acceleration error, arm1": "depends on the stiffness, which is not printed; rigid impacts have none.",
        "force x": "depends on the stiffness as well; rigid impacts have no force.",
    },
    panels=(
        ("Angle", "deg", "run", _lines("q")),
        ("Angle error", "deg", "error", _lines("q")),
        ("Angular velocity", "deg/s", "run", _lines("v")),
        ("Velocity error", "deg/s", "error", _lines("v")),
        ("Angular acceleration", "deg/s^2", "run", _lines("a")),
        ("Acceleration error", "deg/s^2", "error", _lines("a")),
        ("Force in the joint", "N", "run", ((_loose_force("x"), "x"), (_loose_force("y"), "y"))),
    ),
)


def _whole(joint: str) -> Callable[[Any], Array]:
    """Normal force [N] in a joint with clearance, whole force in an ideal one."""

    def force(run: Any) -> Array:
        if joint in run.lam_N:
            return np.asarray(run.lam_N[joint])
        return np.hypot(run.reaction[f"{joint}.x"], run.reaction[f"{joint}.y"])

    return force


PANELS = (
    ("Angles", "deg", _lines("q")),
    ("Angular velocities", "deg/s", _lines("v")),
    ("Forces without impacts", "N", tuple((_whole(joint), joint) for joint in JOINTS)),
    ("Position of the base", "mm", (("q", "base.x", "x"), ("q", "base.y", "y"))),
)


@problem(
    tags=("planar", "revolute", "clearance", "floating base", "friction", "impact", "compliant"),
    t_end=1,
    source=PAPER,
    parameters=ORIGINS,
    panels=PANELS,
    published=PUBLISHED,
    comparison=ComparisonDefaults(t_end=0.5, restitution=0.9, stiffness=(2e8,)),
)
def dual_manipulator(
    case: int = 1,
    parameters: str = "S1",
    contact: Rigid | Compliant | str = "rigid",
    joints: str | Iterable[str] | None = None,
    clearance: float | None = None,
    offset: float = 0.0,
    impact: str = "newton",
) -> Model:
    """Dual manipulator on a free-floating spacecraft, five bodies, with clearance in one or two of its joints.

    Arm 1 is connected to the base by joint 1, arm 2 to arm 1 by joint 2; arms 3 and 4 are their mirror image, with
    joints 3 and 4. Torques A sin(2 pi t / T) in each joint accelerate the arms and bring them nearly back to rest.
    There is no gravity and no support: momenta are zero. Cases: 0 ideal, 1 clearance in joint 2, 2 in joint 1, 3 in
    joints 2 and 4; 4 and 5 are case 3 with half and twice the clearance.

    Parameters
    ----------
    case : 0 to 5
    parameters : "S1" or "S2"
        The paper's tables are not in its text. S1 reproduces the published forces of the ideal joints, S2 is fitted to
        the published errors of the cases with clearance.
    contact : "rigid", "compliant", or a law
        "rigid" and "compliant" are `RIGID` and `COMPLIANT`, the paper's law, with the numbers of the set.
    joints : names with commas between, or a tuple, optional
        Joints with clearance, ``"joint1,joint3"``, instead of those of the case.
    clearance : [m], optional
        Instead of that of the case.
    offset : [-], -1 to 1
        Initial position of the journals in their bearings along x, in clearances, mirrored on the second side: 0
        concentric, 1 in contact on the side on which the first load opens the contact, -1 on the side on which it loads
        it.
    impact : str
        Impact law of ``contact="rigid"``, as in `Rigid`. In case 2 slip reverses within impacts, which ``"stronge"``
        takes into account as the compliant law does.

    Raises
    ------
    InputError
        For an unknown case, set, joint or word for the contact, or numbers out of range.

    >>> dual_manipulator(case=3).build()
    System('dual manipulator S1, clearance in joint2, joint4': 15 velocities, 4 constraints, 2 contacts, 36 parameters)
    """
    if case not in CASES:
        raise InputError(f"dual-manipulator has the cases 0 to 5, got {case!r}.")
    if parameters not in SETS:
        raise InputError(f'dual-manipulator has the parameters "S1" and "S2", got {parameters!r}.')
    silence = ["no-gravity"]
    if isinstance(contact, str):
        silence.append("soft-contact")  # of the source
        if contact not in ("rigid", "compliant"):
            raise InputError(f'contact must be "rigid", "compliant" or a law, got {contact!r}.')
        contact = replace(RIGID[parameters], impact=impact) if contact == "rigid" else COMPLIANT[parameters]
    loose, play = CASES[case]
    if joints is not None:
        loose = tuple(word.strip() for word in joints.split(",")) if isinstance(joints, str) else tuple(joints)
    for name in loose:
        if name not in JOINTS:
            raise InputError(f"dual-manipulator has the joints {', '.join(JOINTS)}, got {name!r}.")
    play = play if clearance is None else clearance
    if not -1.0 <= offset <= 1.0:
        raise InputError(f"offset must be a number of clearances from -1 to 1, got {offset!r}.")
    value = {name: float(origin.value) for name, origin in SETS[parameters].items()}
    value |= {name: float(SHARED[name].value) for name in (*(f"{arm}.angle" for arm in ARMS), "radius")}

    def own(element: str, label: str) -> float:
        """A number of an arm or joint, or of its mirror image."""
        return value[f"{MIRROR.get(element, element)}.{label}"]

    words = f"clearance in {', '.join(loose)}" if loose else "ideal"
    provenance = _provenance(parameters, loose)
    model = Model(name=f"dual manipulator {parameters}, {words}", provenance=provenance, silence=silence)
    model.add(PlanarBody("base", mass=value["base.mass"], inertia=value["base.inertia"]))
    tips = {"base": (0.0, 0.0)}
    for joint, (inner, arm) in JOINTS.items():
        mass, length, angle = own(arm, "mass"), own(arm, "length"), value[f"{arm}.angle"]
        side = 1.0 if joint in MIRROR else -1.0
        at_a = (side * value["joint3.x"], value["joint3.y"]) if inner == "base" else (own(inner, "length") / 2, 0.0)
        at_b = (-length / 2, 0.0)
        x, y = at_a if inner == "base" else tips[inner]
        x -= side * offset * play if joint in loose else 0.0
        middle = (x + length / 2 * cos(angle), y + length / 2 * sin(angle))
        tips[arm] = (x + length * cos(angle), y + length * sin(angle))
        model.add(PlanarBody(arm, mass=mass, inertia=mass * length**2 / 12, position=middle, angle=angle))
        if joint in loose:
            model.add(
                RevoluteClearance(
                    joint, inner, arm, at_a=at_a, at_b=at_b, contact=contact, clearance=play, radius=value["radius"]
                )
            )
        else:
            model.add(Revolute(joint, inner, arm, at_a=at_a, at_b=at_b))
        torque = -side * own(joint, "torque")
        model.add(Torque(f"{joint}-motor", arm, torque=Harmonic(torque, value["duration"])))
        model.add(Torque(f"{joint}-motor-back", inner, torque=Harmonic(-torque, value["duration"])))
    return model


def _provenance(parameters: str, loose: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of the parameters of the system."""
    known = SETS[parameters]
    found = {"base.mass": known["base.mass"], "base.inertia": known["base.inertia"]}
    for arm in ARMS:
        twin = MIRROR.get(arm, arm)
        mass, length = (known[f"{twin}.{label}"] for label in ("mass", "length"))
        inertia = float(mass.value) * float(length.value) ** 2 / 12
        found |= {f"{arm}.mass": mass, f"{arm}.inertia": Provenance(inertia, "kg m^2", "assumed", BAR)}
    for joint in loose:
        own = ("restitution", "stiffness", "radius", "static_speed", "dynamic_speed")
        found |= {f"{joint}.{label}": SHARED[label] for label in own}
        found |= {f"{joint}.{label}": known["friction"] for label in ("friction", "static_friction")}
    return {name: asdict(origin) for name, origin in found.items()}
