"""Whether an event-driven run makes progress: how many events it has counted, and how short its steps have been.

Where steps have been short for long, a function outside looks for the cause, and ends the run where it finds one.
"""

from nonsmooth.compile.kernels import kernel, piece, solved_outside
from nonsmooth.schemes.phase_steps import advance
from nonsmooth.tolerances.event_driven import CRAWL, CRAWLED, SMOOTH, STALLED

#: number of steps per longest step, averaged over the last `CRAWLED` steps, above which the cause is examined
CROWDED = 50

examined_outside = solved_outside("examines")  # (run): 0 if there is a cause


@kernel
def crawls(run):
    """Whether so many steps in a row have been far too short that their cause is looked for."""
    return run.tried < CRAWL * run.shortest and (run.crawled + 1) % CRAWLED == 0


@kernel
def crowds(run):
    """Whether the last steps have been so many that their cause is looked for."""
    start = run.stages[0].t
    full = run.counted == CRAWLED and start > run.counted_since
    return full and start - run.counted_since < CRAWLED * run.system.longest / CROWDED


@piece
def is_stopped(run):
    """Whether there is a cause of short steps for which the run ends."""
    run.crowded = 1 if crowds(run) else 0
    if not (run.crowded or crawls(run)):
        return False
    t, dt, error, tried, next_length = run.stages[0].t, run.dt, run.error, run.tried, run.next_length
    if run.crowded and t + 0.5 * dt != t:
        advance(run, t + 0.5 * dt)
        run.half_error = run.error
        advance(run, t + dt)
        run.error = error
    run.tried, run.next_length = tried, next_length
    return examined_outside(run) != 1


@kernel
def count_step(run):
    """Count steps for `is_stopped`."""
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
