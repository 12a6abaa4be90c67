"""Common base of steppers: the accepted step, and the protocol between a formulation and the time loop.

A formulation's step is a generator. It yields one program at a time, with an initial guess, receives the
accepted solution, and returns the `Step`. One step may take one program or several (re-linearised gaps, trial step
sizes, an impact at its end); the stepper is independent of the solver, and the time loop of the scheme.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.model.state import State
from nonsmooth.programs import Program, Solution

__all__ = ["Ask", "Formulation", "Remembering", "Step", "Stepper", "Stepping"]


Ask = tuple[Program, Solution | None]


@dataclass(frozen=True, eq=False)
class Step:
    """One accepted step, for the trajectory.

    Impulses [N s] are those of the whole step, including impacts at its end; ``*_impact`` is the part of the impacts.
    Arrays are in the order of the system's names. `residual` is the scaled residual of the discrete equations of the
    step, `complementarity` the natural map of the contact law. ``work_drivers_impact`` [J] is the part of the drivers'
    work done at the impact, ``loss_friction`` [J] the loss in sliding without impacts. A stepper that integrates them
    provides the work of loads and the losses in damping; otherwise they are computed from the rows by the trapezoidal
    rule. ``stored`` [J] is the elastic energy of compliant contacts at the end of the step, ``loss_contact`` their loss
    in it.
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
    """A scheme applied to one system with given parameters."""

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Prepare the initial state; the second value is its impact, if closed contacts approach."""
        ...

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance from `state` to `t_end` at most; the new state keeps internal states other than the stepper's."""
        ...

    def rules(self) -> dict[str, Any]:
        """Rules and tolerances, for the manifest."""
        ...

    def counts(self) -> dict[str, int]:
        """Costs of the run in addition to programs: ``evaluations`` of the equations of motion."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A formulation with more data from step to step than states contain."""

    def held(self) -> dict[str, Any]:
        """These data after a step, as plain data for a checkpoint."""
        ...

    def hold(self, held: Mapping[str, Any], state: State) -> None:
        """Continue from a checkpoint, whose state is `state`."""
        ...


class Stepper(Protocol):
    """Settings of a scheme: a frozen dataclass.

    One with compiled steps names their module and class in `engine` by the class variable `compiled`; one with a Python
    formulation has ``formulate(system, parameters, control, solver)``, which returns a `Formulation`.
    """

    #: kind of contact law that it accepts
    contact: ClassVar[type]
    #: class name of the default solver
    default_solver: ClassVar[str]
    #: kinds of program for which `solver` is used; programs of other kinds use the chain of their kind
    programs: ClassVar[tuple[type, ...]]

    @property
    def solver(self) -> Any: ...

    @property
    def fallback(self) -> bool: ...
