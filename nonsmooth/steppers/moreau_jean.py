"""Moreau-Jean time stepping: impacts and friction in velocities, ideal joints at both ends or in the middle of a
step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import PlanarBody
from nonsmooth.model.flexible_bodies import PlanarFlexibleBody
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import LCP, QP, FrictionContact, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.step_control import ConstantStep, StepControl
from nonsmooth.steppers.base import Ask, Step, Stepping
from nonsmooth.steppers.incremental import SHARING
from nonsmooth.steppers.mechanism import MOST_AMPLIFIED, Configuration, Mechanism, contact_modes
from nonsmooth.steppers.resting import REST, answered_at_rest, starts_at_rest
from nonsmooth.steppers.supported import check_impact_laws
from nonsmooth.steppers.velocity import VelocityChange, strike
from nonsmooth.tolerances import CLOSED_GAP, EPSILON, FLOOR, TINY
from nonsmooth.tolerances.moreau_jean import ACCEPTABLE, CONVERGED, LASTING, LEAD, PASSES, PENETRATED

__all__ = ["MoreauJean"]

Mask = NDArray[np.bool_]


@settings
class MoreauJean:
    """Contact laws are imposed on the velocities at both ends of a step; positions follow.

    With u the velocity that moves the positions, q⁺ = q moved by u for dt, and forces at the point theta of the step, q
    moved by u for theta dt, with the velocity u ::

        M (u - v)  = theta dt h + W_g(q) P_a + theta W P,            g(t⁺, q⁺) = 0
        M (v⁺ - u) = (1 - theta) dt h + W_g(q⁺) P_b + (1 - theta) W P,   W_g(q⁺)' v⁺ = -g_t
        0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0,  Coulomb's law between P_T and gamma_T⁺ + e_T gamma_T⁻

    for the contacts whose gap at q moved by v for dt/2 is closed; W = (W_N, W_T) is evaluated there. Joints are
    satisfied exactly at both levels, as in RATTLE; without contact the scheme is symmetric for theta = 1/2, hence of
    second order. ``joints="midpoint"`` has one set of joint impulses instead of two, see the notes. Through impacts it
    is of first order. The penetration is about dt times the approach velocity; `projection` removes it.

    Parameters
    ----------
    theta : [-], 1/2 <= theta <= 1
        Point of the step at which the forces are evaluated; 1/2 for least dissipation.
    projection : None or "combined"
        "combined" moves the bodies, by the least change in the mass metric, until no gap is negative and joints are
        satisfied. The order remains one.
    moment_arms : "predicted" or "balanced"
        Moment arms of contact forces. "predicted": those of the configuration in which gaps are evaluated. "balanced":
        those about the centres of mass moved by u for (1 - theta) dt, for which the discrete balance of angular
        momentum is exact; gamma_N⁻ remains that of the gap. See the notes.
    joints : "rattle" or "midpoint"
        "rattle": satisfied at the end of each step in positions and velocities, by impulses along the directions at
        both ends. "midpoint": one impulse along the directions in the middle of the step, where contacts are evaluated
        as well, with a constraint residual of third order; one evaluation and one program per step, for ``theta=0.5``
        and without projection.
    solver : settings of a solver of LCPs or planar friction, optional
        None for ``SemismoothNewton()``.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is not below tolerance.

    Notes
    -----
    Forces that depend on the velocity are iterated; stiff springs need dt below the period over 2 pi. The stiffness and
    damping of flexible bodies are treated implicitly, by M + theta dt D + (theta dt)² K instead of M, so that modes
    much faster than the step are stable. Constant steps only.

    The impulse of a step is that of impacts and of forces together, which only Newton's law treats as one: with another
    law a body at rest would leave its support with e times the velocity that its weight causes in a step. With the
    other laws of `Rigid` steps are therefore plastic, e = 0 above, and impacts are applied between them: at the end of
    a step, to the contacts whose gap would close within dt/2, in the directions there. The rotation of the direction of
    a persistent contact within the step does not cause an impact.

    Linear momentum is conserved to round-off, angular momentum only with ``moment_arms="balanced"``: otherwise the
    moment arms have an error of dt/2 (u - v), which for theta = 1/2 changes angular momentum by O(dt) at impacts with
    Newton's law and by O(dt²) in persistent contact. Balanced moment arms are updated with u in each iteration (a step
    without joints otherwise requires only one).

    With ``joints="midpoint"``, Q = q moved by v for dt/2 and q⁺ = Q moved by v⁺ for dt/2, all at Q and t + dt/2 ::

        M (v⁺ - v) = dt h + W_g P + W P,            W_g' v⁺ + g_t = -g/dt - 3/8 dt (k + 11/18 (k - k0))
        k = (W_g' v + g_t - s)/dt

    with s the constraint velocities of the previous step at its own Q, which lies dt v behind: k is therefore the
    second derivative of g along the motion, without another evaluation, and k0 that of the previous step. With these
    weights g at q⁺ is of third order in dt, and the constraint residual of the previous step is eliminated within two
    steps; an impact causes a residual of dt² times the change of k. With the factor 11/18 the energy error of a body in
    steady rotation, by w rad per step, is least: a gain of about w⁴/30 per radian (w³/3 without it). For conservative
    motions over very many revolutions use "rattle", which has no gain. Without impacts the order is two; the velocities
    of joints at the ends of steps differ from 0 by terms of that order. Reactions are those in the middle of the step.

    References
    ----------
    Jean, M. (1999), The non-smooth contact dynamics method, Comput. Methods Appl. Mech. Eng. 177, 235-257.
    """

    theta: float = 0.5
    projection: str | None = None
    moment_arms: str = "predicted"
    joints: str = "rattle"
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "SemismoothNewton"
    compiled: ClassVar[str] = "steps.CompiledSteps"
    programs: ClassVar[tuple[type, ...]] = (LCP, FrictionContact)

    def __post_init__(self) -> None:
        if not 0.5 <= self.theta <= 1.0:
            raise InputError(f"MoreauJean: theta must lie in [1/2, 1], got {self.theta!r}.")
        if self.projection not in (None, "combined"):
            raise InputError(f'MoreauJean: projection must be None or "combined", got {self.projection!r}.')
        if self.moment_arms not in ("predicted", "balanced"):
            raise InputError(f'MoreauJean: moment_arms must be "predicted" or "balanced", got {self.moment_arms!r}.')
        if self.joints not in ("rattle", "midpoint"):
            raise InputError(f'MoreauJean: joints must be "rattle" or "midpoint", got {self.joints!r}.')
        if self.joints == "midpoint" and (self.theta != 0.5 or self.projection is not None):
            raise InputError(
                f'MoreauJean: joints="midpoint" requires theta=0.5 and projection=None, got theta={self.theta!r} and '
                f'projection={self.projection!r}; use joints="rattle" for others.'
            )

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if not isinstance(control, ConstantStep):
            raise InputError(f"MoreauJean requires a constant step, got {control}; give dt as a number of seconds.")
        if self.moment_arms == "balanced" and system.dimension == 3:
            raise InputError('MoreauJean: moment_arms="balanced" exists in the plane only; use "predicted".')
        check_impact_laws(system, parameters, "MoreauJean")

    def formulate(self, system: System, parameters: Array, control: StepControl, solver: Any) -> MoreauJeanFormulation:
        """The scheme on one system."""
        return MoreauJeanFormulation(self, system, parameters, control, solver)


class Pushed(NamedTuple):
    """Coordinates at which joint impulses act within a step, their directions there, and the impulses."""

    t: float
    q: Array
    at: Configuration
    P: Array


class VelocityIterate(NamedTuple):
    """A solved iteration: velocity of the positions, final velocity, coordinates, impulses of joints in order, and of
    contacts.

    `rates` are those of the joints along their last directions at the final velocity, `bends` the second derivatives of
    g along the motion, where they are known.
    """

    u: Array
    v: Array
    q: Array
    force: Array
    joints: tuple[Pushed, ...]
    rates: Array
    contact: Array
    bends: Array | None = None


class MoreauJeanFormulation:
    """Velocity-level steps on one system."""

    def __init__(
        self, stepper: MoreauJean, system: System, parameters: Array, control: StepControl, solver: Any
    ) -> None:
        stepper.check(system, parameters, control)
        assert isinstance(control, ConstantStep)
        self.stepper, self.system = stepper, system
        self.mechanism = Mechanism(system, parameters, control.dt)
        self.between = self.mechanism.impact != "newton"
        self.rough = self.mechanism.rough
        self.balanced = stepper.moment_arms == "balanced"
        self.midpoint = stepper.joints == "midpoint" and system.ng > 0
        planar = [e.name for e in system.elements if isinstance(e, PlanarBody | PlanarFlexibleBody)]
        self.planar = [[system.v_names.index(f"{b}.{c}") for b in planar] for c in ("x", "y", "angle")]
        probe: Program = self.mechanism.friction_program() if self.rough else LCP(np.eye(1), np.zeros(1))
        if not solver.fits(probe):
            raise InputError(
                f"MoreauJean formulates {type(probe).__name__} programs here, which {solver} does not solve; "
                "give it ActiveSet()."
            )

    def counts(self) -> dict[str, int]:
        """Nothing besides programs."""
        return {}

    def rules(self) -> dict[str, Any]:
        """Definition of active contacts."""
        rules: dict[str, Any] = {
            "active contacts": "gap closed at q moved by v for dt/2",
            "gap that counts as closed / clearance": CLOSED_GAP,
            "rest": REST,
        }
        if self.stepper.joints == "midpoint":
            rules["joints"] = "one impulse along the directions in the middle of the step, satisfied to third order"
        if self.balanced:
            rules["moment arms"] = "about centres of mass moved by the velocity of the step for (1 - theta) dt"
        if self.between:
            rules["impacts"] = "at the end of a step, of contacts whose gap would close within dt/2; steps are plastic"
            if self.mechanism.incremental:
                rules["contacts of one impact"] = SHARING
        return rules

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Initialise the warm starts."""
        if "P_N" not in state.stepper_memory:
            P_N, P_T = np.zeros(self.system.nc), np.zeros(self.system.nt)
            y_scale = self.mechanism.typical_sizes(state.t, state.q, state.v)[1]
            state = replace(state, stepper_memory={"P_N": P_N, "P_T": P_T, "y_scale": y_scale})
        if self.midpoint and "g_bends" not in state.stepper_memory:
            m, dt = self.mechanism, self.mechanism.longest
            before, after = (m.at(state.t + s, m.moved(state.q, state.v, s)) for s in (-dt / 2, dt / 2))
            left, rates = (at.W_g.T @ state.v + at.g_t for at in (before, after))
            known = {"g_rates": left, "g_bends": (rates - left) / dt, "last_dt": np.array([dt])}
            state = replace(state, stepper_memory={**state.stepper_memory, **known})
        return state, None
        yield  # a generator that asks for nothing

    def step(self, state: State, t_end: float) -> Stepping:
        """One step to `t_end`."""
        m, dt = self.mechanism, t_end - state.t
        contact = m.at(state.t, m.moved(state.q, state.v, dt / 2))
        active = np.flatnonzero(m.touching(contact.g_N))
        trial, at_arms, W = yield from self._passes(state, dt, active, contact)
        q, t = trial.q, t_end
        if self.stepper.projection == "combined":
            q = yield from self._projected(t, q)
        end = State(t, q, trial.v, state.law_memory)
        if self.between:
            impact = yield from self._impact(state, end, contact, active, trial.contact)
            return self._with_impact(self._record(state, end, trial, active, contact, at_arms, W), trial, impact)
        return self._record(state, end, trial, active, contact, at_arms, W)

    def _impact(
        self, start: State, end: State, contact: Configuration, active: NDArray[np.intp], P: Array
    ) -> Generator[Ask, Solution, VelocityChange | None]:
        """The impact at the end of a step; None if there is none."""
        m, v = self.mechanism, end.v
        here, terms = m.at(end.t, end.q), np.abs(start.v) + np.abs(v)
        touching = m.touching(m.at(end.t, m.moved(end.q, v, (end.t - start.t) / 2)).g_N)
        lasting = np.zeros_like(touching)
        lasting[active] = (P[0 :: 1 + m.tangents] if self.rough else P) > 0
        # zero velocity along the directions of the step, twice this velocity along those of the next one
        lasting &= -(here.W_N.T @ v) <= LASTING * np.abs((here.W_N - contact.W_N).T @ v)
        if not np.any(touching & ~lasting & m.approaching(here.W_N, v, terms)):
            return None
        return (yield from strike(m, end.t, end.q, v, touching, terms))

    def _with_impact(self, step: Step, trial: VelocityIterate, impact: VelocityChange | None) -> Step:
        """The record of a step that ends with an impact."""
        if impact is None:
            return step
        m, end = self.mechanism, step.state
        here = m.at(end.t, end.q)
        mode = contact_modes(m, (step.mode > 0) | (impact.P_N > 0), step.P_N + impact.P_N, step.P_T + impact.P_T)
        work = -float(impact.P_g @ here.g_t)
        memory = end.stepper_memory
        if self.midpoint:
            jump = trial.joints[-1].at.W_g.T @ (impact.v - end.v)
            memory = {**memory, "g_rates": memory["g_rates"] + jump}
        return replace(
            step,
            state=replace(end, v=impact.v, stepper_memory=memory),
            P_N=step.P_N + impact.P_N,
            P_N_impact=impact.P_N,
            P_T=step.P_T + impact.P_T,
            P_T_impact=impact.P_T,
            mode=mode,
            gamma_minus=here.W_N.T @ end.v,
            gamma_plus=here.W_N.T @ impact.v,
            reaction_impact=m.reaction(end.t, end.q, impact.P_g),
            residual=max(step.residual, impact.residual),
            complementarity=max(step.complementarity, impact.law),
            work_drivers=step.work_drivers + work,
            work_drivers_impact=work,
        )

    def _directions(self, at: Configuration, active: NDArray[np.intp]) -> Array:
        """(W_N, W_T) of the active contacts, contact by contact; only W_N without friction."""
        if not self.rough:
            return at.W_N[:, active]
        return self.mechanism.blocks(at.W_N, at.W_T, active)

    def _balanced(self, contact: Configuration, state: State, u: Array, dt: float) -> Configuration:
        """Directions with moment arms about the centres of planar bodies moved by u for (1 - theta) dt, not by v for
        dt/2."""
        x, y, angle = self.planar
        shift = (1 - self.stepper.theta) * dt * u - dt / 2 * state.v
        W_N, W_T = contact.W_N.copy(), contact.W_T.copy()
        for W in (W_N, W_T):
            W[angle] -= shift[x, None] * W[y] - shift[y, None] * W[x]
        return contact._replace(W_N=W_N, W_T=W_T)

    def _passes(
        self, state: State, dt: float, active: NDArray[np.intp], contact: Configuration
    ) -> Generator[Ask, Solution, tuple[VelocityIterate, Configuration, Array]]:
        """Joints and moment arms at the iterate, contacts as one program, until the velocity no longer changes."""
        m = self.mechanism
        memory = (state.stepper_memory["P_N"], state.stepper_memory["P_T"])
        P = m.rows(*memory, active) if self.rough else memory[0][active]
        at_arms, W = contact, self._directions(contact, active)
        shift = self._restitution(state.v, W, active)
        u, change = state.v, np.inf
        # joints determine positions to round-off, hence velocities to round-off over dt
        reach = max(np.max(np.abs(state.q)), m.farthest) if self.system.ng else 0.0
        noise = EPSILON * reach * np.sqrt(np.max(m.metric.M)) / dt
        solution: Solution | None = None
        solve = self._trial_midpoint if self.midpoint else self._trial
        kick = dt * m.free_acceleration(state) if self.rough else state.v
        rest = active.size > 1 and starts_at_rest(m, state.v, kick)
        for _ in range(PASSES):
            if self.balanced and active.size:
                at_arms = self._balanced(contact, state, u, dt)
                W = self._directions(at_arms, active)
            trial, delassus = solve(state, dt, u, W, P)
            if active.size:
                b = W.T @ trial.v + shift - delassus @ P
                program = self._program(delassus, b, active)
                if rest and isinstance(program, FrictionContact):
                    solution = yield from answered_at_rest(program, solution, rest)
                else:
                    solution = yield program, solution
                change_P, P = solution.y - P, solution.y
                trial, _ = solve(state, dt, u, W, P)
                settled = m.metric.length(m.implicit(self.stepper.theta * dt).change(W @ change_P))
            else:
                settled = 0.0
            size = m.metric.length(trial.v) + m.metric.length(state.v)
            size += m.metric.length(dt * m.metric.change(trial.force)) + noise / CONVERGED
            before, change = change, (m.metric.length(trial.u - u) + settled) / max(size, TINY)
            u = trial.u
            if change <= CONVERGED or (change >= before and change <= ACCEPTABLE):
                return trial, at_arms, W
            if change >= before and change <= MOST_AMPLIFIED and change <= ACCEPTABLE * self._amplified(trial):
                return trial, at_arms, W
        raise SolverFailed(
            f"MoreauJean's iterations did not converge at dt = {dt:.6g} s: the velocity still changes by {change:.3g} "
            f"of its size; a shorter step may be needed.{m.lost_rank(state.t, state.q)}"
        )

    def _amplified(self, trial: VelocityIterate) -> float:
        """Amplification of the joints' round-off in the velocity near a singular position."""
        if not trial.joints:
            return 1.0
        return self.mechanism.amplified(*(x.at.W_g for x in trial.joints))

    def _trial(self, state: State, dt: float, u: Array, W: Array, P: Array) -> tuple[VelocityIterate, Array]:
        """Velocities and joint impulses for given contact impulses, joints linearised at u; and the Delassus matrix."""
        m, theta = self.mechanism, self.stepper.theta
        change = m.implicit(theta * dt).change
        q = m.moved(state.q, u, dt)
        force = m.force(state.t + theta * dt, m.moved(state.q, u, theta * dt), u)
        kick, push = change(dt * (force + self._linear(u - state.v, theta * dt))), change(W @ P)
        start, end = m.at(state.t, state.q), m.at(state.t + dt, q)
        moved_W = change(W)
        if self.system.ng == 0:
            v = state.v + kick + push
            u_new = state.v + theta * (kick + push)
            return VelocityIterate(u_new, v, m.moved(state.q, u_new, dt), force, (), np.zeros(0), P), W.T @ moved_W
        g = m.numeric.g(state.t + dt, q, m.p)[0]
        R = end.W_g
        moved_a, moved_b = change(start.W_g), m.metric.change(R)
        wanted = R.T @ u - g / dt - R.T @ (state.v + theta * (kick + push))
        P_a = m.solved(R.T @ moved_a, wanted)
        u_new = state.v + theta * (kick + push) + moved_a @ P_a
        if m.deformable:  # the second part of the step is explicit, with the force at the velocity of the first
            kick = m.metric.change(dt * (force - self._linear(u_new - u, theta * dt)))
            push = m.metric.change(W @ P)
        free = u_new + (1 - theta) * (kick + push)
        compliance = R.T @ moved_b
        P_b = m.solved(compliance, -end.g_t - R.T @ free)
        v = free + moved_b @ P_b
        joints = Pushed(state.t, state.q, start, P_a), Pushed(state.t + dt, q, end, P_b)
        trial = VelocityIterate(u_new, v, m.moved(state.q, u_new, dt), force, joints, np.zeros(self.system.ng), P)
        held = R.T @ change(R) if m.deformable else compliance
        return trial, self._held_by_joints(R, held, W, moved_W)

    def _linear(self, u: Array, h: float) -> Array | float:
        """(h K + D) u, the decrease of the forces of deformation if u is added to the velocity of the step."""
        m = self.mechanism
        return (h * m.stiffness + m.damping) * u if m.deformable else 0.0

    def _deformed(self, u: Array, dt: float) -> Array | float:
        """K u dt/2, the decrease of the forces of deformation if bodies are moved by u for dt/2."""
        return self.mechanism.stiffness * u * (dt / 2) if self.mechanism.deformable else 0.0

    def _trial_midpoint(self, state: State, dt: float, u: Array, W: Array, P: Array) -> tuple[VelocityIterate, Array]:
        """The same with one set of joint impulses, along the directions in the middle of the step."""
        m, memory = self.mechanism, state.stepper_memory
        change, t = m.implicit(dt / 2).change, state.t + dt / 2
        q = m.moved(state.q, state.v, dt / 2)
        middle, g = m.at(t, q), m.numeric.g(t, q, m.p)[0]
        force = m.force(t, q, u) - self._deformed(u - state.v, dt)
        kick, push = change(dt * (force + self._linear(u - state.v, dt / 2))), change(W @ P)
        R = middle.W_g
        moved, moved_W = change(R), change(W)
        last = memory["last_dt"][0]
        bends = (R.T @ state.v + middle.g_t - memory["g_rates"]) * (2 / (dt + last))
        rates = -g / dt - 3 / 8 * dt * (bends + LEAD * dt / last * (bends - memory["g_bends"]))
        free, compliance = state.v + kick + push, R.T @ moved
        # redundant rows are consistent to third order only
        P_g = m.solved(compliance, m.least(t, q, rates - middle.g_t - R.T @ free))
        v = free + moved @ P_g
        joints = (Pushed(t, q, middle, P_g),)
        trial = VelocityIterate((state.v + v) / 2, v, m.moved(q, v, dt / 2), force, joints, rates, P, bends)
        return trial, self._held_by_joints(R, compliance, W, moved_W)

    def _held_by_joints(self, R: Array, compliance: Array, W: Array, moved_W: Array) -> Array:
        """The Delassus matrix of contacts, with the response of joints along R."""
        coupling = R.T @ moved_W
        delassus = W.T @ moved_W - coupling.T @ self.mechanism.solved(compliance, coupling)
        return np.asarray((delassus + delassus.T) / 2)

    def _restitution(self, v: Array, W: Array, active: NDArray[np.intp]) -> Array:
        """Terms of the laws added to the final velocities: e min(gamma_N⁻, 0) and e_T gamma_T⁻."""
        m, rates = self.mechanism, W.T @ v
        if self.between:
            return np.zeros_like(rates)
        if not self.rough:
            return self._rebound(rates, active)
        blocks = rates.reshape(active.size, 1 + m.tangents)
        shift = np.empty_like(blocks)
        shift[:, 0] = self._rebound(blocks[:, 0], active)
        shift[:, 1:] = np.where(blocks[:, :1] < 0.0, m.tangential[active, None] * blocks[:, 1:], 0.0)
        return shift.ravel()

    def _rebound(self, rates: Array, active: NDArray[np.intp]) -> Array:
        every = np.zeros(self.system.nc)
        every[active] = rates
        return self.mechanism.rebound(every)[active]

    def _program(self, delassus: Array, b: Array, active: NDArray[np.intp]) -> Program:
        names = tuple(self.system.contact_names[i] for i in active)
        if self.rough:
            m = self.mechanism
            return FrictionContact(delassus, b, m.friction[active], 1 + m.tangents, names=names)
        return LCP(delassus, b, names=names)

    def _projected(self, t: float, q: Array) -> Generator[Ask, Solution, Array]:
        """The nearest q, in the mass metric, that satisfies joints and gaps."""
        m = self.mechanism
        for _ in range(PASSES):
            at = m.at(t, q)
            g = m.numeric.g(t, q, m.p)[0]
            if np.all(at.g_N >= -PENETRATED * m.scale):
                break
            rows, norms = m.metric.rows(np.concatenate([at.W_g, at.W_N], axis=1))
            b = -np.concatenate([g, at.g_N]) / norms
            n = self.system.nv
            solution = yield QP(np.eye(n), np.zeros(n), rows, b, self.system.ng, m.names), None
            q = m.moved(q, m.metric.velocity(solution.x), 1.0)
        return q

    def _record(
        self, start: State, end: State, trial: VelocityIterate, active: NDArray[np.intp], contact: Configuration,
        at_arms: Configuration, W: Array,
    ) -> Step:  # fmt: skip
        m, dt, nc = self.mechanism, end.t - start.t, self.system.nc
        P_N, P_T = np.zeros(nc), np.zeros(self.system.nt)
        if self.rough:
            P_N, P_T = m.parted(trial.contact, active)
        else:
            P_N[active] = trial.contact
        gamma_minus, gamma_plus = contact.W_N.T @ start.v, at_arms.W_N.T @ end.v
        closed = np.isin(np.arange(nc), active)
        # a contact with as large an impulse before is persistent, and approaches because its direction rotates
        lasting = (P_N > 0) & (P_N <= LASTING * start.stepper_memory["P_N"])
        # if one contact impacts, the others transmit its impulse
        approaching = closed & ~lasting & m.approaching(contact.W_N, start.v, np.abs(start.v))
        struck = closed & bool(np.any(approaching)) & (not self.between)
        P_N_impact, P_T_impact = np.where(struck, P_N, 0.0), np.where(m.by_tangent(struck), P_T, 0.0)
        change = m.implicit(self.stepper.theta * dt).change
        jump = change(at_arms.W_N @ P_N_impact + at_arms.W_T @ P_T_impact)
        answer: Array = np.zeros(self.system.ng)
        if self.system.ng and np.any(struck):  # the response of the joints to the impact
            R = trial.joints[-1].at.W_g
            moved = change(R)
            answer = -m.solved(R.T @ moved, R.T @ jump)
            jump = jump + moved @ answer
        v_left = end.v - jump
        smooth_slip = at_arms.W_T.T @ (start.v + end.v) / 2
        law = gamma_plus + m.rebound(gamma_minus) * (not self.between)
        y_scale = start.stepper_memory["y_scale"]
        natural = np.abs(np.minimum(law * dt / m.scale, P_N / y_scale))[active]
        reaction = reaction_impact = np.zeros(0)
        work = work_impact = 0.0
        memory = {**start.stepper_memory, "P_N": P_N, "P_T": P_T}
        if self.system.ng:
            last = trial.joints[-1]
            pushes = (*trial.joints[:-1], last._replace(P=last.P - answer))
            reaction = np.sum([m.reaction(x.t, x.q, x.P) for x in pushes], axis=0) / dt
            reaction_impact = m.reaction(last.t, last.q, answer)
            work = -float(sum(x.P @ x.at.g_t for x in trial.joints))
            work_impact = -float(answer @ last.at.g_t)
        if trial.bends is not None:
            memory |= {"g_rates": trial.rates, "g_bends": trial.bends, "last_dt": np.array([dt])}
        return Step(
            state=replace(end, stepper_memory=memory),
            v_left=v_left,
            dt=dt,
            P_N=P_N,
            P_N_impact=P_N_impact,
            P_T=P_T,
            P_T_impact=P_T_impact,
            mode=contact_modes(m, closed, P_N, P_T),
            gamma_minus=gamma_minus,
            gamma_plus=gamma_plus,
            reaction=reaction,
            reaction_impact=reaction_impact,
            residual=self._residual(start, end, trial, W),
            complementarity=float(np.max(natural, initial=0.0)),
            work_drivers=work,
            work_drivers_impact=work_impact,
            loss_friction=-float((P_T - P_T_impact) @ smooth_slip),
        )

    def _residual(self, start: State, end: State, trial: VelocityIterate, W: Array) -> float:
        """Scaled residual of the momentum balance and of the joints' rates."""
        m, dt, M = self.mechanism, end.t - start.t, self.mechanism.metric.M
        pushes = [(W, trial.contact), *((x.at.W_g, x.P) for x in trial.joints)]
        theta = self.stepper.theta
        q_h = m.moved(start.q, start.v if self.midpoint else trial.u, theta * dt)
        force = dt * m.force(start.t + theta * dt, q_h, trial.u)
        if self.midpoint:
            force = force - dt * self._deformed(trial.u - start.v, dt)
        rows = M @ (end.v - start.v) - force - sum(w @ p for w, p in pushes)
        size = m.metric.length(end.v) + m.metric.length(start.v) + m.metric.length(m.metric.change(force))
        terms = np.abs(M) @ (np.abs(end.v) + np.abs(start.v)) + np.abs(force)
        terms = terms + sum(np.abs(w) @ np.abs(p) for w, p in pushes) + FLOOR * np.sqrt(np.diag(M)) * size
        values, scales = [rows], [terms]
        if trial.joints:
            at = trial.joints[-1].at if self.midpoint else m.at(end.t, trial.q)
            off = at.W_g.T @ end.v + at.g_t - trial.rates
            values.append(m.least(trial.joints[-1].t, trial.joints[-1].q, off) if self.midpoint else off)
            parts = np.abs(at.W_g).T @ np.abs(end.v) + np.abs(at.g_t) + np.abs(trial.rates)
            scales.append(parts + FLOOR * m.metric.rows(at.W_g)[1] * size)
        found = np.abs(np.concatenate(values)) / np.maximum(np.concatenate(scales), TINY)
        return float(np.max(found, initial=0.0))
