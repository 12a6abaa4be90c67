"""The accurate solution of a case, and the verdict on its runs by it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonsmooth.exceptions import SimulationFailed
from nonsmooth.studies.equal_error import converged
from nonsmooth.studies.motions import Motion
from nonsmooth.trajectory import Trajectory, Verdict
from nonsmooth.trust import difference, scale_of, verdict_against

if TYPE_CHECKING:
    from nonsmooth.model.system import System
    from nonsmooth.studies.comparison import Case

__all__ = ["ACCURACY", "Accurate", "accurate_of"]

#: positions relative to the smallest clearance, peak forces to the largest, as `simulate` has by default
ACCURACY = 1e-2
#: tolerances of a second accurate run over those of the first
COARSER = 100.0


@dataclass(frozen=True, eq=False)
class Accurate:
    """The exact or accurate solution of a case.

    Parameters
    ----------
    motion
        The exact solution if there is one, else that of the run.
    run
        A run with tolerances near round-off, by another method.
    parted : [s]
        Time at which this and a run with coarser tolerances differ by a tenth of the clearance: later motion depends on
        round-off. Infinite if they never do.
    exact
        Whether the motion is exact.
    """

    motion: Motion
    run: Trajectory
    parted: float = math.inf
    exact: bool = False

    def verdict(self, case: Case, system: System, run: Trajectory) -> Verdict:
        """The verdict on a run of the case."""
        values = system.parameter_vector(case.parameters)
        return verdict_against(run, self.run, system, values, accuracy=ACCURACY, parted=self.parted)


def accurate_of(case: Case, system: System, run: Trajectory, t_end: float) -> Accurate:
    """The exact solution of a case, or its own contact law with tolerances near round-off.

    Raises
    ------
    SimulationFailed
        If the accurate run fails.
    """
    fine = converged(system, case.contact, case.dt, case.parameters, t_end)
    values = system.parameter_vector(case.parameters)
    try:
        coarse = converged(system, case.contact, case.dt, case.parameters, t_end, looser=COARSER)
    except SimulationFailed as failure:
        parted = float(failure.trajectory.t[-1])
    else:
        scale = scale_of(system, values, fine)
        parted = difference(coarse, fine, system.gyration(values), scale, accuracy=ACCURACY).parted
    if case.exact is not None:
        return Accurate(Motion.of_exact(case.exact, run), fine, parted, exact=True)
    return Accurate(Motion.of_run(fine), fine, parted)
