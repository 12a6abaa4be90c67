"""Equations of motion in a phase and of an impact, with the modes of contacts as data, and their derivatives.

A phase is given by three numbers for each contact: c is 1 where it is closed, k where it sticks, and s is the direction
of its slip, -1 or 1 (in space it is that of the slip itself). Then accelerations and forces solve ::

    M a = h + W_g lam_g + W_N lam_N + W_T lam_T
    W_g' a + bias_g = 0
    c (W_N' a + bias_N) + (1 - c) lam_N = 0
    c (k (W_T' a + bias_T) + (1 - k) (lam_T + mu s lam_N)) + (1 - c) lam_T = 0

and velocities after an impact, with its impulses, the same equations with v+ - v- for a, without h, and ::

    W_g' v+ + g_t,    W_N' v+ + e W_N' v-,    W_T' v+ + e_T W_T' v-      for the accelerations of the constraints.

All of them are functions of t, q, v and the parameters, which CasADi differentiates; the derivative of a solution z of
R(z, x) = 0 is ``-(dR/dz)^-1 dR/dx``.
"""

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array, Columnwise, Evaluator
from nonsmooth.model.evaluate import evaluate_rows
from nonsmooth.model.joint_friction import normal_forces
from nonsmooth.model.system import System

#: reciprocal condition below which rows of constraints are regarded as dependent
DEPENDENT = 1e-12
#: rows up to which CasADi evaluates one after the other, faster than all at once operation by operation
FEW = 200


class PhaseEquations:
    """Solutions and derivatives, by rows; `wrt` are indices of parameters."""

    def __init__(self, system: System, wrt: Sequence[int], parameters: Array) -> None:
        self.parameters = parameters
        nq, self.nv, ng, nc, tangents = system.nq, system.nv, system.ng, system.nc, system.dimension - 1
        self.nq, self.ng, self.nc, self.n, self.own = nq, ng, nc, nq + system.nv, len(wrt)
        t, q, v, p = ca.SX.sym("t"), ca.SX.sym("q", nq), ca.SX.sym("v", self.nv), ca.SX.sym("p", len(parameters))
        c, k, s, rebounds = (ca.SX.sym(name, nc) for name in ("c", "k", "s", "r"))
        M, h, B, bias = system.M(q, p), system.h(t, q, v, p), system.B(q), system.bias(t, q, v, p)
        W_g, W_N, W_T, g_t = system.W_g(t, q, p), system.W_N(q, p), system.W_T(q, p), system.g_t(t, q, p)
        restitution, friction, tangential, _ = system.contact_law(p)
        spread = ca.kron(ca.SX.eye(nc), ca.SX.ones(tangents, 1))  # of a number per contact to its tangents
        each_c, each_k, mu, e_T = (spread @ one for one in (c, k, friction, tangential))
        slip = W_T.T @ v
        given = normal_forces(system.given_normal, system.parameters, p, slip)
        if tangents == 1:
            direction = s
        else:  # of length 1 where contacts slip, any number elsewhere
            slides = c * (1 - k) * (friction > 0)
            direction = slip / (spread @ ca.sqrt(spread.T @ slip**2 + 1 - slides))
        z = ca.SX.sym("z", self.nv + ng + nc * system.dimension)
        motion, lam_g, P_N, P_T = ca.vertsplit(z, np.cumsum([0, self.nv, ng, nc, nc * tangents]).tolist())

        # a redundant joint carries no force here: that of the others moves the bodies alike
        redundant = {one.name for one in system.redundant}
        needed = ca.DM([name not in redundant for name in system.constraint_names])

        def residual(
            change: ca.SX, applied: ca.SX, by_g: ca.SX, by_N: ca.SX, by_T: ca.SX, slides: ca.SX, lasting: float
        ) -> ca.SX:
            held, slipping = W_T.T @ motion + by_T, P_T + mu * slides * (spread @ P_N)
            normal = c * (W_N.T @ motion + by_N) + (1 - c) * P_N
            along = each_c * (each_k * held + (1 - each_k) * slipping) + (1 - each_c) * P_T
            for i, force in given.items():  # without gap, in space with one tangent
                normal[i] = P_N[i] - lasting * force
                if tangents == 2:
                    along[2 * i + 1] = P_T[2 * i + 1]
            return ca.vertcat(
                M @ change - applied - W_g @ lam_g - W_N @ P_N - W_T @ P_T,
                needed * (W_g.T @ motion + by_g) + (1 - needed) * lam_g, normal, along,
            )  # fmt: skip

        chosen = ca.vertcat(*(p[i] for i in wrt))
        inputs = ca.vertcat(t, q, v, chosen)

        def linear(R: ca.SX, modes: Sequence[ca.SX]) -> tuple["_Rows", "_Rows"]:
            row = ca.vertcat(t, q, v, *modes)
            left, right = ca.jacobian(R, z), ca.substitute(R, z, 0)
            return _Rows([row, p], [left, right]), _Rows([row, z, p], [ca.jacobian(R, inputs)])

        bias_g, bias_N, bias_T = ca.vertsplit(bias, np.cumsum([0, ng, nc, nc * tangents]).tolist())
        self._smooth = linear(residual(motion, h, bias_g, bias_N, bias_T, direction, 1.0), (c, k, s))
        rebound = rebounds * restitution * (W_N.T @ v)
        struck = residual(motion - v, ca.SX.zeros(self.nv), g_t, rebound, e_T * slip, direction, 0.0)
        self._impact = linear(struck, (c, k, s, rebounds))
        rates, x = B @ v, ca.vertcat(q, v)
        self._kinematics = _Rows([x, p], [rates, ca.jacobian(rates, x)])
        # what stays zero: joints, and where they last, closed gaps, their rates and slips that stick
        held_rows = ca.vertcat(system.g(t, q, p), system.g_N(q, p), W_g.T @ v + g_t, W_N.T @ v, slip)
        self._held = _Rows([ca.vertcat(t, x), p], [held_rows, ca.jacobian(held_rows, ca.vertcat(t, x, chosen))])

    def rates(self, t: Array, q: Array, v: Array, modes: Array) -> tuple[Array, Array, Array, Array]:
        """(q', v') (n, .), their derivatives by (q, v) and by the parameters, and forces with their derivatives.

        The last one is (n, forces, 1 + 1 + nq + nv + parameters): forces themselves, then by t, q, v and parameters.
        """
        z, D = self._solved(self._smooth, np.column_stack([t, q, v, modes]))
        q_rates, Q = self._kinematics(np.hstack([q, v]), self.parameters)
        n, nv = self.n, self.nv
        A = np.concatenate([Q, D[:, :nv, 1 : 1 + n]], axis=1)
        own = np.concatenate([np.zeros((len(t), self.nq, self.own)), D[:, :nv, 1 + n :]], axis=1)
        forces = np.concatenate([z[:, nv:, None], D[:, nv:]], axis=2)
        return np.hstack([q_rates[:, :, 0], z[:, :nv]]), A, own, forces

    def impact(self, t: float, q: Array, v: Array, modes: Array) -> tuple[Array, Array]:
        """Velocities after an impact with impulses (nz,), and derivatives by t, (q, v) and the parameters."""
        z, D = self._solved(self._impact, np.concatenate([[t], q, v, modes])[None])
        return z[0], D[0]

    def held(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Rows of joints, gaps and their rates, of slips, and their derivatives by t, (q, v) and the parameters."""
        value, D = self._held(np.concatenate([[t], q, v])[None], self.parameters)
        return value[0, :, 0], D[0]

    def _solved(self, equations: tuple["_Rows", "_Rows"], rows: Array) -> tuple[Array, Array]:
        """Solutions z (n, nz) and their derivatives; of least norm where rows of constraints are dependent, NaN where a
        slip in space vanishes, which has no direction."""
        linear, derivative = equations
        K, r = linear(rows, self.parameters)
        scale = 1.0 / np.maximum(np.abs(K).max(axis=2, keepdims=True), np.finfo(float).tiny)
        K, r = K * scale, r * scale
        inverse, solvable = np.full_like(K, np.nan), np.isfinite(K).all(axis=(1, 2))
        try:
            inverse[solvable] = np.linalg.inv(K[solvable])
            dependent = solvable & ~(np.abs(inverse).sum(axis=(1, 2)) < 1.0 / DEPENDENT)
        except np.linalg.LinAlgError:
            dependent = solvable
        if dependent.any():
            inverse[dependent] = np.linalg.pinv(K[dependent], rcond=DEPENDENT)
        z = -(inverse @ r)
        z -= inverse @ (K @ z + r)
        (D,) = derivative(rows, z[:, :, 0], self.parameters)
        return z[:, :, 0], -(inverse @ (D * scale))


class _Rows:
    """Matrices of one CasADi function, evaluated for many rows; the last argument is the same for all."""

    def __init__(self, arguments: Sequence[ca.SX], matrices: Sequence[ca.SX]) -> None:
        self.shapes = [one.shape for one in matrices]
        function = ca.Function("rows", list(arguments), [ca.densify(ca.vertcat(*map(ca.vec, matrices)))])
        self._one = Evaluator(function)
        self._evaluate: Callable[..., NDArray[np.float64]] = (
            Columnwise(function) if Columnwise.covers(function) else lambda *rows: evaluate_rows(function, *rows)
        )

    def __call__(self, *arguments: Array) -> list[Array]:
        if len(arguments[0]) <= FEW:
            *rows, shared = arguments
            found = np.array([self._one(*one, shared)[0] for one in zip(*rows, strict=True)])
        else:
            found = self._evaluate(*arguments)
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        parts = np.split(found, ends, axis=1)
        return [
            part.reshape(len(found), columns, rows).transpose(0, 2, 1)
            for part, (rows, columns) in zip(parts, self.shapes, strict=True)
        ]
