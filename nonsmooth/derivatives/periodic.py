"""Periodic motions of driven mechanisms by shooting: Newton's method on the map over a period, and its multipliers.

The map P takes the state at the start to that a period later, through impacts and slip. With a basis Z of the changes
of the start that joints admit, and its pseudo-inverse Z+, Newton's step Z y solves ``(Z+ dP Z - 1) y = Z+ (x - P(x))``,
and Floquet's multipliers are the eigenvalues of ``Z+ dP Z``: an orbit attracts its neighbours if all of them are inside
of the unit circle. Unstable orbits are found alike.

References
----------
Leine, Nijmeijer (2004), Dynamics and Bifurcations of Non-Smooth Mechanical Systems, section 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.derivatives.sensitivities import LEAST_STEPS, RTOL, Sensitivities, held_at_start, sensitivities
from nonsmooth.derivatives.sweep import Sweep
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.quantities import in_si
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.settings import checked, is_number, require
from nonsmooth.step.control import ErrorControl
from nonsmooth.trajectory import Trajectory

#: residual, as a share of the motion, of an orbit; steps of Newton's method, and halvings of each, at most
CLOSED, STEPS, HALVED = 1e-11, 30, 5
#: Newton's steps that satisfy joints
CORRECTED = 3
#: singular value of the rows of joints, as a share of the largest, below which one is redundant
DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class PeriodicOrbit:
    """A motion that repeats itself.

    Parameters
    ----------
    run : over one period
    period : [s]
    residual : largest difference between its end and its start, as a share of the motion
    multipliers : of Floquet, the largest magnitude first
    steps : of Newton's method
    sensitivities : derivatives of all rows by the state at the start
    """

    run: Trajectory
    period: float
    residual: float
    multipliers: NDArray[np.complex128]
    steps: int
    sensitivities: Sensitivities

    @property
    def stable(self) -> bool:
        """Whether neighbouring motions approach it."""
        return bool(np.all(np.abs(self.multipliers) < 1.0))


@checked
def periodic_orbit(
    system: System, *, period: float | str, state: State | None = None, transient: int = 0,
    parameters: Mapping[str, float] | None = None, dt: ErrorControl | None = None,
) -> PeriodicOrbit:  # fmt: skip
    """The periodic motion of a driven mechanism in the plane next to a guess, stable or not, with its multipliers.

    Angles may differ by full turns after a period. InputError in space; SolverFailed where Newton's method does not
    converge or the motion has no derivatives.

    Parameters
    ----------
    period : [s], of the drive or a multiple of it: twice that of the drive for an orbit of period 2
    state : guess, by default the start of the system
    transient : number of periods that are run from the guess before, which leads to stable orbits
    parameters : as of `simulate`
    dt : ErrorControl, optional
        By default a relative tolerance of 1e-12 with steps up to a 500th of the period.

    A ball on a table that moves up and down, next to the motion in which it flies once per period:

    >>> from nonsmooth import Gravity, Ground, Harmonic, Model, PlanarBody, PointPlane, PrescribedMotion, Prismatic
    >>> from nonsmooth import Rigid
    >>> motion, law = Harmonic(amplitude=1.5e-3, period=0.1, phase=3.5476), Rigid(restitution=0.7, friction=0.0)
    >>> model = Model([
    ...     Ground(), Gravity(acceleration=(0.0, -9.81)), Prismatic("guide", "ground", "table", direction="90 deg"),
    ...     PlanarBody("table", mass=1.0, inertia=1.0, position=(0.0, motion(0.0))),
    ...     PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, 0.0129)),
    ...     PrescribedMotion("drive", "ground", "table", coordinate="y", motion=motion),
    ...     PointPlane("floor", "table", "ball", contact=law),
    ... ])
    >>> orbit = periodic_orbit(model.build(assemble=model.assemble()), period=0.1)
    >>> abs(orbit.multipliers).round(6).tolist()  # nothing changes sideways; the others have the product e^2
    [1.0, 1.0, 1.0, 1.0, 0.7, 0.7]
    """
    time = in_si("period", period, "s")
    require(is_number(time) and time > 0.0, "period must be a positive number of seconds", period)
    if system.dimension == 3:
        raise InputError("Periodic orbits are those of mechanisms in the plane, got one in space.")
    control = dt or ErrorControl(RTOL, dt_max=time / LEAST_STEPS)
    angles = np.array([name.endswith(".angle") for name in system.q_names] + [False] * system.nv)

    def run_from(start: State, periods: int = 1) -> Trajectory:
        return simulate(system, EventDriven(), t_end=start.t + periods * time, dt=control, state=start,
                        parameters=parameters)  # fmt: skip

    def turns(change: Array) -> Array:
        return np.where(angles, 2 * np.pi * np.round(change / (2 * np.pi)), 0.0)

    def missed(run: Trajectory) -> Array:
        """End less start (nq + nv,), without full turns."""
        r = np.r_[run.q.array[-1] - run.q.array[0], run.v.array[-1] - run.v.array[0]]
        return r - turns(r)

    start = system.start if state is None else state
    if transient:
        end = run_from(start, transient).end
        start = replace(end, t=start.t, q=end.q - turns(np.r_[end.q - start.q, end.v])[: system.nq])
    run = run_from(start)
    names = [*system.q_names, *(f"v:{name}" for name in system.v_names)]
    for step in range(STEPS):
        found = sensitivities(run, names)
        sweep, r = found.sweep, missed(run)
        residual = float(np.max(np.abs(r) / sweep.scale))
        if not found.exact:
            raise SolverFailed(f"No periodic orbit by derivatives: {found.verdict}.")
        Z, Phi = _admitted(sweep), np.concatenate([found.q[-1], found.v[-1]])
        inverse = np.linalg.pinv(Z)
        if residual <= CLOSED:
            multipliers = np.linalg.eigvals(inverse @ Phi @ Z)
            order = np.argsort(-np.abs(multipliers))
            return PeriodicOrbit(run, time, residual, multipliers[order].astype(complex), step, found)
        change = Z @ np.linalg.lstsq(inverse @ Phi @ Z - np.eye(Z.shape[1]), -inverse @ r, rcond=1e-12)[0]
        for share in 0.5 ** np.arange(HALVED):
            moved = _satisfied(sweep, np.r_[sweep.q[0], sweep.v[0]] + share * change)
            attempt = run_from(replace(start, q=moved[: system.nq], v=moved[system.nq :]))
            if np.max(np.abs(missed(attempt)) / sweep.scale) < residual:
                break
        run = attempt
    raise SolverFailed(f"No periodic orbit within {STEPS} steps: the residual is still {residual:.2g} of the motion.")


def _satisfied(sweep: Sweep, x: Array) -> Array:
    """State (q, v) next to x of joints that are satisfied and of contacts that stay closed."""
    nq = sweep.system.nq
    for _ in range(CORRECTED):
        value, H = sweep.equations.held(float(sweep.t[0]), x[:nq], x[nq:])
        kept = np.tile(np.r_[np.ones(sweep.system.ng, dtype=bool), sweep.phases.closed[0].astype(bool)], 2)
        rows = H[: len(kept), 1 : 1 + len(x)][kept] * sweep.scale
        x = x - sweep.scale * np.linalg.lstsq(rows, value[: len(kept)][kept], rcond=DEPENDENT)[0]
    return x


def _admitted(sweep: Sweep) -> Array:
    """Basis (nq + nv, d) of changes of the start that joints and closed contacts admit, of the size of the motion."""
    rows = np.vstack(held_at_start(sweep))[:, 1 : 1 + len(sweep.scale)] * sweep.scale
    if not len(rows):
        return np.diag(sweep.scale)
    _, s, Vt = np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return np.asarray(sweep.scale[:, None] * Vt[int(np.sum(s > DEPENDENT * s[0])) :].T)
