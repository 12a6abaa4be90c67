"""Impacts by Newton's law in steps of Moreau and Jean's scheme: which impulses of a step are theirs, and the velocity
without them."""

from nonsmooth.compile.kernels import has_other_laws, kernel
from nonsmooth.compile.records.values import weighed, zeros_like
from nonsmooth.schemes.moreau_jean.tolerances import LASTING
from nonsmooth.step.mechanism import leave_out, round_off, squared_length, terms_of
from nonsmooth.step.motion import inverse_mass
from nonsmooth.step.program import factor_joints


@kernel
def sum_contact_impulses(system):
    """Impulses of contacts on bodies; returns their change in the mass metric."""
    change = 0.0
    for body in system.bodies:
        body.total = zeros_like(body.total)
    for contact in system.contacts:
        if contact.on:
            contact.a.body.total += contact.P @ contact.a.directions
            contact.b.body.total += contact.P @ contact.b.directions
    for body in system.bodies:
        body.jump = body.total - body.contact_impulse
        change += squared_length(weighed(body.jump, inverse_mass(body)), body.mass)
        body.contact_impulse = body.total
    return change


@kernel
def approaches(system, contact):
    """Whether the contact has an impact; one with a similar impulse in the previous step is persistent."""
    lasts = contact.P[0] > 0.0 and contact.P[0] <= LASTING * contact.P_before[0]
    if lasts or not contact.on or contact.before[0] >= 0.0:
        return False
    terms = terms_of(contact, contact.a.body.v, contact.b.body.v)
    return contact.before[0] < -round_off(system, contact, terms[0])


@kernel
def separate_impact(system):
    """Whether the step has an impact; then also v_left, the velocity before it, and the impulses of joints."""
    struck = False
    if has_other_laws(system) and system.law_of_impact > 0:  # impacts are between steps
        return False
    for contact in system.contacts:
        struck = approaches(system, contact) or struck
    if struck:
        factor_joints(system)  # with directions at the end
        sum_contact_impulses(system)
        leave_out(system)
    return struck
