"""Mechanisms with poses in closed form, and Newton's and Euler's equations written for them.

The reference shares no code with the package: bodies have explicit poses R(u), r(u), differentiated twice by the chain
rule; of each body F = m (c'' - g), n = J omega' + omega x J omega; driving forces follow from the balance of moments
of what a joint carries (trees), or from all balances with unknown joint forces (closed loops).
"""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    Gravity,
    Ground,
    Model,
    PlanarBody,
    PrescribedMotion,
    Prismatic,
    Revolute,
    SpatialBody,
    Spherical,
    Universal,
)
from nonsmooth.identification import LinkFrame, regressor

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
#: alpha [rad], a [m], d [m] of the Puma 560, standard convention
PUMA = [
    (np.pi / 2, 0.0, 0.0),
    (0.0, 0.4318, 0.0),
    (-np.pi / 2, 0.0203, 0.15005),
    (np.pi / 2, 0.0, 0.4318),
    (-np.pi / 2, 0.0, 0.0),
    (0.0, 0.0, 0.0),
]
TWO_R = [(0.0, 0.5, 0.0), (0.0, 0.4, 0.0)]
DOWN = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="session")
def closed_form():
    """What is defined below, by its name."""
    return SimpleNamespace(**{name: value for name, value in globals().items() if not name.startswith("_")})


# ------------------------------------------------------------------------------------------------------- the reference


def turned(axis, angle):
    c, s, o, i = ca.cos(angle), ca.sin(angle), 0.0, 1.0
    rows = {"x": [[i, o, o], [o, c, -s], [o, s, c]], "y": [[c, o, s], [o, i, o], [-s, o, c]],
            "z": [[c, -s, o], [s, c, o], [o, o, i]]}[axis]  # fmt: skip
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def body_motion(u, poses):
    """(u, u', u'') -> of each frame R, r, omega, omega', r''."""
    w, dw = ca.SX.sym("w", u.numel()), ca.SX.sym("dw", u.numel())

    def rate(x):
        return ca.reshape(ca.jtimes(ca.vec(x), ca.vertcat(u, w), ca.vertcat(w, dw)), *x.shape)

    outputs = []
    for R, r in poses:
        spin = rate(R) @ R.T
        omega = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
        outputs += [R, r, omega, rate(omega), rate(rate(r))]
    function = ca.Function("motion", [u, w, dw], outputs)

    def evaluated(*state):
        found = [np.array(one) for one in function(*state)]
        return [
            (R, r.ravel(), o.ravel(), do.ravel(), a.ravel()) for R, r, o, do, a in zip(*[iter(found)] * 5, strict=True)
        ]

    return evaluated


class Inertia:
    """A random rigid body: mass, centre of mass and inertia about it, in the link frame."""

    def __init__(self, random):
        self.mass, self.centre = random.uniform(0.5, 2.0), random.normal(0.0, 0.1, 3)
        A = random.normal(0.0, 0.05, (3, 3))
        self.J = A @ A.T + 1e-3 * np.eye(3)

    @property
    def parameters(self):
        about = self.J + self.mass * (self.centre @ self.centre * np.eye(3) - np.outer(self.centre, self.centre))
        entries = [about[0, 0], about[0, 1], about[0, 2], about[1, 1], about[1, 2], about[2, 2]]
        return np.array([*entries, *(self.mass * self.centre), self.mass])

    def wrench(self, pose, g):
        """Force, moment about the centre of mass, and its position, in the ground frame."""
        R, r, omega, alpha, a = pose
        arm, J = R @ self.centre, R @ self.J @ R.T
        acceleration = a + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        return self.mass * (acceleration - g), J @ alpha + np.cross(omega, J @ omega), r + arm


def tree_torques(poses, inertias, axes, g):
    """Moment about each axis (point, direction) of what is carried beyond it."""
    wrenches = [body.wrench(pose, g) for body, pose in zip(inertias, poses, strict=True)]
    found = []
    for k, (point, direction) in enumerate(axes):
        beyond = [n + np.cross(at - point, F) for F, n, at in wrenches[k:]]
        found.append(direction @ np.sum(beyond, axis=0))
    return np.array(found)


def worst_difference(Y, reference, bounds, seed):
    """Largest difference of driving forces over random states and inertias, as a share of the largest force."""
    random = np.random.default_rng(seed)
    states = [random.uniform(*(bounds if k == 0 else (-2.0, 2.0)), (100, len(Y.drives))) for k in range(3)]
    inertias = [Inertia(random) for _ in Y.frames]
    theta = np.concatenate([body.parameters for body in inertias])
    found = Y(*states) @ theta
    expected = np.array([reference(inertias, *state) for state in zip(*states, strict=True)])
    return np.max(np.abs(found - expected)) / np.max(np.abs(expected))


# ---------------------------------------------------------------------------------------------------------- mechanisms


def serial(table, gravity=DOWN):
    """A chain of revolute joints; frames of the bodies are those of the standard convention."""
    model = Model([Ground()])
    R, r = np.eye(3), np.zeros(3)
    frames = {}
    for k, (alpha, a, d) in enumerate(table, start=1):
        before = R
        step = np.array(ca.DM(turned("x", alpha)))
        offset = np.array([a, 0.0, d])
        r, R = r + R @ offset, R @ step
        w = 0.5 * np.sqrt(max(1.0 + np.trace(R), 0.0))
        if w > 0.1:
            vector = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)
        else:
            raise AssertionError("choose another start")
        body, last = f"link{k}", "ground" if k == 1 else f"link{k - 1}"
        model.add(SpatialBody(body, 1.0, (0.01,) * 3, position=tuple(r), quaternion=(w, *vector)))
        axis = tuple(step.T @ Z)
        at_b = tuple(-step.T @ offset)
        model.add(Revolute(f"joint{k}", last, body, at_b=at_b, at_a=(0.0,) * 3, axis_a=Z, axis_b=axis))
        half = alpha / 2
        model.add(
            PrescribedMotion(
                f"motor{k}", last, body, coordinate="angle", motion=0.0, axis_a=Z,
                quaternion=(np.cos(half), np.sin(half), 0.0, 0.0),
            )
        )  # fmt: skip
        frames[body] = LinkFrame((0.0, 0.0, 0.0))
        assert before.shape == (3, 3)
    if gravity is not None:
        model.add(Gravity(acceleration=tuple(gravity)))
    return regressor(model.build(), [f"motor{k}" for k in range(1, len(table) + 1)], frames=frames)


def serial_reference(table, g=DOWN):
    u = ca.SX.sym("u", len(table))
    poses, R, r = [], ca.SX.eye(3), ca.SX.zeros(3)
    joints = []
    for k, (alpha, a, d) in enumerate(table):
        joints.append((R, r))
        r = r + R @ turned("z", u[k]) @ ca.SX([a, 0, d])
        R = R @ turned("z", u[k]) @ turned("x", alpha)
        poses.append((R, r))
    moved = body_motion(u, joints + poses)

    def torques(inertias, *state):
        found = moved(*state)
        axes = [(one[1], one[0][:, 2]) for one in found[: len(table)]]
        return tree_torques(found[len(table) :], inertias, axes, g)

    return torques


def pointing_reference(length=0.1, g=(-9.81, 0.0, 0.0)):
    u = ca.SX.sym("u", 2)
    first = turned("z", u[0])
    second = first @ turned("x", np.pi / 2) @ turned("z", u[1])
    moved = body_motion(u, [(first, ca.SX.zeros(3)), (second, first @ ca.SX([length, 0, 0]))])

    def torques(inertias, *state):
        found = moved(*state)
        axes = [(found[0][1], np.array(Z)), (found[1][1], found[1][0][:, 2])]
        return tree_torques(found, inertias, axes, np.array(g))

    return torques


LENGTHS = (0.10, 0.35, 0.25, 0.30)  # crank, coupler, rocker, ground of the four-bar


def four_bar_poses(u):
    """Crank, coupler and rocker, each at its first pin, by the angle of the crank."""
    a, b, c, d = LENGTHS
    B = ca.vertcat(a * ca.cos(u), a * ca.sin(u))
    line = ca.vertcat(d, 0) - B
    L = ca.norm_2(line)
    beta = ca.atan2(line[1], line[0]) + ca.acos((b**2 + L**2 - c**2) / (2 * b * L))
    C = B + b * ca.vertcat(ca.cos(beta), ca.sin(beta))
    gamma = ca.atan2(C[1], C[0] - d)
    return [(u, ca.SX.zeros(2)), (beta, B), (gamma, ca.SX([d, 0]))]


def four_bar():
    start = 0.7
    u = ca.SX.sym("u")
    poses = [
        np.array(one).ravel() for one in ca.Function("p", [u], [ca.vertcat(x, r) for x, r in four_bar_poses(u)])(start)
    ]
    model = Model([Ground()])
    for name, length, (angle, x, y) in zip(("crank", "coupler", "rocker"), LENGTHS, poses, strict=False):
        at = (x + length / 2 * np.cos(angle), y + length / 2 * np.sin(angle))
        model.add(PlanarBody(name, 1.0, 0.01, position=at, angle=angle))
    half = [length / 2 for length in LENGTHS]
    model.add(Revolute("A", "ground", "crank", at_b=(-half[0], 0.0)))
    model.add(Revolute("B", "crank", "coupler", at_a=(half[0], 0.0), at_b=(-half[1], 0.0)))
    model.add(Revolute("D", "ground", "rocker", at_a=(LENGTHS[3], 0.0), at_b=(-half[2], 0.0)))
    model.add(Revolute("C", "coupler", "rocker", at_a=(half[1], 0.0), at_b=(half[2], 0.0)))
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=start))
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return regressor(model.build(assemble=True), ["motor"])


def four_bar_reference():
    """All nine balances of the three links with eight pin forces and the torque unknown."""
    u = ca.SX.sym("u", 1)
    moved = body_motion(u, [(turned("z", x), ca.vertcat(r, 0)) for x, r in four_bar_poses(u[0])])
    g = np.array([0.0, -9.81, 0.0])

    def cross(arm, F):
        return arm[0] * F[1] - arm[1] * F[0]

    def torques(inertias, *state):
        poses = moved(*state)
        flat = [Planar.of(body) for body in inertias]
        wrenches = [body.wrench(pose, g) for body, pose in zip(flat, poses, strict=True)]
        A, B, D = (pose[1] for pose in poses)
        C = B + poses[1][0] @ np.array([LENGTHS[1], 0.0, 0.0])
        # unknown forces at A, B (on the coupler), C (on the rocker), D, and the torque
        pins = [(A, {0: 1}), (B, {1: 1, 0: -1}), (C, {2: 1, 1: -1}), (D, {2: 1})]
        matrix, right = np.zeros((9, 9)), np.zeros(9)
        for body, (F, n, at) in enumerate(wrenches):
            right[3 * body : 3 * body + 3] = F[0], F[1], n[2]
            for k, (point, acts) in enumerate(pins):
                sign = acts.get(body, 0)
                for axis in range(2):
                    e = np.eye(2)[axis]
                    matrix[3 * body : 3 * body + 3, 2 * k + axis] = sign * np.array([*e, cross((point - at)[:2], e)])
        matrix[2, 8] = 1.0
        return np.linalg.solve(matrix, right)[8:]

    return torques


class Planar(Inertia):
    """The same body in the plane."""

    @classmethod
    def of(cls, body):
        flat = cls.__new__(cls)
        flat.mass, flat.J, flat.centre = body.mass, body.J, np.array([*body.centre[:2], 0.0])
        return flat

    @property
    def parameters(self):
        Izz = self.J[2, 2] + self.mass * (self.centre @ self.centre)
        return np.array([Izz, *(self.mass * self.centre[:2]), self.mass])


CRANK, ROD, AT = 0.08, 0.3, (0.0, 0.1, 0.12)


def spatial_slider_poses(u):
    """Crank about x, rod from the slider to the ball, slider along x; see the model below."""
    R = turned("x", u)
    ball = ca.SX(AT) + R @ ca.SX([0, 0, CRANK])
    x = ca.sqrt(ROD**2 - ball[1] ** 2 - ball[2] ** 2)
    slider = ca.vertcat(x, 0, 0)
    along = (ball - slider) / ROD
    arm = ca.cross(ca.SX(X), along)
    arm = arm / ca.norm_2(arm)  # second arm of the cross, perpendicular to x, held by the rod
    return [(R, ca.SX(AT)), (ca.horzcat(ca.cross(arm, along), arm, along), slider), (ca.SX.eye(3), slider)]


def spatial_slider_crank():
    """A closed loop in space: ball between crank and rod, universal joint between rod and slider."""
    u = ca.SX.sym("u")
    outputs = [ca.horzcat(R, r) for R, r in spatial_slider_poses(u)]
    poses = [np.array(one) for one in ca.Function("p", [u], outputs)(0.0)]
    model = Model([Ground()])
    for name, pose in zip(("crank", "rod", "slider"), poses, strict=True):
        model.add(SpatialBody(name, 1.0, (0.01,) * 3, position=tuple(pose[:, 3]), quaternion=quaternion(pose[:, :3])))
    model.add(Revolute("bearing", "ground", "crank", at_a=AT, at_b=(0.0,) * 3, axis_a=X, axis_b=X))
    model.add(Universal("cross", "slider", "rod", axis_a=X, axis_b=Y))
    model.add(Spherical("ball", "crank", "rod", at_a=(0.0, 0.0, CRANK), at_b=(0.0, 0.0, ROD)))
    model.add(Prismatic("guide", "ground", "slider", axis_a=X))
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=0.0, axis_a=X))
    model.add(Gravity(acceleration=tuple(DOWN)))
    frames = {name: LinkFrame((0.0,) * 3) for name in ("crank", "rod", "slider")}
    return regressor(model.build(assemble=True), ["motor"], frames=frames)


def quaternion(R):
    """By the eigenvector of Bar-Itzhack's matrix."""
    K = np.zeros((4, 4))
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    return tuple(np.linalg.eigh(K)[1][:, -1])


def spatial_slider_reference():
    """Balance of the rod (6 equations) and of the slider along x, with the ball's and the cross's reactions unknown."""
    u = ca.SX.sym("u", 1)
    moved = body_motion(u, spatial_slider_poses(u[0]))

    def torques(inertias, *state):
        poses = moved(*state)
        (F1, n1, at1), (F2, n2, at2), (F3, _, _) = (b.wrench(p, DOWN) for b, p in zip(inertias, poses, strict=True))
        slider, ball = poses[2][1], poses[1][1] + poses[1][0] @ np.array([0.0, 0.0, ROD])
        normal = np.cross(X, poses[1][0][:, 1])  # the cross carries a moment normal to both arms
        matrix, right = np.zeros((7, 7)), np.concatenate([F2, n2, F3[:1]])
        for k in range(3):
            e = np.eye(3)[k]
            matrix[:6, k] = np.concatenate([e, np.cross(ball - at2, e)])
            matrix[:6, 3 + k] = np.concatenate([e, np.cross(slider - at2, e)])
        matrix[3:6, 6], matrix[6, 3] = normal, -1.0
        on_rod = np.linalg.solve(matrix, right)[:3]
        return np.array([(n1 + np.cross(at1 - np.array(AT), F1) + np.cross(ball - np.array(AT), on_rod))[0]])

    return torques
