"""Standard parameters of a mechanism: mass, first moments and inertia of each body about a frame fixed in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.bodies import Body, PlanarBody, SpatialBody
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.joints import Joint
from nonsmooth.model.system import System

#: entries of the inertia matrix in the order of the parameters
ENTRIES = (("Ixx", 0, 0), ("Ixy", 0, 1), ("Ixz", 0, 2), ("Iyy", 1, 1), ("Iyz", 1, 2), ("Izz", 2, 2))
SPATIAL = (*((name, "kg m^2") for name, _, _ in ENTRIES), ("mx", "kg m"), ("my", "kg m"), ("mz", "kg m"), ("m", "kg"))
PLANAR = (("Izz", "kg m^2"), ("mx", "kg m"), ("my", "kg m"), ("m", "kg"))


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

    Parameters
    ----------
    origin : [m], in the frame of the body, whose origin is the centre of mass
    axes : (3, 3)
        Unit vectors of the axes, row by row, in the frame of the body; its own where omitted. In space only.

    Raises
    ------
    InputError
        If the axes are not orthonormal and right-handed within 1e-9.
    """

    origin: tuple[float, ...]
    axes: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        A = self.rotation
        if A.shape != (3, 3) or np.max(np.abs(A.T @ A - np.eye(3))) > 1e-9 or np.linalg.det(A) < 0:
            raise InputError(f"LinkFrame: axes must be three orthonormal right-handed vectors, got {self.axes!r}.")

    @property
    def rotation(self) -> Array:
        """The axes as columns (3, 3), components in the frame of the body."""
        return np.array(self.axes, dtype=float).T


def link_frames(system: System, given: Mapping[str, LinkFrame]) -> dict[str, LinkFrame]:
    """Frame of each body: the given one, else at the first joint that carries the body, parallel to the body's."""
    bodies = [element for element in system.elements if isinstance(element, Body)]
    for name in given:
        if name not in {body.name for body in bodies}:
            known = ", ".join(body.name for body in bodies)
            raise InputError(f'frames has the unknown body "{name}"; the bodies are {known}.')
    joints = [e for e in system.elements if isinstance(e, Joint) and not isinstance(e, PrescribedMotion)]
    found = {}
    for body in bodies:
        joint = next((one for one in joints if one.body_names()[1] == body.name), None)
        origin = getattr(joint, "at_b", ()) or (0.0,) * system.dimension
        found[body.name] = given.get(body.name, LinkFrame(tuple(float(x) for x in origin)))
        if len(found[body.name].origin) != system.dimension:
            raise InputError(f'The frame of "{body.name}" needs an origin of {system.dimension} components.')
    return found


def inertial_parameters(body: Body) -> tuple[Parameter, ...]:
    """Parameters of one body, in order: ten in space, four in the plane."""
    if not isinstance(body, (PlanarBody, SpatialBody)):
        raise InputError(f'"{body.name}" is a {type(body).__name__}; identified are PlanarBody and SpatialBody.')
    table = PLANAR if isinstance(body, PlanarBody) else SPATIAL
    return tuple(Parameter(f"{body.name}.{name}", unit, "inertia") for name, unit in table)


def inertial_values(body: Body, frame: LinkFrame, parameters: Mapping[str, float]) -> Array:
    """Standard parameters of a body by its mass and its inertia about the centre of mass (parallel axis theorem).

    ``h = m c`` and ``I = A' (J + m (s.s 1 - s s')) A`` with c = -A' s the centre of mass in the link frame, whose
    origin is s and whose axes are the columns of A in the frame of the body.
    """
    mass = parameters[f"{body.name}.mass"]
    if isinstance(body, PlanarBody):
        s = np.array(frame.origin)
        return np.array([parameters[f"{body.name}.inertia"] + mass * (s @ s), -mass * s[0], -mass * s[1], mass])
    J = inertia_matrix([parameters.get(f"{body.name}.inertia_{name[1:]}", 0.0) for name, _, _ in ENTRIES])
    s, A = np.array(frame.origin), frame.rotation
    about = A.T @ (J + mass * ((s @ s) * np.eye(3) - np.outer(s, s))) @ A
    return np.array([*(about[i, j] for _, i, j in ENTRIES), *(-mass * (A.T @ s)), mass])


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
