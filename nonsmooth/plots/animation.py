"""A mechanism in motion, its clearances magnified, with contact forces as arrows."""

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

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import window_of
from nonsmooth.exceptions import InputError
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.plots.scene import Scene
from nonsmooth.plots.sketch import fit, new_axes
from nonsmooth.plots.style import INK, SIZE
from nonsmooth.plots.units import display, shown_unit
from nonsmooth.progress import stage
from nonsmooth.studies.arguments import check_count
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

#: formats of files
FORMATS = (".gif", ".mp4")


@dataclass(eq=False)
class Animation:
    """Frames of a run; `draw` shows one of them, `save` writes all.

    Parameters
    ----------
    figure, axes
        What is drawn into.
    t
        Times of the frames (n,) [s].
    fps
        Frames per second.
    magnification, deformation
        Factors by which clearances and motions within them, and deflections of flexible bodies, are magnified; a
        deformation of 0 where nothing is deformed.
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
                with stage("drawing", path.name) as say, film.saving(self.figure, str(unfinished), self.figure.dpi):
                    for k in range(len(self.t)):
                        say(f"{path.name}, picture {k + 1} of {len(self.t)}")
                        self.draw(k)
                        film.grab_frame()
                    say(f"{path.name}, writing it")
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
    """Raise InputError unless an animation of this name can be written."""
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
    deformation: float | None = None,
    forces: bool = True,
    view: tuple[float, float] | None = None,
) -> Animation:
    """Draw bodies, joints and contacts of a run as an animation, each element as its `drawing` says.

    A body is drawn by its shapes, or without any as the convex hull of its joints, a slider as a block, a journal as a
    disc in its bearing. Within a joint with clearance, offset and tilt are magnified about the bearing or the guide, so
    that gaps read as the same multiple of the true ones; bodies themselves stand where they are, in space with bars to
    the magnified places of journals and sliders. Flexible bodies are curves through their nodes, and their deflection
    from the places at which joints hold them is magnified; where nothing holds them, that from their mean frame. Both
    factors are written in the picture. Arrows are the mean normal forces on the second body of each contact since the
    previous frame, impacts included.

    Symbols are those of `sketch`; thin lines are the paths of the mass centres. In space arrows are the whole forces,
    friction included, but without impacts.

    Parameters
    ----------
    trajectory
        The run, or one that was loaded.
    frames : int
        Number of frames, at equal distances in time.
    fps : int [1/s]
        Frames per second.
    span : (from, to) [s], optional
        Part of the run.
    magnify : [-], optional
        Magnification of clearances; chosen automatically by default.
    deformation : [-], optional
        How many times too large deflections of flexible bodies are drawn; where omitted a readable one, with which the
        largest is 8 % of its body at most.
    forces : bool
        Whether to draw arrows.
    view : (elevation, azimuth) [deg], optional
        Viewpoint for a mechanism in space; chosen automatically by default.

    Raises
    ------
    InputError
        For a run without a step, elements of a class that is not known here, or numbers that cannot be used.
    """
    check_count("frames", frames, 2)
    first, last = window_of(trajectory, span, "span")
    if not first < last:
        raise InputError("A run without a step has no motion to draw.")
    t = np.linspace(first, last, frames)
    if not (isinstance(fps, int) and fps > 0) or (magnify is not None and not magnify > 0):
        raise InputError(f"fps must be a positive integer and magnify positive, got {fps!r} and {magnify!r}.")
    drawing = drawing_of_run(trajectory, t)
    scene = Scene(drawing, new_axes(drawing.dimension, dpi=110), magnify, deformation, view)
    if forces and trajectory.gap.names:
        scene.arrows(trajectory, t)
    fit(scene, notes=True)
    film = Animation(scene.axes.figure, scene.axes, t, fps, scene.factor, scene.bent, scene.moves)
    _notes(film, scene)
    film.draw(0)
    return film


def _notes(film: Animation, scene: Scene) -> None:
    """Time above; what is magnified and what arrows mean below."""
    figure, t = film.figure, film.t
    unit, factor = display("s", float(np.max(np.abs(t))))
    decimals = int(np.clip(np.ceil(-np.log10((t[1] - t[0]) / factor)), 0, 6))
    top = 1.0 - 0.17 / figure.get_figheight()
    clock: Text = figure.text(0.03, top, "", va="center", fontsize=SIZE + 2, color=INK, fontweight="bold")
    film._moves.append(lambda k: clock.set_text(f"t = {t[k] / factor:.{decimals}f} {shown_unit(unit)}"))
    lines = [scene.note()] if scene.note() else []
    pace = (t[1] - t[0]) * film.fps
    ratio = f"{1 / pace if pace < 0.95 else pace:.3g}"
    ratio = f"{float(ratio):.0f}" if "e" in ratio else ratio
    lines.append(f"{ratio} times slower than real time" if pace < 0.95 else f"{ratio} times real time")
    second = []
    if scene.longest > 0:
        force, size = display("N", scene.longest)
        what = "mean contact forces from picture to picture" + ("" if scene.flat else ", without impacts")
        second.append(f"arrows: {what}, the longest {scene.longest / size:.3g} {force}")
    elif scene.contacts:
        second.append("no contact force in this span")
    text = "\n".join(["; ".join(lines), *second])
    figure.text(0.03, 0.05 / figure.get_figheight(), text, va="bottom", fontsize=SIZE, color=INK, linespacing=1.3)
