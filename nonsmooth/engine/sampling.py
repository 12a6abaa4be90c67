"""Sampled controllers of a run: their samples, the outputs that they hold, and what is kept of them in states.

Between two instants an output is a parameter of its load like others. Steps end at instants, at which a run pauses and
the parameter is written anew; rows at an instant have the output before it.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.controllers import SampledController
from nonsmooth.model.evaluate import evaluate_rows
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import Observe, Seen, System

#: share of a period within which instants are one
ONE = 1e-9


class _Sampler:
    """One controller: number of the next sample and of the next output, outputs that are held and pending, states."""

    def __init__(self, system: System, element: SampledController) -> None:
        self.element, self.field = element, f"Controller.{element.name}"
        names, equations = list(system.parameters), system.equations
        own = [f"{element.name}.{label}" for label in element.numbers()]
        self.places = np.array([names.index(one) for one in own if one.split(".")[1].startswith("held")])
        frames = [equations.frames[name] for name in element.body_names()]
        at = [type(one.placement)(one.z(element), one.placement.twist) for one in frames]
        states = ca.SX.sym("states", len(element.states))
        p = element.symbols(equations.symbols)
        known = dict(zip(element.states, ca.vertsplit(states), strict=True)) if element.states else {}
        arguments = [equations.t, equations.q, equations.v, equations.p, states]
        self._law = ca.Function("law", arguments, list(element.sampled(equations.t, at[0], at[2], p, known)))
        held = ca.SX.sym("held", self.places.size)
        forces = element.forces(equations.t, tuple(at), SimpleNamespace(**{**vars(p), "held": held}))
        power = sum((ca.dot(force, one.twist) for force, one in zip(forces, at, strict=True)), ca.SX(0))
        #: of rows of q, v and outputs
        self.power = ca.Function("power", [equations.q, equations.v, held, equations.p], [power])

    def begin(self, state: State, values: Array) -> None:
        """At the state of a run that goes on, or begins."""
        e, m = self.element, self.places.size
        if self.field in state.memory:
            numbers = state.memory[self.field]
            self.sample, self.output = map(int, numbers[:2])
            self.held, self.pending, self.states = np.split(numbers[2:].copy(), (m, m * (1 + e.pending)))
            return
        self.sample = self.output = int(np.ceil(state.t / e.period - ONE))
        self.held, self.pending = values[self.places], np.zeros(m * e.pending)
        self.states = np.array([float(e.start.get(name, 0.0)) for name in e.states])

    def numbers(self) -> Array:
        """Numbers that a state keeps of it."""
        return np.concatenate([(self.sample, self.output), self.held, self.pending, self.states])

    def instants(self, t_start: float, t_end: float) -> Array:
        """Times of samples and of outputs from the start to the end of a run."""
        e = self.element
        first, last = (int(np.ceil((t - e.delay) / e.period - ONE)) for t in (t_start, t_end + e.delay))
        samples = np.arange(first, last + 1) * e.period
        found = np.concatenate([samples, samples + e.delay])
        return found[(found > t_start - ONE * e.period) & (found <= t_end)]

    def pass_instants(self, t: float, q: Array, v: Array, values: Array) -> bool:
        """Take the samples and outputs that are due; whether the output has changed."""
        e, m = self.element, self.places.size
        pending, late = self.pending.reshape(-1, m), t + ONE * e.period
        while self.sample * e.period <= late:
            output, states = self._law(self.sample * e.period, q, v, values, self.states)
            pending[self.sample % e.pending] = np.array(output).ravel()
            self.states = np.array(states).ravel()
            self.sample += 1
        changed = False
        while self.output < self.sample and self.output * e.period + e.delay <= late:
            self.held = pending[self.output % e.pending].copy()
            self.output, changed = self.output + 1, True
        return changed


class Sampling:
    """The sampled controllers of a run, whose parameters `values` have the outputs that are held."""

    def __init__(self, system: System, values: Array) -> None:
        self.samplers = [_Sampler(system, e) for e in system.controllers]
        self.values, self._system = values, system
        self.places = np.concatenate([one.places for one in self.samplers])
        #: times from which on outputs were held, and these
        self.times: list[float] = []
        self.outputs: list[Array] = []

    def begin(self, state: State) -> None:
        """Begin at a state."""
        for one in self.samplers:
            one.begin(state, self.values)
        known = int(np.searchsorted(self.times, state.t))
        del self.times[known:], self.outputs[known:]
        self._hold(state.t if known else -np.inf)

    def pass_instants(self, t: float, q: Array, v: Array) -> bool:
        """Take what is due at a time; whether outputs have changed."""
        changed = [one.pass_instants(t, q, v, self.values) for one in self.samplers]
        if any(changed):
            self._hold(t)
        return any(changed)

    def _hold(self, t: float) -> None:
        self.values[self.places] = np.concatenate([one.held for one in self.samplers])
        self.times.append(t)
        self.outputs.append(self.values[self.places])

    def instants(self, t_start: float, t_end: float, others: Array) -> Array:
        """Instants of a run and times of others, of which those that nearly are one are the first."""
        found = np.concatenate([others, *(one.instants(t_start, t_end) for one in self.samplers)])
        near = ONE * min(one.element.period for one in self.samplers)
        found[found - t_start <= near] = t_start
        every = np.sort(found)
        return every[np.diff(every, prepend=-np.inf) > near]

    def kept(self, memory: InternalStates) -> InternalStates:
        """Internal states of a run with those of the controllers."""
        own = [(one.field, one.numbers()) for one in self.samplers]
        fields = (*memory.fields, *((name, numbers.shape) for name, numbers in own))
        return InternalStates(fields, np.concatenate([memory.numbers, *(numbers for _, numbers in own)]))

    def snapshot(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"times": np.array(self.times), "outputs": np.array(self.outputs)}

    def restore(self, saved: Mapping[str, Any]) -> None:
        self.times, self.outputs = saved["times"].tolist(), list(saved["outputs"])

    def seen(self, observe: Observe) -> Observe:
        """An evaluation of rows without outputs, to which the power of these is added."""

        def with_outputs(t: Array, q: Array, v: Array, row: NDArray[np.intp], v_left: Array) -> Seen:
            found = observe(t, q, v, row, v_left)
            held = np.array(self.outputs)[np.searchsorted(self.times, t) - 1]
            power, left = self._power(q, v, held), self._power(q[row], v_left, held[row])
            right = {"power_loads": found.energies["power_loads"] + power}
            before = {"power_loads": found.energies_left["power_loads"] + left}
            return replace(found, energies={**found.energies, **right}, energies_left={**found.energies_left, **before})

        return with_outputs

    def _power(self, q: Array, v: Array, held: Array) -> Array:
        """Power (n,) [W] of outputs."""
        parts = np.split(held, np.cumsum([one.places.size for one in self.samplers])[:-1], axis=1)
        return sum(
            (evaluate_rows(one.power, q, v, u, self.values)[:, 0] for one, u in zip(self.samplers, parts, strict=True)),
            np.zeros(len(q)),
        )
