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


def observe(system, count):
    """Evaluate rows at given times and states after impacts, and quantities before the jumps at some of them."""
    rows, views, jump = system.rows, system.views, 0
    for k in range(count):
        potential, closure = 0.0, 0.0
        system.seen = rows.t[k]
        for body in system.bodies:
            body.at = rows.q[k, body]
            body.z = placed(body.at)
        for body in system.bodies:
            body.u = rows.v[k, body]
        views.kinetic[k], views.power[k], views.damping[k] = measure(system)
        for contact in system.contacts:
            views.gap[k, contact], views.rate[k, contact] = contact.true_gap, contact.true_rate
        for one in system.accounts:
            potential += one.potential
        evaluate_all(system.closures)
        for joint in system.joints:
            closure = max(closure, largest(abs(joint.closure)))
        views.potential[k], views.closure[k] = potential, closure
        if rows.jumps[k] > 0.0:
            for body in system.bodies:
                body.u = rows.v_left[jump, body]
            views.kinetic_left[jump], views.power_left[jump], views.damping_left[jump] = measure(system)
            for contact in system.contacts:
                views.rate_left[jump, contact] = contact.true_rate
            jump += 1
    return DONE
