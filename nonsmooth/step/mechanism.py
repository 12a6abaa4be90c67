"""Operations of schemes on bodies, contacts and joints."""

import math

from nonsmooth.compile.kernels import evaluate, kernel
from nonsmooth.compile.records.values import (
    dot,
    identity,
    larger_of,
    largest,
    normal_axis,
    rates_of_two,
    trace,
    weighed,
    zeros_like,
)
from nonsmooth.step.motion import energy_product, gyration, inverse_mass, moved, placed, see
from nonsmooth.step.program import INFINITE, assemble_diagonal, solve_joints
from nonsmooth.step.tolerances import (
    AT_REST,
    CLOSED,
    CLOSED_GAP,
    CLOSED_RATE,
    EDGE,
    FLOOR,
    OPEN,
    SLIPPING,
    STICKING,
    TINY,
)

# ---- configurations at which elements are evaluated


@kernel
def place_by_v(system, dt):
    """Positions after motion with the velocities at the start of the step, for dt."""
    see(system, system.t + dt)
    for body in system.bodies:
        body.at = moved(body, body.q, body.v, dt)
        body.z = placed(body.at)


@kernel
def place_by_u(system, dt):
    """Positions after motion with u for dt."""
    see(system, system.t + dt)
    for body in system.bodies:
        body.at = moved(body, body.q, body.u, dt)
        body.z = placed(body.at)


@kernel
def evaluate_all(groups):
    for group in groups:
        evaluate(group)


@kernel
def place_at_end(system, dt):
    """Gaps, joints and their directions after motion with u for dt."""
    place_by_u(system, dt)
    evaluate_all(system.surfaces)
    evaluate_all(system.constraints)


@kernel
def evaluate_loads(system):
    """Applied and gyroscopic forces at the present positions, with velocities u."""
    for body in system.bodies:
        body.force = body.steady + gyration(body.u, body.mass)
    evaluate_all(system.forces)
    for one in system.loads:
        one.a.force += one.on_a
        one.b.force += one.on_b


@kernel
def powers_of_loads(run):
    """Powers of loads and of damping, of forces without potential."""
    evaluate_all(run.working)
    power, damping = 0.0, 0.0
    for one in run.accounts:
        power += one.power
        damping += one.damping
    return power, damping


# ---- rates and impulses


@kernel
def rates_before(bond):
    return rates_of_two(bond.a.directions, bond.a.body.v, bond.b.directions, bond.b.body.v)


@kernel
def rates_of_u(bond):
    return rates_of_two(bond.a.directions, bond.a.body.u, bond.b.directions, bond.b.body.u)


@kernel
def rates_after(bond):
    return rates_of_two(bond.a.directions, bond.a.body.v_next, bond.b.directions, bond.b.body.v_next)


@kernel
def terms_of(bond, a, b):
    """Sums of the magnitudes of the terms of its rates, where its bodies move by a and b."""
    return rates_of_two(abs(bond.a.directions), abs(a), abs(bond.b.directions), abs(b))


@kernel
def apply_impulses(bond, P):
    """Velocities at the end of the step changed by the impulses P of a bond."""
    bond.a.body.v_next += P @ bond.a.response
    bond.b.body.v_next += P @ bond.b.response


@kernel
def apply_all_impulses(system):
    """Velocities at the end of the step changed by the impulses of all bonds in the program."""
    for joint in system.joints:
        apply_impulses(joint, joint.P)
    for contact in system.contacts:
        if contact.on:
            apply_impulses(contact, contact.P)


@kernel
def add_impulses(bond, along_a, along_b):
    """Add the impulses of a bond along directions to those on its bodies, and their magnitudes."""
    for_a, for_b = bond.P @ along_a, bond.P @ along_b
    bond.a.body.total += for_a
    bond.b.body.total += for_b
    bond.a.body.terms += abs(for_a)
    bond.b.body.terms += abs(for_b)


@kernel
def rates_of_jump(bond):
    return rates_of_two(bond.a.directions, bond.a.body.jump, bond.b.directions, bond.b.body.jump)


@kernel
def start_joints(system):
    """The present directions and explicit rates of joints are those at the start of the next step."""
    for joint in system.joints:
        joint.directions_a, joint.directions_b, joint.rate_start = joint.a.directions, joint.b.directions, joint.rate
        joint.wrench_start = joint.wrench
    for reaction in system.reactions:
        reaction.start_z = reaction.joints[0].b.body.z


@kernel
def start_contacts(system):
    """The present directions and gaps of contacts are those at the start of the next step."""
    for contact in system.contacts:
        contact.start_a, contact.start_b, contact.start_g = contact.a.directions, contact.b.directions, contact.g


@kernel
def restore_directions(bond, a, b):
    """Restore the directions at the start of the step."""
    bond.a.directions, bond.b.directions = a, b


@kernel
def leave_out(system):
    """Find `left`, the velocity at the end without the impulses `total` on bodies and what joints answer to them."""
    for body in system.bodies:
        body.jump = weighed(body.total, inverse_mass(body))
        body.left = body.v_next - body.jump
    for joint in system.joints:
        joint.b0 = rates_of_jump(joint)
    solve_joints(system)
    for joint in system.joints:
        joint.answer = joint.y
        joint.a.body.left -= joint.y @ joint.a.response
        joint.b.body.left -= joint.y @ joint.b.response


@kernel
def leave_out_impacts(system):
    """Find the velocity at the end without the impulses `impact` of contacts, as `leave_out` does."""
    for body in system.bodies:
        body.total = zeros_like(body.total)
    for contact in system.contacts:
        contact.a.body.total += contact.impact @ contact.a.directions
        contact.b.body.total += contact.impact @ contact.b.directions
    leave_out(system)


@kernel
def squared_length(x, mass):
    """Square of the length of a velocity in the metric of masses."""
    return energy_product(x, x, mass)


# ---- contacts


@kernel
def is_frictional(x):
    """Whether rows of contacts have tangential ones, which is known when the text is compiled."""
    return trace(identity(x)) > 1.0


@kernel
def tangential(x):
    """Rows of a contact without the normal one."""
    return x - x[0] * normal_axis(x) if is_frictional(x) else zeros_like(x)


@kernel
def norm(x):
    return math.sqrt(dot(x, x))


@kernel
def on_disc(x, reach):
    """The nearest tangential rows to x that are no longer than `reach`."""
    size = norm(x)
    return (reach / size) * x if size > reach else x


@kernel
def touches(contact):
    return contact.g <= CLOSED_GAP * contact.scale


@kernel
def rebound(contact, rate):
    """Velocity after impact required by the laws: e times the approach velocity, if that is large enough."""
    return contact.restitution * min(rate, 0.0) if -rate > contact.threshold else 0.0


@kernel
def set_impulse_scales(system):
    """Typical impulses of contacts: those that change a gap by its scale within the longest step."""
    heaviest = 0.0
    for body in system.bodies:
        heaviest = max(heaviest, largest(body.sqrt_mass * body.sqrt_mass))
    for contact in system.contacts:
        assemble_diagonal(contact)
        # a concentric journal has no normal yet; no mass that a contact feels exceeds the heaviest
        mobility = max(contact.W[0][0], 1.0 / heaviest)
        contact.impulse_scale = contact.scale / (system.longest * mobility)


@kernel
def law_shift(contact, before, slips):
    """Terms of Newton's law in the velocities after an impact, from those before it; tangential ones if `slips`."""
    slip = contact.tangential if slips else 0.0
    return rebound(contact, before[0]) * normal_axis(before) + slip * tangential(before)


@kernel
def round_off(system, contact, terms):
    """Round-off of a gap velocity; `terms` is the sum of the magnitudes of its terms."""
    return CLOSED_RATE * (terms + contact.scale / system.longest)


@kernel
def zero_rate(system, contact):
    """Round-off of a gap velocity at the end."""
    return round_off(system, contact, terms_of(contact, contact.a.body.v_terms, contact.b.body.v_terms)[0])


@kernel
def mode_of(contact):
    """Open, closed (frictionless or unloaded), sticking inside the friction cone, slipping on its edge."""
    P, reach = contact.P, contact.friction * contact.P[0]
    if not contact.on:
        return OPEN
    if not reach > 0.0:
        return CLOSED
    return STICKING if norm(tangential(P)) < (1.0 - EDGE) * reach else SLIPPING


@kernel
def law_residual(system, contact, rates, least=0.0):
    """Natural map of the contact laws for rates at the end of the step over its terms, with P_N at least `least`."""
    P, W = contact.P, contact.W
    N, rate = normal_axis(P), rates + contact.velocity_offset
    own = W[0][0] * P[0]
    error = abs(min(rate[0], own - W[0][0] * least if least > 0.0 else own))
    if is_frictional(P):
        push = on_disc(tangential(W[0][0] * P - rate), contact.friction * max(own, 0.0))
        error = max(error, largest(abs((W[0][0] * P - own * N) - push)))
    terms = terms_of(contact, contact.a.body.v_next, contact.b.body.v_next)
    floor = FLOOR * math.sqrt(W[0][0]) * system.size
    return error / max(largest(terms + abs(contact.velocity_offset)) + abs(own) + floor, TINY)


@kernel
def complementarity_error(gap, scale, impulse, impulse_scale):
    """Natural map of 0 <= gap ⟂ impulse >= 0, each divided by its own scale."""
    return abs(min(gap / scale, impulse / impulse_scale))


@kernel
def leaves_rest(system):
    """Whether bodies at rest start to move, as Coulomb's law may admit although redundant contacts sustain rest."""
    closed, before, after, kick = 0, 0.0, 0.0, 0.0
    if system.least_rest_contacts > len(system.contacts):
        return False
    for contact in system.contacts:
        closed += 1 if contact.start_g <= CLOSED_GAP * contact.scale else 0
    if closed < system.least_rest_contacts:
        return False
    for body in system.bodies:
        before += squared_length(body.v, body.mass)
        after += squared_length(body.v_next, body.mass)
        kick += squared_length(weighed(system.dt * body.force, inverse_mass(body)), body.mass)
    rest = AT_REST * AT_REST  # of energies
    system.rest_undecided = 1 if before <= rest * after and after > rest * kick else 0
    return system.rest_undecided == 1


# ---- residuals


@kernel
def body_residual(system, body, before, after, impulse):
    """Relative residual of a momentum balance; infinite if velocities are not finite."""
    if not dot(after, after) < INFINITE:
        return INFINITE
    one, other = weighed(before, body.mass), weighed(after, body.mass)
    terms = abs(one) + abs(other) + body.terms + (FLOOR * system.size) * body.sqrt_mass
    return largest(abs(other - one - impulse) / (terms + TINY))


@kernel
def momentum_residual(system):
    """Residual of the balance of momentum in the step, as that of its bodies; impulses are in `total`."""
    worst, ends = zeros_like(system.ground.v), zeros_like(system.ground.v)
    for body in system.bodies:
        kick, one, other = system.dt * body.force, weighed(body.v, body.mass), weighed(body.v_next, body.mass)
        terms = abs(one) + abs(other) + abs(kick) + body.terms + (FLOOR * system.size) * body.sqrt_mass
        worst = larger_of(worst, abs(other - one - (kick + body.total)) / (terms + TINY))
        ends += body.v_next
    return largest(worst) if dot(ends, ends) < INFINITE else INFINITE


@kernel
def joint_residual(system, joint, asked):
    """Relative difference of the velocities of a joint from the required ones."""
    terms = terms_of(joint, joint.a.body.v_next, joint.b.body.v_next) + abs(asked)
    floor = FLOOR * math.sqrt(trace(joint.W)) * system.size
    return largest(abs(rates_after(joint) - asked)) / max(largest(terms) + floor, TINY)
