"""Compliant contact in the native engine: which runs are supported, and a run."""

from __future__ import annotations

import time
import warnings
import weakref
from typing import Any

import numpy as np

from nonsmooth.compiled_run import CompiledRun, PythonRun
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import ValidityWarning
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.solvers.initial_value import FINEST, Dop853
from nonsmooth.step_control import ErrorControl, StepControl
from nonsmooth.steppers.base import Step
from nonsmooth.steppers.compliant import LOOKS, TOUCHED, CompliantDae, place_tolerance, stated_rules
from nonsmooth.steppers.compliant_equations import WORKS
from nonsmooth.steppers.validity import Validity
from nonsmooth.tolerances import FLOOR
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.rows import Rows, trajectory_of_rows

__all__ = ["CompliantRun", "compliant_rules", "why_not_compliant"]

#: rows for which memory is allocated initially
ROWS = 1000

_layouts: weakref.WeakKeyDictionary[System, dict[int, Any]] = weakref.WeakKeyDictionary()


def why_not_compliant(system: System, stepper: CompliantDae, control: StepControl) -> str | None:
    """The reason why the native engine does not support this run, as a clause; None if it does."""
    if not isinstance(control, ErrorControl):
        return f"CompliantDae has no compiled loop with {type(control).__name__}"
    if stepper.solver != Dop853():
        asked = "Radau(), the default" if stepper.solver is None else stepper.solver
        return f"of CompliantDae's integrators only Dop853() has a compiled loop, not {asked}"
    from nonsmooth.native.layout import NotNative

    try:
        _layout_of(system, stepper)
    except NotNative as error:
        return str(error)
    return None


def _layout_of(system: System, stepper: CompliantDae) -> Any:
    """The compiled form of a mechanism, built once for all runs."""
    from nonsmooth.native.compliant_layout import CompliantLayout

    layouts = _layouts.setdefault(system, {})
    if stepper.samples not in layouts:
        known = () if system.compliance is None else system.compliance.constants
        constants = [list(places.values()) for places in known]
        layouts[stepper.samples] = CompliantLayout(
            system.elements, system.parameters, constants, samples=stepper.samples,
            looks=max(stepper.samples, LOOKS), functions=system.functions,
        )  # fmt: skip
    return layouts[stepper.samples]


def compliant_rules(system: System, stepper: CompliantDae, control: ErrorControl, values: Array) -> dict[str, Any]:
    """The rules of the scheme as in the Python engine, and those of the native engine in addition."""
    tolerance = place_tolerance(control, system.numeric.contact_law(values)[3])
    return stated_rules(stepper, tolerance) | {
        "integrator": "DOP853, its steps as long as SciPy's",
        "row that is not certified": "found by the Python formulation, and counted as a fallback",
    }


class CompliantRun(CompiledRun):
    """One run of compliant contact; the ranges of validity of laws are checked between chunks of steps."""

    stepper: CompliantDae
    control: ErrorControl

    def _prepare(self) -> None:
        from nonsmooth.native.compliant_session import CompliantSession

        compliance, layout = self.system.compliance, _layout_of(self.system, self.stepper)
        constants = np.zeros(0) if compliance is None else compliance.coefficients(self.values).full().ravel()
        known = np.concatenate([self.values, constants])
        self.session = CompliantSession(layout, known, self._integration(), record=self.record, capacity=ROWS)
        self.validity = Validity(self.system, self.values, constants)

    def _begin(self) -> None:
        self.session.start(self.first)

    def _begin_bare(self) -> None:
        self.session.start_bare(self.first)

    def state(self) -> State:
        found, first = self.session.state(), self.first
        grid = {"grid_start": first.stepper_memory.get("grid_start", np.array([first.t]))}
        laws, steps = {**first.law_memory, **found.law_memory}, {**first.stepper_memory, **grid, **found.stepper_memory}
        return State(found.t, found.q, found.v, laws, steps)

    def _integration(self) -> Any:
        """Tolerances, as set by `steppers.compliant` and the session of its integrator."""
        from nonsmooth.native import table as n
        from nonsmooth.native.compliant_session import Integration
        from nonsmooth.native.compliant_table import I_SIZE

        control, layout = self.control, _layout_of(self.system, self.stepper)
        place = place_tolerance(control, self.system.numeric.contact_law(self.values)[3])
        bristles = 0 if self.system.compliance is None else len(self.system.compliance.bristles)
        nv = self.system.nv
        atol = np.concatenate([np.full(nv, place), np.full(nv, control.atol), np.full(bristles, place)])
        dilution = float(np.sqrt(atol.size / layout.table[I_SIZE]))
        options = {n.O_FLOOR: FLOOR, n.O_CERTIFIED: CERTIFIED}
        return Integration(
            atol * dilution, max(control.rtol * dilution, FINEST), control.dt_max, place, TOUCHED,
            self.stepper.baumgarte, options,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------------------ run

    def _advance(self, steps: int) -> int:
        status = int(self.session.advance(self.t_end, steps))
        self._check_laws()
        return status

    def _grow(self) -> None:
        self.session.columns.grow()

    def _check_laws(self) -> None:
        """Warn of laws outside their range of validity, from the extreme values since the last check."""
        for i, ranges in enumerate(self.session.extremes):
            for quantity, extremes in zip(("force", "depth", "approach"), ranges.tolist(), strict=True):
                for value in extremes if extremes[0] <= extremes[1] else ():
                    self.validity.check(i, quantity, value)
        self.session.forget_extremes()

    def _python_step(self) -> None:
        python = self.python or self._make_ready()
        state = self.state()
        state, _ = python.chain.run(python.formulation.start(state))
        self._accept(state, self._stepped(python, state, self.control.next_time(state.t, state.t, self.t_end)))

    def _make_ready(self) -> PythonRun:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ValidityWarning)  # they have been given
            python = self.python = self._make_python()
        python.formulation.validity = self.validity
        return python

    def _accept(self, before: State, step: Step) -> None:
        """Record a row computed by the Python formulation."""
        stored = step.state.law_memory["stored"] - before.law_memory["stored"]
        work = {
            "stored": float(stored[0]), "loss_contact": step.loss_contact, "loss_friction": step.loss_friction,
            "loads": step.work_loads or 0.0, "damping": -(step.loss_damping or 0.0), "drivers": step.work_drivers,
        }  # fmt: skip
        gained = np.concatenate([step.P_N, step.P_T, step.dt * step.reaction, [work[name] for name in WORKS]])
        length = float(step.state.stepper_memory["dt"][0])
        scalars = (step.residual, step.complementarity, length)
        self._taken(lambda: self.session.accept(step.state, gained, scalars), lambda: None)

    # -------------------------------------------------------------------------------------------------------- results

    def _finished(self, status: str) -> Trajectory:
        session, seconds = self.session, time.perf_counter() - self.clock
        session.finish()
        evaluations = session.evaluations
        counts = {"steps": self.steps, "shortened": 0, "solves": 0, "iterations": 0, "fallbacks": self.python_steps}
        if self.python is not None:
            counts["shortened"] = self.python.shortened
            evaluations += self.python.formulation.counts()["evaluations"]
        counts |= {"evaluations": evaluations, "python_steps": self.python_steps}
        return trajectory_of_rows(
            self.system, self._rows(), self.values, manifest=self.manifest, counts=counts, status=status,
            end=self.state(), wall_seconds=seconds, start=self.first,
        )  # fmt: skip

    def _rows(self) -> Rows:
        """The recorded rows."""
        from nonsmooth.native import table as n

        columns, nc = self.session.columns, self.system.nc
        count = self.session.counter(n.K_ROWS)
        t = columns.part("t", count)[:, 0].copy()
        dt = np.diff(t, prepend=t[:1])
        v, rates, reaction = (columns.part(name, count) for name in ("v", "gap_rate", "reaction"))
        reaction = np.divide(reaction, dt[:, None], out=np.zeros_like(reaction), where=dt[:, None] > 0.0)
        none, worst = np.zeros((count, nc)), self.session.worst()
        return Rows(
            t, dt, columns.part("q", count), v, v.copy(), columns.part("gap", count), rates, rates.copy(),
            columns.part("P_N", count), none, columns.part("P_T", count), columns.modes(count), reaction,
            np.zeros_like(reaction), self._energy(columns.part("energy", count)), np.zeros((0, 6)),
            (float(worst[0]), float(worst[1]), float(worst[2]), float(worst[3])),
        )  # fmt: skip

    @staticmethod
    def _energy(table: Array) -> dict[str, Array]:
        """Energies by name; work and losses are cumulative."""
        work = dict(zip(WORKS, table[:, 2:].T, strict=True))
        return {
            "kinetic": table[:, 0], "potential": table[:, 1], "work_loads": work["loads"],
            "work_drivers": work["drivers"], "loss_impacts": np.zeros(len(table)),
            "loss_contact": work["loss_contact"], "loss_friction": work["loss_friction"],
            "loss_damping": -work["damping"],
        }  # fmt: skip
