"""Write the figures of the README and the documents beside this file: ``python docs/figures/make.py [NAME ...]``.

With ``--quick`` behind, the costly ones are drawn with fewer rounds, which the build of a change has time for.
Those of the problem gallery are drawn by ``python docs/gallery.py``, which also writes its page.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from numpy.typing import ArrayLike

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Landing,
    MoreauJean,
    Rigid,
    plots,
    read_model,
    simulate,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import mode_timeline, spectrum
from nonsmooth.studies import Case, bifurcation, long_run, periodic_section, sensitivity, step_size, tolerance
from nonsmooth_problems import slider_crank_revolute, slider_crank_translational, slider_rod

HERE = Path(__file__).resolve().parent
QUICK, NAMES = "--quick" in sys.argv, [word for word in sys.argv[1:] if word != "--quick"]
#: bytes of a figure
LARGEST = 120_000
INK, FAINT, WALL, BODY, OTHER, GAP = "#222222", "#777777", "#D9D9D9", "#CFE3F2", "#F6DFCB", "#D55E00"


def slider_rod_case2() -> Figure:
    """What the first command of the README draws."""
    trajectory = simulate(slider_rod(case=2).build(), t_end=3e-3)
    return plots.figure(trajectory, *slider_rod.panels, exact=slider_rod.exact(case=2))


def prismatic_clearance() -> Figure:
    """The four gaps of a slider of height H between two walls; clearance and tilt are drawn far too large."""
    figure, axis = _canvas(6.6, 2.85, (-3.3, 4.2), (-1.75, 1.45))
    a, half, c, tilt, offset = 2.0, 0.45, 0.55, np.radians(6.0), 0.07
    for side in (-1, 1):
        edge = side * (half + c)
        axis.add_patch(Rectangle((-3.0, edge if side > 0 else edge - 0.22), 6.0, 0.22, fc=WALL, ec="none"))
        axis.plot([-3.0, 3.0], [edge, edge], color=INK, lw=1.0)
    axis.plot([-3.1, 3.15], [0, 0], color=INK, lw=0.6, ls=(0, (8, 3, 2, 3)))
    axis.text(3.2, 0.0, "axis of\nthe guide", va="center", fontsize=8)
    turn = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    corners = {(i, j): turn @ (i * a, j * half) + (0, offset) for i in (-1, 1) for j in (-1, 1)}
    outline = [corners[k] for k in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))]
    axis.fill(*np.transpose(outline), fc=BODY, ec=INK, lw=1.0)
    centre_line = np.transpose([turn @ (i * a, 0) + (0, offset) for i in (-1, 1)])
    axis.plot(*centre_line, color=INK, lw=0.6)
    names = {(-1, -1): "left_lower", (-1, 1): "left_upper", (1, -1): "right_lower", (1, 1): "right_upper"}
    for (i, j), (x, y) in corners.items():
        wall = j * (half + c)
        _measure(axis, (x, y), (x, wall), GAP)
        axis.text(
            x + 0.08 * i,
            (y + wall) / 2,
            names[i, j],
            color=GAP,
            fontsize=8,
            va="center",
            ha="right" if i < 0 else "left",
        )
    axis.plot(0, offset, "o", ms=3, color=INK)
    _measure(axis, (0.0, 0.0), (0.0, offset), INK, style="-")
    axis.annotate("y", (0.0, offset / 2), (0.25, -0.3), fontsize=8, arrowprops={"arrowstyle": "-", "lw": 0.5})
    axis.text(1.25, 0.05, r"$\theta$", fontsize=9)
    along = turn @ (0.0, half) + (0, offset)
    axis.annotate(
        "", turn @ (-a, half - 0.1) + (0, offset), turn @ (a, half - 0.1) + (0, offset), arrowprops=_arrow(INK)
    )
    axis.text(*(along - (0.0, 0.27)), "length", fontsize=8, ha="center", rotation=6)
    _measure(axis, turn @ (-1.2, -half) + (0, offset), turn @ (-1.2, half) + (0, offset), INK)
    axis.text(*(turn @ (-1.12, -0.36) + (0, offset)), "height", fontsize=8, rotation=6)
    axis.text(0.0, -half - c - 0.13, "guide", fontsize=8, ha="center", va="center")
    axis.text(0.0, -1.55, "centred and aligned, every gap is the clearance c", fontsize=8, ha="center", va="center")
    return figure


def revolute_clearance() -> Figure:
    """Journal in bearing, with the eccentricity and the gap; the clearance is drawn far too large."""
    figure, axis = _canvas(5.0, 3.2, (-2.2, 3.74), (-1.9, 1.9))
    bearing, journal, e, angle = 1.3, 0.85, 0.27, np.radians(-35.0)
    axis.add_patch(Circle((0, 0), 1.6, fc=OTHER, ec="none"))
    axis.add_patch(Circle((0, 0), bearing, fc="white", ec=INK, lw=1.0))
    centre = e * np.array([np.cos(angle), np.sin(angle)])
    axis.add_patch(Circle(tuple(centre), journal, fc=BODY, ec=INK, lw=1.0))
    way = centre / e
    _measure(axis, centre + journal * way, bearing * way, GAP)
    axis.annotate(
        "gap = c \N{MINUS SIGN} |e|", tuple((centre + journal * way + bearing * way) / 2), (1.85, -0.75), color=GAP,
        fontsize=8, va="center", arrowprops={"arrowstyle": "-", "lw": 0.5, "color": GAP},
    )  # fmt: skip
    axis.annotate("", tuple(centre), (0, 0), arrowprops=_arrow(INK, "-|>"))
    axis.plot(0, 0, "o", ms=3, color=INK)
    axis.plot(*centre, "o", ms=3, color=INK)
    for text, point, place in (
        ("at_a: centre of the bearing (body a)", (0.0, 0.0), (-2.1, 1.78)),
        ("at_b: centre of the journal (body b)", tuple(centre), (-2.1, -1.78)),
        ("eccentricity e", tuple(centre / 2), (1.85, 0.75)),
    ):
        axis.annotate(text, point, place, fontsize=8, va="center", arrowprops={"arrowstyle": "-", "lw": 0.5})
    axis.text(1.85, 0.0, "c = radius of the bearing\n \N{MINUS SIGN} radius of the journal", fontsize=8, va="center")
    return figure


def concepts() -> Figure:
    """From a model to its plots: the classes and the steps between them."""
    figure, axis = _canvas(7.6, 3.3, (0.0, 15.2), (0.0, 6.6))
    axis.add_patch(
        FancyBboxPatch((8.15, 0.3), 6.7, 4.25, boxstyle="round,pad=0,rounding_size=0.2", fc="#F7F7F7", ec=FAINT, lw=0.7)
    )
    axis.text(11.5, 0.5, "once per step, in simulate()", fontsize=8, ha="center", va="bottom", color=FAINT)
    boxes = {
        "model": (1.5, 5.6, "symbols: bodies, joints,\nclearances, laws, loads", BODY),
        "system": (5.5, 5.6, "immutable: M, h, g, g_N, ...\nof (t, q, v, p)", BODY),
        "scheme": (9.5, 5.6, "time discretisation\nof the system", BODY),
        "step problem": (13.2, 3.6, "QP, LCP, MPCC, friction,\nor initial value", OTHER),
        "solver": (13.2, 1.6, "solution accepted by the\nprogram's own residual", OTHER),
        "step": (9.8, 1.6, "state, impulses, the\nactual step size", OTHER),
        "trajectory": (5.5, 1.6, "labelled columns and\ncertificate", BODY),
        "studies": (1.5, 3.05, "many trajectories,\none table", BODY),
        "plots": (1.5, 0.75, "axes", BODY),
    }
    half = (1.42, 0.62)
    for name, (x, y, text, colour) in boxes.items():
        corner = (x - half[0], y - half[1])
        axis.add_patch(
            FancyBboxPatch(
                corner, 2 * half[0], 2 * half[1], boxstyle="round,pad=0,rounding_size=0.15", fc=colour, ec=INK, lw=0.8
            )
        )
        axis.text(x, y + 0.32, name, fontsize=9, fontweight="bold", ha="center", va="center")
        axis.text(x, y - 0.2, text, fontsize=6.8, ha="center", va="center", linespacing=1.25)
    arrows = (
        ((2.92, 5.6), (4.08, 5.6), "build()", (3.5, 5.72)),
        ((6.92, 5.6), (8.08, 5.6), "stepper", (7.5, 5.72)),
        ((10.92, 5.6), (13.2, 4.22), "step(state)", (12.75, 5.15)),
        ((13.2, 2.98), (13.2, 2.22), "solve", (13.62, 2.52)),
        ((11.78, 1.6), (11.22, 1.6), "", (0.0, 0.0)),
        ((9.8, 2.22), (9.8, 4.98), "next state", (10.55, 3.05)),
        ((8.38, 1.6), (6.92, 1.6), "append", (7.55, 1.72)),
        ((4.08, 1.85), (2.92, 2.75), "", (0.0, 0.0)),
        ((4.08, 1.35), (2.92, 0.85), "", (0.0, 0.0)),
        ((1.5, 2.43), (1.5, 1.37), "", (0.0, 0.0)),
    )
    for start, end, text, place in arrows:
        axis.annotate("", end, start, arrowprops=_arrow(INK, "-|>"))
        axis.text(*place, text, fontsize=7.5, ha="center", va="bottom", family="monospace" if "(" in text else None)
    return figure


def analyses() -> Figure:
    """Four looks at the slider in its guide: phase portrait, modes, spectrum, and the largest impacts."""
    control = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-5, dt_max=1e-3)
    run = simulate(slider_crank_translational().build(), EventDriven(), t_end=0.25, dt=control)
    figure = Figure(figsize=(9.6, 6.2), dpi=130, layout="constrained")
    axes = figure.subplots(2, 2)
    plots.phase_portrait(run, "slider.y", ax=axes[0, 0])
    plots.impact_table(run, rows=10, ax=axes[0, 1])
    plots.mode_bars([mode_timeline(run, name) for name in run.gap], ax=axes[1, 0])
    found = spectrum(run, "slider.y", kind="v", samples=2048)
    plots.amplitudes(found, highest=1000.0, ax=axes[1, 1])
    return figure


def bifurcation_speed() -> Figure:
    """Slider-crank with clearance in its pin: the slider's place once per turn over the speed of the crank."""
    found = bifurcation(
        _slider_place, np.linspace(2.0, 22.0, 24 if QUICK else 120), parameter="speed of the crank", unit="rad/s",
        quantity="slider beyond its ideal place / clearance", quantity_unit="-",
    )  # fmt: skip
    print(found)
    figure: Figure = plots.bifurcation_diagram(found).figure
    return figure


def _slider_place(speed: float) -> Array:
    """At the turns' ends, where the ideal slider stands at 0.17 m."""
    system = slider_crank_revolute(crank_speed=speed, gravity=9.81).build()
    stepper = MoreauJean(projection="combined")
    found = periodic_section(
        system, stepper, period=2 * np.pi / speed, steps=2000 if QUICK else 4000, transient=16, points=16
    )
    return (found.q["slider.x"] - 0.17) / 0.5e-3


def statistics_slider_crank() -> Figure:
    """Slider-crank with clearance in its pin at 5000 rpm: intervals, distributions, and places of the journal."""
    found = long_run(slider_crank_revolute, t_end=0.3 if QUICK else 1.2, members=4 if QUICK else 12)
    print(found.summary())
    figure: Figure = plots.statistics(found)
    return figure


def animation_frame() -> Figure:
    """One picture of the slider-crank's film."""
    control = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=1e-4)
    run = simulate(slider_crank_revolute().build(), EventDriven(), t_end=0.012, dt=control)
    film = plots.animation(run)
    film.draw(30)
    film.figure.set_dpi(160)
    return film.figure


def step_size_slider_rod() -> Figure:
    """Case 2 as `nonsmooth study step-size slider-rod` runs it."""
    plastic, exact = Rigid(restitution=0.0, friction=0.0), slider_rod.exact(case=2)
    stated = slider_rod.step_size
    schemes = (
        ("gauss-qp", GaussQP(), stated.dt),
        ("gauss-mpcc", GaussMPCC(), stated.dt),
        ("moreau-jean", MoreauJean(), stated.dt),
        ("generalized-alpha", GeneralizedAlpha(), stated.dt),
        ("gauss-qp, landing", GaussQP(), Landing(1e-6, stated.dt_max)),
        ("event-driven", EventDriven(), ErrorControl(1e-4, 1e-6, 1e-6, stated.dt_max)),
    )
    cases = [Case(label, plastic, stepper, dt, exact=exact) for label, stepper, dt in schemes]
    build = lambda contact: slider_rod(case=2, contact=contact)  # noqa: E731
    return plots.step_size(step_size(build, cases, t_end=stated.t_end, bounds=stated.bounds, jitter=2 if QUICK else 8))


def tolerance_slider_crank() -> Figure:
    """Worst impulse of the slider-crank until 20 ms, over clearance, friction and restitution of its guide."""
    clearances = {"guide.clearance": (2e-4, 1e-3)}
    others = {"guide.friction": (0.0, 0.05), "guide.restitution": (0.2, 0.6)}
    settings = {"t_end": 0.02, "dt": 2e-5}
    problem = slider_crank_translational
    found = tolerance(
        problem,
        MoreauJean(),
        "peak-impulse",
        limit=0.05,
        clearances=clearances,
        others=others,
        runs=100 if QUICK else 400,
        **settings,
    )
    shares = sensitivity(
        problem, MoreauJean(), "peak-impulse", clearances | others, base=16 if QUICK else 64, **settings
    )
    return plots.tolerance(found, shares)


def fits_yield() -> Figure:
    """Yield of a slider-crank with a fit at the kinematic level."""
    model = read_model(HERE.parent / "examples" / "slider_crank_fit.toml")
    found = tolerance(
        model,
        None,
        "deviation:slider.x",
        limit=4e-5,
        level="kinematic",
        pose={"crank.angle": 0.785398},
        runs=10_000,
        confidence=0.99,
        sensitivity=True,
    )
    return plots.tolerance(found)


def _canvas(width: float, height: float, x: tuple[float, float], y: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), dpi=200)
    axis = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=x, ylim=y, aspect="equal")
    axis.set_axis_off()
    return figure, axis


def _arrow(colour: str, style: str = "<|-|>") -> dict[str, object]:
    return {
        "arrowstyle": f"{style},head_width=0.12,head_length=0.25",
        "color": colour,
        "lw": 0.8,
        "shrinkA": 0,
        "shrinkB": 0,
    }


def _measure(axis: Axes, start: ArrayLike, end: ArrayLike, colour: str, style: str = "<|-|>") -> None:
    arrow = (
        _arrow(colour) if style != "-" else {"arrowstyle": "-", "color": colour, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    )
    axis.annotate("", tuple(end), tuple(start), arrowprops=arrow)


FIGURES = (
    slider_rod_case2, prismatic_clearance, revolute_clearance, concepts, analyses, bifurcation_speed,
    statistics_slider_crank, animation_frame,
    step_size_slider_rod, tolerance_slider_crank, fits_yield,
)  # fmt: skip

if __name__ == "__main__":
    compress = runpy.run_path(str(HERE.parent / "gallery.py"))["compress"]
    for draw in FIGURES:
        if NAMES and draw.__name__ not in NAMES:
            continue
        with tempfile.TemporaryDirectory() as folder:
            draw().savefig(Path(folder) / "figure.png")
            path = compress(Path(folder) / "figure.png", HERE / f"{draw.__name__}.png", largest=LARGEST)
        print(path.name, path.stat().st_size, "bytes")
