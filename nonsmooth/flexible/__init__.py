"""Flexible bodies: finite elements of beams, their reduction to few modes, and what a body needs to know of them."""

from nonsmooth.flexible.beam import CrossSection, Material, Rectangle, Tube, beam
from nonsmooth.flexible.finite_elements import FiniteElements, assemble, from_matrices
from nonsmooth.flexible.modes import Inertia, Modes, Shortening
from nonsmooth.flexible.reduction import Rayleigh, modes

__all__ = [
    "FiniteElements", "Inertia", "Material", "Modes", "Rayleigh", "Rectangle", "Shortening", "CrossSection", "Tube",
    "assemble", "beam", "from_matrices", "modes",
]  # fmt: skip
