"""Balanced moment arms of contact forces in Moreau and Jean's scheme: those about the centres of mass moved by u for
(1 - theta) dt, for which the discrete balance of angular momentum is exact, in the plane.

Gaps and their directions W are evaluated at q moved by v for dt/2. With s the displacement of a centre of mass from
there, the moment of a direction is reduced by s_x W_y - s_y W_x.
"""

from nonsmooth.compile.kernels import has_other_laws, is_planar, kernel
from nonsmooth.compile.records.values import normal_axis, outer, planar_motion, vector, zeros_like
from nonsmooth.step.mechanism import rates_before, tangential
from nonsmooth.step.program import assemble_couplings, assemble_diagonal


@kernel
def shifted(s, directions):
    """Directions about a centre displaced by s."""
    at_rest = zeros_like(s)
    across = planar_motion(at_rest, vector(-s[1], s[0], 0.0, 0.0))
    return directions - outer(directions @ across, planar_motion(at_rest, vector(0.0, 0.0, 1.0, 0.0)))


@kernel
def keep_directions(system):
    """Directions in the middle of the step, which moment arms are derived from."""
    for contact in system.contacts:
        contact.start_a, contact.start_b = contact.a.directions, contact.b.directions


@kernel
def displacement(system, body):
    """Displacement of a centre of mass from the middle of the step, where gaps are evaluated."""
    return ((1.0 - system.theta) * system.dt) * body.u - (0.5 * system.dt) * body.v


@kernel
def update_moment_arms(system):
    """Moment arms of closed contacts at the present u, in the plane if requested, and their effect on the program."""
    if has_other_laws(system) and is_planar(system) and system.balanced:
        for contact in system.contacts:
            if contact.on:
                contact.a.directions = shifted(displacement(system, contact.a.body), contact.start_a)
                contact.b.directions = shifted(displacement(system, contact.b.body), contact.start_b)
                assemble_diagonal(contact)
                assemble_couplings(contact)
                N, rates = normal_axis(contact.before), rates_before(contact)
                contact.before = contact.before[0] * N + tangential(rates)  # gap velocities remain those of the gaps
