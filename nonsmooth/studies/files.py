"""Datasets of studies as files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonsmooth.files import write_dataset

if TYPE_CHECKING:
    import xarray

__all__ = ["save_dataset"]


def save_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a NetCDF file with a checksum, under a temporary name beside, then renamed: what has that name is whole.

    Raises
    ------
    NotWritten
        If the path cannot be written; a file that was there is as it was.
    """
    write_dataset(dataset, path, "The study")
