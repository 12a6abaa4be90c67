"""Rows of compliant contact in compiled code, many per call; forces at any state; laws outside their validity."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import entry
from nonsmooth.engine.compiled_form import cached
from nonsmooth.engine.run import MOST, Run, StepBatch, origin_of
from nonsmooth.engine.steps import ridge_of
from nonsmooth.exceptions import ValidityWarning
from nonsmooth.laws.base import LIMITED, Limit
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.layout import CompliantLayout
from nonsmooth.schemes.compliant.outside_integrator import CompiledRates, OutsideIntegrator, rates_of_blocks
from nonsmooth.schemes.compliant.settings import CompliantDae, place_tolerance, stated_rules
from nonsmooth.schemes.compliant.tolerances import APART, LOOKS, NO_STEP, PAUSE, TOUCHED
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.solvers.initial_value import FINEST, Dop853, Radau
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.tolerances import DONE

__all__ = ["CompliantForces", "CompliantSteps", "ForcesAt"]

#: where rows of joints are redundant
SINGULAR = (
    "Rows of joints that are redundant at the start may be independent elsewhere: build the model at a start where no "
    "joints are singular."
)


def compliant_layout(system: System) -> CompliantLayout:
    """The compiled form of a mechanism, made once for all runs."""
    return cached(system, "compliant", lambda: CompliantLayout(system))


class Validity:
    """The limits of a system's compliant laws at given parameters; those on numbers are checked immediately."""

    def __init__(self, system: System, p: Array, k: Array) -> None:
        self._limits: dict[tuple[int, str], list[Limit]] = {}
        self._warned: set[tuple[str, Limit]] = set()
        self._contacts: list[tuple[str, Compliant]] = []
        if system.compliance is None:
            return
        values = dict(zip(system.parameters, p.tolist(), strict=True))
        gaps = system.contact_elements
        for i, (contact, law, places) in enumerate(
            zip(gaps, system.compliance.laws, system.compliance.constants, strict=True)
        ):
            numbers = {label: values[f"{contact.name}.{label}"] for label in contact.numbers()}
            geometry = contact.geometry(SimpleNamespace(**numbers))
            known = SimpleNamespace(**{name: float(value) for name, value in geometry.items()} | numbers)
            constants = SimpleNamespace(**{name: float(k[place]) for name, place in places.items()})
            self._contacts.append((contact.name, law))
            for limit in law.limits(known, constants):
                if limit.quantity in LIMITED:
                    self._limits.setdefault((i, limit.quantity), []).append(limit)
                elif limit.exceeded(numbers[limit.quantity]):
                    self._warn(i, limit, numbers[limit.quantity])

    def check(self, gap: int, quantity: str, value: float) -> None:
        """Warn if the approach velocity, force or depth of a gap leaves its range."""
        for limit in self._limits.get((gap, quantity), ()):
            if limit.exceeded(value):
                self._warn(gap, limit, value)

    def _warn(self, gap: int, limit: Limit, value: float) -> None:
        name, law = self._contacts[gap]
        if (name, limit) in self._warned:
            return
        self._warned.add((name, limit))
        unit = LIMITED.get(limit.quantity, "")
        reason = f"; {limit.reason}" if limit.reason else ""
        warnings.warn(
            f'Contact "{name}": {type(law.normal).__name__} is meant for {limit}, and has {limit.quantity} = '
            f"{value:.4g}{' ' if unit else ''}{unit}{reason}.",
            ValidityWarning,
            stacklevel=2,
        )


class CompliantSteps(Run):
    """Rows of `CompliantDae` on one system."""

    layout: CompliantLayout
    root = "Integration"

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        assert isinstance(control, ErrorControl)
        integrator = "outside, on compiled rates"
        if stepper.solver is None or isinstance(stepper.solver, Dop853):
            integrator = "DOP853, its steps as long as SciPy's"
        if stepper.solver is None:
            integrator += "; where stability limits them, Radau on compiled rates"
        rules = stated_rules(stepper, place_tolerance(control, system.elementwise.contact_law(values)[3]))
        return rules | {"integrator": integrator}

    def __init__(
        self, system: System, stepper: CompliantDae, control: ErrorControl, values: Array, t_end: float
    ) -> None:  # fmt: skip
        super().__init__(system, stepper.scheme(control), compliant_layout(system), values, t_end)
        self.stepper = stepper
        constants = np.zeros(0) if system.compliance is None else system.compliance.coefficients(values).full().ravel()
        self.validity = Validity(system, values, constants)
        self._integration = self.memory.of["Integration"]
        self._control, self._alone = control, isinstance(stepper.solver, Dop853)
        run, feedback = self._integration, stepper.baumgarte
        self.tolerance = place = place_tolerance(control, system.elementwise.contact_law(values)[3])
        bristles = 0 if system.compliance is None else len(system.compliance.bristles)
        numbers = system.nq + system.nv + bristles
        # SciPy's error is a mean over impulses and works too, which do not enter the step size control
        every = numbers + system.nc + system.nt + system.nr + 6
        rtol = max(control.rtol, FINEST * float(np.sqrt(every / numbers)))
        self._whole["t_end"], self._whole["certified"] = t_end, CERTIFIED
        self._whole["ridge"] = ridge_of(system, values)
        for name, value in (
            ("longest", control.dt_max), ("rtol", rtol), ("numbers", numbers), ("tolerance", place),
            ("projected", feedback is None and system.ng > 0), ("feedback", feedback is not None),
            ("alpha", feedback[0] if feedback else 0.0), ("beta", feedback[1] if feedback else 0.0),
            ("samples", stepper.samples), ("looks", max(stepper.samples, LOOKS)), ("touched", TOUCHED),
            ("velocities", system.nv),
        ):  # fmt: skip
            run[name] = value
        blocks, bodies = self.memory.of["StateBlock"]["tolerance"], len(self.layout.bodies)
        blocks[:] = 1.0
        for k, (block, entries) in enumerate(zip(blocks, self.layout.steering(self.memory), strict=False)):
            block[entries] = control.atol if k % 2 == 1 and k < 2 * bodies else place  # of velocities, and of others
        self._forget_extremes()
        if not self._alone:
            self._rates = self._entry("rates")  # compiled before the clock runs, also if stiff phases come late
            self._integration["integrate"] = self.outside.address(self._integrate)
            self._integration["always"] = stepper.solver is not None
        self._begin, self._run = self._entry("begin"), self._entry("run", 1)

    @functools.cached_property
    def _integrator(self) -> OutsideIntegrator:
        """The requested integrator, or that of stiff phases."""
        rates = CompiledRates(self.memory, self.layout, self._rates, self.outside)
        solver = Radau() if self.stepper.solver is None else self.stepper.solver
        return OutsideIntegrator(rates, solver, self._control, self.memory)

    def _integrate(self) -> None:
        self._integrator.answer()

    # ---------------------------------------------------------------------------------------------------------- steps

    def start(self, state: State) -> State:
        """A state with the memory of contacts and of the scheme."""
        if "Overlap.touches" in state.memory:
            return state
        self._begin_at(state, origin_of(state))
        self._begin(self.memory.address("Integration"))
        return self._state()

    def run(self, state: State, origin: float, most: int = MOST) -> tuple[int, bool]:
        found = super().run(state, origin, most)
        # laws outside their range of validity, from the extremes since the last check
        overlaps = self.memory.of["Overlap"][self.layout.contacts]
        for quantity in ("force", "depth", "approach"):
            least, largest = overlaps[f"least_{quantity}"], overlaps[f"most_{quantity}"]
            for i in np.flatnonzero(least <= largest).tolist():
                self.validity.check(i, quantity, float(least[i]))
                self.validity.check(i, quantity, float(largest[i]))
        self._forget_extremes()
        return found

    def rescue(self, state: State, origin: float) -> StepBatch | None:
        """A row without Radau where it fails in a stiff phase, as are the next; None if an integrator takes all."""
        self._raise()
        run = self._integration
        if not run["outside"][0] or run["always"][0]:
            return None
        self.outside.failure, run["limited"], run["restart"] = "", -PAUSE, 1
        taken = self.advance(state, origin, 1)
        return taken if taken.count else None

    def snapshot_outside(self) -> dict[str, Any] | None:
        """The state of an integrator outside within its step."""
        at_work = self._integration["outside"][0] and not self._integration["restart"][0]
        return self._integrator.session.snapshot() if at_work else None

    def restore_outside(self, saved: Mapping[str, Any]) -> None:
        """Resume an integrator outside within its step."""
        if self._alone:
            raise ValueError("it is one of another integrator")
        self._integrator.restore(saved)

    def failure(self, state: State) -> str:
        self._raise()
        system, code, t = self.system, int(self._integration["failure"][0]), float(self._whole["seen"][0])
        if self.outside.failure:
            return self.outside.failure
        if code == NO_STEP:
            return (
                f"DOP853 stopped at t = {state.t:.9g} s: the steps that the tolerances require are shorter than the "
                "spacing of numbers; loosen them, or check for discontinuous loads."
            )
        if code == APART:
            violations = np.abs(self.layout.of_joints(self.memory, "g"))
            worst = int(np.argmax(violations))
            name, violation = system.constraint_names[worst], violations[worst]
            what = f'the projection onto the joints diverges at t = {t:.9g} s: "{name}" has {violation:.3g}.'
        else:
            what = (
                f"the equations of motion at t = {t:.9g} s have a residual of {self._whole['residual'][0]:.2g}, more "
                f"than {self._whole['certified'][0]:.2g}."
            )
        return f"{what} {SINGULAR}" if system.redundant else what

    @property
    def counts(self) -> dict[str, int]:
        """Evaluations of the equations of motion, and where no integrator is requested steps of the implicit one."""
        names = ("evaluations",) if self.stepper.solver is not None else ("evaluations", "implicit")
        return {name: int(self._integration[name][0]) for name in names}

    def _forget_extremes(self) -> None:
        overlaps = self.memory.of["Overlap"]
        for quantity in ("force", "depth", "approach"):
            overlaps[f"least_{quantity}"], overlaps[f"most_{quantity}"] = np.inf, -np.inf

    # ---------------------------------------------------------------------------------------------------------- states

    def _begin_at(self, state: State, origin: float) -> int:
        layout, memory, run = self.layout, self.memory, self._integration
        overlaps = memory.of["Overlap"]
        # of a run without a step before this one
        overlaps["touches"] = overlaps["approach"] = overlaps["bristle_row"] = 0
        run["stored"], run["step"], run["impulse"] = 0.0, 0.0, 1.0
        run["outside"] = run["limited"] = 0
        self.states.put(memory, state.memory)
        layout.put(memory, "q", state.q)
        layout.put(memory, "v", state.v)
        self._whole["t"], self._whole["origin"], run["row_t"] = state.t, origin, state.t
        run["first"] = 0.0 if run["evaluations"][0] else run["step"]
        run["restart"] = 1
        return DONE

    def _time(self) -> float:
        """Time of the last row [s]."""
        return float(self._integration["row_t"][0])


class ForcesAt(NamedTuple):
    """Accelerations (nv,), forces of joints (ng,), (nr,) and of contacts (nc,), (nt,), rates of bristles (nz,)."""

    a: Array
    lam_g: Array
    reaction: Array
    F_N: Array
    F_T: Array
    bristle_rates: Array


class CompliantForces:
    """The equations of motion of one system, with compliant contacts or with none."""

    def __init__(self, system: System, values: Array) -> None:
        self.layout = layout = compliant_layout(system)
        self.memory = memory = layout.memory()
        layout.fill(memory, values)
        memory.of["System"]["ridge"] = ridge_of(system, values)
        self._rates = entry("nonsmooth.schemes.compliant.text", "rates", "Integration", layout.shape)
        self._overlaps, self._blocks = memory.of["Overlap"], memory.of["StateBlock"]["tried"]
        self._found = rates_of_blocks(memory)
        counts, bodies = self._overlaps["bristles_count"], len(layout.bodies)
        # the block of each overlap's bristles stands behind those of bodies
        self._bristles = [(k, 2 * bodies + int(np.sum(counts[:k] > 0)), int(counts[k])) for k in layout.contacts]
        plane = layout.shape.dimension == 2
        wrenches, works = len(memory.of["Wrench"]), 2
        self._wrenches = slice(len(self._blocks) - works - wrenches, len(self._blocks) - works)
        self._of_wrench = [0, 1, 2] if plane else [0, 1, 2, 4, 5, 6]

    def at(self, t: float, q: Array, v: Array, touching: Array, approach: Array, bristles: Array) -> ForcesAt:
        """At a state with velocities of `approach` (nc,) [m/s] of `touching` contacts (nc,), and `bristles` (nz,)."""
        layout, memory, overlaps = self.layout, self.memory, self._overlaps
        for first, places, values in ((0, layout.q_places, q), (1, layout.v_places, v)):
            motions = np.zeros((len(layout.bodies), layout.shape.width))
            motions.reshape(-1)[places] = values
            self._blocks[first : 2 * len(layout.bodies) : 2] = motions
        overlaps["touches"][layout.contacts] = touching > 0.5
        overlaps["approach"][layout.contacts] = approach
        start = 0
        for _, block, count in self._bristles:
            self._blocks[block, :count] = bristles[start : start + count]
            start += count
        memory.of["Integration"]["request_time"] = t
        self._rates(memory.address("Integration"))
        force = overlaps["force"][layout.contacts]
        rates = [overlaps["bristle_rate"][k, :count] for k, _, count in self._bristles]
        return ForcesAt(
            a=layout.packed(memory, "jump"), lam_g=layout.of_joints(memory, "P"),
            reaction=self._found[self._wrenches][:, self._of_wrench].ravel(),
            F_N=force[:, 0].copy(), F_T=force[:, 1:].ravel(), bristle_rates=np.concatenate([np.zeros(0), *rates]),
        )  # fmt: skip
