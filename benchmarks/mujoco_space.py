"""The spatial problems in MuJoCo, frictionless: sockets are tendons of limited length, as stiff as possible.

Options are those of the planar problems, see `mujoco_models`. A ball in a socket with friction has no counterpart:
tendons have no friction, and MuJoCo's geometries are convex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.mujoco_models import MuJoCoRun as Run
from benchmarks.mujoco_models import _compiled
from nonsmooth_problems.spatial_slider_crank import CASES

__all__ = ["Run", "chain", "pendulum", "slider_crank"]

CLEARANCE = 1e-4


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def _hanging(dt: float, mass: float, inertia: Any, length: float, swing: Any) -> Run:
    """Free links, each connected to the one above by a tendon; the result is the centre of the last one."""
    bodies, tendons, speeds = ['<site name="foot0"/>'], [], []
    for i, (upper, lower) in enumerate(zip(swing[:-1], swing[1:], strict=True), start=1):
        depth = i * CLEARANCE + (i - 0.5) * length
        bodies.append(
            f"""<body pos="0 0 {-depth!r}"><inertial pos="0 0 0" mass="{mass}" diaginertia="{_numbers(inertia)}"/>
            <freejoint/><site name="head{i}" pos="0 0 {length / 2}"/><site name="foot{i}" pos="0 0 {-length / 2}"/>
            </body>"""
        )
        tendons.append(
            f'<spatial limited="true" range="0 {CLEARANCE}"><site site="foot{i - 1}"/><site site="head{i}"/></spatial>'
        )
        x, y, _ = (lower - upper) / length
        speeds += [*(upper + lower) / 2, y, -x, 0.0]
    model = _compiled(dt, "".join(bodies), tendons="".join(tendons))

    def start(data: Any) -> None:
        data.qvel[:] = speeds

    return Run(model, start, lambda data: float(np.max(data.ten_length) - CLEARANCE), lambda data: data.qpos[-7:-4])


def pendulum(dt: float) -> Run:
    """S1."""
    return _hanging(dt, 1.0, (1 / 300, 1 / 300, 4e-4), 0.2, np.array([[0.0, 0.0, 0.0], [0.3, 0.8, 0.0]]))


def chain(dt: float, velocities: Any) -> Run:
    """S2, with the velocities of the joints at the start."""
    mass, length = 0.1, 0.1
    across = mass * length**2 / 12
    return _hanging(dt, mass, (across, across, across / 10), length, velocities)


def slider_crank(dt: float, loose: bool) -> Run:
    """S3, a tree of crank and rod, and the slider; they are connected softly, or by a tendon."""
    one = CASES["rssp"]
    (pin, moves), (place, rate) = one.crank_pin(0.0), one.slider(0.0)
    end = np.array(one.line) + place * np.array(one.slide)
    rod = end - pin
    # its frame: x towards the slider
    side = np.cross(rod, [0.0, 0.0, 1.0])
    axes = _numbers([*rod, *side])
    inertia = [_numbers(moments) for moments in one.inertias]
    about, across, _ = one.inertias[0]  # with a flywheel, whose inertia belongs to the joint
    body = f"""<body><inertial pos="0 0 0" mass="{one.masses[0]}" diaginertia="{across} {across} {across}"/>
    <joint type="hinge" axis="1 0 0" armature="{about - across}"/>
    <body pos="{_numbers(pin)}" xyaxes="{axes}"><joint type="ball"/>
    <inertial pos="{one.rod / 2} 0 0" mass="{one.masses[1]}" diaginertia="{inertia[1]}"/>
    <site name="end" pos="{one.rod} 0 0"/></body></body>
    <body name="slider" pos="{_numbers(end)}"><inertial pos="0 0 0" mass="{one.masses[2]}" diaginertia="{inertia[2]}"/>
    <joint type="slide" axis="0 1 0"/><site name="slider"/></body>"""
    points = '<site site="end"/><site site="slider"/>'
    if loose:
        model = _compiled(dt, body, tendons=f'<spatial limited="true" range="0 {CLEARANCE}">{points}</spatial>')
    else:
        joined = f'<connect site1="end" site2="slider" solref="{2 * dt!r} 1" solimp=".9999 .9999 .001 .5 2"/>'
        model = _compiled(dt, body, tendons=f"</tendon><equality>{joined}</equality><tendon>")
    # rotation of the rod relative to the crank's body, in its own axes
    swing = (rate * np.array(one.slide) - moves) * one.speed / one.rod
    along = rod / np.linalg.norm(rod)
    omega = np.cross(along, swing) - [one.speed, 0.0, 0.0]
    frame = np.column_stack([along, side / np.linalg.norm(side), np.cross(along, side / np.linalg.norm(side))])

    def start(data: Any) -> None:
        data.qvel[0], data.qvel[1:4], data.qvel[4] = one.speed, frame.T @ omega, rate * one.speed

    def depth(data: Any) -> float:
        apart = float(np.linalg.norm(data.site_xpos[0] - data.site_xpos[1]))
        return apart - CLEARANCE if loose else apart

    return Run(model, start, depth, lambda data: float(data.qpos[-1]) + place)
