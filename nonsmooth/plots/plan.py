"""Where the parts of a planar mechanism are, for its drawing: bodies, pins, circles, names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.plots.motion import COLOURS, INK

if TYPE_CHECKING:
    from nonsmooth.model.state import State
    from nonsmooth.model.system import System

__all__ = ["Label", "Plan", "attached", "turned"]


@dataclass
class Label:
    text: str
    at: Array
    colour: str
    bold: bool = False


@dataclass
class Plan:
    """Places of everything in the global frame."""

    system: System
    state: State
    labels: list[Label] = field(default_factory=list)
    strokes: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        q = dict(zip(self.system.q_names, self.state.q.tolist(), strict=True))
        self.frames = {
            name: np.array([q[f"{name}.{label}"] for label in ("x", "y", "angle")])
            for name in dict.fromkeys(name.rpartition(".")[0] for name in q)
        }
        self.bodies = list(self.frames)
        self.colours = {body: COLOURS[i % len(COLOURS)] for i, body in enumerate(self.bodies)}
        self.pins: dict[str, list[Array]] = {body: [] for body in self.bodies}
        self.circles: list[tuple[str, Array, float]] = []
        for element in self.system.elements:
            self._collect(element)
        round_ones = {name for name, _, _ in self.circles}
        for body, pins in self.pins.items():
            if len({tuple(pin) for pin in pins}) == 1 and body not in round_ones:
                pins.append(-pins[0])  # a bar that hangs by one end
        (x0, y0), (x1, y1) = self.bounds()
        self.extent = max(x1 - x0, y1 - y0)

    def _collect(self, element: Any) -> None:
        names = element.body_names()
        holds = hasattr(element, "rows") or hasattr(element, "clearance")
        for i, (name, local) in enumerate(zip(names, attached(element), strict=True)):
            touches = type(element).__name__ == "PointPlane" and i == 1
            if (holds or touches) and name in self.pins and not (len(local) == 0 or hasattr(element, "motion")):
                self.pins[name].append(np.asarray(local, float))
            if touches and name in self.pins:
                self.pins[name].append(-np.asarray(local, float))  # a block has as much above as below
        ends = list(zip(names, attached(element), strict=True))
        for suffix, index in (("_a", 0), ("_b", 1), ("", 1)):
            radius = getattr(element, f"radius{suffix}", None)
            if radius is not None and not hasattr(element, "clearance"):
                name, local = ends[index]
                self.circles.append((name, np.asarray(local, float), float(radius)))

    def place(self, body: str, local: Sequence[float] | Array = (0.0, 0.0)) -> Array:
        """A point of a body, or of the ground, in the global frame."""
        point = np.asarray(local if len(local) else (0.0, 0.0), float)
        if body not in self.frames:
            return point
        x, y, angle = self.frames[body]
        return np.array([x, y]) + turned(point, angle)

    def angle(self, body: str) -> float:
        return float(self.frames[body][2]) if body in self.frames else 0.0

    def bounds(self) -> tuple[Array, Array]:
        """Corners of a box around bodies, pins, circles and attachments; never flat."""
        points = [self.place(body) for body in self.bodies]
        points += [self.place(body, pin) for body, pins in self.pins.items() for pin in pins]
        for element in self.system.elements:
            points += [self.place(*end) for end in zip(element.body_names(), attached(element), strict=True)]
            size = getattr(element, "length", None)
            if size and "slider" in element.body_fields:
                slider = element.body_names()[1]
                points += [self.place(slider, (sign * size / 2, 0.0)) for sign in (-1.0, 1.0)]
        for body, local, radius in self.circles:
            points += [self.place(body, local) + step for step in radius * np.array([[1, 1], [-1, -1]])]
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        least = 0.25 * max(float(np.max(high - low)), 1e-3)
        grow = np.maximum(least - (high - low), 0.0) / 2
        return low - grow, high + grow

    def label(self, text: str, at: Array, colour: str = INK, bold: bool = False) -> None:
        self.labels.append(Label(text, np.asarray(at, float), colour, bold))


def attached(element: Any) -> list[Sequence[float]]:
    """Local points of the bodies that the element joins."""
    found = []
    for name in element.body_fields:
        given = getattr(element, f"at_{name}", getattr(element, "at", ()))
        found.append(given if given is not None else ())
    return found


def turned(vector: Array, angle: float) -> Array:
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([cosine * vector[0] - sine * vector[1], sine * vector[0] + cosine * vector[1]])
