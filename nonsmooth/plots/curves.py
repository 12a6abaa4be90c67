"""A run or an exact solution as curves in time with both limits at every jump."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import coordinates
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Columns, Trajectory

GRID = 1500  # points of an exact curve in addition to its jumps, and of an interpolated one in addition to its rows
ROUND_OFF = 1e-12  # of kinetic energies, as a share of the largest


class Exact(Protocol):
    """An exact solution: samples under the trajectory's names, and the times of its jumps."""

    @property
    def events(self) -> Array: ...

    def sample(self, t: Array, side: Any = "right") -> Any: ...


@dataclass(frozen=True, eq=False)
class View:
    """One-sided limits at times t, by kind and name; what a panel's function receives."""

    t: Array
    q: Mapping[str, Array]
    v: Mapping[str, Array]
    gap: Mapping[str, Array]
    lam_N: Mapping[str, Array]
    impulse: Mapping[str, Array]
    reaction: Mapping[str, Array]
    energy: Mapping[str, Array]


KINDS = ("q", "v", "gap", "lam_N", "impulse", "reaction", "energy")


def through_jumps(t: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """Points of a line that runs vertically through jumps: of each time its left and its right limit."""
    return np.repeat(t, 2), np.column_stack([left, right]).ravel()


def limits(trajectory: Trajectory) -> tuple[View, View]:
    """Left and right limits at the rows. What belongs to a step, such as a mean force, is constant over it."""

    def over_steps(columns: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        left = {name: np.concatenate([values[1:2], values[1:]]) for name, values in columns.items()}
        right = {name: np.concatenate([values[1:], values[-1:]]) for name, values in columns.items()}
        return left, right

    lam_left, lam_right = over_steps(trajectory.lam_N)
    reaction_left, reaction_right = over_steps(trajectory.reaction)
    dt = np.diff(trajectory.t, prepend=trajectory.t[0])
    total = {name: np.cumsum(values) for name, values in trajectory.P_N.items()}
    before = {name: total[name] - (trajectory.P_N[name] - trajectory.lam_N[name] * dt) for name in total}
    t, q, gap, energy = trajectory.t, trajectory.q, trajectory.gap, trajectory.energy
    energy_left = dict(zip(energy.names, energies_before(trajectory).T, strict=True))
    return (
        View(t, q, trajectory.left.v, gap, lam_left, before, reaction_left, energy_left),
        View(t, q, trajectory.v, gap, lam_right, total, reaction_right, energy),
    )


def energies_before(trajectory: Trajectory) -> Array:
    """Energies before the impact at each row (n, terms) [J], whose balance is that after it.

    Kinetic energy is that of the velocities before; the difference is lost, or work of drivers. Where the mechanism is
    not known, it is more by what was lost since the row before, which holds if each row is a step and drivers do no
    work; with drivers the loss is that since the row before, too.
    """
    left, energy, origin = trajectory.energy.array.copy(), trajectory.energy, trajectory.origin
    lost = np.diff(energy["loss_impacts"], prepend=0.0)
    kinetic, loss, work = (left[:, energy.names.index(name)] for name in ("kinetic", "loss_impacts", "work_drivers"))
    if origin is None:
        loss -= lost
        kinetic += lost
        return left
    rows = np.flatnonzero(np.any(trajectory.left.v.array != trajectory.v.array, axis=1))
    if rows.size:
        state = trajectory.t[rows], trajectory.q.array[rows], trajectory.left.v.array[rows]
        taken = origin.system.energies(*state, origin.parameters)["kinetic"] - energy["kinetic"][rows]
        # where rows are steps, this is what was lost since the row before: then to the bit, as in a file
        same = np.abs(taken - lost[rows]) <= ROUND_OFF * np.max(kinetic)
        taken[same] = lost[rows][same]
        kinetic[rows] += taken
        if np.any(work):
            loss[rows] -= lost[rows]
            work[rows] -= lost[rows] - taken
        else:
            loss[rows] -= taken
    return left


def dense(trajectory: Trajectory) -> tuple[View, View]:
    """`limits` at the rows and at points between them.

    Coordinates are those of `nonsmooth.diagnostics.motion.coordinates`. All other quantities are straight between the
    limits; means over a step are constant.
    """
    left, right = limits(trajectory)
    rows = trajectory.t
    if len(rows) < 2:
        return left, right
    t = np.union1d(rows, np.linspace(rows[0], rows[-1], GRID))
    q = Columns(trajectory.q.what, trajectory.q.names, coordinates(trajectory, t), trajectory.q.unit_list)

    def view(side: Literal["left", "right"]) -> View:
        k = np.clip(np.searchsorted(rows, t, side=side) - 1, 0, len(rows) - 2)
        s = (t - rows[k]) / (rows[k + 1] - rows[k])

        def column(kind: str, name: str) -> Array:
            before, after = getattr(right, kind)[name], getattr(left, kind)[name]
            values: Array = before[k] + s * (after[k + 1] - before[k])
            values[0] = getattr(left if side == "left" else right, kind)[name][0]
            return values

        def table(kind: str) -> Columns:
            known = columns_of(trajectory, kind)
            values = np.array([column(kind, name) for name in known]).reshape(len(known), len(t)).T
            return Columns(known.what, known.names, values, known.unit_list)

        return View(t, q, *map(table, KINDS[1:]))

    return view("left"), view("right")


def exact_curve(exact: Exact, t_end: float, value: Callable[[Any], Array | None]) -> tuple[Array, Array] | None:
    """The exact solution of a quantity over [0, t_end], or None where it does not give it."""
    events = np.asarray(exact.events, float)
    t = np.union1d(np.linspace(0.0, t_end, GRID), events[events <= t_end])
    left, right = value(exact.sample(t, "left")), value(exact.sample(t, "right"))
    return None if left is None or right is None else through_jumps(t, left, right)


def units_of(trajectory: Trajectory, kind: str, name: str) -> str:
    """SI unit of a quantity of the trajectory."""
    if kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} of quantity; a panel draws {', '.join(KINDS)}.")
    return columns_of(trajectory, kind).units(name)


def columns_of(trajectory: Trajectory, kind: str) -> Columns:
    """The trajectory's columns of a kind; impulses have the names and units of `P_N`."""
    return trajectory.P_N if kind == "impulse" else getattr(trajectory, kind)
