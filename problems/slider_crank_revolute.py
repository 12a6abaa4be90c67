"""The classic slider-crank with clearance in its joints, driven at constant speed: impacts of journal and bearing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from math import pi
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.normal.elastic import HertzStiffness, Material
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Prismatic, Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import ComparisonDefaults, Provenance, problem
from nonsmooth.model.signals import Ramp

__all__ = ["COMPLIANT", "RIGID", "slider_crank_revolute"]

SOURCE = (
    "Ravn: A continuous analysis method for planar multibody systems with joint clearance, Multibody Syst. Dyn. 2 "
    "(1998), 1-24; Schwab, Meijaard, Meijers: A comparison of revolute joint clearance models in the dynamic analysis "
    "of rigid and elastic mechanical systems, Mech. Mach. Theory 37 (2002), 895-913; Flores, Ambrosio: Revolute joints "
    "with clearance in multibody systems, Comput. Struct. 82 (2004), 1359-1369; numbers as commonly quoted from these "
    "papers, not checked in them"
)
QUOTED = "the papers, as commonly quoted"
MIDDLE = "centre of mass at mid-length"

STEEL = Material(young=2.07e11, poisson=0.3)
#: rigid contact with the restitution of the papers, without friction
RIGID = Rigid(restitution=0.9, friction=0.0)
#: the law of the papers; journal and bearing of steel, without friction
COMPLIANT = Compliant(LankaraniNikravesh(stiffness=HertzStiffness(STEEL, STEEL), restitution=0.9))

ORIGINS = {
    "crank.length": Provenance(0.05, "m", "given", QUOTED),
    "crank.mass": Provenance(0.30, "kg", "given", QUOTED, f"{MIDDLE}, of no effect without clearance in the shaft"),
    "crank.inertia": Provenance(1e-4, "kg m^2", "given", QUOTED, "of no effect at constant speed"),
    "rod.length": Provenance(0.12, "m", "given", QUOTED),
    "rod.mass": Provenance(0.21, "kg", "given", QUOTED, MIDDLE),
    "rod.inertia": Provenance(2.5e-4, "kg m^2", "given", QUOTED),
    "slider.mass": Provenance(0.14, "kg", "given", QUOTED),
    "slider.inertia": Provenance(1e-4, "kg m^2", "assumed", "of no effect: the guide keeps the slider from turning"),
    "bearing.radius": Provenance(10e-3, "m", "given", QUOTED, "that of the journal is less by the clearance"),
    "clearance": Provenance(0.5e-3, "m", "given", QUOTED, "the papers vary it"),
    "crank_speed": Provenance(5000 * pi / 30, "rad/s", "given", QUOTED, "5000 rpm"),
    "gravity": Provenance(0.0, "m/s^2", "assumed", "the mechanism lies flat", "9.81 moves first contact by 1 ns"),
    "restitution": Provenance(0.9, "-", "given", QUOTED),
    "friction": Provenance(0.0, "-", "given", QUOTED, "0 or 0.03"),
    "young": Provenance(2.07e11, "Pa", "given", QUOTED, "of both surfaces; COMPLIANT only"),
    "poisson": Provenance(0.3, "-", "given", QUOTED, "of both surfaces; COMPLIANT only"),
}
VALUE = {name: float(origin.value) for name, origin in ORIGINS.items()}

#: the bodies that each joint connects: bearing, journal
JOINTS = {"shaft": ("ground", "crank"), "knee": ("crank", "rod"), "pin": ("rod", "slider")}


def _end(body: str, sign: float) -> tuple[float, float]:
    """Position of a pin in the frame of a body: the bars' right (+1) and left (-1) ends, the slider's centre."""
    return (sign * VALUE[f"{body}.length"] / 2 if body in ("crank", "rod") else 0.0, 0.0)


def _distance(joint: str) -> Callable[[Any], Array]:
    """Distance [m] of the centres of journal and bearing."""

    def place(run: Any, body: str, sign: float) -> Array:
        if body == "ground":
            return np.zeros((2, len(run.t)))
        angle, (arm, _) = run.q[f"{body}.angle"], _end(body, sign)
        return np.array([run.q[f"{body}.x"] + arm * np.cos(angle), run.q[f"{body}.y"] + arm * np.sin(angle)])

    a, b = JOINTS[joint]
    return lambda run: np.hypot(*(place(run, b, -1.0) - place(run, a, 1.0)))


def _force(joint: str) -> Callable[[Any], Array]:
    """Normal force [N] in a joint with clearance, whole force in an ideal one."""

    def force(run: Any) -> Array:
        if joint in run.lam_N:
            return np.asarray(run.lam_N[joint])
        return np.hypot(run.reaction[f"{joint}.x"], run.reaction[f"{joint}.y"])

    return force


PANELS = (
    ("Speed of the slider", "m/s", (("v", "slider.x", "slider"),)),
    ("Distance of the centres in each joint", "mm", tuple((_distance(joint), joint) for joint in JOINTS)),
    ("Force in each joint without impacts", "kN", tuple((_force(joint), joint) for joint in JOINTS)),
    ("Driving moment without impacts", "N m", (("reaction", "motor.torque", "motor"),)),
)


@problem(
    tags=("planar", "revolute", "clearance", "driven", "impact", "compliant"),
    t_end=0.012,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
    comparison=ComparisonDefaults(
        t_end=3e-3, restitution=0.9, stiffness=(6.61e10, 1e12, 1e14), target=1e-5, dt_max=1e-4
    ),
)
def slider_crank_revolute(
    contact: Rigid | Compliant = RIGID,
    clearance: float = VALUE["clearance"],
    joints: str | Iterable[str] = "pin",
    ideal: bool = False,
    crank_speed: float = VALUE["crank_speed"],
    gravity: float = VALUE["gravity"],
) -> Model:
    """Slider-crank with revolute clearance, its crank driven at 5000 rpm: the classic benchmark of joint clearance.

    It starts stretched out, journals and bearings concentric, with the velocities of the ideal mechanism: the slider at
    rest, the rod rotating relative to the crank. With clearance in the pin only, no force acts on the slider along the
    guide until the journal has crossed the clearance and impacts on the bearing, at a time and speed that do not depend
    on the contact law. After about five impacts the motion is sensitive to the smallest perturbation: compare
    statistics only.

    Parameters
    ----------
    contact : Rigid or Compliant
        In each joint with clearance: `RIGID` (e = 0.9, no friction) by default; `COMPLIANT` is the law of Lankarani
        and Nikravesh for steel.
    clearance : [m]
        Difference of the radii; the bearing has 10 mm.
    joints : "shaft", "knee", "pin", several separated by commas, or a tuple of these
        The joints with clearance: crank in the ground, rod on the crank, slider on the rod.
    ideal : bool
        True for the ideal mechanism, without clearance.
    crank_speed : [rad/s]
        Kept constant by a motor of unlimited moment.
    gravity : [m/s^2]
        Downwards, across the guide.

    Raises
    ------
    InputError
        For an unknown joint, or a clearance that leaves no journal.

    >>> slider_crank_revolute().build()
    System('slider-crank, clearance in the pin': 9 velocities, 7 constraints, 1 contacts, 35 parameters)
    """
    chosen = tuple(word.strip() for word in joints.split(",")) if isinstance(joints, str) else tuple(joints)
    for name in chosen:
        if name not in JOINTS:
            raise InputError(f"slider-crank-revolute has the joints {', '.join(JOINTS)}, got {name!r}.")
    if not 0.0 < clearance < VALUE["bearing.radius"]:
        raise InputError(f"clearance must lie between 0 and the bearing's radius, 0.01 m, got {clearance!r}.")
    loose = () if ideal else tuple(joint for joint in JOINTS if joint in chosen)
    origins = {name: asdict(origin) for name, origin in ORIGINS.items()}
    known = {name: origin for name, origin in origins.items() if "." in name}
    for joint in loose:
        known |= {f"{joint}.{name}": origins[name] for name in ("clearance", "restitution", "friction")}
        known |= {f"{joint}.{name}_{side}": origins[name] for name in ("young", "poisson") for side in "ab"}
    words = f"clearance in the {', '.join(loose)}" if loose else "ideal"
    model = Model(name=f"slider-crank, {words}", provenance=known, silence=["no-gravity"])
    crank, rod = VALUE["crank.length"], VALUE["rod.length"]
    model.add(Ground())
    starts = (
        ("crank", crank / 2, crank_speed * crank / 2, crank_speed),
        ("rod", crank + rod / 2, crank_speed * crank / 2, -crank_speed * crank / rod),
        ("slider", crank + rod, 0.0, 0.0),
    )
    for name, x, speed, spin in starts:
        model.add(
            PlanarBody(
                name,
                mass=VALUE[f"{name}.mass"],
                inertia=VALUE[f"{name}.inertia"],
                position=(x, 0.0),
                velocity=(0.0, speed),
                angular_velocity=spin,
            )
        )
    for joint, (a, b) in JOINTS.items():
        if joint not in loose:
            model.add(Revolute(joint, a, b, at_a=_end(a, 1.0), at_b=_end(b, -1.0)))
            continue
        model.add(
            RevoluteClearance(
                joint,
                a,
                b,
                at_a=_end(a, 1.0),
                at_b=_end(b, -1.0),
                clearance=clearance,
                radius=VALUE["bearing.radius"] - clearance,
                contact=contact,
            )
        )
    model.add(Prismatic("guide", "ground", "slider"))
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(crank_speed)))
    model.add(Gravity(acceleration=(0.0, 0.0 - gravity)))
    return model
