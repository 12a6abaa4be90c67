"""The model that a TOML file states, which is assembled as the file says."""

from __future__ import annotations

from typing import Any, Literal

from nonsmooth.model.closing import Assembly
from nonsmooth.model.model import Model
from nonsmooth.model.system import System

__all__ = ["CENTRED", "Assembled", "StatedModel"]

#: clearances stand as ideal joints while the start is assembled
CENTRED: Literal["centred"] = "centred"
Assembled = bool | Literal["centred"]


class StatedModel(Model):
    """A model whose `build` assembles the start where its file says so.

    `assembled` is True for ``build(assemble=True)``, "centred" for the start of the mechanism with ideal joints in
    place of its clearances: ``build(assemble=model.ideal().assemble())``. `stated` is what a file is written from
    again, such as a beam instead of its modes.
    """

    assembled: Assembled = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: name of an element and its field -> what the file states there instead of the value made of it
        self.stated: dict[tuple[str, str], Any] = {}

    def build(self, *, assemble: bool | Assembly | None = None) -> System:
        """As of any model; where nothing is said of assembly here, the file decides."""
        if assemble is not None:
            return super().build(assemble=assemble)
        if self.assembled == CENTRED:
            return super().build(assemble=self.ideal().assemble())
        return super().build(assemble=bool(self.assembled))
