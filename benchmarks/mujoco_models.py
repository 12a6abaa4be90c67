"""The four problems in MuJoCo, as stiff and as exact as possible.

Contacts and clearances are soft limits in MuJoCo's Newton solver: ``solref = 2 dt`` (its stiffest stable value),
``solimp = .9999``, so penetration shrinks with the step. There is no restitution: P2 and P3 are other models, compared
for cost alone. Mechanisms are kinematic trees where possible, for which MuJoCo is designed; all runs are sequences of
``mj_step`` within one call into C, without recording.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

__all__ = ["MuJoCoRun", "installed", "mujoco_run"]

#: options for the step size dt
SOLVER = 'solreflimit="{solref} 1" solimplimit=".9999 .9999 .001 .5 2"'
OPTION = (
    '<option timestep="{dt}" gravity="0 0 {gravity}" integrator="Euler" solver="Newton" cone="elliptic" '
    'iterations="100" tolerance="1e-12"><flag {flags} energy="disable"/></option>'
    '<size memory="{memory}"/>'
)
#: inertia that keeps the speed of a crank constant under any load [kg m^2]
FLYWHEEL = 1e7


def installed() -> str | None:
    """MuJoCo's version, or None."""
    try:
        return str(importlib.import_module("mujoco").__version__)
    except ImportError:
        return None


@dataclass
class MuJoCoRun:
    """A model in MuJoCo, of which `steps` steps can be run repeatedly from the start.

    Parameters
    ----------
    model, start : the model, and a function that sets an MjData to the initial state
    depth : penetration [m] of an MjData, at its last step
    result : the number that is compared with a reference
    """

    model: Any
    start: Callable[[Any], None]
    depth: Callable[[Any], float]
    result: Callable[[Any], float]

    def data(self) -> Any:
        """At the start."""
        mujoco = importlib.import_module("mujoco")
        data = mujoco.MjData(self.model)
        self.start(data)
        mujoco.mj_forward(self.model, data)
        return data

    def steps(self, data: Any, count: int) -> None:
        """In one call."""
        importlib.import_module("mujoco").mj_step(self.model, data, nstep=count)

    def violation(self, count: int) -> float:
        """Deepest penetration over a run [m]."""
        data, deepest = self.data(), 0.0
        for _ in range(count):
            self.steps(data, 1)
            deepest = max(deepest, self.depth(data))
        return deepest

    def end(self, count: int) -> float:
        """The result of a run."""
        data = self.data()
        self.steps(data, count)
        return self.result(data)


def mujoco_run(problem: str, dt: float, **options: Any) -> MuJoCoRun:
    """ "P1" (case), "P2", "P3" or "P4" (n), with the step dt [s]."""
    makers: dict[str, Callable[..., MuJoCoRun]] = {
        "P1": _slider_rod,
        "P2": _slider_crank_translational,
        "P3": _slider_crank_revolute,
        "P4": _chain,
    }
    return makers[problem](dt, **options)


def _compiled(
    dt: float, body: str, gravity: float = -9.81, contact: bool = False, tendons: str = "", memory: str = "-1"
) -> Any:
    soft = f'solref="{2 * dt!r} 1" solimp=".9999 .9999 .001 .5 2"'
    flags = f'contact="{"enable" if contact else "disable"}" warmstart="enable"'
    xml = f"""<mujoco>{OPTION.format(dt=repr(dt), gravity=gravity, flags=flags, memory=memory)}
    <compiler angle="radian" balanceinertia="false"/>
    <default><tendon {SOLVER.format(solref=repr(2 * dt))}/>
    <geom {soft} condim="3" contype="0" conaffinity="0" mass="0"/></default>
    <worldbody>{body}</worldbody><tendon>{tendons}</tendon></mujoco>"""
    return importlib.import_module("mujoco").MjModel.from_xml_string(xml)


def _inertial(mass: float, inertia: float, at: str = "0 0 0") -> str:
    """Moments of inertia in the plane x-z; about the other axes something that cannot matter."""
    return f'<inertial pos="{at}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'


def _slider_rod(dt: float, case: int = 1) -> MuJoCoRun:
    """P1: x, z, and a turn; both ends' heights are limited tendons (linear in the angle, which stays below 1e-3)."""
    a, c, force = 0.01, 1e-5, 50.0
    offset, gravity = {1: (0.0, -9.81), 2: (0.5e-3, -9.81), 3: (10e-3, 0.0)}[case]
    body = f"""<body>{_inertial(5.0, 8e-4)}<joint name="x" type="slide" axis="1 0 0"/>
    <joint name="y" type="slide" axis="0 0 1"/><joint name="turn" type="hinge" axis="0 -1 0"/></body>"""
    tendons = "".join(
        f'<fixed limited="true" range="{-c} {c}"><joint joint="y" coef="1"/><joint joint="turn" coef="{arm}"/></fixed>'
        for arm in (-a, a)
    )
    model = _compiled(dt, body, gravity, tendons=tendons)

    def start(data: Any) -> None:
        data.qfrc_applied[:] = force, 0.0, -offset * force

    def depth(data: Any) -> float:
        swing = a * np.sin(data.qpos[2])
        return float(max(abs(data.qpos[1] - swing), abs(data.qpos[1] + swing)) - c)

    return MuJoCoRun(model, start, depth, lambda data: float(data.qpos[1]))


def _slider_crank_translational(dt: float) -> MuJoCoRun:
    """P2: a tree of three hinges; the slider's corners are four points against two planes, with friction."""
    l1, l2, a, b, c = 0.153, 0.306, 0.05, 0.025, 1e-3
    tiny = 1e-6  # radius of the points
    corners = "".join(
        f'<geom type="sphere" size="{tiny}" pos="{x * a} 0 {z * (b - tiny)}" contype="{1 if z < 0 else 2}"/>'
        for x in (-1, 1)
        for z in (-1, 1)
    )
    body = f"""<geom type="plane" size="1 1 1" pos="0 0 {-b - c}" conaffinity="1" friction=".01 0 0"/>
    <geom type="plane" size="1 1 1" pos="0 0 {b + c}" zaxis="0 0 -1" conaffinity="2" friction=".01 0 0"/>
    <body>{_inertial(0.038, 7.4e-5, f"{l1 / 2} 0 0")}<joint type="hinge" axis="0 -1 0"/>
    <body pos="{l1} 0 0">{_inertial(0.038, 5.9e-4, f"{l2 / 2} 0 0")}<joint type="hinge" axis="0 -1 0"/>
    <body pos="{l2} 0 0">{_inertial(0.076, 2.7e-6)}<joint type="hinge" axis="0 -1 0"/>{corners}</body></body></body>"""
    model = _compiled(dt, body.replace('<geom type="sphere"', '<geom friction=".01 0 0" type="sphere"'), contact=True)

    def start(data: Any) -> None:
        data.qvel[:] = 150.0, -225.0, 75.0

    def depth(data: Any) -> float:
        return float(max(0.0, -np.min(data.contact.dist, initial=0.0)))

    return MuJoCoRun(model, start, depth, lambda data: float(data.qpos[0]))


def _slider_crank_revolute(dt: float) -> MuJoCoRun:
    """P3: crank with a flywheel of constant speed, rod, slider on a rail; a tendon no longer than the clearance."""
    r, rod, c, speed = 0.05, 0.12, 0.5e-3, 5000 * pi / 30
    body = f"""<body>{_inertial(0.30, 1e-4, f"{r / 2} 0 0")}<joint type="hinge" axis="0 -1 0" armature="{FLYWHEEL}"/>
    <body pos="{r} 0 0">{_inertial(0.21, 2.5e-4, f"{rod / 2} 0 0")}<joint type="hinge" axis="0 -1 0"/>
    <site name="pin" pos="{rod} 0 0"/></body></body>
    <body pos="{r + rod} 0 0">{_inertial(0.14, 1e-4)}<joint type="slide" axis="1 0 0"/><site name="slider"/></body>"""
    tendon = f'<spatial limited="true" range="0 {c}"><site site="pin"/><site site="slider"/></spatial>'
    model = _compiled(dt, body, 0.0, tendons=tendon)

    def start(data: Any) -> None:
        data.qvel[:] = speed, -speed - r * speed / rod, 0.0

    return MuJoCoRun(model, start, lambda data: float(data.ten_length[0] - c), lambda data: float(data.qpos[2]))


def _chain(dt: float, n: int = 1) -> MuJoCoRun:
    """P4: free links in the plane, each held to the one above by a tendon no longer than the clearance."""
    length, mass, c = 0.1, 0.1, 0.5e-3
    bodies, tendons = ['<site name="foot0"/>'], []
    depths = [i * c + (i - 0.5) * length for i in range(1, n + 1)]
    for i, z in enumerate(depths, start=1):
        bodies.append(
            f"""<body pos="0 0 {-z!r}">{_inertial(mass, mass * length**2 / 12)}<joint type="slide" axis="1 0 0"/>
            <joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 -1 0"/>
            <site name="head{i}" pos="0 0 {length / 2}"/><site name="foot{i}" pos="0 0 {-length / 2}"/></body>"""
        )
        tendons.append(
            f'<spatial limited="true" range="0 {c}"><site site="foot{i - 1}"/><site site="head{i}"/></spatial>'
        )
    memory = "-1" if n <= 256 else "1G"
    model = _compiled(dt, "".join(bodies), tendons="".join(tendons), memory=memory)
    speeds = np.column_stack([depths, np.zeros(n), np.ones(n)]).ravel()

    def start(data: Any) -> None:
        data.qvel[:] = speeds

    return MuJoCoRun(model, start, lambda data: float(np.max(data.ten_length) - c), lambda data: float(data.qpos[-3]))
