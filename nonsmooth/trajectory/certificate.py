"""Violations, residuals and the energy balance of a run, computed from its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nonsmooth.evaluation import Array

__all__ = ["Certificate", "EnergyLedger", "energy_ledger", "energy_series", "worst_violation"]


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
    gap_violation
        max(0, -g_N) of the true gaps [m].
    joint_violation
        Constraint violation of ideal joints and drivers [m] or [rad].
    complementarity
        Natural map |min(g_N, P_N)|, the gap divided by the contact's length (its clearance), the impulse by the
        formulation's reference [-].
    motion_residual
        Residual of the discrete equations, each row divided by the sum of the absolute values of its terms [-].
    energy
        The balance of energy.
    """

    gap_violation: float
    joint_violation: float
    complementarity: float
    motion_residual: float
    energy: EnergyLedger


def worst_violation(values: Array) -> float:
    """Largest entry, at least 0; not a number if one entry is not."""
    return float(np.max(values, initial=0.0)) + 0.0  # no negative zero


def energy_series(
    t: Array, left: Mapping[str, Array], right: Mapping[str, Array], steps: Mapping[str, Array]
) -> dict[str, Array]:
    """Energies and, cumulative from the left limit of row 0, works and losses at the rows; each (n,) [J].

    Parameters
    ----------
    t
        Times of rows (n,).
    left, right
        Energies and powers before and after the impacts of rows, as in `System.energies`.
    steps
        Of the step that ends in each row, each (n,) [J]: ``work_drivers``, of which ``work_drivers_impact`` was done at
        the impact; ``loss_friction``; ``work_loads`` and ``loss_damping``, not a number if the trapezoidal rule is to
        be used; ``loss_contact``; and ``stored`` in contacts at the row.
    """
    dt = np.diff(t)

    def work(power: str, known: Array) -> Array:
        trapezoid = dt * (right[power][:-1] + left[power][1:]) / 2.0
        return np.concatenate([[0.0], np.cumsum(np.where(np.isnan(known[1:]), trapezoid, known[1:]))])

    series = {
        "kinetic": right["kinetic"],
        "potential": right["potential"] + steps["stored"],
        "work_loads": work("power_loads", steps["work_loads"]),
        "work_drivers": np.cumsum(steps["work_drivers"]),
        "loss_impacts": np.cumsum(left["kinetic"] - right["kinetic"] + steps["work_drivers_impact"]),
        "loss_contact": np.cumsum(steps["loss_contact"]),
        "loss_friction": np.cumsum(steps["loss_friction"]),
        "loss_damping": 0.0 - work("power_damping", -steps["loss_damping"]),
    }
    losses = sum(series[name] for name in ("loss_impacts", "loss_contact", "loss_friction", "loss_damping"))
    gained = series["work_loads"] + series["work_drivers"] - losses
    start = left["kinetic"][0] + left["potential"][0] + steps["stored"][0]
    series["remainder"] = right["kinetic"] + series["potential"] - start - gained
    return series


def energy_ledger(series: Mapping[str, Array]) -> EnergyLedger:
    """The last row of `energy_series`, with the energy before the first one."""
    kinetic_start = float(series["kinetic"][0] + series["loss_impacts"][0] - series["work_drivers"][0])
    last = {name: float(values[-1]) for name, values in series.items()}
    return EnergyLedger(kinetic_start=kinetic_start, potential_start=float(series["potential"][0]), **last)
