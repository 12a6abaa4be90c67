"""Velocity jumps without collision: where no consistent contact force exists, as in Painleve's paradox and jamming.

Without a force that keeps gaps closed while contacts slide, an impulse ends their slip at an instant. With normal
impulses P of a step, the change of gap velocities by them while all slip goes on is

    G P,    G = W_N' M^-1 (W_N - W_T mu s),

with M^-1 within the joints and the contacts that stick, s the directions of slip. Forces that keep gaps closed against
loads have P' G P > 0; where it is not, impulses are those of a jump, which are impacts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.rows import AT_JUMPS, at_rows
from nonsmooth.model.system import System
from nonsmooth.step.constrained_motion import Mechanism
from nonsmooth.trajectory.columns import any_of_each, means

#: factor from the mean force of the two steps before to that of a step with a jump, at least
LEAP = 5.0
#: share of the slip by which loads change it in a step with a jump at most
CHANGED = 0.5


def with_jumps(
    a: Mapping[str, NDArray[Any]], last: Array | None, system: System, parameters: Array
) -> tuple[Mapping[str, NDArray[Any]], NDArray[np.bool_]]:
    """Rows of steps, in which the impulses of jumps are those of impacts, and which contacts of the rows at which
    velocities jump these are (m, nc).

    Parameters
    ----------
    a : tables of rows
    last : of the two steps before: length, normal impulses, gap velocities, velocities (2, 1 + 2 nc + nv)
    """
    none = np.zeros(a["P_N_impact"].shape, dtype=bool)
    frictional = system.elementwise.contact_law(parameters)[1] > 0.0
    if system.compliant or not np.any(frictional):
        return a, none
    rows, leaps = _leaps(a, last, system)
    some = np.any(leaps & frictional, axis=1)
    if not np.any(some):
        return a, none
    m, found = Mechanism(system, parameters, 1.0), dict[int, tuple[NDArray[np.bool_], Array]]()
    for row, leap in zip(rows[some].tolist(), leaps[some], strict=True):
        v_start = a["v"][row - 1] if row else (None if last is None else last[-1, 1 + 2 * system.nc :])
        if v_start is not None and _is_jump(m, a, row, np.flatnonzero(leap), v_start):
            found[row] = leap, v_start
    if not found:
        return a, none
    every = np.union1d(a["row"], np.array(list(found), dtype=np.intp))
    jumps = {name: at_rows(a, name, every) for name in AT_JUMPS if name != "row"}
    a = {**a, **jumps, "row": every} | {name: a[name].copy() for name in ("loss_friction", "reaction")}
    which = np.zeros(a["P_N_impact"].shape, dtype=bool)
    for row, (leap, v_start) in found.items():
        which[np.searchsorted(every, row)] = leap
        _make_impact(m, a, row, np.flatnonzero(leap), v_start)
    return a, which


def jump_words(contact: str, t: float, impulse: float, forces: tuple[float, float] | None = None) -> str:
    """A sentence on a jump at a time [s] with an impulse [N s]; `forces` [N]: means of a step of two runs, if any."""
    grows = ""
    if forces is not None:
        grows = f"the mean of a step grows as 1/dt, from {forces[0]:.3g} to {forces[1]:.3g} N, since "
    return (
        f'contact "{contact}" has no force near t = {t:.6g} s: {grows}velocities jump without collision; '
        f"its impulse is {impulse:.3g} N s"
    )


def first_jump(jumps: NDArray[Any]) -> tuple[str, float, float]:
    """The contact with the largest impulse in the first of some jumps, its time [s] and its impulse [N s]."""
    first = jumps[jumps["t"] == np.min(jumps["t"])]
    one = first[np.argmax(first["P_N"])]
    return str(one["contact"]), float(one["t"]), float(one["P_N"])


def _leaps(
    a: Mapping[str, NDArray[Any]], last: Array | None, system: System
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Rows of steps without impact in which a contact has a mean force much larger than in both steps before, and which
    contacts these are (n, nc)."""
    P_N, dt = a["P_N"], a["dt"]
    known = np.zeros((2, 1 + system.nc)) if last is None else last[:, : 1 + system.nc]
    # of the few steps with an impulse that is much larger than the one before, forces tell
    shortest, longest = np.min(dt[1:], initial=np.inf), np.max(dt[1:], initial=0.0)
    larger = P_N[2:] > 0.5 * LEAP * (shortest / longest if longest > 0.0 else 0.0) * P_N[1:-1]
    rows = np.concatenate([np.arange(min(2, len(P_N))), 2 + np.flatnonzero(any_of_each(larger))])
    rows = np.setdiff1d(rows, a["row"][np.any(a["P_N_impact"] > 0.0, axis=1)], assume_unique=True)

    def force(steps: int) -> Array:
        """The mean forces of so many steps before."""
        impulse, length = P_N[np.maximum(rows - steps, 0)], dt[np.maximum(rows - steps, 0)]
        early = rows < steps
        impulse[early], length[early] = known[rows[early] - steps, 1:], known[rows[early] - steps, 0]
        return means(impulse, length)

    leaps = force(0) > LEAP * np.maximum(force(1), force(2))
    some = np.any(leaps, axis=1)
    return rows[some], leaps[some]


def _change(m: Mechanism, W: Array, bonds: Array) -> tuple[Array, Array]:
    """The change of velocity M^-1 W by impulses W (nv,) within bonds (nv, n), and the impulses of these (n,)."""
    W = W[:, None]
    free = m.metric.change(W)
    if not bonds.shape[1]:
        return free[:, 0], np.zeros(0)
    by_bonds = m.metric.change(bonds)
    P = -np.linalg.lstsq(bonds.T @ by_bonds, bonds.T @ free, rcond=None)[0]
    return np.asarray(free + by_bonds @ P)[:, 0], np.asarray(P, dtype=float)[:, 0]


def _is_jump(
    m: Mechanism, a: Mapping[str, NDArray[Any]], row: int, index: NDArray[np.intp], v_start: Array
) -> bool:  # fmt: skip
    """Whether no forces of these contacts keep their gaps closed while they slide as at the start of the step."""
    at, along, n = m.at(float(a["t"][row]), a["q"][row]), m.along(index), index.size
    W_N, W_T, P_N, P_T = at.W_N[:, index], at.W_T[:, along], a["P_N"][row, index], a["P_T"][row, along]
    v_left = a["v"][row] - _change(m, W_N @ P_N + W_T @ P_T, at.W_g)[0]
    slip, change = W_T.T @ v_start, W_T.T @ (v_left - v_start)
    size, by_loads = (np.linalg.norm(one.reshape(n, m.tangents), axis=1) for one in (slip, change))
    slides = (m.friction[index] > 0.0) & (by_loads < CHANGED * size)
    if not np.any(slides):
        return False
    sticks = np.repeat(~slides & (m.friction[index] > 0.0), m.tangents)
    tangential = (W_T * slip).reshape(len(W_N), n, m.tangents).sum(axis=2)
    share = np.where(slides, m.friction[index] / np.where(size > 0.0, size, 1.0), 0.0)
    delta_v = _change(m, (W_N - share * tangential) @ P_N, np.hstack([at.W_g, W_T[:, sticks]]))[0]
    return float(P_N @ (W_N.T @ delta_v)) <= 0.0


def _make_impact(
    m: Mechanism, a: Mapping[str, NDArray[Any]], row: int, index: NDArray[np.intp], v_start: Array
) -> None:  # fmt: skip
    """Make the impulses of these contacts in a row those of an impact, with its joint impulses and its loss."""
    t, q, dt = float(a["t"][row]), a["q"][row], float(a["dt"][row])
    at, along = m.at(t, q), m.along(index)
    W_N, W_T, P_N, P_T = at.W_N[:, index], at.W_T[:, along], a["P_N"][row, index], a["P_T"][row, along]
    jump, P_g = _change(m, W_N @ P_N + W_T @ P_T, at.W_g)
    k = np.searchsorted(a["row"], row)
    a["v_left"][k] = a["v"][row] - jump
    a["P_N_impact"][k, index], a["P_T_impact"][k, along] = P_N, P_T
    a["gamma_minus"][k, index], a["gamma_plus"][k, index] = 0.0, W_N.T @ a["v"][row]
    # of the schemes, with the mean of the slip at both ends of the step
    a["loss_friction"][row] += P_T @ (W_T.T @ (0.5 * (v_start + a["v"][row])))
    if m.system.ng:
        reaction = m.reaction(t, q, P_g)
        a["reaction_impact"][k] += reaction
        a["reaction"][row] -= reaction / dt
        a["work_drivers_impact"][k] -= P_g @ at.g_t
