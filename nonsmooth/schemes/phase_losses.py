"""When within a step a contact force becomes tensile or leaves its friction cone.

Stages are of low order and far apart. Where forces at the stages approach zero, they are evaluated along the continuous
extension of the step at Chebyshev points; the polynomial through these is searched for its first change of sign, and
evaluated once more at its minimum.
"""

import math

import numpy as np

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import largest
from nonsmooth.schemes.mechanism import norm, tangential
from nonsmooth.schemes.phase_instants import copy
from nonsmooth.schemes.phase_steps import extend, motion_within
from nonsmooth.schemes.runge_kutta import DEGREE
from nonsmooth.tolerances import OPEN, SLIPPING, STICKING

#: share of its range in a step below which a force at a stage causes a search within the step
NEAR = 0.5
#: share of the largest force in a step by which one along the extension must be negative to be significant
RESOLVED = 1e-9
#: intervals at whose ends polynomials through forces are evaluated, per degree
FINE = 12
#: share of the largest normal force by which forces of dependent contacts may be tensile or leave their cones
ADMISSIBLE = 1e-9
#: intervals at whose ends the polynomials are evaluated, per degree; by the order of the method
NODES, TIMES = np.zeros((2, max(DEGREE) + 1)), np.zeros((2, FINE * max(DEGREE) + 1))
#: from values at the nodes to those at the points, and to the last coefficient
SCAN, TAIL = np.zeros((2, FINE * max(DEGREE) + 1, max(DEGREE) + 1)), np.zeros((2, max(DEGREE) + 1))
for _k, _n in enumerate(DEGREE):
    NODES[_k, : _n + 1] = (1 - np.cos(np.pi * np.arange(_n + 1) / _n)) / 2
    TIMES[_k, : FINE * _n + 1] = (1 - np.cos(np.pi * np.arange(FINE * _n + 1) / (FINE * _n))) / 2
    _nodes, _times = NODES[_k, : _n + 1], TIMES[_k, : FINE * _n + 1]
    _coefficients = np.linalg.inv(np.polynomial.chebyshev.chebvander(2 * _nodes - 1, _n))
    SCAN[_k, : FINE * _n + 1, : _n + 1] = np.polynomial.chebyshev.chebvander(2 * _times - 1, _n) @ _coefficients
    TAIL[_k, : _n + 1] = _coefficients[-1]


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
    for j in range(run.inner + 1):
        value = margin(touch.contact, run.stages[j].contacts[i].P, cone)
        least, most = min(least, value), max(most, value)
    zero, span = touch.zero_force, most - least
    return (least < NEAR * span and span > zero) or least < -zero


@piece
def search(run):
    """Forces at the nodes."""
    degree = DEGREE[run.order]
    extend(run)
    copy(run.nodes[0], run.stages[0])
    copy(run.nodes[degree], run.end)
    for j in range(1, degree):
        motion_within(run, NODES[run.order, j], run.nodes[j])


@piece
def along_step(run, i, cone, m):
    """Of contact i at a point, by the polynomials of its force."""
    order = run.order
    P = SCAN[order, m, 0] * run.nodes[0].contacts[i].P
    for j in range(1, DEGREE[order] + 1):
        P += SCAN[order, m, j] * run.nodes[j].contacts[i].P
    return margin(run.touches[i].contact, P, cone)


@kernel
def doubt_of(run, i, cone):
    """Size of the last coefficient of these polynomials."""
    order = run.order
    P = TAIL[order, 0] * run.nodes[0].contacts[i].P
    for j in range(1, DEGREE[order] + 1):
        P += TAIL[order, j] * run.nodes[j].contacts[i].P
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
    last = margin(contact, run.end.contacts[i].P, cone)
    if not last < -zero:
        return math.inf, dt
    return (between(first, 0.0, last, dt) if first > zero else 0.0), dt


@piece
def loss_within(run, i, cone):
    """First time after the start at which the mode of contact i ends, and a bound; infinite if there is none."""
    touch, dt = run.touches[i], run.dt
    contact, zero, degree = touch.contact, touch.zero_force, DEGREE[run.order]
    doubt, place, least, most, intervals = doubt_of(run, i, cone), 0, math.inf, 0.0, FINE * degree
    for m in range(intervals + 1):
        value = along_step(run, i, cone, m)
        most = max(most, abs(value))
        if value < least:
            least, place = value, m
    level = zero + RESOLVED * most
    if least > level + 2.0 * doubt:
        return math.inf, dt
    if 0 < place < intervals:  # the polynomial is exact at its nodes only
        motion_within(run, TIMES[run.order, place], run.nodes[degree + 1])
        least = margin(contact, run.nodes[degree + 1].contacts[i].P, cone)
    last, before, at, after, later = -1, 0.0, 0.0, 0.0, 0.0  # the last positive value, and the one after it
    for m in range(intervals + 1):
        value, time = least if m == place else along_step(run, i, cone, m), dt * TIMES[run.order, m]
        if m == last + 1:
            after, later = value, time
        if m == 0 or m == intervals:
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
def may_be_raised(run):
    """Whether a raised diagonal gives the least forces: where nothing slips, and joints have no part in them."""
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
