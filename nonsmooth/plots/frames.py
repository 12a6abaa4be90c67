"""Frames in which the pieces of a drawing stand: an origin and axes, from where bodies are.

A frame is data, which pages have as well: scripts place them at the time that is shown. Axes need be neither of unit
length nor perpendicular. Within a joint with clearance, offset and tilt are magnified about the bearing or the guide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.drawing import Bearing, Guide, Spot, Vector
from nonsmooth.plots.drawing import BEARING, BLOCK, Placed

#: share of the radius of a bearing that its magnified clearance takes at most
MOST = 0.8


class View(NamedTuple):
    """How a mechanism is drawn.

    Parameters
    ----------
    factor
        How many times too large clearances are.
    unit : [m]
        Of the size of symbols.
    toward
        Unit vector to the viewer; in the plane unused.
    """

    factor: float
    unit: float
    toward: Array


class Placing(NamedTuple):
    """Origins (n, d) and axes (n, d, d), these as columns."""

    origin: Array
    axes: Array

    def points(self, local: Array) -> Array:
        """Ground places (n, k, d) of points (k, d), or (n, k, d), of the frame."""
        return np.asarray(self.origin[:, None] + local @ self.axes.transpose(0, 2, 1))


@dataclass(frozen=True)
class Frame:
    """Base of frames."""

    #: whether its size depends on how much clearances are magnified
    loose: ClassVar[bool] = False

    def place(self, placed: Placed, view: View) -> Placing:
        """Where it is in all pictures."""
        raise NotImplementedError


@dataclass(frozen=True)
class At(Frame):
    """At a spot, with the axes of its body, or of another one."""

    spot: Spot
    axes: str | None = None

    def place(self, placed: Placed, view: View) -> Placing:
        return Placing(placed.spot(self.spot), placed.rotation(self.spot.body if self.axes is None else self.axes))


@dataclass(frozen=True)
class Between(Frame):
    """From a to b along its first axis; the second is a unit vector across, to the right as seen by the viewer.

    The end is a spot, or the middle of a frame, as of a journal where it is drawn.
    """

    a: Spot
    b: Spot | Frame

    def place(self, placed: Placed, view: View) -> Placing:
        start = placed.spot(self.a)
        line = (placed.spot(self.b) if isinstance(self.b, Spot) else self.b.place(placed, view).origin) - start
        across = line[:, ::-1] * [1.0, -1.0] if placed.dimension == 2 else np.cross(line, view.toward)
        none = [np.zeros_like(line)] * (placed.dimension - 2)
        return Placing(start, np.stack([line, units(across), *none], axis=2))


@dataclass(frozen=True)
class _Round(Frame):
    """Base of sleeves and journals: axes of both bodies, the first along them in space, and half the length."""

    a: Spot
    b: Spot
    clearance: float
    radius: float
    length: float
    axes_a: tuple[Vector, ...]
    axes_b: tuple[Vector, ...]
    #: whether it is a cylinder, rather than a ball or a circle
    long: bool

    loose = True

    @classmethod
    def of(cls, one: Bearing, dimension: int) -> _Round:
        if not one.axis_a:
            own = _rows(np.eye(dimension))
            return cls(one.a, one.b, one.clearance, one.radius if dimension == 3 else 0.0, 0.0, own, own, False)
        axes_a, axes_b = _rows(basis(one.axis_a)), _rows(basis(one.axis_b))
        return cls(one.a, one.b, one.clearance, one.radius, one.length, axes_a, axes_b, True)

    def outer(self, view: View) -> float:
        """Radius that the bearing is drawn with."""
        return max(BEARING * view.unit, self.radius, view.factor * self.clearance / MOST)


class Sleeve(_Round):
    """A bearing or a socket, whose radius is one unit; along its axis, where it has one, half its length is."""

    def place(self, placed: Placed, view: View) -> Placing:
        outer = self.outer(view)
        half = max(self.length, 1.2 * outer) / 2 if self.long else outer
        scale = np.array([half, *[outer] * (placed.dimension - 1)])
        return Placing(placed.spot(self.a), placed.axes(self.a.body, self.axes_a) * scale)


class Journal(_Round):
    """A journal or a ball, whose radius is one unit; along its axis, where it has one, half its length is."""

    def place(self, placed: Placed, view: View) -> Placing:
        outer = self.outer(view)
        inner = outer - view.factor * self.clearance
        at, offset = placed.spot(self.a), placed.spot(self.b) - placed.spot(self.a)
        own = placed.axes(self.b.body, self.axes_b)
        if not self.long:
            return Placing(at + view.factor * offset, inner * own)
        n = placed.axes(self.a.body, self.axes_a)[:, :, 0]
        reach = 1.25 * max(self.length, 1.2 * outer) / 2 - self.length / 2
        ends = []
        for side in (-1.0, 1.0):
            end = offset + side * self.length / 2 * own[:, :, 0]
            x = np.sum(end * n, axis=1, keepdims=True)
            ends.append((x + side * reach) * n + view.factor * (end - x * n))
        axes = np.stack([(ends[1] - ends[0]) / 2, inner * own[:, :, 1], inner * own[:, :, 2]], axis=2)
        return Placing(at + (ends[0] + ends[1]) / 2, axes)


@dataclass(frozen=True)
class _Straight(Frame):
    """Base of guides and sliders: axes of length, height and width of both bodies, half sizes and clearances [m]."""

    a: Spot
    b: Spot
    axes_a: tuple[Vector, ...]
    axes_b: tuple[Vector, ...]
    sizes: Vector
    plays: Vector

    loose = True

    @classmethod
    def of(cls, one: Guide, dimension: int) -> Self:
        pairs = (np.array([one.along, one.across]), np.array([one.along_b, one.across_b]))
        axes_a, axes_b = (_rows(pair if dimension == 2 else np.vstack([pair, np.cross(*pair)])) for pair in pairs)
        sizes = (one.length / 2, one.height / 2, one.width / 2)[:dimension]
        plays = (0.0, one.clearance, one.side_clearance or one.clearance)[:dimension]
        return cls(one.a, one.b, axes_a, axes_b, sizes, plays)

    def drawn(self, view: View) -> Array:
        """Half sizes that the slider is drawn with."""
        return np.maximum(self.sizes, [0.0, *[BLOCK * view.unit] * (len(self.sizes) - 1)])


class Tunnel(_Straight):
    """The walls of a guide at -1 and 1 of all axes but the first, along which the unit is a metre."""

    def place(self, placed: Placed, view: View) -> Placing:
        scale = self.drawn(view) + view.factor * np.array(self.plays)
        return Placing(placed.spot(self.a), placed.axes(self.a.body, self.axes_a) * [1.0, *scale[1:]])


@dataclass(frozen=True)
class Face(_Straight):
    """A wall of a guide in the plane: its middle, and unit vectors along it and out of the guide."""

    #: 1 or -1
    side: float = 1.0

    def place(self, placed: Placed, view: View) -> Placing:
        axes = placed.axes(self.a.body, self.axes_a) * [1.0, self.side]
        reach = self.drawn(view)[1] + view.factor * self.plays[1]
        return Placing(placed.spot(self.a) + reach * axes[:, :, 1], axes)


class Block(_Straight):
    """A slider in a guide, with its corners at -1 and 1 of all axes."""

    def place(self, placed: Placed, view: View) -> Placing:
        guide, own = placed.axes(self.a.body, self.axes_a), placed.axes(self.b.body, self.axes_b)
        factor = np.array([1.0, *[view.factor] * (len(self.sizes) - 1)])
        # gaps of planar guides are those of the slider's axis, with walls as far away as its height
        sizes = np.array(self.sizes) * ([1.0, 0.0] if placed.dimension == 2 else 1.0)
        turned = np.einsum("nji,njk->nik", guide, own) * sizes - np.diag(sizes)
        centre = np.einsum("nji,nj->ni", guide, placed.spot(self.b) - placed.spot(self.a))
        local = np.diag(self.drawn(view)) + factor[:, None] * turned
        return Placing(
            placed.spot(self.a) + np.einsum("nij,nj->ni", guide, factor * centre),
            np.einsum("nij,njk->nik", guide, local),
        )


def basis(along: Vector | Array) -> Array:
    """Unit vectors (3, 3) as rows: along the given one, and two perpendicular to it and to each other."""
    first = np.asarray(along, float) / np.linalg.norm(along)
    second = units(np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))]))
    return np.array([first, second, np.cross(first, second)])


def units(vectors: Array) -> Array:
    """Unit vectors along vectors, zero where these are."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0)


def _rows(axes: Array) -> tuple[Vector, ...]:
    return tuple(tuple(map(float, axis)) for axis in axes)
