"""The program of a step: u = W P + b with u = 0 in the rows of joints, and in those of contacts Signorini's condition
0 <= u_N ⟂ P_N >= 0 and Coulomb's law; and its solver.

Joints are eliminated first, with all fill-in. This leaves the program of contacts within joints, which answer their
impulses (c: contacts, j: joints) ::

    u_c = (W_cc - W_cj W_jj^-1 W_jc) P_c + b_c - W_cj W_jj^-1 b_j

It is solved by the semismooth Newton method on the equations of Alart and Curnier (1991), with block elimination in the
order of contacts: the same source for one row (no friction), two (plane) and three (space).
"""

import math

from nonsmooth.compile.kernels import has_incremental_laws, has_other_laws, kernel, piece, solved_outside
from nonsmooth.compile.records.values import (
    diagonal,
    dot,
    identity,
    inverse,
    largest,
    last_axis,
    normal_axis,
    outer,
    products,
    products_of_two,
    trace,
    transposed,
    weighed,
    zeros_like,
)
from nonsmooth.step.impact_fields import CONVEX
from nonsmooth.step.motion import inverse_mass
from nonsmooth.step.tolerances import TINY

#: rounds of Newton's method; the residual at which it ends, in sizes of the rates, and at which it may where it no
#: longer becomes less
ROUNDS, SOLVED, ENOUGH = 50, 1e-14, 1e-11
#: what is not below is no number
INFINITE = 1e300
#: programs that stay near impulses, from a whole diagonal on, and by how much the share of each is less
STAGES, LESS = 10, 0.1


# ---- the program


@kernel
def assemble_diagonal(bond):
    """Effect of impulses along its directions on the velocities of its bodies, and on its own velocities."""
    bond.a.response = weighed(bond.a.directions, inverse_mass(bond.a.body))
    bond.b.response = weighed(bond.b.directions, inverse_mass(bond.b.body))
    bond.W = products_of_two(bond.a.directions, bond.a.response, bond.b.directions, bond.b.response)


@kernel
def assemble_couplings(bond):
    """Delassus blocks with the bonds eliminated before it."""
    for coupling in bond.couplings:
        if coupling.other.on:
            W = zeros_like(coupling.W)
            for share in coupling.shares:
                W += products(share.mine.directions, share.its.response)
            coupling.W = W


@kernel
def assemble_contact(contact, free, share):
    """Its blocks and rows of the program; `free` are the velocities without impulses."""
    assemble_diagonal(contact)
    assemble_couplings(contact)
    set_free(contact, free, share)


@kernel
def set_free(contact, free, share):
    """Its velocities without impulses; the proximal term, a share of the diagonal, prefers those near the present."""
    contact.free = contact.b0 = free
    if share > 0.0:
        ridge = share * contact.W[0][0]
        contact.W = contact.W + ridge * identity(contact.P)
        contact.b0 = free - ridge * contact.P


# ---- its linearisation


@piece
def linearise_friction(contact, within, least):
    """Newton's row of a contact whose normal impulse is the least one; returns the residual as `linearise_contact`."""
    W, P, u, mu = contact.W, contact.P, contact.u, contact.friction
    N, one = normal_axis(P), identity(P)
    normal, tangential, off_N = outer(N, N), one - outer(N, N), P[0] - least
    per_T = trace(tangential) / max(trace(W) - W[0][0], TINY)
    y_T = tangential @ (P - per_T * u)
    length, reach = math.sqrt(dot(y_T, y_T)), mu * least
    if length <= reach and (mu > 0.0 or trace(tangential) == 0.0):  # sticks; without tangential rows: none
        off = tangential @ u
        contact.G, contact.pivot, contact.y = tangential, tangential @ within + normal, -off - off_N * N
        return largest(abs(off + (W[0][0] * off_N) * N))
    d = (1.0 / max(length, TINY)) * y_T
    turn = (reach / max(length, TINY)) * (tangential - outer(d, d))
    off = (1.0 / per_T) * (tangential @ P - reach * d)
    contact.G, contact.y = turn, -off - off_N * N
    contact.pivot = turn @ within + (1.0 / per_T) * (tangential - turn) + normal
    return largest(abs(off + (W[0][0] * off_N) * N))


@kernel
def linearise_contact(contact, within):
    """Newton's row of a contact for the change of its impulses, of effect `within`; the residual as a velocity."""
    W, P, u, mu = contact.W, contact.P, contact.u, contact.friction
    N, one = normal_axis(P), identity(P)
    per_N = 1.0 / W[0][0]
    y_N = P[0] - per_N * u[0]
    if y_N <= 0.0:  # open
        contact.G, contact.pivot, contact.y = 0.0 * one, one, -P
        return largest(abs(P)) * W[0][0]
    tangential = one - outer(N, N)
    if trace(tangential) == 0.0:  # closed
        contact.G, contact.pivot, contact.y = one, within, -u
        return largest(abs(u))
    per_T = trace(tangential) / max(trace(W) - W[0][0], TINY)
    y_T = tangential @ (P - per_T * u)
    length, reach = math.sqrt(dot(y_T, y_T)), mu * y_N
    if length <= reach and mu > 0.0:  # sticks
        contact.G, contact.pivot, contact.y = one, within, -u
        return largest(abs(u))
    d = (1.0 / max(length, TINY)) * y_T
    turn, tilt = (reach / max(length, TINY)) * (tangential - outer(d, d)), mu * outer(d, N)
    G = outer(N, N) + turn + (per_N / per_T) * tilt
    H = (1.0 / per_T) * (tangential - turn - tilt)
    off = u[0] * N + (1.0 / per_T) * (tangential @ P - reach * d)
    contact.G, contact.pivot, contact.y = G, G @ within + H, -off
    return largest(abs(off))


# ---- its elimination


@kernel
def past_joints(coupling):
    """The block of two bonds without what joints that are eliminated before both transmit."""
    W = coupling.W
    for meeting in coupling.joints:
        W -= meeting.mine.lower @ meeting.its.upper
    return W


@kernel
def eliminate_joints(bond, W):
    """Its couplings with the joints eliminated before it, in the block LU, symmetric there; what these leave of W."""
    for coupling in bond.to_joints:
        lower = past_joints(coupling)
        upper = coupling.other.pivot @ transposed(lower)
        W -= lower @ upper
        coupling.lower, coupling.upper = lower, upper
    return W


@piece
def reduce_to_contacts(system):
    """Blocks of the program of contacts within joints, which answer their impulses."""
    for contact in system.contacts:
        if contact.on:
            contact.within = eliminate_joints(contact, contact.W)
            for coupling in contact.to_contacts:
                if coupling.other.on:
                    coupling.within = past_joints(coupling)


@kernel
def block(system, one):
    """Block of a contact, or of the coupling of two, within joints if there are any."""
    return one.within if len(system.joints) else one.W


@kernel
def eliminate(system, contact):
    """Its row of the block LU of contacts, earlier ones eliminated; its y is the right-hand side."""
    G, left, y = contact.G, contact.pivot, contact.y
    for coupling in contact.to_contacts:
        other = coupling.other
        if other.on:
            W = block(system, coupling)
            lower, upper = G @ W, other.G @ transposed(W)
            for meeting in coupling.contacts:
                mine, its = meeting.mine, meeting.its
                if mine.other.on:
                    lower -= mine.lower @ its.upper
                    upper -= its.lower @ mine.upper
            upper = other.pivot @ upper
            left -= lower @ upper
            y -= lower @ other.y
            coupling.lower, coupling.upper = lower, upper
    contact.pivot = inverse(left)
    contact.y = contact.pivot @ y


@kernel
def answer_of_joints(contact):
    """Its rates as joints close theirs, whose right-hand sides are substituted forward."""
    answer = zeros_like(contact.y)
    for coupling in contact.to_joints:
        answer += coupling.lower @ coupling.other.y
    return answer


@kernel
def forward(joint):
    """Forward substitution of another right-hand side with the existing block LU."""
    y = joint.y
    for coupling in joint.to_joints:
        y -= coupling.lower @ coupling.other.y
    joint.y = joint.pivot @ y


@kernel
def forward_contact(contact):
    """Forward substitution of a contact."""
    y = contact.y - contact.G @ answer_of_joints(contact)
    for coupling in contact.to_contacts:
        if coupling.other.on:
            y -= coupling.lower @ coupling.other.y
    contact.y = contact.pivot @ y


@kernel
def backward(contact):
    """Back substitution: its y becomes the solution, and is eliminated from earlier contacts."""
    for coupling in contact.to_contacts:
        other = coupling.other
        if other.on:
            other.y -= coupling.upper @ contact.y


@kernel
def backward_to_joints(bond, y):
    """Elimination of a solution from the right-hand sides of earlier joints."""
    for coupling in bond.to_joints:
        coupling.other.y -= coupling.upper @ y


@piece
def factor_joints(system):
    """The block LU of joints alone, for any right-hand side."""
    for joint in system.joints:
        assemble_diagonal(joint)
        assemble_couplings(joint)
        joint.G = one = identity(joint.P)
        joint.pivot = inverse(eliminate_joints(joint, joint.W + diagonal(joint.empty) + system.ridge * one))


@kernel
def substitute_joints(system):
    """Solve for joints alone, with y as right-hand side and solution."""
    joints = system.joints
    for joint in joints:
        forward(joint)
    for k in range(len(joints) - 1, -1, -1):
        backward_to_joints(joints[k], joints[k].y)


@piece
def solve_joints(system):
    """Impulses y of joints alone that change their velocities by -b0; of least norm if rows are redundant."""
    for joint in system.joints:
        joint.y = -joint.b0
    substitute_joints(system)
    if system.ridge > 0.0:  # remove the component of the right-hand side outside the range of the redundant rows
        for joint in system.joints:
            joint.b0 = joint.y
            joint.y = system.ridge * joint.y
        substitute_joints(system)
        for joint in system.joints:
            joint.y = joint.b0 - joint.y


@piece
def motionless_component(system):
    """The component of the impulses y of joints without effect on motion, by ridge (K + ridge)^-1, applied twice."""
    for _ in range(2):
        for joint in system.joints:
            joint.y = system.ridge * joint.y
        substitute_joints(system)


@kernel
def least_impulses(system):
    """If rows are redundant: of the equivalent impulses P of joints those of least norm."""
    if system.ridge > 0.0:
        for joint in system.joints:
            joint.y = joint.P
        motionless_component(system)
        for joint in system.joints:
            joint.P = joint.P - joint.y


@kernel
def make_consistent(system):
    """Remove the inconsistent component of the right-hand side of redundant joint rows."""
    for joint in system.joints:
        joint.y = joint.b0
    motionless_component(system)
    for joint in system.joints:
        joint.b0 = joint.b0 - joint.y


# ---- its solution


@piece
def begin_within_joints(system):
    """The program of contacts within joints: its blocks, and its rates without impulses of contacts."""
    reduce_to_contacts(system)
    for joint in system.joints:
        joint.y = -joint.b0
        if system.ridge > 0.0:
            joint.y = joint.y + system.ridge * joint.P_near
        forward(joint)
    for contact in system.contacts:
        if contact.on:
            contact.u_within = contact.b0 + answer_of_joints(contact)


@kernel
def rates(system):
    """u of contacts at their impulses, which joints answer."""
    for contact in system.contacts:
        if contact.on:
            P = contact.P
            u = block(system, contact) @ P + (contact.u_within if len(system.joints) else contact.b0)
            for coupling in contact.to_contacts:
                other = coupling.other
                if other.on:
                    W = block(system, coupling)
                    u += W @ other.P
                    other.u += P @ W
            contact.u = u


@piece
def answer_impulses(system):
    """Impulses of joints that answer those of contacts."""
    joints = system.joints
    for contact in system.contacts:
        if contact.on:
            backward_to_joints(contact, contact.P)
    for k in range(len(joints) - 1, -1, -1):
        backward_to_joints(joints[k], joints[k].y)
        joints[k].P = joints[k].y


@kernel
def linearise_edges(contact, within):
    """Newton's row of a contact in the plane whose friction is associated, along both edges of the cone ::

        0 <= u_N +- mu u_T  ⟂  P_N +- P_T / mu >= 0

    Returns the residual as `linearise_contact`.
    """
    W, P, u, mu = contact.W, contact.P, contact.u, contact.friction
    if not mu > 0.0:
        return linearise_contact(contact, within)
    N, T, one, own = normal_axis(P), last_axis(P), identity(P), W[0][0]
    forward = 0.5 * own * dot(N + (1.0 / mu) * T, P) > dot(N + mu * T, u)
    backward = 0.5 * own * dot(N - (1.0 / mu) * T, P) > dot(N - mu * T, u)
    if forward and backward:
        contact.G, contact.pivot, contact.y = one, within, -u
        return largest(abs(u))
    if not (forward or backward):
        contact.G, contact.pivot, contact.y = 0.0 * one, one, -P
        return largest(abs(P)) * own
    signed = mu if forward else -mu
    edge, across = N + signed * T, T - signed * N
    off = dot(edge, u) * N + (own * dot(across, P)) * T
    contact.G, contact.y = outer(N, edge), -off
    contact.pivot = contact.G @ within + own * outer(T, across)
    return largest(abs(off))


@kernel
def linearised_row(system, k):
    """Newton's row of contact k by the laws of the program, see `phase_of_impact`."""
    contact = system.contacts[k]
    within = block(system, contact)
    if has_incremental_laws(system) and system.phase_of_impact == 2:
        one = system.impacts[k]
        if one.slips:  # its friction is given
            unit = identity(contact.P)
            contact.G, contact.pivot, contact.y = 0.0 * unit, unit, one.given_P - contact.P
            return largest(abs(contact.y)) * contact.W[0][0]
        return linearise_friction(contact, within, one.normal_rate)
    if has_other_laws(system):
        if system.phase_of_impact == CONVEX:
            return linearise_edges(contact, within)
        # in expansion normal impulses are at least those that it returns
        expands = system.phase_of_impact == 1 and contact.least > 0.0
        if expands and contact.P[0] - contact.u[0] / contact.W[0][0] <= contact.least:
            return linearise_friction(contact, within, contact.least)
    return linearise_contact(contact, within)


@kernel
def linearise(system, size):
    """Linearise the laws at the present impulses; their residual relative to the rates, whose size is at least this."""
    off = 0.0
    for k in range(len(system.contacts)):
        contact = system.contacts[k]
        if contact.on:
            off = max(off, linearised_row(system, k))
            size = max(size, largest(abs(contact.b0)) + contact.W[0][0] * abs(contact.P[0]))
    return off / size


@kernel
def phase(system):
    """Which laws the program has, see the field `phase_of_impact`."""
    return system.phase_of_impact if has_other_laws(system) else 0


@kernel
def update_contacts(system):
    """Update impulses by the linearised program; whether laws hold: closed contacts remain so, none has friction."""
    contacts, stays = system.contacts, True
    for contact in contacts:
        if contact.on:
            eliminate(system, contact)
    for k in range(len(contacts) - 1, -1, -1):
        contact = contacts[k]
        if contact.on:
            backward(contact)
            P = contact.P = contact.P + contact.y
            stays = stays and contact.friction == 0.0 and contact.G[0][0] == 1.0 and P[0] >= 0.0
    return stays


solve_outside = solved_outside("solver")


@piece
def solve(system):
    """Whether impulses that satisfy the laws were found: from the present ones, by proximal steps with a decreasing
    proximal term, of which the first are easy, or by another solver."""
    if system.solver != 0 and phase(system) != 2:  # rates of change along an impulse are no program of other solvers
        return solve_outside(system) == 1
    if newton(system):
        return True
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    share = 1.0
    for _ in range(STAGES):
        for contact in system.contacts:
            if contact.on:
                assemble_diagonal(contact)
                set_free(contact, contact.free, max(share, system.proximal))
        if not newton(system):
            return False
        share *= LESS
    return True


@piece
def newton(system):
    """Whether impulses that satisfy the laws were found, starting from the present ones of contacts."""
    system.solves += 1
    if len(system.joints):
        begin_within_joints(system)
    before, size = 0.0, TINY
    for joint in system.joints:
        size = max(size, largest(abs(joint.b0)) + largest(abs(joint.W @ joint.base)))
    for k in range(ROUNDS):
        rates(system)
        off = linearise(system, size)
        if off <= SOLVED or (k > 1 and off >= before and off <= ENOUGH):
            if phase(system) != 2:  # where rates of impulses along an impact may be negative
                for contact in system.contacts:  # negative by the residual at which this ends: open
                    if contact.on and contact.P[0] < 0.0:
                        contact.P = zeros_like(contact.P)
            answer_impulses(system)
            # impulses are no numbers after a singular block, which the residual does not tell
            total = 0.0
            for joint in system.joints:
                total += dot(joint.P, joint.P)
            for contact in system.contacts:
                if contact.on:
                    total += dot(contact.P, contact.P)
            return total < INFINITE
        system.rounds += 1
        before = off
        if update_contacts(system) and k == 0 and not phase(system):
            answer_impulses(system)
            return True
    return False
