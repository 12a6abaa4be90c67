"""Painlevé's rod: a slender rod that slides on a plane with friction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import atan, cos, inf, isfinite, pi, sin

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import PointPlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem

__all__ = ["PainleveRod", "painleve_rod"]

ROUGH = Rigid(restitution=0.0, friction=1.0)
MASS, HALF_LENGTH, GRAVITY = 1.0, 0.5, 9.81
STEEPEST = atan(2.0)

ORIGINS = {
    "angle": Provenance(STEEPEST, "rad", "inferred", "atan 2, where the paradox requires the least friction, 4/3"),
    "speed": Provenance(3.0, "m/s", "assumed", "so that the rod slides for some hundredths of a second"),
    "rod.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "rod.inertia": Provenance(MASS * HALF_LENGTH**2 / 3.0, "kg m^2", "assumed", "homogeneous slender rod of 1 m"),
    "tip.restitution": Provenance(0.0, "-", "assumed", "the tip stays on the plane"),
    "tip.friction": Provenance(1.0, "-", "assumed", "below the paradox"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "the tip stays on the plane"),
    "friction": Provenance(1.0, "-", "assumed", "below the paradox"),
}

PANELS = (
    ("Angle", "deg", (("q", "rod.angle", "rod"),)),
    ("Velocity", "m/s", (("v", "rod.x", "centre, along the plane"), ("v", "rod.y", "centre, upwards"))),
    ("Gap of the tip", "mm", (("gap", "tip", "tip"),)),
    ("Impulse of the plane", "N s", (("impulse", "tip", "since the start"),)),
)


@dataclass(frozen=True)
class PainleveRod:
    """Closed-form results for the initial state: a rod that slides without rotation, its tip ahead of the centre.

    Per mass, a normal force and the friction mu times it accelerate the tip upwards by
    p = 1 + 3 cos^2 - 3 mu sin cos, sine and cosine of the rod's angle.

    Parameters
    ----------
    angle
        [rad], in (0, pi/2).
    friction
        mu [-], >= 0.
    speed
        [m/s], > 0.

    Raises
    ------
    InputError
        For a value out of range.

    >>> round(PainleveRod(atan(2.0), 1.0, 3.0).limit, 12)
    1.333333333333
    """

    angle: float
    friction: float
    speed: float

    def __post_init__(self) -> None:
        _check(self.angle, self.speed)
        if not 0.0 <= self.friction < inf:
            raise InputError(f"friction must be a finite number >= 0, got {self.friction!r}.")

    @property
    def limit(self) -> float:
        """Friction [-] at which p vanishes; 4/3 at tan(angle) = 2 and more at any other angle, 5/3 at 45 degrees."""
        s, c = sin(self.angle), cos(self.angle)
        return (1.0 + 3.0 * c * c) / (3.0 * s * c)

    @property
    def mobility(self) -> float:
        """p [-]; not positive above the limit, where no finite force keeps the tip on the plane."""
        return 1.0 + 3.0 * cos(self.angle) * (cos(self.angle) - self.friction * sin(self.angle))

    @property
    def force(self) -> float:
        """Normal force [N] at the start, below the limit."""
        if self.mobility <= 0.0:
            raise InputError(
                f"No contact force exists at the tip for friction {self.friction:g}, above {self.limit:g}."
            )
        return MASS * GRAVITY / self.mobility

    @property
    def jam(self) -> tuple[float, float]:
        """Normal and friction impulse [N s] that stop the tip: the impact without collision above the limit.

        3 sin cos/4 and (1 + 3 cos^2)/4 of m times the speed; their quotient is `limit`, so that they are in the cone of
        friction just where no finite force exists.
        """
        s, c = sin(self.angle), cos(self.angle)
        return 0.75 * s * c * MASS * self.speed, 0.25 * (1.0 + 3.0 * c * c) * MASS * self.speed


def _check(angle: float, speed: float) -> None:
    if not 0.0 < angle < pi / 2.0:
        raise InputError(f"angle must lie in (0, pi/2) rad, got {angle!r}.")
    if not (isfinite(speed) and speed > 0.0):
        raise InputError(f"speed must be a positive number of m/s, got {speed!r}.")


@problem(
    tags=("planar", "friction", "painleve"),
    t_end=0.2,
    source="P. Painlevé, Leçons sur le frottement (1895); the homogeneous slender rod is a textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
)
def painleve_rod(angle: float = STEEPEST, speed: float = 3.0, contact: Rigid = ROUGH) -> Model:
    """Painlevé's slender rod on a plane with friction, pushed with its lower tip ahead, as chalk on a board.

    Above the friction `PainleveRod.limit` (4/3 at the angle atan 2, more at others) friction accelerates the tip into
    the plane more than the normal force accelerates it away: no accelerations and finite forces satisfy Coulomb's law.
    Velocities and impulses do: an impact without collision, with the impulse `PainleveRod.jam` for any step size, stops
    the tip. An impulse-based scheme must find it, or stop with an error; an acceleration-based scheme can only stop. By
    default friction is below the limit; the normal force is then initially 2.5 times the weight, and the motion is
    smooth until the tip sticks.

    Parameters
    ----------
    angle : [rad], in (0, pi/2)
        From the plane.
    speed : [m/s], > 0
        At which the rod slides, without turning.
    contact : Rigid
        Friction 1 by default.

    Raises
    ------
    InputError
        For another angle or speed.

    References
    ----------
    Génot, F., Brogliato, B. (1999), New results on Painlevé paradoxes, Eur. J. Mech. A/Solids 18, 653-677.

    >>> float(painleve_rod(angle=0.5).build().start.v[0])
    -3.0
    """
    _check(angle, speed)
    model = Model(
        name="Painlevé's rod", provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    )
    plane = model.add(Ground("plane"))
    rod = model.add(
        PlanarBody(
            "rod",
            mass=MASS,
            inertia=MASS * HALF_LENGTH**2 / 3.0,
            position=(HALF_LENGTH * cos(angle), HALF_LENGTH * sin(angle)),
            angle=angle,
            velocity=(-speed, 0.0),
        )
    )
    model.add(PointPlane("tip", plane, rod, at_b=(-HALF_LENGTH, 0.0), contact=contact))
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
