"""Diagnostics: functions of a trajectory that return arrays and tables."""

from nonsmooth.diagnostics.contacts import (
    agreement,
    closed_time,
    contact_intervals,
    contact_share,
    contact_table,
    impact_impulse,
    impacts,
    impulses,
    largest_mean_force,
    mean_forces,
)
from nonsmooth.diagnostics.long_term import (
    Exponent,
    Section,
    Spectrum,
    largest_exponent,
    poincare,
    spectrum,
    stroboscope,
)
from nonsmooth.diagnostics.modes import Timeline, active_sets, mode_timeline, signature, signature_timeline, signatures
from nonsmooth.diagnostics.motion import (
    Momentum,
    Pieces,
    coordinates,
    dissipated,
    momentum,
    node_positions,
    pieces,
    sampled,
    stresses,
)

__all__ = [
    "Exponent", "Momentum", "Pieces", "Section", "Spectrum", "Timeline", "active_sets", "agreement", "closed_time",
    "contact_intervals", "contact_share", "contact_table", "coordinates", "dissipated", "impact_impulse", "impacts",
    "impulses",
    "largest_exponent", "largest_mean_force", "mean_forces", "mode_timeline", "momentum", "node_positions",
    "pieces", "poincare", "sampled", "signature", "signature_timeline", "signatures", "spectrum", "stresses",
    "stroboscope",
]  # fmt: skip
