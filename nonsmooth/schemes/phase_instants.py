"""The motion at one instant of an event-driven run: its record, and the residuals of its equations."""

import math

from nonsmooth.compile.kernels import kernel, piece
from nonsmooth.records.values import dot, larger_of, largest, trace, weighed, zeros_like
from nonsmooth.schemes.joint_forces import reaction_of
from nonsmooth.schemes.mechanism import (
    body_residual,
    powers_of_loads,
    rates_of_jump,
    rates_of_u,
    squared_length,
    tangential,
)
from nonsmooth.schemes.motion import placed, rates_of_position, see
from nonsmooth.tolerances import EPSILON, FLOOR, STICKING, TINY


@piece
def place_at(run, instant):
    """Positions and velocities of bodies at an instant."""
    see(run.system, instant.t)
    for k in range(len(instant.bodies)):
        body, of = run.system.bodies[k], instant.bodies[k]
        body.at, body.u = of.q, of.v
        body.z = placed(of.q)


@kernel
def add_forces(bond):
    """Add the forces of a bond to those on its bodies, and the magnitudes of the forces of each row."""
    P, size, a, b = bond.P, abs(bond.P), bond.a, bond.b
    a.body.total += P @ a.along
    b.body.total += P @ b.along
    a.body.terms += size @ abs(a.along)
    b.body.terms += size @ abs(b.along)


@piece
def error_of_motion(run, instant):
    """Worst residual of the equations of motion, as a share of their terms."""
    system, worst = run.system, 0.0
    system.size = instant.moving + instant.applied
    for body in system.bodies:
        body.total, body.terms = body.force, abs(body.force)
    for joint in system.joints:
        add_forces(joint)
    if run.closed:
        for contact in system.contacts:
            if contact.on:
                add_forces(contact)
    for body in system.bodies:
        worst = max(worst, body_residual(system, body, zeros_like(body.jump), body.jump, body.total))
    return worst


@kernel
def note_contacts(run, instant):
    """Gaps, forces and rates of contacts; the power of friction."""
    power = 0.0
    for k in range(len(instant.contacts)):
        touch, of = run.touches[k], instant.contacts[k]
        contact = touch.contact
        a, b = contact.a, contact.b
        of.gap, of.rates, of.P = contact.g, rates_of_u(contact), contact.P
        of.bend = rates_of_jump(contact) + touch.bias
        of.terms = abs(a.along) @ abs(a.body.u) + abs(b.along) @ abs(b.body.u)
        of.mobility = contact.W[0][0]
        power += dot(of.P, tangential(of.rates))
    instant.friction = power


@piece
def note(run, instant, whole):
    """Store the motion computed by `accelerate`."""
    system, applied, moving, driven = run.system, 0.0, 0.0, 0.0
    instant.t = system.now
    for k in range(len(instant.bodies)):
        body, of = system.bodies[k], instant.bodies[k]
        of.q, of.v, of.a, of.force = body.at, body.u, body.jump, body.force
        of.rate = rates_of_position(body, body.at, body.u)
        applied += squared_length(weighed(body.force, body.inverse_mass), body.mass)
        moving += squared_length(body.jump, body.mass)
    instant.applied, instant.moving = math.sqrt(applied), math.sqrt(moving)
    if whole or run.closed:
        note_contacts(run, instant)
    else:
        instant.friction = 0.0
        for of in instant.contacts:
            of.P = zeros_like(of.P)
    for k in range(len(instant.reactions)):
        of = instant.reactions[k]
        of.force, of.torque = reaction_of(system.reactions[k])
    for joint in system.joints:
        driven -= dot(joint.P, joint.rate)
    instant.drivers = driven
    instant.loads, instant.damping = powers_of_loads(run)
    instant.residual = error_of_motion(run, instant)


@piece
def copy(one, other):
    """Copy the data of another instant."""
    one.t, one.applied, one.moving = other.t, other.applied, other.moving
    one.loads, one.damping, one.drivers, one.friction = other.loads, other.damping, other.drivers, other.friction
    one.residual = other.residual
    for k in range(len(one.bodies)):
        a, b = one.bodies[k], other.bodies[k]
        a.q, a.v, a.rate, a.a, a.force = b.q, b.v, b.rate, b.a, b.force
    for k in range(len(one.contacts)):
        c, d = one.contacts[k], other.contacts[k]
        c.gap, c.rates, c.terms, c.bend, c.P, c.mobility = d.gap, d.rates, d.terms, d.bend, d.P, d.mobility
    for k in range(len(one.reactions)):
        e, f = one.reactions[k], other.reactions[k]
        e.force, e.torque = f.force, f.torque


@piece
def closure_of(run, dt):
    """Rates of joints, closed gaps and sticking slips relative to the sums of their terms, the velocity changes of the
    step included."""
    system, moving, applied, worst = run.system, 0.0, 0.0, 0.0
    for body in system.bodies:
        moving += squared_length(body.u, body.mass)
        applied += squared_length(weighed(body.force, body.inverse_mass), body.mass)
    size = math.sqrt(moving) + dt * math.sqrt(applied)
    for joint in system.joints:
        rates = rates_of_u(joint) + joint.rate
        terms = terms_with_loads(joint, dt) + abs(joint.rate) + FLOOR * math.sqrt(trace(joint.W)) * size + TINY
        worst = max(worst, largest(abs(rates) / terms))
    if run.closed:
        for touch in run.touches:
            contact = touch.contact
            if contact.on:
                rates = rates_of_u(contact)
                terms = terms_with_loads(contact, dt) + FLOOR * math.sqrt(trace(contact.W)) * size
                least = max(EPSILON * contact.scale / dt, TINY)  # a rate that changes a gap by less is zero
                shares = abs(rates) / larger_of(terms, zeros_like(terms) + least)
                worst = max(worst, largest(shares) if touch.mode == STICKING else shares[0])
    return worst


@kernel
def terms_with_loads(bond, dt):
    a, b = bond.a, bond.b
    of_a = abs(a.body.u) + abs(weighed(dt * a.body.force, a.body.inverse_mass))
    of_b = abs(b.body.u) + abs(weighed(dt * b.body.force, b.body.inverse_mass))
    return abs(a.along) @ of_a + abs(b.along) @ of_b
