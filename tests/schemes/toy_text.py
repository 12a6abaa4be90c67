"""The text of a toy stepper, by the recipe in CONTRIBUTING.md: symplectic Euler with plastic contacts."""

from nonsmooth.compile.kernels import kernel
from nonsmooth.compile.records.values import dot, weighed, zeros_like
from nonsmooth.step.grid import run_of
from nonsmooth.step.mechanism import (
    add_impulses,
    apply_all_impulses,
    evaluate_all,
    evaluate_loads,
    law_residual,
    momentum_residual,
    place_by_u,
    rates_after,
    rates_before,
    set_impulse_scales,
    tangential,
    touches,
)
from nonsmooth.step.motion import inverse_mass, moved
from nonsmooth.step.program import assemble_couplings, assemble_diagonal, set_free, solve
from nonsmooth.step.rows import write_impact, write_row
from nonsmooth.step.tolerances import DONE, UNCERTAIN


@kernel
def place(system):
    """Placements of bodies and gaps of contacts at the start of the step."""
    for body in system.bodies:
        body.u, body.total, body.terms = body.v, zeros_like(body.v), zeros_like(body.v)
    place_by_u(system, 0.0)
    evaluate_all(system.surfaces)


@kernel
def assemble(system):
    """The program of the contacts that touch: without impulses bodies move at v + dt M^-1 h."""
    for body in system.bodies:
        body.v_next = body.v + weighed(system.dt * body.force, inverse_mass(body))
    for contact in system.contacts:
        contact.P = contact.impact = contact.before = contact.after = zeros_like(contact.P)
        contact.on = 1 if touches(contact) else 0
        if contact.on:
            assemble_diagonal(contact)
            assemble_couplings(contact)
            contact.before = rates_before(contact)
            set_free(contact, rates_after(contact), 0.0)


@kernel
def finish(system):
    """The row of the step, with what friction dissipates, and its impact."""
    loss, struck = 0.0, False
    for contact in system.contacts:
        if contact.on and contact.P[0] > 0.0 and contact.before[0] < -contact.threshold:
            contact.impact, struck = contact.P, True
        elif contact.on:
            loss -= dot(contact.P, tangential(0.5 * (contact.before + contact.after)))
    for body in system.bodies:
        body.at = moved(body, body.q, body.v_next, system.dt)
    write_row(system, system.t_next, 0.0, loss, False)
    if struck:
        write_impact(system)
    for body in system.bodies:
        body.q, body.v = body.at, body.v_next
    system.t, system.last_dt = system.t_next, system.dt
    system.steps += 1


@kernel
def step(system):
    """v+ = v + M^-1 (dt h(q, v) + W P),  q+ = q moved by v+ for dt, with the laws of contact for W^T v+ and P."""
    place(system)
    evaluate_loads(system)
    assemble(system)
    if not solve(system):
        return UNCERTAIN
    apply_all_impulses(system)
    system.law = 0.0
    for contact in system.contacts:
        if contact.on:
            add_impulses(contact, contact.a.directions, contact.b.directions)
            contact.after = rates_after(contact)
            system.law = max(system.law, law_residual(system, contact, contact.after))
    system.residual = momentum_residual(system)
    if not max(system.residual, system.law) <= system.certified:
        return UNCERTAIN
    finish(system)
    return DONE


run = run_of(step)


def begin(system):
    """Typical impulses of the contacts."""
    system.dt = system.longest
    place(system)
    set_impulse_scales(system)
    return DONE
