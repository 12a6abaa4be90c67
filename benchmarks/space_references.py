"""Motions of the spatial problems from equations other than those of the library, without gaps or joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import solve_banded

from nonsmooth_problems.spatial_slider_crank import CASES

__all__ = ["hanging_chain", "slider_crank"]

GRAVITY = 9.81


def hanging_chain(
    swing: Any, length: float, mass: float, inertia: float, clearance: float, gravity: float, time: float
) -> Any:
    """Centre (3,) [m] of the last link, while all balls stay in contact: clearances are massless links.

    Link i has its centre at r_i and its upper end at r_i + (l/2) u_i, |u_i| = 1, without spin. With n_i the direction
    from the socket above to the ball, |b_i - s_i| = c, the ball feels -lambda_i n_i, and

        n_i . (b_i'' - s_i'') = -|b_i' - s_i'|^2 / c

    is a tridiagonal system of the lambda_i, by A+ = 1/m + (l^2/4J) (1 - u u'), A- = 1/m - (l^2/4J) (1 - u u').

    Parameters
    ----------
    swing : (n + 1, 3) [m/s]
        Velocities of the joints at the start, where the chain hangs straight.
    """
    n, half, lever = len(swing) - 1, length / 2, length**2 / (4 * inertia)
    free = np.array([0.0, 0.0, -gravity])

    def forces(state: Any) -> tuple[Any, Any, Any]:
        r, u, v, rate = state.reshape(4, n, 3)
        along, across = r + half * u, v + half * rate
        e, de = along.copy(), across.copy()
        e[1:] -= r[:-1] - half * u[:-1]
        de[1:] -= v[:-1] - half * rate[:-1]
        direction = e / clearance
        turning = half * np.einsum("ij,ij->i", rate, rate)[:, None] * u

        def moved(sign: float, i: Any, d: Any) -> Any:
            """A+ or A- of the links i, times d."""
            return d / mass + sign * lever * (d - np.einsum("ij,ij->i", u[i], d)[:, None] * u[i])

        def onto(a: Any, b: Any) -> Any:
            return np.einsum("ij,ij->i", a, b)

        upper, lower = slice(0, n - 1), slice(1, n)
        bands = np.zeros((3, n))
        bands[1] = onto(direction, moved(1.0, slice(0, n), direction))
        bands[1, 1:] += onto(direction[lower], moved(1.0, upper, direction[lower]))
        bands[0, 1:] = -onto(direction[upper], moved(-1.0, upper, direction[lower]))
        bands[2, :-1] = -onto(direction[lower], moved(-1.0, upper, direction[upper]))
        given = free - turning
        given[1:] -= free + turning[:-1]
        tension = solve_banded((1, 1), bands, onto(direction, given) + onto(de, de) / clearance)
        top = -tension[:, None] * direction
        bottom = np.vstack([-top[1:], np.zeros(3)])
        return tension, top, bottom

    def rates(_: float, state: Any) -> Any:
        _, u, v, rate = state.reshape(4, n, 3)
        _, top, bottom = forces(state)
        push = top - bottom
        across = push - np.einsum("ij,ij->i", u, push)[:, None] * u
        bent = half / inertia * across - np.einsum("ij,ij->i", rate, rate)[:, None] * u
        return np.concatenate([v, rate, free + (top + bottom) / mass, bent]).ravel()

    depth = np.arange(1, n + 1) * clearance + (np.arange(n) + 0.5) * length
    r, u = np.zeros((n, 3)), np.zeros((n, 3))
    r[:, 2], u[:, 2] = -depth, 1.0
    start = np.concatenate([r, u, (swing[:-1] + swing[1:]) / 2, (swing[:-1] - swing[1:]) / length]).ravel()

    def parts(_: float, state: Any) -> float:
        return float(np.min(forces(state)[0]))

    parts.terminal = True  # type: ignore[attr-defined]
    run = solve_ivp(rates, (0.0, time), start, "DOP853", rtol=1e-10, atol=1e-12, events=parts)
    if run.status != 0:
        raise RuntimeError(f"a ball of the chain leaves its socket at {run.t[-1]:.6g} s: the reference ends there.")
    return run.y[:, -1].reshape(4, n, 3)[0, -1]


def slider_crank(time: float) -> float:
    """Place of the slider [m] of the ideal mechanism "rssp": the angle of its crank from the energy alone."""
    one = CASES["rssp"]
    _, rod, slider = one.masses
    turning, across = one.inertias[0][0], one.inertias[1][1]
    line, slide = np.array(one.line), np.array(one.slide)

    def parts(theta: float) -> tuple[float, float]:
        """Twice the kinetic energy over the square of the crank's speed, and the potential energy."""
        (pin, moves), (place, rate) = one.crank_pin(theta), one.slider(theta)
        centre, velocity = (pin + line + place * slide) / 2, (moves + rate * slide) / 2
        swing = (moves - rate * slide) / one.rod
        moving = turning + rod * velocity @ velocity + across * swing @ swing + slider * rate**2
        return float(moving), rod * GRAVITY * float(centre[2])

    moving, height = parts(0.0)
    energy = moving * one.speed**2 / 2 + height

    def speed(_: float, theta: Any) -> list[float]:
        moving, height = parts(float(theta[0]))
        return [np.sqrt(2 * (energy - height) / moving)]

    run = solve_ivp(speed, (0.0, time), [0.0], "DOP853", rtol=1e-12, atol=1e-13)
    return one.slider(float(run.y[0, -1]))[0]
