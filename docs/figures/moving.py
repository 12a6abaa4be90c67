"""Writes docs/figures/moving.svg, the picture in motion of the first page: ``python docs/figures/moving.py``.

A turn of the slider-crank with clearance in its pin, once per `SECONDS`: the mechanism, its journal in the clearance
circle, contact force and impacts. The picture moves by CSS alone, so that it does so as an image, too, and stands still
for readers whose settings ask for that.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nonsmooth import ErrorControl, EventDriven, Rigid, simulate
from nonsmooth.compile.casadi_call import Array
from nonsmooth.trajectory import Trajectory
from nonsmooth_problems import slider_crank_revolute

TARGET = Path(__file__).resolve().with_suffix(".svg")
#: duration of a turn on the screen [s], pictures of a turn, and the turn that is shown, in which the start is forgotten
SECONDS, PICTURES, TURN = 8, 200, 6
#: share of the turn at which it begins, and stands still on paper
FIRST = 0.15
PERIOD = 2 * np.pi / (5000 * np.pi / 30)
CRANK, ROD, CLEARANCE = 0.05, 0.12, 5e-4
#: [pixel / m] of the mechanism; pivot of the crank, centre of the clearance circle, corner of the chart [pixel]
SCALE, PIVOT, CIRCLE, CHART = 1900.0, (112.0, 140.0), (92.0, 366.0), (216.0, 420.0)
#: radius of the clearance circle, of the bearing and of its clearance in the mechanism, width and height of the chart
ORBIT, BEARING, LOOSE, WIDE, HIGH = 70.0, 25.0, 10.0, 264.0, 118.0
INK, FAINT, BLUE, GREEN, YELLOW, RED = "#222222", "#777777", "#0072B2", "#009E73", "#E69F00", "#D55E00"


def turn() -> Trajectory:
    """The run, from rest of the slider to the end of the turn."""
    system = slider_crank_revolute(contact=Rigid(restitution=0.2, friction=0.0)).build()
    control = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=5e-5)
    return simulate(system, EventDriven(), t_end=(TURN + 1) * PERIOD, dt=control)


def offset(q: dict[str, Array]) -> Array:
    """From the centre of the bearing, which is the slider's, to that of the journal (2, n) [m]."""
    angle = q["rod.angle"]
    return np.array([
        q["rod.x"] + ROD / 2 * np.cos(angle) - q["slider.x"], q["rod.y"] + ROD / 2 * np.sin(angle) - q["slider.y"]
    ])  # fmt: skip


def moving(name: str, transforms: list[str]) -> str:
    """The style of an element that takes these places, one after the other at equal distances in time."""
    last = len(transforms) - 1
    steps = "".join(f"{100 * k / last:.4g}%{{transform:{one}}}" for k, one in enumerate(transforms))
    rule = (
        f"transform:{transforms[round(FIRST * last)]};animation:{name} {SECONDS}s linear {-FIRST * SECONDS:g}s infinite"
    )
    return f"@keyframes {name}{{{steps}}}#{name}{{{rule}}}\n"


def path(x: Array, y: Array) -> str:
    return "M" + " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def _in_circle(shares: Array) -> Array:
    """Places [pixel] in the clearance circle of offsets as shares of the clearance (2, n)."""
    return np.array([CIRCLE[0] + ORBIT * shares[0], CIRCLE[1] - ORBIT * shares[1]])


def picture(run: Trajectory) -> str:
    """The whole file."""
    begin, end = TURN * PERIOD, (TURN + 1) * PERIOD
    share = np.linspace(0.0, 1.0, PICTURES + 1)
    t = begin + share * (end - begin)
    states = run.at(t).q
    q = {name: states[name] for name in ("rod.x", "rod.y", "rod.angle", "slider.x", "slider.y")}
    shift = offset(q) / CLEARANCE
    x = PIVOT[0] + SCALE * q["slider.x"]
    # screens count y downwards
    knee = np.array([PIVOT[0] + SCALE * CRANK * np.cos(2 * np.pi * share),
                     PIVOT[1] - SCALE * CRANK * np.sin(2 * np.pi * share)])  # fmt: skip
    journal = np.array([x + LOOSE * shift[0], PIVOT[1] - LOOSE * shift[1]])
    bar = journal - knee
    turned, length = np.degrees(np.unwrap(np.arctan2(bar[1], bar[0]))), np.hypot(*bar) / (SCALE * ROD)

    rows = (run.t >= begin) & (run.t <= end)
    orbit = offset({name: run.q[name][rows] for name in q}) / CLEARANCE
    time, force = (run.t[rows] - begin) / PERIOD, run.lam_N["pin"][rows] / 1e3
    impacts = [row for row in run.impacts if begin < row["t"] < end]
    peak, strongest = float(force.max()), max(float(row["P_N"]) for row in impacts)
    left, bottom = CHART

    style = "".join([
        moving("crank", [f"translate({PIVOT[0]}px,{PIVOT[1]}px) rotate({-360 * k:.1f}deg)" for k in share]),
        moving("rod", [f"translate({a:.1f}px,{b:.1f}px) rotate({c:.2f}deg) scale({d:.3f},1)"
                       for a, b, c, d in zip(*knee, turned, length, strict=True)]),
        moving("slider", [f"translateX({a:.1f}px)" for a in x]),
        moving("journal", [f"translate({a:.1f}px,{b:.1f}px)" for a, b in journal.T]),
        moving("centre", [f"translate({a:.1f}px,{b:.1f}px)" for a, b in zip(*_in_circle(shift), strict=True)]),
        moving("now", [f"translateX({a:.1f}px)" for a in left + WIDE * share]),
        "@media print,(prefers-reduced-motion:reduce){*{animation:none!important}}\n",
        f"text{{font:13px sans-serif;fill:{INK}}}.small{{font-size:11.5px;fill:#555}}.middle{{text-anchor:middle}}",
    ])  # fmt: skip
    stems = "".join(
        f'<path d="M{left + WIDE * (row["t"] - begin) / PERIOD:.1f},{bottom}v{-HIGH * row["P_N"] / strongest:.1f}" '
        f'stroke="{RED}" stroke-width="2.5"/>'
        for row in impacts
    )
    curve = path(left + WIDE * time, bottom - HIGH * force / peak)
    ticks = "".join(
        f'<text x="{left + WIDE * part:.0f}" y="{bottom + 17}" class="small middle">{round(360 * part)}°</text>'
        for part in (0, 0.25, 0.5, 0.75, 1)
    )
    slower, magnified = round(SECONDS / PERIOD), round(LOOSE / (SCALE * CLEARANCE))
    line, edge = f'fill="none" stroke="{INK}"', f'stroke="{INK}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 470" role="img">
<title>One turn of a slider-crank with clearance in its pin: journal in its bearing, contact force, impacts</title>
<style>{style}</style>
<rect width="500" height="470" rx="8" fill="#fff"/>
<path d="M16,{PIVOT[1]}H484" stroke="{FAINT}" stroke-dasharray="9 4 2 4"/>
<path d="M{PIVOT[0]},{PIVOT[1]}l-11,21h22z" fill="#bbb"/>
<g id="slider"><rect x="-40" y="{PIVOT[1] - 28}" width="80" height="56" fill="{YELLOW}" opacity=".55"/>
<circle cy="{PIVOT[1]}" r="{BEARING}" fill="#fff" {edge} stroke-width="2"/></g>
<g id="rod"><path d="M0,0H{SCALE * ROD:.0f}" stroke="{GREEN}" stroke-width="7"/></g>
<g id="journal"><circle r="{BEARING - LOOSE}" fill="{GREEN}"/></g>
<g id="crank"><path d="M0,0H{SCALE * CRANK:.1f}" stroke="{BLUE}" stroke-width="7"/>
<circle r="5.5" fill="#fff" {edge}/><circle cx="{SCALE * CRANK:.1f}" r="5.5" fill="#fff" {edge}/></g>
<text x="16" y="25">slider-crank, 5000 rpm, clearance in the pin</text>
<text x="484" y="44" text-anchor="end" class="small">{slower} times slower, clearance × {magnified}</text>
<text x="16" y="{CIRCLE[1] - ORBIT - 20}">journal in its bearing</text>
<circle cx="{CIRCLE[0]}" cy="{CIRCLE[1]}" r="{ORBIT}" {line} stroke-width="1.5"/>
<path d="M{CIRCLE[0] - 5},{CIRCLE[1]}h10m-5,-5v10" {line}/>
<path d="{path(*_in_circle(orbit))}" fill="none" stroke="{GREEN}" opacity=".6"/>
<g id="centre"><circle r="6" fill="{GREEN}"/></g>
<text x="{CIRCLE[0]}" y="{CIRCLE[1] + ORBIT + 20}" class="small middle">clearance {1e3 * CLEARANCE:g} mm</text>
<text x="{left}" y="{CIRCLE[1] - ORBIT - 20}">contact force ≤ {peak:.0f} kN,
<tspan fill="{RED}">impacts ≤ {strongest:.2f} N s</tspan></text>
<path d="{curve}" fill="none" stroke="{BLUE}" stroke-width="1.5"/>{stems}
<path d="M{left},{bottom}h{WIDE}" {line}/>{ticks}
<text x="{left + WIDE / 2}" y="{bottom + 35}" class="small middle">angle of the crank</text>
<g id="now"><path d="M0,{bottom - HIGH}v{HIGH}" stroke="{FAINT}"/></g>
</svg>
"""


if __name__ == "__main__":
    TARGET.write_text(picture(turn()), encoding="utf-8")
    print(TARGET.name, TARGET.stat().st_size, "bytes")
