"""Flexible bodies: finite elements of beams, their reduction to few modes, and what a body needs to know of them."""

from nonsmooth.flexible.beam import beam
from nonsmooth.flexible.finite_elements import FiniteElements, assemble, from_matrices
from nonsmooth.flexible.inertia import Inertia, Shortening
from nonsmooth.flexible.modes import Modes
from nonsmooth.flexible.reduction import Rayleigh, modes
from nonsmooth.flexible.sections import CrossSection, Material, Rectangle, Tube

__all__ = [
    "FiniteElements",
    "Inertia",
    "Material",
    "Modes",
    "Rayleigh",
    "Rectangle",
    "Shortening",
    "CrossSection",
    "Tube",
    "assemble",
    "beam",
    "from_matrices",
    "modes",
]
