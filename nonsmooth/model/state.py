"""The state of a run, all data required for the next step; and the initial state that an assembly found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nonsmooth.evaluation import Array

__all__ = ["Assembly", "Moved", "State"]

#: number of bodies in the printed table of an assembly
LISTED = 20


@dataclass(frozen=True, eq=False)
class State:
    """Time, coordinates, velocities, and internal states of contact laws and stepper.

    ``t`` [s]; ``q`` (nq,), ``v`` (nv,) right limits. ``law_memory`` contains the internal states of contact laws,
    ``stepper_memory`` those of the stepper (closed contacts, impulses for warm starts), so that a run continues bitwise
    identically.
    """

    t: float
    q: Array
    v: Array
    law_memory: Mapping[str, Array] = field(default_factory=dict)
    stepper_memory: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Moved:
    """The changes of a body by assembly.

    Parameters
    ----------
    body : its name
    displacement : of the centre of mass [m]
    rotation : angle of the rotation from the guess [rad], in space in [0, pi]
    velocity, angular_velocity : norms of their changes [m/s], [rad/s], in space of the components in the body frame
    """

    body: str
    displacement: float
    rotation: float
    velocity: float
    angular_velocity: float


@dataclass(frozen=True, eq=False)
class Assembly:
    """A consistent initial state, and the changes from the guess to it; printed as a table by body.

    Parameters
    ----------
    start, guess : State
    moved : of each body, in order
    residual : largest remaining constraint residual [m or rad]
    rate : largest remaining constraint velocity [m/s or rad/s]
    iterations : number of accepted steps
    attempts : 1, or more if randomly perturbed guesses were required
    """

    start: State
    guess: State
    moved: tuple[Moved, ...]
    residual: float
    rate: float
    iterations: int
    attempts: int

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
