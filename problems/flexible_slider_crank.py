"""A slider-crank with a flexible rod, driven at constant speed, its pin ideal or with clearance."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.beam import Material, Rectangle, beam
from nonsmooth.flexible.modes import Modes
from nonsmooth.flexible.reduction import modes
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.normal.elastic import HertzStiffness
from nonsmooth.laws.normal.elastic import Material as Surface
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.flexible_bodies import PlanarFlexibleBody
from nonsmooth.model.joints import Prismatic, Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp
from nonsmooth_problems.robot_data import numbers

__all__ = ["COMPLIANT", "RIGID", "deflection", "flexible_slider_crank"]

SOURCE = (
    "Simeon: Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Math. Modelling Systems 2 "
    "(1996), 1-18, with the numbers of problem crank in the Test Set for IVP Solvers; the clearance is added here"
)
GIVEN = "Test Set for IVP Solvers, crank"
SURFACE = Surface(young=2.0e11, poisson=0.3)
RIGID = Rigid(restitution=0.5, friction=0.0)
#: journal and bearing of steel
COMPLIANT = Compliant(LankaraniNikravesh(stiffness=HertzStiffness(SURFACE, SURFACE), restitution=0.9))

ORIGINS = {
    "crank.length": Provenance(0.15, "m", "given", GIVEN),
    "crank.mass": Provenance(0.36, "kg", "given", GIVEN, "of no effect at constant speed"),
    "crank.inertia": Provenance(
        0.002727 - 0.36 * 0.075**2, "kg m^2", "inferred", GIVEN, "0.002727 about the shaft; of no effect"
    ),
    "rod.length": Provenance(0.30, "m", "given", GIVEN),
    "rod.side": Provenance(8e-3, "m", "given", GIVEN, "of its square section"),
    "rod.youngs": Provenance(2.0e11, "Pa", "given", GIVEN),
    "rod.density": Provenance(7870.0, "kg/m^3", "given", GIVEN),
    "rod.damping": Provenance(0.01, "-", "assumed", "the source has none", "damping ratio of every mode"),
    "slider.mass": Provenance(0.075552, "kg", "given", GIVEN),
    "slider.inertia": Provenance(1e-5, "kg m^2", "assumed", "of no effect: the guide keeps the slider from turning"),
    "crank_speed": Provenance(150.0, "rad/s", "given", GIVEN),
    "pin.clearance": Provenance(0.5e-3, "m", "assumed", "as of the classic slider-crank with clearance"),
    "pin.radius": Provenance(10e-3, "m", "assumed", "as of the classic slider-crank with clearance", "of the journal"),
    "pin.restitution": Provenance(0.5, "-", "assumed", "an oiled bearing", "0.9 in COMPLIANT"),
    "pin.friction": Provenance(0.0, "-", "assumed", "an oiled bearing"),
    "young": Provenance(2.0e11, "Pa", "assumed", "steel", "of both surfaces; COMPLIANT only"),
    "poisson": Provenance(0.3, "-", "assumed", "steel", "of both surfaces; COMPLIANT only"),
}
VALUE = numbers(ORIGINS)


@lru_cache(maxsize=8)
def rod(elements: int, stiffening: bool = True) -> Modes:
    """All modes in the plane of the rod's finite elements, three for each of them."""
    steel = Material(VALUE["rod.youngs"], VALUE["rod.youngs"] / 2.6, VALUE["rod.density"])
    shape = beam(
        (0.0, 0.0, 0.0), (VALUE["rod.length"], 0.0, 0.0), section=Rectangle(VALUE["rod.side"], VALUE["rod.side"]),
        material=steel, elements=elements, names={"knee": 0.0, "middle": 0.5, "pin": 1.0},
    )  # fmt: skip
    ends = ["knee", "pin"]
    damping = VALUE["rod.damping"]
    return modes(shape, interface=ends, keep=shape.count - 12, damping=damping, stiffening=stiffening).in_plane()


def deflection(run: Any) -> Array:
    """Deflection [m] of the rod's middle from the straight line between its ends, by time; 0 for the rigid rod."""
    amplitudes = [name for name in run.q if name.startswith("rod.eta")]
    if not amplitudes:
        return np.zeros(len(run.t))
    found = rod(len(amplitudes) // 3)
    knee, middle, pin = (found.translations[found.node(name), 1] for name in ("knee", "middle", "pin"))
    return np.asarray((middle - (knee + pin) / 2) @ np.array([run.q[name] for name in amplitudes]))


PANELS = (
    ("Speed of the slider", "m/s", (("v", "slider.x", "slider"),)),
    ("Deflection of the rod's middle", "mm", ((deflection, "rod"),)),
    ("Driving moment without impacts", "N m", (("reaction", "motor.torque", "motor"),)),
)


@problem(
    tags=("planar", "flexible", "revolute", "clearance", "driven", "impact", "compliant"),
    t_end=0.02,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def flexible_slider_crank(
    contact: Rigid | Compliant = RIGID,
    clearance: float = VALUE["pin.clearance"],
    ideal: bool = False,
    flexible: bool = True,
    elements: int = 4,
    crank_speed: float = VALUE["crank_speed"],
    damping: bool = True,
    stiffening: bool = True,
) -> Model:
    """Slider-crank of the Test Set for IVP Solvers with a flexible rod, and clearance in the pin of its slider.

    It starts stretched out, the rod straight, journal and bearing concentric, with the velocities of the rigid ideal
    mechanism. Its rod vibrates from the start, and each impact in the pin excites its modes.

    Parameters
    ----------
    contact : Rigid or Compliant
        Of journal and bearing: `RIGID` (e = 0.5) by default, or `COMPLIANT`, steel.
    clearance : [m]
        Difference of the radii; the journal has 10 mm.
    ideal : bool
        True for the ideal mechanism, without clearance.
    flexible : bool
        False for a rigid rod.
    elements : int, 2 to 100, even
        Finite elements along the rod, of which all modes are kept, three for each.
    crank_speed : [rad/s]
        Kept constant by a motor of unlimited moment.
    damping : bool
        False for a rod without damping.
    stiffening : bool
        False for a rod whose stiffness in bending does not change with the axial force.

    Raises
    ------
    InputError
        For a clearance that is not positive, or another number of elements.

    >>> flexible_slider_crank().build()
    System('slider-crank, flexible rod, clearance in the pin': 21 velocities, 7 constraints, 1 contacts, 57 parameters)
    """
    if not clearance > 0.0:
        raise InputError(f"clearance must be positive, got {clearance!r}; ideal = True is the mechanism without.")
    if elements % 2 or not 2 <= elements <= 100:
        raise InputError(f"flexible-slider-crank takes an even number of elements, 2 to 100, got {elements!r}.")
    origins = {name: asdict(origin) for name, origin in ORIGINS.items()}
    known = {name: origin for name, origin in origins.items() if "." in name}
    known |= {f"pin.{name}_{side}": origins[name] for name in ("young", "poisson") for side in "ab"}
    words = f"{'flexible' if flexible else 'rigid'} rod, {'ideal' if ideal else 'clearance in the pin'}"
    model = Model(name=f"slider-crank, {words}", provenance=known, silence=["no-gravity"])
    crank, length = VALUE["crank.length"], VALUE["rod.length"]
    model.add(Ground())
    model.add(
        PlanarBody(
            "crank",
            mass=VALUE["crank.mass"],
            inertia=VALUE["crank.inertia"],
            position=(crank / 2, 0.0),
            velocity=(0.0, crank_speed * crank / 2),
            angular_velocity=crank_speed,
        )  # fmt: skip
    )
    knee, bearing, at_knee, at_bearing = _add_rod(model, rod(elements, stiffening), flexible, damping, crank_speed)
    model.add(
        PlanarBody("slider", mass=VALUE["slider.mass"], inertia=VALUE["slider.inertia"], position=(crank + length, 0.0))
    )
    model.add(Revolute("shaft", "ground", "crank", at_b=(-crank / 2, 0.0)))
    model.add(Revolute("knee", "crank", knee, at_a=(crank / 2, 0.0), at_b=at_knee))
    if ideal:
        model.add(Revolute("pin", bearing, "slider", at_a=at_bearing))
    else:
        model.add(
            RevoluteClearance(
                "pin",
                bearing,
                "slider",
                at_a=at_bearing,
                clearance=clearance,
                radius=VALUE["pin.radius"],
                contact=contact,
            )  # fmt: skip
        )
    model.add(Prismatic("guide", "ground", "slider"))
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(crank_speed)))
    return model


def _add_rod(model: Model, found: Modes, flexible: bool, damping: bool, crank_speed: float) -> tuple[Any, ...]:
    """The rod; what its knee and its bearing belong to, and their places there."""
    crank, half = VALUE["crank.length"], VALUE["rod.length"] / 2
    start: dict[str, Any] = {
        "position": (crank + half, 0.0), "velocity": (0.0, crank_speed * crank / 2),
        "angular_velocity": -crank_speed * crank / (2 * half),
    }  # fmt: skip
    if not flexible:
        model.add(PlanarBody("rod", mass=found.mass, inertia=float(found.inertia[2, 2]), **start))
        return "rod", "rod", (-half, 0.0), (half, 0.0)
    kept = found if damping else replace(found, damping=0.0 * found.damping)
    body = model.add(PlanarFlexibleBody("rod", kept, **start))
    return body.node("knee"), body.node("pin"), (0.0, 0.0), (0.0, 0.0)
