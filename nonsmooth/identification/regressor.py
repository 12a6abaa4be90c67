"""The regressor Y of a mechanism: its driving forces are ``tau = Y(u, u', u'') theta + known`` in its parameters.

The motion of all bodies follows from the drives, ``v = S u'``, where the columns of S span the null space of the
joints' rows. The forces of joints do no work on it, so that ``S' (M v' - h) = tau`` holds without them, for trees and
for closed loops. Of each body ``M v' - h`` is linear in mass m, first moments h = m c and inertia I about a frame
fixed in it, with the acceleration a of its origin and omega, alpha in its axes ::

    f = m (a - g) + alpha x h + omega x (omega x h),     n = I alpha + omega x I omega + h x (a - g)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.identification.drive_motion import DriveMotion, Mapped, solved
from nonsmooth.model.bodies import Body, PlanarBody, SpatialBody
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.forces import Force, Gravity
from nonsmooth.model.joints import Joint, Revolute
from nonsmooth.model.system import System
from nonsmooth.settings import is_one, require, shown

#: entries of the inertia matrix in the order of the parameters
ENTRIES = (("Ixx", 0, 0), ("Ixy", 0, 1), ("Ixz", 0, 2), ("Iyy", 1, 1), ("Iyz", 1, 2), ("Izz", 2, 2))
SPATIAL = (*((name, "kg m^2") for name, _, _ in ENTRIES), ("mx", "kg m"), ("my", "kg m"), ("mz", "kg m"), ("m", "kg"))
PLANAR = (("Izz", "kg m^2"), ("mx", "kg m"), ("my", "kg m"), ("m", "kg"))
#: friction of a drive that can be identified: unit by the coordinate's, and the column
FRICTION = {"viscous": "s", "coulomb": "", "offset": "", "rotor": "s^2"}


@dataclass(frozen=True)
class Parameter:
    """A parameter in which the driving forces are linear.

    Parameters
    ----------
    name : ``"body.Ixx"``, ``"drive.viscous"``, ``"spring.stiffness"``
    unit
    kind : "inertia", "friction" or "load"
    """

    name: str
    unit: str
    kind: str


@dataclass(frozen=True)
class LinkFrame:
    """The frame of a body about which its first moments and inertia are taken.

    InputError if the axes are not orthonormal and right-handed within 1e-9.

    Parameters
    ----------
    origin : [m], in the frame of the body, whose origin is the centre of mass
    axes : (3, 3)
        Unit vectors of the axes, row by row, in the frame of the body; its own where omitted. In space only.
    """

    origin: tuple[float, ...]
    axes: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        A = self.rotation
        if A.shape != (3, 3) or np.max(np.abs(A.T @ A - np.eye(3))) > 1e-9 or np.linalg.det(A) < 0:
            raise InputError(f"LinkFrame: axes must be three orthonormal right-handed vectors, got {shown(self.axes)}.")

    @property
    def rotation(self) -> Array:
        """The axes as columns (3, 3), components in the frame of the body."""
        return np.array(self.axes, dtype=float).T


def inertial_parameters(body: Body) -> tuple[Parameter, ...]:
    """Parameters of one body, in order: ten in space, four in the plane."""
    if not isinstance(body, (PlanarBody, SpatialBody)):
        raise InputError(f'"{body.name}" is a {type(body).__name__}; identified are PlanarBody and SpatialBody.')
    table = PLANAR if isinstance(body, PlanarBody) else SPATIAL
    return tuple(Parameter(f"{body.name}.{name}", unit, "inertia") for name, unit in table)


def inertia_matrix(entries: Any) -> Any:
    """Symmetric matrix (3, 3) of six entries in the order of the parameters: numbers, or symbols of CasADi."""
    about = ca.SX.zeros(3, 3) if isinstance(entries, ca.SX) else np.zeros((3, 3))
    for k, (_, i, j) in enumerate(ENTRIES):
        about[i, j] = about[j, i] = entries[k]
    return about


def pseudo_inertia(values: Array) -> Array:
    """Pseudo-inertia matrix, ``[[S, h], [h', m]]`` with ``S = tr(I)/2 1 - I``; a body has it positive semidefinite.

    Parameters
    ----------
    values : ten numbers in space, (4, 4) results; four in the plane, (3, 3) with ``tr(S) = Izz``
        In the plane the split of tr(S) is free, so that the condition is ``Izz m >= mx^2 + my^2``: returned is
        [[Izz, 0, mx], [0, Izz, my], [mx, my, m]], of the same definiteness up to the free split.

    Source: Wensing, Kim, Slotine, IEEE Robot. Autom. Lett. 3 (2018), 60-67.
    """
    if len(values) == 4:
        Izz, mx, my, m = values
        return np.array([[Izz, 0.0, mx], [0.0, Izz, my], [mx, my, m]])
    about = inertia_matrix(values)
    h = np.asarray(values[6:9]).reshape(3, 1)
    return np.block([[np.trace(about) / 2 * np.eye(3) - about, h], [h.T, np.array([[values[9]]])]])


def regressor(
    system: System, drives: Sequence[str], *, frames: Mapping[str, LinkFrame] | None = None,
    friction: Sequence[str] = (), loads: Sequence[str] = (),
) -> Regressor:  # fmt: skip
    """The regressor of a mechanism with ideal joints, a tree or with closed loops, in the plane or in space.

    InputError for an unknown name, a load that is not linear in the parameter, or drives that do not determine the
    motion.

    Parameters
    ----------
    system : built, without contacts; of a mechanism with clearances build ``model.ideal()``
    drives : names of the `PrescribedMotion` elements, one for each motion that the joints leave free
    frames : body -> frame of its parameters, optional
        By default the origin is where the body is carried: point `at_b` of the first joint of which it is the second
        body. The axes are those of the body.
    friction : of "viscous" (u'), "coulomb" (sign of u'), "offset" (1), "rotor" (u''), columns of each drive
    loads : ``"spring.stiffness"``
        Parameters of springs, dampers and other loads that are identified, too; the forces must be linear in them.
        Loads that are not named are known, with their built values.

    >>> from nonsmooth_problems import xy_pointing
    >>> Y = regressor(xy_pointing().build(), ["motor1", "motor2"])
    >>> Y([[0.1, 0.2]], [[0.0, 0.0]], [[0.0, 0.0]]).shape
    (1, 2, 20)
    """
    return Regressor(system, drives, dict(frames or {}), tuple(friction), tuple(loads))


class Regressor:
    """The regressor that `regressor` makes; its attributes are `parameters`, a `Parameter` for each column, `frames` of
    the bodies, names of `drives` in the order of u, and `motion`, a `DriveMotion`."""

    def __init__(
        self, system: System, drives: Sequence[str], frames: Mapping[str, LinkFrame], friction: tuple[str, ...],
        loads: tuple[str, ...],
    ) -> None:  # fmt: skip
        for word in friction:
            require(is_one(word, FRICTION), f"friction takes {', '.join(FRICTION)}", word)
        self.motion = DriveMotion(system, drives)
        self.system, self.drives, self.friction, self.loads = self.motion.system, self.motion.drives, friction, loads
        self._bodies = [element for element in system.elements if isinstance(element, Body)]
        for name in frames:
            if name not in {body.name for body in self._bodies}:
                listed = ", ".join(body.name for body in self._bodies)
                raise InputError(f'frames has the unknown body "{name}"; the bodies are {listed}.')
        joints = [e for e in system.elements if isinstance(e, Joint) and not isinstance(e, PrescribedMotion)]
        #: of each body: the given one, else at the first joint that carries the body, parallel to the body's
        self.frames: dict[str, LinkFrame] = {}
        for body in self._bodies:
            joint = next((one for one in joints if one.body_names()[1] == body.name), None)
            origin = getattr(joint, "at_b", ()) or (0.0,) * system.dimension
            self.frames[body.name] = frames.get(body.name, LinkFrame(tuple(float(x) for x in origin)))
            if len(self.frames[body.name].origin) != system.dimension:
                raise InputError(f'The frame of "{body.name}" needs an origin of {system.dimension} components.')
        found = [one for body in self._bodies for one in inertial_parameters(body)]
        self._inertial = len(found)
        for drive, unit in zip(self.drives, self.force_units, strict=True):
            coordinate = "rad" if unit == "N m" else "m"
            for word in friction:
                per = f" {FRICTION[word]}/{coordinate}" if FRICTION[word] else ""
                found.append(Parameter(f"{drive}.{word}", unit + per, "friction"))
        forces = [element for element in self.system.elements if isinstance(element, Force)]
        known = {f"{one.name}.{label}": one.quantity(label).unit for one in forces for label in one.numbers()}
        for name in loads:
            if name not in known:
                raise InputError(f'"{name}" is no parameter of a load; there are {", ".join(known) or "none"}.')
            found.append(Parameter(name, known[name], "load"))
        self.parameters = tuple(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return Regressor, (self.system, self.drives, self.frames, self.friction, self.loads)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.parameters)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(one.unit for one in self.parameters)

    @property
    def force_units(self) -> tuple[str, ...]:
        """Unit of each driving force: N m of angles, N of displacements."""
        rows = dict(zip(self.system.constraint_names, self.system.names.constraint_units, strict=True))
        found = {name.partition(".")[0]: unit for name, unit in rows.items()}
        return tuple("N m" if found[name] == "rad" else "N" for name in self.drives)

    @cached_property
    def values(self) -> Array:
        """The parameters as built (np,); friction, of which the mechanism knows nothing, is zero.

        Those of a body follow from its mass and its inertia about the centre of mass by the parallel axis theorem,
        ``h = m c`` and ``I = A' (J + m (s.s 1 - s s')) A`` with c = -A' s the centre of mass in the link frame, whose
        origin is s and whose axes are the columns of A in the frame of the body.
        """
        numbers, found = self.system.parameters, list[Any]()
        for body in self._bodies:
            mass, frame = numbers[f"{body.name}.mass"], self.frames[body.name]
            s, A = np.array(frame.origin), frame.rotation
            if isinstance(body, PlanarBody):
                found += numbers[f"{body.name}.inertia"] + mass * (s @ s), -mass * s[0], -mass * s[1], mass
                continue
            J = inertia_matrix([numbers.get(f"{body.name}.inertia_{name[1:]}", 0.0) for name, _, _ in ENTRIES])
            about = A.T @ (J + mass * ((s @ s) * np.eye(3) - np.outer(s, s))) @ A
            found += *(about[i, j] for _, i, j in ENTRIES), *(-mass * (A.T @ s)), mass
        found += [0.0] * len(self.drives) * len(self.friction)
        return np.array([*found, *(numbers[name] for name in self.loads)])

    def __call__(self, q: Any, v: Any, a: Any) -> Array:
        """Y (n, drives, parameters) at rows of coordinates, velocities and accelerations (n, drives) of the drives."""
        return self._with_friction(self._at(q, v, a))

    def known(self, q: Any, v: Any, a: Any) -> Array:
        """Driving forces (n, drives) of the loads that are not identified."""
        at = self._at(q, v, a)
        return np.einsum("nvd,nv->nd", at.S, at.known)

    def force(self, q: Any, v: Any, a: Any, values: Array | None = None) -> Array:
        """Driving forces (n, drives) [N m] or [N] with these parameter values, those built where omitted."""
        theta = self.values if values is None else np.asarray(values, dtype=float)
        return self(q, v, a) @ theta + self.known(q, v, a)

    def with_derivatives(self, q: Any, v: Any, a: Any) -> tuple[Array, Array]:
        """Y, and its exact derivatives (n, 3 drives, drives, parameters) by coordinates, velocities, accelerations.

        From ``K S = -G_u``, ``K v = -G_u u'``, ``K a = -G_u u'' - k`` differentiated along each argument.
        """
        at, nd = self._at(q, v, a), len(self.drives)
        slopes = np.zeros((len(at.u), 3 * nd, nd, len(self.parameters)))
        tangent_K, tangent_rest, tangent_bodies = self._tangents
        none, still = np.zeros_like(at.u), np.zeros_like(at.v)
        for k in range(3 * nd):
            kind, e = k // nd, np.zeros_like(at.u)
            e[:, k % nd] = 1.0
            s, du, dw, ddw = ((at.S[:, :, k % nd], e, none, none), (still, none, e, none), (still, none, none, e))[kind]
            dK, dG = tangent_K(at.q, at.u, s, du)
            dS = -solved(at.K, np.asarray(dG + dK @ at.S))
            dv = np.einsum("nvd,nd->nv", dS, at.w) + np.einsum("nvd,nd->nv", at.S, dw)
            dk = tangent_rest(at.q, at.u, at.v, at.w, s, du, dv, dw)[0]
            moved = dG @ at.dw[..., None] + at.G_u @ ddw[..., None] + dk + dK @ at.a[..., None]
            da = -solved(at.K, moved)[..., 0]
            change = tangent_bodies(at.q, at.u, at.v, at.a, s, dv, da)[0]
            slopes[:, k] = np.swapaxes(dS, 1, 2) @ at.columns + np.swapaxes(at.S, 1, 2) @ change
        for d, k, column in self._friction_columns():
            if self.friction[k] in ("viscous", "rotor"):
                slopes[:, (1 if self.friction[k] == "viscous" else 2) * nd + d, d, column] = 1.0
        return self._with_friction(at), slopes

    def reactions(self, q: Any, v: Any, a: Any) -> Array:
        """Forces of the rows of joints and drives (n, rows, parameters), named by `motion.row_names`, per parameter.

        ``K' lambda = M v' - h``; of inertial and load parameters, loads that are not identified left out.
        """
        at = self._at(q, v, a)
        return solved(np.swapaxes(at.K, 1, 2), at.columns)

    def _friction_columns(self) -> list[tuple[int, int, int]]:
        """(drive, kind of friction, column) of each column of friction."""
        count = len(self.friction)
        return [(d, k, self._inertial + d * count + k) for d in range(len(self.drives)) for k in range(count)]

    def _with_friction(self, at: _State) -> Array:
        """Y at a state, its columns of friction filled in."""
        Y: Array = np.swapaxes(at.S, 1, 2) @ at.columns
        by_word = {"viscous": at.w, "coulomb": np.sign(at.w), "offset": np.ones_like(at.w), "rotor": at.dw}
        for d, k, column in self._friction_columns():
            Y[:, d, column] = by_word[self.friction[k]][:, d]
        return Y

    @cached_property
    def _of_bodies(self) -> ca.Function:
        """(q, u, v, a) -> forces M a - h per parameter (nv, np), columns of friction empty, and known ones (nv,)."""
        system, kin = self.system, self.motion
        q, u, v, a = kin.q, kin.u, ca.SX.sym("v", system.nv), ca.SX.sym("a", system.nv)
        g = sum((np.array(e.acceleration, dtype=float) for e in system.elements if isinstance(e, Gravity)),
                np.zeros(system.dimension))  # fmt: skip
        columns = []
        for body in self._bodies:
            placement = system.equations.placements[body.name]
            first, nv = system.v_names.index(f"{body.name}.{body.v_columns[0][0]}"), len(body.v_columns)
            own_v, own_a = v[first : first + nv], a[first : first + nv]
            theta = ca.SX.sym("theta", len(inertial_parameters(body)))
            pull = placement.unrotate(own_a[: system.dimension] - ca.SX(g))
            turning = own_v[system.dimension :], own_a[system.dimension :]
            force, moment = _wrench(self.frames[body.name], pull, *turning, theta)
            columns.append(ca.jacobian(ca.vertcat(placement.rotate(force), moment), theta))
        empty = ca.SX(system.nv, len(self.drives) * len(self.friction))
        # minus the forces of loads: of the known ones (nv,), and per identified parameter (nv, loads)
        names, x = list(system.parameters), ca.SX.sym("x", len(self.loads))
        p = ca.SX(system.parameter_values)
        for i, name in enumerate(names):
            owner, _, label = name.partition(".")
            if any(body.name == owner for body in self._bodies) and (label == "mass" or label.startswith("inertia")):
                p[i] = 0.0  # what remains are the loads: gravity and gyroscopic forces are the bodies'
        for k, name in enumerate(self.loads):
            p[names.index(name)] = x[k]
        forces = system.h(0.0, q, v, p)
        slopes = ca.jacobian(forces, x)
        for k, name in enumerate(self.loads):
            if any(ca.depends_on(slopes[:, j], x[k]) for j in range(len(self.loads))):
                raise InputError(f'The forces are not linear in "{name}"; identify it with fit_motion.')
        free = ca.substitute(forces, x, ca.SX.zeros(len(self.loads))) if self.loads else forces
        whole = ca.densify(ca.horzcat(ca.diagcat(*columns), empty, -slopes))
        return ca.Function("bodies", [q, u, v, a], [whole, -free])

    @cached_property
    def _rest(self) -> ca.Function:
        """(q, u, v, u') -> k (nv,), the second derivative of the rows without ``K a + G_u u''``."""
        kin = self.motion
        v, w = ca.SX.sym("v", self.system.nv), ca.SX.sym("w", len(self.drives))
        moved = kin.B @ v
        rates = ca.jtimes(kin.rows, kin.q, moved) + kin.G_u @ w
        return ca.Function("k", [kin.q, kin.u, v, w], [ca.jtimes(rates, kin.q, moved) + ca.jtimes(rates, kin.u, w)])

    @cached_property
    def _functions(self) -> tuple[Mapped, Mapped, Mapped]:
        """Jacobians (q, u), rest (q, u, v, u'), and bodies (q, u, v, a)."""
        kin = self.motion
        return Mapped(ca.Function("K", [kin.q, kin.u], [kin.K, kin.G_u])), Mapped(self._rest), Mapped(self._of_bodies)

    @cached_property
    def _tangents(self) -> tuple[Mapped, Mapped, Mapped]:
        """Derivatives of these along a velocity s of the bodies, a change e of the drives, and changes of the others.

        (q, u, s, e) -> dK, dG_u;  (q, u, v, u', s, e, dv, du') -> dk;  (q, u, v, a, s, dv, da) -> d columns.
        """
        kin, nv, nd = self.motion, self.system.nv, len(self.drives)
        q, u, s, e = kin.q, kin.u, ca.SX.sym("s", nv), ca.SX.sym("e", nd)
        v, w, dv, dw, a, da = (ca.SX.sym("x", size) for size in (nv, nd, nv, nd, nv, nv))
        moved = kin.B @ s
        place = (ca.vertcat(q, u), ca.vertcat(moved, e))
        jacobians = [ca.jtimes(one, *place) for one in (kin.K, kin.G_u)]
        rest = self._rest(q, u, v, w)
        slope = ca.jtimes(rest, ca.vertcat(q, u, v, w), ca.vertcat(moved, e, dv, dw))
        columns = self._of_bodies(q, u, v, a)[0]
        change = ca.jtimes(columns, ca.vertcat(q, v, a), ca.vertcat(moved, dv, da))
        return (
            Mapped(ca.Function("dK", [q, u, s, e], jacobians)),
            Mapped(ca.Function("dk", [q, u, v, w, s, e, dv, dw], [slope])),
            Mapped(ca.Function("dY", [q, u, v, a, s, dv, da], [change])),
        )

    def _at(self, q: Any, v: Any, a: Any) -> _State:
        u, w, dw = rows = [np.atleast_2d(np.asarray(one, dtype=float)) for one in (q, v, a)]
        nd = len(self.drives)
        if any(one.shape != (len(u), nd) for one in rows):
            raise InputError(
                f"Coordinates, velocities and accelerations of the drives must be rows of {nd} number(s) "
                f"({', '.join(self.drives)}), got the shapes {', '.join(str(one.shape) for one in rows)}."
            )
        if not all(np.all(np.isfinite(one)) for one in rows):
            raise InputError("Coordinates, velocities and accelerations of the drives must be finite numbers.")
        place = self.motion.positions(u)
        jacobians, rest, bodies = self._functions
        K, G_u = jacobians(place, u)
        S = -solved(K, G_u)
        velocity = np.einsum("nvd,nd->nv", S, w)
        k = rest(place, u, velocity, w)[0]
        acceleration = np.einsum("nvd,nd->nv", S, dw) - solved(K, k)[..., 0]
        columns, known = bodies(place, u, velocity, acceleration)
        return _State(place, u, w, dw, K, G_u, S, velocity, acceleration, columns, known[..., 0])


class _State(NamedTuple):
    """The mechanism at rows of the drives' motion u, with velocities w and accelerations dw of the drives."""

    q: Array
    u: Array
    w: Array
    dw: Array
    K: Array  # Jacobians of the rows of joints and drives, and the motions S that they admit
    G_u: Array
    S: Array
    v: Array
    a: Array
    columns: Array  # forces of bodies and loads per parameter, and of known loads
    known: Array


def _wrench(frame: LinkFrame, pull: ca.SX, omega: ca.SX, alpha: ca.SX, theta: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Force and moment about the body's reference point, in the frame of the body; `pull` is its a - g."""
    s = ca.SX(np.array(frame.origin))
    if len(frame.origin) == 2:
        inertia, h, m = theta[0], theta[1:3], theta[3]
        at = pull + alpha * ca.vertcat(-s[1], s[0]) - omega**2 * s
        force = m * at + alpha * ca.vertcat(-h[1], h[0]) - omega**2 * h
        return force, inertia * alpha + h[0] * at[1] - h[1] * at[0] + s[0] * force[1] - s[1] * force[0]
    A = ca.SX(frame.rotation)
    at = A.T @ (pull + ca.cross(alpha, s) + ca.cross(omega, ca.cross(omega, s)))
    w, dw, h, m = A.T @ omega, A.T @ alpha, theta[6:9], theta[9]
    inertia = inertia_matrix(theta)
    force = A @ (m * at + ca.cross(dw, h) + ca.cross(w, ca.cross(w, h)))
    moment = A @ (inertia @ dw + ca.cross(w, inertia @ w) + ca.cross(h, at))
    return force, moment + ca.cross(s, force)


def radial_forces(Y: Regressor, states: tuple[Array, Array, Array], joint: str, values: Array | None = None) -> Array:
    """Radial force (n,) [N] of an ideal revolute joint in the motion.

    InputError if there is no such revolute joint, or its force is not determined since joints are redundant.

    Parameters
    ----------
    values : standard parameters; those built where omitted
    """
    found = next((one for one in Y.system.elements if one.name == joint and isinstance(one, Revolute)), None)
    if found is None:
        known = ", ".join(one.name for one in Y.system.elements if isinstance(one, Revolute))
        raise InputError(f'"{joint}" is no revolute joint of the mechanism; there are {known or "none"}.')
    rows = [f"{joint}.{axis}" for axis in "xyz"[: Y.system.dimension]]
    if any(row not in Y.motion.row_names for row in rows):
        raise InputError(f'The force of "{joint}" is not determined: some of its rows follow from other joints.')
    theta = Y.values if values is None else np.asarray(values, dtype=float)
    force = (Y.reactions(*states) @ theta)[:, [Y.motion.row_names.index(row) for row in rows]]
    if Y.system.dimension == 3:
        assert found.axis_a is not None
        unit = ca.SX(np.array(found.axis_a) / np.linalg.norm(found.axis_a))
        equations = Y.system.equations
        turned = Mapped(ca.Function("axis", [equations.q], [equations.placements[found.body_names()[0]].rotate(unit)]))
        axis = turned(Y.motion.positions(np.atleast_2d(np.asarray(states[0], dtype=float))))[0][..., 0]
        force = force - np.sum(force * axis, axis=1)[:, None] * axis
    return np.asarray(np.linalg.norm(force, axis=1), dtype=np.float64)


def load_columns(
    Y: Regressor, states: tuple[Array, Array, Array], joints: Mapping[str, str], values: Array | None = None
) -> Array:
    """Columns (n, drives, joints) of the driving forces per mu R [m]: ``N sgn(u')``, friction that depends on the load.

    A journal of radius R that slides in its bearing under the radial force N resists its drive with mu R N. N follows
    from the motion and from known parameters, such as weighed masses; the product mu R is estimated. With F the
    magnitude of the joint's radial force, friction included, ``N = F / sqrt(1 + mu^2)``, so that the product is
    underestimated by mu^2/2, 0.5 % for mu = 0.1.

    Parameters
    ----------
    joints : joint -> the drive about its axis
    values : standard parameters of the loads, known beforehand; those built where omitted
    """
    v = np.atleast_2d(np.asarray(states[1], dtype=float))
    columns = np.zeros((len(v), len(Y.drives), len(joints)))
    for k, (joint, drive) in enumerate(joints.items()):
        if drive not in Y.drives:
            raise InputError(f'"{drive}" is no drive of the mechanism; its drives are {", ".join(Y.drives)}.')
        d = Y.drives.index(drive)
        columns[:, d, k] = radial_forces(Y, states, joint, values) * np.sign(v[:, d])
    return columns
