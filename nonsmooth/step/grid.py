"""Steps of a run: their ends, repetition of steps that are not certified, and the run itself with equal steps."""

import math

from nonsmooth.compile.kernels import kernel
from nonsmooth.step.tolerances import DONE, FULL, ON_GRID, PROXIMAL, REMAINDER, UNCERTAIN


@kernel
def pass_stops(system, t):
    """The stop after a time is the next one, before which elements are evaluated."""
    while system.stops[system.stop].t <= t:
        system.stop += 1
        system.renewed = 1
    system.bound = system.stops[system.stop].before


@kernel
def next_stop(system):
    """The next time at which a step has to end: a corner of loads or drivers, or the end of the run."""
    pass_stops(system, system.t)
    return min(system.stops[system.stop].t, system.t_end)


@kernel
def next_time(system):
    """The end of the next step on the grid; one that would go beyond a stop is cut there."""
    stop, dt = next_stop(system), system.longest
    end = system.origin + (math.floor((system.t - system.origin) / dt + ON_GRID) + 1.0) * dt
    return end if end < stop - REMAINDER * dt else stop


@kernel
def latest_end(system):
    """The end of the longest next step of those without a grid, at most the next stop."""
    stop, limit = next_stop(system), system.t + system.longest
    return limit if limit < stop - REMAINDER * system.longest else stop


@kernel
def nothing_else(system):
    return False


def step_of(attempt, give_up, commit, last_attempt=nothing_else):
    """The step of a scheme: an `attempt` that is certified, again with the proximal term, and last `last_attempt`;
    `commit` accepts it, `give_up` restores what was before it."""

    @kernel
    def attempt_again(system):
        give_up(system)
        if system.advance != 0:
            return False
        if len(system.contacts) and system.proximal == 0.0:
            system.proximal = PROXIMAL
            if attempt(system):
                return True
            give_up(system)
            system.proximal = 0.0
        if last_attempt(system):
            return True
        give_up(system)
        return False

    @kernel
    def step(system):
        if not (attempt(system) or attempt_again(system)):
            return UNCERTAIN
        commit(system)
        return DONE

    return step


def run_of(step):
    """The run of a scheme, of which `step` takes one step from t to t_next."""

    def run(system, steps):
        """Up to this number of steps; ends if rows are full, or before a step that is not certified."""
        for _ in range(steps):
            if not system.t < system.t_end:
                return DONE
            if system.steps >= system.rows.room:
                return FULL
            system.t_next = next_time(system)
            system.dt = system.t_next - system.t
            status = step(system)
            if status != DONE:
                return status
        return DONE

    return run
