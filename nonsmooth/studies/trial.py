"""A case on its mechanism: its runs, and the accurate solution that they are compared with.

The accurate solution is the exact one of the case, or its own contact law computed by another method with tolerances
near round-off: event-driven of order 8 for rigid contact, an explicit method of order 8 for compliant contact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SimulationFailed
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.system import System
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.step.control import ConstantStep, ErrorControl, StepControl, step_control
from nonsmooth.studies.arguments import built
from nonsmooth.studies.comparison import GRID, Case
from nonsmooth.studies.motions import Motion, scaled_distance, scales
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trajectory.verdict import ADVICE
from nonsmooth.trust import difference, scale_of, verdict_against

#: positions relative to the smallest clearance, peak forces to the largest, as `simulate` has by default
ACCURACY = 1e-2
#: tolerances of an accurate run, and its least number of rows; tolerances of a second one over those of the first
RTOL, ATOL, ROWS, COARSER = 1e-11, 1e-13, 400, 100.0
#: simultaneity window and shortest flight [s] of an accurate rigid run whose case states none
DT_MIN = 1e-6
#: what to do where the steps of a case are too long, as the commands say it too
SHORTEN = "give shorter steps as dt of the case, or of all by --dt-max"


@dataclass(frozen=True, eq=False)
class Trial:
    """A case on its mechanism, up to an end [s]."""

    case: Case
    system: System
    t_end: float

    @classmethod
    def of(cls, build: Callable[[Any], Any], case: Case, t_end: float) -> Trial:
        """On what a user's function makes of the contact law."""
        return cls(case, built(build, case.contact), t_end)

    def alike(self, other: Case) -> bool:
        """Whether another case has the same accurate solution."""
        own = self.case
        return (own.contact, own.parameters, own.exact) == (other.contact, other.parameters, other.exact)

    def grid(self, points: int = GRID) -> Array:
        """Equidistant times from start to end [s]."""
        return np.linspace(self.system.start.t, self.t_end, points + 1)

    def run(self, dt: float | StepControl | None = None) -> Trajectory:
        """With the steps of the case, or with others."""
        dt = self.case.dt if dt is None else dt
        return simulate(self.system, self.case.stepper, t_end=self.t_end, dt=dt, parameters=self.case.parameters)

    def accurate(self) -> Accurate:
        """The exact solution of the case, or its own contact law with tolerances near round-off.

        Raises
        ------
        SimulationFailed
            If the accurate run fails.
        """
        fine = self._converged()
        values = self.system.parameter_vector(self.case.parameters)
        try:
            coarse = self._converged(looser=COARSER)
        except SimulationFailed as failure:
            parted = float(failure.trajectory.t[-1])
        else:
            scale = scale_of(self.system, values, fine)
            parted = difference(coarse, fine, self.system.gyration(values), scale, accuracy=ACCURACY).parted
        exact = self.case.exact
        return Accurate(self, Motion.of_run(fine) if exact is None else Motion.of_exact(exact, fine), fine, parted)

    def _converged(self, looser: float = 1.0) -> Trajectory:
        """A run with tolerances near round-off times `looser`."""
        start = self.system.start.t
        control = step_control(self.case.dt, (start, self.t_end))
        dt_min = DT_MIN if isinstance(control, ConstantStep) else control.dt_min
        longest = max((self.t_end - start) / ROWS, dt_min)
        stepper = CompliantDae() if isinstance(self.case.contact, Compliant) else EventDriven(order="dop853")
        fine = ErrorControl(looser * RTOL, looser * ATOL, dt_min, longest)
        return simulate(self.system, stepper, t_end=self.t_end, dt=fine, parameters=self.case.parameters)


def ended(failure: SimulationFailed) -> str:
    """What a run does that fails, for the reason of what it lacks."""
    return f"ends at t = {failure.trajectory.t[-1]:.6g} s: {failure}"


@dataclass(frozen=True, eq=False)
class Accurate:
    """The exact or accurate solution of a case, and of all cases alike.

    Parameters
    ----------
    trial : of the case
    motion : the exact solution if there is one, else that of the run
    run : a run with tolerances near round-off, by another method
    parted : [s]
        Time at which this and a run with coarser tolerances differ by a tenth of the clearance: later motion depends on
        round-off. Infinite if they never do.
    """

    trial: Trial
    motion: Motion
    run: Trajectory
    parted: float = math.inf

    @cached_property
    def scale(self) -> Array:
        """Range of each coordinate (nq,)."""
        return scales(self.motion, self.trial.grid())

    def error(self, run: Trajectory) -> float:
        """Distance of a run to the solution at its own rows [-]."""
        return scaled_distance(Motion.of_run(run), self.motion, run.t, self.scale)

    def verdict(self, run: Trajectory) -> Verdict:
        """The verdict on a run of the case."""
        system = self.trial.system
        values = system.parameter_vector(self.trial.case.parameters)
        found = verdict_against(run, self.run, system, values, accuracy=ACCURACY, parted=self.parted)
        return replace(found, text=found.text.replace(ADVICE, SHORTEN))
