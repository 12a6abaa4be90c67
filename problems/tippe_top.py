"""A tippe top: spun on its round head it turns over and spins on its stem."""

from __future__ import annotations

from dataclasses import asdict
from math import cos, isfinite

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.contacts import SpherePlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.rotations import about

__all__ = ["REFERENCE", "tippe_top"]

SOURCE = (
    "Leine, Glocker: A set-valued force law for spatial Coulomb-Contensou friction, Eur. J. Mech. A/Solids 22 (2003), "
    "193-216"
)
QUOTED = "the paper, as commonly quoted"
SLIDING = Rigid(restitution=0.0, friction=0.03)
MASS, GRAVITY = 6e-3, 9.81
INERTIA = (8e-7, 8e-7, 7e-7)
#: radii of head and stem, and how far their centres are above the centre of mass on the axis of the top that stands
HEAD, STEM, HEAD_AT, STEM_AT = 0.015, 0.005, 0.003, 0.016
SPIN, TILT = 180.0, 0.3

#: by time [s] the centre of mass [m] and the angular velocity in the axes of the top [rad/s], while the head slides;
#: Dormand and Prince's method of order 8 at a tolerance of 1e-13: correct to about 1e-9 m and 1e-7 rad/s
REFERENCE = {
    3.0: ((-0.140610196, 0.578489960, 0.012095613), (15.9598168, -29.9760498, 165.4254840)),
    8.0: ((0.441885005, 1.158380384, 0.013951101), (23.0716140, -116.1646360, 62.6529709)),
    12.0: ((0.520242466, 1.258930863, 0.016758357), (-67.0675741, 52.9611529, -72.3060293)),
}

ORIGINS = {
    "spin": Provenance(SPIN, "rad/s", "given", QUOTED, "about the axis of the top"),
    "tilt": Provenance(TILT, "rad", "assumed", "of the axis at the start; 0.1 in the paper"),
    "top.mass": Provenance(MASS, "kg", "given", QUOTED),
    "top.inertia_xx": Provenance(INERTIA[0], "kg m^2", "given", QUOTED, "across the axis"),
    "top.inertia_yy": Provenance(INERTIA[1], "kg m^2", "given", QUOTED, "across the axis"),
    "top.inertia_zz": Provenance(INERTIA[2], "kg m^2", "given", QUOTED, "about the axis"),
    "head.radius": Provenance(HEAD, "m", "given", QUOTED),
    "head.at_b_z": Provenance(HEAD_AT, "m", "given", QUOTED, "the centre of mass lies below that of the head"),
    "stem.radius": Provenance(STEM, "m", "given", QUOTED),
    "stem.at_b_z": Provenance(STEM_AT, "m", "given", QUOTED),
    "head.restitution": Provenance(0.0, "-", "given", QUOTED),
    "head.friction": Provenance(
        0.03, "-", "assumed", "0.3 in the paper, with drilling: without it the head would stick"
    ),
    "stem.restitution": Provenance(0.0, "-", "given", QUOTED),
    "stem.friction": Provenance(0.03, "-", "assumed", "as the head"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "given", QUOTED),
}

PANELS = (
    ("Height of the centre of mass", "m", (("q", "top.z", "z"),)),
    ("Spin, about the top's axis", "rad/s", (("v", "top.wz", "z"),)),
    ("Normal forces", "N", (("lam_N", "head", "head"), ("lam_N", "stem", "stem"))),
)


@problem(
    tags=("spatial", "friction", "gyroscopic"),
    t_end=16,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def tippe_top(contact: Rigid | Compliant = SLIDING, spin: float = SPIN, tilt: float = TILT) -> Model:
    """Tippe top of Leine and Glocker: spun on its head, it raises its centre of mass and turns over onto its stem.

    The friction of the sliding head drives the inversion. In the paper it is reduced by drilling friction, which is
    left out here: a point with the paper's friction of 0.3 soon rolls, and the top does not invert. With 0.03 the head
    slides all the time, until the stem touches after 12.7 s.

    Parameters
    ----------
    contact : Rigid or Compliant
        Friction 0.03 by default.
    spin : [rad/s]
        About the axis of the top at the start, its centre of mass at rest.
    tilt : [rad]
        Of the axis at the start.

    Raises
    ------
    InputError
        For a number that is not finite.

    >>> tippe_top().build()
    System('tippe top': 6 velocities, 0 constraints, 2 contacts, 35 parameters)
    """
    for name, value in (("spin", spin), ("tilt", tilt)):
        if not isfinite(value):
            raise InputError(f"{name} must be a finite number, got {value!r}.")
    known = {name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    model = Model(name="tippe top", provenance=known)
    ground = model.add(Ground("ground"))
    top = model.add(
        SpatialBody(
            "top", mass=MASS, inertia=INERTIA, position=(0.0, 0.0, HEAD - HEAD_AT * cos(tilt)),
            quaternion=about("x", tilt), angular_velocity=(0.0, 0.0, spin),
        )
    )  # fmt: skip
    for name, radius, at in (("head", HEAD, HEAD_AT), ("stem", STEM, STEM_AT)):
        model.add(
            SpherePlane(name, ground, top, radius=radius, at_b=(0.0, 0.0, at), normal=(0.0, 0.0, 1.0), contact=contact)
        )
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
