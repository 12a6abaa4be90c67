"""How many steps of random mechanisms are not certified at once: ``python -m benchmarks.random_steps``.

Chains of bodies in the plane and in space with loose and ideal joints, guides, floors, springs and motors, see
`fuzz_mechanisms`, with clearances of 1e-3 to 1e-2 of a link's length, steps of 1e-5 to 2e-4 s, restitution up to 0.9
and friction up to 0.8. Masses differ by up to five orders of magnitude, and a motor may be far too strong for its link.
A step that is not certified is repeated in parts, then with other solvers; where none certifies it, the run ends with
an error: no row is recorded that is not certified.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rich.console import Console

from benchmarks.fuzz_mechanisms import log_uniform, planar, spatial
from benchmarks.report import Table, print_tables
from nonsmooth import ErrorControl, EventDriven, GaussQP, GeneralizedAlpha, Landing, MoreauJean, Rigid, simulate
from nonsmooth.exceptions import NonsmoothError, SimulationFailed

__all__ = ["main", "random_steps"]

#: clearances as shares of a link's length, torques of motors [N m], lengths [s] and numbers of steps
CLEARANCES, TORQUES, LENGTHS, STEPS = (1e-3, 1e-2), (1e-3, 1e-1), (1e-5, 2e-4), (1000, 5000)
#: counts of steps that are repeated, and their headings
REPEATED = {"divided": "in parts", "chained": "other solvers"}
#: shortest step that lands, as a share of the longest
LEAST = 1e-3

KINDS: dict[str, Callable[..., Any]] = {
    "plane": partial(planar, clearances=CLEARANCES, torques=TORQUES),
    "space": partial(spatial, clearances=CLEARANCES),
}
#: shortest flight that counts as one, as a share of the longest step, and relative tolerance
FLIGHT, RTOL = 1e-3, 1e-6
#: impact laws of event-driven runs
LAWS = {"plane": ("newton", "poisson", "routh", "stronge"), "space": ("newton", "poisson")}
#: stepper, whether its steps end at events, and restitutions
SCHEMES: dict[str, tuple[Any, bool, list[float]]] = {
    "MoreauJean": (MoreauJean(), False, [0.0, 0.3, 0.6, 0.9]),
    "GaussQP, constant steps": (GaussQP(), False, [0.0]),
    "GaussQP, landing": (GaussQP(), True, [0.0, 0.3, 0.6, 0.9]),
    "GeneralizedAlpha": (GeneralizedAlpha(), False, [0.0, 0.3, 0.6, 0.9]),
    "EventDriven": (EventDriven(), True, [0.0, 0.3, 0.6, 0.9]),
}


def random_steps(kind: str, scheme: str, total: int) -> dict[str, Any]:
    """At least `total` steps of mechanisms of a kind: runs, steps, those taken in parts and with other solvers, runs
    with any of these, seeds of those that ended with an error, and the largest residual of a recorded step."""
    stepper, lands, restitutions = SCHEMES[scheme]
    found: dict[str, Any] = {"runs": 0, "steps": 0, "mechanisms": 0, "residual": 0.0, "errors": []}
    found |= dict.fromkeys(REPEATED, 0)
    for seed in range(1, total):
        if found["steps"] >= total:
            break
        chance = random.Random(seed)
        law = Rigid(restitution=chance.choice(restitutions), friction=chance.choice([0.0, 0.1, 0.3, 0.8]))
        if isinstance(stepper, EventDriven):
            law = replace(law, impact=random.Random(-seed).choice(LAWS[kind]))
        try:
            system = KINDS[kind](chance, law).build()
        except NonsmoothError:  # bodies that overlap, or joints that can not be closed
            continue
        dt = log_uniform(chance, *LENGTHS)
        t_end = dt * int(log_uniform(chance, *STEPS))
        control: Any = Landing(LEAST * dt, dt) if lands else dt
        if isinstance(stepper, EventDriven):
            control = ErrorControl(RTOL, 1e-2 * RTOL, FLIGHT * dt, dt)
        try:
            run = simulate(system, stepper, t_end=t_end, dt=control)
        except SimulationFailed as error:
            run = error.trajectory
            found["errors"].append(seed)
        counts = [run.counts.get(name, 0) for name in REPEATED]
        found["runs"] += 1
        found["steps"] += run.counts["steps"]
        found["mechanisms"] += any(counts)
        for name, count in zip(REPEATED, counts, strict=True):
            found[name] += count
        found["residual"] = max(found["residual"], run.certificate.motion_residual)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=200_000, help="at least, of each row (200 000)")
    parser.add_argument("--kind", choices=[*KINDS], nargs="*", default=[*KINDS], help="all by default")
    parser.add_argument("--scheme", choices=[*SCHEMES], nargs="*", default=[*SCHEMES], help="all by default")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rows = []
    for kind in asked.kind:
        for scheme in asked.scheme:
            found = random_steps(kind, scheme, asked.steps)
            cells = (found["runs"], found["steps"], *(found[name] for name in REPEATED), found["mechanisms"])
            seeds = " ".join(map(str, found["errors"])) or "none"
            rows.append((kind, scheme, *map(str, cells), seeds, f"{found['residual']:.1e}"))
    headings = (
        "kind", "scheme", "runs", "steps", *REPEATED.values(), "of runs", "seeds with an error", "largest residual",
    )  # fmt: skip
    print_tables(Console(width=180), [Table("Random steps", headings, rows)])


if __name__ == "__main__":
    main()
