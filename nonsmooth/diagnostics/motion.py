"""Motion of a run: cubic polynomials between rows with both limits at rows; momentum, deformation and energy losses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.flexible_bodies import FlexibleBody, restored_flexible
from nonsmooth.settings import checked, hint
from nonsmooth.trajectory import Columns, Trajectory

KINDS = ("q", "v", "gap", "gap_rate")  # kinds of quantities that have pieces
RATES = {"v": "q", "gap_rate": "gap"}  # by kind of a rate the kind of the quantity
ABOUT, LAST = 5e-3, 1e-9  # relative difference of a chord's slope from the mean of the rates that is regarded as zero
ALL = slice(None)
QUATERNION = ("qw", "qx", "qy", "qz")

Side = Literal["left", "right"]


@checked
def coordinates(trajectory: Trajectory, t: Array) -> Array:
    """Coordinates (len(t), nq) [m] or [rad] at any times of the run.

    A coordinate follows the cubic Hermite interpolant of its values and of its rate's right limit at the start and left
    limit at the end of each step, see `rate_of`; for linear interpolation see `bow`.

    Parameters
    ----------
    t : times [s]; those outside the run count as its start or end
    """
    rows = trajectory.t
    if len(rows) < 2:
        return np.repeat(trajectory.q.array[:1], len(t), axis=0)
    dt = np.diff(rows)
    t = np.clip(t, rows[0], rows[-1])
    k = np.clip(np.searchsorted(rows, t, side="right") - 1, 0, len(dt) - 1)
    s = (t - rows[k]) / dt[k]
    steps, among = np.unique(k, return_inverse=True)  # those required, of a run of perhaps a million
    whole = _steps_without_impact_inside(trajectory)[steps]
    table = np.empty((len(trajectory.q), len(t)))
    for column, (name, values) in zip(table, trajectory.q.items(), strict=True):
        column[:] = values[k] + s * (values[k + 1] - values[k])
        start, end = rate_of(trajectory, name, "right", steps), rate_of(trajectory, name, "left", steps + 1)
        if start is not None and end is not None:
            column += bow(values[steps + 1] - values[steps], dt[steps], start, end, whole)(among, s)
    return table.T


def window_of(trajectory: Trajectory, given: tuple[float, float] | None, name: str = "window") -> tuple[float, float]:
    """A part of a run [s], all of it where none is given; InputError for one that is not within the run."""
    first, last = float(trajectory.t[0]), float(trajectory.t[-1])
    if given is None:
        return first, last
    if not (len(given) == 2 and first <= given[0] < given[1] <= last):
        raise InputError(f"{name} must be two times [s] within the run, {first:g} to {last:g} s, got {given!r}.")
    return float(given[0]), float(given[1])


def rate_of(trajectory: Trajectory, name: str, side: Side, rows: NDArray[np.intp] | slice = ALL) -> Array | None:
    """Rate of a coordinate at rows: a velocity, or of a quaternion ``q' = q ∘ (0, omega) / 2``; None of another one."""
    v = trajectory.v if side == "right" else trajectory.left.v
    if name in v:
        return v[name][rows]
    body, _, label = name.rpartition(".")
    if label not in QUATERNION or f"{body}.wx" not in v:
        return None
    q = {entry: trajectory.q[f"{body}.{entry}"][rows] for entry in QUATERNION}
    a, b, c = (v[f"{body}.w{axis}"][rows] for axis in "xyz")
    rates = {
        "qw": -q["qx"] * a - q["qy"] * b - q["qz"] * c,
        "qx": q["qw"] * a - q["qz"] * b + q["qy"] * c,
        "qy": q["qz"] * a + q["qw"] * b - q["qx"] * c,
        "qz": -q["qy"] * a + q["qx"] * b + q["qw"] * c,
    }
    return np.asarray(rates[label] / 2)


def _steps_without_impact_inside(trajectory: Trajectory) -> NDArray[np.bool_]:
    """Steps (n - 1,) with no impact between their rows; rows left out by `record` leave impacts inside."""
    rows = trajectory.t
    whole = np.ones(len(rows) - 1, bool)
    inside = np.setdiff1d(trajectory.impacts["t"], rows)
    whole[np.clip(np.searchsorted(rows, inside) - 1, 0, len(rows) - 2)] = False
    return whole


def bow(
    moved: Array, dt: Array, v_start: Array, v_end: Array, whole: NDArray[np.bool_]
) -> Callable[[Any, Array], Array]:
    """Difference of the cubic Hermite interpolant and the chord of step k, in which a coordinate moves by `moved`, at
    the share s; zero in steps that are not `whole`, or of implicit Euler, which moves with its final velocity."""
    slope = moved / dt
    # of one smooth motion the chord's slope is about the mean of the rates; of implicit Euler it is the last one
    off, size = np.abs(slope - (v_start + v_end) / 2), np.abs(v_start) + np.abs(v_end)
    turning = (off <= ABOUT * size) & (np.abs(slope - v_end) > LAST * size)  # where the rate has an extremum
    smooth = whole & ((off <= np.abs(v_end - v_start) / 4) | turning)
    rise, fall = np.where(smooth, (v_start - slope) * dt, 0.0), np.where(smooth, (slope - v_end) * dt, 0.0)
    return lambda k, s: s * (1 - s) * ((1 - s) * rise[k] + s * fall[k])


@dataclass(frozen=True, eq=False)
class Pieces:
    """A polynomial of degree 3 for each step, in the share s of its length, and the limits outside.

    Parameters
    ----------
    t : (n,) [s], of the rows
    coefficients : of 1, s, s^2, s^3 (n - 1, 4)
    first, last : left limit at the first row, right limit at the last one
    """

    t: Array
    coefficients: Array
    first: float
    last: float

    def __call__(self, t: Array, side: Side = "right") -> Array:
        """One-sided limits (len(t),) at times, of which those outside the run count as its start or end."""
        t = np.clip(np.asarray(t, float), self.t[0], self.t[-1])
        if len(self.t) < 2:
            return np.full(len(t), self.first if side == "left" else self.last)
        k = np.clip(np.searchsorted(self.t, t, side=side) - 1, 0, len(self.t) - 2)
        values = self.at(k, (t - self.t[k]) / (self.t[k + 1] - self.t[k]))
        if side == "left":
            values[t == self.t[0]] = self.first
        else:
            values[t == self.t[-1]] = self.last
        return values

    def at(self, k: NDArray[np.intp], s: Array) -> Array:
        """Values at the shares s of the lengths of steps k."""
        a, b, c, d = self.coefficients[k].T
        return np.asarray(a + s * (b + s * (c + s * d)))


@checked
def pieces(trajectory: Trajectory, kind: str, name: str) -> Pieces:
    """A coordinate, velocity, gap or rate of a gap between the rows.

    Coordinates and gaps follow the cubic Hermite interpolant of their values and of their rate's right limit at the
    start and left limit at the end of each step, rates its derivative; that of a quaternion follows from the angular
    velocity. Interpolation is linear for angular velocities in space, and for all quantities if values and rates do not
    belong to one smooth motion: across an impact inside a step (with rows omitted by `record`) and in steps of implicit
    Euler. InputError for an unknown kind or name.

    Parameters
    ----------
    kind : "q", "v", "gap" or "gap_rate"
    """
    values = columns(trajectory, kind)[name]
    before, after = values[:-1], values[1:]
    first, last = float(values[0]), float(values[-1])
    if kind in RATES:
        left = getattr(trajectory.left, kind)[name]
        after, first = left[1:], float(left[0])
    none = np.zeros(len(before))
    straight = np.column_stack([before, after - before, none, none])
    base = RATES.get(kind, kind)
    right = left = None  # rates of the coordinate or gap
    if base == "q":
        if name in trajectory.q:
            right, left = rate_of(trajectory, name, "right"), rate_of(trajectory, name, "left")
    elif name in trajectory.gap and name in trajectory.gap_rate:
        right, left = trajectory.gap_rate[name], trajectory.left.gap_rate[name]
    if len(values) < 2 or right is None or left is None:
        return Pieces(trajectory.t, straight, first, last)
    dt, x = np.diff(trajectory.t), getattr(trajectory, base)[name]
    bulge = bow(np.diff(x), dt, right[:-1], left[1:], _steps_without_impact_inside(trajectory))
    # bulge(s) = s (1 - s) ((1 - s) rise + s fall), of which a quarter and three quarters tell rise and fall
    k = np.arange(len(dt))
    low, high = bulge(k, np.full(len(dt), 0.25)) * 16 / 3, bulge(k, np.full(len(dt), 0.75)) * 16 / 3
    rise, fall = (3 * low - high) / 2, (3 * high - low) / 2
    cubic = np.column_stack([x[:-1], np.diff(x) + rise, fall - 2 * rise, rise - fall])
    if kind == base:
        return Pieces(trajectory.t, cubic, first, last)
    smooth = (rise != 0.0) | (fall != 0.0)
    slope = np.column_stack([cubic[:, 1], 2 * cubic[:, 2], 3 * cubic[:, 3], none]) / dt[:, None]
    slope[:, 0] = before  # the limits themselves, without the round-off of the chord
    return Pieces(trajectory.t, np.where(smooth[:, None], slope, straight), first, last)


@checked
def sampled(trajectory: Trajectory, kind: str, t: Array, side: Side = "right") -> Columns:
    """All columns of a kind at any times, as of `pieces`."""
    known = columns(trajectory, kind)
    values = [pieces(trajectory, kind, name)(t, side) for name in known]
    table = np.array(values).reshape(len(known), len(t)).T
    return Columns(known.what, known.names, table, known.unit_list)


def columns(trajectory: Trajectory, kind: str) -> Columns:
    """The trajectory's columns of a kind of `KINDS`; InputError for another one."""
    if kind not in KINDS:
        raise InputError(
            f"There is no kind {kind!r} of quantity here.{hint(kind, KINDS)} Take one of {', '.join(KINDS)}."
        )
    return getattr(trajectory, kind)


PLANAR, SPATIAL = ("PlanarBody", "PlanarFlexibleBody"), ("SpatialBody", "SpatialFlexibleBody")  # kinds of bodies


@checked
def dissipated(trajectory: Trajectory) -> dict[str, float]:
    """Energy [J] that the run has lost by cause.

    ``impacts`` of rigid contacts, ``contact`` for the hysteresis of compliant ones, ``friction``, and ``damping`` of
    dampers. Numerical dissipation is not included: see the remainder of `EnergyLedger`.
    """
    losses = ("impacts", "contact", "friction", "damping")
    return {name: float(getattr(trajectory.certificate.energy, f"loss_{name}")) for name in losses}


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum of each body and in total, at the rows (right limits at impacts).

    Parameters
    ----------
    bodies : names (nb,)
    linear : m v of each body (n, nb, d) [kg m/s] in d dimensions, global frame
    angular
        About the origin of the global frame, J omega + r x m v [kg m^2/s]: (n, nb) in the plane, (n, nb, 3) in space in
        the global frame. Of flexible bodies with their deformation.
    """

    bodies: tuple[str, ...]
    linear: Array
    angular: Array

    @property
    def total_linear(self) -> Array:
        """(n, d) [kg m/s]."""
        return np.asarray(self.linear.sum(axis=1))

    @property
    def total_angular(self) -> Array:
        """(n,) [kg m^2/s] in the plane, (n, 3) in space."""
        return np.asarray(self.angular.sum(axis=1))


@checked
def momentum(trajectory: Trajectory) -> Momentum:
    """Linear and angular momentum; masses are those of the run's manifest.

    >>> from nonsmooth import Model, MoreauJean, PlanarBody, SpatialBody, simulate
    >>> puck = PlanarBody("puck", mass=2.0, inertia=0.1, position=(0.0, 1.0), velocity=(3.0, 0.0), angular_velocity=5.0)
    >>> run = simulate(Model([puck]).build(), MoreauJean(), t_end=0.1, dt=0.1)
    >>> momentum(run).total_linear[-1].tolist(), float(momentum(run).total_angular[-1])
    ([6.0, 0.0], -5.5)
    >>> top = SpatialBody("top", mass=2.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0.0, 0.0, 5.0))
    >>> momentum(simulate(Model([top]).build(), MoreauJean(), t_end=0.1, dt=0.1)).total_angular[-1].tolist()
    [0.0, 0.0, 1.0]
    """
    kinds = {element["name"]: element["kind"] for element in trajectory.manifest["model"]["elements"]}
    bodies = tuple(name for name, kind in kinds.items() if kind in PLANAR + SPATIAL)
    value = {name: entry["value"] for name, entry in trajectory.manifest["parameters"].items()}
    mass = np.array([value[f"{body}.mass"] for body in bodies])
    spatial, flexible = any(kind in SPATIAL for kind in kinds.values()), _flexible_bodies(trajectory)
    axes = "xyz" if spatial else "xy"

    def columns(table: str, label: str) -> Array:
        named = getattr(trajectory, table)
        return np.array([named[f"{body}.{label}"] for body in bodies]).reshape(len(bodies), -1).T

    r = np.stack([columns("q", axis) for axis in axes], axis=2)
    linear = np.stack([mass * columns("v", axis) for axis in axes], axis=2)
    if not spatial:
        inertia = np.array([value[f"{body}.inertia"] for body in bodies])
        x, y, u, w = r[..., 0], r[..., 1], columns("v", "x"), columns("v", "y")
        own = inertia * columns("v", "angle")
        for i, body in enumerate(bodies):
            if body in flexible:
                own[:, i : i + 1] = _with_deformation(trajectory, flexible[body], own[:, i : i + 1])
        return Momentum(bodies, linear, own + mass * (x * w - y * u))
    spin = []  # R J omega (n, 3) about the centre of mass in the global frame
    for body in bodies:
        labels = ("xx", "yy", "zz", "xy", "xz", "yz")
        xx, yy, zz, xy, xz, yz = (value.get(f"{body}.inertia_{label}", 0.0) for label in labels)
        omega = np.column_stack([trajectory.v[f"{body}.w{axis}"] for axis in "xyz"])
        own = omega @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if body in flexible:
            own = _with_deformation(trajectory, flexible[body], own)
        w = trajectory.q[f"{body}.qw"][:, None]
        u = np.column_stack([trajectory.q[f"{body}.q{axis}"] for axis in "xyz"])
        # the rotation of a vector by a quaternion of norm n, over n^2, as a placement has it
        turned = (w * w - (u * u).sum(axis=1, keepdims=True)) * own + 2 * w * np.cross(u, own)
        turned += 2 * u * (u * own).sum(axis=1, keepdims=True)
        spin.append(turned / (w * w + (u * u).sum(axis=1, keepdims=True)))
    return Momentum(bodies, linear, np.stack(spin, axis=1) + np.cross(r, linear))


def _with_deformation(trajectory: Trajectory, body: FlexibleBody, moments: Array) -> Array:
    """Angular momenta (n, 1 or 3) about the mass centre, in the frame, from those of the undeformed body."""
    eta = np.array([trajectory.q[f"{body.name}.eta{i + 1}"] for i in range(body.count)])
    symbols = ca.SX.sym("eta", body.count), ca.SX.sym("moment", moments.shape[1])
    moment = ca.Function("moment", [*symbols], [body.frame.moment(*symbols)])
    return np.asarray(moment(eta, moments.T)).T


@checked
def node_positions(trajectory: Trajectory, node: str) -> Array:
    """Positions of a node ``"body.node"`` at the rows (n, d) [m], in the ground frame.

    InputError if the run has no such body or node.

    >>> from nonsmooth import Model, MoreauJean, PlanarFlexibleBody, simulate
    >>> from nonsmooth.flexible import Material, Rectangle, beam, modes
    >>> steel = Material(youngs=2.1e11, shear=8e10, density=7850.0)
    >>> rod = beam((0, 0, 0), (0.3, 0, 0), section=Rectangle(0.01, 0.02), material=steel, names={"crank": 0, "pin": 1})
    >>> body = PlanarFlexibleBody("rod", modes(rod, interface=("crank", "pin"), keep=2, damping=0.01))
    >>> run = simulate(Model([body]).build(), MoreauJean(), t_end=1e-3, dt=1e-3)
    >>> node_positions(run, "rod.pin").round(6).tolist()
    [[0.15, 0.0], [0.15, 0.0]]
    """
    name, _, own = node.partition(".")
    body = _flexible_body(trajectory, name)
    if own not in body.nodes:
        raise InputError(f'The flexible body "{name}" has no node "{own}"; its nodes are {", ".join(body.nodes)}.')
    q, v = ca.SX.sym("q", len(body.q_columns)), ca.SX.zeros(len(body.v_columns))
    place = ca.Function("place", [q], [body.node_placement(own, q, v)[0].position])
    columns = np.array([trajectory.q[f"{name}.{label}"] for label, _ in body.q_columns])
    return np.asarray(place(columns)).T


@checked
def stresses(trajectory: Trajectory, body: str) -> Array:
    """Stresses at the stations of a flexible body's modes at the rows (n, stations, components) [Pa].

    Places and components are those of its `Modes`: ``stations`` and ``components``. InputError if the run has no such
    body.
    """
    found = _flexible_body(trajectory, body)
    eta = np.array([trajectory.q[f"{body}.eta{i + 1}"] for i in range(found.count)])
    return np.asarray(np.einsum("kcm,mn->nkc", found.modes.stresses, eta))


def _flexible_bodies(trajectory: Trajectory) -> dict[str, FlexibleBody]:
    """The flexible bodies of a run by name, from its manifest."""
    elements = trajectory.manifest["model"]["elements"]
    return {one["name"]: body for one in elements if (body := restored_flexible(one)) is not None}


def _flexible_body(trajectory: Trajectory, name: str) -> FlexibleBody:
    known = _flexible_bodies(trajectory)
    if name not in known:
        raise InputError(f'The run has no flexible body "{name}"; it has {", ".join(known) or "none"}.')
    return known[name]
