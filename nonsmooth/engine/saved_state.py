"""Numbers of the memory of a run as one array: the internal states of a state, and all of them for a checkpoint."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.records.memory import Memory
from nonsmooth.compile.records.schema import SCHEMAS, Count, Field, Inside, Link, Many, dtype, offset
from nonsmooth.engine.layout import Layout
from nonsmooth.model.state import InternalStates


class Numbers:
    """Fields of records as one array, integers as floating-point numbers; `places` in memory count eight bytes."""

    def __init__(self, places: Sequence[tuple[str, NDArray[np.intp]]], counts: Collection[str]) -> None:
        self.fields = tuple((name, place.shape) for name, place in places)
        self._place, self._counts = dict(places), counts
        self._all = np.concatenate([np.zeros(0, dtype=np.intp), *(place.ravel() for _, place in places)])
        whole = [np.full(place.size, name in counts) for name, place in places]
        self._whole = np.concatenate([np.zeros(0, dtype=bool), *whole])

    def of(self, memory: Memory) -> InternalStates:
        """Values of the fields in a memory."""
        bits = memory.raw.view(np.int64)[self._all]
        numbers = bits.view(np.float64)
        numbers[self._whole] = bits[self._whole]
        return InternalStates(self.fields, numbers)

    def put(self, memory: Memory, known: InternalStates, without: Collection[str] = ()) -> None:
        """Write values; of those of another scheme the fields, and their columns, that both have."""
        if not known.fields:
            return
        words = memory.raw.view(np.int64)
        if known.fields[: len(self.fields)] == self.fields and not without:  # those of controllers follow
            numbers = known.numbers[: self._all.size]
            bits = numbers.view(np.int64).copy()
            bits[self._whole] = numbers[self._whole]
            words[self._all] = bits
            return
        for name, place in self._place.items():
            values = known.get(name) if name not in without else None
            if values is not None and values.shape[:1] == place.shape[:1] and values.ndim == place.ndim:
                if place.ndim > 1:  # a contact without friction has one row
                    columns = min(place.shape[1], values.shape[1])
                    place, values = place[:, :columns], values[:, :columns]
                words[place] = values if name in self._counts else np.ascontiguousarray(values).view(np.int64)


def internal_states(layout: Layout, memory: Memory, state: Sequence[str]) -> Numbers:
    """The internal states of a scheme, in the order of the model; all of them keep the start of the grid of steps."""
    names, known = ("System.origin", *(("Body.v",) if layout.pads else ()), *state), layout.state_places
    key = names, tuple(memory.start.values())
    if key not in known:
        counts = {name for name in names if isinstance(_field(name), Count)}
        known[key] = Numbers([(name, _places(layout, memory, *name.split("."))) for name in names], counts)
    found: Numbers = known[key]
    return found


def varying(layout: Layout, memory: Memory) -> Numbers:
    """Everything that changes during a run."""
    names = [".".join(path) for schema in memory.of for path in _varying(schema)]
    places = [(name, _words(memory, *name.split("."))) for name in names]
    return Numbers(places, {name for name in names if isinstance(_field(name), Count)})


def _varying(schema: str) -> Iterator[tuple[str, ...]]:
    for name, kind in SCHEMAS[schema].fields.items():
        if isinstance(kind, Inside):
            for _, *rest in _varying(kind.of):
                yield schema, name, *rest
        elif not (kind.constant or isinstance(kind, Link | Many)):
            yield schema, name


def _field(name: str) -> Field:
    schema, *inside, last = name.split(".")
    for one in inside:
        kind = SCHEMAS[schema].fields[one]
        assert isinstance(kind, Inside)
        schema = kind.of
    return SCHEMAS[schema].fields[last]


def _words(memory: Memory, schema: str, *path: str) -> NDArray[np.intp]:
    """Places of a field of all records of a schema (records,) or (records, numbers)."""
    size = dtype(schema, memory.shape).itemsize
    starts = memory.start[schema] + offset(schema, memory.shape, *path) + size * np.arange(len(memory.of[schema]))
    shape = _field(".".join((schema, *path))).shape(memory.shape)
    return starts // 8 if not shape else starts[:, None] // 8 + np.arange(np.prod(shape))


def _places(layout: Layout, memory: Memory, schema: str, *path: str) -> NDArray[np.intp]:
    """Entries in the order of the model, of motions and of rows of joints only those that it has, and those of pads;
    of velocities these alone, the others are part of the state itself."""
    words = _words(memory, schema, *path)
    if schema == "Body":
        pads = np.array(
            [(pad.body - 1) * layout.shape.width + pad.place for pad in layout.pads if pad.body], dtype=np.intp
        )
        return words[1:].ravel()[pads if path == ("v",) else np.concatenate([layout.v_places, pads])]
    if schema == "Joint" and words.ndim > 1:
        return words.ravel()[layout.joints]
    if path == ("bristle_row",):
        words, counts = words[layout.contacts], memory.of[schema]["bristles_count"][layout.contacts]
        return words[np.arange(words.shape[1]) < counts[:, None]]
    return words[layout.contacts] if schema in ("Contact", "Touch", "Overlap") else words
