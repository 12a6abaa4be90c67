"""Steps of a scheme in compiled code, many per call."""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.compiled_form import cached, is_rough, options_of, rules_of
from nonsmooth.engine.external_solver import ExternalSolver, check_solver
from nonsmooth.engine.layout import Layout
from nonsmooth.engine.run import Run, StepBatch, origin_of
from nonsmooth.exceptions import InputError
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.solvers.chain import CERTIFIED, Chain
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.control import ConstantStep, Landing, StepControl
from nonsmooth.step.impact_fields import CONVEX
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.tolerances import ACCEPTABLE, EPSILON, MOST_AMPLIFIED, PROXIMAL, UNCERTAIN

#: share of the size of a mechanism, of 1 m at most, below which its coordinates at the start do not tell how large
#: those of the run are, to which residuals of joints are relative: their round-off is 2e-13 of it, and joints that are
#: open by more than 1e-12 m remain above `CERTIFIED`
NEAR_ZERO = 1e-3

#: share of the smallest clearance or contact size up to which gaps may be round-off
MOST_ROUND_OFF = 1e-7
#: displacement in a step, in clearances, above which messages name the clearance
TIGHT = 1e2

#: on the diagonal of joints with redundant rows, as a share of the largest entry
RIDGE = 1e-9

#: numbers of parts in which a step that is not certified is taken
PARTS = (2, 4, 8, 16, 32, 64, 128, 256)
#: counts of steps that are not certified at once
REPEATED = ("shortened", "divided", "chained")
#: more contacts than there are
NEVER = 2**40
#: fields of bodies from which implicit Euler extrapolates velocities
GAINS = ("delta_v", "delta2_v", "delta3_v")


def ridge_of(system: System, values: Array) -> float:
    """Term added to the diagonal of joints whose rows are redundant [1/kg]."""
    if not system.redundant:
        return 0.0
    m, start = Mechanism(system, values, 1.0), system.start
    W_g = m.at(start.t, start.q).W_g
    return RIDGE * float(np.max(np.sum(W_g * m.metric.change(W_g), axis=0)))


def _certified(system: System, scheme: Scheme, values: Array) -> float:
    """Largest residual of an accepted step; gaps among the residuals have the round-off of the coordinates."""
    scale = system.elementwise.contact_law(values)[3]
    if not scheme.accelerations or scale.size == 0:
        return CERTIFIED
    round_off = 2 * EPSILON * np.max(np.abs(system.start.q), initial=0.0) / np.min(scale)
    return max(CERTIFIED, float(min(MOST_ROUND_OFF, round_off)))


def reach_of(system: System) -> float:
    """Largest coordinate at the start, of nodes too [m]; found once for all runs."""

    def find() -> float:
        nodes = [float(np.max(np.abs(e.modes.places), initial=0.0)) for e in system.flexible_bodies]
        reach = max([float(np.max(np.abs(system.start.q))), *nodes])
        if reach >= NEAR_ZERO:
            return reach
        # the largest length of the mechanism as built, or radius of gyration; 1 m at most, and if it has none
        lengths = [abs(x) for e in system.elements for label, x in e.numbers().items() if e.quantity(label).unit == "m"]
        radii = system.gyration(system.parameter_values)[system.angular]
        return max(reach, NEAR_ZERO * min(max([*lengths, *radii.tolist()], default=0.0) or 1.0, 1.0))

    return cached(system, "reach", find)


def tight_clearance(m: Mechanism, t: float, q: Array, v: Array, dt: float) -> str:
    """A sentence, after a blank, on the clearance that is smallest relative to the displacement in a step, along the
    gap and by its change since a concentric journal has no direction; "" where none exceeds `TIGHT` clearances."""
    at, change = m.at(t, q), dt * m.metric.change(m.force(t, q, v))
    kinds = m.system.contact_elements
    moved = dt * np.abs(at.W_N).T @ (np.abs(v) + np.abs(change)) / m.scale
    gaps = m.system.true_gaps(np.array([q, m.moved(q, v + change, dt)]), m.p)
    moved = np.maximum(moved, np.abs(gaps[1] - gaps[0]) / m.scale)
    moved[[not isinstance(kind, Clearance) for kind in kinds]] = 0.0
    if not np.max(moved, initial=0.0) > TIGHT:
        return ""
    i = int(np.argmax(moved))
    return (
        f" With its velocities and loads at the start of the step, '{m.system.contact_names[i]}' would move by "
        f"{moved[i]:.2g} times its clearance ({m.scale[i]:.3g} m) in a step of {dt:.3g} s. Shorten the step; where "
        "these velocities are far above those of the mechanism, steps before were too long already: shorten all. If so "
        "small a clearance does not matter, use its ideal joint (Model.ideal)."
    )


class CompiledSteps(Run):
    """A run of a time-stepping scheme, whose steps that are not certified are taken in parts, or by other solvers."""

    #: whether a solver of the stepper is one of the programs of contacts, and then solves all of them
    takes_solver = True

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        certified = _certified(system, stepper.scheme(control), values)
        return {"certified residual": certified} | rules_of(system, stepper, control)

    def __init__(self, system: System, stepper: Any, control: StepControl, values: Array, t_end: float) -> None:
        assert isinstance(control, ConstantStep | Landing)
        scheme = stepper.scheme(control)
        if self.takes_solver:
            check_solver(system, stepper, scheme, values)
        rough, options = is_rough(system, values), options_of(system)
        if scheme.balanced or scheme.convex:
            options = max(options, 1)
        make = functools.partial(Layout, system, rough=rough, accelerations=scheme.accelerations, options=options)
        layout = cached(system, (rough, scheme.accelerations, options), make)
        super().__init__(system, scheme, layout, values, t_end)
        if isinstance(control, Landing):
            self.longest, self.shortest, self._error = control.dt_max, control.dt_min, control.error or 0.0
        else:
            self.longest, self.shortest, self._error = control.dt, 0.0, 0.0
        self._requested = self.takes_solver and stepper.solver is not None
        self._set(values, t_end)
        self._begin, self._run = self._entry("begin"), self._entry("run", 1)  # compiled before the clock runs

    def use(self, chain: Chain) -> None:
        """Take the solvers of a run: for all its programs if one was requested, else for steps without a solution."""
        self.chain = chain
        if self._requested:
            self._whole["solver"], self._whole["least_rest_contacts"] = self._external_solver.address, NEVER
            self._chunk = 1  # a program may take long

    @functools.cached_property
    def _external_solver(self) -> ExternalSolver:
        assert self.chain is not None
        return ExternalSolver(self.memory, self.layout, self.chain, self.outside, requested=self._requested)

    def _set(self, values: Array, t_end: float) -> None:
        system, scheme = self.system, self.scheme
        # impulses of redundant joints are corrected from iteration to iteration
        varying = system.dimension == 3 or scheme.balanced or system.redundant or self.layout.whole["loads"]
        varying = varying or self.sampling is not None
        rubs = system.dimension == 2 and is_rough(system, values)  # in space, rest is not tried first
        if unknown := ", ".join(sorted(set(scheme.settings) - set(self._whole.dtype.names or ()))):
            message = (
                f"settings of a Scheme are fields of System in nonsmooth/step/fields.py; no such field: {unknown}."
            )
            raise InputError(message)
        # convex programs have unique velocities, at rest as well
        many = (3 * len(self.layout.bodies) + 3 - system.ng) // 2 if rubs and not scheme.convex else NEVER
        for name, value in {
            "t_end": t_end, "longest": self.longest, "shortest": self.shortest, "reach": reach_of(system),
            "theta": 0.5, "radius": 0.0, "projected": False, **scheme.settings,
            "midpoint": scheme.midpoint and system.ng > 0, "least_rest_contacts": many, "balanced": scheme.balanced,
            "law_of_impact": self.layout.law_of_impact, "varying": bool(varying), "error": self._error,
            "phase_of_impact": CONVEX if scheme.convex else 0, "acceptable": ACCEPTABLE,
        }.items():  # fmt: skip
            self._whole[name] = value
        self.set_scales(values)

    def set_scales(self, values: Array) -> None:
        """Numbers of the whole mechanism that depend on parameters."""
        whole, noise = self._whole, 0.0
        # joints determine positions, hence velocities to their round-off over dt
        if self.system.ng or self.scheme.accelerations:
            heaviest = float(np.max(self.memory.of["Body"]["sqrt_mass"]))
            noise = EPSILON * float(whole["reach"][0]) * heaviest
        whole["noise"], whole["ridge"] = noise, ridge_of(self.system, values)
        whole["certified"] = _certified(self.system, self.scheme, values)

    def start(self, state: State) -> State | None:
        """The start of a run with the data of its first step, after an impact of contacts that approach there."""
        if self.scheme.locates and "Contact.closed" in state.memory:
            return state  # of a run that goes on
        origin = origin_of(state)
        self._corners_from(origin)
        if self._begin_at(state, origin) == UNCERTAIN:
            return None
        if self.scheme.locates and self._whole["impact_at_end"][0]:
            found = self._meets()
            if not found and self.chain is not None and self.chain.fallback and not self._requested:
                self._begin_at(state, origin)
                self._whole["solver"] = self._external_solver.address
                found = self._meets()
                self._whole["solver"] = 0
                self.chain.counts["fallbacks"] += found
            if not found:
                return None
            self.impact = self.tables.read(1)
        elif self._impacts_between and not state.memory:
            if not self._meets():
                return None
            self.impact = self.tables.read(1) if self._whole["impact_at_end"][0] else None
        self._at = begun = self._state()
        return begun

    @property
    def _impacts_between(self) -> bool:
        """Whether impacts are between steps that do not locate them: also at the start of a run."""
        return self.scheme.between and bool(self._whole["law_of_impact"][0])

    def _meets(self) -> bool:
        """Whether the impact at the start is certified."""
        self._whole["steps"] = 0
        self.tables.reach(1, self._left())
        return bool(self._run(self.memory.address(self.root), 0) != UNCERTAIN)

    def failure(self, state: State) -> str:
        m = self._mechanism
        residual, law, certified = (float(self._whole[name][0]) for name in ("residual", "law", "certified"))
        what = f"residuals {residual:.2g} of its equations, {law:.2g} of the laws of contacts"
        if max(residual, law) <= certified:
            what = "its equations hold, but directions of forces and gaps at its end do not converge"
        why = self.outside.failure or f"the step is not certified: {what}; a shorter step may be needed."
        tight = tight_clearance(m, state.t, state.q, state.v, self.longest)
        return f"{why}{m.ill_conditioned(state.t, state.q)}{tight}"

    def rescue(self, state: State, origin: float) -> StepBatch | None:
        """A step that is not certified as it is: near a singular position as a whole, with what is lost there; in 2, 4,
        .. 256 parts; as a whole by the chain of solvers; in parts by this."""
        self._raise()
        if self.chain is None or not self.chain.fallback:
            return None
        self._at = None
        # event-locating steps shorten themselves
        in_parts = [] if self.scheme.locates else [n for n in PARTS if n <= self.rows]
        acceptable = ACCEPTABLE
        if self.system.ng:  # near a singular position joints amplify their round-off
            m = self._mechanism
            end = m.at(state.t + self.longest, m.moved(state.q, state.v, self.longest)).W_g
            acceptable = min(ACCEPTABLE * m.amplified(m.at(state.t, state.q).W_g, end), MOST_AMPLIFIED)
        singular = acceptable > ACCEPTABLE
        ways = [(parts, False) for parts in ([1] if singular else []) + in_parts]
        ways += [] if self.scheme.convex else [(parts, True) for parts in (1, *in_parts)]
        self._whole["acceptable"], self._whole["close"] = acceptable, self._closing if singular else 0
        try:
            for parts, chained in ways:
                if self._whole["rest_undecided"][0] and not chained:  # about rest, which shorter steps do not decide
                    continue
                self.outside.in_time()
                taken = self._again(state, origin, parts, chained)
                if taken is not None:
                    return taken
            return None
        finally:
            self._whole["rest_undecided"], self._whole["acceptable"], self._whole["close"] = 0, ACCEPTABLE, 0

    @functools.cached_property
    def _closing(self) -> int:
        return self.outside.address(self._close)

    def _close(self) -> None:
        """Changes of the impulses of joints at the start of a step that close them at its end."""
        m, t, dt = self._mechanism, float(self._whole["t"][0]), float(self._whole["dt"][0])
        q, u = (self.layout.packed(self.memory, name) for name in ("q", "u"))
        start, end = m.at(t, q).W_g, m.at(t + dt, m.moved(q, u, dt)).W_g
        metric = m.implicit(float(self._whole["theta"][0]) * dt)
        impulses = m.solved(end.T @ metric.change(start), -self.layout.of_joints(self.memory, "b0"))
        self.layout.put_joints(self.memory, "y", impulses)

    @functools.cached_property
    def _mechanism(self) -> Mechanism:
        return Mechanism(self.system, self.values, self.longest)

    def _again(self, state: State, origin: float, parts: int, chained: bool) -> StepBatch | None:
        """A step in so many parts; `chained` by solvers outside, or without those of them that were requested."""
        self._put_stops(state.t, origin)
        whole = self._whole
        kept = {name: whole[name].copy() for name in ("longest", "t_end", "origin", "solver", "least_rest_contacts")}
        corners = self._corners_from(origin)
        stop = float(next(iter(corners[np.searchsorted(corners, state.t, side="right") :]), self._t_end))
        goal = ConstantStep(self.longest).next_time(state.t, origin, stop)
        if parts > 1:
            whole["longest"], whole["t_end"], origin = (goal - state.t) / parts, goal, state.t
        if chained:
            whole["solver"] = 0 if self._requested else self._external_solver.address
            whole["least_rest_contacts"] = NEVER
        try:
            self._begin_at(state, origin)
            whole["steps"] = whole["impact_at_end"] = 0  # an impact without a step is for the start of a run
            self.tables.reach(parts, max(parts, self._left()))
            self._run(self.memory.address(self.root), parts)
        finally:
            for name, value in kept.items():
                whole[name] = value
        self._raise()
        done = int(whole["steps"][0])
        whole["shortened"] += parts > 1
        t = float(whole["t"][0])
        if not done or not t > state.t or (parts > 1 and t < goal):
            return None
        whole["divided"] += parts > 1
        if chained:
            assert self.chain is not None
            self.chain.counts["fallbacks"] += 1
            whole["chained"] += 1
        self._at = end = self._state()
        return StepBatch(done, self._worked(self.tables.read(done), state, origin), end, True)

    def restart(self, image: NDArray[np.uint8], values: Array) -> None:
        """A run of its own with these parameters in the same memory, whose records are then filled."""
        self.memory.raw[:] = image
        self._at, self.values, self.impact, self._corners = None, values, None, None
        self.__dict__.pop("_mechanism", None)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of programs, iterations, and steps at half their length, in parts, or with the chain of solvers."""
        names = {"solves": "solves", "iterations": "rounds"} | {name: name for name in REPEATED}
        if self._error:
            names["rejected"] = "rejected"
        return {name: int(self._whole[which][0]) for name, which in names.items()}

    # ---------------------------------------------------------------------------------------------------------- states

    def _begin_at(self, state: State, origin: float) -> int:
        self.write_state(state, origin)
        return self._initialise(state, origin)

    def _lost(self, state: State) -> set[str]:
        """Internal states of it that are not those of the step which begins there."""
        if not state.memory:
            return set()
        if self.scheme.accelerations and "Body.smooth" not in state.memory:
            return {"Joint.P"}  # with which its first iteration begins
        return set() if self._is_fresh(state) else set(self.scheme.stale)

    def _is_fresh(self, state: State) -> bool:
        """Whether its internal states are those of its time."""
        known = state.memory
        return len(known) > 0 and "System.t" in known and bool(known["System.t"][0] == state.t)

    def write_state(self, state: State, origin: float) -> None:
        """Write a state into the records, before the compiled scheme begins there."""
        layout, memory, whole = self.layout, self.memory, self._whole
        contact, joint = memory.of["Contact"], memory.of["Joint"]
        # of a run without a step before this one
        whole["last_dt"], whole["proximal"] = self.longest, PROXIMAL if layout.redundant else 0.0
        whole["planned"] = self.longest if self._error else math.inf
        whole["secant"] = contact["P"] = 0.0
        for name in GAINS:
            memory.of["Body"][name] = 0.0
        for bond in (contact, joint):
            bond["trend"] = np.zeros((), bond["trend"].dtype)
        self.states.put(memory, state.memory, self._lost(state))
        layout.put(memory, "q", state.q)
        layout.put(memory, "v", state.v)
        whole["t"], whole["origin"], contact["first"] = state.t, origin, contact["P"]

    def _initialise(self, state: State, origin: float) -> int:
        """`DONE` if the compiled scheme can begin a run at a state that stands in the records."""
        memory, whole = self.memory, self._whole
        status = self._begin(self.memory.address("System"))
        if not self.scheme.accelerations:
            memory.of["Joint"]["P"] = 0.0
        self.states.put(memory, state.memory, self._lost(state))
        if not self._is_fresh(state):
            memory.of["Contact"]["trend"]["last"] = memory.of["Contact"]["P"]
        whole["t"], whole["origin"] = state.t, origin
        return int(status)

    def begin(self, state: State) -> bool:
        """Begin a run at a state that stands in the records; whether that is certified, and without an impact."""
        self._corners_from(state.t)
        self._at = state
        if self._initialise(state, state.t) == UNCERTAIN or (self._impacts_between and not self._meets()):
            return False
        return not self._whole["impact_at_end"][0]
