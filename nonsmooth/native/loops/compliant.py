"""The equations of motion with compliant contact: accelerations, forces of joints, and rates of all that is integrated.

As in `nonsmooth.steppers.compliant_equations`, element by element: the joints are eliminated on their graph. U holds
accelerations, FORCE the applied forces with those of contacts, KICK those without.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from numba import njit

from nonsmooth.native.compliant_table import *
from nonsmooth.native.loops.bodies import *
from nonsmooth.native.loops.dop853 import running
from nonsmooth.native.loops.holding import *
from nonsmooth.native.loops.matrix import *
from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.modes import *
from nonsmooth.native.loops.residuals import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.table import *


@njit(**OPT)
def spread(A, f, y, origin):  # type: ignore[no-untyped-def]
    """Coordinates, velocities and bristles of y to bodies and gaps; coordinates of y count from `origin`."""
    bodies, first = lc(A, N_BODIES), f + lc(A, GAPS)
    for k in range(bodies):
        body, q, v = f + GROUND + BODY_STEP * (k + 1), 24 * k, y + 24 * (bodies + k)
        x, o = y + q, origin + q
        st3(body + 8 * Q, ld(x, 0) + ld(o, 0), ld(x, 1) + ld(o, 1), ld(x, 2) + ld(o, 2))
        st3(body + 8 * V, ld(v, 0), ld(v, 1), ld(v, 2))
    for k in range(lc(A, N_GAPS)):
        gap, law = first + GAP_STEP * k, law_of(A, k)
        copy(y + lc(law, L_FIRST), gap + 8 * BRISTLE, lc(law, L_BRISTLES))


@njit(**OPT)
def contacts_of(A, f):  # type: ignore[no-untyped-def]
    """True gaps and directions at Q, which is placed; OPENING, the rates of the gaps."""
    z, v, first = more(A, f, Z0), f + 8 * V, f + lc(A, GAPS)
    place(A, f + 8 * Q, z)
    contacts_at(A, f, z, v, 0)
    for k in range(lc(A, N_GAPS)):
        gap = first + GAP_STEP * k
        st(gap, OPENING, along(gap + 8 * TRUE_RATE, v + lc(gap, GAP_A), v + lc(gap, GAP_B)))


@njit(**OPT)
def applied_forces(A, f):  # type: ignore[no-untyped-def]
    """FORCE and KICK without those of contacts."""
    clear4(f + GROUND + 8 * FORCE)
    forces_at(A, f, ld(f, TIME), more(A, f, Z0), f + 8 * V)
    copy_bodies(A, f + 8 * FORCE, more(A, f, KICK))


@njit(**OPT)
def contact_forces(A, f):  # type: ignore[no-untyped-def]
    """Forces between surfaces that touch, added to FORCE, and the rates of their bristles.

    Friction of what asks for the force that would hold it comes later.
    """
    force, v, first = f + 8 * FORCE, f + 8 * V, f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap, law = first + GAP_STEP * k, law_of(A, k)
        a, b = lc(gap, GAP_A), lc(gap, GAP_B)
        st(gap, SLIP, along(gap + SLIDE, v + a, v + b))
        if not ld(gap, TOUCHES) > 0.0:
            clear(gap + 8 * FORCE_N, 3)
            clear(gap + 8 * BRISTLE_RATE, lc(law, L_BRISTLES))
            continue
        st(gap, DEPTH, max(-ld(gap, TRUE), 0.0))
        st(gap, CLOSING, -ld(gap, OPENING))
        ask_law(A, f, k)
        push_by(gap + 8 * TRUE_RATE, ld(gap, FORCE_N), force + a, force + b)
        if not lc(law, L_HOLDS):
            push_by(gap + SLIDE, ld(gap, FORCE_T), force + a, force + b)


@njit(**OPT)
def prepare_joints(A, f, factored):  # type: ignore[no-untyped-def]
    """Directions of joints and what their second derivatives hold besides, with feedback.

    The matrix is `factored` where it is that of these coordinates already.
    """
    v, r, first = f + 8 * V, running(A, f), f + lc(A, ROWS)
    evaluate(A, f, lc(A, JOINT_0), lc(A, JOINT_1), more(A, f, Z0), v, 0)
    for k in range(lc(A, N_ROWS)):
        row = first + ROW_STEP * k
        st(row, MULTIPLIER, 0.0)
        if li(r, R_FEEDBACK):
            rate = along(row + DIRECTION, v + lc(row, ROW_A), v + lc(row, ROW_B)) + ld(row, ROW_RATE)
            back = 2.0 * ld(r, R_ALPHA) * rate + ld(r, R_BETA) ** 2 * ld(row, ROW_G)
            st(row, DRIFT, ld(row, DRIFT) + back)
    if not factored:
        factor_joints(A, f, 0)


@njit(**OPT)
def joint_forces(A, f):  # type: ignore[no-untyped-def]
    """Forces of joints that keep them closed; U, the accelerations, follow."""
    u, x = more(A, f, U), f + lc(A, RHS_A)
    clear4(u + GROUND)
    for _ in range(5 if li(f, RAISED) else 1):
        joint_rates(A, f, 0, u, x)
        answer_joints(A, f, 0, x, MULTIPLIER, u)


@njit(**OPT)
def accelerate(A, f, factored):  # type: ignore[no-untyped-def]
    """U, and the forces of contacts and joints, at TIME, Q, V and bristles; `factored` as in `prepare_joints`."""
    contacts_of(A, f)
    applied_forces(A, f)
    contact_forces(A, f)
    if lc(A, N_ROWS):
        prepare_joints(A, f, factored)
    if lc(A, I_HOLDS):
        hold(A, f)
    for k in range(1, lc(A, N_BODIES) + 1):
        b = f + GROUND + BODY_STEP * k
        product4(more(A, b, U), 1.0, b + 8 * INVERSE, b + 8 * FORCE)
    if lc(A, N_ROWS):
        joint_forces(A, f)


@njit(**OPT)
def gather(A, f, rates):  # type: ignore[no-untyped-def]
    """dy/dt of what `accelerate` found; works as `compliant_equations.WORKS` has them."""
    bodies = lc(A, N_BODIES)
    for k in range(bodies):
        body, x = f + GROUND + BODY_STEP * (k + 1), rates + 24 * k
        copy(body + 8 * V, x, 3)
        copy(more(A, body, U), x + 24 * bodies, 3)
    stored = lost = rubbed = 0.0
    first = f + lc(A, GAPS)
    for k in range(lc(A, N_GAPS)):
        gap, law = first + GAP_STEP * k, law_of(A, k)
        copy(gap + 8 * BRISTLE_RATE, rates + lc(law, L_FIRST), lc(law, L_BRISTLES))
        N, T, elastic, opening = ld(gap, FORCE_N), ld(gap, FORCE_T), ld(gap, ELASTIC), ld(gap, OPENING)
        st(rates + lc(A, I_NORMAL), k, N)
        st(rates + lc(A, I_TANGENTIAL), k, T)
        stored -= elastic * opening
        lost -= (N - elastic) * opening
        rubbed -= T * ld(gap, SLIP)
    reactions(A, f, 0, more(A, f, Z0), MULTIPLIER, 1.0, S_REACTION, False)
    first = f + lc(A, JOINTS)
    for k in range(lc(A, N_JOINTS)):
        copy(first + JOINT_STEP * k + 8 * S_REACTION, rates + lc(A, I_REACTION) + 24 * k, 3)
    work = rates + lc(A, I_WORK)
    loads, damping = load_powers(A, f, f + 8 * V)
    st(work, 0, stored)
    st(work, 1, lost)
    st(work, 2, rubbed)
    st(work, 3, loads)
    st(work, 4, damping)
    st(work, 5, driven(A, f, 0, MULTIPLIER))


def compliant_rates(A, f, y, rates):  # type: ignore[no-untyped-def]
    """rates = dy/dt at TIME; where y is 0, accelerations of bodies as they stand, which a projection has left there."""
    r, row = running(A, f), y == 0
    if not row:
        si(r, R_EVALUATIONS, li(r, R_EVALUATIONS) + 1)
        spread(A, f, y, f + lc(A, I_ORIGIN))
    accelerate(A, f, row and li(r, R_PROJECTED) != 0)
    if not row:
        gather(A, f, rates)
    return 0
