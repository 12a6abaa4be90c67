"""What drawings state: ISO 286 fits, from which clearances follow, and dimensions with a tolerance."""

from __future__ import annotations

from nonsmooth.fits.fit import Fit
from nonsmooth.fits.scatter import Scatter
from nonsmooth.fits.text import looks_stated, stated
from nonsmooth.fits.toleranced import Toleranced

__all__ = ["Fit", "Scatter", "Toleranced", "looks_stated", "stated"]
