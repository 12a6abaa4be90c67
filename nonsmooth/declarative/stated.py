"""A model read from a TOML file, which also says how its initial state is assembled."""

from __future__ import annotations

from typing import Any, Literal

from nonsmooth.model.model import Model
from nonsmooth.model.state import Assembly
from nonsmooth.model.system import System

__all__ = ["CENTRED", "Assembled", "StatedModel"]

#: joints with clearance are replaced by ideal joints while the initial state is assembled
CENTRED: Literal["centred"] = "centred"
Assembled = bool | Literal["centred"]


class StatedModel(Model):
    """A model whose `build` assembles the initial state if its file says so.

    `assembled` is True for ``build(assemble=True)``, "centred" for the initial state of the mechanism with ideal joints
    instead of clearances: ``build(assemble=model.ideal().assemble())``. `stated` contains the descriptions from which
    the file is written again, such as a beam instead of its modes.
    """

    assembled: Assembled = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: name of an element and of a field -> its description in the file, from which the value was created
        self.stated: dict[tuple[str, str], Any] = {}

    def build(self, *, assemble: bool | Assembly | None = None) -> System:
        """As `Model.build`; if `assemble` is omitted, the file decides."""
        if assemble is not None:
            return super().build(assemble=assemble)
        if self.assembled == CENTRED:
            return super().build(assemble=self.ideal().assemble())
        return super().build(assemble=bool(self.assembled))
