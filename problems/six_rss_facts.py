"""Numerical results for the 6-RSS robot: inverse kinematics, rank, deviation and forces with clearance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.registry import Fact, Facts
from nonsmooth.model.system import System
from nonsmooth_problems.robot_dynamics import jacobian, reactions, states
from nonsmooth_problems.robot_poses import evaluated
from nonsmooth_problems.six_rss_elastic_facts import ELASTIC_FACTS
from nonsmooth_problems.six_rss_motion import LEGS

if TYPE_CHECKING:
    from nonsmooth.trajectory import Trajectory

__all__ = ["FACTS", "residual", "crank_angles", "deviation", "figures", "rod_forces"]

#: length of the published runs, step, and time from which means are taken [s]
DURATION, DT, SETTLED = 2.0, 2e-4, 0.3
POINTS = 401
AXES = ("x", "y", "z")


def residual(times: Array) -> float:
    """Largest deviation [m] of a rod's length, from the poses that the inverse kinematics gives at these times [s]."""
    from nonsmooth_problems.six_rss import motion

    path, t = motion(), ca.SX.sym("t")
    sizes, poses = path.dimensions, evaluated(t, path.poses(t), times)
    r, R = poses["platform"][:2]
    worst = 0.0
    for leg in LEGS:
        ball = r + R @ np.array(path.platform_joint(leg))
        centre, frame = poses[f"crank{leg}"][:2]
        knee = centre + sizes.crank / 2 * frame[:, :, 0]
        worst = max(worst, float(np.max(np.abs(np.linalg.norm(ball - knee, axis=1) - sizes.rod))))
    return worst


def crank_angles(times: Array) -> Array:
    """Angles (n, 6) [rad] of the cranks by inverse kinematics."""
    from nonsmooth_problems.six_rss import motion

    path, t = motion(), ca.SX.sym("t")
    angles = ca.Function("angles", [t], [ca.vertcat(*(path.angle(leg, t) for leg in LEGS))])
    return np.array([np.array(angles(float(time))).ravel() for time in times])


def rod_forces(system: System, times: Array) -> Array:
    """Forces (n, 6) [N] between rods and platform of the ideal robot on its path."""
    from nonsmooth_problems.six_rss import motion

    t = ca.SX.sym("t")
    found = [reactions(system, state) for state in states(system, t, motion().poses(t), times)]
    return np.array([[np.hypot.reduce([one[f"ball{leg}.{axis}"] for axis in AXES]) for leg in LEGS] for one in found])


def deviation(run: Trajectory) -> Array:
    """Displacement (n, 3) [m] of the platform from its path."""
    from nonsmooth_problems.six_rss import motion

    path, t = motion(), ca.SX.sym("t")
    place = ca.Function("place", [t], [path.platform(t).r])
    ideal = np.array([np.array(place(float(time))).ravel() for time in run.t])
    return np.column_stack([run.q[f"platform.{axis}"] for axis in AXES]) - ideal


def figures(run: Trajectory) -> dict[str, Any]:
    """Of a run with clearance.

    Returns
    -------
    dict
        ``largest`` (3,) [m] deviations of the platform in the whole run; means after 0.3 s: ``sag`` [m], ``closed`` the
        number of closed contacts, ``forces`` (12,) [N] of each contact, impulses included; contacts of shafts are not
        counted.
    """
    moved, late = deviation(run), run.t > SETTLED
    balls = [name for name in run.gap.names if not name.startswith("shaft")]
    impulses = np.column_stack([run.P_N[name] for name in balls])[late]
    return {
        "largest": np.max(np.abs(moved), axis=0),
        "sag": float(np.mean(moved[late, 2])),
        "closed": float(np.mean(np.sum(impulses > 0.0, axis=1))),
        "forces": np.sum(impulses, axis=0) / np.sum(np.diff(run.t)[late[1:]]),
    }


# ------------------------------------------------------------------------------------------------------------- figures


def _ideal() -> Mapping[str, float]:
    from nonsmooth_problems.six_rss import six_rss

    system, times = six_rss(ideal=True).build(), np.linspace(0.0, 1.0, POINTS)
    rank = int(np.linalg.matrix_rank(jacobian(system, system.start)))
    angles = np.degrees(crank_angles(times))
    at_balls = rod_forces(system, times)
    return {
        "velocities": system.nv,
        "constraints, ideal": system.ng,
        "rank of constraints, ideal": rank,
        "freedoms, ideal": system.nv - rank,
        "residual of the inverse kinematics": residual(times),
        "least crank angle": float(np.min(angles)),
        "largest crank angle": float(np.max(angles)),
        "least force of a rod on the platform": float(np.min(at_balls)),
    }


def _run(clearance: float) -> Mapping[str, float]:
    from nonsmooth.run.simulate import simulate
    from nonsmooth.schemes.moreau_jean.settings import MoreauJean
    from nonsmooth_problems.six_rss import six_rss

    run = simulate(six_rss(clearance=clearance).build(), MoreauJean(), t_end=DURATION, dt=DT)
    found, name = figures(run), f"c {1e3 * clearance:g} mm"
    measured = {f"largest {axis} error, {name}": 1e3 * found["largest"][i] for i, axis in enumerate(AXES)}
    return measured | {
        f"mean sag, {name}": 1e3 * found["sag"],
        f"closed contacts, {name}": found["closed"],
        f"largest mean force of a contact, {name}": float(np.max(found["forces"])),
    }


def _quarter() -> Mapping[str, float]:
    return _run(0.25e-3)


def _half() -> Mapping[str, float]:
    return _run(0.5e-3)


def _largest(name: str, expected: tuple[float, float]) -> tuple[Fact, ...]:
    """Along y and z; along x it belongs to impacts after the start and depends on the step, docs/papers.md."""
    return tuple(
        Fact(f"largest {axis} error, {name}", "mm", size, 0.1 * size, "from the path, in 2 s")
        for axis, size in zip("yz", expected, strict=True)
    )


FACTS = (
    Facts(
        "ideal robot",
        _ideal,
        (
            Fact("velocities", "-", 78, 0.0),
            Fact("constraints, ideal", "-", 72, 0.0),
            Fact("rank of constraints, ideal", "-", 72, 0.0),
            Fact("freedoms, ideal", "-", 6, 0.0, "each rod spins about its axis"),
            Fact("residual of the inverse kinematics", "m", 0.0, 1e-12, "of the rods' lengths"),
            Fact("least crank angle", "deg", -33, 0.5),
            Fact("largest crank angle", "deg", 62, 0.5),
            Fact("least force of a rod on the platform", "N", 0.9, 0.1, "by inverse dynamics on the path"),
        ),
    ),
    Facts(
        "12 clearances of 0.25 mm",
        _quarter,
        (
            *_largest("c 0.25 mm", (0.29, 0.62)),
            Fact("mean sag, c 0.25 mm", "mm", -0.59, 0.059, "after 0.3 s"),
            Fact("closed contacts, c 0.25 mm", "-", 9, 2.0, "mean after 0.3 s, of 12"),
            Fact("largest mean force of a contact, c 0.25 mm", "N", 10, 1.0, "after 0.3 s, of the 12"),
        ),
    ),
    Facts("12 clearances of 0.5 mm", _half, _largest("c 0.5 mm", (0.65, 1.23))),
    *ELASTIC_FACTS,
)
