"""What drawings state: ISO 286 fits, from which clearances follow, and dimensions with a tolerance."""

from __future__ import annotations

from nonsmooth.model.fits.fit import Fit
from nonsmooth.model.fits.scatter import Scatter
from nonsmooth.model.fits.text import looks_stated, stated
from nonsmooth.model.fits.toleranced import Toleranced

__all__ = ["Fit", "Scatter", "Toleranced", "looks_stated", "stated"]
