"""Energy losses of a run by cause."""

from __future__ import annotations

from nonsmooth.trajectory import Trajectory

__all__ = ["LOSSES", "dissipated"]

LOSSES = ("impacts", "contact", "friction", "damping")


def dissipated(trajectory: Trajectory) -> dict[str, float]:
    """Energy [J] that the run has lost by cause.

    ``impacts`` of rigid contacts, ``contact`` for the hysteresis of compliant ones, ``friction``, and ``damping`` of
    dampers. Numerical dissipation is not included: see the remainder of `EnergyLedger`.
    """
    return {name: float(getattr(trajectory.certificate.energy, f"loss_{name}")) for name in LOSSES}
