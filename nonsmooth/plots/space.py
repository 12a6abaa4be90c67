"""Pictures of a mechanism in space: bodies, joints and contacts as lines and faces on matplotlib's axes of space.

A body is drawn from its joints' points and its mass centre, with a small triad of its axes (x red, y green, z blue).
One scene serves a sketch, with a single picture, and an animation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.drawing import Bearing, Box, Cylinder, Field, Guide, Round, Vector, Wall
from nonsmooth.plots.drawing import Drawing, bearing_radius, half_height, magnification, magnified
from nonsmooth.plots.labels import write_names
from nonsmooth.plots.motion import FAINT, INK, SIZE
from nonsmooth.plots.plan import Labels
from nonsmooth.plots.planar_film import ARROW, BODIES, FORCE, GROUND, SHORTEST
from nonsmooth.plots.scale_bar import draw_scale
from nonsmooth.plots.shapes import head, hull_faces, joined, star
from nonsmooth.plots.space_symbols import LOOSE, draw_element
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SpatialScene", "View", "spatial_sketch"]

#: elevation and azimuth of the viewer [deg]
View = tuple[float, float]
#: the views that are tried, the first of which is taken unless another one shows clearly more
VIEWS: tuple[View, ...] = ((22.0, -60.0), (22.0, -30.0), (22.0, -120.0), (22.0, -150.0), (50.0, -60.0))
CLEARLY = 1.35
TRIAD, TRIAD_COLOURS = 0.05, ("#C0392B", "#1E8449", "#2471A3")
#: of the page: width, least and greatest height, margin, room for notes [inch]
WIDTH, LEAST, MOST, ROOM, NOTES = 6.4, 3.2, 6.0, 0.45, 0.42


class SpatialScene:
    """What is drawn, each with a move to the picture k.

    Parameters
    ----------
    drawing
        The mechanism at the times of the pictures.
    magnify, deformation
        How many times too large clearances and deflections are drawn; None for readable ones.
    view : (elevation, azimuth) [deg], optional
        Where it is seen from; where it shows well, if omitted.
    loads
        Whether to draw loads and drivers.
    """

    what = "mean contact forces from picture to picture, without impacts"

    def __init__(
        self, drawing: Drawing, magnify: float | None, view: View | None = None, loads: bool = False,
        deformation: float | None = None,
    ) -> None:  # fmt: skip
        from matplotlib.figure import Figure

        self.drawing, self.placed, self.loads = drawing, drawing.placed, loads
        self.colours = drawing.coloured(BODIES)
        self.cloud = cloud = self._cloud()
        self.low, self.high = cloud.min(axis=0), cloud.max(axis=0)
        self.sized = bool(np.max(self.high - self.low) > 0)
        if not self.sized:  # bodies at one point, without sizes: symbols in a page of their own
            self.low, self.high = self.low - 0.5, self.high + 0.5
            self.cloud = cloud = 0.7 * cloud.mean(axis=0) + 0.3 * np.array([self.low, self.high])
        self.size = float(np.max(self.high - self.low))
        self.factor = magnification(drawing, self.size) if magnify is None else float(magnify)
        #: of deflections; 0 where no body is deformed
        self.bent = drawing.deformation() if deformation is None else float(deformation)
        drawing.deform(self.bent or 1.0)
        self.vertical = self._vertical()
        self.view = best_view(cloud, self.vertical) if view is None else checked_view(view)
        #: unit vector towards the viewer, to the right and up in the picture
        self.toward = seen_from(self.view, self.vertical)
        self.right = np.cross(np.eye(3)[self.vertical], self.toward)
        self.right /= np.linalg.norm(self.right)
        self.up = np.cross(self.toward, self.right)
        self.figure = Figure(figsize=(WIDTH, WIDTH), dpi=110 if not loads else 200)
        self.axes: Any = self.figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", proj_type="ortho")
        self.axes.set_axis_off()
        self.axes.patch.set_visible(False)
        self.moves: list[Callable[[int], None]] = []
        self.lines: list[Array] = []
        self.longest, self.contacts = 0.0, 0
        #: by element, how a point of it (n, k, 3) is shown where clearances are magnified
        self.shown: dict[str, Callable[[Array], Array]] = {}
        self.anchors: dict[str, Array] = {}
        for body in drawing.bodies:
            self._body(body)
        for part in drawing.parts:
            draw_element(self, part)
        self._fit()

    # --------------------------------------------------------------------------------------------------------- view

    def _cloud(self) -> Array:
        """Points (k, 3) of all bodies and surfaces at all times."""
        found = [self.placed.position(body) for body in self.drawing.bodies] or [np.zeros((1, 3))]
        found += [
            self.placed.points(body, np.array(points)).reshape(-1, 3)
            for body, points in self.drawing.attachments().items()
            if points
        ]
        for one in self.drawing.primitives():
            if isinstance(one, Bearing | Box | Cylinder | Guide | Round):
                spot = one.b if isinstance(one, Bearing | Guide) else one.spot
                steps = reach(one) * np.vstack([np.eye(3), -np.eye(3)])
                found += [self.placed.spot(spot) + step for step in steps]
        return np.concatenate(found)

    def _vertical(self) -> int:
        """The axis that stands upright: the one along which gravity acts, else z."""
        for one in self.drawing.primitives():
            if isinstance(one, Field) and any(one.acceleration):
                return int(np.argmax(np.abs(one.acceleration)))
        return 2

    def _fit(self) -> None:
        """Page and scale such that everything is seen, equal along all axes."""
        points = np.concatenate([self.cloud, *(line.reshape(-1, 3) for line in self.lines)])
        points = points[np.isfinite(points).all(axis=1)]
        low, high = points.min(axis=0), points.max(axis=0)
        high = np.maximum(high, low + 1e-3 * self.size)
        self.axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        self.axes.view_init(*self.view, vertical_axis="xyz"[self.vertical])
        self.axes.set_box_aspect(high - low, zoom=1.0)
        spans = np.ptp(np.column_stack([points @ self.right, points @ self.up]), axis=0)
        inner, notes = WIDTH - 2 * ROOM, NOTES if self.shown or not self.loads else 0.0
        height = float(np.clip(inner * spans[1] / spans[0] + 2 * ROOM, LEAST, MOST)) if spans[0] > 0 else MOST
        page, room = np.array([WIDTH, height + notes]), np.array([inner, height - 2 * ROOM])
        self.figure.set_size_inches(*page)
        side, shift, zoom = 3 * page.max(), np.zeros(2), 1.0  # beyond its own square nothing is drawn
        for _ in range(2):  # the second time the scale is right, so that the middle can be found
            self.axes.set_box_aspect(high - low, zoom=zoom)
            self._place((page - side) / 2, side, page)
            seen = self.pixels(points) / self.figure.dpi
            zoom *= float(np.min(room / np.maximum(np.ptp(seen, axis=0), 1e-9)))
            shift = (page + [0.0, notes]) / 2 - (seen.min(axis=0) + seen.max(axis=0)) / 2
        self._place((page - side) / 2 + shift, side, page)

    def _place(self, corner: Array, side: float, page: Array) -> None:
        """Square axes with this corner and side on a page [inch]."""
        self.axes.set_position((*(corner / page), *(side / page)))

    def pixels(self, points: Array) -> Array:
        """Where points (k, 3) are on the page (k, 2) [pixel]."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        self.axes.apply_aspect()
        x, y, _ = proj_transform(*points.T, self.axes.get_proj())
        return np.asarray(self.axes.transData.transform(np.column_stack([x, y])))

    def metre(self) -> float:
        """How long a metre across the line of sight is on the page [pixel]; the view has no perspective."""
        middle = (self.low + self.high) / 2
        ends = self.pixels(np.array([middle, middle + self.size * self.right]))
        return float(np.linalg.norm(ends[1] - ends[0]) / self.size)

    # ------------------------------------------------------------------------------------------------------ artists

    def colour(self, body: str) -> str:
        return self.colours.get(body, GROUND)

    def line(self, course: Array, fit: bool = True, **style: Any) -> None:
        """A polyline (n, k, 3) that moves."""
        known: dict[str, Any] = {"color": INK, "lw": 1.2, "solid_capstyle": "round"}
        (artist,) = self.axes.plot([], [], [], **(known | style))
        self.moves.append(lambda k: artist.set_data_3d(*course[k].T))
        artist.set_data_3d(*course[0].T)
        if fit:
            self.lines.append(course)

    def faces(self, course: Array | list[Array], colour: str, alpha: float) -> None:
        """Polygons (n, m, corners, 3) that move, or a list of m such polygons (n, corners, 3)."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        def at(k: int) -> list[Array]:
            return [polygon[k] for polygon in course] if isinstance(course, list) else list(course[k])

        artist = Poly3DCollection(at(0), facecolor=colour, edgecolor="none", alpha=alpha)
        self.axes.add_collection3d(artist, autolim=False)
        self.moves.append(lambda k: artist.set_verts(at(k)))

    def dot(self, place: Array, **style: Any) -> None:
        """A marker (n, 3)."""
        self.line(place[:, None], ls="", **style)

    def arrow(self, start: Array, end: Array, colour: str, lw: float = 1.4) -> None:
        """Arrows between points (n, 3), or several between (n, m, 3); points that are not numbers are left out."""
        start, end = (np.asarray(x).reshape(len(x), -1, 3) for x in (start, end))
        triangles = head(end, end - start, self.toward, 0.04 * self.size)
        base = triangles[..., 1:, :].mean(axis=-2)
        gap = np.full_like(start, np.nan)
        shafts = np.stack([start, base, gap], axis=2).reshape(len(start), -1, 3)
        self.line(shafts, color=colour, lw=lw, zorder=20)
        self.lines.append(end)
        self.faces(triangles, colour, 1.0)

    # ------------------------------------------------------------------------------------------------------- bodies

    def _body(self, body: str) -> None:
        """Lines from the mass centre to the points that joints hold, faces between these, a triad, the path."""
        colour, centre = self.colour(body), self.placed.position(body)
        attached = self.drawing.attachments()[body]
        local = np.unique(np.round(np.array([*attached, np.zeros(3)]), 12), axis=0)
        points = self.placed.points(body, local)
        curves = self.drawing.curves(body, self.bent or 1.0) if body in self.drawing.flexible else points[:, :0]
        if curves.shape[1]:
            self.line(curves, color=colour, lw=3.0, alpha=0.75)
        elif len(local) > 1:
            self.line(star(centre, points), color=colour, lw=3.0, alpha=0.75)
            faces = hull_faces(local)
            if faces:
                self.faces([points[:, face] for face in faces], colour, 0.25 if len(faces) == 1 else 0.1)
                outline = [points[:, [*face, face[0]]] for face in faces]
                self.line(joined(*outline), color=colour, lw=1.0, alpha=0.6)
        self.dot(centre, marker="o", ms=3.0, color=colour)
        for axis, tint in zip(np.eye(3), TRIAD_COLOURS, strict=True):
            tip = centre + TRIAD * self.size * self.placed.vectors(body, axis)
            self.line(np.stack([centre, tip], axis=1), color=tint, lw=0.9, zorder=12)
        if self.drawing.between is not None:
            path = self.drawing.between.position(body)
            self.line(np.broadcast_to(path, (len(centre), *path.shape)), color=colour, lw=0.7, alpha=0.5)

    def bearing_radius(self, own: float) -> float:
        """Radius that a bearing is drawn with."""
        return bearing_radius(self.size, own)

    def half_height(self, guide: Guide) -> float:
        """Half the height that a slider is drawn with."""
        return half_height(guide, self.size)

    def walls(self, one: Wall) -> tuple[bool, list[Wall]]:
        """All walls in the same plane of the same body, and whether this is the first of them."""

        def key(wall: Wall) -> tuple[Any, ...]:
            normal = unit(wall.normal)
            offset = float(normal @ np.array(wall.spot.at or (0.0, 0.0, 0.0)))
            return wall.spot.body, *np.round(normal, 9), round(offset / self.size, 9)

        same = [wall for wall in self.drawing.primitives() if isinstance(wall, Wall) and key(wall) == key(one)]
        return same[0] is one, same

    # -------------------------------------------------------------------------------------------------------- forces

    def arrows(self, trajectory: Trajectory, t: Array) -> None:
        """Mean forces on the second bodies between the pictures at times t, where they act."""
        forces = mean_vectors(trajectory, t)
        places, names = [], list(trajectory.gap.names)
        for part in self.drawing.parts:
            touched = self.placed.touches(part)
            if touched is None:
                continue
            shown = self.shown.get(part.name, lambda points: points)(touched)
            places += [(names.index(name), shown[:, i]) for i, name in enumerate(part.gap_names())]
        self.contacts = len(places)
        sizes = np.linalg.norm(forces, axis=2)
        self.longest = float(sizes.max(initial=0.0))
        if self.longest > 0:
            order = [i for i, _ in places]
            share, start = sizes[:, order] / self.longest, np.stack([place for _, place in places], axis=1)
            vectors = ARROW * self.size / self.longest * forces[:, order]
            vectors = np.where((share > SHORTEST)[:, :, None], vectors, 0.0)
            self.arrow(start, start + vectors, FORCE, lw=2.0)
            self._fit()


def mean_vectors(trajectory: Trajectory, t: Array) -> Array:
    """Mean contact forces (n, nc, 3) [N] from picture to picture, of the first zeros; impacts are left out."""
    names = trajectory.gap.names
    rows = np.stack([trajectory.contact_force[name] for name in names], axis=1)
    impulse = np.concatenate(
        [np.zeros((1, *rows.shape[1:])), np.cumsum(rows[1:] * np.diff(trajectory.t)[:, None, None], axis=0)]
    )
    flat = impulse.reshape(len(impulse), -1)
    total = np.column_stack([np.interp(t, trajectory.t, column) for column in flat.T]).reshape(len(t), *rows.shape[1:])
    return np.concatenate([np.zeros((1, *rows.shape[1:])), np.diff(total, axis=0) / np.diff(t)[:, None, None]])


def reach(one: Bearing | Box | Cylinder | Guide | Round) -> float:
    """Distance from the middle of a part to its farthest side, about [m]."""
    if isinstance(one, Box):
        return max(one.edges) / 2
    if isinstance(one, Guide):
        return max(one.length, one.height, one.width) / 2
    return max(one.radius, 0.0 if isinstance(one, Round) else one.length / 2)


def unit(given: Vector | Array) -> Array:
    """The unit vector along a vector."""
    array = np.asarray(given, float)
    return np.asarray(array / np.linalg.norm(array))


def seen_from(view: View, vertical: int) -> Array:
    """Unit vector towards the viewer."""
    elevation, azimuth = np.radians(view)
    direction = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    return np.roll(direction, vertical - 2)


def best_view(cloud: Array, vertical: int) -> View:
    """The first of the views, unless another one shows clearly more of the extent of the points (k, 3)."""
    spread = cloud - cloud.mean(axis=0)
    moments = spread.T @ spread

    def shown(view: View) -> float:
        """Product of the two principal extents of the projection."""
        toward = seen_from(view, vertical)
        plane = np.linalg.svd(toward[None])[2][1:]
        return float(np.sqrt(max(np.linalg.det(plane @ moments @ plane.T), 0.0)))

    areas = [shown(view) for view in VIEWS]
    best = int(np.argmax(areas))
    return VIEWS[best] if areas[best] > CLEARLY * areas[0] else VIEWS[0]


def checked_view(view: Any) -> View:
    """The view as two numbers, or InputError."""
    try:
        elevation, azimuth = (float(x) for x in view)
        if not (np.isfinite(azimuth) and abs(elevation) < 90.0):
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(
            f"view must be an elevation between -90 and 90 deg and an azimuth in deg, as (22, -60), got {view!r}."
        ) from None
    return elevation, azimuth


def spatial_sketch(drawing: Drawing, view: View | None = None, deformation: float | None = None) -> Figure:
    """Draw a mechanism in space at one state, with the names of its bodies and elements."""
    scene = SpatialScene(drawing, None, view, loads=True, deformation=deformation)
    figure = scene.figure
    overlay = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    width, height = figure.get_size_inches() * figure.dpi
    overlay.set(xlim=(0.0, width), ylim=(0.0, height))
    overlay.set_axis_off()
    names = Labels(strokes=[scene.pixels(line[0]) for line in scene.lines])
    for body in drawing.bodies:
        at = scene.pixels(scene.placed.position(body)[:1])[0]
        names.label(body, at, scene.colour(body), bold=True)
    for part in drawing.parts:
        if part.name in scene.anchors:
            colour = LOOSE if part.gap_names() else INK
            names.label(part.name, scene.pixels(scene.anchors[part.name][None])[0], colour)
    if scene.sized:
        draw_scale(overlay, scene.metre(), right=True)
    write_names(figure, overlay, names)
    note = magnified(scene.factor if scene.shown else 0.0, scene.bent)
    if note:
        figure.text(0.03, 0.05 / figure.get_figheight(), note, va="bottom", fontsize=SIZE, color=FAINT)
    return figure
