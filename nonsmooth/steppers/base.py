"""What the steppers have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from nonsmooth.evaluation import Array
from nonsmooth.model.system import System
from nonsmooth.programs import Program, Solution
from nonsmooth.step_control import StepControl

__all__ = ["Ask", "Stepper"]

#: a program that is to be solved, and a guess
Ask = tuple[Program, Solution | None]


class Stepper(Protocol):
    """Settings of a scheme: a frozen dataclass."""

    #: kind of contact law that it accepts
    contact: ClassVar[type]
    #: module and class in `engine` of its steps
    compiled: ClassVar[str]
    #: class name of the solver that is asked first, if none is given, in steps that the default one does not certify
    rescuing_solver: ClassVar[str]

    @property
    def default_solver(self) -> str | None:
        """Class name of the solver of its programs, if none is given, for manifest and citations; None if there are
        several, which `counts` tells."""
        ...

    @property
    def solver(self) -> Any: ...

    @property
    def fallback(self) -> bool: ...

    def check(self, system: System, parameters: Array, control: StepControl) -> None: ...
