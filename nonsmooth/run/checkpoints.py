"""Checkpoints: files written at intervals, from which a run that was killed continues bitwise identically.

Like results, the file is NetCDF with a checksum. It contains only numbers, in a single variable, and a text that
describes them: nothing read from it is executed or used as an address in memory.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.exceptions import InputError, NotWritten, ValidityWarning
from nonsmooth.files import load_libraries, path_of, read_contents, write_contents
from nonsmooth.model.state import InternalStates, State
from nonsmooth.settings import is_number, shown

CHECKPOINT = "nonsmooth-checkpoint-5"
#: [s] between two checkpoints
EVERY = 60.0
#: writing takes at most this fraction of the time, inverted
SHARE = 10
#: types of numbers that a file may contain
KINDS = ("<f8", "<c16", "<i8", "<i4", "|i1", "|u1", "|b1")

Tree = dict[str, Any]


def call_of(system: Any, values: NDArray[Any], first: State, stated: Mapping[str, Any]) -> dict[str, Any]:
    """The data that identify a call of `simulate`: mechanism, parameters, initial state, arguments."""
    memory = {name: value.tolist() for name, value in first.memory.items()}
    return {
        "versions": {name: importlib.metadata.version(name) for name in ("nonsmooth", "casadi", "numpy", "scipy")},
        "mechanisms": {"model": system.description},
        "parameters": dict(zip(system.parameters, values.tolist(), strict=True)),
        "starts": {"t": first.t, "q": first.q.tolist(), "v": first.v.tolist(), "memory": memory},
        "arguments": {name: value if value is None or isinstance(value, int | float | str) else repr(value)
                      for name, value in stated.items()},
    }  # fmt: skip


class Checkpoint:
    """A file, written `every` so many seconds, from which the runs of one `call` of `simulate` continue. `path` may
    have a `request`, the command line with which ``nonsmooth run --resume`` repeats the call. InputError if the file is
    not a checkpoint, is damaged, contains another call, or cannot be written."""

    def __init__(self, path: Any, every: Any, call: Mapping[str, Any]) -> None:
        self.path = path_of(path, "checkpoint")
        if not (is_number(every) and every > 0.0):
            raise InputError(f"every must be a positive number of seconds between two checkpoints, got {shown(every)}.")
        self.every, self.request = float(every), str(getattr(path, "request", ""))
        self.call: dict[str, Any] = json.loads(json.dumps(dict(call), default=str))
        self.runs: list[Tree] = []
        self.number, self.warned = -1, False
        if self.path.exists():
            known, self.runs, request = stored(self.path)
            self.request = self.request or request
            for name, value in self.call.items():
                if known.get(name) != value:
                    differs = _differing(known.get(name), value)
                    raise InputError(
                        f"{self.path} holds another run: its {name} differ{differs}. Use the arguments of that run to "
                        "continue it, give another name, or remove the file."
                    )
        try:
            with tempfile.TemporaryFile(dir=self.path.parent):
                pass
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(
                f"The checkpoint {self.path} cannot be written ({reason}); give a file in a writable folder."
            ) from error
        load_libraries()  # before the run instead of within its first interval
        self.last, self.pause = time.monotonic(), self.every

    def next_run(self, settings: Mapping[str, Any]) -> None:
        """Begin the next run of the call: `saved_state` is that from which it continues, None from its start."""
        self.number += 1
        stated: dict[str, Any] = json.loads(json.dumps(dict(settings), default=str))
        if self.number < len(self.runs) and self.runs[self.number].get("settings") != stated:
            del self.runs[self.number :]  # of runs chosen differently, with another budget
        del self.runs[self.number + 1 :]
        if self.number == len(self.runs):
            self.runs.append({"settings": stated})
        self.saved_state: Tree | None = self.runs[self.number].get("held")

    def save(self, tree: Tree) -> None:
        """Write the file again, with the state of the run. If this fails, a warning is issued once."""
        begin = time.monotonic()
        self.runs[self.number]["held"], arrays = tree, list[NDArray[Any]]()
        try:
            state = json.dumps(_packed({"call": self.call, "runs": self.runs}, arrays))
            data = np.concatenate([np.zeros(1, np.uint8), *(one.view(np.uint8) for one in arrays)])
            attributes = {"Conventions": CHECKPOINT, "request": self.request, "state": state}
            numbers = (("byte",), data, {"long_name": "numbers of `state`"})
            write_contents({"numbers": numbers}, attributes, self.path, "The checkpoint")
        except (NotWritten, MemoryError) as error:
            self.refuse(error)
        finally:
            self.last = time.monotonic()
            self.pause = max(self.every, SHARE * (self.last - begin))

    def refuse(self, error: Exception) -> None:
        """Warn once that no checkpoint could be written."""
        if not self.warned:
            why = str(error) or "There is not enough memory to write a checkpoint."
            warnings.warn(f"{why} The run continues and tries again later.", ValidityWarning, stacklevel=3)
        self.warned = True


def stored(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Tree], str]:
    """The contents of a checkpoint: its call, its runs, and the command line; InputError if there is none."""
    path = Path(path_of(path, "checkpoint"))
    variables, attributes = read_contents(path, known="numbers|byte", conventions=CHECKPOINT, what="checkpoint")
    try:
        data = np.ascontiguousarray(variables["numbers"][1], dtype=np.uint8)
        tree = _unpacked(json.loads(attributes["state"]), data)
        call, runs = tree["call"], tree["runs"]
        if not (isinstance(call, dict) and isinstance(runs, list) and all(isinstance(run, dict) for run in runs)):
            raise TypeError("no call with its runs")
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise incomplete(path, error) from error
    return call, runs, str(attributes.get("request", ""))


def incomplete(path: object, error: Exception) -> InputError:
    """The error of a file whose contents do not fit."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return InputError(f"{path} is not a complete checkpoint of this run ({reason}); remove it to start again.")


def _differing(there: Any, here: Any) -> str:
    """Path to the first difference of two trees, elements of lists by their names, and the values there."""
    path: list[str] = []
    while True:
        if isinstance(there, dict) and isinstance(here, dict):
            keys: Iterable[Any] = dict.fromkeys((*here, *there))
            pairs = {str(key): (there.get(key), here.get(key)) for key in keys}
        elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
            named = [one.get("name", k) if isinstance(one, dict) else k for k, one in enumerate(here)]
            pairs = dict(zip(map(str, named), zip(there, here, strict=True), strict=True))
        else:
            break
        name = next((name for name, (one, other) in pairs.items() if one != other), None)
        if name is None:  # elements of one name
            break
        path.append(name)
        there, here = pairs[name]
    shown = (text if len(text) <= 60 else f"{text[:57]}..." for text in map(repr, (there, here)))
    return " in {} ({} there, {} here)".format(".".join(path), *shown) if path else ""


# --------------------------------------------------------------------------------------------- trees of plain data


def _packed(thing: Any, arrays: list[NDArray[Any]]) -> Any:
    """Plain data for JSON, with arrays described, and their numbers added to `arrays` in the order of memory."""
    if isinstance(thing, State):
        fields = [[name, *shape] for name, shape in thing.memory.fields]
        parts = {"t": thing.t, "q": thing.q, "v": thing.v, "fields": fields, "memory": thing.memory.numbers}
        return {"state": _packed(parts, arrays)}
    if isinstance(thing, Mapping):
        return {"tree": {str(name): _packed(value, arrays) for name, value in thing.items()}}
    if isinstance(thing, list | tuple):
        return {"tuple" if isinstance(thing, tuple) else "list": [_packed(value, arrays) for value in thing]}
    if isinstance(thing, np.bool_ | np.float64 | np.int64):
        return {"scalar": [thing.dtype.newbyteorder("<").str, thing.item()]}
    if isinstance(thing, np.ndarray):
        kind = thing.dtype.newbyteorder("<").str
        if kind not in KINDS:
            raise TypeError(f"an array of {thing.dtype} has no place in a checkpoint")
        order: Any = "F" if thing.ndim > 1 and thing.flags.f_contiguous and not thing.flags.c_contiguous else "C"
        arrays.append(np.ascontiguousarray(thing.astype(kind, copy=False).ravel(order)))
        return {"array": [kind, order, *thing.shape]}
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    raise TypeError(f"{type(thing).__name__} has no place in a checkpoint")


def _unpacked(tree: Any, data: NDArray[np.uint8]) -> Any:
    """The tree of `_packed`, with arrays read from their bytes; ValueError and others if they do not fit."""
    place = 1

    def read(thing: Any) -> Any:
        nonlocal place
        if not isinstance(thing, dict):
            return thing
        ((name, value),) = thing.items()
        if name == "tree":
            return {str(key): read(one) for key, one in value.items()}
        if name in ("list", "tuple"):
            found = [read(one) for one in value]
            return found if name == "list" else tuple(found)
        if name == "state":
            parts = read(value)
            fields = tuple((str(key), tuple(map(int, shape))) for key, *shape in parts["fields"])
            return State(float(parts["t"]), parts["q"], parts["v"], InternalStates(fields, parts["memory"]))
        if name == "scalar" and value[0] in KINDS:
            return np.dtype(value[0]).type(value[1])
        if name != "array":
            raise ValueError(f"{str(name)[:40]!r} is no kind of data")
        kind, order, *shape = value
        if kind not in KINDS or order not in ("C", "F") or not all(isinstance(n, int) and n >= 0 for n in shape):
            raise ValueError(f"{str(value)[:60]} is no array")
        size = math.prod(shape) * np.dtype(kind).itemsize
        if place + size > data.size:
            raise ValueError("numbers are missing")
        part = data[place : place + size].copy().view(kind)
        place += size
        return part.reshape(shape, order=order)

    found = read(tree)
    if place != data.size:
        raise ValueError("there are more numbers than described")
    return found
