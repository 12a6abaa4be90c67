"""Functions of time in loads and drivers: a number, a table, or a callable that is called once with symbolic time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.exceptions import ModelError

__all__ = ["Signal", "Table", "evaluate_signal"]


@dataclass(frozen=True)
class Table:
    """Piecewise linear function of time through given points, continued with the end slopes' lines.

    Parameters
    ----------
    times : [s], strictly increasing, at least two
    values : one per time

    Raises
    ------
    ModelError
        If times do not increase, lengths differ, or a number is not finite.

    >>> Table(times=(0.0, 1.0), values=(0.0, 50.0))(0.5)
    DM(25)
    """

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        if times.ndim != 1 or times.size < 2 or times.shape != values.shape:
            raise ModelError(
                f"Table: times and values must be two sequences of one length >= 2, got {times.shape} and {values.shape}."
            )
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(values)) and np.all(np.diff(times) > 0)):
            raise ModelError("Table: times must increase strictly, and all numbers must be finite.")
        object.__setattr__(self, "times", tuple(map(float, times)))
        object.__setattr__(self, "values", tuple(map(float, values)))

    def __call__(self, t: Any) -> Any:
        return ca.pw_lin(t, list(self.times), list(self.values))


Signal = float | Callable[[Any], Any]


def evaluate_signal(element: str, field: str, signal: Callable[[Any], Any], t: ca.SX, size: int) -> ca.SX:
    """The expression of a callable load or motion at symbolic time, as a column of `size` entries."""
    try:
        value = signal(t)
        parts: Sequence[Any] = value if isinstance(value, (tuple, list)) else [value]
        expression = ca.SX(ca.vertcat(*(ca.SX(part) for part in parts)))
    except Exception as error:
        raise ModelError(
            f'"{element}": {field} could not be evaluated with symbolic time ({type(error).__name__}: {error}). '
            "Write it with casadi or numpy functions of t and without branches, or give a Table(times, values)."
        ) from error
    if expression.shape != (size, 1):
        raise ModelError(f'"{element}": {field} must return {size} component(s), got {expression.numel()}.')
    free = [symbol for symbol in ca.symvar(expression) if symbol.name() != t.name()]
    if free:
        raise ModelError(f'"{element}": {field} depends on {free[0].name()}; it may depend on time only.')
    return expression
