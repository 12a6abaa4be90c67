"""Dimensions with a tolerance."""

from __future__ import annotations

from typing import Any

from nonsmooth.exceptions import InputError
from nonsmooth.model.fits.scatter import SIGMAS, Scatter
from nonsmooth.settings import is_number, shown

__all__ = ["Toleranced"]


class Toleranced(Scatter):
    """A dimension ``nominal +- tolerance``: the nominal number, wherever a number is taken.

    Parameters
    ----------
    nominal
        In SI units.
    tolerance
        Largest deviation, > 0, in the same unit; T is twice as large.
    distribution
        How products scatter, see `Scatter`.

    Raises
    ------
    InputError
        For a tolerance that is not positive, or an unknown distribution.

    >>> length = Toleranced(0.12, 3e-5)
    >>> float(length), length.lower, round(length.sd, 12)
    (0.12, 0.11997, 1e-05)
    """

    tolerance: float

    def __new__(cls, nominal: float, tolerance: float, *, distribution: str = "normal") -> Toleranced:
        for name, value in (("nominal", nominal), ("tolerance", tolerance)):
            if not is_number(value):
                raise InputError(f"Toleranced: {name} must be a finite number in SI units, got {shown(value)}.")
        if not tolerance > 0.0:
            raise InputError(f"Toleranced: tolerance must be positive, as Toleranced(0.12, 3e-5), got {tolerance!r}.")
        made = super().__new__(cls, nominal)
        made.tolerance, made.distribution = float(tolerance), distribution
        made.lower, made.upper = float(nominal) - made.tolerance, float(nominal) + made.tolerance
        made.sd = 2.0 * made.tolerance / SIGMAS
        made.check_distribution()
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (float(self), self.tolerance, self.distribution)

    def __repr__(self) -> str:
        more = "" if self.distribution == "normal" else f", distribution={self.distribution!r}"
        return f"Toleranced({float(self)!r}, {self.tolerance!r}{more})"

    @property
    def text(self) -> str:
        """As it is written in files and on the command line.

        >>> Toleranced(0.12, 3e-5).text
        '0.12 ±3e-05'
        """
        return f"{float(self)!r} ±{self.tolerance!r}" + (
            "" if self.distribution == "normal" else f" {self.distribution}"
        )


def _made(nominal: float, tolerance: float, distribution: str) -> Toleranced:
    """What pickles and copies are made with."""
    return Toleranced(nominal, tolerance, distribution=distribution)
