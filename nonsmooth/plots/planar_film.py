"""Pictures of a planar mechanism in motion: its primitives as artists that move."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.diagnostics.contacts import mean_forces
from nonsmooth.evaluation import Array
from nonsmooth.model.drawing import Bearing, Coil, Dot, Guide, Line, Mark, Primitive, Round, Slide, Solid, Touch, Wall
from nonsmooth.plots.drawing import BLOCK, Drawing, bearing_radius, half_height, magnification
from nonsmooth.plots.motion import COLOURS, FAINT, INK
from nonsmooth.plots.shapes import hull, outlines, region
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ARROW", "BODIES", "FORCE", "GROUND", "SHORTEST", "PlanarScene"]

#: of the picture's size: longest arrow, margin
ARROW, MARGIN = 0.22, 0.09
#: share of the longest arrow below which none is drawn
SHORTEST = 1e-3
FORCE, GROUND = COLOURS[1], "#B0B0B0"
BODIES = (COLOURS[0], COLOURS[2], COLOURS[4], COLOURS[3], COLOURS[5])
#: corners of a slider in a guide in the order of its gaps: end (-1 left) and side (-1 lower)
CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])

#: where the force on the second body acts (n, 2) and its direction (n, 2)
Push = tuple[Array, Array]


class PlanarScene:
    """What is drawn, each with a move to the picture k.

    Parameters
    ----------
    drawing
        The mechanism at the times of the pictures.
    magnify, deformation
        How many times too large clearances and deflections are drawn; None for readable ones.
    """

    what = "mean contact forces from picture to picture"

    def __init__(self, drawing: Drawing, magnify: float | None, deformation: float | None = None) -> None:
        self.drawing, self.placed = drawing, drawing.placed
        self.colours = drawing.coloured(BODIES)
        low, high = self._extent()
        self.size = float(np.max(high - low))
        self.factor = magnification(drawing, self.size) if magnify is None else float(magnify)
        #: of deflections; 0 where no body is deformed
        self.bent = drawing.deformation() if deformation is None else float(deformation)
        drawing.deform(self.bent or 1.0)
        self.moves: list[Callable[[int], None]] = []
        #: name of a gap -> its push
        self.pushes: dict[str, Push] = {}
        self.longest, self.contacts = 0.0, 0
        self.figure, self.axes = self._page(low, high)
        self._bodies()
        for part in drawing.parts:
            pushes = [push for one in part.primitives for push in self._draw(one)]
            if len(pushes) == len(part.gap_names()):
                self.pushes |= dict(zip(part.gap_names(), pushes, strict=True))

    def _page(self, low: Array, high: Array) -> tuple[Figure, Axes]:
        from matplotlib.figure import Figure

        width, height = np.maximum(high - low, 0.35 * self.size) + 2 * MARGIN * self.size
        middle = (low + high) / 2
        inches = 6.4 * np.array([width, height]) / max(width, 1.2 * height)
        figure = Figure(figsize=(max(inches[0], 4.2), inches[1] + 0.75), dpi=110)
        low_share = 0.42 / figure.get_figheight()
        axes = figure.add_axes((0.0, low_share, 1.0, 1.0 - 0.75 / figure.get_figheight()), aspect="equal")
        axes.set_axis_off()
        axes.set(xlim=middle[0] + np.array([-1, 1]) * width / 2, ylim=middle[1] + np.array([-1, 1]) * height / 2)
        return figure, axes

    def _extent(self) -> tuple[Array, Array]:
        """Corners of the box that holds all points of bodies at all times."""
        corners = self.drawing.reach()
        for body, points in self.drawing.attachments().items():
            own = np.array([*points, np.zeros(2)] if body in self.colours else points).reshape(-1, 2)
            if len(own):
                corners.append(self.placed.points(body, own).reshape(-1, 2))
        for one in self.drawing.primitives():
            if isinstance(one, Round):
                centre = self.placed.spot(one.spot)
                corners.extend([centre - one.radius, centre + one.radius])
            elif isinstance(one, Guide):
                block = SQUARE * np.array([one.length, one.height]) / 2 @ np.array([one.along_b, one.across_b])
                local = block + np.array(one.b.at or (0.0, 0.0))
                corners.append(self.placed.points(one.b.body, local).reshape(-1, 2))
        every = np.concatenate(corners)
        low, high = every.min(axis=0), every.max(axis=0)
        return (low, high) if np.max(high - low) > 0 else (low - 0.5, high + 0.5)

    def _colour(self, body: str) -> str:
        return self.colours.get(body, GROUND)

    # ------------------------------------------------------------------------------------------------------- bodies

    def _bodies(self) -> None:
        """Hulls of the points that joints hold."""
        blocks = self.drawing.sliders()
        round_ones = {one.spot.body for one in self.drawing.primitives() if isinstance(one, Round)}
        for body, points in self.drawing.attachments().items():
            if body not in self.colours or body in self.drawing.shaped:
                continue
            if body in self.drawing.flexible:
                course = self.drawing.curves(body, self.bent or 1.0)
                if course.shape[1]:
                    self._bar(body, course)
                    continue
            local = np.unique(np.round(np.array([*points, np.zeros(2)]), 12), axis=0)
            if len(local) < 2 and body not in blocks | round_ones:
                local = BLOCK * self.size * SQUARE
            if len(local) >= 2:
                self._body(body, hull(local))

    def _body(self, body: str, outline: Array) -> None:
        course = self.placed.points(body, outline)
        if len(outline) > 2:
            self._polygon(course, self._colour(body), 3, body)
            return
        self._bar(body, course)

    def _bar(self, body: str, course: Array) -> None:
        (line,) = self.axes.plot(
            [], [], color=self._colour(body), lw=4.0, solid_capstyle="round", alpha=0.85, zorder=3, label=body
        )  # fmt: skip
        self.moves.append(lambda k: line.set_data(*course[k].T))

    def _polygon(self, course: Array, colour: str, zorder: float, label: str) -> None:
        from matplotlib.patches import Polygon

        patch = Polygon(course[0], closed=True, fc=colour, ec=colour, lw=1.5, alpha=0.55, zorder=zorder, label=label)
        self.axes.add_patch(patch)
        self.moves.append(lambda k: patch.set_xy(course[k]))

    def _solid(self, one: Solid) -> None:
        """A shape of a body, as one area."""
        from matplotlib.patches import PathPatch

        path, colour = region(outlines(one)), self._colour(one.spot.body)
        edge = {"ec": "none"} if len(one.seen) > 1 else {"ec": colour, "lw": 1.2}
        local = np.asarray(path.vertices)
        patch = PathPatch(path, fc=colour, alpha=0.5, zorder=2, label=one.spot.body, **edge)
        self.axes.add_patch(patch)

        def move(k: int) -> None:
            patch.set_path(type(path)(self.placed.moved(one.spot.body, local, k), path.codes))

        self.moves.append(move)
        move(0)

    def _line(self, start: Array, end: Array, **style: Any) -> None:
        known: dict[str, Any] = {"color": FAINT, "lw": 1.2, "zorder": 1}
        (line,) = self.axes.plot([], [], **(known | style))
        self.moves.append(lambda k: line.set_data([start[k, 0], end[k, 0]], [start[k, 1], end[k, 1]]))

    def _circle(self, centre: Array, radius: float, **style: Any) -> None:
        from matplotlib.patches import Circle

        patch = Circle(tuple(centre[0]), radius, **style)
        self.axes.add_patch(patch)
        self.moves.append(lambda k: patch.set_center(tuple(centre[k])))

    # --------------------------------------------------------------------------------------------------- primitives

    def _draw(self, one: Primitive) -> list[Push]:
        """Draw a primitive; the pushes of its gaps."""
        known: dict[type[Primitive], Callable[[Any], list[Push] | None]] = {
            Mark: self._mark, Slide: self._rail, Bearing: self._bearing, Guide: self._guide, Wall: self._wall,
            Dot: self._dot, Round: self._disc, Touch: self._touch, Coil: self._rod, Line: self._rod,
            Solid: self._solid,
        }  # fmt: skip
        return known[type(one)](one) or [] if type(one) in known else []

    def _mark(self, one: Mark) -> None:
        place = self.placed.spot(one.a if one.shape != "joint" else one.b)
        if one.a.body not in self.colours:
            (foot,) = self.axes.plot([], [], ls="", marker="^", ms=13, color=GROUND, zorder=2)
            self.moves.append(lambda k: foot.set_data(place[k, :1], place[k, 1:] - 0.018 * self.size))
        self._circle(place, 0.012 * self.size, fc="white", ec=INK, lw=1.0, zorder=6)

    def _rail(self, one: Slide) -> None:
        """The axis of a prismatic joint, and the block of its slider."""
        along, place = self.placed.vectors(one.a.body, one.along), self.placed.spot(one.a)
        self._line(place - 3 * self.size * along, place + 3 * self.size * along, lw=0.8, ls=(0, (8, 3, 2, 3)))
        corners = self.size * np.array([0.075, 0.04]) * SQUARE + np.array(one.b.at or (0.0, 0.0))
        self._polygon(self.placed.points(one.b.body, corners), self._colour(one.b.body), 2.5, one.b.body)

    def _bearing(self, one: Bearing) -> list[Push]:
        centre = self.placed.spot(one.a)
        e = self.placed.spot(one.b) - centre
        play = self.factor * one.clearance
        radius = max(bearing_radius(self.size), play / 0.8)
        journal = {"fc": self._colour(one.b.body), "ec": INK, "lw": 0.8, "alpha": 0.9, "zorder": 8}
        self._circle(centre, radius, fc="white", ec=self._colour(one.a.body), lw=2.5, zorder=7)
        self._circle(centre + self.factor * e, radius - play, **journal)
        distance = np.hypot(*e.T)[:, None]
        outward = np.divide(e, distance, out=np.zeros_like(e), where=distance > 0)
        return [(centre + radius * outward, -outward)]

    def _guide(self, one: Guide) -> list[Push]:
        along, across = (self.placed.vectors(one.a.body, axis) for axis in (one.along, one.across))
        axis, origin = self.placed.vectors(one.b.body, one.along_b), self.placed.spot(one.a)
        offset = self.placed.spot(one.b) - origin
        x, y = np.sum(offset * along, axis=1), np.sum(offset * across, axis=1)
        cosine, sine = np.sum(axis * along, axis=1), np.sum(axis * across, axis=1)
        a, half, play = one.length / 2, half_height(one, self.size), self.factor * one.clearance
        first, last = x.min() - 1.6 * a, x.max() + 1.6 * a
        for side in (-1, 1):
            wall = side * (half + play) * across
            self._line(origin + first * along + wall, origin + last * along + wall, color=INK, lw=1.4)
        corners = []
        for end, side in CORNERS:
            height = side * half + self.factor * (y + end * a * sine)
            corners.append(origin + (x + end * a * cosine)[:, None] * along + height[:, None] * across)
        outline = np.stack([corners[i] for i in (0, 2, 3, 1)], axis=1)
        self._polygon(outline, self._colour(one.b.body), 2.5, one.b.body)
        return [(corner, -side * across) for corner, (_, side) in zip(corners, CORNERS, strict=True)]

    def _wall(self, one: Wall) -> list[Push]:
        normal, place = self.placed.vectors(one.spot.body, one.normal), self.placed.spot(one.spot)
        along = np.column_stack([normal[:, 1], -normal[:, 0]])
        self._line(place - 3 * self.size * along, place + 3 * self.size * along, color=INK, lw=1.4)
        return [(self.placed.spot(one.near) - one.radius * normal, normal)]

    def _dot(self, one: Dot) -> None:
        self._circle(self.placed.spot(one.spot), 0.008 * self.size, fc=INK, ec=INK, zorder=6)

    def _touch(self, one: Touch) -> list[Push]:
        a, b = self.placed.spot(one.a), self.placed.spot(one.b)
        return [(a + one.share * (b - a), (b - a) / np.hypot(*(b - a).T)[:, None])]

    def _disc(self, one: Round) -> None:
        """A round surface, with a mark by which its turning shows."""
        colour, centre = self._colour(one.spot.body), self.placed.spot(one.spot)
        self._circle(centre, one.radius, fc=colour, ec=colour, lw=1.5, alpha=0.55, zorder=2.5)
        rim = self.placed.points(one.spot.body, np.array(one.spot.at or (0.0, 0.0)) + [0.0, one.radius])
        self._line(centre, rim, color=colour, lw=1.0, zorder=2.6)

    def _rod(self, one: Coil | Line) -> None:
        dashes: Any = "-" if isinstance(one, Line) and not one.dotted else (0, (1.5, 1.5))
        self._line(self.placed.spot(one.a), self.placed.spot(one.b), lw=1.2, ls=dashes, color=INK)

    # ------------------------------------------------------------------------------------------------------- arrows

    def arrows(self, trajectory: Trajectory, t: Array) -> None:
        """Mean forces between the pictures at times t, of contacts whose place is known."""
        known = [(i, name) for i, name in enumerate(trajectory.gap.names) if name in self.pushes]
        if not known:
            return
        self.contacts = len(known)
        forces = np.vstack([np.zeros((1, len(known))), mean_forces(trajectory, t)[:, [i for i, _ in known]]])
        self.longest = float(forces.max())
        places = np.stack([self.pushes[name][0] for _, name in known], axis=1)
        normals = np.stack([self.pushes[name][1] for _, name in known], axis=1)
        share = forces / self.longest if self.longest > 0 else forces
        vectors = np.where(share[:, :, None] > SHORTEST, ARROW * self.size * share[:, :, None] * normals, np.nan)
        arrows = self.axes.quiver(
            *places[0].T, *np.zeros((2, len(known))), angles="xy", scale_units="xy", scale=1.0, color=FORCE,
            width=0.007, headwidth=3.5, headlength=4.0, headaxislength=4.0, minlength=0.0, zorder=9,
        )  # fmt: skip

        def move(k: int) -> None:
            arrows.set_offsets(places[k])
            arrows.set_UVC(*np.ma.masked_invalid(vectors[k].T))

        self.moves.append(move)
        self._show(places + np.nan_to_num(vectors))

    def _show(self, points: Array) -> None:
        """Widen the view so that these points are in it."""
        for axis, set_limits, values in (
            (self.axes.get_xlim(), self.axes.set_xlim, points[..., 0]),
            (self.axes.get_ylim(), self.axes.set_ylim, points[..., 1]),
        ):
            room = 0.02 * self.size
            set_limits(min(axis[0], float(values.min()) - room), max(axis[1], float(values.max()) + room))
