"""What the sag of the 6-RSS robot's platform consists of: clearance, stretch of flexible rods, overlap of contacts.

For small displacements dr, dtheta of the platform the distance of each ball from its knee changes by
``n_i . (dr + dtheta x a_i)``, with the direction n_i of the leg and the arm a_i from the platform's centre to the ball.
This distance is the length of the rod, and the displacements of both balls in their sockets along n_i; solved for dr it
says which part of the displacement is due to which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import node_positions
from nonsmooth_problems.robot_dynamics import reactions, states
from nonsmooth_problems.six_rss import VALUE, motion, six_rss
from nonsmooth_problems.six_rss_facts import SETTLED, deviation
from nonsmooth_problems.six_rss_motion import LEGS
from nonsmooth_problems.six_rss_structure import ALUMINIUM, ROD

if TYPE_CHECKING:
    from nonsmooth.trajectory import Trajectory

__all__ = ["Sag", "sag", "stretched"]

QUATERNION, AXES = ("qw", "qx", "qy", "qz"), ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Sag:
    """Displacement (n,) [m] of the platform along z, upwards, from its path, and parts of it.

    Parameters
    ----------
    t : (n,) [s]
    total : (n,) [m]
    stretch : (n,) [m]
        By rods that are longer or shorter than at rest, zero for rigid ones.
    overlap : (n,) [m]
        By balls beyond their clearance: the constraint drift of a stepper that satisfies contacts in velocities.
    """

    t: Array
    total: Array
    stretch: Array
    overlap: Array

    @property
    def clearance(self) -> Array:
        """The rest (n,) [m], by displacements of the balls within their clearance."""
        return self.total - self.stretch - self.overlap

    def means(self) -> dict[str, float]:
        """Means [m] after the first 0.3 s, of total, clearance, stretch and overlap."""
        late = self.t > SETTLED
        parts = ("total", "clearance", "stretch", "overlap")
        return {name: float(np.mean(getattr(self, name)[late])) for name in parts}


def _by_lengths(along: Array, arms: Array) -> Array:
    """Displacement (n, 3) of the platform per change of each leg's length, (n, 3, 6).

    Parameters
    ----------
    along, arms : (n, 6, 3)
        Directions of the legs, and arms of the balls [m] from the platform's centre.
    """
    found: Array = np.linalg.inv(np.concatenate([along, np.cross(arms, along)], axis=2))[:, :3]
    return found


def _posed(run: Trajectory, body: str) -> tuple[Array, Array]:
    """Places (n, 3) [m] and rotation matrices (n, 3, 3) of a body."""
    from scipy.spatial.transform import Rotation

    q = np.column_stack([run.q[f"{body}.{name}"] for name in QUATERNION])
    turned = Rotation.from_quat(np.roll(q, -1, axis=1)).as_matrix()
    return np.column_stack([run.q[f"{body}.{axis}"] for axis in AXES]), turned


def _ends(run: Trajectory, rod: str) -> tuple[Array, Array]:
    """Centres (n, 3) [m] of the balls at the knee's and the platform's end of a rod."""
    if f"{rod}.eta1" in run.q:
        return node_positions(run, f"{rod}.knee"), node_positions(run, f"{rod}.ball")
    place, turned = _posed(run, rod)
    half = VALUE["rod.length"] / 2 * turned[:, :, 0]
    return place - half, place + half


def sag(run: Trajectory, clearance: float) -> Sag:
    """Of a run with clearance [m] in its balls, rigid or flexible rods."""
    path = motion()
    centre, turned = _posed(run, "platform")
    along, arms, longer, beyond = [], [], [], []
    for leg in LEGS:
        crank, frame = _posed(run, f"crank{leg}")
        knee = crank + path.dimensions.crank / 2 * frame[:, :, 0]
        arm = turned @ np.array(path.platform_joint(leg))
        first, last = _ends(run, f"rod{leg}")
        leg_axis = centre + arm - knee
        leg_axis /= np.linalg.norm(leg_axis, axis=1)[:, None]
        overlap = 0.0
        for moved in (first - knee, centre + arm - last):
            size = np.linalg.norm(moved, axis=1)
            share = np.maximum(size - clearance, 0.0) / np.maximum(size, clearance)
            overlap = overlap + share * np.sum(leg_axis * moved, axis=1)
        along.append(leg_axis)
        arms.append(arm)
        longer.append(np.linalg.norm(last - first, axis=1) - path.dimensions.rod)
        beyond.append(overlap)
    upwards = _by_lengths(np.stack(along, 1), np.stack(arms, 1))[:, 2]
    stretch, overlaps = (np.sum(upwards * np.stack(part, 1), axis=1) for part in (longer, beyond))
    return Sag(run.t, deviation(run)[:, 2], stretch, overlaps)


def stretched(times: Array) -> Array:
    """Displacement (n, 3) [m] of the platform of the ideal robot if its rods stretch by their axial forces.

    Each rod becomes longer by ``F L / (E A)``, with the mean F of the axial forces at its ends by inverse dynamics.
    """
    system, path, t = six_rss(ideal=True).build(), motion(), ca.SX.sym("t")
    poses = path.poses(t)
    compliance = VALUE["rod.length"] / (ALUMINIUM.youngs * ROD.section(ALUMINIUM).area)
    directions = ca.horzcat(*(ca.SX(poses[f"rod{leg}"].R)[:, 0] for leg in LEGS)).T
    arms = ca.horzcat(*(poses["platform"].R @ ca.DM(path.platform_joint(leg)) for leg in LEGS)).T
    found = ca.Function("legs", [t], [directions, arms])
    rows = []
    for state in states(system, t, poses, times):
        along, arm = (np.array(part) for part in found(state.t))
        force = reactions(system, state)
        # on the rod at its knee, which is the second body there, and at the ball, both
        ends = [np.array([[force[f"{end}{leg}.{axis}"] for axis in AXES] for leg in LEGS]) for end in ("knee", "ball")]
        pull = np.sum((ends[1] - ends[0]) / 2 * along, axis=1)
        rows.append(_by_lengths(along[None], arm[None])[0] @ (compliance * pull))
    return np.array(rows)
