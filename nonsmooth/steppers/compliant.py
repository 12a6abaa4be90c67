"""Compliant contact: smooth motion between the beginning and the end of contact, by an integrator with error control.

While the set of closed contacts is constant, the equations are smooth. The integrator advances step by step:

1. Within a step, cubics through gaps and gap velocities at some points detect the first contact that opens or closes.
2. That time is located on the integrator's dense output; the approach velocity is stored when contact begins.
3. Rows are at the ends of steps, at events, and `samples` times within a step during contact.
4. After an event the integrator is restarted. Joints are imposed by index reduction; each row is projected onto them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import Solution
from nonsmooth.settings import settings
from nonsmooth.step_control import ErrorControl, StepControl
from nonsmooth.steppers.base import Ask, Step, Stepping
from nonsmooth.steppers.compliant_equations import WORKS, CompliantEquations, independent_rows
from nonsmooth.steppers.landing import first_closing
from nonsmooth.steppers.validity import Validity
from nonsmooth.tolerances import CLOSED, GAINING, OPEN, PROJECTED, SLIPPING
from nonsmooth.tolerances.compliant import DRIFTED, ITERATIONS, LOCATED, LOOKS, PARTED, PASSES, TOUCHED

__all__ = ["CompliantDae"]

Mask = NDArray[np.bool_]


@settings
class CompliantDae:
    """Compliant contact, integrated with error control; beginning and end of contact are located.

    Requires ``dt=ErrorControl(rtol, atol, dt_min, dt_max)``. The error of a velocity is kept below atol + rtol |v|. The
    error of a coordinate, since penetrations are small compared with positions, is kept below the smaller of atol and
    rtol times the smallest clearance, plus rtol times its change since the last event. dt_max is the largest step of
    the integrator, dt_min is not used.

    Parameters
    ----------
    samples : int, >= 1
        Rows per integrator step during contact; forces are means between rows.
    baumgarte : (alpha, beta) [1/s], optional
        Baumgarte's feedback ``g'' + 2 alpha g' + beta^2 g = 0`` on ideal joints instead of projection, which leaves
        constraint drift.
    solver : Integrator, optional
        ``Radau()`` by default; ``Dop853()``, whose steps are compiled as well, ``Bdf()``, ``Lsoda()``, ``Cvodes()``.
    fallback : bool
        Not used: there is no fallback between integrators.

    Raises
    ------
    InputError
        For an invalid number of samples, or negative feedback.

    Notes
    -----
    The approach velocity is stored at the beginning of contact; contacts with initial penetration use their initial gap
    velocity. An integrator with a history is restarted at `trajectory.end`, so that a continued run agrees with an
    uninterrupted one within the tolerances, not bitwise.

    References
    ----------
    Flores, P., Ambrosio, J. (2010), On the contact detection for contact/impact analysis in multibody systems,
    Multibody Syst. Dyn. 24, 103-122.

    >>> CompliantDae()
    CompliantDae(samples=4, baumgarte=None, solver=None, fallback=True)
    """

    samples: int = 4
    baumgarte: tuple[float, float] | None = None
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Compliant
    default_solver: ClassVar[str] = "Radau"
    compiled: ClassVar[str] = "compliant_steps.CompliantSteps"
    programs: ClassVar[tuple[type, ...]] = ()

    def __post_init__(self) -> None:
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 1:
            raise InputError(f"CompliantDae: samples must be an integer >= 1, got {self.samples!r}.")
        feedback = self.baumgarte
        if feedback is not None and not (len(feedback) == 2 and all(0.0 <= x < np.inf for x in feedback)):
            raise InputError(f"CompliantDae: baumgarte must be two numbers >= 0 [1/s], or None, got {feedback!r}.")

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> CompliantFormulation:
        """The scheme on one system."""
        return CompliantFormulation(self, system, parameters, control, solver)


def place_tolerance(control: ErrorControl, sizes: Array) -> float:
    """Tolerance of coordinates [m, rad], from the typical gaps."""
    return min(control.atol, control.rtol * float(np.min(sizes, initial=1.0)))


def stated_rules(stepper: CompliantDae, tolerance: float) -> dict[str, Any]:
    """Rules and tolerances, for the manifest."""
    return {
        "tolerance of coordinates [m, rad]": tolerance,
        "gap regarded as contact / size": TOUCHED,
        "speed of approach": "stored at first contact, kept until separation",
        "joints": "index 1, rows projected" if stepper.baumgarte is None else "Baumgarte",
    }


class CompliantFormulation:
    """Compliant steps on one system."""

    def __init__(
        self, stepper: CompliantDae, system: System, parameters: Array, control: StepControl, solver: Any
    ) -> None:
        if not isinstance(control, ErrorControl):
            raise InputError(
                f"CompliantDae requires dt=ErrorControl(rtol, atol, dt_min, dt_max), got {control!r}; "
                "its steps are as long as the error allows."
            )
        if not hasattr(solver, "integrate"):
            raise InputError(f"CompliantDae requires an integrator, as Radau(), Dop853() or Cvodes(), got {solver}.")
        self.stepper, self.system, self.control, self.p = stepper, system, control, parameters
        self.equations = CompliantEquations(system, stepper.baumgarte)
        self.layout = self.equations.layout
        self.size = system.numeric.contact_law(parameters)[3]
        self.touched = TOUCHED * self.size
        self.k = self.equations.constants(parameters)
        self.validity = Validity(system, parameters, self.k)
        laws = () if system.compliance is None else system.compliance.laws
        self.closed = np.array([CLOSED if law.friction is None else SLIPPING for law in laws], dtype=np.int8)
        place = place_tolerance(control, self.size)
        nq, nv, nz = self.layout.nq, self.layout.nv, self.layout.nz
        self.tolerance = place
        atol = np.concatenate([np.full(nq, place), np.full(nv, control.atol), np.full(nz, place)])
        self.session = solver.integrate(self.equations.problem(atol, control.rtol))
        self.projection = _Projection(system, parameters) if system.ng and stepper.baumgarte is None else None
        self._issued: State | None = None
        self._rows: list[float] = []
        self._event: tuple[float, int] | None = None

    def counts(self) -> dict[str, int]:
        """Evaluations of the equations of motion by the integrator."""
        return {"evaluations": self.session.evaluations}

    def rules(self) -> dict[str, Any]:
        """Stated rules and tolerances."""
        return stated_rules(self.stepper, self.tolerance)

    def held(self) -> dict[str, Any]:
        """The state of the integrator within its step, and the remaining rows of that step."""
        evaluations = self.session.evaluations
        if self._issued is None:
            return {"evaluations": evaluations}
        going_on = None if self._restart else self.session.held()
        return {
            "evaluations": evaluations, "touching": self._touching, "d": self._d, "integrals": self._integrals,
            "rows": list(self._rows), "event": self._event, "restart": bool(self._restart), "session": going_on,
        }  # fmt: skip

    def hold(self, held: Mapping[str, Any], state: State) -> None:
        """Go on from a checkpoint."""
        if "d" in held:
            self._touching, self._d, self._integrals = held["touching"], held["d"], held["integrals"]
            self._rows, self._event, self._restart = list(held["rows"]), held["event"], held["restart"]
            self._issued = state
            if held["session"] is not None:
                self.piece = self.session.hold(held["session"], self._d)
        self.session.evaluations = int(held["evaluations"])

    # ---------------------------------------------------------------------------------------------------------- start

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Find the closed contacts."""
        nc = self.system.nc
        if "touching" not in state.law_memory:
            y = self._y(state)
            gaps, rates = self.equations.contacts(state.t, y, self._data(np.zeros(nc), np.zeros(nc)))
            touching = gaps <= self.touched
            approach = np.where(touching, np.maximum(-rates, 0.0), 0.0)
            scale = self._impulse_scale(state)
            memory = {"touching": touching.astype(float), "approach": approach, "bristles": np.zeros(self.layout.nz),
                      "stored": np.zeros(1)}  # fmt: skip
            state = replace(
                state, law_memory=memory, stepper_memory={**state.stepper_memory, "impulse_scale": np.array([scale])}
            )
        return state, None
        yield  # a generator, as in every formulation

    def _impulse_scale(self, state: State) -> float:
        """A typical impulse [N s], for complementarity: of the applied forces in dt_max, and of the motion."""
        M = self.system.numeric.M(state.q, self.p)[0]
        h = self.system.numeric.h(state.t, state.q, state.v, self.p)[0]
        weight = np.sqrt(np.trace(M) / len(M))
        kick = self.control.dt_max * np.sqrt(h @ np.linalg.solve(M, h))
        return float(weight * (np.sqrt(state.v @ M @ state.v) + kick)) or 1.0

    # ---------------------------------------------------------------------------------------------------------- steps

    def step(self, state: State, t_end: float) -> Stepping:
        """Advance to the next row: the end of an integrator step, an event, a sample, or `t_end`."""
        if self._issued is None or state.q is not self._issued.q or self._restart:
            self._begin(state)
        if not self._rows:
            self._next_piece()
        t = min(self._rows[0], t_end)
        if t == self._rows[0]:
            self._rows.pop(0)
        return self._record(state, t, self.piece.at(t))
        yield

    def _begin(self, state: State) -> None:
        touching = np.asarray(state.law_memory["touching"], dtype=float)
        self._touching = touching > 0.5
        self._d = self._data(touching, np.asarray(state.law_memory["approach"], dtype=float))
        hint = state.stepper_memory.get("dt")
        first = None if hint is None or self._issued is not None else float(hint[0])
        y = self._y(state)
        self.session.restart(state.t, y, self._d, self.control.dt_max, first)
        self._integrals = y[self.layout.core :]
        self._rows, self._event = [], None
        self._restart = False

    def _next_piece(self) -> None:
        """The next step of the integrator, its first event, and its rows."""
        try:
            piece = self.piece = self.session.advance()
        except SolverFailed:
            self._restart = True
            raise
        looks = max(self.stepper.samples, LOOKS)
        times = np.linspace(piece.t0, piece.t1, looks + 1)
        times[-1] = piece.t1
        looked = [self.equations.contacts(t, piece.sketch(t), self._d) for t in times.tolist()]
        end, self._event = piece.t1, None
        sign = np.where(self._touching, -1.0, 1.0)
        every = np.ones(self.system.nc, dtype=bool)
        for (t0, t1), (before, after) in zip(
            zip(times[:-1], times[1:], strict=True), zip(looked[:-1], looked[1:], strict=True), strict=True
        ):
            found = first_closing(
                sign * before[0], sign * before[1], sign * after[0], sign * after[1], t1 - t0,
                watched=every, tolerance=self.touched,
            )  # fmt: skip
            if found is not None:
                end = max(self._located(float(t0), float(t1), *found), float(np.nextafter(piece.t0, np.inf)))
                self._event = (end, found[1])
                break
        count = self.stepper.samples if self._touching.any() else 1
        inner = np.linspace(piece.t0, end, count + 1)[1:-1].tolist()
        self._rows = [*(t for t in inner if piece.t0 < t < end), end]

    def _located(self, t0: float, t1: float, after: float, contact: int) -> float:
        """Time at which the gap of a contact vanishes, by a safeguarded Newton method on the dense output."""
        sign = -1.0 if self._touching[contact] else 1.0
        low, high, t = t0, t1, t0 + after
        for _ in range(ITERATIONS):
            gaps, rates = self.equations.contacts(t, self.piece.at(t), self._d)
            gap, rate = sign * float(gaps[contact]), sign * float(rates[contact])
            low, high = (t, high) if gap > 0 else (low, t)
            if abs(gap) <= LOCATED:
                break
            newton = t - gap / rate if rate < 0 else np.inf
            guess = newton if low < newton < high else (low + high) / 2
            if guess in (low, high):
                break
            t = guess
        return t

    def _data(self, touching: Array, approach: Array) -> Array:
        return np.concatenate([self.p, self.k, touching, approach])

    def _y(self, state: State) -> Array:
        bristles = state.law_memory.get("bristles", np.zeros(self.layout.nz))
        return np.concatenate([state.q, state.v, bristles, np.zeros(self.layout.size - self.layout.core)])

    # ---------------------------------------------------------------------------------------------------- bookkeeping

    def _record(self, before: State, t: float, y: Array) -> Step:
        part, core = self.layout.parts, self.layout.core
        q, v = self._on_joints(t, y[part["q"]], y[part["v"]])
        gained = np.concatenate([np.zeros(core), y[core:] - self._integrals])
        self._integrals = y[core:]
        there = np.concatenate([q, v, y[part["z"]], self._integrals])
        gaps, rates, F_N, residual = self.equations.row(t, there, self._d)
        work = dict(zip(WORKS, gained[part["work"]].tolist(), strict=True))
        memory = dict(before.law_memory) | {"bristles": there[part["z"]].copy()}
        memory["stored"] = memory["stored"] + work["stored"]
        for i in np.flatnonzero(self._touching):
            self.validity.check(int(i), "force", float(F_N[i]))
            self.validity.check(int(i), "depth", max(-float(gaps[i]), 0.0))
        memory |= self._switched(t, memory, gaps, rates)
        stepper_memory = {**before.stepper_memory, "dt": np.array([self.piece.t1 - self.piece.t0])}
        self._issued = state = State(t, q, v, memory, stepper_memory)
        P_N, dt = gained[part["P_N"]], t - before.t
        natural = np.minimum(np.maximum(gaps, 0.0) / self.size, np.abs(P_N) / before.stepper_memory["impulse_scale"])
        return Step(
            state=state,
            v_left=v,
            dt=dt,
            P_N=P_N,
            P_N_impact=np.zeros(self.system.nc),
            P_T=gained[part["P_T"]],
            P_T_impact=np.zeros(self.system.nt),
            mode=np.where(np.asarray(memory["touching"]) > 0.5, self.closed, OPEN).astype(np.int8),
            gamma_minus=rates,
            gamma_plus=rates,
            reaction=gained[part["reaction"]] / dt,
            reaction_impact=np.zeros(self.layout.nr),
            residual=float(residual[0]),
            complementarity=float(np.max(natural, initial=0.0)),
            work_drivers=work["drivers"],
            loss_friction=work["loss_friction"],
            work_loads=work["loads"],
            loss_damping=-work["damping"],
            loss_contact=work["loss_contact"],
            stored=float(memory["stored"][0]),
        )

    def _on_joints(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Coordinates and velocities projected onto the joints; the integrator is restarted from them if the violation
        was large."""
        if self.projection is None:
            return q, v
        closed_q, closed_v = self.projection(t, q, v)
        self._restart = float(np.max(np.abs(closed_q - q))) > DRIFTED * self.tolerance
        return closed_q, closed_v

    def _switched(self, t: float, memory: dict[str, Array], gaps: Array, rates: Array) -> dict[str, Array]:
        """The internal states of the laws after contacts have opened or closed."""
        touched = self._touching
        lost = touched & (gaps > self.touched) & (rates > 0.0)
        met = ~touched & (gaps < -self.touched)
        if self._event is not None and t == self._event[0]:
            near = np.abs(gaps) <= self.touched
            lost |= touched & near & (rates > 0.0)
            met |= ~touched & near & (rates < 0.0)
            # always including the contact itself, whose gap is changed by the projection by the integrator's error
            (lost if touched[self._event[1]] else met)[self._event[1]] = True
        if not (lost.any() or met.any()):
            return {}
        self._restart = True
        touching = np.where(lost, 0.0, np.where(met, 1.0, memory["touching"]))
        approach = np.where(met, np.maximum(-rates, 0.0), np.where(lost, 0.0, memory["approach"]))
        for i in np.flatnonzero(met):
            self.validity.check(int(i), "approach", float(approach[i]))
        bristles = memory["bristles"].copy()
        if self.system.compliance is not None and bristles.size:
            bristles[(lost | met)[self.system.compliance.owner]] = 0.0
        return {"touching": touching, "approach": approach, "bristles": bristles}


class _Projection:
    """The nearest coordinates and velocities, in the mass metric, that satisfy the independent rows of the joints."""

    def __init__(self, system: System, p: Array) -> None:
        self.p, self.numeric = p, system.numeric
        t, q, s = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("p", p.size)
        W_g, inverse = system.W_g(t, q, s), system.inverse_factor(s)
        g, g_t, rows = system.g(t, q, s), system.g_t(t, q, s), independent_rows(system)
        outputs = [g, W_g, inverse.T @ (inverse @ W_g), g_t]
        self.implied: Evaluator | None = None
        if rows is not None:
            others = [i for i in range(system.ng) if i not in set(rows)]
            self.names = [system.constraint_names[i] for i in others]
            self.implied = Evaluator(ca.Function("implied", [t, q, s], [g[others]]))
            W_g = W_g[:, rows]
            outputs = [g[rows], W_g, inverse.T @ (inverse @ W_g), g_t[rows]]
        names = ["g", "W_g", "moved", "g_t"]
        self.closure = Evaluator(ca.Function("closure", [t, q, s], outputs, ["t", "q", "p"], names), ["W_g", "moved"])

    def __call__(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        before = np.inf
        for _ in range(PASSES):
            g, W_g, moved, g_t = self.closure(t, q, self.p)
            worst = float(np.max(np.abs(g)))
            if worst <= PROJECTED or not worst < GAINING * before:
                break
            before = worst
            q = self.numeric.advance(q, -moved @ np.linalg.solve(W_g.T @ moved, g), 1.0)[0]
        if not np.isfinite(worst):
            raise SolverFailed(f"the projection onto the joints diverges at t = {t:.9g} s.")
        self._check_implied(t, q)
        return q, v - moved @ np.linalg.solve(W_g.T @ moved, W_g.T @ v + g_t)

    def _check_implied(self, t: float, q: Array) -> None:
        """Raise SolverFailed if a row that was redundant at the start is violated."""
        if self.implied is None:
            return
        misfit = np.abs(self.implied(t, q, self.p)[0])
        worst = int(np.argmax(misfit))
        if misfit[worst] > PARTED:
            raise SolverFailed(
                f'the constraint "{self.names[worst]}", redundant at the start, is violated by {misfit[worst]:.3g} at '
                f"t = {t:.9g} s: it is independent elsewhere; build the model at a start where no joints are singular."
            )
