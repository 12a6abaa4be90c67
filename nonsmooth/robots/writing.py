"""From a model to an MJCF file: its ideal twin as a tree of bodies, with constraints that close its loops.

The parts of the joints between two bodies say what moves: a point of the second along lines of the first, by slides,
and the second about axes through that point, by hinges or a ball. Coordinates of the file are zero at the start.
"""

import os
from collections import defaultdict
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element as Node
from xml.etree.ElementTree import SubElement, indent, tostring

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of, write_bytes
from nonsmooth.model.bodies import Body, Ground, SpatialBody, inertia_matrix
from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Gravity, TorsionDamper, TorsionSpring
from nonsmooth.model.frames import ground_placement, rotation_matrix
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import COINCIDENT, IDENTITY, IN_PLANE, ON_LINE, PARALLEL, RIGHT_ANGLE, SAME, Joint, Part
from nonsmooth.model.loads import Load
from nonsmooth.model.model import Model
from nonsmooth.model.shapes import Shape
from nonsmooth.model.stops import _Stops
from nonsmooth.robots import mechanism as read
from nonsmooth.robots.report import Became, Report

#: coordinates of loads that `read_robot` makes, by their law
LOADS: dict[Any, str] = {read.SPRING: "slide", read.DAMPER: "slide", read.BALL_DAMPER: "ball"}
PLACES, TURNS = (COINCIDENT, ON_LINE, IN_PLANE), (SAME, PARALLEL, RIGHT_ANGLE)
#: what a joint that closes a loop has besides coincident points; the last of these is cut first
CLOSING = (PARALLEL, SAME, None)
#: part by which the largest moment of inertia may exceed the sum of the others, round-off of a thin plate
THIN = 1e-12
#: the joints between two bodies
Edge = list[Any]


def write_mjcf(model: Model, path: str | os.PathLike[str]) -> Report:
    """Write the ideal twin of a spatial model as an MJCF file, for MuJoCo and `read_robot`; returns what was taken.

    Joints with clearance become ideal ones, and the start is assembled. The file has rigid bodies, joints and gravity;
    springs, dampers, dry friction and limits in coordinates of joints, as `read_robot` makes them. Loops are closed by
    ``connect`` and ``weld``, hinges by two ``connect``. Coordinates are zero at the start, the keyframe "home" has its
    velocities. Contacts, drivers and other loads are left out; shapes, which only are drawn, as well.

    Parameters
    ----------
    model : of rigid bodies in space
    path : of the file, ``.xml`` or ``.mjcf``

    Raises
    ------
    InputError
        Unless these are a Model and such a path; NotWritten if the file cannot be written.
    ModelError
        If a body is planar or flexible, or has moments of inertia of no body; if a joint has no counterpart.

    Warns
    -----
    ModelWarning
        Once, of kinds of parts that are left out.
    """
    path = path_of(path, "The MJCF file")
    if not isinstance(model, Model):
        raise InputError(f"write_mjcf takes a Model, got {type(model).__name__}; make one with Model([...]).")
    if path.suffix.lower() not in (".xml", ".mjcf"):
        raise InputError(f"{path}: an MJCF file ends in .xml or .mjcf.")
    writing = Writing(model)
    root = writing.made()
    indent(root)
    write_bytes(tostring(root), path, "The MJCF file")
    report = writing.report()
    report.warn(path.name, "the returned report")
    return report


class Coordinate(NamedTuple):
    """A slide, hinge or ball of the second body relative to the first one, at the start."""

    kind: str
    pair: tuple[str, ...]
    axis: Array  #: in the ground frame; of a ball the three of the ground
    constant: tuple[str, ...]  #: bodies in which the axis is
    anchor: Array  #: point of the second body
    joint: Node


class Writing:
    """The file of a model, whose elements have the same names there, and what became of them."""

    def __init__(self, model: Model) -> None:
        ideal = model.ideal()
        self.given, self.elements = model.elements, ideal.elements
        for one in self.elements:
            if isinstance(one, Body) and not isinstance(one, SpatialBody):
                raise one.error("an MJCF file has rigid bodies in space; write a model of SpatialBody.")
        start = ideal.assemble().start
        self.ground = next((one.name for one in self.elements if isinstance(one, Ground)), "")
        self.bodies = {one.name: one for one in self.elements if isinstance(one, SpatialBody)}
        self.placed: dict[str, Any] = {self.ground: ground_placement(3)}
        for k, (name, body) in enumerate(self.bodies.items()):
            self.placed[name] = body.placement(ca.SX(start.q[7 * k : 7 * k + 7]), ca.SX(start.v[6 * k : 6 * k + 6]))
        self.place = {name: _numbers(one.position) for name, one in self.placed.items()}
        self.frame = {name: _numbers(one.rotation) for name, one in self.placed.items()}
        self.root = Node("mujoco")
        self.nodes = {self.ground: SubElement(self.root, "worldbody")}
        self.coordinates, self.speeds = list[Coordinate](), dict[str, Array]()
        #: what an element is in the file
        self.said: dict[str, str] = {}

    def made(self) -> Node:
        """The root of the file."""
        gravity = [_values(one).acceleration for one in self.elements if isinstance(one, Gravity)]
        SubElement(self.root, "option", gravity=_text(np.sum([np.zeros(3), *gravity], axis=0)))
        SubElement(self.root, "compiler", angle="radian")
        edges = defaultdict[frozenset[str], Edge](list)
        for one in self.elements:
            if isinstance(one, Joint) and not isinstance(one, PrescribedMotion | PrescribedPose):
                edges[frozenset(one.body_names())].append(one)
        loaded = {frozenset(one.body_names()) for one in self.elements if _kind(one)}
        order = sorted(edges, key=lambda pair: (_rank(edges[pair]) > 0, pair not in loaded, _rank(edges[pair])))
        left = [edges[pair] for pair in order]
        for start in self.placed:
            if start not in self.nodes:
                self.body(self.ground, start, [])
            while edge := next((one for one in left if len({*one[0].body_names()} & self.nodes.keys()) == 1), None):
                above, name = sorted(edge[0].body_names(), key=lambda one: one not in self.nodes)
                self.body(above, name, edge)
                left.remove(edge)
        loops = SubElement(self.root, "equality")
        for edge in left:
            self.loop(edge, loops)
        self.said |= {one.name: f"of a {_kind(one)}" for one in self.elements if _kind(one) and self.load(one)}
        speeds = [self.speeds[node.get("name", "")] for node in self.root.iter("body")]
        SubElement(SubElement(self.root, "keyframe"), "key", name="home", qvel=_text(np.concatenate(speeds)))
        return self.root

    def report(self) -> Report:
        """The elements of the model, and what became of them."""
        report = Report()
        for given, one in zip(self.given, self.elements, strict=True):
            if not isinstance(one, Ground | Gravity | Shape):
                became: Became = "left out" if one.name not in self.said else "taken" if given is one else "replaced"
                report.add(became, type(given).__name__, one.name, self.said.get(one.name, "not written"))
        return report

    def body(self, above: str, name: str, edge: Edge) -> None:
        """A body with its joints; without an edge it is free."""
        seen, own, p = self.frame[above].T, self.bodies[name], _values(self.bodies[name])
        J = inertia_matrix(p.inertia)
        moments, axes = np.linalg.eigh(J) if len(p.inertia) == 6 else (np.diag(J), np.eye(3))
        most, others = np.max(moments), np.sum(moments) - np.max(moments)
        if most > others * (1 + THIN):
            said = f"{most:g} kg m^2, exceeds the sum of the others, {others:g}"
            raise own.error(f"its largest moment of inertia, {said}, which MuJoCo refuses; correct it.")
        pos, turn = seen @ (self.place[name] - self.place[above]), seen @ self.frame[name]
        node = SubElement(self.nodes[above], "body", name=name, pos=_text(pos), xyaxes=_text(turn[:, :2].T))
        about = {"diaginertia": _text(np.minimum(moments, others)), "xyaxes": _text(axes[:, :2].T)}
        SubElement(node, "inertial", about, pos="0 0 0", mass=_text(p.mass))
        self.nodes[name], self.said[name] = node, f"{p.mass:g} kg"
        if edge:
            self.joints(above, name, edge)
        else:
            SubElement(node, "freejoint")
            self.speeds[name] = _numbers(self.placed[name].twist)

    def joints(self, above: str, name: str, edge: Edge) -> None:
        """The joints of a body on another one, and their rates at the start."""
        (place, e), (turn, f) = _parts(edge)
        pair, turned = (one.body_names() if one else (above, name) for one in (e, f))
        at, R = self.point(e, pair[1]) if e else self.place[name], self.frame[name]
        slides = [Coordinate("slide", pair, n, pair[:1], at, Node("joint")) for n in self.lines(place, e, pair)]
        turns = [] if turn else [Coordinate("ball", turned, np.eye(3), (), at, Node("joint"))]
        if turn in (PARALLEL, RIGHT_ANGLE):
            kept = [(above, name)] if turn is PARALLEL else [(above,), (name,)]
            turns = [Coordinate("hinge", turned, self.axis(f, one[0]), one, at, Node("joint")) for one in kept]
        found, columns = slides + turns if pair[0] == above else turns + slides, list[Array]()
        for k, one in enumerate(found):
            axis = one.axis if one.kind == "ball" else one.axis * (1 if one.pair[1] == name else -1)
            given = {"name": _numbered(edge[0], k), "type": one.kind, "pos": _text((at - self.place[name]) @ R)}
            one.joint.attrib |= given if one.kind == "ball" else given | {"axis": _text(axis @ R)}
            for n in R.T if one.kind == "ball" else [axis]:
                columns.append(np.r_[n, 0 * n] if one.kind == "slide" else np.r_[0 * n, n])
        rates = self.velocity(name, at) - self.velocity(above, at)
        self.speeds[name] = np.asarray(np.linalg.lstsq(np.reshape(columns, (-1, 6)).T, rates, rcond=None)[0])
        self.nodes[name].extend(one.joint for one in found)
        self.coordinates += found
        self.said |= {one.name: " and ".join(each.kind for each in found) or "fixed" for one in edge}

    def lines(self, place: Part | None, e: Any, pair: tuple[str, ...]) -> list[Array]:
        """Directions of slides, along loads where that is possible."""
        if place in (COINCIDENT, ON_LINE):
            return [] if place is COINCIDENT else [self.axis(e, pair[0])]
        found = [_unit(self.frame[pair[0]] @ _values(e).normal_a)] if place else []
        loads = [one for one in self.elements if _kind(one) == "slide" and one.body_names() == pair]
        for n in (*(self.axis(one, pair[0]) for one in loads), *self.frame[pair[0]].T):
            left = n - sum((n @ m) * m for m in found)
            if left @ left > 0.01:  # that of one of three perpendicular directions is a third at least
                found.append(_unit(left))
        return found[1:] if place else found

    def loop(self, edge: Edge, within: Node) -> None:
        """Constraints of two bodies, or of points of them; of a hinge two, the second on its axis at 1 m."""
        (place, e), (turn, f) = _parts(edge)
        if place is not COINCIDENT or turn not in CLOSING:
            raise edge[0].error("it closes a loop, which an MJCF file can by Spherical, Revolute and Fixed alone.")
        a, b = sorted(e.body_names(), key=lambda name: name == self.ground)
        ends, at = {"body1": a} | ({} if b == self.ground else {"body2": b}), self.point(e, e.body_names()[1])
        for k, point in enumerate([at, at + self.axis(f, a)] if turn is PARALLEL else [at]):
            anchor = {} if turn is SAME else {"anchor": _text((point - self.place[a]) @ self.frame[a])}
            SubElement(within, "weld" if turn is SAME else "connect", ends | anchor, name=_numbered(e, k))
        self.said |= {one.name: "weld" if turn is SAME else "connect" for one in edge}

    def load(self, e: Any) -> bool:
        """Whether a spring, damper, friction or limits are taken, in the coordinate of a joint."""
        joint, sign = self.along(e)
        p, (a, b) = _values(e), e.body_names()
        ends = self.placed[a], self.placed[b]
        if joint is None or isinstance(e, _Stops) and "range" in joint.attrib or getattr(e, "static", None):
            return False
        if isinstance(e, _Stops):
            low, high = _numbers(e.gaps(*ends, p)) / getattr(p, "radius", 1.0)
            joint.set("range", _text((-low, high) if sign > 0 else (-high, low)))
        elif not hasattr(p, "stiffness"):
            key = "frictionloss" if isinstance(e, JointFriction) else "damping"
            joint.set(key, _text(float(joint.get(key, "0")) + getattr(p, e.bound if key[0] == "f" else key)))
        elif p.stiffness:
            before, rest = (float(joint.get(key, "0")) for key in ("stiffness", "springref"))
            if isinstance(e, TorsionSpring):
                stretched = float(_numbers(e._elongation(ends, p))[0])
            else:
                stretched = float(self.axis(e, a) @ (self.point(e, b) - self.place[a])) - p.rest
            whole = before + p.stiffness
            joint.attrib |= {
                "stiffness": _text(whole), "springref": _text((before * rest - p.stiffness * sign * stretched) / whole),
            }  # fmt: skip
        return True

    def along(self, e: Any) -> tuple[Node | None, float]:
        """The joint in whose coordinate an element acts, and its sign there; None if there is none.

        The axis is constant in the first body. Springs and limits of one of two hinges have angle zero at the start.
        """
        a, b = e.body_names()
        own = [one for one in self.coordinates if one.kind == _kind(e) and {*one.pair} == {a, b}]
        turning = any({*one.pair} == {a, b} and one.kind != "slide" for one in self.coordinates)
        known = None
        if len(own) == 2 and _kind(e) == "hinge" and isinstance(e, TorsionSpring | _Stops):
            turn = _numbers(rotation_matrix(getattr(_values(e), "quaternion", IDENTITY)))
            known = _same(self.frame[a] @ turn, self.frame[b])
        for one in own:
            if one.kind == "ball":
                return one.joint, 1.0
            sign = float(np.sign(one.axis @ self.axis(e, a)))
            there = one.kind == "hinge" or not turning or _same(self.point(e, b), one.anchor)
            if _same(one.axis, sign * self.axis(e, a)) and there and (a in one.constant if known is None else known):
                return one.joint, sign if one.pair[0] == a else -sign
        return None, 1.0

    def axis(self, e: Any, name: str) -> Array:
        """The axis of an element in one of its bodies, in the ground frame."""
        p = _values(e)
        if isinstance(e, Load):
            return np.asarray(self.frame[name] @ (p.nx, p.ny, p.nz))
        return _unit(self.frame[name] @ (p.axis_a if name == e.body_names()[0] else p.axis_b))

    def point(self, e: Any, name: str) -> Array:
        """The point of the second body of an element at which it acts."""
        return np.asarray(self.place[name] + self.frame[name] @ getattr(_values(e), "at_b", np.zeros(3)))

    def velocity(self, name: str, at: Array) -> Array:
        """Velocity of the point of a body that is there, and angular velocity."""
        return np.r_[_numbers(self.placed[name].velocity_at(at)), _numbers(self.placed[name].angular_velocity)]


def _kind(e: Any) -> str:
    """The kind of coordinate in which an element acts, empty if there is none."""
    if isinstance(e, Load):
        laws = [law for law in (e.force, e.torque, e.energy) if law is not None]
        return LOADS.get(laws[0], "") if len(laws) == 1 else ""
    if isinstance(e, _Stops):
        return "hinge" if e.coordinate == "angle" else "slide"
    if isinstance(e, JointFriction):
        return "hinge" if e.bound == "torque" else "slide"
    return "hinge" if isinstance(e, TorsionSpring | TorsionDamper) else ""


def _values(e: Element) -> Any:
    """The numbers of an element by field."""
    return e.values({f"{e.name}.{label}": value for label, value in e.numbers().items()})


def _numbers(x: Any) -> Array:
    """Values of expressions without symbols; of a column in one dimension."""
    found = np.array(ca.evalf(ca.SX(x)))
    return found[:, 0] if found.shape[1] == 1 else found


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def _same(x: Array, y: Array) -> bool:
    return bool(np.max(np.abs(x - y)) < read.SAME)


def _text(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def _numbered(e: Element, k: int) -> str:
    return e.name + (f".{k + 1}" if k else "")


def _parts(edge: Edge) -> Any:
    """The part that places a point and the one that limits turning, each with its joint; ModelError for others."""
    own = [(part, one) for one in edge for part in getattr(one, "parts", [None])]
    found = [[pair for pair in own if pair[0] in kinds] or [(None, None)] for kinds in (PLACES, TURNS)]
    if len(found[0]) + len(found[1]) > 2 or any(part not in PLACES + TURNS for part, _ in own):
        names = " and ".join(type(one).__name__ for one in edge)
        raise edge[0].error(f"an MJCF file has no joint for {names} between two bodies; replace it, or take it out.")
    return found[0][0], found[1][0]


def _rank(edge: Edge) -> int:
    """Zero if joints cannot close a loop, else a number by which they are taken into the tree first."""
    (place, _), (turn, _) = _parts(edge)
    return 1 + CLOSING.index(turn) if place is COINCIDENT and turn in CLOSING else 0
