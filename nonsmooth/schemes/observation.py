"""Derived quantities of recorded rows: true gaps and gap velocities, constraint violations, energies, powers."""

from nonsmooth.compile.kernels import kernel
from nonsmooth.records.values import largest
from nonsmooth.schemes.mechanism import evaluate_all
from nonsmooth.schemes.motion import energy_product, placed
from nonsmooth.tolerances import DONE


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
def evaluate_after_impact(system, k):
    """Quantities after the impact of row k, if there is one, with bodies at their recorded placements."""
    n, m, view = len(system.bodies), len(system.contacts), system.views[k]
    for i in range(n):
        system.bodies[i].u = system.body_rows[k * n + i].v
    view.kinetic, view.power, view.damping = measure(system)
    for j in range(m):
        at, contact = system.contact_views[k * m + j], system.contacts[j]
        at.gap, at.rate = contact.true_gap, contact.true_rate
    view.potential = view.closure = 0.0
    for one in system.accounts:
        view.potential += one.potential
    evaluate_all(system.closures)
    for joint in system.joints:
        view.closure = max(view.closure, largest(abs(joint.closure)))


@kernel
def evaluate_before_impact(system, k):
    """Quantities before the impact of row k, at which velocities jump."""
    n, m, view = len(system.bodies), len(system.contacts), system.views[k]
    for i in range(n):
        system.bodies[i].u = system.body_rows[k * n + i].v_left
    view.kinetic_left, view.power_left, view.damping_left = measure(system)
    for j in range(m):
        system.contact_views[k * m + j].rate_left = system.contacts[j].true_rate


def observe(system, rows):
    """This number of rows, whose times, positions and velocities are given."""
    n = len(system.bodies)
    for k in range(rows):
        system.seen = system.views[k].t
        for i in range(n):
            body, at = system.bodies[i], system.body_rows[k * n + i]
            body.at = at.q
            body.z = placed(at.q)
        evaluate_after_impact(system, k)
        if system.views[k].jumps > 0.0:
            evaluate_before_impact(system, k)
    return DONE
