"""Which engine runs a simulation, and a run of the native one.

The native engine steps in compiled code. Each of its steps is certified there; one that is not goes to the Python
formulation, which answers for it as in a run of its own.
"""

from __future__ import annotations

import time
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np

from nonsmooth.compiled_run import CompiledRun, PythonRun
from nonsmooth.evaluation import Array
from nonsmooth.model.contacts import Contact
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.solvers.active_set import ActiveSet
from nonsmooth.solvers.chain import CERTIFIED
from nonsmooth.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.step_control import ConstantStep, Landing, StepControl
from nonsmooth.steppers.base import Step, Stepper
from nonsmooth.steppers.gauss import GaussFormulation
from nonsmooth.steppers.gauss_qp import GaussQP
from nonsmooth.steppers.generalized_alpha import GeneralizedAlphaFormulation
from nonsmooth.steppers.moreau_jean import PROJECTED, MoreauJean, MoreauJeanFormulation
from nonsmooth.tolerances import CLOSED_GAP, CLOSED_RATE, EDGE, FLOOR, TURN
from nonsmooth.trajectory import Trajectory
from nonsmooth.trajectory.rows import Rows, trajectory_of_rows

__all__ = ["NativeRun", "layout_of", "longest_step", "native_rules", "scheme_of", "why_not_native"]

#: rows that memory is made for at first, at most
ROWS = 1_000_000

_layouts: weakref.WeakKeyDictionary[System, dict[tuple[bool, int], Any]] = weakref.WeakKeyDictionary()


def why_not_native(system: System, stepper: Stepper, control: StepControl, values: Array) -> str | None:
    """Why the native engine does not have this run, as a clause; None if it does."""
    if system.redundant:
        return f"it needs independent constraints, and {system.redundant[0]}"
    name = type(stepper).__name__
    if type(stepper) not in (GaussQP, MoreauJean):
        return f"{name} has no compiled loop"
    landing = isinstance(control, Landing)
    if not isinstance(control, ConstantStep) and not (landing and isinstance(stepper, GaussQP)):
        return f"{name} has no compiled loop with {type(control).__name__}"
    if isinstance(control, Landing) and control.error is not None:
        return "Landing(..., error) has no compiled loop"
    default = SemismoothNewton() if isinstance(stepper, MoreauJean) else ActiveSet()
    if stepper.solver is not None and stepper.solver != default:
        return f"the solver {stepper.solver} was asked for"
    if isinstance(stepper, GaussQP):
        if stepper.cone != "coulomb":
            return f'cone="{stepper.cone}" has no compiled loop'
        if not landing and any(_coefficients(system, values, "restitution")):
            return "GaussQP with a constant step has no restitution"
    elif isinstance(stepper, MoreauJean) and stepper.levers != "predicted":
        return f'levers="{stepper.levers}" has no compiled loop'
    from nonsmooth.native.layout import NotNative

    try:
        layout_of(system, stepper, values)
    except NotNative as error:
        return str(error)
    return None


def layout_of(system: System, stepper: Stepper, values: Array) -> Any:
    """The compiled form of a mechanism, made once for all runs."""
    from nonsmooth.native.layout import Layout

    rough = any(_coefficients(system, values, "friction"))
    key = rough, scheme_of(system, stepper, ConstantStep(1.0)).kind
    layouts = _layouts.setdefault(system, {})
    if key not in layouts:
        layouts[key] = Layout(
            system.elements, system.parameters, rough=rough, scheme=key[1], functions=system.functions
        )
    return layouts[key]


def scheme_of(system: System, stepper: Any, control: ConstantStep | Landing) -> Any:
    """What the compiled loop is told of a stepper and of the length of its steps."""
    from nonsmooth.native import table as n
    from nonsmooth.native.session import Scheme

    options = {
        n.O_THETA: getattr(stepper, "theta", 1.0), n.O_LONGEST: longest_step(control), n.O_CLOSED_GAP: CLOSED_GAP,
        n.O_CLOSED_RATE: CLOSED_RATE, n.O_EDGE: EDGE, n.O_FLOOR: FLOOR, n.O_TURN: TURN, n.O_CERTIFIED: CERTIFIED,
        n.O_PROJECTED: PROJECTED,
    }  # fmt: skip
    kind = n.GAUSS if isinstance(stepper, GaussQP) else n.MOREAU_JEAN
    if kind == n.MOREAU_JEAN and stepper.joints == "midpoint" and system.ng:
        kind = n.MIDPOINT
    if isinstance(control, Landing):
        kind, options[n.O_SHORTEST] = n.LANDING, control.dt_min
    return Scheme(kind, options, getattr(stepper, "projection", None) is not None)


def longest_step(control: ConstantStep | Landing) -> float:
    """[s]"""
    return control.dt_max if isinstance(control, Landing) else control.dt


def native_rules(stepper: Stepper, control: StepControl) -> dict[str, Any]:
    """The stated rules of the scheme, those of its Python twin, and what the native engine does besides."""
    of: Any = {GaussQP: GaussFormulation, MoreauJean: MoreauJeanFormulation}.get(
        type(stepper), GeneralizedAlphaFormulation
    )
    twin = SimpleNamespace(control=control, stepper=stepper, mechanism=SimpleNamespace(incremental=False))
    rules: dict[str, Any] = of.rules(twin)
    return rules | {
        "active set": "semismooth Newton from the last step's modes; a reproducible half of the rows from round 13",
        "step that is not certified": "solved by the Python formulation, and counted as a fallback",
    }


def _coefficients(system: System, values: Array, label: str) -> list[float]:
    names = {f"{e.name}.{label}" for e in system.elements if isinstance(e, Contact)}
    return [value for name, value in zip(system.parameters, values, strict=True) if name in names]


class NativeRun(CompiledRun):
    """One run of rigid contact."""

    control: ConstantStep | Landing

    def _prepare(self) -> None:
        from nonsmooth.native.session import Session

        layout, first = layout_of(self.system, self.stepper, self.values), self.first
        rows = int(min(max((self.t_end - first.t) / (longest_step(self.control) * self.record), 1.0) + 10, ROWS))
        scheme = scheme_of(self.system, self.stepper, self.control)
        self.session = Session(layout, self.values, scheme, record=self.record, capacity=rows)
        self.origin = float(first.stepper_memory.get("grid_start", np.array([first.t]))[0])

    def _begin(self) -> None:
        self.session.start(self.first, self._python_start)

    def _begin_bare(self) -> None:
        self.session.start_bare(self.first)

    def state(self) -> State:
        state: State = self.session.state()
        memory = {**state.stepper_memory, "grid_start": np.array([self.origin])}
        return State(state.t, state.q, state.v, self.first.law_memory, memory)

    def _advance(self, steps: int) -> int:
        return int(self.session.advance(self.origin, longest_step(self.control), self.t_end, steps))

    def _grow(self) -> None:
        from nonsmooth.native.table import K_ROWS

        self.session.columns.grow(self.session.counter(K_ROWS))

    def _prepared_python(self) -> tuple[PythonRun, Step | None]:
        """The Python engine, made ready, and the impact that it begins with."""
        python = self.python = self._make_python()
        fresh = State(self.first.t, self.first.q, self.first.v, self.first.law_memory)
        self.prepared, impact = python.chain.run(python.formulation.start(fresh))
        return python, impact

    def _make_ready(self) -> PythonRun:
        return self._prepared_python()[0]

    def _python_start(self) -> None:
        """The impact that the run begins with, by the Python formulation."""
        _, impact = self._prepared_python()
        if impact is not None:
            self._accept(impact, start=True)

    def _python_step(self) -> None:
        python, state = self.python or self._prepared_python()[0], self.state()
        memory = {**self.prepared.stepper_memory, **state.stepper_memory}
        state = State(state.t, state.q, state.v, state.law_memory, memory)
        self._accept(self._stepped(python, state, self.control.next_time(state.t, self.origin, self.t_end)))

    def _accept(self, step: Step, *, start: bool = False) -> None:
        """Take over a step of the Python formulation, or the impact at the start."""
        from nonsmooth.native import table as n

        remembered = step.state.stepper_memory
        scalars = [step.dt, step.residual, step.complementarity, step.work_drivers, step.work_drivers_impact]
        gaps = {
            n.P_N: step.P_N, n.P_T: step.P_T, n.S_PNI: step.P_N_impact, n.S_MINUS: step.gamma_minus,
            n.S_PLUS: step.gamma_plus,
        }  # fmt: skip
        gaps |= {
            where: remembered[name]
            for where, name in ((n.CLOSED, "closed"), (n.LEFT_AT, "left_at"))
            if name in remembered
        }
        joints = {n.S_REACTION: step.reaction, n.S_REACTION_I: step.reaction_impact}
        hit = bool(np.any(step.P_N_impact > 0.0) or np.any(step.v_left != step.state.v))
        scalars.append(step.loss_friction)

        def accept() -> None:
            self.session.accept(step.state, step.v_left, gaps, step.mode, joints, scalars, hit=hit, start=start)

        def press() -> None:
            if not start:
                self.session.press(remembered["P_N"], remembered["P_T"])

        self._taken(accept, press)

    def _finished(self, status: str) -> Trajectory:
        from nonsmooth.native import table as n

        session, seconds = self.session, time.perf_counter() - self.clock
        session.finish()  # gaps and energies of rows, which the Python engine does not count as stepping either
        counts: dict[str, int] = {"steps": self.steps, "shortened": self.python.shortened if self.python else 0}
        counts |= {"solves": session.counter(n.K_SOLVES), "iterations": session.counter(n.K_ROUNDS), "fallbacks": 0}
        if self.python is not None:
            for name, count in self.python.chain.counts.items():
                counts[name] = counts.get(name, 0) + count
        counts["fallbacks"] += self.python_steps
        counts["python_steps"] = self.python_steps
        return trajectory_of_rows(
            self.system, self._rows(), self.values, manifest=self.manifest, counts=counts, status=status,
            end=self.state(), wall_seconds=seconds,
        )  # fmt: skip

    def _rows(self) -> Rows:
        """The recorded tables, cut to what is written."""
        from nonsmooth.native import table as n

        session, columns = self.session, self.session.columns
        count, nc, at = session.counter(n.K_ROWS), self.system.nc, columns.hit_rows
        t = columns.part("t", count)[:, 0].copy()
        dt = np.diff(t, prepend=t[:1])
        v, P_N = columns.part("v", count), columns.part("P_N", count)
        P_T = columns.part("P_T", count) if session.layout.rough else np.zeros((count, nc))
        reaction = columns.part("reaction", count)
        v_left, P_NI, reaction_impact = v.copy(), np.zeros((count, nc)), np.zeros_like(reaction)
        for table, name in ((v_left, "v_left"), (P_NI, "P_N_impact"), (reaction_impact, "reaction_impact")):
            table[at] = columns.hit(name)
        if self.record > 1:
            reaction = np.divide(reaction, dt[:, None], out=np.zeros_like(reaction), where=dt[:, None] > 0.0)
        impacts = columns.impacts[: columns.table[n.REC_IMPACT_COUNT]]
        names = ("kinetic", "potential", "work_loads", "work_drivers", "loss_impacts", "loss_friction", "loss_damping")
        energy = dict(zip(names, columns.energies[:count].T, strict=True))
        order = (*names[:5], "loss_contact", *names[5:])
        energy["loss_contact"] = np.zeros(count)
        worst = session.worst()
        return Rows(
            t, dt, columns.part("q", count), v, v_left,
            columns.gaps[:count], columns.rates[:count], columns.rates_left[:count], P_N, P_NI, P_T,
            columns.modes(count), reaction, reaction_impact, {name: energy[name] for name in order}, impacts,
            (float(worst[0]), float(worst[1]), float(worst[2]), float(worst[3])),
        )  # fmt: skip
