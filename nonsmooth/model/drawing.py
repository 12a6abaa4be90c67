"""Drawings of elements as data: primitives in the frames of bodies, from which pictures are made elsewhere.

An element defines its primitives by ``drawing(p)``, with its parameter values p as numbers, independently of picture,
scale and time. A primitive is attached to bodies by *spots*, points in their frames. Circles and blocks have their size
in m; symbols (a pin, an arrow) are scaled to the picture. Vectors have two components in the plane and three in space;
the empty tuple is the origin, or no vector.

>>> Spot("crank", (0.05, 0.0)).at
(0.05, 0.0)
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, ...]
MarkShape = Literal["pin", "ball", "weld", "joint"]
#: symbols of joints; "joint" marks one of another kind
Symbol = Literal["pin", "ball", "weld", "joint", "slide", "sleeve", "rod"]


def vector(value: Any) -> Vector:
    """A vector as a tuple of floats, from a sequence, an array or a CasADi matrix of numbers."""
    return tuple(float(x) for x in np.ravel(np.asarray(value, dtype=float)))


@dataclass(frozen=True)
class Spot:
    """A point of a body, or of the ground, in its frame [m]; the empty tuple is the origin."""

    body: str
    at: Vector = ()


@dataclass(frozen=True)
class Primitive:
    """Base of what is drawn."""

    #: whether its spots are points of its bodies' outlines, as those of joints are
    outlines: ClassVar[bool] = False
    #: whether it belongs to a load or a driver, which do not extend the outline of a body
    load: ClassVar[bool] = False

    def spots(self) -> tuple[Spot, ...]:
        """The points of bodies to which it is attached."""
        return tuple(value for value in vars(self).values() if isinstance(value, Spot))


@dataclass(frozen=True)
class _At(Primitive):
    """Base of what is drawn at a point of one body."""

    spot: Spot


@dataclass(frozen=True)
class _Between(Primitive):
    """Base of what is drawn between a point of each of two bodies."""

    a: Spot
    b: Spot


@dataclass(frozen=True)
class Mark(_Between):
    """A joint as a symbol at a point of each of its two bodies, which coincide unless the shape is "joint"."""

    shape: MarkShape = "joint"
    outlines = True


@dataclass(frozen=True)
class Axle(_At):
    """An axis of rotation through a spot, along a vector of its body's frame."""

    along: Vector
    outlines = True


@dataclass(frozen=True)
class Slide(_Between):
    """An axis through the spot a, along a vector of its frame, on which a block at b slides; if round, a sleeve."""

    along: Vector
    round: bool = False
    outlines = True


@dataclass(frozen=True)
class Bearing(_Between):
    """A journal or ball at b in a bearing or socket at a with the radial clearance [m], drawn magnified. In space axes
    make it a journal in a sleeve, engaged over `length` [m]; circles of its gaps are at `sections` [m] from the middle,
    of the journal or, with `of_sleeve`, of the sleeve."""

    clearance: float
    radius: float = 0.0
    length: float = 0.0
    axis_a: Vector = ()
    axis_b: Vector = ()
    sections: tuple[float, ...] = (0.0,)
    of_sleeve: bool = False
    outlines = True


@dataclass(frozen=True)
class Guide(_Between):
    """A rectangular slider at b between walls of a guide at a with the clearance [m] on each side, drawn magnified. The
    axes of length and height, `along` and `across`, are in the frame of a, those of the slider in its own; `width` and
    `side_clearance` [m] are those of the third direction in space."""

    length: float
    height: float
    clearance: float
    along: Vector
    across: Vector
    along_b: Vector
    across_b: Vector
    width: float = 0.0
    side_clearance: float = 0.0
    outlines = True


@dataclass(frozen=True)
class Wall(_At):
    """A flat surface of a, its normal towards the free side, and a round one of b of this radius [m] about `near`."""

    normal: Vector
    near: Spot
    radius: float = 0.0


@dataclass(frozen=True)
class Dot(_At):
    """A point of a surface; a corner of its body's outline, if `corner`."""

    corner: bool = False


@dataclass(frozen=True)
class Round(_At):
    """A round surface of a body with its radius [m]: a circle in the plane, a sphere in space."""

    radius: float


@dataclass(frozen=True)
class Cylinder(_At):
    """A cylinder of a body in space: its middle, its axis in the body's frame, radius and length [m]; 0 is a disc."""

    along: Vector
    radius: float
    length: float = 0.0


@dataclass(frozen=True)
class Ellipsoid(_At):
    """An ellipsoid of a body in space: its centre and its semi-axes [m] as vectors of the body's frame."""

    semi_axes: tuple[Vector, ...]


@dataclass(frozen=True)
class Box(_At):
    """A box of a body in space: its middle and its edges' lengths [m] along the body's axes."""

    edges: Vector


@dataclass(frozen=True, eq=False)
class Solid(Primitive):
    """A shape of a body: points (n, 3) [m] in its frame and faces, counterclockwise as seen from outside."""

    spot: Spot
    points: NDArray[np.float64]
    faces: tuple[tuple[int, ...], ...]
    #: polygons (k, 2) that cover it in the plane; if convex one, whose hull is its outline
    seen: tuple[NDArray[np.float64], ...]
    convex: bool = False


@dataclass(frozen=True)
class Touch(_Between):
    """Where two round surfaces meet: on the line from the centre a to the centre b, at this share of it."""

    share: float


@dataclass(frozen=True)
class Line(_Between):
    """A straight line from a to b: a rod, or a damper or another force between points if dotted."""

    dotted: bool = False


@dataclass(frozen=True)
class Coil(_Between):
    """A spring from a to b."""


@dataclass(frozen=True)
class Arrow(_At):
    """A force that acts at a spot, along a vector of the ground frame or, if `fixed`, of the body's."""

    along: Vector
    fixed: bool = False
    load = True


@dataclass(frozen=True)
class Turn(Primitive):
    """A torque on b, and its opposite on a if given; in space about a vector of the frame of a, else of the ground."""

    b: Spot
    a: Spot | None = None
    axis: Vector = ()
    load = True

    def spots(self) -> tuple[Spot, ...]:
        return (self.b,) if self.a is None else (self.a, self.b)


@dataclass(frozen=True)
class Drive(_Between):
    """A prescribed displacement of b from a."""

    load = True


@dataclass(frozen=True)
class Field(Primitive):
    """A uniform field of acceleration [m/s^2], ground frame, as gravity is."""

    acceleration: Vector
    load = True
