"""Event-driven steps: smooth motion at high order, with steps that end exactly at events.

One step from (t, q, v) in a phase, which is defined by the modes of all contacts:

1. A Runge-Kutta step of the phase's smooth motion, its length from the error estimate, see `phase_motion`.
2. The first event within it, at which it is made to end, see `phase_events`.
3. If a gap closes, or the velocity of a driver jumps, the impact of all contacts that are closed, or close within the
   simultaneity window; a rebound that is too short ends an accumulation of impacts.
4. The new phase, see `phase_changes`.

Near a singular position of the joints a step goes across it. Where steps have been short for long, a function outside
looks for the cause. A step that is not certified, and such a cause, end the run.
"""

import math

from nonsmooth.compile.kernels import kernel, piece, solved_outside
from nonsmooth.compile.records.values import largest, zeros_like
from nonsmooth.schemes.event_driven import phase_motion, tolerances
from nonsmooth.schemes.event_driven.phase_changes import change_by_impact, change_phase
from nonsmooth.schemes.event_driven.phase_events import (
    BREAKAWAY,
    NONE,
    RELEASE,
    end_at_event,
    is_watched,
    margin,
    set_scales,
    unseen,
)
from nonsmooth.step import rows
from nonsmooth.step.closing import SHORTENED, VISIBLE
from nonsmooth.step.grid import latest_end, pass_stops
from nonsmooth.step.mechanism import (
    complementarity_error,
    evaluate_all,
    mode_of,
    norm,
    rates_of_u,
    round_off,
    set_impulse_scales,
    tangential,
    terms_of,
)
from nonsmooth.step.motion import placed, see, spin
from nonsmooth.step.program import INFINITE
from nonsmooth.step.tolerances import DONE, FULL, OPEN, SAFETY, SHRINK, SLIPPING, TINY, UNCERTAIN

#: number of steps per longest step, averaged over the last `CRAWLED` steps, above which the cause is examined
CROWDED = 50
#: least share of the step before that the step after a singular position has
BEYOND = 1e-2
#: how often the length of a step is halved that failed, or whose contacts pull
HALVINGS = 4
#: largest factor from one step size to the next, for which the error estimate of the former still tells something
GROW = 5.0
#: trials of one step at most; each at least shortens it by a tenth
REJECTIONS = 60
#: [rad] by which bodies of an open contact turn in a step at most
TURN = 0.5
#: share of what is left before the end of a step's range above which a step takes all of it, and leaves no sliver
WHOLE = 0.99
#: ratio by which other joints reduce the mobility of a row, above which a singular position may be near
SINGULAR = 25.0
#: share of the terms of a rate of joints by which it differs behind a corner where velocities of drivers jump, and of
#: that with which the mechanism would cross its own size in the longest step
KINK = 1e-9

examined_outside = solved_outside("examines")  # (run): 0 if there is a cause
reached_outside = solved_outside("reaches")  # (run): `reach` and `half`, if a singular position comes nearer


# ---- the length of a step


@piece
def is_stopped(run):
    """Whether there is a cause of short steps, for which the run ends: examined after many, in a row or altogether."""
    t, full = run.stages[0].t, run.counted == tolerances.CRAWLED and run.stages[0].t > run.counted_since
    run.crowded = 1 if full and t - run.counted_since < tolerances.CRAWLED * run.system.longest / CROWDED else 0
    crawls = run.tried < tolerances.CRAWL * run.shortest and (run.crawled + 1) % tolerances.CRAWLED == 0
    if not (run.crowded or crawls):
        return False
    dt, error, tried, next_length = run.dt, run.error, run.tried, run.next_length
    if run.crowded and t + 0.5 * dt != t:
        phase_motion.advance(run, t + 0.5 * dt)
        run.half_error = run.error
        phase_motion.advance(run, t + dt)
        run.error = error
    run.tried, run.next_length = tried, next_length
    return examined_outside(run) != 1


@piece
def take_smooth(run, limit):
    """A step to the time `limit` at most whose error is below tolerance, regardless of events; whether there is one."""
    t, wanted, rejected = run.stages[0].t, run.length, False
    longest = limit - t
    dt = longest if wanted > WHOLE * longest else wanted
    spins = 0.0
    for touch in run.touches:  # bounds of gaps between the ends of a step hold for small turns
        if touch.mode == OPEN:
            spins = max(spins, spin(touch.contact.a.body.v) + spin(touch.contact.b.body.v))
    if dt * spins > TURN:
        dt = TURN / spins
    for _ in range(REJECTIONS):
        if t + dt == t:
            break
        if rejected and not run.closed and run.dependence > SINGULAR:
            phase_motion.place_at(run, run.stages[0])
            if reached_outside(run) == 1:  # a singular position of the joints is near, and comes nearer
                if run.half < run.reach <= 1.5 * dt + run.half:  # end a step just before it
                    dt = min(dt, run.reach - 0.5 * run.half)
                elif (
                    run.reach <= run.half
                    and t + 2.0 * run.reach <= limit
                    and phase_motion.cross(run, t + 2.0 * run.reach)
                ):
                    run.next_length = min(max(2.0 * run.reach, BEYOND * wanted), run.system.longest)
                    run.tried = run.dt
                    return True
        if not phase_motion.advance(run, limit if dt >= longest else t + dt):
            run.failure = tolerances.NO_MOTION
            return False
        error = run.error
        factor = min(GROW, max(SHRINK, SAFETY * error**run.exponent)) if error > 0.0 else GROW
        if error <= 1.0:
            found = run.dt * (min(factor, 1.0) if rejected else factor)
            if dt == longest and not rejected:  # shortened by the end of the run
                found = max(found, wanted)
            run.next_length, run.tried = min(found, run.system.longest), run.dt
            stopped = is_stopped(run)
            run.failure = tolerances.SLOW if stopped else run.failure
            return not stopped
        rejected = True
        dt *= factor if error < INFINITE else SHRINK
    run.failure = tolerances.INACCURATE
    return False


# ---- the phase before and after


@kernel
def recall(run):
    """The phase at the start of the step. In space the direction of a slip is that which it has there."""
    start = run.stages[0]
    run.impact, run.work_impact, run.shared = 0, 0.0, run.kept_shared
    for joint in run.system.joints:
        joint.lam = joint.lam_next
    for k in range(len(run.touches)):
        touch, of = run.touches[k], start.contacts[k]
        touch.mode, touch.direction, touch.share = touch.kept_mode, touch.kept_direction, touch.kept_share
        touch.reference = touch.kept_reference
        touch.directions, touch.impact = touch.direction, zeros_like(touch.impact)
        if touch.mode == SLIPPING and run.slip_atol > 0.0 and run.ready:
            touch.direction = phase_motion.direction_of(run, touch, tangential(of.rates), of.terms)
    phase_motion.count_closed(run)


@kernel
def forget_signs(run, keep):
    """No contact is released, and no directions of slips are known; with `keep` those that slip, however slowly."""
    for touch in run.touches:
        touch.released = touch.known = 0
        if keep and touch.mode == SLIPPING:
            touch.known, touch.sign = 1, touch.direction


@kernel
def break_away(run, k, P):
    """Contact k begins to slip against the friction force in P."""
    touch, friction = run.touches[k], tangential(P)
    touch.known, touch.sign = 1, (-1.0 / max(norm(friction), TINY)) * friction


@piece
def reconsider(run):
    """The phase at the start of the step contradicts the motion after it: another one, if it is found."""
    start, k = run.stages[0], run.which
    forget_signs(run, run.kind == BREAKAWAY)
    if run.kind == RELEASE:
        run.touches[k].released = 1
    elif run.kind == BREAKAWAY:  # forces that begin at zero have the direction of the motion after it
        loaded = start.contacts[k].P[0] > run.touches[k].zero_force
        break_away(run, k, start.contacts[k].P if loaded else run.end.contacts[k].P)
    if not change_phase(run, start):
        return False
    phase_motion.copy(start, run.after)
    return True


@piece
def open_or_slip(run):
    """Contacts that open at the end of the step, or begin to slip there: also those that do so at once thereafter."""
    cone, which = run.kind == BREAKAWAY, run.which
    forget_signs(run, run.kind == RELEASE or cone)
    # where forces are not unique, others that act alike may be admissible, which the program finds
    if run.shared or not (run.kind == RELEASE or cone):
        return True
    if not phase_motion.advance(run, run.left.t + run.together):
        return False
    for k in range(len(run.touches)):
        touch = run.touches[k]
        lost = is_watched(touch, cone) and margin(touch.contact, run.end.contacts[k].P, cone) < 0.0
        if lost or k == which:
            if cone:
                break_away(run, k, run.left.contacts[k].P)
            else:
                touch.released = 1
    return True


@kernel
def closes_gap(run):
    """Whether a gap closes at the end of the step."""
    some = False
    for k in range(len(run.touches)):
        touch, of = run.touches[k], run.left.contacts[k]
        closes = touch.mode == OPEN and of.gap <= touch.closed_gap
        some = some or (closes and of.rates[0] < -round_off(run.system, touch.contact, of.terms[0]))
    return some


# ---- the row of a step


@piece
def sum_up(run):
    """Mean reactions, works and residual of the smooth motion, by the weights of the stages; its end."""
    residual, works = run.closure, zeros_like(run.works)
    for k in range(len(run.means)):
        first = run.stages[0].reactions[k]
        force, torque = phase_motion.mean_weight(run, 0) * first.force, phase_motion.mean_weight(run, 0) * first.torque
        for j in range(1, run.inner + 1):
            of, weight = run.stages[j].reactions[k], phase_motion.mean_weight(run, j)
            force += weight * of.force
            torque += weight * of.torque
        run.means[k].force, run.means[k].torque = force, torque
    for j in range(run.inner + 1):
        stage, weight = run.stages[j], run.dt * phase_motion.mean_weight(run, j)
        if weight != 0.0:
            works += weight * stage.powers
        if j > 0 and (j == run.inner or not run.across):
            residual = max(residual, stage.residual)
    run.works = works
    run.system.residual = residual
    phase_motion.copy(run.left, run.end)


@piece
def finish_row(run):
    """Write the row of the step, from its end `left` and the event `after`; a rebound has the mode of its impact."""
    system, worst = run.system, 0.0
    for k in range(len(run.touches)):  # the gap of a contact in a simultaneous impact is bounded by the window
        touch, of = run.touches[k], run.left.contacts[k]
        gap, contact = of.gap, touch.contact
        if touch.impact[0] > 0.0:
            gap -= min(max(-run.window * of.rates[0], 0.0), gap)
        total = touch.smooth[0] + touch.impact[0]
        worst = max(worst, complementarity_error(gap, contact.scale, total, contact.impulse_scale))
    system.complementarity, system.dt = worst, run.dt
    works = run.works
    rows.write_step(system, run.after.t, works[2] + run.work_impact, works[3])
    rows.write_loads(system, works[0], works[1], 0.0, 0.0)
    for i in range(len(run.means)):
        one, mean, kick = system.reactions[i], run.means[i], run.kicks[i]
        rows.write_reaction(system, one, mean.force, mean.torque)
        none = zeros_like(kick.force)
        rows.write_impact_reaction(system, one, kick.force if run.impact else none, kick.torque if run.impact else none)
    for i in range(len(run.touches)):
        touch = run.touches[i]
        contact, mode = touch.contact, touch.mode
        if mode == OPEN:
            contact.P, contact.on = touch.impact, 1 if touch.impact[0] > 0.0 else 0
            mode = mode_of(contact)
        rows.write_contact(system, contact, touch.smooth + touch.impact, mode)
        before = touch.approach if run.kinked else run.left.contacts[i].rates[0]
        rows.write_contact_impact(system, contact, touch.impact, before, run.after.contacts[i].rates[0])
    for i in range(len(system.bodies)):
        body, after = system.bodies[i], run.after.bodies[i]
        rows.write_motion(system, body, after.q, after.v)
        rows.write_jump(system, body, run.left.bodies[i].v)
    rows.mark_jump(system, run.work_impact)


@kernel
def start_next_step(run, event):
    """The end of the step is the start of the next one; steps and events are counted for `is_stopped`."""
    system, start, after = run.system, run.stages[0], run.after
    run.crawled = run.crawled + 1 if run.tried < tolerances.CRAWL * run.shortest else 0
    if start.t < run.counted_since or run.counted == tolerances.CRAWLED:
        run.counted, run.counted_since = 0, start.t
    run.counted += 1
    for touch in run.touches:
        touch.kept_mode, touch.kept_direction, touch.kept_share = touch.mode, touch.direction, touch.share
        touch.kept_reference = touch.reference
    for joint in system.joints:
        joint.lam_next = joint.lam
    phase_motion.copy(start, after)
    for k in range(len(system.bodies)):
        system.bodies[k].q, system.bodies[k].v = after.bodies[k].q, after.bodies[k].v
    system.t = after.t
    run.length, run.ready, run.kept_shared = run.next_length, 1, run.shared
    if after.t - run.stall_since > run.shortest:
        run.stall_since, run.stall_count = after.t, 0.0
    run.stall_count += 1.0 if event else tolerances.SMOOTH
    system.steps += 1


# ---- a step


@kernel
def presses(run):
    """Impulses of contacts, by weights of the stages, some of them negative; whether all are compressive."""
    found = True
    for k in range(len(run.touches)):
        touch = run.touches[k]
        total = phase_motion.mean_weight(run, 0) * run.stages[0].contacts[k].P
        for j in range(1, run.inner + 1):
            total += phase_motion.mean_weight(run, j) * run.stages[j].contacts[k].P
        # a lesser force has the sign of its round-off
        touch.smooth = run.dt * (total if not -touch.zero_force <= total[0] < 0.0 else zeros_like(total))
        found = found and touch.smooth[0] >= 0.0
    return found


@piece
def find_step(run, limit):
    """A smooth step that ends at its first event, at the time `limit` at most; whether there is one."""
    halved = 0
    for _ in range(tolerances.EVENTS):
        if not take_smooth(run, limit):
            return False
        set_scales(run)
        for _ in range(SHORTENED):
            time = unseen(run)
            if run.across or not time < VISIBLE * run.dt:
                break
            if not phase_motion.advance(run, run.stages[0].t + time):
                run.failure = tolerances.NO_MOTION
                return False
        if not end_at_event(run):
            run.failure = tolerances.UNLOCATED
            return False
        if run.kind == NONE or run.time > 0.0:
            if presses(run) or run.across or halved == HALVINGS:
                return True
            halved += 1
            run.length = 0.5 * run.dt
        elif not reconsider(run):
            run.failure = tolerances.UNSOLVED
            return False
    run.failure = tolerances.NO_MODES
    return False


@kernel
def return_before_stop(run):
    """Elements are evaluated before the stop again at which the step ends."""
    system = run.system
    system.stop, system.renewed, run.kinked = run.kept_stop, 0, 0
    system.bound = system.stops[system.stop].before


@piece
def is_kinked(run):
    """Whether the step ends at a corner at which velocities of drivers jump, evaluated in their right limit. A driver
    that stops at the end of the run does so after it."""
    system = run.system
    if not len(system.joints) or run.left.t < system.stops[system.stop].t:
        return False
    run.kept_stop = system.stop
    pass_stops(system, run.left.t)
    phase_motion.place_at(run, run.left)
    evaluate_all(system.constraints)
    for joint in system.joints:
        terms = terms_of(joint, joint.a.body.u, joint.b.body.u) + abs(joint.rate)
        size = terms + (system.reach / system.longest + TINY)
        stops = run.left.t >= run.ends and not largest(abs(joint.rate)) > 0.0
        if not stops and largest(abs(rates_of_u(joint) + joint.rate) / size) > KINK:
            run.kinked = 1
    if run.kinked:
        return True
    return_before_stop(run)
    return False


@piece
def step(run, limit):
    """One step, accepted only if certified."""
    recall(run)
    run.failure = run.kinked = 0
    if not find_step(run, limit):
        return False
    dt, length, tried = run.dt, run.next_length, run.tried
    sum_up(run)
    kinked = is_kinked(run)
    struck = closes_gap(run) or kinked
    event = struck or run.kind != NONE
    if struck:
        if not change_by_impact(run, run.left):
            run.failure = tolerances.UNSOLVED
            return False
    elif event:
        if not open_or_slip(run) or not change_phase(run, run.left):
            run.failure = tolerances.UNSOLVED
            return False
    else:
        phase_motion.copy(run.after, run.left)
    run.dt, run.next_length, run.tried = dt, length, tried
    if run.stall_count >= tolerances.STALLED and run.after.t - run.stall_since <= run.shortest:
        run.failure = tolerances.SLOW
        return False
    if not run.system.residual <= run.system.certified:
        return False
    finish_row(run)
    start_next_step(run, event)
    return True


@piece
def evaluate_start(run):
    """The motion at the start of a step, in stage 0."""
    system = run.system
    for body in system.bodies:
        body.at, body.u = body.q, body.v
        body.z = placed(body.at)
    see(system, system.t)
    run.ready = run.current = 0
    recall(run)
    phase_motion.accelerate(run, True)
    phase_motion.note(run, run.stages[0], True)
    run.ready = 1


@kernel
def restore(run):
    """Remove values that are not finite; the start of the step is evaluated again."""
    system = run.system
    if run.kinked:
        return_before_stop(run)
    run.ready = 0
    system.ground.v_next = system.ground.jump = zeros_like(system.ground.jump)
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)
    for joint in system.joints:
        joint.P = joint.P_near = zeros_like(joint.P)


@piece
def begin(run):
    """A start without a previous step: its impact, if closed contacts approach, as row 0, its phase, and the length of
    the first step. UNCERTAIN where a program is not solved."""
    system = run.system
    for touch in run.touches:
        touch.kept_mode, touch.kept_direction, touch.kept_share = OPEN, zeros_like(touch.direction), 0.0
        touch.kept_reference = zeros_like(touch.direction)
    for joint in system.joints:
        joint.lam = joint.lam_next = zeros_like(joint.lam)
    run.failure = run.kept_shared = run.impact = run.kinked = system.steps = 0
    evaluate_start(run)
    set_impulse_scales(system)
    phase_motion.copy(run.left, run.stages[0])
    forget_signs(run, False)
    run.dt = run.system.residual = 0.0  # nothing happens before an impact at the start of a run
    run.works = zeros_like(run.works)
    for touch in run.touches:
        touch.smooth = touch.impact = zeros_like(touch.impact)
    for mean in run.means:
        mean.force = mean.torque = zeros_like(mean.force)
    found = change_by_impact(run, run.left) if closes_gap(run) else change_phase(run, run.left)
    if not found:
        restore(run)
        run.failure = tolerances.UNSOLVED
        return UNCERTAIN
    finish_row(run)
    run.next_length = phase_motion.first_length(run, run.after)
    run.tried, run.stall_since, run.stall_count = math.inf, system.t, 0.0
    start_next_step(run, False)
    system.steps, run.stall_count, run.counted, run.counted_since = 0, 0.0, 0, math.inf
    return DONE


@piece
def try_step(run):
    """A step to the end of the run at most, and, where it fails, to a part of that; whether there is one."""
    system = run.system
    limit = latest_end(system)
    if system.renewed:
        run.ready = system.renewed = 0
    for k in range(HALVINGS + 1):
        if not run.ready:
            evaluate_start(run)
        if step(run, limit):
            return True
        restore(run)
        if run.failure == tolerances.SLOW or k == HALVINGS:
            return False
        system.shortened += 1
        limit = system.t + 0.5 * min(limit - system.t, run.tried)
    return False


def run(run, steps):
    """Up to so many steps; stops where rows are full, or before one that is not certified, its start left as it was.
    With no step, the start of a run, see `begin`: one entry, since both are compiled from the same functions."""
    system = run.system
    if steps == 0:
        return begin(run)
    for _ in range(steps):
        if not system.t < system.t_end:
            return DONE
        if system.steps >= system.rows.room:
            return FULL
        if not try_step(run):
            return UNCERTAIN
    return DONE
