"""Motion with compliant contact: accelerations, forces of contacts and joints, and rates of all that is integrated.

    M a = h + W F + W_g lam,    W_g' a + bias = -2 alpha g' - beta^2 g

with the forces F of the contacts that touch, by their laws, and the right side 0 without Baumgarte's terms. P of
contacts and joints are forces here, F and lam. Stiction forces H, for which slip velocities remain constant, are found
in three steps: H for which all contacts stick, with the joints closed; what the laws admit then; H once more, with what
they admit for the others. Vectors of contacts have rows (normal, tangential ones), of which the first is zero here.
"""

from nonsmooth.compile.kernels import evaluate, is_planar, kernel, piece
from nonsmooth.compile.records.values import (
    dot,
    first_four,
    identity,
    inverse,
    largest,
    linear,
    normal_axis,
    outer,
    products,
    rigid_motion,
    trace,
    vector,
    weighed,
    zeros_like,
)
from nonsmooth.schemes.compliant.tolerances import SHARED
from nonsmooth.step.joint_forces import bias, close_joints, reaction_of
from nonsmooth.step.mechanism import (
    add_impulses,
    evaluate_all,
    evaluate_loads,
    powers_of_loads,
    rates_of_jump,
    rates_of_u,
    tangential,
)
from nonsmooth.step.motion import see
from nonsmooth.step.program import factor_joints, least_impulses
from nonsmooth.step.runge_kutta import note_slopes, place_bodies


@kernel
def evaluate_law(overlap):
    """Force and rates of bristles of a contact that touches; bristles turn with the mean spin about the normal."""
    overlap.bristle_rate = zeros_like(overlap.bristle_rate)  # of which the law writes those that it has
    evaluate(overlap.law)
    if overlap.bristles_count > 0:
        z, s = overlap.bristle, overlap.spin
        overlap.bristle_rate = overlap.bristle_rate + s * vector(z[1], -z[0], z[3], -z[2])


# ---- friction that depends on the stiction force


@kernel
def needs_stiction(overlap):
    """Whether its friction depends on the stiction force."""
    return overlap.sticks == 1 and overlap.touches == 1


@kernel
def friction_of(overlap, holding):
    """Friction that the law admits where `holding` is the stiction force."""
    overlap.holding = holding
    evaluate_law(overlap)
    return tangential(overlap.force)


@piece
def respond_to(run, i, e):
    """Response of all slips to a unit force along e at contact i."""
    contact = run.overlaps[i].contact
    for body in run.system.bodies:
        body.jump = zeros_like(body.jump)
    a, b = contact.a, contact.b
    a.body.jump += e @ weighed(a.directions, a.body.inverse_mass)
    b.body.jump += e @ weighed(b.directions, b.body.inverse_mass)
    for joint in run.system.joints:
        joint.velocity_offset = zeros_like(joint.velocity_offset)
    close_joints(run.system)
    for overlap in run.overlaps:
        if needs_stiction(overlap):
            response = overlap.responses[i]
            response.W = response.W + outer(tangential(rates_of_jump(overlap.contact)), e)


@kernel
def respond_all(run):
    """All responses, and what raises the diagonal of contacts that stick together."""
    for overlap in run.overlaps:
        if needs_stiction(overlap):
            for response in overlap.responses:
                response.W = zeros_like(response.W)
    for i in range(len(run.overlaps)):
        overlap = run.overlaps[i]
        if needs_stiction(overlap):
            one = identity(overlap.force)
            respond_to(run, i, one[1])
            if is_planar(run):
                overlap.ridge = SHARED * overlap.responses[i].W[1][1]
            else:
                respond_to(run, i, one[2])
                a, b = overlap.contact.a, overlap.contact.b
                W = products(a.directions, weighed(a.directions, a.body.inverse_mass))
                W += products(b.directions, weighed(b.directions, b.body.inverse_mass))
                overlap.ridge = 0.5 * SHARED * (trace(W) - W[0][0])  # where joints prevent slip the response vanishes


@piece
def solve_sticking(run):
    """`holding` of contacts that stick, from right sides to forces; the matrix is raised by a share of its diagonal."""
    overlaps = run.overlaps
    for i in range(len(overlaps)):
        overlap = overlaps[i]
        if overlap.held:
            for response in overlap.responses:
                response.left = response.W
            own, N = overlap.responses[i], normal_axis(overlap.force)
            own.left = own.W + outer(N, N) + overlap.ridge * identity(overlap.force)
    for k in range(len(overlaps)):
        if overlaps[k].held:
            pivot = inverse(overlaps[k].responses[k].left)
            for i in range(k + 1, len(overlaps)):
                if overlaps[i].held:
                    factor = overlaps[i].responses[k].left @ pivot
                    overlaps[i].holding -= factor @ overlaps[k].holding
                    for j in range(k + 1, len(overlaps)):
                        if overlaps[j].held:
                            overlaps[i].responses[j].left -= factor @ overlaps[k].responses[j].left
    for k in range(len(overlaps) - 1, -1, -1):
        if overlaps[k].held:
            x = overlaps[k].holding
            for j in range(k + 1, len(overlaps)):
                if overlaps[j].held:
                    x -= overlaps[k].responses[j].left @ overlaps[j].holding
            overlaps[k].holding = inverse(overlaps[k].responses[k].left) @ x


@kernel
def slip_by_given(run, i):
    """Rate of slip i by the friction `given` of all contacts."""
    overlap = run.overlaps[i]
    total = zeros_like(overlap.force)
    for k in range(len(run.overlaps)):
        if needs_stiction(run.overlaps[k]):
            total += overlap.responses[k].W @ run.overlaps[k].given
    return total


@kernel
def hold_each(run):
    """Stiction forces of two contacts in the plane, each with the friction that the law of the other one admits."""
    for overlap in run.overlaps:
        if needs_stiction(overlap):
            overlap.given = friction_of(overlap, overlap.first)
    for i in range(len(run.overlaps)):
        overlap = run.overlaps[i]
        if needs_stiction(overlap):
            own = overlap.responses[i].W[1][1]
            others = slip_by_given(run, i) - own * overlap.given
            overlap.holding = (-1.0 / own) * (overlap.free + others)


@kernel
def hold_together(run):
    """Stiction forces of the others, if contacts that slide or reach their limits have the friction of their laws."""
    for overlap in run.overlaps:
        overlap.held = 0
        if needs_stiction(overlap):
            rates = overlap.rates
            overlap.rates = rates[0] * normal_axis(rates)
            at_rest = friction_of(overlap, overlap.first)
            overlap.rates = rates
            moving, other = friction_of(overlap, overlap.first), friction_of(overlap, tangential(-1.0 - overlap.first))
            # laws whose force does not depend on the stiction force
            slides = largest(abs(moving - other)) == 0.0
            stays = largest(abs(at_rest - overlap.first)) == 0.0 and not slides
            overlap.held = 1 if stays else 0
            overlap.given = zeros_like(moving) if stays else moving if slides else at_rest
    for i in range(len(run.overlaps)):
        overlap = run.overlaps[i]
        if overlap.held:
            overlap.holding = -(overlap.free + slip_by_given(run, i))
    solve_sticking(run)
    for overlap in run.overlaps:
        if needs_stiction(overlap) and not overlap.held:
            overlap.holding = overlap.first


@piece
def add_stiction_forces(run):
    """Friction of contacts whose laws depend on the stiction force, added to the forces on bodies."""
    if not run.sticking:
        return
    for body in run.system.bodies:
        body.jump = weighed(body.total, body.inverse_mass)
    bias(run.system)
    close_joints(run.system)
    for overlap in run.overlaps:
        overlap.held = 1 if needs_stiction(overlap) else 0
        if overlap.held:
            overlap.free = tangential(rates_of_jump(overlap.contact) + overlap.bias)
            overlap.holding = -overlap.free
    respond_all(run)
    solve_sticking(run)
    for overlap in run.overlaps:
        overlap.first = overlap.holding
    if run.pairwise:
        hold_each(run)
    else:
        hold_together(run)
    for overlap in run.overlaps:
        if needs_stiction(overlap):
            contact = overlap.contact
            contact.P = friction_of(overlap, overlap.holding)
            add_impulses(contact, contact.a.directions, contact.b.directions)
            contact.P = overlap.force


# ---- accelerations and rates


@piece
def accelerate(run):
    """Accelerations, `jump`, and forces at the present positions and velocities u; `total` are all but joint forces.
    Second derivatives of joints along the motion alone have Baumgarte's terms, if there are any."""
    system = run.system
    evaluate_all(system.surfaces)
    evaluate_all(run.turns)
    evaluate_loads(system)
    for body in system.bodies:
        body.total, body.terms = body.force, abs(body.force)
    for overlap in run.overlaps:
        contact, overlap.rates = overlap.contact, rates_of_u(overlap.contact)
        if overlap.bristles_count > 0:
            overlap.bristle = linear(overlap.bristles.tried)
        if overlap.touches:
            overlap.depth, overlap.closing = max(-contact.g, 0.0), -overlap.rates[0]
            evaluate_law(overlap)
            contact.P = overlap.force[0] * normal_axis(contact.P) if overlap.sticks else overlap.force
            add_impulses(contact, contact.a.directions, contact.b.directions)
        else:
            overlap.force = contact.P = zeros_like(contact.P)
            overlap.elastic, overlap.bristle_rate = 0.0, zeros_like(overlap.bristle_rate)
    if len(system.joints):
        evaluate_all(system.constraints)
        evaluate_all(system.biases)
        if run.feedback:
            for joint in system.joints:
                rate, own = rates_of_u(joint) + joint.rate, joint.bias_acceleration
                joint.bias_acceleration = own + (2.0 * run.alpha) * rate + (run.beta * run.beta) * joint.g
        factor_joints(system)
    add_stiction_forces(run)
    for body in system.bodies:
        body.jump = weighed(body.total, body.inverse_mass)
    bias(system)
    close_joints(system)


@kernel
def rows_of(x, like):
    """Components of a contact, as those of `like`, from a motion."""
    one = identity(like)
    rows = x[0] * one[0] + x[1] * one[1]
    return rows if is_planar(x) else rows + x[2] * one[2]


@piece
def rates_at(run, t, k):
    """Rates of the trial values of all blocks at time t, as stage k."""
    system, stored, lost, rubbed, driven = run.system, 0.0, 0.0, 0.0, 0.0
    see(system, t)
    run.evaluations += 1
    place_bodies(run)
    accelerate(run)
    note_slopes(run, k)
    for overlap in run.overlaps:
        stage, F, rates = overlap.impulse.stages[k], overlap.force, overlap.rates
        stage.value = first_four(stage.value, vector(F[0], F[1], 0.0 if is_planar(stage.value) else F[2], 0.0))
        if overlap.bristles_count > 0:
            of_bristles = overlap.bristles.stages[k]
            of_bristles.value = first_four(of_bristles.value, overlap.bristle_rate)
        stored -= overlap.elastic * rates[0]
        lost -= (F[0] - overlap.elastic) * rates[0]
        rubbed -= dot(F, rates) - F[0] * rates[0]
    least_impulses(system)
    for joint in system.joints:
        joint.y = joint.P
        driven -= dot(joint.P, joint.rate)
    for wrench in run.wrenches:
        of_wrench = wrench.impulse.stages[k]
        force, torque = reaction_of(wrench.reaction)
        if is_planar(of_wrench.value):
            of_wrench.value = first_four(of_wrench.value, vector(force[0], force[1], torque[0], 0.0))
        else:
            of_wrench.value = rigid_motion(zeros_like(of_wrench.value), force, torque)
    power, damping = powers_of_loads(run)
    of_contacts, of_loads = run.contact_work.stages[k], run.load_work.stages[k]
    of_contacts.value = first_four(of_contacts.value, vector(stored, lost, rubbed, driven))
    of_loads.value = first_four(of_loads.value, vector(power, damping, 0.0, 0.0))
