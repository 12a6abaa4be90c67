"""Accuracy and cost over the step for case 2 of the slider-rod, as a table: ``python docs/accuracy.py``."""

from __future__ import annotations

import numpy as np

from nonsmooth import GaussMPCC, GaussQP, Landing, simulate
from nonsmooth_problems import slider_rod

HALF_LENGTH = 0.01


def ends(run):
    """Heights [m] of both ends of the slider (2, n)."""
    rise = HALF_LENGTH * np.sin(run.q["slider.angle"])
    return run.q["slider.y"] - rise, run.q["slider.y"] + rise


def main() -> None:
    system, exact = slider_rod(case=2).build(), slider_rod.exact(case=2)
    head = (
        "stepper, dt",
        "steps",
        "worst height of an end [m]",
        "first impact [s]",
        "impulses until 4 ms [N s]",
        "time [ms]",
    )
    print(f"| {' | '.join(head)} |")
    print("|---|---|---|---|---|---|")
    for stepper in (GaussQP(), GaussMPCC()):
        for dt in (1e-3, 1e-4, 1e-5, 1e-6, Landing(1e-5, 1e-3), Landing(1e-6, 1e-3), Landing(1e-9, 1e-3)):
            if dt == 1e-6 and isinstance(stepper, GaussMPCC):
                continue  # the same equations and errors, in seconds
            runs = [simulate(system, stepper, t_end=4e-3, dt=dt) for _ in range(3)]
            run = runs[-1]
            known = exact.sample(run.t)
            height = np.max(np.abs(np.subtract(ends(run), ends(known))))
            impact = abs(run.impacts["t"][0] - exact.events[0])
            impulse = max(abs(run.P_N[name].sum() - known.impulse[name][-1]) for name in run.P_N)
            cost = 1e3 * min(run.wall_seconds for run in runs)
            step = f"{dt:g}" if isinstance(dt, float) else f"Landing({dt.dt_min:g}, {dt.dt_max:g})"
            name = f"`{type(stepper).__name__}`, `{step}`"
            print(f"| {name} | {len(run.t) - 1} | {height:.1e} | {impact:.1e} | {impulse:.1e} | {cost:.0f} |")


if __name__ == "__main__":
    main()
