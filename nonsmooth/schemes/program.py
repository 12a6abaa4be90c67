"""The program of a step: u = W P + b with u = 0 in the rows of joints, and in those of contacts Signorini's condition
0 <= u_N ⟂ P_N >= 0 and Coulomb's law; and the solver that is built in.

Semismooth Newton on the equations of Alart and Curnier (1991), by block elimination: the same text for one row (no
friction), two (plane) and three (space). Bonds are eliminated in their order, joints first, with all couplings that
this order makes.
"""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import (
    diagonal,
    dot,
    identity,
    inverse,
    largest,
    normal_axis,
    outer,
    products,
    trace,
    transposed,
    weighed,
    zeros_like,
)

#: rounds of Newton's method; the residual at which it ends, in sizes of the rates, and at which it may where it no
#: longer becomes less
ROUNDS, SOLVED, ENOUGH, TINY = 50, 1e-14, 1e-11, 1e-300
#: what is not below is no number
INFINITE = 1e300
#: programs that stay near impulses, from a whole diagonal on, and by how much the share of each is less
STAGES, LESS = 10, 0.1


# ---- the program


@kernel
def weigh(bond):
    """What impulses along its directions do to the velocities of its bodies, and to its own rates."""
    bond.a.moves = weighed(bond.a.along, bond.a.body.inverse_mass)
    bond.b.moves = weighed(bond.b.along, bond.b.body.inverse_mass)
    bond.W = products(bond.a.along, bond.a.moves) + products(bond.b.along, bond.b.moves)


@kernel
def couple(bond):
    """How impulses of bonds before it change its rates."""
    for coupling in bond.couplings:
        if coupling.other.on:
            W = zeros_like(coupling.W)
            for share in coupling.shares:
                W += products(share.mine.along, share.its.moves)
            coupling.W = W


@kernel
def pose_contact(contact, free, share):
    """Its rows: `free` are the rates without impulses.

    With a share of the diagonal, among impulses that act alike, those near the ones that it has are preferred: a step
    of the proximal point method.
    """
    contact.free = contact.b0 = free
    if share > 0.0:
        ridge = share * contact.W[0][0]
        contact.W = contact.W + ridge * identity(contact.P)
        contact.b0 = free - ridge * contact.P


# ---- its linearisation


@kernel
def linearise_joint(joint, ridge):
    one = identity(joint.P)
    joint.G, joint.pivot = one, joint.W + diagonal(joint.empty) + ridge * one


@kernel
def linearise_contact(contact):
    """Newton's row of a contact for the change of its impulses; by how much its laws are off, as a rate."""
    W, P, u, mu = contact.W, contact.P, contact.u, contact.friction
    N, one = normal_axis(P), identity(P)
    per_N = 1.0 / W[0][0]
    y_N = P[0] - per_N * u[0]
    if y_N <= 0.0:  # open
        contact.G, contact.pivot, contact.y = 0.0 * one, one, -P
        return largest(abs(P)) * W[0][0]
    tangential = one - outer(N, N)
    per_T = trace(tangential) / max(trace(W) - W[0][0], TINY)
    y_T = tangential @ (P - per_T * u)
    length, reach = math.sqrt(dot(y_T, y_T)), mu * y_N
    if length <= reach and (mu > 0.0 or trace(tangential) == 0.0):  # sticks; without tangential rows: closed
        contact.G, contact.pivot, contact.y = one, W, -u
        return largest(abs(u))
    d = (1.0 / max(length, TINY)) * y_T
    turn, tilt = (reach / max(length, TINY)) * (tangential - outer(d, d)), mu * outer(d, N)
    G = outer(N, N) + turn + (per_N / per_T) * tilt
    H = (1.0 / per_T) * (tangential - turn - tilt)
    off = u[0] * N + (1.0 / per_T) * (tangential @ P - reach * d)
    contact.G, contact.pivot, contact.y = G, G @ W + H, -off
    return largest(abs(off))


# ---- its elimination


@kernel
def eliminate(bond):
    """Its row of the block LU; its own y is the right side, those of bonds before it are eliminated already."""
    G, left, y = bond.G, bond.pivot, bond.y
    for coupling in bond.couplings:
        other = coupling.other
        if other.on:
            lower, upper = G @ coupling.W, other.G @ transposed(coupling.W)
            for meeting in coupling.meetings:
                mine, its = meeting.mine, meeting.its
                if mine.other.on:
                    lower -= mine.lower @ its.upper
                    upper -= its.lower @ mine.upper
            upper = other.pivot @ upper
            left -= lower @ upper
            y -= lower @ other.y
            coupling.lower, coupling.upper = lower, upper
    bond.pivot = inverse(left)
    bond.y = bond.pivot @ y


@kernel
def forward(bond):
    """The same for another right side, where the block LU is there."""
    y = bond.y
    for coupling in bond.couplings:
        if coupling.other.on:
            y -= coupling.lower @ coupling.other.y
    bond.y = bond.pivot @ y


@kernel
def backward(bond):
    """Its y is the answer; what those before it owe to it."""
    for coupling in bond.couplings:
        other = coupling.other
        if other.on:
            other.y -= coupling.upper @ bond.y


@piece
def factor_joints(system):
    """The block LU of joints alone, whatever the right sides."""
    for joint in system.joints:
        weigh(joint)
        couple(joint)
        linearise_joint(joint, system.ridge)
        joint.y = zeros_like(joint.y)
        eliminate(joint)


@kernel
def substitute_joints(system):
    """Of the right sides y of joints the answers."""
    joints = system.joints
    for joint in joints:
        forward(joint)
    for k in range(len(joints) - 1, -1, -1):
        backward(joints[k])


@piece
def answer_of_joints(system):
    """y of joints alone: the impulses that change their rates by minus b0, the least ones where rows are redundant."""
    for joint in system.joints:
        joint.y = -joint.b0
    substitute_joints(system)
    if system.ridge > 0.0:  # take away what the rows, which contradict each other, ask for beyond their directions
        for joint in system.joints:
            joint.b0 = joint.y
            joint.y = system.ridge * joint.y
        substitute_joints(system)
        for joint in system.joints:
            joint.y = joint.b0 - joint.y


@piece
def no_motion(system):
    """Of the impulses y of joints the part that moves nothing: twice ridge (K + ridge)^-1 leaves it alone."""
    for _ in range(2):
        for joint in system.joints:
            joint.y = system.ridge * joint.y
        substitute_joints(system)


@kernel
def agree(system):
    """Without what redundant rows of joints ask for in contradiction to each other."""
    for joint in system.joints:
        joint.y = joint.b0
    no_motion(system)
    for joint in system.joints:
        joint.b0 = joint.b0 - joint.y


# ---- its solution


@kernel
def rate(bond):
    """u of the impulses as they are; later bonds add to it."""
    P = bond.P
    u = bond.W @ P + bond.b0
    for coupling in bond.couplings:
        other = coupling.other
        if other.on:
            u += coupling.W @ other.P
            other.u += P @ coupling.W
    bond.u = u


@kernel
def rates(system):
    """u of all bonds in the program; of redundant joints with what keeps them near impulses known."""
    for joint in system.joints:
        rate(joint)
    for contact in system.contacts:
        if contact.on:
            rate(contact)
    if system.ridge > 0.0:
        for joint in system.joints:
            joint.u = joint.u + system.ridge * (joint.P - joint.P_near)


@kernel
def linearise(system):
    """The laws linearised at the impulses as they are; by how much they are off, as a share of the rates."""
    off, size = 0.0, TINY
    for joint in system.joints:
        joint.y = -joint.u
        off = max(off, largest(abs(joint.u)))
        size = max(size, largest(abs(joint.b0)) + largest(abs(joint.W @ joint.P)))
    for contact in system.contacts:
        if contact.on:
            off = max(off, linearise_contact(contact))
            size = max(size, largest(abs(contact.b0)) + contact.W[0][0] * abs(contact.P[0]))
    return off / size


@kernel
def correct(system):
    """Impulses changed by the answer of the linearised program; whether they obey the laws at once: all that are closed
    stay so, and none has friction."""
    joints, contacts, stays = system.joints, system.contacts, True
    for joint in joints:
        forward(joint)
    for contact in contacts:
        if contact.on:
            eliminate(contact)
    for k in range(len(contacts) - 1, -1, -1):
        contact = contacts[k]
        if contact.on:
            backward(contact)
            P = contact.P = contact.P + contact.y
            stays = stays and contact.friction == 0.0 and contact.G[0][0] == 1.0 and P[0] >= 0.0
    for k in range(len(joints) - 1, -1, -1):
        backward(joints[k])
        joints[k].P = joints[k].P + joints[k].y
    return stays


@piece
def solve(system):
    """Whether impulses were found that obey the laws: from the impulses as they are, else from afar."""
    return newton(system) or come_near(system)


@piece
def come_near(system):
    """The program by ones that stay near the impulses of the one before, ever less: the first ones are easy."""
    for contact in system.contacts:
        contact.P = zeros_like(contact.P)
    for joint in system.joints:
        joint.P = zeros_like(joint.P)
    share = 1.0
    for _ in range(STAGES):
        for contact in system.contacts:
            if contact.on:
                weigh(contact)
                pose_contact(contact, contact.free, max(share, system.proximal))
        if not newton(system):
            return False
        share *= LESS
    return True


@piece
def newton(system):
    """Whether impulses were found that obey the laws, from the impulses as they are."""
    system.solves += 1
    before = 0.0
    for k in range(ROUNDS):
        rates(system)
        off = linearise(system)
        if off <= SOLVED or (k > 1 and off >= before and off <= ENOUGH):
            return True
        system.rounds += 1
        before = off
        if correct(system) and k == 0:
            return True
    return False
