"""Coulomb's law as complementarity pairs, for MPCCs: in the plane by the edges of the cone, in space by a disc.

Each class defines additional unknowns x and y of a step, the tangential impulses, equations and pairs.
"""

from __future__ import annotations

import casadi as ca

from nonsmooth.model.system import System

__all__ = ["Disc", "Edges", "NoFriction"]


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
    """The plane: P_T = P_plus - P_minus, 0 <= slip + sigma ⟂ P_plus, 0 <= sigma - slip ⟂ P_minus, 0 <= mu P_N - P_plus
    - P_minus ⟂ sigma."""

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
