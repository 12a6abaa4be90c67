"""A number of event-driven runs as a function of parameters, with its derivatives: for reliability and optimisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.derivatives.sensitivities import Gradient, gradient
from nonsmooth.exceptions import InputError
from nonsmooth.model.closing import closed_start
from nonsmooth.model.system import System
from nonsmooth.settings import hint, require, shown


@dataclass(eq=False)
class MotionOutput:
    """Parameters (n, k) -> outputs (n,) of event-driven runs; `gradient` gives that of one product with derivatives.

    The joints of each product are closed from the start of the system, by least motion.

    Parameters
    ----------
    system : System
    of : as of `nonsmooth.derivatives.gradient`, one
    names : of the parameters that vary, in the order of the columns
    t_end, parameters, options : as of `nonsmooth.derivatives.gradient`; these parameters are constant

    >>> from nonsmooth import Rigid
    >>> from nonsmooth_problems import bouncing_ball
    >>> ball = bouncing_ball(height=1.0, contact=Rigid(restitution=0.8, friction=0.0)).build()
    >>> impulse = MotionOutput(ball, "peak-impulse:floor", ["floor.restitution"], t_end=0.6)
    >>> value, slopes, verdict = impulse.gradient([0.8])
    >>> [round(float(x), 6) for x in (value, *slopes)]  # 1.8 sqrt(2 g h), sqrt(2 g h)
    [7.973004, 4.429447]
    """

    system: System
    of: Any
    names: Sequence[str]
    t_end: float | str
    parameters: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(isinstance(self.system, System), "MotionOutput: system must be a System", self.system)
        require(isinstance(self.names, Iterable), "MotionOutput: names must be names of parameters", self.names)
        known = list(self.system.parameters)
        for name in self.names:
            if name not in known:
                raise InputError(f"MotionOutput: there is no parameter {shown(name)}.{hint(name, known)}")

    def __call__(self, values: Array) -> Array:
        return np.array([self._at(row).result[0] for row in np.atleast_2d(np.asarray(values, dtype=float))])

    def gradient(self, values: Sequence[float] | Array) -> tuple[float, Array, str]:
        """The output, its derivatives (k,), NaN where there are none, and the verdict."""
        found = self._at(np.asarray(values, dtype=float))
        return float(found.result[0]), found.values[0], found.verdict

    def _at(self, row: Array) -> Gradient:
        own = {**self.parameters, **dict(zip(self.names, row.tolist(), strict=True))}
        start = closed_start(self.system, self.system.start, self.system.parameter_vector(own))
        return gradient(self.system, of=[self.of], wrt=list(self.names), t_end=self.t_end, parameters=own,
                        **{"state": start, **self.options})  # fmt: skip
