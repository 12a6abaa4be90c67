"""Nonsmooth generalized-alpha: smooth motion of second order, contacts and joints at position and velocity level."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import QP, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.step_control import ConstantStep, StepControl
from nonsmooth.steppers.base import Ask, Step, Stepping
from nonsmooth.steppers.corrections import DEPENDENT, CorrectionRows, Displacement, correct_velocities
from nonsmooth.steppers.mechanism import Configuration, Mechanism, contact_modes
from nonsmooth.steppers.resting import REST, starts_at_rest
from nonsmooth.steppers.smooth import SmoothEquations, Values
from nonsmooth.steppers.supported import check_newton
from nonsmooth.steppers.tightness import gap_round_off, tight_clearance
from nonsmooth.tolerances import CLOSED_GAP, CLOSED_RATE, EPSILON, FLOOR, PRESSING, STICKING, TINY
from nonsmooth.tolerances.generalized_alpha import ACCEPTABLE, CONVERGED, PASSES, STALLED, TURNED

__all__ = ["GeneralizedAlpha"]

Mask = NDArray[np.bool_]

#: largest scaled residual of the equations of an accepted step
ANSWERED = 1e-9
#: number of iterations after which a contact that was active in a step remains active
SETTLING = 8
MEMORIES = ("acceleration", "pseudo_acceleration", "lam_g")


@settings
class GeneralizedAlpha:
    """Generalized-alpha for the smooth part of the motion; impulses impose contacts and joints at both levels.

    The smooth acceleration b does not include contacts; the pseudo-acceleration a is derived from it. Their motion is
    corrected in positions by S and in velocities by P ::

        M b⁺ = h(t⁺, q⁺, v⁺) + W_g lam,    W_g' b⁺ + bias = 0
        (1 - alpha_m) a⁺ + alpha_m a = (1 - alpha_f) b⁺ + alpha_f b
        q⁺ = q moved by u for dt,   M (u - v - dt (1/2 - beta) a - dt beta a⁺) = W(q⁺) S + W_T P_T / 2
        M (v⁺ - v - dt (1 - gamma) a - dt gamma a⁺) = W P
        g(t⁺, q⁺) = 0,          0 <= g_N(q⁺)  ⟂  S_N >= 0
        W_g' v⁺ = -g_t,         0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0  on contacts closed at q⁺

    with Coulomb's law between P_T and gamma_T⁺ + e_T gamma_T⁻. Without impacts it is of second order, also in
    persistent contact: there W is the mean of the directions at both ends of the step. If a contact closes, W is
    evaluated at the end of the step, so that an impact does no work in joints, and a is reset to b; if a normal turns
    by more than 60 degrees in the step, in the mass metric, W is also evaluated at its end. Through impacts the scheme
    is of first order.

    Parameters
    ----------
    spectral_radius : rho [-], 0 <= rho <= 1
        Amplification of vibrations much faster than the step: 1 without damping, 0 for annihilation in one step.
    solver : settings of a solver of QPs, or of friction where there is any, optional
        ``ActiveSet()`` by default, ``SemismoothNewton()`` for friction in space.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.

    Notes
    -----
    Gaps and joints have no drift, and closed contacts do not approach. Sticking is exact in velocities; a sticking
    contact under varying load creeps by O(dt^2). Constant steps only.

    Newton's impact law only: P also contains the impulses of contact forces, of which Poisson's law would return the
    share e (see `MoreauJean`).

    References
    ----------
    Bruls, O., Acary, V., Cardona, A. (2014), Simultaneous enforcement of constraints at position and velocity levels in
    the nonsmooth generalized-alpha scheme, Comput. Methods Appl. Mech. Eng. 281, 131-161.
    """

    spectral_radius: float = 0.8
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "ActiveSet"
    compiled: ClassVar[str] = "steps.CompiledSteps"
    programs: ClassVar[tuple[type, ...]] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.spectral_radius <= 1.0:
            raise InputError(f"GeneralizedAlpha: spectral_radius must lie in [0, 1], got {self.spectral_radius!r}.")

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if not isinstance(control, ConstantStep):
            raise InputError(f"GeneralizedAlpha requires a constant step, got {control}; give dt in seconds.")
        check_newton(system, "GeneralizedAlpha")

    def formulate(
        self, system: System, parameters: Array, control: StepControl, solver: Any
    ) -> GeneralizedAlphaFormulation:
        """The scheme on one system."""
        return GeneralizedAlphaFormulation(self, system, parameters, control, solver)


class Weights(NamedTuple):
    """Weights of the old and new accelerations in the pseudo-acceleration, velocity and displacement.

    a⁺ = pseudo a + old b + new b⁺.

    >>> Weights.of(1.0)
    Weights(pseudo=-1.0, old=1.0, new=1.0, gamma=0.5, beta=0.25)
    """

    pseudo: float
    old: float
    new: float
    gamma: float
    beta: float

    @classmethod
    def of(cls, rho: float) -> Weights:
        """The second-order family of Chung and Hulbert."""
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 + alpha_f - alpha_m
        old, new = alpha_f / (1 - alpha_m), (1 - alpha_f) / (1 - alpha_m)
        return cls(-alpha_m / (1 - alpha_m), old, new, gamma, (gamma + 0.5) ** 2 / 4)


class Origin(NamedTuple):
    """The start of a step: its internal states, and the closed contacts that neither approach nor open."""

    b: Array
    a: Array
    lam: Array
    at: Configuration
    steady: Mask
    shift_N: Array
    shift_T: Array


class AlphaIterate(NamedTuple):
    """An iteration: smooth accelerations and multipliers, the resulting motion, and the impulses of all rows (g, N,
    T)."""

    b: Array
    a: Array
    lam: Array
    u: Array
    q: Array
    v: Array
    end: Configuration
    closed: Mask
    S: Array
    P: Array
    directions: Array


class Left(NamedTuple):
    """The velocity before the impact at the end of a step, and the impulses of joints and contacts in this impact."""

    v: Array
    P_g: Array
    P_N: Array
    P_T: Array


def _directions(at: Configuration) -> Array:
    return np.concatenate([at.W_g, at.W_N, at.W_T], axis=1)


class GeneralizedAlphaFormulation:
    """Steps on one system."""

    def __init__(
        self, stepper: GeneralizedAlpha, system: System, parameters: Array, control: StepControl, solver: Any
    ) -> None:
        stepper.check(system, parameters, control)
        assert isinstance(control, ConstantStep)
        self.stepper, self.system = stepper, system
        self.mechanism = Mechanism(system, parameters, control.dt)
        self.smooth, self.displacement = SmoothEquations(self.mechanism), Displacement(self.mechanism)
        self.weights = Weights.of(stepper.spectral_radius)
        self.rough, one = self.mechanism.rough, np.eye(1)
        probe: Program = self.mechanism.friction_program() if self.rough else QP(one, one[0], one, one[0])
        # without a given solver, friction in space uses the chain of its kind
        if stepper.solver is not None and not solver.fits(probe):
            raise InputError(
                f"GeneralizedAlpha formulates {type(probe).__name__} programs here, which {solver} does not solve; "
                f"give it {'SemismoothNewton' if self.rough else 'ActiveSet'}()."
            )

    def counts(self) -> dict[str, int]:
        """No costs in addition to programs."""
        return {}

    def rules(self) -> dict[str, Any]:
        """Definitions of closed and of impacting contacts."""
        return {
            "active contacts": "gap closed at the end of the step",
            "impacts": "contacts that close, or that approach or open at the start of the step",
            "gap regarded as closed / clearance": CLOSED_GAP,
            "gap velocity regarded as zero / its terms": CLOSED_RATE,
            "rest": REST,
        }

    def start(self, state: State) -> Generator[Ask, Solution, tuple[State, Step | None]]:
        """Accelerations of the initial state; an impact there belongs to the first step."""
        if not set(MEMORIES) <= set(state.stepper_memory):
            b, lam = self.smooth.solved(state)
            memory = dict(zip(MEMORIES, (b, b, lam), strict=True))
            state = replace(state, stepper_memory={**state.stepper_memory, **memory})
        return state, None
        yield  # a generator without programs

    # ---------------------------------------------------------------------------------------------------------- steps

    def step(self, state: State, t_end: float) -> Stepping:
        """One step to `t_end`."""
        origin = self._origin(state)
        try:
            trial = yield from self._passes(state, origin, t_end)
        except np.linalg.LinAlgError as error:
            raise SolverFailed(
                f"the joints are dependent here, as in a singular position.{self.mechanism.lost_rank(state.t, state.q)}"
            ) from error
        left = yield from self._left(state, origin, trial, t_end)
        step = self._record(state, origin, trial, left, t_end)
        if not step.residual <= max(ANSWERED, gap_round_off(self.mechanism.scale, state.q)):
            raise SolverFailed(
                f"GeneralizedAlpha's iterations converged at dt = {t_end - state.t:.6g} s on what leaves a residual of "
                f"{step.residual:.3g}, where {ANSWERED:g} is accepted; a shorter step may be needed."
                f"{self._likely_cause(state)}"
            )
        return step

    def _likely_cause(self, state: State) -> str:
        """Sentences on likely causes: a clearance that is small for the step, joints that lose their rank."""
        m = self.mechanism
        return tight_clearance(m, state.t, state.q, state.v, m.longest) + m.lost_rank(state.t, state.q)

    def _origin(self, state: State) -> Origin:
        m, at = self.mechanism, self.mechanism.at(state.t, state.q)
        b, a, lam = (state.stepper_memory[name] for name in MEMORIES)
        normal, slip, terms = at.W_N.T @ state.v, at.W_T.T @ state.v, np.abs(state.v)
        approaching = m.approaching(at.W_N, state.v, terms)
        steady = m.touching(at.g_N) & ~approaching & ~m.leaving(at.W_N, state.v, terms)
        shift_N = m.rebound(normal)
        shift_T = np.where(m.by_tangent(approaching), m.by_tangent(m.tangential) * slip, 0.0)
        return Origin(b, a, lam, at, steady, shift_N, shift_T)

    def _passes(self, state: State, origin: Origin, t: float) -> Generator[Ask, Solution, AlphaIterate]:
        """Positions, then velocities, then a Newton step of the accelerations, until none of them changes."""
        m, w, dt = self.mechanism, self.weights, t - state.t
        length, change = m.metric.length, m.metric.change
        ng, nc = self.system.ng, self.system.nc
        b, lam = origin.b, origin.lam
        u = v = state.v
        q = m.moved(state.q, u, dt)
        directions, S, P = _directions(origin.at), np.zeros(ng + nc), np.zeros(ng + nc + self.system.nt)
        bound, moved = np.zeros(nc, dtype=bool), np.inf
        # round-off of coordinates as a motion, which limits the accuracy of joints
        reach = max(np.max(np.abs(state.q)), m.farthest)
        still = EPSILON * float(reach * np.sqrt(np.max(np.diag(m.metric.M)))) / dt
        rest = self.rough and starts_at_rest(m, state.v, dt * m.free_acceleration(state))
        for k in range(PASSES):
            a = w.pseudo * origin.a + w.old * origin.b + w.new * b
            u_free = state.v + dt * ((0.5 - w.beta) * origin.a + w.beta * a)
            u_free = u_free + change(directions[:, ng + nc :] @ P[ng + nc :]) / 2
            v_free = state.v + dt * ((1 - w.gamma) * origin.a + w.gamma * a)
            u_before, v_before = u, v
            step, S, _ = yield from self.displacement.correct(t, dt, q, u, u_free, S if k else None)
            u = u + step
            q = m.moved(state.q, u, dt)
            end = m.at(t, q)
            closed = m.touching(end.g_N) | (S[ng:] > 0.0) | (bound if k >= SETTLING else False)
            bound = bound | closed
            at_end = directions = _directions(end)
            if not np.any(closed & (~origin.steady | self._turned(origin.at, end))):
                directions = (directions + _directions(origin.at)) / 2
            rates = -np.concatenate([end.g_t, origin.shift_N, origin.shift_T]) - at_end.T @ v_free
            last_P = P
            jump, P, redundant = yield from correct_velocities(
                m, CorrectionRows(at_end, directions, rates), closed, P, k > 0, rest
            )
            v = v_free + jump
            values = self.smooth.at(t, q, v, b, lam)
            db, lam = self._newton(values, dt, end, lam, S, P, closed)
            b = b + db
            size = length(v) + length(state.v) + dt * length(b)
            # at rest velocities are differences of momentum updates
            kick = dt * length(m.metric.change(m.force(t, q, v)))
            before = moved
            moved = length(u - u_before) / max(size, still / CONVERGED, TINY)
            moved += (length(v - v_before) + dt * length(db)) / max(size + kick, TINY)
            if redundant:  # the impulses of a pile at rest may still change
                drag = m.metric.change(directions[:, ng + nc :] @ (P - last_P)[ng + nc :])
                moved += length(drag) / max(size + kick, TINY)
            if moved <= CONVERGED or (moved >= before and moved <= (ACCEPTABLE if k < SETTLING else STALLED)):
                a = w.pseudo * origin.a + w.old * origin.b + w.new * b
                return AlphaIterate(b, a, lam, u, q, v, end, closed, S, P, directions)
            if not np.isfinite(moved):
                break
        raise SolverFailed(
            f"GeneralizedAlpha's iterations did not converge at dt = {dt:.6g} s (the motion changes by {moved:.3g} of "
            f"its size); a shorter step may be needed.{self._likely_cause(state)}"
        )

    def _left(self, state: State, origin: Origin, trial: AlphaIterate, t: float) -> Generator[Ask, Solution, Left]:
        """The velocity at the end without the impact: impacting contacts have no impulse, joints and persistent
        contacts respond."""
        m, w, dt, ng, nc = self.mechanism, self.weights, t - state.t, self.system.ng, self.system.nc
        end, P = trial.end, trial.P
        struck, lasting = trial.closed & ~origin.steady, trial.closed & origin.steady
        pushing = np.concatenate([np.zeros(ng, dtype=bool), struck, m.by_tangent(struck)])
        if np.any(struck & (P[ng : ng + nc] > 0.0)) and np.any(lasting):
            at_end = _directions(end)
            v_free = state.v + dt * ((1 - w.gamma) * origin.a + w.gamma * trial.a)
            rates = -np.concatenate([end.g_t, origin.shift_N, origin.shift_T]) - at_end.T @ v_free
            guess = np.where(pushing, 0.0, P)
            jump, rest, _ = yield from correct_velocities(
                m, CorrectionRows(at_end, at_end, rates), lasting, guess, True
            )
            share = P - rest
            passing = share[ng : ng + nc] > np.where(lasting, PRESSING, 0.0) * P[ng : ng + nc]
            P_N = np.where(passing & trial.closed, share[ng : ng + nc], 0.0)
            return Left(v_free + jump, share[:ng], P_N, share[ng + nc :])
        share = np.where(pushing, P, 0.0)
        push = end.W_N @ share[ng : ng + nc] + end.W_T @ share[ng + nc :]
        moved_g = m.metric.change(end.W_g)
        P_g = m.solved(end.W_g.T @ moved_g, -(moved_g.T @ push))
        v = trial.v - m.metric.change(push + end.W_g @ P_g)
        return Left(v, P_g, share[ng : ng + nc], share[ng + nc :])

    def _turned(self, start: Configuration, end: Configuration) -> Mask:
        """Contacts whose normals rotate too far within the step for their mean to be used."""
        before, after = (self.mechanism.metric.rows(at.W_N)[0] for at in (start, end))
        return np.sum(before * after, axis=1) < TURNED

    def _newton(
        self, values: Values, dt: float, end: Configuration, lam: Array, S: Array, P: Array, closed: Mask
    ) -> tuple[Array, Array]:
        """Change of b and the new lam: a Newton step in which active rows remain active."""
        w, ng, nc, nv = self.weights, self.system.ng, self.system.nc, self.system.nv
        joints = np.ones(ng, dtype=bool)
        P_N, P_T = P[ng : ng + nc], P[ng + nc :]
        sticking = contact_modes(self.mechanism, closed, P_N, P_T) == STICKING
        held = _directions(end)
        sticking = self.mechanism.by_tangent(sticking)
        matrix = np.array(values.by_unknowns)
        if np.any(values.by_position):
            by_position = self._free(held[:, : ng + nc][:, np.concatenate([joints, S[ng:] > 0.0])])
            matrix[:, :nv] += w.beta * w.new * dt**2 * values.by_position @ by_position
        if np.any(values.by_velocity):
            by_velocity = self._free(held[:, np.concatenate([joints, P_N > 0.0, sticking])])
            matrix[:, :nv] += w.gamma * w.new * dt * values.by_velocity @ by_velocity
        change = self.smooth.unknowns(matrix, -values.rows)
        return change[:nv], lam + change[nv:]

    def _free(self, held: Array) -> Array:
        """Projector, in the mass metric, onto the velocities admitted by joints and contacts."""
        metric, nv = self.mechanism.metric, self.system.nv
        if held.shape[1] == 0:
            return np.eye(nv)
        basis, sizes, _ = np.linalg.svd(metric.rows(held)[0].T, full_matrices=False)
        basis = basis[:, sizes > DEPENDENT]
        return metric.inverse.T @ (metric.factor.T - basis @ (basis.T @ metric.factor.T))

    # ---------------------------------------------------------------------------------------------------- bookkeeping

    def _record(self, start: State, origin: Origin, trial: AlphaIterate, left: Left, t: float) -> Step:
        m, dt, ng, nc = self.mechanism, t - start.t, self.system.ng, self.system.nc
        end = trial.end
        P_g, P_N, P_T = trial.P[:ng], trial.P[ng : ng + nc], trial.P[ng + nc :]
        struck = trial.closed & ~origin.steady
        P_T_impact = np.where(m.by_tangent(struck | (left.P_N > 0.0)), P_T, 0.0)
        gamma_minus, gamma_plus = origin.at.W_N.T @ start.v, end.W_N.T @ trial.v
        y_scale = m.typical_sizes(start.t, start.q, start.v)[1]
        law = np.minimum((gamma_plus + origin.shift_N) * dt / m.scale, P_N / y_scale)
        gaps = np.minimum(end.g_N / m.scale, trial.S[ng:] / y_scale)
        slip = trial.directions[:, ng + nc :].T @ (start.v + trial.v) / 2
        # b may jump at an impact; the pseudo-acceleration is reset, since it would oscillate
        memory = dict(zip(MEMORIES, (trial.b, trial.b if np.any(struck) else trial.a, trial.lam), strict=True))
        reaction, reaction_impact = self._reactions(start, origin, trial, t, left.P_g)
        g_t = end.g_t if np.any(struck) else (origin.at.g_t + end.g_t) / 2
        work = -dt / 2 * float(origin.lam @ origin.at.g_t + trial.lam @ end.g_t) - float(P_g @ g_t)
        return Step(
            state=State(t, trial.q, trial.v, start.law_memory, {**start.stepper_memory, **memory}),
            v_left=left.v,
            dt=dt,
            P_N=P_N,
            P_N_impact=left.P_N,
            P_T=P_T,
            P_T_impact=P_T_impact,
            mode=contact_modes(m, trial.closed, P_N, P_T),
            gamma_minus=gamma_minus,
            gamma_plus=gamma_plus,
            reaction=reaction,
            reaction_impact=reaction_impact,
            residual=self._residual(start, origin, trial, t),
            complementarity=float(np.max(np.abs(np.concatenate([law[trial.closed], gaps])), initial=0.0)),
            work_drivers=work,
            work_drivers_impact=-float(left.P_g @ end.g_t),
            loss_friction=-float((P_T - left.P_T) @ slip),
        )

    def _reactions(
        self, start: State, origin: Origin, trial: AlphaIterate, t: float, P_g_impact: Array
    ) -> tuple[Array, Array]:
        """Mean forces of joints on their second bodies over the step, and their impulses at impacts."""
        ng = self.system.ng
        if ng == 0:
            return np.zeros(0), np.zeros(0)
        m = self.mechanism
        before, after, impact = (
            m.reaction(time, q, lam)
            for time, q, lam in (
                (start.t, start.q, origin.lam),
                (t, trial.q, trial.lam + 2 / (t - start.t) * (trial.P[:ng] - P_g_impact)),
                (t, trial.q, P_g_impact),
            )
        )
        return (before + after) / 2, impact

    def _residual(self, start: State, origin: Origin, trial: AlphaIterate, t: float) -> float:
        """Scaled residual of the smooth equations, of both corrections, and of the joints' rates."""
        m, w, dt = self.mechanism, self.weights, t - start.t
        ng, nc, M = self.system.ng, self.system.nc, self.mechanism.metric.M
        values = self.smooth.at(t, trial.q, trial.v, trial.b, trial.lam)
        size = m.metric.length(start.v) + m.metric.length(trial.v) + dt * m.metric.length(trial.b)
        floor = FLOOR * np.sqrt(np.diag(M)) * size
        W_g, g_t = trial.end.W_g, trial.end.g_t
        joint_floor = FLOOR * m.metric.rows(W_g)[1] * size
        rows, terms = [values.rows], [values.terms + np.concatenate([floor, joint_floor]) / dt]
        half_T = trial.P[ng + nc :] / 2
        for velocity, old, new, pushes in (
            (
                trial.u,
                0.5 - w.beta,
                w.beta,
                [(_directions(trial.end)[:, : ng + nc], trial.S), (trial.directions[:, ng + nc :], half_T)],
            ),
            (trial.v, 1 - w.gamma, w.gamma, [(trial.directions, trial.P)]),
        ):
            kick = dt * (old * origin.a + new * trial.a)
            rows.append(M @ (velocity - start.v - kick) - sum(W @ P for W, P in pushes))
            parts = np.abs(velocity) + np.abs(start.v) + dt * (abs(old) * np.abs(origin.a) + new * np.abs(trial.a))
            terms.append(np.abs(M) @ parts + sum(np.abs(W) @ np.abs(P) for W, P in pushes) + floor)
        rows.append(W_g.T @ trial.v + g_t)
        # at rest velocities are differences of momentum updates, whose sizes define what is zero
        terms.append(np.abs(W_g).T @ parts + np.abs(g_t) + joint_floor)
        errors = np.abs(np.concatenate(rows)) / np.maximum(np.concatenate(terms), TINY)
        return float(np.max(errors, initial=0.0))
