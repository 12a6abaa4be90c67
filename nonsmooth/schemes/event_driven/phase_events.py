"""Events within a smooth step: the first one, and the step that ends at it.

A gap closes (quintic through gap, its velocity and acceleration at both ends), a normal force vanishes, a slip reverses
(cubic), a contact that sticks breaks away. The length of the step is found by Newton's method where the rate is known,
else by the Illinois method. Forces are known at stages, of low order and far apart: where they approach zero there,
they are evaluated along the continuous extension at Chebyshev points, and once more at the minimum of the polynomial
through these.
"""

import math

import numpy as np

from nonsmooth.compile.kernels import is_planar, kernel, piece
from nonsmooth.compile.records.values import dot, largest, linear
from nonsmooth.schemes.event_driven.fields import DEGREE, REFERRED
from nonsmooth.schemes.event_driven.phase_motion import advance, copy, extend, motion_within
from nonsmooth.schemes.event_driven.tolerances import EVENTS, LANDED
from nonsmooth.step.closing import bracketed, first_below, time_of_least
from nonsmooth.step.mechanism import norm, tangential
from nonsmooth.step.motion import spin
from nonsmooth.step.tolerances import AT_THE_END, EPSILON, OPEN, SLIPPING, STICKING

#: share of its range in a step below which a force at a stage causes a search within the step
NEAR = 0.5
#: share of the largest force in a step by which one along the extension must be negative to be significant
RESOLVED = 1e-9
#: intervals at whose ends polynomials through forces are evaluated, per degree
FINE = 12
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
    """Margin that is positive until the mode ends: the normal force, or its distance to the edge of the cone."""
    return contact.friction * P[0] - norm(tangential(P)) if cone else P[0]


@kernel
def is_watched(touch, cone):
    return touch.mode == STICKING if cone else touch.mode != OPEN


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
    """Force of contact i at a point, by the polynomials of its force."""
    order = run.order
    P = SCAN[order, m, 0] * run.nodes[0].contacts[i].P
    for j in range(1, DEGREE[order] + 1):
        P += SCAN[order, m, j] * run.nodes[j].contacts[i].P
    return margin(run.touches[i].contact, P, cone)


@kernel
def between(value, time, next_value, next_time):
    """When a value that falls from positive to negative is zero."""
    return time + (next_time - time) * (value / (value - next_value))


@piece
def loss_within(run, i, cone):
    """First time after the start at which the mode of contact i ends, and a bound; infinite if there is none."""
    touch, dt = run.touches[i], run.dt
    contact, zero, order, degree = touch.contact, touch.zero_force, run.order, DEGREE[run.order]
    place, least, most, intervals = 0, math.inf, 0.0, FINE * degree
    P = TAIL[order, 0] * run.nodes[0].contacts[i].P  # the last coefficient of the polynomials
    for j in range(1, degree + 1):
        P += TAIL[order, j] * run.nodes[j].contacts[i].P
    doubt = contact.friction * abs(P[0]) + largest(abs(tangential(P))) if cone else abs(P[0])
    for m in range(intervals + 1):
        value = along_step(run, i, cone, m)
        most = max(most, abs(value))
        if value < least:
            least, place = value, m
    level = zero + RESOLVED * most
    if least > level + 2.0 * doubt:
        return math.inf, dt
    if 0 < place < intervals:  # the polynomial is exact at its nodes only
        motion_within(run, TIMES[order, place], run.nodes[degree + 1])
        least = margin(contact, run.nodes[degree + 1].contacts[i].P, cone)
    last, before, at, after, later = -1, 0.0, 0.0, 0.0, 0.0  # the last positive value, and the one after it
    for m in range(intervals + 1):
        value, time = least if m == place else along_step(run, i, cone, m), dt * TIMES[order, m]
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


#: kinds of events, as bits
NONE, CLOSING, RELEASE, REVERSAL, BREAKAWAY = 0, 1, 2, 4, 8
#: size, relative to what is typical, below which the sign of a force or slip is round-off
ROUND_OFF = 1e-11
#: the same of forces that are not unique, which a program has shared
SHARED = 1e-8
#: tolerance of a located force or slip, relative to what is round-off of it
LOCATED = 1e-2
#: trial sizes at most of the step that ends at an event, and share of the time by which they must differ
ITERATIONS, SAME_TIME = 40, 1e-16
#: share of the time within which events are one: some units in its last place
SAME_EVENT = 1e-15
#: evaluations without a change of sign after which an event is regarded as unconfirmed
PATIENCE = 6
#: shares of a step at which quintics through gaps are evaluated, denser towards its ends
PLACES = (1 - np.cos(np.pi * np.arange(49) / 48)) / 2
#: iterations at most for the root of a quintic
BISECTIONS = 80


@kernel
def round_off_of_place(q, reach):
    """Round-off [m] of places on a body, no further than `reach` from its origin. In the plane turns are counted: after
    1300 turns an angle is resolved to 2e-12 rad only."""
    if is_planar(q):
        return EPSILON * (max(abs(q[0]), abs(q[1])) + reach * abs(q[2]))
    return EPSILON * largest(abs(linear(q)))


@piece
def set_scales(run):
    """Gaps, forces and slips that are zero in the step, from stage 0 to `end`."""
    start, end, system = run.stages[0], run.end, run.system
    size = start.applied + start.moving
    run.coarse = 0.0
    for of in end.bodies:
        run.coarse = max(run.coarse, round_off_of_place(of.q, system.reach))
    for k in range(len(run.touches)):
        touch, of = run.touches[k], start.contacts[k]
        contact = touch.contact
        touch.refuted = 0
        fastest = max(abs(of.rates[0]), abs(end.contacts[k].rates[0]))
        touch.closed_gap = max(max(touch.least_gap, run.coarse), SAME_EVENT * abs(end.t) * fastest)
        if touch.mode != OPEN:
            typical = contact.impulse_scale / system.longest
            if of.mobility > 0.0:
                typical += size / math.sqrt(of.mobility)
            touch.zero_force = (SHARED if run.shared == REFERRED else ROUND_OFF) * typical
            slip = largest(tangential(of.terms)) + contact.scale / system.longest
            touch.zero_slip = max(ROUND_OFF * slip, run.slip_atol + run.slip_rtol * slip)


# ---- closing of gaps


@kernel
def quintic(x, c0, c1, c2, c3, c4, c5):
    return c0 + x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * c5))))


@piece
def closing_of(run, k):
    """When within the step gap k first becomes negative, at once if it leaves zero so; infinite if it does not."""
    touch, dt = run.touches[k], run.dt
    start, end = run.stages[0].contacts[k], run.end.contacts[k]
    level = touch.closed_gap
    c0, c1, c2 = max(start.gap, 0.0), dt * start.rates[0], (0.5 * dt * dt) * start.bias_acceleration[0]
    slope, half = dt * end.rates[0], (0.5 * dt * dt) * end.bias_acceleration[0]
    hull = min(c0 + 0.2 * c1, c0 + 0.4 * c1 + 0.1 * c2)
    hull = min(hull, min(end.gap - 0.2 * slope, end.gap - 0.4 * slope + 0.1 * half))
    if min(hull, end.gap) >= -level:  # the polynomial lies within the convex hull of its Bezier points
        return math.inf
    off, off_rate, off_half = end.gap - c0 - c1 - c2, slope - c1 - 2.0 * c2, 2.0 * half - 2.0 * c2
    c3 = 10.0 * off - 4.0 * off_rate + 0.5 * off_half
    c4 = -15.0 * off + 7.0 * off_rate - off_half
    c5 = 6.0 * off - 3.0 * off_rate + 0.5 * off_half
    leaves = c0 <= level
    origin = c0 if leaves else 0.0
    low, high = -1.0, -1.0
    for m in range(len(PLACES)):
        value = quintic(PLACES[m], c0 - origin, c1, c2, c3, c4, c5)
        if value > 0.0:
            low = PLACES[m]
        if value < -level:
            high = PLACES[m]
            break
    if high < 0.0:
        return math.inf
    if low < 0.0:
        if not c1 > 0.0:
            return 0.0
        low = 0.0  # a flight shorter than the distance of places
    x = 0.5 * (low + high)
    for _ in range(BISECTIONS):
        value = quintic(x, c0 - origin, c1, c2, c3, c4, c5)
        rate = c1 + x * (2.0 * c2 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
        low, high, new = bracketed(low, high, x, value, rate)
        if abs(new - x) <= EPSILON:
            break
        x = new
    return dt * x


@kernel
def unseen(run):
    """When in a step a gap may be closed between its ends that the quintic does not see; infinite if none may be."""
    first, dt = math.inf, run.dt
    for k in range(len(run.touches)):
        touch = run.touches[k]
        start, end = run.stages[0].contacts[k], run.end.contacts[k]
        if touch.mode == OPEN and dt * start.rates[0] < -touch.closed_gap and end.rates[0] > 0.0:
            turn = dt * (spin(touch.contact.a.body.v) + spin(touch.contact.b.body.v))
            bend = max(-min(start.bias_acceleration[0], end.bias_acceleration[0]), 0.0)
            time = time_of_least(start.gap, start.rates[0], end.gap, end.rates[0], dt, turn, bend)
            first = min(first, time)
    return first


# ---- the first event


@kernel
def consider_event(run, time, latest, kind, which):
    """An event, which is the first one so far, if it has not been refuted."""
    touch = run.touches[which]
    if time < run.time and touch.refuted & kind == 0:
        run.time, run.latest, run.kind, run.which = time, latest, kind, which


@piece
def find_losses(run, cone, located):
    """First losses of normal forces, or of sticking; of a step that ends at one already, at its end only."""
    kind, searched, dt = BREAKAWAY if cone else RELEASE, False, run.dt
    for k in range(len(run.touches)):
        touch = run.touches[k]
        if not is_watched(touch, cone):
            continue
        first, last = math.inf, math.inf
        least, most, zero = math.inf, -math.inf, touch.zero_force
        for j in range(run.inner + 1):
            last = margin(touch.contact, run.stages[j].contacts[k].P, cone)
            first = last if j == 0 else first
            least, most = min(least, last), max(most, last)
        span = most - least
        if located:
            if last < -zero:
                consider_event(run, between(first, 0.0, last, dt) if first > zero else 0.0, dt, kind, k)
        elif (least < NEAR * span and span > zero) or least < -zero:  # forces at the stages approach zero
            if not searched:
                search(run)
            searched = True
            time, latest = loss_within(run, k, cone)
            consider_event(run, time, latest, kind, k)


@piece
def find_event(run, located):
    """The first event of the step, in `kind`, `which`, `time`, `latest`; the step ends at one of the kind `located`."""
    run.kind, run.time, dt = NONE, math.inf, run.dt
    for k in range(len(run.touches)):
        if run.touches[k].mode == OPEN:
            consider_event(run, closing_of(run, k), dt, CLOSING, k)
    if not run.closed:
        return
    for k in range(len(run.touches)):
        touch, start, end = run.touches[k], run.stages[0].contacts[k], run.end.contacts[k]
        if touch.mode == SLIPPING:  # until its slip vanishes, in space has turned by a right angle
            s, level = touch.direction, touch.zero_slip
            g0, g1 = dot(s, start.rates), dot(s, end.rates)
            a0, a1 = dot(s, start.bias_acceleration), dot(s, end.bias_acceleration)
            if not min(min(g0 + dt * a0 / 3.0, g1 - dt * a1 / 3.0), g1) >= -level:  # above its Bezier points
                time = first_below(g0, a0, g1, a1, dt, level)
                time = 0.0 if time == math.inf and g1 < -level else time
                consider_event(run, time, dt, REVERSAL, k)
    find_losses(run, False, located == RELEASE)
    find_losses(run, True, located == BREAKAWAY)


# ---- the step that ends at it


@kernel
def value_of(run, instant, kind, which):
    """Value that vanishes at the event, and its rate; 0 where that is unknown."""
    touch, of = run.touches[which], instant.contacts[which]
    if kind == CLOSING:
        return of.gap, of.rates[0]
    if kind == REVERSAL:
        return dot(touch.direction, of.rates), dot(touch.direction, of.bias_acceleration)
    return margin(touch.contact, of.P, kind == BREAKAWAY), 0.0


@piece
def locate(run):
    """The step that ends at the event that was found; whether it has an end, and whether the event occurs."""
    start, end, kind, which = run.stages[0], run.end, run.kind, run.which
    t, guess, high, known, touch = start.t, run.time, run.latest, run.dt, run.touches[which]
    accuracy = LANDED if kind == CLOSING else LOCATED * (touch.zero_slip if kind == REVERSAL else touch.zero_force)
    low, side, f_low, f_high, crossed = 0.0, 0, value_of(run, start, kind, which)[0], 0.0, False
    if run.latest == run.dt:
        f_high = value_of(run, end, kind, which)[0]
        crossed = f_high < 0.0
    for iteration in range(ITERATIONS):
        if not advance(run, t + guess):
            return False, False
        f, rate = value_of(run, end, kind, which)
        if abs(f) <= accuracy:
            return True, True
        if f > 0.0:
            low, f_low = guess, f
            f_high = 0.5 * f_high if side > 0 else f_high
            side = 1
        else:
            high, f_high, crossed = guess, f, True
            f_low = 0.5 * f_low if side < 0 else f_low
            side = -1
        if not crossed and iteration >= PATIENCE:
            return True, False
        new = guess - f / rate if rate < 0.0 else -1.0
        if (kind == RELEASE or kind == BREAKAWAY) and f_low > 0.0 and f_high < 0.0:
            new = low + (high - low) * f_low / (f_low - f_high)
        guess = new if low < new < high else 0.5 * (low + high)
        if guess == low or guess == high or high - low <= SAME_TIME * max(abs(t), known):
            break
    return True, crossed


@piece
def end_at_event(run):
    """The step shortened to its first event, `happened`; whether there is one that is located. An event at the start
    leaves the step as it is, with time 0; `kind` is the event, `NONE` if there is none."""
    happened, which, t = NONE, 0, run.stages[0].t
    for _ in range(EVENTS):
        find_event(run, happened)
        # the same event again, which the resolution of the time lets appear a little earlier
        again = run.time >= run.dt * AT_THE_END or run.dt - run.time <= SAME_EVENT * abs(t)
        if run.kind == NONE or (happened != NONE and again):
            run.kind, run.which, run.time = happened, which, run.dt
            return True
        if run.time <= 0.0 or t + run.time == t:
            run.time = 0.0
            return True
        kind, contact, whole = run.kind, run.which, run.dt
        found, confirmed = locate(run)
        if not found:
            return False
        if run.dt <= 0.0:
            run.time = 0.0
            return True
        if confirmed:
            if kind == happened and contact == which and run.dt >= whole:  # found earlier, located where it was
                run.time = run.dt
                return True
            happened, which = kind, contact
        else:  # only the polynomial became negative
            run.touches[contact].refuted = run.touches[contact].refuted | kind
            if not advance(run, t + whole):
                return False
    return False
