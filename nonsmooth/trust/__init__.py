"""Whether a motion can be trusted: runs with ever finer steps, their differences, and a verdict in one sentence."""

from nonsmooth.trajectory.verdict import missed_contacts
from nonsmooth.trust.agreement import Difference, Scale, difference, peak_forces, scale_of, verdict_against
from nonsmooth.trust.automatic import Rung, automatic, checked
from nonsmooth.trust.uniqueness import Undetermined, undetermined_forces

__all__ = [
    "Difference", "Rung", "Scale", "Undetermined", "automatic", "checked", "difference", "missed_contacts",
    "peak_forces", "scale_of", "undetermined_forces", "verdict_against",
]  # fmt: skip
