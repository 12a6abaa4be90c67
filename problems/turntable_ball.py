"""A ball that rolls on a turntable: its centre moves on a circle, at two sevenths of the table's angular velocity."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import hypot, inf, isfinite

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.contacts import SpherePlane
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth.model.signals import Ramp
from nonsmooth_problems.rotations import matrix, product, vector
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["TurntableBall", "turntable_ball"]

ROUGH = Rigid(restitution=0.0, friction=0.3)
MASS, RADIUS, GRAVITY = 0.1, 0.02, 9.81
#: of a homogeneous ball, J = KAPPA m a^2; it circles at KAPPA/(1 + KAPPA) = 2/7 of the table's speed
KAPPA = 0.4
NORMAL = np.array([0.0, 0.0, 1.0])
TABLE = (0.05, 0.05, 0.1)

ORIGINS = {
    "speed": Provenance(7.0, "rad/s", "assumed", "the ball then circles at 2 rad/s"),
    "x": Provenance(0.2, "m", "assumed", "start on the table"),
    "y": Provenance(0.0, "m", "assumed", "start on the table"),
    "velocity_x": Provenance(0.0, "m/s", "assumed", "start across the radius"),
    "velocity_y": Provenance(0.2, "m/s", "assumed", "a circle of 0.1 m, its centre 0.1 m off the table's axis"),
    "ball.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "floor.radius": Provenance(RADIUS, "m", "assumed", "no influence on the path"),
    "ball.inertia_xx": Provenance(KAPPA * MASS * RADIUS**2, "kg m^2", "assumed", "homogeneous ball"),
    "table.mass": Provenance(1.0, "kg", "assumed", "no influence: the table is driven"),
    "table.inertia_zz": Provenance(TABLE[2], "kg m^2", "assumed", "no influence: the table is driven"),
    "floor.restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "floor.friction": Provenance(0.3, "-", "assumed", "enough to roll: 2/7 speed velocity/g = 0.04 is needed"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
}

PANELS = (
    ("Position of the ball", "m", (("q", "ball.x", "x"), ("q", "ball.y", "y"))),
    ("Velocity of the ball", "m/s", (("v", "ball.x", "x"), ("v", "ball.y", "y"))),
    ("Normal force", "N", (("lam_N", "floor", "floor"),)),
)


def rolling(speed: float, place: Array, velocity: Array) -> Array:
    """Angular velocity [rad/s] (3,), ground frame, of a ball that rolls without spin: a n x omega = Omega n x r - v."""
    return np.cross(speed * np.cross(NORMAL, place) - velocity, NORMAL) / RADIUS


@dataclass(frozen=True)
class TurntableBall:
    """Exact motion of the ball.

    With n the table's axis, Omega its speed and kappa = 2/5, rolling, a n x omega = Omega n x r - v, and the balances
    m v' = F, kappa m a^2 omega' = -a n x F give v' = kappa/(1 + kappa) Omega n x v: the velocity turns evenly, at 2/7
    of the table's speed, and so does the ball about r_c = r(0) - 7/(2 Omega) v(0) x n. The angular velocity is
    ``omega = Omega/a (r_c + 5/7 (r - r_c))``; the orientation follows from it by quadrature (Dormand and Prince's
    method of order 8 at 1e-13). It takes friction of at least 2/7 Omega abs(v)/g.

    Parameters
    ----------
    speed : Omega [rad/s], > 0
    place, velocity : (x, y) at the start [m], [m/s]

    >>> [round(x, 12) for x in TurntableBall(7.0, (0.2, 0.0), (0.0, 0.2)).centre]
    [0.1, 0.0]
    """

    speed: float
    place: tuple[float, float]
    velocity: tuple[float, float]

    @property
    def turning(self) -> float:
        """Of the velocity [rad/s]: 2/7 of the table's speed."""
        return KAPPA / (1.0 + KAPPA) * self.speed

    @property
    def centre(self) -> tuple[float, float]:
        """Of the circle [m]."""
        (x, y), (u, v) = self.place, self.velocity
        return x - v / self.turning, y + u / self.turning

    @property
    def friction_needed(self) -> float:
        """Of the surfaces [-], for rolling."""
        return self.turning * hypot(*self.velocity) / GRAVITY

    @property
    def events(self) -> Array:
        """No events: no times."""
        return np.zeros(0)

    def path(self, t: Array) -> tuple[Array, Array, Array]:
        """Place, velocity and angular velocity (n, 3) in the ground frame."""
        (x, y), (cx, cy), (u, v) = self.place, self.centre, self.velocity
        cosine, sine, none = np.cos(self.turning * t), np.sin(self.turning * t), np.zeros_like(t)
        # the place as a change from the start, without cancellation there
        dx, dy = -2.0 * np.sin(self.turning * t / 2.0) ** 2, sine
        r = np.stack([x + dx * (x - cx) - dy * (y - cy), y + dy * (x - cx) + dx * (y - cy), none + RADIUS], axis=-1)
        velocity = np.stack([cosine * u - sine * v, sine * u + cosine * v, none], axis=-1)
        omega = np.cross(self.speed * np.cross(NORMAL, r) - velocity, NORMAL) / RADIUS
        return r, velocity, omega

    def orientation(self, t: Array) -> Array:
        """Quaternions (n, 4) of the ball, the identity at the start."""
        from scipy.integrate import solve_ivp

        def rate(time: float, q: Array) -> Array:
            omega = self.path(np.array(time))[2]
            return product(np.array([0.0, *omega]), q) / 2.0

        end = max(float(np.max(t, initial=0.0)), 1e-9)
        wanted, places = np.unique(np.append(t.ravel(), end), return_inverse=True)
        # values between steps are of lower order: no step turns the ball by much more than 0.2 rad
        (x, y), (cx, cy) = self.place, self.centre
        fastest = self.speed / RADIUS * (hypot(cx, cy) + hypot(x - cx, y - cy) + RADIUS)
        run = solve_ivp(
            rate, (0.0, end), [1.0, 0.0, 0.0, 0.0], "DOP853", wanted, rtol=1e-13, atol=1e-13,
            max_step=min(end, 0.2 / fastest),
        )  # fmt: skip
        q: Array = run.y.T[places[:-1]].reshape(*t.shape, 4)
        return q / np.linalg.norm(q, axis=-1, keepdims=True)

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`."""
        time: Array = times(t, side)
        r, velocity, omega = self.path(time)
        turn = self.orientation(time)
        spin = np.einsum("...ji,...j->...i", matrix(turn), omega)
        none, angle = np.zeros_like(time), self.speed * time
        table_q = (none, none, none, np.cos(angle / 2.0), none, none, np.sin(angle / 2.0))
        table_v = (none, none, none, none, none, none + self.speed)
        ball_q, ball_v = (*np.moveaxis(r, -1, 0), *np.moveaxis(turn, -1, 0)), (*velocity.T, *spin.T)
        weight = MASS * GRAVITY
        return Sample(
            t=time,
            q={f"{body}.{label}": value for body, values in (("table", table_q), ("ball", ball_q))
               for label, value in zip(("x", "y", "z", "qw", "qx", "qy", "qz"), values, strict=True)},
            v={f"{body}.{label}": value for body, values in (("table", table_v), ("ball", ball_v))
               for label, value in zip(("x", "y", "z", "wx", "wy", "wz"), values, strict=True)},
            gap={"floor": none},
            lam_N={"floor": none + weight},
            impulse={"floor": weight * time},
        )  # fmt: skip


def _check(speed: float, *others: float) -> None:
    if not 0.0 < speed < inf:
        raise InputError(f"speed must be a positive number of rad/s, got {speed!r}.")
    for value in others:
        if not isfinite(value):
            raise InputError(f"position and velocity must be finite numbers, got {value!r}.")


def _exact(
    contact: Rigid = ROUGH, speed: float = 7.0, x: float = 0.2, y: float = 0.0, velocity_x: float = 0.0,
    velocity_y: float = 0.2,
) -> TurntableBall:  # fmt: skip
    _check(speed, x, y, velocity_x, velocity_y)
    exact = TurntableBall(speed, (x, y), (velocity_x, velocity_y))
    if contact.friction <= exact.friction_needed:
        raise InputError(
            f"The ball rolls only with friction above {exact.friction_needed:.6g}, got {contact.friction!r}."
        )
    return exact


@problem(
    tags=("spatial", "friction", "rolling", "driven", "exact"),
    t_end=3.2,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def turntable_ball(
    contact: Rigid | Compliant = ROUGH, speed: float = 7.0, x: float = 0.2, y: float = 0.0, velocity_x: float = 0.0,
    velocity_y: float = 0.2,
) -> Model:  # fmt: skip
    """Homogeneous ball that rolls on a turntable of constant speed: its centre moves on a circle.

    For any initial velocity, of rolling without spin about the vertical, the centre circles at 2/7 of the table's
    angular velocity about a point that depends on the initial state, and never leaves the table. With too little
    friction the ball slides at first.

    Parameters
    ----------
    contact : Rigid or Compliant
        Friction 0.3 by default.
    speed : [rad/s], > 0
        Of the table, counter-clockwise.
    x, y : [m]
        Centre of the ball at the start, from the table's axis.
    velocity_x, velocity_y : [m/s]
        Of the centre at the start.

    Raises
    ------
    InputError
        For a speed that is not positive, or a number that is not finite.

    >>> turntable_ball().build()
    System('ball on a turntable': 12 velocities, 6 constraints, 1 contacts, 46 parameters)
    """
    _check(speed, x, y, velocity_x, velocity_y)
    known = {name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    model = Model(name="ball on a turntable", provenance=known)
    ground = model.add(Ground("ground"))
    table = model.add(SpatialBody("table", mass=1.0, inertia=TABLE, angular_velocity=(0.0, 0.0, speed)))
    place, velocity = np.array([x, y, RADIUS]), np.array([velocity_x, velocity_y, 0.0])
    inertia = KAPPA * MASS * RADIUS**2
    ball = model.add(
        SpatialBody(
            "ball", mass=MASS, inertia=(inertia, inertia, inertia), position=vector(place), velocity=vector(velocity),
            angular_velocity=vector(rolling(speed, place, velocity)),
        )
    )  # fmt: skip
    axis = (0.0, 0.0, 1.0)
    model.add(Revolute("bearing", ground, table, axis_a=axis, axis_b=axis))
    model.add(PrescribedMotion("motor", ground, table, coordinate="angle", motion=Ramp(speed), axis_a=axis))
    model.add(SpherePlane("floor", table, ball, radius=RADIUS, normal=axis, contact=contact))
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
