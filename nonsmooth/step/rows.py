"""The row of a step in the tables: the only place where steps of all schemes write them.

Schemes of programs leave P, `before`, `after` and `impact` of contacts, P_a, P_b and `answer` of joints, `at`, v_next
and `left` of bodies as they are to be written.
"""

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.compile.records.values import dot, largest
from nonsmooth.step.joint_forces import mean_reaction, reaction_of
from nonsmooth.step.mechanism import mode_of


@kernel
def write_step(system, t, work, loss):
    """End and length of the step, its residuals, work of drivers and frictional loss; velocities do not jump in it."""
    k, rows = system.steps, system.rows
    rows.t[k], rows.dt[k] = t, system.dt
    rows.residual[k], rows.complementarity[k] = system.residual, system.complementarity
    rows.work_drivers[k], rows.loss_friction[k], rows.jumps[k] = work, loss, 0.0


@kernel
def add_work(system, work):
    """Work of drivers in an impact that follows the step, and is added to its row."""
    system.rows.work_drivers[system.steps] += work


@kernel
def write_contact(system, contact, P, mode):
    """Impulses of a contact, and its mode."""
    k, rows = system.steps, system.rows
    rows.P_N[k, contact], rows.P_T[k, contact], rows.mode[k, contact] = P[0], P, mode


@kernel
def write_reaction(system, reaction, force, torque):
    """Mean force and torque of a joint."""
    k, rows = system.steps, system.rows
    rows.force[k, reaction], rows.torque[k, reaction] = force, torque


@kernel
def write_motion(system, body, q, v):
    """Position and velocity of a body."""
    k, rows = system.steps, system.rows
    rows.q[k, body], rows.v[k, body] = q, v


@kernel
def write_loads(system, work, damping, lost, stored):
    """Work of loads, losses by damping and in contacts, and what these store, where schemes integrate them."""
    k, rows = system.steps, system.rows
    rows.work_loads[k], rows.loss_damping[k] = work, damping
    rows.loss_contact[k], rows.stored[k] = lost, stored


# ---- impacts


@kernel
def write_jump(system, body, left):
    """Velocity of a body before the impact."""
    system.rows.v_left[system.steps, body] = left


@kernel
def write_contact_impact(system, contact, impact, before, after):
    """Impulses of the impact in a contact, and rates of its gap before and after."""
    k, rows = system.steps, system.rows
    rows.P_N_impact[k, contact], rows.P_T_impact[k, contact] = impact[0], impact
    rows.gamma_minus[k, contact], rows.gamma_plus[k, contact] = before, after


@kernel
def write_impact_reaction(system, reaction, impulse, moment):
    """Impulse and moment of the impact in a joint."""
    k, rows = system.steps, system.rows
    rows.impulse[k, reaction], rows.twist[k, reaction] = impulse, moment


@piece
def mark_jump(system, work):
    """Work of drivers in the impact; whether velocities jump, or an impulse is that of an impact."""
    k, rows, jumps = system.steps, system.rows, 0.0
    for body in system.bodies:
        if largest(abs(rows.v[k, body] - rows.v_left[k, body])) > 0.0:
            jumps = 1.0
    for contact in system.contacts:
        if max(abs(rows.P_N_impact[k, contact]), largest(abs(rows.P_T_impact[k, contact]))) > 0.0:
            jumps = 1.0
    for one in system.reactions:
        impulse, moment = rows.impulse[k, one], rows.twist[k, one]
        if dot(impulse, impulse) + dot(moment, moment) > 0.0:
            jumps = 1.0
    rows.work_drivers_impact[k], rows.jumps[k] = work, jumps


# ---- schemes whose programs find impulses


@kernel
def write_row(system, t, work, loss, from_start):
    """The row of a step without its impact; `from_start`: joints have impulses P_a along directions at its start."""
    write_step(system, t, work, loss)
    for one in system.reactions:
        force, torque = mean_reaction(system, one, from_start)
        write_reaction(system, one, force, torque)
    for contact in system.contacts:
        write_contact(system, contact, contact.P, mode_of(contact))
    for body in system.bodies:
        write_motion(system, body, body.at, body.v_next)


@kernel
def write_impact(system):
    """Write what is before the impact of the step, and its impulses."""
    work = 0.0
    for body in system.bodies:
        write_jump(system, body, body.left)
    for contact in system.contacts:
        write_contact_impact(system, contact, contact.impact, contact.before[0], contact.after[0])
    for joint in system.joints:
        work -= dot(joint.answer, joint.rate)
        joint.y = joint.answer
    for one in system.reactions:
        impulse, moment = reaction_of(one)
        write_impact_reaction(system, one, impulse, moment)
    mark_jump(system, work)
