"""Where the parts of a planar mechanism are, for its drawing: bodies, pins, circles, names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.drawing import Coil, Dot, Guide, Line, Primitive, Round, Spot
from nonsmooth.plots.drawing import Drawing
from nonsmooth.plots.motion import COLOURS, INK

__all__ = ["Label", "Labels", "Plan"]


@dataclass
class Label:
    text: str
    at: Array
    colour: str
    bold: bool = False


@dataclass
class Labels:
    """Names to be written, and what they must not cover in addition to the lines of the axes, as polylines (k, 2)."""

    labels: list[Label] = field(default_factory=list)
    strokes: list[Array] = field(default_factory=list)

    def label(self, text: str, at: Array, colour: str = INK, bold: bool = False) -> None:
        self.labels.append(Label(text, np.asarray(at, float), colour, bold))


class Plan(Labels):
    """Places of everything in the ground frame, at the first of the drawing's times."""

    def __init__(self, drawing: Drawing, deformation: float | None = None) -> None:
        super().__init__()
        #: factor of deflections, 0 where no body is deformed; by flexible body its lines (k, 2)
        self.bent = drawing.deformation() if deformation is None else deformation
        drawing.deform(self.bent or 1.0)
        lines = {body: drawing.curves(body, self.bent or 1.0)[0] for body in drawing.flexible}
        self.curves = {body: line for body, line in lines.items() if len(line)}
        self.drawing, self.placed, self.bodies = drawing, drawing.placed, drawing.bodies
        self.colours = drawing.coloured(COLOURS)
        self.pins: dict[str, list[Array]] = {body: [] for body in self.bodies}
        self.circles: list[tuple[Spot, float]] = []
        #: whether the drawing has a size; a lone body without joints has none
        self.sized = True
        for carrier, place in drawing.placed.carried.values():  # nodes of flexible bodies
            self.pins[carrier].append(place)
        for primitive in drawing.primitives():
            self._collect(primitive)
        round_ones = {spot.body for spot, _ in self.circles}
        for body, pins in self.pins.items():
            if len({tuple(pin) for pin in pins}) == 1 and body not in round_ones:
                pins.append(-pins[0])  # a bar that hangs by one end
        (x0, y0), (x1, y1) = self.bounds()
        self.extent = max(x1 - x0, y1 - y0)

    def _collect(self, primitive: Primitive) -> None:
        if isinstance(primitive, Round):
            self.circles.append((primitive.spot, primitive.radius))
        corner = isinstance(primitive, Dot) and primitive.corner
        attached = primitive.outlines or corner or isinstance(primitive, Coil | Line)
        for spot in primitive.spots() if attached else ():
            if spot.body in self.pins and spot.at:
                self.pins[spot.body].append(np.array(spot.at))
                if corner:
                    self.pins[spot.body].append(-np.array(spot.at))  # a block has as much above as below

    def moves(self, body: str) -> bool:
        """Whether it is a body rather than the ground."""
        return body in self.colours

    def at(self, spot: Spot) -> Array:
        """A point of a body, or of the ground, in the ground frame."""
        return np.asarray(self.placed.spot(spot)[0])

    def vector(self, body: str, local: tuple[float, ...]) -> Array:
        """A vector of a body in the ground frame."""
        return np.asarray(self.placed.vectors(body, local)[0])

    def centre(self, body: str) -> Array:
        """Its centre of mass in the ground frame."""
        return np.asarray(self.placed.position(body)[0])

    def bounds(self) -> tuple[Array, Array]:
        """Corners of a box around bodies, pins, circles and attachments; never flat."""
        points = [self.centre(body) for body in self.bodies]
        points += [corner for corners in self.drawing.reach() for corner in corners]
        points += [self.at(Spot(body, tuple(pin))) for body, pins in self.pins.items() for pin in pins]
        for primitive in self.drawing.primitives():
            points += [self.at(spot) for spot in primitive.spots()]
            if isinstance(primitive, Guide):
                ends = [sign * primitive.length / 2 * np.array(primitive.along_b) for sign in (-1.0, 1.0)]
                points += [self.at(Spot(primitive.b.body, tuple(end))) for end in ends]
        for spot, radius in self.circles:
            points += [self.at(spot) + step for step in radius * np.array([[1, 1], [-1, -1]])]
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        self.sized = bool(np.any(high > low))
        least = 0.25 * max(float(np.max(high - low)), 1e-3)
        grow = np.maximum(least - (high - low), 0.0) / 2
        return low - grow, high + grow
