"""When contact begins or ends within a step: cubics through gaps and their rates at some times, and Newton's method."""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.schemes.closing import first_root, lowest
from nonsmooth.schemes.dormand_prince import after
from nonsmooth.schemes.integrators import go_to, look
from nonsmooth.schemes.mechanism import evaluate_all, rates_of_u
from nonsmooth.schemes.motion import placed
from nonsmooth.tolerances.compliant import ITERATIONS, LOCATED


@kernel
def evaluate_gaps(run):
    """Gaps and their rates at the time within the step to which parts have gone."""
    for course in run.courses:
        body = course.body
        body.at, body.u = course.q.origin + course.q.tried, course.v.tried
        body.z = placed(body.at)
    evaluate_all(run.system.surfaces)
    for overlap in run.overlaps:
        overlap.rates = rates_of_u(overlap.contact)


@kernel
def side(overlap):
    """-1 where surfaces touch, which end contact where the gap opens, else 1."""
    return -1.0 if overlap.touches else 1.0


@kernel
def changes_at(run, overlap, dt):
    """When contact begins or ends between two evaluations, by the cubic through both; infinite if it does not.

    One that has just begun or ended leaves zero: its cubic is divided by s.
    """
    sign, tolerance = side(overlap), run.touched * overlap.contact.scale
    g0, g1 = sign * overlap.seen_gap, sign * overlap.contact.g
    leaves = g0 <= tolerance
    start = 0.0 if leaves else g0
    a, slope, rise = dt * sign * overlap.seen_rate, dt * sign * overlap.rates[0], g1 - start
    b, c = 3.0 * rise - 2.0 * a - slope, a + slope - 2.0 * rise
    if not lowest(start, a, b, c) < -tolerance:
        return math.inf
    return dt * (first_root(a, b, c, 0.0) if leaves else first_root(start, a, b, c))


@kernel
def first_change(run, dt):
    """When within dt of the last evaluation contact first begins or ends, and which; -1 if none."""
    soonest, found = math.inf, -1
    for k in range(len(run.overlaps)):
        at = changes_at(run, run.overlaps[k], dt)
        if at < soonest:
            soonest, found = at, k
    return soonest, found


@piece
def locate(run, overlap, low, high, guess):
    """When a gap vanishes between two times: Newton's method, kept between them."""
    t, sign = low + guess, side(overlap)
    for _ in range(ITERATIONS):
        go_to(run, run.moving, t)
        evaluate_gaps(run)
        gap, rate = sign * overlap.contact.g, sign * overlap.rates[0]
        if gap > 0.0:
            low = t
        else:
            high = t
        new = t - gap / rate if rate < 0.0 else math.inf
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(gap) <= LOCATED or new == low or new == high:
            break
        t = new
    return t


@piece
def find_event(run):
    """The end of the rows of a step: its own, or the first event, which is noted."""
    start, apart, t0 = run.t_start, (run.t - run.t_start) / run.looks, run.t_start
    run.changes = -1
    for i in range(run.looks + 1):
        t1 = run.t if i == run.looks else i * apart + start
        look(run, run.moving, t1)
        evaluate_gaps(run)
        if i > 0:
            guess, k = first_change(run, t1 - t0)
            if k >= 0:
                t = max(locate(run, run.overlaps[k], t0, t1, guess), after(start))
                run.changes, run.event, run.end = k, t, t
                return
        for overlap in run.overlaps:
            overlap.seen_gap, overlap.seen_rate = overlap.contact.g, overlap.rates[0]
        t0 = t1
    run.end = run.t
