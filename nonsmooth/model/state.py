"""The state of a run, all data required for the next step; and the initial state that an assembly found."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array

#: number of bodies in the printed table of an assembly
LISTED = 20


@dataclass(frozen=True, eq=False)
class InternalStates(Mapping[str, Array]):
    """Internal states of a run in one array, and views of it by the scheme's fields: ``state.memory["Contact.P"]``."""

    fields: tuple[tuple[str, tuple[int, ...]], ...] = ()  #: names and shapes, in the order of the array
    numbers: Array = field(default_factory=lambda: np.zeros(0))  #: (n,)

    def __post_init__(self) -> None:
        if self.numbers.shape != (sum(math.prod(shape) for _, shape in self.fields),):
            raise ValueError(f"{self.numbers.shape} internal states are not those of their {len(self.fields)} fields")

    def __getitem__(self, name: str) -> Array:
        first = 0
        for one, shape in self.fields:
            size = math.prod(shape)
            if one == name:
                return self.numbers[first : first + size].reshape(shape)
            first += size
        raise KeyError(name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numbers, dtype, copy=copy)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, velocities, and internal states of contact laws and stepper.

    ``t`` [s]; ``q`` (nq,), ``v`` (nv,) right limits. ``memory`` contains the internal states (closed contacts, impulses
    for warm starts, bristles), empty before a run, with which a run continues; see `Trajectory.end`. ``gap`` (nc,) [m]
    are the true gaps where it is the end of a run, against which a run that continues with other parameters is checked.
    """

    t: float
    q: Array
    v: Array
    memory: InternalStates = field(default_factory=InternalStates)
    gap: Array | None = None


@dataclass(frozen=True)
class Moved:
    """The changes of a body by assembly."""

    body: str  #: its name
    displacement: float  #: of the centre of mass [m]
    rotation: float  #: angle of the rotation from the guess [rad], in space in [0, pi]
    velocity: float  #: norm of its change [m/s]
    angular_velocity: float  #: norm of its change [rad/s], in space of the components in the body frame


@dataclass(frozen=True, eq=False)
class Assembly:
    """A consistent initial state, and the changes from the guess to it; printed as a table by body."""

    start: State
    guess: State
    moved: tuple[Moved, ...]  #: of each body, in order
    residual: float  #: largest remaining constraint residual [m or rad]
    rate: float  #: largest remaining constraint velocity [m/s or rad/s]
    iterations: int  #: number of accepted steps
    attempts: int  #: 1, or more if randomly perturbed guesses were required

    def __str__(self) -> str:
        columns = ("displacement [m]", "rotation [rad]", "velocity [m/s]", "angular velocity [rad/s]")
        lines = [f"Assembled in {self.iterations} steps: constraints are closed to {self.residual:.2g} and their rates "
                 f"to {self.rate:.2g}. Changes by body:"]  # fmt: skip
        if self.attempts > 1:
            lines.append(
                f"Assembly from the guess itself failed; this is attempt {self.attempts}, from a perturbed guess. "
                "Check the assembly mode."
            )
        order = sorted(self.moved, key=lambda m: -m.rotation)[:LISTED] if len(self.moved) > LISTED else self.moved
        width = max([4, *(len(m.body) for m in order)])
        lines.append(" ".join([f"{'body':<{width}}", *columns]))
        for m in order:
            numbers = (m.displacement, m.rotation, m.velocity, m.angular_velocity)
            cells = (f"{x:>{len(c)}.4g}" for x, c in zip(numbers, columns, strict=True))
            lines.append(" ".join([f"{m.body:<{width}}", *cells]))
        if len(order) < len(self.moved):
            lines.append(f"and {len(self.moved) - len(order)} more bodies, which turned less.")
        return "\n".join(lines)
