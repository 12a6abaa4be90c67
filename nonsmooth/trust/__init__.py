"""Whether a motion can be trusted: runs with ever finer steps, their differences, and a verdict in one sentence."""

from nonsmooth.trajectory.unseen import missed_contacts
from nonsmooth.trust.agreement import verdict_against
from nonsmooth.trust.automatic import automatic, checked
from nonsmooth.trust.difference import Difference, Scale, difference, peak_forces, scale_of
from nonsmooth.trust.ladder import Rung
from nonsmooth.trust.uniqueness import Undetermined, undetermined_forces

__all__ = [
    "Difference",
    "Rung",
    "Scale",
    "Undetermined",
    "automatic",
    "checked",
    "difference",
    "missed_contacts",
    "peak_forces",
    "scale_of",
    "undetermined_forces",
    "verdict_against",
]
