"""Steps of a scheme in compiled code, many per call."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.objects import entry
from nonsmooth.compile.records.memory import Memory
from nonsmooth.engine.compiled_form import is_rough, layout_of, made_once, rules_of
from nonsmooth.engine.external_solver import Door, Outside, why_no_programs
from nonsmooth.engine.layout import STOPS, Layout
from nonsmooth.engine.rows import at_rows
from nonsmooth.engine.saved_state import Numbers, kept, varying
from nonsmooth.engine.tables import Tables
from nonsmooth.engine.viewer import Viewer
from nonsmooth.exceptions import InputError
from nonsmooth.model.corners import before, divided, next_after
from nonsmooth.model.state import InternalStates, State
from nonsmooth.model.system import System
from nonsmooth.solvers.chain import CERTIFIED, Chain
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.control import ConstantStep, Landing, StepControl
from nonsmooth.step.impact_fields import CONVEX
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.tightness import gap_round_off, tight_clearance
from nonsmooth.step.tolerances import ACCEPTABLE, EPSILON, MOST_AMPLIFIED, PROXIMAL, UNCERTAIN

__all__ = ["CompiledSteps", "Taken", "origin_of", "reach_of", "ridge_of"]

#: share of the size of a mechanism, of 1 m at most, below which its coordinates at the start do not tell how large
#: those of the run are, to which residuals of joints are relative: their round-off is 2e-13 of it, and joints that are
#: open by more than 1e-12 m remain above `CERTIFIED`
NEAR_ZERO = 1e-3

#: seconds of compiled stepping between two checks of Ctrl-C, progress and budget
CHUNK = 0.1
#: rows that memory has room for: bytes of all, and their number at least and at most
ROOM, FEWEST, MOST = 2**21, 16, 2**14
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


@dataclass(frozen=True, eq=False)
class Taken:
    """So many accepted steps, their rows as a `Recorder` keeps them, and the state after them.

    `whole` is False where the next step is one that was not certified.
    """

    count: int
    rows: Mapping[str, NDArray[Any]]
    end: State
    whole: bool


def origin_of(state: State) -> float:
    """Where the grid of steps begins [s], which a run that goes on keeps."""
    return float(state.memory["System.origin"][0]) if "System.origin" in state.memory else state.t


def ridge_of(system: System, values: Array) -> float:
    """Term added to the diagonal of joints whose rows are redundant [1/kg]."""
    if not system.redundant:
        return 0.0
    m, start = Mechanism(system, values, 1.0), system.start
    W_g = m.at(start.t, start.q).W_g
    return RIDGE * float(np.max(np.sum(W_g * m.metric.change(W_g), axis=0)))


def _certified(system: System, scheme: Scheme, values: Array) -> float:
    """Largest residual of an accepted step; gaps among the residuals have their round-off."""
    if not scheme.accelerations:
        return CERTIFIED
    return max(CERTIFIED, gap_round_off(system.elementwise.contact_law(values)[3], system.start.q))


def _size(system: System) -> float:
    """The largest length of the mechanism as built, or radius of gyration; 1 m at most, and if it has none [m]."""
    lengths = [abs(x) for e in system.elements for label, x in e.numbers().items() if e.quantity(label).unit == "m"]
    radii = system.gyration(system.parameter_values)[system.angular]
    return min(max([*lengths, *radii.tolist()], default=0.0) or 1.0, 1.0)


def reach_of(system: System) -> float:
    """Largest coordinate at the start, of nodes too [m]; found once for all runs."""

    def find() -> float:
        nodes = [float(np.max(np.abs(e.modes.places), initial=0.0)) for e in system.flexible_bodies]
        reach = max([float(np.max(np.abs(system.start.q))), *nodes])
        return reach if reach >= NEAR_ZERO else max(reach, NEAR_ZERO * _size(system))  # of 1 m at most

    return made_once(system, "reach", find)


class CompiledSteps:
    """Steps of a scheme on one system.

    Parameters
    ----------
    system, stepper, control, values : as `simulate` takes them
    t_end : [s]
    """

    #: the schema of the record that `run` takes
    root = "System"
    #: of solvers outside the compiled text; set by a run before its first step
    chain: Chain | None = None
    #: the row of the impact at the start of the run, if there is one
    impact: Mapping[str, NDArray[Any]] | None = None
    #: least number of steps between two corners of loads and drivers
    parts = 1
    #: start of the run and corners of its loads and drivers
    _corners: tuple[float, Array] | None = None
    #: whether these solve all programs
    _requested = False
    #: tolerated local error
    _error = 0.0
    #: longest step, where it is stated [s]
    longest = math.inf

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        """Stated rules and tolerances of a run."""
        return {"certified residual": _certified(system, stepper.scheme(control), values)} | rules_of(
            system, stepper, control
        )

    def __init__(self, system: System, stepper: Any, control: StepControl, values: Array, t_end: float) -> None:
        assert isinstance(control, ConstantStep | Landing)
        self.system, self.scheme = system, stepper.scheme(control)
        self.longest, self._t_end = control.dt_max if isinstance(control, Landing) else control.dt, t_end
        self.shortest = control.dt_min if isinstance(control, Landing) else 0.0
        self._error = (control.error or 0.0) if isinstance(control, Landing) else 0.0
        self._requested = stepper.solver is not None
        self._check(stepper, control, values)
        self._allocate(layout_of(system, values, self.scheme), values)
        self._set(values, t_end)
        self._begin, self._run = self._entry("begin"), self._entry("run", 1)  # compiled before the clock runs

    def _check(self, stepper: Any, control: StepControl, values: Array) -> None:
        """Raise InputError for a solver that does not solve the programs of the scheme."""
        if stepper.solver is None:
            return
        rough = is_rough(self.system, values) and not self.scheme.convex
        lacks = why_no_programs(stepper.solver, self.system.dimension, rough)
        if lacks is not None:
            raise InputError(
                f"{type(stepper).__name__} formulates programs that {stepper.solver} does not solve: {lacks}; "
                "give it SemismoothNewton(), or leave the solver out."
            )

    def use(self, chain: Chain) -> None:
        """Take the solvers of a run: for all its programs if its solver was requested, else for steps without a
        solution."""
        self.chain = chain
        if self._requested:
            self._whole["solver"], self._whole["least_rest_contacts"] = self._door.address, NEVER
            self._chunk = 1  # a program may take long

    @functools.cached_property
    def _door(self) -> Door:
        assert self.chain is not None
        return Door(self.memory, self.layout, self.chain, self.outside, requested=self._requested)

    def _allocate(self, layout: Layout, values: Array) -> None:
        """The memory of a run with its parameters, and tables of its rows."""
        self.layout, self.values, system = layout, values, self.system
        self.tangents = system.dimension - 1
        per_row = 8 * (3 * system.nq + 8 * system.nc + 2 * system.nr + 12)
        self.rows = min(max(ROOM // per_row, FEWEST), MOST)
        self.memory: Memory = layout.filled(values)
        self.tables = Tables(self.memory, self.layout, self.rows)
        self._whole = self.memory.of["System"]
        self._at: State | None = None
        self.kept = kept(layout, self.memory, self.scheme.state)
        self._chunk = 64
        self.outside = Outside()
        #: evaluates rows when no more steps are taken
        self.observe = Viewer(layout, self.memory)

    def _set(self, values: Array, t_end: float) -> None:
        system, scheme = self.system, self.scheme
        # impulses of redundant joints are corrected from iteration to iteration
        varying = system.dimension == 3 or scheme.balanced or system.redundant or self.layout.whole["loads"]
        rubs = system.dimension == 2 and is_rough(system, values)  # in space, rest is not tried first
        # convex programs have unique velocities, at rest as well
        many = (3 * len(self.layout.bodies) + 3 - system.ng) // 2 if rubs and not scheme.convex else NEVER
        for name, value in {
            "t_end": t_end, "longest": self.longest, "shortest": self.shortest, "reach": reach_of(system),
            "theta": 0.5, "radius": 0.0, "projected": False, **scheme.settings,
            "midpoint": scheme.midpoint and system.ng > 0, "least_rest_contacts": many, "balanced": scheme.balanced,
            "law_of_impact": self.layout.law_of_impact, "varying": bool(varying), "error": self._error,
            "planned": self.longest, "phase_of_impact": CONVEX if scheme.convex else 0, "acceptable": ACCEPTABLE,
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
        """The start of a run with the data of its first step, after the impact there, if closed contacts approach.

        None if that is not certified.
        """
        if self.scheme.locates and "Contact.closed" in state.memory:
            return state  # of a run that goes on
        origin = origin_of(state)
        self._corners_from(origin)
        if self._put(state, origin) == UNCERTAIN:
            return None
        if self.scheme.locates and self._whole["impact_at_end"][0]:
            if not (self._meets() or self._meets_by_others(state, origin)):
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

    def _meets_by_others(self, state: State, origin: float) -> bool:
        """Whether the impact at the start is certified by the chain of solvers."""
        if self.chain is None or not self.chain.fallback or self._requested:
            return False
        self._put(state, origin)
        self._whole["solver"] = self._door.address
        found = self._meets()
        self._whole["solver"] = 0
        self.chain.counts["fallbacks"] += found
        return found

    def failure(self, state: State) -> str:
        """Why the step from a state is not certified."""
        m = self._mechanism
        residual, law, certified = (float(self._whole[name][0]) for name in ("residual", "law", "certified"))
        what = f"residuals {residual:.2g} of its equations, {law:.2g} of the laws of contacts"
        if max(residual, law) <= certified:
            what = "its equations hold, but directions of forces and gaps at its end do not converge"
        why = self.outside.failure or f"the step is not certified: {what}; a shorter step may be needed."
        return f"{why}{m.lost_rank(state.t, state.q)}{tight_clearance(m, state.t, state.q, state.v, self.longest)}"

    def rescue(self, state: State, origin: float) -> Taken | None:
        """A step from a state that is not certified as it is, None if it is not certified in any way: near a singular
        position as a whole, with what is lost there; in 2, 4, .. 256 parts; as a whole by the chain of solvers; in
        parts by this."""
        self._raise()
        if self.chain is None or not self.chain.fallback:
            return None
        self._at = None
        # event-locating steps shorten themselves
        in_parts = [] if self.scheme.locates else [n for n in PARTS if n <= self.rows]
        acceptable = self._acceptable(state)
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
        q, u = (self.layout.packed(self.memory, name).ravel() for name in ("q", "u"))
        start, end = m.at(t, q).W_g, m.at(t + dt, m.moved(q, u, dt)).W_g
        metric = m.implicit(float(self._whole["theta"][0]) * dt)
        impulses = m.solved(end.T @ metric.change(start), -self.layout.of_joints(self.memory, "b0"))
        self.layout.put_joints(self.memory, "y", impulses)

    def _acceptable(self, state: State) -> float:
        """The change that may end iterations of the step from a state: near a singular position joints amplify their
        round-off."""
        if not self.system.ng:
            return ACCEPTABLE
        m = self._mechanism
        end = m.moved(state.q, state.v, self.longest)
        ends = (m.at(state.t, state.q).W_g, m.at(state.t + self.longest, end).W_g)
        return min(ACCEPTABLE * m.amplified(*ends), MOST_AMPLIFIED)

    @functools.cached_property
    def _mechanism(self) -> Mechanism:
        return Mechanism(self.system, self.values, self.longest)

    def _again(self, state: State, origin: float, parts: int, chained: bool) -> Taken | None:
        """A step in so many parts; `chained` by solvers outside, or without those of them that were requested."""
        self._put_stops(state.t, origin)
        whole = self._whole
        kept = {name: whole[name].copy() for name in ("longest", "t_end", "origin", "solver", "least_rest_contacts")}
        goal = ConstantStep(self.longest).next_time(state.t, origin, self._next_stop(state.t, origin))
        if parts > 1:
            whole["longest"], whole["t_end"], origin = (goal - state.t) / parts, goal, state.t
        if chained:
            whole["solver"], whole["least_rest_contacts"] = 0 if self._requested else self._door.address, NEVER
        try:
            self._put(state, origin)
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
        return Taken(done, self._worked(self.tables.read(done), state, origin), end, True)

    def _worked(self, rows: dict[str, NDArray[Any]], start: State, origin: float) -> dict[str, NDArray[Any]]:
        """Rows with the work of loads in steps that begin or end at a corner, where the trapezoidal rule is not valid:
        the power in the middle of the step at the mean velocity, times its length."""
        corners = self._corners_from(origin)
        if not corners.size:
            return rows
        t, begins = rows["t"], np.append(start.t, rows["t"][:-1])
        k = np.flatnonzero((np.isin(begins, corners) | np.isin(t, corners)) & np.isnan(rows["work_loads"]))
        if k.size:
            q, v = (np.vstack([getattr(start, name), rows[name]]) for name in ("q", "v"))
            v_left = at_rows(rows, "v_left", k)
            middle = 0.5 * (begins[k] + t[k]), 0.5 * (q[k] + q[k + 1]), 0.5 * (v[k] + v_left)
            rows["work_loads"][k] = (t[k] - begins[k]) * self.system.energies(*middle, self.values)["power_loads"]
        return rows

    def _raise(self) -> None:
        """Raise what ended a call of a solver outside."""
        raised, self.outside.raised = self.outside.raised, None
        if raised is not None:
            raise raised

    def image(self) -> NDArray[np.uint8]:
        """The records."""
        return self.memory.raw.copy()

    def restart(self, image: NDArray[np.uint8], values: Array) -> None:
        """A run of its own with these parameters in the same memory, whose records are then filled."""
        self.memory.raw[:] = image
        self._at, self.values, self.impact, self._corners = None, values, None, None
        self.__dict__.pop("_mechanism", None)

    def advance(self, state: State, origin: float, most: int = MOST) -> Taken:
        """Steps from a state on, for about a tenth of a second and at most so many, up to one that is not certified."""
        done, certain = self.run(state, origin, most)
        self._at = end = self._state() if done else state
        return Taken(done, self._worked(self.tables.read(done), state, origin) if done else {}, end, certain)

    def run(self, state: State, origin: float, most: int = MOST) -> tuple[int, bool]:
        """Take steps whose rows are not read yet; their number, and whether the next step is certified too.

        Called again with the same state, it goes on from where it has come to.
        """
        if state is not self._at:
            self._put(state, origin)
            self._at = state
        self._put_stops(float(self._whole["t"][0]), origin)
        self._whole["steps"] = 0
        self.tables.reach(min(self._chunk, most), self._left())
        clock = time.perf_counter()
        status = self._run(self._address, min(self._chunk, self.rows, most))
        seconds, done = time.perf_counter() - clock, int(self._whole["steps"][0])
        if not done:
            self._raise()
        if seconds < CHUNK / 2:
            more = next(factor for factor in (64, 8, 2) if factor == 2 or 2 * factor * seconds < CHUNK)
            self._chunk = min(more * self._chunk, self.rows)
        elif seconds > CHUNK:
            self._chunk = max(1, int(done * CHUNK / seconds))
        return done, status != UNCERTAIN

    @functools.cached_property
    def _address(self) -> int:
        """Address of the record that `run` takes."""
        return self.memory.address(self.root)

    @functools.cached_property
    def _address_of_system(self) -> int:
        return self.memory.address("System")

    def _put_stops(self, t: float, origin: float) -> None:
        """The next corners of loads and drivers, at which steps end; a run pauses at the last one that has room."""
        corners = self._corners_from(origin)
        if not corners.size:
            return
        k = int(np.searchsorted(corners, t))
        some, stops = corners[k : k + STOPS], self.memory.of["Stop"]
        stops["t"] = stops["before"] = np.inf
        smooth = ~np.isin(some, self.system.corners(origin, self._t_end, self.values, closed=True))  # see `divided`
        stops["t"][: some.size], stops["before"][: some.size] = some, np.where(smooth, some, before(some))
        self._whole["stop"] = self._whole["renewed"] = 0
        self._whole["t_end"] = self._t_end if k + STOPS >= corners.size else some[-1]

    def _corners_from(self, origin: float) -> Array:
        """Corners of a run that began at `origin`, computed once: threads take steps at the same time."""
        if self._corners is None or self._corners[0] != origin:
            found = self.system.corners(origin, self._t_end, self.values, closed=True)
            self._corners = origin, divided(found, origin, self.parts, self.longest)
        return self._corners[1]

    def _next_stop(self, t: float, origin: float) -> float:
        """The first corner after a time, or the end of the run."""
        return next_after(self._corners_from(origin), t, self._t_end)

    def _left(self) -> float:
        """Steps to the end of the run, if all are the longest; and two."""
        return max((self._t_end - self._time()) / self.longest, 0.0) + 2.0

    def held_outside(self) -> dict[str, Any] | None:
        """Data that Python has kept for the next step, for a checkpoint; None if nothing."""
        return None

    def hold_outside(self, held: Mapping[str, Any]) -> None:
        """Resume with it."""

    def viewer(self) -> Viewer:
        """Evaluates rows while steps go on: in a memory of its own."""
        return Viewer(self.layout, self.layout.filled(self.values))

    @property
    def counts(self) -> dict[str, int]:
        """Programs solved, iterations, how often a step was tried again at half its length, and how many steps were
        taken in parts, or with the chain of solvers."""
        names = {"solves": "solves", "iterations": "rounds"} | {name: name for name in REPEATED}
        if self._error:
            names["rejected"] = "rejected"
        return {name: int(self._whole[which][0]) for name, which in names.items()}

    def _entry(self, name: str, integers: int = 0) -> Any:
        return entry(self.scheme.text, name, self.root, self.layout.shape, integers)

    # ---------------------------------------------------------------------------------------------------------- states

    def _put(self, state: State, origin: float) -> int:
        """Write a state with its internal states into the records; `DONE` if the compiled scheme can begin a run
        there."""
        self.lay(state, origin)
        return self._begin_at(state, origin)

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

    def lay(self, state: State, origin: float) -> None:
        """Write a state into the records, before the compiled scheme begins there."""
        layout, memory, whole = self.layout, self.memory, self._whole
        contact, joint = memory.of["Contact"], memory.of["Joint"]
        # of a run without a step before this one
        whole["last_dt"], whole["proximal"] = self.longest, PROXIMAL if layout.redundant else 0.0
        whole["secant"] = contact["P"] = 0.0
        for name in GAINS:
            memory.of["Body"][name] = 0.0
        for bond in (contact, joint):
            bond["trend"] = np.zeros((), bond["trend"].dtype)
        self.kept.put(memory, state.memory, self._lost(state))
        layout.put(memory, "q", state.q)
        layout.put(memory, "v", state.v)
        whole["t"], whole["origin"], contact["first"] = state.t, origin, contact["P"]

    def _begin_at(self, state: State, origin: float) -> int:
        """`DONE` if the compiled scheme can begin a run at a state that stands in the records."""
        memory, whole = self.memory, self._whole
        status = self._begin(self._address_of_system)
        if not self.scheme.accelerations:
            memory.of["Joint"]["P"] = 0.0
        self.kept.put(memory, state.memory, self._lost(state))
        if not self._is_fresh(state):
            memory.of["Contact"]["trend"]["last"] = memory.of["Contact"]["P"]
        whole["t"], whole["origin"] = state.t, origin
        return int(status)

    def begin(self, state: State) -> bool:
        """Begin a run at a state that stands in the records; whether that is certified, and without an impact."""
        self._corners_from(state.t)
        self._at = state
        if self._begin_at(state, state.t) == UNCERTAIN or (self._impacts_between and not self._meets()):
            return False
        return not self._whole["impact_at_end"][0]

    def _state(self) -> State:
        """The state after the last step, with the internal states for the next one."""
        q, v = (self.layout.packed(self.memory, name).ravel() for name in ("q", "v"))
        return State(self._time(), q, v, self.kept.of(self.memory))

    def _time(self) -> float:
        """Where the records stand [s]."""
        return float(self._whole["t"][0])

    def held(self, state: State) -> dict[str, Any] | None:
        """Data for the next step from a state, for a checkpoint; None before the first one.

        `there` tells whether the records are at the state already, as they are but after a rescued step.
        """
        if self._at is None and not any(self.counts.values()):
            return None
        records = self._varying.of(self.memory).numbers
        return {"there": self._at is state, "records": records, "outside": self.held_outside()}

    def hold(self, held: Mapping[str, Any], state: State, origin: float) -> None:
        """Resume from a checkpoint at a state, on a grid that begins at `origin`.

        Raises
        ------
        ValueError
            If it is none of such steps.
        """
        self._put(state, origin)
        records = InternalStates(self._varying.fields, np.asarray(held["records"], dtype=float))
        self._varying.put(self.memory, records)
        if held["outside"] is not None:
            self.hold_outside(held["outside"])
            self._varying.put(self.memory, records)  # what resumes outside may use them
        self._at = state if held["there"] else None

    @functools.cached_property
    def _varying(self) -> Numbers:
        return varying(self.layout, self.memory)
