"""A four-bar linkage with clearance in one to four of its joints, its crank free or driven."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from math import atan2, cos, hypot, pi, sin, sqrt
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp

__all__ = ["distance", "force", "four_bar", "linkage", "loop"]

SOURCE = (
    "Akhadkar, Acary, Brogliato: Analysis of collocated feedback controllers for four-bar planar mechanisms with joint "
    "clearances, Multibody Syst. Dyn. 38 (2016), 101-136, doi:10.1007/s11044-016-9523-x; numbers as in "
    "siconos-tutorials, examples/mechanics/FourBarLinkageWith3clearance"
)
TABLE = "FourBarClearance.cpp and its plugin, after the paper's table 1"
MIDDLE = "homogeneous slender bar, J = m l^2/12, centre of mass at mid-length"
ROUGH = Rigid(restitution=0.0, friction=0.1)

ORIGINS = {
    "ground.length": Provenance(3.0, "m", "given", TABLE, "l0, between the two fixed bearings"),
    "crank.length": Provenance(1.0, "m", "given", TABLE, "l1"),
    "crank.mass": Provenance(1.0, "kg", "given", TABLE, MIDDLE),
    "crank.inertia": Provenance(1.0 / 12, "kg m^2", "given", TABLE),
    "coupler.length": Provenance(4.0, "m", "given", TABLE, "l2"),
    "coupler.mass": Provenance(1.0, "kg", "given", TABLE, MIDDLE),
    "coupler.inertia": Provenance(16.0 / 12, "kg m^2", "given", TABLE),
    "rocker.length": Provenance(2.5, "m", "given", TABLE, "l3"),
    "rocker.mass": Provenance(1.0, "kg", "given", TABLE, MIDDLE),
    "rocker.inertia": Provenance(6.25 / 12, "kg m^2", "given", TABLE),
    "bearing.radius": Provenance(0.06, "m", "given", TABLE, "r2, r4, r6; the journals have 0.055 m"),
    "clearance": Provenance(5e-3, "m", "inferred", TABLE, "difference of the radii"),
    "restitution": Provenance(0.0, "-", "given", TABLE, "e_N"),
    "friction": Provenance(0.1, "-", "given", TABLE, "mu"),
    "crank_angle": Provenance(pi / 2, "rad", "given", TABLE, "1.570824 there, and journals 40 um off the centre"),
    "crank_speed": Provenance(0.0, "rad/s", "given", TABLE, "at rest; the source's controller is left out"),
    "gravity.acceleration_y": Provenance(-9.81, "m/s^2", "given", TABLE),
}

#: the bodies that each joint connects: bearing, journal
JOINTS = {
    "joint1": ("ground", "crank"),
    "joint2": ("crank", "coupler"),
    "joint3": ("coupler", "rocker"),
    "joint4": ("ground", "rocker"),
}


def loop(ground: float, crank: float, coupler: float, rocker: float, angle: float) -> tuple[float, float]:
    """Angles of coupler and rocker [rad] at a crank angle, of the open loop: its moving joint lies above.

    It solves Freudenstein's equation. The coupler's angle counts at the crank's pin, the rocker's at its fixed bearing.

    Raises
    ------
    InputError
        Where the lengths [m] do not close at that angle.

    >>> [round(angle, 4) for angle in loop(3.0, 1.0, 4.0, 2.5, 1.5707963)]
    [0.3533, 1.2649]
    """
    x, y = ground - crank * cos(angle), -crank * sin(angle)
    diagonal = hypot(x, y)
    share = (coupler**2 + diagonal**2 - rocker**2) / (2.0 * coupler * diagonal)
    if not abs(share) < 1.0:
        raise InputError(
            f"A crank at {angle:g} rad leaves {diagonal:g} m, which {coupler:g} and {rocker:g} m do not span."
        )
    first = atan2(y, x) + atan2(sqrt(1.0 - share**2), share)
    return first, atan2(coupler * sin(first) - y, coupler * cos(first) - x)


def _end(body: str, sign: float, value: Mapping[str, float]) -> tuple[float, float]:
    """Position of a pin in the frame of a bar: its far (+1) or near (-1) end."""
    return (sign * value[f"{body}.length"] / 2, 0.0)


def _ends(joint: str, value: Mapping[str, float]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Places of bearing and journal, each in the frame of its body."""
    if joint == "joint3":
        return _end("coupler", 1.0, value), _end("rocker", 1.0, value)
    a, b = JOINTS[joint]
    fixed = {"joint1": (0.0, 0.0), "joint4": (value["ground.length"], 0.0)}
    return fixed.get(joint) or _end(a, 1.0, value), _end(b, -1.0, value)


def distance(joint: str, value: Mapping[str, float]) -> Callable[[Any], Array]:
    """For a panel: the distance [m] of the centres of journal and bearing."""

    def place(run: Any, body: str, at: tuple[float, float]) -> Array:
        if body == "ground":
            return np.outer(at, np.ones_like(run.t))
        angle = run.q[f"{body}.angle"]
        return np.array([run.q[f"{body}.x"] + at[0] * np.cos(angle), run.q[f"{body}.y"] + at[0] * np.sin(angle)])

    (a, b), (at_a, at_b) = JOINTS[joint], _ends(joint, value)
    return lambda run: np.hypot(*(place(run, b, at_b) - place(run, a, at_a)))


def force(joint: str) -> Callable[[Any], Array]:
    """For a panel: the normal force [N] in a joint with clearance, the whole force in an ideal one."""

    def of(run: Any) -> Array:
        if joint in run.lam_N:
            return np.asarray(run.lam_N[joint])
        return np.hypot(run.reaction[f"{joint}.x"], run.reaction[f"{joint}.y"])

    return of


def linkage(
    name: str,
    origins: Mapping[str, Provenance],
    *,
    loose: str | Iterable[str],
    contact: Rigid | Compliant,
    clearance: float,
    crank_angle: float,
    crank_speed: float,
    driven: bool,
) -> Model:
    """A four-bar linkage of given origins, its start closed and consistent; for problems."""
    chosen = {word.strip() for word in loose.split(",")} if isinstance(loose, str) else set(loose)
    for word in sorted(chosen - {"none", *JOINTS}):
        raise InputError(f"{name} has the joints {', '.join(JOINTS)}, got {word!r}; for no clearance say none.")
    value = {key: float(origin.value) for key, origin in origins.items()}
    if not 0.0 < clearance < value["bearing.radius"]:
        raise InputError(
            f"clearance must lie between 0 and the bearing's {value['bearing.radius']:g} m, got {clearance!r}."
        )
    loose = tuple(joint for joint in JOINTS if joint in chosen)
    known = {key: asdict(origin) for key, origin in origins.items() if "." in key}
    for joint in loose:
        known |= {f"{joint}.{key}": asdict(origins[key]) for key in ("clearance", "restitution", "friction")}
    model = Model(name=f"{name}, {'clearance in ' + ', '.join(loose) if loose else 'ideal'}", provenance=known)
    model.add(Ground())
    l0, l1, l2, l3 = (value[f"{bar}.length"] for bar in ("ground", "crank", "coupler", "rocker"))
    second, third = loop(l0, l1, l2, l3, crank_angle)
    spin = crank_speed * l1 / sin(second - third)
    bars = (
        ("crank", (0.0, 0.0), (0.0, 0.0), crank_angle, crank_speed),
        ("coupler", (l1 * cos(crank_angle), l1 * sin(crank_angle)),
         (-crank_speed * l1 * sin(crank_angle), crank_speed * l1 * cos(crank_angle)),
         second, spin * sin(third - crank_angle) / l2),
        ("rocker", (l0, 0.0), (0.0, 0.0), third, spin * sin(second - crank_angle) / l3),
    )  # fmt: skip
    for bar, near, speed, angle, rate in bars:
        x, y = value[f"{bar}.length"] / 2 * cos(angle), value[f"{bar}.length"] / 2 * sin(angle)
        body = PlanarBody(
            bar,
            mass=value[f"{bar}.mass"],
            inertia=value[f"{bar}.inertia"],
            position=(near[0] + x, near[1] + y),
            angle=angle,
            velocity=(speed[0] - rate * y, speed[1] + rate * x),
            angular_velocity=rate,
        )
        model.add(body)
    for joint, (a, b) in JOINTS.items():
        at_a, at_b = _ends(joint, value)
        if joint in loose:
            radius = value["bearing.radius"] - clearance
            model.add(
                RevoluteClearance(
                    joint, a, b, at_a=at_a, at_b=at_b, contact=contact, clearance=clearance, radius=radius
                )
            )
        else:
            model.add(Revolute(joint, a, b, at_a=at_a, at_b=at_b))
    if driven:
        motion = PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(crank_speed, crank_angle))
        model.add(motion)
    model.add(Gravity(acceleration=(0.0, value["gravity.acceleration_y"])))
    return model


VALUE = {name: float(origin.value) for name, origin in ORIGINS.items()}

PANELS = (
    ("Angles", "deg", tuple(("q", f"{bar}.angle", bar) for bar in ("crank", "coupler", "rocker"))),
    ("Angular velocities", "rad/s", tuple(("v", f"{bar}.angle", bar) for bar in ("crank", "coupler", "rocker"))),
    ("Distance of the centres in each joint", "mm", tuple((distance(joint, VALUE), joint) for joint in JOINTS)),
    ("Force in each joint without impacts", "N", tuple((force(joint), joint) for joint in JOINTS)),
)


@problem(
    tags=("planar", "revolute", "clearance", "friction", "impact", "driven"),
    t_end=1.5,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def four_bar(
    contact: Rigid | Compliant = ROUGH,
    loose: str | Iterable[str] = ("joint2", "joint3", "joint4"),
    clearance: float = VALUE["clearance"],
    crank_angle: float = VALUE["crank_angle"],
    crank_speed: float = VALUE["crank_speed"],
    driven: bool = False,
) -> Model:
    """Four-bar linkage of Akhadkar, Acary and Brogliato, with clearance in selected joints.

    The crank starts upright, the journals in the middle of their bearings, the velocities those of the ideal linkage.
    A free crank falls over; a driven one keeps its speed. Until the first contact no force acts in a joint with
    clearance, so that the time of that contact does not depend on the contact law.

    Parameters
    ----------
    contact : Rigid or Compliant
        In each joint with clearance; plastic with friction 0.1 by default.
    loose : "joint1" ... "joint4", several separated by commas, a tuple of these, or "none"
        Joints with clearance: ground and crank, crank and coupler, coupler and rocker, rocker and ground.
    clearance : [m]
        Difference of the radii; the bearings have 60 mm.
    crank_angle, crank_speed : [rad], [rad/s]
        At the start.
    driven : bool
        True for a motor of unlimited moment that keeps the crank's speed constant.

    Raises
    ------
    InputError
        For an unknown joint, or a clearance that leaves no journal.

    >>> four_bar(loose="joint3").build()
    System('four-bar, clearance in joint3': 9 velocities, 6 constraints, 1 contacts, 29 parameters)
    """
    return linkage(
        "four-bar",
        ORIGINS,
        loose=loose,
        contact=contact,
        clearance=clearance,
        crank_angle=crank_angle,
        crank_speed=crank_speed,
        driven=driven,
    )
