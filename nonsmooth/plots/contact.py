"""Contacts of a run over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.plots.curves import Exact, limits, readable, units_of
from nonsmooth.plots.motion import draw_panels
from nonsmooth.plots.panel import Panel
from nonsmooth.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def contact(trajectory: Trajectory, contacts: str | Iterable[str] | None = None, exact: Exact | None = None) -> Figure:
    """Gap, mean normal force and impulse since the start of each contact: a row per contact, a scale per column.

    Gaps are interpolated linearly between rows; see `nonsmooth.plots.panels`.

    Parameters
    ----------
    trajectory
        The run.
    contacts
        Names of contacts, or one; all of them by default.
    exact
        The exact solution, as for `nonsmooth.plots.panels`.

    Raises
    ------
    InputError
        For a run without contacts, or an unknown name.
    """
    if isinstance(contacts, str):
        contacts = (contacts,)
    names = tuple(trajectory.gap.names if contacts is None else contacts)
    if not names:
        raise InputError("There is no contact to draw.")
    _, right = limits(trajectory)
    kinds = {"gap": "gap", "lam_N": "force", "impulse": "impulse"}
    units = {}
    for kind in kinds:
        columns = getattr(right, kind)
        peak = max(float(np.max(np.abs(columns[name]))) for name in names)
        units[kind] = readable(units_of(trajectory, kind, names[0]), peak)
    shown = [
        Panel(f"{name}, {word}", units[kind], ((kind, name, word),)) for name in names for kind, word in kinds.items()
    ]
    return draw_panels(trajectory, tuple(shown), exact, columns=len(kinds), share=True)
