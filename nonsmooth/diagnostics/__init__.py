"""Diagnostics: functions of a trajectory that return arrays and tables.

====================  =====================================================================================
`contact_intervals`   every contact interval: times, impulse, force, depth, speeds
`contact_table`       the same with kind and energy: `Trajectory.contacts`
`impacts`             those that begin with an approach, of rigid and of compliant runs
`contact_share`       share of time in contact
`agreement`           share of time in which two runs agree on open or closed
`impulses`            normal impulse since the start, at any time
`mean_forces`         mean force in windows of time
`largest_mean_force`  over a stated duration, impacts included
`coordinates`         coordinates at any time
`pieces`, `sampled`   coordinates, velocities and gaps between rows, with both limits at rows
`dissipated`          energy lost by cause
`momentum`            linear and angular, of each body and in total
`node_positions`      positions of a node of a flexible body
`stresses`            at the stations of a flexible body
`poincare`            states where a quantity crosses a value
`stroboscope`         states once per period
`mode_timeline`       when a contact sticks or slips, how a slider touches its guide
`signature_timeline`  whether points, lines or planes of a rectangular slide touch its guide
`signatures`          possible signatures; their sets of corners are `active_sets`
`spectrum`            amplitudes over frequency
`largest_exponent`    separation rate of neighbouring motions; of a mechanism, `nonsmooth.studies.lyapunov`
====================  =====================================================================================
"""

from nonsmooth.diagnostics.contacts import (
    agreement,
    closed_time,
    contact_intervals,
    contact_share,
    contact_table,
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
from nonsmooth.diagnostics.modes import (
    Timeline,
    active_sets,
    mode_timeline,
    signature,
    signature_timeline,
    signatures,
)
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
    "contact_intervals", "contact_share", "contact_table", "coordinates", "dissipated", "impacts", "impulses",
    "largest_exponent", "largest_mean_force", "mean_forces", "mode_timeline", "momentum", "node_positions",
    "pieces", "poincare", "sampled", "signature", "signature_timeline", "signatures", "spectrum", "stresses",
    "stroboscope",
]  # fmt: skip
