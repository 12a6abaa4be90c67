"""Accuracy and cost as tables: ``python docs/accuracy.py NAME``, the name of a function below. Times are of the CPU."""

from __future__ import annotations

import inspect
import re
import sys
import time
from dataclasses import replace

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
    Landing,
    Lsoda,
    MoreauJean,
    Radau,
    Rigid,
    simulate,
)
from nonsmooth.laws import Flores
from nonsmooth.studies import Case, rigid_limit, step_size
from nonsmooth_problems import slider_crank_translational, slider_rod

HALF_LENGTH = 0.01
#: seconds from which a run is not repeated
LONG = 1.0
#: crank angle after 0.2 s [rad], by a Taylor series of order 32 in quadruple precision, events located
CRANK_ANGLE = 18.083678652340582


def timed(system, stepper, **options):
    """A run, and the least time of the CPU that one of three takes [s]; of long runs there is one."""
    seconds = []
    while len(seconds) < 3 and sum(seconds) < LONG:
        clock = time.process_time()
        run = simulate(system, stepper, **options)
        seconds.append(time.process_time() - clock)
    return run, min(seconds)


def number(value: float) -> str:
    """Two digits."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


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
        run, seconds = timed(system, stepper, t_end=0.2, dt=dt)
        error = abs(run.q["crank.angle"][-1] - CRANK_ANGLE)
        step = re.sub(r"\w+=", "", str(dt))
        name = f"`{type(stepper).__name__}`, `{step}`"
        overlap = run.certificate.gap_violation
        print(f"| {name} | {len(run.t) - 1} | {error:.1e} | {overlap:.0e} | {number(seconds)} |")


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
            run, seconds = timed(system, stepper, t_end=4e-3, dt=dt)
            known = exact.sample(run.t)
            height = np.max(np.abs(np.subtract(ends(run), ends(known))))
            impact = abs(run.impacts["t"][0] - exact.events[0])
            impulse = max(abs(run.P_N[name].sum() - known.impulse[name][-1]) for name in run.P_N)
            step = f"{dt:g}" if isinstance(dt, float) else f"Landing({dt.dt_min:g}, {dt.dt_max:g})"
            name = f"`{type(stepper).__name__}`, `{step}`"
            print(
                f"| {name} | {len(run.t) - 1} | {height:.1e} | {impact:.1e} | {impulse:.1e} | {number(1e3 * seconds)} |"
            )


def compliant_integrators() -> None:
    """Compliant slider-rod, e = 0.5: case 2 with K = 1e12 until 4 ms, bouncing; case 1 with K = 1e10 from rest."""
    control = ErrorControl(rtol=1e-7, atol=1e-9, dt_min=1e-6, dt_max=1e-3)
    tight = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-6, dt_max=1e-3)
    system = slider_rod(case=2, contact=Compliant(Flores(stiffness=1e12, restitution=0.5))).build()
    truth = simulate(system, CompliantDae(), t_end=4e-3, dt=tight)
    pressed = slider_rod(case=1, contact=Compliant(Flores(stiffness=1e10, restitution=0.5))).build()
    touching = pressed.state({"slider.y": -1e-5})
    print("| integrator | steps | error of the height at the end [m] | time [s] | time of a start at rest [s] |")
    print("|---|---|---|---|---|")
    for solver in (None, Dop853(), Radau(), Lsoda(), Bdf(), Cvodes()):
        stepper = CompliantDae(solver=solver, samples=1)
        run, seconds = timed(system, stepper, t_end=4e-3, dt=control)
        _, rest = timed(pressed, stepper, t_end=0.02, dt=control, state=touching)
        error = abs(run.q["slider.y"][-1] - truth.q["slider.y"][-1])
        name = "the default" if solver is None else f"`{type(solver).__name__}`"
        print(f"| {name} | {len(run.t) - 1} | {error:.0e} | {number(seconds)} | {number(rest)} |")


def stiffnesses() -> None:
    """Error of the first impulse over the stiffness for three restitutions; the rest is that of 0.5."""
    found = {}
    for e in (0.3, 0.5, 0.8):
        rigid = Case(
            "rigid", Rigid(restitution=e, friction=0.0), EventDriven(), ErrorControl(1e-7, 1e-9, 1e-6, 1e-3),
            exact=slider_rod.exact(case=1, contact=Rigid(restitution=e, friction=0.0)),
        )  # fmt: skip
        found[e] = rigid_limit(
            lambda contact: slider_rod(case=1, contact=contact),
            rigid,
            lambda K, e=e: Compliant(Flores(stiffness=K, restitution=e, calibrated=True)),
            [10.0**k for k in range(10, 17)],
            t_end=6e-3,
            stepper=CompliantDae(),
        )
    heads = (*(f"e = {e:g}" for e in found), "distance [-]", "deepest overlap [m]", "evaluations")
    print(f"| K [N/m^1.5] | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for i, row in enumerate(found[0.5].rows()):
        errors = [float(one.impulse_error[i]) for one in found.values()]
        words = [f"{100 * error:.2f} %" for error in errors]
        rest = f"{row['distance']:.2g} | {row['penetration']:.2g} | {row['evaluations']}"
        print(f"| {row['stiffness']:.0e} | {' | '.join(words)} | {rest} |")


def step_sizes() -> None:
    """Orders, errors and overlap of the slider-crank's step sizes: the first and the last of five levels."""
    stated = slider_crank_translational.step_size
    own = inspect.signature(slider_crank_translational).parameters["contact"].default
    plastic = replace(own, restitution=0.0)
    cases = [
        Case("`gauss-qp`, plastic", plastic, GaussQP(), stated.dt),
        Case("`moreau-jean`", own, MoreauJean(), stated.dt),
        Case("`generalized-alpha`", own, GeneralizedAlpha(), stated.dt),
        Case("`gauss-qp`, landing", own, GaussQP(), Landing(1e-6, stated.dt_max)),
        Case("`event-driven`", own, EventDriven(), ErrorControl(1e-4, 1e-6, 1e-6, stated.t_end / 4)),
    ]
    found = step_size(
        lambda contact: slider_crank_translational(contact=contact), cases, t_end=stated.t_end, executor=1
    )
    print("| stepper | order | mean error of the gaps [clearances] | worst overlap [m] |\n|---|---|---|---|")
    for one in found.series:
        error, overlap = one.measures["error"], one.measures["violation"]
        order = "" if one.kind == "tolerance" else f"{one.orders['error']:.2f}"
        print(f"| {one.label} | {order} | {error[0]:.1e} to {error[-1]:.1e} | {overlap.max():.0e} |")


if __name__ == "__main__":
    tables = (slider_rod_case_2, slider_crank, compliant_integrators, stiffnesses, step_sizes)
    for table in tables:
        if not sys.argv[1:] or table.__name__ in sys.argv[1:]:
            table()
            print()
