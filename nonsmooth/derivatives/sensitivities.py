"""Derivatives of an event-driven motion by parameters and by its start, with a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.derivatives.measures import Measure, Measures, OfRows
from nonsmooth.derivatives.sweep import Event, Sweep
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.quantities import in_si
from nonsmooth.run.simulate import simulate
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.settings import checked, hint, is_number, require, shown
from nonsmooth.step.control import ErrorControl
from nonsmooth.trajectory import Trajectory

#: growth of a small change, relative to the motion, beyond which the errors of the run are no longer small
HORIZON = 1e9
#: default relative tolerance of a run that is differentiated
RTOL = 1e-12
#: least number of its steps: some of a fall or of a turn, whose derivatives each step integrates to round-off
LEAST_STEPS = 500


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities:
    """Derivatives of all rows of a run, and of its events.

    Parameters
    ----------
    trajectory : the run
    wrt : names (m,) of parameters, ``"pin.clearance"``, of coordinates of the start, ``"slider.x"``, and of velocities
        of the start, ``"v:slider.x"``
    q, v
        Derivatives of coordinates (rows, nq, m) and velocities (rows, nv, m), right limits, in SI units per SI unit;
        NaN from the row on where there are none.
    events : impacts, ends and beginnings of slips, and contacts that open, with the derivatives of their times
    verdict : one sentence: exact, or from when on there are no derivatives, and why
    exact : whether there are derivatives at all rows
    defect
        Largest difference between a row found again from the row before it, and the row itself, as a share of the
        motion: the certificate of the derivatives' phases and events.
    range
        Changes (m, 2) of each parameter alone, downwards and upwards, up to which the same events occur in the same
        order, to first order from their derivatives; impacts that begin to occur because a gap becomes narrow are not
        foreseen.
    """

    trajectory: Trajectory
    wrt: tuple[str, ...]
    q: Array
    v: Array
    events: tuple[Event, ...]
    verdict: str
    exact: bool
    defect: float
    range: Array
    _measures: Measures
    _back: NDArray[np.intp]  # from the order of the sweep to that of the names

    @property
    def sweep(self) -> Sweep:
        """The pass over the rows of the run, with its phases and equations."""
        return self._measures.sweep

    def measure(self, what: str | OfRows) -> tuple[float, Array]:
        """A number of the run, see `gradient`, and its derivatives (m,)."""
        assert self.trajectory.origin is not None
        asked = Measure.named(what, self.trajectory.origin.system) if isinstance(what, str) else what
        value, change = self._measures(asked)
        return value, change[self._back]

    def of(self, name: str, row: int = -1) -> Array:
        """Derivatives (m,) of a coordinate, ``"slider.x"``, or a velocity, ``"v:slider.x"``, at a row."""
        table, rows = (self.trajectory.v, self.v) if name.startswith("v:") else (self.trajectory.q, self.q)
        known, key = list(table.names), name.removeprefix("v:")
        if key not in known:
            raise InputError(f"There is no {table.what} {key!r}.{hint(key, known)} There are: {', '.join(known)}.")
        return np.asarray(rows[row, known.index(key)])

    def __repr__(self) -> str:
        return (
            f"<Sensitivities of {len(self.trajectory.t)} rows and {len(self.events)} events by {', '.join(self.wrt)}; "
            f"defect {self.defect:.1g}; {self.verdict}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Gradient:
    """Derivatives of quantities at the end of a run: the result of `gradient`.

    Parameters
    ----------
    of : names (k,) of the quantities
    wrt : names (m,) of parameters and of coordinates and velocities of the start
    values : derivatives (k, m), in SI units per SI unit
    at : values (m,) of what is changed
    result : values (k,) of the quantities themselves
    sensitivities : of all rows and events; its `verdict`, `defect` and `range` are those of the gradient
    """

    of: tuple[str, ...]
    wrt: tuple[str, ...]
    values: Array
    at: Array
    result: Array
    sensitivities: Sensitivities

    @property
    def verdict(self) -> str:
        return self.sensitivities.verdict

    @property
    def defect(self) -> float:
        return self.sensitivities.defect

    @property
    def range(self) -> Array:
        return self.sensitivities.range

    def __repr__(self) -> str:
        width = max(map(len, self.wrt))
        head = " ".join(f"{name:>14}" for name in self.of)
        lines = [f"{'by':<{width}} {head}   same events for a change of"]
        for name, column, (down, up) in zip(self.wrt, self.values.T, self.range, strict=True):
            lines.append(f"{name:<{width}} {' '.join(f'{x:14.6g}' for x in column)}   {down:.2g} to {up:+.2g}")
        return "\n".join([*lines, self.verdict])


@checked
def gradient(
    system: System, *, of: str | OfRows | Iterable[str | OfRows], wrt: str | Sequence[str], t_end: float | str,
    parameters: Mapping[str, float | str] | None = None, dt: ErrorControl | None = None, **options: Any,
) -> Gradient:  # fmt: skip
    """Derivatives of numbers of a motion by parameters and by its start, through impacts and slip.

    The mechanism is run once by `EventDriven`, and its rows are differentiated; see `sensitivities`.

    Parameters
    ----------
    of
        One or several of: a coordinate at the end, ``"slider.x"``, or velocity, ``"v:slider.x"``; over the run its
        ``"mean:slider.x"``, ``"largest:v:slider.x"``, ``"smallest:..."``; of a contact its normal ``"impulse:pin"``
        with that of impacts, ``"mean-force:pin"``, which is the same by time, ``"peak-force:pin"`` apart from impacts,
        ``"peak-impulse:pin"`` of an impact, its ``"fastest-approach:pin"``; or a smooth function of times (n,),
        coordinates (n, nq) and velocities (n, nv) at both ends of all steps.
    wrt : parameters, ``"pin.clearance"``, coordinates of the start, ``"slider.x"``, velocities, ``"v:slider.x"``
    t_end, parameters : as of `simulate`
    dt : ErrorControl, optional
        Tolerances of the run, by default 1e-12 with steps up to a 500th of the run.
    options : further ones of `simulate`

    >>> from nonsmooth import Rigid
    >>> from nonsmooth_problems import bouncing_ball
    >>> ball = bouncing_ball(height=1.0, contact=Rigid(restitution=0.8, friction=0.0)).build()
    >>> found = gradient(ball, of=["ball.y", "impulse:floor"], wrt=["ball.y", "floor.restitution"], t_end=1.0)
    >>> found.values.round(6).tolist()
    [[1.386502, 2.429447], [3.986502, 4.429447]]
    """
    given = (of,) if isinstance(of, str) or callable(of) else tuple(of)
    require(given, "of must name at least one output", of)
    _chosen(system, wrt)  # a wrong name is refused before the run
    for one in given:
        if isinstance(one, str):
            Measure.named(one, system)
    end = in_si("t_end", t_end, "s")
    if dt is None and is_number(end) and end > 0.0:
        dt = ErrorControl(RTOL, dt_max=end / LEAST_STEPS)
    run = simulate(system, EventDriven(), t_end=t_end, dt=dt, parameters=parameters, **options)
    found = sensitivities(run, wrt, of=[one for one in given if isinstance(one, str)])
    result, slopes = zip(*(found.measure(one) for one in given), strict=True)
    names = tuple(one if isinstance(one, str) else getattr(one, "__name__", "function") for one in given)
    return Gradient(names, found.wrt, np.array(slopes), _values(run, found.wrt), np.array(result), found)


@checked
def sensitivities(trajectory: Trajectory, wrt: str | Sequence[str], *, of: Iterable[str] = ()) -> Sensitivities:
    """Derivatives of all rows and events of an event-driven run by parameters and by its start.

    Between events the variational equation of each phase is integrated from row to row, at events the saltation matrix
    is applied, with impacts of Newton's law differentiated together with the contacts that they close. Where joints or
    closed contacts of the start depend on a parameter, the start moves with it as assembly does, as little as possible
    in the metric of the mass matrix. There are no derivatives beyond an instant at which contacts strike together by
    chance, graze, or close one after the other at once, nor where small changes have grown by 1e9; the verdict tells.

    InputError for a run of another stepper, one that did not record each step or was read from a file without its
    mechanism, contacts with another impact law than Newton's, or an unknown name.

    Parameters
    ----------
    trajectory : of `EventDriven`, with tight tolerances: derivatives have the errors of its rows, times their growth
    wrt : parameters, ``"pin.clearance"``, coordinates of the start, ``"slider.x"``, velocities, ``"v:slider.x"``
    of : measures that are needed, see `gradient`: those that are integrals are found together with the rows

    References
    ----------
    Leine, Nijmeijer (2004), Dynamics and Bifurcations of Non-Smooth Mechanical Systems, section 7.
    """
    if not trajectory.modes_follow or trajectory.origin is None:
        raise InputError(
            "Derivatives are those of an event-driven run with its mechanism: simulate(system, EventDriven(), ...), "
            f"got a run by {trajectory.manifest.get('settings', {}).get('stepper', 'none')}."
        )
    if trajectory.counts.get("steps") != len(trajectory.t) - 1:
        raise InputError(f"Derivatives need every step, record=1; got {len(trajectory.t) - 1} rows.")
    system, p = trajectory.origin.system, trajectory.origin.parameters
    if system.controllers:
        raise InputError("Outputs of sampled controllers have no derivatives; compare two runs, or use a Load.")
    names, parameters, starts = _chosen(system, wrt)
    at, order = _values(trajectory, names), [*parameters, *starts]
    sweep = Sweep(trajectory, system, p, list(parameters.values()))
    sizes = np.array([abs(x) or 1.0 for x in at])
    sizes[list(starts)] = sweep.scale[list(starts.values())]
    wanted = {Measure.named(one, system).integrand for one in of}
    integrands = sorted(one for one in wanted if one is not None)
    swept = sweep.run(_start(sweep, list(starts.values())), sizes[order], integrands)
    back = np.argsort(order)
    S = np.take(swept.S, back, axis=2)
    events = tuple(Event(**{**vars(one), **{k: getattr(one, k)[back] for k in ("dt", "drate", "dimpulse")}})
                   for one in swept.events)  # fmt: skip
    growth = np.nanmax(np.abs(S) * sizes / sweep.scale[:, None], axis=(1, 2), initial=0.0)
    far = np.flatnonzero(growth > HORIZON)
    ends = swept.ends
    if far.size and (ends is None or far[0] < ends[0]):
        ends = int(far[0]), "a small change has grown by 1e9: the motion is beyond its horizon"
        S[ends[0] :] = np.nan
        swept = replace(swept, ends=ends)
    if ends is None:
        verdict = f"exact: differentiable through {len(events)} events, rows found again to {swept.defect:.1g}"
    else:
        verdict = f"no derivatives from t = {trajectory.t[ends[0]]:.6g} s on: {ends[1]}"
    return Sensitivities(trajectory, names, S[:, : system.nq], S[:, system.nq :], events, verdict, ends is None,
                         swept.defect, _range(events, float(trajectory.t[-1]), len(names)),
                         Measures(sweep, swept, integrands), back)  # fmt: skip


def _chosen(system: System, wrt: str | Sequence[str]) -> tuple[tuple[str, ...], dict[int, int], dict[int, int]]:
    """Names, and by their place among these the indices of parameters and of coordinates (q, v) of the start."""
    others = [one.name for one in system.contact_elements if isinstance(one.contact, Rigid)
              and one.contact.impact != "newton"]  # fmt: skip
    if others:
        raise InputError(f"Derivatives are those of Newton's impact law; {', '.join(others)} has another one.")
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    known = [*system.parameters]
    states = [*system.q_names, *(f"v:{name}" for name in system.v_names)]
    if not names:
        raise InputError('Derivatives need something to differentiate by, such as wrt=["pin.clearance"].')
    parameters, starts = {}, {}
    for place, name in enumerate(names):
        if name in known:
            parameters[place] = known.index(name)
        elif name in states:
            starts[place] = states.index(name)
        else:
            raise InputError(f"There is no parameter or coordinate {shown(name)}.{hint(name, [*known, *states])}")
    return names, parameters, starts


def _values(trajectory: Trajectory, names: Sequence[str]) -> Array:
    """Present values of parameters and of coordinates and velocities of the start (m,)."""
    assert trajectory.origin is not None
    known = dict(zip(trajectory.origin.system.parameters, trajectory.origin.parameters, strict=True))
    known |= {f"v:{name}": x for name, x in zip(trajectory.v.names, trajectory.left.v.array[0], strict=True)}
    return np.array([known[name] if name in known else trajectory.q[name][0] for name in names], dtype=float)


def held_at_start(sweep: Sweep) -> tuple[Array, Array]:
    """Derivatives by t, (q, v) and the parameters of joints and closed gaps of the start, and of their rates."""
    system, closed = sweep.system, sweep.phases.closed[0].astype(bool)
    _, H = sweep.equations.held(float(sweep.t[0]), sweep.q[0], sweep.left[0])
    kept = np.r_[np.ones(system.ng, dtype=bool), closed]
    rows = len(kept)
    return H[:rows][kept], H[rows : 2 * rows][kept]


def _start(sweep: Sweep, starts: Sequence[int]) -> Array:
    """Derivatives (nq + nv, m) of the start, moved so that joints and closed contacts stay as they are: positions, then
    velocities, of bodies at rest first, as assembly does."""
    system, equations, n, nq = sweep.system, sweep.equations, sweep.equations.n, sweep.system.nq
    S = np.zeros((n, equations.own + len(starts)))
    S[starts, np.arange(equations.own, S.shape[1])] = 1.0
    q, v = sweep.q[0], sweep.left[0]
    M, B = np.asarray(system.M(q, sweep.parameters)), np.asarray(system.B(q))
    e = system.elementwise
    given = e.by_body(v)[1:] != 0.0
    for part in (slice(0, e.rigid // 2 + e.rigid % 2), slice(e.rigid // 2 + e.rigid % 2, e.rigid)):
        given[:, part] = given[:, part].any(axis=1)[:, None]
    rest = np.flatnonzero(e.in_order(given) == 0)
    positions, velocities = held_at_start(sweep)
    for H, moves in ((positions, np.arange(system.nv)), (velocities, rest), (velocities, np.arange(system.nv))):
        change = H[:, 1 : 1 + n] @ S
        change[:, : equations.own] += H[:, 1 + n :]
        if change.any() and len(moves):
            # in the metric of the mass matrix, whose square root scales velocities, and displacements along B
            scale = np.zeros((system.nv, len(moves)))
            scale[moves] = np.linalg.inv(np.linalg.cholesky(M[np.ix_(moves, moves)]).T)
            scale = np.vstack([B @ scale, 0.0 * scale] if H is positions else [np.zeros((nq, len(moves))), scale])
            S = S - scale @ np.linalg.lstsq(H[:, 1 : 1 + n] @ scale, change, rcond=1e-12)[0]
    return S


def _range(events: Sequence[Event], t_end: float, m: int) -> Array:
    """Changes (m, 2) up to which no two neighbouring events meet, none passes the end, and no impact grazes."""
    limits: list[Array] = []  # changes (m,) at which something happens
    with np.errstate(divide="ignore", invalid="ignore"):
        for one, following in zip(events, [*events[1:], None], strict=False):
            if following is None:
                limits.append(-(t_end - one.t) / (0.0 - one.dt))
            elif following.contact != one.contact and following.t > one.t:
                limits.append(-(following.t - one.t) / (following.dt - one.dt))
        resting: set[str] = set()
        for one in reversed(events):
            resting = resting & {one.contact} | ({one.contact} if one.lasts else set())
            if one.kind == "impact" and one.contact not in resting:  # impacts before a rest may be one more or fewer
                limits.append(-one.rate / one.drate)
    found = np.array(limits).reshape(-1, m)
    found = np.where(np.isnan(found), np.inf, found)
    down = np.where(found <= 0.0, found, -np.inf).max(axis=0, initial=-np.inf)
    up = np.where(found >= 0.0, found, np.inf).min(axis=0, initial=np.inf)
    return np.column_stack([down, up])
