"""What steps write into their rows; more where velocities jump, or an impulse is that of an impact."""

from nonsmooth.compile.kernels import kernel
from nonsmooth.compile.records.values import dot, largest, zeros_like
from nonsmooth.step.joint_forces import answer_of


@kernel
def jumps_at(system, k):
    """1 if velocities jump at row k, or an impulse there is that of an impact; 0 otherwise."""
    rows = system.rows
    for body in system.bodies:
        if largest(abs(rows.v[k, body] - rows.v_left[k, body])) > 0.0:
            return 1.0
    for contact in system.contacts:
        if max(abs(rows.P_N_impact[k, contact]), largest(abs(rows.P_T_impact[k, contact]))) > 0.0:
            return 1.0
    for one in system.reactions:
        impulse, twist = rows.impulse[k, one], rows.twist[k, one]
        if dot(impulse, impulse) + dot(twist, twist) > 0.0:
            return 1.0
    return 0.0


@kernel
def write_contact(system, k, contact, P, mode):
    """Impulses of a contact in row k, and its mode."""
    rows = system.rows
    rows.P_N[k, contact], rows.P_T[k, contact], rows.mode[k, contact] = P[0], P, mode


@kernel
def write_struck_contact(system, k, contact, impact, before, after):
    """Of an impact in row k: impulses of a contact, and rates of its gap before and after."""
    rows = system.rows
    rows.P_N_impact[k, contact], rows.P_T_impact[k, contact] = impact[0], impact
    rows.gamma_minus[k, contact], rows.gamma_plus[k, contact] = before, after


@kernel
def write_answer(system, k, reaction, struck):
    """Impulse and moment of the impact of row k."""
    rows = system.rows
    if struck:
        rows.impulse[k, reaction], rows.twist[k, reaction] = answer_of(reaction)
    else:
        none = zeros_like(reaction.impulse)
        rows.impulse[k, reaction], rows.twist[k, reaction] = none, none
