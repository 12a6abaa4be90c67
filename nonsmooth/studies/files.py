"""Results of studies: their datasets as files, and what they say of runs that are not accurate."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.files import write_dataset

if TYPE_CHECKING:
    import xarray


def save_dataset(dataset: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a NetCDF file with a checksum, under a temporary name, then rename it, so that the named file is complete.

    Raises
    ------
    NotWritten
        If the path cannot be written; an existing file remains unchanged.
    """
    write_dataset(dataset, path, "The study")


class Result(ABC):
    """Base of results that have a dataset."""

    @abstractmethod
    def to_dataset(self) -> xarray.Dataset:
        """Everything, with units and meanings as attributes."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the dataset as NetCDF.

        Raises
        ------
        NotWritten
            If the path cannot be written.
        """
        save_dataset(self.to_dataset(), path)


def variable(over: str | tuple[str, ...], values: Any, unit: str | None = None, meaning: str | None = None) -> Any:
    """A variable of a dataset: what it is over, its values, and its unit and meaning as attributes."""
    values = np.asarray(values)
    about = {"units": unit, "long_name": meaning}
    return (
        over,
        values.astype(object) if values.dtype.kind == "U" else values,
        {k: x for k, x in about.items() if x is not None},
    )


def doubts(verdicts: Mapping[str, Any]) -> list[str]:
    """A line for each run, by name, whose verdict is not that it is accurate."""
    return [f"{name}: {verdict}" for name, verdict in verdicts.items() if verdict.kind != "accurate"]
