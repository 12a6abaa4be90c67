"""A slider-crank whose slider has clearance in its guide: impacts, friction, long contacts along a line."""

from __future__ import annotations

from dataclasses import asdict

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.clearances import PrismaticClearance
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Prismatic, Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, StepSizeDefaults, problem

__all__ = ["slider_crank_translational"]

SOURCE = (
    "Flores, Leine, Glocker: Modeling and analysis of planar rigid multibody systems with translational clearance "
    "joints based on the non-smooth dynamics approach, Multibody Syst. Dyn. 23 (2010), 165-190, "
    "doi:10.1007/s11044-009-9178-y; "
    "numbers as in siconos-tutorials, examples/mechanics/SliderCrank/SCConst.h"
)
TABLE = "SCConst.h, after the paper's table"
CONTACT = Rigid(restitution=0.4, friction=0.01)
MIDDLE = "the mass matrix of the source has the centres of mass at mid-length"

ORIGINS = {
    "crank.length": Provenance(0.153, "m", "given", TABLE, "l1"),
    "crank.mass": Provenance(0.038, "kg", "given", TABLE, MIDDLE),
    "crank.inertia": Provenance(7.4e-5, "kg m^2", "given", TABLE),
    "rod.length": Provenance(0.306, "m", "given", TABLE, "l2"),
    "rod.mass": Provenance(0.038, "kg", "given", TABLE, MIDDLE),
    "rod.inertia": Provenance(5.9e-4, "kg m^2", "given", TABLE),
    "slider.mass": Provenance(0.076, "kg", "given", TABLE),
    "slider.inertia": Provenance(2.7e-6, "kg m^2", "given", TABLE),
    "guide.length": Provenance(0.1, "m", "given", TABLE, "2a"),
    "guide.height": Provenance(0.05, "m", "given", TABLE, "2b"),
    "guide.clearance": Provenance(1e-3, "m", "given", TABLE, "c; the guide is 2 (b + c) = 52 mm wide"),
    "guide.restitution": Provenance(0.4, "-", "given", TABLE, "e_N"),
    "guide.friction": Provenance(0.01, "-", "given", TABLE, "mu"),
    "guide.tangential": Provenance(0.0, "-", "given", TABLE, "e_T"),
    "gravity.acceleration_y": Provenance(-9.81, "m/s^2", "given", TABLE),
    "crank.angular_velocity": Provenance(150.0, "rad/s", "given", TABLE, "at the start; the crank is not driven"),
    "rod.angular_velocity": Provenance(-75.0, "rad/s", "given", TABLE, "at the start, follows from the crank's"),
    "tilt": Provenance(0.0, "rad", "given", TABLE, "angle of the slider at the start"),
}

PANELS = (
    ("Crank speed", "rad/s", (("v", "crank.angle", "crank"),)),
    ("Height of the slider", "mm", (("q", "slider.y", "centre"),)),
    ("Angle of the slider", "mrad", (("q", "slider.angle", "slider"),)),
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


@problem(
    tags=("planar", "prismatic", "clearance", "friction", "impact"),
    t_end=0.05,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
    step_size=StepSizeDefaults(
        t_end=6e-3, dt=2e-4, dt_max=2e-4, bounds=((1e-7, 1e-6, 1e-5, 1e-4), (2.5e-5, 5e-5, 1e-4, 2e-4))
    ),
)
def slider_crank_translational(contact: Rigid = CONTACT, clearance: bool = True, tilt: float = 0.0) -> Model:
    """Slider-crank with translational clearance of Flores, Leine and Glocker: frictional impacts at four corners.

    The crank starts stretched out at 150 rad/s and is not driven; gravity acts across the guide. The slider bounces
    between the walls, comes to rest on them along a line, and leaves again. As long as it does not tilt its corners
    impact in pairs. Simultaneous impacts of two corners and successive impacts have different results, however short
    the time between them: see the simultaneity window of `EventDriven`.

    Parameters
    ----------
    contact : Rigid
        At the corners; e = 0.4, mu = 0.01 by default.
    clearance : bool
        False for the ideal mechanism, with a prismatic joint as guide.
    tilt : [rad]
        Angle of the slider at the start.

    Raises
    ------
    InputError
        For an ideal guide with a tilted slider.

    >>> slider_crank_translational().build()
    System('slider-crank, translational clearance': 9 velocities, 6 constraints, 4 contacts, 31 parameters)
    """
    if tilt and not clearance:
        raise InputError(f"slider-crank-translational: an ideal guide admits no tilt, got tilt = {tilt!r}.")
    value = {name: float(origin.value) for name, origin in ORIGINS.items()}
    l1, l2 = value["crank.length"], value["rod.length"]
    spin_1, spin_2 = value["crank.angular_velocity"], value["rod.angular_velocity"]
    model = Model(
        name="slider-crank, " + ("translational clearance" if clearance else "ideal"),
        provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name},
    )
    ground = model.add(Ground())
    bodies = (
        ("crank", l1 / 2, (0.0, spin_1 * l1 / 2), 0.0, spin_1),
        ("rod", l1 + l2 / 2, (0.0, spin_1 * l1 + spin_2 * l2 / 2), 0.0, spin_2),
        ("slider", l1 + l2, (0.0, spin_1 * l1 + spin_2 * l2), tilt, 0.0),
    )
    crank, rod, slider = (
        model.add(
            PlanarBody(
                name,
                mass=value[f"{name}.mass"],
                inertia=value[f"{name}.inertia"],
                position=(x, 0.0),
                angle=angle,
                velocity=velocity,
                angular_velocity=spin,
            )
        )
        for name, x, velocity, angle, spin in bodies
    )
    model.add(Revolute("ground-crank", ground, crank, at_b=(-l1 / 2, 0.0)))
    model.add(Revolute("crank-rod", crank, rod, at_a=(l1 / 2, 0.0), at_b=(-l2 / 2, 0.0)))
    model.add(Revolute("rod-slider", rod, slider, at_a=(l2 / 2, 0.0)))
    if clearance:
        guide = PrismaticClearance(
            "guide",
            ground,
            slider,
            length=value["guide.length"],
            height=value["guide.height"],
            clearance=value["guide.clearance"],
            contact=contact,
        )
        model.add(guide)
    else:
        model.add(Prismatic("guide", ground, slider))
    model.add(Gravity(acceleration=(0.0, value["gravity.acceleration_y"])))
    return model
