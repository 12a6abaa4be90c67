"""Friction in the plane through its exact LCP, for solvers of LCPs."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError
from nonsmooth.programs import LCP, FrictionContact, Solution, lcp_from_friction_contact
from nonsmooth.solvers.normalised import NormalisedContact
from nonsmooth.solvers.polish import polished_contact

#: regularisation of the unit diagonal until bilateral and tangential rows are independent; refinement removes its
#: effect
SHIFTS = (0.0, 1e-6, 1e-4)
REFINEMENTS = 20
ROUND_OFF = 1e-15
NEAR = 1e-3  # residual below which Newton steps are tried on a solution with a regularised diagonal


def planar_friction(
    scaled: NormalisedContact,
    guess: Solution | None,
    solve: Callable[[LCP, Solution | None], Solution],
    solver: Any,
) -> Solution:
    """Solve a FrictionContact in the plane through `lcp_from_friction_contact`, to the tolerance of `solver`.

    If the rows that it eliminates are dependent, A + s and b - s z replace A and b, with z the previous solution
    (proximal-point method), so that the iteration converges to a solution for A itself.
    """
    active = _active(scaled, guess)
    m, e = scaled.b.size, scaled.e
    best, error = np.zeros(m), np.inf
    iterations, complaint = 0, ""
    for shift in SHIFTS:
        z, stagnation = np.zeros(m), 0
        for _ in range(REFINEMENTS):
            A = scaled.A + shift * np.eye(m) if shift else scaled.A
            try:
                lcp, recover = lcp_from_friction_contact(
                    FrictionContact(A, scaled.b - shift * z, scaled.mu, scaled.d, e)
                )
            except InputError:
                break
            start = None if active is None else Solution(lcp.b, np.zeros(lcp.b.size), "", 0, "", active)
            answer = solve(lcp, start)
            iterations += answer.iterations
            if answer.status != "solved":
                complaint = complaint or answer.status.split(": residual")[0]
            if not np.isfinite(answer.y).all():
                break
            z = recover(answer.y)
            active = answer.active
            found = scaled.residual(z)
            if ROUND_OFF < found < NEAR and shift:
                z = polished_contact(scaled, z)
                found = scaled.residual(z)
            stagnation = 0 if found < 0.5 * error else stagnation + 1
            if found < error:
                best, error = z, found
            if shift == 0.0 or error <= ROUND_OFF or stagnation == 2:
                break
        if error <= 0.1 * solver.tolerance:
            break
    return scaled.solution(best, iterations, solver, complaint or "no solution without a regularised diagonal")


def _active(scaled: NormalisedContact, guess: Solution | None) -> NDArray[np.bool_] | None:
    """Rows of the LCP whose unknown is positive: closed, slipping forward, slipping backward."""
    if guess is None or guess.active is None or guess.active.shape != scaled.b.shape or guess.x.shape != scaled.b.shape:
        return None
    rows = scaled.contact_rows(guess.active)
    rough = scaled.mu > 0.0
    slip = np.where(rows[:, 1], 0.0, scaled.contact_rows(guess.x)[:, 1])[rough]
    return np.concatenate((rows[:, 0], slip > 0.0, slip < 0.0))
