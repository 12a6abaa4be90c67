"""S2 in Siconos: Moreau-Jean with its Gauss-Seidel solver, stepped from Python. Run by an interpreter that has Siconos.

``python siconos_space.py PROBLEM`` with a JSON object of the numbers below prints one with microseconds per step, CPU
time, and the position of the last link at the end. Gaps and contact points are evaluated in Python, some 50 us of a
step and link; the rest is the library's.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import siconos.kernel as sk  # type: ignore[import-not-found, unused-ignore]

#: residual to which its solver iterates, and iterations at most
TOLERANCE, ITERATIONS = 1e-8, 10_000


def rotated(quaternion: Any, z: float) -> Any:
    """The vector (0, 0, z) of a body in the ground frame."""
    w, i, j, k = quaternion
    return z * np.array([2 * (i * k + w * j), 2 * (j * k - w * i), 1 - 2 * (i * i + j * j)])


class BallInSocket(sk.NewtonEuler3DR):  # type: ignore[misc, unused-ignore]
    """The ball at the upper end of a link in the socket at the lower end of the one above, or of the ground."""

    def __init__(self, half: float, clearance: float, radius: float, grounded: bool) -> None:
        super().__init__()
        self.half, self.clearance, self.radius, self.grounded = half, clearance, radius, grounded

    def computeh(self, t: float, q: Any, y: Any) -> None:  # noqa: N802
        """Gap, contact points, and the normal from the second body to the first one."""
        link = q if self.grounded else q[7:]
        socket = np.zeros(3) if self.grounded else q[:3] + rotated(q[3:7], -self.half)
        ball = link[:3] + rotated(link[3:7], self.half)
        distance = float(np.linalg.norm(ball - socket))
        normal = (ball - socket) / distance
        y[0] = self.clearance - distance
        points = [socket + (self.clearance + self.radius) * normal, ball + self.radius * normal]
        self.pc1()[:], self.pc2()[:] = points[::-1] if self.grounded else points
        self.nc()[:] = -normal if self.grounded else normal


def chain(
    velocities: Any, dt: float, steps: int, length: float, mass: float, inertia: list[float], clearance: float,
    radius: float, friction: float, gravity: float,
) -> dict[str, Any]:  # fmt: skip
    """A chain that hangs, whose joints have these velocities (n + 1, 3) at the start."""
    system, links, kept = sk.NonSmoothDynamicalSystem(0, 2 * dt * steps), [], []
    for i, (upper, lower) in enumerate(zip(velocities[:-1], velocities[1:], strict=True)):
        x, y, _ = (np.array(lower) - upper) / length
        at = [0.0, 0.0, -((i + 1) * clearance + (i + 0.5) * length), 1.0, 0.0, 0.0, 0.0]
        moving = [*((np.array(lower) + upper) / 2), y, -x, 0.0]
        link = sk.NewtonEulerDS(at, moving, mass, np.diag(inertia))
        link.setFExtPtr(np.array([0.0, 0.0, -mass * gravity]))
        system.insertDynamicalSystem(link)
        law = sk.NewtonImpactFrictionNSL(0.0, 0.0, friction, 3)
        relation = BallInSocket(length / 2, clearance, radius, grounded=i == 0)
        interaction = sk.Interaction(law, relation)
        system.link(interaction, *links[-1:], link)
        links.append(link)
        kept += [law, relation, interaction]  # Python owns them
    solver = sk.FrictionContact(3)
    solver.numericsSolverOptions().dparam[0] = TOLERANCE
    solver.numericsSolverOptions().iparam[0] = ITERATIONS
    scheme = sk.TimeStepping(system, sk.TimeDiscretisation(0, dt), sk.MoreauJeanOSI(0.5), solver)
    scheme.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    begin = time.process_time()
    for _ in range(steps):
        scheme.computeOneStep()
        scheme.nextStep()
    spent = time.process_time() - begin
    return {"us": 1e6 * spent / steps, "end": [float(x) for x in links[-1].q()[:3]]}


if __name__ == "__main__":
    print(json.dumps(chain(**json.loads(sys.argv[1]))))
