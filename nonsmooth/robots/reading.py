"""A robot's file as a model."""

import os
from collections.abc import Mapping

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.files import path_of
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.robots import ENDINGS
from nonsmooth.robots.compiling import compiled
from nonsmooth.robots.mechanism import HINGE, SLIDE, Robot, Translation
from nonsmooth.robots.xml import read_source
from nonsmooth.settings import hint, is_number, shown


def read_robot(
    path: str | os.PathLike[str], *, keyframe: str | int | None = None, position: Mapping[str, float] | None = None,
    contacts: Rigid | Compliant | None = None,
) -> Robot:  # fmt: skip
    """The model of a robot in an MJCF or URDF file, compiled by MuJoCo's own reader (extra `robots`).

    Taken are trees of bodies with hinges, slides, balls and free bodies, loops closed by ``connect`` and ``weld``,
    springs, dampers and dry friction, motors, position and velocity servos with a constant control, compensation of
    gravity, and geoms as shapes for drawing; on request contacts of these, and limits of joints. Armature, tendons and
    couplings of joints are left out. `Robot.report` lists what was taken, replaced and left out. Files that the text
    names are read only within its folder.

    Parameters
    ----------
    path : of the file, ``.xml``, ``.mjcf`` or ``.urdf``
    keyframe : optional, name or number of a keyframe, the initial state
        Without it that named "home"; where there is none, the reference configuration ``qpos0``, at rest.
    position : optional, [rad] of a hinge or [m] of a slide by its name, instead of that of the keyframe
    contacts : optional, law of the contacts of geoms; a rigid one, without friction, is that of limits too
        Without it there are none. Geoms that can touch in MuJoCo get an element where there is one: spheres, capsules,
        ellipsoids, boxes by their corners and cylinders by points on their rims, on planes; spheres on spheres.

    Raises
    ------
    InputError
        Of one sentence, if the file cannot be read, names a file outside of its folder, is too large, or is refused by
        MuJoCo; if MuJoCo is not installed.
    ModelError
        If joints have no counterpart, as two hinges in one body with axes that are not perpendicular.

    Warns
    -----
    ModelWarning
        Once, of kinds of parts that are left out.
    """
    path = path_of(path, "The file of a robot")
    if not (contacts is None or isinstance(contacts, Rigid | Compliant)):
        raise InputError(f"contacts is a law, Rigid(...) or Compliant(...), got {shown(contacts)}.")
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: the file of a robot ends in {', '.join(ENDINGS)}.")
    source = read_source(path)
    m = compiled(source)
    import mujoco

    d, names = mujoco.MjData(m), [_name(m, "KEY", k) for k in range(m.nkey)]
    wanted = "home" if keyframe is None and "home" in names else keyframe
    if wanted is not None:
        whole = isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < m.nkey
        if not whole and wanted not in names:
            listed = ", ".join(name or str(k) for k, name in enumerate(names)) or "none"
            raise source.error(f"there is no keyframe {shown(wanted)}; there are {listed}.")
        mujoco.mj_resetDataKeyframe(m, d, wanted if whole else names.index(str(wanted)))
    joints = {_name(m, "JOINT", j): j for j in range(m.njnt) if m.jnt_type[j] in (HINGE, SLIDE)}
    for name, value in (position or {}).items():
        if name not in joints:
            raise source.error(f"there is no hinge or slide {shown(name)}.{hint(str(name), joints)}")
        if not is_number(value):
            raise source.error(f"the position of {name} must be a finite number in SI units, got {shown(value)}.")
        d.qpos[m.jnt_qposadr[joints[name]]] = value
    if not (np.all(np.isfinite(d.qpos)) and np.all(np.isfinite(d.qvel))):
        raise source.error("its initial state is not finite; correct the keyframe.")
    robot = Translation(m, d, path.stem, contacts).made()
    robot.origin = {"source": f"the file {path.name}"}
    for name, what in source.taken_out:
        robot.report.add("left out", "drawing", name, what)
    robot.report.add("taken", "initial state", path.name, f"keyframe {wanted}" if wanted is not None else "qpos0")
    robot.report.warn(path.name, "the robot's report")
    return robot


def _name(m: object, kind: str, i: int) -> str:
    import mujoco

    return mujoco.mj_id2name(m, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), i) or ""
