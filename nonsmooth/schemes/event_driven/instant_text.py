"""Accelerations and forces at one state of any motion, by the phase of an event-driven step that begins there.

Positions `at` and velocities `u` at the time `seen` are projected onto joints and contacts of the phase; then the
program in accelerations and forces finds the modes of the candidates.
"""

from nonsmooth.schemes.event_driven.fields import PROJECT, RAISED, SQUARES, UNIQUE
from nonsmooth.schemes.event_driven.phase_changes import find_phase, independent
from nonsmooth.schemes.event_driven.phase_motion import accelerate, project
from nonsmooth.step.mechanism import evaluate_all
from nonsmooth.step.motion import placed
from nonsmooth.step.tolerances import DONE, UNCERTAIN


def run(run, part):
    """One part of the work, and whether it is done: the nearest positions and velocities with joints and contacts of
    the phase closed, or modes of the candidates, accelerations `jump` and forces P."""
    system = run.system
    run.current = 0
    if part == PROJECT:
        run.shared = UNIQUE
        for body in system.bodies:
            body.z = placed(body.at)
        evaluate_all(system.surfaces)
        evaluate_all(system.constraints)
        if not independent(run):
            run.shared = SQUARES
        return DONE if project(run) else UNCERTAIN
    run.left.t = system.seen
    for k in range(len(system.bodies)):
        body, of = system.bodies[k], run.left.bodies[k]
        of.q, of.v = body.at, body.u
        body.reached = body.u
    if not find_phase(run, run.left):
        return UNCERTAIN
    if run.shared == RAISED:  # which is enough for a step
        run.shared = SQUARES
        accelerate(run, True)
    return DONE
