"""An X-Y pointing mechanism: two motors turn a platform about crossed axes, in ideal joints or with clearance."""

from __future__ import annotations

from dataclasses import asdict
from math import sqrt
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.identification.drive_motion import Fourier
from nonsmooth.laws.compliant import Compliant, FrictionLaw
from nonsmooth.laws.friction.regularised import SineCosine
from nonsmooth.laws.normal.elastic import ElasticLaw, Material
from nonsmooth.laws.normal.fractal import FractalStiffness, fractal_surface
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import CylindricalClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import PointInPlane, Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import ComparisonDefaults, Measure, Provenance, Published, problem
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.step.control import ErrorControl
from nonsmooth_problems.xy_pointing_facts import FACTS

__all__ = ["COMPLIANT", "DRIVES", "TABLE_1", "TABLE_3", "published_motion", "xy_pointing"]

PAPER = (
    "Sun, Han, Li, Li: Dynamic parameter identification of a pointing mechanism considering the joint clearance, "
    "Robotics 10 (2021), 36, 10.3390/robotics10010036"
)
UNSTATED = "not in the paper"
ASSUMED = "about the centre of mass; the paper does not name the point"

#: Table 1: of each shaft q_0, a_1 ... a_5, b_1 ... b_5
TABLE_1 = (
    (0.111, 0.243, -6.5e-10, -0.028, -0.033, -0.005, -0.113, -0.01, 0.001, 0.013, -0.003),
    (-0.306, 0.251, -0.029, -0.016, -0.015, -0.017, 0.372, -0.037, -0.033, 0.003, 0.001),
)
#: Table 3: system value, identified with clearance, without, and the printed error ratio; m_1 and L_s1 as printed
TABLE_3 = {
    "Ixx2": (0.00467, 0.00685, 0.00077, 0.55897), "Ixy2": (0.0, 0.00803, 0.00343, 2.34111),
    "Ixz2": (0.0, 0.00296, 0.00783, 0.37803), "Iyy2": (0.00533, 0.00967, 0.00474, 7.427356),
    "Iyz2": (0.0, 0.00189, 0.00340, 0.55588), "Izz2": (0.00181, 0.00131, 0.00640, 0.10893),
    "m2": (0.8596, 0.84191, 0.82352, 0.49029), "Ls2": (0.03419, 0.03394, 0.03274, 0.17241),
    "Izz1": (0.0175, 0.00834, 0.00486, 0.72468), "Ls1": (2.1391, 2.13699, 2.08471, 0.03879),
    "m1": (0.04821, 0.04815, 0.05241, 0.01425),
}  # fmt: skip

ORIGINS = {
    "link1.mass": Provenance(2.1391, "kg", "corrected", "Table 3", "printed as L_s1, with which m_1 is swapped"),
    "link1.centre": Provenance(0.04821, "m", "corrected", "Table 3", "printed as m_1"),
    "link1.inertia": Provenance(0.0175, "kg m^2", "given", "Table 3", "I_zz1; I_xx1, I_yy1 alike, of no influence"),
    "link2.mass": Provenance(0.8596, "kg", "given", "Table 3"),
    "link2.centre": Provenance(0.03419, "m", "given", "Table 3", "L_s2, along x from the second axis"),
    "link2.inertia_xx": Provenance(0.00467, "kg m^2", "given", "Table 3", ASSUMED),
    "link2.inertia_yy": Provenance(0.00533, "kg m^2", "given", "Table 3", ASSUMED),
    "link2.inertia_zz": Provenance(0.00181, "kg m^2", "given", "Table 3", ASSUMED),
    "length": Provenance(0.10, "m", "assumed", UNSTATED, "L_1, distance of the axes"),
    "omega": Provenance(0.4, "rad/s", "inferred", "bound 0.2 rad/s of q_2', which Table 1 reaches at 0.4042 rad/s"),
    "gravity": Provenance(9.81, "m/s^2", "assumed", UNSTATED, "along -x; the first axis is horizontal"),
    "radius": Provenance(0.010, "m", "assumed", UNSTATED, "of both journals"),
    "width": Provenance(0.020, "m", "assumed", UNSTATED, "of both bearings"),
    "clearance": Provenance(20e-6, "m", "assumed", UNSTATED),
    "friction": Provenance(0.1, "-", "assumed", UNSTATED),
    "restitution": Provenance(0.9, "-", "assumed", UNSTATED, "c_e; the joints never separate"),
    "stiffness": Provenance(1e9, "N/m^1.5", "assumed", UNSTATED, 'of contact="compliant"; depth of 10 um at 30 N'),
    "roughness": Provenance(0.8e-6, "m", "assumed", UNSTATED, "R_a, of the fractal law"),
    "area_share": Provenance(0.1, "-", "assumed", UNSTATED, "lambda; eq. (13) cannot be recovered"),
    "yield_strength": Provenance(3.5e8, "Pa", "assumed", UNSTATED, "steel"),
    "static_speed": Provenance(1e-5, "m/s", "assumed", UNSTATED, "the journals slide with 2 mm/s at most"),
    "dynamic_speed": Provenance(2e-5, "m/s", "assumed", UNSTATED),
}
VALUE = {name: float(origin.value) for name, origin in ORIGINS.items() if not isinstance(origin.value, str)}
#: drives of the mechanism, in the order of the paper's shafts
DRIVES = ("motor1", "motor2")
#: link 2 against link 1 at angle zero: x2 = x1, y2 = z1, z2 = -y1
TILTED = (sqrt(0.5), sqrt(0.5), 0.0, 0.0)
Z, MINUS_Y = (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)
STEEL = Material(2.07e11, 0.3)

#: stepper and step of runs with compliant contact
COMPLIANT = (CompliantDae(), ErrorControl(rtol=1e-5, atol=1e-7, dt_min=1e-9, dt_max=1e-2))


def _torque_2(run: Any) -> Array:
    """Torque of motor 2 about its axis, -y of link 1 [N m]."""
    angle = 2 * np.arctan2(run.q["link1.qz"], run.q["link1.qw"])
    return np.asarray(run.reaction["motor2.torque_x"] * np.sin(angle) - run.reaction["motor2.torque_y"] * np.cos(angle))


PANELS = (
    ("Angular velocities", "rad/s", (("v", "link1.wz", "shaft 1"), ("v", "link2.wz", "shaft 2"))),
    ("Torque of motor 1", "N m", (("reaction", "motor1.torque_z", "motor 1"),)),
    ("Torque of motor 2", "N m", ((_torque_2, "motor 2"),)),
)


def _duration(**_: Any) -> float:
    """One period of the published motion [s]."""
    return published_motion().period


#: length of the windows over which contact forces are means [s]
WINDOW = 0.05


PUBLISHED = Published(
    arguments={},
    cases={"c 0.02 mm": {"clearance": 20e-6}},
    ideal={"clearance": None},
    kinds={word: {"contact": word} for word in ("compliant", "fractal")},
    duration=_duration,
    measures=(
        Measure("angular velocity 1, peak", "rad/s", ("v", "link1.wz")),
        Measure("position error of link 2, along x", "mm", ("q", "link2.x"), of="error"),
        Measure("position error of link 2, along y", "mm", ("q", "link2.y"), of="error"),
        Measure("contact force of joint 1, mean", "N", ("F", "joint1"), window=WINDOW, statistic="mean"),
        Measure("contact force of joint 2, mean", "N", ("F", "joint2"), window=WINDOW, statistic="mean"),
    ),
    figures={"c 0.02 mm": {}},
    panels=(("Position error of link 2", "mm", "error", (("q", "link2.x", "x"), ("q", "link2.y", "y"))),),
    facts=FACTS,
    settings={"compliant": COMPLIANT, "fractal": COMPLIANT},
)


def published_motion(omega: float = VALUE["omega"], *, printed: bool = False) -> Fourier:
    """Table 1 as a motion of both drives; without `printed` projected so that it starts and ends at rest at zero."""
    table = Fourier(omega, np.array(TABLE_1))
    return table if printed else table.projected()


def _law(contact: Rigid | Compliant | str, restitution: float, friction: float) -> Rigid | Compliant:
    if not isinstance(contact, str):
        return contact
    if contact == "rigid":
        return Rigid(restitution=restitution, friction=friction)
    if contact not in ("compliant", "fractal"):
        raise InputError(f'contact must be "rigid", "compliant", "fractal" or a law, got {contact!r}.')
    stiffness: float | ElasticLaw = VALUE["stiffness"]
    if contact == "fractal":
        dimension, scale = fractal_surface(VALUE["roughness"])
        stiffness = FractalStiffness(
            STEEL, STEEL, yield_strength=VALUE["yield_strength"], fractal_dimension=dimension, fractal_scale=scale,
            area_share=VALUE["area_share"], asperity_friction=friction,
        )  # fmt: skip
    normal = LankaraniNikravesh(stiffness=stiffness, restitution=restitution)
    sliding: FrictionLaw = SineCosine(
        friction=friction, static_friction=friction, static_speed=VALUE["static_speed"],
        dynamic_speed=VALUE["dynamic_speed"],
    )  # fmt: skip
    return Compliant(normal, sliding) if friction > 0 else Compliant(normal)


@problem(
    tags=("spatial", "robot", "identification", "revolute", "clearance", "driven", "friction", "compliant"),
    t_end=4,
    source=PAPER,
    parameters=ORIGINS,
    panels=PANELS,
    published=PUBLISHED,
    comparison=ComparisonDefaults(
        t_end=0.02, restitution=0.9, stiffness=(1e9,), target=0.0, dt_max=1e-4, arguments={"clearance": 20e-6}
    ),
)
def xy_pointing(
    contact: Rigid | Compliant | str = "rigid",
    clearance: float | None = None,
    motion: Fourier | None = None,
    friction: float = VALUE["friction"],
    restitution: float = VALUE["restitution"],
    length: float = VALUE["length"],
) -> Model:
    """X-Y pointing mechanism: two driven revolute joints with crossed axes, ideal or with clearance.

    The first axis is horizontal, along z of the ground; x points upwards. Link 1 carries the second axis at a distance
    L_1, perpendicular to the first; with both angles zero the links hang upwards along x. Frames of the links, from
    whose origins their centres of mass lie along x, have their z axis along the joint, as in the paper.

    With clearance, each joint is a journal in a bearing whose axis is kept parallel and in its plane: two degrees of
    freedom, radial clearance, one contact. At the start both journals rest at the bottoms of their bearings.

    Parameters
    ----------
    contact : "rigid", "compliant", "fractal", or a law
        The words select rigid contact; Lankarani and Nikravesh's law; or this law with the stiffness of fractal
        asperities, as in the paper.
    clearance : c [m], > 0, optional
        Of both joints; ideal joints where omitted.
    motion : of both drives, that starts from rest at zero
        The projected Table 1 where omitted.
    friction, restitution : [-]
        Of the words for the contact.
    length : L_1 [m]

    Raises
    ------
    InputError
        For another word for the contact.

    >>> xy_pointing().build()
    System('X-Y pointing mechanism, ideal': 12 velocities, 12 constraints, 0 contacts, 57 parameters)
    """
    path = published_motion() if motion is None else motion
    first, second = path.signals
    loose = clearance is not None
    model = Model(
        name=f"X-Y pointing mechanism, {'clearance in both joints' if loose else 'ideal'}",
        provenance={name: asdict(origin) for name, origin in ORIGINS.items() if name.startswith("link")},
    )
    model.add(Ground())
    drop = clearance if clearance is not None else 0.0
    at1, at2 = (-VALUE["link1.centre"], 0.0, 0.0), (-VALUE["link2.centre"], 0.0, 0.0)
    model.add(
        SpatialBody("link1", VALUE["link1.mass"], (VALUE["link1.inertia"],) * 3, position=(-drop - at1[0], 0.0, 0.0))
    )
    inertia = tuple(VALUE[f"link2.inertia_{axes}"] for axes in ("xx", "yy", "zz"))
    place = (length - 2 * drop - at2[0], 0.0, 0.0)
    model.add(SpatialBody("link2", VALUE["link2.mass"], inertia, position=place, quaternion=TILTED))
    pivot = (length + at1[0], 0.0, 0.0)
    zero = (0.0, 0.0, 0.0)
    law = _law(contact, restitution, friction)
    for name, a, b, at_a, at_b, axis in (
        ("joint1", "ground", "link1", zero, at1, Z), ("joint2", "link1", "link2", pivot, at2, MINUS_Y),
    ):  # fmt: skip
        points: dict[str, Any] = {"at_a": at_a, "at_b": at_b}
        if clearance is None:
            model.add(Revolute(name, a, b, axis_a=axis, axis_b=Z, **points))
            continue
        bearing = CylindricalClearance(
            name, a, b, clearance=clearance, length=VALUE["width"], radius=VALUE["radius"], axis_a=axis, axis_b=Z,
            parallel=True, contact=law, **points,
        )  # fmt: skip
        model.add(bearing)
        model.add(bearing.parallel_axes())
        model.add(PointInPlane(f"{name}_axial", a, b, normal_a=axis, **points))
    model.add(PrescribedMotion("motor1", "ground", "link1", coordinate="angle", motion=first, axis_a=Z))
    model.add(
        PrescribedMotion(
            "motor2", "link1", "link2", coordinate="angle", motion=second, axis_a=MINUS_Y, quaternion=TILTED
        )
    )
    model.add(Gravity(acceleration=(-VALUE["gravity"], 0.0, 0.0)))
    return model
