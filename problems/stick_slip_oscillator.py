"""A block on a moving belt, attached to a spring: it sticks to the belt, slips back and oscillates."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import atan2, hypot, inf, isfinite, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import PointPlane
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity, Spring
from nonsmooth.model.joints import Prismatic
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["Phase", "StickSlip", "stick_slip_oscillator"]

ROUGH = Rigid(restitution=0.0, friction=0.3)
MASS, STIFFNESS, GRAVITY = 1.0, 100.0, 9.81
HALF_LENGTH, HALF_HEIGHT = 0.1, 0.05
#: largest number of phases; each excursion reduces the elongation by 2 mu m g/k
LIMIT = 100_000

ORIGINS = {
    "belt_speed": Provenance(0.1, "m/s", "assumed", "textbook size: amplitude 10 mm"),
    "stretch": Provenance(0.0, "m", "assumed", "the spring is slack at the start"),
    "block.mass": Provenance(MASS, "kg", "assumed", "round value"),
    "block.inertia": Provenance(
        MASS * (HALF_LENGTH**2 + HALF_HEIGHT**2) / 3.0, "kg m^2", "assumed", "homogeneous, 0.2 m x 0.1 m"
    ),
    "belt.mass": Provenance(1.0, "kg", "assumed", "no influence: the belt is driven"),
    "belt.inertia": Provenance(1.0, "kg m^2", "assumed", "no influence: the belt does not turn"),
    "spring.stiffness": Provenance(STIFFNESS, "N/m", "assumed", "round value: 10 rad/s"),
    "left.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "left.friction": Provenance(0.3, "-", "assumed", "textbook value"),
    "right.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "right.friction": Provenance(0.3, "-", "assumed", "textbook value"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "friction": Provenance(0.3, "-", "assumed", "textbook value"),
}

PANELS = (
    ("Elongation of the spring", "mm", (("q", "block.x", "block"),)),
    ("Velocity", "m/s", (("v", "block.x", "block"), ("v", "belt.x", "belt"))),
    ("Normal forces", "N", (("lam_N", "left", "left corner"), ("lam_N", "right", "right corner"))),
)


@dataclass(frozen=True)
class Phase:
    """Slip behind the belt (+1) or ahead of it (-1), or sticking (0), from `start` [s] at the elongation x [m]."""

    start: float
    x: float
    slip: int


@dataclass(frozen=True)
class StickSlip:
    """Exact motion of the block for equal friction at rest and in sliding.

    With w^2 = k/m, the reach X = mu m g/k and the belt speed V:

    - sticking, x' = V while abs(x) <= X;
    - slip behind (s = 1) or ahead (s = -1), x'' = -w^2 (x - s X), until x' = V again, at the mirror image 2 s X - x.

    An excursion thus reduces the elongation by 2 X, for V = 0 in half a period pi/w; the block sticks once abs(x) <= X,
    and is carried to x = X. From there it oscillates about X with amplitude V/w and period 2 pi/w for ever: with equal
    coefficients it reaches the belt's speed once per period without sticking again. For V = 0 it remains at rest.

    Parameters
    ----------
    belt_speed
        V [m/s], >= 0.
    stretch
        x at the start [m], where the block has the belt's speed.
    friction
        mu [-], > 0.

    Raises
    ------
    InputError
        For a value out of range, or where the block would tip over.

    >>> [phase.slip for phase in StickSlip(0.0, 0.1, 0.3).phases]
    [1, -1, 0]
    """

    belt_speed: float
    stretch: float
    friction: float
    phases: tuple[Phase, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check(self.belt_speed, self.stretch)
        if not 0.0 < self.friction <= HALF_LENGTH / HALF_HEIGHT:
            raise InputError(
                f"friction must be positive and at most {HALF_LENGTH / HALF_HEIGHT:g}, where the block tips over, "
                f"got {self.friction!r}."
            )
        object.__setattr__(self, "phases", self._followed())

    @property
    def frequency(self) -> float:
        """w [rad/s]."""
        return sqrt(STIFFNESS / MASS)

    @property
    def period(self) -> float:
        """2 pi/w [s]."""
        return 2.0 * pi / self.frequency

    @property
    def reach(self) -> float:
        """X [m], the largest stretch that friction holds."""
        return self.friction * MASS * GRAVITY / STIFFNESS

    @property
    def events(self) -> Array:
        """Times at which riding and sliding change."""
        return np.array([phase.start for phase in self.phases[1:]])

    def _followed(self) -> tuple[Phase, ...]:
        V, w, X = self.belt_speed, self.frequency, self.reach
        t, x, phases = 0.0, self.stretch, []
        while abs(x) > X:
            slip = 1 if x > 0 else -1
            phases.append(Phase(t, x, slip))
            if len(phases) > LIMIT:
                raise InputError(f"stretch {self.stretch:g} m takes more than {LIMIT} excursions to come to rest.")
            away = abs(x) - X
            half = atan2(away * w, V)
            t, x = t + 2.0 * (pi - half if slip > 0 else half) / w, 2.0 * slip * X - x
        phases.append(Phase(t, x, 0))
        if V > 0.0:
            phases.append(Phase(t + (X - x) / V, X, 1))
        return tuple(phases)

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`; forces jump where the sliding ends."""
        time: Array = times(t, side)
        starts = np.array([phase.start for phase in self.phases])
        index = np.maximum(np.searchsorted(starts, time, side=side) - 1, 0)
        V, w, X = self.belt_speed, self.frequency, self.reach
        x, rate, push = np.empty_like(time), np.empty_like(time), np.empty_like(time)
        for i in np.unique(index):
            here, phase = index == i, self.phases[i]
            tau = time[here] - phase.start
            if phase.slip == 0:
                x[here], rate[here] = phase.x + V * tau, V
                push[here] = STIFFNESS * x[here]
                continue
            centre = phase.slip * X
            away, turn = phase.x - centre, w * tau
            x[here] = centre + away * np.cos(turn) + V / w * np.sin(turn)
            rate[here] = V * np.cos(turn) - away * w * np.sin(turn)
            push[here] = STIFFNESS * centre
        # friction and spring: impulse F = m (x' - V) + k integral of x
        total = self._pushed(time)
        weight, lever = MASS * GRAVITY, HALF_HEIGHT / HALF_LENGTH
        none = np.zeros_like(time)
        return Sample(
            t=time,
            q={
                "block.x": x,
                "block.y": HALF_HEIGHT + none,
                "block.angle": none,
                "belt.x": V * time,
                "belt.y": none,
                "belt.angle": none,
            },
            v={
                "block.x": rate,
                "block.y": none,
                "block.angle": none,
                "belt.x": V + none,
                "belt.y": none,
                "belt.angle": none,
            },
            gap={"left": none, "right": none},
            lam_N={"left": (weight + lever * push) / 2.0, "right": (weight - lever * push) / 2.0},
            impulse={"left": (weight * time + lever * total) / 2.0, "right": (weight * time - lever * total) / 2.0},
        )

    def _pushed(self, t: Array) -> Array:
        """Impulse of friction on the block since the start [N s]."""
        total = np.zeros_like(t)
        ends = [phase.start for phase in self.phases[1:]] + [inf]
        for phase, end in zip(self.phases, ends, strict=True):
            tau = np.clip(t, phase.start, end) - phase.start
            if phase.slip == 0:
                total += STIFFNESS * tau * (phase.x + self.belt_speed * tau / 2.0)
            else:
                total += phase.slip * STIFFNESS * self.reach * tau
        return total

    @property
    def amplitude(self) -> float:
        """Of the first swing [m]: the largest distance from s X."""
        first = self.phases[0]
        return hypot(abs(first.x) - self.reach, self.belt_speed / self.frequency) if first.slip else 0.0


def _check(belt_speed: float, stretch: float) -> None:
    if not 0.0 <= belt_speed < inf:
        raise InputError(f"belt_speed must be a number >= 0 in m/s, got {belt_speed!r}.")
    if not isfinite(stretch):
        raise InputError(f"stretch must be a finite number of metres, got {stretch!r}.")


def _exact(belt_speed: float = 0.1, stretch: float = 0.0, contact: Rigid = ROUGH) -> StickSlip:
    return StickSlip(belt_speed, stretch, contact.friction)


@problem(
    tags=("planar", "friction", "stick-slip", "driven", "exact"),
    t_end=6,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def stick_slip_oscillator(belt_speed: float = 0.1, stretch: float = 0.0, contact: Rigid = ROUGH) -> Model:
    """Block on a belt of constant speed, tied to the ground by a spring: it rides, slips and swings.

    Static and dynamic friction are equal here, exact Coulomb. The block therefore sticks to the belt once, until the
    spring force exceeds friction, and then oscillates for ever with a velocity that just reaches the belt's; it would
    stick again in each period only if static friction were larger. With a belt at rest a displaced block oscillates
    with an amplitude that decreases by 2 mu m g/k per half period, and sticks.

    Parameters
    ----------
    belt_speed : [m/s], >= 0
    stretch : [m]
        Elongation of the spring at the start, when the block sticks to the belt.
    contact : Rigid
        Friction 0.3 by default.

    Raises
    ------
    InputError
        For another speed or stretch.

    >>> stick_slip_oscillator().build()
    System('stick-slip oscillator': 6 velocities, 3 constraints, 2 contacts, 37 parameters)
    """
    _check(belt_speed, stretch)
    model = Model(
        name="stick-slip oscillator",
        provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name},
    )
    ground = model.add(Ground("ground"))
    belt = model.add(PlanarBody("belt", mass=1.0, inertia=1.0, velocity=(belt_speed, 0.0)))
    block = model.add(
        PlanarBody(
            "block",
            mass=MASS,
            inertia=MASS * (HALF_LENGTH**2 + HALF_HEIGHT**2) / 3.0,
            position=(stretch, HALF_HEIGHT),
            velocity=(belt_speed, 0.0),
        )
    )
    model.add(Prismatic("rollers", ground, belt))
    model.add(PrescribedMotion("motor", ground, belt, coordinate="x", motion=Ramp(belt_speed)))
    # without a length of its own the spring pulls along x only, as long as the block stays on the belt
    model.add(Spring("spring", ground, block, stiffness=STIFFNESS, at_a=(0.0, HALF_HEIGHT)))
    for name, place in (("left", -HALF_LENGTH), ("right", HALF_LENGTH)):
        model.add(PointPlane(name, belt, block, at_b=(place, -HALF_HEIGHT), contact=contact))
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
