"""Common base of steppers: the accepted step, and the protocol between a formulation and the time loop.

A formulation's step is a generator. It yields one program at a time, with an initial guess, receives the
accepted solution, and returns the `Step`. One step may take one program or several (re-linearised gaps, trial step
sizes, an impact at its end); the stepper is independent of the solver, and the loop of the scheme.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import Program, Solution
from nonsmooth.step_control import StepControl

__all__ = ["CLOSED", "OPEN", "SLIPPING", "STICKING", "Ask", "Formulation", "Remembering", "Step", "Stepper", "Stepping"]

#: contact modes
OPEN, CLOSED, STICKING, SLIPPING = 0, 1, 2, 3

Ask = tuple[Program, Solution | None]


@dataclass(frozen=True, eq=False)
class Step:
    """One accepted advance, ready for the trajectory.

    Impulses [N s] are of the whole step, impacts at its end included; ``*_impact`` is the impacts' share. Arrays
    follow the system's names. `residual` is the scaled residual of the step's own discrete equations,
    `complementarity` its natural map. Of the drivers' work [J], ``work_drivers_impact`` is done at the impact;
    ``loss_friction`` [J] is lost in sliding, impacts aside.
    A stepper that integrates them gives work of loads and losses in damping; otherwise they are taken from the rows by
    the trapezoid. Compliant contacts hold ``stored`` [J] at the end of the step and have lost ``loss_contact`` in it.
    """

    state: State
    v_left: Array
    dt: float
    P_N: Array
    P_N_impact: Array
    P_T: Array
    P_T_impact: Array
    mode: NDArray[np.int8]
    gamma_minus: Array
    gamma_plus: Array
    reaction: Array
    reaction_impact: Array
    residual: float
    complementarity: float
    work_drivers: float = 0.0
    work_drivers_impact: float = 0.0
    loss_friction: float = 0.0
    work_loads: float | None = None
    loss_damping: float | None = None
    loss_contact: float = 0.0
    stored: float = 0.0


Stepping = Generator[Ask, Solution, Step]


class Formulation(Protocol):
    """A scheme on one system with given parameters."""

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Prepare a start; the second value is the impact of a start with approaching closed contacts."""
        ...

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance from `state` to `t_end` at most; the new state keeps memories that are not the stepper's."""
        ...

    def rules(self) -> dict[str, Any]:
        """Stated rules and tolerances, for the manifest."""
        ...

    def counts(self) -> dict[str, int]:
        """What the run has cost besides programs: ``evaluations`` of the equations of motion."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A formulation that keeps more from step to step than states remember."""

    def held(self) -> dict[str, Any]:
        """That, after a step, as plain data for a checkpoint."""
        ...

    def hold(self, held: Mapping[str, Any], state: State) -> None:
        """Go on from a checkpoint, whose state is `state`."""
        ...


class Stepper(Protocol):
    """Settings of a scheme: a frozen dataclass."""

    #: kind of contact law that it takes
    contact: ClassVar[type]
    #: class name of the solver that is used when `solver` is None
    default_solver: ClassVar[str]
    #: kinds of program that `solver` is chosen for; programs of other kinds go to the chain of their kind
    programs: ClassVar[tuple[type, ...]]

    @property
    def solver(self) -> Any: ...

    @property
    def fallback(self) -> bool: ...

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> Formulation: ...
