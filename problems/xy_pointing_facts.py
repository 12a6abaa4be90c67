"""Numerical results for the pointing mechanism: ranks, published motion, Table 3, bee colony, joints with clearance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.registry import Fact, Facts

__all__ = ["BASIS", "FACTS", "INERTIAS", "JOINTS", "bees", "loose_estimates", "loose_run", "measured_means"]

#: the columns of the published measure, in order
BASIS = (
    "link1.Izz", "link1.mx", "link1.my", "link2.Ixx", "link2.Ixy", "link2.Ixz", "link2.Iyz", "link2.Izz", "link2.mx",
    "link2.my",
)  # fmt: skip
#: the parameters that the paper identifies; m L_s is a first moment
PAPERS = ("link1.Izz", "link1.mx", "link1.m", "link2.Ixx", "link2.Ixy", "link2.Ixz", "link2.Iyy", "link2.Iyz",
          "link2.Izz", "link2.mx", "link2.m")  # fmt: skip
#: rows of Table 3 that make the inertia matrix of link 2
INERTIAS = ("Ixx2", "Ixy2", "Ixz2", "Iyy2", "Iyz2", "Izz2")
#: journal -> the drive about its axis
JOINTS = {"joint1": "motor1", "joint2": "motor2"}
SAMPLES = 400
#: bounds of the paper [rad, rad/s, rad/s^2], and wider ones
NARROW = ((1.2, 1.0), (0.25, 0.2), (1.0, 1.0))
WIDE = ((1.2, 1.0), (2.0, 2.0), (10.0, 10.0))
#: share of the largest speed of a drive below which its friction is not used
SLOWEST = 0.1


@cache
def _regressor(friction: tuple[str, ...] = ()) -> Any:
    from nonsmooth.identification.regressor import regressor
    from nonsmooth_problems.xy_pointing import DRIVES, xy_pointing

    return regressor(xy_pointing().build(), DRIVES, friction=friction)


def _known() -> dict[str, float]:
    """What can be known at all."""
    from nonsmooth.identification.base import base_parameters, random_states

    Y, rough = _regressor(), _regressor(("viscous", "coulomb"))
    plain, all_ = base_parameters(Y), base_parameters(rough)
    columns = [Y.names.index(name) for name in PAPERS]
    papers = base_parameters(Y(*random_states(Y))[..., columns])
    return {
        "standard parameters with influence": len(plain.names) - len(plain.unseen),
        "base parameters": plain.rank,
        "with friction": len(all_.names) - len(all_.unseen),
        "base parameters with friction": all_.rank,
        "rank of the paper's 11 parameters": papers.rank,
    }


def _motion() -> dict[str, float]:
    """The published trajectory."""
    from nonsmooth.identification.excite import Bounds, criteria
    from nonsmooth_problems.xy_pointing import published_motion

    Y, printed, projected = _regressor(), published_motion(printed=True), published_motion()
    columns = [Y.names.index(name) for name in BASIS]
    found = criteria(Y(*printed.states(printed.times(SAMPLES)))[..., columns])
    force = np.max(np.abs(Y.force(*projected.states(projected.times(SAMPLES)))), axis=0)
    return {
        "condition number, Table 1": found["condition"],
        "log det, Table 1": found["log det"],
        "position at the ends, Table 1": float(np.max(np.abs(printed.ends()[0]))),
        "end conditions after projection": float(np.max(np.abs(projected.ends()))),
        "largest share of a bound": float(np.max(Bounds(*NARROW).share(projected))),
        "peak torque of motor 1": float(force[0]),
        "peak torque of motor 2": float(force[1]),
    }


def _excitation() -> dict[str, float]:
    """Better trajectories."""
    from nonsmooth.identification.excite import Bounds, Excite, excite

    Y = _regressor()
    found: dict[str, float] = {}
    for word, bounds, omega in (("same bounds", NARROW, 0.4), ("wider bounds", WIDE, 1.0)):
        best = excite(Y, Bounds(*bounds), omega, settings=Excite())
        found |= {
            f"log det, {word}": best.measures["log det"],
            f"condition number, {word}": best.measures["condition"],
            f"largest share of a bound, {word}": float(np.max(best.share)),
        }
    return found


def _table() -> dict[str, float]:
    """Table 3."""
    from nonsmooth.identification.base import body_verdict
    from nonsmooth_problems.xy_pointing import TABLE_3

    loose, ideal = (body_verdict(tuple(TABLE_3[name][k] for name in INERTIAS)) for k in (1, 2))
    ratios = {name: abs(row[1] - row[0]) / abs(row[2] - row[0]) for name, row in TABLE_3.items()}
    return {
        "least eigenvalue, with clearance": loose.eigenvalues[0],
        "least eigenvalue, without": ideal.eigenvalues[0],
        "rows that are better with clearance": sum(ratio < 1 for ratio in ratios.values()),
        "error ratio of Iyy2": ratios["Iyy2"],
    }


def bees(noise: float = 0.01, measured: Any = None, *, journal: bool = False) -> tuple[Any, dict[str, Any]]:
    """The paper's search for the ten parameters of link 2 from the torque of motor 2, and what to compare it with.

    The range is the true value more or less its magnitude, or 0.005 kg m^2, 0.01 kg m, 0.1 kg where this is less.

    Parameters
    ----------
    noise : share of the largest torque, of ideal joints
    measured : with clearance, as `measured_means(loose_run())`, instead of ideal joints with noise
    journal : whether the model has the friction mu R N of joint 2, mu R as an eleventh parameter from 0 to 2 mm;
        torques at less than `SLOWEST` of the largest speed are then left out
    """
    from nonsmooth.identification.bee_colony import bee_colony
    from nonsmooth.identification.measurement import simulated
    from nonsmooth.identification.regressor import load_columns
    from nonsmooth_problems.xy_pointing import VALUE, published_motion

    Y = _regressor()
    if measured is None:
        measured = simulated(Y, published_motion(), noise=noise, samples=SAMPLES)
    columns = [i for i, name in enumerate(Y.names) if name.startswith("link2")]
    names, truth = [Y.names[i] for i in columns], Y.values[columns]
    floor = {"kg m^2": 0.005, "kg m": 0.01, "kg": 0.1}
    reach = np.maximum(np.abs(truth), [floor[Y.units[i]] for i in columns])
    A, force = Y(*measured.states)[:, 1, columns], measured.force[:, 1]
    if journal:
        speed = np.abs(measured.states[1][:, 1])
        rows = speed > SLOWEST * np.max(speed)
        load = load_columns(Y, measured.states, {"joint2": "motor2"})[:, 1]
        A, force = np.hstack([A, load])[rows], force[rows]
        product = VALUE["friction"] * VALUE["radius"]
        names, truth, reach = [*names, "joint2.mu_R"], np.append(truth, product), np.append(reach, product)

    def cost(x: Array) -> float:
        return float(np.mean(np.abs(A @ x - force)))

    found = bee_colony(cost, truth - reach, truth + reach)
    return found, {"cost of the truth": cost(truth), "names": names, "truth": truth, "reach": reach}


def _bees() -> dict[str, float]:
    """Artificial bee colony."""
    found, beside = bees()
    error = np.abs(found.best - beside["truth"]) / beside["reach"]
    moment = beside["names"].index("link2.mx")
    return {
        "cost by that of the truth": found.cost / beside["cost of the truth"],
        "parameters on their bounds": len(found.on_bounds),
        "largest error by the range": float(np.max(error)),
        "error of the first moment by the range": float(error[moment]),
    }


def loose_run(clearance: float = 20e-6, t_end: float | None = None, control: Any = None, **arguments: Any) -> Any:
    """The mechanism with clearance in both joints in its published motion, compliant contact."""
    from nonsmooth.run.simulate import simulate
    from nonsmooth_problems.xy_pointing import COMPLIANT, published_motion, xy_pointing

    stepper, usual = COMPLIANT
    system = xy_pointing("compliant", clearance=clearance, **arguments).build()
    t_end = published_motion().period if t_end is None else t_end
    return simulate(system, stepper, t_end=t_end, dt=usual if control is None else control)


def measured_means(run: Any, samples: int = SAMPLES) -> Any:
    """Mean driving torques over each sampling interval of a run, as a measurement with the exact motion of the drives.

    A journal swings in its bearing at about 700 rad/s, which a sample of an instant would catch at random.
    """
    from nonsmooth.identification.measurement import Measurement
    from nonsmooth_problems.xy_pointing import DRIVES, published_motion

    motion = published_motion()
    t = motion.times(samples)
    t = t[t <= run.t[-1]]
    angle = motion(run.t)[:, 0]
    across = run.reaction["motor2.torque_x"] * np.sin(angle) - run.reaction["motor2.torque_y"] * np.cos(angle)
    torques = (np.asarray(run.reaction["motor1.torque_z"]), across)
    half = (t[1] - t[0]) / 2
    low, high = np.clip(t - half, 0.0, run.t[-1]), np.clip(t + half, 0.0, run.t[-1])
    means = []
    for torque in torques:
        area = np.concatenate([[0.0], np.cumsum((torque[1:] + torque[:-1]) / 2 * np.diff(run.t))])
        means.append((np.interp(high, run.t, area) - np.interp(low, run.t, area)) / (high - low))
    return Measurement(DRIVES, t, motion(t), np.column_stack(means), *motion.states(t)[1:])


def loose_estimates(run: Any) -> dict[str, Any]:
    """Estimates from the torques with clearance: ``"ideal"`` without friction, ``"loose"`` with mu R N."""
    from nonsmooth.identification.base import base_parameters
    from nonsmooth.identification.estimate import estimate

    Y, measured = _regressor(), measured_means(run)
    base = base_parameters(Y)
    return {
        "ideal": estimate(Y, measured, method="least squares", base=base),
        "loose": estimate(Y, measured, method="least squares", base=base, joints=JOINTS, slowest=SLOWEST),
        "truth": base.values(Y.values),
    }


def _loose() -> dict[str, float]:
    """Clearance of 0.02 mm in both joints, mu R = 1 mm."""
    run = loose_run()
    found = loose_estimates(run)
    ideal, loose, truth = found["ideal"], found["loose"], found["truth"]
    by_name = dict(zip(loose.names, loose.values, strict=True))
    errors = [np.abs(one.values[: len(truth)] - truth) for one in (loose, ideal)]
    Y, measured = _regressor(), measured_means(run)
    difference = np.median(np.abs(measured.force - Y.force(*measured.states)), axis=0)
    return {
        "largest gap after contact": max(float(np.max(run.gap[joint])) for joint in JOINTS),
        "friction torque of joint 1": float(difference[0]),
        "friction torque of joint 2": float(difference[1]),
        "mu R of joint 1": 1e3 * by_name["joint1.mu_R"],
        "mu R of joint 2": 1e3 * by_name["joint2.mu_R"],
        "error of the first moment m1 x1 + L1 m2": float(errors[0][1]),
        "error of the first moment m2 x2": float(errors[0][8]),
        "first moments: error without friction by error with": float(
            np.min(errors[1][[1, 8]] / np.maximum(errors[0][[1, 8]], 1e-300))
        ),
        "base parameters nearer to the truth with friction": int(np.sum(errors[0] < errors[1])),
    }


def _fact(name: str, unit: str, expected: float, tolerance: float, note: str = "") -> Fact:
    return Fact(name, unit, expected, tolerance, note)


def _entries(rows: Mapping[str, tuple[str, float, float, str]]) -> tuple[Fact, ...]:
    return tuple(_fact(name, *row) for name, row in rows.items())


FACTS = (
    Facts("what can be known", _known, _entries({
        "standard parameters with influence": ("-", 13, 0, "of 20"),
        "base parameters": ("-", 10, 0, "rank of the regressor"),
        "with friction": ("-", 17, 0, "viscous and Coulomb friction of both drives"),
        "base parameters with friction": ("-", 14, 0, ""),
        "rank of the paper's 11 parameters": ("-", 8, 0, "Table 3 gives 11 numbers, of which 8 combinations act"),
    })),
    Facts("the published motion", _motion, _entries({
        "condition number, Table 1": ("-", 1206, 6, "at 0.4 rad/s, 400 samples of both torques, ten base parameters"),
        "log det, Table 1": ("-", 34.0, 0.17, "of W'W, SI units"),
        "position at the ends, Table 1": ("rad", 1e-3, 1e-5, "by rounding of the printed digits"),
        "end conditions after projection": ("rad", 0, 1e-12, "q, q', q'' at the ends"),
        "largest share of a bound": ("-", 0.99, 0.02, "of 0.2 rad/s, from which the frequency is inferred"),
        "peak torque of motor 1": ("N m", 0.84, 0.01, "ideal joints"),
        "peak torque of motor 2": ("N m", 0.208, 0.005, "ideal joints"),
    })),
    Facts("better motions", _excitation, _entries({
        "log det, same bounds": ("-", 47.6, 2.2, "at least 45.4"),
        "condition number, same bounds": ("-", 258, 40, "at most 298"),
        "largest share of a bound, same bounds": ("-", 1, 1e-9, "at 20 000 points"),
        "log det, wider bounds": ("-", 90.4, 1.3, "2 rad/s and 10 rad/s^2 at 1 rad/s; at least 89.1"),
        "condition number, wider bounds": ("-", 5, 1.5, "at most 6.5"),
        "largest share of a bound, wider bounds": ("-", 1, 1e-9, "at 20 000 points"),
    })),
    Facts("Table 3", _table, _entries({
        "least eigenvalue, with clearance": ("kg m^2", -7e-4, 5e-5, "of the identified inertia matrix: no body has it"),
        "least eigenvalue, without": ("kg m^2", -5e-3, 3e-4, "no body has it either"),
        "rows that are better with clearance": ("-", 9, 0, "of 11, by the printed numbers"),
        "error ratio of Iyy2": ("-", 7.356, 1e-3, "printed as 7.427"),
    })),
    Facts("artificial bee colony", _bees, _entries({
        "cost by that of the truth": ("-", 0.995, 0.015, "200 iterations, 100 sources; 1 % noise of the torque"),
        "parameters on their bounds": ("-", 2, 1.5, "of ten: the cost does not tell them"),
        "largest error by the range": ("-", 1, 0.15, ""),
        "error of the first moment by the range": ("-", 0, 0.01, "which the torque does tell"),
    })),
    Facts("loose joints", _loose, _entries({
        "largest gap after contact": ("m", 0, 1e-9, "the joints never separate"),
        "friction torque of joint 1": ("N m", 0.029, 0.002, "mu N R, median"),
        "friction torque of joint 2": ("N m", 0.0082, 0.0005, ""),
        "mu R of joint 1": ("mm", 1, 0.03, "from the torque alone"),
        "mu R of joint 2": ("mm", 1, 0.03, ""),
        "error of the first moment m1 x1 + L1 m2": ("kg m", 0, 4e-5, "of 0.189"),
        "error of the first moment m2 x2": ("kg m", 0, 1e-5, "of 0.0294"),
        "first moments: error without friction by error with": ("-", 200, 190, "the paper's claim holds for these"),
        "base parameters nearer to the truth with friction": ("-", 9, 1.5, "of 10"),
    })),
)  # fmt: skip
