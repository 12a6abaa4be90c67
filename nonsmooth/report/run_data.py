"""All that a page shows of one run, as plain values and one text of packed numbers.

Of the mechanism these are bodies, pieces with their frames, as of sketches and animations, and extents. The page
computes poses from the coordinates, so that it can draw any time and any magnification.
"""

from __future__ import annotations

import base64
import dataclasses
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.modes import CORNERS, mode_timeline
from nonsmooth.exceptions import InputError, NonsmoothError
from nonsmooth.files import plain
from nonsmooth.model.bodies import Body
from nonsmooth.model.drawing import Field, Spot
from nonsmooth.plots.drawing import Drawing, drawing_of_run, magnification
from nonsmooth.plots.frames import Frame, touches
from nonsmooth.plots.orbits import journal_paths
from nonsmooth.plots.panel import energies_before
from nonsmooth.plots.pieces import Piece, pieces
from nonsmooth.plots.scene import best_view
from nonsmooth.trajectory import Trajectory

#: coordinates of bodies and of point masses, from which the page knows places and axes
KNOWN = {frozenset(labels) for labels in (("x", "y"), ("x", "y", "angle"), ("x", "y", "z"))}
KNOWN.add(frozenset(("x", "y", "z", "qw", "qx", "qy", "qz")))
#: what a piece is if it does not say so
USUAL = {field.name: field.default for field in dataclasses.fields(Piece) if field.name not in ("frame", "points")}
CHARTS = ("q", "v", "lam_N", "gap", "reaction", "energy")  # tables of a run that have charts
#: what a manifest that was changed by hand may raise where its elements are made again
FAULTS = (NonsmoothError, KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError)
NO_FORCE = 1e-6  # share of the largest contact force below which no arrow is drawn
#: share of the largest impulse, and of the largest velocity at an impact, below which these are round-off
ROUND_OFF = 1e-12
ORBIT_POINTS = 30_000  # points of the paths of all journals, as far as their contacts leave a choice
RowIndices = NDArray[np.intp]


def scene(drawing: Drawing, coordinates: tuple[str, ...], gaps: tuple[str, ...]) -> dict[str, Any]:
    """Bodies, frames, pieces, contacts, extents and how they are seen; coordinates, gaps, frames by index."""
    low, high = drawing.cloud.min(axis=0), drawing.cloud.max(axis=0)
    index, vertical = {name: i for i, name in enumerate(gaps)}, drawing.vertical
    known: dict[Frame, int] = {}
    drawn = []
    for one in pieces(drawing)[0]:
        values = {name: getattr(one, name) for name in USUAL if getattr(one, name) != USUAL[name]}
        points = [None if np.isnan(point).any() else _digits(point) for point in one.points]
        drawn.append(values | {"points": points, "frame": known.setdefault(one.frame, len(known))})
    contacts = [
        {"gaps": [index[name] for name in place.gaps], "frame": known.setdefault(place.frame, len(known))}
        for place in touches(drawing)
    ]
    fields = [one.acceleration for one in drawing.primitives(Field) if any(one.acceleration)]
    view = best_view(drawing.cloud, vertical) if drawing.dimension == 3 else (90.0, 0.0)
    bodies = [part.element for part in drawing.parts if isinstance(part.element, Body)]
    return {
        "dimension": drawing.dimension,
        "low": _padded(low), "high": _padded(high), "size": drawing.size, "grain": drawing.grain,
        "magnify": magnification(drawing), "loose": drawing.loose,
        "deformation": drawing.deformation(), "vertical": vertical, "view": list(view),
        "shaped": sorted(drawing.shaped), "fields": [_padded(one) for one in fields],
        "bodies": [_body(body, coordinates, drawing) for body in bodies],
        "frames": [_frame(one) for one in known], "pieces": drawn, "contacts": contacts,
    }  # fmt: skip


def _frame(one: Frame) -> dict[str, Any]:
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
        bent = drawing.flexible[body.name]
        modes = bent.modes
        nodes = zip(modes.names, modes.places, bent.nodes_moved, bent.nodes_bent, modes.rotations, strict=True)
        # displacements are ``moved eta + factor bent eta``, flat with the amplitudes last
        found["flexible"] = {
            "eta": [coordinates.index(f"{body.name}.eta{i + 1}") for i in range(modes.count)],
            "places": bent.places.tolist(), "ends": bent.ends.tolist(),
            "moved": _digits(bent.moved), "bent": _digits(bent.bent),
            "nodes": [
                {"name": name, "at": at.tolist(), "moved": _digits(moved), "bent": _digits(by), "turned": _digits(turn)}
                for name, at, moved, by, turn in nodes if f"{body.name}.{name}" in used
            ],
        }  # fmt: skip
    return found


def _digits(values: Array) -> list[float]:
    """Flat, with as many digits as a picture needs."""
    return [float(f"{x:.6g}") for x in values.ravel()]


def _padded(point: Sequence[float] | Array) -> list[float]:
    return [*map(float, point), 0.0][:3]


def facts(run: Trajectory, label: str, most: int) -> tuple[dict[str, Any], str]:
    """Plain values, to be JSON, and packed numbers of a run with about so many rows, and those of impacts and jumps."""
    names, (corner, *rest) = run.gap.names, CORNERS
    guides = [name.removesuffix(f".{corner}") for name in names if name.endswith(f".{corner}")]
    sliders = [guide for guide in guides if all(f"{guide}.{other}" in run.gap for other in rest)]
    lines = [mode_timeline(run, name) for name in (*sliders, *names)]
    usable = np.flatnonzero(np.isfinite(run.q.array).all(axis=1) & np.isfinite(run.t))
    shown = np.column_stack([run.q.array, run.lam_N.array, run.gap.array])[usable]
    # always kept: jumps of a velocity, impacts, changes of a contact mode
    starts = [line.start for line in lines]
    changes = np.searchsorted(run.t, np.unique(np.concatenate(starts))) if starts else np.zeros(0, int)
    jumps = np.flatnonzero(np.any(run.left.v.array != run.v.array, axis=1))
    hits = np.clip(np.searchsorted(run.t, np.unique(run.impacts["t"])), 0, len(run.t) - 1)
    marked = np.flatnonzero(np.isin(usable, np.concatenate([changes, jumps, hits])))
    keep: RowIndices = usable[kept_rows(run.t[usable], np.nan_to_num(shown), marked, most)]
    numbers = Packer()
    _pack_tables(numbers, run, keep)
    for k, line in enumerate(lines):
        numbers.add(f"mode_start_{k}", line.start, "f8")
        numbers.add(f"mode_{k}", line.mode, "u1")
    drawn, fault = _scene(numbers, run, keep)
    paths = journal_paths(run) if drawn else []
    for k, path in enumerate(paths):  # points are left out where there are many
        finite, changes = np.nan_to_num(path.e), np.flatnonzero(np.diff(path.pressing)) + 1
        shown_points = kept_rows(path.t, finite, changes, min(most, ORBIT_POINTS // len(paths)))
        numbers.add(f"orbit_t_{k}", path.t[shown_points], "i4")
        numbers.add(f"orbit_{k}", finite[shown_points], "i2")
        numbers.add(f"orbit_pressing_{k}", path.pressing[shown_points[:-1]], "u1")
    orbits = [{"name": one.name, "gap": one.gap, "axes": one.axes, "clearance": one.clearance} for one in paths]
    found = {
        "label": label, "rows": len(run.t), "shown": len(keep), "unusable": len(run.t) - len(usable),
        "error": reading_error(run.t, np.nan_to_num(run.q.array), keep), "impacts": len(run.impacts),
        "compliant": run.compliant, "start": float(run.t[0]), "end": float(run.t[-1]),
        "names": {name: list(getattr(run, name).names) for name in CHARTS},
        "units": {name: list(getattr(run, name).unit_list) for name in CHARTS},
        "timelines": [{"name": line.name, "modes": list(line.modes)} for line in lines],
        "scene": drawn, "orbits": orbits, "fault": fault, "index": numbers.index,
    }  # fmt: skip
    return plain(found), numbers.text()


def name_of(run: Trajectory) -> str:
    model = run.manifest.get("model", {})
    return str(model.get("name") or model.get("problem") or "run")


def _pack_tables(numbers: Packer, run: Trajectory, keep: RowIndices) -> None:
    """Times and charts, left limits at the rows where something jumps, and all impacts, whatever rows are shown."""
    numbers.add("t", run.t[keep], "f8")
    numbers.add("q", run.q.array[keep], "i4")
    for name in CHARTS[1:]:
        numbers.add(name, getattr(run, name).array[keep], "f4")
    left, energy = run.left.v.array, energies_before(run)
    jumps = np.flatnonzero(np.any(left != run.v.array, axis=1)[keep])
    every_step = run.counts.get("steps") == len(run.t) - 1 and not np.any(run.energy["work_drivers"])
    if run.origin is None and not every_step:  # rows do not tell energies before impacts
        energy[:, run.energy.names.index("kinetic")] = np.nan
    numbers.add("jump_row", jumps, "u4")
    numbers.add("jump_v", left[keep][jumps], "f4")
    numbers.add("jump_energy", energy[keep][jumps], "f4")
    index, table = {name: i for i, name in enumerate(run.gap.names)}, run.impacts
    numbers.add("impact_t", table["t"], "f8")
    numbers.add("impact_gap", [index.get(str(name), 0) for name in table["contact"]], "u4")
    columns = [np.array([table[name] for name in pair]) for pair in (("P_N", "P_T"), ("gamma_minus", "gamma_plus"))]
    for one in columns:
        one[abs(one) < ROUND_OFF * np.max(abs(one), initial=0.0)] = 0.0
    numbers.add("impacts", np.concatenate(columns).T, "f4")


def _scene(numbers: Packer, run: Trajectory, keep: RowIndices) -> tuple[dict[str, Any] | None, str]:
    """The drawing, with places and forces of contacts; or the reason why there is none."""
    try:
        drawing = drawing_of_run(run, run.t[keep])
        drawn = scene(drawing, run.q.names, run.gap.names)
        places = touches(drawing)
        if run.gap.names:
            if places and places[0].normals is None:  # in space
                forces = run.contact_force.array[keep].reshape(len(keep), len(run.gap.names), 3)
            else:  # in the plane the normal ones, of contacts whose place is known
                forces = np.zeros((len(keep), len(run.gap.names), 2))
                for place in places:
                    assert place.normals is not None
                    which = [run.gap.names.index(name) for name in place.gaps]
                    forces[:, which] = run.lam_N.array[keep][:, which, None] * place.normals
            size = np.linalg.norm(forces, axis=2, keepdims=True)
            numbers.add("force", _in_space(np.where(size > NO_FORCE * size.max(initial=0.0), forces, 0.0)), "i2")
        for k, place in enumerate(places):
            numbers.add(f"touch_{k}", _in_space(place.local), "i2")
    except FAULTS as error:
        sentence = str(error) or type(error).__name__
        return None, sentence if isinstance(error, NonsmoothError) else f"{type(error).__name__}: {sentence}"
    return drawn, ""


def _in_space(vectors: Array) -> Array:
    return np.pad(vectors, ((0, 0), (0, 0), (0, 3 - vectors.shape[2]))).reshape(len(vectors), -1)


def kept_rows(t: Array, columns: Array, marked: RowIndices, most: int) -> RowIndices:
    """Rows to show, ascending: all up to `most`; else marked ones with their neighbours, extremes, and an even rest."""
    n = len(t)
    if n <= most:
        return np.arange(n)
    kept = np.zeros(n, bool)
    kept[[0, -1]] = True
    for shift in (-1, 0, 1):  # rows next to an impact show the values before and after its jump
        kept[np.clip(marked + shift, 0, n - 1)] = True
    varying = columns[:, np.ptp(columns, axis=0) > 0]
    intervals = max(max(most - int(kept.sum()), 0) // (4 * max(varying.shape[1], 1)), 8)
    edges = np.unique(np.searchsorted(t, np.linspace(t[0], t[-1], intervals + 1)))
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        part = varying[first:last]
        kept[first + part.argmin(axis=0)] = True
        kept[first + part.argmax(axis=0)] = True
    left = most - int(kept.sum())
    if left > 0:  # extremes alone leave long intervals without a row, in which interpolation is poor
        even = np.searchsorted(t, np.linspace(t[0], t[-1], left + 2)[1:-1])
        kept[even.clip(0, n - 1)] = True
    return np.flatnonzero(kept)


def reading_error(t: Array, columns: Array, kept: RowIndices) -> float:
    """Largest distance between a column and the line through its kept rows, over the column's range [-]."""
    if len(kept) == len(t):
        return 0.0
    apart = [np.max(np.abs(np.interp(t, t[kept], column[kept]) - column)) for column in columns.T]
    spans = np.ptp(columns, axis=0)
    return max((float(one) / float(span) for one, span in zip(apart, spans, strict=True) if span > 0), default=0.0)


class Packer:
    """Collects tables of numbers; `text` is the whole, `index` says where each begins and how it is stored.

    Kinds are ``f8`` as it is; ``f4`` with a significand of 16 bits, 1.5e-5 relative; ``i4`` whole numbers of a 2^31st
    of the column's range as second differences, 2.3e-10 of the range, for coordinates, since clearances are small
    compared with unwrapped angles; ``i2`` of a 65534th of it, for what is only drawn; ``u1`` and ``u4`` whole numbers.
    """

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []
        self._at = 0

    def add(self, name: str, table: ArrayLike, kind: str) -> None:
        """Add a table (rows, columns), or one column (rows,)."""
        columns = np.ascontiguousarray(np.atleast_2d(np.asarray(table, dtype=float).T))
        entry: dict[str, Any] = {"kind": kind, "shape": list(columns.shape), "at": self._at}
        if kind in ("i4", "i2"):
            # whole numbers of a share of each column's range
            low, step, whole = np.zeros(len(columns)), np.ones(len(columns)), np.zeros(columns.shape, np.int64)
            if columns.shape[1]:
                low, span = columns.min(axis=1), np.ptp(columns, axis=1)
                step = np.where(span > 0, span, 1.0) / (2.0**31 - 2 if kind == "i4" else 65534.0)
                whole = np.rint((columns - low[:, None]) / step[:, None]).astype(np.int64)
            if kind == "i4":
                whole = np.diff(whole, n=2, axis=1, prepend=np.zeros((len(whole), 2), np.int64)) & 0xFFFFFFFF
            entry |= {"low": low.tolist(), "step": step.tolist()}
            numbers = whole.astype("<u4" if kind == "i4" else "<u2")
        elif kind == "f4":
            bits = columns.astype("<f4").view("<u4")
            numbers = ((bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00)).view("<f4")  # the nearest
        else:
            numbers = columns.astype("u1" if kind == "u1" else f"<{kind}")
        size = numbers.itemsize
        planes = numbers.view("u1").reshape(len(columns), columns.shape[1], size).transpose(0, 2, 1)
        self._parts.append(planes.tobytes())
        self._at += numbers.nbytes
        self.index[name] = entry

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")
