"""Motion with compliant contact: accelerations, forces of contacts and joints, and rates of all that is integrated.

    M a = h + W F + W_g lam,    W_g' a + bias = -2 alpha g' - beta^2 g

with the forces F of the contacts that touch, by their laws, and the right side 0 without Baumgarte's terms. P of
contacts and joints are forces here, F and lam.
"""

from nonsmooth.compile.kernels import by_dimension, kernel, piece
from nonsmooth.records.values import (
    dot,
    first_four,
    identity,
    linear,
    normal_axis,
    rigid_motion,
    vector,
    weighed,
    zeros_like,
)
from nonsmooth.schemes.joint_forces import bias, close_joints, reaction_of
from nonsmooth.schemes.mechanism import add_impulses, evaluate_all, evaluate_loads, powers_of_loads, rates_of_u
from nonsmooth.schemes.motion import placed, rates_of_position, see
from nonsmooth.schemes.program import factor_joints, least_impulses
from nonsmooth.schemes.sticking import add_stiction_forces, evaluate_law

# ---- numbers of contacts and joints as motions of bodies, of whose width `like` is, and back


@kernel
def impulse_in_plane(like, F):
    return first_four(like, vector(F[0], F[1], 0.0, 0.0))


@kernel
def impulse_in_space(like, F):
    return first_four(like, vector(F[0], F[1], F[2], 0.0))


@kernel
def rows_in_plane(x, like):
    one = identity(like)
    return x[0] * one[0] + x[1] * one[1]


@kernel
def rows_in_space(x, like):
    one = identity(like)
    return x[0] * one[0] + x[1] * one[1] + x[2] * one[2]


@kernel
def wrench_in_plane(like, force, torque):
    return first_four(like, vector(force[0], force[1], torque[0], 0.0))


@kernel
def wrench_in_space(like, force, torque):
    return rigid_motion(zeros_like(like), force, torque)


impulse_of = by_dimension(impulse_in_plane, impulse_in_space)  # (like, F): of rows
rows_of = by_dimension(rows_in_plane, rows_in_space)  # (impulse, like)
wrench_of = by_dimension(wrench_in_plane, wrench_in_space)  # (like, force, torque)


# ---- forces


@kernel
def place_trial(run):
    """Bodies and bristles at the trial values of the integrator."""
    for course in run.courses:
        body = course.body
        body.at = course.q.origin + course.q.tried
        body.z = placed(body.at)
        body.u = course.v.tried
    for overlap in run.overlaps:
        if overlap.bristles_count > 0:
            overlap.bristle = linear(overlap.bristles.tried)


@kernel
def evaluate_contact_forces(run):
    """Forces of contacts, but friction that depends on the stiction force."""
    for overlap in run.overlaps:
        contact = overlap.contact
        overlap.rates = rates_of_u(contact)
        if overlap.touches:
            overlap.depth, overlap.closing = max(-contact.g, 0.0), -overlap.rates[0]
            evaluate_law(overlap)
            contact.P = overlap.force[0] * normal_axis(contact.P) if overlap.sticks else overlap.force
            add_impulses(contact, contact.a.along, contact.b.along)
        else:
            overlap.force = contact.P = zeros_like(contact.P)
            overlap.elastic, overlap.bristle_rate = 0.0, zeros_like(overlap.bristle_rate)


@kernel
def evaluate_joints(run):
    """Second derivatives of joints along the motion alone, with feedback, and the block LU of the joints."""
    system = run.system
    evaluate_all(system.constraints)
    evaluate_all(system.biases)
    if run.feedback:
        for joint in system.joints:
            rate = rates_of_u(joint) + joint.rate
            joint.bend = joint.bend + (2.0 * run.alpha) * rate + (run.beta * run.beta) * joint.g
    factor_joints(system)


@piece
def accelerate(run):
    """Accelerations, `jump`, and forces at the present positions and velocities u; `total` are all but joint forces."""
    system = run.system
    evaluate_all(system.surfaces)
    evaluate_all(run.turns)
    evaluate_loads(system)
    for body in system.bodies:
        body.total, body.terms = body.force, abs(body.force)
    evaluate_contact_forces(run)
    if len(system.joints):
        evaluate_joints(run)
    add_stiction_forces(run)
    for body in system.bodies:
        body.jump = weighed(body.total, body.inverse_mass)
    bias(system)
    close_joints(system)


# ---- rates


@kernel
def write_rates(run, k):
    """Rates of all parts as stage k."""
    system = run.system
    stored, lost, rubbed, driven = 0.0, 0.0, 0.0, 0.0
    for course in run.courses:
        body = course.body
        course.q.stages[k].value = rates_of_position(body, body.at, body.u)
        course.v.stages[k].value = body.jump
    for overlap in run.overlaps:
        stage, F, rates = overlap.impulse.stages[k], overlap.force, overlap.rates
        stage.value = impulse_of(stage.value, F)
        if overlap.bristles_count > 0:
            of_bristles = overlap.bristles.stages[k]
            of_bristles.value = first_four(of_bristles.value, overlap.bristle_rate)
        stored -= overlap.elastic * rates[0]
        lost -= (F[0] - overlap.elastic) * rates[0]
        rubbed -= dot(F, rates) - F[0] * rates[0]
    least_impulses(system)
    for wrench in run.wrenches:
        stage = wrench.impulse.stages[k]
        force, torque = reaction_of(wrench.reaction)
        stage.value = wrench_of(stage.value, force, torque)
    for joint in system.joints:
        driven -= dot(joint.P, joint.rate)
    power, damping = powers_of_loads(run)
    of_contacts, of_loads = run.contact_work.stages[k], run.load_work.stages[k]
    of_contacts.value = first_four(of_contacts.value, vector(stored, lost, rubbed, driven))
    of_loads.value = first_four(of_loads.value, vector(power, damping, 0.0, 0.0))


@piece
def rates_at(run, t, k):
    """Rates of the trial values at time t, as stage k."""
    see(run.system, t)
    run.evaluations += 1
    place_trial(run)
    accelerate(run)
    write_rates(run, k)
