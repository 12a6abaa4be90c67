"""A drawing on matplotlib's axes of the plane or of space: its pieces as artists that move from picture to picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.contacts import mean_forces
from nonsmooth.exceptions import InputError
from nonsmooth.model.drawing import Field
from nonsmooth.plots.drawing import Drawing, magnification, magnified
from nonsmooth.plots.frames import Frame, Placing, View, circle, head, region, touches, units
from nonsmooth.plots.pieces import Piece, pieces
from nonsmooth.plots.style import COLOURS, FAINT, INK, LOOSE
from nonsmooth.settings import shown
from nonsmooth.trajectory import Trajectory

#: arrows of forces, in symbol units: of one that only so large a share of them do not exceed, and the longest; share of
#: the longest below which none is drawn
ARROW, USUAL, LONGEST, SHORTEST = 22.0, 0.9, 40.0, 1e-3
FORCE = COLOURS[1]
BODIES = (COLOURS[0], COLOURS[2], COLOURS[4], COLOURS[3], COLOURS[5])
ROLES = {"*ink": INK, "*faint": FAINT, "*ground": "#B0B0B0", "*loose": LOOSE, "*paper": "white"}
MARKERS = {"pin": "o", "ball": "o", "weld": "s", "joint": "D", "dot": "o", "centre": "+"}
FRONT = 20.0  # above all pieces, which have layers from -9 to 9
#: the views of space that are tried, the first of which is taken unless another one shows clearly more
VIEWS = ((22.0, -60.0), (22.0, -30.0), (22.0, -120.0), (22.0, -150.0), (50.0, -60.0))
CLEARLY = 1.35
#: where the light of shapes comes from: right, up, towards the viewer
LIGHT = np.array([-0.35, 0.5, 0.8]) / np.linalg.norm([-0.35, 0.5, 0.8])


@dataclass(frozen=True, eq=False)
class Label:
    """A name, and the place of what it is of in the data of its axes, in the plane (2,)."""

    text: str
    at: Array
    colour: str
    bold: bool = False


class Scene:
    """Artists of a drawing on axes of its dimension, with moves to the picture k; omitted factors are chosen."""

    def __init__(
        self, drawing: Drawing, axes: Any, magnify: float | None = None, deformation: float | None = None,
        view: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        if deformation is not None and not (np.isfinite(deformation) and deformation > 0):
            raise InputError(f"deformation must be a positive factor, got {shown(deformation)}.")
        self.drawing, self.placed, self.axes = drawing, drawing.placed, axes
        self.flat, self.unit = drawing.dimension == 2, drawing.grain / 100
        self.colours = ROLES | {body: BODIES[i % len(BODIES)] for i, body in enumerate(self.placed.bodies)}
        self.colours |= {node: self.colours[body] for node, (body, _) in self.placed.carried.items()}
        self.factor = magnification(drawing) if magnify is None else float(magnify)
        #: of deflections; 0 where no body is deformed
        self.bent = drawing.deformation() if deformation is None else float(deformation)
        drawing.deform(self.bent or 1.0)
        #: unit vectors to the right and up in the picture
        self.right, self.up, toward = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2)
        if not self.flat:
            self.angles = best_view(drawing.cloud, drawing.vertical) if view is None else checked_view(view)
            toward = _seen_from(self.angles, drawing.vertical)
            self.right = units(np.cross(np.eye(3)[drawing.vertical], toward))
            self.up = np.cross(toward, self.right)
        self.view = View(self.factor, self.unit, toward)
        self.moves: list[Callable[[int], None]] = []
        self.courses: list[Array] = [drawing.cloud[None]]
        #: lines (2, d) ahead of the arrows of fields, where nothing is to stand that they would seem to point at
        self.ahead: list[Array] = []
        self.longest, self.contacts = 0.0, 0
        self._placings: dict[Frame, Placing] = {}
        axes.set_axis_off()
        axes.patch.set_visible(False)
        every, names = pieces(drawing)
        for piece in every:
            if not piece.bare:
                self._piece(piece)
        #: names where they stand in the first picture
        self.labels = [
            Label(one.name, self.place(one.frame).points(one.point[None])[0, 0], self._colour(one.colour), one.bold)
            for one in names
        ]
        for name, one in ((part.element.name, one) for part in drawing.parts for one in part.primitives):
            if isinstance(one, Field):
                self._field(name, one)
        if drawing.between is not None:
            for body in self.placed.bodies:
                path = drawing.between.position(body)
                course = np.broadcast_to(path, (self.placed.count, *path.shape))
                self._line(course, color=self._colour(body), lw=0.7, alpha=0.5, zorder=1)
        for move in self.moves:
            move(0)

    def place(self, frame: Frame) -> Placing:
        if frame not in self._placings:
            self._placings[frame] = frame.place(self.placed, self.view)
        return self._placings[frame]

    def points(self) -> Array:
        """Places (k, d) of all that is drawn, in all pictures."""
        found = np.concatenate([course.reshape(-1, self.drawing.dimension) for course in self.courses])
        return found[np.isfinite(found).all(axis=1)]

    def note(self) -> str:
        """Factors by which clearances and deflections are magnified, in words."""
        return magnified(self.factor if self.drawing.loose else 0.0, self.bent)

    # ------------------------------------------------------------------------------------------------------ artists

    def _colour(self, name: str) -> str:
        return self.colours.get(name, name if name.startswith("#") else ROLES["*ground"])

    def _piece(self, piece: Piece) -> None:
        placing, colour = self.place(piece.frame), self._colour(piece.colour)
        style: dict[str, Any] = {"color": colour, "lw": piece.width, "alpha": piece.alpha, "zorder": 10 + piece.layer}
        if piece.dash:
            style["ls"] = (0, piece.dash)
        course = placing.points(piece.points)
        if piece.shape == "line":
            self._line(course, label=piece.of, **style)
        elif piece.shape == "curve":
            self._line(self.drawing.curves(piece.of, self.bent or 1.0), label=piece.of, **style)
        elif piece.shape == "faces":
            self._faces([course[:, face] for face in piece.faces], colour, piece.fill, style["zorder"])
        elif piece.shape == "solid":
            self._solid(piece, course, colour, style["zorder"])
        elif piece.shape == "ball":
            self._ball(piece, placing, style)
        elif piece.shape == "arrow":
            self.arrow(course[:, 0], course[:, 1], colour, piece.width, style["zorder"])
        else:
            face = {"marker": MARKERS[piece.marker], "ms": piece.width, "mfc": self._colour(piece.inside)}
            edge = {"mec": colour, "mew": 0.0 if piece.inside == piece.colour and self.flat is False else 1.0}
            self._line(course, color=colour, ls="", zorder=style["zorder"], **face, **edge)

    def _line(self, course: Array, **style: Any) -> None:
        known: dict[str, Any] = {"solid_capstyle": "round", "solid_joinstyle": "round"}
        (artist,) = self.axes.plot(*[[]] * course.shape[2], **(known | style))
        put = artist.set_data if self.flat else artist.set_data_3d
        self.moves.append(lambda k: put(*course[k].T))
        self.courses.append(course)

    def _faces(self, polygons: list[Array], colour: str, alpha: float, zorder: float, **style: Any) -> None:
        """Polygons (n, corners, d), in the plane as one area."""
        if self.flat:
            from matplotlib.patches import PathPatch

            patch = PathPatch(region([one[0] for one in polygons]), fc=colour, alpha=alpha, zorder=zorder,
                              **({"ec": "none"} | style))  # fmt: skip
            self.axes.add_patch(patch)
            self.moves.append(lambda k: patch.set_path(region([one[k] for one in polygons])))
            return
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        faces = Poly3DCollection([one[0] for one in polygons], facecolor=colour, edgecolor="none", alpha=alpha)
        self.axes.add_collection3d(faces, autolim=False)
        self.moves.append(lambda k: faces.set_verts([one[k] for one in polygons]))

    def _solid(self, piece: Piece, course: Array, colour: str, zorder: float) -> None:
        """A shape, in space lit from the upper left of the viewer; of a convex one the faces that are seen."""
        if self.flat:
            edge = {"ec": colour, "lw": piece.width} if piece.width else {}
            polygons = [course[:, face] for face in piece.faces]
            self._faces(polygons, colour, piece.fill, zorder, label=piece.colour, **edge)
            return
        from matplotlib.colors import to_rgb
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        corners = np.array([face[:3] for face in piece.faces])
        viewer, rgb = np.column_stack([self.right, self.up, self.view.toward]), np.array(to_rgb(colour))
        self.courses.append(course)
        artist = Poly3DCollection([], linewidths=0.3)

        def move(k: int) -> None:
            a, b, c = (course[k][corners[:, i]] for i in range(3))
            normals = units(np.cross(b - a, c - b)) @ viewer
            shown = normals[:, 2] > 0 if piece.convex else np.ones(len(normals), bool)
            artist.set_verts([course[k][list(face)] for face, there in zip(piece.faces, shown, strict=True) if there])
            colours = np.clip((0.62 + 0.5 * np.abs(normals[shown] @ LIGHT))[:, None] * rgb, 0.0, 1.0)
            artist.set_facecolor(colours)
            artist.set_edgecolor(colours)

        move(0)
        self.axes.add_collection3d(artist, autolim=False)
        self.moves.append(move)

    def _ball(self, piece: Piece, placing: Placing, style: dict[str, Any]) -> None:
        """A circle; in space the outline of an ellipsoid where the line of sight touches it."""
        axes, inside = np.einsum("nij,kj->nki", placing.axes, piece.points), self._colour(piece.inside or piece.colour)
        if self.flat:
            from matplotlib.patches import Circle

            radius = float(np.linalg.norm(axes[0, 0]))
            for edge in ({"fc": inside, "ec": "none", "alpha": piece.fill}, {"fc": "none", "ec": style["color"]}):
                patch = Circle(placing.origin[0], radius, lw=piece.width, zorder=style["zorder"], **edge)
                self.axes.add_patch(patch)
                self.moves.append(lambda k, patch=patch: patch.set_center(placing.origin[k]))  # type: ignore[misc]
            self.courses.append(placing.origin[:, None] + radius * np.array([[1.0, 1.0], [-1.0, -1.0]]))
            return
        # centre + A s with a unit vector s has the normal A^-T s, in the picture's plane where s . A^-1 toward = 0
        seen = units(np.einsum("nki,i->nk", axes, self.view.toward) / np.sum(axes * axes, axis=2))
        first = units(np.cross(seen, np.eye(3)[int(np.argmin(np.abs(seen).max(axis=0)))]))
        u, v = (np.einsum("nk,nki->ni", side, axes) for side in (first, np.cross(seen, first)))
        outline = circle(placing.origin, u, v)
        self._faces([outline[:, :-1]], inside, piece.fill, style["zorder"])
        self._line(outline, **style)

    def arrow(self, start: Array, end: Array, colour: str, lw: float, zorder: float) -> None:
        """Arrows between points (n, d), or several between (n, m, d)."""
        d = self.drawing.dimension
        start, end = (np.asarray(x).reshape(len(x), -1, d) for x in (start, end))
        triangles = head(end, end - start, self.view.toward, (1.2 + 1.2 * lw) * self.unit)
        base = triangles[..., 1:, :].mean(axis=-2)
        gap = np.full_like(start, np.nan)
        self._line(np.stack([start, base, gap], axis=2).reshape(len(start), -1, d), color=colour, lw=lw, zorder=zorder)
        self.courses.append(end)
        self._faces([triangles[:, i] for i in range(triangles.shape[1])], colour, 1.0, zorder)

    def _field(self, name: str, one: Field) -> None:
        """Draw a field in the upper right corner of the picture; one that vanishes is named only."""
        points, unit, acceleration = self.points(), self.unit, np.array(one.acceleration)
        middle = points.mean(axis=0)
        at = middle + sum((np.max(points @ axis) - middle @ axis + 6.0 * unit) * axis for axis in (self.right, self.up))
        if acceleration.any():
            reach = 10.0 * unit * acceleration / np.linalg.norm(acceleration)
            start = np.broadcast_to(at - reach / 2, (self.placed.count, len(at)))
            self.arrow(start, start + reach, FAINT, 1.1, 12.0)
            self.ahead.append(at + np.array([[0.5], [1.5]]) * reach)
        self.labels.append(Label(name if acceleration.any() else f"{name} 0", at, FAINT))

    # -------------------------------------------------------------------------------------------------------- forces

    def arrows(self, trajectory: Trajectory, t: Array) -> None:
        """Mean forces on the second bodies between the pictures at times t, where they act."""
        names, found = list(trajectory.gap.names), touches(self.drawing)
        order = [names.index(name) for push in found for name in push.gaps]
        self.contacts = len(order)
        if not order:
            return
        start = np.concatenate([self.place(push.frame).points(push.local) for push in found], axis=1)
        if self.flat:
            normals = np.concatenate([push.normals for push in found if push.normals is not None], axis=1)
            forces = np.vstack([np.zeros((1, len(names))), mean_forces(trajectory, t)])[:, order, None] * normals
        else:
            # mean vectors (n, nc, 3) from picture to picture, of the first zeros; impacts are left out
            rows = np.column_stack([trajectory.contact_force[name] for name in names])
            steps = np.cumsum(rows[1:] * np.diff(trajectory.t)[:, None], axis=0)
            total = [np.interp(t, trajectory.t, [0.0, *column]) for column in steps.T]
            means = np.diff(np.column_stack(total), axis=0) / np.diff(t)[:, None]
            forces = np.vstack([np.zeros((1, rows.shape[1])), means]).reshape(len(t), -1, 3)[:, order]
        sizes = np.linalg.norm(forces, axis=2)
        self.longest = float(sizes.max(initial=0.0))
        if self.longest > 0:
            drawn = sizes > SHORTEST * self.longest
            newton = min(ARROW / float(np.quantile(sizes[drawn], USUAL)), LONGEST / self.longest) * self.unit
            self.arrow(start, start + np.where(drawn[:, :, None], newton * forces, 0.0), FORCE, 2.0, FRONT)


def _seen_from(view: tuple[float, float], vertical: int) -> Array:
    elevation, azimuth = np.radians(view)
    direction = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    return np.roll(direction, vertical - 2)


def best_view(cloud: Array, vertical: int) -> tuple[float, float]:
    """The first of the views, unless another one shows clearly more of the extent of the points (k, 3)."""
    spread = cloud - cloud.mean(axis=0)
    moments = spread.T @ spread
    moments += 1e-6 * np.trace(moments) * np.eye(3)  # so that points on a line are compared by its length
    planes = [np.linalg.svd(_seen_from(view, vertical)[None])[2][1:] for view in VIEWS]
    # products of the two principal extents of the projections
    areas = [float(np.sqrt(max(np.linalg.det(plane @ moments @ plane.T), 0.0))) for plane in planes]
    best = int(np.argmax(areas))
    return VIEWS[best] if areas[best] > CLEARLY * areas[0] else VIEWS[0]


def checked_view(view: Any) -> tuple[float, float]:
    """The view as two numbers, or InputError."""
    try:
        elevation, azimuth = (float(x) for x in view)
        if not (np.isfinite(azimuth) and abs(elevation) < 90.0):
            raise ValueError
    except (TypeError, ValueError):
        wanted = "an elevation between -90 and 90 deg and an azimuth in deg, as (22, -60)"
        raise InputError(f"view must be {wanted}, got {shown(view)}.") from None
    return elevation, azimuth
