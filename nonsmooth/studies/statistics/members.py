"""Members of an ensemble: runs that begin alike but for a millionth, separate, and are measured window by window."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates
from nonsmooth.exceptions import InputError, ModelError, NonsmoothError
from nonsmooth.model.checks import check_start
from nonsmooth.model.closing import closed_start
from nonsmooth.model.model import Model
from nonsmooth.model.review import REMARKS
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.run.simulate import simulate
from nonsmooth.step.control import StepControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.statistics.measures import Measure, Named, Stretch, density

#: difference of the initial velocities of two members, as a share of the largest
APART = 1e-6
#: draws of an initial state before it is given up, where most are refused
DRAWS = 20
#: share of the largest value of the same unit below which a value is round-off
ROUND_OFF = 1e-12
#: windows of a member beyond which two become one, so that its memory does not depend on its length
KEPT = 4096


@dataclass(frozen=True, eq=False)
class Windows:
    """Sums that a member keeps of its windows, each row of `size` of them: mean, mean square, largest and one value of
    each measure (4, rows, measures)."""

    values: Array
    size: int = 1

    @classmethod
    def of(cls, values: Array) -> Windows:
        """Sums of the values of windows (n, measures)."""
        return cls(np.stack([values, values**2, values, values]))

    def joined(self, other: Windows) -> Windows:
        """These and later windows; rows are halved once they are too many."""
        made, later = self, other
        while later.size < made.size:
            later = later.halved()
        made = Windows(np.concatenate([made.values, later.values], axis=1), made.size)
        return made.halved() if made.values.shape[1] > KEPT else made

    def halved(self) -> Windows:
        """Rows of twice as many windows; a last one without another is left out."""
        pairs = self.values[:, : self.values.shape[1] // 2 * 2].reshape(4, -1, 2, self.values.shape[2])
        mean, square, largest, one = pairs
        rows = np.stack([mean.mean(axis=1), square.mean(axis=1), largest.max(axis=1), one[:, 0]])
        return Windows(rows, 2 * self.size)


@dataclass(frozen=True, eq=False)
class Advanced:
    """A member after a stretch: its windows, means of its fields over the parts of this stretch, and its state."""

    windows: Windows
    fields: list[tuple[int, dict[str, Array]]]
    state: State
    seconds: float
    failed: str = ""


@dataclass(eq=False)
class Members:
    """Runs of one mechanism with one scheme and its steps; windows are of this length [s].

    Parameters
    ----------
    chunk : windows that are run at once, between two of which a run goes on from its last state
    slowest : [m/s], approach from which on a contact that begins is an impact
    period : [s], of the driver, None without one
    places, spectra : names of joints with a journal whose place is recorded, and of coordinates' spectra
    """

    system: System
    stepper: Stepper
    control: StepControl
    parameters: Mapping[str, float]
    given: tuple[Any, ...]
    window: float
    period: float | None
    chunk: int = 1
    slowest: float | None = None
    places: tuple[str, ...] = ()
    spectra: tuple[str, ...] = ()
    twin: bool = False
    seed: int = 0
    _made: dict[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": {}}

    def measures(self, kind: str) -> list[Measure]:
        """The measures that are "given", or of "spectra", made once in each process."""
        if kind not in self._made:
            named = Named(self.system, self.window, self.period)
            self._made[kind] = [named.measure(one) for one in getattr(self, kind)]
        return list(self._made[kind])

    def start(self, level: int, member: int) -> State:
        """The initial state, but for a millionth of its velocities that joints allow and contacts admit."""
        system, values = self.system, self.system.parameter_vector(self.parameters)
        random = np.random.default_rng([self.seed, level, member])
        radii, first = system.gyration(values), system.start
        length = float(np.min(system.elementwise.gap_sizes(values))) if system.nc else 1e-2  # the smallest clearance
        speed = float(np.max(np.abs(first.v) * radii, initial=0.0)) or length / self.window
        for _ in range(DRAWS):
            moved = replace(first, v=first.v + APART * speed / radii * random.standard_normal(system.nv))
            with contextlib.suppress(ModelError):
                state = closed_start(system, moved, values)
                check_start(system, state, values)
                return state
        return first

    def advance(self, level: int, member: int, state: State | None, done: int, count: int) -> Advanced:
        """Go on by `count` windows from the state after `done` of them, from the start for None."""
        clock, failed = time.perf_counter(), ""
        state = self.start(level, member) if state is None else state
        columns = sum(1 + (one.over is not None) for one in self.measures("given"))
        begin, windows = self.system.start.t, Windows(np.zeros((4, 0, columns)))
        fields: list[tuple[int, dict[str, Array]]] = []
        while count > 0:
            now = min(self.chunk, count)
            edges: Array = begin + self.window * np.arange(done, done + now + 1.0)
            try:
                run = simulate(self.system, self.stepper, t_end=float(edges[-1]), dt=self.control, state=state,
                               parameters=self.parameters)  # fmt: skip
            except NonsmoothError as error:
                failed = str(error)
                break
            if run.status != "finished":
                failed = run.status
                break
            values, found = self.measured(run, edges)
            windows = windows.joined(Windows.of(values))
            fields.append((now, found))
            state, done, count = run.end, done + now, count - now
        return Advanced(windows, fields, state, time.perf_counter() - clock, failed)

    def measured(self, run: Any, edges: Array) -> tuple[Array, dict[str, Array]]:
        """Values (windows, columns) of the measures, each behind it that which it is divided by; and fields."""
        if self.twin and "twin" not in self._made:
            system, period = self.system, self.period
            ideal = Model(system.elements, name=system.name, silence=REMARKS).ideal().build(assemble=True)
            if ideal.q_names != system.q_names:
                raise InputError(
                    "The ideal twin of the mechanism has other coordinates, so that there is no deviation from it."
                )
            known = {name: value for name, value in self.parameters.items() if name in ideal.parameters}
            start = ideal.start.t
            twin = simulate(ideal, t_end=start + (period or float(edges[-1] - system.start.t)), parameters=known)
            self._made["twin"] = lambda t: coordinates(
                twin, start + (t - start if period is None else (t - start) % period)
            )
        of = Stretch(run, edges, self.slowest, self._made.get("twin"))
        measures = [one for each in self.measures("given") for one in (each, each.over) if one is not None]
        columns = [np.asarray(one.function(of), float) for one in measures]
        most: dict[str, float] = {}
        for one, column in zip(measures, columns, strict=True):
            most[one.unit] = max(most.get(one.unit, 0.0), float(np.abs(column).max()))
        columns = [
            np.where(np.abs(column) > ROUND_OFF * most[one.unit], column, 0.0)
            for one, column in zip(measures, columns, strict=True)
        ]
        elements = {element.name: element for element in self.system.elements}
        p = dict(zip(self.system.parameters, self.system.parameter_vector(self.parameters).tolist(), strict=True))
        fields = {name: density(of, elements[name], self.system.q_names, p) for name in self.places}  # type: ignore[arg-type]
        fields |= {one.name: one.function(of) for one in self.measures("spectra")}
        return np.column_stack(columns), fields
