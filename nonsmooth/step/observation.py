"""Derived quantities of recorded rows: true gaps and gap velocities, constraint violations, energies, powers."""

from nonsmooth.compile.kernels import kernel
from nonsmooth.compile.records.values import largest
from nonsmooth.step.mechanism import evaluate_all
from nonsmooth.step.motion import energy_product, placed
from nonsmooth.step.tolerances import DONE


@kernel
def measure(system):
    """Kinetic energy, power of loads and of damping, with bodies that move by u; true gaps and their rates."""
    evaluate_all(system.true_surfaces)
    evaluate_all(system.powers)
    kinetic, power, damping = 0.0, 0.0, 0.0
    for body in system.bodies:
        kinetic += 0.5 * energy_product(body.u, body.u, body.mass)
    for one in system.accounts:
        power += one.power
        damping += one.damping
    return kinetic, power, damping


@kernel
def evaluate_row(system, k):
    """Quantities of row k after its impact, if there is one, with bodies at their recorded placements."""
    views, potential, closure = system.views, 0.0, 0.0
    for body in system.bodies:
        body.u = system.rows.v[k, body]
    views.kinetic[k], views.power[k], views.damping[k] = measure(system)
    for contact in system.contacts:
        views.gap[k, contact], views.rate[k, contact] = contact.true_gap, contact.true_rate
    for one in system.accounts:
        potential += one.potential
    evaluate_all(system.closures)
    for joint in system.joints:
        closure = max(closure, largest(abs(joint.closure)))
    views.potential[k], views.closure[k] = potential, closure


@kernel
def evaluate_before_jump(system, k):
    """Quantities before jump number k, at the placements of its row."""
    views = system.views
    for body in system.bodies:
        body.u = system.rows.v_left[k, body]
    views.kinetic_left[k], views.power_left[k], views.damping_left[k] = measure(system)
    for contact in system.contacts:
        views.rate_left[k, contact] = contact.true_rate


def observe(system, count):
    """This number of rows, whose times, positions and velocities are given, and velocities before jumps at some."""
    rows, jump = system.rows, 0
    for k in range(count):
        system.seen = rows.t[k]
        for body in system.bodies:
            body.at = rows.q[k, body]
            body.z = placed(body.at)
        evaluate_row(system, k)
        if rows.jumps[k] > 0.0:
            evaluate_before_jump(system, jump)
            jump += 1
    return DONE
