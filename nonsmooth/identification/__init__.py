"""Identification: which parameters can be known, the motion that tells them best, what they are, and loose joints."""

from __future__ import annotations

from nonsmooth.identification.base import BaseParameters, base_parameters, random_states
from nonsmooth.identification.fourier import Fourier, FourierSignal
from nonsmooth.identification.parameters import LinkFrame, Parameter, pseudo_inertia
from nonsmooth.identification.regressor import Regressor, regressor

__all__ = [
    "BaseParameters",
    "Fourier",
    "FourierSignal",
    "LinkFrame",
    "Parameter",
    "Regressor",
    "base_parameters",
    "pseudo_inertia",
    "random_states",
    "regressor",
]
