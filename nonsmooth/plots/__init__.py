"""Figures of trajectories. Each function returns a `matplotlib.figure.Figure`; none touches pyplot's state."""

from __future__ import annotations

from nonsmooth.plots.contact import contact
from nonsmooth.plots.motion import Panel, energy, motion, panels

__all__ = ["Panel", "contact", "energy", "motion", "panels"]
