"""A rod that swings against a fixed stop."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import atan2, cos, hypot, inf, pi, sin, sqrt, tan

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import PointPlane
from nonsmooth.model.forces import Gravity
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["PendulumWithStop", "pendulum_with_stop"]

BOUNCY = Rigid(restitution=0.7, friction=0.0)
MASS, LENGTH, GRAVITY = 1.0, 0.5, 9.81
#: rebounds below this fraction of the first impact's rate count as rest
REST = 1e-16
LIMIT = 2_000

ORIGINS = {
    "angle": Provenance(1.2, "rad", "assumed", "a large swing, beyond the linear pendulum"),
    "stop": Provenance(0.2, "rad", "assumed", "above the lowest point, so that the rod comes to rest on the stop"),
    "rod.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "rod.inertia": Provenance(MASS * LENGTH**2 / 12.0, "kg m^2", "assumed", "homogeneous slender rod of 0.5 m"),
    "stop.restitution": Provenance(0.7, "-", "assumed", "textbook value"),
    "stop.friction": Provenance(0.0, "-", "assumed", "a frictionless stop"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.7, "-", "assumed", "textbook value"),
    "friction": Provenance(0.0, "-", "assumed", "a frictionless stop"),
}

PANELS = (
    ("Angle", "deg", (("q", "rod.angle", "rod"),)),
    ("Angular velocity", "rad/s", (("v", "rod.angle", "rod"),)),
    ("Force of the stop", "N", (("lam_N", "stop", "stop"),)),
)


@dataclass(frozen=True)
class PendulumWithStop:
    """Exact motion of the rod, by elliptic functions.

    With w^2 = 3 g/(2 l) and k = sin(highest angle/2) a swing is sin(angle/2) = k cd(w tau), counted from its highest
    point. It meets the stop, sin(stop/2) = s, at the rate 2 w r with r = sqrt(k^2 - s^2), after
    F(psi, k)/w with psi = atan2(r, s sqrt(1 - k^2)); the impact multiplies r by e. With the stop at the lowest point
    each rebound takes about pi/w; with a stop above it they accumulate and the rod rests on it with the force
    m g tan(stop)/2; with a stop below it, on the other side, the swing that just touches the stop remains.

    Parameters
    ----------
    angle, stop
        Start and stop [rad], -pi/2 < stop < angle < pi - abs(stop). The rod starts at rest.
    restitution
        e [-], in [0, 1].

    Raises
    ------
    InputError
        For a value out of range.

    >>> round(PendulumWithStop(1.2, 0.2, 0.7).impact_times[0], 6)
    0.285169
    """

    angle: float
    stop: float
    restitution: float
    #: k of each swing, and when it is at its highest
    moduli: tuple[float, ...] = field(init=False, repr=False)
    tops: tuple[float, ...] = field(init=False, repr=False)
    impact_times: tuple[float, ...] = field(init=False, repr=False)
    rest_time: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check(self.angle, self.stop)
        if not 0.0 <= self.restitution <= 1.0:
            raise InputError(f"restitution must lie in [0, 1], got {self.restitution!r}.")
        s, e, w = sin(self.stop / 2.0), self.restitution, self.frequency
        k, top = sin(self.angle / 2.0), 0.0
        rate = first = sqrt((k - s) * (k + s)) if abs(s) < k else 0.0
        moduli, tops, rest = [k], [top], inf
        impacts: list[float] = []
        striking = abs(s) < k
        while striking and len(impacts) < LIMIT:
            impacts.append(top + _to_stop(k, rate, s) / w)
            rate = e * rate if e * rate > REST * first else 0.0
            striking = rate > 0.0
            if not striking and s >= 0.0:
                rest = impacts[-1]
                break
            k = hypot(s, rate)
            top = impacts[-1] + _to_stop(k, rate, s) / w
            moduli.append(k)
            tops.append(top)
        for name, value in (("moduli", moduli), ("tops", tops), ("impact_times", impacts)):
            object.__setattr__(self, name, tuple(value))
        object.__setattr__(self, "rest_time", rest)

    @property
    def frequency(self) -> float:
        """w [rad/s], of small swings."""
        return sqrt(1.5 * GRAVITY / LENGTH)

    @property
    def rest_force(self) -> float:
        """Force on the stop [N] when the rod rests on it."""
        return MASS * GRAVITY * tan(self.stop) / 2.0

    def impact_rate(self, k: int) -> float:
        """Angular velocity [rad/s] before the k-th impact, k = 1, 2, ..."""
        s, first = sin(self.stop / 2.0), sin(self.angle / 2.0)
        return -2.0 * self.frequency * sqrt((first - s) * (first + s)) * self.restitution ** (k - 1)

    def impact_impulse(self, k: int) -> float:
        """Impulse of the stop [N s] at the k-th impact."""
        return -(1.0 + self.restitution) * self.impact_rate(k) * MASS * LENGTH / (3.0 * cos(self.stop))

    @property
    def events(self) -> Array:
        """Times of the impacts and of rest."""
        later = [self.rest_time] if self.impact_times and self.impact_times[-1] < self.rest_time < inf else []
        return np.array([*self.impact_times, *later])

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`; at an impact the left or the right limit."""
        time: Array = times(t, side)
        if self.rest_time == inf and len(self.impact_times) == LIMIT and np.any(time > self.impact_times[-1]):
            raise InputError(f"The solution has {LIMIT} impacts, up to t = {self.impact_times[-1]:g} s.")
        swing = np.searchsorted(np.array(self.impact_times), time, side=side)
        rest = time >= self.rest_time if side == "right" else time > self.rest_time
        swing = np.minimum(swing, len(self.moduli) - 1)
        k, top, w = np.array(self.moduli)[swing], np.array(self.tops)[swing], self.frequency
        sn, cn, dn = _jacobi(w * (time - top), k)
        angle = np.where(rest, self.stop, 2.0 * np.arcsin(k * cn / dn))
        rate = np.where(rest, 0.0, -2.0 * w * k * np.sqrt((1.0 - k) * (1.0 + k)) * sn / dn)
        x, y = np.sin(angle), -np.cos(angle)
        pushed = np.array([0.0, *np.cumsum([self.impact_impulse(i + 1) for i in range(len(self.impact_times))])])
        struck = pushed[np.searchsorted(np.array(self.impact_times), time, side=side)]
        held = np.where(rest, self.rest_force, 0.0)
        half = LENGTH / 2.0
        return Sample(
            t=time,
            q={"rod.x": half * x, "rod.y": half * y, "rod.angle": angle},
            v={"rod.x": -half * y * rate, "rod.y": half * x * rate, "rod.angle": rate},
            gap={"stop": LENGTH * (x - sin(self.stop))},
            lam_N={"stop": held},
            impulse={"stop": struck + held * np.where(rest, time - np.minimum(time, self.rest_time), 0.0)},
        )


def _to_stop(k: float, rate: float, s: float) -> float:
    """w times the time between the highest point and the stop."""
    psi = atan2(rate, s * sqrt((1.0 - k) * (1.0 + k)))
    if psi <= pi / 2.0:
        return _elliptic(psi, k)
    return 2.0 * _elliptic(pi / 2.0, k) - _elliptic(pi - psi, k)


def _elliptic(phi: float, k: float) -> float:
    """F(phi, k), 0 <= phi <= pi/2, through Carlson's R_F by duplication (DLMF 19.25.5, 19.26.18)."""
    x, y, z = cos(phi) ** 2, 1.0 - (k * sin(phi)) ** 2, 1.0
    if phi == pi / 2.0:
        x = 0.0
    for _ in range(40):
        root = sqrt(x * y) + sqrt(y * z) + sqrt(z * x)
        x, y, z = (x + root) / 4.0, (y + root) / 4.0, (z + root) / 4.0
        if abs(x - y) + abs(y - z) <= 1e-15 * z:
            break
    return sin(phi) / sqrt((x + y + z) / 3.0)


def _jacobi(u: Array, k: Array) -> tuple[Array, Array, Array]:
    """sn, cn, dn of modulus k, by the arithmetic-geometric mean (DLMF 22.20(ii))."""
    a, b, c = [np.ones_like(k)], [np.sqrt((1.0 - k) * (1.0 + k))], [k]
    for _ in range(8):
        a, b, c = [*a, (a[-1] + b[-1]) / 2], [*b, np.sqrt(a[-1] * b[-1])], [*c, (a[-1] - b[-1]) / 2]
    phi = 2.0 ** (len(a) - 1) * a[-1] * u
    for n in range(len(a) - 1, 0, -1):
        phi = (phi + np.arcsin(np.clip(c[n] * np.sin(phi) / a[n], -1.0, 1.0))) / 2.0
    sn = np.sin(phi)
    return sn, np.cos(phi), np.sqrt(1.0 - (k * sn) ** 2)


def _check(angle: float, stop: float) -> None:
    if not -pi / 2.0 < stop < pi / 2.0:
        raise InputError(f"stop must lie in (-pi/2, pi/2) rad, got {stop!r}.")
    if not stop < angle < pi - abs(stop):
        raise InputError(f"angle must lie between stop = {stop:g} rad and pi - abs(stop), got {angle!r}.")


def _exact(angle: float = 1.2, stop: float = 0.2, contact: Rigid = BOUNCY) -> PendulumWithStop:
    if contact.friction > 0.0:
        raise InputError(f"The exact solution of the pendulum is frictionless, got friction = {contact.friction:g}.")
    return PendulumWithStop(angle, stop, contact.restitution)


@problem(
    tags=("planar", "impact", "accumulation", "joints", "exact"),
    t_end=4,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def pendulum_with_stop(angle: float = 1.2, stop: float = 0.2, contact: Rigid = BOUNCY) -> Model:
    """Rod on an ideal pin that falls against a wall, rebounds, and comes to rest on it.

    The wall is vertical, and the tip touches it at the angle `stop`. The pin is an ideal joint, whose reaction has an
    impulse at each impact.

    Parameters
    ----------
    angle : [rad]
        At the start, from the downward vertical, counter-clockwise; at rest.
    stop : [rad], in (-pi/2, pi/2), < angle
        Angle at which the tip touches the wall. Above 0 the rod comes to rest on the wall; at 0 it rebounds for ever,
        with decreasing velocity.
    contact : Rigid
        Restitution 0.7 by default.

    Raises
    ------
    InputError
        For angles out of range.

    >>> pendulum_with_stop(stop=0.0).build()
    System('pendulum with stop': 3 velocities, 2 constraints, 1 contacts, 17 parameters)
    """
    _check(angle, stop)
    model = Model(
        name="pendulum with stop", provenance={name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    )
    ground = model.add(Ground("ground"))
    half = LENGTH / 2.0
    rod = model.add(
        PlanarBody(
            "rod",
            mass=MASS,
            inertia=MASS * LENGTH**2 / 12.0,
            position=(half * sin(angle), -half * cos(angle)),
            angle=angle,
        )
    )
    model.add(Revolute("pin", ground, rod, at_b=(0.0, half)))
    model.add(
        PointPlane(
            "stop", ground, rod, at_a=(LENGTH * sin(stop), 0.0), direction=-pi / 2.0, at_b=(0.0, -half), contact=contact
        )
    )
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
