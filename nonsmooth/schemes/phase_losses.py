"""When within a step a contact force becomes tensile or leaves its friction cone.

Stages are of low order and far apart. Where forces at the stages approach zero, they are evaluated along the continuous
extension of the step at Chebyshev points; the polynomial through these is searched for its first change of sign, and
evaluated once more at its minimum.
"""

import math

import numpy as np

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import largest
from nonsmooth.schemes.event_fields import DEGREE, STAGES
from nonsmooth.schemes.mechanism import norm, tangential
from nonsmooth.schemes.phase_instants import copy
from nonsmooth.schemes.phase_steps import motion_within
from nonsmooth.tolerances import OPEN, SLIPPING, STICKING
from nonsmooth.tolerances.event_driven import ADMISSIBLE, FINE, NEAR, RESOLVED

#: intervals at whose ends the polynomials are evaluated
INTERVALS = FINE * DEGREE

NODES = (1 - np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)) / 2
TIMES = (1 - np.cos(np.pi * np.arange(INTERVALS + 1) / INTERVALS)) / 2
_COEFFICIENTS = np.linalg.inv(np.polynomial.chebyshev.chebvander(2 * NODES - 1, DEGREE))
#: from values at the nodes to those at the points, and to the last coefficient
SCAN = np.polynomial.chebyshev.chebvander(2 * TIMES - 1, DEGREE) @ _COEFFICIENTS
TAIL = np.ascontiguousarray(_COEFFICIENTS[-1])


@kernel
def margin(contact, P, cone):
    """What is positive until the mode ends: the normal force, or its distance to the edge of the cone."""
    return contact.friction * P[0] - norm(tangential(P)) if cone else P[0]


@kernel
def is_watched(touch, cone):
    return touch.mode == STICKING if cone else touch.mode != OPEN


@piece
def may_be_lost(run, i, cone):
    """Whether the forces at the stages approach zero."""
    touch = run.touches[i]
    least, most = math.inf, -math.inf
    for stage in run.stages:
        value = margin(touch.contact, stage.contacts[i].P, cone)
        least, most = min(least, value), max(most, value)
    zero, span = touch.zero_force, most - least
    return (least < NEAR * span and span > zero) or least < -zero


@piece
def search(run):
    """Forces at the nodes."""
    copy(run.nodes[0], run.stages[0])
    copy(run.nodes[DEGREE], run.stages[STAGES])
    for j in range(1, DEGREE):
        motion_within(run, NODES[j], run.nodes[j])


@piece
def along_step(run, i, cone, m):
    """Of contact i at a point, by the polynomials of its force."""
    P = SCAN[m, 0] * run.nodes[0].contacts[i].P
    for j in range(1, DEGREE + 1):
        P += SCAN[m, j] * run.nodes[j].contacts[i].P
    return margin(run.touches[i].contact, P, cone)


@kernel
def doubt_of(run, i, cone):
    """Size of the last coefficient of these polynomials."""
    P = TAIL[0] * run.nodes[0].contacts[i].P
    for j in range(1, DEGREE + 1):
        P += TAIL[j] * run.nodes[j].contacts[i].P
    if cone:
        return run.touches[i].contact.friction * abs(P[0]) + largest(abs(tangential(P)))
    return abs(P[0])


@kernel
def between(value, time, next_value, next_time):
    """When a value that falls from positive to negative is zero."""
    return time + (next_time - time) * (value / (value - next_value))


@piece
def loss_at_end(run, i, cone):
    """First loss of a step that ends at one already: it is at its end, or there is none."""
    touch, dt = run.touches[i], run.dt
    contact, zero = touch.contact, touch.zero_force
    first = margin(contact, run.stages[0].contacts[i].P, cone)
    last = margin(contact, run.stages[STAGES].contacts[i].P, cone)
    if not last < -zero:
        return math.inf, dt
    return (between(first, 0.0, last, dt) if first > zero else 0.0), dt


@piece
def loss_within(run, i, cone):
    """First time after the start at which the mode of contact i ends, and a bound; infinite if there is none."""
    touch, dt = run.touches[i], run.dt
    contact, zero = touch.contact, touch.zero_force
    doubt, place, least, most = doubt_of(run, i, cone), 0, math.inf, 0.0
    for m in range(INTERVALS + 1):
        value = along_step(run, i, cone, m)
        most = max(most, abs(value))
        if value < least:
            least, place = value, m
    level = zero + RESOLVED * most
    if least > level + 2.0 * doubt:
        return math.inf, dt
    if 0 < place < INTERVALS:  # the polynomial is exact at its nodes only
        motion_within(run, TIMES[place], run.nodes[DEGREE + 1])
        least = margin(contact, run.nodes[DEGREE + 1].contacts[i].P, cone)
    last, before, at, after, later = -1, 0.0, 0.0, 0.0, 0.0  # the last positive value, and the one after it
    for m in range(INTERVALS + 1):
        value, time = least if m == place else along_step(run, i, cone, m), dt * TIMES[m]
        if m == last + 1:
            after, later = value, time
        if m == 0 or m == INTERVALS:
            below = value < -zero
        else:
            below = value < -level and (value < -2.0 * doubt or m == place)
        if below:
            return (between(before, at, after, later) if last >= 0 else 0.0), time
        if value > zero:
            last, before, at = m, value, time
    return math.inf, dt


# ---- forces that are not unique


@kernel
def may_share(run):
    """Whether dependent forces are shared here: where nothing slips, and joints have no part in them."""
    slips = False
    for touch in run.touches:
        slips = slips or touch.mode == SLIPPING
    return not slips and len(run.system.joints) == 0


@kernel
def admissible(run):
    """Whether the least of dependent forces are compressive and in their cones."""
    most = 0.0
    for touch in run.touches:
        most = max(most, touch.contact.P[0])
    for touch in run.touches:
        P = touch.contact.P
        if touch.mode != OPEN and P[0] < -ADMISSIBLE * most:
            return False
        if touch.mode == STICKING and margin(touch.contact, P, True) < -ADMISSIBLE * most:
            return False
    return True
