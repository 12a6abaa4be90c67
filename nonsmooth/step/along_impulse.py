"""Impacts integrated along the normal impulse, by the laws of Routh and Stronge, in the plane.

With impulses that grow as dP_N = w ds, w in proportion to the first approach velocities, all velocities are linear in s
between the break points at which a slip vanishes, compression ends, or expansion ends ::

    dP_T = -mu dP_N sgn(gamma_T)                       while it slips
    |dP_T| <= mu dP_N with dgamma_T = 0, else slip     where it does not

By Stronge's law expansion returns the share e^2 of the work of compression, by Routh's the share e of its impulse.
Contacts that approach receive impulse together, those that this makes approach in the next round.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import dot, identity, largest, normal_axis, outer, zeros_like
from nonsmooth.step.impact_fields import LAWS
from nonsmooth.step.impact_tolerances import ALIKE, CORNERS, DIED, ROUNDS, ZERO
from nonsmooth.step.mechanism import apply_impulses, norm, rates_after, tangential, terms_of, zero_rate
from nonsmooth.step.program import assemble_couplings, assemble_diagonal, newton
from nonsmooth.step.tolerances import PROXIMAL, TINY

ROUTH = LAWS.index("routh")


# ---- rounds


@kernel
def approach(system):
    """Contacts that approach take part in a round, those of the impact that are on; the largest of their velocities."""
    fastest = 0.0
    for one in system.impacts:
        contact = one.contact
        rate = rates_after(contact)
        approaches = one.closed and rate[0] < -zero_rate(system, contact)
        contact.on = 1 if approaches else 0
        if approaches:
            one.touched, one.weight = 1, -rate[0]
            fastest = max(fastest, -rate[0])
    if system.alone:
        for one in system.impacts:
            if one.contact.on and one.weight < fastest:
                one.contact.on = 0
    return fastest


@kernel
def begin_round(system, fastest):
    """The program of a round and what its contacts begin with; their number."""
    count = 0
    for joint in system.joints:
        joint.b0 = joint.P = joint.P_near = zeros_like(joint.P)
    for one in system.impacts:
        contact = one.contact
        if contact.on:
            count += 1
            assemble_diagonal(contact)
            assemble_couplings(contact)
            contact.P = zeros_like(contact.P)
            one.e = contact.restitution if one.weight > contact.threshold else 0.0
            one.weight /= fastest
            one.start = one.rates = rates_after(contact)
            one.P, one.presses = zeros_like(contact.P), 1
            one.stored = one.taken = one.given = one.stopping = one.off = 0.0
    return count


@piece
def follow(system):
    """Rounds from v_next, the first of contacts that are on, until none approaches or they have decayed (whether; `on`
    are those that were in one then). Impulses are in `impact` of contacts and `answer` of joints."""
    first = 0.0
    for joint in system.joints:
        joint.answer = zeros_like(joint.answer)
    for one in system.impacts:
        contact = one.contact
        one.closed, one.touched, contact.impact = contact.on, 0, zeros_like(contact.P)
    for k in range(ROUNDS):
        for body in system.bodies:
            body.v_terms = abs(body.reached) + abs(body.v_next)
        fastest = approach(system)
        first = max(first, fastest)
        if fastest == 0.0:
            return True, False
        if k == ROUNDS - 1 or fastest < DIED * first:
            for one in system.impacts:
                one.contact.on = one.touched
            return True, True
        system.phase_of_impact = 2
        found = take_round(system, begin_round(system, fastest))
        system.phase_of_impact = 0
        if not found:
            return False, False
    return False, False


@kernel
def take_round(system, count):
    """From break point to break point until all expansions have ended; whether they have."""
    for _ in range(CORNERS * count):
        if not rates_of_change(system):
            return False
        length = shortest(system)
        if not length < math.inf:
            return False
        if advance(system, length) == 0:
            check_round(system)
            return True
    return False


# ---- from one break point to the next


@piece
def rates_of_change(system):
    """Impulses per s, in P, and changes of rates by them, in u; whether they were found."""
    for one in system.impacts:
        contact = one.contact
        if contact.on:
            slip = tangential(one.rates)
            speed = norm(slip)
            one.slips = 1 if speed > 0.0 or not one.presses else 0
            one.normal_rate = one.weight if one.presses else 0.0
            against = (contact.friction * one.normal_rate / max(speed, TINY)) * slip
            one.given_P = one.normal_rate * normal_axis(slip) - against
    if not (find_impulses(system, 0.0) or find_impulses(system, PROXIMAL)):
        return False
    for joint in system.joints:
        add_terms_of(joint)
    for contact in system.contacts:
        if contact.on:
            add_terms_of(contact)
    for one in system.impacts:
        contact = one.contact
        if contact.on:
            small, still = ZERO * largest(contact.y), not one.slips
            N, slip = normal_axis(contact.u), tangential(contact.u)
            one.sticks = 1 if still and largest(abs(slip)) <= small else 0
            change = contact.u[0] if abs(contact.u[0]) > small else 0.0
            contact.u = change * N + (0.0 if largest(abs(slip)) <= small else 1.0) * slip
    return True


@piece
def find_impulses(system, share):
    """Impulses per s, in P; whether they were found. Friction of contacts that stick need not be unique, as at the
    corners of a block: proximal steps with a share of their diagonals find it, from none."""
    if share > 0.0:
        for joint in system.joints:
            joint.P = joint.P_near = zeros_like(joint.P)
        for one in system.impacts:
            one.contact.P = zeros_like(one.contact.P)
    for _ in range(3 if system.ridge > 0.0 or share > 0.0 else 1):
        for one in system.impacts:
            contact = one.contact
            if contact.on:
                assemble_diagonal(contact)
                N, ridge = normal_axis(contact.P), share * contact.W[0][0]
                contact.W = contact.W + ridge * (identity(contact.P) - outer(N, N))
                contact.b0 = -ridge * tangential(contact.P)
        if not newton(system):
            return False
        for joint in system.joints:
            joint.P_near = joint.P
    return True


@kernel
def add_terms_of(bond):
    """Sums of the sizes of the terms of u, in y."""
    size = abs(bond.P)
    y = abs(bond.W) @ size
    for coupling in bond.couplings:
        other = coupling.other
        if other.on:
            y += abs(coupling.W) @ abs(other.P)
            other.y += size @ abs(coupling.W)
    bond.y = y


@kernel
def compresses(one):
    rate = one.rates[0]
    return rate < 0.0 or (rate == 0.0 and one.contact.u[0] < 0.0)


@kernel
def expansion_left(system, one):
    """Length after which the expansion of a contact ends."""
    rate, change, push = one.rates[0], one.contact.u[0], one.normal_rate
    if one.e == 0.0 or one.stored <= 0.0:
        return 0.0
    if system.law_of_impact == ROUTH:
        return one.stored / push
    root = rate * rate + 2.0 * change * one.stored / push  # push (rate s + change s^2 / 2) = stored
    if root < 0.0 or rate + math.sqrt(root) == 0.0:
        return math.inf
    return 2.0 * one.stored / push / (rate + math.sqrt(root))


@kernel
def shortest(system):
    """The length to the first break point."""
    length = math.inf
    for one in system.impacts:
        contact = one.contact
        if contact.on and one.presses:
            u, slip = contact.u, tangential(one.rates)
            one.slip_ends = one.turns = one.ends = math.inf
            against = dot(slip, u)
            if against < 0.0 and not one.sticks:
                one.slip_ends = -dot(slip, slip) / against
            if one.rates[0] * u[0] < 0.0:
                one.turns = -one.rates[0] / u[0]
            if not compresses(one):
                one.ends = expansion_left(system, one)
            length = min(length, min(one.slip_ends, min(one.turns, one.ends)))
    return length


@kernel
def advance(system, length):
    """State, work and impulse of compression at the break point, error of Coulomb's law; how many still expand."""
    left, end = 0, length * (1.0 + ALIKE)
    for joint in system.joints:
        joint.answer += length * joint.P
        apply_impulses(joint, length * joint.P)
    for one in system.impacts:
        contact = one.contact
        if contact.on:
            compressing, P, before = compresses(one), length * contact.P, one.rates
            contact.impact += P
            apply_impulses(contact, P)
            one.P += P
            one.rates = before + length * contact.u
            middle = 0.5 * (before + one.rates)
            work, slip, push = P[0] * middle[0], tangential(middle), tangential(P)
            one.taken += min(work, 0.0)
            one.given += max(work, 0.0)
            one.stopping += P[0] if middle[0] < 0.0 else 0.0
            speed, reach = norm(slip), contact.friction * P[0]
            off_edge = largest(abs(push + (reach / max(speed, TINY)) * slip))
            off_cone = max(norm(push) - reach, -P[0])
            one.off = max(one.off, max(min(contact.W[0][0] * off_edge, speed), contact.W[0][0] * off_cone))
            if one.presses:
                # expansion spends what compression has stored: impulse by Routh's law, work by Stronge's
                if system.law_of_impact == ROUTH:
                    one.stored += (one.e if compressing else -1.0) * one.normal_rate * length
                else:
                    one.stored -= (one.e * one.e if compressing else 1.0) * work
                rates, N = one.rates, normal_axis(contact.P)
                normal = 0.0 if one.turns <= end else rates[0]
                held = 0.0 if one.slip_ends <= end or one.sticks else 1.0
                one.rates = normal * N + held * tangential(rates)
                if one.ends <= end or (one.turns <= end and compressing and one.e == 0.0):
                    one.presses, one.stored = 0, 0.0
                left += one.presses
    return left


@piece
def check_round(system):
    """Residual of a round from its break points: velocities to their round-off, Coulomb's law, restitution, energy."""
    speed, size, energy, worst = 0.0, TINY, 0.0, 0.0
    for one in system.impacts:
        contact = one.contact
        if contact.on:
            own = contact.W[0][0] * one.P[0]
            speed = max(speed, max(largest(abs(one.start)), largest(abs(one.rates))) + own)
            size = max(size, one.P[0])
            energy += 0.5 * dot(one.P, one.start + one.rates)
    for one in system.impacts:
        contact = one.contact
        if contact.on:
            restitution = abs(one.P[0] - (1.0 + one.e) * one.stopping) / size
            if system.law_of_impact != ROUTH:
                restitution = abs(one.given + one.e * one.e * one.taken) / (size * speed)
            terms = largest(terms_of(contact, contact.a.body.v_terms, contact.b.body.v_terms))
            drift = largest(abs(rates_after(contact) - one.rates)) / (speed + terms)
            worst = max(worst, max(max(drift, one.off / speed), restitution))
    system.law = max(system.law, max(worst, energy / (size * speed)))
