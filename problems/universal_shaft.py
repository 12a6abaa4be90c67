"""Two shafts at an angle, coupled by a universal joint: the speed of the driven shaft is not uniform."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import cos, inf, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.joints import ParallelAxes, Revolute, Universal
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp
from nonsmooth_problems.rotations import about, product, vector
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["UniversalShaft", "universal_shaft"]

MASS, INERTIA, CROSS_MASS, CROSS_INERTIA = 1.0, (2e-3, 5e-3, 5e-3), 0.1, 2e-5
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

ORIGINS = {
    "speed": Provenance(10.0, "rad/s", "assumed", "round value"),
    "bend": Provenance(0.6, "rad", "assumed", "34 degrees: the driven shaft is between 0.83 and 1.21 times as fast"),
    "driving.mass": Provenance(MASS, "kg", "assumed", "no influence"),
    "driving.inertia_xx": Provenance(INERTIA[0], "kg m^2", "assumed", "no influence at constant speed"),
    "driven.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "driven.inertia_xx": Provenance(INERTIA[0], "kg m^2", "assumed", "a steel disc of 0.13 m: sets the motor's torque"),
    "cross.mass": Provenance(CROSS_MASS, "kg", "assumed", "where the cross is a body"),
}

PANELS = (
    ("Angular velocities", "rad/s", (("v", "driving.wx", "driving"), ("v", "driven.wx", "driven"))),
    ("Torque of the motor", "N m", (("reaction", "motor.torque_x", "motor"),)),
    ("Orientation of the driven shaft", "", tuple(("q", f"driven.{axis}", axis) for axis in ("qw", "qx", "qy", "qz"))),
)


@dataclass(frozen=True)
class UniversalShaft:
    """Exact motion: with theta = omega t of the driving shaft, counted from where its arm is normal to both shafts.

    The arms of the cross are perpendicular, so the driven shaft turns by tan(phi) = cos(beta) tan(theta), with the rate
    ``phi' = omega cos(beta)/(1 - sin^2(beta) sin^2(theta))``. The cross turns about its arm in the driving shaft by
    gamma, sin(gamma) = sin(beta) cos(phi). Without the inertia of a cross the motor's torque is J phi'' phi'/omega, by
    the balance of power.

    >>> round(float(UniversalShaft(10.0, 0.6).rate(0.0)), 6)
    8.253356
    """

    speed: float
    bend: float
    cross: bool = False

    @property
    def events(self) -> Array:
        """No events: no times."""
        return np.zeros(0)

    def angle(self, t: ArrayLike) -> Array:
        """phi [rad] of the driven shaft, of any number of turns."""
        theta = self.speed * np.asarray(t, float)
        s, c = np.sin(theta), np.cos(theta)
        turned: Array = theta + np.arctan2((cos(self.bend) - 1.0) * s * c, c * c + cos(self.bend) * s * s)
        return turned

    def rate(self, t: ArrayLike) -> Array:
        """phi' [rad/s]."""
        s = np.sin(self.speed * np.asarray(t, float))
        return np.asarray(self.speed * cos(self.bend) / (1.0 - sin(self.bend) ** 2 * s * s))

    def acceleration(self, t: ArrayLike) -> Array:
        """phi'' [rad/s^2]."""
        turned = np.sin(2.0 * self.speed * np.asarray(t, float))
        return np.asarray(self.rate(t) ** 2 * sin(self.bend) ** 2 * turned / cos(self.bend))

    def torque(self, t: ArrayLike) -> Array:
        """Of the motor [N m], where the cross is no body."""
        return np.asarray(INERTIA[0] * self.acceleration(t) * self.rate(t) / self.speed)

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`."""
        time: Array = times(t, side)
        phi, rate, none = self.angle(time), self.rate(time), np.zeros_like(time)
        first, second = _turned(self.speed * time, X), _turned(phi, X)
        parts = {
            "driving": (first, (none + self.speed, none, none)),
            "driven": (product(np.broadcast_to(about("z", self.bend), second.shape), second), (rate, none, none)),
        }
        if self.cross:
            # sin(gamma) = sin(beta) cos(phi); its cosine does not vanish
            sine = sin(self.bend) * np.cos(phi)
            cosine = np.sqrt(1.0 - sine * sine)
            turned = -sin(self.bend) * np.sin(phi) * rate / cosine
            gamma = np.arctan2(sine, cosine)
            spin = (self.speed * cosine, -self.speed * sine, turned)
            parts["cross"] = (product(first, _turned(gamma, Z)), spin)
        q: dict[str, Array] = {}
        v: dict[str, Array] = {}
        for body, (turn, spin) in parts.items():
            placed = (none, none, none, *np.moveaxis(turn, -1, 0))
            q |= {f"{body}.{k}": x for k, x in zip(("x", "y", "z", "qw", "qx", "qy", "qz"), placed, strict=True)}
            moved = (none, none, none, *spin)
            v |= {f"{body}.{k}": x for k, x in zip(("x", "y", "z", "wx", "wy", "wz"), moved, strict=True)}
        return Sample(t=time, q=q, v=v, gap={}, lam_N={}, impulse={})


def _turned(angle: Array, axis: tuple[float, float, float]) -> Array:
    """Quaternions (..., 4) of rotations about a coordinate axis."""
    return np.stack([np.cos(angle / 2.0), *(np.sin(angle / 2.0) * one for one in axis)], axis=-1)


def _check(speed: float, bend: float) -> None:
    if not 0.0 < abs(speed) < inf:
        raise InputError(f"speed must be a finite number of rad/s, not zero, got {speed!r}.")
    if not -pi / 2.0 < bend < pi / 2.0:
        raise InputError(f"bend must lie in (-pi/2, pi/2) rad, got {bend!r}.")


def _exact(speed: float = 10.0, bend: float = 0.6, cross: bool = False) -> UniversalShaft:
    _check(speed, bend)
    return UniversalShaft(speed, bend, cross)


@problem(
    tags=("spatial", "universal", "driven", "exact"),
    t_end=1,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def universal_shaft(speed: float = 10.0, bend: float = 0.6, cross: bool = False) -> Model:
    """Two shafts whose axes meet at an angle, coupled by a universal joint, the first driven at constant speed.

    Twice per revolution the second is faster and slower than the first, between cos(bend) and 1/cos(bend) times its
    speed; the torque required has a mean of zero. There are no contacts.

    Parameters
    ----------
    speed : [rad/s], not 0
        Of the driving shaft.
    bend : [rad], in (-pi/2, pi/2)
        Angle between the shafts.
    cross : bool
        True for a cross that is a body, on two revolute joints instead of the universal joint.

    Raises
    ------
    InputError
        For a speed of zero or an angle out of range.

    >>> universal_shaft().build()
    System('universal shaft': 12 velocities, 12 constraints, 0 contacts, 47 parameters)
    """
    _check(speed, bend)
    bodies = ("driving", "driven", "cross")[: 3 if cross else 2]
    known = {key: asdict(one) for key, one in ORIGINS.items() if key.partition(".")[0] in bodies}
    model = Model(name="universal shaft", provenance=known, silence=["no-gravity"])
    model.add(Ground())
    exact = UniversalShaft(speed, bend, cross)
    start, rates = exact.sample(0.0).q, exact.sample(0.0).v
    for body in bodies:
        w, x, y, z = (float(start[f"{body}.{k}"]) for k in ("qw", "qx", "qy", "qz"))
        spin = vector(np.array([rates[f"{body}.{k}"] for k in ("wx", "wy", "wz")]))
        mass, inertia = (CROSS_MASS, (CROSS_INERTIA,) * 3) if body == "cross" else (MASS, INERTIA)
        model.add(SpatialBody(body, mass=mass, inertia=inertia, quaternion=(w, x, y, z), angular_velocity=spin))
    model.add(Revolute("bearing", "ground", "driving", axis_a=X, axis_b=X))
    model.add(PrescribedMotion("motor", "ground", "driving", coordinate="angle", motion=Ramp(speed), axis_a=X))
    if cross:
        model.add(Revolute("first_arm", "driving", "cross", axis_a=Z, axis_b=Z))
        model.add(Revolute("second_arm", "cross", "driven", axis_a=Y, axis_b=Y))
    else:
        model.add(Universal("joint", "driving", "driven", axis_a=Z, axis_b=Y))
    # the joint fixes the position of the driven shaft, so its bearing constrains the direction only
    model.add(ParallelAxes("support", "ground", "driven", axis_a=(cos(bend), sin(bend), 0.0), axis_b=X))
    return model
