"""Gauss' principle of least constraint with gap inequalities and complementarity: one MPCC per step."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.programs import MPCC, FrictionContact, Solution, associated_lcp_from_friction_contact
from nonsmooth.schemes.gauss.mpcc_equations import HALF_KICK, IMPLICIT_EULER, StepEquations
from nonsmooth.schemes.gauss.rules import check_gauss, gauss_rules, gauss_scheme
from nonsmooth.settings import settings
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.step.control import ConstantStep, Landing, StepControl
from nonsmooth.step.scheme import Ask, Scheme
from nonsmooth.step.tolerances import AT_REST, CERTAIN, EDGE, TURN

#: gap at the end of the motion without contact, as a share of its clearance, below which a contact may bind
MARGIN = 1e-3


@settings
class GaussMPCC:
    """Each step is a mathematical program with complementarity constraints.

    With a constant step it is eq. (14) of the paper for a given step size: implicit Euler, ``min |M^-1 W_N P_N|_M^2
    s.t.  M (v⁺ - v) = dt h⁺ + W_N⁺ P_N + W_g⁺ P_g,  0 <= g_N(q⁺) ⟂ P_N >= 0``; first order, plastic. With
    ``Landing(dt_min, dt_max)`` the step size is an unknown again, and determined: the program determines the longest
    step in which complementarity is imposed only for contacts closed at its start, so that it ends exactly where a gap
    closes; impacts follow as a program in velocities. Second order between impacts.

    The scheme is the text of `GaussQP`, in which these programs take the place of its iteration; their solutions are
    certified by the residuals of that text.

    Parameters
    ----------
    solver : settings of a solver of MPCCs, optional
        ``IpoptMPCC()`` by default. If the solver does not optimise the step size (``ActiveSet``), it is determined by
        root finding.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.

    Notes
    -----
    Restitution requires `Landing`. In space friction enters by its direction, P_T = mu P_N r, see `StepEquations`.

    With `Landing` the program is first solved for the longest step: where no open gap is negative at its end, that is
    the largest step size. Otherwise the step size is an unknown, and the program begins where the first gap closes in
    that motion. With a constant step contacts bind that may close; that others stay open is checked, and they are added
    where they do not.

    The contact equation of a loaded journal has two roots, the larger one on the opposite wall of its bearing. The
    larger one is rejected.

    References
    ----------
    Chaturvedi, E., Sandu, C., Sandu, A., Non-smooth dynamics formulation for planar prismatic joints with clearances,
    eq. (14).
    """

    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "IpoptMPCC"
    rescuing_solver: ClassVar[str] = "IpoptMPCC"
    compiled: ClassVar[str] = "nonsmooth.schemes.gauss.mpcc_steps.MPCCSteps"

    def scheme(self, control: StepControl) -> Scheme:
        """Declaration of the scheme to the engine."""
        return gauss_scheme(control)

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        check_gauss(system, parameters, control, "GaussMPCC")

    rules = staticmethod(gauss_rules)


@dataclass(frozen=True, eq=False)
class Start:
    """The start of a step: contacts `closed` there (nc,), and impulses with which its program may begin; if rows of
    joints are redundant, orthonormal `combinations` (rank, ng) equivalent to all."""

    t: float
    q: Array
    v: Array
    closed: NDArray[np.bool_]
    P_N: Array
    P_T: Array
    x_scale: Array
    y_scale: Array
    acceleration: Array
    combinations: Array | None


@dataclass(frozen=True, eq=False)
class Found:
    """Length of a step [s], velocity u (nv,) of its motion, and impulses of joints and contacts [N s]."""

    dt: float
    u: Array
    P_g: Array
    P_N: Array
    P_T: Array


class StepPrograms:
    """The equations of steps of one system as MPCCs, and their solutions as motions and impulses."""

    def __init__(self, system: System, parameters: Array, control: ConstantStep | Landing) -> None:
        self.system, self.constant = system, isinstance(control, ConstantStep)
        longest = control.dt if isinstance(control, ConstantStep) else control.dt_max
        m = self.mechanism = Mechanism(system, parameters, longest)
        scheme = IMPLICIT_EULER if self.constant else HALF_KICK
        self.equations = StepEquations(system, scheme, rough=m.rough, rank=m.rank)
        #: share of the step in which forces act on u
        self.share = 1.0 if self.constant else 0.5
        self.reach = np.where(m.system.angular, TURN / m.longest, np.inf)
        first = system.start
        self._x_scale = m.typical_sizes(first.t, first.q, first.v)[0]

    def start(self, t: float, q: Array, v: Array, closed: NDArray[np.bool_], P_N: Array, P_T: Array) -> Start:
        """The start of a step, with scales of its unknowns: typical sizes there, at least those of the system's start,
        since a start at rest without load provides no scales, and a concentric journal no normal."""
        m = self.mechanism
        x_scale, y_scale = m.typical_sizes(t, q, v)
        acceleration = m.metric.change(m.force(t, q, v))
        x_scale = np.maximum(x_scale, self._x_scale)
        return Start(t, q, v, closed, P_N, P_T, x_scale, y_scale, acceleration, m.combinations(t, q))

    def program(self, start: Start, shortest: float, longest: float, binding: NDArray[np.bool_]) -> MPCC:
        """The step with a length between these [s] and complementarity on `binding` contacts (nc,). With unknown length
        all gaps remain open; with a given one those that do not bind are ignored."""
        m, nv, nt = self.mechanism, self.system.nv, self.system.nt
        watched = binding if shortest == longest else np.ones_like(binding)
        x_scale, y_scale = start.x_scale, start.y_scale
        parameters = self.equations.parameters(start.t, start.q, start.v, m.p, m.longest, binding)
        if start.combinations is not None:  # they have the scale of the largest of their rows
            joints = np.full(m.rank, np.max(x_scale[1 + nv :]))
            x_scale = np.concatenate([x_scale[: 1 + nv], joints])
            parameters = np.concatenate([parameters, start.combinations.ravel(order="F")])
        G_scale, pairs = np.where(watched, m.scale, np.inf), binding
        # gaps are periodic in angles, so that the equations have further roots, half a turn away, with large impulses
        freely = start.v + m.longest * start.acceleration
        slowest, fastest = np.minimum(freely, start.v) - self.reach, np.maximum(freely, start.v) + self.reach
        free, directions = np.full(m.rank, np.inf), np.full(nt if self.equations.disc else 0, np.inf)
        if self.equations.disc:
            x_scale = np.concatenate([x_scale, np.ones_like(directions)])
            y_scale = np.concatenate([y_scale, m.scale / m.longest])
            G_scale, pairs = np.concatenate([G_scale, np.where(binding, 1.0, np.inf)]), np.concatenate([binding] * 2)
        elif m.rough:
            speed, idle = m.scale / m.longest, np.where(binding, 1.0, np.inf)
            G_scale = np.concatenate([G_scale, speed * idle, speed * idle, y_scale * idle])
            y_scale = np.concatenate([y_scale, y_scale, y_scale, speed])
            pairs = np.concatenate([binding] * 4)
        return MPCC(
            self.equations.structure, parameters, np.concatenate(([shortest], slowest, -free, -directions)),
            np.concatenate(([longest], fastest, free, directions)), x_scale, y_scale, G_scale, pairs,
        )  # fmt: skip

    def guess(self, start: Start, found: Found, binding: NDArray[np.bool_]) -> Solution:
        """A motion and impulses as unknowns of the program."""
        x, y = self._unknowns(start, found)
        # pairs that are active at the start of the step: closed contacts, and their friction on the previous edge
        m, active, P_T = self.mechanism, binding & start.closed, start.P_T
        if self.equations.disc:
            x[-self.system.nt :] *= np.repeat(binding, 2)
            sticks = m.length(P_T) < m.friction * start.P_N * (1 - EDGE)
            active = np.concatenate([active, active & (m.friction > 0) & (start.P_N > 0) & ~sticks])
        elif m.rough:
            active = np.concatenate([active, active & (P_T > 0), active & (P_T < 0), active])
        return Solution(x, y, "guess", 0, "guess", active)

    def free_motion(self, start: Start, dt: float, binding: NDArray[np.bool_]) -> Found:
        """The motion without gaps that close, with the impulses with which the program may begin."""
        m = self.mechanism
        P_N, P_T = np.where(binding, start.P_N, 0.0), np.where(m.by_tangent(binding), start.P_T, 0.0)
        u = start.v + self.share * dt * start.acceleration
        if P_N.any():
            here = m.at(start.t, start.q)
            u = u + m.metric.change(here.W_N.dot(P_N) + here.W_T.dot(P_T))
        return Found(dt, u, np.zeros(self.system.ng), P_N, P_T)

    def rested(self, start: Start, dt: float, program: MPCC) -> Generator[Ask, Solution, Found | None]:
        """The step at rest, certified by the residual of the program, if it begins at rest and Coulomb's law allows it,
        which with redundant frictional contacts may allow motion too. Their impulses are not unique, which makes
        interior-point methods slow."""
        m, kick = self.mechanism, dt * start.acceleration
        here = m.at(start.t, start.q)
        index = np.flatnonzero(program.binding[: self.system.nc] & m.touching(here.g_N))
        # velocities that are round-off of those which the loads cause in the step, in the plane with friction
        at_rest = m.rough and m.tangents == 1 and m.metric.length(start.v) <= AT_REST * m.metric.length(kick)
        if index.size < 2 or not at_rest:
            return None
        joints = m.independent(here.W_g, -here.g_t)
        directions, ng = np.concatenate([joints.W, m.blocks(here.W_N, here.W_T, index)], axis=1), len(joints.names)
        rates = directions.T @ (start.v + self.share * kick)
        rates[:ng] -= joints.wanted
        delassus = directions.T @ m.metric.change(directions)
        held = FrictionContact((delassus + delassus.T) / 2, rates, m.friction[index], 1 + m.tangents, ng)
        # the velocity of the convex relaxation is unique and of least kinetic energy; no contact of it may slide
        lcp, recover = associated_lcp_from_friction_contact(held)
        try:
            relaxed = yield lcp, None
        except SolverFailed:  # only a proposal
            return None
        z = recover(relaxed.y)
        if not held.residual(Solution(held.A @ z + held.b, z, "solved", 0, "rest")) <= CERTAIN:
            return None
        u = start.v + self.share * kick + m.metric.change(directions @ z)
        found = Found(dt, u, joints.impulses(z[:ng]), *m.parted(z[ng:], index))
        resting = Solution(*self._unknowns(start, found), "solved", 0, "rest")
        return found if program.residual(resting) <= CERTAIN else None

    def solved(
        self, start: Start, begun: Found, binding: NDArray[np.bool_], shortest: float, longest: float | None = None
    ) -> Generator[Ask, Solution, Found]:
        """The step with a length between these [s], begun at a motion."""
        program = self.program(start, shortest, shortest if longest is None else longest, binding)
        solution = yield program, self.guess(start, begun, binding)
        m, nv, nc, x, y = self.mechanism, self.system.nv, self.system.nc, solution.x, solution.y
        P_g, P_N = x[1 + nv : 1 + nv + m.rank], y[:nc]
        if self.equations.disc:
            P_T = np.repeat(m.friction * P_N, 2) * x[1 + nv + m.rank :]
        else:
            P_T = y[nc : 2 * nc] - y[2 * nc : 3 * nc] if m.rough else np.zeros(self.system.nt)
        joints = P_g if start.combinations is None else start.combinations.T @ P_g
        return Found(float(x[0]), x[1 : 1 + nv], joints, P_N, P_T)

    def with_closing(self, start: Start, begun: Found) -> Generator[Ask, Solution, Found]:
        """The step of given length with complementarity of all contacts. Friction of a contact that remains open is
        undetermined by its pairs, which costs iterations: such contacts are added where their gap would be negative."""
        m = self.mechanism
        binding = start.closed | (begun.P_N > 0.0) | (self._gaps(start, begun) < m.scale * MARGIN)
        while True:
            found = yield from self.solved(start, begun, binding, begun.dt)
            closes = ~binding & (self._gaps(start, found) < 0.0)
            if not closes.any():
                return found
            binding = binding | closes

    def before_closing(self, start: Start, found: Found, binding: NDArray[np.bool_]) -> Found:
        """The motion up to where the first open gap closes, by quadratic interpolation; the whole one if none does."""
        from nonsmooth.step.closing import first_below  # loads numba

        m, gaps = self.mechanism, self._gaps(start, found)
        closes = ~binding & (gaps < -CERTAIN * m.scale)
        if not closes.any():
            return found
        here, dt, share = m.at(start.t, start.q), found.dt, 1.0
        rates = here.W_N.T @ start.v
        for gap, rate, end in zip(here.g_N[closes], rates[closes], gaps[closes], strict=True):
            begin = max(float(gap), 0.0)
            share = min(share, first_below(begin, rate, end, 2.0 * (end - begin) / dt - rate, dt, 0.0) / dt)
        return Found(
            share * found.dt, start.v + share * (found.u - start.v), share * found.P_g, share * found.P_N,
            share * found.P_T,
        )  # fmt: skip

    def _gaps(self, start: Start, found: Found) -> Array:
        """Gaps at the end of a motion."""
        m = self.mechanism
        return m.at(start.t + found.dt, m.moved(start.q, found.u, found.dt)).g_N

    def _unknowns(self, start: Start, found: Found) -> tuple[Array, Array]:
        """x and y of a motion and impulses; in space friction of unloaded contacts acts against slip."""
        m, P_N, P_T = self.mechanism, found.P_N, found.P_T
        P_g = found.P_g if start.combinations is None else start.combinations @ found.P_g
        x = np.concatenate(([found.dt], found.u, P_g))
        if not m.rough:
            return x, P_N
        slip = m.at(start.t, start.q).W_T.T @ found.u
        if not self.equations.disc:
            return x, np.concatenate([P_N, np.maximum(P_T, 0.0), np.maximum(-P_T, 0.0), np.abs(slip)])
        sigma = np.linalg.norm(slip.reshape(-1, 2), axis=1)
        reach, speed = np.repeat(m.friction * P_N, 2), np.repeat(sigma, 2)
        r = np.divide(-slip, speed, out=np.zeros_like(slip), where=speed > 0)
        r = np.divide(P_T, reach, out=r, where=reach > 0)
        return np.concatenate([x, r]), np.concatenate([P_N, sigma])
