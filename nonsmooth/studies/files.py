"""Datasets of studies as files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    import xarray

__all__ = ["save_dataset"]


def save_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a NetCDF file; under a temporary name beside, then renamed, so that a file of that name is complete.

    Raises
    ------
    InputError
        If the path cannot be written.
    """
    path = Path(path)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            unfinished = Path(folder) / path.name
            dataset.to_netcdf(unfinished, engine="h5netcdf")
            os.replace(unfinished, path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"The study cannot be written to {path} ({reason}); give a file in a writable folder."
        ) from error
