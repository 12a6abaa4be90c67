"""Chaotic mechanisms, of which means are known exactly or follow from an independent program, from impact to impact."""

from __future__ import annotations

import math

from nonsmooth import CircleCircle, Ground, Model, PlanarBody, PointPlane, Rigid

FREE = Rigid(restitution=1.0, friction=0.0)
#: side of the box and radius of the circle in its middle [m]
SIDE, RADIUS = 1.0, 0.3


def billiard(speed: float = 1.0, direction: float = 0.37) -> Model:
    """Sinai's billiard: a point in a square box with a circle in its middle, without friction or loss."""
    half = SIDE / 2
    walls = {
        "floor": (0.0, (0.0, -half)),
        "right": (90.0, (half, 0.0)),
        "roof": (180.0, (0.0, half)),
        "left": (270.0, (-half, 0.0)),
    }
    return Model([
        Ground(),
        PlanarBody("disc", mass=1.0, inertia=1.0, position=(0.4, 0.1),
                   velocity=(speed * math.cos(direction), speed * math.sin(direction))),
        *(PointPlane(name, "ground", "disc", at_a=at, direction=math.radians(angle), contact=FREE)
          for name, (angle, at) in walls.items()),
        CircleCircle("circle", "ground", "disc", radius_a=RADIUS, radius_b=1e-12, contact=FREE),
    ], name="Sinai's billiard", silence=["no-gravity"])  # fmt: skip


def free_path() -> float:
    """Mean free path [m] of the billiard: pi A / P, with the area A and the perimeter P of where the point can be."""
    return math.pi * (SIDE**2 - math.pi * RADIUS**2) / (4 * SIDE + 2 * math.pi * RADIUS)
