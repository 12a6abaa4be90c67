"""Compliant contact, integrated with error control.

While the same contacts touch, motion is smooth, see `motion`; steps are those of an integrator, see `integrators`. A
row is where contact begins or ends within one, found by cubics through gaps and their rates and Newton's method, else
at its end; where surfaces touch some are between. Each row is projected onto the joints and accepted only if its
residual is below tolerance. The integrator begins anew after an event, and after a projection of more than ten
tolerances.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import dot, first_four, largest, linear, trace, weighed, zeros_like
from nonsmooth.schemes.compliant import integrators, tolerances
from nonsmooth.schemes.compliant.fields import GO_TO, LOOK
from nonsmooth.schemes.compliant.integrators import END, after, go_to
from nonsmooth.schemes.compliant.motion import accelerate, rates_at, rows_of
from nonsmooth.step.closing import SHORTENED, VISIBLE, bracketed, first_below, time_of_least
from nonsmooth.step.grid import next_stop
from nonsmooth.step.joint_forces import close_joints
from nonsmooth.step.mechanism import (
    add_impulses,
    body_residual,
    complementarity_error,
    evaluate_all,
    evaluate_loads,
    rates_of_jump,
    rates_of_u,
    squared_length,
    terms_of,
)
from nonsmooth.step.motion import force_of, inverse_mass, moment_of, placed, see, spin
from nonsmooth.step.program import factor_joints
from nonsmooth.step.projection import projection_of
from nonsmooth.step.rows import write_contact, write_loads, write_motion, write_reaction, write_step
from nonsmooth.step.runge_kutta import place_bodies
from nonsmooth.step.tolerances import DONE, FLOOR, FULL, OPEN, TINY, UNCERTAIN

# ---- events within a step


@kernel
def evaluate_gaps(run, t, what):
    """Gaps and their rates at a time within the step, exactly or approximately."""
    go_to(run, run.moving, t, what)
    place_bodies(run)
    evaluate_all(run.system.surfaces)
    for overlap in run.overlaps:
        overlap.rates = rates_of_u(overlap.contact)


@piece
def first_change(run, t0, t1):
    """When contact first begins or ends between two evaluations, and which gap or -1: by cubics and Newton's method."""
    dt, soonest, which = t1 - t0, math.inf, -1
    for k in range(len(run.overlaps)):
        overlap, contact = run.overlaps[k], run.overlaps[k].contact
        sign = -1.0 if overlap.touches else 1.0  # contact ends where the gap opens
        start, rate, tolerance = sign * overlap.seen_gap, sign * overlap.seen_rate, run.touched * contact.scale
        end = sign * contact.g
        time = first_below(start, rate, end, sign * overlap.rates[0], dt, tolerance)
        if start <= tolerance and rate < 0.0 and (time < math.inf or end < -tolerance):
            time = 0.0  # at the end of the step before, by chance
        if time < soonest:
            soonest, which = time, k
    if which < 0:
        return t1, which
    overlap, low, high, t = run.overlaps[which], t0, t1, t0 + soonest
    sign = -1.0 if overlap.touches else 1.0
    for _ in range(tolerances.ITERATIONS):
        evaluate_gaps(run, t, GO_TO)
        gap, rate = sign * overlap.contact.g, sign * overlap.rates[0]
        low, high, new = bracketed(low, high, t, gap, rate)
        if abs(gap) <= tolerances.LOCATED or new == low or new == high:
            break
        t = new
    return t, which


@piece
def evaluate_before(run, t0, t1):
    """Gaps at the latest time, at most t1, up to which no contact begins and ends since t0; this time."""
    t = t1
    for _ in range(SHORTENED):
        evaluate_gaps(run, t, LOOK)
        first, dt = math.inf, t - t0
        for overlap in run.overlaps:
            contact, rate = overlap.contact, overlap.rates[0]
            if not overlap.touches and overlap.seen_rate < 0.0 < rate:
                turn = dt * (spin(contact.a.body.u) + spin(contact.b.body.u))
                time = time_of_least(overlap.seen_gap, overlap.seen_rate, contact.g, rate, dt, turn, 0.0)
                first = min(first, time)
        if not first < VISIBLE * dt:
            break
        t = t0 + first
    return t


@kernel
def note_gaps(run):
    for overlap in run.overlaps:
        overlap.seen_gap, overlap.seen_rate = overlap.contact.g, overlap.rates[0]


@piece
def find_event(run):
    """The end of the rows of a step: its own, or the first event, which is noted."""
    start, apart, t0 = run.t_start, (run.t - run.t_start) / run.looks, run.t_start
    run.changes, run.end = -1, run.t
    evaluate_gaps(run, start, LOOK)
    note_gaps(run)
    for i in range(1, run.looks + 1):
        t1 = run.t if i == run.looks else i * apart + start
        while t0 < t1:
            t2 = evaluate_before(run, t0, t1)
            t, k = first_change(run, t0, t2)
            if k >= 0:
                run.changes, run.event = k, max(t, after(start))
                run.end = run.event
                return
            note_gaps(run)
            t0 = t2


#: first step within a contact that lasts less than a step, as a share of its duration, and how often it is found anew
WITHIN, REPEATED = 0.1, 10

# ---- joints


@kernel
def no_gaps(run):
    """Contacts are not closed by a projection."""
    return 0.0, 0.0


@kernel
def respond(run, level):
    """Impulses of joints at the present positions; they are always found."""
    factor_joints(run.system)
    close_joints(run.system)
    return True


project = projection_of(tolerances.PASSES, tolerances.PARTED, no_gaps, respond)


# ---- rows


@kernel
def error_of_motion(run):
    """Worst residual of the equations of motion, and of joints' second derivatives, as a share of their terms."""
    system, moving, applied, worst = run.system, 0.0, 0.0, 0.0
    for body in system.bodies:
        moving += squared_length(body.jump, body.mass)
        applied += squared_length(weighed(body.total, inverse_mass(body)), body.mass)
    system.size = math.sqrt(moving) + math.sqrt(applied)
    for joint in system.joints:
        add_impulses(joint, joint.a.directions, joint.b.directions)
        terms = terms_of(joint, joint.a.body.jump, joint.b.body.jump) + abs(joint.velocity_offset)
        floor = FLOOR * math.sqrt(trace(joint.W)) * system.size
        error = largest(abs(rates_of_jump(joint) + joint.velocity_offset)) / max(largest(terms) + floor, TINY)
        worst = max(worst, error)
    for body in system.bodies:
        still = zeros_like(body.jump)
        worst = max(worst, body_residual(system, body, still, body.jump, body.total))
    return worst


@kernel
def switch(run, t):
    """Which contacts have begun or ended at a row; whether any have. Ranges that laws are compared with are widened."""
    changed, at_event = False, run.changes >= 0 and t == run.event
    for k in range(len(run.overlaps)):
        overlap = run.overlaps[k]
        gap, rate, level = overlap.contact.g, overlap.rates[0], run.touched * overlap.contact.scale
        touched, force, depth, speed = overlap.touches == 1, overlap.force[0], max(-gap, 0.0), max(-rate, 0.0)
        if touched:
            overlap.least_force, overlap.most_force = min(overlap.least_force, force), max(overlap.most_force, force)
            overlap.least_depth, overlap.most_depth = min(overlap.least_depth, depth), max(overlap.most_depth, depth)
        near = at_event and abs(gap) <= level
        ends = touched and rate > 0.0 and (gap > level or near)
        begins = not touched and (gap < -level or (near and rate < 0.0))
        if at_event and k == run.changes:  # in any case: projected joints move its gap by the integrator's error
            ends, begins = touched, not touched
        if begins:
            overlap.touches, overlap.approach, overlap.began = 1, speed, t
            overlap.least_approach = min(overlap.least_approach, speed)
            overlap.most_approach = max(overlap.most_approach, speed)
        if ends:
            overlap.touches, overlap.approach = 0, 0.0
        if begins or ends:
            overlap.bristle, changed = zeros_like(overlap.bristle), True
    if changed:
        run.limited = 0
    return changed


@kernel
def finish_row(run, t):
    """Write a row of the motion as it stands, and of what integrals have gained since the last one."""
    system = run.system
    system.dt = t - run.row_t
    of_contacts = linear(run.contact_work.tried - run.contact_work.last)
    of_loads = linear(run.load_work.tried - run.load_work.last)
    run.stored += of_contacts[0]
    write_step(system, t, of_contacts[3], of_contacts[2])
    write_loads(system, of_loads[0], -of_loads[1], of_contacts[1], run.stored)
    for overlap in run.overlaps:
        P = rows_of(overlap.impulse.tried - overlap.impulse.last, overlap.contact.P)
        write_contact(system, overlap.contact, P, overlap.mode if overlap.touches else OPEN)
        overlap.bristle_row = overlap.bristle
    for wrench in run.wrenches:
        mean = (1.0 / system.dt) * (wrench.impulse.tried - wrench.impulse.last)
        write_reaction(system, wrench.reaction, force_of(mean), moment_of(mean))
    for body in system.bodies:
        write_motion(system, body, body.at, body.u)
        body.q, body.v = body.at, body.u
    for block in run.blocks:
        block.last = block.tried
    run.row_t = system.t = t
    run.step = run.t - run.t_start
    system.steps += 1


@piece
def take_row(run, t):
    """The row at t; whether it is certified. Nothing is kept of one that is not."""
    system, far, worst = run.system, 0.0, 0.0
    go_to(run, run.blocks, t, GO_TO)
    see(system, t)
    place_bodies(run)
    if run.projected:
        if not project(run)[0]:
            run.failure = tolerances.APART
            return False
        for one in run.integrated:
            far = max(far, largest(abs(one.body.at - (one.q.origin + one.q.tried))))
    accelerate(run)
    system.residual = error_of_motion(run)
    if not system.residual <= system.certified:
        run.failure = tolerances.UNBALANCED
        return False
    for overlap in run.overlaps:
        gained = linear(overlap.impulse.tried - overlap.impulse.last)
        gap, scale = max(overlap.contact.g, 0.0), overlap.contact.scale
        worst = max(worst, complementarity_error(gap, scale, abs(gained[0]), run.impulse))
    system.complementarity = worst
    if switch(run, t) or far > tolerances.DRIFTED * run.tolerance:
        run.restart = 1
    finish_row(run, t)
    return True


# ---- the run


@piece
def begin_anew(run):
    """Start the integrator at the last row; whether it can."""
    for block in run.blocks:
        block.end = block.last = zeros_like(block.end)
    for one in run.integrated:
        one.q.origin, one.v.end = one.body.q, one.body.v
    for overlap in run.overlaps:
        if overlap.bristles_count > 0:
            overlap.bristles.end = first_four(overlap.bristles.end, overlap.bristle_row)
    for block in run.blocks:
        block.tried = block.end
    run.t = run.row_t
    if not integrators.begin(run):
        return False
    run.first, run.rows, run.row, run.changes, run.restart = 0.0, 0, 1, -1, 0
    return True


@piece
def next_step(run):
    """The integrator's next step with its event and its rows; whether there is one."""
    if not integrators.next_step(run):
        return False
    find_event(run)
    for _ in range(REPEATED):
        if run.changes < 0 or run.t_start != run.row_t:
            break
        overlap = run.overlaps[run.changes]
        if not (overlap.touches == 1 and overlap.began == run.t_start and run.event < run.t):
            break
        # a contact that begins at the start of the step and ends within it: its stages may all be beyond
        run.first = WITHIN * (run.event - run.t_start)
        if not begin_anew(run) or not integrators.next_step(run):
            return False
        find_event(run)
    run.row, run.rows = 1, 1
    for overlap in run.overlaps:
        if overlap.touches:
            run.rows = run.samples
    return True


@kernel
def next_time(run):
    """When the next row is; infinite where the integrator finds no step."""
    while True:
        if run.row > run.rows and not next_step(run):
            return math.inf
        start, end = run.t_start, run.end
        if run.row == run.rows:
            return end
        t = run.row * ((end - start) / run.rows) + start
        if start < t < end:
            return t
        run.row += 1


def run(run, rows):
    """Up to so many rows; stops where there is no more room, and before one that is not certified."""
    system, run.failure = run.system, tolerances.NO_STEP
    for _ in range(rows):
        if not run.row_t < system.t_end:
            return DONE
        if system.steps >= system.rows.room:
            return FULL
        next_stop(system)
        run.limit = system.stops[system.stop].t
        if system.renewed:
            run.restart, system.renewed = 1, 0
        if run.restart and not begin_anew(run):
            return UNCERTAIN
        t = next_time(run)
        if t <= system.t_end:
            run.row += 1
        elif t < math.inf:
            t = system.t_end
        if not run.row_t < t < math.inf or not take_row(run, t):
            run.restart = 1
            return UNCERTAIN
    return DONE


def rates(run):
    """Rates of the trial values at the requested time, as those at the end of a step; for an integrator outside."""
    rates_at(run, run.request_time, END)
    return DONE


def begin(run):
    """At the last row, where no step ends: which contacts touch, how fast they approach, and a typical impulse."""
    system, masses, moving, pushed = run.system, 0.0, 0.0, 0.0
    see(system, run.row_t)
    for body in system.bodies:
        body.at, body.u = body.q, body.v
        body.z = placed(body.at)
    evaluate_all(system.surfaces)
    for overlap in run.overlaps:
        rate = rates_of_u(overlap.contact)[0]
        overlap.touches = 1 if overlap.contact.g <= run.touched * overlap.contact.scale else 0
        overlap.approach = max(-rate, 0.0) if overlap.touches else 0.0
    evaluate_loads(system)
    for body in system.bodies:
        masses += dot(body.sqrt_mass, body.sqrt_mass)
        moving += squared_length(body.u, body.mass)
        pushed += squared_length(weighed(body.force, inverse_mass(body)), body.mass)
    mean = math.sqrt(masses / run.velocities)
    run.impulse = mean * (math.sqrt(moving) + run.longest * math.sqrt(pushed))
    run.impulse = run.impulse if run.impulse > 0.0 else 1.0
    return DONE
