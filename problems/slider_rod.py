"""A slider with clearance on a fixed rod, pulled by a force off its centre line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.normal.hysteresis import Flores
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import PrismaticClearance
from nonsmooth.model.forces import Gravity, PointForce
from nonsmooth.model.model import Model
from nonsmooth.model.registry import ComparisonDefaults, Measure, Provenance, Published, StepSizeDefaults, problem
from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
from nonsmooth.step.control import Landing

if TYPE_CHECKING:
    from nonsmooth_problems.slider_rod_exact import SliderRod

__all__ = ["slider_rod"]

PAPER = (
    "Chaturvedi, Sandu, Sandu: Non-smooth dynamics formulation for planar prismatic joints with clearances, section 3"
)
OFFSETS = {1: 0.0, 2: 0.5e-3, 3: 10e-3}
PLASTIC = Rigid(restitution=0.0, friction=0.0)

ORIGINS = {
    "slider.mass": Provenance(5.0, "kg", "given", "Table 1"),
    "slider.inertia": Provenance(8e-4, "kg m^2", "given", "Table 1", "printed as 800 kg mm^2"),
    "guide.length": Provenance(0.02, "m", "given", "Table 1", "l_s"),
    "guide.height": Provenance(
        0.0, "m", "inferred", "section 2.3", "contact is written for the ends of the centre line"
    ),
    "guide.clearance": Provenance(1e-5, "m", "given", "section 3"),
    "guide.restitution": Provenance(0.0, "-", "inferred", "eq. (10)-(14)", "implicit Euler on gaps is plastic"),
    "guide.friction": Provenance(0.0, "-", "given", "section 5"),
    "push.force_x": Provenance(50.0, "N", "given", "Table 1"),
    "push.at_y": Provenance("0, 0.5 mm, 10 mm", "m", "given", "section 4", "in cases 1, 2 and 3"),
    "gravity.acceleration_y": Provenance(
        -9.81, "m/s^2", "assumed", "standard value", "the paper gives none; 0 in case 3"
    ),
    "restitution": Provenance(0.0, "-", "inferred", "eq. (10)-(14)", "implicit Euler on gaps is plastic"),
    "friction": Provenance(0.0, "-", "given", "section 5"),
}


HALF_LENGTH = 0.01


def _end(sign: float, axis: str) -> Callable[[Any], Array]:
    """Height or position of the slider's right (+1) or left (-1) end."""
    turn = np.sin if axis == "y" else np.cos

    def place(run: Any) -> Array:
        return np.asarray(run.q[f"slider.{axis}"] + sign * HALF_LENGTH * turn(run.q["slider.angle"]))

    place.smooth = True  # type: ignore[attr-defined]
    return place


PANELS = (
    ("Height", "um", ((_end(-1, "y"), "left end"), (_end(1, "y"), "right end"), ("q", "slider.y", "centre"))),
    (
        "Position along the rod",
        "mm",
        ((_end(-1, "x"), "left end"), (_end(1, "x"), "right end"), ("q", "slider.x", "centre")),
    ),
    ("Vertical velocity", "mm/s", (("v", "slider.y", "centre"),)),
    ("Velocity along the rod", "m/s", (("v", "slider.x", "centre"),)),
    (
        "Contact forces, lower wall",
        "N",
        (("lam_N", "guide.left_lower", "left"), ("lam_N", "guide.right_lower", "right")),
    ),
    (
        "Contact forces, upper wall",
        "N",
        (("lam_N", "guide.left_upper", "left"), ("lam_N", "guide.right_upper", "right")),
    ),
)


def _exact(case: int = 1, contact: Rigid | Compliant = PLASTIC) -> SliderRod:
    from nonsmooth_problems.slider_rod_exact import case as exact

    if not isinstance(contact, Rigid):
        raise InputError(f"The exact solution of the slider-rod is rigid, got {contact!r}.")
    if contact.friction > 0:
        raise InputError(f"The exact solution of the slider-rod is frictionless, got friction = {contact.friction:g}.")
    return exact(case, restitution=contact.restitution)


def _overlap(run: Any) -> Array:
    """Largest overlap [m] of an end and a wall."""
    ends = np.abs([_end(sign, "y")(run) for sign in (-1, 1)])
    return np.maximum(np.max(ends, axis=0) - run.parameters["guide.clearance"], 0.0)


def _duration(**_: Any) -> float:
    """Of the published runs [s]."""
    return 6e-3


#: the program and the bounds of the step of the paper, and ours; it has no compliant contact
PUBLISHED = Published(
    arguments={},
    cases={f"{case}": {"case": case} for case in OFFSETS},
    ideal={"ideal": True},
    kinds={
        "as printed": {"contact": PLASTIC},
        "rigid": {"contact": PLASTIC},
        "compliant": {"contact": Compliant(Flores(stiffness=1e12, restitution=0.1, calibrated=True))},
    },
    duration=_duration,
    measures=(
        Measure("constraint violation", "m", _overlap),
        Measure("height, peak", "m", ("q", "slider.y")),
        Measure("angle, peak", "rad", ("q", "slider.angle")),
        Measure("position along the rod, peak", "m", ("q", "slider.x")),
    ),
    figures={
        f"{case}": {"constraint violation": 1e-8, "motion residual": 1e-12, "longest step": 1e-3} for case in OFFSETS
    },
    panels=(
        (
            "Height",
            "um",
            "run",
            ((_end(-1, "y"), "left end"), (_end(1, "y"), "right end"), ("q", "slider.y", "centre")),
        ),
        ("Angle", "rad", "run", (("q", "slider.angle", "slider"),)),
        ("Vertical velocity", "m/s", "run", (("v", "slider.y", "slider"),)),
        ("Force, lower wall", "N", "run", (("F", "guide.left_lower", "left"), ("F", "guide.right_lower", "right"))),
        ("Force, upper wall", "N", "run", (("F", "guide.left_upper", "left"), ("F", "guide.right_upper", "right"))),
    ),
    settings={"as printed": (GaussMPCC(), Landing(1e-4, 1e-3))},
    claim="steps of 1e-3 s suffice and make it low, while continuous contact models take small steps (section 5).",
)


@problem(
    tags=("planar", "prismatic", "clearance", "exact"),
    t_end=3.5e-3,
    source=PAPER,
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
    published=PUBLISHED,
    comparison=ComparisonDefaults(t_end=6e-3, restitution=0.5, stiffness=(1e10, 1e12, 1e14), arguments={"case": 1}),
    step_size=StepSizeDefaults(
        t_end=4e-3,
        dt=1e-4,
        dt_max=1e-3,
        bounds=((1e-8, 1e-7, 1e-6, 1e-5, 1e-4), (1.25e-4, 2.5e-4, 5e-4, 1e-3)),
        arguments={"case": 2},
    ),
)
def slider_rod(case: int = 1, contact: Rigid | Compliant = PLASTIC, ideal: bool = False) -> Model:
    """Slider with clearance on a fixed rod, pulled along it: cases 1 to 3 of the prismatic-joint paper.

    The slider starts centred, aligned and at rest. Case 1: the force acts at the centre of mass, the slider drops flat.
    Case 2: it acts 0.5 mm above, so that the ends land one after the other and rattle to rest. Case 3: it acts 10 mm
    above and there is no gravity, so that the slider jams at two opposite corners. The rod is taken as long enough:
    with the 100 mm of Table 1 the slider's own end would leave it at 89.4 ms.

    Parameters
    ----------
    case : 1, 2 or 3
    contact : Rigid or Compliant
        Rigid, frictionless and plastic, as in the paper, by default.
    ideal : bool
        True for the slider without clearance.

    Raises
    ------
    InputError
        For another case.

    >>> slider_rod(case=2).build().parameters["push.at_y"]
    0.0005
    """
    if not isinstance(case, int) or case not in OFFSETS:
        raise InputError(f"slider-rod has the cases 1, 2 and 3, got {case!r}.")
    value = {name: float(origin.value) for name, origin in ORIGINS.items() if not isinstance(origin.value, str)}
    model = Model(
        name=f"slider-rod, case {case}",
        provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name},
        silence=["no-gravity"],
    )
    rod = model.add(Ground("rod"))
    slider = model.add(PlanarBody("slider", mass=value["slider.mass"], inertia=value["slider.inertia"]))
    model.add(
        PrismaticClearance(
            "guide",
            rod,
            slider,
            length=value["guide.length"],
            height=value["guide.height"],
            clearance=value["guide.clearance"],
            contact=contact,
        )
    )
    gravity = 0.0 if case == 3 else value["gravity.acceleration_y"]
    model.add(Gravity(acceleration=(0.0, gravity)))
    model.add(PointForce("push", slider, force=(value["push.force_x"], 0.0), at=(0.0, OFFSETS[case])))
    return model.ideal() if ideal else model
