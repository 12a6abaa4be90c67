"""Projection of positions and velocities onto joints and, in a phase of an event-driven run, closed contacts."""

from nonsmooth.compile.kernels import piece
from nonsmooth.compile.records.values import dot, largest, zeros_like
from nonsmooth.step.mechanism import evaluate_all, rates_of_u
from nonsmooth.step.motion import moved, placed
from nonsmooth.step.program import INFINITE
from nonsmooth.step.tolerances import GAINING, PROJECTED


def projection_of(passes, parted, find_gaps, respond):
    """A function (run) that finds the nearest `at` and `u`, in the metric of masses, with all rows closed: whether
    there are any, and whether directions are those there. Positions by so many passes of Newton's method, of residuals
    up to `parted`. `find_gaps(run)` evaluates contacts, gaps as `velocity_offset`: the largest, and the sum of squares.
    `respond(run, level)` adds to `jump` what cancels `velocity_offset` of gaps (level 0) or velocities (1); if
    found."""

    @piece
    def project(run):
        system, before, worst, current = run.system, INFINITE, 0.0, False
        for _ in range(passes):
            for body in system.bodies:
                body.z, body.jump = placed(body.at), zeros_like(body.jump)
            evaluate_all(system.constraints)
            worst, total = find_gaps(run)
            for joint in system.joints:
                joint.velocity_offset = joint.g
                worst, total = max(worst, largest(abs(joint.g))), total + dot(joint.g, joint.g)
            if not total < INFINITE:
                return False, False
            current = worst <= PROJECTED or not worst < GAINING * before
            if current:
                break
            before = worst
            if not respond(run, 0):
                return False, False
            for body in system.bodies:
                body.at = moved(body, body.at, body.jump, 1.0)
        if worst > parted:
            return False, False
        for body in system.bodies:
            body.z, body.jump = placed(body.at), zeros_like(body.jump)
        for joint in system.joints:
            joint.velocity_offset = rates_of_u(joint) + joint.rate
        for contact in system.contacts:
            contact.velocity_offset = rates_of_u(contact)
        if not respond(run, 1):
            return False, False
        for body in system.bodies:
            body.u += body.jump
        return True, current

    return project
