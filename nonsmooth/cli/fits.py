"""`nonsmooth fits`: limits and clearances of ISO 286 fits."""

from rich.console import RenderableType

from nonsmooth.cli.report import print_object, show, table_of
from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import Fit, stated

UM = 1e-6
RADIAL = "Joints take the radial clearance, half of the diametral one of drawings."  # which clearance a fit gives


def fits(texts: tuple[str, ...], *, as_json: bool = False) -> None:
    """Limits of an ISO 286 fit, and its diametral and radial clearance.

    Parameters
    ----------
    texts : FIT
        Nominal size in mm and fit, such as "20 H7/g6"; several.
    """
    found: list[Fit] = []
    for text in texts:
        one = stated(text)
        if not isinstance(one, Fit):
            raise InputError(
                f'"{text}" is a toleranced dimension, not a fit; write a size in mm and a fit, as "20 H7/g6".'
            )
        found.append(one)
    if as_json:
        in_metres = [
            {
                "fit": fit.text, "size": fit.size, "hole": [one * UM for one in fit.hole_limits],
                "shaft": [one * UM for one in fit.shaft_limits], "diametral": list(fit.diametral),
                "radial": [fit.lower, fit.middle, fit.upper], "sd": fit.sd,
            }
            for fit in found
        ]  # fmt: skip
        return print_object({"fits": in_metres})
    parts: list[RenderableType] = []
    for fit in found:
        sizes = table_of(fit.text, "class", "deviations [um]", "limits [mm]")
        for name, letter, limits in (("hole", fit.hole, fit.hole_limits), ("shaft", fit.shaft, fit.shaft_limits)):
            ends = " to ".join(f"{fit.size * 1e3 + one * 1e-3:.4f}" for one in limits)
            sizes.add_row(name, letter, f"{limits.lower:+g}, {limits.upper:+g}", ends)
        clearances = table_of("clearance [um]", "min", "mean", "max", "sd (T = 6 sd)")
        for name, factor in (("diametral", 2.0), ("radial", 1.0)):
            numbers = [factor * one / UM for one in (fit.lower, fit.middle, fit.upper)]
            clearances.add_row(name, *(f"{one:.6g}" for one in numbers), f"{factor * fit.sd / UM:.4f}")
        parts += [sizes, "", clearances, ""]
    show(*parts, RADIAL)
