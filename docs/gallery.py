"""Writes docs/gallery.md and its figures, one per ready problem: ``python docs/gallery.py [PROBLEM ...]``.

A new problem appears by itself, run as `OTHERWISE` says; a line in `RUNS` gives it a run that shows more.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
import tempfile
from pathlib import Path

from nonsmooth.cli import main
from nonsmooth.registry import Problem, find_problems

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures" / "gallery"
LARGEST = 60_000  # bytes of a figure

OTHERWISE = "--stepper gauss-qp --dt-min 1e-6 --dt-max 1e-3 --t-end 0.05"
EVENTS = "--stepper event-driven --rtol 1e-7 --atol 1e-9 --dt-min 1e-5 --dt-max 5e-3"
#: words of `nonsmooth run` after the problem's name
RUNS = {
    "andrews-squeezer": "--stepper event-driven --rtol 1e-9 --atol 1e-9 --dt-min 1e-8 --dt-max 1e-4 --t-end 0.03",
    "bennett": f"{EVENTS} --t-end 2",
    "block-on-incline": "--stepper gauss-qp --dt-min 1e-6 --dt-max 1e-2 --t-end 0.3",
    "bouncing-ball": "--stepper gauss-qp --dt-min 1e-6 --dt-max 2e-2 --t-end 8.2",
    "cam-follower": f"{EVENTS} --t-end 0.1",
    "chain": f"{EVENTS} --t-end 1",
    "crank-rocker": f"{EVENTS} --t-end 0.1",
    "double-pendulum-clearance": f"{EVENTS} --t-end 1",
    "dual-manipulator": f"{EVENTS} --t-end 1",
    "four-bar": f"{EVENTS} --t-end 1.5",
    "heavy-top": f"{EVENTS} --t-end 0.5",
    "newtons-cradle": f"{EVENTS} --t-end 2.4",
    "painleve-rod": "--stepper gauss-qp --dt-min 1e-6 --dt-max 1e-3 --t-end 0.2",
    "pendulum-with-stop": f"{EVENTS} --t-end 4",
    "polishing-robot": "--stepper moreau-jean --dt 1e-4 --t-end 0.05",
    "six-rss": "--stepper moreau-jean --dt 2e-4 --t-end 0.1",
    "slide-in-guide": f"{EVENTS} --t-end 0.05",
    "slider-crank-revolute": f"{EVENTS} --t-end 0.012",
    "slider-crank-translational": f"{EVENTS} --t-end 0.05",
    "slider-rod": "--case 2 --dt-min 1e-6 --dt-max 1e-3 --t-end 3.5e-3",
    "socket-pendulum": f"{EVENTS} --t-end 0.1",
    "spatial-slider-crank": f"{EVENTS} --t-end 1",
    "stick-slip-oscillator": f"{EVENTS} --t-end 6",
    "turntable-ball": f"{EVENTS} --t-end 3.2",
    "universal-shaft": f"{EVENTS} --t-end 1",
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
        "Every ready problem with a short run. `nonsmooth describe NAME` shows the origin of each number of a\n"
        "problem, and [command_line.md](command_line.md) describes all commands. A dashed line is the exact\n"
        "solution, if there is one; ticks at the bottom of a panel are impacts. `python docs/gallery.py` writes\n"
        "this page and its figures.\n"
    ]
    for name, one in builtin().items():
        source = "" if one.source.startswith(("Textbook", "A benchmark")) else f"\nSource: {one.source}.\n"
        parts.append(
            f"## {name}\n\n{one.summary}\n{source}\n```sh\n{folded(f'{command(name)} --figure {name}.png')}\n```\n\n"
            f"![{', '.join(panel[0].lower() for panel in one.panels)} over time](figures/gallery/{name}.png)\n"
        )
    return "\n".join(parts)


def draw(name: str) -> Path:
    """Run the command of a problem, and keep its figure in few colours and few pixels."""
    with tempfile.TemporaryDirectory() as folder:
        figure = Path(folder) / "figure.png"
        with contextlib.redirect_stdout(io.StringIO()):
            code = main([*command(name).split()[1:], "--figure", str(figure)])
        if code:
            raise SystemExit(f"docs/gallery.py: `{command(name)}` ended with {code}; give {name} another run in RUNS.")
        FIGURES.mkdir(parents=True, exist_ok=True)
        return compress(figure, FIGURES / f"{name}.png", scale=0.6)


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


if __name__ == "__main__":
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")
    for each in sys.argv[1:] or builtin():
        path = draw(each)
        print(path.name, path.stat().st_size, "bytes", flush=True)
