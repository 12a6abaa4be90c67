"""The result of a run: labelled columns with units, both limits at impacts, and a certificate."""

from nonsmooth.trajectory.certificate import Certificate, EnergyLedger
from nonsmooth.trajectory.columns import IMPACT_COLUMNS, Columns, Left, UnknownName
from nonsmooth.trajectory.instants import Instants, Origin, States
from nonsmooth.trajectory.recorder import Recorder
from nonsmooth.trajectory.trajectory import Trajectory
from nonsmooth.trajectory.verdict import Verdict

__all__ = [
    "IMPACT_COLUMNS", "Certificate", "Columns", "EnergyLedger", "Instants", "Left", "Origin", "Recorder", "States",
    "Trajectory", "UnknownName", "Verdict",
]  # fmt: skip
