"""Inverse dynamics of a robot whose joints and drives determine its motion, except for spins without influence."""

from __future__ import annotations

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.bodies import SpatialBody
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth_problems.robot_poses import Poses, evaluated, quaternion_of

__all__ = ["jacobian", "reactions", "row_forces", "states"]


def states(system: System, t: ca.SX, poses: Poses, times: Array) -> list[State]:
    """The system at these times [s], its bodies in the poses, which are expressions of t."""
    found = evaluated(t, poses, times)
    bodies = [element.name for element in system.elements if isinstance(element, SpatialBody)]
    made = []
    for i, time in enumerate(times):
        q = [part for body in bodies for part in (found[body][0][i], quaternion_of(found[body][1][i]))]
        v = [part for body in bodies for part in (found[body][2][i], found[body][3][i])]
        made.append(State(float(time), np.concatenate(q), np.concatenate(v)))
    return made


def jacobian(system: System, state: State) -> Array:
    """W_g' (ng, nv): joints and drives by velocities of mass centres and angular velocities in the bodies."""
    return np.array(system.W_g(state.t, state.q, system.parameter_values)).T


def row_forces(system: System, state: State) -> dict[str, float]:
    """Forces of the rows of joints and drives [N, N m], from ``M a = h + W lam``, ``W' a = -k``."""
    return dict(zip(system.constraint_names, _solved(system, state).tolist(), strict=True))


def reactions(system: System, state: State) -> dict[str, float]:
    """Forces [N] and torques [N m] of joints and drives on their second bodies, in the ground frame."""
    found = system.reaction(state.t, state.q, system.parameter_values, _solved(system, state))
    return dict(zip(system.reaction_names, np.array(found).ravel().tolist(), strict=True))


def _solved(system: System, state: State) -> Array:
    t, q, v, p = state.t, state.q, state.v, system.parameter_values
    W = jacobian(system, state).T
    M, h = np.array(system.M(q, p)), np.array(system.h(t, q, v, p)).ravel()
    k = np.array(system.bias(t, q, v, p)).ravel()[: system.ng]
    matrix = np.block([[M, -W], [W.T, np.zeros((system.ng, system.ng))]])
    found: Array = np.linalg.solve(matrix, np.concatenate([h, -k]))[system.nv :]
    return found
