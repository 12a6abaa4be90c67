"""Assembly: joint constraints satisfied from an initial guess, consistent velocities, and a report of what moved.

Positions first: Gauss-Newton steps on the constraint residual, of least change in the mass metric, with the damping of
Levenberg and Marquardt where a full step does not achieve the predicted decrease. No body rotates by more than `TURN`
in a step, so that the mechanism ends in the assembly mode next to the guess. Dependent rows are admitted.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.bodies import Body
from nonsmooth.model.checks import CLOSED, check_motion, check_rates, rates_of
from nonsmooth.model.evaluate import ConstraintRows, Placements
from nonsmooth.model.redundancy import MANY, weighted
from nonsmooth.model.state import Assembly, Moved, State
from nonsmooth.model.system import System, check_finite

#: constraint residual [m or rad] at which assembly ends: round-off of lengths of the order of 1 m
ASSEMBLED = 1e-14
ITERATIONS = 200
#: number of accepted steps within which the sum of squares of the residuals must halve
PATIENCE = 20
#: largest rotation of a body in one step [rad]
TURN = 0.5
#: share of the predicted decrease from which a step is accepted; shares below and above which the damping is raised and
#: lowered
ACCEPTED, POOR, GOOD = 0.1, 0.25, 0.75
#: smallest nonzero damping, in units of directions of norm 1; first damping after a rejected step; largest damping
SLIGHT, DAMPED, STRONGEST = 1e-4, 1e-2, 1e3
#: predicted decrease, as a share of the sum of squares, below which the iterate is stationary
STATIONARY = 1e-9
#: rotations [rad] by which the guess is perturbed, one attempt each, if assembly from it fails
DISTURBED = (0.03, 0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8)
#: times that velocities are solved for: once, and again for what round-off has left where they are large
REFINED = 2
#: residual [m or rad] up to which a pose is one: at the end of the reach the iteration converges no further
NEARLY = 1e-7
#: number of joints named in an error message
NAMED = 3


class _Reached(NamedTuple):
    """Coordinates, the bodies there, the rows of joints and their residuals, and the number of steps."""

    q: Array
    at: Placements
    rows: ConstraintRows
    residual: Array
    steps: int

    @property
    def worst(self) -> float:
        return float(np.max(np.abs(self.residual), initial=0.0))


def closed_start(system: System, state: State, parameters: Array) -> State:
    """An initial state near `state` with satisfied joints and consistent velocities, see `assembled`."""
    return assembled(system, state, parameters).start


def assembled(system: System, state: State, parameters: Array) -> Assembly:
    """Satisfy the joints from an initial guess, then make velocities consistent, by least change in the mass metric.
    The linear and the angular velocity of a body are regarded as given if they are not zero. Given velocities are kept
    if the others can follow; where joints or drivers do not allow it, they change by the least kinetic energy first."""
    e, t, q, p = system.elementwise, state.t, state.q, parameters
    check_finite("The coordinate", q, system.names.q)
    check_finite("The velocity", state.v, system.names.v)
    if not system.ng:
        return Assembly(state, state, _moved(system, state, state), 0.0, 0.0, 0, 1)
    at = e.placed(q, state.v, p)
    rows, residual = e.constraints(t, at, p)
    check_motion(system, t, residual + rates_of(rows, at.velocities))
    found, attempts = _closed(system, t, _Reached(q, at, rows, residual, 0), p)
    directions = weighted(found.rows, found.at.masses, e.first_rows)
    kept = np.ones(at.velocities.shape, dtype=bool)  # given; rates of deformation always are
    for part in (slice(0, e.linear), slice(e.linear, e.rigid)):
        kept[:, part] = np.any(at.velocities[:, part] != 0.0, axis=1)[:, None]
    v, left = state.v, rates_of(found.rows, at.velocities)
    for _ in range(REFINED):
        v = v + e.in_order(directions.least_change(-left, kept=kept))
        left = rates_of(found.rows, e.by_body(v))
        if np.all(np.abs(left) <= CLOSED):
            break
    check_rates(system, directions, left)
    start = dataclasses.replace(state, q=found.q, v=v)
    rate = float(np.max(np.abs(left)))
    return Assembly(start, state, _moved(system, state, start), found.worst, rate, found.steps, attempts)


def closed_pose(system: System, t: float, q: Array, parameters: Array, *, nearby: bool = False) -> Array | None:
    """Coordinates that satisfy joints and drivers, from q and, unless `nearby`, from perturbed guesses; or None."""
    guess = _reached(system, t, q, parameters, 0)
    if nearby:
        found = guess if guess.worst <= NEARLY else _descended(system, t, guess, parameters)
        return found.q if found.worst <= NEARLY else None
    try:
        return _closed(system, t, guess, parameters)[0].q
    except ModelError:
        return None


def _closed(system: System, t: float, guess: _Reached, p: Array) -> tuple[_Reached, int]:
    """Satisfied joints from the guess or, if that fails, from perturbed guesses; and the number of attempts."""
    best = found = _descended(system, t, guess, p)
    e, attempts = system.elementwise, 1
    if best.worst > CLOSED and system.ng <= MANY:
        random, masses = np.random.default_rng(0), guess.at.masses
        rigid, linear = e.rigid, e.linear
        inertia = np.trace(masses[:, linear:rigid, linear:rigid], axis1=1, axis2=2) / (rigid - linear)
        for turn in DISTURBED:  # bodies are rotated by about so much, and moved by this times their radius of gyration
            u = np.zeros((len(masses), e.width))
            u[:, :rigid] = turn * random.normal(size=(len(masses), rigid))
            u[:, :linear] *= np.sqrt(inertia / masses[:, 0, 0])[:, None]
            found = _descended(system, t, _reached(system, t, e.advance(guess.q, e.in_order(u), 1.0), p, 0), p)
            attempts += 1
            best = found if found.worst < best.worst else best
            if best.worst <= CLOSED:
                break
    if best.worst <= CLOSED:
        return best, attempts
    # the worst row of each open joint, first those that require the largest motion of the bodies
    names, units = system.constraint_names, system.names.constraint_units
    lengths = np.abs(best.residual) / weighted(e.violations(t, best.at, p), best.at.masses, e.first_rows).norms
    by_joint: dict[str, str] = {}
    for i in np.argsort(-lengths):
        if abs(best.residual[i]) > CLOSED:
            said = f'"{names[i]}" stays open by {best.residual[i]:.6g} {units[i]}'
            by_joint.setdefault(names[i].partition(".")[0], said)
    listed = ", ".join(list(by_joint.values())[:NAMED])
    listed += f", of {len(by_joint)} open joints" if len(by_joint) > NAMED else ""
    tried = f" {attempts - 1} perturbed guesses failed as well." if attempts > 1 else ""
    raise ModelError(
        f"The joints cannot be assembled from this start: {listed}.{tried} Check the lengths and axes of the joints "
        "and the motions of drivers, or start nearer to a closed position."
    )


def _reached(system: System, t: float, q: Array, p: Array, steps: int) -> _Reached:
    e = system.elementwise
    at = e.placed(q, np.zeros(system.nv), p)
    return _Reached(q, at, *e.constraints(t, at, p), steps)


def _descended(system: System, t: float, here: _Reached, p: Array) -> _Reached:
    """The end of the Levenberg-Marquardt iteration: satisfied joints, or a minimum of the sum of squares."""
    e, damping, milestone = system.elementwise, 0.0, np.inf
    for k in range(ITERATIONS):
        if here.worst <= ASSEMBLED:
            break
        if k % PATIENCE == 0:
            if float(here.residual @ here.residual) > milestone / 2:
                break
            milestone = float(here.residual @ here.residual)
        rows = e.violations(t, here.at, p)
        directions = weighted(rows, here.at.masses, e.first_rows)
        before = float(np.sum((here.residual / directions.norms) ** 2))
        while damping <= STRONGEST:
            u = e.in_order(directions.least_change(-here.residual, damping=damping))
            largest = float(np.max(np.linalg.norm(e.by_body(u)[1:, e.linear : e.rigid], axis=1)))
            u = u * (TURN / largest) if largest > TURN else u
            moving = e.by_body(u)
            turned = here.residual + np.sum(rows.J_a * moving[rows.a] + rows.J_b * moving[rows.b], axis=1)
            promised = before - float(np.sum((turned / directions.norms) ** 2))
            if promised <= STATIONARY * before:
                return here
            trial = _reached(system, t, e.advance(here.q, u, 1.0), p, here.steps + 1)
            share = (before - float(np.sum((trial.residual / directions.norms) ** 2))) / promised
            if share >= ACCEPTED:
                here = trial
                if share < POOR:
                    damping = max(4.0 * damping, DAMPED)
                elif share > GOOD:
                    damping = 0.0 if damping <= SLIGHT else 0.1 * damping
                break
            damping = max(10.0 * damping, DAMPED)
        else:
            break
    return here


def _moved(system: System, guess: State, start: State) -> tuple[Moved, ...]:
    """For each body its displacement, its rotation, and the changes of its velocities."""
    found, iq, iv = [], 0, 0
    for body in (element for element in system.elements if isinstance(element, Body)):
        nq, nv = len(body.q_columns), len(body.v_columns)
        linear, turned, rigid = (2, 3, 3) if system.dimension == 2 else (3, 7, 6)
        before, after = guess.q[iq : iq + nq], start.q[iq : iq + nq]
        change = start.v[iv : iv + nv] - guess.v[iv : iv + nv]
        lengths = (after[:linear] - before[:linear], change[:linear], change[linear:rigid])
        displacement, velocity, angular = (float(np.linalg.norm(x)) for x in lengths)
        q, q_after = before[linear:turned], after[linear:turned]
        # vector part of the relative quaternion by the difference, which is exact for small rotations
        half = np.linalg.norm(q_after - q) / 2, np.linalg.norm(q_after + q) / 2
        rotation = abs(q_after[0] - q[0]) if q.size == 1 else 4 * np.arctan2(min(half), max(half))
        found.append(Moved(body.name, displacement, float(rotation), velocity, angular))
        iq, iv = iq + nq, iv + nv
    return tuple(found)
