"""A mechanism in motion as plain data: its bodies, its pieces with their frames, and its extents.

Pieces are those of sketches and animations. Poses are not among it: the page computes them from the coordinates, so
that it can draw any time and any magnification.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.bodies import Body
from nonsmooth.model.drawing import Field, Spot
from nonsmooth.plots.drawing import Deformed, Drawing, magnification
from nonsmooth.plots.frames import Frame, touches
from nonsmooth.plots.pieces import Piece, pieces
from nonsmooth.plots.scene import best_view

#: coordinates of bodies and of point masses, from which the page knows places and axes
KNOWN = {frozenset(labels) for labels in (("x", "y"), ("x", "y", "angle"), ("x", "y", "z"))}
KNOWN.add(frozenset(("x", "y", "z", "qw", "qx", "qy", "qz")))
#: what a piece is if it does not say so
USUAL = {field.name: field.default for field in dataclasses.fields(Piece) if field.name not in ("frame", "points")}


def scene(drawing: Drawing, coordinates: tuple[str, ...], gaps: tuple[str, ...]) -> dict[str, Any]:
    """Bodies, frames, pieces, contacts, extents and how they are seen.

    Parameters
    ----------
    drawing
        The mechanism at the rows that are shown.
    coordinates, gaps
        Their names, to which bodies and contacts refer by index; frames are referred to by index as well.
    """
    low, high = drawing.cloud.min(axis=0), drawing.cloud.max(axis=0)
    index, vertical = {name: i for i, name in enumerate(gaps)}, drawing.vertical
    known: dict[Frame, int] = {}
    drawn = []
    for one in pieces(drawing)[0]:
        values = {name: getattr(one, name) for name in USUAL}
        kept = {
            name: value for name, value in values.items() if name in ("shape", "colour", "of") or value != USUAL[name]
        }
        points = [None if np.isnan(point).any() else _digits(point) for point in one.points]
        drawn.append(kept | {"points": points, "frame": known.setdefault(one.frame, len(known))})
    contacts = [
        {"gaps": [index[name] for name in place.gaps], "frame": known.setdefault(place.frame, len(known))}
        for place in touches(drawing)
    ]
    fields = [one.acceleration for one in drawing.primitives() if isinstance(one, Field) and any(one.acceleration)]
    view = best_view(drawing.cloud, vertical) if drawing.dimension == 3 else (90.0, 0.0)
    bodies = [part.element for part in drawing.parts if isinstance(part.element, Body)]
    return {
        "dimension": drawing.dimension,
        "low": _padded(low), "high": _padded(high), "size": drawing.size, "grain": drawing.grain,
        "magnify": magnification(drawing, drawing.grain), "loose": drawing.loose,
        "deformation": drawing.deformation(), "vertical": vertical, "view": list(view),
        "shaped": sorted(drawing.shaped), "fields": [_padded(one) for one in fields],
        "bodies": [_body(body, coordinates, drawing) for body in bodies],
        "frames": [_frame(one) for one in known], "pieces": drawn, "contacts": contacts,
    }  # fmt: skip


def _frame(one: Frame) -> dict[str, Any]:
    """A frame: its kind and its fields."""
    values = {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}
    spots = {name: {"body": value.body, "at": value.at} for name, value in values.items() if isinstance(value, Spot)}
    frames = {name: _frame(value) for name, value in values.items() if isinstance(value, Frame)}
    return {"kind": type(one).__name__} | values | spots | frames


def _body(body: Body, coordinates: tuple[str, ...], drawing: Drawing) -> dict[str, Any]:
    """Columns of its coordinates by label, and how it is bent."""
    labels = [label for label, _ in type(body).q_columns]  # those of a rigid body
    if frozenset(labels) not in KNOWN:
        raise InputError(f'The body "{body.name}" has coordinates {", ".join(labels)}, which a page does not know.')
    columns = {label: coordinates.index(f"{body.name}.{label}") for label in labels}
    found: dict[str, Any] = {"name": body.name, "columns": columns}
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


def _padded(point: Sequence[float] | Array) -> list[float]:
    return [*map(float, point), 0.0][:3]
