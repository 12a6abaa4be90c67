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
from nonsmooth.model.drawing import (
    Arrow,
    Axle,
    Bearing,
    Box,
    Coil,
    Cylinder,
    Dot,
    Drive,
    Ellipsoid,
    Field,
    Guide,
    Line,
    Mark,
    Primitive,
    Round,
    Slide,
    Solid,
    Spot,
    Touch,
    Turn,
    Vector,
    Wall,
)  # fmt: skip
from nonsmooth.plots.drawing import Drawing, Drawn, bearing_radius, half_height, magnification, magnified
from nonsmooth.plots.labels import write_names
from nonsmooth.plots.motion import FAINT, INK, SIZE
from nonsmooth.plots.plan import Labels
from nonsmooth.plots.planar_film import ARROW, BODIES, FORCE, GROUND, SHORTEST
from nonsmooth.plots.scale_bar import draw_scale
from nonsmooth.plots.shapes import basis, block, coil, faces_of_block, head, hull_faces, joined, ring, star, tube
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
#: of contacts and clearances
LOOSE = "#B00020"
#: marker and face of a joint's symbol
SHAPES = {"pin": ("o", "white"), "ball": ("o", INK), "weld": ("s", INK), "joint": ("D", "white")}
#: where the light of shapes comes from: right, up, towards the viewer
LIGHT = np.array([-0.35, 0.5, 0.8]) / np.linalg.norm([-0.35, 0.5, 0.8])
SIGNS = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij")).reshape(3, -1).T


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
            if isinstance(one, Bearing | Box | Cylinder | Ellipsoid | Guide | Round):
                spot = one.b if isinstance(one, Bearing | Guide) else one.spot
                steps = reach(one) * np.vstack([np.eye(3), -np.eye(3)])
                found += [self.placed.spot(spot) + step for step in steps]
        return np.concatenate([*found, *self.drawing.reach()])

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
        elif len(local) > 1 and body not in self.drawing.shaped:
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


def reach(one: Bearing | Box | Cylinder | Ellipsoid | Guide | Round) -> float:
    """Distance from the middle of a part to its farthest side, about [m]."""
    if isinstance(one, Box):
        return max(one.edges) / 2
    if isinstance(one, Ellipsoid):
        return float(np.linalg.norm(one.semi_axes, axis=1).max())
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
        names.label(body, at, INK if body in drawing.shaped else scene.colour(body), bold=True)
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


# --------------------------------------------------------------------------------------- symbols of primitives

#: what draws a primitive: it returns where the element's name stands in the first picture (3,), if anywhere
Draw = Callable[[SpatialScene, Drawn, Any], Array | None]


def draw_element(scene: SpatialScene, part: Drawn) -> None:
    """Draw an element's primitives, and note the place of the first for its name."""
    for one in part.primitives:
        if type(one) in DRAWINGS and (scene.loads or not one.load):
            anchor = DRAWINGS[type(one)](scene, part, one)
            if anchor is not None:
                scene.anchors.setdefault(part.name, anchor)


def _support(scene: SpatialScene, spot: Spot) -> None:
    """A plate under a point that the ground holds."""
    if spot.body in scene.colours:
        return
    place, axes = scene.placed.spot(spot), np.eye(3)
    down, u, v = -0.03 * scene.size * axes[scene.vertical], axes[scene.vertical - 1], axes[scene.vertical - 2]
    half = 0.022 * scene.size
    corners = [place + down + half * (i * u + j * v) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    scene.line(np.stack([place, place + down], axis=1), color=FAINT, lw=1.5)
    scene.line(np.stack([*corners, corners[0]], axis=1), color=FAINT, lw=0.8)
    scene.faces(np.stack(corners, axis=1)[:, None], FAINT, 0.5)


def _mark(scene: SpatialScene, part: Drawn, one: Mark) -> Array:
    _support(scene, one.a)
    marker, face = SHAPES[one.shape]
    place = scene.placed.spot(one.b)
    scene.dot(place, marker=marker, ms=5.0, mfc=face, mec=INK, mew=1.0, zorder=15)
    return np.asarray(place[0])


def _axle(scene: SpatialScene, part: Drawn, one: Axle) -> Array:
    place = scene.placed.spot(one.spot)
    along, _, _ = basis(scene.placed.vectors(one.spot.body, one.along))
    reach = 0.05 * scene.size * along
    scene.line(np.stack([place - reach, place + reach], axis=1), lw=2.2, solid_capstyle="butt", zorder=14)
    scene.line(np.stack([place - 1.8 * reach, place + 1.8 * reach], axis=1), color=FAINT, lw=0.8, ls=(0, (6, 2, 1, 2)))
    return np.asarray(place[0])


def _slide(scene: SpatialScene, part: Drawn, one: Slide) -> Array:
    rail, slider = scene.placed.spot(one.a), scene.placed.spot(one.b)
    along, u, v = basis(scene.placed.vectors(one.a.body, one.along))
    x = np.sum((slider - rail) * along, axis=1)
    reach = 0.12 * scene.size
    first, last = min(float(x.min()), 0.0) - reach, max(float(x.max()), 0.0) + reach
    scene.line(np.stack([rail + first * along, rail + last * along], axis=1), color=FAINT, lw=1.0, ls=(0, (8, 2, 1, 2)))
    half, top, colour = 0.05 * scene.size, 0.025 * scene.size, scene.colour(one.b.body)
    _support(scene, one.a)
    if one.round:
        ends = slider - half * along, slider + half * along
        scene.line(tube(*ends, u, v, top), color=colour, lw=1.0)
        scene.faces(_barrel(*ends, u, v, top), colour, 0.25)
    else:
        steps = [i * half * along + j * top * u + k * top * v for i, j, k in SIGNS]
        _solid(scene, np.stack([slider + step for step in steps], axis=1), colour)
    return np.asarray(slider[0])


def _solid(scene: SpatialScene, corners: Array, colour: str, alpha: float = 0.25) -> None:
    """A block from its corners (n, 8, 3)."""
    scene.line(block(corners), color=colour, lw=1.0)
    scene.faces(faces_of_block(corners), colour, alpha)


def _barrel(start: Array, end: Array, u: Array, v: Array, radius: float) -> Array:
    """Faces (n, 18, 4, 3) of a cylinder's side."""
    low, high = ring(start, u, v, radius)[:, ::2], ring(end, u, v, radius)[:, ::2]
    return np.stack([low[:, :-1], low[:, 1:], high[:, 1:], high[:, :-1]], axis=2)


def _shape(scene: SpatialScene, part: Drawn, one: Solid) -> None:
    """A shape of a body, lit from the upper left of the viewer; of a convex one the faces that are seen."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    corners = np.array([face[:3] for face in one.faces])
    viewer = np.column_stack([scene.right, scene.up, scene.toward])
    colour = np.array(to_rgb(scene.colour(one.spot.body)))

    def seen(k: int) -> tuple[list[Array], Array]:
        points = scene.placed.moved(one.spot.body, one.points, k)
        a, b, c = (points[corners[:, i]] for i in range(3))
        normals = _units(np.cross(b - a, c - b)) @ viewer
        shown = normals[:, 2] > 0 if one.convex else np.ones(len(normals), bool)
        light = 0.62 + 0.5 * np.abs(normals[shown] @ LIGHT)
        polygons = [points[list(face)] for face, there in zip(one.faces, shown, strict=True) if there]
        return polygons, np.clip(light[:, None] * colour, 0.0, 1.0)

    def move(k: int) -> None:
        polygons, colours = seen(k)
        artist.set_verts(polygons)
        artist.set_facecolor(colours)
        artist.set_edgecolor(colours)

    polygons, colours = seen(0)
    artist = Poly3DCollection(polygons, facecolors=colours, edgecolors=colours, linewidths=0.3)
    scene.axes.add_collection3d(artist, autolim=False)
    scene.moves.append(move)


def _ball(scene: SpatialScene, centre: Array, radius: float, colour: str, alpha: float) -> None:
    """A sphere as it is seen: a disc that faces the viewer."""
    outline = ring(centre, scene.right, scene.up, radius)
    scene.faces(outline[:, None, :-1], colour, alpha)
    scene.line(outline, color=colour, lw=1.2)


def _bearing(scene: SpatialScene, part: Drawn, one: Bearing) -> Array:
    _support(scene, one.a)
    place, journal = scene.placed.spot(one.a), scene.placed.spot(one.b)
    play = scene.factor * one.clearance
    radius = max(scene.bearing_radius(one.radius), play / 0.8)
    ring_colour, colour = scene.colour(one.a.body), scene.colour(one.b.body)
    if not one.axis_a:
        e = journal - place
        _ball(scene, place, radius, ring_colour, 0.08)
        _ball(scene, place + scene.factor * e, radius - play, colour, 0.5)
        scene.shown[part.name] = lambda points: place[:, None] + radius * _units(points - place[:, None])
        return np.asarray(place[0])
    n, u, v = basis(scene.placed.vectors(one.a.body, one.axis_a))
    m, _, _ = basis(scene.placed.vectors(one.b.body, one.axis_b))
    reach = max(one.length, 1.2 * radius) / 2
    ends: list[Array] = []
    for side in (-1.0, 1.0):
        centre = journal + side * one.length / 2 * m - place
        x = np.sum(centre * n, axis=1, keepdims=True)
        lifted = x + side * (1.25 * reach - one.length / 2)
        ends.append(place + lifted * n + scene.factor * (centre - x * n))
    scene.line(tube(place - reach * n, place + reach * n, u, v, radius), color=ring_colour, lw=1.3)
    scene.faces(_barrel(place - reach * n, place + reach * n, u, v, radius), ring_colour, 0.12)
    scene.line(tube(ends[0], ends[1], u, v, radius - play), color=colour, lw=1.2)
    scene.faces(_barrel(ends[0], ends[1], u, v, radius - play), colour, 0.4)

    def shown(points: Array) -> Array:
        offset = points - place[:, None]
        x = np.sum(offset * n[:, None], axis=2, keepdims=True)
        across = _units(offset - x * n[:, None])
        stretch = 2 * reach / one.length if one.length else 1.0
        return np.asarray(place[:, None] + stretch * x * n[:, None] + radius * across)

    scene.shown[part.name] = shown
    return np.asarray(place[0])


def _units(vectors: Array) -> Array:
    """Unit vectors along vectors, zero where these are."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0)


def _guide(scene: SpatialScene, part: Drawn, one: Guide) -> Array:
    placed, origin = scene.placed, scene.placed.spot(one.a)
    along, across = (placed.vectors(one.a.body, axis) for axis in (one.along, one.across))
    frame = np.stack([along, across, np.cross(along, across)], axis=1)  # rows: directions of the guide
    along_b, across_b = (placed.vectors(one.b.body, axis) for axis in (one.along_b, one.across_b))
    own = np.stack([along_b, across_b, np.cross(along_b, across_b)], axis=1)
    sizes = np.array([one.length, one.height, one.width]) / 2
    drawn = np.maximum(sizes, [0.0, scene.half_height(one), scene.half_height(one)])
    plays = scene.factor * np.array([0.0, one.clearance, one.side_clearance or one.clearance])
    centre = np.einsum("nij,nj->ni", frame, placed.spot(one.b) - origin)
    arms = np.einsum("nij,nkj,mk->nmi", frame, own, SIGNS * sizes)
    ideal = SIGNS * sizes
    shown = centre[:, None] * [1.0, 0.0, 0.0] + SIGNS * drawn
    deviation = centre[:, None] * [0.0, 1.0, 1.0] + arms - ideal
    corners = shown + deviation * [1.0, scene.factor, scene.factor]
    _solid(scene, origin[:, None] + np.einsum("nij,nmi->nmj", frame, corners), scene.colour(one.b.body), 0.35)
    x = centre[:, 0]
    first, last = float(x.min()) - 0.8 * one.length, float(x.max()) + 0.8 * one.length
    walls = SIGNS * (drawn + plays)
    walls[:, 0] = np.where(SIGNS[:, 0] < 0, first, last)
    tunnel = origin[:, None] + np.einsum("nij,mi->nmj", frame, walls)
    _solid(scene, tunnel, scene.colour(one.a.body) if one.a.body in scene.colours else FAINT, 0.06)

    def moved(points: Array) -> Array:
        """Corners of the slider to those of the block that is drawn, with their magnified distances from the walls."""
        local = np.einsum("nij,nmj->nmi", frame, points - origin[:, None])
        side = np.sign(local)
        local[..., 1:] = (side * drawn + scene.factor * (local - side * sizes))[..., 1:]
        return np.asarray(origin[:, None] + np.einsum("nij,nmi->nmj", frame, local))

    scene.shown[part.name] = moved
    return np.asarray(tunnel[0, -1])


def _wall(scene: SpatialScene, part: Drawn, one: Wall) -> Array:
    placed, body = scene.placed, one.spot.body
    normal = np.array(one.normal) / np.linalg.norm(one.normal)
    _, u, v = basis(normal[None])
    base = np.array(one.spot.at or (0.0, 0.0, 0.0))
    first, same = scene.walls(one)
    reach, spots = 0.0, []
    for wall in same:
        away = np.einsum("nij,ni->nj", placed.rotation(body), placed.spot(wall.near) - placed.position(body)) - base
        spots.append(np.column_stack([away @ u[0], away @ v[0]]))
        reach = max(reach, 1.1 * wall.radius, 0.14 * scene.size if body not in scene.colours else 0.06 * scene.size)
    plane = np.concatenate(spots)
    (u0, v0), (u1, v1) = plane.min(axis=0) - reach, plane.max(axis=0) + reach
    if first:
        local = np.array([base + x * u[0] + y * v[0] for x, y in ((u0, v0), (u1, v0), (u1, v1), (u0, v1))])
        rows = [(x, v0, x, v1) for x in np.linspace(u0, u1, 7)] + [(u0, y, u1, y) for y in np.linspace(v0, v1, 7)]
        grid = [np.array([base + a * u[0] + b * v[0], base + c * u[0] + d * v[0]]) for a, b, c, d in rows]
        scene.faces(placed.points(body, local)[:, None], FAINT, 0.12)
        scene.line(joined(*(placed.points(body, line) for line in grid)), color=FAINT, lw=0.4, zorder=0)
    return np.asarray(placed.spot(one.near)[0] - one.radius * placed.vectors(body, normal)[0])


def _dot(scene: SpatialScene, part: Drawn, one: Dot) -> Array:
    place = scene.placed.spot(one.spot)
    scene.dot(place, marker="o", ms=3.5, color=LOOSE, mew=0, zorder=15)
    return np.asarray(place[0])


def _touch(scene: SpatialScene, part: Drawn, one: Touch) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.dot(a + one.share * (b - a), marker="o", ms=3.5, color=LOOSE, mew=0, zorder=15)
    return np.asarray((a + one.share * (b - a))[0])


def _round(scene: SpatialScene, part: Drawn, one: Round) -> Array:
    """A sphere, with three circles of its body by which its turning shows."""
    centre, colour = scene.placed.spot(one.spot), scene.colour(one.spot.body)
    _ball(scene, centre, one.radius, colour, 0.25)
    x, y, z = (scene.placed.vectors(one.spot.body, axis) for axis in np.eye(3))
    circles = [ring(centre, first, second, one.radius) for first, second in ((x, y), (y, z), (z, x))]
    scene.line(joined(*circles), color=colour, lw=0.7, alpha=0.8)
    return np.asarray(centre[0])


def _ellipsoid(scene: SpatialScene, part: Drawn, one: Ellipsoid) -> Array:
    """Its outline as it is seen, and three ellipses in its planes of symmetry, by which its turning shows."""
    centre, colour = scene.placed.spot(one.spot), scene.colour(one.spot.body)
    x, y, z = axes = [scene.placed.vectors(one.spot.body, axis) for axis in one.semi_axes]
    # x(s) = centre + A s with a unit vector s has the normal A^-T s, in the picture's plane where s . A^-1 toward = 0
    seen = np.stack([axis @ scene.toward / np.sum(axis * axis, axis=1) for axis in axes], axis=1)
    _, first, second = basis(seen)
    u, v = (np.einsum("ni,nij->nj", side, np.stack(axes, axis=1)) for side in (first, second))
    outline = ring(centre, u, v, 1.0)
    scene.faces(outline[:, None, :-1], colour, 0.25)
    scene.line(outline, color=colour, lw=1.2)
    circles = [ring(centre, *pair, 1.0) for pair in ((x, y), (y, z), (z, x))]
    scene.line(joined(*circles), color=colour, lw=0.7, alpha=0.8)
    return np.asarray(centre[0])


def _cylinder(scene: SpatialScene, part: Drawn, one: Cylinder) -> Array:
    centre, colour = scene.placed.spot(one.spot), scene.colour(one.spot.body)
    # perpendiculars that turn with the body, so that its turning shows
    along, u, v = (scene.placed.vectors(one.spot.body, axis[0]) for axis in basis(np.array([one.along], float)))
    ends = centre - one.length / 2 * along, centre + one.length / 2 * along
    scene.line(tube(*ends, u, v, one.radius, generators=6), color=colour, lw=1.0)
    scene.faces(_barrel(*ends, u, v, one.radius), colour, 0.25)
    return np.asarray(centre[0])


def _box(scene: SpatialScene, part: Drawn, one: Box) -> Array:
    local = SIGNS * np.array(one.edges) / 2 + np.array(one.spot.at or (0.0, 0.0, 0.0))
    _solid(scene, scene.placed.points(one.spot.body, local), scene.colour(one.spot.body))
    return np.asarray(scene.placed.spot(one.spot)[0])


def _line(scene: SpatialScene, part: Drawn, one: Line) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.line(np.stack([a, b], axis=1), lw=1.6, ls=(0, (1, 1)) if one.dotted else "-")
    return np.asarray((a + b)[0] / 2)


def _coil(scene: SpatialScene, part: Drawn, one: Coil) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.line(coil(a, b, _units(np.cross(b - a, scene.toward)), 0.02 * scene.size), lw=0.9)
    return np.asarray((a + b)[0] / 2)


def _force(scene: SpatialScene, part: Drawn, one: Arrow) -> Array:
    place, along = scene.placed.spot(one.spot), np.zeros(3)
    along[: len(one.along)] = one.along
    along = along if along.any() else np.array([1.0, 0.0, 0.0])
    direction = scene.placed.vectors(one.spot.body if one.fixed else "", along / np.linalg.norm(along))
    start = place - 0.14 * scene.size * direction
    scene.arrow(start, place, INK)
    return np.asarray(start[0])


def _drive(scene: SpatialScene, part: Drawn, one: Drive) -> Array:
    a, b = scene.placed.spot(one.a), scene.placed.spot(one.b)
    scene.arrow(b, b + 0.1 * scene.size * _units(b - a), INK)
    return np.asarray(b[0])


def _turn(scene: SpatialScene, part: Drawn, one: Turn) -> Array:
    place = scene.placed.spot(scene.drawing.pivot(one))
    axis = one.axis if any(one.axis) else (0.0, 0.0, 1.0)
    along, u, v = basis(scene.placed.vectors("" if one.a is None else one.a.body, axis))
    radius = 0.07 * scene.size
    angles = np.linspace(0.0, 1.5 * np.pi, 28)
    arc = place[:, None] + radius * (
        np.cos(angles)[None, :, None] * u[:, None] + np.sin(angles)[None, :, None] * v[:, None]
    )
    scene.line(arc, lw=1.1)
    scene.arrow(arc[:, -4], arc[:, -1], INK, lw=1.1)
    return np.asarray(arc[0, 14])


def _field(scene: SpatialScene, part: Drawn, one: Field) -> Array:
    right, up = scene.cloud @ scene.right, scene.cloud @ scene.up
    room = 0.08 * scene.size
    corner = (
        (right.max() + room) * scene.right
        + (up.max() + room) * scene.up
        + scene.cloud.mean(axis=0) @ np.outer(scene.toward, scene.toward)
    )
    start = np.broadcast_to(corner, (scene.placed.count, 3))
    if any(one.acceleration):
        direction = np.array(one.acceleration) / np.linalg.norm(one.acceleration)
        scene.arrow(start, start + 0.12 * scene.size * direction, FAINT)
    else:
        scene.dot(start, marker=".", ms=2.0, color=FAINT)
    return np.asarray(start[0])


DRAWINGS: dict[type[Primitive], Draw] = {
    Arrow: _force, Axle: _axle, Bearing: _bearing, Box: _box, Coil: _coil, Cylinder: _cylinder, Dot: _dot,
    Drive: _drive, Ellipsoid: _ellipsoid, Field: _field, Guide: _guide, Line: _line, Mark: _mark, Round: _round,
    Slide: _slide, Solid: _shape, Touch: _touch, Turn: _turn, Wall: _wall,
}  # fmt: skip
