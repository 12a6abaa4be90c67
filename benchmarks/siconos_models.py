"""P1 in Siconos: Moreau-Jean with its linear solver, stepped from Python. Run by an interpreter that has Siconos.

``python siconos_models.py DT STEPS`` prints a JSON list with one entry per case.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import siconos.kernel as sk  # type: ignore[import-not-found, unused-ignore]

MASS, INERTIA, HALF, CLEARANCE, PUSH, GRAVITY = 5.0, 8e-4, 0.01, 1e-5, 50.0, 9.81
CASES = {1: (0.0, GRAVITY), 2: (0.5e-3, GRAVITY), 3: (10e-3, 0.0)}


def slider_rod(case: int, dt: float, steps: int) -> dict[str, float]:
    """Gaps linear in the angle, which stays below 1e-3."""
    offset, gravity = CASES[case]
    body = sk.LagrangianLinearTIDS(np.zeros(3), np.zeros(3), np.diag([MASS, MASS, INERTIA]))
    body.setFExtPtr(np.array([PUSH, -MASS * gravity, -offset * PUSH]))
    system = sk.NonSmoothDynamicalSystem(0, 2 * dt * steps)
    system.insertDynamicalSystem(body)
    for side in (1.0, -1.0):
        for end in (-HALF, HALF):
            relation = sk.LagrangianLinearTIR(np.array([[0.0, side, side * end]]), np.array([CLEARANCE]))
            system.link(sk.Interaction(sk.NewtonImpactNSL(0.0), relation), body)
    scheme = sk.TimeStepping(system, sk.TimeDiscretisation(0, dt), sk.MoreauJeanOSI(0.5), sk.LCP())
    scheme.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    deepest = spent = 0.0
    for _ in range(steps):
        begin = time.perf_counter()
        scheme.computeOneStep()
        scheme.nextStep()
        spent += time.perf_counter() - begin
        _, y, angle = body.q()
        deepest = max(deepest, abs(y - HALF * np.sin(angle)), abs(y + HALF * np.sin(angle)))
    height = 0.0 if case == 3 else -CLEARANCE
    return {"ns_per_step": 1e9 * spent / steps, "violation": max(0.0, deepest - CLEARANCE), "error": abs(y - height)}


if __name__ == "__main__":
    print(json.dumps([slider_rod(case, float(sys.argv[1]), int(sys.argv[2])) for case in CASES]))
