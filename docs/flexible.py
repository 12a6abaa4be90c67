"""Tables of docs/flexible.md: ``python docs/flexible.py rod`` or ``six_rss``.

rod: a free rod that strikes a wall with a linear spring, by number of modes, beside d'Alembert's solution. six_rss: the
6-RSS robot with clearance in its twelve balls, and in its six shafts too, rigid and flexible rods, over one turn of its
path (some minutes).
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import brentq

from nonsmooth import (
    Compliant,
    CompliantDae,
    ErrorControl,
    Ground,
    Model,
    MoreauJean,
    PlanarFlexibleBody,
    PointPlane,
    simulate,
)
from nonsmooth.flexible import Material, Modes, Rectangle, beam, modes
from nonsmooth.laws import Hertz
from nonsmooth_problems import six_rss
from nonsmooth_problems.six_rss_facts import figures
from nonsmooth_problems.six_rss_sag import sag

LENGTH, SIDE, STEEL = 0.5, 0.01, Material(youngs=2.1e11, shear=8e10, density=7850.0)
SOUND, MASS = np.sqrt(STEEL.youngs / STEEL.density), STEEL.density * SIDE**2 * LENGTH
#: [s] of a wave to the other end and back; rho c A [N s/m]
WAVE, IMPEDANCE = 2 * LENGTH / SOUND, MASS * SOUND / LENGTH
#: times that the spring's time constant, rho c A / k, goes into that
RATIO = 5.0


def exact() -> tuple[float, float, float]:
    """Largest force / (rho c A v), impulse / (m v), duration / (L / c) of d'Alembert's solution.

    With Z = rho c A the spring's force is F = Z v (1 - exp(-k t / Z)) until the wave is back. From there on, at the
    time Z s / k after that, ``F' = k (v - F / Z - 2 F(t - 2 L / c) / Z)`` has the solution ::

        F = Z v ((b + 2 s) exp(-s) - 1),    b = 2 - exp(-2 L k / (c Z)),

    down to zero. The impulse is the integral; m v = Z v L / c.
    """
    b = 2 - np.exp(-RATIO)
    end = brentq(lambda s: (b + 2 * s) * np.exp(-s) - 1, 1e-3, RATIO)
    impulse = RATIO - 1 + np.exp(-RATIO) + b * (1 - np.exp(-end)) + 2 * (1 - (1 + end) * np.exp(-end)) - end
    return 1 - np.exp(-RATIO), 2 * impulse / RATIO, 2 * (1 + end / RATIO)


def struck(kept: Modes) -> tuple[float, float, float]:
    """The same of a run."""
    rod = PlanarFlexibleBody("rod", kept, velocity=(1.0, 0.0))
    wall = PointPlane(
        "wall", "ground", rod.node("struck"), at_a=(LENGTH / 2 + 1e-9, 0.0), direction=np.pi / 2, size=1e-4,
        contact=Compliant(Hertz(stiffness=RATIO * IMPEDANCE / WAVE, exponent=1.0)),
    )  # fmt: skip
    control = ErrorControl(rtol=1e-7, atol=1e-10, dt_min=1e-12, dt_max=WAVE / 200)
    run = simulate(Model([Ground(), rod, wall]).build(), CompliantDae(), t_end=1.6 * WAVE, dt=control)
    force = run.lam_N["wall"]
    on = run.t[force > 0.0]
    return float(np.max(force)) / IMPEDANCE, float(np.sum(run.P_N["wall"])) / MASS, 2 * float(on[-1] - on[0]) / WAVE


def axial() -> Modes:
    """Axial modes of the free bar."""
    bar = beam(
        (0, 0, 0), (LENGTH, 0, 0), section=Rectangle(SIDE, SIDE), material=STEEL, elements=200,
        names={"free": 0, "struck": 1},
    )  # fmt: skip
    every = modes(bar, interface=(), keep=120, damping=0.0, method="free")
    along = np.flatnonzero(np.abs(every.translations[every.node("struck"), 0]) > 1.0)
    return every.kept(along[:20])


def of_the_rod() -> None:
    every = axial()
    print("| modes | largest force / (rho c A v) | impulse / (m v) | duration / (L / c) |\n|---|---|---|---|")
    for n in (1, 2, 5, 10, 20):
        print(f"| {n} | " + " | ".join(f"{value:.3f}" for value in struck(every.kept(slice(n)))) + " |")
    print("| exact | " + " | ".join(f"{value:.3f}" for value in exact()) + " |")


def of_the_robot() -> None:
    print(
        "| clearance | rods | largest error x, y, z [mm] | mean sag [mm] | by clearance [mm] | by overlap [um] "
        "| by stretch [um] | closed contacts | mean contact force [N] |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for clearance, shafts in ((0.25e-3, 0.0), (0.25e-3, 0.1e-3), (0.5e-3, 0.0)):
        for flexible in (False, True):
            system = six_rss(clearance=clearance, flexible=flexible, shaft_clearance=shafts).build()
            run = simulate(system, MoreauJean(), t_end=1.0, dt=5e-4)
            found, parts = figures(run), sag(run, clearance).means()
            overlap, stretch = (round(1e6 * parts[name], 3) + 0.0 for name in ("overlap", "stretch"))
            errors = ", ".join(f"{1e3 * value:.2f}" for value in found["largest"])
            rods = "flexible" if flexible else "rigid"
            loose = f", shafts {1e3 * shafts:g} mm" if shafts else ""
            print(
                f"| {1e3 * clearance:g} mm{loose} | {rods} | {errors} | {1e3 * found['sag']:.3f} "
                f"| {1e3 * parts['clearance']:.3f} | {overlap:.1f} | {stretch:.3f} "
                f"| {found['closed']:.1f} | {np.mean(found['forces']):.2f} |"
            )


if __name__ == "__main__":
    tables = {"rod": of_the_rod, "six_rss": of_the_robot}
    if sys.argv[1:] not in [[name] for name in tables]:
        raise SystemExit(f"docs/flexible.py: name one table of {', '.join(tables)}.")
    tables[sys.argv[1]]()
