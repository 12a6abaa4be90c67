"""The spatial slider-crank: crank, rod on a ball joint, and a slider whose line does not meet the crank's plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import cos, sin, sqrt
from typing import Literal

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import SphericalClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Prismatic, Revolute, Spherical, Universal
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp
from nonsmooth_problems.rotations import Vector, consistent, quaternion, vector
from nonsmooth_problems.samples import Array

__all__ = ["CASES", "REFERENCE", "spatial_slider_crank"]

SOURCE = (
    "Haug: Computer Aided Kinematics and Dynamics of Mechanical Systems, Allyn and Bacon (1989); spatial rigid "
    "slider-crank of the IFToMM library of benchmarks"
)
QUOTED = "the benchmark, as commonly quoted"
GRAVITY, BALL = 9.81, 0.01
X = (1.0, 0.0, 0.0)

Case = Literal["iftomm", "rssp"]


@dataclass(frozen=True)
class Numbers:
    """Of a slider-crank whose crank turns about x.

    `pivot` of the crank, which is its mass centre, and direction `upright` of its arm at theta = 0; `slide` is the
    direction of the slider's line through `line`; rods have their axis along x. Ideal, rod and slider are joined by a
    universal joint with one arm along `slide`, or by a ball joint, where the rod can spin.
    """

    pivot: Vector
    upright: Vector
    arm: float
    rod: float
    line: Vector
    slide: Vector
    masses: tuple[float, float, float]
    inertias: tuple[Vector, Vector, Vector]
    universal: bool
    speed: float

    def crank_pin(self, theta: float) -> tuple[Array, Array]:
        """Ball joint of crank and rod [m], and its derivative by theta."""
        out = np.array(self.upright)
        across = np.cross(X, out)
        return (
            np.array(self.pivot) + self.arm * (cos(theta) * out + sin(theta) * across),
            self.arm * (cos(theta) * across - sin(theta) * out),
        )

    def slider(self, theta: float) -> tuple[float, float]:
        """Position of the slider on its line [m], and its derivative by theta, from the length of the rod.

        >>> round(CASES["iftomm"].slider(0.0)[0], 12)
        0.2
        """
        (pin, slope), along = self.crank_pin(theta), np.array(self.slide)
        away = pin - np.array(self.line)
        reach = float(away @ along)
        root = sqrt(self.rod**2 - float(away @ away) + reach**2)
        rate = float(slope @ along)
        return reach + root, rate + (reach * rate - float(away @ slope)) / root


CASES: Mapping[str, Numbers] = {
    "iftomm": Numbers(
        pivot=(0.0, 0.1, 0.12), upright=(0.0, 0.0, 1.0), arm=0.08, rod=0.3, line=(0.0, 0.0, 0.0), slide=X,
        masses=(0.12, 0.5, 2.0), inertias=((1e-4,) * 3, (4e-4, 4e-3, 4e-3), (1e-4,) * 3), universal=True, speed=6.0,
    ),
    "rssp": Numbers(
        pivot=(0.0, 0.0, 0.0), upright=(0.0, 1.0, 0.0), arm=0.05, rod=0.2, line=(0.08, 0.0, 0.0), slide=(0.0, 1.0, 0.0),
        masses=(0.1, 0.2, 0.3), inertias=((1.1e-3, 1e-4, 1e-4), (1e-5, 7e-4, 7e-4), (1e-4,) * 3), universal=False,
        speed=30.0,
    ),
}  # fmt: skip

#: of the ideal mechanism of the IFToMM library: t [s] -> crank's angle [rad] and speed [rad/s], slider's place [m] and
#: speed [m/s]; from the reduction to one coordinate, whose energy stays within 1e-11 J
REFERENCE = {
    0.1: (0.5520438379, 5.6320934250, 0.22636901600, 0.29473389743),
    0.2: (1.2309269185, 8.7806979055, 0.26054593269, 0.39490249453),
    0.5: (5.2498988426, 12.6416662013, 0.18874810326, -0.27797074292),
    1.0: (10.4840738386, 10.2298883918, 0.23376475033, -0.53770570535),
}

ORIGINS = {
    "crank.mass": Provenance(0.12, "kg", "given", QUOTED, "rssp: 0.1 kg, assumed"),
    "crank.inertia_xx": Provenance(1e-4, "kg m^2", "given", QUOTED, "rssp: 1.1e-3 with its flywheel, assumed"),
    "rod.mass": Provenance(0.5, "kg", "given", QUOTED, "rssp: 0.2 kg, assumed"),
    "rod.inertia_yy": Provenance(4e-3, "kg m^2", "given", QUOTED, "rssp: 7e-4, a homogeneous rod, assumed"),
    "slider.mass": Provenance(2.0, "kg", "given", QUOTED, "rssp: 0.3 kg, assumed"),
    "slider.inertia_xx": Provenance(1e-4, "kg m^2", "given", QUOTED, "no influence: it does not turn"),
    "crank_speed": Provenance("6 or 30", "rad/s", "given", QUOTED, "rssp: 30, assumed"),
    "clearance": Provenance(1e-4, "m", "assumed", "the benchmark has ideal joints"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "given", QUOTED),
}

PANELS = (
    ("Velocity of the slider", "m/s", (("v", "slider.x", "x"), ("v", "slider.y", "y"))),
    ("Angular velocity of the crank", "rad/s", (("v", "crank.wx", "crank"),)),
    ("Force in the ball joint of the crank", "N", tuple(("reaction", f"ball.{axis}", axis) for axis in "xyz")),
)


def _rod_frame(along: Array, slide: Vector) -> Array:
    """Columns: the rod's axis, the arm of its universal joint, across to the slider's line, and the third."""
    arm = np.cross(slide, along)
    arm /= np.linalg.norm(arm)
    return np.column_stack([along, arm, np.cross(along, arm)])


def _ideal(numbers: Numbers, name: str, theta: float, speed: float) -> Model:
    """Closed and consistent, without a driver."""
    pin, slide = numbers.crank_pin(theta)[0], np.array(numbers.slide)
    end = np.array(numbers.line) + numbers.slider(theta)[0] * slide
    along = (pin - end) / np.linalg.norm(pin - end)
    model = Model(name=name, provenance={key: asdict(one) for key, one in ORIGINS.items() if "." in key})
    model.add(Ground())
    turn = (cos(theta / 2.0), sin(theta / 2.0), 0.0, 0.0)
    crank, rod, slider = zip(numbers.masses, numbers.inertias, strict=True)
    model.add(SpatialBody("crank", *crank, position=numbers.pivot, quaternion=turn, angular_velocity=(speed, 0.0, 0.0)))
    frame = quaternion(_rod_frame(along, numbers.slide))
    model.add(SpatialBody("rod", *rod, position=vector((pin + end) / 2.0), quaternion=frame))
    model.add(SpatialBody("slider", *slider, position=vector(end)))
    model.add(Revolute("main", "ground", "crank", at_a=numbers.pivot, axis_a=X, axis_b=X))
    arm, half = vector(numbers.arm * np.array(numbers.upright)), numbers.rod / 2.0
    model.add(Spherical("ball", "crank", "rod", at_a=arm, at_b=(half, 0.0, 0.0)))
    if numbers.universal:
        axes = {"axis_a": numbers.slide, "axis_b": (0.0, 1.0, 0.0)}
        model.add(Universal("pin", "slider", "rod", at_b=(-half, 0.0, 0.0), **axes))
    else:
        model.add(Spherical("pin", "slider", "rod", at_b=(-half, 0.0, 0.0)))
    model.add(Prismatic("guide", "ground", "slider", at_a=numbers.line, axis_a=numbers.slide))
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return consistent(model)


@problem(
    tags=("spatial", "spherical", "universal", "clearance", "impact"),
    t_end=1,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def spatial_slider_crank(
    contact: Rigid | Compliant | None = None,
    case: Case = "iftomm",
    clearance: float = 1e-4,
    theta: float = 0.0,
    crank_speed: float | None = None,
    driven: bool = False,
) -> Model:
    """Spatial slider-crank of the IFToMM library, or another one; ideal, or with clearance between rod and slider.

    The crank turns about x, the slider moves along an offset line: along x in the benchmark, along y in the mechanism
    "rssp" (revolute, two spherical, prismatic), where the rod can spin. Without a contact law joints are ideal; with
    one the rod ends in a ball in a socket of the slider with clearance, concentric at the start, with the velocities of
    the ideal mechanism: no force acts on the slider along its guide until the ball has crossed the clearance.

    Parameters
    ----------
    contact : Rigid or Compliant, optional
        Of the ball in its socket; none for ideal joints.
    case : "iftomm" or "rssp"
    clearance : [m], in (0, 0.01)
        Difference of the radii, if there is a contact law; the ball has a radius of 10 mm.
    theta, crank_speed : [rad], [rad/s]
        Of the crank at the start; 6 rad/s for "iftomm" and 30 rad/s for "rssp" where the speed is omitted.
    driven : bool
        True for a motor that keeps the crank's speed.

    Raises
    ------
    InputError
        For another case, or a clearance out of range.

    >>> spatial_slider_crank().build()
    System('spatial slider-crank, ideal': 18 velocities, 17 constraints, 0 contacts, 56 parameters)
    """
    if case not in CASES:
        raise InputError(f"case must be one of {', '.join(CASES)}, got {case!r}.")
    if not 0.0 < clearance < BALL:
        raise InputError(f"clearance must lie between 0 and the ball's radius, {BALL:g} m, got {clearance!r}.")
    numbers, loose = CASES[case], contact is not None
    speed = numbers.speed if crank_speed is None else crank_speed
    ideal = _ideal(numbers, f"spatial slider-crank, {'loose' if loose else 'ideal'}", theta, speed)
    known = dict(ideal.provenance) if case == "iftomm" else {}
    if loose:
        known["pin.clearance"] = asdict(ORIGINS["clearance"])
    # the flywheel of "rssp" counts about its axis alone
    model = Model(name=ideal.name, provenance=known, silence=("inertia",) if case == "rssp" else ())
    for element in ideal.elements:
        if element.name == "pin" and contact is not None:
            end = (-numbers.rod / 2.0, 0.0, 0.0)
            element = SphericalClearance(
                "pin", "slider", "rod", at_b=end, clearance=clearance, radius=BALL, contact=contact
            )
        model.add(element)
    if driven:
        motion = Ramp(speed, theta)
        model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=motion, axis_a=X))
    return model
