"""Step size control of event-locating steps by their local error relative to the clearance.

A step with velocity u in its middle, from v to v⁺ before the impacts at its end, follows the motion to second order.
The local error of its position is a sixth of ``dt (v⁺ - 2 u + v)``, the change of acceleration over the step times
dt²/12, which requires no evaluation. It is measured in the largest displacement (angles times the radius of gyration of
their body) and in gaps, both relative to the clearance.
"""

from __future__ import annotations

import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.step_control import Landing
from nonsmooth.steppers.base import Step
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.tolerances import SAFETY, SHRINK
from nonsmooth.tolerances.gauss import LONGER, ORDER

__all__ = ["LocalError"]


class LocalError:
    """The step size control of one run.

    Parameters
    ----------
    m, control
        The mechanism, and the bounds of the step with its `error`.
    """

    def __init__(self, m: Mechanism, control: Landing) -> None:
        assert control.error is not None
        self.m, self.control, self.error = m, control, control.error
        self.radii = m.system.gyration(m.p)
        self.clearance = float(np.min(m.scale, initial=np.inf))
        self.rejected = 0

    def of(self, start: State, middle: Array, step: Step) -> float:
        """Local error relative to its tolerance."""
        missed = step.dt / 6 * (step.v_left - 2 * middle + start.v)
        share = float(np.max(np.abs(missed) * self.radii, initial=0.0)) / self.clearance
        gaps = np.abs(self.m.at(step.state.t, step.state.q).W_N.T @ missed) / self.m.scale
        return max(share, float(np.max(gaps, initial=0.0))) / self.error

    def following(self, dt: float, share: float) -> float:
        """Size of the next step, or of the repeated one if the ratio exceeds 1."""
        factor = LONGER if share == 0.0 else float(np.clip(SAFETY * share ** (-1 / ORDER), SHRINK, LONGER))
        return min(max(dt * factor, self.control.dt_min), self.control.dt_max)
