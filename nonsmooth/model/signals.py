"""Functions of time in loads and drivers: a number, a table, or a callable that is called once with symbolic time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import ModelError

__all__ = ["Signal", "Table", "evaluate_signal", "signal_values"]


@dataclass(frozen=True)
class Table:
    """Piecewise linear function of time through given points, level before the first and after the last.

    Parameters
    ----------
    times : [s], strictly increasing, at least two
    values : one per time

    Raises
    ------
    ModelError
        If times do not increase, lengths differ, or a number is not finite.

    >>> Table(times=(0.0, 1.0), values=(0.0, 50.0))(0.5)
    25.0
    """

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        try:
            times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(
                f"Table: times and values must be numbers, got {self.times!r} and {self.values!r}."
            ) from None
        if times.ndim != 1 or times.size < 2 or times.shape != values.shape:
            raise ModelError(
                "Table: times and values must be two sequences of one length >= 2, "
                f"got shapes {times.shape} and {values.shape}."
            )
        for name, array in (("times", times), ("values", values)):
            bad = np.flatnonzero(~np.isfinite(array))
            if bad.size:
                raise ModelError(f"Table: {name} must be finite, got {name}[{bad[0]}] = {array[bad[0]]}.")
        back = np.flatnonzero(np.diff(times) <= 0)
        if back.size:
            pair = f"{times[back[0]]:g} followed by {times[back[0] + 1]:g}"
            raise ModelError(f"Table: times must increase strictly, got {pair}; for a jump leave a short ramp.")
        object.__setattr__(self, "times", tuple(map(float, times)))
        object.__setattr__(self, "values", tuple(map(float, values)))

    def __call__(self, t: Any) -> Any:
        """The value at time t: an expression of a symbol, a number of a number."""
        if isinstance(t, ca.SX | ca.MX):
            return ca.pw_lin(ca.fmin(ca.fmax(t, self.times[0]), self.times[-1]), list(self.times), list(self.values))
        return float(np.interp(t, self.times, self.values))


Signal = float | Callable[[Any], Any]


def evaluate_signal(element: str, field: str, signal: Callable[[Any], Any], t: ca.SX, size: int) -> ca.SX:
    """The expression of a callable load or motion at symbolic time, as a column of `size` entries."""
    expression = _expression(element, field, signal, t)
    if expression.shape != (size, 1):
        raise ModelError(f'"{element}": {field} must return {size} component(s), got {expression.numel()}.')
    return expression


def signal_values(element: str, field: str, signal: Callable[[Any], Any], t: float) -> Array:
    """The components of a callable load or motion at a time, finite or not."""
    symbol = ca.SX.sym("t")
    function = ca.Function("signal", [symbol], [ca.densify(_expression(element, field, signal, symbol))])
    return np.array(function(t)).ravel()


def _expression(element: str, field: str, signal: Callable[[Any], Any], t: ca.SX) -> ca.SX:
    try:
        with warnings.catch_warnings():  # CasADi 3.8 warns of numpy functions of symbols; they give what is wanted here
            warnings.filterwarnings("ignore", r"\s*casadi: a numpy function", FutureWarning)
            value = signal(t)
        parts: Sequence[Any] = value if isinstance(value, (tuple, list)) else [value]
        expression = ca.SX(ca.vertcat(*(ca.SX(part) for part in parts)))
    except Exception as error:
        raise ModelError(
            f'"{element}": {field} could not be evaluated with symbolic time ({type(error).__name__}: {error}). '
            "Write it with casadi or numpy functions of t and without branches, or give a Table(times, values)."
        ) from error
    others = [symbol.name() for symbol in ca.symvar(expression) if symbol.element_hash() != t.element_hash()]
    if others:
        raise ModelError(f'"{element}": {field} depends on {", ".join(others)}; it may depend on time only.')
    return expression
