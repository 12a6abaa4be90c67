"""Remarks on a model that can be built: units, missing loads, bearings held twice, and the like.

Each remark has a name by which it is silenced: ``Model(..., silence=["no-gravity"])``. Thresholds are far beyond what
mechanisms have, near the factors of wrong units: 1000 for mm, g and kN, 1e6 for kg mm^2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.laws.normal.elastic import DampedLaw
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Body, Ground, PlanarBody, SpatialBody, inertia_matrix
from nonsmooth.model.clearances import Clearance, RevoluteClearance, SphericalClearance
from nonsmooth.model.contacts import Contact, PointBox
from nonsmooth.model.drawing import Spot
from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force, Gravity, Spring
from nonsmooth.model.frames import rotation_matrix
from nonsmooth.model.joints import Joint, Revolute, Spherical
from nonsmooth.model.redundancy import Redundant
from nonsmooth.model.signals import Table, evaluate_signal

#: names of remarks, and what each is about
REMARKS = {
    "no-gravity": "no gravity anywhere",
    "gravity": "an acceleration of gravity that is not that of the earth, points upwards, or is given twice",
    "large-clearance": "a clearance that is large beside the mechanism or its journal",
    "small-clearance": "a clearance below a nanometre",
    "large-radius": "a journal, ball or pin that is larger than the mechanism",
    "size": "a mechanism of more than 100 m",
    "inertia": "a moment of inertia that no body of this mass and size has",
    "mass": "masses that differ by more than 1e5",
    "angle": "an angle of more than a turn, as of degrees",
    "speed": "a speed as of revolutions per minute, or above that of sound",
    "still-driver": "a prescribed motion that stands still",
    "table-driver": "a prescribed motion of a piecewise linear table, whose speed jumps",
    "driven-twice": "two drivers of one coordinate",
    "driven-fixed": "a driver that moves what the joints hold",
    "held-twice": "a bearing that has two joints or clearances",
    "unheld": "a body that no joint, contact or force holds, or bodies that nothing connects to the ground",
    "open-point": "a single joint whose points are apart where all others meet",
    "friction": "a coefficient of friction above 1.5",
    "soft-contact": "a contact that the weight would press in, or a run does, by more than its clearance",
    "hard-contact": "a contact that its load would press in by less than a hundredth of the diameter of an atom",
    "spring": "a spring that begins at a multiple of its free length, or vibrates at more than 1 MHz",
    "edges": "boxes in space that meet by corners, whose edges may cross",
    "at-rest": "nothing that sets the mechanism in motion",
    "immobile": "as many constraints as velocities, and no driver that moves",
}
EARTH = 9.81
#: share of the mechanism's size, and of the journal's radius, above which a clearance is large
LARGE, LOOSE = 0.1, 0.5
SMALL = 1e-9
#: radius of gyration beside the farthest point of a body, on both sides
WIDE, NARROW = 100.0, 0.03
#: round-off of inertias given with few digits
DIGITS = 0.02
RATIO = 1e5
FAST_TURN, FAST = 3000.0, 1000.0
#: jump of the slopes of a table, as a share of the largest, up to which it is straight
STRAIGHT = 1e-6
ROUGH = 1.5
#: points of joints that meet, and that do not, as shares of the size
MEET, APART = 1e-4, 0.02
STRETCH = 4.0
#: [Hz] above the vibrations of any part of a mechanism
VIBRATES = 1e6
#: [m] a hundredth of the diameter of an atom
DEPTH = 1e-12
HUGE = 100.0
#: in place of the ground among names of bodies
HELD = ""
#: fields of elements that tell how far their bodies extend
EXTENTS = ("length", "height", "width", "radius")


class Remark(NamedTuple):
    """A remark: its name, and a sentence."""

    name: str
    text: str


def _oversized(one: Element, spread: float) -> bool:
    """Whether a clearance has a journal larger than itself and the mechanism, whose points lie within `spread`."""
    radius, length = (float(getattr(one, field, None) or 0.0) for field in ("radius", "length"))
    return isinstance(one, Clearance) and radius > max(spread, length) > 0.0


class _Placed:
    """Bodies at the given start, and points of elements on them."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements
        self.bodies = {one.name: one for one in elements if isinstance(one, Body)}
        self.grounds = [one.name for one in elements if isinstance(one, Ground)]
        self.spots: dict[str, list[tuple[str, Array]]] = {}
        local: dict[str, Sequence[Spot]] = {}
        for one in elements:
            numbers = {f"{one.name}.{label}": value for label, value in one.numbers().items()}
            local[one.name] = one.spots(one.values(numbers)) if one.body_fields else ()
            self.spots[one.name] = [(spot.body, self.point(spot.body, np.asarray(spot.at))) for spot in local[one.name]]
        named = [(f'body "{name}"', self.point(name, np.zeros(3))) for name in self.bodies if name not in self.grounds]
        named += [(f'a point of "{name}"', point) for name, spots in self.spots.items() for _, point in spots]
        points = np.array([point for _, point in named]).reshape(-1, 3)
        #: extent of all centres and points, and what is farthest from their middle, a body rather than a point
        self.spread = float(np.max(np.ptp(points, axis=0), initial=0.0)) if named else 0.0
        far = np.linalg.norm(points - np.median(points, axis=0), axis=1) if named else np.zeros(1)
        self.farthest = named[int(np.argmax(far >= 0.9 * np.max(far)))][0] if named else ""
        self.reach = dict.fromkeys(self.bodies, 0.0)
        for one in elements:
            extents = [float(getattr(one, field, None) or 0.0) for field in EXTENTS]
            extent = 0.0 if _oversized(one, self.spread) else max(extents)
            for spot in local[one.name]:
                if spot.body in self.reach:
                    self.reach[spot.body] = max(self.reach[spot.body], float(np.linalg.norm(spot.at)) + extent / 2)
        self.size = max(self.spread, *self.reach.values(), 0.0)

    def point(self, name: str, at: Array) -> Array:
        """A point of a body in space."""
        body = self.bodies.get(name.partition(".")[0])
        local = np.zeros(3)
        local[: at.size] = at
        if isinstance(body, PlanarBody):
            c, s = math.cos(body.angle), math.sin(body.angle)
            return np.array([*body.position, 0.0]) + np.array(
                [c * local[0] - s * local[1], s * local[0] + c * local[1], 0]
            )
        if isinstance(body, SpatialBody):
            R = np.array(ca.DM(rotation_matrix(ca.DM(body.quaternion))))
            return np.asarray(body.position, float) + R @ local
        return local

    def apart(self, element: Element) -> float:
        """Distance of the points of an element of two bodies [m]."""
        (_, a), (_, b) = self.spots[element.name]
        return float(np.linalg.norm(b - a))


def review(
    elements: Sequence[Element], *, assembled: bool, freedom: int, redundant: Sequence[Redundant] = ()
) -> list[Remark]:
    """Remarks on a model that can be built; `freedom` is its number of velocities less constraints."""
    placed = _Placed(elements)
    parts = (
        _gravity(placed), _clearances(placed), _bodies(placed), _ground(placed), _drivers(placed, redundant),
        _bearings(placed), _points(placed) if assembled else (), _boxes(placed), _springs(placed),
        _laws(placed), _motion(placed, freedom),
    )  # fmt: skip
    return [Remark(name, text) for part in parts for name, holds, text in part if holds]


def review_parameters(elements: Sequence[Element], parameters: Mapping[str, float]) -> list[Remark]:
    """Remarks on a built model whose parameters are changed, by name, without those that it had before."""
    changed = []
    for one in elements:
        own = {
            label: float(parameters[f"{one.name}.{label}"])
            for label in one.numbers()
            if f"{one.name}.{label}" in parameters
        }
        changed.append(one.with_numbers(own) if own else one)
    before = review(elements, assembled=False, freedom=1)
    return [one for one in review(changed, assembled=False, freedom=1) if one not in before]


#: name of a remark, condition on which it is made, sentence
Rule = tuple[str, Any, str]


def _first(*rules: Rule) -> Iterator[Rule]:
    """The first of these rules that holds."""
    yield from islice((rule for rule in rules if rule[1]), 1)


# fmt: off
def _gravity(m: _Placed) -> Iterator[Rule]:
    found = [one for one in m.elements if isinstance(one, Gravity)]
    total = np.sum([np.asarray(one.acceleration, float) for one in found], axis=0) if found else np.zeros(2)
    length, names = float(np.linalg.norm(total)), ", ".join(f'"{one.name}"' for one in found)
    yield from _first(
        ("no-gravity", length == 0.0,
         "the model has no gravity; add Gravity(acceleration=...), unless it lies level or floats."),
        ("gravity", not 0.1 * EARTH < length < 3 * EARTH,
         f"gravity is {length:g} m/s^2, that of the earth 9.81 m/s^2; lengths are in m, not in mm."),
        ("gravity", len(found) > 1, f"the accelerations of {names} add up to {length:g} m/s^2; keep one of them."),
        ("gravity", total[-1] > 0.9 * length,
         f"gravity points upwards, along {'xyz'[len(total) - 1]}; give it a negative component to weigh down."),
    )


def _clearances(m: _Placed) -> Iterator[Rule]:
    for one in (one for one in m.elements if isinstance(one, Clearance)):
        given = getattr(one, "radius", None)
        radius = math.nan if given is None else float(given)
        size, what = max(m.size, getattr(one, "length", None) or 0.0), f'clearance "{one.name}"'
        yield ("large-radius", _oversized(one, m.spread),
               f"{what} has a radius of {radius:g} m, but all points of the mechanism lie within {m.spread:.2g} m; "
               f"is it {radius:g} mm?")
        yield from _first(
            ("large-clearance", one.clearance > LARGE * size > 0.0,
             f"{what} of {one.clearance:g} m is large beside the mechanism of {size:.2g} m; is it "
             f"{one.clearance:g} mm?"),
            ("large-clearance", one.clearance > LOOSE * radius,
             f"{what} of {one.clearance:g} m is large beside its radius of {radius:g} m; both are in m, and the "
             "clearance is the difference of radii."),
            ("small-clearance", one.clearance < SMALL,
             f"{what} of {one.clearance:g} m is below a nanometre; it is in m."),
        )
    yield ("size", m.size > HUGE,
           f"the mechanism is {m.size:.3g} m large, {m.farthest} is the farthest; lengths are in m, not in mm.")


def _bodies(m: _Placed) -> Iterator[Rule]:
    held = {name.partition(".")[0] for one in m.elements for name in one.body_names()}
    masses = {name: float(body.mass) for name, body in m.bodies.items() if isinstance(body, PlanarBody | SpatialBody)}
    for name, body in m.bodies.items():
        yield "unheld", name not in held, f'no joint, contact or force acts on the body "{name}".'
        if not isinstance(body, PlanarBody | SpatialBody):
            continue
        moments = np.atleast_1d(np.asarray(body.inertia, float))
        if isinstance(body, SpatialBody):
            moments = np.linalg.eigvalsh(inertia_matrix(moments.tolist()))
            yield ("inertia", moments[2] > (1 + DIGITS) * (moments[0] + moments[1]),
                   f'body "{name}" has the principal moments of inertia {moments[0]:g}, {moments[1]:g} and '
                   f"{moments[2]:g} kg m^2, of which one exceeds the sum of the others: no body has these.")
        gyration, reach = math.sqrt(float(np.max(moments)) / body.mass), m.reach[name]
        yield ("inertia", reach > 0.0 and not NARROW * reach < gyration < WIDE * reach,
               f'body "{name}" of {body.mass:g} kg has a radius of gyration of {gyration:.2g} m, but points up to '
               f"{reach:.2g} m from its centre; mass is in kg, inertia in kg m^2.")
        planar, speed = isinstance(body, PlanarBody), float(np.linalg.norm(body.velocity))
        turn = float(body.angular_velocity if isinstance(body, PlanarBody) else np.linalg.norm(body.angular_velocity))
        yield ("speed", abs(turn) > FAST_TURN,
               f'body "{name}" turns at {turn:g} rad/s, {abs(turn) * 30 / math.pi:.0f} rpm.')
        yield "speed", speed > FAST, f'body "{name}" moves at {speed:g} m/s; lengths are in m.'
        angle = body.angle if isinstance(body, PlanarBody) else 0.0
        yield ("angle", planar and abs(angle) > 2 * math.pi,
               f'body "{name}" has the angle {angle:g} rad, more than a turn; is it in degrees?')
    if masses:
        light, heavy = min(masses, key=masses.__getitem__), max(masses, key=masses.__getitem__)
        yield ("mass", masses[heavy] > RATIO * masses[light],
               f'body "{heavy}" has {masses[heavy]:g} kg, "{light}" {masses[light]:g} kg; masses are in kg, not in g.')


def _ground(m: _Placed) -> Iterator[Rule]:
    """Bodies that fall because nothing connects them to the ground."""
    gravity = any(isinstance(one, Gravity) and any(one.acceleration) for one in m.elements)
    groups: dict[str, set[str]] = {}
    for one in m.elements if gravity else ():
        joined = list(dict.fromkeys(name.partition(".")[0] for name in one.body_names()))
        if any(name in m.grounds for name in joined) or (len(joined) == 1 and isinstance(one, Force)):
            joined.append(HELD)  # a load may carry its body
        # the others move into the largest group, so that each name moves a few times only
        largest, *others = sorted((groups.get(name, {name}) for name in joined), key=len, reverse=True) or [set()]
        for name in set().union(*others) - largest:
            largest.add(name)
            groups[name] = largest
        groups |= dict.fromkeys(joined, largest)
    for group in {id(group): group for group in groups.values()}.values():
        listed = ", ".join(f'"{name}"' for name in m.bodies if name in group)
        yield ("unheld", len(group) > 1 and HELD not in group,
               f"nothing connects the bodies {listed} to the ground, so that they fall together.")


def _speed(one: PrescribedMotion) -> float | None:
    """Speed at time 0 of a driver whose motion is a callable; None if it does not depend on time."""
    assert callable(one.motion)
    t = ca.SX.sym("t")
    rate = ca.jacobian(evaluate_signal(one.name, "motion", one.motion, t, 1), t)
    still = rate.nnz() == 0 or ca.simplify(rate).is_zero()
    return None if still else abs(float(ca.evalf(ca.substitute(rate, t, 0.0))))


def _drivers(m: _Placed, redundant: Sequence[Redundant]) -> Iterator[Rule]:
    drivers = [one for one in m.elements if isinstance(one, PrescribedMotion)]
    for one in (one for one in drivers if callable(one.motion)):
        turns, known = one.coordinate == "angle", _speed(one)
        speed = known or 0.0
        yield from _first(
            ("still-driver", known is None,
             f'the motion of "{one.name}" does not depend on time; write a speed as lambda t: speed * t.'),
            ("speed", turns and speed > FAST_TURN,
             f'"{one.name}" drives at {speed:g} rad/s, {speed * 30 / math.pi:.0f} rpm; was {speed:g} rpm meant?'),
            ("speed", not turns and speed > FAST,
             f'"{one.name}" drives at {speed:g} m/s; lengths are in m, times in s.'),
        )
        table = one.motion
        if isinstance(table, Table):
            slopes = np.diff(table.values) / np.diff(table.times)
            jumps = int(np.sum(np.abs(np.diff(slopes)) > STRAIGHT * np.max(np.abs(slopes))))
            yield ("table-driver", jumps > 0,
                   f'the motion of "{one.name}" is a Table, whose speed jumps at {jumps} of its points, each a blow on '
                   "the mechanism; for a smooth motion write a Spline of these points, or a MotionProfile.")
    for one, other in combinations(drivers, 2):
        same = one.coordinate == other.coordinate and set(one.body_names()) == set(other.body_names())
        points = [m.spots[driver.name][-1][1].tolist() for driver in (one, other)]
        yield ("driven-twice", same and (one.coordinate == "angle" or points[0] == points[1]),
               f'"{one.name}" and "{other.name}" drive the same {one.coordinate} of the same bodies.')
    # those that move along a direction in which joints alone hold their bodies
    every = {driver.name: driver for driver in m.elements if isinstance(driver, PrescribedMotion | PrescribedPose)}
    for found in redundant:
        joints = list(dict.fromkeys(row.partition(".")[0] for row in (found.name, *found.follows_from)))
        moving = [every[name] for name in joints if name in every]
        driver = moving[0] if len(moving) == 1 else None
        if isinstance(driver, PrescribedMotion) and callable(driver.motion):
            others = " and ".join(f'"{name}"' for name in joints if name != driver.name)
            yield ("driven-fixed", _speed(driver) is not None,
                   f'"{driver.name}" drives the {driver.coordinate} of "{driver.body_names()[-1]}", which {others} '
                   "hold at the start; drive a coordinate that is free.")


def _bearings(m: _Placed) -> Iterator[Rule]:
    """Pairs of joints and clearances of one place between the same two bodies."""
    of_bodies: dict[frozenset[str], list[Clearance | Revolute | Spherical]] = {}
    for bearing in m.elements:
        if isinstance(bearing, Clearance | Revolute | Spherical) and len(m.spots[bearing.name]) == 2:
            of_bodies.setdefault(frozenset(bearing.body_names()), []).append(bearing)
    for one, other in chain.from_iterable(combinations(group, 2) for group in of_bodies.values()):
        if not isinstance(one, Clearance) and not isinstance(other, Clearance):
            continue  # redundant rows of joints are reported by the system
        here, there = (dict(m.spots[element.name]) for element in (one, other))
        near = max(2 * max(getattr(element, "clearance", 0.0) for element in (one, other)), MEET * m.size)
        yield ("held-twice", all(np.linalg.norm(here[body] - there[body]) <= near for body in here),
               f'"{one.name}" and "{other.name}" hold the same bodies at the same place, so that one of them leaves '
               "the other without effect; keep one.")


def _boxes(m: _Placed) -> Iterator[Rule]:
    """Boxes in space each of which meets corners of the other."""
    pairs = {one.body_names() for one in m.elements if isinstance(one, PointBox) and one.depth is not None}
    for a, b in sorted(pairs):
        yield ("edges", a < b and (b, a) in pairs,
               f'the boxes of "{a}" and "{b}" meet at their corners only: edges that cross pass through each other.')


def _points(m: _Placed) -> Iterator[Rule]:
    """A single joint that is open at the given positions, where at least two others are closed."""
    kinds = (Revolute, RevoluteClearance, Spherical, SphericalClearance)
    joints = [one for one in m.elements if isinstance(one, kinds) and len(m.spots[one.name]) == 2]
    apart = {one.name: m.apart(one) for one in joints}
    loose = {one.name: getattr(one, "clearance", 0.0) for one in joints}
    open_ = [name for name, distance in apart.items() if distance > APART * m.size + loose[name]]
    closed = [name for name, distance in apart.items() if distance <= MEET * m.size + loose[name]]
    if len(open_) == 1:
        yield ("open-point", len(closed) >= 2 and len(closed) + 1 == len(joints),
               f'the points of "{open_[0]}" are {apart[open_[0]]:.3g} m apart at the given positions, while those '
               "of the others meet; is one of its points wrong? Bodies have been moved to close it.")


def _springs(m: _Placed) -> Iterator[Rule]:
    for one in (one for one in m.elements if isinstance(one, Spring)):
        if one.free_length is not None and len(m.spots[one.name]) == 2:
            length = m.apart(one)
            yield ("spring", not one.free_length / STRETCH <= length <= STRETCH * one.free_length,
                   f'spring "{one.name}" begins at {length:.3g} m, but its free length is {one.free_length:g} m.')
        moved = [body for name, body in m.bodies.items() if name in one.body_names() and hasattr(body, "mass")]
        if one.stiffness > 0 and moved:
            light = min(moved, key=lambda body: float(body.mass))
            often = math.sqrt(one.stiffness / float(light.mass)) / (2 * math.pi)
            yield ("spring", often > VIBRATES,
                   f'spring "{one.name}" of {one.stiffness:g} N/m lets "{light.name}" of {light.mass:g} kg vibrate at '
                   f"{often:.2g} Hz; stiffness is in N/m.")


def _laws(m: _Placed) -> Iterator[Rule]:
    weight = EARTH * sum(float(getattr(body, "mass", 0.0)) for body in m.bodies.values())
    for one in (one for one in m.elements if isinstance(one, Contact)):
        law = one.contact
        friction = getattr(law if isinstance(law, Rigid) else getattr(law, "friction", None), "friction", None)
        if isinstance(friction, int | float):
            yield ("friction", friction > ROUGH,
                   f'contact "{one.name}" has the coefficient of friction {friction:g}; dry metal has 0.1 to 0.8.')
        normal, clearance = getattr(law, "normal", None), getattr(one, "clearance", math.inf)
        if isinstance(normal, DampedLaw) and isinstance(normal.stiffness, int | float) and weight > 0:
            stiffness = normal.stiffness
            depth = (weight / stiffness) ** (1.0 / normal.power)
            yield ("hard-contact", depth < DEPTH,
                   f'the weight of the bodies would press contact "{one.name}" of the stiffness {stiffness:g} in by '
                   f"{depth:.2g} m only; stiffness is in N/m^n, for steel 1e9 to 1e12.")
            yield ("soft-contact", depth > clearance,
                   f'the weight of the bodies would press contact "{one.name}" in by {depth:.2g} m, more than its '
                   f"clearance of {clearance:g} m; stiffness is in N/m^n, for steel 1e9 to 1e12.")


def _motion(m: _Placed, freedom: int) -> Iterator[Rule]:
    moved = any(isinstance(one, Gravity | Force | PrescribedMotion | PrescribedPose) for one in m.elements)
    rigid = [body for body in m.bodies.values() if isinstance(body, PlanarBody | SpatialBody)]
    still = all(not np.any(body.velocity) and not np.any(body.angular_velocity) for body in rigid)
    yield ("at-rest", not moved and still and len(rigid) == len(m.bodies),  # a flexible body may begin bent
           "nothing sets the mechanism in motion: no load, no driver, no initial velocity.")
    driven = any(isinstance(one, PrescribedMotion | PrescribedPose) for one in m.elements)
    yield ("immobile", freedom <= 0 and not driven and any(isinstance(one, Joint) for one in m.elements),
           "the joints leave no freedom and no driver moves them: the mechanism stands still.")
# fmt: on
