"""A short run of every stepper, solver and file, on the versions that are installed; exit code 1 if one fails.

Usage: python .ci/smoke.py [WORD ...]; with words, of these calls alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

from nonsmooth import (
    Bdf,
    CasadiQP,
    Compliant,
    CompliantDae,
    Conic,
    Cvodes,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Lsoda,
    Model,
    MoreauJean,
    Osqp,
    PlanarBody,
    Radau,
    RevoluteClearance,
    Trajectory,
    laws,
    read_model,
    simulate,
    write_model,
)
from nonsmooth.cli import main
from nonsmooth.model.registry import get_problem
from nonsmooth.studies import grid, sweep

EVENTS = ErrorControl(1e-6, 1e-9, 1e-9, 1e-3)
RIGID = (
    (GaussQP(), 1e-4), (GaussQP(), Landing(1e-6, 1e-3)), (GaussMPCC(), 5e-4), (MoreauJean(), 1e-4),
    (GeneralizedAlpha(), 1e-4), (EventDriven(), EVENTS), (GaussQP(solver=Osqp()), 5e-4),
    (GaussQP(solver=CasadiQP()), 5e-4), (GaussQP(solver=Conic()), 5e-4),
)  # fmt: skip


def peak(run: Trajectory) -> float:
    return float(run.P_N.array.max())


def loose_pin() -> Any:
    law = Compliant(
        laws.Flores(stiffness=1e8, restitution=0.7), laws.Ambrosio(friction=0.1, dead_speed=1e-4, slip_speed=1e-3)
    )
    pin = RevoluteClearance("pin", "ground", "b", at_b=(-0.1, 0.0), clearance=1e-3, radius=0.02, contact=law)
    body = PlanarBody("b", mass=1.0, inertia=0.01, position=(0.1, 0.0))
    return Model([Ground(), body, Gravity(acceleration=(0.0, -9.81)), pin]).build()


def stiff() -> int:
    """A block that creeps on its dampers, where the implicit integrator takes over."""
    law = Compliant(laws.KelvinVoigt(stiffness=1e8, damping=1e7))
    control = ErrorControl(1e-6, 1e-8, 1e-6, 1e-2)
    run = simulate(get_problem("block-on-incline")(contact=law).build(), CompliantDae(), t_end=0.1, dt=control)
    assert run.counts["implicit"] > 0, run.counts
    return run.counts["implicit"]


def finished(problem: str, stepper: Any, **stated: Any) -> str:
    status = simulate(get_problem(problem)().build(), stepper, **stated).status
    assert status == "finished", status
    return status


def calls() -> dict[str, Callable[[], Any]]:
    rod = get_problem("slider-rod")(case=2).build()
    run = simulate(rod, GaussQP(), t_end=4e-3, dt=1e-4)
    found: dict[str, Callable[[], Any]] = {}
    for stepper, dt in RIGID:
        words: dict[str, Any] = {"stepper": stepper, "dt": dt, "t_end": 4e-3}
        found[f"{stepper!r} {dt}"] = lambda words=words: simulate(rod, **words).q["slider.y"][-1]
    for stepper in (GaussQP(), MoreauJean()):
        words = {"stepper": stepper, "dt": 1e-3, "t_end": 4e-3, "interpreted": True}
        found[f"interpreted {stepper!r}"] = lambda words=words: simulate(rod, **words).q["slider.y"][-1]
    pin = loose_pin()
    for solver in (Dop853(), Radau(), Lsoda(), Bdf(), Cvodes()):
        found[f"compliant {solver!r}"] = lambda solver=solver: simulate(
            pin, CompliantDae(solver=solver), t_end=0.02, dt=ErrorControl(1e-6, 1e-8, 1e-10, 1e-4)
        ).q["b.y"][-1]
    rigid_run = {"t_end": 1e-3, "dt": 1e-4, "arguments": {"case": 2}, "metrics": {"peak": peak}}
    words = "run slider-rod --case 2 --t-end 2e-3 --figure f.png --report r.html --output o.nc -q".split()
    return found | {
        "compliant, a stiff phase": stiff,
        "chosen": lambda: simulate(rod, t_end=4e-3).verdict,
        "space": lambda: finished("socket-pendulum", MoreauJean(), t_end=0.05, dt=1e-3),
        "flexible": lambda: finished("beam-on-stop", MoreauJean(), t_end=1e-3, dt=1e-5),
        "save": lambda: run.save("a.nc"),
        "load": lambda: Trajectory.load("a.nc").q["slider.y"][-1],
        "csv": lambda: run.to_csv("a.csv"),
        "toml": lambda: (write_model(get_problem("slider-rod")(case=2), "m.toml"), read_model("m.toml"))[0],
        "command line": lambda: None if main(words) == 0 else sys.exit("the command line failed"),
        "sweep": lambda: dict(
            sweep(
                get_problem("slider-rod"), GaussQP(), grid({"guide.clearance": (1e-5, 2e-5)}), executor=2, **rigid_run
            ).sizes
        ),
    }


def smoke(chosen: list[str]) -> int:
    """The number of calls that failed."""
    failed = 0
    for name, call in calls().items():
        if chosen and not any(word in name for word in chosen):
            continue
        try:
            said = f"ok    {name[:60]}: {str(call())[:50]}"
        except BaseException as error:
            failed += 1
            said = f"FAILS {name}: {type(error).__name__}: {error}"
        print(said, flush=True)
    return failed


if __name__ == "__main__":
    warnings.simplefilter("error")
    os.chdir(tempfile.mkdtemp())
    failures = smoke(sys.argv[1:])
    print(f"smoke: {failures or 'no'} calls failed, Python {sys.version.split()[0]}")
    sys.exit(failures > 0)
