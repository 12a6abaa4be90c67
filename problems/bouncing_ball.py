"""A ball dropped on a fixed floor: impacts that accumulate in finite time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import CirclePlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["BouncingBall", "bouncing_ball"]

ELASTIC = Rigid(restitution=0.9, friction=0.0)
MASS, RADIUS, GRAVITY = 1.0, 0.1, 9.81
#: impacts of speeds below this part of the first are not listed
REST = 1e-16
LISTED = 2_000

ORIGINS = {
    "height": Provenance(0.9, "m", "assumed", "a common benchmark", "of the ball's lowest point at the start"),
    "ball.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "ball.inertia": Provenance(0.4 * MASS * RADIUS**2, "kg m^2", "assumed", "solid sphere"),
    "floor.radius": Provenance(RADIUS, "m", "assumed", "no influence on the motion"),
    "floor.restitution": Provenance(0.9, "-", "assumed", "a common benchmark"),
    "floor.friction": Provenance(0.0, "-", "assumed", "no influence on the motion"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.9, "-", "assumed", "a common benchmark"),
    "friction": Provenance(0.0, "-", "assumed", "no influence on the motion"),
}

PANELS = (
    ("Height above the floor", "m", (("gap", "floor", "gap"),)),
    ("Velocity", "m/s", (("v", "ball.y", "vertical"),)),
    ("Impulse of the floor", "N s", (("impulse", "floor", "since the start"),)),
)


@dataclass(frozen=True)
class BouncingBall:
    """Exact motion of the ball.

    With t_1 = sqrt(2 h/g) the impacts are at t_k = t_1 (1 + 2 (e + ... + e^(k-1))), of approach speed e^(k-1) g t_1;
    they accumulate at t_1 (1 + e)/(1 - e), where the ball comes to rest.

    Parameters
    ----------
    height
        h [m], > 0.
    restitution
        e [-], in [0, 1].
    gravity
        g [m/s^2], > 0.

    Raises
    ------
    InputError
        For a value out of range.

    >>> round(BouncingBall(0.9, 0.9).rest_time, 4)
    8.1387
    """

    height: float
    restitution: float
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        if not 0.0 < self.height < inf:
            raise InputError(f"height must be a positive number of metres, got {self.height!r}.")
        if not 0.0 <= self.restitution <= 1.0:
            raise InputError(f"restitution must lie in [0, 1], got {self.restitution!r}.")

    @property
    def fall(self) -> float:
        """Time of the first impact [s]."""
        return sqrt(2.0 * self.height / self.gravity)

    @property
    def rest_time(self) -> float:
        """End of the bouncing [s], infinite for e = 1."""
        e = self.restitution
        return self.fall * (1.0 + e) / (1.0 - e) if e < 1.0 else inf

    def impact_time(self, k: ArrayLike) -> Array:
        """Time [s] of the k-th impact, k = 1, 2, ..."""
        before, e = np.asarray(k, float) - 1.0, self.restitution
        if e == 1.0:
            return self.fall * (1.0 + 2.0 * before)
        if e == 0.0:
            return self.fall * np.ones_like(before)
        return self.fall * (1.0 - 2.0 * e * np.expm1(before * np.log(e)) / (1.0 - e))

    def impact_impulse(self, k: ArrayLike) -> Array:
        """Impulse [N s] of the k-th impact."""
        e = self.restitution
        return MASS * (1.0 + e) * self.gravity * self.fall * e ** (np.asarray(k, float) - 1.0)

    @property
    def events(self) -> Array:
        """Times of the impacts, as far as they are not too weak or too many, and of rest."""
        e = self.restitution
        count = LISTED if e == 1.0 else 1 if e == 0.0 else min(LISTED, int(np.log(REST) / np.log(e)))
        found = self.impact_time(np.arange(1, count + 1))
        return found if e in (0.0, 1.0) else np.append(found, self.rest_time)

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`; at an impact the left or the right limit."""
        time: Array = times(t, side)
        k, e, g = self._impacts_before(time, side), self.restitution, self.gravity
        bouncing, rest = k > 0, (time >= self.rest_time if side == "right" else time > self.rest_time)
        start = np.where(bouncing, self.impact_time(np.maximum(k, 1)), 0.0)
        up = np.where(bouncing, g * self.fall * e ** np.maximum(k, 1), 0.0)
        tau = time - start
        gap = np.where(bouncing, 0.0, self.height) + tau * (up - g * tau / 2.0)
        gap, speed = np.where(rest, 0.0, gap), np.where(rest, 0.0, up - g * tau)
        # the impulse is what has stopped the fall
        impulse = MASS * (speed + g * time)
        none = np.zeros_like(time)
        return Sample(
            t=time,
            q={"ball.x": none, "ball.y": RADIUS + gap, "ball.angle": none},
            v={"ball.x": none, "ball.y": speed, "ball.angle": none},
            gap={"floor": gap},
            lam_N={"floor": np.where(rest, MASS * g, 0.0)},
            impulse={"floor": impulse},
        )

    def _impacts_before(self, t: Array, side: Side) -> Array:
        """Number of impacts up to t (right) or before t (left)."""
        e = self.restitution
        with np.errstate(divide="ignore", invalid="ignore"):
            if e == 1.0:
                k = np.floor((t / self.fall + 1.0) / 2.0)
            elif e == 0.0:
                k = np.where(t < self.fall, 0.0, 1.0)
            else:
                left = 1.0 - (t / self.fall - 1.0) * (1.0 - e) / (2.0 * e)
                k = 1.0 + np.floor(np.log(np.clip(left, REST, None)) / np.log(e))
        k = np.where(t < self.fall, 0.0, np.maximum(k, 1.0))
        past = np.less_equal if side == "right" else np.less
        for _ in range(2):  # round-off at an impact moves the count by one
            k = np.where((k > 0) & ~past(self.impact_time(np.maximum(k, 1)), t), k - 1, k)
        return np.where(past(self.impact_time(k + 1), t) & (e > 0.0), k + 1, k)


def _exact(height: float = 0.9, contact: Rigid = ELASTIC) -> BouncingBall:
    return BouncingBall(height, contact.restitution)


@problem(
    tags=("planar", "impact", "accumulation", "exact"),
    t_end=8.2,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def bouncing_ball(height: float = 0.9, contact: Rigid = ELASTIC) -> Model:
    """Ball dropped on a fixed floor, at rest after infinitely many impacts in finite time.

    With the default values the first impact is at 0.42835 s and the accumulation point at 8.1387 s. A scheme that
    locates impacts needs a rule to cross the accumulation; constant steps do not resolve it.

    Parameters
    ----------
    height : [m], > 0
        Gap at the start.
    contact : Rigid
        Restitution 0.9, the usual benchmark, by default. Friction has no influence: nothing slips.

    Raises
    ------
    InputError
        For another height.

    >>> bouncing_ball().build().parameters["floor.restitution"]
    0.9
    """
    if not 0.0 < height < inf:
        raise InputError(f"height must be a positive number of metres, got {height!r}.")
    model = Model(
        name="bouncing ball", provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    )
    ground = model.add(Ground("ground"))
    ball = model.add(PlanarBody("ball", mass=MASS, inertia=0.4 * MASS * RADIUS**2, position=(0.0, RADIUS + height)))
    model.add(CirclePlane("floor", ground, ball, radius=RADIUS, contact=contact))
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
