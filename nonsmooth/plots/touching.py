"""Where and in which direction contacts push on their second bodies, in frames in which clearances are magnified."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.contacts import Contact
from nonsmooth.model.drawing import Bearing, Guide, Primitive, Spot, Touch, Wall
from nonsmooth.plots.drawing import Drawing, Drawn, Placed
from nonsmooth.plots.frames import At, Block, Frame, Sleeve, units

#: corners of a slider in a planar guide in the order of its gaps: end (-1 left) and side (-1 lower)
CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])


class Touching(NamedTuple):
    """Places of the gaps of a contact.

    Parameters
    ----------
    gaps
        Their names.
    frame
        A frame in which they stand, magnified as what is drawn there.
    local
        Places (n, gaps, d) in it.
    normals
        In the plane directions (n, gaps, d) of the normal forces on the second body, in the ground frame.
    """

    gaps: tuple[str, ...]
    frame: Frame
    local: Array
    normals: Array | None


def touching(placed: Placed, part: Drawn) -> Touching | None:
    """Of a contact; None of other elements, and of contacts in the plane whose primitives do not tell it."""
    if not isinstance(part.element, Contact):
        return None
    normals: Array | None = None
    if placed.dimension == 2:
        pushes = [push for one in part.primitives for push in _planar(placed, one)]
        if len(pushes) != len(part.gap_names()):
            return None
        points, normals = (np.stack(column, axis=1) for column in zip(*pushes, strict=True))
    else:
        points = placed.touches(part)
    gaps = part.gap_names()
    for one in part.primitives:
        if isinstance(one, Bearing):
            sleeve = Sleeve.of(one, placed.dimension)
            local = (points - placed.spot(one.a)[:, None]) @ placed.axes(one.a.body, sleeve.axes_a)
            if not sleeve.long:
                return Touching(gaps, sleeve, units(local), normals)
            along = 2 * local[..., :1] / one.length if one.length else 0.0 * local[..., :1]
            return Touching(gaps, sleeve, np.concatenate([along, units(local[..., 1:])], axis=2), normals)
        if isinstance(one, Guide):
            block = Block.of(one, placed.dimension)
            if normals is not None:
                return Touching(gaps, block, np.broadcast_to(CORNERS, points.shape), normals)
            local = (points - placed.spot(one.b)[:, None]) @ placed.axes(one.b.body, block.axes_b)
            return Touching(gaps, block, local / np.maximum(block.sizes, 1e-300), normals)
    body = part.element.body_names()[0]
    local = (points - placed.position(body)[:, None]) @ placed.rotation(body)
    return Touching(gaps, At(Spot(body)), local, normals)


def touches(drawing: Drawing) -> list[Touching]:
    """Of all contacts of a drawing whose places are known."""
    return [place for part in drawing.parts if (place := touching(drawing.placed, part)) is not None]


def _planar(placed: Placed, one: Primitive) -> list[tuple[Array, Array]]:
    """Place (n, 2) and direction (n, 2) of the push at each gap of a primitive of the plane."""
    if isinstance(one, Bearing):
        end = placed.spot(one.b)
        return [(end, -units(end - placed.spot(one.a)))]
    if isinstance(one, Guide):
        across = placed.vectors(one.a.body, one.across)
        return [(placed.spot(one.b), -side * across) for _, side in CORNERS]
    if isinstance(one, Wall):
        normal = placed.vectors(one.spot.body, one.normal)
        return [(placed.spot(one.near) - one.radius * normal, normal)]
    if isinstance(one, Touch):
        a, line = placed.spot(one.a), placed.spot(one.b) - placed.spot(one.a)
        return [(a + one.share * line, units(line))]
    return []
