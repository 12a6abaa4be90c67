"""What is drawn of a planar mechanism: shapes in the frames of bodies, taken from a run's manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.diagnostics.motion import coordinates
from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Trajectory

__all__ = ["CORNERS", "Element", "Placed", "attachments", "elements_of"]

#: elements that hold two points of their bodies
PAIRS = (
    "Revolute", "Prismatic", "Fixed", "RevoluteClearance", "PointPlane", "CirclePlane", "CircleCircle", "Spring",
    "Damper",
)  # fmt: skip
#: corners of a slider in a guide: end (-1 left) and side (-1 lower)
CORNERS = {"left_lower": (-1, -1), "left_upper": (-1, 1), "right_lower": (1, -1), "right_upper": (1, 1)}


@dataclass(frozen=True, eq=False)
class Element:
    """An element of the manifest, with the numbers of the run."""

    kind: str
    name: str
    data: Mapping[str, Any]
    numbers: Mapping[str, float]

    def sides(self) -> tuple[str, str]:
        """The fields that name its two bodies."""
        return ("guide", "slider") if self.kind == "PrismaticClearance" else ("a", "b")

    def body(self, side: str) -> str:
        return str(self.data[side])

    def point(self, side: str) -> Array:
        """Its point on a body (2,) [m], in the body's frame."""
        return np.array([self.numbers.get(f"at_{side}_{axis}", 0.0) for axis in "xy"])


def elements_of(trajectory: Trajectory) -> list[Element]:
    """The run's elements.

    Raises
    ------
    InputError
        For a spatial mechanism, or a run without a description.
    """
    described = trajectory.manifest.get("model", {}).get("elements")
    if not described:
        raise InputError("The run has no description of its mechanism, so it cannot be drawn.")
    if any(one["kind"] == "SpatialBody" for one in described):
        raise InputError("Planar mechanisms only are drawn, and this one is spatial.")
    numbers = {name: float(entry["value"]) for name, entry in trajectory.manifest["parameters"].items()}

    def own(name: str) -> dict[str, float]:
        return {known.partition(".")[2]: x for known, x in numbers.items() if known.startswith(f"{name}.")}

    return [Element(one["kind"], one["name"], one, own(one["name"])) for one in described]


def attachments(elements: list[Element]) -> dict[str, list[Array]]:
    """For each body and the ground, the points that its joints hold, in its frame."""
    found: dict[str, list[Array]] = {one.name: [] for one in elements if one.kind in ("PlanarBody", "Ground")}
    for one in elements:
        if one.kind in PAIRS or one.kind == "PrismaticClearance":
            for side in one.sides():
                found[one.body(side)].append(one.point(side))
    return found


class Placed:
    """Bodies at the times of the pictures.

    Parameters
    ----------
    trajectory
        The run.
    t
        Times (n,) [s].
    """

    def __init__(self, trajectory: Trajectory, t: Array) -> None:
        self.t = t
        names, q = list(trajectory.q.names), coordinates(trajectory, t)
        self._places = {}
        for name in names:
            body, _, column = name.rpartition(".")
            if column == "angle":
                self._places[body] = q[:, [names.index(f"{body}.{axis}") for axis in ("x", "y", "angle")]]

    def angle(self, body: str) -> Array:
        """Angle of a body (n,) [rad]; 0 of the ground."""
        return self._places[body][:, 2] if body in self._places else np.zeros(len(self.t))

    def points(self, body: str, local: Array) -> Array:
        """Global places (n, 2) of a point, or (n, k, 2) of points, of a body."""
        local = np.asarray(local, float)
        if body not in self._places:
            return np.broadcast_to(local, (len(self.t), *local.shape))
        x, y, angle = self._places[body].T
        turned = turn(local, angle)
        place = np.column_stack([x, y])
        return np.asarray(turned + (place if local.ndim == 1 else place[:, None, :]))


def turn(local: Array, angle: Array) -> Array:
    """Vectors (2,) or (k, 2) turned by each angle (n,): (n, 2) or (n, k, 2)."""
    cosine, sine = np.cos(angle), np.sin(angle)
    matrix = np.array([[cosine, -sine], [sine, cosine]]).transpose(2, 0, 1)
    return np.asarray(np.einsum("nij,...j->n...i", matrix, np.asarray(local, float)))
