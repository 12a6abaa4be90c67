"""Contact forces that do not converge: impulses without a collision, as in Painleve's paradox."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.jumps import first_jump, jump_words

__all__ = ["Impulsive", "impulsive_force"]

#: relative difference of the impulses of two steps of different length that are one and the same, and ratio of their
#: lengths at most
SAME, SHORTER = 0.1, 0.7


@dataclass(frozen=True)
class Impulsive:
    """A contact whose velocity jumps without collision, or the largest mean force of one in a step, which grows as one
    over the length of the step.

    Parameters
    ----------
    contact
    t : [s]
        End of the step of the finer run.
    impulse : [N s]
        Of the step.
    forces : [N]
        Of the coarser and the finer run; none if the jump is in the table of impacts.
    """

    contact: str
    t: float
    impulse: float
    forces: tuple[float, float] | None = None

    @property
    def text(self) -> str:
        """As a sentence."""
        return jump_words(self.contact, self.t, self.impulse, self.forces)


def impulsive_force(coarse: Trajectory, fine: Trajectory) -> Impulsive | None:
    """The first jump of the finer run, or the contact with the largest force in one of its steps, if that has the same
    impulse in a longer step."""
    if fine.jumps.size:
        return Impulsive(*first_jump(fine.jumps))
    if min(len(coarse.t), len(fine.t)) < 2 or not fine.gap.names:
        return None
    steps = [_largest(run) for run in (coarse, fine)]
    (t_1, dt_1, force_1), (t_2, dt_2, force_2) = steps
    impulse_1, impulse_2 = dt_1 * force_1, dt_2 * force_2
    same = (np.abs(impulse_1 - impulse_2) <= SAME * impulse_2) & (np.abs(t_1 - t_2) <= dt_1 + dt_2)
    found = np.flatnonzero(same & (dt_2 <= SHORTER * dt_1) & (force_2 > 0.0))
    if not found.size:
        return None
    i = int(found[np.argmax(force_2[found])])
    forces = float(force_1[i]), float(force_2[i])
    return Impulsive(fine.gap.names[i], float(t_2[i]), float(impulse_2[i]), forces)


def _largest(run: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """End and length of the step with the largest mean force of each contact, and this force, each (nc,)."""
    force, dt = run.lam_N.array[1:], np.diff(run.t)
    k = np.argmax(force, axis=0)
    return run.t[1:][k], dt[k], force[k, np.arange(force.shape[1])]
