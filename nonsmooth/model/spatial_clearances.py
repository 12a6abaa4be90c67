"""Joints with clearance that exist only in space: ball in socket, journal in sleeve, slide in a rectangular guide.

`RevoluteClearance` is defined in `nonsmooth.model.clearances`, since it exists in the plane as well. Points and axes
are given in the frames of the bodies; of two parts of different length the shorter one, named by `ends`, bounds the
engagement. For clearance in some directions only, ideal constraints are added in the others, such as `ParallelAxes` for
axes.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Literal

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.clearances import ENDS, Section, _BySections, _Round, circle, end_circles, plane, sections
from nonsmooth.model.drawing import Guide, Primitive, vector
from nonsmooth.model.elements import SPACE
from nonsmooth.model.frames import SpatialPlacement
from nonsmooth.model.joints import BodyRef, Cylindrical, Direction, Joint, PointOnLine, Prismatic, Spherical
from nonsmooth.model.rows import unit
from nonsmooth.quantities import Point, PositiveLength

SIDES = (("low", -1), ("high", 1))
#: walls of a rectangular guide: across the height, then across the width
WALLS = ("height_low", "height_high", "width_low", "width_high")


@dataclass(frozen=True, eq=False)
class SphericalClearance(_Round):
    """Ball (body b) in a socket (body a) with radial clearance c.

    With e the vector from the socket's centre to the ball's, the gap is c - |e|. The equations use
    ``g_N = (c^2 - e.e) / (2c)``, which has the same root and there the same slope, differs by (c - |e|)^2 / (2c), and
    is smooth where the centres coincide. Exact for a socket that encloses the ball.

    Parameters
    ----------
    a, b : body with the socket, body with the ball
    clearance : c [m], > 0
        Difference of the radii.
    contact : the contact law
    at_a, at_b : [m]
        Centre of the socket in the frame of a, of the ball in the frame of b.
    radius : r [m], optional
        Radius of the ball; required for friction and Hertzian laws.

    Raises
    ------
    ModelError
        If a number is out of its range, or there is friction but no radius.

    >>> from nonsmooth import Rigid
    >>> smooth = Rigid(restitution=0.0, friction=0.0)
    >>> type(SphericalClearance("ball", "rod", "arm", clearance=1e-4, contact=smooth).ideal()).__name__
    'Spherical'
    """

    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)

    dimensions = (3,)

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        centre = b.point(p.at_b)
        return [circle(centre, centre - a.point(p.at_a), p.clearance, getattr(p, "radius", 0.0), 1)]

    def ideal(self) -> Spherical:
        return Spherical(self.name, self.a, self.b, self.at_a, self.at_b)


@dataclass(frozen=True, eq=False)
class CylindricalClearance(_Round):
    """Journal (body b) in a sleeve (body a) with radial clearance c, free to slide and to turn.

    The two circles at the ends of the engaged length L touch the other part. With e_i the offset of a circle's centre
    from the other part's axis, perpendicular to that axis, the gaps ``back`` and ``front`` are c - |e_i|; the equations
    use ``(c^2 - e_i.e_i) / (2c)``, see `SphericalClearance`.

    Exact for parallel axes. For a tilt theta, which the gaps limit to 2c/L, the projection of the tilted circle is
    replaced by its circumscribed circle, so that the gap is too small by at most ``r theta^2 / 2 <= 2 r c^2 / L^2``:
    for r = 10 mm, L = 40 mm and c = 0.1 mm that is 0.13 micrometres, c/800. The engaged length is constant: the shorter
    part must stay within the longer one.

    With ``parallel=True`` one circle in the middle of L remains, for axes that are kept parallel by
    ``parallel_axes()``, an ideal joint to be added to the clearance.

    Parameters
    ----------
    a, b : body with the sleeve, body with the journal
    clearance : c [m], > 0
        Difference of the radii.
    length : L [m], > 0
        Engaged length, that of the shorter part.
    axis_a, axis_b : [-]
        Of the sleeve in the frame of a, of the journal in the frame of b; of any length, in the same sense.
    contact : the contact law
    at_a, at_b : [m]
        A point of the sleeve's axis, a point of the journal's; that of the shorter part is its middle.
    radius : r [m], optional
        Radius of the journal; required for friction and cylindrical laws.
    ends : "journal" or "sleeve"
        The shorter part, to which the circles belong.
    parallel : bool
        Whether the axes are kept parallel by ideal constraints.

    Raises
    ------
    ModelError
        If a number is out of its range, an axis is zero, or there is friction but no radius.
    """

    at_a: Point = field(default=SPACE, kw_only=True)
    at_b: Point = field(default=SPACE, kw_only=True)
    length: PositiveLength = field(kw_only=True)
    axis_a: Direction = field(kw_only=True)
    axis_b: Direction = field(kw_only=True)
    ends: Literal["journal", "sleeve"] = field(default="journal", kw_only=True)
    parallel: bool = field(default=False, kw_only=True)

    dimensions = (3,)

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        self.check_ends(self.ends, ("journal", "sleeve"))

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("",) if self.parallel else tuple(end for end, _ in ENDS)

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        return end_circles(a, b, p, self.ends, sections(p.length, self.parallel))

    def geometry(self, p: SimpleNamespace) -> dict[str, ca.SX]:
        """Geometry of a cylinder in a cylinder; each circle represents its share of the length."""
        return super().geometry(p) | {"length": p.length / len(self.gap_labels)}

    def ideal(self) -> Joint:
        """`Cylindrical`; with ``parallel=True`` the offsets alone, `PointOnLine`, to go with `parallel_axes()`."""
        if self.parallel:
            return PointOnLine(self.name, self.a, self.b, self.at_a, self.at_b, axis_a=self.axis_a)
        axes = {"axis_a": self.axis_a, "axis_b": self.axis_b}
        return Cylindrical(self.name, self.a, self.b, self.at_a, self.at_b, **axes)


@dataclass(frozen=True, eq=False)
class SpatialPrismaticClearance(_BySections):
    """Rectangular slide of finite length in a rectangular guide, with clearance on each of its four sides.

    Each of the eight corners of the slide, of length l along the axis, height h and width w across it, has gaps to the
    two walls that it can reach: 16 gaps. With r_i the vector from the guide's axis to the corner, y the direction of
    the height, z that of the width and sigma = -1, +1 the side ::

        height walls:  g_N = h/2 + c_h - sigma y . r_i,     width walls:  g_N = w/2 + c_w - sigma z . r_i

    For small tilts the free motion is ``|y| + |r_z| l/2 + |r_x| w/2 <= c_h``, ``|z| + |r_y| l/2 + |r_x| h/2 <= c_w``.
    Corners against flat walls are exact for any tilt while the corners stay within the guide. Labels are wall, end and
    side, as ``height_low_back_high``: the lower height wall, the back end, the upper width side;
    `nonsmooth.diagnostics.signatures` derives from them whether points, lines or planes are in contact.

    If the guide is shorter than the slide (``ends="guide"``), l is its length, and its edges touch the four faces of
    the slide, at the points opposite the edges of the aligned slide. This is exact for the aligned slide; otherwise the
    error is the clearance times the tilt. With ``every_wall=True`` each corner has gaps to all four walls, 32 in total,
    for a thin slide that may turn over.

    Parameters
    ----------
    guide, slider : the two bodies
    length : l [m], > 0
        Of the shorter one of slide and guide.
    height, width : h, w [m], > 0
        Of the slide.
    clearance : c_h [m], > 0
        On each side across the height.
    side_clearance : c_w [m], > 0, optional
        On each side across the width; `clearance` if omitted.
    contact : the contact law
    at_guide, at_slider : [m]
        A point of the guide's axis in the frame of the guide, the slide's centre in its own frame; with
        ``ends="guide"`` the guide's centre and a point of the slide's axis.
    axis_guide, axis_slider : [-]
        Of the length, in the frame of each body, of any length.
    across_guide, across_slider : [-]
        Direction of the height, in the frame of each body; its component along the axis is ignored.
    ends : "slider" or "guide"
        The shorter one, to which the corners belong.
    every_wall : bool
        Whether each corner has gaps to all four walls.

    Raises
    ------
    ModelError
        If a number is out of range, a direction is zero or along the axis, or `every_wall` is requested with
        ``ends="guide"``.
    """

    guide: BodyRef
    slider: BodyRef
    length: PositiveLength = field(kw_only=True)
    height: PositiveLength = field(kw_only=True)
    width: PositiveLength = field(kw_only=True)
    side_clearance: PositiveLength | None = field(default=None, kw_only=True)
    at_guide: Point = field(default=SPACE, kw_only=True)
    at_slider: Point = field(default=SPACE, kw_only=True)
    axis_guide: Direction = field(default=(1.0, 0.0, 0.0), kw_only=True)
    across_guide: Direction = field(default=(0.0, 1.0, 0.0), kw_only=True)
    axis_slider: Direction = field(default=(1.0, 0.0, 0.0), kw_only=True)
    across_slider: Direction = field(default=(0.0, 1.0, 0.0), kw_only=True)
    ends: Literal["slider", "guide"] = field(default="slider", kw_only=True)
    every_wall: bool = field(default=False, kw_only=True)

    body_fields = ("guide", "slider")
    dimensions = (3,)
    bearing = "length"

    def check_together(self, numbers: Mapping[str, float]) -> None:
        super().check_together(numbers)
        self.check_ends(self.ends, ("slider", "guide"))
        for body in self.body_fields:
            axis, across = (np.array([numbers[f"{k}_{body}_{i}"] for i in "xyz"]) for k in ("axis", "across"))
            if np.linalg.norm(np.cross(axis, across)) <= 1e-9 * np.linalg.norm(axis) * np.linalg.norm(across):
                raise self.error(f"across_{body} must not be along axis_{body}, got {tuple(across.tolist())}.")
        if self.every_wall and self.ends == "guide":
            raise self.error('every_wall=True needs corners of the slide, ends="slider".')

    def _corners(self) -> list[tuple[str, int, int, int, int]]:
        """For each gap its label, wall (0 height, 1 width), and the signs of wall, end, and side along the wall."""
        found = []
        for wall, (name, sign) in itertools.product((0, 1), SIDES):
            for (end, at_end), (side, at_side) in itertools.product(ENDS, SIDES):
                found.append((f"{('height', 'width')[wall]}_{name}_{end}_{side}", wall, sign, at_end, at_side))
        return found

    @property
    def gap_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        labels = tuple(label for label, *_ in self._corners())
        return labels + tuple(f"{label}_far" for label in labels) if self.every_wall else labels

    def _sections(self, a: SpatialPlacement, b: SpatialPlacement, p: SimpleNamespace) -> Sequence[Section]:
        plays = (p.clearance, getattr(p, "side_clearance", p.clearance))
        halves, half = (p.height / 2, p.width / 2), p.length / 2
        frame_a, frame_b = (ca.horzcat(*_frame(p, body)) for body in self.body_fields)
        planes = []
        for own_side in (1, -1)[: 1 + self.every_wall]:  # -1: the corners of the opposite side
            for _, wall, sign, at_end, at_side in self._corners():
                play, reach, other = plays[wall], halves[wall], halves[1 - wall]
                if self.ends == "slider":
                    normal = a.rotate(frame_a[:, 1 + wall])
                    corner = _point(half * at_end, wall, own_side * sign * reach, at_side * other)
                    point = b.point(p.at_slider + frame_b @ corner)
                    gap = reach + play - sign * ca.dot(normal, point - a.point(p.at_guide))
                else:
                    normal = b.rotate(frame_b[:, 1 + wall])
                    corner = _point(half * at_end, wall, sign * (reach + play), at_side * other)
                    point = a.point(p.at_guide + frame_a @ corner)
                    gap = sign * ca.dot(normal, point - b.point(p.at_slider)) - reach
                planes.append(plane(gap, point, -sign * normal))
        return planes

    def ideal(self) -> Prismatic:
        """`Prismatic` along the guide's axis, with slide and guide aligned."""
        frames = [_numeric_frame(getattr(self, f"axis_{x}"), getattr(self, f"across_{x}")) for x in self.body_fields]
        return Prismatic(
            self.name, self.guide, self.slider, at_a=self.at_guide, at_b=self.at_slider, axis_a=self.axis_guide,
            quaternion=_quaternion(frames[0] @ frames[1].T),
        )  # fmt: skip

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        guide, slider = self.spots(p)
        frames = [_numeric_frame(getattr(p, f"axis_{x}"), getattr(p, f"across_{x}")) for x in self.body_fields]
        along, across, along_b, across_b = (vector(frame[:, i]) for frame in frames for i in (0, 1))
        side_clearance = getattr(p, "side_clearance", p.clearance)
        if self.ends == "guide":  # the shorter part, whose edges touch, is drawn as the block
            guide, slider, along, across, along_b, across_b = slider, guide, along_b, across_b, along, across
        return (
            Guide(guide, slider, p.length, p.height, p.clearance, along, across, along_b, across_b, p.width,
                  side_clearance),
        )  # fmt: skip


def _point(along: ca.SX, wall: int, across: ca.SX, beside: ca.SX) -> ca.SX:
    """A corner on a wall (0 height, 1 width) as components along length, height and width."""
    return ca.vertcat(along, across, beside) if wall == 0 else ca.vertcat(along, beside, across)


def _frame(p: SimpleNamespace, body: str) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Unit vectors of length, height and width in the frame of the body."""
    axis, across = unit(getattr(p, f"axis_{body}")), getattr(p, f"across_{body}")
    height = unit(across - ca.dot(axis, across) * axis)
    return axis, height, ca.cross(axis, height)


def _numeric_frame(axis: Direction | Array, across: Direction | Array) -> Array:
    x = np.array(axis, dtype=float) / np.linalg.norm(axis)
    y = np.array(across, dtype=float)
    y = y - (x @ y) * x
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def _quaternion(R: Array) -> tuple[float, float, float, float]:
    """(w, x, y, z) of a rotation matrix: the eigenvector of Bar-Itzhack's symmetric matrix for the eigenvalue 3."""
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    w, x, y, z = np.linalg.eigh(K)[1][:, -1]
    sign = math.copysign(1.0, w)
    return float(sign * w), float(sign * x), float(sign * y), float(sign * z)
