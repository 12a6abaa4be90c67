"""Writes docs/gallery.md and its figures, one per ready problem: ``python docs/gallery.py [PROBLEM ...]``.

A new problem appears by itself, run as `OTHERWISE` says; a line in `RUNS` gives it a run that shows more.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np

from nonsmooth.cli import main
from nonsmooth.model.drawing import Field
from nonsmooth.model.registry import Problem, find_problems, needed
from nonsmooth.plots.drawing import drawing_of_state
from nonsmooth.plots.pages import fit, new_axes
from nonsmooth.plots.scene import Scene

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures" / "gallery"
SKETCHES, ANIMATIONS, SMALL = (HERE / "figures" / name for name in ("sketches", "animations", "small"))
LARGEST = 60_000  # bytes of a figure
LARGEST_SKETCH = 20_000
#: animated problems, with what is magnified; width [pixel], colours, and every how many of the pictures stay
ANIMATED = dict.fromkeys(("cam-follower", "four-bar", "slider-crank-revolute", "spatial-slider-crank"), "clearances")
ANIMATED["flexible-slider-crank"] = "clearance and deformation"
WIDTH, COLOURS, EVERY = 320, 32, 3
#: size of the drawings at the head of the page, as they are shown [inch], and their pixels per inch
CARD, PIXELS = (1.75, 1.15), 192

#: the ready problems in a table, and what each can be compared with
TABLE = """\
## All problems

Each problem is one file in `problems/`, with its source and the origin of every number. The last column states the
exact or published results for comparison; *ideal twin* is the same mechanism with ideal joints.

| problem | | reference |
|---|---|---|
| `slider_rod` | slider with clearance on a rod, three cases: impacts of its ends, accumulation of impacts, rest | yes |
| `slider_crank_translational` | slider-crank of Flores, Leine and Glocker, clearance in the guide: frictional impacts at four corners | ideal twin |
| `slider_crank_revolute` | slider-crank at 5000 rpm, clearance in one to three bearings: the classic benchmark | first contacts |
| `four_bar` | four-bar linkage of Akhadkar, Acary and Brogliato, clearance in one to four joints, crank free or driven | first contacts, ideal twin |
| `crank_rocker` | crank-rocker with a motor: range of the rocker, driving moment, impacts at its reversals | ideal twin |
| `flexible_slider_crank` | slider-crank of the Test Set for IVP Solvers with a flexible rod and clearance in its pin | ideal twin, rigid rod |
| `beam_on_stop` | clamped flexible beam that impacts on a stop: convergence with the number of modes | |
| `double_pendulum_clearance` | two rods with clearance in the second or in both joints: energy and momentum | first contact |
| `dual_manipulator` | two arms on a free-floating spacecraft, clearance in one or two joints, after a paper whose parameter tables are not available | ideal twin |
| `chain` | any number of links that hang in bearings with clearance and rotate about the first one | without gravity |
| `cam_follower` | eccentric cam under a spring-loaded flat or roller follower: lift-off, flight, return | lift-off, flight |
| `bouncing_ball`, `pendulum_with_stop` | impacts that accumulate | yes |
| `motor_backlash_load` | a motor takes up the backlash of its gears, and turns a load | yes |
| `block_on_incline`, `stick_slip_oscillator` | sticking and slipping | yes |
| `brick_on_steps` | a brick that tips over an edge, slips and tumbles down steps: corners and edges of rectangles | pendulum until it slips |
| `newtons_cradle` | simultaneous impacts, with the prediction of each impact law | both outcomes |
| `painleve_rod` | a sliding rod for which rigid contact with Coulomb friction has no solution, or two | |
| `andrews_squeezer` | seven bodies in three loops, a standard benchmark of multibody codes | published motion and forces |
| `heavy_top` | spatial: symmetric top on a ball joint, ideal or with clearance | published motion |
| `turntable_ball` | spatial: a ball rolling on a turntable, on a circle at 2/7 of the table's angular velocity | yes |
| `rattleback` | spatial: an ellipsoid that rolls on a plane and reverses its spin | rolling without slip |
| `tippe_top` | spatial: a top that slides on its head and turns over onto its stem | sliding |
| `euler_disc` | spatial: a thick disc that rolls on its edge, nearly flat, without loss | rolling without slip |
| `universal_shaft` | spatial: two shafts and a universal joint | yes |
| `bennett` | spatial: overconstrained four-bar that moves although it has more constraints than velocities | angles in closed form |
| `socket_pendulum` | spatial: a rod suspended by a ball in a socket with clearance | frictionless |
| `spatial_slider_crank` | spatial: slider-crank with clearance in its ball joint | ideal twin |
| `loose_journal`, `slide_in_guide` | spatial: a journal in its sleeve and a rectangular slide in its guide, under load | statics |
| `polishing_robot`, `six_rss` | spatial: two parallel robots with clearance in a slide or in twelve ball joints, after papers | ideal twin |
| `xy_pointing` | spatial: two motors turn a platform about crossed axes, ideal joints or with clearance, after a paper | ideal twin |
"""  # noqa: E501

OTHERWISE = "--stepper gauss-qp --dt-min 1e-6 --dt-max 1e-3 --t-end 0.05"
EVENTS = "--stepper event-driven --rtol 1e-7 --atol 1e-9 --dt-min 1e-5 --dt-max 5e-3"
#: words of `nonsmooth run` after the problem's name
RUNS = {
    "andrews-squeezer": "--stepper event-driven --rtol 1e-9 --atol 1e-9 --dt-min 1e-8 --dt-max 1e-4 --t-end 0.03",
    "beam-on-stop": "--stepper moreau-jean --dt 2e-5 --t-end 0.03",
    "bennett": f"{EVENTS} --t-end 2",
    "block-on-incline": "--stepper gauss-qp --dt-min 1e-6 --dt-max 1e-2 --t-end 0.3",
    "bouncing-ball": "--stepper gauss-qp --dt-min 1e-6 --dt-max 2e-2 --t-end 8.2",
    "brick-on-steps": f"{EVENTS} --t-end 1.2",
    "cam-follower": f"{EVENTS} --t-end 0.1",
    "chain": f"{EVENTS} --t-end 1",
    "crank-rocker": f"{EVENTS} --t-end 0.1",
    "double-pendulum-clearance": f"{EVENTS} --t-end 1",
    "dual-manipulator": f"{EVENTS} --t-end 1",
    "flexible-slider-crank": "--stepper moreau-jean --dt 1e-5 --t-end 0.02",
    "euler-disc": f"{EVENTS} --t-end 0.5",
    "four-bar": f"{EVENTS} --t-end 1.5",
    "heavy-top": f"{EVENTS} --t-end 0.5",
    "motor-backlash-load": "--stepper event-driven --rtol 1e-7 --atol 1e-9 --dt-min 1e-6 --dt-max 2e-4 --t-end 0.04",
    "newtons-cradle": f"{EVENTS} --t-end 2.4",
    "painleve-rod": "--stepper gauss-qp --dt-min 1e-6 --dt-max 1e-3 --t-end 0.2",
    "pendulum-with-stop": f"{EVENTS} --t-end 4",
    "polishing-robot": "--stepper moreau-jean --dt 1e-4 --t-end 0.05",
    "rattleback": f"{EVENTS} --t-end 5",
    "six-rss": "--stepper moreau-jean --dt 2e-4 --t-end 0.1",
    "slide-in-guide": f"{EVENTS} --t-end 0.05",
    "slider-crank-revolute": f"{EVENTS} --t-end 0.012",
    "slider-crank-translational": f"{EVENTS} --t-end 0.05",
    "slider-rod": "--case 2 --dt-min 1e-6 --dt-max 1e-3 --t-end 3.5e-3",
    "socket-pendulum": f"{EVENTS} --t-end 0.1",
    "spatial-slider-crank": f"{EVENTS} --t-end 1",
    "stick-slip-oscillator": f"{EVENTS} --t-end 6",
    "tippe-top": f"{EVENTS} --t-end 16",
    "turntable-ball": f"{EVENTS} --t-end 3.2",
    "universal-shaft": f"{EVENTS} --t-end 1",
    "xy-pointing": f"{EVENTS} --t-end 4",
}


def command(name: str) -> str:
    """What draws the figure of a problem, but for the figure's name."""
    return f"nonsmooth run {name} {RUNS.get(name, OTHERWISE)}"


def builtin() -> dict[str, Problem]:
    """The problems of this distribution."""
    return {
        name: one for name, one in find_problems().items() if one.function.__module__.startswith("nonsmooth_problems.")
    }


def page() -> str:
    """The whole page."""
    folded = runpy.run_path(str(HERE / "command_line.py"))["folded"]
    parts = [
        "# Problem gallery\n\n"
        "Every ready problem with a drawing and a short run. `nonsmooth describe NAME` shows the origin of each\n"
        "number of a problem, and [Command line](command_line.md) describes all commands. A dashed line is the\n"
        "exact solution, if there is one; ticks at the bottom of a panel are impacts, bars many of them in quick\n"
        "succession. `nonsmooth report` shows any run in motion ([A run as a page](report.md)).\n"
        "`python docs/gallery.py` writes this page and its figures.\n",
        "\n".join(f"[![drawing](figures/small/{name}.png) {name}](#{name})" for name in builtin()) + "\n",
        TABLE,
    ]
    for name, one in builtin().items():
        source = "" if one.source.startswith(("Textbook", "A benchmark")) else f"\nSource: {one.source}.\n"
        parts.append(
            f"## {name}\n\n{one.summary}\n{source}\n"
            f"![drawing of {name}](figures/sketches/{name}.png)\n{_animated(name)}\n"
            f"```sh\n{folded(f'{command(name)} --figure {name}.png')}\n```\n\n"
            f"![{', '.join(panel[0].lower() for panel in one.panels)} over time](figures/gallery/{name}.png)\n"
        )
    return "\n".join(parts)


def _animated(name: str) -> str:
    if name not in ANIMATED:
        return ""
    return f"![{name} in motion, {ANIMATED[name]} magnified](figures/animations/{name}.gif)\n"


def draw(name: str) -> Path:
    """Draw a problem, run its command, and keep its figures in few colours and few pixels."""
    for folder_of in (FIGURES, SKETCHES, ANIMATIONS, SMALL):
        folder_of.mkdir(parents=True, exist_ok=True)
    draw_small(name)
    with tempfile.TemporaryDirectory() as folder:
        figure, drawing, film = (Path(folder) / one for one in ("figure.png", "sketch.png", "film.gif"))
        animation = ["--animation", str(film)] if name in ANIMATED else []
        with contextlib.redirect_stdout(io.StringIO()):
            code = main(["describe", name, "--figure", str(drawing)]) or main(
                [*command(name).split()[1:], "--figure", str(figure), *animation]
            )
        if not code:
            compress(drawing, SKETCHES / f"{name}.png", scale=0.4, largest=LARGEST_SKETCH)
            if animation:
                shrink(film, ANIMATIONS / f"{name}.gif")
        if code:
            raise SystemExit(f"docs/gallery.py: `{command(name)}` ended with {code}; give {name} another run in RUNS.")
        return compress(figure, FIGURES / f"{name}.png", scale=0.6)


class Small(Scene):
    """A drawing without arrows of gravity."""

    def _field(self, name: str, one: Field) -> None:
        pass


def draw_small(name: str) -> None:
    """Draw a problem for the head of the page, where names could not be read and gravity takes room."""
    problem = find_problems()[name].function
    missing = needed(inspect.signature(problem))
    drawing = drawing_of_state(problem(**dict.fromkeys(missing, 2)).build(), None)  # of slider-rod the case
    scene = Small(drawing, new_axes(drawing.dimension, dpi=PIXELS))
    fit(scene, notes=False, given=np.array(CARD))
    with tempfile.TemporaryDirectory() as folder:
        scene.axes.figure.savefig(Path(folder) / "small.png")
        compress(Path(folder) / "small.png", SMALL / f"{name}.png")


def compress(figure: Path, target: Path, scale: float = 1.0, largest: int = LARGEST) -> Path:
    """Write a picture in 256 colours, scaled, and scaled further where it has more bytes than the largest."""
    from PIL import Image

    with Image.open(figure) as image:
        while True:
            size = (round(image.width * scale), round(image.height * scale))
            small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
            small.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
            if target.stat().st_size <= largest:
                return target
            scale *= 0.9


def shrink(film: Path, target: Path) -> None:
    """Write an animation with fewer pictures, pixels and colours."""
    from PIL import Image, ImageSequence

    with Image.open(film) as image:
        duration = image.info["duration"] * EVERY
        pictures = [
            frame.convert("RGB")
            .resize((WIDTH, round(frame.height * WIDTH / frame.width)), Image.Resampling.LANCZOS)
            .quantize(COLOURS, dither=Image.Dither.NONE)
            for k, frame in enumerate(ImageSequence.Iterator(image))
            if k % EVERY == 0
        ]
    pictures[0].save(target, save_all=True, append_images=pictures[1:], duration=duration, loop=0, optimize=True)


if __name__ == "__main__":
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")
    for each in sys.argv[1:] or builtin():
        path = draw(each)
        print(path.name, path.stat().st_size, "bytes", flush=True)
