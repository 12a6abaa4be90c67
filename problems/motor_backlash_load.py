"""A motor that takes up the backlash of its gears before it turns a load."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.couplings import GearBacklash
from nonsmooth.model.forces import Torque
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.bouncing_ball import BouncingBall
from nonsmooth_problems.samples import Array, Sample, Side

__all__ = ["MotorBacklashLoad", "motor_backlash_load"]

STEEL = Rigid(restitution=0.5, friction=0.0)
MOTOR, LOAD, PINION, WHEEL, MASS = 1e-3, 0.1, 0.01, 0.1, 1.0
#: masses at the pitch circle [kg]
AHEAD, BEHIND = MOTOR / PINION**2, LOAD / WHEEL**2

ORIGINS = {
    "torque": Provenance(0.5, "N m", "assumed", "a small servomotor"),
    "backlash": Provenance(2e-4, "m", "assumed", "coarse gears of module 2 mm"),
    "motor.mass": Provenance(MASS, "kg", "assumed", "no influence: its centre does not move"),
    "motor.inertia": Provenance(MOTOR, "kg m^2", "assumed", "that of the load at the pinion"),
    "load.mass": Provenance(MASS, "kg", "assumed", "no influence: its centre does not move"),
    "load.inertia": Provenance(LOAD, "kg m^2", "assumed", "round value"),
    "gears.radius_a": Provenance(PINION, "m", "assumed", "ratio of 10"),
    "gears.radius_b": Provenance(WHEEL, "m", "assumed", "ratio of 10"),
    "gears.backlash": Provenance(2e-4, "m", "assumed", "coarse gears of module 2 mm"),
    "gears.restitution": Provenance(0.5, "-", "assumed", "textbook value"),
    "gears.friction": Provenance(0.0, "-", "assumed", "nothing slides"),
    "restitution": Provenance(0.5, "-", "assumed", "textbook value"),
    "friction": Provenance(0.0, "-", "assumed", "nothing slides"),
}

PANELS = (
    ("Gap of the driving flanks", "mm", (("gap", "gears.high", "driving"), ("gap", "gears.low", "back"))),
    ("Angular velocity", "rad/s", (("v", "motor.angle", "motor"), ("v", "load.angle", "load"))),
    ("Impulse of the flanks", "N s", (("impulse", "gears.high", "since the start"),)),
)


@dataclass(frozen=True)
class MotorBacklashLoad:
    """Exact motion of both wheels.

    At the pitch circle the motor is a mass m_a = I_a / r_a^2 that is pushed by T / r_a towards the mass m_b = I_b /
    r_b^2, j away. Their centre of mass has the acceleration T / (r_a (m_a + m_b)); the gap between them that of a ball,
    a = T / (r_a m_a) in place of g, with the reduced mass: the first impact is at sqrt(2 j / a), and the flanks stay
    together from (1 + e) / (1 - e) times this time on.

    Parameters
    ----------
    torque, backlash
        T [N m] and j [m], > 0.
    restitution
        e [-], in [0, 1].

    Raises
    ------
    InputError
        For a value out of range.

    >>> round(float(MotorBacklashLoad(0.5, 2e-4, 0.5).events[0]), 6)
    0.008944
    """

    torque: float
    backlash: float
    restitution: float

    def __post_init__(self) -> None:
        _check(self.torque, self.backlash)
        _ = self.gap

    @property
    def gap(self) -> BouncingBall:
        """The gap, as the height of a ball."""
        return BouncingBall(self.backlash, self.restitution, self.torque / (PINION * AHEAD))

    @property
    def events(self) -> Array:
        """Times of the impacts, as far as they are not too weak or too many, and of the end of the rebounds."""
        return self.gap.events

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`; at an impact the left or the right limit."""
        ball, whole, reduced = self.gap.sample(t, side), AHEAD + BEHIND, AHEAD * BEHIND / (AHEAD + BEHIND)
        time, pull, gap, closing = ball.t, self.gap.gravity, ball.gap["floor"], -ball.v["ball.y"]
        taken, mean = self.backlash - gap, self.torque / (PINION * whole) * time
        none = np.zeros_like(time)
        x_a, x_b = (mean * time / 2.0 + share * taken for share in (BEHIND / whole, -AHEAD / whole))
        v_a, v_b = (mean + share * closing for share in (BEHIND / whole, -AHEAD / whole))
        place = {"motor.x": none, "motor.y": none, "load.x": none + PINION + WHEEL, "load.y": none}
        return Sample(
            t=time,
            q={**place, "motor.angle": x_a / PINION, "load.angle": -x_b / WHEEL},
            v={**dict.fromkeys(place, none), "motor.angle": v_a / PINION, "load.angle": -v_b / WHEEL},
            gap={"gears.low": taken, "gears.high": gap},
            lam_N={"gears.low": none, "gears.high": np.where(ball.lam_N["floor"] > 0.0, reduced * pull, 0.0)},
            impulse={"gears.low": none, "gears.high": reduced * (pull * time - closing)},
        )


def _check(torque: float, backlash: float) -> None:
    for name, value in (("torque", torque), ("backlash", backlash)):
        if not 0.0 < value < inf:
            raise InputError(f"{name} must be a positive number, got {value!r}.")


def _exact(torque: float = 0.5, backlash: float = 2e-4, contact: Rigid = STEEL) -> MotorBacklashLoad:
    return MotorBacklashLoad(torque, backlash, contact.restitution)


@problem(
    tags=("planar", "impact", "accumulation", "joints", "exact"),
    t_end=0.04,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def motor_backlash_load(torque: float = 0.5, backlash: float = 2e-4, contact: Rigid = STEEL) -> Model:
    """Motor with a pinion that turns a wheel with a load, through backlash that is open at the start.

    After a reversal the pinion touches the wheel with the wrong flanks. The motor turns alone, its teeth meet those of
    the wheel after 8.9 ms, rebound ever less, and drive it from 26.8 ms on.

    Parameters
    ----------
    torque : [N m], > 0
        Of the motor, constant.
    backlash : [m], > 0
        Along the pitch circle.
    contact : Rigid
        Restitution 0.5 by default, without friction.

    Raises
    ------
    InputError
        For a torque or a backlash that is not positive.

    >>> motor_backlash_load().build()
    System('motor backlash load': 6 velocities, 4 constraints, 2 contacts, 26 parameters)
    """
    _check(torque, backlash)
    model = Model(
        name="motor backlash load", silence=["no-gravity"],
        provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name},
    )  # fmt: skip
    ground, centre = model.add(Ground("ground")), (PINION + WHEEL, 0.0)
    motor = model.add(PlanarBody("motor", mass=MASS, inertia=MOTOR))
    load = model.add(PlanarBody("load", mass=MASS, inertia=LOAD, position=centre))
    model.add(Revolute("shaft", ground, motor))
    model.add(Revolute("axle", ground, load, at_a=centre))
    model.add(GearBacklash(
        "gears", motor, load, radius_a=PINION, radius_b=WHEEL, backlash=backlash, angle_a=backlash / (2.0 * PINION),
        contact=contact,
    ))  # fmt: skip
    model.add(Torque("drive", motor, torque=torque))
    return model
