"""Exact motion of the slider on a fixed rod, with which every formulation of the package is compared.

A rigid slider of mass m, inertia J and length 2a rides on a fixed rod with clearance c on each side. A force f along
the global x axis acts at the body point (0, s), gravity g along -y. With the heights of the two ends

    u_L = y - a sin(theta),     u_R = y + a sin(theta),     -c <= u_L, u_R <= c,

and sigma = sin(theta), every smooth phase of the frictionless motion has one equation,

    (J w + mu w^2) sigma'' = Q w^2 - J sigma sigma'^2,        w = 1 - sigma^2,

    free flight      mu = 0,      Q = -s f,            y'' = -g,
    right end held   mu = m a^2,  Q = +m g a - s f,    u_R constant,  N_R = +-m (g - a sigma''),
    left end held    mu = m a^2,  Q = -m g a - s f,    u_L constant,  N_L = +-m (g + a sigma''),
    both ends held   sigma, y constant, N_L + N_R = m g, N_R - N_L = s f/a (signed by wall),

and x = f t^2/(2 m) throughout. At an impact the impulses of the closed ends obey 0 <= gamma+ + e gamma- _|_ P >= 0.
The equation is solved by its Taylor series, to round-off over the short flights inside the clearance; the heights are
kept relative to the wall last touched, so that the last bounces of an accumulation are as exact as the first. With
``small_angles=True`` the heights are y -+ a theta; the flights are then parabolas and the series ends by itself.

Two ends that bounce in turn make a wedge billiard, which amplifies errors. The accumulation time of case 2 is good to
14 digits for e = 0.3 and 0.5, but only to 3 for e = 0.8, where round-off moves it by 0.03 % and sin(theta) - theta,
1e-10 of the heights, by 0.5 %. The first impacts, the rest that follows and the total impulse do not suffer.

Source: E. Chaturvedi, C. Sandu, A. Sandu, Non-smooth dynamics formulation for planar prismatic joints with clearances,
section 3 and Table 1. The paper gives curves only; the solution is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import asin, cos, inf, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.exceptions import InputError
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["Impact", "Sample", "SliderRod", "case", "solve"]

CONTACTS = ("guide.left_lower", "guide.left_upper", "guide.right_lower", "guide.right_upper")

TERMS = 20  # of the Taylor series; a step is cut where the last two would exceed CUT of the clearance
CUT = 1e-18
REST = 1e-14  # a rebound below this part of the reference speed sqrt(2 c acceleration) ends an accumulation
LIMIT = 100_000  # impacts; case 1 with e = 0.999 needs 64 000
LOWER, FREE, UPPER = 1, 0, -1  # a wall is the sign of its normal


@dataclass(frozen=True)
class Impact:
    """One contact at one impact: t [s], impulse [N s], normal gap rates before and after [m/s] (closing < 0)."""

    t: float
    contact: str
    impulse: float
    gamma_minus: float
    gamma_plus: float


@dataclass(frozen=True, eq=False)
class _Segment:
    """An interval of smooth motion; rows are the left and the right end, columns the powers of t - start."""

    start: float
    walls: tuple[int, int]  # LOWER or UPPER where the end is held
    anchor: Array  # (2,) wall height from which `rise` counts [m]
    rise: Array  # (2, TERMS + 1)
    force: Array  # (2, TERMS + 1) normal force of the held ends [N]


@dataclass(frozen=True, eq=False, repr=False)
class SliderRod:
    """The solution, created by `solve` or `case`.

    Parameters
    ----------
    mass, inertia, half_length, clearance, force, offset, gravity, restitution
        m [kg], J [kg m^2], a [m], c [m], f [N], s [m], g [m/s^2], e [-].
    small_angles
        Whether the heights of the ends are y -+ a theta.
    impacts
        Every impact down to a rebound of 1e-14 of the first, in order of time; two rows where both ends land together.
    """

    mass: float
    inertia: float
    half_length: float
    clearance: float
    force: float
    offset: float
    gravity: float
    restitution: float
    small_angles: bool
    impacts: tuple[Impact, ...]
    segments: tuple[_Segment, ...]

    def __repr__(self) -> str:
        return (
            f"SliderRod(offset={self.offset:g} m, gravity={self.gravity:g} m/s^2, restitution={self.restitution:g}: "
            f"{len(self.impacts)} impacts, at rest from {self.rest_time:.9g} s)"
        )

    @property
    def rest_time(self) -> float:
        """Time [s] from which both ends rest on the walls: where the impacts accumulate, or the only impact."""
        return self.segments[-1].start

    @property
    def rest_force(self) -> dict[str, float]:
        """Normal force [N] of each contact from `rest_time` on."""
        return {name: float(value) for name, value in self.contact_force(self.rest_time).items()}

    @property
    def events(self) -> Array:
        """Distinct times [s] at which the velocity jumps."""
        return np.unique([impact.t for impact in self.impacts])

    def position(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """x [m], y [m] and angle [rad] at the times `t` [s] >= 0."""
        t = np.asarray(t, float)
        return self._position(t, *self._heights(t, "right", 0))

    def velocity(self, t: ArrayLike, side: Side = "right") -> tuple[Array, Array, Array]:
        """Rates of `position` [m/s, m/s, rad/s]; at a jump its left or its right limit."""
        t = np.asarray(t, float)
        return self._velocity(t, side, self.position(t)[2])

    def contact_force(self, t: ArrayLike, side: Side = "right") -> dict[str, Array]:
        """Normal force [N] of each contact; impacts are not in it, see `impacts`."""
        t = np.asarray(t, float)
        index = self._index(t, side)
        return self._by_contact(index, _values(self._phases.force, index, t - self._phases.start[index]))

    def contact_impulse(self, t: ArrayLike, side: Side = "right") -> dict[str, Array]:
        """Impulse [N s] of each contact over [0, t], impacts at t included or, on the left, not."""
        t, phases = np.asarray(t, float), self._phases
        index = self._index(t, side)
        result = self._by_contact(index, _values(phases.impulse, index, t - phases.start[index]))
        past = np.searchsorted(phases.impact, t, side=side)
        for k, name in enumerate(CONTACTS):
            result[name] += phases.before[index, k] + phases.by_impacts[past, k]
        return result

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`; at a jump the left or the right limit."""
        t = np.asarray(t, float)
        left, right = self._heights(t, "right", 0)
        c, position = self.clearance, self._position(t, left, right)
        names = ("slider.x", "slider.y", "slider.angle")
        return Sample(
            t=t,
            q=dict(zip(names, position, strict=True)),
            v=dict(zip(names, self._velocity(t, side, position[2]), strict=True)),
            gap=dict(zip(CONTACTS, (c + left, c - left, c + right, c - right), strict=True)),
            lam_N=self.contact_force(t, side),
            impulse=self.contact_impulse(t, side),
        )

    def _position(self, t: Array, left: Array, right: Array) -> tuple[Array, Array, Array]:
        sigma = (right - left) / (2.0 * self.half_length)
        angle = sigma if self.small_angles else np.arcsin(sigma)
        return self.force / self.mass * t**2 / 2.0, (left + right) / 2.0, angle

    def _velocity(self, t: Array, side: Side, angle: Array) -> tuple[Array, Array, Array]:
        left, right = self._heights(t, side, 1)
        slope = np.ones_like(angle) if self.small_angles else np.cos(angle)
        return self.force / self.mass * t, (left + right) / 2.0, (right - left) / (2.0 * self.half_length * slope)

    @cached_property
    def _phases(self) -> _Phases:
        return _Phases(self.segments, self.impacts)

    def _index(self, t: Array, side: Side) -> NDArray[np.intp]:
        times(t, side)
        return np.maximum(np.searchsorted(self._phases.start, t, side=side) - 1, 0)

    def _heights(self, t: Array, side: Side, derivative: int) -> Array:
        """Of both ends (2, ..), or their rates."""
        phases, index = self._phases, self._index(t, side)
        found = _values(phases.rate if derivative else phases.rise, index, t - phases.start[index])
        return found if derivative else np.moveaxis(phases.anchor[index], -1, 0) + found

    def _by_contact(self, index: NDArray[np.intp], values: Array) -> dict[str, Array]:
        """Values of the ends (2, ..) at times in these segments, of the contacts that hold them; 0 of the others."""
        walls = self._phases.walls[index]
        return {
            _contact(end, wall): np.where(walls[..., end] == wall, values[end], 0.0)
            for end in range(2)
            for wall in (LOWER, UPPER)
        }


class _Phases:
    """The segments as arrays (s, ends, ..), and the impulses (k,) as sums."""

    def __init__(self, segments: Sequence[_Segment], impacts: Sequence[Impact]) -> None:
        self.start = np.array([one.start for one in segments])
        self.walls = np.array([one.walls for one in segments])
        self.anchor = np.array([one.anchor for one in segments])
        self.rise, self.force = np.array([one.rise for one in segments]), np.array([one.force for one in segments])
        powers = np.arange(1, TERMS + 1)
        self.rate = np.append(self.rise[..., 1:] * powers, np.zeros_like(self.anchor)[..., None], axis=-1)
        self.impulse = np.append(np.zeros_like(self.anchor)[..., None], self.force / np.append(powers, TERMS + 1), -1)
        each = np.arange(len(segments) - 1)
        whole = _values(self.impulse, each, np.diff(self.start))
        self.before = np.zeros((len(segments), len(CONTACTS)))
        for end in range(2):
            for wall in (LOWER, UPPER):
                of = np.where(self.walls[:-1, end] == wall, whole[end], 0.0)
                self.before[1:, CONTACTS.index(_contact(end, wall))] = np.cumsum(of)
        self.impact = np.array([one.t for one in impacts])
        single = [[one.impulse * (one.contact == name) for name in CONTACTS] for one in impacts]
        self.by_impacts = np.cumsum(np.array([[0.0] * len(CONTACTS), *single]), axis=0)


def case(number: int, *, restitution: float, small_angles: bool = False) -> SliderRod:
    """The paper's case 1 (s = 0), 2 (s = 0.5 mm) or 3 (s = 10 mm, no gravity), with the numbers of its Table 1.

    The half-length a = 10 mm is half the slider's l_s = 20 mm; the clearance is c = 10 um. The paper's implicit Euler
    steps on gaps amount to a restitution of 0.

    >>> round(case(1, restitution=0.0).impacts[0].t, 12)
    0.001427843123
    """
    offsets = {1: 0.0, 2: 0.5e-3, 3: 10e-3}
    if number not in offsets:
        raise InputError(f"The slider-rod has the cases 1, 2 and 3, got {number!r}.")
    return solve(
        mass=5.0,
        inertia=8e-4,
        half_length=10e-3,
        clearance=10e-6,
        force=50.0,
        offset=offsets[number],
        gravity=0.0 if number == 3 else 9.81,
        restitution=restitution,
        small_angles=small_angles,
    )


def solve(
    *,
    mass: float,
    inertia: float,
    half_length: float,
    clearance: float,
    force: float,
    offset: float,
    gravity: float,
    restitution: float,
    small_angles: bool = False,
    start: tuple[ArrayLike, ArrayLike] | None = None,
) -> SliderRod:
    """The motion until both ends rest on the walls, by default from rest in the middle of the clearance.

    Parameters
    ----------
    mass, inertia, half_length, clearance
        m [kg], J [kg m^2], a [m] and c [m], all > 0, c < a.
    force, offset, gravity
        f [N] along the global x axis, acting at the body point (0, s) [m], and g [m/s^2] along -y.
    restitution
        e [-], 0 <= e < 1.
    small_angles
        Take y -+ a theta for the heights of the ends, instead of y -+ a sin(theta).
    start
        Heights of the left and the right end [m] and their rates [m/s] at t = 0, (2,) each; x starts from rest. An end
        at exactly +-c touches its wall, and may rest on it or leave.

    Raises
    ------
    InputError
        For a value out of range, a start beyond a wall or moving into it, and if the load does not act against the
        walls, so that rest is never reached.
    """
    positive = {"mass": mass, "inertia": inertia, "half_length": half_length, "clearance": clearance}
    for name, value in positive.items():
        if not (isfinite(value) and value > 0.0):
            raise InputError(f"{name} must be a positive number, got {value!r}.")
    if clearance >= half_length:
        raise InputError(f"clearance {clearance:g} m must be less than half_length {half_length:g} m.")
    if not 0.0 <= restitution < 1.0:
        raise InputError(f"restitution must lie in [0, 1), got {restitution!r}.")
    if not all(isfinite(value) for value in (force, offset, gravity)):
        raise InputError("force, offset and gravity must be finite.")
    if force * offset == 0.0 and gravity == 0.0:
        raise InputError("Without gravity and without a moment of the force the slider never meets the rod.")
    motion = _Motion(mass, inertia, half_length, clearance, force * offset, gravity, restitution, small_angles)
    if start is not None:
        motion.begin(np.asarray(start[0], float), np.asarray(start[1], float))
    motion.run()
    return SliderRod(
        mass=mass,
        inertia=inertia,
        half_length=half_length,
        clearance=clearance,
        force=force,
        offset=offset,
        gravity=gravity,
        restitution=restitution,
        small_angles=small_angles,
        impacts=tuple(motion.impacts),
        segments=tuple(motion.segments),
    )


class _Motion:
    """Proceed from impact to impact; the state is (anchor, rise, rate) of both ends, rise = 0 exactly after a touch."""

    def __init__(self, m: float, J: float, a: float, c: float, moment: float, g: float, e: float, small: bool) -> None:
        self.m, self.J, self.a, self.c, self.moment, self.g, self.e, self.small = m, J, a, c, moment, g, e, small
        self.t = 0.0
        self.anchor, self.rise, self.rate = np.zeros(2), np.zeros(2), np.zeros(2)
        acceleration = abs(g) + a * abs(moment) / J
        self.rest_speed = REST * sqrt(2.0 * c * acceleration)
        self.horizon = 4.0 * sqrt(4.0 * c / acceleration)
        self.impacts: list[Impact] = []
        self.segments: list[_Segment] = []

    def begin(self, heights: Array, rates: Array) -> None:
        """Another start than rest in the middle."""
        if heights.shape != (2,) or rates.shape != (2,) or not np.isfinite([heights, rates]).all():
            raise InputError(f"start must be two heights and two rates, finite, got {heights} and {rates}.")
        if np.any((np.abs(heights) > self.c) | ((np.abs(heights) == self.c) & (heights * rates > 0.0))):
            raise InputError(f"An end starts beyond its wall or moves into it: heights {heights} m, rates {rates} m/s.")
        touching = np.abs(heights) == self.c
        self.anchor, self.rise, self.rate = np.where(touching, heights, 0.0), np.where(touching, 0.0, heights), rates

    def run(self) -> None:
        while True:
            walls = self._held()
            if FREE not in walls:
                supports = self._supports()
                self._add(walls, np.zeros((2, TERMS + 1)), np.outer(supports * walls, np.eye(TERMS + 1)[0]))
                return
            if len(self.impacts) > LIMIT:
                raise InputError(f"More than {LIMIT} impacts; restitution {self.e!r} is too close to 1.")
            self._fly(walls)

    def _sigma(self) -> float:
        left, right = self.anchor + self.rise
        return float((right - left) / (2.0 * self.a))

    def _cos(self) -> float:
        return 1.0 if self.small else cos(asin(self._sigma()))

    def _touching(self) -> list[int]:
        return [end for end in range(2) if self.rise[end] == 0.0 and abs(self.anchor[end]) == self.c]

    def _wall(self, end: int) -> int:
        return LOWER if self.anchor[end] < 0.0 else UPPER

    def _supports(self) -> Array:
        """Upward forces on the two ends that balance the load."""
        return (self.m * self.g + np.array([-1.0, 1.0]) * self.moment / self.a) / 2.0

    def _held(self) -> tuple[int, int]:
        """Which of the touching ends stay: the complementarity problem of accelerations and forces, by cases."""
        still = [end for end in self._touching() if self.rate[end] == 0.0]
        wall = {end: self._wall(end) for end in still}
        if len(still) == 2 and all(self._supports()[end] * wall[end] >= 0.0 for end in still):
            return wall[0], wall[1]
        for held in still:
            walls = (wall[held], FREE) if held == 0 else (FREE, wall[held])
            rise, force = self._series(walls)
            other = 1 - held
            if force[held, 0] >= 0.0 and (other not in still or rise[other, 2] * wall[other] >= 0.0):
                return walls
        return FREE, FREE

    def _series(self, walls: tuple[int, int]) -> tuple[Array, Array]:
        """Taylor coefficients of the heights and of the normal forces, at most one end being held."""
        m, J, a, g = self.m, self.J, self.a, self.g
        held = next((end for end in range(2) if walls[end] != FREE), None)
        mu, load = (0.0, -self.moment) if held is None else (m * a * a, (1 - 2 * (1 - held)) * m * g * a - self.moment)
        rate = (self.rate[1] - self.rate[0]) / (2.0 * a)
        sigma = np.zeros(TERMS + 1)
        sigma[:2] = self._sigma(), rate
        if self.small:
            sigma[2] = load / (2.0 * (J + mu))
        else:
            _pendulum(sigma, J, mu, load)
        rise, force = np.zeros((2, TERMS + 1)), np.zeros((2, TERMS + 1))
        rise[:, 0], rise[:, 1] = self.rise, self.rate
        if held is None:
            rise[:, 2:] = np.outer([-a, a], sigma[2:])
            rise[:, 2] -= g / 2.0
        else:
            away = 1.0 if held == 0 else -1.0
            rise[held, 1:] = 0.0
            rise[1 - held, 2:] = away * 2.0 * a * sigma[2:]
            force[held, :-2] = away * a * m * _derivative(sigma, 2)[:-2]
            force[held, 0] += m * g
            force[held] *= walls[held]
        return rise, force

    def _fly(self, walls: tuple[int, int]) -> None:
        """Smooth motion to the next impact, or to where the series must be cut."""
        rise, force = self._series(walls)
        reach = self.horizon
        for n in (TERMS - 1, TERMS):
            size = float(np.max(np.abs(rise[:, n])))
            if size > 0.0:
                reach = min(reach, (CUT * self.c / size) ** (1.0 / n))
        landing = [self._landing(end, rise[end], reach) if walls[end] == FREE else (inf, FREE) for end in range(2)]
        first = min(landing)[0]
        span = min(first, reach)
        held = [end for end in range(2) if walls[end] != FREE]
        if any(np.min(_value(force[end], np.linspace(0.0, span, 9))) < 0.0 for end in held):
            raise InputError("A contact lifts off within a smooth phase; this solution does not cover such a load.")
        self._add(walls, rise, force)
        self.t += span
        for end in range(2):
            self.rise[end] = _value(rise[end], span)
            self.rate[end] = _value(_derivative(rise[end], 1), span)
        landed = [end for end in range(2) if landing[end][0] - first <= 1e-15 * first]
        if first <= reach:
            for end in landed:
                self.anchor[end], self.rise[end] = -landing[end][1] * self.c, 0.0
            self._impact()

    def _landing(self, end: int, rise: Array, reach: float) -> tuple[float, int]:
        """Time to the next touch of a free end and the wall it touches."""
        found = [(inf, FREE)]
        for wall in (LOWER, UPPER):
            gap = wall * rise
            gap[0] += self.c + wall * self.anchor[end]
            while gap[0] == 0.0 and np.any(gap):  # a factor of time for every vanishing coefficient
                gap = np.append(gap[1:], 0.0)
            found.append((_first_zero(gap, reach), wall))
        return min(found)

    def _impact(self) -> None:
        """Newton's law for the touching ends, as a complementarity problem solved by cases."""
        ends = self._touching()
        sign = np.array([self._wall(end) for end in ends], float)
        lever = np.array([2.0 * end - 1.0 for end in ends]) * self.a * self._cos()
        before = sign * self.rate[ends]
        delassus = np.outer(sign, sign) * (1.0 / self.m + np.outer(lever, lever) / self.J)
        P = _complementary(delassus, before * (1.0 + self.e))
        after = before + delassus @ P
        after[P > 0.0] = -self.e * before[P > 0.0]
        for i, end in enumerate(ends):
            if P[i] > 0.0:
                self.impacts.append(Impact(self.t, _contact(end, int(sign[i])), float(P[i]), before[i], after[i]))
        effect = np.array([[1.0, -1.0], [1.0, 1.0]])
        y_rate = float(sign @ P) / self.m
        turn = float(lever @ (sign * P)) / self.J * self.a * self._cos()
        self.rate += effect @ [y_rate, turn]
        for i, end in enumerate(ends):
            self.rate[end] = sign[i] * (after[i] if after[i] > self.rest_speed else 0.0)

    def _add(self, walls: tuple[int, int], rise: Array, force: Array) -> None:
        self.segments.append(_Segment(self.t, walls, self.anchor.copy(), rise, force))


def _contact(end: int, wall: int) -> str:
    return CONTACTS[2 * end + (wall == UPPER)]


def _pendulum(sigma: Array, J: float, mu: float, load: float) -> None:
    """Fill in the Taylor coefficients of (J w + mu w^2) sigma'' = load w^2 - J sigma sigma'^2 from the first two."""
    acceleration = np.zeros(TERMS + 1)
    for n in range(TERMS - 1):
        rate = _derivative(sigma, 1)[: n + 1]
        w = -np.convolve(sigma[: n + 1], sigma[: n + 1])[: n + 1]
        w[0] += 1.0
        ww = np.convolve(w, w)[: n + 1]
        bend = np.convolve(sigma[: n + 1], np.convolve(rate, rate)[: n + 1])[: n + 1]
        inertia = J * w + mu * ww
        known = acceleration[:n] @ inertia[n:0:-1]
        acceleration[n] = (load * ww[n] - J * bend[n] - known) / inertia[0]
        sigma[n + 2] = acceleration[n] / ((n + 1) * (n + 2))


def _values(series: Array, index: NDArray[np.intp], t: Array) -> Array:
    """Series of both ends (2, ..) at times t since the starts of the segments `index`; `series` (s, 2, powers)."""
    found = np.zeros((2, *t.shape))
    for k in range(series.shape[-1] - 1, -1, -1):
        found = np.moveaxis(series[index, ..., k], -1, 0) + found * t
    return found


def _value(series: Array, t: float | Array) -> Array:
    return np.asarray(np.polynomial.polynomial.polyval(t, series), float)


def _derivative(series: Array, order: int) -> Array:
    for _ in range(order):
        series = np.append(series[1:] * np.arange(1, len(series)), 0.0)
    return series


def _first_zero(series: Array, reach: float) -> float:
    """Smallest t in (0, reach] at which a series that starts positive turns negative; inf if there is none."""
    from scipy.optimize import brentq

    grid = np.linspace(0.0, reach, 33)
    values = _value(series, grid)
    below = np.flatnonzero(values < 0.0)
    if below.size == 0:
        return inf
    low, high = grid[max(below[0] - 1, 0)], grid[below[0]]
    t = float(brentq(lambda x: float(_value(series, x)), low, high, xtol=1e-300, rtol=1e-15, maxiter=1000))
    slope = _value(_derivative(series, 1), t)
    return t - float(_value(series, t) / slope) if slope else t


def _complementary(matrix: Array, offset: Array) -> Array:
    """z >= 0 with matrix z + offset >= 0 and z (matrix z + offset) = 0, for one or two rows."""
    n = len(offset)
    best, answer = inf, np.zeros(n)
    for mask in range(2**n):
        chosen = [i for i in range(n) if mask >> i & 1]
        z = np.zeros(n)
        if chosen:
            z[chosen] = np.linalg.solve(matrix[np.ix_(chosen, chosen)], -offset[chosen])
        w = matrix @ z + offset
        w[chosen] = 0.0
        violation = -min(np.min(np.diag(matrix) * z), np.min(w), 0.0)
        if violation < best:
            best, answer = violation, np.maximum(z, 0.0)
    return answer
