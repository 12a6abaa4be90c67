"""The data with which a run can be repeated, as plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

__all__ = ["Manifest", "plain"]


class Manifest(Mapping[str, Any]):
    """Plain data, made when it is first read: that of a large mechanism takes longer than a few steps.

    Parameters
    ----------
    make : () -> numbers, strings, lists and mappings
    """

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._make = make

    @cached_property
    def data(self) -> dict[str, Any]:
        """As read from a file."""
        return plain(self._make())

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return repr(self.data)

    def __reduce__(self) -> Any:
        return dict, (self.data,)


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values as read from a file, so that a run and its file are identical."""
    result: dict[str, Any] = json.loads(json.dumps(data, default=_plain_value))
    return result


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
