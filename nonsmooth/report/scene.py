"""What is drawn of a mechanism in motion, as plain data: bodies, the primitives of its elements, and their extents.

Poses are not among it: the page computes them from the coordinates. What depends on the whole motion, such as how far a
slider travels on its axis, stands here.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.bodies import Body
from nonsmooth.model.drawing import (
    Bearing,
    Box,
    Cylinder,
    Ellipsoid,
    Field,
    Guide,
    Primitive,
    Round,
    Slide,
    Solid,
    Spot,
    Turn,
    Wall,
)  # fmt: skip
from nonsmooth.plots.deformed import Deformed
from nonsmooth.plots.drawing import Drawing, Placed, magnification
from nonsmooth.plots.shapes import hull, hull_faces, outlines
from nonsmooth.plots.space import best_view, reach

__all__ = ["scene", "touches"]

#: a symbol's size is a share of the picture's, but not of more than so many bodies
BODIES_ACROSS = 6.0
#: coordinates of bodies and of point masses, from which the page knows places and axes
KNOWN = {frozenset(labels) for labels in (("x", "y"), ("x", "y", "angle"), ("x", "y", "z"))}
KNOWN.add(frozenset(("x", "y", "z", "qw", "qx", "qy", "qz")))
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def scene(drawing: Drawing, coordinates: tuple[str, ...], gaps: tuple[str, ...]) -> dict[str, Any]:
    """Bodies, shapes, parts, extents and how they are seen.

    Parameters
    ----------
    drawing
        The mechanism at the rows that are shown.
    coordinates, gaps
        Their names, to which bodies and parts refer by index.
    """
    cloud = _cloud(drawing)
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    size = float(np.max(high - low))
    if not size > 0:  # bodies at one point, without sizes: symbols in a picture of their own
        low, high, size = low - 0.1, high + 0.1, 0.2
    local = {body: _local(drawing, body) for body in drawing.bodies}
    grain = min([5.0 * size if np.ptp(cloud) == 0 else size, *_typical(list(local.values()))])
    vertical = _vertical(drawing)
    view = best_view(cloud, vertical) if drawing.dimension == 3 else (90.0, 0.0)
    index = {name: i for i, name in enumerate(gaps)}
    return {
        "dimension": drawing.dimension,
        "low": _padded(low), "high": _padded(high), "size": size, "grain": grain,
        "magnify": magnification(drawing, grain), "loose": any(map(_magnified, drawing.primitives())),
        "deformation": drawing.deformation(), "vertical": vertical, "view": list(view),
        "shaped": sorted(drawing.shaped),
        "bodies": [
            _body(part.element, coordinates, local, drawing) for part in drawing.parts if isinstance(part.element, Body)
        ],
        "parts": [
            {
                "name": part.name,
                "gaps": [index[name] for name in part.gap_names()],
                "bodies": list(part.element.body_names()) if part.gap_names() else [],
                "primitives": [_primitive(one, drawing) for one in part.primitives],
            }
            for part in drawing.parts if part.primitives
        ],
    }  # fmt: skip


def touches(drawing: Drawing) -> dict[str, Array]:
    """Of contacts in space by name, where their gaps close (n, gaps * 3) [m], in the frame of the first body."""
    found = {}
    for part in drawing.parts:
        places = drawing.placed.touches(part)
        if places is None:
            continue
        body = part.element.body_names()[0]
        offset = places - drawing.placed.position(body)[:, None, :]
        found[part.name] = np.einsum("nji,nkj->nki", drawing.placed.rotation(body), offset).reshape(len(places), -1)
    return found


def _body(body: Body, coordinates: tuple[str, ...], local: dict[str, Array], drawing: Drawing) -> dict[str, Any]:
    """Columns of its coordinates by label, and its outline: two ends of a line, or points with faces between them."""
    labels = [label for label, _ in type(body).q_columns]  # those of a rigid body
    if frozenset(labels) not in KNOWN:
        raise InputError(f'The body "{body.name}" has coordinates {", ".join(labels)}, which a page does not know.')
    columns = {label: coordinates.index(f"{body.name}.{label}") for label in labels}
    points, faces = local[body.name], []
    if points.shape[1] == 2:
        points = hull(points) if len(points) > 1 else points
        faces = [list(range(len(points)))] if len(points) > 2 else []
    elif len(points) > 2:
        faces = [np.asarray(face).tolist() for face in hull_faces(points)]
    found = {"name": body.name, "columns": columns, "points": points.tolist(), "faces": faces}
    if body.name in drawing.flexible:
        used = {spot.body for one in drawing.primitives() for spot in one.spots()}
        used |= {name for part in drawing.parts for name in part.element.body_names()}
        found["flexible"] = _flexible(drawing.flexible[body.name], coordinates, used)
    return found


def _flexible(one: Deformed, coordinates: tuple[str, ...], used: set[str]) -> dict[str, Any]:
    """Columns of its amplitudes, its curves and its used nodes: places, displacements and rotations per amplitude.

    Displacements are ``moved eta + factor bent eta``, flat with the amplitudes last.
    """
    modes = one.modes
    nodes = zip(modes.names, modes.places, one.nodes_moved, one.nodes_bent, modes.rotations, strict=True)
    return {
        "eta": [coordinates.index(f"{one.name}.eta{i + 1}") for i in range(modes.count)],
        "places": one.places.tolist(), "ends": one.ends.tolist(),
        "moved": _digits(one.moved), "bent": _digits(one.bent),
        "nodes": [
            {"name": name, "at": at.tolist(), "moved": _digits(moved), "bent": _digits(bent), "turned": _digits(turned)}
            for name, at, moved, bent, turned in nodes if f"{one.name}.{name}" in used
        ],
    }  # fmt: skip


def _digits(values: Array) -> list[float]:
    """Flat, with as many digits as a picture needs."""
    return [float(f"{x:.6g}") for x in values.ravel()]


def _local(drawing: Drawing, body: str) -> Array:
    """Points (k, d) that joints hold and the mass centre, each once, in the frame of the body."""
    points = np.array([*drawing.attachments()[body], np.zeros(drawing.dimension)])
    return np.asarray(np.unique(np.round(points, 12), axis=0))


def _typical(outlines: list[Array]) -> list[float]:
    """Several times the extent of a body in the middle of all; none where bodies are points."""
    extents = [float(np.linalg.norm(np.ptp(points, axis=0))) for points in outlines]
    known = [extent for extent in extents if extent > 0]
    return [BODIES_ACROSS * float(np.median(known))] if known else []


def _padded(point: Array) -> list[float]:
    return [*map(float, point), 0.0][:3]


def _magnified(one: Primitive) -> bool:
    return isinstance(one, Bearing | Guide)


def _vertical(drawing: Drawing) -> int:
    """The axis along which gravity acts, else the last."""
    for one in drawing.primitives():
        if isinstance(one, Field) and any(one.acceleration) and drawing.dimension == 3:
            return int(np.argmax(np.abs(one.acceleration)))
    return drawing.dimension - 1


def _cloud(drawing: Drawing) -> Array:
    """Points (k, d) of all bodies and surfaces at all rows that are shown."""
    placed, d = drawing.placed, drawing.dimension
    found = [placed.position(body) for body in drawing.bodies] or [np.zeros((1, d))]
    for body, points in drawing.attachments().items():
        if points:
            found.append(placed.points(body, np.array(points)).reshape(-1, d))
    for one in drawing.primitives():
        if isinstance(one, Round | Box | Cylinder | Ellipsoid):
            found += _around(placed, one.spot, reach(one))
        elif isinstance(one, Guide) and d == 2:
            block = SQUARE * np.array([one.length, one.height]) / 2 @ np.array([one.along_b, one.across_b])
            found.append(placed.points(one.b.body, block + np.array(one.b.at or (0.0, 0.0))).reshape(-1, d))
        elif isinstance(one, Bearing | Guide) and d == 3:
            found += _around(placed, one.b, reach(one))
    return np.concatenate([*found, *drawing.reach()])


def _around(placed: Placed, spot: Spot, distance: float) -> list[Array]:
    """Places (n, d) at a distance from a spot, along each axis."""
    middle, axes = placed.spot(spot), distance * np.eye(placed.dimension)
    return [middle + step for step in (*axes, *-axes)]


# ----------------------------------------------------------------------------------------------------------- primitives


def _primitive(one: Primitive, drawing: Drawing) -> dict[str, Any]:
    """Its kind and fields, and what depends on the motion: `span` or `corners`."""
    data: dict[str, Any] = {"kind": type(one).__name__}
    if isinstance(one, Solid):
        return data | _solid(one, drawing.dimension)
    for field in dataclasses.fields(one):
        value = getattr(one, field.name)
        data[field.name] = {"body": value.body, "at": list(value.at)} if isinstance(value, Spot) else value
    if isinstance(one, Slide | Guide):
        data["span"] = _span(drawing.placed, one.a, one.along, one.b)
    elif isinstance(one, Wall) and drawing.dimension == 2:
        data["span"] = _span(drawing.placed, one.spot, (one.normal[1], -one.normal[0]), one.near)
    elif isinstance(one, Wall):
        data["corners"] = _corners(one, drawing)
    elif isinstance(one, Turn):
        pivot = drawing.pivot(one)
        data["pivot"] = {"body": pivot.body, "at": list(pivot.at)}
    return data


def _solid(one: Solid, dimension: int) -> dict[str, Any]:
    """A shape: polygons in the plane, points and faces in space."""
    data = {"body": one.spot.body, "convex": one.convex}
    if dimension == 2:
        return data | {"polygons": [_digits(polygon) for polygon in outlines(one)]}
    return data | {"points": _digits(one.points), "faces": one.faces}


def _span(placed: Placed, origin: Spot, along: tuple[float, ...], moving: Spot) -> list[float]:
    """Least and greatest coordinate of a spot along an axis through another [m]."""
    axis = placed.vectors(origin.body, along)
    axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
    x = np.sum((placed.spot(moving) - placed.spot(origin)) * axis, axis=1)
    return [float(x.min()), float(x.max())]


def _corners(one: Wall, drawing: Drawing) -> list[list[float]]:
    """Corners (4, 3) of the part of a wall that is faced during the motion, in the frame of its body."""
    placed, base = drawing.placed, np.array(one.spot.at or (0.0, 0.0, 0.0))
    normal = np.array(one.normal) / np.linalg.norm(one.normal)
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    offset = placed.spot(one.near) - placed.spot(one.spot)
    x, y = (np.sum(offset * placed.vectors(one.spot.body, axis), axis=1) for axis in (first, second))
    room = max(1.2 * one.radius, 0.08 * float(np.linalg.norm(np.ptp(_cloud(drawing), axis=0))))
    ends = [(x.min() - room, x.max() + room), (y.min() - room, y.max() + room)]
    return [(base + ends[0][i] * first + ends[1][j] * second).tolist() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
