"""Accelerations and forces at one state of any motion, by the phase of an event-driven step that begins there.

Positions `at` and velocities `u` of bodies at the time `seen` are projected onto joints and contacts of the phase; then
the program in accelerations and forces finds the modes of the candidates.
"""

from nonsmooth.compile.kernels import piece
from nonsmooth.schemes.event_driven.fields import PROJECT, RAISED, SQUARES, UNIQUE
from nonsmooth.schemes.event_driven.phase_changes import find_phase, independent
from nonsmooth.schemes.event_driven.phase_motion import accelerate, project
from nonsmooth.step.mechanism import evaluate_all
from nonsmooth.step.motion import placed
from nonsmooth.step.tolerances import DONE, UNCERTAIN


@piece
def close(run):
    """The nearest positions and velocities with joints and contacts of the phase closed; whether there are any."""
    run.current, run.shared = 0, UNIQUE
    for body in run.system.bodies:
        body.z = placed(body.at)
    evaluate_all(run.system.surfaces)
    evaluate_all(run.system.constraints)
    if not independent(run):
        run.shared = SQUARES
    return project(run)


@piece
def find_modes(run):
    """Modes of the candidates, accelerations `jump`, and forces P; whether they are found."""
    run.left.t, run.current = run.system.seen, 0
    for k in range(len(run.system.bodies)):
        body, of = run.system.bodies[k], run.left.bodies[k]
        of.q, of.v = body.at, body.u
        body.reached = body.u
    if not find_phase(run, run.left):
        return False
    if run.shared == RAISED:  # which is enough for a step
        run.shared = SQUARES
        accelerate(run, True)
    return True


def run(run, part):
    """One part of the work; whether it is done."""
    if part == PROJECT:
        return DONE if close(run) else UNCERTAIN
    return DONE if find_modes(run) else UNCERTAIN
