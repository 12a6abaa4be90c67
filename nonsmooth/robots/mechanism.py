"""From a compiled `mujoco.MjModel` to a model: bodies, joints, loads and shapes, in absolute coordinates.

Geometry is that of the reference configuration ``qpos0``, in the frames of the bodies; the initial state alone is that
of the given data. The joints between a body and its parent, slides first, become constraints of the translation of one
point and of the orientation, which together are one of the joints of `nonsmooth.model.joints` where there is one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Gravity, PointForce, TorsionDamper, TorsionSpring
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import (
    Cylindrical,
    Fixed,
    Joint,
    ParallelAxes,
    PerpendicularAxes,
    PointInPlane,
    PointOnLine,
    Prismatic,
    Revolute,
    SameOrientation,
    Spherical,
    Universal,
)  # fmt: skip
from nonsmooth.model.loads import Load
from nonsmooth.model.model import Model
from nonsmooth.model.shapes import MOST_TRIANGLES, BoxShape, CylinderShape, Mesh, MeshShape, RodShape, SphereShape
from nonsmooth.model.stops import Limits
from nonsmooth.robots.contacts import add_contacts
from nonsmooth.robots.report import Became, Report

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
#: smallest mass and moment of inertia of a body, MuJoCo's mjMINVAL
LEAST = 1e-15
#: largest number in SI units; the squares of larger ones may overflow
LARGEST = 1e12
#: [-], [m] deviations of directions and points that are round-off of numbers in a file
SAME = 1e-9
#: groups of geoms that are seen
SEEN = 3
#: formulas of loads of a slide along n, and of a ball
SPRING = "stiffness * (nx * x + ny * y + nz * z - rest)**2 / 2"
DAMPER = tuple(f"-damping * (nx * vx + ny * vy + nz * vz) * n{x}" for x in "xyz")
BALL_DAMPER = tuple(f"-damping * omega_{x}" for x in "xyz")
Vector = tuple[float, ...]


class Robot(Model):
    """A model of a robot's file. `report` says what was taken, replaced and left out; printed, it is a table."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.report = Report()


class Translation:
    """The model of a compiled robot `m`, in the state of its data `d`."""

    def __init__(self, m: Any, d: Any, name: str, contacts: Rigid | Compliant | None = None) -> None:
        import mujoco

        self.contacts = contacts
        self.mujoco, self.m, self.d, self.zero = mujoco, m, d, mujoco.MjData(m)
        for data in (d, self.zero):
            mujoco.mj_kinematics(m, data)
            mujoco.mj_comPos(m, data)
        mujoco.mj_comVel(m, d)
        places = self.zero.xipos, self.zero.ximat, self.zero.xaxis, self.zero.xanchor, d.xipos
        laws = m.opt.gravity, m.jnt_stiffness, m.qpos_spring, m.dof_damping, m.dof_frictionloss, m.body_gravcomp
        drives = m.actuator_gear, m.actuator_gainprm, m.actuator_biasprm, d.ctrl
        for what, numbers in (
            ("its places, axes, speeds and masses", (*places, d.cvel, m.body_inertia, m.body_mass)),
            ("gravity, springs, dampers, friction, drives", (*laws, *drives)),
        ):
            if not all(np.all(abs(one) < LARGEST) for one in numbers):  # nor NaN
                raise ModelError(f"{name}: {what} must be numbers below {LARGEST:g}; correct them.")
        if not m.opt.timestep > 0.0:
            raise ModelError(
                f"{name}: timestep must be a positive number of seconds, got {m.opt.timestep:g}; correct it."
            )
        active = bool(np.any(d.eq_active))
        gravity = np.any(m.opt.gravity) and not self.disabled("GRAVITY")
        self.robot = Robot(name=name, silence=[] if gravity else ["no-gravity"], assemble=active)
        self.report = self.robot.report
        self.used = {"ground"}
        self.robot.add(Ground())
        if gravity:
            self.robot.add(Gravity(self.name("gravity"), acceleration=tuple(map(float, m.opt.gravity))))
        self.body_names = [self.name_of("BODY", i, "body") if i else "ground" for i in range(m.nbody)]
        self.joint_names = [self.name_of("JOINT", j, "joint") for j in range(m.njnt)]
        #: by body in the file that to which it belongs here, its centre of mass in the file's frame of this one
        self.owner, self.centre = [0] * m.nbody, np.zeros((m.nbody, 3))

    def made(self) -> Robot:
        """The model."""
        self.bodies()
        for i in range(1, self.m.nbody):
            if self.owner[i] == i:
                self.joint(i)
        self.passive()
        for k in range(len(self.m.actuator_trntype)):
            self.actuator(k)
        for e in range(self.m.neq):
            self.equality(e)
        for g in range(self.m.ngeom):
            self.shape(g)
        if self.contacts is not None and not self.disabled("CONTACT"):
            add_contacts(self, self.contacts)
        self.rest()
        return self.robot

    def kind_of(self, g: int) -> str:
        """The kind of a geom, as "sphere"."""
        return str(self.mujoco.mjtGeom(int(self.m.geom_type[g])).name.removeprefix("mjGEOM_").lower())

    def disabled(self, word: str) -> bool:
        flag = getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{word}", None)
        return flag is not None and bool(self.m.opt.disableflags & int(flag))

    def name(self, wanted: str) -> str:
        """A name that no other element has."""
        found, k = wanted, 1
        while found in self.used:
            found, k = f"{wanted}_{k + 1}", k + 1
        self.used.add(found)
        return found

    def name_of(self, kind: str, i: int, word: str) -> str:
        """The name of an object in the file, without what names here do not have."""
        given = self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), i) or f"{word}{i}"
        clean = re.sub(r"[^\w-]+", "_", given)
        made = self.name(f"{clean}_{word}" if clean in self.used else clean)
        if made != given:
            self.report.add("replaced", "name", given, f'"{made}", of the {word}')
        return made

    def frame(self, i: int, data: Any) -> tuple[Array, Array]:
        """Centre of mass and orientation of a body of the model, in the ground frame."""
        if i == 0:
            return np.zeros(3), np.eye(3)
        return data.xpos[i] + data.xmat[i].reshape(3, 3) @ self.centre[i], data.ximat[i].reshape(3, 3)

    def point(self, i: int, point: Array) -> Vector:
        """A point of the reference configuration in the frame of a body."""
        centre, R = self.frame(i, self.zero)
        return tuple(map(float, R.T @ (point - centre)))

    def along(self, i: int, axis: Array) -> Vector:
        """A direction of the reference configuration in the frame of a body."""
        return tuple(map(float, self.frame(i, self.zero)[1].T @ axis))

    def quaternion(self, R: Array) -> Any:
        q = np.zeros(4)
        self.mujoco.mju_mat2Quat(q, np.ascontiguousarray(R).ravel())
        return tuple(map(float, q / np.linalg.norm(q)))

    def turned(self, a: int, b: int) -> Any:
        """Orientation of b relative to a in the reference configuration."""
        return self.quaternion(self.frame(a, self.zero)[1].T @ self.frame(b, self.zero)[1])

    def bodies(self) -> None:
        """Bodies with their masses; bodies without a joint of their own belong to the ground, or where one of the two
        has no mass, to the body that carries them."""
        m, zero = self.m, self.zero
        members: dict[int, list[int]] = {0: []}
        for i in range(1, m.nbody):
            above = self.owner[m.body_parentid[i]]
            bare = not self.has_mass([i]) or (above and not self.has_mass(members[above]))
            self.owner[i] = i if m.body_jntnum[i] or (above and not bare) else above
            members.setdefault(self.owner[i], []).append(i)
            if self.owner[i] != i:
                self.report.add("replaced", "body", self.body_names[i], f'part of "{self.body_names[above]}"')
        for i, parts in members.items():
            if i == 0:
                continue
            R, mass = zero.ximat[i].reshape(3, 3), float(np.sum(m.body_mass[parts]))
            if not self.has_mass(parts):
                raise ModelError(
                    f'{self.robot.name}: the body "{self.body_names[i]}" has no mass, but moves; give it one.'
                )
            middle = zero.xipos[i] if len(parts) == 1 else m.body_mass[parts] @ zero.xipos[parts] / mass
            self.centre[i] = zero.xmat[i].reshape(3, 3).T @ (middle - zero.xpos[i])
            J = self.inertia(parts, middle)
            J = m.body_inertia[i] if len(parts) == 1 else (R.T @ J @ R)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            centre, Q = self.frame(i, self.d)
            twist = np.zeros(6)
            self.mujoco.mj_objectVelocity(m, self.d, self.mujoco.mjtObj.mjOBJ_XBODY, i, twist, 0)
            velocity = twist[3:] + np.cross(twist[:3], centre - self.d.xpos[i])
            self.robot.add(SpatialBody(
                self.body_names[i], mass=mass, inertia=tuple(map(float, J)), position=_three(centre),
                quaternion=self.quaternion(Q), velocity=_three(velocity), angular_velocity=_three(Q.T @ twist[:3]),
            ))  # fmt: skip
            self.report.add("taken", "body", self.body_names[i], f"{mass:g} kg")

    def inertia(self, parts: Sequence[int], about: Array) -> Array:
        """Moments of inertia about a point, in the ground frame."""
        J = np.zeros((3, 3))
        for i in parts:
            R, r = self.zero.ximat[i].reshape(3, 3), self.zero.xipos[i] - about
            J += R @ np.diag(self.m.body_inertia[i]) @ R.T + self.m.body_mass[i] * (r @ r * np.eye(3) - np.outer(r, r))
        return J

    def has_mass(self, parts: Sequence[int]) -> bool:
        mass = np.sum(self.m.body_mass[parts])
        if not mass > LEAST:
            return False
        middle = self.m.body_mass[parts] @ self.zero.xipos[parts] / mass
        return bool(np.linalg.eigvalsh(self.inertia(parts, middle))[0] > LEAST)

    def joints_of(self, i: int, *kinds: int) -> list[int]:
        first = int(self.m.body_jntadr[i])
        return [j for j in range(first, first + int(self.m.body_jntnum[i])) if self.m.jnt_type[j] in kinds]

    def anchor(self, i: int) -> Array:
        """The point about which a body turns, which its slides move, in the ground frame."""
        return np.asarray(self.zero.xanchor[(self.joints_of(i, HINGE, BALL) or self.joints_of(i, SLIDE))[0]])

    def joint(self, i: int) -> None:
        """The joints of a body against its parent."""
        a, b = self.owner[self.m.body_parentid[i]], i
        names = self.body_names[a], self.body_names[b]
        js = self.joints_of(i, BALL, SLIDE, HINGE)
        if self.joints_of(i, FREE):
            self.report.add("taken", "joint", self.joint_names[int(self.m.body_jntadr[i])], "free, no joint")
            return
        made: list[Joint]
        if not js:
            at, label = self.zero.xpos[i], self.name(f"{names[1]}_fixed")
            made = [Fixed(label, *names, at_a=self.point(a, at), at_b=self.point(b, at), quaternion=self.turned(a, b))]
        else:
            label, made = self.joint_names[js[0]], self.constraints(a, b, js)
        for one in made:
            self.robot.add(one)
        words = {BALL: "ball", SLIDE: "slide", HINGE: "hinge"}
        kinds = " and ".join(words[int(self.m.jnt_type[j])] for j in js) or "none"
        elements = " and ".join(f"{type(one).__name__}" for one in made) or "no joint"
        became: Became = "replaced" if len(self.joints_of(i, HINGE)) == 3 else "taken"
        self.report.add(became, "joint", label, f"{kinds}: {elements}")

    def constraints(self, a: int, b: int, js: Sequence[int]) -> list[Joint]:
        """The constraints that leave the motion of these joints free; ModelError if there are none."""
        kinds = [int(self.m.jnt_type[j]) for j in js]
        axes, anchors = self.zero.xaxis, self.zero.xanchor
        slides, turns = self.joints_of(b, SLIDE), self.joints_of(b, HINGE)
        n = axes[turns[0]] if turns else np.zeros(3)
        lines = axes[slides].reshape(-1, 3)
        late = SLIDE in kinds[next((k for k, kind in enumerate(kinds) if kind != SLIDE), len(kinds)) :]
        parallel = len(turns) == len(slides) == 1 and float(np.linalg.norm(np.cross(n, lines[0]))) < SAME
        cross = len(turns) == 2 and abs(n @ axes[turns[1]]) < SAME
        whole = len(turns) == 3 and abs(np.linalg.det(axes[turns])) > 1e-3 or kinds.count(BALL) == 1 and not turns
        same_point = all(np.linalg.norm(anchors[j] - anchors[turns[0]]) < SAME for j in turns)
        independent = len(slides) == np.linalg.matrix_rank(lines, tol=1e-6) if slides else True
        turning_known = whole or cross or len(turns) <= 1 and BALL not in kinds
        label, names = self.joint_names[js[0]], (self.body_names[a], self.body_names[b])
        if not (same_point and independent and turning_known) or late and not parallel:
            listed = ", ".join(self.joint_names[j] for j in js)
            raise ModelError(
                f'{self.robot.name}: the joints {listed} of the body "{names[1]}" have no counterpart together; put a '
                "body with mass between them."
            )
        at = self.anchor(b)
        points: dict[str, Any] = {"at_a": self.point(a, at), "at_b": self.point(b, at)}
        q, found = self.turned(a, b), list[Joint]()
        both: dict[str, Any] = {"axis_a": self.along(a, n), "axis_b": self.along(b, axes[turns[-1]] if turns else n)}
        line: Any = self.along(a, lines[0]) if slides else None
        if len(slides) == 0 and not whole:
            return [(Universal if cross else Revolute)(label, *names, **{**points, **both})]
        if len(slides) == 1 and not turns and not whole:
            return [Prismatic(label, *names, **points, axis_a=line, quaternion=q)]
        if parallel:
            return [Cylindrical(label, *names, **{**points, **both})]
        if len(slides) == 0:
            found.append(Spherical(label, *names, **points))
        elif len(slides) == 1:
            found.append(PointOnLine(label, *names, **points, axis_a=line))
        elif len(slides) == 2:
            normal: Any = self.along(a, np.cross(lines[0], lines[1]))
            found.append(PointInPlane(label, *names, **points, normal_a=normal))
        second = self.name(f"{label}_turn") if found else label
        if cross:
            found.append(PerpendicularAxes(second, *names, **both))
        elif len(turns) == 1:
            found.append(ParallelAxes(second, *names, **both))
        elif not whole:
            found.append(SameOrientation(second, *names, quaternion=q))
        return found

    def passive(self) -> None:
        """Springs and dampers of joints, and what joints have no counterpart of."""
        m = self.m
        for j in range(m.njnt):
            kind, dof, adr, label = int(m.jnt_type[j]), int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j]), self.joint_names[j]
            size = {FREE: 6, BALL: 3}.get(kind, 1)
            k = 0.0 if self.disabled("SPRING") or self.disabled("PASSIVE") else float(np.ravel(m.jnt_stiffness[j])[0])
            c = 0.0 if self.disabled("DAMPER") or self.disabled("PASSIVE") else float(np.ravel(m.dof_damping[dof])[0])
            if kind in (HINGE, SLIDE):
                self.scalar(j, label, k, float(m.qpos_spring[adr]), c)
            elif c and kind == BALL and len(self.joints_of(m.jnt_bodyid[j], BALL, HINGE)) == 1:
                law: Any = {"torque": BALL_DAMPER, "parameters": {"damping": c}}
                self.load(j, self.name(f"{label}_damper"), **law, dissipative=True)
                c = 0.0
            if kind in (FREE, BALL) and (k or c):
                self.report.add("left out", "spring or damper", label, f"{k:g} N m/rad, {c:g} N m s/rad")
            for what, values in (("nonlinear spring", "jnt_stiffnesspoly"), ("nonlinear damper", "dof_dampingpoly")):
                if np.any(getattr(m, values, np.zeros((m.nv, 1)))[dof if "dof" in values else j]):
                    self.report.add("left out", what, label, "terms of higher order")
            frictions = 0.0 * m.dof_frictionloss if self.disabled("FRICTIONLOSS") else m.dof_frictionloss
            if frictions[dof] and kind in (HINGE, SLIDE):
                self.friction(j, label, float(frictions[dof]))
            for what, values in (("armature", m.dof_armature), ("friction", frictions)):
                if np.any(values[dof : dof + size]) and not (what == "friction" and kind in (HINGE, SLIDE)):
                    self.report.add("left out", what, label, f"{float(np.max(values[dof : dof + size])):g}")
            if m.jnt_limited[j] and not self.disabled("LIMIT"):
                self.limits(j, label)

    def limits(self, j: int, label: str) -> None:
        """Stops of a hinge or a slide, with the rigid law of contacts, without friction."""
        m, i, kind = self.m, int(self.m.jnt_bodyid[j]), int(self.m.jnt_type[j])
        a, text = self.owner[m.body_parentid[i]], "{:g} to {:g}".format(*m.jnt_range[j])
        turned = kind == HINGE and np.ptp(m.jnt_range[j]) >= 2 * np.pi
        if not isinstance(self.contacts, Rigid) or turned or kind not in (HINGE, SLIDE) or not self.alone(j):
            self.report.add("left out", "limits", label, text)
            return
        low, high = (float(x) for x in m.jnt_range[j] - m.qpos0[m.jnt_qposadr[j]])
        given: dict[str, Any] = {"axis_a": self.along(a, self.zero.xaxis[j]), "low": low, "high": high}
        if kind == HINGE:
            given |= {"radius": 1.0, "quaternion": self.turned(a, i)}
        else:
            at = self.anchor(i)
            given |= {"coordinate": "displacement", "at_a": self.point(a, at), "at_b": self.point(i, at)}
        law = replace(self.contacts, friction=0.0)
        stops = Limits(self.name(f"{label}_limits"), self.body_names[a], self.body_names[i], **given, contact=law)
        self.add(stops, "taken", "limits", text)

    def alone(self, j: int) -> bool:
        """Whether a hinge is the only turn of its body, or its other slides are perpendicular to a slide."""
        i, n = int(self.m.jnt_bodyid[j]), self.zero.xaxis[j]
        if self.m.jnt_type[j] == HINGE:
            return self.joints_of(i, HINGE, BALL) == [j]
        return all(k == j or abs(n @ self.zero.xaxis[k]) < SAME for k in self.joints_of(i, SLIDE))

    def friction(self, j: int, label: str, bound: float) -> None:
        """Dry friction of a hinge or a slide; of two hinges about the axis of the one in the frame of the parent, and
        of the other in that of the body."""
        i = int(self.m.jnt_bodyid[j])
        ends, n = (self.owner[self.m.body_parentid[i]], i), self.zero.xaxis[j]
        turns = self.joints_of(i, HINGE, BALL)
        hinge, name = self.m.jnt_type[j] == HINGE, self.name(f"{label}_friction")
        if not (len(turns) <= 2 if hinge else self.alone(j)):
            self.report.add("left out", "friction", label, f"{bound:g}, of one of several turns or oblique slides")
            return
        if hinge and j != turns[0]:
            ends = ends[::-1]
        names = [self.body_names[k] for k in ends]
        axis: Any = self.along(ends[0], n)
        if hinge:
            made = JointFriction(name, *names, torque=bound, axis_a=axis)
        else:
            made = JointFriction(name, *names, force=bound, axis_a=axis, at_b=self.point(i, self.anchor(i)))
        self.add(made, "taken", "friction", f"{bound:g} {'N m' if hinge else 'N'}")

    def scalar(
        self, j: int, label: str, stiffness: float, rest: float, damping: float, constant: float | None = None
    ) -> bool:
        """Spring, damper and a constant force or torque in the coordinate of a hinge or a slide: ``constant - stiffness
        (q - rest) - damping q'``; False where it is left out."""
        m, i = self.m, int(self.m.jnt_bodyid[j])
        a, b = self.owner[m.body_parentid[i]], i
        names, n = (self.body_names[a], self.body_names[b]), self.zero.xaxis[j]
        turns = self.joints_of(i, HINGE, BALL)
        hinge, axis, free = m.jnt_type[j] == HINGE, self.along(a, n), rest - float(m.qpos0[m.jnt_qposadr[j]])
        of_cross = hinge and len(turns) == 2 and not damping and constant is None
        given = {"nx": axis[0], "ny": axis[1], "nz": axis[2]}
        if not (stiffness or damping or constant is not None):
            return True
        if not (self.alone(j) or of_cross) or stiffness < 0 or damping < 0:
            why = "negative" if stiffness < 0 or damping < 0 else "of one of several turns or oblique slides"
            self.report.add("left out", "spring, damper or drive", label, why)
            return False
        if hinge:
            direction: Any = axis
            if stiffness:
                self.add(TorsionSpring(
                    self.name(f"{label}_spring"), *names, stiffness=stiffness, axis_a=direction, free_angle=free,
                    quaternion=self.turned(a, b),
                ), "replaced" if not m.jnt_limited[j] else "taken", "spring", "up to a half turn")  # fmt: skip
            if damping:
                damper = TorsionDamper(self.name(f"{label}_damper"), *names, damping=damping, axis_a=direction)
                self.add(damper, "taken", "damper", f"{damping:g} N m s/rad")
            if constant is not None:
                formulas = tuple(f"torque * n{x}" for x in "xyz")
                self.load(j, label, torque=formulas, parameters={"torque": constant, **given})
            return True
        if stiffness:
            rest = free + float(np.dot(axis, self.point(a, self.anchor(i))))
            own = {"stiffness": stiffness, "rest": rest, **given}
            self.load(j, self.name(f"{label}_spring"), energy=SPRING, parameters=own)
        if damping:
            own = {"damping": damping, **given}
            self.load(j, self.name(f"{label}_damper"), force=DAMPER, parameters=own, dissipative=True)
        if constant is not None:
            self.load(j, label, force=tuple(f"push * n{x}" for x in "xyz"), parameters={"push": constant, **given})
        return True

    def load(self, j: int, name: str, **law: Any) -> None:
        """A load between the bodies of a joint, at their anchor."""
        i = int(self.m.jnt_bodyid[j])
        names = self.body_names[self.owner[self.m.body_parentid[i]]], self.body_names[i]
        load = Load(name, *names, at_b=self.point(i, self.anchor(i)), **law)
        values = [f"{key} {value:g}" for key, value in load.parameters.items() if key not in ("nx", "ny", "nz")]
        self.add(load, "taken", "load", ", ".join(values))

    def add(self, element: Element, became: Became, part: str, text: str) -> None:
        self.robot.add(element)
        self.report.add(became, part, element.name, f"{type(element).__name__}: {text}")

    def actuator(self, k: int) -> None:
        """A motor, position or velocity servo of a hinge or slide, as constant force, spring and damper.

        ``gear (gain control + b_0 + b_1 gear q + b_2 gear q')`` with the control of the initial state.
        """
        m, types = self.m, self.mujoco
        label = self.name_of("ACTUATOR", k, "actuator")
        of_joint = int(m.actuator_trntype[k]) in (int(types.mjtTrn.mjTRN_JOINT), int(types.mjtTrn.mjTRN_JOINTINPARENT))
        j = int(m.actuator_trnid[k][0]) if of_joint else -1
        kinds = tuple(int(one[k]) for one in (m.actuator_dyntype, m.actuator_gaintype, m.actuator_biastype))
        affine, none = int(types.mjtBias.mjBIAS_AFFINE), int(types.mjtBias.mjBIAS_NONE)
        constant = (int(types.mjtDyn.mjDYN_NONE), int(types.mjtGain.mjGAIN_FIXED))
        plain = kinds[:2] == constant and kinds[2] in (none, affine)
        if not (of_joint and plain and m.jnt_type[j] in (HINGE, SLIDE)) or self.disabled("ACTUATION"):
            self.report.add(
                "left out", "actuator", label, "not a motor, position or velocity servo of a hinge or slide"
            )
            return
        at = int(getattr(m, "actuator_ctrladr", np.arange(m.nu))[k])
        control, gear = float(self.d.ctrl[at]), float(m.actuator_gear[k][0])
        if m.actuator_ctrllimited[k]:
            control = float(np.clip(control, *m.actuator_ctrlrange[k]))
        bias = m.actuator_biasprm[k][:3] if kinds[2] == affine else np.zeros(3)
        force, stiffness = float(m.actuator_gainprm[k][0]) * control + float(bias[0]), -float(bias[1]) * gear**2
        rest = gear * force / stiffness if stiffness else 0.0
        if self.scalar(j, label, stiffness, rest, -float(bias[2]) * gear**2, None if stiffness else gear * force):
            self.report.add("taken", "actuator", label, f"control {control:g}, constant")
        if m.actuator_forcelimited[k] or m.jnt_actfrclimited[j]:
            self.report.add("left out", "limits of drives", label, "of the force")
        for what in ("damping", "dampingpoly", "armature", "delay"):
            if np.any(getattr(m, f"actuator_{what}", np.zeros(m.nu))[k]):
                self.report.add("left out", f"{what} of drives", label, "of the actuator")

    def equality(self, e: int) -> None:
        """A connection or a weld of two bodies, or of sites, that closes a loop."""
        m, zero, kinds = self.m, self.zero, self.mujoco.mjtEq
        kind, i, j, data = kinds(int(m.eq_type[e])), int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
        label = self.name_of("EQUALITY", e, "loop")
        if not self.d.eq_active[e] or kind not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD) or self.disabled("EQUALITY"):
            word = kind.name.removeprefix("mjEQ_").lower()
            self.report.add("left out", "constraint", label, f"{word}{'' if self.d.eq_active[e] else ', not active'}")
            return
        weld = kind == kinds.mjEQ_WELD
        of_sites = int(m.eq_objtype[e]) == int(self.mujoco.mjtObj.mjOBJ_SITE)
        place, turn = (zero.site_xpos, zero.site_xmat) if of_sites else (zero.xpos, zero.xmat)
        R, S = turn[i].reshape(3, 3), turn[j].reshape(3, 3)
        if of_sites:
            first, second, relative = np.zeros(3), np.zeros(3), np.eye(3)
        elif weld:
            entries = np.zeros(9)
            self.mujoco.mju_quat2Mat(entries, data[6:10])
            relative = entries.reshape(3, 3)
            first, second = data[3:6], data[:3]  # the anchor in the frame of each body
        else:
            first, second, relative = data[:3], data[3:6], np.eye(3)
        A, B = (self.owner[one] for one in ((m.site_bodyid[i], m.site_bodyid[j]) if of_sites else (i, j)))
        if A == B:
            raise ModelError(
                f'{self.robot.name}: "{label}" connects the body "{self.body_names[A]}" with itself; take it out.'
            )
        names = self.body_names[A], self.body_names[B]
        at_a, at_b = self.point(A, place[i] + R @ first), self.point(B, place[j] + S @ second)
        points: dict[str, Any] = {"at_a": at_a, "at_b": at_b}
        Ra, Rb = R.T @ self.frame(A, zero)[1], S.T @ self.frame(B, zero)[1]
        made = Fixed(label, *names, **points, quaternion=self.quaternion(Ra.T @ relative @ Rb)) if weld else None
        self.add(made or Spherical(label, *names, **points), "taken", "loop", "closed as a joint")

    def shape(self, g: int) -> None:
        """A geom that is seen, for drawing."""
        m, i = self.m, self.owner[self.m.geom_bodyid[g]]
        if m.geom_group[g] >= SEEN or m.geom_rgba[g][3] == 0:
            return
        word = self.kind_of(g)
        at = self.point(i, self.zero.geom_xpos[g])
        R = self.frame(i, self.zero)[1].T @ self.zero.geom_xmat[g].reshape(3, 3)
        size, body = m.geom_size[g], self.body_names[i]
        reach = R[:, 2] * size[1]
        ends = {"start": _three(np.array(at) - reach), "end": _three(np.array(at) + reach)}
        name, mesh = self.name(f"{body}_shape"), int(m.geom_dataid[g])
        if word == "sphere":
            self.robot.add(SphereShape(name, body, radius=float(size[0]), at=at))
        elif word == "capsule":
            self.robot.add(RodShape(name, body, radius=float(size[0]), **ends))
        elif word == "cylinder":
            self.robot.add(CylinderShape(name, body, radius=float(size[0]), **ends))
        elif word == "box":
            self.robot.add(BoxShape(name, body, edges=_three(2 * size), at=at, quaternion=self.quaternion(R)))
        elif word == "mesh" and m.mesh_facenum[mesh] <= MOST_TRIANGLES:
            first, count = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
            faces = m.mesh_face[m.mesh_faceadr[mesh] : m.mesh_faceadr[mesh] + m.mesh_facenum[mesh]]
            surface = Mesh(m.mesh_vert[first : first + count].astype(float), faces)
            self.robot.add(MeshShape(name, body, mesh=surface, at=at, quaternion=self.quaternion(R)))
        else:
            self.report.add("left out", "drawing", name, word)

    def rest(self) -> None:
        """Compensation of gravity, which is taken; contacts, tendons and fluids, which are left out."""
        m = self.m
        for i in range(1, m.nbody):
            factor = float(getattr(m, "body_gravcomp", np.zeros(m.nbody))[i])
            if factor and self.owner[i] and not self.disabled("GRAVITY"):
                force = tuple(float(x) for x in -factor * m.body_mass[i] * m.opt.gravity)
                name, at = self.name(f"{self.body_names[i]}_lift"), self.point(self.owner[i], self.zero.xipos[i])
                lift = PointForce(name, self.body_names[self.owner[i]], force=force, at=at)
                self.add(lift, "taken", "compensation of gravity", f"{factor:g} of the weight")
            if m.body_mocapid[i] >= 0:
                self.report.add("replaced", "mocap body", self.body_names[i], "part of the ground")
        geoms = int(np.count_nonzero(m.geom_contype | m.geom_conaffinity))
        if (geoms > 1 or m.npair) and self.contacts is None and not self.disabled("CONTACT"):
            self.report.add("left out", "contacts", "geoms", f"{geoms} that can touch, {m.npair} pairs by name")
        for t in range(m.ntendon):
            self.report.add(
                "left out", "tendon", self.name_of("TENDON", t, "tendon"), "spring, limits and transmission"
            )
        if m.opt.density or m.opt.viscosity:
            self.report.add("left out", "fluid", "option", f"{m.opt.density:g} kg/m^3, {m.opt.viscosity:g} Pa s")


def _three(vector: Array) -> Any:
    return tuple(map(float, vector))
