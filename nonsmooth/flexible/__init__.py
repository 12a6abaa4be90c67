"""Flexible bodies: finite elements of beams, their reduction to few modes, and what a body needs to know of them."""

from __future__ import annotations

from nonsmooth.flexible.modes import Geometric, Modes

__all__ = ["Geometric", "Modes"]
