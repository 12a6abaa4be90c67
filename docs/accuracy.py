"""Accuracy and cost over the step, as tables: slider-rod, slider-crank, integrators. ``python docs/accuracy.py``."""

from __future__ import annotations

import numpy as np

from nonsmooth import (
    Bdf,
    Compliant,
    CompliantDae,
    Cvodes,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Idas,
    Landing,
    Lsoda,
    MoreauJean,
    Radau,
    simulate,
)
from nonsmooth.laws import Flores
from nonsmooth_problems import slider_crank_translational, slider_rod

HALF_LENGTH = 0.01
#: crank angle after 0.2 s [rad], by a Taylor series of order 32 in quadruple precision, events located
CRANK_ANGLE = 18.083678652340582


def ends(run):
    """Heights [m] of both ends of the slider (2, n)."""
    rise = HALF_LENGTH * np.sin(run.q["slider.angle"])
    return run.q["slider.y"] - rise, run.q["slider.y"] + rise


def slider_crank() -> None:
    """Error of the crank angle after 0.2 s with 2 x 27 impacts faster than 0.1 m/s, and 6 accumulations."""
    system = slider_crank_translational().build()
    print("| stepper, dt | steps | error of the crank angle [rad] | worst overlap [m] | time [s] |")
    print("|---|---|---|---|---|")
    for stepper, dt in (
        (MoreauJean(), 1e-4),
        (MoreauJean(), 2.5e-5),
        (GeneralizedAlpha(), 1e-4),
        (GaussQP(), Landing(1e-6, 2e-4)),
        (GaussQP(), Landing(1e-6, 1e-4)),
        (EventDriven(), ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-5, dt_max=5e-3)),
        (EventDriven(), ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-5, dt_max=5e-3)),
    ):
        run = simulate(system, stepper, t_end=0.2, dt=dt)
        error = abs(run.q["crank.angle"][-1] - CRANK_ANGLE)
        name = f"`{type(stepper).__name__}`, `{dt}`"
        overlap = run.certificate.gap_violation
        print(f"| {name} | {len(run.t) - 1} | {error:.1e} | {overlap:.0e} | {run.wall_seconds:.1f} |")


def slider_rod_case_2() -> None:
    """Worst height of an end, first impact, impulses and time until 4 ms."""
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


def compliant_integrators() -> None:
    """Compliant slider-rod, e = 0.5: case 2 with K = 1e12 until 4 ms, bouncing; case 1 with K = 1e10 from rest."""
    control = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=1e-3)
    tight = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-6, dt_max=1e-3)
    system = slider_rod(case=2, contact=Compliant(Flores(stiffness=1e12, restitution=0.5))).build()
    truth = simulate(system, CompliantDae(solver=Dop853()), t_end=4e-3, dt=tight)
    pressed = slider_rod(case=1, contact=Compliant(Flores(stiffness=1e10, restitution=0.5))).build()
    touching = pressed.state({"slider.y": -1e-5})
    print("| integrator | steps | error of the height at the end [m] | time [s] | time of a start at rest [s] |")
    print("|---|---|---|---|---|")
    for solver in (Radau(), Dop853(), Lsoda(), Bdf(), Cvodes(), Idas()):
        stepper = CompliantDae(solver=solver, samples=1)
        run = simulate(system, stepper, t_end=4e-3, dt=control)
        rest = simulate(pressed, stepper, t_end=0.02, dt=control, state=touching)
        error = abs(run.q["slider.y"][-1] - truth.q["slider.y"][-1])
        name = f"`{type(solver).__name__}`"
        print(f"| {name} | {len(run.t) - 1} | {error:.0e} | {run.wall_seconds:.2f} | {rest.wall_seconds:.2f} |")


if __name__ == "__main__":
    slider_rod_case_2()
    print()
    slider_crank()
    print()
    compliant_integrators()
