"""Gauss' principle of least constraint in steps that end when a gap closes.

    M (u - v) = dt/2 h + W(q) P,       q+ = q moved by u for dt,   g(q+) = 0,   0 <= g_N(q+)  ⟂  P_N >= 0
    M (v- - u) = dt/2 h + W(q+) P,     W_g' v- = -g_t,             0 <= gamma_N-  ⟂  P_N >= 0
    M (v+ - v-) = W(q+) P,             W_g' v+ = -g_t,             0 <= gamma_N+ + e min(gamma_N-, 0)  ⟂  P_N >= 0

with Coulomb's law between P_T and the slip by u, v- and v+ + e_T v-, and forces h at the midpoint: a half step on the
contacts loaded at its start, with the largest step size for which every other gap stays open, found by trials; the
second half on those that are still loaded; and the impact on the closed contacts, if any of them approaches. A contact
that closes again within the shortest flight is not located: the step then has that size, with all contacts imposed and
a plastic impact.
"""

import math

from nonsmooth.compile.kernels import has_other_laws, kernel, piece, solved_outside
from nonsmooth.compile.records.values import dot, largest, normal_axis, weighed, zeros_like
from nonsmooth.schemes.gauss.first_half import apply_forces, evaluate_solution, first_half_residual, solve_first_half
from nonsmooth.schemes.gauss.tolerances import AT_LEAST, DIPPED, LANDED, LONGER, ORDER, TRIALS
from nonsmooth.step.closing import VISIBLE, bracketed, first_below, time_of_least
from nonsmooth.step.deformation import end_implicit, growth
from nonsmooth.step.grid import latest_end
from nonsmooth.step.mechanism import (
    complementarity_error,
    joint_residual,
    leaves_rest,
    place_at_end,
    rates_after,
    rates_before,
    rates_of_jump,
    rebound,
    set_impulse_scales,
    squared_length,
    start_contacts,
    start_joints,
    tangential,
    touches,
    zero_rate,
)
from nonsmooth.step.motion import inverse_mass, plausible, spin
from nonsmooth.step.program import factor_joints
from nonsmooth.step.rows import write_impact, write_row
from nonsmooth.step.tolerances import AT_THE_END, DONE, FULL, PROXIMAL, REMAINDER, SAFETY, SHRINK, UNCERTAIN
from nonsmooth.step.velocity_change import (
    change_residual,
    change_velocity_from,
    expand_within,
    impact,
    law_of_rates,
    rates_left,
    select_impacting,
    take_back,
)

#: how often a step that is not certified is repeated with half its size
HALVINGS = 9
#: factor by which steps grow again after one that was halved
REGAIN = 1.1
#: square of the share by which an acceleration has changed from which on it is not extrapolated
SMOOTH = 1e-2


# ---- the largest length for which no open gap closes before its end


@kernel
def end_rate(contact, dt):
    """Derivative of a gap with respect to the step size; directions are those of the end."""
    a, b = contact.a, contact.b
    return (a.directions @ growth(a.body, 0.5 * dt) + b.directions @ growth(b.body, 0.5 * dt))[0]


@kernel
def first_closing(system, dt):
    """Time within dt at which the first gap closes, by cubic interpolation, and its index; infinite if none does."""
    soonest, found = math.inf, 0
    for k in range(len(system.contacts)):
        contact = system.contacts[k]
        if not contact.closed:
            end = end_rate(contact, dt)
            at = first_below(contact.start_g, contact.start_rate, contact.g, end, dt, DIPPED * contact.scale)
            if at < soonest:
                soonest, found = at, k
    return soonest, found


@kernel
def locate_closing(system, contact, at, beyond):
    """The step size at whose end a gap closes: Newton's method, bracketed."""
    low, high, dt, last = 0.0, beyond, at, beyond
    for _ in range(TRIALS):
        for body in system.bodies:  # nearly linear in it
            body.u = body.v + (dt / last) * (body.u - body.v)
        last = dt
        if not solve_first_half(system, dt):
            return math.inf
        low, high, step = bracketed(low, high, dt, contact.g, end_rate(contact, dt))
        if abs(contact.g) <= LANDED * contact.scale or step == low or step == high:
            break
        dt = step
    return dt


land_outside = solved_outside("land")


@kernel
def lands(system, longest):
    """Whether a program with the unknown step size `trial` found the largest one up to `longest`: it may be shorter
    than necessary, or beyond a gap that closes and opens again. It begins with the first closing without further
    impulses."""
    apply_forces(system, longest)
    for body in system.bodies:
        body.u = body.v_next
    place_at_end(system, longest)
    at, _ = first_closing(system, longest)
    system.dt, system.trial = longest, min(at, longest)
    for body in system.bodies:
        body.u = body.v
    if not (land_outside(system) == 1 and evaluate_solution(system, system.trial)):
        return False
    dt = system.trial
    ended = dt == longest
    for contact in system.contacts:
        ended = ended or (touches(contact) and not contact.closed)
    at, _ = first_closing(system, dt)
    return ended and not at < dt * AT_THE_END


@kernel
def locate_first_closing(system, longest):
    """The largest step size for which no open gap closes before the end; infinite if there is none."""
    if system.land != 0 and lands(system, longest):
        return system.trial
    dt = longest
    if not solve_first_half(system, dt):
        return math.inf
    for _ in range(TRIALS):
        at, k = first_closing(system, dt)
        if not at < dt * AT_THE_END:
            return dt
        dt = locate_closing(system, system.contacts[k], at, dt)
        if not dt < math.inf:
            return dt
    return math.inf


# ---- the second half, and the impact


@kernel
def finish(system, dt, crossing):
    """Second half and impact of a step of size dt, with directions at its end; whether it is solved and certified."""
    end_implicit(system)
    worst = first_half_residual(system, dt)
    for joint in system.joints:
        joint.P_a = joint.P
    for contact in system.contacts:
        contact.first = contact.P if contact.on else zeros_like(contact.P)
        rate = rates_before(contact)
        stays = touches(contact) and (contact.closed or crossing)
        contact.on = 1 if stays else 0
        contact.P = contact.first if stays else zeros_like(contact.P)
        bound = 0.0
        if crossing and stays and not contact.closed and contact.resolved:
            bound = rebound(contact, rate[0])
        returns = system.law_of_impact > 0 and bound < 0.0
        contact.least = contact.restitution if returns else 0.0  # times the impulse of compression, once it is known
        contact.velocity_offset = (0.0 if returns else bound) * normal_axis(rate)
    for body in system.bodies:
        body.v_next = body.u + weighed((0.5 * dt) * body.force, inverse_mass(body))
        body.jump = body.v_next
    factor_joints(system)
    if not change_velocity_from(system):  # with forces that last impulses are those of the first half
        return False
    worst, law = max(worst, change_residual(system)), law_of_rates(system)
    for joint in system.joints:
        joint.P_b, joint.answer = joint.P, zeros_like(joint.P)
    for contact in system.contacts:
        contact.second = contact.P if contact.on else zeros_like(contact.P)
        contact.impact = zeros_like(contact.P)
        contact.has_impact = contact.on
    system.residual, system.law = worst, law
    if has_other_laws(system) and crossing and not expand_within(system):
        return False
    worst, law = system.residual, system.law
    for body in system.bodies:
        body.v_terms = abs(body.jump) + abs(body.v_next)
        body.left = body.v_next
    if select_impacting(system):
        if not impact(system):
            return False
        worst, law = max(worst, system.residual), max(law, system.law)
    for contact in system.contacts:
        contact.has_impact = contact.on
    for joint in system.joints:
        worst = max(worst, joint_residual(system, joint, -joint.rate))
    system.residual, system.law = worst, law
    return True


# ---- the end of a step


@kernel
def finish_row(system, t):
    """Write the row of the step."""
    work, loss, natural = 0.0, 0.0, system.law
    for joint in system.joints:
        work -= dot(joint.P_a, joint.rate_start) + dot(joint.P_b + joint.answer, joint.rate)
    for contact in system.contacts:
        contact.before, contact.after = rates_left(contact), rates_after(contact)
        smooth = contact.first + contact.second if contact.closed else zeros_like(contact.P)
        contact.P, contact.on = smooth + contact.impact, 1 if touches(contact) else 0
        slip = 0.5 * (contact.start_rates + contact.before)
        loss -= dot(smooth, tangential(slip))
        pressed = contact.second[0] if contact.closed else 0.0
        if touches(contact):
            pressed = contact.P[0]
        natural = max(natural, complementarity_error(contact.g, contact.scale, pressed, contact.impulse_scale))
    system.complementarity = natural
    write_row(system, t, work, loss, True)
    write_impact(system)
    for contact in system.contacts:
        contact.P = contact.first


@kernel
def accept(system, dt, t):
    """Accept the step: its end is the start of the next one, with loaded contacts, gaps and joints there."""
    system.dt = dt
    finish_row(system, t)
    system.t = t
    start_joints(system)
    start_contacts(system)
    strikes, ratio = False, dt / system.last_dt
    for contact in system.contacts:
        rate = rates_after(contact)
        presses = touches(contact) and not rate[0] > zero_rate(system, contact)
        if (contact.has_impact or contact.closed) and not presses:
            contact.left_at = system.t
        contact.closed = 1 if presses else 0
        contact.start_rate, contact.start_rates = rate[0], rate
        strikes = strikes or contact.impact[0] > 0.0
    if dt > 0.0:
        system.last_dt = dt
    for body in system.bodies:
        # the change of velocity by an impact is not extrapolated
        gained = zeros_like(body.v) if strikes else body.v_next - body.v
        body.delta2_v, body.delta_v = gained - ratio * body.delta_v, gained
        body.q, body.v, body.u = body.at, body.v_next, body.v_next
    system.steps += 1


# ---- its length by its local error


@kernel
def plan(system, dt, limit):
    """Whether a step up to the time `limit` has a small enough local error; the length of the next one.
    A step with velocity u in its middle, from v to `left` before the impacts at its end, follows the motion to second
    order: its error is a sixth of dt (left - 2 u + v), the change of acceleration over the step times dt^2/12. It is
    measured in displacements, angles times radii of gyration, relative to the smallest clearance, and in each gap."""
    clearance, worst = math.inf, 0.0
    for body in system.bodies:
        body.jump = (dt / 6.0) * (body.left - 2.0 * body.u + body.v)
        worst = max(worst, largest(abs(body.sqrt_mass * body.jump)) / body.sqrt_mass[0])
    for contact in system.contacts:
        clearance = min(clearance, contact.scale)
    worst = worst / clearance
    for contact in system.contacts:
        worst = max(worst, abs(rates_of_jump(contact)[0]) / contact.scale)
    share, planned, factor = worst / system.error, system.planned, LONGER
    if share > 0.0:
        factor = min(max(SAFETY * share ** (-1.0 / ORDER), SHRINK), LONGER)
    system.planned = min(max(factor * dt, system.shortest), system.longest)
    system.too_long = 1 if share > 1.0 and dt > AT_LEAST * system.shortest else 0
    if not system.too_long and dt < limit - system.t:  # it ends at an impact; what was planned remains admissible
        system.planned = max(system.planned, min(planned, limit - system.t))
    return not system.too_long


# ---- a step


@kernel
def start_over(system, binding, dt):
    """Contacts that bind in the first momentum update, their initial impulses, and the initial u of a step of this
    length, from the acceleration of the previous one if that has hardly changed."""
    first, second = 0.0, 0.0
    for body in system.bodies:
        first += squared_length(body.delta_v, body.mass)
        second += squared_length(body.delta2_v, body.mass)
    share = 0.5 * dt / system.last_dt if second < SMOOTH * first else 0.0
    for body in system.bodies:
        body.u = body.v + share * body.delta_v
    for contact in system.contacts:
        contact.on = 1 if contact.closed or binding else 0
        contact.P = contact.first if contact.on else zeros_like(contact.P)


@kernel
def unseen(system, dt):
    """When in the step a gap may be closed that is open at both ends; infinite if none may be."""
    first = math.inf
    for contact in system.contacts:
        rate, rate_end = contact.start_rate, rates_left(contact)[0]
        if not contact.closed and not touches(contact) and rate < 0.0 < rate_end:
            turn = dt * (spin(contact.a.body.v) + spin(contact.b.body.v))
            first = min(first, time_of_least(contact.start_g, rate, contact.g, rate_end, dt, turn, 0.0))
    return first


@piece
def attempt(system, limit):
    """A step to the time `limit` at most, committed if it is certified; whether it is."""
    system.solved, crossing = 0, False
    start_over(system, False, limit - system.t)
    dt = locate_first_closing(system, limit - system.t)
    if not dt < math.inf:
        return False
    t = limit if dt == limit - system.t else system.t + dt
    for contact in system.contacts:  # one may be closed again that opened less than the shortest flight ago
        contact.resolved = 1 if t - contact.left_at >= system.shortest else 0
        crossing = crossing or (touches(contact) and not contact.closed and not contact.resolved)
    if crossing:
        dt = min(system.shortest, limit - system.t)
        start_over(system, True, dt)
        t = limit if dt == limit - system.t else system.t + dt
        if not solve_first_half(system, dt):
            return False
    if not t > system.t:  # where forces grow beyond all bounds
        return False
    if not plausible(system, system.longest) or not finish(system, dt, crossing) or leaves_rest(system):
        return False
    system.solved = 1
    if not (system.residual <= system.certified and max(system.law, system.law_start) <= system.certified):
        return False
    for contact in system.contacts:
        if not contact.g >= -system.certified * contact.scale:
            return False
        if contact.first[0] > 0.0 and not contact.g <= system.certified * contact.scale:
            return False
    time = unseen(system, dt)
    if time < VISIBLE * dt:
        system.too_long, system.planned = 1, time
        return False
    for contact in system.contacts:  # the impulse of a contact in the step that closes it counts as an impact
        if not contact.closed:
            contact.impact += contact.first + contact.second
    if crossing:
        take_back(system)
    if system.error > 0.0 and not plan(system, dt, limit):
        return False
    accept(system, dt, t)
    return True


@kernel
def step(system, limit):
    """One step, accepted only if certified; if not, it is tried again with the proximal term."""
    system.too_long = 0
    if attempt(system, limit):
        return DONE
    restore(system)
    if system.too_long or system.proximal > 0.0 or not len(system.contacts) or system.advance != 0:
        return UNCERTAIN
    system.proximal = PROXIMAL
    if attempt(system, limit):
        return DONE
    restore(system)
    system.proximal = 0.0
    return UNCERTAIN


@kernel
def restore(system):
    """Remove values that are not finite; the step is tried again from the velocity at its start."""
    system.ground.v_next = zeros_like(system.ground.v_next)
    for contact in system.contacts:
        contact.first = contact.P = zeros_like(contact.P)
    for body in system.bodies:
        body.v_next = body.u = body.v
        body.delta_v = zeros_like(body.v)


@piece
def impact_at_start(system):
    """The impact of closed contacts that approach at the start of a run, without length; whether it is certified."""
    end_implicit(system)
    factor_joints(system)
    size = 0.0
    for body in system.bodies:
        body.v_next, body.force = body.v, zeros_like(body.force)
        size += squared_length(body.v, body.mass)
    system.size, system.residual, system.law = math.sqrt(size), 0.0, 0.0
    for joint in system.joints:
        joint.P = joint.P_a = joint.P_b = joint.answer = zeros_like(joint.P)
    for contact in system.contacts:
        contact.closed = 0
        contact.P = contact.first = contact.second = contact.impact = zeros_like(contact.P)
    if not select_impacting(system) or not impact(system):
        return False
    for joint in system.joints:
        system.residual = max(system.residual, joint_residual(system, joint, -joint.rate))
    if not max(system.residual, system.law) <= system.certified:
        return False
    for contact in system.contacts:
        contact.has_impact = contact.on
    accept(system, 0.0, system.t)
    return True


def run(system, steps):
    """Up to so many steps; stops where rows are full, or before a step that is not certified."""
    if system.impact_at_end:
        system.impact_at_end = 0
        return DONE if impact_at_start(system) else UNCERTAIN
    for _ in range(steps):
        if not system.t < system.t_end:
            return DONE
        if system.steps >= system.rows.room:
            return FULL
        start, planned, halved = system.t, system.planned, False
        limit = latest_end(system)
        if start + planned < limit - REMAINDER * planned:
            limit = start + planned
        status = step(system, limit)
        while system.too_long:
            system.rejected += 1
            limit = min(limit, system.t + system.planned)
            status = step(system, limit)
        for _ in range(HALVINGS):
            if status == DONE or system.rest_undecided:
                break
            limit = system.t + 0.5 * (limit - system.t)
            system.shortened += 1
            halved = True
            status = step(system, limit)
        if system.error == 0.0:
            system.planned = limit - start if halved else REGAIN * planned
        if status != DONE:
            return status
    return DONE


def begin(system):
    """Directions, rates and loaded contacts at the start; the first row is that of an impact, if there is one."""
    end_implicit(system)
    for body in system.bodies:
        body.u = body.v_next = body.v
        body.v_terms = abs(body.v)
    place_at_end(system, 0.0)
    start_joints(system)
    start_contacts(system)
    for contact in system.contacts:
        contact.start_rates = rates_after(contact)
        contact.start_rate = contact.start_rates[0]
    set_impulse_scales(system)
    lands, calm = system.shortest > 0.0, True
    for contact in system.contacts:
        near, rate, zero = touches(contact), contact.start_rate, zero_rate(system, contact)
        contact.closed = 1 if lands and near and rate <= zero else 0
        contact.left_at = system.t if near and not contact.closed else -math.inf
        calm = calm and not (near and rate < -zero)
    system.impact_at_end = 1 if lands and not calm else 0
    return DONE
