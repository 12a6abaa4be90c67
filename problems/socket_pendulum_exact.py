"""Motion of a rod whose ball stays in contact with its socket, by equations without a constraint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth_problems.rotations import matrix, product
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["GRAVITY", "INERTIA", "LENGTH", "MASS", "SocketPendulum"]

MASS, LENGTH, GRAVITY = 1.0, 0.2, 9.81
INERTIA = (1.0 / 300.0, 1.0 / 300.0, 4e-4)
#: the ball's centre in the frame of the rod
ARM = np.array([0.0, 0.0, LENGTH / 2.0])
WEIGHT = np.array([0.0, 0.0, -GRAVITY])
J = np.array(INERTIA)


@dataclass(frozen=True)
class SocketPendulum:
    """The rod while the ball stays in contact, without friction.

    The ball's centre is at c u from the socket's, abs(u) = 1, and the rod's orientation is R. The socket pushes with
    -lambda u through the ball's centre, at s in the rod. With u . u'' = -u' . u' the force follows from

        u . (g + R (alpha_0 x s + omega x (omega x s))) + c u' . u' = lambda (1/m + u . R (J^-1 (s x R'u) x s)),
        alpha_0 = -J^-1 (omega x J omega),

    and (u, u', R, omega, impulse) from Dormand and Prince's method of order 8 at a relative tolerance of 1e-13: without
    gaps, without constraints, and with nothing of the library. It ends where the force does.

    Parameters
    ----------
    clearance : c [m]
    velocity : (x, y) of the lower end at the start [m/s], where the rod hangs and the ball is at rest at the bottom

    >>> float(SocketPendulum(1e-4, (0.0, 0.0)).sample(0.1).lam_N["pivot"])
    9.81
    """

    clearance: float
    velocity: tuple[float, float]

    @property
    def events(self) -> Array:
        """Nothing happens suddenly while the ball stays in contact: no times."""
        return np.zeros(0)

    def _start(self) -> Array:
        x, y = self.velocity
        return np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, y / LENGTH, -x / LENGTH, 0.0, 0.0])

    def forces(self, state: Array) -> tuple[Array, Array, Array]:
        """lambda [N], u'' [1/s^2] and omega' [rad/s^2]."""
        u, rate, turn, omega = state[:3], state[3:6], state[6:10], state[10:13]
        R = matrix(turn / np.linalg.norm(turn))
        free = -np.cross(omega, J * omega) / J
        across = np.cross(ARM, R.T @ u) / J
        moved = WEIGHT + R @ (np.cross(free, ARM) + np.cross(omega, np.cross(omega, ARM)))
        given = u / MASS + R @ np.cross(across, ARM)
        force = (u @ moved + self.clearance * (rate @ rate)) / (u @ given)
        return force, (moved - force * given) / self.clearance, free - force * across

    def _rates(self, t: float, state: Array) -> Array:
        force, bent, turned = self.forces(state)
        spin = product(state[6:10], np.array([0.0, *state[10:13]])) / 2.0
        return np.concatenate([state[3:6], bent, spin, turned, [force]])

    def _states(self, t: Array) -> Array:
        from scipy.integrate import solve_ivp

        def parts(time: float, state: Array) -> float:
            return float(self.forces(state)[0])

        parts.terminal = True  # type: ignore[attr-defined]
        end = max(float(np.max(t, initial=0.0)), 1e-9)
        wanted, places = np.unique(np.append(t.ravel(), end), return_inverse=True)
        # u' is some hundred times u and omega
        scales = np.array([1e-13] * 3 + [1e-11] * 3 + [1e-13] * 8)
        run = solve_ivp(self._rates, (0.0, end), self._start(), "DOP853", wanted, rtol=1e-13, atol=scales, events=parts)
        if run.t_events[0].size:
            raise InputError(f"The ball leaves the socket at t = {run.t_events[0][0]:.9g} s; request times before it.")
        states: Array = run.y.T[places[:-1]].reshape(*t.shape, 14)
        return states

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`.

        Raises
        ------
        InputError
            For a time after the ball has left the socket.
        """
        time: Array = times(t, side)
        states = self._states(time)
        u, turn = (part / np.linalg.norm(part, axis=-1, keepdims=True) for part in (states[..., :3], states[..., 6:10]))
        rate, omega, R = states[..., 3:6], states[..., 10:13], matrix(turn)
        place = self.clearance * u - R @ ARM
        velocity = self.clearance * rate - np.einsum("...ij,...j->...i", R, np.cross(omega, ARM))
        forces = np.array([self.forces(state)[0] for state in states.reshape(-1, 14)]).reshape(time.shape)
        labels = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("x", "y", "z", "wx", "wy", "wz")
        q = np.concatenate([place, turn], axis=-1)
        v = np.concatenate([velocity, omega], axis=-1)
        return Sample(
            t=time,
            q={f"rod.{label}": q[..., i] for i, label in enumerate(labels[0])},
            v={f"rod.{label}": v[..., i] for i, label in enumerate(labels[1])},
            gap={"pivot": np.zeros_like(time)},
            lam_N={"pivot": forces},
            impulse={"pivot": states[..., 13]},
        )
