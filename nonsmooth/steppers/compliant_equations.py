"""Equations of motion with compliant contact, as one explicit system of first order.

The state is y = (q, v, bristles, integrals). With the forces of the contacts that touch, accelerations and joint forces
solve the index-1 system ::

    M v' = h + W_g lambda_g + D_N F_N + D_T F_T,    W_g' v' + bias = -2 alpha g' - beta^2 g

(right-hand side 0 without Baumgarte's terms), symbolically, so that the Jacobian is exact. The integrals are impulses
of contacts and joints, the energy stored in contacts, and work by cause; they do not enter the step size control.

For redundant joints a maximal set of independent rows, chosen at the initial state, is imposed; it implies the others.
Forces are then distributed over all rows as the combination of least norm with the same effect.

A bristle state in space is a vector z in the tangent plane, with components on the contact's tangents. It rotates with
the mean spin of both bodies about the normal; the tangents rotate relative to it with the rate s, so that ::

    z_1' = rate_1 + s z_2,    z_2' = rate_2 - s z_1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from nonsmooth.evaluation import Array, Evaluator
from nonsmooth.model.compliance import Compliance
from nonsmooth.model.system import System
from nonsmooth.programs.initial_value import InitialValue
from nonsmooth.tolerances import FLOOR, TINY
from nonsmooth.tolerances.compliant import SHARED

__all__ = ["WORKS", "CompliantEquations", "StateLayout", "independent_rows"]

#: integrals of power [W], in order
WORKS = ("stored", "loss_contact", "loss_friction", "loads", "damping", "drivers")


@dataclass(frozen=True)
class StateLayout:
    """Offsets of the parts of y: ``q``, ``v``, ``z`` (bristles), ``P_N``, ``P_T``, ``reaction``, ``work``."""

    nq: int
    nv: int
    nz: int
    nc: int
    nt: int
    nr: int

    @property
    def core(self) -> int:
        """Length of the part with step size control: q, v, bristles."""
        return self.nq + self.nv + self.nz

    @cached_property
    def parts(self) -> dict[str, slice]:
        sizes = {"q": self.nq, "v": self.nv, "z": self.nz, "P_N": self.nc, "P_T": self.nt, "reaction": self.nr,
                 "work": len(WORKS)}  # fmt: skip
        slices, first = {}, 0
        for name, size in sizes.items():
            slices[name] = slice(first, first + size)
            first += size
        return slices

    @property
    def size(self) -> int:
        return self.parts["work"].stop


def independent_rows(system: System) -> list[int] | None:
    """A maximal set of independent rows of the joints at the initial state, in order; None if all are independent.

    By a QR factorisation with column pivoting of the rows' directions, scaled to length 1 in the mass metric.
    """
    redundant = len(system.redundant)
    if not redundant:
        return None
    from scipy.linalg import qr

    p, start = system.parameter_values, system.start
    directions = system.inverse_factor(p).full() @ system.W_g(start.t, start.q, p).full()
    order = qr(directions / np.linalg.norm(directions, axis=0), mode="r", pivoting=True)[1]
    return sorted(order[: system.ng - redundant].tolist())


class CompliantEquations:
    """The functions of one system.

    Parameters
    ----------
    system : System
        With compliant contacts, or with none.
    baumgarte : (alpha, beta) [1/s], optional
        Feedback of the constraint residual of joints, instead of projection.

    Attributes
    ----------
    inputs : t, y (n,), d
        CasADi symbols; d contains parameters p, constants k of the laws, ``touching`` (nc,) 1 or 0, ``approach`` (nc,)
        [m/s].
    rates : (n,) expression, dy/dt
    """

    def __init__(self, system: System, baumgarte: tuple[float, float] | None = None) -> None:
        self.system, self.baumgarte = system, baumgarte
        compliance = system.compliance
        nk = 0 if compliance is None else compliance.coefficients.numel_out(0)
        nz = 0 if compliance is None else len(compliance.bristles)
        self.layout = StateLayout(system.nq, system.nv, nz, system.nc, system.nt, len(system.reaction_names))
        self.rows = independent_rows(system)
        self.t, self.y = ca.SX.sym("t"), ca.SX.sym("y", self.layout.size)
        self.p, self.k = ca.SX.sym("p", len(system.parameters)), ca.SX.sym("k", nk)
        self.touching, self.approach = ca.SX.sym("touching", system.nc), ca.SX.sym("approach", system.nc)
        self.d = ca.vertcat(self.p, self.k, self.touching, self.approach)
        self._assemble()

    def constants(self, p: Array) -> Array:
        """k, the constants of the laws at given parameters."""
        compliance = self.system.compliance
        return np.zeros(0) if compliance is None else np.asarray(compliance.coefficients(p).full().ravel())

    # --------------------------------------------------------------------------------------------------- expressions

    def _assemble(self) -> None:
        s, p, t = self.system, self.p, self.t
        part = self.layout.parts
        q, v, z = (self.y[part[name]] for name in ("q", "v", "z"))
        self.gaps, D_N, D_T = s.surface(q, p)
        W_g, g_t = s.W_g(t, q, p), s.g_t(t, q, p)
        self.W_g = W_g if self.rows is None else W_g[:, self.rows]
        inverse = s.inverse_factor(p)
        self.weighted = inverse @ self.W_g  # L^-1 W_g
        self.factors = ca.ldl(self.weighted.T @ self.weighted) if s.ng else ()
        bias = s.bias(t, q, v, p)[: s.ng]
        if self.baumgarte is not None:
            alpha, beta = self.baumgarte
            bias = bias + 2 * alpha * (W_g.T @ v + g_t) + beta**2 * s.g(t, q, p)
        self.bias = bias = bias if self.rows is None else bias[self.rows]
        self.gap_rates, slip = D_N.T @ v, D_T.T @ v
        h = s.h(t, q, v, p)
        F_N, F_T, elastic, z_rates = self._contact_forces(q, v, z, h, D_N, D_T, slip, inverse)
        self.F_N = F_N
        self.applied = h + D_N @ F_N + D_T @ F_T
        self.terms = ca.fabs(h) + ca.fabs(D_N) @ ca.fabs(F_N) + ca.fabs(D_T) @ ca.fabs(F_T)
        half = inverse @ self.applied
        self.lam = self._joint_forces(half, self.bias)
        self.a = inverse.T @ (half + self.weighted @ self.lam)
        energy = s.energy(t, q, v, p)
        lam = ca.SX.sym("lam", self.W_g.size2())
        spread = lam if self.rows is None else self._spread(lam, inverse @ W_g)
        powers = ca.vertcat(
            -ca.dot(elastic, self.gap_rates),
            -ca.dot(F_N - elastic, self.gap_rates),
            -ca.dot(F_T, slip),
            energy[2],
            energy[3],
            -ca.dot(spread, g_t),
        )
        integrands = ca.vertcat(F_N, F_T, s.reaction(t, q, p, spread), powers)
        a = ca.SX.sym("a", s.nv)
        rates = ca.vertcat(s.B(q) @ v, a, z_rates, integrands)
        self._rates = ca.Function("rates", [t, self.y, self.d, a, lam], [rates])
        self.rates = self._rates(t, self.y, self.d, self.a, self.lam)

    def _joint_forces(self, half: ca.SX, bias: ca.SX) -> ca.SX:
        """lambda_g for accelerations L^-T (half + L^-1 W_g lambda_g), by a sparse symbolic factorisation."""
        if self.system.ng == 0:
            return ca.SX(0, 1)
        return ca.ldl_solve(-(self.weighted.T @ half + bias), *self.factors)

    def _spread(self, lam: ca.SX, directions: ca.SX) -> ca.SX:
        """Forces on all rows of redundant joints with the same effect as `lam` on the independent ones.

        Those of least norm, each in units in which its direction, a column of `directions`, has length 1: with W_D =
        W_I E they are y and E' y, where (1 + E E') y = lambda, and E E' is of low rank.
        """
        assert self.rows is not None
        others = [i for i in range(self.system.ng) if i not in set(self.rows)]
        norms = ca.sqrt(ca.sum1(directions**2)).T
        coupling = self.weighted.T @ directions[:, others]
        columns = [ca.ldl_solve(coupling[:, j], *self.factors) for j in range(len(others))]
        E = ca.diag(norms[self.rows]) @ ca.horzcat(*columns) @ ca.diag(1 / norms[others])
        scaled = norms[self.rows] * lam
        y = scaled - E @ ca.solve(ca.SX.eye(len(others)) + E.T @ E, E.T @ scaled)
        every = ca.SX.zeros(self.system.ng)
        every[self.rows], every[others] = y, E.T @ y
        return every / norms

    def _contact_forces(
        self, q: ca.SX, v: ca.SX, z: ca.SX, h: ca.SX, D_N: ca.SX, D_T: ca.SX, slip: ca.SX, inverse: ca.SX
    ) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """F_N, F_T, elastic part of F_N, and rates of the bristles; zero where surfaces do not touch."""
        compliance, nc, nt = self.system.compliance, self.system.nc, self.system.nt
        if compliance is None:
            return ca.SX(nc, 1), ca.SX(nt, 1), ca.SX(nc, 1), ca.SX(0, 1)
        depth = ca.fmax(-self.gaps, 0)
        touching, owners = self.touching, compliance.owner.tolist()
        masks = (touching, self._by_tangent(touching), touching, touching[owners, 0])
        turning = self._turning(compliance, q, v, z)

        def forces(holding: ca.SX, rest: bool = False) -> list[ca.SX]:
            slips = ca.SX.zeros(nt) if rest else slip
            found = compliance.forces(depth, -self.gap_rates, self.approach, slips, z, holding, self.k)
            if turning is not None:
                found = (*found[:3], found[3] + turning)
            return [ca.if_else(mask, values, 0) if values.numel() else values
                    for mask, values in zip(masks, found, strict=True)]  # fmt: skip

        found = forces(ca.SX.zeros(nt))
        if compliance.holds:
            other = ca.SX([law.friction is None or not law.friction.holds for law in compliance.laws])
            other = self._by_tangent(other)
            half = inverse @ (h + D_N @ found[0] + D_T @ (other * found[1]))
            free = self._slip_rates(half, inverse @ D_T) + ca.jtimes(slip, q, self.system.B(q) @ v)
            holding = masks[1] * (1 - other)
            first, mobility = self._holding(free, inverse @ D_T, holding)
            if self.system.dimension == 3 or nt > 2:
                return tuple(forces(self._held(forces, free, inverse @ D_T, first, mobility, holding)))
            # for two contacts again, each with the force that the law of the other one admits
            allowed = (1 - other) * forces(first)[1]
            others = mobility @ allowed - ca.diag(mobility) * allowed
            found = forces(-(free + others) / ca.diag(mobility))
        return found[0], found[1], found[2], found[3]

    def _by_tangent(self, values: ca.SX) -> ca.SX:
        """Numbers (nc,) of contacts, repeated for each of their tangents (nt,)."""
        tangents = self.system.dimension - 1
        return values if tangents == 1 else ca.vec(ca.repmat(values.T, tangents, 1))

    def _turning(self, compliance: Compliance, q: ca.SX, v: ca.SX, z: ca.SX) -> ca.SX | None:
        """Rates of the components of spatial bristles due to the rotation of the tangents; None in the plane."""
        if self.system.dimension == 2 or not z.numel():
            return None
        spins = self.system.equations.tangent_spins(q, v, self.p)[compliance.owner[::2].tolist(), 0]
        first, second = z[::2], z[1::2]
        return ca.vec(ca.horzcat(spins * second, -spins * first).T)

    def _held(
        self, forces: Callable[..., list[ca.SX]], free: ca.SX, W: ca.SX, first: ca.SX, mobility: ca.SX, holding: ca.SX
    ) -> ca.SX:
        """Stiction forces, corrected if not all contacts admit `first`, the forces for which all of them stick.

        Contacts that slide or reach their limits have the forces that their laws admit; the others stick together.
        """
        at_rest, moving, other = forces(first, rest=True)[1], forces(first)[1], forces(-first - 1)[1]
        sliding = self._of_pairs(moving == other)  # for laws whose force does not depend on the stiction force
        held = holding * self._of_pairs(at_rest == first) * (1 - sliding)
        given = holding * (1 - held) * (sliding * moving + (1 - sliding) * at_rest)
        together, _ = self._holding(free + mobility @ given, W, held)
        return held * together + (1 - held) * first

    def _of_pairs(self, found: ca.SX) -> ca.SX:
        """1 for all tangents (nt,) of a contact for which all its entries are 1."""
        if self.system.dimension == 2:
            return found
        pairs = ca.reshape(found, 2, self.system.nc)
        return self._by_tangent((pairs[0, :] * pairs[1, :]).T)

    def _slip_rates(self, half: ca.SX, W: ca.SX) -> ca.SX:
        """W' (half + L^-1 W_g lambda_g), with the joints closed."""
        return W.T @ (half + self.weighted @ self._joint_forces(half, self.bias))

    def _holding(self, free: ca.SX, W: ca.SX, holding: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Forces along the tangents for which all slip velocities remain constant, and the response of the slips to
        forces.

        Contacts with dependent directions share these forces.
        """
        mobility = W.T @ W
        if self.system.ng:
            still = ca.SX.zeros(self.W_g.size2())
            joints = [self._joint_forces(W[:, i], still) for i in range(self.system.nt)]
            mobility = mobility + W.T @ self.weighted @ ca.horzcat(*joints)
        both, diagonal = ca.diag(holding), ca.diag(mobility)
        if self.system.dimension == 3:  # joints may prevent the slip, so that the diagonal vanishes
            pairs = [W[:, i : i + 2] for i in range(0, self.system.nt, 2)]
            diagonal = self._by_tangent(ca.vertcat(*(ca.sumsqr(pair) / 2 for pair in pairs)))
        system = both @ mobility @ both + ca.diag((1 - holding) * diagonal + SHARED * diagonal)
        if not system.sparsity().is_symmetric():  # of products through joints one of two entries may vanish by name
            system = ca.densify(system)
        # by Cholesky factors: those of Gram and Schmidt are inaccurate if more than one direction is dependent
        return ca.ldl_solve(-(both @ free), *ca.ldl(system)), mobility

    # --------------------------------------------------------------------------------------------------- evaluators

    def function(self, name: str, outputs: dict[str, ca.SX]) -> ca.Function:
        """Of (t, y, d)."""
        return ca.Function(name, [self.t, self.y, self.d], list(outputs.values()), ["t", "y", "d"], list(outputs))

    def algebraic(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Rates, unknowns (accelerations and joint forces) and equations of the index-1 form, for DAE integrators."""
        a, lam = ca.SX.sym("a", self.system.nv), ca.SX.sym("lam", self.W_g.size2())
        M = self.system.M(self.y[self.layout.parts["q"]], self.p)
        equations = ca.vertcat(M @ a - self.applied - self.W_g @ lam, self.W_g.T @ a + self.bias)
        return self._rates(self.t, self.y, self.d, a, lam), ca.vertcat(a, lam), equations

    def problem(self, atol: Array, rtol: float) -> InitialValue:
        """The initial-value problem of a smooth phase; `atol` is (core,)."""
        sizes = self.layout.nq, self.layout.core, self.layout.size
        return InitialValue(self, self.ode, self.jacobian, self.unknowns, *sizes, atol, rtol)

    @cached_property
    def unknowns(self) -> Evaluator:
        """(t, y, d) -> accelerations and joint forces on independent rows, one column."""
        return Evaluator(self.function("unknowns", {"unknowns": ca.vertcat(self.a, self.lam)}))

    @cached_property
    def constraint_forces(self) -> Evaluator:
        """(t, y, d) -> forces on all rows of joints, those of redundant rows of least norm."""
        s, q = self.system, self.y[self.layout.parts["q"]]
        lam = self.lam
        if self.rows is not None:
            lam = self._spread(lam, s.inverse_factor(self.p) @ s.W_g(self.t, q, self.p))
        return Evaluator(self.function("constraint_forces", {"lam_g": lam}))

    @cached_property
    def ode(self) -> Evaluator:
        """(t, y, d) -> dy/dt."""
        return Evaluator(self.function("ode", {"rates": self.rates}))

    @cached_property
    def jacobian(self) -> Evaluator:
        """(t, y, d) -> d(dy/dt)/dy."""
        return Evaluator(self.function("jacobian", {"J": ca.jacobian(self.rates, self.y)}), matrices=["J"])

    @cached_property
    def contacts(self) -> Evaluator:
        """(t, y, d) -> true gaps and their rates."""
        return Evaluator(self.function("contacts", {"gaps": self.gaps, "gap_rates": self.gap_rates}))

    @cached_property
    def row(self) -> Evaluator:
        """(t, y, d) -> gaps, their rates, F_N, worst scaled residual of the equations of motion."""
        s, q = self.system, self.y[self.layout.parts["q"]]
        M, inverse = s.M(q, self.p), s.inverse_factor(self.p)
        rows = ca.vertcat(M @ self.a - self.applied - self.W_g @ self.lam, self.W_g.T @ self.a + self.bias)
        size = ca.sqrt(ca.dot(self.a, M @ self.a)) + ca.norm_2(inverse @ self.applied)
        momentum = ca.fabs(M) @ ca.fabs(self.a) + self.terms + ca.fabs(self.W_g) @ ca.fabs(self.lam)
        joints = ca.fabs(self.W_g).T @ ca.fabs(self.a) + ca.fabs(self.bias)
        # a row at rest in a moving mechanism contains only round-off; scale it by the whole motion
        momentum += FLOOR * ca.sqrt(ca.diag(M)) * size
        joints += FLOOR * ca.sqrt(ca.sum1(self.weighted**2)).T * size
        residual = ca.mmax(ca.fabs(rows) / (ca.vertcat(momentum, joints) + TINY))
        outputs = {"gaps": self.gaps, "gap_rates": self.gap_rates, "F_N": self.F_N, "residual": residual}
        return Evaluator(self.function("row", outputs))
