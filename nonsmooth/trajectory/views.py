"""Figures, pages and tables of a run."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.progress import stage

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

__all__ = ["Views"]

#: what draws and converts runs stands above them, and is imported when it is called: name -> module
ABOVE = {
    "contact_table": "nonsmooth.diagnostics", "figure": "nonsmooth.plots", "frame": "nonsmooth.report",
    "write": "nonsmooth.report",
}  # fmt: skip


def _above(name: str) -> Any:
    return getattr(importlib.import_module(ABOVE[name]), name)


class Views:
    """Methods of a trajectory that draw it or convert it; each imports what it needs."""

    if TYPE_CHECKING:
        manifest: Mapping[str, Any]

    def _repr_html_(self) -> str:
        """Display in a notebook: the mechanism in motion and its contact modes, in a frame; see `report`."""
        shown: str = _above("frame")(self)
        return shown

    def report(self, path: str | os.PathLike[str], *, rows: int = 20_000) -> None:
        """Write the run as one HTML page without references to the network: `nonsmooth.report`.

        Parameters
        ----------
        path
            A file ``.html``.
        rows
            Number of rows above which some are omitted, but never those of impacts and of changes of contact modes.

        Raises
        ------
        InputError
            If the path cannot be written.
        """
        with stage("drawing", str(path)):
            _above("write")(self, path, rows=rows)

    def plot(self, *what: Any, width: str | float | None = None, measured: Any = None, exact: Any = None) -> Figure:
        """Draw the run; without arguments its sketch, joint orbits, motion and forces: `nonsmooth.plots.figure`.

        Parameters
        ----------
        what : str or Panel
            Words such as ``"slider.x"``, ``"v:slider.x"``, ``"lam_N:pin"``, ``"orbit:pin"``, ``"sketch"``, or panels.
        width : "single", "double" or a number [mm]
            Width of the figure in a journal: 90 or 190 mm; larger by default.
        measured : path or `nonsmooth.plots.Measured`, optional
            Measured data of a CSV file, drawn over the run.
        exact
            An exact solution, as in `nonsmooth.plots.panels`.

        Returns
        -------
        matplotlib.figure.Figure
            Save it by ``figure.savefig("run.pdf")``.
        """
        drawn: Figure = _above("figure")(self, *what, width=width, measured=measured, exact=exact)
        return drawn

    def to_pandas(self, kinds: Iterable[str] | None = None) -> pandas.DataFrame:
        """The rows as a `pandas.DataFrame`, whose index is the time [s].

        Parameters
        ----------
        kinds : names of tables, optional
            Of ``q``, ``v``, ``gap``, ``gap_rate``, ``lam_N``, ``P_N``, ``P_T``, ``mode``, ``reaction``,
            ``reaction_impact``, ``energy``; by default ``q``, ``v``, ``gap``, ``lam_N``, ``reaction``, ``energy``.

        Returns
        -------
        pandas.DataFrame
            A column has the name of its table and its own, ``"q:slider.x"``; ``attrs["units"]`` has the units.

        >>> from nonsmooth import GaussQP, simulate
        >>> from nonsmooth_problems import slider_rod
        >>> run = simulate(slider_rod().build(), GaussQP(), t_end=1e-3, dt=1e-4)
        >>> table = run.to_pandas(["q", "lam_N"])
        >>> table.shape, table.columns[0], table.attrs["units"]["q:slider.x"]
        ((11, 7), 'q:slider.x', 'm')
        """
        from nonsmooth.trajectory.export import table_of

        return table_of(self, kinds)

    @property
    def compliant(self) -> bool:
        """Whether contacts are compliant: they last, so that `contacts` lists them and `impacts` is empty."""
        return str(self.manifest.get("settings", {}).get("stepper", "")).startswith("CompliantDae")

    @property
    def contacts(self) -> NDArray[np.void]:
        """All contacts, rigid and compliant alike: beginning, end, kind, impulse, peak force, energy.

        A structured array, see `nonsmooth.diagnostics.contact_table`; `to_csv` and `to_mat` write it.

        >>> from nonsmooth import simulate
        >>> from nonsmooth_problems import bouncing_ball
        >>> run = simulate(bouncing_ball().build(), t_end=0.5)
        >>> str(run.contacts["kind"][0]), run.contacts.dtype.names[:4]
        ('impact', ('contact', 'kind', 'start', 'end'))
        """
        table: NDArray[np.void] = _above("contact_table")(self)
        return table

    def to_mat(self, path: str | os.PathLike[str], kinds: Iterable[str] | None = None) -> None:
        """Write the rows as a MAT file: ``t``; ``q``, ``q_names``, ``q_units`` and so on; and the table ``contacts``.

        Parameters
        ----------
        path
            Of the file (.mat), of version 5, which MATLAB and Octave read.
        kinds
            As in `to_pandas`.

        Raises
        ------
        NotWritten
            If the path cannot be written.
        """
        from nonsmooth.trajectory.export import write_mat

        with stage("writing", str(path)):
            write_mat(self, path, kinds)

    def to_csv(self, path: str | os.PathLike[str], kinds: Iterable[str] | None = None) -> None:
        """Write the rows as a CSV file, whose first line has names with units: ``t [s],q:slider.x [m],...``.

        Parameters
        ----------
        path
            Of the file.
        kinds
            As in `to_pandas`; or ``"contacts"`` for the table of that name, one line per contact.

        Raises
        ------
        NotWritten
            If the path cannot be written.
        """
        from nonsmooth.trajectory.export import write_table

        with stage("writing", str(path)):
            write_table(self, path, kinds)
