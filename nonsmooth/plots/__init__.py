"""Figures of trajectories and studies, without using pyplot.

Functions of several panels return a `matplotlib.figure.Figure`. Those of one panel take ``ax`` and return the
`matplotlib.axes.Axes` that they draw into, so that panels can be combined; without ``ax`` they create a figure,
``axes.figure``.
"""

from nonsmooth.plots.analyses import (
    amplitudes,
    bifurcation_diagram,
    impact_table,
    mode_bars,
    phase_portrait,
    poincare_section,
)
from nonsmooth.plots.comparison import comparison, law_card, published, rigid_limit, step_size
from nonsmooth.plots.distribution import statistics
from nonsmooth.plots.figure import figure
from nonsmooth.plots.motion import contact, energy, motion, panels
from nonsmooth.plots.orbits import orbit
from nonsmooth.plots.pages import Animation, animation, sketch
from nonsmooth.plots.panel import Measured, Panel, quantities, read_measured
from nonsmooth.plots.panel import units_of as unit_of
from nonsmooth.plots.variation import bees, excitation, excited, fitted, identified, ranking, sweep, tolerance

__all__ = [
    "Animation", "Measured", "Panel", "amplitudes", "animation", "bees", "bifurcation_diagram", "comparison", "contact",
    "energy", "excitation", "excited", "figure", "fitted", "identified", "impact_table", "law_card", "mode_bars",
    "motion", "orbit", "panels", "phase_portrait", "poincare_section", "published", "quantities", "ranking",
    "read_measured", "rigid_limit", "sketch", "statistics", "step_size", "sweep", "tolerance", "unit_of",
]  # fmt: skip
