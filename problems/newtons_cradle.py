"""Newton's cradle: equal balls on strings, and the result of simultaneous impacts by an impact law."""

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
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.samples import Array

__all__ = ["newtons_cradle", "after_successive_impacts", "after_simultaneous_impacts"]

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


def after_simultaneous_impacts(balls: int, restitution: float) -> Array:
    """Velocities after a ball of speed 1 impacts on balls at rest in contact, by Newton's law for all contacts.

    The impacting pair separates with the velocity e, the balls behind stay together: -((n - 1) e - 1)/n for the
    impacting ball and (1 + e)/n for the others. Three balls and e = 1 give -1/3, 2/3, 2/3, which conserves energy and
    momentum.

    >>> after_simultaneous_impacts(3, 1.0).round(4)
    array([-0.3333,  0.6667,  0.6667])
    """
    speeds = np.full(balls, (1.0 + restitution) / balls)
    speeds[0] -= restitution
    return speeds


def after_successive_impacts(balls: int, restitution: float) -> Array:
    """Speeds when the last ball, each at a small distance from the next, has impacted: a sequence of impacts of two
    balls.

    >>> after_successive_impacts(3, 1.0)
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
    t_end=2.4,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
)
def newtons_cradle(
    balls: int = 5, lifted: int = 1, angle: float = 0.5, spacing: float = 0.0, contact: Rigid = ELASTIC
) -> Model:
    """Newton's cradle: equal balls on strings, of which the first are lifted and released.

    The impact of several balls is not unique in rigid-body mechanics: balance of momentum, energy and Newton's law do
    not determine it. With touching balls (`spacing` 0) Newton's law for all contacts simultaneously, as in Moreau's
    form, makes the impacting ball rebound and all others leave together: -3/5, 2/5, 2/5, 2/5, 2/5 of its speed for five
    balls (`after_simultaneous_impacts`). With any gap between the balls, however small, the impacts occur in succession
    and only the last ball leaves, as in the toy (`after_successive_impacts`). A scheme that treats successive impacts
    as simultaneous, by a simultaneity window or by the length of its step, returns the first solution also with gaps,
    or a mixture of both. This is no error of the scheme; the rigid-body model does not determine the result.

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
