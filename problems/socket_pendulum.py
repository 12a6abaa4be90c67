"""A rod that hangs from a ball in a socket with clearance, and swings: a double pendulum with a very short member."""

from __future__ import annotations

from dataclasses import asdict

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import SphericalClearance
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.socket_pendulum_exact import GRAVITY, INERTIA, LENGTH, MASS, SocketPendulum

__all__ = ["socket_pendulum"]

SMOOTH = Rigid(restitution=0.0, friction=0.0)
BALL = 0.01

ORIGINS = {
    "clearance": Provenance(1e-4, "m", "assumed", "usual of ball joints of this size"),
    "velocity_x": Provenance(0.3, "m/s", "assumed", "a swing in space, not in a plane"),
    "velocity_y": Provenance(0.8, "m/s", "assumed", "a swing of 29 degrees"),
    "rod.mass": Provenance(MASS, "kg", "assumed", "round value"),
    "rod.inertia_xx": Provenance(INERTIA[0], "kg m^2", "assumed", "homogeneous slender rod of 0.2 m"),
    "rod.inertia_zz": Provenance(INERTIA[2], "kg m^2", "assumed", "no influence without friction"),
    "pivot.radius": Provenance(BALL, "m", "assumed", "a tenth of the rod's half length"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "the ball stays in contact"),
    "friction": Provenance(0.0, "-", "assumed", "the exact motion is frictionless"),
}

PANELS = (
    ("Centre of the rod", "m", tuple(("q", f"rod.{axis}", axis) for axis in "xy")),
    ("Angular velocity", "rad/s", tuple(("v", f"rod.w{axis}", axis) for axis in "xyz")),
    ("Force of the socket", "N", (("lam_N", "pivot", "pivot"),)),
)


def _check(clearance: float, *velocity: float) -> None:
    if not 0.0 < clearance < BALL:
        raise InputError(f"clearance must lie between 0 and the ball's radius, {BALL:g} m, got {clearance!r}.")
    for value in velocity:
        if not abs(value) < float("inf"):
            raise InputError(f"velocity must be a finite number of m/s, got {value!r}.")


def _exact(
    contact: Rigid = SMOOTH, clearance: float = 1e-4, velocity_x: float = 0.3, velocity_y: float = 0.8
) -> SocketPendulum:
    _check(clearance, velocity_x, velocity_y)
    if contact.friction > 0.0:
        raise InputError(f"The exact motion in the socket is frictionless, got friction = {contact.friction:g}.")
    return SocketPendulum(clearance, (velocity_x, velocity_y))


@problem(
    tags=("spatial", "spherical", "clearance", "friction", "exact"),
    t_end=0.1,
    source="A benchmark of spherical joints with clearance; numbers are ours",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def socket_pendulum(
    contact: Rigid | Compliant = SMOOTH, clearance: float = 1e-4, velocity_x: float = 0.3, velocity_y: float = 0.8
) -> Model:
    """Rod on a ball in a socket with clearance: it hangs, and its lower end gets a velocity across.

    The ball rests on the bottom of the socket at first and stays in contact. Without friction its centre moves on a
    sphere of the clearance as radius: a double pendulum, whose upper member of 0.1 mm swings 100 times a second.

    Parameters
    ----------
    contact : Rigid or Compliant
        Plastic and frictionless by default.
    clearance : [m], in (0, 0.01)
        Difference of the radii; the ball has a radius of 10 mm.
    velocity_x, velocity_y : [m/s]
        Of the lower end at the start; the ball is at rest.

    Raises
    ------
    InputError
        For a clearance out of range or a velocity that is not finite.

    >>> socket_pendulum().build()
    System('pendulum in a socket': 6 velocities, 0 constraints, 1 contacts, 18 parameters)
    """
    _check(clearance, velocity_x, velocity_y)
    known = {key: asdict(one) for key, one in ORIGINS.items() if "." in key}
    known |= {f"pivot.{key}": asdict(ORIGINS[key]) for key in ("clearance", "restitution", "friction")}
    model = Model(name="pendulum in a socket", provenance=known)
    model.add(Ground())
    model.add(
        SpatialBody(
            "rod", mass=MASS, inertia=INERTIA, position=(0.0, 0.0, -clearance - LENGTH / 2.0),
            velocity=(velocity_x / 2.0, velocity_y / 2.0, 0.0),
            angular_velocity=(velocity_y / LENGTH, -velocity_x / LENGTH, 0.0),
        )
    )  # fmt: skip
    top = (0.0, 0.0, LENGTH / 2.0)
    pivot = SphericalClearance("pivot", "ground", "rod", at_b=top, clearance=clearance, radius=BALL, contact=contact)
    model.add(pivot)
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
