"""The compiled step loops in absolute coordinates of planar bodies.

Gauss' implicit Euler, landing, and Moreau-Jean.

One set of functions serves every mechanism: what the mechanism is stands in a table of integers (A, see `table` and
`layout`), its numbers in one block of floating-point memory (f), and its elements are kernels called by address.
"""

from nonsmooth.native.loops.landing import landing_start
from nonsmooth.native.loops.moreau_midpoint import midpoint_start
from nonsmooth.native.loops.rows import first_row, last_row, observe_rows
from nonsmooth.native.loops.run import UNITS, at_state, contact_sizes, prepare, run, run_many

__all__ = [
    "UNITS", "at_state", "contact_sizes", "first_row", "landing_start", "last_row", "midpoint_start", "observe_rows",
    "prepare", "run", "run_many",
]  # fmt: skip
