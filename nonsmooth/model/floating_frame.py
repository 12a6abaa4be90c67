"""Kinematics and inertia of a floating frame of reference: velocities in which the kinetic energy is constant.

The kinetic energy of a deformed body about its mass centre, in the angular velocity omega of the frame and the rates
eta' of its modes, is that of `nonsmooth.flexible.Inertia`, with J(eta) and H(eta). Steppers take a constant mass
matrix. It is found by other velocities (sigma, w), as an angular velocity takes the place of the rates of angles::

    eta' = (1 + B' Z B) w,    omega = R^-1 (R_0 sigma - B eta'),    J = R' R,  B = R'^-1 H,  S S' = 1 - B B',
    Z = S'^-1 (1 + S)^-1

with Cholesky's factors R (R_0 of the undeformed body) and S. For H' J^-1 H = B' B, and N = 1 + B' Z B has
``N N' = (1 - B' B)^-1``; so that ``T = 1/2 sigma' J0 sigma + 1/2 w' w``. Without deformation sigma is omega and w eta'.
The momenta are ``dT/d(omega) = R' R_0 sigma``, the moment of momentum, and ``dT/d(eta') = eta' + H' omega``.

Hamel's equations: with u = (omega, eta') = V(eta) v and momenta P = dT/du ::

    M v' = V' (-omega x P_omega, -d(P . V v)/d(eta) + forces on eta) + V_dot' P

of which the terms in velocities do no work.

References
----------
Hamel, G. (1904), Die Lagrange-Eulerschen Gleichungen der Mechanik, Z. Math. Phys. 50, 1-57.
Junkins, J. L., Schaub, H. (1997), An instantaneous eigenstructure quasivelocity formulation for nonlinear multibody
dynamics, J. Astronaut. Sci. 45, 279-295.
"""

from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.flexible.modes import Modes

#: share of the largest entry of a matrix of integrals below which entries are round-off
ROUND_OFF = 1e-10


class FloatingFrame:
    """Floating frame of a body with these modes, that turns about these axes: z in the plane, x, y, z in space."""

    def __init__(self, modes: Modes, axes: tuple[int, ...]) -> None:
        self.modes, self.axes, self.size = modes, list(axes), len(axes)
        self.inertia = np.asarray(modes.inertia)[np.ix_(self.axes, self.axes)]
        #: whether inertia changes with deformation
        self.changing = modes.changes is not None
        self.undeformed = np.linalg.cholesky(self.inertia).T if self.changing else np.eye(self.size)

    def velocities(self, eta: Any, sigma: Any, w: Any) -> tuple[Any, Any]:
        """omega, eta'."""
        if not self.changing:
            return sigma, w
        R, B = self._factors(eta)
        rate = _scaled(B, w)
        return ca.mtimes(_inverse(R), ca.mtimes(ca.DM(self.undeformed), sigma) - ca.mtimes(B, rate)), rate

    def by_velocities(self, eta: Any, by_omega: Any, by_rate: Any) -> Any:
        """Derivative (k, .) by (sigma, w) of what has these derivatives by omega and eta'."""
        if not self.changing:
            return ca.horzcat(by_omega, by_rate)
        R, B = self._factors(eta)
        turned = ca.mtimes(by_omega, _inverse(R))
        by_w = _scaled(B, (by_rate - ca.mtimes(turned, B)).T, transposed=True).T
        return ca.horzcat(ca.mtimes(turned, ca.DM(self.undeformed)), by_w)

    def started(self, eta: Array, omega: Array, rate: Array) -> tuple[Array, Array]:
        """sigma, w of omega, eta'."""
        if not self.changing:
            return omega, rate
        R, B = (np.array(one) for one in self._factors(ca.DM(eta)))
        moved = B @ rate
        sigma = np.linalg.solve(self.undeformed, R @ omega + moved)
        # N^-1 = N' (1 - B' B)
        w = _scaled(ca.DM(B), ca.DM(rate - B.T @ moved), transposed=True)
        return sigma, np.array(w).ravel()

    def moment(self, eta: Any, moment: Any) -> Any:
        """Moment of momentum about the mass centre, in the frame, from that of the undeformed body, J0 sigma."""
        if not self.changing:
            return moment
        return ca.mtimes(self._factors(eta)[0].T, self._undeformed(moment))

    def forces(self, eta: ca.SX, sigma: ca.SX, w: ca.SX, moment: ca.SX, elastic: Any) -> ca.SX:
        """h of the turning and of the modes, inertia forces included; `elastic` is -K eta - D eta' of the rates eta'.

        `moment` is J0 sigma with the inertia of the parameters. Where it is another than that of the modes, momenta
        keep their relation to the velocities, and the body the inertia that this makes.
        """
        if not self.changing:
            turning = ca.SX.zeros(1) if self.size == 1 else -ca.cross(sigma, moment)
            return ca.vertcat(turning, elastic(w))
        R, B = self._factors(eta)
        rate = _scaled(B, w)
        omega = ca.mtimes(_inverse(R), ca.mtimes(ca.DM(self.undeformed), sigma) - ca.mtimes(B, rate))
        s = self._undeformed(moment)
        momenta = ca.vertcat(ca.mtimes(R.T, s), rate + ca.mtimes(B.T, s - ca.mtimes(B, rate)))
        turning = ca.SX.zeros(1) if self.size == 1 else -ca.cross(omega, momenta[:3])
        P, v = ca.SX.sym("P", momenta.numel()), ca.vertcat(sigma, w)
        along = ca.dot(P, ca.vertcat(omega, rate))
        slope = ca.gradient(along, eta)
        total = ca.vertcat(turning, elastic(rate) - ca.substitute(slope, P, momenta))
        rates = ca.SX.sym("rates", eta.numel())
        changing = ca.gradient(ca.dot(slope, rates), v)
        changing = ca.substitute(changing, ca.vertcat(P, rates), ca.vertcat(momenta, rate))
        return ca.substitute(ca.gradient(along, v), P, total) + changing

    def _undeformed(self, moment: Any) -> Any:
        return ca.mtimes(ca.DM(np.linalg.inv(self.undeformed).T), moment)

    def _factors(self, eta: Any) -> tuple[Any, Any]:
        """R with J = R' R, and B = R'^-1 H."""
        assert self.modes.changes is not None
        x, J = self.modes.changes, type(eta)(ca.DM(self.inertia))
        rows = []
        for i, a in enumerate(self.axes):
            rows.append(ca.DM(x.turning[a : a + 1]) + ca.mtimes(eta.T, sparse(x.coupling[a])))
            for j, b in enumerate(self.axes[: i + 1]):
                change = ca.mtimes(sparse(x.first[a, b]), eta) + ca.dot(eta, ca.mtimes(sparse(x.second[a, b]), eta))
                J[i, j] += change
                if i != j:
                    J[j, i] += change
        R = ca.chol(J)
        return R, ca.mtimes(_inverse(R).T, ca.vertcat(*rows))


def sparse(matrix: Array) -> ca.DM:
    """A matrix (a row from a vector) without the entries that are round-off of its largest."""
    matrix = np.atleast_2d(matrix)
    least = ROUND_OFF * np.max(np.abs(matrix), initial=0.0)
    return ca.sparsify(ca.DM(np.where(np.abs(matrix) > least, matrix, 0.0)))


def _scaled(B: Any, w: Any, transposed: bool = False) -> Any:
    """N w = w + B' Z B w, or N' w, with ``N N' = (1 - B' B)^-1``."""
    one = ca.DM.eye(B.size1())
    S = ca.chol(one - ca.mtimes(B, B.T)).T
    first, second = _inverse((one + S).T).T, _inverse(S.T)  # (1 + S)^-1, S'^-1
    Z = ca.mtimes(second, first)
    return w + ca.mtimes(B.T, ca.mtimes(Z.T if transposed else Z, ca.mtimes(B, w)))


def _inverse(upper: Any) -> Any:
    """Inverse of an upper triangular matrix of one or three rows."""
    n, found = upper.size1(), ca.diag(1 / ca.diag(upper))
    for j in range(n):
        for i in range(j - 1, -1, -1):
            found[i, j] = -sum(upper[i, k] * found[k, j] for k in range(i + 1, j + 1)) * found[i, i]
    return found
