"""Amplitudes over frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.diagnostics.spectrum import Spectrum
from nonsmooth.exceptions import InputError
from nonsmooth.plots.style import COLOURS, FAINT, SIZE, dress, own_axes, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: shares of the highest line below which lines are not shown
LOWEST = 1e-6
#: what stands before the name of a quantity of a kind
WORDS = {"v": "velocity of ", "gap": "gap of ", "gap_rate": "rate of the gap of ", "lam_N": "normal force of "}


def amplitudes(
    found: Spectrum, *, base: float | None = None, highest: float | None = None, ax: Axes | None = None
) -> Axes:
    """Amplitude spectrum on a logarithmic scale, the mean left out.

    Parameters
    ----------
    found
        From `nonsmooth.diagnostics.spectrum`.
    base : [Hz], optional
        A frequency whose multiples are marked, as that of the drive.
    highest : [Hz], optional
        End of the axis; half the rate of samples where omitted.
    ax
        Axes to draw into; a figure of their own where omitted.

    Raises
    ------
    InputError
        If there is nothing but the mean.
    """
    f, A = found.frequency[1:], found.amplitude[1:]
    if not np.any(A > 0):
        raise InputError(f"{found.name} is constant; its spectrum contains only the mean.")
    axis = own_axes(ax, 5.6, 3.2)
    end = float(f[-1]) if highest is None else highest
    if base is not None:
        for multiple in np.arange(base, min(end, 60 * base) * (1 + 1e-9), base):
            axis.axvline(multiple, color=FAINT, lw=0.5, ls=(0, (2, 3)), zorder=1)
    axis.semilogy(f, np.maximum(A, LOWEST * A.max()), color=COLOURS[0], lw=0.8, zorder=3)
    axis.set_xlim(0.0, end)
    axis.set_ylim(LOWEST * A.max(), 2.5 * A.max())
    shown = A[f <= end]
    axis.set_ylim(bottom=max(LOWEST * A.max(), float(shown.min()) / 2))
    dress(
        axis,
        f"Spectrum, {WORDS.get(found.kind, '')}{found.name}",
        quantity("frequency", "Hz"),
        quantity("amplitude", found.unit),
        above=1,  # for a note, which has no room beside the title in a narrow panel
    )
    window = "no window" if found.window == "boxcar" else f"{found.window} window"
    note = f"{window}, lines {1 / found.duration:.3g} Hz apart"
    if base is not None:
        note += f"; dashed: multiples of {base:.4g} Hz"
    axis.text(0.0, 1.02, note, transform=axis.transAxes, ha="left", va="bottom", fontsize=SIZE - 1, color=FAINT)
    return axis
