"""Runs with steps of equal length."""

import math

from nonsmooth.compile.kernels import kernel
from nonsmooth.tolerances import DONE, FULL, ON_GRID, REMAINDER


@kernel
def next_time(system):
    """The end of the next step on the grid; the last one is cut at the end of the run."""
    t, dt = system.t, system.longest
    end = system.origin + (math.floor((t - system.origin) / dt + ON_GRID) + 1.0) * dt
    return end if end < system.t_end - REMAINDER * dt else system.t_end


def run_of(step):
    """The run of a scheme, of which `step` takes one step from t to t_next."""

    def run(system, steps):
        """Up to this number of steps; ends if rows are full, or before a step that is not certified."""
        for _ in range(steps):
            if not system.t < system.t_end:
                return DONE
            if system.steps >= len(system.step_rows):
                return FULL
            system.t_next = next_time(system)
            system.dt = system.t_next - system.t
            status = step(system)
            if status != DONE:
                return status
        return DONE

    return run
