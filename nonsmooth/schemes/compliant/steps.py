"""Rows of compliant contact in compiled code, many per call."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.compiled_form import cached
from nonsmooth.engine.run import MOST, Run, Taken, origin_of
from nonsmooth.engine.steps import RIDGE
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.layout import CompliantLayout
from nonsmooth.schemes.compliant.outside_integrator import CompiledRates, OutsideIntegrator
from nonsmooth.schemes.compliant.settings import CompliantDae, place_tolerance, stated_rules
from nonsmooth.schemes.compliant.tolerances import APART, LOOKS, NO_STEP, PAUSE, TOUCHED
from nonsmooth.schemes.compliant.validity import Validity
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.solvers.initial_value import FINEST, Dop853, Radau
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.tolerances import DONE

__all__ = ["CompliantSteps", "compliant_layout", "ridge_of"]


#: where rows of joints are redundant
SINGULAR = (
    "Rows of joints that are redundant at the start may be independent elsewhere: build the model at a start where no "
    "joints are singular."
)


def compliant_layout(system: System) -> CompliantLayout:
    """The compiled form of a mechanism, made once for all runs."""
    return cached(system, "compliant", lambda: CompliantLayout(system))


def ridge_of(system: System, values: Array) -> float:
    """Term added to the diagonal of joints whose rows are redundant [1/kg]."""
    if not system.redundant:
        return 0.0
    start, numeric = system.start, system.numeric
    W_g, M = system.W_g(start.t, start.q, values).full(), numeric.M(start.q, values)[0]
    return RIDGE * float(np.max(np.sum(W_g * np.linalg.solve(M, W_g), axis=0)))


class CompliantSteps(Run):
    """Rows of `CompliantDae` on one system.

    Parameters
    ----------
    system, stepper, control, values : as `simulate` takes them
    t_end : [s]
    """

    layout: CompliantLayout
    root = "Integration"

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        """Stated rules and tolerances of a run."""
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
        self._configure(stepper, control, values, t_end)
        self._control, self._alone = control, isinstance(stepper.solver, Dop853)
        if not self._alone:
            self._rates = self._entry("rates")  # compiled before the clock runs, also if stiff phases come late
            self._integration["integrate"] = self.outside.address(self._integrate)
            self._integration["always"] = stepper.solver is not None
        self._begin, self._run = self._entry("begin"), self._entry("run", 1)

    @functools.cached_property
    def _integrator(self) -> OutsideIntegrator:
        """That which is requested, or the one of stiff phases."""
        rates = CompiledRates(self.memory, self.layout, self._rates, self.outside)
        solver = Radau() if self.stepper.solver is None else self.stepper.solver
        return OutsideIntegrator(rates, solver, self._control, self.memory)

    def _integrate(self) -> None:
        self._integrator.answer()

    def _configure(self, stepper: CompliantDae, control: ErrorControl, values: Array, t_end: float) -> None:
        system, run, feedback = self.system, self._integration, stepper.baumgarte
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
        self._set_tolerances(place, control.atol)
        self._forget_extremes()

    def _set_tolerances(self, place: float, speed: float) -> None:
        """Tolerances of positions, velocities and bristles."""
        parts, steering = self.memory.of["Part"]["tolerance"], self.layout.steering(self.memory)
        parts[:] = 1.0
        for k, (part, entries) in enumerate(zip(parts, steering, strict=False)):
            part[entries] = speed if k % 2 == 1 and k < 2 * len(self.layout.bodies) else place

    # ---------------------------------------------------------------------------------------------------------- steps

    def start(self, state: State) -> State:
        """A state with the memory of contacts and of the scheme."""
        if "Overlap.touches" in state.memory:
            return state
        self._put(state, origin_of(state))
        self._begin(self.memory.address("Integration"))
        return self._state()

    def run(self, state: State, origin: float, most: int = MOST) -> tuple[int, bool]:
        """Rows from a state on, for about a tenth of a second and at most so many, up to one that is not certified."""
        found = super().run(state, origin, most)
        self._check_laws()
        return found

    def rescue(self, state: State, origin: float) -> Taken | None:
        """Where Radau fails in a stiff phase, a row without it, as are the next ones; None where an integrator takes
        all steps, which shortens them itself."""
        self._raise()
        run = self._integration
        if not run["outside"][0] or run["always"][0]:
            return None
        self.outside.failure, run["limited"], run["restart"] = "", -PAUSE, 1
        taken = self.advance(state, origin, 1)
        return taken if taken.count else None

    def held_outside(self) -> dict[str, Any] | None:
        """The state of an integrator outside within its step."""
        at_work = self._integration["outside"][0] and not self._integration["restart"][0]
        return self._integrator.session.held() if at_work else None

    def hold_outside(self, held: Mapping[str, Any]) -> None:
        """Resume with it."""
        if self._alone:
            raise ValueError("it is one of another integrator")
        self._integrator.hold(held)

    def failure(self, state: State) -> str:
        """Why the next row is not certified."""
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

    def _check_laws(self) -> None:
        """Warn of laws outside their range of validity, from the extremes since the last check."""
        overlaps = self.memory.of["Overlap"][self.layout.contacts]
        for quantity in ("force", "depth", "approach"):
            least, most = overlaps[f"least_{quantity}"], overlaps[f"most_{quantity}"]
            for i in np.flatnonzero(least <= most).tolist():
                self.validity.check(i, quantity, float(least[i]))
                self.validity.check(i, quantity, float(most[i]))
        self._forget_extremes()

    def _forget_extremes(self) -> None:
        overlaps = self.memory.of["Overlap"]
        for quantity in ("force", "depth", "approach"):
            overlaps[f"least_{quantity}"], overlaps[f"most_{quantity}"] = np.inf, -np.inf

    # ---------------------------------------------------------------------------------------------------------- states

    def _put(self, state: State, origin: float) -> int:
        """Write a state with its internal states into the records."""
        layout, memory, run = self.layout, self.memory, self._integration
        overlaps = memory.of["Overlap"]
        # of a run without a step before this one
        overlaps["touches"] = overlaps["approach"] = overlaps["bristle_row"] = 0
        run["stored"], run["step"], run["impulse"] = 0.0, 0.0, 1.0
        run["outside"] = run["limited"] = 0
        self.kept.put(memory, state.memory)
        layout.put(memory, "q", state.q)
        layout.put(memory, "v", state.v)
        self._whole["t"], self._whole["origin"], run["row_t"] = state.t, origin, state.t
        run["first"] = 0.0 if run["evaluations"][0] else run["step"]
        run["restart"] = 1
        return DONE

    def _time(self) -> float:
        """That of the last row [s]."""
        return float(self._integration["row_t"][0])
