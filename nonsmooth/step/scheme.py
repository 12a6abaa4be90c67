"""Declarations of steppers and of their schemes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System
from nonsmooth.programs import Program, Solution
from nonsmooth.step.control import StepControl

#: a program that is to be solved, and a guess
Ask = tuple[Program, Solution | None]


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A scheme as it declares itself: what the engine has to know, which knows none by name."""

    #: name of the module of its text
    text: str
    #: fields with which the next step begins, and those of them that are not valid for one that begins at another time
    state: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    #: fields of the record `System`, with their values
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: variants of the program that are compiled for, or set in, records
    balanced: bool = False
    convex: bool = False
    midpoint: bool = False
    #: whether joints are evaluated for accelerations, and gaps are among the residuals
    accelerations: bool = False
    #: whether steps end at impacts, and shorten themselves
    locates: bool = False
    #: whether impacts by other laws than Newton's are between steps
    between: bool = False
    #: whether impulses of contacts that last are none of impacts in rows of constant steps
    tells_lasting: bool = False


class Stepper(Protocol):
    """Settings of a scheme: a frozen dataclass."""

    #: kind of contact law that it accepts
    contact: ClassVar[type]
    #: module and class of its steps, "nonsmooth.engine.steps.CompiledSteps" if these are a text
    compiled: ClassVar[str]
    #: class name of the solver that is asked first, if none is given, in steps that the default one does not certify
    rescuing_solver: ClassVar[str]

    @property
    def default_solver(self) -> str | None:
        """Class name of the solver of its programs if none is given; None if there are several, see `counts`."""
        ...

    @property
    def solver(self) -> Any: ...

    @property
    def fallback(self) -> bool: ...

    def scheme(self, control: StepControl) -> Scheme: ...

    def check(self, system: System, parameters: Array, control: StepControl) -> None: ...
