"""A model read from a TOML file, with the descriptions of its values."""

from __future__ import annotations

from typing import Any

from nonsmooth.model.model import Model


class StatedModel(Model):
    """A model of a TOML file. `stated` contains the descriptions from which the file is written again, such as a beam
    instead of its modes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: name of an element and of a field -> its description in the file, from which the value was created
        self.stated: dict[tuple[str, str], Any] = {}
