"""The discrete equations of one step, in symbols, as an MPCC structure.

Unknowns x = (dt, u, P_g) and y = P_N; parameters (t, q, v, p, longest dt). Two schemes:

*Implicit Euler* (eq. (10)-(14) of Chaturvedi, Sandu, Sandu), u = v⁺ ::

    M (u - v) = dt h(t⁺, q⁺, u) + W_N(q⁺) P_N + W_g(q⁺) P_g,    q⁺ = q moved by u for dt
    g(t⁺, q⁺) = 0,    0 <= g_N(q⁺)  ⟂  P_N >= 0

*Momentum update of the first half* of a second-order step, with u the velocity at mid-step ::

    M (u - v) = dt/2 h(t_m, q_m, u) + W_N(q) P_N + W_g(q) P_g,    q_m, q⁺ = q moved by u for dt/2, dt

Without contacts and joints both halves together are the implicit midpoint rule; with joints they are RATTLE with
midpoint forces: symmetric, of second order, without drift of joints, norms of quaternions, or quadratic invariants.
"""

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.joint_friction import normal_forces
from nonsmooth.model.system import System
from nonsmooth.programs import MPCCStructure
from nonsmooth.step.tolerances import FLOOR

IMPLICIT_EULER, HALF_KICK = "implicit-euler", "half-kick"


# ---- Coulomb's law as complementarity pairs: in the plane by the edges of the cone, in space by a disc


class NoFriction:
    """No friction."""

    parts: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.x = self.y = self.binding = self.P_T = self.size = ca.SX(0, 1)

    def x_names(self, system: System) -> tuple[str, ...]:
        """Names of the unknowns x, which are those of its equations."""
        return ()

    def equations(self, slip: ca.SX, W_T: ca.SX, u: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Equations, and the sums of the sizes of their terms."""
        return ca.SX(0, 1), ca.SX(0, 1)

    def complements(self, slip: ca.SX) -> ca.SX:
        """Complements of the unknowns y."""
        return ca.SX(0, 1)


class Edges(NoFriction):
    """The plane: 0 <= P_plus ⟂ sigma + slip >= 0, 0 <= P_minus ⟂ sigma - slip >= 0, mu P_N - P_plus - P_minus ⟂
    sigma."""

    parts = (", slip forwards", ", slip backwards", ", edge of the friction cone")

    def __init__(self, friction: ca.SX, P_N: ca.SX) -> None:
        super().__init__()
        self.P_plus, self.P_minus, self.sigma = (
            ca.SX.sym(name, P_N.numel()) for name in ("P_plus", "P_minus", "sigma")
        )
        self.y = ca.vertcat(self.P_plus, self.P_minus, self.sigma)
        self.P_T, self.size = self.P_plus - self.P_minus, self.P_plus + self.P_minus
        self.room = friction * P_N - self.P_plus - self.P_minus

    def complements(self, slip: ca.SX) -> ca.SX:
        return ca.vertcat(slip + self.sigma, self.sigma - slip, self.room)


class Disc(NoFriction):
    """Space: P_T = mu P_N r, slip + sigma r = 0, 0 <= 1 - r.r ⟂ sigma; r = 0 where a contact does not bind."""

    parts = (", rim of the friction disc",)

    def __init__(self, friction: ca.SX, P_N: ca.SX, tangents: int) -> None:
        super().__init__()
        contacts = P_N.numel()
        self.x, self.y = ca.SX.sym("r", tangents), ca.SX.sym("sigma", contacts)
        self.binding = ca.SX.sym("binding", contacts)
        self._both = ca.kron(ca.SX.eye(contacts), ca.SX.ones(2, 1))  # numbers of contacts, for each tangent
        self.P_T = (self._both @ (friction * P_N)) * self.x
        self.size = (self._both @ (friction * ca.fabs(P_N))) * ca.fabs(self.x)

    def x_names(self, system: System) -> tuple[str, ...]:
        return tuple(f"{name}, friction direction {i}" for name in system.contact_names for i in (1, 2))

    def equations(self, slip: ca.SX, W_T: ca.SX, u: ca.SX) -> tuple[ca.SX, ca.SX]:
        sigma, binds = self._both @ self.y, self._both @ self.binding
        terms = binds * (ca.fabs(W_T).T @ ca.fabs(u) + ca.fabs(sigma) * ca.fabs(self.x))
        return binds * (slip + sigma * self.x) + (1 - binds) * self.x, terms

    def complements(self, slip: ca.SX) -> ca.SX:
        return 1 - self._both.T @ self.x**2


# ---- the equations of a step


class StepEquations:
    """Discrete equations of a `scheme` on a system, evaluated as one buffered function.

    Friction is part of the pairs, in space with directions r among the unknowns x, P_T = mu P_N r: the optimality
    conditions of maximal dissipation, max -gamma_T . r in the unit disc, are regular at the apex of the cone, unlike
    those in P_T. If a contact is not active, the equation is replaced by r = 0.
    """

    def __init__(self, system: System, scheme: str, *, rough: bool, rank: int) -> None:
        self.disc = rough and system.dimension == 3
        nv, ng, nc = system.nv, rank, system.nc
        t, q, v = ca.SX.sym("t"), ca.SX.sym("q", system.nq), ca.SX.sym("v", nv)
        p, longest = ca.SX.sym("p", len(system.parameters)), ca.SX.sym("longest")
        dt, u = ca.SX.sym("dt"), ca.SX.sym("u", nv)
        P_g, P_N = ca.SX.sym("P_g", ng), ca.SX.sym("P_N", nc)
        friction = system.contact_law(p)[1]
        law = NoFriction()
        if rough:
            law = Disc(friction, P_N, system.nt) if self.disc else Edges(friction, P_N)
        q_end = system.advance(q, u, dt)
        if scheme == IMPLICIT_EULER:
            kick, t_h, q_h, t_W, q_W = dt, t + dt, q_end, t + dt, q_end
        else:
            kick, t_h, q_h, t_W, q_W = dt / 2, t + dt / 2, system.advance(q, u, dt / 2), t, q
        M, h = system.M(q_h, p), system.h(t_h, q_h, u, p)
        W_N, W_g, g, combinations = system.W_N(q_W, p), system.W_g(t_W, q_W, p), system.g(t + dt, q_end, p), ca.SX(0, 1)
        joint_names = system.constraint_names
        if rank < system.ng:  # of redundant rows, as many combinations as are independent
            C = ca.SX.sym("C", rank, system.ng)
            W_g, g, combinations = W_g @ C.T, C @ g, ca.vec(C)
            joint_names = tuple(f"joints, combination {i + 1} of {rank}" for i in range(rank))
        momentum = M @ (u - v) - kick * h - W_N @ P_N - W_g @ P_g
        W_T, slip = ca.SX(nv, 0), ca.SX(0, 1)
        if rough:
            W_T = system.W_T(q_W, p)
            slip = W_T.T @ u
            momentum -= W_T @ law.P_T
        terms = ca.fabs(M) @ (ca.fabs(u) + ca.fabs(v)) + kick * ca.fabs(h)
        terms += ca.fabs(W_N) @ ca.fabs(P_N) + ca.fabs(W_g) @ ca.fabs(P_g)
        # a row at rest in a moving mechanism has nothing but round-off; weigh it against the whole motion
        size = ca.sqrt(ca.dot(u, M @ u)) + ca.sqrt(ca.dot(v, M @ v)) + kick * ca.sqrt(ca.dot(h, ca.solve(M, h)))
        terms += FLOOR * ca.sqrt(ca.diag(M)) * size
        if rough:
            terms += ca.fabs(W_T) @ law.size
        directions, direction_terms = law.equations(slip, W_T, u)
        gaps, size = system.g_N(q_end, p), system.contact_law(p)[3]
        given = normal_forces(system.given_normal, system.parameters, p, slip)
        for k, force in given.items():  # an impulse that is given, in place of a gap
            gaps[k] = size[k] * (P_N[k] / (longest * force) - kick / longest)
        if scheme == HALF_KICK:  # event-locating step: the longest step; constant if dt is fixed
            objective = -(dt / longest)
        else:  # Gauss: least deviation from the free motion
            impulse = W_N @ P_N
            objective = ca.dot(impulse, ca.solve(M, impulse)) / 2
        self.structure = MPCCStructure(
            x=ca.vertcat(dt, u, P_g, law.x),
            y=ca.vertcat(P_N, law.y),
            p=ca.vertcat(t, q, v, p, longest, law.binding, combinations),
            objective=objective,
            equalities=ca.vertcat(momentum, g, directions),
            complements=ca.vertcat(gaps, law.complements(slip)),
            # a joint's residual is a difference of positions of the order of 1 m or 1 rad
            equality_terms=ca.vertcat(terms, ca.SX.ones(ng), direction_terms),
            x_names=("dt", *system.v_names, *joint_names, *law.x_names(system)),
            y_names=tuple(name + part for part in ("", *law.parts) for name in system.contact_names),
            equality_names=(
                *(f"motion of {name}" for name in system.v_names), *joint_names, *law.x_names(system),
            ),
        )  # fmt: skip

    def parameters(self, t: float, q: Array, v: Array, p: Array, longest: float, binding: NDArray[Any]) -> Array:
        """The program's parameter vector; `longest` [s] scales the objective."""
        return np.concatenate(([t], q, v, p, [longest], binding if self.disc else ()))
