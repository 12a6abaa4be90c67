"""A rattleback: an ellipsoid that rolls on a plane, spins well in one direction and reverses from the other."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite, radians

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.contacts import EllipsoidPlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.rotations import about, matrix, product, vector

__all__ = ["REFERENCE", "rattleback"]

SOURCE = (
    "Kane, Levinson: Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. 17 (1982), 175-186; "
    "Garcia, Hubbard: Spin reversal of the rattleback: theory and experiment, Proc. R. Soc. Lond. A 418 (1988), 165-197"
)
QUOTED = "the first paper, as commonly quoted"
ROUGH = Rigid(restitution=0.0, friction=1.0)
SEMI_AXES, DEPTH = (0.2, 0.03, 0.02), 0.01
MASS, GRAVITY = 1.0, 9.81
#: Jxx, Jyy, Jzz, Jxy, Jxz, Jyz in the axes of the ellipsoid
INERTIA = (2e-4, 1.6e-3, 1.7e-3, -2e-5, 0.0, 0.0)
TILT, SPIN = radians(0.5), -5.0

#: by time [s] the centre of mass [m] and the angular velocity in the axes of the stone [rad/s], rolling without slip;
#: Dormand and Prince's method of order 8 at a tolerance of 1e-13, of which the last digits are rounded
REFERENCE = {
    1.0: ((0.00117807773, 0.00141315546, 0.01058353354), (5.1875405, 1.6094916, -3.0479138)),
    3.0: ((-0.00001477606, 0.00045420931, 0.01248558403), (-0.2367866, -0.4744310, 0.2445336)),
    5.0: ((-0.00158158711, 0.00170923530, 0.01019174762), (-1.6414053, -2.0013930, 4.2949384)),
}

ORIGINS = {
    "spin": Provenance(SPIN, "rad/s", "given", QUOTED, "about the vertical; the other sign spins on"),
    "tilt": Provenance(TILT, "rad", "given", QUOTED, "about the long and about the short axis, 0.5 degrees"),
    "stone.mass": Provenance(MASS, "kg", "given", QUOTED),
    "stone.inertia_xx": Provenance(INERTIA[0], "kg m^2", "given", QUOTED, "about the centre of mass, long axis"),
    "stone.inertia_yy": Provenance(INERTIA[1], "kg m^2", "given", QUOTED),
    "stone.inertia_zz": Provenance(INERTIA[2], "kg m^2", "given", QUOTED),
    "stone.inertia_xy": Provenance(INERTIA[3], "kg m^2", "given", QUOTED, "its sign is the direction that reverses"),
    "floor.semi_axes_x": Provenance(SEMI_AXES[0], "m", "given", QUOTED),
    "floor.semi_axes_y": Provenance(SEMI_AXES[1], "m", "given", QUOTED),
    "floor.semi_axes_z": Provenance(SEMI_AXES[2], "m", "given", QUOTED),
    "floor.at_b_z": Provenance(DEPTH, "m", "given", QUOTED, "the centre of mass lies below that of the ellipsoid"),
    "floor.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "floor.friction": Provenance(1.0, "-", "assumed", "the paper rolls without slip"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "given", QUOTED),
}

PANELS = (
    ("Spin, about the stone's axis", "rad/s", (("v", "stone.wz", "z"),)),
    ("Angular velocity across the axis", "rad/s", (("v", "stone.wx", "long axis"), ("v", "stone.wy", "short axis"))),
    ("Normal force", "N", (("lam_N", "floor", "floor"),)),
)


@problem(
    tags=("spatial", "friction", "rolling"),
    t_end=5,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def rattleback(contact: Rigid | Compliant = ROUGH, spin: float = SPIN, tilt: float = TILT) -> Model:
    """Rattleback of Kane and Levinson: rolling, it reverses its spin without any torque about the vertical.

    Its axes of inertia are turned by 0.8 degrees against those of its surface, so that spin and rocking exchange
    energy: clockwise spin makes it rock, ever more, and then spin the other way.

    Parameters
    ----------
    contact : Rigid or Compliant
        Friction 1 by default, enough to roll.
    spin : [rad/s]
        About the vertical at the start.
    tilt : [rad]
        About the long, then about the short axis at the start.

    Raises
    ------
    InputError
        For a number that is not finite.

    >>> rattleback().build()
    System('rattleback': 6 velocities, 0 constraints, 1 contacts, 30 parameters)
    """
    for name, value in (("spin", spin), ("tilt", tilt)):
        if not isfinite(value):
            raise InputError(f"{name} must be a finite number, got {value!r}.")
    known = {name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    model = Model(name="rattleback", provenance=known)
    ground = model.add(Ground("ground"))
    w, x, y, z = product(np.array(about("x", tilt)), np.array(about("y", tilt))).tolist()
    turn = (w, x, y, z)
    normal = matrix(np.array(turn))[2]  # of the plane, in the axes of the stone
    below = np.square(SEMI_AXES) * normal
    arm = np.array([0.0, 0.0, DEPTH]) - below / np.sqrt(normal @ below)  # to the contact point
    omega = spin * normal
    stone = model.add(
        SpatialBody(
            "stone", mass=MASS, inertia=INERTIA, position=(0.0, 0.0, -float(normal @ arm)), quaternion=turn,
            velocity=vector(matrix(np.array(turn)) @ np.cross(arm, omega)), angular_velocity=vector(omega),
        )
    )  # fmt: skip
    model.add(
        EllipsoidPlane(
            "floor", ground, stone, semi_axes=SEMI_AXES, at_b=(0.0, 0.0, DEPTH), normal=(0.0, 0.0, 1.0), contact=contact
        )
    )
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
