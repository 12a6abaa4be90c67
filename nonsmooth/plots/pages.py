"""Drawings of a mechanism on a page of their own: a sketch with names, a scale bar and notes, and an animation."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import window_of
from nonsmooth.exceptions import InputError
from nonsmooth.plots.drawing import Drawing, drawing_of_run, drawing_of_state
from nonsmooth.plots.labels import display, round_length, shown_unit
from nonsmooth.plots.scene import Label, Scene
from nonsmooth.plots.style import FAINT, INK, SIZE
from nonsmooth.progress import stage
from nonsmooth.settings import checked, is_one, require, shown
from nonsmooth.studies.arguments import check_count
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    from nonsmooth.model.state import State
    from nonsmooth.model.system import System

#: of the page: largest and least size, margin, room for notes, least width with these [inch]
LARGEST, LEAST, MARGIN, NOTES, WIDE = np.array([6.4, 6.0]), np.array([4.2, 2.4]), 0.45, 0.42, 5.6
INSET = 0.08  # margin of a page of given size, of its smaller side
#: share of the picture's width that the bar takes at most; distance from the corner and height of its ends [pt]
SHARE, CORNER, END = 0.2, 7.0, 4.0
#: possible positions of a name: distance [pt] and direction, nearest first
SEATS = tuple(
    (reach, np.array([math.cos(math.radians(turn)), math.sin(math.radians(turn))]))
    for reach in (9.0, 15.0, 23.0, 33.0, 45.0, 60.0)
    for turn in (45, 135, -45, -135, 0, 180, 90, -90, 20, 160, -20, -160, 70, 110, -70, -110)
)
ASTRAY = 5.0  # cost of a name that stands nearer to what another one is of, in points of lines that it covers
FORMATS = (".gif", ".mp4")  # of animations


def new_axes(dimension: int, dpi: int) -> Any:
    """Axes of the plane or of space in a figure of their own."""
    from matplotlib.figure import Figure

    options: dict[str, Any] = {"projection": "3d", "proj_type": "ortho"} if dimension == 3 else {}
    return Figure(figsize=tuple(LARGEST), dpi=dpi).add_axes((0.0, 0.0, 1.0, 1.0), **options)


def fit(scene: Scene, notes: bool, given: Array | None = None) -> None:
    """Size of the page, unless it is given [inch], and scale such that everything is seen, equal along all axes."""
    points, margin = scene.points(), MARGIN if given is None else INSET * float(min(given))
    spans = np.ptp(np.column_stack([points @ scene.right, points @ scene.up]), axis=0)
    scale = float(np.min((LARGEST - 2 * MARGIN) / np.maximum(spans, 1e-9 * scene.drawing.size)))
    least, foot = (np.maximum(LEAST, [WIDE, 0.0]), NOTES) if notes else (LEAST, 0.0)
    page = np.maximum(scale * spans + 2 * MARGIN, least) + [0.0, foot] if given is None else given
    scene.axes.figure.set_size_inches(*page)
    if scene.flat:
        scene.axes.set_position((0.0, foot / page[1], 1.0, 1.0 - foot / page[1]))
        fill(scene, margin)
        return
    # axes of space such that these points fill the page above its foot; beyond their own square nothing is drawn
    axes, side, shift, zoom = scene.axes, 3 * page.max(), np.zeros(2), 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    high = np.maximum(high, low + 1e-3 * scene.drawing.size)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.view_init(*scene.angles, vertical_axis="xyz"[scene.drawing.vertical])
    room = page - 2 * margin - [0.0, foot]
    for _ in range(3):  # the second time the scale is right, so that the middle can be found
        axes.set_box_aspect(high - low, zoom=zoom)
        axes.set_position((*(((page - side) / 2 + shift) / page), *(side / page)))
        seen = pixels(scene, points) / axes.figure.dpi
        if not shift.any():
            zoom *= float(np.min(room / np.maximum(np.ptp(seen, axis=0), 1e-9)))
        shift = shift + (page + [0.0, foot]) / 2 - (seen.min(axis=0) + seen.max(axis=0)) / 2


def fill(scene: Scene, margin: float) -> None:
    """Limits with which a drawing in the plane, with a margin [inch], fills its axes, which are placed already."""
    axes, points = scene.axes, scene.points()
    low, high = points.min(axis=0), points.max(axis=0)
    sides = np.array([axes.bbox.width, axes.bbox.height]) / axes.figure.dpi
    metre = float(np.min((sides - 2 * margin) / np.maximum(high - low, 1e-9 * scene.drawing.size)))
    for put, middle, side in zip((axes.set_xlim, axes.set_ylim), (low + high) / 2, sides, strict=True):
        put(middle - side / metre / 2, middle + side / metre / 2)


def pixels(scene: Scene, points: Array) -> Array:
    """Places of points (k, d) on the page (k, 2) [pixel]."""
    if not scene.flat:
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        scene.axes.apply_aspect()
        points = np.column_stack(proj_transform(*points.T, scene.axes.get_proj())[:2])
    return np.asarray(scene.axes.transData.transform(points))


def write_on(scene: Scene) -> None:
    """Write the names, the scale, and what is magnified, on a page that is fitted."""
    figure: Figure = scene.axes.figure.figure
    axes, strokes, labels = scene.axes, scene.ahead, scene.labels
    if not scene.flat:  # on axes of their own, in pixels
        width, height = figure.get_size_inches() * figure.dpi
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0.0, width), ylim=(0.0, height))
        axes.set_axis_off()
        strokes = [pixels(scene, line) for line in (*(course[0] for course in scene.courses[1:]), *scene.ahead)]
        labels = [Label(one.text, pixels(scene, one.at[None])[0], one.colour, one.bold) for one in labels]
    if scene.drawing.sized:  # the bar in the lower left corner, its length above it and a note behind
        from matplotlib.lines import Line2D

        ends = pixels(scene, np.array([0.0 * scene.right, scene.drawing.size * scene.right]))
        metre = float(np.linalg.norm(ends[1] - ends[0])) / scene.drawing.size
        box, point, to_axes = axes.bbox, axes.figure.dpi / 72, axes.transAxes.inverted()
        length = round_length(SHARE * box.width / metre)
        wide, x, y = length * metre, box.x0 + CORNER * point, box.y0 + CORNER * point
        line = [(x, y + END / 2 * point), (x, y), (x + wide, y), (x + wide, y + END / 2 * point)]
        x_line, y_line = zip(*map(to_axes.transform, line), strict=True)
        axes.add_artist(Line2D(x_line, y_line, color=FAINT, lw=0.8, transform=axes.transAxes, zorder=8))
        unit, factor = display("m", length)
        style: dict[str, Any] = {"fontsize": SIZE - 1, "color": FAINT, "transform": axes.transAxes, "zorder": 8}
        middle, end = to_axes.transform([(x + wide / 2, y + 2 * point), (x + wide + 5 * point, y)]).tolist()
        axes.text(middle[0], middle[1], f"{length / factor:g} {shown_unit(unit)}", ha="center", va="bottom", **style)
        if scene.note():
            axes.text(end[0], end[1], scene.note(), ha="left", va="baseline", **style)
    _write_names(figure, axes, labels, strokes)


def _write_names(figure: Figure, axes: Axes, labels: Sequence[Label], strokes: Sequence[Array]) -> None:
    """Write names where they cover neither each other nor lines, further ones (k, 2) too; thin lines lead to them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    renderer = FigureCanvasAgg(figure).get_renderer()
    inch, points = figure.dpi / 72, []  # of every line, arrow and outline, in pixels
    paths = [line.get_transform().transform(np.column_stack(line.get_data())) for line in axes.lines]
    for data in [*paths, *(axes.transData.transform(stroke) for stroke in strokes)]:
        share = np.linspace(0.0, 1.0, 24)[:, None]
        points += [a + share * (b - a) for a, b in zip(data[:-1], data[1:], strict=True)] or [data]
    for patch in axes.patches:
        if not patch.get_fill() or tuple(patch.get_facecolor())[-1] == 0.0:
            points.append(patch.get_transform().transform(patch.get_path().interpolated(8).vertices))
    ink = np.vstack(points)
    ink = ink[np.all(np.isfinite(ink), axis=1)]
    page = axes.bbox.padded(-2 * inch)
    taken: list[Bbox] = [text.get_window_extent(renderer) for text in axes.texts]
    anchors = [axes.transData.transform(label.at) for label in labels]
    for label, anchor in zip(labels, anchors, strict=True):
        style: dict[str, Any] = {"fontsize": SIZE, "color": label.colour, "ha": "center", "va": "center", "zorder": 9}
        x, y = map(float, label.at)
        text = axes.text(x, y, label.text, fontweight="bold" if label.bold else "normal", **style)
        text.set_in_layout(False)
        box = text.get_window_extent(renderer)
        best, least, own, half = anchor, math.inf, box, np.array([box.width / 2, box.height / 2])
        for reach, direction in SEATS:  # the text's edge is `reach` away from the anchor
            centre = anchor + (reach * inch * direction + direction * half)
            seat = Bbox.from_bounds(centre[0] - box.width / 2, centre[1] - box.height / 2, box.width, box.height)
            roomy = seat.padded(1.5 * inch)
            covered = sum(roomy.overlaps(other) for other in taken)
            outside = not (page.x0 <= seat.x0 and page.y0 <= seat.y0 and seat.x1 <= page.x1 and seat.y1 <= page.y1)
            crossed = int(np.sum(np.all((roomy.min <= ink) & (ink <= roomy.max), axis=1)))
            apart = _distance(seat, anchor)
            nearer = any(_distance(seat, other) < apart - inch for other in anchors)
            cost = 1000.0 * covered + 500.0 * outside + min(crossed, 40) + ASTRAY * nearer + 0.15 * reach
            if cost < least:
                best, least, own = centre, cost, seat
        into = axes.transData.inverted().transform
        x, y = map(float, into(best))
        text.set_position((x, y))
        taken.append(own)
        if np.linalg.norm(best - anchor) > 26.0 * inch + box.width / 2:
            ends = into(np.array([np.clip(anchor, own.min, own.max), anchor]))
            axes.plot(*ends.T, color=label.colour, lw=0.4, alpha=0.7, zorder=4)


def _distance(box: Bbox, point: Array) -> float:
    """From a box to a point [pixel]; 0 inside."""
    return float(np.linalg.norm(np.clip(point, box.min, box.max) - point))


def sketch(
    system: System, state: State | None = None, *, view: tuple[float, float] | None = None,
    deformation: float | None = None,
) -> Figure:  # fmt: skip
    """Draw a mechanism, each element as its `drawing` says.

    A body is a bar or a plate between its joints, in space lines from its mass centre to them with the faces between
    these and a triad of its axes (x red, y green, z blue); shapes replace this. In the plane a body with a single pin
    is taken for a bar as long on the other side. Crosses, in space dots, mark mass centres. Open circles are hinges,
    filled ones balls, squares welds, diamonds other joints; thick lines are axes of hinges in space; blocks and sleeves
    slide on dash-dotted axes. Bearings and guides with clearance are drawn with the clearance, and what moves in it,
    magnified by the factor that is written below. Walls have strokes on their solid side, in space a grid. Arrows are
    forces, arcs motors and torques. A bar tells the scale. In space the axis of gravity stands upright. InputError for
    a view that is not two such angles, or a factor that is not positive.

    Parameters
    ----------
    system : what ``Model.build()`` returned
    state : what is drawn; the start by default
    view : (elevation, azimuth) [deg], optional, viewpoint for a mechanism in space; chosen automatically by default
    deformation : [-], optional, magnification of deflections of flexible bodies; chosen automatically by default
    """
    require(hasattr(system, "start"), "sketch takes a System, as Model.build() returns", system)
    return drawn(drawing_of_state(system, state), view, deformation)


def drawn(
    drawing: Drawing, view: tuple[float, float] | None = None, deformation: float | None = None,
    page: Array | None = None,
) -> Figure:  # fmt: skip
    """The first picture of a drawing with names, on a page of its own, of a size [inch] if one is given."""
    scene = Scene(drawing, new_axes(drawing.dimension, dpi=200), None, deformation, view)
    fit(scene, bool(scene.note()), page)
    write_on(scene)
    return scene.axes.figure


@dataclass(eq=False)
class Animation:
    """Frames of a run; `draw` shows one of them, `save` writes all.

    Parameters
    ----------
    figure, axes : what is drawn into
    t : times of the frames (n,) [s]
    fps : frames per second
    magnification, deformation
        Factors by which clearances and motions within them, and deflections of flexible bodies, are magnified; 0 where
        nothing is deformed.
    """

    figure: Figure
    axes: Axes
    t: Array
    fps: int
    magnification: float
    deformation: float = 0.0
    _moves: list[Callable[[int], None]] = field(default_factory=list, repr=False)

    def draw(self, k: int) -> None:
        """Move everything to the picture k."""
        for move in self._moves:
            move(k)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a GIF, or an MP4 where ffmpeg is found; under a temporary name first.

        InputError for another format, ffmpeg that is missing or fails, or a path that cannot be written.
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
                with stage("drawing", path.name) as say, film.saving(self.figure, str(unfinished), self.figure.dpi):
                    for k in range(len(self.t)):
                        say(f"{path.name}, picture {k + 1} of {len(self.t)}")
                        self.draw(k)
                        film.grab_frame()
                    say(f"{path.name}, writing it")
                os.replace(unfinished, path)
        except subprocess.CalledProcessError as error:
            ended = f"{program['animation.ffmpeg_path']} ended with {error.returncode}"
            raise InputError(f"{path} cannot be written ({ended}); install another ffmpeg, or write a .gif.") from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(f"{path} cannot be written ({reason}); give a file in a writable folder.") from error


def check_format(path: Path) -> None:
    """Raise InputError unless an animation of this name can be written."""
    suffix = path.suffix.lower()
    require(is_one(suffix, FORMATS), f"An animation is a file {' or '.join(FORMATS)}", path.name)
    if suffix == ".mp4" and ffmpeg() is None:
        raise InputError(
            "An MP4 needs the program ffmpeg, which is neither on PATH nor in the package imageio-ffmpeg: "
            'pip install "nonsmooth[video]", or write a .gif.'
        )


def ffmpeg() -> str | None:
    """The program that writes an MP4: matplotlib's setting or PATH, else the one in the package imageio-ffmpeg."""
    import matplotlib

    if found := shutil.which(matplotlib.rcParams["animation.ffmpeg_path"]):
        return found
    with contextlib.suppress(ImportError, RuntimeError):  # the package may come without a program
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    return None


@checked
def animation(
    trajectory: Trajectory, *, frames: int = 120, fps: int = 20, span: tuple[float, float] | None = None,
    magnify: float | None = None, deformation: float | None = None, forces: bool = True,
    view: tuple[float, float] | None = None,
) -> Animation:  # fmt: skip
    """Draw bodies, joints and contacts of a run as an animation, each element as its `drawing` says.

    Symbols are those of `sketch`; thin lines are the paths of the mass centres. Within a joint with clearance, offset
    and tilt are magnified about the bearing or the guide, so that gaps read as the same multiple of the true ones;
    bodies stand where they are. Deflections of flexible bodies from the places at which joints hold them are magnified;
    where nothing holds them, those from their mean frame. Arrows are the mean normal forces on the second body of each
    contact since the previous frame, impacts included, in space the whole forces without impacts. InputError for a run
    without a step, elements of a class that is not known here, or numbers that cannot be used.

    Parameters
    ----------
    trajectory : the run, or one that was loaded
    frames : int, number of frames, at equal distances in time
    fps : int [1/s], frames per second
    span : (from, to) [s], optional, part of the run
    magnify : [-], optional, magnification of clearances; chosen automatically by default
    deformation : [-], optional, that of deflections of flexible bodies; by default these are 8 % of a body at most
    forces : bool, whether to draw arrows
    view : (elevation, azimuth) [deg], optional, viewpoint for a mechanism in space; chosen automatically by default
    """
    check_count("frames", frames, 2)
    first, last = window_of(trajectory, span, "span")
    if not first < last:
        raise InputError("A run without a step has no motion to draw.")
    t = np.linspace(first, last, frames)
    if not (isinstance(fps, int) and fps > 0) or (magnify is not None and not magnify > 0):
        raise InputError(f"fps must be a positive integer and magnify positive, got {shown(fps)} and {shown(magnify)}.")
    drawing = drawing_of_run(trajectory, t)
    scene = Scene(drawing, new_axes(drawing.dimension, dpi=110), magnify, deformation, view)
    if forces and trajectory.gap.names:
        scene.arrows(trajectory, t)
    fit(scene, notes=True)
    figure: Figure = scene.axes.figure
    film = Animation(figure, scene.axes, t, fps, scene.factor, scene.bent, scene.moves)
    # time above; what is magnified and what arrows mean below
    unit, factor = display("s", float(np.max(np.abs(t))))
    decimals = int(np.clip(np.ceil(-np.log10((t[1] - t[0]) / factor)), 0, 6))
    top = 1.0 - 0.17 / figure.get_figheight()
    clock: Text = figure.text(0.03, top, "", va="center", fontsize=SIZE + 2, color=INK, fontweight="bold")
    film._moves.append(lambda k: clock.set_text(f"t = {t[k] / factor:.{decimals}f} {shown_unit(unit)}"))
    lines = [scene.note()] if scene.note() else []
    pace = (t[1] - t[0]) * film.fps
    ratio = f"{1 / pace if pace < 0.95 else pace:.3g}"
    ratio = f"{float(ratio):.0f}" if "e" in ratio else ratio
    lines.append(f"{ratio} times {'slower than ' if pace < 0.95 else ''}real time")
    second = []
    if scene.longest > 0:
        force, size = display("N", scene.longest)
        what = "mean contact forces from picture to picture" + ("" if scene.flat else ", without impacts")
        second.append(f"arrows: {what}, the longest {scene.longest / size:.3g} {force}")
    elif scene.contacts:
        second.append("no contact force in this span")
    text = "\n".join(["; ".join(lines), *second])
    figure.text(0.03, 0.05 / figure.get_figheight(), text, va="bottom", fontsize=SIZE, color=INK, linespacing=1.3)
    film.draw(0)
    return film
