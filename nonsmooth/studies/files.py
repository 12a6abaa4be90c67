"""Datasets of studies as files: results, and the runs of a sweep as they finish."""

from __future__ import annotations

import contextlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError
from nonsmooth.files import inspect, netcdf_name, read_dataset, remove_unfinished, write_bytes, write_dataset
from nonsmooth.trajectory.dataset import texts

if TYPE_CHECKING:
    import xarray

FINISHED, FAILED = "finished", "failed"
FACTS = ("status", "message", "verdict", "valid_until")  # variables of a sweep besides its metrics
#: verdict of runs that were not repeated with finer steps, and of those that failed
UNCHECKED, INCOMPLETE = "not checked", "incomplete"


class EveryRunFailed(RuntimeWarning):
    """All runs of a study failed; its result says why."""


class Result(ABC):
    """Base of results that have a dataset."""

    @abstractmethod
    def _tables(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Variables, coordinates and attributes of the dataset."""

    def to_dataset(self) -> xarray.Dataset:
        """Everything as an `xarray.Dataset`, with units and meanings as attributes."""
        import xarray

        return xarray.Dataset(*self._tables())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the dataset as NetCDF, complete or not at all; NotWritten if the path cannot be written."""
        write_dataset(self.to_dataset(), netcdf_name(path), "The study")


def variable(over: str | tuple[str, ...], values: Any, unit: str | None = None, meaning: str | None = None) -> Any:
    """A variable of a dataset: its dimensions, its values, and its unit and meaning as attributes."""
    values = np.asarray(values)
    values = values.astype(object) if values.dtype.kind == "U" else values
    about = {"units": unit, "long_name": meaning}
    return over, values, {name: words for name, words in about.items() if words is not None}


def doubts(verdicts: Mapping[str, Any], failed: Mapping[str, str] | None = None) -> list[str]:
    """A line for each run, by name, that is not accurate, and for each that is left out since it failed."""
    lines = [f"{name}: {verdict}" for name, verdict in verdicts.items() if verdict.kind != "accurate"]
    return lines + [f"{name}: left out, it {reason}" for name, reason in (failed or {}).items()]


@dataclass(frozen=True)
class Outcome:
    """Stored result of one run: `message`: why it or a metric failed, or a remark; kind of its verdict, horizon [s]."""

    values: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    message: str = ""
    verdict: str = UNCHECKED
    horizon: float = np.inf

    @property
    def failed(self) -> bool:
        return bool(self.message) and not self.values


class SweepFolder:
    """Runs of a sweep on disk: a folder beside the output with one file per block of runs, and the complete dataset."""

    def __init__(self, output: Path | None, plan: Mapping[str, Any]) -> None:
        self.output, self.plan = output, plan
        self.whole: xarray.Dataset | None = None
        if output is None:
            return
        self.folder = output.with_name(f"{output.name}.runs")
        if output.exists():
            with _continued(output):
                self.whole = read_dataset(output)
                known = json.loads(str(self.whole.attrs.get("plan", "{}")))
            self._check(known, output)
            self._clear()
            return
        try:
            self.folder.mkdir(exist_ok=True)
            plan_file = self.folder / "plan.json"
            if plan_file.exists():
                with _continued(plan_file):
                    known = json.loads(plan_file.read_text(encoding="utf-8", errors="replace"))
                self._check(known, self.folder)
            else:
                write_bytes(json.dumps(plan, indent=1).encode(), plan_file, "The plan of the sweep")
        except OSError as error:
            raise InputError(f"Runs cannot be kept in {self.folder} ({error.strerror}).") from error

    def _check(self, known: Any, where: Path) -> None:
        if not isinstance(known, dict):
            raise InputError(f"{where} states no plan of a sweep; remove it, or give another name.")
        for name, value in self.plan.items():
            if known.get(name) != value:
                there = f"{known[name]!r} there, {value!r} here" if name in known else "it has none"
                raise InputError(
                    f"{where} holds another sweep: its {name} differs ({there}). Give another name, or remove it."
                )

    def read(self) -> dict[int, Outcome]:
        """Finished runs by number; lists of different lengths stay filled with NaN."""
        done: dict[int, Outcome] = {}
        paths = sorted(self.folder.glob("runs-*.nc")) if self.output is not None else []
        inspect(paths)
        for path in paths:
            with _continued(path):
                block = read_dataset(path)
                columns = {str(name): block[name].values for name in block.data_vars if name not in FACTS}
                facts = zip(*(block[name].values for name in ("run", *FACTS)), strict=True)
                for i, (number, status, message, verdict, until) in enumerate(facts):
                    failed = status == FAILED
                    values = {} if failed else {name: np.asarray(column[i]) for name, column in columns.items()}
                    done[int(number)] = Outcome(values, str(message), UNCHECKED if failed else str(verdict), until)
        return done

    def write(self, numbers: Sequence[int], outcomes: Sequence[Outcome]) -> None:
        if self.output is not None:
            write_dataset(table(numbers, outcomes), self.folder / f"runs-{numbers[0]:08d}.nc", "The study")

    def finish(self, dataset: xarray.Dataset) -> None:
        """Write the complete dataset, which replaces the blocks."""
        if self.output is not None:
            write_dataset(dataset, self.output, "The study")
            self._clear()

    def _clear(self) -> None:
        """Remove what this class has written, and the folder if nothing else is in it."""
        if not self.folder.is_dir():
            return
        for start in (".runs-", ".plan.json-"):
            remove_unfinished(self.folder, start)
        for path in [*self.folder.glob("runs-*.nc"), *self.folder.glob("plan.json*")]:
            path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()


@contextlib.contextmanager
def _continued(path: Path) -> Iterator[None]:
    """Raise errors of a file of a sweep as an InputError that says what to do."""
    try:
        yield
    except (InputError, ValueError, RecursionError, LookupError, TypeError) as error:
        reason = str(error).removesuffix(".")
        raise InputError(f"{path} cannot be continued: {reason}. Remove it, or give another name.") from error


def table(numbers: Iterable[int], outcomes: Sequence[Outcome]) -> xarray.Dataset:
    """Outcomes over the runs; lists of different lengths are filled with NaN."""
    import xarray

    data: dict[str, Any] = {
        "status": ("run", texts(FAILED if one.failed else FINISHED for one in outcomes)),
        "message": ("run", texts(one.message for one in outcomes)),
        "verdict": ("run", texts(INCOMPLETE if one.failed else one.verdict for one in outcomes)),
        "valid_until": ("run", np.array([one.horizon for one in outcomes], float)),
    }
    for name in dict.fromkeys(name for one in outcomes for name in one.values):
        entries = [one.values.get(name, np.array(np.nan)) for one in outcomes]
        if all(entry.ndim == 0 for entry in entries):
            data[name] = ("run", np.array(entries, float))
        else:
            data[name] = (("run", f"{name}_item"), padded(entries))
    return xarray.Dataset(data, {"run": ("run", np.fromiter(numbers, int))})


def padded(lists: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Lists as rows, filled with NaN."""
    filled = np.full((len(lists), max((one.size for one in lists), default=0)), np.nan)
    for row, one in zip(filled, lists, strict=True):
        row[: one.size] = one
    return filled
