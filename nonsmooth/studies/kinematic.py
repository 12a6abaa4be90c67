"""Position errors of a mechanism from the tolerances of its dimensions and from clearance, without dynamics.

Every joint with clearance becomes an ideal joint whose point in the first body is displaced by a vector e of the length
of the clearance, ``|e| = c``, from the centre of the bearing to that of the journal: contact without motion in it. Its
direction is that of the load, a given angle, or random. Closing the joints then gives the positions of each product,

    g(t, q, p + dp, e) = 0,

for many products together by Newton's method, or to first order, ``dq = -(dg/dq)^-1 dg/dp dp``. Tilt of a journal in
its bearing is not regarded, nor axial clearance. `Starts` closes the joints of runs with other dimensions.
"""

import contextlib
import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, ModelWarning
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.closing import closed_start
from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
from nonsmooth.model.fits import Fit, Scatter
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.joints import Joint
from nonsmooth.model.model import Model
from nonsmooth.model.review import REMARKS
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.quantities import in_si
from nonsmooth.settings import is_number, require, shown
from nonsmooth.studies.arguments import mapping

#: directions of a clearance vector that are no angle: that of the static load, and uniformly distributed
LOAD, ANY = "load", "any"
#: largest change of a held coordinate [rad or m] in one step to a pose, and steps between two times
STRIDE, MOMENTS = 0.05, 32
#: residual [m or rad] at which joints are closed: round-off of lengths of the order of 1 m; Newton steps to get there
CLOSED, ITERATIONS = 1e-13, 20
ADMITTED = 1e-10  # residual up to which round-off of large mechanisms is admitted
TOGETHER = 20_000  # products that are solved together
VANISHING = 1e-9  # static load in a joint, as a share of the largest, below which it has no direction


def ideal_name(system: System, known: Mapping[str, float], name: str) -> str | None:
    """The parameter of the mechanism with ideal joints that stands for one of the mechanism; None if there is none."""
    if name in known:
        return name
    owner, _, label = name.partition(".")
    clearances = (one for one in system.elements if one.name == owner and isinstance(one, Clearance))
    # the points of a guide and of a slider are those of the bodies a and b of the ideal joint
    pairs = ((field, body) for one in clearances for field, body in zip(one.body_fields, "ab", strict=True))
    names = (f"{owner}.{label.replace(f'at_{field}', f'at_{body}')}" for field, body in pairs)
    return next((one for one in names if one in known), None)


@dataclass(eq=False, repr=False)
class Starts:
    """Initial states of a system with other parameters: least motion closes joints, and ideal ones for clearances."""

    system: System

    @cached_property
    def ideal(self) -> System:
        """The mechanism with ideal joints, its start that of the system."""
        made = Model(self.system.elements, name=self.system.name, silence=REMARKS).ideal()
        return made.build(assemble=made.assemble())

    def moved_by(self, names: tuple[str, ...]) -> bool:
        """Whether one of the parameters is that of a joint or the point of a clearance, so that starts differ."""
        joints = {element.name for element in self.ideal.elements if isinstance(element, Joint)}
        mapped = (ideal_name(self.system, self.ideal.parameters, name) for name in names)
        return any(name is not None and name.partition(".")[0] in joints for name in mapped)

    def of(self, parameters: Mapping[str, float]) -> State:
        """The initial state for changed parameters; ModelError if the joints cannot be closed."""
        known = self.ideal.parameters
        mapped = {ideal_name(self.system, known, name): value for name, value in parameters.items()}
        values = self.ideal.parameter_vector({name: x for name, x in mapped.items() if name is not None})
        found = closed_start(self.ideal, self.system.start, values)
        return dataclasses.replace(self.system.start, q=found.q, v=found.v)


@dataclass(frozen=True, eq=False)
class _Slack:
    """The clearance of a joint: its name, the indices of the displaced point, and a basis of its directions."""

    name: str
    columns: list[int]
    basis: Array  # orthonormal (dimension, freedoms), in the frame of the first body
    towards: list[Array] | None  # at each pose the unit vector in the frame of the first body; None if random

    @property
    def labels(self) -> list[str]:
        """Inputs of a random direction, as ``"pin.direction_1"``."""
        return [f"{self.name}.direction_{i + 1}" for i in range(self.basis.shape[1])]


class Kinematics:
    """Deviations of a coordinate from its nominal value, as a function of dimensions and clearances.

    InputError for unknown names, freedoms that nothing holds, or a joint without load that is to be directed by it.

    Parameters
    ----------
    mechanism : System or Model, planar or spatial, of rigid bodies
    coordinate : such as ``"slider.x"``
    pose
        Coordinates that are held, with one value each or several for several poses; as many as the mechanism without
        its drivers has degrees of freedom, ``{"crank.angle": "45 deg"}``. Drivers are then left out.
    t : [s], without a pose: the time, or times, at which drivers are evaluated; 0 by default
    directions
        By joint: ``"load"`` (from the static loads at each pose, the default), ``"any"`` (random), or in the plane an
        angle [rad] in the ground frame, in space a vector, from the centre of the bearing to that of the journal.
    parameters : changes of parameters by name, fits among them

    Attributes
    ----------
    inputs
        Distributions of what scatters in the model, by name: fits, toleranced dimensions, and of each clearance with a
        random direction standard normal components ``"pin.direction_1"``, ..., which are divided by their length.
    nominal : the coordinate at each pose without clearance (poses,)
    """

    def __init__(
        self, mechanism: System | Model, coordinate: str, *, pose: Mapping[str, Any] | None = None,
        t: float | Sequence[float] | Array | None = None, directions: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        own = mechanism.build() if isinstance(mechanism, Model) else mechanism
        if any(isinstance(element, FlexibleBody) for element in own.elements):
            raise InputError("The kinematic level is for rigid bodies; deformation depends on the dynamics.")
        self._own = own
        held = mapping("pose", pose)
        if held and t is not None:
            raise InputError("Give a pose or times, not both: at a pose drivers are left out.")
        kept = [e for e in own.elements if not (held and isinstance(e, PrescribedMotion | PrescribedPose))]
        # remarks were made on the mechanism itself
        self.system = Model(kept, name=own.name, silence=REMARKS).ideal().build(assemble=True)
        self.coordinate = coordinate
        self._names = list(self.system.parameters)
        self._clearances = {e.name: e for e in own.elements if isinstance(e, Clearance)}
        self._output = _column(self.system, coordinate)
        poses = _poses(self.system, held, t)
        self._held = [_column(self.system, name) for name in held]
        self._solve = self._functions()
        self.parameters = self.system.parameter_values.copy()
        stated = own.toleranced(parameters)
        for name, value in {**{k: float(x) for k, x in stated.items()}, **mapping("parameters", parameters)}.items():
            if not self._is_clearance(name) and (place := self._place(name)) is not None:
                self.parameters[place] = float(value)
        self._poses = self._reached(poses)
        self.nominal = np.array([q[self._output] for _, _, q in self._poses])
        self._slacks = self._slack(directions)
        own.parameter_vector(parameters)  # raises the error for an unknown name
        self._values = {**own.parameters, **{k: float(x) for k, x in stated.items()}}
        self._values |= {name: float(x) for name, x in mapping("parameters", parameters).items() if is_number(x)}
        self.inputs: dict[str, Any] = {
            k: x for k, x in stated.items() if self._is_clearance(k) or self._place(k) is not None
        } | self.random_directions
        self._first = []  # derivatives of the coordinate by every parameter of the ideal mechanism
        for time, values, q in self._poses:
            slopes, output, _ = (np.asarray(x) for x in self._slopes(time, q, self.parameters))
            rows = np.asarray(self._solve(time, q, self.parameters, values)[1])
            padded = np.vstack([slopes, np.zeros((len(self._held), slopes.shape[1]))])
            self._first.append(np.asarray(-(output @ np.linalg.lstsq(rows, padded, rcond=None)[0])).ravel())

    @property
    def random_directions(self) -> dict[str, Any]:
        """Inputs that are components of random directions: uniform, without a cut, for standard normal components."""
        from scipy.stats import norm

        return {label: norm() for slack in self._slacks if slack.towards is None for label in slack.labels}

    def deviations(self, names: Sequence[str], values: Array) -> Array:
        """Signed deviations of products (n, poses) from the nominal coordinate, by closing their joints.

        NaN where these cannot be closed, or a clearance is negative.

        Parameters
        ----------
        names : the inputs that vary, such as ``list(kinematics.inputs)``; others keep the values of the model
        values : one row per product (n, len(names))
        """
        values, names, found = np.atleast_2d(np.asarray(values, dtype=float)), list(names), []
        clearances = [i for i, name in enumerate(names) if self._is_clearance(name)]
        for part in (values[k : k + TOGETHER] for k in range(0, len(values), TOGETHER)):
            possible, columns = np.all(part[:, clearances] >= 0.0, axis=1), []
            for k, (t, held, q) in enumerate(self._poses):
                p = self.parameters + self._changes(names, part, k)
                closed, worst = self._newton(t, held, q, p, nominal=True)
                deviation = closed[:, self._output] - self.nominal[k]
                columns.append(np.where(possible & (worst < ADMITTED), deviation, np.nan))
            found.append(np.stack(columns, axis=1))
        return np.concatenate(found)

    def linearised(self, names: Sequence[str], values: Array) -> Array:
        """Deviations (n, poses) to first order in dimensions and clearances, see `deviations`."""
        values = np.atleast_2d(np.asarray(values, dtype=float))
        return np.stack([self._changes(list(names), values, k) @ row for k, row in enumerate(self._first)], axis=1)

    @property
    def sensitivities(self) -> dict[str, Array]:
        """Derivatives of the coordinate at each pose by what scatters, clearances in contact."""
        return {name: self.derivative(name) for name in self.inputs if name not in self.random_directions}

    def derivative(self, name: str) -> Array:
        """Derivative of the coordinate at each pose by a dimension, or by a clearance in contact.

        In contact of random direction: the largest of all directions.
        """
        if not self._is_clearance(name):
            place = self._place(name)
            return np.array([0.0 if place is None else row[place] for row in self._first])
        slack = next(one for one in self._slacks if f"{one.name}.clearance" == name)
        rows = [row[slack.columns] for row in self._first]
        if slack.towards is None:
            return np.array([np.linalg.norm(row @ slack.basis) for row in rows])
        return np.array([row @ towards for row, towards in zip(rows, slack.towards, strict=True)])

    def bands(self, distributions: Mapping[str, Any] | None = None) -> dict[str, float]:
        """Half widths of the deviation at the worst pose: root sum of squares of 3 sd, and worst case.

        Of the fits and toleranced dimensions among the distributions, those of the model if omitted; empty if there are
        none. The mean of a clearance that is loaded one way shifts the band, which is part of the worst case alone.
        """
        given = self.inputs if distributions is None else distributions
        scatter = {name: one for name, one in given.items() if isinstance(one, Scatter)}
        if not scatter:
            return {}
        slopes = np.abs([self.derivative(name) for name in scatter])
        sds = np.array([one.sd for one in scatter.values()])
        most = np.array([one.upper - (0.0 if isinstance(one, Fit) else one.middle) for one in scatter.values()])
        rss = 3.0 * np.sqrt(np.sum((slopes * sds[:, None]) ** 2, axis=0))
        return {"rss": float(np.max(rss)), "worst": float(np.max(most @ slopes))}

    def _is_clearance(self, name: str) -> bool:
        owner, _, label = name.partition(".")
        return owner in self._clearances and label == "clearance"

    def _place(self, name: str) -> int | None:
        """Index of a parameter of the mechanism among those of the ideal one; None if it has none."""
        found = ideal_name(self._own, self.system.parameters, name)
        return None if found is None else self._names.index(found)

    def _functions(self) -> ca.Function:
        """(t, q, p, held) -> residual of joints and held coordinates, and its derivative by the velocities."""
        s = self.system
        t, q, p = ca.SX.sym("t"), ca.SX.sym("q", s.nq), ca.SX.sym("p", len(self._names))
        held = ca.SX.sym("held", len(self._held))
        B = s.B(q)
        residual = ca.vertcat(s.g(t, q, p), q[self._held] - held)
        rows = ca.vertcat(s.W_g(t, q, p).T, B[self._held, :])
        u = ca.SX.sym("u", s.nv)
        self._advance = ca.Function("advance", [q, u], [s.advance(q, u, 1.0)])
        slopes = ca.jacobian(s.g(t, q, p), p)
        self._slopes = ca.Function("slopes", [t, q, p], [slopes, B[self._output, :], s.h(t, q, ca.SX.zeros(s.nv), p)])
        self._residual = ca.Function("residual", [t, q, p, held], [residual])
        return ca.Function("closing", [t, q, p, held], [residual, ca.densify(rows)])

    def _newton(self, t: float, held: Array, q: Array, p: Array, nominal: bool = False) -> tuple[Array, Array]:
        """Closed positions (n, nq) of products from a guess (nq,), and their largest residuals (n,).

        With `nominal` by the derivative at the guess before Newton's method: products deviate by a thousandth of a
        length, so that every such step gains three digits.
        """
        n, nv = len(p), self.system.nv
        times, at, held_all = np.full((1, n), t), np.tile(q[:, None], (1, n)), np.tile(held[:, None], (1, n))
        advance, worst = self._advance.map(n), np.full(n, np.inf)
        closing = (self._residual if nominal else self._solve).map(n)
        inverse = np.linalg.pinv(np.asarray(self._solve(t, q, self.parameters, held)[1])) if nominal else None
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(ITERATIONS):
                found, before = closing(times, at, p.T, held_all), worst
                r = np.asarray(found if nominal else found[0])
                worst = np.max(np.abs(r), axis=0, initial=0.0)
                if inverse is not None:
                    if not np.any((worst > CLOSED) & (worst < 0.5 * before)):
                        break
                    step = -inverse @ r
                else:
                    at_round_off = np.all(worst < ADMITTED) and not np.any((worst < before) & (worst > CLOSED))
                    if at_round_off or not np.any(worst > CLOSED):
                        break
                    J = np.asarray(found[1]).reshape(-1, n, nv).swapaxes(0, 1)
                    step = -_least(J, r.T).T
                at = np.asarray(advance(at, step))
        if nominal and (left := np.flatnonzero(~(worst < ADMITTED))).size:
            rest, worst[left] = self._newton(t, held, q, p[left])
            at[:, left] = rest.T
        return at.T, worst

    def _reached(self, poses: list[tuple[float, Array]]) -> list[tuple[float, Array, Array]]:
        """Time, held values and nominal positions of each pose, each reached from the one before."""
        q, t = self.system.start.q, self.system.start.t
        held = q[self._held]
        p = self.parameters[None]
        found = []
        for to_t, to_held in poses:
            steps = max(1, math.ceil(np.max(np.abs(to_held - held), initial=0.0) / STRIDE), MOMENTS * (to_t != t))
            for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
                now, at = t + share * (to_t - t), held + share * (to_held - held)
                moved, worst = self._newton(now, at, q, p)
                if not worst[0] < ADMITTED:
                    pairs = zip(self._held, at, strict=True)
                    what = ", ".join(f"{self.system.q_names[i]} = {x:g}" for i, x in pairs) or f"t = {now:g} s"
                    raise InputError(f"The joints cannot be closed at {what}; choose a pose that the mechanism has.")
                q = moved[0]
            t, held = to_t, to_held
            free = self.system.nv - np.linalg.matrix_rank(np.asarray(self._solve(t, q, self.parameters, held)[1]))
            if free:
                raise InputError(
                    f"At this pose the ideal mechanism still has {free} degrees of freedom: hold as many more "
                    f'coordinates, as pose={{"{self.system.q_names[2]}": 0.5}}; there are '
                    f"{', '.join(self.system.q_names)}."
                )
            found.append((t, held, q))
        return found

    def _slack(self, directions: Mapping[str, Any] | None) -> list[_Slack]:
        wanted, d, found = mapping("directions", directions), self.system.dimension, []
        p = dict(zip(self._names, self.parameters, strict=True))
        for name in wanted:
            if name not in self._clearances:
                known = ", ".join(self._clearances) or "none"
                raise InputError(f"directions: there is no joint with clearance {name!r}; there are {known}.")
        for name, element in self._clearances.items():
            direction = wanted.get(name, LOAD)
            columns = [self._names.index(f"{name}.at_a_{axis}") for axis in "xyz"[:d]]
            # orthonormal directions in which the point may be displaced, in the frame of the first body
            if d == 2 and f"{name}.direction" in p:  # across a guide
                basis = np.array([[-math.sin(p[f"{name}.direction"])], [math.cos(p[f"{name}.direction"])]])
            elif f"{name}.axis_a_x" in p:
                basis = np.linalg.svd(np.array([p[f"{name}.axis_a_{label}"] for label in "xyz"])[None])[2][1:].T
            else:
                basis = np.eye(d)
            towards = []
            if isinstance(direction, str) and direction == ANY:
                found.append(_Slack(name, columns, basis, None))
                continue
            loaded = isinstance(direction, str) and direction == LOAD
            for t, held, q in self._poses:
                if loaded:  # minus the derivative of the potential energy of the loads by the point's displacement
                    slopes, _, h = (np.asarray(x) for x in self._slopes(t, q, self.parameters))
                    rows = np.asarray(self._solve(t, q, self.parameters, held)[1])
                    multipliers = np.linalg.lstsq(rows.T, h.ravel(), rcond=None)[0][: self.system.ng]
                    least = VANISHING * np.max(np.abs(slopes.T @ multipliers), initial=0.0)
                    vector = -np.asarray(slopes[:, columns].T @ multipliers)
                    vector = vector if np.max(np.abs(vector)) > least else np.zeros(len(columns))
                else:  # turned into the frame of the first body
                    equations = self.system.equations
                    own = equations.placements[element.body_names()[0]].unrotate(ca.SX(_vector(name, direction, d)))
                    vector = np.asarray(ca.Function("turned", [equations.q], [own])(q)).ravel()
                along = basis.T @ vector
                if not np.linalg.norm(along) > 0.0:
                    why = "the static load in it vanishes" if loaded else f"{shown(direction)} is along its axis"
                    kind = "an angle" if d == 2 else "a vector"
                    give = f'give {kind} in directions, or "{ANY}" for a random one, as {{"{name}": "{ANY}"}}'
                    raise InputError(f'"{name}" has no direction, since {why}: {give}.')
                towards.append(basis @ along / np.linalg.norm(along))
            found.append(_Slack(name, columns, basis, towards))
        return found

    def _changes(self, names: list[str], values: Array, k: int) -> Array:
        """Changes of the ideal mechanism's parameters (n, parameters) at pose k."""
        changes = np.zeros((len(values), len(self._names)))
        given = {name: values[:, i] for i, name in enumerate(names)}
        random = {label for slack in self._slacks for label in slack.labels}
        for name, column in given.items():
            if name in random or self._is_clearance(name):
                continue
            place = self._place(name)
            if place is None:
                known = ", ".join([*self.inputs][:20]) or "none"
                effect = f'"{name}" has no effect on positions at the kinematic level'
                raise InputError(f"{effect}; what scatters is {known}.")
            changes[:, place] += column - self.parameters[place]
        for slack in self._slacks:
            c = given.get(f"{slack.name}.clearance", np.full(len(values), self._values[f"{slack.name}.clearance"]))
            if slack.towards is not None:
                unit = np.tile(slack.towards[k], (len(values), 1))
            else:
                parts = np.stack([given.get(label, np.ones(len(values))) for label in slack.labels], axis=1)
                # the first direction where all components are zero
                parts = np.where(np.any(parts != 0.0, axis=1)[:, None], parts, np.eye(1, parts.shape[1]))
                unit = np.asarray(parts / np.linalg.norm(parts, axis=1)[:, None]) @ slack.basis.T
            changes[:, slack.columns] += c[:, None] * unit
        return changes


def _least(J: Array, r: Array) -> Array:
    """Solutions (n, nv) of J u = r, of least norm where rows are redundant."""
    if J.shape[1] == J.shape[2]:
        with contextlib.suppress(np.linalg.LinAlgError):  # redundant rows
            return np.asarray(np.linalg.solve(J, r[..., None])[..., 0])
    return np.asarray((np.linalg.pinv(J) @ r[..., None])[..., 0])


def _column(system: System, name: str) -> int:
    """Index of a coordinate; unknown names raise the error of `System.state`, with the nearest."""
    if name not in system.q_names:
        system.state({name: 0.0})
    return system.q_names.index(name)


def _poses(system: System, held: Mapping[str, Any], t: Any) -> list[tuple[float, Array]]:
    """Time and held values of each pose."""
    if not held:
        return [(float(one), np.zeros(0)) for one in np.atleast_1d(np.asarray(0.0 if t is None else t, dtype=float))]
    units = {name: system.names.q_units[_column(system, name)] for name in held}
    given = [in_si(f"pose: {name}", column, units[name]) for name, column in held.items()]
    columns = [np.atleast_1d(np.asarray(column, dtype=float)) for column in given]
    count = max(len(column) for column in columns)
    for name, column in zip(held, columns, strict=True):
        fits = column.ndim == 1 and len(column) in (1, count) and np.all(np.isfinite(column))
        require(fits, f"pose: {name} takes a number, or as many as the others ({count})", held[name])
        if units[name] == "rad" and (far := np.max(np.abs(column))) > 2 * math.pi:
            warnings.warn(f'pose: {name} is {far:g} rad, more than a turn; is it "{far:g} deg"?', ModelWarning, 3)
    return [(0.0, row) for row in np.stack([np.broadcast_to(column, count) for column in columns], axis=1)]


def _vector(name: str, wanted: Any, dimension: int) -> Array:
    if dimension == 2 and is_number(wanted := in_si(f'directions: "{name}"', wanted, "rad")):
        return np.array([math.cos(wanted), math.sin(wanted)])
    if not isinstance(wanted, str) and np.shape(wanted) == (dimension,) and all(is_number(x) for x in wanted):
        return np.asarray(wanted, dtype=float)
    kind = "an angle in rad" if dimension == 2 else "a vector"
    raise InputError(f'directions: "{name}" takes "{LOAD}", "{ANY}" or {kind}, got {shown(wanted)}.')
