"""A block on an inclined plane with Coulomb friction: it slides, or it sticks permanently."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import cos, inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import PointPlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["BlockOnIncline", "block_on_incline"]

ROUGH = Rigid(restitution=0.0, friction=0.4)
MASS, GRAVITY = 1.0, 9.81
HALF_LENGTH, HALF_HEIGHT = 0.1, 0.05

ORIGINS = {
    "angle": Provenance(0.3, "rad", "assumed", "below the friction angle, atan 0.4 = 0.381 rad"),
    "speed": Provenance(1.0, "m/s", "assumed", "up the plane, so that the block slides before it sticks"),
    "block.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "block.inertia": Provenance(
        MASS * (HALF_LENGTH**2 + HALF_HEIGHT**2) / 3.0, "kg m^2", "assumed", "homogeneous, 0.2 m x 0.1 m"
    ),
    "left.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "left.friction": Provenance(0.4, "-", "assumed", "textbook value"),
    "right.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "right.friction": Provenance(0.4, "-", "assumed", "textbook value"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "friction": Provenance(0.4, "-", "assumed", "textbook value"),
}

PANELS = (
    ("Position", "m", (("q", "block.x", "x"), ("q", "block.y", "y"))),
    ("Velocity", "m/s", (("v", "block.x", "x"), ("v", "block.y", "y"))),
    ("Normal forces", "N", (("lam_N", "left", "lower corner"), ("lam_N", "right", "upper corner"))),
)


@dataclass(frozen=True)
class BlockOnIncline:
    """Exact motion along the plane, s counted upwards.

    Sliding up the block is slowed by g (sin a + mu cos a), sliding down it is driven by g (sin a - mu cos a). At rest
    it sticks if tan a <= mu, with the friction force m g sin a. Friction F at the base shifts the normal forces,
    N_left - N_right = F (half height)/(half length); it must not tip the block.

    Parameters
    ----------
    angle
        a [rad], in [0, pi/2).
    friction
        mu [-], >= 0.
    speed
        Up the plane at the start [m/s]; negative for down.

    Raises
    ------
    InputError
        For a value out of range, or where the block would tip over.

    >>> round(BlockOnIncline(0.0, 0.5, 1.0).stop_time, 4)
    0.2039
    """

    angle: float
    friction: float
    speed: float

    def __post_init__(self) -> None:
        _check(self.angle, self.speed)
        a, mu = self.angle, self.friction
        held = self.speed == 0.0 and self.sticks
        load = sin(a) / cos(a) if held else mu
        if load * HALF_HEIGHT > HALF_LENGTH:
            raise InputError(
                f"Friction {mu:g} would tip the block over; it stands up to {HALF_LENGTH / HALF_HEIGHT:g}."
            )

    @property
    def sticks(self) -> bool:
        """Whether the block sticks when at rest."""
        return sin(self.angle) <= self.friction * cos(self.angle)

    def acceleration(self, direction: float) -> float:
        """Along the plane [m/s^2], while sliding in the direction of that sign."""
        return -GRAVITY * (sin(self.angle) + float(np.sign(direction)) * self.friction * cos(self.angle))

    @property
    def stop_time(self) -> float:
        """When the first sliding ends [s]: 0 for a start at rest, infinite if it never does."""
        if self.speed == 0.0:
            return 0.0
        stop = -self.speed / (self.acceleration(self.speed) or -inf)
        return stop if stop > 0.0 else inf

    @property
    def events(self) -> Array:
        """Time at which the sliding stops or turns."""
        stop = self.stop_time
        return np.array([stop] if 0.0 < stop < inf else [])

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`; forces jump where the sliding ends."""
        time: Array = times(t, side)
        a, mu, stop = self.angle, self.friction, self.stop_time
        first, later = self.acceleration(self.speed), 0.0 if self.sticks else self.acceleration(-1.0)
        tau, rest = np.minimum(time, stop), time - np.minimum(time, stop)
        s = tau * (self.speed + first * tau / 2.0) + later * rest**2 / 2.0
        rate = np.where(rest > 0.0, later * rest, self.speed + first * tau if self.speed else 0.0)
        rate = np.where(time == stop, 0.0, rate)
        # friction up the plane, as a part of m g
        down = mu * cos(a)
        ending = sin(a) if self.sticks else down
        past = time >= stop if side == "right" else time > stop
        push = MASS * GRAVITY * np.where(past, ending, -np.sign(self.speed) * down)
        total = MASS * GRAVITY * (-np.sign(self.speed) * down * tau + ending * rest)
        weight, lever = MASS * GRAVITY * cos(a), HALF_HEIGHT / HALF_LENGTH
        none = np.zeros_like(time)
        along, up = np.array([cos(a), sin(a)]), np.array([-sin(a), cos(a)]) * HALF_HEIGHT
        return Sample(
            t=time,
            q={"block.x": up[0] + along[0] * s, "block.y": up[1] + along[1] * s, "block.angle": a + none},
            v={"block.x": along[0] * rate, "block.y": along[1] * rate, "block.angle": none},
            gap={"left": none, "right": none},
            lam_N={"left": (weight + lever * push) / 2.0, "right": (weight - lever * push) / 2.0},
            impulse={"left": (weight * time + lever * total) / 2.0, "right": (weight * time - lever * total) / 2.0},
        )


def _check(angle: float, speed: float) -> None:
    if not 0.0 <= angle < pi / 2:
        raise InputError(f"angle must lie in [0, pi/2) rad, got {angle!r}.")
    if not isfinite(speed):
        raise InputError(f"speed must be a finite number of m/s, got {speed!r}.")


def _exact(angle: float = 0.3, speed: float = 1.0, contact: Rigid = ROUGH) -> BlockOnIncline:
    return BlockOnIncline(angle, contact.friction, speed)


@problem(
    tags=("planar", "friction", "stick", "exact"),
    t_end=0.3,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def block_on_incline(angle: float = 0.3, speed: float = 1.0, contact: Rigid = ROUGH) -> Model:
    """Block on an inclined plane: it slides up, stops, and sticks below the friction angle.

    The block stands on two corners. Where both stick, only the sum of the two friction forces is determined: the
    Delassus matrix of the four contact directions of a planar body is singular.

    Parameters
    ----------
    angle : [rad], in [0, pi/2)
        Of the plane, rising along x.
    speed : [m/s]
        Of the block at the start, up the plane.
    contact : Rigid
        Friction 0.4 by default.

    Raises
    ------
    InputError
        For another angle or speed.

    >>> block_on_incline(angle=0.5, speed=0.0).build().start.q.round(3)
    array([-0.024,  0.044,  0.5  ])
    """
    _check(angle, speed)
    model = Model(
        name="block on incline", provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    )
    plane = model.add(Ground("plane"))
    block = model.add(
        PlanarBody(
            "block",
            mass=MASS,
            inertia=MASS * (HALF_LENGTH**2 + HALF_HEIGHT**2) / 3.0,
            position=(-HALF_HEIGHT * sin(angle), HALF_HEIGHT * cos(angle)),
            angle=angle,
            velocity=(speed * cos(angle), speed * sin(angle)),
        )
    )
    for name, place in (("left", -HALF_LENGTH), ("right", HALF_LENGTH)):
        model.add(PointPlane(name, plane, block, direction=angle, at_b=(place, -HALF_HEIGHT), contact=contact))
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
