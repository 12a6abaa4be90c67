"""Identification: identifiable parameters, exciting motions, estimates, and joints with clearance."""

from nonsmooth.identification.base import (
    BaseParameters,
    Verdict,
    base_parameters,
    body_verdict,
    is_consistent,
    least_eigenvalues,
    random_states,
)
from nonsmooth.identification.bee_colony import BeeColony, Colony, bee_colony
from nonsmooth.identification.drive_motion import Fourier
from nonsmooth.identification.estimate import Estimate, Forecast, estimate, forecast
from nonsmooth.identification.excite import Bounds, Excitation, Excite, criteria, excite
from nonsmooth.identification.fit_motion import FitMotion, MotionFit, Profile, fit_motion
from nonsmooth.identification.measurement import Measurement, MotionData, predictable_time, simulated
from nonsmooth.identification.regressor import (
    LinkFrame,
    Parameter,
    Regressor,
    load_columns,
    pseudo_inertia,
    radial_forces,
    regressor,
)

__all__ = [
    "BaseParameters", "BeeColony", "Bounds", "Colony", "Estimate", "Excitation", "Excite", "FitMotion", "Forecast",
    "Fourier", "LinkFrame", "Measurement", "MotionData", "MotionFit", "Parameter", "Profile", "Regressor",
    "Verdict", "base_parameters", "bee_colony", "body_verdict", "criteria", "estimate", "excite", "fit_motion",
    "forecast", "is_consistent", "least_eigenvalues", "load_columns", "predictable_time", "pseudo_inertia",
    "radial_forces", "random_states", "regressor", "simulated",
]  # fmt: skip
