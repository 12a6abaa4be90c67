"""Pads of joint frictions, see `nonsmooth.model.joint_friction`, in the records of bodies.

The normal force of a joint friction acts along a coordinate that no body has: one of those that a `Motion` has beside
the motion of a body, three and a zero in the plane, and padding of modes. There stand a mass, a constant force, and a
direction of the contact, so that the text of a scheme finds a contact that is pressed on, without knowing of pads. In
space a second one, where there is a place for it, takes the tangent in which nothing slides.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.records.memory import Memory
from nonsmooth.compile.records.schema import Shape
from nonsmooth.model.bodies import Body
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.system import System

#: the zero behind the three numbers of a motion, in space of its linear part
SPARE = 3


class Pad(NamedTuple):
    """A coordinate of a pad: of which gap and row, at which side, body (0 the ground) and place of its motion."""

    friction: JointFriction
    gap: int
    row: int
    side: str
    body: int
    place: int


def pads_of(system: System, shape: Shape) -> list[Pad] | None:
    """Places of pads in records of this shape; None if there are not enough for all that are pressed on."""
    bodies = [e for e in system.elements if isinstance(e, Body)]
    numbers = {e.name: i + 1 for i, e in enumerate(bodies)}
    needed = [(e, k, row) for k, e in system.given_normal.items() for row in range(0, shape.dimension, 2)]
    ends = [[numbers.get(name.partition(".")[0], 0) for name in e.body_names()] for e, *_ in needed]
    taken: dict[tuple[int, int], int] = {}

    def spare(which: int) -> Iterator[tuple[int, int]]:
        for k in filter(None, reversed(ends[which])):
            body, first = bodies[k - 1], shape.width - shape.modes
            own = body.count if isinstance(body, FlexibleBody) else 0
            yield from ((k, place) for place in (SPARE, *range(first + own, shape.width)))

    # where nothing slides there is no impulse: the ground has a place for all, and without one nothing is lost
    places: dict[int, tuple[int, int]] = {}
    for which in sorted(range(len(needed)), key=lambda which: needed[which][2]):
        if needed[which][2] and 0 in ends[which]:
            places[which] = (0, SPARE)
        elif not _takes(which, set(), taken, spare) and not needed[which][2]:
            return None
    places |= {which: place for place, which in taken.items()}
    found = []
    for which in sorted(places):
        e, k, row = needed[which]
        body, place = places[which]
        found.append(Pad(e, k, row, "ab"[ends[which].index(body)], body, place))
    return found


Place = tuple[int, int]


def _takes(
    which: int, tried: set[Place], taken: dict[Place, int], spare: Callable[[int], Iterable[Place]]
) -> bool:  # fmt: skip
    """Whether one finds a place, others moving to another one where they have to."""
    for place in spare(which):
        if place not in tried:
            tried.add(place)
            if place not in taken or _takes(taken[place], tried, taken, spare):
                taken[place] = which
                return True
    return False


def press(
    memory: Memory, shape: Shape, pads: list[Pad], records: NDArray[np.intp], masses: Array, forces: Mapping[int, float]
) -> None:
    """Set directions and masses of pads, and the forces on them by gap; `masses` (bodies, any) are diagonals of the
    mass matrices of bodies, `records` of each gap that of its contact. A pad has the mass of what it brakes, so that
    terms of normal and tangential rows are of one size."""
    body, contact = memory.of["Body"], memory.of["Contact"]
    rigid = 3 * (shape.dimension - 1)
    for pad in pads:
        k, place, turns = pad.body, pad.place, pad.friction.bound == "torque"
        of = slice(rigid - (1 if shape.dimension == 2 else 3), rigid) if turns else slice(0, 1)
        mass = float(np.mean(masses[k - 1, of])) if k else 1.0
        at = place if shape.dimension == 2 or place == SPARE else place + 8
        body["mass"][k].reshape(-1)[at], body["inverse_mass"][k].reshape(-1)[at] = mass, 1.0 / mass
        body["sqrt_mass"][k, place] = np.sqrt(mass) if k else 0.0
        contact[pad.side]["directions"][records[pad.gap], pad.row, place] = 1.0
        if pad.row == 0 and pad.friction.static is None:
            body["steady"][k, place] = -forces[pad.gap]
