"""A planar mechanism in motion, its clearance magnified, with contact forces as arrows."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.diagnostics.contacts import mean_forces
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import readable, scale
from nonsmooth.plots.drawing import CORNERS, Element, Placed, attachments, elements_of, turn
from nonsmooth.plots.motion import COLOURS, FAINT, INK, SIZE
from nonsmooth.plots.style import shown_unit
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["Animation", "animation"]

#: formats of files
FORMATS = (".gif", ".mp4")
#: of the picture's size: radius of a bearing, half height of a block without one, longest arrow, margin
BEARING, BLOCK, ARROW, MARGIN = 0.06, 0.03, 0.22, 0.09
#: share of the bearing's radius, or of the block's half height, that the largest clearance is magnified to
PLAY = 0.45
#: share of the longest arrow below which none is drawn
SHORTEST = 1e-3
FORCE, GROUND = COLOURS[1], "#B0B0B0"
BODIES = (COLOURS[0], COLOURS[2], COLOURS[4], COLOURS[3], COLOURS[5])


@dataclass(eq=False)
class Animation:
    """Pictures of a run; `draw` shows one of them, `save` writes all.

    Parameters
    ----------
    figure, axes
        What is drawn into.
    t
        Times of the pictures (n,) [s].
    fps
        Pictures per second of the film.
    magnification
        How many times too large clearances and motions in them are drawn.
    """

    figure: Figure
    axes: Axes
    t: Array
    fps: int
    magnification: float
    _moves: list[Callable[[int], None]] = field(default_factory=list, repr=False)

    def draw(self, k: int) -> None:
        """Move everything to the picture k."""
        for move in self._moves:
            move(k)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a GIF, or an MP4 where ffmpeg is found; under a temporary name first.

        Raises
        ------
        InputError
            For another format, ffmpeg that is missing or fails, or a path that cannot be written.
        """
        import matplotlib
        from matplotlib.animation import FFMpegWriter, PillowWriter

        path = Path(path)
        check_format(path)
        video = path.suffix.lower() == ".mp4"
        film = FFMpegWriter(fps=self.fps) if video else PillowWriter(fps=self.fps)
        program: dict[Any, Any] = {"animation.ffmpeg_path": ffmpeg()} if video else {}
        try:
            with (
                tempfile.TemporaryDirectory(dir=path.parent, prefix=".animation-") as folder,
                matplotlib.rc_context(program),
            ):
                unfinished = Path(folder) / path.name
                with film.saving(self.figure, str(unfinished), dpi=self.figure.dpi):
                    for k in range(len(self.t)):
                        self.draw(k)
                        film.grab_frame()
                os.replace(unfinished, path)
        except subprocess.CalledProcessError as error:
            tool = program["animation.ffmpeg_path"]
            raise InputError(
                f"{path} cannot be written ({tool} ended with {error.returncode}); install another ffmpeg, or write a "
                ".gif."
            ) from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(f"{path} cannot be written ({reason}); give a file in a writable folder.") from error


def check_format(path: Path) -> None:
    """Raise InputError unless a film of this name can be written."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"An animation is a file {' or '.join(FORMATS)}, got {path.name!r}.")
    if suffix == ".mp4" and ffmpeg() is None:
        raise InputError(
            "An MP4 needs the program ffmpeg, which is neither on PATH nor in the package imageio-ffmpeg: "
            'pip install "nonsmooth[video]", or write a .gif.'
        )


def ffmpeg() -> str | None:
    """The program that writes an MP4: matplotlib's setting or PATH, else the one in the package imageio-ffmpeg."""
    import matplotlib

    found = shutil.which(matplotlib.rcParams["animation.ffmpeg_path"])
    if found is None:
        with contextlib.suppress(ImportError, RuntimeError):  # the package may come without a program
            from imageio_ffmpeg import get_ffmpeg_exe

            found = str(get_ffmpeg_exe())
    return found


def animation(
    trajectory: Trajectory,
    *,
    frames: int = 120,
    fps: int = 20,
    span: tuple[float, float] | None = None,
    magnify: float | None = None,
    forces: bool = True,
) -> Animation:
    """Draw bodies, joints and contacts of a planar run, for a film.

    A model knows points and gaps, no shapes: a body is drawn as the hull of its joints, a slider as a block, a journal
    as a disc in its bearing. Within a joint with clearance, offset and tilt are magnified about the bearing or the
    guide, so that gaps read as the same multiple of the true ones; bodies themselves stand where they are. The factor
    is written in the picture. Arrows are the mean normal forces on the second body of each contact since the picture
    before, impacts included.

    Parameters
    ----------
    trajectory
        The run, or one that was loaded.
    frames : int
        Pictures, at equal distances in time.
    fps : int [1/s]
        Pictures per second.
    span : (from, to) [s], optional
        Part of the run.
    magnify : [-], optional
        How many times too large clearances are drawn; a readable one where omitted.
    forces : bool
        Whether to draw arrows.

    Raises
    ------
    InputError
        For a spatial mechanism, a run without a step, or numbers that cannot be used.
    """
    from matplotlib.figure import Figure

    t = _times(trajectory, span, frames)
    if not (isinstance(fps, int) and fps > 0) or (magnify is not None and not magnify > 0):
        raise InputError(f"fps must be a positive integer and magnify positive, got {fps!r} and {magnify!r}.")
    elements = elements_of(trajectory)
    placed = Placed(trajectory, t)
    low, high = _extent(elements, placed)
    size = float(np.max(high - low))
    width, height = np.maximum(high - low, 0.35 * size) + 2 * MARGIN * size
    middle = (low + high) / 2
    inches = 6.4 * np.array([width, height]) / max(width, 1.2 * height)
    figure = Figure(figsize=(max(inches[0], 4.2), inches[1] + 0.75), dpi=110)
    low_share = 0.42 / figure.get_figheight()
    axes = figure.add_axes((0.0, low_share, 1.0, 1.0 - 0.75 / figure.get_figheight()), aspect="equal")
    axes.set_axis_off()
    axes.set(xlim=middle[0] + np.array([-1, 1]) * width / 2, ylim=middle[1] + np.array([-1, 1]) * height / 2)
    factor = _magnification(elements, size) if magnify is None else float(magnify)
    film = Animation(figure, axes, t, fps, factor)
    scene = _Scene(film, elements, placed, size)
    scene.bodies()
    scene.joints()
    if forces and trajectory.gap.names:
        scene.arrows(trajectory)
    _notes(film, scene)
    film.draw(0)
    return film


def _times(trajectory: Trajectory, span: tuple[float, float] | None, frames: int) -> Array:
    first, last = (trajectory.t[0], trajectory.t[-1]) if span is None else span
    if not (trajectory.t[0] <= first < last <= trajectory.t[-1]):
        whole = f"{trajectory.t[0]:g} to {trajectory.t[-1]:g} s"
        raise InputError(f"An animation needs a span of time within the run, {whole}, got {first:g} to {last:g} s.")
    if isinstance(frames, bool) or not isinstance(frames, int) or frames < 2:
        raise InputError(f"frames must be an integer >= 2, got {frames!r}.")
    return np.linspace(first, last, frames)


def _extent(elements: list[Element], placed: Placed) -> tuple[Array, Array]:
    """Corners of the box that holds all points of bodies at all times."""
    corners = []
    for body, points in attachments(elements).items():
        own = np.array([*points, np.zeros(2)] if _moves(elements, body) else points).reshape(-1, 2)
        if len(own):
            corners.append(placed.points(body, own).reshape(-1, 2))
    for one in elements:
        for side in ("a", "b"):
            radius = one.numbers.get(f"radius_{side}", one.numbers.get("radius", 0.0) if side == "b" else 0.0)
            if one.kind in ("CirclePlane", "CircleCircle") and radius:
                centre = placed.points(one.body(side), one.point(side))
                corners.extend([centre - radius, centre + radius])
        if one.kind == "PrismaticClearance":
            half = np.array([one.numbers["length"], one.numbers.get("height", 0.0)]) / 2
            block = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half + one.point("slider")
            corners.append(placed.points(one.body("slider"), block).reshape(-1, 2))
    every = np.concatenate(corners)
    low, high = every.min(axis=0), every.max(axis=0)
    if np.max(high - low) <= 0:
        low, high = low - 0.5, high + 0.5
    return low, high


def _moves(elements: list[Element], body: str) -> bool:
    return any(one.name == body and one.kind == "PlanarBody" for one in elements)


def _half_height(element: Element, size: float) -> float:
    """Half the height of a slider's block as drawn."""
    return max(element.numbers.get("height", 0.0) / 2, BLOCK * size)


def _magnification(elements: list[Element], size: float) -> float:
    """The largest of 1, 2, 5 times a power of ten with which all clearances fit into what is drawn."""
    most = np.inf
    for one in elements:
        if one.kind == "RevoluteClearance":
            most = min(most, PLAY * BEARING * size / one.numbers["clearance"])
        elif one.kind == "PrismaticClearance":
            most = min(most, PLAY * _half_height(one, size) / one.numbers["clearance"])
    if not np.isfinite(most) or most <= 1.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(most))
    return float(max(digit * power for digit in (1, 2, 5) if digit * power <= most))


class _Scene:
    """What is drawn, each with a move to the picture k."""

    def __init__(self, film: Animation, elements: list[Element], placed: Placed, size: float) -> None:
        self.film, self.elements, self.placed, self.size = film, elements, placed, size
        self.axes, self.factor = film.axes, film.magnification
        names = [one.name for one in elements if one.kind == "PlanarBody"]
        self.colours = {name: BODIES[i % len(BODIES)] for i, name in enumerate(names)}
        #: name of a gap -> places (n, 2) and directions (n, 2) of its force on the second body
        self.pushes: dict[str, tuple[Array, Array]] = {}
        self.longest = 0.0
        self.contacts = 0

    def colour(self, body: str) -> str:
        return self.colours.get(body, GROUND)

    def _add(self, move: Callable[[int], None]) -> None:
        self.film._moves.append(move)

    # ------------------------------------------------------------------------------------------------------- bodies

    def bodies(self) -> None:
        """Hulls of the points that joints hold."""
        blocks = {one.body(one.sides()[1]) for one in self.elements if one.kind in ("PrismaticClearance", "Prismatic")}
        round_ones = {one.body("b") for one in self.elements if one.kind in ("CirclePlane", "CircleCircle")}
        for body, points in attachments(self.elements).items():
            if body not in self.colours:
                continue
            local = np.unique(np.round(np.array([*points, np.zeros(2)]), 12), axis=0)
            if len(local) < 2 and body not in blocks | round_ones:
                half = BLOCK * self.size
                local = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
            if len(local) >= 2:
                self._body(body, _hull(local))
        for one in self.elements:
            if one.kind == "Prismatic":
                self._guide_of_ideal(one)

    def _body(self, body: str, outline: Array) -> None:
        course = self.placed.points(body, outline)
        if len(outline) == 2:
            (line,) = self.axes.plot(
                [], [], color=self.colour(body), lw=4.0, solid_capstyle="round", alpha=0.85, zorder=3, label=body
            )  # fmt: skip
            self._add(lambda k: line.set_data(*course[k].T))
            return
        self._polygon(course, self.colour(body), 3, body)

    def _polygon(self, course: Array, colour: str, zorder: float, label: str) -> None:
        from matplotlib.patches import Polygon

        patch = Polygon(course[0], closed=True, fc=colour, ec=colour, lw=1.5, alpha=0.55, zorder=zorder, label=label)
        self.axes.add_patch(patch)
        self._add(lambda k: patch.set_xy(course[k]))

    def _guide_of_ideal(self, one: Element) -> None:
        """The axis of a prismatic joint, and the block of its slider."""
        a, b = one.body("a"), one.body("b")
        along = turn(np.array([1.0, 0.0]), self.placed.angle(a) + one.numbers.get("direction", 0.0))
        place = self.placed.points(a, one.point("a"))
        self._line(place - 3 * self.size * along, place + 3 * self.size * along, lw=0.8, ls=(0, (8, 3, 2, 3)))
        half = self.size * np.array([0.075, 0.04])
        corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * half + one.point("b")
        self._polygon(self.placed.points(b, corners), self.colour(b), 2.5, b)

    def _line(self, start: Array, end: Array, **style: Any) -> None:
        known: dict[str, Any] = {"color": FAINT, "lw": 1.2, "zorder": 1}
        (line,) = self.axes.plot([], [], **(known | style))
        self._add(lambda k: line.set_data([start[k, 0], end[k, 0]], [start[k, 1], end[k, 1]]))

    def _circle(self, centre: Array, radius: float, **style: Any) -> None:
        from matplotlib.patches import Circle

        patch = Circle(tuple(centre[0]), radius, **style)
        self.axes.add_patch(patch)
        self._add(lambda k: patch.set_center(tuple(centre[k])))

    # ------------------------------------------------------------------------------------------------------- joints

    def joints(self) -> None:
        """Pins, bearings, guides and surfaces."""
        draw = {
            "Revolute": self._pin,
            "RevoluteClearance": self._bearing,
            "PrismaticClearance": self._guide,
            "PointPlane": self._plane,
            "CirclePlane": self._plane,
            "CircleCircle": self._circles,
            "Spring": self._spring,
        }
        for one in self.elements:
            if one.kind in draw:
                draw[one.kind](one)

    def _pin(self, one: Element) -> None:
        place = self.placed.points(one.body("a"), one.point("a"))
        if one.body("a") not in self.colours:
            (foot,) = self.axes.plot([], [], ls="", marker="^", ms=13, color=GROUND, zorder=2)
            self._add(lambda k: foot.set_data(place[k, :1], place[k, 1:] - 0.018 * self.size))
        self._circle(place, 0.012 * self.size, fc="white", ec=INK, lw=1.0, zorder=6)

    def _bearing(self, one: Element) -> None:
        a, b = one.body("a"), one.body("b")
        centre = self.placed.points(a, one.point("a"))
        e = self.placed.points(b, one.point("b")) - centre
        play = self.factor * one.numbers["clearance"]
        radius = max(BEARING * self.size, play / 0.8)
        self._circle(centre, radius, fc="white", ec=self.colour(a), lw=2.5, zorder=7)
        self._circle(centre + self.factor * e, radius - play, fc=self.colour(b), ec=INK, lw=0.8, alpha=0.9, zorder=8)
        distance = np.hypot(*e.T)[:, None]
        outward = np.divide(e, distance, out=np.zeros_like(e), where=distance > 0)
        self.pushes[one.name] = centre + radius * outward, -outward

    def _guide(self, one: Element) -> None:
        guide, slider, p = one.body("guide"), one.body("slider"), one.numbers
        direction = self.placed.angle(guide) + p.get("direction", 0.0)
        along, across = (turn(np.array(axis), direction) for axis in ([1.0, 0.0], [0.0, 1.0]))
        origin = self.placed.points(guide, one.point("guide"))
        offset = self.placed.points(slider, one.point("slider")) - origin
        x, y = np.sum(offset * along, axis=1), np.sum(offset * across, axis=1)
        tilt = self.placed.angle(slider) - direction
        a, half, play = p["length"] / 2, _half_height(one, self.size), self.factor * p["clearance"]
        first, last = x.min() - 1.6 * a, x.max() + 1.6 * a
        for side in (-1, 1):
            wall = side * (half + play) * across
            self._line(origin + first * along + wall, origin + last * along + wall, color=INK, lw=1.4)
        corners = {}
        for name, (end, side) in CORNERS.items():
            height = side * half + self.factor * (y + end * a * np.sin(tilt))
            corners[name] = origin + (x + end * a * np.cos(tilt))[:, None] * along + height[:, None] * across
            self.pushes[f"{one.name}.{name}"] = corners[name], -side * across
        outline = np.stack(
            [corners[name] for name in ("left_lower", "right_lower", "right_upper", "left_upper")], axis=1
        )
        self._polygon(outline, self.colour(slider), 2.5, slider)

    def _plane(self, one: Element) -> None:
        a, p = one.body("a"), one.numbers
        direction = self.placed.angle(a) + p.get("direction", 0.0)
        along, normal = (turn(np.array(axis), direction) for axis in ([1.0, 0.0], [0.0, 1.0]))
        place = self.placed.points(a, one.point("a"))
        self._line(place - 3 * self.size * along, place + 3 * self.size * along, color=INK, lw=1.4)
        point = self.placed.points(one.body("b"), one.point("b"))
        radius = p.get("radius", 0.0)
        if radius:
            self._disc(one.body("b"), one.point("b"), radius)
        else:
            self._circle(point, 0.008 * self.size, fc=INK, ec=INK, zorder=6)
        self.pushes[one.name] = point - radius * normal, normal

    def _circles(self, one: Element) -> None:
        a, b = (self.placed.points(one.body(side), one.point(side)) for side in "ab")
        for side in "ab":
            self._disc(one.body(side), one.point(side), one.numbers[f"radius_{side}"])
        normal = (b - a) / np.hypot(*(b - a).T)[:, None]
        self.pushes[one.name] = a + one.numbers["radius_a"] * normal, normal

    def _disc(self, body: str, local: Array, radius: float) -> None:
        """A round surface, with a mark by which its turning shows."""
        colour, centre = self.colour(body), self.placed.points(body, local)
        self._circle(centre, radius, fc=colour, ec=colour, lw=1.5, alpha=0.55, zorder=2.5)
        self._line(centre, self.placed.points(body, local + [0.0, radius]), color=colour, lw=1.0, zorder=2.6)

    def _spring(self, one: Element) -> None:
        start, end = (self.placed.points(one.body(side), one.point(side)) for side in "ab")
        self._line(start, end, lw=1.2, ls=(0, (1.5, 1.5)), color=INK)

    # ------------------------------------------------------------------------------------------------------- arrows

    def arrows(self, trajectory: Trajectory) -> None:
        """Mean forces between the pictures, of contacts whose place is known."""
        known = [(i, name) for i, name in enumerate(trajectory.gap.names) if name in self.pushes]
        if not known:
            return
        self.contacts = len(known)
        forces = np.vstack(
            [np.zeros((1, len(known))), mean_forces(trajectory, self.placed.t)[:, [i for i, _ in known]]]
        )
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

        self._add(move)
        self._show(places + np.nan_to_num(vectors))

    def _show(self, points: Array) -> None:
        """Widen the view so that these points are in it."""
        for axis, set_limits, values in (
            (self.axes.get_xlim(), self.axes.set_xlim, points[..., 0]),
            (self.axes.get_ylim(), self.axes.set_ylim, points[..., 1]),
        ):
            room = 0.02 * self.size
            set_limits(min(axis[0], float(values.min()) - room), max(axis[1], float(values.max()) + room))


def _hull(points: Array) -> Array:
    """Corners of the convex hull, counter-clockwise; the two ends of points on a line."""
    from scipy.spatial import ConvexHull, QhullError

    spread = points - points.mean(axis=0)
    _, extent, axes = np.linalg.svd(spread, full_matrices=False)
    if len(points) == 2 or extent[1] < 1e-6 * extent[0]:
        order = np.argsort(spread @ axes[0])
        return points[order[[0, -1]]]
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return points


def _readable(ratio: float) -> str:
    """Three digits without an exponent."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{float(f'{ratio:.3g}'):.0f}"


def _notes(film: Animation, scene: _Scene) -> None:
    """Time above; what is magnified and what arrows mean below."""
    figure, t = film.figure, film.t
    unit = readable("s", float(np.max(np.abs(t))))
    factor = scale(unit)[1]
    decimals = int(np.clip(np.ceil(-np.log10((t[1] - t[0]) / factor)), 0, 6))
    top = 1.0 - 0.17 / figure.get_figheight()
    clock: Text = figure.text(0.03, top, "", va="center", fontsize=SIZE + 2, color=INK, fontweight="bold")
    film._moves.append(lambda k: clock.set_text(f"t = {t[k] / factor:.{decimals}f} {shown_unit(unit)}"))
    lines = []
    if any(one.kind.endswith("Clearance") for one in scene.elements):
        lines.append(
            f"clearance drawn {film.magnification:g} times its size" if film.magnification != 1 else "drawn to scale"
        )
    pace = (t[1] - t[0]) * film.fps
    lines.append(
        f"{_readable(1 / pace)} times slower than life" if pace < 0.95 else f"{_readable(pace)} times life's speed"
    )
    second = []
    if scene.longest > 0:
        force = readable("N", scene.longest)
        longest = f"{scene.longest / scale(force)[1]:.3g} {force}"
        second.append(f"arrows: mean contact forces from picture to picture, the longest {longest}")
    elif scene.contacts:
        second.append("no contact force in this span")
    text = "\n".join(["; ".join(lines), *second])
    figure.text(0.03, 0.05 / figure.get_figheight(), text, va="bottom", fontsize=SIZE, color=INK, linespacing=1.3)
