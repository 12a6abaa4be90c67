"""The largest Lyapunov exponent of a mechanism."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real

import numpy as np

from nonsmooth.diagnostics.lyapunov import Exponent, largest_exponent
from nonsmooth.exceptions import InputError
from nonsmooth.model.closing import closed_start
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.run.simulate import simulate
from nonsmooth.step.control import ConstantStep, StepControl
from nonsmooth.step.scheme import Stepper


@telling
def lyapunov(
    system: System,
    stepper: Stepper,
    *,
    interval: float,
    intervals: int,
    dt: StepControl,
    size: float = 1e-7,
    transient: int = 0,
    state: State | None = None,
    parameters: Mapping[str, float] | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Exponent:
    """Largest Lyapunov exponent [1/s] from two neighbouring runs; see `nonsmooth.diagnostics.largest_exponent`.

    The distance of two states is ``sqrt(dv' M dv + (2 pi / interval)^2 du' M du)`` divided by the same for unit
    velocities, with the difference of coordinates as a displacement, dq = B(q) du: in the plane du = dq. The exponent
    does not depend on it. The first neighbour lies in a random direction that satisfies the joints.

    Neighbouring motions impact at times that differ by about their distance divided by their velocity. Steps must
    resolve this difference, which determines the growth; this requires `Landing`, `EventDriven` or compliant contact.
    With constant steps both impact in the same step, and the growth is not that of the mechanism.

    Parameters
    ----------
    system, stepper, state, parameters
        As of `nonsmooth.simulate`.
    interval : [s]
        Between two renormalisations; a period of the drive, if there is one.
    intervals : int, at least 32
    dt : Landing or ErrorControl
    size : [-]
        > 0, distance of the neighbours: m and rad and, with the mass's weight, m/s.
    transient : int, number of omitted initial intervals
    seed : int, of the first direction
    progress : callable (share), or True for words on one line, optional

    Raises
    ------
    InputError
        For a constant step, or invalid numbers.
    SimulationFailed
        If a run fails.
    """
    if isinstance(dt, (Real, ConstantStep)):
        raise InputError(
            "A Lyapunov exponent needs impacts at their own times, which a constant step rounds to its grid; "
            "give dt=Landing(...) or ErrorControl(...)."
        )
    p = system.parameter_vector(parameters)
    M = system.numeric.M((system.start if state is None else state).q, p)[0]
    M = M / np.trace(M) * system.nv
    rate = 2 * np.pi / interval
    random = np.random.default_rng(seed)
    done = 0

    def distance(a: State, b: State) -> float:
        u, v = b.q - a.q, b.v - a.v
        if system.dimension == 3:  # the displacement u with b.q - a.q = B(q) u, to first order
            u = np.asarray(np.linalg.lstsq(system.numeric.B(a.q)[0], u, rcond=None)[0], dtype=np.float64)
        return float(np.sqrt(v @ M @ v + rate**2 * (u @ M @ u)))

    def neighbour(a: State, b: State | None, wanted: float) -> State:
        if b is None:
            u, v = random.standard_normal((2, system.nv))
            moved = u if system.dimension == 2 else system.numeric.B(a.q)[0] @ u
            trial = replace(a, q=a.q + wanted / rate * moved, v=a.v + wanted * v)
            b = closed_start(system, trial, p)
        share = wanted / distance(a, b)
        return replace(b, q=a.q + share * (b.q - a.q), v=a.v + share * (b.v - a.v))

    def flow(a: State) -> State:
        nonlocal done
        run = simulate(system, stepper, t_end=a.t + interval, dt=dt, state=a, parameters=parameters)
        done += 1
        whom(progress)(done / (2 * (transient + intervals)))
        return run.end

    start = system.start if state is None else state
    return largest_exponent(
        flow, start, neighbour, distance, interval=interval, intervals=intervals, size=size, transient=transient
    )  # fmt: skip
