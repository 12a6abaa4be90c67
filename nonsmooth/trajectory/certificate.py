"""Violations, residuals and the energy balance of a run, computed from its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import Seen

#: columns of a trajectory's energies, in this order
ENERGIES = (
    "kinetic", "potential", "work_loads", "work_drivers", "loss_impacts", "loss_contact", "loss_friction",
    "loss_damping", "remainder",
)  # fmt: skip
#: works and losses that a balance of energy adds up; the work of damping is the negative of its loss
SUMS = ("work_loads", "work_drivers", "loss_impacts", "loss_contact", "loss_friction", "work_damping")


@dataclass(frozen=True)
class EnergyLedger:
    """The energy balance of a whole run, all in [J]

    ``remainder = (kinetic + potential) - (kinetic_start + potential_start) - work_loads - work_drivers
    + loss_impacts + loss_contact + loss_friction + loss_damping``

    Work and damping are integrals of power by the trapezoidal rule between the right limit at the start of a step and
    the left limit at its end, so that the remainder of a scheme of order two decreases with dt^2. The loss at impacts
    is the decrease of the kinetic energy from left to right limit; the loss in contact is that of compliant contacts,
    whose stored energy is potential energy. Numerical dissipation of a scheme appears in the remainder with a negative
    sign.
    """

    kinetic_start: float
    potential_start: float
    kinetic: float
    potential: float
    work_loads: float
    work_drivers: float
    loss_impacts: float
    loss_contact: float
    loss_friction: float
    loss_damping: float
    remainder: float


@dataclass(frozen=True)
class Certificate:
    """The largest residuals of all rows of a run; not a number if those of a row are not.

    Parameters
    ----------
    gap_violation : max(0, -g_N) of the true gaps [m]
    joint_violation : constraint violation of ideal joints and drivers [m] or [rad]
    complementarity
        Natural map |min(g_N, P_N)|, the gap divided by the contact's length (its clearance), the impulse by the
        formulation's reference [-].
    motion_residual
        Residual of the discrete equations, each row divided by the sum of the absolute values of its terms [-].
    energy : the balance of energy
    """

    gap_violation: float
    joint_violation: float
    complementarity: float
    motion_residual: float
    energy: EnergyLedger


@dataclass(frozen=True)
class Balance:
    """The balance of energy after a row: its time [s], powers after impacts [W], sums and energy at the start [J]."""

    t: float
    power_loads: float
    power_damping: float
    start: float
    sums: Mapping[str, float]


def energy_series(
    lengths: Array, seen: Seen, steps: Mapping[str, NDArray[Any]], before: Balance | None = None
) -> tuple[dict[str, Array], Balance]:
    """Energies and, cumulative from the left limit of row 0, works and losses at the rows (n,) [J], and their balance.
    `steps` has works and losses of the step that ends in each row [J]; those that are not a number follow from powers
    by the trapezoidal rule. Rows in parts, with the balance `before` them, give the same bits as all rows at once."""
    right, left, row = seen.energies, seen.energies_left, steps["row"]

    def summed(name: str, increments: Array) -> Array:
        if not np.any(increments.view(np.int64)):  # all are +0
            return increments if before is None else np.full(increments.shape, before.sums[name] + 0.0)
        if before is None:
            return np.cumsum(increments)
        return np.cumsum(np.concatenate([[before.sums[name]], increments]))[1:]

    def work(name: str, power: str, known: Array) -> Array:
        powers, unknown = right[power], np.isnan(known)
        first = 0.0 if before is None else getattr(before, power)
        if before is None:
            unknown[0] = True  # row 0 has no step
        if unknown.all() and not (first or powers.any() or left[power].any()):
            return summed(name, np.zeros(lengths.size))
        increments = powers.copy()  # of the trapezoidal rule
        increments[row] = left[power]
        increments[1:] += powers[:-1]
        increments[0] += first
        increments *= lengths
        increments /= 2.0
        if not unknown.all():
            increments = np.where(unknown, increments, known)
        if before is None:
            increments[0] = 0.0
        return summed(name, increments)

    damping = work("work_damping", "power_damping", -steps["loss_damping"])
    lost = left["kinetic"] - right["kinetic"][row] + steps["work_drivers_impact"]
    levels = np.cumsum(np.concatenate([[0.0 if before is None else before.sums["loss_impacts"]], lost]))
    series = {
        "kinetic": right["kinetic"],
        "potential": right["potential"] + steps["stored"],
        "work_loads": work("work_loads", "power_loads", steps["work_loads"]),
        "work_drivers": summed("work_drivers", steps["work_drivers"]),
        "loss_impacts": np.repeat(levels, np.diff(row, prepend=0, append=lengths.size)),
        "loss_contact": summed("loss_contact", steps["loss_contact"]),
        "loss_friction": summed("loss_friction", steps["loss_friction"]),
        "loss_damping": 0.0 - damping,
    }
    if before is not None:
        start = before.start
    else:
        kinetic = left["kinetic"] if row.size and row[0] == 0 else right["kinetic"]
        start = float(kinetic[0] + right["potential"][0] + steps["stored"][0])
    series["remainder"] = remainder(series, start)
    known = {**series, "work_damping": damping}
    sums = {name: float(known[name][-1]) for name in SUMS}
    loads, damped = float(right["power_loads"][-1]), float(right["power_damping"][-1])
    return series, Balance(float(steps["t"][-1]), loads, damped, start, sums)


def remainder(series: Mapping[str, Array], start: float) -> Array:
    """Remainder of the balance of energies (n,) with the energy at the start [J]."""
    losses = sum(series[name] for name in ("loss_impacts", "loss_contact", "loss_friction", "loss_damping"))
    gained = series["work_loads"] + series["work_drivers"] - losses
    return series["kinetic"] + series["potential"] - start - gained
