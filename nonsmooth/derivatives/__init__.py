"""Derivatives of motions through impacts, friction and slip, with a verdict."""

from nonsmooth.derivatives.outputs import MotionOutput
from nonsmooth.derivatives.periodic import PeriodicOrbit, periodic_orbit
from nonsmooth.derivatives.sensitivities import Gradient, Sensitivities, gradient, sensitivities
from nonsmooth.derivatives.sweep import Event

__all__ = [
    "Event", "Gradient", "MotionOutput", "PeriodicOrbit", "Sensitivities", "gradient", "periodic_orbit",
    "sensitivities",
]  # fmt: skip
