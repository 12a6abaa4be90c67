"""Whether an event-driven run makes progress: how many events it has counted, and how short its steps have been.

If so, the Python formulation takes the step, and ends the run with a message about the cause.
"""

from nonsmooth.compile.kernels import kernel
from nonsmooth.tolerances.event_driven import CRAWL, CRAWLED, CROWDED, SMOOTH, STALLED


@kernel
def to_examine(run):
    """Whether so many steps have been so short that the Python formulation examines why."""
    start = run.stages[0].t
    if run.tried < CRAWL * run.shortest and (run.crawled + 1) % CRAWLED == 0:
        return True
    full = run.counted == CRAWLED and start > run.counted_since
    return full and start - run.counted_since < CRAWLED * run.system.longest / CROWDED


@kernel
def count_step(run):
    """Count steps for `to_examine`."""
    start = run.stages[0].t
    run.crawled = run.crawled + 1 if run.tried < CRAWL * run.shortest else 0
    if start < run.counted_since or run.counted == CRAWLED:
        run.counted, run.counted_since = 0, start
    run.counted += 1


@kernel
def count_event(run, event):
    """Count events, and shares of steps without one, within the shortest flight."""
    if run.after.t - run.stall_since > run.shortest:
        run.stall_since, run.stall_count = run.after.t, 0.0
    run.stall_count += 1.0 if event else SMOOTH


@kernel
def stalls(run):
    """Whether there have been too many."""
    return run.stall_count >= STALLED and run.after.t - run.stall_since <= run.shortest
