"""Datasets of studies as files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonsmooth.files import write_dataset

if TYPE_CHECKING:
    import xarray

__all__ = ["save_dataset"]


def save_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a NetCDF file with a checksum, under a temporary name, then rename it, so that the named file is complete.

    Raises
    ------
    NotWritten
        If the path cannot be written; an existing file remains unchanged.
    """
    write_dataset(dataset, path, "The study")
