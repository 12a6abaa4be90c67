"""When contact begins or ends within a step: cubics through gaps and their rates at some times, and Newton's method."""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.schemes.closing import SHORTENED, VISIBLE, first_root, lowest, time_of_least
from nonsmooth.schemes.dormand_prince import after
from nonsmooth.schemes.integrators import go_to, look
from nonsmooth.schemes.mechanism import evaluate_all, rates_of_u
from nonsmooth.schemes.motion import placed, spin
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


@kernel
def unseen(run, dt):
    """When within dt of the last evaluation contact may begin and end; infinite if it does not."""
    first = math.inf
    for overlap in run.overlaps:
        if not overlap.touches and overlap.seen_rate < 0.0 < overlap.rates[0]:
            contact = overlap.contact
            turn = dt * (spin(contact.a.body.u) + spin(contact.b.body.u))
            time = time_of_least(overlap.seen_gap, overlap.seen_rate, contact.g, overlap.rates[0], dt, turn, 0.0)
            first = min(first, time)
    return first


@piece
def look_before(run, t0, t1):
    """Gaps at the latest time, at most t1, up to which no contact begins and ends since t0; this time."""
    t = t1
    for _ in range(SHORTENED):
        look(run, run.moving, t)
        evaluate_gaps(run)
        time = unseen(run, t - t0)
        if not time < VISIBLE * (t - t0):
            break
        t = t0 + time
    return t


@kernel
def note_gaps(run):
    for overlap in run.overlaps:
        overlap.seen_gap, overlap.seen_rate = overlap.contact.g, overlap.rates[0]


@piece
def find_event(run):
    """The end of the rows of a step: its own, or the first event, which is noted."""
    start, apart, t0 = run.t_start, (run.t - run.t_start) / run.looks, run.t_start
    run.changes = -1
    look(run, run.moving, start)
    evaluate_gaps(run)
    note_gaps(run)
    for i in range(1, run.looks + 1):
        t1 = run.t if i == run.looks else i * apart + start
        while t0 < t1:
            t2 = look_before(run, t0, t1)
            guess, k = first_change(run, t2 - t0)
            if k >= 0:
                t = max(locate(run, run.overlaps[k], t0, t2, guess), after(start))
                run.changes, run.event, run.end = k, t, t
                return
            note_gaps(run)
            t0 = t2
    run.end = run.t
