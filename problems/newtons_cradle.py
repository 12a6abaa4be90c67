"""Newton's cradle: equal balls on strings, and what an impact law says of several at once."""

from __future__ import annotations

from dataclasses import asdict
from math import cos, isfinite, pi, sin

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import CircleCircle
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.registry import Provenance, problem
from nonsmooth_problems.samples import Array

__all__ = ["newtons_cradle", "struck_apart", "struck_together"]

ELASTIC = Rigid(restitution=1.0, friction=0.0)
MASS, RADIUS, LENGTH, GRAVITY = 0.1, 0.02, 0.2, 9.81

ORIGINS = {
    "balls": Provenance(5, "-", "assumed", "the usual toy"),
    "lifted": Provenance(1, "-", "assumed", "the usual experiment"),
    "angle": Provenance(0.5, "rad", "assumed", "the usual experiment"),
    "spacing": Provenance(0.0, "m", "assumed", "balls that touch", "any gap above 0 is another motion"),
    "ball*.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "ball*.inertia": Provenance(0.4 * MASS * RADIUS**2, "kg m^2", "assumed", "solid sphere"),
    "contact*.radius": Provenance(RADIUS, "m", "assumed", "size of the toy"),
    "string*.length": Provenance(LENGTH, "m", "assumed", "size of the toy", "from the pivot to the ball's centre"),
    "contact*.restitution": Provenance(1.0, "-", "assumed", "ideal steel balls"),
    "contact*.friction": Provenance(0.0, "-", "assumed", "ideal steel balls"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(1.0, "-", "assumed", "ideal steel balls"),
    "friction": Provenance(0.0, "-", "assumed", "ideal steel balls"),
}


def struck_together(balls: int, restitution: float) -> Array:
    """Velocities after a ball of speed 1 impacts on balls at rest in contact, by Newton's law for all at once.

    The impacting pair separates at e, all balls behind stay together: -((n - 1) e - 1)/n for the impacting ball and
    (1 + e)/n for the others. Three balls and e = 1 give -1/3, 2/3, 2/3: energy and momentum as they were.

    >>> struck_together(3, 1.0).round(4)
    array([-0.3333,  0.6667,  0.6667])
    """
    speeds = np.full(balls, (1.0 + restitution) / balls)
    speeds[0] -= restitution
    return speeds


def struck_apart(balls: int, restitution: float) -> Array:
    """Speeds when the last ball, each at a small distance from the next, has impacted: a sequence of impacts of two
    balls.

    >>> struck_apart(3, 1.0)
    array([0., 0., 1.])
    """
    passed = (1.0 + restitution) / 2.0
    speeds: Array = (1.0 - passed) * passed ** np.arange(balls, dtype=float)
    speeds[-1] = passed ** (balls - 1)
    return speeds


# the balls that every cradle has
PANELS = (
    ("Angles of the strings", "deg", (("q", "ball1.angle", "first ball"), ("q", "ball2.angle", "second ball"))),
    ("Angular velocities", "rad/s", (("v", "ball1.angle", "first ball"), ("v", "ball2.angle", "second ball"))),
    ("Impulse between both", "N s", (("impulse", "contact1", "since the start"),)),
)


@problem(
    tags=("planar", "impact", "multiple impact", "joints"),
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
)
def newtons_cradle(
    balls: int = 5, lifted: int = 1, angle: float = 0.5, spacing: float = 0.0, contact: Rigid = ELASTIC
) -> Model:
    """Newton's cradle: equal balls on strings, of which the first are lifted and released.

    The impact of several balls is not unique in rigid mechanics: momentum, energy and the gap rates of Newton's law
    leave room for many answers. With touching balls (`spacing` 0) Newton's law, taken for all contacts at once as in
    Moreau's form, lets the striking ball bounce back and all others leave together: -3/5, 2/5, 2/5, 2/5, 2/5 of its
    speed for five balls (`struck_together`). With any gap between the balls, however small, the impacts come one after
    another and the last ball alone leaves, as in the toy (`struck_apart`). A scheme that takes neighbouring impacts for
    one, by a window of simultaneity or by the length of its step, gives the first answer to the second question, or a
    mixture of both. None of this is a fault of the scheme: rigid bodies do not tell.

    The strings are ideal revolute joints; each ball turns with its string, as one rigid pendulum.

    Parameters
    ----------
    balls : >= 2
    lifted : 1 <= lifted < balls
    angle : [rad], in (0, pi/2]
        Of the lifted balls' strings at the start.
    spacing : [m], >= 0
        Gap between neighbours that hang.
    contact : Rigid
        Elastic by default.

    Raises
    ------
    InputError
        For arguments out of range.

    >>> newtons_cradle(balls=2).build()
    System("Newton's cradle of 2": 6 velocities, 4 constraints, 1 contacts, 24 parameters)
    """
    if isinstance(balls, bool) or not isinstance(balls, int) or balls < 2:
        raise InputError(f"balls must be an integer >= 2, got {balls!r}.")
    if isinstance(lifted, bool) or not isinstance(lifted, int) or not 1 <= lifted < balls:
        raise InputError(f"lifted must be an integer from 1 to balls - 1 = {balls - 1}, got {lifted!r}.")
    if not 0.0 < angle <= pi / 2:
        raise InputError(f"angle must lie in (0, pi/2] rad, got {angle!r}.")
    if not (isfinite(spacing) and spacing >= 0.0):
        raise InputError(f"spacing must be a number of metres >= 0, got {spacing!r}.")
    model = Model(name=f"Newton's cradle of {balls}", provenance=_provenance(balls))
    ground = model.add(Ground("ground"))
    for i in range(1, balls + 1):
        pivot, turn = ((i - 1) * (2.0 * RADIUS + spacing), 0.0), -angle if i <= lifted else 0.0
        hanging = (pivot[0] + LENGTH * sin(turn), pivot[1] - LENGTH * cos(turn))
        model.add(PlanarBody(f"ball{i}", mass=MASS, inertia=0.4 * MASS * RADIUS**2, position=hanging, angle=turn))
        model.add(Revolute(f"string{i}", ground, f"ball{i}", at_a=pivot, at_b=(0.0, LENGTH)))
    for i in range(1, balls):
        model.add(
            CircleCircle(f"contact{i}", f"ball{i}", f"ball{i + 1}", radius_a=RADIUS, radius_b=RADIUS, contact=contact)
        )
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model


def _provenance(balls: int) -> dict[str, object]:
    """The origins, one for each ball, contact and string."""
    made: dict[str, object] = {}
    for name, origin in ORIGINS.items():
        if "*" in name:
            made |= {name.replace("*", str(i)): asdict(origin) for i in range(1, balls + 1)}
        elif "." in name:
            made[name] = asdict(origin)
    return made
