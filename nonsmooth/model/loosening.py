"""Ideal joints replaced by joints with clearance, and back, by patterns of their names."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.clearances import (
    Clearance,
    CylindricalClearance,
    PrismaticClearance,
    RevoluteClearance,
    SpatialPrismaticClearance,
    SphericalClearance,
)  # fmt: skip
from nonsmooth.model.elements import Element
from nonsmooth.model.fits import Fit, stated
from nonsmooth.model.frames import rotation_matrix
from nonsmooth.model.joints import IDENTITY, Cylindrical, Joint, Prismatic, Revolute, Spherical
from nonsmooth.model.model import Model
from nonsmooth.settings import hint, require, shown

#: [rad] of the axis of a planar slide beside the slider's own x axis
ALONG = 1e-9
#: sizes that each joint with clearance takes besides clearance and radius, in the plane and in space
SIZES = {
    Revolute: ({"length"}, {"length", "axial_clearance"}),
    Prismatic: ({"length", "height"}, {"length", "height", "width"}),
    Cylindrical: (set[str](), {"length"}),
    Spherical: (set[str](), set[str]()),
}


def loosen(
    model: Model, pattern: str, *, fit: str | Fit | None = None, clearance: Any = None,
    contact: Rigid | Compliant | None = None, restitution: float | None = None, friction: float | None = None,
    radius: Any = None, length: Any = None, axial_clearance: Any = None, height: Any = None, width: Any = None,
) -> Model:  # fmt: skip
    """A new model with clearance in the joints whose names match a pattern, as ``"elbow*"``.

    `Revolute`, `Prismatic`, `Spherical` and `Cylindrical` become joints with clearance of the same name, bodies, points
    and axes: `RevoluteClearance`, `PrismaticClearance` or `SpatialPrismaticClearance`, `SphericalClearance`,
    `CylindricalClearance`. Body a has the bearing, b the journal. With ``*`` or ``?`` in the pattern other joints that
    match remain ideal. The given model does not change.

    Parameters
    ----------
    model : with ideal joints, of a file or your own
    pattern : name of a joint, or a pattern with ``*``, ``?`` and ``[...]``
    fit : as ``"20 H7/g6"``; states clearance and size
    clearance : [m], radial, of a slide on each side; instead of a fit
    contact : the contact law; instead of it `restitution` and `friction`, both [-], of `Rigid`
    radius : [m], of the journal or ball; half of the size of the fit if omitted
    length : [m], of the bearing or the slide; for all slides, and in space for hinges and cylindrical joints
    axial_clearance : [m], of hinges in space on each side; as large as the radial one if omitted
    height, width : [m], of slides in space, across their axis; both the size of the fit if omitted. The height is along
        the coordinate axis of a to which the slide is closest to perpendicular

    Raises
    ------
    InputError, ModelError
        If no joint matches, a joint has no counterpart with clearance, or a size is missing; with the accepted ones.

    >>> from nonsmooth import Ground, PlanarBody
    >>> rod = PlanarBody("rod", 1.0, 1e-3, position=(0.1, 0.0))
    >>> ideal = Model([Ground(), rod, Revolute("pin", "ground", rod, at_b=(-0.1, 0.0))])
    >>> loose = loosen(ideal, "pin", fit="20 H7/g6", restitution=0.5, friction=0.1)
    >>> loose.elements[-1].clearance, loose.elements[-1].radius
    (Fit(0.02, 'H7', 'g6'), 0.01)
    >>> type(tighten(loose).elements[-1]).__name__
    'Revolute'
    """
    if (fit is None) == (clearance is None):
        raise InputError('loosen takes one of fit="20 H7/g6" and clearance=1e-5 [m].')
    play: Any = clearance if fit is None else fit
    if isinstance(play, str) and (fit is not None or "/" in play):
        play = stated(play)
    if fit is not None and not isinstance(play, Fit):
        raise InputError(f'fit must be one of ISO 286, as "20 H7/g6", got {shown(play)}.')
    if contact is None:
        if restitution is None or friction is None:
            raise InputError("loosen takes contact=..., or both restitution= and friction= of Rigid.")
        contact = Rigid(restitution=restitution, friction=friction)
    elif restitution is not None or friction is not None:
        raise InputError("loosen takes contact=..., or restitution= and friction=, not both.")
    if isinstance(play, Fit):
        radius = play.size / 2 if radius is None else radius
        height, width = (play.size if one is None else one for one in (height, width))
    sizes = {"radius": radius, "length": length, "axial_clearance": axial_clearance, "height": height, "width": width}
    sizes |= {"clearance": play, "contact": contact}
    return _replaced(model, pattern, (Revolute, Prismatic, Spherical, Cylindrical), lambda one: _loose(one, sizes))


def tighten(model: Model, pattern: str = "*") -> Model:
    """A new model with ideal joints in place of the joints with clearance whose names match a pattern.

    The reverse of `loosen`. InputError if none matches. Journals may be off their centres at the start, where ideal
    joints are violated: ``build(assemble=True)`` moves them there.

    Parameters
    ----------
    model : with clearances
    pattern : name of a joint with clearance, or a pattern with ``*``, ``?`` and ``[...]``
    """
    return _replaced(model, pattern, (Clearance,), lambda one: one.ideal())


def _replaced(model: Any, pattern: Any, kinds: tuple[type, ...], made: Callable[[Any], Element]) -> Model:
    if not isinstance(model, Model):
        raise InputError(f"Joints are replaced in a Model, before it is built, got {type(model).__name__}.")
    require(isinstance(pattern, str), 'The pattern must be a name of joints, as "elbow*"', pattern)
    named = {one.name: one for one in model.elements}
    exact = pattern in named
    chosen = {pattern} if exact else {one for one in named if fnmatch.fnmatchcase(one, pattern)}
    found = {name for name in chosen if isinstance(named[name], kinds)}
    if not found:
        there = [one.name for one in model.elements if isinstance(one, kinds)]
        what = f'"{pattern}" is a {type(named[pattern]).__name__}' if exact else f'There is no joint "{pattern}"'
        names = " or ".join(kind.__name__ for kind in kinds)
        raise InputError(
            f"{what}; what is replaced is a {names}.{hint(pattern, there)} There are {', '.join(there) or 'none'}."
        )
    elements = (made(one) if one.name in found else one for one in model.elements)
    loose = Model(
        elements, name=model.name, provenance=model.provenance, silence=model.silence, assemble=model.assembled,
    )  # fmt: skip
    loose.origin = {key: value for key, value in model.origin.items() if key != "arguments"}
    return loose


def _loose(joint: Joint, given: dict[str, Any]) -> Element:
    """The joint with clearance in place of an ideal one."""
    space = joint.dimensions == (3,)
    known = next(kind for kind in SIZES if isinstance(joint, kind))
    wanted = SIZES[known][space]
    sizes = {key: given[key] for key in ("clearance", "contact")}
    sizes |= {key: given[key] for key in wanted if given[key] is not None}
    if known is not Prismatic and given["radius"] is not None:
        sizes["radius"] = given["radius"]
    if known is Revolute and space:
        play = sizes["clearance"]
        sizes.setdefault("axial_clearance", float(play) if isinstance(play, Fit) else play)
    optional = {"length"} if known is Revolute and not space else {"height"} if not space else set[str]()
    missing = sorted(wanted - sizes.keys() - optional)
    missing += ["radius"] if known is Revolute and space and "radius" not in sizes else []
    if missing:
        raise joint.error(f"with clearance it needs {' and '.join(missing)} [m]; give them to loosen.")
    if isinstance(joint, Prismatic):
        points: dict[str, Any] = {"at_guide": joint.at_a, "at_slider": joint.at_b}
        if joint.axis_a is None:
            if abs(np.sin(joint.angle - joint.direction)) > ALONG or np.cos(joint.angle - joint.direction) < 0.0:
                raise joint.error(
                    f"with clearance the slider's own x axis is along the guide, but its angle is {joint.angle:g} rad "
                    f"and the direction {joint.direction:g} rad; turn the frame of the slider."
                )
            return PrismaticClearance(joint.name, joint.a, joint.b, direction=joint.direction, **points, **sizes)
        axis = np.array(joint.axis_a, dtype=float)
        across = np.eye(3)[int(np.argmin(abs(axis)))]
        R = np.array(rotation_matrix(np.array(joint.quaternion or IDENTITY)), dtype=float)
        frames = {"axis_guide": axis, "across_guide": across, "axis_slider": R.T @ axis, "across_slider": R.T @ across}
        directions: dict[str, Any] = {key: tuple(map(float, value)) for key, value in frames.items()}
        return SpatialPrismaticClearance(joint.name, joint.a, joint.b, **points, **directions, **sizes)
    points = {"at_a": joint.at_a, "at_b": joint.at_b}  # type: ignore[attr-defined]
    axes = {key: getattr(joint, key) for key in ("axis_a", "axis_b") if getattr(joint, key, None) is not None}
    made = {Revolute: RevoluteClearance, Spherical: SphericalClearance, Cylindrical: CylindricalClearance}[known]
    return made(joint.name, joint.a, joint.b, **points, **axes, **sizes)
