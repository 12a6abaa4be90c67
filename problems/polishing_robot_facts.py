"""Numerical results for the polishing robot: rank, drives, reach of the clearance, contact modes, constraint drift."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import pi
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.registry import Fact, Facts
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth_problems.robot_dynamics import jacobian, row_forces
from nonsmooth_problems.robot_dynamics import states as ideal_states

if TYPE_CHECKING:
    from nonsmooth.step.scheme import Stepper
    from nonsmooth.trajectory import Trajectory

__all__ = ["FACTS", "compared", "deviation", "drifted", "reach", "states"]

#: points of the circle at which the Jacobian is examined
POINTS = 36
#: length of the published runs [s]
DURATION = 0.3
#: the paper's feedback of joints, alpha and beta [1/s]
BAUMGARTE = (5.0, 1.0)
#: ends and steps [s] of runs that are compared
INTERVALS = ((0.1, 1.25e-4), (DURATION, 2e-3))
AXES = ("x", "y", "z")
#: position on the circle at which the robot is kept at rest [rad]: its load is within the friction cone of one wall
ANGLE = 0.04
#: friction there [-], speed of friction that is smoothed by tanh [m/s], and time at which slide and guide have met [s]
STICKING, SMOOTHED, MET = 0.08, 1e-3, 0.03
#: force [N] at which the paper's laws are compared, the lateral reaction at t = 0
LATERAL = 171.0


@cache
def _system(ideal: bool) -> System:
    from nonsmooth_problems.polishing_robot import polishing_robot

    return polishing_robot(ideal=ideal, restitution=0.0, friction=0.0).build()


def states(system: System, times: Array, offset: float = 0.0) -> list[State]:
    """The ideal motion at these times [s], from the closed-form kinematics."""
    from nonsmooth_problems.polishing_robot import motion

    t = ca.SX.sym("t")
    return ideal_states(system, t, motion(offset).poses(t), times)


def reach(system: System, state: State) -> Array:
    """Largest displacements (3,) [m] of the platform along x, y, z that the clearance allows for locked drives.

    Motions that leave joints and drives closed are the null space N of W_g'; the gaps bound them, linearised,
    ``g_N + W_N' N s >= 0``. Each displacement is the solution of a linear program.
    """
    from scipy.linalg import null_space
    from scipy.optimize import linprog

    N = null_space(jacobian(system, state))
    p = system.parameter_values
    rows = -np.array(system.W_N(state.q, p)).T @ N
    gaps = np.array(system.g_N(state.q, p)).ravel()
    first = system.v_names.index("platform.x")
    free = [(None, None)] * N.shape[1]
    programs = [linprog(-N[first + i], A_ub=rows, b_ub=gaps, bounds=free) for i in range(3)]
    return np.array([-program.fun for program in programs])


def deviation(run: Trajectory, offset: float = 0.0, **circle: float) -> Array:
    """Displacement (n, 3) [m] of the platform from its place in the ideal robot at the same time.

    Parameters
    ----------
    offset, circle
        Of the run: `speed` and `angle` where they are not the paper's.
    """
    from nonsmooth_problems.polishing_robot import motion

    path = motion(offset, **circle).path
    places = [np.array(path(float(t))).ravel() for t in run.t]
    return np.column_stack([run.q[f"platform.{axis}"] for axis in AXES]) - np.array(places)


def held(contact: Any, stepper: Stepper, dt: Any, **arguments: float) -> Trajectory:
    """The robot with drives at rest for the published time."""
    from nonsmooth.run.simulate import simulate
    from nonsmooth_problems.polishing_robot import polishing_robot

    still = {"angle": ANGLE, "speed": 0.0, "friction": STICKING, **arguments}
    return simulate(polishing_robot(contact, **still).build(), stepper, t_end=DURATION, dt=dt)


def slipped(run: Trajectory) -> float:
    """Largest displacement [m] of a platform whose drives are at rest, after slide and guide are in contact."""
    places = np.column_stack([run.q[f"platform.{axis}"] for axis in AXES])[run.t >= MET]
    return float(np.max(np.linalg.norm(places - places[0], axis=1)))


def drifted(state: State, system: System) -> tuple[State, float]:
    """The state after the published time with the paper's feedback, and its constraint residual [m, rad].

    Steps are taken here, since no run is started from a state whose drives do not move as prescribed.
    """
    from nonsmooth.schemes.compliant.settings import CompliantDae
    from nonsmooth.schemes.compliant.steps import CompliantSteps
    from nonsmooth.step.control import ErrorControl

    control = ErrorControl(rtol=1e-10, atol=1e-12, dt_min=1e-6, dt_max=1e-2)
    scheme = CompliantDae(baumgarte=BAUMGARTE)
    steps = CompliantSteps(system, scheme, control, system.parameter_values, DURATION)
    state = steps.start(state)
    while state.t < DURATION:
        taken = steps.advance(state, 0.0)
        if not taken.whole:
            raise SolverFailed(steps.failure(taken.end))
        state = taken.end
    residual = np.array(system.violation(state.t, state.q, system.parameter_values))
    return state, float(np.max(np.abs(residual)))


def compared(system: System, intervals: tuple[tuple[float, float], ...] = INTERVALS) -> tuple[Array, Array]:
    """Displacements (n, 3) [m] of the platform at equal times by `MoreauJean` with projection and by `GaussQP`.

    Parameters
    ----------
    intervals
        End [s] and step [s] of each interval: short steps until slide and guide touch, since the flight before
        is of first order in them.
    """
    from nonsmooth.run.simulate import simulate
    from nonsmooth.schemes.gauss.gauss_qp import GaussQP
    from nonsmooth.schemes.moreau_jean.settings import MoreauJean

    def whole(stepper: Stepper) -> Array:
        state, parts = system.start, []
        for t_end, dt in intervals:
            run = simulate(system, stepper, t_end=t_end, dt=dt, state=state)
            # steps that were repeated in parts have rows of their own
            t = np.linspace(state.t, t_end, round((t_end - state.t) / dt) + 1)
            parts.append(np.column_stack([np.interp(t, run.t, column) for column in deviation(run).T]))
            state = run.end
        return np.concatenate(parts)

    return whole(MoreauJean(projection="combined")), whole(GaussQP())


# ------------------------------------------------------------------------------------------------------------- figures


def _ideal() -> Mapping[str, float]:
    system = _system(True)
    around = states(system, np.arange(POINTS) * (2 * pi * 0.2 / 0.05) / POINTS)
    jacobians = [jacobian(system, state) for state in around]
    conditions = [np.linalg.cond(one) for one in jacobians]
    forces = row_forces(system, around[0])
    return {
        "velocities, ideal": system.nv,
        "constraints, ideal": system.ng,
        "least rank of constraints on the circle": min(int(np.linalg.matrix_rank(one)) for one in jacobians),
        "least condition number on the circle": min(conditions),
        "largest condition number on the circle": max(conditions),
        "drive 1 at t = 0": abs(forces["drive1.distance"]),
        "drive 2 at t = 0": abs(forces["drive2.distance"]),
        "drive 3 at t = 0": abs(forces["drive3.distance"]),
        "lateral reaction at t = 0": float(np.hypot(forces["middle.offset_1"], forces["middle.offset_2"])),
    }


def _drift() -> Mapping[str, float]:
    system = _system(True)
    start = system.start
    rest = State(start.t, start.q, np.zeros_like(start.v))
    (at_end,) = states(system, np.array([DURATION]))
    drifting, _ = drifted(rest, system)
    _, residual = drifted(start, system)
    return {
        "drift from rest with Baumgarte 5, 1": 1e3 * float(np.linalg.norm(drifting.q[:3] - at_end.q[:3])),
        "constraint residual from a consistent start": residual,
    }


def _clearance() -> Mapping[str, float]:
    system = _system(False)
    farthest = reach(system, system.start)
    first, second = compared(system)
    largest = 1e3 * np.max(np.abs(second), axis=0)
    clearance = system.parameters["guide.clearance"]
    return {
        "velocities, clearance": system.nv,
        "constraints, clearance": system.ng,
        "contacts": system.nc,
        **{f"reach of the platform, {axis}": 1e3 * farthest[i] for i, axis in enumerate(AXES)},
        **{f"platform moved, {axis}": largest[i] for i, axis in enumerate(AXES)},
        "difference of two rigid steppers": 100 * float(np.max(np.abs(first - second))) / clearance,
    }


def _held() -> Mapping[str, float]:
    from nonsmooth.laws.compliant import Compliant
    from nonsmooth.laws.friction.regularised import RegularisedCoulomb
    from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
    from nonsmooth.schemes.gauss.gauss_qp import GaussQP
    from nonsmooth_problems.polishing_robot import ORIGINS
    from nonsmooth_problems.robot_data import COMPLIANT

    normal = LankaraniNikravesh(stiffness=float(ORIGINS["stiffness"].value), exponent=1.5, restitution=0.9)
    smoothed = Compliant(normal, RegularisedCoulomb(friction=STICKING, slip_speed=SMOOTHED))
    exact = held("rigid", GaussQP(), 2e-3, restitution=0.0)
    return {
        "slip of set-valued friction": 1e3 * slipped(exact),
        "slip of tanh friction": 1e3 * slipped(held(smoothed, *COMPLIANT)),
    }


def _printed() -> Mapping[str, float]:
    from nonsmooth_problems.polishing_robot import printed_laws
    from nonsmooth_problems.polishing_robot_printed import depth

    return {f"penetration of a {mode} at 171 N": depth(law, LATERAL) for mode, law in printed_laws().items()}


def _modes() -> Mapping[str, float]:
    from nonsmooth.diagnostics import signatures

    rectangle = signatures(height=0.08, width=0.06, clearance=1e-4)
    square = signatures(height=0.08, width=0.08, clearance=1e-4)
    return {
        "active sets": sum(rectangle.values()),
        "signatures": len(rectangle),
        "active sets, square": sum(square.values()),
        "signatures, square": len(square),
    }


def _counts(**expected: int) -> tuple[Fact, ...]:
    return tuple(Fact(name, "-", value, 0.0) for name, value in expected.items())


def _along(what: str, note: str) -> tuple[Fact, ...]:
    sizes = {"x": 0.038, "y": 0.038, "z": 0.005}
    return tuple(Fact(f"{what}, {axis}", "mm", size, 0.001, note) for axis, size in sizes.items())


FACTS = (
    Facts(
        "ideal robot",
        _ideal,
        (
            Fact("velocities, ideal", "-", 60, 0.0, "eq. (8)"),
            Fact("constraints, ideal", "-", 60, 0.0, "eq. (14)"),
            Fact("least rank of constraints on the circle", "-", 60, 0.0),
            Fact("least condition number on the circle", "-", 25, 1.0),
            Fact("largest condition number on the circle", "-", 25, 1.0),
            Fact("drive 1 at t = 0", "N", 586, 5.86, "by inverse dynamics, as all forces here"),
            Fact("drive 2 at t = 0", "N", 586, 5.86),
            Fact("drive 3 at t = 0", "N", 2281, 22.81),
            Fact("lateral reaction at t = 0", "N", 171, 1.71),
        ),
    ),
    Facts("contact modes", _modes, _counts(**{
        "active sets": 258, "signatures": 16, "active sets, square": 242, "signatures, square": 14,
    })),
    Facts(
        "printed laws",
        _printed,
        (
            Fact("penetration of a plane at 171 N", "m", 1e-9, 1e-10, "eq. (4); laws that jump, no model of contact"),
            Fact("penetration of a line at 171 N", "m", 6e-8, 5e-9, "eq. (6)"),
            Fact("penetration of a point at 171 N", "m", 1.4e-5, 5e-7, "eq. (7)"),
        ),
    ),
    Facts(
        "held still",
        _held,
        (
            Fact("slip of set-valued friction", "mm", 0.0, 0.001, "under 171 N with mu 0.08, from 0.03 to 0.3 s"),
            Fact("slip of tanh friction", "mm", 0.021, 0.005, "v_0 1 mm/s; the second wall ends its creep"),
        ),
    ),
    Facts(
        "drift",
        _drift,
        (
            Fact("drift from rest with Baumgarte 5, 1", "mm", 4.7, 0.05, "at rest, against drives that move"),
            Fact("constraint residual from a consistent start", "m", 0.0, 5e-13, "with the same feedback"),
        ),
    ),
    Facts(
        "clearance of 0.1 mm",
        _clearance,
        (
            Fact("velocities, clearance", "-", 66, 0.0),
            Fact("constraints, clearance", "-", 61, 0.0),
            Fact("contacts", "-", 16, 0.0),
            *_along("reach of the platform", "that the gaps allow, by a linear program"),
            *_along("platform moved", "from the ideal motion, in 0.3 s"),
            Fact("difference of two rigid steppers", "% of c", 0.0, 1.0, "at equal times"),
        ),
    ),
)  # fmt: skip
